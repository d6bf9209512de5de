/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 3; timeout: 60; label: slow-asan slow-mpich */
/* TEST ranks: 3; timeout: 60; args: tetrahedra; label: slow-asan slow-mpich */
/*
 * Uniform isotropic emission into a box of mirrors, or a periodic one, of
 * Cartesian or of Voronoi cells: the radiation stays uniform and isotropic. E
 * erg/cm3 emitted at the start of every step make an energy density of n E
 * during step n, so the tally, which is that times the speed, must be n E c in
 * every part of the box.
 *
 * Sample: 24 runs with different seeds, 6 steps, 3 packets a cell and step.
 * Parts: the 8 corner cells (Cartesian), the 8 octants, 8 slabs in x; other
 * cells are where their centres are. The standard error of each part's mean
 * comes from the spread over the runs. With tetrahedra, a mesh of a host, 16
 * runs of one packet a cell and step.
 */
#include <math.h>
#include <stdio.h>

#include "problem.h"
#include "tolerances.h"

enum { MAX_RUNS = 24, STEPS = 6, PARTS = 24, CORNERS = 8, N = 8 };

/* A mesh. */
struct variant {
    const char *name;
    bool periodic, voronoi;
    const struct host *host; /* NULL: none */
};

/* The parts a cell belongs to, as bits. */
static uint32_t parts_of(const double centre[3], const double box[3])
{
    uint32_t octant = 0;
    bool corner = true;
    for (int d = 0; d < 3; d++) {
        double x = centre[d] / box[d];
        octant |= (uint32_t)(x > 0.5) << d;
        corner = corner && (x < 1.0 / N || x > 1.0 - 1.0 / N);
    }
    uint32_t slab = (uint32_t)(N * centre[0] / box[0]);
    return 1u << (8 + octant) | 1u << (16 + slab) |
           (corner ? 1u << octant : 0u);
}

/* Energy density times speed in each part, over n E c, averaged by volume. */
static void run(const struct variant *variant, uint64_t seed,
                double mean_out[PARTS])
{
    struct problem p = problem_default();
    for (int d = 0; d < 3; d++) {
        p.cart.n[d] = N;
        p.cart.periodic[d] = variant->periodic;
    }
    p.set.seed = 4;
    p.set.n_total = variant->voronoi ? N * N * N : 0;
    for (int wall = 0; !variant->periodic && wall < STORM_N_WALLS; wall++)
        p.streaming_params.walls[wall] = STORM_WALL_REFLECT;
    p.streaming_params.seed = seed;
    p.streaming_params.speed_cm_s = 3.0;
    p.streaming_params.emit_energy_erg_cm3 = 0.7;
    p.streaming_params.dt_s = 1.7;
    p.host = variant->host;
    if (variant->host != NULL)
        p.streaming_params.emit_per_cell = 1;
    problem_open(&p, MPI_COMM_WORLD);
    for (int step = 0; step < STEPS; step++)
        CHECK_OK(storm_engine_step(p.engine));

    double sums[2][PARTS] = {{0.0}};
    const double *tally = storm_streaming_energy_density(p.streaming);
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(p.mesh); i++) {
        double centre[3], volume = storm_mesh_volume_cm3(p.mesh, i);
        storm_mesh_centre(p.mesh, i, centre);
        uint32_t parts = parts_of(centre, p.cart.hi_cm);
        for (int k = 0; k < PARTS; k++)
            if (parts >> k & 1u) {
                sums[0][k] += volume * tally[i];
                sums[1][k] += volume;
            }
    }
    MPI_Allreduce(MPI_IN_PLACE, sums, 2 * PARTS, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    double right = STEPS * 0.7 * 3.0;
    for (int k = 0; k < PARTS; k++)
        mean_out[k] = sums[0][k] / (sums[1][k] * right);
    problem_close(&p);
}

static void check(const struct variant *variant)
{
    double sum[PARTS] = {0.0}, square[PARTS] = {0.0};
    int n_runs = variant->host != NULL ? 16 : MAX_RUNS;
    for (uint64_t seed = 1; seed <= (uint64_t)n_runs; seed++) {
        double mean[PARTS];
        run(variant, seed, mean);
        for (int k = 0; k < PARTS; k++) {
            sum[k] += mean[k];
            square[k] += mean[k] * mean[k];
        }
    }
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = variant->voronoi ? CORNERS : 0; k < PARTS; k++) {
        double mean = sum[k] / n_runs;
        double variance = (square[k] / n_runs - mean * mean) / (n_runs - 1);
        double k_off = (mean - 1.0) / sqrt(variance);
        if (rank == 0)
            printf("%s, part %d: %.4f +- %.4f (%.1f)\n", variant->name, k, mean,
                   sqrt(variance), k_off);
        CHECK(fabs(k_off) <= uniform_density_k);
        CHECK(fabs(mean - 1.0) < 0.1); /* and the errors are small enough to
                                          tell */
    }
}

int main(int argc, char **argv)
{
    static const struct variant list[] = {
        {"mirrors", false, false, NULL},
        {"periodic", true, false, NULL},
        {"periodic Voronoi", true, true, NULL},
    };
    const double lo[3] = {0, 0, 0};
    bool is_given = argc > 1;
    MPI_Init(&argc, &argv);
    struct problem box = problem_default();
    struct host host = host_of_tetrahedra(is_given ? N : 1, lo, box.cart.hi_cm);
    const struct variant given = {"tetrahedra", false, false, &host};
    if (is_given)
        check(&given);
    for (size_t i = 0; !is_given && i < sizeof list / sizeof list[0]; i++)
        check(&list[i]);
    host_free(&host);
    MPI_Finalize();
    return CHECK_PASS;
}
