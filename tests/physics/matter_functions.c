/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 2 5; timeout: 60 */
/*
 * MATTER-1, ASK-1: functions of a host that repeat the power laws of a problem
 * give the same bits as the laws, on any number of ranks, grey and with
 * groups; they are asked by blocks. ASK-2, MATTER-3: a number that is wrong in
 * one cell, or a status, ends creation or the step on all ranks, and one rank
 * says where and what. MATERIAL-3: without rho_exp, density changes nothing.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/imc_box.h"
#include "support/law_matter.h"

enum { STEPS = 3, MATERIALS = 3 };
static const double step_s = 0.05;

static const struct storm_material laws[MATERIALS] = {
    {.name = "thick",
     .absorption = {.coef = 30, .rho_exp = 1, .max = 1e12},
     .heat_capacity = {.coef = 4, .t_exp = 0.5, .rho_exp = 1, .max = 1e12},
     .temperature_kev = 0.5,
     .radiation_temperature_kev = -1,
     .density_g_cm3 = 0.7},
    {.name = "thin",
     .absorption = {.coef = 2, .t_exp = -1, .rho_exp = 0.5, .max = 50},
     .scattering = {.coef = 3, .rho_exp = -1, .max = 1e12},
     .heat_capacity = {.coef = 1, .rho_exp = 2, .max = 1e12},
     .temperature_kev = 0.1,
     .radiation_temperature_kev = -1,
     .density_g_cm3 = 3},
    {.name = "held",
     .absorption = {.coef = 5, .max = 50},
     .temperature_kev = 0.8,
     .radiation_temperature_kev = -1},
};

static const struct storm_region regions[] = {
    {.material = 0},
    {.material = 1,
     .shape = {.kind = STORM_SHAPE_SPHERE,
               .centre_cm = {0.5, 0.5, 0.5},
               .radius_cm = {0, 0.45}}},
    {.material = 2,
     .shape = {.kind = STORM_SHAPE_BOX,
               .lo_cm = {0.0, 0.0, 0.0},
               .hi_cm = {0.3, 1, 0.2}}},
};

static const struct storm_problem problem = {
    STORM_PROBLEM_SIZES,
    .light_cm_s = 1,
    .radiation_erg_cm3_kev4 = 1,
    .hi_cm = {1, 1, 1},
    .materials = laws,
    .n_materials = MATERIALS,
    .regions = regions,
    .n_regions = sizeof regions / sizeof regions[0],
    .n_groups = 1,
    .emit_per_cell = 4,
    .min_per_cell = 2,
    .max_per_cell = 12,
    .comb = true,
    .seed = 5,
};

/* What was logged on this rank. */
struct messages {
    int n;
    char text[1024];
};

static void collect(void *self, storm_log_level level, int rank,
                    const char *message)
{
    struct messages *messages = self;
    (void)rank;
    if (level != STORM_LOG_ERROR)
        return;
    messages->n++;
    strncpy(messages->text, message, sizeof messages->text - 1);
}

/* A problem whose materials are functions. */
struct host {
    struct imc_box box;
    struct messages messages;
    struct law_matter functions[MATERIALS];
    struct storm_matter matter[MATERIALS];
    struct storm_material materials[MATERIALS];
};

static void host_open(struct host *host, MPI_Comm comm, bool by_functions,
                      uint64_t n_groups)
{
    const struct storm_cart_params cart = {
        .size = sizeof cart, .hi_cm = {1, 1, 1}, .n = {10, 9, 8}};
    struct storm_context_params params = STORM_CONTEXT_PARAMS_INIT;
    memset(host, 0, sizeof *host);
    params.log = collect;
    params.log_self = &host->messages;
    host->box.problem = problem;
    host->box.problem.materials = host->materials;
    if (n_groups > 1) {
        host->box.problem.n_groups = n_groups;
        host->box.problem.group_min_kev = 0.02;
        host->box.problem.group_max_kev = 20;
    }
    for (int i = 0; i < MATERIALS; i++) {
        host->materials[i] = laws[i];
        host->matter[i] = law_matter_make(&host->functions[i], &laws[i]);
        if (!by_functions)
            continue;
        host->materials[i] =
            (struct storm_material){.name = laws[i].name,
                                    .density_g_cm3 = laws[i].density_g_cm3,
                                    .temperature_kev = laws[i].temperature_kev,
                                    .radiation_temperature_kev = -1,
                                    .matter = &host->matter[i]};
    }
    CHECK_OK(storm_context_create(comm, &params, &host->box.context));
    CHECK_OK(storm_mesh_create_cart(host->box.context, &cart, &host->box.mesh));
}

