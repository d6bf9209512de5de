/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3; timeout: 20 */
/*
 * Cartesian meshes: widths follow stretch, the last edge is exactly that of the
 * box, and invalid parameters are refused.
 */
#include <math.h>
#include <stdio.h>

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

    storm_context_destroy(context);
    MPI_Finalize();
    return CHECK_PASS;
}
