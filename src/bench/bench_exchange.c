/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random exchange as physics over the engine: each rank starts one seed, which
 * makes records as long as there are few of them here, so that the store stays
 * small and hot. A record goes to its destination in its first event and ends
 * there.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "bench/bench.h"
#include "bench/bench_counters.h"
#include "bench/bench_measure.h"
#include "run/run_summary.h"

enum {
    EXCHANGE_RECORD_BYTES = 128,
    EXCHANGE_MAX_FRESH = 64,     /* records made and not sent yet: less than a
                               batch, so that arrivals have their turn */
    EXCHANGE_BATCH = 128,        /* packets per call of step_batch */
    EXCHANGE_LIMIT_BUFFER = 1024 /* records */
};

enum exchange_kind { EXCHANGE_SEED = 1, EXCHANGE_FRESH, EXCHANGE_SENT };

/* A seed makes the records [id, end). */
struct exchange_record {
    uint64_t id;
    uint64_t end;
    uint32_t kind;
    int32_t dest;
    uint64_t body[13];
};
_Static_assert(sizeof(struct exchange_record) == EXCHANGE_RECORD_BYTES,
               "records of 128 bytes");

struct exchange {
    uint64_t seed, records, first, end;
    uint32_t ranks;
    int32_t rank;
    uint64_t fresh, arrived, checksum, astray;
};

/* Mixes the bits of an id, as splitmix64. */
static inline uint64_t exchange_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* The destination: a function of the id, uniform over the ranks. */
static inline int32_t exchange_dest(const struct exchange *x, uint64_t id)
{
    uint64_t high = exchange_mix(id ^ x->seed) >> 32;
    return (int32_t)(high * x->ranks >> 32);
}

static storm_status exchange_pre_step(void *self, struct storm_step *step)
{
    struct exchange *x = self;
    x->fresh = x->arrived = x->checksum = x->astray = 0;
    struct exchange_record seed = {
        .id = x->first, .end = x->end, .kind = EXCHANGE_SEED};
    return x->first < x->end ? storm_step_spawn(step, &seed) : STORM_OK;
}

/* Makes as many records as there is room for. A failed spawn ends the step by
 * itself. */
static STORM_APART void exchange_make(struct exchange *x,
                                      struct storm_step *step,
                                      struct exchange_record *seed,
                                      struct storm_outcome *outcome_out)
{
    uint64_t room = EXCHANGE_MAX_FRESH - x->fresh;
    uint64_t end = seed->end - seed->id < room ? seed->end : seed->id + room;
    x->fresh += end - seed->id;
    for (uint64_t id = seed->id; id < end; id++) {
        struct exchange_record *record = storm_step_new(step);
        if (!record)
            break;
        record->id = id;
        record->kind = EXCHANGE_FRESH;
        record->dest = exchange_dest(x, id);
        memset(record->body, (int)(id & 0xff), sizeof record->body);
    }
    seed->id = end;
    *outcome_out = (struct storm_outcome){
        .fate = end < seed->end ? STORM_FATE_CONTINUE : STORM_FATE_ABSORBED};
}

static void exchange_step_batch(void *self, struct storm_step *step,
                                void *const *packets, size_t n,
                                struct storm_outcome *outcomes_out)
{
    struct exchange *x = self;
    const int32_t rank = x->rank;
    uint64_t sent = 0, arrived = 0, checksum = 0, astray = 0;
    for (size_t i = 0; i < n; i++) {
        struct exchange_record *record = packets[i];
        struct storm_outcome *outcome = &outcomes_out[i];
        outcome->events = 1;
        if (record->kind == EXCHANGE_FRESH) {
            record->kind = EXCHANGE_SENT;
            sent++;
            outcome->fate = STORM_FATE_SEND;
            outcome->rank = record->dest;
        } else if (record->kind == EXCHANGE_SENT) {
            arrived++;
            checksum += exchange_mix(record->id);
            astray += record->dest != rank;
            outcome->fate = STORM_FATE_ABSORBED;
        } else {
            exchange_make(x, step, record, outcome);
        }
    }
    x->fresh -= sent;
    x->arrived += arrived;
    x->checksum += checksum;
    x->astray += astray;
}

