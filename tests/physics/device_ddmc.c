/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; backend: shm; timeout: 60; args: short */
/* TEST ranks: 1 3; timeout: 120; label: long */
/* TEST ranks: 3; backend: p2p ofi-tcp; timeout: 120; label: long */
/*
 * RUN-2 to RUN-6: where packets diffuse, at blackbody planes, walls of the host
 * and walls that reflect in parts, the emulated device has the state and the
 * moments of a run on processors, step by step; with every rank on a device, or
 * the odd ones alone, for kernels that end after few events, and on meshes that
 * move. Short: one case of each kind of mesh.
 */
#include "ddmc_case.h"
#include "physics/device_imc.h"
#include "support/device.h"

enum { STEPS = 3 };

struct how {
    bool emulated;
    uint64_t events; /* of a packet in a launch; 0: as many as usual */
};

static void run_case(const struct ddmc_case *c, struct how how,
                     uint64_t hash_out[STEPS])
{
    const struct storm_wall boundaries[2] = {{&parts[1], 1}, {&mirror, 1}};
    struct storm_material materials[3];
    struct imc_box box = {.step = 0};
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &box.context));
    device_lend(box.context, how.emulated);
    open_case(&box, c, materials, boundaries);
    if (how.emulated && how.events > 0)
        box.imc->there->run.events = how.events;
    for (int i = 0; i < STEPS; i++)
        hash_out[i] = step_case(&box, c, i);
    if (how.emulated)
        CHECK(device_launches(box.context) >= STEPS);
    check_shares(&box, c, false);
    storm_engine_destroy(box.engine);
    storm_comb_destroy(box.comb);
    storm_imc_destroy(box.imc);
    storm_mesh_destroy(box.mesh);
    device_return(box.context);
    storm_context_destroy(box.context);
}

static bool is_short(const char *name)
{
    static const char *const names[] = {"boxes of groups", "voronoi of groups",
                                        "periodic octree", "given boxes"};
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        found = found || strcmp(name, names[i]) == 0;
    return found;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const bool all = argc < 2;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = 0; k < DDMC_CASES; k++) {
        const struct ddmc_case *c = &ddmc_cases[k];
        uint64_t here[STEPS], there[STEPS];
        if (is_in_motion(c) || !(all || is_short(c->name)))
            continue;
        for (int i = 0; i < 2; i++) {
            const struct how how = {i == 0 || rank % 2 != 0, i == 0 ? 0 : 3};
            run_case(c, (struct how){false, 0}, here);
            run_case(c, how, there);
            for (int step = 0; step < STEPS; step++) {
                check_where("%s, %d, step %d", c->name, i, step);
                CHECK_EQ(there[step], here[step]);
            }
        }
    }
    MPI_Finalize();
    return CHECK_PASS;
}
