/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels on devices: given meshes. */
#include "physics/on_device.h"

#include "mesh/given/given_geom.h"

#include "physics/device_kernel.h"
#include "physics/pick_device.h"

STORM_KERNEL(storm_given_streaming, device_streaming_job, thread_streaming)
STORM_KERNEL(storm_given_imc, device_imc_job, thread_imc)
STORM_KERNEL(storm_given_imc_walk, device_imc_job, thread_imc_walk)
STORM_KERNEL(storm_given_imc_counted, device_imc_job, thread_imc_counted)

STORM_GPU_INLINE_END
