/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * storm.hpp, on any number of ranks (cxx.sh): built with exceptions, and without
 * them. Errors, moves of the object, spans of arrays and containers, scattering
 * by a function, restarts, sums.
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
    const std::vector<std::uint64_t> tags{1, 2}, too_few{0, 0};
    h.give_cells(tags, std::vector<double>(6, 0.5), std::vector<double>{1, 1});
    expect(h, STORM_ERR_ARG, "lengths differ",
           [&] { return h.give_faces(too_few, {}, {}, {}, {}); });
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

/* Points that each rank has five of, whose state is taken up by the next rank;
 * photons are scattered by a function, which throws when it is told to. */
storm::host open_points(bool &is_bad, const std::vector<std::uint64_t> &tags)
{
    storm::host h(MPI_COMM_WORLD);
    std::vector<double> x;
    h.quiet(true);
    h.set("max_per_cell", 10);
    int gas = h.add_material("gas");
    h.set_law(gas, STORM_HOST_LAW_ABSORPTION, std::vector<double>{1.0});
    h.set_law(gas, STORM_HOST_LAW_SCATTERING, std::vector<double>{5.0});
    h.set_law(gas, STORM_HOST_LAW_HEAT, std::vector<double>{1e15});
    h.set_start(gas, 1.0, 0.3);
    h.set_scattering(gas, STORM_SCATTER_USER);
    h.set_electrons(gas, 1e24);
    h.set_scatter([&is_bad](int, std::uint64_t, const double *matter,
                            double *photon, void *draws) {
        CHECK(matter[0] > 0.0 && photon[3] > 0.0);
#if STORM_HPP_THROWS
        if (is_bad)
            throw std::domain_error("bad photon");
#else
        if (is_bad)
            return -1;
#endif
        photon[0] = -photon[0]; /* back, or to the side */
        return storm::host::random(draws)[0] < 0.5 ? 1 : 0;
    });
    for (int i = 0; i < 5; i++)
        for (double place :
             {0.1 + 0.2 * i, 0.1 + 0.02 * i + 0.2 * h.rank(), 0.5 + 0.03 * i})
            x.push_back(place);
    const double groups[] = {0.01, 1.0, 10.0};
    h.set_groups(groups);
    if (!tags.empty())
        h.set_tags(tags);
    h.mesh_points({0.0, 0.0, 0.0}, {1.0, 1.0, 1.0}, x);
    h.begin();
    return h;
}

void check_restart()
{
    bool is_bad = false;
    storm::host h = open_points(is_bad, {});
    h.step(0.0, 1e-11);
    CHECK(h.next_dt() > 0.0 && h.next_dt(0.2) >= h.next_dt(0.05));
    expect(h, STORM_ERR_STATE, "after storm_host_begin", [&] {
        return h.set_scatter([](auto...) { return -1; });
    }); /* the function before is still in use */
    const std::vector<std::uint64_t> tags = h.tags();
    std::vector<unsigned char> piece = h.save();
    CHECK(tags.size() == 5 && !piece.empty());
    h.step(1e-11, 1e-11);
    const int next = (h.rank() + 1) % h.size();
    const int before = (h.rank() + h.size() - 1) % h.size();
    std::vector<unsigned char> other(1 << 20);
    MPI_Status message;
    int n = 0;
    MPI_Sendrecv(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, next,
                 0, other.data(), 1 << 20, MPI_BYTE, before, 0, MPI_COMM_WORLD,
                 &message);
    MPI_Get_count(&message, MPI_BYTE, &n);
    other.resize(static_cast<std::size_t>(n));
    storm::host again = open_points(is_bad, tags);
    other[100] ^= 1;
    expect(again, STORM_ERR_IO, "as it was saved",
           [&] { return again.load(other); });
    other[100] ^= 1;
    again.load(other);
    again.step(1e-11, 1e-11);
    CHECK(again.hash() == h.hash());
    CHECK(again.energy() == h.energy());

    is_bad = true;
    storm::host moved = std::move(h); /* with its function */
#if STORM_HPP_THROWS
    bool caught = false;
    try {
        moved.step(2e-11, 1e-11);
    } catch (const std::domain_error &) {
        caught = true;
    } catch (const storm::error &problem) { /* no photon of this rank */
        caught = problem.status() == STORM_ERR_PEER;
    }
    CHECK(caught);
#else
    CHECK(moved.step(2e-11, 1e-11) < 0);
#endif
}

void check_handles(const storm::host &h)
{
    CHECK(h.context() != nullptr && h.mesh() != nullptr);
    CHECK(h.imc() != nullptr && h.engine() != nullptr);
    CHECK(std::strcmp(storm::host::field_name(STORM_HOST_PUSH), "push") == 0);
    CHECK(storm::host::field_name(15) == nullptr);
    const auto all = storm::host::parameters();
    CHECK(all.size() > 10 && std::strcmp(all[0].name, "seed") == 0);
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
        check_handles(other);
        check_sums(other);
        check_restart();
        h = std::move(other);
        CHECK(h.get() != nullptr && other.get() == nullptr);
    }
    MPI_Finalize();
    return 0;
}
