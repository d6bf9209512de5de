/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 2 5; timeout: 60 */
/*
 * What a host does to matter between steps (SET-1 to SET-3): density,
 * temperature, energy, composition, emission and materials are set, with the
 * same bits on any number of ranks; the balance of matter and radiation closes,
 * and the host's account is the sum of what it did. Setting what was got
 * changes nothing; wrong values change nothing and are named. A deposit between
 * steps arrives once. A host that updates matter itself as a step would gives
 * the same run.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <storm/matter.h>

#include "support/check.h"
#include "support/imc_box.h"

enum { STEPS = 4, MATERIALS = 3, COMPONENTS = 2 };
static const double step_s = 0.05;

/* ---- matter ------------------------------------------------------------- */

/* The first component makes it opaque, the second adds heat capacity. */
static const struct storm_power_law heat = {
    .coef = 2, .t_exp = 0.5, .rho_exp = 1, .max = 1e300};

static double own_heat(const struct storm_matter_block *block, size_t i)
{
    return 1.0 + block->composition[i * block->n_components + 1];
}

static storm_status own_opacity(void *self,
                                const struct storm_matter_block *block,
                                double *absorption_out, double *scattering_out)
{
    (void)self;
    CHECK_EQ(block->n_components, COMPONENTS);
    for (size_t i = 0; i < block->n; i++) {
        absorption_out[i] =
            block->density_g_cm3[i] *
            (1.0 + 5.0 * block->composition[i * block->n_components]);
        scattering_out[i] = 0.5;
    }
    return STORM_OK;
}

static storm_status own_energy(void *self,
                               const struct storm_matter_block *block,
                               double *energy_out)
{
    (void)self;
    for (size_t i = 0; i < block->n; i++)
        energy_out[i] = own_heat(block, i) *
                        storm_power_law_energy(&heat, block->temperature_kev[i],
                                               block->density_g_cm3[i]);
    return STORM_OK;
}

static storm_status own_capacity(void *self,
                                 const struct storm_matter_block *block,
                                 double *capacity_out)
{
    (void)self;
    for (size_t i = 0; i < block->n; i++)
        capacity_out[i] =
            own_heat(block, i) *
            storm_power_law_capacity(&heat, block->temperature_kev[i],
                                     block->density_g_cm3[i]);
    return STORM_OK;
}

static storm_status own_temperature(void *self,
                                    const struct storm_matter_block *block,
                                    const double *energy,
                                    double *temperature_out)
{
    double max = *(const double *)self;
    for (size_t i = 0; i < block->n; i++) {
        temperature_out[i] =
            storm_power_law_temperature(&heat, energy[i] / own_heat(block, i),
                                        block->density_g_cm3[i]);
        if (temperature_out[i] > max)
            temperature_out[i] = (double)NAN;
    }
    return STORM_OK;
}

/* ---- the problem -------------------------------------------------------- */

static const double own_parts[COMPONENTS] = {0.25, 0.5};
static const struct storm_region regions[] = {
    {.material = 0},
    {.material = 1,
     .shape = {.kind = STORM_SHAPE_SPHERE,
               .centre_cm = {0.5, 0.5, 0.5},
               .radius_cm = {0, 0.45}}},
    {.material = 2,
     .shape = {.kind = STORM_SHAPE_BOX,
               .lo_cm = {0.0, 0.0, 0.0},
               .hi_cm = {0.3, 1, 0.3}}},
    {.material = STORM_OUTSIDE,
     .shape = {.kind = STORM_SHAPE_BOX,
               .lo_cm = {0.8, 0.8, 0.0},
               .hi_cm = {1, 1, 1}}},
};
static double hot_wall[2] = {0.0, 1.2};
static const struct storm_wall_part wall = {.kind = STORM_WALL_BLACKBODY,
                                            .temperature = {hot_wall, 1},
                                            .stop_s = 100,
                                            .packets = 300};

struct messages {
    int n;
    char text[1024];
};

static void collect(void *self, storm_log_level level, int rank,
                    const char *message)
{
    struct messages *messages = self;
    (void)rank;
    if (level != STORM_LOG_ERROR)
        return;
    messages->n++;
    strncpy(messages->text, message, sizeof messages->text - 1);
}

/* A run, and an array of values of its cells. */
struct host {
    struct imc_box box;
    struct messages messages;
    double max_kev; /* above it the matter of the host fails */
    struct storm_matter matter;
    struct storm_material materials[MATERIALS];
    size_t n;
    double *values;
};

