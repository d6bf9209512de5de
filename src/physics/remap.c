/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The relocating physics.
 *
 *   REMAP-1  A packet's cell index is negative until the change has answered
 *            for it; from then on it is that of a cell of the rank it is on.
 *   REMAP-2  A packet ends where seek says that it is home, or at the boundary;
 *            nowhere else: without a boundary a position outside is an error,
 *            and the packet stays in the engine. But if only owners of cells
 *            have changed a bundled packet stays in the cell of its tag:
 *            tracking may have left it there beyond a face by a rounding, and
 *            it would be there without the change. A bundled packet that
 *            diffuses (optical depth below 0) has no place of its own: it rides
 *            with its cell, and is put into its middle, unless that is gone.
 *   REMAP-3  The hops of a packet and whether it changed ranks travel in its
 *            scratch, which is zero when it is home.
 *   REMAP-4  Packets go in the order of the cells that the change answers with:
 *            what a walk reads of a cell serves all that begin there, and the
 *            order is left to the next time step, which gains as much. Those
 *            for other ranks go first. Without memory for it, 12 bytes for
 *            every packet, they go as they are; nothing else depends on it.
 *   REMAP-5  Bundled packets of an engine that has made no step with them were
 *             added on any rank by the tags of their cells: their indices mean
 *             nothing, and they begin at the cells that have these tags now.
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
#include "physics/census.h"
#include "physics/imc_ddmc.h"

enum { REMAP_JUMP_AFTER = 8, REMAP_SOME = 64 };

/* Of a cell index: begin where it is best. */
static const storm_cell_idx remap_anywhere = INT32_MIN;

/* Of the scratch; below it are the hops. */
static const uint32_t remap_moved = UINT32_C(1) << 31;

struct remap {
    const struct storm_mesh *mesh;
    const struct storm_change *change;
    const struct storm_cell_ref *to; /* of the change, by cell, or REMAP-5: by
                                         packet */
    storm_cell_idx n_to;
    struct storm_cell_ref *found;     /* REMAP-5; else NULL */
    bool is_bundled;                  /* records are struct storm_packet */
    struct storm_remap_access access; /* else */
    struct storm_boundary boundary;   /* the caller's */
    uint32_t jump_after;              /* 0: never */
    uint64_t mark;                    /* CENSUS-3: of the engine, before */
    struct storm_remap_stats stats;
    storm_status failed; /* a packet is outside, and there is no boundary */
};

/* The packets of a rank by key: that of a cell here is one more than its new
 * index, that of all others 0. */
struct remap_order {
    bool is_open; /* there was memory for it */
    size_t n_keys;
    uint32_t *keys; /* by packet */
    size_t *end;    /* by key, and one more */
    void **sorted;
};

/* ---- records ------------------------------------------------------------ */

/* Those of bundled packets are here, without a call. */
static inline double *remap_position(const struct remap *remap, void *record)
{
    return remap->is_bundled ? ((struct storm_packet *)record)->position_cm
                             : remap->access.position_cm(record);
}

static inline storm_cell_idx *remap_idx(const struct remap *remap, void *record)
{
    return remap->is_bundled ? &((struct storm_packet *)record)->cell_idx
                             : remap->access.cell_idx(record);
}

static inline uint32_t *remap_scratch(const struct remap *remap, void *record)
{
    return remap->is_bundled ? &((struct storm_packet *)record)->face
                             : remap->access.scratch(record);
}

static inline void remap_set_tag(const struct remap *remap, void *record,
                                 storm_cell_id tag)
{
    if (remap->is_bundled)
        ((struct storm_packet *)record)->cell = tag;
    else if (remap->access.cell != NULL)
        *remap->access.cell(record) = tag;
}

/* ---- order -------------------------------------------------------------- */

/* REMAP-4 */
static void remap_order_open(const struct remap *remap, size_t n,
                             struct remap_order *order_out)
{
    static const char label[] = "remap order";
    struct storm_memory *memory = remap->mesh->env->memory;
    size_t n_keys = (size_t)remap->mesh->part->n_cells + 1;
    *order_out = (struct remap_order){
        .n_keys = n_keys,
        .keys = storm_alloc(memory, label, (n + 1) * sizeof(uint32_t)),
        .end = storm_alloc(memory, label, (n_keys + 1) * sizeof(size_t)),
        .sorted = storm_alloc(memory, label, (n + 1) * sizeof(void *))};
    order_out->is_open = order_out->keys != NULL && order_out->end != NULL &&
                         order_out->sorted != NULL;
}

static void remap_order_add(const struct remap *remap, storm_cell_idx old,
                            size_t i, struct remap_order *order)
{
    struct storm_cell_ref to = remap->to[old];
    uint32_t key = to.rank == remap->mesh->env->rank ? (uint32_t)to.idx + 1 : 0;
    order->keys[i] = key;
    order->end[key + 1]++;
}

