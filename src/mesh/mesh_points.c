/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of points for meshes: each point is a function of its number. */
#include <math.h>

#include <storm/mesh.h>

#include "base/env.h"
#include "base/math.h"
#include "base/sized.h"
#include "mesh/mesh_points.h"

/* Uses of a point's random numbers; part of their key. */
enum { POINTS_PLACE = 1, POINTS_CENTRE = 2, POINTS_OFFSET = 3 };

/* Points per cluster, and its width relative to the box; every tenth point is
 * anywhere. */
enum { POINTS_CLUSTER = 200, POINTS_LONER = 10 };
static const double points_cluster_width = 0.05;

/* Max tries per point of a refined set; then the last one is taken. */
enum { POINTS_MAX_TRIES = 1 << 20 };

static void points_random(const struct storm_points_params *p, uint64_t what,
                          uint64_t i, uint64_t block, double u[4])
{
    struct storm_packet_id id = {.hi = what, .lo = i};
    storm_random(p->seed, STORM_STREAM_MESH, id, block, u);
}

static void points_place(const struct storm_points_params *p, const double u[3],
                         double x_out[3])
{
    for (int d = 0; d < 3; d++) {
        double x = p->lo_cm[d] + u[d] * (p->hi_cm[d] - p->lo_cm[d]);
        x_out[d] = x < p->hi_cm[d] ? x : p->hi_cm[d];
    }
}

/* Dense in the middle of a cluster, folded back at the walls. */
static void points_clustered(const struct storm_points_params *p, uint64_t i,
                             double x_out[3])
{
    double u[4], centre[4], size[4];
    points_random(p, POINTS_PLACE, i, 0, u);
    if (i % POINTS_LONER != 0) {
        points_random(p, POINTS_CENTRE, i / POINTS_CLUSTER, 0, centre);
        points_random(p, POINTS_OFFSET, i, 0, size);
        for (int d = 0; d < 3; d++) {
            double offset = size[3] * size[3] * (2.0 * u[d] - 1.0);
            double v = fabs(centre[d] + points_cluster_width * offset);
            u[d] = v > 1.0 ? 2.0 - v : v;
        }
    }
    points_place(p, u, x_out);
}

static void points_lattice(const struct storm_points_params *p, uint64_t i,
                           double x_out[3])
{
    uint64_t side = (uint64_t)ceil(storm_cbrt((double)p->n_total) - 1e-9);
    const uint64_t at[3] = {i % side, i / side % side, i / side / side};
    double u[3];
    for (int d = 0; d < 3; d++)
        u[d] = ((double)at[d] + 0.5) / (double)side;
    points_place(p, u, x_out);
}

/* Does the material change within width_cm of x, along the axes? */
static bool points_near_interface(const struct storm_points_params *p,
                                  const double x[3])
{
    int here = p->material(p->material_self, x);
    if (here < 0)
        return false;
    for (int k = 0; k < 6; k++) {
        double y[3] = {x[0], x[1], x[2]};
        int d = k / 2;
        y[d] += k % 2 ? p->width_cm : -p->width_cm;
        y[d] = y[d] > p->lo_cm[d] ? y[d] : p->lo_cm[d];
        y[d] = y[d] < p->hi_cm[d] ? y[d] : p->hi_cm[d];
        int there = p->material(p->material_self, y);
        if (there >= 0 && there != here)
            return true;
    }
    return false;
}

bool storm_points_sample(const struct storm_points_params *params, uint64_t i,
                         double x_out[3])
{
    double u[4];
    points_random(params, POINTS_PLACE, i, 0, u);
    points_place(params, u, x_out);
    return params->kind == STORM_POINTS_REFINED &&
           points_near_interface(params, x_out);
}

/* Rejection sampling: thinned out where the material does not change. */
static void points_refined(const struct storm_points_params *p, uint64_t i,
                           double x_out[3])
{
    for (uint64_t block = 0; block < POINTS_MAX_TRIES; block++) {
        double u[4];
        points_random(p, POINTS_PLACE, i, block, u);
        points_place(p, u, x_out);
        if (u[3] * p->refine < 1.0 || points_near_interface(p, x_out))
            return;
    }
}

storm_status storm_points_make(const struct storm_points_params *params,
                               uint64_t first, uint64_t n, double *points_out)
{
    struct storm_points_params own;
    storm_status status =
        storm_sized_read(NULL, "storm_points_make", params, &own, sizeof own);
    if (status < 0)
        return status;
    const struct storm_points_params *p = &own;
    bool is_refined = p->kind == STORM_POINTS_REFINED;
    if (first + n > p->n_total ||
        (is_refined &&
         (p->material == NULL || !(p->refine >= 1.0) || !(p->width_cm > 0.0))))
        return STORM_ERR_ARG;
    for (uint64_t i = first; i < first + n; i++, points_out += 3) {
        double u[4];
        switch (p->kind) {
        case STORM_POINTS_CLUSTERED:
            points_clustered(p, i, points_out);
            break;
        case STORM_POINTS_LATTICE:
            points_lattice(p, i, points_out);
            break;
        case STORM_POINTS_REFINED:
            points_refined(p, i, points_out);
            break;
        case STORM_POINTS_RANDOM:
            points_random(p, POINTS_PLACE, i, 0, u);
            points_place(p, u, points_out);
            break;
        default:
            return STORM_ERR_ARG;
        }
    }
    return STORM_OK;
}
