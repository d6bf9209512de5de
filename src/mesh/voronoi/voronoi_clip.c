/* SPDX-License-Identifier: BSD-3-Clause */
/* The clipper for any processor, and the choice among all. */
#define VORONOI_BUILD voronoi_build_plain
#include "mesh/voronoi/voronoi_wide.h"

#include "mesh/voronoi/voronoi_clip.h"

voronoi_build_fn *voronoi_build_choice(void)
{
    if (storm_cpu_has_avx512())
        return STORM_IF_AVX512(voronoi_build_avx512, voronoi_build_plain);
    return storm_cpu_has_avx2()
               ? STORM_IF_AVX2(voronoi_build_avx2, voronoi_build_plain)
               : voronoi_build_plain;
}
