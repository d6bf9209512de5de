/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 2 3 5; timeout: 60 */
/*
 * storm/host.h: arrays are in the order in which a rank gave its cells, on
 * grids, points and given cells, whatever the partition, also after cells have
 * moved or changed ranks. The same problem on this rank alone has the same
 * hash. Energy closes; what the host adds is in its account, and declared.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <storm/host.h>

#include "support/check.h"

enum { NX = 5, NY = 4, NZ = 3, N = NX * NY * NZ, STEPS = 3, GROUPS = 2 };
static const double dt_s = 2e-11;

/* Cells of this rank by their number in the whole mesh, in its own order. */
struct share {
    struct storm_host *host;
    size_t n;
    int id[N];
};

/* ---- the problem -------------------------------------------------------- */

static void describe(struct storm_host *h, bool is_periodic)
{
    const double heat[] = {1e15, 0.0, 1.0};
    const double groups[GROUPS + 1] = {0.01, 1.0, 10.0};
    int gas, rock;
    CHECK_OK(storm_host_set_int(h, "seed", 7));
    CHECK_OK(storm_host_set_double(h, "max_per_cell", 30));
    CHECK_OK(storm_host_set_groups(h, groups, GROUPS + 1));
    CHECK_OK(storm_host_add_material(h, "gas", &gas));
    CHECK_OK(storm_host_add_material(h, "rock", &rock));
    CHECK_OK(storm_host_set_law(h, gas, STORM_HOST_LAW_HEAT, heat, 3));
    CHECK_OK(storm_host_set_by_cell(h, gas, STORM_HOST_LAW_ABSORPTION, 1.0));
    CHECK_OK(storm_host_set_by_cell(h, rock, STORM_HOST_LAW_ABSORPTION, 5.0));
    CHECK_OK(storm_host_set_by_cell(h, rock, STORM_HOST_LAW_HEAT, 2e15));
    for (int wall = 0; wall < 2; wall++)
        CHECK_OK(storm_host_set_wall(h, wall,
                                     is_periodic ? STORM_WALL_PERIODIC
                                                 : STORM_WALL_REFLECT));
    CHECK_OK(storm_host_set_blackbody(h, 2, NULL, &(double){0.5}, 1, 200));
}

/* A number of a cell that no other cell has. */
static double of(int id, double scale)
{
    return scale * (1.0 + 0.01 * id);
}

static void set(const struct share *s, int field, double scale)
{
    size_t per = storm_host_n_values(s->host, field);
    double values[3 * N];
    for (size_t i = 0; i < s->n * per; i++)
        values[i] = of(s->id[i / per], scale) * (double)(1 + i % per);
    CHECK_OK(storm_host_set(s->host, field, values, s->n * per));
}

static void expect(const struct share *s, int field, double scale)
{
    size_t per = storm_host_n_values(s->host, field);
    double values[3 * N];
    CHECK_OK(storm_host_get(s->host, field, values, s->n * per));
    for (size_t i = 0; i < s->n * per; i++)
        CHECK(values[i] == of(s->id[i / per], scale) * (double)(1 + i % per));
}

static void begin_fields(const struct share *s)
{
    double material[N], values[GROUPS * N];
    for (size_t i = 0; i < s->n; i++)
        material[i] = s->id[i] % 2;
    CHECK_OK(storm_host_set(s->host, STORM_HOST_MATERIAL, material, s->n));
    CHECK_OK(storm_host_get(s->host, STORM_HOST_ABSORPTION, values, 2 * s->n));
    for (size_t i = 0; i < 2 * s->n; i++) /* as materials begin */
        CHECK(values[i] == (s->id[i / 2] % 2 == 0 ? 1.0 : 5.0));
    set(s, STORM_HOST_ABSORPTION, 3.0);
    expect(s, STORM_HOST_ABSORPTION, 3.0);
    set(s, STORM_HOST_DENSITY, 2.0);
    set(s, STORM_HOST_TEMPERATURE, 0.3);
    set(s, STORM_HOST_RADIATION_START, 0.2);
    expect(s, STORM_HOST_DENSITY, 2.0);
    expect(s, STORM_HOST_TEMPERATURE, 0.3);
    CHECK_OK(storm_host_request(s->host, STORM_HOST_FLUX));
    CHECK_OK(storm_host_request(s->host, STORM_HOST_GROUPS));
}

/* A step, and work of the host on each cell: heat that is added, and heat that
 * is set and declared. */
