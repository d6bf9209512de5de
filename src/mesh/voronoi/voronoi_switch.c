/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same cells in another partition. Nothing is cut: cells that change hands
 * are sent with their faces, the others keep theirs, and all are laid out anew.
 *
 *   VSWITCH-1  The result has the bits of a build in that partition: a face is
 *              a function of the generators alone (VCELL-2), volumes are sums
 *              over the faces in their order.
 *   VSWITCH-2  Known afterwards are the rank's own generators and the
 *              neighbours of its cells, images included, no others.
 */
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>

#include "base/port.h"
#include "mesh/mesh_message.h"
#include "mesh/mesh_partition.h"
#include "mesh/voronoi/voronoi_build.h"

static const char switch_label[] = "mesh cells";

/* What is behind a face of a cell; as it is sent. */
struct switch_side {
    uint64_t order; /* walls: from switch_walls on */
    storm_cell_id tag;
    double x[3];
    int64_t image;
    struct voronoi_face face; /* area 0: there is none */
};

/* A cell, before its sides. */
struct switch_cell {
    uint64_t order;
    storm_cell_id tag;
    double x[3];
    double radius;
    uint64_t n_sides;
};

enum {
    SWITCH_SIDE = sizeof(struct switch_side) / sizeof(uint64_t),
    SWITCH_CELL = sizeof(struct switch_cell) / sizeof(uint64_t)
};

/* The switch in progress. */
struct switch_over {
    const struct storm_mesh *mesh;
    const struct voronoi_part *old;
    const uint64_t *partition; /* the new one */
    struct voronoi_part *part; /* the new one */
    size_t n_taken;            /* cells in it so far */
    struct voronoi_links links;
    struct voronoi_ghost *ghosts; /* as often as they are met */
    size_t n_ghosts, ghosts_capacity;
    uint64_t *cell; /* the present one, and its sides */
    size_t cell_capacity;
    struct storm_messages out;
    size_t n_words, out_capacity;
};

static const uint64_t switch_walls = UINT64_MAX - STORM_N_WALLS;

/* ---- reading ------------------------------------------------------------ */

static struct switch_side switch_behind(const struct switch_over *s,
                                        int32_t next)
{
    const struct voronoi_part *old = s->old;
    if (next >= 0) {
        const double *x = old->heads[next].generator;
        return (struct switch_side){
            .order = old->points.order[old->points.at[next]],
            .tag = storm_mesh_part_tag(&old->base, next),
            .x = {x[0], x[1], x[2]}};
    }
    const struct voronoi_border *border = &old->borders[~next];
    const double *x = border->generator;
    if (border->rank < 0)
        return (struct switch_side){.order =
                                        switch_walls + (uint64_t)border->wall};
    return (struct switch_side){.order = border->order,
                                .tag = border->id,
                                .x = {x[0], x[1], x[2]},
                                .image = border->image};
}

static void switch_write(uint64_t *to, const struct switch_side *side)
{
    memcpy(to, side, sizeof *side);
}

/* One of the old cells as it would be sent; returns its words. */
static storm_status switch_read(struct switch_over *s, storm_cell_idx cell,
                                size_t *n_words_out)
{
    const struct voronoi_part *old = s->old;
    const struct voronoi_head *head = &old->heads[cell];
    size_t n_bare = old->first_bare[cell + 1] - old->first_bare[cell];
    size_t first = (size_t)head->first_block * VORONOI_WIDTH;
    size_t end = (size_t)head[1].first_block * VORONOI_WIDTH;
    size_t n_words = SWITCH_CELL + (end - first + n_bare) * SWITCH_SIDE;
    void *array = s->cell;
    storm_status status =
        storm_reserve(s->mesh->env->memory, switch_label, sizeof *s->cell,
                      n_words, &array, &s->cell_capacity);
    if (status < 0)
        return status;
    s->cell = array;
    uint64_t *to = s->cell + SWITCH_CELL;
    for (size_t i = first; i < end && old->refs[i] >= 0; i++) {
        struct switch_side side =
            switch_behind(s, old->blocks[i / VORONOI_WIDTH]
                                 .next[i % VORONOI_WIDTH]);
        side.face = old->faces[old->refs[i]];
        switch_write(to, &side);
        to += SWITCH_SIDE;
    }
    for (size_t i = 0; i < n_bare; i++, to += SWITCH_SIDE) {
        struct switch_side side =
            switch_behind(s, old->bare[old->first_bare[cell] + i]);
        switch_write(to, &side);
    }
    n_words = (size_t)(to - s->cell);
    struct switch_cell row = {
        .order = old->points.order[old->points.at[cell]],
        .tag = storm_mesh_part_tag(&old->base, cell),
        .x = {head->generator[0], head->generator[1], head->generator[2]},
        .radius = old->radius[cell],
        .n_sides = (n_words - SWITCH_CELL) / SWITCH_SIDE};
    memcpy(s->cell, &row, sizeof row);
    *n_words_out = n_words;
    return STORM_OK;
}

