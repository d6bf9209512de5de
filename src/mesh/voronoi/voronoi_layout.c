/* SPDX-License-Identifier: BSD-3-Clause */
/* From the list of faces to the cells that tracking and queries read. */
#include <math.h>
#include <string.h>

#include "base/port.h"
#include "mesh/voronoi/voronoi_build.h"

static const char layout_label[] = "mesh cells";

/* ---- list of faces ------------------------------------------------------ */

static storm_status links_room(struct storm_memory *memory,
                               struct voronoi_links *links, size_t n)
{
    void *array = links->array, *faces = links->faces;
    storm_status status =
        storm_reserve(memory, layout_label, sizeof *links->array, n, &array,
                      &links->capacity);
    if (status < 0)
        return status;
    links->array = array;
    status = storm_reserve(memory, layout_label, sizeof *links->faces, n,
                           &faces, &links->faces_capacity);
    if (status < 0)
        return status;
    links->faces = faces;
    return STORM_OK;
}

storm_status voronoi_links_reserve(struct storm_memory *memory,
                                   struct voronoi_links *links, size_t n_cells)
{
    /* random cells have 15.54 faces, half of them listed here */
    return links_room(memory, links, 8 * n_cells);
}

storm_status voronoi_links_add(struct storm_memory *memory,
                               struct voronoi_links *links, int32_t cell,
                               int64_t other, const struct voronoi_face *face)
{
    if (links->n >= INT32_MAX)
        return STORM_ERR_NOMEM;
    if (links->n >= links->capacity || links->n >= links->faces_capacity) {
        storm_status status = links_room(memory, links, links->n + 1);
        if (status < 0)
            return status;
    }
    links->array[links->n] =
        (struct voronoi_link){.other = other, .cell = cell};
    links->faces[links->n++] = *face;
    return STORM_OK;
}

storm_status voronoi_links_add_bare(struct storm_memory *memory,
                                    struct voronoi_links *links, int32_t cell,
                                    int64_t other)
{
    void *array = links->bare;
    storm_status status =
        storm_reserve(memory, layout_label, sizeof *links->bare,
                      links->n_bare + 1, &array, &links->bare_capacity);
    if (status < 0)
        return status;
    links->bare = array;
    links->bare[links->n_bare++] =
        (struct voronoi_link){.other = other, .cell = cell};
    return STORM_OK;
}

void voronoi_links_free(struct storm_memory *memory,
                        struct voronoi_links *links)
{
    storm_free(memory, links->array);
    storm_free(memory, links->faces);
    storm_free(memory, links->bare);
    *links = (struct voronoi_links){.n = 0};
}

/* ---- layout ------------------------------------------------------------- */

/*
 * What is behind a face and which face it is go straight to their places in the
 * blocks, and while a cell's are being put in order its head's first_block
 * stays where it is: nothing else is needed but how many a cell has so far.
 */
struct layout {
    const struct storm_mesh *mesh;
    struct voronoi_part *part;
    int32_t *n_sides;   /* by cell */
    int32_t *border_of; /* by ghost, -1: none yet */
    size_t borders_capacity;
};

static storm_status layout_add_border(struct layout *l,
                                      const struct voronoi_border *border,
                                      int32_t *next_out)
{
    struct voronoi_part *part = l->part;
    void *array = part->borders;
    storm_status status =
        storm_reserve(l->mesh->env->memory, layout_label, sizeof *border,
                      part->n_borders + 1, &array, &l->borders_capacity);
    if (status < 0)
        return status;
    part->borders = array;
    part->borders[part->n_borders] = *border;
    *next_out = ~(int32_t)part->n_borders;
    part->n_borders++;
    return STORM_OK;
}

static storm_status layout_walls(struct layout *l)
{
    const struct voronoi_space *space = &l->part->points.space;
    storm_status status = STORM_OK;
    for (int wall = 0; wall < STORM_N_WALLS && status >= 0; wall++) {
        struct voronoi_border border = {.rank = -1, .idx = -1, .wall = wall};
        int d = wall / 2;
        int32_t next;
        border.generator[d] = wall % 2 ? space->hi[d] : space->lo[d];
        status = layout_add_border(l, &border, &next);
    }
    return status;
}

