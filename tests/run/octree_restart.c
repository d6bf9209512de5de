/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 3; timeout: 60 */
/*
 * CHECKPOINT-6 on an octree: a run whose mesh is refined and coarsened after
 * its steps, stopped half-way and restarted from a checkpoint on 1 and 2 ranks,
 * ends with the bits of one on 3 ranks that was never stopped.
 *
 * Decks cannot ask for that yet: the mesh changes in a call of the time loop
 * that is wrapped here.
 */
#include "case.h"

#include <storm/change.h>
#include <storm/octree.h>

#include "run/run.h"
#include "support/dice.h"

enum { MAX_CELLS = 4000, MIDDLE = 3, STEPS = 6 };

/* ---- changes ------------------------------------------------------------- */

static storm_cell_id parts_tag; /* tags of the last refinement, from here on */
static uint64_t n_first, n_cells; /* before the first change, and now */

/* After steps 1, 2 and 4 some cells are cut, after step 5 the parts of those of
 * step 4 are joined: functions of the tags and of the step. */
static void list_cells(const struct storm_mesh *mesh, uint64_t step,
                       struct storm_adapt_params *params)
{
    static storm_cell_idx list[MAX_CELLS];
    size_t n = 0;
    CHECK(storm_mesh_n_cells(mesh) <= MAX_CELLS);
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++) {
        storm_cell_id tag = storm_mesh_cell_id(mesh, i);
        if (step == 5 ? tag >= parts_tag : dice_mix(tag + step) % 12 == 0)
            list[n++] = i;
    }
    params->refine = params->remove = list;
    params->n_refine = step == 5 ? 0 : n;
    params->n_remove = step == 5 ? n : 0;
    if (step != 5)
        parts_tag = storm_mesh_next_tag(mesh);
}

storm_status __real_run_after_step(struct run *run,
                                   const struct run_target *target);
storm_status __wrap_run_after_step(struct run *run,
                                   const struct run_target *target);

storm_status __wrap_run_after_step(struct run *run,
                                   const struct run_target *target)
{
    struct storm_adapt_params params = STORM_ADAPT_PARAMS_INIT;
    struct storm_change *change;
    CHECK_OK(__real_run_after_step(run, target));
    if (run->step == 1)
        n_first = storm_mesh_n_cells_total(run->mesh);
    if (run->step % MIDDLE != 0) {
        uint64_t generation = storm_mesh_generation(run->mesh);
        list_cells(run->mesh, run->step, &params);
        CHECK_OK(storm_mesh_adapt(run->mesh, &params, &change));
        CHECK_OK(run_follow(run, generation, change));
    }
    n_cells = storm_mesh_n_cells_total(run->mesh);
    return STORM_OK;
}

/* ---- runs ---------------------------------------------------------------- */

static const char *const half[] = {"mesh.kind=octree",
                                   "mesh.level=1",
                                   "mesh.refine_levels=1",
                                   "time.steps=3",
                                   "time.dt=1e-12",
                                   "acceleration.random_walk=true",
                                   "balance.every=2",
                                   "boundaries.x_lo.1.packets=300",
                                   "output.profile.bins=0",
                                   "output.checkpoint={every: 3, keep: 1}",
                                   NULL};

static struct case_run run_on(MPI_Comm comm, int steps,
                              const struct case_run *from)
{
    const char *sets[sizeof half / sizeof half[0]];
    memcpy(sets, half, sizeof half);
    if (steps == STEPS)
        sets[3] = "time.steps=6";
    return case_restart_on(comm, "hohlraum", 1, sets, from);
}

/* The state in the end, on the first `size` ranks. */
static void check_restart(const struct case_run *from, int size, uint64_t right)
{
    int rank;
    MPI_Comm comm;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank < size ? 0 : MPI_UNDEFINED, rank,
                   &comm);
    if (comm == MPI_COMM_NULL)
        return;
    uint64_t n_right = n_cells;
    check_where("restart on %d ranks", size);
    struct case_run run = run_on(comm, STEPS, from);
    CHECK_EQ(case_hash(&run), right);
    CHECK_EQ(n_cells, n_right);
    CHECK(case_json(&run, "energy_balance") <= 1e-13);
    case_close_on(comm, &run);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    struct case_run first = run_on(MPI_COMM_WORLD, MIDDLE, NULL);
    uint64_t n_middle = n_cells;
    CHECK(n_middle > n_first);
    struct case_run whole = run_on(MPI_COMM_WORLD, STEPS, NULL);
    uint64_t right = case_hash(&whole);
    CHECK(right != case_hash(&first));
    printf("%d cells, %d in the middle\n", (int)n_first, (int)n_middle);
    for (int size = 1; size <= 2; size++)
        check_restart(&first, size, right);
    MPI_Barrier(MPI_COMM_WORLD);
    case_close(&whole);
    case_close(&first);
    MPI_Finalize();
    return CHECK_PASS;
}
