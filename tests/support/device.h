/* SPDX-License-Identifier: BSD-3-Clause */
/* A device for a context: what is created with it then runs its kernels. */
#ifndef STORM_TESTS_DEVICE_H
#define STORM_TESTS_DEVICE_H

#include <storm/context.h>

#include "base/env.h"
#include "device/device.h"
#include "support/check.h"

/* Its own, or the emulated one, whatever the options say. */
static inline void device_lend(struct storm_context *context, bool emulated)
{
    struct storm_env *env =
        (struct storm_env *)(uintptr_t)storm_context_env(context);
    const struct storm_device_params params = {.kind = "emulated",
                                               .node_ranks = 1};
    storm_device_close(env->device);
    env->device = NULL;
    if (emulated)
        CHECK_OK(storm_device_open(env, &params, &env->device));
}

/* Before the context is destroyed. */
static inline void device_return(struct storm_context *context)
{
    device_lend(context, false);
}

/* Threads that kernels have had so far. */
static inline uint64_t device_launches(const struct storm_context *context)
{
    return storm_device_counts(storm_context_env(context)->device).launches;
}

#endif /* STORM_TESTS_DEVICE_H */
