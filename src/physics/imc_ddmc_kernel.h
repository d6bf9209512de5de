/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets that diffuse, for imc_kernel.h, which includes it among its events.
 * What a lane has of geometry is not theirs: ddmc_park sets it when they leave
 * their lane, ddmc_fly when they fly.
 */
#ifndef STORM_PHYSICS_IMC_DDMC_KERNEL_H
#define STORM_PHYSICS_IMC_DDMC_KERNEL_H

/* Tries to find a cosine: two of three fail at worst. */
enum { DDMC_MAX_TRIES = 100 };

static const struct imc_ddmc_face *
ddmc_face_of(const struct imc_track *track, storm_cell_idx cell, size_t face)
{
    return &track->ddmc->faces[track->ddmc->first[cell] + face];
}

/* Mean free paths behind a face, for the packet of a lane; negative: it flies
 * there. */
LANES_INLINE double ddmc_behind(const struct imc_track *track,
                                const struct lane *lane, size_t face)
{
    size_t at = track->ddmc->first[lane->cell] + face;
    return track->ddmc
        ->behind[at * track->n_groups + (size_t)lane->packet->group];
}

/* The packet of the lane diffuses in its cell from now on. */
static bool ddmc_settle(struct lane *lane, double mark)
{
    lane->imc.diffuses = true;
    lane->imc.depth = mark;
    return true;
}

/* A direction on the side of the normal: out of a cell, p(mu) ~ mu P(mu), or
 * back from it, p(mu) ~ mu (1 - P(mu)), eq. (D5). */
static void ddmc_turn(const struct pass *pass, struct storm_packet *packet,
                      const double normal[3], double depth, bool is_out)
{
    /* From some cosine on none is sent back. */
    double most = is_out ? 1.0 : imc_ddmc_all_taken(depth);
    double max = imc_ddmc_taken(depth, is_out ? 1.0 : 0.0);
    double u[4], mu;
    max = is_out ? max : 1.0 - max;
    for (int i = 0;; i++) {
        storm_packet_random(packet, pass->imc->seed, u);
        mu = most * (u[0] > u[1] ? u[0] : u[1]);
        double p = imc_ddmc_taken(depth, mu);
        if (u[2] * max < (is_out ? p : 1.0 - p) || i == DDMC_MAX_TRIES)
            break;
    }
    imc_about(normal, mu, u[3], packet->direction);
}

/* ---- moments (MOMENTS-1) ------------------------------------------------- */

/* Between the point of a cell and a face: out is 1, in is -1. */
static void ddmc_count_half(const struct pass *pass, const struct lane *lane,
                            storm_cell_idx cell, size_t face, double sign)
{
    const struct imc_track *track = pass->imc;
    const struct imc_ddmc_face *f = ddmc_face_of(track, cell, face);
    double weight = sign * lane->imc.weight;
    if (track->moments == NULL || !track->moments->is_directed)
        return;
    double depth = imc_ddmc_depth(track->ddmc, cell, face, lane->packet->group);
    imc_moments_hop(track, cell, f->normal, weight * f->distance_cm,
                    weight * depth);
}

/* A group of the ensemble of a cell, by its share. */
static int32_t ddmc_draw_group(const struct imc_ddmc *ddmc, storm_cell_idx cell,
                               double u)
{
    const double *share = &ddmc->share[(size_t)cell * ddmc->n_groups];
    int32_t group = 0;
    for (size_t g = 0; g < ddmc->n_groups; g++) {
        if (!(share[g] > 0.0))
            continue;
        group = (int32_t)g;
        u -= share[g];
        if (u < 0.0)
            break;
    }
    return group;
}

/* Time in a cell: its group is one of the ensemble's. */
static void ddmc_count_stay(const struct imc_track *track,
                            const struct lane *lane, storm_exact path)
{
    static const double no_move[3] = {0.0, 0.0, 0.0};
    const struct imc_moments *moments = track->moments;
    size_t n = track->n_groups, group = 0;
    imc_count_event(track, lane->cell, STORM_IMC_DIFFUSION);
    if (moments == NULL)
        return;
    if (moments->groups != NULL && n > 1) {
        double u[4];
        storm_random(track->seed, STORM_STREAM_TALLY, lane->packet->id,
                     lane->packet->draws, u);
        group = (size_t)imc_tally_group(track, lane->cell, lane->packet,
                                        ddmc_draw_group(track->ddmc, lane->cell,
                                                        u[0]));
    }
    if (moments->groups != NULL)
        on_add(&moments->groups[(size_t)lane->cell * n + group], path);
    if (moments->is_directed)
        imc_moments_walk(track, lane->cell, path, no_move, 0.0);
}

