/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; args: grey; timeout: 1200; label: long slow-asan slow-mpich */
/* TEST ranks: 1; args: groups; timeout: 1200;
   label: long slow-asan slow-mpich */
/* TEST ranks: 1; args: slab; timeout: 1200; label: long slow-asan slow-mpich */
/* TEST ranks: 1; args: marshak; timeout: 1800;
   label: long slow-asan slow-mpich */
/* TEST ranks: 1; args: voronoi; timeout: 1200;
   label: long slow-asan slow-mpich */
/* TEST ranks: 1; args: quick; timeout: 120; label: slow-asan slow-mpich */
/* TEST ranks: 1; args: ddmc-100; timeout: 1800;
   label: long slow-asan slow-mpich */
/* TEST ranks: 1; args: ddmc-10000; timeout: 1800;
   label: long slow-asan slow-mpich */
/* TEST ranks: 1; args: ddmc-groups; timeout: 1800;
   label: long slow-asan slow-mpich */
/*
 * Decks with and without random walk: material energies at three places agree
 * within 3 standard errors, and with it the run takes a given part of the
 * processor's time at most. `grey` has 100 mean free paths a cell and a Fleck
 * factor below 0.01, `voronoi` 180 a cell; `groups` and `slab` walk partially
 * grey; in `marshak` the cells behind the front are thin and those ahead are
 * too cold to matter.
 *
 * The same for discrete diffusion: 100 and 10,000 mean free paths a cell, at
 * least 10 and 100 times faster, and 30 groups. Profiles of `ddmc-100` and
 * `ddmc-10000` are smooth: a step is one cell wide.
 */
#include <time.h>

#include "case.h"

#define SMOOTH "temperature=1-0.5*(3*(x/0.02)^2-2*(x/0.02)^3)"

enum { PLACES = 3, MOST_SETS = 7 };
static const double agree_k = 3.0;

static const struct walk_case {
    const char *name, *deck, *sets[MOST_SETS];
    const char *method; /* NULL: random walk */
    uint64_t seeds;
    size_t rows[PLACES]; /* of the profile */
    double max_error;    /* relative: and not for want of precision */
    double min_speedup;
} cases[] = {
    {.name = "grey",
     .deck = "thick-slab",
     .sets = {"time.steps=8"},
     .seeds = 10,
     .rows = {10, 11, 12},
     .max_error = 0.05,
     .min_speedup = 5.0},
    {.name = "groups",
     .deck = "thick-groups",
     .sets = {"time.steps=4"},
     .seeds = 10,
     .rows = {8, 11, 13},
     .max_error = 0.05,
     .min_speedup = 5.0},
    {.name = "slab",
     .deck = "multigroup-slab",
     .seeds = 12,
     .rows = {5, 12, 25},
     .max_error = 0.05,
     .min_speedup = 1.0},
    {.name = "marshak",
     .deck = "marshak",
     .seeds = 3,
     .rows = {20, 50, 65},
     .max_error = 0.03,
     .min_speedup = 0.8},
    {.name = "voronoi",
     .deck = "thick-slab",
     .sets = {"time.steps=3", "mesh.kind=voronoi", "mesh.points=30",
              "mesh.box.hi=[0.02,0.003,0.003]", "output.profile.bins=8",
              "packets.emit_per_cell=5", "packets.max_per_cell=10"},
     .seeds = 10,
     .rows = {4, 5, 6},
     .max_error = 0.1,
     .min_speedup = 3.0},
    {.name = "quick",
     .deck = "thick-groups",
     .sets = {"time.steps=2", "materials.0.absorption.coef=3e4",
              "materials.1.absorption.coef=3e4"},
     .seeds = 4,
     .rows = {8, 9, 11},
     .max_error = 0.1,
     .min_speedup = 1.2},
    {.name = "ddmc-100",
     .deck = "thick-slab",
     .method = "ddmc",
     .sets = {"time.steps=8", "materials.hot." SMOOTH,
              "materials.cold." SMOOTH},
     .seeds = 10,
     .rows = {4, 10, 15},
     .max_error = 0.05,
     .min_speedup = 10.0},
    {.name = "ddmc-10000",
     .deck = "thick-slab",
     .method = "ddmc",
     .sets = {"time.steps=4", "time.dt=2e-13", "materials.hot." SMOOTH,
              "materials.cold." SMOOTH, "materials.hot.absorption.coef=1e7",
              "materials.cold.absorption.coef=1e7"},
     .seeds = 10,
     .rows = {4, 10, 15},
     .max_error = 0.05,
     .min_speedup = 100.0},
    {.name = "ddmc-groups",
     .deck = "thick-groups",
     .method = "ddmc",
     .sets = {"time.steps=4", "groups.count=30"},
     .seeds = 10,
     .rows = {8, 11, 13},
     .max_error = 0.05,
     .min_speedup = 10.0},
};

static void measure(const struct walk_case *c, bool on,
                    struct case_mean mean[PLACES], double *seconds_out)
{
    static struct case_profile profile;
    char method[64];
    snprintf(method, sizeof method, "acceleration.method=%s",
             !on                 ? "none"
             : c->method != NULL ? c->method
                                 : "random_walk");
    const char *sets[MOST_SETS + 3] = {"acceleration.random_walk=false",
                                       method};
    memcpy(&sets[2], c->sets, sizeof c->sets);
    clock_t start = clock();
    for (uint64_t seed = 1; seed <= c->seeds; seed++) {
        struct case_run run = case_open(c->deck, seed, sets);
        case_at(&run, case_json(&run, "time"), &profile);
        for (int i = 0; i < PLACES; i++)
            case_add(&mean[i], profile.row[c->rows[i]][CASE_MATERIAL] * 1e-15);
        case_close(&run);
    }
    *seconds_out = (double)(clock() - start) / CLOCKS_PER_SEC;
}

static void compare(const struct walk_case *c)
{
    struct case_mean on[PLACES] = {{0.0, 0.0, 0.0}};
    struct case_mean off[PLACES] = {{0.0, 0.0, 0.0}};
    double seconds_on, seconds_off;
    measure(c, true, on, &seconds_on);
    measure(c, false, off, &seconds_off);
    printf("%s: %.2f s and %.2f s: %.1f times faster\n", c->name, seconds_on,
           seconds_off, seconds_off / seconds_on);
    for (int i = 0; i < PLACES; i++) {
        double a = case_average(&on[i]), b = case_average(&off[i]);
        double error = hypot(case_error(&on[i]), case_error(&off[i]));
        printf("cell %zu: %.4f, %.4f without, +- %.4f\n", c->rows[i], a, b,
               error);
        CHECK(fabs(a - b) <= agree_k * error);
        CHECK(error < c->max_error * b);
    }
    CHECK(seconds_off >= c->min_speedup * seconds_on);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    bool found = false;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(argv[1], cases[i].name) == 0) {
            compare(&cases[i]);
            found = true;
        }
    CHECK(found);
    MPI_Finalize();
    return CHECK_PASS;
}
