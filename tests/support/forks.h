/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks as children of this program, without MPI: for tests in which ranks
 * die. Nobody waits for a rank that is gone, unless in boot's calls. */
#ifndef STORM_TESTS_FORKS_H
#define STORM_TESTS_FORKS_H

#include <sys/types.h>

#include "base/boot.h"

enum { FORKS_MAX = 8 };

/* What the processes share. */
struct forks;

/* One rank, in its own process: what boot's `self` points to. */
struct forks_rank {
    struct forks *forks;
    int rank;
};

/* Before the first fork. */
struct forks *forks_make(int size);
void forks_free(struct forks *forks);

/* Starts a process for each of `size` ranks; `body`, with the caller's `self`,
 * does not return. */
void forks_start(int size, void (*body)(void *self, int rank), void *self,
                 pid_t child_out[FORKS_MAX]);

/* Of a rank, which must outlive it. */
struct storm_boot forks_boot(struct forks_rank *rank);

/* Memory of the test's own that all processes share, zeroed. */
void *forks_share(size_t bytes);

#endif /* STORM_TESTS_FORKS_H */
