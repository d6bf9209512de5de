/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of a run: HTML that is also well-formed XML. */
#include <storm/report.h>

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sized.h"
#include "base/text.h"
#include "deck/deck_node.h"
#include "io/io_summary.h"
#include "view/chart.h"
#include "view/plot.h"
#include "view/report_film.h"

static const char report_label[] = "report";

/* The page and its sources. */
struct report {
    struct storm_memory *memory; /* of the call */
    struct storm_page page;
    struct plot_run plot;
    struct deck_pool pool;
    struct deck_node *summary; /* NULL: there is none */
    struct storm_plot_params params;
    char problem[2 * IO_READER_PATH];
};

/* ---- the summary --------------------------------------------------------- */

/* A text of the summary; an empty one if it is not there. */
static const char *report_text(const struct deck_node *node, const char *key)
{
    const struct deck_node *entry = deck_node_find(node, key);
    return entry != NULL && entry->kind == DECK_SCALAR ? entry->text : "";
}

static bool report_number(const struct deck_node *node, const char *key,
                          double *value_out)
{
    return storm_text_to_real(report_text(node, key), value_out);
}

/* ---- pieces of HTML ------------------------------------------------------ */

static void report_begin_row(struct report *r, const char *name)
{
    storm_page_add(&r->page, "<tr><th>");
    storm_page_add_xml(&r->page, name);
    storm_page_add(&r->page, "</th><td>");
}

static void report_row(struct report *r, const char *name, const char *value)
{
    if (*value == '\0')
        return;
    report_begin_row(r, name);
    storm_page_add_xml(&r->page, value);
    storm_page_add(&r->page, "</td></tr>\n");
}

static void report_count(struct report *r, const char *name,
                         const struct deck_node *node, const char *key)
{
    char text[STORM_GROUPED_BYTES];
    double value;
    if (report_number(node, key, &value) && value >= 0.0 && value < 0x1p63)
        report_row(r, name, storm_page_grouped((uint64_t)value, text));
}

static void report_real(struct report *r, const char *name,
                        const struct deck_node *node, const char *key,
                        const char *unit)
{
    char number[STORM_SVG_LABEL_BYTES], text[STORM_SVG_LABEL_BYTES + 32];
    double value;
    if (!report_number(node, key, &value))
        return;
    storm_svg_number(value, 4, number);
    snprintf(text, sizeof text, "%s%s%s", number, *unit != '\0' ? " " : "",
             unit);
    report_row(r, name, text);
}

static void report_begin_table(struct report *r, const char *title)
{
    storm_page_add(&r->page, "<table><caption>%s</caption>\n", title);
}

static void report_end_table(struct report *r)
{
    storm_page_add(&r->page, "</table>\n");
}

static storm_status report_take(void *self, const char *name,
                                const char *caption, const char *svg)
{
    struct report *r = self;
    (void)name;
    storm_page_add(&r->page, "<figure aria-label=\"");
    storm_page_add_xml(&r->page, caption);
    storm_page_add(&r->page, "\">\n%s</figure>\n", svg);
    return STORM_OK;
}

/* ---- sections ------------------------------------------------------------ */

static void report_head(struct report *r)
{
    storm_page_add(
        &r->page,
        "<!DOCTYPE html>\n"
        "<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
        "<meta charset=\"utf-8\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width, "
        "initial-scale=1\"/>\n<title>");
    storm_page_add_xml(&r->page, r->plot.title);
    storm_page_add(
        &r->page,
        "</title>\n<style>\n"
        ":root{color-scheme:light dark}\n"
        "body{font:16px/1.45 'DejaVu Sans',Helvetica,Arial,sans-serif;"
        "background:#fff;color:#222;max-width:1500px;margin:2em auto;"
        "padding:0 1.5em}\n"
        "h1{margin-bottom:0}h2{margin-top:1.6em;"
        "border-bottom:1px solid #ccc}\n"
        ".lead{color:#555;margin-top:.3em}.state{color:#b00020}\n"
        ".side{display:flex;flex-wrap:wrap;gap:1.5em 3em;"
        "align-items:flex-start}\n"
        "table{border-collapse:collapse}caption{text-align:left;"
        "font-weight:bold;padding-bottom:.4em;white-space:nowrap}\n"
        "th{font-weight:normal;text-align:left;color:#555;"
        "padding:.15em 1.5em .15em 0}td{text-align:right}\n"
        "figure{margin:.5em 0;overflow-x:auto}"
        "figcaption{padding:.4em 0}"
        "figure svg{display:block;max-width:max(100%%,620px);height:auto}\n"
        ".pictures{display:grid;gap:1em;"
        "grid-template-columns:repeat(auto-fit,minmax(min(100%%,620px),1fr))}\n"
        "pre{background:#f6f6f6;padding:1em;overflow:auto;font-size:14px}\n"
        "%s"
        "@media (max-width:700px){body{margin:1em auto;padding:0 .8em}"
        "h1{font-size:1.5em}th{padding-right:.8em}"
        "td{overflow-wrap:anywhere}}\n"
        "@media (prefers-color-scheme:dark){body{background:#15171a;"
        "color:#e4e4e4}.lead,th{color:#aaa}.state{color:#ff8a80}"
        "h2{border-color:#444}pre{background:#22252a}}\n"
        "@media print{.keys{display:none}}\n"
        "</style>\n</head>\n<body>\n<h1>",
        report_film_style);
    storm_page_add_xml(&r->page, r->plot.title);
    storm_page_add(&r->page, "</h1>\n");
}