static void remap_order_use(const struct remap_order *order, void **packets,
                            size_t n)
{
    size_t *end = order->end; /* of the keys before; then of the key */
    for (size_t k = 0; k < order->n_keys; k++)
        end[k + 1] += end[k];
    for (size_t i = 0; i < n; i++)
        order->sorted[end[order->keys[i]]++] = packets[i];
    memcpy(packets, order->sorted, n * sizeof *packets);
}

static void remap_order_close(const struct remap *remap,
                              struct remap_order *order)
{
    struct storm_memory *memory = remap->mesh->env->memory;
    storm_free(memory, order->sorted);
    storm_free(memory, order->end);
    storm_free(memory, order->keys);
}

/* ---- callbacks ---------------------------------------------------------- */

/* REMAP-1 */
static storm_status remap_mark(const struct remap *remap, void *packet)
{
    storm_cell_idx *idx = remap_idx(remap, packet);
    if (*idx < 0 || *idx >= remap->n_to) {
        storm_log_write(&remap->mesh->env->log, STORM_LOG_ERROR,
                        "storm_remap: a packet has cell index %d, but there "
                        "were %d cells here before the change",
                        *idx, remap->n_to);
        return STORM_ERR_ARG;
    }
    *idx = ~*idx;
    *remap_scratch(remap, packet) = 0;
    return STORM_OK;
}

/* Where cells with the tags of the packets are; the index of a packet is its
 * number then. */
static storm_status remap_list(struct remap *remap, void *const *packets,
                               size_t n, storm_cell_id **tags_out)
{
    static const char label[] = "remap by tag";
    struct storm_memory *memory = remap->mesh->env->memory;
    if (n > INT32_MAX)
        return STORM_ERR_NOMEM;
    *tags_out = storm_alloc(memory, label, (n + 1) * sizeof **tags_out);
    remap->found = storm_alloc(memory, label, (n + 1) * sizeof *remap->found);
    if (*tags_out == NULL || remap->found == NULL)
        return STORM_ERR_NOMEM;
    for (size_t i = 0; i < n; i++) {
        struct storm_packet *packet = packets[i];
        (*tags_out)[i] = packet->cell;
        packet->cell_idx = (storm_cell_idx)i;
    }
    remap->to = remap->found;
    remap->n_to = (storm_cell_idx)n;
    return STORM_OK;
}

/* REMAP-5. Collective. */
static storm_status remap_find(struct remap *remap, void *const *packets,
                               size_t n)
{
    const struct storm_mesh *mesh = remap->mesh;
    storm_cell_id *tags = NULL;
    storm_status status =
        storm_context_agree(mesh->context,
                            remap_list(remap, packets, n, &tags));
    if (status >= 0)
        status = storm_mesh_find(mesh, n, tags, remap->found);
    for (size_t i = 0; i < n && status >= 0; i++) {
        if (remap->found[i].rank >= 0)
            continue;
        storm_log_write(&mesh->env->log, STORM_LOG_ERROR,
                        "storm_remap: a packet that was added is in cell %llu, "
                        "which does not exist",
                        (unsigned long long)tags[i]);
        status = STORM_ERR_ARG;
    }
    storm_free(mesh->env->memory, tags);
    return status;
}

static storm_status remap_pre_step(void *self, struct storm_step *step)
{
    struct remap *remap = self;
    struct remap_order order;
    storm_status status = STORM_OK;
    size_t n;
    void **packets = storm_step_packets(step, &n);
    if (remap->is_bundled && remap->mark == 0)
        status = remap_find(remap, packets, n);
    storm_step_set_mark(step, remap->mesh->generation + 1);
    remap_order_open(remap, n, &order);
    for (size_t i = 0; i < n && status >= 0; i++) {
        if (i + REMAP_SOME < n)
            STORM_PREFETCH_WRITE(remap_idx(remap, packets[i + REMAP_SOME]));
        status = remap_mark(remap, packets[i]);
        if (status >= 0 && order.is_open)
            remap_order_add(remap, ~*remap_idx(remap, packets[i]), i, &order);
    }
    if (status >= 0 && order.is_open && n > 0)
        remap_order_use(&order, packets, n);
    remap_order_close(remap, &order);
    return status;
}

static void remap_send(const struct remap *remap, void *packet,
                       struct storm_cell_ref to,
                       struct storm_outcome *outcome_out)
{
    *remap_idx(remap, packet) = to.idx < 0 ? remap_anywhere : to.idx;
    *remap_scratch(remap, packet) |= remap_moved;
    outcome_out->fate = STORM_FATE_SEND;
    outcome_out->rank = to.rank;
}

