/* SPDX-License-Identifier: BSD-3-Clause */
#include "physics/imc_matter.h"

#include <stdarg.h>
#include <stdio.h>

#include <storm/context.h>

#include "physics/imc.h"
#include "physics/matter_power.h"

static const char matter_label[] = "imc matter";

/* Values of a block: opacities of groups fill at least a few pages. */
enum { MATTER_MAX_CELLS = 256, MATTER_MAX_VALUES = 8192 };

/* ---- materials ---------------------------------------------------------- */

static void *matter_array(struct storm_imc *imc, size_t n, size_t bytes,
                          bool *ok)
{
    void *array = storm_alloc(imc->env->memory, matter_label, (n + 1) * bytes);
    *ok = *ok && array != NULL;
    return array;
}

static bool matter_make_block(struct storm_imc *imc)
{
    bool ok = true;
    struct imc_block *block = &imc->matter.block;
    size_t n_groups = (size_t)imc->problem->n_groups;
    size_t n = MATTER_MAX_VALUES / n_groups;
    n = n < 1 ? 1 : n > MATTER_MAX_CELLS ? MATTER_MAX_CELLS : n;
    block->room = n;
    block->cell = matter_array(imc, n, sizeof *block->cell, &ok);
    block->tag = matter_array(imc, n, sizeof *block->tag, &ok);
    block->density = matter_array(imc, n, sizeof(double), &ok);
    block->composition =
        matter_array(imc, n * imc->problem->n_components, sizeof(double), &ok);
    block->temperature = matter_array(imc, n, sizeof(double), &ok);
    block->energy = matter_array(imc, n, sizeof(double), &ok);
    block->value = matter_array(imc, n, sizeof(double), &ok);
    block->extra = matter_array(imc, n, sizeof(double), &ok);
    block->absorption = matter_array(imc, n * n_groups, sizeof(double), &ok);
    block->scattering = matter_array(imc, n * n_groups, sizeof(double), &ok);
    block->b = (struct storm_matter_block){
        .size = sizeof block->b,
        .cell = block->cell,
        .tag = block->tag,
        .density_g_cm3 = block->density,
        .temperature_kev = block->temperature,
        .n_components = imc->problem->n_components,
        .composition = block->composition,
        .n_groups = n_groups,
        .group_edge_kev = n_groups > 1 ? imc->group_edge : NULL,
        .group_middle_kev = n_groups > 1 ? imc->group_middle : NULL,
    };
    return ok;
}

storm_status imc_matter_open(struct storm_imc *imc)
{
    struct imc_matter *matter = &imc->matter;
    size_t n = imc->problem->n_materials;
    bool ok = true;
    matter->of = matter_array(imc, n, sizeof *matter->of, &ok);
    matter->power = matter_array(imc, n, sizeof *matter->power, &ok);
    matter->first = matter_array(imc, n, sizeof *matter->first, &ok);
    if (!ok || !matter_make_block(imc))
        return STORM_ERR_NOMEM;
    imc->has_more = imc->problem->n_components > 0 || imc->problem->motion;
    for (size_t i = 0; i < n; i++) {
        const struct storm_material *m = &imc->problem->materials[i];
        matter->is_foreign = matter->is_foreign || m->matter != NULL;
        imc->has_more =
            imc->has_more || m->matter != NULL || matter_power_uses_density(m);
        matter->of[i] = m->matter != NULL
                            ? *m->matter
                            : matter_power_make(&matter->power[i], m,
                                                imc->problem->group_average);
    }
    return STORM_OK;
}

void imc_matter_close(struct storm_imc *imc)
{
    struct storm_memory *memory = imc->env->memory;
    struct imc_matter *matter = &imc->matter;
    struct imc_block *block = &matter->block;
    storm_free(memory, block->cell);
    storm_free(memory, block->tag);
    storm_free(memory, block->density);
    storm_free(memory, block->temperature);
    storm_free(memory, block->composition);
    storm_free(memory, block->energy);
    storm_free(memory, block->value);
    storm_free(memory, block->extra);
    storm_free(memory, block->absorption);
    storm_free(memory, block->scattering);
    storm_free(memory, matter->first);
    storm_free(memory, matter->power);
    storm_free(memory, matter->of);
}

bool imc_has_matter(const struct storm_imc *imc, int material)
{
    return material >= 0 && material < (int)imc->problem->n_materials;
}

bool imc_is_warm(const struct storm_imc *imc, int material)
{
    return imc_has_matter(imc, material) && !imc->matter.of[material].is_held;
}

void imc_matter_sort(struct storm_imc *imc)
{
    struct imc_matter *matter = &imc->matter;
    size_t n = imc->problem->n_materials;
    for (size_t m = 0; m <= n; m++)
        matter->first[m] = 0;
    for (storm_cell_idx i = 0; i < imc->n_cells; i++)
        if (imc_has_matter(imc, imc->material[i]))
            matter->first[imc->material[i]]++;
    for (size_t m = 0, sum = 0; m <= n; m++) {
        size_t here = matter->first[m];
        matter->first[m] = sum;
        sum += here;
    }
    /* Each begin goes to its end, which is the next one's begin. */
    for (storm_cell_idx i = 0; i < imc->n_cells; i++)
        if (imc_has_matter(imc, imc->material[i]))
            matter->order[matter->first[imc->material[i]]++] = i;
    for (size_t m = n; m > 0; m--)
        matter->first[m] = matter->first[m - 1];
    matter->first[0] = 0;
}

