/* SPDX-License-Identifier: BSD-3-Clause */
/* The clipper for processors with AVX-512. */
#define VORONOI_BUILD voronoi_build_avx512
#include "mesh/voronoi/voronoi_wide_avx512.h"

#include "mesh/voronoi/voronoi_clip.h"
