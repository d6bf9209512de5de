/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tracking kernel: one text, compiled once per kind of mesh. The includer
 * has included the geometry, which provides
 *
 *   struct geom          what a pass needs of the mesh, among it this rank and
 *                        its first id; geom_open
 *   struct geom_lane     a packet in flight: where it is and what is ahead.
 *                        A pure function of packet and cell
 *   geom_enter           the lane of a packet in its cell
 *   geom_nearest         seconds to the nearest face it moves towards, not
 *                        negative, infinite if there is none; and its `side`,
 *                        the geometry's name for that face
 *   geom_move            goes on for some seconds
 *   geom_touch           puts it on that side, as well as it can
 *   geom_face            the number of that side as a face of the cell
 *   geom_next            the local cell behind it, or ~index of a border
 *   geom_cross           into that local cell
 *   geom_mirror          turns the direction, of the packet too
 *   geom_exit, geom_wrap where a border leads; the jump of a periodic one
 *   geom_leave           writes the position into the packet
 *   geom_prefetch        the cell will be needed soon
 *   geom_holds           is it in this local cell, but for roundings? Asked
 *                        in debug builds, when a packet comes in, after each
 *                        crossing, and when it is written back
 *   geom_clearance       distance from the packet to the nearest face of its
 *                        cell, whichever way it moves (imc_kernel.h alone)
 *
 * Several packets are in flight, one event each in turn: the processor works
 * on all of them at once, and the memory of the cell each enters has the time
 * of the others' events to arrive. A lane lives in the first-level cache; its
 * fields are read and written one by one, never as vectors, because a vector
 * read after a narrow write waits for the write to reach the cache.
 */
#ifndef STORM_PHYSICS_TRACK_KERNEL_H
#define STORM_PHYSICS_TRACK_KERNEL_H

#include <string.h>

#include "base/port.h"
#include "physics/track.h"

/* Three copies of the loop, so that no crossing asks about the tally. */
#define TRACK_INLINE static inline __attribute__((always_inline))

enum {
    TRACK_LANES = 8,      /* packets in flight */
    TRACK_LOOK_AHEAD = 8, /* packets of the batch fetched before their turn */
    TRACK_CELL_AHEAD = 3  /* and their cells */
};

struct track_lane {
    struct geom_lane geom;
    double time_left_s;
    double power; /* weight times speed: times seconds, the tally's term */
    storm_cell_idx cell;
    size_t i_packet;
    uint64_t start; /* round in which it came in */
    struct storm_packet *packet;
};

/* A pass over one batch. */
struct track_pass {
    const struct storm_track *track;
    struct geom geom;
    void *const *packets;
    size_t n, i_next;
    struct storm_outcome *outcomes;
    uint64_t round; /* events of a lane are counted by rounds */
    int n_lanes;
    struct track_lane lanes[TRACK_LANES];
};

/* The next two are inlined by force: gcc drops calls of a function that does
 * nothing but prefetch. */
TRACK_INLINE void track_fetch(const struct track_pass *pass, size_t i)
{
    const char *line = pass->packets[i];
    STORM_PREFETCH_WRITE(line);
    STORM_PREFETCH_WRITE(line + STORM_CACHE_LINE);
}

TRACK_INLINE void track_look_ahead(const struct track_pass *pass)
{
    size_t i = pass->i_next + TRACK_LOOK_AHEAD;
    if (i < pass->n)
        track_fetch(pass, i);
    i = pass->i_next + TRACK_CELL_AHEAD;
    if (i < pass->n) {
        const struct storm_packet *packet = pass->packets[i];
        if (packet->cell_idx >= 0)
            geom_prefetch(&pass->geom, packet->cell_idx);
    }
}

/* T4 */
static void track_redirect(const struct track_pass *pass,
                           struct storm_packet *packet,
                           struct storm_outcome *outcome_out)
{
    outcome_out->fate = STORM_FATE_SEND;
    outcome_out->events = 0;
    outcome_out->rank =
        storm_mesh_owner(pass->track->mesh, packet->cell, &packet->cell_idx);
}

