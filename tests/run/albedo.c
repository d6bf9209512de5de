/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; timeout: 120; label: slow-asan slow-mpich */
/*
 * What a half-space that scatters isotropically sends back of radiation that
 * comes in isotropically, as from a blackbody: 1 - 2 sqrt(1 - w) alpha, w being
 * the albedo of a single collision and alpha the integral of mu H(mu) from 0 to
 * 1 (S. Chandrasekhar, Radiative Transfer, 1960, chapter V). H is solved for
 * here and compared with his table at w = 1: H(1) = 2.9078, alpha = 2/sqrt(3).
 *
 * examples/decks/absorber.yaml with other opacities, so thick that nothing
 * comes through; 8 runs of 20,000 packets. Also with random walk, which is used
 * at w = 0.99.
 */
#include "case.h"
#include "tolerances.h"

enum { ORDER = 400, ROUNDS = 4000 };

static double h_mu[ORDER], h_weight[ORDER], h[ORDER];

/* Midpoints in t, mu = t^2: H has an infinite slope at 0. */
static void make_points(void)
{
    for (int i = 0; i < ORDER; i++) {
        double t = (i + 0.5) / ORDER;
        h_mu[i] = t * t;
        h_weight[i] = 2.0 * t / ORDER;
        h[i] = 1.0;
    }
}

static double one_over_h(double mu, double w)
{
    double sum = 0.0;
    for (int i = 0; i < ORDER; i++)
        sum += h_weight[i] * h_mu[i] * h[i] / (mu + h_mu[i]);
    return sqrt(1.0 - w) + 0.5 * w * sum;
}

/* Iterates 1/H = sqrt(1 - w) + w/2 integral of mu' H(mu') / (mu + mu'), half
 * way each time; returns alpha. */
static double solve_h(double w)
{
    make_points();
    for (int k = 0; k < ROUNDS; k++) {
        double most = 0.0;
        static double next[ORDER];
        for (int i = 0; i < ORDER; i++) {
            next[i] = 0.5 * (h[i] + 1.0 / one_over_h(h_mu[i], w));
            most = fmax(most, fabs(next[i] / h[i] - 1.0));
        }
        memcpy(h, next, sizeof h);
        if (most < 1e-9)
            break;
    }
    double alpha = 0.0;
    for (int i = 0; i < ORDER; i++)
        alpha += h_weight[i] * h_mu[i] * h[i];
    return alpha;
}

static double reflected(const char *const *sets, double *error_out)
{
    struct case_mean mean = {0.0, 0.0, 0.0};
    for (uint64_t seed = 1; seed <= ALBEDO_SEEDS; seed++) {
        struct case_run run = case_open("absorber", seed, sets);
        CHECK(case_json(&run, "census") == 0.0);
        case_add(&mean,
                 case_json(&run, "escaped") / case_json(&run, "created"));
        case_close(&run);
    }
    *error_out = case_error(&mean);
    return case_average(&mean);
}

static void compare(double w, const char *thickness, const char *walk)
{
    char absorb[64], scatter[64];
    snprintf(absorb, sizeof absorb, "materials.0.absorption.coef=%g", 1.0 - w);
    snprintf(scatter, sizeof scatter, "materials.0.scattering.coef=%g", w);
    const char *const sets[] = {absorb, scatter, thickness, walk, NULL};
    double right = 1.0 - 2.0 * sqrt(1.0 - w) * solve_h(w), error;
    double found = reflected(sets, &error);
    printf("w %g, %s: %.5f +- %.5f, right %.5f\n", w, walk, found, error,
           right);
    CHECK(fabs(found - right) <= albedo_k * error);
    CHECK(error < 0.005 * right);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    setvbuf(stdout, NULL, _IOLBF, 0);
    double alpha = solve_h(1.0 - 1e-9);
    printf("w 1: H(1) = %.4f, alpha = %.4f\n", 1.0 / one_over_h(1.0, 1.0),
           alpha);
    CHECK(fabs(1.0 / one_over_h(1.0, 1.0 - 1e-9) - 2.9078) < 1e-3);
    CHECK(fabs(alpha - 2.0 / sqrt(3.0)) < 5e-4);
    compare(0.5, "mesh.box.hi=[30,1,1]", "acceleration.random_walk=false");
    compare(0.9, "mesh.box.hi=[30,1,1]", "acceleration.random_walk=false");
    compare(0.99, "mesh.box.hi=[150,1,1]", "acceleration.random_walk=false");
    compare(0.99, "mesh.box={hi: [150,150,150]}",
            "acceleration.random_walk=true");
    MPI_Finalize();
    return CHECK_PASS;
}
