/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 2; timeout: 60 */
/*
 * CHECK-1, CHECK-2: a table of bad problems. Each is refused by
 * storm_imc_create on all ranks, with messages of one rank that name the member
 * and what was expected; none crashes, hangs or passes. So is one that differs
 * between ranks. Good ones run a step, and a step that is not set, or set to
 * nonsense, is an error, logged once where all ranks have it and by the rank
 * that has it alone. The same for the parameters and packets of free streaming.
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <mpi.h>

#include <storm/context.h>
#include <storm/imc.h>
#include <storm/streaming.h>

#include "support/check.h"

/* ---- messages ----------------------------------------------------------- */

struct messages {
    int n;
    char text[4096];
};

static void collect(void *self, storm_log_level level, int rank,
                    const char *message)
{
    struct messages *m = self;
    size_t used = strlen(m->text);
    (void)rank;
    if (level != STORM_LOG_ERROR)
        return;
    m->n++;
    snprintf(m->text + used, sizeof m->text - used, "%s\n", message);
}

/* ---- a good problem ----------------------------------------------------- */

struct given {
    double curve[4];
    struct storm_material materials[2];
    struct storm_region regions[2];
    struct storm_wall_part parts[2];
    struct storm_source source;
    struct storm_problem problem;
};

static void fill(struct given *g)
{
    memset(g, 0, sizeof *g);
    memcpy(g->curve, (double[]){0, 1, 1, 2}, sizeof g->curve);
    for (int i = 0; i < 2; i++)
        g->materials[i] =
            (struct storm_material){.absorption = {.coef = 1, .max = 9},
                                    .heat_capacity = {.coef = 1, .max = 9},
                                    .temperature_kev = 0.5,
                                    .radiation_temperature_kev = -1};
    g->regions[1] =
        (struct storm_region){.material = 1,
                              .shape = {.kind = STORM_SHAPE_SPHERE,
                                        .centre_cm = {0.5, 0.5, 0.5},
                                        .radius_cm = {0, 0.3}}};
    g->parts[1] = (struct storm_wall_part){
        .kind = STORM_WALL_BLACKBODY,
        .temperature = {.points = g->curve, .n = 2},
        .stop_s = STORM_UNLIMITED,
        .packets = 10,
        .shape = {.kind = STORM_SHAPE_BOX, .hi_cm = {1, 1, 0.5}}};
    g->parts[1].shape.lo_cm[0] = -1;
    g->source = (struct storm_source){
        .power_erg_cm3_s = 1, .stop_s = 1, .packets = 10, .temperature_kev = 1};
    g->problem = (struct storm_problem){
        STORM_PROBLEM_SIZES,
        .light_cm_s = 1,
        .radiation_erg_cm3_kev4 = 1,
        .hi_cm = {1, 1, 1},
        .materials = g->materials,
        .n_materials = 2,
        .regions = g->regions,
        .n_regions = 2,
        .walls = {{.parts = g->parts, .n = 2}, {.parts = g->parts}},
        .sources = &g->source,
        .n_sources = 1,
        .n_groups = 2,
        .group_min_kev = 0.1,
        .group_max_kev = 10,
        .emit_per_cell = 2,
        .min_per_cell = 1,
        .max_per_cell = 4,
    };
}

/* ---- the table ---------------------------------------------------------- */

/* A member of the good problem that gets another value. */
struct change {
    enum { END, IS_REAL, IS_COUNT, IS_INT, IS_TEXT } kind;
    size_t offset;
    double real;
    uint64_t count;
    int integer;
    const char *text;
};
#define AT(_member) offsetof(struct given, _member)
#define REAL(_member, _value)                                  \
    {                                                          \
        .kind = IS_REAL, .offset = AT(_member), .real = _value \
    }
#define COUNT(_member, _value)                                   \
    {                                                            \
        .kind = IS_COUNT, .offset = AT(_member), .count = _value \
    }
#define INT(_member, _value)                                     \
    {                                                            \
        .kind = IS_INT, .offset = AT(_member), .integer = _value \
    }
/* A pointer: all bits zero. */
#define TEXT(_member, _value)                                  \
    {                                                          \
        .kind = IS_TEXT, .offset = AT(_member), .text = _value \
    }
