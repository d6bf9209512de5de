/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A simulated rank: uniform emission as the benchmark runs it, in simulated
 * time (docs/scale.md). `storm lab` starts this program by smpirun and reads
 * the JSON that rank 0 writes.
 *
 * Computing is not measured but charged: so much for each event that the
 * physics reports.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/resource.h>

#include <mpi.h>

#include <storm/context.h>

#include "base/sim/sim_time.h"
#include "bench/bench_uniform.h"
#include "engine/engine_internal.h"
#include "lab/lab_count.h"

/* What is simulated; each is a flag NAME=VALUE. */
struct lab_case {
    double cells_per_rank, crossings, emit, cycles, timed;
    double event_s;
    double transfer_s; /* of a packet that leaves, beyond its events */
    /* Ranks 0, slow_every, 2 slow_every ... compute this much slower. */
    double slow_every, slow_factor;
    /* The first tenth of the ranks computes this many times the mean. */
    double uneven;
    const char *json;     /* where the result goes */
    char arguments[2048]; /* all others, as they were given */
};

/* One rank of it. */
struct lab_rank {
    const struct lab_case *what;
    struct storm_physics physics; /* that of the benchmark */
    double event_s;               /* of this rank */
};

static const struct {
    const char *name;
    size_t offset;
} lab_numbers[] = {
    {"cells-per-rank", offsetof(struct lab_case, cells_per_rank)},
    {"crossings", offsetof(struct lab_case, crossings)},
    {"emit", offsetof(struct lab_case, emit)},
    {"cycles", offsetof(struct lab_case, cycles)},
    {"timed", offsetof(struct lab_case, timed)},
    {"event-s", offsetof(struct lab_case, event_s)},
    {"transfer-s", offsetof(struct lab_case, transfer_s)},
    {"slow-every", offsetof(struct lab_case, slow_every)},
    {"slow-factor", offsetof(struct lab_case, slow_factor)},
    {"uneven", offsetof(struct lab_case, uneven)},
};

static bool read_flag(struct lab_case *what, const char *flag)
{
    const char *value = strchr(flag, '=');
    size_t n = value ? (size_t)(value - flag) : 0;
    if (n == 4 && strncmp(flag, "json", n) == 0) {
        what->json = value + 1;
        return true;
    }
    for (size_t i = 0; i < sizeof lab_numbers / sizeof *lab_numbers; i++)
        if (n == strlen(lab_numbers[i].name) &&
            strncmp(flag, lab_numbers[i].name, n) == 0) {
            char *end;
            double number = strtod(value + 1, &end);
            memcpy((char *)what + lab_numbers[i].offset, &number,
                   sizeof number);
            return *end == '\0' && number >= 0;
        }
    return false;
}

/* Those with a dot are options of the run; costs are the platform's, and only
 * noted. */
static bool read_any(struct lab_case *what, struct storm_options *options,
                     const char *flag)
{
    const char *value = strchr(flag, '=');
    char key[64], problem[256] = "";
    if (strncmp(flag, "cost-", 5) == 0)
        return true;
    if (!value || !memchr(flag, '.', (size_t)(value - flag)))
        return read_flag(what, flag);
    snprintf(key, sizeof key, "%.*s", (int)(value - flag), flag);
    if (storm_options_set(options, key, value + 1, problem, sizeof problem) >=
        0)
        return true;
    fprintf(stderr, "storm-sim: %s\n", problem);
    return false;
}

static bool read_flags(struct lab_case *what, struct storm_options *options,
                       int argc, char **argv)
{
    *what = (struct lab_case){.cells_per_rank = 100,
                              .crossings = 15,
                              .emit = 5,
                              .cycles = 5,
                              .timed = 3,
                              .event_s = 1.2e-6,
                              .slow_factor = 1,
                              .uneven = 1,
                              .json = "lab.json"};
    size_t n = 0;
    for (int i = 1; i < argc; i++) {
        if (!read_any(what, options, argv[i])) {
            fprintf(stderr, "storm-sim: '%s' is no flag\n", argv[i]);
            return false;
        }
        if (strncmp(argv[i], "json=", 5) != 0 && n < sizeof what->arguments)
            n += (size_t)snprintf(what->arguments + n,
                                  sizeof what->arguments - n, "%s%s",
                                  n > 0 ? " " : "", argv[i]);
    }
    return true;
}

