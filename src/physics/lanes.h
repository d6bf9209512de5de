/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scheduler of packets in flight, shared by the tracking kernels: takes
 * packets of a batch into lanes, writes them back, and handles borders.
 * Compiled once per kind of mesh and kernel.
 *
 * Several packets are in flight, one event each in turn: the processor works on
 * all of them at once, and the memory of the cell each enters has the time of
 * the others' events to arrive. A lane stays in the first-level cache; its
 * fields are read and written one by one, never as vectors, because a vector
 * read after a narrow write waits for the write to reach the cache.
 *
 *   LANE-1  A packet that is not on its cell's rank is sent there, with no
 *           event.
 *   LANE-2  Events are counted by rounds: a lane has one in each. A packet that
 *           has had max_events comes back as CONTINUE.
 *   LANE-3  A packet that comes back has its position and time in it; and its
 *           cell: the next one if it is sent, else the one it is in. Unless it
 *           is sent or continues, its position is in the box of the mesh.
 *   LANE-4  The kernel's functions are known to the compiler and inlined: no
 *           call goes through a pointer.
 *
 * The includer has included on_host.h, or on_device.h: there each packet has a
 * thread, and all of the text but what takes the next packet of a batch is the
 * same. And it has included the geometry, which provides
 *
 *   struct geom          what a pass needs of the mesh, among it this rank;
 *                        geom_open
 *   struct geom_lane     a packet in flight: where it is and what is ahead.
 *                        A pure function of packet and cell
 *   geom_plain           known to the compiler: nothing is periodic
 *   geom_own             known to the compiler: whose pass it is
 *   geom_enter           the lane of a packet in its cell
 *   geom_pick            prepares geom_reach, and fetches what that will read
 *   geom_reach           after geom_pick at the same place: seconds to the
 *                        nearest face it moves towards, not negative, infinite
 *                        if there is none; and its `side`, the geometry's name
 *                        for that face
 *   geom_move            moves it for some seconds
 *   geom_touch           puts it on that side, as well as it can
 *   geom_face            the number of that side as a face of the cell
 *   geom_next            the local cell behind it, or ~index of a border
 *   geom_cross           into that local cell
 *   geom_mirror          turns the direction, of the packet too
 *   geom_exit, geom_wrap where a border leads; the jump of a periodic one
 *   geom_leave           writes the position into the packet, in the frame of
 *                        its cell: geom_enter finds the same bits
 *   geom_rest            writes it as a position in the box of the mesh
 *   geom_prefetch        the cell will be needed soon
 *   geom_holds           is it in this local cell, but for roundings? Asked
 *                        in debug builds, when a packet comes in, after each
 *                        crossing, and when it is written back
 *   geom_aim             the direction of the packet is another one
 *   GEOM_PLANES          geom_touch matters at borders alone, and geom_cross
 *                        may lead into the packet's own cell
 *   GEOM_SAMPLES         may a device ask for the next two? Uniform points of a
 *   geom_sample,         cell, and of a face with a normal
 *   geom_sample_face
 *   geom_clearance       distance from the packet to the nearest face of its
 *                        cell, in any direction (imc_kernel.h alone)
 */
#ifndef STORM_PHYSICS_LANES_H
#define STORM_PHYSICS_LANES_H

#include <string.h>

#include "base/port.h"
#include "mesh/mesh_ops.h"
#include "physics/census.h"
#include "physics/track.h"

#define LANES_INLINE static inline __attribute__((always_inline))

enum {
    LANES_LOOK_AHEAD = 8, /* packets prefetched ahead of the present one */
    LANES_CELL_AHEAD = 3  /* and their cells */
};

/* A packet in flight. */
struct lane {
    struct geom_lane geom;
    double time_left_s;
    storm_cell_idx cell;
    int32_t wall; /* of a packet that leaves; -1: no wall */
    size_t i_packet;
    uint64_t start; /* round in which it came in */
    struct storm_packet *packet;
    union {
        double power; /* streaming: weight times speed */
        struct {
            double weight;
            double light_weight; /* below this, analogue absorption */
            double depth;        /* optical, to the next collision */
            double absorb_s;     /* 1/s, in this cell */
            double scatter_s;
            bool diffuses; /* it has no place in its cell */
        } imc;
    };
};

/* A pass over one batch. */
struct pass {
    union { /* of the kernel that runs */
        const struct storm_track *track;
        const struct imc_track *imc;
    };
    const struct storm_mesh *mesh; /* NULL on a device */
    const struct storm_mesh_part *part;
    uint64_t max_events;
    struct geom geom;
    void *const *packets;
    size_t n, i_next;
    struct storm_outcome *outcomes;
    uint64_t round;
    int n_lanes;
    struct lane lanes[LANES];
};

