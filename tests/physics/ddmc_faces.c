/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; timeout: 60 */
/*
 * Discrete diffusion at faces behind which packets fly, and at walls.
 *
 * Thick matter that absorbs a part of what it scatters, eps of all collisions,
 * takes in what a half-space does: of radiation from all directions
 * 2 sqrt(eps) times the first moment of Chandrasekhar's H for 1 - eps, from a
 * blackbody behind an empty cell and from one at its own wall; of a beam, and
 * of packets of the host, that begin on a wall, sqrt(eps) H(1). Within k
 * standard errors and what eq. (D10) is off, in the table. Above eps = 0.03
 * packets fly.
 *
 * Opacities at a face behind which nothing radiates are the same whatever is
 * there: vacuum, an empty cell, a cell that is outside, a blackbody of 0 keV.
 *
 * Momentum that thin matter is given does not depend on how thick other cells
 * are.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <storm/imc_user.h>
#include <storm/tally.h>

#include "support/check.h"
#include "support/imc_box.h"

static const double k = 4.5;
static const struct storm_wall_part mirror = {.kind = STORM_WALL_REFLECT};
static const double one[] = {0.0, 1.0}, zero[] = {0.0, 0.0}; /* curves */

enum { CELLS = 4, PACKETS = 20000 };

static struct storm_wall_part black(const double *kev, uint64_t packets)
{
    return (struct storm_wall_part){.kind = STORM_WALL_BLACKBODY,
                                    .temperature = {kev, 1},
                                    .stop_s = 1.0,
                                    .packets = packets};
}

/* Matter 0 in `hi_cm` of x, nothing before and behind it, in unit cells. */
static struct storm_problem make_problem(const struct storm_material *matter,
                                         const struct storm_region *region)
{
    struct storm_problem p = {
        STORM_PROBLEM_SIZES,    .light_cm_s = 1,   .radiation_erg_cm3_kev4 = 1,
        .hi_cm = {CELLS, 1, 1}, .n_groups = 1,     .materials = matter,
        .n_materials = 1,       .seed = 1,         .regions = region,
        .n_regions = 1,         .diffusion = true, .min_per_cell = 2000,
        .max_per_cell = 2000};
    for (int wall = 2; wall < STORM_N_WALLS; wall++)
        p.walls[wall] = (struct storm_wall){&mirror, 1};
    return p;
}

static void open_box(struct imc_box *box)
{
    const struct storm_cart_params cart = {
        .size = sizeof cart, .hi_cm = {CELLS, 1, 1}, .n = {CELLS, 1, 1}};
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &box->context));
    CHECK_OK(storm_mesh_create_cart(box->context, &cart, &box->mesh));
    imc_box_open(box);
}

/* ---- what matter takes in ------------------------------------------------ */

enum light { BEHIND_A_CELL, AT_THE_WALL, BEAM, HOST, LIGHTS };

static storm_status emit(void *self, struct storm_imc_births *births)
{
    (void)self;
    for (uint64_t i = 0; i < PACKETS; i++) {
        struct storm_packet packet = {
            .id = storm_packet_id_make(STORM_ORIGIN_USER, 1, 0, i),
            .position_cm = {0.0, 0.3, 0.6},
            .direction = {1.0, 0.0, 0.0},
            .time_left_s = 400.0,
            .weight_erg = 1.0,
            .cell_idx = -1};
        CHECK_OK(storm_imc_emit(births, &packet));
    }
    return STORM_OK;
}

static double taken(enum light light, double eps, double *flown_out)
{
    const struct storm_material matter = {
        .absorption = {.coef = 100.0 * eps, .max = 1e12},
        .scattering = {.coef = 100.0 * (1.0 - eps), .max = 1e12}};
    const struct storm_region region = {
        .shape = {.kind = STORM_SHAPE_BOX,
                  .lo_cm = {light == BEHIND_A_CELL ? 1 : -1, -1, -1},
                  .hi_cm = {CELLS + 1, 2, 2}}};
    const struct storm_source beam = {.kind = STORM_SOURCE_BEAM,
                                      .at_cm = {0, 0.5, 0.5},
                                      .direction = {1, 0, 0},
                                      .disc_radius_cm = 0.4,
                                      .power = {one, 1},
                                      .stop_s = 1,
                                      .temperature_kev = 1,
                                      .packets = PACKETS};
    const struct storm_imc_source host = {
        .size = sizeof host, .max_weight_erg = 1.0, .emit = emit};
    const struct storm_wall_part hot = black(one, PACKETS);
    struct storm_imc_share shares[STORM_IMC_METHODS];
    struct imc_box box = {.problem = make_problem(&matter, &region)};
    double energy[4];
    if (light <= AT_THE_WALL)
        box.problem.walls[0] = (struct storm_wall){&hot, 1};
    if (light == BEAM) {
        box.problem.sources = &beam;
        box.problem.n_sources = 1;
    }
    open_box(&box);
    if (light == HOST)
        CHECK_OK(storm_imc_set_source(box.imc, &host));
    CHECK(imc_box_step(&box, 0.0, 400.0, energy) <= 1e-13);
    CHECK(energy[3] < 1e-3 * energy[0]);
    CHECK_OK(storm_imc_shares(box.imc, box.engine, shares));
    *flown_out = shares[STORM_IMC_DIFFUSED].energy > 0.0 ? 0.0 : 1.0;
    imc_box_close(&box);
    return energy[1] / energy[0];
}

