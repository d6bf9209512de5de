/* SPDX-License-Identifier: BSD-3-Clause */
/* Matter that moves, for imc_kernel.h, which includes it: momentum of packets
 * (MOTION-2), walls, scattering. */
#ifndef STORM_PHYSICS_IMC_MOTION_KERNEL_H
#define STORM_PHYSICS_IMC_MOTION_KERNEL_H

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

/* A new direction in the frame of matter, from two uniform numbers: weight and
 * direction in that of the mesh. Matter gets what the packet loses. */
static void imc_scatter_moving(const struct imc_track *track, struct lane *lane,
                               double u0, double u1)
{
    const struct imc_motion *motion = &track->motion[lane->cell];
    storm_exact *deposit = &track->cells[lane->cell].deposit;
    double n0[3], old = lane->imc.weight;
    double own = old * imc_doppler(motion, lane->packet->direction);
    storm_isotropic(u0, u1, n0);
    double new = own *imc_boost(motion, n0, lane->packet->direction);
    if (STORM_UNLIKELY(!(new <= track->pushes->max_erg))) {
        track->pushes->is_beyond = true;
        new = old;
    }
    lane->imc.weight = new;
    *deposit += storm_exact_term(old, track->deposit_unit) -
                storm_exact_term(new, track->deposit_unit);
}

static bool imc_border_counted(struct pass *pass, struct lane *lane,
                               int32_t next, uint32_t side);

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
    return more;
}

#endif /* STORM_PHYSICS_IMC_MOTION_KERNEL_H */
