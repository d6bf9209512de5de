/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/boot.h"

#include <stdint.h>

#include "base/idle.h"

storm_status storm_boot_barrier(const struct storm_boot *boot)
{
    uint64_t n_empty = 0;
    storm_status status;
    while ((status = boot->barrier_try(boot->self)) == STORM_AGAIN)
        storm_idle(n_empty++);
    return status;
}

storm_status storm_boot_agree(const struct storm_boot *boot, storm_status mine)
{
    int worst = 0;
    storm_status status =
        boot->minimum(boot->self, mine < 0 ? (int)mine : 0, &worst);
    if (mine < 0)
        return mine;
    if (status < 0)
        return status;
    return worst < 0 ? STORM_ERR_PEER : mine;
}
