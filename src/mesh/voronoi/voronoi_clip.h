/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clipper: search and cut. Compiled once per instruction set; the includer
 * defines VORONOI_BUILD, the name of the one function that this file defines,
 * and includes voronoi_wide.h or another with the same functions.
 *
 * Points are tested in shells of growing radius around the generator, the
 * nearest first within a shell. Only speed depends on that (VCELL-1).
 */
#include <string.h>

#include "base/math.h"
#include "base/port.h"
#include "mesh/voronoi/voronoi_cell.h"

/* A vertex that was not computed exactly is accurate to 2^-47 / 2^-14 of its
 * distance, so this times the norm of a plane bounds the rounding error of its
 * distance from the plane. */
static const double clip_doubt = 0x1p-31;

/* A little more than twice the reach, squared: roundings included. */
static const double clip_secure = 4.0 * (1.0 + 0x1p-30);

static const char clip_label[] = "mesh clipper";

/* ---- cut ---------------------------------------------------------------- */

enum { CLIP_WORD = 64 };

/* The distances of up to 64 vertices from the plane, times its norm; a bit for
 * each that may be beyond it. */
static inline uint64_t clip_sides(struct voronoi_cell *cell, int32_t first,
                                  const double n[3], double d, double doubt)
{
    int32_t n_padded = (cell->n_vertices - first + 7) & ~7;
    n_padded = n_padded < CLIP_WORD ? n_padded : CLIP_WORD;
    return wide_sides(cell, first, n_padded, n, d, doubt);
}

/* Adds those of 64 vertices that are beyond the plane to the list and marks
 * them by an infinite side. Hits on the padding do not count: a plane may be so
 * near that even the generator is within the error bound. */
static int32_t clip_mark(struct voronoi_cell *cell, int32_t first,
                         uint64_t hits, int32_t n_removed,
                         const struct voronoi_plane *plane, double doubt)
{
    double *side = cell->side;
    int32_t n_left = cell->n_vertices - first;
    if (n_left < CLIP_WORD)
        hits &= (UINT64_C(1) << n_left) - 1;
    for (; hits != 0; hits &= hits - 1) {
        int32_t i = first + __builtin_ctzll(hits);
        if (STORM_LIKELY(side[i] > doubt) ||
            voronoi_cell_beyond(cell, i, plane)) {
            cell->removed[n_removed++] = i;
            side[i] = (double)INFINITY;
        }
    }
    return n_removed;
}

/* The same for vertices after the first 64: few cells have any. */
static int32_t clip_mark_rest(struct voronoi_cell *cell, int32_t n_removed,
                              const struct voronoi_plane *plane, double doubt)
{
    for (int32_t i = CLIP_WORD; i < cell->n_vertices; i += CLIP_WORD)
        n_removed =
            clip_mark(cell, i, clip_sides(cell, i, plane->n, plane->d, doubt),
                      n_removed, plane, doubt);
    return n_removed;
}

/* The edges from a removed vertex to one that remains. */
static int32_t clip_border(struct voronoi_cell *cell, int32_t n_removed)
{
    static const int after[3] = {1, 2, 0}, before[3] = {2, 0, 1};
    int32_t n_edges = 0;
    for (int32_t k = 0; k < n_removed; k++) {
        const struct voronoi_vertex *vertex = &cell->vertices[cell->removed[k]];
        for (int i = 0; i < 3; i++) {
            int32_t kept = vertex->next[i];
            cell->edges[n_edges] = (struct voronoi_edge){
                .a = vertex->plane[after[i]],
                .b = vertex->plane[before[i]],
                .kept = kept,
            };
            n_edges += cell->side[kept] < (double)INFINITY;
        }
    }
    STORM_ASSERT(n_edges >= 3 && n_edges <= n_removed + 2);
    return n_edges;
}

/* Moves a vertex to another index. */
static void clip_move(struct voronoi_cell *cell, int32_t from, int32_t to)
{
    cell->x[to] = cell->x[from];
    cell->y[to] = cell->y[from];
    cell->z[to] = cell->z[from];
    cell->r2[to] = cell->r2[from];
    cell->is_sure[to] = cell->is_sure[from];
    cell->side[to] = cell->side[from];
    cell->vertices[to] = cell->vertices[from];
    for (int i = 0; i < 3; i++) {
        int32_t *back = cell->vertices[cell->vertices[to].next[i]].next;
        for (int k = 0; k < 3; k++)
            back[k] = back[k] == from ? to : back[k];
    }
}