/* The next packet of the batch into a lane; false if there is none. */
static bool track_refill(struct track_pass *pass, struct track_lane *lane)
{
    while (pass->i_next < pass->n) {
        track_look_ahead(pass);
        size_t i = pass->i_next++;
        struct storm_packet *packet = pass->packets[i];
        if (STORM_UNLIKELY(packet->cell_idx < 0)) {
            track_redirect(pass, packet, &pass->outcomes[i]);
            continue;
        }
        lane->packet = packet;
        lane->i_packet = i;
        lane->start = pass->round;
        lane->cell = packet->cell_idx;
        lane->time_left_s = packet->time_left_s;
        lane->power = packet->weight * pass->track->speed_cm_s;
        geom_enter(&pass->geom, &lane->geom, packet);
        STORM_ASSERT(geom_holds(&pass->geom, &lane->geom, lane->cell));
        return true;
    }
    return false;
}

/* A packet is done for now: writes it back and gives its lane to the next.
 * False if the batch is empty: the lane is then what was the last one. */
static bool track_retire(struct track_pass *pass, struct track_lane *lane,
                         storm_fate fate)
{
    struct storm_packet *packet = lane->packet;
    struct storm_outcome *outcome = &pass->outcomes[lane->i_packet];
    geom_leave(&lane->geom, packet);
    packet->time_left_s = lane->time_left_s;
    if (fate != STORM_FATE_SEND) { /* else they have been set */
        STORM_ASSERT(geom_holds(&pass->geom, &lane->geom, lane->cell));
        packet->cell_idx = lane->cell;
        packet->cell = pass->geom.first + (storm_cell_id)lane->cell;
    }
    outcome->fate = (int32_t)fate;
    outcome->events = pass->round - lane->start;
    if (track_refill(pass, lane))
        return true;
    *lane = pass->lanes[--pass->n_lanes];
    return false;
}

/* A face that leads out of the rank's cells, or to them through a periodic
 * wall. Returns like track_retire; true also if the packet goes on. */
static bool track_border(struct track_pass *pass, struct track_lane *lane,
                         int32_t next, uint32_t side)
{
    const struct storm_track *track = pass->track;
    struct geom_exit way = geom_exit(&pass->geom, next);
    bool is_here = way.rank == pass->geom.rank;
    bool is_mirror = way.rank < 0 ? track->mirror_walls >> way.wall & 1u
                                  : track->mirror_borders && !is_here;
    if (is_mirror) {
        geom_mirror(&pass->geom, &lane->geom, lane->packet, side);
        return true;
    }
    if (way.rank < 0) {
        lane->packet->face = geom_face(&lane->geom, side);
        return track_retire(pass, lane, STORM_FATE_BOUNDARY);
    }
    geom_wrap(&pass->geom, &lane->geom, next, side);
    if (is_here) {
        lane->cell = way.idx;
        STORM_ASSERT(geom_holds(&pass->geom, &lane->geom, lane->cell));
        return true;
    }
    lane->packet->cell = way.id;
    lane->packet->cell_idx = way.idx;
    pass->outcomes[lane->i_packet].rank = way.rank;
    return track_retire(pass, lane, STORM_FATE_SEND);
}

/* max_events rounds after the oldest lane came in: sends back those whose
 * time has come and says when to look again. */
static uint64_t track_expire(struct track_pass *pass)
{
    uint64_t max_events = pass->track->max_events;
    uint64_t oldest = pass->round;
    for (int k = 0; k < pass->n_lanes;) {
        struct track_lane *lane = &pass->lanes[k];
        if (pass->round - lane->start >= max_events) {
            (void)track_retire(pass, lane, STORM_FATE_CONTINUE);
            continue; /* another packet is in the lane now */
        }
        if (lane->start < oldest)
            oldest = lane->start;
        k++;
    }
    return max_events < UINT64_MAX - oldest ? oldest + max_events : UINT64_MAX;
}

__extension__ typedef unsigned __int128 track_wide;

/* Any term; a function of its own, out of the loop's way. */
static storm_exact track_rare_term(double term, struct storm_exact_unit unit)
{
    return storm_exact_term(term, unit);
}

/*
 * storm_exact_term, faster for what a tally is made of: terms that are not
 * negative and have all their bits above the unit. A sign makes the shift as
 * wrong as bits below the unit do, so one question covers both.
 */
