/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measuring the same thing with fewer ranks and with other backends, in one
 * start of the program.
 *
 *   CREW-1  Ranks that are not part of a crew sleep: the others have the cores.
 *   CREW-2  All ranks get the same status, and none waits for a rank that is
 *           lost while a crew measures. (While its communicator is made, MPI
 *           waits without a timeout, as for any context.)
 *   CREW-3  A backend is measured alone: shared memory does not replace it
 *           between ranks of one node, unless transport.shm is set.
 */
#ifndef STORM_BENCH_CREW_H
#define STORM_BENCH_CREW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <storm/context.h>

#include "bench/bench.h"
#include "run/run_summary.h"

/* ---- contexts that differ in some options -------------------------------- */

struct storm_bench_setting {
    const char *key, *value;
};

/* A context over the ranks of `comm` with the options and the log of `from`,
 * except for the settings. Collective over `comm`. */
storm_status storm_bench_own_context(const struct storm_context *from,
                                     MPI_Comm comm,
                                     const struct storm_bench_setting *settings,
                                     size_t n_settings,
                                     struct storm_context **own_out);

/* ---- which backends ------------------------------------------------------ */

/* Is the name in the list, separated by commas? NULL means all. */
bool storm_bench_list_has(const char *list, const char *name);

/* STORM_ERR_ARG (logged) if a name in the list is not a backend of this build.
 * NULL is allowed. */
storm_status storm_bench_check_backends(const struct storm_context *context,
                                        const char *list);

enum { STORM_BENCH_MAX_BACKENDS = 16 };

/*
 * The backends of the list, best first; if it is NULL, that of
 * transport.backend, and if that is "auto" all that work here. Collective.
 * STORM_ERR_NOSUP, logged, if one that was asked for does not work.
 */
storm_status
storm_bench_backends(struct storm_context *context, const char *list,
                     const char *names_out[STORM_BENCH_MAX_BACKENDS],
                     size_t *n_out);

/* ---- points: numbers of ranks with backends ------------------------------ */

/* One number of ranks with one backend. The last three are known on rank 0. */
struct storm_bench_point {
    int ranks; /* the first so many */
    const char *backend;
    bool oversubscribed; /* more ranks than cores on some machine */
    double *seconds;     /* of all repeats, in any order */
    struct storm_run_summary best;
    double kernel_rate; /* best of all repeats; 0: not measured */
};

struct storm_bench_points {
    struct storm_context *context;
    uint32_t *ranks;
    size_t n_ranks;
    const char *backends[STORM_BENCH_MAX_BACKENDS];
    size_t n_backends;
    uint32_t repeat;
    struct storm_bench_point *point; /* backends of the fewest ranks first */
    size_t n;
};

/*
 * Points for these numbers of ranks, in rising order, at most those of the
 * context (none: 1, 2, 4 and so on up to all), with these backends
 * (storm_bench_backends).
 * Collective. STORM_ERR_ARG is logged. Close it also after an error.
 */
storm_status storm_bench_points_open(struct storm_context *context,
                                     const struct storm_bench_numbers *ranks,
                                     const char *backends, uint32_t repeat,
                                     struct storm_bench_points *points_out);
void storm_bench_points_close(struct storm_bench_points *points);

/* One repeat of a point, on the ranks that belong to it. */
struct storm_bench_pass {
    struct storm_bench_point *point;
    char what[64];      /* "2 ranks, shm, ": for progress */
    double done, share; /* of the whole: before, and part of, this pass */
    struct storm_run_summary summary; /* to be filled in */
    double kernel_rate;               /* the same; or 0 */
};
typedef storm_status (*storm_bench_pass_fn)(struct storm_context *own,
                                            struct storm_bench_pass *pass,
                                            void *self);

/*
 * Calls `body` for all points and repeats, with a context of its ranks alone.
 * Every backend comes first in turn, so that drift does not favour one. All
 * with as many ranks must do the same steps and end in the same state, bit for
 * bit; with `over_ranks`, all must end in the same state. Collective.
 * STORM_ERR_STATE: they do not (logged).
 */
storm_status storm_bench_points_run(struct storm_bench_points *points,
                                    bool over_ranks, storm_bench_pass_fn body,
                                    void *self);

/* Sum of the best of all points, for the summary of a benchmark. */
struct storm_run_summary
storm_bench_points_sum(const struct storm_bench_points *points);
bool storm_bench_points_crowded(const struct storm_bench_points *points);

#endif /* STORM_BENCH_CREW_H */
