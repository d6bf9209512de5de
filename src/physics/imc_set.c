/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Implicit Monte Carlo: what a host does to matter between steps.
 *
 *   SET-1  Values are checked on all ranks before anything changes; changes
 *          are undone on all ranks if matter cannot follow.
 *   SET-2  The change of the energy of matter is booked exactly: the sum over
 *          cells of new less old energy, of the products as storm_imc_energy
 *          adds them up.
 *   SET-3  A cell whose value has the same bits as before keeps all its bits.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <storm/context.h>

#include "mesh/mesh_ops.h"
#include "physics/imc.h"

static const char set_label[] = "imc set";

/* ---- values ------------------------------------------------------------- */

/* What may be set. */
struct set_field {
    const char *name, *expected;
    bool above_zero;
    double max;
};

static const struct set_field *set_field_of(storm_imc_field field)
{
    static const struct set_field known[] = {
        [STORM_IMC_TEMPERATURE] = {"temperature", "a number from 0 to 1e30",
                                   false, 1e30},
        [STORM_IMC_MATERIAL_ENERGY] = {"energy", "a number from 0 to 1e300",
                                       false, STORM_UNLIMITED},
        [STORM_IMC_MATERIAL] = {"material",
                                "the index of a material, or their number for "
                                "nothing; -1 where it is outside, and there "
                                "alone",
                                false, 0.0},
        [STORM_IMC_DENSITY] = {"density", "a number above 0 up to 1e300", true,
                               STORM_UNLIMITED},
        [STORM_IMC_COMPOSITION] = {"composition", "a number from 0 to 1e300",
                                   false, STORM_UNLIMITED},
        [STORM_IMC_EMISSION] = {"emission", "a number from 0 to 1e300", false,
                                STORM_UNLIMITED},
        [STORM_IMC_VELOCITY] = {"velocity",
                                "a velocity below that of light, with a "
                                "gamma of at most 1e4",
                                false, 0.0},
    };
    size_t i = (size_t)field;
    return i < sizeof known / sizeof known[0] && known[i].name != NULL
               ? &known[i]
               : NULL;
}

/* Comparisons are such that NaN fails. */
static bool set_is_good(const struct storm_imc *imc, storm_imc_field field,
                        storm_cell_idx i, double value)
{
    const struct set_field *known = set_field_of(field);
    int n = (int)imc->problem->n_materials, m = imc->material[i];
    if (field == STORM_IMC_MATERIAL)
        return m == STORM_OUTSIDE
                   ? value == (double)STORM_OUTSIDE
                   : value >= 0.0 && value <= n && value == floor(value);
    if (!imc_has_matter(imc, m))
        return true;
    if (field == STORM_IMC_MATERIAL_ENERGY && !imc_is_warm(imc, m))
        return value == 0.0;
    return value >= 0.0 && value <= known->max &&
           !(known->above_zero && value == 0.0);
}

static void set_fault(struct storm_imc *imc, storm_imc_field field,
                      storm_cell_idx i, const double *value)
{
    const struct set_field *known = set_field_of(field);
    bool is_held = field == STORM_IMC_MATERIAL_ENERGY &&
                   !imc_is_warm(imc, imc->material[i]);
    char got[96];
    if (field == STORM_IMC_VELOCITY)
        snprintf(got, sizeof got, "(%g, %g, %g) cm/s", value[0], value[1],
                 value[2]);
    else
        snprintf(got, sizeof got, "%g", *value);
    imc_fault_keep(imc,
                   "storm_imc_set: %s of cell %llu: expected %s, got %s; "
                   "nothing is set",
                   known->name, (unsigned long long)imc->tag[i],
                   is_held ? "0, as its temperature is constant"
                           : known->expected,
                   got);
}