TRACK_INLINE storm_exact track_term(double term, struct storm_exact_unit unit)
{
    uint64_t bits;
    memcpy(&bits, &term, sizeof bits);
    int shift = (int)(bits >> 52) - 1075 - unit.lsb;
    if (STORM_UNLIKELY((unsigned)shift > STORM_EXACT_TERM_BITS - 53))
        return track_rare_term(term, unit);
    uint64_t mantissa = (bits & 0xfffffffffffffu) | UINT64_C(1) << 52;
    return (storm_exact)((track_wide)mantissa * (UINT64_C(1) << shift));
}

/* The loop, inlined with `tally` a constant. */
TRACK_INLINE void track_run(struct track_pass *pass, storm_tally_kind tally)
{
    const struct geom geom = pass->geom;
    const struct storm_exact_unit unit = pass->track->unit;
    storm_exact *const exact = pass->track->exact;
    double *const plain = pass->track->plain;
    uint64_t due = pass->track->max_events;

    while (pass->n_lanes > 0) {
        if (STORM_UNLIKELY(pass->round == due))
            due = track_expire(pass);
        pass->round++;
        for (struct track_lane *lane = pass->lanes;
             lane < pass->lanes + pass->n_lanes; lane++) {
            uint32_t side;
            double to_face_s = geom_nearest(&lane->geom, &side);
            bool at_census = !(to_face_s < lane->time_left_s);
            double seconds =
                to_face_s < lane->time_left_s ? to_face_s : lane->time_left_s;
            storm_cell_idx cell = lane->cell;
            if (tally == STORM_TALLY_EXACT)
                exact[cell] += track_term(lane->power * seconds, unit);
            else if (tally == STORM_TALLY_DOUBLE)
                plain[cell] += lane->power * seconds;
            lane->time_left_s -= seconds;
            geom_move(&lane->geom, seconds);
            if (STORM_UNLIKELY(at_census)) {
                lane -= !track_retire(pass, lane, STORM_FATE_CENSUS);
                continue;
            }
            geom_touch(&lane->geom, side);
            int32_t next = geom_next(&geom, &lane->geom, cell, side);
            if (STORM_UNLIKELY(next < 0)) {
                lane -= !track_border(pass, lane, next, side);
                continue;
            }
            geom_cross(&geom, &lane->geom, side, next);
            lane->cell = next;
            STORM_ASSERT(geom_holds(&geom, &lane->geom, next));
            geom_prefetch(&geom, next);
            if (tally == STORM_TALLY_EXACT)
                STORM_PREFETCH_WRITE(&exact[next]);
            else if (tally == STORM_TALLY_DOUBLE)
                STORM_PREFETCH_WRITE(&plain[next]);
        }
    }
}

static void track_run_exact(struct track_pass *pass)
{
    track_run(pass, STORM_TALLY_EXACT);
}

static void track_run_double(struct track_pass *pass)
{
    track_run(pass, STORM_TALLY_DOUBLE);
}

static void track_run_off(struct track_pass *pass)
{
    track_run(pass, STORM_TALLY_OFF);
}

static void track_advance(const struct storm_track *track, void *const *packets,
                          size_t n, struct storm_outcome *outcomes_out)
{
    /* Called through a table so that they stay functions of their own, with
     * the pass behind one pointer: gcc's code is faster by a tenth. */
    static void (*const run[])(struct track_pass *) = {
        [STORM_TALLY_EXACT] = track_run_exact,
        [STORM_TALLY_DOUBLE] = track_run_double,
        [STORM_TALLY_OFF] = track_run_off,
    };
    struct track_pass pass; /* lanes are filled as they are needed */
    pass.track = track;
    pass.geom = geom_open(track->mesh, track->speed_cm_s);
    pass.packets = packets;
    pass.n = n;
    pass.i_next = 0;
    pass.outcomes = outcomes_out;
    pass.round = 0;
    pass.n_lanes = 0;
    for (size_t i = 0; i < n && i < TRACK_LOOK_AHEAD; i++)
        track_fetch(&pass, i);
    while (pass.n_lanes < TRACK_LANES &&
           track_refill(&pass, &pass.lanes[pass.n_lanes]))
        pass.n_lanes++;
    run[track->tally](&pass);
}

#endif /* STORM_PHYSICS_TRACK_KERNEL_H */
