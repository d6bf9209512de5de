/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; args: 20; timeout: 900; label: long */
/*
 * Neutrons of one energy: a physics of one's own on a bundled mesh.
 *
 *   cc neutrons.c $(pkg-config --cflags --libs storm) -lm
 *   mpiexec -n 3 ./a.out [FACTOR]      FACTOR: times as many neutrons
 *
 * 1. A slab and a sphere of plutonium of critical size: the multiplication
 *    factor k, by power iteration, is 1. A generation is a step of the engine;
 *    the sites of fissions are packets at census.
 *    (Sizes: A. Sood, R. A. Forster, D. K. Parsons, Analytical benchmark test
 *    set for criticality code verification, 2003, PUa-1-0-SL and PUb-1-0-SP.)
 * 2. A source in the corner of a cube, void around it, and an absorber that may
 *    scatter: the flux at points, to which every source and every collision
 *    contributes ("next event").
 *    (Kobayashi's problem 1: kobayashi.h.)
 *
 * What to see: children with ids of their own; exact sums; results within
 * their standard errors, with the same bits on any number of ranks.
 */
#include <inttypes.h>
#include <stdio.h>

#include <storm/exact.h>

#include "boxes.h"
#include "kobayashi.h"

enum { N_BATCHES = 25, SEED = 1 };
enum { N_GENERATIONS = 220, N_SKIPPED = 20, N_PER_BATCH = 8 };
enum { SITE = -1 }; /* `group` of a packet that waits for its generation */

struct matter {
    double total, scatter, nu_fission; /* per cm */
};

struct run {
    struct boxes boxes;          /* context, mesh, engine */
    const struct matter *matter; /* one, or three: source, void, absorber */
    double radius;               /* of the sphere; infinite: none */
    uint64_t n_source;           /* neutrons per source cell */
    struct storm_sum produced;   /* neutrons of the next generation */
    double sites_per_neutron;    /* recorded for one that is produced */
    bool is_cube;
    double weight; /* of a source neutron */
    storm_status status;
    struct storm_sum flux[N_POINTS][N_BATCHES];
};

/* ---- flight -------------------------------------------------------------- */

static const struct matter *matter_of(const struct run *run,
                                      storm_cell_idx cell)
{
    const double *lo = run->boxes.cells[cell].lo;
    double far = fmax(fmax(lo[0], lo[1]), lo[2]);
    bool is_far = run->is_cube && far > 9.0;
    return &run->matter[is_far ? (far > 49.0 ? 2 : 1) : 0];
}

static void tally(struct run *run, struct storm_sum *sum, double term)
{
    storm_status status = storm_sum_add(sum, term);
    if (status < 0) /* above its bound: post_step ends the run */
        run->status = status;
}

static void make_child(struct storm_step *step, struct storm_packet *parent,
                       int32_t group)
{
    struct storm_packet child = *parent;
    child.id = storm_packet_id_child(parent->id, parent->spawns++);
    child.draws = child.spawns = 0;
    child.group = group;
    (void)storm_step_spawn(step, &child); /* no memory ends the step */
}

/* Record sites of fissions, then scatter or end. */
static void collide_fissile(struct run *run, struct storm_step *step,
                            struct storm_packet *p,
                            struct storm_outcome *outcome_out)
{
    double u[4];
    storm_packet_random(p, SEED, u);
    double sites =
        run->matter->nu_fission / run->matter->total * run->sites_per_neutron;
    for (int n = (int)(sites + u[0]); n > 0; n--)
        make_child(step, p, SITE);
    if (u[1] * run->matter->total >= run->matter->scatter)
        outcome_out->fate = STORM_FATE_ABSORBED;
    else
        storm_isotropic(u[2], u[3], p->direction);
}

/* What a neutron that starts or scatters contributes to the flux at points. */
static void score(struct run *run, const struct storm_packet *p)
{
    const struct matter *m = run->matter;
    const double sigma[3] = {m[0].total, m[1].total, m[2].total};
    for (int i = 0; i < N_POINTS; i++) {
        double flux = flux_from(sigma, p->position_cm, table[i].x);
        tally(run, &run->flux[i][p->group], p->weight_erg * flux);
    }
}

