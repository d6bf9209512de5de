/* SPDX-License-Identifier: BSD-3-Clause */
/* An engine over all ranks, for tests that need nothing special of it. */
#ifndef TESTS_ENGINE_HARNESS_H
#define TESTS_ENGINE_HARNESS_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <storm/context.h>
#include <storm/engine.h>

#include "support/check.h"

struct harness {
    struct storm_context *context;
    struct storm_engine *engine;
    int rank, size;
    int n_errors; /* error lines logged on this rank */
    char error[1024];
};

static inline void harness_log(void *self, storm_log_level level, int rank,
                               const char *message)
{
    struct harness *h = self;
    if (level == STORM_LOG_ERROR) {
        h->n_errors++;
        snprintf(h->error, sizeof h->error, "%s", message);
    }
    printf("rank %d: %s\n", rank, message);
}

/* Options from the environment, then `settings`: "key=value" lists ended by
 * NULL. MPI must be up. Returns the status of storm_engine_create. */
static inline storm_status
harness_open(struct harness *h, const struct storm_engine_params *params,
             const char *const *settings)
{
    struct storm_options *options;
    *h = (struct harness){0};
    CHECK_OK(storm_options_create(&options));
    CHECK_OK(storm_options_set_from_env(options, NULL, 0));
    for (; settings && *settings; settings++) {
        char key[128];
        const char *equals = strchr(*settings, '=');
        snprintf(key, sizeof key, "%.*s", (int)(equals - *settings), *settings);
        CHECK_OK(storm_options_set(options, key, equals + 1, NULL, 0));
    }
    struct storm_context_params cp = {.size = sizeof cp,
                                      .options = options,
                                      .log = harness_log,
                                      .log_self = h};
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, &cp, &h->context));
    storm_options_destroy(options);
    h->rank = storm_context_rank(h->context);
    h->size = storm_context_size(h->context);
    return storm_engine_create(h->context, params, &h->engine);
}

static inline void harness_close(struct harness *h)
{
    storm_engine_destroy(h->engine);
    storm_context_destroy(h->context);
}

/* The number of ranks for which `x` holds. Collective. */
static inline int harness_count(int x)
{
    int mine = x != 0, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

#endif /* TESTS_ENGINE_HARNESS_H */
