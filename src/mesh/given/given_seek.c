/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cell of a position (GIVEN-5).
 *
 * A rank whose own cells hold a position knows all that compete for it, and so
 * has the last word. A walk from neighbour to neighbour could leave a domain
 * that is not convex, and could stop in another cell if it began elsewhere. A
 * position that is deep in the cell where the search begins is at home
 * (GIVEN-7); else the tree of the cells that this rank knows answers; else the
 * ranks whose boxes hold it are asked, one after the other, in their order.
 */
#include <math.h>
#include <string.h>

#include "mesh/given/given_mesh.h"

static struct given_box seek_box(const double x[3])
{
    struct given_box at;
    memcpy(at.lo, x, sizeof at.lo);
    memcpy(at.hi, x, sizeof at.hi);
    return at;
}

/* Is it in the box around all cells? NaN is not. */
static bool seek_is_near(const struct given_part *part, const double x[3])
{
    bool is_near = true;
    for (int d = 0; d < 3; d++)
        is_near = is_near && x[d] >= part->box.lo[d] && x[d] <= part->box.hi[d];
    return is_near;
}

/* ---- cells that hold it ------------------------------------------------- */

struct seek_best {
    const struct given_part *part;
    const double *x;
    int32_t best;  /* -1: none yet */
    bool has_last; /* an own cell holds it: all that compete are known */
};

static void seek_visit(void *self, int32_t entry)
{
    struct seek_best *s = self;
    const struct given_located *cell = &s->part->located[entry];
    if (!(given_worst(s->part, (size_t)entry, s->x) <= cell->slack))
        return;
    s->has_last = s->has_last || entry < s->part->base.n_cells;
    if (s->best < 0 || cell->tag < s->part->located[s->best].tag)
        s->best = entry;
}

static struct seek_best seek_known(const struct given_part *part,
                                   const double x[3])
{
    struct seek_best s = {.part = part, .x = x, .best = -1};
    struct given_box at = seek_box(x);
    given_tree_search(&part->tree, &at, seek_visit, &s);
    return s;
}

storm_status given_locate(const struct storm_mesh *mesh,
                          const double point_cm[3],
                          struct storm_cell_ref *where_out)
{
    const struct given_part *part = given_part_of(mesh);
    if (!seek_is_near(part, point_cm))
        return STORM_ERR_ARG;
    struct seek_best s = seek_known(part, point_cm);
    if (!s.has_last)
        return mesh->env->size == 1 ? STORM_ERR_ARG : STORM_AGAIN;
    *where_out = part->located[s.best].where;
    return STORM_OK;
}

/* ---- deep in a cell ----------------------------------------------------- */

/* Points that storm_planes_is_deep finds deep, and that are within the radius,
 * are 0.85 * 2^-18 of it from all planes at least, rounding included. */
static const double seek_depth = 0x1p-19;

static bool seek_is_deep(const struct given_part *part, storm_cell_idx cell,
                         const double x[3])
{
    const struct given_head *head = &part->heads[cell];
    double radius = head->radius;
    const double y[3] = {x[0] - head->point[0], x[1] - head->point[1],
                         x[2] - head->point[2]};
    return part->is_sole[cell] &&
           y[0] * y[0] + y[1] * y[1] + y[2] * y[2] <= radius * radius &&
           storm_planes_is_deep(&part->blocks[head->first_block],
                                head[1].first_block - head->first_block,
                                head->radius, y);
}

struct seek_sole {
    const struct given_part *part;
    int32_t cell;
    double reach; /* max of the others */
};

static void sole_visit(void *self, int32_t entry)
{
    struct seek_sole *s = self;
    if (entry != s->cell)
        s->reach = fmax(s->reach, s->part->located[entry].reach);
}

void given_find_sole(struct given_part *part)
{
    for (storm_cell_idx i = 0; i < part->base.n_cells; i++) {
        struct seek_sole s = {.part = part, .cell = i};
        given_tree_search(&part->tree, &part->boxes[i], sole_visit, &s);
        part->is_sole[i] = s.reach + part->gap[i] <=
                           seek_depth * (double)part->heads[i].radius;
    }
}

/* ---- other ranks -------------------------------------------------------- */

struct seek_ranks {
    int me, from;
    int first; /* -1: none yet */
};

static void seek_rank_visit(void *self, int32_t rank)
{
    struct seek_ranks *s = self;
    if (rank != s->me && rank >= s->from && (s->first < 0 || rank < s->first))
        s->first = rank;
}

/* The first other rank from `from` on whose box holds the point; -1: none. */
static int seek_rank(const struct storm_mesh *mesh, const double x[3], int from)
{
    struct seek_ranks s = {.me = mesh->env->rank, .from = from, .first = -1};
    struct given_box at = seek_box(x);
    given_tree_search(&given_part_of(mesh)->rank_tree, &at, seek_rank_visit,
                      &s);
    return s.first;
}

static storm_status given_seek(const struct storm_mesh *mesh,
                               storm_cell_idx cell, double x_cm[3],
                               struct storm_cell_ref *next_out)
{
    const struct given_part *part = given_part_of(mesh);
    int me = mesh->env->rank;
    if (!seek_is_near(part, x_cm))
        return STORM_ERR_ARG;
    if (cell >= 0 && seek_is_deep(part, cell, x_cm))
        return STORM_OK;
    struct seek_best s = seek_known(part, x_cm);
    if (s.best >= 0) {
        *next_out = part->located[s.best].where;
        return s.has_last && next_out->rank == me &&
                       (cell < 0 || next_out->idx == cell)
                   ? STORM_OK
                   : STORM_AGAIN;
    }
    int rank = seek_rank(mesh, x_cm, cell >= 0 ? 0 : me + 1);
    *next_out = (struct storm_cell_ref){rank, -1};
    return rank >= 0 ? STORM_AGAIN : STORM_ERR_ARG;
}

/* To the first rank that could have it: seek goes on in their order. */
static int given_jump(const struct storm_mesh *mesh, const double x_cm[3])
{
    const struct given_part *part = given_part_of(mesh);
    struct seek_best s = seek_known(part, x_cm);
    if (s.best >= 0)
        return part->located[s.best].where.rank;
    int rank = seek_rank(mesh, x_cm, 0);
    return rank >= 0 ? rank : mesh->env->rank;
}

const struct storm_mesh_changes given_changes = {
    .seek = given_seek,
    .seek_many = storm_seek_each,
    .jump = given_jump,
    .move = storm_no_move,
    .adapt = storm_no_adapt,
};