static storm_status layout_ghost(struct layout *l, uint64_t key,
                                 int32_t *next_out)
{
    const struct voronoi_points *points = &l->part->points;
    uint64_t order = key / VORONOI_IMAGES;
    int32_t image = (int32_t)(key % VORONOI_IMAGES) - VORONOI_LAST_IMAGE;
    int32_t at = voronoi_points_find(points, order, image);
    STORM_ASSERT(at < points->n && points->order[at] == order &&
                 voronoi_points_image(points, at) == image);
    int32_t which = ~points->cell[at];
    if (l->border_of[which] >= 0) {
        *next_out = ~l->border_of[which];
        return STORM_OK;
    }
    const struct voronoi_ghost *ghost = &points->ghosts[which];
    struct voronoi_border border = {
        .id = ghost->tag,
        .order = order,
        .generator = {ghost->x[0], ghost->x[1], ghost->x[2]},
        .rank = ghost->rank,
        .idx = ghost->idx,
        .wall = -1,
        .image = ghost->image,
    };
    storm_status status = layout_add_border(l, &border, next_out);
    if (status >= 0)
        l->border_of[which] = ~*next_out;
    return status;
}

static uint64_t layout_own_order(const struct voronoi_part *part, size_t cell)
{
    return voronoi_image_key(part->points.order[part->points.at[cell]], 0);
}

/* Sort key of faces: order of the neighbour, then of its image, walls last. */
static uint64_t layout_order(const struct voronoi_part *part, int32_t next)
{
    if (next >= 0)
        return layout_own_order(part, (size_t)next);
    const struct voronoi_border *border = &part->borders[~next];
    return border->rank >= 0
               ? voronoi_image_key(border->order, border->image)
               : UINT64_MAX - STORM_N_WALLS + (uint64_t)border->wall;
}

/* Own generators are in order (VMESH-1). */
static inline bool layout_before(const struct voronoi_part *part, int32_t next,
                                 int32_t other)
{
    if (STORM_LIKELY(next >= 0 && other >= 0))
        return next < other;
    return layout_order(part, next) < layout_order(part, other);
}

static int32_t *layout_next(const struct voronoi_part *part, size_t place)
{
    return &part->blocks[place / VORONOI_WIDTH].next[place % VORONOI_WIDTH];
}

/* Puts a side into its place among those that its cell has so far. */
static void layout_put(struct layout *l, int32_t cell, int32_t next,
                       int32_t ref)
{
    struct voronoi_part *part = l->part;
    size_t start = (size_t)part->heads[cell].first_block * VORONOI_WIDTH;
    size_t at = start + (size_t)l->n_sides[cell]++;
    for (; at > start; at--) {
        int32_t before = *layout_next(part, at - 1);
        if (layout_before(part, before, next))
            break;
        *layout_next(part, at) = before;
        part->refs[at] = part->refs[at - 1];
    }
    *layout_next(part, at) = next;
    part->refs[at] = ref;
}

/* What is behind a link, as seen from its cell. */
static storm_status layout_behind(struct layout *l,
                                  const struct voronoi_link *link,
                                  int32_t *next_out)
{
    *next_out = (int32_t)link->other;
    if (link->other >= 0)
        return STORM_OK;
    int64_t behind = -1 - link->other;
    *next_out = ~(int32_t)behind; /* if it is a wall */
    return behind < STORM_N_WALLS
               ? STORM_OK
               : layout_ghost(l, (uint64_t)(behind - STORM_N_WALLS), next_out);
}

/* The sides of all cells, each cell's in order. */
static storm_status layout_sides(struct layout *l,
                                 const struct voronoi_links *links)
{
    memset(l->n_sides, 0, (size_t)l->part->base.n_cells * sizeof *l->n_sides);
    for (size_t i = 0; i < links->n; i++) {
        const struct voronoi_link *link = &links->array[i];
        int32_t next;
        storm_status status = layout_behind(l, link, &next);
        if (status < 0)
            return status;
        layout_put(l, link->cell, next, (int32_t)i);
        if (next >= 0)
            layout_put(l, next, link->cell, (int32_t)i);
    }
    return STORM_OK;
}

/* The neighbours without a face, a list for each cell. */
static storm_status layout_bare(struct layout *l,
                                const struct voronoi_links *links)
{
    struct storm_memory *memory = l->mesh->env->memory;
    struct voronoi_part *part = l->part;
    size_t n = (size_t)part->base.n_cells;
    if (links->n_bare > UINT32_MAX / 2)
        return STORM_ERR_NOMEM;
    part->first_bare =
        storm_alloc(memory, layout_label, (n + 2) * sizeof *part->first_bare);
    part->bare = storm_alloc(memory, layout_label,
                             (2 * links->n_bare + 1) * sizeof *part->bare);
    if (part->first_bare == NULL || part->bare == NULL)
        return STORM_ERR_NOMEM;
    uint32_t *end = part->first_bare + 1; /* by cell; then shifted by one */
    for (size_t i = 0; i < links->n_bare; i++) {
        end[links->bare[i].cell + 1]++;
        if (links->bare[i].other >= 0)
            end[links->bare[i].other + 1]++;
    }
    for (size_t c = 0; c < n; c++)
        end[c + 1] += end[c];
    for (size_t i = 0; i < links->n_bare; i++) {
        const struct voronoi_link *link = &links->bare[i];
        int32_t next;
        storm_status status = layout_behind(l, link, &next);
        if (status < 0)
            return status;
        part->bare[end[link->cell]++] = next;
        if (next >= 0)
            part->bare[end[next]++] = link->cell;
    }
    return STORM_OK;
}

