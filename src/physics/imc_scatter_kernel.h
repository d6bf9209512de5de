/* SPDX-License-Identifier: BSD-3-Clause */
/* Scattering by laws, for imc_kernel.h, which includes it: imc_scatter.h. */
#ifndef STORM_PHYSICS_IMC_SCATTER_KERNEL_H
#define STORM_PHYSICS_IMC_SCATTER_KERNEL_H

#include "physics/imc_scatter.h"

/* Without groups: a collision is effective scattering in the first part of
 * `rate` in all scattering, (1 - f) / f times absorption after Fleck. */
LANES_INLINE bool imc_is_effective(const struct imc_track *track,
                                   const struct lane *lane, double rate)
{
    double fleck = track->fleck[lane->cell];
    return rate < (1.0 - fleck) / fleck * lane->imc.absorb_s;
}

/* The packet's weight times this; matter gets the rest (FRAME-4, at rest,
 * too). */
static void imc_scatter_give(const struct pass *pass, struct lane *lane,
                             double ratio)
{
    const struct imc_track *track = pass->imc;
    double old = lane->imc.weight, new = old *ratio;
    storm_exact given = storm_exact_term(old, track->deposit_unit);
    lane->imc.weight = imc_limited(pass, lane, new);
    given -= storm_exact_term(lane->imc.weight, track->deposit_unit);
    track->cells[lane->cell].deposit += given; /* with that of children */
    track->scatter->exchanged[lane->cell] += given;
}

/* A collision in the frame of matter, then back. Effective scattering is
 * isotropic. Matter gets what the packet loses. False: it was virtual, and
 * nothing has changed. */
static bool imc_scatter_by_law(const struct pass *pass, struct lane *lane,
                               bool effective, const double u[2])
{
    const struct imc_track *track = pass->imc;
    static const struct imc_motion at_rest = {.gamma = 1.0};
    const struct imc_motion *motion =
        track->motion != NULL ? &track->motion[lane->cell] : &at_rest;
    struct storm_packet *packet = lane->packet;
    double doppler = imc_doppler(motion, packet->direction);
    double n0[3], own_kev = 0.0, ratio = 1.0;
    if (track->has_photons)
        own_kev = doppler * *imc_photon_kev(lane);
    if (effective || track->laws[lane->cell] == STORM_SCATTER_ISOTROPIC) {
        storm_isotropic(u[0], u[1], n0);
        if (effective && track->has_photons)
            own_kev = imc_draw_energy(track, lane->cell, packet);
    } else {
        imc_boost_back(motion, packet->direction, n0);
        ratio = imc_scatter_draw(track, lane->cell, packet, &own_kev, n0);
        if (!(ratio > 0.0))
            return false;
    }
    double boost = imc_boost(motion, n0, packet->direction);
    imc_unit(packet->direction);
    if (track->has_photons)
        imc_set_photon(track, lane, own_kev * boost);
    imc_scatter_give(pass, lane, doppler * ratio * boost);
    return true;
}

#endif /* STORM_PHYSICS_IMC_SCATTER_KERNEL_H */
