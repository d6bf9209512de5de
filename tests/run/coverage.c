/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 3; timeout: 60; label: slow-asan slow-mpich */
/* TEST ranks: 2; args: long; timeout: 600; label: long slow-asan slow-mpich */
/*
 * 95 % intervals hold the true value in 94 to 96 % of 2,000 trials. A trial is
 * a job of five replicas of examples/decks/absorber.yaml with a hundred
 * packets, without files; 2 E3(1) = 0.219383934396 of what the wall emits,
 * 0.025 erg, gets through (Abramowitz and Stegun, table 5.4). The problem is
 * linear: the mean of the method is the true value for any number of packets.
 * Seeds are 1 to 10,000, trial after trial; no others were tried. If intervals
 * are right, 2,000 trials are within 94 to 96 % with a probability of 0.96.
 *
 * Each rank runs trials by itself. The short form has 300 of them, within four
 * standard deviations, and a few also on all ranks together: same intervals.
 */
#include <inttypes.h>

#include "case.h"

enum { TRIALS = 2000, SHORT_TRIALS = 300, COMMON_TRIALS = 5, REPLICAS = 5 };

static const double energy_erg = 0.025;
static const double transmitted = 0.219383934396;

struct trial {
    double low, high, mean;
};

static double number_after(const char *json, const char *key)
{
    const char *at = strstr(json, key);
    CHECK(at != NULL);
    return strtod(at + strlen(key), NULL);
}

/* The interval of one job, on rank 0 of comm; the seed is an option of the
 * context. */
static struct trial run_trial(MPI_Comm comm, const struct storm_deck *deck,
                              uint64_t i)
{
    struct storm_options *options;
    struct storm_context *context;
    struct storm_run_report *report;
    struct trial trial = {0.0, 0.0, 0.0};
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, 1 + REPLICAS * i);
    CHECK_OK(storm_options_create(&options));
    CHECK_OK(storm_deck_set_options(deck, options));
    CHECK_OK(storm_options_set(options, "seed", text, NULL, 0));
    struct storm_context_params context_params = {.size = sizeof context_params,
                                                  .options = options};
    CHECK_OK(storm_context_create(comm, &context_params, &context));
    struct storm_run_params params = {.size = sizeof params,
                                      .replicas = REPLICAS};
    CHECK_OK(storm_run(context, deck, &params, &report));
    const char *json = storm_run_report_text(report, STORM_RUN_JSON);
    if (json != NULL) {
        const char *errors = strstr(json, "\"errors\": {");
        CHECK(errors != NULL);
        CHECK(number_after(errors, "\"created\": {\n        \"mean\": ") ==
              energy_erg);
        errors = strstr(errors, "\"escaped\": {");
        CHECK(errors != NULL);
        trial = (struct trial){number_after(errors, "\"low\": "),
                               number_after(errors, "\"high\": "),
                               number_after(errors, "\"mean\": ")};
    }
    storm_run_report_destroy(report);
    storm_context_destroy(context);
    storm_options_destroy(options);
    return trial;
}

/* The same trials on all ranks together. */
static void compare(const struct storm_deck *deck, int rank)
{
    for (uint64_t i = 0; i < COMMON_TRIALS; i++) {
        struct trial all = run_trial(MPI_COMM_WORLD, deck, i);
        struct trial one = run_trial(MPI_COMM_SELF, deck, i);
        CHECK(rank != 0 || (all.low == one.low && all.high == one.high &&
                            all.mean == one.mean));
    }
}

int main(int argc, char **argv)
{
    static const char *const sets[] = {"boundaries.x_lo.packets=100",
                                       "mesh.cells=[2,1,1]"};
    char path[CASE_PATH], *problems = NULL;
    struct storm_deck *deck = NULL;
    bool is_long = argc > 1 && strcmp(argv[1], "long") == 0;
    uint64_t trials = is_long ? TRIALS : SHORT_TRIALS;
    enum { HITS, SUM, SQUARE, N };
    double right = energy_erg * transmitted, sum[N] = {0.0};
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    case_deck("absorber", path);
    CHECK_OK(storm_deck_read(path, sets, 2, &deck, &problems));
    if (!is_long)
        compare(deck, rank);
    for (uint64_t i = (uint64_t)rank; i < trials; i += (uint64_t)size) {
        struct trial t = run_trial(MPI_COMM_SELF, deck, i);
        sum[HITS] += t.low <= right && right <= t.high;
        sum[SUM] += t.mean;
        sum[SQUARE] += t.mean * t.mean;
    }
    MPI_Allreduce(MPI_IN_PLACE, sum, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    struct case_mean all = {(double)trials, sum[SUM], sum[SQUARE]};
    double share = sum[HITS] / (double)trials;
    double most = is_long ? 0.01 : 4.0 * sqrt(0.95 * 0.05 / (double)trials);
    if (rank == 0)
        printf("%.0f of %.0f intervals hold the value, %.2f %%; mean %.8f +- "
               "%.8f, right %.8f\n",
               sum[HITS], (double)trials, 100.0 * share, case_average(&all),
               case_error(&all), right);
    CHECK(fabs(share - 0.95) <= most);
    CHECK(fabs(case_average(&all) - right) < 4.0 * case_error(&all));
    storm_deck_destroy(deck);
    MPI_Finalize();
    return CHECK_PASS;
}
