/* SPDX-License-Identifier: BSD-3-Clause */
/* Energies of photons, where packets have them (struct storm_photon). */
#include "physics/imc.h"
#include "physics/planck.h"
#include "physics/problem.h"

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

size_t storm_imc_record_bytes(const struct storm_imc *imc)
{
    return problem_record_bytes(imc->problem);
}
