/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of matter that materials of a deck name. */
#include <string.h>

#include <storm/context.h>
#include <storm/io.h>
#include <storm/matter.h>
#include <storm/table.h>

#include "base/env.h"
#include "base/math.h"
#include "io/io_matter.h"
#include "run/run.h"

static const char tables_label[] = "tables";

enum { TABLES_TEXT_BYTES = 512 };

static bool tables_has(const struct deck_material *m)
{
    return strcmp(m->table, "none") != 0;
}

/* Edges of the groups of a problem; NULL: no memory. */
static double *tables_edges(const struct storm_problem *p,
                            struct storm_memory *memory)
{
    size_t n = (size_t)p->n_groups;
    double *edge = storm_alloc(memory, tables_label, (n + 1) * sizeof *edge);
    double ratio =
        n > 1 ? storm_log(p->group_max_kev / p->group_min_kev) / (double)n : 0;
    for (size_t g = 0; edge != NULL && n > 1 && g <= n; g++)
        edge[g] = p->group_edge_kev != NULL
                      ? p->group_edge_kev[g]
                      : p->group_min_kev * storm_exp(ratio * (double)g);
    return edge;
}

/* One file: what it holds, and the groups. */
static storm_status tables_check_file(const struct deck_material *m,
                                      const struct storm_problem *p,
                                      const double *edge,
                                      const struct storm_env *env)
{
    char problem[TABLES_TEXT_BYTES];
    struct io_matter file = {.p = {.size = 0}};
    storm_status status = io_matter_read(env, m->table, &file);
    if (status == STORM_OK) {
        status = storm_table_check(&file.p, p->n_groups, edge, problem,
                                   sizeof problem);
        if (status < 0 && env->rank == 0)
            storm_log_write(&env->log, STORM_LOG_ERROR, "%s", problem);
    }
    io_matter_free(env, &file);
    return status;
}

storm_status run_tables_check(const struct storm_deck *deck,
                              const struct storm_env *env)
{
    struct storm_problem p;
    storm_status status = STORM_OK;
    deck_get_problem(deck, &p);
    double *edge = tables_edges(&p, env->memory);
    if (edge == NULL)
        return STORM_ERR_NOMEM;
    for (size_t i = 0; i < p.n_materials && status == STORM_OK; i++) {
        const struct deck_material *m = &deck->values.materials.item[i];
        if (!tables_has(m))
            continue;
        status = io_matter_probe(env, m->table);
        if (status == STORM_OK)
            status = tables_check_file(m, &p, edge, env);
    }
    storm_free(env->memory, edge);
    return status;
}

/* ---- of a run ------------------------------------------------------------ */

static storm_status tables_read(struct run *run, size_t i)
{
    struct run_tables *t = &run->tables;
    const struct deck_material *m = &run->deck->values.materials.item[i];
    storm_status status =
        storm_table_read(run->context, m->table, (storm_table_beyond)m->beyond,
                         &t->table[i]);
    if (status < 0)
        return status;
    t->matter[i].size = sizeof t->matter[i];
    storm_table_matter(t->table[i], &t->matter[i]);
    t->materials[i].matter = &t->matter[i];
    return STORM_OK;
}

static storm_status tables_make(struct run *run)
{
    struct storm_memory *memory = storm_context_env(run->context)->memory;
    struct run_tables *t = &run->tables;
    size_t n = run->problem.n_materials;
    t->materials = storm_alloc(memory, tables_label, n * sizeof *t->materials);
    t->matter = storm_alloc(memory, tables_label, n * sizeof *t->matter);
    t->table = storm_alloc(memory, tables_label, n * sizeof *t->table);
    if (t->materials == NULL || t->matter == NULL || t->table == NULL)
        return STORM_ERR_NOMEM;
    memcpy(t->materials, run->problem.materials, n * sizeof *t->materials);
    return STORM_OK;
}

/* The groups, on every rank alike. */
static storm_status tables_check(struct run *run)
{
    const struct storm_env *env = storm_context_env(run->context);
    const struct deck_values *v = &run->deck->values;
    double *edge = tables_edges(&run->problem, env->memory);
    storm_status status = edge != NULL ? STORM_OK : STORM_ERR_NOMEM;
    for (size_t i = 0; i < v->materials.n && status == STORM_OK; i++)
        if (tables_has(&v->materials.item[i]))
            status = tables_check_file(&v->materials.item[i], &run->problem,
                                       edge, env);
    storm_free(env->memory, edge);
    return storm_context_agree(run->context, status);
}

storm_status run_tables_open(struct run *run)
{
    const struct deck_values *v = &run->deck->values;
    bool has = false;
    for (size_t i = 0; i < v->materials.n; i++)
        has = has || tables_has(&v->materials.item[i]);
    if (!has)
        return STORM_OK;
    storm_status status = storm_context_agree(run->context, tables_make(run));
    for (size_t i = 0; i < v->materials.n && status == STORM_OK; i++)
        if (tables_has(&v->materials.item[i]))
            status = tables_read(run, i);
    if (status == STORM_OK)
        status = tables_check(run);
    if (status == STORM_OK)
        run->problem.materials = run->tables.materials;
    return status;
}

void run_tables_close(struct run *run)
{
    struct storm_memory *memory = storm_context_env(run->context)->memory;
    struct run_tables *t = &run->tables;
    for (size_t i = 0; t->table != NULL && i < run->problem.n_materials; i++)
        storm_table_destroy(t->table[i]);
    storm_free(memory, t->table);
    storm_free(memory, t->matter);
    storm_free(memory, t->materials);
    *t = (struct run_tables){NULL, NULL, NULL};
}