#define NOTHING(_member) COUNT(_member, 0)

/* What the message has in it; "": the problem is good. */
static const struct row {
    const char *message;
    struct change change[4];
} rows[] = {
    {"", {{0}}},
    {"",
     {COUNT(problem.n_groups, 1), REAL(problem.group_min_kev, 0),
      REAL(problem.group_max_kev, 0)}},
    {"", {COUNT(problem.n_sources, 0), NOTHING(problem.sources)}},
    {"",
     {COUNT(problem.n_materials, 0), NOTHING(problem.materials),
      COUNT(problem.n_regions, 0)}},
    {"",
     {REAL(materials[0].absorption.coef, 0),
      REAL(materials[0].absorption.max, 0)}},
    {"", {INT(regions[0].material, STORM_OUTSIDE)}},
    {"", {INT(parts[0].kind, STORM_WALL_REFLECT)}},
    {"size: expected what STORM_PROBLEM_INIT sets, got 0",
     {COUNT(problem.size, 0)}},
    {"material_size: expected the size", {COUNT(problem.material_size, 0)}},
    {"walls[0].wall_part_size: expected the size",
     {COUNT(problem.wall_part_size, 3)}},
    {"light_cm_s: expected a number above 0", {REAL(problem.light_cm_s, 0)}},
    {"light_cm_s: expected", {REAL(problem.light_cm_s, (double)NAN)}},
    {"radiation_erg_cm3_kev4: expected",
     {REAL(problem.radiation_erg_cm3_kev4, 0)}},
    {"hi_cm: expected a number", {REAL(problem.hi_cm[1], (double)NAN)}},
    {"hi_cm, lo_cm: expected lo below hi", {REAL(problem.hi_cm[1], -1)}},
    {"lo_cm, hi_cm: expected the box of the mesh", {REAL(problem.hi_cm[2], 2)}},
    {"materials: expected an array of 2, got NULL",
     {NOTHING(problem.materials)}},
    {"materials[1].absorption.coef: expected",
     {REAL(materials[1].absorption.coef, (double)NAN)}},
    {"materials[1].absorption.coef: expected",
     {REAL(materials[1].absorption.coef, -1)}},
    {"materials[1].absorption.max: expected a number above 0, as coef",
     {REAL(materials[1].absorption.max, 0)}},
    {"materials[0].absorption.max, min: expected min not above max",
     {REAL(materials[0].absorption.min, 10)}},
    {"materials[0].scattering.t_exp: expected",
     {REAL(materials[0].scattering.t_exp, (double)INFINITY)}},
    {"materials[0].absorption.e_exp: expected 0, as there is one group",
     {COUNT(problem.n_groups, 1), REAL(materials[0].absorption.e_exp, -3)}},
    {"heat_capacity.t_exp: expected a number above -1",
     {REAL(materials[0].heat_capacity.t_exp, -1)}},
    {"scattering.rho_exp: expected a number from -100 to 100",
     {REAL(materials[0].scattering.rho_exp, 101)}},
    {"density_g_cm3: expected a number from 0",
     {REAL(materials[0].density_g_cm3, -1)}},
    {"density_g_cm3: expected",
     {REAL(materials[0].density_g_cm3, (double)NAN)}},
    {"heat_capacity.max: expected", {REAL(materials[0].heat_capacity.max, 0)}},
    {"[0].temperature_kev: expect", {REAL(materials[0].temperature_kev, -1)}},
    {"temperature_kev", {REAL(materials[0].temperature_kev, (double)NAN)}},
    {"[0].radiation_temperature_kev: expected",
     {REAL(materials[0].radiation_temperature_kev, (double)NAN)}},
    {"materials[0].temperature_formula: expected a formula: column 1:",
     {TEXT(materials[0].temperature_formula, "t")}},
    {"[0].radiation_temperature_formula: expected a formula: column 3:",
     {TEXT(materials[0].radiation_temperature_formula, "x+")}},
    {"materials[0].density_formula: expected a formula: column 1: expected a",
     {TEXT(materials[0].density_formula, ")")}},
    {"parts[1].temperature_formula: expected a formula: column 1: expected",
     {TEXT(parts[1].temperature_formula, "x")}},
    {"materials[0].scattering_law: expected a law of scattering, got 7",
     {INT(materials[0].scattering_law, 7)}},
    {"materials[0].electrons_per_g: expected a number from 0 to 1e+30",
     {REAL(materials[0].electrons_per_g, (double)NAN)}},
    {"materials[0].scattering_law, electrons_per_g: expected electrons",
     {INT(materials[0].scattering_law, STORM_SCATTER_COMPTON)}},
    {"", /* electrons alone */
     {INT(materials[0].scattering_law, STORM_SCATTER_COMPTON),
      REAL(materials[0].electrons_per_g, 3e23)}},
    {"materials[0].scattering_law, scattering: expected a coefficient that",
     {INT(materials[0].scattering_law, STORM_SCATTER_COMPTON),
      REAL(materials[0].electrons_per_g, 3e23),
      REAL(materials[0].scattering.e_exp, -1)}},
    {"sources[0].temperature_kev: expected a number above 0", /* grey */
     {COUNT(problem.n_groups, 1),
      INT(materials[0].scattering_law, STORM_SCATTER_USER),
      REAL(source.energy_kev, 0), REAL(source.temperature_kev, 0)}},
    {"regions: expected an array of 2, got NULL", {NOTHING(problem.regions)}},
    {"regions[1].material: expected the index of one of 2 materials",
     {INT(regions[1].material, 2)}},
    {"regions[1].material: expected", {INT(regions[1].material, -2)}},
    {"regions[1].shape.kind: expected a kind of shape, got 9",
     {INT(regions[1].shape.kind, 9)}},
    {"regions[1].shape.radius_cm: expected [inner, outer]",
     {REAL(regions[1].shape.radius_cm[0], 1)}},
    {"regions[1].shape.centre_cm: expected",
     {REAL(regions[1].shape.centre_cm[2], (double)NAN)}},
    {"regions[1].shape.hi_cm, lo_cm: expected lo below hi",
     {INT(regions[1].shape.kind, STORM_SHAPE_BOX)}},
    {"regions[1].shape.range_cm: expected [low, high]",
     {INT(regions[1].shape.kind, STORM_SHAPE_CYLINDER)}},
    {"shape.axis: expected 0, 1 or 2",
     {INT(regions[1].shape.kind, STORM_SHAPE_CYLINDER),
      INT(regions[1].shape.axis, 3), REAL(regions[1].shape.range_cm[1], 1)}},
    {"walls[1].parts: expected an array of 1",
     {COUNT(problem.walls[1].n, 1), NOTHING(problem.walls[1].parts)}},
    {"walls[0].parts[1].kind: expected a kind of wall, got 7",
     {INT(parts[1].kind, 7)}},
    {"walls[0].parts[1].kind, shape: expected a whole wall",
     {INT(parts[1].kind, STORM_WALL_PERIODIC)}},
    {"walls[0]: expected x_hi to be periodic",
     {INT(parts[0].kind, STORM_WALL_PERIODIC), COUNT(problem.walls[0].n, 1)}},
    {"walls[0]: expected it to be periodic in",
     {INT(parts[0].kind, STORM_WALL_PERIODIC), COUNT(problem.walls[0].n, 1),
      COUNT(problem.walls[1].n, 1)}},
    {"temperature is required", {COUNT(parts[1].temperature.n, 0)}},
    {"temperature is required", {NOTHING(parts[1].temperature.points)}},
    {"walls[0].parts[1].temperature: expected", {REAL(curve[3], (double)NAN)}},
    {"walls[0].parts[1].temperature: expected", {REAL(curve[0], (double)NAN)}},
    {"temperature: expected growing times, got 0 after", {REAL(curve[2], 0)}},
    {"stop_s, start_s: expected start before", {REAL(parts[1].stop_s, 0)}},
    {"expected start not after stop", {REAL(parts[1].stop_s, -1)}},
    {"parts[1].start_s: expected", {REAL(parts[1].start_s, (double)NAN)}},
    {"parts[1].packets: expected a whole number", {COUNT(parts[1].packets, 0)}},
    {"walls[0].parts[1].shape.hi_cm, lo", {REAL(parts[1].shape.hi_cm[0], -2)}},
    {"sources: expected an array of 1, got NULL", {NOTHING(problem.sources)}},
    {"sources[0].power_erg_cm3", {REAL(source.power_erg_cm3_s, (double)NAN)}},
    {"sources[0].packets: expected", {COUNT(source.packets, 0)}},
    {"sources[0].kind: expected a kind of source, got 9",
     {INT(source.kind, 9), TEXT(source.power_formula, "1")}},
    {"sources[0].kind, power: power is required",
     {INT(source.kind, STORM_SOURCE_POINT), REAL(source.cone_deg, 180)}},
    {"planes: expected an array of 1, got NULL", {COUNT(problem.n_planes, 1)}},
    {"sources[0].power: expected an array of 2, got NULL",
     {COUNT(source.power.n, 2)}},
    {"sources[0].power_formula: expected a formula: column 1",
     {TEXT(source.power_formula, "*")}},
    {"sources[0].energy_kev: expected", {REAL(source.energy_kev, -1)}},
    {"sources[0].shell_radius_cm: expected a number above 0",
     {INT(source.kind, STORM_SOURCE_SHELL), TEXT(source.power_formula, "1")}},
    {"sources[0].side: expected a side, got 3",
     {INT(source.kind, STORM_SOURCE_SHELL), TEXT(source.power_formula, "1"),
      REAL(source.shell_radius_cm, 1), INT(source.side, 3)}},
    {"sources[0].stop_s, start_s: expected start", {REAL(source.stop_s, 0)}},
    {"sources[0].temperature_kev: expecte", {REAL(source.temperature_kev, 0)}},
    {"n_groups: expected a whole number from 1", {COUNT(problem.n_groups, 0)}},
    {"n_groups: expected a whole number from 1",
     {COUNT(problem.n_groups, UINT64_MAX)}},
    {"group_min_kev: expected a number above 0",
     {REAL(problem.group_min_kev, 0)}},
    {"group_max_kev: expected a number",
     {REAL(problem.group_max_kev, (double)NAN)}},
    {"group_max_kev, group_min_kev: expected min",
     {REAL(problem.group_max_kev, 0.1)}},
    {"group_average: expected a kind", {INT(problem.group_average, 3)}},
    {"emit_per_cell: expected", {COUNT(problem.emit_per_cell, UINT64_MAX)}},
    {"min_per_cell, max_per_cell: expected min_per",
     {COUNT(problem.min_per_cell, 5)}},
    {"max_per_cell: expected a whole number from 1",
     {COUNT(problem.max_per_cell, 0)}},
};

