/* SPDX-License-Identifier: BSD-3-Clause */
#include "physics/on_host.h"

#include "mesh/octree/octree_geom.h"

#include "physics/imc_kernel.h"
#include "physics/track_kernel.h"

const struct storm_track_ops storm_track_octree = {
    .mesh = &storm_mesh_octree,
    .advance = track_advance,
    .imc = imc_advance,
    .imc_counted = imc_advance_counted,
    .imc_moving = imc_advance_moving,
    .imc_laws = imc_advance_laws,
};
