/* SPDX-License-Identifier: BSD-3-Clause */
/* Run a deck: the loop over time steps, and the summary. */
#include "run/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include <storm/context.h>

#include "base/clock.h"
#include "base/sized.h"
#include "io/io_files.h"
#include "run/run_summary.h"

static const double run_max_imbalance = 1e-13;
static const double run_light_cm_s = 2.99792458e10;

/* ---- output -------------------------------------------------------------- */

struct io_source run_source(const struct run *run)
{
    bool path = run->deck->values.output.radiation == 0 && run->step > 0;
    return (struct io_source){
        .context = run->context,
        .mesh = run->mesh,
        .imc = run->imc,
        .engine = run->engine,
        .dir = run->out_dir,
        .step = run_dump_number(run),
        .start_s = run->start_s,
        .time_s = run->time_s,
        .radiation =
            path ? STORM_IMC_RADIATION_PATH : STORM_IMC_RADIATION_CENSUS,
        .natural = run->problem.light_cm_s != run_light_cm_s,
        .title = storm_deck_title(run->deck),
        .moments = run_moments(run),
        .radiation_constant = run->problem.radiation_erg_cm3_kev4,
        .materials = run->problem.materials,
        .n_materials = run->problem.n_materials,
        .replica = run_job_replica(run),
        .is_restarted = run->restart_dir != NULL,
    };
}

/* Bins of the profile, as the deck and the mesh have them now. */
static struct io_bins run_bins(const struct run *run)
{
    const struct deck_profile *p = &run->deck->values.output.profile;
    double lo_cm[3], hi_cm[3]; /* it may have moved */
    storm_mesh_box(run->mesh, lo_cm, hi_cm);
    struct io_bins bins = {
        .axis = p->axis, .lo_cm = lo_cm[p->axis], .hi_cm = hi_cm[p->axis]};
    if (p->bins == DECK_BY_WORD)
        bins.n = storm_mesh_edges(run->mesh, p->axis, &bins.edges_cm) - 1;
    else
        bins.n = (size_t)p->bins;
    if (p->edges.n > 0)
        bins.edges_cm = p->edges.item;
    return bins;
}

static storm_status run_write_lineouts(const struct run *run,
                                       const struct io_source *source)
{
    const struct deck_output *output = &run->deck->values.output;
    storm_status status = STORM_OK;
    for (size_t i = 0; i < output->lineouts.n && status == STORM_OK; i++) {
        const struct deck_lineout *l = &output->lineouts.item[i];
        struct io_line line = {.name = l->name, .n = (size_t)l->points};
        for (int d = 0; d < 3; d++) {
            line.from_cm[d] = l->from[d];
            line.to_cm[d] = l->to[d];
        }
        status = io_write_lineout(source, &line);
    }
    return status;
}

static storm_status run_dump(struct run *run)
{
    const struct io_source source = run_source(run);
    const struct io_bins bins = run_bins(run);
    storm_status status = STORM_OK;
    if (run->out_dir == NULL)
        return STORM_OK;
    if (bins.n > 0)
        status = io_write_profile(&source, &bins);
    if (status == STORM_OK)
        status = run_write_lineouts(run, &source);
    /* They are of the time up to now: means of replicas need all of it. */
    if (status == STORM_OK && source.replica <= 1)
        status = io_write_tallies(&source);
    return status < 0 ? status : io_write_fields(&source, &run->series);
}

/* ---- steps --------------------------------------------------------------- */

static void run_report_progress(struct run *run)
{
    const struct run_job *job = &run->job;
    double fraction = run_fraction(run);
    if (job->n == 0)
        storm_progress_report(run->context, &run->progress, fraction,
                              "step %" PRIu64 ", t = %.4g", run->step,
                              run->time_s);
    else
        storm_progress_report(run->context, &run->progress,
                              ((double)job->n_done + fraction) / (double)job->n,
                              "replica %" PRIu64 " of %" PRIu64
                              ", step %" PRIu64 ", t = %.4g",
                              job->n_done + 1, job->n, run->step, run->time_s);
}