static void row_apply(const struct row *row, struct given *g)
{
    for (const struct change *c = row->change; c->kind != END; c++) {
        unsigned char *to = (unsigned char *)g + c->offset;
        if (c->kind == IS_REAL)
            memcpy(to, &c->real, sizeof c->real);
        else if (c->kind == IS_COUNT)
            memcpy(to, &c->count, sizeof c->count);
        else if (c->kind == IS_TEXT)
            memcpy(to, &c->text, sizeof c->text);
        else
            memcpy(to, &c->integer, sizeof c->integer);
    }
}

/* ---- implicit Monte Carlo ----------------------------------------------- */

struct world {
    struct messages messages;
    struct storm_context *context;
    struct storm_mesh *mesh;
};

/* A call has failed on all ranks, and some of them have said why. */
static void check_refused(struct world *w, storm_status status,
                          const char *message)
{
    int n = strstr(w->messages.text, message) != NULL;
    check_where("%s", message);
    CHECK(status == STORM_ERR_ARG || status == STORM_ERR_STATE);
    CHECK_OK(storm_context_reduce(w->context, &n, 1, MPI_INT, MPI_SUM));
    if (n != 1)
        CHECK_TEXT(w->messages.text, message);
    w->messages = (struct messages){0};
    check_where("%s", "");
}

