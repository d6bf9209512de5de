/* SPDX-License-Identifier: BSD-3-Clause */
/* Generators from one partition to another. */
#include <string.h>

#include <storm/context.h>

#include "mesh/mesh_message.h"
#include "mesh/mesh_partition.h"
#include "mesh/voronoi/voronoi_mesh.h"

static const char move_label[] = "mesh generators";

/* One message to each rank that gets some. They are in order of rank, so those
 * received are in order of id. */
static storm_status move_address(const struct storm_mesh *mesh,
                                 const struct voronoi_generators *from,
                                 const uint64_t *to_partition,
                                 struct storm_messages *out)
{
    const struct storm_env *env = mesh->env;
    const size_t words = sizeof *from->array / sizeof(uint64_t);
    uint64_t end = from->first + from->n, at = from->first;
    while (at < end) {
        int rank = storm_partition_owner(to_partition, env->size, at);
        uint64_t until =
            to_partition[rank + 1] < end ? to_partition[rank + 1] : end;
        storm_status status =
            storm_messages_add(env, out, rank, (at - from->first) * words,
                               (until - at) * words);
        if (status < 0)
            return status;
        at = until;
    }
    out->words = storm_alloc(env->memory, move_label,
                             (from->n + 1) * sizeof *from->array);
    if (out->words == NULL)
        return STORM_ERR_NOMEM;
    if (from->n > 0)
        memcpy(out->words, from->array, from->n * sizeof *from->array);
    return STORM_OK;
}

storm_status voronoi_move(const struct storm_mesh *mesh,
                          const uint64_t *to_partition,
                          struct voronoi_generators *generators_inout)
{
    const struct storm_env *env = mesh->env;
    struct storm_messages out = {.n = 0}, in;
    if (env->size == 1)
        return STORM_OK;
    storm_status status =
        move_address(mesh, generators_inout, to_partition, &out);
    status = storm_messages_exchange(mesh->context, status, &out, &in);
    if (status >= 0) {
        storm_free(env->memory, generators_inout->array);
        generators_inout->first = to_partition[env->rank];
        generators_inout->n =
            (size_t)(to_partition[env->rank + 1] - to_partition[env->rank]);
        generators_inout->array = (struct voronoi_generator *)(void *)in.words;
        in.words = NULL;
    }
    storm_messages_release(env, &in);
    storm_messages_release(env, &out);
    return status;
}