/* "Voronoi cells": names of people begin with a capital. */
static void report_cells(const struct report *r, char words_out[2 * PLOT_NAME])
{
    char kind[PLOT_NAME] = "";
    (void)storm_deck_value(r->plot.deck, "mesh.kind", kind, sizeof kind);
    if (strcmp(kind, "octree") != 0)
        kind[0] = (char)toupper((unsigned char)kind[0]);
    if (strcmp(kind, "File") == 0)
        snprintf(words_out, 2 * PLOT_NAME, "cells from a file");
    else
        snprintf(words_out, 2 * PLOT_NAME, "%s cells", kind);
}

/* One sentence about the run. */
static storm_status report_lead(struct report *r)
{
    const struct plot_steps *dumps = &r->plot.dumps;
    char number[STORM_GROUPED_BYTES], time[PLOT_TEXT], cells[2 * PLOT_NAME];
    storm_status status = plot_time(&r->plot, dumps->step[dumps->n - 1], time);
    if (status < 0)
        return status;
    report_cells(r, cells);
    storm_page_add(&r->page, "<p class=\"lead\">%s %s, to ",
                   storm_page_grouped(r->plot.reader.n_cells, number), cells);
    storm_page_add_xml(&r->page, time);
    if (r->summary != NULL) {
        storm_page_add(&r->page, "; ");
        const char *ranks = report_text(r->summary, "ranks");
        storm_page_add_xml(&r->page, ranks);
        storm_page_add(&r->page, " rank%s, backend ",
                       strcmp(ranks, "1") == 0 ? "" : "s");
        storm_page_add_xml(&r->page, report_text(r->summary, "backend"));
        storm_page_add(&r->page, ", ");
        storm_page_add_xml(&r->page, report_text(r->summary, "mpi"));
        storm_page_add(&r->page, "; storm ");
        storm_page_add_xml(&r->page, report_text(r->summary, "storm_version"));
    } else {
        storm_page_add(&r->page,
                       "; there is no summary.json: the run has not ended");
    }
    storm_page_add(&r->page, ".</p>\n");
    if (r->plot.state[0] != '\0') {
        storm_page_add(&r->page, "<p class=\"state\">Not done: ");
        storm_page_add_xml(&r->page, r->plot.state);
        storm_page_add(&r->page, ".</p>\n");
    }
    return STORM_OK;
}

/* Replicas that have ended; NULL: the run has none. */
static const struct deck_node *report_replicas(const struct report *r)
{
    return deck_node_find(r->summary, "replicas");
}

static void report_energy(struct report *r)
{
    const struct deck_node *energy = deck_node_find(r->summary, "energy");
    const char *unit = r->plot.natural ? "" : "erg";
    report_begin_table(r, report_replicas(r) != NULL
                              ? "Energy, mean of the replicas"
                              : "Energy");
    report_real(r, "created", energy, "created", unit);
    report_real(r, "absorbed", energy, "absorbed", unit);
    report_real(r, "escaped", energy, "escaped", unit);
    report_real(r, "in packets at the end", energy, "census", unit);
    report_real(r, "balance off by", r->summary, "energy_balance", "");
    report_end_table(r);
}

