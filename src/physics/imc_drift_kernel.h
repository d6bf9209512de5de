/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets that diffuse and walk in matter that moves, for imc_kernel.h, which
 * includes it behind imc_ddmc_kernel.h. A packet on its way into a cell is in
 * a lane that diffuses and has the mark IMC_KNOCKS; it has the weight and the
 * direction of its flight.
 */
#ifndef STORM_PHYSICS_IMC_DRIFT_KERNEL_H
#define STORM_PHYSICS_IMC_DRIFT_KERNEL_H

static const struct imc_drift_cell *drift_cell_of(const struct imc_track *track,
                                                  storm_cell_idx cell)
{
    return &track->drift->cells[cell];
}

static const struct imc_drift_face *
drift_face_of(const struct imc_track *track, storm_cell_idx cell, size_t face)
{
    return &track->drift->faces[track->ddmc->first[cell] + face];
}

static double drift_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* ---- weights (DRIFT-1) -------------------------------------------------- */

/* Matter gets what the packet loses. */
static void drift_reweigh(const struct imc_track *track, struct lane *lane,
                          double weight)
{
    double old = lane->imc.weight;
    if (STORM_UNLIKELY(!(weight <= track->pushes->max_erg))) {
        track->pushes->is_beyond = true;
        weight = old;
    }
    lane->imc.weight = weight;
    track->cells[lane->cell].deposit +=
        storm_exact_term(old, track->deposit_unit) -
        storm_exact_term(weight, track->deposit_unit);
}

/* From a flight: its weight, if it diffuses. Its photons are those of the
 * ensemble then. */
static void drift_calm(const struct imc_track *track, struct lane *lane)
{
    const struct imc_motion *m = &track->motion[lane->cell];
    drift_reweigh(track, lane,
                  lane->imc.weight * imc_doppler(m, lane->packet->direction) *
                      imc_instant(m));
}

/* To a flight in this direction in the frame of matter, in the packet's group
 * there. */
static void drift_leave(const struct imc_track *track, struct lane *lane,
                        const double n0[3])
{
    const struct imc_motion *m = &track->motion[lane->cell];
    double boost = imc_boost(m, n0, lane->packet->direction);
    drift_reweigh(track, lane, lane->imc.weight / imc_instant(m) * boost);
    if (track->has_photons)
        imc_set_photon(track, lane,
                       imc_draw_energy(track, lane->cell, lane->packet) *
                           boost);
}

/* The same at the end of the step: in any direction that packets have at an
 * instant of the mesh. Their number goes as their energy. */
static void drift_rest(const struct pass *pass, struct lane *lane)
{
    const struct imc_motion *m = &pass->imc->motion[lane->cell];
    double max_boost = m->gamma + sqrt(m->gamma * m->gamma - 1.0), n0[3], u[4];
    for (int i = 0; i < DDMC_MAX_TRIES; i++) {
        storm_packet_random(lane->packet, pass->imc->seed, u);
        storm_isotropic(u[0], u[1], n0);
        if (u[2] * max_boost < m->gamma + drift_dot(m->u, n0))
            break;
    }
    drift_leave(pass->imc, lane, n0);
}

/* ---- places (DRIFT-2) --------------------------------------------------- */

static void drift_settle(const struct pass *pass, struct lane *lane,
                         double mark)
{
    double u[4];
    if (mark != IMC_PLACED && drift_cell_of(pass->imc, lane->cell)->has_place) {
        storm_packet_random(lane->packet, pass->imc->seed, u);
        pass->mesh->ops->sample(pass->mesh, lane->cell, u,
                                lane->packet->position_cm);
        mark = IMC_PLACED;
    }
    (void)ddmc_settle(lane, mark);
}

/* A packet in flight that has changed into a group of the ensemble. */
static void drift_collect(const struct pass *pass, struct lane *lane)
{
    drift_calm(pass->imc, lane);
    drift_settle(pass, lane, IMC_PLACED);
}

/* A packet of a lane that a host has moved, or a border: diffuses if it would
 * on another rank. */
