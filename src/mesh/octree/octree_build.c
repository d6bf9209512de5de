/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank's cells of an octree, and what lies behind their faces.
 *
 * The neighbours of a side are the leaves that hold four places next to it, one
 * in each quarter: all the same leaf, or four smaller ones (OCTREE-1). Where a
 * place belongs to another rank, that rank is asked, once for all places.
 */
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>

#include "base/boot.h"
#include "base/port.h"
#include "mesh/mesh_message.h"
#include "mesh/mesh_partition.h"
#include "mesh/octree/octree_words.h"

static const char octree_label[] = "mesh cells";

/* No neighbour found yet. Not the number of a fan: there are fewer. */
enum { OCTREE_UNKNOWN = OCTREE_FAN_END - 1 };

/* A leaf next to a side: place and level. */
enum { NEAR_LEVEL_BITS = 8, NEAR_ASKED = 0xff };

static uint64_t near_pack(uint64_t place, int level)
{
    return place << NEAR_LEVEL_BITS | (unsigned)level;
}

static int near_level(uint64_t near)
{
    return (int)(near & ((1u << NEAR_LEVEL_BITS) - 1));
}

/* A side of a cell, and the leaves in its quarters. */
struct octree_side {
    storm_cell_idx cell;
    int8_t side, level;
    bool wraps;
    uint64_t near[OCTREE_QUARTERS];
    storm_cell_id tags[OCTREE_QUARTERS]; /* of leaves of other ranks, if tags
                                            are not places */
};

/* A place on another rank, and where its answer belongs. */
struct octree_query {
    uint64_t place;
    size_t i_side;
    int quarter;
};

struct octree_builder {
    const struct octree_mesh *mesh;
    const struct octree_leaves *leaves;
    const uint64_t *partition;
    struct octree_part *part;
    size_t fans_capacity;
    struct octree_side *sides; /* that wait for answers */
    size_t n_sides, sides_capacity;
    struct octree_query *queries;
    size_t n_queries, queries_capacity;
};

/* ---- places ------------------------------------------------------------- */

size_t octree_find_code(const uint64_t *codes, size_t n, uint64_t place2)
{
    size_t low = 0, high = n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (octree_begin(codes[middle]) <= place2)
            low = middle;
        else
            high = middle;
    }
    return low;
}

storm_cell_idx octree_find(const struct octree_part *part, uint64_t place2)
{
    return (storm_cell_idx)octree_find_code(part->codes,
                                            (size_t)part->base.n_cells, place2);
}

storm_status octree_starts(const struct octree_mesh *mesh,
                           const uint64_t *codes, const uint64_t *partition,
                           uint64_t *starts_out)
{
    const struct storm_env *env = mesh->base.env;
    bool is_empty = partition[env->rank + 1] == partition[env->rank];
    uint64_t mine = is_empty ? 0 : octree_begin(codes[0]) / 2;
    storm_status status =
        storm_boot_allgather(env->boot, &mine, sizeof mine, starts_out);
    if (status < 0)
        return status;
    starts_out[env->size] = 1;
    for (int d = 0; d < 3; d++)
        starts_out[env->size] *= (uint64_t)octree_count(mesh, mesh->depth, d);
    for (int r = env->size - 1; r >= 0; r--)
        if (partition[r + 1] == partition[r])
            starts_out[r] = starts_out[r + 1];
    return STORM_OK;
}

/* ---- what faces lead to ------------------------------------------------- */

/* How a cell refers to the leaf behind a quarter of one of its sides. */
static storm_status build_refer(struct octree_builder *b,
                                const struct octree_side *s, int quarter,
                                int32_t *next_out)
{
    const struct storm_mesh_part *part = &b->part->base;
    uint64_t place = s->near[quarter] >> NEAR_LEVEL_BITS;
    uint64_t offset = place - part->first; /* huge if place < first */
    bool is_local = offset < (uint64_t)part->n_cells;
    if (!s->wraps && is_local) {
        *next_out = (storm_cell_idx)offset;
        return STORM_OK;
    }
    struct storm_border border = {.id = place, .wall = -1, .wraps = s->wraps};
    if (part->tags != NULL)
        border.id = is_local ? part->tags[offset] : s->tags[quarter];
    border.rank =
        storm_mesh_owner_at(&b->mesh->base, b->partition, place, &border.idx);
    return storm_borders_add(b->mesh->base.env, &b->part->borders, &border,
                             next_out);
}

