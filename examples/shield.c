/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A physics of one's own with a boundary object and tallies: a beam that a
 * shield absorbs, and a wall behind it that throws some of it back.
 *
 *   cc shield.c $(pkg-config --cflags --libs storm) -lm
 *   mpiexec -n 3 ./a.out
 *
 * Gammas enter a slab from the left, distributed as from a glowing surface, and
 * lose weight along their path. Behind the slab is a rough wall: it keeps a
 * part of the weight and sends the rest back into any direction. What comes
 * out on the left is counted by its angle.
 *
 * What to see: step_batch; a boundary object that lets packets in (inject) and
 * decides what happens at the walls (apply); tallies as exact sums, with
 * standard errors. The hash of all sums is the same on any number of ranks.
 * docs/add-a-physics.md goes through this file.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <storm/context.h>
#include <storm/engine.h>
#include <storm/exact.h>
#include <storm/packet.h>

enum { N_CELLS = 12, N_GAMMAS = 20000, N_ANGLES = 4, SEED = 5 };
static const double thickness_cm = 3.0, per_cm = 0.4, albedo = 0.6;
static const double beam_erg = 1.0;

struct gamma { /* 64 bytes: a multiple of 16 */
    struct storm_packet_id id;
    double x_cm, mu; /* mu: cosine of the angle with the beam */
    double weight_erg;
    uint64_t draws;
    int64_t cell;
    int64_t reserved;
};

/* Scores and, for their standard errors, squares of them. */
enum { OUT, KEPT, OUT_SQUARED, KEPT_SQUARED, ANGLE, CELL = ANGLE + N_ANGLES };
enum { N_TALLIES = CELL + N_CELLS };

struct shield {
    int rank, size;
    struct storm_sum tally[N_TALLIES];
};

static int owner(const struct shield *shield, int64_t cell)
{
    return (int)(cell * shield->size / N_CELLS);
}

/* A term above the bound of a sum is a mistake of ours; it is left out, and the
 * balance at the end shows it. */
static void tally(struct shield *shield, int i, double term)
{
    (void)storm_sum_add(&shield->tally[i], term);
}

/* The direction of what a glowing surface sends out: more of it upright. */
static double from_surface(struct gamma *g)
{
    double u[4];
    storm_random(SEED, STORM_STREAM_HISTORY, g->id, g->draws++, u);
    return sqrt(u[0]);
}

/* ---- physics: what happens inside ---------------------------------------- */

/* One event: the path to the face ahead. */
static void fly(struct shield *shield, struct gamma *g,
                struct storm_outcome *outcome_out)
{
    const double width = thickness_cm / N_CELLS;
    int64_t next = g->mu > 0.0 ? g->cell + 1 : g->cell - 1;
    double face = width * (double)(g->mu > 0.0 ? g->cell + 1 : g->cell);
    double path = fmax((face - g->x_cm) / g->mu, 0.0);
    double left = g->weight_erg * exp(-per_cm * path);
    tally(shield, CELL + (int)g->cell, g->weight_erg - left);
    g->weight_erg = left;
    g->x_cm = face;
    bool is_wall = next < 0 || next == N_CELLS;
    outcome_out->events = 1;
    outcome_out->fate = is_wall ? STORM_FATE_BOUNDARY : STORM_FATE_SEND;
    if (is_wall)
        return;
    g->cell = next;
    outcome_out->rank = owner(shield, next); /* maybe this one: it stays */
}

/* Outcomes are not initialised. */
static void step_batch(void *self, struct storm_step *step,
                       void *const *packets, size_t n,
                       struct storm_outcome *outcomes_out)
{
    (void)step;
    memset(outcomes_out, 0, n * sizeof *outcomes_out);
    for (size_t i = 0; i < n; i++)
        fly(self, packets[i], &outcomes_out[i]);
}

/* ---- boundary: what happens at the walls --------------------------------- */

/* Those that own the first cell let the beam in. */
static storm_status inject(void *self, struct storm_step *step)
{
    struct shield *shield = self;
    storm_status status = STORM_OK;
    uint64_t n = owner(shield, 0) == shield->rank ? N_GAMMAS : 0;
    for (uint64_t i = 0; i < n && status >= 0; i++) {
        struct gamma g = {.weight_erg = beam_erg / N_GAMMAS};
        g.id = storm_packet_id_make(STORM_ORIGIN_BOUNDARY,
                                    storm_step_number(step), 0, i);
        g.mu = from_surface(&g);
        status = storm_step_spawn(step, &g);
    }
    return status;
}

/* Of a gamma that stands on a wall: on the left it leaves, on the right it goes
 * on (CONTINUE), lighter. */
