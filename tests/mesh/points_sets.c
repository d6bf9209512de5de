/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3; timeout: 60 */
/*
 * Sets of points: in the box, a function of the number alone, denser where the
 * material changes; from a file, text or HDF5, all of it, on any number of
 * ranks; invalid files are refused. Relaxation makes cells more equal.
 */
#include <unistd.h>

#include <hdf5.h>

#include <storm/io.h>

#include "voronoi_check.h"

static const struct storm_points_params box = {.size = sizeof box,
                                               .seed = 5,
                                               .n_total = 4096,
                                               .lo_cm = {-1, 0, 2},
                                               .hi_cm = {1, 3, 2.5}};

/* A sheet of another material. */
static int material(void *self, const double x[3])
{
    (void)self;
    return x[0] > 0.25;
}

static int half_nothing(void *self, const double x_cm[3])
{
    return material(self, x_cm) > 0 ? 1 : -1;
}

static void check_sets(void)
{
    static double all[4096][3], some[4096][3];
    static const storm_points_kind kinds[] = {
        STORM_POINTS_RANDOM, STORM_POINTS_CLUSTERED, STORM_POINTS_LATTICE,
        STORM_POINTS_REFINED};
    struct storm_points_params p = box;
    p.material = material;
    p.refine = 8.0;
    p.width_cm = 0.1;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        p.kind = kinds[k];
        CHECK_OK(storm_points_make(&p, 0, p.n_total, all[0]));
        CHECK_OK(storm_points_make(&p, 1000, 7, some[0]));
        CHECK(memcmp(some, all + 1000, 7 * sizeof some[0]) == 0);
        int n_near = 0;
        for (size_t i = 0; i < p.n_total; i++) {
            n_near += fabs(all[i][0] - 0.25) < 0.1;
            for (int d = 0; d < 3; d++)
                CHECK(all[i][d] >= p.lo_cm[d] && all[i][d] <= p.hi_cm[d]);
        }
        /* 0.2 of 2 cm, 8 times as dense: 8 * 0.2 / (8 * 0.2 + 1.8) of all, to
         * five standard errors */
        double share = 1.6 / 3.4, n = (double)p.n_total;
        if (p.kind == STORM_POINTS_REFINED)
            CHECK(fabs(n_near - share * n) <= 5.0 * sqrt(n * share));
    }
    /* Not denser next to no material: 0.1 of the length. */
    int n_near = 0;
    p.material = half_nothing;
    CHECK_OK(storm_points_make(&p, 0, p.n_total, all[0]));
    for (size_t i = 0; i < p.n_total; i++)
        n_near += fabs(all[i][0] - 0.25) < 0.1;
    double even = 0.1 * (double)p.n_total;
    CHECK(fabs(n_near - even) <= 5.0 * sqrt(even));
    CHECK_EQ(storm_points_make(&p, 4096, 1, all[0]), STORM_ERR_ARG);
    p.refine = 0.5;
    CHECK_EQ(storm_points_make(&p, 0, 1, all[0]), STORM_ERR_ARG);
}

/* Writes a file on rank 0 and reads it on all. */
static storm_status read_back(struct storm_context *context, const char *text,
                              double **points_out, uint64_t *n_out)
{
    char path[64];
    int id = (int)getpid();
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "points_sets.%d.csv", id);
    if (storm_context_rank(context) == 0) {
        FILE *file = fopen(path, "w");
        CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    storm_status status = storm_points_read(context, path, points_out, n_out);
    MPI_Barrier(MPI_COMM_WORLD);
    if (storm_context_rank(context) == 0)
        remove(path);
    return status;
}

static void check_files(struct storm_context *context)
{
    static char text[40000];
    double *points, sum = 0.0, wanted = 0.0;
    uint64_t n, total;
    int at = snprintf(text, sizeof text, "x,y,z\n# a comment\n\n");
    for (int i = 0; i < 1000; i++) {
        at += snprintf(text + at, sizeof text - (size_t)at,
                       i % 2 ? "%d, %d,%g\n" : "%d %d %g\r\n", i, -i, 0.25 * i);
        wanted += 0.25 * i;
    }
    CHECK_OK(read_back(context, text, &points, &n));
    for (uint64_t i = 0; i < n; i++) {
        CHECK(points[3 * i] == -points[3 * i + 1]);
        sum += points[3 * i + 2];
    }
    storm_points_free(context, points);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&n, &total, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(total, 1000);
    CHECK(sum == wanted); /* quarters: exact */

    storm_status status =
        read_back(context, "1,2,3\n4,5,6\n7,8\n", &points, &n);
    CHECK(status == STORM_ERR_IO || status == STORM_ERR_PEER);
    status = storm_points_read(context, "no such file", &points, &n);
    CHECK(status == STORM_ERR_IO);
}

/* Content of a file. */
struct h5_case {
    const char *name, *other; /* arrays; `other` is all zero; NULL: none */
    hid_t type;
    hsize_t columns;
    int rank;
};

static double *h5_numbers(hsize_t n)
{
    double *numbers = malloc((size_t)n * sizeof *numbers);
    CHECK(numbers != NULL);
    for (hsize_t i = 0; i < n; i++)
        numbers[i] = (double)i - 7.0;
    return numbers;
}

