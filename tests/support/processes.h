/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks as processes: the program was started by mpiexec. */
#ifndef STORM_TESTS_PROCESSES_H
#define STORM_TESTS_PROCESSES_H

#include "support/ranks.h"

/* MPI_Init. */
void processes_begin(void);

/* Runs fn as this process's rank, any number of times. Collective. */
void processes_run(rank_fn fn, void *self);

/* MPI_Finalize. */
void processes_end(void);

#endif /* STORM_TESTS_PROCESSES_H */
