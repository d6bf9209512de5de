/* SPDX-License-Identifier: BSD-3-Clause */
/* What is compared, and the norms of differences. */
#include "view/compare.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/sized.h"

storm_status compare_fail(struct compare *c, storm_status status,
                          const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(c->problem, sizeof c->problem, format, args);
    va_end(args);
    return status;
}

bool compare_wants(const struct compare *c, const char *name)
{
    const size_t length = strlen(name);
    if (c->params.fields == NULL)
        return true;
    for (const char *at = c->params.fields; *at != '\0';) {
        size_t n = strcspn(at, ",");
        if (n == length && memcmp(at, name, n) == 0)
            return true;
        at += n + (at[n] == ',');
    }
    return false;
}

/* Steps end at times that were added up in another order. */
bool compare_same_time(double a, double b)
{
    const double same = 1e-9;
    return fabs(a - b) <= same * fmax(fabs(a), fabs(b));
}

const char *compare_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

/* ---- norms --------------------------------------------------------------- */

static void compare_add_error(struct compare_norms *norms, double difference,
                              double error)
{
    if (!(error >= 0.0))
        return;
    if (error == 0.0) {
        norms->n_exact += difference > 0.0;
        return;
    }
    double errors = difference / error;
    norms->n_errors++;
    norms->error_squares += errors * errors;
    norms->max_errors = fmax(norms->max_errors, errors);
}

void compare_add(struct compare_norms *norms, const struct compare_pair *pair)
{
    bool has_a = isfinite(pair->a), has_b = isfinite(pair->b);
    if (!has_a || !has_b) {
        norms->n_single += has_a || has_b;
        return;
    }
    double difference = fabs(pair->a - pair->b), b = fabs(pair->b);
    norms->weight += pair->weight;
    norms->sum += pair->weight * difference;
    norms->squares += pair->weight * difference * difference;
    norms->of_b += pair->weight * b;
    norms->of_b_squares += pair->weight * b * b;
    norms->max_b = fmax(norms->max_b, b);
    if (norms->n++ == 0 || difference > norms->max) {
        norms->max = difference;
        norms->worst = *pair;
    }
    compare_add_error(norms, difference, pair->error);
}

/* Infinite if there is a difference from nothing. */
static double compare_ratio(double difference, double of)
{
    if (difference == 0.0)
        return 0.0;
    return of > 0.0 ? difference / of : (double)INFINITY;
}

static double compare_l2(const struct compare_norms *norms, double squares)
{
    return norms->weight > 0.0 ? sqrt(squares / norms->weight) : 0.0;
}

static double compare_relative(const struct compare_norms *norms)
{
    return compare_ratio(sqrt(norms->squares), sqrt(norms->of_b_squares));
}

/* Root of the mean square of differences in standard errors: about 1 if they
 * are by chance. Infinite if some differ that have an error of 0. */
static double compare_in_errors(const struct compare_norms *norms)
{
    if (norms->n_exact > 0)
        return (double)INFINITY;
    return norms->n_errors > 0
               ? sqrt(norms->error_squares / (double)norms->n_errors)
               : (double)NAN;
}

static void compare_json_row(struct compare *c,
                             const struct compare_norms *norms)
{
    struct storm_json *json = &c->json;
    double mean = norms->weight > 0.0 ? norms->sum / norms->weight : 0.0;
    storm_json_open(json, NULL, '{');
    storm_json_text(json, "field", norms->name);
    storm_json_uint(json, "values", norms->n);
    storm_json_uint(json, "values_in_one_only", norms->n_single);
    storm_json_real(json, "l1", mean);
    storm_json_real(json, "l2", compare_l2(norms, norms->squares));
    storm_json_real(json, "max", norms->max);
    storm_json_open(json, "at", '[');
    for (int d = 0; d < norms->n_at; d++)
        storm_json_real(json, NULL, norms->worst.at[d]);
    storm_json_close(json, ']');
    storm_json_real(json, "a", norms->worst.a);
    storm_json_real(json, "b", norms->worst.b);
    storm_json_real(json, "relative_l1",
                    compare_ratio(norms->sum, norms->of_b));
    storm_json_real(json, "relative", compare_relative(norms));
    storm_json_real(json, "relative_max",
                    compare_ratio(norms->max, norms->max_b));
    storm_json_real(json, "standard_errors", compare_in_errors(norms));
    storm_json_real(json, "max_standard_errors",
                    norms->n_errors > 0 ? norms->max_errors : (double)NAN);
    storm_json_close(json, '}');
}

