/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel of implicit Monte Carlo: one text, compiled once per kind of
 * mesh, after physics/track_kernel.h and with the same geometry (see there for
 * what the functions geom_* do and why several packets are in flight).
 *
 *   K1  All that a history depends on is in the packet and in the fields of
 *       the cells: it has the same bits however it is split into calls.
 *   K2  A packet deposits along its path (eq. 5) until it is below a hundredth
 *       of its birth weight, and is then absorbed as a whole or not at all
 *       (eq. 6). Which of the two is decided at the start of each flight.
 *   K3  An event is a face, a collision, or the end of the step.
 */
#ifndef STORM_PHYSICS_IMC_KERNEL_H
#define STORM_PHYSICS_IMC_KERNEL_H

#include <float.h>
#include <math.h>

#include "physics/imc.h"

/* Below this part of its birth weight a packet is absorbed as a whole. */
static const double imc_analogue_below = 0.01;

/* Below this optical depth a series replaces exp. */
static const double imc_thin = 0.5;

/* (1 - exp(-x)) / x for x <= imc_thin: what is left of a weight, averaged over
 * the path. Thirteen terms leave 2e-15; in pairs, so that the processor can
 * work on several at once. */
TRACK_INLINE double imc_mean(double x)
{
    static const double c[13] = {1.0,
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
    double x2 = x * x, x4 = x2 * x2;
    double a = (c[0] + c[1] * x) + (c[2] + c[3] * x) * x2;
    double b = (c[4] + c[5] * x) + (c[6] + c[7] * x) * x2;
    double d = (c[8] + c[9] * x) + (c[10] + c[11] * x) * x2;
    return (a + b * x4) + (d + c[12] * x4) * (x4 * x4);
}

struct imc_lane {
    struct geom_lane geom;
    double time_left_s;
    double weight;
    double light_weight; /* below this, analogue absorption */
    double depth;        /* optical, to the next collision */
    double absorb_s;     /* 1/s, in this cell */
    double scatter_s;
    storm_cell_idx cell;
    size_t i_packet;
    uint64_t start;
    struct storm_packet *packet;
};

struct imc_pass {
    const struct imc_track *track;
    struct geom geom;
    void *const *packets;
    size_t n, i_next;
    struct storm_outcome *outcomes;
    uint64_t round;
    int n_lanes;
    struct imc_lane lanes[TRACK_LANES];
};

enum imc_event { IMC_FACE, IMC_COLLISION, IMC_END };

/* At the start of each event: what crossed into this cell has given its memory
 * the time of the other lanes' events to arrive. */
TRACK_INLINE void imc_look_up(const struct imc_pass *pass,
                              struct imc_lane *lane)
{
    const struct imc_track *track = pass->track;
    if (track->n_groups == 1) {
        const struct imc_cell *cell = &track->cells[lane->cell];
        lane->absorb_s = cell->absorb * track->light_cm_s;
        lane->scatter_s = cell->scatter * track->light_cm_s;
    } else {
        const struct imc_opacity *o =
            &track->opacity[(size_t)lane->cell * track->n_groups +
                            (size_t)lane->packet->group];
        lane->absorb_s = o->absorb * track->light_cm_s;
        lane->scatter_s = o->scatter * track->light_cm_s;
    }
}

/* ---- packets in and out of lanes ------------------------------------------ */

static void imc_escape(const struct imc_pass *pass,
                       const struct storm_packet *packet, size_t i,
                       uint64_t events)
{
    storm_ledger_add(pass->track->escaped, packet->weight);
    pass->outcomes[i].fate = STORM_FATE_ESCAPED;
    pass->outcomes[i].events = events;
}

/* Is the packet in a cell of this rank that transports? If not, says where it
 * goes. */
static bool imc_admit(const struct imc_pass *pass, struct storm_packet *packet,
                      size_t i)
{
    if (STORM_UNLIKELY(packet->cell_idx < 0)) {
        struct storm_outcome *outcome = &pass->outcomes[i];
        outcome->fate = STORM_FATE_SEND;
        outcome->events = 0;
        outcome->rank = storm_mesh_owner(pass->track->mesh, packet->cell,
                                         &packet->cell_idx);
        return false;
    }
    if (STORM_UNLIKELY(pass->track->cells[packet->cell_idx].outside)) {
        imc_escape(pass, packet, i, 0);
        return false;
    }
    return true;
}

static void imc_draw_depth(const struct imc_pass *pass,
                           struct storm_packet *packet)
{
    double u[4];
    storm_packet_random(packet, pass->track->seed, u);
    packet->optical_depth = -log(u[0]);
}

TRACK_INLINE void imc_prefetch(const struct imc_pass *pass, storm_cell_idx cell)
{
    geom_prefetch(&pass->geom, cell);
    STORM_PREFETCH_WRITE(&pass->track->cells[cell]);
}

/* As track_look_ahead. */
TRACK_INLINE void imc_look_ahead(const struct imc_pass *pass)
{
    size_t i = pass->i_next + TRACK_LOOK_AHEAD;
    if (i < pass->n) {
        const char *line = pass->packets[i];
        STORM_PREFETCH_WRITE(line);
        STORM_PREFETCH_WRITE(line + STORM_CACHE_LINE);
    }
    i = pass->i_next + TRACK_CELL_AHEAD;
    if (i < pass->n) {
        const struct storm_packet *packet = pass->packets[i];
        if (packet->cell_idx >= 0)
            imc_prefetch(pass, packet->cell_idx);
    }
}

static bool imc_refill(struct imc_pass *pass, struct imc_lane *lane)
{
    while (pass->i_next < pass->n) {
        imc_look_ahead(pass);
        size_t i = pass->i_next++;
        struct storm_packet *packet = pass->packets[i];
        if (!imc_admit(pass, packet, i))
            continue;
        if (!(packet->optical_depth > 0.0))
            imc_draw_depth(pass, packet);
        lane->packet = packet;
        lane->i_packet = i;
        lane->start = pass->round;
        lane->cell = packet->cell_idx;
        lane->time_left_s = packet->time_left_s;
        lane->weight = packet->weight;
        lane->light_weight = imc_analogue_below * packet->birth_weight;
        lane->depth = packet->optical_depth;
        geom_enter(&pass->geom, &lane->geom, packet);
        STORM_ASSERT(geom_holds(&pass->geom, &lane->geom, lane->cell));
        return true;
    }
    return false;
}

/* Writes a packet back and gives its lane to the next. False if there is none:
 * the lane is then what was the last one. */
static bool imc_retire(struct imc_pass *pass, struct imc_lane *lane,
                       storm_fate fate)
{
    struct storm_packet *packet = lane->packet;
    struct storm_outcome *outcome = &pass->outcomes[lane->i_packet];
    geom_leave(&lane->geom, packet);
    packet->time_left_s = lane->time_left_s;
    packet->weight = lane->weight;
    packet->optical_depth = lane->depth;
    if (fate != STORM_FATE_SEND) {
        STORM_ASSERT(geom_holds(&pass->geom, &lane->geom, lane->cell));
        packet->cell_idx = lane->cell;
        packet->cell = pass->geom.first + (storm_cell_id)lane->cell;
    }
    if (fate == STORM_FATE_ESCAPED)
        storm_ledger_add(pass->track->escaped, packet->weight);
    outcome->fate = (int32_t)fate;
    outcome->events = pass->round - lane->start;
    if (imc_refill(pass, lane))
        return true;
    *lane = pass->lanes[--pass->n_lanes];
    return false;
}

/* As track_expire: sends back packets after max_events. */
static uint64_t imc_expire(struct imc_pass *pass)
{
    uint64_t most = pass->track->max_events, oldest = pass->round;
    for (int k = 0; k < pass->n_lanes;) {
        struct imc_lane *lane = &pass->lanes[k];
        if (pass->round - lane->start >= most) {
            (void)imc_retire(pass, lane, STORM_FATE_CONTINUE);
            continue;
        }
        if (lane->start < oldest)
            oldest = lane->start;
        k++;
    }
    return most < UINT64_MAX - oldest ? oldest + most : UINT64_MAX;
}

/* ---- events ---------------------------------------------------------------- */

/* Does the packet turn round at this wall? */
static bool imc_is_mirror(const struct imc_pass *pass,
                          const struct imc_lane *lane, int wall)
{
    const struct imc_track *track = pass->track;
    if (STORM_LIKELY(!(track->split_walls >> wall & 1u)))
        return track->mirror_walls >> wall & 1u;
    struct storm_packet at = *lane->packet;
    geom_leave(&lane->geom, &at);
    return imc_wall_reflects(track->problem, wall, at.position);
}

/* A face that leads out of the rank's cells. Returns like imc_retire; true
 * also if the packet goes on. */
static bool imc_border(struct imc_pass *pass, struct imc_lane *lane,
                       int32_t next, uint32_t side)
{
    struct geom_exit way = geom_exit(&pass->geom, next);
    if (way.rank < 0) {
        if (!imc_is_mirror(pass, lane, way.wall))
            return imc_retire(pass, lane, STORM_FATE_ESCAPED);
        geom_mirror(&pass->geom, &lane->geom, lane->packet, side);
        return true;
    }
    geom_wrap(&pass->geom, &lane->geom, next, side);
    if (way.rank == pass->geom.rank) {
        lane->cell = way.idx;
        STORM_ASSERT(geom_holds(&pass->geom, &lane->geom, lane->cell));
        return true;
    }
    lane->packet->cell = way.id;
    lane->packet->cell_idx = way.idx;
    pass->outcomes[lane->i_packet].rank = way.rank;
    return imc_retire(pass, lane, STORM_FATE_SEND);
}

/* The group of what a cell emits, eq. (14). */
static int32_t imc_draw_group(const struct imc_track *track,
                              storm_cell_idx cell, double u)
{
    const struct imc_opacity *o =
        &track->opacity[(size_t)cell * track->n_groups];
    size_t low = 0, high = track->n_groups - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (o[middle].emission < u)
            low = middle + 1;
        else
            high = middle;
    }
    return (int32_t)low;
}