static void step(const struct share *s, int number)
{
    double erg[N], volume[N], heat[N], e[STORM_HOST_N_ENERGIES];
    double groups[N * GROUPS], all[N];
    CHECK_OK(storm_host_step(s->host, number * dt_s, dt_s));
    CHECK_OK(storm_host_get(s->host, STORM_HOST_VOLUME, volume, s->n));
    CHECK_OK(storm_host_get(s->host, STORM_HOST_RADIATION, all, s->n));
    CHECK_OK(storm_host_get(s->host, STORM_HOST_GROUPS, groups, GROUPS * s->n));
    for (size_t i = 0; i < s->n; i++) {
        CHECK(fabs(groups[2 * i] + groups[2 * i + 1] - all[i]) <=
              1e-12 * all[i]);
        erg[i] = of(s->id[i], 1e11) * volume[i];
    }
    CHECK_OK(storm_host_add_heat(s->host, erg, s->n));
    CHECK_OK(storm_host_get(s->host, STORM_HOST_HEAT, heat, s->n));
    for (size_t i = 0; i < s->n; i++) {
        erg[i] = -0.01 * heat[i] * volume[i];
        heat[i] *= 0.99;
    }
    CHECK_OK(storm_host_set(s->host, STORM_HOST_HEAT, heat, s->n));
    CHECK_OK(storm_host_declare_work(s->host, erg, s->n));
    CHECK_OK(storm_host_energy(s->host, e, STORM_HOST_N_ENERGIES));
    CHECK(e[STORM_HOST_E_ERROR] < 1e-13);
    CHECK(e[STORM_HOST_E_WALLS] > 0.0 && e[STORM_HOST_E_HOST] != 0.0);
    CHECK(fabs(e[STORM_HOST_E_HOST] - e[STORM_HOST_E_DECLARED]) <
          1e-13 * e[STORM_HOST_E_MATTER]);
}

static uint64_t hash_of(const struct share *s)
{
    uint64_t hash;
    CHECK_OK(storm_host_hash(s->host, &hash));
    return hash;
}

/* ---- grids -------------------------------------------------------------- */

static double edge(int i, int n)
{
    return 0.3 * i + 0.02 * i * i / n;
}

static void set_edges(struct storm_host *h)
{
    const int n[3] = {NX, NY, NZ};
    for (int d = 0; d < 3; d++) {
        double edges[NX + 1];
        for (int i = 0; i <= n[d]; i++)
            edges[i] = edge(i, n[d]);
        CHECK_OK(storm_host_set_edges(h, d, edges, (size_t)n[d] + 1));
    }
}

/* The columns of a rank, the last rank first; more ranks than columns. */
static struct share cart_open(MPI_Comm comm)
{
    struct share s = {.n = 0};
    CHECK_OK(storm_host_create(comm, "", &s.host));
    describe(s.host, true);
    set_edges(s.host);
    int size = storm_host_size(s.host);
    int turned = size - 1 - storm_host_rank(s.host);
    int lo = NY * turned / size, hi = NY * (turned + 1) / size;
    const int64_t first[3] = {0, lo, 0}, n[3] = {NX, hi - lo, NZ};
    CHECK_EQ(storm_host_n_cells(s.host), 0);
    CHECK_OK(storm_host_mesh_cart(s.host, first, n));
    CHECK_OK(storm_host_begin(s.host));
    for (int k = 0; k < NZ; k++)
        for (int j = lo; j < hi; j++)
            for (int i = 0; i < NX; i++)
                s.id[s.n++] = (k * NY + j) * NX + i;
    CHECK_EQ(storm_host_n_cells(s.host), s.n);
    return s;
}

static void check_centres(const struct share *s)
{
    const int n[3] = {NX, NY, NZ};
    double centre[3 * N];
    CHECK_OK(storm_host_get(s->host, STORM_HOST_CENTRE, centre, 3 * s->n));
    for (size_t i = 0; i < s->n; i++) {
        int ijk[3] = {s->id[i] % NX, s->id[i] / NX % NY, s->id[i] / NX / NY};
        for (int d = 0; d < 3; d++)
            CHECK(fabs(centre[3 * i + (size_t)d] -
                       0.5 * (edge(ijk[d], n[d]) + edge(ijk[d] + 1, n[d]))) <
                  1e-14);
    }
}

/* Each step with another partition of the library. */
static uint64_t cart_run(MPI_Comm comm, bool is_repartitioned)
{
    struct share s = cart_open(comm);
    begin_fields(&s);
    for (int i = 0; i < STEPS; i++) {
        step(&s, i);
        if (is_repartitioned)
            CHECK_OK(storm_host_repartition(s.host));
        expect(&s, STORM_HOST_DENSITY, 2.0);
        check_centres(&s);
    }
    uint64_t hash = hash_of(&s);
    storm_host_destroy(s.host);
    return hash;
}

/* ---- points ------------------------------------------------------------- */

