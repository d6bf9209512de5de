/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/ranks.h"

#include "support/check.h"

void rank_run(const struct storm_boot *boot, rank_fn fn, void *self)
{
    struct storm_options *options;
    struct storm_env env = {
        .rank = boot->rank,
        .size = boot->size,
        .boot = boot,
        .log = {.sink = storm_log_to_stderr,
                .level = STORM_LOG_WARN,
                .rank = boot->rank},
    };
    CHECK_OK(storm_options_create(&options));
    CHECK_OK(storm_options_set_from_env(options, NULL, 0));
    env.options = options;
    CHECK_OK(storm_memory_create(&env.memory));
    fn(self, &env, boot);
    size_t leaked_bytes = storm_memory_destroy(env.memory);
    CHECK_EQ(leaked_bytes, 0);
    storm_options_destroy(options);
}
