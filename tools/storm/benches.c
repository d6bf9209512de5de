/* SPDX-License-Identifier: BSD-3-Clause */
/* What benchmarks there are, and their flags: parser and help read this. */
#include <stdio.h>
#include <string.h>

#include <storm/info.h>

#include "tool.h"

/* Rows of several benchmarks. */
#define DISTRIBUTION_FLAG(_help) \
    TOOL_TEXT_FLAG("--distribution", "KIND", distribution, _help)
#define MESH_FLAG(_help) TOOL_TEXT_FLAG("--mesh", "KIND", mesh, _help)
#define REPEAT_FLAG(_help) TOOL_COUNT_FLAG("--repeat", repeat, 1e4, _help)
#define TIMED_FLAG(_help) TOOL_COUNT_FLAG("--timed", timed, 1e6, _help)
#define CYCLES_FLAG(_help) TOOL_COUNT_FLAG("--cycles", cycles, 1e6, _help)
#define CELLS_FLAG(_help) TOOL_COUNT_FLAG("--cells", cells, 1e12, _help)
#define CELLS_PER_RANK_FLAG                                  \
    TOOL_COUNT_FLAG("--cells-per-rank", cells_per_rank, 1e9, \
                    "cells for each rank (default 5000)")
#define EMIT_FLAG(_max)                   \
    TOOL_COUNT_FLAG("--emit", emit, _max, \
                    "packets per cell and cycle (default 5)")
#define CROSSINGS_FLAG(_help)                                     \
    {                                                             \
        .name = "--crossings", .value = "X", .kind = TOOL_REAL,   \
        .offset = TOOL_FIELD(crossings), .min = 1e-6, .max = 1e9, \
        .help = _help                                             \
    }

/* Flags of everything that is uniform emission. */
#define UNIFORM_FLAGS                                                       \
    {.name = "--lloyd",                                                     \
     .value = "N",                                                          \
     .kind = TOOL_COUNT,                                                    \
     .offset = TOOL_FIELD(lloyd),                                           \
     .min = 0,                                                              \
     .max = 1e6,                                                            \
     .help = "voronoi: relaxations of the mesh (default 5)"},               \
        DISTRIBUTION_FLAG("voronoi: points before them, uniform (default) " \
                          "or clustered"),                                  \
        CELLS_PER_RANK_FLAG, EMIT_FLAG(1e9),                                \
        CYCLES_FLAG("time steps (default 5); packets accumulate"),          \
        TIMED_FLAG("of them, the last ones that count (default 3)"),        \
        {.name = "--kernel-seconds",                                        \
         .value = "S",                                                      \
         .kind = TOOL_REAL,                                                 \
         .offset = TOOL_FIELD(kernel_seconds),                              \
         .min = 1e-6,                                                       \
         .max = 3600,                                                       \
         .help = "for each look at the bare kernel"},                       \
    {                                                                       \
        .name = "--dt", .value = "S", .kind = TOOL_REAL,                    \
        .offset = TOOL_FIELD(dt_s), .min = 1e-30, .max = 1e30,              \
        .help = "length of a cycle in seconds, instead of --crossings"      \
    }

static const struct tool_flag uniform_flags[] = {
    MESH_FLAG("cartesian (default) or voronoi"),
    CELLS_FLAG("cells in all; rounded to the nearest cube-like box"),
    CROSSINGS_FLAG("cells a packet crosses in a cycle (default 15)"),
    UNIFORM_FLAGS,
    TOOL_SWITCH_FLAG("--costs", costs,
                     "measure what exact sums and statistics cost, too"),
    TOOL_SWITCH_FLAG(
        "--demo", demo,
        "a larger case with a table and a picture, in out/uniform"),
    {.name = NULL}};

/* Flags of everything that compares ranks and backends. */
#define CREW_FLAGS                                                         \
    {.name = "--ranks",                                                    \
     .value = "LIST",                                                      \
     .kind = TOOL_LIST,                                                    \
     .offset = TOOL_FIELD(rank_counts),                                    \
     .min = 1,                                                             \
     .max = 1e6,                                                           \
     .help = "numbers of ranks, rising, such as 1,2,4"},                   \
        TOOL_TEXT_FLAG("--backends", "LIST", backends,                     \
                       "backends, with commas between (default: all that " \
                       "work here), each without shared memory unless "    \
                       "--shm is given")

