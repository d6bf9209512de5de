/* SPDX-License-Identifier: BSD-3-Clause */
/* Every backend, protocol and batch in turn. */
#include "bench/bench_ring.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench_crew.h"
#include "bench/bench_measure.h"

static const struct storm_bench_numbers ring_default_batches = {
    .value = {1, 8, 64, 512}, .n = 4};

struct ring_result {
    const char *backend, *protocol;
    uint32_t batch;
    struct storm_bench_ring_limits limit;
    struct storm_bench_ring_times times;
};

struct ring_bench {
    struct storm_context *context;
    struct storm_bench_ring_params params; /* no zeros left */
    struct ring_result *results;
    size_t n_results, n_expected;
};

static storm_status ring_measure(struct ring_bench *b,
                                 struct storm_bench_ring_case *that,
                                 const struct storm_bench_ring_limits *limit)
{
    struct ring_result result = {
        .backend = that->fabric != NULL ? that->fabric->name : "p2p",
        .protocol = that->fabric == NULL ? "none"
                    : that->paper        ? "paper"
                                         : "fast",
        .batch = that->batch,
        .limit = *limit,
    };
    storm_progress_report(b->context, &b->params.progress,
                          (double)b->n_results / (double)b->n_expected,
                          "%s %s %" PRIu32, result.backend, result.protocol,
                          result.batch);
    storm_status status = storm_bench_ring_channel(that, &result.times);
    if (status >= 0)
        b->results[b->n_results++] = result;
    return status;
}

/* Both, unless the user has asked for one. */
static bool ring_wants_protocol(const struct ring_bench *b,
                                const struct storm_fabric_ops *fabric,
                                const char *name)
{
    const char *asked = storm_options_text(storm_context_options(b->context),
                                           "transport.protocol");
    return fabric == NULL || strcmp(asked, "auto") == 0 ||
           strcmp(asked, name) == 0;
}

static storm_status ring_backend(struct ring_bench *b,
                                 const struct storm_fabric_ops *fabric)
{
    uint32_t slots =
        (uint32_t)storm_options_int(storm_context_options(b->context),
                                    "transport.ring_slots");
    for (size_t i = 0; i < b->params.batches.n; i++) {
        struct storm_bench_ring_case that = {
            .context = b->context,
            .fabric = fabric,
            .batch = b->params.batches.value[i],
            .seconds = b->params.seconds,
        };
        uint32_t min_slots = 2 * that.batch;
        that.slots = slots > min_slots ? slots : min_slots;
        struct storm_bench_ring_limits limit;
        storm_status status = storm_bench_ring_limit(&that, &limit);
        if (status >= 0 && ring_wants_protocol(b, fabric, "fast"))
            status = ring_measure(b, &that, &limit);
        that.paper = true;
        if (status >= 0 && fabric != NULL &&
            ring_wants_protocol(b, fabric, "paper"))
            status = ring_measure(b, &that, &limit);
        if (status < 0)
            return status;
    }
    return STORM_OK;
}

static storm_status ring_all(struct ring_bench *b)
{
    storm_status status = STORM_OK;
    char reason[256];
    for (size_t i = 0; status >= 0 && storm_fabric_list[i] != NULL; i++) {
        const struct storm_fabric_ops *fabric = storm_fabric_list[i];
        if (!storm_bench_list_has(b->params.backends, fabric->name))
            continue;
        fabric->prepare(storm_context_size(b->context));
        status = storm_context_agree(b->context,
                                     fabric->probe(reason, sizeof reason));
        bool asked = b->params.backends != NULL;
        if (status == STORM_ERR_NOSUP && storm_context_rank(b->context) == 0)
            storm_context_log(b->context,
                              asked ? STORM_LOG_ERROR : STORM_LOG_INFO,
                              "backend %s cannot be used: %s", fabric->name,
                              reason);
        if (status >= 0)
            status = ring_backend(b, fabric);
        else if (!asked)
            status = STORM_OK; /* all that work */
    }
    if (status >= 0 && storm_bench_list_has(b->params.backends, "p2p"))
        status = ring_backend(b, NULL);
    return status;
}

static double ring_rate(const struct ring_result *r)
{
    return 1e9 * r->batch / r->times.batch_ns;
}

static double ring_ratio(const struct ring_result *r)
{
    return r->limit.batch_ns / r->times.batch_ns;
}

