/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tallies of a run: tallies.h5 and a CSV for each, from the sums of all ranks;
 * rank 0 writes them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <storm/tally.h>

#include "base/env.h"
#include "base/text.h"
#include "io/io_fields.h"
#include "io/io_h5.h"
#include "io/io_means.h"

static const char tally_label[] = "output";

enum { TALLY_NAME_BYTES = 160 };

/* A tally as it is written. */
struct tally_table {
    const struct io_source *source;
    size_t number, n_bins, n_axes;
    const char *name;
    struct storm_tally_axis axes[STORM_TALLY_N_BY];
    double *energy_erg;
    uint64_t *packets;
    double total_erg;
};

/* ---- sums ---------------------------------------------------------------- */

static void table_free(const struct tally_table *t)
{
    struct storm_memory *memory = storm_context_env(t->source->context)->memory;
    storm_free(memory, t->energy_erg);
    storm_free(memory, t->packets);
}

/* Collective. */
static storm_status table_fill(struct tally_table *t)
{
    struct storm_imc *imc = t->source->imc;
    struct storm_memory *memory = storm_context_env(t->source->context)->memory;
    struct storm_tally_axis axis = STORM_TALLY_AXIS_INIT;
    t->name = storm_imc_tally_name(imc, t->number);
    t->n_bins = storm_imc_tally_n_bins(imc, t->number);
    while (storm_imc_tally_axis(imc, t->number, t->n_axes, &axis) == STORM_OK)
        t->axes[t->n_axes++] = axis;
    t->energy_erg =
        storm_alloc(memory, tally_label, t->n_bins * sizeof *t->energy_erg);
    t->packets =
        storm_alloc(memory, tally_label, t->n_bins * sizeof *t->packets);
    storm_status status =
        storm_context_agree(t->source->context,
                            t->energy_erg != NULL && t->packets != NULL
                                ? STORM_OK
                                : STORM_ERR_NOMEM);
    return status < 0 ? status
                      : storm_imc_tally_get(imc, t->number, t->energy_erg,
                                            t->packets, &t->total_erg);
}

/* ---- CSV ----------------------------------------------------------------- */

static void page_real(struct storm_page *page, double value)
{
    char text[STORM_TEXT_REAL_BYTES];
    storm_text_from_real(value, text);
    storm_page_add(page, "%s", text);
}

static const char *axis_unit(const struct storm_tally_axis *axis)
{
    return axis->unit[0] != '\0' ? axis->unit : "1";
}

static void csv_head(const struct tally_table *t, struct storm_page *page)
{
    storm_page_add(page, "# time ");
    page_real(page, t->source->time_s);
    storm_page_add(page, "\n# tally %s after step %" PRIu64 ": energy in erg",
                   t->name, t->source->step);
    for (size_t i = 0; i < t->n_axes; i++)
        if (t->axes[i].n_edges > 0)
            storm_page_add(page, ", %s in %s", t->axes[i].name,
                           axis_unit(&t->axes[i]));
    if (t->source->replica <= 1) {
        storm_page_add(page, "\n# total ");
        page_real(page, t->total_erg);
    }
    storm_page_add(page, "\n");
    for (size_t i = 0; i < t->n_axes; i++) {
        const char *name = t->axes[i].name;
        if (t->axes[i].n_edges > 0)
            storm_page_add(page, "%s_from,%s_to,", name, name);
        else
            storm_page_add(page, "%s,", name);
    }
    storm_page_add(page, "energy,packets\n");
}

/* The columns of a bin of an axis. Things have their numbers; outside, the last
 * of the walls, is -1; sides are 1 and -1. */
