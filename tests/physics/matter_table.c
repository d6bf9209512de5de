/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; timeout: 30 */
/*
 * TABLE-1 to TABLE-3 of tables made from an analytic law: errors between the
 * points at two spacings fall with the stated orders, powers are exact; of data
 * with steps and bends the energy rises everywhere, the heat capacity is its
 * derivative and above 0, and the temperature its inverse; an answer does not
 * depend on the block (MATTER-1). What is beyond the table is an error with
 * cell, value and range, or goes on as documented. Faults are refused,
 * each with its place.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include <storm/context.h>
#include <storm/table.h>

#include "support/check.h"

enum { MAX_T = 65, MAX_RHO = 9, GROUPS = 3, MAX_LOG = 512 };

static char logged[MAX_LOG];
static void keep(void *self, storm_log_level level, int rank,
                 const char *message)
{
    (void)self, (void)level, (void)rank;
    snprintf(logged, sizeof logged, "%s", message);
}

struct arrays {
    double t[MAX_T], rho[MAX_RHO], edge[GROUPS + 1];
    double absorption[MAX_T * MAX_RHO * GROUPS];
    double scattering[MAX_T * MAX_RHO * GROUPS];
    double energy[MAX_T * MAX_RHO];
    struct storm_table_params p;
};

/* Smooth, and no powers. */
static double smooth_opacity(double t, double rho, int g)
{
    return (g + 1.0) * rho / (1.0 + t * t) * exp(-0.3 * t) + 0.1;
}
static double smooth_energy(double t, double rho)
{
    return 3e15 * t * (1.0 + t * t / (0.5 + t)) * (1.0 + 0.2 * sqrt(rho));
}
static double smooth_capacity(double t, double rho)
{
    double a = t * t / (0.5 + t), b = t * (t + 1.0) / ((0.5 + t) * (0.5 + t));
    return 3e15 * (1.0 + a + t * b) * (1.0 + 0.2 * sqrt(rho));
}

static void fill(struct arrays *a, size_t n_t, size_t n_rho)
{
    memset(a, 0, sizeof *a);
    for (size_t i = 0; i < n_t; i++)
        a->t[i] = 0.01 * pow(1000.0, (double)i / (double)(n_t - 1));
    for (size_t i = 0; i < n_rho; i++)
        a->rho[i] = 0.1 * pow(20.0, (double)i / fmax((double)n_rho - 1, 1));
    for (int g = 0; g <= GROUPS; g++)
        a->edge[g] = g + 1.0;
    for (size_t i = 0; i < n_t * n_rho; i++) {
        double t = a->t[i / n_rho], rho = a->rho[i % n_rho];
        a->energy[i] = smooth_energy(t, rho);
        for (int g = 0; g < GROUPS; g++) {
            size_t k = i * GROUPS + (size_t)g;
            a->absorption[k] = smooth_opacity(t, rho, g);
            a->scattering[k] = 2.0 * t * t * rho;
        }
    }
    a->p = (struct storm_table_params){
        .size = sizeof a->p,
        .name = "gas.h5",
        .n_temperatures = n_t,
        .temperature_kev = a->t,
        .n_densities = n_rho,
        .density_g_cm3 = a->rho,
        .n_groups = GROUPS,
        .group_edge_kev = a->edge,
        .absorption = a->absorption,
        .scattering = a->scattering,
        .energy = a->energy,
    };
}

/* One cell. */
static const storm_cell_id some_tag = 77;
static struct storm_matter_block block_of(const double *t, const double *rho,
                                          size_t n_groups)
{
    static const storm_cell_idx index = 5;
    static const double edge[GROUPS + 1] = {1.0, 2.0, 3.0, 4.0};
    return (struct storm_matter_block){.size =
                                           sizeof(struct storm_matter_block),
                                       .n = 1,
                                       .cell = &index,
                                       .tag = &some_tag,
                                       .density_g_cm3 = rho,
                                       .temperature_kev = t,
                                       .n_groups = n_groups,
                                       .group_edge_kev = edge};
}

struct answer {
    double absorption[GROUPS], scattering[GROUPS], energy, capacity, back;
};

static storm_status ask(const struct storm_matter *m, double t, double rho,
                        struct answer *out)
{
    struct storm_matter_block block = block_of(&t, &rho, GROUPS);
    storm_status status =
        m->opacity(m->self, &block, out->absorption, out->scattering);
    if (status == STORM_OK && !m->is_held)
        status = m->energy(m->self, &block, &out->energy);
    if (status == STORM_OK && !m->is_held)
        status = m->heat_capacity(m->self, &block, &out->capacity);
    if (status == STORM_OK && !m->is_held)
        status = m->temperature(m->self, &block, &out->energy, &out->back);
    return status;
}

