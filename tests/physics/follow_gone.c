/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2 3; backend: shm; timeout: 30 */
/*
 * Cells of a Voronoi mesh are removed under implicit Monte Carlo (FOLLOW-2,
 * FOLLOW-5): the energy of their matter is then in other cells, also in those
 * that were empty or outside, or in the accounts, as created and absorbed,
 * where a cell whose temperature is held took their place. Together it is what
 * was there before; the accounts balance; there is one warning; all of it as on
 * one rank.
 */
#include <math.h>
#include <string.h>

#include <storm/context.h>
#include <storm/imc.h>
#include <storm/remap.h>
#include <storm/voronoi.h>

#include "support/check.h"
#include "support/dice.h"
#include "support/imc_box.h"

enum { CELLS = 300 };

/* Quarters of the box, in x and y: matter, held, empty, outside. Cells of each
 * are next to cells of the others. */
static const struct storm_material materials[] = {
    {.name = "matter",
     .absorption = {.coef = 2, .max = 1e12},
     .heat_capacity = {.coef = 1, .t_exp = 1, .max = 1e12},
     .temperature_kev = 0.5,
     .radiation_temperature_kev = -1},
    {.name = "held",
     .absorption = {.coef = 1, .max = 1e12},
     .temperature_kev = 0.7,
     .radiation_temperature_kev = -1}};
#define BOX(_x0, _y0, _x1, _y1)                                      \
    {                                                                \
        .kind = STORM_SHAPE_BOX, .lo_cm = {_x0, _y0, -1}, .hi_cm = { \
            _x1,                                                     \
            _y1,                                                     \
            2                                                        \
        }                                                            \
    }
static const struct storm_region regions[] = {
    {.material = 0, .shape = BOX(-1, -1, 0.5, 0.5)},
    {.material = 1, .shape = BOX(0.5, -1, 2, 0.5)},
    {.material = STORM_OUTSIDE, .shape = BOX(-1, 0.5, 0.25, 2)}};
static const struct storm_problem problem = {STORM_PROBLEM_SIZES,
                                             .light_cm_s = 1,
                                             .radiation_erg_cm3_kev4 = 1,
                                             .hi_cm = {1, 1, 1},
                                             .materials = materials,
                                             .n_materials = 2,
                                             .regions = regions,
                                             .n_regions = 3,
                                             .n_groups = 1,
                                             .emit_per_cell = 2,
                                             .min_per_cell = 1,
                                             .max_per_cell = 4,
                                             .seed = 1};

struct world {
    struct imc_box box;
    int n_warnings;
};

static void count(void *self, storm_log_level level, int rank,
                  const char *message)
{
    struct world *w = self;
    (void)rank;
    CHECK(level != STORM_LOG_ERROR);
    w->n_warnings += strstr(message, "held temperatures") != NULL;
}

static void world_open(struct world *w, MPI_Comm comm)
{
    static double points[CELLS][3];
    struct storm_context_params context = {
        .size = sizeof context, .log = count, .log_self = w};
    struct storm_voronoi_params voronoi = {
        .size = sizeof voronoi, .hi_cm = {1, 1, 1}, .points_cm = &points[0][0]};
    struct imc_box *box = &w->box;
    *w = (struct world){.box = {.problem = problem}};
    CHECK_OK(storm_context_create(comm, &context, &box->context));
    for (int i = storm_context_rank(box->context); i < CELLS;
         i += storm_context_size(box->context)) {
        struct dice dice = dice_make(5, (uint64_t)i);
        for (int d = 0; d < 3; d++)
            points[voronoi.n_points][d] =
                (double)(dice_word(&dice) >> 11) * 0x1p-53;
        voronoi.n_points++;
    }
    CHECK_OK(storm_mesh_create_voronoi(box->context, &voronoi, &box->mesh));
    imc_box_open(box);
    CHECK_OK(storm_imc_start(box->imc, box->engine));
}

static double matter(struct world *w)
{
    return imc_box_total(&w->box, STORM_IMC_MATERIAL_ENERGY);
}

/* Nine of ten cells of matter: many have no others left next to them. */
static struct storm_change *remove_cells(struct world *w)
{
    static storm_cell_idx list[CELLS];
    struct storm_adapt_params params = STORM_ADAPT_PARAMS_INIT;
    struct storm_change *change;
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(w->box.mesh); i++)
        if (storm_imc_material(w->box.imc, i) == 0 &&
            dice_mix(storm_mesh_cell_id(w->box.mesh, i)) % 10 != 0)
            list[params.n_remove++] = i;
    params.remove = list;
    CHECK_OK(storm_mesh_adapt(w->box.mesh, &params, &change));
    return change;
}

/* All flows of a kind. */
static double flows(struct world *w, storm_imc_flow_kind kind)
{
    struct storm_imc_flow flow[16];
    double sum = 0.0;
    CHECK(storm_imc_n_flows(w->box.imc, kind) <= 16);
    CHECK_OK(storm_imc_flows(w->box.imc, kind, flow));
    for (size_t i = 0; i < storm_imc_n_flows(w->box.imc, kind); i++)
        sum += flow[i].energy_erg;
    return sum;
}

/* Differences of the accounts, of which none is left out. */
static void check_booked(struct world *w, double energy_out[4])
{
    double before[4], after[4], error, had = matter(w);
    CHECK_OK(storm_imc_balance(w->box.imc, w->box.engine, before, &error));
    struct storm_change *change = remove_cells(w);
    CHECK_OK(storm_imc_follow(w->box.imc, change));
    CHECK_OK(storm_remap(w->box.engine, w->box.mesh, change, NULL, NULL));
    storm_change_destroy(change);
    CHECK_OK(storm_imc_balance(w->box.imc, w->box.engine, after, &error));
    CHECK(error < 1e-14);
    for (int k = 0; k < 4; k++)
        energy_out[k] = after[k] - before[k];
    CHECK(energy_out[1] > 0.0 && energy_out[1] < had);
    CHECK(energy_out[2] == 0.0 && energy_out[3] == 0.0);
    CHECK(fabs(matter(w) + energy_out[1] - had) <= 1e-13 * had);
    /* FLOWS-1: of one step so far. */
    CHECK(fabs(flows(w, STORM_IMC_FLOW_CREATED) - after[0]) <=
          1e-13 * after[0]);
    CHECK(fabs(flows(w, STORM_IMC_FLOW_ABSORBED) - after[1]) <=
          1e-13 * after[0]);
    CHECK_EQ(w->n_warnings, storm_context_rank(w->box.context) == 0);
}

int main(int argc, char **argv)
{
    struct world w[2];
    double energy[2][4];
    uint64_t hash[2];
    MPI_Init(&argc, &argv);
    for (int k = 0; k < 2; k++) {
        world_open(&w[k], k == 0 ? MPI_COMM_WORLD : MPI_COMM_SELF);
        imc_box_run(&w[k].box, 0.1, 1);
        check_booked(&w[k], energy[k]);
        imc_box_run(&w[k].box, 0.1, 2);
        hash[k] = imc_box_hash(&w[k].box);
    }
    CHECK(memcmp(energy[0], energy[1], sizeof energy[0]) == 0);
    CHECK_EQ(hash[0], hash[1]);
    for (int k = 0; k < 2; k++)
        imc_box_close(&w[k].box);
    MPI_Finalize();
    return CHECK_PASS;
}
