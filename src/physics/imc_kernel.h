/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel of implicit Monte Carlo, compiled once per kind of mesh.
 * physics/lanes.h lists what the includer provides.
 *
 *   KERNEL-1  All that a history depends on is in the packet and in the fields
 *             of the cells: it has the same bits however it is split into
 *             calls.
 *   KERNEL-2  A packet deposits along its path (eq. 5) until it is below a
 *             hundredth of its birth weight, and is then absorbed as a whole or
 *             not at all (eq. 6). Which of the two is decided at the start of
 *             each flight.
 *   KERNEL-3  An event is a face, a collision, or the end of the step.
 */
#ifndef STORM_PHYSICS_IMC_KERNEL_H
#define STORM_PHYSICS_IMC_KERNEL_H

#include <float.h>
#include <math.h>

#include "base/math.h"
#include "physics/imc.h"
#include "physics/lanes.h"
#include "physics/turn.h"

/* Below this part of its birth weight a packet is absorbed as a whole. */
static const double imc_analogue_below = 0.01;

/* Below this optical depth a series replaces exp. */
static const double imc_thin = 0.5;

/* (1 - exp(-x)) / x for x <= imc_thin: mean weight over the path, relative.
 * Thirteen terms leave 2e-15; in pairs, so that the processor can work on
 * several at once. */
static const double imc_mean_series[13] = {1.0,
                                           -1.0 / 2.0,
                                           1.0 / 6.0,
                                           -1.0 / 24.0,
                                           1.0 / 120.0,
                                           -1.0 / 720.0,
                                           1.0 / 5040.0,
                                           -1.0 / 40320.0,
                                           1.0 / 362880.0,
                                           -1.0 / 3628800.0,
                                           1.0 / 39916800.0,
                                           -1.0 / 479001600.0,
                                           1.0 / 6227020800.0};

LANES_INLINE double imc_mean(double x)
{
    const double *c = imc_mean_series;
    double x2 = x * x, x4 = x2 * x2;
    double a = (c[0] + c[1] * x) + (c[2] + c[3] * x) * x2;
    double b = (c[4] + c[5] * x) + (c[6] + c[7] * x) * x2;
    double d = (c[8] + c[9] * x) + (c[10] + c[11] * x) * x2;
    return (a + b * x4) + (d + c[12] * x4) * (x4 * x4);
}

enum imc_event {
    IMC_FACE,
    IMC_COLLISION,
    IMC_END,
    IMC_PLANE,
    IMC_ABSORBED /* a collision that was an absorption: imc_lanes_kernel.h */
};

/* What a kernel knows of, a constant of each of its copies. */
enum imc_counts {
    IMC_COUNTS_NOTHING,
    IMC_COUNTS_GROUPS, /* energy by group */
    IMC_COUNTS_ALL     /* moments, events, surfaces; planes, diffusion */
};

#include "physics/imc_motion_kernel.h"

/* At the start of each event, not at the crossing: the cell's memory then
 * arrives during the other lanes' events. In moving matter rates are those in
 * the frame of the mesh. */
LANES_INLINE void imc_load_cell(const struct pass *pass, struct lane *lane,
                                const bool moves)
{
    const struct imc_track *track = pass->imc;
    double doppler = 1.0;
    if (moves)
        doppler =
            imc_doppler(&track->motion[lane->cell], lane->packet->direction);
    if (track->n_groups == 1) {
        const struct imc_cell *cell = &track->cells[lane->cell];
        lane->imc.absorb_s = cell->absorb * track->light_cm_s;
        lane->imc.scatter_s = cell->scatter * track->light_cm_s;
    } else {
        size_t group = moves ? imc_own_group(track, lane, doppler)
                             : (size_t)lane->packet->group;
        const struct imc_opacity *o =
            &track->opacity[(size_t)lane->cell * track->n_groups + group];
        lane->imc.absorb_s = o->absorb * track->light_cm_s;
        lane->imc.scatter_s = o->scatter * track->light_cm_s;
    }
    if (moves) {
        lane->imc.absorb_s *= doppler;
        lane->imc.scatter_s *= doppler;
    }
}

