/* SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/mesh_change.h"

#include <string.h>

#include <mpi.h>

#include <storm/context.h>

#include "base/port.h"
#include "mesh/mesh_message.h"

static const char change_label[] = "mesh change";

/* ---- where cells are ---------------------------------------------------- */

static storm_status change_reserve(struct storm_change *change,
                                   storm_cell_idx n_old)
{
    struct storm_memory *memory = change->env->memory;
    size_t n = (size_t)n_old;
    change->n_old = n_old;
    change->to =
        storm_alloc(memory, change_label, (n + 1) * sizeof *change->to);
    if (change->to == NULL)
        return STORM_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        change->to[i] = (struct storm_cell_ref){.rank = -1, .idx = -1};
    return STORM_OK;
}

/* Every new cell answers to where it was. CHANGE-1 */
static storm_status change_answer(const struct storm_mesh *mesh,
                                  storm_status status,
                                  struct storm_change *change)
{
    enum { WORDS = 2 };
    const struct storm_env *env = change->env;
    struct storm_messages out = {.n = 0}, in;
    size_t n = (size_t)change->n_new;
    size_t *first =
        storm_alloc(env->memory, change_label, (n + 1) * sizeof *first);
    if (status >= 0 && first == NULL)
        status = STORM_ERR_NOMEM;
    if (status >= 0)
        status = storm_messages_rows(env, n, change->from, WORDS, &out, first);
    for (size_t i = 0; i < n && status >= 0; i++) {
        if (change->from[i].rank < 0)
            continue;
        out.words[first[i]] = (uint64_t)change->from[i].idx;
        out.words[first[i] + 1] = (uint64_t)i;
    }
    status = storm_messages_exchange(mesh->context, status, &out, &in);
    for (size_t i = 0; i < in.n && status >= 0; i++)
        for (size_t k = 0; k < in.array[i].n_words; k += WORDS) {
            const uint64_t *row = in.words + in.array[i].first + k;
            STORM_ASSERT(row[0] < (uint64_t)change->n_old);
            change->to[row[0]] = (struct storm_cell_ref){
                .rank = in.array[i].rank, .idx = (storm_cell_idx)row[1]};
        }
    storm_messages_release(env, &in);
    storm_messages_release(env, &out);
    storm_free(env->memory, first);
    return status;
}

/* ---- cells that are gone ------------------------------------------------ */

/* A neighbour, in the mesh as it was, that has had somewhere to go. */
static bool change_refuge(const struct storm_mesh *mesh,
                          const struct storm_cell_ref *local,
                          const struct storm_cell_ref *ghosts,
                          storm_cell_idx cell,
                          struct storm_cell_ref *refuge_out)
{
    for (int k = 0; k < storm_mesh_n_faces(mesh, cell); k++) {
        struct storm_face face = STORM_FACE_INIT;
        storm_mesh_face(mesh, cell, k, &face);
        if (face.rank < 0)
            continue;
        const struct storm_cell_ref *refuge = face.rank == mesh->env->rank
                                                  ? &local[face.neighbour]
                                                  : &ghosts[face.ghost];
        if (refuge->rank < 0)
            continue;
        *refuge_out = *refuge;
        return true;
    }
    return false;
}

/* One round over the cells without a refuge; how many have none still. Looks
 * at the answers of the rounds before alone, here and elsewhere (CHANGE-2). */
static uint64_t change_round(const struct storm_mesh *mesh,
                             struct storm_change *change,
                             const struct storm_cell_ref *local,
                             const struct storm_cell_ref *ghosts)
{
    uint64_t n_left = 0;
    for (storm_cell_idx i = 0; i < change->n_old; i++)
        if (change->to[i].rank < 0)
            n_left += !change_refuge(mesh, local, ghosts, i, &change->to[i]);
    return n_left;
}