/* ---- computing ------------------------------------------------------------*/

static void charge(void *self, struct storm_step *step, void *const *packets,
                   size_t n, struct storm_outcome *outcomes)
{
    struct lab_rank *rank = self;
    rank->physics.step_batch(rank->physics.self, step, packets, n, outcomes);
    uint64_t events = 0, transfers = 0;
    for (size_t i = 0; i < n; i++) {
        events += outcomes[i].events;
        transfers += outcomes[i].fate == STORM_FATE_SEND;
    }
    storm_sim_spend((double)events * rank->event_s +
                    (double)transfers * rank->what->transfer_s);
}

static storm_status before(void *self, struct storm_step *step)
{
    struct lab_rank *rank = self;
    return rank->physics.pre_step
               ? rank->physics.pre_step(rank->physics.self, step)
               : STORM_OK;
}

static storm_status after(void *self, struct storm_step *step)
{
    struct lab_rank *rank = self;
    return rank->physics.post_step
               ? rank->physics.post_step(rank->physics.self, step)
               : STORM_OK;
}

/* What an event costs on this rank. The mean over ranks stays as it is. */
static double event_cost(const struct lab_case *what, int rank, int size)
{
    double cost = what->event_s;
    if (what->slow_every > 0 && rank % (int)what->slow_every == 0)
        cost *= what->slow_factor;
    if (what->uneven > 1)
        cost *= rank < size / 10 ? what->uneven : (10.0 - what->uneven) / 9.0;
    return cost;
}

static storm_status charge_for(struct lab_rank *rank,
                               struct storm_uniform_pass *pass)
{
    rank->physics = pass->loop.engine->physics;
    rank->event_s = event_cost(rank->what, storm_context_rank(pass->context),
                               storm_context_size(pass->context));
    struct storm_physics physics = rank->physics;
    physics.self = rank;
    physics.pre_step = before;
    physics.step_batch = charge;
    physics.post_step = after;
    return storm_engine_use(pass->loop.engine, &physics, NULL, NULL);
}

/* ---- the run --------------------------------------------------------------*/

static storm_status run_cycles(struct storm_uniform_pass *pass,
                               struct storm_run_summary *summary)
{
    double energy_erg[4];
    storm_status status = STORM_OK;
    while (status >= 0 && pass->loop.cycle < pass->loop.cycles)
        status = storm_uniform_cycle(pass);
    if (status >= 0)
        status =
            storm_streaming_balance(pass->loop.streaming, pass->loop.engine,
                                    energy_erg, &summary->energy_balance);
    if (status >= 0)
        status = storm_streaming_hash(pass->loop.streaming, pass->loop.engine,
                                      &summary->state_hash);
    summary->title = "uniform emission, simulated";
    if (status >= 0)
        status = storm_bench_loop_summary(&pass->loop, pass->mesh, summary);
    return status < 0 ? status : storm_uniform_check(pass->context, summary);
}

/* What this rank has in its memory book. */
static double booked_kb(const struct storm_context *context)
{
    struct storm_memory_entry entry = STORM_MEMORY_ENTRY_INIT;
    double bytes = 0;
    for (size_t i = 0; storm_context_memory(context, i, &entry) == STORM_OK;
         i++)
        bytes += (double)entry.peak_bytes;
    return bytes / 1024;
}

/* What is measured besides the benchmark. */
struct lab_result {
    struct lab_totals start, end;
    double start_s;
    double memory_kb; /* in the book of a rank, at most */
};

/* What the simulation itself took: all ranks are in this process. */
static void process_json(struct storm_json *json)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    storm_json_real(json, "process_cpu_seconds",
                    (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                        1e-6 * (double)(usage.ru_utime.tv_usec +
                                        usage.ru_stime.tv_usec));
    storm_json_real(json, "process_peak_mb", (double)usage.ru_maxrss / 1024);
}