static const struct tool_flag scaling_flags[] = {
    TOOL_TEXT_FLAG(
        "--mode", "WORD", mode,
        "strong (default): as many steps in all; weak: on each rank"),
    CREW_FLAGS,
    REPEAT_FLAG("times to measure each; the best counts (default 3)"),
    MESH_FLAG("voronoi (default) or cartesian"),
    CROSSINGS_FLAG(
        "cells crossed in a cycle with the fewest ranks (default 60)"),
    UNIFORM_FLAGS,
    {.name = NULL}};

static const struct tool_flag breakdown_flags[] = {
    TOOL_TEXT_FLAG("--deck", "FILE", deck,
                   "the deck to run; --set overrides its entries"),
    CREW_FLAGS,
    REPEAT_FLAG("times to run each; the fastest counts (default 1)"),
    {.name = NULL}};

static const struct tool_flag imc_flags[] = {
    MESH_FLAG("voronoi (default) or cartesian"),
    CELLS_PER_RANK_FLAG,
    CELLS_FLAG("cells in all"),
    EMIT_FLAG(1e6),
    CYCLES_FLAG("time steps (default 8)"),
    TIMED_FLAG("of them, the last ones that count (default 5)"),
    {.name = NULL}};

static const struct tool_flag voronoi_flags[] = {
    CELLS_FLAG("cells in all (default 100000)"),
    DISTRIBUTION_FLAG("uniform (default), clustered or lattice"),
    REPEAT_FLAG("times to build; the median counts (default 3)"),
    {.name = NULL}};

static const struct tool_flag exchange_flags[] = {
    TOOL_COUNT_FLAG("--records", records, 1e12,
                    "records in all (default 800000)"),
    REPEAT_FLAG("times to do it; the median counts (default 6)"),
    {.name = NULL}};

static const struct tool_flag ring_flags[] = {
    TOOL_TEXT_FLAG(
        "--backends", "LIST", backends,
        "backends, separated by commas (default: that of --backend, or "
        "all in this build)"),
    {.name = "--batch",
     .value = "LIST",
     .kind = TOOL_LIST,
     .offset = TOOL_FIELD(batches),
     .min = 1,
     .max = 65536,
     .help = "records published at once (default 1,8,64,512)"},
    {.name = "--seconds",
     .value = "S",
     .kind = TOOL_REAL,
     .offset = TOOL_FIELD(seconds),
     .min = 1e-3,
     .max = 3600,
     .help = "time for each measurement, at least 0.08 (default 0.2)"},
    {.name = NULL}};

static const struct tool_flag termination_flags[] = {
    TOOL_COUNT_FLAG("--steps", steps, 1e6, "times to measure it (default 200)"),
    {.name = NULL}};

/* ---- what flags mean together -------------------------------------------- */

/* The kind of points a word stands for; false: none. */
static bool voronoi_points(const char *word, storm_points_kind *kind_out)
{
    static const struct {
        const char *word;
        storm_points_kind kind;
    } kinds[] = {{"uniform", STORM_POINTS_RANDOM},
                 {"clustered", STORM_POINTS_CLUSTERED},
                 {"lattice", STORM_POINTS_LATTICE}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(word, kinds[i].word) == 0) {
            *kind_out = kinds[i].kind;
            return true;
        }
    return false;
}

static int voronoi_check(struct tool_args *args)
{
    storm_points_kind kind;
    if (args->distribution == NULL)
        args->distribution = "uniform";
    if (!voronoi_points(args->distribution, &kind))
        return tool_usage("--distribution %s: must be uniform, clustered or "
                          "lattice",
                          args->distribution);
    return TOOL_OK;
}

