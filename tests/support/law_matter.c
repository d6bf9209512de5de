/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/law_matter.h"

#include "support/check.h"

static void law_count(struct law_matter *m,
                      const struct storm_matter_block *block)
{
    CHECK(block->size == sizeof *block && block->n > 0);
    m->n_calls++;
    if (block->n > m->max_cells)
        m->max_cells = block->n;
}

static double law_answer(const struct law_matter *m, enum law_fault fault,
                         const struct storm_matter_block *block, size_t i,
                         double right)
{
    return m->fault == fault && block->tag[i] == m->at ? m->wrong : right;
}

static storm_status law_opacity(void *self,
                                const struct storm_matter_block *block,
                                double *absorption_out, double *scattering_out)
{
    struct law_matter *m = self;
    size_t n_groups = block->n_groups;
    law_count(m, block);
    for (size_t i = 0; i < block->n * n_groups; i++) {
        size_t k = i / n_groups;
        double t = block->temperature_kev[k], rho = block->density_g_cm3[k];
        double e = n_groups > 1 ? block->group_middle_kev[i % n_groups] : 1.0;
        absorption_out[i] =
            law_answer(m, LAW_ABSORPTION, block, k,
                       storm_power_law_value(&m->laws->absorption, t, rho, e));
        scattering_out[i] =
            law_answer(m, LAW_SCATTERING, block, k,
                       storm_power_law_value(&m->laws->scattering, t, rho, e));
        if (m->fault == LAW_STATUS && block->tag[k] == m->at)
            return STORM_ERR_IO;
    }
    return STORM_OK;
}

static storm_status law_energy(void *self,
                               const struct storm_matter_block *block,
                               double *energy_out)
{
    struct law_matter *m = self;
    law_count(m, block);
    for (size_t i = 0; i < block->n; i++)
        energy_out[i] =
            law_answer(m, LAW_ENERGY, block, i,
                       storm_power_law_energy(&m->laws->heat_capacity,
                                              block->temperature_kev[i],
                                              block->density_g_cm3[i]));
    return STORM_OK;
}

static storm_status law_capacity(void *self,
                                 const struct storm_matter_block *block,
                                 double *capacity_out)
{
    struct law_matter *m = self;
    law_count(m, block);
    for (size_t i = 0; i < block->n; i++)
        capacity_out[i] =
            law_answer(m, LAW_CAPACITY, block, i,
                       storm_power_law_capacity(&m->laws->heat_capacity,
                                                block->temperature_kev[i],
                                                block->density_g_cm3[i]));
    return STORM_OK;
}

static storm_status law_temperature(void *self,
                                    const struct storm_matter_block *block,
                                    const double *energy,
                                    double *temperature_out)
{
    struct law_matter *m = self;
    law_count(m, block);
    CHECK(block->temperature_kev == NULL);
    for (size_t i = 0; i < block->n; i++)
        temperature_out[i] =
            law_answer(m, LAW_TEMPERATURE, block, i,
                       storm_power_law_temperature(&m->laws->heat_capacity,
                                                   energy[i],
                                                   block->density_g_cm3[i]));
    return STORM_OK;
}

struct storm_matter law_matter_make(struct law_matter *self,
                                    const struct storm_material *laws)
{
    *self = (struct law_matter){.laws = laws};
    return (struct storm_matter){
        .size = sizeof(struct storm_matter),
        .self = self,
        .is_held = laws->heat_capacity.coef == 0.0,
        .opacity = law_opacity,
        .energy = law_energy,
        .heat_capacity = law_capacity,
        .temperature = law_temperature,
    };
}
