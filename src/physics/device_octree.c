/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels on devices: octrees. */
#include "physics/on_device.h"

#include "mesh/octree/octree_geom.h"

#include "physics/device_kernel.h"

STORM_KERNEL(storm_octree_streaming, device_streaming_job, thread_streaming)
STORM_KERNEL(storm_octree_imc, device_imc_job, thread_imc)
STORM_KERNEL(storm_octree_imc_walk, device_imc_job, thread_imc_walk)
STORM_KERNEL(storm_octree_imc_counted, device_imc_job, thread_imc_counted)

STORM_GPU_INLINE_END
