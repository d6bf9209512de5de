/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank of a test, however ranks are made (threads.h, processes.h).
 *
 * Every rank has an environment of its own: options from the environment
 * variables, a log to standard error, a memory book. A book that is not empty
 * at the end is a failed check.
 */
#ifndef STORM_TESTS_RANKS_H
#define STORM_TESTS_RANKS_H

#include "base/boot.h"
#include "base/env.h"

/* What one rank does. */
typedef void (*rank_fn)(void *self, const struct storm_env *env,
                        const struct storm_boot *boot);

/* Runs fn on this thread, with a fresh environment. */
void rank_run(const struct storm_boot *boot, rank_fn fn, void *self);

#endif /* STORM_TESTS_RANKS_H */
