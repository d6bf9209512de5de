/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 3; timeout: 60; label: slow-asan */
/* TEST ranks: 1 2 5; timeout: 60; label: long */
/*
 * Points, beams and shells (SOURCE-1, SOURCE-2).
 *
 * On boxes and Voronoi cells the state has the bits of one rank. Places and
 * directions of packets are those of their kind: all in the cone, on the disc
 * or sphere; means against the exact ones (k = 5 standard errors). In space
 * without matter a point gives the energy density 1 / (4 pi r^2 c) of its
 * power, a shell that emits inwards a uniform one, 1 / (pi R^2 c) of it; a beam
 * in an absorber deposits as exp(-tau) (k = 5 standard errors, from 32 steps,
 * each longer than light takes through the box). Energy created is the integral
 * of the power, by number, table or formula; a source an eighth of which is in
 * the box emits an eighth.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/run_points.h"
#include "support/check.h"
#include "support/imc_box.h"

enum { N_PACKETS = 20000, FIELD_PACKETS = 4000, N_GROUPS = 3 };
static const double even_k = 5.0;
static const double pi = 3.14159265358979323846;
static const double unit_power[2] = {0.0, 1.0};

static const struct storm_material glass = {
    .absorption = {.coef = 2, .max = STORM_UNLIMITED}};

static struct storm_source source_of(storm_source_kind kind)
{
    return (struct storm_source){.kind = kind,
                                 .power = {unit_power, 1},
                                 .stop_s = STORM_UNLIMITED,
                                 .packets = N_PACKETS,
                                 .temperature_kev = 1.0,
                                 .at_cm = {0.4, 0.5, 0.6},
                                 .direction = {1.0, 2.0, -2.0},
                                 .cone_deg = 30.0,
                                 .disc_radius_cm = 0.2,
                                 .shell_radius_cm = 0.3};
}

static struct storm_problem problem_of(const struct storm_source *source)
{
    return (struct storm_problem){STORM_PROBLEM_SIZES,
                                  .light_cm_s = 1,
                                  .radiation_erg_cm3_kev4 = 1,
                                  .hi_cm = {1, 1, 1},
                                  .sources = source,
                                  .n_sources = 1,
                                  .n_groups = N_GROUPS,
                                  .group_min_kev = 0.1,
                                  .group_max_kev = 10,
                                  .max_per_cell = 8,
                                  .seed = 4};
}

static void box_open(struct imc_box *box, MPI_Comm comm, const int64_t n[3])
{
    struct storm_cart_params cart = {.size = sizeof cart, .hi_cm = {1, 1, 1}};
    struct storm_points_params set = {
        .size = sizeof set, .seed = 3, .n_total = 120, .hi_cm = {1, 1, 1}};
    struct storm_voronoi_params voronoi = {.size = sizeof voronoi,
                                           .hi_cm = {1, 1, 1}};
    CHECK_OK(storm_context_create(comm, NULL, &box->context));
    if (n != NULL) {
        memcpy(cart.n, n, sizeof cart.n);
        CHECK_OK(storm_mesh_create_cart(box->context, &cart, &box->mesh));
    } else {
        CHECK_OK(run_points_mesh(box->context, &set, &voronoi, &box->mesh));
    }
    imc_box_open(box);
}

/* ---- the same bits ------------------------------------------------------ */

static uint64_t hash_on(MPI_Comm comm, const struct storm_problem *problem,
                        const int64_t n[3])
{
    struct imc_box box = {.problem = *problem};
    double energy[4];
    box_open(&box, comm, n);
    for (int i = 0; i < 2; i++)
        CHECK(imc_box_step(&box, 0.3 * i, 0.3, energy) <= 1e-14);
    uint64_t hash = imc_box_hash(&box);
    imc_box_close(&box);
    return hash;
}

static void check_bits(void)
{
    static const int64_t cells[3] = {6, 5, 4};
    struct storm_source sources[3] = {source_of(STORM_SOURCE_POINT),
                                      source_of(STORM_SOURCE_BEAM),
                                      source_of(STORM_SOURCE_SHELL)};
    sources[1].disc_radius_cm = 0.0;
    sources[1].width_cm[0] = 0.5;
    sources[1].width_cm[1] = 0.1;
    sources[1].power_formula = "1 + sin2pi(5 * t)";
    sources[2].side = STORM_SOURCE_BOTH;
    for (int i = 0; i < 3; i++)
        sources[i].packets = 500;
    struct storm_problem problem = problem_of(sources);
    problem.n_sources = 3;
    problem.materials = &glass;
    problem.n_materials = 1;
    problem.regions = imc_box_regions;
    problem.n_regions = 1;
    for (int kind = 0; kind < 2; kind++) {
        const int64_t *n = kind == 0 ? cells : NULL;
        CHECK_EQ(hash_on(MPI_COMM_WORLD, &problem, n),
                 hash_on(MPI_COMM_SELF, &problem, n));
    }
}

