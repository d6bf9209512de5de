/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; timeout: 60 */
/*
 * A hydrodynamics code with matter of its own, coupled to the bundled physics.
 *
 *   cc host.c $(pkg-config --cflags --libs storm) -lm
 *   mpiexec -n 3 ./a.out
 *
 * Two halves of a gas run into each other between mirrors. The host moves
 * density, momentum and energy of its cells by finite volumes, and has opacity
 * and equation of state of its own. In each step it sets density and heat,
 * radiation is transported, and the host takes the heat back, and the momentum
 * that radiation has given to its gas; the work this does is taken from the
 * heat. The total energy of heat, motion and radiation stays that of the start.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <storm/change.h>
#include <storm/context.h>
#include <storm/imc.h>
#include <storm/matter.h>
#include <storm/tally.h>

enum { N_X = 16, N_Y = 4, N_CELLS = N_X * N_Y, N_STEPS = 20 };
static const double dt_s = 1e-10;
static const double heat = 1e15;         /* erg/g/keV */
static const double gamma_gas = 5.0 / 3; /* of the gas */
static const double speed = 5e7;         /* of the halves, cm/s */

/* ---- matter ------------------------------------------------------------- */

static storm_status opacity(void *self, const struct storm_matter_block *block,
                            double *absorption, double *scattering)
{
    (void)self;
    for (size_t i = 0; i < block->n; i++) {
        double rho = block->density_g_cm3[i], t = block->temperature_kev[i];
        absorption[i] = 0.2 * rho * rho / (0.2 + t * sqrt(t));
        scattering[i] = 0.1 * rho;
    }
    return STORM_OK;
}

static storm_status capacity(void *self, const struct storm_matter_block *block,
                             double *out)
{
    (void)self;
    for (size_t i = 0; i < block->n; i++)
        out[i] = heat * block->density_g_cm3[i];
    return STORM_OK;
}

static storm_status energy(void *self, const struct storm_matter_block *block,
                           double *out)
{
    storm_status status = capacity(self, block, out);
    for (size_t i = 0; i < block->n; i++)
        out[i] *= block->temperature_kev[i];
    return status;
}

static storm_status temperature(void *self,
                                const struct storm_matter_block *block,
                                const double *energies, double *out)
{
    storm_status status = capacity(self, block, out);
    for (size_t i = 0; i < block->n; i++)
        out[i] = energies[i] / out[i];
    return status;
}

static const struct storm_matter gas_matter = {.size =
                                                   sizeof(struct storm_matter),
                                               .opacity = opacity,
                                               .energy = energy,
                                               .heat_capacity = capacity,
                                               .temperature = temperature};

/* ---- the gas ------------------------------------------------------------ */

/* Per cm3. It flows in x alone; the energy is of heat and motion together. */
enum { DENSITY, MOMENTUM, ENERGY, N_Q };
typedef double gas[N_Q];

struct host {
    struct storm_context *context;
    struct storm_mesh *mesh;
    struct storm_imc *imc;
    struct storm_engine *engine;
    storm_cell_idx n; /* cells of this rank */
    gas now[N_CELLS], next[N_CELLS], ghosts[N_CELLS];
    double values[N_CELLS], push[N_CELLS][3];
    int step;
    double start_erg, error;
};

static double motion(const gas g)
{
    return 0.5 * g[MOMENTUM] * g[MOMENTUM] / g[DENSITY];
}

static void begin(struct host *h, storm_cell_idx i)
{
    double centre[3], *g = h->now[i];
    storm_mesh_centre(h->mesh, i, centre);
    g[DENSITY] = centre[1] < 0.1 ? 10.0 : 13.0;
    g[MOMENTUM] = g[DENSITY] * (centre[0] < 0.4 ? speed : -speed);
    g[ENERGY] = heat * g[DENSITY] * 0.3 + motion(g);
}

