/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 2 5; timeout: 60 */
/*
 * MESH-14: a Voronoi mesh whose generators have moved, come and gone is the
 * one that is built of them from nothing, in all bits; tags stay with their
 * cells, new ones are in order of the places; errors leave it as it was.
 */
#include "voronoi_check.h"

#include <storm/change.h>

#include "mesh/mesh_ops.h"

enum { POINTS = 600, MAX_CELLS = 4 * POINTS };

/* The cells of this rank: generators and tags, as the mesh should have them. */
struct cells {
    int n;
    double x[MAX_CELLS][3];
    storm_cell_id tags[MAX_CELLS];
};

static void cells_read(const struct storm_mesh *mesh, struct cells *cells)
{
    cells->n = storm_mesh_n_cells(mesh);
    CHECK(cells->n <= MAX_CELLS);
    for (int i = 0; i < cells->n; i++) {
        CHECK_OK(storm_mesh_generator(mesh, i, cells->x[i]));
        cells->tags[i] = storm_mesh_cell_id(mesh, i);
    }
}

/* Generators, faces and tags, in any order of cells; without_tags: all 0. */
static uint64_t hash_of(const struct storm_mesh *mesh, bool with_tags)
{
    uint64_t sum = 0, total;
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++) {
        double centre[3], x[3];
        uint64_t hash =
            storm_hash_fold(0, with_tags ? storm_mesh_cell_id(mesh, i) : 0);
        CHECK_OK(storm_mesh_generator(mesh, i, x));
        storm_mesh_centre(mesh, i, centre);
        hash = storm_hash_fold_real(hash, storm_mesh_volume_cm3(mesh, i));
        for (int d = 0; d < 3; d++) {
            hash = storm_hash_fold_real(hash, x[d]);
            hash = storm_hash_fold_real(hash, centre[d]);
        }
        for (int k = 0; k < storm_mesh_n_faces(mesh, i); k++) {
            struct storm_face face = STORM_FACE_INIT;
            storm_mesh_face(mesh, i, k, &face);
            hash = storm_hash_fold_real(hash, face.area_cm2);
            hash = storm_hash_fold(hash, (uint64_t)face.wall);
            for (int d = 0; d < 3; d++)
                hash = storm_hash_fold_real(hash, face.normal[d]);
        }
        sum += hash;
    }
    MPI_Allreduce(&sum, &total, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return total;
}

/* Like a mesh that is built of the same cells from nothing. */
static void check_like_new(struct storm_context *context,
                           const struct storm_mesh *mesh)
{
    static struct cells now;
    struct storm_mesh *fresh;
    struct storm_voronoi_params params = STORM_VORONOI_PARAMS_INIT;
    cells_read(mesh, &now);
    storm_mesh_box(mesh, params.lo_cm, params.hi_cm);
    params.points_cm = &now.x[0][0];
    params.n_points = (uint64_t)now.n;
    params.tags = now.tags;
    CHECK_OK(storm_mesh_create_voronoi(context, &params, &fresh));
    CHECK_EQ(hash_of(mesh, true), hash_of(fresh, true));
    CHECK_EQ(storm_mesh_n_cells_total(mesh), storm_mesh_n_cells_total(fresh));
    storm_mesh_destroy(fresh);
}

/* Tags have followed their cells, and new cells have new ones. */
static void check_change(const struct storm_mesh *mesh,
                         const struct storm_change *change,
                         const struct cells *before, storm_cell_id first_new)
{
    static storm_cell_id carried[MAX_CELLS];
    CHECK_OK(storm_mesh_carry(mesh, change, sizeof *carried, before->tags,
                              carried));
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++) {
        struct storm_cell_ref from;
        if (storm_change_from(change, i, &from))
            CHECK_EQ(storm_mesh_cell_id(mesh, i), carried[i]);
        else
            CHECK(storm_mesh_cell_id(mesh, i) >= first_new);
    }
}

