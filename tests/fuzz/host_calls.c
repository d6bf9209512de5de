/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 2; args: 60; timeout: 60 */
/* TEST ranks: 1 2; args: 0 600; timeout: 900; label: long */
/*
 * storm/host.h: calls in any order, with arguments that are sometimes wrong.
 * Each returns a status, an error of one rank is one on all, and none crashes
 * or hangs. A third of the calls is what should come next, so that all stages
 * are reached, and saved states are loaded, whole or with a byte changed.
 * Numbers that are right and ask for years of work are left out.
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/host.h>

#include "fuzz/rounds.h"
#include "support/check.h"
#include "support/dice.h"

enum { N = 96, CALLS = 60, CELLS = 6 };

struct fuzz {
    struct dice dice; /* the same on all ranks */
    struct dice mine; /* of this rank */
    struct storm_host *host;
    bool is_failed; /* only destroy is allowed */
    bool is_local;  /* the last call: ranks need not agree */
    double values[N], more[N];
    uint64_t n_calls, n_good, n_loaded;
    unsigned char *piece; /* of the last state that was saved */
    size_t n_piece;
    int answer; /* of the function that scatters */
};

/* A function of the host: turns back, or fails. */
static int scatter(void *self, int material, uint64_t tag,
                   const double matter[2], double photon[5], void *draws)
{
    const struct fuzz *f = self;
    double u[4];
    storm_host_random(draws, u);
    CHECK(material >= 0 && tag < UINT64_MAX && matter[1] > 0.0);
    photon[0] = -photon[0];
    photon[3] *= u[0];
    photon[4] = u[0];
    return f->answer;
}

static double pick_real(struct dice *dice)
{
    static const double pool[] = {0.0, 1e-3, 0.1, 0.2, 0.5,  1.0,      2.0,
                                  5.0, 0.3,  0.7, 0.9, -1.0, INFINITY, NAN};
    const uint64_t n = sizeof pool / sizeof pool[0];
    return pool[dice_roll(dice, dice_roll(dice, 6) == 0 ? n : n - 3)];
}

static int pick_int(struct dice *dice)
{
    static const int pool[] = {0, 1, 2, 3, 4, 5, -1, 6, 77, INT_MAX, INT_MIN};
    const uint64_t n = sizeof pool / sizeof pool[0];
    return pool[dice_roll(dice, dice_roll(dice, 4) == 0 ? n : n - 5)];
}

/* An array of this rank, in order or not; NULL is one, too. */
static const double *pick_array(struct fuzz *f, double *array)
{
    bool is_sorted = dice_roll(&f->dice, 2) == 0;
    bool is_wrong = dice_roll(&f->dice, 4) == 0;
    for (int i = 0; i < N; i++) {
        array[i] = is_wrong    ? pick_real(&f->mine)
                   : is_sorted ? 0.1 * i
                               : 0.01 * (double)(1 + dice_roll(&f->mine, 100));
    }
    return dice_roll(&f->dice, 16) == 0 ? NULL : array;
}

/* A number of values that fits a field, or not. */
static size_t pick_n(struct fuzz *f, int field)
{
    size_t n =
        storm_host_n_cells(f->host) * storm_host_n_values(f->host, field);
    if (n > N || dice_roll(&f->dice, 6) == 0)
        n = (size_t)dice_roll(&f->mine, N);
    return n;
}

/* ---- what should come next ---------------------------------------------- */

static storm_status next_setup(struct fuzz *f)
{
    static const double heat[] = {1e15, 0.0, 1.0};
    static const double x[CELLS + 1] = {0.0, 0.1, 0.2, 0.4, 0.5, 0.6, 0.7};
    int size = storm_host_size(f->host), rank = storm_host_rank(f->host);
    int lo = CELLS * rank / size, hi = CELLS * (rank + 1) / size;
    const int64_t first[3] = {lo, 0, 0}, n[3] = {hi - lo, 1, 1};
    const double low[3] = {0.0, 0.0, 0.0}, high[3] = {1.0, 1.0, 1.0};
    double points[3 * CELLS];
    for (size_t i = 0; i < 3 * CELLS; i++)
        points[i] = (double)(1 + dice_roll(&f->mine, 998)) * 1e-3;
    switch (dice_roll(&f->dice, 5)) {
    case 0:
        return storm_host_add_material(f->host, "gas", NULL);
    case 1:
        return storm_host_set_law(f->host, 0, STORM_HOST_LAW_HEAT, heat, 3);
    case 2:
        return storm_host_set_edges(f->host, 0, x, CELLS + 1);
    case 3:
        return storm_host_mesh_points(f->host, low, high, points,
                                      (size_t)(hi - lo));
    default:
        return storm_host_mesh_cart(f->host, first, n);
    }
}

