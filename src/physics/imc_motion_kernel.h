/* SPDX-License-Identifier: BSD-3-Clause */
/* Matter that moves, for imc_kernel.h, which includes it: momentum of packets
 * (FRAME-2), walls, scattering. */
#ifndef STORM_PHYSICS_IMC_MOTION_KERNEL_H
#define STORM_PHYSICS_IMC_MOTION_KERNEL_H

#include <storm/engine.h>

#include "physics/split.h"

/* What a packet has, in three terms. */
struct imc_push_terms {
    storm_exact term[3];
};

LANES_INLINE struct imc_push_terms imc_push_of(const struct imc_track *track,
                                               double weight,
                                               const double direction[3])
{
    struct imc_push_terms push;
    for (int d = 0; d < 3; d++)
        push.term[d] =
            storm_exact_term(weight * direction[d], track->deposit_unit);
    return push;
}

LANES_INLINE void imc_push_cell(const struct imc_track *track,
                                storm_cell_idx cell,
                                const struct imc_push_terms *push,
                                const int sign)
{
    storm_exact *sum = &track->pushes->cells[3 * (size_t)cell];
    for (int d = 0; d < 3; d++)
        sum[d] += sign > 0 ? push->term[d] : -push->term[d];
}

/* The packet of a lane comes into its cell, or leaves it. */
static void imc_push_lane(const struct imc_track *track,
                          const struct lane *lane, const int sign)
{
    struct imc_push_terms push =
        imc_push_of(track, lane->imc.weight, lane->packet->direction);
    imc_push_cell(track, lane->cell, &push, sign);
}

/* Out of its lane; `fate` says where to. */
static void imc_push_out(const struct imc_track *track, const struct lane *lane,
                         storm_fate fate)
{
    struct imc_push_terms push =
        imc_push_of(track, lane->imc.weight, lane->packet->direction);
    imc_push_cell(track, lane->cell, &push, -1);
    for (int d = 0; d < 3 && fate == STORM_FATE_CENSUS; d++)
        track->pushes->rested[d] += push.term[d];
}

/* With photons: that of a lane. */
LANES_INLINE double *imc_photon_kev(const struct lane *lane)
{
    return &((struct storm_photon *)(void *)lane->packet)->energy_kev;
}

/* Of a group that a host has chosen. */
static double imc_middle_kev(const struct imc_track *track, int32_t group)
{
    return sqrt(track->edge[group]) * sqrt(track->edge[group + 1]);
}

/* The group of a lane's photons in the frame of matter. */
LANES_INLINE size_t imc_own_group(const struct imc_track *track,
                                  const struct lane *lane, double doppler)
{
    return (size_t)imc_group_of(track->edge, track->n_groups,
                                doppler * *imc_photon_kev(lane));
}

/* In a kernel of motion: that of any lane that flies. */
LANES_INLINE int32_t imc_group_here(const struct imc_track *track,
                                    const struct lane *lane)
{
    if (track->motion == NULL || !track->has_photons)
        return lane->packet->group;
    double doppler =
        imc_doppler(&track->motion[lane->cell], lane->packet->direction);
    return (int32_t)imc_own_group(track, lane, doppler);
}

/* The lane's photons in the frame of the mesh, and their group there. */
static void imc_set_photon(const struct imc_track *track, struct lane *lane,
                           double energy_kev)
{
    *imc_photon_kev(lane) = energy_kev;
    lane->packet->group =
        imc_group_of(track->edge, track->n_groups, energy_kev);
}

static struct storm_packet imc_at_wall(const struct pass *pass,
                                       const struct lane *lane, uint32_t side);

/* FRAME-4: all but a part of the packet's new weight goes to children like this
 * one, which if they fly have left the cell in its account of momentum until
 * they begin. Returns that part; 0: too many, or no memory. */
