/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What every module needs of its context without knowing MPI: rank and size,
 * collective operations, log, memory book, options.
 */
#ifndef STORM_BASE_ENV_H
#define STORM_BASE_ENV_H

#include <stdbool.h>

#include <storm/options.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/port.h"

struct storm_boot;
struct storm_context;
struct storm_device;
struct storm_lifeline;

struct storm_env {
    int rank;
    int size;
    const struct storm_boot *boot; /* of these ranks */
    bool crowded;  /* more ranks than cores on this node: IDLE-4 */
    bool one_node; /* the same on all ranks */
    struct storm_log log;
    struct storm_memory *memory;
    const struct storm_options *options;
    struct storm_lifeline *lifeline; /* NULL: lost ranks are not detected */
    struct storm_device *device;     /* NULL: this rank computes by itself */
};

/* Passes a status on. If it is that there is no memory, and the book knows for
 * what (MEMORY-5), logs that, once. */
STORM_PRIVATE storm_status storm_env_explain(const struct storm_env *env,
                                             storm_status status);

/* The environment of a context; lives as long as it. */
STORM_PRIVATE const struct storm_env *
storm_context_env(const struct storm_context *context);

#endif /* STORM_BASE_ENV_H */
