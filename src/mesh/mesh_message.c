/* SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/mesh_message.h"

#include <limits.h>
#include <string.h>

#include <mpi.h>

static const char message_label[] = "mesh exchange";
enum { MESSAGE_TAG = 4100 };

storm_status storm_messages_add(const struct storm_env *env,
                                struct storm_messages *messages, int rank,
                                size_t first, size_t n_words)
{
    void *array = messages->array;
    if (n_words == 0)
        return STORM_OK;
    storm_status status =
        storm_reserve(env->memory, message_label, sizeof *messages->array,
                      messages->n + 1, &array, &messages->capacity);
    if (status < 0)
        return status;
    messages->array = array;
    messages->array[messages->n++] = (struct storm_message){
        .rank = rank, .first = first, .n_words = n_words};
    return STORM_OK;
}

storm_status storm_messages_rows(const struct storm_env *env, size_t n,
                                 const struct storm_cell_ref *to, size_t words,
                                 struct storm_messages *out, size_t *first_out)
{
    size_t n_ranks = (size_t)env->size, n_rows = 0;
    size_t *at =
        storm_alloc(env->memory, message_label, (n_ranks + 1) * sizeof *at);
    if (at == NULL)
        return STORM_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        if (to[i].rank >= 0)
            at[to[i].rank]++;
    storm_status status = STORM_OK;
    for (size_t r = 0; r < n_ranks && status >= 0; r++) {
        size_t count = at[r];
        status =
            storm_messages_add(env, out, (int)r, n_rows * words, count * words);
        at[r] = n_rows;
        n_rows += count;
    }
    for (size_t i = 0; i < n && status >= 0; i++)
        if (to[i].rank >= 0)
            first_out[i] = words * at[to[i].rank]++;
    storm_free(env->memory, at);
    if (status < 0)
        return status;
    out->words = storm_alloc(env->memory, message_label,
                             (n_rows * words + 1) * sizeof *out->words);
    return out->words != NULL ? STORM_OK : STORM_ERR_NOMEM;
}

/* Can MPI count the words? STORM_ERR_NOMEM, logged, if not. */
static storm_status message_check(const struct storm_env *env,
                                  const struct storm_messages *out)
{
    for (size_t i = 0; i < out->n; i++) {
        if (out->array[i].n_words <= INT_MAX)
            continue;
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "rank %d has %zu MB for rank %d, more than MPI can "
                        "count: use more ranks",
                        env->rank, out->array[i].n_words / 125000,
                        out->array[i].rank);
        return STORM_ERR_NOMEM;
    }
    return STORM_OK;
}

/* The number of words from each rank. */
static storm_status message_counts(const struct storm_context *context,
                                   storm_status status,
                                   const struct storm_messages *out,
                                   int **counts)
{
    const struct storm_env *env = storm_context_env(context);
    size_t n = (size_t)env->size;
    int *going = storm_alloc(env->memory, message_label, 2 * n * sizeof *going);
    if (status >= 0 && going == NULL)
        status = STORM_ERR_NOMEM;
    if (status >= 0)
        status = message_check(env, out);
    status = storm_context_agree(context, status);
    if (status < 0) {
        storm_free(env->memory, going);
        return status;
    }
    for (size_t i = 0; i < out->n; i++)
        going[out->array[i].rank] = (int)out->array[i].n_words;
    *counts = going;
    MPI_Request request;
    if (MPI_Ialltoall(going, 1, MPI_INT, going + n, 1, MPI_INT,
                      storm_context_comm(context), &request) != MPI_SUCCESS)
        return STORM_ERR_FABRIC;
    return storm_context_wait(context, &request);
}

static storm_status message_alloc(const struct storm_env *env,
                                  const int *counts,
                                  struct storm_messages *messages)
{
    size_t n_words = 0;
    storm_status status = STORM_OK;
    for (int rank = 0; rank < env->size && status == STORM_OK; rank++) {
        status = storm_messages_add(env, messages, rank, n_words,
                                    (size_t)counts[rank]);
        n_words += (size_t)counts[rank];
    }
    if (status < 0)
        return status;
    messages->words = storm_alloc(env->memory, message_label,
                                  (n_words + 1) * sizeof *messages->words);
    return messages->words != NULL ? STORM_OK : STORM_ERR_NOMEM;
}

