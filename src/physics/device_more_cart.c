/* SPDX-License-Identifier: BSD-3-Clause */
/* More kernels on devices: Cartesian meshes. */
#include "physics/on_device.h"

#include "mesh/cart/cart_geom.h"

#include "physics/device_more_kernel.h"

STORM_KERNEL(storm_cart_imc_more, device_imc_job, thread_imc_more)

STORM_GPU_INLINE_END
