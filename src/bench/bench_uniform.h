/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of the uniform benchmark: one run over its mesh. */
#ifndef STORM_BENCH_UNIFORM_H
#define STORM_BENCH_UNIFORM_H

#include "bench/bench.h"
#include <storm/mesh.h>
#include <storm/streaming.h>

#include "bench/bench_measure.h"
#include "bench/bench_roofline.h"
#include "run/run_summary.h"

/* The problem: the same for every pass. */
struct storm_uniform {
    struct storm_bench_uniform_params params; /* no zeros left */
    uint64_t seed;
    int64_t n[3];
    double dt_s;
    double kernel_seconds; /* per measurement of the bare kernel */
    double done, share;    /* progress: done before, and part of, this pass */
    const char *what;      /* progress text before the cycle; NULL: none */
};

/* Zeros become the defaults, and sizes become a mesh and a time step.
 * STORM_ERR_ARG is logged. */
storm_status
storm_uniform_prepare(struct storm_context *context,
                      const struct storm_bench_uniform_params *params,
                      struct storm_uniform *problem_out);

/* One run through all cycles, and what it uses. */
struct storm_uniform_pass {
    struct storm_uniform *problem;
    struct storm_context *context;
    struct storm_mesh *mesh;
    struct storm_bench_loop loop; /* with streaming and engine */
};

/* Sets up. Collective. Close it also after an error. */
storm_status storm_uniform_open(struct storm_uniform_pass *pass,
                                struct storm_uniform *problem,
                                struct storm_context *context,
                                storm_tally_kind tally);
void storm_uniform_close(struct storm_uniform_pass *pass);

/* Runs one more cycle; the last params.timed ones count. Collective. */
storm_status storm_uniform_cycle(struct storm_uniform_pass *pass);

/* What a pass gives. */
struct storm_uniform_result {
    struct storm_run_summary summary;
    double kernel_rate; /* of the bare kernel: steps per second and rank */
    struct storm_bench_counters counters;
    struct storm_bench_roofline roof; /* of the benchmark alone */
    struct storm_bench_loop loop;     /* what devices did */
};

/* Runs all cycles of an open pass, and the bare kernel between them; checks
 * that nothing was lost. Collective. */
storm_status storm_uniform_measure(struct storm_uniform_pass *pass,
                                   struct storm_uniform_result *result_out);

/* Everything created is accounted for, in number and in energy: else
 * STORM_ERR_STATE, logged. */
storm_status storm_uniform_check(struct storm_context *context,
                                 const struct storm_run_summary *summary);

/* What the tally and the statistics cost, relative to the time without. */
struct storm_uniform_costs {
    double exact_sum;  /* exact sums instead of plain doubles */
    double tally;      /* exact sums instead of no tally */
    double statistics; /* statistics on instead of off */
};
storm_status storm_uniform_costs(struct storm_uniform *problem,
                                 struct storm_context *context,
                                 struct storm_uniform_costs *costs_out);

/* Half the side of the cube, and the speed of light. */
#define STORM_UNIFORM_HALF_CM 5.0
#define STORM_UNIFORM_LIGHT_CM_S 2.99792458e10

/* The energy density on the plane z = 0 through the cells, as SVG on rank 0
 * (free) and NULL elsewhere. Collective. */
storm_status storm_uniform_picture(const struct storm_uniform_pass *pass,
                                   char **svg_out);

#endif /* STORM_BENCH_UNIFORM_H */
