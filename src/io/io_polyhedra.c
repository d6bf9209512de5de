/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Polyhedra in order of the tags.
 *
 * They take more memory than the mesh, about 1 kB each. Where tags are places
 * one is built at a time. Else all go to the ranks that write them, and there
 * are up to four copies for a moment, and then one.
 */
#include <string.h>

#include <storm/change.h>

#include "base/env.h"
#include "io/io_cells.h"

static const char polyhedra_label[] = "output";

/* A polyhedron as a row: this, the corners, and the faces, in whole words. */
struct polyhedra_head {
    uint64_t n_corners, n_faces, n_words;
};

static size_t polyhedra_bytes(const struct storm_polyhedron *cell)
{
    size_t words = (cell->n_words * sizeof *cell->faces + 7) / 8;
    return sizeof(struct polyhedra_head) +
           cell->n_corners * sizeof *cell->corners_cm + 8 * words;
}

static void polyhedra_write(const struct storm_polyhedron *cell, char *row)
{
    const struct polyhedra_head head = {cell->n_corners, cell->n_faces,
                                        cell->n_words};
    size_t corners = cell->n_corners * sizeof *cell->corners_cm;
    memcpy(row, &head, sizeof head);
    if (corners > 0)
        memcpy(row + sizeof head, cell->corners_cm, corners);
    if (cell->n_words > 0)
        memcpy(row + sizeof head + corners, cell->faces,
               cell->n_words * sizeof *cell->faces);
}

static void polyhedra_read(const char *row, struct storm_polyhedron *cell)
{
    struct polyhedra_head head;
    memcpy(&head, row, sizeof head);
    const void *corners = row + sizeof head;
    const void *faces =
        row + sizeof head + head.n_corners * sizeof *cell->corners_cm;
    *cell = (struct storm_polyhedron){.size = sizeof *cell,
                                      .n_corners = (size_t)head.n_corners,
                                      .corners_cm = (const double(*)[3])corners,
                                      .n_faces = (size_t)head.n_faces,
                                      .faces = faces,
                                      .n_words = (size_t)head.n_words};
}

/* ---- exchange ------------------------------------------------------------ */

/* Rows of this rank's cells. */
struct polyhedra_own {
    char *rows;
    size_t capacity, *bytes;
};

static storm_status polyhedra_build(struct io_polyhedra *p, size_t n,
                                    struct polyhedra_own *own)
{
    struct storm_polyhedron cell = STORM_POLYHEDRON_INIT;
    size_t at = 0;
    storm_status status = STORM_OK;
    own->bytes =
        storm_alloc(p->memory, polyhedra_label, (n + 1) * sizeof *own->bytes);
    if (own->bytes == NULL)
        return STORM_ERR_NOMEM;
    for (size_t i = 0; i < n && status == STORM_OK; i++) {
        status = storm_polyhedra_build(p->builder, (storm_cell_idx)i, &cell);
        if (status < 0)
            return status;
        own->bytes[i] = polyhedra_bytes(&cell);
        void *rows = own->rows;
        status = storm_reserve(p->memory, polyhedra_label, 1,
                               at + own->bytes[i], &rows, &own->capacity);
        own->rows = rows;
        if (status < 0)
            return status;
        memset(own->rows + at, 0, own->bytes[i]);
        polyhedra_write(&cell, own->rows + at);
        at += own->bytes[i];
    }
    return STORM_OK;
}

/* Room for those that this rank writes. Collective. */
static storm_status polyhedra_reserve(const struct io_source *source,
                                      const struct polyhedra_own *own,
                                      struct io_polyhedra *p)
{
    size_t n = storm_mesh_n_rows(source->mesh), at = 0;
    p->first =
        storm_alloc(p->memory, polyhedra_label, (n + 1) * sizeof *p->first);
    storm_status status =
        storm_context_agree(source->context,
                            p->first != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK)
        status = storm_mesh_rows(source->mesh, sizeof *own->bytes, own->bytes,
                                 p->first);
    if (status < 0)
        return status;
    for (size_t i = 0; i <= n; i++) {
        size_t bytes = i < n ? p->first[i] : 0;
        p->first[i] = at;
        at += bytes;
    }
    p->rows = storm_alloc(p->memory, polyhedra_label, at + 1);
    return storm_context_agree(source->context,
                               p->rows != NULL ? STORM_OK : STORM_ERR_NOMEM);
}

/* Collective. */
static storm_status polyhedra_gather(const struct io_source *source,
                                     struct io_polyhedra *p)
{
    struct polyhedra_own own = {.rows = NULL};
    size_t n = (size_t)storm_mesh_n_cells(source->mesh);
    storm_status status =
        storm_context_agree(source->context, polyhedra_build(p, n, &own));
    storm_polyhedra_close(p->builder);
    p->builder = NULL;
    if (status == STORM_OK)
        status = polyhedra_reserve(source, &own, p);
    if (status == STORM_OK)
        status =
            storm_mesh_rows_sized(source->mesh, own.bytes, own.rows, p->rows);
    storm_free(p->memory, own.bytes);
    storm_free(p->memory, own.rows);
    return status;
}

storm_status io_polyhedra_open(const struct io_source *source,
                               struct io_polyhedra *polyhedra_out)
{
    struct io_polyhedra *p = polyhedra_out;
    *p = (struct io_polyhedra){.memory =
                                   storm_context_env(source->context)->memory};
    storm_status status =
        storm_context_agree(source->context,
                            storm_polyhedra_open(source->mesh, &p->builder));
    return status < 0 || storm_mesh_is_in_order(source->mesh)
               ? status
               : polyhedra_gather(source, p);
}

storm_status io_polyhedra_get(struct io_polyhedra *polyhedra, size_t i,
                              struct storm_polyhedron *cell_out)
{
    if (polyhedra->builder != NULL)
        return storm_polyhedra_build(polyhedra->builder, (storm_cell_idx)i,
                                     cell_out);
    polyhedra_read(polyhedra->rows + polyhedra->first[i], cell_out);
    return STORM_OK;
}

void io_polyhedra_close(struct io_polyhedra *polyhedra)
{
    storm_polyhedra_close(polyhedra->builder);
    storm_free(polyhedra->memory, polyhedra->rows);
    storm_free(polyhedra->memory, polyhedra->first);
}
