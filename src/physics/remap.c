/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The relocating physics.
 *
 *   REMAP-1  A packet's cell index is negative until the change has answered
 *            for it; from then on it is that of a cell of the rank it is on.
 *   REMAP-2  A packet ends where seek says that it is home, or at the boundary;
 *            nowhere else. But if only owners of cells have changed a bundled
 *            packet stays in the cell of its tag: tracking may have left it
 *            there beyond a face by a rounding, and it would be there without
 *            the change.
 *   REMAP-3  The hops of a packet and whether it changed ranks travel in its
 *            scratch, which is zero when it is home.
 */
#include <storm/remap.h>

#include <limits.h>
#include <string.h>

#include <storm/context.h>

#include "base/clock.h"
#include "base/port.h"
#include "base/sized.h"
#include "engine/engine_side.h"
#include "mesh/mesh_change.h"

enum { REMAP_JUMP_AFTER = 8 };

/* Of a cell index: begin where it is best. */
static const storm_cell_idx remap_anywhere = INT32_MIN;

/* Of the scratch; below it are the hops. */
static const uint32_t remap_moved = UINT32_C(1) << 31;

struct remap {
    const struct storm_mesh *mesh;
    const struct storm_change *change;
    struct storm_remap_access access;
    bool is_bundled;                /* records are struct storm_packet */
    struct storm_boundary boundary; /* the caller's */
    uint32_t jump_after;            /* 0: never */
    struct storm_remap_stats stats;
};

/* ---- the bundled packet ------------------------------------------------- */

static double *remap_position(void *record)
{
    return ((struct storm_packet *)record)->position_cm;
}

static storm_cell_idx *remap_cell_idx(void *record)
{
    return &((struct storm_packet *)record)->cell_idx;
}

static storm_cell_id *remap_cell(void *record)
{
    return &((struct storm_packet *)record)->cell;
}

static uint32_t *remap_scratch(void *record)
{
    return &((struct storm_packet *)record)->face;
}

static const struct storm_remap_access remap_packet = {
    .size = sizeof remap_packet,
    .position_cm = remap_position,
    .cell_idx = remap_cell_idx,
    .cell = remap_cell,
    .scratch = remap_scratch,
};

/* ---- callbacks ---------------------------------------------------------- */

/* REMAP-1 */
static storm_status remap_pre_step(void *self, struct storm_step *step)
{
    const struct remap *remap = self;
    size_t n;
    void *const *packets = storm_step_packets(step, &n);
    for (size_t i = 0; i < n; i++) {
        storm_cell_idx *idx = remap->access.cell_idx(packets[i]);
        if (*idx < 0 || *idx >= remap->change->n_old) {
            storm_log_write(&remap->mesh->env->log, STORM_LOG_ERROR,
                            "storm_remap: a packet has cell index %d, but "
                            "there were %d cells here before the change",
                            *idx, remap->change->n_old);
            return STORM_ERR_ARG;
        }
        *idx = ~*idx;
        *remap->access.scratch(packets[i]) = 0;
    }
    return STORM_OK;
}

static void remap_send(const struct remap *remap, void *packet,
                       struct storm_cell_ref to,
                       struct storm_outcome *outcome_out)
{
    *remap->access.cell_idx(packet) = to.idx < 0 ? remap_anywhere : to.idx;
    *remap->access.scratch(packet) |= remap_moved;
    outcome_out->fate = STORM_FATE_SEND;
    outcome_out->rank = to.rank;
}

/* REMAP-2, REMAP-3 */
static void remap_home(struct remap *remap, void *packet, storm_cell_idx cell,
                       struct storm_outcome *outcome_out)
{
    uint32_t *scratch = remap->access.scratch(packet);
    uint32_t hops = *scratch & ~remap_moved;
    struct storm_remap_stats *stats = &remap->stats;
    if (*scratch & remap_moved)
        stats->moved++;
    else if (hops > 0)
        stats->walked++;
    else
        stats->fixed++;
    stats->longest = hops > stats->longest ? hops : stats->longest;
    *scratch = 0;
    *remap->access.cell_idx(packet) = cell;
    if (remap->access.cell != NULL)
        *remap->access.cell(packet) =
            storm_mesh_part_tag(remap->mesh->part, cell);
    outcome_out->fate = STORM_FATE_CENSUS;
}

