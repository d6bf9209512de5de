/* SPDX-License-Identifier: BSD-3-Clause */
/* For slots that a fabric has no function for: no slot is NULL. */
#include "fabric/fabric_ops.h"

void storm_no_prepare(int n_ranks)
{
    (void)n_ranks;
}

bool storm_no_offloads(void)
{
    return false;
}

void storm_no_survey(void (*line)(void *self, const char *text), void *self)
{
    (void)line;
    (void)self;
}
