/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3; timeout: 30 */
/*
 * Files of tables (docs/matter-files.md): one with groups is read on all ranks
 * to the same hash as the arrays it was made of; what is missing, has another
 * shape, type or unit, has holes or does not rise is refused on all ranks with
 * one message that names the array; nothing is left in memory. Fields by
 * position: every cell has the value of the sample nearest to its centre.
 * Arrays that say that they are larger than their file are refused before room
 * is allocated: the product of their size wraps.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hdf5.h>
#include <mpi.h>

#include <storm/context.h>
#include <storm/io.h>
#include <storm/mesh.h>

#include "io/io_snapshot.h"
#include "support/check.h"

enum { N_T = 5, N_RHO = 2, N_G = 3, N_ARRAYS = 6, MAX_LOG = 512 };

static char logged[MAX_LOG];
static int n_logged;
static void keep(void *self, storm_log_level level, int rank,
                 const char *message)
{
    (void)self, (void)level, (void)rank;
    snprintf(logged, sizeof logged, "%s", message);
    n_logged++;
}

struct array {
    const char *name, *units;
    int n_dims;
    hsize_t shape[3];
    double value[N_T * N_RHO * N_G];
};
static struct array arrays[N_ARRAYS];

static void fill(void)
{
    static const struct array shapes[N_ARRAYS] = {
        {.name = "temperature", .units = "keV", .n_dims = 1, .shape = {N_T}},
        {.name = "density", .units = "g/cm3", .n_dims = 1, .shape = {N_RHO}},
        {.name = "group_edges",
         .units = "keV",
         .n_dims = 1,
         .shape = {N_G + 1}},
        {.name = "absorption",
         .units = "cm2/g",
         .n_dims = 3,
         .shape = {N_T, N_RHO, N_G}},
        {.name = "scattering",
         .units = "cm2/g",
         .n_dims = 3,
         .shape = {N_T, N_RHO, N_G}},
        {.name = "energy",
         .units = "erg/g",
         .n_dims = 2,
         .shape = {N_T, N_RHO}},
    };
    memcpy(arrays, shapes, sizeof arrays);
    for (int a = 0; a < N_ARRAYS; a++)
        for (int i = 0; i < N_T * N_RHO * N_G; i++)
            arrays[a].value[i] = 1.0 + i + a;
}

static void put_text(hid_t set, const char *units)
{
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    bool varies = units[0] == '~'; /* as Python writes it */
    CHECK(H5Tset_size(type, varies ? H5T_VARIABLE : strlen(units)) >= 0);
    hid_t mark =
        H5Acreate2(set, "units", type, space, H5P_DEFAULT, H5P_DEFAULT);
    const char *text = units + 1;
    CHECK(H5Awrite(mark, type, varies ? (const void *)&text : units) >= 0);
    H5Aclose(mark);
    H5Sclose(space);
    H5Tclose(type);
}

/* By rank 0. */
static void write_file(const char *path)
{
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(file >= 0);
    for (int a = 0; a < N_ARRAYS; a++) {
        const struct array *from = &arrays[a];
        if (from->name == NULL)
            continue;
        hid_t space = H5Screate_simple(from->n_dims, from->shape, NULL);
        hid_t set = H5Dcreate2(file, from->name, H5T_IEEE_F64LE, space,
                               H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        CHECK(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                       from->value) >= 0);
        if (from->units != NULL)
            put_text(set, from->units);
        H5Dclose(set);
        H5Sclose(space);
    }
    H5Fclose(file);
}

enum { T, RHO, EDGES, ABSORB, SCATTER, ENERGY };

