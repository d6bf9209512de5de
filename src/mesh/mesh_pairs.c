/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Generators in mirrored pairs: their faces lie on the interfaces of materials.
 *
 *   PAIRS-1  Points, their number and their bits are functions of the set
 *            alone, not of the number of ranks.
 *   PAIRS-2  A point of an interface (a plane one, away from its edges) is as
 *            far from the nearest generator on one side as on the other, and no
 *            other generator is nearer: faces lie on it. A layer of material
 *            has no holes, however thin.
 *
 * The box is cut into cubes of half a spacing. A cube that an interface goes
 * through has a candidate; candidates are taken in a random order, each that is
 * far enough from those taken before it. Whether one is taken depends on its
 * neighbours of higher rank in that order, and so on: chains are short because
 * the order is random, and any rank can follow them.
 */
#include <math.h>

#include <storm/context.h>
#include <storm/voronoi.h>

#include "base/env.h"
#include "base/hash.h"
#include "base/math.h"
#include "base/sized.h"
#include "mesh/mesh_interface.h"
#include "mesh/mesh_points.h"

static const char pairs_label[] = "points";

/* Cubes per spacing; a seed looks for others in cubes up to that many away. */
static const double pairs_cube = 0.5;
enum {
    PAIRS_FAR = 3,
    PAIRS_FAR_LAYER = 5, /* their seeds are not in their cubes */
    PAIRS_PARTS = 4,
    PAIRS_GENERATORS = 4,
    PAIRS_MIN_TABLE = 1024
};

/* Points that tell how much of the box is near an interface, and how often the
 * spacing is corrected. */
enum { PAIRS_SAMPLES = 1 << 13, PAIRS_ITERATIONS = 4 };

/* Generators for each square of a spacing; measured. */
static const double pairs_per_area = 2.2;

/* What is known of a cube. */
struct pairs_cube {
    uint64_t key; /* its number and one; 0: a free row */
    enum { PAIRS_OPEN, PAIRS_TAKEN, PAIRS_LEFT } state;
    struct storm_seed seed;
};

struct storm_pairs {
    const struct storm_env *env;
    struct storm_points_params set; /* the caller's */
    struct storm_interface interface;
    int64_t n_cubes[3];
    double cube_cm;

    struct pairs_cube *table; /* by hash, of a power of two */
    size_t n_table, n_used;

    uint64_t n_others;
    double *points; /* three each */
    size_t n_points, capacity;
};

/* ---- the table ----------------------------------------------------------- */

static size_t pairs_row(const struct storm_pairs *pairs, uint64_t key)
{
    size_t i = (size_t)storm_hash_fold(0, key) & (pairs->n_table - 1);
    while (pairs->table[i].key != 0 && pairs->table[i].key != key)
        i = (i + 1) & (pairs->n_table - 1);
    return i;
}

/* At most half full. */
static storm_status pairs_grow(struct storm_pairs *pairs)
{
    struct pairs_cube *old = pairs->table;
    size_t n_old = pairs->n_table;
    if (2 * (pairs->n_used + 1) <= n_old)
        return STORM_OK;
    size_t n = n_old > 0 ? 2 * n_old : PAIRS_MIN_TABLE;
    struct pairs_cube *table =
        storm_alloc(pairs->env->memory, pairs_label, n * sizeof *table);
    if (table == NULL)
        return STORM_ERR_NOMEM;
    pairs->table = table;
    pairs->n_table = n;
    for (size_t i = 0; i < n_old; i++)
        if (old[i].key != 0)
            table[pairs_row(pairs, old[i].key)] = old[i];
    storm_free(pairs->env->memory, old);
    return STORM_OK;
}

/* ---- candidates ---------------------------------------------------------- */

static uint64_t pairs_number(const struct storm_pairs *pairs,
                             const int64_t at[3])
{
    return (uint64_t)((at[2] * pairs->n_cubes[1] + at[1]) * pairs->n_cubes[0] +
                      at[0]);
}

/* Random order of the cubes, and places in them. */
static uint64_t pairs_random(const struct storm_pairs *pairs, uint64_t number,
                             uint64_t what)
{
    return storm_hash_fold(storm_hash_fold(pairs->set.seed, number), what);
}

/* The three lines along the axes through a point of the cube, to its faces, in
 * parts: a layer may be thinner than the cube. */
