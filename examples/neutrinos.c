/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; timeout: 60 */
/* TEST ranks: 2; args: 50; timeout: 600; label: long */
/*
 * Neutrinos of a homogeneous sphere: a physics and a packet of one's own on a
 * bundled mesh.
 *
 *   cc neutrinos.c $(pkg-config --cflags --libs storm) -lm
 *   mpiexec -n 3 ./a.out [FACTOR]      FACTOR: times as many packets
 *
 * A hot sphere emits and absorbs, around it is vacuum: the usual model of a
 * neutron star that radiates. Where a ray has passed through a length s of the
 * sphere, its intensity is B (1 - exp(-kappa s)); integrals over direction are
 * energy density and flux at each radius. The example prints both beside these
 * integrals, in units of those of a black body: 4 pi B / c and 4 pi B.
 *
 * What to see: a packet with more than struct storm_packet has; surfaces that
 * are not those of cells; exact sums, and so the same bits on any number of
 * ranks.
 */
#include <inttypes.h>
#include <stdio.h>

#include <storm/exact.h>

#include "boxes.h"

enum {
    N_SHELLS = 10,
    N_BATCHES = 25,
    N_CELLS = 16,
    N_PER_CELL = 400,
    SEED = 1
};
/* Energy in a shell; energy per second through its outer surface. */
enum { ENERGY, FLUX, N_SUMS };
static const double radius = 1.0, kappa = 4.0; /* cm, per cm */
static const double width = 0.2;               /* of a shell */

struct neutrino {
    struct storm_packet packet; /* first, for the mesh's and our functions */
    int64_t shell, batch;
};

struct star {
    struct boxes boxes;
    uint64_t n_per_cell;
    storm_status status;
    struct storm_sum sums[N_SUMS][N_SHELLS][N_BATCHES];
};

/* ---- transport ----------------------------------------------------------- */