static void host_open(struct host *host, MPI_Comm comm, bool matter_by_host)
{
    const struct storm_cart_params cart = {
        .size = sizeof cart, .hi_cm = {1, 1, 1}, .n = {8, 7, 6}};
    struct storm_context_params params = STORM_CONTEXT_PARAMS_INIT;
    memset(host, 0, sizeof *host);
    host->max_kev = 1e9;
    host->matter = (struct storm_matter){.size = sizeof host->matter,
                                         .self = &host->max_kev,
                                         .opacity = own_opacity,
                                         .energy = own_energy,
                                         .heat_capacity = own_capacity,
                                         .temperature = own_temperature};
    const struct storm_material materials[MATERIALS] = {
        {.name = "laws",
         .absorption = {.coef = 3, .t_exp = -1, .rho_exp = 1, .max = 50},
         .heat_capacity = heat,
         .temperature_kev = 0.5,
         .radiation_temperature_kev = -1,
         .density_g_cm3 = 2},
        {.name = "own",
         .matter = &host->matter,
         .composition = own_parts,
         .temperature_kev = 0.3,
         .radiation_temperature_kev = -1},
        {.name = "held",
         .absorption = {.coef = 5, .max = 50},
         .temperature_kev = 0.8,
         .radiation_temperature_kev = -1}};
    memcpy(host->materials, materials, sizeof materials);
    host->box.problem = (struct storm_problem){
        STORM_PROBLEM_SIZES,
        .light_cm_s = 1,
        .radiation_erg_cm3_kev4 = 1,
        .hi_cm = {1, 1, 1},
        .materials = host->materials,
        .n_materials = MATERIALS,
        .regions = regions,
        .n_regions = sizeof regions / sizeof regions[0],
        .walls = {{.parts = &wall, .n = 1}},
        .sources = &imc_box_source,
        .n_sources = 1,
        .n_groups = 1,
        .emit_per_cell = 4,
        .min_per_cell = 2,
        .max_per_cell = 12,
        .comb = true,
        .seed = 5,
        .n_components = COMPONENTS,
        .matter_by_host = matter_by_host,
    };
    params.log = collect;
    params.log_self = &host->messages;
    CHECK_OK(storm_context_create(comm, &params, &host->box.context));
    CHECK_OK(storm_mesh_create_cart(host->box.context, &cart, &host->box.mesh));
    imc_box_open(&host->box);
    host->n = (size_t)storm_mesh_n_cells(host->box.mesh);
    host->values = calloc(host->n * COMPONENTS + 1, sizeof *host->values);
    CHECK(host->values != NULL);
}

static void host_close(struct host *host)
{
    free(host->values);
    imc_box_close(&host->box);
}

static double host_sum(struct host *host, double mine)
{
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_SUM,
                  storm_context_comm(host->box.context));
    return mine;
}

static struct storm_imc_energies host_energy(struct host *host)
{
    struct storm_imc_energies e = STORM_IMC_ENERGIES_INIT;
    CHECK_OK(storm_imc_energy(host->box.imc, host->box.engine, &e));
    CHECK(e.error <= 1e-14);
    double now = e.matter_erg + e.radiation_erg;
    double booked = e.start_erg + e.walls_erg + e.sources_erg + e.host_erg +
                    e.held_erg - e.escaped_erg;
    CHECK(fabs(now - booked) <= 1e-13 * now);
    return e;
}

static void host_get(struct host *host, storm_imc_field field)
{
    CHECK_OK(storm_imc_get(host->box.imc, host->box.engine, field,
                           host->values));
}

static void host_set(struct host *host, storm_imc_field field)
{
    CHECK_OK(storm_imc_set(host->box.imc, field, host->values));
}

/* From 0 to 1, of a cell and a number. */
static double chance(const struct host *host, size_t i, unsigned salt)
{
    uint64_t tag = storm_mesh_cell_id(host->box.mesh, (storm_cell_idx)i) + 1u;
    return (double)(tag * (2654435761u + 2u * salt) % 1009) / 1009.0;
}

/* ---- setting ------------------------------------------------------------ */

