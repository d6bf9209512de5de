/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of benchmarks and their flags: parser and help read them. */
#include <stdio.h>
#include <string.h>

#include <storm/info.h>

#include "tool.h"

/* Rows of several benchmarks; _in is where the parameters are. */
#define MESH_FLAG(_in, _help) \
    TOOL_WORD_FLAG("--mesh", "KIND", _in.mesh, STORM_MESH_WORDS, _help)
#define REPEAT_FLAG(_in, _help) \
    TOOL_COUNT32_FLAG("--repeat", _in.repeat, 1e4, _help)
#define CELLS_FLAG(_in, _help) \
    TOOL_COUNT_FLAG("--cells", _in.cells, 1e12, _help)
#define CROSSINGS_FLAG(_in, _help) \
    TOOL_REAL_FLAG("--crossings", "X", _in.crossings, 1e-6, 1e9, _help)
#define BACKENDS_FLAG(_in, _help) \
    TOOL_TEXT_FLAG("--backends", "LIST", _in.backends, _help)
#define CELLS_PER_RANK_FLAG(_in)                                 \
    TOOL_COUNT_FLAG("--cells-per-rank", _in.cells_per_rank, 1e9, \
                    "cells for each rank (default 5000)")
#define EMIT_FLAG(_in, _max)                  \
    TOOL_COUNT_FLAG("--emit", _in.emit, _max, \
                    "packets per cell and cycle (default 5)")
#define CYCLES_FLAGS(_in, _cycles_help, _timed_help)              \
    TOOL_COUNT32_FLAG("--cycles", _in.cycles, 1e6, _cycles_help), \
        TOOL_COUNT32_FLAG("--timed", _in.timed, 1e6, _timed_help)

/* Flags of everything that is uniform emission. */
#define UNIFORM_FLAGS(_in)                                                  \
    TOOL_NUMBER_FLAG("--lloyd", TOOL_COUNT32, "N", _in.lloyd, 0, 1e6,       \
                     "voronoi: relaxations of the mesh (default 5)"),       \
        TOOL_WORD_FLAG(                                                     \
            "--distribution", "KIND", _in.points, "uniform|clustered",      \
            "voronoi: points before relaxation, uniform (default) or "      \
            "clustered"),                                                   \
        CELLS_PER_RANK_FLAG(_in), EMIT_FLAG(_in, 1e9),                      \
        CYCLES_FLAGS(_in, "time steps (default 5); packets accumulate",     \
                     "number of last cycles that are timed (default 3)"),   \
        TOOL_REAL_FLAG("--kernel-seconds", "S", _in.kernel_seconds, 1e-6,   \
                       3600, "seconds per measurement of the bare kernel"), \
        TOOL_REAL_FLAG("--dt", "S", _in.dt_s, 1e-30, 1e30,                  \
                       "length of a cycle in seconds, instead of --crossings")

static const struct tool_flag uniform_flags[] = {
    MESH_FLAG(params.uniform, "cartesian (default), octree or voronoi"),
    CELLS_FLAG(params.uniform,
               "total number of cells; rounded to the nearest cube-like box"),
    CROSSINGS_FLAG(params.uniform,
                   "cells a packet crosses in a cycle (default 15)"),
    UNIFORM_FLAGS(params.uniform),
    TOOL_SWITCH_FLAG("--costs", costs,
                     "also measure the cost of exact sums and statistics"),
    TOOL_SWITCH_FLAG(
        "--demo", demo,
        "a larger case with a table and a picture, in out/uniform"),
    {.name = NULL}};

/* Flags of everything that compares ranks and backends. */
#define CREW_FLAGS(_in)                                                        \
    TOOL_LIST_FLAG("--ranks", _in.ranks, 1, 1e6,                               \
                   "numbers of ranks, rising, such as 1,2,4"),                 \
        BACKENDS_FLAG(_in, "backends, separated by commas (default: all that " \
                           "work here), each without shared memory unless "    \
                           "--shm is given")

