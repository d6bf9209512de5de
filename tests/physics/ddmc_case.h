/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Problems in which packets diffuse in some cells and fly in others: on all
 * kinds of meshes, grey and with groups, with walls of all kinds, a plane,
 * regions outside, matter and meshes that move. For tests that compare the
 * bits of runs.
 */
#ifndef TESTS_PHYSICS_DDMC_CASE_H
#define TESTS_PHYSICS_DDMC_CASE_H

#include <stdio.h>
#include <stdlib.h>

#include <storm/imc_user.h>
#include <storm/octree.h>
#include <storm/remap.h>
#include <storm/tally.h>

#include "base/hash.h"
#include "moving.h"
#include "physics/imc.h"
#include "physics/track.h"
#include "run/run_points.h"
#include "support/check.h"
#include "support/cuts.h"
#include "support/host.h"
#include "support/imc_box.h"

enum { MAX_CELLS = 1000 };
static const unsigned moments = STORM_IMC_GROUPS | STORM_IMC_FLUX |
                                STORM_IMC_PRESSURE | STORM_IMC_MOMENTUM |
                                STORM_IMC_EVENTS;

/* ---- matter and walls --------------------------------------------------- */

static const struct storm_material kinds[3] = {
    {.name = "thick",
     .absorption = {.coef = 600, .t_exp = -1, .e_exp = -3, .max = 1e9},
     .scattering = {.coef = 5, .max = STORM_UNLIMITED},
     .heat_capacity = {.coef = 0.3, .t_exp = 1, .max = STORM_UNLIMITED},
     .temperature_kev = 0.4,
     .radiation_temperature_kev = -1},
    {.name = "thin",
     .absorption = {.coef = 0.1, .max = STORM_UNLIMITED},
     .heat_capacity = {.coef = 1, .max = STORM_UNLIMITED},
     .temperature_kev = 0.5,
     .radiation_temperature_kev = -1},
    {.name = "scatters",
     .absorption = {.coef = 0.05, .max = STORM_UNLIMITED},
     .scattering = {.coef = 400, .max = STORM_UNLIMITED},
     .heat_capacity = {.coef = 1, .max = STORM_UNLIMITED},
     .temperature_kev = 0.5,
     .radiation_temperature_kev = -1},
};

static const struct storm_region regions[] = {
    {.material = 0},
    {.material = 1,
     .shape = {.kind = STORM_SHAPE_BOX,
               .lo_cm = {0.3, -1, -1},
               .hi_cm = {0.6, 2, 2}}},
    {.material = 2,
     .shape = {.kind = STORM_SHAPE_BOX,
               .lo_cm = {0.8, -1, -1},
               .hi_cm = {2, 2, 2}}},
    {.material = STORM_OUTSIDE,
     .shape = {.kind = STORM_SHAPE_BOX,
               .lo_cm = {0.6, 0.7, 0.7},
               .hi_cm = {2, 2, 2}}},
};

static const double one_kev[] = {0.0, 1.0};
static const struct storm_wall_part mirror = {.kind = STORM_WALL_REFLECT},
                                    through = {.kind = STORM_WALL_PERIODIC},
                                    user = {.kind = STORM_WALL_USER};
/* A hot spot in a mirror with a hole. */
static const struct storm_wall_part parts[] = {
    {.kind = STORM_WALL_REFLECT,
     .shape = {.kind = STORM_SHAPE_BOX,
               .lo_cm = {-1, -1, -1},
               .hi_cm = {2, 0.8, 2}}},
    {.kind = STORM_WALL_BLACKBODY,
     .temperature = {one_kev, 1},
     .stop_s = 100.0,
     .packets = 200,
     .shape = {.kind = STORM_SHAPE_BOX,
               .lo_cm = {-1, 0.1, -1},
               .hi_cm = {2, 0.6, 2}}}};
static const struct storm_black_plane plane = {.axis = 1,
                                               .at_cm = 0.3,
                                               .lo_cm = {0.2, 0.2},
                                               .hi_cm = {0.7, 0.7},
                                               .temperature = {one_kev, 1},
                                               .stop_s = STORM_UNLIMITED,
                                               .packets = 100};

/* Takes some, sends back others. */
static inline storm_wall_answer at_wall(void *self,
                                        const struct storm_wall_hit *hit,
                                        struct storm_packet *packet)
{
    double u[4];
    (void)self;
    storm_packet_random(packet, hit->seed, u);
    return u[0] < 0.5 ? STORM_WALL_TAKE : STORM_WALL_MIRROR;
}

/* ---- cases -------------------------------------------------------------- */

enum mesh_kind { CART, VORONOI, OCTREE, BOXES };

