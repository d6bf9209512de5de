/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run of a deck: internal state and functions.
 *
 *   DECKRUN-1  A step that is shortened to end at a given time does not change
 *              the lengths of the steps after it.
 *   DECKRUN-2  Files are the same bytes on any number of ranks, except
 *              partition.csv, status.json, summary.json, the columns of
 *              history.csv after `balance`, times in replicas.csv, and the
 *              order of packets in checkpoints.
 *   DECKRUN-3  The energy balance is checked after every step.
 *   DECKRUN-4  A request to stop is agreed on at the end of a step, by the
 *              reduction that step has anyway: all ranks stop after the same
 *              step.
 *   DECKRUN-5  A run that was stopped has a checkpoint of its last step.
 *   DECKRUN-6  A request that comes during set-up ends the run before its first
 *              step. A new run has computed nothing then, and writes nothing.
 *   DECKRUN-7  The directory is taken when mesh and state are there, or the
 *              checkpoint is loaded: what is wrong with a deck or a file leaves
 *              everything as it is.
 */
#ifndef STORM_RUN_RUN_H
#define STORM_RUN_RUN_H

#include <storm/engine.h>
#include <storm/imc.h>
#include <storm/remap.h>
#include <storm/run.h>
#include <storm/streaming.h>

#include "base/port.h"
#include "deck/deck.h"
#include "io/io_fields.h"
#include "io/io_rundir.h"
#include "run/run_history.h"

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

/* Energy accounts of a run: created, absorbed, escaped, at census. */
enum { RUN_N_ENERGIES = 4 };
extern const char *const run_energy_names[RUN_N_ENERGIES];

/* One replica that has ended. */
struct run_replica {
    uint64_t seed, state_hash;
    uint64_t from_step; /* of the checkpoint it was restarted from; 0: none */
    uint64_t cycles;
    double time_s;
    uint64_t created, absorbed, escaped, census; /* packets */
    uint64_t events;
    double seconds; /* of transport, since from_step */
    double balance;
    double energy_erg[RUN_N_ENERGIES];
};

/* The replicas of a run, run_replica.c. */
struct run_job {
    uint64_t n;      /* asked for; 0: a run without replicas */
    uint64_t n_done; /* so the present one is n_done + 1 */
    uint64_t first_seed;
    uint64_t deck_hash;   /* of all that results depend on, but for the seed */
    uint64_t inputs_hash; /* of the files it names; 0: not known yet. Rank 0 */
    struct run_replica *done; /* n; those before a restart on rank 0 alone */
};

/* An entry of the traffic matrix: packets sent in the whole run. */
struct run_traffic {
    uint64_t from, to, packets;
};

/* Of the dump that rests on fewest packets, run_scarce.c. */
struct run_scarce {
    uint64_t step, cells; /* 0: none yet; cells with few events */
    double share;         /* of these in the radiation energy */
    double packet;        /* of the heaviest packet at census, max of all */

    /* Of all steps (struct storm_imc_heating): heating of matter, and what of
     * it rests on few packets; cells at fronts, and those that are stiff. */
    double heating_erg, scarce_erg;
    uint64_t front_cells, stiff_cells;
};

/* Events by kind, run_events.c: of the last step, and since the run began or
 * was restarted; of all ranks. */
struct run_events {
    uint64_t step[STORM_IMC_N_EVENTS], run[STORM_IMC_N_EVENTS];
};

/* Steps by accuracy, run_control.c. */
struct run_control {
    double matter, radiation; /* changes of the last step */
    bool overshoots;
    uint64_t n_steps, n_overshoots; /* since the start or restart */
    double worst, shortest_s, longest_s;
    uint64_t worst_step;
};

struct storm_env; /* base/env.h */
struct storm_json;
struct storm_page;

/* Matter of materials that have a table. */
struct run_tables {
    struct storm_material *materials; /* the deck's, with it; NULL: no tables */
    struct storm_matter *matter;      /* n_materials, as the rest */
    struct storm_table **table;       /* NULL: the laws */
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

    struct run_job job;
    struct run_scarce scarce;
    struct run_control control;
    struct storm_problem problem;
    struct run_tables tables;
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
    struct run_history history;
    struct run_events events;
    struct run_traffic *traffic; /* on rank 0, at the end */
    struct storm_imc_share shares[STORM_IMC_METHODS]; /* at the end */
    size_t n_traffic;
    double energy_erg[RUN_N_ENERGIES], balance;
    double worst_balance, worst_momentum;
    struct storm_stats before; /* packets of the run before the restart */

