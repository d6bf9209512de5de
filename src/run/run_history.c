/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * history.csv: a row for each step. What the problem decides comes first and is
 * the same on any number of ranks; what the machine decides comes after
 * `balance`.
 */
#include "run/run_history.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <storm/context.h>

#include "base/env.h"
#include "base/memory.h"
#include "run/run.h"
#include "run/run_summary.h"

static const char history_label[] = "history";

/* Columns of the origins of packets, in order. */
static const struct history_origin {
    storm_origin origin;
    const char *name;
} history_origins[] = {
    {STORM_ORIGIN_INITIAL, "initial"}, {STORM_ORIGIN_EMISSION, "emission"},
    {STORM_ORIGIN_SOURCE, "source"},   {STORM_ORIGIN_BOUNDARY, "drive"},
    {STORM_ORIGIN_USER, "host"},
};
enum { HISTORY_ORIGINS = sizeof history_origins / sizeof history_origins[0] };

static bool history_is_wanted(const struct run *run)
{
    return run->out_dir != NULL && run->deck->values.output.history;
}

/* ---- the header ---------------------------------------------------------- */

void run_column_name(struct storm_page *page, const char *name)
{
    for (const char *c = name != NULL ? name : ""; *c != '\0'; c++) {
        bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                     (*c >= '0' && *c <= '9') || *c == '-' || *c == '.';
        storm_page_add(page, "%c", plain ? *c : '_');
    }
}

/* A wall of the box, or the number of a boundary. */
static void history_wall(const struct run *run, struct storm_page *page,
                         size_t i)
{
    if (run->deck->values.mesh.kind == STORM_MESH_FILE)
        storm_page_add(page, ",escaped_%zu", i);
    else
        storm_page_add(page, ",escaped_%c_%s", "xyz"[i / 2],
                       i % 2 ? "hi" : "lo");
}

static char *history_header(const struct run *run)
{
    struct storm_page page = {0};
    storm_page_add(&page, "step,time,dt");
    for (int i = 0; i < HISTORY_ORIGINS; i++)
        storm_page_add(&page, ",packets_%s", history_origins[i].name);
    for (int i = 0; i < HISTORY_ORIGINS; i++)
        storm_page_add(&page, ",energy_%s", history_origins[i].name);
    for (size_t i = 0; i < run->problem.n_materials; i++) {
        storm_page_add(&page, ",absorbed_");
        run_column_name(&page, run->problem.materials[i].name);
    }
    for (size_t i = 0; i + 1 < run->history.n_walls; i++)
        history_wall(run, &page, i);
    storm_page_add(&page, ",escaped_outside,packets_escaped,energy_census,"
                          "packets_census,events");
    run_events_header(run, &page);
    if (run_control_is_on(run))
        storm_page_add(&page, ",change_matter,change_radiation,overshoot");
    storm_page_add(&page, ",balance,seconds");
    for (int i = 0; i < IO_N_TIMES; i++)
        storm_page_add(&page, ",%s", io_time_names[i]);
    storm_page_add(&page, ",imbalance,transfers,growths,ring_memory_mb,"
                          "peak_memory_mb");
    return storm_page_end(&page);
}

storm_status run_rows_open(struct run *run, struct io_rows *rows,
                           const char *name, const char *header)
{
    uint64_t replica = run_job_replica(run);
    *rows = (struct io_rows){.context = run->context, .dir = run->out_dir};
    if (replica == 0)
        snprintf(rows->name, sizeof rows->name, "%s.csv", name);
    else
        snprintf(rows->name, sizeof rows->name, "%s-%" PRIu64 ".csv", name,
                 replica);
    io_rows_begin(rows, header);
    if (run->step > 0 && !io_rows_keep(rows, run->restart_dir, run->step))
        run_warn(run,
                 "%s/%s is not there or has other columns: it begins "
                 "with step %" PRIu64,
                 run->restart_dir, rows->name, run->step + 1);
    return rows->text.failed ? STORM_ERR_NOMEM : STORM_OK;
}

static storm_status history_open(struct run *run)
{
    struct io_rows *rows = &run->history.rows;
    run->history.n_walls = storm_imc_n_flows(run->imc, STORM_IMC_FLOW_ESCAPED);
    if (!history_is_wanted(run) || storm_context_rank(run->context) != 0)
        return STORM_OK;
    char *header = history_header(run);
    if (header == NULL)
        return STORM_ERR_NOMEM;
    storm_status status = run_rows_open(run, rows, "history", header);
    free(header);
    return status;
}

storm_status run_history_open(struct run *run)
{
    storm_status status = storm_context_agree(run->context, history_open(run));
    if (status == STORM_OK)
        status = run_probes_open(run);
    return status < 0 ? status : run_trace_open(run);
}

void run_history_close(struct run *run)
{
    io_rows_free(&run->history.rows);
    io_rows_free(&run->history.trace);
    run_probes_close(run);
    run->history = (struct run_history){.has_failed = false};
}