static const struct tool_flag scaling_flags[] = {
    TOOL_WORD_FLAG("--mode", "WORD", params.scaling.mode, "strong|weak",
                   "strong (default): same total steps; weak: same per rank"),
    CREW_FLAGS(params.scaling),
    REPEAT_FLAG(params.scaling,
                "repeats of each point; the best counts (default 3)"),
    MESH_FLAG(params.scaling.uniform, "voronoi (default), cartesian or octree"),
    CROSSINGS_FLAG(
        params.scaling.uniform,
        "cells crossed in a cycle with the fewest ranks (default 60)"),
    UNIFORM_FLAGS(params.scaling.uniform),
    {.name = NULL}};

static const struct tool_flag breakdown_flags[] = {
    TOOL_TEXT_FLAG("--deck", "FILE", deck,
                   "the deck to run; --set overrides its entries"),
    CREW_FLAGS(params.breakdown),
    REPEAT_FLAG(params.breakdown,
                "repeats of each run; the fastest counts (default 1)"),
    {.name = NULL}};

static const struct tool_flag imc_flags[] = {
    MESH_FLAG(params.imc, "voronoi (default), cartesian or octree"),
    CELLS_PER_RANK_FLAG(params.imc),
    CELLS_FLAG(params.imc, "total number of cells"),
    EMIT_FLAG(params.imc, 1e6),
    TOOL_COUNT32_FLAG("--groups", params.imc.groups, 1e4,
                      "groups of energy (default 1: grey)"),
    CYCLES_FLAGS(params.imc, "time steps (default 8)",
                 "number of last cycles that are timed (default 5)"),
    {.name = NULL}};

static const struct tool_flag voronoi_flags[] = {
    CELLS_FLAG(params.voronoi, "total number of cells (default 100000)"),
    TOOL_WORD_FLAG("--distribution", "KIND", params.voronoi.points,
                   "uniform|clustered|lattice",
                   "uniform (default), clustered or lattice"),
    REPEAT_FLAG(params.voronoi,
                "repeats of the build; the median counts (default 3)"),
    {.name = NULL}};

static const struct tool_flag motion_flags[] = {
    CELLS_PER_RANK_FLAG(params.motion),
    CELLS_FLAG(params.motion, "total number of cells"),
    TOOL_REAL_FLAG("--speed", "X", params.motion.speed, 1e-6, 1e3,
                   "cell sizes that generators move per step (default 0.1; "
                   "with --ranks 0.01, 0.1 and 1)"),
    TOOL_LIST_FLAG("--ranks", params.motion.ranks, 1, 1e6,
                   "measure with each of these numbers of ranks, rising, such "
                   "as 1,2,4"),
    TOOL_COUNT32_FLAG("--cycles", params.motion.cycles, 1e6,
                      "time steps (default 6)"),
    {.name = NULL}};

static const struct tool_flag exchange_flags[] = {
    TOOL_COUNT_FLAG("--records", params.exchange.records, 1e12,
                    "total number of records (default 800000)"),
    REPEAT_FLAG(params.exchange, "repeats; the median counts (default 6)"),
    {.name = NULL}};

static const struct tool_flag ring_flags[] = {
    BACKENDS_FLAG(
        params.ring,
        "backends, separated by commas (default: that of --backend, or "
        "all in this build)"),
    TOOL_LIST_FLAG("--batch", params.ring.batches, 1, 65536,
                   "records published at once (default 1,8,64,512)"),
    TOOL_REAL_FLAG("--seconds", "S", params.ring.seconds, 1e-3, 3600,
                   "time for each measurement, at least 0.08 (default 0.2)"),
    {.name = NULL}};

static const struct tool_flag termination_flags[] = {
    TOOL_COUNT32_FLAG("--steps", params.termination.steps, 1e6,
                      "number of measurements (default 200)"),
    {.name = NULL}};

/* ---- what flags mean together -------------------------------------------- */

