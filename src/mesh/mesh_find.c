/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where cells are, by their tags.
 *
 * If tags are places it follows from the partition. Else a directory is made
 * for the call, spread over the ranks by a hash of the tags.
 */
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include <storm/context.h>

#include "base/hash.h"
#include "mesh/mesh_change.h"
#include "mesh/mesh_message.h"
#include "mesh/mesh_partition.h"
#include "mesh/mesh_tags.h"

static const char find_label[] = "mesh directory";

/* ---- directory ---------------------------------------------------------- */

/* A tag and where it is; as it is sent and kept. */
struct find_entry {
    storm_cell_id tag;
    struct storm_cell_ref where;
};
enum { FIND_WORDS = sizeof(struct find_entry) / sizeof(uint64_t) };
_Static_assert(FIND_WORDS == 2, "two words");

static int find_by_tag(const void *left, const void *right)
{
    const struct find_entry *a = left, *b = right;
    return (a->tag > b->tag) - (a->tag < b->tag);
}

/* The rank that knows about a tag. */
static int find_home(const struct storm_env *env, storm_cell_id tag)
{
    return (int)(storm_hash_word(tag) % (uint64_t)env->size);
}

/* Sends entries to the homes of their tags; entry i is at first_out[i]. */
static storm_status find_ask(const struct storm_context *context,
                             const struct find_entry *entries, size_t n,
                             size_t *first, struct storm_messages *in_out)
{
    const struct storm_env *env = storm_context_env(context);
    struct storm_messages out = {.n = 0};
    struct storm_cell_ref *to =
        storm_alloc(env->memory, find_label, (n + 1) * sizeof *to);
    storm_status status = to != NULL && first != NULL && entries != NULL
                              ? STORM_OK
                              : STORM_ERR_NOMEM;
    for (size_t i = 0; i < n && status >= 0; i++)
        to[i].rank = find_home(env, entries[i].tag);
    if (status >= 0)
        status = storm_messages_rows(env, n, to, FIND_WORDS, &out, first);
    for (size_t i = 0; i < n && status >= 0; i++)
        memcpy(&out.words[first[i]], &entries[i], sizeof entries[i]);
    status = storm_messages_exchange(context, status, &out, in_out);
    storm_messages_release(env, &out);
    storm_free(env->memory, to);
    return status;
}

/* The part of the directory that this rank is home to, in order. */
static storm_status find_directory(const struct storm_context *context,
                                   const storm_cell_id *own_tags, size_t n,
                                   struct find_entry **entries_out,
                                   size_t *n_out)
{
    const struct storm_env *env = storm_context_env(context);
    struct storm_messages in = {.n = 0};
    struct find_entry *own =
        storm_alloc(env->memory, find_label, (n + 1) * sizeof *own);
    size_t *first =
        storm_alloc(env->memory, find_label, (n + 1) * sizeof *first);
    for (size_t i = 0; i < n && own != NULL; i++)
        own[i] = (struct find_entry){
            .tag = own_tags[i],
            .where = {.rank = env->rank, .idx = (storm_cell_idx)i}};
    storm_status status = find_ask(context, own, n, first, &in);
    storm_free(env->memory, first);
    storm_free(env->memory, own);
    if (status < 0) {
        storm_messages_release(env, &in);
        return status;
    }
    *n_out = 0;
    for (size_t i = 0; i < in.n; i++)
        *n_out += in.array[i].n_words / FIND_WORDS;
    *entries_out = (struct find_entry *)(void *)in.words;
    in.words = NULL;
    storm_messages_release(env, &in);
    if (*n_out > 0)
        qsort(*entries_out, *n_out, sizeof **entries_out, find_by_tag);
    return STORM_OK;
}

/* Answers questions in place: they go back as they came. */
static void find_answer(const struct find_entry *directory, size_t n,
                        struct storm_messages *questions)
{
    for (size_t i = 0; i < questions->n; i++)
        for (size_t k = 0; k < questions->array[i].n_words; k += FIND_WORDS) {
            struct find_entry entry;
            uint64_t *row = questions->words + questions->array[i].first + k;
            memcpy(&entry, row, sizeof entry);
            const struct find_entry *found =
                n > 0 ? bsearch(&entry, directory, n, sizeof entry, find_by_tag)
                      : NULL;
            entry.where = found != NULL
                              ? found->where
                              : (struct storm_cell_ref){.rank = -1, .idx = -1};
            memcpy(row, &entry, sizeof entry);
        }
}

static storm_status find_lookup(const struct storm_context *context,
                                const struct find_entry *directory,
                                size_t n_directory, struct find_entry *asked,
                                size_t n)
{
    const struct storm_env *env = storm_context_env(context);
    struct storm_messages questions = {.n = 0}, answers = {.n = 0};
    size_t *first =
        storm_alloc(env->memory, find_label, (n + 1) * sizeof *first);
    storm_status status = find_ask(context, asked, n, first, &questions);
    if (status >= 0) {
        find_answer(directory, n_directory, &questions);
        status = storm_messages_exchange(context, status, &questions, &answers);
    }
    /* Messages come in order of rank, as they went: rows are at the same
     * places. */
    for (size_t i = 0; i < n && status >= 0; i++)
        memcpy(&asked[i], &answers.words[first[i]], sizeof asked[i]);
    storm_messages_release(env, &answers);
    storm_messages_release(env, &questions);
    storm_free(env->memory, first);
    return status;
}

storm_status storm_tags_find(const struct storm_context *context,
                             const storm_cell_id *own, size_t n_own,
                             const storm_cell_id *tags, size_t n,
                             struct storm_cell_ref *where_out)
{
    struct storm_memory *memory = storm_context_env(context)->memory;
    struct find_entry *directory = NULL, *asked;
    size_t n_directory = 0;
    storm_status status =
        find_directory(context, own, n_own, &directory, &n_directory);
    if (status < 0)
        return status;
    asked = storm_alloc(memory, find_label, (n + 1) * sizeof *asked);
    for (size_t i = 0; i < n && asked != NULL; i++)
        asked[i] = (struct find_entry){.tag = tags[i]};
    status = find_lookup(context, directory, n_directory, asked, n);
    for (size_t i = 0; i < n && status >= 0; i++)
        where_out[i] = asked[i].where;
    storm_free(memory, asked);
    storm_free(memory, directory);
    return status;
}

/* Tags are places. */
static void find_by_place(const struct storm_mesh *mesh, size_t n,
                          const storm_cell_id *tags,
                          struct storm_cell_ref *where_out)
{
    for (size_t i = 0; i < n; i++) {
        where_out[i] = (struct storm_cell_ref){.rank = -1, .idx = -1};
        if (tags[i] < mesh->n_total)
            where_out[i].rank = storm_mesh_owner_at(mesh, mesh->partition,
                                                    tags[i], &where_out[i].idx);
    }
}

storm_status storm_mesh_find(const struct storm_mesh *mesh, size_t n,
                             const storm_cell_id *tags,
                             struct storm_cell_ref *where_out)
{
    if (mesh->part->tags != NULL)
        return storm_tags_find(mesh->context, mesh->part->tags,
                               (size_t)mesh->part->n_cells, tags, n, where_out);
    find_by_place(mesh, n, tags, where_out);
    return STORM_OK;
}
