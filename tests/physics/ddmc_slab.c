/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; timeout: 60; label: slow-asan */
/*
 * Discrete diffusion against what is known.
 *
 * Equilibrium: thick cells, thin ones and blackbody walls of one temperature,
 * on both sides, have a T^4 everywhere and no flux (k standard errors over
 * runs); boxes of equal and of growing width, Voronoi cells, and boxes that are
 * given with one number for several sides of a cell; grey and with groups.
 *
 * A slab of 41 mean free paths that scatters, lit by a blackbody: what comes
 * through is 4/3 / (41 + 2 * 0.7104), in 4 cells and in 2, one of them a
 * quarter or a half of it, and as without diffusion (k standard errors);
 * behind it the mean cosine of the flux is that of eq. (D5) (k), and 1 % from
 * that of transport. In each thick cell the flux is what comes through, and
 * momentum is sigma F / c: exactly, as a packet that comes back has moved
 * nowhere.
 *
 * Eqs. (D8) and (D9): cold matter beside hot, with a heat capacity of T^5, has
 * after one long step the share of its cell's energy that it has in
 * equilibrium, within a third; by the tangent it would have a two-hundredth of
 * that; the same with cold matter that is in hot radiation from the start. A
 * cold wall of opacity T^-4.5 behind an empty cell is heated by the radiation
 * in it: opacities at its face are not those of its own temperature. So is
 * matter at a wall of which a part beside the middle is hot.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <storm/imc_user.h>
#include <storm/tally.h>

#include "run/run_points.h"
#include "support/check.h"
#include "support/host.h"
#include "support/imc_box.h"

static const double k = 4.5;
static const double one_kev[] = {0.0, 1.0};
static const struct storm_wall_part mirror = {.kind = STORM_WALL_REFLECT};

static struct storm_wall_part black(uint64_t packets)
{
    return (struct storm_wall_part){.kind = STORM_WALL_BLACKBODY,
                                    .temperature = {one_kev, 1},
                                    .stop_s = STORM_UNLIMITED,
                                    .packets = packets};
}

static struct storm_problem make_problem(const struct storm_material *matter,
                                         size_t n)
{
    struct storm_problem p = {
        STORM_PROBLEM_SIZES, .light_cm_s = 1,      .radiation_erg_cm3_kev4 = 1,
        .hi_cm = {1, 1, 1},  .materials = matter,  .n_materials = n,
        .n_groups = 1,       .group_min_kev = 0.2, .group_max_kev = 20,
        .emit_per_cell = 30, .min_per_cell = 20,   .max_per_cell = 150,
        .comb = true,        .diffusion = true,    .seed = 1};
    for (int wall = 0; wall < STORM_N_WALLS; wall++)
        p.walls[wall] = (struct storm_wall){&mirror, 1};
    return p;
}

/* Mean and standard error of values that are added. */
struct sample {
    double n, sum, square;
};

static void sample_add(struct sample *s, double x)
{
    s->n += 1.0;
    s->sum += x;
    s->square += x * x;
}

static double sample_error(const struct sample *s)
{
    double mean = s->sum / s->n;
    return sqrt(fmax(s->square / s->n - mean * mean, 0.0) / (s->n - 1.0));
}

/* ---- equilibrium -------------------------------------------------------- */

enum { RUNS = 12, WARM = 2, STEPS = 5, PARTS = 8 };
enum kind { EQUAL, GROWING, VORONOI, GIVEN, KINDS };

static int number_of(int i, int side)
{
    (void)i;
    return side < 4 ? 0 : 1; /* a corner has two hot sides */
}

static void equilibrium_mesh(struct imc_box *box, enum kind kind)
{
    struct storm_cart_params cart = {.size = sizeof cart,
                                     .hi_cm = {1, 1, 1},
                                     .n = {PARTS, 1, 1},
                                     .stretch = {kind == GROWING ? 1.15 : 0}};
    struct storm_points_params set = {
        .size = sizeof set, .seed = 3, .n_total = 60, .hi_cm = {1, 1, 1}};
    struct storm_voronoi_params voronoi = {.size = sizeof voronoi,
                                           .hi_cm = {1, 1, 1}};
    struct host_box boxes[2 * PARTS];
    if (kind < VORONOI)
        CHECK_OK(storm_mesh_create_cart(box->context, &cart, &box->mesh));
    else if (kind == VORONOI)
        CHECK_OK(run_points_mesh(box->context, &set, &voronoi, &box->mesh));
    else {
        for (int i = 0; i < 2 * PARTS; i++)
            boxes[i] = (struct host_box){
                {(double)(i % PARTS) / PARTS, i / PARTS * 0.5, 0},
                {(double)(i % PARTS + 1) / PARTS, i / PARTS * 0.5 + 0.5, 1}};
        struct host host = host_of_boxes(boxes, 2 * PARTS, number_of, 2);
        CHECK_OK(host_give(&host, box->context, 1, &box->mesh));
        host_free(&host);
    }
}