static void h5_put(hid_t file, const char *name, const struct h5_case *c,
                   hsize_t n, const double *numbers)
{
    const hsize_t shape[2] = {n, c->columns};
    hid_t space = H5Screate_simple(c->rank, shape, NULL);
    hid_t set = H5Dcreate2(file, name, c->type, space, H5P_DEFAULT, H5P_DEFAULT,
                           H5P_DEFAULT);
    CHECK(set >= 0);
    if (numbers != NULL)
        CHECK(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                       numbers) >= 0);
    CHECK(H5Dclose(set) >= 0 && H5Sclose(space) >= 0);
}

static void h5_write(const char *path, const struct h5_case *c, hsize_t n)
{
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    double *numbers = h5_numbers(n * c->columns);
    bool is_text = H5Tget_class(c->type) == H5T_STRING;
    CHECK(file >= 0);
    h5_put(file, c->name, c, n, is_text ? NULL : numbers);
    if (c->other != NULL)
        h5_put(file, c->other, c, n, NULL);
    CHECK(H5Fclose(file) >= 0);
    free(numbers);
}

/* All rows, once each and in order, for any name and type. */
static void check_h5_rows(struct storm_context *context, const char *path,
                          const struct h5_case *c, uint64_t n)
{
    double *points;
    uint64_t mine, before = 0, total;
    if (storm_context_rank(context) == 0)
        h5_write(path, c, n);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(storm_points_read(context, path, &points, &mine));
    MPI_Exscan(&mine, &before, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (storm_context_rank(context) == 0)
        before = 0;
    for (uint64_t i = 0; i < 3 * mine; i++)
        CHECK(points[i] == (double)(3 * before + i) - 7.0);
    storm_points_free(context, points);
    MPI_Allreduce(&mine, &total, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(total, n);
}

static void check_h5_wrong(struct storm_context *context, const char *path,
                           const struct h5_case *c)
{
    double *points;
    uint64_t n;
    if (storm_context_rank(context) == 0)
        h5_write(path, c, 6);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(storm_points_read(context, path, &points, &n), STORM_ERR_IO);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A file that ends too early. */
static void check_h5_cut(struct storm_context *context, const char *path,
                         const struct h5_case *c)
{
    double *points;
    uint64_t n;
    if (storm_context_rank(context) == 0) {
        h5_write(path, c, 5000);
        CHECK(truncate(path, 4000) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(storm_points_read(context, path, &points, &n), STORM_ERR_IO);
}

static void check_hdf5(struct storm_context *context)
{
    hid_t text = H5Tcopy(H5T_C_S1);
    const struct h5_case good[] = {
        {"points", NULL, H5T_NATIVE_DOUBLE, 3, 2},
        {"points", NULL, H5T_NATIVE_FLOAT, 3, 2},
        {"generator", "points", H5T_NATIVE_INT64, 3, 2}};
    const struct h5_case wrong[] = {{"Points", NULL, H5T_NATIVE_DOUBLE, 3, 2},
                                    {"points", NULL, H5T_NATIVE_DOUBLE, 2, 2},
                                    {"points", NULL, H5T_NATIVE_DOUBLE, 3, 1},
                                    {"points", NULL, text, 3, 2}};
    char path[64];
    int id = (int)getpid();
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "points_sets.%d.h5", id);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        check_h5_rows(context, path, &good[i], 1000);
        check_h5_rows(context, path, &good[i], 1); /* fewer than ranks */
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        check_h5_wrong(context, path, &wrong[i]);
    check_h5_cut(context, path, &good[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (storm_context_rank(context) == 0)
        remove(path);
    H5Tclose(text);
}

/* The spread of volumes after so many relaxations. */
static double spread(struct storm_context *context, uint32_t lloyd)
{
    struct point_set set = set_make(2000);
    struct storm_points_params p = {
        .size = sizeof p, .seed = 2, .n_total = 2000, .hi_cm = {1, 1, 1}};
    struct storm_mesh *mesh;
    CHECK_OK(storm_points_make(&p, 0, p.n_total, set.x[0]));
    CHECK_OK(set_mesh(context, &set, lloyd, &mesh));
    double square = 0.0;
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++)
        square += pow(storm_mesh_volume_cm3(mesh, i) * 2000 - 1.0, 2);
    MPI_Allreduce(MPI_IN_PLACE, &square, 1, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    storm_mesh_destroy(mesh);
    free(set.x);
    return sqrt(square / 2000);
}

static void quiet(void *self, storm_log_level level, int rank, const char *text)
{
    (void)self;
    (void)level;
    (void)rank;
    (void)text;
}

int main(int argc, char **argv)
{
    struct storm_context *context;
    MPI_Init(&argc, &argv);
    struct storm_context_params params = {.size = sizeof params, .log = quiet};
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, &params, &context));
    check_sets();
    check_hdf5(context);
    check_files(context);
    double before = spread(context, 0), after = spread(context, 5);
    printf("volumes spread by %.3f, relaxed by %.3f\n", before, after);
    /* 0.42 for random points (M. Tanemura, Forma 18, 221, 2003) */
    CHECK(before > 0.38 && before < 0.48);
    CHECK(after < 0.5 * before);
    storm_context_destroy(context);
    MPI_Finalize();
    return CHECK_PASS;
}
