/* SPDX-License-Identifier: BSD-3-Clause */
/* Power laws as matter. */
#ifndef STORM_PHYSICS_MATTER_POWER_H
#define STORM_PHYSICS_MATTER_POWER_H

#include "physics/material.h"

struct matter_power {
    storm_group_average average; /* of the opacities, over a group */
    struct storm_power_law absorption, scattering, capacity;
    struct storm_heat heat; /* unless the heat capacity depends on density */
};

/* The laws of a material. `*self` must outlive the struct returned. */
struct storm_matter matter_power_make(struct matter_power *self,
                                      const struct storm_material *material,
                                      storm_group_average average);

/* Does the density, other than 1, mean anything? */
bool matter_power_uses_density(const struct storm_material *material);

#endif /* STORM_PHYSICS_MATTER_POWER_H */
