/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3 4; timeout: 60 */
/*
 * What a host does between steps, through public headers alone: it saves the
 * state of implicit Monte Carlo, loads it on other numbers of ranks, and the
 * run ends with the same hash and accounts, also after the host has set
 * density, emission, composition and materials. And the fields of the cells:
 * deposited minus emitted is the gain of the material, and agrees with the
 * accounts. Boxes and Voronoi cells.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>
#include <storm/engine.h>
#include <storm/imc.h>
#include <storm/mesh.h>
#include <storm/problem.h>
#include <storm/streaming.h>
#include <storm/voronoi.h>

#include "support/check.h"
#include "support/imc_box.h"

enum { STEPS_BEFORE = 3, STEPS = 6, POINTS = 400, ACCOUNTS = 4 };
static const double step_s = 0.05;

static const struct storm_material materials[] = {
    {.name = "thick",
     .absorption = {.coef = 30, .max = 1e12},
     .heat_capacity = {.coef = 4, .max = 1e12},
     .temperature_kev = 0.5,
     .radiation_temperature_kev = -1},
    {.name = "thin",
     .absorption = {.coef = 2, .t_exp = -1, .max = 50},
     .scattering = {.coef = 3, .max = 1e12},
     .heat_capacity = {.coef = 1, .max = 1e12},
     .temperature_kev = 0.1,
     .radiation_temperature_kev = -1},
};
static const struct storm_problem problem = {
    STORM_PROBLEM_SIZES,
    .light_cm_s = 1,
    .radiation_erg_cm3_kev4 = 1,
    .hi_cm = {1, 1, 1},
    .materials = materials,
    .n_materials = 2,
    .regions = imc_box_regions,
    .n_regions = IMC_BOX_REGIONS,
    .n_groups = 1,
    .emit_per_cell = 4,
    .min_per_cell = 2,
    .max_per_cell = 12,
    .comb = true,
    .seed = 5,
};

/* ---- a host ------------------------------------------------------------- */

/* Rank 0 gives all points: the mesh is the same for any number of ranks. */
static void host_voronoi(struct imc_box *host)
{
    static double points[3 * POINTS];
    const struct storm_points_params set = {
        .size = sizeof set, .seed = 3, .n_total = POINTS, .hi_cm = {1, 1, 1}};
    struct storm_voronoi_params params = {
        .size = sizeof params, .hi_cm = {1, 1, 1}, .points_cm = points};
    CHECK_OK(storm_points_make(&set, 0, POINTS, points));
    params.n_points = storm_context_rank(host->context) == 0 ? POINTS : 0;
    CHECK_OK(storm_mesh_create_voronoi(host->context, &params, &host->mesh));
}

/* Boxes, Voronoi cells, and boxes that the host sets fields of. */
enum kind { BOXES, VORONOI, SET, KINDS };

/* Sets all that can be set; cells of both materials change places. */
static void host_set(struct imc_box *host)
{
    static const storm_imc_field fields[] = {
        STORM_IMC_DENSITY, STORM_IMC_EMISSION, STORM_IMC_COMPOSITION,
        STORM_IMC_TEMPERATURE, STORM_IMC_MATERIAL};
    size_t n = (size_t)storm_mesh_n_cells(host->mesh);
    double *values = malloc((2 * n + 1) * sizeof *values);
    CHECK(values != NULL);
    for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++) {
        CHECK_OK(storm_imc_get(host->imc, host->engine, fields[f], values));
        for (size_t i = 0; i < n; i++) {
            storm_cell_id id =
                storm_mesh_cell_id(host->mesh, (storm_cell_idx)i);
            double by = 1.0 + (double)(id % 17) / 17.0;
            if (fields[f] == STORM_IMC_COMPOSITION)
                values[2 * i] = values[2 * i + 1] = by;
            else if (fields[f] != STORM_IMC_MATERIAL)
                values[i] *= by;
            else if (values[i] >= 0.0 && id % 5 == 0)
                values[i] = 1.0 - values[i];
        }
        CHECK_OK(storm_imc_set(host->imc, fields[f], values));
    }
    free(values);
}

static struct imc_box host_open(MPI_Comm comm, enum kind kind)
{
    struct imc_box host = {.problem = problem};
    host.problem.n_components = kind == SET ? 2 : 0;
    const struct storm_cart_params cart = {
        .size = sizeof cart, .hi_cm = {1, 1, 1}, .n = {8, 7, 6}};
    CHECK_OK(storm_context_create(comm, NULL, &host.context));
    if (kind == VORONOI)
        host_voronoi(&host);
    else
        CHECK_OK(storm_mesh_create_cart(host.context, &cart, &host.mesh));
    imc_box_open(&host);
    return host;
}

/* The result of a run. */
struct result {
    uint64_t hash;
    double energy[ACCOUNTS], error;
    struct storm_imc_energies all;
};

