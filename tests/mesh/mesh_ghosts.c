/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 2 5; timeout: 60 */
/*
 * storm_mesh_ghosts: rows of all neighbours on other ranks, of any size, are
 * what their owners have; each ghost once; struct storm_face names it. Before
 * the ghosts are asked for in a generation faces name none. Cartesian meshes,
 * also periodic ones in which a cell meets another several times, and a Voronoi
 * mesh, in several partitions. Rows that are too long are refused.
 */
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>
#include <storm/voronoi.h>

#include "support/cuts.h"
#include "support/dice.h"

enum { MAX_ROW = 29 };

struct world {
    struct storm_mesh *mesh;
    int rank;
    int n_errors; /* logged on this rank */
};

/* A row of a cell: its tag, and bytes that follow from it. */
static void row_fill(storm_cell_id tag, size_t bytes, unsigned char *row)
{
    for (size_t k = 0; k < bytes; k++)
        row[k] = (unsigned char)(dice_mix(tag + k / 8) >> 8 * (k % 8));
}

/* A face names the ghost that its neighbour is. */
static void check_faces(const struct world *w,
                        const struct storm_cell_ref *owners)
{
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(w->mesh); i++)
        for (int k = 0; k < storm_mesh_n_faces(w->mesh, i); k++) {
            struct storm_face face = STORM_FACE_INIT;
            CHECK_OK(storm_mesh_face(w->mesh, i, k, &face));
            if (face.rank < 0 || face.rank == w->rank) {
                CHECK_EQ(face.ghost, -1);
                continue;
            }
            CHECK(face.ghost >= 0);
            CHECK_EQ(owners[face.ghost].rank, face.rank);
            CHECK_EQ(owners[face.ghost].idx, face.neighbour);
        }
}

/* Rows of the owners' own names: each ghost is another cell. */
static void check_names(const struct world *w, storm_cell_idx n_ghosts,
                        struct storm_cell_ref *owners)
{
    size_t n = (size_t)storm_mesh_n_cells(w->mesh);
    struct storm_cell_ref *local = malloc((n + 1) * sizeof *local);
    CHECK(local != NULL);
    for (size_t i = 0; i < n; i++)
        local[i] = (struct storm_cell_ref){w->rank, (storm_cell_idx)i};
    CHECK_OK(storm_mesh_ghosts(w->mesh, sizeof *local, local, owners));
    for (storm_cell_idx i = 0; i < n_ghosts; i++) {
        CHECK(owners[i].rank >= 0 && owners[i].rank != w->rank);
        for (storm_cell_idx j = 0; j < i; j++)
            CHECK(memcmp(&owners[i], &owners[j], sizeof *owners) != 0);
    }
    free(local);
}

static void check_sizes(const struct world *w, storm_cell_idx n_ghosts,
                        const storm_cell_id *tags)
{
    static const size_t sizes[] = {8, 1, MAX_ROW, 3};
    size_t n = (size_t)storm_mesh_n_cells(w->mesh), m = (size_t)n_ghosts;
    unsigned char *local = malloc(n * MAX_ROW + 1);
    unsigned char *ghosts = malloc(m * MAX_ROW + 1), right[MAX_ROW];
    CHECK(local != NULL && ghosts != NULL);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        size_t bytes = sizes[s];
        for (size_t i = 0; i < n; i++)
            row_fill(storm_mesh_cell_id(w->mesh, (storm_cell_idx)i), bytes,
                     local + i * bytes);
        ghosts[m * bytes] = 0x5a;
        CHECK_OK(storm_mesh_ghosts(w->mesh, bytes, local, ghosts));
        CHECK_EQ(ghosts[m * bytes], 0x5a);
        for (size_t i = 0; i < m; i++) {
            row_fill(tags[i], bytes, right);
            CHECK(memcmp(ghosts + i * bytes, right, bytes) == 0);
        }
    }
    free(ghosts);
    free(local);
}

static void check_not_asked(const struct world *w)
{
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(w->mesh); i++)
        for (int k = 0; k < storm_mesh_n_faces(w->mesh, i); k++) {
            struct storm_face face = STORM_FACE_INIT;
            CHECK_OK(storm_mesh_face(w->mesh, i, k, &face));
            CHECK_EQ(face.ghost, -1);
        }
}