/* A hop through a face that is part of a tally's surface: at a point of it, in
 * a direction that packets have there. Draws for it change no history. */
static void ddmc_count_surface(const struct pass *pass, const struct lane *lane,
                               size_t face)
{
    const struct imc_track *track = pass->imc;
    const struct imc_surfaces *s = track->surfaces;
    const struct imc_ddmc_face *f = ddmc_face_of(track, lane->cell, face);
    if (!ON_HOST || s == NULL || f->side == DDMC_WALL)
        return;
    const unsigned char *from = &s->own[(size_t)lane->cell * s->n];
    const unsigned char *to = f->side == DDMC_LOCAL
                                  ? &s->own[(size_t)f->next * s->n]
                                  : &s->ghosts[(size_t)f->next * s->n];
    if (memcmp(from, to, s->n) == 0)
        return;
    struct storm_packet at = *lane->packet;
    double u[4];
    storm_random(track->seed, STORM_STREAM_TALLY, at.id, at.draws, u);
    pass->mesh->ops->sample_face(pass->mesh, lane->cell, (int)face, u,
                                 at.position_cm);
    imc_about(f->normal, sqrt(u[2]), u[3], at.direction);
    at.time_left_s = lane->time_left_s;
    at.weight_erg = lane->imc.weight;
    at.group = imc_tally_group(track, lane->cell, &at, at.group);
    imc_surface_cross(track, &at, from, to);
}

/* ---- places in boxes (DDMC-5) ------------------------------------------- */

/* Into the packet's direction, which has no other meaning while it diffuses. */
static void ddmc_take_place(const struct imc_ddmc *ddmc, storm_cell_idx cell,
                            struct storm_packet *packet)
{
    const double *centre = &ddmc->centre[3 * (size_t)cell];
    const double *half = &ddmc->half[3 * (size_t)cell];
    for (int d = 0; d < 3; d++) {
        double part = (packet->position_cm[d] - centre[d]) / half[d];
        packet->direction[d] = fmin(fmax(part, -1.0), 1.0);
    }
}

static void ddmc_put_place(const struct imc_ddmc *ddmc, storm_cell_idx cell,
                           struct storm_packet *packet)
{
    const double *centre = &ddmc->centre[3 * (size_t)cell];
    const double *half = &ddmc->half[3 * (size_t)cell];
    for (int d = 0; d < 3; d++)
        packet->position_cm[d] = centre[d] + packet->direction[d] * half[d];
}

/* A packet is taken in through a face: in the cells of DDMC-6 where it leaks
 * most. Returns its mark. */
static double ddmc_draw_entry(const struct pass *pass, storm_cell_idx cell,
                              size_t face, struct storm_packet *packet)
{
    const struct imc_ddmc *ddmc = pass->imc->ddmc;
    const struct imc_ddmc_face *f = ddmc_face_of(pass->imc, cell, face);
    double skin = ddmc->skin[ddmc->first[cell] + face], u[4];
    if (!(skin > 0.0))
        return IMC_DIFFUSES;
    storm_packet_random(packet, pass->imc->seed, u);
    imc_sample_face(pass, cell, face, f->normal, u, packet->position_cm);
    double part = skin * storm_expm1(u[3] * storm_log((2.0 + skin) / skin));
    for (int d = 0; d < 3; d++)
        packet->position_cm[d] -= part * f->distance_cm * f->normal[d];
    return IMC_PLACED;
}

/* Leakage of a lane's packet through a face, 1/cm. */
static double ddmc_leak_of(const struct imc_ddmc *ddmc, const struct lane *lane,
                           size_t face)
{
    size_t first = ddmc->first[lane->cell];
    const struct imc_ddmc_face *f = &ddmc->faces[first + face];
    double leak = f->leak - (face > 0 ? f[-1].leak : 0.0), inside = 0.0;
    double skin = ddmc->skin[first + face];
    if (!(skin > 0.0) || lane->imc.depth != IMC_PLACED)
        return leak;
    const double *centre = &ddmc->centre[3 * (size_t)lane->cell];
    for (int d = 0; d < 3; d++)
        inside += (centre[d] - lane->packet->position_cm[d]) * f->normal[d];
    return leak * imc_ddmc_near(skin, fmax(1.0 + inside / f->distance_cm, 0.0));
}