/* ---- blocks ------------------------------------------------------------- */

void imc_block_fill(struct storm_imc *imc, int material,
                    const storm_cell_idx *cells, size_t n)
{
    struct imc_block *block = &imc->matter.block;
    block->material = material;
    block->b.n = n;
    block->b.is_estimate = 0;
    for (size_t k = 0; k < n; k++) {
        storm_cell_idx i = cells[k];
        block->cell[k] = i;
        block->tag[k] = imc->tag[i];
        block->density[k] = imc->density[i];
        block->temperature[k] = imc->temperature[i];
        block->energy[k] = imc->energy[i];
    }
    size_t n_parts = block->b.n_components, n_cells = (size_t)imc->n_cells;
    for (size_t k = 0; k < n * n_parts; k++)
        block->composition[k] =
            imc->composition[k % n_parts * n_cells +
                             (size_t)block->cell[k / n_parts]];
}

storm_status imc_matter_each(struct storm_imc *imc, const bool *only,
                             imc_block_fn *use)
{
    const struct imc_matter *matter = &imc->matter;
    storm_cell_idx *cells = matter->block.cell;
    storm_status status = STORM_OK;
    for (size_t m = 0; m < imc->problem->n_materials; m++) {
        size_t at = matter->first[m], end = matter->first[m + 1];
        while (at < end && status >= 0) {
            size_t n = 0;
            for (; at < end && n < matter->block.room; at++)
                if (only == NULL || only[matter->order[at]])
                    cells[n++] = matter->order[at];
            if (n == 0)
                continue;
            imc_block_fill(imc, (int)m, cells, n);
            status = use(imc, &imc->matter.block);
        }
    }
    return status;
}

storm_status imc_block_temperature(struct storm_imc *imc,
                                   struct imc_block *block)
{
    if (!imc_is_warm(imc, block->material))
        return STORM_OK;
    storm_status status = imc_ask_temperature(imc);
    for (size_t k = 0; k < block->b.n && status >= 0; k++)
        imc->temperature[block->cell[k]] = block->value[k];
    return status;
}

storm_status imc_block_energy(struct storm_imc *imc, struct imc_block *block)
{
    if (!imc_is_warm(imc, block->material))
        return STORM_OK;
    storm_status status = imc_ask_energy(imc);
    for (size_t k = 0; k < block->b.n && status >= 0; k++)
        imc->energy[block->cell[k]] = block->value[k];
    return status;
}

storm_status imc_matter_refresh(struct storm_imc *imc)
{
    storm_status status =
        imc_matter_each(imc, imc->is_stale, imc_block_temperature);
    for (storm_cell_idx i = 0; i < imc->n_cells; i++)
        imc->is_stale[i] = false;
    return status;
}

/* ---- questions ---------------------------------------------------------- */

static const struct storm_matter *matter_of_block(const struct storm_imc *imc)
{
    return &imc->matter.of[imc->matter.block.material];
}

static const char *matter_name(const struct storm_imc *imc)
{
    const char *name = imc->problem->materials[imc->matter.block.material].name;
    return name != NULL ? name : "without a name";
}

/* Keeps the fault of a status. */
static storm_status matter_failed(struct storm_imc *imc, const char *function,
                                  storm_status status)
{
    const struct storm_matter *matter = matter_of_block(imc);
    if (matter->problem != NULL)
        imc_fault_keep(imc, "material %d (%s): %.400s",
                       imc->matter.block.material, matter_name(imc),
                       matter->problem(matter->self));
    imc_fault_keep(imc,
                   "material %d (%s): its function %s returned status %d (%s)",
                   imc->matter.block.material, matter_name(imc), function,
                   (int)status, storm_status_name(status));
    return status;
}

/* What is asked for. */
struct matter_answer {
    const char *function, *what, *unit;
    const double *values;
    size_t per_cell;
    bool above_zero; /* else 0 is allowed */
    double max;
};

/* Keeps the fault of a value. */
static storm_status matter_wrong(struct storm_imc *imc,
                                 const struct matter_answer *answer, size_t i)
{
    const struct imc_block *block = &imc->matter.block;
    size_t k = i / answer->per_cell, g = i % answer->per_cell;
    char group[32] = "";
    if (answer->per_cell > 1)
        snprintf(group, sizeof group, " of group %zu", g);
    imc_fault_keep(imc,
                   "cell %llu: %s%s of material %d (%s) is %g %s at %g keV, %g "
                   "erg/cm3 and %g g/cm3: expected a number %s up to %g; check "
                   "its function %s",
                   (unsigned long long)block->tag[k], answer->what, group,
                   block->material, matter_name(imc), answer->values[i],
                   answer->unit, block->temperature[k], block->energy[k],
                   block->density[k], answer->above_zero ? "above 0" : "from 0",
                   answer->max, answer->function);
    return STORM_ERR_ARG;
}