static struct storm_engine *engine_for(struct world *w, struct storm_imc *imc)
{
    struct storm_engine *engine;
    struct storm_engine_params params = {
        .size = sizeof params, .record_bytes = storm_imc_record_bytes(imc)};
    CHECK_OK(storm_engine_create(w->context, &params, &engine));
    CHECK_OK(storm_imc_attach(imc, engine));
    CHECK_OK(storm_imc_start(imc, engine));
    return engine;
}

static void run_good(struct world *w, struct storm_imc *imc)
{
    double energy[4], error;
    struct storm_engine *engine = engine_for(w, imc);
    CHECK_OK(storm_imc_set_step(imc, 0.0, 0.1));
    CHECK_OK(storm_engine_step(engine));
    CHECK_OK(storm_imc_balance(imc, engine, energy, &error));
    CHECK(error <= 1e-13);
    CHECK_EQ(w->messages.n, 0);
    storm_engine_destroy(engine);
}

static void check_rows(struct world *w)
{
    static struct given g;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct storm_imc *imc = NULL;
        fill(&g);
        row_apply(&rows[i], &g);
        check_where("row %zu", i);
        storm_status status =
            storm_imc_create(w->context, w->mesh, &g.problem, &imc);
        if (rows[i].message[0] != '\0') {
            CHECK(status == STORM_ERR_ARG);
            CHECK(imc == NULL);
            CHECK(w->messages.n <= 1);
            check_refused(w, status, rows[i].message);
            continue;
        }
        CHECK_OK(status);
        run_good(w, imc);
        storm_imc_destroy(imc);
    }
}

