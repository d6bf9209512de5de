/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; timeout: 60; label: slow-asan slow-mpich */
/*
 * examples/decks/infinite-medium.yaml against du/dt = -dE/dt = c sigma (E - a
 * T^4), with u = 2 T and natural units, solved here by Runge-Kutta in steps of
 * 1e-4; also on the tetrahedra of examples/decks/bent-pipe.msh.
 */
#include "case.h"
#include "tolerances.h"

static double slope(double u, double total)
{
    double t = 0.5 * u;
    return (total - u) - t * t * t * t;
}

static double material_at(double time)
{
    const double total = 2.0, h = 1e-4;
    double u = 2.0;
    for (long i = 0; i < lround(time / h); i++) {
        double k1 = slope(u, total);
        double k2 = slope(u + 0.5 * h * k1, total);
        double k3 = slope(u + 0.5 * h * k2, total);
        double k4 = slope(u + h * k3, total);
        u += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
    }
    return u;
}

static void compare(const char *groups, const char *mesh,
                    const char *boundaries, const char *packets)
{
    /* Energy at census is that of the end of the step. */
    const char *const sets[] = {"output.times=[0.25,1]",
                                "output.radiation=census",
                                groups,
                                mesh,
                                boundaries,
                                packets,
                                NULL};
    static const double times[3] = {0.25, 1.0, 2.0};
    static struct case_profile profile;
    struct case_mean mean[3] = {{0.0, 0.0, 0.0}};
    for (uint64_t seed = 1; seed <= INFINITE_SEEDS; seed++) {
        struct case_run run = case_open("infinite-medium", seed, sets);
        for (int t = 0; t < 3; t++) {
            case_at(&run, times[t], &profile);
            const double *row = profile.row[0];
            /* What one has lost the other has. */
            CHECK(fabs(row[CASE_RADIATION] + row[CASE_MATERIAL] - 2.0) < 1e-12);
            case_add(&mean[t], row[CASE_MATERIAL]);
        }
        case_close(&run);
    }
    for (int t = 0; t < 3; t++) {
        double right = material_at(times[t]);
        double off = case_average(&mean[t]) - right;
        double error = case_error(&mean[t]);
        printf("%s, %s, t %g: %.5f +- %.5f, right %.5f\n", groups,
               mesh != NULL ? mesh : "cubes", times[t], right + off, error,
               right);
        CHECK(fabs(off) <= infinite_k * error + infinite_steps);
        CHECK(error < 0.01);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    compare("groups.count=1", NULL, NULL, NULL);
    /* Groups with the same opacity are one. */
    compare("groups={count: 12, min: 0.01, max: 50}", NULL, NULL, NULL);
    /* Tetrahedra from a file, with mirrors around. */
    compare("time.dt=0.02", "mesh={kind: file, file: bent-pipe.msh}",
            "boundaries={1: {kind: reflect}, 2: {kind: reflect}, "
            "3: {kind: reflect}}",
            "packets={emit_per_cell: 2, min_per_cell: 1, max_per_cell: 8}");
    MPI_Finalize();
    return CHECK_PASS;
}
