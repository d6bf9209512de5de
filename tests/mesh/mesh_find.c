/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3 5; timeout: 60 */
/*
 * storm_mesh_find: cells by their tags, those that do not exist, the same one
 * several times, nothing at all on some ranks. storm_mesh_rows: rows of any
 * size in order of the tags, the same on any number of ranks. For tags that are
 * places, for tags that are not (a Voronoi mesh with large ones in no order),
 * in the caller's partition, and with ranks without cells.
 */
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>
#include <storm/voronoi.h>

#include "support/cuts.h"
#include "support/dice.h"

enum { N_POINTS = 151, MAX_ROW = 21 };

struct world {
    struct storm_context *context;
    struct storm_mesh *mesh;
    int rank, size;
};

/* Tags of the Voronoi mesh: different, because the last digits are. */
static storm_cell_id make_tag(uint64_t i)
{
    return (dice_mix(i) >> 17) / 1000 * 1000 + i;
}

static int by_value(const void *left, const void *right)
{
    storm_cell_id a, b;
    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    return (a > b) - (a < b);
}

/* All tags there are, in order, on every rank. */
static storm_cell_id *all_tags(const struct world *w)
{
    size_t total = (size_t)storm_mesh_n_cells_total(w->mesh);
    storm_cell_id *tags = calloc(total, sizeof *tags);
    CHECK(tags != NULL);
    size_t first = (size_t)storm_mesh_first_place(w->mesh, w->rank);
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(w->mesh); i++)
        tags[first + (size_t)i] = storm_mesh_cell_id(w->mesh, i);
    MPI_Allreduce(MPI_IN_PLACE, tags, (int)total, MPI_UINT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    qsort(tags, total, sizeof *tags, by_value);
    for (size_t i = 1; i < total; i++)
        CHECK(tags[i - 1] < tags[i]); /* MESH-1 */
    return tags;
}

/* Each rank asks for others, some of them twice; one for nothing. */
static void check_find(const struct world *w, const storm_cell_id *all)
{
    uint64_t total = storm_mesh_n_cells_total(w->mesh);
    struct dice dice = dice_make(3, (uint64_t)w->rank);
    size_t n = w->rank == 1 ? 0 : (size_t)dice_roll(&dice, 3 * total);
    storm_cell_id *tags = malloc((n + 1) * sizeof *tags);
    struct storm_cell_ref *where = malloc((n + 1) * sizeof *where);
    CHECK(tags != NULL && where != NULL);
    for (size_t i = 0; i < n; i++)
        tags[i] = all[dice_roll(&dice, total)] +
                  (dice_roll(&dice, 4) == 0 ? UINT64_C(1) << 47 : 0);
    CHECK_OK(storm_mesh_find(w->mesh, n, n > 0 ? tags : NULL,
                             n > 0 ? where : NULL));
    for (size_t i = 0; i < n; i++) {
        bool exists = bsearch(&tags[i], all, total, sizeof *all, by_value);
        CHECK_EQ(where[i].rank >= 0, exists);
        CHECK(exists || where[i].rank == -1);
        if (where[i].rank == w->rank)
            CHECK_EQ(storm_mesh_cell_id(w->mesh, where[i].idx), tags[i]);
        CHECK(where[i].rank < w->size);
    }
    free(where);
    free(tags);
}