/* Each generator to a place that is a function of its tag alone. */
static void displace(const struct storm_mesh *mesh, struct cells *cells,
                     double distance, uint64_t round)
{
    double lo[3], hi[3];
    storm_mesh_box(mesh, lo, hi);
    cells_read(mesh, cells);
    for (int i = 0; i < cells->n; i++) {
        struct dice dice = dice_make(cells->tags[i], round);
        for (int d = 0; d < 3; d++) {
            double x =
                cells->x[i][d] + distance * (2.0 * set_uniform(&dice) - 1.0);
            x = x < lo[d] ? 2.0 * lo[d] - x : x;
            x = x > hi[d] ? 2.0 * hi[d] - x : x;
            cells->x[i][d] = fmin(fmax(x, lo[d]), hi[d]);
        }
    }
}

static void move_by(struct storm_context *context, struct storm_mesh *mesh,
                    double distance, uint64_t round)
{
    static struct cells cells;
    struct storm_change *change;
    displace(mesh, &cells, distance, round);
    CHECK_OK(storm_mesh_move(mesh, &cells.x[0][0], NULL, &change));
    check_change(mesh, change, &cells, UINT64_MAX);
    check_like_new(context, mesh);
    storm_change_destroy(change);
}

static void check_motions(struct storm_context *context,
                          struct storm_mesh *mesh)
{
    const double cell = 1.0 / cbrt((double)POINTS);
    const double distances[] = {0.0, 0.01, 0.1, 1.0, 10.0};
    for (uint64_t i = 0; i < sizeof distances / sizeof distances[0]; i++)
        move_by(context, mesh,
                distances[i] * cell > 1.0 ? 1.0 : distances[i] * cell, i);
}

/* The box grows, and the generators with it. */
static void check_box(struct storm_context *context, struct storm_mesh *mesh)
{
    static struct cells cells;
    struct storm_change *change;
    const struct storm_mesh_box box = {{-1.0, -0.25, 0.0}, {2.0, 1.25, 1.5}};
    cells_read(mesh, &cells);
    for (int i = 0; i < cells.n; i++)
        for (int d = 0; d < 3; d++)
            cells.x[i][d] =
                box.lo_cm[d] + cells.x[i][d] * (box.hi_cm[d] - box.lo_cm[d]);
    CHECK_OK(storm_mesh_move(mesh, &cells.x[0][0], &box, &change));
    check_change(mesh, change, &cells, UINT64_MAX);
    check_like_new(context, mesh);
    storm_change_destroy(change);
    for (int i = 0, n = storm_mesh_n_cells(mesh); i < n; i++) {
        CHECK_OK(storm_mesh_generator(mesh, i, cells.x[i]));
        for (int d = 0; d < 3; d++) {
            double x =
                (cells.x[i][d] - box.lo_cm[d]) / (box.hi_cm[d] - box.lo_cm[d]);
            cells.x[i][d] = fmin(fmax(x, 0.0), 1.0);
        }
    }
    const struct storm_mesh_box unit = {{0.0, 0.0, 0.0}, {1.0, 1.0, 1.0}};
    CHECK_OK(storm_mesh_move(mesh, &cells.x[0][0], &unit, &change));
    storm_change_destroy(change);
    check_like_new(context, mesh);
}

