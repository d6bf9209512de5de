/* SPDX-License-Identifier: BSD-3-Clause */
/* The points of a simulated scaling as JSON, table and charts. */
#include "bench/bench_lab.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/page.h"
#include "io/io_summary.h"
#include "view/chart.h"

enum { LAB_MAX_PUBLISHED = 64, LAB_LINE = 256 };

const char *const storm_lab_pictures[STORM_LAB_N_PICTURES] = {
    "time.svg", "efficiency.svg", "breakdown.svg"};

/* A published time. */
struct lab_published {
    int ranks;
    char backend[16];
    double seconds;
};

/* One point; NaN: not there. */
struct lab_point {
    const char *json;
    double seconds; /* per cycle */
    double part[IO_N_TIMES];
    uint64_t hash;
};

struct lab {
    const struct storm_bench_lab_params *params;
    struct storm_memory *memory;
    struct lab_point *point; /* by ranks, then backends */
    size_t n;
    struct lab_published published[LAB_MAX_PUBLISHED];
    size_t n_published;
    char source[LAB_LINE];
};

/* NULL: no memory. */
static void *lab_alloc(const struct lab *lab, size_t n, size_t bytes)
{
    return storm_alloc(lab->memory, "simulated scaling", (n + 1) * bytes);
}

/* ---- reading ------------------------------------------------------------- */

const char *storm_lab_value(const char *json, const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    const char *at = strstr(json, quoted);
    if (at == NULL)
        return NULL;
    at += strlen(quoted);
    return *at == '"' ? at + 1 : at;
}

static double lab_number(const char *json, const char *key)
{
    const char *at = storm_lab_value(json, key);
    return at != NULL ? strtod(at, NULL) : (double)NAN;
}

static bool lab_read_point(const char *json, struct lab_point *point)
{
    double cycles = lab_number(json, "timed_cycles");
    const char *hash = storm_lab_value(json, "state_hash");
    point->json = json;
    point->seconds = lab_number(json, "seconds") / cycles;
    for (int k = 0; k < IO_N_TIMES; k++)
        point->part[k] = lab_number(json, io_time_names[k]) / cycles;
    point->hash = hash != NULL ? strtoull(hash, NULL, 16) : 0;
    return point->seconds > 0 && hash != NULL;
}

/* Lines of this mode; those of others are left out. */
static void lab_read_published(struct lab *lab)
{
    const char *mode =
        lab->params->mode == STORM_BENCH_WEAK ? "weak" : "strong";
    for (const char *line = lab->params->published; line && *line;
         line += strcspn(line, "\n"), line += *line == '\n') {
        struct lab_published p;
        char word[16];
        if (*line == '#' && lab->source[0] == '\0') {
            const char *text = line + 1 + strspn(line + 1, " ");
            snprintf(lab->source, sizeof lab->source, "%.*s",
                     (int)strcspn(text, "\n"), text);
        }
        if (lab->n_published < LAB_MAX_PUBLISHED &&
            sscanf(line, "%15[a-z],%d,%15[a-z0-9],%lf", word, &p.ranks,
                   p.backend, &p.seconds) == 4 &&
            strcmp(word, mode) == 0)
            lab->published[lab->n_published++] = p;
    }
}

static storm_status lab_read(struct lab *lab)
{
    const struct storm_bench_lab_params *p = lab->params;
    lab->n = p->ranks.n * p->n_backends;
    lab->point = lab_alloc(lab, lab->n, sizeof *lab->point);
    if (lab->point == NULL)
        return STORM_ERR_NOMEM;
    for (size_t i = 0; i < lab->n; i++) {
        struct lab_point *point = &lab->point[i];
        point->seconds = (double)NAN;
        if (p->points[i] == NULL)
            continue;
        if (!lab_read_point(p->points[i], point))
            return STORM_ERR_ARG;
        for (size_t k = i - i % p->n_backends; k < i; k++)
            if (lab->point[k].json != NULL && lab->point[k].hash != point->hash)
                return STORM_ERR_STATE;
    }
    lab_read_published(lab);
    return STORM_OK;
}

/* ---- what follows -------------------------------------------------------- */

static struct lab_point *lab_at(const struct lab *lab, size_t i, size_t k)
{
    return &lab->point[i * lab->params->n_backends + k];
}

/* The point with the fewest ranks of a backend is what others are relative to.
 */
