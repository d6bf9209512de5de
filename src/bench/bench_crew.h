/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measuring the same thing with fewer ranks and with other backends, in one
 * start of the program.
 *
 *   P1  Ranks that are not part of a crew sleep; they leave the cores
 *       to the others.
 *   P2  All ranks learn how it ended, and none waits for one that is lost
 *       while a crew is at work. While one gathers MPI waits by itself, as
 *       when any context is made: it makes communicators in no other way.
 *   P3  A backend is measured alone: shared memory does not take its work
 *       between ranks of one node, unless transport.shm was set to do so.
 */
#ifndef STORM_BENCH_CREW_H
#define STORM_BENCH_CREW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <storm/context.h>

/* ---- contexts that differ in some options -------------------------------- */

struct storm_bench_setting {
    const char *key, *value;
};

/* A context over the ranks of `comm` with the options and the log of `from`,
 * but for the settings. Collective over `comm`. */
storm_status storm_bench_own_context(const struct storm_context *from,
                                     MPI_Comm comm,
                                     const struct storm_bench_setting *settings,
                                     size_t n_settings,
                                     struct storm_context **own_out);

/* ---- crews --------------------------------------------------------------- */

struct storm_bench_crew {
    int ranks; /* the first so many */
    const char *backend;
};

typedef storm_status (*storm_bench_crew_fn)(struct storm_context *own,
                                            void *self);

/* Calls `body` on the ranks of the crew, with a context of their own.
 * Collective over `all`; rank 0 is always in it. */
storm_status storm_bench_crew_run(struct storm_context *all,
                                  const struct storm_bench_crew *crew,
                                  storm_bench_crew_fn body, void *self);

/* ---- which crews -------------------------------------------------------- */

/* Is the name in the list, separated by commas? NULL stands for all. */
bool storm_bench_list_has(const char *list, const char *name);

/* Every name in the list is one of a backend of this build; NULL is fine.
 * Else STORM_ERR_ARG, logged. */
storm_status storm_bench_check_backends(const struct storm_context *context,
                                        const char *list);

enum { STORM_BENCH_MOST_BACKENDS = 16 };

/*
 * The backends of the list, best first; if it is NULL, that of
 * transport.backend, and if that is "auto" all that work here. Collective.
 * STORM_ERR_NOSUP, logged, if one that was asked for does not work.
 */
storm_status
storm_bench_backends(struct storm_context *context, const char *list,
                     const char *names_out[STORM_BENCH_MOST_BACKENDS],
                     size_t *n_out);

/*
 * The numbers of ranks: those given, which must rise and be there, or if there
 * are none 1, 2, 4 and so on up to all. The caller frees them. STORM_ERR_ARG
 * is logged.
 */
storm_status storm_bench_rank_counts(const struct storm_context *context,
                                     const uint32_t *given, size_t n_given,
                                     uint32_t **counts_out, size_t *n_out);

#endif /* STORM_BENCH_CREW_H */