static void csv_bin(const struct storm_tally_axis *axis, size_t bin,
                    struct storm_page *page)
{
    if (axis->n_edges == 0) {
        long number = (long)bin;
        if (axis->by == STORM_TALLY_WALL && bin + 1 == axis->n_bins)
            number = -1;
        if (axis->by == STORM_TALLY_SIDE)
            number = bin == 0 ? 1 : -1;
        storm_page_add(page, "%ld,", number);
        return;
    }
    size_t ends = axis->has_ends ? 1 : 0;
    double from = bin < ends ? -STORM_UNLIMITED : axis->edges[bin - ends];
    double to = bin + 1 - ends < axis->n_edges ? axis->edges[bin + 1 - ends]
                                               : STORM_UNLIMITED;
    page_real(page, from);
    storm_page_add(page, ",");
    page_real(page, to);
    storm_page_add(page, ",");
}

/* The columns that say which bin it is, separated by commas. */
static void csv_keys(const struct tally_table *t, char *keys_out, size_t bytes)
{
    size_t used = 0;
    keys_out[0] = '\0';
    for (size_t i = 0; i < t->n_axes && used < bytes; i++) {
        const char *name = t->axes[i].name;
        used +=
            (size_t)snprintf(keys_out + used, bytes - used,
                             t->axes[i].n_edges > 0 ? "%s_from,%s_to," : "%s,",
                             name, name);
    }
}

static storm_status csv_write(const struct tally_table *t)
{
    char name[TALLY_NAME_BYTES], keys[256];
    struct storm_page page = {0};
    csv_head(t, &page);
    for (size_t bin = 0; bin < t->n_bins; bin++) {
        size_t inner = t->n_bins;
        for (size_t i = 0; i < t->n_axes; i++) {
            inner /= t->axes[i].n_bins;
            csv_bin(&t->axes[i], bin / inner % t->axes[i].n_bins, &page);
        }
        page_real(&page, t->energy_erg[bin]);
        storm_page_add(&page, ",%" PRIu64 "\n", t->packets[bin]);
    }
    char *text = storm_page_end(&page);
    if (text == NULL)
        return STORM_ERR_NOMEM;
    snprintf(name, sizeof name, "tally-%s.csv", t->name);
    csv_keys(t, keys, sizeof keys);
    storm_status status = io_means_table(t->source, name, keys, text);
    free(text);
    return status;
}

/* ---- HDF5 ---------------------------------------------------------------- */

/* Rows that rank 0 has, with their unit. Collective. */
static storm_status h5_rows(const struct tally_table *t,
                            struct io_h5_writer *file,
                            const struct io_h5_share *array, const char *unit)
{
    bool is_root = storm_context_rank(t->source->context) == 0;
    storm_status status = io_h5_put_plain(file, array->name, array->kind, 1,
                                          array->self, is_root ? array->n : 0);
    return status < 0 ? status
                      : io_h5_put_text(file, array->name, "unit", unit);
}

/* "time 102, group 30": how bins are arranged. */
static void h5_axes(const struct tally_table *t, char *text_out, size_t bytes)
{
    size_t used = 0;
    text_out[0] = '\0';
    for (size_t i = 0; i < t->n_axes && used < bytes; i++)
        used += (size_t)snprintf(text_out + used, bytes - used, "%s%s %zu",
                                 i > 0 ? ", " : "", t->axes[i].name,
                                 t->axes[i].n_bins);
}

/* Values of the bins; of replicas means, and errors. Counts become real numbers
 * then. Collective. */
static storm_status h5_bins(const struct tally_table *t,
                            const struct io_means *means,
                            struct io_h5_writer *file,
                            const struct io_h5_share *array, const char *unit)
{
    bool is_root = storm_context_rank(t->source->context) == 0;
    const struct io_means_rows rows = {.name = array->name,
                                       .columns = 1,
                                       .n = is_root ? t->n_bins : 0,
                                       .values = array->self};
    char error[TALLY_NAME_BYTES + sizeof IO_ERROR_SUFFIX];
    if (means->n == 0)
        return h5_rows(t, file, array, unit);
    storm_status status = io_means_put(means, file, &rows);
    snprintf(error, sizeof error, "%s" IO_ERROR_SUFFIX, array->name);
    if (status == STORM_OK)
        status = io_h5_put_text(file, array->name, "unit", unit);
    if (status == STORM_OK && means->n > 1)
        status = io_h5_put_text(file, error, "unit", unit);
    return status;
}

