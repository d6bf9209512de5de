/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LOG_LINE_BYTES = 1024 };

static void log_count(const struct storm_log *log, storm_log_level level)
{
    if (log != NULL && log->n_errors != NULL && level == STORM_LOG_ERROR)
        atomic_fetch_add_explicit(log->n_errors, 1, memory_order_relaxed);
}

static void log_line(const struct storm_log *log, storm_log_level level,
                     const char *format, va_list args) STORM_PRINTF(3, 0);
static void log_line(const struct storm_log *log, storm_log_level level,
                     const char *format, va_list args)
{
    if (log == NULL || log->sink == NULL || level > log->level)
        return;
    if (log->rank != 0 && level != STORM_LOG_ERROR)
        return;
    char line[LOG_LINE_BYTES];
    int length = vsnprintf(line, sizeof line, format, args);
    if (length < 0)
        snprintf(line, sizeof line, "message could not be formatted: %s",
                 format);
    else if ((size_t)length >= sizeof line)
        memcpy(line + sizeof line - 4, "...", 4);
    log->sink(log->self, level, log->rank, line);
}

void storm_log_write(const struct storm_log *log, storm_log_level level,
                     const char *format, ...)
{
    va_list args;
    log_count(log, level);
    va_start(args, format);
    log_line(log, level, format, args);
    va_end(args);
}

void storm_log_shared(const struct storm_log *log, int writer,
                      const char *format, ...)
{
    va_list args;
    log_count(log, STORM_LOG_ERROR);
    if (log->rank != writer)
        return;
    va_start(args, format);
    log_line(log, STORM_LOG_ERROR, format, args);
    va_end(args);
}

void storm_log_to_stderr(void *self, storm_log_level level, int rank,
                         const char *message)
{
    (void)self;
    /* One call, hence one write: lines of several ranks do not mix. */
    switch (level) {
    case STORM_LOG_ERROR:
        fprintf(stderr, "storm: error: rank %d: %s\n", rank, message);
        break;
    case STORM_LOG_WARN:
        fprintf(stderr, "storm: warning: %s\n", message);
        break;
    case STORM_LOG_INFO:
        fprintf(stderr, "storm: %s\n", message);
        break;
    case STORM_LOG_DEBUG:
        fprintf(stderr, "storm: debug: %s\n", message);
        break;
    }
}