/* Every rank finds every cell: then also those of others are where they say. */
static void check_all(const struct world *w, const storm_cell_id *all)
{
    size_t total = (size_t)storm_mesh_n_cells_total(w->mesh);
    struct storm_cell_ref *where = malloc(total * sizeof *where);
    CHECK(where != NULL);
    CHECK_OK(storm_mesh_find(w->mesh, total, all, where));
    uint64_t n_mine = 0, n_all;
    for (size_t i = 0; i < total; i++) {
        n_mine += where[i].rank == w->rank;
        if (where[i].rank == w->rank)
            CHECK_EQ(storm_mesh_cell_id(w->mesh, where[i].idx), all[i]);
        else
            CHECK(where[i].rank >= 0);
    }
    CHECK_EQ(n_mine, storm_mesh_n_cells(w->mesh));
    MPI_Allreduce(&n_mine, &n_all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(n_all, total);
    free(where);
}

static void row_fill(storm_cell_id tag, size_t bytes, unsigned char *row)
{
    for (size_t k = 0; k < bytes; k++)
        row[k] = (unsigned char)(dice_mix(tag + k / 8) >> 8 * (k % 8));
}

static void check_rows(const struct world *w, const storm_cell_id *all,
                       size_t bytes)
{
    size_t n = (size_t)storm_mesh_n_cells(w->mesh);
    size_t total = (size_t)storm_mesh_n_cells_total(w->mesh);
    size_t size = (size_t)w->size, rank = (size_t)w->rank;
    size_t begin = total * rank / size, end = total * (rank + 1) / size;
    unsigned char *in = malloc(n * bytes + 1), right[MAX_ROW];
    unsigned char *rows = malloc((end - begin) * bytes + 1);
    CHECK(in != NULL && rows != NULL);
    for (size_t i = 0; i < n; i++)
        row_fill(storm_mesh_cell_id(w->mesh, (storm_cell_idx)i), bytes,
                 in + i * bytes);
    rows[(end - begin) * bytes] = 0x5a;
    CHECK_OK(storm_mesh_rows(w->mesh, bytes, in, rows));
    CHECK_EQ(rows[(end - begin) * bytes], 0x5a);
    for (size_t i = begin; i < end; i++) {
        row_fill(all[i], bytes, right);
        CHECK(memcmp(rows + (i - begin) * bytes, right, bytes) == 0);
    }
    free(rows);
    free(in);
}

static void check(const struct world *w)
{
    storm_cell_id *all = all_tags(w);
    check_find(w, all);
    check_all(w, all);
    check_rows(w, all, 1);
    check_rows(w, all, 8);
    check_rows(w, all, MAX_ROW);
    free(all);
}

static uint64_t weigh(storm_cell_id tag, uint64_t seed)
{
    return seed == 2 ? tag % 1000 == 17 : dice_mix(tag + seed) % 50;
}

static void recut(const struct world *w, uint64_t seed)
{
    size_t n = (size_t)storm_mesh_n_cells(w->mesh);
    uint64_t *weight = malloc((n + 1) * sizeof *weight);
    CHECK(weight != NULL);
    for (size_t i = 0; i < n; i++)
        weight[i] = weigh(storm_mesh_cell_id(w->mesh, (storm_cell_idx)i), seed);
    cut_mesh(w->mesh, weight);
    free(weight);
}

static void check_cuts(struct world *w, const char *name)
{
    for (uint64_t seed = 0; seed < 4; seed++) {
        check_where("%s, cut %d, rank %d", name, (int)seed, w->rank);
        check(w);
        recut(w, seed);
    }
    storm_mesh_destroy(w->mesh);
}

/* Point i goes to rank i % 3, if there are so many: some have none. */
static void make_voronoi(struct world *w, bool keep)
{
    double points[N_POINTS][3];
    storm_cell_id tags[N_POINTS];
    uint64_t n = 0;
    for (uint64_t i = 0; i < N_POINTS; i++) {
        struct dice dice = dice_make(1, i);
        if ((int)(i % 3) % w->size != w->rank)
            continue;
        for (int d = 0; d < 3; d++)
            points[n][d] = (double)(dice_word(&dice) >> 11) * 0x1p-53;
        tags[n++] = make_tag(i);
    }
    struct storm_voronoi_params params = {.size = sizeof params,
                                          .hi_cm = {1, 1, 1},
                                          .points_cm = &points[0][0],
                                          .n_points = n,
                                          .tags = tags,
                                          .keep_partition = keep};
    CHECK_OK(storm_mesh_create_voronoi(w->context, &params, &w->mesh));
}

int main(int argc, char **argv)
{
    struct world w;
    struct storm_cart_params cart = {
        .size = sizeof cart, .hi_cm = {7, 5, 3}, .n = {7, 5, 3}};
    MPI_Init(&argc, &argv);
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &w.context));
    w.rank = storm_context_rank(w.context);
    w.size = storm_context_size(w.context);
    CHECK_OK(storm_mesh_create_cart(w.context, &cart, &w.mesh));
    check_cuts(&w, "cartesian");
    make_voronoi(&w, false);
    check_cuts(&w, "voronoi");
    make_voronoi(&w, true);
    check_where("the caller's partition, rank %d", w.rank);
    check(&w);
    storm_mesh_destroy(w.mesh);
    struct storm_memory_entry entry = STORM_MEMORY_ENTRY_INIT;
    CHECK_OK(storm_context_memory(w.context, 0, &entry));
    CHECK_EQ(entry.bytes, 0);
    storm_context_destroy(w.context);
    MPI_Finalize();
    return CHECK_PASS;
}
