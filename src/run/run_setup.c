/* SPDX-License-Identifier: BSD-3-Clause */
/* Mesh, physics and engine of a deck. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/change.h>
#include <storm/context.h>
#include <storm/io.h>

#include "base/env.h"
#include "base/math.h"
#include "io/io_checkpoint.h"
#include "run/run.h"
#include "run/run_octree.h"
#include "run/run_points.h"

static bool run_is_periodic(const struct deck_values *v, int axis)
{
    const struct storm_wall *wall = &v->boundaries.wall[2 * axis];
    return wall->n == 1 && wall->parts[0].kind == STORM_WALL_PERIODIC;
}

static void run_no_such_mesh(int kind, char *text_out, size_t bytes)
{
    const char *name;
    int n = snprintf(text_out, bytes,
                     "mesh.kind: '%s' is not part of this build; built here:",
                     storm_mesh_kind_name((size_t)kind));
    const char *comma = "";
    for (size_t i = 0; (name = storm_mesh_kind_name(i)) != NULL; i++)
        if (storm_mesh_kind_built(i) && n >= 0 && (size_t)n < bytes) {
            n +=
                snprintf(text_out + n, bytes - (size_t)n, "%s %s", comma, name);
            comma = ",";
        }
}

/* Why this build cannot run the deck; empty if it can. */
static void run_why_not(const struct deck_values *v, char *text_out,
                        size_t bytes)
{
    text_out[0] = '\0';
    if (!storm_mesh_kind_built((size_t)v->mesh.kind))
        run_no_such_mesh(v->mesh.kind, text_out, bytes);
}

storm_status storm_run_check(const struct storm_deck *deck, char *problem,
                             size_t problem_size)
{
    char why[256];
    run_why_not(&deck->values, why, sizeof why);
    if (problem != NULL)
        snprintf(problem, problem_size, "%s", why);
    return why[0] == '\0' ? STORM_OK : STORM_ERR_NOSUP;
}

/* Can a file be read, if one is named? Else the text says why. */
static bool run_can_read(const char *key, const char *path, char *text,
                         size_t size)
{
    if (path == NULL || strcmp(path, "none") == 0)
        return true;
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        bool is_points = strcmp(key, "mesh.points_file") == 0;
        snprintf(text, size, "%s: %s: %s; names are relative to the deck%s",
                 key, path, strerror(errno),
                 is_points ? "; storm points writes such a file" : "");
        return false;
    }
    fclose(file);
    return true;
}

bool run_has_files(const struct storm_deck *deck, char *text, size_t size)
{
    const struct deck_values *v = &deck->values;
    bool has =
        run_can_read("mesh.points_file", v->mesh.points_file, text, size) &&
        run_can_read("mesh.file", v->mesh.file, text, size) &&
        run_can_read("fields.file", v->fields.file, text, size);
    for (size_t i = 0; has && i < v->materials.n; i++) {
        char key[64];
        snprintf(key, sizeof key, "materials.%zu.table", i);
        has = run_can_read(key, v->materials.item[i].table, text, size);
    }
    return has;
}

storm_status run_files_check(const struct run *run)
{
    char text[IO_PATH_BYTES + 256];
    storm_status status = STORM_OK;
    if (storm_context_rank(run->context) == 0 &&
        !run_has_files(run->deck, text, sizeof text)) {
        storm_context_log(run->context, STORM_LOG_ERROR, "%s", text);
        status = STORM_ERR_IO;
    }
    return storm_context_agree(run->context, status);
}

static storm_status run_make_cart(struct run *run)
{
    const struct deck_values *v = &run->deck->values;
    const double *edges[3] = {v->mesh.edges.x.item, v->mesh.edges.y.item,
                              v->mesh.edges.z.item};
    const size_t n_edges[3] = {v->mesh.edges.x.n, v->mesh.edges.y.n,
                               v->mesh.edges.z.n};
    struct storm_cart_params params = STORM_CART_PARAMS_INIT;
    for (int d = 0; d < 3; d++) {
        params.edges_cm[d] = n_edges[d] > 0 ? edges[d] : NULL;
        params.lo_cm[d] = v->mesh.box.lo[d];
        params.hi_cm[d] = v->mesh.box.hi[d];
        params.n[d] = v->mesh.cells[d];
        params.stretch[d] = v->mesh.stretch[d];
        params.periodic[d] = run_is_periodic(v, d);
    }
    return storm_mesh_create_cart(run->context, &params, &run->mesh);
}

