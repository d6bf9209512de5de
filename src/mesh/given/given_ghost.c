/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cells of other ranks that touch own ones (GIVEN-5), in three rounds: boxes of
 * ranks; boxes of the cells that touch another rank's box; planes of those that
 * touch one of its cells.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include <storm/context.h>

#include "mesh/given/given_mesh.h"
#include "mesh/mesh_message.h"

static const char ghost_label[] = "mesh ghosts";

enum { GHOST_BOX_WORDS = 7, GHOST_HEAD_WORDS = 8, GHOST_SIDE_WORDS = 4 };

struct ghosts {
    const struct storm_mesh *mesh;
    struct given_part *part;
    struct given_tree tree; /* of own cells */
};

/* ---- own cells ---------------------------------------------------------- */

static void ghost_box(const struct ghosts *g, size_t cell,
                      struct given_box *box_out)
{
    double slack = g->part->located[cell].slack;
    given_extent(g->part, cell, 0x1p-40, box_out);
    for (int d = 0; d < 3; d++) {
        box_out->lo[d] -= slack;
        box_out->hi[d] += slack;
    }
}

/* Towards the centroid, a point comes nearer to all planes by at least its
 * distance times (least distance of the centroid) / (distance to it). */
static double ghost_reach(const struct given_part *part, size_t cell)
{
    const struct given_located *own = &part->located[cell];
    double least = -given_worst(part, cell, part->centroid[cell]);
    double far = 4.0 * ((double)part->heads[cell].radius + own->slack);
    return least > 0.0 ? (own->slack + part->gap[cell]) * far / least
                       : (double)INFINITY;
}

/* An own cell whose sides begin at own->first_side. */
static void ghost_locate(struct ghosts *g, size_t c)
{
    struct given_part *part = g->part;
    struct storm_plane array[part->first_face[c + 1] - part->first_face[c] + 1];
    struct storm_planes planes = given_planes(part, c, array);
    struct given_located *own = &part->located[c];
    size_t at = own->first_side;
    own->tag = part->base.tags[c];
    own->where = (struct storm_cell_ref){g->mesh->env->rank, (storm_cell_idx)c};
    memcpy(own->point, part->heads[c].point, sizeof own->point);
    own->slack = given_slack(own->point, part->heads[c].radius, part->gap[c]);
    for (size_t i = 0; i < planes.n; i++, at++) {
        memcpy(part->sides[at].normal, array[i].normal,
               sizeof part->sides[at].normal);
        part->sides[at].distance = array[i].distance;
    }
    own[1].first_side = at;
    own->reach = ghost_reach(part, c);
    ghost_box(g, c, &part->boxes[c]);
}

static storm_status ghost_own(struct ghosts *g)
{
    const struct storm_env *env = g->mesh->env;
    struct given_part *part = g->part;
    size_t n = (size_t)part->base.n_cells, n_sides = 0;
    for (size_t c = 0; c < n; c++)
        n_sides += (size_t)(part->first_face[c + 1] - part->first_face[c]);
    part->located =
        storm_alloc(env->memory, ghost_label, (n + 1) * sizeof *part->located);
    part->sides = storm_alloc(env->memory, ghost_label,
                              (n_sides + 1) * sizeof *part->sides);
    part->boxes =
        storm_alloc(env->memory, ghost_label, (n + 1) * sizeof *part->boxes);
    part->ranks = storm_alloc(env->memory, ghost_label,
                              (size_t)env->size * sizeof *part->ranks);
    if (part->located == NULL || part->sides == NULL || part->boxes == NULL ||
        part->ranks == NULL)
        return STORM_ERR_NOMEM;
    for (size_t c = 0; c < n; c++)
        ghost_locate(g, c);
    part->n_located = n;
    return given_tree_build(env, part->boxes, n, &g->tree);
}

/* ---- boxes -------------------------------------------------------------- */

/* Boxes of all ranks; that of a rank without cells touches nothing. */
static storm_status ghost_ranks(struct ghosts *g)
{
    MPI_Request request;
    struct given_box *ranks = g->part->ranks;
    int n = (int)(sizeof *ranks / sizeof(double));
    if (MPI_Iallgather(g->tree.nodes, n, MPI_DOUBLE, ranks, n, MPI_DOUBLE,
                       storm_context_comm(g->mesh->context),
                       &request) != MPI_SUCCESS)
        return STORM_ERR_FABRIC;
    return storm_context_wait(g->mesh->context, &request);
}

