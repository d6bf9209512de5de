/* SPDX-License-Identifier: BSD-3-Clause */
/* Uniform emission on increasing numbers of ranks, for every backend. */
#include "bench/bench_scaling.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/math.h"
#include "bench/bench_measure.h"

/* Measurements of the bare kernel are many, so they are short. */
static const double scaling_kernel_seconds = 0.1;

/* ---- what follows from the times ----------------------------------------- */

const struct storm_bench_point *
storm_scaling_at(const struct storm_scaling *scaling, size_t i_ranks,
                 size_t i_backend)
{
    return &scaling->points
                .point[i_ranks * scaling->points.n_backends + i_backend];
}

double storm_scaling_seconds(const struct storm_scaling *scaling,
                             const struct storm_bench_point *point)
{
    return point->best.seconds / scaling->params.uniform.timed;
}

double storm_scaling_median(const struct storm_scaling *scaling,
                            const struct storm_bench_point *point)
{
    return storm_bench_median(point->seconds, scaling->params.repeat) /
           scaling->params.uniform.timed;
}

double storm_scaling_ideal(const struct storm_scaling *scaling, size_t i_ranks,
                           size_t i_backend)
{
    const struct storm_bench_point *first =
        storm_scaling_at(scaling, 0, i_backend);
    double seconds = storm_scaling_seconds(scaling, first);
    return scaling->params.mode == STORM_BENCH_WEAK
               ? seconds
               : seconds * first->ranks / scaling->points.ranks[i_ranks];
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
    const struct storm_bench_point *point =
        storm_scaling_at(scaling, i_ranks, i_backend);
    for (size_t i = 0; i < scaling->points.n_backends; i++)
        if (strcmp(scaling->points.backends[i], "p2p") == 0)
            return storm_scaling_seconds(scaling,
                                         storm_scaling_at(scaling, i_ranks,
                                                          i)) /
                   storm_scaling_seconds(scaling, point);
    return (double)NAN;
}

double storm_scaling_kernel(const struct storm_scaling *scaling, size_t i_ranks)
{
    double best = 0.0;
    for (size_t i = 0; i < scaling->points.n_backends; i++)
        best = fmax(best, storm_scaling_at(scaling, i_ranks, i)->kernel_rate);
    return best;
}

double storm_scaling_kernel_ratio(const struct storm_scaling *scaling,
                                  size_t i_ranks, size_t i_backend)
{
    const struct storm_run_summary *s =
        &storm_scaling_at(scaling, i_ranks, i_backend)->best;
    return (double)s->timed.events / (s->seconds * s->ranks) /
           storm_scaling_kernel(scaling, i_ranks);
}

/* ---- one point ----------------------------------------------------------- */

/* The time step goes with the number of ranks P as P^(-4/3) or, for weak
 * scaling, P^(-1/3): the first third keeps the cells that a packet crosses. */
static struct storm_bench_uniform_params
scaling_problem(const struct storm_scaling *scaling, int ranks)
{
    struct storm_bench_uniform_params problem = scaling->params.uniform;
    double more = (double)ranks / (double)scaling->points.ranks[0];
    double less = scaling->params.mode == STORM_BENCH_WEAK ? 1.0 : 1.0 / more;
    problem.picture = false;
    problem.crossings *= less;
    problem.dt_s *= less / storm_cbrt(more);
    return problem;
}

static storm_status scaling_body(struct storm_context *own,
                                 struct storm_bench_pass *pass, void *self)
{
    struct storm_scaling *scaling = self;
    const struct storm_bench_uniform_params params =
        scaling_problem(scaling, pass->point->ranks);
    struct storm_uniform u;
    struct storm_uniform_pass uniform;
    struct storm_uniform_result result = {0};
    storm_status status = storm_uniform_prepare(own, &params, &u);
    if (status < 0)
        return status;
    u.what = pass->what;
    u.done = pass->done;
    u.share = pass->share;
    if (!(u.params.kernel_seconds > 0.0))
        u.kernel_seconds = scaling_kernel_seconds;
    status = storm_uniform_open(&uniform, &u, own, STORM_TALLY_EXACT);
    if (status >= 0)
        status = storm_uniform_measure(&uniform, &result);
    storm_uniform_close(&uniform);
    pass->summary = result.summary;
    pass->kernel_rate = result.kernel_rate;
    size_t i = (size_t)(pass->point - scaling->points.point);
    scaling->dt_s[i / scaling->points.n_backends] = u.dt_s;
    return status;
}

/* ---- the benchmark ------------------------------------------------------- */

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
    status = storm_bench_points_open(context, &params->ranks, params->backends,
                                     scaling->params.repeat, &scaling->points);
    if (status < 0)
        return status;
    scaling->dt_s = storm_bench_alloc(context, scaling->points.n_ranks,
                                      sizeof *scaling->dt_s);
    return storm_context_agree(context, scaling->dt_s != NULL
                                            ? STORM_OK
                                            : STORM_ERR_NOMEM);
}

storm_status
storm_bench_scaling(struct storm_context *context,
                    const struct storm_bench_scaling_params *params,
                    struct storm_run_report **report_out)
{
    struct storm_scaling scaling = {.params = *params};
    char *parts[STORM_RUN_N_PARTS] = {NULL};
    storm_status status = scaling_prepare(context, params, &scaling);
    if (status >= 0)
        status = storm_bench_points_run(&scaling.points, false, scaling_body,
                                        &scaling);
    if (status >= 0 && storm_context_rank(context) == 0) {
        parts[STORM_RUN_JSON] = storm_scaling_json(&scaling);
        parts[STORM_RUN_TABLE] = storm_scaling_table(&scaling);
        if (params->uniform.picture) {
            parts[STORM_RUN_PICTURE] = storm_scaling_picture(&scaling);
            if (parts[STORM_RUN_PICTURE] == NULL)
                status = STORM_ERR_NOMEM;
        }
    }
    storm_bench_points_close(&scaling.points);
    storm_bench_free(context, scaling.dt_s);
    return storm_run_report_make(context, status, parts, report_out);
}