static storm_status h5_write(const struct tally_table *t,
                             const struct io_means *means,
                             struct io_h5_writer *file)
{
    static const char outermost[] = "outermost first; all bins in one row";
    char name[TALLY_NAME_BYTES], axes[256];
    struct io_h5_share array = {.name = name,
                                .kind = IO_H5_REAL,
                                .n = t->n_bins,
                                .self = t->energy_erg};
    h5_axes(t, axes, sizeof axes);
    snprintf(name, sizeof name, "%s.energy", t->name);
    storm_status status = h5_bins(t, means, file, &array, "erg");
    if (status == STORM_OK)
        status = io_h5_put_text(file, name, "axes", axes);
    if (status == STORM_OK)
        status = io_h5_put_text(file, name, "order", outermost);
    snprintf(name, sizeof name, "%s.packets", t->name);
    array.kind = means->n == 0 ? IO_H5_INTEGER : IO_H5_REAL;
    array.self = t->packets;
    if (means->n > 0) { /* the energies are written */
        for (size_t i = 0; i < t->n_bins; i++)
            t->energy_erg[i] = (double)t->packets[i];
        array.self = t->energy_erg;
    }
    if (status == STORM_OK)
        status = h5_bins(t, means, file, &array, "1");
    array.kind = IO_H5_REAL;
    for (size_t i = 0; i < t->n_axes && status == STORM_OK; i++) {
        const struct storm_tally_axis *axis = &t->axes[i];
        if (axis->n_edges == 0)
            continue;
        snprintf(name, sizeof name, "%s.%s_edges", t->name, axis->name);
        array.n = axis->n_edges;
        array.self = (double *)axis->edges;
        status = h5_rows(t, file, &array, axis_unit(axis));
        if (status == STORM_OK)
            status = io_h5_put_text(file, name, "ends",
                                    axis->has_ends
                                        ? "a bin below the first edge, and one "
                                          "from the last on"
                                        : "none");
    }
    return status;
}

/* ---- all ----------------------------------------------------------------- */

/* CSV first: HDF5 then says that all is there. Collective. */
static storm_status tally_write(const struct io_means *means, size_t number,
                                struct io_h5_writer *file)
{
    const struct io_source *source = means->source;
    struct tally_table t = {.source = source, .number = number};
    storm_status status = table_fill(&t);
    if (status == STORM_OK && storm_context_rank(source->context) == 0)
        status = csv_write(&t);
    status = storm_context_agree(source->context, status);
    if (status == STORM_OK)
        status = h5_write(&t, means, file);
    table_free(&t);
    return status;
}

static storm_status tally_write_all(const struct io_means *means)
{
    const struct io_source *source = means->source;
    struct io_h5_writer *file = NULL;
    size_t n = storm_imc_n_tallies(source->imc);
    storm_status status =
        io_h5_create(source->context, source->dir, means->name, &file);
    if (status == STORM_OK)
        status = io_put_head(source, file);
    if (status == STORM_OK)
        status = io_means_put_number(means, file);
    if (status == STORM_OK)
        status = io_h5_put_number(file, "time", source->time_s);
    if (status == STORM_OK && !source->natural)
        status = io_h5_put_text(file, NULL, "unit_of_time", "s");
    if (status == STORM_OK)
        status = io_h5_put_number(file, "step", (double)source->step);
    for (size_t i = 0; i < n && status == STORM_OK; i++)
        status = tally_write(means, i, file);
    return io_h5_finish(file, status);
}

storm_status io_write_tallies(const struct io_source *source)
{
    struct io_means means;
    if (storm_imc_n_tallies(source->imc) == 0)
        return STORM_OK;
    storm_status status = io_means_open(source, "tallies.h5", &means);
    if (status == STORM_OK && !means.is_done)
        status = tally_write_all(&means);
    io_means_close(&means);
    return status;
}
