/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/env.h"

storm_status storm_env_explain(const struct storm_env *env, storm_status status)
{
    const char *label, *total;
    size_t bytes, held, peak;
    if (status != STORM_ERR_NOMEM ||
        !storm_memory_take_refused(env->memory, &label, &bytes))
        return status;
    (void)storm_memory_entry_at(env->memory, 0, &total, &held, &peak);
    storm_log_write(
        &env->log, STORM_LOG_ERROR,
        "no memory on rank %d for %.4g MB (%s) besides %.4g MB held: "
        "use fewer cells or packets, or more nodes; storm check "
        "estimates what a deck needs",
        env->rank, 1e-6 * (double)bytes, label, 1e-6 * (double)held);
    return status;
}
