/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels on devices: Cartesian meshes. */
#include "physics/on_device.h"

#include "mesh/cart/cart_geom.h"

#include "physics/device_kernel.h"

STORM_KERNEL(storm_cart_streaming, device_streaming_job, thread_streaming)
STORM_KERNEL(storm_cart_imc, device_imc_job, thread_imc)
STORM_KERNEL(storm_cart_imc_walk, device_imc_job, thread_imc_walk)
STORM_KERNEL(storm_cart_imc_counted, device_imc_job, thread_imc_counted)

STORM_GPU_INLINE_END
