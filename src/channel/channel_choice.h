/* SPDX-License-Identifier: BSD-3-Clause */
/* Which way packets travel: what transport.backend asks for and works here. */
#ifndef STORM_CHANNEL_CHOICE_H
#define STORM_CHANNEL_CHOICE_H

#include <stdbool.h>

#include "channel/channel_ops.h"

struct storm_channel_choice {
    const struct storm_channel_ops *ops;
    const struct storm_fabric_ops *fabric; /* of rings, else NULL */
    const struct storm_fabric_ops *near;   /* within a node, or NULL */
};

/*
 * The best that works on all ranks: shared memory within nodes, unless
 * transport.shm is off, and the backend asked for, or the best, between them.
 * Collective, same answer on every rank. one_node: all ranks share memory.
 * STORM_ERR_NOSUP, logged: what was asked for cannot work here.
 */
storm_status storm_channel_choose(const struct storm_env *env,
                                  const struct storm_boot *boot, bool one_node,
                                  struct storm_channel_choice *choice_out);

/* What auto takes between nodes, as far as this machine can tell; NULL: no
 * fabric, but messages. Local. */
const struct storm_fabric_ops *storm_channel_best_network(void);

#endif /* STORM_CHANNEL_CHOICE_H */