static void check_taken(void)
{
    /* From all directions and along the normal, by the H function (32 points
     * of Gauss); and how far it is off. */
    static const struct {
        double eps, all, normal, off_all, off_normal;
    } rows[] = {{0.001, 0.0703, 0.0872, 0.01, 0.02},
                {0.02, 0.2777, 0.3289, 0.01, 0.07},
                {0.1, 0.5220, 0.5851, 0.0, 0.0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int light = 0; light < LIGHTS; light++) {
            check_where("eps %g, light %d", rows[i].eps, light);
            bool is_normal = light >= BEAM;
            double flown, right = is_normal ? rows[i].normal : rows[i].all;
            double off = is_normal ? rows[i].off_normal : rows[i].off_all;
            double got = taken((enum light)light, rows[i].eps, &flown);
            double error = sqrt(right * (1.0 - right) / PACKETS);
            int rank;
            MPI_Comm_rank(MPI_COMM_WORLD, &rank);
            if (rank == 0)
                printf("eps %g, light %d: %.4f +- %.4f taken in, half-space "
                       "%.4f\n",
                       rows[i].eps, light, got, error, right);
            CHECK_EQ(flown > 0.0, rows[i].eps > 0.03);
            CHECK(fabs(got - right) <= k * error + off * right);
        }
}

/* ---- faces behind which nothing radiates --------------------------------- */

enum behind { VACUUM, NOTHING, OUTSIDE, COLD, BEHINDS };

/* The share that has left after a step. */
static double left(enum behind behind)
{
    const struct storm_material matter = {
        .scattering = {.coef = 100, .t_exp = -4.5, .max = 1e12},
        .temperature_kev = 1,
        .radiation_temperature_kev = 1};
    const struct storm_region regions[] = {
        {.material = 0,
         .shape = {.kind = STORM_SHAPE_BOX,
                   .lo_cm = {-1, -1, -1},
                   .hi_cm = {CELLS - 1, 2, 2}}},
        {.material = behind == OUTSIDE || behind == NOTHING ? STORM_OUTSIDE : 0,
         .shape = {.kind = STORM_SHAPE_BOX,
                   .lo_cm = {CELLS - 1, -1, -1},
                   .hi_cm = {CELLS + 1, 2, 2}}}};
    const struct storm_wall_part cold = black(zero, 1);
    struct imc_box box = {.problem = make_problem(&matter, regions)};
    double energy[4];
    box.problem.n_regions = behind == NOTHING ? 1 : 2;
    box.problem.walls[0] = (struct storm_wall){&mirror, 1};
    if (behind == COLD)
        box.problem.walls[1] = (struct storm_wall){&cold, 1};
    open_box(&box);
    CHECK_OK(storm_imc_start(box.imc, box.engine));
    CHECK(imc_box_step(&box, 0.0, 100.0, energy) <= 1e-13);
    imc_box_close(&box);
    return energy[2];
}

static void check_left(void)
{
    double first = left(VACUUM);
    for (int behind = 1; behind < BEHINDS; behind++) {
        double now = left((enum behind)behind);
        check_where("behind %d: %g, vacuum %g", behind, now, first);
        /* Of 2000 packets of weight 1 / 2000. */
        CHECK(fabs(now - first) <= k * sqrt((now + first) / 2000));
    }
}

/* ---- momentum ------------------------------------------------------------ */

/* What cells are given along x, with thin ones before one of this opacity. */
static void give(double opacity, double momentum_out[CELLS])
{
    const struct storm_material matter[] = {
        {.absorption = {.coef = 1, .max = 1e12}},
        {.scattering = {.coef = opacity, .max = 1e300}}};
    const struct storm_region regions[] = {
        {.material = 0},
        {.material = 1,
         .shape = {.kind = STORM_SHAPE_BOX,
                   .lo_cm = {CELLS - 1, -1, -1},
                   .hi_cm = {CELLS + 1, 2, 2}}}};
    const struct storm_wall_part hot = black(one, 1000);
    struct imc_box box = {.problem = make_problem(matter, regions)};
    double energy[4], values[3 * CELLS];
    box.problem.n_materials = box.problem.n_regions = 2;
    box.problem.walls[0] = (struct storm_wall){&hot, 1};
    open_box(&box);
    CHECK_OK(storm_imc_request(box.imc, STORM_IMC_MOMENTUM));
    CHECK(imc_box_step(&box, 0.0, 10.0, energy) <= 1e-13);
    CHECK_OK(storm_imc_get_moment(box.imc, STORM_IMC_MOMENTUM, values));
    for (int i = 0; i < CELLS; i++)
        momentum_out[i] = 0.0;
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(box.mesh); i++)
        momentum_out[storm_mesh_cell_id(box.mesh, i)] = values[3 * i];
    CHECK_OK(storm_context_reduce(box.context, momentum_out, CELLS, MPI_DOUBLE,
                                  MPI_SUM));
    imc_box_close(&box);
}

static void check_momentum(void)
{
    double thick[CELLS], very_thick[CELLS];
    give(1e15, thick);
    give(1e40, very_thick);
    for (int i = 0; i + 1 < CELLS; i++) {
        check_where("cell %d: %g and %g", i, thick[i], very_thick[i]);
        CHECK(very_thick[i] > 0.0);
        CHECK(very_thick[i] == thick[i]);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_taken();
    check_left();
    check_momentum();
    MPI_Finalize();
    return CHECK_PASS;
}
