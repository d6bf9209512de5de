/* SPDX-License-Identifier: BSD-3-Clause */
/* Stage 5: fields of cells, in the order of the caller. */
#include "host/host.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <storm/exact.h>
#include <storm/tally.h>

/* Where a field comes from. */
enum host_source {
    FIELD_NONE,
    FIELD_IMC,    /* storm_imc_get, and set if `is_set` */
    FIELD_LAW,    /* a part of the composition */
    FIELD_START,  /* radiation at the start */
    FIELD_FRAME,  /* how cells will move */
    FIELD_MOMENT, /* asked for */
    FIELD_CENTRE
};

struct host_field {
    const char *name;
    enum host_source source;
    int what; /* storm_imc_field, storm_host_law or storm_imc_moment */
    size_t n; /* values; 0: one for each group */
    bool is_set;
};

static const struct host_field fields[] = {
    [STORM_HOST_TEMPERATURE] = {"temperature", FIELD_IMC, STORM_IMC_TEMPERATURE,
                                1, true},
    [STORM_HOST_HEAT] = {"heat", FIELD_IMC, STORM_IMC_MATERIAL_ENERGY, 1, true},
    [STORM_HOST_DENSITY] = {"density", FIELD_IMC, STORM_IMC_DENSITY, 1, true},
    [STORM_HOST_MATERIAL] = {"material", FIELD_IMC, STORM_IMC_MATERIAL, 1,
                             true},
    [STORM_HOST_EMISSION] = {"emission", FIELD_IMC, STORM_IMC_EMISSION, 1,
                             true},
    [STORM_HOST_VELOCITY] = {"velocity", FIELD_IMC, STORM_IMC_VELOCITY, 3,
                             true},
    [STORM_HOST_RADIATION_START] = {"radiation_start", FIELD_START, 0, 1, true},
    [STORM_HOST_ABSORPTION] = {"absorption", FIELD_LAW,
                               STORM_HOST_LAW_ABSORPTION, 0, true},
    [STORM_HOST_SCATTERING] = {"scattering", FIELD_LAW,
                               STORM_HOST_LAW_SCATTERING, 0, true},
    [STORM_HOST_HEAT_CAPACITY] = {"heat_capacity", FIELD_LAW,
                                  STORM_HOST_LAW_HEAT, 1, true},
    [STORM_HOST_FRAME] = {"frame", FIELD_FRAME, 0, 3, true},
    [STORM_HOST_RADIATION] = {"radiation", FIELD_IMC, STORM_IMC_RADIATION_PATH,
                              1, false},
    [STORM_HOST_CENSUS] = {"census", FIELD_IMC, STORM_IMC_RADIATION_CENSUS, 1,
                           false},
    [STORM_HOST_ABSORBED] = {"absorbed", FIELD_IMC, STORM_IMC_DEPOSITED, 1,
                             false},
    [STORM_HOST_EMITTED] = {"emitted", FIELD_IMC, STORM_IMC_EMITTED, 1, false},
    [STORM_HOST_PUSH] = {"push", FIELD_MOMENT, STORM_IMC_MOMENTUM, 3, false},
    [STORM_HOST_FLUX] = {"flux", FIELD_MOMENT, STORM_IMC_FLUX, 3, false},
    [STORM_HOST_PRESSURE] = {"pressure", FIELD_MOMENT, STORM_IMC_PRESSURE, 6,
                             false},
    [STORM_HOST_GROUPS] = {"groups", FIELD_MOMENT, STORM_IMC_GROUPS, 0, false},
    [STORM_HOST_VOLUME] = {"volume", FIELD_IMC, STORM_IMC_VOLUME, 1, false},
    [STORM_HOST_CENTRE] = {"centre", FIELD_CENTRE, 0, 3, false},
};
enum { N_FIELDS = sizeof fields / sizeof fields[0] };

static const struct host_field *field_of(int field)
{
    bool is_there =
        field >= 0 && field < N_FIELDS && fields[field].source != FIELD_NONE;
    return is_there ? &fields[field] : NULL;
}

const char *storm_host_field_name(int field)
{
    return field_of(field) != NULL ? fields[field].name : NULL;
}

