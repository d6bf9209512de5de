/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3; timeout: 20 */
/*
 * Cartesian meshes: widths follow stretch, the last edge is exactly that of the
 * box; edges that are given are those of the cells, and the same edges make the
 * same mesh however they are given; invalid parameters are refused.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <storm/context.h>
#include <storm/mesh.h>

#include "support/check.h"

static int n_errors;

static void count_errors(void *self, storm_log_level level, int rank,
                         const char *message)
{
    (void)self;
    (void)rank;
    (void)message;
    n_errors += level == STORM_LOG_ERROR;
}

/* Ratio of the widths of neighbouring cells in x, from centres and volumes. */
static void check_stretch(struct storm_context *context, double ratio)
{
    struct storm_cart_params params = {
        .size = sizeof params,
        .lo_cm = {-1.0, 0.0, 0.0},
        .hi_cm = {2.0, 1.0, 1.0},
        .n = {12, 1, 1},
        .stretch = {ratio, 0.0, 0.0},
    };
    struct storm_mesh *mesh;
    check_where("stretch %g", ratio);
    CHECK_OK(storm_mesh_create_cart(context, &params, &mesh));
    CHECK_EQ(storm_mesh_n_cells_total(mesh), 12);
    for (storm_cell_idx i = 0; i + 1 < storm_mesh_n_cells(mesh); i++) {
        double a = storm_mesh_volume_cm3(mesh, i);
        double b = storm_mesh_volume_cm3(mesh, i + 1);
        CHECK(fabs(b / a - (ratio > 0.0 ? ratio : 1.0)) < 1e-12);
    }
    struct storm_cell_ref cell;
    int last = storm_context_size(context) - 1;
    CHECK_OK(storm_mesh_locate(mesh, params.hi_cm, &cell));
    CHECK_EQ(cell.rank, last);
    CHECK_EQ(storm_mesh_first_place(mesh, last) + (uint64_t)cell.idx, 11);
    CHECK_OK(storm_mesh_locate(mesh, params.lo_cm, &cell));
    CHECK(cell.rank == 0 && cell.idx == 0);
    double beyond[3] = {nextafter(2.0, 3.0), 0.5, 0.5};
    CHECK_EQ(storm_mesh_locate(mesh, beyond, &cell), STORM_ERR_ARG);
    storm_mesh_destroy(mesh);
}

/* Cells between edges that are given: bounds, neighbours by location. */
static void check_edges(struct storm_context *context)
{
    static const double x[] = {-1.0, -0.75, 0.0, 1e-9, 3.0}, z[] = {2.0, 5.0};
    struct storm_cart_params params = {.size = sizeof params,
                                       .hi_cm = {0.0, 1.0, 0.0},
                                       .n = {4, 2, 1},
                                       .edges_cm = {x, NULL, z}};
    const double *edges = NULL;
    struct storm_mesh *mesh;
    CHECK_OK(storm_mesh_create_cart(context, &params, &mesh));
    CHECK_EQ(storm_mesh_n_cells_total(mesh), 8);
    CHECK_EQ(storm_mesh_edges(mesh, 0, &edges), 5);
    CHECK(memcmp(edges, x, sizeof x) == 0);
    CHECK_EQ(storm_mesh_edges(mesh, 1, &edges), 3);
    CHECK(edges[0] == 0.0 && edges[1] == 0.5 && edges[2] == 1.0);
    CHECK_EQ(storm_mesh_edges(mesh, 3, &edges), 0);
    for (int i = 0; i < 4; i++) {
        const double point[3] = {0.5 * (x[i] + x[i + 1]), 0.75, 4.0};
        struct storm_cell_ref cell;
        double lo[3], hi[3];
        CHECK_OK(storm_mesh_locate(mesh, point, &cell));
        if (cell.rank != storm_context_rank(context))
            continue;
        storm_mesh_bounds(mesh, cell.idx, lo, hi);
        CHECK(lo[0] == x[i] && hi[0] == x[i + 1]);
        CHECK(lo[1] == 0.5 && hi[1] == 1.0 && lo[2] == 2.0 && hi[2] == 5.0);
        CHECK(fabs(storm_mesh_volume_cm3(mesh, cell.idx) /
                       (1.5 * (x[i + 1] - x[i])) -
                   1.0) < 1e-14);
    }
    storm_mesh_destroy(mesh);
}

