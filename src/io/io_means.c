/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_means.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/text.h"
#include "io/io_files.h"
#include "io/io_table.h"

static const char means_label[] = "output";
static const double means_max_count = 9007199254740992.0; /* 2^53 */

/* ---- one value ----------------------------------------------------------- */

/* The root of the sum of two squares, in operations that round the same
 * everywhere. */
static double means_length(double a, double b)
{
    double big = fmax(fabs(a), fabs(b)), small = fmin(fabs(a), fabs(b));
    if (!(big > 0.0))
        return big;
    return big * sqrt(1.0 + (small / big) * (small / big));
}

/* With the sum of squares M = error^2 n (n - 1) this is Welford's recurrence,
 * M_n = M_(n-1) + (x - mean_(n-1))^2 (n - 1) / n. Squares of small numbers
 * never stand alone, they would underflow. */
void io_mean_add(struct io_mean *mean, uint64_t n, double value)
{
    double k = (double)n, off = value - mean->mean;
    if (isnan(off)) { /* no value: neither mean nor error */
        *mean = (struct io_mean){(double)NAN, n > 1 ? (double)NAN : 0.0};
        return;
    }
    if (n <= 1) {
        *mean = (struct io_mean){.mean = value};
        return;
    }
    double before = mean->error * sqrt((k - 1.0) * (k - 2.0));
    mean->mean += off / k;
    mean->error =
        means_length(before, off * sqrt((k - 1.0) / k)) / sqrt(k * (k - 1.0));
}

/* ---- MEANS-5 ------------------------------------------------------------- */

static storm_status means_fail(const struct io_source *source, const char *name,
                               const char *what)
{
    if (storm_context_rank(source->context) == 0)
        storm_context_log(source->context, STORM_LOG_ERROR,
                          "%s/%s %s before replica %" PRIu64
                          "; run all replicas with the same deck, or start "
                          "again with --overwrite",
                          source->dir, name, what, source->replica);
    return STORM_ERR_STATE;
}

/* Which replicas does a file have that has `n` of them? */
static storm_status means_check(const struct io_source *source,
                                const char *name, uint64_t n, bool *is_done_out)
{
    char what[64];
    *is_done_out = n == source->replica;
    if (n == source->replica || n + 1 == source->replica)
        return STORM_OK;
    snprintf(what, sizeof what, "has %" PRIu64 " replicas", n);
    return means_fail(source, name, what);
}

/* ---- tables -------------------------------------------------------------- */

/* The table of this replica, and that of the replicas so far. */
struct means_tables {
    const struct io_source *source;
    const char *name, *keys, *text;
    struct io_table now, sum;
};

static bool means_is_key(const struct means_tables *t, size_t column)
{
    const char *name = t->now.names[column];
    size_t n = strlen(name);
    for (const char *key = t->keys; *key != '\0';) {
        size_t length = strcspn(key, ",");
        if (length == n && strncmp(key, name, n) == 0)
            return true;
        key += length + (key[length] == ',');
    }
    return false;
}

/* Number of columns of errors. */
static size_t means_errors(const struct means_tables *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->now.n_columns; i++)
        n += !means_is_key(t, i);
    return n;
}

/* Are rows and columns the same? Of one replica there are no errors yet. */
static bool means_fit(const struct means_tables *t)
{
    const struct io_table *now = &t->now, *sum = &t->sum;
    size_t errors = t->source->replica > 2 ? means_errors(t) : 0;
    bool fit =
        sum->n_rows == now->n_rows && sum->n_columns == now->n_columns + errors;
    for (size_t i = 0; i < now->n_columns && fit; i++)
        fit = strcmp(now->names[i], sum->names[i]) == 0;
    for (size_t i = 0; i < now->n_columns && fit; i++)
        for (size_t row = 0; row < now->n_rows && means_is_key(t, i); row++)
            fit = fit && now->values[row * now->n_columns + i] ==
                             sum->values[row * sum->n_columns + i];
    return fit;
}

static void means_real(struct storm_page *page, const char *before,
                       double value)
{
    char text[STORM_TEXT_REAL_BYTES];
    storm_text_from_real(value, text);
    storm_page_add(page, "%s%s", before, text);
}