/* REMAP-2, REMAP-3 */
static void remap_home(struct remap *remap, void *packet, storm_cell_idx cell,
                       struct storm_outcome *outcome_out)
{
    uint32_t *scratch = remap_scratch(remap, packet);
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
    *remap_idx(remap, packet) = cell;
    remap_set_tag(remap, packet, storm_mesh_part_tag(remap->mesh->part, cell));
    outcome_out->fate = STORM_FATE_CENSUS;
}

/* After many hops: to the owner of the position's place, once. */
static bool remap_jumps(const struct remap *remap, void *packet,
                        struct storm_outcome *outcome_out)
{
    uint32_t hops = *remap_scratch(remap, packet) & ~remap_moved;
    if (hops != remap->jump_after)
        return false;
    int rank = remap->mesh->ops->changes->jump(remap->mesh,
                                               remap_position(remap, packet));
    if (rank == remap->mesh->env->rank)
        return false;
    remap_send(remap, packet, (struct storm_cell_ref){.rank = rank, .idx = -1},
               outcome_out);
    return true;
}

/* REMAP-2: does it stay in the cell that the change has answered with? */
static bool remap_stays(const struct remap *remap, void *packet,
                        storm_cell_idx cell)
{
    const struct storm_packet *p = packet;
    return remap->is_bundled &&
           (remap->change->is_cut || p->optical_depth < 0.0) &&
           (*remap_scratch(remap, packet) & ~remap_moved) == 0 &&
           p->cell == storm_mesh_part_tag(remap->mesh->part, cell);
}

/* Where the walk of a packet begins; -1: where it is best. False: it does not
 * walk here. */
static bool remap_begins(struct remap *remap, void *packet,
                         storm_cell_idx *cell_out,
                         struct storm_outcome *outcome_out)
{
    storm_cell_idx cell = *remap_idx(remap, packet);
    *cell_out = -1;
    if (cell == remap_anywhere)
        return true;
    if (cell < 0) {
        struct storm_cell_ref to = remap->to[~cell];
        if (to.rank != remap->mesh->env->rank) {
            remap_send(remap, packet, to, outcome_out);
            return false;
        }
        cell = to.idx;
    }
    *cell_out = cell;
    if (!remap_stays(remap, packet, cell))
        return true;
    if (!remap->change->is_cut) {
        remap->mesh->ops->centre(remap->mesh, cell,
                                 remap_position(remap, packet));
        ((struct storm_packet *)packet)->optical_depth = IMC_DIFFUSES;
    }
    remap_home(remap, packet, cell, outcome_out);
    return false;
}

/* After a hop. False: it does not walk on here. */
static bool remap_walks(struct remap *remap, void *packet,
                        const struct storm_mesh_hop *hop,
                        struct storm_outcome *outcome_out)
{
    if (hop->status == STORM_OK) {
        remap_home(remap, packet, hop->cell >= 0 ? hop->cell : hop->next.idx,
                   outcome_out);
        return false;
    }
    if (hop->status < 0) {
        *remap_idx(remap, packet) = remap_anywhere;
        outcome_out->fate = STORM_FATE_BOUNDARY;
        return false;
    }
    ++*remap_scratch(remap, packet);
    if (remap->jump_after > 0 && remap_jumps(remap, packet, outcome_out))
        return false;
    if (hop->next.rank == remap->mesh->env->rank)
        return true;
    remap_send(remap, packet, hop->next, outcome_out);
    return false;
}

/* A hop of all that still walk, until none does. */
static void remap_step_some(struct remap *remap, void *const *packets, size_t n,
                            struct storm_outcome *outcomes_out)
{
    struct storm_mesh_hop hops[REMAP_SOME];
    size_t which[REMAP_SOME], n_hops = 0;
    for (size_t i = 0; i < n; i++) {
        outcomes_out[i] = (struct storm_outcome){.events = 0};
        which[n_hops] = i;
        hops[n_hops].x_cm = remap_position(remap, packets[i]);
        n_hops += remap_begins(remap, packets[i], &hops[n_hops].cell,
                               &outcomes_out[i]);
    }
    while (n_hops > 0) {
        size_t left = 0;
        remap->mesh->ops->changes->seek_many(remap->mesh, hops, n_hops);
        for (size_t h = 0; h < n_hops; h++) {
            if (!remap_walks(remap, packets[which[h]], &hops[h],
                             &outcomes_out[which[h]]))
                continue;
            hops[left].x_cm = hops[h].x_cm;
            hops[left].cell = hops[h].next.idx;
            which[left++] = which[h];
        }
        n_hops = left;
    }
}

static void remap_fetch(const void *packet)
{
    const char *line = packet;
    STORM_PREFETCH_WRITE(line);
    STORM_PREFETCH_WRITE(line + STORM_CACHE_LINE);
}