/* Energy density and flux along x of eight layers, in one run. */
static void equilibrium_run(enum kind kind, bool groups, uint64_t seed,
                            double means_out[2 * PARTS])
{
    const struct storm_material matter[] = {
        {.absorption = {.coef = groups ? 2000 : 5,
                        .e_exp = groups ? -2 : 0,
                        .max = 1e12},
         .scattering = {.coef = groups ? 20 : 195, .max = 1e12},
         .heat_capacity = {.coef = groups ? 4 : 1e3, .max = 1e12},
         .temperature_kev = 1,
         .radiation_temperature_kev = 1},
        {.absorption = {.coef = 0.5, .max = 1e12},
         .heat_capacity = {.coef = 1e3, .max = 1e12},
         .temperature_kev = 1,
         .radiation_temperature_kev = 1}};
    const struct storm_region halves[] = {{.material = 0},
                                          {.material = 1,
                                           .shape = {.kind = STORM_SHAPE_BOX,
                                                     .lo_cm = {0.5, -1, -1},
                                                     .hi_cm = {2, 2, 2}}}};
    const struct storm_wall_part hot = black(400);
    const struct storm_wall numbers[2] = {{&hot, 1}, {&mirror, 1}};
    struct imc_box box = {.problem = make_problem(matter, 2)};
    double value[PARTS][3] = {{0.0}}, energy[4];
    box.problem.regions = halves;
    box.problem.n_regions = 2;
    box.problem.seed = seed;
    box.problem.n_groups = groups ? 8 : 1;
    box.problem.walls[0] = box.problem.walls[1] = (struct storm_wall){&hot, 1};
    if (kind == GIVEN) {
        box.problem.boundaries = numbers;
        box.problem.n_boundaries = 2;
    }
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &box.context));
    equilibrium_mesh(&box, kind);
    imc_box_open(&box);
    CHECK_OK(storm_imc_request(box.imc, STORM_IMC_FLUX));
    CHECK_OK(storm_imc_start(box.imc, box.engine));
    size_t n = (size_t)storm_mesh_n_cells(box.mesh);
    double *path = calloc(4 * n + 4, sizeof *path), *flux = path + n;
    CHECK(path != NULL);
    for (int i = 0; i < WARM + STEPS; i++) {
        CHECK(imc_box_step(&box, 0.3 * i, 0.3, energy) <= 1e-13);
        if (i < WARM)
            continue;
        CHECK_OK(storm_imc_get(box.imc, box.engine, STORM_IMC_RADIATION_PATH,
                               path));
        CHECK_OK(storm_imc_get_moment(box.imc, STORM_IMC_FLUX, flux));
        for (size_t c = 0; c < n; c++) {
            double at[3], v;
            storm_mesh_centre(box.mesh, (storm_cell_idx)c, at);
            v = storm_mesh_volume_cm3(box.mesh, (storm_cell_idx)c);
            int part = (int)(at[0] * PARTS);
            value[part][0] += v;
            value[part][1] += v * path[c];
            value[part][2] += v * flux[3 * c];
        }
    }
    free(path);
    CHECK_OK(storm_context_reduce(box.context, value, 3 * PARTS, MPI_DOUBLE,
                                  MPI_SUM));
    for (int i = 0; i < PARTS; i++) {
        means_out[i] = value[i][0] > 0.0 ? value[i][1] / value[i][0] : nan("");
        means_out[PARTS + i] = value[i][2] / value[i][0];
    }
    struct storm_imc_share shares[STORM_IMC_METHODS];
    CHECK_OK(storm_imc_shares(box.imc, box.engine, shares));
    CHECK(shares[STORM_IMC_DIFFUSED].energy > 0.2);
    CHECK(shares[STORM_IMC_FLOWN].energy > 0.2);
    imc_box_close(&box);
}

