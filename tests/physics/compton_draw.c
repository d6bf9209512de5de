/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 60 */
/*
 * COMPTON-1, COMPTON-2. Samples of (C2) to (C7) against quadratures
 * (tests/reference/compton_values.py), within k standard errors: kinetic energy
 * of thermal electrons from 1 eV to 500 keV, share of collisions that are real,
 * energy of a photon after one; the cross section of Klein and Nishina for
 * electrons at rest against the closed formula; moments of Thomson scattering.
 * For cold matter and soft photons the mean gain is (4 T - E) / mc^2, but for
 * terms of its square. Directions
 * stay unit vectors over many collisions. Photons in Wien's spectrum of the
 * temperature stay that: the mean and the mean square of their energy.
 */
#include <math.h>
#include <stdio.h>

#include "base/math.h"
#include "physics/compton.h"
#include "support/check.h"

enum { SAMPLES = 200000 / CHECK_SLOWDOWN };
static const double k = 5.0;

struct mean {
    double n, sum, square;
};

static void add(struct mean *m, double x)
{
    m->n += 1.0;
    m->sum += x;
    m->square += x * x;
}

/* Within k standard errors; returns the relative deviation. */
static double compare(const char *what, const struct mean *m, double right)
{
    double mean = m->sum / m->n;
    double error = sqrt(fmax(m->square / m->n - mean * mean, 0.0) / m->n);
    printf("%-34s %.8g +- %.1e, right %.8g\n", what, mean, error, right);
    CHECK(fabs(mean - right) <= k * error + 1e-12 * fabs(right));
    return mean / right - 1.0;
}

/* Temperature, photon energy, kinetic energy of electrons, share of collisions
 * that are real, energy after over before. */
static const double rows[][5] = {
    {0.001, 0.001, 2.93543396168e-06, 0.999996086098, 1.00000587084},
    {1, 1, 0.00294259334738, 0.996086969237, 1.00585800131},
    {1, 10, 0.00294259334738, 0.962587112105, 0.988542873479},
    {10, 1, 0.0300584348499, 0.995914105728, 1.0795564392},
    {50, 200, 0.163070706257, 0.574443098273, 0.952519282632},
    {200, 1, 0.787956196734, 0.991589998444, 4.34015690675},
    {500, 500, 2.31129192138, 0.248850226391, 1.81897268164},
};

static struct storm_draws draws_of(uint64_t *block, uint64_t seed)
{
    *block = 0;
    return (struct storm_draws){seed, STORM_STREAM_USER, {.lo = 3}, block};
}

static void check_row(const double *row, uint64_t seed)
{
    struct mean kinetic = {0}, real = {0}, ratio = {0};
    uint64_t block;
    const struct storm_draws draws = draws_of(&block, seed);
    double n[3] = {0.6, 0.0, 0.8};
    printf("%g keV, photons of %g keV\n", row[0], row[1]);
    for (int i = 0; i < SAMPLES; i++) {
        add(&kinetic, storm_electron_draw(row[0] / storm_electron_kev, &draws));
        double before = n[0];
        double r = storm_compton_draw(row[0], row[1], n, &draws);
        add(&real, r > 0.0 ? 1.0 : 0.0);
        if (r > 0.0)
            add(&ratio, r);
        else
            CHECK(n[0] == before);
        CHECK(fabs(n[0] * n[0] + n[1] * n[1] + n[2] * n[2] - 1.0) < 1e-15 * 8);
    }
    compare("  kinetic energy", &kinetic, row[2]);
    double rare = (1.0 - row[3]) * SAMPLES;
    if (rare > 20.0)
        compare("  share that is real", &real, row[3]);
    else /* too few of the others to have an error of their own */
        CHECK(SAMPLES - real.sum <= rare + k * sqrt(rare) + 3.0);
    compare("  energy after over before", &ratio, row[4]);
}

