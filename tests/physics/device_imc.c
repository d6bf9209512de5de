/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; backend: shm; timeout: 60 */
/* TEST ranks: 1; timeout: 60; label: long */
/* TEST ranks: 3; backend: shm p2p ofi-tcp; timeout: 60; label: long */
/*
 * RUN-2 to RUN-4: implicit Monte Carlo on the emulated device has the state,
 * the balance and the counts of one on processors: grey and with groups, on all
 * kinds of meshes, with walls of all kinds and cells that are outside; with
 * every rank on a device, and with the odd ones alone; for kernels that end
 * after few events, too.
 */
#include <storm/octree.h>
#include <storm/voronoi.h>

#include "base/hash.h"
#include "physics/device_imc.h"
#include "run/run_points.h"
#include "support/check.h"
#include "support/device.h"
#include "support/host.h"
#include "support/imc_box.h"

enum { STEPS = 4 };
enum kind { CART, OCTREE, VORONOI, GIVEN, KINDS };
enum { GROUPS = 1, PERIODIC = 2, WALK = 4, MOMENTS = 8 };

static const struct storm_material materials[] = {
    {.name = "thick",
     .absorption = {.coef = 500, .max = 1e12},
     .heat_capacity = {.coef = 4, .max = 1e12},
     .temperature_kev = 0.5,
     .radiation_temperature_kev = -1},
    {.name = "thin",
     .absorption = {.coef = 2, .t_exp = -1, .max = 50},
     .scattering = {.coef = 3, .max = 1e12},
     .heat_capacity = {.coef = 1, .max = 1e12},
     .temperature_kev = 0.1,
     .radiation_temperature_kev = -1},
};
static const double hot[] = {0.0, 1.0};
static const struct storm_wall_part mirror = {.kind = STORM_WALL_REFLECT},
                                    periodic = {.kind = STORM_WALL_PERIODIC},
                                    spot[2] = {
                                        {.kind = STORM_WALL_VACUUM},
                                        {.kind = STORM_WALL_BLACKBODY,
                                         .temperature = {.points = hot, .n = 1},
                                         .stop_s = 100.0,
                                         .packets = 500,
                                         .shape = {.kind = STORM_SHAPE_CYLINDER,
                                                   .axis = 0,
                                                   .centre_cm = {0.4, 0.6},
                                                   .radius_cm = {0.1, 0.35},
                                                   .range_cm = {-1, 2}}}};

static struct storm_problem problem_of(unsigned what)
{
    struct storm_problem p = {STORM_PROBLEM_SIZES,
                              .light_cm_s = 1,
                              .radiation_erg_cm3_kev4 = 1,
                              .hi_cm = {1, 1, 1},
                              .materials = materials,
                              .n_materials = 2,
                              .regions = imc_box_regions,
                              .n_regions = IMC_BOX_REGIONS,
                              .sources = &imc_box_source,
                              .n_sources = 1,
                              .walls = {{spot, 2}, {&mirror, 1}, {&mirror, 1}},
                              .n_groups = what & GROUPS ? 5 : 1,
                              .group_min_kev = 0.01,
                              .group_max_kev = 10,
                              .emit_per_cell = 4,
                              .min_per_cell = 2,
                              .max_per_cell = 8,
                              .comb = true,
                              .random_walk = what & WALK,
                              .seed = 1};
    for (int wall = 0; wall < STORM_N_WALLS && (what & PERIODIC); wall++)
        p.walls[wall] = (struct storm_wall){&periodic, 1};
    return p;
}