/* ---- functions for the scheduler ---------------------------------------- */

static void imc_draw_depth(const struct pass *pass, struct storm_packet *packet)
{
    double u[4];
    storm_packet_random(packet, pass->imc->seed, u);
    packet->optical_depth = -storm_log(u[0]);
}

/* Does this kernel find points of a cell? What does not knows of no packets
 * that need them, or hands them over (RUN-5). */
LANES_INLINE bool imc_has_samples(const struct pass *pass)
{
    return ON_HOST || (GEOM_SAMPLES && pass->imc->turns != NULL);
}

LANES_INLINE void imc_sample(const struct pass *pass, storm_cell_idx cell,
                             const double u[3], double point_out[3])
{
    if (ON_HOST)
        pass->mesh->ops->sample(pass->mesh, cell, u, point_out);
    else
        geom_sample(&pass->geom, cell, u, point_out);
}

/* Of a face of a cell, with this normal. */
LANES_INLINE void imc_sample_face(const struct pass *pass, storm_cell_idx cell,
                                  size_t face, const double normal[3],
                                  const double u[2], double point_out[3])
{
    if (ON_HOST)
        pass->mesh->ops->sample_face(pass->mesh, cell, (int)face, u, point_out);
    else
        geom_sample_face(&pass->geom, cell, normal, u, point_out);
}

/* What has diffused flies from its place, or any (DDMC-5), in any direction. Of
 * a packet in a lane the lane has the mark, not the packet. */
static void imc_draw_place(const struct pass *pass, struct storm_packet *packet,
                           storm_cell_idx cell, double mark)
{
    double u[4];
    if (imc_has_samples(pass) && mark != IMC_PLACED) {
        storm_packet_random(packet, pass->imc->seed, u);
        imc_sample(pass, cell, u, packet->position_cm);
    }
    if (pass->imc->motion != NULL) /* DRIFT-1: it has a direction */
        return;
    storm_packet_random(packet, pass->imc->seed, u);
    storm_isotropic(u[0], u[1], packet->direction);
}

/* A packet that escapes, through a wall or (-1) not. On a device the host books
 * it later, by its outcome (RUN-4). */
LANES_INLINE void imc_book(const struct pass *pass, const struct lane *lane,
                           int wall)
{
    if (!ON_HOST)
        pass->outcomes[lane->i_packet].rank = wall;
    else
        imc_escape(pass->imc, lane->packet, wall);
}

/* A packet has come from another rank into a cell that does not transport. */
static void imc_load_outside(const struct pass *pass, struct lane *lane,
                             struct storm_outcome *outcome_out)
{
    geom_enter(&pass->geom, &lane->geom, lane->packet);
    geom_rest(&lane->geom, lane->packet);
    imc_book(pass, lane, -1);
    outcome_out->fate = STORM_FATE_ESCAPED;
    outcome_out->events = 0;
}

static bool ddmc_load(const struct pass *pass, struct lane *lane,
                      struct storm_outcome *outcome_out);
static void ddmc_park(const struct pass *pass, struct lane *lane,
                      storm_fate fate);
static bool drift_load(const struct pass *pass, struct lane *lane);
static void drift_collect(const struct pass *pass, struct lane *lane);
static void drift_park(const struct pass *pass, struct lane *lane,
                       storm_fate fate);

LANES_INLINE bool imc_load(const struct pass *pass, struct lane *lane,
                           struct storm_outcome *outcome_out)
{
    struct storm_packet *packet = lane->packet;
    if (STORM_UNLIKELY(pass->imc->cells[lane->cell].outside)) {
        imc_load_outside(pass, lane, outcome_out);
        return false;
    }
    lane->imc.diffuses = false;
    lane->imc.weight = packet->weight_erg;
    lane->imc.light_weight = imc_analogue_below * packet->birth_weight_erg;
    if (STORM_UNLIKELY(pass->imc->ddmc != NULL)) {
        if (pass->imc->motion != NULL) {
            if (drift_load(pass, lane))
                return true;
        } else if (imc_ddmc_is_in(pass->imc->ddmc, lane->cell, packet->group)) {
            return ddmc_load(pass, lane, outcome_out);
        }
    }
    if (STORM_UNLIKELY(packet->optical_depth < 0.0))
        imc_draw_place(pass, packet, lane->cell, packet->optical_depth);
    if (!(packet->optical_depth > 0.0))
        imc_draw_depth(pass, packet);
    lane->imc.depth = packet->optical_depth;
    if (STORM_UNLIKELY(pass->imc->motion != NULL))
        imc_push_lane(pass->imc, lane, 1);
    return true;
}

