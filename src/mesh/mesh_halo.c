/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ghosts: cells of other ranks behind the faces of local ones.
 *
 * Faces are mutual (MESH-5). So the cells of this rank next to those of rank r,
 * in order of their indices, are exactly r's ghosts of this rank: nothing has
 * to be requested.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include <storm/context.h>

#include "mesh/mesh_change.h"

static const char halo_label[] = "mesh ghosts";

enum { HALO_TAG = 4101 };

/* Lists in order of rank; by rank, from begin[i] to begin[i + 1] - 1. */
struct storm_mesh_halo {
    size_t n_ranks;
    int *ranks;
    size_t *send_begin, *ghost_begin; /* n_ranks + 1 */
    storm_cell_idx *send;             /* own cells next to theirs, in order */
    struct storm_cell_ref *ghosts;    /* theirs, in order */
    size_t n_ghosts;
    MPI_Request *requests; /* two for each rank */
    char *out, *in;        /* rows to send, and of ghosts */
    size_t out_bytes, in_bytes;
};

/* ---- build -------------------------------------------------------------- */

/* A face between a cell of this rank and one of another rank. */
struct halo_pair {
    int rank;
    storm_cell_idx ours, theirs;
};

static int halo_order(int a_rank, int b_rank, storm_cell_idx a,
                      storm_cell_idx b)
{
    if (a_rank != b_rank)
        return a_rank < b_rank ? -1 : 1;
    return (a > b) - (a < b);
}

static int halo_by_ours(const void *left, const void *right)
{
    const struct halo_pair *a = left, *b = right;
    return halo_order(a->rank, b->rank, a->ours, b->ours);
}

static int halo_by_theirs(const void *left, const void *right)
{
    const struct halo_pair *a = left, *b = right;
    return halo_order(a->rank, b->rank, a->theirs, b->theirs);
}

static int halo_by_ref(const void *left, const void *right)
{
    const struct storm_cell_ref *a = left, *b = right;
    return halo_order(a->rank, b->rank, a->idx, b->idx);
}

/* Counts them; pairs may be NULL. */
static size_t halo_pairs(const struct storm_mesh *mesh, struct halo_pair *pairs)
{
    size_t n = 0;
    for (storm_cell_idx i = 0; i < mesh->part->n_cells; i++)
        for (int k = 0; k < mesh->ops->n_faces(mesh, i); k++) {
            struct storm_face face = STORM_FACE_INIT;
            mesh->ops->face(mesh, i, k, &face);
            if (face.rank < 0 || face.rank == mesh->env->rank)
                continue;
            if (pairs != NULL)
                pairs[n] = (struct halo_pair){face.rank, i, face.neighbour};
            n++;
        }
    return n;
}

/* The ranks, and the cells of this rank next to theirs. */
static void halo_fill_send(struct storm_mesh_halo *halo,
                           struct halo_pair *pairs, size_t n)
{
    size_t n_send = 0;
    qsort(pairs, n, sizeof *pairs, halo_by_ours);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || pairs[i].rank != pairs[i - 1].rank) {
            halo->ranks[halo->n_ranks] = pairs[i].rank;
            halo->send_begin[halo->n_ranks++] = n_send;
        }
        if (i == 0 || halo_by_ours(&pairs[i], &pairs[i - 1]) != 0)
            halo->send[n_send++] = pairs[i].ours;
    }
    halo->send_begin[halo->n_ranks] = n_send;
}

static void halo_fill_ghosts(struct storm_mesh_halo *halo,
                             struct halo_pair *pairs, size_t n)
{
    size_t r = 0;
    qsort(pairs, n, sizeof *pairs, halo_by_theirs);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || pairs[i].rank != pairs[i - 1].rank)
            halo->ghost_begin[r++] = halo->n_ghosts;
        if (i == 0 || halo_by_theirs(&pairs[i], &pairs[i - 1]) != 0)
            halo->ghosts[halo->n_ghosts++] = (struct storm_cell_ref){
                .rank = pairs[i].rank, .idx = pairs[i].theirs};
    }
    halo->ghost_begin[r] = halo->n_ghosts;
}

