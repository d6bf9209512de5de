/* SPDX-License-Identifier: BSD-3-Clause */
/* Log messages of the library: one lower-case line each, to the sink. */
#ifndef STORM_BASE_LOG_H
#define STORM_BASE_LOG_H

#include <stdatomic.h>
#include <stdint.h>

#include <storm/log.h>

#include "base/port.h"

struct storm_log {
    storm_log_fn sink;
    void *self;
    storm_log_level level; /* highest that is logged */
    int rank;              /* ranks other than 0 log errors alone */
    /* Those known to this rank, logged here or not. Of several threads; may be
     * NULL. */
    atomic_uint_least64_t *n_errors;
};

/* Formats and passes to the sink, if the level is enabled. Lines longer than
 * 1 KiB are cut and end in "...". */
STORM_PRIVATE void storm_log_write(const struct storm_log *log,
                                   storm_log_level level, const char *format,
                                   ...) STORM_PRINTF(3, 4);

/* An error that all ranks know and rank `writer` logs: one line, not one from
 * each. */
void storm_log_shared(const struct storm_log *log, int writer,
                      const char *format, ...) STORM_PRINTF(3, 4);

/* The default sink: one line on standard error, "storm: error: rank 3: ...".
 * Only errors carry a rank: all else comes from rank 0. */
void storm_log_to_stderr(void *self, storm_log_level level, int rank,
                         const char *message);

#endif /* STORM_BASE_LOG_H */
