/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3; timeout: 30 */
/* TEST ranks: 3; backend: p2p; timeout: 30; label: slow-asan */
/*
 * MESHFILE-1, MESHFILE-2: the bent pipe from its file of Gmsh and from HDF5,
 * with faces that begin at other corners and go round the other way, gives the
 * same state on one rank and on several; volumes add up, and boundaries have
 * the areas that they should have. Regions go by the numbers of cells: in the
 * file of Gmsh all have that of their physical volume, in HDF5 every second one
 * has another.
 */
#include "case.h"

#include <storm/io.h>
#include <storm/mesh.h>

#include "io/io_meshfile.h"
#include "support/dice.h"
#include "support/mesh_file.h"

static struct mesh_file h5;

/* The path of the file of Gmsh. */
static void gmsh_path(char path_out[CASE_PATH])
{
    case_deck("bent-pipe", path_out);
    memcpy(strrchr(path_out, '.'), ".msh", 5);
}

/* The same mesh in HDF5. */
static void convert(struct storm_context *context, const char *path)
{
    char from[CASE_PATH];
    gmsh_path(from);
    struct io_meshfile file = {.env = storm_context_env(context), .path = from};
    struct dice dice = dice_make(1, 0);
    CHECK_OK(io_meshfile_read(&file));
    CHECK(file.n_points <= MESH_FILE_ROOM);
    memcpy(h5.points, file.points_cm, 3 * file.n_points * sizeof(double));
    h5.n_points = file.n_points;
    for (size_t c = 0; c < file.n_cells; c++) {
        for (uint64_t f = file.first_face[c]; f < file.first_face[c + 1]; f++) {
            size_t first = (size_t)file.first_corner[f], turn;
            size_t n = (size_t)file.first_corner[f + 1] - first;
            bool back = dice_roll(&dice, 2) == 1;
            int64_t corners[8];
            turn = (size_t)dice_roll(&dice, n);
            for (size_t i = 0; i < n; i++)
                corners[back ? n - 1 - i : i] =
                    file.corners[first + (i + turn) % n];
            mesh_file_face(&h5, n, corners,
                           file.behind[f] >= 0 ? -1 : file.boundary[f]);
        }
        mesh_file_end_cell(&h5);
        h5.number[h5.n_numbers++] = 1 + (int64_t)(c % 2);
    }
    mesh_file_write(&h5, path);
    io_meshfile_clear(&file);
}

/* The pipe is between radii 1 and 2, 1 high; its corners are on circles. */
static void measure(struct storm_context *context, const char *path)
{
    struct storm_mesh *mesh = NULL;
    double sums[5] = {0.0};
    CHECK_OK(storm_mesh_read(context, path, &mesh));
    for (storm_cell_idx c = 0; c < storm_mesh_n_cells(mesh); c++) {
        sums[0] += storm_mesh_volume_cm3(mesh, c);
        for (int f = 0; f < storm_mesh_n_faces(mesh, c); f++) {
            struct storm_face face = STORM_FACE_INIT;
            CHECK_OK(storm_mesh_face(mesh, c, f, &face));
            if (face.wall >= 0)
                sums[1 + face.wall] += face.area_cm2;
        }
    }
    CHECK_OK(storm_context_reduce(context, sums, 5, MPI_DOUBLE, MPI_SUM));
    CHECK_EQ(storm_mesh_n_cells_total(mesh), 192);
    CHECK_EQ(storm_mesh_n_boundaries(mesh), 4);
    uint64_t n = (uint64_t)storm_mesh_n_cells(mesh);
    uint64_t size = (uint64_t)storm_context_size(context);
    CHECK(n >= 192 / size && n <= 192 / size + 1);
    /* Eight pieces of triangles. */
    double area = 8.0 * 0.5 * (4.0 - 1.0) * sin(1.5707963267948966 / 8.0);
    double side = 8.0 * 2.0 * (1.0 + 2.0) * sin(1.5707963267948966 / 16.0);
    CHECK(fabs(sums[0] - area) < 1e-6);
    CHECK(sums[1] == 0.0);
    CHECK(fabs(sums[2] - 1.0) < 1e-6 && fabs(sums[3] - 1.0) < 1e-6);
    CHECK(fabs(sums[4] - side - 2.0 * area) < 1e-6);
    storm_mesh_destroy(mesh);
}

/* The hash of the state, as in the summary. */
static uint64_t hash_of(const char *path, const char *materials,
                        const char *regions, MPI_Comm comm)
{
    char set[CASE_PATH + 16];
    snprintf(set, sizeof set, "mesh.file=%s", path);
    const char *const sets[] = {set, "time.steps=4", materials, regions, NULL};
    struct case_run run = case_open_on(comm, "bent-pipe", 1, sets);
    uint64_t hash = case_hash(&run);
    CHECK(case_json(&run, "energy_balance") <= 1e-13);
    CHECK(case_json(&run, "packets_census") > 1000);
    case_close_on(comm, &run);
    return hash;
}

#define GAS(_name, _coef)                         \
    "{name: " _name ", absorption: {coef: " _coef \
    "}, heat_capacity: {coef: 1e14}, temperature: 0.1}"

/* One material in all numbers is as without them; two are another state, the
 * same on any number of ranks. */
static void check_numbers(const char *gmsh, const char *path, uint64_t one)
{
    static const char all[] = "regions=[{material: gas, number: 1}]";
    static const char both[] = "regions=[{material: gas, number: 1}, "
                               "{material: other, number: 2}]";
    static const char same[] =
        "materials=[" GAS("gas", "2") ", " GAS("other", "2") "]";
    static const char thick[] =
        "materials=[" GAS("gas", "2") ", " GAS("other", "20") "]";
    CHECK_EQ(hash_of(gmsh, same, all, MPI_COMM_WORLD), one);
    uint64_t two = hash_of(path, thick, both, MPI_COMM_SELF);
    CHECK(two != one);
    CHECK_EQ(hash_of(path, thick, both, MPI_COMM_WORLD), two);
}

int main(int argc, char **argv)
{
    struct storm_context *context;
    char dir[CHECK_PATH] = "", path[CHECK_PATH + 16], gmsh[CASE_PATH];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &context));
    if (rank == 0)
        check_scratch(dir);
    MPI_Bcast(dir, sizeof dir, MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/pipe.h5", dir);
    if (rank == 0)
        convert(context, path);
    MPI_Barrier(MPI_COMM_WORLD);
    gmsh_path(gmsh);
    measure(context, gmsh);
    measure(context, path);
    uint64_t one = hash_of(gmsh, NULL, NULL, MPI_COMM_SELF);
    CHECK_EQ(hash_of(gmsh, NULL, NULL, MPI_COMM_WORLD), one);
    CHECK_EQ(hash_of(path, NULL, NULL, MPI_COMM_WORLD), one);
    check_numbers(gmsh, path, one);
    printf("state %016llx\n", (unsigned long long)one);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        unlink(path);
        rmdir(dir);
    }
    storm_context_destroy(context);
    MPI_Finalize();
    return CHECK_PASS;
}
