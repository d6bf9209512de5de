/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; backend: shm; timeout: 60 */
/* TEST ranks: 3; backend: p2p; timeout: 60; label: slow-asan */
/*
 * Events by kind (STORM_IMC_EVENTS). In each step they add up to the events of
 * the engine, by cell and in all; on these ranks they are the numbers of one
 * rank, and the state is the one without them (MOMENTS-3): on boxes and
 * Voronoi cells, grey and with groups, with random walk and diffusion, walls
 * of all kinds, regions outside and a blackbody plane; each kind occurs. The
 * events of one packet in vacuum are those that can be counted by hand. Of two
 * kinds of scattering, each has its share (k standard errors).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <storm/imc_user.h>
#include <storm/tally.h>

#include "base/hash.h"
#include "run/run_points.h"
#include "support/check.h"
#include "support/imc_box.h"

enum { STEPS = 3, KINDS = STORM_IMC_N_EVENTS };
static const double k = 5.0;
static const double one_kev[2] = {0.0, 1.0};
static const struct storm_wall_part mirror = {.kind = STORM_WALL_REFLECT},
                                    user = {.kind = STORM_WALL_USER},
                                    black = {.kind = STORM_WALL_BLACKBODY,
                                             .temperature = {one_kev, 1},
                                             .stop_s = STORM_UNLIMITED,
                                             .packets = 300};
static const struct storm_region everywhere = {.material = 0};

/* ---- numbers ------------------------------------------------------------ */

static uint64_t engine_events(struct imc_box *box)
{
    struct storm_stats stats = STORM_STATS_INIT;
    storm_engine_stats(box->engine, &stats);
    CHECK_OK(storm_context_reduce(box->context, &stats.events, 1, MPI_UINT64_T,
                                  MPI_SUM));
    return stats.events;
}

/* A hash of the numbers of all cells, by tag; they add up to `all`. */
static uint64_t check_cells(struct imc_box *box, const uint64_t all[KINDS])
{
    size_t n = (size_t)storm_mesh_n_cells(box->mesh);
    double *values = calloc(n * KINDS + 1, sizeof *values);
    uint64_t sum[KINDS + 1] = {0};
    CHECK(values != NULL);
    CHECK_OK(storm_imc_get_moment(box->imc, STORM_IMC_EVENTS, values));
    for (size_t i = 0; i < n * KINDS; i++) {
        storm_cell_id tag =
            storm_mesh_cell_id(box->mesh, (storm_cell_idx)(i / KINDS));
        sum[i % KINDS] += (uint64_t)values[i];
        sum[KINDS] +=
            storm_hash_fold_real(storm_hash_fold(i % KINDS, tag), values[i]);
    }
    free(values);
    CHECK_OK(storm_context_reduce(box->context, sum, KINDS + 1, MPI_UINT64_T,
                                  MPI_SUM));
    for (int kind = 0; kind < KINDS; kind++)
        CHECK_EQ(sum[kind], all[kind]);
    return sum[KINDS];
}

/* One step; the numbers are added to `seen`. Returns their hash. */
static uint64_t count_step(struct imc_box *box, double time_s, double dt_s,
                           uint64_t seen[KINDS])
{
    double energy[4];
    uint64_t numbers[KINDS], sum = 0, before = engine_events(box);
    (void)imc_box_step(box, time_s, dt_s, energy);
    CHECK_OK(storm_imc_get_events(box->imc, numbers));
    for (int kind = 0; kind < KINDS; kind++) {
        sum += numbers[kind];
        seen[kind] += numbers[kind];
    }
    CHECK_EQ(sum, engine_events(box) - before);
    return check_cells(box, numbers);
}

static void box_open(struct imc_box *box, MPI_Comm comm, bool voronoi,
                     unsigned moments)
{
    struct storm_cart_params cart = {
        .size = sizeof cart, .hi_cm = {1, 1, 1}, .n = {4, 4, 4}};
    struct storm_points_params set = {
        .size = sizeof set, .seed = 3, .n_total = 80, .hi_cm = {1, 1, 1}};
    struct storm_voronoi_params cells = {.size = sizeof cells,
                                         .hi_cm = {1, 1, 1}};
    CHECK_OK(storm_context_create(comm, NULL, &box->context));
    if (voronoi)
        CHECK_OK(run_points_mesh(box->context, &set, &cells, &box->mesh));
    else
        CHECK_OK(storm_mesh_create_cart(box->context, &cart, &box->mesh));
    imc_box_open(box);
    CHECK_OK(storm_imc_request(box->imc, moments));
}

/* ---- everything --------------------------------------------------------- */