/* The flow through a face with normal +x or -x; the speed of its waves. */
static double flow(const gas g, double normal, gas out)
{
    double pressure = (gamma_gas - 1.0) * (g[ENERGY] - motion(g));
    double v = g[MOMENTUM] / g[DENSITY] * normal;
    out[DENSITY] = g[DENSITY] * v;
    out[MOMENTUM] = g[MOMENTUM] * v + pressure * normal;
    out[ENERGY] = (g[ENERGY] + pressure) * v;
    return fabs(v) + sqrt(gamma_gas * pressure / g[DENSITY]);
}

static void move_cell(struct host *h, storm_cell_idx i)
{
    const double *g = h->now[i];
    const gas mirrored = {g[DENSITY], -g[MOMENTUM], g[ENERGY]};
    gas sum = {0.0}, a, b;
    for (int k = 0; k < storm_mesh_n_faces(h->mesh, i); k++) {
        struct storm_face face = STORM_FACE_INIT;
        storm_mesh_face(h->mesh, i, k, &face);
        if (face.normal[0] == 0.0)
            continue;
        const double *other = face.rank < 0     ? mirrored
                              : face.ghost >= 0 ? h->ghosts[face.ghost]
                                                : h->now[face.neighbour];
        double wave = flow(g, face.normal[0], a);
        wave = fmax(wave, flow(other, face.normal[0], b));
        for (int q = 0; q < N_Q; q++)
            sum[q] += 0.5 * face.area_cm2 *
                      ((a[q] + b[q]) - wave * (other[q] - g[q]));
    }
    for (int q = 0; q < N_Q; q++)
        h->next[i][q] =
            g[q] - dt_s / storm_mesh_volume_cm3(h->mesh, i) * sum[q];
}

static storm_status move(struct host *h)
{
    storm_status status =
        storm_mesh_ghosts(h->mesh, sizeof(gas), h->now, h->ghosts);
    for (storm_cell_idx i = 0; i < h->n && status >= 0; i++)
        move_cell(h, i);
    memcpy(h->now, h->next, sizeof h->now);
    return storm_context_agree(h->context, status);
}

/* ---- coupling ----------------------------------------------------------- */

/* Density and heat to the library, by local cell. */
static storm_status give(struct host *h)
{
    for (storm_cell_idx i = 0; i < h->n; i++)
        h->values[i] = h->now[i][DENSITY];
    storm_status status = storm_imc_set(h->imc, STORM_IMC_DENSITY, h->values);
    for (storm_cell_idx i = 0; i < h->n; i++)
        h->values[i] = h->now[i][ENERGY] - motion(h->now[i]);
    return status < 0
               ? status
               : storm_imc_set(h->imc, STORM_IMC_MATERIAL_ENERGY, h->values);
}

/* A step of radiation; the heat that is left, and the push. */
static storm_status transport(struct host *h)
{
    storm_status status = storm_imc_set_step(h->imc, h->step++ * dt_s, dt_s);
    if (status >= 0)
        status = storm_engine_step(h->engine);
    if (status >= 0)
        status = storm_imc_get(h->imc, h->engine, STORM_IMC_MATERIAL_ENERGY,
                               h->values);
    if (status >= 0)
        status = storm_imc_get_moment(h->imc, STORM_IMC_MOMENTUM, h->push[0]);
    for (storm_cell_idx i = 0; i < h->n && status >= 0; i++) {
        h->now[i][ENERGY] = h->values[i] + motion(h->now[i]);
        h->now[i][MOMENTUM] +=
            h->push[i][0] / storm_mesh_volume_cm3(h->mesh, i);
    }
    return storm_context_agree(h->context, status);
}