/* In the cell for `seconds`: deposits and counts path, eqs. (5) and (7). */
TRACK_INLINE void imc_spend(const struct imc_track *track,
                            struct imc_lane *lane, double seconds,
                            bool analogue)
{
    struct imc_cell *cell = &track->cells[lane->cell];
    double weight = lane->weight;
    double path = track->light_cm_s * seconds;
    double x = analogue ? 0.0 : lane->absorb_s * seconds;
    double lost;
    if (STORM_LIKELY(x < imc_thin)) {
        double mean = imc_mean(x);
        lost = weight * (x * mean);
        path *= weight * mean;
    } else {
        lost = weight - weight * exp(-x);
        path = lost * track->light_cm_s / lane->absorb_s;
    }
    /* Both differences are exact: what is lost is what is deposited (I3). */
    lane->weight = weight - lost;
    lost = weight - lane->weight;
    if (lost > 0.0)
        cell->deposit += track_term(lost, track->deposit_unit);
    cell->path += track_term(path, track->path_unit);
    cell->events++;
    lane->time_left_s -= seconds;
}

/* Puts the packet at this distance from where it was, in a random direction
 * which is handed out. */
static void imc_displace(struct imc_lane *lane, double distance, double u0,
                         double u1, double way_out[3])
{
    geom_leave(&lane->geom, lane->packet);
    storm_isotropic(u0, u1, way_out);
    for (int d = 0; d < 3; d++)
        lane->packet->position[d] += distance * way_out[d];
}