/* Takes some, a part of some, sends some to the middle. */
static storm_wall_answer at_wall(void *self, const struct storm_wall_hit *hit,
                                 struct storm_packet *packet)
{
    double u[4];
    (void)self;
    storm_packet_random(packet, hit->seed, u);
    if (u[0] < 0.3)
        return STORM_WALL_TAKE;
    packet->weight_erg *= 0.75;
    if (u[0] < 0.6)
        return STORM_WALL_MIRROR;
    for (int d = 0; d < 3; d++)
        packet->position_cm[d] = 0.3 + 0.3 * u[1];
    return STORM_WALL_MOVE;
}

static void check_all(bool voronoi, uint64_t n_groups, bool walk,
                      bool diffusion, uint64_t seen[KINDS])
{
    const struct storm_material materials[] = {
        {.absorption = {.coef = 30, .max = STORM_UNLIMITED},
         .scattering = {.coef = 1, .max = STORM_UNLIMITED},
         .heat_capacity = {.coef = 50, .max = STORM_UNLIMITED},
         .temperature_kev = 1},
        {.absorption = {.coef = 150, .max = STORM_UNLIMITED},
         .heat_capacity = {.coef = 0.1, .max = STORM_UNLIMITED},
         .temperature_kev = 1}};
    const struct storm_black_plane plane = {.at_cm = 0.1,
                                            .lo_cm = {0.2, 0.2},
                                            .hi_cm = {0.7, 0.7},
                                            .temperature = {one_kev, 1},
                                            .stop_s = STORM_UNLIMITED,
                                            .packets = 100};
    const struct storm_imc_walls walls = {.size = sizeof walls,
                                          .apply = at_wall};
    struct storm_problem problem = {STORM_PROBLEM_SIZES,
                                    .light_cm_s = 1,
                                    .radiation_erg_cm3_kev4 = 1,
                                    .hi_cm = {1, 1, 1},
                                    .materials = materials,
                                    .n_materials = 2,
                                    .regions = imc_box_regions,
                                    .n_regions = IMC_BOX_REGIONS,
                                    .planes = &plane,
                                    .n_planes = 1,
                                    .n_groups = n_groups,
                                    .group_min_kev = 0.1,
                                    .group_max_kev = 10,
                                    .random_walk = walk,
                                    .diffusion = diffusion,
                                    .emit_per_cell = 5,
                                    .min_per_cell = 2,
                                    .max_per_cell = 10,
                                    .comb = true,
                                    .seed = 4};
    problem.walls[0] = (struct storm_wall){&black, 1};
    problem.walls[2] = (struct storm_wall){&mirror, 1};
    problem.walls[3] = (struct storm_wall){&user, 1};
    const MPI_Comm comms[3] = {MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_WORLD};
    uint64_t hash[3][STEPS], other[KINDS] = {0};
    struct imc_box boxes[3];
    for (int b = 0; b < 3; b++) {
        struct imc_box *box = &boxes[b];
        double energy[4];
        *box = (struct imc_box){.problem = problem};
        box_open(box, comms[b], voronoi, b < 2 ? STORM_IMC_EVENTS : 0);
        CHECK_OK(storm_imc_set_walls(box->imc, &walls));
        for (int i = 0; i < STEPS; i++) {
            if (b < 2)
                hash[b][i] =
                    count_step(box, 0.2 * i, 0.2, b == 0 ? seen : other);
            else
                (void)imc_box_step(box, 0.2 * i, 0.2, energy);
        }
    }
    for (int i = 0; i < STEPS; i++)
        CHECK_EQ(hash[0][i], hash[1][i]);
    CHECK_EQ(imc_box_hash(&boxes[0]), imc_box_hash(&boxes[2]));
    CHECK(storm_imc_get_events(boxes[2].imc, other) == STORM_ERR_ARG);
    for (int b = 0; b < 3; b++)
        imc_box_close(&boxes[b]);
}

/* ---- one packet --------------------------------------------------------- */

/* From x = 0.4 to the mirror at 1, and back through the wall at 0; or, in less
 * time, to where a step ends. */