/* Every record has arrived once, where it should. Collective. */
static storm_status exchange_check(struct storm_context *context,
                                   const struct exchange *x)
{
    uint64_t expected = 0;
    for (uint64_t id = x->first; id < x->end; id++)
        expected += exchange_mix(id);
    uint64_t sums[4] = {x->arrived, x->checksum, x->astray, expected};
    storm_status status = storm_bench_sum_uint(context, sums, 4);
    if (status < 0)
        return status;
    if (sums[0] == x->records && sums[1] == sums[3] && sums[2] == 0)
        return STORM_OK;
    if (storm_context_rank(context) == 0)
        storm_context_log(context, STORM_LOG_ERROR,
                          "wrong result: %" PRIu64 " records sent, %" PRIu64
                          " arrived, %" PRIu64 " of them at the wrong rank%s",
                          x->records, sums[0], sums[2],
                          sums[1] != sums[3] ? ", checksum differs" : "");
    return STORM_ERR_STATE;
}

/* What a repeat measured, the same on every rank. */
struct exchange_times {
    double *wall, *cpu; /* one per repeat */
    struct storm_stats timed;
    struct storm_bench_counters counters;
    double seconds;
};

static storm_status exchange_repeat(struct storm_context *context,
                                    struct storm_engine *engine,
                                    struct exchange_times *times, size_t i)
{
    struct storm_stats before = STORM_STATS_INIT, after = STORM_STATS_INIT;
    storm_status status = storm_bench_barrier(context);
    if (status < 0)
        return status;
    storm_engine_stats(engine, &before);
    storm_bench_counters_begin(&times->counters);
    double cpu = storm_clock_cpu_seconds(), start = storm_clock_seconds();
    status = storm_engine_step(engine);
    double wall = storm_clock_seconds() - start;
    cpu = storm_clock_cpu_seconds() - cpu;
    storm_bench_counters_end(&times->counters);
    status = storm_context_agree(context, status);
    if (status >= 0)
        status = storm_bench_max(context, &wall);
    if (status >= 0)
        status = storm_bench_sum(context, &cpu);
    storm_engine_stats(engine, &after);
    storm_run_stats_add(&times->timed, &before, &after);
    times->wall[i] = wall;
    times->cpu[i] = cpu;
    times->seconds += wall;
    return status;
}

/* Copies n records into a buffer of the size of a ring and out again. */
static void exchange_copy(struct exchange_record *ring, uint64_t n)
{
    enum { CHUNK = 64 };
    struct exchange_record in[CHUNK] = {{0}}, out[CHUNK];
    for (uint64_t i = 0; i < n; i += CHUNK) {
        size_t at = i % EXCHANGE_LIMIT_BUFFER;
        size_t behind = (i + EXCHANGE_LIMIT_BUFFER / 2) % EXCHANGE_LIMIT_BUFFER;
        in[0].id = i;
        memcpy(&ring[at], in, sizeof in);
        memcpy(out, &ring[behind], sizeof out);
        __asm__ volatile("" : : "r"(out), "r"(ring) : "memory"); /* keep it */
    }
}

/* The limit: the same records copied in and out, nothing else, on all ranks
 * at once. Records per second of all ranks together. */