/* Is the row beyond what is allowed? A value that only one has always is, and
 * so is one without standard error if these are asked for. */
static bool compare_judge(struct compare *c, const struct compare_norms *norms)
{
    bool by_errors = c->params.standard_errors > 0.0;
    double limit = by_errors ? c->params.standard_errors : c->params.tolerance;
    double value =
        by_errors ? compare_in_errors(norms) : compare_relative(norms);
    bool same = norms->squares == 0.0 && norms->max == 0.0;
    bool beyond = norms->n_single > 0 || (!same && !(value <= limit));
    const char *comma = c->excesses.length > 0 ? ", " : "";
    if (norms->n_single > 0)
        storm_page_add(&c->excesses, "%s%s (%llu values in one only)", comma,
                       norms->name, (unsigned long long)norms->n_single);
    else if (beyond)
        storm_page_add(&c->excesses, "%s%s", comma, norms->name);
    return beyond;
}

enum { COMPARE_NAME_WIDTH = 26 };

void compare_head(struct compare *c, const char *at)
{
    storm_page_add(&c->table, "%-*s %10s %10s %10s %10s %10s  %s\n",
                   COMPARE_NAME_WIDTH, "field", "L1", "L2", "max", "relative",
                   "std.errors", at);
}

void compare_row(struct compare *c, const struct compare_norms *norms)
{
    double mean = norms->weight > 0.0 ? norms->sum / norms->weight : 0.0;
    double errors = compare_in_errors(norms);
    storm_page_add(&c->table, "%-*s %10.3e %10.3e %10.3e %10.3e ",
                   COMPARE_NAME_WIDTH, norms->name, mean,
                   compare_l2(norms, norms->squares), norms->max,
                   compare_relative(norms));
    if (isnan(errors))
        storm_page_add(&c->table, "%10s  ", "-");
    else
        storm_page_add(&c->table, "%10.3g  ", errors);
    for (int d = 0; d < norms->n_at && norms->max > 0.0; d++)
        storm_page_add(&c->table, "%s%.4g", d > 0 ? ", " : "",
                       norms->worst.at[d]);
    storm_page_add(&c->table, "%s\n", norms->max > 0.0 ? "" : "-");
    compare_json_row(c, norms);
    c->beyond = compare_judge(c, norms) || c->beyond;
}

/* ---- what is compared ---------------------------------------------------- */

enum compare_kind { COMPARE_NONE, COMPARE_RUN, COMPARE_TABLE, COMPARE_JSON };

static enum compare_kind compare_kind_of(struct compare *c, const char *path)
{
    struct stat what;
    FILE *file = stat(path, &what) == 0 && !S_ISDIR(what.st_mode)
                     ? fopen(path, "r")
                     : NULL;
    if (file == NULL && errno == 0 && S_ISDIR(what.st_mode))
        return COMPARE_RUN;
    if (file == NULL) {
        compare_fail(c, STORM_ERR_ARG, "cannot read %s: %s", path,
                     strerror(errno));
        return COMPARE_NONE;
    }
    int first = fgetc(file);
    while (first == ' ' || first == '\t' || first == '\r' || first == '\n')
        first = fgetc(file);
    fclose(file);
    return first == '{' || first == '[' ? COMPARE_JSON : COMPARE_TABLE;
}

