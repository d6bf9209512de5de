/* SPDX-License-Identifier: BSD-3-Clause */
#include "physics/connect.h"

#include <string.h>

#include "mesh/mesh_ops.h"

storm_status storm_connect_neighbours(struct storm_connect *connect,
                                      const struct storm_mesh *mesh,
                                      struct storm_step *step)
{
    if (connect->done && !storm_mesh_has_changed(mesh, connect->generation))
        return STORM_OK;
    bool new_cut = connect->done;
    connect->done = true;
    connect->generation = mesh->generation;
    storm_status trimmed = new_cut ? storm_step_trim(step) : STORM_OK;
    if (trimmed < 0)
        return trimmed;
    if (!new_cut &&
        strcmp(storm_options_text(mesh->env->options, "transport.connect"),
               "neighbours") != 0)
        return STORM_OK;
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++)
        for (int k = 0; k < storm_mesh_n_faces(mesh, i); k++) {
            struct storm_face face = STORM_FACE_INIT;
            storm_mesh_face(mesh, i, k, &face);
            storm_status status =
                face.rank < 0 ? STORM_OK : storm_step_expect(step, face.rank);
            if (status < 0)
                return status;
        }
    return STORM_OK;
}
