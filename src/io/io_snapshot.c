/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_snapshot.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>

#include "base/env.h"
#include "io/io_h5.h"

static const char snapshot_label[] = "snapshot";
static const char snapshot_too_large[] =
    "is larger than the file, which is damaged; make it again";

enum { SNAPSHOT_ROWS = 4096 }; /* that are read at once */

/* A file, and what is read of it. */
struct snapshot {
    const struct storm_env *env;
    const struct io_snapshot *from;
    io_h5_file h5;
    const char *name;
    uint64_t n; /* rows */
};

static storm_status snapshot_fail(const struct snapshot *s, const char *what,
                                  const char *why)
{
    if (s->env->rank == 0)
        storm_log_write(&s->env->log, STORM_LOG_ERROR, "%s: `%s`: %s",
                        s->from->path, what, why);
    return STORM_ERR_IO;
}

/* The file is good, but not for this deck. */
static storm_status snapshot_refuse(const struct snapshot *s, const char *why)
{
    (void)snapshot_fail(s, s->name, why);
    return STORM_ERR_ARG;
}

static storm_status snapshot_count(const struct snapshot *s, uint64_t n_cells)
{
    char why[128];
    if (s->n == n_cells)
        return STORM_OK;
    snprintf(why, sizeof why,
             "expected %" PRIu64 " rows, as there are cells, got %" PRIu64,
             n_cells, s->n);
    return snapshot_refuse(s, why);
}

static storm_status snapshot_rows(const struct snapshot *s, const char *name,
                                  io_h5_kind kind, uint64_t columns,
                                  uint64_t first, uint64_t n, void *rows_out)
{
    return io_h5_get_rows(s->h5, name, kind, columns, first, n, rows_out) < 0
               ? snapshot_fail(s, name,
                               "cannot be read or is damaged; make the file "
                               "again")
               : STORM_OK;
}

/* False: there is such an array, but it cannot be in the file. */
static bool snapshot_is_whole(const struct snapshot *s, const char *name)
{
    struct io_h5_array array;
    if (!io_h5_array_open(s->h5, name, &array))
        return true;
    io_h5_array_close(&array);
    return array.whole || array.shape[0] == 0;
}

/* ---- by cell ------------------------------------------------------------- */

struct snapshot_cell {
    storm_cell_id tag;
    storm_cell_idx idx;
};

static int snapshot_by_tag(const void *a, const void *b)
{
    const struct snapshot_cell *x = a, *y = b;
    return (x->tag > y->tag) - (x->tag < y->tag);
}

/* Rows are in the order of tags, which are in `tag`, or are 0, 1, 2, ... */
static storm_status snapshot_pick(const struct snapshot *s,
                                  const struct snapshot_cell *cells, size_t n,
                                  double *values_out)
{
    double rows[SNAPSHOT_ROWS];
    int64_t tags[SNAPSHOT_ROWS];
    uint64_t n_tags = 0;
    bool tagged = io_h5_count_rows(s->h5, "tag", 1, &n_tags);
    size_t at = 0;
    if (tagged && n_tags != s->n)
        return snapshot_fail(s, "tag", "has another number of rows");
    for (uint64_t first = 0; first < s->n && at < n; first += SNAPSHOT_ROWS) {
        uint64_t left = s->n - first;
        size_t m = (size_t)(left < SNAPSHOT_ROWS ? left : SNAPSHOT_ROWS);
        storm_status status =
            snapshot_rows(s, s->name, IO_H5_REAL, 1, first, m, rows);
        if (status == STORM_OK && tagged)
            status = snapshot_rows(s, "tag", IO_H5_INTEGER, 1, first, m, tags);
        if (status < 0)
            return status;
        for (size_t k = 0; k < m; k++) {
            uint64_t tag = tagged ? (uint64_t)tags[k] : first + k;
            while (at < n && cells[at].tag < tag)
                at = n + 1; /* it is not in the file */
            if (at < n && cells[at].tag == tag)
                values_out[cells[at++].idx] = rows[k];
        }
    }
    return at == n ? STORM_OK
                   : snapshot_refuse(s, "has no value for some cells of the "
                                        "mesh; is it of another mesh? (by: "
                                        "position)");
}

static storm_status snapshot_cells(const struct snapshot *s, double *values_out)
{
    const struct storm_mesh *mesh = s->from->mesh;
    size_t n = (size_t)storm_mesh_n_cells(mesh);
    storm_status fits = snapshot_count(s, storm_mesh_n_cells_total(mesh));
    if (fits < 0)
        return fits;
    struct snapshot_cell *cells =
        storm_alloc(s->env->memory, snapshot_label, (n + 1) * sizeof *cells);
    if (cells == NULL)
        return STORM_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        cells[i] = (struct snapshot_cell){
            storm_mesh_cell_id(mesh, (storm_cell_idx)i), (storm_cell_idx)i};
    qsort(cells, n, sizeof *cells, snapshot_by_tag);
    storm_status status = snapshot_pick(s, cells, n, values_out);
    storm_free(s->env->memory, cells);
    return status;
}

