/* SPDX-License-Identifier: BSD-3-Clause */
/* Seeds from one cut to another: both are known everywhere, so everybody knows
 * what comes from whom. */
#include <string.h>

#include <storm/context.h>

#include "mesh/mesh_partition.h"
#include "mesh/voronoi/voronoi_mail.h"
#include "mesh/voronoi/voronoi_mesh.h"

static const char move_label[] = "mesh generators";

/* One letter to each rank that gets some. They are in order of rank, so what
 * comes is in order of id. */
static storm_status move_address(const struct storm_mesh *mesh,
                                 const struct voronoi_seeds *from,
                                 const uint64_t *to_cut,
                                 struct voronoi_mail *out)
{
    const struct storm_env *env = mesh->env;
    const size_t words = sizeof *from->array / sizeof(uint64_t);
    uint64_t end = from->first + from->n, at = from->first;
    size_t capacity = 0;
    while (at < end) {
        int rank = storm_partition_owner(to_cut, env->size, at);
        uint64_t until = to_cut[rank + 1] < end ? to_cut[rank + 1] : end;
        void *array = out->letters;
        storm_status status =
            storm_reserve(env->memory, move_label, sizeof *out->letters,
                          out->n_letters + 1, &array, &capacity);
        if (status < 0)
            return status;
        out->letters = array;
        out->letters[out->n_letters++] =
            (struct voronoi_letter){.rank = rank,
                                    .first = (at - from->first) * words,
                                    .n_words = (until - at) * words};
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

storm_status voronoi_move(const struct storm_mesh *mesh, const uint64_t *to_cut,
                          struct voronoi_seeds *seeds_inout)
{
    const struct storm_env *env = mesh->env;
    struct voronoi_mail out = {.n_letters = 0}, in;
    if (env->size == 1)
        return STORM_OK;
    storm_status status = move_address(mesh, seeds_inout, to_cut, &out);
    status = voronoi_mail_exchange(mesh->context, status, &out, &in);
    if (status >= 0) {
        storm_free(env->memory, seeds_inout->array);
        seeds_inout->first = to_cut[env->rank];
        seeds_inout->n = (size_t)(to_cut[env->rank + 1] - to_cut[env->rank]);
        seeds_inout->array = (struct voronoi_seed *)(void *)in.words;
        in.words = NULL;
    }
    voronoi_mail_release(env, &in);
    voronoi_mail_release(env, &out);
    return status;
}
