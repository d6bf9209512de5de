/* SPDX-License-Identifier: BSD-3-Clause */
/* What `bench motion` measures, and how it is reported. */
#ifndef STORM_BENCH_MOTION_H
#define STORM_BENCH_MOTION_H

#include <storm/remap.h>

#include "bench/bench.h"
#include "bench/bench_crew.h"
#include "run/run_summary.h"

/* What is measured, in seconds, the maximum over ranks. */
enum storm_motion_what {
    STORM_MOTION_BUILD,   /* from nothing */
    STORM_MOTION_REBUILD, /* storm_mesh_move, at random */
    STORM_MOTION_REMAP,   /* after it */
    STORM_MOTION_SMOOTH,  /* storm_mesh_move in a vortex */
    STORM_MOTION_SWITCH,  /* storm_mesh_use */
    STORM_MOTION_FOLLOW,  /* remap after that */
    STORM_MOTION_STEP,
    STORM_MOTION_N
};

/* Of one number of ranks and one speed. */
struct storm_motion_result {
    double speed;                       /* cell sizes per step */
    double median[STORM_MOTION_N];      /* seconds; 0: not measured */
    size_t n[STORM_MOTION_N];           /* how often */
    struct storm_remap_stats remap;     /* of all STORM_MOTION_REMAP */
    uint64_t changed_hands, n_switched; /* cells */
    uint64_t seed;
    struct storm_run_summary summary;
};

/* Speeds of a sweep over ranks. */
enum { STORM_MOTION_SPEEDS = 3 };

/* All of a sweep; known on rank 0. */
struct storm_motion_sweep {
    struct storm_bench_points points;
    struct storm_motion_result *result; /* n_speeds for each point */
    size_t n_speeds;
    bool is_strong; /* as many cells with all numbers of ranks */
};

/* bench_motion_report.c: texts from malloc; NULL: no memory. */
char *storm_motion_json(const struct storm_motion_result *result);
char *storm_motion_table(const struct storm_motion_result *result);
char *storm_motion_picture(const struct storm_motion_result *result);
char *storm_motion_sweep_json(const struct storm_motion_sweep *sweep);
char *storm_motion_sweep_table(const struct storm_motion_sweep *sweep);
char *storm_motion_sweep_picture(const struct storm_motion_sweep *sweep);

#endif /* STORM_BENCH_MOTION_H */
