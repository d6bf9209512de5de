/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run of a deck, from inside.
 *
 *   R1  A step that was cut short to meet a time leaves the lengths of the
 *       steps after it as they would have been.
 *   R2  What is written is the same bytes on any number of ranks, but for
 *       partition.csv and the order of packets in checkpoints.
 *   R3  The energy balance is looked at after every step.
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
    const char *restart_dir; /* NULL: from the start */
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
    double nominal_s;       /* length of the next step but for targets */
    double seconds;         /* of transport, summed maxima over ranks */
    struct io_series series;
    double energy_erg[4], balance;
    double worst_balance;
    struct storm_stats before; /* packets made and ended before a restart */
};

/* run_setup.c: mesh, physics and engine from the deck. Collective. */
storm_status run_open(struct run *run);
void run_close(struct run *run);

/* run_time.c: the next step's end; says if a dump is due there. */
struct run_target {
    double end_s, dt_s;
    bool dump; /* a time of output.times */
    bool last;
};
struct run_target run_next(struct run *run);

/* The step the run will end with, for telling how far it is; of very many, no
 * more than are soon counted. */
uint64_t run_last_step(const struct run *run);

/* run_restart.c: may the run write to out_dir? Not beside another's checkpoints
 * (logged), whose deck and dumps it would replace. On rank 0. */
bool run_may_start(const struct run *run);

/* Writes a checkpoint if it is due, and removes those before it that are too
 * many. Collective. */
storm_status run_checkpoint(struct run *run, bool last);

/* Puts the run where the newest good one of restart_dir has it. Collective. */
storm_status run_restart(struct run *run);

/* run.c: a run without results, but for the summary. Collective. */
struct storm_run_summary;
storm_status run_measure(struct storm_context *context,
                         const struct storm_deck *deck,
                         const struct storm_progress *progress,
                         struct storm_run_summary *summary_out);

/* run.c: what is to be written, now. */
struct io_source run_source(const struct run *run);

#endif /* STORM_RUN_RUN_H */
