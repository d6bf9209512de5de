/* SPDX-License-Identifier: BSD-3-Clause */
/* The meshes that mesh_contract.c is run on: a new kind adds rows here. */
#ifndef TESTS_CONFORM_MESH_CASES_H
#define TESTS_CONFORM_MESH_CASES_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/change.h>
#include <storm/context.h>
#include <storm/octree.h>
#include <storm/voronoi.h>

#include "support/check.h"
#include "support/dice.h"
#include "support/host.h"
#include "support/sphere.h"

typedef storm_status (*make_fn)(struct storm_context *context, const void *how,
                                struct storm_mesh **mesh_out);

struct mesh_case {
    const char *name;
    make_fn make;
    const void *how;
    double lo_cm[3], hi_cm[3];
    bool wraps[3]; /* cells may go through walls: the mesh is periodic */
    bool is_hosts; /* made in another partition instead of cut anew */
};
static double uniform(struct dice *dice)
{
    return ((double)(dice_word(dice) >> 11) + 0.5) * 0x1p-53;
}
static storm_status make_cart(struct storm_context *context, const void *how,
                              struct storm_mesh **mesh_out)
{
    return storm_mesh_create_cart(context, how, mesh_out);
}

static const struct storm_cart_params cart_list[] = {
    {.size = sizeof(struct storm_cart_params),
     .lo_cm = {-5, -5, -5},
     .hi_cm = {5, 5, 5},
     .n = {9, 8, 7}},
    {.size = sizeof(struct storm_cart_params),
     .lo_cm = {0, 0, 0},
     .hi_cm = {3, 1, 1},
     .n = {100, 0, 1}},
    {.size = sizeof(struct storm_cart_params),
     .lo_cm = {0, -2, 0},
     .hi_cm = {1, 1, 1e-3},
     .n = {1, 33, 17},
     .periodic = {true, true, false}},
    {.size = sizeof(struct storm_cart_params),
     .lo_cm = {0.1, 0.2, 0.3},
     .hi_cm = {1.1, 7.3, 0.7},
     .n = {6, 5, 11},
     .stretch = {1.7, 0.8, 1.01}},
    {.size = sizeof(struct storm_cart_params),
     .lo_cm = {0, 0, 0},
     .hi_cm = {1, 1, 1},
     .n = {2, 1, 1},
     .periodic = {true, true, true}},
    {.size = sizeof(struct storm_cart_params),
     .lo_cm = {0, 0, 0},
     .hi_cm = {1, 1, 1}},
};

struct voronoi_case {
    double lo_cm[3], hi_cm[3];
    int n; /* points; a lattice of n x n x n if is_lattice */
    bool is_lattice;
    double jitter; /* of the lattice; else the width of clusters, 0: none */
    uint32_t lloyd;
    bool periodic[3];
};

/* Point i; a function of i alone. */
static void voronoi_point(const struct voronoi_case *c, int i, double x[3])
{
    struct dice dice = dice_make(7, (uint64_t)i);
    struct dice cluster = dice_make(8, (uint64_t)i / 50);
    for (int d = 0; d < 3; d++) {
        double u = uniform(&dice), v = uniform(&cluster);
        int at = d == 0 ? i % c->n : d == 1 ? i / c->n % c->n : i / c->n / c->n;
        if (c->is_lattice)
            u = (at + 0.5 + c->jitter * (u - 0.5)) / c->n;
        else if (c->jitter > 0.0)
            u = v + c->jitter * (u - 0.5) * (v < 0.5 ? v : 1.0 - v);
        x[d] = c->lo_cm[d] + u * (c->hi_cm[d] - c->lo_cm[d]);
    }
}

/* Every rank gives each size-th point. */
static storm_status make_voronoi(struct storm_context *context, const void *how,
                                 struct storm_mesh **mesh_out)
{
    enum { MAX_CELLS = 5000 };
    static double points[MAX_CELLS][3];
    const struct voronoi_case *c = how;
    int n = c->is_lattice ? c->n * c->n * c->n : c->n, n_mine = 0;
    CHECK(n <= MAX_CELLS);
    for (int i = storm_context_rank(context); i < n;
         i += storm_context_size(context))
        voronoi_point(c, i, points[n_mine++]);
    struct storm_voronoi_params params = {.size = sizeof params,
                                          .points_cm = &points[0][0],
                                          .n_points = (uint64_t)n_mine,
                                          .lloyd = c->lloyd};
    memcpy(params.lo_cm, c->lo_cm, sizeof params.lo_cm);
    memcpy(params.hi_cm, c->hi_cm, sizeof params.hi_cm);
    memcpy(params.periodic, c->periodic, sizeof params.periodic);
    return storm_mesh_create_voronoi(context, &params, mesh_out);
}