static double imc_divide(const struct pass *pass, const struct lane *lane,
                         const struct storm_packet *child, double weight)
{
    const struct imc_track *track = pass->imc;
    /* One more than it takes: shares are not quite even. */
    double parts = 1.0 + ceil(weight / track->pushes->split_erg);
    if (!(parts <= IMC_MAX_PARTS) ||
        track->pushes->n_children >= IMC_MAX_CHILDREN)
        return 0.0;
    track->pushes->n_children += (uint64_t)parts - 1;
    struct storm_split split = storm_split(weight, (uint64_t)parts);
    struct storm_photon record = {.packet = *child};
    if (track->has_photons)
        record.energy_kev = *imc_photon_kev(lane);
    struct imc_push_terms push =
        imc_push_of(track, split.each, child->direction);
    bool has_push = track->motion != NULL && !imc_stays(child->optical_depth);
    for (uint64_t k = 1; k < (uint64_t)parts; k++) {
        record.packet = *child;
        storm_split_child(lane->packet, split.each, &record.packet);
        if (storm_step_spawn(track->pushes->step, &record) < 0)
            return 0.0;
        if (has_push)
            imc_push_cell(track, lane->cell, &push, -1);
        track->cells[lane->cell].deposit -=
            storm_exact_term(split.each, track->deposit_unit);
    }
    return split.last;
}

/* The weight of a lane that flies and has scattered: if that is too large, a
 * part of it. */
LANES_INLINE double imc_limited(const struct pass *pass,
                                const struct lane *lane, double weight)
{
    struct imc_pushes *pushes = pass->imc->pushes;
    if (STORM_LIKELY(weight <= pushes->split_erg))
        return weight;
    const struct storm_packet child = imc_at_wall(pass, lane, 0);
    double part = imc_divide(pass, lane, &child, weight);
    pushes->is_beyond |= !(part > 0.0);
    return part > 0.0 ? part : lane->imc.weight;
}

/* A new direction in the frame of matter, from two uniform numbers: weight,
 * direction and photons in that of the mesh. Matter gets what the packet loses.
 * Effective scattering has drawn a group, in the frame of matter. */
static void imc_scatter_moving(const struct pass *pass, struct lane *lane,
                               bool effective, const double u[2])
{
    const struct imc_track *track = pass->imc;
    const struct imc_motion *motion = &track->motion[lane->cell];
    storm_exact *deposit = &track->cells[lane->cell].deposit;
    struct storm_packet *packet = lane->packet;
    double n0[3], old = lane->imc.weight;
    double doppler = imc_doppler(motion, packet->direction);
    double own_kev = 0.0;
    if (track->has_photons)
        own_kev = effective ? imc_draw_energy(track, lane->cell, packet)
                            : doppler * *imc_photon_kev(lane);
    storm_isotropic(u[0], u[1], n0);
    double boost = imc_boost(motion, n0, packet->direction);
    double new = old *doppler *boost;
    if (track->has_photons)
        imc_set_photon(track, lane, own_kev * boost);
    new = imc_limited(pass, lane, new);
    lane->imc.weight = new;
    *deposit += storm_exact_term(old, track->deposit_unit) -
                storm_exact_term(new, track->deposit_unit);
}

static bool imc_border_counted(struct pass *pass, struct lane *lane,
                               int32_t next, uint32_t side);
static void drift_arrived(const struct pass *pass, struct lane *lane);

/* imc_border_counted: what walls do to the momentum of a packet that stays, or
 * comes back elsewhere, is theirs. */
static bool imc_border_moving(struct pass *pass, struct lane *lane,
                              int32_t next, uint32_t side)
{
    const struct imc_track *track = pass->imc;
    struct storm_mesh_exit exit = geom_exit(&pass->geom, next);
    const struct storm_packet *packet = lane->packet;
    struct storm_outcome *outcome = &pass->outcomes[lane->i_packet];
    storm_cell_idx from = lane->cell;
    struct imc_push_terms old =
        imc_push_of(track, lane->imc.weight, packet->direction);
    bool more = imc_border_counted(pass, lane, next, side);
    bool stays = outcome->fate == STORM_FATE_CONTINUE;
    if (!stays && (exit.rank >= 0 || outcome->fate == STORM_FATE_ESCAPED))
        return more;
    struct imc_push_terms new =
        imc_push_of(track, stays ? lane->imc.weight : packet->weight_erg,
                    packet->direction);
    imc_push_cell(track, from, &old, -1);
    imc_push_cell(track, stays ? lane->cell : from, &new, 1);
    for (int d = 0; d < 3; d++)
        track->pushes->walls[d] += old.term[d] - new.term[d];
    if (stays)
        drift_arrived(pass, lane);
    return more;
}

#endif /* STORM_PHYSICS_IMC_MOTION_KERNEL_H */
