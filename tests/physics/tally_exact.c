/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; backend: shm; timeout: 60 */
/* TEST ranks: 3; backend: p2p; timeout: 60; label: slow-asan */
/* TEST ranks: 8; backend: p2p; timeout: 60; label: long */
/*
 * TALLY-1 to TALLY-4: what escapes, by everything, on all ranks and on one: the
 * same integers after each step; all bins together are the account of escaped
 * energy, integer for integer, and the packets are the engine's. Weights of
 * steps differ by powers of ten, so that units do. The state of the tallies
 * comes back, into the same tallies alone; packets of any weight that escape
 * between steps are counted whole.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <storm/tally.h>
#include <storm/voronoi.h>

#include "physics/imc.h"
#include "run/run_points.h"
#include "support/check.h"
#include "support/imc_box.h"

enum { GROUPS = 5, STEPS = 5, TALLIES = 3 };

static const struct storm_material matter[] = {
    {.absorption = {.coef = 2.0, .e_exp = -1.0, .max = 1e12},
     .scattering = {.coef = 1.0, .max = 1e12},
     .heat_capacity = {.coef = 10.0, .max = 1e300},
     .temperature_kev = 1.0,
     .radiation_temperature_kev = 0.5},
    {.absorption = {.coef = 0.5, .max = 1e12},
     .heat_capacity = {.coef = 1.0, .max = 1e300},
     .temperature_kev = 1e-3},
};
static const struct storm_wall_part mirror = {.kind = STORM_WALL_REFLECT};

static const double times[] = {0.0, 0.01, 0.2, 3.0};
static const double cosines[] = {-0.5, 0.1, 0.9};

static struct storm_problem make_problem(void)
{
    struct storm_problem p = {
        STORM_PROBLEM_SIZES,
        .light_cm_s = 1.0,
        .radiation_erg_cm3_kev4 = 1.0,
        .hi_cm = {1, 1, 1},
        .materials = matter,
        .n_materials = 2,
        .regions = imc_box_regions,
        .n_regions = IMC_BOX_REGIONS,
        .sources = &imc_box_source,
        .n_sources = 1,
        .n_groups = GROUPS,
        .group_min_kev = 0.1,
        .group_max_kev = 10.0,
        .emit_per_cell = 2,
        .min_per_cell = 2,
        .max_per_cell = 6,
        .comb = true,
        .seed = 7,
    };
    p.walls[2] = (struct storm_wall){&mirror, 1};
    return p;
}

static void declare(struct storm_imc *imc)
{
    const unsigned all = 1u << STORM_TALLY_TIME | 1u << STORM_TALLY_GROUP |
                         1u << STORM_TALLY_MU | 1u << STORM_TALLY_AZIMUTH |
                         1u << STORM_TALLY_WALL;
    struct storm_tally tallies[TALLIES] = {
        {.size = sizeof(struct storm_tally), .name = "sum"},
        {.size = sizeof(struct storm_tally),
         .name = "light",
         .by = all,
         .time_edges_s = times,
         .n_times = 3,
         .axis = {1.0, 2.0, -0.5},
         .n_mu = 4,
         .n_azimuth = 5},
        {.size = sizeof(struct storm_tally),
         .name = "seen",
         .by = 1u << STORM_TALLY_TIME | 1u << STORM_TALLY_MU,
         .time_edges_s = times,
         .n_times = 3,
         .observer = true,
         .origin_cm = {0.5, 0.5, 0.5},
         .mu_edges = cosines,
         .n_mu = 2}};
    for (size_t i = 0; i < TALLIES; i++) {
        size_t number;
        CHECK_OK(storm_imc_tally_add(imc, &tallies[i], &number));
        CHECK_EQ(number, i);
    }
    CHECK_EQ(storm_imc_n_tallies(imc), TALLIES);
    CHECK_EQ(storm_imc_tally_n_bins(imc, 1), 5 * GROUPS * 4 * 5 * 7);
    CHECK_EQ(storm_imc_tally_n_bins(imc, 2), 5 * 4);
}

static struct imc_box open_box(MPI_Comm comm, bool voronoi)
{
    struct imc_box box = {.problem = make_problem()};
    CHECK_OK(storm_context_create(comm, NULL, &box.context));
    if (voronoi) {
        struct storm_points_params points = {.size = sizeof points,
                                             .seed = 5,
                                             .n_total = 300,
                                             .hi_cm = {1, 1, 1}};
        struct storm_voronoi_params params = {.size = sizeof params,
                                              .hi_cm = {1, 1, 1}};
        CHECK_OK(run_points_mesh(box.context, &points, &params, &box.mesh));
    } else {
        struct storm_cart_params cart = {
            .size = sizeof cart, .hi_cm = {1, 1, 1}, .n = {6, 7, 5}};
        CHECK_OK(storm_mesh_create_cart(box.context, &cart, &box.mesh));
    }
    imc_box_open(&box);
    declare(box.imc);
    CHECK_OK(storm_imc_start(box.imc, box.engine));
    return box;
}

/* All bins together are the account. */
static void check_integrals(struct imc_box *box)
{
    struct storm_ledger sum[STORM_LEDGER_ACCOUNTS];
    CHECK_OK(storm_ledger_sum(box->imc->account, STORM_LEDGER_ACCOUNTS,
                              box->context, sum));
    storm_ledger_carry(&sum[STORM_LEDGER_ESCAPED]);
    struct storm_stats stats = STORM_STATS_INIT;
    storm_engine_stats(box->engine, &stats);
    uint64_t escaped = stats.escaped;
    CHECK_OK(storm_context_reduce(box->context, &escaped, 1, MPI_UINT64_T,
                                  MPI_SUM));
    for (size_t i = 0; i < TALLIES; i++) {
        const struct tally *tally = &box->imc->tallies.tallies[i];
        int64_t *words;
        uint64_t n = 0;
        CHECK_OK(imc_tally_sum(box->imc, i, &words));
        const struct storm_ledger all =
            tally_integral(&box->imc->tallies, tally, &words[tally->n_bins]);
        CHECK(memcmp(all.limb, sum[STORM_LEDGER_ESCAPED].limb,
                     sizeof all.limb) == 0);
        for (size_t bin = 0; bin < tally->n_bins; bin++)
            n += (uint64_t)words[bin];
        CHECK_EQ(n, escaped);
        storm_free(box->imc->env->memory, words);
    }
}

