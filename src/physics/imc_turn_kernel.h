/* SPDX-License-Identifier: BSD-3-Clause */
/* What a thread leaves to the host (RUN-5), for imc_kernel.h, which includes
 * it. All of it is asked before an event, when nothing has changed yet. */
#ifndef STORM_PHYSICS_IMC_TURN_KERNEL_H
#define STORM_PHYSICS_IMC_TURN_KERNEL_H

/* The next event of a packet in flight. */
LANES_INLINE bool imc_is_turn(const struct pass *pass, const struct lane *lane,
                              enum imc_event event)
{
    const unsigned char *turns = pass->imc->turns;
    return turns != NULL && event == IMC_FACE && turns[lane->cell];
}

/* Leaves its lane before its event, which is not counted. */
static bool imc_hand_over(struct pass *pass, struct lane *lane)
{
    struct storm_outcome *outcome = &pass->outcomes[lane->i_packet];
    pass->round--;
    (void)imc_retire(pass, lane, STORM_FATE_CONTINUE);
    outcome->fate = IMC_FATE_TURN;
    return false;
}

/* A packet that cannot even begin. A wall of the host has moved it; or it needs
 * a point of its cell, or of a face. */
LANES_INLINE bool imc_begins_turn(const struct imc_track *track,
                                  const struct storm_packet *packet)
{
    const double mark = packet->optical_depth;
    const struct imc_ddmc *ddmc = track->ddmc;
    if (packet->cell == IMC_SEEKING)
        return true;
    if (GEOM_SAMPLES || !(mark < 0.0) || packet->cell_idx < 0)
        return false;
    if (ddmc == NULL || !imc_ddmc_is_in(ddmc, packet->cell_idx, packet->group))
        return mark != IMC_PLACED;
    return (mark == IMC_ENTERS || mark == IMC_KNOCKS) &&
           ddmc->skin[ddmc->first[packet->cell_idx] + packet->face] > 0.0;
}

#endif /* STORM_PHYSICS_IMC_TURN_KERNEL_H */