static storm_status build_add_fan(struct octree_builder *b,
                                  const struct octree_side *s)
{
    struct octree_part *part = b->part;
    void *array = part->fans;
    if (part->n_fans >= INT32_MAX / 2)
        return STORM_ERR_NOMEM;
    storm_status status = storm_reserve(b->mesh->base.env->memory, octree_label,
                                        sizeof *part->fans, part->n_fans + 1,
                                        &array, &b->fans_capacity);
    if (status < 0)
        return status;
    part->fans = array;
    struct octree_fan *fan = &part->fans[part->n_fans];
    struct octree_node node = octree_node(b->mesh, part->codes[s->cell]);
    int32_t ijk[3];
    storm_hilbert_tree_ijk(b->mesh->n, node.level, node.position, ijk);
    for (int k = 0; k < 2; k++) {
        int d = (s->side / 2 + 1 + k) % 3;
        fan->middle[k] =
            octree_plane(b->mesh, node.level + 1, d, 2 * ijk[d] + 1);
    }
    for (int q = 0; q < OCTREE_QUARTERS && status == STORM_OK; q++)
        status = build_refer(b, s, q, &fan->next[q]);
    part->cells[s->cell].next[s->side] = OCTREE_FAN + (int32_t)part->n_fans;
    part->n_fans++;
    return status;
}

/* Sets what is behind a side whose leaves are all known. */
static storm_status build_connect(struct octree_builder *b,
                                  const struct octree_side *s)
{
    if (near_level(s->near[0]) > s->level)
        return build_add_fan(b, s);
    int32_t *next = &b->part->cells[s->cell].next[s->side];
    storm_status status = build_refer(b, s, 0, next);
    /* saves a second search */
    if (status == STORM_OK && *next >= 0 && near_level(s->near[0]) == s->level)
        b->part->cells[*next].next[s->side ^ 1] = s->cell;
    return status;
}

/* ---- finding them ------------------------------------------------------- */

/* The leaf at a place, or a query for it. */
static storm_status build_look(struct octree_builder *b, struct octree_side *s,
                               int quarter, uint64_t place)
{
    const struct octree_part *part = b->part;
    int rank = b->mesh->base.env->rank;
    if (place >= part->starts[rank] && place < part->starts[rank + 1]) {
        storm_cell_idx i = octree_find(part, 2 * place);
        s->near[quarter] =
            near_pack(part->base.first + (uint64_t)i,
                      octree_node(b->mesh, part->codes[i]).level);
        return STORM_OK;
    }
    void *array = b->queries;
    storm_status status = storm_reserve(b->mesh->base.env->memory, octree_label,
                                        sizeof *b->queries, b->n_queries + 1,
                                        &array, &b->queries_capacity);
    if (status < 0)
        return status;
    b->queries = array;
    b->queries[b->n_queries++] = (struct octree_query){
        .place = place, .i_side = b->n_sides, .quarter = quarter};
    s->near[quarter] = NEAR_ASKED;
    return STORM_OK;
}

/* Keeps a side until the answers are there. */
static storm_status build_keep(struct octree_builder *b,
                               const struct octree_side *s)
{
    void *array = b->sides;
    storm_status status =
        storm_reserve(b->mesh->base.env->memory, octree_label, sizeof *s,
                      b->n_sides + 1, &array, &b->sides_capacity);
    if (status < 0)
        return status;
    b->sides = array;
    b->sides[b->n_sides++] = *s;
    return STORM_OK;
}

/* Looks next to a side: at the grid of the level below, `at` is the node there
 * in the lowest quarter. */
static storm_status build_look_round(struct octree_builder *b,
                                     struct octree_side *s, int level,
                                     const int32_t at[3])
{
    const struct octree_mesh *mesh = b->mesh;
    int n = level > s->level ? OCTREE_QUARTERS : 1;
    bool is_known = true;
    for (int q = 0; q < n; q++) {
        int32_t ijk[3] = {at[0], at[1], at[2]};
        ijk[(s->side / 2 + 1) % 3] += q & 1;
        ijk[(s->side / 2 + 2) % 3] += q >> 1;
        uint64_t place = storm_hilbert_tree_position(mesh->n, level, ijk)
                         << 3 * (mesh->depth - level);
        storm_status status = build_look(b, s, q, place);
        if (status < 0)
            return status;
        is_known = is_known && s->near[q] != NEAR_ASKED;
        if (is_known && near_level(s->near[0]) <= s->level)
            break; /* it covers all of the side */
    }
    return is_known ? build_connect(b, s) : build_keep(b, s);
}