static void point_of(int id, double shift, double x_out[3])
{
    for (int d = 0; d < 3; d++) { /* a sequence that fills the box evenly */
        static const double step[3] = {0.8191725134, 0.6710436067,
                                       0.5497004779};
        double x = 0.5 + step[d] * id;
        x_out[d] = 0.02 + 0.96 * (x - floor(x)) + shift;
    }
}

static uint64_t points_run(MPI_Comm comm)
{
    const double lo[3] = {0.0, 0.0, 0.0}, hi[3] = {1.0, 1.0, 1.0};
    struct share s = {.n = 0};
    double x[3 * N];
    CHECK_OK(storm_host_create(comm, NULL, &s.host));
    describe(s.host, false);
    for (int id = N - 1; id >= 0; id--) /* dealt out one by one */
        if (id % storm_host_size(s.host) == storm_host_rank(s.host)) {
            point_of(id, 0.0, &x[3 * s.n]);
            s.id[s.n++] = id;
        }
    CHECK_OK(storm_host_mesh_points(s.host, lo, hi, x, s.n));
    CHECK_OK(storm_host_begin(s.host));
    begin_fields(&s);
    for (int i = 0; i < STEPS; i++) {
        double mass[N], volume[N];
        step(&s, i);
        CHECK_OK(storm_host_get(s.host, STORM_HOST_DENSITY, mass, s.n));
        CHECK_OK(storm_host_get(s.host, STORM_HOST_VOLUME, volume, s.n));
        for (size_t c = 0; c < s.n; c++) {
            mass[c] *= volume[c];
            point_of(s.id[c], 0.004 * (i + 1) * (s.id[c] % 3 - 1), &x[3 * c]);
        }
        CHECK_OK(storm_host_move(s.host, x, 3 * s.n));
        double rho[N];
        CHECK_OK(storm_host_get(s.host, STORM_HOST_DENSITY, rho, s.n));
        CHECK_OK(storm_host_get(s.host, STORM_HOST_VOLUME, volume, s.n));
        for (size_t c = 0; c < s.n; c++) /* mass goes with its cell */
            CHECK(fabs(rho[c] * volume[c] - mass[c]) < 1e-13 * mass[c]);
        if (i == 1)
            CHECK_OK(storm_host_repartition(s.host));
        set(&s, STORM_HOST_DENSITY, 2.0);
        expect(&s, STORM_HOST_DENSITY, 2.0);
    }
    uint64_t hash = hash_of(&s);
    storm_host_destroy(s.host);
    return hash;
}

/* ---- given cells -------------------------------------------------------- */

/* Boxes of a grid as given cells. */
struct boxes {
    uint64_t tags[N], first_face[N + 1];
    double points[3 * N], volumes[N], normals[18 * N], on[18 * N], areas[6 * N];
    int64_t behind[6 * N];
};

static void add_box(struct boxes *b, size_t c, int id)
{
    const int n[3] = {NX, NY, NZ}, stride[3] = {1, NX, NX * NY};
    const int ijk[3] = {id % NX, id / NX % NY, id / NX / NY};
    double width[3];
    b->tags[c] = (uint64_t)(id * id + 3);
    b->volumes[c] = 1.0;
    for (int d = 0; d < 3; d++) {
        width[d] = edge(ijk[d] + 1, n[d]) - edge(ijk[d], n[d]);
        b->points[3 * c + (size_t)d] = edge(ijk[d], n[d]) + 0.5 * width[d];
        b->volumes[c] *= width[d];
    }
    for (int side = 0; side < 6; side++) {
        int d = side / 2, up = side % 2, next = ijk[d] + 2 * up - 1;
        size_t f = 6 * c + (size_t)side;
        int other = id + (2 * up - 1) * stride[d];
        memcpy(&b->on[3 * f], &b->points[3 * c], 3 * sizeof(double));
        b->on[3 * f + (size_t)d] = edge(ijk[d] + up, n[d]);
        for (int e = 0; e < 3; e++)
            b->normals[3 * f + (size_t)e] = e == d ? 2.0 * up - 1.0 : 0.0;
        b->areas[f] = b->volumes[c] / width[d];
        b->behind[f] =
            next < 0 || next == n[d] ? -1 - side : (int64_t)other * other + 3;
    }
    b->first_face[c + 1] = 6 * (c + 1);
}

