/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments of the kernel of free streaming on devices. */
#ifndef STORM_PHYSICS_DEVICE_STREAMING_H
#define STORM_PHYSICS_DEVICE_STREAMING_H

#include "physics/device_run.h"
#include "physics/track.h"

struct device_streaming_job {
    struct device_batch batch;
    struct storm_track track; /* with addresses on the device */
};
_Static_assert(sizeof(struct device_streaming_job) <= STORM_DEVICE_ARGS_MAX,
               "they are arguments");

#endif /* STORM_PHYSICS_DEVICE_STREAMING_H */
