/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * storm.hpp, on any number of ranks (cxx.sh): built with exceptions, and without
 * them. Errors, moves of the object, spans of arrays and containers, sums.
 */
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include <storm.hpp>

namespace
{

void check(bool is_so, int line)
{
    if (is_so)
        return;
    std::fprintf(stderr, "cxx_host.cc:%d: failed\n", line);
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
}
#define CHECK(_x) check(_x, __LINE__)

/* A call must fail with this status and text, however that is reported. */
template <class F>
void expect(storm::host &h, storm_status status, const char *word, F call)
{
#if STORM_HPP_THROWS
    bool caught = false;
    try {
        call();
    } catch (const storm::error &problem) {
        caught = problem.status() == status &&
                 std::strstr(problem.what(), word) != nullptr;
    }
    CHECK(caught && h.status() == status);
#else
    (void)call();
    CHECK(h.status() == status);
    CHECK(std::strstr(h.problem(), word) != nullptr || h.problem()[0] == '\0');
#endif
}

storm::host open_host()
{
    storm::host h(MPI_COMM_WORLD, "transport.backend=p2p");
    const double edges[] = {0.0, 0.1, 0.2, 0.3};
    h.quiet(true);
    expect(h, STORM_ERR_ARG, "did you mean seed?",
           [&] { return h.set("sead", 1); });
    expect(h, STORM_ERR_STATE, "mesh", [&] { return h.step(0.0, 1.0); });
    h.set("seed", 2U);
    h.set("max_per_cell", 20.0);
    h.set("comb", true);
    int gas = h.add_material("gas");
    h.set_law(gas, STORM_HOST_LAW_ABSORPTION, std::vector<double>{1.0});
    h.set_by_cell(gas, STORM_HOST_LAW_HEAT, 1e15);
    h.set_start(gas, 1.0, 0.3);
    h.set_blackbody(0, 0.5, 50);
    h.set_blackbody(1, std::array<double, 2>{0.0, 1.0},
                    std::array<double, 2>{0.1, 0.2}, 50);
    expect(h, STORM_ERR_ARG, "as many", [&] {
        return h.set_blackbody(1, std::array<double, 2>{0.0, 1.0},
                               std::array<double, 1>{0.1}, 50);
    });
    h.set_edges(0, edges);
    int n = h.rank() == h.size() - 1 ? 3 : 0; /* the last rank has it all */
    h.mesh_cart({0, 0, 0}, {n, 1, 1});
    h.begin();
    return h;
}

void check_fields(storm::host &h)
{
    const std::vector<double> rho(h.n_cells(), 2.0);
    h.set(STORM_HOST_DENSITY, rho);
    std::vector<double> back(h.n_cells());
    h.get(STORM_HOST_DENSITY, back);
    CHECK(back == rho && h.get(STORM_HOST_DENSITY) == rho);
    CHECK(h.get(STORM_HOST_CENTRE).size() == 3 * h.n_cells());
    back.push_back(1.0);
    expect(h, STORM_ERR_ARG, "values",
           [&] { return h.set(STORM_HOST_DENSITY, back); });
    expect(h, STORM_ERR_ARG, "motion", [&] { return h.momentum()[0]; });
    h.step(0.0, 1e-11);
    h.add_heat(std::vector<double>(h.n_cells(), 1e9));
    h.repartition();
    auto e = h.energy();
    CHECK(e[STORM_HOST_E_ERROR] < 1e-13 && e[STORM_HOST_E_WALLS] > 0.0);
    CHECK(std::fabs(e[STORM_HOST_E_DECLARED] - 3e9) < 1.0);
    CHECK(h.hash() != 0 && h.status() == STORM_OK);
}

void check_sums(const storm::host &h)
{
    storm::sum sum(1.0);
    CHECK(sum.add(0.1) && sum.add(1e-17) && sum.add(-0.1));
    CHECK(!sum.add(2.0) && !sum.add(std::nan("")));
    CHECK(std::fabs(sum.value() - 1e-17) < 1e-24);
    CHECK(sum.reduce(h) == STORM_OK);
    CHECK(std::fabs(sum.value() - 1e-17 * h.size()) < 1e-23);
    CHECK(storm::sum(-1.0).status() == STORM_ERR_ARG);
}

} // namespace

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    {
        storm::host h = open_host();
        storm::host other(std::move(h));
        CHECK(h.get() == nullptr && h.rank() == -1);
        check_fields(other);
        check_sums(other);
        h = std::move(other);
        CHECK(h.get() != nullptr && other.get() == nullptr);
    }
    MPI_Finalize();
    return 0;
}