static storm_status compare_kinds(struct compare *c)
{
    errno = 0;
    enum compare_kind a = compare_kind_of(c, c->params.a);
    enum compare_kind b =
        a != COMPARE_NONE ? compare_kind_of(c, c->params.b) : COMPARE_NONE;
    if (b == COMPARE_NONE)
        return STORM_ERR_ARG;
    if (a == COMPARE_RUN && b == COMPARE_RUN)
        return compare_runs(c);
    if (a == COMPARE_JSON && b == COMPARE_JSON)
        return compare_json(c);
    if (b == COMPARE_TABLE && a != COMPARE_JSON)
        return compare_tables(c, a == COMPARE_RUN);
    return compare_fail(c, STORM_ERR_ARG,
                        "cannot compare %s with %s; give two directories of "
                        "runs, a run or a CSV file and then a CSV file, or two "
                        "JSON files",
                        c->params.a, c->params.b);
}

static void compare_begin(struct compare *c)
{
    storm_page_add(&c->table, "A: %s\nB: %s\n", c->params.a, c->params.b);
    storm_json_begin(&c->json, true);
    storm_json_open(&c->json, NULL, '{');
    storm_json_text(&c->json, "a", c->params.a);
    storm_json_text(&c->json, "b", c->params.b);
    if (c->params.standard_errors > 0.0)
        storm_json_real(&c->json, "allowed_standard_errors",
                        c->params.standard_errors);
    else
        storm_json_real(&c->json, "tolerance", c->params.tolerance);
}

/* The last line, and the end of both texts. */
static storm_status compare_end(struct compare *c,
                                struct storm_compare_result *result)
{
    bool by_errors = c->params.standard_errors > 0.0;
    char *excesses = storm_page_end(&c->excesses);
    storm_page_add(&c->table, "\n%s %g%s%s%s\n",
                   c->beyond ? "beyond" : "within",
                   by_errors ? c->params.standard_errors : c->params.tolerance,
                   by_errors ? " standard errors" : " (relative)",
                   c->beyond ? ": " : "", excesses != NULL ? excesses : "");
    free(excesses);
    storm_json_bool(&c->json, "within", !c->beyond);
    storm_json_close(&c->json, '}');
    result->within = !c->beyond;
    result->table = storm_page_end(&c->table);
    result->json = storm_json_end(&c->json);
    if (result->table != NULL && result->json != NULL)
        return STORM_OK;
    free(result->table);
    free(result->json);
    return compare_fail(c, STORM_ERR_NOMEM, "no memory");
}

static void compare_drop(struct compare *c)
{
    free(storm_page_end(&c->table));
    free(storm_page_end(&c->excesses));
    free(c->json.text); /* it is not complete */
}

static storm_status compare_all(struct compare *c,
                                struct storm_compare_result *result_out)
{
    struct storm_compare_result own = {.size = sizeof own};
    if (!(c->params.tolerance >= 0.0) || !(c->params.standard_errors >= 0.0))
        return compare_fail(c, STORM_ERR_ARG,
                            "what is allowed is a number from 0 on");
    compare_begin(c);
    storm_status status = compare_kinds(c);
    if (status < 0) {
        compare_drop(c);
        return status;
    }
    status = compare_end(c, &own);
    if (status == STORM_OK)
        status = storm_sized_write(&own, sizeof own, result_out);
    if (status < 0 && own.table != NULL) {
        compare_fail(c, status, "%s", plot_not_initialised);
        free(own.table);
        free(own.json);
    }
    return status;
}

storm_status storm_compare(const struct storm_compare_params *params,
                           struct storm_compare_result *result, char *problem,
                           size_t problem_size)
{
    struct storm_memory *memory = NULL;
    struct compare *c = NULL;
    struct storm_compare_params own;
    storm_status status =
        storm_sized_read(NULL, "storm_compare", params, &own, sizeof own);
    if (status < 0) {
        snprintf(problem, problem_size, "%s", plot_not_initialised);
        return status;
    }
    if (storm_memory_create(&memory) == STORM_OK)
        c = storm_alloc(memory, COMPARE_LABEL, sizeof *c);
    if (c == NULL) {
        storm_memory_end(memory);
        snprintf(problem, problem_size, "no memory");
        return STORM_ERR_NOMEM;
    }
    c->memory = memory;
    c->params = own;
    status = compare_all(c, result);
    if (status < 0)
        snprintf(problem, problem_size, "%s", c->problem);
    storm_free(memory, c);
    storm_memory_end(memory);
    return status;
}
