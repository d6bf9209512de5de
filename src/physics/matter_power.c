/* SPDX-License-Identifier: BSD-3-Clause */
#include "physics/matter_power.h"

#include <math.h>

#include "physics/matter_average.h"

/* Heat capacity of a cell of the block. */
static struct storm_heat power_heat(const struct matter_power *power,
                                    const struct storm_matter_block *block,
                                    size_t i)
{
    return power->capacity.rho_exp == 0.0
               ? power->heat
               : storm_heat_make(&power->capacity, block->density_g_cm3[i]);
}

/* Means of a cell over its groups, eqs. (31) and (32). */
static void power_means(const struct storm_power_law *law,
                        storm_group_average average,
                        const struct storm_matter_block *block, size_t i,
                        double *values_out)
{
    struct storm_power_law factor = *law; /* of E^e_exp */
    double t = block->temperature_kev[i];
    factor.e_exp = factor.min = 0.0;
    factor.max = INFINITY;
    const struct storm_average_law at_t = {
        .scale = storm_power_law_value(&factor, t, block->density_g_cm3[i], 1),
        .exponent = law->e_exp,
        .min = law->min,
        .max = law->max,
    };
    for (size_t g = 0; g < block->n_groups; g++)
        values_out[g] =
            storm_average(&at_t, average, t, block->group_edge_kev[g],
                          block->group_edge_kev[g + 1]);
}

static void power_law(const struct storm_power_law *law,
                      const struct storm_matter_block *block,
                      double *values_out)
{
    size_t n_groups = block->n_groups;
    for (size_t i = 0; i < block->n; i++)
        for (size_t g = 0; g < n_groups; g++)
            values_out[i * n_groups + g] =
                storm_power_law_value(law, block->temperature_kev[i],
                                      block->density_g_cm3[i],
                                      n_groups > 1 ? block->group_middle_kev[g]
                                                   : 1.0);
}

static storm_status power_opacity(void *self,
                                  const struct storm_matter_block *block,
                                  double *absorption_out,
                                  double *scattering_out)
{
    const struct matter_power *power = self;
    const struct storm_power_law *laws[2] = {&power->absorption,
                                             &power->scattering};
    double *out[2] = {absorption_out, scattering_out};
    for (int k = 0; k < 2; k++) {
        bool is_mean = block->n_groups > 1 && laws[k]->e_exp != 0.0 &&
                       power->average != STORM_GROUP_MIDDLE;
        if (!is_mean)
            power_law(laws[k], block, out[k]);
        for (size_t i = 0; is_mean && i < block->n; i++)
            power_means(laws[k], power->average, block, i,
                        &out[k][i * block->n_groups]);
    }
    return STORM_OK;
}

static storm_status power_energy(void *self,
                                 const struct storm_matter_block *block,
                                 double *energy_out)
{
    for (size_t i = 0; i < block->n; i++) {
        struct storm_heat heat = power_heat(self, block, i);
        energy_out[i] = storm_heat_energy(&heat, block->temperature_kev[i]);
    }
    return STORM_OK;
}

static storm_status power_capacity(void *self,
                                   const struct storm_matter_block *block,
                                   double *capacity_out)
{
    for (size_t i = 0; i < block->n; i++) {
        struct storm_heat heat = power_heat(self, block, i);
        capacity_out[i] = storm_heat_capacity(&heat, block->temperature_kev[i]);
    }
    return STORM_OK;
}

static storm_status power_temperature(void *self,
                                      const struct storm_matter_block *block,
                                      const double *energy,
                                      double *temperature_out)
{
    for (size_t i = 0; i < block->n; i++) {
        struct storm_heat heat = power_heat(self, block, i);
        temperature_out[i] = storm_heat_temperature(&heat, energy[i]);
    }
    return STORM_OK;
}

struct storm_matter matter_power_make(struct matter_power *self,
                                      const struct storm_material *material,
                                      storm_group_average average)
{
    *self = (struct matter_power){
        .average = average,
        .absorption = material->absorption,
        .scattering = material->scattering,
        .capacity = material->heat_capacity,
        .heat = storm_heat_make(&material->heat_capacity, 1.0),
    };
    return (struct storm_matter){
        .size = sizeof(struct storm_matter),
        .self = self,
        .is_held = self->heat.held,
        .opacity = power_opacity,
        .energy = power_energy,
        .heat_capacity = power_capacity,
        .temperature = power_temperature,
    };
}

bool matter_power_uses_density(const struct storm_material *material)
{
    double density = material->density_g_cm3;
    return (density != 0.0 && density != 1.0) ||
           material->density_formula != NULL ||
           material->electrons_per_g > 0.0 ||
           material->absorption.rho_exp != 0.0 ||
           material->scattering.rho_exp != 0.0 ||
           material->heat_capacity.rho_exp != 0.0;
}
