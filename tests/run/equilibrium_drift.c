/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; timeout: 120; label: slow-asan slow-mpich */
/* TEST ranks: 2; args: long; timeout: 300; label: long slow-asan */
/* TEST ranks: 2; timeout: 300; args: voronoi; label: long slow-asan slow-mpich
 */
/*
 * examples/decks/equilibrium.yaml: after 1,000 steps (200 in the short form)
 * the mean temperature of matter is 1 keV within 3 standard errors, which 20
 * runs show; in boxes and in as many Voronoi cells. (It cools by a part of
 * order 1/N, N packets a cell, because T^4 of a temperature that fluctuates is
 * larger on the mean: about 1e-5 here, less than an error.)
 */
#include "case.h"
#include "tolerances.h"

int main(int argc, char **argv)
{
    static struct case_profile profile;
    struct case_mean mean = {0.0, 0.0, 0.0};
    static const char *const brief[] = {"time.steps=200", NULL};
    static const char *const voronoi[] = {"mesh.kind=voronoi", "mesh.points=8",
                                          "mesh.lloyd=2", NULL};
    MPI_Init(&argc, &argv);
    const char *const *sets = brief;
    if (argc > 1)
        sets = strcmp(argv[1], "voronoi") == 0 ? voronoi : NULL;
    for (uint64_t seed = 1; seed <= EQUILIBRIUM_SEEDS; seed++) {
        struct case_run run = case_open("equilibrium", seed, sets);
        case_at(&run, case_json(&run, "time"), &profile);
        case_add(&mean, profile.row[0][CASE_MATERIAL_T]);
        case_close(&run);
    }
    double off = case_average(&mean) - 1.0, error = case_error(&mean);
    printf("mean temperature %.6f +- %.6f keV\n", 1.0 + off, error);
    CHECK(fabs(off) <= equilibrium_k * error);
    CHECK(error < 1e-4);
    MPI_Finalize();
    return CHECK_PASS;
}
