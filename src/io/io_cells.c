/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_cells.h"

#include <storm/change.h>

#include "base/env.h"
#include "base/hash.h"
#include "io/io_means.h"

static const char cells_label[] = "output";

size_t io_cells_n(const struct storm_mesh *mesh)
{
    return storm_mesh_is_in_order(mesh) ? (size_t)storm_mesh_n_cells(mesh)
                                        : storm_mesh_n_rows(mesh);
}

storm_status io_cells_put(const struct io_source *source,
                          struct io_h5_writer *file,
                          const struct io_cells *cells)
{
    struct storm_memory *memory = storm_context_env(source->context)->memory;
    size_t n = io_cells_n(source->mesh);
    size_t row_bytes = cells->columns * sizeof(uint64_t);
    if (storm_mesh_is_in_order(source->mesh)) /* CELLS-2 */
        return io_h5_put_plain(file, cells->name, cells->kind, cells->columns,
                               cells->rows, n);
    void *rows = storm_alloc(memory, cells_label, n * row_bytes + 1);
    storm_status status =
        storm_context_agree(source->context,
                            rows != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK)
        status = storm_mesh_rows(source->mesh, row_bytes, cells->rows, rows);
    if (status == STORM_OK)
        status = io_h5_put_plain(file, cells->name, cells->kind, cells->columns,
                                 rows, n);
    storm_free(memory, rows);
    return status;
}

/* The first row of this rank's share. */
static uint64_t cells_first(const struct io_source *source)
{
    const struct storm_mesh *mesh = source->mesh;
    uint64_t rank = (uint64_t)storm_context_rank(source->context);
    uint64_t size = (uint64_t)storm_context_size(source->context);
    if (!storm_mesh_is_in_order(mesh))
        return storm_mesh_n_cells_total(mesh) * rank / size;
    return storm_mesh_n_cells(mesh) > 0 ? storm_mesh_cell_id(mesh, 0) : 0;
}

storm_status io_cells_put_mean(const struct io_means *means,
                               struct io_h5_writer *file, const char *name,
                               const double *values)
{
    const struct io_source *source = means->source;
    struct storm_memory *memory = storm_context_env(source->context)->memory;
    struct io_means_rows share = {.name = name,
                                  .columns = 1,
                                  .first = cells_first(source),
                                  .n = io_cells_n(source->mesh),
                                  .values = values};
    if (storm_mesh_is_in_order(source->mesh)) /* CELLS-2 */
        return io_means_put(means, file, &share);
    double *rows =
        storm_alloc(memory, cells_label, (share.n + 1) * sizeof *rows);
    storm_status status =
        storm_context_agree(source->context,
                            rows != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK)
        status = storm_mesh_rows(source->mesh, sizeof *rows, values, rows);
    share.values = rows;
    if (status == STORM_OK)
        status = io_means_put(means, file, &share);
    storm_free(memory, rows);
    return status;
}

/* ---- tags ---------------------------------------------------------------- */

/* CELLS-1. Collective. */
static storm_status cells_need_tags(const struct io_source *source,
                                    bool *need_out)
{
    const struct storm_mesh *mesh = source->mesh;
    uint64_t end = 0; /* after the largest tag */
    *need_out = false;
    if (storm_mesh_is_in_order(mesh))
        return STORM_OK;
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++)
        if (storm_mesh_cell_id(mesh, i) >= end)
            end = storm_mesh_cell_id(mesh, i) + 1;
    storm_status status =
        storm_context_reduce(source->context, &end, 1, MPI_UINT64_T, MPI_MAX);
    *need_out = end != storm_mesh_n_cells_total(mesh);
    return status;
}

storm_status io_cells_put_tags(const struct io_source *source,
                               struct io_h5_writer *file)
{
    struct storm_memory *memory = storm_context_env(source->context)->memory;
    const size_t n = (size_t)storm_mesh_n_cells(source->mesh);
    bool need;
    storm_status status = cells_need_tags(source, &need);
    if (status < 0 || !need)
        return status;
    int64_t *tags = storm_alloc(memory, cells_label, (n + 1) * sizeof *tags);
    status = storm_context_agree(source->context,
                                 tags != NULL ? STORM_OK : STORM_ERR_NOMEM);
    for (size_t i = 0; i < n && status == STORM_OK; i++)
        tags[i] = (int64_t)storm_mesh_cell_id(source->mesh, (storm_cell_idx)i);
    if (status == STORM_OK)
        status =
            io_cells_put(source, file,
                         &(struct io_cells){"tag", IO_H5_INTEGER, 1, tags});
    storm_free(memory, tags);
    return status;
}

storm_status io_cells_have_generators(const struct io_source *source,
                                      bool *have_out)
{
    double generator_cm[3];
    int have = storm_mesh_n_cells(source->mesh) > 0 &&
               storm_mesh_generator(source->mesh, 0, generator_cm) == STORM_OK;
    storm_status status =
        storm_context_reduce(source->context, &have, 1, MPI_INT, MPI_MAX);
    *have_out = have != 0;
    return status;
}

storm_status io_cells_hash(const struct storm_context *context,
                           const struct storm_mesh *mesh, uint64_t *hash_out)
{
    uint64_t sum = 0;
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++) {
        double centre[3];
        uint64_t hash = storm_hash_fold(0, storm_mesh_cell_id(mesh, i));
        hash = storm_hash_fold_real(hash, storm_mesh_volume_cm3(mesh, i));
        storm_mesh_centre(mesh, i, centre);
        for (size_t d = 0; d < 3; d++)
            hash = storm_hash_fold_real(hash, centre[d]);
        sum += hash;
    }
    storm_status status =
        storm_context_reduce(context, &sum, 1, MPI_UINT64_T, MPI_SUM);
    *hash_out = sum;
    return status;
}
