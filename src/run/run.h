/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run of a deck: internal state and functions.
 *
 *   RUN-1  A step that is shortened to end at a given time does not change the
 *          lengths of the steps after it.
 *   RUN-2  Files are the same bytes on any number of ranks, except
 *          partition.csv, status.json and the order of packets in checkpoints.
 *   RUN-3  The energy balance is checked after every step.
 *   RUN-4  A request to stop is agreed on at the end of a step, by the
 *          reduction that step has anyway: all ranks stop after the same step.
 *   RUN-5  A run that was stopped has a checkpoint of its last step.
 *   RUN-6  A request that comes during set-up ends the run before its first
 *          step. A new run has computed nothing then, and writes nothing.
 */
#ifndef STORM_RUN_RUN_H
#define STORM_RUN_RUN_H

#include <storm/engine.h>
#include <storm/imc.h>
#include <storm/remap.h>
#include <storm/run.h>
#include <storm/streaming.h>

#include "deck/deck.h"
#include "io/io_fields.h"
#include "io/io_rundir.h"

/* The mesh that the deck makes, and its materials: hashes for CHECKPOINT-4. */
struct run_first {
    uint64_t mesh_hash, matter_hash;
    storm_cell_id next_tag;
};

/* What a material has in the mesh, and in space. */
struct run_material {
    uint64_t cells;
    double volume_cm3; /* of the cells */
    double shape_cm3;  /* of its shapes where they count; about */
};

/* Load of the ranks: max over mean. */
struct run_load {
    double first, last, max, sum; /* of events, in n_steps steps */
    uint64_t n_steps;
    uint64_t n_looks, n_cuts;
    /* Of the last new partition: the step before it, the load as it was and as
     * it was predicted to be, events in the step after it (0: not yet). */
    uint64_t cut_step;
    double before, predicted, after;
};

struct run {
    struct storm_context *context;
    const struct storm_deck *deck;
    const char *out_dir;
    const char *restart_dir; /* NULL: a new run */
    bool overwrite;
    bool finished; /* restarted where nothing is left to do */
    struct storm_progress progress;
    bool (*stop)(void *self); /* may be NULL */
    void *stop_self;
    double deadline_s; /* of storm_clock_seconds; 0: none */

    struct storm_problem problem;
    struct storm_wall *boundaries; /* of a mesh from a file; NULL: none */
    struct storm_mesh *mesh;
    struct storm_cut *cut;  /* of the Monte Carlo work; NULL: none yet */
    int moving;             /* material of mesh.motion; -1: all */
    struct storm_cut *host; /* balance.host: between steps; NULL: none yet */
    struct run_load load;
    uint64_t n_changes;             /* of the mesh */
    struct storm_remap_stats remap; /* summed over them */
    struct run_material *materials; /* problem.n_materials */
    struct storm_imc *imc;
    struct storm_comb *comb;
    struct storm_engine *engine;

    struct run_first first;
    bool is_rebuilt; /* the mesh is that of a checkpoint, not the deck's */

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

    int lock;            /* rank 0: of out_dir; -1: none */
    bool is_locked;      /* nobody else writes there */
    bool began;          /* rank 0: out_dir is this run's */
    double recorded_s;   /* when the state was last recorded */
    uint64_t from_step;  /* of the checkpoint it was restarted from */
    double cycle_from_s; /* when the step began, on the clock */
    double cycle_s;      /* recent steps took up to that, output included */
    double checkpoint_s; /* so did checkpoints; 0: none yet */
    enum run_stop {
        RUN_GOES_ON,
        RUN_TIME_LIMIT,
        RUN_REQUEST
    } stopped; /* the same on all ranks */
};

/* run_setup.c: mesh, physics and engine from the deck. Collective. */
storm_status run_open(struct run *run);
void run_close(struct run *run);

/* Builds them again, with another mesh: that of a checkpoint (CHECKPOINT-6), or
 * the deck's if NULL. The state is lost. Collective. */
struct io_checkpoint;
storm_status run_rebuild(struct run *run, const struct io_checkpoint *from);

/* run_boundaries.c: boundaries of a mesh from a file, by number, as the problem
 * takes them. Collective. STORM_ERR_ARG: the deck has one that the mesh lacks
 * (logged). */
storm_status run_boundaries_open(struct run *run);
void run_boundaries_close(struct run *run);

/* run_materials.c: cells and volumes of materials; warns of layers that are
 * thinner than two cells. Collective. */
struct storm_json;
struct storm_page;
storm_status run_materials_open(struct run *run);
void run_materials_close(struct run *run);
void run_materials_json(const struct run *run, struct storm_json *json);
void run_materials_table(const struct run *run, struct storm_page *page);

/* run_mesh.c: changes of the mesh before a step, and after it. Collective. */
struct run_target;
storm_status run_before_step(struct run *run);
storm_status run_after_step(struct run *run, const struct run_target *target);

/* State and packets follow a change of the mesh, which had `generation` before
 * it; takes it over. One that has changed nothing is none. Collective. */
storm_status run_follow(struct run *run, uint64_t generation,
                        struct storm_change *change);

/* run_motion.c: moves the mesh as the deck asks for. Collective. STORM_ERR_ARG
 * (logged): it would leave the box. */
storm_status run_move(struct run *run, double dt_s);

/* Events of a step: max of a rank, and sum. */
void run_load_add(struct run *run, double max, double sum);
void run_mesh_json(const struct run *run, struct storm_json *json);
void run_mesh_table(const struct run *run, struct storm_page *page);

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

/* Does this rank want the run to stop after this step? */
enum run_stop run_wants_stop(struct run *run);

/* run_dir.c: takes the output directory: refuses one that holds another run,
 * removes what is not to stay, records the state and writes the deck.
 * Collective. STORM_ERR_STATE, STORM_ERR_IO (logged). */
storm_status run_begin_output(struct run *run);

/* Locks the directory of a run that restarts there, before its checkpoint is
 * read. Collective. STORM_ERR_STATE, STORM_ERR_IO (logged). */
storm_status run_lock_output(struct run *run);

/* Does the run restart in its own directory? */
bool run_is_in_place(const struct run *run);

/* Writes status.json, on rank 0; nothing if the directory is not this run's.
 * STORM_ERR_IO (logged, but not of a run that has failed). The second does so
 * after the first step, when the step has written a dump or checkpoint, and now
 * and then; the run goes on if it cannot, with a warning. */
storm_status run_record(struct run *run, io_run_state state,
                        const char *reason);
void run_record_step(struct run *run, bool has_written);

/* run_restart.c: writes a checkpoint if it is due or the run stops, and removes
 * old ones. Collective. */
storm_status run_checkpoint(struct run *run, bool last);

/* Would it write one now? */
bool run_checkpoint_is_due(const struct run *run, bool last);

/* Seconds that one takes, as far as this rank knows. */
double run_checkpoint_s(const struct run *run);

/* Removes the checkpoint that the run was restarted from if the deck asks for
 * none: it was written because the run stopped. On rank 0. */
void run_drop_checkpoint(const struct run *run);

/* Hashes of the present mesh and materials. Collective. */
storm_status run_hashes(const struct run *run, struct run_first *hashes_out);

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
