/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3 5; timeout: 60 */
/*
 * CHANGE-2: every cell that is removed leads to one that exists, also from the
 * middle of large holes, and if all were removed; it is the same cell on any
 * number of ranks and in any partition, that of a host included. Rows of cells
 * that stay follow them, those of new ones are zero.
 */
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>
#include <storm/voronoi.h>

#include "base/hash.h"
#include "support/cuts.h"
#include "support/dice.h"

enum { N_POINTS = 400, N_ADD = 30 };

struct world {
    MPI_Comm comm;
    struct storm_context *context;
    struct storm_mesh *mesh;
    int rank, size;
};

static void point(uint64_t i, double x[3])
{
    struct dice dice = dice_make(5, i);
    for (int d = 0; d < 3; d++)
        x[d] = ((double)(dice_word(&dice) >> 11) + 0.5) * 0x1p-53;
}

/* is_hosts: the partition is that of the points, and stays. */
static void world_open(struct world *w, MPI_Comm comm, bool is_hosts)
{
    double points[N_POINTS][3];
    struct storm_voronoi_params params = {.size = sizeof params,
                                          .hi_cm = {1, 1, 1},
                                          .points_cm = &points[0][0],
                                          .keep_partition = is_hosts};
    w->comm = comm;
    CHECK_OK(storm_context_create(comm, NULL, &w->context));
    w->rank = storm_context_rank(w->context);
    w->size = storm_context_size(w->context);
    for (int i = w->rank; i < N_POINTS; i += w->size)
        point((uint64_t)i, points[params.n_points++]);
    CHECK_OK(storm_mesh_create_voronoi(w->context, &params, &w->mesh));
}

static void world_close(struct world *w)
{
    storm_mesh_destroy(w->mesh);
    storm_context_destroy(w->context);
}

/* Is the cell removed: in a ball, in a slab, everywhere. */
static bool is_removed(int kind, const double x[3])
{
    double square = 0.0;
    for (int d = 0; d < 3; d++)
        square += (x[d] - 0.5) * (x[d] - 0.5);
    return kind == 0 ? square < 0.3 * 0.3 : kind == 1 ? x[0] > 0.3 : true;
}

static struct storm_change *adapt(struct world *w, int kind)
{
    storm_cell_idx n = storm_mesh_n_cells(w->mesh);
    storm_cell_idx *gone = malloc(((size_t)n + 1) * sizeof *gone);
    double points[N_ADD][3];
    struct storm_adapt_params params = {
        .size = sizeof params, .remove = gone, .add_cm = &points[0][0]};
    struct storm_change *change;
    CHECK(gone != NULL);
    for (storm_cell_idx i = 0; i < n; i++) {
        double x[3];
        CHECK_OK(storm_mesh_generator(w->mesh, i, x));
        if (is_removed(kind, x))
            gone[params.n_remove++] = i;
    }
    for (int i = w->rank; i < N_ADD; i += w->size)
        point((uint64_t)(1000 * (kind + 1) + i), points[params.n_add++]);
    CHECK_OK(storm_mesh_adapt(w->mesh, &params, &change));
    free(gone);
    return change;
}

/* Tags by cell, as they are now. */
static storm_cell_id *tags_of(const struct world *w)
{
    size_t n = (size_t)storm_mesh_n_cells(w->mesh);
    storm_cell_id *tags = malloc((n + 1) * sizeof *tags);
    CHECK(tags != NULL);
    for (size_t i = 0; i < n; i++)
        tags[i] = storm_mesh_cell_id(w->mesh, (storm_cell_idx)i);
    return tags;
}

/* Of all cells now, on every rank: by rank, then by index. */
static storm_cell_id *tags_everywhere(const struct world *w)
{
    size_t total = (size_t)storm_mesh_n_cells_total(w->mesh);
    size_t first = (size_t)storm_mesh_first_place(w->mesh, w->rank);
    storm_cell_id *all = calloc(total, sizeof *all), *tags = tags_of(w);
    CHECK(all != NULL);
    memcpy(all + first, tags,
           (size_t)storm_mesh_n_cells(w->mesh) * sizeof *tags);
    MPI_Allreduce(MPI_IN_PLACE, all, (int)total, MPI_UINT64_T, MPI_SUM,
                  w->comm);
    free(tags);
    return all;
}

