/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A CSV file of numbers: a line of names, then rows. Lines that begin with #
 * are comments; `nan` is no value.
 */
#ifndef STORM_IO_TABLE_H
#define STORM_IO_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <storm/status.h>

enum { IO_TABLE_NAME = 256 };

struct storm_memory;

struct io_table {
    struct storm_memory *memory; /* the caller's book */
    char (*names)[IO_TABLE_NAME];
    double *values; /* row by row */
    size_t n_columns, n_rows, names_capacity, values_capacity;
    double time;       /* of a comment "# time ..."; NAN: none */
    uint64_t replicas; /* of one that ends with "replicas N"; 0: none */
};

/* Free the table also after an error. STORM_ERR_IO: cannot be read or is not a
 * table; STORM_ERR_NOMEM. `problem` gets file, line and reason, in one line. */
storm_status io_table_read(struct storm_memory *memory, const char *path,
                           struct io_table *table_out, char *problem,
                           size_t problem_size);

/* The same of a text. */
storm_status io_table_parse(struct storm_memory *memory, const char *text,
                            struct io_table *table_out, char *problem,
                            size_t problem_size);
void io_table_free(struct io_table *table);

/* The column with this name; n_columns: none. */
size_t io_table_find(const struct io_table *table, const char *name);

#endif /* STORM_IO_TABLE_H */
