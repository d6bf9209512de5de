/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A CSV file that grows by the rows of each step. On rank 0.
 *
 *   ROWS-1  The first column is the step, and rows are in its order.
 *   ROWS-2  The file is replaced as a whole (FILES-1): it never ends within a
 *           row. Rows are written before a checkpoint of their step is, so that
 *           a restart finds those of all steps before it.
 *   ROWS-3  A restart keeps the rows up to its step, from the file of the run
 *           that it continues, if that has the same header.
 */
#ifndef STORM_IO_ROWS_H
#define STORM_IO_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <storm/context.h>
#include <storm/status.h>

#include "base/page.h"

struct io_rows {
    const struct storm_context *context;
    const char *dir;
    char name[64]; /* of the file; empty: there is none */
    struct storm_page text;
    size_t written; /* bytes of it in the file */
};

/* An empty file, with this line of names. Nothing is written yet. */
void io_rows_begin(struct io_rows *rows, const char *header);

/* ROWS-3: adds those of `from_dir` up to `step`. False: there are none that
 * fit, and `rows` is as before. */
bool io_rows_keep(struct io_rows *rows, const char *from_dir, uint64_t step);

/* Writes the file if there are new rows. STORM_ERR_IO (logged, at this level),
 * STORM_ERR_NOMEM. */
storm_status io_rows_write(struct io_rows *rows, storm_log_level level);

void io_rows_free(struct io_rows *rows);

/* A number, and a comma or the end of the line after it. */
void io_rows_real(struct storm_page *page, double value, char after);

#endif /* STORM_IO_ROWS_H */