/* Sizes of the demonstration: half a minute on two cores. */
static void uniform_demo(struct tool_args *args)
{
    struct storm_bench_uniform_params *p = &args->params.uniform;
    if (p->cells == 0 && p->cells_per_rank == 0)
        p->cells = 27000;
    if (p->cycles == 0)
        p->cycles = 15;
    if (p->dt_s == 0.0 && p->crossings == 0.0)
        p->crossings = 160.0;
    if (p->timed == 0)
        p->timed = p->cycles < 5 ? p->cycles : 5;
    if (args->out == NULL)
        args->out = "out/uniform";
}

/* The mesh is one of those this build has. */
static int mesh_check(enum storm_mesh_kind kind)
{
    char built[128] = "";
    if (storm_mesh_kind_built(kind))
        return TOOL_OK;
    for (size_t i = 0; i < STORM_N_MESH_KINDS; i++)
        if (storm_mesh_kind_built(i))
            snprintf(built + strlen(built), sizeof built - strlen(built),
                     "%s%s", built[0] != '\0' ? ", " : "",
                     storm_mesh_kind_name(i));
    return tool_usage("mesh '%s' is not part of this build; built here: %s",
                      storm_mesh_kind_name(kind), built);
}

/* Cells are given in one way, and there are as many cycles as are timed. */
static int cycles_check(const struct tool_args *args, uint32_t timed,
                        uint32_t cycles)
{
    if (tool_given(args, "--cells") && tool_given(args, "--cells-per-rank"))
        return tool_usage("--cells and --cells-per-rank do not go together");
    if (timed > cycles)
        return tool_usage("--timed %u: there are only %u cycles", timed,
                          cycles);
    return TOOL_OK;
}

/* The problem of uniform emission, whatever is done with it. */
static int emission_check(const struct tool_args *args,
                          struct storm_bench_uniform_params *p)
{
    bool lloyd = tool_given(args, "--lloyd");
    if ((lloyd || tool_given(args, "--distribution")) &&
        p->mesh != STORM_MESH_VORONOI)
        return tool_usage("--lloyd and --distribution are for --mesh voronoi");
    if (!lloyd)
        p->lloyd = 5;
    if (p->dt_s > 0.0 && p->crossings > 0.0)
        return tool_usage("--dt and --crossings do not go together");
    p->picture = args->out != NULL;
    int status = mesh_check(p->mesh);
    return status != TOOL_OK
               ? status
               : cycles_check(args, p->timed, p->cycles > 0 ? p->cycles : 5);
}

static int imc_check(struct tool_args *args)
{
    struct storm_bench_imc_params *p = &args->params.imc;
    if (!tool_given(args, "--mesh"))
        p->mesh = STORM_MESH_VORONOI;
    int status = mesh_check(p->mesh);
    return status != TOOL_OK
               ? status
               : cycles_check(args, p->timed, p->cycles > 0 ? p->cycles : 8);
}

static int uniform_check(struct tool_args *args)
{
    enum { REPEATS_OF_COSTS = 5 };
    if (args->demo)
        uniform_demo(args);
    if (args->costs)
        args->params.uniform.costs = REPEATS_OF_COSTS;
    return emission_check(args, &args->params.uniform);
}

static int nothing_to_check(struct tool_args *args)
{
    (void)args;
    return TOOL_OK;
}

/* The names in --backends, one by one. */
static int backends_check(const char *list)
{
    char copy[256], *rest = NULL;
    if (snprintf(copy, sizeof copy, "%s", list != NULL ? list : "") >=
        (int)sizeof copy)
        return tool_usage("--backends: too long");
    for (char *name = strtok_r(copy, ",", &rest); name != NULL;
         name = strtok_r(NULL, ",", &rest)) {
        int status = strcmp(name, "auto") == 0
                         ? tool_usage("--backends: 'auto' is not a backend")
                         : tool_check_backend(name);
        if (status != TOOL_OK)
            return status;
    }
    return TOOL_OK;
}

