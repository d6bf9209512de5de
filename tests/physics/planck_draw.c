/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/*
 * Photon energies of a blackbody within an interval: bins of equal width in the
 * intervals below, narrow and wide, from 0 and to infinity, far below and far
 * above the mode, against quadrature (k standard deviations of chi square), and
 * the mean (k standard errors); nothing beyond the ends; few tries on the mean
 * and at worst; the same numbers each time.
 * The group of an energy is that of a linear search, at edges and next to them.
 */
#include <math.h>
#include <stdio.h>

#include "physics/imc.h"
#include "physics/planck.h"
#include "support/check.h"

enum { DRAWS = 40000 / CHECK_SLOWDOWN, BINS = 40, MAX_BLOCKS = 60 };
static const double k = 4.5, mean_blocks = 3.5;

static const double intervals[][2] = {
    {0.0, 1e-9},  {1e-12, 2e-12},   {0.0, 0.5},       {0.3, 0.300001},
    {1.0, 2.8},   {2.8, 2.83},      {0.0, 5.9},       {0.0, 6.1},
    {2.8, 8.7},   {2.8, 9.0},       {2.5, 40.0},      {0.0, INFINITY},
    {0.01, 30.0}, {2.9, INFINITY},  {10.0, 10.0001},  {10.0, 13.0},
    {30.0, 31.0}, {30.0, INFINITY}, {500.0, 20000.0}, {1e6, INFINITY},
};

/* Logarithm of x^3 / (e^x - 1), but for what it is at the point c. */
static double log_spectrum(double x, double c)
{
    return 3.0 * log(x / c) - (x - c) - log(expm1(-x) / expm1(-c));
}

/* Integrals of the spectrum and of x times it over a part, relative to that at
 * c; Simpson's rule. */
static void integrate(double lo, double hi, double c, double sums_out[2])
{
    const int n = 200;
    double h = (hi - lo) / n;
    sums_out[0] = sums_out[1] = 0.0;
    for (int i = 0; i <= n; i++) {
        double x = lo + h * i;
        double weight = i == 0 || i == n ? 1.0 : i % 2 == 1 ? 4.0 : 2.0;
        double value = x > 0.0 ? exp(log_spectrum(x, c)) : 0.0;
        sums_out[0] += weight * h / 3.0 * value;
        sums_out[1] += weight * h / 3.0 * value * (x - lo);
    }
}

static double draw(double lo, double hi, uint64_t i, uint64_t *blocks_out)
{
    uint64_t block = 3;
    const struct storm_draws draws = {1, STORM_STREAM_USER, {.lo = i}, &block};
    double x = storm_planck_draw(lo, hi, &draws);
    *blocks_out = block - 3;
    return x;
}

static void check_interval(double lo, double hi)
{
    /* Less than 1e-7 of all energy is beyond. */
    double end = fmin(hi, fmax(lo, 3.0) + 27.0), width = (end - lo) / BINS;
    double c = fmin(fmax(lo, 2.8), end), right[BINS], all = 0.0, mean = 0.0;
    double found[BINS] = {0.0}, sum = 0.0, square = 0.0, chi = 0.0, n_bins = -1;
    uint64_t blocks = 0, most = 0;
    for (int b = 0; b < BINS; b++) {
        double sums[2];
        integrate(lo + b * width, lo + (b + 1) * width, c, sums);
        right[b] = sums[0];
        all += sums[0];
        mean += sums[1] + b * width * sums[0];
    }
    for (uint64_t i = 0; i < DRAWS; i++) {
        uint64_t took, again;
        double x = draw(lo, hi, i, &took);
        CHECK(x >= lo && x <= hi);
        CHECK(x == draw(lo, hi, i, &again) && took == again);
        blocks += took;
        most = took > most ? took : most;
        found[(int)fmin((x - lo) / width, BINS - 1)] += 1.0;
        sum += (x - lo) / DRAWS;
        square += (x - lo) * (x - lo) / DRAWS;
    }
    double error = sqrt((square - sum * sum) / DRAWS);
    for (int b = 0; b < BINS; b++) {
        double expected = right[b] / all * DRAWS;
        if (expected < 5.0) {
            CHECK(found[b] <= expected + k * sqrt(expected) + k);
            continue;
        }
        chi += (found[b] - expected) * (found[b] - expected) / expected;
        n_bins++;
    }
    printf("%g to %g: mean %.6g + %.6g, right %.6g; chi square %.1f of %g; "
           "%.2f blocks, at most %d\n",
           lo, hi, lo, sum, mean / all, chi, n_bins, (double)blocks / DRAWS,
           (int)most);
    CHECK(fabs(sum - mean / all) <= k * error + 1e-15 * lo);
    CHECK(chi <= n_bins + k * sqrt(2.0 * n_bins));
    CHECK((double)blocks <= mean_blocks * DRAWS);
    CHECK(most <= MAX_BLOCKS);
}

static void check_group(const double *edge, size_t n, double kev)
{
    int32_t right = 0;
    for (size_t g = 1; g < n; g++)
        right += edge[g] <= kev;
    CHECK_EQ(imc_group_of(edge, n, kev), right);
}

static void check_groups(void)
{
    double edge[41];
    edge[0] = 1e-3;
    for (size_t g = 1; g <= 40; g++)
        edge[g] = g % 3 == 0 ? nextafter(edge[g - 1], 1e9) : 1.4 * edge[g - 1];
    for (size_t n = 1; n <= 40; n++) {
        for (size_t g = 0; g <= n; g++) {
            check_group(edge, n, edge[g]);
            check_group(edge, n, nextafter(edge[g], 0.0));
            check_group(edge, n, nextafter(edge[g], 1e9));
        }
        CHECK_EQ(imc_group_of(edge, n, 0.0), 0);
        CHECK_EQ(imc_group_of(edge, n, INFINITY), n - 1);
    }
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < sizeof intervals / sizeof intervals[0]; i++)
        check_interval(intervals[i][0], intervals[i][1]);
    check_groups();
    return CHECK_PASS;
}