/* ---- orders ------------------------------------------------------------- */

/* Worst relative errors of a table: opacity, energy, heat capacity; at a point
 * of its densities, and elsewhere. */
static void errors_of(struct storm_context *context, size_t n_t, size_t n_rho,
                      double worst[4])
{
    static struct arrays a;
    struct storm_table *table;
    struct storm_matter m = STORM_MATTER_INIT;
    fill(&a, n_t, n_rho);
    CHECK_OK(storm_table_create(context, &a.p, &table));
    double lo = a.t[0], hi = a.t[n_t - 1], rho_lo = a.rho[0];
    memset(&a, 255, sizeof a); /* it has copies */
    storm_table_matter(table, &m);
    for (int k = 0; k < 4; k++)
        worst[k] = 0.0;
    for (int i = 0; i <= 2000; i++) {
        double t = lo * pow(hi / lo, i / 2000.0);
        double rho = rho_lo * pow(20.0, (i * 7 % 2000) / 2000.0);
        struct answer here, edge;
        CHECK_OK(ask(&m, t, rho, &here));
        CHECK_OK(ask(&m, t, rho_lo, &edge));
        for (int g = 0; g < GROUPS; g++) {
            double right = smooth_opacity(t, rho, g);
            worst[0] = fmax(worst[0], fabs(here.absorption[g] / right - 1.0));
            CHECK(fabs(here.scattering[g] / (2.0 * t * t * rho) - 1) < 1e-13);
        }
        worst[1] =
            fmax(worst[1], fabs(edge.energy / smooth_energy(t, rho_lo) - 1));
        worst[2] = fmax(worst[2],
                        fabs(edge.capacity / smooth_capacity(t, rho_lo) - 1));
        worst[3] =
            fmax(worst[3], fabs(here.energy / smooth_energy(t, rho) - 1));
        CHECK(fabs(here.back / t - 1.0) < 1e-13);
    }
    storm_table_destroy(table);
}

static void check_orders(struct storm_context *context)
{
    static const char *const what[4] = {"opacity", "energy in T",
                                        "heat capacity", "energy"};
    static const double order[4] = {2.0, 3.0, 2.0, 2.0};
    double coarse[4], fine[4];
    errors_of(context, 33, 5, coarse);
    errors_of(context, 65, 9, fine);
    for (int k = 0; k < 4; k++) {
        double found = log2(coarse[k] / fine[k]);
        printf("%s: %.2g, then %.2g: order %.2f\n", what[k], coarse[k], fine[k],
               found);
        CHECK(found > order[k] - 0.3);
        CHECK(fine[k] < 0.02);
    }
}

/* ---- monotone ----------------------------------------------------------- */

/* An equation of state with a step of 1e4, a plateau and a bend. */
static void check_monotone(struct storm_context *context)
{
    static struct arrays a;
    static const double step[8] = {1.0,    1.0001, 1.0002, 9000.0,
                                   9001.0, 9001.1, 2e4,    2.1e4};
    struct storm_table *table;
    struct storm_matter m = STORM_MATTER_INIT;
    fill(&a, 8, 3);
    for (size_t i = 0; i < 8 * 3; i++)
        a.energy[i] = step[i / 3] * (i % 3 == 1 ? a.t[i / 3] : 1.0);
    a.p.energy_per_mass = 1;
    CHECK_OK(storm_table_create(context, &a.p, &table));
    storm_table_matter(table, &m);
    for (int r = 0; r <= 6; r++) {
        double rho = 0.1 * pow(20.0, r / 6.0), before = 0.0;
        for (int i = 0; i <= 4000; i++) {
            double t = 0.01 * pow(1000.0, i / 4000.0), h = 1e-6;
            struct answer here, up, down;
            CHECK_OK(ask(&m, t, rho, &here));
            CHECK(here.energy > before);
            CHECK(here.capacity > 0.0);
            before = here.energy;
            /* A log T that is known to 1e-16 gives a T that is: the energy of
             * the inverse is that to some roundings. */
            CHECK_OK(ask(&m, here.back, rho, &up));
            CHECK(fabs(up.energy / here.energy - 1.0) < 1e-12);
            if (i == 0 || i == 4000)
                continue;
            CHECK_OK(ask(&m, t * (1.0 + h), rho, &up));
            CHECK_OK(ask(&m, t * (1.0 - h), rho, &down));
            double slope = (up.energy - down.energy) / (2.0 * h * t);
            CHECK(fabs(slope - here.capacity) <
                  1e-3 * here.capacity + 1e-6 * here.energy / t);
        }
    }
    storm_table_destroy(table);
}

/* ---- edges -------------------------------------------------------------- */