static storm_status halo_reserve(struct storm_memory *memory,
                                 struct storm_mesh_halo *halo, size_t n)
{
    halo->ranks =
        storm_alloc(memory, halo_label, (n + 1) * sizeof *halo->ranks);
    halo->send_begin =
        storm_alloc(memory, halo_label, (n + 2) * sizeof(size_t));
    halo->ghost_begin =
        storm_alloc(memory, halo_label, (n + 2) * sizeof(size_t));
    halo->send = storm_alloc(memory, halo_label, (n + 1) * sizeof *halo->send);
    halo->ghosts =
        storm_alloc(memory, halo_label, (n + 1) * sizeof *halo->ghosts);
    halo->requests =
        storm_alloc(memory, halo_label, (2 * n + 1) * sizeof *halo->requests);
    return halo->ranks != NULL && halo->send_begin != NULL &&
                   halo->ghost_begin != NULL && halo->send != NULL &&
                   halo->ghosts != NULL && halo->requests != NULL
               ? STORM_OK
               : STORM_ERR_NOMEM;
}

static storm_status halo_build(struct storm_mesh *mesh)
{
    struct storm_memory *memory = mesh->env->memory;
    size_t n = halo_pairs(mesh, NULL);
    struct halo_pair *pairs =
        storm_alloc(memory, halo_label, (n + 1) * sizeof *pairs);
    mesh->halo = storm_alloc(memory, halo_label, sizeof *mesh->halo);
    storm_status status = pairs != NULL && mesh->halo != NULL
                              ? halo_reserve(memory, mesh->halo, n)
                              : STORM_ERR_NOMEM;
    if (status >= 0) {
        halo_pairs(mesh, pairs);
        halo_fill_send(mesh->halo, pairs, n);
        halo_fill_ghosts(mesh->halo, pairs, n);
    }
    storm_free(memory, pairs);
    return status;
}

static storm_status halo_open(struct storm_mesh *mesh)
{
    if (mesh->halo != NULL)
        return STORM_OK;
    storm_status status = storm_context_agree(mesh->context, halo_build(mesh));
    if (status < 0)
        storm_halo_close(mesh);
    return status;
}

void storm_halo_close(struct storm_mesh *mesh)
{
    struct storm_memory *memory = mesh->env->memory;
    struct storm_mesh_halo *halo = mesh->halo;
    if (halo == NULL)
        return;
    storm_free(memory, halo->ranks);
    storm_free(memory, halo->send_begin);
    storm_free(memory, halo->ghost_begin);
    storm_free(memory, halo->send);
    storm_free(memory, halo->ghosts);
    storm_free(memory, halo->requests);
    storm_free(memory, halo->out);
    storm_free(memory, halo->in);
    storm_free(memory, halo);
    mesh->halo = NULL;
}

storm_cell_idx storm_halo_find(const struct storm_mesh *mesh, int rank,
                               storm_cell_idx idx)
{
    const struct storm_mesh_halo *halo = mesh->halo;
    const struct storm_cell_ref key = {.rank = rank, .idx = idx};
    if (halo == NULL)
        return -1;
    const struct storm_cell_ref *found =
        bsearch(&key, halo->ghosts, halo->n_ghosts, sizeof key, halo_by_ref);
    return found != NULL ? (storm_cell_idx)(found - halo->ghosts) : -1;
}

/* ---- rows --------------------------------------------------------------- */

storm_status storm_mesh_n_ghosts(struct storm_mesh *mesh, storm_cell_idx *n_out)
{
    storm_status status = halo_open(mesh);
    if (status < 0)
        return status;
    *n_out = (storm_cell_idx)mesh->halo->n_ghosts;
    return STORM_OK;
}