/* Everything in turn: more with each step. */
static void disturb(struct host *host, unsigned step)
{
    static const storm_imc_field fields[] = {
        STORM_IMC_DENSITY, STORM_IMC_COMPOSITION, STORM_IMC_TEMPERATURE,
        STORM_IMC_EMISSION, STORM_IMC_MATERIAL_ENERGY};
    for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++) {
        size_t n =
            host->n * (fields[f] == STORM_IMC_COMPOSITION ? COMPONENTS : 1);
        host_get(host, fields[f]);
        for (size_t i = 0; i < n; i++)
            host->values[i] *= 0.75 + 0.5 * chance(host, i * host->n / n,
                                                   7 * step + (unsigned)f);
        host_set(host, fields[f]);
    }
    host_get(host, STORM_IMC_MATERIAL);
    for (size_t i = 0; i < host->n; i++)
        if (host->values[i] >= 0.0 && chance(host, i, step + 99) < 0.05)
            host->values[i] = (double)(((int)host->values[i] + 1) % 4);
    host_set(host, STORM_IMC_MATERIAL);
}

/* SET-2, SET-3: what is set is there, and booked. */
static void check_set(struct host *host)
{
    double before = imc_box_total(&host->box, STORM_IMC_MATERIAL_ENERGY);
    struct storm_imc_energies from = host_energy(host), to;
    uint64_t hash = imc_box_hash(&host->box);
    static const storm_imc_field fields[] = {
        STORM_IMC_DENSITY,  STORM_IMC_COMPOSITION,     STORM_IMC_TEMPERATURE,
        STORM_IMC_EMISSION, STORM_IMC_MATERIAL_ENERGY, STORM_IMC_MATERIAL};
    for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++) {
        host_get(host, fields[f]);
        host_set(host, fields[f]);
        CHECK_EQ(imc_box_hash(&host->box), hash);
    }
    disturb(host, 77);
    CHECK(imc_box_hash(&host->box) != hash);
    to = host_energy(host);
    double after = imc_box_total(&host->box, STORM_IMC_MATERIAL_ENERGY);
    CHECK(fabs((to.host_erg - from.host_erg) - (after - before)) <=
          1e-12 * after);
    CHECK(to.host_erg != from.host_erg);
    /* Denser matter of the same energy is colder, and keeps its energy. */
    double warm = imc_box_total(&host->box, STORM_IMC_TEMPERATURE);
    host_get(host, STORM_IMC_DENSITY);
    for (size_t i = 0; i < host->n; i++)
        host->values[i] *= 2.0;
    host_set(host, STORM_IMC_DENSITY);
    CHECK(host_energy(host).host_erg == to.host_erg);
    CHECK(imc_box_total(&host->box, STORM_IMC_TEMPERATURE) < 0.8 * warm);
}

/* Eq. (33), in the cells that have laws. */
static void check_emission(void)
{
    const double k = 3.0, t = 0.5, rho = 2.0, sigma = 3.0 / t * rho;
    double capacity = storm_power_law_capacity(&heat, t, rho);
    double beta = k * 4.0 * (t * t * t) / capacity;
    double fleck = 1.0 / (1.0 + beta * sigma * step_s);
    struct host host;
    host_open(&host, MPI_COMM_WORLD, false);
    for (size_t i = 0; i < host.n; i++)
        host.values[i] = k;
    host_set(&host, STORM_IMC_EMISSION);
    host_get(&host, STORM_IMC_HEAT_CAPACITY);
    for (size_t i = 0; i < host.n; i++)
        if (storm_imc_material(host.box.imc, (storm_cell_idx)i) == 0)
            CHECK(host.values[i] == capacity);
    imc_box_run(&host.box, step_s, 1);
    host_get(&host, STORM_IMC_EMITTED);
    for (size_t i = 0; i < host.n; i++) {
        double volume = storm_mesh_volume_cm3(host.box.mesh, (storm_cell_idx)i);
        double right = fleck * sigma * k * (t * t * t * t) * step_s * volume;
        if (storm_imc_material(host.box.imc, (storm_cell_idx)i) == 0)
            CHECK(fabs(host.values[i] - right) <= 1e-12 * right);
    }
    (void)host_energy(&host);
    host_close(&host);
}

static uint64_t run_disturbed(MPI_Comm comm, struct storm_imc_energies *e_out)
{
    struct host host;
    host_open(&host, comm, false);
    disturb(&host, 50); /* the start: none of it is the host's account */
    CHECK(host_energy(&host).host_erg == 0.0);
    CHECK_OK(storm_imc_start(host.box.imc, host.box.engine));
    for (unsigned step = 0; step < STEPS; step++) {
        imc_box_run(&host.box, step_s, step + 1);
        disturb(&host, step);
        (void)host_energy(&host);
    }
    imc_box_run(&host.box, step_s, STEPS + 1);
    uint64_t hash = imc_box_hash(&host.box);
    *e_out = host_energy(&host);
    check_set(&host);
    host_close(&host);
    return hash;
}

