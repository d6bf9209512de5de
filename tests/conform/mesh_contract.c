/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3 5; timeout: 60 */
/*
 * The contract of meshes (mesh/mesh_ops.h), through the public calls.
 * A new mesh adds its rows to the list at the end.
 *
 * Each mesh is made twice: over all ranks, and by every rank for itself. The
 * second knows everything, and the answers of the first must agree with it, in
 * several partitions.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/change.h>
#include <storm/context.h>
#include <storm/octree.h>
#include <storm/voronoi.h>

#include "base/env.h"
#include "support/check.h"
#include "support/cuts.h"
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
    bool wraps[3];   /* cells may go through walls: the mesh is periodic */
    bool is_hosts;   /* made in another partition instead of cut anew */
    bool is_changed; /* MESH-14: it has moved or been refined */
};

struct pair {
    const struct mesh_case *mesh_case;
    struct storm_mesh *mesh;      /* over all ranks */
    struct storm_mesh *whole;     /* of this rank alone: index equals id, or
                                     place if it has changed */
    struct storm_cell_ref *where; /* by index in `whole`, in `mesh` */
    int rank, size;
};

static double uniform(struct dice *dice)
{
    return ((double)(dice_word(dice) >> 11) + 0.5) * 0x1p-53;
}

static bool same_bits(const void *a, const void *b, size_t n)
{
    return memcmp(a, b, n) == 0;
}

/* MESH-1, MESH-2 */
static void check_ids(const struct pair *p)
{
    uint64_t total = storm_mesh_n_cells_total(p->whole);
    CHECK_EQ(storm_mesh_n_cells_total(p->mesh), total);
    CHECK_EQ(storm_mesh_n_cells(p->whole), total);
    uint64_t n = (uint64_t)storm_mesh_n_cells(p->mesh), sum;
    MPI_Allreduce(&n, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sum, total);
    uint64_t first = storm_mesh_first_place(p->mesh, p->rank), n_mine = 0;
    CHECK_EQ(storm_mesh_first_place(p->mesh, p->rank + 1), first + n);
    for (uint64_t i = 0; i < n && !p->mesh_case->is_hosts; i++)
        if (!p->mesh_case->is_changed)
            CHECK_EQ(storm_mesh_cell_id(p->mesh, (storm_cell_idx)i), first + i);
    for (uint64_t w = 0; w < total; w++) {
        struct storm_cell_ref where = p->where[w];
        CHECK(where.rank >= 0 && where.rank < p->size && where.idx >= 0);
        if (where.rank != p->rank)
            continue;
        CHECK_EQ(where.idx, n_mine);
        CHECK_EQ(storm_mesh_cell_id(p->mesh, where.idx),
                 storm_mesh_cell_id(p->whole, (storm_cell_idx)w));
        n_mine++;
    }
    CHECK_EQ(n_mine, n);
}

/* Where all cells are. */
static void find_all(struct pair *p)
{
    size_t total = (size_t)storm_mesh_n_cells_total(p->whole);
    storm_cell_id *tags = malloc(total * sizeof *tags);
    p->where = realloc(p->where, total * sizeof *p->where);
    CHECK(tags != NULL && p->where != NULL);
    for (size_t i = 0; i < total; i++)
        tags[i] = storm_mesh_cell_id(p->whole, (storm_cell_idx)i);
    CHECK_OK(storm_mesh_find(p->mesh, total, tags, p->where));
    free(tags);
}