static void check_equilibrium(enum kind kind, bool groups)
{
    struct sample samples[2 * PARTS] = {{0.0, 0.0, 0.0}};
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        double means[2 * PARTS];
        check_where("mesh %d, groups %d, seed %d", kind, groups, (int)seed);
        equilibrium_run(kind, groups, seed, means);
        for (int i = 0; i < 2 * PARTS; i++)
            sample_add(&samples[i], means[i]);
    }
    for (int i = 0; i < 2 * PARTS; i++) {
        double mean = samples[i].sum / RUNS, error = sample_error(&samples[i]);
        if (rank == 0)
            printf("mesh %d, groups %d, %s %d: %.4f +- %.4f\n", kind, groups,
                   i < PARTS ? "energy" : "flux", i % PARTS, mean, error);
        if (isnan(mean)) /* no cell has its centre there */
            continue;
        CHECK(fabs(mean - (i < PARTS)) <= k * error);
        CHECK(error < 0.02);
    }
}

/* ---- a slab ------------------------------------------------------------- */

/* Mean free paths; cells before, in and behind it. */
static const double slab = 41.0;

struct slab_run {
    double through, error; /* relative to what comes in */
    double mu, mu_error;   /* mean over the flux behind it */
};

/* first: share of the first cell; the others are equal. */
static struct slab_run run_slab(int n_cells, double first, bool diffuses,
                                uint64_t packets)
{
    const double dt = 400.0, width = 0.8;
    const struct storm_material matter[] = {
        {.temperature_kev = 0},
        {.scattering = {.coef = slab / width, .max = 1e12},
         .temperature_kev = 0}};
    const struct storm_region regions[] = {{.material = 0},
                                           {.material = 1,
                                            .shape = {.kind = STORM_SHAPE_BOX,
                                                      .lo_cm = {0.1, -1, -1},
                                                      .hi_cm = {0.9, 2, 2}}}};
    struct storm_wall_part hot = black(packets);
    hot.stop_s = 1.0; /* all of it comes out again */
    double edges[16] = {0.0, 0.1}, energy[4], came = 0.0;
    struct imc_box box = {.problem = make_problem(matter, 2)};
    for (int i = 1; i <= n_cells; i++)
        edges[1 + i] =
            0.1 + width * (first + (1.0 - first) * (i - 1) / (n_cells - 1));
    edges[2 + n_cells] = 1.0;
    struct storm_cart_params cart = {.size = sizeof cart,
                                     .lo_cm = {0, 0, 0},
                                     .hi_cm = {1, 1, 1},
                                     .n = {n_cells + 2, 1, 1},
                                     .edges_cm = {edges}};
    box.problem.regions = regions;
    box.problem.n_regions = 2;
    box.problem.comb = false;
    box.problem.emit_per_cell = 0;
    box.problem.diffusion = diffuses;
    box.problem.walls[0] = (struct storm_wall){&hot, 1};
    box.problem.walls[1] = (struct storm_wall){NULL, 0};
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &box.context));
    CHECK_OK(storm_mesh_create_cart(box.context, &cart, &box.mesh));
    imc_box_open(&box);
    CHECK_OK(storm_imc_request(box.imc, STORM_IMC_FLUX | STORM_IMC_PRESSURE |
                                            STORM_IMC_MOMENTUM));
    CHECK(imc_box_step(&box, 0.0, dt, energy) <= 1e-13);
    size_t n = (size_t)storm_mesh_n_cells(box.mesh);
    double *all = calloc(13 * n + 13, sizeof *all);
    double *flux = all + n, *pressure = flux + 3 * n, *momentum = all + 10 * n;
    CHECK(all != NULL);
    CHECK_OK(storm_imc_get(box.imc, box.engine, STORM_IMC_RADIATION_PATH, all));
    CHECK_OK(storm_imc_get_moment(box.imc, STORM_IMC_FLUX, flux));
    CHECK_OK(storm_imc_get_moment(box.imc, STORM_IMC_PRESSURE, pressure));
    CHECK_OK(storm_imc_get_moment(box.imc, STORM_IMC_MOMENTUM, momentum));
    double rows[16][4] = {{0.0}}; /* energy, flux, pressure, momentum */
    for (size_t c = 0; c < n; c++) {
        int i = (int)storm_mesh_cell_id(box.mesh, (storm_cell_idx)c);
        rows[i][0] = all[c];
        rows[i][1] = flux[3 * c];
        rows[i][2] = pressure[6 * c];
        rows[i][3] = momentum[3 * c];
    }
    free(all);
    CHECK_OK(storm_context_reduce(box.context, rows, 64, MPI_DOUBLE, MPI_SUM));
    CHECK(energy[3] < 1e-3 * energy[0]);
    came = rows[n_cells + 1][1] * dt;
    for (int i = 1; diffuses && i <= n_cells; i++) {
        /* Apart from what is still there. */
        CHECK(fabs(rows[i][1] * dt - came) <= 1e-12 * energy[0] + energy[3]);
        double share = (edges[i + 1] - edges[i]) / width;
        CHECK(fabs(rows[i][3] - rows[i][1] * dt * slab * share) <=
              1e-12 * energy[0] * slab);
    }
    const double *last = rows[n_cells + 1];
    struct slab_run run = {.through = came / energy[0],
                           .mu = last[2] / last[1]};
    double p = run.through, left = p * (double)packets;
    run.error = sqrt(p * (1.0 - p) / (double)packets);
    run.mu_error = 0.22 / sqrt(left); /* eq. (D5) */
    if (storm_context_rank(box.context) == 0)
        printf("slab of %d cells, diffusion %d: %.5f +- %.5f through, mu %.4f "
               "+- %.4f\n",
               n_cells, diffuses, run.through, run.error, run.mu, run.mu_error);
    imc_box_close(&box);
    return run;
}