static storm_status next_run(struct fuzz *f)
{
    double out[N], dt = 1e-11 * (double)(1 + dice_roll(&f->dice, 3));
    uint64_t hash;
    int field = (int)dice_roll(&f->dice, 26);
    storm_status status;
    switch (dice_roll(&f->dice, 6)) {
    case 0:
        status = storm_host_step(f->host, 0.0, dt);
        f->is_failed = status < 0;
        return status;
    case 1:
        return storm_host_get(f->host, field, out, pick_n(f, field));
    case 2:
        return storm_host_repartition(f->host);
    case 3:
        return storm_host_hash(f->host, &hash);
    case 4:
        return storm_host_request(f->host, field);
    default:
        return storm_host_energy(f->host, out, STORM_HOST_N_ENERGIES);
    }
}

static storm_status call_next(struct fuzz *f)
{
    if (storm_host_mesh(f->host) == NULL)
        return next_setup(f);
    return storm_host_engine(f->host) == NULL ? storm_host_begin(f->host)
                                              : next_run(f);
}

/* ---- anything ----------------------------------------------------------- */

static storm_status set_tags(struct fuzz *f)
{
    uint64_t tags[N];
    for (size_t i = 0; i < N; i++)
        tags[i] = dice_roll(&f->mine, 20);
    return storm_host_set_tags(f->host,
                               dice_roll(&f->dice, 9) == 0 ? NULL : tags,
                               (size_t)dice_roll(&f->mine, 8));
}

static storm_status call_setup(struct fuzz *f)
{
    static const char *const names[] = {"seed",
                                        "comb",
                                        "motion",
                                        "diffusion",
                                        "steer_by_error",
                                        "random_walk",
                                        "max_per_cell",
                                        "emit_per_cell",
                                        "none",
                                        "",
                                        NULL};
    struct dice *dice = &f->dice;
    f->is_local = true;
    const char *name = names[dice_roll(dice, 11)];
    const double *array = pick_array(f, f->values);
    size_t n = (size_t)dice_roll(dice, 9);
    int number = pick_int(dice), material = pick_int(dice);
    storm_host_law law = (storm_host_law)dice_roll(dice, 4);
    switch (dice_roll(dice, 14)) {
    case 10:
        return storm_host_set_scattering(f->host, material,
                                         (storm_scattering_law)(dice_roll(dice,
                                                                          5)));
    case 11:
        return storm_host_set_electrons(f->host, material,
                                        1e23 * pick_real(dice));
    case 12:
        f->answer = (int)dice_roll(dice, 4) - 1;
        return storm_host_set_scatter(f->host,
                                      dice_roll(dice, 8) == 0 ? NULL : scatter,
                                      f);
    case 13:
        return set_tags(f);
    case 0:
        return storm_host_set_int(f->host, name, number % 30);
    case 1:
        return storm_host_set_double(f->host, name, pick_real(dice));
    case 2:
        return storm_host_set_groups(f->host, array, n);
    case 3:
        return storm_host_add_material(f->host, name, NULL);
    case 4:
        return storm_host_set_law(f->host, material, law, array, n);
    case 5:
        return storm_host_set_by_cell(f->host, material, law, pick_real(dice));
    case 6:
        return storm_host_set_start(f->host, material, pick_real(dice),
                                    pick_real(dice));
    case 7:
        return storm_host_set_wall(f->host, number, (storm_wall_kind)number);
    case 8:
        return storm_host_set_blackbody(f->host, number,
                                        dice_roll(dice, 2) == 0 ? NULL
                                                                : f->more,
                                        array, n, number % 50);
    default:
        return storm_host_set_edges(f->host, number, array, n);
    }
}

static storm_status call_mesh(struct fuzz *f)
{
    static uint64_t tags[N], first[N + 1];
    static int64_t behind[N];
    struct dice *mine = &f->mine;
    const double *a = pick_array(f, f->values), *b = pick_array(f, f->more);
    const int64_t lo[3] = {pick_int(mine), 0, 0}, n[3] = {pick_int(mine), 1, 1};
    size_t n_cells = (size_t)dice_roll(mine, 5);
    switch (dice_roll(&f->dice, 5)) {
    case 0:
        return storm_host_mesh_cart(f->host, lo, n);
    case 1:
        return storm_host_mesh_points(f->host, a, b, b, n_cells);
    case 2:
        for (size_t i = 0; i < N; i++) {
            tags[i] = dice_roll(mine, 8);
            behind[i] = pick_int(mine);
        }
        return storm_host_give_cells(f->host, n_cells, tags, f->values, f->more,
                                     a);
    case 3:
        for (size_t i = 1; i <= N; i++)
            first[i] = first[i - 1] < N / 3 - 6
                           ? first[i - 1] + dice_roll(mine, 7)
                           : first[i - 1];
        return storm_host_give_faces(f->host, first, f->values, f->more,
                                     f->values, behind);
    default:
        return storm_host_mesh_given(f->host, pick_int(&f->dice) % 20);
    }
}

/* A state goes into the next run, which may have another mesh. */
static storm_status call_save(struct fuzz *f)
{
    size_t n = 0;
    storm_status status = storm_host_state_bytes(f->host, &n);
    if (status < 0)
        return status;
    unsigned char *piece = malloc(n + 1);
    CHECK(piece != NULL);
    status = storm_host_save(f->host, piece,
                             dice_roll(&f->dice, 9) == 0 ? n / 2 : n);
    if (status < 0) {
        free(piece);
        return status;
    }
    free(f->piece);
    f->piece = piece;
    f->n_piece = n;
    return STORM_OK;
}