/* Means of a run with replicas: error, interval and figure of merit. */
static void report_errors(struct report *r)
{
    static const char *const accounts[] = {"created", "absorbed", "escaped",
                                           "census"};
    const struct deck_node *errors = deck_node_find(r->summary, "errors");
    const struct deck_node *energy = deck_node_find(errors, "energy");
    if (energy == NULL)
        return;
    report_begin_table(r, "Errors");
    report_count(r, "replicas", errors, "replicas");
    report_real(r, "Student's t, 95 %", errors, "student_t", "");
    for (size_t i = 0; i < sizeof accounts / sizeof accounts[0]; i++) {
        const struct deck_node *one = deck_node_find(energy, accounts[i]);
        char name[64];
        snprintf(name, sizeof name, "%s: relative error", accounts[i]);
        report_real(r, name, one, "relative_error", "");
        snprintf(name, sizeof name, "%s: figure of merit", accounts[i]);
        report_real(r, name, one, "figure_of_merit", "1/s");
    }
    report_end_table(r);
}

/* What became of the packets when the mesh or its partition changed. */
static void report_remap(struct report *r)
{
    const struct deck_node *remap = deck_node_find(r->summary, "remap");
    if (remap == NULL)
        return;
    report_begin_table(r, "Changes of mesh or partition");
    report_count(r, "changes", remap, "changes");
    report_count(r, "packets home at once", remap, "fixed");
    report_count(r, "walked", remap, "walked");
    report_count(r, "changed ranks", remap, "moved");
    report_count(r, "left outside", remap, "outside");
    report_count(r, "longest walk (cells)", remap, "longest");
    report_end_table(r);
}

/* One, or "1 to 3" of replicas. */
static void report_seeds(struct report *r)
{
    const struct deck_node *replicas = report_replicas(r);
    char text[2 * PLOT_NAME];
    if (replicas == NULL || replicas->kind != DECK_LIST || replicas->n < 2) {
        report_row(r, "seed", report_text(r->summary, "seed"));
        return;
    }
    snprintf(text, sizeof text, "%s to %s",
             report_text(replicas->items[0], "seed"),
             report_text(replicas->items[replicas->n - 1], "seed"));
    report_row(r, "seeds", text);
}

static void report_tables(struct report *r)
{
    const struct deck_node *s = r->summary;
    bool is_job = report_replicas(r) != NULL;
    report_begin_table(r, is_job ? "Packets, all replicas" : "Packets");
    report_count(r, "created", s, "packets_created");
    report_count(r, "absorbed", s, "packets_absorbed");
    report_count(r, "escaped", s, "packets_escaped");
    report_count(r, "alive at the end", s, "packets_census");
    report_count(r, "events (crossings, collisions)", s, "steps");
    report_count(r, "passed between ranks", s, "transfers");
    report_end_table(r);
    report_energy(r);
    report_errors(r);
    report_begin_table(r, is_job ? "Run, all replicas" : "Run");
    report_count(r, "time steps", s, "cycles");
    report_real(r, "seconds of transport", s, "seconds", "");
    report_real(r, "events per second and rank", s, "steps_per_second_per_rank",
                "");
    report_real(r, "imbalance of events (max / mean)", s, "imbalance", "");
    report_real(r, "peak memory of a rank", s, "peak_memory_mb", "MB");
    report_real(r, "rings of a rank", s, "ring_memory_mb", "MB");
    report_seeds(r);
    report_row(r, "state hash", report_text(s, "state_hash"));
    report_end_table(r);
    report_remap(r);
}

/* Breakdown of the time, as one bar. */
static storm_status report_breakdown(struct report *r)
{
    enum { N = IO_N_TIMES };
    static const char *const parts[N] = {"physics",         "progress",
                                         "send, receive",   "termination",
                                         "growth of rings", "idle"};
    const struct deck_node *breakdown = deck_node_find(r->summary, "breakdown");
    double seconds[N];
    bool any = false;
    for (int i = 0; i < N; i++) {
        if (!report_number(breakdown, io_time_names[i], &seconds[i]))
            seconds[i] = 0.0;
        any = any || seconds[i] > 0.0;
    }
    if (!any)
        return STORM_OK;
    struct storm_bar bar = {.name = "mean of ranks", .values = seconds};
    struct storm_bars bars = {.title = "Where the time went",
                              .label = "time (s)",
                              .parts = parts,
                              .n_parts = N,
                              .bars = &bar,
                              .n_bars = 1};
    char *svg = storm_bars_svg(&bars);
    if (svg == NULL)
        return STORM_ERR_NOMEM;
    storm_status status = report_take(r, NULL, "Mean seconds per rank", svg);
    free(svg);
    return status;
}