static void check_packet(double dt_s, const uint64_t answer[KINDS])
{
    const struct storm_material vacuum = {.temperature_kev = 0};
    struct imc_box box = {.problem = {STORM_PROBLEM_SIZES, .light_cm_s = 1,
                                      .radiation_erg_cm3_kev4 = 1,
                                      .hi_cm = {1, 1, 1}, .materials = &vacuum,
                                      .n_materials = 1, .regions = &everywhere,
                                      .n_regions = 1, .n_groups = 1,
                                      .max_per_cell = 10, .seed = 1}};
    uint64_t numbers[KINDS] = {0};
    struct storm_packet packet = {.id = {.lo = 1},
                                  .position_cm = {0.4, 0.4, 0.4},
                                  .direction = {1, 0, 0},
                                  .weight_erg = 1,
                                  .birth_weight_erg = 1};
    struct storm_cell_ref at;
    box.problem.walls[1] = (struct storm_wall){&mirror, 1};
    box_open(&box, MPI_COMM_WORLD, false, STORM_IMC_EVENTS);
    storm_status status = storm_mesh_locate(box.mesh, packet.position_cm, &at);
    if (status == STORM_OK && at.rank == storm_context_rank(box.context)) {
        packet.cell_idx = at.idx;
        packet.cell = storm_mesh_cell_id(box.mesh, at.idx);
        CHECK_OK(storm_engine_add(box.engine, &packet));
    }
    (void)count_step(&box, 0.0, dt_s, numbers);
    for (int kind = 0; kind < KINDS; kind++)
        CHECK_EQ(numbers[kind], answer[kind]);
    imc_box_close(&box);
}

/* ---- shares ------------------------------------------------------------- */

/* In equilibrium at 1 keV, in the first step: f = 1 / (1 + 4 c sigma dt / C),
 * eq. (3). */
static void check_share(uint64_t n_groups, double absorb, double scatter)
{
    const double dt_s = 0.1, capacity = 2.0;
    const struct storm_material matter = {
        .absorption = {.coef = absorb, .max = STORM_UNLIMITED},
        .scattering = {.coef = scatter, .max = STORM_UNLIMITED},
        .heat_capacity = {.coef = capacity, .max = STORM_UNLIMITED},
        .temperature_kev = 1,
        .radiation_temperature_kev = 1};
    struct imc_box box = {
        .problem = {
            STORM_PROBLEM_SIZES, .light_cm_s = 1, .radiation_erg_cm3_kev4 = 1,
            .hi_cm = {1, 1, 1}, .materials = &matter, .n_materials = 1,
            .regions = &everywhere, .n_regions = 1, .n_groups = n_groups,
            .group_min_kev = 0.1, .group_max_kev = 10, .emit_per_cell = 50,
            .min_per_cell = 10, .max_per_cell = 200, .comb = true, .seed = 1}};
    uint64_t numbers[KINDS] = {0};
    for (int wall = 0; wall < STORM_N_WALLS; wall++)
        box.problem.walls[wall] = (struct storm_wall){&mirror, 1};
    box_open(&box, MPI_COMM_WORLD, false, STORM_IMC_EVENTS);
    CHECK_OK(storm_imc_start(box.imc, box.engine));
    (void)count_step(&box, 0.0, dt_s, numbers);
    double fleck = 1.0 / (1.0 + 4.0 * absorb * dt_s / capacity);
    double effective = (1.0 - fleck) * absorb;
    double share = effective / (effective + scatter);
    double seen = (double)numbers[STORM_IMC_EFFECTIVE];
    double n = seen + (double)numbers[STORM_IMC_PHYSICAL];
    double error = sqrt(share * (1.0 - share) / n);
    if (storm_context_rank(box.context) == 0)
        printf("groups %d: share %.4f of %.0f, right %.4f +- %.4f\n",
               (int)n_groups, seen / n, n, share, error);
    CHECK(n > 1000.0);
    CHECK(fabs(seen / n - share) <= k * error);
    imc_box_close(&box);
}

int main(int argc, char **argv)
{
    uint64_t seen[KINDS] = {0};
    MPI_Init(&argc, &argv);
    for (int voronoi = 0; voronoi < 2; voronoi++)
        for (int i = 0; i < 4; i++) {
            check_where("mesh %d, case %d", voronoi, i);
            check_all(voronoi, i == 2 ? 4 : 1, i > 0, i == 3, seen);
        }
    for (int kind = 0; kind < KINDS; kind++) {
        const char *name = storm_imc_event_name((storm_imc_event)kind);
        CHECK(name != NULL);
        check_where("%s", name);
        CHECK(seen[kind] > 0);
    }
    CHECK(storm_imc_event_name(STORM_IMC_N_EVENTS) == NULL);
    check_packet(10.0, (const uint64_t[KINDS]){[STORM_IMC_CROSSING] = 5,
                                               [STORM_IMC_REFLECTION] = 1,
                                               [STORM_IMC_ESCAPE] = 1});
    check_packet(0.5, (const uint64_t[KINDS]){
                          [STORM_IMC_CROSSING] = 2, [STORM_IMC_CENSUS] = 1});
    check_share(1, 5.0, 2.0);
    check_share(1, 5.0, 0.0);
    check_share(3, 5.0, 2.0);
    MPI_Finalize();
    return CHECK_PASS;
}
