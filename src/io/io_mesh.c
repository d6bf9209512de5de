/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mesh: mesh.h5, or mesh-<step>.h5 once it has changed, with boxes as
 * hexahedra and other cells as polyhedra.
 *
 * Corners are not shared between cells: each rank numbers those of the cells it
 * writes after those of the ranks before it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/env.h"
#include "io/io_cells.h"
#include "io/io_fields.h"
#include "io/io_h5.h"

enum { MESH_BOX_CORNERS = 8, MESH_POLYHEDRON = 16 };

static const char mesh_label[] = "output";

/* What this rank writes, one polyhedron at a time, in order. */
struct mesh_share {
    const struct io_source *source;
    struct storm_memory *memory;
    size_t n_cells, n_points, n_words;
    uint64_t first_point; /* corners of ranks before */
    double *values;       /* three for each local cell */

    struct io_polyhedra polyhedra;
    struct storm_polyhedron cell; /* the current one */
    int64_t *words;               /* its encoding */
    size_t words_capacity;
    size_t next_cell;    /* after it */
    uint64_t next_point; /* after its corners */
    size_t n_left;       /* its rows that are not written yet */
    storm_status status; /* of building cells */
};

/* ---- polyhedra ----------------------------------------------------------- */

/* Counts points and words, and makes room for the largest cell. */
static storm_status mesh_count(struct mesh_share *share)
{
    size_t max = 0;
    storm_status status = STORM_OK;
    for (size_t i = 0; i < share->n_cells && status == STORM_OK; i++) {
        status = io_polyhedra_get(&share->polyhedra, i, &share->cell);
        share->n_points += share->cell.n_corners;
        share->n_words += share->cell.n_words + 2;
        max = share->cell.n_words > max ? share->cell.n_words : max;
    }
    void *words = NULL;
    if (status == STORM_OK)
        status = storm_reserve(share->memory, mesh_label, sizeof(int64_t),
                               max + 3, &words, &share->words_capacity);
    share->words = words;
    return status;
}

/* The next cell. Rows are asked for from the first on, one after the other.
 * After an error all ranks go on to the end of the file, which is then
 * removed. */
static bool mesh_next(struct mesh_share *share)
{
    storm_status status =
        io_polyhedra_get(&share->polyhedra, share->next_cell++, &share->cell);
    if (status < 0)
        share->status = status;
    share->next_point += share->cell.n_corners;
    return share->status == STORM_OK;
}

static void mesh_rewind(struct mesh_share *share)
{
    share->next_cell = 0;
    share->next_point = share->first_point;
    share->n_left = 0;
}

static void mesh_fill_points(void *self, size_t first, size_t n, void *out)
{
    struct mesh_share *share = self;
    const struct storm_polyhedron *cell = &share->cell;
    double(*rows)[3] = out;
    if (first == 0)
        mesh_rewind(share);
    memset(rows, 0, n * sizeof *rows);
    for (size_t i = 0; i < n; i++, share->n_left--) {
        if (share->n_left == 0) {
            if (!mesh_next(share))
                return;
            share->n_left = cell->n_corners;
        }
        memcpy(rows[i], cell->corners_cm[cell->n_corners - share->n_left],
               sizeof *rows);
    }
}

/* The encoding of XDMF: the kind, the number of faces, then for each face the
 * number of corners and the corners. Returns the number of words. */
static size_t mesh_encode(struct mesh_share *share)
{
    const struct storm_polyhedron *cell = &share->cell;
    const int64_t first = (int64_t)(share->next_point - cell->n_corners);
    const int32_t *from = cell->faces;
    int64_t *to = share->words;
    *to++ = MESH_POLYHEDRON;
    *to++ = (int64_t)cell->n_faces;
    for (size_t i = 0; i < cell->n_faces; i++) {
        int32_t n = *from++;
        *to++ = n;
        for (; n > 0; n--)
            *to++ = first + *from++;
    }
    return (size_t)(to - share->words);
}

static void mesh_fill_words(void *self, size_t first, size_t n, void *out)
{
    struct mesh_share *share = self;
    int64_t *rows = out;
    if (first == 0)
        mesh_rewind(share);
    memset(rows, 0, n * sizeof *rows);
    for (size_t i = 0; i < n; i++, share->n_left--) {
        if (share->n_left == 0) {
            if (!mesh_next(share))
                return;
            share->n_left = mesh_encode(share);
        }
        rows[i] = share->words[share->cell.n_words + 2 - share->n_left];
    }
}