double voronoi_plane_of(const struct voronoi_part *part, size_t cell,
                        int32_t next, double normal_out[3])
{
    const double *g = part->heads[cell].generator;
    const double *h = voronoi_behind(part, next);
    if (next < 0 && part->borders[~next].rank < 0) {
        int wall = part->borders[~next].wall, d = wall / 2;
        memset(normal_out, 0, 3 * sizeof *normal_out);
        normal_out[d] = wall % 2 ? 1.0 : -1.0;
        return wall % 2 ? h[d] - g[d] : g[d] - h[d];
    }
    double n[3] = {h[0] - g[0], h[1] - g[1], h[2] - g[2]};
    double norm = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    double inverse = 1.0 / norm;
    for (int d = 0; d < 3; d++)
        normal_out[d] = n[d] * inverse;
    return 0.5 * norm;
}

/* Volume and moment of the pyramids over the faces so far. */
struct layout_sum {
    double volume, moment[3];
};

/* The face's centroid is stored relative to the generator of lower order. */
static void layout_add(const struct voronoi_part *part, size_t cell,
                       size_t place, double distance, struct layout_sum *sum)
{
    int32_t next = *layout_next(part, place);
    const struct voronoi_face *face = &part->faces[part->refs[place]];
    const double *g = part->heads[cell].generator;
    bool is_mine = layout_before(part, (int32_t)cell, next);
    const double *from = is_mine ? g : voronoi_behind(part, next);
    double pyramid = face->area * distance / 3.0;
    sum->volume += pyramid;
    for (int d = 0; d < 3; d++)
        sum->moment[d] += pyramid * (face->centroid[d] + (from[d] - g[d]));
}

/* Planes of the faces, volume and centroid. */
static void layout_cell(struct layout *l, size_t cell)
{
    struct voronoi_part *part = l->part;
    struct layout_sum sum = {.volume = 0.0};
    size_t first = (size_t)part->heads[cell].first_block * VORONOI_WIDTH;
    size_t end = (size_t)part->heads[cell + 1].first_block * VORONOI_WIDTH;
    size_t n = (size_t)l->n_sides[cell];
    float far = part->heads[cell].radius;
    for (size_t place = first; place < end; place++) {
        struct storm_planes_block *block = &part->blocks[place / VORONOI_WIDTH];
        size_t k = place % VORONOI_WIDTH;
        if (place >= first + n) {
            storm_planes_place(block, k, far, NULL, ~0); /* some wall */
            part->refs[place] = -1;
            continue;
        }
        struct storm_plane plane = {.area = 0.0};
        plane.distance =
            voronoi_plane_of(part, cell, block->next[k], plane.normal);
        storm_planes_place(block, k, far, &plane, block->next[k]);
        layout_add(part, cell, place, plane.distance, &sum);
    }
    part->volume[cell] = sum.volume;
    for (int d = 0; d < 3; d++)
        part->centroid[cell][d] = part->heads[cell].generator[d] +
                                  0.75 * (sum.moment[d] / sum.volume);
}

/* Heads, and how many blocks there are. */
static storm_status layout_heads(struct layout *l,
                                 const struct voronoi_links *links,
                                 uint32_t *n_blocks_out)
{
    struct voronoi_part *part = l->part;
    size_t n_blocks = 0, n = (size_t)part->base.n_cells;
    for (size_t i = 0; i < links->n; i++) {
        l->n_sides[links->array[i].cell]++;
        if (links->array[i].other >= 0)
            l->n_sides[links->array[i].other]++;
    }
    for (size_t c = 0; c <= n; c++) {
        struct voronoi_head *head = &part->heads[c];
        if (n_blocks > UINT32_MAX)
            return STORM_ERR_NOMEM;
        head->first_block = (uint32_t)n_blocks;
        if (c == n)
            break;
        for (int d = 0; d < 3; d++)
            head->generator[d] = part->points.x[d][part->points.at[c]];
        head->radius = (float)(0.5 * part->radius[c] * (1.0 + 0x1p-20));
        n_blocks += ((size_t)l->n_sides[c] + VORONOI_WIDTH - 1) / VORONOI_WIDTH;
    }
    *n_blocks_out = (uint32_t)n_blocks;
    return STORM_OK;
}