static storm_status message_transfer(const struct storm_context *context,
                                     const struct storm_messages *out,
                                     const struct storm_messages *in,
                                     MPI_Request *requests)
{
    MPI_Comm comm = storm_context_comm(context);
    int n = 0, error = MPI_SUCCESS;
    for (size_t i = 0; i < in->n && error == MPI_SUCCESS; i++) {
        const struct storm_message *message = &in->array[i];
        error = MPI_Irecv(in->words + message->first, (int)message->n_words,
                          MPI_UINT64_T, message->rank, MESSAGE_TAG, comm,
                          &requests[n++]);
    }
    for (size_t i = 0; i < out->n && error == MPI_SUCCESS; i++) {
        const struct storm_message *message = &out->array[i];
        if (message->n_words > 0)
            error = MPI_Isend(out->words + message->first,
                              (int)message->n_words, MPI_UINT64_T,
                              message->rank, MESSAGE_TAG, comm, &requests[n++]);
    }
    storm_status status = error == MPI_SUCCESS ? STORM_OK : STORM_ERR_FABRIC;
    for (int i = 0; i < n && status == STORM_OK; i++)
        status = storm_context_wait(context, &requests[i]);
    return status;
}

storm_status storm_messages_exchange(const struct storm_context *context,
                                     storm_status status,
                                     struct storm_messages *out,
                                     struct storm_messages *in_out)
{
    const struct storm_env *env = storm_context_env(context);
    int *counts = NULL;
    MPI_Request *requests = NULL;
    *in_out = (struct storm_messages){.n = 0};
    status = message_counts(context, status, out, &counts);
    bool is_pending = status < 0 && counts != NULL;
    if (status < 0)
        goto out;
    status = message_alloc(env, counts + env->size, in_out);
    requests = storm_alloc(env->memory, message_label,
                           (out->n + in_out->n + 1) * sizeof *requests);
    if (requests == NULL)
        status = STORM_ERR_NOMEM;
    status = storm_context_agree(context, status);
    if (status >= 0) {
        status = message_transfer(context, out, in_out, requests);
        is_pending = status < 0;
    }
out:
    if (is_pending) { /* MPI may use all of it until it is finalised */
        *out = *in_out = (struct storm_messages){.n = 0};
        return status;
    }
    storm_free(env->memory, requests);
    storm_free(env->memory, counts);
    return status;
}

void storm_messages_release(const struct storm_env *env,
                            struct storm_messages *messages)
{
    storm_free(env->memory, messages->array);
    storm_free(env->memory, messages->words);
    *messages = (struct storm_messages){.n = 0};
}

/* Rows take the place of the indices that were asked for. */
static void message_answer(const struct storm_message_rows *rows, size_t words,
                           struct storm_messages *asked)
{
    for (size_t i = 0; i < asked->n; i++)
        for (size_t k = 0; k < asked->array[i].n_words; k += words) {
            uint64_t *row = asked->words + asked->array[i].first + k;
            const char *from = (const char *)rows->rows + row[0] * rows->bytes;
            memcpy(row, from, rows->bytes);
        }
}

storm_status storm_messages_fetch(const struct storm_context *context,
                                  storm_status status,
                                  const struct storm_message_rows *rows,
                                  size_t n, const struct storm_cell_ref *from,
                                  void *out)
{
    const struct storm_env *env = storm_context_env(context);
    const size_t words =
        (rows->bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
    struct storm_messages going = {.n = 0}, asked, answers = {.n = 0};
    size_t *first =
        storm_alloc(env->memory, message_label, (n + 1) * sizeof *first);
    if (status >= 0 && first == NULL)
        status = STORM_ERR_NOMEM;
    if (status >= 0)
        status = storm_messages_rows(env, n, from, words, &going, first);
    for (size_t i = 0; i < n && status >= 0; i++)
        if (from[i].rank >= 0)
            going.words[first[i]] = (uint64_t)from[i].idx;
    status = storm_messages_exchange(context, status, &going, &asked);
    if (status >= 0) {
        message_answer(rows, words, &asked);
        status = storm_messages_exchange(context, status, &asked, &answers);
    }
    /* Messages come in order of rank, as they went: rows are at the same
     * places. */
    for (size_t i = 0; i < n && status >= 0; i++)
        if (from[i].rank >= 0)
            memcpy((char *)out + i * rows->bytes, &answers.words[first[i]],
                   rows->bytes);
    storm_messages_release(env, &answers);
    storm_messages_release(env, &asked);
    storm_messages_release(env, &going);
    storm_free(env->memory, first);
    return status;
}