static double lab_efficiency(const struct lab *lab, size_t i, size_t k)
{
    const struct storm_bench_lab_params *p = lab->params;
    size_t first = 0;
    while (first < i && lab_at(lab, first, k)->json == NULL)
        first++;
    double fewer = p->mode == STORM_BENCH_WEAK ? 1
                                               : (double)p->ranks.value[first] /
                                                     (double)p->ranks.value[i];
    return fewer * lab_at(lab, first, k)->seconds / lab_at(lab, i, k)->seconds;
}

static double lab_over_p2p(const struct lab *lab, size_t i, size_t k)
{
    for (size_t other = 0; other < lab->params->n_backends; other++)
        if (strcmp(lab->params->backend[other], "p2p") == 0)
            return lab_at(lab, i, other)->seconds / lab_at(lab, i, k)->seconds;
    return (double)NAN;
}

/* Published times of one-sided backends are beside those of sim. */
static const char *lab_published_name(const char *backend)
{
    return strcmp(backend, "p2p") == 0 ? "p2p" : "ofi";
}

/* What the charts call it. */
static const char *lab_kind(const char *backend)
{
    return strcmp(backend, "p2p") == 0 ? "two-sided" : "one-sided";
}

/* Published times are of another size: so many times theirs is that of the
 * first backend with the fewest ranks. 1: that is not known. */
static double lab_scale(const struct lab *lab)
{
    const struct storm_bench_lab_params *p = lab->params;
    for (size_t i = 0; i < lab->n_published; i++)
        if (lab->point[0].json != NULL &&
            lab->published[i].ranks == (int)p->ranks.value[0] &&
            strcmp(lab->published[i].backend,
                   lab_published_name(p->backend[0])) == 0)
            return lab->point[0].seconds / lab->published[i].seconds;
    return 1;
}

static double lab_published_efficiency(const struct lab *lab, size_t i)
{
    const struct lab_published *p = &lab->published[i], *first = p;
    for (size_t k = 0; k < lab->n_published; k++)
        if (strcmp(lab->published[k].backend, p->backend) == 0 &&
            lab->published[k].ranks < first->ranks)
            first = &lab->published[k];
    double fewer = lab->params->mode == STORM_BENCH_WEAK
                       ? 1
                       : (double)first->ranks / p->ranks;
    return fewer * first->seconds / p->seconds;
}

static const char *lab_case(const struct lab *lab)
{
    return lab->params->uneven > 1 ? "uneven work" : "uniform emission";
}

/* ---- JSON ---------------------------------------------------------------- */

static void lab_point_json(struct storm_json *json, const struct lab *lab,
                           size_t i, size_t k)
{
    static const char *const keys[] = {"cells",
                                       "steps",
                                       "transfers",
                                       "waves",
                                       "iterations",
                                       "batches",
                                       "growths",
                                       "imbalance",
                                       "event_s",
                                       "crossings",
                                       "cells_per_rank",
                                       "messages_per_rank",
                                       "operations_per_rank",
                                       "bytes_per_rank",
                                       "memory_per_rank_kb",
                                       "start_seconds",
                                       "start_messages_mean",
                                       "start_messages_max",
                                       "start_collectives",
                                       "process_cpu_seconds",
                                       "process_peak_mb"};
    const struct lab_point *point = lab_at(lab, i, k);
    const char *arguments = storm_lab_value(point->json, "arguments");
    char text[1024];
    storm_json_open(json, NULL, '{');
    storm_json_uint(json, "ranks", lab->params->ranks.value[i]);
    storm_json_text(json, "backend", lab->params->backend[k]);
    storm_json_real(json, "seconds", point->seconds);
    storm_json_real(json, "efficiency", lab_efficiency(lab, i, k));
    storm_json_real(json, "speedup_over_p2p", lab_over_p2p(lab, i, k));
    for (size_t j = 0; j < sizeof keys / sizeof *keys; j++)
        storm_json_real(json, keys[j], lab_number(point->json, keys[j]));
    storm_json_open(json, "breakdown", '{');
    for (int j = 0; j < IO_N_TIMES; j++)
        storm_json_real(json, io_time_names[j], point->part[j]);
    storm_json_close(json, '}');
    storm_json_hash(json, "state_hash", point->hash);
    snprintf(text, sizeof text, "%.*s",
             arguments != NULL ? (int)strcspn(arguments, "\"") : 0,
             arguments != NULL ? arguments : "");
    storm_json_text(json, "arguments", text);
    storm_json_close(json, '}');
}