/* A direction out of a thick medium, eq. (18): mu is the larger of two or the
 * largest of three numbers. */
static void imc_outwards(const double normal[3], const double u[4],
                         double direction_out[3])
{
    double mu = u[0] > u[1] ? u[0] : u[1], circle[3], a[3], b[3];
    if (u[2] < 0.5) {
        double third = 2.0 * u[2];
        mu = third > mu ? third : mu;
    }
    storm_isotropic(0.5, u[3], circle);
    /* Two directions across the normal, from its smallest component. */
    int k = fabs(normal[0]) < fabs(normal[1]) ? 0 : 1;
    k = fabs(normal[2]) < fabs(normal[k]) ? 2 : k;
    for (int d = 0; d < 3; d++)
        a[d] = (d == k) - normal[k] * normal[d];
    double inverse = 1.0 / sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    for (int d = 0; d < 3; d++)
        a[d] *= inverse;
    for (int d = 0; d < 3; d++)
        b[d] = normal[(d + 1) % 3] * a[(d + 2) % 3] -
               normal[(d + 2) % 3] * a[(d + 1) % 3];
    double across = sqrt(1.0 - mu * mu);
    for (int d = 0; d < 3; d++)
        direction_out[d] =
            mu * normal[d] + across * (circle[0] * a[d] + circle[1] * b[d]);
}