size_t storm_host_n_values(const struct storm_host *host, int field)
{
    if (host == NULL || host->stage < HOST_MESH || field_of(field) == NULL)
        return 0;
    size_t n_groups = (size_t)host->problem.n_groups;
    return fields[field].n > 0 ? fields[field].n : n_groups > 0 ? n_groups : 1;
}

/* ---- checks ------------------------------------------------------------- */

/* The array has as many values as the cells of this rank. */
static storm_status field_check_size(const struct storm_host *host,
                                     const char *what, const void *values,
                                     size_t n, size_t per)
{
    if (values == NULL && host->route.n > 0)
        return host_fail(host, STORM_ERR_ARG, "%s: no array", what);
    if (n != host->route.n * per)
        return host_fail(host, STORM_ERR_ARG,
                         "%s: expected %zu values (%zu cells, %zu each), got "
                         "%zu",
                         what, host->route.n * per, host->route.n, per, n);
    return STORM_OK;
}

static storm_status field_check(const struct storm_host *host, const char *what,
                                int field)
{
    const struct host_field *f = field_of(field);
    if (f == NULL)
        return host_fail(host, STORM_ERR_ARG, "%s: there is no field %d", what,
                         field);
    if (f->what == STORM_IMC_VELOCITY && f->source == FIELD_IMC &&
        !host->problem.motion)
        return host_fail(host, STORM_ERR_ARG,
                         "%s: %s: the parameter motion is not set", what,
                         f->name);
    return STORM_OK;
}

static storm_status field_check_set(const struct storm_host *host,
                                    const char *what, int field)
{
    const struct host_field *f = &fields[field];
    if (!f->is_set)
        return host_fail(host, STORM_ERR_ARG, "%s: %s cannot be set", what,
                         f->name);
    if (f->source == FIELD_START && host->has_started)
        return host_fail(host, STORM_ERR_STATE,
                         "%s: %s: expected before the first step", what,
                         f->name);
    if (f->source == FIELD_LAW && !host->any_by_cell[f->what])
        return host_fail(host, STORM_ERR_ARG,
                         "%s: %s: no material has it by cell: "
                         "storm_host_set_by_cell",
                         what, f->name);
    return STORM_OK;
}

static bool field_is_push(const struct storm_host *host, int field)
{
    return field == STORM_HOST_PUSH && host->problem.motion;
}

static storm_status field_check_get(const struct storm_host *host,
                                    const char *what, int field)
{
    const struct host_field *f = &fields[field];
    if (f->source == FIELD_MOMENT && !field_is_push(host, field) &&
        (host->moments & (unsigned)f->what) == 0)
        return host_fail(host, STORM_ERR_STATE,
                         "%s: %s: expected storm_host_request before the step",
                         what, f->name);
    if (f->source == FIELD_LAW && f->what != STORM_HOST_LAW_HEAT &&
        !host->any_by_cell[f->what])
        return host_fail(host, STORM_ERR_ARG,
                         "%s: %s: no material has it by cell", what, f->name);
    return STORM_OK;
}

/* ---- parts of the composition ------------------------------------------- */

/* Between an array of the whole composition of local cells and the numbers of
 * one law. */
static void field_columns(const struct storm_host *host, int law, size_t per,
                          double *all, double *values, bool to_values)
{
    size_t n = (size_t)storm_mesh_n_cells(host->mesh);
    size_t n_all = host->problem.n_components;
    for (size_t i = 0; i < n; i++) {
        double *a = &all[i * n_all + host->first_component[law]];
        double *b = &values[i * per];
        memcpy(to_values ? b : a, to_values ? a : b, per * sizeof *b);
    }
}

/* The composition of the local cells, to be freed after an error, too. */
static storm_status field_get_composition(struct storm_host *host,
                                          double **all_out)
{
    size_t n = (size_t)storm_mesh_n_cells(host->mesh);
    storm_status status = host_array(host, n * host->problem.n_components,
                                     sizeof **all_out, all_out);
    return status < 0 ? status
                      : storm_imc_get(host->imc, host->engine,
                                      STORM_IMC_COMPOSITION, *all_out);
}

