/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * imc_step of all lanes at once, for imc_kernel.h, which includes it: kernels
 * for processors that count nothing beyond groups, of matter at rest. The same
 * bits: each operation is that of imc_step, which devices and other kernels
 * have.
 *
 * Passes over the lanes: what each flight reads, flights (the compiler takes
 * several lanes at a time), what they add and crossings, then the lanes in
 * which something else happened. Which lanes collide cannot be predicted: they
 * cross into their own cell, and wait in a mask.
 */
#ifndef STORM_PHYSICS_IMC_LANES_KERNEL_H
#define STORM_PHYSICS_IMC_LANES_KERNEL_H

#include "base/math_wide.h"

enum { IMC_WIDE = LANES < 8 ? LANES : 8 };

/* One round, by lane. Of lanes that are not in use: numbers. */
struct imc_round {
    double seconds[LANES];
    double absorb_s[LANES], scatter_s[LANES];
    double weight[LANES], light_weight[LANES], depth[LANES], left_s[LANES];
    double lost[LANES], path[LANES];
    int64_t event[LANES], analogue[LANES];
    uint32_t side[LANES];
    /* Lanes to look at, a bit for each. */
    uint32_t outside, borders, collisions, ends;
    int64_t thick; /* not 0: of some lanes imc_mean's series does not do */
};

LANES_INLINE void imc_read(const struct pass *pass, struct lane *lane,
                           struct imc_round *r, int k)
{
    const struct imc_track *track = pass->imc;
    const struct imc_cell *cell = &track->cells[lane->cell];
    if (track->n_groups == 1) {
        r->absorb_s[k] = cell->absorb;
        r->scatter_s[k] = cell->scatter;
    } else {
        const struct imc_opacity *o =
            &track->opacity[(size_t)lane->cell * track->n_groups +
                            (size_t)lane->packet->group];
        r->absorb_s[k] = o->absorb;
        r->scatter_s[k] = o->scatter;
    }
    r->outside |= (uint32_t)(cell->outside != 0) << k;
    r->weight[k] = lane->imc.weight;
    r->light_weight[k] = lane->imc.light_weight;
    r->depth[k] = lane->imc.depth;
    r->left_s[k] = lane->time_left_s;
    r->seconds[k] = geom_reach(&lane->geom, &r->side[k]);
}

typedef double imc_reals __attribute__((vector_size(8 * IMC_WIDE)));
typedef int64_t imc_words __attribute__((vector_size(8 * IMC_WIDE)));

/* a where the bits of `is` are set, else b. Vectors are not passed by value:
 * how depends on the instruction set. */
#define IMC_SELECT(_is, _a, _b) \
    ((imc_reals)(((imc_words)(_a) & (_is)) | ((imc_words)(_b) & ~(_is))))

/* imc_mean */
LANES_INLINE void imc_mean_wide(const imc_reals *x_in, imc_reals *mean_out)
{
    const double *c = imc_mean_series;
    imc_reals x = *x_in, x2 = x * x, x4 = x2 * x2;
    imc_reals a = (c[0] + c[1] * x) + (c[2] + c[3] * x) * x2;
    imc_reals b = (c[4] + c[5] * x) + (c[6] + c[7] * x) * x2;
    imc_reals d = (c[8] + c[9] * x) + (c[10] + c[11] * x) * x2;
    *mean_out = (a + b * x4) + (d + c[12] * x4) * (x4 * x4);
}