/* The same, through all of them. */
static double ddmc_leak_all(const struct imc_ddmc *ddmc,
                            const struct lane *lane)
{
    size_t n = ddmc->first[lane->cell + 1] - ddmc->first[lane->cell];
    double leak = 0.0;
    for (size_t face = 0; face < n; face++)
        leak += ddmc_leak_of(ddmc, lane, face);
    return leak;
}

/* ---- in and out of lanes ------------------------------------------------- */

/* A packet that was refused at the wall where it was born. */
static void ddmc_refuse(const struct pass *pass, struct lane *lane,
                        const struct imc_ddmc_face *face,
                        struct storm_outcome *outcome_out)
{
    geom_enter(&pass->geom, &lane->geom, lane->packet);
    geom_rest(&lane->geom, lane->packet);
    imc_book(pass, lane, face->next);
    outcome_out->fate = STORM_FATE_ESCAPED;
    outcome_out->events = 0;
}

/* A packet in a cell and group that diffuse, DDMC-4. */
static bool ddmc_load(const struct pass *pass, struct lane *lane,
                      struct storm_outcome *outcome_out)
{
    struct storm_packet *packet = lane->packet;
    double mark = packet->optical_depth, u[4], mu = 0.0;
    bool is_placed = mark >= 0.0 || mark == IMC_PLACED || mark == IMC_BRINGS;
    (void)ddmc_settle(lane, is_placed ? IMC_PLACED : IMC_DIFFUSES);
    if (mark == IMC_BRINGS)
        ddmc_put_place(pass->imc->ddmc, lane->cell, packet);
    if (mark == IMC_ENTERS || mark == IMC_BRINGS)
        ddmc_count_half(pass, lane, lane->cell, packet->face, -1.0);
    if (mark == IMC_ENTERS)
        lane->imc.depth =
            ddmc_draw_entry(pass, lane->cell, packet->face, packet);
    if (mark != IMC_KNOCKS)
        return true;
    const struct imc_ddmc_face *face =
        ddmc_face_of(pass->imc, lane->cell, packet->face);
    double depth = imc_ddmc_depth(pass->imc->ddmc, lane->cell, packet->face,
                                  packet->group);
    for (int d = 0; d < 3; d++)
        mu -= packet->direction[d] * face->normal[d];
    storm_packet_random(packet, pass->imc->seed, u);
    if (u[0] < imc_ddmc_taken(depth, mu)) {
        ddmc_count_half(pass, lane, lane->cell, packet->face, -1.0);
        lane->imc.depth =
            ddmc_draw_entry(pass, lane->cell, packet->face, packet);
        return true;
    }
    ddmc_turn(pass, packet, face->normal, depth, false);
    ddmc_refuse(pass, lane, face, outcome_out);
    return false;
}

/* A place for a packet that leaves its lane, and a group of its own if it
 * rests: it may fly from there. The place of one which is sent is not here. */
static void ddmc_park(const struct pass *pass, struct lane *lane,
                      storm_fate fate)
{
    struct storm_packet *packet = lane->packet;
    double u[4];
    bool is_placed = lane->imc.depth == IMC_PLACED;
    if (fate == STORM_FATE_SEND)
        return;
    if (!is_placed)
        memcpy(packet->position_cm,
               &pass->imc->ddmc->centre[3 * (size_t)lane->cell],
               sizeof packet->position_cm);
    if (fate == STORM_FATE_CENSUS) {
        storm_packet_random(packet, pass->imc->seed, u);
        if (!is_placed)
            imc_sample(pass, lane->cell, u, packet->position_cm);
        if (pass->imc->n_groups > 1)
            packet->group = ddmc_draw_group(pass->imc->ddmc, lane->cell, u[3]);
    }
    packet->cell_idx = lane->cell;
    geom_enter(&pass->geom, &lane->geom, packet);
}

/* ---- hops ---------------------------------------------------------------- */