    char **warnings; /* rank 0: those so far */
    size_t n_warnings, warnings_capacity;

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
    } asked,
        stopped; /* after the last step, and whether the run does so; the
                         same on all ranks */
};

/* run_warnings.c: logs a warning, which the summary has, too. On rank 0. */
void run_warn(struct run *run, const char *format, ...) STORM_PRINTF(2, 3);
void run_warnings_json(const struct run *run, struct storm_json *json);
void run_warnings_close(struct run *run);

/* run_setup.c: can the files that the deck names be read? Asked before a run
 * takes its directory: a wrong name must not cost the run that is there.
 * Collective. STORM_ERR_IO (logged). */
storm_status run_files_check(const struct run *run);
/* The same without a run; false: the text has key, file and reason. */
bool run_has_files(const struct storm_deck *deck, char *text, size_t size);

/* Mesh, physics and engine from the deck. Collective. */
storm_status run_open(struct run *run);
void run_close(struct run *run);

/* Builds them again, with another mesh: that of a checkpoint (CHECKPOINT-6), or
 * the deck's if NULL. The state is lost. Collective. */
struct io_checkpoint;
storm_status run_rebuild(struct run *run, const struct io_checkpoint *from);

/* Builds physics and engine again, for another seed; the mesh stays, unless it
 * has moved. Collective. */
storm_status run_renew(struct run *run);

/* run_boundaries.c: boundaries of a mesh from a file, by number, as the problem
 * takes them. Collective. STORM_ERR_ARG: the deck has one that the mesh lacks
 * (logged). */
storm_status run_boundaries_open(struct run *run);
void run_boundaries_close(struct run *run);

/* run_tally.c: declares output.tallies; gives them what a checkpoint has.
 * Collective. */
storm_status run_tallies_declare(struct run *run);
unsigned run_moments(const struct run *run); /* of the deck, as bits */
storm_status run_tallies_load(struct run *run, const struct io_checkpoint *c);

/* run_tables.c: the problem with the tables of the deck. Collective. */
storm_status run_tables_open(struct run *run);
void run_tables_close(struct run *run);
/* Are the tables of the deck such? Local; STORM_ERR_IO or STORM_ERR_ARG, logged
 * to the environment. */
storm_status run_tables_check(const struct storm_deck *deck,
                              const struct storm_env *env);

/* run_start.c: can cells begin with the numbers and formulas of the deck, as
 * far as that is known without a mesh? Local; STORM_ERR_ARG, STORM_ERR_IO,
 * logged to the environment. The second: cells of a Cartesian mesh, by
 * direction. */
storm_status run_start_check(const struct storm_deck *deck,
                             const struct storm_env *env);
uint64_t run_start_cells(const struct storm_deck *deck, size_t n_out[3]);

/* run_fields.c: does the file of `fields` have the arrays, and values that
 * cells can begin with? Local; STORM_ERR_IO, STORM_ERR_ARG, logged to the
 * environment. */
storm_status run_fields_check(const struct storm_deck *deck,
                              const struct storm_env *env);

/* run_fields.c: temperatures and densities of the start from a file.
 * Hash: of the values, 0 if there is no file. Sets them, or only hashes.
 * Collective. */
storm_status run_fields_read(struct run *run, bool sets, uint64_t *hash_out);

/* run_materials.c: cells and volumes of materials; warns of layers that are
 * thinner than two cells. Collective. */
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

/* run_traffic.c: fills run->traffic. Collective. */
storm_status run_traffic_gather(struct run *run);
void run_traffic_close(struct run *run);
void run_traffic_json(const struct run *run, struct storm_json *json);

/* run_events.c: after a step, before the mesh changes; collective. Columns of
 * history.csv and a part of the summary, if the deck asks for them. */
storm_status run_events_add(struct run *run);
void run_events_header(const struct run *run, struct storm_page *page);
void run_events_row(const struct run *run, struct storm_page *page);
void run_events_json(const struct run *run, struct storm_json *json);
/* Shares of the methods, if there are several; gather is collective. */
storm_status run_methods_gather(struct run *run);
void run_methods_json(const struct run *run, struct storm_json *json);
void run_methods_table(const struct run *run, struct storm_page *page);

/* run_motion.c: moves the mesh as the deck asks for. Collective. STORM_ERR_ARG
 * (logged): it would leave the box. */
storm_status run_move(struct run *run, double dt_s);
/* Before the step: the velocities of that, for storm_imc_set_frame. Collective,
 * the same. */
