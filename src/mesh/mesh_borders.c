/* SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/mesh_borders.h"

#include "base/port.h"

static const char borders_label[] = "mesh cells";

storm_status storm_borders_open(const struct storm_env *env,
                                struct storm_borders *borders_out)
{
    storm_status status = STORM_OK;
    *borders_out = (struct storm_borders){.n = 0};
    for (int wall = 0; wall < STORM_N_WALLS && status == STORM_OK; wall++) {
        struct storm_border border = {.rank = -1, .idx = -1, .wall = wall};
        int32_t next;
        status = storm_borders_add(env, borders_out, &border, &next);
    }
    return status;
}

storm_status storm_borders_add(const struct storm_env *env,
                               struct storm_borders *borders,
                               const struct storm_border *border,
                               int32_t *next_out)
{
    void *array = borders->array;
    if (borders->n >= STORM_BORDERS_MAX)
        return STORM_ERR_NOMEM;
    storm_status status =
        storm_reserve(env->memory, borders_label, sizeof *border,
                      borders->n + 1, &array, &borders->capacity);
    if (status < 0)
        return status;
    borders->array = array;
    borders->array[borders->n] = *border;
    *next_out = ~(int32_t)borders->n;
    borders->n++;
    return STORM_OK;
}

void storm_borders_close(const struct storm_env *env,
                         struct storm_borders *borders)
{
    storm_free(env->memory, borders->array);
    *borders = (struct storm_borders){.n = 0};
}

void storm_borders_face(const struct storm_mesh *mesh,
                        const struct storm_borders *borders, int32_t next,
                        struct storm_face *face_out)
{
    if (next >= 0) {
        face_out->rank = mesh->env->rank;
        face_out->neighbour = next;
        face_out->wall = -1;
        return;
    }
    const struct storm_border *border = &borders->array[~next];
    face_out->rank = border->rank;
    face_out->neighbour = border->idx;
    face_out->wall = border->wall;
}