static uint64_t host_run(MPI_Comm comm, bool by_functions, uint64_t n_groups)
{
    struct host host;
    host_open(&host, comm, by_functions, n_groups);
    imc_box_open(&host.box);
    CHECK_OK(storm_imc_start(host.box.imc, host.box.engine));
    imc_box_run(&host.box, step_s, STEPS);
    uint64_t hash = imc_box_hash(&host.box);
    for (int i = 0; i < MATERIALS && by_functions; i++) {
        int calls = (int)host.functions[i].n_calls;
        MPI_Allreduce(MPI_IN_PLACE, &calls, 1, MPI_INT, MPI_SUM, comm);
        CHECK(calls > 0);
        /* Blocks: not a cell at a time. */
        if (storm_context_size(host.box.context) == 1)
            CHECK(host.functions[i].max_cells >= 5 && calls < 100);
    }
    imc_box_close(&host.box);
    return hash;
}

/* ---- wrong answers ------------------------------------------------------ */

static const struct {
    enum law_fault fault;
    double wrong;
    bool at_create; /* else in the first step */
    const char *message;
} wrongs[] = {
    {LAW_ABSORPTION, (double)NAN, false, "the absorption of material 1 (thin)"},
    {LAW_ABSORPTION, -1.0, false, "is -1 1/cm"},
    {LAW_SCATTERING, (double)INFINITY, false, "the scattering"},
    {LAW_ENERGY, -2.0, true, "the energy"},
    {LAW_CAPACITY, 0.0, false, "expected a number above 0"},
    {LAW_TEMPERATURE, (double)NAN, false, "check its function temperature"},
    {LAW_STATUS, 0.0, false, "its function opacity returned status -5"},
};

static void check_wrong(size_t i)
{
    struct host host;
    char cell[32] = "cell 444: ";
    host_open(&host, MPI_COMM_WORLD, true, 1);
    check_where("wrong answer %zu", i);
    struct law_matter *thin = &host.functions[1];
    thin->fault = wrongs[i].fault;
    thin->wrong = wrongs[i].wrong;
    thin->at = 444;
    storm_status status;
    if (wrongs[i].at_create) {
        status = storm_imc_create(host.box.context, host.box.mesh,
                                  &host.box.problem, &host.box.imc);
    } else {
        host.box.problem.comb = false;
        imc_box_open(&host.box);
        CHECK_OK(storm_imc_start(host.box.imc, host.box.engine));
        CHECK_OK(storm_imc_set_step(host.box.imc, 0.0, step_s));
        status = storm_engine_step(host.box.engine);
    }
    CHECK(status < 0); /* on every rank */
    int n = host.messages.n, sum = n;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sum, 1);
    CHECK(n == 0 || strstr(host.messages.text, wrongs[i].message) != NULL);
    CHECK(n == 0 || wrongs[i].fault == LAW_STATUS ||
          strstr(host.messages.text, cell) != NULL);
    imc_box_close(&host.box);
}

/* Of laws alone. */
static void check_density(void)
{
    const struct storm_power_law law = {.coef = 2, .t_exp = 1.5, .max = 1e300};
    for (double t = 0.1; t < 9.0; t += 0.3) {
        CHECK(storm_power_law_value(&law, t, 1.0, 1.0) ==
              storm_power_law_value(&law, t, 0.3, 1.0));
        double energy = storm_power_law_energy(&law, t, 1.0);
        CHECK(energy == storm_power_law_energy(&law, t, 0.3));
        CHECK(fabs(storm_power_law_temperature(&law, energy, 7.0) - t) <
              1e-14 * t);
        CHECK(storm_power_law_capacity(&law, t, 0.3) ==
              storm_power_law_value(&law, t, 1.0, 1.0));
    }
    struct storm_power_law heavy = law;
    heavy.rho_exp = 2;
    double nine = 9.0 * storm_power_law_energy(&heavy, 0.7, 1.0);
    CHECK(fabs(storm_power_law_energy(&heavy, 0.7, 3.0) - nine) < 1e-14 * nine);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_density();
    for (uint64_t n_groups = 1; n_groups <= 4; n_groups += 3) {
        check_where("%d groups", (int)n_groups);
        uint64_t right = host_run(MPI_COMM_SELF, false, n_groups);
        CHECK_EQ(host_run(MPI_COMM_WORLD, false, n_groups), right);
        CHECK_EQ(host_run(MPI_COMM_WORLD, true, n_groups), right);
    }
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++)
        check_wrong(i);
    MPI_Finalize();
    return CHECK_PASS;
}