/* Sizes of the demonstration: half a minute on two cores. */
static void uniform_demo(struct tool_args *args)
{
    if (args->cells == 0 && args->cells_per_rank == 0)
        args->cells = 27000;
    if (args->cycles == 0)
        args->cycles = 15;
    if (args->dt_s == 0.0 && args->crossings == 0.0)
        args->crossings = 160.0;
    if (args->timed == 0)
        args->timed = args->cycles < 5 ? args->cycles : 5;
    if (args->out == NULL)
        args->out = "out/uniform";
}

/* The kind of mesh of that name; STORM_N_MESH_KINDS: there is none. */
static enum storm_mesh_kind mesh_kind(const char *name)
{
    size_t i = 0;
    while (i < STORM_N_MESH_KINDS && strcmp(storm_mesh_kind_name(i), name) != 0)
        i++;
    return (enum storm_mesh_kind)i;
}

/* `mesh` is one of those this build has. */
static int mesh_check(const struct tool_args *args)
{
    char built[128] = "";
    if (storm_mesh_kind_built(mesh_kind(args->mesh)))
        return TOOL_OK;
    for (size_t i = 0; i < STORM_N_MESH_KINDS; i++)
        if (storm_mesh_kind_built(i))
            snprintf(built + strlen(built), sizeof built - strlen(built),
                     "%s%s", built[0] != '\0' ? ", " : "",
                     storm_mesh_kind_name(i));
    return tool_usage("mesh '%s' is not part of this build; built here: %s",
                      args->mesh, built);
}

/* Cells are told in one way, and there are as many cycles as are timed. */
static int cycles_check(const struct tool_args *args, uint64_t usual)
{
    uint64_t cycles = args->cycles > 0 ? args->cycles : usual;
    if (args->cells > 0 && args->cells_per_rank > 0)
        return tool_usage("--cells and --cells-per-rank do not go together");
    if (args->timed > cycles)
        return tool_usage("--timed %llu: there are only %llu cycles",
                          (unsigned long long)args->timed,
                          (unsigned long long)cycles);
    return TOOL_OK;
}

/* The problem of uniform emission, whatever is done with it. */
static int emission_check(struct tool_args *args)
{
    bool is_voronoi = strcmp(args->mesh, "voronoi") == 0;
    int status = mesh_check(args);
    if (status != TOOL_OK)
        return status;
    if ((args->lloyd != TOOL_NOT_GIVEN || args->distribution != NULL) &&
        !is_voronoi)
        return tool_usage("--lloyd and --distribution are for --mesh voronoi");
    if (args->lloyd == TOOL_NOT_GIVEN)
        args->lloyd = 5;
    if (args->dt_s > 0.0 && args->crossings > 0.0)
        return tool_usage("--dt and --crossings do not go together");
    status = voronoi_check(args);
    if (status != TOOL_OK)
        return status;
    if (strcmp(args->distribution, "lattice") == 0)
        return tool_usage("--distribution: must be uniform or clustered here");
    return cycles_check(args, 5);
}

static int imc_check(struct tool_args *args)
{
    if (args->mesh == NULL)
        args->mesh = "voronoi";
    int status = mesh_check(args);
    return status == TOOL_OK ? cycles_check(args, 8) : status;
}

static int uniform_check(struct tool_args *args)
{
    if (args->mesh == NULL)
        args->mesh = "cartesian";
    if (args->demo)
        uniform_demo(args);
    return emission_check(args);
}

static int nothing_to_check(struct tool_args *args)
{
    (void)args;
    return TOOL_OK;
}

/* The names in --backends, one by one. */
static int backends_check(const struct tool_args *args)
{
    char copy[256], *rest = NULL;
    const char *list = args->backends != NULL ? args->backends : "";
    if (snprintf(copy, sizeof copy, "%s", list) >= (int)sizeof copy)
        return tool_usage("--backends: too long");
    for (char *name = strtok_r(copy, ",", &rest); name != NULL;
         name = strtok_r(NULL, ",", &rest)) {
        int status = strcmp(name, "auto") == 0
                         ? tool_usage("--backends: name them one by one")
                         : tool_check_backend(name);
        if (status != TOOL_OK)
            return status;
    }
    return TOOL_OK;
}