/* Into the cell behind a face, where it diffuses. Returns like imc_retire. */
static bool ddmc_enter(struct pass *pass, struct lane *lane, size_t face)
{
    const struct imc_ddmc *ddmc = pass->imc->ddmc;
    const struct imc_ddmc_face *f = ddmc_face_of(pass->imc, lane->cell, face);
    struct storm_packet *packet = lane->packet;
    bool brings = ddmc->half != NULL && lane->imc.diffuses &&
                  lane->imc.depth == IMC_PLACED;
    (void)ddmc_settle(lane, brings ? IMC_PLACED : IMC_DIFFUSES);
    if (brings)
        ddmc_take_place(ddmc, lane->cell, packet);
    if (f->side == DDMC_LOCAL) {
        lane->cell = f->next;
        if (brings)
            ddmc_put_place(ddmc, lane->cell, packet);
        else
            lane->imc.depth =
                ddmc_draw_entry(pass, lane->cell, (size_t)f->back, packet);
        ddmc_count_half(pass, lane, lane->cell, (size_t)f->back, -1.0);
        imc_prefetch(pass, lane->cell, lane->packet);
        return true;
    }
    const struct imc_ddmc_ghost *ghost = &ddmc->ghosts[f->next];
    packet->cell = ghost->tag;
    packet->cell_idx = ghost->where.idx;
    packet->face = (uint32_t)f->back;
    lane->imc.depth = brings ? IMC_BRINGS : IMC_ENTERS;
    pass->outcomes[lane->i_packet].rank = ghost->where.rank;
    bool more = imc_retire(pass, lane, STORM_FATE_SEND);
    memcpy(packet->position_cm, &ddmc->ghost_centre[3 * (size_t)f->next],
           sizeof packet->position_cm);
    return more;
}

/* Out through a face, to fly behind it. The part of a wall that is a mirror
 * keeps it. Returns like imc_retire. */
static bool ddmc_fly(struct pass *pass, struct lane *lane, size_t face)
{
    const struct imc_track *track = pass->imc;
    const struct imc_ddmc *ddmc = track->ddmc;
    const double *normal = ddmc_face_of(track, lane->cell, face)->normal;
    struct storm_packet *packet = lane->packet;
    double u[4];
    uint32_t side;
    storm_packet_random(packet, track->seed, u);
    imc_sample_face(pass, lane->cell, face, normal, u, packet->position_cm);
    ddmc_turn(pass, packet, normal,
              imc_ddmc_depth(ddmc, lane->cell, face, packet->group), true);
    packet->cell_idx = lane->cell;
    geom_enter(&pass->geom, &lane->geom, packet);
    (void)lanes_nearest(lane, &side);
    geom_touch(&lane->geom, side);
    int32_t next = geom_next(&pass->geom, &lane->geom, lane->cell, side);
    if (next < 0) {
        struct storm_mesh_exit exit = geom_exit(&pass->geom, next);
        if (imc_is_mirror(pass, lane, &exit))
            return ddmc_settle(lane, IMC_DIFFUSES);
    }
    /* Rounding may find a face beside this one. */
    size_t found = geom_face(&lane->geom, side);
    if (ddmc_behind(track, lane, found) >= 0.0) {
        imc_count_face(pass, lane, next, side);
        return ddmc_enter(pass, lane, found);
    }
    lane->imc.diffuses = false;
    lane->imc.depth = -storm_log(u[2]);
    ddmc_count_half(pass, lane, lane->cell, found, 1.0);
    imc_count_face(pass, lane, next, side);
    if (next < 0)
        return imc_border(pass, lane, next, side);
    geom_cross(&pass->geom, &lane->geom, side, next);
    lane->cell = next;
    imc_prefetch(pass, next, lane->packet);
    return true;
}

/* The group that leaves through a face, of those of the ensemble: by its share
 * times its leakage. */
static int32_t ddmc_leaving(const struct imc_ddmc *ddmc, storm_cell_idx cell,
                            size_t face, double u)
{
    size_t n = ddmc->n_groups, at = ddmc->first[cell] + face;
    const struct imc_ddmc_face *f = &ddmc->faces[at];
    const double *share = &ddmc->share[(size_t)cell * n];
    double before = face > 0 ? f[-1].leak : 0.0;
    double left = u * (f->leak - before);
    int32_t last = 0;
    for (size_t g = 0; g < n; g++) {
        if (!(share[g] > 0.0))
            continue;
        last = (int32_t)g;
        left -= share[g] * imc_ddmc_leak(f->reach,
                                         imc_ddmc_depth(ddmc, cell, face, last),
                                         ddmc->behind[at * n + g]);
        if (left < 0.0)
            break;
    }
    return last;
}