static storm_status history_write(struct run *run, storm_log_level level)
{
    struct io_rows *const files[] = {&run->history.rows, &run->history.probes,
                                     &run->history.trace};
    storm_status status = STORM_OK;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (status == STORM_OK && files[i]->name[0] != '\0')
            status = io_rows_write(files[i], level);
    return status;
}

storm_status run_history_write(struct run *run)
{
    run->history.has_failed = false;
    return storm_context_agree(run->context,
                               history_write(run, STORM_LOG_ERROR));
}

/* Nothing is lost yet: a warning. */
void run_history_try(struct run *run)
{
    if (!run->history.has_failed)
        run->history.has_failed = history_write(run, STORM_LOG_WARN) < 0;
}

/* ---- a row --------------------------------------------------------------- */

/* Of a step, on all ranks together. */
struct history_row {
    struct storm_imc_flow *created, *absorbed, *escaped;
    struct storm_run_summary summary;
    double dt_s;
};

static void history_add(struct run *run, const struct history_row *row)
{
    struct storm_page *page = &run->history.rows.text;
    const struct storm_run_summary *s = &row->summary;
    double times[IO_N_TIMES];
    storm_page_add(page, "%" PRIu64 ",", run->step);
    io_rows_real(page, run->time_s, ',');
    io_rows_real(page, row->dt_s, ',');
    for (int i = 0; i < HISTORY_ORIGINS; i++)
        storm_page_add(page, "%" PRIu64 ",",
                       row->created[history_origins[i].origin].packets);
    for (int i = 0; i < HISTORY_ORIGINS; i++)
        io_rows_real(page, row->created[history_origins[i].origin].energy_erg,
                     ',');
    for (size_t i = 0; i < run->problem.n_materials; i++)
        io_rows_real(page, row->absorbed[i].energy_erg, ',');
    for (size_t i = 0; i < run->history.n_walls; i++)
        io_rows_real(page, row->escaped[i].energy_erg, ',');
    storm_page_add(page, "%" PRIu64 ",", s->timed.escaped);
    io_rows_real(page, run->energy_erg[3], ',');
    storm_page_add(page, "%" PRIu64 ",%" PRIu64 ",", s->timed.census,
                   s->timed.events);
    run_events_row(run, page);
    if (run_control_is_on(run)) {
        io_rows_real(page, run->control.matter, ',');
        io_rows_real(page, run->control.radiation, ',');
        storm_page_add(page, "%d,", run->control.overshoots);
    }
    io_rows_real(page, run->balance, ',');
    storm_page_add(page, "%.6g", s->seconds);
    storm_run_times(&s->timed.times, times);
    for (int i = 0; i < IO_N_TIMES; i++)
        storm_page_add(page, ",%.6g", times[i]);
    storm_page_add(page, ",%.4f,%" PRIu64 ",%" PRIu64 ",%.3f,%.3f\n",
                   s->imbalance, s->timed.transfers, s->timed.growths,
                   s->ring_memory_mb, s->peak_memory_mb);
}

/* What the physics and the engine report of the step. Collective. */
static storm_status history_fill(struct run *run,
                                 const struct storm_stats *before,
                                 const struct storm_stats *after,
                                 struct history_row *row)
{
    storm_status status =
        storm_imc_flows(run->imc, STORM_IMC_FLOW_CREATED, row->created);
    if (status == STORM_OK)
        status =
            storm_imc_flows(run->imc, STORM_IMC_FLOW_ABSORBED, row->absorbed);
    if (status == STORM_OK)
        status =
            storm_imc_flows(run->imc, STORM_IMC_FLOW_ESCAPED, row->escaped);
    if (status < 0)
        return status;
    row->summary.run = *after;
    row->summary.timed = (struct storm_stats)STORM_STATS_INIT;
    storm_run_stats_add(&row->summary.timed, before, after);
    row->summary.seconds = after->seconds - before->seconds;
    status = storm_context_reduce(run->context, &row->summary.seconds, 1,
                                  MPI_DOUBLE, MPI_MAX);
    return status < 0 ? status
                      : storm_run_summary_reduce(run->context, run->engine,
                                                 &row->summary);
}

storm_status run_history_add(struct run *run, const struct storm_stats *before,
                             const struct storm_stats *after, double dt_s)
{
    struct storm_memory *memory = storm_context_env(run->context)->memory;
    size_t n = storm_imc_n_flows(run->imc, STORM_IMC_FLOW_CREATED);
    size_t m = storm_imc_n_flows(run->imc, STORM_IMC_FLOW_ABSORBED);
    size_t w = storm_imc_n_flows(run->imc, STORM_IMC_FLOW_ESCAPED);
    if (!history_is_wanted(run))
        return STORM_OK;
    struct history_row row = {.dt_s = dt_s};
    row.created =
        storm_alloc(memory, history_label, (n + m + w) * sizeof *row.created);
    storm_status status =
        storm_context_agree(run->context,
                            row.created != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK) {
        row.absorbed = row.created + n;
        row.escaped = row.absorbed + m;
        status = history_fill(run, before, after, &row);
    }
    if (status == STORM_OK && storm_context_rank(run->context) == 0)
        history_add(run, &row);
    storm_free(memory, row.created);
    return status;
}
