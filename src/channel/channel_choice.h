/* SPDX-License-Identifier: BSD-3-Clause */
/* Which backend carries packets: what transport.backend asks for and works
 * here. */
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
 * STORM_ERR_NOSUP, logged: the backend asked for cannot work here.
 */
storm_status storm_channel_choose(const struct storm_env *env,
                                  const struct storm_boot *boot, bool one_node,
                                  struct storm_channel_choice *choice_out);

/* What auto takes between nodes, as seen from this node. Local. */
const char *storm_channel_best_backend(void);

/* Can the backend of that name carry packets on this machine? Local. A name
 * that is no fabric of this build is taken for MPI messages, which always can.
 * STORM_ERR_NOSUP and the reason. */
storm_status storm_channel_backend_probe(const char *name, char *reason_out,
                                         size_t reason_bytes);

/* Calls line for each device or provider that the backend finds here. Local. */
void storm_channel_backend_survey(const char *name,
                                  void (*line)(void *self, const char *text),
                                  void *self);

#endif /* STORM_CHANNEL_CHOICE_H */