static void pairs_part(const struct storm_pairs *pairs, const int64_t at[3],
                       int part, double from_out[3], double to_out[3])
{
    const struct storm_points_params *set = &pairs->set;
    uint64_t number = pairs_number(pairs, at);
    int axis = part / PAIRS_PARTS, k = part % PAIRS_PARTS;
    for (int d = 0; d < 3; d++) {
        uint64_t bits = pairs_random(pairs, number, (uint64_t)d + 1) >> 11;
        double u = 0.25 + 0.5 * ((double)bits * 0x1p-53);
        double lo = set->lo_cm[d] + (double)at[d] * pairs->cube_cm;
        double hi = lo + pairs->cube_cm;
        hi = hi < set->hi_cm[d] ? hi : set->hi_cm[d];
        double from = d == axis ? (double)k / PAIRS_PARTS : u;
        double to = d == axis ? (double)(k + 1) / PAIRS_PARTS : u;
        from_out[d] = lo + from * (hi - lo);
        to_out[d] = lo + to * (hi - lo);
    }
}

static bool pairs_has_candidate(const struct storm_pairs *pairs,
                                const int64_t at[3])
{
    for (int i = 0; i < 3 * PAIRS_PARTS; i++) {
        double from[3], to[3];
        pairs_part(pairs, at, i, from, to);
        if (storm_interface_crosses(&pairs->interface, from, to))
            return true;
    }
    return false;
}

/* The first of its parts that has one, from a random one on: of two interfaces
 * in a cube either may be found. */
static struct storm_seed pairs_candidate(const struct storm_pairs *pairs,
                                         const int64_t at[3])
{
    struct storm_seed seed = {.kind = STORM_SEED_NONE};
    int first = (int)(pairs_random(pairs, pairs_number(pairs, at), 4) %
                      (3 * PAIRS_PARTS));
    for (int i = 0; i < 3 * PAIRS_PARTS && seed.kind == STORM_SEED_NONE; i++) {
        double from[3], to[3];
        pairs_part(pairs, at, (first + i) % (3 * PAIRS_PARTS), from, to);
        if (storm_interface_crosses(&pairs->interface, from, to))
            seed = storm_interface_seed(&pairs->interface, from, to);
    }
    return seed;
}

static storm_status pairs_find(struct storm_pairs *pairs, const int64_t at[3],
                               size_t *row_out)
{
    storm_status status = pairs_grow(pairs);
    if (status < 0)
        return status;
    uint64_t key = pairs_number(pairs, at) + 1;
    size_t i = pairs_row(pairs, key);
    if (pairs->table[i].key == 0) {
        pairs->table[i] =
            (struct pairs_cube){.key = key, .seed = pairs_candidate(pairs, at)};
        pairs->n_used++;
    }
    *row_out = i;
    return STORM_OK;
}

/* ---- which are taken ----------------------------------------------------- */

/* Too near to each other? On the same face, not on both sides of a layer; in
 * the same thin layer, or on the same edge. */
static bool pairs_collide(const struct storm_pairs *pairs,
                          const struct storm_seed *a,
                          const struct storm_seed *b)
{
    double square = 0.0, off[2] = {0.0, 0.0};
    if (a->kind != b->kind)
        return false;
    double min =
        pairs->interface.spacing_cm *
        (a->kind == STORM_SEED_EDGE ? STORM_SEED_EDGES : STORM_SEED_FACES);
    for (int d = 0; d < 3; d++) {
        double x = a->at_cm[d] - b->at_cm[d];
        square += x * x;
        off[0] += x * a->normal[0][d];
        off[1] += x * b->normal[0][d];
    }
    if (!(square < min * min))
        return false;
    return a->kind != STORM_SEED_FACE || fabs(off[0]) < a->reach_cm ||
           fabs(off[1]) < b->reach_cm;
}

