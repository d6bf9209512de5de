/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 3; timeout: 60; label: slow-asan slow-mpich */
/*
 * A rank that is lost while all change a mesh, or move data of cells, ends the
 * calls of the others with STORM_ERR_LOST, whichever of MPI's calls it does not
 * join; and what they free afterwards is not what MPI may still use. It counts
 * as lost as if it were killed, but stays: launchers would end the others.
 */
#include <stdlib.h>
#include <unistd.h>

#include <storm/change.h>
#include <storm/context.h>
#include <storm/voronoi.h>

#include "base/lifeline.h"
#include "engine/engine_context.h"
#include "support/check.h"
#include "support/dice.h"

enum { N_POINTS = 60, ROW = 24 };

/* The rank is lost in its n-th call from now on; 0: never. */
static int n_left;
static struct storm_context *context;

static bool lost_here(void)
{
    struct storm_lifeline *lifeline;
    if (n_left == 0 || --n_left > 0)
        return false;
    lifeline = storm_context_env(context)->lifeline;
    storm_lifeline_fail(lifeline);
    while (storm_lifeline_check(lifeline) == STORM_OK)
        usleep(100);
    return true;
}

#define JOINED(_name, _params, _args)                            \
    int MPI_##_name _params                                      \
    {                                                            \
        return lost_here() ? MPI_ERR_OTHER : PMPI_##_name _args; \
    }

JOINED(Isend,
       (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c,
        MPI_Request *r),
       (b, n, t, to, tag, c, r))
JOINED(Irecv,
       (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c,
        MPI_Request *r),
       (b, n, t, from, tag, c, r))
JOINED(Ialltoall,
       (const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u,
        MPI_Comm c, MPI_Request *r),
       (a, n, t, b, m, u, c, r))
JOINED(Iallreduce,
       (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c,
        MPI_Request *r),
       (a, b, n, t, o, c, r))

static struct storm_mesh *make_mesh(int rank)
{
    double points[N_POINTS][3];
    storm_cell_id tags[N_POINTS];
    struct dice dice = dice_make(1, 0);
    for (int i = 0; i < N_POINTS; i++) {
        for (int d = 0; d < 3; d++)
            points[i][d] = (double)(dice_word(&dice) >> 11) * 0x1p-53;
        tags[i] = 1000 - 7 * (storm_cell_id)i;
    }
    struct storm_voronoi_params params = {.size = sizeof params,
                                          .hi_cm = {1, 1, 1},
                                          .points_cm = &points[0][0],
                                          .n_points = rank == 0 ? N_POINTS : 0,
                                          .tags = rank == 0 ? tags : NULL};
    struct storm_mesh *mesh;
    CHECK_OK(storm_mesh_create_voronoi(context, &params, &mesh));
    return mesh;
}

static uint64_t weigh(void *self, storm_cell_idx cell)
{
    return storm_mesh_cell_id(self, cell);
}

/* All calls, until one fails. */
static storm_status change_mesh(struct storm_mesh *mesh, struct storm_cut *cut)
{
    static char in[N_POINTS * ROW], out[N_POINTS * ROW];
    struct storm_change *change = NULL;
    storm_cell_id tags[] = {1000, 1};
    struct storm_cell_ref where[2];
    storm_cell_idx n;
    storm_cut_fill(cut, weigh, mesh);
    storm_status status = storm_mesh_use(mesh, cut, &change);
    if (status == STORM_OK)
        status = storm_mesh_carry(mesh, change, ROW, in, out);
    storm_change_destroy(change);
    if (status == STORM_OK)
        status = storm_mesh_n_ghosts(mesh, &n);
    if (status == STORM_OK) {
        char *ghosts = malloc((size_t)n * ROW + 1);
        CHECK(ghosts != NULL);
        status = storm_mesh_ghosts(mesh, ROW, in, ghosts);
        free(ghosts);
    }
    if (status == STORM_OK)
        status = storm_mesh_find(mesh, 2, tags, where);
    if (status == STORM_OK)
        status = storm_mesh_rows(mesh, ROW, in, out);
    return status;
}

static void ignore(void *self, storm_log_level level, int rank,
                   const char *message)
{
    (void)self, (void)level, (void)rank, (void)message;
}

/* Loses rank 1 in its i-th call; false if it makes fewer. */
static bool lose(int i)
{
    struct storm_context_params own = {.size = sizeof own, .log = ignore};
    struct storm_cut *cut;
    alarm(50); /* a rank that waits for ever fails the test */
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, &own, &context));
    int rank = storm_context_rank(context);
    struct storm_mesh *mesh = make_mesh(rank);
    CHECK_OK(storm_cut_create(mesh, &cut));
    check_where("rank %d, call %d", rank, i);
    MPI_Barrier(MPI_COMM_WORLD); /* nobody is still in a call before */
    n_left = rank == 1 ? i : 0;
    storm_status status = change_mesh(mesh, cut);
    n_left = 0;
    if (status < 0 && rank != 1)
        CHECK_EQ(status, STORM_ERR_LOST);
    storm_mesh_destroy(mesh);
    storm_context_destroy(context);
    /* Others may be done before it fails. */
    int failed = status < 0;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return failed;
}

int main(void)
{
    MPI_Init(NULL, NULL);
    int n = 0;
    while (lose(n + 1))
        n++;
    CHECK(n >= 30);
    MPI_Finalize();
    return CHECK_PASS;
}
