/* SPDX-License-Identifier: BSD-3-Clause */
/* What tracking reads: planes of cells, and what is behind them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/given/given_mesh.h"

static const char layout_label[] = "mesh cells";

struct layout {
    const struct storm_mesh *mesh;
    const struct storm_given_params *params;
    struct given_part *part;
};

/* ---- borders ------------------------------------------------------------ */

static storm_status layout_border(struct layout *l,
                                  const struct given_border *border,
                                  int32_t *next_out)
{
    struct given_part *part = l->part;
    void *array = part->borders;
    storm_status status =
        storm_reserve(l->mesh->env->memory, layout_label, sizeof *border,
                      part->n_borders + 1, &array, &part->borders_capacity);
    if (status < 0)
        return status;
    if (part->n_borders >= INT32_MAX)
        return STORM_ERR_NOMEM;
    part->borders = array;
    part->borders[part->n_borders] = *border;
    *next_out = ~(int32_t)part->n_borders++;
    return STORM_OK;
}

/* The axis that a plane is perpendicular to; -1: none. */
static int layout_axis(const double n[3])
{
    for (int d = 0; d < 3; d++)
        if (n[(d + 1) % 3] == 0.0 && n[(d + 2) % 3] == 0.0)
            return d;
    return -1;
}

/* What is behind a face: a local cell, or ~index of a border. */
static storm_status layout_behind(struct layout *l, size_t cell,
                                  const struct given_face *face,
                                  const struct given_plane *plane,
                                  int32_t *next_out)
{
    struct given_border border = {.tag = face->tag,
                                  .rank = face->rank,
                                  .idx = face->behind,
                                  .wall = -1,
                                  .axis = -1};
    if (face->rank == l->mesh->env->rank) {
        *next_out = face->behind;
        return STORM_OK;
    }
    if (face->rank < 0) {
        border.idx = -1;
        border.wall = face->behind;
        border.axis = layout_axis(plane->n);
        if (border.axis >= 0)
            border.at =
                l->part->heads[cell].point[border.axis] + plane->m[border.axis];
    }
    return layout_border(l, &border, next_out);
}

/* ---- planes ------------------------------------------------------------- */

static bool layout_same(const struct storm_plane *a,
                        const struct storm_plane *b, double size)
{
    bool same = fabs(a->distance - b->distance) <= GIVEN_SAME * size;
    for (int d = 0; d < 3; d++)
        same = same && fabs(a->normal[d] - b->normal[d]) <= GIVEN_SAME;
    return same;
}

/* The plane as given, with the normal that both sides use. */
static struct given_plane layout_given(const struct layout *l, size_t cell,
                                       const struct given_face *face)
{
    size_t f = (size_t)l->params->first_face[cell] + face->plane;
    struct given_plane plane;
    memcpy(plane.n, face->n, sizeof plane.n);
    memcpy(plane.m, &l->params->on_planes_cm[3 * f], sizeof plane.m);
    return plane;
}

/* Numbers of planes replace numbers as given (GIVEN-2). */
static size_t layout_number(struct layout *l, size_t cell,
                            struct given_plane *given,
                            struct storm_plane *units)
{
    uint64_t begin = l->part->first_face[cell];
    uint64_t end = l->part->first_face[cell + 1];
    double size = 0.0;
    size_t n = 0;
    for (uint64_t f = begin; f < end; f++)
        size += l->part->faces[f].area;
    size = sqrt(size);
    for (uint64_t f = begin; f < end; f++) {
        struct given_face *face = &l->part->faces[f];
        struct storm_plane unit = {.area = face->area};
        size_t k = 0;
        given[n] = layout_given(l, cell, face);
        given_unit_plane(&given[n], &unit);
        while (k < n && !layout_same(&units[k], &unit, size))
            k++;
        if (k < n)
            units[k].area += unit.area;
        else
            units[n++] = unit;
        face->plane = (uint32_t)k;
    }
    return n;
}

/* A plane with several faces. */
static storm_status layout_split(struct layout *l, size_t cell, uint32_t plane,
                                 const struct given_plane *given,
                                 int32_t *next_out)
{
    struct given_part *part = l->part;
    struct given_border border = {.rank = GIVEN_SPLIT,
                                  .idx = -1,
                                  .wall = -1,
                                  .axis = -1,
                                  .choice = (uint32_t)part->n_choices};
    uint64_t begin = part->first_face[cell];
    int wall = -1;
    for (uint64_t f = begin; f < part->first_face[cell + 1]; f++) {
        const struct given_face *face = &part->faces[f];
        struct given_choice choice = {.face = (uint32_t)(f - begin),
                                      .located = -1};
        void *array = part->choices;
        if (face->plane != plane)
            continue;
        if (face->rank < 0 && wall >= 0 && wall != face->behind)
            return given_refuse(l->mesh->env, part->base.tags[cell],
                                "boundaries %d and %d lie in one plane of it: "
                                "expected one",
                                wall, (int)face->behind);
        wall = face->rank < 0 ? face->behind : wall;
        storm_status status =
            storm_reserve(l->mesh->env->memory, layout_label, sizeof choice,
                          part->n_choices + 1, &array, &part->choices_capacity);
        if (status >= 0) {
            part->choices = array;
            status = layout_behind(l, cell, face, given, &choice.next);
        }
        if (status < 0)
            return status;
        part->choices[part->n_choices++] = choice;
        border.n_choices++;
    }
    return layout_border(l, &border, next_out);
}