/* A sphere about a packet that has just collided, in which many collisions are
 * as one. */
struct imc_sphere {
    double radius_cm;
    struct storm_walk_medium medium;
    const struct storm_walk_group *groups; /* of the cell; NULL: grey */
    size_t n_thick;                        /* that walk */
};

/* Deep enough in a cell that scatters? */
static bool imc_sphere_grey(const struct imc_pass *pass,
                            const struct imc_lane *lane,
                            struct imc_sphere *sphere_out)
{
    double light = pass->track->light_cm_s;
    double rate = lane->absorb_s + lane->scatter_s; /* 1/s */
    if (lane->scatter_s < storm_walk_scatter * rate ||
        rate * lane->time_left_s < storm_walk_depth)
        return false;
    double radius = geom_clearance(&pass->geom, &lane->geom, lane->cell);
    if (!(radius * rate >= storm_walk_depth * light))
        return false;
    *sphere_out = (struct imc_sphere){
        .radius_cm = radius,
        .medium =
            storm_walk_grey(lane->absorb_s / light, lane->scatter_s / light),
    };
    return true;
}

/* The same for a packet that has just changed its group: is that thick, and
 * would it stay among thick groups for a while? */
static bool imc_sphere_groups(const struct imc_pass *pass,
                              const struct imc_lane *lane,
                              struct imc_sphere *sphere_out)
{
    const struct imc_track *track = pass->track;
    size_t n = track->n_groups;
    const struct imc_opacity *o =
        &track->opacity[(size_t)lane->cell * n + (size_t)lane->packet->group];
    double own =
        storm_walk_thickness(o->absorb, o->scatter, o->effective * o->scatter);
    double length = track->light_cm_s * lane->time_left_s;
    if (!(own * length >= storm_walk_depth))
        return false;
    double radius = geom_clearance(&pass->geom, &lane->geom, lane->cell);
    length = radius < length ? radius : length;
    if (!(own * length >= storm_walk_depth))
        return false;
    const struct storm_walk_group *groups =
        &track->thick[(size_t)lane->cell * n];
    size_t n_thick = storm_walk_thick(groups, n, length);
    if (n_thick == 0 ||
        groups[n_thick - 1].sum[STORM_WALK_EVENTS] <
            storm_walk_together * groups[n - 1].sum[STORM_WALK_EVENTS])
        return false;
    *sphere_out = (struct imc_sphere){
        .radius_cm = radius,
        .medium = storm_walk_ensemble(groups, n, n_thick),
        .groups = groups,
        .n_thick = n_thick,
    };
    return true;
}

/* The group after a walk, eq. (24). */
static void imc_walk_group(const struct imc_pass *pass, struct imc_lane *lane,
                           const struct imc_sphere *sphere,
                           enum storm_walk_end end)
{
    double u[4];
    if (sphere->groups == NULL)
        return;
    storm_packet_random(lane->packet, pass->track->seed, u);
    lane->packet->group = storm_walk_draw(sphere->groups, pass->track->n_groups,
                                          sphere->n_thick, end, u);
    imc_look_up(pass, lane);
}

/* Many collisions as one, eqs. (15) to (24). The packet has just collided: its
 * direction does not matter. Returns like imc_retire. */
