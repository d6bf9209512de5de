/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel of free streaming (physics/track.h), compiled once per kind of
 * mesh. physics/lanes.h lists what the includer provides.
 */
#ifndef STORM_PHYSICS_TRACK_KERNEL_H
#define STORM_PHYSICS_TRACK_KERNEL_H

#include "physics/lanes.h"

/* ---- functions for the scheduler ---------------------------------------- */

LANES_INLINE bool track_load(const struct pass *pass, struct lane *lane,
                             struct storm_outcome *outcome_out)
{
    (void)outcome_out;
    lane->power = lane->packet->weight_erg * pass->track->speed_cm_s;
    return true;
}

LANES_INLINE void track_store(const struct pass *pass, const struct lane *lane,
                              storm_fate fate)
{
    (void)pass;
    (void)lane;
    (void)fate;
}

LANES_INLINE bool track_is_mirror(const struct pass *pass,
                                  const struct lane *lane,
                                  const struct storm_mesh_exit *exit)
{
    (void)lane;
    const struct storm_track *track = pass->track;
    if (exit->rank >= 0)
        return track->mirror_borders && exit->rank != pass->geom.rank;
    return track->mirrors != NULL ? track->mirrors[exit->wall]
                                  : track->mirror_walls >> exit->wall & 1u;
}

/* The batch may be in any order: only tallies of neighbouring cells are
 * prefetched, see track_run. */
LANES_INLINE void track_prefetch(const struct pass *pass, storm_cell_idx cell,
                                 const struct storm_packet *packet)
{
    (void)pass;
    (void)cell;
    (void)packet;
}

static bool track_retire(struct pass *pass, struct lane *lane, storm_fate fate);

static const struct lanes_kernel track_kernel = {
    .load = track_load,
    .store = track_store,
    .is_mirror = track_is_mirror,
    .prefetch = track_prefetch,
    .retire = track_retire,
    .at_wall = STORM_FATE_BOUNDARY,
};

static bool track_retire(struct pass *pass, struct lane *lane, storm_fate fate)
{
    return lanes_retire(pass, lane, fate, &track_kernel);
}

static bool track_border(struct pass *pass, struct lane *lane, int32_t next,
                         uint32_t side)
{
    return lanes_border(pass, lane, next, side, &track_kernel);
}

ON_FUNCTION uint64_t track_expire(struct pass *pass)
{
    return lanes_expire(pass, &track_kernel);
}

/* ---- events ------------------------------------------------------------- */

/* What an event reads of a pass; in registers. */
struct track_view {
    struct geom geom;
    struct storm_exact_unit unit;
    storm_exact *exact;
    double *plain;
};

LANES_INLINE struct track_view track_look(const struct pass *pass)
{
    return (struct track_view){.geom = pass->geom,
                               .unit = pass->track->unit,
                               .exact = pass->track->exact,
                               .plain = pass->track->plain};
}

/* One event of one packet, after geom_pick. Returns like track_retire. */
LANES_INLINE bool track_step(struct pass *pass, struct lane *lane,
                             const struct track_view *view,
                             const storm_tally_kind tally)
{
    uint32_t side;
    double to_face_s = geom_reach(&lane->geom, &side);
    bool at_census = !(to_face_s < lane->time_left_s);
    double seconds =
        to_face_s < lane->time_left_s ? to_face_s : lane->time_left_s;
    storm_cell_idx cell = lane->cell;
    if (tally == STORM_TALLY_EXACT)
        on_add(&view->exact[cell],
               lanes_term(lane->power * seconds, view->unit));
    else if (tally == STORM_TALLY_DOUBLE)
        view->plain[cell] += lane->power * seconds;
    lane->time_left_s -= seconds;
    geom_move(&lane->geom, seconds);
    if (STORM_UNLIKELY(at_census))
        return track_retire(pass, lane, STORM_FATE_CENSUS);
    geom_touch(&lane->geom, side);
    int32_t next = geom_next(&view->geom, &lane->geom, cell, side);
    if (STORM_UNLIKELY(next < 0))
        return track_border(pass, lane, next, side);
    geom_cross(&view->geom, &lane->geom, side, next);
    lane->cell = next;
    STORM_ASSERT(geom_holds(&view->geom, &lane->geom, next));
    geom_prefetch(&view->geom, next);
    if (tally == STORM_TALLY_EXACT)
        STORM_PREFETCH_WRITE(&view->exact[next]);
    else if (tally == STORM_TALLY_DOUBLE)
        STORM_PREFETCH_WRITE(&view->plain[next]);
    return true;
}

/* The loop, inlined with `tally` a constant: three copies, so that no crossing
 * tests the kind of tally. */
LANES_INLINE void track_run(struct pass *pass, storm_tally_kind tally)
{
    const struct track_view view = track_look(pass);
    uint64_t due = pass->max_events;

    while (pass->n_lanes > 0) {
        if (STORM_UNLIKELY(pass->round == due))
            due = track_expire(pass);
        pass->round++;
        lanes_pick(pass);
        for (struct lane *lane = pass->lanes;
             lane < pass->lanes + pass->n_lanes; lane++)
            lane -= !track_step(pass, lane, &view, tally);
    }
}

ON_FUNCTION void track_run_exact(struct pass *pass)
{
    track_run(pass, STORM_TALLY_EXACT);
}

ON_FUNCTION void track_run_double(struct pass *pass)
{
    track_run(pass, STORM_TALLY_DOUBLE);
}

ON_FUNCTION void track_run_off(struct pass *pass)
{
    track_run(pass, STORM_TALLY_OFF);
}

ON_FUNCTION void track_advance(const struct storm_track *track,
                               void *const *packets, size_t n,
                               struct storm_outcome *outcomes_out)
{
    /* Called through a table, so that they are not inlined and get the pass by
     * pointer: gcc's code is faster by 10 %. */
    static void (*const run[])(struct pass *) = {
        [STORM_TALLY_EXACT] = track_run_exact,
        [STORM_TALLY_DOUBLE] = track_run_double,
        [STORM_TALLY_OFF] = track_run_off,
    };
    struct pass pass;
    pass.track = track;
    pass.mesh = track->mesh;
    pass.part = track->mesh->part;
    pass.max_events = track->max_events;
    pass.geom = geom_open(track->mesh, track->speed_cm_s);
    lanes_open(&pass, packets, n, outcomes_out, &track_kernel);
    run[track->tally](&pass);
}

#endif /* STORM_PHYSICS_TRACK_KERNEL_H */