/* DECKRUN-3 */
static storm_status run_check_energy(struct run *run)
{
    storm_status status = storm_imc_balance(run->imc, run->engine,
                                            run->energy_erg, &run->balance);
    if (status < 0)
        return status;
    run->worst_balance = fmax(run->worst_balance, run->balance);
    if (run->problem.motion) {
        struct storm_imc_momenta momenta = STORM_IMC_MOMENTA_INIT;
        status = storm_imc_momentum(run->imc, run->engine, &momenta);
        if (status < 0)
            return status;
        run->worst_momentum = fmax(run->worst_momentum, momenta.error);
    }
    if (storm_context_rank(run->context) == 0)
        storm_context_log(run->context, STORM_LOG_DEBUG,
                          "step %" PRIu64 ": t = %.6g, energy created %.10g, "
                          "absorbed %.10g, escaped %.10g, census %.10g, "
                          "balance %.1e",
                          run->step, run->time_s, run->energy_erg[0],
                          run->energy_erg[1], run->energy_erg[2],
                          run->energy_erg[3], run->balance);
    if (run->balance <= run_max_imbalance)
        return STORM_OK;
    if (storm_context_rank(run->context) == 0)
        storm_context_log(run->context, STORM_LOG_ERROR,
                          "wrong result: energy is off by %.3g after step "
                          "%" PRIu64 " (max %.0e); please report this",
                          run->balance, run->step, run_max_imbalance);
    return STORM_ERR_STATE;
}

/* Is the step that has ended followed by a dump? */
static bool run_is_dump(const struct run *run, const struct run_target *target)
{
    const uint64_t every = (uint64_t)run->deck->values.output.every;
    return (every > 0 && run->step % every == 0) || target->dump ||
           target->last;
}

static storm_status run_step(struct run *run, const struct run_target *target)
{
    struct storm_stats before = STORM_STATS_INIT, after = STORM_STATS_INIT;
    storm_status status = run_before_step(run);
    if (status < 0)
        return status;
    storm_engine_stats(run->engine, &before);
    status = run_set_frame(run, target->dt_s);
    if (status < 0)
        return status;
    status = storm_imc_set_step(run->imc, run->time_s, target->dt_s);
    if (status == STORM_OK)
        status = storm_engine_step(run->engine);
    status = storm_context_agree(run->context, status);
    if (status < 0)
        return status;
    storm_engine_stats(run->engine, &after);
    enum { SECONDS, STOP, EVENTS, N };
    uint64_t events = after.events - before.events;
    double max[N] = {[SECONDS] = after.seconds - before.seconds,
                     [STOP] = (double)run_wants_stop(run), /* DECKRUN-4 */
                     [EVENTS] = (double)events};
    status = storm_context_reduce(run->context, max, N, MPI_DOUBLE, MPI_MAX);
    if (status == STORM_OK)
        status = storm_context_reduce(run->context, &events, 1, MPI_UINT64_T,
                                      MPI_SUM);
    run_load_add(run, max[EVENTS], (double)events);
    run->seconds += max[SECONDS];
    run->asked = (enum run_stop)max[STOP];
    run->stopped = target->last ? RUN_GOES_ON : run->asked;
    run->start_s = run->time_s;
    run->time_s = target->end_s;
    run->step++;
    if (status == STORM_OK)
        status = run_events_add(run);
    if (status == STORM_OK && run_is_dump(run, target))
        status = run_scarce_look(run);
    if (status == STORM_OK)
        status = run_control_step(run, target->dt_s);
    if (status == STORM_OK)
        status = run_scarce_add(run);
    if (status == STORM_OK)
        status = run_after_step(run, target);
    if (status == STORM_OK)
        status = run_check_energy(run);
    if (status == STORM_OK)
        status = run_history_add(run, &before, &after, target->dt_s);
    if (status == STORM_OK)
        status = run_trace_add(run);
    return status < 0 ? status : run_probes_add(run);
}

/* No steps are left: a restarted run may have been complete. */
static bool run_is_over(const struct run *run)
{
    const struct deck_time *time = &run->deck->values.time;
    return !(run->time_s < time->stop) ||
           (time->steps > 0 && run->step >= (uint64_t)time->steps);
}

/* DECKRUN-6. Between replicas the end of the next step does. Collective. */
static storm_status run_stop_early(struct run *run)
{
    if (run->job.n_done > 0)
        return STORM_OK;
    int asked = run->stop != NULL && run->stop(run->stop_self);
    storm_status status =
        storm_context_reduce(run->context, &asked, 1, MPI_INT, MPI_MAX);
    if (status < 0 || !asked || run_is_over(run))
        return status;
    run->stopped = RUN_REQUEST;
    /* DECKRUN-5; a restart may write to another directory. */
    return run->step > 0 ? run_checkpoint(run, false) : STORM_OK;
}