static void drift_arrived(const struct pass *pass, struct lane *lane)
{
    if (!lane->imc.diffuses || lane->imc.depth == IMC_KNOCKS)
        return;
    drift_collect(pass, lane);
}

/* Until a place gets to a side of its box along one axis; infinite if it does
 * not. `to` is -1 or 1, the side it moves to. */
static double drift_reach(double rate, double bend, double s, double *to_out)
{
    double speed = rate + bend * s;
    double to = speed > 0.0 ? 1.0 : -1.0, left = (to - s) / speed;
    double x = bend * left;
    *to_out = to;
    if (speed == 0.0 || !((rate + bend * to) * to > 0.0))
        return INFINITY;
    if (fabs(x) < 1e-4)
        return left * (1.0 - x * (0.5 - x * (1.0 / 3.0 - 0.25 * x)));
    return storm_log((rate + bend * to) / speed) / bend;
}

/* The first side that a place gets to, 2 * axis + high, and when. */
static double drift_first(const struct imc_track *track,
                          const struct lane *lane, int *side_out)
{
    const struct imc_drift_cell *cell = drift_cell_of(track, lane->cell);
    const double *centre = &track->ddmc->centre[3 * (size_t)lane->cell];
    const double *half = &track->ddmc->half[3 * (size_t)lane->cell];
    double first = INFINITY;
    for (int d = 0; d < 3; d++) {
        double s = (lane->packet->position_cm[d] - centre[d]) / half[d], to;
        double seconds = drift_reach(cell->rate[d], cell->bend[d],
                                     fmin(fmax(s, -1.0), 1.0), &to);
        if (!(seconds < first))
            continue;
        first = seconds;
        *side_out = 2 * d + (to > 0.0);
    }
    return first;
}

/* A place moves with matter; to this side, if not -1. */
static void drift_move(const struct imc_track *track, struct lane *lane,
                       double seconds, int side)
{
    const struct imc_drift_cell *cell = drift_cell_of(track, lane->cell);
    const double *centre = &track->ddmc->centre[3 * (size_t)lane->cell];
    const double *half = &track->ddmc->half[3 * (size_t)lane->cell];
    for (int d = 0; d < 3; d++) {
        double *x = &lane->packet->position_cm[d], bent = seconds;
        double s = (*x - centre[d]) / half[d];
        if (fabs(cell->bend[d] * seconds) > 1e-12)
            bent = storm_expm1(cell->bend[d] * seconds) / cell->bend[d];
        s += (cell->rate[d] + cell->bend[d] * s) * bent;
        if (side >= 0 && side / 2 == d)
            s = side % 2 ? 1.0 : -1.0;
        *x = centre[d] + fmin(fmax(s, -1.0), 1.0) * half[d];
    }
}

/* ---- what a hop carries (DRIFT-5) --------------------------------------- */

/* Out of a cell, or into it: `push` along the normal, which is outwards; sign
 * is 1 if the cell gets that. */
static void drift_carry(const struct imc_track *track, storm_cell_idx cell,
                        const double normal[3], double push, double warm)
{
    struct imc_pushes *pushes = track->pushes;
    for (int d = 0; d < 3; d++)
        storm_exact_add(&pushes->hops[3 * (size_t)cell + (size_t)d],
                        push * normal[d], pushes->hop_unit);
    storm_exact_add(&pushes->warm[cell], warm, pushes->hop_unit);
}

/* The lane has come into its cell through a face; `normal` is that of the hop,
 * outwards where it began. */
static void drift_bring(const struct pass *pass, const struct lane *lane,
                        size_t face, const double normal[3])
{
    const struct imc_track *track = pass->imc;
    double push = lane->imc.weight * imc_ddmc_depth(track->ddmc, lane->cell,
                                                    face, lane->packet->group);
    drift_carry(track, lane->cell, normal, push,
                push * drift_face_of(track, lane->cell, face)->across);
    ddmc_count_half(pass, lane, lane->cell, face, -1.0);
}

