/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time from the end of the last packet until all ranks know. Each step has one
 * packet: it starts on one rank, is sent to another, and ends there once the
 * other ranks have been idle for a while: 0.1 ms, and in a second series 10 ms,
 * after which a rank that sleeps while it is idle is hard to wake.
 */
#include <inttypes.h>

#include "base/clock.h"
#include "base/hash.h"
#include "bench/bench.h"
#include "bench/bench_measure.h"
#include "run/run_summary.h"

static const double termination_short_s = 100e-6;
static const double termination_long_s = 10e-3;
/* Steps of the long series: a share of the short one's, but so many. */
enum {
    TERMINATION_WARM_UP = 20,
    TERMINATION_LONG_SHARE = 4,
    TERMINATION_LONG_MIN = 5
};

struct termination_packet {
    int32_t home;  /* where it ends */
    int32_t there; /* has it arrived? */
    uint64_t unused;
    double arrived_at;
    uint64_t body;
};
_Static_assert(sizeof(struct termination_packet) == 32, "a small record");

struct termination {
    uint64_t seed;
    uint64_t ranks;
    int32_t rank;
    double settle_s; /* how long the other ranks are idle before the end */
    double ended_at; /* here, in this step; 0: not here */
    double known_at;
};

/* The ranks where the packet of a step starts and ends. */
static int32_t termination_place(const struct termination *t, uint64_t step,
                                 uint64_t which)
{
    uint64_t bits = storm_hash_fold(storm_hash_fold(t->seed, step), which);
    return (int32_t)(bits % t->ranks);
}

static storm_status termination_pre_step(void *self, struct storm_step *step)
{
    struct termination *t = self;
    uint64_t number = storm_step_number(step);
    t->ended_at = t->known_at = 0.0;
    if (termination_place(t, number, 0) != t->rank)
        return STORM_OK;
    struct termination_packet packet = {.home =
                                            termination_place(t, number, 1)};
    return storm_step_spawn(step, &packet);
}

static void termination_step(void *self, struct storm_step *step, void *record,
                             struct storm_outcome *outcome_out)
{
    struct termination *t = self;
    struct termination_packet *packet = record;
    (void)step;
    *outcome_out = (struct storm_outcome){.events = 1};
    double now = storm_clock_seconds();
    if (!packet->there) {
        packet->there = 1;
        outcome_out->fate = STORM_FATE_SEND;
        outcome_out->rank = packet->home;
    } else if (packet->arrived_at == 0.0) {
        packet->arrived_at = now;
    } else if (now - packet->arrived_at >= t->settle_s) {
        t->ended_at = now;
        outcome_out->fate = STORM_FATE_ABSORBED;
    }
}

static storm_status termination_post_step(void *self, struct storm_step *step)
{
    struct termination *t = self;
    (void)step;
    t->known_at = storm_clock_seconds();
    return STORM_OK;
}

/* CLOCK_MONOTONIC is common to the ranks of one node alone. Collective. */
static storm_status termination_one_node(struct storm_context *context)
{
    MPI_Comm node;
    int size = 0;
    int error =
        MPI_Comm_split_type(storm_context_comm(context), MPI_COMM_TYPE_SHARED,
                            0, MPI_INFO_NULL, &node);
    if (error == MPI_SUCCESS)
        error = MPI_Comm_size(node, &size);
    if (error == MPI_SUCCESS)
        error = MPI_Comm_free(&node);
    if (error != MPI_SUCCESS)
        return storm_context_agree(context, STORM_ERR_FABRIC);
    bool here = size == storm_context_size(context);
    if (!here && storm_context_rank(context) == 0)
        storm_context_log(context, STORM_LOG_ERROR,
                          "the termination benchmark needs one clock: start "
                          "all ranks on one node");
    return storm_context_agree(context, here ? STORM_OK : STORM_ERR_NOSUP);
}

struct termination_result {
    struct storm_run_summary summary;
    uint32_t steps;
    double *seconds; /* one per step */
    double median, max, median_long, barrier;
};

/* Steps, the first ones untimed. Collective. */
static storm_status
termination_run(struct storm_context *context, struct storm_engine *engine,
                const struct termination *t,
                const struct storm_bench_termination_params *params,
                struct termination_result *result)
{
    const uint32_t n = TERMINATION_WARM_UP + params->steps;
    for (uint32_t i = 0; i < n; i++) {
        struct storm_stats before = STORM_STATS_INIT, after = STORM_STATS_INIT;
        storm_progress_report(context, &params->progress, (double)i / n,
                              "step %" PRIu32 " of %" PRIu32, i + 1, n);
        storm_engine_stats(engine, &before);
        storm_status status = storm_bench_barrier(context);
        if (status >= 0)
            status = storm_context_agree(context, storm_engine_step(engine));
        storm_engine_stats(engine, &after);
        double ended = t->ended_at, known = t->known_at;
        if (status >= 0)
            status = storm_bench_max(context, &ended);
        if (status >= 0)
            status = storm_bench_max(context, &known);
        if (status < 0)
            return status;
        if (i < TERMINATION_WARM_UP)
            continue;
        result->seconds[i - TERMINATION_WARM_UP] = known - ended;
        double in_step = after.seconds - before.seconds;
        status = storm_bench_max(context, &in_step);
        if (status < 0)
            return status;
        result->summary.seconds += in_step;
        storm_run_stats_add(&result->summary.timed, &before, &after);
    }
    return STORM_OK;
}

