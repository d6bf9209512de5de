/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels for devices, RUN-1, from the text of those for the processor. The
 * includer has included on_device.h, the geometry and pick_device.h.
 */
#ifndef STORM_PHYSICS_DEVICE_KERNEL_H
#define STORM_PHYSICS_DEVICE_KERNEL_H

#include "physics/device_imc.h"
#include "physics/device_streaming.h"
#include "physics/imc_moments_text.h"
#include "physics/imc_plane_text.h"
#include "physics/track_kernel.h"
#include "physics/walk_text.h"

/* What other files have is inlined. */
#define imc_moments_collision moments_collision
#define imc_moments_flight moments_flight
#define imc_moments_hop moments_hop
#define imc_moments_walk moments_walk
#define imc_plane_clearance plane_clearance
#define imc_plane_hit plane_hit
#define imc_tally_group(_track, _cell, _packet, _group) (_group)
#define imc_draw_energy(_track, _cell, _packet) 0.0 /* of photons: none */
#define storm_walk_draw walk_draw
#define storm_walk_ensemble walk_ensemble
#define storm_walk_exit walk_exit
#define storm_walk_grey walk_grey
#define storm_walk_radius walk_radius
#define storm_walk_thick walk_thick
#define storm_walk_thickness walk_thickness

#include "physics/imc_kernel.h"

/* By its parts, 16 bytes at a time: what is copied as a whole would lie in
 * memory of the thread. Packets are aligned. */
LANES_INLINE void thread_fetch(struct storm_packet *own,
                               const struct storm_packet *packet)
{
    const on_pair *from = (const on_pair *)(const void *)packet;
    on_pair p[8];
    for (int k = 0; k < 8; k++)
        p[k] = from[k];
    own->id.hi = p[0][0];
    own->id.lo = p[0][1];
    own->position_cm[0] = on_double(p[1][0]);
    own->position_cm[1] = on_double(p[1][1]);
    own->position_cm[2] = on_double(p[2][0]);
    own->direction[0] = on_double(p[2][1]);
    own->direction[1] = on_double(p[3][0]);
    own->direction[2] = on_double(p[3][1]);
    own->time_left_s = on_double(p[4][0]);
    own->weight_erg = on_double(p[4][1]);
    own->cell = p[5][0];
    own->draws = p[5][1];
    own->birth_weight_erg = on_double(p[6][0]);
    own->optical_depth = on_double(p[6][1]);
    own->cell_idx = (storm_cell_idx)(uint32_t)p[7][0];
    own->group = (int32_t)(uint32_t)(p[7][0] >> 32);
    own->spawns = (uint32_t)p[7][1];
    own->face = (uint32_t)(p[7][1] >> 32);
}

LANES_INLINE void thread_return(struct storm_packet *packet,
                                const struct storm_packet *own)
{
    on_pair *to = (on_pair *)(void *)packet;
    to[0] = (on_pair){own->id.hi, own->id.lo};
    to[1] =
        (on_pair){on_bits(own->position_cm[0]), on_bits(own->position_cm[1])};
    to[2] = (on_pair){on_bits(own->position_cm[2]), on_bits(own->direction[0])};
    to[3] = (on_pair){on_bits(own->direction[1]), on_bits(own->direction[2])};
    to[4] = (on_pair){on_bits(own->time_left_s), on_bits(own->weight_erg)};
    to[5] = (on_pair){own->cell, own->draws};
    to[6] =
        (on_pair){on_bits(own->birth_weight_erg), on_bits(own->optical_depth)};
    to[7] = (on_pair){(uint32_t)own->cell_idx | (uint64_t)(uint32_t)own->group
                                                    << 32,
                      own->spawns | (uint64_t)own->face << 32};
}
_Static_assert(offsetof(struct storm_packet, position_cm) == 16 &&
                   offsetof(struct storm_packet, time_left_s) == 64 &&
                   offsetof(struct storm_packet, cell) == 80 &&
                   offsetof(struct storm_packet, cell_idx) == 112 &&
                   offsetof(struct storm_packet, face) == 124,
               "pairs are those of the packet");

/* In a `plain` mesh nothing is periodic. */
LANES_INLINE void thread_open(struct pass *pass,
                              const struct device_batch *batch,
                              const bool plain)
{
    memcpy(&pass->geom, batch->geom, sizeof pass->geom);
    if (plain)
        geom_plain(&pass->geom);
    pass->mesh = NULL;
    pass->part = &batch->part;
    pass->outcomes = batch->outcomes;
    pass->round = 0;
}

/* ---- free streaming -------------------------------------------------------*/

