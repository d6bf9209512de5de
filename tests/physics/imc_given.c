/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; timeout: 60 */
/* TEST ranks: 3; timeout: 60; label: long */
/*
 * Implicit Monte Carlo on given meshes.
 *
 * GIVEN-3, GIVEN-4: a Voronoi mesh of ours that is given back, in a random
 * partition, has the same state as before, bit for bit, with random walk and
 * without, with groups and sources; also after it was given again in another
 * partition (storm_mesh_replace): matter and packets follow. One that moves has
 * the bits of one rank. The portable kernel and that for AVX2 give the same
 * bits. A blackbody on numbered boundaries emits the energy of its
 * area (exact but for rounding), fills a cavity to its own temperature (k = 5
 * standard errors: evenly and by the cosine law, or it would not), and emits
 * the same packets in every partition.
 */
#include <math.h>
#include <stdio.h>

#include <storm/remap.h>

#include "base/port.h"
#include "moving.h"
#include "physics/imc.h"
#include "physics/track.h"
#include "run/run_points.h"
#include "support/check.h"
#include "support/host.h"
#include "support/imc_box.h"

static const double even_k = 5.0;

enum { N_CELLS = 150 };

static uint64_t box_step(struct imc_box *box, double time_s, double dt_s,
                         double energy[4])
{
    CHECK(imc_box_step(box, time_s, dt_s, energy) <= 1e-14);
    return imc_box_hash(box);
}

/* ---- the same bits ------------------------------------------------------ */

static const struct storm_material materials[] = {
    {.name = "thin",
     .absorption = {.coef = 1, .max = STORM_UNLIMITED},
     .heat_capacity = {.coef = 1, .max = STORM_UNLIMITED},
     .temperature_kev = 0.5,
     .radiation_temperature_kev = -1},
    {.name = "thick",
     .absorption = {.coef = 3, .max = STORM_UNLIMITED},
     .scattering = {.coef = 300, .max = STORM_UNLIMITED},
     .heat_capacity = {.coef = 2, .max = STORM_UNLIMITED},
     .temperature_kev = 0.8,
     .radiation_temperature_kev = -1},
};
static const struct storm_wall_part mirror[] = {{.kind = STORM_WALL_REFLECT}};

static struct storm_problem problem_of(bool walk, uint64_t n_groups)
{
    return (struct storm_problem){
        STORM_PROBLEM_SIZES,
        .light_cm_s = 1,
        .radiation_erg_cm3_kev4 = 1,
        .hi_cm = {1, 1, 1},
        .materials = materials,
        .n_materials = 2,
        .regions = imc_box_regions,
        .n_regions = IMC_BOX_REGIONS,
        .sources = &imc_box_source,
        .n_sources = 1,
        .walls = {{mirror, 1}, {NULL, 0}, {mirror, 1}},
        .n_groups = n_groups,
        .group_min_kev = 0.01,
        .group_max_kev = 10,
        .emit_per_cell = 4,
        .min_per_cell = 2,
        .max_per_cell = 8,
        .comb = true,
        .random_walk = walk,
        .seed = 1};
}

/* Takes the change over. */
static void follow(struct imc_box *box, struct storm_change *change)
{
    struct storm_remap_stats stats = STORM_REMAP_STATS_INIT;
    CHECK_OK(storm_imc_follow(box->imc, change));
    CHECK_OK(storm_remap(box->engine, box->mesh, change, NULL, &stats));
    CHECK_EQ(stats.outside, 0);
    CHECK(stats.fixed + stats.walked + stats.moved > 100);
    storm_change_destroy(change);
}

static void replace(struct imc_box *box, const struct host *host, uint64_t salt)
{
    struct storm_change *change;
    CHECK_OK(host_replace(host, box->context, salt, box->mesh, &change));
    follow(box, change);
}

/* Generators; and the mesh that is made of them. */
static struct storm_mesh *make_native(struct storm_context *context)
{
    struct storm_points_params set = {
        .size = sizeof set, .seed = 3, .n_total = N_CELLS, .hi_cm = {1, 1, 1}};
    struct storm_voronoi_params voronoi = {.size = sizeof voronoi,
                                           .hi_cm = {1, 1, 1}};
    struct storm_mesh *mesh;
    CHECK_OK(run_points_mesh(context, &set, &voronoi, &mesh));
    return mesh;
}

