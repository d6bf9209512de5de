/* SPDX-License-Identifier: BSD-3-Clause */
/* planes_pick (mesh/mesh_planes_geom.h) for processors with AVX2: eight planes
 * at a time. */
#ifndef STORM_PHYSICS_PICK_AVX2_H
#define STORM_PHYSICS_PICK_AVX2_H

#include <immintrin.h>

#include "base/port.h"
#include "mesh/mesh_planes_geom.h"

struct pick {
    __m256 y[3], u[3];
};

static inline __m256 pick_load(const int16_t *fractions)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(
        _mm_load_si128((const __m128i *)(const void *)fractions)));
}

static inline __m256 pick_dot(const __m256 n[3], const __m256 v[3])
{
    __m256 sum =
        _mm256_add_ps(_mm256_mul_ps(n[0], v[0]), _mm256_mul_ps(n[1], v[1]));
    return _mm256_add_ps(sum, _mm256_mul_ps(n[2], v[2]));
}

static inline float pick_min(__m256 x)
{
    __m128 m =
        _mm_min_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    m = _mm_min_ps(m, _mm_movehl_ps(m, m));
    m = _mm_min_ss(m, _mm_movehdup_ps(m));
    return _mm_cvtss_f32(m);
}

/* With n_blocks a constant where it matters. */
static inline __attribute__((always_inline)) uint64_t
pick_from(const struct storm_planes_block *block, uint32_t n_blocks,
          const struct pick *p)
{
    __m256 height[PLANES_MAX_BLOCKS], slope[PLANES_MAX_BLOCKS];
    __m256 latest = _mm256_set1_ps(INFINITY);
    for (uint32_t b = 0; b < n_blocks; b++) {
        const __m256 n[3] = {pick_load(block[b].n[0]), pick_load(block[b].n[1]),
                             pick_load(block[b].n[2])};
        height[b] =
            _mm256_sub_ps(pick_load(block[b].distance), pick_dot(n, p->y));
        slope[b] = pick_dot(n, p->u);
        __m256 t = _mm256_div_ps(_mm256_add_ps(height[b],
                                               _mm256_set1_ps(PLANES_DOUBT_H)),
                                 _mm256_sub_ps(slope[b],
                                               _mm256_set1_ps(PLANES_DOUBT_S)));
        __m256 towards =
            _mm256_cmp_ps(slope[b], _mm256_set1_ps(PLANES_STEEP), _CMP_GT_OQ);
        t = _mm256_blendv_ps(_mm256_set1_ps(INFINITY), t, towards);
        latest = _mm256_min_ps(t, latest);
    }
    float end = pick_min(latest);
    end = end > 0.0f ? end : 0.0f;
    if (STORM_UNLIKELY(end == INFINITY))
        return 0;
    uint64_t mask = 0;
    __m256 max = _mm256_set1_ps(PLANES_DOUBT_H + PLANES_DOUBT_S * end);
    for (uint32_t b = 0; b < n_blocks; b++) {
        __m256 over =
            _mm256_sub_ps(height[b],
                          _mm256_mul_ps(_mm256_set1_ps(end), slope[b]));
        mask |=
            (uint64_t)(unsigned)_mm256_movemask_ps(_mm256_cmp_ps(over, max,
                                                                 _CMP_LE_OQ))
            << (b * STORM_PLANES_WIDTH);
    }
    return mask;
}

static inline __attribute__((always_inline)) uint64_t
planes_pick(const struct storm_planes_block *block, uint32_t n_blocks,
            const float y[3], const float u[3])
{
    struct pick p;
    for (int d = 0; d < 3; d++) {
        p.y[d] = _mm256_set1_ps(y[d]);
        p.u[d] = _mm256_set1_ps(u[d]);
    }
    if (STORM_LIKELY(n_blocks == 2))
        return pick_from(block, 2, &p);
    if (STORM_LIKELY(n_blocks == 3))
        return pick_from(block, 3, &p);
    return pick_from(block, n_blocks, &p);
}

#endif /* STORM_PHYSICS_PICK_AVX2_H */
