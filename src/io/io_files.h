/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Directories and files of results. All of it is local, for rank 0; what goes
 * wrong is logged.
 */
#ifndef STORM_IO_FILES_H
#define STORM_IO_FILES_H

#include <stdbool.h>

#include <storm/status.h>

enum { OUTPUT_PATH_BYTES = 4096 };

struct storm_context;

/* Makes a directory with its parents. STORM_ERR_IO. */
storm_status output_directory(const struct storm_context *context,
                              const char *path);

/* Removes fields and profiles, which are an earlier run's. */
void output_clear(const struct storm_context *context, const char *dir);

/* Removes one file; a warning if that cannot be. */
void output_remove(const struct storm_context *context, const char *path);

/* Writes a text file, whole or not at all. STORM_ERR_IO. */
storm_status output_text(const struct storm_context *context, const char *dir,
                         const char *name, const char *text);

/* Gives a file of `dir` that is complete its final name, so that it is on the
 * disk once it is found under it. STORM_ERR_IO. */
storm_status output_settle(const struct storm_context *context, const char *dir,
                           const char *from, const char *to);

/* Are both there, and the same directory? */
bool output_same_directory(const char *a, const char *b);

#endif /* STORM_IO_FILES_H */