/* Fills the holes that the new vertices have left, from the end. */
static void clip_close(struct voronoi_cell *cell, int32_t n_removed,
                       int32_t n_used)
{
    for (int32_t k = n_used; k < n_removed; k++) {
        int32_t last;
        do { /* the last one that is not a hole itself */
            last = --cell->n_vertices;
        } while (last >= 0 && cell->side[last] == INFINITY);
        if (last < cell->removed[k]) { /* only holes after this */
            cell->n_vertices = last + 1;
            break;
        }
        clip_move(cell, last, cell->removed[k]);
    }
    while (cell->n_vertices > 0 && cell->side[cell->n_vertices - 1] == INFINITY)
        cell->n_vertices--;
}

static void clip_place(struct voronoi_cell *cell, int32_t v,
                       const struct voronoi_edge *edge, int32_t p)
{
    int32_t which[3] = {edge->a, edge->b, p};
    double y[3];
    voronoi_met met = voronoi_meet(cell->planes, which, y);
    if (STORM_UNLIKELY(met == VORONOI_LOST))
        voronoi_meet_exactly(&cell->points->space, cell->planes, which, y);
    cell->is_sure[v] = met != VORONOI_NEAR;
    cell->x[v] = y[0];
    cell->y[v] = y[1];
    cell->z[v] = y[2];
    cell->r2[v] = y[0] * y[0] + y[1] * y[1] + y[2] * y[2];
    cell->side[v] = 0.0;
}

/* The new vertices, one on each edge of the border, in a ring. */
static void clip_ring(struct voronoi_cell *cell, int32_t n_removed,
                      int32_t n_edges, int32_t p)
{
    int32_t n_before = cell->n_vertices;
    for (int32_t k = 0; k < n_edges; k++) {
        const struct voronoi_edge *edge = &cell->edges[k];
        int32_t v = k < n_removed ? cell->removed[k] : n_before + k - n_removed;
        struct voronoi_vertex *kept = &cell->vertices[edge->kept];
        /* across from the plane that is not of the edge */
        int32_t third = kept->plane[0] ^ kept->plane[1] ^ kept->plane[2] ^
                        edge->a ^ edge->b;
        int back = (kept->plane[1] == third) + 2 * (kept->plane[2] == third);
        kept->next[back] = v;
        cell->start[edge->a] = v;
        cell->vertices[v] = (struct voronoi_vertex){
            .plane = {edge->a, edge->b, p}, .next = {-1, -1, edge->kept}};
        clip_place(cell, v, edge, p);
    }
    if (n_edges > n_removed)
        cell->n_vertices = n_before + n_edges - n_removed;
    for (int32_t k = 0; k < n_edges; k++) {
        int32_t v = k < n_removed ? cell->removed[k] : n_before + k - n_removed;
        int32_t after = cell->start[cell->edges[k].b];
        cell->vertices[v].next[0] = after;
        cell->vertices[after].next[1] = v;
    }
}

/* Loops take eight at a time: the padding must be neither cut nor far. */
static inline void clip_pad(struct voronoi_cell *cell)
{
    int32_t n = cell->n_vertices;
    double *reals[] = {cell->x, cell->y, cell->z, cell->r2};
    for (int k = 0; k < 4; k++)
        for (int32_t i = 0; i < VORONOI_PADDING; i++)
            reals[k][n + i] = 0.0;
}

static inline double clip_reach2(const struct voronoi_cell *cell)
{
    double max[4] = {0.0, 0.0, 0.0, 0.0};
    const double *r2 = cell->r2;
    for (int32_t i = 0; i < cell->n_vertices; i += 4)
        for (int k = 0; k < 4; k++)
            max[k] = r2[i + k] > max[k] ? r2[i + k] : max[k];
    max[0] = max[1] > max[0] ? max[1] : max[0];
    max[2] = max[3] > max[2] ? max[3] : max[2];
    return max[2] > max[0] ? max[2] : max[0];
}

static inline void clip_set_reach2(struct voronoi_cell *cell, double reach2)
{
    cell->reach2 = reach2;
    cell->doubt = clip_doubt * sqrt(reach2);
}

/* Cuts off what is beyond the plane; `hits` are the candidates among the first
 * vertices. */
