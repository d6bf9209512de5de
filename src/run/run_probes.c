/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probes.csv: the fields of the cells at given points, a row for each point in
 * the mesh and step, and for the state before the first. Of replicas it has
 * means and errors.
 */
#include <inttypes.h>
#include <math.h>

#include <storm/context.h>

#include "base/env.h"
#include "run/run.h"

static const char probes_label[] = "probes";

static const char probes_header[] =
    "step,time,probe,x,y,z,cell,material,material_temperature,"
    "radiation_temperature,radiation_energy,material_energy";

/* Values of a cell, in the order of the columns; the tag in two halves, which
 * doubles hold. A point out of the mesh has none. */
enum probes_value {
    PROBES_FOUND,
    PROBES_TAG_HIGH,
    PROBES_TAG_LOW,
    PROBES_MATERIAL,
    PROBES_TEMPERATURE,
    PROBES_RADIATION,
    PROBES_ENERGY,
    PROBES_VALUES
};

static size_t probes_n(const struct run *run)
{
    return run->out_dir != NULL ? run->deck->values.output.probes.n : 0;
}

static storm_status probes_open(struct run *run)
{
    struct io_rows *rows = &run->history.probes;
    if (probes_n(run) == 0 || storm_context_rank(run->context) != 0)
        return STORM_OK;
    return run_rows_open(run, rows, "probes", probes_header);
}

/* Cells of this rank that hold points; -1: none. */
static storm_status probes_locate(struct run *run)
{
    struct run_history *h = &run->history;
    uint64_t generation = storm_mesh_generation(run->mesh);
    if (h->probe_cells_of == generation + 1)
        return STORM_OK;
    for (size_t i = 0; i < probes_n(run); i++) {
        const double *x = run->deck->values.output.probes.item[i];
        struct storm_cell_ref where = {.rank = -1};
        storm_status status = storm_mesh_locate(run->mesh, x, &where);
        bool mine = status == STORM_OK &&
                    where.rank == storm_context_rank(run->context);
        if (status < 0 && status != STORM_ERR_ARG)
            return status;
        h->probe_cells[i] = mine ? where.idx : -1;
    }
    h->probe_cells_of = generation + 1;
    return STORM_OK;
}

/* This rank's values; zero where it has none: a sum over ranks is exact. */
static void probes_take(const struct run *run, storm_imc_field field, int value,
                        const double *cells, double *values)
{
    for (size_t i = 0; i < probes_n(run); i++) {
        storm_cell_idx cell = run->history.probe_cells[i];
        double *to = &values[PROBES_VALUES * i];
        if (cell < 0)
            continue;
        storm_cell_id tag = storm_mesh_cell_id(run->mesh, cell);
        to[PROBES_FOUND] = 1.0;
        to[PROBES_TAG_HIGH] = (double)(tag >> 24);
        to[PROBES_TAG_LOW] = (double)(tag & 0xffffff);
        /* 0 is a value of material and of temperature, -1 outside. */
        to[value] =
            field == STORM_IMC_MATERIAL ? 1.0 + cells[cell] : cells[cell];
    }
}

static storm_status probes_fill(struct run *run, double *cells, double *values)
{
    const struct io_source source = run_source(run);
    const storm_imc_field from[PROBES_VALUES] = {
        [PROBES_MATERIAL] = STORM_IMC_MATERIAL,
        [PROBES_TEMPERATURE] = STORM_IMC_TEMPERATURE,
        [PROBES_RADIATION] = source.radiation,
        [PROBES_ENERGY] = STORM_IMC_MATERIAL_ENERGY,
    };
    storm_status status = probes_locate(run);
    status = storm_context_agree(run->context, status);
    for (int k = PROBES_MATERIAL; k < PROBES_VALUES && status == STORM_OK;
         k++) {
        status = storm_imc_get(run->imc, run->engine, from[k], cells);
        if (status == STORM_OK)
            probes_take(run, from[k], k, cells, values);
    }
    return status < 0
               ? status
               : storm_context_reduce(run->context, values,
                                      (int)(PROBES_VALUES * probes_n(run)),
                                      MPI_DOUBLE, MPI_SUM);
}

/* NaN where there is none, as in dumps. */
static void probes_number(struct run *run, const char *name, int material,
                          double value, char after)
{
    const struct io_source source = run_source(run);
    if (!io_field_has(&source, name, material, value))
        value = (double)NAN;
    io_rows_real(&run->history.probes.text, value, after);
}

static void probes_row(struct run *run, size_t i, const double *value)
{
    struct storm_page *page = &run->history.probes.text;
    const double *x = run->deck->values.output.probes.item[i];
    double a = run->problem.radiation_erg_cm3_kev4;
    if (value[PROBES_FOUND] == 0.0) {
        /* storm_run_doubts has reported those outside the box. */
        if (run->step == 0 && run_job_replica(run) <= 1 &&
            run_is_in_box(&run->deck->values, x))
            run_warn(run,
                     "output.probes.%zu: [%g, %g, %g] is not in the "
                     "mesh and has no rows in probes.csv: move it",
                     i, x[0], x[1], x[2]);
        return;
    }
    storm_page_add(page, "%" PRIu64 ",", run->step);
    io_rows_real(page, run->time_s, ',');
    storm_page_add(page, "%zu,", i);
    for (int d = 0; d < 3; d++)
        io_rows_real(page, x[d], ',');
    int material = (int)value[PROBES_MATERIAL] - 1;
    storm_page_add(page, "%" PRIu64 ",%d,",
                   (uint64_t)value[PROBES_TAG_HIGH] << 24 |
                       (uint64_t)value[PROBES_TAG_LOW],
                   material);
    probes_number(run, "material_temperature", material,
                  value[PROBES_TEMPERATURE], ',');
    probes_number(run, "radiation_temperature", material,
                  sqrt(sqrt(value[PROBES_RADIATION] / a)), ',');
    probes_number(run, "radiation_energy", material, value[PROBES_RADIATION],
                  ',');
    probes_number(run, "material_energy", material, value[PROBES_ENERGY], '\n');
}

storm_status run_probes_open(struct run *run)
{
    struct storm_memory *memory = storm_context_env(run->context)->memory;
    run->history.probe_cells =
        storm_alloc(memory, probes_label,
                    (probes_n(run) + 1) * sizeof *run->history.probe_cells);
    storm_status status =
        run->history.probe_cells != NULL ? probes_open(run) : STORM_ERR_NOMEM;
    return storm_context_agree(run->context, status);
}

void run_probes_close(struct run *run)
{
    storm_free(storm_context_env(run->context)->memory,
               run->history.probe_cells);
    io_rows_free(&run->history.probes);
}

storm_status run_probes_add(struct run *run)
{
    struct storm_memory *memory = storm_context_env(run->context)->memory;
    size_t n = probes_n(run), n_cells = (size_t)storm_mesh_n_cells(run->mesh);
    if (n == 0)
        return STORM_OK;
    double *room = storm_alloc(memory, probes_label,
                               (PROBES_VALUES * n + n_cells) * sizeof *room);
    storm_status status =
        storm_context_agree(run->context,
                            room != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK)
        status = probes_fill(run, room + PROBES_VALUES * n, room);
    if (status == STORM_OK && storm_context_rank(run->context) == 0)
        for (size_t i = 0; i < n; i++)
            probes_row(run, i, &room[PROBES_VALUES * i]);
    storm_free(memory, room);
    return status;
}
