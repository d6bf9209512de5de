/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Free streaming in a box with all it needs: context, mesh (Cartesian, Voronoi
 * if the set has points, octree if that has a size, or that of a host),
 * streaming, comb, engine. Any of the parameters may be changed between
 * problem_default and
 * problem_open.
 */
#ifndef TESTS_PHYSICS_PROBLEM_H
#define TESTS_PHYSICS_PROBLEM_H

#include <storm/context.h>
#include <storm/engine.h>
#include <storm/octree.h>
#include <storm/streaming.h>
#include <storm/voronoi.h>

#include "run/run_points.h"
#include "support/check.h"
#include "support/device.h"
#include "support/host.h"

struct problem {
    struct storm_cart_params cart;
    struct storm_points_params set;
    struct storm_octree_params octree; /* the box is that of cart */
    const struct host *host;           /* NULL: none */
    uint64_t salt;                     /* of its partition */
    struct storm_streaming_params streaming_params;
    struct storm_comb_params comb_params;
    struct storm_engine_params engine_params;
    bool emulated; /* on the emulated device */

    struct storm_context *context;
    struct storm_mesh *mesh;
    struct storm_streaming *streaming;
    struct storm_comb *comb;
    struct storm_engine *engine;
};

/* A box of 10 x 8 x 6 cells of 1 cm, speed 1 cm/s, vacuum, steps of 5 s. */
static inline struct problem problem_default(void)
{
    return (struct problem){
        .cart = {.size = sizeof(struct storm_cart_params),
                 .hi_cm = {10, 8, 6},
                 .n = {10, 8, 6}},
        .set = STORM_POINTS_PARAMS_INIT,
        .streaming_params = {.size = sizeof(struct storm_streaming_params),
                             .seed = 1,
                             .speed_cm_s = 1.0,
                             .dt_s = 5.0,
                             .emit_per_cell = 3},
        .comb_params = {.size = sizeof(struct storm_comb_params), .seed = 2},
        .engine_params = {.size = sizeof(struct storm_engine_params),
                          .record_bytes = sizeof(struct storm_packet)},
    };
}

static inline storm_status problem_voronoi(struct problem *p)
{
    struct storm_voronoi_params voronoi = {.size = sizeof voronoi, .lloyd = 1};
    for (int d = 0; d < 3; d++) {
        p->set.lo_cm[d] = voronoi.lo_cm[d] = p->cart.lo_cm[d];
        p->set.hi_cm[d] = voronoi.hi_cm[d] = p->cart.hi_cm[d];
        voronoi.periodic[d] = p->cart.periodic[d];
    }
    return run_points_mesh(p->context, &p->set, &voronoi, &p->mesh);
}

static inline storm_status problem_octree(struct problem *p)
{
    for (int d = 0; d < 3; d++) {
        p->octree.lo_cm[d] = p->cart.lo_cm[d];
        p->octree.hi_cm[d] = p->cart.hi_cm[d];
        p->octree.periodic[d] = p->cart.periodic[d];
    }
    return storm_mesh_create_octree(p->context, &p->octree, &p->mesh);
}

static inline void problem_open(struct problem *p, MPI_Comm comm)
{
    CHECK_OK(storm_context_create(comm, NULL, &p->context));
    device_lend(p->context, p->emulated);
    CHECK_OK(p->host != NULL ? host_give(p->host, p->context, p->salt, &p->mesh)
             : p->set.n_total > 0 ? problem_voronoi(p)
             : p->octree.size > 0
                 ? problem_octree(p)
                 : storm_mesh_create_cart(p->context, &p->cart, &p->mesh));
    CHECK_OK(storm_streaming_create(p->context, p->mesh, &p->streaming_params,
                                    &p->streaming));
    p->comb_params.remainder = storm_streaming_deposit;
    p->comb_params.remainder_self = p->streaming;
    CHECK_OK(storm_comb_create(p->context, &p->comb_params, &p->comb));
    CHECK_OK(storm_engine_create(p->context, &p->engine_params, &p->engine));
    CHECK_OK(storm_streaming_attach(p->streaming, p->engine));
    if (p->comb_params.n_min > 0 || p->comb_params.n_max > 0)
        CHECK_OK(storm_comb_attach(p->comb, p->engine));
}

static inline void problem_close(struct problem *p)
{
    storm_engine_destroy(p->engine);
    storm_comb_destroy(p->comb);
    storm_streaming_destroy(p->streaming);
    storm_mesh_destroy(p->mesh);
    device_return(p->context);
    storm_context_destroy(p->context);
}

static inline uint64_t problem_hash(struct problem *p)
{
    uint64_t hash;
    CHECK_OK(storm_streaming_hash(p->streaming, p->engine, &hash));
    return hash;
}

#endif /* TESTS_PHYSICS_PROBLEM_H */
