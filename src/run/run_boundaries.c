/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of a mesh from a file: of boundaries, those of the deck, others are
 * vacuum; and of cells, which regions refer to. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <storm/context.h>

#include "base/env.h"
#include "io/io_meshfile.h"
#include "io/io_points.h"
#include "run/run.h"

static const char boundaries_label[] = "run";

enum { BOUNDARIES_NUMBERS = IO_MESHFILE_MAX_BOUNDARY + 1 };

/* The first numbers of a list. */
static void boundaries_list(int n, const int *has, char *text_out, size_t size)
{
    size_t used = 0;
    text_out[0] = '\0';
    for (int k = 0; k < n && used + 16 < size; k++)
        if (has[k])
            used += (size_t)snprintf(text_out + used, size - used, "%s%d",
                                     used > 0 ? ", " : "", k);
    if (used + 16 >= size)
        snprintf(text_out + used, size - used, ", ...");
}

/* Where a key is: its line, or the command line. */
static void boundaries_line(int line, char text_out[16])
{
    if (line > 0)
        snprintf(text_out, 16, "%d", line);
    else
        snprintf(text_out, 16, " --set");
}

/* Which numbers faces of the mesh have: 1 for each. Collective. */
static storm_status boundaries_find(const struct run *run, int n, int *has)
{
    for (storm_cell_idx c = 0; c < storm_mesh_n_cells(run->mesh); c++)
        for (int f = 0; f < storm_mesh_n_faces(run->mesh, c); f++) {
            struct storm_face face = STORM_FACE_INIT;
            (void)storm_mesh_face(run->mesh, c, f, &face);
            if (face.wall >= 0)
                has[face.wall] = 1;
        }
    return storm_context_reduce(run->context, has, n, MPI_INT, MPI_MAX);
}

/* The first number of the deck that the mesh lacks, as an error; false: it has
 * all of them. */
static bool boundaries_lack(const struct storm_deck *deck, int n,
                            const int *has, char *text_out, size_t size)
{
    const struct deck_walls *walls = &deck->values.boundaries;
    char known[128], where[16];
    size_t i = 0;
    while (i < walls->numbered.n && walls->numbered.item[i].number < n &&
           has[walls->numbered.item[i].number])
        i++;
    if (i == walls->numbered.n)
        return false;
    boundaries_list(n, has, known, sizeof known);
    boundaries_line(walls->numbered.item[i].line, where);
    snprintf(text_out, size,
             "%s:%s: boundaries.%" PRId64 ": expected the number of a boundary "
             "of %s (%s)",
             deck->path != NULL ? deck->path : "deck", where,
             walls->numbered.item[i].number, deck->values.mesh.file, known);
    return true;
}

/* The same of the numbers of cells. */
static bool regions_lack(const struct storm_deck *deck, const int *has,
                         char *text_out, size_t size)
{
    const struct deck_values *v = &deck->values;
    char known[128], where[16];
    size_t i = 0;
    while (i < v->regions.n &&
           (v->regions.item[i].number == 0 || has[v->regions.item[i].number]))
        i++;
    if (i == v->regions.n)
        return false;
    boundaries_list(BOUNDARIES_NUMBERS, has, known, sizeof known);
    boundaries_line(v->regions.item[i].line, where);
    snprintf(text_out, size,
             "%s:%s: regions.%zu.number: expected the number of cells of %s "
             "(%s), got %" PRId64,
             deck->path != NULL ? deck->path : "deck", where, i, v->mesh.file,
             known, v->regions.item[i].number);
    return true;
}

static storm_status boundaries_fail(const struct run *run, const char *text)
{
    if (storm_context_rank(run->context) == 0)
        storm_context_log(run->context, STORM_LOG_ERROR, "%s", text);
    return STORM_ERR_ARG;
}

/* Every number of the deck is one of the mesh. */
static storm_status boundaries_check(const struct run *run, int n,
                                     const int *has)
{
    char text[1024];
    return boundaries_lack(run->deck, n, has, text, sizeof text)
               ? boundaries_fail(run, text)
               : STORM_OK;
}

/* The same of the numbers of cells; `has` has room for all. Collective. */
static storm_status regions_check(const struct run *run, int *has)
{
    char text[1024];
    for (storm_cell_idx c = 0; c < storm_mesh_n_cells(run->mesh); c++)
        has[storm_mesh_cell_number(run->mesh, c)] = 1;
    storm_status status =
        storm_context_reduce(run->context, has, BOUNDARIES_NUMBERS, MPI_INT,
                             MPI_MAX);
    return status == STORM_OK && regions_lack(run->deck, has, text, sizeof text)
               ? boundaries_fail(run, text)
               : status;
}