/* The edges that a stretch makes, given as a list: the same bits. */
static void check_same(struct storm_context *context)
{
    struct storm_cart_params params = {.size = sizeof params,
                                       .lo_cm = {-1.0, 0.0, 0.0},
                                       .hi_cm = {2.0, 1.0, 1.0},
                                       .n = {7, 3, 1},
                                       .stretch = {1.3, 0.0, 0.0}};
    struct storm_mesh *a, *b;
    CHECK_OK(storm_mesh_create_cart(context, &params, &a));
    (void)storm_mesh_edges(a, 0, &params.edges_cm[0]);
    params.stretch[0] = 1.0;
    CHECK_OK(storm_mesh_create_cart(context, &params, &b));
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(a); i++) {
        double bounds[2][2][3];
        storm_mesh_bounds(a, i, bounds[0][0], bounds[0][1]);
        storm_mesh_bounds(b, i, bounds[1][0], bounds[1][1]);
        CHECK(memcmp(bounds[0], bounds[1], sizeof bounds[0]) == 0);
    }
    storm_mesh_destroy(b);
    storm_mesh_destroy(a);
}

static void refuse(struct storm_context *context,
                   struct storm_cart_params params)
{
    struct storm_mesh *mesh = NULL;
    n_errors = 0;
    CHECK_EQ(storm_mesh_create_cart(context, &params, &mesh), STORM_ERR_ARG);
    CHECK(mesh == NULL);
    CHECK(n_errors == 1);
}

int main(int argc, char **argv)
{
    struct storm_context *context;
    struct storm_context_params quiet = {.size = sizeof quiet,
                                         .log = count_errors};
    MPI_Init(&argc, &argv);
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, &quiet, &context));
    check_stretch(context, 0.0);
    check_stretch(context, 1.0);
    check_stretch(context, 1.3);
    check_stretch(context, 0.5);

    const struct storm_cart_params good = {
        .size = sizeof good, .hi_cm = {1.0, 1.0, 1.0}, .n = {4, 4, 4}};
    struct storm_cart_params bad = good;
    bad.hi_cm[1] = 0.0;
    refuse(context, bad);
    bad.hi_cm[1] = NAN;
    refuse(context, bad);
    bad.hi_cm[1] = INFINITY;
    refuse(context, bad);
    bad = good;
    bad.n[2] = -1;
    refuse(context, bad);
    bad.n[2] = INT64_MAX;
    refuse(context, bad);
    bad = good;
    bad.n[0] = bad.n[1] = bad.n[2] = 1 << 16;
    refuse(context, bad); /* 2^48 cells */
    bad = good;
    bad.stretch[0] = -1.0;
    refuse(context, bad);
    bad.stretch[0] = NAN;
    refuse(context, bad);
    bad.stretch[0] = 1e200; /* widths overflow */
    refuse(context, bad);
    bad.stretch[0] = 1e-30; /* widths underflow */
    refuse(context, bad);

    static const double falls[] = {0.0, 0.5, 0.4, 0.7, 1.0};
    static const double equal[] = {0.0, 0.5, 0.5, 0.7, 1.0};
    static const double holes[] = {0.0, 0.1, NAN, 0.7, 1.0};
    static const double wider[] = {0.0, 0.1, 0.2, 0.7, 1.5};
    static const double fine[] = {0.0, 0.1, 0.2, 0.7, 1.0};
    const double *const lists[] = {falls, equal, holes, wider};
    check_edges(context);
    check_same(context);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        bad = good;
        bad.edges_cm[1] = lists[i];
        refuse(context, bad);
    }
    bad = good;
    bad.edges_cm[2] = fine;
    bad.stretch[2] = 1.1;
    refuse(context, bad);

    storm_context_destroy(context);
    MPI_Finalize();
    return CHECK_PASS;
}
