/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; args: 1 1 text; timeout: 60 */
/* TEST ranks: 1; args: 2 1 all; timeout: 60; label: slow-asan slow-mpich */
/* TEST ranks: 1; args: 600 0 all; timeout: 700; label: long */
/*
 * POINTFILE-2: files of points, text and HDF5, with bytes changed are read or
 * refused; no crash, no hang, no growth of memory. (Sanitizers see the text
 * only: what HDF5 does with damaged files is not for us to mend.)
 */
#include <mpi.h>

#include <hdf5.h>

#include <storm/context.h>
#include <storm/io.h>

#include "fuzz/mutants.h"

/* The first are read; the others are stored in chunks: H5-5. */
enum { ROWS = 20, SEEDS = 4, PLAIN = 3 };

struct seed {
    unsigned char *bytes;
    size_t n;
};

static void write_text(const char *path)
{
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    fprintf(file, "x,y,z\n# a comment\n");
    for (int i = 0; i < ROWS; i++)
        fprintf(file, i % 2 ? "%.17g, %.3e,%g\n" : "%g %g\t%.17g\r\n", 0.01 * i,
                1.0 / (i + 1), 3.5 * i);
    CHECK_EQ(fclose(file), 0);
}

/* Contiguous doubles, or compressed pieces of big-endian integers; with the
 * oldest file format, or the newest. */
static void write_hdf5(const char *path, const char *name, bool newest,
                       bool pieces)
{
    double rows[ROWS][3];
    hsize_t shape[2] = {ROWS, 3}, piece[2] = {7, 3};
    for (int i = 0; i < ROWS; i++)
        for (int d = 0; d < 3; d++)
            rows[i][d] = i + 0.1 * d;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t create = H5Pcreate(H5P_DATASET_CREATE);
    hid_t space = H5Screate_simple(2, shape, NULL);
    if (newest)
        CHECK(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST,
                                   H5F_LIBVER_LATEST) >= 0);
    if (pieces)
        CHECK(H5Pset_chunk(create, 2, piece) >= 0 &&
              H5Pset_deflate(create, 6) >= 0);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hid_t set = H5Dcreate2(file, name, pieces ? H5T_STD_I32BE : H5T_IEEE_F64LE,
                           space, H5P_DEFAULT, create, H5P_DEFAULT);
    CHECK(set >= 0 && H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL,
                               H5P_DEFAULT, rows) >= 0);
    CHECK(H5Dclose(set) >= 0 && H5Fclose(file) >= 0);
    CHECK(H5Sclose(space) >= 0 && H5Pclose(create) >= 0 &&
          H5Pclose(access) >= 0);
}

static storm_status try_file(struct storm_context *context, const char *path,
                             uint64_t *n_out)
{
    double *points = NULL;
    storm_status status = storm_points_read(context, path, &points, n_out);
    if (status == STORM_OK)
        storm_points_free(context, points);
    return status;
}

int main(int argc, char **argv)
{
    struct storm_context *context;
    struct storm_context_params params = STORM_CONTEXT_PARAMS_INIT;
    struct seed seeds[SEEDS];
    uint64_t n = 0, n_read = 0;
    uint64_t n_seeds = argc > 3 && strcmp(argv[3], "text") == 0 ? 1 : SEEDS;
    MPI_Init(&argc, &argv);
    params.log = mutants_on_log;
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, &params, &context));
    struct mutants *m = mutants_begin(argc, argv, "points");
    for (int i = 0; i < SEEDS; i++) {
        if (i == 0)
            write_text(m->path);
        else
            write_hdf5(m->path, i == 1 ? "points" : "generator", i != 1,
                       i >= PLAIN);
        storm_status status = try_file(context, m->path, &n);
        CHECK_EQ(status, i < PLAIN ? STORM_OK : STORM_ERR_IO);
        CHECK(status < 0 || n == ROWS);
        seeds[i].bytes = mutants_load(m->path, &seeds[i].n);
    }
    while (mutants_next(m)) {
        const struct seed *seed = &seeds[dice_roll(&m->dice, n_seeds)];
        mutants_make(m, seed->bytes, seed->n);
        storm_status status = try_file(context, m->path, &n);
        CHECK(status == STORM_OK || status == STORM_ERR_IO ||
              status == STORM_ERR_NOMEM);
        n_read += status == STORM_OK;
    }
    printf("%llu were read\n", (unsigned long long)n_read);
    mutants_end(m);
    for (int i = 0; i < SEEDS; i++)
        free(seeds[i].bytes);
    storm_context_destroy(context);
    MPI_Finalize();
    return CHECK_PASS;
}