/* From a checkpoint (CHECKPOINT-6), if there is one. */
static storm_status run_make_octree(struct run *run,
                                    const struct io_checkpoint *from)
{
    const struct deck_values *v = &run->deck->values;
    struct storm_octree_params params = {
        .size = sizeof params,
        .level = (int)v->mesh.level,
        .refine_levels = (int)v->mesh.refine_levels,
        .refine = run_octree_refine,
        .refine_self = &run->problem,
    };
    for (int d = 0; d < 3; d++) {
        params.lo_cm[d] = v->mesh.box.lo[d];
        params.hi_cm[d] = v->mesh.box.hi[d];
        params.n[d] = v->mesh.roots[d];
        params.periodic[d] = run_is_periodic(v, d);
    }
    if (from != NULL) {
        params.leaves = from->leaves;
        params.n_leaves = from->n_cells;
        params.tags = from->tags;
        params.next_tag = from->mesh.next_tag;
    }
    return storm_mesh_create_octree(run->context, &params, &run->mesh);
}

static int run_material_at(void *self, const double x_cm[3])
{
    return storm_problem_material(self, x_cm);
}

/* Generators from a file. */
static storm_status run_read_voronoi(struct run *run,
                                     struct storm_voronoi_params *params)
{
    double *points = NULL;
    storm_status status =
        storm_points_read(run->context, run->deck->values.mesh.points_file,
                          &points, &params->n_points);
    params->points_cm = points;
    if (status == STORM_OK)
        status = storm_mesh_create_voronoi(run->context, params, &run->mesh);
    storm_points_free(run->context, points);
    return status;
}

/* Generators from a checkpoint (CHECKPOINT-6). */
static storm_status run_restore_voronoi(struct run *run,
                                        struct storm_voronoi_params *params,
                                        const struct io_checkpoint *from)
{
    memcpy(params->lo_cm, from->mesh.lo_cm, sizeof params->lo_cm);
    memcpy(params->hi_cm, from->mesh.hi_cm, sizeof params->hi_cm);
    params->points_cm = from->generators;
    params->tags = from->tags;
    params->n_points = from->n_cells;
    params->next_tag = from->mesh.next_tag;
    params->lloyd = 0;
    return storm_mesh_create_voronoi(run->context, params, &run->mesh);
}

/* Points are denser within half a mean spacing of an interface. */
static storm_status run_make_voronoi(struct run *run,
                                     const struct io_checkpoint *from)
{
    const struct deck_mesh *mesh = &run->deck->values.mesh;
    struct storm_points_params set = {
        .size = sizeof set,
        .kind = mesh->refine_interfaces > 1.0 ? STORM_POINTS_REFINED
                                              : STORM_POINTS_RANDOM,
        .seed = (uint64_t)mesh->seed,
        .n_total = (uint64_t)mesh->points,
        .material = run_material_at,
        .material_self = &run->problem,
        .refine = mesh->refine_interfaces,
    };
    struct storm_voronoi_params params = {.size = sizeof params,
                                          .lloyd = (uint32_t)mesh->lloyd};
    double volume = 1.0;
    for (int d = 0; d < 3; d++) {
        set.lo_cm[d] = params.lo_cm[d] = mesh->box.lo[d];
        set.hi_cm[d] = params.hi_cm[d] = mesh->box.hi[d];
        params.periodic[d] = run_is_periodic(&run->deck->values, d);
        volume *= mesh->box.hi[d] - mesh->box.lo[d];
    }
    if (from != NULL)
        return run_restore_voronoi(run, &params, from);
    if (strcmp(mesh->points_file, "none") != 0)
        return run_read_voronoi(run, &params);
    set.width_cm = 0.5 * storm_cbrt(volume / (double)mesh->points);
    return mesh->interfaces == DECK_INTERFACES_SHARP
               ? run_points_sharp(run->context, &set, &params, &run->mesh)
               : run_points_mesh(run->context, &set, &params, &run->mesh);
}

