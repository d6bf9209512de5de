/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Moving packets in straight lines through the cells of one rank.
 *
 *   TRACK-1  A packet goes from face to face: the nearest of those it moves
 *            towards, at once if rounding has put it beyond. It is never
 *            shifted to get inside, and never lost.
 *   TRACK-2  All that a history depends on is in the packet: it has the same
 *            bits however it is split into calls, batches and ranks.
 *   TRACK-3  Every packet comes back as
 *              SEND      its next cell is on `rank`; cell and cell_idx are set
 *              BOUNDARY  it stands on a wall, on `face` of its cell
 *              CENSUS    time_left_s is zero
 *              CONTINUE  after max_events events
 *            An event is a face reached or the end of the time step.
 *   TRACK-4  A packet whose cell_idx is negative is not on its cell's rank: it
 *            is sent there, with no event.
 *   TRACK-5  Each event adds weight times path to the tally of the cell it was
 *            in.
 */
#ifndef STORM_PHYSICS_TRACK_H
#define STORM_PHYSICS_TRACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <storm/engine.h>
#include <storm/mesh.h>
#include <storm/packet.h>
#include <storm/streaming.h>

#include <storm_tracks.h>

#include "base/exact.h"
#include "physics/imc.h"

struct storm_mesh_ops;

/* Input of a pass. */
struct storm_track {
    const struct storm_mesh *mesh;
    double speed_cm_s;
    uint64_t max_events;   /* at least 1 */
    unsigned mirror_walls; /* bit w: wall w reflects, in the kernel */
    const bool *mirrors;   /* in its place, by number of a boundary */
    bool mirror_borders;   /* so do borders: the rank is a closed box */
    storm_tally_kind tally;
    struct storm_exact_unit unit; /* EXACT */
    storm_exact *exact;           /* EXACT: one per cell */
    double *plain;                /* DOUBLE: one per cell */
};

/* Moves n packets (struct storm_packet) and fills outcomes_out[0..n). */
typedef void storm_track_fn(const struct storm_track *track,
                            void *const *packets, size_t n,
                            struct storm_outcome *outcomes_out);

/* Kernels of one kind of mesh: streaming and implicit Monte Carlo; for some
 * kinds also with AVX2. The bits do not depend on which is used. */
struct storm_track_ops {
    const struct storm_mesh_ops *mesh;
    storm_track_fn *advance;
    imc_advance_fn *imc;
    imc_advance_fn *imc_counted; /* moments (MOMENTS-1), surfaces, planes */
    imc_advance_fn *imc_moving;  /* the same in matter that moves (FRAME-3) */
    imc_advance_fn *imc_laws;    /* the same with laws of scattering */
};

/* The kernels for a mesh, NULL if there are none. */
const struct storm_track_ops *
storm_track_ops_for(const struct storm_mesh *mesh);
storm_track_fn *storm_track_for(const struct storm_mesh *mesh);

#endif /* STORM_PHYSICS_TRACK_H */
