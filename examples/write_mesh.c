/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST args: write_mesh.h5 */
/*
 * Writes a mesh into an HDF5 file that decks can read (docs/mesh-files.md).
 *
 *   h5cc write_mesh.c -lm
 *   ./a.out pipe.h5
 *   storm run examples/decks/bent-pipe.yaml --set mesh.file=$PWD/pipe.h5
 *
 * The mesh is a bent pipe: a quarter of a ring, cut into N_R x N_PHI x N_Z
 * hexahedra. Boundary 1 is one end, 2 the other, 3 the sides.
 *
 * What to see: five arrays are all there is. Each cell lists its own faces, as
 * points in order round the face, whichever comes first; neighbours are found
 * by equal faces.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include <hdf5.h>

enum { N_R = 4, N_PHI = 20, N_Z = 3 };
enum { FIRST_END = 1, OTHER_END = 2, SIDES = 3, INSIDE = -1 };
enum {
    N_POINTS = (N_R + 1) * (N_PHI + 1) * (N_Z + 1),
    N_CELLS = N_R * N_PHI * N_Z,
    N_FACES = 6 * N_CELLS,
    N_CORNERS = 4 * N_FACES
};

static double points[N_POINTS][3];
static int64_t cell_offsets[N_CELLS + 1], face_offsets[N_FACES + 1];
static int64_t face_points[N_CORNERS], boundary[N_FACES];

static int64_t point_at(int i, int j, int k)
{
    return ((int64_t)i * (N_PHI + 1) + j) * (N_Z + 1) + k;
}

static void make_points(void)
{
    for (int i = 0; i <= N_R; i++)
        for (int j = 0; j <= N_PHI; j++)
            for (int k = 0; k <= N_Z; k++) {
                double *x = points[point_at(i, j, k)];
                double r = 1.0 + (double)i / N_R; /* cm */
                double phi = 1.57079632679489662 * j / N_PHI;
                x[0] = r * cos(phi);
                x[1] = r * sin(phi);
                x[2] = (double)k / N_Z;
            }
}

/* What is behind the lower (end = 0) or upper side in direction d. */
static int64_t number_of(const int at[3], int d, int end)
{
    static const int n[3] = {N_R, N_PHI, N_Z};
    if (at[d] + 2 * end - 1 >= 0 && at[d] + 2 * end - 1 < n[d])
        return INSIDE;
    return d != 1 ? SIDES : end == 0 ? FIRST_END : OTHER_END;
}

static void add_cell(const int at[3], int64_t cell)
{
    static const int round[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    for (int side = 0; side < 6; side++) {
        int d = side / 2, end = side % 2;
        int64_t face = 6 * cell + side;
        for (int corner = 0; corner < 4; corner++) {
            int p[3];
            p[d] = at[d] + end;
            p[(d + 1) % 3] = at[(d + 1) % 3] + round[corner][0];
            p[(d + 2) % 3] = at[(d + 2) % 3] + round[corner][1];
            face_points[4 * face + corner] = point_at(p[0], p[1], p[2]);
        }
        boundary[face] = number_of(at, d, end);
        face_offsets[face + 1] = 4 * (face + 1);
    }
    cell_offsets[cell + 1] = 6 * (cell + 1);
}

static void make_cells(void)
{
    int64_t cell = 0;
    for (int j = 0; j < N_PHI; j++)
        for (int i = 0; i < N_R; i++)
            for (int k = 0; k < N_Z; k++) {
                const int at[3] = {i, j, k};
                add_cell(at, cell++);
            }
}

/* An array of n rows, and 3 columns or one; 0: good. */
static int put(hid_t file, const char *name, hid_t type, hsize_t n, int columns,
               const void *rows)
{
    const hsize_t shape[2] = {n, (hsize_t)columns};
    hid_t space = H5Screate_simple(columns > 1 ? 2 : 1, shape, NULL);
    hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT,
                           H5P_DEFAULT);
    herr_t written = H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows);
    H5Dclose(set);
    H5Sclose(space);
    return written < 0;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "mesh.h5";
    make_points();
    make_cells();
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    if (file < 0)
        return 1; /* HDF5 has reported why */
    hid_t index = H5T_NATIVE_INT64;
    int failed =
        put(file, "points", H5T_NATIVE_DOUBLE, N_POINTS, 3, points) +
        put(file, "cell_offsets", index, N_CELLS + 1, 1, cell_offsets) +
        put(file, "face_offsets", index, N_FACES + 1, 1, face_offsets) +
        put(file, "face_points", index, N_CORNERS, 1, face_points) +
        put(file, "boundary", index, N_FACES, 1, boundary);
    if (H5Fclose(file) < 0 || failed > 0)
        return 1;
    printf("%s: %d cells, %d points\n", path, N_CELLS, N_POINTS);
    return 0;
}
