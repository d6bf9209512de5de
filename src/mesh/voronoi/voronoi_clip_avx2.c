/* SPDX-License-Identifier: BSD-3-Clause */
/* The clipper, compiled for AVX2 where the compiler knows it (CMakeLists.txt);
 * elsewhere the same as the plain one, and not chosen. */
#define VORONOI_BUILD voronoi_build_avx2
#include "mesh/voronoi/voronoi_clip.h"