static storm_status clip_cut(struct voronoi_cell *cell,
                             const struct voronoi_plane *plane, uint64_t hits,
                             double doubt)
{
    int32_t n_removed = clip_mark(cell, 0, hits, 0, plane, doubt);
    if (STORM_UNLIKELY(cell->n_vertices > CLIP_WORD))
        n_removed = clip_mark_rest(cell, n_removed, plane, doubt);
    if (n_removed == 0)
        return STORM_OK;
    if (STORM_UNLIKELY(!voronoi_cell_has_room(cell))) {
        storm_status status = voronoi_cell_grow(cell);
        if (status < 0)
            return status;
    }
    int32_t p = cell->n_planes++;
    cell->planes[p] = *plane;
    int32_t n_edges = clip_border(cell, n_removed);
    clip_ring(cell, n_removed, n_edges, p);
    if (n_edges < n_removed)
        clip_close(cell, n_removed, n_edges);
    clip_pad(cell);
    clip_set_reach2(cell, clip_reach2(cell));
    return STORM_OK;
}

/* Cuts off what is nearer to one point, if there is any. */
static inline storm_status clip_by(struct voronoi_cell *cell, int32_t behind)
{
    const struct voronoi_points *points = cell->points;
    double n[3];
    for (int d = 0; d < 3; d++)
        n[d] = points->x[d][behind] - cell->centre[d];
    double norm2 = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
    if (norm2 > clip_secure * cell->reach2)
        return STORM_OK;
    double d = 0.5 * norm2;
    double doubt = cell->doubt * (fabs(n[0]) + fabs(n[1]) + fabs(n[2]));
    uint64_t hits = clip_sides(cell, 0, n, d, doubt);
    if (STORM_LIKELY(hits == 0 && cell->n_vertices <= CLIP_WORD))
        return STORM_OK;
    struct voronoi_plane plane = {
        .n = {n[0], n[1], n[2]}, .d = d, .norm2 = norm2, .behind = behind};
    return clip_cut(cell, &plane, hits, doubt);
}

/* ---- search ------------------------------------------------------------- */

/* Memory for the points of one more leaf. */
static storm_status clip_more_found(struct voronoi_cell *cell)
{
    void *found = cell->found, *ordered = cell->ordered;
    storm_status status =
        storm_reserve(cell->memory, clip_label, sizeof *cell->found,
                      cell->n_found + 256, &found, &cell->found_capacity);
    if (status < 0)
        return status;
    cell->found = found;
    status =
        storm_reserve(cell->memory, clip_label, sizeof *cell->ordered,
                      cell->found_capacity, &ordered, &cell->ordered_capacity);
    if (status >= 0)
        cell->ordered = ordered;
    return status;
}

/* Can a point of the box cut anything off? Only one that is nearer to some
 * vertex than the generator is. */
static bool clip_may_cut(const struct voronoi_cell *cell,
                         const struct voronoi_group *group, int k)
{
    double lo[3], hi[3];
    for (int d = 0; d < 3; d++) {
        lo[d] = group->lo[d][k] - cell->centre[d];
        hi[d] = group->hi[d][k] - cell->centre[d];
    }
    int64_t n_near = 0;
    for (int32_t i = 0; i < cell->n_vertices; i++) {
        double x = voronoi_outside(cell->x[i], lo[0], hi[0]);
        double y = voronoi_outside(cell->y[i], lo[1], hi[1]);
        double z = voronoi_outside(cell->z[i], lo[2], hi[2]);
        n_near += x * x + y * y + z * z <= cell->r2[i] * (1.0 + 0x1p-30);
    }
    return n_near > 0;
}

/* All points with lo2 < distance^2 <= hi2 that are not done; with `prune`,
 * without those of larger nodes that cannot cut (that test takes time). */