/* If nothing was left around them: the cell of the lowest tag. Collective. */
static storm_status change_anywhere(const struct storm_mesh *mesh,
                                    struct storm_change *change,
                                    const struct storm_mesh_part *part)
{
    enum { RANK, IDX, N };
    int at[N] = {[RANK] = mesh->env->rank, [IDX] = -1};
    uint64_t mine = INT64_MAX; /* some MPI libraries compare as signed */
    for (storm_cell_idx i = 0; i < part->n_cells; i++)
        if (storm_mesh_part_tag(part, i) < mine) {
            mine = storm_mesh_part_tag(part, i);
            at[IDX] = i;
        }
    uint64_t lowest = mine;
    storm_status status =
        storm_context_reduce(mesh->context, &lowest, 1, MPI_UINT64_T, MPI_MIN);
    if (mine != lowest)
        at[RANK] = at[IDX] = -1;
    if (status >= 0)
        status = storm_context_reduce(mesh->context, at, N, MPI_INT, MPI_MAX);
    for (storm_cell_idx i = 0; i < change->n_old && status >= 0; i++)
        if (change->to[i].rank < 0)
            change->to[i] =
                (struct storm_cell_ref){.rank = at[RANK], .idx = at[IDX]};
    return status;
}

/* Rounds through the neighbours until no cell gains by another. */
static storm_status change_rounds(struct storm_mesh *mesh,
                                  struct storm_change *change, uint64_t n_left,
                                  const struct storm_mesh_part *part)
{
    struct storm_memory *memory = mesh->env->memory;
    struct storm_cell_ref *ghosts = NULL, *local = NULL;
    size_t n = (size_t)change->n_old;
    storm_cell_idx n_ghosts = 0;
    storm_status status = storm_mesh_n_ghosts(mesh, &n_ghosts);
    if (status >= 0) {
        ghosts = storm_alloc(memory, change_label,
                             ((size_t)n_ghosts + 1) * sizeof *ghosts);
        local = storm_alloc(memory, change_label, (n + 1) * sizeof *local);
        status =
            storm_context_agree(mesh->context, ghosts != NULL && local != NULL
                                                   ? STORM_OK
                                                   : STORM_ERR_NOMEM);
    }
    for (uint64_t before = 0; status >= 0 && n_left > 0 && n_left != before;) {
        before = n_left;
        status = storm_mesh_ghosts(mesh, sizeof *ghosts, change->to, ghosts);
        if (status >= 0) {
            memcpy(local, change->to, n * sizeof *local);
            n_left = change_round(mesh, change, local, ghosts);
            status = storm_context_reduce(mesh->context, &n_left, 1,
                                          MPI_UINT64_T, MPI_SUM);
        }
    }
    storm_free(memory, local);
    storm_free(memory, ghosts);
    return status < 0 || n_left == 0 ? status
                                     : change_anywhere(mesh, change, part);
}

/* Cells that were cut or joined; how many have nowhere to go still. */
static uint64_t change_hand_over(struct storm_change *change)
{
    uint64_t n_left = 0;
    for (storm_cell_idx i = 0; i < change->n_old; i++) {
        if (change->is_gone[i])
            change->to[i] = change->heirs[i].cell;
        n_left += change->to[i].rank < 0;
    }
    return n_left;
}

/* CHANGE-2 */
static storm_status change_rehouse(struct storm_mesh *mesh,
                                   struct storm_change *change,
                                   const struct storm_mesh_part *part)
{
    uint64_t n_gone = 0, n_all;
    for (storm_cell_idx i = 0; i < change->n_old; i++)
        n_gone += change->to[i].rank < 0;
    n_all = n_gone;
    storm_status status =
        storm_context_reduce(mesh->context, &n_all, 1, MPI_UINT64_T, MPI_SUM);
    if (status < 0 || n_all == 0)
        return status;
    change->is_gone =
        storm_alloc(mesh->env->memory, change_label,
                    ((size_t)change->n_old + 1) * sizeof *change->is_gone);
    status = storm_context_agree(mesh->context, change->is_gone != NULL
                                                    ? STORM_OK
                                                    : STORM_ERR_NOMEM);
    if (status < 0)
        return status;
    for (storm_cell_idx i = 0; i < change->n_old; i++)
        change->is_gone[i] = change->to[i].rank < 0;
    if (change->heirs != NULL) {
        n_all = change_hand_over(change);
        status = storm_context_reduce(mesh->context, &n_all, 1, MPI_UINT64_T,
                                      MPI_SUM);
    }
    return status < 0 || n_all == 0 ? status
                                    : change_rounds(mesh, change, n_all, part);
}