/* Functions of a kernel; a constant (LANE-4). */
struct lanes_kernel {
    /* Fills the kernel's part of a lane from its packet. False if that is not
     * transported; its outcome has then been filled. */
    bool (*load)(const struct pass *pass, struct lane *lane,
                 struct storm_outcome *outcome_out);
    /* And back to the packet. */
    void (*store)(const struct pass *pass, const struct lane *lane,
                  storm_fate fate);
    /* Is the packet reflected at this border? */
    bool (*is_mirror)(const struct pass *pass, const struct lane *lane,
                      const struct storm_mesh_exit *exit);
    /* Its data of a cell will be needed soon, by this packet. */
    void (*prefetch)(const struct pass *pass, storm_cell_idx cell,
                     const struct storm_packet *packet);
    /* lanes_retire with this kernel, as a function of its own: it is rare, and
     * the loops are short. */
    bool (*retire)(struct pass *pass, struct lane *lane, storm_fate fate);
    storm_fate at_wall; /* of a packet that is not reflected there */
};

/* Both steps in one, for a single packet. */
LANES_INLINE double lanes_nearest(struct lane *lane, uint32_t *side_out)
{
    geom_pick(&lane->geom);
    return geom_reach(&lane->geom, side_out);
}

/* For the next event of every packet in flight. */
LANES_INLINE void lanes_pick(struct pass *pass)
{
    for (int k = 0; k < pass->n_lanes; k++)
        geom_pick(&pass->lanes[k].geom);
}

/* ---- into lanes --------------------------------------------------------- */

/* The next two are inlined by force: gcc drops calls of a function that does
 * nothing but prefetch. */
LANES_INLINE void lanes_fetch(const struct pass *pass, size_t i)
{
    const char *line = pass->packets[i];
    STORM_PREFETCH_WRITE(line);
    STORM_PREFETCH_WRITE(line + STORM_CACHE_LINE);
}

LANES_INLINE void lanes_prefetch(const struct pass *pass,
                                 const struct lanes_kernel *kernel)
{
    size_t i = pass->i_next + LANES_LOOK_AHEAD;
    if (i < pass->n)
        lanes_fetch(pass, i);
    i = pass->i_next + LANES_CELL_AHEAD;
    if (i < pass->n) {
        const struct storm_packet *packet = pass->packets[i];
        if (packet->cell_idx >= 0) {
            geom_prefetch(&pass->geom, packet->cell_idx);
            kernel->prefetch(pass, packet->cell_idx, packet);
        }
    }
}

/* LANE-1 */
static void lanes_redirect(struct storm_packet *packet,
                           struct storm_outcome *outcome_out)
{
    outcome_out->fate = STORM_FATE_SEND;
    outcome_out->events = 0;
    outcome_out->rank = storm_census_route(packet);
}

/* A packet, which is number i of the batch, into a lane; false if it has its
 * outcome already. */
LANES_INLINE bool lanes_take(struct pass *pass, struct lane *lane,
                             struct storm_packet *packet, size_t i,
                             const struct lanes_kernel *kernel)
{
    if (STORM_UNLIKELY(packet->cell_idx < 0)) {
        lanes_redirect(packet, &pass->outcomes[i]);
        return false;
    }
    lane->packet = packet;
    lane->i_packet = i;
    lane->start = pass->round;
    lane->cell = packet->cell_idx;
    lane->time_left_s = packet->time_left_s;
    if (!kernel->load(pass, lane, &pass->outcomes[i]))
        return false;
    geom_enter(&pass->geom, &lane->geom, packet);
    STORM_ASSERT(geom_holds(&pass->geom, &lane->geom, lane->cell));
    return true;
}

/* The next packet of the batch into a lane; false if there is none. */
LANES_INLINE bool lanes_refill(struct pass *pass, struct lane *lane,
                               const struct lanes_kernel *kernel)
{
    while (pass->i_next < pass->n) {
        lanes_prefetch(pass, kernel);
        size_t i = pass->i_next++;
        if (lanes_take(pass, lane, pass->packets[i], i, kernel))
            return true;
    }
    return false;
}

/* Begins a pass. The caller has set track or imc; lanes are filled as they are
 * needed. */
LANES_INLINE void lanes_open(struct pass *pass, void *const *packets, size_t n,
                             struct storm_outcome *outcomes_out,
                             const struct lanes_kernel *kernel)
{
    pass->packets = packets;
    pass->n = n;
    pass->i_next = 0;
    pass->outcomes = outcomes_out;
    pass->round = 0;
    pass->n_lanes = 0;
    for (size_t i = 0; i < n && i < LANES_LOOK_AHEAD; i++)
        lanes_fetch(pass, i);
    while (pass->n_lanes < LANES &&
           lanes_refill(pass, &pass->lanes[pass->n_lanes], kernel))
        pass->n_lanes++;
}