/* A third of the cells goes; each rank adds some generators. */
static void check_adapt(struct storm_context *context, struct storm_mesh *mesh,
                        bool with_tags)
{
    enum { ADDED = 40 };
    static struct cells before;
    static storm_cell_idx remove[MAX_CELLS];
    struct storm_adapt_params params = STORM_ADAPT_PARAMS_INIT;
    struct storm_change *change;
    double added[ADDED][3];
    storm_cell_id tags[ADDED], next = mesh->next_tag;
    int rank = storm_context_rank(context);
    struct dice dice = dice_make(next, (uint64_t)rank);
    cells_read(mesh, &before);
    for (int i = 0; i < before.n; i++)
        if (before.tags[i] % 3 == 0)
            remove[params.n_remove++] = i;
    for (int i = 0; i < ADDED; i++) {
        tags[i] = next + 5 + (storm_cell_id)(rank * ADDED + ADDED - 1 - i);
        for (int d = 0; d < 3; d++)
            added[i][d] = set_uniform(&dice);
    }
    params.remove = remove;
    params.add_cm = &added[0][0];
    params.add_tags = with_tags ? tags : NULL;
    params.n_add = ADDED;
    CHECK_OK(storm_mesh_adapt(mesh, &params, &change));
    check_change(mesh, change, &before, next);
    check_like_new(context, mesh);
    storm_change_destroy(change);
    /* new tags are in order of the places */
    storm_cell_id last = next;
    for (storm_cell_idx i = 0; !with_tags && i < storm_mesh_n_cells(mesh); i++)
        if (storm_mesh_cell_id(mesh, i) >= next) {
            CHECK(storm_mesh_cell_id(mesh, i) >= last);
            last = storm_mesh_cell_id(mesh, i);
        }
    CHECK_EQ(mesh->next_tag,
             next + (with_tags ? 5u : 0u) +
                 (storm_cell_id)(ADDED * storm_context_size(context)));
}

/* Generators that come and go again leave no trace but in the tags. */
static void check_undone(struct storm_context *context, struct storm_mesh *mesh)
{
    struct storm_adapt_params add = STORM_ADAPT_PARAMS_INIT;
    struct storm_adapt_params remove = STORM_ADAPT_PARAMS_INIT;
    static storm_cell_idx list[MAX_CELLS];
    struct storm_change *change;
    double x[3] = {0.3, 0.4, 0.5 + 0.01 * storm_context_rank(context)};
    uint64_t with = hash_of(mesh, true);
    storm_cell_id next = mesh->next_tag;
    add.add_cm = x;
    add.n_add = 1;
    CHECK_OK(storm_mesh_adapt(mesh, &add, &change));
    storm_change_destroy(change);
    CHECK(hash_of(mesh, true) != with);
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++)
        if (storm_mesh_cell_id(mesh, i) >= next)
            list[remove.n_remove++] = i;
    remove.remove = list;
    CHECK_OK(storm_mesh_adapt(mesh, &remove, &change));
    storm_change_destroy(change);
    CHECK_EQ(hash_of(mesh, true), with);
}

static void check_refused(struct storm_mesh *mesh,
                          const struct storm_adapt_params *params)
{
    struct storm_change *change = NULL;
    uint64_t hash = hash_of(mesh, true), generation = mesh->generation;
    storm_status status = storm_mesh_adapt(mesh, params, &change);
    CHECK(status == STORM_ERR_ARG || status == STORM_ERR_PEER);
    CHECK(change == NULL);
    CHECK_EQ(hash_of(mesh, true), hash);
    CHECK_EQ(mesh->generation, generation);
}

static void check_errors(struct storm_context *context, struct storm_mesh *mesh)
{
    static struct cells cells;
    static storm_cell_idx all[MAX_CELLS];
    struct storm_adapt_params params = STORM_ADAPT_PARAMS_INIT;
    struct storm_change *change = NULL;
    bool is_last =
        storm_context_rank(context) == storm_context_size(context) - 1;
    double inside[2][3] = {{0.123, 0.2, 0.3}, {0.5, 0.6, 0.7}};
    storm_cell_id tags[2] = {mesh->next_tag, mesh->next_tag + 1};
    cells_read(mesh, &cells);
    for (int i = 0; i < cells.n; i++)
        all[i] = i;
    params.add_cm = &inside[0][0];
    params.n_add = is_last ? 2 : 0;
    params.add_tags = tags;
    tags[1] = tags[0];
    check_refused(mesh, &params); /* a tag twice */
    tags[1] = mesh->next_tag - 1;
    check_refused(mesh, &params); /* a tag that has existed */
    params.add_tags = NULL;
    memcpy(inside[1], cells.n > 0 ? cells.x[0] : inside[0], sizeof inside[1]);
    check_refused(mesh, &params); /* a place twice */
    inside[1][0] = 1.5;
    check_refused(mesh, &params); /* outside */
    params.n_add = 0;
    params.remove = all;
    params.n_remove = (size_t)cells.n;
    check_refused(mesh, &params); /* nothing is left */
    const storm_cell_idx twice[2] = {0, 0}, none[1] = {cells.n};
    params.remove = twice;
    params.n_remove = 2;
    check_refused(mesh, &params); /* removed twice, or not there */
    params.remove = none;
    params.n_remove = 1;
    check_refused(mesh, &params);

    uint64_t hash = hash_of(mesh, true);
    if (cells.n > 1)
        memcpy(cells.x[0], cells.x[1], sizeof cells.x[0]);
    storm_status status = storm_mesh_move(mesh, &cells.x[0][0], NULL, &change);
    CHECK(status == STORM_ERR_ARG || status == STORM_ERR_PEER);
    const struct storm_mesh_box empty = {{0.0, 0.0, 0.0}, {1.0, 0.0, 1.0}};
    CHECK_EQ(storm_mesh_move(mesh, &cells.x[0][0], &empty, &change),
             STORM_ERR_ARG);
    CHECK_EQ(hash_of(mesh, true), hash);
}