/* The pressure of a stay on mirrors. */
static void drift_press(const struct imc_track *track, const struct lane *lane,
                        storm_exact path)
{
    size_t first = track->ddmc->first[lane->cell];
    size_t n = track->ddmc->first[lane->cell + 1] - first;
    double third = storm_exact_value(path, track->path_unit) / 3.0;
    for (size_t k = 0; k < n; k++) {
        const struct imc_ddmc_face *f = &track->ddmc->faces[first + k];
        double push = third * f->reach;
        if (f->side != DDMC_WALL || !f->is_mirror)
            continue;
        drift_carry(track, lane->cell, f->normal, -push,
                    push * drift_face_of(track, lane->cell, k)->across);
        for (int d = 0; d < 3; d++)
            storm_exact_add(&track->pushes->hop_walls[d], push * f->normal[d],
                            track->pushes->hop_unit);
    }
}

/* ---- in and out of lanes ------------------------------------------------- */

/* A packet that diffuses in its cell, or is on its way in. False: it flies. */
static bool drift_load(const struct pass *pass, struct lane *lane)
{
    const struct imc_track *track = pass->imc;
    struct storm_packet *packet = lane->packet;
    const double mark = packet->optical_depth;
    const bool flew = mark >= 0.0 || mark == IMC_PLACED ||
                      mark == IMC_DIFFUSES || mark == IMC_KNOCKS;
    if (flew &&
        !imc_ddmc_is_in(track->ddmc, lane->cell, imc_group_here(track, lane))) {
        if (mark == IMC_KNOCKS) /* at the wall where it was born */
            packet->optical_depth = 0.0;
        return false;
    }
    lane->imc.diffuses = true;
    lane->imc.depth = mark;
    if (flew)
        imc_push_lane(track, lane, 1);
    if (mark == IMC_KNOCKS)
        return true;
    if (flew) {
        drift_calm(track, lane);
        drift_settle(pass, lane,
                     mark == IMC_DIFFUSES ? IMC_DIFFUSES : IMC_PLACED);
        return true;
    }
    bool is_brought =
        mark == IMC_BRINGS || (mark == IMC_DRIFTS && track->ddmc->half != NULL);
    if (is_brought)
        ddmc_put_place(track->ddmc, lane->cell, packet);
    if (mark == IMC_ENTERS || mark == IMC_BRINGS) {
        const struct imc_ddmc_face *f =
            ddmc_face_of(track, lane->cell, packet->face);
        const double back[3] = {-f->normal[0], -f->normal[1], -f->normal[2]};
        drift_bring(pass, lane, packet->face,
                    mark == IMC_BRINGS ? back : packet->direction);
    }
    drift_settle(pass, lane,
                 is_brought || mark == IMC_STAYS_PLACED ? IMC_PLACED
                                                        : IMC_DIFFUSES);
    return true;
}

/* Leaves its lane. */
static void drift_park(const struct pass *pass, struct lane *lane,
                       storm_fate fate)
{
    struct storm_packet *packet = lane->packet;
    double u[4];
    if (lane->imc.depth == IMC_KNOCKS) {
        imc_push_out(pass->imc, lane, fate);
        return;
    }
    if (fate == STORM_FATE_SEND)
        return;
    if (lane->imc.depth != IMC_PLACED)
        memcpy(packet->position_cm,
               &pass->imc->ddmc->centre[3 * (size_t)lane->cell],
               sizeof packet->position_cm);
    if (fate == STORM_FATE_CENSUS) {
        if (pass->imc->n_groups > 1) {
            storm_packet_random(packet, pass->imc->seed, u);
            packet->group = ddmc_draw_group(pass->imc->ddmc, lane->cell, u[0]);
        }
        drift_rest(pass, lane);
        imc_push_out(pass->imc, lane, fate);
        if (lane->imc.depth != IMC_PLACED) {
            storm_packet_random(packet, pass->imc->seed, u);
            pass->mesh->ops->sample(pass->mesh, lane->cell, u,
                                    packet->position_cm);
        }
    }
    if (fate == STORM_FATE_CONTINUE)
        lane->imc.depth =
            lane->imc.depth == IMC_PLACED ? IMC_STAYS_PLACED : IMC_STAYS;
    packet->cell_idx = lane->cell;
    geom_enter(&pass->geom, &lane->geom, packet);
}