/* imc_step up to the event, and imc_spend, of lanes from k on. */
LANES_INLINE int64_t imc_fly_wide(struct imc_round *r, int k,
                                  const double light_cm_s)
{
    const imc_reals zero = {0.0};
    imc_reals absorb_s, scatter_s, seconds, left_s, depth, weight, light;
    memcpy(&absorb_s, &r->absorb_s[k], sizeof absorb_s);
    memcpy(&scatter_s, &r->scatter_s[k], sizeof scatter_s);
    memcpy(&seconds, &r->seconds[k], sizeof seconds);
    memcpy(&left_s, &r->left_s[k], sizeof left_s);
    memcpy(&depth, &r->depth[k], sizeof depth);
    memcpy(&weight, &r->weight[k], sizeof weight);
    memcpy(&light, &r->light_weight[k], sizeof light);
    absorb_s = absorb_s * light_cm_s;
    scatter_s = scatter_s * light_cm_s;
    imc_words analogue = (imc_words)(weight < light);
    imc_reals rate = scatter_s + IMC_SELECT(analogue, absorb_s, zero);
    imc_words faces = (imc_words)(seconds < left_s);
    seconds = IMC_SELECT(faces, seconds, left_s);
    imc_words collides = (imc_words)(depth < rate * seconds);
    seconds = IMC_SELECT(collides, depth / rate, seconds);
    imc_words event = (~faces & (int64_t)IMC_END & ~collides) |
                      (collides & (int64_t)IMC_COLLISION);
    imc_reals x = IMC_SELECT(analogue, zero, absorb_s * seconds), mean;
    imc_mean_wide(&x, &mean);
    imc_reals lost = weight * (x * mean);
    imc_reals path = light_cm_s * seconds * (weight * mean);
    imc_reals after = weight - lost;
    imc_reals rest = depth - rate * seconds;
    imc_reals least = zero + DBL_MIN;
    rest = IMC_SELECT((imc_words)(rest > least), rest, least);
    rest = IMC_SELECT(collides, depth, rest);
    imc_words thick = ~(imc_words)(x < imc_thin);
    lost = weight - after;
    left_s = left_s - seconds;
    memcpy(&r->absorb_s[k], &absorb_s, sizeof absorb_s);
    memcpy(&r->scatter_s[k], &scatter_s, sizeof scatter_s);
    memcpy(&r->seconds[k], &seconds, sizeof seconds);
    memcpy(&r->left_s[k], &left_s, sizeof left_s);
    memcpy(&r->depth[k], &rest, sizeof rest);
    memcpy(&r->weight[k], &after, sizeof after);
    memcpy(&r->lost[k], &lost, sizeof lost);
    memcpy(&r->path[k], &path, sizeof path);
    memcpy(&r->event[k], &event, sizeof event);
    memcpy(&r->analogue[k], &analogue, sizeof analogue);
    int64_t is = 0;
    for (int i = 0; i < IMC_WIDE; i++)
        is |= thick[i];
    return is;
}

LANES_INLINE void imc_fly(struct imc_round *r, const double light_cm_s)
{
    r->thick = 0;
    for (int k = 0; k < LANES; k += IMC_WIDE)
        r->thick |= imc_fly_wide(r, k, light_cm_s);
}

/* imc_spend where the series does not do. */
static STORM_RARE void imc_fly_thick(const struct pass *pass,
                                     struct imc_round *r)
{
    for (int k = 0; k < pass->n_lanes; k++) {
        double weight = pass->lanes[k].imc.weight;
        double x = r->analogue[k] ? 0.0 : r->absorb_s[k] * r->seconds[k];
        if (x < imc_thin)
            continue;
        double lost = weight - weight * storm_exp(-x);
        r->path[k] = lost * pass->imc->light_cm_s / r->absorb_s[k];
        r->weight[k] = weight - lost;
        r->lost[k] = weight - r->weight[k];
    }
}

/* Into a local cell. */
LANES_INLINE void imc_cross(const struct pass *pass, struct lane *lane,
                            uint32_t side, storm_cell_idx next)
{
    geom_cross(&pass->geom, &lane->geom, side, next);
    lane->cell = next;
    STORM_ASSERT(geom_holds(&pass->geom, &lane->geom, next));
    geom_prefetch(&pass->geom, next);
    imc_prefetch(pass, next, lane->packet);
}

/* What the flight of a lane adds; into the next cell if nothing else
 * happened. */