/* ---- wrong values ------------------------------------------------------- */

static const struct {
    storm_imc_field field;
    double value;
    int cell; /* of these materials */
    const char *message;
} wrongs[] = {
    {STORM_IMC_DENSITY, 0.0, 0, "density of cell"},
    {STORM_IMC_DENSITY, -1.0, 0,
     "expected a number above 0 up to 1e300, got -1"},
    {STORM_IMC_DENSITY, (double)NAN, 1, "density"},
    {STORM_IMC_TEMPERATURE, (double)NAN, 2, "temperature"},
    {STORM_IMC_TEMPERATURE, 1e31, 1, "expected a number from 0 to 1e30"},
    {STORM_IMC_MATERIAL_ENERGY, -1.0, 0, "energy"},
    {STORM_IMC_MATERIAL_ENERGY, 1.0, 2, "expected 0, as its temperature is"},
    {STORM_IMC_MATERIAL_ENERGY, 1e30, 1, "the temperature of material 1 (own)"},
    {STORM_IMC_EMISSION, (double)INFINITY, 0, "emission"},
    {STORM_IMC_MATERIAL, -1.0, 0, "expected the index of a material"},
    {STORM_IMC_MATERIAL, 0.5, 0, "got 0.5"},
    {STORM_IMC_MATERIAL, 0.0, STORM_OUTSIDE, "-1 where it is outside"},
    {STORM_IMC_VOLUME, 1.0, 0, "cannot be set"},
};

static void check_wrong(struct host *host, size_t k)
{
    uint64_t hash = imc_box_hash(&host->box);
    double host_erg = host_energy(host).host_erg;
    bool is_wrong = false;
    check_where("wrong value %zu", k);
    host_get(host, wrongs[k].field);
    /* One on each rank that has such a cell: one rank reports it. */
    for (size_t i = 0; i < host->n; i++)
        if (!is_wrong && storm_imc_material(host->box.imc, (storm_cell_idx)i) ==
                             wrongs[k].cell) {
            host->values[i] = wrongs[k].value;
            is_wrong = true;
        } else {
            host->values[i] *= wrongs[k].field == STORM_IMC_DENSITY ? 2.0 : 1.0;
        }
    host->max_kev = 1e3;
    host->messages = (struct messages){0};
    storm_status status =
        storm_imc_set(host->box.imc, wrongs[k].field, host->values);
    host->max_kev = 1e9;
    CHECK(status == (is_wrong ? STORM_ERR_ARG : STORM_ERR_PEER) ||
          status == STORM_ERR_ARG);
    CHECK(host_sum(host, host->messages.n) == 1.0);
    CHECK(host->messages.n == 0 ||
          strstr(host->messages.text, wrongs[k].message) != NULL);
    CHECK_EQ(imc_box_hash(&host->box), hash);
    CHECK(host_energy(host).host_erg == host_erg);
}

/* SET-1: empty cells that get matter, while that of others fails, keep density,
 * emission and composition. */
static void check_restored(struct host *host)
{
    host_get(host, STORM_IMC_EMISSION);
    for (size_t i = 0; i < host->n; i++)
        host->values[i] *= 2.0;
    host_set(host, STORM_IMC_EMISSION);
    host_get(host, STORM_IMC_MATERIAL);
    for (size_t i = 0; i < host->n; i++)
        if (host->values[i] == 0.0 && chance(host, i, 4) < 0.5)
            host->values[i] = MATERIALS;
    host_set(host, STORM_IMC_MATERIAL);
    uint64_t hash = imc_box_hash(&host->box);
    for (size_t i = 0; i < host->n; i++)
        host->values[i] = host->values[i] == MATERIALS ? 0.0
                          : host->values[i] == 0.0     ? 1.0
                                                       : host->values[i];
    host->max_kev = 1e-9;
    CHECK(storm_imc_set(host->box.imc, STORM_IMC_MATERIAL, host->values) < 0);
    host->max_kev = 1e9;
    CHECK_EQ(imc_box_hash(&host->box), hash);
}

/* ---- deposits ----------------------------------------------------------- */

