/* SPDX-License-Identifier: BSD-3-Clause */
#include "physics/census.h"

#include <string.h>

#include <storm/change.h>
#include <storm/context.h>

#include "base/hash.h"
#include "engine/engine_keep.h"
#include "engine/engine_side.h"
#include "mesh/mesh_ops.h"

static const char census_label[] = "packets by tag";
static const char census_order_label[] = "packets by cell";

void storm_census_stop(size_t n, struct storm_outcome *outcomes_out)
{
    for (size_t i = 0; i < n; i++)
        outcomes_out[i] = (struct storm_outcome){.fate = STORM_FATE_CENSUS};
}

/* Is the index that of the packet's cell? */
static bool census_is_here(const struct storm_mesh *mesh,
                           const struct storm_packet *packet)
{
    return packet->cell_idx >= 0 && packet->cell_idx < mesh->part->n_cells &&
           storm_mesh_part_tag(mesh->part, packet->cell_idx) == packet->cell;
}

/* The packets that are not where their index says. */
struct census_lost {
    size_t n;
    struct storm_packet **packets;
    storm_cell_id *tags;
    struct storm_cell_ref *where;
};

static storm_status census_list(const struct storm_mesh *mesh,
                                void *const *packets, size_t n,
                                struct census_lost *lost)
{
    struct storm_memory *memory = mesh->env->memory;
    size_t room = lost->n + 1;
    lost->packets =
        storm_alloc(memory, census_label, room * sizeof *lost->packets);
    lost->tags = storm_alloc(memory, census_label, room * sizeof *lost->tags);
    lost->where = storm_alloc(memory, census_label, room * sizeof *lost->where);
    if (lost->packets == NULL || lost->tags == NULL || lost->where == NULL)
        return STORM_ERR_NOMEM;
    lost->n = 0;
    for (size_t i = 0; i < n; i++) {
        struct storm_packet *packet = packets[i];
        if (packet == NULL || census_is_here(mesh, packet))
            continue;
        lost->packets[lost->n] = packet;
        lost->tags[lost->n++] = packet->cell;
    }
    return STORM_OK;
}

static storm_status census_mark(const struct storm_mesh *mesh,
                                const struct census_lost *lost)
{
    for (size_t i = 0; i < lost->n; i++) {
        struct storm_packet *packet = lost->packets[i];
        struct storm_cell_ref where = lost->where[i];
        if (where.rank < 0) {
            storm_log_write(&mesh->env->log, STORM_LOG_ERROR,
                            "a packet is in cell %llu, which does not exist: "
                            "call storm_remap after the mesh has changed",
                            (unsigned long long)packet->cell);
            return STORM_ERR_STATE;
        }
        packet->cell_idx =
            where.rank == mesh->env->rank ? where.idx : ~where.idx;
        packet->face = (uint32_t)where.rank;
    }
    return STORM_OK;
}

/* Looks up the cells of packets by their tags. Collective, and only called if
 * a rank has some. */
static storm_status census_look_up(const struct storm_mesh *mesh,
                                   void *const *packets, size_t n,
                                   struct census_lost *lost)
{
    struct storm_memory *memory = mesh->env->memory;
    storm_status status =
        storm_context_agree(mesh->context, census_list(mesh, packets, n, lost));
    if (status >= 0)
        status = storm_mesh_find(mesh, lost->n, lost->tags, lost->where);
    if (status >= 0)
        status = storm_context_agree(mesh->context, census_mark(mesh, lost));
    storm_free(memory, lost->where);
    storm_free(memory, lost->tags);
    storm_free(memory, lost->packets);
    return status;
}

/* CENSUS-3, on all ranks. */
static storm_status census_check(struct storm_step *step,
                                 const struct storm_mesh *mesh,
                                 uint64_t n_packets)
{
    if (n_packets > 0 &&
        storm_census_is_left(storm_step_mark(step), mesh->moved)) {
        storm_log_shared(&mesh->env->log, 0,
                         "cells have moved since the last step, and %llu "
                         "packets have not followed: call storm_remap after "
                         "every change of the mesh",
                         (unsigned long long)n_packets);
        return STORM_ERR_STATE;
    }
    storm_step_set_mark(step, mesh->generation + 1);
    return STORM_OK;
}

/* ---- the order of packets ------------------------------------------------ */

/* Keys have so many bits at most: counts of packets by key stay in the cache.
 * A key is a cell, or several that lie next to each other along the curve. */
enum { CENSUS_KEY_BITS = 15 };

struct census_order {
    unsigned shift;  /* from cells to keys */
    uint16_t *keys;  /* by packet; NULL: there is no memory for an order */
    bool is_ordered; /* keys do not fall */
};

static struct census_order census_order_open(const struct storm_mesh *mesh,
                                             size_t n)
{
    struct census_order order = {.is_ordered = true};
    while (mesh->part->n_cells >> order.shift >> CENSUS_KEY_BITS != 0)
        order.shift++;
    order.keys = storm_alloc(mesh->env->memory, census_order_label,
                             (n + 1) * sizeof *order.keys);
    return order;
}