static char *ring_json(const struct ring_bench *b,
                       const struct storm_run_summary *summary)
{
    struct storm_json json;
    storm_bench_json_begin(&json, "ring", summary);
    storm_json_uint(&json, "record_bytes", STORM_BENCH_RING_RECORD);
    storm_json_open(&json, "results", '[');
    for (size_t i = 0; i < b->n_results; i++) {
        const struct ring_result *r = &b->results[i];
        storm_json_open(&json, NULL, '{');
        storm_json_text(&json, "backend", r->backend);
        storm_json_text(&json, "provider", r->limit.provider);
        storm_json_text(&json, "protocol", r->protocol);
        storm_json_uint(&json, "batch", r->batch);
        storm_json_real(&json, "ns_per_batch", r->times.batch_ns);
        storm_json_real(&json, "records_per_second", ring_rate(r));
        storm_json_real(&json, "latency_ns", r->times.latency_ns);
        storm_json_real(&json, "limit_ns_per_batch", r->limit.batch_ns);
        storm_json_real(&json, "limit_ratio", ring_ratio(r));
        storm_json_real(&json, "best_ns_per_batch", r->times.best_batch_ns);
        storm_json_real(&json, "best_limit_ns_per_batch",
                        r->limit.best_batch_ns);
        storm_json_close(&json, '}');
    }
    storm_json_close(&json, ']');
    return storm_bench_json_end(&json);
}

static char *ring_table(const struct ring_bench *b)
{
    struct storm_page page = {0};
    storm_page_add(&page,
                   "Records of %d bytes between two ranks\n\n"
                   "  %-8s %-12s %-8s %6s %12s %14s %12s %12s %7s\n",
                   STORM_BENCH_RING_RECORD, "backend", "provider", "protocol",
                   "batch", "ns a batch", "million rec/s", "latency ns",
                   "limit ns", "ratio");
    for (size_t i = 0; i < b->n_results; i++) {
        const struct ring_result *r = &b->results[i];
        storm_page_add(&page,
                       "  %-8s %-12s %-8s %6" PRIu32
                       " %12.0f %14.2f %12.0f %12.0f %7.2f\n",
                       r->backend,
                       r->limit.provider[0] != '\0' ? r->limit.provider : "-",
                       r->protocol, r->batch, r->times.batch_ns,
                       1e-6 * ring_rate(r), r->times.latency_ns,
                       r->limit.batch_ns, ring_ratio(r));
    }
    return storm_page_end(&page);
}

static storm_status ring_conclude(struct ring_bench *b,
                                  struct storm_run_summary *summary)
{
    if (storm_context_rank(b->context) == 0)
        for (size_t i = 0; i < b->n_results; i++) {
            const struct storm_bench_ring_times *times = &b->results[i].times;
            summary->timed.transfers += times->records;
            summary->timed.batches += times->batches;
            summary->timed.bytes_sent +=
                times->records * STORM_BENCH_RING_RECORD;
            summary->seconds += 1e-9 * times->batch_ns * (double)times->batches;
        }
    summary->title = "ring";
    summary->cycles = b->n_results;
    summary->backend = b->params.backends != NULL ? b->params.backends : "all";
    summary->protocol = "all";
    return storm_run_summary_reduce(b->context, NULL, summary);
}

storm_status storm_bench_ring(struct storm_context *context,
                              const struct storm_bench_ring_params *params,
                              struct storm_run_report **report_out)
{
    struct ring_bench b = {.context = context, .params = *params};
    if (b.params.batches.n == 0)
        b.params.batches = ring_default_batches;
    const char *backend =
        storm_options_text(storm_context_options(context), "transport.backend");
    if (b.params.backends == NULL && strcmp(backend, "auto") != 0)
        b.params.backends = backend;
    if (!(b.params.seconds > 0.0))
        b.params.seconds = 0.2;
    if (storm_context_size(context) != 2) {
        if (storm_context_rank(context) == 0)
            storm_context_log(context, STORM_LOG_ERROR,
                              "expected 2 ranks for the ring benchmark, got %d",
                              storm_context_size(context));
        return STORM_ERR_ARG;
    }
    storm_status status =
        storm_bench_check_backends(context, b.params.backends);
    if (status < 0)
        return status;
    /* Two protocols for each fabric, and p2p. */
    size_t n_routes = 1;
    for (size_t i = 0; storm_fabric_list[i] != NULL; i++)
        n_routes += 2;
    b.n_expected = n_routes * b.params.batches.n;
    b.results = storm_bench_alloc(context, b.n_expected, sizeof *b.results);
    status = storm_context_agree(context, b.results != NULL ? STORM_OK
                                                            : STORM_ERR_NOMEM);
    struct storm_run_summary summary = {0};
    if (status >= 0)
        status = ring_all(&b);
    if (status >= 0)
        status = ring_conclude(&b, &summary);
    char *parts[STORM_RUN_N_PARTS] = {NULL};
    if (status >= 0 && storm_context_rank(context) == 0) {
        parts[STORM_RUN_JSON] = ring_json(&b, &summary);
        parts[STORM_RUN_TABLE] = ring_table(&b);
    }
    storm_bench_free(context, b.results);
    return storm_run_report_make(context, status, parts, report_out);
}