/* As many ranks are started as the largest number in --ranks. */
static int crew_check(struct tool_args *args,
                      const struct storm_bench_numbers *ranks,
                      const char *backends)
{
    struct tool_launcher launcher = tool_launcher();
    for (size_t i = 1; i < ranks->n; i++)
        if (ranks->value[i] <= ranks->value[i - 1])
            return tool_usage("--ranks: the numbers must rise");
    uint64_t max = ranks->n > 0 ? ranks->value[ranks->n - 1] : 0;
    if (args->ranks == 0 && !launcher.is_there)
        args->ranks = max;
    uint64_t there = args->ranks > 0 ? args->ranks : (uint64_t)launcher.size;
    if (there > 0 && there < max)
        return tool_usage("--ranks %llu: there are only %llu",
                          (unsigned long long)max, (unsigned long long)there);
    return backends_check(backends);
}

static int scaling_check(struct tool_args *args)
{
    struct storm_bench_scaling_params *p = &args->params.scaling;
    if (!tool_given(args, "--mesh"))
        p->uniform.mesh = STORM_MESH_VORONOI;
    int status = emission_check(args, &p->uniform);
    return status == TOOL_OK ? crew_check(args, &p->ranks, p->backends)
                             : status;
}

static int breakdown_check(struct tool_args *args)
{
    struct storm_bench_breakdown_params *p = &args->params.breakdown;
    if (args->deck == NULL)
        return tool_usage("breakdown: no deck; name it with --deck");
    p->picture = args->out != NULL;
    return crew_check(args, &p->ranks, p->backends);
}

static int motion_check(struct tool_args *args)
{
    args->params.motion.picture = args->out != NULL;
    int status = cycles_check(args, 0, 0);
    return status == TOOL_OK
               ? crew_check(args, &args->params.motion.ranks, NULL)
               : status;
}

static int voronoi_check(struct tool_args *args)
{
    args->params.voronoi.voropp = tool_voropp;
    return TOOL_OK;
}

static int ring_check(struct tool_args *args)
{
    struct tool_launcher launcher = tool_launcher();
    if (args->ranks == 0 && !launcher.is_there)
        args->ranks = 2;
    if (args->ranks > 0 ? args->ranks != 2
                        : launcher.size > 0 && launcher.size != 2)
        return tool_usage("the ring benchmark is between 2 ranks");
    return backends_check(args->params.ring.backends);
}

/* ---- running them -------------------------------------------------------- */

/* A function that runs storm_bench_<name>; _progress is a member of its
 * parameters. */
#define RUN(_name, _progress)                                              \
    static storm_status _name##_run(struct storm_context *context,         \
                                    const struct tool_args *args,          \
                                    const struct storm_progress *progress, \
                                    struct storm_run_report **report_out)  \
    {                                                                      \
        struct storm_bench_##_name##_params params = args->params._name;   \
        params._progress = *progress;                                      \
        return storm_bench_##_name(context, &params, report_out);          \
    }

RUN(uniform, progress)
RUN(imc, progress)
RUN(scaling, uniform.progress)
RUN(voronoi, progress)
RUN(motion, progress)
RUN(exchange, progress)
RUN(ring, progress)
RUN(termination, progress)

static storm_status breakdown_run(struct storm_context *context,
                                  const struct tool_args *args,
                                  const struct storm_progress *progress,
                                  struct storm_run_report **report_out)
{
    struct storm_bench_breakdown_params params = args->params.breakdown;
    params.deck = args->loaded; /* read after the flags */
    params.progress = *progress;
    return storm_bench_breakdown(context, &params, report_out);
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
     .summary = "time of a deck by activity, for ranks and backends",
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
    {.name = "motion",
     .summary = "uniform on a moving mesh: build, remap, switch, step",
     .flags = motion_flags,
     .picture = "motion.svg",
     .check = motion_check,
     .run = motion_run},
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
     .summary = "time from the end of the last packet until all ranks know",
     .flags = termination_flags,
     .check = nothing_to_check,
     .run = termination_run},
    {.name = NULL}};
