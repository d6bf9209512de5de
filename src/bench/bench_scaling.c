/* SPDX-License-Identifier: BSD-3-Clause */
/* Uniform emission over more and more ranks, for every backend. */
#include "bench/bench_scaling.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"

/* Shorter looks at the bare kernel than for one run alone: there are many. */
static const double scaling_kernel_seconds = 0.1;

/* ---- what follows from the times ----------------------------------------- */

const struct storm_scaling_point *
storm_scaling_at(const struct storm_scaling *scaling, size_t i_ranks,
                 size_t i_backend)
{
    return &scaling->points[i_ranks * scaling->n_backends + i_backend];
}

double storm_scaling_seconds(const struct storm_scaling *scaling,
                             const struct storm_scaling_point *point)
{
    return point->best.summary.seconds / scaling->params.uniform.timed;
}

double storm_scaling_median(const struct storm_scaling *scaling,
                            const struct storm_scaling_point *point)
{
    return storm_bench_median(point->seconds, scaling->params.repeat) /
           scaling->params.uniform.timed;
}

double storm_scaling_ideal(const struct storm_scaling *scaling, size_t i_ranks,
                           size_t i_backend)
{
    const struct storm_scaling_point *first =
        storm_scaling_at(scaling, 0, i_backend);
    double seconds = storm_scaling_seconds(scaling, first);
    return scaling->params.mode == STORM_BENCH_WEAK
               ? seconds
               : seconds * first->ranks / scaling->ranks[i_ranks];
}

double storm_scaling_efficiency(const struct storm_scaling *scaling,
                                size_t i_ranks, size_t i_backend)
{
    return storm_scaling_ideal(scaling, i_ranks, i_backend) /
           storm_scaling_seconds(scaling,
                                 storm_scaling_at(scaling, i_ranks, i_backend));
}

double storm_scaling_over_p2p(const struct storm_scaling *scaling,
                              size_t i_ranks, size_t i_backend)
{
    const struct storm_scaling_point *point =
        storm_scaling_at(scaling, i_ranks, i_backend);
    for (size_t i = 0; i < scaling->n_backends; i++)
        if (strcmp(scaling->backends[i], "p2p") == 0)
            return storm_scaling_seconds(scaling,
                                         storm_scaling_at(scaling, i_ranks,
                                                          i)) /
                   storm_scaling_seconds(scaling, point);
    return (double)NAN;
}

double storm_scaling_kernel(const struct storm_scaling *scaling, size_t i_ranks)
{
    double best = 0.0;
    for (size_t i = 0; i < scaling->n_backends; i++)
        best = fmax(best, storm_scaling_at(scaling, i_ranks, i)->kernel_rate);
    return best;
}

double storm_scaling_kernel_ratio(const struct storm_scaling *scaling,
                                  size_t i_ranks, size_t i_backend)
{
    const struct storm_run_summary *s =
        &storm_scaling_at(scaling, i_ranks, i_backend)->best.summary;
    return (double)s->timed.events / (s->seconds * s->ranks) /
           storm_scaling_kernel(scaling, i_ranks);
}

/* ---- one point ----------------------------------------------------------- */

/* One repeat of a point. */
struct scaling_pass {
    const struct storm_scaling *scaling;
    struct storm_scaling_point *point;
    double told, share; /* of the whole: done before, and part of, this */
    struct storm_uniform_result result;
};

/* The time step goes with the number of ranks P as P^(-4/3) or, for weak
 * scaling, P^(-1/3): the first third keeps the cells that a packet crosses. */
static struct storm_bench_uniform_params
scaling_problem(const struct storm_scaling *scaling, int ranks)
{
    struct storm_bench_uniform_params problem = scaling->params.uniform;
    double more = (double)ranks / (double)scaling->ranks[0];
    double less = scaling->params.mode == STORM_BENCH_WEAK ? 1.0 : 1.0 / more;
    problem.picture = false;
    problem.crossings *= less;
    problem.dt_s *= less / cbrt(more);
    return problem;
}

