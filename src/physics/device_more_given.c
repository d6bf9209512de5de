/* SPDX-License-Identifier: BSD-3-Clause */
/* More kernels on devices: given meshes. */
#include "physics/on_device.h"

#include "mesh/given/given_geom.h"

#include "physics/device_more_kernel.h"
#include "physics/pick_device.h"

STORM_KERNEL(storm_given_imc_more, device_imc_job, thread_imc_more)

STORM_GPU_INLINE_END
