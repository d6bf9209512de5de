/* SPDX-License-Identifier: BSD-3-Clause */
/* The cell of a position: by the tree, or by a walk from another cell. */
#include <string.h>

#include "base/boot.h"
#include "base/port.h"
#include "mesh/voronoi/voronoi_mesh.h"

/* The position as all comparisons take it: in the rounded box. Moves it by
 * periods into the box first. False: it is outside, or NaN. */
static bool seek_clamp(const struct voronoi_part *part, double x_cm[3],
                       double x_out[3])
{
    const struct voronoi_domain *domain = &part->domain;
    voronoi_wrap(domain, x_cm);
    for (int d = 0; d < 3; d++) {
        if (!(x_cm[d] >= domain->lo_cm[d] && x_cm[d] <= domain->hi_cm[d]))
            return false;
        double x = x_cm[d];
        x = x > domain->space.lo[d] ? x : domain->space.lo[d];
        x_out[d] = x < domain->space.hi[d] ? x : domain->space.hi[d];
    }
    return true;
}

/* The nearest generator that is known here, after all are moved by `shift`. If
 * it is this rank's, it is the nearest of all, because all neighbours of its
 * cell are known; a ghost need not be. There must be one. */
static int32_t seek_known(const struct voronoi_part *part, const double x[3],
                          const double shift[3])
{
    return voronoi_points_nearest(&part->points, x, shift, part->points.at[0]);
}

/* The cell of this rank that has the position, itself or as an image: those in
 * the half of the box that is farther away, moved by one period. -1: none. */
static int32_t seek_here(const struct voronoi_part *part, const double x[3])
{
    const struct voronoi_space *space = &part->domain.space;
    int32_t cell = -1;
    for (int which = 0; which < 8 && cell < 0; which++) {
        double shift[3] = {0.0};
        bool is_new = true;
        for (int d = 0; d < 3; d++) {
            double middle = 0.5 * (space->lo[d] + space->hi[d]);
            if (which >> d & 1)
                shift[d] = x[d] > middle ? space->period[d] : -space->period[d];
            is_new = is_new && (shift[d] != 0.0 || !(which >> d & 1));
        }
        if (is_new)
            cell = part->points.cell[seek_known(part, x, shift)];
    }
    return cell < 0 ? -1 : cell;
}

storm_status voronoi_locate(const struct storm_mesh *mesh,
                            const double point_cm[3],
                            struct storm_cell_ref *where_out)
{
    const struct voronoi_part *part = voronoi_part_of(mesh);
    const struct voronoi_domain *domain = &part->domain;
    double x[3] = {point_cm[0], point_cm[1], point_cm[2]};
    for (int d = 0; d < 3; d++) /* as it is, without periods */
        if (!(x[d] >= domain->lo_cm[d] && x[d] <= domain->hi_cm[d]))
            return STORM_ERR_ARG;
    if (!seek_clamp(part, x, x))
        return STORM_ERR_ARG;
    if (part->base.n_cells == 0)
        return STORM_AGAIN;
    int32_t cell = seek_here(part, x);
    if (cell < 0)
        return STORM_AGAIN;
    *where_out = (struct storm_cell_ref){.rank = mesh->env->rank, .idx = cell};
    return STORM_OK;
}

/* ---- walk --------------------------------------------------------------- */

/* The nearest so far: `next` as in the blocks. */
struct seek {
    const struct voronoi_part *part;
    const double *x;
    double shift[3]; /* of the cell: to its image that is nearest */
    double nearest[3];
    uint64_t order;
    int32_t next;
};

/* To the image that is nearest to the position: that of a direction is, within
 * half a period. Middles near the position are exact. */
static void seek_shift(const struct voronoi_space *space,
                       const double generator[3], const double x[3],
                       double shift_out[3])
{
    for (int d = 0; d < 3; d++) {
        double period = space->period[d], g = generator[d];
        shift_out[d] = 0.0;
        if (period > 0.0 && x[d] > g + 0.5 * period)
            shift_out[d] = period;
        else if (period > 0.0 && x[d] < g - 0.5 * period)
            shift_out[d] = -period;
    }
}

