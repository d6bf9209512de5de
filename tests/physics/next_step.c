/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 2; backend: shm; timeout: 30 */
/* TEST ranks: 3; backend: p2p; timeout: 30; label: slow-asan */
/*
 * STEPS-1 to STEPS-3, for hosts: hot matter in a box of mirrors fills it with
 * radiation. The change of matter is that of the cell that has emitted most,
 * that of radiation is known from the balance, and the suggested step follows
 * from both; all are the same bits as on one rank. Wrong values, and a call
 * before the first step, are errors.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <storm/imc_steps.h>

#include "support/check.h"
#include "support/imc_box.h"

enum { CELLS = 6, STEPS = 4 };

static const struct storm_wall_part mirror = {.kind = STORM_WALL_REFLECT};

/* A ball of matter that is hotter and emits faster than what is around it. */
static const struct storm_material materials[] = {
    {.absorption = {.coef = 0.2, .max = 1e12},
     .heat_capacity = {.coef = 4.0, .max = 1e12},
     .temperature_kev = 1.0},
    {.absorption = {.coef = 0.5, .max = 1e12},
     .heat_capacity = {.coef = 1.0, .max = 1e12},
     .temperature_kev = 1.2},
};

static void open_box(struct imc_box *box, MPI_Comm comm)
{
    const struct storm_cart_params cart = {
        .size = sizeof cart, .hi_cm = {1, 1, 1}, .n = {CELLS, CELLS, CELLS}};
    struct storm_problem p = {
        STORM_PROBLEM_SIZES,
        .light_cm_s = 1.0,
        .radiation_erg_cm3_kev4 = 1.0,
        .hi_cm = {1, 1, 1},
        .materials = materials,
        .n_materials = 2,
        .regions = imc_box_regions,
        .n_regions = 2, /* without that which is outside */
        .n_groups = 1,
        .emit_per_cell = 20,
        .min_per_cell = 10,
        .max_per_cell = 60,
        .comb = true,
        .seed = 5,
    };
    for (int wall = 0; wall < STORM_N_WALLS; wall++)
        p.walls[wall] = (struct storm_wall){&mirror, 1};
    *box = (struct imc_box){.problem = p};
    CHECK_OK(storm_context_create(comm, NULL, &box->context));
    CHECK_OK(storm_mesh_create_cart(box->context, &cart, &box->mesh));
    imc_box_open(box);
}

/* Largest |gain| / energy of a cell, without noise and floor. */
static double largest_gain(struct imc_box *box)
{
    static const storm_imc_field fields[] = {
        STORM_IMC_DEPOSITED, STORM_IMC_EMITTED, STORM_IMC_MATERIAL_ENERGY,
        STORM_IMC_VOLUME};
    size_t n = (size_t)storm_mesh_n_cells(box->mesh) + 1;
    double *v = calloc(4 * n, sizeof *v), max = 0.0;
    CHECK(v != NULL);
    for (size_t k = 0; k < 4; k++)
        CHECK_OK(storm_imc_get(box->imc, box->engine, fields[k], &v[k * n]));
    for (size_t i = 0; i + 1 < n; i++) {
        double gain = (v[i] - v[n + i]) / v[3 * n + i], now = v[2 * n + i];
        max = fmax(max, fabs(gain) / fmax(now, now - gain));
    }
    free(v);
    CHECK_OK(storm_context_reduce(box->context, &max, 1, MPI_DOUBLE, MPI_MAX));
    return max;
}

/* Steps by the suggestion; what was suggested. */
static void run(MPI_Comm comm, struct storm_imc_change changes_out[STEPS])
{
    struct imc_box box;
    open_box(&box, comm);
    struct storm_imc_control control = STORM_IMC_CONTROL_INIT;
    double time = 0.0, dt = 1e-4, radiation = 0.0;
    for (int k = 0; k < STEPS; k++) {
        double energy[4];
        struct storm_imc_change c = STORM_IMC_CHANGE_INIT;
        (void)imc_box_step(&box, time, dt, energy);
        CHECK_OK(storm_imc_next_step(box.imc, box.engine, &control, &c));
        double plain = largest_gain(&box);
        /* Deposits are a part of about c dt sigma of what is emitted. */
        CHECK(c.matter <= plain * (1.0 + 1e-12) && c.matter > 0.99 * plain);
        double matter = imc_box_total(&box, STORM_IMC_MATERIAL_ENERGY);
        double scale = fmax(energy[3], 0.1 * (matter + energy[3]));
        double filled = (energy[3] - radiation) / scale;
        CHECK(fabs(c.radiation - filled) <= 1e-9 * filled);
        double largest = fmax(c.matter, c.radiation);
        CHECK(c.overshoots == (largest > 0.2));
        double next = dt * fmin(fmax(0.1 / largest, 0.5), 1.2);
        CHECK(fabs(c.next_s - next) <= 1e-15 * dt);
        radiation = energy[3];
        changes_out[k] = c;
        time += dt;
        dt = c.next_s;
    }
    imc_box_close(&box);
}

