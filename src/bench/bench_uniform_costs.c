/* SPDX-License-Identifier: BSD-3-Clause */
/* What exact sums and statistics cost: the same run with and without. */
#include "bench/bench_crew.h"
#include "bench/bench_uniform.h"

enum { COSTS_N_KINDS = 4, COSTS_MAX_REPEATS = 64 };

/* Each is compared with the first. */
static const struct costs_kind {
    storm_tally_kind tally;
    const char *statistics;
} costs_kinds[COSTS_N_KINDS] = {
    {STORM_TALLY_EXACT, "true"},
    {STORM_TALLY_DOUBLE, "true"},
    {STORM_TALLY_OFF, "true"},
    {STORM_TALLY_EXACT, "false"},
};

static storm_status costs_pass(struct storm_uniform *problem,
                               struct storm_context *context,
                               const struct costs_kind *kind,
                               double *seconds_out)
{
    struct storm_context *own = NULL;
    struct storm_uniform_pass pass;
    const struct storm_bench_setting setting = {"transport.statistics",
                                                kind->statistics};
    storm_status status =
        storm_bench_own_context(context, storm_context_comm(context), &setting,
                                1, &own);
    if (status < 0)
        return status;
    status = storm_uniform_open(&pass, problem, own, kind->tally);
    for (uint32_t i = 0; status >= 0 && i < problem->params.cycles; i++)
        status = storm_uniform_cycle(&pass);
    *seconds_out = pass.loop.seconds;
    storm_uniform_close(&pass);
    storm_context_destroy(own);
    problem->done += problem->share;
    return status;
}

storm_status storm_uniform_costs(struct storm_uniform *problem,
                                 struct storm_context *context,
                                 struct storm_uniform_costs *costs_out)
{
    double ratio[COSTS_N_KINDS][COSTS_MAX_REPEATS];
    uint32_t n = problem->params.costs;
    if (n > COSTS_MAX_REPEATS)
        n = COSTS_MAX_REPEATS;
    for (uint32_t repeat = 0; repeat < n; repeat++) {
        double seconds[COSTS_N_KINDS];
        /* Every kind comes first in turn, so that drift cancels. */
        for (uint32_t i = 0; i < COSTS_N_KINDS; i++) {
            uint32_t k = (i + repeat) % COSTS_N_KINDS;
            storm_status status =
                costs_pass(problem, context, &costs_kinds[k], &seconds[k]);
            if (status < 0)
                return status;
        }
        for (int k = 1; k < COSTS_N_KINDS; k++)
            ratio[k][repeat] =
                seconds[k] > 0.0 ? seconds[0] / seconds[k] - 1.0 : 0.0;
    }
    costs_out->exact_sum = storm_bench_median(ratio[1], n);
    costs_out->tally = storm_bench_median(ratio[2], n);
    costs_out->statistics = storm_bench_median(ratio[3], n);
    return STORM_OK;
}