static void check_slab(void)
{
    const double right = 4.0 / 3.0 / (slab + 2.0 * 0.7104);
    static const double firsts[] = {0.5, 0.25, 0.25};
    struct slab_run flown = run_slab(4, 0.25, false, 60000);
    CHECK(fabs(flown.through - right) <= k * flown.error);
    for (int i = 0; i < 3; i++) {
        int n = i == 2 ? 4 : 2;
        check_where("slab of %d, the first %g of it", n, firsts[i]);
        struct slab_run run = run_slab(n, firsts[i], true, 200000);
        CHECK(fabs(run.through - right) <= k * run.error);
        CHECK(fabs(run.through - flown.through) <=
              k * hypot(run.error, flown.error));
        CHECK(fabs(run.mu - 17.0 / 24.0) <= k * run.mu_error);
        CHECK(fabs(run.mu / 0.7104 - 1.0) <= 0.01 + k * run.mu_error);
    }
}

/* ---- cold beside hot ---------------------------------------------------- */

/* Lit: all matter is cold, in hot radiation. */
static void check_heat(bool is_lit)
{
    struct storm_material matter[] = {
        {.absorption = {.coef = 100, .max = 1e12},
         .heat_capacity = {.coef = 1e3, .max = 1e12},
         .temperature_kev = 1,
         .radiation_temperature_kev = 1},
        {.absorption = {.coef = 100, .max = 1e12},
         .heat_capacity = {.coef = 30, .t_exp = 5, .max = 1e12},
         .temperature_kev = 0.03,
         .radiation_temperature_kev = 0.03}};
    const struct storm_region halves[] = {{.material = 0},
                                          {.material = 1,
                                           .shape = {.kind = STORM_SHAPE_BOX,
                                                     .lo_cm = {0.5, -1, -1},
                                                     .hi_cm = {2, 2, 2}}}};
    struct storm_cart_params cart = {
        .size = sizeof cart, .hi_cm = {1, 1, 1}, .n = {2, 1, 1}};
    struct imc_box box = {.problem = make_problem(matter, 2)};
    double energy[4], now[2] = {0.0, 0.0};
    if (is_lit) {
        matter[1].radiation_temperature_kev = 1;
        matter[0] = matter[1];
    }
    box.problem.regions = halves;
    box.problem.n_regions = 2;
    box.problem.emit_per_cell = box.problem.max_per_cell = 5000;
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &box.context));
    CHECK_OK(storm_mesh_create_cart(box.context, &cart, &box.mesh));
    imc_box_open(&box);
    CHECK_OK(storm_imc_start(box.imc, box.engine));
    CHECK(imc_box_step(&box, 0.0, 20.0, energy) <= 1e-13);
    double value[2][2];
    size_t n = (size_t)storm_mesh_n_cells(box.mesh);
    CHECK_OK(storm_imc_get(box.imc, box.engine, STORM_IMC_MATERIAL_ENERGY,
                           value[0]));
    CHECK_OK(storm_imc_get(box.imc, box.engine, STORM_IMC_RADIATION_CENSUS,
                           value[1]));
    for (size_t c = 0; c < n; c++)
        if (storm_mesh_cell_id(box.mesh, (storm_cell_idx)c) == 1)
            for (int i = 0; i < 2; i++)
                now[i] = value[i][c];
    CHECK_OK(storm_context_reduce(box.context, now, 2, MPI_DOUBLE, MPI_SUM));
    /* 5 T^6 + T^4 = what there is */
    double lo = 0.0, hi = 1.0, all = now[0] + now[1];
    for (int i = 0; i < 60; i++) {
        double t = 0.5 * (lo + hi), t4 = t * t * t * t;
        if (5.0 * t4 * t * t + t4 < all)
            lo = t;
        else
            hi = t;
    }
    double right = 5.0 * pow(lo, 6.0) / all, share = now[0] / all;
    if (storm_context_rank(box.context) == 0)
        printf("heated to %.3f keV: matter has %.3f, right %.3f\n", lo, share,
               right);
    CHECK(lo > 0.3);
    CHECK(fabs(share / right - 1.0) < 1.0 / 3.0);
    imc_box_close(&box);
}