static double radius_of(const double x[3])
{
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

/* Where the path enters the sphere of that radius; infinite: nowhere. */
static double sphere_entry(double r, const struct storm_packet *p)
{
    double along = 0.0, square = 0.0;
    for (int d = 0; d < 3; d++) {
        along += p->position_cm[d] * p->direction[d];
        square += p->position_cm[d] * p->position_cm[d];
    }
    double root = along * along + r * r - square;
    return along < 0.0 && root > 0.0 ? fmax(-along - sqrt(root), 0.0)
                                     : INFINITY;
}

static void tally(struct star *star, struct storm_sum *sum, double term)
{
    storm_status status = storm_sum_add(sum, term);
    if (status < 0) /* above its bound: post_step ends the run */
        star->status = status;
}

/* A path within one cell and one shell. Its mean energy is that of a weight
 * which falls as exp(-kappa s). */
static void fly(struct star *star, struct neutrino *neutrino, double path)
{
    struct storm_packet *p = &neutrino->packet;
    bool is_inside = (double)neutrino->shell + 0.5 < radius / width;
    double absorbed = is_inside ? -expm1(-kappa * path) : 0.0;
    double energy = p->weight_erg * (is_inside ? absorbed / kappa : path);
    tally(star, &star->sums[ENERGY][neutrino->shell][neutrino->batch], energy);
    p->weight_erg -= absorbed * p->weight_erg;
    box_move(p, path);
}

/* To the next side of the cell or surface of the shell. */
static void advance(void *self, struct storm_step *step, void *record,
                    struct storm_outcome *outcome_out)
{
    struct star *star = self;
    struct neutrino *neutrino = record;
    struct storm_packet *p = &neutrino->packet;
    int side;
    int64_t shell = neutrino->shell;
    double inner = (double)shell * width, outer = inner + width;
    double to_side = box_exit(&star->boxes.cells[p->cell_idx], p, &side);
    double to_outer = sphere_exit(outer, p), to_inner = sphere_entry(inner, p);
    (void)step;
    outcome_out->events = 1;
    fly(star, neutrino, fmin(to_side, fmin(to_outer, to_inner)));
    if (to_inner < fmin(to_side, to_outer)) {
        neutrino->shell--;
        tally(star, &star->sums[FLUX][shell - 1][neutrino->batch],
              -p->weight_erg);
    } else if (to_outer < to_side) {
        neutrino->shell++;
        tally(star, &star->sums[FLUX][shell][neutrino->batch], p->weight_erg);
        if (neutrino->shell == N_SHELLS)
            outcome_out->fate = STORM_FATE_ESCAPED;
    } else {
        box_cross(&star->boxes, p, side, outcome_out);
    }
}

/* Emission of a cell: points outside of the sphere do not emit. */
static storm_status emit(struct star *star, struct storm_step *step,
                         storm_cell_idx cell)
{
    const struct storm_mesh *mesh = star->boxes.mesh;
    double power = kappa * storm_mesh_volume_cm3(mesh, cell);
    storm_status status = STORM_OK;
    for (uint64_t k = 0; k < star->n_per_cell && status >= 0; k++) {
        struct neutrino neutrino = {.batch = (int64_t)(k % N_BATCHES)};
        struct storm_packet *p = &neutrino.packet;
        double u[4];
        p->cell = storm_mesh_cell_id(mesh, cell);
        p->cell_idx = cell;
        p->weight_erg = power / (double)star->n_per_cell;
        p->id = storm_packet_id_make(STORM_ORIGIN_USER, storm_step_number(step),
                                     p->cell, k);
        storm_packet_random(p, SEED, u);
        storm_mesh_sample(mesh, cell, u, p->position_cm);
        storm_packet_random(p, SEED, u);
        storm_isotropic(u[0], u[1], p->direction);
        double r = radius_of(p->position_cm);
        neutrino.shell = (int64_t)(r / width);
        if (r < radius)
            status = storm_step_spawn(step, &neutrino);
    }
    return status;
}

static storm_status pre_step(void *self, struct storm_step *step)
{
    struct star *star = self;
    storm_status status = STORM_OK;
    storm_cell_idx n = storm_mesh_n_cells(star->boxes.mesh);
    for (storm_cell_idx cell = 0; cell < n && status >= 0; cell++)
        status = emit(star, step, cell);
    return status;
}

static storm_status post_step(void *self, struct storm_step *step)
{
    const struct star *star = self;
    (void)step;
    return star->status;
}

/* ---- the formula --------------------------------------------------------- */

/* Length inside the sphere of a ray that arrives at radius r; mu: the cosine of
 * its direction and the radius. */
static double chord(double r, double mu)
{
    double root = radius * radius - r * r * (1.0 - mu * mu);
    if (root <= 0.0 || (r > radius && mu < 0.0))
        return 0.0;
    return r > radius ? 2.0 * sqrt(root) : r * mu + sqrt(root);
}

/* Half the integral over mu of mu^power times 1 - exp(-kappa s). */
static double moment(double r, int power)
{
    enum { N = 2000 };
    double sum = 0.0;
    for (int i = 0; i < N; i++) {
        double mu = (2 * i + 1) / (double)N - 1.0;
        sum -= expm1(-kappa * chord(r, mu)) * (power ? mu : 1.0) / N;
    }
    return sum;
}

/* Mean energy density of a shell. */
static double mean_density(double inner, double outer)
{
    enum { N = 50 };
    double sum = 0.0, volume = 0.0;
    for (int i = 0; i < N; i++) {
        double r = inner + (outer - inner) * (i + 0.5) / N;
        sum += r * r * moment(r, 0);
        volume += r * r;
    }
    return sum / volume;
}

/* ---- results ------------------------------------------------------------- */

struct check {
    double squares, worst;
    uint64_t hash;
};

/* One value beside the formula's; returns it. */
static double check_value(struct check *check, const struct storm_sum *batches,
                          double unit, double known, double *off_out)
{
    double batch[N_BATCHES], error;
    for (int b = 0; b < N_BATCHES; b++) {
        batch[b] = N_BATCHES * storm_sum_value(&batches[b]) / unit;
        check->hash = hash_of(check->hash, batch[b]);
    }
    double value = mean_of(batch, N_BATCHES, &error);
    *off_out = (value - known) / error;
    check->squares += *off_out * *off_out / (2 * N_SHELLS);
    check->worst = fmax(check->worst, fabs(*off_out));
    return value;
}

static int compare(const struct star *star)
{
    const double four_pi = 12.566370614359172;
    struct check check = {0};
    bool prints = star->boxes.rank == 0;
    for (int i = 0; i < N_SHELLS; i++) {
        double inner = i * width, outer = inner + width, off[2];
        double volume = four_pi / 3.0 * (pow(outer, 3.0) - pow(inner, 3.0));
        double known[2] = {mean_density(inner, outer), moment(outer, 1)};
        double density = check_value(&check, star->sums[ENERGY][i], volume,
                                     known[0], &off[0]);
        double flux = check_value(&check, star->sums[FLUX][i],
                                  four_pi * outer * outer, known[1], &off[1]);
        if (prints)
            printf(
                "  r %.1f to %.1f  energy %.5f, formula %.5f, %+.1f standard "
                "errors; at %.1f flux %.5f, formula %.5f, %+.1f\n",
                inner, outer, density, known[0], off[0], outer, flux, known[1],
                off[1]);
    }
    if (prints)
        printf("neutrinos: off by %.2f standard errors (root mean square), at "
               "most %.1f, hash %016" PRIx64 "\n",
               sqrt(check.squares), check.worst, check.hash);
    return !(check.squares < 2.0 && check.worst < 4.0);
}

static storm_status shine(struct star *star, int *failed)
{
    struct storm_cart_params cart = STORM_CART_PARAMS_INIT;
    struct storm_physics physics = STORM_PHYSICS_INIT;
    for (int d = 0; d < 3; d++) {
        cart.lo_cm[d] = -(N_SHELLS * width);
        cart.hi_cm[d] = N_SHELLS * width;
        cart.n[d] = N_CELLS;
    }
    physics.self = star;
    physics.record_bytes = sizeof(struct neutrino);
    physics.pre_step = pre_step;
    physics.step = advance;
    physics.post_step = post_step;
    storm_status status = boxes_open(&star->boxes, &cart, &physics);
    /* No weight is above 1, and no path longer than the box. */
    struct storm_sum *sums = &star->sums[0][0][0];
    const size_t n = sizeof star->sums / sizeof *sums;
    for (size_t i = 0; i < n && status >= 0; i++)
        status = storm_sum_begin(&sums[i], 8.0);
    if (status >= 0)
        status = storm_engine_step(star->boxes.engine);
    if (status >= 0)
        status = storm_sum_reduce(star->boxes.context, sums, n);
    if (status >= 0)
        *failed = compare(star);
    boxes_close(&star->boxes);
    return status;
}

int main(int argc, char **argv)
{
    struct star star = {0};
    int failed = 0, factor = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Init(&argc, &argv);
    star.n_per_cell = N_PER_CELL * (uint64_t)(factor > 0 ? factor : 1);
    storm_status status =
        storm_context_create(MPI_COMM_WORLD, NULL, &star.boxes.context);
    if (status >= 0)
        status = shine(&star, &failed);
    storm_context_destroy(star.boxes.context);
    MPI_Finalize();
    return status < 0 || failed;
}