/* A list that grows. */
struct ghost_list {
    const struct storm_env *env;
    int32_t *array;
    size_t n, capacity;
    storm_status status;
};

static void ghost_push(void *self, int32_t entry)
{
    struct ghost_list *list = self;
    void *array = list->array;
    if (list->status >= 0)
        list->status =
            storm_reserve(list->env->memory, ghost_label, sizeof entry,
                          list->n + 1, &array, &list->capacity);
    if (list->status < 0)
        return;
    list->array = array;
    list->array[list->n++] = entry;
}

/* Words that grow in number. */
struct ghost_words {
    const struct storm_env *env;
    uint64_t *array;
    size_t n, capacity;
};

static storm_status ghost_room(struct ghost_words *words, size_t n,
                               uint64_t **at_out)
{
    void *array = words->array;
    storm_status status =
        storm_reserve(words->env->memory, ghost_label, sizeof *words->array,
                      words->n + n, &array, &words->capacity);
    if (status < 0)
        return status;
    words->array = array;
    *at_out = words->array + words->n;
    words->n += n;
    return STORM_OK;
}

/* Boxes of own cells to the ranks whose box they touch. Collective. */
static storm_status ghost_offer(struct ghosts *g, storm_status status,
                                struct storm_messages *in_out)
{
    const struct storm_env *env = g->mesh->env;
    struct storm_messages out = {.n = 0};
    struct ghost_words words = {.env = env};
    struct ghost_list list = {.env = env};
    for (int r = 0; r < env->size && status >= 0; r++) {
        size_t begin = words.n;
        if (r == env->rank)
            continue;
        list.n = 0;
        given_tree_search(&g->tree, &g->part->ranks[r], ghost_push, &list);
        status = list.status;
        for (size_t i = 0; i < list.n && status >= 0; i++) {
            uint64_t *at;
            status = ghost_room(&words, GHOST_BOX_WORDS, &at);
            if (status < 0)
                break;
            at[0] = (uint64_t)(uint32_t)list.array[i];
            memcpy(&at[1], &g->part->boxes[list.array[i]],
                   sizeof *g->part->boxes);
        }
        if (status >= 0)
            status = storm_messages_add(env, &out, r, begin, words.n - begin);
    }
    out.words = words.array;
    status = storm_messages_exchange(g->mesh->context, status, &out, in_out);
    storm_messages_release(env, &out);
    storm_free(env->memory, list.array);
    return status;
}

/* Which of the cells offered touch own ones. Collective. */
static storm_status ghost_request(struct ghosts *g, storm_status status,
                                  const struct storm_messages *offers,
                                  struct storm_messages *in_out)
{
    const struct storm_env *env = g->mesh->env;
    struct storm_messages out = {.n = 0};
    struct ghost_words words = {.env = env};
    struct ghost_list list = {.env = env};
    for (size_t m = 0; m < offers->n && status >= 0; m++) {
        const struct storm_message *offer = &offers->array[m];
        size_t begin = words.n;
        for (size_t k = 0; k < offer->n_words && status >= 0;
             k += GHOST_BOX_WORDS) {
            const uint64_t *row = &offers->words[offer->first + k];
            struct given_box box;
            uint64_t *at;
            memcpy(&box, &row[1], sizeof box);
            list.n = 0;
            given_tree_search(&g->tree, &box, ghost_push, &list);
            status = list.status;
            if (list.n == 0 || status < 0)
                continue;
            status = ghost_room(&words, 1, &at);
            if (status >= 0)
                *at = row[0];
        }
        if (status >= 0)
            status = storm_messages_add(env, &out, offer->rank, begin,
                                        words.n - begin);
    }
    out.words = words.array;
    status = storm_messages_exchange(g->mesh->context, status, &out, in_out);
    storm_messages_release(env, &out);
    storm_free(env->memory, list.array);
    return status;
}

/* ---- planes ------------------------------------------------------------- */

