/* SPDX-License-Identifier: BSD-3-Clause */
/* The binary tree of ranks along which notes travel. */
#include "channel/channel_ops.h"

int storm_link_rank(int rank, int size, enum storm_link link)
{
    int other =
        link == STORM_LINK_PARENT ? (rank - 1) / 2 : 2 * rank + (int)link;
    if (link == STORM_LINK_PARENT)
        return rank == 0 ? -1 : other;
    return other < size ? other : -1;
}
