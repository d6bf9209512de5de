/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 2 3; timeout: 60 */
/*
 * A hydrodynamics code with matter of its own, coupled to the bundled physics
 * by storm/host.h. host.cc, host.f90 and host.py are the same program.
 *
 *   cc host.c $(pkg-config --cflags --libs storm) -lm
 *   mpiexec -n 3 ./a.out
 *
 * Two halves of a gas run into each other between mirrors. The host has some
 * rows of a grid on each rank, moves density, momentum and energy along x by
 * finite volumes, and has an opacity of its own. In each step it gives density,
 * heat and opacity, radiation is transported, and it takes back the heat and
 * the momentum that radiation has given to the gas. The total energy of heat,
 * motion and radiation stays that of the start, and what the host has turned
 * from motion into heat is in the balance as its declared work.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include <storm/host.h>

enum { N_X = 16, N_Y = 4, N_STEPS = 20, N_MAX = N_X * N_Y };
static const double dx = 0.05, dt = 1e-10;    /* cm, s */
static const double heat = 1e15, speed = 5e7; /* erg/g/keV, cm/s */
static const double volume = 0.05 * 0.05 * 0.05;
static const double gamma_1 = 2.0 / 3.0; /* of the gas, less 1 */

/* Rows of the grid that this rank has, x fastest; per cm3. */
static int first_row, n_rows, n_cells;
static double rho[N_MAX], mom[N_MAX], ene[N_MAX];

static double motion(int i)
{
    return 0.5 * (mom[i] * mom[i] / rho[i]);
}

static void begin(void)
{
    for (int i = 0; i < n_cells; i++) {
        rho[i] = first_row + i / N_X < N_Y / 2 ? 10.0 : 13.0;
        mom[i] = i % N_X < N_X / 2 ? rho[i] * speed : -(rho[i] * speed);
        ene[i] = heat * rho[i] * 0.3 + motion(i);
    }
}

/* A state beside a face, what it carries towards +x, and the speed of its
 * waves. */
struct side {
    double u[3], flow[3], wave;
};

/* Cell k of a row; beyond the ends there is a mirror. */
static struct side side_of(int row, int k)
{
    int i = row * N_X + (k < 0 ? 0 : k == N_X ? N_X - 1 : k);
    double m = k < 0 || k == N_X ? -mom[i] : mom[i];
    double v = m / rho[i], p = gamma_1 * (ene[i] - motion(i));
    return (struct side){.u = {rho[i], m, ene[i]},
                         .flow = {m, m * v + p, (ene[i] + p) * v},
                         .wave = fabs(v) + sqrt((gamma_1 + 1.0) * p / rho[i])};
}

/* Rusanov's flux through the N_X + 1 faces of each row. */
static void move(void)
{
    for (int row = 0; row < n_rows; row++) {
        double flux[N_X + 1][3];
        for (int k = 0; k <= N_X; k++) {
            struct side a = side_of(row, k - 1), b = side_of(row, k);
            double wave = fmax(a.wave, b.wave);
            for (int q = 0; q < 3; q++)
                flux[k][q] =
                    0.5 * ((a.flow[q] + b.flow[q]) - wave * (b.u[q] - a.u[q]));
        }
        for (int k = 0; k < N_X; k++) {
            int i = row * N_X + k;
            rho[i] -= dt / dx * (flux[k + 1][0] - flux[k][0]);
            mom[i] -= dt / dx * (flux[k + 1][1] - flux[k][1]);
            ene[i] -= dt / dx * (flux[k + 1][2] - flux[k][2]);
        }
    }
}

/* Density, heat and opacity to the library. */
static storm_status give(struct storm_host *h)
{
    double kappa[N_MAX], q[N_MAX];
    size_t n = (size_t)n_cells;
    for (int i = 0; i < n_cells; i++) {
        q[i] = ene[i] - motion(i);
        double t = q[i] / (heat * rho[i]);
        kappa[i] = 0.2 * rho[i] * rho[i] / (0.2 + t * sqrt(t));
    }
    storm_status status = storm_host_set(h, STORM_HOST_DENSITY, rho, n);
    if (status == STORM_OK)
        status = storm_host_set(h, STORM_HOST_HEAT, q, n);
    return status < 0 ? status
                      : storm_host_set(h, STORM_HOST_ABSORPTION, kappa, n);
}

/* A step of radiation, and then one of the gas with the heat that is left and
 * the push. What becomes of the heat then is the host's own work. */
static storm_status step(struct storm_host *h, int number)
{
    double q[N_MAX], push[3 * N_MAX], work[N_MAX];
    size_t n = (size_t)n_cells;
    storm_status status = storm_host_step(h, number * dt, dt);
    if (status == STORM_OK)
        status = storm_host_get(h, STORM_HOST_HEAT, q, n);
    if (status == STORM_OK)
        status = storm_host_get(h, STORM_HOST_PUSH, push, 3 * n);
    if (status < 0)
        return status;
    for (int i = 0; i < n_cells; i++) {
        ene[i] = q[i] + motion(i);
        mom[i] += push[3 * i] / volume;
    }
    move();
    for (int i = 0; i < n_cells; i++)
        work[i] = ((ene[i] - motion(i)) - q[i]) * volume;
    status = storm_host_declare_work(h, work, n);
    return status < 0 ? status : give(h);
}