LANES_INLINE void thread_stream(const struct device_streaming_job *job,
                                uint64_t i, const storm_tally_kind tally,
                                const bool plain)
{
    _Static_assert(sizeof(struct geom) <= DEVICE_GEOM_BYTES, "it has room");
    struct storm_packet *packet = job->batch.packets[i];
    struct storm_packet own;
    struct pass pass;
    struct lane lane;
    thread_open(&pass, &job->batch, plain);
    pass.track = &job->track;
    const struct track_view view = track_look(&pass);
    thread_fetch(&own, packet);
    bool more = lanes_take(&pass, &lane, &own, i, &track_kernel);
    while (more) {
        if (STORM_UNLIKELY(pass.round == job->batch.max_events)) {
            (void)track_retire(&pass, &lane, STORM_FATE_CONTINUE);
            break;
        }
        pass.round++;
        geom_pick(&lane.geom);
        more = track_step(&pass, &lane, &view, tally);
    }
    thread_return(packet, &own);
}

LANES_INLINE void thread_stream_as(const struct device_streaming_job *job,
                                   uint64_t i, const bool plain)
{
    if (job->track.tally == STORM_TALLY_EXACT)
        thread_stream(job, i, STORM_TALLY_EXACT, plain);
    else
        thread_stream(job, i, STORM_TALLY_OFF, plain);
}

LANES_INLINE void thread_streaming(const struct device_streaming_job *job,
                                   uint64_t i)
{
    thread_stream_as(job, i, true);
}

LANES_INLINE void
thread_streaming_periodic(const struct device_streaming_job *job, uint64_t i)
{
    thread_stream_as(job, i, false);
}

/* ---- implicit Monte Carlo -------------------------------------------------*/

/* What no kernel knows, so that the compiler knows it, too: the text for it is
 * left out. */
LANES_INLINE void thread_lacks(struct imc_track *track)
{
    track->mesh = NULL;
    track->problem = NULL;
    track->escaped = NULL;
    track->leaving = track->outside = NULL;
    track->tallies = NULL;
    track->surfaces = NULL;
    track->watch = NULL;
    track->user = NULL;
    track->scatter = NULL;
    track->laws = NULL;
}

/* The same of what device_more_kernel.h knows. */
LANES_INLINE void thread_lacks_more(struct imc_track *track)
{
    thread_lacks(track);
    track->ddmc = NULL;
    track->moments = NULL;
    track->motion = NULL;
    track->pushes = NULL;
    track->drift = NULL;
    track->planes = NULL;
    track->n_planes = 0;
    track->turns = NULL;
    track->has_photons = false;
}

LANES_INLINE void thread_imc_as(const struct device_batch *batch,
                                const struct imc_track *track, uint64_t i,
                                const enum imc_counts counts, const bool plain)
{
    struct storm_packet *packet = batch->packets[i];
    struct storm_packet own;
    struct pass pass;
    struct lane lane;
    thread_open(&pass, batch, plain);
    pass.imc = track;
    thread_fetch(&own, packet);
    bool more = lanes_take(&pass, &lane, &own, i, &imc_kernel);
    while (more) {
        if (STORM_UNLIKELY(pass.round == batch->max_events)) {
            (void)imc_retire(&pass, &lane, STORM_FATE_CONTINUE);
            break;
        }
        pass.round++;
        geom_pick(&lane.geom);
        more = imc_step(&pass, &lane, false, counts, false, false);
    }
    thread_return(packet, &own);
}

LANES_INLINE void thread_imc_any(const struct device_imc_job *job, uint64_t i,
                                 const bool walks, const bool plain)
{
    struct imc_track track = job->track;
    thread_lacks_more(&track);
    if (!walks)
        track.walk = NULL;
    thread_imc_as(&job->batch, &track, i, IMC_COUNTS_NOTHING, plain);
}

/* Grey or with groups, flights and collisions alone. */
LANES_INLINE void thread_imc(const struct device_imc_job *job, uint64_t i)
{
    thread_imc_any(job, i, false, true);
}

LANES_INLINE void thread_imc_periodic(const struct device_imc_job *job,
                                      uint64_t i)
{
    thread_imc_any(job, i, false, false);
}

/* With random walks. */
LANES_INLINE void thread_imc_walk(const struct device_imc_job *job, uint64_t i)
{
    thread_imc_any(job, i, true, true);
}

LANES_INLINE void thread_imc_walk_periodic(const struct device_imc_job *job,
                                           uint64_t i)
{
    thread_imc_any(job, i, true, false);
}

LANES_INLINE void thread_imc_count(const struct device_imc_job *job, uint64_t i,
                                   const bool plain)
{
    struct imc_track track = job->track;
    struct imc_moments moments = job->moments;
    thread_lacks_more(&track);
    track.moments = &moments;
    thread_imc_as(&job->batch, &track, i, IMC_COUNTS_ALL, plain);
}

/* With moments, and random walks. */
LANES_INLINE void thread_imc_counted(const struct device_imc_job *job,
                                     uint64_t i)
{
    thread_imc_count(job, i, true);
}

LANES_INLINE void thread_imc_counted_periodic(const struct device_imc_job *job,
                                              uint64_t i)
{
    thread_imc_count(job, i, false);
}

#endif /* STORM_PHYSICS_DEVICE_KERNEL_H */