/* What is changed of the good file. */
static const struct row {
    const char *message;
    int array;
    enum { NO_ARRAY, NO_UNITS, UNITS, DIMS, SHAPE, VALUE } what;
    const char *units;
    int number;
    double value;
} rows[] = {
    {"has no array `temperature`", T, NO_ARRAY, NULL, 0, 0},
    {"has no array `density`", RHO, NO_ARRAY, NULL, 0, 0},
    {"`absorption`: expected 5 temperatures x 2 densities, got 3", EDGES,
     NO_ARRAY, NULL, 0, 0},
    {"`energy`: expected an attribute `units` that is 'erg/cm3' or 'erg/g', "
     "got none",
     ENERGY, NO_UNITS, NULL, 0, 0},
    {"`temperature`: expected an attribute `units` that is 'keV', got 'K'", T,
     UNITS, "K", 0, 0},
    {"expected the same `units`", SCATTER, UNITS, "1/cm", 0, 0},
    {"`temperature`: expected a list of numbers, got 2 dimensions", T, DIMS,
     NULL, 2, 0},
    {"`absorption`: expected 5 temperatures x 2 densities x 3 groups, got 2 "
     "dimensions",
     ABSORB, DIMS, NULL, 2, 0},
    {"`energy`: expected 5 temperatures x 2 densities, got 2 dimensions, 4 x 2",
     ENERGY, SHAPE, NULL, 4, 0},
    {"absorption[1][0][1] (2 keV, 2 g/cm3): expected a number", ABSORB, VALUE,
     NULL, 7, (double)NAN},
    {"scattering[0][1][2] (1 keV, 3 g/cm3): expected a number from 0", SCATTER,
     VALUE, NULL, 5, -1.0},
    {"energy[2][0]: expected energies that rise with temperature", ENERGY,
     VALUE, NULL, 4, 1.0},
    {"energy[2][0] (3 keV, 2 g/cm3): expected a number above 0", ENERGY, VALUE,
     NULL, 4, (double)INFINITY},
    {"temperature[3]: expected rising numbers", T, VALUE, NULL, 3, 1.0},
    {"group_edges[1]: expected rising numbers", EDGES, VALUE, NULL, 1, 1.0},
};

static void change(const struct row *row)
{
    struct array *a = &arrays[row->array];
    if (row->what == NO_ARRAY)
        a->name = NULL;
    else if (row->what == NO_UNITS || row->what == UNITS)
        a->units = row->units;
    else if (row->what == DIMS) {
        for (int d = a->n_dims; d < row->number; d++)
            a->shape[d] = 1;
        a->n_dims = row->number;
    } else if (row->what == SHAPE)
        a->shape[0] = (hsize_t)row->number;
    else
        a->value[row->number] = row->value;
}

/* All ranks wait for the file. */
static void make(struct storm_context *context, const char *path)
{
    int done = 1;
    if (storm_context_rank(context) == 0)
        write_file(path);
    CHECK_OK(storm_context_reduce(context, &done, 1, MPI_INT, MPI_MAX));
}

static void check_good(struct storm_context *context, const char *path)
{
    struct storm_table *table, *same;
    fill();
    arrays[ENERGY].units = "~erg/g";
    make(context, path);
    CHECK_OK(storm_table_read(context, path, STORM_TABLE_EDGE, &table));
    struct storm_table_params p = {.size = sizeof p,
                                   .n_temperatures = N_T,
                                   .temperature_kev = arrays[T].value,
                                   .n_densities = N_RHO,
                                   .density_g_cm3 = arrays[RHO].value,
                                   .n_groups = N_G,
                                   .group_edge_kev = arrays[EDGES].value,
                                   .absorption = arrays[ABSORB].value,
                                   .scattering = arrays[SCATTER].value,
                                   .energy = arrays[ENERGY].value,
                                   .opacity_per_mass = 1,
                                   .energy_per_mass = 1,
                                   .beyond = STORM_TABLE_EDGE};
    CHECK_OK(storm_table_create(context, &p, &same));
    CHECK(storm_table_hash(table) == storm_table_hash(same));
    storm_table_destroy(same);
    storm_table_destroy(table);
}

static void check_bad(struct storm_context *context, const char *path)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct storm_table *table = NULL;
        fill();
        change(&rows[i]);
        make(context, path);
        logged[0] = '\0';
        n_logged = 0;
        check_where("%s", rows[i].message);
        CHECK(storm_table_read(context, path, STORM_TABLE_ERROR, &table) < 0);
        CHECK(table == NULL);
        int n = n_logged;
        CHECK_OK(storm_context_reduce(context, &n, 1, MPI_INT, MPI_SUM));
        CHECK_EQ(n, 1);
        if (storm_context_rank(context) == 0 &&
            (strstr(logged, rows[i].message) == NULL ||
             strstr(logged, path) == NULL))
            CHECK_TEXT(logged, rows[i].message);
    }
    check_where("%s", "");
}