/* Edges of two groups. */
static void check_edges(struct world *w)
{
    static const struct {
        const char *message;
        double edge[3];
    } edges[] = {
        {"", {0.1, 0.2, 10.0}},
        {"group_edge_kev: expected rising edges, got 0.2", {0.1, 0.3, 0.2}},
        {"after 0.5 as edge 2 of 3", {0.5, 0.5, 1.0}},
        {"group_edge_kev: expected a number above 0", {0.0, 0.3, 1.0}},
        {"group_edge_kev: expected a number above 0", {-1.0, 0.3, 1.0}},
        {"group_edge_kev: expected a number above 0 up to 1e+300, got nan",
         {0.1, (double)NAN, 1.0}},
        {"group_edge_kev: expected a number above 0", {0.1, 1.0, HUGE_VAL}},
    };
    static struct given g;
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        struct storm_imc *imc = NULL;
        double copy[3];
        fill(&g);
        memcpy(copy, edges[i].edge, sizeof copy);
        g.problem.group_edge_kev = copy;
        g.problem.group_min_kev = g.problem.group_max_kev = 0.0;
        storm_status status =
            storm_imc_create(w->context, w->mesh, &g.problem, &imc);
        memset(copy, 0, sizeof copy); /* they were copied */
        if (edges[i].message[0] != '\0') {
            check_refused(w, status, edges[i].message);
            continue;
        }
        CHECK_OK(status);
        run_good(w, imc);
        storm_imc_destroy(imc);
    }
}

/* Each part on the last rank alone; what is ignored may differ. */
static void check_same_problem(struct world *w)
{
    static const struct row differ[] = {
        {"constants or the box differ", {REAL(problem.hi_cm[0], 2)}},
        {"materials differ", {REAL(materials[1].density_g_cm3, 2)}},
        {"materials differ", {REAL(materials[1].absorption.rho_exp, 2)}},
        {"materials differ", {REAL(materials[1].heat_capacity.coef, 2)}},
        {"regions differ", {REAL(regions[1].shape.radius_cm[1], 0.2)}},
        {"walls differ", {REAL(curve[3], 3)}},
        {"sources differ", {COUNT(source.packets, 11)}},
        {"the seed differ", {COUNT(problem.seed, 7)}},
        {"", {REAL(regions[1].shape.range_cm[1], 0.2)}},
        {"", {REAL(parts[0].stop_s, 2)}},
    };
    static struct given g;
    int rank = storm_context_rank(w->context);
    int size = storm_context_size(w->context);
    for (size_t i = 0; size > 1 && i < sizeof differ / sizeof differ[0]; i++) {
        struct storm_imc *imc = NULL;
        fill(&g);
        if (rank == size - 1)
            row_apply(&differ[i], &g);
        check_where("differing row %zu", i);
        storm_status status =
            storm_imc_create(w->context, w->mesh, &g.problem, &imc);
        if (differ[i].message[0] != '\0')
            check_refused(w, status, differ[i].message);
        else
            CHECK_OK(status);
        storm_imc_destroy(imc);
    }
}