/* ---- sending ------------------------------------------------------------ */

/* One cell more for a rank. Cells are in order, and so are the ranks. */
static storm_status switch_send(struct switch_over *s, storm_cell_idx cell,
                                int rank)
{
    const struct storm_env *env = s->mesh->env;
    size_t n_words = 0;
    void *array = s->out.words;
    storm_status status = switch_read(s, cell, &n_words);
    if (status >= 0)
        status = storm_reserve(env->memory, switch_label, sizeof *s->out.words,
                               s->n_words + n_words, &array, &s->out_capacity);
    if (status < 0)
        return status;
    s->out.words = array;
    memcpy(s->out.words + s->n_words, s->cell, n_words * sizeof *s->cell);
    struct storm_messages *out = &s->out;
    if (out->n > 0 && out->array[out->n - 1].rank == rank)
        out->array[out->n - 1].n_words += n_words;
    else
        status = storm_messages_add(env, out, rank, s->n_words, n_words);
    s->n_words += n_words;
    return status;
}

/* Sends the cells that change hands; receives others. Collective. */
static storm_status switch_exchange(struct switch_over *s, storm_status status,
                                    struct storm_messages *in_out)
{
    const struct storm_env *env = s->mesh->env;
    for (storm_cell_idx i = 0; status >= 0 && i < s->old->base.n_cells; i++) {
        int rank = storm_partition_owner(s->partition, env->size,
                                         s->old->base.first + (uint64_t)i);
        if (rank != env->rank)
            status = switch_send(s, i, rank);
    }
    status = storm_messages_exchange(s->mesh->context, status, &s->out, in_out);
    storm_messages_release(env, &s->out);
    return status;
}

/* ---- taking ------------------------------------------------------------- */

static storm_status switch_take_ghost(struct switch_over *s,
                                      const struct switch_side *side)
{
    void *array = s->ghosts;
    storm_status status =
        storm_reserve(s->mesh->env->memory, switch_label, sizeof *s->ghosts,
                      s->n_ghosts + 1, &array, &s->ghosts_capacity);
    if (status < 0)
        return status;
    s->ghosts = array;
    struct voronoi_ghost *ghost = &s->ghosts[s->n_ghosts++];
    *ghost = (struct voronoi_ghost){.order = side->order,
                                    .tag = side->tag,
                                    .x = {side->x[0], side->x[1], side->x[2]},
                                    .image = (int32_t)side->image};
    ghost->rank =
        storm_mesh_owner_at(s->mesh, s->partition, side->order, &ghost->idx);
    return STORM_OK;
}

/* Lists what is behind a face of a new cell, as voronoi_build does. */
static storm_status switch_take_side(struct switch_over *s, int32_t cell,
                                     const struct switch_side *side)
{
    struct storm_memory *memory = s->mesh->env->memory;
    const struct storm_mesh_part *base = &s->part->base;
    storm_status status = STORM_OK;
    int64_t link;
    if (side->order >= switch_walls) {
        link = voronoi_link_wall((int)(side->order - switch_walls));
    } else if (side->image == 0 &&
               side->order - base->first < (uint64_t)base->n_cells) {
        link = (int64_t)(side->order - base->first);
        if (link < cell)
            return STORM_OK; /* that one has listed it */
    } else {
        link = voronoi_link_ghost(side->order, (int32_t)side->image);
        status = switch_take_ghost(s, side);
    }
    if (status < 0)
        return status;
    return side->face.area > 0.0
               ? voronoi_links_add(memory, &s->links, cell, link, &side->face)
               : voronoi_links_add_bare(memory, &s->links, cell, link);
}

/* The cells of some words, which follow those taken so far. */
static storm_status switch_take(struct switch_over *s, const uint64_t *words,
                                size_t n_words)
{
    struct voronoi_part *part = s->part;
    struct voronoi_points *points = &part->points;
    const uint64_t *end = words + n_words;
    storm_status status = STORM_OK;
    while (words < end && status >= 0) {
        struct switch_cell cell;
        size_t i = s->n_taken++;
        memcpy(&cell, words, sizeof cell);
        words += SWITCH_CELL;
        STORM_ASSERT(cell.order == part->base.first + i);
        points->order[i] = cell.order;
        points->cell[i] = points->at[i] = (int32_t)i;
        for (int d = 0; d < 3; d++)
            points->x[d][i] = cell.x[d];
        part->radius[i] = cell.radius;
        if (part->base.tags != NULL)
            part->base.tags[i] = cell.tag;
        for (uint64_t k = 0; k < cell.n_sides && status >= 0; k++) {
            struct switch_side side;
            memcpy(&side, words, sizeof side);
            words += SWITCH_SIDE;
            status = switch_take_side(s, (int32_t)i, &side);
        }
    }
    return status;
}