LANES_INLINE void imc_store(const struct pass *pass, const struct lane *lane,
                            storm_fate fate)
{
    lane->packet->weight_erg = lane->imc.weight;
    lane->packet->optical_depth = lane->imc.depth;
    if (fate == STORM_FATE_ESCAPED)
        imc_book(pass, lane, lane->wall);
}

/* Parts of a wall may differ; borders to other ranks are open. */
static bool imc_is_mirror(const struct pass *pass, const struct lane *lane,
                          const struct storm_mesh_exit *exit)
{
    const struct imc_track *track = pass->imc;
    if (exit->rank >= 0)
        return false;
    if (!ON_HOST || STORM_LIKELY(track->edges[exit->wall] != IMC_EDGE_PARTS))
        return track->edges[exit->wall] == IMC_EDGE_MIRROR;
    struct storm_packet at = *lane->packet;
    geom_rest(&lane->geom, &at);
    return imc_wall_is(track->problem, exit->wall, at.position_cm,
                       STORM_WALL_REFLECT);
}

LANES_INLINE void imc_prefetch(const struct pass *pass, storm_cell_idx cell,
                               const struct storm_packet *packet)
{
    STORM_PREFETCH_WRITE(&pass->imc->cells[cell]);
    if (pass->imc->n_groups > 1)
        STORM_PREFETCH(&pass->imc->opacity[(size_t)cell * pass->imc->n_groups +
                                           (size_t)packet->group]);
}

static bool imc_retire(struct pass *pass, struct lane *lane, storm_fate fate);

static const struct lanes_kernel imc_kernel = {
    .load = imc_load,
    .store = imc_store,
    .is_mirror = imc_is_mirror,
    .prefetch = imc_prefetch,
    .retire = imc_retire,
    .at_wall = STORM_FATE_ESCAPED,
};

static bool imc_retire(struct pass *pass, struct lane *lane, storm_fate fate)
{
    if (STORM_UNLIKELY(pass->imc->motion != NULL)) {
        if (lane->imc.diffuses)
            drift_park(pass, lane, fate);
        else
            imc_push_out(pass->imc, lane, fate);
    } else if (STORM_UNLIKELY(lane->imc.diffuses)) {
        ddmc_park(pass, lane, fate);
    }
    return lanes_retire(pass, lane, fate, &imc_kernel);
}

#include "physics/imc_walls_kernel.h"

/* ---- borders and pauses ------------------------------------------------- */

static bool imc_border(struct pass *pass, struct lane *lane, int32_t next,
                       uint32_t side)
{
    if (ON_HOST && STORM_UNLIKELY(pass->imc->user != NULL)) {
        struct storm_mesh_exit exit = geom_exit(&pass->geom, next);
        if (exit.rank < 0 && pass->imc->edges[exit.wall] >= IMC_EDGE_PARTS) {
            struct storm_packet at = imc_at_wall(pass, lane, side);
            if (imc_is_user(pass->imc, exit.wall, at.position_cm))
                return imc_ask(pass, lane, &at, exit.wall, side);
        }
    }
    return lanes_border(pass, lane, next, side, &imc_kernel);
}

ON_FUNCTION uint64_t imc_expire(struct pass *pass)
{
    return lanes_expire(pass, &imc_kernel);
}

/* Now and then: packets that have had max_events, or samples (WATCH-1). Returns
 * the round of the next pause. */
