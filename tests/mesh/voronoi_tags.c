/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3 5; timeout: 20 */
/*
 * VMESH-1: geometry depends neither on tags nor on who owns the cells. A mesh
 * keeps the partition and the tags of its caller if asked to, and says where
 * the points of the input are.
 */
#include "voronoi_check.h"

enum { POINTS = 700 };

/* What this rank gives. */
struct share {
    double x[POINTS][3];
    storm_cell_id tags[POINTS], tags_out[POINTS];
    struct storm_cell_ref where[POINTS];
    int n;
};

/* Points in no order at all; rank 1 has none of them. */
static void share_make(struct storm_context *context, struct share *share)
{
    struct dice dice = dice_make(7, 0);
    int size = storm_context_size(context);
    for (int i = 0; i < POINTS; i++) {
        double x[3];
        for (int d = 0; d < 3; d++)
            x[d] = set_uniform(&dice);
        int owner = (int)dice_roll(&dice, (uint64_t)size);
        owner = owner == 1 ? 0 : owner;
        if (owner != storm_context_rank(context))
            continue;
        memcpy(share->x[share->n], x, sizeof x);
        share->tags[share->n++] = (storm_cell_id)(1000000 - 17 * i);
    }
}

static struct storm_voronoi_params share_params(struct share *share)
{
    return (struct storm_voronoi_params){
        .size = sizeof(struct storm_voronoi_params),
        .hi_cm = {1, 1, 1},
        .points_cm = &share->x[0][0],
        .n_points = (uint64_t)share->n,
        .tags_out = share->tags_out,
        .where_out = share->where};
}

/* All geometry and the tags, if wanted, in any order of cells. */
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
            for (int d = 0; d < 3; d++)
                hash = storm_hash_fold_real(hash, face.normal[d]);
        }
        sum += hash;
    }
    MPI_Allreduce(&sum, &total, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return total;
}

/* The generators of all ranks, by rank and index, as all ranks see them. */
static void check_places(const struct storm_mesh *mesh,
                         const struct share *share, int size, int rank)
{
    enum { MAX_RANKS = 8 };
    static double all[MAX_RANKS][POINTS][3];
    static storm_cell_id tags[MAX_RANKS][POINTS];
    CHECK(size <= MAX_RANKS);
    memset(all, 0, sizeof all);
    memset(tags, 0, sizeof tags);
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++) {
        CHECK_OK(storm_mesh_generator(mesh, i, all[rank][i]));
        tags[rank][i] = storm_mesh_cell_id(mesh, i);
    }
    MPI_Allreduce(MPI_IN_PLACE, all, MAX_RANKS * POINTS * 3, MPI_DOUBLE,
                  MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, tags, MAX_RANKS * POINTS, MPI_UINT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    for (int i = 0; i < share->n; i++) {
        struct storm_cell_ref at = share->where[i];
        CHECK(at.rank >= 0 && at.rank < size);
        CHECK_EQ(tags[at.rank][at.idx], share->tags_out[i]);
        for (int d = 0; d < 3; d++)
            CHECK(fabs(all[at.rank][at.idx][d] - share->x[i][d]) <= 0x1p-52);
    }
}

/* The mesh of these params; checks that its points are where it says. */
static struct storm_mesh *share_mesh(struct storm_context *context,
                                     struct share *share,
                                     const struct storm_voronoi_params *params)
{
    struct storm_mesh *mesh;
    memset(share->where, 0xff, sizeof share->where);
    CHECK_OK(storm_mesh_create_voronoi(context, params, &mesh));
    check_places(mesh, share, storm_context_size(context),
                 storm_context_rank(context));
    return mesh;
}

static void check_kept(struct storm_context *context, struct share *share,
                       const struct storm_mesh *mesh)
{
    CHECK_EQ(storm_mesh_n_cells(mesh), share->n);
    for (int i = 0; i < share->n; i++)
        CHECK_EQ(share->where[i].rank, storm_context_rank(context));
}

