/* SPDX-License-Identifier: BSD-3-Clause */
#include <storm/mesh.h>

#include <storm_meshes.h>

static const struct {
    const char *name;
    bool built;
} mesh_kinds[STORM_N_MESH_KINDS] = {STORM_MESH_ROWS};

const char *storm_mesh_kind_name(size_t i)
{
    return i < STORM_N_MESH_KINDS ? mesh_kinds[i].name : NULL;
}

bool storm_mesh_kind_built(size_t i)
{
    return i < STORM_N_MESH_KINDS && mesh_kinds[i].built;
}