/* What is behind a plane of a cell. */
static storm_status layout_next(struct layout *l, size_t cell, uint32_t plane,
                                const struct given_plane *given,
                                int32_t *next_out)
{
    const struct given_part *part = l->part;
    const struct given_face *only = NULL;
    int n = 0;
    for (uint64_t f = part->first_face[cell]; f < part->first_face[cell + 1];
         f++)
        if (part->faces[f].plane == plane) {
            only = &part->faces[f];
            n++;
        }
    return n == 1 ? layout_behind(l, cell, only, given, next_out)
                  : layout_split(l, cell, plane, given, next_out);
}

/* ---- cells -------------------------------------------------------------- */

/* Rounded up. */
static float layout_float(double x)
{
    float f = (float)x;
    return (double)f < x ? nextafterf(f, INFINITY) : f;
}

static storm_status layout_radius(struct layout *l, size_t cell,
                                  struct storm_planes *planes)
{
    double radius = l->params->radii_cm != NULL
                        ? l->params->radii_cm[cell]
                        : given_radius(planes) * (1.0 + 0x1p-20);
    if (!(radius > 0.0))
        return given_refuse(l->mesh->env, l->part->base.tags[cell],
                            "its planes do not enclose its point: expected "
                            "normals that point outward, and a face on every "
                            "side");
    l->part->heads[cell].radius = layout_float(radius);
    return STORM_OK;
}

/* Room for as many blocks as if each face had a plane of its own. */
static storm_status layout_reserve(struct layout *l)
{
    struct storm_memory *memory = l->mesh->env->memory;
    struct given_part *part = l->part;
    size_t n = 1;
    for (size_t c = 0; c < (size_t)part->base.n_cells; c++)
        n += (size_t)(part->first_face[c + 1] - part->first_face[c] +
                      STORM_PLANES_WIDTH - 1) /
             STORM_PLANES_WIDTH;
    if (n >= UINT32_MAX)
        return STORM_ERR_NOMEM;
    part->blocks = storm_alloc(memory, layout_label, n * sizeof *part->blocks);
    part->planes = storm_alloc(memory, layout_label,
                               n * STORM_PLANES_WIDTH * sizeof *part->planes);
    return part->blocks != NULL && part->planes != NULL ? STORM_OK
                                                        : STORM_ERR_NOMEM;
}

/* A plane, or an unused place. */
static storm_status layout_place(struct layout *l, size_t cell, size_t i,
                                 const struct given_plane *given,
                                 const struct storm_plane *unit)
{
    struct given_part *part = l->part;
    size_t place = (size_t)part->heads[cell].first_block * STORM_PLANES_WIDTH;
    struct storm_planes_block *block =
        &part->blocks[(place + i) / STORM_PLANES_WIDTH];
    size_t k = i % STORM_PLANES_WIDTH;
    storm_planes_place(block, k, part->heads[cell].radius, unit, 0);
    if (given == NULL)
        return STORM_OK;
    part->planes[place + i] = *given;
    return layout_next(l, cell, (uint32_t)i, given, &block->next[k]);
}

static storm_status layout_cell(struct layout *l, size_t cell)
{
    struct given_part *part = l->part;
    struct given_head *head = &part->heads[cell];
    size_t n_faces =
        (size_t)(part->first_face[cell + 1] - part->first_face[cell]);
    struct given_plane given[n_faces + 1];
    struct storm_plane units[n_faces + 1];
    size_t n = layout_number(l, cell, given, units);
    size_t n_blocks = (n + STORM_PLANES_WIDTH - 1) / STORM_PLANES_WIDTH;
    struct storm_planes planes = {units, n, 0.0};
    storm_status status = layout_radius(l, cell, &planes);
    for (size_t i = 0; i < n_blocks * STORM_PLANES_WIDTH && status >= 0; i++)
        status = layout_place(l, cell, i, i < n ? &given[i] : NULL,
                              i < n ? &units[i] : NULL);
    head[1].first_block = head->first_block + (uint32_t)n_blocks;
    return status;
}

/* Could the points of two cells stand for the plane between them? */
static bool layout_bisects(const struct given_part *part, size_t cell)
{
    const struct given_head *head = &part->heads[cell];
    size_t first = (size_t)head->first_block * STORM_PLANES_WIDTH;
    size_t end = (size_t)head[1].first_block * STORM_PLANES_WIDTH;
    bool bisects = true;
    for (size_t i = first; i < end; i++) {
        const struct storm_planes_block *block =
            &part->blocks[i / STORM_PLANES_WIDTH];
        int32_t next = block->next[i % STORM_PLANES_WIDTH];
        if (next < 0 || !storm_planes_is_used(block, i % STORM_PLANES_WIDTH))
            continue;
        for (int d = 0; d < 3; d++) {
            double n = part->heads[next].point[d] - head->point[d];
            bisects = bisects && part->planes[i].n[d] == n &&
                      part->planes[i].m[d] == 0.5 * n;
        }
    }
    return bisects;
}

storm_status given_lay_out(const struct storm_mesh *mesh,
                           const struct storm_given_params *params,
                           struct given_part *part)
{
    struct layout l = {.mesh = mesh, .params = params, .part = part};
    storm_status status = layout_reserve(&l);
    for (size_t c = 0; c < (size_t)part->base.n_cells && status >= 0; c++) {
        memcpy(part->heads[c].point, &params->points_cm[3 * c],
               sizeof part->heads[c].point);
        status = layout_cell(&l, c);
    }
    part->bisects = true;
    for (size_t c = 0; c < (size_t)part->base.n_cells && status >= 0; c++)
        part->bisects = part->bisects && layout_bisects(part, c);
    return status < 0 ? status : given_check_cells(mesh, part);
}