LANES_INLINE void imc_arrive(struct pass *pass, struct lane *lane,
                             struct imc_round *r, int k,
                             const enum imc_counts counts)
{
    const struct imc_track *track = pass->imc;
    struct imc_cell *cell = &track->cells[lane->cell];
    if (r->lost[k] > 0.0)
        on_add(&cell->deposit, lanes_term(r->lost[k], track->deposit_unit));
    storm_exact path = lanes_term(r->path[k], track->path_unit);
    on_add(&cell->path, path);
    on_count(&cell->events);
    if (counts)
        imc_count_flight(track, lane, path, 0.0, counts);
    uint32_t gone = !(r->weight[k] > 0.0);
    lane->imc.weight = r->weight[k];
    if (STORM_LIKELY(!gone))
        lane->imc.depth = r->depth[k];
    lane->time_left_s = r->left_s[k];
    geom_move(&lane->geom, r->seconds[k]);
    int64_t event = r->event[k];
    r->collisions |= (uint32_t)(event == IMC_COLLISION) << k;
    r->ends |= ((uint32_t)(event == IMC_END) | gone) << k;
    bool crosses = (event == IMC_FACE) & !gone;
    int32_t next = geom_next(&pass->geom, &lane->geom, lane->cell, r->side[k]);
    next = crosses ? next : lane->cell;
    if (STORM_UNLIKELY(next < 0)) {
        r->borders |= 1u << k;
        return;
    }
    imc_cross(pass, lane, r->side[k], next);
}

LANES_INLINE uint32_t imc_moved(uint32_t mask, int from, int to)
{
    uint32_t bit = mask >> from & 1u;
    return (mask & ~(1u << from)) | bit << to;
}

/* After lane k has had its event: if it has no packet any more, the last one is
 * there now. */
LANES_INLINE void imc_close_gap(struct pass *pass, struct imc_round *r, int k,
                                bool more)
{
    int last = pass->n_lanes;
    if (STORM_LIKELY(more) || last == k)
        return;
    r->side[k] = r->side[last];
    r->event[k] = r->event[last];
    r->absorb_s[k] = r->absorb_s[last];
    r->scatter_s[k] = r->scatter_s[last];
    r->analogue[k] = r->analogue[last];
    r->outside = imc_moved(r->outside, last, k);
    r->borders = imc_moved(r->borders, last, k);
    r->collisions = imc_moved(r->collisions, last, k);
    r->ends = imc_moved(r->ends, last, k);
}

LANES_INLINE int imc_take_lane(uint32_t *mask)
{
    int k = __builtin_ctz(*mask);
    *mask &= *mask - 1;
    return k;
}

/* Packets in cells that do not transport. */
static STORM_RARE void imc_leave_lanes(struct pass *pass, struct imc_round *r)
{
    while (r->outside != 0) {
        int k = imc_take_lane(&r->outside);
        imc_close_gap(pass, r, k, imc_leave(pass, &pass->lanes[k]));
    }
}

LANES_INLINE void imc_cross_borders(struct pass *pass, struct imc_round *r)
{
    while (r->borders != 0) {
        int k = imc_take_lane(&r->borders);
        struct lane *lane = &pass->lanes[k];
        geom_touch(&lane->geom, r->side[k]);
        int32_t next =
            geom_next(&pass->geom, &lane->geom, lane->cell, r->side[k]);
        if (next >= 0) /* the border was one between several cells */
            imc_cross(pass, lane, r->side[k], next);
        else
            imc_close_gap(pass, r, k, imc_border(pass, lane, next, r->side[k]));
    }
}

/* ---- collisions ---------------------------------------------------------- */

/* Lanes that scatter, up to as many as there are, and their numbers. */
struct imc_scattered {
    int n;
    int lane[LANES];
    double u0[LANES], u1[LANES], u2[LANES];
};

/* imc_collide_as without walks, up to the new direction. */
LANES_INLINE void imc_collide_lane(const struct pass *pass, struct lane *lane,
                                   struct imc_round *r, int k,
                                   struct imc_scattered *s)
{
    const struct imc_track *track = pass->imc;
    double u[4];
    storm_packet_random(lane->packet, track->seed, u);
    double absorb_s = r->analogue[k] ? r->absorb_s[k] : 0.0;
    double rate = u[0] * (absorb_s + r->scatter_s[k]);
    if (STORM_UNLIKELY(rate < absorb_s)) {
        r->event[k] = IMC_ABSORBED;
        r->ends |= 1u << k;
        return;
    }
    if (track->n_groups > 1) {
        lane->imc.absorb_s = r->absorb_s[k];
        (void)imc_change_group(pass, lane, rate - absorb_s);
    }
    int i = s->n++;
    s->lane[i] = k;
    s->u0[i] = u[1];
    s->u1[i] = u[2];
    s->u2[i] = u[3];
}