static void check_same(void)
{
    struct storm_imc_change all[STEPS], one[STEPS];
    run(MPI_COMM_WORLD, all);
    run(MPI_COMM_SELF, one);
    for (int k = 0; k < STEPS; k++) {
        CHECK(all[k].matter == one[k].matter);
        CHECK(all[k].radiation == one[k].radiation);
        CHECK(all[k].next_s == one[k].next_s);
        CHECK_EQ(all[k].cell, one[k].cell);
    }
    CHECK(all[1].next_s > all[0].next_s);
}

/* ---- controls ----------------------------------------------------------- */

static double suggest(struct imc_box *box, struct storm_imc_control control,
                      bool *overshoots_out)
{
    struct storm_imc_change c = STORM_IMC_CHANGE_INIT;
    control.size = sizeof control;
    CHECK_OK(storm_imc_next_step(box->imc, box->engine, &control, &c));
    *overshoots_out = c.overshoots;
    return c.next_s;
}

static void check_refused(struct imc_box *box, struct storm_imc_control control)
{
    struct storm_imc_change c = STORM_IMC_CHANGE_INIT;
    control.size = sizeof control;
    CHECK_EQ(storm_imc_next_step(box->imc, box->engine, &control, &c),
             STORM_ERR_ARG);
}

static void check_controls(void)
{
    const double dt = 0.25;
    struct imc_box box;
    double energy[4];
    bool overshoots;
    struct storm_imc_control plain = STORM_IMC_CONTROL_INIT;
    struct storm_imc_change change = STORM_IMC_CHANGE_INIT;
    struct storm_imc_heating heating = STORM_IMC_HEATING_INIT;
    open_box(&box, MPI_COMM_WORLD);
    CHECK_EQ(storm_imc_next_step(box.imc, box.engine, &plain, &change),
             STORM_ERR_STATE);
    CHECK_EQ(storm_imc_get_heating(box.imc, &heating), STORM_ERR_STATE);
    (void)imc_box_step(&box, 0.0, dt, energy);

    /* All radiation is new: a change of up to 1. */
    CHECK(suggest(&box, plain, &overshoots) == 0.5 * dt && overshoots);
    struct storm_imc_control c = {.shrink = 0.125};
    CHECK(suggest(&box, c, &overshoots) < 0.5 * dt);
    c = (struct storm_imc_control){.target = 1e3};
    CHECK(suggest(&box, c, &overshoots) == 1.2 * dt && !overshoots);
    c = (struct storm_imc_control){.target = 1e3, .growth = 3.0};
    CHECK(suggest(&box, c, &overshoots) == 3.0 * dt);
    c.max_s = 2.0 * dt;
    CHECK(suggest(&box, c, &overshoots) == 2.0 * dt);
    c = (struct storm_imc_control){.min_s = 0.75 * dt};
    CHECK(suggest(&box, c, &overshoots) == 0.75 * dt);
    c = (struct storm_imc_control){.overshoot = 1e3};
    CHECK(suggest(&box, c, &overshoots) == 0.5 * dt && !overshoots);
    /* STEPS-3: it was to be 8 times as long. */
    c = (struct storm_imc_control){.target = 1e3, .planned_s = 8.0 * dt};
    CHECK(suggest(&box, c, &overshoots) == 8.0 * dt);
    c.target = 0.1;
    CHECK(suggest(&box, c, &overshoots) == 4.0 * dt);

    check_refused(&box, (struct storm_imc_control){.target = -1.0});
    check_refused(&box, (struct storm_imc_control){.growth = 0.5});
    check_refused(&box, (struct storm_imc_control){.shrink = 1.5});
    check_refused(&box, (struct storm_imc_control){.floor = NAN});
    check_refused(&box, (struct storm_imc_control){.min_s = 2.0, .max_s = 1.0});
    plain.size = 0;
    CHECK_EQ(storm_imc_next_step(box.imc, box.engine, &plain, &change),
             STORM_ERR_ARG);

    /* All matter cools: there is nothing to mistrust. */
    CHECK_OK(storm_imc_get_heating(box.imc, &heating));
    CHECK_EQ(heating.scarce_cells + heating.stiff_cells, 0);

    /* After a deposit on one rank, or storm_imc_set, cells are not those of the
     * step. */
    plain.size = sizeof plain;
    if (storm_context_rank(box.context) == 0)
        storm_imc_deposit(box.imc, 0, 1e-3);
    CHECK_EQ(storm_imc_get_heating(box.imc, &heating), STORM_ERR_STATE);
    (void)imc_box_step(&box, dt, dt, energy);
    CHECK_OK(storm_imc_get_heating(box.imc, &heating));
    double kev[1000];
    CHECK(storm_mesh_n_cells(box.mesh) <= 1000);
    CHECK_OK(storm_imc_get(box.imc, box.engine, STORM_IMC_TEMPERATURE, kev));
    CHECK_OK(storm_imc_set(box.imc, STORM_IMC_TEMPERATURE, kev));
    CHECK_EQ(storm_imc_next_step(box.imc, box.engine, &plain, &change),
             STORM_ERR_STATE);
    imc_box_close(&box);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_same();
    check_controls();
    MPI_Finalize();
    return CHECK_PASS;
}