ON_FUNCTION uint64_t imc_pause(struct pass *pass, uint64_t *expires_inout)
{
    if (pass->round == *expires_inout)
        *expires_inout = imc_expire(pass);
    if (pass->imc->watch != NULL && pass->round % IMC_WATCH_ROUNDS == 0) {
        for (int k = 0; k < pass->n_lanes; k++)
            imc_watch_add(pass->imc->watch, pass->lanes[k].cell,
                          pass->lanes[k].packet->group);
        imc_watch_look(pass->imc->watch);
    }
    uint64_t look = (pass->round / IMC_WATCH_ROUNDS + 1) * IMC_WATCH_ROUNDS;
    return look < *expires_inout ? look : *expires_inout;
}

/* ---- events ------------------------------------------------------------- */

/* The group of what a cell emits, eq. (14). */
static int32_t imc_draw_group(const struct imc_track *track,
                              storm_cell_idx cell, double u)
{
    size_t n = track->n_groups;
    return imc_find_group(&track->spectrum[(size_t)cell * n], n, u);
}

/* In the cell for `seconds`: deposits and counts path, eqs. (5) and (7), which
 * it returns. */
LANES_INLINE storm_exact imc_spend(const struct imc_track *track,
                                   struct lane *lane, double seconds,
                                   bool analogue)
{
    struct imc_cell *cell = &track->cells[lane->cell];
    double weight = lane->imc.weight;
    double path = track->light_cm_s * seconds;
    double x = analogue ? 0.0 : lane->imc.absorb_s * seconds;
    double lost;
    if (STORM_LIKELY(x < imc_thin)) {
        double mean = imc_mean(x);
        lost = weight * (x * mean);
        path *= weight * mean;
    } else {
        lost = weight - weight * storm_exp(-x);
        path = lost * track->light_cm_s / lane->imc.absorb_s;
    }
    /* Both differences are exact: what is lost is what is deposited (IMC-3). */
    lane->imc.weight = weight - lost;
    lost = weight - lane->imc.weight;
    if (lost > 0.0)
        on_add(&cell->deposit, lanes_term(lost, track->deposit_unit));
    storm_exact term = lanes_term(path, track->path_unit);
    on_add(&cell->path, term);
    on_count(&cell->events);
    lane->time_left_s -= seconds;
    return term;
}

/* All that is left of a packet. */
static bool imc_absorb(struct pass *pass, struct lane *lane)
{
    const struct imc_track *track = pass->imc;
    on_add(&track->cells[lane->cell].deposit,
           lanes_term(lane->imc.weight, track->deposit_unit));
    lane->imc.weight = 0.0;
    return imc_retire(pass, lane, STORM_FATE_ABSORBED);
}

/* ---- in kernels that count: moments (MOMENTS-1), surfaces --------------- */

LANES_INLINE void imc_count_event(const struct imc_track *track,
                                  storm_cell_idx cell, storm_imc_event kind)
{
    const struct imc_moments *moments = track->moments;
    if (moments != NULL && moments->events != NULL)
        on_add(&moments
                    ->events[(size_t)cell * STORM_IMC_N_EVENTS + (size_t)kind],
               1);
}

/* Which of the two scattered is not known if there are no groups: it is drawn
 * (MOMENTS-3). */
static void imc_count_scattering(const struct imc_track *track,
                                 const struct lane *lane, bool effective)
{
    const struct imc_moments *moments = track->moments;
    if (moments == NULL || moments->events == NULL)
        return;
    if (moments->effective != NULL) {
        double u[4];
        storm_random(track->seed, STORM_STREAM_TALLY, lane->packet->id,
                     lane->packet->draws, u);
        effective = u[0] < moments->effective[lane->cell];
    }
    imc_count_event(track, lane->cell,
                    effective ? STORM_IMC_EFFECTIVE : STORM_IMC_PHYSICAL);
}