static storm_status ghost_pack(const struct ghosts *g, size_t cell,
                               struct ghost_words *words)
{
    const struct given_located *own = &g->part->located[cell];
    size_t n = own[1].first_side - own->first_side;
    uint64_t *at;
    storm_status status =
        ghost_room(words, GHOST_HEAD_WORDS + GHOST_SIDE_WORDS * n, &at);
    if (status < 0)
        return status;
    at[0] = own->tag;
    at[1] = (uint64_t)cell;
    memcpy(&at[2], own->point, sizeof own->point);
    memcpy(&at[5], &own->slack, sizeof own->slack);
    memcpy(&at[6], &own->reach, sizeof own->reach);
    at[7] = n;
    memcpy(&at[GHOST_HEAD_WORDS], &g->part->sides[own->first_side],
           n * sizeof(struct given_side));
    return STORM_OK;
}

/* Planes of the cells that were requested. Collective. */
static storm_status ghost_reply(struct ghosts *g, storm_status status,
                                const struct storm_messages *requests,
                                struct storm_messages *in_out)
{
    const struct storm_env *env = g->mesh->env;
    struct storm_messages out = {.n = 0};
    struct ghost_words words = {.env = env};
    for (size_t m = 0; m < requests->n && status >= 0; m++) {
        const struct storm_message *message = &requests->array[m];
        size_t begin = words.n;
        for (size_t k = 0; k < message->n_words && status >= 0; k++)
            status = ghost_pack(g, (size_t)requests->words[message->first + k],
                                &words);
        if (status >= 0)
            status = storm_messages_add(env, &out, message->rank, begin,
                                        words.n - begin);
    }
    out.words = words.array;
    status = storm_messages_exchange(g->mesh->context, status, &out, in_out);
    storm_messages_release(env, &out);
    return status;
}

/* Counts ghosts and their planes, and with `part` adds them. */
static void ghost_unpack(const struct storm_messages *in,
                         struct given_part *part, size_t *n_cells_out,
                         size_t *n_sides_out)
{
    *n_cells_out = *n_sides_out = 0;
    for (size_t m = 0; m < in->n; m++) {
        const uint64_t *at = &in->words[in->array[m].first];
        const uint64_t *end = at + in->array[m].n_words;
        while (at < end) {
            size_t n = (size_t)at[7];
            if (part != NULL) {
                struct given_located *ghost = &part->located[part->n_located++];
                *ghost = (struct given_located){
                    .tag = at[0],
                    .where = {in->array[m].rank, (storm_cell_idx)at[1]},
                    .first_side = ghost->first_side};
                memcpy(ghost->point, &at[2], sizeof ghost->point);
                memcpy(&ghost->slack, &at[5], sizeof ghost->slack);
                memcpy(&ghost->reach, &at[6], sizeof ghost->reach);
                memcpy(&part->sides[ghost->first_side], &at[GHOST_HEAD_WORDS],
                       n * sizeof(struct given_side));
                ghost[1].first_side = ghost->first_side + n;
            }
            *n_cells_out += 1;
            *n_sides_out += n;
            at += GHOST_HEAD_WORDS + GHOST_SIDE_WORDS * n;
        }
    }
}

/* Room for ghosts behind the own cells, and the ghosts. */
static storm_status ghost_keep(struct ghosts *g,
                               const struct storm_messages *in)
{
    struct storm_memory *memory = g->mesh->env->memory;
    struct given_part *part = g->part;
    size_t n_cells, n_sides;
    size_t own = part->n_located, own_sides = part->located[own].first_side;
    ghost_unpack(in, NULL, &n_cells, &n_sides);
    if (own + n_cells >= INT32_MAX)
        return STORM_ERR_NOMEM;
    struct given_located *located =
        storm_alloc(memory, ghost_label, (own + n_cells + 1) * sizeof *located);
    struct given_side *sides =
        storm_alloc(memory, ghost_label,
                    (own_sides + n_sides + 1) * sizeof *sides);
    if (located == NULL || sides == NULL) {
        storm_free(memory, located);
        storm_free(memory, sides);
        return STORM_ERR_NOMEM;
    }
    memcpy(located, part->located, (own + 1) * sizeof *located);
    memcpy(sides, part->sides, own_sides * sizeof *sides);
    storm_free(memory, part->located);
    storm_free(memory, part->sides);
    part->located = located;
    part->sides = sides;
    ghost_unpack(in, part, &n_cells, &n_sides);
    return STORM_OK;
}

/* ---- all ---------------------------------------------------------------- */

