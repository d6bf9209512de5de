/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kobayashi's problem 1: the published flux, and what a neutron contributes to
 * it. A cube of 100 cm with mirrors at x = y = z = 0: source up to 10 cm, void
 * up to 50 cm, absorber beyond.
 *
 * K. Kobayashi, N. Sugimura, Y. Nagaya, 3D radiation transport benchmark
 * problems and results for simple geometries with void region, OECD/NEA, 2000.
 */
#ifndef STORM_EXAMPLES_KOBAYASHI_H
#define STORM_EXAMPLES_KOBAYASHI_H

#include <math.h>

enum { N_POINTS = 23 };

/* Flux at a point: no scattering; half of the cross-section scatters, and the
 * relative error of that. */
static const struct {
    double x[3], flux[2], error;
} table[N_POINTS] = {
    {{5, 5, 5}, {5.95659e+00, 8.29260e+00}, 0.00021},
    {{5, 15, 5}, {1.37185e+00, 1.87028e+00}, 0.00005},
    {{5, 25, 5}, {5.00871e-01, 7.13986e-01}, 0.00003},
    {{5, 35, 5}, {2.52429e-01, 3.84685e-01}, 0.00004},
    {{5, 45, 5}, {1.50260e-01, 2.53984e-01}, 0.00006},
    {{5, 55, 5}, {5.95286e-02, 1.37220e-01}, 0.00073},
    {{5, 65, 5}, {1.53283e-02, 4.65913e-02}, 0.00117},
    {{5, 75, 5}, {4.17689e-03, 1.58766e-02}, 0.00197},
    {{5, 85, 5}, {1.18533e-03, 5.47036e-03}, 0.00343},
    {{5, 95, 5}, {3.46846e-04, 1.85082e-03}, 0.00619},
    {{15, 15, 15}, {4.70754e-01, 6.63233e-01}, 0.00004},
    {{25, 25, 25}, {1.69968e-01, 2.68828e-01}, 0.00003},
    {{35, 35, 35}, {8.68334e-02, 1.56683e-01}, 0.00005},
    {{45, 45, 45}, {5.25132e-02, 1.04405e-01}, 0.00011},
    {{55, 55, 55}, {1.33378e-02, 3.02145e-02}, 0.00061},
    {{65, 65, 65}, {1.45867e-03, 4.06555e-03}, 0.00074},
    {{75, 75, 75}, {1.75364e-04, 5.86124e-04}, 0.00116},
    {{15, 55, 5}, {5.50247e-02, 1.27890e-01}, 0.00076},
    {{25, 55, 5}, {4.80754e-02, 1.13582e-01}, 0.00080},
    {{35, 55, 5}, {3.96765e-02, 9.59578e-02}, 0.00088},
    {{45, 55, 5}, {3.16366e-02, 7.82701e-02}, 0.00094},
    {{55, 55, 5}, {2.35303e-02, 5.67030e-02}, 0.00111},
    {{65, 55, 5}, {5.83721e-03, 1.88631e-02}, 0.00189},
};

static double lesser(double a, double b)
{
    return a < b ? a : b;
}

static double greater(double a, double b)
{
    return a > b ? a : b;
}

/* Weight of neutrons at a place, relative to the source. It falls as the flux
 * does, roughly: with the square of the distance, and by absorption. */
static double weight_at(const double x[3])
{
    double r = hypot(hypot(x[0], x[1]), x[2]);
    double far = greater(greater(x[0], x[1]), x[2]);
    double absorber = far > 50.0 ? r * (1.0 - 50.0 / far) : 0.0;
    return lesser(1.0, 1600.0 / (r * r)) * exp(-0.05 * absorber);
}

/* One coordinate of the way from a neutron to a point. Of the way, from 0 to 1,
 * the part between enter[i] and leave[i] has |coordinate| below 10 and 50. */
struct way {
    double length, enter[2], leave[2];
};

static struct way way_between(double from, double to)
{
    const double half[2] = {10.0, 50.0};
    struct way way = {.length = to - from};
    for (int i = 0; i < 2; i++) {
        double a = (-half[i] - from) / way.length;
        double b = (half[i] - from) / way.length;
        way.enter[i] = lesser(a, b);
        way.leave[i] = greater(a, b);
    }
    return way;
}

/* What a neutron of weight 1 and isotropic direction contributes without a
 * collision on its way in three directions. sigma: source, void, absorber.
 * Closer than 3 cm, where it has no bound: its mean over the ball, which is
 * right for collisions that are as dense everywhere in it. (Their curvature
 * makes an error below 0.1 %.) */
static double flux_along(const double sigma[3], const struct way *const way[3])
{
    const double four_pi = 12.566370614359172, ball = 3.0;
    double part[2], square = 0.0;
    for (int i = 0; i < 2; i++) {
        double enter = 0.0, leave = 1.0;
        for (int d = 0; d < 3; d++) {
            enter = greater(enter, way[d]->enter[i]);
            leave = lesser(leave, way[d]->leave[i]);
        }
        part[i] = greater(leave - enter, 0.0);
    }
    for (int d = 0; d < 3; d++)
        square += way[d]->length * way[d]->length;
    double mean = sigma[0] * part[0] + sigma[1] * (part[1] - part[0]) +
                  sigma[2] * (1.0 - part[1]);
    if (square >= ball * ball)
        return exp(-mean * sqrt(square)) / (four_pi * square);
    return -3.0 * expm1(-mean * ball) / (four_pi * mean * ball * ball * ball);
}

/* The same to a point and its seven images behind the mirrors. */
static double flux_from(const double sigma[3], const double from[3],
                        const double to[3])
{
    struct way way[3][2];
    double sum = 0.0;
    for (int d = 0; d < 3; d++) {
        way[d][0] = way_between(from[d], to[d]);
        way[d][1] = way_between(from[d], -to[d]);
    }
    for (int image = 0; image < 8; image++) {
        const struct way *const chosen[3] = {
            &way[0][image & 1], &way[1][image >> 1 & 1], &way[2][image >> 2]};
        sum += flux_along(sigma, chosen);
    }
    return sum;
}

#endif /* STORM_EXAMPLES_KOBAYASHI_H */