static void check_deposit(struct host *host)
{
    double before = imc_box_total(&host->box, STORM_IMC_MATERIAL_ENERGY);
    struct storm_imc_energies from = host_energy(host);
    double given = 0.0;
    for (size_t i = 0; i < host->n; i++) {
        int m = storm_imc_material(host->box.imc, (storm_cell_idx)i);
        double weight = 1e-3 * chance(host, i, 3);
        storm_imc_deposit(host->box.imc, (storm_cell_idx)i, weight);
        given += m == 0 || m == 1 ? weight : 0.0;
    }
    given = host_sum(host, given);
    double after = imc_box_total(&host->box, STORM_IMC_MATERIAL_ENERGY);
    CHECK(fabs(after - before - given) <= 1e-12 * after);
    CHECK(fabs(host_energy(host).host_erg - from.host_erg - given) <=
          1e-13 * after);
    imc_box_run(&host->box, step_s, host->box.step + 1);
    (void)host_energy(host); /* and not once more in the step */

    /* What matter cannot give ends the next step. */
    for (size_t i = 0; i < host->n; i++)
        if (storm_imc_material(host->box.imc, (storm_cell_idx)i) == 0)
            storm_imc_deposit(host->box.imc, (storm_cell_idx)i, -1e9);
    host->messages = (struct messages){0};
    CHECK_OK(storm_imc_set_step(host->box.imc, 1.0, step_s));
    CHECK(storm_engine_step(host->box.engine) < 0);
    CHECK(host_sum(host, host->messages.n) == 1.0);
    CHECK(host->messages.n == 0 ||
          strstr(host->messages.text, "cannot take -1e+09 erg") != NULL);
}

/* ---- the host updates matter -------------------------------------------- */

/* What a step does, eq. (9). */
static void update(struct host *host)
{
    double *deposited = calloc(3 * host->n + 1, sizeof *deposited);
    CHECK(deposited != NULL);
    double *emitted = deposited + host->n, *volume = emitted + host->n;
    struct storm_imc *imc = host->box.imc;
    struct storm_engine *engine = host->box.engine;
    CHECK_OK(storm_imc_get(imc, engine, STORM_IMC_DEPOSITED, deposited));
    CHECK_OK(storm_imc_get(imc, engine, STORM_IMC_EMITTED, emitted));
    CHECK_OK(storm_imc_get(imc, engine, STORM_IMC_VOLUME, volume));
    host_get(host, STORM_IMC_MATERIAL_ENERGY);
    for (size_t i = 0; i < host->n; i++) {
        if (storm_imc_is_held(imc, storm_imc_material(imc, (storm_cell_idx)i)))
            continue;
        double energy =
            host->values[i] + (deposited[i] - emitted[i]) / volume[i];
        host->values[i] = energy > 0.0 ? energy : 0.0;
    }
    host_set(host, STORM_IMC_MATERIAL_ENERGY);
    free(deposited);
}

static void check_by_host(void)
{
    struct host host[2];
    for (int k = 0; k < 2; k++) {
        host_open(&host[k], MPI_COMM_WORLD, k == 1);
        CHECK_OK(storm_imc_start(host[k].box.imc, host[k].box.engine));
        for (unsigned step = 0; step < STEPS; step++) {
            imc_box_run(&host[k].box, step_s, step + 1);
            if (k == 1) {
                CHECK(fabs(host_energy(&host[k]).host_erg) > 1e-3);
                update(&host[k]);
            }
        }
    }
    struct storm_imc_energies e[2] = {host_energy(&host[0]),
                                      host_energy(&host[1])};
    CHECK_EQ(imc_box_hash(&host[0].box), imc_box_hash(&host[1].box));
    CHECK(e[0].host_erg == 0.0);
    CHECK(fabs(e[1].host_erg) <= 1e-14 * e[1].matter_erg);
    CHECK(e[0].matter_erg == e[1].matter_erg);
    for (int k = 0; k < 2; k++)
        host_close(&host[k]);
}

int main(int argc, char **argv)
{
    struct storm_imc_energies right, e;
    struct host host;
    MPI_Init(&argc, &argv);
    uint64_t hash = run_disturbed(MPI_COMM_SELF, &right);
    CHECK_EQ(run_disturbed(MPI_COMM_WORLD, &e), hash);
    CHECK(memcmp(&e, &right, sizeof e) == 0);
    CHECK(e.walls_erg > 0.0 && e.sources_erg > 0.0 && e.escaped_erg > 0.0 &&
          e.held_erg != 0.0 && e.host_erg != 0.0);
    check_emission();
    check_by_host();
    host_open(&host, MPI_COMM_WORLD, false);
    CHECK_OK(storm_imc_start(host.box.imc, host.box.engine));
    imc_box_run(&host.box, step_s, 2);
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++)
        check_wrong(&host, i);
    check_where("%s", "");
    check_restored(&host);
    check_deposit(&host);
    host_close(&host);
    MPI_Finalize();
    return CHECK_PASS;
}