/* The state before the first step. */
static storm_status run_begin(struct run *run)
{
    storm_status status = run_stop_early(run);
    if (status < 0 || (run->step == 0 && run->stopped != RUN_GOES_ON))
        return status;
    if (run->step > 0)
        return run_check_energy(run);
    status = run_dump(run);
    return status < 0 ? status : run_probes_add(run);
}

/* One step and what is written after it. */
static storm_status run_cycle(struct run *run, const struct run_target *target)
{
    storm_status status = run_step(run, target);
    bool dump = run_is_dump(run, target);
    bool has_written = dump || run_checkpoint_is_due(run, target->last);
    if (status >= 0 && dump)
        status = run_dump(run);
    if (status >= 0 && has_written)
        status = run_history_write(run);
    if (status >= 0)
        status = run_checkpoint(run, target->last);
    if (status >= 0 && storm_context_rank(run->context) == 0)
        run_record_step(run, has_written);
    return status;
}

static void run_log_complete(const struct run *run, const char *what)
{
    if (storm_context_rank(run->context) == 0)
        storm_context_log(run->context, STORM_LOG_WARN,
                          "the run is complete%s; to continue it, %s",
                          run->finished ? ", its files stay as they are" : "",
                          what);
}

static storm_status run_loop(struct run *run)
{
    storm_status status = run_is_over(run) ? STORM_OK : run_history_open(run);
    if (status >= 0)
        status = run_begin(run);
    run->last_step = run_last_step(run);
    if (run_is_over(run) && run->job.n == 0)
        run_log_complete(run, "set a later time.stop or more time.steps");
    run->cycle_from_s = storm_clock_seconds();
    for (bool last = run_is_over(run);
         !last && status >= 0 && run->stopped == RUN_GOES_ON;) {
        struct run_target target = run_next(run);
        run_report_progress(run);
        status = run_cycle(run, &target);
        last = target.last;
    }
    run_report_progress(run);
    if (status >= 0 && run->stopped == RUN_GOES_ON)
        run_trace_warn(run);
    run_history_close(run);
    return status;
}

/* ---- summary ------------------------------------------------------------- */

static io_run_state run_end_state(const struct run *run)
{
    return run->stopped == RUN_GOES_ON ? IO_RUN_DONE : IO_RUN_STOPPED;
}

/* What the opacity of a power law over a group is. */
static const char *run_group_opacity(const struct run *run)
{
    static const char *const names[] = {
        [STORM_GROUP_MIDDLE] = "middle",
        [STORM_GROUP_PLANCK] = "planck",
        [STORM_GROUP_ROSSELAND] = "rosseland",
    };
    return names[run->problem.group_average];
}

static void run_groups_json(const struct run *run, struct storm_json *json)
{
    if (run->problem.n_groups == 1)
        return;
    storm_json_open(json, "groups", '{');
    storm_json_uint(json, "count", run->problem.n_groups);
    storm_json_text(json, "opacity", run_group_opacity(run));
    storm_json_close(json, '}');
}

static char *run_json(const struct run *run,
                      const struct storm_run_summary *summary)
{
    struct storm_json json;
    storm_json_begin(&json, true);
    storm_json_open(&json, NULL, '{');
    storm_run_summary_json(&json, summary);
    storm_json_text(&json, "state", io_run_state_name(run_end_state(run)));
    storm_json_real(&json, "time", run->time_s);
    storm_json_open(&json, "energy", '{');
    for (int i = 0; i < RUN_N_ENERGIES; i++)
        storm_json_real(&json, run_energy_names[i], run->energy_erg[i]);
    storm_json_close(&json, '}');
    if (run->problem.motion)
        storm_json_real(&json, "momentum_balance", run->worst_momentum);
    storm_json_uint(&json, "seed", run->problem.seed);
    run_groups_json(run, &json);
    run_events_json(run, &json);
    run_methods_json(run, &json);
    run_job_json(run, &json);
    run_control_json(run, &json);
    run_scarce_json(run, &json);
    run_materials_json(run, &json);
    run_mesh_json(run, &json);
    run_traffic_json(run, &json);
    run_warnings_json(run, &json);
    storm_json_close(&json, '}');
    return storm_json_end(&json);
}