static void check_says(const struct storm_matter *m, storm_status status,
                       const char *text)
{
    CHECK(status == STORM_ERR_ARG);
    if (strstr(m->problem(m->self), text) == NULL)
        CHECK_TEXT(m->problem(m->self), text);
}

static void check_beyond(struct storm_context *context)
{
    static struct arrays a;
    struct storm_table *table;
    struct storm_matter m = STORM_MATTER_INIT;
    struct answer here, edge;
    double rho = 0.1, energy = 1e3, t;
    fill(&a, 9, 3);
    CHECK_OK(storm_table_create(context, &a.p, &table));
    storm_table_matter(table, &m);
    check_says(&m, ask(&m, 0.009, 0.1, &here),
               "cell 77: the temperature (keV) is 0.009, beyond the table "
               "gas.h5, which has 0.01 to 10");
    check_says(&m, ask(&m, 10.1, 0.1, &here), "is 10.1, beyond");
    check_says(&m, ask(&m, 0.0, 0.1, &here), "is 0, beyond");
    check_says(&m, ask(&m, 1.0, 2.1, &here),
               "the density (g/cm3) is 2.1, beyond the table gas.h5, which has "
               "0.1 to 2");
    struct storm_matter_block block = block_of(NULL, &rho, GROUPS);
    check_says(&m, m.temperature(m.self, &block, &energy, &t),
               "cell 77: the energy (erg/cm3) is 1000, beyond");
    /* A guess is answered for the edge. */
    double guess = 20.0, guessed, most = 10.0, highest;
    block = block_of(&guess, &rho, GROUPS);
    check_says(&m, m.energy(m.self, &block, &guessed), "is 20, beyond");
    block.is_estimate = 1;
    CHECK_OK(m.energy(m.self, &block, &guessed));
    CHECK_OK(m.opacity(m.self, &block, here.absorption, here.scattering));
    block = block_of(&most, &rho, GROUPS);
    CHECK_OK(m.energy(m.self, &block, &highest));
    CHECK_OK(m.opacity(m.self, &block, edge.absorption, edge.scattering));
    CHECK(guessed > highest && guessed < 1e3 * highest);
    CHECK(fabs(here.absorption[1] / edge.absorption[1] - 1.0) < 1e-14);
    block = block_of(NULL, &rho, GROUPS);
    block.is_estimate = 1;
    CHECK_OK(m.temperature(m.self, &block, &guessed, &t));
    CHECK(fabs(t / guess - 1.0) < 1e-12);
    /* Edges are inside, after energies as well. */
    CHECK_OK(ask(&m, 0.01, 0.1, &edge));
    CHECK_OK(ask(&m, edge.back, 0.1, &here));
    CHECK_OK(ask(&m, 10.0, 2.0, &here));
    CHECK_OK(ask(&m, here.back, 2.0, &here));
    storm_table_destroy(table);

    a.p.beyond = STORM_TABLE_EDGE;
    CHECK_OK(storm_table_create(context, &a.p, &table));
    storm_table_matter(table, &m);
    CHECK_OK(ask(&m, 0.001, 0.01, &here));
    CHECK(fabs(here.absorption[1] / edge.absorption[1] - 1.0) < 1e-14);
    double power = edge.capacity * 0.01 / edge.energy;
    CHECK(fabs(here.energy / (edge.energy * pow(0.1, power)) - 1.0) < 1e-12);
    CHECK(fabs(here.back / 0.001 - 1.0) < 1e-12);
    CHECK(fabs(here.capacity * 0.001 / here.energy / power - 1.0) < 1e-12);
    CHECK_OK(ask(&m, 1e4, 10.0, &here));
    CHECK(fabs(here.back / 1e4 - 1.0) < 1e-12);
    t = 0.0;
    block = block_of(&t, &rho, GROUPS);
    CHECK_OK(m.energy(m.self, &block, &energy));
    CHECK(energy == 0.0);
    CHECK_OK(m.temperature(m.self, &block, &energy, &t));
    CHECK(t == 0.0);
    storm_table_destroy(table);
}

/* ---- forms -------------------------------------------------------------- */