static storm_status write_json(const struct lab_case *what,
                               const struct storm_run_summary *summary,
                               const struct lab_result *result)
{
    const struct lab_totals *start = &result->start, *end = &result->end;
    struct storm_json json;
    storm_bench_json_begin(&json, "lab", summary);
    storm_json_text(&json, "arguments", what->arguments);
    storm_json_real(&json, "event_s", what->event_s);
    storm_json_real(&json, "cells_per_rank", what->cells_per_rank);
    storm_json_real(&json, "crossings", what->crossings);
    storm_json_uint(&json, "timed_cycles", (uint64_t)what->timed);
    storm_json_real(&json, "messages_per_rank",
                    end->mean_messages - start->mean_messages);
    storm_json_real(&json, "operations_per_rank", end->mean_operations);
    storm_json_real(&json, "bytes_per_rank",
                    end->mean_bytes - start->mean_bytes);
    storm_json_real(&json, "memory_per_rank_kb", result->memory_kb);
    storm_json_real(&json, "start_seconds", result->start_s);
    storm_json_real(&json, "start_messages_mean", start->mean_messages);
    storm_json_uint(&json, "start_messages_max", start->max_messages);
    storm_json_uint(&json, "start_collectives", start->max_collectives);
    process_json(&json);
    char *text = storm_bench_json_end(&json);
    FILE *file = text ? fopen(what->json, "w") : NULL;
    bool written = file && fputs(text, file) >= 0;
    if (file && fclose(file) != 0)
        written = false;
    free(text);
    return written ? STORM_OK : STORM_ERR_IO;
}

static storm_status run_rank(const struct lab_case *what,
                             struct storm_context *context, double began)
{
    const struct storm_bench_uniform_params params = {
        .mesh = STORM_MESH_CARTESIAN,
        .cells_per_rank = (uint64_t)what->cells_per_rank,
        .crossings = what->crossings,
        .emit = (uint32_t)what->emit,
        .cycles = (uint32_t)what->cycles,
        .timed = (uint32_t)what->timed,
    };
    struct storm_uniform problem;
    struct storm_uniform_pass pass = {0};
    struct storm_run_summary summary = {0};
    struct lab_rank rank = {.what = what};
    struct lab_result result = {.memory_kb = 0};
    storm_status status = storm_uniform_prepare(context, &params, &problem);
    if (status < 0)
        return status;
    status = storm_uniform_open(&pass, &problem, context, STORM_TALLY_EXACT);
    result.start_s = storm_sim_now() - began;
    if (status >= 0)
        status = lab_count_sum(context, &result.start);
    if (status >= 0)
        status = storm_context_reduce(context, &result.start_s, 1, MPI_DOUBLE,
                                      MPI_MAX);
    if (status >= 0)
        status = charge_for(&rank, &pass);
    if (status >= 0)
        status = run_cycles(&pass, &summary);
    if (status >= 0)
        status = lab_count_sum(context, &result.end);
    result.memory_kb = booked_kb(context);
    if (status >= 0)
        status = storm_context_reduce(context, &result.memory_kb, 1, MPI_DOUBLE,
                                      MPI_MAX);
    if (status >= 0 && storm_context_rank(context) == 0)
        status = write_json(what, &summary, &result);
    storm_uniform_close(&pass);
    return storm_context_agree(context, status);
}

static storm_status run_main(int argc, char **argv,
                             struct storm_options *options)
{
    struct lab_case what;
    struct storm_context *context;
    const struct storm_context_params params = {.size = sizeof params,
                                                .options = options};
    char problem[256] = "";
    if (storm_options_set_from_env(options, problem, sizeof problem) < 0) {
        fprintf(stderr, "storm-sim: %s\n", problem);
        return STORM_ERR_ARG;
    }
    /* A GPU would compute for all ranks in no simulated time. */
    if (storm_options_set(options, "transport.device", "none", NULL, 0) < 0 ||
        !read_flags(&what, options, argc, argv))
        return STORM_ERR_ARG;
    double began = storm_sim_now();
    storm_status status =
        storm_context_create(MPI_COMM_WORLD, &params, &context);
    if (status == STORM_OK) {
        status = run_rank(&what, context, began);
        storm_context_destroy(context);
    }
    return status;
}

int main(int argc, char **argv)
{
    struct storm_options *options;
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS)
        return EXIT_FAILURE;
    storm_status status = storm_options_create(&options);
    if (status == STORM_OK) {
        status = run_main(argc, argv, options);
        storm_options_destroy(options);
    }
    MPI_Finalize();
    return status < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