/* ---- places and directions ---------------------------------------------- */

/* Sums over packets: of what, and of its square. */
struct mean {
    double n, sum, square;
};

static void mean_add(struct mean *m, double value)
{
    m->n += 1.0;
    m->sum += value;
    m->square += value * value;
}

/* Against the exact mean, on all ranks together. */
static void mean_check(const char *what, const struct mean *mine, double exact)
{
    struct mean m = *mine;
    MPI_Allreduce(MPI_IN_PLACE, &m, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    double mean = m.sum / m.n;
    double error = sqrt(fmax(m.square / m.n - mean * mean, 0.0) / m.n);
    if (!(fabs(mean - exact) <= even_k * error + 1e-8))
        fprintf(stderr, "%s: %.6f, not %.6f (error %.6f)\n", what, mean, exact,
                error);
    CHECK(fabs(mean - exact) <= even_k * error + 1e-8);
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The packets of a very short step. */
static void *const *first_packets(struct imc_box *box, size_t *n_out)
{
    static const int64_t cells[3] = {6, 5, 4};
    double energy[4];
    box_open(box, MPI_COMM_WORLD, cells);
    CHECK(imc_box_step(box, 0.0, 1e-10, energy) <= 1e-14);
    return storm_engine_packets(box->engine, n_out);
}

/* Evenly in the cone: the cosine to its axis has the mean (1 + cos 30) / 2 and
 * the sides cancel. */
static void check_cone(struct storm_source source)
{
    const double axis[3] = {1.0 / 3.0, 2.0 / 3.0, -2.0 / 3.0};
    const double side[3] = {2.0 / 3.0, -2.0 / 3.0, -1.0 / 3.0};
    double least = cos(pi / 6.0);
    struct imc_box box = {.problem = problem_of(&source)};
    struct mean along = {0}, across = {0}, square = {0}, place = {0};
    size_t n;
    void *const *packets = first_packets(&box, &n);
    for (size_t i = 0; i < n; i++) {
        const struct storm_packet *p = packets[i];
        double mu = dot(p->direction, axis), x[3];
        CHECK(mu >= least - 1e-12 && mu <= 1.0 + 1e-12);
        mean_add(&along, mu);
        mean_add(&across, dot(p->direction, side));
        mean_add(&square, dot(p->direction, side) * dot(p->direction, side));
        for (int d = 0; d < 3; d++)
            x[d] = p->position_cm[d] - source.at_cm[d];
        CHECK(fabs(dot(x, axis)) < 1e-9);
        if (source.kind == STORM_SOURCE_POINT)
            CHECK(dot(x, x) < 1e-18);
        else
            CHECK(dot(x, x) <= 0.04 + 1e-9);
        mean_add(&place, dot(x, x));
    }
    mean_check("cone", &along, 0.5 * (1.0 + least));
    mean_check("side", &across, 0.0);
    double mean_mu2 = (1.0 - least * least * least) / (3.0 * (1.0 - least));
    mean_check("side squared", &square, 0.5 * (1.0 - mean_mu2));
    mean_check("place", &place, source.kind == STORM_SOURCE_BEAM ? 0.02 : 0.0);
    imc_box_close(&box);
}

/* A rectangle with its first width along y, parallel. */
static void check_rectangle(void)
{
    struct storm_source source = source_of(STORM_SOURCE_BEAM);
    const double direction[3] = {0.0, 0.0, -3.0}, across[3] = {0.0, 1.0, 5.0};
    memcpy(source.direction, direction, sizeof direction);
    memcpy(source.across, across, sizeof across);
    source.disc_radius_cm = source.cone_deg = 0.0;
    source.width_cm[0] = 0.6;
    source.width_cm[1] = 0.2;
    struct imc_box box = {.problem = problem_of(&source)};
    struct mean y = {0}, x = {0};
    size_t n;
    void *const *packets = first_packets(&box, &n);
    for (size_t i = 0; i < n; i++) {
        const struct storm_packet *p = packets[i];
        CHECK(p->direction[0] == 0.0 && p->direction[1] == 0.0 &&
              p->direction[2] == -1.0);
        CHECK(fabs(p->position_cm[0] - 0.4) <= 0.1 + 1e-9 &&
              fabs(p->position_cm[1] - 0.5) <= 0.3 + 1e-9);
        mean_add(&x, pow(p->position_cm[0] - 0.4, 2.0));
        mean_add(&y, pow(p->position_cm[1] - 0.5, 2.0));
    }
    mean_check("second width", &x, 0.2 * 0.2 / 12.0);
    mean_check("first width", &y, 0.6 * 0.6 / 12.0);
    imc_box_close(&box);
}

/* The cosine law: a mean cosine of 2/3; on both sides alike. One energy: one
 * group. */
static void check_shell(storm_source_side side, double mean_cosine)
{
    struct storm_source source = source_of(STORM_SOURCE_SHELL);
    source.side = side;
    source.energy_kev = 3.0;
    struct imc_box box = {.problem = problem_of(&source)};
    struct mean cosine = {0}, square = {0}, x_mean = {0};
    size_t n;
    void *const *packets = first_packets(&box, &n);
    for (size_t i = 0; i < n; i++) {
        const struct storm_packet *p = packets[i];
        double x[3];
        for (int d = 0; d < 3; d++)
            x[d] = p->position_cm[d] - source.at_cm[d];
        double r = sqrt(dot(x, x));
        CHECK(fabs(r - 0.3) < 1e-9);
        mean_add(&cosine, dot(x, p->direction) / r);
        mean_add(&square, pow(dot(x, p->direction) / r, 2.0));
        mean_add(&x_mean, x[0]);
        CHECK_EQ(p->group, 2);
    }
    mean_check("cosine", &cosine, mean_cosine);
    mean_check("cosine squared", &square, 0.5);
    mean_check("middle", &x_mean, 0.0);
    imc_box_close(&box);
}

/* ---- energy densities --------------------------------------------------- */

/* Steps once the box is full of light: mean and square of a field, by cell. */
enum { SAMPLES = 32 };
static void sample(struct imc_box *box, storm_imc_field field,
                   struct mean *cells)
{
    size_t n = (size_t)storm_mesh_n_cells(box->mesh);
    double energy[4], *values = calloc(n + 1, sizeof *values);
    CHECK(values != NULL);
    CHECK(imc_box_step(box, 0.0, 2.0, energy) <= 1e-14);
    for (int i = 0; i < SAMPLES; i++) {
        CHECK(imc_box_step(box, 2.0 + 3.0 * i, 3.0, energy) <= 1e-14);
        CHECK_OK(storm_imc_get(box->imc, box->engine, field, values));
        for (size_t c = 0; c < n; c++)
            mean_add(&cells[c], values[c]);
    }
    free(values);
}

static void cell_check(const char *what, const struct mean *m, double exact)
{
    double mean = m->sum / m->n;
    double error =
        sqrt(fmax(m->square / m->n - mean * mean, 0.0) / (m->n - 1.0));
    if (!(fabs(mean - exact) <= even_k * error))
        fprintf(stderr, "%s: %g, not %g (error %g)\n", what, mean, exact,
                error);
    CHECK(fabs(mean - exact) <= even_k * error + 1e-12);
    CHECK(error < 0.2 * exact + 1e-12);
}

/* The mean of 1 / (4 pi r^2) over a cell. */
static double point_density(const struct storm_mesh *mesh, storm_cell_idx cell,
                            const double at[3])
{
    enum { N = 40 };
    double lo[3], hi[3], sum = 0.0;
    storm_mesh_bounds(mesh, cell, lo, hi);
    for (int i = 0; i < N * N * N; i++) {
        const int k[3] = {i % N, i / N % N, i / (N * N)};
        double square = 0.0;
        for (int d = 0; d < 3; d++) {
            double x = lo[d] + (hi[d] - lo[d]) * (k[d] + 0.5) / N - at[d];
            square += x * x;
        }
        sum += 1.0 / (4.0 * pi * square);
    }
    return sum / (N * N * N);
}

static void check_point_field(void)
{
    static const int64_t cells[3] = {4, 4, 4};
    static struct mean means[64];
    struct storm_source source = source_of(STORM_SOURCE_POINT);
    const double at[3] = {0.4, 0.45, 0.6};
    memcpy(source.at_cm, at, sizeof at);
    source.cone_deg = 180.0;
    source.packets = FIELD_PACKETS;
    struct imc_box box = {.problem = problem_of(&source)};
    box_open(&box, MPI_COMM_WORLD, cells);
    sample(&box, STORM_IMC_RADIATION_PATH, means);
    for (storm_cell_idx c = 0; c < storm_mesh_n_cells(box.mesh); c++) {
        double lo[3], hi[3];
        storm_mesh_bounds(box.mesh, c, lo, hi);
        bool near = true; /* there the sum over points is not accurate */
        for (int d = 0; d < 3; d++)
            near = near && at[d] > lo[d] - 0.01 && at[d] < hi[d] + 0.01;
        if (!near)
            cell_check("point", &means[c], point_density(box.mesh, c, at));
    }
    imc_box_close(&box);
}

/* Cells within the shell. */
static void check_shell_field(void)
{
    static const int64_t cells[3] = {8, 8, 8};
    static struct mean means[512];
    struct storm_source source = source_of(STORM_SOURCE_SHELL);
    source.side = STORM_SOURCE_INWARDS;
    source.shell_radius_cm = 0.45;
    source.at_cm[0] = source.at_cm[1] = source.at_cm[2] = 0.5;
    source.packets = FIELD_PACKETS;
    struct imc_box box = {.problem = problem_of(&source)};
    int n_inside = 0;
    box_open(&box, MPI_COMM_WORLD, cells);
    sample(&box, STORM_IMC_RADIATION_PATH, means);
    for (storm_cell_idx c = 0; c < storm_mesh_n_cells(box.mesh); c++) {
        double centre[3];
        storm_mesh_centre(box.mesh, c, centre);
        for (int d = 0; d < 3; d++)
            centre[d] = fabs(centre[d] - 0.5) + 0.0625;
        if (sqrt(dot(centre, centre)) > 0.45)
            continue;
        cell_check("shell", &means[c], 1.0 / (pi * 0.45 * 0.45));
        n_inside++;
    }
    MPI_Allreduce(MPI_IN_PLACE, &n_inside, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(n_inside >= 50);
    imc_box_close(&box);
}

/* Along x through ten layers of 0.2 mean free paths, from 0 on. */
static void check_beam_field(void)
{
    static const int64_t cells[3] = {10, 1, 1};
    static struct mean means[10];
    struct storm_source source = source_of(STORM_SOURCE_BEAM);
    source.cone_deg = source.at_cm[0] = 0.0;
    source.direction[1] = source.direction[2] = 0.0;
    source.packets = FIELD_PACKETS;
    struct imc_box box = {.problem = problem_of(&source)};
    box.problem.materials = &glass;
    box.problem.n_materials = 1;
    box.problem.regions = imc_box_regions;
    box.problem.n_regions = 1;
    box_open(&box, MPI_COMM_WORLD, cells);
    sample(&box, STORM_IMC_DEPOSITED, means);
    for (storm_cell_idx c = 0; c < storm_mesh_n_cells(box.mesh); c++) {
        double lo[3], hi[3];
        storm_mesh_bounds(box.mesh, c, lo, hi);
        cell_check("beam", &means[c],
                   3.0 * (exp(-2.0 * lo[0]) - exp(-2.0 * hi[0])));
    }
    imc_box_close(&box);
}

/* ---- energy ------------------------------------------------------------- */

static double created(const struct storm_source *source)
{
    static const int64_t cells[3] = {3, 2, 2};
    struct imc_box box = {.problem = problem_of(source)};
    double energy[4];
    box_open(&box, MPI_COMM_WORLD, cells);
    for (int i = 0; i < 3; i++)
        CHECK(imc_box_step(&box, 0.25 * i, 0.25, energy) <= 1e-14);
    imc_box_close(&box);
    return energy[0];
}

static void check_energy(void)
{
    static const double table[] = {0.0, 1.0, 0.5, 3.0, 0.6, 0.0};
    for (int kind = STORM_SOURCE_VOLUME; kind <= STORM_SOURCE_SHELL; kind++) {
        struct storm_source source = source_of((storm_source_kind)kind);
        source.packets = 100;
        CHECK(fabs(created(&source) - 0.75) < 1e-13);
        source.power = (struct storm_curve){table, 3};
        CHECK(fabs(created(&source) - (1.0 + 0.15)) < 1e-13);
        source.power_formula = "3 * t^2";
        CHECK(fabs(created(&source) - 0.421875) < 1e-5);
        source.start_s = 0.5;
        CHECK(fabs(created(&source) - (0.421875 - 0.125)) < 1e-5);
    }
    struct storm_source corner = source_of(STORM_SOURCE_SHELL);
    corner.at_cm[0] = corner.at_cm[1] = corner.at_cm[2] = 0.0;
    double n = 3.0 * N_PACKETS, share = created(&corner) / 0.75;
    CHECK(fabs(share - 0.125) < even_k * sqrt(0.125 * 0.875 / n));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_bits();
    check_cone(source_of(STORM_SOURCE_POINT));
    check_cone(source_of(STORM_SOURCE_BEAM));
    check_rectangle();
    check_shell(STORM_SOURCE_OUTWARDS, 2.0 / 3.0);
    check_shell(STORM_SOURCE_INWARDS, -2.0 / 3.0);
    check_shell(STORM_SOURCE_BOTH, 0.0);
    check_point_field();
    check_shell_field();
    check_beam_field();
    check_energy();
    MPI_Finalize();
    return CHECK_PASS;
}