static storm_status field_set_law(struct storm_host *host, int law, size_t per,
                                  double *local)
{
    double *all = NULL;
    storm_status status = field_get_composition(host, &all);
    status = host_agree(host, status);
    if (status == STORM_OK) {
        field_columns(host, law, per, all, local, false);
        status = storm_imc_set(host->imc, STORM_IMC_COMPOSITION, all);
    }
    host_free(host, all);
    return status;
}

static storm_status field_get_law(struct storm_host *host, int law, size_t per,
                                  double *local)
{
    if (law == STORM_HOST_LAW_HEAT)
        return storm_imc_get(host->imc, host->engine, STORM_IMC_HEAT_CAPACITY,
                             local);
    double *all = NULL;
    storm_status status = field_get_composition(host, &all);
    if (status == STORM_OK)
        field_columns(host, law, per, all, local, true);
    host_free(host, all);
    return status;
}

/* Before a cell gets another material, it gets the numbers that this has by
 * cell at the start: its energy stays, and where it keeps its temperature
 * instead, it has none of these numbers or had none. */
static storm_status field_before_material(struct storm_host *host,
                                          const double *local)
{
    size_t n = (size_t)storm_mesh_n_cells(host->mesh);
    size_t per = host->problem.n_components;
    double *all = NULL;
    if (per == 0)
        return STORM_OK;
    storm_status status = field_get_composition(host, &all);
    for (size_t i = 0; i < n && status == STORM_OK; i++) {
        size_t m = (size_t)local[i];
        if (m < host->n_materials &&
            storm_imc_material(host->imc, (storm_cell_idx)i) != (int)m)
            host_matter_begin(host, m, &all[i * per]);
    }
    status = host_agree(host, status);
    if (status == STORM_OK)
        status = storm_imc_set(host->imc, STORM_IMC_COMPOSITION, all);
    host_free(host, all);
    return status;
}

/* On the rank that gives the value; storm_imc_set knows more, but on the rank
 * that has the cell. */
static storm_status field_check_values(const struct storm_host *host,
                                       const char *what, int field,
                                       const double *values, size_t n)
{
    bool is_vector = fields[field].n == 3;
    bool is_whole = field == STORM_HOST_MATERIAL;
    bool is_kev =
        field == STORM_HOST_TEMPERATURE || field == STORM_HOST_RADIATION_START;
    double max = is_whole ? (double)host->n_materials
                 : is_kev ? 1e30
                          : STORM_UNLIMITED;
    double min = is_vector ? -max : 0.0;
    for (size_t i = 0; i < n; i++)
        if (!host_is_between(values[i], min, max) ||
            (is_whole && values[i] != floor(values[i])))
            return host_fail(host, STORM_ERR_ARG,
                             "%s: %s of cell %zu: expected a %s from %g to %g, "
                             "got %g; nothing is set",
                             what, fields[field].name,
                             i / storm_host_n_values(host, field),
                             is_whole ? "whole number" : "number", min, max,
                             values[i]);
    return STORM_OK;
}

/* ---- set ---------------------------------------------------------------- */

static storm_status field_set_start(struct storm_host *host,
                                    const double *values)
{
    double *copy = NULL;
    size_t n = host->route.n;
    storm_status status =
        host_agree(host, host_array(host, n, sizeof *copy, &copy));
    if (status < 0) {
        host_free(host, copy);
        return status;
    }
    if (n > 0)
        memcpy(copy, values, n * sizeof *copy);
    host_free(host, host->start_kev);
    host->start_kev = copy;
    return STORM_OK;
}

static storm_status field_set_local(struct storm_host *host,
                                    const struct host_field *f, size_t per,
                                    double *local)
{
    if (f->source == FIELD_LAW)
        return field_set_law(host, f->what, per, local);
    if (f->source == FIELD_FRAME)
        return storm_imc_set_frame(host->imc, local);
    return storm_imc_set(host->imc, (storm_imc_field)f->what, local);
}

