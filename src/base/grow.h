/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrays that grow, where there is no context to book memory with: what reads
 * and draws finished runs.
 */
#ifndef STORM_BASE_GROW_H
#define STORM_BASE_GROW_H

#include <stdbool.h>
#include <stddef.h>

/* Room for at least n elements, by doubling; *array is from malloc or NULL.
 * False: no memory, and nothing has changed. */
bool storm_grow(void **array_inout, size_t *capacity_inout, size_t n,
                size_t element_bytes);

#endif /* STORM_BASE_GROW_H */
