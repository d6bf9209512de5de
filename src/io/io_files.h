/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Directories and files of results. All functions are local.
 *
 *   FILES-1  A file is written with ".part" after its name, and is renamed once
 *            all of it is on the disk; then the directory is synced. A file
 *            with its final name is complete, also after a loss of power.
 *   FILES-2  After a failure there is no .part, and a file that had the name
 *            before is unchanged, or new if only the directory's sync failed.
 *   FILES-3  Every status counts, that of fsync and close included. The reason
 *            of the first failure is reported, with what to do.
 */
#ifndef STORM_IO_FILES_H
#define STORM_IO_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <storm/context.h>
#include <storm/status.h>

enum { IO_PATH_BYTES = 4096 };

/* ---- a file that is being written ---------------------------------------- */

/* Several processes may write one file: each opens, writes its bytes and
 * closes, one of them as the first, which opens before the others and commits
 * or removes after them. */
struct io_part {
    char path[IO_PATH_BYTES], part[IO_PATH_BYTES];
    int fd;
    int error; /* errno of the first failure; calls after it do nothing */
};

/* The file <dir>/<name>. */
void io_part_open(struct io_part *p, const char *dir, const char *name,
                  bool is_first);
void io_part_write(struct io_part *p, const void *bytes, size_t n,
                   uint64_t offset);

/* Syncs and closes. */
void io_part_close(struct io_part *p);

/* The first: gives it its name, or removes it if there is an error. */
void io_part_commit(struct io_part *p);

/* Syncs the directory that holds this file. errno if false. */
bool io_sync_directory(const char *path);

/* One line: why the file cannot be written, and what to do. */
void io_files_problem(const char *path, int error, char *text_out,
                      size_t bytes);

/* ---- on rank 0; what fails is logged ------------------------------------- */

/* Makes a directory with its parents. STORM_ERR_IO. */
storm_status io_make_directory(const struct storm_context *context,
                               const char *path);

/* Removes one file; a warning, and false, if it cannot. */
bool io_remove_file(const struct storm_context *context, const char *path);

/* Writes a text file, complete or not at all. STORM_ERR_IO. */
storm_status io_write_text(const struct storm_context *context, const char *dir,
                           const char *name, const char *text);

/* The same; what fails is logged at this level. */
storm_status io_write_text_at(const struct storm_context *context,
                              const char *dir, const char *name,
                              const char *text, storm_log_level level);

/* Do both exist, and are they the same directory? */
bool io_same_directory(const char *a, const char *b);

#endif /* STORM_IO_FILES_H */
