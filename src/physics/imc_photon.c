/* SPDX-License-Identifier: BSD-3-Clause */
/* Energies of photons, where packets have them (struct storm_photon). */
#include <math.h>

#include "physics/imc.h"
#include "physics/planck.h"
#include "physics/problem.h"

enum { PHOTON_MAX_TRIES = 100 }; /* two of three are taken, or more */

double imc_planck_energy(const struct imc_track *track, int32_t group,
                         double temperature_kev,
                         const struct storm_draws *draws)
{
    size_t g = (size_t)group;
    double lo_kev = g > 0 ? track->edge[g] : 0.0;
    double hi_kev = g + 1 < track->n_groups ? track->edge[g + 1] : INFINITY;
    double lo = lo_kev / temperature_kev;
    /* As good as no temperature: of a group all photons are at its lower edge,
     * of the first at the one it is given, which is above 0. */
    if (!(lo < 1e12))
        return track->edge[g];
    double x = storm_planck_draw(lo, hi_kev / temperature_kev, draws);
    return fmin(fmax(x * temperature_kev, lo_kev), hi_kev);
}

double imc_draw_energy(const struct imc_track *track, storm_cell_idx cell,
                       struct storm_packet *packet)
{
    const struct storm_draws draws = {track->seed, STORM_STREAM_HISTORY,
                                      packet->id, &packet->draws};
    return imc_planck_energy(track, packet->group, track->temperature[cell],
                             &draws);
}

/* Others of the stream of tallies use the block of the number of draws. */
static const uint64_t photon_tally_block = UINT64_C(1) << 62;
static const int photon_tally_bits = 16;

int32_t imc_tally_group(const struct imc_track *track, storm_cell_idx cell,
                        const struct storm_packet *packet, int32_t group)
{
    if (track->motion == NULL || !track->has_photons)
        return group;
    const struct imc_motion *m = &track->motion[cell];
    uint64_t block = photon_tally_block | packet->draws << photon_tally_bits;
    const struct storm_draws draws = {track->seed, STORM_STREAM_TALLY,
                                      packet->id, &block};
    double max = m->gamma + sqrt(m->gamma * m->gamma - 1.0);
    double boost = 1.0, n0[3], n[3], u[4];
    for (uint64_t i = 0; i < PHOTON_MAX_TRIES; i++) {
        storm_random(track->seed, STORM_STREAM_TALLY, packet->id, block++, u);
        storm_isotropic(u[0], u[1], n0);
        boost = imc_boost(m, n0, n);
        double part = boost / max; /* (M5) */
        if (u[2] < part * part)
            break;
    }
    return imc_group_of(track->edge, track->n_groups,
                        boost * imc_planck_energy(track, group,
                                                  track->temperature[cell],
                                                  &draws));
}

size_t storm_imc_record_bytes(const struct storm_imc *imc)
{
    return problem_record_bytes(imc->problem);
}
