/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Step 3: packets that multiply, and population control.
 *
 *   cc step3.c $(pkg-config --cflags --libs storm) -lm
 *   mpiexec -n 3 ./a.out
 *
 * In every time step a packet splits a few times. Each half has half the weight
 * and goes to a random cell, maybe on another rank. Without control the number
 * would grow eightfold per step; the comb reduces every cell to at most N_MAX
 * packets of the same total weight.
 *
 * What to see: storm_step_spawn in a callback; children's ids, from which
 * their random numbers follow; population control. The hash of all packets is
 * the same on any number of ranks, to the last bit.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include <storm/context.h>
#include <storm/streaming.h>

enum {
    N_CELLS = 16,
    N_START = 20, /* packets per cell */
    N_MAX = 50,   /* max packets per cell, after the comb */
    N_SPLITS = 3, /* of each packet, per step */
    N_STEPS = 5,
    SEED = 7
};

struct cells {
    int rank, size;
};

/* Cells are distributed in turn. */
static int owner(const struct cells *cells, storm_cell_id cell)
{
    return (int)(cell % (uint64_t)cells->size);
}

static void move_to(const struct cells *cells, struct storm_packet *packet,
                    storm_cell_id cell)
{
    packet->cell = cell;
    packet->cell_idx = (storm_cell_idx)(cell / (uint64_t)cells->size);
}

/* `group` counts the splits of this step. */
static storm_status pre_step(void *self, struct storm_step *step)
{
    struct cells *cells = self;
    size_t n;
    void **packets = storm_step_packets(step, &n);
    for (size_t i = 0; i < n; i++)
        ((struct storm_packet *)packets[i])->group = 0;
    storm_status status = STORM_OK;
    if (storm_step_number(step) > 0)
        return status;
    for (storm_cell_id cell = 0; cell < N_CELLS; cell++)
        for (uint64_t i = 0; i < N_START && status >= 0; i++)
            if (owner(cells, cell) == cells->rank) {
                struct storm_packet packet = {
                    .id = storm_packet_id_make(STORM_ORIGIN_USER, 0, cell, i),
                    .weight_erg = 1.0};
                move_to(cells, &packet, cell);
                status = storm_step_spawn(step, &packet);
            }
    return status;
}

static void split(void *self, struct storm_step *step, void *record,
                  struct storm_outcome *outcome_out)
{
    struct cells *cells = self;
    struct storm_packet *packet = record;
    outcome_out->events = 1;
    outcome_out->rank = owner(cells, packet->cell);
    if (packet->group == N_SPLITS)
        outcome_out->fate = STORM_FATE_CENSUS;
    if (outcome_out->rank != cells->rank)
        outcome_out->fate = STORM_FATE_SEND;
    if (outcome_out->fate == STORM_FATE_CONTINUE) {
        double u[4];
        storm_packet_random(packet, SEED, u);
        packet->weight_erg *= 0.5;
        packet->group++;
        struct storm_packet child = *packet;
        child.id = storm_packet_id_child(packet->id, packet->spawns++);
        child.draws = child.spawns = 0;
        move_to(cells, packet, (storm_cell_id)(u[0] * N_CELLS));
        move_to(cells, &child, (storm_cell_id)(u[1] * N_CELLS));
        (void)storm_step_spawn(step, &child); /* no memory ends the step */
    }
}

/* Weight is conserved, and no cell has more than N_MAX packets. */
static int result(const struct cells *cells, struct storm_engine *engine)
{
    size_t n;
    void *const *packets = storm_engine_packets(engine, &n);
    uint64_t mine[N_CELLS + 1] = {0}, sum[N_CELLS + 1];
    double weight = 0.0, total, max = 0;
    for (size_t i = 0; i < n; i++) {
        const struct storm_packet *packet = packets[i];
        mine[packet->cell]++;
        mine[N_CELLS] += storm_packet_hash(packet);
        weight += packet->weight_erg;
    }
    MPI_Allreduce(mine, sum, N_CELLS + 1, MPI_UINT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    MPI_Allreduce(&weight, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int cell = 0; cell < N_CELLS; cell++)
        max = fmax(max, (double)sum[cell]);
    if (cells->rank == 0)
        printf("step3: %d steps, at most %.0f packets in a cell, weight "
               "%.6f, hash %016" PRIx64 "\n",
               N_STEPS, max, total, sum[N_CELLS]);
    return max > N_MAX || fabs(total - N_CELLS * N_START) > 1e-9;
}

int main(int argc, char **argv)
{
    struct cells cells = {0};
    struct storm_context *context = NULL;
    struct storm_comb *comb = NULL;
    struct storm_engine *engine = NULL;
    MPI_Init(&argc, &argv);

    storm_status status = storm_context_create(MPI_COMM_WORLD, NULL, &context);
    if (status >= 0) {
        cells.rank = storm_context_rank(context);
        cells.size = storm_context_size(context);
        struct storm_comb_params params = STORM_COMB_PARAMS_INIT;
        params.seed = SEED;
        params.n_max = N_MAX;
        status =
            storm_context_agree(context,
                                storm_comb_create(context, &params, &comb));
    }
    if (status >= 0) {
        struct storm_physics physics = STORM_PHYSICS_INIT;
        physics.self = &cells;
        physics.pre_step = pre_step;
        physics.step = split;
        struct storm_engine_params params = STORM_ENGINE_PARAMS_INIT;
        params.record_bytes = sizeof(struct storm_packet);
        params.physics = &physics;
        status = storm_engine_create(context, &params, &engine);
    }
    if (status >= 0)
        status = storm_comb_attach(comb, engine);
    for (int i = 0; i < N_STEPS && status >= 0; i++)
        status = storm_engine_step(engine);

    if (context) /* what follows is collective: all ranks or none */
        status = storm_context_agree(context, status);
    int failed = status < 0 || result(&cells, engine);
    storm_engine_destroy(engine);
    storm_comb_destroy(comb);
    storm_context_destroy(context);
    MPI_Finalize();
    return failed;
}