struct ddmc_case {
    const char *name;
    enum mesh_kind kind;
    int64_t n[3];    /* of boxes; n[0] points */
    double stretch;  /* along x */
    bool periodic;   /* along y and z */
    uint64_t groups; /* 1: grey */
    bool walk, user, plane, moves;
    double v[3]; /* of matter; not 0: with motion */
};

static const struct ddmc_case ddmc_cases[] = {
    {"boxes", .kind = CART, .n = {6, 3, 3}, .groups = 1, .walk = true,
     .user = true},
    {"stretched", .kind = CART, .n = {12, 1, 1}, .stretch = 1.1, .groups = 6},
    {"boxes of groups", .kind = CART, .n = {6, 3, 2}, .groups = 8, .walk = true,
     .plane = true},
    {"one in a period", .kind = CART, .n = {10, 1, 1}, .periodic = true,
     .groups = 6},
    {"two in a period", .kind = CART, .n = {10, 2, 1}, .periodic = true,
     .groups = 1},
    {"three in a period", .kind = CART, .n = {6, 3, 2}, .periodic = true,
     .groups = 6},
    {"voronoi", .kind = VORONOI, .n = {70}, .groups = 1, .walk = true,
     .plane = true},
    {"voronoi of groups", .kind = VORONOI, .n = {70}, .groups = 6, .user = true,
     .walk = true},
    {"voronoi that moves", .kind = VORONOI, .n = {70}, .groups = 6,
     .moves = true},
    {"periodic voronoi", .kind = VORONOI, .n = {40}, .periodic = true,
     .groups = 4},
    {"few periodic voronoi", .kind = VORONOI, .n = {4}, .periodic = true,
     .groups = 4},
    {"two periodic voronoi", .kind = VORONOI, .n = {2}, .periodic = true,
     .groups = 1},
    {"octree", .kind = OCTREE, .n = {2, 1, 1}, .groups = 6, .walk = true},
    {"periodic octree", .kind = OCTREE, .n = {2, 1, 1}, .periodic = true,
     .groups = 1, .walk = true},
    {"given boxes", .kind = BOXES, .n = {6, 2, 2}, .groups = 4},
    {"boxes in motion", .kind = CART, .n = {6, 3, 3}, .groups = 1, .walk = true,
     .user = true, .v = {0.05, 0.03, -0.04}},
    {"stretched in motion", .kind = CART, .n = {12, 1, 1}, .stretch = 1.1,
     .groups = 6, .v = {-0.05, 0.0, 0.0}},
    {"boxes of groups in motion", .kind = CART, .n = {6, 3, 2}, .groups = 8,
     .walk = true, .user = true, .v = {0.05, 0.03, -0.04}},
    {"two in a period in motion", .kind = CART, .n = {10, 2, 1},
     .periodic = true, .groups = 1, .v = {0.05, 0.03, -0.04}},
    {"voronoi in motion", .kind = VORONOI, .n = {70}, .groups = 1, .walk = true,
     .plane = true, .v = {0.05, 0.03, -0.04}},
    {"voronoi that moves, in motion", .kind = VORONOI, .n = {70}, .groups = 1,
     .moves = true, .v = {0.02, 0.03, -0.04}},
    {"the same of groups", .kind = VORONOI, .n = {70}, .groups = 6,
     .walk = true, .moves = true, .v = {0.02, 0.03, -0.04}},
    {"periodic voronoi in motion", .kind = VORONOI, .n = {20}, .periodic = true,
     .groups = 1, .v = {0.02, 0.03, -0.04}},
    {"periodic octree in motion", .kind = OCTREE, .n = {2, 1, 1},
     .periodic = true, .groups = 6, .walk = true, .v = {0.02, 0.03, 0.01}},
    {"given boxes in motion", .kind = BOXES, .n = {6, 2, 2}, .groups = 4,
     .v = {0.05, 0.03, -0.04}},
};
enum { DDMC_CASES = sizeof ddmc_cases / sizeof ddmc_cases[0] };

/* ---- meshes ------------------------------------------------------------- */

static inline bool refine(void *self, const double lo[3], const double hi[3],
                          int level)
{
    (void)self;
    (void)level;
    return lo[0] < 0.3 && hi[0] > 0.2;
}

/* Boundary 0 is the hot one, 1 all others: a cell in a corner of x low and y
 * low has two faces of boundary 0. */
static inline int number_of(int i, int side)
{
    (void)i;
    return side == 0 || side == 2 ? 0 : 1;
}