static storm_status exchange_limit(struct storm_context *context,
                                   const struct exchange *x, double *rate_out)
{
    enum { REPEATS = 5 };
    double seconds[REPEATS];
    struct exchange_record *ring =
        storm_bench_alloc(context, EXCHANGE_LIMIT_BUFFER, sizeof *ring);
    storm_status status =
        storm_context_agree(context, ring != NULL ? STORM_OK : STORM_ERR_NOMEM);
    for (int i = 0; i < REPEATS && status >= 0; i++) {
        status = storm_bench_barrier(context);
        double start = storm_clock_seconds();
        exchange_copy(ring, x->end - x->first);
        if (status >= 0) /* ranks may take turns on a core: wait for all */
            status = storm_bench_barrier(context);
        seconds[i] = storm_clock_seconds() - start;
        if (status >= 0)
            status = storm_bench_max(context, &seconds[i]);
    }
    storm_bench_free(context, ring);
    if (status >= 0)
        *rate_out = (double)x->records / storm_bench_median(seconds, REPEATS);
    return status;
}

struct exchange_result {
    struct storm_run_summary summary;
    struct storm_bench_counters counters;
    double rate, rate_per_cpu, limit;
    uint64_t records;
    uint32_t repeat;
};

static char *exchange_json(const struct exchange_result *r)
{
    struct storm_json json;
    storm_bench_json_begin(&json, "exchange", &r->summary);
    storm_json_uint(&json, "records", r->records);
    storm_json_uint(&json, "record_bytes", EXCHANGE_RECORD_BYTES);
    storm_json_uint(&json, "repeat", r->repeat);
    storm_json_real(&json, "records_per_second", r->rate);
    storm_json_real(&json, "records_per_cpu_second", r->rate_per_cpu);
    storm_json_real(&json, "limit_records_per_second", r->limit);
    storm_json_real(&json, "limit_ratio", r->rate / r->limit);
    storm_bench_json_counters(&json, &r->counters, "record",
                              (double)r->records * r->repeat);
    return storm_bench_json_end(&json);
}

static char *exchange_table(const struct exchange_result *r)
{
    struct storm_page page = {0};
    char number[STORM_GROUPED_BYTES];
    storm_page_add(&page, "Random exchange of records of %d bytes\n\n",
                   EXCHANGE_RECORD_BYTES);
    storm_bench_table_ranks(&page, &r->summary);
    storm_page_add(&page, "  records     %s, median of %" PRIu32 " repeats\n",
                   storm_page_grouped(r->records, number), r->repeat);
    storm_page_add(&page,
                   "  speed       %.1f million records per second, "
                   "%.1f million per second of processor\n"
                   "              %.0f %% of copying them in and out "
                   "(%.1f million)\n",
                   1e-6 * r->rate, 1e-6 * r->rate_per_cpu,
                   100.0 * r->rate / r->limit, 1e-6 * r->limit);
    storm_bench_table_counters(&page, &r->counters, "record",
                               (double)r->records * r->repeat);
    storm_page_add(&page, "\n");
    storm_run_summary_table(&page, &r->summary);
    return storm_page_end(&page);
}

/* All repeats, the first one untimed. */
static storm_status exchange_run(struct storm_context *context,
                                 struct storm_engine *engine,
                                 const struct exchange *x,
                                 const struct storm_bench_exchange_params *p,
                                 struct exchange_times *times)
{
    for (uint32_t i = 0; i <= p->repeat; i++) {
        storm_progress_report(context, &p->progress, i / (p->repeat + 1.0),
                              "repeat %" PRIu32 " of %" PRIu32, i, p->repeat);
        if (i == 1) {
            memset(&times->timed, 0, sizeof times->timed);
            memset(times->counters.count, 0, sizeof times->counters.count);
            times->seconds = 0.0;
        }
        storm_status status =
            exchange_repeat(context, engine, times, i > 0 ? i - 1 : 0);
        if (status >= 0)
            status = exchange_check(context, x);
        if (status < 0)
            return status;
    }
    storm_progress_report(context, &p->progress, 1.0, "done");
    return STORM_OK;
}

