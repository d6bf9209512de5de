/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3 5; timeout: 20 */
/*
 * Rows of cells in order of their tags: equal shares, the right rows, of one
 * size and of different ones, and the same cells again on the way back. Tags
 * are places, or in no order and with gaps; also fewer cells than ranks.
 */
#include <string.h>

#include <mpi.h>

#include <storm/change.h>
#include <storm/context.h>

#include "base/env.h"
#include "support/check.h"
#include "support/mesh_tags.h"

enum { ROW = 13 }; /* bytes: not a multiple of words */

static void fill(storm_cell_id tag, size_t n, unsigned char *row)
{
    for (size_t k = 0; k < n; k++)
        row[k] = (unsigned char)(tag * 31 + 7 * k + tag / 200);
}

static size_t size_of(storm_cell_id tag)
{
    return (size_t)(tag % 23);
}

static void *room(const struct storm_mesh *mesh, size_t bytes)
{
    void *memory = storm_alloc(mesh->env->memory, "test", bytes + 1);
    CHECK(memory != NULL);
    return memory;
}

/* The tags of this rank's share, in order, all different. */
static storm_cell_id *check_order(const struct storm_mesh *mesh)
{
    size_t n = (size_t)storm_mesh_n_cells(mesh),
           n_rows = storm_mesh_n_rows(mesh);
    storm_cell_id *own = room(mesh, n * sizeof *own);
    storm_cell_id *rows = room(mesh, n_rows * sizeof *rows);
    uint64_t first = n_rows, last = 0;
    for (size_t i = 0; i < n; i++)
        own[i] = storm_mesh_cell_id(mesh, (storm_cell_idx)i);
    CHECK_OK(storm_mesh_rows(mesh, sizeof *own, own, rows));
    CHECK_OK(storm_context_exscan(mesh->context, &first, 1));
    CHECK_EQ(first, mesh->n_total * (uint64_t)mesh->env->rank /
                        (uint64_t)mesh->env->size);
    for (size_t i = 0; i < n_rows; i++) {
        CHECK_EQ(rows[i], tags_nth(mesh, first + i));
        CHECK(rows[i] < storm_mesh_next_tag(mesh));
        last = rows[i];
    }
    CHECK(n_rows == 0 || last == tags_nth(mesh, first + n_rows - 1));
    storm_free(mesh->env->memory, own);
    return rows;
}

static void check_fixed(const struct storm_mesh *mesh,
                        const storm_cell_id *tags)
{
    size_t n = (size_t)storm_mesh_n_cells(mesh),
           n_rows = storm_mesh_n_rows(mesh);
    unsigned char *in = room(mesh, n * ROW), *rows = room(mesh, n_rows * ROW);
    unsigned char *back = room(mesh, n * ROW), right[ROW];
    for (size_t i = 0; i < n; i++)
        fill(storm_mesh_cell_id(mesh, (storm_cell_idx)i), ROW, in + i * ROW);
    CHECK_OK(storm_mesh_rows(mesh, ROW, in, rows));
    for (size_t i = 0; i < n_rows; i++) {
        fill(tags[i], ROW, right);
        CHECK(memcmp(rows + i * ROW, right, ROW) == 0);
    }
    CHECK_OK(storm_mesh_unrows(mesh, ROW, rows, back));
    CHECK(memcmp(in, back, n * ROW) == 0);
    storm_free(mesh->env->memory, back);
    storm_free(mesh->env->memory, rows);
    storm_free(mesh->env->memory, in);
}

static void check_sized(const struct storm_mesh *mesh,
                        const storm_cell_id *tags)
{
    size_t n = (size_t)storm_mesh_n_cells(mesh),
           n_rows = storm_mesh_n_rows(mesh);
    size_t bytes = 0, at = 0, *sizes = room(mesh, n * sizeof *sizes);
    for (size_t i = 0; i < n; i++)
        bytes += sizes[i] =
            size_of(storm_mesh_cell_id(mesh, (storm_cell_idx)i));
    unsigned char *in = room(mesh, bytes), right[32];
    for (size_t i = 0; i < n; i++, at += sizes[i - 1])
        fill(storm_mesh_cell_id(mesh, (storm_cell_idx)i), sizes[i], in + at);
    bytes = at = 0;
    for (size_t i = 0; i < n_rows; i++)
        bytes += size_of(tags[i]);
    unsigned char *rows = room(mesh, bytes + 8);
    memset(rows + bytes, 0xa5, 8);
    CHECK_OK(storm_mesh_rows_sized(mesh, sizes, in, rows));
    for (size_t i = 0; i < n_rows; i++) {
        fill(tags[i], size_of(tags[i]), right);
        CHECK(memcmp(rows + at, right, size_of(tags[i])) == 0);
        at += size_of(tags[i]);
    }
    for (size_t k = 0; k < 8; k++)
        CHECK_EQ(rows[bytes + k], 0xa5);
    storm_free(mesh->env->memory, rows);
    storm_free(mesh->env->memory, in);
    storm_free(mesh->env->memory, sizes);
}

static void check_mesh(struct storm_context *context, const int64_t *n,
                       bool permuted)
{
    struct storm_cart_params params = STORM_CART_PARAMS_INIT;
    struct storm_mesh *mesh;
    for (int d = 0; d < 3; d++) {
        params.hi_cm[d] = 1.0;
        params.n[d] = n[d];
    }
    CHECK_OK(storm_mesh_create_cart(context, &params, &mesh));
    CHECK(storm_mesh_is_in_order(mesh));
    if (permuted)
        tags_permute(mesh);
    CHECK_EQ(storm_mesh_is_in_order(mesh), !permuted);
    storm_cell_id *tags = check_order(mesh);
    check_fixed(mesh, tags);
    check_sized(mesh, tags);
    storm_free(mesh->env->memory, tags);
    tags_restore(mesh);
    storm_mesh_destroy(mesh);
}

int main(int argc, char **argv)
{
    struct storm_context *context;
    MPI_Init(&argc, &argv);
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &context));
    for (int permuted = 0; permuted < 2; permuted++) {
        check_mesh(context, (const int64_t[]){7, 5, 3}, permuted);
        check_mesh(context, (const int64_t[]){2, 1, 1}, permuted);
    }
    storm_context_destroy(context);
    MPI_Finalize();
    return CHECK_PASS;
}