/* A group out of those that fly, by its share in emission. */
static int32_t ddmc_draw_flying(const struct imc_track *track,
                                storm_cell_idx cell, double u)
{
    size_t n = track->n_groups;
    const double *share = &track->ddmc->share[(size_t)cell * n];
    const double *spectrum = &track->spectrum[(size_t)cell * n];
    double flown = 0.0, below = 0.0;
    int32_t group = 0;
    for (size_t g = 0; g < n; g++) {
        flown += share[g] > 0.0 ? 0.0 : spectrum[g] - below;
        below = spectrum[g];
    }
    double left = u * flown;
    below = 0.0;
    for (size_t g = 0; g < n; g++) {
        double part = share[g] > 0.0 ? 0.0 : spectrum[g] - below;
        below = spectrum[g];
        if (!(part > 0.0))
            continue;
        group = (int32_t)g;
        left -= part;
        if (left < 0.0)
            break;
    }
    return group;
}

/* Effective scattering out of the ensemble: flies in the cell. */
static bool ddmc_change(struct pass *pass, struct lane *lane)
{
    const struct imc_track *track = pass->imc;
    struct storm_packet *packet = lane->packet;
    double u[4];
    storm_packet_random(packet, track->seed, u);
    packet->group = ddmc_draw_flying(track, lane->cell, u[0]);
    packet->cell_idx = lane->cell;
    imc_draw_place(pass, packet, lane->cell, lane->imc.depth);
    imc_draw_depth(pass, packet);
    lane->imc.depth = packet->optical_depth;
    lane->imc.diffuses = false;
    geom_enter(&pass->geom, &lane->geom, packet);
    return true;
}

/* The face through which a share u of what leaks does. */
LANES_INLINE size_t ddmc_which(const struct imc_ddmc *ddmc,
                               const struct lane *lane, double u)
{
    size_t first = ddmc->first[lane->cell], face = 0;
    size_t n_faces = ddmc->first[lane->cell + 1] - first;
    if (STORM_UNLIKELY(ddmc->cells[lane->cell].has_skin)) {
        double left = u * ddmc_leak_all(ddmc, lane);
        while (face + 1 < n_faces &&
               !((left -= ddmc_leak_of(ddmc, lane, face)) < 0.0))
            face++;
    } else {
        double target = u * ddmc->cells[lane->cell].leak;
        while (face + 1 < n_faces && !(target < ddmc->faces[first + face].leak))
            face++;
    }
    return face;
}

/* Leaves its cell through one of its faces. Returns like imc_retire. */
LANES_INLINE bool ddmc_leak(struct pass *pass, struct lane *lane, double u)
{
    const struct imc_ddmc *ddmc = pass->imc->ddmc;
    struct storm_packet *packet = lane->packet;
    size_t face = ddmc_which(ddmc, lane, u);
    if (ddmc->n_groups > 1) {
        double v[4];
        storm_packet_random(packet, pass->imc->seed, v);
        packet->group = ddmc_leaving(ddmc, lane->cell, face, v[0]);
    }
    if (!(ddmc_behind(pass->imc, lane, face) >= 0.0))
        return ddmc_fly(pass, lane, face);
    ddmc_count_half(pass, lane, lane->cell, face, 1.0);
    ddmc_count_surface(pass, lane, face);
    return ddmc_enter(pass, lane, face);
}

/* RUN-5: does the host end this stay? It stays for the rest of the step, or
 * changes into a group that flies, or leaks by u. */