/* ---- life --------------------------------------------------------------- */

storm_status storm_change_make(struct storm_mesh *mesh, storm_status status,
                               struct storm_mesh_next *next,
                               struct storm_change **change_out)
{
    struct storm_change *change =
        storm_alloc(mesh->env->memory, change_label, sizeof *change);
    if (status >= 0 && change == NULL)
        status = STORM_ERR_NOMEM;
    if (change != NULL)
        change->env = mesh->env;
    if (status >= 0) {
        change->mesh = mesh;
        change->before = mesh->generation;
        change->moved = mesh->moved;
        change->generation = mesh->generation + 1;
        change->n_new = next->part->n_cells;
        change->from = next->from;
        change->part_of = next->part_of;
        change->heirs = next->heirs;
        next->from = next->part_of = NULL;
        next->heirs = NULL;
        status = change_reserve(change, mesh->part->n_cells);
    }
    status = storm_context_agree(mesh->context, status);
    if (status >= 0)
        status = change_answer(mesh, status, change);
    if (status >= 0)
        status = change_rehouse(mesh, change, next->part);
    if (status < 0) {
        storm_change_destroy(change);
        return status;
    }
    *change_out = change;
    return STORM_OK;
}

storm_status storm_change_none(const struct storm_mesh *mesh,
                               struct storm_change **change_out)
{
    struct storm_memory *memory = mesh->env->memory;
    size_t n = (size_t)mesh->part->n_cells;
    struct storm_change *change =
        storm_alloc(memory, change_label, sizeof *change);
    if (change == NULL)
        return STORM_ERR_NOMEM;
    change->env = mesh->env;
    change->mesh = mesh;
    change->before = change->generation = mesh->generation;
    change->moved = mesh->moved;
    change->is_cut = true;
    change->n_new = mesh->part->n_cells;
    change->from =
        storm_alloc(memory, change_label, (n + 1) * sizeof *change->from);
    if (change->from == NULL ||
        change_reserve(change, mesh->part->n_cells) < 0) {
        storm_change_destroy(change);
        return STORM_ERR_NOMEM;
    }
    for (size_t i = 0; i < n; i++)
        change->from[i] = change->to[i] = (struct storm_cell_ref){
            .rank = mesh->env->rank, .idx = (storm_cell_idx)i};
    *change_out = change;
    return STORM_OK;
}

void storm_change_destroy(struct storm_change *change)
{
    if (change == NULL)
        return;
    struct storm_memory *memory = change->env->memory;
    storm_free(memory, change->to);
    storm_free(memory, change->is_gone);
    storm_free(memory, change->from);
    storm_free(memory, change->part_of);
    storm_free(memory, change->heirs);
    storm_free(memory, change);
}

/* ---- queries ------------------------------------------------------------ */

storm_status storm_change_check(const struct storm_mesh *mesh,
                                const struct storm_change *change,
                                const char *call)
{
    if (change->mesh == mesh && change->generation == mesh->generation)
        return STORM_OK;
    if (change->mesh != mesh)
        storm_log_write(&mesh->env->log, STORM_LOG_ERROR,
                        "%s: the change is of another mesh", call);
    else
        storm_log_write(&mesh->env->log, STORM_LOG_ERROR,
                        "%s: the change leads to generation %llu of its mesh, "
                        "which has changed again and is at %llu: use a change "
                        "before the next",
                        call, (unsigned long long)change->generation,
                        (unsigned long long)mesh->generation);
    return change->mesh != mesh ? STORM_ERR_ARG : STORM_ERR_STATE;
}

