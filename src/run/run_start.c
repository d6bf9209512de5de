/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of the start, from a deck alone: formulas at the centres of
 * Cartesian cells, and what is beyond the table of a material. Other meshes are
 * made by the run, which looks at all of their cells.
 */
#include <stdio.h>
#include <string.h>

#include <storm/problem.h>

#include "base/env.h"
#include "base/formula.h"
#include "base/math.h"
#include "io/io_matter.h"
#include "run/run.h"

static const char start_label[] = "start";
static const double start_slack = 1e-11; /* as tables have it */

/* Cells that are looked at: of a larger mesh every k-th in each direction. */
enum { START_MAX_CELLS = 1 << 20 };

/* What is known of a cell's matter. */
enum { START_MATTER, START_RADIATION, START_DENSITY, START_VALUES };
static const char *const start_names[START_VALUES] = {
    "temperature", "radiation_temperature", "density"};

struct start_material {
    struct storm_formula *formula[START_VALUES]; /* NULL: number */
    double number[START_VALUES];
    double range[START_VALUES][2]; /* of its table; [1] is 0: any */
    const char *table;
    bool is_seen; /* and needs no second look */
};

struct start {
    const struct storm_deck *deck;
    const struct storm_env *env;
    struct storm_problem problem;
    struct start_material *materials;
};

/* ---- one material -------------------------------------------------------- */

static storm_status start_range(const struct start *s, size_t i)
{
    const struct deck_material *from = &s->deck->values.materials.item[i];
    struct start_material *m = &s->materials[i];
    struct io_matter file = {.p = {.size = 0}};
    if (strcmp(from->table, "none") == 0 || from->beyond != STORM_TABLE_ERROR)
        return STORM_OK;
    storm_status status = io_matter_read(s->env, from->table, &file);
    if (status == STORM_OK) {
        const struct storm_table_params *p = &file.p;
        m->table = from->table;
        m->range[START_MATTER][0] = p->temperature_kev[0];
        m->range[START_MATTER][1] = p->temperature_kev[p->n_temperatures - 1];
        m->range[START_DENSITY][0] = p->density_g_cm3[0];
        if (p->n_densities > 1)
            m->range[START_DENSITY][1] = p->density_g_cm3[p->n_densities - 1];
    }
    io_matter_free(s->env, &file);
    return status;
}

static storm_status start_material(const struct start *s, size_t i)
{
    const struct storm_material *from = &s->problem.materials[i];
    struct start_material *m = &s->materials[i];
    const char *const texts[START_VALUES] = {
        from->temperature_formula, from->radiation_temperature_formula,
        from->density_formula};
    m->number[START_MATTER] = from->temperature_kev;
    m->number[START_RADIATION] = from->radiation_temperature_kev;
    m->number[START_DENSITY] =
        from->density_g_cm3 > 0.0 ? from->density_g_cm3 : 1.0;
    for (int k = 0; k < START_VALUES; k++) {
        if (texts[k] == NULL)
            continue;
        m->formula[k] = storm_formula_make(s->env->memory, texts[k]);
        if (m->formula[k] == NULL)
            return STORM_ERR_NOMEM;
    }
    return start_range(s, i);
}

static storm_status start_fault(const struct start *s, size_t i, int k,
                                const char *what)
{
    storm_log_write(&s->env->log, STORM_LOG_ERROR, "materials.%s.%s: %s",
                    s->problem.materials[i].name, start_names[k], what);
    return STORM_ERR_ARG;
}

/* One value; `place` says where, if it is of a formula. */
static storm_status start_value(const struct start *s, size_t i, int k,
                                double value, const char *place)
{
    const struct start_material *m = &s->materials[i];
    const double *range = m->range[k];
    double max = k == START_DENSITY ? STORM_UNLIMITED : 1e30;
    bool is_good =
        (k == START_DENSITY ? value > 0.0 : value >= 0.0) && value <= max;
    char what[1024];
    if (place[0] != '\0' && !is_good)
        snprintf(what, sizeof what,
                 "expected its formula to give a number %s 0 to %g, got %g%s",
                 k == START_DENSITY ? "above" : "from", max, value, place);
    else if (range[1] > 0.0 && (value < range[0] * (1.0 - start_slack) ||
                                value > range[1] * (1.0 + start_slack)))
        snprintf(what, sizeof what,
                 "%g%s is beyond the table %s, which has %g to %g; use a "
                 "larger table, or `table_beyond: edge`",
                 value, place, m->table, range[0], range[1]);
    else
        return STORM_OK;
    return start_fault(s, i, k, what);
}