/* Total energy, and how far it is from that of the start. */
static storm_status report(struct host *h)
{
    struct storm_imc_energies e = STORM_IMC_ENERGIES_INIT;
    double sums[2] = {0.0, 0.0}; /* motion; how hard radiation has pushed */
    for (storm_cell_idx i = 0; i < h->n; i++) {
        sums[0] += motion(h->now[i]) * storm_mesh_volume_cm3(h->mesh, i);
        sums[1] += fabs(h->push[i][0]);
    }
    storm_status status =
        storm_context_reduce(h->context, sums, 2, MPI_DOUBLE, MPI_SUM);
    if (status >= 0)
        status = storm_imc_energy(h->imc, h->engine, &e);
    double total = e.matter_erg + e.radiation_erg + sums[0];
    if (h->step == 0)
        h->start_erg = total;
    h->error = fmax(h->error, fabs(total - h->start_erg) / h->start_erg);
    h->error = fmax(h->error, e.error);
    if (status >= 0 && storm_context_rank(h->context) == 0)
        printf("%3d  heat %.6e  motion %.6e  radiation %.6e  total %.12e erg  "
               "by the host %+.3e  push %.2e g cm/s\n",
               h->step, e.matter_erg, sums[0], e.radiation_erg, total,
               e.host_erg, sums[1]);
    return status;
}

static storm_status open_host(struct host *h)
{
    const struct storm_material material = {.matter = &gas_matter};
    const struct storm_region everywhere = {.material = 0};
    const struct storm_wall_part mirror = {.kind = STORM_WALL_REFLECT};
    const struct storm_cart_params cart = {
        .size = sizeof cart, .hi_cm = {0.8, 0.2, 0.05}, .n = {N_X, N_Y, 1}};
    struct storm_problem problem = {STORM_PROBLEM_SIZES,
                                    .light_cm_s = 2.99792458e10,
                                    .radiation_erg_cm3_kev4 = 1.3720172e14,
                                    .hi_cm = {0.8, 0.2, 0.05},
                                    .materials = &material,
                                    .n_materials = 1,
                                    .regions = &everywhere,
                                    .n_regions = 1,
                                    .n_groups = 1,
                                    .emit_per_cell = 50,
                                    .max_per_cell = 200,
                                    .seed = 1};
    const struct storm_engine_params engine = {
        .size = sizeof engine, .record_bytes = sizeof(struct storm_packet)};
    storm_cell_idx n_ghosts;
    for (int wall = 0; wall < STORM_N_WALLS; wall++)
        problem.walls[wall] = (struct storm_wall){&mirror, 1};
    storm_status status = storm_mesh_create_cart(h->context, &cart, &h->mesh);
    if (status >= 0)
        status = storm_imc_create(h->context, h->mesh, &problem, &h->imc);
    if (status >= 0)
        status = storm_engine_create(h->context, &engine, &h->engine);
    if (status >= 0)
        status = storm_imc_attach(h->imc, h->engine);
    if (status >= 0)
        status = storm_imc_request(h->imc, STORM_IMC_MOMENTUM);
    return status < 0 ? status : storm_mesh_n_ghosts(h->mesh, &n_ghosts);
}

int main(int argc, char **argv)
{
    static struct host h;
    uint64_t hash = 0;
    storm_status (*const parts[])(struct host *) = {give, report, transport,
                                                    move};
    MPI_Init(&argc, &argv);
    storm_status status =
        storm_context_create(MPI_COMM_WORLD, NULL, &h.context);
    if (status >= 0)
        status = open_host(&h);
    h.n = status >= 0 ? storm_mesh_n_cells(h.mesh) : 0;
    for (storm_cell_idx i = 0; i < h.n; i++)
        begin(&h, i);
    for (int k = 0; k < 4 * N_STEPS && status >= 0; k++)
        status = parts[k % 4](&h);
    if (status >= 0)
        status = storm_imc_hash(h.imc, h.engine, &hash);
    if (status >= 0 && storm_context_rank(h.context) == 0)
        printf("host: energy closes to %.1e, hash %016" PRIx64 "\n", h.error,
               hash);
    storm_engine_destroy(h.engine);
    storm_imc_destroy(h.imc);
    storm_mesh_destroy(h.mesh);
    storm_context_destroy(h.context);
    MPI_Finalize();
    return status < 0 || h.error > 1e-13;
}
