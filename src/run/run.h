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
    double start_s, time_s;  /* of the last step: from, to */
    double nominal_s;        /* length of the next step but for targets */
    double seconds;          /* of transport, summed maxima over ranks */
    uint64_t n_points;       /* in mesh.h5; 0: it is not written yet */
    uint64_t n_words;        /* that say what polyhedra are; 0: boxes */
    struct storm_page grids; /* of the dumps so far, as XDMF */
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

/* output_files.c, on rank 0 alone: makes a directory with its parents; writes
 * a text file, whole or not at all. STORM_ERR_IO is logged. */
storm_status output_directory(const struct storm_context *context,
                              const char *path);
/* Removes the dumps of an earlier run, which are not this one's. */
void output_clear(const struct storm_context *context, const char *dir);
storm_status output_text(const struct storm_context *context, const char *dir,
                         const char *name, const char *text);

/* output_profile.c: profile-<step>.csv. Collective. */
storm_status output_profile(struct run *run);

/* output_fields.c: fields-<step>.h5, fields.xdmf and partition.csv; mesh.h5
 * with the first. Collective. */
storm_status output_fields(struct run *run);

/* run.c: a run without results, but for the summary. Collective. */
struct storm_run_summary;
storm_status run_measure(struct storm_context *context,
                         const struct storm_deck *deck,
                         const struct storm_progress *progress,
                         struct storm_run_summary *summary_out);

/* run.c: what stands for radiation energy in results now. */
storm_imc_field run_radiation(const struct run *run);

#endif /* STORM_RUN_RUN_H */
