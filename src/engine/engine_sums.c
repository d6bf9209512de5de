/* SPDX-License-Identifier: BSD-3-Clause */
/* storm/exact.h: the sums of base/exact.h for hosts. */
#include <storm/exact.h>

#include <math.h>
#include <stdlib.h>

#include "base/exact.h"
#include "base/hash.h"
#include "base/log.h"
#include "engine/engine_context.h"

static storm_exact sum_integer(const struct storm_sum *sum)
{
    __extension__ typedef unsigned __int128 wide;
    return (storm_exact)((wide)sum->words[1] << 64 | sum->words[0]);
}

static void sum_set(struct storm_sum *sum, storm_exact integer)
{
    __extension__ typedef unsigned __int128 wide;
    sum->words[0] = (uint64_t)integer;
    sum->words[1] = (uint64_t)((wide)integer >> 64);
}

static struct storm_exact_unit sum_unit(const struct storm_sum *sum)
{
    return (struct storm_exact_unit){.lsb = sum->unit};
}

storm_status storm_sum_begin(struct storm_sum *sum, double bound)
{
    if (!(bound >= 0.0) || !isfinite(bound))
        return STORM_ERR_ARG;
    *sum = (struct storm_sum){.unit = storm_exact_unit(bound).lsb};
    return STORM_OK;
}

storm_status storm_sum_add(struct storm_sum *sum, double term)
{
    if (!storm_exact_unit_fits(sum_unit(sum), term))
        return STORM_ERR_ARG;
    sum_set(sum, sum_integer(sum) + storm_exact_term(term, sum_unit(sum)));
    return STORM_OK;
}

storm_status storm_sum_merge(struct storm_sum *sum,
                             const struct storm_sum *other)
{
    if (sum->unit != other->unit)
        return STORM_ERR_ARG;
    sum_set(sum, sum_integer(sum) + sum_integer(other));
    return STORM_OK;
}

double storm_sum_value(const struct storm_sum *sum)
{
    return storm_exact_value(sum_integer(sum), sum_unit(sum));
}

/* Do all ranks have the same units? The largest of a hash and of its complement
 * belong together only if there is one hash. */
static storm_status sum_compare(const struct storm_context *context,
                                const struct storm_sum *sums, size_t n)
{
    uint64_t hash = storm_hash_word(n);
    for (size_t i = 0; i < n; i++)
        hash = storm_hash_fold(hash, (uint64_t)(int64_t)sums[i].unit);
    uint64_t both[2] = {hash, ~hash};
    storm_status status =
        storm_context_reduce(context, both, 2, MPI_UINT64_T, MPI_MAX);
    if (status < 0 || both[0] == ~both[1])
        return status;
    if (context->env.rank == 0)
        storm_log_write(&context->env.log, STORM_LOG_ERROR,
                        "exact sums cannot be added: the number of sums or the "
                        "bounds given to storm_sum_begin differ between ranks");
    return STORM_ERR_ARG;
}

/* In portions: MPI counts with int. */
enum { SUM_PORTION = 1 << 16 };

static storm_status sum_reduce_limbs(const struct storm_context *context,
                                     int64_t *limbs, size_t n)
{
    storm_status status = STORM_OK;
    for (size_t i = 0; i < n && status >= 0; i += SUM_PORTION) {
        size_t left = n - i < SUM_PORTION ? n - i : SUM_PORTION;
        status = storm_context_reduce(context, limbs + i, (int)left,
                                      MPI_INT64_T, MPI_SUM);
    }
    return status;
}

storm_status storm_sum_reduce(const struct storm_context *context,
                              struct storm_sum *sums, size_t n)
{
    storm_status status = sum_compare(context, sums, n);
    if (status < 0 || n == 0)
        return status;
    int64_t *limbs = calloc(n, STORM_EXACT_LIMBS * sizeof *limbs);
    status = storm_context_agree(context,
                                 limbs != NULL ? STORM_OK : STORM_ERR_NOMEM);
    for (size_t i = 0; i < n && status >= 0; i++)
        storm_exact_split(sum_integer(&sums[i]), limbs + STORM_EXACT_LIMBS * i);
    if (status >= 0)
        status = sum_reduce_limbs(context, limbs, STORM_EXACT_LIMBS * n);
    for (size_t i = 0; i < n && status >= 0; i++)
        sum_set(&sums[i], storm_exact_join(limbs + STORM_EXACT_LIMBS * i));
    free(limbs);
    return status;
}