static char *run_table(const struct run *run, const struct storm_run_summary *s)
{
    struct storm_page page = {0};
    char number[STORM_GROUPED_BYTES];
    storm_page_add(&page, "%s\n\n", s->title);
    storm_page_add(&page, "  cells       %s\n",
                   storm_page_grouped(s->cells, number));
    run_materials_table(run, &page);
    if (run->problem.n_groups > 1)
        storm_page_add(&page, "  groups      %" PRIu64 ", opacity %s\n",
                       run->problem.n_groups, run_group_opacity(run));
    storm_page_add(&page, "  ranks       %d, backend %s, protocol %s\n",
                   s->ranks, s->backend, s->protocol);
    storm_page_add(&page, "  time        %.6g in %" PRIu64 " steps\n",
                   run->time_s, run->step);
    run_control_table(run, &page);
    storm_page_add(&page, "  packets     %s created",
                   storm_page_grouped(s->run.created, number));
    storm_page_add(&page, ", %s alive\n",
                   storm_page_grouped(s->run.census, number));
    storm_page_add(&page, "  events      %s in %.3f s\n",
                   storm_page_grouped(s->run.events, number), s->seconds);
    storm_page_add(&page,
                   "  energy      %.6g created (emission of matter included), "
                   "%.6g absorbed,\n"
                   "              %.6g escaped, %.6g at census\n",
                   run->energy_erg[0], run->energy_erg[1], run->energy_erg[2],
                   run->energy_erg[3]);
    run_methods_table(run, &page);
    run_job_table(run, &page);
    storm_page_add(&page, "  balance     closed to %.1e in every step\n",
                   run->worst_balance);
    if (run->problem.motion)
        storm_page_add(&page, "  momentum    closed to %.1e in every step\n",
                       run->worst_momentum);
    run_mesh_table(run, &page);
    storm_run_summary_end(&page, s);
    return storm_page_end(&page);
}

static storm_status run_summarise(struct run *run,
                                  struct storm_run_summary *summary_out)
{
    struct storm_run_summary summary = {
        .title = storm_deck_title(run->deck),
        .cycles = run->step,
        .cells = storm_mesh_n_cells_total(run->mesh),
        .seconds = run->seconds,
        .energy_balance = run->worst_balance,
    };
    storm_status status =
        storm_imc_hash(run->imc, run->engine, &summary.state_hash);
    if (status < 0)
        return status;
    summary.run = (struct storm_stats)STORM_STATS_INIT;
    storm_engine_stats(run->engine, &summary.run);
    summary.timed = summary.run;
    summary.run.created += run->before.created;
    summary.run.absorbed += run->before.absorbed;
    summary.run.escaped += run->before.escaped;
    status = run_methods_gather(run);
    if (status >= 0)
        status = storm_run_summary_reduce(run->context, run->engine, &summary);
    *summary_out = summary;
    return status < 0 ? status : run_traffic_gather(run);
}

/* A restart where nothing is left to do: results, with their times, are there.
 * Collective. */
static storm_status run_find_finished(struct run *run)
{
    bool is_over = run->job.n > 0 ? run_job_is_over(run) : run_is_over(run);
    int finished =
        storm_context_rank(run->context) == 0 && is_over &&
        run_is_in_place(run) &&
        storm_run_read_state(run->out_dir, NULL, 0) == STORM_RUN_DONE;
    storm_status status =
        storm_context_reduce(run->context, &finished, 1, MPI_INT, MPI_MAX);
    run->finished = finished != 0;
    return status;
}

/* The present replica, and those after it. `summary` is of all that were run
 * here. */
static storm_status run_replicas(struct run *run,
                                 struct storm_run_summary *summary_out)
{
    struct storm_run_summary sum = {.title = NULL}, one;
    storm_status status = STORM_OK;
    if (run_job_is_over(run))
        run_log_complete(run, "ask for more --replicas");
    while (status >= 0 && run->stopped == RUN_GOES_ON) {
        bool is_first = sum.title == NULL;
        if (!run_job_is_over(run))
            status = run_loop(run);
        if (status >= 0)
            status = run_summarise(run, &one);
        if (status < 0)
            break;
        if (is_first)
            sum = one;
        else
            storm_run_summary_add(&sum, &one);
        if (run->stopped != RUN_GOES_ON || run_job_is_over(run))
            break;
        status = run_job_end_replica(run, &one);
        if (run_job_is_over(run))
            break;
        run->stopped = run->asked;
        if (status >= 0 && run->stopped == RUN_GOES_ON)
            status = run_job_begin_replica(run);
    }
    if (status >= 0)
        run_job_summarise(run, &sum);
    *summary_out = sum;
    return status;
}