/* ---- faces --------------------------------------------------------------- */

/* Into the cell behind a face, where it diffuses: by a hop, or with matter.
 * Returns like imc_retire. */
static bool drift_enter(struct pass *pass, struct lane *lane, size_t face,
                        bool hops)
{
    const struct imc_track *track = pass->imc;
    const struct imc_ddmc *ddmc = track->ddmc;
    const struct imc_ddmc_face *f = ddmc_face_of(track, lane->cell, face);
    struct storm_packet *packet = lane->packet;
    bool brings = ddmc->half != NULL && lane->imc.depth == IMC_PLACED;
    ddmc_count_surface(pass, lane, face);
    if (hops) {
        double push = lane->imc.weight * ddmc_behind(track, lane, face);
        drift_carry(track, lane->cell, f->normal, -push,
                    push * drift_face_of(track, lane->cell, face)->across);
        ddmc_count_half(pass, lane, lane->cell, face, 1.0);
    }
    if (brings)
        ddmc_take_place(ddmc, lane->cell, packet);
    for (int d = 0; d < 3 && brings && !hops; d++)
        if (fabs(f->normal[d]) > 0.5)
            packet->direction[d] = -f->normal[d];
    double mark = brings ? IMC_PLACED : IMC_DIFFUSES;
    if (f->side == DDMC_LOCAL) {
        lane->cell = f->next;
        if (brings)
            ddmc_put_place(ddmc, lane->cell, packet);
        if (hops)
            drift_bring(pass, lane, (size_t)f->back, f->normal);
        drift_settle(pass, lane, mark);
        imc_prefetch(pass, lane->cell, packet);
        return true;
    }
    const struct imc_ddmc_ghost *ghost = &ddmc->ghosts[f->next];
    packet->cell = ghost->tag;
    packet->cell_idx = ghost->where.idx;
    packet->face = (uint32_t)f->back;
    if (!brings)
        memcpy(packet->direction, f->normal, sizeof packet->direction);
    lane->imc.depth = !hops ? IMC_DRIFTS : brings ? IMC_BRINGS : IMC_ENTERS;
    pass->outcomes[lane->i_packet].rank = ghost->where.rank;
    bool more = imc_retire(pass, lane, STORM_FATE_SEND);
    memcpy(packet->position_cm, &ddmc->ghost_centre[3 * (size_t)f->next],
           sizeof packet->position_cm);
    return more;
}

/* Does a packet in flight diffuse behind a face of its cell, in the group that
 * it has there? */
static bool drift_is_in_behind(const struct imc_track *track,
                               const struct lane *lane, size_t face)
{
    const struct imc_ddmc_face *f = ddmc_face_of(track, lane->cell, face);
    size_t at = track->ddmc->first[lane->cell] + face, group = 0;
    if (f->side == DDMC_WALL)
        return false;
    if (track->has_photons) {
        const struct imc_drift_row *row =
            &(f->side == DDMC_LOCAL ? track->drift->rows
                                    : track->drift->ghosts)[f->next];
        group =
            imc_own_group(track, lane,
                          imc_doppler(&row->motion, lane->packet->direction));
    }
    return track->ddmc->behind[at * track->n_groups + group] >= 0.0;
}

/* A packet in flight has come to a side of its cell. Returns like
 * imc_retire. */
