/* SPDX-License-Identifier: BSD-3-Clause */
/* The medium of a random walk: one group, or all thick groups as one. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "physics/walk_text.h"

struct storm_walk_medium storm_walk_grey(double absorb, double scatter)
{
    return walk_grey(absorb, scatter);
}

double storm_walk_thickness(double absorb, double scatter, double effective)
{
    return walk_thickness(absorb, scatter, effective);
}

struct storm_walk_group storm_walk_group(int32_t group, double planck,
                                         double absorb, double scatter,
                                         double effective)
{
    double sigma = absorb + scatter;
    double reach = sigma > 0.0 ? planck / sigma : 0.0;
    double stay_cm = effective > 0.0 ? 1.0 / effective : 0.0;
    return (struct storm_walk_group){
        .thick = storm_walk_thickness(absorb, scatter, effective),
        .sum = {[STORM_WALK_PLANCK] = planck,
                [STORM_WALK_REACH] = reach,
                [STORM_WALK_REACH2] = sigma > 0.0 ? reach / sigma : 0.0,
                [STORM_WALK_STAY] = planck * stay_cm,
                [STORM_WALK_STAY_REACH] = reach * stay_cm,
                [STORM_WALK_EVENTS] = planck * effective,
                [STORM_WALK_ABSORB] = planck * absorb},
        .group = group,
    };
}

/* Thick ones first; of equals, the lower group. */
static int walk_compare(const void *a, const void *b)
{
    const struct storm_walk_group *x = a, *y = b;
    if (x->thick != y->thick)
        return x->thick > y->thick ? -1 : 1;
    return (x->group > y->group) - (x->group < y->group);
}

void storm_walk_sort(struct storm_walk_group *groups, size_t n)
{
    qsort(groups, n, sizeof *groups, walk_compare);
    for (size_t i = 1; i < n; i++)
        for (int k = 0; k < STORM_WALK_SUMS; k++)
            groups[i].sum[k] += groups[i - 1].sum[k];
}

size_t storm_walk_thick(const struct storm_walk_group *groups, size_t n,
                        double length_cm)
{
    return walk_thick(groups, n, length_cm);
}

struct storm_walk_medium
storm_walk_ensemble(const struct storm_walk_group *groups, size_t n,
                    size_t n_thick)
{
    return walk_ensemble(groups, n, n_thick);
}

int32_t storm_walk_draw(const struct storm_walk_group *groups, size_t n,
                        size_t n_thick, enum storm_walk_end end,
                        const double u[2])
{
    return walk_draw(groups, n, n_thick, end, u);
}
