/* SPDX-License-Identifier: BSD-3-Clause */
#include "physics/track.h"

#include "base/port.h"
#include "mesh/mesh_ops.h"

static const struct storm_track_ops *const track_list[] = {
    &storm_track_cart,
    &storm_track_voronoi,
};

/* Those that are preferred where they can run. */
static const struct storm_track_ops *const track_avx2[] = {
    STORM_IF_AVX2(&storm_track_voronoi_avx2, &storm_track_voronoi),
};

static const struct storm_track_ops *
track_find(const struct storm_track_ops *const *list, size_t n,
           const struct storm_mesh *mesh)
{
    for (size_t i = 0; i < n; i++)
        if (list[i]->mesh == mesh->ops)
            return list[i];
    return NULL;
}

const struct storm_track_ops *storm_track_ops_for(const struct storm_mesh *mesh)
{
    const struct storm_track_ops *found = NULL;
    if (storm_cpu_has_avx2())
        found = track_find(track_avx2, sizeof track_avx2 / sizeof track_avx2[0],
                           mesh);
    return found != NULL
               ? found
               : track_find(track_list,
                            sizeof track_list / sizeof track_list[0], mesh);
}

storm_track_fn *storm_track_for(const struct storm_mesh *mesh)
{
    const struct storm_track_ops *ops = storm_track_ops_for(mesh);
    return ops != NULL ? ops->advance : NULL;
}