static bool drift_cross(struct pass *pass, struct lane *lane, uint32_t side)
{
    const struct imc_track *track = pass->imc;
    const struct storm_outcome *outcome = &pass->outcomes[lane->i_packet];
    storm_cell_idx from = lane->cell;
    size_t face = geom_face(&lane->geom, side);
    int32_t next = geom_next(&pass->geom, &lane->geom, from, side);
    if (drift_is_in_behind(track, lane, face)) { /* DRIFT-4 */
        lane->imc.diffuses = true;
        lane->imc.depth = IMC_KNOCKS;
        lane->packet->face = (uint32_t)ddmc_face_of(track, from, face)->back;
    }
    imc_count_face(pass, lane, next, side);
    if (next < 0) {
        bool more = imc_border_moving(pass, lane, next, side);
        /* Sent back by a part of a wall; or by a mirror, with another group in
         * the frame of matter. */
        if (outcome->fate == STORM_FATE_CONTINUE && lane->cell == from &&
            !lane->imc.diffuses &&
            imc_ddmc_is_in(track->ddmc, from, imc_group_here(track, lane))) {
            lane->imc.diffuses = true;
            lane->imc.depth = IMC_KNOCKS;
            lane->packet->face = (uint32_t)face;
        }
        return more;
    }
    imc_count_event(track, from, STORM_IMC_CROSSING);
    imc_push_lane(track, lane, -1);
    geom_cross(&pass->geom, &lane->geom, side, next);
    lane->cell = next;
    imc_push_lane(track, lane, 1);
    geom_prefetch(&pass->geom, next);
    imc_prefetch(pass, next, lane->packet);
    return true;
}

/* A packet on a face of its cell flies out of it; its place and direction are
 * the packet's. Returns like imc_retire. */
static bool drift_out(struct pass *pass, struct lane *lane)
{
    struct storm_packet *packet = lane->packet;
    double u[4];
    uint32_t side;
    storm_packet_random(packet, pass->imc->seed, u);
    lane->imc.diffuses = false;
    lane->imc.depth = -storm_log(u[0]);
    packet->cell_idx = lane->cell;
    geom_enter(&pass->geom, &lane->geom, packet);
    (void)lanes_nearest(lane, &side);
    geom_touch(&lane->geom, side);
    return drift_cross(pass, lane, side);
}

/* Out through a face behind which it flies: as what leaks does, or as what
 * matter carries. `is_at` says that it is there. Returns like imc_retire. */
static bool drift_fly(struct pass *pass, struct lane *lane, size_t face,
                      bool leaks, bool is_at)
{
    const struct imc_track *track = pass->imc;
    const struct imc_motion *m = &track->motion[lane->cell];
    const struct imc_ddmc_face *f = ddmc_face_of(track, lane->cell, face);
    struct storm_packet *packet = lane->packet;
    double u[4], n0[3];
    if (!is_at) {
        storm_packet_random(packet, track->seed, u);
        pass->mesh->ops->sample_face(pass->mesh, lane->cell, (int)face, u,
                                     packet->position_cm);
    }
    if (leaks)
        ddmc_count_half(pass, lane, lane->cell, face, 1.0);
    for (int i = 0; i < DDMC_MAX_TRIES; i++) {
        if (leaks) {
            ddmc_turn(pass, packet, f->normal,
                      imc_ddmc_depth(track->ddmc, lane->cell, face,
                                     packet->group),
                      true);
        } else {
            storm_packet_random(packet, track->seed, u);
            imc_about(f->normal, u[0], u[1], packet->direction);
        }
        memcpy(n0, packet->direction, sizeof n0);
        (void)imc_boost(m, n0, packet->direction);
        if (drift_dot(packet->direction, f->normal) > 0.0)
            break;
    }
    if (!(drift_dot(packet->direction, f->normal) > 0.0)) {
        drift_settle(pass, lane, IMC_DIFFUSES);
        return true;
    }
    drift_leave(track, lane, n0);
    return drift_out(pass, lane);
}

/* eq. (M8): what is sent back from a face, in the frame of matter. In that of
 * the mesh it leads out of the cell, which (M8) says but for terms of beta^2.
 * False: in no direction, and the packet has that in which it came. */
