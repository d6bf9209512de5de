/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * on_host.h for devices: one packet in each thread, all of it in registers, and
 * sums that threads share. The emulated device runs this text, too.
 */
#ifndef STORM_PHYSICS_ON_DEVICE_H
#define STORM_PHYSICS_ON_DEVICE_H

#include "base/port.h"

STORM_GPU_INLINE_BEGIN

#include <storm/packet.h>

#include "base/draw.h"
#include "base/exact.h"

enum { LANES = 1, ON_HOST = 0 };

#define ON_FUNCTION static inline

/* What other files have is inlined. */
#define storm_random storm_draw
#define storm_packet_random storm_draw_packet
#define storm_isotropic storm_draw_isotropic

/* The number of these bits, and the bits of a number. */
static inline double on_double(uint64_t bits)
{
    double x = 0.0;
#if defined(__NVPTX__)
    x = __nvvm_bitcast_ll2d((long long)bits);
#else
    memcpy(&x, &bits, sizeof x);
#endif
    return x;
}

static inline uint64_t on_bits(double x)
{
    uint64_t bits = 0;
#if defined(__NVPTX__)
    bits = (uint64_t)__nvvm_bitcast_d2ll(x);
#else
    memcpy(&bits, &x, sizeof bits);
#endif
    return bits;
}

/* 16 bytes, which are read and written at once. To memory of the host two
 * halves would travel by themselves, ten times as slowly. */
typedef uint64_t on_pair
    __attribute__((vector_size(16), may_alias, aligned(16)));

/* ON-1: as two words, the carry by hand: whoever adds to the low word sees
 * whether his own addition carries. */
static inline void on_add(storm_exact *sum, storm_exact term)
{
    unsigned char *word = (unsigned char *)sum;
    uint64_t low = (uint64_t)term, high = (uint64_t)(term >> 64);
    uint64_t before = storm_thread_add(word, low);
    high += before + low < before;
    if (high != 0)
        (void)storm_thread_add(word + sizeof low, high);
}

static inline void on_count(uint64_t *number)
{
    (void)storm_thread_add(number, 1);
}

#endif /* STORM_PHYSICS_ON_DEVICE_H */