/* Medians over the repeats, and sums over the ranks. Collective. */
static storm_status exchange_conclude(struct storm_context *context,
                                      struct storm_engine *engine,
                                      const struct exchange *x,
                                      struct exchange_times *times,
                                      struct exchange_result *result)
{
    struct storm_run_summary *summary = &result->summary;
    double records = (double)result->records;
    uint64_t checksum = x->checksum;
    storm_status status = exchange_limit(context, x, &result->limit);
    if (status >= 0)
        status = storm_bench_sum_uint(context, &checksum, 1);
    if (status >= 0)
        status = storm_bench_counters_reduce(context, &times->counters);
    if (status < 0)
        return status;
    result->counters = times->counters;
    result->rate = records / storm_bench_median(times->wall, result->repeat);
    result->rate_per_cpu =
        records / storm_bench_median(times->cpu, result->repeat);
    summary->title = "random exchange";
    summary->cycles = result->repeat;
    summary->seconds = times->seconds;
    summary->state_hash = checksum;
    summary->timed = times->timed;
    summary->run = (struct storm_stats)STORM_STATS_INIT;
    storm_engine_stats(engine, &summary->run);
    return storm_run_summary_reduce(context, engine, summary);
}

static storm_status
exchange_measure(struct storm_context *context,
                 const struct storm_bench_exchange_params *p,
                 struct exchange_result *result)
{
    uint64_t rank = (uint64_t)storm_context_rank(context);
    uint64_t ranks = (uint64_t)storm_context_size(context);
    struct exchange x = {
        .seed = exchange_mix((uint64_t)storm_options_int(
            storm_context_options(context), "seed")),
        .records = p->records,
        .first = p->records / ranks * rank + p->records % ranks * rank / ranks,
        .end = p->records / ranks * (rank + 1) +
               p->records % ranks * (rank + 1) / ranks,
        .ranks = (uint32_t)ranks,
        .rank = (int32_t)rank,
    };
    struct storm_engine_params params = {
        .size = sizeof params,
        .record_bytes = sizeof(struct exchange_record),
        .physics = &(struct storm_physics){.size = sizeof(struct storm_physics),
                                           .self = &x,
                                           .pre_step = exchange_pre_step,
                                           .step_batch = exchange_step_batch},
        .batch_packets = EXCHANGE_BATCH,
    };
    struct exchange_times times = {
        .wall = storm_bench_alloc(context, p->repeat, sizeof(double)),
        .cpu = storm_bench_alloc(context, p->repeat, sizeof(double)),
    };
    storm_bench_counters_open(&times.counters);
    bool memory = times.wall != NULL && times.cpu != NULL;
    struct storm_engine *engine = NULL;
    storm_status status =
        storm_context_agree(context, memory ? STORM_OK : STORM_ERR_NOMEM);
    if (status >= 0)
        status = storm_engine_create(context, &params, &engine);
    if (status >= 0)
        status = exchange_run(context, engine, &x, p, &times);
    if (status >= 0)
        status = exchange_conclude(context, engine, &x, &times, result);
    storm_engine_destroy(engine);
    storm_bench_counters_close(&times.counters);
    storm_bench_free(context, times.cpu);
    storm_bench_free(context, times.wall);
    return status;
}

storm_status
storm_bench_exchange(struct storm_context *context,
                     const struct storm_bench_exchange_params *params,
                     struct storm_run_report **report_out)
{
    struct storm_bench_exchange_params p = *params;
    if (p.records == 0)
        p.records = 800000;
    if (p.repeat == 0)
        p.repeat = 6;
    struct exchange_result result = {.records = p.records, .repeat = p.repeat};
    storm_status status = exchange_measure(context, &p, &result);
    char *parts[STORM_RUN_N_PARTS] = {NULL};
    if (status >= 0 && storm_context_rank(context) == 0) {
        parts[STORM_RUN_JSON] = exchange_json(&result);
        parts[STORM_RUN_TABLE] = exchange_table(&result);
    }
    return storm_run_report_make(context, status, parts, report_out);
}