/* imc_border, and what became of the packet. */
static bool imc_border_counted(struct pass *pass, struct lane *lane,
                               int32_t next, uint32_t side)
{
    struct storm_mesh_exit exit = geom_exit(&pass->geom, next);
    struct storm_outcome *outcome = &pass->outcomes[lane->i_packet];
    storm_cell_idx cell = lane->cell;
    outcome->fate = STORM_FATE_CONTINUE; /* unless it leaves its lane */
    bool more = imc_border(pass, lane, next, side);
    imc_count_event(pass->imc, cell,
                    exit.rank >= 0 ? STORM_IMC_CROSSING
                    : outcome->fate == STORM_FATE_ESCAPED
                        ? STORM_IMC_ESCAPE
                        : STORM_IMC_REFLECTION);
    return more;
}

/* What a flight adds, and the momentum of `given_erg` along it. */
LANES_INLINE void imc_count_flight(const struct imc_track *track,
                                   const struct lane *lane, storm_exact path,
                                   double given_erg,
                                   const enum imc_counts counts)
{
    const struct imc_moments *moments = track->moments;
    if (counts == IMC_COUNTS_ALL && moments == NULL)
        return;
    if (counts == IMC_COUNTS_GROUPS || moments->groups != NULL)
        on_add(&moments->groups[(size_t)lane->cell * track->n_groups +
                                (size_t)lane->packet->group],
               path);
    if (counts == IMC_COUNTS_GROUPS)
        return;
    if (moments->is_directed)
        imc_moments_flight(track, lane->cell, lane->packet->direction, path,
                           given_erg);
}

/* Momentum that a collision gives to the packet. What it had before has been
 * counted with its flight. */
LANES_INLINE void imc_count_collision(const struct imc_track *track,
                                      const struct lane *lane)
{
    if (track->moments != NULL && track->moments->momentum != NULL)
        imc_moments_collision(track, lane->cell, lane->packet->direction,
                              -lane->imc.weight);
}

/* A packet at a face: does another cell begin there that is in another place
 * (SURFACE-1)? What is behind a wall is no cell. */
LANES_INLINE void imc_count_face(const struct pass *pass,
                                 const struct lane *lane, int32_t next,
                                 uint32_t side)
{
    const struct imc_surfaces *s = pass->imc->surfaces;
    if (!ON_HOST || s == NULL)
        return;
    const unsigned char *from = &s->own[(size_t)lane->cell * s->n], *to = from;
    if (STORM_UNLIKELY(next < 0)) {
        struct storm_mesh_exit exit = geom_exit(&pass->geom, next);
        if (exit.rank == pass->geom.rank)
            to = &s->own[(size_t)exit.idx * s->n];
        else if (exit.rank >= 0)
            to = imc_surface_behind(pass->imc, exit.rank, exit.idx);
    } else {
        to = &s->own[(size_t)next * s->n];
    }
    if (STORM_UNLIKELY(memcmp(from, to, s->n) != 0)) {
        struct storm_packet at = imc_at_wall(pass, lane, side);
        imc_surface_cross(pass->imc, &at, from, to);
    }
}

#include "physics/imc_turn_kernel.h"

#include "physics/imc_scatter_kernel.h"
#include "physics/imc_walk_kernel.h"

/* Effective scattering, the first part of `rate` in all scattering, draws a new
 * group, eq. (14). Returns whether it was effective. */
LANES_INLINE bool imc_change_group(const struct pass *pass, struct lane *lane,
                                   double rate)
{
    const struct imc_track *track = pass->imc;
    double effective = track->cells[lane->cell].again * lane->imc.absorb_s;
    if (!(rate < effective))
        return false;
    lane->packet->group = imc_draw_group(track, lane->cell, rate / effective);
    imc_prefetch(pass, lane->cell, lane->packet);
    return true;
}

#include "physics/imc_ddmc_kernel.h"
#include "physics/imc_drift_kernel.h"
#include "physics/imc_drift_walk_kernel.h"

/* On a device kernels without random walks are apart: they are smaller. */
LANES_INLINE bool imc_may_walk(const struct imc_track *track)
{
    return ON_HOST || track->walk != NULL;
}

/* A collision: absorbed as a whole (KERNEL-2), or a new direction, maybe a new
 * group. Returns like imc_retire. */