static storm_status call_load(struct fuzz *f)
{
    size_t n = f->n_piece, at = 0;
    bool is_changed = dice_roll(&f->dice, 2) == 0;
    if (is_changed && n > 0) {
        at = (size_t)dice_roll(&f->mine, n);
        f->piece[at] ^= 1;
        if (dice_roll(&f->dice, 4) == 0)
            n = (size_t)dice_roll(&f->mine, n);
    }
    storm_status status =
        storm_host_load(f->host, dice_roll(&f->dice, 20) == 0 ? NULL : f->piece,
                        n);
    if (is_changed && f->n_piece > 0)
        f->piece[at] ^= 1;
    f->n_loaded += status == STORM_OK;
    return status;
}

static storm_status call_more(struct fuzz *f)
{
    uint64_t tags[N];
    double dt;
    switch (dice_roll(&f->dice, 5)) {
    case 0:
        f->is_local = true;
        return storm_host_get_tags(f->host, tags, pick_n(f, 0));
    case 1:
        return storm_host_next_dt(f->host, pick_real(&f->dice), &dt);
    case 2:
        return call_load(f);
    default:
        return call_save(f);
    }
}

static storm_status call_run(struct fuzz *f)
{
    struct dice *dice = &f->dice;
    int field =
        dice_roll(dice, 8) == 0 ? pick_int(dice) : (int)dice_roll(dice, 26);
    const double *array = pick_array(f, f->values);
    size_t n = pick_n(f, field);
    double out[N];
    switch (dice_roll(dice, 11)) {
    case 9:
    case 10:
        return call_more(f);
    case 0:
    case 1:
    case 2:
        return storm_host_set(f->host, field, array, n);
    case 3:
        return storm_host_get(f->host, field, array != NULL ? out : NULL, n);
    case 4:
        return storm_host_add_heat(f->host, array, pick_n(f, 0));
    case 5:
        return storm_host_declare_work(f->host, array, pick_n(f, 0));
    case 6:
        return storm_host_move(f->host, array, pick_n(f, STORM_HOST_CENTRE));
    case 7:
        return storm_host_momentum(f->host, out, STORM_HOST_N_MOMENTA - n % 2);
    default:
        return storm_host_replace(f->host);
    }
}

/* ---- rounds ------------------------------------------------------------- */

static storm_status call_any(struct fuzz *f)
{
    switch (dice_roll(&f->dice, 6)) {
    case 0:
    case 1:
        return call_next(f);
    case 2:
        return call_setup(f);
    case 3:
        return call_mesh(f);
    default:
        return call_run(f);
    }
}

/* Calls that are local may fail on one rank alone; of others, all know. */
static void fuzz_round(struct fuzz *f, uint64_t seed, uint64_t round)
{
    f->dice = dice_make(seed, round);
    f->is_failed = false;
    CHECK_OK(storm_host_create(MPI_COMM_WORLD, NULL, &f->host));
    f->mine = dice_make(seed ^ round, 100 + (uint64_t)storm_host_rank(f->host));
    storm_host_set_quiet(f->host, 1);
    for (int i = 0; i < CALLS && !f->is_failed; i++) {
        check_where("round %llu, call %d, before: %s",
                    (unsigned long long)round, i, storm_host_problem(f->host));
        f->is_local = false;
        storm_status status = call_any(f);
        int failed[2] = {status < 0, status >= 0};
        MPI_Allreduce(MPI_IN_PLACE, failed, 2, MPI_INT, MPI_MAX,
                      MPI_COMM_WORLD);
        CHECK(f->is_local || failed[0] + failed[1] == 1);
        CHECK(status >= STORM_ERR_PEER && status <= STORM_OK);
        CHECK(status != STORM_ERR_FABRIC);
        check_where("round %llu, call %d: status %d, %s",
                    (unsigned long long)round, i, (int)status,
                    storm_host_problem(f->host));
        CHECK(status >= 0 || status == STORM_ERR_PEER ||
              storm_host_problem(f->host)[0] != '\0' ||
              storm_host_size(f->host) > 1);
        f->n_calls++;
        f->n_good += status == STORM_OK;
    }
    storm_host_destroy(f->host);
}

int main(int argc, char **argv)
{
    static struct fuzz f;
    MPI_Init(&argc, &argv);
    struct rounds rounds = rounds_begin(argc, argv);
    while (rounds_next(&rounds))
        fuzz_round(&f, rounds.seed, rounds.n - 1);
    printf("%llu rounds, %llu calls, %llu good, %llu states loaded\n",
           (unsigned long long)rounds.n, (unsigned long long)f.n_calls,
           (unsigned long long)f.n_good, (unsigned long long)f.n_loaded);
    CHECK(f.n_good > f.n_calls / 10 && f.n_good < f.n_calls);
    free(f.piece);
    MPI_Finalize();
    return CHECK_PASS;
}