storm_status run_set_frame(struct run *run, double dt_s);

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

/* The number of a dump now: the step; in replicas with steps of their own
 * (ACCURACY-3) the number of dumps before it, by times. */
uint64_t run_dump_number(const struct run *run);

/* What is done of all steps, 0 .. 1, about. */
double run_fraction(const struct run *run);

/* Does this rank want the run to stop after this step? */
enum run_stop run_wants_stop(struct run *run);

/* run_dir.c: takes the output directory: refuses one that holds another run,
 * removes what is not to stay, records the state and writes the deck.
 * Collective. STORM_ERR_STATE, STORM_ERR_IO (logged). */
storm_status run_begin_output(struct run *run);

/* May the run write there? Locks a directory that holds a run already: nobody
 * else may change its checkpoint, or replace it as well. Another is created
 * and locked by run_begin_output. Collective. STORM_ERR_STATE, STORM_ERR_IO
 * (logged). */
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

/* Removes all checkpoints of out_dir. On rank 0. STORM_ERR_IO (logged). */
storm_status run_drop_checkpoints(const struct run *run);

/* Removes the checkpoint that the run was restarted from if the deck asks for
 * none: it was written because the run stopped. On rank 0. */
void run_drop_checkpoint(const struct run *run);

/* Hashes of the present mesh and materials. Collective. */
storm_status run_hashes(const struct run *run, struct run_first *hashes_out);

/* Loads the newest good checkpoint of restart_dir. Collective. STORM_ERR_IO:
 * there is none, STORM_ERR_ARG: CHECKPOINT-4, STORM_ERR_STATE: it gives another
 * state hash (all logged). */
storm_status run_restart(struct run *run);

/* run_replica.c: reads what the job in restart_dir has done, or begins one.
 * Before run_open. Collective. STORM_ERR_ARG: too many replicas, or not those
 * of the directory; STORM_ERR_IO (all logged). */
storm_status run_job_open(struct run *run);
void run_job_close(struct run *run);

/* Takes note of what was read of files, or compares it with what a job began
 * with; nothing without replicas. Collective. STORM_ERR_ARG: it is something
 * else; STORM_ERR_IO (both logged). */
storm_status run_job_take_inputs(struct run *run, uint64_t fields_hash);

/* The number of the present replica, from 1; 0: the run has none. */
uint64_t run_job_replica(const struct run *run);

/* Have all replicas ended? Also true of a run without, between its steps. */
bool run_job_is_over(const struct run *run);

/* Writes replicas.csv, on rank 0. STORM_ERR_IO (logged). */
storm_status run_job_write(const struct run *run);

/* The present replica has ended: its checkpoints go, replicas.csv has it.
 * Collective. */
struct storm_run_summary;
storm_status run_job_end_replica(struct run *run,
                                 const struct storm_run_summary *summary);

/* The state before the first step of the next one. Collective. */
storm_status run_job_begin_replica(struct run *run);

/* Sums and means over all replicas that have ended, instead of those of the
 * last. */
void run_job_summarise(struct run *run, struct storm_run_summary *summary);
void run_job_json(const struct run *run, struct storm_json *json);
void run_job_table(const struct run *run, struct storm_page *page);

/* run_doubts.c: is the point where cells can be? */
bool run_is_in_box(const struct deck_values *v, const double x[3]);
/* run_control.c: are lengths of steps by accuracy? */
bool run_control_is_on(const struct run *run);
/* Why steps of replicas cannot be by accuracy; NULL: they can. */
const char *run_control_refuses(const struct run *run);
/* Sets the length of the next step from what the last one, of dt_s, has
 * changed, before the mesh changes; nothing otherwise. Collective. */
storm_status run_control_step(struct run *run, double dt_s);
void run_control_json(const struct run *run, struct storm_json *json);
void run_control_table(const struct run *run, struct storm_page *page);

/* run_scarce.c: looks at the step that has just ended, before the mesh changes.
 * Collective. The others on rank 0. */
storm_status run_scarce_look(struct run *run);
storm_status run_scarce_add(struct run *run); /* every step */
void run_scarce_json(const struct run *run, struct storm_json *json);
void run_scarce_warn(struct run *run);

/* run.c: runs without output files. Collective. */
storm_status run_measure(struct storm_context *context,
                         const struct storm_deck *deck,
                         const struct storm_progress *progress,
                         struct storm_run_summary *summary_out);

/* run.c: the current state, for output. */
struct io_source run_source(const struct run *run);

#endif /* STORM_RUN_RUN_H */