/* What the run has warned of. */
static void report_warnings(struct report *r)
{
    const struct deck_node *list = deck_node_find(r->summary, "warnings");
    if (list == NULL || list->kind != DECK_LIST || list->n == 0)
        return;
    storm_page_add(&r->page, "<h2>Warnings</h2>\n<ul class=\"state\">\n");
    for (size_t i = 0; i < list->n; i++) {
        const struct deck_node *item = list->items[i];
        storm_page_add(&r->page, "<li>");
        if (item->kind == DECK_SCALAR)
            storm_page_add_xml(&r->page, item->text);
        storm_page_add(&r->page, "</li>\n");
    }
    storm_page_add(&r->page, "</ul>\n");
}

static storm_status report_numbers(struct report *r)
{
    if (r->summary == NULL)
        return STORM_OK;
    report_warnings(r);
    storm_page_add(&r->page, "<h2>Summary</h2>\n<div class=\"side\">\n");
    report_tables(r);
    storm_page_add(&r->page, "</div>\n");
    return report_breakdown(r);
}

/* A line has profiles instead. */
static storm_status report_frames(struct report *r)
{
    if (plot_is_line(&r->plot))
        return STORM_OK;
    storm_status status = report_film(&r->plot, &r->page);
    if (status < 0)
        snprintf(r->problem, sizeof r->problem, "%s", r->plot.problem);
    return status;
}

static storm_status report_pictures(struct report *r)
{
    storm_page_add(&r->page, "<h2>Pictures</h2>\n<div class=\"pictures\">\n");
    storm_status status = storm_plot(&r->params, r->problem, sizeof r->problem);
    storm_page_add(&r->page, "</div>\n");
    return status;
}

static void report_deck(struct report *r)
{
    storm_page_add(&r->page, "<h2>Deck</h2>\n<details><summary>with all "
                             "defaults</summary>\n<pre>");
    for (const char *line = storm_deck_text(r->plot.deck); *line != '\0';) {
        size_t n = strcspn(line, "\n");
        char *copy = storm_alloc(r->memory, report_label, n + 1);
        if (copy == NULL) {
            r->page.failed = true;
            return;
        }
        memcpy(copy, line, n);
        storm_page_add_xml(&r->page, copy);
        storm_page_add(&r->page, "\n");
        storm_free(r->memory, copy);
        line += n + (line[n] == '\n');
    }
    storm_page_add(&r->page, "</pre></details>\n");
}

/* ---- the page ------------------------------------------------------------ */

static storm_status report_fill(struct report *r)
{
    storm_status status = plot_open(&r->plot, r->memory, &r->params);
    if (status == STORM_OK) {
        r->summary = plot_summary(&r->plot, &r->pool);
        report_head(r);
        status = report_lead(r);
    }
    if (status < 0) {
        snprintf(r->problem, sizeof r->problem, "%s", r->plot.problem);
        return status;
    }
    status = report_numbers(r);
    if (status == STORM_OK)
        status = report_frames(r);
    if (status == STORM_OK)
        status = report_pictures(r);
    if (status == STORM_OK)
        report_deck(r);
    storm_page_add(&r->page, "</body>\n</html>\n");
    return status;
}

/* The page, from malloc; NULL after an error. */
static char *report_make(struct report *r,
                         const struct storm_report_params *params,
                         storm_status *status_out)
{
    r->pool.memory = r->memory;
    r->params = (struct storm_plot_params){.size = sizeof r->params,
                                           .run_dir = params->run_dir,
                                           .reference = params->reference,
                                           .take = report_take,
                                           .take_self = r};
    storm_status status = report_fill(r);
    char *html = storm_page_end(&r->page);
    plot_close(&r->plot);
    deck_pool_free(&r->pool);
    *status_out = status < 0 || html != NULL ? status : STORM_ERR_NOMEM;
    if (status >= 0)
        return html;
    free(html);
    return NULL;
}

storm_status storm_report(const struct storm_report_params *params,
                          char **html_out, char *problem, size_t problem_size)
{
    struct storm_memory *memory = NULL;
    struct report *r = NULL;
    char *html = NULL;
    struct storm_report_params own;
    storm_status status =
        storm_sized_read(NULL, "storm_report", params, &own, sizeof own);
    if (status < 0) {
        snprintf(problem, problem_size, "%s", plot_not_initialised);
        return status;
    }
    status = STORM_ERR_NOMEM;
    if (storm_memory_create(&memory) == STORM_OK)
        r = storm_alloc(memory, report_label, sizeof *r);
    if (r != NULL) {
        r->memory = memory;
        html = report_make(r, &own, &status);
    }
    if (status == STORM_OK)
        *html_out = html;
    else
        snprintf(problem, problem_size, "%s",
                 status == STORM_ERR_NOMEM ? "no memory" : r->problem);
    storm_free(memory, r);
    storm_memory_end(memory);
    return status;
}
