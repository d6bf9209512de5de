/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include <storm/context.h>

#include "physics/ledger.h"

storm_status storm_ledger_sum(struct storm_ledger *account,
                              const struct storm_context *context,
                              struct storm_ledger *sum_out)
{
    enum { WORDS = sizeof(struct storm_ledger) / sizeof(int64_t) };
    _Static_assert(WORDS * sizeof(int64_t) == sizeof(struct storm_ledger),
                   "all of it is 64-bit integers");
    for (int i = 0; i < STORM_LEDGER_ACCOUNTS; i++) {
        storm_ledger_carry(&account[i]);
        sum_out[i] = account[i];
    }
    return storm_context_reduce(context, sum_out, STORM_LEDGER_ACCOUNTS * WORDS,
                                MPI_INT64_T, MPI_SUM);
}

storm_status storm_ledger_balance(struct storm_ledger *account,
                                  const struct storm_context *context,
                                  double *value_out, double *error_out)
{
    struct storm_ledger sum[STORM_LEDGER_ACCOUNTS];
    storm_status status = storm_ledger_sum(account, context, sum);
    if (status < 0)
        return status;

    for (int i = 0; i < STORM_LEDGER_ACCOUNTS; i++)
        value_out[i] = storm_ledger_value(&sum[i]);
    struct storm_ledger error = sum[0];
    for (int i = 1; i < STORM_LEDGER_ACCOUNTS; i++)
        storm_ledger_merge(&error, &sum[i], -1);
    double wrong = fabs(storm_ledger_value(&error));
    *error_out = wrong > 0.0 ? wrong / value_out[0] : 0.0;
    return STORM_OK;
}
