/* SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/voronoi/voronoi_points.h"

#include <math.h>
#include <string.h>

#include "base/port.h"
#include "mesh/mesh_hilbert.h"
#include "mesh/voronoi/voronoi_exact.h"

static const char points_label[] = "mesh generators";

struct voronoi_space voronoi_space_make(const double lo[3], const double hi[3],
                                        const bool periodic[3])
{
    struct voronoi_space space;
    double max = 0.0;
    for (int d = 0; d < 3; d++) {
        double margin = periodic[d] ? hi[d] - lo[d] : 0.0;
        max = fmax(max, fmax(fabs(lo[d] - margin), fabs(hi[d] + margin)));
    }
    int exponent;
    (void)frexp(max, &exponent); /* max <= 2^exponent */
    space.grid = ldexp(1.0, exponent - 52);
    space.per_grid = ldexp(1.0, 52 - exponent);
    for (int d = 0; d < 3; d++) {
        space.lo[d] = voronoi_snap(&space, lo[d]);
        space.hi[d] = voronoi_snap(&space, hi[d]);
        space.period[d] = periodic[d] ? space.hi[d] - space.lo[d] : 0.0;
    }
    storm_hilbert_fit(space.lo, space.hi, space.curve);
    return space;
}

double voronoi_snap(const struct voronoi_space *space, double x)
{
    return rint(x * space->per_grid) * space->grid;
}

/* ---- tree --------------------------------------------------------------- */

static size_t points_groups(size_t n)
{
    return (n + VORONOI_FAN - 1) / VORONOI_FAN;
}

/* Sets the levels for n points; returns the number of groups in all. */
static size_t points_levels(struct voronoi_points *points, size_t n)
{
    size_t total = 0, n_here = points_groups(n); /* leaves */
    points->n_levels = 0;
    points->level_start[0] = 0;
    while (n_here > 0) {
        n_here = points_groups(n_here);
        total += n_here;
        points->level_start[++points->n_levels] = total;
        if (n_here == 1)
            break;
    }
    return total;
}

storm_status voronoi_points_alloc(struct voronoi_points *points,
                                  struct storm_memory *memory, size_t n_own,
                                  size_t n_ghosts)
{
    size_t n = n_own + n_ghosts;
    if (n_own >= INT32_MAX || n_ghosts >= INT32_MAX - n_own)
        return STORM_ERR_NOMEM;
    size_t padded = points_groups(n + 1) * VORONOI_FAN;
    size_t n_groups = points_levels(points, n);
    bool ok = true;
    for (int d = 0; d < 3; d++) {
        points->x[d] =
            storm_alloc(memory, points_label, padded * sizeof(double));
        ok = ok && points->x[d] != NULL;
    }
    points->order =
        storm_alloc(memory, points_label, (n + 1) * sizeof *points->order);
    points->cell =
        storm_alloc(memory, points_label, (n + 1) * sizeof *points->cell);
    points->at =
        storm_alloc(memory, points_label, (n_own + 1) * sizeof *points->at);
    points->ghosts = storm_alloc(memory, points_label,
                                 (n_ghosts + 1) * sizeof *points->ghosts);
    points->groups = storm_alloc(memory, points_label,
                                 (n_groups + 1) * sizeof *points->groups);
    if (!ok || points->order == NULL || points->cell == NULL ||
        points->at == NULL || points->ghosts == NULL ||
        points->groups == NULL) {
        voronoi_points_free(points, memory);
        return STORM_ERR_NOMEM;
    }
    points->n = (int32_t)n;
    points->n_own = (int32_t)n_own;
    for (int d = 0; d < 3; d++)
        for (size_t i = n; i < padded; i++)
            points->x[d][i] = INFINITY;
    return STORM_OK;
}

void voronoi_points_free(struct voronoi_points *points,
                         struct storm_memory *memory)
{
    void *blocks[] = {points->x[0],   points->x[1],  points->x[2],
                      points->order,  points->cell,  points->at,
                      points->ghosts, points->groups};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        storm_free(memory, blocks[i]);
    *points = (struct voronoi_points){.space = points->space};
}

static void points_widen(double *lo, double *hi, double l, double h)
{
    *lo = l < *lo ? l : *lo;
    *hi = h > *hi ? h : *hi;
}