/* The cells that stay. */
static storm_status switch_take_own(struct switch_over *s)
{
    const struct storm_mesh_part *old = &s->old->base, *new = &s->part->base;
    uint64_t old_end = old->first + (uint64_t)old->n_cells;
    uint64_t new_end = new->first + (uint64_t) new->n_cells;
    uint64_t begin = old->first > new->first ? old->first : new->first;
    uint64_t end = old_end < new_end ? old_end : new_end;
    storm_status status = STORM_OK;
    for (uint64_t place = begin; place < end && status >= 0; place++) {
        size_t n_words = 0;
        status = switch_read(s, (storm_cell_idx)(place - old->first), &n_words);
        if (status >= 0)
            status = switch_take(s, s->cell, n_words);
    }
    return status;
}

/* All cells, in order: those of lower ranks, those that stay, the others. */
static storm_status switch_take_all(struct switch_over *s,
                                    const struct storm_messages *in)
{
    storm_status status = STORM_OK;
    size_t i = 0;
    for (; i < in->n && in->array[i].rank < s->mesh->env->rank; i++)
        if (status >= 0)
            status = switch_take(s, in->words + in->array[i].first,
                                 in->array[i].n_words);
    if (status >= 0)
        status = switch_take_own(s);
    for (; i < in->n && status >= 0; i++)
        status = switch_take(s, in->words + in->array[i].first,
                             in->array[i].n_words);
    STORM_ASSERT(status < 0 || s->n_taken == (size_t)s->part->base.n_cells);
    return status;
}

/* ---- the new part ------------------------------------------------------- */

static int switch_by_order(const void *left, const void *right)
{
    const struct voronoi_ghost *a = left, *b = right;
    uint64_t key = voronoi_image_key(a->order, a->image);
    uint64_t other = voronoi_image_key(b->order, b->image);
    return key < other ? -1 : key > other;
}

/* Own generators and ghosts, each once. */
static storm_status switch_merge(struct switch_over *s)
{
    size_t n = 0;
    if (s->n_ghosts > 0)
        qsort(s->ghosts, s->n_ghosts, sizeof *s->ghosts, switch_by_order);
    for (size_t i = 0; i < s->n_ghosts; i++)
        if (n == 0 || switch_by_order(&s->ghosts[i], &s->ghosts[n - 1]) != 0)
            s->ghosts[n++] = s->ghosts[i];
    s->part->cost.n_ghosts = n;
    return voronoi_points_merge(&s->part->points, s->mesh->env->memory,
                                s->ghosts, n);
}

static storm_status switch_open(struct switch_over *s)
{
    const struct storm_env *env = s->mesh->env;
    s->part = storm_alloc(env->memory, switch_label, sizeof *s->part);
    if (s->part == NULL)
        return STORM_ERR_NOMEM;
    struct voronoi_part *part = s->part;
    size_t n = (size_t)(s->partition[env->rank + 1] - s->partition[env->rank]);
    part->base.first = s->partition[env->rank];
    part->base.n_cells = (storm_cell_idx)n;
    part->domain = s->old->domain;
    part->points.space = part->domain.space;
    part->radius =
        storm_alloc(env->memory, switch_label, (n + 1) * sizeof(double));
    part->first_key = storm_alloc(env->memory, switch_label,
                                  (size_t)env->size * sizeof *part->first_key);
    if (s->old->base.tags != NULL)
        part->base.tags = storm_alloc(env->memory, switch_label,
                                      (n + 1) * sizeof *part->base.tags);
    if (part->radius == NULL || part->first_key == NULL ||
        (s->old->base.tags != NULL && part->base.tags == NULL))
        return STORM_ERR_NOMEM;
    storm_status status =
        voronoi_points_alloc(&part->points, env->memory, n, 0);
    return status < 0 ? status
                      : voronoi_links_reserve(env->memory, &s->links, n);
}

storm_status voronoi_build_part(const struct storm_mesh *mesh,
                                const uint64_t *partition,
                                struct storm_mesh_part **part_out)
{
    struct storm_memory *memory = mesh->env->memory;
    struct switch_over s = {
        .mesh = mesh, .old = voronoi_part_of(mesh), .partition = partition};
    struct storm_messages in = {.n = 0};
    storm_status status = switch_exchange(&s, switch_open(&s), &in);
    if (status >= 0)
        status = switch_take_all(&s, &in);
    storm_messages_release(mesh->env, &in);
    if (status >= 0)
        status = switch_merge(&s);
    storm_free(memory, s.ghosts);
    storm_free(memory, s.cell);
    if (status >= 0)
        status = voronoi_lay_out(mesh, &s.links, s.part);
    voronoi_links_free(memory, &s.links);
    status = storm_context_agree(mesh->context, status);
    if (status >= 0)
        status = voronoi_find_keys(mesh, s.part);
    if (status < 0) {
        voronoi_free_part(mesh, s.part != NULL ? &s.part->base : NULL);
        return status;
    }
    *part_out = &s.part->base;
    return STORM_OK;
}