/* ---- cold matter that is lit --------------------------------------------- */

/* From a blackbody behind an empty cell, or from a spot on the wall of the
 * matter itself that is not in the middle of the face. */
static void check_lit(bool is_spot)
{
    const struct storm_material matter = {
        .absorption = {.coef = 100, .t_exp = -4.5, .max = 1e12},
        .heat_capacity = {.coef = 30, .t_exp = 5, .max = 1e12},
        .temperature_kev = 0.01,
        .radiation_temperature_kev = 0.01};
    const struct storm_region wall = {
        .shape = {.kind = STORM_SHAPE_BOX,
                  .lo_cm = {is_spot ? -1 : 0.5, -1, -1},
                  .hi_cm = {2, 2, 2}}};
    const struct storm_wall_part hot = black(2000);
    struct storm_wall_part parts[2] = {mirror, hot};
    struct storm_cart_params cart = {
        .size = sizeof cart, .hi_cm = {1, 1, 1}, .n = {2, 1, 1}};
    struct imc_box box = {.problem = make_problem(&matter, 1)};
    double energy[4], kev[2], hottest = 0.0;
    box.problem.regions = &wall;
    box.problem.n_regions = 1;
    parts[1].shape = (struct storm_shape){
        .kind = STORM_SHAPE_BOX, .lo_cm = {-1, -1, -1}, .hi_cm = {2, 0.45, 2}};
    box.problem.walls[0] =
        is_spot ? (struct storm_wall){parts, 2} : (struct storm_wall){&hot, 1};
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &box.context));
    CHECK_OK(storm_mesh_create_cart(box.context, &cart, &box.mesh));
    imc_box_open(&box);
    for (int i = 0; i < 20; i++)
        CHECK(imc_box_step(&box, 2.0 * i, 2.0, energy) <= 1e-13);
    CHECK_OK(storm_imc_get(box.imc, box.engine, STORM_IMC_TEMPERATURE, kev));
    for (storm_cell_idx c = 0; c < storm_mesh_n_cells(box.mesh); c++)
        if (storm_mesh_cell_id(box.mesh, c) == !is_spot)
            hottest = kev[c];
    CHECK_OK(storm_context_reduce(box.context, &hottest, 1, MPI_DOUBLE,
                                  MPI_MAX));
    if (storm_context_rank(box.context) == 0)
        printf("cold matter, lit by a spot %d: %.3f keV\n", is_spot, hottest);
    CHECK(hottest > 0.3);
    imc_box_close(&box);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int is_spot = 0; is_spot < 2; is_spot++) {
        check_where("cold matter, spot %d", is_spot);
        check_lit(is_spot);
    }
    for (int is_lit = 0; is_lit < 2; is_lit++) {
        check_where("heat, lit %d", is_lit);
        check_heat(is_lit);
    }
    check_slab();
    for (int kind = 0; kind < KINDS; kind++)
        for (int groups = 0; groups < 2; groups++)
            check_equilibrium((enum kind)kind, groups);
    MPI_Finalize();
    return CHECK_PASS;
}
