/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/exact.h
 * Sums of doubles that do not depend on the order of their terms: tallies of a
 * physics of one's own, with the same bits on any number of ranks.
 *
 * A sum is a 128-bit integer in a unit that follows from a bound on the size of
 * one term. A term is cut to the unit (towards zero), at most the bound times
 * 2^-86; integers then add exactly.
 *
 * Lifecycle  begin, any number of adds and merges on every rank, maybe reduce,
 *            value.
 *            A sum is a plain value: copy it, and end with nothing.
 * Threads    one thread at a time per sum.
 */
#ifndef STORM_EXACT_H
#define STORM_EXACT_H

#include <stddef.h>
#include <stdint.h>

#include <storm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct storm_context; /* opaque, storm/context.h */

/** Made by storm_sum_begin; to be looked at with storm_sum_value alone. Never
 *  grows. */
struct storm_sum {
    uint64_t words[2]; /**< the integer, low word first */
    int32_t unit;      /**< its last bit is worth 2^unit */
    int32_t reserved;
};

/**
 * Zero, for terms of at most @p bound in size. Local, never blocks. Take the
 * same bound on every rank, and one that does not depend on their number.
 * 2^40 terms of that size fit.
 *
 * @retval STORM_ERR_ARG  the bound is negative or not finite
 */
STORM_API STORM_MUST_CHECK storm_status storm_sum_begin(struct storm_sum *sum,
                                                        double bound);

/**
 * Add a term. Local, never blocks; nothing is logged.
 *
 * @retval STORM_ERR_ARG  the term is above the bound or not finite: the sum is
 *                        as it was
 */
STORM_API storm_status storm_sum_add(struct storm_sum *sum, double term);

/**
 * Add another sum, such as that of another thread. Local, never blocks; nothing
 * is logged.
 *
 * @retval STORM_ERR_ARG  it was begun with a bound of another size: the sum is
 *                        as it was
 */
STORM_API storm_status storm_sum_merge(struct storm_sum *sum,
                                       const struct storm_sum *other);

/** The sum as the nearest double. Local, never blocks. */
STORM_API double storm_sum_value(const struct storm_sum *sum);

/**
 * Replace each of @p n sums by the total over all ranks. Collective, blocks:
 * same @p n and bounds on every rank. The sums are as they were after an error.
 *
 * @retval STORM_ERR_ARG    units differ between ranks (logged by rank 0)
 * @retval STORM_ERR_NOMEM  on this rank
 * @retval STORM_ERR_PEER   only other ranks have an error
 * @retval STORM_ERR_FABRIC MPI failed
 * @retval STORM_ERR_LOST   a rank is lost (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_sum_reduce(const struct storm_context *context, struct storm_sum *sums,
                 size_t n);

#ifdef __cplusplus
}
#endif
#endif /* STORM_EXACT_H */