/* After many hops: to the owner of the position's place, once. */
static bool remap_jumps(const struct remap *remap, void *packet,
                        struct storm_outcome *outcome_out)
{
    uint32_t hops = *remap->access.scratch(packet) & ~remap_moved;
    if (hops != remap->jump_after)
        return false;
    int rank =
        remap->mesh->ops->changes->jump(remap->mesh,
                                        remap->access.position_cm(packet));
    if (rank == remap->mesh->env->rank)
        return false;
    remap_send(remap, packet, (struct storm_cell_ref){.rank = rank, .idx = -1},
               outcome_out);
    return true;
}

/* From a cell of this rank on, as far as it goes here. */
static void remap_walk(struct remap *remap, void *packet, storm_cell_idx cell,
                       struct storm_outcome *outcome_out)
{
    const struct storm_mesh *mesh = remap->mesh;
    double *x_cm = remap->access.position_cm(packet);
    for (;;) {
        struct storm_cell_ref next = {.rank = mesh->env->rank, .idx = cell};
        storm_status status = mesh->ops->changes->seek(mesh, cell, x_cm, &next);
        if (status == STORM_OK) {
            remap_home(remap, packet, cell >= 0 ? cell : next.idx, outcome_out);
            return;
        }
        if (status < 0) {
            *remap->access.cell_idx(packet) = remap_anywhere;
            outcome_out->fate = STORM_FATE_BOUNDARY;
            return;
        }
        ++*remap->access.scratch(packet);
        if (remap->jump_after > 0 && remap_jumps(remap, packet, outcome_out))
            return;
        if (next.rank != mesh->env->rank) {
            remap_send(remap, packet, next, outcome_out);
            return;
        }
        cell = next.idx;
    }
}

/* REMAP-2: does it stay in the cell that the change has answered with? */
static bool remap_stays(const struct remap *remap, void *packet,
                        storm_cell_idx cell)
{
    return remap->is_bundled && remap->change->is_cut &&
           (*remap->access.scratch(packet) & ~remap_moved) == 0 &&
           *remap->access.cell(packet) ==
               storm_mesh_part_tag(remap->mesh->part, cell);
}

static void remap_step(void *self, struct storm_step *step, void *packet,
                       struct storm_outcome *outcome_out)
{
    struct remap *remap = self;
    storm_cell_idx cell = *remap->access.cell_idx(packet);
    (void)step;
    if (cell == remap_anywhere) {
        remap_walk(remap, packet, -1, outcome_out);
        return;
    }
    if (cell < 0) {
        struct storm_cell_ref to = remap->change->to[~cell];
        if (to.rank != remap->mesh->env->rank) {
            remap_send(remap, packet, to, outcome_out);
            return;
        }
        cell = to.idx;
    }
    if (remap_stays(remap, packet, cell))
        remap_home(remap, packet, cell, outcome_out);
    else
        remap_walk(remap, packet, cell, outcome_out);
}

/* Packets are all over the memory: those to come are fetched. */
static void remap_step_batch(void *self, struct storm_step *step,
                             void *const *packets, size_t n,
                             struct storm_outcome *outcomes_out)
{
    enum { AHEAD = 8 };
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n) {
            const char *line = packets[i + AHEAD];
            STORM_PREFETCH_WRITE(line);
            STORM_PREFETCH_WRITE(line + STORM_CACHE_LINE);
        }
        outcomes_out[i] = (struct storm_outcome){.events = 0};
        remap_step(self, step, packets[i], &outcomes_out[i]);
    }
}

/* A boundary may have been written for time steps: what it leaves in the index
 * and the scratch is not ours, and where a packet goes that is inside is
 * decided here (REMAP-2). */
static void remap_apply(void *self, struct storm_step *step, void *packet,
                        struct storm_outcome *outcome_out)
{
    struct remap *remap = self;
    const struct storm_mesh *mesh = remap->mesh;
    const double *x_cm = remap->access.position_cm(packet);
    const uint32_t scratch = *remap->access.scratch(packet);
    struct storm_cell_ref where;
    remap->stats.outside++;
    if (remap->boundary.apply != NULL)
        remap->boundary.apply(remap->boundary.self, step, packet, outcome_out);
    else
        outcome_out->fate = STORM_FATE_ESCAPED;
    *remap->access.cell_idx(packet) = remap_anywhere;
    *remap->access.scratch(packet) = scratch;
    if (outcome_out->fate == STORM_FATE_CENSUS ||
        outcome_out->fate == STORM_FATE_SEND)
        outcome_out->fate = STORM_FATE_CONTINUE;
    if (outcome_out->fate != STORM_FATE_CONTINUE ||
        mesh->ops->locate(mesh, x_cm, &where) < 0)
        return;
    /* Inside: it begins where a walk from no cell may. */
    where = (struct storm_cell_ref){
        .rank = mesh->ops->changes->jump(mesh, x_cm), .idx = -1};
    if (where.rank != mesh->env->rank)
        remap_send(remap, packet, where, outcome_out);
}