static storm_status set_check(struct storm_imc *imc, storm_imc_field field,
                              const double *values, size_t per_cell)
{
    for (size_t k = 0; k < (size_t)imc->n_cells * per_cell; k++) {
        storm_cell_idx i = (storm_cell_idx)(k / per_cell);
        if (field == STORM_IMC_VELOCITY
                ? !imc_has_matter(imc, imc->material[i]) ||
                      imc_motion_is_slow(&values[3 * (size_t)i],
                                         imc->problem->light_cm_s)
                : set_is_good(imc, field, i, values[k]))
            continue;
        set_fault(imc, field, i, &values[k]);
        return STORM_ERR_ARG;
    }
    return STORM_OK;
}

/* ---- state that can be restored ----------------------------------------- */

/* What is kept in an array of its own; another material may change all. */
static const storm_imc_field set_fields[] = {
    STORM_IMC_DENSITY, STORM_IMC_EMISSION, STORM_IMC_COMPOSITION,
    STORM_IMC_VELOCITY};
enum { SET_FIELDS = sizeof set_fields / sizeof set_fields[0] };

/* Cells as they were. */
struct set_before {
    double *temperature, *energy, *erg;
    double *fields[SET_FIELDS]; /* NULL: it does not change */
    int *material;
};

/* The array that a field is kept in; NULL: none. */
static double *set_array(const struct storm_imc *imc, storm_imc_field field)
{
    return field == STORM_IMC_DENSITY       ? imc->density
           : field == STORM_IMC_COMPOSITION ? imc->composition
           : field == STORM_IMC_EMISSION    ? imc->emission
           : field == STORM_IMC_VELOCITY    ? imc->velocity
                                            : NULL;
}

static size_t set_per_cell(const struct storm_imc *imc, storm_imc_field field)
{
    return field == STORM_IMC_COMPOSITION ? imc->problem->n_components
           : field == STORM_IMC_VELOCITY  ? 3
                                          : 1;
}

static size_t set_bytes(const struct storm_imc *imc, storm_imc_field field)
{
    return set_per_cell(imc, field) * (size_t)imc->n_cells * sizeof(double);
}

static storm_status set_save_fields(const struct storm_imc *imc,
                                    storm_imc_field field,
                                    struct set_before *before)
{
    for (size_t k = 0; k < SET_FIELDS; k++) {
        size_t bytes = set_bytes(imc, set_fields[k]);
        if ((field != set_fields[k] && field != STORM_IMC_MATERIAL) ||
            set_array(imc, set_fields[k]) == NULL)
            continue;
        before->fields[k] = storm_alloc(imc->env->memory, set_label, bytes + 1);
        if (before->fields[k] == NULL)
            return STORM_ERR_NOMEM;
        if (bytes > 0)
            memcpy(before->fields[k], set_array(imc, set_fields[k]), bytes);
    }
    return STORM_OK;
}

static storm_status set_save(const struct storm_imc *imc, storm_imc_field field,
                             struct set_before *before)
{
    struct storm_memory *memory = imc->env->memory;
    size_t n = (size_t)imc->n_cells, bytes = n * sizeof(double);
    before->temperature = storm_alloc(memory, set_label, bytes + 1);
    before->energy = storm_alloc(memory, set_label, bytes + 1);
    before->erg = storm_alloc(memory, set_label, bytes + 1);
    before->material =
        storm_alloc(memory, set_label, (n + 1) * sizeof *before->material);
    if (before->temperature == NULL || before->energy == NULL ||
        before->erg == NULL || before->material == NULL)
        return STORM_ERR_NOMEM;
    memcpy(before->temperature, imc->temperature, bytes);
    memcpy(before->energy, imc->energy, bytes);
    for (storm_cell_idx i = 0; i < imc->n_cells; i++)
        before->erg[i] = imc_cell_erg(imc, i);
    memcpy(before->material, imc->material, n * sizeof *before->material);
    return set_save_fields(imc, field, before);
}

