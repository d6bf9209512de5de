/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 2 3; timeout: 60 */
/*
 * storm_host_save and storm_host_load: a run that goes on from pieces has the
 * hash and the accounts of one that was not stopped, with the pieces on other
 * ranks than those that saved them, and on one rank alone; on a grid, and on
 * points that have moved, by their tags. Pieces that are changed, missing,
 * there twice, of two states or of another mesh are refused, and the run begins
 * without them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <storm/host.h>

#include "support/check.h"

enum { N = 12, STEPS = 2 };
static const double dt_s = 2e-11;

/* All pieces, on every rank. */
struct pieces {
    unsigned char *bytes;
    int *first; /* by rank that saved; the end at last */
    int n;
};

/* A host on its way: cells by number, in the order of this rank. */
struct run {
    struct storm_host *host;
    bool is_points;
    size_t n;
    int id[N];
    uint64_t tags[N];
    double x[3 * N];
};

/* ---- the problem -------------------------------------------------------- */

static void describe(struct storm_host *h)
{
    const double heat[] = {1e15, 0.0, 1.0};
    CHECK_OK(storm_host_set_int(h, "max_per_cell", 20));
    CHECK_OK(storm_host_add_material(h, "gas", NULL));
    CHECK_OK(storm_host_set_law(h, 0, STORM_HOST_LAW_HEAT, heat, 3));
    CHECK_OK(storm_host_set_by_cell(h, 0, STORM_HOST_LAW_ABSORPTION, 2.0));
    CHECK_OK(storm_host_set_start(h, 0, 1.0, 0.3));
    CHECK_OK(storm_host_set_blackbody(h, 0, NULL, &(double){0.5}, 1, 40));
}

static void place(int id, double shift, double *x)
{
    x[0] = (id + 0.5) / N + shift * (id % 3 - 1);
    x[1] = 0.1 + 0.8 * (id * 5 % N) / N;
    x[2] = 0.1 + 0.8 * (id * 7 % N) / N;
}

/* A grid, or points at their places after `moves`; tags: of the state. */
static void open_run(struct run *r, MPI_Comm comm, bool is_points, int moves,
                     const uint64_t *tags)
{
    const double lo[3] = {0.0, 0.0, 0.0}, hi[3] = {1.0, 1.0, 1.0};
    *r = (struct run){.is_points = is_points};
    CHECK_OK(storm_host_create(comm, NULL, &r->host));
    describe(r->host);
    int rank = storm_host_rank(r->host), size = storm_host_size(r->host);
    int from = N * rank / size, end = N * (rank + 1) / size;
    for (int id = from; id < end; id++, r->n++) {
        r->id[r->n] = id;
        place(id, 0.005 * moves, &r->x[3 * r->n]);
    }
    if (is_points && tags != NULL)
        CHECK_OK(storm_host_set_tags(r->host, &tags[from], r->n));
    if (is_points) {
        CHECK_OK(storm_host_mesh_points(r->host, lo, hi, r->x, r->n));
    } else {
        double edges[N + 1];
        const int64_t first[3] = {from, 0, 0}, n[3] = {end - from, 1, 1};
        for (int i = 0; i <= N; i++)
            edges[i] = 0.1 * i;
        CHECK_OK(storm_host_set_edges(r->host, 0, edges, N + 1));
        CHECK_OK(storm_host_mesh_cart(r->host, first, n));
    }
    CHECK_OK(storm_host_begin(r->host));
    CHECK_OK(storm_host_get_tags(r->host, r->tags, r->n));
}

static void set_all(const struct run *r, int field, double scale)
{
    double values[N];
    for (size_t i = 0; i < r->n; i++)
        values[i] = scale * (1.0 + 0.1 * r->id[i]);
    CHECK_OK(storm_host_set(r->host, field, values, r->n));
}

static void step(struct run *r, int number)
{
    double erg[N];
    CHECK_OK(storm_host_step(r->host, number * dt_s, dt_s));
    for (size_t i = 0; i < r->n; i++) {
        erg[i] = 1e9 * (1 + r->id[i]);
        place(r->id[i], 0.005 * (number + 1), &r->x[3 * i]);
    }
    CHECK_OK(storm_host_add_heat(r->host, erg, r->n));
    if (r->is_points)
        CHECK_OK(storm_host_move(r->host, r->x, 3 * r->n));
    else
        CHECK_OK(storm_host_repartition(r->host));
}

