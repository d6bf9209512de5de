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

#include "physics/imc.h"
#include "physics/lanes.h"

/* Below this part of its birth weight a packet is absorbed as a whole. */
static const double imc_analogue_below = 0.01;

/* Below this optical depth a series replaces exp. */
static const double imc_thin = 0.5;

/* (1 - exp(-x)) / x for x <= imc_thin: mean weight over the path, relative.
 * Thirteen terms leave 2e-15; in pairs, so that the processor can work on
 * several at once. */
LANES_INLINE double imc_mean(double x)
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

enum imc_event { IMC_FACE, IMC_COLLISION, IMC_END };

/* At the start of each event, not at the crossing: the cell's memory then
 * arrives during the other lanes' events. */
LANES_INLINE void imc_load_cell(const struct pass *pass, struct lane *lane)
{
    const struct imc_track *track = pass->imc;
    if (track->n_groups == 1) {
        const struct imc_cell *cell = &track->cells[lane->cell];
        lane->imc.absorb_s = cell->absorb * track->light_cm_s;
        lane->imc.scatter_s = cell->scatter * track->light_cm_s;
    } else {
        const struct imc_opacity *o =
            &track->opacity[(size_t)lane->cell * track->n_groups +
                            (size_t)lane->packet->group];
        lane->imc.absorb_s = o->absorb * track->light_cm_s;
        lane->imc.scatter_s = o->scatter * track->light_cm_s;
    }
}

/* ---- functions for the scheduler ---------------------------------------- */

static void imc_draw_depth(const struct pass *pass, struct storm_packet *packet)
{
    double u[4];
    storm_packet_random(packet, pass->imc->seed, u);
    packet->optical_depth = -log(u[0]);
}

/* Not into a cell that does not transport. */
LANES_INLINE bool imc_load(const struct pass *pass, struct lane *lane,
                           struct storm_outcome *outcome_out)
{
    struct storm_packet *packet = lane->packet;
    if (STORM_UNLIKELY(pass->imc->cells[lane->cell].outside)) {
        storm_ledger_add(pass->imc->escaped, packet->weight_erg);
        outcome_out->fate = STORM_FATE_ESCAPED;
        outcome_out->events = 0;
        return false;
    }
    if (!(packet->optical_depth > 0.0))
        imc_draw_depth(pass, packet);
    lane->imc.weight = packet->weight_erg;
    lane->imc.light_weight = imc_analogue_below * packet->birth_weight_erg;
    lane->imc.depth = packet->optical_depth;
    return true;
}

LANES_INLINE void imc_store(const struct pass *pass, const struct lane *lane,
                            storm_fate fate)
{
    lane->packet->weight_erg = lane->imc.weight;
    lane->packet->optical_depth = lane->imc.depth;
    if (fate == STORM_FATE_ESCAPED)
        storm_ledger_add(pass->imc->escaped, lane->imc.weight);
}

/* Parts of a wall may differ; borders to other ranks are open. */
static bool imc_is_mirror(const struct pass *pass, const struct lane *lane,
                          const struct storm_mesh_exit *exit)
{
    const struct imc_track *track = pass->imc;
    if (exit->rank >= 0)
        return false;
    if (STORM_LIKELY(track->edges[exit->wall] != IMC_EDGE_PARTS))
        return track->edges[exit->wall] == IMC_EDGE_MIRROR;
    struct storm_packet at = *lane->packet;
    geom_rest(&lane->geom, &at);
    return imc_wall_reflects(track->problem, exit->wall, at.position_cm);
}

LANES_INLINE void imc_prefetch(const struct pass *pass, storm_cell_idx cell)
{
    STORM_PREFETCH_WRITE(&pass->imc->cells[cell]);
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
    return lanes_retire(pass, lane, fate, &imc_kernel);
}

static bool imc_border(struct pass *pass, struct lane *lane, int32_t next,
                       uint32_t side)
{
    return lanes_border(pass, lane, next, side, &imc_kernel);
}

static uint64_t imc_expire(struct pass *pass)
{
    return lanes_expire(pass, &imc_kernel);
}

/* Now and then: packets that have had max_events, or samples (WATCH-1). Returns
 * the round of the next pause. */
static uint64_t imc_pause(struct pass *pass, uint64_t *expires_inout)
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
LANES_INLINE void imc_spend(const struct imc_track *track, struct lane *lane,
                            double seconds, bool analogue)
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
        lost = weight - weight * exp(-x);
        path = lost * track->light_cm_s / lane->imc.absorb_s;
    }
    /* Both differences are exact: what is lost is what is deposited (IMC-3). */
    lane->imc.weight = weight - lost;
    lost = weight - lane->imc.weight;
    if (lost > 0.0)
        cell->deposit += lanes_term(lost, track->deposit_unit);
    cell->path += lanes_term(path, track->path_unit);
    cell->events++;
    lane->time_left_s -= seconds;
}