/* Means, then errors. */
static void means_row(const struct means_tables *t, size_t row,
                      struct storm_page *page, struct io_mean *means)
{
    size_t n = t->now.n_columns, i_error = n;
    const double *now = &t->now.values[row * n];
    const double *sum = &t->sum.values[row * t->sum.n_columns];
    for (size_t i = 0; i < n; i++) {
        means[i] = (struct io_mean){.mean = sum[i]};
        if (!means_is_key(t, i) && t->sum.n_columns > n)
            means[i].error = sum[i_error++];
        io_mean_add(&means[i], t->source->replica, now[i]);
        means_real(page, i == 0 ? "" : ",", means[i].mean);
    }
    for (size_t i = 0; i < n; i++)
        if (!means_is_key(t, i))
            means_real(page, ",", means[i].error);
    storm_page_add(page, "\n");
}

static char *means_text(const struct means_tables *t)
{
    struct storm_page page = {0};
    size_t n = t->now.n_columns;
    struct io_mean *means =
        storm_alloc(t->now.memory, means_label, (n + 1) * sizeof *means);
    const char *line = t->text;
    size_t length = line[0] == '#' ? strcspn(line, "\n") : 0;
    storm_page_add(&page, "%.*s replicas %" PRIu64 "\n",
                   length > 0 ? (int)length : 1, length > 0 ? line : "#",
                   t->source->replica);
    while (length > 0 && line[length] != '\0' && line[length + 1] == '#') {
        line += length + 1;
        length = strcspn(line, "\n");
        storm_page_add(&page, "%.*s\n", (int)length, line);
    }
    for (size_t i = 0; i < n; i++)
        storm_page_add(&page, "%s%s", i == 0 ? "" : ",", t->now.names[i]);
    for (size_t i = 0; i < n; i++)
        if (!means_is_key(t, i))
            storm_page_add(&page, ",%s" IO_ERROR_SUFFIX, t->now.names[i]);
    storm_page_add(&page, "\n");
    for (size_t row = 0; row < t->now.n_rows && means != NULL; row++)
        means_row(t, row, &page, means);
    page.failed = page.failed || means == NULL;
    storm_free(t->now.memory, means);
    return storm_page_end(&page);
}

static storm_status means_merge(const struct means_tables *t)
{
    bool is_done;
    uint64_t n = t->sum.replicas > 0 ? t->sum.replicas : 1;
    storm_status status = means_check(t->source, t->name, n, &is_done);
    if (status < 0 || is_done)
        return status;
    if (!means_fit(t))
        return means_fail(t->source, t->name, "has other rows");
    char *text = means_text(t);
    status = text != NULL ? io_write_text(t->source->context, t->source->dir,
                                          t->name, text)
                          : STORM_ERR_NOMEM;
    free(text);
    return status;
}

storm_status io_means_table(const struct io_source *source, const char *name,
                            const char *keys, const char *text)
{
    struct storm_memory *memory = storm_context_env(source->context)->memory;
    struct means_tables t = {
        .source = source, .name = name, .keys = keys, .text = text};
    char path[IO_PATH_BYTES], problem[IO_PATH_BYTES + 256] = "";
    if (source->replica <= 1)
        return io_write_text(source->context, source->dir, name, text);
    snprintf(path, sizeof path, "%s/%s", source->dir, name);
    storm_status status =
        io_table_parse(memory, text, &t.now, problem, sizeof problem);
    if (status == STORM_OK)
        status = io_table_read(memory, path, &t.sum, problem, sizeof problem);
    if (status == STORM_ERR_IO)
        storm_context_log(source->context, STORM_LOG_ERROR, "%s", problem);
    if (status == STORM_OK)
        status = means_merge(&t);
    io_table_free(&t.now);
    io_table_free(&t.sum);
    return status;
}

/* All of a file, for free(); NULL: no memory. */
static char *means_slurp(FILE *file)
{
    struct storm_page page = {0};
    char piece[4096];
    for (size_t n; (n = fread(piece, 1, sizeof piece - 1, file)) > 0;)
        storm_page_add(&page, "%.*s", (int)n, piece);
    page.failed = page.failed || ferror(file) != 0;
    return storm_page_end(&page);
}

storm_status io_means_file(const struct io_source *source, const char *name,
                           const char *keys)
{
    char path[IO_PATH_BYTES], whole[64];
    snprintf(path, sizeof path, "%s/%s-%" PRIu64 ".csv", source->dir, name,
             source->replica);
    snprintf(whole, sizeof whole, "%s.csv", name);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return STORM_OK;
    char *text = means_slurp(file);
    fclose(file);
    storm_status status = text != NULL
                              ? io_means_table(source, whole, keys, text)
                              : STORM_ERR_NOMEM;
    free(text);
    return status;
}

/* ---- arrays -------------------------------------------------------------- */

