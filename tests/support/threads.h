/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks as threads of one process, without MPI: ThreadSanitizer then sees both
 * sides of whatever two ranks do to each other. */
#ifndef STORM_TESTS_THREADS_H
#define STORM_TESTS_THREADS_H

#include "support/ranks.h"

/* Runs fn as ranks 0 .. n - 1; returns when all have ended. */
void threads_run(int n, rank_fn fn, void *self);

#endif /* STORM_TESTS_THREADS_H */