static storm_status build_link(struct octree_builder *b, storm_cell_idx i,
                               int side)
{
    const struct octree_mesh *mesh = b->mesh;
    struct octree_node node = octree_node(mesh, b->part->codes[i]);
    struct octree_side s = {
        .cell = i, .side = (int8_t)side, .level = (int8_t)node.level};
    int level = node.level < mesh->depth ? node.level + 1 : node.level;
    int axis = side / 2;
    int32_t ijk[3], size = level > node.level ? 2 : 1;
    int32_t n = octree_count(mesh, level, axis);
    storm_hilbert_tree_ijk(mesh->n, node.level, node.position, ijk);
    for (int d = 0; d < 3; d++)
        ijk[d] *= size;
    ijk[axis] += side % 2 ? size : -1;
    s.wraps = ijk[axis] < 0 || ijk[axis] == n;
    if (s.wraps && !mesh->periodic[axis]) {
        b->part->cells[i].next[side] = ~side; /* walls are the first borders */
        return STORM_OK;
    }
    if (s.wraps)
        ijk[axis] = side % 2 ? 0 : n - 1;
    return build_look_round(b, &s, level, ijk);
}

static storm_status build_link_all(struct octree_builder *b)
{
    for (storm_cell_idx i = 0; i < b->part->base.n_cells; i++)
        for (int side = 0; side < OCTREE_SIDES; side++) {
            if (b->part->cells[i].next[side] != OCTREE_UNKNOWN)
                continue;
            storm_status status = build_link(b, i, side);
            if (status < 0)
                return status;
        }
    return STORM_OK;
}

/* ---- other ranks -------------------------------------------------------- */

static int build_compare(const void *left, const void *right)
{
    const struct octree_query *a = left, *b = right;
    return (a->place > b->place) - (a->place < b->place);
}

/* Queries in order of places are in order of ranks. */
static storm_status build_address(struct octree_builder *b,
                                  struct storm_messages *out)
{
    const struct storm_env *env = b->mesh->base.env;
    size_t n = b->n_queries, first = 0;
    out->words =
        storm_alloc(env->memory, octree_label, (n + 1) * sizeof *out->words);
    if (out->words == NULL)
        return STORM_ERR_NOMEM;
    if (n > 1)
        qsort(b->queries, n, sizeof *b->queries, build_compare);
    for (size_t i = 0; i < n; i++)
        out->words[i] = b->queries[i].place;
    while (first < n) {
        int rank = storm_partition_owner(b->part->starts, env->size,
                                         out->words[first]);
        size_t end = first;
        while (end < n && out->words[end] < b->part->starts[rank + 1])
            end++;
        storm_status status =
            storm_messages_add(env, out, rank, first, end - first);
        if (status < 0)
            return status;
        first = end;
    }
    return STORM_OK;
}

/* Answers take the place of the queries. */
static void build_answer(const struct octree_builder *b,
                         struct storm_messages *messages)
{
    const struct octree_part *part = b->part;
    size_t n = 0;
    for (size_t i = 0; i < messages->n; i++)
        n += messages->array[i].n_words;
    for (size_t i = 0; i < n; i++) {
        storm_cell_idx found = octree_find(part, 2 * messages->words[i]);
        messages->words[i] =
            near_pack(part->base.first + (uint64_t)found,
                      octree_node(b->mesh, part->codes[found]).level);
    }
}

/* Tags take the place of the answers. */
static void build_answer_tags(const struct octree_builder *b,
                              struct storm_messages *messages)
{
    const struct storm_mesh_part *part = &b->part->base;
    for (size_t i = 0; i < messages->n; i++)
        for (size_t k = 0; k < messages->array[i].n_words; k++) {
            uint64_t *word = &messages->words[messages->array[i].first + k];
            *word = part->tags[(*word >> NEAR_LEVEL_BITS) - part->first];
        }
}

/* Sends answers back; those that come are in the order of the queries.
 * Collective. */
static storm_status build_reply(struct octree_builder *b,
                                struct storm_messages *asked, bool is_tags)
{
    struct storm_messages answers;
    storm_status status = storm_messages_exchange(b->mesh->base.context,
                                                  STORM_OK, asked, &answers);
    for (size_t i = 0; i < b->n_queries && status >= 0; i++) {
        const struct octree_query *query = &b->queries[i];
        struct octree_side *side = &b->sides[query->i_side];
        uint64_t *to = is_tags ? side->tags : side->near;
        to[query->quarter] = answers.words[i];
    }
    storm_messages_release(b->mesh->base.env, &answers);
    return status;
}

