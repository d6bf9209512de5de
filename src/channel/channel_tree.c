/* SPDX-License-Identifier: BSD-3-Clause */
/* The binary tree of ranks along which wave messages travel. */
#include "channel/channel_message.h"
#include "channel/channel_ops.h"

int storm_link_rank(int rank, int size, enum storm_link link)
{
    int other =
        link == STORM_LINK_PARENT ? (rank - 1) / 2 : 2 * rank + (int)link;
    if (link == STORM_LINK_PARENT)
        return rank == 0 ? -1 : other;
    return other < size ? other : -1;
}

void storm_control_fail(struct storm_control *control,
                        const struct storm_boot *boot)
{
    struct storm_message message = {.kind = STORM_MESSAGE_FAIL};
    for (int i = 0; i < STORM_N_LINKS; i++) {
        int rank = storm_link_rank(boot->rank, boot->size, (enum storm_link)i);
        if (rank >= 0)
            (void)control->ops->send(control, rank, &message);
    }
}