static storm_status clip_collect(struct voronoi_cell *cell,
                                 const struct voronoi_hints *hints, double lo2,
                                 double hi2, bool prune)
{
    const struct voronoi_points *points = cell->points;
    const double range2[2] = {lo2, hi2};
    struct {
        int32_t level, node;
    } stack[VORONOI_STACK];
    int n = 0;
    cell->n_found = 0;
    stack[n].level = points->n_levels - 1;
    stack[n++].node = 0;
    while (n > 0) {
        int32_t level = stack[--n].level, node = stack[n].node;
        const struct voronoi_group *group =
            &points->groups[points->level_start[level] + (size_t)node];
        unsigned done = 0;
        if (level == 0 && hints->done_leaves != NULL)
            done = hints->done_leaves[node];
        if (done == 0xff)
            continue;
        unsigned near = wide_near(group, cell->centre, hi2) & ~done;
        for (; near != 0; near &= near - 1) {
            int32_t k = __builtin_ctz(near);
            int32_t child = node * VORONOI_FAN + k;
            if (level > 0) {
                if (prune && !clip_may_cut(cell, group, k))
                    continue;
                stack[n].level = level - 1;
                stack[n++].node = child;
                continue;
            }
            if (STORM_UNLIKELY(cell->n_found + VORONOI_FAN >
                               cell->found_capacity)) {
                storm_status status = clip_more_found(cell);
                if (status < 0)
                    return status;
            }
            cell->n_found +=
                wide_list(points, child * VORONOI_FAN, cell->centre,
                          hints->done_points != NULL ? hints->done_points[child]
                                                     : 0u,
                          range2, cell->found + cell->n_found);
        }
    }
    return STORM_OK;
}

static inline int clip_bin(float x, float lo, float scale, int n_bins)
{
    int bin = (int)((x - lo) * scale);
    bin = bin > 0 ? bin : 0;
    return bin < n_bins ? bin : n_bins - 1;
}

/* What was found, by growing distance, roughly: by bins of the square of the
 * distance. A finer order saves no cuts. */
static void clip_order(struct voronoi_cell *cell, double lo2, double hi2)
{
    enum { BINS = 64 };
    uint32_t end[BINS + 1] = {0};
    const float lo = (float)lo2;
    const float scale = (float)((double)BINS / (hi2 - lo2));
    const struct voronoi_found *found = cell->found;
    size_t n = cell->n_found;
    for (size_t i = 0; i < n; i++)
        end[clip_bin(found[i].distance2, lo, scale, BINS) + 1]++;
    for (int k = 0; k < BINS; k++)
        end[k + 1] += end[k];
    for (size_t i = 0; i < n; i++) {
        int bin = clip_bin(found[i].distance2, lo, scale, BINS);
        cell->ordered[end[bin]++] = found[i];
    }
}

static storm_status clip_by_found(struct voronoi_cell *cell, double lo2,
                                  double hi2)
{
    storm_status status = STORM_OK;
    clip_order(cell, lo2, hi2);
    for (size_t i = 0; i < cell->n_found && status >= 0; i++)
        status = clip_by(cell, cell->ordered[i].index);
    return status;
}

static storm_status clip_by_hints(struct voronoi_cell *cell,
                                  const struct voronoi_hints *hints)
{
    storm_status status = STORM_OK;
    for (int32_t i = 0; i < hints->n_neighbours && status >= 0; i++)
        status = clip_by(cell, hints->neighbours[i]);
    return status;
}

/* Radius of the first shell: what the last cell needed, or by the mean density
 * if there was none. */
static double clip_guess2(const struct voronoi_cell *cell)
{
    const struct voronoi_space *space = &cell->points->space;
    if (cell->last_radius2 > 0.0)
        return 1.1 * cell->last_radius2;
    double volume = 1.0;
    for (int d = 0; d < 3; d++)
        volume *= space->hi[d] - space->lo[d];
    double side = storm_cbrt(volume / (double)cell->points->n);
    return 4.0 * side * side;
}

storm_status VORONOI_BUILD(struct voronoi_cell *cell,
                           const struct voronoi_points *points, int32_t self,
                           const struct voronoi_hints *hints)
{
    voronoi_cell_start(cell, points, self);
    clip_set_reach2(cell, cell->reach2);
    storm_status status = clip_by_hints(cell, hints);
    if (status < 0)
        return status;
    double lo2 = 0.0, hi2 = clip_guess2(cell);
    for (int shell = 0;; shell++) {
        double needed2 = clip_secure * cell->reach2;
        hi2 = hi2 < needed2 ? hi2 : needed2;
        status = clip_collect(cell, hints, lo2, hi2, shell > 1);
        if (status >= 0)
            status = clip_by_found(cell, lo2, hi2);
        if (status < 0)
            return status;
        if (hi2 >= clip_secure * cell->reach2)
            break;
        lo2 = hi2;
        hi2 *= cell->n_found < 8 ? 6.0 : 2.5;
    }
    cell->last_radius2 = clip_secure * cell->reach2;
    return STORM_OK;
}
