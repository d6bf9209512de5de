/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 3; timeout: 30 */
/* TEST ranks: 1 5; timeout: 30; label: long */
/*
 * PAIRS-1, PAIRS-2: with generators in pairs cells end where the material
 * changes: a point of a block, with its edges, or of a sheet that is thinner
 * than a cell is in a cell with its centre there, too. Only the curve of a
 * cylinder is not that of the cells. Without pairs many are not.
 * The points are the same on any number of ranks, and about as many as asked
 * for.
 */
#include <storm/context.h>

#include "base/hash.h"
#include "voronoi_check.h"

enum { POINTS = 3000, TRIES = 20000, BLOCK = 1, SHEET = 2, BAR = 3 };

static int material(void *self, const double x[3])
{
    (void)self;
    if (x[0] > 0.2 && x[0] < 0.6 && x[1] < 0.5 && x[2] < 0.7)
        return BLOCK;
    if (x[0] > 0.8 && x[0] < 0.82)
        return SHEET;
    if ((x[0] - 0.4) * (x[0] - 0.4) + (x[1] - 0.75) * (x[1] - 0.75) < 0.02)
        return BAR;
    return 0;
}

static const struct storm_points_params set = {.size = sizeof set,
                                               .kind = STORM_POINTS_REFINED,
                                               .seed = 3,
                                               .n_total = POINTS,
                                               .hi_cm = {1, 1, 1},
                                               .material = material,
                                               .refine = 8.0,
                                               .width_cm = 0.03};

/* Sum of the hashes of all ranks' points. */
static uint64_t hash_of(struct storm_context *context, uint64_t *n_out)
{
    struct storm_pairs *pairs;
    uint64_t sum[2] = {0, 0}, n;
    CHECK_OK(storm_pairs_create(context, &set, &pairs));
    const double *x = storm_pairs_points(pairs, &n);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t hash = 0;
        for (int d = 0; d < 3; d++)
            hash = storm_hash_fold_real(hash, x[3 * i + (uint64_t)d]);
        sum[0] += hash;
    }
    sum[1] = n;
    CHECK_OK(storm_context_reduce(context, sum, 2, MPI_UINT64_T, MPI_SUM));
    storm_pairs_destroy(pairs);
    *n_out = sum[1];
    return sum[0];
}

/* A mesh with pairs or without, and the share of points, in thousandths, whose
 * material is not that of their cell's centre. */
static double wrong_share(struct storm_context *context, bool sharp,
                          double n_wrong_out[4])
{
    struct storm_pairs *pairs;
    struct storm_voronoi_params p = STORM_VORONOI_PARAMS_INIT;
    struct storm_mesh *mesh;
    uint64_t n_pairs, n = 0;
    static double points[2 * POINTS][3], plain[2 * POINTS][3];
    CHECK_OK(storm_pairs_create(context, &set, &pairs));
    const double *pair = storm_pairs_points(pairs, &n_pairs);
    struct storm_points_params others = set;
    others.n_total = sharp ? storm_pairs_n_others(pairs) : POINTS;
    CHECK(others.n_total <= 2 * POINTS);
    CHECK_OK(storm_points_make(&others, 0, others.n_total, plain[0]));
    for (uint64_t i = 0; i < others.n_total; i++)
        if (!sharp || storm_pairs_allow(pairs, plain[i]))
            memcpy(points[n++], plain[i], sizeof points[0]);
    CHECK(n + n_pairs <= 2 * POINTS);
    if (sharp) {
        memcpy(points[n], pair, n_pairs * sizeof points[0]);
        n += n_pairs;
        printf("%d generators\n", (int)n);
        CHECK(fabs((double)n / POINTS - 1.0) < 0.3);
    }
    storm_pairs_destroy(pairs);
    p.points_cm = points[0];
    p.n_points = n;
    p.hi_cm[0] = p.hi_cm[1] = p.hi_cm[2] = 1.0;
    CHECK_OK(storm_mesh_create_voronoi(context, &p, &mesh));
    double n_wrong = 0.0;
    for (uint64_t i = 0; i < TRIES; i++) {
        double u[4], centre[3];
        struct storm_cell_ref where;
        storm_random(11, STORM_STREAM_MESH, (struct storm_packet_id){.lo = i},
                     0, u);
        CHECK_OK(storm_mesh_locate(mesh, u, &where));
        storm_mesh_centre(mesh, where.idx, centre);
        if (material(NULL, u) == material(NULL, centre))
            continue;
        n_wrong++;
        n_wrong_out[material(NULL, u)]++;
    }
    storm_mesh_destroy(mesh);
    return 1000.0 * n_wrong / TRIES;
}

int main(int argc, char **argv)
{
    struct storm_context *world, *self;
    uint64_t n_world, n_self;
    MPI_Init(&argc, &argv);
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &world));
    CHECK_OK(storm_context_create(MPI_COMM_SELF, NULL, &self));
    CHECK_EQ(hash_of(world, &n_world), hash_of(self, &n_self));
    CHECK_EQ(n_world, n_self);
    if (storm_context_rank(world) == 0) {
        double plain[4] = {0}, sharp[4] = {0};
        double a = wrong_share(self, false, plain);
        double b = wrong_share(self, true, sharp);
        printf("points in cells of another material, of 1000: %g plain, %g "
               "sharp; of %d: block %g, sheet %g, bar %g\n",
               a, b, TRIES, sharp[BLOCK], sharp[SHEET], sharp[BAR]);
        CHECK(a > 30.0);
        CHECK(b < 3.0);
        CHECK_EQ((int)sharp[BLOCK], 0);
        CHECK_EQ((int)sharp[SHEET], 0);
    }
    storm_context_destroy(self);
    storm_context_destroy(world);
    MPI_Finalize();
    return CHECK_PASS;
}
