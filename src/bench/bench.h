/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file bench/bench.h
 * The bundled benchmarks. Each measures, in the same run, the limit it should
 * be judged by, and checks that what it did was right.
 *
 * Lifecycle  call a benchmark with a context; read the report; destroy it.
 * Ownership  the report belongs to the caller; its texts belong to it.
 * Progress   the calls block until the benchmark is over.
 * Threads    as for the context.
 *
 * All benchmarks are collective: same params on every rank, same kind of
 * status (success or error) on every rank. Backend, batch, seed and the like
 * are options of the context. Errors common to all:
 *
 *   STORM_ERR_ARG    a parameter is out of range (logged)
 *   STORM_ERR_NOMEM  on some rank
 *   STORM_ERR_NOSUP  the backend asked for cannot work here (logged)
 *   STORM_ERR_STATE  the result is wrong: packets or energy were lost (logged)
 *   STORM_ERR_PEER   another rank failed; it has logged why
 */
#ifndef STORM_BENCH_BENCH_H
#define STORM_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <storm/mesh.h>
#include <storm/run.h>
#include <storm/status.h>

#include <storm_meshes.h>

struct storm_context; /* opaque, storm/context.h */

/** Numbers of a list, such as 1,2,4. */
enum { STORM_BENCH_MAX_NUMBERS = 4096 };
struct storm_bench_numbers {
    uint32_t value[STORM_BENCH_MAX_NUMBERS];
    size_t n;
};

/** Zero in a field means the default. */
struct storm_bench_uniform_params {
    enum storm_mesh_kind mesh; /**< CARTESIAN, OCTREE or VORONOI */
    uint32_t lloyd;            /**< Voronoi: relaxations; 0: none */
    storm_points_kind points;  /**< Voronoi: before them; RANDOM or CLUSTERED */
    uint64_t cells;            /**< in all; 0: cells_per_rank on each rank */
    uint64_t cells_per_rank;   /**< 0: 5000 */
    uint64_t emit;             /**< packets per cell and cycle; 0: 5 */
    uint32_t cycles;           /**< 0: 5 */
    uint32_t timed;            /**< of them, the last ones; 0: 3, or all */
    double dt_s;               /**< 0: from crossings */
    double crossings;          /**< cells a packet crosses per cycle; 0: 15 */
    double kernel_seconds; /**< per measurement of the bare kernel; 0: 0.25 */
    uint32_t costs; /**< repeats of the comparison of tallies and statistics;
                         0: none */
    bool picture;   /**< draw the energy density on a slice */
    struct storm_progress progress;
};

/**
 * Uniform emission: a transparent cube of side 10 cm centred at 0 with
 * reflecting walls; packets accumulate. Limit: the bare tracking kernel on the
 * same cells, on all ranks at once.
 *
 * @param[out] report_out  set only on STORM_OK
 */
STORM_MUST_CHECK storm_status
storm_bench_uniform(struct storm_context *context,
                    const struct storm_bench_uniform_params *params,
                    struct storm_run_report **report_out);

/**
 * The mesh storm_bench_uniform makes for about @p cells cells: the nearest
 * number that has factors with a ratio of at most 2. Local.
 *
 * @param[out] n_out  cells per direction
 */
void storm_bench_uniform_shape(uint64_t cells, int64_t n_out[3]);

/** Zero in a field means the default. */
struct storm_bench_imc_params {
    enum storm_mesh_kind mesh; /**< CARTESIAN, OCTREE or VORONOI */
    uint64_t cells;            /**< in all; 0: cells_per_rank on each rank */
    uint64_t cells_per_rank;   /**< 0: 5000 */
    uint64_t emit;             /**< packets per cell and cycle; 0: 5 */
    uint32_t cycles;           /**< 0: 8 */
    uint32_t timed;            /**< of them, the last ones; 0: 5, or all */
    uint32_t groups;           /**< of energy; 0: 1, grey */
    struct storm_progress progress;
};

/**
 * Implicit Monte Carlo in equilibrium in a cube with reflecting walls: a third
 * of the events are collisions, a packet crosses 15 cells per cycle. All groups
 * have the same opacities, so that they cost what looking them up costs.
 * Limit: free streaming by the bare tracking kernel in the same cells, on all
 * ranks at once.
 */
STORM_MUST_CHECK storm_status
storm_bench_imc(struct storm_context *context,
                const struct storm_bench_imc_params *params,
                struct storm_run_report **report_out);

/** Zero in a field means the default. */
struct storm_bench_exchange_params {
    uint64_t records; /**< in all, per repeat; 0: 800000 */
    uint32_t repeat;  /**< 0: 6 */
    struct storm_progress progress;
};

/**
 * Every rank sends records of 128 bytes to uniformly random ranks, itself
 * included, until all have arrived and all ranks know it. Limit: the copies
 * that any such exchange must make, on all ranks at once.
 */
STORM_MUST_CHECK storm_status
storm_bench_exchange(struct storm_context *context,
                     const struct storm_bench_exchange_params *params,
                     struct storm_run_report **report_out);

/** Zero in a field means the default. */
struct storm_bench_ring_params {
    /** Names, separated by commas; NULL: that of transport.backend, or if that
     *  is "auto" all built. */
    const char *backends;
    struct storm_bench_numbers batches; /**< none: 1, 8, 64 and 512 */
    double seconds; /**< per measurement, at least 0.08; 0: 0.2 */
    struct storm_progress progress;
};

/**
 * One-way stream and ping-pong of 128-byte records between two ranks, for
 * every backend, batch and protocol (one, if transport.protocol is set).
 * Limit: the same bytes without any protocol. Shared memory: one copy in and
 * one out; a network: as many bare puts of the same size; p2p: bare messages.
 * Numbers are medians over 40 windows of time, the best window is given too.
 *
 * @retval STORM_ERR_ARG  the context does not have two ranks, or no such
 *                        backend
 */