storm_status storm_host_set(struct storm_host *host, int field,
                            const double *values, size_t n)
{
    static const char what[] = "storm_host_set";
    storm_status status = host_enter(host, what, HOST_RUN, HOST_RUN);
    double *local = NULL;
    if (status < 0)
        return status;
    size_t per = storm_host_n_values(host, field);
    status = field_check(host, what, field);
    if (status == STORM_OK)
        status = field_check_set(host, what, field);
    if (status == STORM_OK)
        status = field_check_size(host, what, values, n, per);
    if (status == STORM_OK)
        status = field_check_values(host, what, field, values, n);
    if (status == STORM_OK)
        status = host_array(host, per * (size_t)storm_mesh_n_cells(host->mesh),
                            sizeof *local, &local);
    status = host_agree(host, status);
    if (status < 0) {
        host_free(host, local);
        return status;
    }
    const struct host_field *f = &fields[field];
    if (f->source == FIELD_START) {
        host_free(host, local);
        return field_set_start(host, values);
    }
    status = host_route_in(host, STORM_OK, per, values, local);
    if (status == STORM_OK && field == STORM_HOST_MATERIAL)
        status = field_before_material(host, local);
    if (status == STORM_OK)
        status = field_set_local(host, f, per, local);
    host_free(host, local);
    return status;
}

/* ---- get ---------------------------------------------------------------- */

static storm_status field_get_local(struct storm_host *host, int field,
                                    size_t per, double *local)
{
    const struct host_field *f = &fields[field];
    size_t n = (size_t)storm_mesh_n_cells(host->mesh);
    if (field_is_push(host, field))
        return storm_imc_get(host->imc, host->engine, STORM_IMC_PUSH, local);
    switch (f->source) {
    case FIELD_IMC:
        return storm_imc_get(host->imc, host->engine, (storm_imc_field)f->what,
                             local);
    case FIELD_LAW:
        return field_get_law(host, f->what, per, local);
    case FIELD_MOMENT:
        return storm_imc_get_moment(host->imc, (storm_imc_moment)f->what,
                                    local);
    default:
        for (size_t i = 0; i < n; i++)
            storm_mesh_centre(host->mesh, (storm_cell_idx)i, &local[3 * i]);
        return STORM_OK;
    }
}

storm_status storm_host_get(struct storm_host *host, int field,
                            double *values_out, size_t n)
{
    static const char what[] = "storm_host_get";
    storm_status status = host_enter(host, what, HOST_RUN, HOST_RUN);
    double *local = NULL;
    if (status < 0)
        return status;
    size_t per = storm_host_n_values(host, field);
    status = field_check(host, what, field);
    if (status == STORM_OK && (fields[field].source == FIELD_START ||
                               fields[field].source == FIELD_FRAME))
        status = host_fail(host, STORM_ERR_ARG, "%s: %s can only be set", what,
                           fields[field].name);
    if (status == STORM_OK)
        status = field_check_get(host, what, field);
    if (status == STORM_OK)
        status = field_check_size(host, what, values_out, n, per);
    if (status == STORM_OK)
        status = host_array(host, per * (size_t)storm_mesh_n_cells(host->mesh),
                            sizeof *local, &local);
    status = host_agree(host, status);
    if (status == STORM_OK)
        status = host_route_out(host, field_get_local(host, field, per, local),
                                per, local, values_out);
    host_free(host, local);
    return status;
}

storm_status storm_host_request(struct storm_host *host, int field)
{
    static const char what[] = "storm_host_request";
    storm_status status = host_enter(host, what, HOST_RUN, HOST_RUN);
    if (status < 0)
        return status;
    status = field_check(host, what, field);
    if (status == STORM_OK && fields[field].source != FIELD_MOMENT)
        status = host_fail(host, STORM_ERR_ARG,
                           "%s: %s is always there; expected push, flux, "
                           "pressure or groups",
                           what, fields[field].name);
    status = host_agree(host, status);
    if (status < 0 || field_is_push(host, field))
        return status;
    unsigned moments = host->moments | (unsigned)fields[field].what;
    status = storm_imc_request(host->imc, moments);
    if (status == STORM_OK)
        host->moments = moments;
    return status;
}

storm_status storm_host_get_tags(struct storm_host *host, uint64_t *tags_out,
                                 size_t n)
{
    static const char what[] = "storm_host_get_tags";
    storm_status status = host_enter(host, what, HOST_MESH, HOST_RUN);
    if (status == STORM_OK)
        status = field_check_size(host, what, tags_out, n, 1);
    for (size_t i = 0; i < n && status == STORM_OK; i++)
        tags_out[i] = (uint64_t)host->route.tags[i];
    return status;
}