static bool drift_back(const struct pass *pass, struct lane *lane, size_t face,
                       double n0_out[3])
{
    const struct imc_track *track = pass->imc;
    const struct imc_ddmc_face *f = ddmc_face_of(track, lane->cell, face);
    struct storm_packet *packet = lane->packet;
    const struct imc_motion *m = &track->motion[lane->cell];
    double own = fabs(drift_face_of(track, lane->cell, face)->own), u[4];
    double depth = imc_ddmc_depth(track->ddmc, lane->cell, face, packet->group);
    double came[3];
    memcpy(came, packet->direction, sizeof came);
    for (int i = 0; i < DDMC_MAX_TRIES; i++) {
        ddmc_turn(pass, packet, f->normal, depth, false);
        storm_packet_random(packet, track->seed, u);
        double mu = drift_dot(packet->direction, f->normal);
        double part = mu * (1.0 - imc_ddmc_taken(depth, mu));
        if (!(u[0] * part < part - own))
            continue;
        memcpy(n0_out, packet->direction, 3 * sizeof *n0_out);
        (void)imc_boost(m, n0_out, packet->direction);
        if (drift_dot(packet->direction, f->normal) > 0.0)
            return true;
    }
    memcpy(packet->direction, came, sizeof came);
    return false;
}

/* The packet of a lane, in flight, has crossed a face of its cell: it is taken
 * in or sent back, eqs. (M7) and (M8). Returns like imc_retire. */
static bool drift_knock(struct pass *pass, struct lane *lane)
{
    const struct imc_track *track = pass->imc;
    struct storm_packet *packet = lane->packet;
    const struct imc_motion *m = &track->motion[lane->cell];
    size_t face = packet->face;
    const struct imc_ddmc_face *f = ddmc_face_of(track, lane->cell, face);
    double out = drift_face_of(track, lane->cell, face)->own, u[4], n0[3];
    packet->group = imc_group_here(track, lane);
    double depth = imc_ddmc_depth(track->ddmc, lane->cell, face, packet->group);
    double along = drift_dot(m->u, packet->direction);
    double doppler = imc_doppler(m, packet->direction);
    double mu =
        -(drift_dot(packet->direction, f->normal) -
          (1.0 - along / (m->gamma + 1.0)) * drift_dot(m->u, f->normal)) /
        doppler;
    double carried = 2.0 * fmax(-out, 0.0);
    double taken = fmax(mu, 0.0) * imc_ddmc_taken(depth, fmax(mu, 0.0));
    geom_leave(&lane->geom, packet);
    storm_packet_random(packet, track->seed, u);
    bool is_in = !(u[0] * (mu - out) >= taken + carried);
    if (!is_in && drift_back(pass, lane, face, n0)) {
        double boost = imc_boost(m, n0, packet->direction);
        imc_count_event(track, lane->cell, STORM_IMC_REFLECTION);
        drift_reweigh(track, lane, lane->imc.weight * doppler * boost);
        if (track->has_photons)
            imc_set_photon(track, lane,
                           *imc_photon_kev(lane) * doppler * boost);
        return drift_out(pass, lane);
    }
    drift_calm(track, lane);
    bool is_carried = u[1] * (taken + carried) < carried;
    bool is_placed = is_carried && drift_cell_of(track, lane->cell)->has_place;
    double mark = is_placed ? IMC_PLACED : IMC_DIFFUSES;
    if (is_placed) {
        storm_packet_random(packet, track->seed, u);
        pass->mesh->ops->sample_face(pass->mesh, lane->cell, (int)face, u,
                                     packet->position_cm);
    } else if (!is_carried) {
        ddmc_count_half(pass, lane, lane->cell, face, -1.0);
        mark = ddmc_draw_entry(pass, lane->cell, face, packet);
    }
    drift_settle(pass, lane, mark);
    return true;
}

/* ---- stays --------------------------------------------------------------- */

/* FRAME-4, between events: children stay where it does, or knock as well. */
static void drift_limit(const struct pass *pass, struct lane *lane)
{
    struct imc_pushes *pushes = pass->imc->pushes;
    struct storm_packet child = *lane->packet;
    double old = lane->imc.weight;
    bool is_placed = lane->imc.depth == IMC_PLACED;
    if (STORM_LIKELY(old <= pushes->split_erg))
        return;
    child.cell = storm_mesh_part_tag(pass->mesh->part, lane->cell);
    child.cell_idx = lane->cell;
    child.time_left_s = lane->time_left_s;
    child.optical_depth = lane->imc.depth;
    if (lane->imc.depth == IMC_KNOCKS) {
        geom_rest(&lane->geom, &child);
    } else {
        child.optical_depth = is_placed ? IMC_STAYS_PLACED : IMC_STAYS;
        if (!is_placed)
            memcpy(child.position_cm,
                   &pass->imc->ddmc->centre[3 * (size_t)lane->cell],
                   sizeof child.position_cm);
    }
    double part = imc_divide(pass, lane, &child, old);
    pushes->is_beyond |= !(part > 0.0);
    if (part > 0.0)
        drift_reweigh(pass->imc, lane, part);
}

