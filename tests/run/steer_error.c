/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; timeout: 120; label: slow-asan slow-mpich */
/* TEST ranks: 1; args: long; timeout: 600; label: long slow-asan slow-mpich */
/*
 * packets.steer: error, in a small crooked pipe, at equal numbers of packets in
 * all. From the scatter of runs, the relative errors of the radiation energy
 * along the pipe: their mean is smaller than with equal numbers in cells (40
 * runs), and so is their standard deviation (200 runs in the long form; with
 * fewer the noise of two or three bins is too large). Energies are the same
 * within 4 standard errors (35 differences, most within 2).
 *
 * Seeds are not those on which the limits of steering were chosen.
 */
#include "case.h"

enum { SEEDS = 40, LONG_SEEDS = 200, FIRST_SEED = 5001, MOST_BINS = 64 };
static const double same_k = 4.0, usual_k = 2.0;

struct measured {
    size_t n;
    struct case_mean energy[MOST_BINS];
    double packets;
    double mean_error, deviation; /* over bins, of the relative error */
};

static void measure(const char *steer, uint64_t seeds, struct measured *m)
{
    static struct case_profile profile;
    const char *const sets[] = {steer,
                                "time.steps=20",
                                "mesh.cells=[35,8,1]",
                                "output.profile.bins=35",
                                "boundaries.x_lo.1.packets=500",
                                NULL};
    for (uint64_t seed = FIRST_SEED; seed < FIRST_SEED + seeds; seed++) {
        struct case_run run = case_open("crooked-pipe", seed, sets);
        m->packets += case_json(&run, "packets_created");
        case_at(&run, case_json(&run, "time"), &profile);
        m->n = profile.n;
        CHECK(m->n <= MOST_BINS);
        for (size_t i = 0; i < m->n; i++)
            case_add(&m->energy[i], profile.row[i][CASE_RADIATION]);
        case_close(&run);
    }
    struct case_mean errors = {0.0, 0.0, 0.0};
    for (size_t i = 0; i < m->n; i++)
        case_add(&errors, case_error(&m->energy[i]) * sqrt((double)seeds) /
                              case_average(&m->energy[i]));
    m->mean_error = case_average(&errors);
    m->deviation = case_error(&errors) * sqrt(errors.n);
    printf("%s: %.0f packets, relative error %.4f, standard deviation of it "
           "%.4f\n",
           steer, m->packets, m->mean_error, m->deviation);
}

int main(int argc, char **argv)
{
    static struct measured number, error;
    size_t n_unusual = 0;
    MPI_Init(&argc, &argv);
    bool all = argc > 1 && strcmp(argv[1], "long") == 0;
    uint64_t seeds = all ? LONG_SEEDS : SEEDS;
    setvbuf(stdout, NULL, _IOLBF, 0);
    measure("packets.steer=number", seeds, &number);
    measure("packets.steer=error", seeds, &error);
    CHECK(fabs(error.packets / number.packets - 1.0) < 0.1);
    CHECK(!all || error.deviation < 0.95 * number.deviation);
    CHECK(error.mean_error < 0.95 * number.mean_error);
    for (size_t i = 0; i < number.n; i++) {
        double off =
            case_average(&number.energy[i]) - case_average(&error.energy[i]);
        double both =
            hypot(case_error(&number.energy[i]), case_error(&error.energy[i]));
        CHECK(fabs(off) <= same_k * both);
        n_unusual += fabs(off) > usual_k * both;
    }
    printf("%zu of %zu differ by more than %g errors\n", n_unusual, number.n,
           usual_k);
    CHECK(n_unusual <= number.n / 5);
    MPI_Finalize();
    return CHECK_PASS;
}
