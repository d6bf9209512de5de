/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 3; timeout: 60; label: slow-asan */
/*
 * examples/decks/absorber.yaml: of radiation from a blackbody, 2 E3(tau) gets
 * through a pure absorber of optical thickness tau; E3 is the exponential
 * integral (Abramowitz and Stegun, chapter 5). At 6 mean free paths most
 * packets end below a hundredth of their birth weight, where they are
 * absorbed as a whole.
 */
#include "case.h"
#include "tolerances.h"

static void transmission(const char *thickness, double right)
{
    const char *const sets[] = {thickness, NULL};
    struct case_mean mean = {0.0, 0.0, 0.0};
    for (uint64_t seed = 1; seed <= ABSORBER_SEEDS; seed++) {
        struct case_run run = case_open("absorber", seed, sets);
        CHECK(case_json(&run, "census") == 0.0);
        case_add(&mean,
                 case_json(&run, "escaped") / case_json(&run, "created"));
        case_close(&run);
    }
    double off = case_average(&mean) - right, error = case_error(&mean);
    printf("%s: %.6f +- %.6f, right %.6f\n", thickness, right + off, error,
           right);
    CHECK(fabs(off) <= absorber_k * error);
    CHECK(error < 0.02 * right); /* and not for want of precision */
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    transmission("materials.glass.absorption.coef=1", 2.0 * 0.109691967198);
    transmission("materials.glass.absorption.coef=6", 2.0 * 0.000284603697);
    MPI_Finalize();
    return CHECK_PASS;
}