static void check_ghosts(const struct world *w)
{
    storm_cell_idx n_ghosts, again;
    check_not_asked(w);
    CHECK_OK(storm_mesh_n_ghosts(w->mesh, &n_ghosts));
    CHECK_OK(storm_mesh_n_ghosts(w->mesh, &again));
    CHECK_EQ(n_ghosts, again);
    size_t n = (size_t)storm_mesh_n_cells(w->mesh), m = (size_t)n_ghosts;
    struct storm_cell_ref *owners = malloc((m + 1) * sizeof *owners);
    storm_cell_id *tags = malloc((n + 1) * sizeof *tags);
    storm_cell_id *theirs = malloc((m + 1) * sizeof *theirs);
    CHECK(owners != NULL && tags != NULL && theirs != NULL);
    check_names(w, n_ghosts, owners);
    check_faces(w, owners);
    for (size_t i = 0; i < n; i++)
        tags[i] = storm_mesh_cell_id(w->mesh, (storm_cell_idx)i);
    CHECK_OK(storm_mesh_ghosts(w->mesh, sizeof *tags, tags, theirs));
    check_sizes(w, n_ghosts, theirs);
    free(theirs);
    free(tags);
    free(owners);
}

/* Rows that MPI cannot count are refused, and each rank says why. */
static void check_huge(struct world *w)
{
    char row = 0;
    w->n_errors = 0;
    CHECK_EQ(storm_mesh_ghosts(w->mesh, (size_t)1 << 31, &row, &row),
             STORM_ERR_NOMEM);
    CHECK_EQ(w->n_errors, 1);
}

static void count_errors(void *self, storm_log_level level, int rank,
                         const char *message)
{
    (void)rank, (void)message;
    ((struct world *)self)->n_errors += level == STORM_LOG_ERROR;
}

static uint64_t weigh(storm_cell_id tag, uint64_t seed)
{
    return seed == 3 ? tag == 7 : dice_mix(tag + seed) % 50;
}

static void check_mesh(struct world *w, const char *name)
{
    for (uint64_t seed = 0; seed < 4; seed++) {
        check_where("%s, cut %d, rank %d", name, (int)seed, w->rank);
        size_t n = (size_t)storm_mesh_n_cells(w->mesh);
        uint64_t *weight = malloc((n + 1) * sizeof *weight);
        uint64_t generation = storm_mesh_generation(w->mesh);
        CHECK(weight != NULL);
        check_ghosts(w);
        check_huge(w);
        for (size_t i = 0; i < n; i++)
            weight[i] =
                weigh(storm_mesh_cell_id(w->mesh, (storm_cell_idx)i), seed);
        cut_mesh(w->mesh, weight);
        free(weight);
        if (storm_mesh_generation(w->mesh) == generation)
            break; /* one rank */
    }
    storm_mesh_destroy(w->mesh);
}

int main(int argc, char **argv)
{
    static const struct storm_cart_params list[] = {
        {.size = sizeof list[0], .hi_cm = {6, 5, 4}, .n = {6, 5, 4}},
        {.size = sizeof list[0],
         .hi_cm = {1, 1, 1},
         .n = {2, 3, 7},
         .periodic = {true, true, true}},
        {.size = sizeof list[0],
         .hi_cm = {1, 1, 1},
         .n = {3, 1, 1},
         .periodic = {true, true, true}},
    };
    struct storm_context *context;
    struct world w = {.n_errors = 0};
    const struct storm_context_params log = {
        .size = sizeof log, .log = count_errors, .log_self = &w};
    MPI_Init(&argc, &argv);
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, &log, &context));
    w.rank = storm_context_rank(context);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        CHECK_OK(storm_mesh_create_cart(context, &list[i], &w.mesh));
        check_mesh(&w, "cartesian");
    }
    double points[200][3];
    struct dice dice = dice_make(1, 0);
    for (int i = 0; i < 200; i++)
        for (int d = 0; d < 3; d++)
            points[i][d] = (double)(dice_word(&dice) >> 11) * 0x1p-53;
    struct storm_voronoi_params params = {.size = sizeof params,
                                          .hi_cm = {1, 1, 1},
                                          .points_cm = &points[0][0],
                                          .n_points = w.rank == 0 ? 200 : 0};
    CHECK_OK(storm_mesh_create_voronoi(context, &params, &w.mesh));
    check_mesh(&w, "voronoi");
    struct storm_memory_entry entry = STORM_MEMORY_ENTRY_INIT;
    CHECK_OK(storm_context_memory(context, 0, &entry));
    CHECK_EQ(entry.bytes, 0);
    storm_context_destroy(context);
    MPI_Finalize();
    return CHECK_PASS;
}