/* MESH-3 and, for the faces, the neighbours */
static void check_geometry(const struct pair *p)
{
    uint64_t first = storm_mesh_first_place(p->mesh, p->rank);
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(p->mesh); i++) {
        storm_cell_idx w = (storm_cell_idx)(p->mesh_case->is_hosts
                                                ? storm_mesh_cell_id(p->mesh, i)
                                                : first + (uint64_t)i);
        double a = storm_mesh_volume_cm3(p->mesh, i);
        double b = storm_mesh_volume_cm3(p->whole, w);
        CHECK(same_bits(&a, &b, sizeof a));
        double x[3], y[3];
        storm_mesh_centre(p->mesh, i, x);
        storm_mesh_centre(p->whole, w, y);
        CHECK(same_bits(x, y, sizeof x));
        double lo[2][3], hi[2][3];
        storm_mesh_bounds(p->mesh, i, lo[0], hi[0]);
        storm_mesh_bounds(p->whole, w, lo[1], hi[1]);
        CHECK(same_bits(lo[0], lo[1], sizeof lo[0]));
        CHECK(same_bits(hi[0], hi[1], sizeof hi[0]));
        const double u[3] = {0.1, 0.5, 0.7};
        storm_mesh_sample(p->mesh, i, u, x);
        storm_mesh_sample(p->whole, w, u, y);
        CHECK(same_bits(x, y, sizeof x));
        int n_faces = storm_mesh_n_faces(p->mesh, i);
        CHECK_EQ(n_faces, storm_mesh_n_faces(p->whole, w));
        for (int f = 0; f < n_faces; f++) {
            struct storm_face s = STORM_FACE_INIT, t = STORM_FACE_INIT;
            storm_mesh_face(p->mesh, i, f, &s);
            storm_mesh_face(p->whole, w, f, &t);
            CHECK(same_bits(&s.area_cm2, &t.area_cm2, sizeof s.area_cm2));
            CHECK(same_bits(s.normal, t.normal, sizeof s.normal));
            CHECK_EQ(s.wall, t.wall);
            if (t.rank < 0) {
                CHECK(s.rank < 0);
                continue;
            }
            CHECK_EQ(s.rank, p->where[t.neighbour].rank);
            CHECK_EQ(s.neighbour, p->where[t.neighbour].idx);
        }
    }
}

/* Does cell b have a face like f, from the other side, that leads to a? */
static bool leads_back(const struct storm_mesh *whole, storm_cell_idx a,
                       const struct storm_face *f)
{
    for (int k = 0; k < storm_mesh_n_faces(whole, f->neighbour); k++) {
        struct storm_face g = STORM_FACE_INIT;
        storm_mesh_face(whole, f->neighbour, k, &g);
        if (g.rank >= 0 && g.neighbour == a &&
            same_bits(&g.area_cm2, &f->area_cm2, sizeof g.area_cm2) &&
            g.normal[0] == -f->normal[0] && g.normal[1] == -f->normal[1] &&
            g.normal[2] == -f->normal[2])
            return true;
    }
    return false;
}

/* MESH-4, MESH-5 */
static void check_cells(const struct pair *p)
{
    const struct mesh_case *c = p->mesh_case;
    double box = 1.0, sum = 0.0;
    for (int d = 0; d < 3; d++)
        box *= c->hi_cm[d] - c->lo_cm[d];
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(p->whole); i++) {
        double volume = storm_mesh_volume_cm3(p->whole, i);
        CHECK(volume > 0.0);
        sum += volume;
        double closure[3] = {0.0}, area = 0.0;
        for (int f = 0; f < storm_mesh_n_faces(p->whole, i); f++) {
            struct storm_face face = STORM_FACE_INIT;
            storm_mesh_face(p->whole, i, f, &face);
            CHECK(face.area_cm2 > 0.0);
            CHECK((face.rank >= 0) == (face.wall < 0));
            CHECK(face.wall < STORM_N_WALLS);
            if (face.rank >= 0)
                CHECK(leads_back(p->whole, i, &face));
            for (int d = 0; d < 3; d++)
                closure[d] += face.area_cm2 * face.normal[d];
            area += face.area_cm2;
        }
        for (int d = 0; d < 3; d++)
            CHECK(fabs(closure[d]) <= 1e-13 * area);
    }
    CHECK(fabs(sum - box) <= 1e-12 * box);
}

/* MESH-11: so many samples fill most of the bounds, and do not leave them. */
static void check_bounds(const struct pair *p, storm_cell_idx cell,
                         const double lowest[3], const double highest[3])
{
    double lo[3], hi[3];
    storm_mesh_bounds(p->mesh, cell, lo, hi);
    for (int d = 0; d < 3; d++) {
        double low = p->mesh_case->lo_cm[d], high = p->mesh_case->hi_cm[d];
        if (p->mesh_case->wraps[d])
            CHECK(hi[d] - lo[d] <= (1.0 + 1e-9) * (high - low));
        else
            CHECK(lo[d] >= low && hi[d] <= high);
        CHECK(lo[d] <= lowest[d] && highest[d] <= hi[d]);
        CHECK(highest[d] - lowest[d] >= 0.6 * (hi[d] - lo[d]));
    }
}

/* MESH-6: points and centres are in the box; then to where the bounds are. */
static void to_bounds(const struct pair *p, const double lo[3],
                      const double hi[3], double x[3])
{
    for (int d = 0; d < 3; d++) {
        double low = p->mesh_case->lo_cm[d], high = p->mesh_case->hi_cm[d];
        CHECK(x[d] >= low);
        CHECK(p->mesh_case->wraps[d] ? x[d] < high : x[d] <= high);
        if (x[d] < lo[d] && p->mesh_case->wraps[d])
            x[d] += high - low;
        else if (x[d] > hi[d] && p->mesh_case->wraps[d])
            x[d] -= high - low;
    }
}

