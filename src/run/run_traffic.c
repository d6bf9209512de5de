/* SPDX-License-Identifier: BSD-3-Clause */
/* The traffic matrix: packets that each rank has sent to each other one. */
#include "run/run.h"

#include <string.h>

#include <storm/context.h>

#include "base/env.h"
#include "base/json.h"
#include "io/io_gather.h"

static const char traffic_label[] = "traffic";

static void traffic_fill(void *self, size_t first, size_t n, void *rows_out)
{
    const struct run *run = self;
    struct run_traffic *rows = rows_out;
    for (size_t i = 0; i < n; i++) {
        int to = 0;
        rows[i].from = (uint64_t)storm_context_rank(run->context);
        rows[i].packets = 0;
        (void)!storm_engine_traffic(run->engine, first + i, &to,
                                    &rows[i].packets);
        rows[i].to = (uint64_t)to;
    }
}

/* Peers that were expected and never sent to are left out. */
static storm_status traffic_take(void *self, const void *from, size_t n)
{
    struct run *run = self;
    struct storm_memory *memory = storm_context_env(run->context)->memory;
    const struct run_traffic *rows = from;
    size_t wanted = (run->n_traffic + n) * sizeof *run->traffic;
    struct run_traffic *larger = storm_alloc(memory, traffic_label, wanted + 1);
    if (larger == NULL)
        return STORM_ERR_NOMEM;
    if (run->n_traffic > 0)
        memcpy(larger, run->traffic, run->n_traffic * sizeof *larger);
    storm_free(memory, run->traffic);
    run->traffic = larger;
    for (size_t i = 0; i < n; i++)
        if (rows[i].packets > 0)
            run->traffic[run->n_traffic++] = rows[i];
    return STORM_OK;
}

storm_status run_traffic_gather(struct run *run)
{
    size_t n = 0;
    run->n_traffic = 0;
    int to;
    uint64_t packets;
    while (storm_engine_traffic(run->engine, n, &to, &packets) == STORM_OK)
        n++;
    const struct io_gather_rows rows = {.n = n,
                                        .row_bytes = sizeof *run->traffic,
                                        .self = run,
                                        .fill = traffic_fill};
    return io_gather(run->context, &rows, traffic_take, run);
}

void run_traffic_close(struct run *run)
{
    storm_free(storm_context_env(run->context)->memory, run->traffic);
}

void run_traffic_json(const struct run *run, struct storm_json *json)
{
    storm_json_open(json, "traffic", '[');
    for (size_t i = 0; i < run->n_traffic; i++) {
        storm_json_open(json, NULL, '{');
        storm_json_uint(json, "from", run->traffic[i].from);
        storm_json_uint(json, "to", run->traffic[i].to);
        storm_json_uint(json, "packets", run->traffic[i].packets);
        storm_json_close(json, '}');
    }
    storm_json_close(json, ']');
}
