/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; args: 1 1; timeout: 60; label: slow-asan slow-mpich */
/* TEST ranks: 1; args: 600 0; timeout: 700; label: long */
/*
 * Files of tables, and of fields by cell and by position
 * (docs/matter-files.md), with bytes changed are read or refused; no crash, no
 * hang, no growth of memory. What is read of a table is one: its hash is made
 * of all of it. (Not under sanitizers: what HDF5 does with damaged files is not
 * for us to mend.)
 */
#include <mpi.h>

#include <hdf5.h>

#include <storm/context.h>
#include <storm/io.h>
#include <storm/mesh.h>
#include <storm/table.h>

#include "fuzz/mutants.h"
#include "io/io_snapshot.h"

enum { N_T = 4, N_RHO = 2, N_G = 3, CELLS = 24, MAX_VALUES = 3 * CELLS };

/* Good files. */
enum kind { TABLE, GROUPS, FIELDS, KINDS };

struct seed {
    unsigned char *bytes;
    size_t n;
};

struct array {
    const char *name, *units;
    int n_dims;
    hsize_t shape[3];
};
static const struct array layout[KINDS][6] = {
    [TABLE] = {{"temperature", "keV", 1, {N_T}},
               {"density", "g/cm3", 1, {N_RHO}},
               {"absorption", "cm2/g", 2, {N_T, N_RHO}},
               {"scattering", "cm2/g", 2, {N_T, N_RHO}},
               {"energy", "erg/g", 2, {N_T, N_RHO}}},
    [GROUPS] = {{"temperature", "keV", 1, {N_T}},
                {"density", "g/cm3", 1, {N_RHO}},
                {"group_edges", "keV", 1, {N_G + 1}},
                {"absorption", "1/cm", 3, {N_T, N_RHO, N_G}},
                {"scattering", "1/cm", 3, {N_T, N_RHO, N_G}},
                {"energy", "erg/cm3", 2, {N_T, N_RHO}}},
    [FIELDS] = {{"position", "cm", 2, {CELLS, 3}},
                {"tag", "1", 1, {CELLS}},
                {"kev", "keV", 1, {CELLS}}},
};

static void put_units(hid_t set, const char *units)
{
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    bool varies = strcmp(units, "erg/cm3") == 0; /* as Python writes it */
    CHECK(H5Tset_size(type, varies ? H5T_VARIABLE : strlen(units)) >= 0);
    hid_t mark =
        H5Acreate2(set, "units", type, space, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(H5Awrite(mark, type, varies ? (const void *)&units : units) >= 0);
    CHECK(H5Aclose(mark) >= 0 && H5Sclose(space) >= 0 && H5Tclose(type) >= 0);
}

/* Values rise from row to row; tags are 0, 1, 2, ... */
static void put_array(hid_t file, const struct array *a)
{
    bool is_tag = strcmp(a->name, "tag") == 0;
    double values[MAX_VALUES];
    for (int i = 0; i < MAX_VALUES; i++)
        values[i] = is_tag ? i : 1.0 + 0.5 * i;
    hid_t space = H5Screate_simple(a->n_dims, a->shape, NULL);
    hid_t set =
        H5Dcreate2(file, a->name, is_tag ? H5T_STD_I64LE : H5T_IEEE_F64LE,
                   space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(set >= 0 && H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL,
                               H5P_DEFAULT, values) >= 0);
    put_units(set, a->units);
    CHECK(H5Dclose(set) >= 0 && H5Sclose(space) >= 0);
}

/* Tables with the oldest file format, the others with the newest. */
static void write_file(const char *path, enum kind kind)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (kind != TABLE)
        CHECK(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST,
                                   H5F_LIBVER_LATEST) >= 0);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    CHECK(file >= 0);
    for (int i = 0; i < 6 && layout[kind][i].name != NULL; i++)
        put_array(file, &layout[kind][i]);
    CHECK(H5Fclose(file) >= 0 && H5Pclose(access) >= 0);
}

static storm_status try_table(struct storm_context *context, const char *path)
{
    struct storm_table *table;
    storm_status status =
        storm_table_read(context, path, STORM_TABLE_ERROR, &table);
    if (status == STORM_OK) {
        (void)storm_table_hash(table);
        storm_table_destroy(table);
    }
    return status;
}

/* By cell, and (`also`) by position. */
static storm_status try_fields(struct storm_context *context,
                               const struct storm_mesh *mesh, const char *path,
                               storm_status *also)
{
    double values[CELLS];
    struct io_snapshot from = {path, false, mesh};
    storm_status status = io_snapshot_read(context, &from, "kev", values);
    from.by_position = true;
    *also = io_snapshot_read(context, &from, "kev", values);
    return status;
}

static bool is_fine(storm_status status)
{
    return status == STORM_OK || status == STORM_ERR_IO ||
           status == STORM_ERR_ARG || status == STORM_ERR_NOMEM;
}

static storm_status try_file(struct storm_context *context,
                             const struct storm_mesh *mesh, const char *path,
                             enum kind kind)
{
    storm_status also = STORM_OK;
    storm_status status = kind == FIELDS
                              ? try_fields(context, mesh, path, &also)
                              : try_table(context, path);
    CHECK(is_fine(status) && is_fine(also));
    return status < 0 ? status : also;
}

int main(int argc, char **argv)
{
    struct storm_context *context;
    struct storm_context_params params = STORM_CONTEXT_PARAMS_INIT;
    const struct storm_cart_params cart = {
        .size = sizeof cart, .hi_cm = {3, 2, 1}, .n = {6, 4, 1}};
    struct storm_mesh *mesh;
    struct seed seeds[KINDS];
    uint64_t n_read = 0;
    MPI_Init(&argc, &argv);
    params.log = mutants_on_log;
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, &params, &context));
    CHECK_OK(storm_mesh_create_cart(context, &cart, &mesh));
    struct mutants *m = mutants_begin(argc, argv, "matter");
    for (int i = 0; i < KINDS; i++) {
        write_file(m->path, (enum kind)i);
        CHECK_OK(try_file(context, mesh, m->path, (enum kind)i));
        seeds[i].bytes = mutants_load(m->path, &seeds[i].n);
    }
    while (mutants_next(m)) {
        enum kind kind = (enum kind)dice_roll(&m->dice, KINDS);
        mutants_make(m, seeds[kind].bytes, seeds[kind].n);
        n_read += try_file(context, mesh, m->path, kind) == STORM_OK;
    }
    printf("%llu were read\n", (unsigned long long)n_read);
    mutants_end(m);
    for (int i = 0; i < KINDS; i++)
        free(seeds[i].bytes);
    storm_mesh_destroy(mesh);
    storm_context_destroy(context);
    MPI_Finalize();
    return CHECK_PASS;
}
