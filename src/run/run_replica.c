/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replicas: runs of one deck with seeds seed, seed + 1, ..., one after another
 * on all ranks, as one job.
 *
 *   JOB-1  Replica k of a job is, bit for bit, the run with the seed of the
 *          deck plus k - 1.
 *   JOB-2  Mesh and problem are made once. A mesh that has moved is made anew
 *          for each replica.
 *   JOB-3  replicas.csv has the replicas that have ended. Dumps have means
 *          (io_means.h). Checkpoints are of the replica under way: they are
 *          removed before replicas.csv gets it, so that there is never one of
 *          another replica. A job that dies in between repeats the replica, and
 *          dumps that have it already stay (MEANS-3).
 *   JOB-4  A job goes on in its own directory, and may get further replicas.
 *          All are of the same problem: the deck may change in what results do
 *          not depend on, transport, balance and checkpoints. So may not what
 *          was read of the files that it names: mesh, tables, fields.
 */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>

#include "base/env.h"
#include "base/hash.h"
#include "base/student.h"
#include "base/text.h"
#include "io/io_files.h"
#include "io/io_means.h"
#include "run/run.h"
#include "run/run_summary.h"

static const char job_file[] = "replicas.csv";
static const double job_confidence = 0.95;

const char *const run_energy_names[RUN_N_ENERGIES] = {"created", "absorbed",
                                                      "escaped", "census"};

uint64_t run_job_replica(const struct run *run)
{
    return run->job.n == 0 ? 0 : run->job.n_done + 1;
}

bool run_job_is_over(const struct run *run)
{
    return run->job.n_done >= run->job.n;
}

/* ---- replicas.csv -------------------------------------------------------- */

/* The columns of the file. */
enum job_kind { JOB_COUNT, JOB_HASH, JOB_REAL };
static const struct job_column {
    const char *name;
    enum job_kind kind;
    size_t offset;
} job_columns[] = {
#define JOB_COLUMN(_name, _kind, _member)                   \
    {                                                       \
        _name, _kind, offsetof(struct run_replica, _member) \
    }
    JOB_COLUMN("seed", JOB_COUNT, seed),
    JOB_COLUMN("state_hash", JOB_HASH, state_hash),
    JOB_COLUMN("from_step", JOB_COUNT, from_step),
    JOB_COLUMN("cycles", JOB_COUNT, cycles),
    JOB_COLUMN("time", JOB_REAL, time_s),
    JOB_COLUMN("seconds", JOB_REAL, seconds),
    JOB_COLUMN("packets_created", JOB_COUNT, created),
    JOB_COLUMN("packets_absorbed", JOB_COUNT, absorbed),
    JOB_COLUMN("packets_escaped", JOB_COUNT, escaped),
    JOB_COLUMN("packets_census", JOB_COUNT, census),
    JOB_COLUMN("events", JOB_COUNT, events),
    JOB_COLUMN("energy_balance", JOB_REAL, balance),
    JOB_COLUMN("energy_created", JOB_REAL, energy_erg[0]),
    JOB_COLUMN("energy_absorbed", JOB_REAL, energy_erg[1]),
    JOB_COLUMN("energy_escaped", JOB_REAL, energy_erg[2]),
    JOB_COLUMN("energy_census", JOB_REAL, energy_erg[3]),
#undef JOB_COLUMN
};
enum { JOB_N_COLUMNS = sizeof job_columns / sizeof job_columns[0] };

static void job_print(struct storm_page *page, const struct job_column *column,
                      const struct run_replica *replica)
{
    const void *field = (const char *)replica + column->offset;
    char text[STORM_TEXT_REAL_BYTES];
    switch (column->kind) {
    case JOB_COUNT:
        storm_page_add(page, "%" PRIu64, *(const uint64_t *)field);
        break;
    case JOB_HASH:
        storm_page_add(page, "%016" PRIx64, *(const uint64_t *)field);
        break;
    case JOB_REAL:
        storm_text_from_real(*(const double *)field, text);
        storm_page_add(page, "%s", text);
        break;
    }
}

static char *job_text(const struct run_job *job)
{
    struct storm_page page = {0};
    storm_page_add(&page,
                   "# seed %" PRIu64 " replicas %" PRIu64 " deck %016" PRIx64
                   " inputs %016" PRIx64 "\n",
                   job->first_seed, job->n, job->deck_hash, job->inputs_hash);
    for (int k = 0; k < JOB_N_COLUMNS; k++)
        storm_page_add(&page, "%s%s", k == 0 ? "" : ",", job_columns[k].name);
    for (uint64_t i = 0; i < job->n_done; i++)
        for (int k = 0; k < JOB_N_COLUMNS; k++) {
            storm_page_add(&page, "%s", k == 0 ? "\n" : ",");
            job_print(&page, &job_columns[k], &job->done[i]);
        }
    storm_page_add(&page, "\n");
    return storm_page_end(&page);
}