static storm_status scaling_body(struct storm_context *own, void *self)
{
    struct scaling_pass *pass = self;
    struct storm_scaling_point *point = pass->point;
    const struct storm_bench_uniform_params params =
        scaling_problem(pass->scaling, point->ranks);
    struct storm_uniform u;
    char what[64];
    storm_status status = storm_uniform_prepare(own, &params, &u);
    if (status < 0)
        return status;
    snprintf(what, sizeof what, "%d rank%s, %s, ", point->ranks,
             point->ranks == 1 ? "" : "s", point->backend);
    u.what = what;
    u.told = pass->told;
    u.share = pass->share;
    if (!(u.params.kernel_seconds > 0.0))
        u.kernel_seconds = scaling_kernel_seconds;
    struct storm_uniform_pass uniform;
    status = storm_uniform_open(&uniform, &u, own, STORM_TALLY_EXACT);
    if (status >= 0)
        status = storm_uniform_measure(&uniform, &pass->result);
    storm_uniform_close(&uniform);
    double crowded = storm_context_env(own)->crowded ? 1.0 : 0.0;
    if (status >= 0)
        status = storm_bench_max(own, &crowded);
    point->oversubscribed = crowded > 0.0;
    point->dt_s = u.dt_s;
    return status;
}

/* With as many ranks, every backend and every repeat does the same. */
static storm_status scaling_compare(const struct scaling_pass *pass,
                                    const struct storm_scaling_point *other)
{
    const struct storm_run_summary *a = &pass->result.summary;
    const struct storm_run_summary *b = &other->best.summary;
    bool same =
        a->timed.events == b->timed.events && a->state_hash == b->state_hash;
    if (same || other->kernel_rate == 0.0)
        return STORM_OK;
    storm_context_log(pass->scaling->context, STORM_LOG_ERROR,
                      "wrong result: on %d ranks backend %s made %" PRIu64
                      " steps to state %016" PRIx64 ", but %s made %" PRIu64
                      " to %016" PRIx64,
                      pass->point->ranks, pass->point->backend, a->timed.events,
                      a->state_hash, other->backend, b->timed.events,
                      b->state_hash);
    return STORM_ERR_STATE;
}

/* Rank 0 keeps the best, and compares. */
static storm_status scaling_keep(struct scaling_pass *pass, size_t i_ranks,
                                 uint32_t repeat)
{
    struct storm_scaling_point *point = pass->point;
    storm_status status = STORM_OK;
    for (size_t i = 0; status >= 0 && i < pass->scaling->n_backends; i++)
        status =
            scaling_compare(pass, storm_scaling_at(pass->scaling, i_ranks, i));
    point->seconds[repeat] = pass->result.summary.seconds;
    point->kernel_rate = fmax(point->kernel_rate, pass->result.kernel_rate);
    if (repeat == 0 ||
        pass->result.summary.seconds < point->best.summary.seconds)
        point->best = pass->result;
    return status;
}

/* ---- all points ---------------------------------------------------------- */

static storm_status scaling_measure(struct storm_scaling *scaling,
                                    size_t i_ranks, size_t i_backend,
                                    uint32_t repeat)
{
    size_t n = scaling->n_backends, repeats = scaling->params.repeat;
    double share = 1.0 / (double)(scaling->n_ranks * n * repeats);
    struct storm_scaling_point *point =
        &scaling->points[i_ranks * n + i_backend];
    struct scaling_pass pass = {
        .scaling = scaling, .point = point, .share = share};
    /* Every backend comes first in turn, so that drift does not favour one. */
    size_t in_turn = (i_backend + n - repeat % n) % n;
    pass.told = share * (double)((i_ranks * repeats + repeat) * n + in_turn);
    struct storm_bench_crew crew = {point->ranks, point->backend};
    storm_status status =
        storm_bench_crew_run(scaling->context, &crew, scaling_body, &pass);
    if (status >= 0 && storm_context_rank(scaling->context) == 0)
        status = scaling_keep(&pass, i_ranks, repeat);
    return status == STORM_ERR_LOST
               ? status
               : storm_context_agree(scaling->context, status);
}

