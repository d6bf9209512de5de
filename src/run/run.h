/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run of a deck: internal state and functions.
 *
 *   RUN-1  A step that is shortened to end at a given time does not change the
 *          lengths of the steps after it.
 *   RUN-2  Files are the same bytes on any number of ranks, except
 *          partition.csv and the order of packets in checkpoints.
 *   RUN-3  The energy balance is checked after every step.
 */
#ifndef STORM_RUN_RUN_H
#define STORM_RUN_RUN_H

#include <storm/engine.h>
#include <storm/imc.h>
#include <storm/run.h>
#include <storm/streaming.h>

#include "deck/deck.h"
#include "io/io_fields.h"

struct run {
    struct storm_context *context;
    const struct storm_deck *deck;
    const char *out_dir;
    const char *restart_dir; /* NULL: a new run */
    struct storm_progress progress;

    struct storm_problem problem;
    struct storm_mesh *mesh;
    struct storm_imc *imc;
    struct storm_comb *comb;
    struct storm_engine *engine;

    double *times; /* of extra dumps, sorted */
    size_t n_times, i_time;
    uint64_t step, last_step;
    double start_s, time_s; /* of the last step: from, to */
    double nominal_s;       /* length of the next step if not shortened */
    double seconds;         /* of transport: sum of maxima over ranks */
    struct io_series series;
    double energy_erg[4], balance;
    double worst_balance;
    struct storm_stats before; /* packets of the run before the restart */
};

/* run_setup.c: mesh, physics and engine from the deck. Collective. */
storm_status run_open(struct run *run);
void run_close(struct run *run);

/* run_time.c: the end of the next step. */
struct run_target {
    double end_s, dt_s;
    bool dump; /* it is a time of output.times */
    bool last;
};
struct run_target run_next(struct run *run);

/* Number of the last step, for progress reports; a lower bound if there are
 * very many. */
uint64_t run_last_step(const struct run *run);

/* run_restart.c: may the run write to out_dir? Not if it has checkpoints of
 * another run (logged), whose deck and dumps would be replaced. On rank 0. */
bool run_may_start(const struct run *run);

/* Writes a checkpoint if it is due, and removes old ones. Collective. */
storm_status run_checkpoint(struct run *run, bool last);

/* Loads the newest good checkpoint of restart_dir. Collective. STORM_ERR_IO:
 * there is none, STORM_ERR_ARG: CHECKPOINT-4, STORM_ERR_STATE: it gives another
 * state hash (all logged). */
storm_status run_restart(struct run *run);

/* run.c: runs without output files. Collective. */
struct storm_run_summary;
storm_status run_measure(struct storm_context *context,
                         const struct storm_deck *deck,
                         const struct storm_progress *progress,
                         struct storm_run_summary *summary_out);

/* run.c: the current state, for output. */
struct io_source run_source(const struct run *run);

#endif /* STORM_RUN_RUN_H */
