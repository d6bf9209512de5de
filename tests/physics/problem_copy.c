/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; timeout: 20 */
/* A problem is copied with all it points to, and its arrays may be those of a
 * program with newer headers, whose elements are larger. */
#include <string.h>

#include <mpi.h>

#include <storm/context.h>
#include <storm/imc.h>

#include "support/check.h"

static void be_quiet(void *self, storm_log_level level, int rank,
                     const char *message)
{
    (void)self, (void)level, (void)rank, (void)message;
}

/* What a caller with newer headers would have. */
struct newer_region {
    struct storm_region region;
    double added;
};
struct newer_part {
    struct storm_wall_part part;
    double added;
};

struct given {
    char name[8], formula[8], wall_formula[8];
    double curve[4];
    struct storm_material material;
    struct newer_region regions[2];
    struct newer_part part;
    struct storm_source source;
    struct storm_problem problem;
};

static void fill(struct given *g)
{
    memset(g, 0, sizeof *g);
    strcpy(g->name, "gas");
    strcpy(g->formula, "x + y");
    strcpy(g->wall_formula, "1 + t");
    memcpy(g->curve, (double[]){0.0, 1.0, 1.0, 2.0}, sizeof g->curve);
    g->material =
        (struct storm_material){.name = g->name,
                                .absorption = {.coef = 1, .max = 9},
                                .heat_capacity = {.coef = 1, .max = 9},
                                .temperature_kev = 0.5,
                                .temperature_formula = g->formula,
                                .radiation_temperature_formula = g->formula,
                                .density_formula = g->formula};
    g->regions[0].region.material = STORM_OUTSIDE;
    g->part.part =
        (struct storm_wall_part){.kind = STORM_WALL_BLACKBODY,
                                 .temperature = {.points = g->curve, .n = 2},
                                 .stop_s = 1,
                                 .packets = 10,
                                 .temperature_formula = g->wall_formula};
    g->source = (struct storm_source){.power = {.points = g->curve, .n = 2},
                                      .power_formula = g->wall_formula,
                                      .stop_s = 1,
                                      .packets = 10,
                                      .temperature_kev = 1};
    g->problem = (struct storm_problem){
        STORM_PROBLEM_SIZES,
        .light_cm_s = 1,
        .radiation_erg_cm3_kev4 = 1,
        .hi_cm = {1, 1, 1},
        .materials = &g->material,
        .n_materials = 1,
        .regions = &g->regions[0].region,
        .n_regions = 2, /* the second fills the box with gas */
        .walls = {{.parts = &g->part.part, .n = 1}},
        .sources = &g->source,
        .n_sources = 1,
        .n_groups = 1,
        .max_per_cell = 10,
    };
    g->problem.region_size = sizeof g->regions[0];
    g->problem.wall_part_size = sizeof g->part;
}

int main(int argc, char **argv)
{
    struct storm_context *context;
    struct storm_mesh *mesh;
    struct storm_imc *imc = NULL;
    struct given given;
    struct storm_context_params quiet = STORM_CONTEXT_PARAMS_INIT;
    struct storm_cart_params cart = STORM_CART_PARAMS_INIT;
    MPI_Init(&argc, &argv);
    quiet.log = be_quiet;
    for (int d = 0; d < 3; d++)
        cart.hi_cm[d] = 1.0;
    CHECK_OK(storm_context_create(MPI_COMM_SELF, &quiet, &context));
    CHECK_OK(storm_mesh_create_cart(context, &cart, &mesh));

    fill(&given);
    CHECK_OK(storm_imc_create(context, mesh, &given.problem, &imc));
    memset(&given, 255, sizeof given);
    CHECK_EQ(storm_imc_material(imc, 0), 0);
    double kev;
    CHECK_OK(storm_imc_get(imc, NULL, STORM_IMC_TEMPERATURE, &kev));
    CHECK(kev == 1.0);
    storm_imc_destroy(imc);

    fill(&given);
    given.regions[1].added = 1.0; /* which this library does not know */
    CHECK(storm_imc_create(context, mesh, &given.problem, &imc) ==
          STORM_ERR_NOSUP);
    fill(&given);
    given.problem.wall_part_size = 0;
    CHECK(storm_imc_create(context, mesh, &given.problem, &imc) ==
          STORM_ERR_ARG);
    fill(&given);
    given.problem.size = 0;
    CHECK(storm_imc_create(context, mesh, &given.problem, &imc) ==
          STORM_ERR_ARG);

    struct storm_memory_entry entry = STORM_MEMORY_ENTRY_INIT;
    storm_mesh_destroy(mesh);
    CHECK_OK(storm_context_memory(context, 0, &entry));
    CHECK_EQ(entry.bytes, 0);
    storm_context_destroy(context);
    MPI_Finalize();
    return CHECK_PASS;
}
