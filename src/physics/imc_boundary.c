/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blackbodies on numbered boundaries of given meshes. Packets are distributed
 * over faces by area, in the order of the tags of their cells: the same packets
 * in any partition. A face of which a shape covers a part counts with the share
 * of points that are in it.
 */
#include <math.h>

#include <storm/context.h>

#include "mesh/mesh_order.h"
#include "physics/imc.h"
#include "physics/problem.h"
#include "physics/turn.h"

static const char boundary_label[] = "imc walls";

/* Areas become whole numbers, this for the largest. */
static const double boundary_scale = 0x1p36;

/* A part of a boundary, and what is known of its faces. */
struct boundary {
    const struct storm_wall_part *edge;
    int wall;
    struct imc_wall *part;
    double *area;          /* by face */
    storm_cell_idx *cells; /* by face */
    uint64_t *shares;      /* by face */
};

/* The part of a face that belongs to the edge: share of points. */
static double boundary_share(const struct storm_imc *imc,
                             const struct boundary *b, storm_cell_idx cell,
                             int face)
{
    enum { POINTS = 1024 };
    const struct storm_wall *all = problem_wall(imc->problem, (size_t)b->wall);
    double u[2] = {0.5, 0.5}, point[3];
    int inside = 0;
    if (all->n == 1 && b->edge->shape.kind == STORM_SHAPE_ALL)
        return 1.0;
    for (int i = 0; i < POINTS; i++) {
        imc->mesh->ops->sample_face(imc->mesh, cell, face, u, point);
        inside += imc_edge_at(imc->problem, b->wall, point) == b->edge;
        imc_next_point(u);
    }
    return (double)inside / POINTS;
}

/* Counts faces; with arrays, fills them. */
static size_t boundary_faces(const struct storm_imc *imc, struct boundary *b)
{
    size_t n = 0;
    for (storm_cell_idx c = 0; c < imc->n_cells; c++)
        for (int k = 0; k < storm_mesh_n_faces(imc->mesh, c); k++) {
            struct storm_face face = STORM_FACE_INIT;
            (void)storm_mesh_face(imc->mesh, c, k, &face);
            if (face.rank >= 0 || face.wall != b->wall)
                continue;
            if (b->area != NULL) {
                double area = face.area_cm2 * boundary_share(imc, b, c, k);
                if (!(area > 0.0))
                    continue;
                b->part->faces[n] =
                    (struct imc_wall_face){.cell = c, .face = k};
                b->cells[n] = c;
                b->area[n] = area;
            }
            n++;
        }
    return n;
}

static storm_status boundary_alloc(const struct storm_imc *imc,
                                   struct boundary *b)
{
    struct storm_memory *memory = imc->env->memory;
    size_t n = boundary_faces(imc, b) + 1;
    b->part->faces =
        storm_alloc(memory, boundary_label, n * sizeof *b->part->faces);
    b->cells = storm_alloc(memory, boundary_label, n * sizeof *b->cells);
    b->shares = storm_alloc(memory, boundary_label, n * sizeof *b->shares);
    b->area = storm_alloc(memory, boundary_label, n * sizeof *b->area);
    return b->part->faces != NULL && b->cells != NULL && b->shares != NULL &&
                   b->area != NULL
               ? STORM_OK
               : STORM_ERR_NOMEM;
}

/* Area of all ranks, and shares. Collective. */
static storm_status boundary_reduce(const struct storm_imc *imc,
                                    struct boundary *b)
{
    struct storm_ledger sum = {.n_since_carry = 0};
    struct imc_wall *part = b->part;
    double max = 0.0;
    for (size_t i = 0; i < part->n_faces; i++) {
        storm_ledger_add(&sum, b->area[i]);
        max = fmax(max, b->area[i]);
    }
    storm_ledger_carry(&sum);
    storm_status status =
        storm_context_reduce(imc->context, &sum,
                             (int)(sizeof sum / sizeof(int64_t)), MPI_INT64_T,
                             MPI_SUM);
    if (status >= 0)
        status =
            storm_context_reduce(imc->context, &max, 1, MPI_DOUBLE, MPI_MAX);
    for (size_t i = 0; i < part->n_faces && status >= 0; i++)
        b->shares[i] = (uint64_t)(b->area[i] / max * boundary_scale) + 1;
    const struct storm_mesh_values values = {part->n_faces, b->cells,
                                             b->shares};
    uint64_t *before = storm_alloc(imc->env->memory, boundary_label,
                                   (part->n_faces + 1) * sizeof *before);
    if (status >= 0 && before == NULL)
        status = STORM_ERR_NOMEM;
    status = storm_mesh_sums(imc->mesh, status, &values, before, &part->total);
    for (size_t i = 0; i < part->n_faces && status >= 0; i++) {
        part->faces[i].begin = before[i];
        part->faces[i].end = before[i] + b->shares[i];
    }
    storm_free(imc->env->memory, before);
    part->area_cm2 = storm_ledger_value(&sum);
    return status;
}

storm_status imc_boundary_open(struct storm_imc *imc, int wall, size_t i_edge)
{
    struct storm_memory *memory = imc->env->memory;
    const struct storm_wall *all = problem_wall(imc->problem, (size_t)wall);
    struct boundary b = {.edge = &all->parts[i_edge],
                         .wall = wall,
                         .part = &imc->walls[wall][i_edge]};
    storm_status status =
        storm_context_agree(imc->context, boundary_alloc(imc, &b));
    if (status >= 0) {
        b.part->n_faces = boundary_faces(imc, &b);
        status = boundary_reduce(imc, &b);
    }
    /* Logged once: before the first step. */
    if (status >= 0 && b.part->total == 0 && imc->env->rank == 0 &&
        imc->dt_s == 0.0)
        storm_log_write(&imc->env->log, STORM_LOG_WARN,
                        "blackbody %zu of boundary %d has no area: it emits "
                        "nothing",
                        i_edge, wall);
    storm_free(memory, b.area);
    storm_free(memory, b.shares);
    storm_free(memory, b.cells);
    return status;
}

void imc_boundary_inwards(const double normal[3], const double u[2],
                          double direction_out[3])
{
    imc_turn(normal, -sqrt(u[0]), sqrt(1.0 - u[0]), u[1], direction_out);
}