/* New directions and optical depths, of numbers from `first` on. */
LANES_INLINE void imc_scatter_wide(struct pass *pass, struct imc_scattered *s,
                                   int first)
{
    double log[STORM_WIDE], c[STORM_WIDE], sn[STORM_WIDE];
    storm_log_wide(&s->u2[first], log);
    storm_cos_sin_wide(&s->u1[first], c, sn);
    for (int i = 0; i < STORM_WIDE && first + i < s->n; i++) {
        struct lane *lane = &pass->lanes[s->lane[first + i]];
        double *direction = lane->packet->direction;
        double u = s->u0[first + i];
        double radius = 2.0 * sqrt(u * (1.0 - u));
        direction[0] = radius * c[i];
        direction[1] = radius * sn[i];
        direction[2] = 2.0 * u - 1.0;
        lane->imc.depth = -log[i];
        geom_aim(&pass->geom, &lane->geom, lane->packet, lane->cell);
    }
}

LANES_INLINE void imc_collide_lanes(struct pass *pass, struct imc_round *r,
                                    struct imc_scattered *s)
{
    s->n = 0;
    while (r->collisions != 0) {
        int k = imc_take_lane(&r->collisions);
        imc_collide_lane(pass, &pass->lanes[k], r, k, s);
    }
    for (int first = 0; first < s->n; first += STORM_WIDE)
        imc_scatter_wide(pass, s, first);
}

/* The same where packets may walk. */
LANES_INLINE void imc_collide_singly(struct pass *pass, struct imc_round *r,
                                     const enum imc_counts counts)
{
    while (r->collisions != 0) {
        int k = imc_take_lane(&r->collisions);
        struct lane *lane = &pass->lanes[k];
        lane->imc.absorb_s = r->absorb_s[k];
        lane->imc.scatter_s = r->scatter_s[k];
        bool more = imc_collide_as(pass, lane, r->analogue[k] != 0, counts,
                                   false, false);
        imc_close_gap(pass, r, k, more);
    }
}

/* One event of each lane. */
LANES_INLINE void imc_step_lanes(struct pass *pass, struct imc_round *r,
                                 struct imc_scattered *s,
                                 const enum imc_counts counts)
{
    r->outside = r->borders = r->collisions = r->ends = 0;
    for (int k = 0; k < pass->n_lanes; k++)
        imc_read(pass, &pass->lanes[k], r, k);
    imc_fly(r, pass->imc->light_cm_s);
    if (STORM_UNLIKELY(r->thick != 0))
        imc_fly_thick(pass, r);
    for (int k = 0; k < pass->n_lanes; k++)
        if (STORM_LIKELY(!(r->outside >> k & 1u)))
            imc_arrive(pass, &pass->lanes[k], r, k, counts);
    r->collisions &= ~r->ends;
    if (STORM_UNLIKELY(r->outside != 0))
        imc_leave_lanes(pass, r);
    imc_cross_borders(pass, r);
    if (pass->imc->walk != NULL)
        imc_collide_singly(pass, r, counts);
    else
        imc_collide_lanes(pass, r, s);
    while (r->ends != 0) {
        int k = imc_take_lane(&r->ends);
        struct lane *lane = &pass->lanes[k];
        bool more;
        if (r->event[k] == IMC_ABSORBED)
            more = imc_absorb(pass, lane);
        else
            more = imc_retire(pass, lane,
                              lane->imc.weight > 0.0 ? STORM_FATE_CENSUS
                                                     : STORM_FATE_ABSORBED);
        imc_close_gap(pass, r, k, more);
    }
}

#endif /* STORM_PHYSICS_IMC_LANES_KERNEL_H */