/* Cells of rank (id + turn) / 7 % size, from the last one on. */
static void give_boxes(struct share *s, struct boxes *b, int turn)
{
    int size = storm_host_size(s->host);
    memset(b, 0, sizeof *b);
    s->n = 0;
    for (int id = N - 1; id >= 0; id--)
        if ((id + turn) / 7 % size == storm_host_rank(s->host)) {
            add_box(b, s->n, id);
            s->id[s->n++] = id;
        }
    CHECK_OK(storm_host_give_cells(s->host, s->n, b->tags, b->points,
                                   b->volumes, NULL));
    CHECK_OK(storm_host_give_faces(s->host, b->first_face, b->normals, b->on,
                                   b->areas, b->behind));
}

static uint64_t given_run(MPI_Comm comm, int turn)
{
    static struct boxes boxes;
    struct share s = {.n = 0};
    CHECK_OK(storm_host_create(comm, NULL, &s.host));
    describe(s.host, false);
    give_boxes(&s, &boxes, 0);
    CHECK_OK(storm_host_mesh_given(s.host, 6));
    CHECK_OK(storm_host_begin(s.host));
    begin_fields(&s);
    for (int i = 0; i < STEPS; i++) {
        step(&s, i);
        give_boxes(&s, &boxes, turn * (i + 1));
        CHECK_OK(storm_host_replace(s.host));
        CHECK_EQ(storm_host_n_cells(s.host), s.n);
        expect(&s, STORM_HOST_DENSITY, 2.0);
        check_centres(&s);
    }
    storm_host_set_quiet(s.host, 1);
    CHECK_EQ(storm_host_move(s.host, boxes.points, 3 * s.n), STORM_ERR_NOSUP);
    CHECK_EQ(storm_host_repartition(s.host), STORM_ERR_NOSUP);
    uint64_t hash = hash_of(&s);
    storm_host_destroy(s.host);
    return hash;
}

/* ---- matter that moves -------------------------------------------------- */

/* Momentum: of one group, with velocities by cell. */
static uint64_t motion_run(MPI_Comm comm)
{
    const double heat[] = {1e15};
    struct share s = {.n = 0};
    double m[STORM_HOST_N_MOMENTA], push[3 * N], sum = 0.0;
    CHECK_OK(storm_host_create(comm, NULL, &s.host));
    CHECK_OK(storm_host_set_int(s.host, "motion", 1));
    CHECK_OK(storm_host_add_material(s.host, "gas", NULL));
    CHECK_OK(storm_host_set_law(s.host, 0, STORM_HOST_LAW_HEAT, heat, 1));
    CHECK_OK(storm_host_set_by_cell(s.host, 0, STORM_HOST_LAW_SCATTERING, 2.0));
    CHECK_OK(storm_host_set_start(s.host, 0, 1.0, 0.5));
    set_edges(s.host);
    const int64_t first[3] = {0, 0, 0};
    const int64_t n[3] = {storm_host_rank(s.host) == 0 ? NX : 0, NY, NZ};
    CHECK_OK(storm_host_mesh_cart(s.host, first, n));
    CHECK_OK(storm_host_begin(s.host));
    for (s.n = 0; s.n < storm_host_n_cells(s.host); s.n++)
        s.id[s.n] = (int)s.n;
    set(&s, STORM_HOST_VELOCITY, 1e9);
    expect(&s, STORM_HOST_VELOCITY, 1e9);
    set(&s, STORM_HOST_FRAME, 1e9); /* without "diffusion" it does nothing */
    CHECK(storm_host_get(s.host, STORM_HOST_FRAME, push, 3 * s.n) < 0);
    for (int i = 0; i < STEPS; i++)
        CHECK_OK(storm_host_step(s.host, i * dt_s, dt_s));
    CHECK_OK(storm_host_momentum(s.host, m, STORM_HOST_N_MOMENTA));
    CHECK_OK(storm_host_get(s.host, STORM_HOST_PUSH, push, 3 * s.n));
    for (size_t i = 0; i < 3 * s.n; i++)
        sum += fabs(push[i]);
    CHECK(m[STORM_HOST_N_MOMENTA - 1] < 1e-13);
    CHECK(m[3] != 0.0 && (s.n == 0 || sum > 0.0));
    uint64_t hash = hash_of(&s);
    storm_host_destroy(s.host);
    return hash;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    uint64_t alone = cart_run(MPI_COMM_SELF, false);
    CHECK_EQ(cart_run(MPI_COMM_WORLD, false), alone);
    CHECK_EQ(cart_run(MPI_COMM_WORLD, true), alone);
    CHECK_EQ(points_run(MPI_COMM_WORLD), points_run(MPI_COMM_SELF));
    CHECK_EQ(given_run(MPI_COMM_WORLD, 3), given_run(MPI_COMM_SELF, 0));
    CHECK_EQ(motion_run(MPI_COMM_WORLD), motion_run(MPI_COMM_SELF));
    MPI_Finalize();
    return CHECK_PASS;
}