static struct result host_result(struct imc_box *host)
{
    struct result result;
    CHECK_OK(storm_imc_hash(host->imc, host->engine, &result.hash));
    CHECK_OK(storm_imc_balance(host->imc, host->engine, result.energy,
                               &result.error));
    CHECK(result.error <= 1e-13);
    result.all = (struct storm_imc_energies)STORM_IMC_ENERGIES_INIT;
    CHECK_OK(storm_imc_energy(host->imc, host->engine, &result.all));
    CHECK(result.all.error <= 1e-13);
    return result;
}

static void check_same(const struct result *a, const struct result *b)
{
    CHECK_EQ(a->hash, b->hash);
    CHECK(memcmp(a->energy, b->energy, sizeof a->energy) == 0);
    CHECK(memcmp(&a->all, &b->all, sizeof a->all) == 0);
}

/* ---- saving and loading ------------------------------------------------- */

/* All of a run, on every rank. */
struct saved {
    uint64_t version;
    double *cells; /* by id */
    int64_t *accounts;
    struct storm_packet *packets;
    size_t n_packets;
};

/* The bytes of all ranks in order of rank, on every rank; releases `mine`. */
static void *gather(const struct imc_box *host, void *mine, size_t bytes,
                    size_t *bytes_out)
{
    MPI_Comm comm = storm_context_comm(host->context);
    int size = storm_context_size(host->context), n = (int)bytes, sum = 0;
    int *counts = malloc(2 * (size_t)size * sizeof *counts);
    CHECK(counts != NULL);
    MPI_Allgather(&n, 1, MPI_INT, counts, 1, MPI_INT, comm);
    for (int r = 0; r < size; r++) {
        counts[size + r] = sum;
        sum += counts[r];
    }
    void *all = malloc((size_t)sum + 1);
    CHECK(all != NULL);
    MPI_Allgatherv(mine, n, MPI_BYTE, all, counts, counts + size, MPI_BYTE,
                   comm);
    free(counts);
    free(mine);
    *bytes_out = (size_t)sum;
    return all;
}

static struct saved save(struct imc_box *host)
{
    struct storm_imc_layout layout = STORM_IMC_LAYOUT_INIT;
    CHECK_OK(storm_imc_state_layout(host->imc, &layout));
    size_t row = layout.cell_values * sizeof(double), bytes, n;
    size_t n_cells = (size_t)storm_mesh_n_cells(host->mesh);
    struct saved saved = {.version = layout.version};
    double *cells = malloc((n_cells + 1) * row);
    saved.accounts =
        malloc(layout.n_accounts * layout.account_words * sizeof(int64_t));
    CHECK(cells != NULL && saved.accounts != NULL);
    CHECK_OK(storm_imc_save_state(host->imc, cells, saved.accounts));
    saved.cells = gather(host, cells, n_cells * row, &bytes);
    CHECK_EQ(bytes, storm_mesh_n_cells_total(host->mesh) * row);

    void *const *packets = storm_engine_packets(host->engine, &n);
    struct storm_packet *mine = malloc((n + 1) * sizeof *mine);
    CHECK(mine != NULL);
    for (size_t i = 0; i < n; i++)
        memcpy(&mine[i], packets[i], sizeof *mine);
    saved.packets = gather(host, mine, n * sizeof *mine, &bytes);
    saved.n_packets = bytes / sizeof *mine;
    return saved;
}

/* Packets are distributed: which rank gets which does not matter. */
static void load(struct imc_box *host, const struct saved *saved)
{
    bool is_root = storm_context_rank(host->context) == 0;
    const double *cells =
        saved->cells + storm_imc_state_values(saved->version) *
                           storm_mesh_cell_id(host->mesh, 0);
    CHECK_EQ(storm_imc_state_values(saved->version + 9), 0);
    CHECK_EQ(storm_imc_load_state(host->imc, saved->version + 9, cells,
                                  saved->accounts),
             STORM_ERR_NOSUP);
    CHECK_OK(storm_imc_load_state(host->imc, saved->version, cells,
                                  is_root ? saved->accounts : NULL));
    for (size_t i = (size_t)storm_context_rank(host->context);
         i < saved->n_packets; i += (size_t)storm_context_size(host->context))
        CHECK_OK(storm_engine_add(host->engine, &saved->packets[i]));
    storm_engine_set_step(host->engine, STEPS_BEFORE);
    host->step = STEPS_BEFORE;
}

static void check_goes_on(MPI_Comm comm, enum kind kind,
                          const struct saved *saved,
                          const struct result *stopped,
                          const struct result *right)
{
    struct imc_box host = host_open(comm, kind);
    load(&host, saved);
    struct result loaded = host_result(&host);
    check_same(&loaded, stopped);
    imc_box_run(&host, step_s, STEPS);
    struct result result = host_result(&host);
    check_same(&result, right);
    imc_box_close(&host);
}

/* Versions of older programs: rows without materials (1) and with them (2), and
 * four accounts. */
