/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host.c in C++: a hydrodynamics code with matter of its own.
 *
 *   c++ -std=c++17 host.cc $(pkg-config --cflags --libs storm)
 *   mpiexec -n 3 ./a.out
 *
 * The same numbers are added and multiplied in the same order, so the hash is
 * that of host.c, host.f90 and host.py (with -ffp-contract=off where the
 * processor has a fused multiply-add).
 */
#include <algorithm>
#include <array>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <vector>

#include <storm.hpp>

namespace
{

constexpr int n_x = 16, n_y = 4, n_steps = 20;
constexpr double dx = 0.05, dt = 1e-10;    /* cm, s */
constexpr double heat = 1e15, speed = 5e7; /* erg/g/keV, cm/s */
constexpr double volume = 0.05 * 0.05 * 0.05;
constexpr double gamma_1 = 2.0 / 3.0; /* of the gas, less 1 */

/* A state beside a face, what it carries towards +x, and the speed of its
 * waves. */
struct side {
    std::array<double, 3> u, flow;
    double wave;
};

/* Rows of the grid that this rank has, x fastest; per cm3. */
class gas
{
  public:
    gas(int first_row, int rows)
        : rho(size_of(rows)), mom(size_of(rows)), ene(size_of(rows))
    {
        for (std::size_t i = 0; i < rho.size(); i++) {
            bool low = first_row + static_cast<int>(i) / n_x < n_y / 2;
            bool left = i % n_x < n_x / 2;
            rho[i] = low ? 10.0 : 13.0;
            mom[i] = left ? rho[i] * speed : -(rho[i] * speed);
            ene[i] = heat * rho[i] * 0.3 + motion(i);
        }
    }
    double motion(std::size_t i) const
    {
        return 0.5 * (mom[i] * mom[i] / rho[i]);
    }
    void move()
    {
        for (std::size_t row = 0; row < rho.size(); row += n_x)
            move_row(row);
    }

    std::vector<double> rho, mom, ene;

