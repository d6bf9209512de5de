/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gauss-Legendre quadrature in panels that grow with the photon energy: in a
 * panel neither the energy, nor the law, nor the Planck function changes by
 * more than a known factor, so six points suffice whatever the group.
 */
#include "physics/matter_average.h"

#include <math.h>
#include <stdbool.h>

#include "base/math.h"
#include "physics/material.h"

/* Six points of Gauss-Legendre on -1 .. 1: half of them, and weights. */
enum { AVERAGE_HALF = 3 };
static const double average_node[AVERAGE_HALF] = {
    0.23861918608319690863, 0.66120938646626451366, 0.93246951420315202781};
static const double average_share[AVERAGE_HALF] = {
    0.46791393457269104739, 0.36076157304813860757, 0.17132449237917034504};

/* Of a panel: at most twice the energy, a width of this many temperatures, and
 * a change of the law by exp of this. */
static const double average_width = 4.0, average_change = 2.0;

/* Panels end where they add less than this. */
static const double average_rest = 1e-8;

/* Above this energy, in temperatures, all weight is at the lower edge; below
 * that of the upper edge, the Planck function is that of Rayleigh and Jeans. */
static const double average_wien = 1e10, average_jeans = 1e-7;

double storm_average_at(const struct storm_average_law *law, double energy_kev)
{
    double value = law->scale;
    if (value > 0.0 && law->exponent != 0.0)
        value *= storm_material_power(energy_kev, law->exponent);
    /* 0 times infinity: both limits at once; the cap is taken. */
    if (!(value <= law->max))
        value = law->max;
    return value < law->min ? law->min : value;
}

/* What is integrated: the law or its inverse, and the weight. */
struct average {
    const struct storm_average_law *law;
    bool rosseland;
    bool jeans;
    double lo, inverse_t;
    double base;    /* x = E / T of the lower edge */
    double tail;    /* exp(-base), base above 1; weights are over it */
    double bend[2]; /* energies at which floor and cap begin; INFINITY: not in
                       the group */
};

/* Planck's function or its derivative at E, in units that are the same all over
 * the group and never overflow: (E / lo)^3 base exp(base - x) / (1 - exp(-x)),
 * Rosseland's with one more (x / (1 - exp(-x))). */
static double average_weight(const struct average *a, double energy)
{
    double ratio = energy / a->lo, x = energy * a->inverse_t;
    double rest, fall; /* 1 - exp(-x), exp(base - x) */
    if (a->jeans)
        return ratio * ratio;
    if (x < 1.0) {
        double less = storm_expm1(-x);
        fall = 1.0 + less;
        rest = -less;
    } else if (a->base < 1.0) {
        fall = storm_exp(-x);
        rest = 1.0 - fall;
    } else {
        fall = storm_exp(-(energy - a->lo) * a->inverse_t);
        rest = 1.0 - fall * a->tail;
    }
    double weight = ratio * ratio * ratio * (a->base / rest) * fall;
    return a->rosseland ? weight * (x / rest) : weight;
}

/* One panel: integrals of the weight, and of the law (or its inverse) with
 * it. */
static void average_panel(const struct average *a, double from, double to,
                          double sums_out[2])
{
    double middle = 0.5 * (from + to), half = 0.5 * (to - from);
    double plain = 0.0, law = 0.0;
    for (int i = 0; i < 2 * AVERAGE_HALF; i++) {
        double node = average_node[i / 2] * half;
        double e = i % 2 ? middle + node : middle - node;
        double weight = average_share[i / 2] * average_weight(a, e);
        double value = storm_average_at(a->law, e);
        plain += weight;
        law += weight * (a->rosseland ? 1.0 / value : value);
    }
    sums_out[0] = plain * half;
    sums_out[1] = law * half;
}

/* Where the law reaches a limit, if it does between these values. */
static double average_bend(const struct storm_average_law *law, double limit,
                           const double at[2])
{
    return at[0] == limit || at[1] == limit
               ? storm_pow(limit / law->scale, 1.0 / law->exponent)
               : INFINITY;
}

/* The end of the panel that begins at `from`: no bend of the law inside. */
static double average_end(const struct average *a, double from, double to)
{
    double growth = fabs(a->law->exponent) > average_change
                        ? average_change / fabs(a->law->exponent)
                        : 1.0;
    double end =
        fmin(from * (1.0 + growth), from + average_width / a->inverse_t);
    for (int i = 0; i < 2; i++)
        if (a->bend[i] > from && a->bend[i] < end)
            end = a->bend[i];
    return end < to ? end : to;
}

/* Both integrals over the group; false: they are not numbers above 0. */
static bool average_integrate(const struct average *a, double to,
                              double sums_out[2])
{
    double far = 2.0 * (fabs(a->law->exponent) + 4.0);
    double sums[2] = {0.0, 0.0}, part[2];
    for (double from = a->lo, end; from < to; from = end) {
        end = average_end(a, from, to);
        if (!(end > from))
            break;
        average_panel(a, from, end, part);
        sums[0] += part[0];
        sums[1] += part[1];
        /* Comparisons are such that the loop ends with infinity and NaN. */
        if (from * a->inverse_t > far && !(part[0] > average_rest * sums[0]) &&
            !(part[1] > average_rest * sums[1]))
            break;
    }
    sums_out[0] = sums[0];
    sums_out[1] = sums[1];
    return sums[0] > 0.0 && sums[0] < INFINITY && sums[1] > 0.0 &&
           sums[1] < INFINITY;
}

double storm_average(const struct storm_average_law *law,
                     storm_group_average kind, double temperature_kev,
                     double lo_kev, double hi_kev)
{
    double middle = sqrt(lo_kev) * sqrt(hi_kev);
    if (kind == STORM_GROUP_MIDDLE || law->exponent == 0.0 ||
        !(law->scale > 0.0))
        return storm_average_at(law, middle);
    double at[2] = {storm_average_at(law, lo_kev),
                    storm_average_at(law, hi_kev)};
    if (at[0] == at[1] || !(lo_kev < average_wien * temperature_kev))
        return at[0];
    struct average a = {.law = law,
                        .rosseland = kind == STORM_GROUP_ROSSELAND,
                        .jeans = hi_kev < average_jeans * temperature_kev,
                        .lo = lo_kev,
                        .inverse_t = 1.0 / temperature_kev,
                        .bend = {average_bend(law, law->min, at),
                                 average_bend(law, law->max, at)}};
    double sums[2];
    a.base = lo_kev * a.inverse_t;
    a.tail = a.base >= 1.0 ? storm_exp(-a.base) : 0.0;
    if (!average_integrate(&a, hi_kev, sums))
        return storm_average_at(law, middle);
    double mean = a.rosseland ? sums[0] / sums[1] : sums[1] / sums[0];
    return fmin(fmax(mean, fmin(at[0], at[1])), fmax(at[0], at[1]));
}
