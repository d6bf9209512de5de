/* SPDX-License-Identifier: BSD-3-Clause */
/* Walls that ask the host, for imc_kernel.h, which includes it. */
#ifndef STORM_PHYSICS_IMC_WALLS_KERNEL_H
#define STORM_PHYSICS_IMC_WALLS_KERNEL_H

/* The packet of a lane, in the box of the mesh. */
static struct storm_packet imc_at_wall(const struct pass *pass,
                                       const struct lane *lane, uint32_t side)
{
    struct storm_packet at = *lane->packet;
    geom_rest(&lane->geom, &at);
    at.time_left_s = lane->time_left_s;
    at.weight_erg = lane->imc.weight;
    at.optical_depth = lane->imc.depth;
    at.cell = storm_mesh_part_tag(pass->part, lane->cell);
    at.cell_idx = lane->cell;
    at.face = geom_face(&lane->geom, side);
    return at;
}

static bool imc_is_user(const struct imc_track *track, int wall,
                        const double point_cm[3])
{
    return track->edges[wall] == IMC_EDGE_USER ||
           (track->edges[wall] == IMC_EDGE_PARTS &&
            imc_wall_is(track->problem, wall, point_cm, STORM_WALL_USER));
}

/* Continues from another place, maybe on another rank. Returns like
 * imc_retire. */
static bool imc_move(struct pass *pass, struct lane *lane,
                     const struct storm_packet *at, struct storm_cell_ref to)
{
    struct storm_packet *packet = lane->packet;
    bool is_here = to.rank == pass->geom.rank && to.idx >= 0, more = true;
    if (is_here)
        lane->cell = to.idx;
    pass->outcomes[lane->i_packet].rank = to.rank;
    if (!is_here)
        more = imc_retire(pass, lane, STORM_FATE_SEND);
    memcpy(packet->position_cm, at->position_cm, sizeof at->position_cm);
    packet->cell = is_here ? packet->cell : IMC_SEEKING;
    packet->cell_idx = to.idx >= 0 ? to.idx : IMC_SEEK_ANYWHERE;
    if (is_here)
        geom_enter(&pass->geom, &lane->geom, packet);
    if (is_here && pass->imc->ddmc != NULL &&
        imc_ddmc_is_in(pass->imc->ddmc, to.idx,
                       imc_group_here(pass->imc, lane))) {
        lane->imc.diffuses = true; /* DDMC-4, as on another rank */
        lane->imc.depth = IMC_PLACED;
    }
    return more;
}

/* Does what the host says. Returns like imc_retire. */
static bool imc_ask(struct pass *pass, struct lane *lane,
                    struct storm_packet *at, int wall, uint32_t side)
{
    struct storm_packet *packet = lane->packet;
    struct storm_cell_ref to;
    packet->face = at->face;
    lane->wall = wall;
    storm_wall_answer answer = imc_user_ask(pass->imc->user, wall, at, &to);
    if (answer == STORM_WALL_TAKE)
        return imc_retire(pass, lane, STORM_FATE_ESCAPED);
    packet->draws = at->draws;
    packet->spawns = at->spawns;
    if (pass->imc->has_photons && packet->group != at->group)
        *imc_photon_kev(lane) = imc_middle_kev(pass->imc, at->group);
    packet->group = at->group;
    packet->birth_weight_erg = at->birth_weight_erg;
    lane->imc.weight = at->weight_erg;
    lane->imc.light_weight = imc_analogue_below * at->birth_weight_erg;
    if (answer == STORM_WALL_MIRROR) {
        geom_mirror(&pass->geom, &lane->geom, packet, side);
        return true;
    }
    memcpy(packet->direction, at->direction, sizeof at->direction);
    if (answer == STORM_WALL_MOVE)
        return imc_move(pass, lane, at, to);
    geom_leave(&lane->geom, packet);
    packet->cell_idx = lane->cell;
    geom_enter(&pass->geom, &lane->geom, packet);
    return true;
}

#endif /* STORM_PHYSICS_IMC_WALLS_KERNEL_H */