static void apply(void *self, struct storm_step *step, void *record,
                  struct storm_outcome *outcome_out)
{
    struct shield *shield = self;
    struct gamma *g = record;
    double w = g->weight_erg, birth = beam_erg / N_GAMMAS;
    (void)step;
    if (g->mu < 0.0) {
        int angle = (int)(-g->mu * N_ANGLES);
        tally(shield, OUT, w);
        tally(shield, OUT_SQUARED, w / birth * w);
        tally(shield, ANGLE + (angle < N_ANGLES ? angle : N_ANGLES - 1), w);
        outcome_out->fate = STORM_FATE_ESCAPED;
        return;
    }
    double kept = (1.0 - albedo) * w;
    tally(shield, KEPT, kept);
    tally(shield, KEPT_SQUARED, kept / birth * kept);
    g->weight_erg -= kept;
    g->mu = -from_surface(g);
    outcome_out->fate = STORM_FATE_CONTINUE;
}

/* ---- result -------------------------------------------------------------- */

/* What crosses the slab of what a glowing surface sends into it: twice the
 * integral of mu exp(-depth / mu), by midpoints. */
static double crosses(double depth)
{
    enum { N = 20000 };
    double sum = 0.0;
    for (int i = 0; i < N; i++) {
        double mu = (i + 0.5) / N;
        sum += 2.0 * mu * exp(-depth / mu) / N;
    }
    return sum;
}

/* Is a tally within four standard errors of what is known? */
static int judge(const struct shield *shield, const char *name, int i,
                 int squares, double known)
{
    double sum = storm_sum_value(&shield->tally[i]) / beam_erg;
    double mean_square = storm_sum_value(&shield->tally[squares]) / beam_erg;
    double error = sqrt((mean_square - sum * sum) / N_GAMMAS);
    double off = (sum - known) / error;
    if (shield->rank == 0)
        printf("%s: %.5f, standard error %.5f, known %.5f, off by %+.1f "
               "standard errors\n",
               name, sum, error, known, off);
    return !(fabs(off) < 4.0);
}

/* Tallies are those of all ranks here. */
static int results(const struct shield *shield)
{
    double known = crosses(per_cm * thickness_cm), all = 0.0;
    int failed =
        judge(shield, "kept by the wall", KEPT, KEPT_SQUARED,
              (1.0 - albedo) * known) +
        judge(shield, "thrown back", OUT, OUT_SQUARED, albedo * known * known);
    uint64_t hash = 0;
    for (int i = 0; i < N_TALLIES; i++) {
        double value = storm_sum_value(&shield->tally[i]);
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        hash = (hash ^ bits) * 0x9e3779b97f4a7c15U;
        if (i == OUT || i == KEPT || i >= CELL)
            all += value;
    }
    double off = fabs(all / beam_erg - 1.0);
    for (int i = 0; i < N_ANGLES && shield->rank == 0; i++)
        printf("  out with a cosine of %.2f to %.2f: %.5f\n",
               (double)i / N_ANGLES, (i + 1.0) / N_ANGLES,
               storm_sum_value(&shield->tally[ANGLE + i]) / beam_erg);
    if (shield->rank == 0)
        printf("shield: balance off by %.0e, hash %016" PRIx64 "\n", off, hash);
    return failed + !(off < 1e-12);
}

int main(int argc, char **argv)
{
    struct shield shield = {0};
    struct storm_context *context = NULL;
    struct storm_engine *engine = NULL;
    MPI_Init(&argc, &argv);
    storm_status status = storm_context_create(MPI_COMM_WORLD, NULL, &context);
    for (int i = 0; i < N_TALLIES && status >= 0; i++)
        status = storm_sum_begin(&shield.tally[i], beam_erg / N_GAMMAS);
    if (status >= 0) {
        shield.rank = storm_context_rank(context);
        shield.size = storm_context_size(context);
        struct storm_physics physics = STORM_PHYSICS_INIT;
        physics.self = &shield;
        physics.record_bytes = sizeof(struct gamma);
        physics.step_batch = step_batch;
        struct storm_boundary boundary = STORM_BOUNDARY_INIT;
        boundary.self = &shield;
        boundary.record_bytes = sizeof(struct gamma);
        boundary.inject = inject;
        boundary.apply = apply;
        struct storm_engine_params params = STORM_ENGINE_PARAMS_INIT;
        params.record_bytes = sizeof(struct gamma);
        params.physics = &physics;
        params.boundary = &boundary;
        status = storm_engine_create(context, &params, &engine);
    }
    if (status >= 0)
        status = storm_engine_step(engine);
    if (status >= 0)
        status = storm_sum_reduce(context, shield.tally, N_TALLIES);
    int failed = status < 0 || results(&shield) != 0;
    storm_engine_destroy(engine);
    storm_context_destroy(context);
    MPI_Finalize();
    return failed;
}