storm_status run_job_write(const struct run *run)
{
    if (run->job.n == 0 || run->out_dir == NULL)
        return STORM_OK;
    char *text = job_text(&run->job);
    storm_status status =
        text != NULL ? io_write_text(run->context, run->out_dir, job_file, text)
                     : STORM_ERR_NOMEM;
    free(text);
    return status;
}

/* Reads one value, up to the comma or the end of the line. */
static bool job_parse(const char *text, const struct job_column *column,
                      struct run_replica *replica)
{
    void *field = (char *)replica + column->offset;
    char item[64], *end = item;
    size_t n = strcspn(text, ",\n");
    if (n == 0 || n >= sizeof item)
        return false;
    snprintf(item, sizeof item, "%.*s", (int)n, text);
    if (column->kind == JOB_REAL)
        return storm_text_to_real(item, field);
    int base = column->kind == JOB_HASH ? 16 : 10;
    *(uint64_t *)field = strtoull(item, &end, base);
    return *end == '\0';
}

static bool job_parse_row(const char *line, struct run_replica *replica)
{
    for (int k = 0; k < JOB_N_COLUMNS; k++) {
        if (!job_parse(line, &job_columns[k], replica))
            return false;
        line += strcspn(line, ",\n");
        line += *line == ',';
    }
    return *line == '\n' || *line == '\0';
}

/* A line of the file; false: there is none. */
static bool job_line(FILE *file, char line_out[1024])
{
    return fgets(line_out, 1024, file) != NULL;
}

/* All of it, but at most `max` rows into `done`, which may be NULL. False: it
 * is not such a file. */
static bool job_scan(FILE *file, struct run_job *job, uint64_t max,
                     struct run_replica *done)
{
    char line[1024];
    struct run_replica row;
    if (!job_line(file, line) ||
        sscanf(line,
               "# seed %" SCNu64 " replicas %" SCNu64 " deck %" SCNx64
               " inputs %" SCNx64,
               &job->first_seed, &job->n, &job->deck_hash,
               &job->inputs_hash) < 3 ||
        job->n == 0 || job->n > STORM_RUN_MAX_REPLICAS || !job_line(file, line))
        return false;
    for (job->n_done = 0; job_line(file, line); job->n_done++) {
        if (!job_parse_row(line, &row) ||
            row.seed != job->first_seed + job->n_done)
            return false;
        if (done != NULL && job->n_done < max)
            done[job->n_done] = row;
    }
    return job->n_done <= job->n;
}

/* ---- beginning ----------------------------------------------------------- */

/* JOB-4: of the lines of the resolved deck but for some. */
static uint64_t job_hash_deck(const char *text)
{
    static const char *const others[] = {
        "title:", "transport:", "balance:", "  checkpoint:", "seed:"};
    uint64_t hash = 0;
    bool skips = false;
    while (*text != '\0') {
        size_t n = strcspn(text, "\n");
        bool is_other = false;
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
            is_other =
                is_other || strncmp(text, others[i], strlen(others[i])) == 0;
        if (text[0] != ' ')
            skips = is_other; /* and all lines below it */
        for (size_t i = 0; i < n && !skips && !is_other; i++)
            hash = storm_hash_fold(hash, (unsigned char)text[i]);
        text += n + (text[n] != '\0');
    }
    return hash;
}

