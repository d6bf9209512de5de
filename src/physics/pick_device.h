/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * planes_pick (mesh/mesh_planes_geom.h) for one packet in each thread: plane
 * after plane, in registers. Candidates may be others than those of pick.h, and
 * each of the two finds the exit among its own.
 */
#ifndef STORM_PHYSICS_PICK_DEVICE_H
#define STORM_PHYSICS_PICK_DEVICE_H

#include <string.h>

#include "base/port.h"
#include "mesh/mesh_planes_geom.h"

/* Fractions of eight planes, as they are fetched. */
typedef uint32_t pick_words
    __attribute__((vector_size(2 * STORM_PLANES_WIDTH), may_alias));

static inline pick_words pick_load(const int16_t *fractions)
{
    return *(const pick_words *)(const void *)fractions;
}

/* The k-th of eight, by the bits of 2^23 and 2^15 more: a GPU converts integers
 * slowly. Exact. */
static inline float pick_fraction(pick_words words, int k)
{
    uint32_t word = words[k / 2] ^ UINT32_C(0x80008000);
    uint32_t bits = (k % 2 != 0 ? word >> 16 : word & 0xffff) | 0x4b000000;
    return storm_port_float(bits) - 8421376.0f;
}

/* Height of a point over a plane, and slope of a direction towards it. */
struct pick_plane {
    float h, s;
};

static inline struct pick_plane pick_plane(const pick_words n[3],
                                           pick_words distance, int k,
                                           const float y[3], const float u[3])
{
    const float n0 = pick_fraction(n[0], k), n1 = pick_fraction(n[1], k),
                n2 = pick_fraction(n[2], k);
    return (struct pick_plane){
        .h = pick_fraction(distance, k) - ((n0 * y[0] + n1 * y[1]) + n2 * y[2]),
        .s = (n0 * u[0] + n1 * u[1]) + n2 * u[2],
    };
}

/* Any steep plane's time is an upper bound, so fractions are compared without
 * dividing. */
static inline float pick_end(const struct storm_planes_block *block,
                             uint32_t n_blocks, const float y[3],
                             const float u[3])
{
    float h = INFINITY, s = 1.0f; /* of the nearest */
    for (uint32_t b = 0; b < n_blocks; b++) {
        const pick_words n[3] = {pick_load(block[b].n[0]),
                                 pick_load(block[b].n[1]),
                                 pick_load(block[b].n[2])},
                         distance = pick_load(block[b].distance);
#pragma GCC unroll 8
        for (int k = 0; k < STORM_PLANES_WIDTH; k++) {
            const struct pick_plane p = pick_plane(n, distance, k, y, u);
            const float own_h = p.h + PLANES_DOUBT_H,
                        own_s = p.s - PLANES_DOUBT_S;
            const bool nearer = p.s > PLANES_STEEP && own_h * s < h * own_s;
            h = nearer ? own_h : h;
            s = nearer ? own_s : s;
        }
    }
    return h / s;
}

static inline __attribute__((always_inline)) uint64_t
planes_pick(const struct storm_planes_block *block, uint32_t n_blocks,
            const float y[3], const float u[3])
{
    float end = pick_end(block, n_blocks, y, u);
    end = end > 0.0f ? end : 0.0f;
    if (end == INFINITY)
        return 0;
    const float max = PLANES_DOUBT_H + PLANES_DOUBT_S * end;
    uint64_t mask = 0;
    for (uint32_t b = 0; b < n_blocks; b++) {
        const pick_words n[3] = {pick_load(block[b].n[0]),
                                 pick_load(block[b].n[1]),
                                 pick_load(block[b].n[2])},
                         distance = pick_load(block[b].distance);
        uint64_t found = 0;
#pragma GCC unroll 8
        for (int k = 0; k < STORM_PLANES_WIDTH; k++) {
            const struct pick_plane p = pick_plane(n, distance, k, y, u);
            found |= (uint64_t)(p.h - p.s * end <= max) << k;
        }
        mask |= found << STORM_PLANES_WIDTH * b;
    }
    return mask;
}

#endif /* STORM_PHYSICS_PICK_DEVICE_H */