static void set_restore(struct storm_imc *imc, const struct set_before *before)
{
    size_t n = (size_t)imc->n_cells, bytes = n * sizeof(double);
    memcpy(imc->temperature, before->temperature, bytes);
    memcpy(imc->energy, before->energy, bytes);
    memcpy(imc->material, before->material, n * sizeof *before->material);
    for (size_t k = 0; k < SET_FIELDS; k++)
        if (before->fields[k] != NULL && set_bytes(imc, set_fields[k]) > 0)
            memcpy(set_array(imc, set_fields[k]), before->fields[k],
                   set_bytes(imc, set_fields[k]));
    memset(imc->is_stale, 0, n * sizeof *imc->is_stale);
    imc_matter_sort(imc);
}

static void set_free(const struct storm_imc *imc, struct set_before *before)
{
    struct storm_memory *memory = imc->env->memory;
    for (size_t k = 0; k < SET_FIELDS; k++)
        storm_free(memory, before->fields[k]);
    storm_free(memory, before->material);
    storm_free(memory, before->erg);
    storm_free(memory, before->energy);
    storm_free(memory, before->temperature);
}

/* ---- one cell ----------------------------------------------------------- */

static bool set_replace(double *old, double new)
{
    bool is_other = memcmp(old, &new, sizeof new) != 0;
    *old = new;
    return is_other;
}

/* Another material: true if the energy follows the temperature, else it is the
 * other way or there is none. */
static bool set_material(struct storm_imc *imc, storm_cell_idx i, int m)
{
    int before = imc->material[i];
    if (m == before)
        return false;
    imc->material[i] = m;
    bool was_warm = imc_is_warm(imc, before);
    if (!imc_has_matter(imc, m)) {
        imc->temperature[i] = imc->energy[i] = 0.0;
        return false;
    }
    if (!imc_has_matter(imc, before)) {
        imc_cells_fill(imc, i);
        imc->temperature[i] = imc_start_matter_kev(imc, i);
    }
    if (!imc_is_warm(imc, m)) {
        imc->energy[i] = 0.0;
        return false;
    }
    imc->is_stale[i] = true;
    return !was_warm;
}

/* Values of all cells; marks the cells whose temperature or energy follows. */
static void set_values(struct storm_imc *imc, storm_imc_field field,
                       const double *values, size_t per_cell)
{
    size_t n = (size_t)imc->n_cells;
    double *array = set_array(imc, field);
    for (size_t k = 0; k < n * per_cell; k++) {
        size_t i = k / per_cell;
        if (!imc_has_matter(imc, imc->material[i]))
            continue;
        bool is_other =
            field == STORM_IMC_TEMPERATURE
                ? set_replace(&imc->temperature[i], values[k])
            : field == STORM_IMC_MATERIAL_ENERGY
                ? set_replace(&imc->energy[i], values[k])
                : set_replace(&array[k % per_cell * n + i], values[k]);
        if (is_other && field != STORM_IMC_EMISSION &&
            field != STORM_IMC_VELOCITY)
            imc->is_stale[i] = true;
    }
}

/* Materials of all cells; then cells whose energy follows, then the others. */
static storm_status set_materials(struct storm_imc *imc, const double *values)
{
    bool *by_temperature =
        storm_alloc(imc->env->memory, set_label, (size_t)imc->n_cells + 1);
    if (by_temperature == NULL)
        return STORM_ERR_NOMEM;
    for (storm_cell_idx i = 0; i < imc->n_cells; i++) {
        by_temperature[i] = set_material(imc, i, (int)values[i]);
        if (by_temperature[i])
            imc->is_stale[i] = false;
    }
    imc_matter_sort(imc);
    storm_status status =
        imc_matter_each(imc, by_temperature, imc_block_energy);
    storm_free(imc->env->memory, by_temperature);
    return status < 0 ? status : imc_matter_refresh(imc);
}