/* Packets are all over the memory: those to come are fetched. */
static void remap_step_batch(void *self, struct storm_step *step,
                             void *const *packets, size_t n,
                             struct storm_outcome *outcomes_out)
{
    (void)step;
    for (size_t i = 0; i < n && i < REMAP_SOME; i++)
        remap_fetch(packets[i]);
    for (size_t i = 0; i < n; i += REMAP_SOME) {
        size_t end = i + REMAP_SOME < n ? i + REMAP_SOME : n;
        for (size_t k = end; k < n && k < end + REMAP_SOME; k++)
            remap_fetch(packets[k]);
        remap_step_some(self, packets + i, end - i, outcomes_out + i);
    }
}

/* REMAP-2: it could only be dropped. */
static void remap_refuse(struct remap *remap, const double x_cm[3])
{
    if (remap->failed == STORM_OK)
        storm_log_write(
            &remap->mesh->env->log, STORM_LOG_ERROR,
            "storm_remap: a packet at (%g, %g, %g) cm is outside of "
            "the mesh, and there is no boundary for it: set "
            "`boundary` of struct storm_remap_params",
            x_cm[0], x_cm[1], x_cm[2]);
    remap->failed = STORM_ERR_ARG;
}

/* A boundary may have been written for time steps: what it leaves in the index
 * and the scratch is not ours, and where a packet goes that is inside is
 * decided here (REMAP-2). */
static void remap_apply(void *self, struct storm_step *step, void *packet,
                        struct storm_outcome *outcome_out)
{
    struct remap *remap = self;
    const struct storm_mesh *mesh = remap->mesh;
    const double *x_cm = remap_position(remap, packet);
    const uint32_t scratch = *remap_scratch(remap, packet);
    struct storm_cell_ref where;
    remap->stats.outside++;
    if (remap->boundary.apply == NULL) {
        remap_refuse(remap, x_cm);
        outcome_out->fate = STORM_FATE_CENSUS;
        return;
    }
    remap->boundary.apply(remap->boundary.self, step, packet, outcome_out);
    *remap_idx(remap, packet) = remap_anywhere;
    *remap_scratch(remap, packet) = scratch;
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

static storm_status remap_post_step(void *self, struct storm_step *step)
{
    const struct remap *remap = self;
    (void)step;
    return remap->failed;
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
    if (status == STORM_OK && own.access != NULL)
        status = storm_sized_read(env, what, own.access, &remap->access,
                                  sizeof remap->access);
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

/* CENSUS-3: of an application's records it is not known. Collective. */
static storm_status remap_check_mark(const struct remap *remap,
                                     struct storm_engine *engine)
{
    size_t n;
    if (!storm_census_is_left(remap->mark, remap->change->moved))
        return STORM_OK; /* on all ranks */
    (void)storm_engine_packets(engine, &n);
    uint64_t n_all = remap->is_bundled ? n : 0;
    storm_status status = storm_context_reduce(remap->mesh->context, &n_all, 1,
                                               MPI_UINT64_T, MPI_SUM);
    if (status < 0 || n_all == 0)
        return status;
    storm_log_shared(&remap->mesh->env->log, 0,
                     "storm_remap: cells have moved in an earlier change, too: "
                     "remap packets after every change of the mesh");
    return STORM_ERR_STATE;
}

static storm_status remap_open(struct remap *remap,
                               const struct storm_remap_params *params,
                               const struct storm_remap_stats *stats_out)
{
    storm_status status = remap_read(remap, params, stats_out);
    if (status < 0)
        return status;
    if (!remap->is_bundled &&
        (remap->access.position_cm == NULL || remap->access.cell_idx == NULL ||
         remap->access.scratch == NULL)) {
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
    struct remap remap = {.mesh = mesh,
                          .change = change,
                          .to = change->to,
                          .n_to = change->n_old,
                          .mark = storm_engine_mark(engine)};
    storm_status status =
        storm_context_agree(mesh->context,
                            remap_open(&remap, params, stats_out));
    if (status >= 0)
        status = remap_check_mark(&remap, engine);
    if (status < 0)
        return status;
    const struct storm_physics physics = {
        .size = sizeof physics,
        .self = &remap,
        .record_bytes =
            remap.is_bundled ? storm_census_record_bytes(engine) : 0,
        .pre_step = remap_pre_step,
        .step_batch = remap_step_batch,
        .post_step = remap_post_step,
    };
    const struct storm_boundary boundary = {.size = sizeof boundary,
                                            .self = &remap,
                                            .record_bytes =
                                                remap.boundary.record_bytes,
                                            .apply = remap_apply};
    double begin = storm_clock_seconds();
    status = storm_engine_side_step(engine, &physics, &boundary);
    storm_free(mesh->env->memory, remap.found);
    if (status < 0)
        return status;
    return remap_report(&remap, storm_clock_seconds() - begin, stats_out);
}
