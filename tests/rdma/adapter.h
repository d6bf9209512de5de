/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of one rank with an RDMA adapter. */
#ifndef TESTS_RDMA_ADAPTER_H
#define TESTS_RDMA_ADAPTER_H

#include <stdio.h>

#include "fabric/ibv/ibv_fabric.h"
#include "support/check.h"
#include "support/threads.h"

enum { ADAPTER_LINE = 1024 };

/* A sink: keeps the last error; `self` is ADAPTER_LINE characters. */
static inline void adapter_keep_line(void *self, storm_log_level level,
                                     int rank, const char *message)
{
    (void)rank;
    if (level == STORM_LOG_ERROR)
        snprintf(self, ADAPTER_LINE, "%s", message);
}

/* What main returns: skipped without an adapter. */
static inline int adapter_run(void (*body)(void *self,
                                           const struct storm_env *env,
                                           const struct storm_boot *boot))
{
    char reason[256] = "";
    if (storm_fabric_ibv.probe(reason, sizeof reason) < 0) {
        printf("skipped: %s\n", reason);
        return CHECK_SKIP;
    }
    threads_run(1, body, NULL);
    return CHECK_PASS;
}

#endif /* TESTS_RDMA_ADAPTER_H */
