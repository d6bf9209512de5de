/* SPDX-License-Identifier: BSD-3-Clause */
/* voronoi_wide.h for processors with AVX-512: the same bits. */
#ifndef STORM_MESH_VORONOI_WIDE_AVX512_H
#define STORM_MESH_VORONOI_WIDE_AVX512_H

#include <immintrin.h>

#include "mesh/voronoi/voronoi_cell.h"

static inline uint64_t wide_sides(const struct voronoi_cell *cell,
                                  int32_t first, int32_t n, const double p[3],
                                  double d, double doubt)
{
    const __m512d n0 = _mm512_set1_pd(p[0]), n1 = _mm512_set1_pd(p[1]),
                  n2 = _mm512_set1_pd(p[2]), d0 = _mm512_set1_pd(d),
                  limit = _mm512_set1_pd(-doubt);
    uint64_t hits = 0;
    for (int32_t i = 0; i < n; i += 8) {
        __m512d x = _mm512_loadu_pd(cell->x + first + i);
        __m512d y = _mm512_loadu_pd(cell->y + first + i);
        __m512d z = _mm512_loadu_pd(cell->z + first + i);
        __m512d xy = _mm512_add_pd(_mm512_mul_pd(n0, x), _mm512_mul_pd(n1, y));
        __m512d s = _mm512_add_pd(xy, _mm512_sub_pd(_mm512_mul_pd(n2, z), d0));
        _mm512_storeu_pd(cell->side + first + i, s);
        hits |= (uint64_t)_mm512_cmp_pd_mask(s, limit, _CMP_GT_OQ) << i;
    }
    return hits;
}

static inline __m512d wide_outside(double y, const double *lo, const double *hi)
{
    __m512d at = _mm512_set1_pd(y);
    __m512d nearest = _mm512_max_pd(at, _mm512_loadu_pd(lo));
    nearest = _mm512_min_pd(nearest, _mm512_loadu_pd(hi));
    return _mm512_sub_pd(at, nearest);
}

/* The sum of three squares. */
static inline __m512d wide_norm2(__m512d a, __m512d b, __m512d c)
{
    __m512d ab = _mm512_add_pd(_mm512_mul_pd(a, a), _mm512_mul_pd(b, b));
    return _mm512_add_pd(ab, _mm512_mul_pd(c, c));
}

static inline unsigned wide_near(const struct voronoi_group *group,
                                 const double y[3], double hi2)
{
    __m512d a = wide_outside(y[0], group->lo[0], group->hi[0]);
    __m512d b = wide_outside(y[1], group->lo[1], group->hi[1]);
    __m512d c = wide_outside(y[2], group->lo[2], group->hi[2]);
    return _mm512_cmp_pd_mask(wide_norm2(a, b, c), _mm512_set1_pd(hi2),
                              _CMP_LE_OQ);
}

static inline size_t wide_list(const struct voronoi_points *points,
                               int32_t first, const double y[3], unsigned done,
                               const double range2[2],
                               struct voronoi_found *found)
{
    __m512d d[3];
    for (int k = 0; k < 3; k++)
        d[k] = _mm512_sub_pd(_mm512_loadu_pd(points->x[k] + first),
                             _mm512_set1_pd(y[k]));
    __m512d r2 = wide_norm2(d[0], d[1], d[2]);
    __mmask8 in =
        _mm512_cmp_pd_mask(r2, _mm512_set1_pd(range2[0]), _CMP_GT_OQ) &
        _mm512_cmp_pd_mask(r2, _mm512_set1_pd(range2[1]), _CMP_LE_OQ) &
        (__mmask8)~done;
    __m512i index = _mm512_add_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0),
                                     _mm512_set1_epi64(first));
    __m512i real =
        _mm512_cvtepu32_epi64(_mm256_castps_si256(_mm512_cvtpd_ps(r2)));
    __m512i both = _mm512_or_si512(real, _mm512_slli_epi64(index, 32));
    _mm512_storeu_si512(found, _mm512_maskz_compress_epi64(in, both));
    return (size_t)__builtin_popcount(in);
}

#endif /* STORM_MESH_VORONOI_WIDE_AVX512_H */