static storm_status halo_room(struct storm_memory *memory, size_t bytes,
                              char **buffer, size_t *buffer_bytes)
{
    if (bytes <= *buffer_bytes)
        return STORM_OK;
    storm_free(memory, *buffer);
    *buffer_bytes = 0;
    *buffer = storm_alloc(memory, halo_label, bytes);
    if (*buffer == NULL)
        return STORM_ERR_NOMEM;
    *buffer_bytes = bytes;
    return STORM_OK;
}

/* Room for all rows, and those to send. There is no room for more than MPI can
 * count. */
static storm_status halo_pack(const struct storm_mesh *mesh, size_t bytes,
                              const char *local)
{
    struct storm_mesh_halo *halo = mesh->halo;
    size_t n_send = halo->send_begin[halo->n_ranks];
    if (bytes > INT_MAX / (n_send + halo->n_ghosts + 1)) {
        storm_log_write(&mesh->env->log, STORM_LOG_ERROR,
                        "rank %d has %zu rows of %zu bytes of ghosts, more "
                        "than MPI can count: use more ranks, or fetch parts "
                        "of the rows",
                        mesh->env->rank, n_send + halo->n_ghosts, bytes);
        return STORM_ERR_NOMEM;
    }
    storm_status status = halo_room(mesh->env->memory, n_send * bytes,
                                    &halo->out, &halo->out_bytes);
    if (status == STORM_OK)
        status = halo_room(mesh->env->memory, halo->n_ghosts * bytes, &halo->in,
                           &halo->in_bytes);
    if (status < 0)
        return status;
    for (size_t i = 0; i < n_send; i++)
        memcpy(halo->out + i * bytes, local + (size_t)halo->send[i] * bytes,
               bytes);
    return STORM_OK;
}

/* Rows of ghosts come into memory of our own: if a rank is lost, MPI may write
 * there until it is finalised. */
static storm_status halo_transfer(const struct storm_mesh *mesh, size_t bytes)
{
    struct storm_mesh_halo *halo = mesh->halo;
    MPI_Comm comm = storm_context_comm(mesh->context);
    size_t n = halo->n_ranks;
    int error = MPI_SUCCESS;
    for (size_t r = 0; r < n; r++) {
        const size_t *in = &halo->ghost_begin[r], *out = &halo->send_begin[r];
        error |= MPI_Irecv(halo->in + in[0] * bytes,
                           (int)((in[1] - in[0]) * bytes), MPI_BYTE,
                           halo->ranks[r], HALO_TAG, comm, &halo->requests[r]);
        error |=
            MPI_Isend(halo->out + out[0] * bytes,
                      (int)((out[1] - out[0]) * bytes), MPI_BYTE,
                      halo->ranks[r], HALO_TAG, comm, &halo->requests[n + r]);
    }
    storm_status status = error == MPI_SUCCESS ? STORM_OK : STORM_ERR_FABRIC;
    for (size_t r = 0; r < 2 * n && status == STORM_OK; r++)
        status = storm_context_wait(mesh->context, &halo->requests[r]);
    return status;
}

storm_status storm_mesh_ghosts(struct storm_mesh *mesh, size_t bytes,
                               const void *local, void *ghosts)
{
    storm_status status = halo_open(mesh);
    if (status < 0)
        return status;
    status = storm_context_agree(mesh->context, halo_pack(mesh, bytes, local));
    if (status < 0)
        return status;
    struct storm_mesh_halo *halo = mesh->halo;
    status = halo_transfer(mesh, bytes);
    if (status < 0) { /* leave both to MPI */
        halo->out = halo->in = NULL;
        halo->out_bytes = halo->in_bytes = 0;
    } else if (halo->n_ghosts > 0) {
        memcpy(ghosts, halo->in, halo->n_ghosts * bytes);
    }
    return status;
}
