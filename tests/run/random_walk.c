/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; timeout: 1200; label: long slow-asan slow-mpich */
/* TEST ranks: 2; timeout: 1200; args: voronoi; label: long slow-asan slow-mpich
 */
/*
 * examples/decks/thick-slab.yaml with and without random walk: the energy that
 * has come to the cold half, and how it is spread there, agree within 3
 * standard errors; with it, the transport takes a fifth of the time at most.
 * Sample: 10 runs each, 8 steps. The same in a bar of 30 Voronoi cells, about
 * 180 mean free paths wide, 3 steps: a third of the time.
 */
#include "case.h"

enum { SEEDS = 10, PARTS = 3 };
static const double agree_k = 3.0;

struct slab {
    const char *sets[7];
    size_t first_row; /* of the profile, behind the middle */
    double least_speedup;
};

static const struct slab boxes = {{"time.steps=8"}, 10, 5.0};
static const struct slab cells = {
    {"time.steps=3", "mesh.kind=voronoi", "mesh.points=30",
     "mesh.box.hi=[0.02,0.003,0.003]", "output.profile.bins=8",
     "packets.emit_per_cell=5", "packets.max_per_cell=10"},
    4,
    3.0};

/* Material energy in three parts behind the middle. */
static void measure(const struct slab *slab, const char *walk,
                    struct case_mean mean[PARTS], double *seconds_out)
{
    static struct case_profile profile;
    const char *sets[] = {walk,          slab->sets[0], slab->sets[1],
                          slab->sets[2], slab->sets[3], slab->sets[4],
                          NULL};
    *seconds_out = 0.0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct case_run run = case_open("thick-slab", seed, sets);
        *seconds_out += case_json(&run, "seconds");
        case_at(&run, case_json(&run, "time"), &profile);
        for (size_t i = 0; i < PARTS; i++)
            case_add(&mean[i],
                     profile.row[slab->first_row + i][CASE_MATERIAL] * 1e-15);
        case_close(&run);
    }
}

int main(int argc, char **argv)
{
    struct case_mean on[PARTS] = {{0.0, 0.0, 0.0}};
    struct case_mean off[PARTS] = {{0.0, 0.0, 0.0}};
    const struct slab *slab = argc > 1 ? &cells : &boxes;
    double seconds_on, seconds_off;
    MPI_Init(&argc, &argv);
    measure(slab, "acceleration.random_walk=true", on, &seconds_on);
    measure(slab, "acceleration.random_walk=false", off, &seconds_off);
    printf("%.2f s and %.2f s: %.1f times faster\n", seconds_on, seconds_off,
           seconds_off / seconds_on);
    for (int i = 0; i < PARTS; i++) {
        double a = case_average(&on[i]), b = case_average(&off[i]);
        double error = hypot(case_error(&on[i]), case_error(&off[i]));
        printf("part %d: %.4f, %.4f without, +- %.4f\n", i, a, b, error);
        CHECK(fabs(a - b) <= agree_k * error);
        CHECK(error < 0.05 * b);
    }
    CHECK(seconds_off >= slab->least_speedup * seconds_on);
    MPI_Finalize();
    return CHECK_PASS;
}
