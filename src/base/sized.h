/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Public structs that begin with their size, so that fields can be added.
 *
 *   SIZED-1  Only `size` bytes of the caller's struct are read or written; what
 *            this library has beyond them is zero, which means "choose for me".
 *   SIZED-2  A struct of a newer version is read as far as this library knows
 *            it; if what it does not know is not zero, that is an error.
 *   SIZED-3  A size that no struct can have, such as the zero of one that was
 *            not initialised, is an error.
 */
#ifndef STORM_BASE_SIZED_H
#define STORM_BASE_SIZED_H

#include <stddef.h>

#include <storm/status.h>

#include "base/env.h"
#include "base/port.h"

/*
 * Copies a caller's struct to one of ours of `bytes` bytes, whose size becomes
 * `bytes`. `what` names the function in the message, which rank 0 logs; without
 * an environment nothing is logged.
 *
 * STORM_ERR_ARG: SIZED-3. STORM_ERR_NOSUP: SIZED-2.
 */
STORM_PRIVATE storm_status storm_sized_read(const struct storm_env *env,
                                            const char *what, const void *from,
                                            void *to, size_t bytes);

/* The same for an element of an array, whose size the parent has: `given`. */
storm_status storm_sized_read_element(const struct storm_env *env,
                                      const char *what, const void *from,
                                      size_t given, void *to, size_t bytes);

/* Copies ours, of `bytes` bytes, to a caller's. Same statuses, nothing logged;
 * after an error nothing was written. */
STORM_PRIVATE storm_status storm_sized_write(const void *from, size_t bytes,
                                             void *to);

#endif /* STORM_BASE_SIZED_H */