static bool ddmc_is_turn(const struct pass *pass, const struct lane *lane,
                         bool stays, bool changes, double u)
{
    const struct imc_track *track = pass->imc;
    const struct imc_ddmc *ddmc = track->ddmc;
    const struct storm_packet *packet = lane->packet;
    size_t group = (size_t)packet->group;
    if (stays || changes)
        return !GEOM_SAMPLES && lane->imc.depth != IMC_PLACED;
    if (GEOM_SAMPLES || track->turns[lane->cell])
        return track->turns[lane->cell];
    size_t face = ddmc_which(ddmc, lane, u);
    if (ddmc->n_groups > 1) {
        double v[4];
        storm_random(track->seed, STORM_STREAM_HISTORY, packet->id,
                     packet->draws, v);
        group = (size_t)ddmc_leaving(ddmc, lane->cell, face, v[0]);
    }
    size_t at = ddmc->first[lane->cell] + face;
    return !(ddmc->behind[at * ddmc->n_groups + group] >= 0.0); /* it flies */
}

static bool ddmc_hand_over(struct pass *pass, struct lane *lane, uint64_t draws)
{
    lane->packet->draws = draws;
    return imc_hand_over(pass, lane);
}

/* One event of a packet that diffuses. Returns like imc_retire. */
static bool ddmc_hop(struct pass *pass, struct lane *lane)
{
    const struct imc_track *track = pass->imc;
    const struct imc_ddmc_cell *cell = &track->ddmc->cells[lane->cell];
    const double light = track->light_cm_s;
    const uint64_t draws = lane->packet->draws;
    double out = cell->change, u[4], seconds = INFINITY;
    out += STORM_UNLIKELY(cell->has_skin) ? ddmc_leak_all(track->ddmc, lane)
                                          : cell->leak;
    storm_packet_random(lane->packet, track->seed, u);
    lane->imc.absorb_s = cell->absorb * light;
    bool analogue = lane->imc.weight < lane->imc.light_weight;
    bool stays = true, ends = false;
    if (out > 0.0)
        seconds = -storm_log(u[0]) / (out * light);
    if (seconds < lane->time_left_s)
        stays = false;
    else
        seconds = lane->time_left_s;
    if (analogue) {
        double absorbed_s = -storm_log(u[1]) / lane->imc.absorb_s;
        ends = absorbed_s < seconds;
        seconds = ends ? absorbed_s : seconds;
    }
    if (!ON_HOST && !ends &&
        ddmc_is_turn(pass, lane, stays, u[2] * out < cell->change, u[3]))
        return ddmc_hand_over(pass, lane, draws);
    storm_exact path = imc_spend(track, lane, seconds, analogue);
    on_add(&track->methods->path[IMC_DIFFUSED], path);
    on_count(&track->methods->events[IMC_DIFFUSED]);
    ddmc_count_stay(track, lane, path);
    if (ends)
        return imc_absorb(pass, lane);
    if (!(lane->imc.weight > 0.0))
        return imc_retire(pass, lane, STORM_FATE_ABSORBED);
    if (stays)
        return imc_retire(pass, lane, STORM_FATE_CENSUS);
    if (u[2] * out < cell->change)
        return ddmc_change(pass, lane);
    return ddmc_leak(pass, lane, u[3]);
}

/* A packet in flight stands on a face behind which it would diffuse: it is
 * taken in or sent back, eq. (D3). Returns like imc_retire. */
static bool ddmc_knock(struct pass *pass, struct lane *lane, uint32_t side,
                       double behind)
{
    size_t face = geom_face(&lane->geom, side);
    const struct imc_ddmc_face *f = ddmc_face_of(pass->imc, lane->cell, face);
    struct storm_packet *packet = lane->packet;
    double u[4], mu = 0.0, back[3];
    for (int d = 0; d < 3; d++) {
        mu += packet->direction[d] * f->normal[d];
        back[d] = -f->normal[d];
    }
    storm_packet_random(packet, pass->imc->seed, u);
    if (u[0] < imc_ddmc_taken(behind, mu)) {
        imc_count_event(pass->imc, lane->cell, STORM_IMC_CROSSING);
        imc_count_face(pass, lane,
                       geom_next(&pass->geom, &lane->geom, lane->cell, side),
                       side);
        return ddmc_enter(pass, lane, face);
    }
    imc_count_event(pass->imc, lane->cell, STORM_IMC_REFLECTION);
    ddmc_turn(pass, packet, back, behind, false);
    geom_leave(&lane->geom, packet);
    packet->cell_idx = lane->cell;
    geom_enter(&pass->geom, &lane->geom, packet);
    return true;
}

#endif /* STORM_PHYSICS_IMC_DDMC_KERNEL_H */