/* The box of child k of a group: of points at the lowest level. */
static void points_child_box(struct voronoi_points *points, int level,
                             size_t child, int d, double *lo, double *hi)
{
    *lo = INFINITY;
    *hi = -INFINITY;
    if (level == 0) {
        for (size_t i = child * VORONOI_FAN;
             i < (child + 1) * VORONOI_FAN && i < (size_t)points->n; i++)
            points_widen(lo, hi, points->x[d][i], points->x[d][i]);
        return;
    }
    size_t at = points->level_start[level - 1] + child;
    if (at >= points->level_start[level])
        return;
    for (int k = 0; k < VORONOI_FAN; k++)
        points_widen(lo, hi, points->groups[at].lo[d][k],
                     points->groups[at].hi[d][k]);
}

void voronoi_points_index(struct voronoi_points *points)
{
    for (int level = 0; level < points->n_levels; level++) {
        size_t start = points->level_start[level];
        for (size_t g = start; g < points->level_start[level + 1]; g++)
            for (int d = 0; d < 3; d++)
                for (size_t k = 0; k < VORONOI_FAN; k++)
                    points_child_box(points, level,
                                     (g - start) * VORONOI_FAN + k, d,
                                     &points->groups[g].lo[d][k],
                                     &points->groups[g].hi[d][k]);
    }
}

storm_status voronoi_points_merge(struct voronoi_points *points,
                                  struct storm_memory *memory,
                                  const struct voronoi_ghost *ghosts,
                                  size_t n_ghosts)
{
    struct voronoi_points all = {.space = points->space};
    storm_status status =
        voronoi_points_alloc(&all, memory, (size_t)points->n_own, n_ghosts);
    if (status < 0)
        return status;
    if (n_ghosts > 0)
        memcpy(all.ghosts, ghosts, n_ghosts * sizeof *all.ghosts);
    int32_t own = 0, ghost = 0;
    for (int32_t i = 0; i < all.n; i++) {
        int32_t at = own < all.n_own ? points->at[own] : -1;
        const struct voronoi_ghost *next = &all.ghosts[ghost];
        bool is_own = (size_t)ghost == n_ghosts ||
                      (at >= 0 &&
                       (points->order[at] < next->order ||
                        (points->order[at] == next->order && next->image > 0)));
        if (is_own)
            all.at[own] = i;
        all.order[i] = is_own ? points->order[at] : next->order;
        for (int d = 0; d < 3; d++)
            all.x[d][i] = is_own ? points->x[d][at] : next->x[d];
        all.cell[i] = is_own ? own++ : ~ghost++;
    }
    voronoi_points_index(&all);
    voronoi_points_free(points, memory);
    *points = all;
    return STORM_OK;
}

/* ---- queries ------------------------------------------------------------ */

