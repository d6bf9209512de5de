/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * planes_pick (mesh/mesh_planes_geom.h) for any processor. With the compiler's
 * own vectors of four, which most processors have in some form: gcc makes
 * nothing of loops that are as short.
 */
#ifndef STORM_PHYSICS_PICK_H
#define STORM_PHYSICS_PICK_H

#include <string.h>

#include "mesh/mesh_planes_geom.h"

typedef float pick_real __attribute__((vector_size(16)));
typedef int32_t pick_int __attribute__((vector_size(16)));
typedef int16_t pick_short __attribute__((vector_size(8)));

enum { PICK_WIDTH = 4, PICK_PARTS = STORM_PLANES_WIDTH / PICK_WIDTH };

static inline pick_real pick_load(const int16_t *fractions)
{
    pick_short x;
    memcpy(&x, fractions, sizeof x);
    return __builtin_convertvector(__builtin_convertvector(x, pick_int),
                                   pick_real);
}

static inline pick_real pick_all(float x)
{
    return (pick_real){x, x, x, x};
}

/* a where the bits of `is` are set, else b. */
static inline pick_real pick_select(pick_int is, pick_real a, pick_real b)
{
    return (pick_real)(((pick_int)a & is) | ((pick_int)b & ~is));
}

static inline pick_real pick_lesser(pick_real a, pick_real b)
{
    return pick_select(a < b, a, b);
}

/* Bit b to bit 8 b, for the eight blocks. */
static inline uint64_t pick_spread(uint32_t bits)
{
    const uint64_t seven = bits & 0x7f, last = bits >> 7;
    return (seven * UINT64_C(0x02040810204081) & UINT64_C(0x0101010101010101)) |
           last << 56;
}

static inline __attribute__((always_inline)) uint64_t
planes_pick(const struct storm_planes_block *block, uint32_t n_blocks,
            const float y[3], const float u[3])
{
    pick_real height[PLANES_MAX_BLOCKS][PICK_PARTS];
    pick_real slope[PLANES_MAX_BLOCKS][PICK_PARTS];
    pick_real latest = pick_all(INFINITY); /* exit times */
    for (uint32_t b = 0; b < n_blocks; b++)
        for (int i = 0; i < PICK_PARTS; i++) {
            const int k = i * PICK_WIDTH;
            const pick_real n0 = pick_load(&block[b].n[0][k]),
                            n1 = pick_load(&block[b].n[1][k]),
                            n2 = pick_load(&block[b].n[2][k]);
            pick_real h = pick_load(&block[b].distance[k]) -
                          ((n0 * y[0] + n1 * y[1]) + n2 * y[2]);
            pick_real s = (n0 * u[0] + n1 * u[1]) + n2 * u[2];
            pick_real t = (h + PLANES_DOUBT_H) / (s - PLANES_DOUBT_S);
            t = pick_select(s > PLANES_STEEP, t, pick_all(INFINITY));
            latest = pick_lesser(t, latest);
            height[b][i] = h;
            slope[b][i] = s;
        }
    float end = latest[0];
    for (int k = 1; k < PICK_WIDTH; k++)
        end = latest[k] < end ? latest[k] : end;
    end = end > 0.0f ? end : 0.0f;
    if (end == INFINITY)
        return 0;
    pick_int found[PICK_PARTS] = {{0}}; /* bit b: in block b */
    const float max = PLANES_DOUBT_H + PLANES_DOUBT_S * end;
    for (uint32_t b = 0; b < n_blocks; b++)
        for (int i = 0; i < PICK_PARTS; i++)
            found[i] |=
                (height[b][i] - slope[b][i] * end <= max) & (int32_t)(1u << b);
    uint64_t mask = 0;
    for (int k = 0; k < STORM_PLANES_WIDTH; k++)
        mask |= pick_spread((uint32_t)found[k / PICK_WIDTH][k % PICK_WIDTH])
                << k;
    return mask;
}

#endif /* STORM_PHYSICS_PICK_H */
