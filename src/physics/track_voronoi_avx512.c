/* SPDX-License-Identifier: BSD-3-Clause */
/* The same kernel for processors with AVX-512. */
#include "physics/on_host.h"

#include "mesh/voronoi/voronoi_geom.h"
#include "physics/imc_kernel.h"
#include "physics/pick_avx512.h"
#include "physics/track_kernel.h"

const struct storm_track_ops storm_track_voronoi_avx512 = {
    .mesh = &storm_mesh_voronoi,
    .advance = track_advance,
    .imc = imc_advance,
    .imc_counted = imc_advance_counted,
    .imc_moving = imc_advance_moving,
    .imc_laws = imc_advance_laws,
};