/* The second series: fewer steps, and no part of the summary. */
static storm_status
termination_run_long(struct storm_context *context, struct storm_engine *engine,
                     struct termination *t,
                     const struct storm_bench_termination_params *params,
                     struct termination_result *result)
{
    struct storm_bench_termination_params p = *params;
    struct termination_result series = {.seconds = result->seconds};
    p.steps = params->steps / TERMINATION_LONG_SHARE;
    if (p.steps < TERMINATION_LONG_MIN)
        p.steps = params->steps < TERMINATION_LONG_MIN ? params->steps
                                                       : TERMINATION_LONG_MIN;
    t->settle_s = termination_long_s;
    storm_status status = termination_run(context, engine, t, &p, &series);
    if (status >= 0)
        result->median_long = storm_bench_median(series.seconds, p.steps);
    return status;
}

/* Median time of a barrier of the MPI library, as rank 0 sees it. */
static storm_status termination_barrier(struct storm_context *context,
                                        struct termination_result *result)
{
    uint32_t n = result->steps;
    for (uint32_t i = 0; i < n; i++) {
        storm_status status = storm_bench_barrier(context);
        double start = storm_clock_seconds();
        int error = MPI_Barrier(storm_context_comm(context));
        result->seconds[i] = storm_clock_seconds() - start;
        if (status < 0 || error != MPI_SUCCESS)
            return status < 0 ? status : STORM_ERR_FABRIC;
    }
    result->barrier = storm_bench_median(result->seconds, n);
    return STORM_OK;
}

static char *termination_json(const struct termination_result *r)
{
    struct storm_json json;
    storm_bench_json_begin(&json, "termination", &r->summary);
    storm_json_real(&json, "seconds_median", r->median);
    storm_json_real(&json, "seconds_max", r->max);
    storm_json_real(&json, "seconds_median_after_10ms", r->median_long);
    storm_json_real(&json, "limit_seconds", r->barrier);
    storm_json_text(&json, "limit_is", "median of a barrier of the same ranks");
    storm_json_real(&json, "limit_ratio", r->barrier / r->median);
    return storm_bench_json_end(&json);
}

static char *termination_table(const struct termination_result *r)
{
    struct storm_page page = {0};
    storm_page_add(&page,
                   "From the end of the last packet until all ranks know\n\n"
                   "  ranks    %d, backend %s\n"
                   "  median   %.1f us over %" PRIu32
                   " steps, at most %.1f us\n"
                   "           %.1f us after 10 ms without work\n"
                   "  barrier  %.1f us (MPI, the same ranks)\n",
                   r->summary.ranks, r->summary.backend, 1e6 * r->median,
                   r->steps, 1e6 * r->max, 1e6 * r->median_long,
                   1e6 * r->barrier);
    return storm_page_end(&page);
}

static storm_status
termination_measure(struct storm_context *context,
                    const struct storm_bench_termination_params *params,
                    struct termination_result *result)
{
    struct termination t = {
        .seed =
            (uint64_t)storm_options_int(storm_context_options(context), "seed"),
        .ranks = (uint64_t)storm_context_size(context),
        .rank = (int32_t)storm_context_rank(context),
        .settle_s = termination_short_s,
    };
    struct storm_engine_params engine_params = {
        .size = sizeof engine_params,
        .record_bytes = sizeof(struct termination_packet),
        .physics = &(struct storm_physics){.size = sizeof(struct storm_physics),
                                           .self = &t,
                                           .pre_step = termination_pre_step,
                                           .step = termination_step,
                                           .post_step = termination_post_step},
    };
    struct storm_engine *engine = NULL;
    struct storm_run_summary *summary = &result->summary;
    storm_status status = storm_engine_create(context, &engine_params, &engine);
    if (status < 0)
        return status;
    status = termination_run(context, engine, &t, params, result);
    if (status >= 0) {
        result->median = storm_bench_median(result->seconds, result->steps);
        result->max = result->seconds[result->steps - 1];
        status = termination_run_long(context, engine, &t, params, result);
    }
    if (status >= 0)
        status = termination_barrier(context, result);
    if (status >= 0) {
        summary->title = "termination";
        summary->cycles = params->steps;
        summary->run = (struct storm_stats)STORM_STATS_INIT;
        storm_engine_stats(engine, &summary->run);
        status = storm_run_summary_reduce(context, engine, summary);
    }
    storm_engine_destroy(engine);
    return status;
}

storm_status
storm_bench_termination(struct storm_context *context,
                        const struct storm_bench_termination_params *params,
                        struct storm_run_report **report_out)
{
    struct storm_bench_termination_params p = *params;
    if (p.steps == 0)
        p.steps = 200;
    struct termination_result result = {
        .steps = p.steps,
        .seconds = storm_bench_alloc(context, p.steps, sizeof(double))};
    storm_status status =
        storm_context_agree(context, result.seconds != NULL ? STORM_OK
                                                            : STORM_ERR_NOMEM);
    if (status >= 0)
        status = termination_one_node(context);
    if (status >= 0)
        status = termination_measure(context, &p, &result);
    char *parts[STORM_RUN_N_PARTS] = {NULL};
    if (status >= 0 && storm_context_rank(context) == 0) {
        parts[STORM_RUN_JSON] = termination_json(&result);
        parts[STORM_RUN_TABLE] = termination_table(&result);
    }
    storm_bench_free(context, result.seconds);
    return storm_run_report_make(context, status, parts, report_out);
}