/* ---- by position --------------------------------------------------------- */

struct snapshot_sample {
    double x[3], value;
    uint64_t row;
};

static int snapshot_by_x(const void *a, const void *b)
{
    const struct snapshot_sample *p = a, *q = b;
    if (p->x[0] != q->x[0])
        return p->x[0] < q->x[0] ? -1 : 1;
    return (p->row > q->row) - (p->row < q->row);
}

/* Nearer to the point, or as near and before it in the file? */
static void snapshot_try(const struct snapshot_sample *sample,
                         const double point[3], double *best,
                         const struct snapshot_sample **found)
{
    double square = 0.0;
    for (int d = 0; d < 3; d++)
        square += (sample->x[d] - point[d]) * (sample->x[d] - point[d]);
    if (*found == NULL || square < *best ||
        (square == *best && sample->row < (*found)->row)) {
        *best = square;
        *found = sample;
    }
}

/* The nearest sample: from the point's x to both sides, as long as x alone does
 * not rule it out. */
static double snapshot_nearest(const struct snapshot_sample *samples, size_t n,
                               const double point[3])
{
    size_t low = 0, high = n;
    const struct snapshot_sample *found = NULL;
    double best = 0.0;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (samples[middle].x[0] < point[0])
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i < n; i++) {
        double dx = samples[i].x[0] - point[0];
        if (found != NULL && dx * dx > best)
            break;
        snapshot_try(&samples[i], point, &best, &found);
    }
    for (size_t i = low; i > 0; i--) {
        double dx = samples[i - 1].x[0] - point[0];
        if (found != NULL && dx * dx > best)
            break;
        snapshot_try(&samples[i - 1], point, &best, &found);
    }
    return found->value;
}

static storm_status snapshot_load(const struct snapshot *s,
                                  struct snapshot_sample *samples)
{
    double rows[SNAPSHOT_ROWS], places[3 * SNAPSHOT_ROWS];
    for (uint64_t first = 0; first < s->n; first += SNAPSHOT_ROWS) {
        uint64_t left = s->n - first;
        size_t m = (size_t)(left < SNAPSHOT_ROWS ? left : SNAPSHOT_ROWS);
        storm_status status =
            snapshot_rows(s, s->name, IO_H5_REAL, 1, first, m, rows);
        if (status == STORM_OK)
            status =
                snapshot_rows(s, "position", IO_H5_REAL, 3, first, m, places);
        if (status < 0)
            return status;
        for (size_t k = 0; k < m; k++) {
            struct snapshot_sample *to = &samples[first + k];
            to->row = first + k;
            to->value = rows[k];
            for (int d = 0; d < 3; d++)
                to->x[d] = places[3 * k + (size_t)d];
            if (!(to->x[0] - to->x[0] == 0.0 && to->x[1] - to->x[1] == 0.0 &&
                  to->x[2] - to->x[2] == 0.0))
                return snapshot_fail(s, "position", "expected finite numbers");
        }
    }
    return STORM_OK;
}

/* There is a place for each value. */
static storm_status snapshot_has_places(const struct snapshot *s)
{
    uint64_t n_places = 0;
    if (!snapshot_is_whole(s, "position"))
        return snapshot_fail(s, "position", snapshot_too_large);
    if (!io_h5_count_rows(s->h5, "position", 3, &n_places) ||
        n_places != s->n || s->n == 0)
        return snapshot_fail(s, "position",
                             "expected an array of n x 3 numbers (cm), a row "
                             "for each value");
    return STORM_OK;
}

static storm_status snapshot_places(const struct snapshot *s,
                                    double *values_out)
{
    const struct storm_mesh *mesh = s->from->mesh;
    bool fits = s->n < SIZE_MAX / sizeof(struct snapshot_sample);
    struct snapshot_sample *samples =
        fits ? storm_alloc(s->env->memory, snapshot_label,
                           (size_t)(s->n + 1) * sizeof *samples)
             : NULL;
    if (samples == NULL)
        return STORM_ERR_NOMEM;
    storm_status status = snapshot_load(s, samples);
    if (status == STORM_OK)
        qsort(samples, (size_t)s->n, sizeof *samples, snapshot_by_x);
    for (storm_cell_idx i = 0;
         status == STORM_OK && i < storm_mesh_n_cells(mesh); i++) {
        double centre[3];
        storm_mesh_centre(mesh, i, centre);
        values_out[i] = snapshot_nearest(samples, (size_t)s->n, centre);
    }
    storm_free(s->env->memory, samples);
    return status;
}