struct end {
    uint64_t hash;
    double e[STORM_HOST_N_ENERGIES];
};

static struct end end_of(struct run *r)
{
    struct end end;
    CHECK_OK(storm_host_hash(r->host, &end.hash));
    CHECK_OK(storm_host_energy(r->host, end.e, STORM_HOST_N_ENERGIES));
    CHECK(end.e[STORM_HOST_E_ERROR] < 1e-13);
    return end;
}

/* ---- pieces ------------------------------------------------------------- */

/* What all ranks have saved, and the tags by number of the cell. */
static struct pieces save(struct run *r, uint64_t tags[N])
{
    struct pieces p = {.n = storm_host_size(r->host)};
    size_t bytes = 0;
    CHECK_OK(storm_host_state_bytes(r->host, &bytes));
    unsigned char *mine = malloc(bytes);
    int *counts = calloc((size_t)p.n, sizeof *counts), count = (int)bytes;
    p.first = calloc((size_t)p.n + 1, sizeof *p.first);
    CHECK(mine != NULL && counts != NULL && p.first != NULL);
    CHECK_OK(storm_host_save(r->host, mine, bytes));
    MPI_Allgather(&count, 1, MPI_INT, counts, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < p.n; i++)
        p.first[i + 1] = p.first[i] + counts[i];
    p.bytes = malloc((size_t)p.first[p.n]);
    CHECK(p.bytes != NULL);
    MPI_Allgatherv(mine, count, MPI_BYTE, p.bytes, counts, p.first, MPI_BYTE,
                   MPI_COMM_WORLD);
    memset(tags, 0, N * sizeof *tags);
    for (size_t i = 0; i < r->n; i++)
        tags[r->id[i]] = r->tags[i];
    MPI_Allreduce(MPI_IN_PLACE, tags, N, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    free(counts);
    free(mine);
    return p;
}

/* Goes on to the end on `comm`. */
static struct end go_on(MPI_Comm comm, bool is_points, const struct pieces *p,
                        const uint64_t *tags)
{
    struct run r;
    open_run(&r, comm, is_points, STEPS, tags);
    int rank = storm_host_rank(r.host), size = storm_host_size(r.host);
    int from = size == 1 ? 0 : (p->n - 1 - rank), end = from + 1;
    if (size == 1)
        end = p->n;
    if (size == 3) { /* two of the middle, and none of the last */
        from = rank == 0 ? 2 : 0;
        end = rank == 2 ? 0 : rank == 0 ? 3 : 2;
    }
    CHECK_OK(storm_host_load(r.host, p->bytes + p->first[from],
                             (size_t)(p->first[end] - p->first[from])));
    storm_host_set_quiet(r.host, 1);
    CHECK_EQ(storm_host_load(r.host, p->bytes, 0), STORM_ERR_STATE);
    storm_host_set_quiet(r.host, 0);
    for (int i = STEPS; i < 2 * STEPS; i++)
        step(&r, i);
    struct end out = end_of(&r);
    storm_host_destroy(r.host);
    return out;
}

static void check_same(struct end a, struct end b)
{
    CHECK_EQ(a.hash, b.hash);
    for (int i = 0; i < STORM_HOST_E_ERROR; i++)
        CHECK(a.e[i] == b.e[i]);
}

static struct pieces check_restart(bool is_points)
{
    struct run r;
    uint64_t tags[N];
    size_t bytes = 0;
    open_run(&r, MPI_COMM_WORLD, is_points, 0, NULL);
    set_all(&r, STORM_HOST_DENSITY, 2.0);
    set_all(&r, STORM_HOST_ABSORPTION, 3.0);
    storm_host_set_quiet(r.host, 1);
    CHECK_OK(storm_host_state_bytes(r.host, &bytes));
    CHECK_EQ(storm_host_save(r.host, tags, bytes), STORM_ERR_STATE);
    storm_host_set_quiet(r.host, 0);
    for (int i = 0; i < STEPS; i++)
        step(&r, i);
    struct pieces p = save(&r, tags);
    storm_host_set_quiet(r.host, 1);
    CHECK_EQ(storm_host_save(r.host, NULL, 0), STORM_ERR_ARG);
    CHECK_EQ(storm_host_save(r.host, tags, 8), STORM_ERR_ARG);
    storm_host_set_quiet(r.host, 0);
    for (int i = STEPS; i < 2 * STEPS; i++)
        step(&r, i);
    struct end wanted = end_of(&r);
    storm_host_destroy(r.host);
    check_same(go_on(MPI_COMM_WORLD, is_points, &p, tags), wanted);
    check_same(go_on(MPI_COMM_SELF, is_points, &p, tags), wanted);
    return p;
}

/* ---- what is refused ---------------------------------------------------- */

/* A load on one rank of `n` bytes, with `flip` changed. */
static void refuse(struct run *r, const unsigned char *bytes, size_t n,
                   size_t flip, storm_status wanted)
{
    unsigned char *copy = malloc(n + 1);
    CHECK(copy != NULL);
    memcpy(copy, bytes, n);
    if (flip < n)
        copy[flip] ^= 1;
    check_where("%zu bytes, %zu changed", n, flip);
    CHECK_EQ(storm_host_load(r->host, copy, n), wanted);
    CHECK(storm_host_problem(r->host)[0] != '\0');
    free(copy);
}

static void check_refused(const struct pieces *p)
{
    struct run r;
    size_t n = (size_t)p->first[p->n];
    size_t all = SIZE_MAX;
    open_run(&r, MPI_COMM_SELF, false, 0, NULL);
    storm_host_set_quiet(r.host, 1);
    refuse(&r, p->bytes, 0, all, STORM_ERR_IO);
    refuse(&r, p->bytes, 7, all, STORM_ERR_IO);
    refuse(&r, p->bytes, n - 8, all, STORM_ERR_IO);
    refuse(&r, p->bytes, n, 8, STORM_ERR_NOSUP);
    for (size_t flip = 16; flip < n; flip += 41)
        refuse(&r, p->bytes, n, flip, STORM_ERR_IO);
    unsigned char *twice = malloc(2 * n);
    CHECK(twice != NULL);
    memcpy(twice, p->bytes, n);
    memcpy(twice + n, p->bytes, n);
    refuse(&r, twice, 2 * n, all, STORM_ERR_IO);
    if (p->n > 1)
        refuse(&r, p->bytes, (size_t)p->first[1], all, STORM_ERR_IO);
    free(twice);
    CHECK_EQ(storm_host_load(r.host, NULL, 8), STORM_ERR_ARG);
    CHECK_OK(storm_host_step(r.host, 0.0, dt_s)); /* all is as it was */
    storm_host_destroy(r.host);
}

/* Pieces of two states, on one rank: those of an earlier step and of this. */
static void check_mixed(const struct pieces *p)
{
    struct run r;
    uint64_t tags[N];
    open_run(&r, MPI_COMM_WORLD, false, 0, NULL);
    step(&r, 0);
    struct pieces other = save(&r, tags);
    storm_host_destroy(r.host);
    size_t n = (size_t)other.first[1];
    size_t rest = (size_t)(p->first[p->n] - p->first[1]);
    unsigned char *mixed = malloc(n + rest);
    CHECK(mixed != NULL);
    memcpy(mixed, other.bytes, n);
    memcpy(mixed + n, p->bytes + p->first[1], rest);
    open_run(&r, MPI_COMM_SELF, false, 0, NULL);
    storm_host_set_quiet(r.host, 1);
    if (p->n > 1)
        refuse(&r, mixed, n + rest, SIZE_MAX, STORM_ERR_IO);
    CHECK_OK(storm_host_step(r.host, 0.0, dt_s)); /* all is as it was */
    storm_host_destroy(r.host);
    free(mixed);
    free(other.bytes);
    free(other.first);
}

/* Another mesh is seen before anything changes. */
static void check_other(const struct pieces *p)
{
    struct run r;
    open_run(&r, MPI_COMM_SELF, true, STEPS + 1, NULL);
    storm_host_set_quiet(r.host, 1);
    refuse(&r, p->bytes, (size_t)p->first[p->n], SIZE_MAX, STORM_ERR_ARG);
    CHECK(strstr(storm_host_problem(r.host), "another mesh") != NULL);
    CHECK_OK(storm_host_step(r.host, 0.0, dt_s));
    storm_host_destroy(r.host);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int is_points = 0; is_points < 2; is_points++) {
        struct pieces p = check_restart(is_points == 1);
        if (is_points == 0) {
            check_refused(&p);
            check_mixed(&p);
        }
        check_other(&p);
        free(p.bytes);
        free(p.first);
    }
    MPI_Finalize();
    return CHECK_PASS;
}
