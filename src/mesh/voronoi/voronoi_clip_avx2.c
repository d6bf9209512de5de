/* SPDX-License-Identifier: BSD-3-Clause */
/* The clipper for processors with AVX2. */
#define VORONOI_BUILD voronoi_build_avx2
#include "mesh/voronoi/voronoi_wide.h"

#include "mesh/voronoi/voronoi_clip.h"