/* MATTER-3. Comparisons are such that NaN fails. */
static storm_status matter_check(struct storm_imc *imc,
                                 const struct matter_answer *answer)
{
    size_t n = imc->matter.block.b.n * answer->per_cell;
    for (size_t i = 0; i < n; i++) {
        double value = answer->values[i];
        if (!(value >= 0.0) || !(value <= answer->max) ||
            (answer->above_zero && value == 0.0))
            return matter_wrong(imc, answer, i);
    }
    return STORM_OK;
}

/* Eq. (C1), to scattering by anything else. */
static void matter_add_electrons(const struct storm_imc *imc,
                                 struct imc_block *block)
{
    size_t n = block->b.n_groups;
    if (!(imc->problem->materials[block->material].electrons_per_g > 0.0))
        return;
    for (size_t k = 0; k < block->b.n * n; k++)
        block->scattering[k] +=
            imc_scatter_thomson(imc, block->material, block->density[k / n]);
}

storm_status imc_ask_opacity(struct storm_imc *imc)
{
    const struct storm_matter *matter = matter_of_block(imc);
    struct imc_block *block = &imc->matter.block;
    struct matter_answer answer = {"opacity",         "the absorption",  "1/cm",
                                   block->absorption, block->b.n_groups, false,
                                   STORM_UNLIMITED};
    storm_status status = matter->opacity(matter->self, &block->b,
                                          block->absorption, block->scattering);
    if (status < 0)
        return matter_failed(imc, "opacity", status);
    status = matter_check(imc, &answer);
    matter_add_electrons(imc, block);
    answer.what = "the scattering";
    answer.values = block->scattering;
    return status < 0 ? status : matter_check(imc, &answer);
}

storm_status imc_ask_energy(struct storm_imc *imc)
{
    const struct storm_matter *matter = matter_of_block(imc);
    struct imc_block *block = &imc->matter.block;
    const struct matter_answer answer = {
        "energy", "the energy", "erg/cm3",      block->value,
        1,        false,        STORM_UNLIMITED};
    storm_status status = matter->energy(matter->self, &block->b, block->value);
    return status < 0 ? matter_failed(imc, "energy", status)
                      : matter_check(imc, &answer);
}

storm_status imc_ask_capacity(struct storm_imc *imc)
{
    const struct storm_matter *matter = matter_of_block(imc);
    struct imc_block *block = &imc->matter.block;
    /* Powers may get too small for a double. */
    bool is_foreign = imc->problem->materials[block->material].matter != NULL;
    const struct matter_answer answer = {
        "heat_capacity", "the heat capacity", "erg/keV/cm3", block->value, 1,
        is_foreign,      STORM_UNLIMITED};
    storm_status status =
        matter->heat_capacity(matter->self, &block->b, block->value);
    return status < 0 ? matter_failed(imc, "heat_capacity", status)
                      : matter_check(imc, &answer);
}

storm_status imc_ask_temperature(struct storm_imc *imc)
{
    const struct storm_matter *matter = matter_of_block(imc);
    struct imc_block *block = &imc->matter.block;
    struct storm_matter_block b = block->b;
    const struct matter_answer answer = {
        "temperature", "the temperature", "keV", block->value, 1,
        false,         STORM_UNLIMITED};
    b.temperature_kev = NULL;
    storm_status status =
        matter->temperature(matter->self, &b, block->energy, block->value);
    return status < 0 ? matter_failed(imc, "temperature", status)
                      : matter_check(imc, &answer);
}

/* ---- faults ------------------------------------------------------------- */

void imc_fault_keep(struct storm_imc *imc, const char *format, ...)
{
    va_list args;
    if (imc->matter.fault[0] != '\0')
        return;
    va_start(args, format);
    vsnprintf(imc->matter.fault, sizeof imc->matter.fault, format, args);
    va_end(args);
}

void imc_fault_log(struct storm_imc *imc)
{
    if (imc->matter.fault[0] != '\0')
        storm_log_write(&imc->env->log, STORM_LOG_ERROR, "%s",
                        imc->matter.fault);
    imc->matter.fault[0] = '\0';
}

void imc_fault_drop(struct storm_imc *imc)
{
    imc->matter.fault[0] = '\0';
}

/* The lowest rank that has failed logs why. */
static storm_status fault_log(struct storm_imc *imc, storm_status status,
                              int first)
{
    if (imc->matter.fault[0] != '\0')
        storm_log_shared(&imc->env->log, first, "%s", imc->matter.fault);
    imc->matter.fault[0] = '\0';
    return status < 0 ? status : STORM_ERR_PEER;
}

storm_status imc_fault_agree(struct storm_imc *imc, storm_status status)
{
    int size = imc->env->size, first = status < 0 ? imc->env->rank : size;
    storm_status reduced =
        storm_context_reduce(imc->context, &first, 1, MPI_INT, MPI_MIN);
    return reduced < 0 || first == size ? reduced
                                        : fault_log(imc, status, first);
}