/* ---- the host's own work ------------------------------------------------ */

/* Adds the sum over all ranks to the account: the same bits on any number of
 * ranks, whatever the order. */
static storm_status work_declare(struct storm_host *host, const double *erg,
                                 size_t n)
{
    struct storm_sum sum;
    double bound = 0.0;
    for (size_t i = 0; i < n; i++)
        bound = fmax(bound, fabs(erg[i]));
    storm_status status =
        storm_context_reduce(host->context, &bound, 1, MPI_DOUBLE, MPI_MAX);
    if (status == STORM_OK)
        status = storm_sum_begin(&sum, bound);
    for (size_t i = 0; i < n && status == STORM_OK; i++)
        status = storm_sum_add(&sum, erg[i]);
    if (status == STORM_OK)
        status = storm_sum_reduce(host->context, &sum, 1);
    if (status == STORM_OK)
        host->declared_erg += storm_sum_value(&sum);
    return status;
}

static storm_status work_check(const struct storm_host *host, const char *what,
                               const double *erg, size_t n)
{
    storm_status status = field_check_size(host, what, erg, n, 1);
    for (size_t i = 0; i < n && status == STORM_OK; i++)
        if (!host_is_between(erg[i], -1e250, 1e250))
            status = host_fail(host, STORM_ERR_ARG,
                               "%s: cell %zu: expected a number, got %g", what,
                               i, erg[i]);
    return status;
}

storm_status storm_host_declare_work(struct storm_host *host, const double *erg,
                                     size_t n)
{
    static const char what[] = "storm_host_declare_work";
    storm_status status = host_enter(host, what, HOST_RUN, HOST_RUN);
    if (status < 0)
        return status;
    status = host_agree(host, work_check(host, what, erg, n));
    return status < 0 ? status : work_declare(host, erg, n);
}

/* Can the matter of each local cell have the energy? */
static storm_status heat_check(struct storm_host *host, const double *local,
                               double *energy)
{
    size_t n = (size_t)storm_mesh_n_cells(host->mesh);
    storm_status status = storm_imc_get(host->imc, host->engine,
                                        STORM_IMC_MATERIAL_ENERGY, energy);
    for (size_t i = 0; i < n && status == STORM_OK; i++) {
        storm_cell_idx c = (storm_cell_idx)i;
        double volume = storm_mesh_volume_cm3(host->mesh, c);
        bool is_held =
            storm_imc_is_held(host->imc, storm_imc_material(host->imc, c));
        if (local[i] != 0.0 &&
            (is_held || !(energy[i] * volume + local[i] >= 0.0)))
            status = host_fail(host, STORM_ERR_ARG,
                               "storm_host_add_heat: cell with tag %" PRIu64
                               ": %s; nothing is added",
                               storm_mesh_cell_id(host->mesh, c),
                               is_held ? "it has no heat capacity"
                                       : "that is more than its matter has");
    }
    return status;
}

storm_status storm_host_add_heat(struct storm_host *host, const double *erg,
                                 size_t n)
{
    static const char what[] = "storm_host_add_heat";
    storm_status status = host_enter(host, what, HOST_RUN, HOST_RUN);
    double *local = NULL, *energy = NULL;
    if (status < 0)
        return status;
    size_t n_local = (size_t)storm_mesh_n_cells(host->mesh);
    status = work_check(host, what, erg, n);
    if (status == STORM_OK)
        status = host_array(host, n_local, sizeof *local, &local);
    if (status == STORM_OK)
        status = host_array(host, n_local, sizeof *energy, &energy);
    status = host_route_in(host, status, 1, erg, local);
    if (status == STORM_OK)
        status = host_agree(host, heat_check(host, local, energy));
    if (status == STORM_OK)
        status = work_declare(host, erg, n);
    for (size_t i = 0; i < n_local && status == STORM_OK; i++)
        storm_imc_deposit(host->imc, (storm_cell_idx)i, local[i]);
    host_free(host, energy);
    host_free(host, local);
    return status;
}
