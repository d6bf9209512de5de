/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rounds of calls on several ranks, by number or for a given time. Arguments of
 * the program: the number of rounds, or 0 and the number of seconds. A round
 * depends on its number and the seed alone; that of a time is the clock, and
 * printed. A process that hangs is ended by SIGALRM, whose default action that
 * is.
 */
#ifndef TESTS_FUZZ_ROUNDS_H
#define TESTS_FUZZ_ROUNDS_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <mpi.h>

#include "support/check.h"

enum { ROUNDS_HANG_S = 120 };

struct rounds {
    uint64_t seed, n, max; /* n: so far, the number of the next round */
    double seconds, start_s;
    int rank;
};

/* After MPI_Init. */
static inline struct rounds rounds_begin(int argc, char **argv)
{
    struct rounds r = {.seed = 1, .start_s = MPI_Wtime()};
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 10;
    r.max = n / CHECK_SLOWDOWN + 1;
    r.seconds = argc > 2 ? atof(argv[2]) : 0.0;
    MPI_Comm_rank(MPI_COMM_WORLD, &r.rank);
    if (r.seconds > 0.0) {
        r.seed = argc > 3 ? strtoull(argv[3], NULL, 10) : (uint64_t)time(NULL);
        r.max = UINT64_MAX;
    }
    MPI_Bcast(&r.seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (r.rank == 0) {
        printf("%g s, seed %" PRIu64 "\n", r.seconds, r.seed);
        fflush(stdout);
    }
    return r;
}

/* One more? The same on all ranks. */
static inline bool rounds_next(struct rounds *r)
{
    int more = r->n < r->max &&
               (r->seconds <= 0.0 || MPI_Wtime() - r->start_s < r->seconds);
    alarm(ROUNDS_HANG_S);
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    r->n += more != 0;
    if (more == 0)
        alarm(0);
    return more != 0;
}

#endif /* TESTS_FUZZ_ROUNDS_H */