static bool imc_walk(struct imc_pass *pass, struct imc_lane *lane,
                     const struct imc_sphere *sphere, bool analogue)
{
    const struct imc_track *track = pass->track;
    const struct storm_walk_medium *medium = &sphere->medium;
    struct storm_packet *packet = lane->packet;
    double u[4], v[4], way[3], light = track->light_cm_s;
    storm_packet_random(packet, track->seed, u);
    storm_packet_random(packet, track->seed, v);
    double whole = sphere->radius_cm + medium->beyond_cm;
    double scale = light * medium->diffusion_cm / (whole * whole);
    double seconds = storm_walk_exit(track->walk, u[0]) / scale;
    enum storm_walk_end end = STORM_WALK_OUT;
    if (!(seconds < lane->time_left_s)) {
        seconds = lane->time_left_s;
        end = STORM_WALK_CENSUS;
    }
    lane->absorb_s = medium->absorb * light;
    double absorbed_s = analogue ? -log(u[1]) / lane->absorb_s : INFINITY;
    if (medium->leak > 0.0) {
        double w[4];
        storm_packet_random(packet, track->seed, w);
        double leak_s = -log(w[0]) / (medium->leak * light);
        if (leak_s < seconds) {
            seconds = leak_s;
            end = STORM_WALK_LEAK;
        }
    }
    if (absorbed_s < seconds) {
        imc_spend(track, lane, absorbed_s, true);
        track->cells[lane->cell].deposit +=
            track_term(lane->weight, track->deposit_unit);
        lane->weight = 0.0;
        return imc_retire(pass, lane, STORM_FATE_ABSORBED);
    }
    imc_spend(track, lane, seconds, analogue);
    if (!(lane->weight > 0.0))
        return imc_retire(pass, lane, STORM_FATE_ABSORBED);
    double distance = sphere->radius_cm;
    if (end != STORM_WALK_OUT) {
        double lost_s =
            end == STORM_WALK_CENSUS ? medium->lost_cm / light : 0.0;
        double theta = scale * (seconds - lost_s);
        distance =
            fmin(distance, whole * storm_walk_radius(track->walk, theta, v));
    }
    imc_displace(lane, distance, u[2], u[3], way);
    storm_packet_random(packet, track->seed, v);
    if (end == STORM_WALK_OUT)
        imc_outwards(way, v, packet->direction);
    else
        storm_isotropic(v[0], v[1], packet->direction);
    imc_walk_group(pass, lane, sphere, end);
    imc_draw_depth(pass, packet);
    lane->depth = packet->optical_depth;
    packet->cell_idx = lane->cell;
    geom_enter(&pass->geom, &lane->geom, packet);
    STORM_ASSERT(geom_holds(&pass->geom, &lane->geom, lane->cell));
    return end != STORM_WALK_CENSUS ||
           imc_retire(pass, lane, STORM_FATE_CENSUS);
}

/* Effective scattering draws a new group, eq. (14). Returns whether it was
 * effective. */
static bool imc_change_group(const struct imc_pass *pass, struct imc_lane *lane)
{
    const struct imc_track *track = pass->track;
    struct storm_packet *packet = lane->packet;
    const struct imc_opacity *o =
        &track->opacity[(size_t)lane->cell * track->n_groups +
                        (size_t)packet->group];
    double u[4];
    storm_packet_random(packet, track->seed, u);
    if (!(u[0] < o->effective))
        return false;
    packet->group = imc_draw_group(track, lane->cell, u[1]);
    imc_look_up(pass, lane);
    return true;
}

/* A collision: absorbed as a whole (K2), or a new direction, maybe a new
 * group. Returns like imc_retire. */