/* The tree of own cells and ghosts, and that of the ranks. */
static storm_status ghost_tree(struct ghosts *g,
                               const struct storm_messages *offers)
{
    struct storm_memory *memory = g->mesh->env->memory;
    struct given_part *part = g->part;
    size_t n = (size_t)part->base.n_cells, at = n;
    struct given_box *boxes =
        storm_alloc(memory, ghost_label, (part->n_located + 1) * sizeof *boxes);
    if (boxes == NULL)
        return STORM_ERR_NOMEM;
    memcpy(boxes, part->boxes, n * sizeof *boxes);
    /* Ghosts are in the order of the offers, less those not wanted. */
    for (size_t m = 0; m < offers->n; m++)
        for (size_t k = 0; k < offers->array[m].n_words; k += GHOST_BOX_WORDS) {
            const uint64_t *row = &offers->words[offers->array[m].first + k];
            const struct given_located *ghost = &part->located[at];
            if (at < part->n_located &&
                ghost->where.rank == offers->array[m].rank &&
                (uint64_t)ghost->where.idx == row[0])
                memcpy(&boxes[at++], &row[1], sizeof *boxes);
        }
    STORM_ASSERT(at == part->n_located);
    storm_free(memory, part->boxes);
    part->boxes = boxes;
    storm_status status =
        given_tree_build(g->mesh->env, boxes, part->n_located, &part->tree);
    return status < 0
               ? status
               : given_tree_build(g->mesh->env, part->ranks,
                                  (size_t)g->mesh->env->size, &part->rank_tree);
}

/* Where a ghost is, and its number. */
struct ghost_key {
    struct storm_cell_ref where;
    int32_t located;
};

static int ghost_order(const void *left, const void *right)
{
    const struct ghost_key *a = left, *b = right;
    if (a->where.rank != b->where.rank)
        return a->where.rank < b->where.rank ? -1 : 1;
    return (a->where.idx > b->where.idx) - (a->where.idx < b->where.idx);
}

/* The cells behind planes with several faces. */
static storm_status ghost_choices(const struct ghosts *g)
{
    struct storm_memory *memory = g->mesh->env->memory;
    struct given_part *part = g->part;
    size_t own = (size_t)part->base.n_cells, n = part->n_located - own;
    struct ghost_key *keys =
        storm_alloc(memory, ghost_label, (n + 1) * sizeof *keys);
    if (keys == NULL)
        return STORM_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        keys[i] = (struct ghost_key){part->located[own + i].where,
                                     (int32_t)(own + i)};
    qsort(keys, n, sizeof *keys, ghost_order);
    for (size_t i = 0; i < part->n_choices; i++) {
        struct given_choice *choice = &part->choices[i];
        choice->located = choice->next;
        if (choice->next >= 0)
            continue;
        const struct given_border *border = &part->borders[~choice->next];
        struct ghost_key key = {.where = {border->rank, border->idx}};
        const struct ghost_key *found =
            bsearch(&key, keys, n, sizeof key, ghost_order);
        choice->located = found != NULL ? found->located : -1;
    }
    storm_free(memory, keys);
    return STORM_OK;
}

storm_status given_find_ghosts(const struct storm_mesh *mesh,
                               storm_status status, struct given_part *part)
{
    struct ghosts g = {.mesh = mesh, .part = part};
    struct storm_messages offers = {.n = 0}, requests = {.n = 0},
                          planes = {.n = 0};
    if (status >= 0)
        status = ghost_own(&g);
    status = storm_context_agree(mesh->context, status);
    if (status >= 0)
        status = ghost_ranks(&g);
    status = ghost_offer(&g, status, &offers);
    status = ghost_request(&g, status, &offers, &requests);
    status = ghost_reply(&g, status, &requests, &planes);
    if (status >= 0)
        status = ghost_keep(&g, &planes);
    if (status >= 0)
        status = ghost_tree(&g, &offers);
    if (status >= 0)
        status = ghost_choices(&g);
    if (status >= 0)
        given_find_sole(part);
    storm_messages_release(mesh->env, &planes);
    storm_messages_release(mesh->env, &requests);
    storm_messages_release(mesh->env, &offers);
    if (status != STORM_ERR_LOST) /* MPI may still use it */
        given_tree_free(mesh->env, &g.tree);
    return status;
}