static char *lab_json(const struct lab *lab)
{
    const struct storm_bench_lab_params *p = lab->params;
    struct storm_json json;
    storm_json_begin(&json, true);
    storm_json_open(&json, NULL, '{');
    storm_json_text(&json, "lab", "scaling");
    storm_json_text(&json, "mode",
                    p->mode == STORM_BENCH_WEAK ? "weak" : "strong");
    storm_json_text(&json, "case", lab_case(lab));
    storm_json_real(&json, "uneven", p->uneven);
    storm_json_text(&json, "command", p->command);
    storm_json_open(&json, "points", '[');
    for (size_t i = 0; i < p->ranks.n; i++)
        for (size_t k = 0; k < p->n_backends; k++)
            if (lab_at(lab, i, k)->json != NULL)
                lab_point_json(&json, lab, i, k);
    storm_json_close(&json, ']');
    storm_json_text(&json, "published_source", lab->source);
    storm_json_open(&json, "published", '[');
    for (size_t i = 0; i < lab->n_published; i++) {
        storm_json_open(&json, NULL, '{');
        storm_json_int(&json, "ranks", lab->published[i].ranks);
        storm_json_text(&json, "backend", lab->published[i].backend);
        storm_json_real(&json, "seconds", lab->published[i].seconds);
        storm_json_real(&json, "efficiency", lab_published_efficiency(lab, i));
        storm_json_close(&json, '}');
    }
    storm_json_close(&json, ']');
    storm_json_close(&json, '}');
    return storm_json_end(&json);
}

/* ---- table --------------------------------------------------------------- */

static void lab_row(struct storm_page *page, const struct lab *lab, size_t i,
                    size_t k)
{
    const struct lab_point *point = lab_at(lab, i, k);
    double over = lab_over_p2p(lab, i, k);
    char speedup[16] = "-", published[16] = "-";
    if (isfinite(over))
        snprintf(speedup, sizeof speedup, "%.3f", over);
    for (size_t j = 0; j < lab->n_published; j++)
        if (lab->published[j].ranks == (int)lab->params->ranks.value[i] &&
            strcmp(lab->published[j].backend,
                   lab_published_name(lab->params->backend[k])) == 0)
            snprintf(published, sizeof published, "%.1f %%",
                     100 * lab_published_efficiency(lab, j));
    double all = 0;
    for (int j = 0; j < IO_N_TIMES; j++)
        all += point->part[j];
    storm_page_add(page, "  %7" PRIu32 " %-7s %11.6f %8.1f %% %9s %9s",
                   lab->params->ranks.value[i], lab->params->backend[k],
                   point->seconds, 100 * lab_efficiency(lab, i, k), published,
                   speedup);
    for (int j = 0; j < IO_N_TIMES; j++)
        storm_page_add(page, " %9.2f %%", 100 * point->part[j] / all);
    storm_page_add(page, " %6.0f %9.0f %9.0f %9.0f\n",
                   lab_number(point->json, "waves"),
                   lab_number(point->json, "messages_per_rank") +
                       lab_number(point->json, "operations_per_rank"),
                   lab_number(point->json, "bytes_per_rank") / 1024,
                   lab_number(point->json, "memory_per_rank_kb"));
}

static char *lab_table(const struct lab *lab)
{
    const struct storm_bench_lab_params *p = lab->params;
    struct storm_page page = {0};
    storm_page_add(&page,
                   "%s scaling of %s on simulated ranks\n"
                   "Simulated seconds per cycle; shares of a rank's time; "
                   "messages and one-sided\noperations, KB sent and KB of "
                   "memory of a rank\n\n  %7s %-7s %11s %10s %9s %9s",
                   p->mode == STORM_BENCH_WEAK ? "Weak" : "Strong",
                   lab_case(lab), "ranks", "backend", "seconds", "efficiency",
                   "published", "over p2p");
    for (int j = 0; j < IO_N_TIMES; j++)
        storm_page_add(&page, " %11s", io_time_names[j]);
    storm_page_add(&page, " %6s %9s %9s %9s\n", "waves", "sent", "KB sent",
                   "KB");
    for (size_t i = 0; i < p->ranks.n; i++)
        for (size_t k = 0; k < p->n_backends; k++)
            if (lab_at(lab, i, k)->json != NULL)
                lab_row(&page, lab, i, k);
    if (lab->n_published > 0)
        storm_page_add(&page, "\n  published: %s\n", lab->source);
    return storm_page_end(&page);
}