/* MESH-6: back to the cell, even from next to its faces; uniform: the mean of
 * many samples is the centre (convex cells of a Cartesian mesh; other meshes
 * define centre as the centroid too), within k = 6 standard errors of a sample
 * that spreads at most over the cell's own extent. */
static void check_samples(const struct pair *p, struct dice *dice)
{
    static const double corners[] = {0x1p-54, 0.5, 1.0 - 0x1p-53};
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(p->mesh); i++) {
        for (int k = 0; k < 27 + 20; k++) {
            double u[3] = {corners[k % 3], corners[k / 3 % 3],
                           corners[k / 9 % 3]};
            for (int d = 0; k >= 27 && d < 3; d++)
                u[d] = uniform(dice);
            double x[3];
            storm_mesh_sample(p->mesh, i, u, x);
            struct storm_cell_ref found;
            CHECK_OK(storm_mesh_locate(p->mesh, x, &found));
            CHECK(found.rank == p->rank && found.idx == i);
        }
    }
    enum { N = 2000 };
    if (storm_mesh_n_cells(p->mesh) == 0)
        return;
    storm_cell_idx i =
        (storm_cell_idx)dice_roll(dice, (uint64_t)storm_mesh_n_cells(p->mesh));
    double sum[3] = {0.0}, square[3] = {0.0}, centre[3];
    double lowest[3], highest[3], lo[3], hi[3];
    storm_mesh_centre(p->mesh, i, centre);
    storm_mesh_bounds(p->mesh, i, lo, hi);
    to_bounds(p, lo, hi, centre);
    memcpy(lowest, centre, sizeof lowest);
    memcpy(highest, centre, sizeof highest);
    for (int k = 0; k < N; k++) {
        double u[3], x[3];
        for (int d = 0; d < 3; d++)
            u[d] = uniform(dice);
        storm_mesh_sample(p->mesh, i, u, x);
        to_bounds(p, lo, hi, x);
        for (int d = 0; d < 3; d++) {
            sum[d] += x[d] - centre[d];
            square[d] += (x[d] - centre[d]) * (x[d] - centre[d]);
            lowest[d] = fmin(lowest[d], x[d]);
            highest[d] = fmax(highest[d], x[d]);
        }
    }
    check_bounds(p, i, lowest, highest);
    for (int d = 0; d < 3; d++)
        CHECK(fabs(sum[d]) <= 6.0 * sqrt(square[d]));
}

/* MESH-7: any point, on every rank the same, but for ranks that do not know. */
static void check_locate(const struct pair *p)
{
    const struct mesh_case *c = p->mesh_case;
    struct dice dice = dice_make(2, 0); /* the same on every rank */
    uint64_t answers = 0;
    for (int k = 0; k < 2000; k++) {
        double x[3];
        bool inside = true;
        for (int d = 0; d < 3; d++) {
            double width = c->hi_cm[d] - c->lo_cm[d];
            switch (dice_roll(&dice, 12)) {
            case 0:
                x[d] = c->lo_cm[d];
                break;
            case 1:
                x[d] = c->hi_cm[d];
                break;
            case 2:
                x[d] = nextafter(c->lo_cm[d], -INFINITY);
                break;
            case 3:
                x[d] = c->hi_cm[d] + width * uniform(&dice);
                break;
            default:
                x[d] = c->lo_cm[d] + width * uniform(&dice);
            }
            inside = inside && x[d] >= c->lo_cm[d] && x[d] <= c->hi_cm[d];
        }
        struct storm_cell_ref a = {-1, -1}, b = {-1, -1};
        storm_status s = storm_mesh_locate(p->mesh, x, &a);
        storm_status t = storm_mesh_locate(p->whole, x, &b);
        CHECK_EQ(t, inside ? STORM_OK : STORM_ERR_ARG);
        if (s == STORM_AGAIN) { /* then it is another rank's */
            CHECK(inside);
            CHECK(p->where[b.idx].rank != p->rank);
        } else {
            CHECK_EQ(s, t);
            CHECK_EQ(a.rank, inside ? p->where[b.idx].rank : -1);
            CHECK_EQ(a.idx, inside ? p->where[b.idx].idx : -1);
        }
        answers = dice_mix(answers ^ (uint64_t)b.idx);
    }
    uint64_t highest;
    MPI_Allreduce(&answers, &highest, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    CHECK_EQ(answers, highest);
    double nowhere[3] = {NAN, c->lo_cm[1], c->lo_cm[2]};
    struct storm_cell_ref cell;
    CHECK_EQ(storm_mesh_locate(p->mesh, nowhere, &cell), STORM_ERR_ARG);
}

/* Another partition, with weights that are a function of the id. */
static void recut(const struct pair *p, uint64_t seed)
{
    enum { MAX_CELLS = 20000 };
    static uint64_t weight[MAX_CELLS];
    CHECK(storm_mesh_n_cells(p->mesh) <= MAX_CELLS);
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(p->mesh); i++) {
        uint64_t id = storm_mesh_cell_id(p->mesh, i);
        weight[i] = seed == 0 ? 0 : dice_mix(id * seed) >> (id % 64);
    }
    cut_mesh(p->mesh, weight);
}