static const struct voronoi_case voronoi_list[] = {
    {.lo_cm = {-5, -5, -5}, .hi_cm = {5, 5, 5}, .n = 700},
    {.lo_cm = {-5, -5, -5}, .hi_cm = {5, 5, 5}, .n = 300, .lloyd = 3},
    {.lo_cm = {0.1, 0.2, 0.3}, .hi_cm = {1.1, 7.3, 0.7}, .n = 400},
    {.hi_cm = {1, 1, 1}, .n = 600, .jitter = 0.01},
    {.hi_cm = {1, 1, 1}, .n = 7, .is_lattice = true},
    {.hi_cm = {3, 2, 1}, .n = 6, .is_lattice = true, .jitter = 1e-10},
    {.hi_cm = {1, 1, 1}, .n = 1},
    {.hi_cm = {1, 1, 1}, .n = 2},
    {.lo_cm = {-5, -5, -5},
     .hi_cm = {5, 5, 5},
     .n = 200,
     .periodic = {1, 1, 1}},
    {.lo_cm = {0.1, 0.2, 0.3},
     .hi_cm = {1.1, 7.3, 0.7},
     .n = 150,
     .lloyd = 2,
     .periodic = {1, 1, 1}},
    {.lo_cm = {0.1, 0.2, 0.3},
     .hi_cm = {1.1, 7.3, 0.7},
     .n = 100,
     .periodic = {1, 0, 0}},
    {.hi_cm = {1, 1, 1}, .n = 5, .is_lattice = true, .periodic = {1, 1, 1}},
    {.hi_cm = {1, 1, 1}, .n = 4, .is_lattice = true, .periodic = {0, 1, 1}},
    {.hi_cm = {1, 1, 1}, .n = 1, .periodic = {1, 1, 1}},
    {.hi_cm = {1, 3, 1}, .n = 2, .periodic = {1, 1, 1}},
    {.hi_cm = {1, 1, 2}, .n = 3, .periodic = {1, 1, 1}},
};

/* Adds up to a third of a mean cell to a coordinate; stays in the box. */
static double moved(const struct voronoi_case *c, int d, double x, double u)
{
    double width = c->hi_cm[d] - c->lo_cm[d];
    x += 0.6 * (u - 0.5) * width / cbrt(c->n);
    x = x > c->lo_cm[d] ? x : c->lo_cm[d];
    return x < c->hi_cm[d] ? x : c->hi_cm[d];
}

static void move_voronoi(const struct voronoi_case *c, uint64_t round,
                         struct storm_mesh *mesh)
{
    size_t n = (size_t)storm_mesh_n_cells(mesh);
    double *x = malloc((3 * n + 1) * sizeof *x);
    struct storm_change *change;
    CHECK(x != NULL);
    for (size_t i = 0; i < n; i++) {
        struct dice dice =
            dice_make(round, storm_mesh_cell_id(mesh, (storm_cell_idx)i));
        CHECK_OK(storm_mesh_generator(mesh, (storm_cell_idx)i, x + 3 * i));
        for (int d = 0; d < 3; d++)
            x[3 * i + (size_t)d] =
                moved(c, d, x[3 * i + (size_t)d], uniform(&dice));
    }
    CHECK_OK(storm_mesh_move(mesh, x, NULL, &change));
    storm_change_destroy(change);
    free(x);
}

/* Removes each seventh cell and adds some, from all ranks. */
static void adapt_voronoi(const struct voronoi_case *c,
                          const struct storm_context *context,
                          struct storm_mesh *mesh)
{
    enum { N_ADD = 50 };
    static storm_cell_idx gone[1000];
    double points[N_ADD][3];
    struct storm_adapt_params params = {
        .size = sizeof params, .remove = gone, .add_cm = &points[0][0]};
    struct voronoi_case more = *c;
    struct storm_change *change;
    more.is_lattice = false;
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++)
        if (storm_mesh_cell_id(mesh, i) % 7 == 3)
            gone[params.n_remove++] = i;
    for (int i = storm_context_rank(context); i < N_ADD;
         i += storm_context_size(context))
        voronoi_point(&more, 1000000 + i, points[params.n_add++]);
    CHECK_OK(storm_mesh_adapt(mesh, &params, &change));
    storm_change_destroy(change);
}

/* One that has moved and changed its cells. */
static storm_status make_moving(struct storm_context *context, const void *how,
                                struct storm_mesh **mesh_out)
{
    storm_status status = make_voronoi(context, how, mesh_out);
    if (status < 0)
        return status;
    move_voronoi(how, 1, *mesh_out);
    adapt_voronoi(how, context, *mesh_out);
    move_voronoi(how, 2, *mesh_out);
    return STORM_OK;
}