/* Only the weight is absorbed. */
static void collide_cube(struct run *run, struct storm_packet *p,
                         struct storm_outcome *outcome_out)
{
    const struct matter *matter = matter_of(run, p->cell_idx);
    p->weight_erg *= matter->scatter / matter->total;
    if (p->weight_erg == 0.0) {
        outcome_out->fate = STORM_FATE_ABSORBED;
        return;
    }
    double u[4];
    storm_packet_random(p, SEED, u);
    storm_isotropic(u[0], u[1], p->direction);
    score(run, p);
}

/* In the cube a heavy neutron is split; a light one ends, or gets the weight
 * that its place asks for. */
static bool in_window(const struct run *run, struct storm_step *step,
                      struct storm_packet *p)
{
    double aim = run->weight * weight_at(p->position_cm);
    if (p->weight_erg >= 2.0 * aim) {
        int n = (int)(p->weight_erg / aim);
        p->weight_erg /= n;
        p->optical_depth = 0.0; /* each draws its own */
        for (int i = 1; i < n; i++)
            make_child(step, p, p->group);
    } else if (p->weight_erg < aim / 2.0) {
        double u[4];
        storm_packet_random(p, SEED, u);
        if (u[0] * aim >= p->weight_erg)
            return false;
        p->weight_erg = aim;
    }
    return true;
}

/* One event: a collision, or the way to a side of the cell or the surface. */
static void advance(void *self, struct storm_step *step, void *record,
                    struct storm_outcome *outcome_out)
{
    struct run *run = self;
    struct storm_packet *p = record;
    outcome_out->events = 1;
    if (p->group == SITE)
        outcome_out->fate = STORM_FATE_CENSUS;
    else if (run->is_cube && !in_window(run, step, p))
        outcome_out->fate = STORM_FATE_ABSORBED;
    if (outcome_out->fate != STORM_FATE_CONTINUE)
        return;
    const struct box *box = &run->boxes.cells[p->cell_idx];
    const struct matter *matter = matter_of(run, p->cell_idx);
    if (p->optical_depth == 0.0) {
        double u[4];
        storm_packet_random(p, SEED, u);
        p->optical_depth = -log(u[0]);
    }
    int side;
    double to_side = box_exit(box, p, &side),
           to_end = sphere_exit(run->radius, p);
    double path = fmin(to_side, to_end);
    double to_collision = p->optical_depth / matter->total;
    bool collides = to_collision < path;
    path = collides ? to_collision : path;
    box_move(p, path);
    tally(run, &run->produced, matter->nu_fission * path);
    p->optical_depth = fmax(p->optical_depth - matter->total * path, 1e-300);
    if (collides) {
        p->optical_depth = 0.0;
        if (run->is_cube)
            collide_cube(run, p, outcome_out);
        else
            collide_fissile(run, step, p, outcome_out);
    } else if (to_end <= to_side) {
        outcome_out->fate = STORM_FATE_ESCAPED;
    } else {
        box_cross(&run->boxes, p, side, outcome_out);
    }
}

/* All packets start into isotropic directions. */
static storm_status pre_step(void *self, struct storm_step *step)
{
    struct run *run = self;
    size_t n;
    void **packets = storm_step_packets(step, &n);
    for (size_t i = 0; i < n; i++) {
        struct storm_packet *p = packets[i];
        double u[4];
        storm_packet_random(p, SEED, u);
        storm_isotropic(u[0], u[1], p->direction);
        p->group = p->group == SITE ? 0 : p->group;
        if (run->is_cube)
            score(run, p);
    }
    return STORM_OK;
}

static storm_status post_step(void *self, struct storm_step *step)
{
    const struct run *run = self;
    (void)step;
    return run->status;
}

