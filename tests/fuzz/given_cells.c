/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 2; args: 40; timeout: 60 */
/* TEST ranks: 1 2; args: 0 600; timeout: 900; label: long */
/*
 * Given cells with numbers changed: a block of boxes, dealt out to the ranks,
 * with places, planes, areas, volumes, tags and neighbours that are wrong. Such
 * a mesh is refused, or accepted and then used: a step, and cells given anew
 * that are wrong in another way. An error of one rank is one on all, no crash,
 * no hang; a mesh that is whole is always accepted.
 */
#include <limits.h>
#include <math.h>
#include <string.h>

#include <storm/host.h>

#include "fuzz/rounds.h"
#include "support/dice.h"

enum { NX = 3, NY = 2, NZ = 2, N = NX * NY * NZ, FACES = 6 };

struct boxes {
    size_t n;
    uint64_t tags[N], first_face[N + 1];
    double points[3 * N], volumes[N], centroids[3 * N];
    double normals[3 * FACES * N], on[3 * FACES * N], areas[FACES * N];
    int64_t behind[FACES * N];
};

struct fuzz {
    struct dice dice, mine;
    struct storm_host *host;
    struct boxes boxes;
    uint64_t n_meshes, n_good, n_steps;
};

/* ---- good cells --------------------------------------------------------- */

static void add_box(struct boxes *b, int id)
{
    const int n[3] = {NX, NY, NZ}, stride[3] = {1, NX, NX * NY};
    const int ijk[3] = {id % NX, id / NX % NY, id / NX / NY};
    size_t c = b->n++;
    b->tags[c] = (uint64_t)id + 10;
    b->volumes[c] = 1.0;
    for (size_t d = 0; d < 3; d++)
        b->points[3 * c + d] = ijk[d] + 0.5;
    for (size_t side = 0; side < FACES; side++) {
        size_t d = side / 2, f = FACES * c + side;
        int up = side % 2 == 1 ? 1 : -1, next = ijk[d] + up;
        memcpy(&b->on[3 * f], &b->points[3 * c], 3 * sizeof(double));
        memset(&b->normals[3 * f], 0, 3 * sizeof(double));
        b->on[3 * f + d] += 0.5 * up;
        b->normals[3 * f + d] = up;
        b->areas[f] = 1.0;
        b->behind[f] = next < 0 || next == n[d] ? -1 - (int)side
                                                : id + up * stride[d] + 10;
    }
    b->first_face[b->n] = FACES * b->n;
}

static void make_boxes(struct fuzz *f)
{
    struct boxes *b = &f->boxes;
    int size = storm_host_size(f->host), rank = storm_host_rank(f->host);
    uint64_t turn = dice_roll(&f->dice, N);
    memset(b, 0, sizeof *b);
    for (int id = 0; id < N; id++)
        if ((int)(((uint64_t)id + turn) / 5) % size == rank)
            add_box(b, id);
    memcpy(b->centroids, b->points, sizeof b->points);
}

/* ---- wrong ones --------------------------------------------------------- */

static void change_real(struct dice *dice, double *array, size_t n)
{
    static const double pool[] = {0.0,  -1.0,   1e-300, 1e300, INFINITY,
                                  NAN,  0.5,    2.0,    1.5,   -0.0,
                                  1e-9, 1.0001, 0.9999, 1e9,   4e-16};
    if (n == 0)
        return;
    double *x = &array[dice_roll(dice, n)];
    double other = array[dice_roll(dice, n)];
    double picked = pool[dice_roll(dice, sizeof pool / sizeof pool[0])];
    switch (dice_roll(dice, 5)) {
    case 0:
        *x = picked;
        break;
    case 1:
        *x += picked;
        break;
    case 2:
        *x *= picked;
        break;
    case 3:
        *x = -*x;
        break;
    default:
        *x = other;
    }
}

static void change_whole(struct dice *dice, int64_t *array, size_t n)
{
    static const int64_t pool[] = {0,  1,         -1,      -6,        -7, 10,
                                   21, INT64_MAX, INT_MAX, INT64_MIN, 22};
    if (n == 0)
        return;
    int64_t other = array[dice_roll(dice, n)];
    array[dice_roll(dice, n)] =
        dice_roll(dice, 2) == 0
            ? other
            : pool[dice_roll(dice, sizeof pool / sizeof pool[0])];
}

