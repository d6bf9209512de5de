/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/log.h
 * Where the library's messages go. The library itself never prints.
 *
 * Each message is one line of lower-case text without a newline. By default
 * a context passes errors of every rank and everything else of rank 0 to the
 * sink; the default sink writes to standard error.
 */
#ifndef STORM_LOG_H
#define STORM_LOG_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum storm_log_level {
    STORM_LOG_ERROR = 0, /**< a call failed; logged once, where it was found */
    STORM_LOG_WARN = 1,  /**< the run continues, but the user should know */
    STORM_LOG_INFO = 2,  /**< a few lines per run */
    STORM_LOG_DEBUG = 3  /**< per object */
} storm_log_level;

/** Receives one message. Called on the thread that logs it; must not call
 *  the library. */
typedef void (*storm_log_fn)(void *self, storm_log_level level, int rank,
                             const char *message);

#ifdef __cplusplus
}
#endif
#endif /* STORM_LOG_H */