/* ---- without a run ------------------------------------------------------- */

/* The error that comes first. */
struct boundaries_problem {
    char *text;
    size_t size;
};

static void boundaries_record(void *self, storm_log_level level, int rank,
                              const char *message)
{
    const struct boundaries_problem *problem = self;
    (void)level;
    (void)rank;
    if (problem->text[0] == '\0')
        snprintf(problem->text, problem->size, "%s", message);
}

static storm_status boundaries_of_file(const struct storm_deck *deck,
                                       struct io_meshfile *file, char *problem,
                                       size_t problem_size)
{
    storm_status status = io_meshfile_read(file);
    if (status < 0)
        return status;
    int *has = storm_alloc(file->env->memory, boundaries_label,
                           2 * BOUNDARIES_NUMBERS * sizeof *has);
    if (has == NULL)
        return STORM_ERR_NOMEM;
    int *has_cells = has + BOUNDARIES_NUMBERS;
    for (size_t f = 0; f < file->n_faces; f++)
        if (file->behind[f] < 0)
            has[file->boundary[f]] = 1;
    for (size_t c = 0; c < file->n_cells; c++)
        has_cells[file->numbers[c]] = 1;
    if (boundaries_lack(deck, file->n_boundaries, has, problem, problem_size) ||
        regions_lack(deck, has_cells, problem, problem_size))
        status = STORM_ERR_IO;
    storm_free(file->env->memory, has);
    return status;
}

storm_status storm_run_check_files(const struct storm_deck *deck, char *problem,
                                   size_t problem_size)
{
    struct boundaries_problem record = {problem, problem_size};
    struct storm_env env = {.size = 1,
                            .log = {.sink = boundaries_record,
                                    .self = &record,
                                    .level = STORM_LOG_ERROR}};
    struct io_meshfile file = {.env = &env, .path = deck->values.mesh.file};
    const char *points = deck->values.mesh.points_file;
    problem[0] = '\0';
    if (!run_has_files(deck, problem, problem_size))
        return STORM_ERR_IO;
    storm_status status = storm_memory_create(&env.memory);
    if (status < 0)
        return status;
    if (deck->values.mesh.kind == STORM_MESH_FILE)
        status = boundaries_of_file(deck, &file, problem, problem_size);
    if (status == STORM_OK && strcmp(points, "none") != 0)
        status = io_points_check(&env, points);
    if (status == STORM_OK)
        status = run_tables_check(deck, &env);
    if (status == STORM_OK)
        status = run_start_check(deck, &env);
    if (status == STORM_OK)
        status = run_fields_check(deck, &env);
    io_meshfile_clear(&file);
    storm_memory_end(env.memory);
    return status;
}

/* ---- of a run ------------------------------------------------------------ */

/* Once: what the deck says of the partition does not apply. */
static void boundaries_report(const struct run *run)
{
    const struct deck_balance *b = &run->deck->values.balance;
    if (storm_context_rank(run->context) == 0 &&
        storm_context_size(run->context) > 1 &&
        (b->host == DECK_HOST_CELLS ||
         (b->every > 0 && b->weight != DECK_WEIGHT_NONE)))
        storm_context_log(run->context, STORM_LOG_INFO,
                          "the partition of a mesh from a file stays as it is: "
                          "balance is ignored");
}

storm_status run_boundaries_open(struct run *run)
{
    struct storm_memory *memory = storm_context_env(run->context)->memory;
    int n = storm_mesh_n_boundaries(run->mesh);
    int *has = storm_alloc(memory, boundaries_label,
                           2 * BOUNDARIES_NUMBERS * sizeof *has);
    run->boundaries = storm_alloc(memory, boundaries_label,
                                  ((size_t)n + 1) * sizeof *run->boundaries);
    bool good = has != NULL && run->boundaries != NULL;
    storm_status status =
        storm_context_agree(run->context, good ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK)
        status = boundaries_find(run, n, has);
    if (status == STORM_OK)
        status = boundaries_check(run, n, has);
    if (status == STORM_OK)
        status = regions_check(run, has + BOUNDARIES_NUMBERS);
    storm_free(memory, has);
    if (status < 0)
        return status;
    for (int i = 0; i < n && (size_t)i < run->deck->n_boundaries; i++)
        run->boundaries[i] = run->deck->boundaries[i];
    run->problem.boundaries = run->boundaries;
    run->problem.n_boundaries = (size_t)n;
    boundaries_report(run);
    return STORM_OK;
}

void run_boundaries_close(struct run *run)
{
    storm_free(storm_context_env(run->context)->memory, run->boundaries);
    run->boundaries = NULL;
}
