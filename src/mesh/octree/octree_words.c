/* SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/octree/octree_words.h"

#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "mesh/mesh_message.h"
#include "mesh/mesh_partition.h"
#include "mesh/mesh_split.h"

static const char words_label[] = "mesh tree";

storm_status octree_words_add(const struct storm_env *env,
                              struct octree_words *words, uint64_t word)
{
    void *array = words->array;
    storm_status status = storm_reserve(env->memory, words_label, sizeof word,
                                        words->n + 1, &array, &words->capacity);
    if (status < 0)
        return status;
    words->array = array;
    words->array[words->n++] = word;
    return STORM_OK;
}

void octree_words_free(const struct storm_env *env, struct octree_words *words)
{
    storm_free(env->memory, words->array);
    *words = (struct octree_words){.n = 0};
}

static int words_compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void words_sort(struct octree_words *words)
{
    if (words->n > 1)
        qsort(words->array, words->n, sizeof *words->array, words_compare);
}

/* Of equal words, in order, keeps one or none. */
static void words_reduce(struct octree_words *words, enum octree_keep keep)
{
    size_t n = 0;
    for (size_t first = 0, end; first < words->n; first = end) {
        for (end = first + 1;
             end < words->n && words->array[end] == words->array[first]; end++)
            ;
        if (keep == OCTREE_KEEP_ONE || end - first == 1)
            words->array[n++] = words->array[first];
    }
    words->n = n;
}

/* ---- over ranks --------------------------------------------------------- */

/* Sends words, which are in order, to the ranks of their splitters. */
static storm_status words_route(const struct storm_context *context,
                                struct octree_words *words,
                                const struct storm_keys *keys,
                                const uint64_t *splitter)
{
    const struct storm_env *env = storm_context_env(context);
    struct storm_messages out = {.words = words->array}, in;
    storm_status status = STORM_OK;
    size_t first = 0;
    for (int r = 0; r < env->size && status >= 0; r++) {
        size_t end =
            r + 1 < env->size ? storm_split_below(keys, splitter[r]) : words->n;
        status = storm_messages_add(env, &out, r, first, end - first);
        first = end;
    }
    *words = (struct octree_words){.n = 0};
    status = storm_messages_exchange(context, status, &out, &in);
    if (status >= 0) {
        for (size_t i = 0; i < in.n; i++)
            words->n += in.array[i].n_words;
        words->array = in.words;
        words->capacity = words->n;
        in.words = NULL;
    }
    storm_messages_release(env, &in);
    storm_messages_release(env, &out);
    return status;
}

/* Of words in order. */
static storm_status words_spread(const struct storm_context *context,
                                 struct octree_words *words)
{
    const struct storm_env *env = storm_context_env(context);
    uint64_t n_total = words->n;
    uint64_t largest = words->n > 0 ? words->array[words->n - 1] : 0;
    int bits = 64 - __builtin_clzll(largest | 1);
    storm_status status =
        storm_context_reduce(context, &n_total, 1, MPI_UINT64_T, MPI_SUM);
    if (status >= 0)
        status = storm_context_reduce(context, &bits, 1, MPI_INT, MPI_MAX);
    if (status < 0 || n_total == 0)
        return status;
    const struct storm_keys keys = {.first = words->array,
                                    .n = words->n,
                                    .stride = sizeof *words->array,
                                    .bits = bits};
    uint64_t *splitter = storm_alloc(env->memory, words_label,
                                     (size_t)env->size * sizeof *splitter);
    status =
        storm_split_keys(context, splitter != NULL ? STORM_OK : STORM_ERR_NOMEM,
                         &keys, n_total, splitter);
    if (status >= 0)
        status = words_route(context, words, &keys, splitter);
    storm_free(env->memory, splitter);
    return status;
}

storm_status octree_words_sort(const struct storm_context *context,
                               storm_status status, struct octree_words *words,
                               enum octree_keep keep, uint64_t *n_total_out)
{
    status = storm_context_agree(context, status);
    if (status < 0)
        return status;
    words_sort(words);
    if (keep == OCTREE_KEEP_ONE)
        words_reduce(words, keep);
    if (storm_context_size(context) > 1) {
        status = words_spread(context, words);
        if (status < 0)
            return status;
        words_sort(words);
    }
    if (keep != OCTREE_KEEP_ALL)
        words_reduce(words, keep);
    *n_total_out = words->n;
    return storm_context_reduce(context, n_total_out, 1, MPI_UINT64_T, MPI_SUM);
}

/* ---- between partitions ------------------------------------------------- */

/* One message to each rank that gets some. They are in order of rank, so those
 * received are in order of places. */
static storm_status words_address(const struct storm_env *env,
                                  const uint64_t *from_partition,
                                  const uint64_t *to_partition,
                                  struct storm_messages *out)
{
    uint64_t first = from_partition[env->rank], at = first;
    uint64_t end = from_partition[env->rank + 1];
    while (at < end) {
        int rank = storm_partition_owner(to_partition, env->size, at);
        uint64_t until =
            to_partition[rank + 1] < end ? to_partition[rank + 1] : end;
        storm_status status =
            storm_messages_add(env, out, rank, (size_t)(at - first),
                               (size_t)(until - at));
        if (status < 0)
            return status;
        at = until;
    }
    return STORM_OK;
}

storm_status octree_words_move(const struct storm_context *context,
                               const uint64_t *from,
                               const uint64_t *from_partition,
                               const uint64_t *to_partition, uint64_t **to_out)
{
    const struct storm_env *env = storm_context_env(context);
    size_t n =
        (size_t)(from_partition[env->rank + 1] - from_partition[env->rank]);
    struct storm_messages out = {.n = 0}, in;
    /* A copy: after STORM_ERR_LOST, MPI may still use it. */
    out.words =
        storm_alloc(env->memory, words_label, (n + 1) * sizeof *out.words);
    storm_status status = out.words != NULL ? STORM_OK : STORM_ERR_NOMEM;
    if (status >= 0 && n > 0)
        memcpy(out.words, from, n * sizeof *out.words);
    if (status >= 0)
        status = words_address(env, from_partition, to_partition, &out);
    status = storm_messages_exchange(context, status, &out, &in);
    if (status >= 0) {
        *to_out = in.words;
        in.words = NULL;
    }
    storm_messages_release(env, &in);
    storm_messages_release(env, &out);
    return status;
}
