/* SPDX-License-Identifier: BSD-3-Clause */
/* Boundaries of a mesh from a file: those of the deck, others are vacuum. */
#include <inttypes.h>
#include <stdio.h>

#include <storm/context.h>

#include "base/env.h"
#include "base/page.h"
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

/* On rank 0: "0, 1, 4", the first of them. */
static void boundaries_lack(const struct run *run,
                            const struct deck_boundary *boundary, int n,
                            const int *has)
{
    const char *path = run->deck->path;
    char known[128] = "";
    size_t used = 0;
    for (int i = 0; i < n && used + 16 < sizeof known; i++)
        if (has[i])
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%d",
                                     used > 0 ? ", " : "", i);
    storm_context_log(run->context, STORM_LOG_ERROR,
                      "%s:%d: boundaries.%" PRId64 ": expected the number of a "
                      "boundary of %s (%s%s)",
                      path != NULL ? path : "deck", boundary->line,
                      boundary->number, run->deck->values.mesh.file, known,
                      used + 16 < sizeof known ? "" : ", ...");
}

/* Every number of the deck is one of the mesh. */
static storm_status boundaries_check(const struct run *run, int n,
                                     const int *has)
{
    const struct deck_walls *walls = &run->deck->values.boundaries;
    storm_status status = STORM_OK;
    for (size_t i = 0; i < walls->numbered.n; i++) {
        const struct deck_boundary *b = &walls->numbered.item[i];
        if (b->number < n && has[b->number])
            continue;
        if (storm_context_rank(run->context) == 0)
            boundaries_lack(run, b, n, has);
        status = STORM_ERR_ARG;
    }
    return status;
}

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
