/* SPDX-License-Identifier: BSD-3-Clause */
/* Density and temperatures of cells at the start: numbers, or formulas of the
 * place. */
#include <storm/context.h>

#include "mesh/mesh_ops.h"
#include "physics/imc.h"

/* Formulas of a material. */
enum { START_MATTER, START_RADIATION, START_DENSITY, START_FORMULAS };

static const char *const start_names[START_FORMULAS] = {
    "temperature", "radiation_temperature", "density"};

static const double start_max_kev = 1e30;

static const char *start_text(const struct storm_material *m, size_t which)
{
    const char *const texts[START_FORMULAS] = {m->temperature_formula,
                                               m->radiation_temperature_formula,
                                               m->density_formula};
    return texts[which];
}

storm_status imc_start_make(struct storm_imc *imc)
{
    size_t n = START_FORMULAS * imc->problem->n_materials;
    imc->start = storm_alloc(imc->env->memory, "imc",
                             (n + 1) * sizeof(struct storm_formula *));
    if (imc->start == NULL)
        return STORM_ERR_NOMEM;
    for (size_t i = 0; i < n; i++) {
        const char *text =
            start_text(&imc->problem->materials[i / START_FORMULAS],
                       i % START_FORMULAS);
        if (text == NULL)
            continue;
        imc->start[i] = storm_formula_make(imc->env->memory, text);
        if (imc->start[i] == NULL)
            return STORM_ERR_NOMEM;
    }
    return STORM_OK;
}

void imc_start_free(struct storm_imc *imc)
{
    size_t n = START_FORMULAS * imc->own.n_materials;
    for (size_t i = 0; imc->start != NULL && i < n; i++)
        storm_free(imc->env->memory, imc->start[i]);
    storm_free(imc->env->memory, imc->start);
}

/* The formula at the centre of the cell, which has matter; or `number`. */
static double start_value(const struct storm_imc *imc, storm_cell_idx cell,
                          int which, double number)
{
    const struct storm_formula *formula =
        imc->start[START_FORMULAS * imc->material[cell] + which];
    double at[STORM_FORMULA_VARIABLES] = {0.0};
    if (formula == NULL)
        return number;
    storm_mesh_centre(imc->mesh, cell, &at[STORM_FORMULA_X]);
    return storm_formula_value(formula, at);
}

double imc_start_density(const struct storm_imc *imc, storm_cell_idx cell)
{
    int m = imc->material[cell];
    if (!imc_has_matter(imc, m))
        return 1.0;
    double density = imc->problem->materials[m].density_g_cm3;
    return start_value(imc, cell, START_DENSITY, density > 0.0 ? density : 1.0);
}

double imc_start_matter_kev(const struct storm_imc *imc, storm_cell_idx cell)
{
    int m = imc->material[cell];
    if (!imc_has_matter(imc, m))
        return 0.0;
    return start_value(imc, cell, START_MATTER,
                       imc->problem->materials[m].temperature_kev);
}

double imc_start_radiation_kev(const struct storm_imc *imc, storm_cell_idx cell)
{
    int m = imc->material[cell];
    if (imc->start_kev != NULL && m != STORM_OUTSIDE)
        return imc->start_kev[cell];
    if (!imc_has_matter(imc, m))
        return 0.0;
    double kev = imc->problem->materials[m].radiation_temperature_kev;
    if (kev < 0.0)
        kev = imc_start_matter_kev(imc, cell);
    return start_value(imc, cell, START_RADIATION, kev);
}

storm_status imc_start_check(const struct storm_imc *imc, storm_cell_idx cell)
{
    const double values[START_FORMULAS] = {imc_start_matter_kev(imc, cell),
                                           imc_start_radiation_kev(imc, cell),
                                           imc_start_density(imc, cell)};
    for (int i = 0; i < START_FORMULAS; i++) {
        bool above = i == START_DENSITY;
        double max = above ? STORM_UNLIMITED : start_max_kev;
        if ((above ? values[i] > 0.0 : values[i] >= 0.0) && values[i] <= max)
            continue;
        double centre[3];
        storm_mesh_centre(imc->mesh, cell, centre);
        const char *name = imc->problem->materials[imc->material[cell]].name;
        storm_log_write(&imc->env->log, STORM_LOG_ERROR,
                        "%s of %s in cell %llu at (%g, %g, %g) cm: expected "
                        "its formula to give a number %s 0 to %g, got %g",
                        start_names[i], name != NULL ? name : "a material",
                        (unsigned long long)storm_mesh_cell_id(imc->mesh, cell),
                        centre[0], centre[1], centre[2],
                        above ? "above" : "from", max, values[i]);
        return STORM_ERR_ARG;
    }
    return STORM_OK;
}

/* The first value that is none; STORM_ERR_ARG, logged. */
static storm_status start_check_kev(const struct storm_imc *imc,
                                    const double *kev)
{
    for (storm_cell_idx i = 0; i < imc->n_cells; i++)
        if (!(kev[i] >= 0.0 && kev[i] <= start_max_kev)) {
            storm_log_write(&imc->env->log, STORM_LOG_ERROR,
                            "radiation_temperature in cell %llu: expected a "
                            "number from 0 to %g, got %g",
                            (unsigned long long)imc->tag[i], start_max_kev,
                            kev[i]);
            return STORM_ERR_ARG;
        }
    return STORM_OK;
}

storm_status storm_imc_set_start(struct storm_imc *imc, const double *kev)
{
    storm_status status = imc_check(imc);
    size_t n = (size_t)imc->n_cells;
    double *copy = NULL;
    if (status == STORM_OK)
        status = start_check_kev(imc, kev);
    if (status == STORM_OK) {
        copy =
            storm_alloc(imc->env->memory, "imc cells", (n + 1) * sizeof *copy);
        status = copy != NULL ? STORM_OK : STORM_ERR_NOMEM;
    }
    status = storm_context_agree(imc->context, status);
    if (status < 0) {
        storm_free(imc->env->memory, copy);
        return status;
    }
    for (size_t i = 0; i < n; i++)
        copy[i] = kev[i];
    storm_free(imc->env->memory, imc->start_kev);
    imc->start_kev = copy;
    return STORM_OK;
}