/* Moves the packet by this distance in a random direction, which is
 * returned. */
static void imc_displace(struct lane *lane, double distance, double u0,
                         double u1, double direction_out[3])
{
    geom_leave(&lane->geom, lane->packet);
    storm_isotropic(u0, u1, direction_out);
    for (int d = 0; d < 3; d++)
        lane->packet->position_cm[d] += distance * direction_out[d];
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

/* A sphere about a packet that has just collided, in which many collisions
 * become one event. */
struct imc_sphere {
    double radius_cm;
    struct storm_walk_medium medium;
    const struct storm_walk_group *groups; /* of the cell; NULL: grey */
    size_t n_thick;                        /* that walk */
};

/* Deep enough in a cell that scatters? */
static bool imc_sphere_grey(const struct pass *pass, const struct lane *lane,
                            struct imc_sphere *sphere_out)
{
    double light = pass->imc->light_cm_s;
    double rate = lane->imc.absorb_s + lane->imc.scatter_s; /* 1/s */
    if (lane->imc.scatter_s < storm_walk_scatter * rate ||
        rate * lane->time_left_s < storm_walk_depth)
        return false;
    double radius = geom_clearance(&pass->geom, &lane->geom, lane->cell);
    if (!(radius * rate >= storm_walk_depth * light))
        return false;
    *sphere_out = (struct imc_sphere){
        .radius_cm = radius,
        .medium = storm_walk_grey(lane->imc.absorb_s / light,
                                  lane->imc.scatter_s / light),
    };
    return true;
}

/* The same for a packet that has just changed its group: is that thick, and
 * would it stay among thick groups for a while? */
static bool imc_sphere_groups(const struct pass *pass, const struct lane *lane,
                              struct imc_sphere *sphere_out)
{
    const struct imc_track *track = pass->imc;
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
static void imc_walk_group(const struct pass *pass, struct lane *lane,
                           const struct imc_sphere *sphere,
                           enum storm_walk_end end)
{
    double u[4];
    if (sphere->groups == NULL)
        return;
    storm_packet_random(lane->packet, pass->imc->seed, u);
    lane->packet->group = storm_walk_draw(sphere->groups, pass->imc->n_groups,
                                          sphere->n_thick, end, u);
    imc_load_cell(pass, lane);
}

/* Many collisions as one event, eqs. (15) to (24). The packet has just
 * collided: its direction does not matter. Returns like imc_retire. */
static bool imc_walk(struct pass *pass, struct lane *lane,
                     const struct imc_sphere *sphere, bool analogue)
{
    const struct imc_track *track = pass->imc;
    const struct storm_walk_medium *medium = &sphere->medium;
    struct storm_packet *packet = lane->packet;
    double u[4], v[4], direction[3], light = track->light_cm_s;
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
    lane->imc.absorb_s = medium->absorb * light;
    double absorbed_s = analogue ? -log(u[1]) / lane->imc.absorb_s : INFINITY;
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
            lanes_term(lane->imc.weight, track->deposit_unit);
        lane->imc.weight = 0.0;
        return imc_retire(pass, lane, STORM_FATE_ABSORBED);
    }
    imc_spend(track, lane, seconds, analogue);
    if (!(lane->imc.weight > 0.0))
        return imc_retire(pass, lane, STORM_FATE_ABSORBED);
    double distance = sphere->radius_cm;
    if (end != STORM_WALK_OUT) {
        double lost_s =
            end == STORM_WALK_CENSUS ? medium->lost_cm / light : 0.0;
        double theta = scale * (seconds - lost_s);
        distance =
            fmin(distance, whole * storm_walk_radius(track->walk, theta, v));
    }
    imc_displace(lane, distance, u[2], u[3], direction);
    storm_packet_random(packet, track->seed, v);
    if (end == STORM_WALK_OUT)
        imc_outwards(direction, v, packet->direction);
    else
        storm_isotropic(v[0], v[1], packet->direction);
    imc_walk_group(pass, lane, sphere, end);
    imc_draw_depth(pass, packet);
    lane->imc.depth = packet->optical_depth;
    packet->cell_idx = lane->cell;
    geom_enter(&pass->geom, &lane->geom, packet);
    STORM_ASSERT(geom_holds(&pass->geom, &lane->geom, lane->cell));
    return end != STORM_WALK_CENSUS ||
           imc_retire(pass, lane, STORM_FATE_CENSUS);
}

/* Effective scattering draws a new group, eq. (14). Returns whether it was
 * effective. */
static bool imc_change_group(const struct pass *pass, struct lane *lane)
{
    const struct imc_track *track = pass->imc;
    struct storm_packet *packet = lane->packet;
    const struct imc_opacity *o =
        &track->opacity[(size_t)lane->cell * track->n_groups +
                        (size_t)packet->group];
    double u[4];
    storm_packet_random(packet, track->seed, u);
    if (!(u[0] < o->effective))
        return false;
    packet->group = imc_draw_group(track, lane->cell, u[1]);
    imc_load_cell(pass, lane);
    return true;
}

/* A collision: absorbed as a whole (KERNEL-2), or a new direction, maybe a new
 * group. Returns like imc_retire. */
static bool imc_collide(struct pass *pass, struct lane *lane, bool analogue)
{
    const struct imc_track *track = pass->imc;
    struct storm_packet *packet = lane->packet;
    struct imc_sphere sphere;
    double u[4];
    storm_packet_random(packet, track->seed, u);
    if (analogue && u[0] * (lane->imc.absorb_s + lane->imc.scatter_s) <
                        lane->imc.absorb_s) {
        track->cells[lane->cell].deposit +=
            lanes_term(lane->imc.weight, track->deposit_unit);
        lane->imc.weight = 0.0;
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
    lane->imc.depth = -log(u[3]);
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
    return imc_retire(pass, lane, STORM_FATE_ESCAPED);
}

/* One event of one packet. Returns like imc_retire. */
LANES_INLINE bool imc_step(struct pass *pass, struct lane *lane)
{
    uint32_t side;
    if (STORM_UNLIKELY(pass->imc->cells[lane->cell].outside))
        return imc_leave(pass, lane);
    imc_load_cell(pass, lane);
    bool analogue = lane->imc.weight < lane->imc.light_weight;
    double rate = lane->imc.scatter_s + (analogue ? lane->imc.absorb_s : 0.0);
    double seconds = geom_nearest(&lane->geom, &side);
    enum imc_event event = IMC_FACE;
    if (!(seconds < lane->time_left_s)) {
        seconds = lane->time_left_s;
        event = IMC_END;
    }
    if (STORM_UNLIKELY(lane->imc.depth < rate * seconds)) {
        seconds = lane->imc.depth / rate;
        event = IMC_COLLISION;
    }
    imc_spend(pass->imc, lane, seconds, analogue);
    geom_move(&lane->geom, seconds);
    if (STORM_UNLIKELY(!(lane->imc.weight > 0.0)))
        return imc_retire(pass, lane, STORM_FATE_ABSORBED);
    if (event == IMC_COLLISION)
        return imc_collide(pass, lane, analogue);
    /* Never zero: that means "not drawn", and the next rank would draw. */
    double depth = lane->imc.depth - rate * seconds;
    lane->imc.depth = depth > DBL_MIN ? depth : DBL_MIN;
    if (event == IMC_END)
        return imc_retire(pass, lane, STORM_FATE_CENSUS);
    geom_touch(&lane->geom, side);
    int32_t next = geom_next(&pass->geom, &lane->geom, lane->cell, side);
    if (STORM_UNLIKELY(next < 0))
        return imc_border(pass, lane, next, side);
    geom_cross(&pass->geom, &lane->geom, side, next);
    lane->cell = next;
    STORM_ASSERT(geom_holds(&pass->geom, &lane->geom, next));
    geom_prefetch(&pass->geom, next);
    imc_prefetch(pass, next);
    return true;
}

static void imc_advance(const struct imc_track *track, void *const *packets,
                        size_t n, struct storm_outcome *outcomes_out)
{
    struct pass pass;
    pass.imc = track;
    pass.mesh = track->mesh;
    pass.max_events = track->max_events;
    pass.geom = geom_open(track->mesh, track->light_cm_s);
    lanes_open(&pass, packets, n, outcomes_out, &imc_kernel);
    uint64_t expires = track->max_events;
    uint64_t due = expires < IMC_WATCH_ROUNDS ? expires : IMC_WATCH_ROUNDS;
    while (pass.n_lanes > 0) {
        if (STORM_UNLIKELY(pass.round == due))
            due = imc_pause(&pass, &expires);
        pass.round++;
        for (struct lane *lane = pass.lanes; lane < pass.lanes + pass.n_lanes;
             lane++)
            lane -= !imc_step(&pass, lane);
    }
}

#endif /* STORM_PHYSICS_IMC_KERNEL_H */
