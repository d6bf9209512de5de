/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cells themselves: mesh.h5, which has boxes as hexahedra and Voronoi cells
 * as polyhedra, and partition.csv, which says whose they are.
 *
 * Corners are not shared between cells: each rank numbers its own after those
 * of the ranks before it, and cells are in order of ids.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>

#include "base/page.h"
#include "io/io_h5.h"
#include "mesh/mesh_ops.h"
#include "mesh/voronoi/voronoi_polyhedron.h"
#include "physics/imc.h"
#include "run/run.h"

enum { MESH_CORNERS = 8, MESH_POLYHEDRON = 16 };

/* This rank's share. Polyhedra are built as they are asked for, in order, and
 * forgotten: they take more memory than the mesh. */
struct mesh_share {
    const struct storm_imc *imc;
    uint64_t first_point; /* corners of ranks before */
    size_t n_points, n_words;

    /* Voronoi: the cell in hand */
    struct voronoi_polyhedron polyhedron;
    int64_t *words;
    size_t words_capacity;
    storm_cell_idx next_cell; /* after it */
    uint64_t next_point;      /* after its corners */
    size_t n_left;            /* rows of it that are to be handed out */
    storm_status status;      /* of building */
};

/* ---- rows ----------------------------------------------------------------- */

/* The corners of a box in the order of a hexahedron. */
static const int mesh_ends[MESH_CORNERS][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0},
                                               {0, 1, 0}, {0, 0, 1}, {1, 0, 1},
                                               {1, 1, 1}, {0, 1, 1}};

static void mesh_fill_box_points(void *self, size_t first, size_t n, void *out)
{
    const struct storm_imc *imc = ((const struct mesh_share *)self)->imc;
    double *rows = out, bounds[2][3];
    for (size_t i = 0; i < n; i++) {
        const size_t corner = (first + i) % MESH_CORNERS;
        if (corner == 0 || i == 0)
            storm_mesh_bounds(imc->mesh,
                              (storm_cell_idx)((first + i) / MESH_CORNERS),
                              bounds[0], bounds[1]);
        for (size_t d = 0; d < 3; d++)
            rows[3 * i + d] = bounds[mesh_ends[corner][d]][d];
    }
}

static void mesh_fill_box_corners(void *self, size_t first, size_t n, void *out)
{
    const struct mesh_share *share = self;
    int64_t *rows = out;
    for (size_t i = 0; i < n * MESH_CORNERS; i++)
        rows[i] = (int64_t)(share->first_point + first * MESH_CORNERS + i);
}

static void mesh_fill_generators(void *self, size_t first, size_t n, void *out)
{
    const struct storm_imc *imc = ((const struct mesh_share *)self)->imc;
    const struct voronoi_part *part = voronoi_part_of(imc->mesh);
    double *rows = out;
    for (size_t i = 0; i < n; i++)
        memcpy(&rows[3 * i], part->heads[first + i].generator,
               3 * sizeof *rows);
}

static void mesh_fill_volume(void *self, size_t first, size_t n, void *out)
{
    const struct storm_imc *imc = ((const struct mesh_share *)self)->imc;
    memcpy(out, imc->volume + first, n * sizeof *imc->volume);
}

static void mesh_fill_material(void *self, size_t first, size_t n, void *out)
{
    const struct storm_imc *imc = ((const struct mesh_share *)self)->imc;
    double *rows = out;
    for (size_t i = 0; i < n; i++)
        rows[i] = (double)imc->material[first + i];
}

/* ---- polyhedra ------------------------------------------------------------ */

/* Counts, and makes room for the largest. */
static storm_status mesh_count(struct mesh_share *share)
{
    const struct storm_imc *imc = share->imc;
    const struct voronoi_polyhedron *p = &share->polyhedron;
    size_t most = 0;
    storm_status status =
        voronoi_polyhedron_open(imc->mesh, &share->polyhedron);
    for (storm_cell_idx i = 0; i < imc->n_cells && status == STORM_OK; i++) {
        status = voronoi_polyhedron_build(&share->polyhedron, i);
        share->n_points += p->n_corners;
        share->n_words += p->n_words + 2;
        most = p->n_words + 2 > most ? p->n_words + 2 : most;
    }
    void *words = NULL;
    if (status == STORM_OK)
        status = storm_reserve(imc->env->memory, "output", sizeof(int64_t),
                               most + 1, &words, &share->words_capacity);
    share->words = words;
    return status;
}

/* The next cell. Rows are asked for from the first on, one after the other.
 * After an error, which keeps the last cell, all ranks go on to the end of the
 * file and then hear of it. */
