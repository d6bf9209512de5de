/* SPDX-License-Identifier: BSD-3-Clause */
/* Which way packets travel: what transport.backend asks for and works here. */
#ifndef STORM_CHANNEL_CHOICE_H
#define STORM_CHANNEL_CHOICE_H

#include <stdbool.h>

#include "channel/channel_ops.h"

/*
 * The channel and, for rings, the fabric. Local; the same on every rank if the
 * machines are alike. one_node: all ranks can share memory.
 * STORM_ERR_NOSUP, logged by rank 0: it cannot work here.
 */
storm_status storm_channel_choose(const struct storm_env *env, bool one_node,
                                  const struct storm_channel_ops **ops_out,
                                  const struct storm_fabric_ops **fabric_out);

#endif /* STORM_CHANNEL_CHOICE_H */