  private:
    static std::size_t size_of(int rows)
    {
        return static_cast<std::size_t>(rows) * n_x;
    }
    /* Cell k of a row; beyond the ends there is a mirror. */
    side side_of(std::size_t row, int k) const
    {
        std::size_t i =
            row + static_cast<std::size_t>(std::clamp(k, 0, n_x - 1));
        double m = k < 0 || k == n_x ? -mom[i] : mom[i];
        double v = m / rho[i], p = gamma_1 * (ene[i] - motion(i));
        return {{rho[i], m, ene[i]},
                {m, m * v + p, (ene[i] + p) * v},
                std::fabs(v) + std::sqrt((gamma_1 + 1.0) * p / rho[i])};
    }
    /* Rusanov's flux through the faces of a row. */
    void move_row(std::size_t row)
    {
        std::array<std::array<double, 3>, n_x + 1> flux;
        for (int k = 0; k <= n_x; k++) {
            side a = side_of(row, k - 1), b = side_of(row, k);
            double wave = std::max(a.wave, b.wave);
            for (std::size_t q = 0; q < 3; q++)
                flux[static_cast<std::size_t>(k)][q] =
                    0.5 * ((a.flow[q] + b.flow[q]) - wave * (b.u[q] - a.u[q]));
        }
        for (std::size_t k = 0; k < n_x; k++) {
            rho[row + k] -= dt / dx * (flux[k + 1][0] - flux[k][0]);
            mom[row + k] -= dt / dx * (flux[k + 1][1] - flux[k][1]);
            ene[row + k] -= dt / dx * (flux[k + 1][2] - flux[k][2]);
        }
    }
};

std::vector<double> edges(int n)
{
    std::vector<double> x;
    for (int i = 0; i <= n; i++)
        x.push_back(dx * i);
    return x;
}

/* What there is: a grid of which each rank gives its rows, a gas, mirrors. */
gas describe(storm::host &host)
{
    const double capacity[] = {heat, 0.0, 1.0}, scattering[] = {0.1, 0.0, 1.0};
    host.set("emit_per_cell", 50);
    host.set("max_per_cell", 200);
    int number = host.add_material("gas");
    host.set_law(number, STORM_HOST_LAW_HEAT, capacity);
    host.set_law(number, STORM_HOST_LAW_SCATTERING, scattering);
    host.set_by_cell(number, STORM_HOST_LAW_ABSORPTION, 0.0);
    for (int wall = 0; wall < STORM_N_WALLS; wall++)
        host.set_wall(wall, STORM_WALL_REFLECT);
    host.set_edges(0, edges(n_x));
    host.set_edges(1, edges(n_y));
    host.set_edges(2, edges(1));
    int first = n_y * host.rank() / host.size();
    int n = n_y * (host.rank() + 1) / host.size() - first;
    host.mesh_cart({0, first, 0}, {n_x, n, 1});
    host.begin();
    host.request(STORM_HOST_PUSH);
    return gas(first, n);
}

/* Density, heat and opacity to the library. */
void give(storm::host &host, const gas &g)
{
    std::vector<double> kappa(g.rho.size()), q(g.rho.size());
    for (std::size_t i = 0; i < q.size(); i++) {
        q[i] = g.ene[i] - g.motion(i);
        double t = q[i] / (heat * g.rho[i]);
        kappa[i] = 0.2 * g.rho[i] * g.rho[i] / (0.2 + t * std::sqrt(t));
    }
    host.set(STORM_HOST_DENSITY, g.rho);
    host.set(STORM_HOST_HEAT, q);
    host.set(STORM_HOST_ABSORPTION, kappa);
}

/* A step of radiation, and then one of the gas with the heat that is left and
 * the push. What becomes of the heat then is the host's own work. */
void step(storm::host &host, gas &g, int number)
{
    host.step(number * dt, dt);
    std::vector<double> q = host.get(STORM_HOST_HEAT), work(q.size());
    std::vector<double> push = host.get(STORM_HOST_PUSH);
    for (std::size_t i = 0; i < q.size(); i++) {
        g.ene[i] = q[i] + g.motion(i);
        g.mom[i] += push[3 * i] / volume;
    }
    g.move();
    for (std::size_t i = 0; i < q.size(); i++)
        work[i] = ((g.ene[i] - g.motion(i)) - q[i]) * volume;
    host.declare_work(work);
    give(host, g);
}

double run()
{
    storm::host host(MPI_COMM_WORLD);
    double start = 0.0, error[2] = {0.0, 0.0};
    gas g = describe(host);
    give(host, g);
    for (int i = 0; i < n_steps; i++) {
        double motion = 0.0;
        step(host, g, i);
        for (std::size_t c = 0; c < g.rho.size(); c++)
            motion += g.motion(c) * volume;
        MPI_Allreduce(MPI_IN_PLACE, &motion, 1, MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
        auto e = host.energy();
        double total =
            e[STORM_HOST_E_MATTER] + e[STORM_HOST_E_RADIATION] + motion;
        start = i == 0 ? total : start;
        error[0] = std::max({error[0], std::fabs(total - start) / start,
                             e[STORM_HOST_E_ERROR]});
        error[1] = std::max(error[1], std::fabs(e[STORM_HOST_E_HOST] -
                                                e[STORM_HOST_E_DECLARED]) /
                                          start);
        if (host.rank() == 0)
            std::printf("%3d  heat %.6e  motion %.6e  radiation %.6e  total "
                        "%.9e erg\n",
                        i + 1, e[STORM_HOST_E_MATTER], motion,
                        e[STORM_HOST_E_RADIATION], total);
    }
    std::uint64_t hash = host.hash();
    if (host.rank() == 0)
        std::printf("energy closes to %.1e, the host's work to %.1e\n"
                    "hash %016" PRIx64 "\n",
                    error[0], error[1], hash);
    return std::max(error[0], error[1]);
}

} // namespace

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    double error = 1.0;
    try {
        error = run();
    } catch (const storm::error &problem) {
        std::fprintf(stderr, "host: %s\n", problem.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return error > 1e-13;
}