static storm_status run_make_mesh(struct run *run,
                                  const struct io_checkpoint *from)
{
    switch (run->deck->values.mesh.kind) {
    case STORM_MESH_VORONOI:
        return run_make_voronoi(run, from);
    case STORM_MESH_OCTREE:
        return run_make_octree(run, from);
    case STORM_MESH_FILE:
        return storm_mesh_read(run->context, run->deck->values.mesh.file,
                               &run->mesh);
    default:
        return run_make_cart(run);
    }
}

static int run_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static storm_status run_sort_times(struct run *run)
{
    const struct deck_output *output = &run->deck->values.output;
    size_t n = output->times.n;
    run->times = storm_alloc(storm_context_env(run->context)->memory, "run",
                             (n + 1) * sizeof *run->times);
    if (run->times == NULL)
        return STORM_ERR_NOMEM;
    if (n > 0)
        memcpy(run->times, output->times.item, n * sizeof *run->times);
    qsort(run->times, n, sizeof *run->times, run_compare);
    run->n_times = n;
    return STORM_OK;
}

static storm_status run_make_engine(struct run *run)
{
    struct storm_comb_params comb = {
        .size = sizeof comb,
        .seed = run->problem.seed,
        .n_min = run->problem.min_per_cell,
        .n_max = run->problem.max_per_cell,
        .remainder = storm_imc_deposit,
        .remainder_self = run->imc,
        .limit = storm_imc_max_packets,
        .limit_self = run->imc,
    };
    storm_status status =
        storm_context_agree(run->context,
                            storm_comb_create(run->context, &comb, &run->comb));
    if (status < 0)
        return status;
    struct storm_engine_params engine = {
        .size = sizeof engine,
        .record_bytes = storm_imc_record_bytes(run->imc),
    };
    status = storm_engine_create(run->context, &engine, &run->engine);
    if (status == STORM_OK)
        status = storm_imc_attach(run->imc, run->engine);
    if (status == STORM_OK && run->problem.comb)
        status = storm_comb_attach(run->comb, run->engine);
    return status;
}

/* Physics and engine, on the mesh that is there. Collective. */
static storm_status run_make_physics(struct run *run)
{
    storm_status status =
        storm_imc_create(run->context, run->mesh, &run->problem, &run->imc);
    if (status == STORM_OK)
        status = run_tallies_declare(run);
    return status < 0 ? status : run_make_engine(run);
}

/* Mesh, physics and engine, without a state. Collective. */
static storm_status run_build(struct run *run, const struct io_checkpoint *from)
{
    bool is_file = run->deck->values.mesh.kind == STORM_MESH_FILE;
    storm_status status = run_make_mesh(run, from);
    if (status == STORM_OK && is_file)
        status = run_boundaries_open(run);
    if (status == STORM_OK && (from != NULL || is_file))
        storm_mesh_box(run->mesh, run->problem.lo_cm, run->problem.hi_cm);
    return status < 0 ? status : run_make_physics(run);
}

static void run_demolish(struct run *run)
{
    storm_engine_destroy(run->engine);
    storm_comb_destroy(run->comb);
    storm_imc_destroy(run->imc);
    storm_cut_destroy(run->cut);
    storm_cut_destroy(run->host);
    storm_mesh_destroy(run->mesh);
    run_boundaries_close(run);
    run->engine = NULL;
    run->comb = NULL;
    run->imc = NULL;
    run->cut = NULL;
    run->host = NULL;
    run->mesh = NULL;
}

static void run_take_problem(struct run *run)
{
    deck_get_problem(run->deck, &run->problem);
    if (run->tables.materials != NULL)
        run->problem.materials = run->tables.materials;
    run->problem.seed =
        (uint64_t)storm_options_int(storm_context_options(run->context),
                                    "seed") +
        run->job.n_done;
}

storm_status run_rebuild(struct run *run, const struct io_checkpoint *from)
{
    run_demolish(run);
    run_take_problem(run);
    run->is_rebuilt = from != NULL;
    return run_build(run, from);
}