static int64_t *save(struct storm_imc *imc, size_t *n_out)
{
    CHECK_OK(storm_imc_tally_words(imc, n_out));
    int64_t *words = calloc(*n_out, sizeof *words);
    CHECK(words != NULL);
    CHECK_OK(storm_imc_tally_save(imc, words));
    return words;
}

static void check_same(struct imc_box *many, struct imc_box *one)
{
    size_t n[2];
    int64_t *words[2] = {save(many->imc, &n[0]), save(one->imc, &n[1])};
    CHECK_EQ(n[0], n[1]);
    CHECK(memcmp(words[0], words[1], n[0] * sizeof **words) == 0);
    for (int i = 0; i < 2; i++)
        free(words[i]);
}

/* Some of the bins must have something, else nothing was tested. */
static void check_filled(struct imc_box *box)
{
    size_t n = storm_imc_tally_n_bins(box->imc, 1), filled = 0, outside = 0;
    uint64_t *packets = calloc(n, sizeof *packets);
    double *energy = calloc(n, sizeof *energy), total, sum = 0.0;
    CHECK(packets != NULL && energy != NULL);
    CHECK_OK(storm_imc_tally_get(box->imc, 1, energy, packets, &total));
    for (size_t i = 0; i < n; i++) {
        CHECK((packets[i] > 0) == (energy[i] > 0.0));
        filled += packets[i] > 0;
        outside += i % 7 == 6 ? packets[i] : 0;
        CHECK(i % 7 != 2 || packets[i] == 0); /* it is a mirror */
        sum += energy[i];
    }
    CHECK(filled > n / 10 && outside > 100);
    CHECK(fabs(sum - total) <= 1e-13 * total);
    free(packets);
    free(energy);
}

/* Declared on some ranks alone, or others there: on none. */
static void check_disagreement(struct storm_imc *imc, int rank)
{
    static const double edges[] = {0.0, 1.0, 2.0};
    struct storm_tally tally = STORM_TALLY_INIT;
    size_t number, n = storm_imc_n_tallies(imc);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size == 1)
        return;
    tally.name = rank == 0 ? "sum" : "good"; /* the first is there */
    CHECK(storm_imc_tally_add(imc, &tally, &number) < 0);
    CHECK_EQ(storm_imc_n_tallies(imc), n);
    tally.name = "good";
    tally.by = 1u << STORM_TALLY_TIME;
    tally.time_edges_s = edges;
    tally.n_times = rank == 0 ? 1 : 2;
    CHECK(storm_imc_tally_add(imc, &tally, &number) == STORM_ERR_ARG);
    CHECK_EQ(storm_imc_n_tallies(imc), n);
    tally = (struct storm_tally)STORM_TALLY_INIT;
    tally.name = "good";
    CHECK_OK(storm_imc_tally_add(imc, &tally, &number));
    CHECK_EQ(number, n);
}

