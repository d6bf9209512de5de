/* SPDX-License-Identifier: BSD-3-Clause */
/* Octrees that are refined at the surface of a sphere. */
#ifndef STORM_TESTS_SPHERE_H
#define STORM_TESTS_SPHERE_H

#include <math.h>
#include <stdbool.h>

struct sphere {
    double centre_cm[3], radius_cm;
};

/* For storm_octree_params.refine: cells that the surface passes through. */
static inline bool sphere_refine(void *self, const double lo_cm[3],
                                 const double hi_cm[3], int level)
{
    const struct sphere *sphere = self;
    double nearest = 0.0, farthest = 0.0;
    (void)level;
    for (int d = 0; d < 3; d++) {
        double below = sphere->centre_cm[d] - lo_cm[d];
        double above = hi_cm[d] - sphere->centre_cm[d];
        double out = fmax(0.0, fmax(-below, -above));
        nearest += out * out;
        farthest += fmax(below * below, above * above);
    }
    double square = sphere->radius_cm * sphere->radius_cm;
    return nearest <= square && square <= farthest;
}

#endif /* STORM_TESTS_SPHERE_H */