/* Also if a cut has put its cells elsewhere. */
storm_status run_renew(struct run *run)
{
    struct run_first now;
    storm_status status = run_hashes(run, &now);
    if (status < 0)
        return status;
    if (now.mesh_hash != run->first.mesh_hash ||
        now.next_tag != run->first.next_tag || run->is_rebuilt)
        return run_rebuild(run, NULL);
    storm_engine_destroy(run->engine);
    storm_comb_destroy(run->comb);
    storm_imc_destroy(run->imc);
    run->engine = NULL;
    run->comb = NULL;
    run->imc = NULL;
    run->problem.seed = run->job.first_seed + run->job.n_done;
    return run_make_physics(run);
}

/* Of a job, the present replica may have no checkpoint yet. Collective. */
static storm_status run_has_checkpoint(const struct run *run, bool *has_out)
{
    int has = run->job.n == 0;
    if (storm_context_rank(run->context) == 0 && run->job.n > 0)
        has = storm_run_newest_checkpoint(run->restart_dir) > 0;
    storm_status status =
        storm_context_reduce(run->context, &has, 1, MPI_INT, MPI_MAX);
    *has_out = has != 0;
    return status;
}

/* The state to begin with. Collective. */
static storm_status run_set_state(struct run *run)
{
    bool is_restart = run->restart_dir != NULL;
    uint64_t fields_hash = 0;
    storm_status status = run_hashes(run, &run->first);
    if (status == STORM_OK && is_restart)
        status = run_has_checkpoint(run, &is_restart);
    if (status < 0 || (run->job.n > 0 && run_job_is_over(run)))
        return status;
    if (!is_restart || run->job.n > 0)
        status = run_fields_read(run, !is_restart, &fields_hash);
    if (status == STORM_OK)
        status = run_job_take_inputs(run, fields_hash);
    if (status == STORM_OK && is_restart)
        return run_restart(run);
    return status < 0
               ? status
               : storm_context_agree(run->context,
                                     storm_imc_start(run->imc, run->engine));
}

/* Warns about cells in no region, which may be a mistake. */
static storm_status run_warn_empty(struct run *run)
{
    uint64_t n = 0;
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(run->mesh); i++)
        n += storm_imc_material(run->imc, i) == (int)run->problem.n_materials;
    storm_status status =
        storm_context_reduce(run->context, &n, 1, MPI_UINT64_T, MPI_SUM);
    if (status == STORM_OK && n > 0 && run->problem.n_regions > 0 &&
        storm_context_rank(run->context) == 0)
        run_warn(run, "%llu cells are in no region: they are empty",
                 (unsigned long long)n);
    return status;
}

/* -1: there is none of this name. */
static int run_find_material(const struct run *run, const char *name)
{
    for (size_t i = 0; i < run->problem.n_materials; i++)
        if (strcmp(run->problem.materials[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* On rank 0, a warning for each. */
static void run_warn_doubts(struct run *run)
{
    char text[4096];
    if (storm_context_rank(run->context) != 0)
        return;
    storm_run_doubts(run->deck, text, sizeof text);
    for (const char *line = text; *line != '\0';) {
        int n = (int)strcspn(line, "\n");
        run_warn(run, "%.*s", n, line);
        line += n + (line[n] == '\n');
    }
}

storm_status run_open(struct run *run)
{
    char problem[256];
    storm_status status = storm_run_check(run->deck, problem, sizeof problem);
    if (status < 0) {
        if (storm_context_rank(run->context) == 0)
            storm_context_log(run->context, STORM_LOG_ERROR, "%s", problem);
        return status;
    }
    run_warn_doubts(run);
    run_take_problem(run);
    run->nominal_s = run->deck->values.time.dt;
    run->moving =
        run_find_material(run, run->deck->values.mesh.motion.material);
    status = storm_context_agree(run->context, run_sort_times(run));
    if (status == STORM_OK)
        status = run_tables_open(run);
    if (status == STORM_OK)
        status = run_build(run, NULL);
    if (status == STORM_OK)
        status = run_set_state(run);
    if (status == STORM_OK)
        status = run_warn_empty(run);
    if (status == STORM_OK)
        status = run_materials_open(run);
    return status;
}

void run_close(struct run *run)
{
    run_demolish(run);
    run_tables_close(run);
    run_materials_close(run);
    run_job_close(run);
    run_warnings_close(run);
    run_traffic_close(run);
    storm_free(storm_context_env(run->context)->memory, run->times);
    free(storm_page_end(&run->series.grids));
    io_rundir_unlock(run->lock);
}
