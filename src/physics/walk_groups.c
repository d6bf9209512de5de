/* SPDX-License-Identifier: BSD-3-Clause */
/* The medium of a random walk: one group, or all thick groups as one. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "physics/walk.h"

struct storm_walk_medium storm_walk_grey(double absorb, double scatter)
{
    double free_path = 1.0 / (absorb + scatter);
    return (struct storm_walk_medium){
        .diffusion_cm = free_path / 3.0,
        .beyond_cm = storm_walk_extrapolation * free_path,
        .lost_cm = free_path,
        .length_cm = free_path,
        .absorb = absorb,
    };
}

/* A group that mostly absorbs does not diffuse, and one that rarely changes is
 * not part of a mixture. */
double storm_walk_thickness(double absorb, double scatter, double effective)
{
    return scatter >= storm_walk_scatter * (absorb + scatter) ? effective : 0.0;
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
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (groups[middle].thick * length_cm >= storm_walk_lengths)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of mixtures of mean free paths, the extrapolation length lies between that
 * of the mean path and that of the paths' own mean; eq. (21). */
static const double walk_of_mean = 0.36;

struct storm_walk_medium
storm_walk_ensemble(const struct storm_walk_group *groups, size_t n,
                    size_t n_thick)
{
    const double *sum = groups[n_thick - 1].sum;
    double planck = sum[STORM_WALK_PLANCK], reach = sum[STORM_WALK_REACH];
    double events = sum[STORM_WALK_EVENTS];
    double out = 1.0 - events / groups[n - 1].sum[STORM_WALK_EVENTS];
    double heavy = sum[STORM_WALK_REACH2] / reach;
    double change = sum[STORM_WALK_STAY_REACH] / reach;
    double stay = sum[STORM_WALK_STAY] / planck, brief = planck / events;
    /* Those that have not leaked are in thinner groups, eq. (20). */
    double leak = out / (brief + out * (stay - brief));
    double fewer = 1.0 - leak * stay;
    double mean = reach / planck * fewer / fmax(1.0 - leak * change, 0.5);
    return (struct storm_walk_medium){
        .diffusion_cm = mean / 3.0,
        .beyond_cm = storm_walk_extrapolation *
                     (walk_of_mean * mean + (1.0 - walk_of_mean) * heavy),
        .lost_cm = heavy + change - stay, /* eq. (22) */
        .leak_lost_cm = change - brief,
        .length_cm = heavy + change - reach / planck,
        .absorb = sum[STORM_WALK_ABSORB] / planck * (fewer + leak * brief),
        .leak = leak,
    };
}

/* A group out of groups[from .. to), by its share in a sum. */
static int32_t walk_pick(const struct storm_walk_group *groups, size_t from,
                         size_t to, enum storm_walk_sum which, double u)
{
    double before = from > 0 ? groups[from - 1].sum[which] : 0.0;
    double goal = before + u * (groups[to - 1].sum[which] - before);
    size_t low = from, high = to - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (groups[middle].sum[which] < goal)
            low = middle + 1;
        else
            high = middle;
    }
    return groups[low].group;
}

/* Share of exits whose group is distributed as inside, the rest as the current;
 * found by brute force, tests/physics/walk_groups.c. */
static const double walk_inside_out = 0.25;

int32_t storm_walk_draw(const struct storm_walk_group *groups, size_t n,
                        size_t n_thick, enum storm_walk_end end,
                        const double u[2])
{
    if (end == STORM_WALK_LEAK)
        return walk_pick(groups, n_thick, n, STORM_WALK_EVENTS, u[0]);
    bool current = end == STORM_WALK_OUT && u[1] > walk_inside_out;
    return walk_pick(groups, 0, n_thick,
                     current ? STORM_WALK_REACH : STORM_WALK_PLANCK, u[0]);
}