/* A step that is set on all ranks but the last. */
static void check_step_of_one(struct world *w,
                              const struct storm_problem *problem)
{
    struct storm_imc *imc;
    int size = storm_context_size(w->context);
    bool last = storm_context_rank(w->context) == size - 1;
    CHECK_OK(storm_imc_create(w->context, w->mesh, problem, &imc));
    struct storm_engine *engine = engine_for(w, imc);
    storm_status status = storm_imc_set_step(imc, 0.0, last ? -0.1 : 0.1);
    CHECK_EQ(status, last ? STORM_ERR_ARG : STORM_OK);
    CHECK_EQ(w->messages.n, last);
    CHECK_EQ(storm_engine_step(engine),
             last ? STORM_ERR_STATE : STORM_ERR_PEER);
    CHECK_EQ(w->messages.n, last ? 2 : 0);
    w->messages = (struct messages){0};
    storm_engine_destroy(engine);
    storm_imc_destroy(imc);
}

/* Steps that are not set, or to what is not a step. */
static void check_steps(struct world *w, const struct storm_problem *problem)
{
    static const struct {
        double time_s, dt_s;
    } bad[] = {{0, 0},
               {0, -1},
               {0, (double)NAN},
               {(double)NAN, 1},
               {0, 1e301},
               {(double)INFINITY, 1},
               {0, (double)INFINITY}};
    struct storm_imc *imc;
    CHECK_OK(storm_imc_create(w->context, w->mesh, problem, &imc));
    for (int i = 0; i < 2; i++) { /* an engine that has failed is of no use */
        struct storm_engine *engine = engine_for(w, imc);
        if (i > 0) {
            CHECK_OK(storm_imc_set_step(imc, 0.0, 0.1));
            CHECK_OK(storm_engine_step(engine));
        }
        storm_status status = storm_engine_step(engine);
        CHECK_EQ(w->messages.n, storm_context_rank(w->context) == 0);
        check_refused(w, status, "call storm_imc_set_step");
        storm_engine_destroy(engine);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_EQ(storm_imc_set_step(imc, bad[i].time_s, bad[i].dt_s),
                 STORM_ERR_ARG);
        CHECK(strstr(w->messages.text, "expected a time and a length above 0"));
        w->messages = (struct messages){0};
    }
    storm_imc_destroy(imc);
}

static void check_comb(struct world *w, struct storm_problem *problem)
{
    struct storm_imc *imc;
    problem->comb = true;
    CHECK_OK(storm_imc_create(w->context, w->mesh, problem, &imc));
    struct storm_engine *engine = engine_for(w, imc);
    CHECK_OK(storm_imc_set_step(imc, 0.0, 0.1));
    check_refused(w, storm_engine_step(engine), "call storm_comb_attach");
    storm_engine_destroy(engine);
    storm_imc_destroy(imc);
    problem->comb = false;
}

/* ---- states ------------------------------------------------------------- */

/* A population control that loads a state in the middle of a step. */
struct loader {
    struct storm_imc *imc;
    struct storm_imc_layout layout;
    double cells[512];
    int64_t accounts[1024];
    storm_status status;
};

static storm_status load(struct loader *loader)
{
    return storm_imc_load_state(loader->imc, loader->layout.version,
                                loader->cells, loader->accounts);
}

static storm_status load_in_step(void *self, struct storm_step *step)
{
    struct loader *loader = self;
    (void)step;
    loader->status = load(loader);
    return STORM_OK;
}

static void check_states(struct world *w, const struct storm_problem *problem)
{
    struct loader loader = {.layout = STORM_IMC_LAYOUT_INIT};
    const struct storm_population control = {.size = sizeof control,
                                             .record_bytes =
                                                 sizeof(struct storm_packet),
                                             .self = &loader,
                                             .control = load_in_step};
    CHECK_OK(storm_imc_create(w->context, w->mesh, problem, &loader.imc));
    struct storm_engine *engine = engine_for(w, loader.imc);
    CHECK_OK(storm_engine_use(engine, NULL, NULL, &control));
    CHECK_OK(storm_imc_state_layout(loader.imc, &loader.layout));
    CHECK((size_t)storm_mesh_n_cells(w->mesh) * loader.layout.cell_values <=
              512 &&
          loader.layout.n_accounts * loader.layout.account_words <= 1024);
    CHECK_OK(storm_imc_set_step(loader.imc, 0.0, 0.1));
    CHECK_OK(storm_engine_step(engine));
    CHECK(loader.status == STORM_ERR_STATE);
    CHECK_OK(load(&loader));
    if (storm_context_rank(w->context) == 0)
        loader.cells[1] = (double)NAN;
    storm_status status = storm_context_agree(w->context, load(&loader));
    CHECK(status == STORM_ERR_ARG || status == STORM_ERR_PEER);
    check_refused(w, STORM_ERR_ARG, "storm_imc_load_state: expected numbers");
    storm_engine_destroy(engine);
    storm_imc_destroy(loader.imc);
}