static storm_status scaling_run(struct storm_scaling *scaling)
{
    size_t n = scaling->n_backends;
    storm_status status = STORM_OK;
    for (size_t i = 0; i < scaling->n_ranks; i++)
        for (uint32_t repeat = 0; repeat < scaling->params.repeat; repeat++)
            for (size_t k = 0; status >= 0 && k < n; k++)
                status = scaling_measure(scaling, i, (k + repeat) % n, repeat);
    return status;
}

static storm_status scaling_make_points(struct storm_scaling *scaling)
{
    size_t n = scaling->n_ranks * scaling->n_backends;
    scaling->points = calloc(n, sizeof *scaling->points);
    storm_status status = scaling->points != NULL ? STORM_OK : STORM_ERR_NOMEM;
    for (size_t i = 0; status >= 0 && i < n; i++) {
        struct storm_scaling_point *point = &scaling->points[i];
        point->ranks = (int)scaling->ranks[i / scaling->n_backends];
        point->backend = scaling->backends[i % scaling->n_backends];
        point->seconds = calloc(scaling->params.repeat, sizeof(double));
        status = point->seconds != NULL ? STORM_OK : STORM_ERR_NOMEM;
    }
    return storm_context_agree(scaling->context, status);
}

static void scaling_clear(struct storm_scaling *scaling)
{
    size_t n = scaling->n_ranks * scaling->n_backends;
    for (size_t i = 0; scaling->points != NULL && i < n; i++)
        free(scaling->points[i].seconds);
    free(scaling->points);
    free(scaling->ranks);
}

/* Zeros become the defaults. */
static storm_status
scaling_prepare(struct storm_context *context,
                const struct storm_bench_scaling_params *params,
                struct storm_scaling *scaling)
{
    struct storm_uniform problem;
    struct storm_bench_uniform_params *uniform = &scaling->params.uniform;
    if (params->uniform.cells > 0 || params->uniform.costs > 0) {
        if (storm_context_rank(context) == 0)
            storm_context_log(context, STORM_LOG_ERROR,
                              "the scaling benchmark takes cells per rank, "
                              "and measures no costs");
        return STORM_ERR_ARG;
    }
    if (scaling->params.repeat == 0)
        scaling->params.repeat = 3;
    if (uniform->cells_per_rank == 0)
        uniform->cells_per_rank = 5000;
    if (!(uniform->crossings > 0.0))
        uniform->crossings = 60.0;
    storm_status status = storm_uniform_prepare(context, uniform, &problem);
    if (status < 0)
        return status;
    double dt_s = uniform->dt_s; /* the problem has one for all ranks */
    *uniform = problem.params;
    uniform->cells = 0;
    uniform->dt_s = dt_s;
    status =
        storm_bench_rank_counts(context, params->ranks.value, params->ranks.n,
                                &scaling->ranks, &scaling->n_ranks);
    if (status >= 0)
        status = storm_bench_backends(context, params->backends,
                                      scaling->backends, &scaling->n_backends);
    return status < 0 ? status : scaling_make_points(scaling);
}

storm_status
storm_bench_scaling(struct storm_context *context,
                    const struct storm_bench_scaling_params *params,
                    struct storm_run_report **report_out)
{
    struct storm_scaling scaling = {.context = context, .params = *params};
    char *parts[STORM_RUN_N_PARTS] = {NULL};
    storm_status status = scaling_prepare(context, params, &scaling);
    if (status >= 0)
        status = scaling_run(&scaling);
    if (status >= 0 && storm_context_rank(context) == 0) {
        parts[STORM_RUN_JSON] = storm_scaling_json(&scaling);
        parts[STORM_RUN_TABLE] = storm_scaling_table(&scaling);
        if (params->uniform.picture) {
            parts[STORM_RUN_PICTURE] = storm_scaling_picture(&scaling);
            if (parts[STORM_RUN_PICTURE] == NULL)
                status = STORM_ERR_NOMEM;
        }
    }
    scaling_clear(&scaling);
    return storm_run_report_make(context, status, parts, report_out);
}