/* Puts packets in the order of their cells (CENSUS-4). */
static void census_sort(const struct storm_mesh *mesh,
                        const struct census_order *order, void **packets,
                        size_t n)
{
    struct storm_memory *memory = mesh->env->memory;
    size_t n_keys = (size_t)(mesh->part->n_cells >> order->shift) + 1;
    size_t *next =
        storm_alloc(memory, census_order_label, (n_keys + 1) * sizeof *next);
    void **from = storm_alloc(memory, census_order_label, n * sizeof *from);
    if (next != NULL && from != NULL) {
        for (size_t i = 0; i < n; i++)
            next[order->keys[i] + 1]++;
        for (size_t key = 1; key < n_keys; key++)
            next[key] += next[key - 1];
        memcpy(from, packets, n * sizeof *from);
        for (size_t i = 0; i < n; i++)
            packets[next[order->keys[i]]++] = from[i];
    }
    storm_free(memory, from);
    storm_free(memory, next);
}

static void census_order_close(const struct storm_mesh *mesh,
                               struct census_order *order, void **packets,
                               size_t n)
{
    if (order->keys != NULL && !order->is_ordered)
        census_sort(mesh, order, packets, n);
    storm_free(mesh->env->memory, order->keys);
}

storm_status storm_census_wake(struct storm_step *step,
                               const struct storm_mesh *mesh, double dt_s,
                               double *largest_inout)
{
    enum { LOST, ALL, N };
    size_t n;
    void **packets = storm_step_packets_here(step, &n);
    struct census_lost lost = {.n = 0};
    struct census_order order = census_order_open(mesh, n);
    double largest = 0.0;
    uint16_t key = 0;
    for (size_t i = 0; i < n; i++) {
        struct storm_packet *packet = packets[i];
        if (packet != NULL) {
            bool is_here = census_is_here(mesh, packet);
            lost.n += !is_here;
            packet->time_left_s = dt_s;
            largest =
                packet->weight_erg > largest ? packet->weight_erg : largest;
            uint16_t before = key;
            key = is_here ? (uint16_t)(packet->cell_idx >> order.shift) : 0;
            order.is_ordered = order.is_ordered && before <= key;
        }
        if (order.keys != NULL)
            order.keys[i] = key;
    }
    census_order_close(mesh, &order, packets, n);
    *largest_inout = largest > *largest_inout ? largest : *largest_inout;
    uint64_t sums[N] = {[LOST] = lost.n, [ALL] = n};
    storm_status status =
        storm_context_reduce(mesh->context, sums, N, MPI_UINT64_T, MPI_SUM);
    if (status >= 0)
        status = census_check(step, mesh, sums[ALL]);
    return status < 0 || sums[LOST] == 0
               ? status
               : census_look_up(mesh, packets, n, &lost);
}

storm_status storm_census_balance(struct storm_engine *engine,
                                  const struct storm_context *context,
                                  struct storm_ledger *account,
                                  double *value_out, double *error_out)
{
    size_t n;
    const void *const *packets;
    struct storm_ledger *census = &account[STORM_LEDGER_CENSUS];
    storm_status status =
        storm_context_agree(context, storm_engine_view(engine, &packets, &n));
    if (status < 0)
        return status;
    memset(census, 0, sizeof *census);
    for (size_t i = 0; i < n; i++)
        storm_ledger_add(census,
                         ((const struct storm_packet *)packets[i])->weight_erg);
    return storm_ledger_balance(account, context, value_out, error_out);
}

size_t storm_census_record_bytes(const struct storm_engine *engine)
{
    size_t photon = sizeof(struct storm_photon);
    return storm_engine_record_bytes(engine) == photon
               ? photon
               : sizeof(struct storm_packet);
}

storm_status storm_census_hash(struct storm_engine *engine,
                               const struct storm_context *context,
                               const struct storm_mesh *mesh,
                               const double *const *fields, size_t n_fields,
                               uint64_t *hash_out)
{
    uint64_t sum = 0; /* of hashes, modulo 2^64: any order */
    size_t n;
    const void *const *packets;
    storm_status status =
        storm_context_agree(context, storm_engine_view(engine, &packets, &n));
    if (status < 0)
        return status;
    bool are_photons =
        storm_census_record_bytes(engine) == sizeof(struct storm_photon);
    for (size_t i = 0; i < n; i++)
        sum += are_photons ? storm_photon_hash(packets[i])
                           : storm_packet_hash(packets[i]);
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++) {
        uint64_t hash =
            storm_hash_fold(UINT64_C(0x63656c6c), storm_mesh_cell_id(mesh, i));
        for (size_t k = 0; k < n_fields; k++)
            hash = storm_hash_fold_real(hash, fields[k][i]);
        sum += hash;
    }
    status = storm_context_reduce(context, &sum, 1, MPI_UINT64_T, MPI_SUM);
    if (status < 0)
        return status;
    *hash_out = storm_hash_word(sum);
    return STORM_OK;
}