static bool imc_collide(struct imc_pass *pass, struct imc_lane *lane,
                        bool analogue)
{
    const struct imc_track *track = pass->track;
    struct storm_packet *packet = lane->packet;
    struct imc_sphere sphere;
    double u[4];
    storm_packet_random(packet, track->seed, u);
    if (analogue &&
        u[0] * (lane->absorb_s + lane->scatter_s) < lane->absorb_s) {
        track->cells[lane->cell].deposit +=
            track_term(lane->weight, track->deposit_unit);
        lane->weight = 0.0;
        return imc_retire(pass, lane, STORM_FATE_ABSORBED);
    }
    bool walks;
    if (track->n_groups > 1)
        walks = imc_change_group(pass, lane) && track->walk != NULL &&
                imc_sphere_groups(pass, lane, &sphere);
    else
        walks = track->walk != NULL && imc_sphere_grey(pass, lane, &sphere);
    if (walks)
        return imc_walk(pass, lane, &sphere, analogue);
    storm_isotropic(u[1], u[2], packet->direction);
    lane->depth = -log(u[3]);
    geom_leave(&lane->geom, packet);
    packet->cell_idx = lane->cell;
    geom_enter(&pass->geom, &lane->geom, packet);
    return true;
}

/* The lane has crossed into a cell that is outside. That it did so counts as
 * an event already. */
static bool imc_leave(struct imc_pass *pass, struct imc_lane *lane)
{
    lane->start++;
    return imc_retire(pass, lane, STORM_FATE_ESCAPED);
}

/* One event of one packet. Returns like imc_retire. */
TRACK_INLINE bool imc_step(struct imc_pass *pass, struct imc_lane *lane)
{
    uint32_t side;
    if (STORM_UNLIKELY(pass->track->cells[lane->cell].outside))
        return imc_leave(pass, lane);
    imc_look_up(pass, lane);
    bool analogue = lane->weight < lane->light_weight;
    double rate = lane->scatter_s + (analogue ? lane->absorb_s : 0.0);
    double seconds = geom_nearest(&lane->geom, &side);
    enum imc_event event = IMC_FACE;
    if (!(seconds < lane->time_left_s)) {
        seconds = lane->time_left_s;
        event = IMC_END;
    }
    if (STORM_UNLIKELY(lane->depth < rate * seconds)) {
        seconds = lane->depth / rate;
        event = IMC_COLLISION;
    }
    imc_spend(pass->track, lane, seconds, analogue);
    geom_move(&lane->geom, seconds);
    if (STORM_UNLIKELY(!(lane->weight > 0.0)))
        return imc_retire(pass, lane, STORM_FATE_ABSORBED);
    if (event == IMC_COLLISION)
        return imc_collide(pass, lane, analogue);
    /* Never zero: that would be drawn anew, on some ranks and not on others. */
    double depth = lane->depth - rate * seconds;
    lane->depth = depth > DBL_MIN ? depth : DBL_MIN;
    if (event == IMC_END)
        return imc_retire(pass, lane, STORM_FATE_CENSUS);
    geom_touch(&lane->geom, side);
    int32_t next = geom_next(&pass->geom, &lane->geom, lane->cell, side);
    if (STORM_UNLIKELY(next < 0))
        return imc_border(pass, lane, next, side);
    geom_cross(&pass->geom, &lane->geom, side, next);
    lane->cell = next;
    STORM_ASSERT(geom_holds(&pass->geom, &lane->geom, next));
    imc_prefetch(pass, next);
    return true;
}

static void imc_advance(const struct imc_track *track, void *const *packets,
                        size_t n, struct storm_outcome *outcomes_out)
{
    struct imc_pass pass;
    pass.track = track;
    pass.geom = geom_open(track->mesh, track->light_cm_s);
    pass.packets = packets;
    pass.n = n;
    pass.i_next = 0;
    pass.outcomes = outcomes_out;
    pass.round = 0;
    pass.n_lanes = 0;
    while (pass.n_lanes < TRACK_LANES &&
           imc_refill(&pass, &pass.lanes[pass.n_lanes]))
        pass.n_lanes++;
    uint64_t due = track->max_events;
    while (pass.n_lanes > 0) {
        if (STORM_UNLIKELY(pass.round == due))
            due = imc_expire(&pass);
        pass.round++;
        for (struct imc_lane *lane = pass.lanes;
             lane < pass.lanes + pass.n_lanes; lane++)
            lane -= !imc_step(&pass, lane);
    }
}

#endif /* STORM_PHYSICS_IMC_KERNEL_H */
