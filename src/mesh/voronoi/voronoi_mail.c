/* SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/voronoi/voronoi_mail.h"

#include <limits.h>
#include <string.h>

#include <mpi.h>

static const char mail_label[] = "mesh exchange";
enum { MAIL_TAG = 4100 };

/* How many words come from each rank. */
static storm_status mail_counts(const struct storm_context *context,
                                storm_status status,
                                const struct voronoi_mail *out, int **counts)
{
    const struct storm_env *env = storm_context_env(context);
    size_t n = (size_t)env->size;
    int *going = storm_alloc(env->memory, mail_label, 2 * n * sizeof *going);
    if (status >= 0 && going == NULL)
        status = STORM_ERR_NOMEM;
    for (size_t i = 0; status >= 0 && i < out->n_letters; i++)
        if (out->letters[i].n_words > INT_MAX)
            status = STORM_ERR_NOMEM;
    status = storm_context_agree(context, status);
    if (status < 0) {
        storm_free(env->memory, going);
        return status;
    }
    for (size_t i = 0; i < out->n_letters; i++)
        going[out->letters[i].rank] = (int)out->letters[i].n_words;
    *counts = going;
    MPI_Request request;
    if (MPI_Ialltoall(going, 1, MPI_INT, going + n, 1, MPI_INT,
                      storm_context_comm(context), &request) != MPI_SUCCESS)
        return STORM_ERR_FABRIC;
    return storm_context_wait(context, &request);
}

static storm_status mail_make_room(const struct storm_env *env,
                                   const int *counts, struct voronoi_mail *mail)
{
    size_t n_words = 0, n_letters = 0;
    for (int rank = 0; rank < env->size; rank++) {
        n_words += (size_t)counts[rank];
        n_letters += counts[rank] > 0;
    }
    mail->words = storm_alloc(env->memory, mail_label,
                              (n_words + 1) * sizeof *mail->words);
    mail->letters = storm_alloc(env->memory, mail_label,
                                (n_letters + 1) * sizeof *mail->letters);
    if (mail->words == NULL || mail->letters == NULL)
        return STORM_ERR_NOMEM;
    size_t first = 0;
    for (int rank = 0; rank < env->size; rank++) {
        if (counts[rank] == 0)
            continue;
        mail->letters[mail->n_letters++] = (struct voronoi_letter){
            .rank = rank, .first = first, .n_words = (size_t)counts[rank]};
        first += (size_t)counts[rank];
    }
    return STORM_OK;
}

static storm_status mail_carry(const struct storm_context *context,
                               const struct voronoi_mail *out,
                               const struct voronoi_mail *in,
                               MPI_Request *requests)
{
    MPI_Comm comm = storm_context_comm(context);
    int n = 0, error = MPI_SUCCESS;
    for (size_t i = 0; i < in->n_letters && error == MPI_SUCCESS; i++) {
        const struct voronoi_letter *letter = &in->letters[i];
        error = MPI_Irecv(in->words + letter->first, (int)letter->n_words,
                          MPI_UINT64_T, letter->rank, MAIL_TAG, comm,
                          &requests[n++]);
    }
    for (size_t i = 0; i < out->n_letters && error == MPI_SUCCESS; i++) {
        const struct voronoi_letter *letter = &out->letters[i];
        if (letter->n_words > 0)
            error = MPI_Isend(out->words + letter->first, (int)letter->n_words,
                              MPI_UINT64_T, letter->rank, MAIL_TAG, comm,
                              &requests[n++]);
    }
    storm_status status = error == MPI_SUCCESS ? STORM_OK : STORM_ERR_FABRIC;
    for (int i = 0; i < n && status == STORM_OK; i++)
        status = storm_context_wait(context, &requests[i]);
    return status;
}

storm_status voronoi_mail_exchange(const struct storm_context *context,
                                   storm_status status,
                                   struct voronoi_mail *out,
                                   struct voronoi_mail *in_out)
{
    const struct storm_env *env = storm_context_env(context);
    int *counts = NULL;
    MPI_Request *requests = NULL;
    *in_out = (struct voronoi_mail){.n_letters = 0};
    status = mail_counts(context, status, out, &counts);
    if (status < 0)
        goto out;
    status = mail_make_room(env, counts + env->size, in_out);
    requests = storm_alloc(env->memory, mail_label,
                           (out->n_letters + in_out->n_letters + 1) *
                               sizeof *requests);
    if (requests == NULL)
        status = STORM_ERR_NOMEM;
    status = storm_context_agree(context, status);
    if (status >= 0)
        status = mail_carry(context, out, in_out, requests);
out:
    if (status == STORM_ERR_LOST) { /* all of it may still be MPI's */
        *out = *in_out = (struct voronoi_mail){.n_letters = 0};
        return status;
    }
    storm_free(env->memory, requests);
    storm_free(env->memory, counts);
    return status;
}

storm_status voronoi_mail_gather(const struct storm_context *context,
                                 const void *mine, size_t bytes, void *all_out)
{
    const struct storm_env *env = storm_context_env(context);
    size_t n = (size_t)env->size;
    MPI_Request request;
    char *room = storm_alloc(env->memory, mail_label, (n + 1) * bytes);
    storm_status status =
        storm_context_agree(context, room != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status < 0) {
        storm_free(env->memory, room);
        return status;
    }
    memcpy(room + n * bytes, mine, bytes);
    status = MPI_Iallgather(room + n * bytes, (int)bytes, MPI_BYTE, room,
                            (int)bytes, MPI_BYTE, storm_context_comm(context),
                            &request) == MPI_SUCCESS
                 ? storm_context_wait(context, &request)
                 : STORM_ERR_FABRIC;
    if (status == STORM_ERR_LOST)
        return status; /* the room is MPI's */
    memcpy(all_out, room, n * bytes);
    storm_free(env->memory, room);
    return status;
}

void voronoi_mail_release(const struct storm_env *env,
                          struct voronoi_mail *mail)
{
    storm_free(env->memory, mail->letters);
    storm_free(env->memory, mail->words);
    *mail = (struct voronoi_mail){.n_letters = 0};
}
