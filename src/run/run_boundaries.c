/* SPDX-License-Identifier: BSD-3-Clause */
/* Boundaries of a mesh from a file: those of the deck, others are vacuum. */
#include <inttypes.h>
#include <stdio.h>

#include <storm/context.h>

#include "base/env.h"
#include "io/io_meshfile.h"
#include "run/run.h"

static const char boundaries_label[] = "run";

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
    char known[128] = "", where[16] = " --set";
    size_t used = 0, i = 0;
    while (i < walls->numbered.n && walls->numbered.item[i].number < n &&
           has[walls->numbered.item[i].number])
        i++;
    if (i == walls->numbered.n)
        return false;
    for (int k = 0; k < n && used + 16 < sizeof known; k++)
        if (has[k])
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%d",
                                     used > 0 ? ", " : "", k);
    if (walls->numbered.item[i].line > 0)
        snprintf(where, sizeof where, "%d", walls->numbered.item[i].line);
    snprintf(text_out, size,
             "%s:%s: boundaries.%" PRId64 ": expected the number of a boundary "
             "of %s (%s%s)",
             deck->path != NULL ? deck->path : "deck", where,
             walls->numbered.item[i].number, deck->values.mesh.file, known,
             used + 16 < sizeof known ? "" : ", ...");
    return true;
}

/* Every number of the deck is one of the mesh. */
static storm_status boundaries_check(const struct run *run, int n,
                                     const int *has)
{
    char text[1024];
    if (!boundaries_lack(run->deck, n, has, text, sizeof text))
        return STORM_OK;
    if (storm_context_rank(run->context) == 0)
        storm_context_log(run->context, STORM_LOG_ERROR, "%s", text);
    return STORM_ERR_ARG;
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
                           (size_t)file->n_boundaries * sizeof *has);
    if (has == NULL)
        return STORM_ERR_NOMEM;
    for (size_t f = 0; f < file->n_faces; f++)
        if (file->behind[f] < 0)
            has[file->boundary[f]] = 1;
    if (boundaries_lack(deck, file->n_boundaries, has, problem, problem_size))
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
    problem[0] = '\0';
    if (deck->values.mesh.kind != STORM_MESH_FILE)
        return STORM_OK;
    storm_status status = storm_memory_create(&env.memory);
    if (status < 0)
        return status;
    status = boundaries_of_file(deck, &file, problem, problem_size);
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
    int *has =
        storm_alloc(memory, boundaries_label, ((size_t)n + 1) * sizeof *has);
    run->boundaries = storm_alloc(memory, boundaries_label,
                                  ((size_t)n + 1) * sizeof *run->boundaries);
    bool good = has != NULL && run->boundaries != NULL;
    storm_status status =
        storm_context_agree(run->context, good ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK)
        status = boundaries_find(run, n, has);
    if (status == STORM_OK)
        status = boundaries_check(run, n, has);
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
