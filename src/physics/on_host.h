/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the text of the kernels needs of the processor it runs on, for the
 * processor of the rank. on_device.h is the same for devices; a kernel's file
 * includes one of the two first.
 *
 *   ON-1  Integers alone are added to what is shared, so that the order of
 *         threads does not matter.
 */
#ifndef STORM_PHYSICS_ON_HOST_H
#define STORM_PHYSICS_ON_HOST_H

#include "base/exact.h"
#include "base/random.h"

/* Packets in flight; and may the text call what belongs to the host? */
enum { LANES = 16, ON_HOST = 1 };

/* A function that devices do not need. */
#define ON_FUNCTION static

static inline void on_add(storm_exact *sum, storm_exact term)
{
    *sum += term;
}

static inline void on_count(uint64_t *number)
{
    ++*number;
}

#endif /* STORM_PHYSICS_ON_HOST_H */
