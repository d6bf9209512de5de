/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; timeout: 30 */
/*
 * WATCH-1: packets with few events are not sampled, packets that scatter
 * thousands of times are, in their material and group. WATCH-3: the state after
 * a step is the same, to the last bit, if nobody takes samples.
 */
#include <mpi.h>

#include <storm/context.h>
#include <storm/engine.h>
#include <storm/imc.h>

#include "physics/imc.h"
#include "support/check.h"

enum { N_GROUPS = 2, N_MATERIALS = 2, THICK = 1 };

/* A step; returns the state. */
static uint64_t one_step(struct storm_context *context, struct storm_mesh *mesh,
                         double scatter_per_cm, bool watched,
                         uint64_t samples_out[N_MATERIALS])
{
    const struct storm_material materials[N_MATERIALS] = {
        {.temperature_kev = 1, .heat_capacity = {.coef = 1, .max = 9}},
        {.temperature_kev = 1,
         .heat_capacity = {.coef = 1, .max = 9},
         .absorption = {.coef = 0.1, .max = 9},
         .scattering = {.coef = scatter_per_cm, .max = 1e9}}};
    const struct storm_region regions[] = {
        {.material = 0},
        {.material = THICK,
         .shape = {.kind = STORM_SHAPE_BOX, .hi_cm = {0.5, 1, 1}}}};
    const struct storm_problem problem = {
        STORM_PROBLEM_SIZES,         .light_cm_s = 1,
        .radiation_erg_cm3_kev4 = 1, .hi_cm = {1, 1, 1},
        .materials = materials,      .n_materials = N_MATERIALS,
        .regions = regions,          .n_regions = 2,
        .n_groups = N_GROUPS,        .group_min_kev = 0.1,
        .group_max_kev = 10,         .emit_per_cell = 20,
        .min_per_cell = 1,           .max_per_cell = 40};
    const struct storm_engine_params params = {
        .size = sizeof params, .record_bytes = sizeof(struct storm_packet)};
    struct storm_imc *imc;
    struct storm_engine *engine;
    uint64_t hash;
    CHECK_OK(storm_imc_create(context, mesh, &problem, &imc));
    CHECK_OK(storm_engine_create(context, &params, &engine));
    CHECK_OK(storm_imc_attach(imc, engine));
    CHECK_OK(storm_imc_start(imc, engine));
    if (!watched)
        imc->track.watch = NULL;
    CHECK_OK(storm_imc_set_step(imc, 0.0, 0.1));
    CHECK_OK(storm_engine_step(engine));
    CHECK_OK(storm_imc_hash(imc, engine, &hash));
    for (int m = 0; m < N_MATERIALS; m++) {
        const struct imc_watch_place *place = &imc->watch.places[m * N_GROUPS];
        samples_out[m] = place[0].n + place[1].n;
    }
    CHECK_EQ(imc->watch.n, samples_out[0] + samples_out[1]);
    storm_engine_destroy(engine);
    storm_imc_destroy(imc);
    return hash;
}

int main(int argc, char **argv)
{
    const struct storm_cart_params cart = {
        .size = sizeof cart, .hi_cm = {1, 1, 1}, .n = {2, 1, 1}};
    struct storm_context *context;
    struct storm_mesh *mesh;
    uint64_t samples[N_MATERIALS], none[N_MATERIALS];
    MPI_Init(&argc, &argv);
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &context));
    CHECK_OK(storm_mesh_create_cart(context, &cart, &mesh));

    uint64_t thin = one_step(context, mesh, 10.0, true, samples);
    CHECK_EQ(samples[0] + samples[THICK], 0);
    CHECK_EQ(one_step(context, mesh, 10.0, false, none), thin);

    uint64_t thick = one_step(context, mesh, 2e5, true, samples);
    CHECK(samples[THICK] > 0);
    CHECK(samples[THICK] > 9 * samples[0]);
    CHECK_EQ(one_step(context, mesh, 2e5, false, none), thick);
    CHECK_EQ(none[0] + none[THICK], 0);

    storm_mesh_destroy(mesh);
    storm_context_destroy(context);
    MPI_Finalize();
    return CHECK_PASS;
}
