/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 2 3; timeout: 60 */
/*
 * storm/host.h: laws of scattering. In a box of mirrors without absorption
 * isotropic and Thomson scattering keep the energy of the radiation, each with
 * bits of its own; Compton scattering gives some to matter, and free electrons
 * scatter as the coefficient that they stand for. A function of the host is
 * called with cell and matter; one that loses half of the energy in each
 * collision heats matter, and the balance closes; on this rank alone there are
 * the same bits. A function that fails ends the step on all ranks.
 */
#include <math.h>
#include <string.h>

#include <storm/host.h>

#include "support/check.h"

enum { N = 6 };
static const double dt_s = 1e-11;

/* A function of the host, and what it has seen. */
struct user {
    int answer;   /* 0: none is a collision */
    double share; /* of the energy that is left */
    uint64_t calls;
};

static int scatter(void *self, int material, uint64_t tag,
                   const double matter[2], double photon[5], void *draws)
{
    struct user *user = self;
    double u[4];
    user->calls++;
    CHECK(material == 0 && tag < N && matter[0] > 0.0 && matter[1] == 2.0);
    CHECK(photon[3] > 0.0 && photon[4] == 1.0);
    CHECK(fabs(photon[0] * photon[0] + photon[1] * photon[1] +
               photon[2] * photon[2] - 1.0) < 1e-9);
    if (user->answer <= 0)
        return user->answer;
    storm_host_random(draws, u);
    double z = 2.0 * u[0] - 1.0, r = sqrt(fmax(0.0, 1.0 - z * z));
    photon[0] = r * cos(6.283185307179586 * u[1]);
    photon[1] = r * sin(6.283185307179586 * u[1]);
    photon[2] = z;
    photon[3] *= user->share;
    photon[4] = user->share;
    return 1;
}

struct result {
    storm_status status;
    uint64_t hash;
    double e[STORM_HOST_N_ENERGIES];
};

/* One step of radiation that is hotter than its matter. */
static struct result run(MPI_Comm comm, storm_scattering_law law,
                         double coefficient, double electrons,
                         struct user *user)
{
    struct result out = {.hash = 0};
    struct storm_host *h;
    const double heat[] = {1e13}, edges[] = {0.1, 1.0, 10.0};
    double x[N + 1], kev[N];
    CHECK_OK(storm_host_create(comm, NULL, &h));
    CHECK_OK(storm_host_set_groups(h, edges, 3));
    CHECK_OK(storm_host_add_material(h, "gas", NULL));
    CHECK_OK(storm_host_set_law(h, 0, STORM_HOST_LAW_HEAT, heat, 1));
    CHECK_OK(storm_host_set_law(h, 0, STORM_HOST_LAW_SCATTERING, &coefficient,
                                1));
    CHECK_OK(storm_host_set_scattering(h, 0, law));
    CHECK_OK(storm_host_set_electrons(h, 0, electrons));
    CHECK_OK(storm_host_set_start(h, 0, 2.0, 0.01));
    if (user != NULL)
        CHECK_OK(storm_host_set_scatter(h, scatter, user));
    for (int i = 0; i <= N; i++)
        x[i] = 0.5 * i;
    CHECK_OK(storm_host_set_edges(h, 0, x, N + 1));
    for (int wall = 0; wall < 6; wall++)
        CHECK_OK(storm_host_set_wall(h, wall, STORM_WALL_REFLECT));
    int rank = storm_host_rank(h), size = storm_host_size(h);
    const int64_t first[3] = {N * rank / size, 0, 0};
    const int64_t n[3] = {N * (rank + 1) / size - first[0], 1, 1};
    CHECK_OK(storm_host_mesh_cart(h, first, n));
    CHECK_OK(storm_host_begin(h));
    for (int64_t i = 0; i < n[0]; i++)
        kev[i] = 1.0;
    CHECK_OK(storm_host_set(h, STORM_HOST_RADIATION_START, kev, (size_t)n[0]));
    storm_host_set_quiet(h, 1);
    out.status = storm_host_step(h, 0.0, dt_s);
    if (out.status == STORM_OK) {
        CHECK_OK(storm_host_hash(h, &out.hash));
        CHECK_OK(storm_host_energy(h, out.e, STORM_HOST_N_ENERGIES));
        CHECK(out.e[STORM_HOST_E_ERROR] < 1e-13);
    }
    storm_host_destroy(h);
    return out;
}