/* ---- other rows ---------------------------------------------------------- */

/* Numbers of the corners of boxes: consecutive. */
static void mesh_fill_corners(void *self, size_t first, size_t n, void *out)
{
    const struct mesh_share *share = self;
    int64_t *rows = out;
    for (size_t i = 0; i < n * MESH_BOX_CORNERS; i++)
        rows[i] = (int64_t)(share->first_point + first * MESH_BOX_CORNERS + i);
}

/* Generators, if the cells have them. Collective. */
static storm_status mesh_put_generators(struct mesh_share *share,
                                        struct io_h5_writer *file)
{
    const struct storm_mesh *mesh = share->source->mesh;
    const struct io_cells rows = {"generator", IO_H5_REAL, 3, share->values};
    storm_cell_idx n = storm_mesh_n_cells(mesh);
    bool have;
    storm_status status = io_cells_have_generators(share->source, &have);
    if (status < 0 || !have)
        return status;
    for (storm_cell_idx i = 0; i < n && status == STORM_OK; i++)
        status = storm_mesh_generator(mesh, i, &share->values[3 * (size_t)i]);
    status = storm_context_agree(share->source->context, status);
    return status < 0 ? status : io_cells_put(share->source, file, &rows);
}

/* Centres of mass. Collective. */
static storm_status mesh_put_centroids(struct mesh_share *share,
                                       struct io_h5_writer *file)
{
    const struct storm_mesh *mesh = share->source->mesh;
    const struct io_cells rows = {"centroid", IO_H5_REAL, 3, share->values};
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++)
        storm_mesh_centre(mesh, i, &share->values[3 * (size_t)i]);
    storm_status status = io_cells_put(share->source, file, &rows);
    return status < 0 ? status : io_put_unit(share->source, file, rows.name);
}

/* The attribute name_3 of `material` is the name of material 3. Collective. */
static storm_status mesh_put_names(struct mesh_share *share,
                                   struct io_h5_writer *file)
{
    const struct io_source *source = share->source;
    storm_status status =
        io_h5_put_text(file, "material", "name_-1", "outside");
    for (size_t i = 0; i < source->n_materials && status == STORM_OK; i++) {
        const char *name = source->materials[i].name;
        char key[32];
        snprintf(key, sizeof key, "name_%zu", i);
        status =
            io_h5_put_text(file, "material", key, name != NULL ? name : "");
    }
    return status;
}

static storm_status mesh_put_field(struct mesh_share *share,
                                   struct io_h5_writer *file, const char *name,
                                   storm_imc_field field)
{
    storm_status status =
        storm_imc_get(share->source->imc, share->source->engine, field,
                      share->values);
    const struct io_cells rows = {name, IO_H5_REAL, 1, share->values};
    status = storm_context_agree(share->source->context, status);
    if (status == STORM_OK)
        status = io_cells_put(share->source, file, &rows);
    return status < 0 ? status : io_put_unit(share->source, file, name);
}

/* ---- the file ------------------------------------------------------------ */

static storm_status mesh_put_cells(struct mesh_share *share,
                                   struct io_h5_writer *file)
{
    const size_t n = share->n_cells;
    const struct io_h5_share points = {
        "points", IO_H5_REAL, 3, share->n_points, share, mesh_fill_points};
    const struct io_h5_share boxes = {
        "corners", IO_H5_INTEGER, MESH_BOX_CORNERS,
        n,         share,         mesh_fill_corners};
    const struct io_h5_share cells = {
        "cells", IO_H5_INTEGER, 1, share->n_words, share, mesh_fill_words};
    storm_status status = io_h5_put(file, &points);
    if (status == STORM_OK && storm_mesh_cells_are_boxes(share->source->mesh))
        return io_h5_put(file, &boxes);
    if (status == STORM_OK)
        status = io_h5_put(file, &cells);
    return status < 0 ? status : mesh_put_generators(share, file);
}