/* As many ranks are started as the largest number in --ranks. */
static int crew_check(struct tool_args *args)
{
    const struct tool_list *list = &args->rank_counts;
    struct tool_launcher launcher = tool_launcher();
    for (size_t i = 1; i < list->n; i++)
        if (list->values[i] <= list->values[i - 1])
            return tool_usage("--ranks: the numbers must rise");
    uint64_t most = list->n > 0 ? list->values[list->n - 1] : 0;
    if (args->ranks == 0 && !launcher.is_there)
        args->ranks = most;
    uint64_t there = args->ranks > 0 ? args->ranks : (uint64_t)launcher.size;
    if (there > 0 && there < most)
        return tool_usage("--ranks %llu: there are only %llu",
                          (unsigned long long)most, (unsigned long long)there);
    return backends_check(args);
}

static int scaling_check(struct tool_args *args)
{
    if (args->mode == NULL)
        args->mode = "strong";
    if (args->mesh == NULL)
        args->mesh = "voronoi";
    if (strcmp(args->mode, "strong") != 0 && strcmp(args->mode, "weak") != 0)
        return tool_usage("--mode %s: must be strong or weak", args->mode);
    int status = emission_check(args);
    return status == TOOL_OK ? crew_check(args) : status;
}

static int breakdown_check(struct tool_args *args)
{
    if (args->deck == NULL)
        return tool_usage("breakdown: which deck? Name it with --deck");
    return crew_check(args);
}

static int ring_check(struct tool_args *args)
{
    if (args->ranks == 0 && !tool_launcher().is_there)
        args->ranks = 2;
    struct tool_launcher launcher = tool_launcher();
    if (args->ranks > 0 ? args->ranks != 2
                        : launcher.size > 0 && launcher.size != 2)
        return tool_usage("the ring benchmark is between 2 ranks");
    return backends_check(args);
}

/* ---- from flags to parameters -------------------------------------------- */

static struct storm_bench_uniform_params
emission_params(const struct tool_args *args,
                const struct storm_progress *progress)
{
    struct storm_bench_uniform_params params = {
        .mesh = mesh_kind(args->mesh),
        .lloyd = (uint32_t)args->lloyd,
        .cells = args->cells,
        .cells_per_rank = args->cells_per_rank,
        .emit = args->emit,
        .cycles = (uint32_t)args->cycles,
        .timed = (uint32_t)args->timed,
        .dt_s = args->dt_s,
        .crossings = args->crossings,
        .kernel_seconds = args->kernel_seconds,
        .picture = args->out != NULL,
        .progress = *progress,
    };
    (void)voronoi_points(args->distribution, &params.points); /* is checked */
    return params;
}

static storm_status uniform_run(struct storm_context *context,
                                const struct tool_args *args,
                                const struct storm_progress *progress,
                                struct storm_run_report **report_out)
{
    enum { REPEATS_OF_COSTS = 5 };
    struct storm_bench_uniform_params params = emission_params(args, progress);
    params.costs = args->costs ? REPEATS_OF_COSTS : 0;
    return storm_bench_uniform(context, &params, report_out);
}

static storm_status imc_run(struct storm_context *context,
                            const struct tool_args *args,
                            const struct storm_progress *progress,
                            struct storm_run_report **report_out)
{
    struct storm_bench_imc_params params = {
        .mesh = mesh_kind(args->mesh),
        .cells = args->cells,
        .cells_per_rank = args->cells_per_rank,
        .emit = args->emit,
        .cycles = (uint32_t)args->cycles,
        .timed = (uint32_t)args->timed,
        .progress = *progress,
    };
    return storm_bench_imc(context, &params, report_out);
}

static storm_status scaling_run(struct storm_context *context,
                                const struct tool_args *args,
                                const struct storm_progress *progress,
                                struct storm_run_report **report_out)
{
    bool weak = strcmp(args->mode, "weak") == 0;
    struct storm_bench_scaling_params params = {
        .mode = weak ? STORM_BENCH_WEAK : STORM_BENCH_STRONG,
        .ranks = args->rank_counts.values,
        .n_ranks = args->rank_counts.n,
        .backends = args->backends,
        .repeat = (uint32_t)args->repeat,
        .uniform = emission_params(args, progress),
    };
    return storm_bench_scaling(context, &params, report_out);
}