static void mesh_next(struct mesh_share *share)
{
    storm_status status =
        voronoi_polyhedron_build(&share->polyhedron, share->next_cell++);
    if (status < 0)
        share->status = status;
    share->next_point += share->polyhedron.n_corners;
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
    const struct voronoi_polyhedron *p = &share->polyhedron;
    double(*rows)[3] = out;
    if (first == 0)
        mesh_rewind(share);
    for (size_t i = 0; i < n; i++, share->n_left--) {
        if (share->n_left == 0) {
            mesh_next(share);
            share->n_left = p->n_corners;
        }
        memcpy(rows[i], p->corners[p->n_corners - share->n_left], sizeof *rows);
    }
}

/* As XDMF wants it: a word for the kind, the number of faces, then for each
 * face the number of corners and the corners. Returns how many words. */
static size_t mesh_spell(struct mesh_share *share)
{
    const struct voronoi_polyhedron *p = &share->polyhedron;
    const int64_t first = (int64_t)(share->next_point - p->n_corners);
    const int32_t *from = p->faces;
    int64_t *to = share->words;
    *to++ = MESH_POLYHEDRON;
    *to++ = (int64_t)p->n_faces;
    for (size_t i = 0; i < p->n_faces; i++) {
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
    const size_t *n_words = &share->polyhedron.n_words;
    int64_t *rows = out;
    if (first == 0)
        mesh_rewind(share);
    for (size_t i = 0; i < n; i++, share->n_left--) {
        if (share->n_left == 0) {
            mesh_next(share);
            share->n_left = mesh_spell(share);
        }
        rows[i] = share->words[*n_words + 2 - share->n_left];
    }
}

/* ---- mesh.h5 -------------------------------------------------------------- */

static storm_status mesh_write(const struct run *run, struct mesh_share *share)
{
    const size_t n = (size_t)share->imc->n_cells;
    const struct output_array boxes[] = {{"points", OUTPUT_REAL, 3,
                                          share->n_points, share,
                                          mesh_fill_box_points},
                                         {"corners", OUTPUT_WHOLE, MESH_CORNERS,
                                          n, share, mesh_fill_box_corners}};
    const struct output_array polyhedra[] = {
        {"points", OUTPUT_REAL, 3, share->n_points, share, mesh_fill_points},
        {"cells", OUTPUT_WHOLE, 1, share->n_words, share, mesh_fill_words},
        {"generator", OUTPUT_REAL, 3, n, share, mesh_fill_generators}};
    const struct output_array common[] = {
        {"volume", OUTPUT_REAL, 1, n, share, mesh_fill_volume},
        {"material", OUTPUT_REAL, 1, n, share, mesh_fill_material}};
    struct output_h5 *file = NULL;
    storm_status status =
        output_h5_create(run->context, run->out_dir, "mesh.h5", &file);
    for (size_t i = 0; i < 3 && status == STORM_OK; i++)
        if (run->n_words > 0)
            status = output_h5_put(file, &polyhedra[i]);
        else if (i < 2)
            status = output_h5_put(file, &boxes[i]);
    for (size_t i = 0; i < 2 && status == STORM_OK; i++)
        status = output_h5_put(file, &common[i]);
    storm_status closed = output_h5_close(file);
    return status < 0 ? status : closed;
}

storm_status output_mesh(struct run *run)
{
    struct mesh_share share = {.imc = run->imc};
    bool is_voronoi = run->mesh->ops == &storm_mesh_voronoi;
    storm_status status = is_voronoi ? mesh_count(&share) : STORM_OK;
    if (!is_voronoi)
        share.n_points = (size_t)run->imc->n_cells * MESH_CORNERS;
    status = storm_context_agree(run->context, status);
    share.first_point = share.n_points;
    if (status == STORM_OK)
        status = storm_context_before(run->context, &share.first_point, 1);
    uint64_t sizes[2] = {share.n_points, share.n_words};
    if (status == STORM_OK)
        status =
            storm_context_reduce(run->context, sizes, 2, MPI_UINT64_T, MPI_SUM);
    if (status == STORM_OK) {
        run->n_points = sizes[0];
        run->n_words = sizes[1];
        status = mesh_write(run, &share);
    }
    if (status == STORM_OK)
        status = share.status;
    voronoi_polyhedron_close(&share.polyhedron);
    storm_free(run->imc->env->memory, share.words);
    return storm_context_agree(run->context, status);
}

/* ---- partition.csv -------------------------------------------------------- */

storm_status output_partition(const struct run *run)
{
    const uint64_t *cut = run->mesh->cut;
    struct storm_page page = {0};
    storm_page_add(&page, "rank,first_cell,cells\n");
    for (int r = 0; r < storm_context_size(run->context); r++)
        storm_page_add(&page, "%d,%" PRIu64 ",%" PRIu64 "\n", r, cut[r],
                       cut[r + 1] - cut[r]);
    char *text = storm_page_end(&page);
    storm_status status = text != NULL ? output_text(run->context, run->out_dir,
                                                     "partition.csv", text)
                                       : STORM_ERR_NOMEM;
    free(text);
    return status;
}