static void make_mesh(struct imc_box *box, enum kind kind, bool is_periodic)
{
    struct storm_points_params set = {
        .size = sizeof set, .seed = 3, .n_total = 300, .hi_cm = {1, 1, 1}};
    struct storm_voronoi_params voronoi = {.size = sizeof voronoi,
                                           .hi_cm = {1, 1, 1}};
    struct storm_cart_params cart = {
        .size = sizeof cart, .hi_cm = {1, 1, 1}, .n = {7, 6, 5}};
    struct storm_octree_params octree = {
        .size = sizeof octree, .hi_cm = {1, 1, 1}, .n = {2, 2, 2}, .level = 1};
    const double lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1};
    for (int d = 0; d < 3; d++)
        voronoi.periodic[d] = cart.periodic[d] = octree.periodic[d] =
            is_periodic;
    struct host host;
    switch (kind) {
    case CART:
        CHECK_OK(storm_mesh_create_cart(box->context, &cart, &box->mesh));
        break;
    case OCTREE:
        CHECK_OK(storm_mesh_create_octree(box->context, &octree, &box->mesh));
        break;
    case VORONOI:
        CHECK_OK(run_points_mesh(box->context, &set, &voronoi, &box->mesh));
        break;
    default:
        host = host_of_bricks(lo, hi);
        CHECK_OK(host_give(&host, box->context, 3, &box->mesh));
        host_free(&host);
    }
}

/* What a run ends with. */
struct end {
    uint64_t hash, events, moments;
    double energy[4];
};

static const unsigned all_moments = STORM_IMC_GROUPS | STORM_IMC_FLUX |
                                    STORM_IMC_PRESSURE | STORM_IMC_MOMENTUM |
                                    STORM_IMC_EVENTS;

/* Of this rank's cells. */
static uint64_t moments_hash(const struct imc_box *box)
{
    enum { MAX = 20000 };
    static double values[MAX];
    uint64_t hash = 0;
    for (unsigned moment = 1; moment < all_moments; moment <<= 1) {
        size_t n = storm_imc_moment_values(box->imc, (storm_imc_moment)moment) *
                   (size_t)storm_mesh_n_cells(box->mesh);
        CHECK(n <= MAX);
        CHECK_OK(storm_imc_get_moment(box->imc, (storm_imc_moment)moment,
                                      values));
        for (size_t i = 0; i < n; i++)
            hash = storm_hash_fold_real(hash, values[i]);
    }
    return hash;
}

static struct end run(enum kind kind, unsigned what, bool emulated,
                      uint64_t events)
{
    struct imc_box box = {.problem = problem_of(what)};
    struct storm_stats stats = STORM_STATS_INIT;
    struct end end;
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &box.context));
    device_lend(box.context, emulated);
    make_mesh(&box, kind, what & PERIODIC);
    imc_box_open(&box);
    if (what & MOMENTS)
        CHECK_OK(storm_imc_request(box.imc, all_moments));
    CHECK_OK(storm_imc_start(box.imc, box.engine));
    if (emulated && events > 0)
        box.imc->there->run.events = events;
    for (int i = 0; i < STEPS; i++)
        CHECK(imc_box_step(&box, 0.2 * i, 0.2, end.energy) <= 1e-13);
    end.hash = imc_box_hash(&box);
    CHECK_OK(storm_engine_stats(box.engine, &stats));
    end.events = stats.events;
    end.moments = what & MOMENTS ? moments_hash(&box) : 0;
    if (emulated)
        CHECK(device_launches(box.context) >= STEPS);
    storm_engine_destroy(box.engine);
    storm_comb_destroy(box.comb);
    storm_imc_destroy(box.imc);
    storm_mesh_destroy(box.mesh);
    device_return(box.context);
    storm_context_destroy(box.context);
    return end;
}

static void check(enum kind kind, unsigned what, bool odd, uint64_t events)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check_where("mesh %d, case %#x, odd %d, %d events", (int)kind, what, odd,
                (int)events);
    struct end here = run(kind, what, false, 0);
    struct end there = run(kind, what, !odd || rank % 2 != 0, events);
    CHECK_EQ(there.hash, here.hash);
    CHECK_EQ(there.events, here.events);
    CHECK_EQ(there.moments, here.moments);
    for (int i = 0; i < 4; i++)
        CHECK(there.energy[i] == here.energy[i]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (enum kind kind = CART; kind < KINDS; kind++) {
        check(kind, 0, false, 0);
        check(kind, GROUPS, true, 3);
        check(kind, WALK, true, 0);
        check(kind, GROUPS | WALK, false, 5);
        check(kind, WALK | MOMENTS, true, 4);
        check(kind, GROUPS | WALK | MOMENTS, false, 0);
        if (kind != GIVEN)
            check(kind, GROUPS | PERIODIC, false, 2);
    }
    MPI_Finalize();
    return CHECK_PASS;
}