static storm_status breakdown_run(struct storm_context *context,
                                  const struct tool_args *args,
                                  const struct storm_progress *progress,
                                  struct storm_run_report **report_out)
{
    struct storm_bench_breakdown_params params = {
        .deck = args->loaded,
        .ranks = args->rank_counts.values,
        .n_ranks = args->rank_counts.n,
        .backends = args->backends,
        .repeat = (uint32_t)args->repeat,
        .picture = args->out != NULL,
        .progress = *progress,
    };
    return storm_bench_breakdown(context, &params, report_out);
}

static storm_status voronoi_run(struct storm_context *context,
                                const struct tool_args *args,
                                const struct storm_progress *progress,
                                struct storm_run_report **report_out)
{
    struct storm_bench_voronoi_params params = {
        .cells = args->cells,
        .repeat = (uint32_t)args->repeat,
        .voropp = tool_voropp,
        .progress = *progress,
    };
    if (!voronoi_points(args->distribution, &params.points))
        return STORM_ERR_ARG; /* voronoi_check has seen to it */
    return storm_bench_voronoi(context, &params, report_out);
}

static storm_status exchange_run(struct storm_context *context,
                                 const struct tool_args *args,
                                 const struct storm_progress *progress,
                                 struct storm_run_report **report_out)
{
    struct storm_bench_exchange_params params = {
        .records = args->records,
        .repeat = (uint32_t)args->repeat,
        .progress = *progress,
    };
    return storm_bench_exchange(context, &params, report_out);
}

static storm_status ring_run(struct storm_context *context,
                             const struct tool_args *args,
                             const struct storm_progress *progress,
                             struct storm_run_report **report_out)
{
    struct storm_bench_ring_params params = {
        .backends = args->backends,
        .batches = args->batches.values,
        .n_batches = args->batches.n,
        .seconds = args->seconds,
        .progress = *progress,
    };
    return storm_bench_ring(context, &params, report_out);
}

static storm_status termination_run(struct storm_context *context,
                                    const struct tool_args *args,
                                    const struct storm_progress *progress,
                                    struct storm_run_report **report_out)
{
    struct storm_bench_termination_params params = {
        .steps = (uint32_t)args->steps,
        .progress = *progress,
    };
    return storm_bench_termination(context, &params, report_out);
}

/* ---- the list ------------------------------------------------------------ */

const struct tool_bench tool_benches[] = {
    {.name = "uniform",
     .summary = "packets emitted everywhere in a transparent cube",
     .flags = uniform_flags,
     .picture = "density.svg",
     .check = uniform_check,
     .run = uniform_run},
    {.name = "imc",
     .summary = "implicit Monte Carlo in a cube in equilibrium",
     .flags = imc_flags,
     .check = imc_check,
     .run = imc_run},
    {.name = "scaling",
     .summary = "strong or weak scaling of uniform, all backends side by side",
     .flags = scaling_flags,
     .picture = "scaling.svg",
     .check = scaling_check,
     .run = scaling_run},
    {.name = "breakdown",
     .summary = "where the time of a deck goes, by ranks and backend",
     .flags = breakdown_flags,
     .picture = "breakdown.svg",
     .takes_deck = true,
     .check = breakdown_check,
     .run = breakdown_run},
    {.name = "voronoi",
     .summary = "building a Voronoi mesh, by all ranks and by one",
     .flags = voronoi_flags,
     .check = voronoi_check,
     .run = voronoi_run},
    {.name = "exchange",
     .summary = "records to random ranks",
     .flags = exchange_flags,
     .check = nothing_to_check,
     .run = exchange_run},
    {.name = "ring",
     .summary = "records between two ranks: stream and ping-pong",
     .flags = ring_flags,
     .check = ring_check,
     .run = ring_run},
    {.name = "termination",
     .summary = "from the end of the last packet until all ranks know",
     .flags = termination_flags,
     .check = nothing_to_check,
     .run = termination_run},
    {.name = NULL}};