/* ---- out of lanes ------------------------------------------------------- */

/* A packet leaves its lane: writes it back (LANE-3) and gives the lane to the
 * next one. False if the batch is empty: the lane then holds what the last one
 * held. */
LANES_INLINE bool lanes_retire(struct pass *pass, struct lane *lane,
                               storm_fate fate,
                               const struct lanes_kernel *kernel)
{
    struct storm_packet *packet = lane->packet;
    struct storm_outcome *outcome = &pass->outcomes[lane->i_packet];
    if (fate == STORM_FATE_SEND || fate == STORM_FATE_CONTINUE)
        geom_leave(&lane->geom, packet);
    else
        geom_rest(&lane->geom, packet);
    packet->time_left_s = lane->time_left_s;
    kernel->store(pass, lane, fate);
    if (fate != STORM_FATE_SEND) { /* else they have been set */
        STORM_ASSERT(geom_holds(&pass->geom, &lane->geom, lane->cell));
        packet->cell_idx = lane->cell;
        packet->cell = storm_mesh_part_tag(pass->part, lane->cell);
    }
    outcome->fate = (storm_fate)fate;
    outcome->events = pass->round - lane->start;
    if (!ON_HOST)
        return false;
    if (lanes_refill(pass, lane, kernel))
        return true;
    *lane = pass->lanes[--pass->n_lanes];
    return false;
}

/* LANE-2: sends back packets that have had max_events. Returns the round in
 * which the next can have had them. */
LANES_INLINE uint64_t lanes_expire(struct pass *pass,
                                   const struct lanes_kernel *kernel)
{
    uint64_t max_events = pass->max_events;
    uint64_t oldest = pass->round;
    for (int k = 0; k < pass->n_lanes;) {
        struct lane *lane = &pass->lanes[k];
        if (pass->round - lane->start >= max_events) {
            (void)kernel->retire(pass, lane, STORM_FATE_CONTINUE);
            continue; /* another packet is in the lane now */
        }
        if (lane->start < oldest)
            oldest = lane->start;
        k++;
    }
    return max_events < UINT64_MAX - oldest ? oldest + max_events : UINT64_MAX;
}

/* A face that leads out of the rank's cells, or to them through a periodic
 * wall. Returns like lanes_retire; true also if the packet continues. */
LANES_INLINE bool lanes_border(struct pass *pass, struct lane *lane,
                               int32_t next, uint32_t side,
                               const struct lanes_kernel *kernel)
{
    struct storm_mesh_exit exit = geom_exit(&pass->geom, next);
    if (kernel->is_mirror(pass, lane, &exit)) {
        geom_mirror(&pass->geom, &lane->geom, lane->packet, side);
        return true;
    }
    if (exit.rank < 0) {
        lane->packet->face = geom_face(&lane->geom, side);
        lane->wall = exit.wall;
        return kernel->retire(pass, lane, kernel->at_wall);
    }
    geom_wrap(&pass->geom, &lane->geom, next, side);
    if (exit.rank == pass->geom.rank) {
        lane->cell = exit.idx;
        STORM_ASSERT(geom_holds(&pass->geom, &lane->geom, lane->cell));
        return true;
    }
    lane->packet->cell = exit.id;
    lane->packet->cell_idx = exit.idx;
    pass->outcomes[lane->i_packet].rank = exit.rank;
    return kernel->retire(pass, lane, STORM_FATE_SEND);
}

/* ---- terms of tallies --------------------------------------------------- */

__extension__ typedef unsigned __int128 lanes_wide;

/* Any term; a function of its own, not inlined into the loop. */
static storm_exact lanes_rare_term(double term, struct storm_exact_unit unit)
{
    return storm_exact_term(term, unit);
}

/*
 * storm_exact_term, faster for what a tally is made of: terms that are not
 * negative and have all their bits above the unit. A sign makes the shift as
 * wrong as bits below the unit do, so one test covers both.
 */
LANES_INLINE storm_exact lanes_term(double term, struct storm_exact_unit unit)
{
    uint64_t bits;
    memcpy(&bits, &term, sizeof bits);
    int shift = (int)(bits >> 52) - 1075 - unit.lsb;
    if (STORM_UNLIKELY((unsigned)shift > STORM_EXACT_TERM_BITS - 53))
        return lanes_rare_term(term, unit);
    uint64_t mantissa = (bits & 0xfffffffffffffu) | UINT64_C(1) << 52;
    return (storm_exact)((lanes_wide)mantissa * (UINT64_C(1) << shift));
}

#endif /* STORM_PHYSICS_LANES_H */
