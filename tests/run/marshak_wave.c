/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; timeout: 1200; args: marshak; label: long slow-asan slow-mpich
 */
/* TEST ranks: 2; timeout: 1200; args: marshak-voronoi;
 *      label: long slow-asan slow-mpich */
/* TEST ranks: 1; timeout: 60; args: short; label: slow-asan slow-mpich */
/* TEST ranks: 1; timeout: 600; args: meshes; label: long slow-asan slow-mpich
 */
/*
 * Where the material reaches 0.5 keV in a Marshak wave. Right are the fronts
 * of two-temperature diffusion with an incoming-flux wall, solved numerically
 * for this problem: 0.0433, 0.0995 and 0.1416 cm at 1, 5 and 10 ns.
 *
 * examples/decks/marshak.yaml: 100 cells of 0.002 cm; marshak-voronoi.yaml:
 * 900 Voronoi cells, about 0.004 cm wide. Steps from 1 ps, each 0.4 % longer,
 * up to 20 ps.
 *
 * Short: the first nanosecond, Cartesian cells of 0.002 cm, against the right
 * place. Meshes: the same beside 150 Voronoi cells of 0.004 cm, which are also
 * compared with it.
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

/* Mean places at some times. */
static void measure(const char *deck, const char *const *sets, uint64_t n_seeds,
                    size_t n_times, const double *time, struct case_mean *mean)
{
    static struct case_profile profile;
    for (uint64_t seed = 1; seed <= n_seeds; seed++) {
        struct case_run run = case_open(deck, seed, sets);
        CHECK(case_json(&run, "energy_balance") <= 1e-13);
        for (size_t t = 0; t < n_times; t++) {
            case_at(&run, time[t], &profile);
            case_add(&mean[t], front(&profile));
        }
        case_close(&run);
    }
}

static void check(const char *deck, double time, double right, double relative,
                  const struct case_mean *mean)
{
    double x = case_average(mean);
    printf("%s, %g s: %.5f +- %.5f cm, right %.4f: %.1f %%\n", deck, time, x,
           case_error(mean), right, 100.0 * (x / right - 1.0));
    CHECK(fabs(x / right - 1.0) <= relative);
}

static const double time[3] = {1e-9, 5e-9, 1e-8};
static const double right[3] = {0.0433, 0.0995, 0.1416};

static void long_run(const char *deck)
{
    struct case_mean mean[3] = {{0.0, 0.0, 0.0}};
    measure(deck, NULL, MARSHAK_SEEDS, 3, time, mean);
    for (int t = 0; t < 3; t++)
        check(deck, time[t], right[t], marshak_relative[t], &mean[t]);
}

static void short_run(bool has_voronoi)
{
    static const char *const cart[] = {"mesh.box.hi=[0.06,1,1]",
                                       "mesh.cells=[30,1,1]", "time.stop=1e-9",
                                       "output.profile.bins=30", NULL};
    static const char *const voronoi[] = {"mesh.box.hi=[0.06,0.012,0.012]",
                                          "mesh.points=150", "time.stop=1e-9",
                                          "output.profile.bins=15", NULL};
    struct case_mean a = {0.0, 0.0, 0.0}, b = {0.0, 0.0, 0.0};
    measure("marshak", cart, MARSHAK_SHORT_SEEDS, 1, time, &a);
    check("marshak", time[0], right[0], marshak_relative[0], &a);
    if (!has_voronoi)
        return;
    measure("marshak-voronoi", voronoi, MARSHAK_SHORT_SEEDS, 1, time, &b);
    check("marshak-voronoi", time[0], right[0], marshak_relative[0], &b);
    double error = hypot(case_error(&a), case_error(&b));
    CHECK(fabs(case_average(&a) - case_average(&b)) <=
          marshak_short_k * error + marshak_short_mesh * right[0]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    CHECK_EQ(argc, 2);
    if (strcmp(argv[1], "short") == 0 || strcmp(argv[1], "meshes") == 0)
        short_run(strcmp(argv[1], "meshes") == 0);
    else
        long_run(argv[1]);
    MPI_Finalize();
    return CHECK_PASS;
}
