/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets that are followed: their events are taken one at a time (KERNEL-1),
 * and recorded.
 */
#include <stdlib.h>
#include <string.h>

#include <storm/trace.h>

#include "physics/imc.h"

static const char trace_label[] = "trace";

static int trace_compare(const void *a, const void *b)
{
    const struct storm_packet_id *x = a, *y = b;
    return storm_packet_id_compare(*x, *y);
}

storm_status storm_imc_trace(struct storm_imc *imc,
                             const struct storm_packet_id *ids, size_t n)
{
    struct storm_memory *memory = imc->env->memory;
    if (imc->in_step)
        return STORM_ERR_STATE;
    struct storm_packet_id *copy = NULL;
    if (n > 0) {
        copy = storm_alloc(memory, trace_label, n * sizeof *copy);
        if (copy == NULL)
            return STORM_ERR_NOMEM;
        memcpy(copy, ids, n * sizeof *copy);
        qsort(copy, n, sizeof *copy, trace_compare);
    }
    storm_free(memory, imc->trace.ids);
    imc->trace.ids = copy;
    imc->trace.n_ids = n;
    imc->trace.n = 0;
    return STORM_OK;
}

const struct storm_trace_event *
storm_imc_trace_events(const struct storm_imc *imc, size_t *n_out)
{
    *n_out = imc->trace.n;
    return imc->trace.events;
}

void imc_trace_begin(struct storm_imc *imc, uint64_t step)
{
    imc->trace.n = 0;
    imc->trace.step = step;
    imc->trace.is_lost = false;
}

void imc_trace_close(struct storm_imc *imc)
{
    storm_free(imc->env->memory, imc->trace.ids);
    storm_free(imc->env->memory, imc->trace.events);
}

static bool trace_follows(const struct imc_trace *trace,
                          const struct storm_packet *packet)
{
    return bsearch(&packet->id, trace->ids, trace->n_ids, sizeof *trace->ids,
                   trace_compare) != NULL;
}

static void trace_add(struct imc_trace *trace, struct storm_memory *memory,
                      const struct storm_trace_event *event)
{
    void *events = trace->events;
    if (storm_reserve(memory, trace_label, sizeof *event, trace->n + 1, &events,
                      &trace->capacity) < 0) {
        trace->is_lost = true; /* post_step reports it */
        return;
    }
    trace->events = events;
    trace->events[trace->n++] = *event;
}

/* One packet, event by event, for as many as a call may take. */
static void trace_follow(struct storm_imc *imc, imc_batch_fn *batch,
                         struct storm_packet *packet,
                         struct storm_outcome *outcome_out)
{
    struct imc_track *track = &imc->track;
    uint64_t max_events = track->max_events, n_events = 0;
    struct imc_watch *watch = track->watch;
    void *const packets[1] = {packet};
    track->max_events = 1;
    track->watch = NULL;
    do {
        storm_cell_id from = packet->cell;
        uint64_t draws = packet->draws;
        batch(imc, packets, 1, outcome_out);
        n_events += outcome_out->events;
        const struct storm_trace_event event = {
            .packet = *packet,
            .from = from,
            .drawn = packet->draws - draws,
            .step = imc->trace.step,
            .fate = (uint64_t)outcome_out->fate,
        };
        if (outcome_out->events > 0)
            trace_add(&imc->trace, imc->env->memory, &event);
    } while (outcome_out->fate == STORM_FATE_CONTINUE && n_events < max_events);
    outcome_out->events = n_events;
    track->max_events = max_events;
    track->watch = watch;
}

void imc_trace_batch(struct storm_imc *imc, imc_batch_fn *batch,
                     void *const *packets, size_t n,
                     struct storm_outcome *outcomes_out)
{
    size_t begin = 0; /* of those not yet advanced */
    for (size_t i = 0; i < n; i++) {
        if (!trace_follows(&imc->trace, packets[i]))
            continue;
        if (i > begin)
            batch(imc, packets + begin, i - begin, outcomes_out + begin);
        trace_follow(imc, batch, packets[i], &outcomes_out[i]);
        begin = i + 1;
    }
    if (n > begin)
        batch(imc, packets + begin, n - begin, outcomes_out + begin);
}