LANES_INLINE bool imc_collide_as(struct pass *pass, struct lane *lane,
                                 bool analogue, const enum imc_counts counts,
                                 const bool moves, const bool laws)
{
    const struct imc_track *track = pass->imc;
    struct storm_packet *packet = lane->packet;
    struct imc_sphere sphere;
    double u[4];
    storm_packet_random(packet, track->seed, u);
    /* One number says what happens: absorption, if it is analogue, effective
     * scattering, physical scattering, by their rates in this order. */
    double absorb_s = analogue ? lane->imc.absorb_s : 0.0;
    double rate = u[0] * (absorb_s + lane->imc.scatter_s);
    if (rate < absorb_s) {
        if (counts == IMC_COUNTS_ALL)
            imc_count_event(track, lane->cell, STORM_IMC_ABSORPTION);
        return imc_absorb(pass, lane);
    }
    bool walks, effective = false, is_real = true;
    double until_s = 0.0;
    if (track->n_groups > 1) {
        effective = imc_change_group(pass, lane, rate - absorb_s);
        bool is_mixed = counts == IMC_COUNTS_ALL && track->ddmc != NULL &&
                        track->ddmc->cells[lane->cell].is_in;
        if (effective && is_mixed &&
            imc_ddmc_is_in(track->ddmc, lane->cell, packet->group)) {
            imc_count_event(track, lane->cell, STORM_IMC_EFFECTIVE);
            geom_leave(&lane->geom, packet);
            if (moves)
                drift_collect(pass, lane);
            else
                (void)ddmc_settle(lane, IMC_PLACED);
            return true;
        }
        walks = effective && !is_mixed && imc_may_walk(track) &&
                track->cells[lane->cell].walks &&
                (moves ? drift_sphere_groups(pass, lane, &sphere, &until_s)
                       : imc_sphere_groups(pass, lane, &sphere));
    } else {
        if (laws)
            effective = imc_is_effective(track, lane, rate - absorb_s);
        walks = imc_may_walk(track) && track->cells[lane->cell].walks &&
                (moves ? drift_sphere(pass, lane, &sphere, &until_s)
                       : imc_sphere_grey(pass, lane, &sphere));
    }
    if (walks)
        return moves ? drift_walk(pass, lane, &sphere, until_s, analogue)
                     : imc_walk(pass, lane, &sphere, analogue, counts);
    if (laws)
        is_real = imc_scatter_by_law(pass, lane, effective, &u[1]);
    else if (moves)
        imc_scatter_moving(pass, lane, effective, &u[1]);
    else
        storm_isotropic(u[1], u[2], packet->direction);
    if (counts == IMC_COUNTS_ALL) {
        if (!laws)
            imc_count_scattering(track, lane, effective);
        else if (is_real)
            imc_count_event(track, lane->cell,
                            effective ? STORM_IMC_EFFECTIVE
                                      : STORM_IMC_PHYSICAL);
        imc_count_collision(track, lane);
    }
    lane->imc.depth = -storm_log(u[3]);
    geom_leave(&lane->geom, packet);
    packet->cell_idx = lane->cell;
    geom_enter(&pass->geom, &lane->geom, packet);
    return true;
}

/* The lane has crossed into a cell that is outside. The crossing was counted as
 * an event. */
static bool imc_leave(struct pass *pass, struct lane *lane)
{
    lane->start++;
    lane->wall = -1;
    return imc_retire(pass, lane, STORM_FATE_ESCAPED);
}

/* Does it reach a blackbody plane first? */
static bool imc_reach_plane(const struct pass *pass, const struct lane *lane,
                            double *seconds_inout)
{
    struct storm_packet at;
    geom_rest(&lane->geom, &at);
    return imc_plane_hit(pass->imc, at.position_cm, lane->packet->direction,
                         lane->time_left_s, seconds_inout);
}