/* MESH-8: queries make none. */
static uint64_t allocations(const struct storm_context *context)
{
    return storm_memory_calls(storm_context_env(context)->memory);
}

static void check_mesh(const struct mesh_case *mesh_case,
                       struct storm_context *all, struct storm_context *alone)
{
    struct pair p = {.mesh_case = mesh_case,
                     .rank = storm_context_rank(all),
                     .size = storm_context_size(all)};
    struct dice dice = dice_make(1, (uint64_t)p.rank);
    CHECK_OK(mesh_case->make(all, mesh_case->how, &p.mesh));
    CHECK_OK(mesh_case->make(alone, mesh_case->how, &p.whole));
    for (uint64_t cut = 0; cut < 4; cut++) {
        check_where("mesh %s, rank %d, cut %d", mesh_case->name, p.rank,
                    (int)cut);
        find_all(&p);
        uint64_t calls = allocations(all);
        check_ids(&p);
        check_geometry(&p);
        check_samples(&p, &dice);
        check_locate(&p);
        CHECK_EQ(allocations(all), calls);
        if (mesh_case->is_hosts) {
            storm_mesh_destroy(p.mesh);
            CHECK_OK(mesh_case->make(all, mesh_case->how, &p.mesh));
        } else {
            recut(&p, cut % 3);
        }
    }
    check_cells(&p);
    free(p.where);
    storm_mesh_destroy(p.mesh);
    storm_mesh_destroy(p.whole);
}

/* ---- the list ----------------------------------------------------------- */

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

