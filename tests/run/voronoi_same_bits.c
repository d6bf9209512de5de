/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2 5 8; timeout: 60; label: long */
/* TEST ranks: 3; backend: p2p; timeout: 60; label: slow-asan */
/* TEST ranks: 3; backend: ofi-tcp; timeout: 60; label: long */
/*
 * Small forms of two decks on Voronoi meshes and an octree, with random walk
 * and without: the state is the same, bit for bit, on one rank and on several
 * that cut the mesh anew every second step, whatever the backend; and energy
 * balances.
 */
#include "case.h"

struct small {
    const char *deck;
    const char *sets[10];
};

static const struct small smalls[] = {
    {"marshak-voronoi",
     {"mesh.points=150", "time.steps=8", "time.dt=2e-11", "output.times=[]",
      "balance.every=2", "boundaries.x_lo.packets=200",
      "acceleration.random_walk=true"}},
    {"marshak-voronoi",
     {"mesh.points=150", "time.steps=8", "time.dt=1e-11", "output.times=[]",
      "balance.every=2", "boundaries.x_lo.packets=200",
      "acceleration.random_walk=false"}},
    {"hohlraum",
     {"mesh.points=700", "time.steps=6", "time.dt=5e-12", "balance.every=2",
      "boundaries.x_lo.1.packets=300", "acceleration.random_walk=true",
      "output.profile.bins=0"}},
    {"hohlraum",
     {"mesh.points=700", "time.steps=6", "time.dt=5e-12", "balance.every=2",
      "boundaries.x_lo.1.packets=300", "acceleration.random_walk=false",
      "balance.weight=cells", "output.profile.bins=0"}},
    {"hohlraum",
     {"mesh.kind=octree", "mesh.level=2", "mesh.refine_levels=2",
      "time.steps=4", "time.dt=5e-12", "balance.every=2",
      "boundaries.x_lo.1.packets=300", "acceleration.random_walk=true",
      "output.profile.bins=0"}},
};

/* The hash of the state, as in the summary. */
static uint64_t hash_of(const struct small *small, MPI_Comm comm)
{
    struct case_run run = case_open_on(comm, small->deck, 1, small->sets);
    uint64_t hash = case_hash(&run);
    CHECK(case_json(&run, "energy_balance") <= 1e-13);
    CHECK(case_json(&run, "packets_census") > 20);
    case_close_on(comm, &run);
    return hash;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (size_t i = 0; i < sizeof smalls / sizeof smalls[0]; i++) {
        check_where("%s, case %d", smalls[i].deck, (int)i);
        uint64_t all = hash_of(&smalls[i], MPI_COMM_WORLD);
        if (rank == 0) {
            uint64_t alone = hash_of(&smalls[i], MPI_COMM_SELF);
            printf("%s: %016llx, alone %016llx\n", smalls[i].deck,
                   (unsigned long long)all, (unsigned long long)alone);
            CHECK_EQ(all, alone);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return CHECK_PASS;
}