/* One event of one packet. Returns like imc_retire. */
LANES_INLINE bool imc_step(struct pass *pass, struct lane *lane, bool has_more,
                           const enum imc_counts counts, const bool moves,
                           const bool laws)
{
    uint32_t side;
    if (STORM_UNLIKELY(pass->imc->cells[lane->cell].outside))
        return imc_leave(pass, lane);
    if (has_more && lane->imc.diffuses)
        return moves ? drift_hop(pass, lane) : ddmc_hop(pass, lane);
    imc_load_cell(pass, lane, moves);
    bool analogue = lane->imc.weight < lane->imc.light_weight;
    double rate = lane->imc.scatter_s + (analogue ? lane->imc.absorb_s : 0.0);
    double seconds = geom_reach(&lane->geom, &side);
    enum imc_event event = IMC_FACE;
    if (!(seconds < lane->time_left_s)) {
        seconds = lane->time_left_s;
        event = IMC_END;
    }
    if (has_more && imc_reach_plane(pass, lane, &seconds))
        event = IMC_PLANE;
    if (STORM_UNLIKELY(lane->imc.depth < rate * seconds)) {
        seconds = lane->imc.depth / rate;
        event = IMC_COLLISION;
    }
    if (!ON_HOST && imc_is_turn(pass, lane, event))
        return imc_hand_over(pass, lane);
    double weight = lane->imc.weight;
    storm_exact path = imc_spend(pass->imc, lane, seconds, analogue);
    if (counts)
        imc_count_flight(pass->imc, lane, path,
                         event == IMC_COLLISION ? weight
                                                : weight - lane->imc.weight,
                         counts);
    geom_move(&lane->geom, seconds);
    if (STORM_UNLIKELY(!(lane->imc.weight > 0.0))) {
        if (counts == IMC_COUNTS_ALL)
            imc_count_event(pass->imc, lane->cell, STORM_IMC_ABSORPTION);
        return imc_retire(pass, lane, STORM_FATE_ABSORBED);
    }
    if (event == IMC_COLLISION)
        return imc_collide_as(pass, lane, analogue, counts, moves, laws);
    /* Never zero: that means "not drawn", and the next rank would draw. */
    double depth = lane->imc.depth - rate * seconds;
    lane->imc.depth = depth > DBL_MIN ? depth : DBL_MIN;
    if (event == IMC_END) {
        if (counts == IMC_COUNTS_ALL)
            imc_count_event(pass->imc, lane->cell, STORM_IMC_CENSUS);
        return imc_retire(pass, lane, STORM_FATE_CENSUS);
    }
    if (has_more && event == IMC_PLANE) {
        if (counts == IMC_COUNTS_ALL)
            imc_count_event(pass->imc, lane->cell, STORM_IMC_ESCAPE);
        lane->wall = -1;
        return imc_retire(pass, lane, STORM_FATE_ESCAPED);
    }
    geom_touch(&lane->geom, side);
    if (has_more && pass->imc->ddmc != NULL) {
        if (moves)
            return drift_cross(pass, lane, side);
        double behind =
            ddmc_behind(pass->imc, lane, geom_face(&lane->geom, side));
        if (behind >= 0.0)
            return ddmc_knock(pass, lane, side, behind);
    }
    int32_t next = geom_next(&pass->geom, &lane->geom, lane->cell, side);
    if (counts == IMC_COUNTS_ALL)
        imc_count_face(pass, lane, next, side);
    if (STORM_UNLIKELY(next < 0))
        return moves ? imc_border_moving(pass, lane, next, side)
               : counts == IMC_COUNTS_ALL
                   ? imc_border_counted(pass, lane, next, side)
                   : imc_border(pass, lane, next, side);
    if (counts == IMC_COUNTS_ALL)
        imc_count_event(pass->imc, lane->cell, STORM_IMC_CROSSING);
    geom_cross(&pass->geom, &lane->geom, side, next);
    if (moves) {
        struct imc_push_terms push =
            imc_push_of(pass->imc, lane->imc.weight, lane->packet->direction);
        imc_push_cell(pass->imc, lane->cell, &push, -1);
        imc_push_cell(pass->imc, next, &push, 1);
    }
    lane->cell = next;
    STORM_ASSERT(geom_holds(&pass->geom, &lane->geom, next));
    geom_prefetch(&pass->geom, next);
    imc_prefetch(pass, next, lane->packet);
    return true;
}