static void check_older(const struct saved *saved, const struct result *stopped,
                        const struct result *right)
{
    for (uint64_t version = 1; version <= 2; version++) {
        struct imc_box host = host_open(MPI_COMM_SELF, BOXES);
        size_t n = (size_t)storm_mesh_n_cells(host.mesh);
        size_t from = storm_imc_state_values(saved->version);
        size_t to = storm_imc_state_values(version);
        CHECK(to == 2 + version && from > 3);
        CHECK_EQ(storm_imc_state_accounts(version), ACCOUNTS);
        struct saved older = *saved;
        older.version = version;
        older.cells = malloc(n * to * sizeof(double));
        CHECK(older.cells != NULL);
        for (size_t i = 0; i < n; i++)
            memcpy(&older.cells[to * i], &saved->cells[from * i],
                   to * sizeof(double));
        load(&host, &older);
        CHECK_EQ(host_result(&host).hash, stopped->hash);
        imc_box_run(&host, step_s, STEPS);
        struct result result = host_result(&host);
        CHECK_EQ(result.hash, right->hash);
        CHECK(memcmp(result.energy, right->energy, sizeof result.energy) == 0);
        free(older.cells);
        imc_box_close(&host);
    }
}

/* ---- fields ------------------------------------------------------------- */

enum { FIELDS = STORM_IMC_OUTSIDE + 1 };

struct fields {
    double *value[FIELDS];
};

static struct fields fields_get(struct imc_box *host)
{
    struct fields fields;
    size_t n = (size_t)storm_mesh_n_cells(host->mesh) + 1;
    for (int k = 0; k < FIELDS; k++) {
        fields.value[k] = calloc(n, sizeof(double));
        CHECK(fields.value[k] != NULL);
        CHECK_OK(storm_imc_get(host->imc, host->engine, (storm_imc_field)k,
                               fields.value[k]));
    }
    return fields;
}

static void fields_free(struct fields *fields)
{
    for (int k = 0; k < FIELDS; k++)
        free(fields->value[k]);
}

static void check_cell(const struct imc_box *host, const struct fields *before,
                       const struct fields *after, storm_cell_idx i)
{
    double *const *v = after->value, centre[3];
    storm_mesh_centre(host->mesh, i, centre);
    int material = storm_problem_material(&problem, centre);
    CHECK(v[STORM_IMC_VOLUME][i] == storm_mesh_volume_cm3(host->mesh, i));
    CHECK(v[STORM_IMC_MATERIAL][i] == material);
    CHECK_EQ(storm_imc_material(host->imc, i), material);
    CHECK(v[STORM_IMC_OUTSIDE][i] == (material == STORM_OUTSIDE ? 1.0 : 0.0));
    double gain = v[STORM_IMC_DEPOSITED][i] - v[STORM_IMC_EMITTED][i];
    double energy = before->value[STORM_IMC_MATERIAL_ENERGY][i];
    if (material == STORM_OUTSIDE)
        CHECK(gain == 0.0);
    else
        CHECK(v[STORM_IMC_MATERIAL_ENERGY][i] ==
              energy + gain / v[STORM_IMC_VOLUME][i]);
}

/* One more step: every cell, and the sum against the account. */
static void check_fields(struct imc_box *host)
{
    struct fields before = fields_get(host);
    struct result from = host_result(host);
    imc_box_run(host, step_s, host->step + 1);
    struct fields after = fields_get(host);
    struct result to = host_result(host);
    double sum = 0.0;
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(host->mesh); i++) {
        check_cell(host, &before, &after, i);
        sum += after.value[STORM_IMC_DEPOSITED][i];
    }
    CHECK_OK(storm_context_reduce(host->context, &sum, 1, MPI_DOUBLE, MPI_SUM));
    double booked = to.energy[1] - from.energy[1];
    CHECK(sum > 0.0 && fabs(sum - booked) < 1e-12 * to.energy[1]);
    CHECK_EQ(storm_imc_get(host->imc, host->engine, (storm_imc_field)FIELDS,
                           after.value[0]),
             STORM_ERR_ARG);
    fields_free(&before);
    fields_free(&after);
}

/* ---- all ---------------------------------------------------------------- */

static void check_kind(enum kind kind, MPI_Comm part)
{
    struct imc_box host = host_open(MPI_COMM_WORLD, kind);
    check_where("kind %d, rank %d", (int)kind,
                storm_context_rank(host.context));
    CHECK_OK(storm_imc_start(host.imc, host.engine));
    imc_box_run(&host, step_s, STEPS_BEFORE);
    if (kind == SET)
        host_set(&host);
    struct saved saved = save(&host);
    struct result stopped = host_result(&host);
    imc_box_run(&host, step_s, STEPS);
    struct result right = host_result(&host);
    CHECK(right.hash != stopped.hash);
    if (kind != SET)
        check_fields(&host);
    imc_box_close(&host);

    if (kind == BOXES)
        check_older(&saved, &stopped, &right);
    check_goes_on(MPI_COMM_SELF, kind, &saved, &stopped, &right);
    check_goes_on(part, kind, &saved, &stopped, &right);
    free(saved.cells);
    free(saved.accounts);
    free(saved.packets);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Comm part; /* the first rank, and the others together */
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &part);
    for (int kind = 0; kind < KINDS; kind++)
        check_kind((enum kind)kind, part);
    MPI_Comm_free(&part);
    MPI_Finalize();
    return CHECK_PASS;
}