/* VMESH-5 */
static void seek_try(struct seek *seek, int32_t next)
{
    const struct voronoi_part *part = seek->part;
    if (next < 0 && part->borders[~next].rank < 0)
        return; /* a wall */
    const double *behind = voronoi_behind(part, next);
    const double g[3] = {behind[0] + seek->shift[0], behind[1] + seek->shift[1],
                         behind[2] + seek->shift[2]};
    int nearer =
        voronoi_nearer(seek->x, seek->nearest, g, part->points.space.per_grid);
    if (nearer < 0)
        return;
    uint64_t order = next >= 0 ? part->points.order[part->points.at[next]]
                               : part->borders[~next].order;
    if (nearer == 0 && order <= seek->order)
        return; /* equal: another image of the same cell */
    memcpy(seek->nearest, g, sizeof g);
    seek->order = order;
    seek->next = next;
}

/* The nearest of a cell and all its neighbours, without rounding. */
static int32_t seek_exact(struct seek *seek, storm_cell_idx cell)
{
    const struct voronoi_part *part = seek->part;
    const struct voronoi_head *head = &part->heads[cell];
    seek->order = part->points.order[part->points.at[cell]];
    seek->next = cell;
    for (uint32_t b = head->first_block; b < head[1].first_block; b++) {
        const struct storm_planes_block *block = &part->blocks[b];
        for (int k = 0; k < STORM_PLANES_WIDTH; k++)
            seek_try(seek, block->next[k]); /* unused ones are walls */
    }
    for (uint32_t i = part->first_bare[cell]; i < part->first_bare[cell + 1];
         i++)
        seek_try(seek, part->bare[i]);
    return seek->next;
}

/* The cell if its generator is nearer to the position than those of all its
 * neighbours, else one of them that is nearer: as next in the blocks. Single
 * precision decides unless the position is near a plane. Neighbours without a
 * face do not matter then: see voronoi_is_deep. */
static int32_t seek_nearer(const struct voronoi_part *part, storm_cell_idx cell,
                           const double x[3])
{
    const struct voronoi_head *head = &part->heads[cell];
    const struct storm_planes_block *blocks = &part->blocks[head->first_block];
    struct seek seek = {.part = part, .x = x};
    double y[3];
    seek_shift(&part->points.space, head->generator, x, seek.shift);
    for (int d = 0; d < 3; d++) {
        seek.nearest[d] = head->generator[d] + seek.shift[d];
        y[d] = x[d] - seek.nearest[d];
    }
    int i = storm_planes_beyond(blocks, head[1].first_block - head->first_block,
                                head->radius, y);
    if (i == STORM_PLANES_DEEP)
        return cell;
    if (i >= 0) {
        int32_t next =
            blocks[i / STORM_PLANES_WIDTH].next[i % STORM_PLANES_WIDTH];
        if (next >= 0 || part->borders[~next].rank >= 0)
            return next;
    }
    return seek_exact(&seek, cell);
}

/* Where no cell is local: another rank must begin. */
static struct storm_cell_ref seek_elsewhere(const struct storm_mesh *mesh,
                                            const double x_cm[3])
{
    struct storm_cell_ref to = {.rank = voronoi_jump(mesh, x_cm), .idx = -1};
    for (int r = 0; mesh->is_hosts && r < mesh->env->size; r++)
        if (mesh->partition[r + 1] > mesh->partition[r])
            to.rank = r;
    return to;
}

/* From the nearest one that is known. */
static storm_status seek_begin(const struct storm_mesh *mesh, const double x[3],
                               struct storm_cell_ref *next_out)
{
    const struct voronoi_part *part = voronoi_part_of(mesh);
    const double none[3] = {0.0, 0.0, 0.0};
    int32_t at = seek_here(part, x);
    *next_out = (struct storm_cell_ref){.rank = mesh->env->rank, .idx = at};
    if (at >= 0)
        return STORM_OK;
    at = part->points.cell[seek_known(part, x, none)];
    const struct voronoi_ghost *ghost = &part->points.ghosts[~at];
    *next_out = (struct storm_cell_ref){ghost->rank, ghost->idx};
    return STORM_AGAIN;
}