/* The logarithm of what compression does to a weight in a stay (FRAME-4). */
static const double drift_max_growth = 0.69;

/* The work of expansion, eq. (M9). */
static void drift_expand(const struct imc_track *track, struct lane *lane,
                         double expand, double seconds)
{
    if (expand != 0.0)
        drift_reweigh(track, lane,
                      lane->imc.weight * storm_exp(-expand * seconds));
}

/* In the cell for `seconds`: absorption, work, tallies. */
static void drift_stay(const struct pass *pass, struct lane *lane,
                       double seconds, bool analogue)
{
    const struct imc_track *track = pass->imc;
    const struct imc_drift_cell *cell = drift_cell_of(track, lane->cell);
    drift_expand(track, lane, cell->expand, 0.5 * seconds);
    storm_exact path = imc_spend(track, lane, seconds, analogue);
    drift_expand(track, lane, cell->expand, 0.5 * seconds);
    track->methods->path[IMC_DIFFUSED] += path;
    track->methods->events[IMC_DIFFUSED]++;
    ddmc_count_stay(track, lane, path);
    if (cell->has_mirror)
        drift_press(track, lane, path);
    if (track->moments == NULL || track->moments->flux == NULL)
        return;
    double length = storm_exact_value(path, track->path_unit);
    for (int d = 0; d < 3; d++)
        storm_exact_add(&track->moments
                             ->flux[3 * (size_t)lane->cell + (size_t)d],
                        length * cell->flux[d], track->moments->flux_unit);
}

/* The face through which a share u of what leaves a cell with matter does. */
static size_t drift_which(const struct imc_track *track, storm_cell_idx cell,
                          double u)
{
    size_t first = track->ddmc->first[cell], face = 0;
    size_t n = track->ddmc->first[cell + 1] - first;
    double left = u * drift_cell_of(track, cell)->leave;
    while (face + 1 < n && !(left < track->drift->faces[first + face].leave))
        face++;
    return face;
}

/* The group that leaves through a face with matter: by its share; in cells that
 * are no boxes also by the velocity that it has there. */
static int32_t drift_carried(const struct imc_track *track, storm_cell_idx cell,
                             size_t face, double u)
{
    const struct imc_ddmc *ddmc = track->ddmc;
    const struct imc_drift_face *f = drift_face_of(track, cell, face);
    const size_t n = ddmc->n_groups, at = ddmc->first[cell] + face;
    const double *share = &ddmc->share[(size_t)cell * n];
    double ride = fmax(f->ride, 0.0);
    double past = fmax(f->own * track->light_cm_s, 0.0);
    if (ddmc->half != NULL)
        ride = past = 1.0;
    double left = u * (f->share * ride + (1.0 - f->share) * past);
    int32_t last = 0;
    for (size_t g = 0; g < n; g++) {
        double part = ddmc->behind[at * n + g] >= 0.0 ? ride : past;
        if (!(share[g] * part > 0.0))
            continue;
        last = (int32_t)g;
        left -= share[g] * part;
        if (left < 0.0)
            break;
    }
    return last;
}

/* Through a face, into what is there. Returns like imc_retire. */
static bool drift_through(struct pass *pass, struct lane *lane, size_t face,
                          bool hops, bool is_at)
{
    const struct imc_track *track = pass->imc;
    const struct imc_ddmc_face *f = ddmc_face_of(track, lane->cell, face);
    if (track->n_groups > 1) {
        double u[4];
        storm_packet_random(lane->packet, track->seed, u);
        lane->packet->group =
            hops ? ddmc_leaving(track->ddmc, lane->cell, face, u[0])
                 : drift_carried(track, lane->cell, face, u[0]);
    }
    if (f->is_mirror || ddmc_behind(pass->imc, lane, face) >= 0.0)
        return drift_enter(pass, lane, face, hops);
    return drift_fly(pass, lane, face, hops, is_at);
}