/* ---- charts -------------------------------------------------------------- */

/* Numbers of the lines. */
struct lab_curves {
    struct storm_chart_series *series;
    size_t n_series;
    double *numbers; /* what the series point to */
    double *ranks;
};

static double *lab_take(struct lab_curves *c, size_t n)
{
    double *numbers = c->numbers;
    c->numbers += n;
    return numbers;
}

/* Times or efficiencies of a backend. */
static void lab_line(const struct lab *lab, struct lab_curves *c, size_t k,
                     bool times)
{
    size_t n = lab->params->ranks.n;
    double *y = lab_take(c, n), *ideal = lab_take(c, n);
    for (size_t i = 0; i < n; i++) {
        double efficiency = lab_efficiency(lab, i, k);
        double seconds = lab_at(lab, i, k)->seconds;
        y[i] = times ? seconds : 100 * efficiency;
        ideal[i] = times ? seconds * efficiency : 100;
    }
    if (times)
        c->series[c->n_series++] =
            (struct storm_chart_series){.style = STORM_CHART_REFERENCE,
                                        .colour = (int)k,
                                        .n = n,
                                        .x = c->ranks,
                                        .y = ideal};
    c->series[c->n_series++] =
        (struct storm_chart_series){.name = lab_kind(lab->params->backend[k]),
                                    .style = STORM_CHART_BOTH,
                                    .colour = (int)k,
                                    .n = n,
                                    .x = c->ranks,
                                    .y = y};
}

/* Published values of the same kind of backend. */
static void lab_published_line(const struct lab *lab, struct lab_curves *c,
                               size_t k, bool times)
{
    const char *name = lab_published_name(lab->params->backend[k]);
    double *x = lab_take(c, lab->n_published);
    double *y = lab_take(c, lab->n_published);
    size_t n = 0;
    for (size_t i = 0; i < lab->n_published; i++) {
        const struct lab_published *p = &lab->published[i];
        if (strcmp(p->backend, name) != 0)
            continue;
        x[n] = p->ranks;
        y[n] = times ? lab_scale(lab) * p->seconds
                     : 100 * lab_published_efficiency(lab, i);
        n++;
    }
    if (n == 0)
        return;
    c->series[c->n_series++] = (struct storm_chart_series){
        .name = strcmp(name, "p2p") == 0 ? "paper, P2P" : "paper, OFI (RDMA)",
        .style = STORM_CHART_POINTS,
        .colour = (int)(4 + k),
        .n = n,
        .x = x,
        .y = y};
}

/* Numbers under the axis: ranks that are simulated or published. */
static size_t lab_ticks(const struct lab *lab, const double *ranks,
                        double *ticks)
{
    size_t n = 0;
    for (size_t i = 0; i < lab->params->ranks.n; i++)
        ticks[n++] = ranks[i];
    for (size_t i = 0; i < lab->n_published; i++) {
        bool known = false;
        for (size_t k = 0; k < n && !known; k++)
            known = ticks[k] == lab->published[i].ranks;
        if (!known)
            ticks[n++] = lab->published[i].ranks;
    }
    return n;
}

