/* SPDX-License-Identifier: BSD-3-Clause */
#include "physics/track.h"

#include "mesh/mesh_ops.h"

static const struct storm_track_ops *const track_list[] = {
    &storm_track_cart,
};

const struct storm_track_ops *storm_track_ops_for(const struct storm_mesh *mesh)
{
    for (size_t i = 0; i < sizeof track_list / sizeof track_list[0]; i++) {
        if (track_list[i]->mesh == mesh->ops)
            return track_list[i];
    }
    return NULL;
}

storm_track_fn *storm_track_for(const struct storm_mesh *mesh)
{
    const struct storm_track_ops *ops = storm_track_ops_for(mesh);
    return ops != NULL ? ops->advance : NULL;
}
