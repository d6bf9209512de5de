/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/mesh_file.h"

#include <string.h>

#include <hdf5.h>

#include "support/check.h"

void mesh_file_face(struct mesh_file *file, size_t n, const int64_t *corners,
                    int64_t boundary)
{
    CHECK(file->n_corners + n < MESH_FILE_ROOM &&
          file->n_faces + 1 < MESH_FILE_ROOM);
    memcpy(&file->face_points[file->n_corners], corners, n * sizeof *corners);
    file->n_corners += n;
    file->boundary[file->n_faces++] = boundary;
    file->n_boundary = file->n_faces;
    file->face_offsets[file->n_faces] = (int64_t)file->n_corners;
}

void mesh_file_end_cell(struct mesh_file *file)
{
    CHECK(file->n_cells + 1 < MESH_FILE_ROOM);
    file->cell_offsets[++file->n_cells] = (int64_t)file->n_faces;
}

void mesh_file_cubes(struct mesh_file *file, int64_t n)
{
    static const int64_t faces[6][4] = {{0, 1, 3, 2}, {4, 5, 7, 6},
                                        {0, 1, 5, 4}, {2, 3, 7, 6},
                                        {0, 2, 6, 4}, {1, 3, 7, 5}};
    memset(file, 0, sizeof *file);
    for (int64_t i = 0; i < 4 * (n + 1); i++) {
        double *x = file->points[file->n_points++];
        x[0] = (double)(i / 4);
        x[1] = (double)(i / 2 % 2);
        x[2] = (double)(i % 2);
    }
    for (int64_t c = 0; c < n; c++) {
        for (int f = 0; f < 6; f++) {
            int64_t corners[4];
            bool inside = (f == 0 && c > 0) || (f == 1 && c + 1 < n);
            for (int i = 0; i < 4; i++)
                corners[i] = 4 * c + faces[f][i];
            mesh_file_face(file, 4, corners, inside ? -1 : f == 0 ? 1 : 2);
        }
        mesh_file_end_cell(file);
    }
}

static void write_array(hid_t file, const char *name, hid_t memory, hid_t disk,
                        const hsize_t shape[2], bool chunked, const void *rows)
{
    if (shape[0] == 0)
        return;
    hid_t create = H5Pcreate(H5P_DATASET_CREATE);
    hid_t space = H5Screate_simple(shape[1] > 1 ? 2 : 1, shape, NULL);
    if (chunked)
        CHECK(H5Pset_chunk(create, shape[1] > 1 ? 2 : 1, shape) >= 0);
    hid_t set =
        H5Dcreate2(file, name, disk, space, H5P_DEFAULT, create, H5P_DEFAULT);
    CHECK(set >= 0 &&
          H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0);
    CHECK(H5Dclose(set) >= 0 && H5Sclose(space) >= 0 && H5Pclose(create) >= 0);
}

void mesh_file_write(const struct mesh_file *file, const char *path)
{
    hid_t real = file->small_types ? H5T_IEEE_F32BE : H5T_IEEE_F64LE;
    hid_t integer = file->small_types ? H5T_STD_I32BE : H5T_STD_I64LE;
    const struct {
        const char *name;
        const int64_t *rows;
        size_t n;
    } arrays[] = {
        {"cell_offsets", file->cell_offsets,
         file->n_cells > 0 ? file->n_cells + 1 : 0},
        {"face_offsets", file->face_offsets,
         file->n_faces > 0 ? file->n_faces + 1 : 0},
        {"face_points", file->face_points, file->n_corners},
        {"boundary", file->boundary, file->n_boundary},
        {"number", file->number, file->n_numbers},
    };
    hid_t h5 = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(h5 >= 0);
    const hsize_t points[2] = {file->n_points, 3};
    write_array(h5, "points", H5T_NATIVE_DOUBLE, real, points, file->chunked,
                file->points);
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        const hsize_t shape[2] = {arrays[i].n, 1};
        write_array(h5, arrays[i].name, H5T_NATIVE_INT64, integer, shape, false,
                    arrays[i].rows);
    }
    CHECK(H5Fclose(h5) >= 0);
}
