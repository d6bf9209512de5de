/* SPDX-License-Identifier: BSD-3-Clause */
/* Which way packets travel: what transport.backend asks for and works here. */
#ifndef STORM_CHANNEL_CHOICE_H
#define STORM_CHANNEL_CHOICE_H

#include <stdbool.h>

#include "channel/channel_ops.h"

/*
 * The channel and, for rings, the fabric: the best that works on all ranks.
 * Collective, same answer on every rank. one_node: all ranks share memory.
 * STORM_ERR_NOSUP, logged: what was asked for cannot work here.
 */
storm_status storm_channel_choose(const struct storm_env *env,
                                  const struct storm_boot *boot, bool one_node,
                                  const struct storm_channel_ops **ops_out,
                                  const struct storm_fabric_ops **fabric_out);

#endif /* STORM_CHANNEL_CHOICE_H */