/* Source neutrons: the same number in every cell of the first material. */
static storm_status start(struct run *run)
{
    storm_status status = STORM_OK;
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(run->boxes.mesh); i++) {
        uint64_t n = matter_of(run, i) == run->matter ? run->n_source : 0;
        for (uint64_t k = 0; k < n && status >= 0; k++) {
            struct storm_packet p = {.cell_idx = i,
                                     .weight_erg = run->weight,
                                     .group = (int32_t)(k % N_BATCHES)};
            p.cell = storm_mesh_cell_id(run->boxes.mesh, i);
            p.id = storm_packet_id_make(STORM_ORIGIN_USER, 0, p.cell, k);
            double u[4];
            storm_random(SEED, STORM_STREAM_BIRTH, p.id, 0, u);
            storm_mesh_sample(run->boxes.mesh, i, u, p.position_cm);
            double *x = p.position_cm;
            if (hypot(hypot(x[0], x[1]), x[2]) < run->radius)
                status = storm_engine_add(run->boxes.engine, &p);
        }
    }
    return storm_context_agree(run->boxes.context, status);
}

/* ---- criticality --------------------------------------------------------- */

/* One generation: k is how many neutrons it produces for each it starts with.
 * So many sites are recorded that the next one is as large as the first. */
static storm_status generation(struct run *run, uint64_t *n_first, double *k)
{
    size_t mine;
    storm_engine_packets(run->boxes.engine, &mine);
    uint64_t n = mine;
    storm_status status =
        storm_context_reduce(run->boxes.context, &n, 1, MPI_UINT64_T, MPI_SUM);
    if (status >= 0)
        status = storm_sum_begin(&run->produced, 1000.0);
    *n_first = *n_first ? *n_first : n;
    run->sites_per_neutron = (double)*n_first / (*k * (double)n);
    if (status >= 0)
        status = storm_engine_step(run->boxes.engine);
    if (status >= 0)
        status = storm_sum_reduce(run->boxes.context, &run->produced, 1);
    *k = storm_sum_value(&run->produced) / (double)n;
    return status;
}

/* Generations depend on one another: the error is that of batches of them. */
static storm_status critical(struct run *run, const char *name, int *failed)
{
    double k = 1.0, error, batch[N_BATCHES] = {0};
    uint64_t n_first = 0, hash = 0;
    storm_status status = start(run);
    for (int g = 0; g < N_GENERATIONS && status >= 0; g++) {
        status = generation(run, &n_first, &k);
        hash = hash_of(hash, k);
        if (g >= N_SKIPPED)
            batch[(g - N_SKIPPED) / N_PER_BATCH] += k / N_PER_BATCH;
    }
    if (status < 0)
        return status;
    double mean = mean_of(batch, N_BATCHES, &error);
    double off = (mean - 1.0) / error;
    if (run->boxes.rank == 0)
        printf("%s: %" PRIu64 " neutrons, %d generations, k %.5f, standard "
               "error %.5f, off by %+.1f of it, hash %016" PRIx64 "\n",
               name, n_first, N_GENERATIONS, mean, error, off, hash);
    *failed |= !(fabs(off) <= 3.0);
    return STORM_OK;
}

/* ---- Kobayashi's cube ---------------------------------------------------- */

static int compare(struct run *run, const char *name, int scatters)
{
    double squares = 0.0, worst = 0.0;
    uint64_t hash = 0;
    for (int i = 0; i < N_POINTS; i++) {
        double batch[N_BATCHES], error, known = table[i].flux[scatters];
        for (int b = 0; b < N_BATCHES; b++) {
            batch[b] = N_BATCHES * storm_sum_value(&run->flux[i][b]);
            hash = hash_of(hash, batch[b]);
        }
        double flux = mean_of(batch, N_BATCHES, &error);
        error = hypot(error, scatters * known * table[i].error);
        double off = (flux - known) / error;
        squares += off * off / N_POINTS;
        worst = fmax(worst, fabs(off));
        if (run->boxes.rank == 0)
            printf("  %3g %3g %3g  flux %.5e, published %.5e, off by %+6.2f %%"
                   " = %+.1f standard errors\n",
                   table[i].x[0], table[i].x[1], table[i].x[2], flux, known,
                   100.0 * (flux / known - 1.0), off);
    }
    if (run->boxes.rank == 0)
        printf("%s: off by %.2f standard errors (root mean square), at most "
               "%.1f, hash %016" PRIx64 "\n",
               name, sqrt(squares), worst, hash);
    return !(squares < 2.0 && worst < 4.0);
}