static inline void give_boxes(struct imc_box *box, const struct ddmc_case *c)
{
    struct host_box boxes[MAX_CELLS];
    int n = 0;
    for (int x = 0; x < c->n[0]; x++)
        for (int y = 0; y < c->n[1]; y++)
            for (int z = 0; z < c->n[2]; z++, n++) {
                const int at[3] = {x, y, z};
                for (int d = 0; d < 3; d++) {
                    boxes[n].lo[d] = (double)at[d] / (double)c->n[d];
                    boxes[n].hi[d] = (double)(at[d] + 1) / (double)c->n[d];
                }
            }
    struct host host = host_of_boxes(boxes, n, number_of, 2);
    CHECK_OK(host_give(&host, box->context, 3, &box->mesh));
    host_free(&host);
}

static inline void make_mesh(struct imc_box *box, const struct ddmc_case *c)
{
    struct storm_cart_params cart = {.size = sizeof cart,
                                     .hi_cm = {1, 1, 1},
                                     .n = {c->n[0], c->n[1], c->n[2]},
                                     .stretch = {c->stretch},
                                     .periodic = {0, c->periodic, c->periodic}};
    struct storm_octree_params octree = {
        .size = sizeof octree,
        .hi_cm = {1, 1, 1},
        .n = {c->n[0], c->n[1], c->n[2]},
        .periodic = {0, c->periodic, c->periodic},
        .level = 1,
        .refine_levels = 1,
        .refine = refine};
    struct storm_points_params set = {.size = sizeof set,
                                      .seed = 3,
                                      .n_total = (uint64_t)c->n[0],
                                      .hi_cm = {1, 1, 1}};
    struct storm_voronoi_params voronoi = {
        .size = sizeof voronoi,
        .hi_cm = {1, 1, 1},
        .periodic = {0, c->periodic, c->periodic}};
    if (c->kind == CART)
        CHECK_OK(storm_mesh_create_cart(box->context, &cart, &box->mesh));
    else if (c->kind == OCTREE)
        CHECK_OK(storm_mesh_create_octree(box->context, &octree, &box->mesh));
    else if (c->kind == VORONOI)
        CHECK_OK(run_points_mesh(box->context, &set, &voronoi, &box->mesh));
    else
        give_boxes(box, c);
}

/* Every second time generators move, else cells change owners. */
static inline void change_mesh(struct imc_box *box, int step)
{
    struct storm_change *change;
    storm_cell_idx n = storm_mesh_n_cells(box->mesh);
    uint64_t weight[MAX_CELLS];
    double x[MAX_CELLS][3];
    CHECK(n <= MAX_CELLS);
    if (step % 2 == 0) {
        moving_random(box->mesh, 0.05, (uint64_t)step, &x[0][0]);
        CHECK_OK(storm_mesh_move(box->mesh, &x[0][0], NULL, &change));
    } else {
        for (storm_cell_idx i = 0; i < n; i++)
            weight[i] = 1 + storm_mesh_cell_id(box->mesh, i) % 5;
        change = cut_change(box->mesh, weight);
    }
    CHECK_OK(storm_imc_follow(box->imc, change));
    CHECK_OK(storm_remap(box->engine, box->mesh, change, NULL, NULL));
    storm_change_destroy(change);
}

/* ---- runs --------------------------------------------------------------- */

static inline bool is_in_motion(const struct ddmc_case *c)
{
    return c->v[0] != 0.0;
}

/* The matter of cells moves as the material does, and at places faster or
 * slower; the cells with most of it. */
static inline void set_motion(struct imc_box *box, const struct ddmc_case *c)
{
    double v[MAX_CELLS][3], frame[MAX_CELLS][3];
    if (!is_in_motion(c))
        return;
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(box->mesh); i++) {
        struct dice dice = dice_make(9, storm_mesh_cell_id(box->mesh, i));
        for (int d = 0; d < 3; d++) {
            v[i][d] = c->v[d] * (0.5 + moving_uniform(&dice));
            frame[i][d] = c->moves ? 0.8 * v[i][d] : 0.0;
        }
    }
    CHECK_OK(storm_imc_set(box->imc, STORM_IMC_VELOCITY, &v[0][0]));
    CHECK_OK(storm_imc_set_frame(box->imc, &frame[0][0]));
}

static inline uint64_t hash_moments(struct imc_box *box)
{
    uint64_t sum = 0;
    for (unsigned m = 1; m <= moments; m *= 2) {
        if (!(m & moments))
            continue;
        size_t n = storm_imc_moment_values(box->imc, (storm_imc_moment)m);
        size_t n_cells = (size_t)storm_mesh_n_cells(box->mesh);
        double *values = calloc(n * n_cells + 1, sizeof *values);
        CHECK(values != NULL);
        CHECK_OK(storm_imc_get_moment(box->imc, (storm_imc_moment)m, values));
        for (size_t i = 0; i < n * n_cells; i++) {
            storm_cell_id tag =
                storm_mesh_cell_id(box->mesh, (storm_cell_idx)(i / n));
            sum += storm_hash_fold_real(storm_hash_fold(m * 8 + i % n, tag),
                                        values[i]);
        }
        free(values);
    }
    CHECK_OK(storm_context_reduce(box->context, &sum, 1, MPI_UINT64_T,
                                  MPI_SUM));
    return sum;
}

