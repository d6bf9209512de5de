/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels on devices: Voronoi meshes. */
#include "physics/on_device.h"

#include "mesh/voronoi/voronoi_geom.h"

#include "physics/device_kernel.h"
#include "physics/pick_device.h"

STORM_KERNEL(storm_voronoi_streaming, device_streaming_job, thread_streaming)
STORM_KERNEL(storm_voronoi_streaming_periodic, device_streaming_job,
             thread_streaming_periodic)
STORM_KERNEL(storm_voronoi_imc, device_imc_job, thread_imc)
STORM_KERNEL(storm_voronoi_imc_periodic, device_imc_job, thread_imc_periodic)
STORM_KERNEL(storm_voronoi_imc_walk, device_imc_job, thread_imc_walk)
STORM_KERNEL(storm_voronoi_imc_walk_periodic, device_imc_job,
             thread_imc_walk_periodic)
STORM_KERNEL(storm_voronoi_imc_counted, device_imc_job, thread_imc_counted)
STORM_KERNEL(storm_voronoi_imc_counted_periodic, device_imc_job,
             thread_imc_counted_periodic)

STORM_GPU_INLINE_END