static void check_same(bool walk, uint64_t n_groups, bool portable)
{
    enum { STEPS = 2 };
    struct imc_box native = {.problem = problem_of(walk, n_groups)};
    struct imc_box given = native;
    CHECK_OK(storm_context_create(MPI_COMM_SELF, NULL, &native.context));
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &given.context));
    native.mesh = make_native(native.context);
    struct host host = host_of_voronoi(native.mesh);
    CHECK_OK(host_give(&host, given.context, 5, &given.mesh));
    imc_box_open(&native);
    imc_box_open(&given);
    if (portable)
        given.imc->advance = storm_track_given.imc;
    for (int i = 0; i < STEPS; i++) {
        double energy[4];
        if (i > 0)
            replace(&given, &host, 5 + (uint64_t)i);
        check_where("walk %d, groups %d, portable %d, step %d", walk,
                    (int)n_groups, portable, i);
        uint64_t hash = box_step(&native, 0.2 * i, 0.2, energy);
        CHECK_EQ(box_step(&given, 0.2 * i, 0.2, energy), hash);
        CHECK(energy[3] > 0.0);
    }
    imc_box_close(&given);
    imc_box_close(&native);
    host_free(&host);
}

/* A given mesh that moves, on all ranks and on one. */
static void check_moved(void)
{
    struct imc_box box[2] = {{.problem = problem_of(true, 1)}};
    struct storm_mesh *native;
    struct storm_change *change;
    uint64_t hash[2];
    double x[3 * N_CELLS], energy[4];
    box[1] = box[0];
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &box[0].context));
    CHECK_OK(storm_context_create(MPI_COMM_SELF, NULL, &box[1].context));
    native = make_native(box[1].context);
    struct host host = host_of_voronoi(native);
    for (int k = 0; k < 2; k++) {
        CHECK_OK(host_give(&host, box[k].context, 5, &box[k].mesh));
        imc_box_open(&box[k]);
        box_step(&box[k], 0.0, 0.2, energy);
    }
    host_free(&host);
    moving_random(native, 0.05, 1, x);
    CHECK_OK(storm_mesh_move(native, x, NULL, &change));
    storm_change_destroy(change);
    host = host_of_voronoi(native);
    for (int k = 0; k < 2; k++) {
        replace(&box[k], &host, 6);
        hash[k] = box_step(&box[k], 0.2, 0.2, energy);
    }
    CHECK_EQ(hash[0], hash[1]);
    host_free(&host);
    storm_mesh_destroy(native);
    for (int k = 0; k < 2; k++)
        imc_box_close(&box[k]);
}

/* ---- blackbodies -------------------------------------------------------- */

static const double hot[] = {0.0, 2.0};
static const struct storm_wall_part black[] = {
    {.kind = STORM_WALL_BLACKBODY,
     .temperature = {.points = hot, .n = 1},
     .stop_s = 100.0,
     .packets = 4000}};

/* Of tetrahedra, the boundary of all sides x high and y low is 7, the rest is
 * 2. */
static int renumber(int wall)
{
    return wall == 1 || wall == 2 ? 7 : 2;
}

static uint64_t check_black(uint64_t salt)
{
    const double lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1};
    struct host host = host_of_tetrahedra(3, lo, hi);
    struct storm_wall boundaries[8] = {[2] = {mirror, 1}, [7] = {black, 1}};
    struct imc_box box = {
        .problem = {STORM_PROBLEM_SIZES, .light_cm_s = 1,
                    .radiation_erg_cm3_kev4 = 1, .hi_cm = {1, 1, 1},
                    .n_groups = 1, .max_per_cell = 100,
                    .boundaries = boundaries, .n_boundaries = 8, .seed = 1}};
    double energy[4];
    for (size_t f = 0; f < host.n_faces; f++)
        if (host.behind[f] < 0)
            host.behind[f] = ~renumber(~host.behind[f]);
    host.n_boundaries = 8;
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &box.context));
    CHECK_OK(host_give(&host, box.context, salt, &box.mesh));
    CHECK_EQ(storm_mesh_n_boundaries(box.mesh), 8);
    imc_box_open(&box);
    uint64_t hash = box_step(&box, 0.0, 2.0, energy);
    /* a c T^4 / 4 times an area of 2 times 2 */
    CHECK(fabs(energy[0] - 16.0) <= 1e-12);
    CHECK(energy[2] > 0.0); /* from one black side to the other */
    for (int i = 1; i < 10; i++)
        hash ^= box_step(&box, 2.0 * i, 2.0, energy);
    /* Closed but for the black sides: it fills up to a T^4 = 16 in the unit
     * cube, as a blackbody cavity does, within k standard errors. A packet
     * stays for a time 4 V / (c A) = 2, so that there are about 4000. */
    CHECK(fabs(energy[3] - 16.0) <= even_k * 16.0 / sqrt(4000.0));
    imc_box_close(&box);
    host_free(&host);
    return hash;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_same(false, 1, false);
    check_same(true, 1, false);
    check_same(true, 1, true);
    check_same(false, 5, true);
    check_same(true, 5, false);
    check_where("moved");
    check_moved();
    check_where("blackbody");
    CHECK_EQ(check_black(1), check_black(2));
    MPI_Finalize();
    return CHECK_PASS;
}