/* Of electrons at rest. */
static void check_klein_nishina(double x)
{
    struct mean real = {0};
    uint64_t block;
    const struct storm_draws draws = draws_of(&block, 17);
    double log = log1p(2.0 * x), n[3] = {0.0, 1.0, 0.0};
    double right =
        0.75 * ((1.0 + x) / (x * x * x) *
                    (2.0 * x * (1.0 + x) / (1.0 + 2.0 * x) - log) +
                log / (2.0 * x) -
                (1.0 + 3.0 * x) / ((1.0 + 2.0 * x) * (1.0 + 2.0 * x)));
    for (int i = 0; i < 5 * SAMPLES; i++) {
        double r = storm_compton_draw(0.0, x * storm_electron_kev, n, &draws);
        add(&real, r > 0.0 ? 1.0 : 0.0);
        CHECK(r <= 1.0 && (r == 0.0 || r >= 1.0 / (1.0 + 2.0 * x) - 1e-15));
    }
    double wrong = compare("Klein and Nishina, at rest", &real, right);
    printf("  x = %g: relative error %.1e\n", x, wrong);
}

static void check_thomson(void)
{
    struct mean moment[4] = {{0}};
    const double right[4] = {0.0, 0.4, 0.0, 9.0 / 35.0};
    for (int i = 0; i < SAMPLES; i++) {
        double u = (i + 0.5) / SAMPLES, c = storm_thomson_cosine(u), power = c;
        /* The inverse of its integral. */
        CHECK(fabs((c * c * c + 3.0 * c + 4.0) / 8.0 - u) < 1e-15);
        for (int m = 0; m < 4; m++, power *= c)
            add(&moment[m], power);
    }
    const double wrong = 40.0 / SAMPLES / SAMPLES; /* of the middle rule */
    for (int m = 0; m < 4; m++)
        CHECK(fabs(moment[m].sum / moment[m].n - right[m]) < wrong + 1e-14);
    CHECK(fabs(storm_thomson_cosine(0.0) + 1.0) < 1e-15);
    CHECK(fabs(storm_thomson_cosine(1.0) - 1.0) < 1e-15);
}

/* Soft photons and cold electrons. */
static void check_gain(double kev, double energy)
{
    struct mean gain = {0};
    uint64_t block;
    const struct storm_draws draws = draws_of(&block, 29);
    double n[3] = {0.0, 0.0, 1.0};
    for (int i = 0; i < 5 * SAMPLES; i++) {
        double r = storm_compton_draw(kev, energy, n, &draws);
        if (r > 0.0)
            add(&gain, (r - 1.0) * storm_electron_kev / (4.0 * kev - energy));
    }
    compare("gain over (4 T - E) / mc^2", &gain, 1.0);
}

/* Wien's spectrum by number: x^2 e^-x. Each photon for the same time. */
static void check_balance(double kev)
{
    enum { PHOTONS = SAMPLES / 4, ATTEMPTS = 20 };
    struct mean energy = {0}, square = {0}, along = {0};
    for (int i = 0; i < PHOTONS; i++) {
        uint64_t block = 0;
        const struct storm_draws draws = {
            31, STORM_STREAM_USER, {.lo = (uint64_t)i}, &block};
        double u[4], n[3];
        storm_random(32, STORM_STREAM_USER, draws.id, 0, u);
        double e = -kev * (storm_log(u[0] * u[1]) + storm_log(u[2]));
        storm_isotropic(u[3], 0.5, n);
        for (int j = 0; j < ATTEMPTS; j++) {
            double r = storm_compton_draw(kev, e, n, &draws);
            e *= r > 0.0 ? r : 1.0;
        }
        add(&energy, e / kev);
        add(&square, e * e / (kev * kev));
        add(&along, n[2] * e / kev);
    }
    printf("Wien at %g keV\n", kev);
    compare("  mean energy", &energy, 3.0);
    compare("  mean square", &square, 12.0);
    compare("  momentum", &along, 0.0);
}

int main(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_row(rows[i], 7 + i);
    for (double x = 0.02; x < 20.0; x *= 10.0)
        check_klein_nishina(x);
    check_thomson();
    check_gain(1.0, 0.01);
    check_gain(0.4, 0.4);
    check_balance(1.0);
    check_balance(20.0);
    check_balance(300.0);
    return CHECK_PASS;
}