/* The largest relative change of the total energy, and of the work that is in
 * the library's account and not declared. */
static storm_status report(struct storm_host *h, int number, double error[2])
{
    static double start;
    double e[STORM_HOST_N_ENERGIES], sum = 0.0;
    for (int i = 0; i < n_cells; i++)
        sum += motion(i) * volume;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    storm_status status = storm_host_energy(h, e, STORM_HOST_N_ENERGIES);
    if (status < 0)
        return status;
    double total = e[STORM_HOST_E_MATTER] + e[STORM_HOST_E_RADIATION] + sum;
    if (number == 1)
        start = total;
    error[0] = fmax(error[0], fabs(total - start) / start);
    error[0] = fmax(error[0], e[STORM_HOST_E_ERROR]);
    error[1] =
        fmax(error[1],
             fabs(e[STORM_HOST_E_HOST] - e[STORM_HOST_E_DECLARED]) / start);
    if (storm_host_rank(h) == 0)
        printf("%3d  heat %.6e  motion %.6e  radiation %.6e  total %.9e erg\n",
               number, e[STORM_HOST_E_MATTER], sum, e[STORM_HOST_E_RADIATION],
               total);
    return STORM_OK;
}

/* What there is: a grid of which each rank gives its rows, a gas, mirrors. */
static storm_status describe(struct storm_host *h)
{
    const double capacity[] = {heat, 0.0, 1.0}, scattering[] = {0.1, 0.0, 1.0};
    double x[N_X + 1], y[N_Y + 1], z[2] = {0.0, 0.05};
    int size = storm_host_size(h), rank = storm_host_rank(h), gas;
    for (int i = 0; i <= N_X; i++)
        x[i] = dx * i;
    for (int j = 0; j <= N_Y; j++)
        y[j] = dx * j;
    first_row = N_Y * rank / size;
    n_rows = N_Y * (rank + 1) / size - first_row;
    n_cells = N_X * n_rows;
    const int64_t first[3] = {0, first_row, 0}, n[3] = {N_X, n_rows, 1};
    storm_status status = storm_host_set_int(h, "emit_per_cell", 50);
    if (status == STORM_OK)
        status = storm_host_set_int(h, "max_per_cell", 200);
    if (status == STORM_OK)
        status = storm_host_add_material(h, "gas", &gas);
    if (status == STORM_OK)
        status = storm_host_set_law(h, gas, STORM_HOST_LAW_HEAT, capacity, 3);
    if (status == STORM_OK)
        status = storm_host_set_law(h, gas, STORM_HOST_LAW_SCATTERING,
                                    scattering, 3);
    if (status == STORM_OK)
        status = storm_host_set_by_cell(h, gas, STORM_HOST_LAW_ABSORPTION, 0.0);
    for (int wall = 0; wall < 6 && status == STORM_OK; wall++)
        status = storm_host_set_wall(h, wall, STORM_WALL_REFLECT);
    if (status == STORM_OK)
        status = storm_host_set_edges(h, 0, x, N_X + 1);
    if (status == STORM_OK)
        status = storm_host_set_edges(h, 1, y, N_Y + 1);
    if (status == STORM_OK)
        status = storm_host_set_edges(h, 2, z, 2);
    if (status == STORM_OK)
        status = storm_host_mesh_cart(h, first, n);
    if (status == STORM_OK)
        status = storm_host_begin(h);
    return status < 0 ? status : storm_host_request(h, STORM_HOST_PUSH);
}

int main(int argc, char **argv)
{
    struct storm_host *h = NULL;
    double error[2] = {0.0, 0.0};
    uint64_t hash = 0;
    MPI_Init(&argc, &argv);
    storm_status status = storm_host_create(MPI_COMM_WORLD, NULL, &h);
    if (status == STORM_OK)
        status = describe(h);
    if (status == STORM_OK) {
        begin();
        status = give(h);
    }
    for (int i = 0; i < N_STEPS && status == STORM_OK; i++) {
        status = step(h, i);
        if (status == STORM_OK)
            status = report(h, i + 1, error);
    }
    if (status == STORM_OK)
        status = storm_host_hash(h, &hash);
    if (status == STORM_OK && storm_host_rank(h) == 0)
        printf("energy closes to %.1e, the host's work to %.1e\n"
               "hash %016" PRIx64 "\n",
               error[0], error[1], hash);
    storm_host_destroy(h);
    MPI_Finalize();
    return status < 0 || error[0] > 1e-13 || error[1] > 1e-13;
}
