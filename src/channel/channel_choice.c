/* SPDX-License-Identifier: BSD-3-Clause */
#include "channel/channel_choice.h"

#include <string.h>

#include "fabric/fabric_ops.h"

enum { REASON_BYTES = 256 };

static const struct storm_fabric_ops *find(const char *name)
{
    for (size_t i = 0; storm_fabric_list[i]; i++)
        if (strcmp(storm_fabric_list[i]->name, name) == 0)
            return storm_fabric_list[i];
    return NULL;
}

/* Does it work on every rank? If not, `reason` is set on those where it does
 * not. Collective. */
static storm_status works(const struct storm_fabric_ops *fabric,
                          const struct storm_boot *boot, char *reason)
{
    reason[0] = '\0';
    return storm_boot_agree(boot, fabric->probe(reason, REASON_BYTES));
}

/* Logged by the ranks that know the reason; by rank 0 if all know it. */
static storm_status not_here(const struct storm_env *env, const char *backend,
                             storm_status status, const char *reason)
{
    if (status == STORM_ERR_LOST)
        return status;
    if (status != STORM_ERR_PEER)
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "backend %s cannot be used: %s", backend, reason);
    return STORM_ERR_NOSUP;
}

static storm_status not_anywhere(const struct storm_env *env,
                                 const char *backend, const char *reason)
{
    return not_here(env, backend,
                    env->rank == 0 ? STORM_ERR_NOSUP : STORM_ERR_PEER, reason);
}

static const struct storm_fabric_ops *best_network(void)
{
    char reason[REASON_BYTES];
    for (size_t i = 0; storm_fabric_list[i]; i++) {
        const struct storm_fabric_ops *fabric = storm_fabric_list[i];
        if (fabric->offloads() &&
            fabric->probe(reason, sizeof reason) == STORM_OK)
            return fabric;
    }
    return NULL;
}

const char *storm_channel_best_backend(void)
{
    const struct storm_fabric_ops *fabric = best_network();
    return fabric ? fabric->name : storm_channel_p2p.name;
}

/* The same on all ranks: what is best on each of them, or else NULL. */
static storm_status agree_on_network(const struct storm_boot *boot,
                                     const struct storm_fabric_ops **best_out)
{
    const struct storm_fabric_ops *best = best_network();
    int mine = -1, lowest, minus_highest;
    for (int i = 0; storm_fabric_list[i]; i++)
        if (storm_fabric_list[i] == best)
            mine = i;
    storm_status status = boot->minimum(boot->self, mine, &lowest);
    if (status == STORM_OK)
        status = boot->minimum(boot->self, -mine, &minus_highest);
    *best_out = status == STORM_OK && lowest == -minus_highest ? best : NULL;
    return status;
}

static storm_status choose_named(const struct storm_env *env,
                                 const struct storm_boot *boot, bool one_node,
                                 const char *backend,
                                 struct storm_channel_choice *choice)
{
    char reason[REASON_BYTES];
    choice->fabric = find(backend);
    if (!choice->fabric)
        return not_anywhere(env, backend, "it is not part of this build");
    if (choice->fabric == find("shm") && !one_node)
        return not_anywhere(env, backend,
                            "the ranks are on several nodes; name the backend "
                            "between them, or auto");
    storm_status status = works(choice->fabric, boot, reason);
    return status < 0 ? not_here(env, backend, status, reason) : STORM_OK;
}

storm_status storm_channel_choose(const struct storm_env *env,
                                  const struct storm_boot *boot, bool one_node,
                                  struct storm_channel_choice *choice_out)
{
    const char *backend = storm_options_text(env->options, "transport.backend");
    bool automatic = strcmp(backend, "auto") == 0;
    const struct storm_fabric_ops *shm = find("shm");
    char reason[REASON_BYTES];
    storm_status status = STORM_OK;
    *choice_out = (struct storm_channel_choice){.ops = &storm_channel_p2p};
    if (strcmp(backend, "p2p") == 0)
        return STORM_OK;
    for (size_t i = 0; storm_fabric_list[i]; i++)
        storm_fabric_list[i]->prepare(boot->size);
    if (!storm_options_bool(env->options, "transport.shm") ||
        (shm && works(shm, boot, reason) < 0))
        shm = NULL;
    if (!automatic)
        status = choose_named(env, boot, one_node, backend, choice_out);
    else if (one_node && shm)
        choice_out->fabric = shm;
    else
        status = agree_on_network(boot, &choice_out->fabric);
    if (status < 0 || !choice_out->fabric)
        return status;
    choice_out->ops = &storm_channel_ring;
    choice_out->near = choice_out->fabric == shm ? NULL : shm;
    return STORM_OK;
}

storm_status storm_channel_backend_probe(const char *name, char *reason_out,
                                         size_t reason_bytes)
{
    const struct storm_fabric_ops *fabric = find(name);
    return fabric ? fabric->probe(reason_out, reason_bytes) : STORM_OK;
}

void storm_channel_backend_survey(const char *name,
                                  void (*line)(void *self, const char *text),
                                  void *self)
{
    const struct storm_fabric_ops *fabric = find(name);
    if (fabric)
        fabric->survey(line, self);
}