static storm_status cube(struct run *run, const char *name, int *failed)
{
    storm_status status = storm_sum_begin(&run->produced, 0.0);
    /* One neutron per cm3 and s, in cells of 5 cm. */
    run->weight = 125.0 / (double)run->n_source;
    struct storm_sum *flux = &run->flux[0][0];
    for (int i = 0; i < N_POINTS * N_BATCHES && status >= 0; i++)
        status = storm_sum_begin(&flux[i], 2.0 * run->weight);
    if (status >= 0)
        status = start(run);
    if (status >= 0)
        status = storm_engine_step(run->boxes.engine);
    if (status >= 0)
        status =
            storm_sum_reduce(run->boxes.context, flux, N_POINTS * N_BATCHES);
    if (status >= 0)
        *failed |= compare(run, name, run->matter[0].scatter > 0.0);
    return status;
}

/* ---- all ----------------------------------------------------------------- */

static const struct matter pu_a = {0.32640, 0.225216, 3.24 * 0.081600};
static const struct matter pu_b = {0.32640, 0.225216, 2.84 * 0.081600};
static const struct matter absorber[3] = {
    {.total = 0.1}, {.total = 1e-4}, {.total = 0.1}};
static const struct matter scatterer[3] = {
    {0.1, 0.05, 0.0}, {1e-4, 5e-5, 0.0}, {0.1, 0.05, 0.0}};

/* Low walls reflect, and those of the slab that are not its surface. */
static const struct problem {
    const char *name;
    const struct matter *matter;
    double radius, x, yz; /* cm */
    int64_t n_x, n_yz;    /* cells */
    unsigned mirrors;
    uint64_t n_source; /* per source cell */
    bool is_cube;
} problems[] = {
    {"slab", &pu_a, INFINITY, 1.853722, 10.0, 16, 1, 0x3d, 125, false},
    {"sphere", &pu_b, 6.082547, 6.09, 6.09, 6, 6, 0x15, 18, false},
    {"absorber", absorber, INFINITY, 100.0, 100.0, 20, 20, 0x15, 1000, true},
    {"scatterer", scatterer, INFINITY, 100.0, 100.0, 20, 20, 0x15, 2000, true},
};

static storm_status solve(struct run *run, const struct problem *problem,
                          int *failed)
{
    struct storm_cart_params cart = STORM_CART_PARAMS_INIT;
    for (int d = 0; d < 3; d++) {
        cart.hi_cm[d] = d == 0 ? problem->x : problem->yz;
        cart.n[d] = d == 0 ? problem->n_x : problem->n_yz;
    }
    struct storm_physics physics = STORM_PHYSICS_INIT;
    physics.self = run;
    physics.record_bytes = sizeof(struct storm_packet);
    physics.pre_step = pre_step;
    physics.step = advance;
    physics.post_step = post_step;
    storm_status status = boxes_open(&run->boxes, &cart, &physics);
    if (status >= 0 && run->is_cube)
        status = cube(run, problem->name, failed);
    else if (status >= 0)
        status = critical(run, problem->name, failed);
    boxes_close(&run->boxes);
    return status;
}

int main(int argc, char **argv)
{
    struct storm_context *context = NULL;
    int failed = 0, factor = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Init(&argc, &argv);
    storm_status status = storm_context_create(MPI_COMM_WORLD, NULL, &context);
    for (int i = 0; i < 4 && status >= 0; i++) {
        const struct problem *p = &problems[i];
        struct run run = {.boxes = {.context = context, .mirrors = p->mirrors},
                          .matter = p->matter,
                          .radius = p->radius,
                          .is_cube = p->is_cube};
        run.n_source = p->n_source * (uint64_t)(factor > 0 ? factor : 1);
        status = solve(&run, p, &failed);
    }
    storm_context_destroy(context);
    MPI_Finalize();
    return status < 0 || failed;
}
