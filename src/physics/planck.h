/* SPDX-License-Identifier: BSD-3-Clause */
/* The spectrum of a blackbody: energy by x = E / T. */
#ifndef STORM_PHYSICS_PLANCK_H
#define STORM_PHYSICS_PLANCK_H

#include <stdint.h>

#include <storm/packet.h>

/* The share of the energy of a blackbody below x, to 1e-13 or so (eq. 12).
 * x >= 0, may be infinite. */
double storm_planck_below(double x);

/* Where random numbers of a draw come from: storm_random of these, from *block
 * on, which counts them. */
struct storm_draws {
    uint64_t seed;
    storm_stream stream;
    struct storm_packet_id id;
    uint64_t *block;
};

/* E / T of a packet of a blackbody between lo and hi: density x^3 / (e^x - 1).
 * 0 <= lo < hi, which may be infinite. Exact, by rejection: at most 2.1 tries
 * on the mean, two blocks each where the interval is wide. */
double storm_planck_draw(double lo, double hi, const struct storm_draws *draws);

#endif /* STORM_PHYSICS_PLANCK_H */