/* A sum over all cells that were: of their tags and of what they lead to. */
static uint64_t check_to(const struct world *w,
                         const struct storm_change *change,
                         const storm_cell_id *old, uint64_t *n_gone_out)
{
    storm_cell_id *now = tags_everywhere(w);
    uint64_t sums[2] = {0, 0};
    for (storm_cell_idx i = 0; i < storm_change_n_old(change); i++) {
        struct storm_cell_ref to;
        storm_cell_fate fate = storm_change_to(change, i, &to);
        CHECK(to.rank >= 0 && to.rank < w->size && to.idx >= 0);
        uint64_t place =
            storm_mesh_first_place(w->mesh, to.rank) + (uint64_t)to.idx;
        CHECK(place < storm_mesh_first_place(w->mesh, to.rank + 1));
        CHECK_EQ(fate == STORM_CELL_KEPT, now[place] == old[i]);
        sums[0] += fate == STORM_CELL_GONE;
        sums[1] += storm_hash_fold(storm_hash_word(old[i]), now[place]);
    }
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_UINT64_T, MPI_SUM, w->comm);
    free(now);
    *n_gone_out = sums[0];
    return sums[1];
}

static void check_rows(const struct world *w, const struct storm_change *change,
                       const storm_cell_id *old)
{
    size_t n_old = (size_t)storm_change_n_old(change);
    size_t n = (size_t)storm_mesh_n_cells(w->mesh);
    storm_cell_id *in = malloc((n_old + 1) * sizeof *in);
    storm_cell_id *out = malloc((n + 1) * sizeof *out);
    CHECK(in != NULL && out != NULL);
    for (size_t i = 0; i < n_old; i++)
        in[i] = old[i] + 1;
    CHECK_OK(storm_mesh_carry(w->mesh, change, sizeof *in, in, out));
    for (size_t i = 0; i < n; i++) {
        struct storm_cell_ref from;
        bool existed = storm_change_from(change, (storm_cell_idx)i, &from);
        storm_cell_id tag = storm_mesh_cell_id(w->mesh, (storm_cell_idx)i);
        CHECK_EQ(out[i], existed ? tag + 1 : 0);
        CHECK_EQ(existed, tag < N_POINTS);
    }
    free(out);
    free(in);
}

/* The same holes on this many ranks, in this partition; the sum of check_to. */
static uint64_t make_hole(struct world *w, int kind, bool is_hosts)
{
    uint64_t weight[N_POINTS + 1], n_gone;
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(w->mesh); i++)
        weight[i] = dice_mix(storm_mesh_cell_id(w->mesh, i) + 1) % 50;
    if (!is_hosts)
        cut_mesh(w->mesh, weight);
    storm_cell_id *old = tags_of(w);
    uint64_t n_before = storm_mesh_n_cells_total(w->mesh);
    struct storm_change *change = adapt(w, kind);
    uint64_t sum = check_to(w, change, old, &n_gone);
    CHECK_EQ(n_before - n_gone + N_ADD, storm_mesh_n_cells_total(w->mesh));
    CHECK(n_gone > 0);
    check_rows(w, change, old);
    storm_change_destroy(change);
    free(old);
    return sum;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 6; i++) {
        struct world all, alone;
        int kind = i / 2;
        bool is_hosts = i % 2;
        world_open(&all, MPI_COMM_WORLD, is_hosts);
        world_open(&alone, MPI_COMM_SELF, false);
        check_where("hole %d, partition of a host: %d, rank %d", kind, is_hosts,
                    all.rank);
        CHECK_EQ(make_hole(&all, kind, is_hosts),
                 make_hole(&alone, kind, false));
        world_close(&alone);
        world_close(&all);
    }
    MPI_Finalize();
    return CHECK_PASS;
}
