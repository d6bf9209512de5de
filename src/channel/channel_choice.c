/* SPDX-License-Identifier: BSD-3-Clause */
#include "channel/channel_choice.h"

#include <string.h>

#include "fabric/fabric_ops.h"

/* Does it work on every rank? If not, `reason` says why on those where it does
 * not. Collective. */
static storm_status works(const struct storm_fabric_ops *fabric,
                          const struct storm_boot *boot, char *reason,
                          size_t reason_bytes)
{
    reason[0] = '\0';
    return storm_boot_agree(boot, fabric->probe(reason, reason_bytes));
}

static storm_status not_here(const struct storm_env *env, const char *backend,
                             storm_status status, const char *reason)
{
    if (status != STORM_ERR_PEER)
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "backend %s cannot be used: %s", backend, reason);
    return STORM_ERR_NOSUP;
}

static storm_status take(const struct storm_fabric_ops *fabric,
                         const struct storm_channel_ops **ops_out,
                         const struct storm_fabric_ops **fabric_out)
{
    *ops_out = &storm_channel_ring;
    *fabric_out = fabric;
    return STORM_OK;
}

storm_status storm_channel_choose(const struct storm_env *env,
                                  const struct storm_boot *boot, bool one_node,
                                  const struct storm_channel_ops **ops_out,
                                  const struct storm_fabric_ops **fabric_out)
{
    const char *backend = storm_options_text(env->options, "transport.backend");
    bool share = storm_options_bool(env->options, "transport.shm");
    bool automatic = strcmp(backend, "auto") == 0;
    char reason[256];
    *fabric_out = NULL;
    *ops_out = &storm_channel_p2p;
    if (strcmp(backend, "p2p") == 0)
        return STORM_OK;
    for (size_t i = 0; storm_fabric_list[i]; i++) {
        const struct storm_fabric_ops *fabric = storm_fabric_list[i];
        bool is_shm = fabric == &storm_fabric_shm;
        if (automatic ? is_shm && (!share || !one_node)
                      : strcmp(backend, fabric->name) != 0)
            continue;
        storm_status status = works(fabric, boot, reason, sizeof reason);
        if (status == STORM_OK)
            return take(fabric, ops_out, fabric_out);
        if (!automatic)
            return not_here(env, backend, status, reason);
    }
    if (automatic)
        return STORM_OK;
    return not_here(env, backend, env->rank == 0 ? STORM_OK : STORM_ERR_PEER,
                    "it is not part of this build");
}