/* Ten samples, of which two share a plane of x. */
static void check_position(struct storm_context *context, const char *path)
{
    enum { SAMPLES = 10, CELLS = 24 };
    struct storm_cart_params cart = {
        .size = sizeof cart, .hi_cm = {3, 2, 1}, .n = {6, 4, 1}};
    struct storm_mesh *mesh;
    double values[CELLS];
    memset(arrays, 0, sizeof arrays);
    arrays[0] =
        (struct array){.name = "position", .n_dims = 2, .shape = {SAMPLES, 3}};
    arrays[1] = (struct array){.name = "kev", .n_dims = 1, .shape = {SAMPLES}};
    for (int i = 0; i < SAMPLES; i++) {
        arrays[0].value[3 * i] = (i * 7 % 9) * 0.35;
        arrays[0].value[3 * i + 1] = (i * 3 % 5) * 0.45;
        arrays[0].value[3 * i + 2] = 0.5;
        arrays[1].value[i] = i + 1.0;
    }
    make(context, path);
    CHECK_OK(storm_mesh_create_cart(context, &cart, &mesh));
    const struct io_snapshot from = {path, true, mesh};
    CHECK_OK(io_snapshot_read(context, &from, "kev", values));
    for (storm_cell_idx c = 0; c < storm_mesh_n_cells(mesh); c++) {
        double x[3], best = 1e30, right = 0.0;
        storm_mesh_centre(mesh, c, x);
        for (int i = 0; i < SAMPLES; i++) {
            const double *p = &arrays[0].value[3 * i];
            double square =
                (p[0] - x[0]) * (p[0] - x[0]) + (p[1] - x[1]) * (p[1] - x[1]);
            if (square < best) {
                best = square;
                right = i + 1.0;
            }
        }
        CHECK(values[c] == right);
    }
    storm_mesh_destroy(mesh);
}

/* Arrays without values, so large that 40 (n + 1) bytes wrap to a few. */
static void check_large(struct storm_context *context, const char *path)
{
    const hsize_t n = UINT64_MAX / 40, shape[2] = {n, 3};
    static const char *const names[] = {"kev", "position"};
    struct storm_cart_params cart = {
        .size = sizeof cart, .hi_cm = {3, 2, 1}, .n = {6, 4, 1}};
    struct storm_mesh *mesh;
    struct storm_table *table = NULL;
    double values[24];
    int done = 1;
    for (int d = 1; d <= 2 && storm_context_rank(context) == 0; d++) {
        hid_t file =
            d == 1 ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)
                   : H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        hid_t space = H5Screate_simple(d, shape, NULL);
        hid_t set = H5Dcreate2(file, names[d - 1], H5T_IEEE_F32LE, space,
                               H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        CHECK(set >= 0);
        H5Dclose(set);
        H5Sclose(space);
        H5Fclose(file);
    }
    CHECK_OK(storm_context_reduce(context, &done, 1, MPI_INT, MPI_MAX));
    CHECK_OK(storm_mesh_create_cart(context, &cart, &mesh));
    for (int by_position = 0; by_position < 2; by_position++) {
        const struct io_snapshot from = {path, by_position, mesh};
        CHECK_EQ(io_snapshot_read(context, &from, "kev", values), STORM_ERR_IO);
        if (storm_context_rank(context) == 0)
            CHECK(strstr(logged, "`kev`: is larger than the file") != NULL &&
                  strstr(logged, path) != NULL);
    }
    storm_mesh_destroy(mesh);
    CHECK(storm_table_read(context, path, STORM_TABLE_ERROR, &table) < 0);
}

int main(int argc, char **argv)
{
    struct storm_context *context;
    struct storm_context_params quiet = STORM_CONTEXT_PARAMS_INIT;
    char dir[CHECK_PATH] = "", path[CHECK_PATH + 16];
    MPI_Init(&argc, &argv);
    quiet.log = keep;
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, &quiet, &context));
    if (storm_context_rank(context) == 0)
        check_scratch(dir);
    MPI_Bcast(dir, sizeof dir, MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/table.h5", dir);
    check_good(context, path);
    check_bad(context, path);
    check_position(context, path);
    check_large(context, path);
    if (storm_context_rank(context) == 0) {
        unlink(path);
        rmdir(dir);
    }
    struct storm_memory_entry entry = STORM_MEMORY_ENTRY_INIT;
    CHECK_OK(storm_context_memory(context, 0, &entry));
    CHECK_EQ(entry.bytes, 0);
    storm_context_destroy(context);
    MPI_Finalize();
    return CHECK_PASS;
}
