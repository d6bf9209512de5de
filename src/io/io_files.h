/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Directories and files of results. All of it is local, for rank 0; what goes
 * wrong is logged.
 */
#ifndef STORM_IO_FILES_H
#define STORM_IO_FILES_H

#include <stdbool.h>

#include <storm/status.h>

enum { IO_PATH_BYTES = 4096 };

struct storm_context;

/* Makes a directory with its parents. STORM_ERR_IO. */
storm_status io_make_directory(const struct storm_context *context,
                               const char *path);

/* Removes fields and profiles, which are an earlier run's. */
void io_remove_dumps(const struct storm_context *context, const char *dir);

/* Removes one file; a warning if that cannot be. */
void io_remove_file(const struct storm_context *context, const char *path);

/* Writes a text file, whole or not at all. STORM_ERR_IO. */
storm_status io_write_text(const struct storm_context *context, const char *dir,
                           const char *name, const char *text);

/* Gives a file of `dir` that is complete its final name, so that it is on the
 * disk once it is found under it. STORM_ERR_IO. */
storm_status io_commit_file(const struct storm_context *context,
                            const char *dir, const char *from, const char *to);

/* Are both there, and the same directory? */
bool io_same_directory(const char *a, const char *b);

#endif /* STORM_IO_FILES_H */
