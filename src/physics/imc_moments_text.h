/* SPDX-License-Identifier: BSD-3-Clause */
/* What kernels count of moments, inlined: imc_moments.c is made of it, and so
 * are kernels for devices. The includer has included on_host.h or on_device.h.
 */
#ifndef STORM_PHYSICS_IMC_MOMENTS_TEXT_H
#define STORM_PHYSICS_IMC_MOMENTS_TEXT_H

#include "physics/imc.h"

static inline void moments_add(storm_exact *sum, double term,
                               struct storm_exact_unit unit)
{
    on_add(sum, storm_exact_term(term, unit));
}

/* A term has the bits of a double, each half has: this is exact. */
static inline double moments_length(storm_exact path)
{
    return (double)(int64_t)(path >> 64) * 0x1p64 + (double)(uint64_t)path;
}

static inline void moments_collision(const struct imc_track *track,
                                     storm_cell_idx cell,
                                     const double direction[3],
                                     double weight_erg)
{
    storm_exact *momentum = &track->moments->momentum[3 * (size_t)cell];
    for (int d = 0; d < 3; d++)
        moments_add(&momentum[d], weight_erg * direction[d],
                    track->moments->momentum_unit);
}

static inline void moments_flight(const struct imc_track *track,
                                  storm_cell_idx cell,
                                  const double direction[3], storm_exact path,
                                  double given_erg)
{
    const struct imc_moments *m = track->moments;
    const struct storm_exact_unit unit = track->path_unit;
    const double x = direction[0], y = direction[1], z = direction[2];
    double length = moments_length(path) * m->path_scale;
    const double along[3] = {length * x, length * y, length * z};
    if (m->flux != NULL) {
        storm_exact *flux = &m->flux[3 * (size_t)cell];
        moments_add(&flux[0], along[0], m->flux_unit);
        moments_add(&flux[1], along[1], m->flux_unit);
        moments_add(&flux[2], along[2], m->flux_unit);
    }
    if (m->pressure != NULL) {
        storm_exact *pressure = &m->pressure[6 * (size_t)cell];
        moments_add(&pressure[0], along[0] * x, unit);
        moments_add(&pressure[1], along[1] * y, unit);
        moments_add(&pressure[2], along[2] * z, unit);
        moments_add(&pressure[3], along[0] * y, unit);
        moments_add(&pressure[4], along[1] * z, unit);
        moments_add(&pressure[5], along[2] * x, unit);
    }
    if (m->momentum != NULL && given_erg > 0.0)
        moments_collision(track, cell, direction, given_erg);
}

static inline void moments_walk(const struct imc_track *track,
                                storm_cell_idx cell, storm_exact path,
                                const double moved_cm[3], double seconds)
{
    const struct imc_moments *m = track->moments;
    double length = moments_length(path) * m->path_scale;
    double way = track->light_cm_s * seconds;
    for (int d = 0; d < 3; d++) {
        if (m->flux != NULL && way > 0.0)
            moments_add(&m->flux[3 * (size_t)cell + (size_t)d],
                        length * (moved_cm[d] / way), m->flux_unit);
        if (m->pressure != NULL)
            moments_add(&m->pressure[6 * (size_t)cell + (size_t)d],
                        length / 3.0, track->path_unit);
    }
}

static inline void moments_hop(const struct imc_track *track,
                               storm_cell_idx cell, const double normal[3],
                               double distance_erg_cm, double depth_erg)
{
    const struct imc_moments *m = track->moments;
    for (int d = 0; d < 3; d++) {
        if (m->flux != NULL)
            moments_add(&m->flux[3 * (size_t)cell + (size_t)d],
                        distance_erg_cm * normal[d], m->flux_unit);
        if (m->hops != NULL)
            moments_add(&m->hops[3 * (size_t)cell + (size_t)d],
                        depth_erg * normal[d], m->hop_unit);
    }
}

#endif /* STORM_PHYSICS_IMC_MOMENTS_TEXT_H */