/* ---- free streaming ------------------------------------------------------ */

static void check_packets(struct world *w, struct storm_streaming *streaming)
{
    const struct storm_packet good = {.direction = {0, 0, 1}, .weight_erg = 1};
    struct storm_engine *engine;
    struct storm_engine_params params = {
        .size = sizeof params, .record_bytes = sizeof(struct storm_packet)};
    CHECK_OK(storm_engine_create(w->context, &params, &engine));
    CHECK_OK(storm_streaming_attach(streaming, engine));
    for (int i = 0; i < 6; i++) {
        struct storm_packet packet = good;
        packet.cell = i == 1 ? 1000000 : 0;
        packet.weight_erg = i == 2 ? (double)NAN : 1;
        packet.position_cm[1] = i == 3 ? (double)NAN : 0.125;
        packet.direction[0] = i == 4 ? 1.0 : 0.0;
        packet.direction[2] = i == 5 ? (double)NAN : 1.0;
        check_where("packet %d", i);
        CHECK(storm_streaming_add(streaming, engine, &packet) ==
              (i == 0 ? STORM_OK : STORM_ERR_ARG));
    }
    check_where("%s", "");
    CHECK_OK(storm_engine_step(engine));
    storm_engine_destroy(engine);
}

/* Of no rank in particular: the call is local. */
static void check_streaming(struct world *w)
{
    const struct storm_streaming_params good = {
        .size = sizeof good, .speed_cm_s = 1, .dt_s = 1, .emit_per_cell = 1};
    for (int i = 0; i < 9; i++) {
        struct storm_streaming_params p = good;
        struct storm_streaming *streaming = NULL;
        p.speed_cm_s = i == 1 ? (double)NAN : i == 2 ? -1.0 : 1.0;
        p.dt_s = i == 3 ? (double)NAN : i == 4 ? 0.0 : 1.0;
        p.emit_energy_erg_cm3 = i == 5 ? (double)NAN : 1.0;
        p.tally = i == 6 ? (storm_tally_kind)3 : STORM_TALLY_EXACT;
        p.walls[2] = i == 7 ? STORM_WALL_BLACKBODY : STORM_WALL_VACUUM;
        p.emit_per_cell = i == 8 ? UINT64_MAX : 1;
        check_where("streaming %d", i);
        storm_status status =
            storm_streaming_create(w->context, w->mesh, &p, &streaming);
        if (i > 0) {
            CHECK(status == STORM_ERR_ARG);
            CHECK_EQ(w->messages.n, 1);
            w->messages = (struct messages){0};
            continue;
        }
        CHECK_OK(status);
        check_packets(w, streaming);
        storm_streaming_destroy(streaming);
    }
}

int main(int argc, char **argv)
{
    static struct world w;
    static struct given g;
    struct storm_context_params params = STORM_CONTEXT_PARAMS_INIT;
    struct storm_cart_params cart = {
        .size = sizeof cart, .hi_cm = {1, 1, 1}, .n = {4, 4, 4}};
    MPI_Init(&argc, &argv);
    params.log = collect;
    params.log_self = &w.messages;
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, &params, &w.context));
    CHECK_OK(storm_mesh_create_cart(w.context, &cart, &w.mesh));
    check_rows(&w);
    check_edges(&w);
    fill(&g);
    check_same_problem(&w);
    check_steps(&w, &g.problem);
    check_step_of_one(&w, &g.problem);
    check_comb(&w, &g.problem);
    check_states(&w, &g.problem);
    check_streaming(&w);
    storm_mesh_destroy(w.mesh);
    storm_context_destroy(w.context);
    MPI_Finalize();
    return CHECK_PASS;
}