/* Sets up and runs all steps; the caller calls run_close. */
static storm_status run_whole(struct run *run,
                              struct storm_run_summary *summary_out)
{
    /* DECKRUN-7 */
    storm_status status = run_lock_output(run);
    if (status >= 0)
        status = run_job_open(run);
    if (status >= 0)
        status = run_files_check(run);
    if (status >= 0)
        status = run_open(run);
    if (status >= 0 && run->restart_dir != NULL)
        status = run_find_finished(run);
    if (status >= 0 && !run->finished)
        status = run_begin_output(run);
    if (status >= 0 && run->job.n > 0)
        return run_replicas(run, summary_out);
    if (status >= 0)
        status = run_loop(run);
    return status < 0 ? status : run_summarise(run, summary_out);
}

storm_status run_measure(struct storm_context *context,
                         const struct storm_deck *deck,
                         const struct storm_progress *progress,
                         struct storm_run_summary *summary_out)
{
    struct run run = {
        .context = context, .deck = deck, .lock = -1, .progress = *progress};
    storm_status status = run_whole(&run, summary_out);
    run_close(&run);
    return status;
}

/* Texts, summary.json and the final state, on rank 0. */
static storm_status run_end(struct run *run,
                            const struct storm_run_summary *summary,
                            storm_status status, char *parts[STORM_RUN_N_PARTS])
{
    static const char *const reasons[] = {[RUN_GOES_ON] = "",
                                          [RUN_TIME_LIMIT] = "time limit",
                                          [RUN_REQUEST] = "request"};
    if (status >= 0)
        run_scarce_warn(run);
    if (status >= 0) {
        parts[STORM_RUN_JSON] = run_json(run, summary);
        parts[STORM_RUN_TABLE] = run_table(run, summary);
        if (parts[STORM_RUN_JSON] == NULL || parts[STORM_RUN_TABLE] == NULL)
            status = STORM_ERR_NOMEM;
    }
    if (status >= 0 && run->out_dir != NULL && !run->finished)
        status = io_write_text(run->context, run->out_dir, "summary.json",
                               parts[STORM_RUN_JSON]);
    if (status < 0) {
        (void)run_record(run, IO_RUN_FAILED, storm_status_name(status));
        return status;
    }
    if (run->stopped == RUN_GOES_ON && run->job.n == 0)
        run_drop_checkpoint(run);
    return run_record(run, run_end_state(run), reasons[run->stopped]);
}

storm_status storm_run(struct storm_context *context,
                       const struct storm_deck *deck,
                       const struct storm_run_params *params,
                       struct storm_run_report **report_out)
{
    struct storm_run_params own;
    storm_status status =
        storm_sized_read(storm_context_env(context), "storm_run", params, &own,
                         sizeof own);
    status = storm_context_agree(context, status);
    if (status < 0)
        return status;
    struct run run = {.context = context,
                      .deck = deck,
                      .lock = -1,
                      .out_dir = own.out_dir,
                      .restart_dir = own.restart_dir,
                      .overwrite = own.overwrite,
                      .progress = own.progress,
                      .stop = own.stop,
                      .stop_self = own.stop_self,
                      .job = {.n = own.replicas}};
    if (own.time_limit_s > 0.0)
        run.deadline_s = storm_clock_seconds() + own.time_limit_s;
    struct storm_run_summary summary;
    char *parts[STORM_RUN_N_PARTS] = {NULL};
    status = storm_env_explain(storm_context_env(context),
                               run_whole(&run, &summary));
    if (storm_context_rank(context) == 0)
        status = run_end(&run, &summary, status, parts);
    run_close(&run);
    status = storm_run_report_make(context, status, parts, report_out);
    if (status >= 0 && run.stopped != RUN_GOES_ON)
        storm_run_report_set_stopped(*report_out, run.step);
    return status;
}