/* Energy that radiation has lost, by that of the start. */
static double lost(const struct result *r)
{
    return 1.0 - r->e[STORM_HOST_E_RADIATION] / r->e[STORM_HOST_E_START];
}

static struct result both(storm_scattering_law law, double coefficient,
                          double electrons, struct user *user)
{
    struct result r = run(MPI_COMM_WORLD, law, coefficient, electrons, user);
    struct result alone = run(MPI_COMM_SELF, law, coefficient, electrons, user);
    CHECK_EQ(r.status, STORM_OK);
    CHECK_EQ(r.hash, alone.hash);
    return r;
}

static void check_laws(void)
{
    struct result isotropic = both(STORM_SCATTER_ISOTROPIC, 20.0, 0.0, NULL);
    struct result thomson = both(STORM_SCATTER_THOMSON, 20.0, 0.0, NULL);
    struct result compton = both(STORM_SCATTER_COMPTON, 20.0, 0.0, NULL);
    struct result free_ones =
        both(STORM_SCATTER_COMPTON, 0.0, 10.0 / 6.6524587321e-25, NULL);
    CHECK(isotropic.hash != thomson.hash && thomson.hash != compton.hash);
    /* Matter begins with 2e-3 of all energy, and does not absorb. */
    CHECK(fabs(lost(&isotropic) - lost(&thomson)) < 1e-12);
    CHECK(lost(&compton) > lost(&thomson) + 1e-3);
    /* 10 of them per cm3 times the cross section, and a density of 2. */
    CHECK(fabs(lost(&free_ones) - lost(&compton)) <
          0.1 * (lost(&compton) - lost(&thomson)));
}

static void check_function(void)
{
    struct user none = {.answer = 0}, half = {.answer = 1, .share = 0.5};
    struct user elastic = {.answer = 1, .share = 1.0}, bad = {.answer = -1};
    struct result a = both(STORM_SCATTER_USER, 20.0, 0.0, &none);
    struct result b = both(STORM_SCATTER_USER, 20.0, 0.0, &half);
    struct result c = both(STORM_SCATTER_USER, 20.0, 0.0, &elastic);
    CHECK(none.calls > 0 && half.calls > 0 && elastic.calls > 0);
    CHECK(a.hash != c.hash && fabs(lost(&a) - lost(&c)) < 1e-12);
    CHECK(lost(&b) > lost(&c) + 0.5);
    struct result d = run(MPI_COMM_WORLD, STORM_SCATTER_USER, 20.0, 0.0, &bad);
    CHECK(d.status < 0);
}

/* Errors of arguments, and a law without its function. */
static void check_refused(void)
{
    struct storm_host *h;
    const int64_t first[3] = {0, 0, 0};
    CHECK_OK(storm_host_create(MPI_COMM_SELF, NULL, &h));
    storm_host_set_quiet(h, 1);
    CHECK_EQ(storm_host_set_scattering(h, 0, STORM_SCATTER_THOMSON),
             STORM_ERR_ARG);
    CHECK_OK(storm_host_add_material(h, "gas", NULL));
    CHECK_EQ(storm_host_set_scattering(h, 0, (storm_scattering_law)4),
             STORM_ERR_ARG);
    CHECK_EQ(storm_host_set_electrons(h, 0, -1.0), STORM_ERR_ARG);
    CHECK_EQ(storm_host_set_electrons(h, 0, NAN), STORM_ERR_ARG);
    CHECK_EQ(storm_host_set_scatter(h, NULL, NULL), STORM_ERR_ARG);
    CHECK_OK(storm_host_set_scattering(h, 0, STORM_SCATTER_USER));
    CHECK_OK(storm_host_mesh_cart(h, first, (const int64_t[3]){1, 1, 1}));
    CHECK_EQ(storm_host_begin(h), STORM_ERR_STATE);
    CHECK(strstr(storm_host_problem(h), "storm_host_set_scatter") != NULL);
    storm_host_random(NULL, NULL);
    storm_host_destroy(h);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_laws();
    check_function();
    check_refused();
    MPI_Finalize();
    return CHECK_PASS;
}
