/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory book: present and peak bytes by label.
 *
 *   MEMORY-1  Memory comes zeroed and aligned to a cache line.
 *   MEMORY-2  Every block is booked under its label until it is freed with the
 *             same book; the book knows present and peak bytes per label and in
 *             total.
 *   MEMORY-3  storm_memory_calls counts every allocation, so that a test can
 *             assert that a steady state makes none.
 *   MEMORY-4  A book is used by one thread at a time.
 *   MEMORY-5  What was refused last is remembered until it is reported: who
 *             ends a call with STORM_ERR_NOMEM can say for what, and who does
 *             without it is silent.
 */
#ifndef STORM_BASE_MEMORY_H
#define STORM_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <storm/status.h>

#include "base/port.h"

struct storm_memory;

STORM_PRIVATE storm_status
storm_memory_create(struct storm_memory **memory_out);

/* Returns the number of bytes that were still booked (0: no leak). */
size_t storm_memory_destroy(struct storm_memory *memory);

/* The same for a book with one owner: what is left is a bug of ours. NULL is
 * allowed. */
STORM_PRIVATE void storm_memory_end(struct storm_memory *memory);

/* NULL if there is no memory. `label` must live as long as the book. */
STORM_PRIVATE void *storm_alloc(struct storm_memory *memory, const char *label,
                                size_t bytes);

/* NULL is allowed. */
STORM_PRIVATE void storm_free(struct storm_memory *memory, void *block);

/*
 * Makes room for at least n_wanted elements in a growing array, by doubling.
 * On success *array_inout and *capacity_inout are new and the first
 * *capacity_inout (old) elements kept; on STORM_ERR_NOMEM nothing changed.
 */
STORM_PRIVATE storm_status storm_reserve(struct storm_memory *memory,
                                         const char *label,
                                         size_t element_bytes, size_t n_wanted,
                                         void **array_inout,
                                         size_t *capacity_inout);

/* Books memory that does not come from here, such as rings (negative when
 * released). */
void storm_memory_book(struct storm_memory *memory, const char *label,
                       ptrdiff_t bytes);

/* MEMORY-5: the label and bytes of the last allocation that was refused; false:
 * there is none since the last call. */
bool storm_memory_take_refused(struct storm_memory *memory,
                               const char **label_out, size_t *bytes_out);

uint64_t storm_memory_calls(const struct storm_memory *memory);

/* The i-th label; STORM_DONE past the end. Label "total" comes first. */
storm_status storm_memory_entry_at(const struct storm_memory *memory, size_t i,
                                   const char **label_out, size_t *bytes_out,
                                   size_t *peak_bytes_out);

/* Peak memory of the process, booked or not. */
STORM_PRIVATE uint64_t storm_process_peak_bytes(void);

/* Bytes of this machine, or of the limits of control groups; 0: unknown. */
double storm_memory_of_host(void);

#endif /* STORM_BASE_MEMORY_H */