storm_cell_idx storm_change_n_old(const struct storm_change *change)
{
    return change->n_old;
}

storm_cell_fate storm_change_to(const struct storm_change *change,
                                storm_cell_idx old,
                                struct storm_cell_ref *to_out)
{
    *to_out = change->to[old];
    return change->is_gone != NULL && change->is_gone[old] ? STORM_CELL_GONE
                                                           : STORM_CELL_KEPT;
}

bool storm_change_from(const struct storm_change *change, storm_cell_idx cell,
                       struct storm_cell_ref *from_out)
{
    *from_out = change->from[cell];
    return from_out->rank >= 0;
}

/* ---- data of cells ------------------------------------------------------ */

/* Rows that stay are copied; the others go with their new index in front. */
static storm_status carry_address(const struct storm_change *change,
                                  size_t bytes, const void *in, void *out,
                                  struct storm_messages *messages)
{
    const struct storm_env *env = change->env;
    size_t n = (size_t)change->n_old, words = 1 + (bytes + 7) / 8;
    struct storm_cell_ref *away =
        storm_alloc(env->memory, change_label, (n + 1) * sizeof *away);
    size_t *first =
        storm_alloc(env->memory, change_label, (n + 1) * sizeof *first);
    storm_status status =
        away != NULL && first != NULL ? STORM_OK : STORM_ERR_NOMEM;
    for (size_t i = 0; i < n && status >= 0; i++) {
        away[i] = change->to[i];
        if (away[i].rank == env->rank ||
            (change->is_gone != NULL && change->is_gone[i]))
            away[i].rank = -1;
    }
    if (status >= 0)
        status = storm_messages_rows(env, n, away, words, messages, first);
    for (size_t i = 0; i < n && status >= 0; i++) {
        const char *row = (const char *)in + i * bytes;
        size_t to = (size_t)change->to[i].idx;
        if (away[i].rank >= 0) {
            messages->words[first[i]] = to;
            messages->words[first[i] + words - 1] = 0;
            memcpy(&messages->words[first[i] + 1], row, bytes);
        } else if (change->is_gone == NULL || !change->is_gone[i]) {
            memcpy((char *)out + to * bytes, row, bytes);
        }
    }
    storm_free(env->memory, first);
    storm_free(env->memory, away);
    return status;
}

storm_status storm_mesh_carry(const struct storm_mesh *mesh,
                              const struct storm_change *change, size_t bytes,
                              const void *in, void *out)
{
    const struct storm_env *env = mesh->env;
    struct storm_messages going = {.n = 0}, coming;
    size_t words = 1 + (bytes + 7) / 8;
    storm_status status = storm_change_check(mesh, change, "storm_mesh_carry");
    if (status >= 0) {
        if (change->n_new > 0)
            memset(out, 0, (size_t)change->n_new * bytes);
        status = carry_address(change, bytes, in, out, &going);
    }
    status = storm_messages_exchange(mesh->context, status, &going, &coming);
    for (size_t i = 0; i < coming.n && status >= 0; i++)
        for (size_t k = 0; k < coming.array[i].n_words; k += words) {
            const uint64_t *row = coming.words + coming.array[i].first + k;
            memcpy((char *)out + row[0] * bytes, row + 1, bytes);
        }
    storm_messages_release(env, &coming);
    storm_messages_release(env, &going);
    return status;
}

storm_status storm_change_inherit(const struct storm_mesh *mesh,
                                  const struct storm_change *change,
                                  size_t bytes, const void *in, void *out)
{
    const struct storm_message_rows rows = {.bytes = bytes, .rows = in};
    if (change->part_of == NULL)
        return STORM_OK;
    return storm_messages_fetch(mesh->context, STORM_OK, &rows,
                                (size_t)change->n_new, change->part_of, out);
}