/* STORM_ERR_IO: it is damaged (logged). *exists_out: there is one. */
static storm_status job_read(const struct run *run, struct run_job *job,
                             uint64_t max, struct run_replica *done,
                             bool *exists_out)
{
    char path[IO_PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", run->restart_dir, job_file);
    FILE *file = fopen(path, "r");
    *exists_out = file != NULL;
    if (file == NULL)
        return STORM_OK;
    bool good = job_scan(file, job, max, done);
    fclose(file);
    if (!good)
        storm_context_log(run->context, STORM_LOG_ERROR,
                          "%s is damaged; start again with --overwrite", path);
    return good ? STORM_OK : STORM_ERR_IO;
}

static storm_status job_refuse(const struct run *run, const char *why)
{
    storm_context_log(run->context, STORM_LOG_ERROR, "--replicas: %s", why);
    return STORM_ERR_ARG;
}

/* Does the job that was found fit what is asked for? JOB-4 */
static storm_status job_fits(const struct run *run, const struct run_job *found,
                             bool exists)
{
    char why[256];
    if (!exists)
        return run->job.n == 0
                   ? STORM_OK
                   : job_refuse(run, "the run to restart was started without "
                                     "replicas; leave the option out, or start "
                                     "a new run");
    if (!run_is_in_place(run))
        return job_refuse(run, "a job with replicas goes on in its own "
                               "directory; leave --out out");
    if (found->first_seed != run->job.first_seed) {
        snprintf(why, sizeof why,
                 "the job began with seed %" PRIu64 ", not %" PRIu64
                 "; use the deck it was made with",
                 found->first_seed, run->job.first_seed);
        return job_refuse(run, why);
    }
    if (found->deck_hash != run->job.deck_hash)
        return job_refuse(run, "the job was made with another deck, and means "
                               "would be of two problems; restart it without "
                               "changes, or start a new run");
    if (run->job.n == 0 || run->job.n >= found->n_done)
        return STORM_OK;
    snprintf(why, sizeof why,
             "%" PRIu64 " replicas are done already; ask for as many at least",
             found->n_done);
    return job_refuse(run, why);
}

/* What the directory has, on rank 0; n_done and n to all ranks. */
static storm_status job_find(struct run *run)
{
    struct run_job found = {.n = 0};
    bool exists = false;
    storm_status status = STORM_OK;
    if (storm_context_rank(run->context) == 0) {
        status = job_read(run, &found, 0, NULL, &exists);
        if (status == STORM_OK)
            status = job_fits(run, &found, exists);
        run->job.inputs_hash = found.inputs_hash;
    }
    uint64_t both[2] = {found.n, found.n_done};
    status = storm_context_agree(run->context, status);
    if (status == STORM_OK)
        status =
            storm_context_reduce(run->context, both, 2, MPI_UINT64_T, MPI_MAX);
    if (run->job.n == 0)
        run->job.n = both[0];
    run->job.n_done = both[1];
    return status;
}

static storm_status job_alloc(struct run *run)
{
    struct run_job ignored;
    bool exists;
    run->job.done = storm_alloc(storm_context_env(run->context)->memory, "run",
                                (size_t)run->job.n * sizeof *run->job.done);
    if (run->job.done == NULL)
        return STORM_ERR_NOMEM;
    if (run->job.n_done == 0 || storm_context_rank(run->context) != 0)
        return STORM_OK;
    return job_read(run, &ignored, run->job.n, run->job.done, &exists);
}

storm_status run_job_open(struct run *run)
{
    char why[128];
    storm_status status = STORM_OK;
    run->job.first_seed =
        (uint64_t)storm_options_int(storm_context_options(run->context),
                                    "seed");
    run->job.deck_hash = job_hash_deck(storm_deck_text(run->deck));
    if (run->job.n > STORM_RUN_MAX_REPLICAS) {
        snprintf(why, sizeof why, "expected at most %d, got %" PRIu64,
                 STORM_RUN_MAX_REPLICAS, run->job.n);
        return storm_context_rank(run->context) == 0 ? job_refuse(run, why)
                                                     : STORM_ERR_ARG;
    }
    if (run->restart_dir != NULL)
        status = job_find(run);
    if (status < 0 || run->job.n == 0)
        return status;
    const char *refused = run_control_refuses(run);
    if (refused != NULL)
        return storm_context_rank(run->context) == 0 ? job_refuse(run, refused)
                                                     : STORM_ERR_ARG;
    return storm_context_agree(run->context, job_alloc(run));
}

storm_status run_job_take_inputs(struct run *run, uint64_t fields_hash)
{
    uint64_t hash = storm_hash_fold(0, run->first.mesh_hash);
    hash = storm_hash_fold(hash, run->first.matter_hash);
    hash = storm_hash_fold(hash, fields_hash);
    storm_status status = STORM_OK;
    if (run->job.n == 0)
        return STORM_OK;
    if (storm_context_rank(run->context) == 0) {
        if (run->job.inputs_hash != 0 && hash != run->job.inputs_hash)
            status =
                job_refuse(run, "a file that the deck names (mesh, table or "
                                "fields) has changed since the job began, and "
                                "means would be of two problems; put it back, "
                                "or start a new run");
        else
            run->job.inputs_hash = hash;
    }
    return storm_context_agree(run->context, status);
}

void run_job_close(struct run *run)
{
    storm_free(storm_context_env(run->context)->memory, run->job.done);
}

/* ---- from one to the next ------------------------------------------------ */

/* Means of what is written once for a replica, on rank 0. */
static storm_status job_write_means(const struct run *run,
                                    const struct io_source *source)
{
    bool has_same_steps = !run_control_is_on(run); /* ACCURACY-3 */
    storm_status status = STORM_OK;
    if (has_same_steps)
        status = io_means_file(source, "history", "step,time,dt");
    if (status == STORM_OK && has_same_steps)
        status = io_means_file(source, "probes",
                               "step,time,probe,x,y,z,cell,material");
    if (status == STORM_OK && source->replica > 1)
        status = io_write_xdmf(source, &run->series);
    return status;
}

storm_status run_job_end_replica(struct run *run,
                                 const struct storm_run_summary *summary)
{
    struct run_replica *done = &run->job.done[run->job.n_done];
    const struct io_source source = run_source(run);
    storm_status status = STORM_OK;
    *done = (struct run_replica){.seed = run->problem.seed,
                                 .state_hash = summary->state_hash,
                                 .from_step = run->from_step,
                                 .cycles = run->step,
                                 .time_s = run->time_s,
                                 .created = summary->run.created,
                                 .absorbed = summary->run.absorbed,
                                 .escaped = summary->run.escaped,
                                 .census = summary->run.census,
                                 .events = summary->run.events,
                                 .seconds = run->seconds,
                                 .balance = run->worst_balance};
    memcpy(done->energy_erg, run->energy_erg, sizeof done->energy_erg);
    if (run->out_dir != NULL)
        status = io_write_tallies(&source);
    if (status < 0)
        return status;
    if (storm_context_rank(run->context) == 0 && run->out_dir != NULL) {
        status = job_write_means(run, &source);
        if (status == STORM_OK)
            status = run_drop_checkpoints(run); /* JOB-3 */
    }
    run->job.n_done++;
    if (status == STORM_OK && storm_context_rank(run->context) == 0)
        status = run_job_write(run);
    return storm_context_agree(run->context, status);
}

storm_status run_job_begin_replica(struct run *run)
{
    const struct io_series kept = run->series;
    uint64_t fields_hash = 0;
    storm_status status = run_renew(run);
    if (status == STORM_OK)
        status = run_fields_read(run, true, &fields_hash);
    if (status == STORM_OK)
        status = run_job_take_inputs(run, fields_hash);
    if (status == STORM_OK)
        status = storm_context_agree(run->context,
                                     storm_imc_start(run->imc, run->engine));
    free(storm_page_end(&run->series.grids));
    run->series = (struct io_series){.mesh_step = 0};
    if (kept.mesh_step == 0) { /* mesh.h5 is of all replicas */
        run->series.mesh_hash = kept.mesh_hash;
        run->series.n_points = kept.n_points;
        run->series.n_words = kept.n_words;
    }
    run->step = run->from_step = 0;
    run->i_time = 0;
    run->start_s = run->time_s = 0.0;
    run->nominal_s = run->deck->values.time.dt;
    run->seconds = run->worst_balance = 0.0;
    run->before = (struct storm_stats){.size = sizeof run->before};
    return status;
}

/* ---- results ------------------------------------------------------------- */

static struct io_mean job_energy(const struct run_job *job, int i_account)
{
    struct io_mean mean = {0.0, 0.0};
    for (uint64_t i = 0; i < job->n_done; i++)
        io_mean_add(&mean, i + 1, job->done[i].energy_erg[i_account]);
    return mean;
}

/* Seconds of all replicas. Of one that was interrupted a part is known: it
 * counts as the mean of the others. */
static double job_seconds(const struct run_job *job)
{
    double sum = 0.0, n = 0.0;
    for (uint64_t i = 0; i < job->n_done; i++)
        if (job->done[i].from_step == 0) {
            sum += job->done[i].seconds;
            n += 1.0;
        }
    return n > 0.0 ? sum / n * (double)job->n_done : NAN;
}

void run_job_summarise(struct run *run, struct storm_run_summary *summary)
{
    const struct run_job *job = &run->job;
    struct storm_stats *s = &summary->run;
    if (job->n_done == 0)
        return;
    s->created = s->absorbed = s->escaped = s->census = 0;
    summary->cycles = 0;
    run->worst_balance = 0.0;
    for (uint64_t i = 0; i < job->n_done; i++) {
        const struct run_replica *r = &job->done[i];
        s->created += r->created;
        s->absorbed += r->absorbed;
        s->escaped += r->escaped;
        s->census += r->census;
        summary->cycles += r->cycles;
        run->worst_balance = fmax(run->worst_balance, r->balance);
        summary->state_hash =
            i == 0 ? r->state_hash
                   : storm_hash_fold(summary->state_hash, r->state_hash);
    }
    summary->energy_balance = run->worst_balance;
    run->problem.seed = job->first_seed;
    run->time_s = job->done[job->n_done - 1].time_s;
    for (int i = 0; i < RUN_N_ENERGIES; i++)
        run->energy_erg[i] = job_energy(job, i).mean;
}

static void job_json_replica(struct storm_json *json,
                             const struct run_replica *r)
{
    storm_json_open(json, NULL, '{');
    storm_json_uint(json, "seed", r->seed);
    storm_json_hash(json, "state_hash", r->state_hash);
    storm_json_uint(json, "cycles", r->cycles);
    storm_json_real(json, "time", r->time_s);
    storm_json_real(json, "seconds", r->seconds);
    storm_json_uint(json, "restarted_from", r->from_step);
    storm_json_uint(json, "packets_created", r->created);
    storm_json_uint(json, "steps", r->events);
    storm_json_real(json, "energy_balance", r->balance);
    storm_json_open(json, "energy", '{');
    for (int i = 0; i < RUN_N_ENERGIES; i++)
        storm_json_real(json, run_energy_names[i], r->energy_erg[i]);
    storm_json_close(json, '}');
    storm_json_close(json, '}');
}

/* Mean, error and what follows from them; null where one replica does not
 * tell. */
static void job_json_mean(struct storm_json *json, const struct run_job *job,
                          const char *name, struct io_mean m)
{
    bool has = job->n_done > 1;
    double t = has ? storm_student_t(job_confidence, job->n_done - 1) : NAN;
    double relative = has ? m.error / fabs(m.mean) : NAN;
    storm_json_open(json, name, '{');
    storm_json_real(json, "mean", m.mean);
    storm_json_real(json, "error", has ? m.error : NAN);
    storm_json_real(json, "low", m.mean - t * m.error);
    storm_json_real(json, "high", m.mean + t * m.error);
    storm_json_real(json, "relative_error", relative);
    storm_json_real(json, "figure_of_merit",
                    1.0 / (relative * relative * job_seconds(job)));
    storm_json_close(json, '}');
}

void run_job_json(const struct run *run, struct storm_json *json)
{
    const struct run_job *job = &run->job;
    if (job->n == 0)
        return;
    storm_json_open(json, "replicas", '[');
    for (uint64_t i = 0; i < job->n_done; i++)
        job_json_replica(json, &job->done[i]);
    storm_json_close(json, ']');
    storm_json_open(json, "errors", '{');
    storm_json_uint(json, "replicas", job->n_done);
    storm_json_uint(json, "replicas_wanted", job->n);
    storm_json_real(json, "seconds", job_seconds(job));
    storm_json_real(json, "confidence", job_confidence);
    storm_json_real(json, "student_t",
                    job->n_done > 1
                        ? storm_student_t(job_confidence, job->n_done - 1)
                        : NAN);
    storm_json_open(json, "energy", '{');
    for (int i = 0; i < RUN_N_ENERGIES && job->n_done > 0; i++)
        job_json_mean(json, job, run_energy_names[i], job_energy(job, i));
    storm_json_close(json, '}');
    storm_json_close(json, '}');
}

void run_job_table(const struct run *run, struct storm_page *page)
{
    const struct run_job *job = &run->job;
    if (job->n == 0)
        return;
    storm_page_add(page, "  replicas    %" PRIu64 " of %" PRIu64, job->n_done,
                   job->n);
    if (job->n_done > 0)
        storm_page_add(page, ", seeds %" PRIu64 " to %" PRIu64, job->first_seed,
                       job->first_seed + job->n_done - 1);
    storm_page_add(page, "\n");
    if (job->n_done < 2)
        return;
    storm_page_add(page,
                   "  errors      +- %.2g created, +- %.2g absorbed,\n"
                   "              +- %.2g escaped, +- %.2g at census "
                   "(one standard error)\n",
                   job_energy(job, 0).error, job_energy(job, 1).error,
                   job_energy(job, 2).error, job_energy(job, 3).error);
}
