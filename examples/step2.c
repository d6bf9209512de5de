/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Step 2: a record and a mesh of our own. Particles fly along a rod of cells of
 * growing width; those that reach an end escape, the others stop at the end of
 * the time step and rest until the next.
 *
 *   cc step2.c $(pkg-config --cflags --libs storm) -lm
 *   mpiexec -n 3 ./a.out
 *
 * What to see: the mesh is ours, the engine does not know it; time steps; a
 * domain without boundary object, from which all particles escape; random
 * numbers that belong to the particle and not to the rank. The result is
 * checked against a formula without cells and ranks.
 */
#include <math.h>
#include <stdio.h>

#include <storm/context.h>
#include <storm/engine.h>
#include <storm/packet.h>

enum { N_CELLS = 100, N_PARTICLES = 20000, N_STEPS = 3, SEED = 42 };
static const double speed = 1.0, dt = 20.0;

struct particle { /* 48 bytes */
    uint64_t id;
    int64_t cell;
    double x, mu; /* position, and cosine of the angle with the rod */
    double time_left, birth_x;
};

struct rod {
    int rank, size;
    double face[N_CELLS + 1];
};

static int owner(const struct rod *rod, int64_t cell)
{
    return (int)(cell * rod->size / N_CELLS);
}

/* Where particle `id` starts: a function of the id alone. */
static struct particle born(const struct rod *rod, uint64_t id)
{
    double u[4];
    struct storm_packet_id key =
        storm_packet_id_make(STORM_ORIGIN_USER, 0, 0, id);
    storm_random(SEED, STORM_STREAM_BIRTH, key, 0, u);
    struct particle p = {.id = id, .mu = 2.0 * u[0] - 1.0, .time_left = dt};
    p.birth_x = p.x = rod->face[N_CELLS] * u[1];
    while (rod->face[p.cell + 1] < p.x)
        p.cell++;
    return p;
}

/* New particles in the first step; new time for those that are at rest. */
static storm_status pre_step(void *self, struct storm_step *step)
{
    struct rod *rod = self;
    size_t n;
    void **rest = storm_step_packets(step, &n);
    for (size_t i = 0; i < n; i++)
        ((struct particle *)rest[i])->time_left = dt;
    storm_status status = STORM_OK;
    uint64_t n_new = storm_step_number(step) == 0 ? N_PARTICLES : 0;
    for (uint64_t id = 0; id < n_new && status >= 0; id++) {
        struct particle p = born(rod, id);
        if (owner(rod, p.cell) == rod->rank)
            status = storm_step_spawn(step, &p);
    }
    return status;
}

/* To the next face, or as far as the time reaches. */
static void fly(void *self, struct storm_step *step, void *record,
                struct storm_outcome *outcome_out)
{
    struct rod *rod = self;
    struct particle *p = record;
    (void)step;
    int64_t next = p->mu > 0.0 ? p->cell + 1 : p->cell - 1;
    double face = rod->face[p->mu > 0.0 ? p->cell + 1 : p->cell];
    double time = fmax((face - p->x) / (p->mu * speed), 0.0);
    outcome_out->events = 1;
    if (!(time < p->time_left)) {
        p->x += p->mu * speed * p->time_left;
        outcome_out->fate = STORM_FATE_CENSUS;
        return;
    }
    p->time_left -= time;
    p->x = face;
    if (next < 0 || next >= N_CELLS) {
        outcome_out->fate = STORM_FATE_BOUNDARY;
        return;
    }
    p->cell = next;
    outcome_out->rank = owner(rod, next);
    outcome_out->fate = STORM_FATE_SEND; /* maybe this rank: then it stays */
}

/* Straight flights can be checked without a mesh. */
static int result(const struct rod *rod, struct storm_engine *engine)
{
    const double flown = speed * dt * N_STEPS;
    size_t n;
    void *const *rest = storm_engine_packets(engine, &n);
    struct storm_stats stats = STORM_STATS_INIT;
    storm_engine_stats(engine, &stats);
    long expected = 0, mine[3] = {(long)n, (long)stats.escaped, 0}, sum[3];
    for (size_t i = 0; i < n; i++) {
        const struct particle *p = rest[i];
        mine[2] += fabs(p->x - (p->birth_x + p->mu * flown)) > 1e-9 ||
                   p->x < rod->face[p->cell] - 1e-9 ||
                   p->x > rod->face[p->cell + 1] + 1e-9;
    }
    for (uint64_t id = 0; id < N_PARTICLES; id++) {
        struct particle p = born(rod, id);
        double x = p.x + p.mu * flown;
        expected += x < 0.0 || x > rod->face[N_CELLS];
    }
    MPI_Allreduce(mine, sum, 3, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rod->rank == 0)
        printf("step2: %ld at rest, %ld escaped (%ld expected), %ld wrong\n",
               sum[0], sum[1], expected, sum[2]);
    return sum[0] + sum[1] != N_PARTICLES || sum[1] != expected || sum[2] != 0;
}

int main(int argc, char **argv)
{
    struct rod rod = {0};
    struct storm_context *context = NULL;
    struct storm_engine *engine = NULL;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < N_CELLS; i++)
        rod.face[i + 1] = rod.face[i] + 0.5 + 0.01 * i;

    storm_status status = storm_context_create(MPI_COMM_WORLD, NULL, &context);
    if (status >= 0) {
        rod.rank = storm_context_rank(context);
        rod.size = storm_context_size(context);
        struct storm_physics physics = STORM_PHYSICS_INIT;
        physics.self = &rod;
        physics.pre_step = pre_step;
        physics.step = fly;
        struct storm_engine_params params = STORM_ENGINE_PARAMS_INIT;
        params.record_bytes = sizeof(struct particle);
        params.physics = &physics;
        status = storm_engine_create(context, &params, &engine);
    }
    for (int i = 0; i < N_STEPS && status >= 0; i++)
        status = storm_engine_step(engine);

    if (context) /* what follows is collective: all ranks or none */
        status = storm_context_agree(context, status);
    int failed = status < 0 || result(&rod, engine);
    storm_engine_destroy(engine);
    storm_context_destroy(context);
    MPI_Finalize();
    return failed;
}