/* Asks other ranks and connects the sides that waited. Collective. */
static storm_status build_ask(struct octree_builder *b, storm_status status)
{
    const struct storm_env *env = b->mesh->base.env;
    const struct storm_context *context = b->mesh->base.context;
    struct storm_messages out = {.n = 0}, asked;
    if (status >= 0)
        status = build_address(b, &out);
    status = storm_messages_exchange(context, status, &out, &asked);
    if (status >= 0) {
        build_answer(b, &asked);
        status = build_reply(b, &asked, false);
    }
    if (status >= 0 && b->part->base.tags != NULL) {
        build_answer_tags(b, &asked);
        status = build_reply(b, &asked, true);
    }
    for (size_t i = 0; i < b->n_sides && status >= 0; i++)
        status = build_connect(b, &b->sides[i]);
    storm_messages_release(env, &asked);
    storm_messages_release(env, &out);
    return status;
}

/* ---- the part ----------------------------------------------------------- */

static void build_place_cells(const struct octree_builder *b)
{
    const struct octree_mesh *mesh = b->mesh;
    for (storm_cell_idx i = 0; i < b->part->base.n_cells; i++) {
        struct octree_node node = octree_node(mesh, b->part->codes[i]);
        struct octree_cell *cell = &b->part->cells[i];
        int32_t ijk[3];
        storm_hilbert_tree_ijk(mesh->n, node.level, node.position, ijk);
        for (int side = 0; side < OCTREE_SIDES; side++) {
            int d = side / 2;
            cell->plane[side] =
                octree_plane(mesh, node.level, d, ijk[d] + side % 2);
            cell->next[side] = OCTREE_UNKNOWN;
        }
    }
}

/* A part with codes and cells that lead nowhere yet. Collective. */
static storm_status build_open(struct octree_builder *b)
{
    const struct octree_mesh *mesh = b->mesh;
    const struct storm_env *env = mesh->base.env;
    struct octree_part *part = b->part;
    size_t n = (size_t)(b->partition[env->rank + 1] - b->partition[env->rank]);
    storm_status status = STORM_ERR_NOMEM;
    if (part != NULL) {
        part->base.first = b->partition[env->rank];
        part->base.n_cells = (storm_cell_idx)n;
        part->cells = storm_alloc(env->memory, octree_label,
                                  (n + 1) * sizeof *part->cells);
        part->starts =
            storm_alloc(env->memory, octree_label,
                        ((size_t)env->size + 1) * sizeof *part->starts);
        if (part->cells != NULL && part->starts != NULL)
            status = storm_borders_open(env, &part->borders);
    }
    status = storm_context_agree(mesh->base.context, status);
    if (status < 0)
        return status;
    const struct octree_leaves *leaves = b->leaves;
    status = octree_words_move(mesh->base.context, leaves->codes.array,
                               leaves->partition, b->partition, &part->codes);
    if (status >= 0 && leaves->tags != NULL)
        status = octree_words_move(mesh->base.context, leaves->tags,
                                   leaves->partition, b->partition,
                                   &part->base.tags);
    if (status < 0)
        return status;
    build_place_cells(b);
    return octree_starts(mesh, part->codes, b->partition, part->starts);
}

storm_status octree_build(const struct storm_mesh *mesh,
                          const struct octree_leaves *leaves,
                          const uint64_t *partition,
                          struct storm_mesh_part **part_out)
{
    struct storm_memory *memory = mesh->env->memory;
    struct octree_builder b = {
        .mesh = octree_of(mesh),
        .leaves = leaves,
        .partition = partition,
        .part = storm_alloc(memory, octree_label, sizeof *b.part)};
    storm_status status = build_open(&b);
    if (status >= 0)
        status = build_ask(&b, build_link_all(&b));
    storm_free(memory, b.queries);
    storm_free(memory, b.sides);
    if (status < 0) {
        octree_free_part(mesh, b.part != NULL ? &b.part->base : NULL);
        return status;
    }
    *part_out = &b.part->base;
    return STORM_OK;
}

storm_status octree_build_part(const struct storm_mesh *mesh,
                               const uint64_t *partition,
                               struct storm_mesh_part **part_out)
{
    const struct octree_part *old = octree_part_of(mesh);
    if (old == NULL)
        return octree_build(mesh, &octree_of(mesh)->leaves, partition,
                            part_out);
    const struct octree_leaves leaves = {.codes = {.array = old->codes},
                                         .tags = old->base.tags,
                                         .partition = mesh->partition};
    return octree_build(mesh, &leaves, partition, part_out);
}

void octree_free_part(const struct storm_mesh *mesh,
                      struct storm_mesh_part *base)
{
    struct octree_part *part = (struct octree_part *)base;
    struct storm_memory *memory = mesh->env->memory;
    if (part == NULL)
        return;
    storm_free(memory, part->starts);
    storm_free(memory, part->fans);
    storm_borders_close(mesh->env, &part->borders);
    storm_free(memory, part->cells);
    storm_free(memory, part->codes);
    storm_free(memory, part->base.tags);
    storm_free(memory, part);
}