static struct sphere spheres[] = {
    {.centre_cm = {0.3, -0.2, 0.1}, .radius_cm = 2.5},
    {.centre_cm = {0, 0, 0}, .radius_cm = 1e-6}, /* a corner of the box */
    {.centre_cm = {1.2, 3.1, 0.4}, .radius_cm = 0.6},
};

static storm_status make_octree(struct storm_context *context, const void *how,
                                struct storm_mesh **mesh_out)
{
    return storm_mesh_create_octree(context, how, mesh_out);
}

static const struct storm_octree_params octree_list[] = {
    {.size = sizeof(struct storm_octree_params), .hi_cm = {1, 1, 1}},
    {.size = sizeof(struct storm_octree_params),
     .lo_cm = {-5, -5, -5},
     .hi_cm = {5, 5, 5},
     .level = 3},
    {.size = sizeof(struct storm_octree_params),
     .lo_cm = {-5, -5, -5},
     .hi_cm = {5, 5, 5},
     .level = 1,
     .refine_levels = 3,
     .refine = sphere_refine,
     .refine_self = &spheres[0]},
    {.size = sizeof(struct storm_octree_params),
     .hi_cm = {1, 1, 1},
     .refine_levels = 9,
     .refine = sphere_refine,
     .refine_self = &spheres[1]},
    {.size = sizeof(struct storm_octree_params),
     .hi_cm = {1, 2, 3},
     .periodic = {true, true, true},
     .refine_levels = 7,
     .refine = sphere_refine,
     .refine_self = &spheres[1]},
    {.size = sizeof(struct storm_octree_params),
     .lo_cm = {0.1, 0.2, 0.3},
     .hi_cm = {1.1, 7.3, 0.7},
     .n = {3, 20, 1},
     .periodic = {false, true, false},
     .refine_levels = 2,
     .refine = sphere_refine,
     .refine_self = &spheres[2]},
};

/* Cuts some cells, by their tags; or joins those with tags from `first` on. */
static void adapt_octree(struct storm_mesh *mesh, storm_cell_id first)
{
    struct storm_adapt_params params = STORM_ADAPT_PARAMS_INIT;
    struct storm_change *change;
    storm_cell_idx n = storm_mesh_n_cells(mesh);
    storm_cell_idx *list = malloc(((size_t)n + 1) * sizeof *list);
    CHECK(list != NULL);
    params.refine = params.remove = list;
    for (storm_cell_idx i = 0; i < n; i++) {
        storm_cell_id tag = storm_mesh_cell_id(mesh, i);
        if (first > 0 && tag >= first)
            list[params.n_remove++] = i;
        if (first == 0 && tag % 25 == 0)
            list[params.n_refine++] = i;
    }
    CHECK_OK(storm_mesh_adapt(mesh, &params, &change));
    storm_change_destroy(change);
    free(list);
}

/* One that has been refined twice and coarsened once. */
static storm_status make_adapted(struct storm_context *context, const void *how,
                                 struct storm_mesh **mesh_out)
{
    storm_status status = make_octree(context, how, mesh_out);
    if (status < 0)
        return status;
    adapt_octree(*mesh_out, 0);
    storm_cell_id first = storm_mesh_next_tag(*mesh_out);
    adapt_octree(*mesh_out, 0);
    adapt_octree(*mesh_out, first);
    adapt_octree(*mesh_out, 0);
    return STORM_OK;
}

/* Each time in another partition, every second time by a change. */
static storm_status make_given(struct storm_context *context, const void *how,
                               struct storm_mesh **mesh_out)
{
    static uint64_t salt; /* the same on every rank */
    storm_status status = host_give(how, context, salt++, mesh_out);
    struct storm_change *change;
    if (status < 0 || salt % 2 == 0)
        return status;
    CHECK_OK(host_replace(how, context, salt + 100, *mesh_out, &change));
    storm_change_destroy(change);
    return STORM_OK;
}

/* A mesh of a host: our own Voronoi cells, tetrahedra, boxes of which some have
 * several neighbours on one side. */
static struct host given_host(int i, struct storm_context *alone)
{
    const double lo[3] = {-5, -5, -5}, hi[3] = {5, 5, 5};
    struct storm_mesh *mesh;
    struct host host;
    if (i == 0) {
        CHECK_OK(make_voronoi(alone, &voronoi_list[1], &mesh));
        host = host_of_voronoi(mesh);
        storm_mesh_destroy(mesh);
        return host;
    }
    return i == 1 ? host_of_tetrahedra(3, lo, hi) : host_of_bricks(lo, hi);
}

#endif /* TESTS_CONFORM_MESH_CASES_H */