int32_t voronoi_points_find(const struct voronoi_points *points, uint64_t order,
                            int32_t image)
{
    int32_t low = 0, high = points->n;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        uint64_t here = points->order[middle];
        if (here < order ||
            (here == order && voronoi_points_image(points, middle) < image))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A node still to be visited. */
struct points_walk {
    int n;
    struct {
        int32_t level; /* -1: a leaf */
        int32_t node;
        double distance2;
    } stack[VORONOI_STACK];
};

static void points_push(struct points_walk *walk, int32_t level, int32_t node,
                        double distance2)
{
    STORM_ASSERT(walk->n < VORONOI_STACK);
    walk->stack[walk->n].level = level;
    walk->stack[walk->n].node = node;
    walk->stack[walk->n].distance2 = distance2;
    walk->n++;
}

/* Puts the children of a group that are near enough on the stack, the nearest
 * last, so that it comes first. */
static void points_expand(const struct voronoi_points *points,
                          struct points_walk *walk, int32_t level, int32_t node,
                          const double y[3], double radius2)
{
    double distance2[VORONOI_FAN];
    voronoi_group_distance2(
        &points->groups[points->level_start[level] + (size_t)node], y,
        distance2);
    int base = walk->n;
    for (int k = 0; k < VORONOI_FAN; k++) {
        if (!(distance2[k] <= radius2))
            continue;
        int at = walk->n;
        points_push(walk, level - 1, node * VORONOI_FAN + k, distance2[k]);
        for (; at > base && walk->stack[at - 1].distance2 < distance2[k]; at--)
            walk->stack[at] = walk->stack[at - 1];
        walk->stack[at].level = level - 1;
        walk->stack[at].node = node * VORONOI_FAN + k;
        walk->stack[at].distance2 = distance2[k];
    }
}

/* Which of two that are equally near: the one of higher order; of images, which
 * are the same to all who ask, an own generator. */
static bool points_wins(const struct voronoi_points *points, int32_t index,
                        int32_t other)
{
    return points->order[index] != points->order[other]
               ? index > other
               : points->cell[index] >= 0;
}

/* A point after it is moved: it is on the grid, exactly. */
static void points_moved(const struct voronoi_points *points, int32_t index,
                         const double shift[3], double x_out[3])
{
    for (int d = 0; d < 3; d++)
        x_out[d] = points->x[d][index] + shift[d];
}

static double points_moved2(const struct voronoi_points *points, int32_t index,
                            const double shift[3], const double y[3])
{
    double x[3];
    points_moved(points, index, shift, x);
    double dx = x[0] - y[0], dy = x[1] - y[1], dz = x[2] - y[2];
    return dx * dx + dy * dy + dz * dz;
}

/* Is point i nearer to y than point `best`, after both are moved? */
static bool points_is_nearer(const struct voronoi_points *points,
                             const double y[3], const double shift[3],
                             int32_t best, int32_t i)
{
    double a[3], b[3];
    points_moved(points, best, shift, a);
    points_moved(points, i, shift, b);
    int nearer = voronoi_nearer(y, a, b, points->space.per_grid);
    return nearer > 0 || (nearer == 0 && points_wins(points, i, best));
}

int32_t voronoi_points_nearest(const struct voronoi_points *points,
                               const double y[3], const double shift[3],
                               int32_t start)
{
    const double doubt = 0x1p-48; /* relative, of squares of distances */
    /* Boxes are compared with a margin: their distance is rounded, and so is
     * the point if it is moved in their place. */
    double back[3], rounding2 = 0.0, spare = 1.0 + 0x1p-40;
    struct points_walk walk = {.n = 0};
    if (points->n == 0)
        return -1;
    for (int d = 0; d < 3; d++) {
        back[d] = y[d] - shift[d];
        if (shift[d] == 0.0)
            continue;
        double rounding = 0x1p-30 * (fabs(y[d]) + fabs(shift[d]));
        rounding2 += rounding * rounding;
        spare = 1.0 + 0x1p-20;
    }
    int32_t best = start;
    double best2 = points_moved2(points, start, shift, y);
    points_push(&walk, points->n_levels - 1, 0, 0.0);
    while (walk.n > 0) {
        walk.n--;
        int32_t level = walk.stack[walk.n].level;
        int32_t node = walk.stack[walk.n].node;
        double radius2 = best2 * spare + rounding2;
        if (walk.stack[walk.n].distance2 > radius2)
            continue;
        if (level >= 0) {
            points_expand(points, &walk, level, node, back, radius2);
            continue;
        }
        for (int32_t i = node * VORONOI_FAN;
             i < (node + 1) * VORONOI_FAN && i < points->n; i++) {
            double distance2 = points_moved2(points, i, shift, y);
            if (distance2 > best2 * (1.0 + doubt) ||
                !points_is_nearer(points, y, shift, best, i))
                continue;
            best = i;
            best2 = distance2;
        }
    }
    return best;
}

void voronoi_points_within(const struct voronoi_points *points,
                           const double y[3], double radius2,
                           void (*visit)(void *self, int32_t index), void *self)
{
    struct points_walk walk = {.n = 0};
    if (points->n == 0)
        return;
    points_push(&walk, points->n_levels - 1, 0, 0.0);
    while (walk.n > 0) {
        walk.n--;
        int32_t level = walk.stack[walk.n].level;
        int32_t node = walk.stack[walk.n].node;
        if (level >= 0) {
            points_expand(points, &walk, level, node, y, radius2);
            continue;
        }
        for (int32_t i = node * VORONOI_FAN;
             i < (node + 1) * VORONOI_FAN && i < points->n; i++)
            if (voronoi_distance2(points, i, y) <= radius2)
                visit(self, i);
    }
}

void voronoi_points_box(const struct voronoi_points *points, int32_t begin,
                        int32_t end, double lo_out[3], double hi_out[3])
{
    for (int d = 0; d < 3; d++) {
        lo_out[d] = INFINITY;
        hi_out[d] = -INFINITY;
        for (int32_t i = begin; i < end; i++)
            points_widen(&lo_out[d], &hi_out[d], points->x[d][points->at[i]],
                         points->x[d][points->at[i]]);
    }
}