static void change_one(struct fuzz *f)
{
    struct boxes *b = &f->boxes;
    struct dice *dice = &f->mine;
    size_t n = b->n, faces = FACES * n;
    switch (dice_roll(dice, 9)) {
    case 0:
        change_whole(dice, (int64_t *)b->tags, n);
        break;
    case 1:
        change_real(dice, b->points, 3 * n);
        break;
    case 2:
        change_real(dice, b->volumes, n);
        break;
    case 3:
        change_real(dice, b->centroids, 3 * n);
        break;
    case 4:
        change_real(dice, b->normals, 3 * faces);
        break;
    case 5:
        change_real(dice, b->on, 3 * faces);
        break;
    case 6:
        change_real(dice, b->areas, faces);
        break;
    case 7:
        change_whole(dice, b->behind, faces);
        break;
    default: /* within the arrays, as storm_host_give_faces needs */
        if (n > 0)
            b->first_face[dice_roll(dice, n + 1)] = dice_roll(dice, faces + 1);
    }
}

/* Gives cells; true if they are as they should be. */
static bool give(struct fuzz *f, storm_status *status_out)
{
    const struct boxes *b = &f->boxes;
    make_boxes(f);
    bool is_whole = dice_roll(&f->dice, 4) == 0;
    if (!is_whole)
        for (uint64_t k = 1 + dice_roll(&f->dice, 3); k > 0; k--)
            change_one(f);
    *status_out =
        storm_host_give_cells(f->host, b->n, b->tags, b->points, b->volumes,
                              dice_roll(&f->dice, 2) == 0 ? NULL
                                                          : b->centroids);
    if (*status_out == STORM_OK)
        *status_out = storm_host_give_faces(f->host, b->first_face, b->normals,
                                            b->on, b->areas, b->behind);
    return is_whole;
}

/* The same outcome, error or not, on all ranks. */
static storm_status agree(struct fuzz *f, storm_status status)
{
    int failed[2] = {status < 0, status >= 0};
    MPI_Allreduce(MPI_IN_PLACE, failed, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK_EQ(failed[0] + failed[1], 1);
    CHECK(status >= STORM_ERR_PEER && status <= STORM_OK);
    CHECK(status != STORM_ERR_FABRIC);
    CHECK(status == STORM_OK || status == STORM_ERR_PEER ||
          storm_host_size(f->host) > 1 ||
          storm_host_problem(f->host)[0] != '\0');
    return status;
}

static void describe(struct fuzz *f)
{
    CHECK_OK(storm_host_create(MPI_COMM_WORLD, NULL, &f->host));
    storm_host_set_quiet(f->host, 1);
    CHECK_OK(storm_host_set_int(f->host, "max_per_cell", 4));
    CHECK_OK(storm_host_add_material(f->host, "gas", NULL));
    CHECK_OK(storm_host_set_law(f->host, 0, STORM_HOST_LAW_ABSORPTION,
                                &(double){1.0}, 1));
    CHECK_OK(storm_host_set_law(f->host, 0, STORM_HOST_LAW_HEAT,
                                &(double){1e15}, 1));
    CHECK_OK(storm_host_set_start(f->host, 0, 1.0, 0.3));
    CHECK_OK(storm_host_set_wall(f->host, 0, STORM_WALL_REFLECT));
    CHECK_OK(storm_host_set_blackbody(f->host, 1, NULL, &(double){0.5}, 1, 20));
}

/* A call on cells that are given: all ranks learn what one refuses. */
static storm_status use(struct fuzz *f, bool is_first)
{
    storm_status given;
    bool is_whole = give(f, &given);
    int bad = given < 0;
    f->n_meshes++;
    MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(!is_whole || !bad);
    if (bad)
        return STORM_ERR_ARG;
    storm_status status = agree(f, is_first ? storm_host_mesh_given(f->host, 6)
                                            : storm_host_replace(f->host));
    CHECK(!is_whole || status == STORM_OK);
    f->n_good += status == STORM_OK;
    return status;
}

static void fuzz_round(struct fuzz *f, uint64_t seed, uint64_t round)
{
    f->dice = dice_make(seed, round);
    describe(f);
    f->mine = dice_make(seed ^ round, 7 + (uint64_t)storm_host_rank(f->host));
    check_where("seed %llu, round %llu", (unsigned long long)seed,
                (unsigned long long)round);
    storm_status status = use(f, true);
    if (status == STORM_OK)
        status = agree(f, storm_host_begin(f->host));
    for (int i = 0; i < 3 && status == STORM_OK; i++) {
        status = agree(f, storm_host_step(f->host, i * 1e-11, 1e-11));
        f->n_steps += status == STORM_OK;
        if (status == STORM_OK)
            (void)use(f, false);
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
    printf("%llu rounds, %llu meshes, %llu accepted, %llu steps\n",
           (unsigned long long)rounds.n, (unsigned long long)f.n_meshes,
           (unsigned long long)f.n_good, (unsigned long long)f.n_steps);
    CHECK(f.n_good > f.n_meshes / 20 && f.n_good < f.n_meshes);
    MPI_Finalize();
    return CHECK_PASS;
}
