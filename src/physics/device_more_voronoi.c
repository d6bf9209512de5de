/* SPDX-License-Identifier: BSD-3-Clause */
/* More kernels on devices: Voronoi meshes. */
#include "physics/on_device.h"

#include "mesh/voronoi/voronoi_geom.h"

#include "physics/device_more_kernel.h"
#include "physics/pick_device.h"

STORM_KERNEL(storm_voronoi_imc_more, device_imc_job, thread_imc_more)
STORM_KERNEL(storm_voronoi_imc_more_periodic, device_imc_job,
             thread_imc_more_periodic)

STORM_GPU_INLINE_END
