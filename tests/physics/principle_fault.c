/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; timeout: 30 */
/*
 * The check of the maximum principle asks matter for temperatures that it need
 * never reach: a fault there, of functions of a host or of a table that ends,
 * does not end the step.
 */
#include <string.h>

#include <storm/matter.h>

#include "support/check.h"
#include "support/imc_box.h"

static const double most_erg_cm3 = 1.5;

static storm_status opacity(void *self, const struct storm_matter_block *block,
                            double *absorption_out, double *scattering_out)
{
    (void)self;
    for (size_t i = 0; i < block->n; i++) {
        absorption_out[i] = 1e3;
        scattering_out[i] = 0.0;
    }
    return STORM_OK;
}

/* Energy is temperature. */
static storm_status energy(void *self, const struct storm_matter_block *block,
                           double *energy_out)
{
    (void)self;
    memcpy(energy_out, block->temperature_kev, block->n * sizeof *energy_out);
    return STORM_OK;
}

static storm_status capacity(void *self, const struct storm_matter_block *block,
                             double *capacity_out)
{
    (void)self;
    for (size_t i = 0; i < block->n; i++)
        capacity_out[i] = 1.0;
    return STORM_OK;
}

static storm_status temperature(void *self,
                                const struct storm_matter_block *block,
                                const double *energies, double *temperature_out)
{
    int *refused = self;
    for (size_t i = 0; i < block->n; i++) {
        if (energies[i] > most_erg_cm3) {
            (*refused)++;
            return STORM_ERR_ARG;
        }
        temperature_out[i] = energies[i];
    }
    return STORM_OK;
}

int main(int argc, char **argv)
{
    static const double one_kev[] = {0.0, 1.0};
    /* So short that it heats nothing. */
    const struct storm_wall_part hot = {.kind = STORM_WALL_BLACKBODY,
                                        .temperature = {one_kev, 1},
                                        .stop_s = 0.1,
                                        .packets = 100};
    int refused = 0;
    const struct storm_matter matter = {.size = sizeof matter,
                                        .self = &refused,
                                        .opacity = opacity,
                                        .energy = energy,
                                        .heat_capacity = capacity,
                                        .temperature = temperature};
    const struct storm_material material = {.temperature_kev = 0.1,
                                            .matter = &matter};
    const struct storm_region all = {.material = 0};
    const struct storm_cart_params cart = {
        .size = sizeof cart, .hi_cm = {1, 1, 1}, .n = {2, 1, 1}};
    struct imc_box box = {
        .problem = {STORM_PROBLEM_SIZES, .light_cm_s = 1,
                    .radiation_erg_cm3_kev4 = 1, .hi_cm = {1, 1, 1},
                    .materials = &material, .n_materials = 1, .regions = &all,
                    .n_regions = 1, .n_groups = 1, .emit_per_cell = 10,
                    .min_per_cell = 10, .max_per_cell = 100, .seed = 1}};
    double sums[4];
    MPI_Init(&argc, &argv);
    box.problem.walls[0] = (struct storm_wall){&hot, 1};
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &box.context));
    CHECK_OK(storm_mesh_create_cart(box.context, &cart, &box.mesh));
    imc_box_open(&box);
    CHECK(imc_box_step(&box, 0.0, 20.0, sums) <= 1e-13);
    CHECK_OK(storm_context_reduce(box.context, &refused, 1, MPI_INT, MPI_SUM));
    CHECK(refused > 0);
    imc_box_close(&box);
    MPI_Finalize();
    return CHECK_PASS;
}