/* The number of replicas in the file; 0: it cannot be read. */
static uint64_t means_count(const struct io_source *source, const char *path)
{
    double n = 1.0;
    if (source->is_restarted && !io_h5_opens(path)) /* H5-9 */
        return 0;
    io_h5_file file = io_h5_open(path);
    if (file < 0)
        return 0;
    if (!io_h5_get_number(file, "replicas", &n))
        n = 1.0;
    io_h5_close(file);
    bool is_count = n >= 1.0 && n <= means_max_count && floor(n) == n;
    return is_count ? (uint64_t)n : 0;
}

storm_status io_means_open(const struct io_source *source, const char *name,
                           struct io_means *means_out)
{
    char path[IO_PATH_BYTES];
    uint64_t n = 0;
    *means_out =
        (struct io_means){.source = source, .n = source->replica, .file = -1};
    snprintf(means_out->name, sizeof means_out->name, "%s", name);
    if (source->replica <= 1)
        return STORM_OK;
    snprintf(path, sizeof path, "%s/%s", source->dir, name);
    if (storm_context_rank(source->context) == 0)
        n = means_count(source, path);
    storm_status status =
        storm_context_reduce(source->context, &n, 1, MPI_UINT64_T, MPI_MAX);
    if (status < 0)
        return status;
    if (n == 0)
        return means_fail(source, name, "is missing or damaged");
    status = means_check(source, name, n, &means_out->is_done);
    if (status == STORM_OK && !means_out->is_done) {
        means_out->file = io_h5_open(path);
        status = means_out->file >= 0 ? STORM_OK : STORM_ERR_IO;
        status = storm_context_agree(source->context, status);
    }
    return status;
}

void io_means_close(struct io_means *means)
{
    if (means->file >= 0)
        io_h5_close(means->file);
    means->file = -1;
}

storm_status io_means_put_number(const struct io_means *means,
                                 struct io_h5_writer *file)
{
    return means->n <= 1 ? STORM_OK
                         : io_h5_put_number(file, "replicas", (double)means->n);
}

/* The means and errors so far, of this rank's share. */
static storm_status means_get(const struct io_means *means,
                              const struct io_means_rows *rows, double *mean,
                              double *error)
{
    char name[128];
    snprintf(name, sizeof name, "%s" IO_ERROR_SUFFIX, rows->name);
    memset(error, 0, rows->n * rows->columns * sizeof *error);
    storm_status status =
        io_h5_get_rows(means->file, rows->name, IO_H5_REAL, rows->columns,
                       rows->first, rows->n, mean);
    if (status == STORM_OK && means->n > 2)
        status = io_h5_get_rows(means->file, name, IO_H5_REAL, rows->columns,
                                rows->first, rows->n, error);
    return status;
}

static storm_status means_put_both(const struct io_means *means,
                                   struct io_h5_writer *file,
                                   const struct io_means_rows *rows,
                                   double *mean, double *error)
{
    const struct storm_context *context = means->source->context;
    char name[128];
    storm_status status = mean != NULL && error != NULL
                              ? means_get(means, rows, mean, error)
                              : STORM_ERR_NOMEM;
    status = storm_context_agree(context, status);
    if (status == STORM_ERR_NOMEM)
        return status;
    if (status < 0)
        return means_fail(means->source, means->name,
                          "has other arrays, or is damaged,");
    for (size_t i = 0; i < rows->n * rows->columns; i++) {
        struct io_mean one = {mean[i], error[i]};
        io_mean_add(&one, means->n, rows->values[i]);
        mean[i] = one.mean;
        error[i] = one.error;
    }
    snprintf(name, sizeof name, "%s" IO_ERROR_SUFFIX, rows->name);
    status = io_h5_put_plain(file, rows->name, IO_H5_REAL, rows->columns, mean,
                             rows->n);
    return status < 0 ? status
                      : io_h5_put_plain(file, name, IO_H5_REAL, rows->columns,
                                        error, rows->n);
}

storm_status io_means_put(const struct io_means *means,
                          struct io_h5_writer *file,
                          const struct io_means_rows *rows)
{
    struct storm_memory *memory =
        storm_context_env(means->source->context)->memory;
    if (means->n <= 1)
        return io_h5_put_plain(file, rows->name, IO_H5_REAL, rows->columns,
                               rows->values, rows->n);
    size_t bytes = (rows->n * rows->columns + 1) * sizeof(double);
    double *mean = storm_alloc(memory, means_label, bytes);
    double *error = storm_alloc(memory, means_label, bytes);
    storm_status status = means_put_both(means, file, rows, mean, error);
    storm_free(memory, mean);
    storm_free(memory, error);
    return status;
}