storm_status voronoi_seek(const struct storm_mesh *mesh, storm_cell_idx cell,
                          double x_cm[3], struct storm_cell_ref *next_out)
{
    const struct voronoi_part *part = voronoi_part_of(mesh);
    double x[3];
    if (!seek_clamp(part, x_cm, x))
        return STORM_ERR_ARG;
    if (part->base.n_cells == 0) {
        *next_out = seek_elsewhere(mesh, x_cm);
        return STORM_AGAIN;
    }
    if (cell < 0)
        return seek_begin(mesh, x, next_out);
    int32_t next = seek_nearer(part, cell, x);
    if (next == cell)
        return STORM_OK;
    *next_out = (struct storm_cell_ref){.rank = mesh->env->rank, .idx = next};
    if (next < 0)
        *next_out = (struct storm_cell_ref){part->borders[~next].rank,
                                            part->borders[~next].idx};
    return STORM_AGAIN;
}

/* Cells are all over the memory: those to come are fetched, first their heads,
 * then their planes. */
static void seek_fetch(const struct voronoi_part *part, storm_cell_idx cell)
{
    const struct voronoi_head *head = &part->heads[cell];
    const char *line = (const char *)&part->blocks[head->first_block];
    const char *end = (const char *)&part->blocks[head[1].first_block];
    for (; line < end; line += STORM_CACHE_LINE)
        STORM_PREFETCH(line);
}

void voronoi_seek_many(const struct storm_mesh *mesh,
                       struct storm_mesh_hop *hops_inout, size_t n)
{
    enum { HEADS_AHEAD = 16, PLANES_AHEAD = 6 };
    const struct voronoi_part *part = voronoi_part_of(mesh);
    for (size_t i = 0; i < n + HEADS_AHEAD; i++) {
        size_t planes = i - (HEADS_AHEAD - PLANES_AHEAD);
        size_t now = i - HEADS_AHEAD;
        if (i < n && hops_inout[i].cell >= 0)
            STORM_PREFETCH(&part->heads[hops_inout[i].cell]);
        if (planes < n && hops_inout[planes].cell >= 0)
            seek_fetch(part, hops_inout[planes].cell);
        if (now < n) {
            struct storm_mesh_hop *hop = &hops_inout[now];
            hop->status = voronoi_seek(mesh, hop->cell, hop->x_cm, &hop->next);
        }
    }
}

/* ---- jump --------------------------------------------------------------- */

storm_status voronoi_find_keys(const struct storm_mesh *mesh,
                               struct voronoi_part *part)
{
    const struct voronoi_points *points = &part->points;
    uint64_t mine = UINT64_MAX;
    if (part->base.n_cells > 0) {
        int32_t at = points->at[0];
        const double x[3] = {points->x[0][at], points->x[1][at],
                             points->x[2][at]};
        mine = voronoi_key(&points->space, x);
    }
    storm_status status = storm_boot_allgather(mesh->env->boot, &mine,
                                               sizeof mine, part->first_key);
    for (int r = mesh->env->size - 2; status >= 0 && r >= 0; r--)
        if (part->first_key[r] == UINT64_MAX)
            part->first_key[r] = part->first_key[r + 1];
    return status;
}

int voronoi_jump(const struct storm_mesh *mesh, const double x_cm[3])
{
    const struct voronoi_part *part = voronoi_part_of(mesh);
    double x[3] = {x_cm[0], x_cm[1], x_cm[2]};
    if (mesh->is_hosts || !seek_clamp(part, x, x))
        return mesh->env->rank; /* there is no better place to begin */
    uint64_t key = voronoi_key(&part->points.space, x);
    key = key > part->first_key[0] ? key : part->first_key[0];
    int low = 0, high = mesh->env->size; /* the last that begins by then */
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (part->first_key[middle] <= key)
            low = middle;
        else
            high = middle;
    }
    return low;
}