/* Is the seed of this cube taken? Asks neighbours that come before it. */
static storm_status pairs_decide(struct storm_pairs *pairs, const int64_t at[3],
                                 bool *taken_out)
{
    size_t row;
    storm_status status = pairs_find(pairs, at, &row);
    if (status < 0)
        return status;
    const struct pairs_cube cube = pairs->table[row]; /* the table may grow */
    *taken_out = cube.seed.kind != STORM_SEED_NONE && cube.state != PAIRS_LEFT;
    if (cube.seed.kind == STORM_SEED_NONE || cube.state != PAIRS_OPEN)
        return STORM_OK;
    const int far =
        cube.seed.kind == STORM_SEED_LAYER ? PAIRS_FAR_LAYER : PAIRS_FAR;
    const int side = 2 * far + 1;
    uint64_t rank = pairs_random(pairs, cube.key - 1, 0);
    for (int k = 0; k < side * side * side && *taken_out; k++) {
        const int64_t there[3] = {at[0] + k % side - far,
                                  at[1] + k / side % side - far,
                                  at[2] + k / side / side - far};
        bool inside = true, taken = false;
        for (int d = 0; d < 3; d++)
            inside = inside && there[d] >= 0 && there[d] < pairs->n_cubes[d];
        if (!inside ||
            pairs_random(pairs, pairs_number(pairs, there), 0) >= rank)
            continue;
        status = pairs_find(pairs, there, &row);
        if (status < 0)
            return status;
        if (pairs->table[row].seed.kind == STORM_SEED_NONE ||
            !pairs_collide(pairs, &cube.seed, &pairs->table[row].seed))
            continue;
        status = pairs_decide(pairs, there, &taken);
        if (status < 0)
            return status;
        *taken_out = !taken;
    }
    pairs->table[pairs_row(pairs, cube.key)].state =
        *taken_out ? PAIRS_TAKEN : PAIRS_LEFT;
    return STORM_OK;
}

/* ---- generators ---------------------------------------------------------- */

/* Two beside a face, three in and at a thin layer, four round an edge; none
 * outside of the box. */
static storm_status pairs_add(struct storm_pairs *pairs,
                              const struct storm_seed *seed)
{
    void *array = pairs->points;
    storm_status status = storm_reserve(pairs->env->memory, pairs_label,
                                        3 * sizeof *pairs->points,
                                        pairs->n_points + PAIRS_GENERATORS,
                                        &array, &pairs->capacity);
    if (status < 0)
        return status;
    pairs->points = array;
    bool is_edge = seed->kind == STORM_SEED_EDGE;
    int n = is_edge ? 4 : seed->kind == STORM_SEED_LAYER ? 3 : 2;
    for (int q = 0; q < n; q++) {
        double *x = &pairs->points[3 * pairs->n_points];
        double a = q & 1 ? seed->reach_cm : -seed->reach_cm;
        double b = !is_edge ? 0.0 : q & 2 ? seed->reach_cm : -seed->reach_cm;
        if (!is_edge && q == 2)
            a = 0.0;
        for (int d = 0; d < 3; d++)
            x[d] = seed->at_cm[d] + a * seed->normal[0][d] +
                   b * seed->normal[1][d];
        pairs->n_points += storm_interface_has(&pairs->interface, x);
    }
    return STORM_OK;
}

/* This rank's layers of cubes. */
static storm_status pairs_fill(struct storm_pairs *pairs)
{
    int64_t rank = pairs->env->rank, size = pairs->env->size;
    int64_t n = pairs->n_cubes[2], at[3];
    storm_status status = STORM_OK;
    for (at[2] = n * rank / size; at[2] < n * (rank + 1) / size; at[2]++)
        for (at[1] = 0; at[1] < pairs->n_cubes[1]; at[1]++)
            for (at[0] = 0; at[0] < pairs->n_cubes[0] && status >= 0; at[0]++) {
                bool taken = false;
                if (!pairs_has_candidate(pairs, at))
                    continue; /* nearly all: not kept */
                status = pairs_decide(pairs, at, &taken);
                if (status < 0 || !taken)
                    continue;
                size_t row;
                status = pairs_find(pairs, at, &row);
                if (status >= 0) {
                    struct storm_seed seed = pairs->table[row].seed;
                    status = pairs_add(pairs, &seed);
                }
            }
    storm_free(pairs->env->memory, pairs->table);
    pairs->table = NULL;
    return status;
}

/* ---- public -------------------------------------------------------------- */

/* Parts of the box that sample points tell. */
struct pairs_parts {
    double near;  /* where a refined set is dense */
    double thin;  /* a quarter of FREE from an interface, or less */
    double dense; /* where other generators may be, and the set is dense */
    double plain; /* the same, where it is not */
};