/* ---- public ------------------------------------------------------------- */

/* Reads what the caller gave. stats_out is written when all is done, so it is
 * checked before. */
static storm_status remap_read(struct remap *remap,
                               const struct storm_remap_params *params,
                               const struct storm_remap_stats *stats_out)
{
    static const char what[] = "storm_remap";
    const struct storm_env *env = remap->mesh->env;
    static const struct storm_remap_params defaults = STORM_REMAP_PARAMS_INIT;
    static const struct storm_remap_stats no_stats = STORM_REMAP_STATS_INIT;
    struct storm_remap_params own;
    storm_status status =
        storm_sized_read(env, what, params != NULL ? params : &defaults, &own,
                         sizeof own);
    if (status == STORM_OK)
        status =
            storm_sized_read(env, what,
                             own.access != NULL ? own.access : &remap_packet,
                             &remap->access, sizeof remap->access);
    if (status == STORM_OK && own.boundary != NULL)
        status = storm_sized_read(env, what, own.boundary, &remap->boundary,
                                  sizeof remap->boundary);
    if (status == STORM_OK)
        status = storm_sized_read(env, what,
                                  stats_out != NULL ? stats_out : &no_stats,
                                  &remap->stats, sizeof remap->stats);
    remap->stats = no_stats;
    if (status < 0)
        return status;
    remap->is_bundled = own.access == NULL;
    remap->jump_after = own.never_jump        ? 0
                        : own.jump_after != 0 ? own.jump_after
                                              : REMAP_JUMP_AFTER;
    return STORM_OK;
}

static storm_status remap_open(struct remap *remap,
                               const struct storm_remap_params *params,
                               const struct storm_remap_stats *stats_out)
{
    storm_status status = remap_read(remap, params, stats_out);
    if (status < 0)
        return status;
    if (remap->access.position_cm == NULL || remap->access.cell_idx == NULL ||
        remap->access.scratch == NULL) {
        storm_log_write(&remap->mesh->env->log, STORM_LOG_ERROR,
                        "storm_remap: position_cm, cell_idx and scratch of the "
                        "accessors are required");
        return STORM_ERR_ARG;
    }
    return storm_change_check(remap->mesh, remap->change, "storm_remap");
}

/* Sums and maxima over all ranks. Collective. */
static storm_status remap_report(const struct remap *remap, double seconds,
                                 struct storm_remap_stats *stats_out)
{
    const struct storm_context *context = remap->mesh->context;
    struct storm_remap_stats all = remap->stats;
    uint64_t sums[] = {all.fixed, all.walked, all.moved, all.outside};
    double maxima[] = {(double)all.longest, seconds};
    storm_status status =
        storm_context_reduce(context, sums, 4, MPI_UINT64_T, MPI_SUM);
    if (status == STORM_OK)
        status = storm_context_reduce(context, maxima, 2, MPI_DOUBLE, MPI_MAX);
    if (status < 0)
        return status;
    all.fixed = sums[0];
    all.walked = sums[1];
    all.moved = sums[2];
    all.outside = sums[3];
    all.longest = (uint64_t)maxima[0];
    all.seconds = maxima[1];
    return stats_out != NULL ? storm_sized_write(&all, sizeof all, stats_out)
                             : STORM_OK;
}

storm_status storm_remap(struct storm_engine *engine,
                         const struct storm_mesh *mesh,
                         const struct storm_change *change,
                         const struct storm_remap_params *params,
                         struct storm_remap_stats *stats_out)
{
    struct remap remap = {.mesh = mesh, .change = change};
    storm_status status =
        storm_context_agree(mesh->context,
                            remap_open(&remap, params, stats_out));
    if (status < 0)
        return status;
    const struct storm_physics physics = {
        .size = sizeof physics,
        .self = &remap,
        .record_bytes = remap.is_bundled ? sizeof(struct storm_packet) : 0,
        .pre_step = remap_pre_step,
        .step_batch = remap_step_batch,
    };
    const struct storm_boundary boundary = {.size = sizeof boundary,
                                            .self = &remap,
                                            .record_bytes =
                                                remap.boundary.record_bytes,
                                            .apply = remap_apply};
    double begin = storm_clock_seconds();
    status = storm_engine_side_step(engine, &physics, &boundary);
    if (status < 0)
        return status;
    return remap_report(&remap, storm_clock_seconds() - begin, stats_out);
}