/* A mesh that moves or is from a file has not the box of the deck. */
static storm_status mesh_put_box(struct mesh_share *share,
                                 struct io_h5_writer *file)
{
    double box[2][3];
    bool is_root = storm_context_rank(share->source->context) == 0;
    storm_mesh_box(share->source->mesh, box[0], box[1]);
    storm_status status =
        io_h5_put_plain(file, "box", IO_H5_REAL, 3, box, is_root ? 2 : 0);
    if (status == STORM_OK)
        status = io_put_unit(share->source, file, "box");
    return status < 0 ? status : io_put_unit(share->source, file, "points");
}

static storm_status mesh_write(struct mesh_share *share, uint64_t mesh_step)
{
    struct io_h5_writer *file = NULL;
    char name[IO_MESH_NAME];
    io_mesh_name(mesh_step, name);
    storm_status status =
        io_h5_create(share->source->context, share->source->dir, name, &file);
    if (status == STORM_OK)
        status = io_put_head(share->source, file);
    if (status == STORM_OK)
        status = io_h5_put_number(file, "step", (double)mesh_step);
    if (status == STORM_OK)
        status = mesh_put_cells(share, file);
    if (status == STORM_OK)
        status = mesh_put_field(share, file, "volume", STORM_IMC_VOLUME);
    if (status == STORM_OK)
        status = mesh_put_field(share, file, "material", STORM_IMC_MATERIAL);
    if (status == STORM_OK)
        status = mesh_put_names(share, file);
    if (status == STORM_OK)
        status = mesh_put_centroids(share, file);
    if (status == STORM_OK)
        status = io_cells_put_tags(share->source, file);
    if (status == STORM_OK)
        status = mesh_put_box(share, file);
    return io_h5_finish(file, status < 0 ? status : share->status);
}

/* Collective. */
static storm_status mesh_open(struct mesh_share *share)
{
    size_t n = 3 * (size_t)storm_mesh_n_cells(share->source->mesh) + 1;
    storm_status status = io_polyhedra_open(share->source, &share->polyhedra);
    if (status < 0)
        return status;
    share->values =
        storm_alloc(share->memory, mesh_label, n * sizeof *share->values);
    status = share->values != NULL ? mesh_count(share) : STORM_ERR_NOMEM;
    return storm_context_agree(share->source->context, status);
}

/* Numbers the corners, and counts those of all ranks. Collective. */
static storm_status mesh_number(struct mesh_share *share,
                                struct io_series *series)
{
    const struct storm_context *context = share->source->context;
    uint64_t sizes[2] = {share->n_points, share->n_words};
    share->first_point = share->n_points;
    storm_status status = storm_context_exscan(context, &share->first_point, 1);
    if (status == STORM_OK)
        status = storm_context_reduce(context, sizes, 2, MPI_UINT64_T, MPI_SUM);
    if (status < 0)
        return status;
    series->n_points = sizes[0];
    series->n_words =
        storm_mesh_cells_are_boxes(share->source->mesh) ? 0 : sizes[1];
    return STORM_OK;
}

static storm_status mesh_file(const struct io_source *source,
                              struct io_series *series)
{
    struct mesh_share share = {.source = source,
                               .memory =
                                   storm_context_env(source->context)->memory,
                               .n_cells = io_cells_n(source->mesh),
                               .cell = STORM_POLYHEDRON_INIT};
    storm_status status = mesh_open(&share);
    if (status == STORM_OK)
        status = mesh_number(&share, series);
    if (status == STORM_OK)
        status = mesh_write(&share, series->mesh_step);
    io_polyhedra_close(&share.polyhedra);
    storm_free(share.memory, share.words);
    storm_free(share.memory, share.values);
    return storm_context_agree(source->context, status);
}

void io_mesh_name(uint64_t step, char name_out[IO_MESH_NAME])
{
    if (step == 0)
        snprintf(name_out, IO_MESH_NAME, "mesh.h5");
    else
        snprintf(name_out, IO_MESH_NAME, "mesh-%" PRIu64 ".h5", step);
}

storm_status io_write_mesh(const struct io_source *source,
                           struct io_series *series)
{
    uint64_t hash;
    storm_status status = io_cells_hash(source->context, source->mesh, &hash);
    if (status < 0)
        return status;
    if (series->mesh_hash != 0 && series->mesh_hash != hash) {
        series->mesh_step = source->step;
        series->n_points = 0;
    }
    series->mesh_hash = hash;
    return series->n_points > 0 ? STORM_OK : mesh_file(source, series);
}
