/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels for devices of device_more.h; the includer has included what
 * device_kernel.h needs. */
#ifndef STORM_PHYSICS_DEVICE_MORE_KERNEL_H
#define STORM_PHYSICS_DEVICE_MORE_KERNEL_H

#include "physics/device_kernel.h"

LANES_INLINE void thread_more_track(const struct device_batch *batch,
                                    const struct imc_track *track, uint64_t i,
                                    const bool moves, const bool plain)
{
    struct storm_packet *packet = batch->packets[i];
    struct storm_packet own;
    struct pass pass;
    struct lane lane;
    const bool has_more = track->n_planes > 0 || track->ddmc != NULL;
    thread_open(&pass, batch, plain);
    pass.imc = track;
    thread_fetch(&own, packet);
    if (imc_begins_turn(track, &own)) {
        batch->outcomes[i].fate = IMC_FATE_TURN;
        batch->outcomes[i].events = 0;
        return;
    }
    bool more = lanes_take(&pass, &lane, &own, i, &imc_kernel);
    while (more) {
        if (STORM_UNLIKELY(pass.round == batch->max_events)) {
            (void)imc_retire(&pass, &lane, STORM_FATE_CONTINUE);
            break;
        }
        pass.round++;
        geom_own(&pass.geom, &lane.geom);
        if (!lane.imc.diffuses)
            geom_pick(&lane.geom);
        more = imc_step(&pass, &lane, has_more, IMC_COUNTS_ALL, moves, false);
    }
    thread_return(packet, &own);
}

/* At rest. */
LANES_INLINE void thread_more_any(const struct device_imc_job *job, uint64_t i,
                                  const bool plain)
{
    struct imc_track track = job->track;
    struct imc_moments moments = job->moments;
    thread_lacks(&track);
    track.has_photons = false;
    track.motion = NULL;
    track.pushes = NULL;
    track.drift = NULL;
    track.moments = &moments;
    thread_more_track(&job->batch, &track, i, false, plain);
}

LANES_INLINE void thread_imc_more(const struct device_imc_job *job, uint64_t i)
{
    thread_more_any(job, i, true);
}

LANES_INLINE void thread_imc_more_periodic(const struct device_imc_job *job,
                                           uint64_t i)
{
    thread_more_any(job, i, false);
}

#endif /* STORM_PHYSICS_DEVICE_MORE_KERNEL_H */
