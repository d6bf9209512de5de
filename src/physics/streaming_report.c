/* SPDX-License-Identifier: BSD-3-Clause */
/* Free streaming: calls between steps. */
#include <math.h>

#include "base/clock.h"
#include "physics/census.h"
#include "physics/streaming.h"

storm_status streaming_check(const struct storm_streaming *streaming)
{
    return storm_census_check(streaming->mesh, streaming->generation,
                              "free streaming",
                              "ask before storm_mesh_repartition, or after the "
                              "next step");
}

const double *
storm_streaming_energy_density(const struct storm_streaming *streaming)
{
    return streaming_check(streaming) < 0 ? NULL : streaming->energy_density;
}

void storm_streaming_deposit(void *streaming, storm_cell_idx cell,
                             double weight_erg)
{
    struct storm_streaming *self = streaming;
    (void)cell;
    storm_ledger_add(&self->account[STORM_LEDGER_ABSORBED], weight_erg);
}

storm_status storm_streaming_add(struct storm_streaming *streaming,
                                 struct storm_engine *engine,
                                 const struct storm_packet *packet)
{
    if (packet->cell >= storm_mesh_n_cells_total(streaming->mesh) ||
        !(packet->weight_erg >= 0.0) || !isfinite(packet->weight_erg))
        return STORM_ERR_ARG;
    storm_status status = storm_engine_add(engine, packet);
    if (status == STORM_OK)
        storm_ledger_add(&streaming->account[STORM_LEDGER_CREATED],
                         packet->weight_erg);
    return status;
}

/* ---- balance and hash --------------------------------------------------- */

storm_status storm_streaming_balance(struct storm_streaming *streaming,
                                     struct storm_engine *engine,
                                     double energy_erg_out[4],
                                     double *error_out)
{
    storm_status status = streaming_check(streaming);
    return status < 0 ? status
                      : storm_census_balance(engine, streaming->context,
                                             streaming->account, energy_erg_out,
                                             error_out);
}

storm_status storm_streaming_hash(const struct storm_streaming *streaming,
                                  struct storm_engine *engine,
                                  uint64_t *hash_out)
{
    const double *const fields[] = {streaming->energy_density};
    storm_status status = streaming_check(streaming);
    return status < 0 ? status
                      : storm_census_hash(engine, streaming->context,
                                          streaming->mesh, fields, 1, hash_out);
}

/* ---- bare kernel -------------------------------------------------------- */

enum { BARE_BATCH = 512 }; /* as the engine's */
static const char bare_label[] = "bare kernel";

struct bare {
    struct storm_track track;
    double *density;
    struct storm_packet *packets;
    void **pointers;
    size_t n;
};

/* Copies of the packets that are in this rank's cells. */
static void bare_copy(struct bare *bare,
                      const struct storm_streaming *streaming,
                      void *const *packets, size_t n)
{
    storm_cell_id first = storm_mesh_cell_id(streaming->mesh, 0);
    double largest = 0.0;
    for (size_t i = 0; i < n; i++) {
        const struct storm_packet *packet = packets[i];
        storm_cell_id offset = packet->cell - first;
        if (offset >= (storm_cell_id)streaming->n_cells)
            continue;
        largest = packet->weight_erg > largest ? packet->weight_erg : largest;
        bare->packets[bare->n] = *packet;
        bare->packets[bare->n].cell_idx = (storm_cell_idx)offset;
        bare->pointers[bare->n] = &bare->packets[bare->n];
        bare->n++;
    }
    bare->track.unit = streaming_unit(streaming, largest);
}

/* One time step of all packets; returns events and adds the seconds. */
static uint64_t bare_pass(const struct bare *bare,
                          const struct storm_streaming *streaming,
                          double *seconds_inout)
{
    struct storm_outcome outcomes[BARE_BATCH];
    uint64_t events = 0;
    for (size_t i = 0; i < bare->n; i++)
        bare->packets[i].time_left_s = streaming->params.dt_s;
    double start = storm_clock_seconds();
    for (size_t i = 0; i < bare->n; i += BARE_BATCH) {
        size_t n = bare->n - i < BARE_BATCH ? bare->n - i : BARE_BATCH;
        streaming->advance(&bare->track, bare->pointers + i, n, outcomes);
        for (size_t k = 0; k < n; k++)
            events += outcomes[k].events;
    }
    *seconds_inout += storm_clock_seconds() - start;
    return events;
}

storm_status storm_streaming_bare_kernel(struct storm_streaming *streaming,
                                         struct storm_engine *engine,
                                         double seconds,
                                         double *steps_per_second_out)
{
    struct storm_memory *memory = streaming->env->memory;
    struct bare bare = {.n = 0};
    size_t n;
    void *const *packets = storm_engine_packets(engine, &n);
    storm_status status = streaming_check(streaming);
    if (status == STORM_OK)
        status = streaming_allocate(streaming, &bare.track, &bare.density);
    if (status < 0)
        return status;
    bare.track.mirror_walls = (1u << STORM_N_WALLS) - 1u;
    bare.track.mirror_borders = true;
    bare.track.max_events = UINT64_MAX;
    bare.packets =
        storm_alloc(memory, bare_label, (n + 1) * sizeof *bare.packets);
    bare.pointers =
        storm_alloc(memory, bare_label, (n + 1) * sizeof *bare.pointers);
    status = STORM_ERR_NOMEM;
    if (bare.packets == NULL || bare.pointers == NULL)
        goto out;
    bare_copy(&bare, streaming, packets, n);

    uint64_t events = 0;
    double spent = 0.0;
    do {
        events += bare_pass(&bare, streaming, &spent);
    } while (bare.n > 0 && spent < seconds);
    *steps_per_second_out = spent > 0.0 ? (double)events / spent : 0.0;
    status = STORM_OK;
out:
    storm_free(memory, bare.pointers);
    storm_free(memory, bare.packets);
    streaming_release(streaming, &bare.track, bare.density);
    return status;
}