#include "physics/imc_lanes_kernel.h"

/* Moves n packets. What each event would have to ask is a constant, or chosen
 * once in a pass. */
LANES_INLINE void imc_advance_as(const struct imc_track *track,
                                 void *const *packets, size_t n,
                                 struct storm_outcome *outcomes_out,
                                 const enum imc_counts counts, const bool moves,
                                 const bool laws)
{
    struct pass pass;
    pass.imc = track;
    pass.mesh = track->mesh;
    pass.part = track->mesh->part;
    pass.max_events = track->max_events;
    pass.geom = geom_open(track->mesh, track->light_cm_s);
    lanes_open(&pass, packets, n, outcomes_out, &imc_kernel);
    bool has_more = counts == IMC_COUNTS_ALL &&
                    (track->n_planes > 0 || track->ddmc != NULL);
    const bool in_lanes =
        GEOM_PLANES && counts != IMC_COUNTS_ALL && !moves && !laws;
    struct imc_round round = {0};
    struct imc_scattered scattered = {0};
    uint64_t expires = track->max_events;
    uint64_t due = expires < IMC_WATCH_ROUNDS ? expires : IMC_WATCH_ROUNDS;
    while (pass.n_lanes > 0) {
        if (STORM_UNLIKELY(pass.round == due))
            due = imc_pause(&pass, &expires);
        pass.round++;
        lanes_pick(&pass);
        if (in_lanes) {
            imc_step_lanes(&pass, &round, &scattered, counts);
            continue;
        }
        for (struct lane *lane = pass.lanes; lane < pass.lanes + pass.n_lanes;
             lane++)
            lane -= !imc_step(&pass, lane, has_more, counts, moves, laws);
    }
}

ON_FUNCTION void imc_advance(const struct imc_track *track,
                             void *const *packets, size_t n,
                             struct storm_outcome *outcomes_out)
{
    imc_advance_as(track, packets, n, outcomes_out, IMC_COUNTS_NOTHING, false,
                   false);
}

ON_FUNCTION void imc_advance_groups(const struct imc_track *track,
                                    void *const *packets, size_t n,
                                    struct storm_outcome *outcomes_out)
{
    imc_advance_as(track, packets, n, outcomes_out, IMC_COUNTS_GROUPS, false,
                   false);
}

ON_FUNCTION void imc_advance_all(const struct imc_track *track,
                                 void *const *packets, size_t n,
                                 struct storm_outcome *outcomes_out)
{
    imc_advance_as(track, packets, n, outcomes_out, IMC_COUNTS_ALL, false,
                   false);
}

ON_FUNCTION void imc_advance_moving(const struct imc_track *track,
                                    void *const *packets, size_t n,
                                    struct storm_outcome *outcomes_out)
{
    imc_advance_as(track, packets, n, outcomes_out, IMC_COUNTS_ALL, true,
                   false);
}

/* Where scattering has laws, at rest or not (SCATTER-1). */
ON_FUNCTION void imc_advance_laws(const struct imc_track *track,
                                  void *const *packets, size_t n,
                                  struct storm_outcome *outcomes_out)
{
    imc_advance_as(track, packets, n, outcomes_out, IMC_COUNTS_ALL,
                   track->motion != NULL, true);
}

ON_FUNCTION void imc_advance_counted(const struct imc_track *track,
                                     void *const *packets, size_t n,
                                     struct storm_outcome *outcomes_out)
{
    const struct imc_moments *m = track->moments;
    if (m != NULL && m->groups != NULL && !m->is_directed &&
        m->events == NULL && track->surfaces == NULL && track->n_planes == 0 &&
        track->ddmc == NULL)
        imc_advance_groups(track, packets, n, outcomes_out);
    else
        imc_advance_all(track, packets, n, outcomes_out);
}

#endif /* STORM_PHYSICS_IMC_KERNEL_H */
