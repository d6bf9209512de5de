/* SPDX-License-Identifier: BSD-3-Clause */
/* A context, as the engine sees it. */
#ifndef STORM_ENGINE_CONTEXT_H
#define STORM_ENGINE_CONTEXT_H

#include <stdbool.h>

#include <storm/context.h>

#include "base/boot.h"
#include "base/env.h"
#include "channel/channel_ops.h"

struct storm_context {
    struct storm_env env;
    struct storm_options *options;
    MPI_Comm comm;
    struct storm_boot boot;
    struct storm_boot node_boot; /* the ranks of this node */
    int32_t *node_rank;          /* of every rank there; -1: elsewhere */
    struct storm_tree tree;      /* of waves: TREE-1 */
    bool backend_logged;
    atomic_uint_least64_t n_errors; /* of env.log */
};

#endif /* STORM_ENGINE_CONTEXT_H */