/* ---- a file -------------------------------------------------------------- */

/* The arrays are there, and fit each other; of an open file. */
static storm_status snapshot_form(struct snapshot *s)
{
    if (!snapshot_is_whole(s, s->name))
        return snapshot_fail(s, s->name, snapshot_too_large);
    if (!io_h5_count_rows(s->h5, s->name, 1, &s->n))
        return snapshot_fail(s, s->name,
                             "there is no list of numbers of this name");
    return s->from->by_position ? snapshot_has_places(s) : STORM_OK;
}

/* Comparisons are such that NaN fails. */
bool io_snapshot_is_good(const struct io_snapshot_range *range, double value)
{
    if (isnan(value))
        return range->may_lack;
    return (range->above_zero ? value > 0.0 : value >= 0.0) &&
           value <= range->max;
}

/* All values, by cell. Of positions a cell may take none that is wrong. */
static storm_status snapshot_values(const struct snapshot *s,
                                    const struct io_snapshot_range *range)
{
    double rows[SNAPSHOT_ROWS];
    for (uint64_t first = 0; first < s->n; first += SNAPSHOT_ROWS) {
        uint64_t left = s->n - first;
        size_t m = (size_t)(left < SNAPSHOT_ROWS ? left : SNAPSHOT_ROWS);
        storm_status status =
            snapshot_rows(s, s->name, IO_H5_REAL, 1, first, m, rows);
        if (status < 0)
            return status;
        for (size_t k = 0; k < m; k++) {
            if (io_snapshot_is_good(range, rows[k]))
                continue;
            storm_log_write(&s->env->log, STORM_LOG_ERROR,
                            "%s: `%s`[%" PRIu64 "]: expected %s, got %g",
                            s->from->path, s->name, first + k, range->expected,
                            rows[k]);
            return STORM_ERR_ARG;
        }
    }
    return STORM_OK;
}

static storm_status snapshot_read(struct snapshot *s, double *values_out)
{
    s->h5 = io_h5_open(s->from->path);
    if (s->h5 < 0)
        return snapshot_fail(s, s->name, "the file is damaged");
    storm_status status = snapshot_form(s);
    if (status == STORM_OK)
        status = s->from->by_position ? snapshot_places(s, values_out)
                                      : snapshot_cells(s, values_out);
    io_h5_close(s->h5);
    return status;
}

/* The same without a mesh. */
static storm_status snapshot_look(struct snapshot *s,
                                  const struct io_snapshot_range *range)
{
    s->h5 = io_h5_open(s->from->path);
    if (s->h5 < 0)
        return snapshot_fail(s, s->name, "the file is damaged");
    storm_status status = snapshot_form(s);
    bool by_cell = !s->from->by_position;
    if (status == STORM_OK && by_cell && range->rows > 0)
        status = snapshot_count(s, range->rows);
    if (status == STORM_OK && by_cell && range->expected != NULL)
        status = snapshot_values(s, range);
    io_h5_close(s->h5);
    return status;
}

/* H5-9, by one rank. */
static storm_status snapshot_probe(const struct snapshot *s)
{
    FILE *file = fopen(s->from->path, "rb");
    if (file == NULL)
        return snapshot_fail(s, s->name, strerror(errno));
    fclose(file);
    return io_h5_opens(s->from->path)
               ? STORM_OK
               : snapshot_fail(s, s->name, "the file is damaged, or not HDF5");
}

storm_status io_snapshot_read(struct storm_context *context,
                              const struct io_snapshot *from, const char *name,
                              double *values_out)
{
    struct snapshot s = {storm_context_env(context), from, -1, name, 0};
    int worst = s.env->rank == 0 ? (int)snapshot_probe(&s) : STORM_OK;
    storm_status status =
        storm_context_reduce(context, &worst, 1, MPI_INT, MPI_MIN);
    if (status < 0 || worst < 0)
        return status < 0 ? status : (storm_status)worst;
    return storm_context_agree(context, snapshot_read(&s, values_out));
}

storm_status io_snapshot_check(const struct storm_env *env,
                               const struct io_snapshot *from, const char *name,
                               const struct io_snapshot_range *range)
{
    struct snapshot s = {env, from, -1, name, 0};
    storm_status status = snapshot_probe(&s);
    return status < 0 ? status : snapshot_look(&s, range);
}