/* Each point of the box is in a cell of exactly one rank. */
static void check_located(const struct storm_mesh *mesh)
{
    struct dice dice = dice_make(8, 0);
    for (int i = 0; i < 50; i++) {
        double x[3];
        struct storm_cell_ref cell;
        for (int d = 0; d < 3; d++)
            x[d] = set_uniform(&dice);
        int found = storm_mesh_locate(mesh, x, &cell) == STORM_OK, n;
        MPI_Allreduce(&found, &n, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQ(n, 1);
    }
}

static void check_meshes(struct storm_context *context, struct share *share,
                         uint32_t lloyd)
{
    struct storm_voronoi_params params = share_params(share);
    static storm_cell_id places[POINTS];
    params.lloyd = lloyd;
    struct share *s = share;
    struct storm_mesh *plain, *kept, *tagged;
    plain = lloyd == 0 ? share_mesh(context, s, &params) : NULL;
    if (lloyd > 0) /* points move: only geometry can be compared */
        CHECK_OK(storm_mesh_create_voronoi(context, &params, &plain));
    memcpy(places, share->tags_out, sizeof places);
    uint64_t with = hash_of(plain, true), without = hash_of(plain, false);
    storm_mesh_destroy(plain);

    params.keep_partition = true;
    CHECK_OK(storm_mesh_create_voronoi(context, &params, &kept));
    check_kept(context, share, kept);
    check_located(kept);
    CHECK(memcmp(places, share->tags_out, (size_t)share->n * sizeof *places) ==
          0);
    CHECK_EQ(hash_of(kept, true), with);
    storm_mesh_destroy(kept);

    params.tags = share->tags;
    CHECK_OK(storm_mesh_create_voronoi(context, &params, &tagged));
    check_kept(context, share, tagged);
    CHECK(memcmp(share->tags, share->tags_out,
                 (size_t)share->n * sizeof *places) == 0);
    CHECK_EQ(hash_of(tagged, false), without);
    with = hash_of(tagged, true);
    storm_mesh_destroy(tagged);

    params.keep_partition = false;
    CHECK_OK(storm_mesh_create_voronoi(context, &params, &tagged));
    CHECK(memcmp(share->tags, share->tags_out,
                 (size_t)share->n * sizeof *places) == 0);
    CHECK_EQ(hash_of(tagged, true), with);
    storm_mesh_destroy(tagged);
}

static void check_refused(struct storm_context *context,
                          const struct storm_voronoi_params *params)
{
    struct storm_mesh *mesh = NULL;
    storm_status status = storm_mesh_create_voronoi(context, params, &mesh);
    CHECK(status == STORM_ERR_ARG || status == STORM_ERR_PEER);
    CHECK(mesh == NULL);
}

static void check_bad_tags(struct storm_context *context, struct share *share)
{
    struct storm_voronoi_params params = share_params(share);
    int last = storm_context_size(context) - 1;
    bool is_last = storm_context_rank(context) == (last == 1 ? 0 : last);
    storm_cell_id good = share->tags[0];
    params.tags = share->tags;
    if (is_last) /* also the first of rank 0, if that is another */
        share->tags[share->n - 1] = 1000000;
    if (storm_context_rank(context) == 0)
        share->tags[0] = 1000000;
    check_refused(context, &params);
    share->tags[0] = good;
    if (is_last)
        share->tags[share->n - 1] = UINT64_C(1) << 48;
    check_refused(context, &params);
    if (is_last)
        share->tags[share->n - 1] = 3;
    params.tags = is_last ? NULL : share->tags;
    if (last > 1)
        check_refused(context, &params);
}

static void log_nothing(void *self, storm_log_level level, int rank,
                        const char *text)
{
    (void)self, (void)level, (void)rank, (void)text;
}

int main(int argc, char **argv)
{
    static struct share share;
    struct storm_context *context;
    struct storm_context_params quiet = {.size = sizeof quiet,
                                         .log = log_nothing};
    MPI_Init(&argc, &argv);
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, &quiet, &context));
    share_make(context, &share);
    check_meshes(context, &share, 0);
    check_meshes(context, &share, 2);
    check_bad_tags(context, &share);
    struct storm_memory_entry entry = STORM_MEMORY_ENTRY_INIT;
    CHECK_OK(storm_context_memory(context, 0, &entry));
    CHECK_EQ(entry.bytes, 0);
    storm_context_destroy(context);
    MPI_Finalize();
    return CHECK_PASS;
}
