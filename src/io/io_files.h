/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Directories and files of results. All functions are local, for rank 0, and
 * log what fails.
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

/* Removes the fields and profiles of an earlier run. */
void io_remove_dumps(const struct storm_context *context, const char *dir);

/* Removes one file; a warning if it cannot. */
void io_remove_file(const struct storm_context *context, const char *path);

/* Writes a text file, complete or not at all. STORM_ERR_IO. */
storm_status io_write_text(const struct storm_context *context, const char *dir,
                           const char *name, const char *text);

/* Renames a complete file of `dir`; a file with the final name is on the disk.
 * STORM_ERR_IO. */
storm_status io_commit_file(const struct storm_context *context,
                            const char *dir, const char *from, const char *to);

/* Do both exist, and are they the same directory? */
bool io_same_directory(const char *a, const char *b);

#endif /* STORM_IO_FILES_H */
