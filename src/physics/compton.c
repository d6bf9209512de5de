/* SPDX-License-Identifier: BSD-3-Clause */
#include "physics/compton.h"

#include <math.h>

#include "base/math.h"
#include "physics/imc_motion.h"
#include "physics/turn.h"

static void compton_next(const struct storm_draws *draws, double u_out[4])
{
    storm_random(draws->seed, draws->stream, draws->id, (*draws->block)++,
                 u_out);
}

/* The real root of c^3 + 3 c = 8 u - 4. */
double storm_thomson_cosine(double u)
{
    double q = 4.0 * u - 2.0;
    double root = storm_cbrt(fabs(q) + sqrt(q * q + 1.0));
    double c = fmin(root - 1.0 / root, 1.0);
    return q < 0.0 ? -c : c;
}

/* A number with density y^(k / 2 + 1/2) e^-y, k = 0 .. 3: sums of exponentials,
 * and half the square of a normal number. */
static double compton_gamma(int k, const double u[4], const double v[4])
{
    double product = k < 1 ? v[0] : k < 3 ? v[0] * v[1] : v[0] * v[1] * v[2];
    double y = -storm_log(product);
    if (k % 2 == 0) {
        double cosine, sine;
        storm_cos_sin_turns(u[3], &cosine, &sine);
        y -= storm_log(u[2]) * (cosine * cosine);
    }
    return y;
}

/* With y = (gamma - 1) / theta the density is (1 + theta y) sqrt(y)
 * sqrt(2 + theta y) e^-y; the last root is below sqrt(2) + sqrt(theta y), which
 * makes four gamma distributions (C4). Accepted in 0.7 of all tries or more. */
double storm_electron_draw(double theta, const struct storm_draws *draws)
{
    const double root2 = 1.4142135623730951, root = sqrt(theta);
    const double half = 0.88622692545275801; /* Gamma(3/2) */
    const double share[4] = {root2 * half, root, 1.5 * root2 * half * theta,
                             2.0 * root * theta};
    const double all = share[0] + share[1] + share[2] + share[3];
    double x = 0.0;
    for (int i = 0; i < 1000; i++) {
        double u[4], v[4];
        int k = 0;
        compton_next(draws, u);
        compton_next(draws, v);
        for (double rest = u[0] * all; k < 3 && rest >= share[k]; k++)
            rest -= share[k];
        x = theta * compton_gamma(k, u, v);
        if (v[3] * (root2 + sqrt(x)) < sqrt(2.0 + x))
            break;
    }
    return x;
}

/* The cosine between photon and electron: density (1 - beta mu) / 2, the rate
 * at which they meet. */
static double compton_meeting(double beta, double u)
{
    double d = beta * (beta + 2.0 - 4.0 * u);
    double mu = (4.0 * u - 2.0 - beta) / (1.0 + sqrt(1.0 + d));
    return fmin(fmax(mu, -1.0), 1.0); /* but for roundings it is */
}

/* In the frame of the electron a photon of x rest energies is turned by this
 * cosine, drawn by (C2): its energy after over that before, with the
 * probability that makes it the cross section of Klein and Nishina, else 0
 * (C6). */
static double compton_klein_nishina(double x, double c, double u)
{
    double e = 1.0 / (1.0 + x * (1.0 - c)), s2 = 1.0 - c * c;
    return u * (2.0 - s2) < e * (e * e + 1.0 - e * s2) ? e : 0.0;
}

double storm_compton_draw(double temperature_kev, double energy_kev,
                          double direction[3], const struct storm_draws *draws)
{
    double kinetic =
        storm_electron_draw(temperature_kev / storm_electron_kev, draws);
    double momentum = sqrt(kinetic * (2.0 + kinetic)), gamma = 1.0 + kinetic;
    double u[4], v[4], e[3], before[3], after[3];
    compton_next(draws, u);
    compton_next(draws, v);
    imc_about(direction, compton_meeting(momentum / gamma, u[0]), u[1], e);
    const struct imc_motion electron = {
        {momentum * e[0], momentum * e[1], momentum * e[2]}, gamma};
    double ratio = imc_boost_back(&electron, direction, before);
    double cosine = storm_thomson_cosine(u[2]);
    double less = compton_klein_nishina(energy_kev / storm_electron_kev * ratio,
                                        cosine, u[3]);
    if (!(less > 0.0))
        return 0.0;
    imc_unit(before);
    imc_about(before, cosine, v[0], after);
    ratio *= less * imc_boost(&electron, after, direction);
    imc_unit(direction);
    return ratio;
}