static inline struct storm_problem
make_problem(const struct ddmc_case *c, const struct storm_material *materials,
             const struct storm_wall *boundaries)
{
    struct storm_problem p = {STORM_PROBLEM_SIZES,
                              .light_cm_s = 1,
                              .radiation_erg_cm3_kev4 = 1,
                              .hi_cm = {1, 1, 1},
                              .materials = materials,
                              .n_materials = 3,
                              .regions = regions,
                              .n_regions = 4,
                              .sources = &imc_box_source,
                              .n_sources = 1,
                              .planes = c->plane ? &plane : NULL,
                              .n_planes = c->plane,
                              .n_groups = c->groups,
                              .group_min_kev = 0.1,
                              .group_max_kev = 20,
                              .emit_per_cell = 4,
                              .min_per_cell = 2,
                              .max_per_cell = 8,
                              .comb = true,
                              .random_walk = c->walk,
                              .diffusion = true,
                              .motion = is_in_motion(c),
                              .seed = 1};
    p.walls[0] = (struct storm_wall){parts, 2};
    for (int w = 2; w < STORM_N_WALLS; w++)
        p.walls[w] = (struct storm_wall){c->periodic             ? &through
                                         : c->user && w % 2 == 0 ? &user
                                                                 : &mirror,
                                         1};
    if (c->kind == BOXES) {
        p.boundaries = boundaries;
        p.n_boundaries = 2;
    }
    return p;
}

static inline double momentum_error(struct imc_box *box)
{
    struct storm_imc_momenta m = STORM_IMC_MOMENTA_INIT;
    CHECK_OK(storm_imc_momentum(box->imc, box->engine, &m));
    return m.error;
}

/* Context, mesh and physics, before the first step. */
static inline void open_case(struct imc_box *box, const struct ddmc_case *c,
                             struct storm_material materials[3],
                             const struct storm_wall boundaries[2])
{
    const struct storm_imc_walls walls = {.size = sizeof walls,
                                          .apply = at_wall};
    memcpy(materials, kinds, sizeof kinds);
    if (c->groups == 1)
        materials[0].absorption.e_exp = 0.0;
    box->problem = make_problem(c, materials, boundaries);
    make_mesh(box, c);
    imc_box_open(box);
    CHECK_OK(storm_imc_request(box->imc, moments));
    CHECK_OK(storm_imc_set_walls(box->imc, &walls));
    CHECK_OK(storm_imc_start(box->imc, box->engine));
}

/* A step; the hash of the state after it and of its moments. */
static inline uint64_t step_case(struct imc_box *box, const struct ddmc_case *c,
                                 int i)
{
    double energy[4];
    set_motion(box, c);
    CHECK(imc_box_step(box, 0.1 * i, 0.1, energy) <= 1e-13);
    if (is_in_motion(c))
        CHECK(momentum_error(box) <= 1e-15);
    uint64_t hash = imc_box_hash(box) ^ hash_moments(box);
    if (c->moves)
        change_mesh(box, i);
    return hash;
}

/* Both methods have been used. */
static inline void check_shares(struct imc_box *box, const struct ddmc_case *c,
                                bool prints)
{
    struct storm_imc_share shares[STORM_IMC_METHODS];
    CHECK_OK(storm_imc_shares(box->imc, box->engine, shares));
    if (storm_context_rank(box->context) == 0 && prints)
        printf("%s: %.3f diffused, %llu flights, %llu hops, at rest %llu of "
               "%llu\n",
               c->name, shares[STORM_IMC_DIFFUSED].energy,
               (unsigned long long)shares[STORM_IMC_FLOWN].events,
               (unsigned long long)shares[STORM_IMC_DIFFUSED].events,
               (unsigned long long)shares[STORM_IMC_DIFFUSED].packets,
               (unsigned long long)(shares[STORM_IMC_DIFFUSED].packets +
                                    shares[STORM_IMC_FLOWN].packets));
    CHECK(shares[STORM_IMC_DIFFUSED].events > 100);
    CHECK(shares[STORM_IMC_FLOWN].events > 100);
}

#endif /* TESTS_PHYSICS_DDMC_CASE_H */
