/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * planes_pick (mesh/mesh_planes_geom.h) for processors with AVX-512: sixteen
 * planes at a time.
 *
 * Cells of up to 24 planes, almost all, take the same path, in which no branch
 * can be predicted wrongly: a block that a cell does not have is its first one
 * again. Half of a vector has one coordinate of a block's planes, the other
 * half the next.
 */
#ifndef STORM_PHYSICS_PICK_AVX512_H
#define STORM_PHYSICS_PICK_AVX512_H

#include <immintrin.h>

#include "base/port.h"
#include "mesh/mesh_planes_geom.h"

/* (-y0 | -y1), (-y2 | 1); (u0 | u1), (u2 | 0) */
struct pick {
    __m512 y01, y2, u01, u2;
};

/* Of the planes of one block; the sums of their halves are what is wanted. */
struct pick_halves {
    __m512 height, slope;
};

static inline __m512 pick_pair(float low, float high)
{
    return _mm512_mask_broadcastss_ps(_mm512_set1_ps(low), 0xff00,
                                      _mm_set_ss(high));
}

/* Two coordinates of eight planes. */
static inline __m512 pick_load(const int16_t *fractions)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(
        _mm256_load_si256((const __m256i *)(const void *)fractions)));
}

static inline struct pick_halves
pick_block(const struct storm_planes_block *block, const struct pick *p)
{
    __m512 n01 = pick_load(block->n[0]), n2 = pick_load(block->n[2]);
    return (struct pick_halves){
        .height = _mm512_fmadd_ps(n2, p->y2, _mm512_mul_ps(n01, p->y01)),
        .slope = _mm512_fmadd_ps(n2, p->u2, _mm512_mul_ps(n01, p->u01))};
}

/* The sums of the halves of two blocks, side by side. */
static inline __m512 pick_sum(__m512 a, __m512 b)
{
    return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x44),
                         _mm512_shuffle_f32x4(a, b, 0xee));
}

/* Latest exit times. */
static inline __m512 pick_times(__m512 height, __m512 slope)
{
    __mmask16 steep =
        _mm512_cmp_ps_mask(slope, _mm512_set1_ps(PLANES_STEEP), _CMP_GT_OQ);
    return _mm512_mask_div_ps(_mm512_set1_ps(INFINITY), steep,
                              _mm512_add_ps(height,
                                            _mm512_set1_ps(PLANES_DOUBT_H)),
                              _mm512_sub_ps(slope,
                                            _mm512_set1_ps(PLANES_DOUBT_S)));
}

static inline float pick_min(__m512 x)
{
    __m256 y =
        _mm256_min_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
    __m128 m =
        _mm_min_ps(_mm256_castps256_ps128(y), _mm256_extractf128_ps(y, 1));
    m = _mm_min_ps(m, _mm_movehl_ps(m, m));
    m = _mm_min_ss(m, _mm_movehdup_ps(m));
    return _mm_cvtss_f32(m);
}

/* Which planes the exit may be. */
static inline uint64_t pick_mask(__m512 height, __m512 slope, float end)
{
    __m512 over = _mm512_fnmadd_ps(_mm512_set1_ps(end), slope, height);
    return _mm512_cmp_ps_mask(over,
                              _mm512_set1_ps(PLANES_DOUBT_H +
                                             PLANES_DOUBT_S * end),
                              _CMP_LE_OQ);
}

/* Blocks in pairs; with n_pairs a constant where it matters. */
static inline __attribute__((always_inline)) uint64_t
pick_from(const struct storm_planes_block *block, uint32_t n_blocks,
          const struct pick *p, uint32_t n_pairs)
{
    __m512 height[PLANES_MAX_BLOCKS / 2], slope[PLANES_MAX_BLOCKS / 2];
    __m512 latest = _mm512_set1_ps(INFINITY);
    for (uint32_t i = 0; i < n_pairs; i++) {
        uint32_t at = 2 * i < n_blocks ? 2 * i : 0;
        uint32_t next = 2 * i + 1 < n_blocks ? 2 * i + 1 : 0;
        struct pick_halves a = pick_block(&block[at], p);
        struct pick_halves b = pick_block(&block[next], p);
        height[i] = pick_sum(a.height, b.height);
        slope[i] = pick_sum(a.slope, b.slope);
        latest = _mm512_min_ps(latest, pick_times(height[i], slope[i]));
    }
    float end = pick_min(latest);
    end = end > 0.0f ? end : 0.0f;
    if (STORM_UNLIKELY(end == INFINITY))
        return 0;
    uint64_t mask = 0;
    for (uint32_t i = 0; i < n_pairs; i++)
        mask |= pick_mask(height[i], slope[i], end)
                << (2 * i * STORM_PLANES_WIDTH);
    uint32_t unused = 64 - n_blocks * STORM_PLANES_WIDTH;
    return mask << unused >> unused;
}

static inline __attribute__((always_inline)) uint64_t
planes_pick(const struct storm_planes_block *block, uint32_t n_blocks,
            const float y[3], const float u[3])
{
    const struct pick p = {.y01 = pick_pair(-y[0], -y[1]),
                           .y2 = pick_pair(-y[2], 1.0f),
                           .u01 = pick_pair(u[0], u[1]),
                           .u2 = pick_pair(u[2], 0.0f)};
    if (STORM_LIKELY(n_blocks <= 2))
        return pick_from(block, n_blocks, &p, 1);
    if (STORM_LIKELY(n_blocks <= 4))
        return pick_from(block, n_blocks, &p, 2);
    return pick_from(block, n_blocks, &p, PLANES_MAX_BLOCKS / 2);
}

#endif /* STORM_PHYSICS_PICK_AVX512_H */