static storm_status layout_reserve(struct layout *l)
{
    struct storm_memory *memory = l->mesh->env->memory;
    struct voronoi_part *part = l->part;
    size_t n = (size_t)part->base.n_cells + 1;
    size_t n_ghosts = (size_t)(part->points.n - part->points.n_own);
    l->n_sides = storm_alloc(memory, layout_label, n * sizeof *l->n_sides);
    l->border_of = storm_alloc(memory, layout_label,
                               (n_ghosts + 1) * sizeof *l->border_of);
    part->heads = storm_alloc(memory, layout_label, n * sizeof *part->heads);
    if (l->n_sides == NULL || l->border_of == NULL || part->heads == NULL)
        return STORM_ERR_NOMEM;
    for (size_t i = 0; i < n_ghosts; i++)
        l->border_of[i] = -1;
    return STORM_OK;
}

/* The array of faces, shrunk to its size if much was reserved. */
static storm_status layout_take_faces(struct layout *l,
                                      struct voronoi_links *links)
{
    struct storm_memory *memory = l->mesh->env->memory;
    struct voronoi_part *part = l->part;
    part->n_faces = links->n;
    if (links->faces_capacity - links->n <= links->n / 8) {
        part->faces = links->faces;
        links->faces = NULL;
        return STORM_OK;
    }
    part->faces =
        storm_alloc(memory, layout_label, (links->n + 1) * sizeof *part->faces);
    if (part->faces == NULL)
        return STORM_ERR_NOMEM;
    if (links->n > 0)
        memcpy(part->faces, links->faces, links->n * sizeof *part->faces);
    storm_free(memory, links->faces);
    links->faces = NULL;
    return STORM_OK;
}

static storm_status layout_blocks(struct layout *l,
                                  const struct voronoi_links *links)
{
    struct storm_memory *memory = l->mesh->env->memory;
    struct voronoi_part *part = l->part;
    uint32_t n_blocks = 0;
    storm_status status = layout_heads(l, links, &n_blocks);
    if (status < 0)
        return status;
    part->blocks = storm_alloc(memory, layout_label,
                               ((size_t)n_blocks + 1) * sizeof *part->blocks);
    part->refs = storm_alloc(memory, layout_label,
                             ((size_t)n_blocks + 1) * VORONOI_WIDTH *
                                 sizeof *part->refs);
    if (part->blocks == NULL || part->refs == NULL)
        return STORM_ERR_NOMEM;
    return layout_sides(l, links);
}

static storm_status layout_cells(struct layout *l)
{
    struct storm_memory *memory = l->mesh->env->memory;
    struct voronoi_part *part = l->part;
    size_t n = (size_t)part->base.n_cells;
    part->volume = storm_alloc(memory, layout_label, (n + 1) * sizeof(double));
    part->centroid =
        storm_alloc(memory, layout_label, (n + 1) * sizeof *part->centroid);
    if (part->volume == NULL || part->centroid == NULL)
        return STORM_ERR_NOMEM;
    for (size_t c = 0; c < n; c++)
        layout_cell(l, c);
    return STORM_OK;
}

storm_status voronoi_lay_out(const struct storm_mesh *mesh,
                             struct voronoi_links *links,
                             struct voronoi_part *part)
{
    struct storm_memory *memory = mesh->env->memory;
    struct layout l = {.mesh = mesh, .part = part};
    storm_status status = layout_reserve(&l);
    if (status >= 0)
        status = layout_take_faces(&l, links);
    if (status >= 0)
        status = layout_walls(&l);
    if (status >= 0)
        status = layout_blocks(&l, links);
    if (status >= 0)
        status = layout_bare(&l, links);
    voronoi_links_free(memory, links); /* before more memory is needed */
    if (status >= 0)
        status = layout_cells(&l);
    storm_free(memory, l.border_of);
    storm_free(memory, l.n_sides);
    return status;
}

void voronoi_free_part(const struct storm_mesh *mesh,
                       struct storm_mesh_part *base)
{
    struct voronoi_part *part = (struct voronoi_part *)base;
    struct storm_memory *memory = mesh->env->memory;
    if (part == NULL)
        return;
    voronoi_points_free(&part->points, memory);
    storm_free(memory, part->base.tags);
    storm_free(memory, part->heads);
    storm_free(memory, part->blocks);
    storm_free(memory, part->refs);
    storm_free(memory, part->faces);
    storm_free(memory, part->volume);
    storm_free(memory, part->centroid);
    storm_free(memory, part->radius);
    storm_free(memory, part->borders);
    storm_free(memory, part->first_bare);
    storm_free(memory, part->bare);
    storm_free(memory, part->first_key);
    storm_free(memory, part);
}