/* Into a new object, and not into one with other tallies. */
static void check_state(struct imc_box *box)
{
    size_t n, m, number;
    int64_t *words = save(box->imc, &n);
    struct storm_imc *other;
    CHECK_OK(storm_imc_create(box->context, box->mesh, &box->problem, &other));
    declare(other);
    int rank = storm_context_rank(box->context);
    CHECK_OK(storm_imc_tally_load(other, rank == 0 ? words : NULL,
                                  rank == 0 ? n : 0));
    int64_t *again = save(other, &m);
    CHECK_EQ(n, m);
    CHECK(memcmp(words, again, n * sizeof *words) == 0);
    CHECK(other->track.end_s == box->imc->track.end_s);
    /* Once more, over sums that each rank has: all are replaced. */
    for (size_t i = 0; i < TALLIES; i++)
        other->tallies.tallies[i].packets[0] += 3;
    CHECK_OK(storm_imc_tally_load(other, words, n));
    free(again);
    again = save(other, &m);
    CHECK(n == m && memcmp(words, again, n * sizeof *words) == 0);
    struct storm_tally more = STORM_TALLY_INIT;
    more.name = "more";
    CHECK_OK(storm_imc_tally_add(other, &more, &number));
    CHECK(storm_imc_tally_load(other, words, n) < 0);
    more.name = "sum";
    CHECK(storm_imc_tally_add(other, &more, &number) < 0);
    check_disagreement(other, rank);
    more.name = "late";
    CHECK(storm_imc_tally_add(box->imc, &more, &number) == STORM_ERR_STATE);
    storm_imc_destroy(other);
    free(again);
    free(words);
}

/* Escapes between steps, on one rank each. The engine has no part in them. */
static void check_between(struct imc_box *box)
{
    static const double weights[] = {1e-300, 1e290, 0x1.fffffffffffffp-40};
    struct storm_packet packet = {.direction = {0.6, 0.8, 0.0}};
    struct storm_ledger sum[STORM_LEDGER_ACCOUNTS];
    for (size_t i = 0; i < 3; i++) {
        packet.weight_erg = weights[i];
        packet.group = (int32_t)i;
        struct storm_outcome outcome = {.events = 0};
        int size = storm_context_size(box->context);
        if (storm_context_rank(box->context) == (int)i % size)
            storm_imc_escape(box->imc, NULL, &packet, &outcome);
    }
    CHECK_OK(storm_ledger_sum(box->imc->account, STORM_LEDGER_ACCOUNTS,
                              box->context, sum));
    storm_ledger_carry(&sum[STORM_LEDGER_ESCAPED]);
    for (size_t i = 0; i < TALLIES; i++) {
        int64_t *words;
        const struct tally *tally = &box->imc->tallies.tallies[i];
        CHECK_OK(imc_tally_sum(box->imc, i, &words));
        const struct storm_ledger all =
            tally_integral(&box->imc->tallies, tally, &words[tally->n_bins]);
        CHECK(memcmp(all.limb, sum[STORM_LEDGER_ESCAPED].limb,
                     sizeof all.limb) == 0);
        storm_free(box->imc->env->memory, words);
    }
}

static void check(bool voronoi)
{
    static const double dt[STEPS] = {1e-3, 1e-9, 0.1, 1.5, 2.0};
    struct imc_box many = open_box(MPI_COMM_WORLD, voronoi);
    struct imc_box one = open_box(MPI_COMM_SELF, voronoi);
    double time = 0.0, energy[4];
    for (int step = 0; step < STEPS; time += dt[step++]) {
        check_where("voronoi %d, step %d", voronoi, step);
        CHECK(imc_box_step(&many, time, dt[step], energy) <= 1e-13);
        CHECK(imc_box_step(&one, time, dt[step], energy) <= 1e-13);
        check_same(&many, &one);
        check_integrals(&many);
    }
    check_filled(&many);
    check_state(&many);
    check_between(&many);
    check_between(&one);
    check_same(&many, &one);
    imc_box_close(&one);
    imc_box_close(&many);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check(false);
    check(true);
    MPI_Finalize();
    return CHECK_PASS;
}
