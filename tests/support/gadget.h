/* SPDX-License-Identifier: BSD-3-Clause */
/* Small kernels for tests of devices; device_gadget.c is their text. */
#ifndef STORM_TESTS_GADGET_H
#define STORM_TESTS_GADGET_H

#include <stdint.h>

#include "device/device.h"

__extension__ typedef __int128 gadget_exact;

struct gadget_job {
    uint64_t *to;
    const uint64_t *from;
    uint64_t n, factor;
};

/* A term of 88 bits, of either sign. */
static inline gadget_exact gadget_term(uint64_t bits)
{
    return ((gadget_exact)(int64_t)bits) * (1 << 24);
}

/*
 * gadget_turn    to[i] = from[n - 1 - i] * factor
 * gadget_watch   to[0] = the number of the last thread that has run, to[1]
 *                counts those that ran after one with a higher number; on the
 *                emulated device alone
 * gadget_sum     adds gadget_term(from[i]) to the integer in to[0] and to[1]
 */
extern const struct storm_device_program gadget_program;

#endif /* STORM_TESTS_GADGET_H */