static storm_status set_all(struct storm_imc *imc, storm_imc_field field,
                            const double *values, size_t per_cell)
{
    if (field == STORM_IMC_MATERIAL)
        return set_materials(imc, values);
    set_values(imc, field, values, per_cell);
    if (field != STORM_IMC_TEMPERATURE)
        return imc_matter_refresh(imc);
    storm_status status = imc_matter_each(imc, imc->is_stale, imc_block_energy);
    memset(imc->is_stale, 0, (size_t)imc->n_cells * sizeof *imc->is_stale);
    return status;
}

/* ---- accounts ----------------------------------------------------------- */

/* SET-2 */
static void set_book(struct storm_imc *imc, double before_erg, double after_erg)
{
    struct storm_ledger *account =
        &imc->more[imc->has_begun ? IMC_HOST : IMC_MATTER];
    if (before_erg == after_erg)
        return;
    storm_ledger_add(account, after_erg);
    storm_ledger_add(account, -before_erg);
}

void imc_set_deposit(struct storm_imc *imc, storm_cell_idx cell,
                     double weight_erg)
{
    int m = imc->material[cell];
    if (!imc_is_warm(imc, m) || weight_erg == 0.0)
        return;
    double before = imc_cell_erg(imc, cell);
    double energy = imc->energy[cell] + weight_erg / imc_proper_cm3(imc, cell);
    storm_status status = STORM_OK;
    if (!(energy >= 0.0 && energy <= STORM_UNLIMITED)) {
        imc_fault_keep(imc,
                       "storm_imc_deposit, between steps: matter of cell %llu "
                       "with %g erg/cm3 cannot take %g erg",
                       (unsigned long long)imc->tag[cell], imc->energy[cell],
                       weight_erg);
        status = STORM_ERR_ARG;
    }
    if (status == STORM_OK) {
        imc_block_fill(imc, m, &cell, 1);
        imc->matter.block.energy[0] = energy;
        status = imc_ask_temperature(imc);
    }
    if (status < 0) {
        imc->matter.deferred = status;
        return;
    }
    imc->energy[cell] = energy;
    imc->has_step = false;
    imc->temperature[cell] = imc->matter.block.value[0];
    set_book(imc, before, imc_cell_erg(imc, cell));
}

/* ---- public ------------------------------------------------------------- */

static storm_status set_begin(struct storm_imc *imc, storm_imc_field field,
                              const double *values, size_t per_cell)
{
    storm_status status = imc->in_step ? STORM_ERR_STATE : imc_check(imc);
    if (status < 0)
        return status;
    if (set_field_of(field) != NULL &&
        (field != STORM_IMC_VELOCITY || imc->velocity != NULL))
        return set_check(imc, field, values, per_cell);
    imc_fault_keep(imc,
                   "storm_imc_set: field %d cannot be set; expected "
                   "TEMPERATURE, MATERIAL_ENERGY, MATERIAL, DENSITY, "
                   "COMPOSITION or EMISSION, or with motion VELOCITY",
                   (int)field);
    return STORM_ERR_ARG;
}

storm_status storm_imc_set(struct storm_imc *imc, storm_imc_field field,
                           const double *values)
{
    struct set_before before = {.temperature = NULL};
    size_t per_cell = set_per_cell(imc, field);
    storm_status status = set_begin(imc, field, values, per_cell);
    if (status == STORM_OK)
        status = set_save(imc, field, &before);
    status = imc_fault_agree(imc, status);
    if (status < 0) {
        set_free(imc, &before);
        return status;
    }
    status = imc_fault_agree(imc, set_all(imc, field, values, per_cell));
    if (status < 0) {
        set_restore(imc, &before);
    } else {
        for (storm_cell_idx i = 0; i < imc->n_cells; i++)
            set_book(imc, before.erg[i], imc_cell_erg(imc, i));
        imc->has_step = false;
        imc->has_more = imc->has_more || (field != STORM_IMC_TEMPERATURE &&
                                          field != STORM_IMC_MATERIAL_ENERGY);
    }
    set_free(imc, &before);
    return status;
}
