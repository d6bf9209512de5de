/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/fabric_ops.h"

const struct storm_fabric_ops *const storm_fabric_list[] = {
    &storm_fabric_shm,
    NULL,
};