/* A material at a place; NULL: its numbers alone. */
static storm_status start_look(const struct start *s, size_t i,
                               const double *centre_cm)
{
    struct start_material *m = &s->materials[i];
    storm_status status = STORM_OK;
    bool has_formula = false;
    if (m->is_seen)
        return STORM_OK;
    for (int k = 0; k < START_VALUES && status == STORM_OK; k++) {
        char place[96] = "";
        double value = m->number[k];
        has_formula = has_formula || m->formula[k] != NULL;
        if (m->formula[k] != NULL && centre_cm == NULL)
            continue;
        if (m->formula[k] != NULL) {
            double at[STORM_FORMULA_VARIABLES] = {0.0};
            memcpy(&at[STORM_FORMULA_X], centre_cm, 3 * sizeof *at);
            value = storm_formula_value(m->formula[k], at);
            snprintf(place, sizeof place, " at (%g, %g, %g) cm", centre_cm[0],
                     centre_cm[1], centre_cm[2]);
        }
        status = start_value(s, i, k, value, place);
    }
    m->is_seen = !has_formula || centre_cm == NULL;
    return status;
}

/* ---- where --------------------------------------------------------------- */

/* The centre of cell i of n in direction d. */
static double start_centre(const struct deck_mesh *mesh, int d, size_t i,
                           size_t n)
{
    const double *edges[3] = {mesh->edges.x.item, mesh->edges.y.item,
                              mesh->edges.z.item};
    const size_t n_edges[3] = {mesh->edges.x.n, mesh->edges.y.n,
                               mesh->edges.z.n};
    double lo = mesh->box.lo[d], hi = mesh->box.hi[d], r = mesh->stretch[d];
    double a, b;
    if (n_edges[d] > 0) {
        a = edges[d][i];
        b = edges[d][i + 1];
    } else if (r == 1.0 || !(r > 0.0)) {
        a = lo + (hi - lo) * ((double)i / (double)n);
        b = lo + (hi - lo) * ((double)(i + 1) / (double)n);
    } else {
        double sum = storm_pow(r, (double)n) - 1.0;
        a = lo + (hi - lo) * ((storm_pow(r, (double)i) - 1.0) / sum);
        b = lo + (hi - lo) * ((storm_pow(r, (double)(i + 1)) - 1.0) / sum);
    }
    return a + 0.5 * (b - a);
}

uint64_t run_start_cells(const struct storm_deck *deck, size_t n_out[3])
{
    const struct deck_mesh *mesh = &deck->values.mesh;
    const size_t n_edges[3] = {mesh->edges.x.n, mesh->edges.y.n,
                               mesh->edges.z.n};
    uint64_t total = 1;
    for (int d = 0; d < 3; d++) {
        n_out[d] = n_edges[d] > 0 ? n_edges[d] - 1 : (size_t)mesh->cells[d];
        total *= n_out[d];
    }
    return total;
}

static storm_status start_cart(const struct start *s)
{
    size_t n[3], at[3], stride = 1;
    uint64_t total = run_start_cells(s->deck, n);
    while (total / stride / stride / stride > START_MAX_CELLS)
        stride++;
    storm_status status = STORM_OK;
    for (at[2] = 0; at[2] < n[2]; at[2] += stride)
        for (at[1] = 0; at[1] < n[1]; at[1] += stride)
            for (at[0] = 0; at[0] < n[0] && status == STORM_OK;
                 at[0] += stride) {
                double centre[3];
                for (int d = 0; d < 3; d++)
                    centre[d] =
                        start_centre(&s->deck->values.mesh, d, at[d], n[d]);
                int m = storm_problem_material(&s->problem, centre);
                if (m >= 0 && m < (int)s->problem.n_materials)
                    status = start_look(s, (size_t)m, centre);
            }
    return status;
}

/* Numbers of the materials that some region has. */
static storm_status start_regions(const struct start *s)
{
    storm_status status = STORM_OK;
    for (size_t i = 0; i < s->problem.n_regions && status == STORM_OK; i++) {
        int m = s->problem.regions[i].material;
        if (m >= 0)
            status = start_look(s, (size_t)m, NULL);
    }
    return status;
}

storm_status run_start_check(const struct storm_deck *deck,
                             const struct storm_env *env)
{
    struct start s = {.deck = deck, .env = env};
    deck_get_problem(deck, &s.problem);
    size_t n = s.problem.n_materials;
    s.materials =
        storm_alloc(env->memory, start_label, (n + 1) * sizeof *s.materials);
    if (s.materials == NULL)
        return STORM_ERR_NOMEM;
    storm_status status = STORM_OK;
    for (size_t i = 0; i < n && status == STORM_OK; i++)
        status = start_material(&s, i);
    if (status == STORM_OK)
        status = deck->values.mesh.kind == STORM_MESH_CARTESIAN
                     ? start_cart(&s)
                     : start_regions(&s);
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < START_VALUES; k++)
            storm_free(env->memory, s.materials[i].formula[k]);
    storm_free(env->memory, s.materials);
    return status;
}
