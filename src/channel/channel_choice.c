/* SPDX-License-Identifier: BSD-3-Clause */
#include "channel/channel_choice.h"

#include <string.h>

#include "fabric/fabric_ops.h"

static storm_status not_here(const struct storm_env *env, const char *backend,
                             const char *reason)
{
    if (env->rank == 0)
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "backend %s cannot be used: %s", backend, reason);
    return STORM_ERR_NOSUP;
}

storm_status storm_channel_choose(const struct storm_env *env, bool one_node,
                                  const struct storm_channel_ops **ops_out,
                                  const struct storm_fabric_ops **fabric_out)
{
    const char *backend = storm_options_text(env->options, "transport.backend");
    bool share = storm_options_bool(env->options, "transport.shm");
    bool automatic = strcmp(backend, "auto") == 0;
    *fabric_out = NULL;
    *ops_out = &storm_channel_p2p;
    if (strcmp(backend, "p2p") == 0)
        return STORM_OK;
    char reason[256];
    for (size_t i = 0; storm_fabric_list[i]; i++) {
        const struct storm_fabric_ops *fabric = storm_fabric_list[i];
        if (!automatic && strcmp(backend, fabric->name) != 0)
            continue;
        bool is_shm = fabric == &storm_fabric_shm;
        if (automatic && is_shm && (!share || !one_node))
            continue;
        if (fabric->probe(reason, sizeof reason) == STORM_OK) {
            *ops_out = &storm_channel_ring;
            *fabric_out = fabric;
            return STORM_OK;
        }
        if (!automatic)
            return not_here(env, backend, reason);
    }
    return automatic ? STORM_OK
                     : not_here(env, backend, "it is not part of this build");
}