static struct pairs_parts pairs_sample(const struct storm_pairs *pairs)
{
    const struct storm_points_params *set = &pairs->set;
    double free_cm = STORM_SEED_FREE * pairs->interface.spacing_cm;
    struct pairs_parts parts = {0.0, 0.0, 0.0, 0.0};
    for (uint64_t i = 0; i < PAIRS_SAMPLES; i++) {
        double x[3], one = 1.0 / PAIRS_SAMPLES;
        bool near = storm_points_sample(set, i, x);
        bool far = storm_interface_is_far(&pairs->interface, x, free_cm);
        parts.near += near ? one : 0.0;
        parts.dense += near && far ? one : 0.0;
        parts.plain += !near && far ? one : 0.0;
        if (!far &&
            !storm_interface_is_far(&pairs->interface, x, 0.25 * free_cm))
            parts.thin += one;
    }
    return parts;
}

/* The spacing, and how many others there are, so that all are about as many as
 * the set has: the spacing is that of the others near interfaces. */
static void pairs_estimate(struct storm_pairs *pairs)
{
    const struct storm_points_params *set = &pairs->set;
    double refine = set->kind == STORM_POINTS_REFINED ? set->refine : 1.0;
    double volume = 1.0, n = (double)set->n_total;
    for (int d = 0; d < 3; d++)
        volume *= set->hi_cm[d] - set->lo_cm[d];
    struct pairs_parts parts = {.near = 1.0};
    for (int i = 0; i <= PAIRS_ITERATIONS; i++) {
        double density = n / volume / (1.0 + (refine - 1.0) * parts.near);
        double s = storm_cbrt(1.0 / (density * refine));
        pairs->interface.spacing_cm = s;
        parts = pairs_sample(pairs);
        density = n / volume / (1.0 + (refine - 1.0) * parts.near);
        double area = volume * parts.thin / (0.5 * STORM_SEED_FREE * s);
        double total = pairs_per_area * area / (s * s) +
                       volume * density * (parts.plain + refine * parts.dense);
        pairs->n_others = (uint64_t)n;
        if (total > 0.0)
            n *= (double)set->n_total / total;
    }
}

static storm_status pairs_set(struct storm_pairs *pairs,
                              const struct storm_points_params *params)
{
    storm_status status =
        storm_sized_read(pairs->env, "storm_pairs_create", params, &pairs->set,
                         sizeof pairs->set);
    const struct storm_points_params *set = &pairs->set;
    if (status < 0)
        return status;
    if (set->material == NULL || set->n_total == 0 ||
        (set->kind == STORM_POINTS_REFINED &&
         (!(set->refine >= 1.0) || !(set->width_cm > 0.0)))) {
        storm_log_write(&pairs->env->log, STORM_LOG_ERROR,
                        "storm_pairs_create: the set has no material, no "
                        "points, or no width to refine");
        return STORM_ERR_ARG;
    }
    pairs->interface = (struct storm_interface){.set = set};
    pairs_estimate(pairs);
    pairs->cube_cm = pairs_cube * pairs->interface.spacing_cm;
    for (int d = 0; d < 3; d++)
        pairs->n_cubes[d] =
            (int64_t)ceil((set->hi_cm[d] - set->lo_cm[d]) / pairs->cube_cm);
    return pairs_fill(pairs);
}

storm_status storm_pairs_create(struct storm_context *context,
                                const struct storm_points_params *params,
                                struct storm_pairs **pairs_out)
{
    const struct storm_env *env = storm_context_env(context);
    struct storm_pairs *pairs =
        storm_alloc(env->memory, pairs_label, sizeof *pairs);
    storm_status status = STORM_ERR_NOMEM;
    if (pairs != NULL) {
        pairs->env = env;
        status = pairs_set(pairs, params);
    }
    status = storm_context_agree(context, status);
    if (status < 0) {
        storm_pairs_destroy(pairs);
        return status;
    }
    *pairs_out = pairs;
    return STORM_OK;
}

void storm_pairs_destroy(struct storm_pairs *pairs)
{
    if (pairs == NULL)
        return;
    storm_free(pairs->env->memory, pairs->table);
    storm_free(pairs->env->memory, pairs->points);
    storm_free(pairs->env->memory, pairs);
}

const double *storm_pairs_points(const struct storm_pairs *pairs,
                                 uint64_t *n_out)
{
    *n_out = pairs->n_points;
    return pairs->points;
}

uint64_t storm_pairs_n_others(const struct storm_pairs *pairs)
{
    return pairs->n_others;
}

bool storm_pairs_allow(const struct storm_pairs *pairs, const double x_cm[3])
{
    return storm_interface_is_far(&pairs->interface, x_cm,
                                  STORM_SEED_FREE *
                                      pairs->interface.spacing_cm);
}