/* The same, then all generators move by a function of their tags. */
static storm_status make_moved(struct storm_context *context, const void *how,
                               struct storm_mesh **mesh_out)
{
    const struct voronoi_case *c = how;
    struct storm_change *change;
    storm_status status = make_voronoi(context, how, mesh_out);
    if (status < 0)
        return status;
    storm_cell_idx n = storm_mesh_n_cells(*mesh_out);
    double *x = malloc((3 * (size_t)n + 1) * sizeof *x);
    CHECK(x != NULL);
    for (storm_cell_idx i = 0; i < n; i++) {
        double *at = x + 3 * (size_t)i;
        struct dice dice = dice_make(9, storm_mesh_cell_id(*mesh_out, i));
        CHECK_OK(storm_mesh_generator(*mesh_out, i, at));
        for (int d = 0; d < 3; d++) {
            double to =
                c->lo_cm[d] + uniform(&dice) * (c->hi_cm[d] - c->lo_cm[d]);
            at[d] += 0.1 * (to - at[d]); /* stays in the box */
        }
    }
    status = storm_mesh_move(*mesh_out, x, NULL, &change);
    if (status == STORM_OK)
        storm_change_destroy(change);
    free(x);
    return status;
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

/* The same, then some cells are cut and some of those joined again. */
static storm_status make_adapted(struct storm_context *context, const void *how,
                                 struct storm_mesh **mesh_out)
{
    storm_status status = storm_mesh_create_octree(context, how, mesh_out);
    storm_cell_id first = storm_mesh_next_tag(*mesh_out);
    for (int k = 0; k < 2 && status == STORM_OK; k++) {
        struct storm_adapt_params params = STORM_ADAPT_PARAMS_INIT;
        struct storm_change *change;
        storm_cell_idx n = storm_mesh_n_cells(*mesh_out);
        storm_cell_idx *list = malloc(((size_t)n + 1) * sizeof *list);
        CHECK(list != NULL);
        params.refine = params.remove = list;
        for (storm_cell_idx i = 0; i < n; i++) {
            storm_cell_id tag = storm_mesh_cell_id(*mesh_out, i);
            if (k == 0 && dice_mix(tag) % 9 == 0)
                list[params.n_refine++] = i;
            /* parts are in order of the tags, eight of each cell */
            if (k == 1 && tag >= first && dice_mix((tag - first) / 8) % 2)
                list[params.n_remove++] = i;
        }
        status = storm_mesh_adapt(*mesh_out, &params, &change);
        if (status == STORM_OK)
            storm_change_destroy(change);
        free(list);
    }
    return status;
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
     .refine_levels = 4,
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

/* Each time in another partition. */
static storm_status make_given(struct storm_context *context, const void *how,
                               struct storm_mesh **mesh_out)
{
    static uint64_t salt; /* the same on every rank */
    return host_give(how, context, salt++, mesh_out);
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

static void check_given(struct storm_context *all, struct storm_context *alone)
{
    for (int i = 0; i < 3; i++) {
        char name[32];
        struct host host = given_host(i, alone);
        snprintf(name, sizeof name, "given %d", i);
        struct mesh_case mesh_case = {
            .name = name, .make = make_given, .how = &host, .is_hosts = true};
        struct storm_mesh *mesh; /* for the box, rounded as it has it */
        CHECK_OK(make_given(alone, &host, &mesh));
        storm_mesh_box(mesh, mesh_case.lo_cm, mesh_case.hi_cm);
        for (int d = 0; d < 3; d++)
            CHECK(fabs(mesh_case.lo_cm[d] + 5.0) < 1e-12 &&
                  fabs(mesh_case.hi_cm[d] - 5.0) < 1e-12);
        storm_mesh_destroy(mesh);
        check_mesh(&mesh_case, all, alone);
        host_free(&host);
    }
}

int main(int argc, char **argv)
{
    struct storm_context *all, *alone;
    MPI_Init(&argc, &argv);
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &all));
    CHECK_OK(storm_context_create(MPI_COMM_SELF, NULL, &alone));
    for (size_t i = 0; i < sizeof cart_list / sizeof cart_list[0]; i++) {
        char name[32];
        snprintf(name, sizeof name, "cartesian %d", (int)i);
        struct mesh_case mesh_case = {
            .name = name, .make = make_cart, .how = &cart_list[i]};
        memcpy(mesh_case.lo_cm, cart_list[i].lo_cm, sizeof mesh_case.lo_cm);
        memcpy(mesh_case.hi_cm, cart_list[i].hi_cm, sizeof mesh_case.hi_cm);
        check_mesh(&mesh_case, all, alone);
    }
    for (size_t i = 0; i < sizeof voronoi_list / sizeof voronoi_list[0]; i++) {
        char name[32];
        snprintf(name, sizeof name, "voronoi %d", (int)i);
        struct mesh_case mesh_case = {
            .name = name, .make = make_voronoi, .how = &voronoi_list[i]};
        memcpy(mesh_case.lo_cm, voronoi_list[i].lo_cm, sizeof mesh_case.lo_cm);
        memcpy(mesh_case.hi_cm, voronoi_list[i].hi_cm, sizeof mesh_case.hi_cm);
        memcpy(mesh_case.wraps, voronoi_list[i].periodic,
               sizeof mesh_case.wraps);
        check_mesh(&mesh_case, all, alone);
        if (i % 8 != 0)
            continue;
        snprintf(name, sizeof name, "voronoi %d, moved", (int)i);
        mesh_case.make = make_moved;
        mesh_case.is_changed = true;
        check_mesh(&mesh_case, all, alone);
    }
    for (size_t i = 0; i < sizeof octree_list / sizeof octree_list[0]; i++) {
        char name[32];
        snprintf(name, sizeof name, "octree %d", (int)i);
        struct mesh_case mesh_case = {
            .name = name, .make = make_octree, .how = &octree_list[i]};
        memcpy(mesh_case.lo_cm, octree_list[i].lo_cm, sizeof mesh_case.lo_cm);
        memcpy(mesh_case.hi_cm, octree_list[i].hi_cm, sizeof mesh_case.hi_cm);
        check_mesh(&mesh_case, all, alone);
        if (i % 2 == 0)
            continue;
        snprintf(name, sizeof name, "octree %d, adapted", (int)i);
        mesh_case.make = make_adapted;
        mesh_case.is_changed = true;
        check_mesh(&mesh_case, all, alone);
    }
    check_given(all, alone);
    struct storm_memory_entry entry =
        STORM_MEMORY_ENTRY_INIT; /* "total" comes first */
    CHECK_OK(storm_context_memory(alone, 0, &entry));
    CHECK_EQ(entry.bytes, 0);
    storm_context_destroy(alone);
    storm_context_destroy(all);
    MPI_Finalize();
    return CHECK_PASS;
}
