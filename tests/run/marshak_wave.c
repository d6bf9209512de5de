/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; timeout: 1200; label: long slow-asan slow-mpich */
/*
 * examples/decks/marshak.yaml: where the material reaches 0.5 keV. Right are
 * the fronts of two-temperature diffusion with an incoming-flux wall, solved
 * numerically for this problem: 0.0433, 0.0995 and 0.1416 cm at 1, 5 and 10
 * ns. 100 cells of 0.002 cm; steps from 1 ps, each 0.4 % longer, up to 20 ps.
 */
#include "case.h"
#include "tolerances.h"

static double front(const struct case_profile *p)
{
    for (size_t i = p->n - 1; i > 0; i--) {
        const double *a = p->row[i - 1], *b = p->row[i];
        if (a[CASE_MATERIAL_T] >= 0.5 && b[CASE_MATERIAL_T] < 0.5)
            return a[0] + (b[0] - a[0]) * (a[CASE_MATERIAL_T] - 0.5) /
                              (a[CASE_MATERIAL_T] - b[CASE_MATERIAL_T]);
    }
    return 0.0;
}

int main(int argc, char **argv)
{
    static const double time[3] = {1e-9, 5e-9, 1e-8};
    static const double right[3] = {0.0433, 0.0995, 0.1416};
    static struct case_profile profile;
    struct case_mean mean[3] = {{0.0, 0.0, 0.0}};
    MPI_Init(&argc, &argv);
    for (uint64_t seed = 1; seed <= MARSHAK_SEEDS; seed++) {
        struct case_run run = case_open("marshak", seed, NULL);
        for (int t = 0; t < 3; t++) {
            case_at(&run, time[t], &profile);
            case_add(&mean[t], front(&profile));
        }
        case_close(&run);
    }
    for (int t = 0; t < 3; t++) {
        double x = case_average(&mean[t]);
        printf("%g s: %.5f +- %.5f cm, right %.4f: %.1f %%\n", time[t], x,
               case_error(&mean[t]), right[t], 100.0 * (x / right[t] - 1.0));
        CHECK(fabs(x / right[t] - 1.0) <= marshak_relative[t]);
    }
    MPI_Finalize();
    return CHECK_PASS;
}