static void check_forms(struct storm_context *context)
{
    static struct arrays a;
    struct storm_table *table, *other;
    struct storm_matter m = STORM_MATTER_INIT;
    struct answer here;
    static const double edges[GROUPS + 1] = {1.0, 2.0, 3.0, 4.0};
    static const double wrong[GROUPS + 1] = {1.0, 2.0, 3.1, 4.0};
    fill(&a, 9, 1);
    a.p.opacity_per_mass = 1;
    a.p.energy = NULL;
    a.absorption[0] = a.absorption[GROUPS] = 0.0;
    CHECK_OK(storm_table_create(context, &a.p, &table));
    storm_table_matter(table, &m);
    CHECK_EQ(m.is_held, 1);
    /* One density stands for all; per mass; a 0 at one end. */
    CHECK_OK(ask(&m, a.t[0] * 1.1, 50.0, &here));
    CHECK(here.absorption[0] == 0.0);
    CHECK(fabs(here.absorption[1] /
                   (50.0 * smooth_opacity(a.t[0] * 1.1, 0.1, 1)) -
               1.0) < 0.01);
    CHECK_OK(ask(&m, sqrt(a.t[1] * a.t[2]), 1.0, &here));
    CHECK(fabs(here.absorption[0] / (0.5 * a.absorption[2 * GROUPS]) - 1.0) <
          1e-12);
    char why[256];
    CHECK_OK(storm_table_check(&a.p, GROUPS, edges, why, sizeof why));
    CHECK(storm_table_check(&a.p, 2, edges, why, sizeof why) == STORM_ERR_ARG);
    CHECK(strstr(why, "gas.h5: has 3 groups, the problem has 2") != NULL);
    CHECK(storm_table_check(&a.p, GROUPS, wrong, why, sizeof why) ==
          STORM_ERR_ARG);
    CHECK(strstr(why, "group edge 2 is at 3 keV, the problem has it at 3.1") !=
          NULL);
    struct storm_matter_block block = block_of(a.t, a.rho, 2);
    CHECK(m.opacity(m.self, &block, here.absorption, here.scattering) ==
          STORM_ERR_ARG);
    /* The same of all groups. */
    a.p.n_groups = 0;
    CHECK_OK(storm_table_create(context, &a.p, &other));
    CHECK(storm_table_hash(table) != storm_table_hash(other));
    storm_table_matter(other, &m);
    CHECK_OK(storm_table_check(&a.p, GROUPS, edges, why, sizeof why));
    CHECK_OK(ask(&m, 0.05, 1.0, &here));
    CHECK(here.absorption[2] == here.absorption[0]);
    CHECK(here.scattering[1] == here.scattering[0]);
    storm_table_destroy(other);
    storm_table_destroy(table);
}

static void check_faults(struct storm_context *context)
{
    static struct arrays a;
    static const struct {
        const char *message;
        size_t offset;
        double value;
    } rows[] = {
        {"temperature[2]: expected a number above 0",
         offsetof(struct arrays, t[2]), (double)NAN},
        {"temperature[2]: expected rising", offsetof(struct arrays, t[2]),
         0.0101},
        {"temperature[0]: expected a number above 0",
         offsetof(struct arrays, t[0]), 0.0},
        {"density[1]: expected rising numbers, got 0.1 after",
         offsetof(struct arrays, rho[1]), 0.1},
        {"group_edges[1]: expected rising", offsetof(struct arrays, edge[1]),
         1.0},
        {"absorption[1][2][1] (", offsetof(struct arrays, absorption[16]),
         (double)NAN},
        {"expected a number from 0 to 1e+300, got -1",
         offsetof(struct arrays, scattering[3]), -1.0},
        {"energy[3][1] (", offsetof(struct arrays, energy[10]), (double)NAN},
        {"energy[3][1]: expected energies that rise with temperature, got 5 at",
         offsetof(struct arrays, energy[10]), 5.0},
        {"energy[0][0] (", offsetof(struct arrays, energy[0]), 0.0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct storm_table *table = NULL;
        fill(&a, 9, 3);
        memcpy((char *)&a + rows[i].offset, &rows[i].value, sizeof(double));
        logged[0] = '\0';
        CHECK(storm_table_create(context, &a.p, &table) == STORM_ERR_ARG);
        CHECK(table == NULL);
        if (strstr(logged, rows[i].message) == NULL)
            CHECK_TEXT(logged, rows[i].message);
    }
    struct storm_table *table = NULL;
    fill(&a, 9, 3);
    a.p.n_temperatures = 1;
    CHECK(storm_table_create(context, &a.p, &table) == STORM_ERR_ARG);
    fill(&a, 9, 3);
    a.p.size = 0;
    CHECK(storm_table_create(context, &a.p, &table) == STORM_ERR_ARG);
}

int main(int argc, char **argv)
{
    struct storm_context *context;
    struct storm_context_params quiet = STORM_CONTEXT_PARAMS_INIT;
    MPI_Init(&argc, &argv);
    quiet.log = keep;
    CHECK_OK(storm_context_create(MPI_COMM_SELF, &quiet, &context));
    check_orders(context);
    check_monotone(context);
    check_beyond(context);
    check_forms(context);
    check_faults(context);
    struct storm_memory_entry entry = STORM_MEMORY_ENTRY_INIT;
    CHECK_OK(storm_context_memory(context, 0, &entry));
    CHECK_EQ(entry.bytes, 0);
    storm_context_destroy(context);
    MPI_Finalize();
    return CHECK_PASS;
}