STORM_MUST_CHECK storm_status
storm_bench_ring(struct storm_context *context,
                 const struct storm_bench_ring_params *params,
                 struct storm_run_report **report_out);

/** Zero in a field means the default. */
struct storm_bench_termination_params {
    uint32_t steps; /**< 0: 200 */
    struct storm_progress progress;
};

/**
 * Time from the end of the last packet until all ranks know that all is done.
 * Limit: a barrier of the same ranks.
 *
 * @retval STORM_ERR_NOSUP  the ranks are on several nodes: no common clock
 */
STORM_MUST_CHECK storm_status
storm_bench_termination(struct storm_context *context,
                        const struct storm_bench_termination_params *params,
                        struct storm_run_report **report_out);

/** Zero in a field means the default. */
struct storm_bench_voronoi_params {
    uint64_t cells;           /**< 0: 100000 */
    storm_points_kind points; /**< not REFINED; LATTICE: the nearest cube */
    uint32_t repeat;          /**< 0: 3; the median counts */
    /** Builds the cells of the same points, in the cube from 0 to 1, with
     *  voro++: volumes, centroids, neighbours, areas and normals; sets the CPU
     *  seconds that took. False: there is no voro++, or it took more than
     *  @p limit_s. Called by rank 0 alone. NULL: no comparison. */
    bool (*voropp)(uint64_t n, const double *points_cm, double limit_s,
                   double *cpu_s_out);
    struct storm_progress progress;
};

/**
 * Build the Voronoi mesh of a set of points, by all ranks together and by one
 * alone, in turns with voro++, and check all of its cells. Limit: the serial
 * build, as many times as fast as there are ranks. The comparisons with voro++
 * and with one rank use CPU time, the best of all repeats.
 */
STORM_MUST_CHECK storm_status
storm_bench_voronoi(struct storm_context *context,
                    const struct storm_bench_voronoi_params *params,
                    struct storm_run_report **report_out);

/** Zero in a field means the default. */
struct storm_bench_motion_params {
    uint64_t cells;          /**< in all; 0: cells_per_rank on each rank */
    uint64_t cells_per_rank; /**< 0: 5000 */
    double speed;            /**< cell sizes per step; 0: 0.1, or with `ranks`
                                  0.01, 0.1 and 1 */
    uint32_t cycles;         /**< 0: 6 */
    /** In rising order, up to those of the context: measure with each, by
     *  default with 20,000 cells in all. None: measure once, on all ranks. */
    struct storm_bench_numbers ranks;
    bool picture; /**< draw the times as bars */
    struct storm_progress progress;
};

/**
 * Uniform emission on a Voronoi mesh that moves before every step: times of the
 * build after a smooth and a random motion, the remap of the packets, a switch
 * of decompositions and a step. Limit: a build from nothing of the same
 * generators.
 *
 * @retval STORM_ERR_STATE  the state is not the same on all numbers of ranks
 *                          (logged)
 */
STORM_MUST_CHECK storm_status
storm_bench_motion(struct storm_context *context,
                   const struct storm_bench_motion_params *params,
                   struct storm_run_report **report_out);

/** What stays the same when there are more ranks. */
typedef enum storm_bench_mode {
    STORM_BENCH_STRONG = 0, /**< steps in all: a packet crosses fewer cells */
    STORM_BENCH_WEAK        /**< steps of each rank */
} storm_bench_mode;

/** Zero in a field means the default. */
struct storm_bench_scaling_params {
    storm_bench_mode mode;
    /** In rising order, up to those of the context. None: 1, 2, 4 and so on. */
    struct storm_bench_numbers ranks;
    /** Names, separated by commas; NULL: that of transport.backend, or if that
     *  is "auto" all that work here. */
    const char *backends;
    uint32_t repeat; /**< of each point; the best counts; 0: 3 */
    /** The problem with the fewest ranks; crossings 0: 60. Its picture is that
     *  of the scaling. Not: cells, costs. */
    struct storm_bench_uniform_params uniform;
};

/**
 * Uniform emission on increasing numbers of ranks, as many cells on each: time
 * per cycle for every backend, and ideal scaling. Each point runs on the first
 * of the context's ranks while the others sleep. Limit: as for
 * storm_bench_uniform, for every point. All backends must do the same steps
 * and end in the same state, bit for bit.
 *
 * @retval STORM_ERR_STATE  they do not (logged)
 */
STORM_MUST_CHECK storm_status
storm_bench_scaling(struct storm_context *context,
                    const struct storm_bench_scaling_params *params,
                    struct storm_run_report **report_out);

/** Zero in a field means the default. */
struct storm_bench_breakdown_params {
    const struct storm_deck *deck;
    struct storm_bench_numbers ranks; /**< as for the scaling; none: all */
    const char *backends;             /**< as for the scaling */
    uint32_t repeat; /**< of each run; the fastest counts; 0: 1 */
    bool picture;    /**< draw the times as bars */
    struct storm_progress progress;
};

/**
 * Run a deck without output for every number of ranks and backend, and break
 * down the time. Limit: the time for physics alone. All must end in the
 * same state, bit for bit.
 *
 * @retval STORM_ERR_STATE  they do not (logged)
 * @return also what storm_run returns
 */
STORM_MUST_CHECK storm_status
storm_bench_breakdown(struct storm_context *context,
                      const struct storm_bench_breakdown_params *params,
                      struct storm_run_report **report_out);

#endif /* STORM_BENCH_BENCH_H */
