/* SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/mesh_tags.h"

#include <inttypes.h>
#include <stdlib.h>

#include <mpi.h>

#include <storm/context.h>

#include "base/hash.h"
#include "mesh/mesh_message.h"

static const char tags_label[] = "mesh tags";

/* ---- given tags --------------------------------------------------------- */

storm_status storm_tags_are_given(const struct storm_mesh *mesh,
                                  const storm_cell_id *tags, size_t n,
                                  bool *are_given_out)
{
    int some[2] = {n > 0 && tags != NULL, n > 0 && tags == NULL};
    storm_status status =
        storm_context_reduce(mesh->context, some, 2, MPI_INT, MPI_MAX);
    *are_given_out = some[0];
    if (status < 0 || !some[0] || !some[1])
        return status;
    if (mesh->env->rank == 0)
        storm_log_write(&mesh->env->log, STORM_LOG_ERROR,
                        "tags are given by some ranks only: all must give "
                        "them, or none");
    return STORM_ERR_ARG;
}

static storm_status tags_check_size(const struct storm_env *env,
                                    const storm_cell_id *tags, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (tags[i] >> STORM_TAG_BITS == 0)
            continue;
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "tag %" PRIu64 " is not below 2^%d", tags[i],
                        STORM_TAG_BITS);
        return STORM_ERR_ARG;
    }
    return STORM_OK;
}

static int tags_compare(const void *left, const void *right)
{
    const storm_cell_id *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static storm_status tags_find_twice(const struct storm_env *env,
                                    struct storm_messages *in)
{
    size_t n = 0;
    for (size_t i = 0; i < in->n; i++)
        n += in->array[i].n_words;
    if (n > 0)
        qsort(in->words, n, sizeof *in->words, tags_compare);
    for (size_t i = 1; i < n; i++) {
        if (in->words[i] != in->words[i - 1])
            continue;
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "tag %" PRIu64
                        ": two cells have this tag; tags are unique",
                        in->words[i]);
        return STORM_ERR_ARG;
    }
    return STORM_OK;
}

/* Each tag goes to the rank that its hash chooses; equal ones meet there. */
storm_status storm_tags_check(const struct storm_mesh *mesh,
                              const storm_cell_id *tags, size_t n)
{
    const struct storm_env *env = mesh->env;
    struct storm_messages out = {.n = 0}, in;
    struct storm_cell_ref *to =
        storm_alloc(env->memory, tags_label, (n + 1) * sizeof *to);
    size_t *first =
        storm_alloc(env->memory, tags_label, (n + 1) * sizeof *first);
    storm_status status = to != NULL && first != NULL
                              ? tags_check_size(env, tags, n)
                              : STORM_ERR_NOMEM;
    for (size_t i = 0; i < n && status >= 0; i++)
        to[i].rank = (int32_t)(storm_hash_word(tags[i]) % (uint64_t)env->size);
    if (status >= 0)
        status = storm_messages_rows(env, n, to, 1, &out, first);
    for (size_t i = 0; i < n && status >= 0; i++)
        out.words[first[i]] = tags[i];
    status = storm_messages_exchange(mesh->context, status, &out, &in);
    if (status >= 0)
        status = storm_context_agree(mesh->context, tags_find_twice(env, &in));
    storm_messages_release(env, &in);
    storm_messages_release(env, &out);
    storm_free(env->memory, first);
    storm_free(env->memory, to);
    return status;
}

storm_status storm_tags_raise(const struct storm_mesh *mesh,
                              const storm_cell_id *tags, size_t n,
                              storm_cell_id *next_tag_inout)
{
    uint64_t next = *next_tag_inout;
    for (size_t i = 0; i < n; i++)
        next = tags[i] >= next ? tags[i] + 1 : next;
    storm_status status =
        storm_context_reduce(mesh->context, &next, 1, MPI_UINT64_T, MPI_MAX);
    *next_tag_inout = next;
    if (status < 0 || (next - 1) >> STORM_TAG_BITS == 0)
        return status;
    storm_log_shared(&mesh->env->log, 0,
                     "next tag %" PRIu64 ": expected 2^%d at most", next,
                     STORM_TAG_BITS);
    return STORM_ERR_ARG;
}

/* ---- new tags ----------------------------------------------------------- */

storm_status storm_tags_choose(const struct storm_mesh *mesh, uint64_t n_new,
                               storm_cell_id *next_tag_inout,
                               storm_cell_id *first_out)
{
    uint64_t before = n_new, n_all = n_new;
    storm_status status = storm_context_exscan(mesh->context, &before, 1);
    if (status >= 0)
        status = storm_context_reduce(mesh->context, &n_all, 1, MPI_UINT64_T,
                                      MPI_SUM);
    if (status < 0)
        return status;
    *first_out = *next_tag_inout + before;
    *next_tag_inout += n_all;
    if ((*next_tag_inout - 1) >> STORM_TAG_BITS == 0)
        return STORM_OK;
    if (mesh->env->rank == 0)
        storm_log_write(&mesh->env->log, STORM_LOG_ERROR,
                        "there are no tags below 2^%d left for %" PRIu64
                        " new cells",
                        STORM_TAG_BITS, n_all);
    return STORM_ERR_ARG;
}
