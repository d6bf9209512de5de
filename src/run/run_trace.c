/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace.csv: the events of the packets of output.trace.
 *
 *   TRACE-1  Events of a packet are in their order, also where it has changed
 *            ranks: by the time that is left, and of events at the same time by
 *            random numbers drawn, then from cell to cell.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>
#include <storm/trace.h>

#include "base/env.h"
#include "io/io_gather.h"
#include "run/run.h"

static const char trace_label[] = "trace";

static const char trace_header[] =
    "step,id,time,event,x,y,z,direction_x,direction_y,direction_z,energy,group,"
    "from_cell,cell";

static size_t trace_n(const struct run *run)
{
    return run->out_dir != NULL ? run->deck->values.output.trace.n : 0;
}

storm_status run_trace_open(struct run *run)
{
    struct storm_memory *memory = storm_context_env(run->context)->memory;
    size_t n = trace_n(run);
    if (n == 0)
        return STORM_OK;
    struct storm_packet_id *ids =
        storm_alloc(memory, trace_label, n * sizeof *ids);
    storm_status status = ids != NULL ? STORM_OK : STORM_ERR_NOMEM;
    for (size_t i = 0; i < n && status == STORM_OK; i++)
        if (!storm_packet_id_parse(run->deck->values.output.trace.item[i],
                                   &ids[i]))
            status = STORM_ERR_ARG; /* deck_check.c has looked at them */
    if (status == STORM_OK)
        status = storm_imc_trace(run->imc, ids, n);
    storm_free(memory, ids);
    if (status == STORM_OK && storm_context_rank(run->context) == 0)
        status = run_rows_open(run, &run->history.trace, "trace", trace_header);
    return storm_context_agree(run->context, status);
}

/* ---- the events of all ranks --------------------------------------------- */

struct trace_all {
    struct storm_memory *memory;
    const struct storm_trace_event *mine;
    void *events;
    size_t n, capacity;
};

static void trace_fill(void *self, size_t first, size_t n, void *rows_out)
{
    const struct trace_all *all = self;
    memcpy(rows_out, all->mine + first, n * sizeof *all->mine);
}

static storm_status trace_take(void *self, const void *rows, size_t n)
{
    struct trace_all *all = self;
    storm_status status =
        storm_reserve(all->memory, trace_label, sizeof *all->mine, all->n + n,
                      &all->events, &all->capacity);
    if (status < 0)
        return status;
    memcpy((struct storm_trace_event *)all->events + all->n, rows,
           n * sizeof *all->mine);
    all->n += n;
    return STORM_OK;
}

/* TRACE-1, but for the last rule. */
static int trace_compare(const void *a, const void *b)
{
    const struct storm_trace_event *x = a, *y = b;
    int order = storm_packet_id_compare(x->packet.id, y->packet.id);
    if (order != 0)
        return order;
    if (x->packet.time_left_s != y->packet.time_left_s)
        return x->packet.time_left_s > y->packet.time_left_s ? -1 : 1;
    return (x->packet.draws > y->packet.draws) -
           (x->packet.draws < y->packet.draws);
}

/* Events that compare equal, in a chain of cells that begins at `cell`. */
static void trace_chain(struct storm_trace_event *events, size_t n,
                        storm_cell_id cell)
{
    for (size_t i = 0; i + 1 < n; i++) {
        size_t next = i;
        while (next + 1 < n && events[next].from != cell)
            next++;
        struct storm_trace_event event = events[next];
        memmove(&events[i + 1], &events[i], (next - i) * sizeof event);
        events[i] = event;
        cell = event.packet.cell;
    }
}

static void trace_sort(struct storm_trace_event *events, size_t n)
{
    if (n == 0)
        return;
    qsort(events, n, sizeof *events, trace_compare);
    for (size_t i = 1; i < n;) {
        size_t end = i;
        bool same = storm_packet_id_compare(events[i].packet.id,
                                            events[i - 1].packet.id) == 0;
        while (end < n && trace_compare(&events[i], &events[end]) == 0)
            end++;
        trace_chain(&events[i], end - i,
                    same ? events[i - 1].packet.cell : events[i].from);
        i = end;
    }
}

/* ---- rows ---------------------------------------------------------------- */

static const char *trace_name(const struct storm_trace_event *event)
{
    switch ((storm_fate)event->fate) {
    case STORM_FATE_CENSUS:
        return "census";
    case STORM_FATE_ABSORBED:
        return "absorbed";
    case STORM_FATE_ESCAPED:
        return "escaped";
    default:
        return event->from != event->packet.cell ? "crossing"
               : event->drawn > 0                ? "collision"
                                                 : "reflection";
    }
}

static void trace_row(const struct run *run, struct storm_page *page,
                      const struct storm_trace_event *event)
{
    const struct storm_packet *p = &event->packet;
    storm_page_add(page, "%" PRIu64 ",%016" PRIx64 "%016" PRIx64 ",", run->step,
                   p->id.hi, p->id.lo);
    io_rows_real(page, run->time_s - p->time_left_s, ',');
    storm_page_add(page, "%s,", trace_name(event));
    for (int d = 0; d < 3; d++)
        io_rows_real(page, p->position_cm[d], ',');
    for (int d = 0; d < 3; d++)
        io_rows_real(page, p->direction[d], ',');
    io_rows_real(page, p->weight_erg, ',');
    storm_page_add(page, "%" PRId32 ",%" PRIu64 ",%" PRIu64 "\n", p->group,
                   event->from, p->cell);
}

storm_status run_trace_add(struct run *run)
{
    struct trace_all all = {.memory = storm_context_env(run->context)->memory};
    size_t n;
    if (trace_n(run) == 0)
        return STORM_OK;
    all.mine = storm_imc_trace_events(run->imc, &n);
    const struct io_gather_rows rows = {.n = n,
                                        .row_bytes = sizeof *all.mine,
                                        .self = &all,
                                        .fill = trace_fill};
    storm_status status = io_gather(run->context, &rows, trace_take, &all);
    if (status == STORM_OK) {
        struct storm_trace_event *events = all.events;
        trace_sort(events, all.n);
        for (size_t i = 0; i < all.n; i++)
            trace_row(run, &run->history.trace.text, &events[i]);
    }
    storm_free(all.memory, all.events);
    return status;
}

void run_trace_warn(struct run *run)
{
    const char *rows =
        run_job_replica(run) <= 1 ? run->history.trace.text.text : NULL;
    for (size_t i = 0; rows != NULL && i < trace_n(run); i++) {
        const char *name = run->deck->values.output.trace.item[i];
        struct storm_packet_id id;
        char text[64];
        if (!storm_packet_id_parse(name, &id))
            continue;
        snprintf(text, sizeof text, ",%016" PRIx64 "%016" PRIx64 ",", id.hi,
                 id.lo);
        if (strstr(rows, text) == NULL)
            run_warn(
                run,
                "output.trace.%zu: there was no packet %s in the steps up to "
                "%" PRIu64 "; ORIGIN:STEP:PLACE:NUMBER count from 0, and "
                "checkpoints have the ids of packets",
                i, name, run->step);
    }
}