/* Effective scattering out of the ensemble: flies in the cell. */
static bool drift_change(struct pass *pass, struct lane *lane)
{
    const struct imc_track *track = pass->imc;
    struct storm_packet *packet = lane->packet;
    double u[4], n0[3];
    storm_packet_random(packet, track->seed, u);
    packet->group = ddmc_draw_flying(track, lane->cell, u[0]);
    packet->cell_idx = lane->cell;
    imc_draw_place(pass, packet, lane->cell, lane->imc.depth);
    storm_isotropic(u[1], u[2], n0);
    drift_leave(track, lane, n0);
    imc_count_collision(track, lane);
    lane->imc.depth = -storm_log(u[3]);
    lane->imc.diffuses = false;
    geom_enter(&pass->geom, &lane->geom, packet);
    return true;
}

/* One event of a packet that diffuses. Returns like imc_retire. */
static bool drift_hop(struct pass *pass, struct lane *lane)
{
    const struct imc_track *track = pass->imc;
    drift_limit(pass, lane);
    if (lane->imc.depth == IMC_KNOCKS)
        return drift_knock(pass, lane);
    const struct imc_drift_cell *cell = drift_cell_of(track, lane->cell);
    const struct imc_ddmc_cell *leaks = &track->ddmc->cells[lane->cell];
    const double light = track->light_cm_s * cell->slow;
    const double change = leaks->change * light;
    double leak = STORM_UNLIKELY(leaks->has_skin)
                      ? ddmc_leak_all(track->ddmc, lane)
                      : leaks->leak;
    double out = leak * light + change + cell->leave;
    double u[4], seconds = lane->time_left_s;
    int side = -1;
    enum { ENDS, STAYS, LEAVES, ARRIVES, ABSORBED } event = ENDS;
    storm_packet_random(lane->packet, track->seed, u);
    lane->imc.absorb_s = leaks->absorb * light;
    bool analogue = lane->imc.weight < lane->imc.light_weight;
    double leaves = out > 0.0 ? -storm_log(u[0]) / out : INFINITY;
    double arrives =
        cell->has_place ? drift_first(track, lane, &side) : INFINITY;
    double absorbed = analogue && lane->imc.absorb_s > 0.0
                          ? -storm_log(u[1]) / lane->imc.absorb_s
                          : INFINITY;
    if (-cell->expand * seconds > drift_max_growth) {
        seconds = -drift_max_growth / cell->expand;
        event = STAYS;
    }
    if (leaves < seconds) {
        seconds = leaves;
        event = LEAVES;
    }
    if (arrives < seconds) {
        seconds = arrives;
        event = ARRIVES;
    }
    if (absorbed < seconds) {
        seconds = absorbed;
        event = ABSORBED;
    }
    drift_stay(pass, lane, seconds, analogue);
    if (event == ABSORBED)
        return imc_absorb(pass, lane);
    if (!(lane->imc.weight > 0.0))
        return imc_retire(pass, lane, STORM_FATE_ABSORBED);
    if (cell->has_place)
        drift_move(track, lane, seconds, event == ARRIVES ? side : -1);
    if (event == ENDS)
        return imc_retire(pass, lane, STORM_FATE_CENSUS);
    if (event == STAYS)
        return true;
    if (event == ARRIVES)
        return drift_through(pass, lane, cell->face[side], false, true);
    double which = u[2] * out;
    if (which < cell->leave)
        return drift_through(pass, lane, drift_which(track, lane->cell, u[3]),
                             false, false);
    if (which < cell->leave + change)
        return drift_change(pass, lane);
    return drift_through(pass, lane, ddmc_which(track->ddmc, lane, u[3]), true,
                         false);
}

#endif /* STORM_PHYSICS_IMC_DRIFT_KERNEL_H */
