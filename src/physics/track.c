/* SPDX-License-Identifier: BSD-3-Clause */
#include "physics/track.h"

#include "base/port.h"
#include "mesh/mesh_ops.h"

static const struct storm_track_ops *
track_find(const struct storm_track_ops *const *list,
           const struct storm_mesh *mesh)
{
    for (; *list != NULL; list++)
        if ((*list)->mesh == mesh->ops)
            return *list;
    return NULL;
}

const struct storm_track_ops *storm_track_ops_for(const struct storm_mesh *mesh)
{
    const struct storm_track_ops *found = NULL;
    if (storm_cpu_has_avx512())
        found = track_find(storm_track_avx512_list, mesh);
    else if (storm_cpu_has_avx2())
        found = track_find(storm_track_avx2_list, mesh);
    return found != NULL ? found : track_find(storm_track_list, mesh);
}

storm_track_fn *storm_track_for(const struct storm_mesh *mesh)
{
    const struct storm_track_ops *ops = storm_track_ops_for(mesh);
    return ops != NULL ? ops->advance : NULL;
}
