/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; backend: shm; timeout: 60 */
/* TEST ranks: 3; backend: p2p; timeout: 60; label: slow-asan */
/* TEST ranks: 3; backend: ofi-tcp; timeout: 60; label: long */
/* TEST ranks: 5 8; timeout: 60; label: long */
/*
 * DDMC-1, DDMC-4, DDMC-5 and KERNEL-1: cells in which packets diffuse beside
 * such where they fly, grey and with groups, on all kinds of meshes, periodic
 * ones of one, two and three cells too, with walls of all kinds, a plane,
 * regions outside, meshes that move and change their partition. The state and
 * the moments have the same bits on one rank, on these, and on these with one
 * event in a call; energy balances in every step; both methods are used.
 */
#include "ddmc_case.h"

enum { STEPS = 3 };

/* ---- one event in a call ------------------------------------------------ */

static imc_advance_fn *whole[3];

static void one_by_one(imc_advance_fn *advance, const struct imc_track *track,
                       void *const *packets, size_t n,
                       struct storm_outcome *outcomes_out)
{
    struct imc_track one = *track;
    one.max_events = 1;
    for (size_t i = 0; i < n; i++) {
        uint64_t events = 0;
        do {
            advance(&one, &packets[i], 1, &outcomes_out[i]);
            events += outcomes_out[i].events;
        } while (outcomes_out[i].fate == STORM_FATE_CONTINUE);
        outcomes_out[i].events = events;
    }
}

static void split_plain(const struct imc_track *track, void *const *packets,
                        size_t n, struct storm_outcome *outcomes_out)
{
    one_by_one(whole[0], track, packets, n, outcomes_out);
}

static void split_counted(const struct imc_track *track, void *const *packets,
                          size_t n, struct storm_outcome *outcomes_out)
{
    one_by_one(whole[1], track, packets, n, outcomes_out);
}

static void split_moving(const struct imc_track *track, void *const *packets,
                         size_t n, struct storm_outcome *outcomes_out)
{
    one_by_one(whole[2], track, packets, n, outcomes_out);
}

/* ---- runs --------------------------------------------------------------- */

/* Hashes of all steps. */
static void run_case(const struct ddmc_case *c, MPI_Comm comm, bool splits,
                     uint64_t hash_out[STEPS])
{
    const struct storm_wall boundaries[2] = {{&parts[1], 1}, {&mirror, 1}};
    struct storm_material materials[3];
    struct imc_box box = {.step = 0};
    CHECK_OK(storm_context_create(comm, NULL, &box.context));
    open_case(&box, c, materials, boundaries);
    whole[0] = box.imc->advance;
    whole[1] = box.imc->advance_counted;
    whole[2] = box.imc->advance_moving;
    if (splits) {
        box.imc->advance = split_plain;
        box.imc->advance_counted = split_counted;
        box.imc->advance_moving = split_moving;
    }
    for (int i = 0; i < STEPS; i++) {
        check_where("%s, %d ranks, %d, step %d", c->name,
                    storm_context_size(box.context), splits, i);
        hash_out[i] = step_case(&box, c, i);
    }
    check_shares(&box, c, !splits);
    imc_box_close(&box);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int k = 0; k < DDMC_CASES; k++) {
        uint64_t alone[STEPS], all[STEPS], split[STEPS];
        run_case(&ddmc_cases[k], MPI_COMM_SELF, false, alone);
        run_case(&ddmc_cases[k], MPI_COMM_WORLD, false, all);
        run_case(&ddmc_cases[k], MPI_COMM_WORLD, true, split);
        for (int i = 0; i < STEPS; i++) {
            check_where("%s, step %d", ddmc_cases[k].name, i);
            CHECK_EQ(all[i], alone[i]);
            CHECK_EQ(split[i], alone[i]);
        }
    }
    MPI_Finalize();
    return CHECK_PASS;
}