static char *lab_lines(const struct lab *lab, bool times)
{
    const struct storm_bench_lab_params *p = lab->params;
    bool weak = p->mode == STORM_BENCH_WEAK;
    size_t each = 2 * p->ranks.n + 2 * lab->n_published;
    size_t n_ticks = p->ranks.n + lab->n_published;
    double *numbers =
        lab_alloc(lab, p->ranks.n + p->n_backends * each + n_ticks,
                  sizeof *numbers);
    struct storm_chart_series series[3 * STORM_LAB_MAX_BACKENDS + 1];
    struct lab_curves curves = {.series = series, .numbers = numbers};
    if (numbers == NULL)
        return NULL;
    curves.ranks = lab_take(&curves, p->ranks.n);
    for (size_t i = 0; i < p->ranks.n; i++)
        curves.ranks[i] = p->ranks.value[i];
    double *ticks = lab_take(&curves, n_ticks);
    n_ticks = lab_ticks(lab, curves.ranks, ticks);
    for (size_t k = 0; k < p->n_backends; k++)
        lab_line(lab, &curves, k, times);
    for (size_t k = 0; k < p->n_backends; k++)
        lab_published_line(lab, &curves, k, times);
    if (times) /* only for the legend: all dashed lines */
        series[curves.n_series++] = (struct storm_chart_series){
            .name = "ideal", .style = STORM_CHART_REFERENCE, .colour = 7};
    bool scaled = times && lab_scale(lab) != 1;
    char title[96], subtitle[160];
    snprintf(title, sizeof title, "%s scaling, simulated",
             weak ? "Weak" : "Strong");
    const char *cells = lab->point[0].json ? storm_lab_value(lab->point[0].json,
                                                             "cells_per_rank")
                                           : NULL;
    snprintf(subtitle, sizeof subtitle, "%s, %.0f cells per rank%s",
             lab_case(lab), cells != NULL ? strtod(cells, NULL) : 0,
             scaled                 ? "; paper: 5,000, times scaled alike"
             : lab->n_published > 0 ? "; paper: 5,000"
                                    : "");
    struct storm_chart chart = {
        .title = title,
        .subtitle = subtitle,
        .x = {.label = "ranks",
              .log = true,
              .ticks = ticks,
              .n_ticks = n_ticks},
        .y = {.label = times ? "time per cycle (s)" : "efficiency (%)",
              .log = times},
        .series = series,
        .n_series = curves.n_series,
    };
    char *svg = storm_chart_svg(&chart);
    storm_free(lab->memory, numbers);
    return svg;
}

static char *lab_bars(const struct lab *lab)
{
    const struct storm_bench_lab_params *p = lab->params;
    struct storm_bar *bars = lab_alloc(lab, lab->n, sizeof *bars);
    double *ms = lab_alloc(lab, lab->n, IO_N_TIMES * sizeof *ms);
    char(*groups)[32] = lab_alloc(lab, lab->n, sizeof *groups);
    size_t n = 0;
    char *svg = NULL;
    for (size_t i = 0; bars && ms && groups && i < lab->n; i++) {
        if (lab->point[i].json == NULL)
            continue;
        snprintf(groups[n], sizeof groups[n], "%" PRIu32 " ranks",
                 p->ranks.value[i / p->n_backends]);
        for (int k = 0; k < IO_N_TIMES; k++)
            ms[n * IO_N_TIMES + (size_t)k] = 1e3 * lab->point[i].part[k];
        bars[n] = (struct storm_bar){lab_kind(p->backend[i % p->n_backends]),
                                     groups[n], ms + n * IO_N_TIMES};
        n++;
    }
    if (bars && ms && groups) {
        struct storm_bars all = {
            .title = "Where the time goes, simulated",
            .subtitle = lab_case(lab),
            .label = "time per cycle, mean of the ranks (ms)",
            .parts = io_time_names,
            .n_parts = IO_N_TIMES,
            .bars = bars,
            .n_bars = n,
        };
        svg = storm_bars_svg(&all);
    }
    storm_free(lab->memory, groups);
    storm_free(lab->memory, ms);
    storm_free(lab->memory, bars);
    return svg;
}

/* ---- the report ---------------------------------------------------------- */

storm_status storm_bench_lab(const struct storm_bench_lab_params *params,
                             struct storm_bench_lab_report *report_out)
{
    struct lab lab = {.params = params};
    storm_status status = storm_memory_create(&lab.memory);
    if (status < 0)
        return status;
    status = lab_read(&lab);
    if (status >= 0) {
        struct storm_bench_lab_report report = {
            .json = lab_json(&lab),
            .table = lab_table(&lab),
            .picture = {lab_lines(&lab, true), lab_lines(&lab, false),
                        lab_bars(&lab)},
        };
        bool all = report.json != NULL && report.table != NULL;
        for (int i = 0; i < STORM_LAB_N_PICTURES; i++)
            all = all && report.picture[i] != NULL;
        if (all) {
            *report_out = report;
        } else {
            status = STORM_ERR_NOMEM;
            free(report.json);
            free(report.table);
            for (int i = 0; i < STORM_LAB_N_PICTURES; i++)
                free(report.picture[i]);
        }
    }
    storm_free(lab.memory, lab.point);
    storm_memory_end(lab.memory);
    return status;
}
