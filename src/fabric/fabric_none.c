/* SPDX-License-Identifier: BSD-3-Clause */
/* Slots of fabrics that have nothing for them: nobody tests for NULL. */
#include "fabric/fabric_ops.h"

bool storm_no_offloads(void)
{
    return false;
}

void storm_no_survey(void (*line)(void *self, const char *text), void *self)
{
    (void)line;
    (void)self;
}
