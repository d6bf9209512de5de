/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * If tags are places the sums follow from one exscan. Else values go to a rank
 * by the range their tag is in, are summed there in order, and go back.
 */
#include "mesh/mesh_order.h"

#include <stdlib.h>

#include <mpi.h>

#include <storm/context.h>

#include "mesh/mesh_message.h"

static const char order_label[] = "mesh order";

__extension__ typedef unsigned __int128 order_wide;

/* A value away from home: the word it came in, and its turn. */
struct order_entry {
    storm_cell_id tag;
    size_t row;
    uint64_t value;
};

static int order_by_tag(const void *left, const void *right)
{
    const struct order_entry *a = left, *b = right;
    if (a->tag != b->tag)
        return a->tag < b->tag ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* Sums before each of n values in a row, and of all ranks. Collective. */
static storm_status order_scan(const struct storm_mesh *mesh, size_t n,
                               const uint64_t *values, uint64_t *before_out,
                               uint64_t *total_out)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    uint64_t before = sum;
    storm_status status = storm_context_exscan(mesh->context, &before, 1);
    if (status >= 0)
        status =
            storm_context_reduce(mesh->context, &sum, 1, MPI_UINT64_T, MPI_SUM);
    for (size_t i = 0; i < n && status >= 0; i++) {
        uint64_t value = values[i];
        before_out[i] = before;
        before += value;
    }
    *total_out = sum;
    return status;
}

/* The answers to the rows of `in`, one word each. Collective. */
static storm_status order_answer(const struct storm_mesh *mesh,
                                 storm_status status,
                                 const struct storm_messages *in,
                                 struct storm_messages *answers_out,
                                 uint64_t *total_out)
{
    const struct storm_env *env = mesh->env;
    size_t n = 0;
    for (size_t i = 0; i < in->n; i++)
        n += in->array[i].n_words / 2;
    struct storm_messages out = {.n = 0};
    struct order_entry *entries =
        storm_alloc(env->memory, order_label, (n + 1) * sizeof *entries);
    uint64_t *sums =
        storm_alloc(env->memory, order_label, (n + 1) * sizeof *sums);
    out.words =
        storm_alloc(env->memory, order_label, (n + 1) * sizeof *out.words);
    if (status >= 0 && (entries == NULL || sums == NULL || out.words == NULL))
        status = STORM_ERR_NOMEM;
    for (size_t i = 0; i < in->n && status >= 0; i++)
        status = storm_messages_add(env, &out, in->array[i].rank,
                                    in->array[i].first / 2,
                                    in->array[i].n_words / 2);
    status = storm_context_agree(mesh->context, status);
    for (size_t i = 0; i < n && status >= 0; i++)
        entries[i] = (struct order_entry){
            .tag = in->words[2 * i], .row = i, .value = in->words[2 * i + 1]};
    if (status >= 0) {
        qsort(entries, n, sizeof *entries, order_by_tag);
        for (size_t i = 0; i < n; i++)
            sums[i] = entries[i].value;
        status = order_scan(mesh, n, sums, sums, total_out);
    }
    for (size_t i = 0; i < n && status >= 0; i++)
        out.words[entries[i].row] = sums[i];
    status = storm_messages_exchange(mesh->context, status, &out, answers_out);
    storm_messages_release(env, &out);
    storm_free(env->memory, sums);
    storm_free(env->memory, entries);
    return status;
}

/* Values to the ranks of their tags. Collective. */
static storm_status order_ask(const struct storm_mesh *mesh,
                              storm_status status,
                              const struct storm_mesh_values *values,
                              size_t *first, struct storm_messages *in_out)
{
    size_t n = values->n;
    const struct storm_env *env = mesh->env;
    struct storm_messages out = {.n = 0};
    struct storm_cell_ref *to =
        storm_alloc(env->memory, order_label, (n + 1) * sizeof *to);
    if (status >= 0 && (to == NULL || first == NULL))
        status = STORM_ERR_NOMEM;
    for (size_t i = 0; i < n && status >= 0; i++)
        to[i].rank = (int)((order_wide)mesh->part->tags[values->cells[i]] *
                           (order_wide)(unsigned)env->size / mesh->next_tag);
    if (status >= 0)
        status = storm_messages_rows(env, n, to, 2, &out, first);
    for (size_t i = 0; i < n && status >= 0; i++) {
        out.words[first[i]] = mesh->part->tags[values->cells[i]];
        out.words[first[i] + 1] = values->values[i];
    }
    status = storm_messages_exchange(mesh->context, status, &out, in_out);
    storm_messages_release(env, &out);
    storm_free(env->memory, to);
    return status;
}

storm_status storm_mesh_sums(const struct storm_mesh *mesh, storm_status status,
                             const struct storm_mesh_values *values,
                             uint64_t *before_out, uint64_t *total_out)
{
    size_t n = values->n;
    const struct storm_env *env = mesh->env;
    if (mesh->part->tags == NULL) {
        status = storm_context_agree(mesh->context, status);
        return status < 0
                   ? status
                   : order_scan(mesh, n, values->values, before_out, total_out);
    }
    struct storm_messages in = {.n = 0}, answers = {.n = 0};
    size_t *first =
        storm_alloc(env->memory, order_label, (n + 1) * sizeof *first);
    status = order_ask(mesh, status, values, first, &in);
    status = order_answer(mesh, status, &in, &answers, total_out);
    /* Answers are one word where rows were two, in the same order. */
    for (size_t i = 0; i < n && status >= 0; i++)
        before_out[i] = answers.words[first[i] / 2];
    storm_messages_release(env, &answers);
    storm_messages_release(env, &in);
    storm_free(env->memory, first);
    return status;
}