/* Another partition is kept by motion, as its weights are. */
static void check_cut(struct storm_context *context, struct storm_mesh *mesh)
{
    static uint64_t weight[MAX_CELLS];
    struct storm_cut *cut;
    struct storm_change *change;
    CHECK_OK(storm_cut_create(mesh, &cut));
    uint64_t hash = hash_of(mesh, true);
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++)
        weight[i] = 1 + storm_mesh_cell_id(mesh, i) % 7;
    storm_cut_set(cut, weight);
    CHECK_OK(storm_mesh_use(mesh, cut, &change));
    storm_change_destroy(change);
    CHECK_EQ(hash_of(mesh, true), hash);
    move_by(context, mesh, 0.03, 77);
    double now, then;
    CHECK_OK(storm_cut_imbalance(cut, &now, &then));
    CHECK(now == then);
    check_adapt(context, mesh, false);
    storm_cut_destroy(cut);
}

static void check_mesh(struct storm_context *context, bool keep)
{
    struct dice dice = dice_make(2, 0);
    struct storm_voronoi_params params = STORM_VORONOI_PARAMS_INIT;
    static double mine[POINTS][3];
    struct storm_mesh *mesh;
    int n = 0, size = storm_context_size(context);
    for (int i = 0; i < POINTS; i++) {
        for (int d = 0; d < 3; d++)
            mine[n][d] = set_uniform(&dice);
        n += i % size == storm_context_rank(context);
    }
    for (int d = 0; d < 3; d++)
        params.hi_cm[d] = 1.0;
    params.points_cm = &mine[0][0];
    params.n_points = (uint64_t)n;
    params.keep_partition = keep;
    CHECK_OK(storm_mesh_create_voronoi(context, &params, &mesh));
    check_motions(context, mesh);
    check_box(context, mesh);
    check_adapt(context, mesh, false);
    check_adapt(context, mesh, true);
    check_undone(context, mesh);
    if (keep)
        CHECK(mesh->is_hosts);
    else
        check_cut(context, mesh);
    check_errors(context, mesh);
    storm_mesh_destroy(mesh);
}

static void log_nothing(void *self, storm_log_level level, int rank,
                        const char *text)
{
    (void)self, (void)level, (void)rank, (void)text;
}

int main(int argc, char **argv)
{
    struct storm_context *context;
    struct storm_context_params quiet = {.size = sizeof quiet,
                                         .log = log_nothing};
    MPI_Init(&argc, &argv);
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, &quiet, &context));
    check_mesh(context, false);
    check_mesh(context, true);
    struct storm_memory_entry entry = STORM_MEMORY_ENTRY_INIT;
    CHECK_OK(storm_context_memory(context, 0, &entry));
    CHECK_EQ(entry.bytes, 0);
    storm_context_destroy(context);
    MPI_Finalize();
    return CHECK_PASS;
}
