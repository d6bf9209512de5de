/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Emission that is not uniform in a cell: its slope comes from T^4 of the
 * neighbours (eq. 10), of which some are other ranks' cells.
 *
 * Faces are mutual (MESH-5 of the mesh). So the cells of this rank next to
 * those of rank r, in order of their indices, are exactly r's ghosts of this
 * rank: nothing has to be requested.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>

#include "mesh/mesh_ops.h"
#include "physics/imc.h"

static const char halo_label[] = "imc halo";

enum { HALO_VALUES = IMC_HALO_VALUES, HALO_TAG = 1 };

/* ---- cells next to other ranks ------------------------------------------ */

/* A face between a cell of this rank and one of another rank. */
struct halo_pair {
    int rank;
    storm_cell_idx cell, theirs;
};

static int halo_compare_ours(const void *a, const void *b)
{
    const struct halo_pair *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->cell > y->cell) - (x->cell < y->cell);
}

static int halo_compare_theirs(const void *a, const void *b)
{
    const struct halo_pair *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->theirs > y->theirs) - (x->theirs < y->theirs);
}

/* Counts faces, fills first[]; pairs may be NULL. */
static size_t halo_pairs(const struct storm_imc *imc, struct halo_pair *pairs)
{
    size_t n = 0, n_faces = 0;
    for (storm_cell_idx i = 0; i < imc->n_cells; i++) {
        imc->halo.first[i] = n_faces;
        for (int k = 0; k < storm_mesh_n_faces(imc->mesh, i); k++) {
            struct storm_face face = STORM_FACE_INIT;
            storm_mesh_face(imc->mesh, i, k, &face);
            n_faces += face.rank >= 0;
            if (face.rank < 0 || face.rank == imc->env->rank)
                continue;
            if (pairs != NULL)
                pairs[n] = (struct halo_pair){face.rank, i, face.neighbour};
            n++;
        }
    }
    imc->halo.first[imc->n_cells] = n_faces;
    return n;
}

/* The ranks, and the cells of this rank next to theirs. */
static void halo_fill_send(struct imc_halo *halo, struct halo_pair *pairs,
                           size_t n)
{
    qsort(pairs, n, sizeof *pairs, halo_compare_ours);
    size_t n_send = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || pairs[i].rank != pairs[i - 1].rank) {
            halo->ranks[halo->n_ranks] = pairs[i].rank;
            halo->begin[halo->n_ranks++] = n_send;
        }
        if (i == 0 || halo_compare_ours(&pairs[i], &pairs[i - 1]) != 0)
            halo->send[n_send++] = pairs[i].cell;
    }
    halo->begin[halo->n_ranks] = n_send;
}

/* Distinct cells of others, in order; n_ghosts of them, to the front. */
static void halo_unique(struct imc_halo *halo, struct halo_pair *pairs,
                        size_t n)
{
    qsort(pairs, n, sizeof *pairs, halo_compare_theirs);
    halo->n_ghosts = 0;
    size_t r = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || pairs[i].rank != pairs[halo->n_ghosts - 1].rank)
            halo->recv[r++] = halo->n_ghosts;
        if (i == 0 ||
            halo_compare_theirs(&pairs[i], &pairs[halo->n_ghosts - 1]) != 0)
            pairs[halo->n_ghosts++] = pairs[i];
    }
    halo->recv[r] = halo->n_ghosts;
}

static void halo_fill_next(struct storm_imc *imc,
                           const struct halo_pair *ghosts)
{
    struct imc_halo *halo = &imc->halo;
    size_t at = 0;
    for (storm_cell_idx i = 0; i < imc->n_cells; i++)
        for (int k = 0; k < storm_mesh_n_faces(imc->mesh, i); k++) {
            struct storm_face face = STORM_FACE_INIT;
            storm_mesh_face(imc->mesh, i, k, &face);
            if (face.rank < 0)
                continue;
            if (face.rank == imc->env->rank) {
                halo->next[at++] = face.neighbour;
                continue;
            }
            struct halo_pair key = {face.rank, i, face.neighbour};
            const struct halo_pair *found =
                bsearch(&key, ghosts, halo->n_ghosts, sizeof key,
                        halo_compare_theirs);
            STORM_ASSERT(found != NULL);
            halo->next[at++] = ~(int32_t)(found - ghosts);
        }
}

static storm_status halo_build(struct storm_imc *imc)
{
    struct storm_memory *memory = imc->env->memory;
    struct imc_halo *halo = &imc->halo;
    halo->first = storm_alloc(memory, halo_label,
                              ((size_t)imc->n_cells + 1) * sizeof *halo->first);
    if (halo->first == NULL)
        return STORM_ERR_NOMEM;
    size_t n = halo_pairs(imc, NULL);
    size_t n_faces = halo->first[imc->n_cells];
    struct halo_pair *pairs =
        storm_alloc(memory, halo_label, (n + 1) * sizeof *pairs);
    halo->next =
        storm_alloc(memory, halo_label, (n_faces + 1) * sizeof *halo->next);
    halo->ranks = storm_alloc(memory, halo_label, (n + 1) * sizeof(int));
    halo->begin =
        storm_alloc(memory, halo_label, (n + 2) * sizeof *halo->begin);
    halo->recv = storm_alloc(memory, halo_label, (n + 2) * sizeof *halo->recv);
    halo->send = storm_alloc(memory, halo_label, (n + 1) * sizeof *halo->send);
    storm_status status = STORM_ERR_NOMEM;
    if (pairs == NULL || halo->next == NULL || halo->ranks == NULL ||
        halo->begin == NULL || halo->recv == NULL || halo->send == NULL)
        goto out;
    halo_pairs(imc, pairs);
    halo_fill_send(halo, pairs, n);
    halo_unique(halo, pairs, n);
    halo_fill_next(imc, pairs);
    size_t bytes = HALO_VALUES * sizeof(double);
    halo->out = storm_alloc(memory, halo_label,
                            (halo->begin[halo->n_ranks] + 1) * bytes);
    halo->in = storm_alloc(memory, halo_label, (halo->n_ghosts + 1) * bytes);
    halo->requests = storm_alloc(memory, halo_label,
                                 (2 * halo->n_ranks + 1) * sizeof(MPI_Request));
    if (halo->out != NULL && halo->in != NULL && halo->requests != NULL)
        status = STORM_OK;
out:
    storm_free(memory, pairs);
    return status;
}

storm_status imc_halo_open(struct storm_imc *imc)
{
    return storm_context_agree(imc->context, halo_build(imc));
}

void imc_halo_close(struct storm_imc *imc)
{
    struct storm_memory *memory = imc->env->memory;
    struct imc_halo *halo = &imc->halo;
    storm_free(memory, halo->ranks);
    storm_free(memory, halo->begin);
    storm_free(memory, halo->recv);
    storm_free(memory, halo->send);
    storm_free(memory, halo->first);
    storm_free(memory, halo->next);
    storm_free(memory, halo->requests);
    storm_free(memory, halo->out);
    storm_free(memory, halo->in);
    *halo = (struct imc_halo){0};
}

/* ---- exchange ----------------------------------------------------------- */

/* What neighbours need of a cell. */
static void halo_value(const struct storm_imc *imc, storm_cell_idx i,
                       double value_out[HALO_VALUES])
{
    double t2 = imc->temperature[i] * imc->temperature[i];
    value_out[0] = imc->emitted[i] > 0.0 ? t2 * t2 : -1.0;
    memcpy(&value_out[1], &imc->centre[3 * (size_t)i], 3 * sizeof(double));
    value_out[IMC_HALO_HOT] =
        fmax(t2 * t2, imc->radiation[i] / imc->problem->radiation_erg_cm3_kev4);
}

double imc_halo_hot(const struct storm_imc *imc, int32_t next)
{
    double value[HALO_VALUES];
    if (next < 0)
        return imc->halo.in[HALO_VALUES * (size_t)~next + IMC_HALO_HOT];
    halo_value(imc, next, value);
    return value[IMC_HALO_HOT];
}

static storm_status halo_exchange(struct storm_imc *imc)
{
    struct imc_halo *halo = &imc->halo;
    MPI_Comm comm = storm_context_comm(imc->context);
    size_t n = halo->n_ranks;
    MPI_Request *requests = halo->requests;
    for (size_t i = 0; i < halo->begin[n]; i++)
        halo_value(imc, halo->send[i], &halo->out[HALO_VALUES * i]);
    int error = MPI_SUCCESS;
    for (size_t r = 0; r < n; r++) {
        size_t at = HALO_VALUES * halo->begin[r];
        int count = (int)(HALO_VALUES * (halo->begin[r + 1] - halo->begin[r]));
        error |=
            MPI_Irecv(&halo->in[HALO_VALUES * halo->recv[r]],
                      (int)(HALO_VALUES * (halo->recv[r + 1] - halo->recv[r])),
                      MPI_DOUBLE, halo->ranks[r], HALO_TAG, comm, &requests[r]);
        error |= MPI_Isend(&halo->out[at], count, MPI_DOUBLE, halo->ranks[r],
                           HALO_TAG, comm, &requests[n + r]);
    }
    storm_status status = error == MPI_SUCCESS ? STORM_OK : STORM_ERR_FABRIC;
    for (size_t r = 0; r < 2 * n && status == STORM_OK; r++)
        status = storm_context_wait(imc->context, &requests[r]);
    if (status < 0) { /* MPI may use unfinished ones until it is finalised */
        halo->out = halo->in = NULL;
        halo->requests = NULL;
    }
    return status;
}

/* ---- slopes ------------------------------------------------------------- */

/* From a cell to a neighbour, across periodic walls if that is shorter. */
static void halo_vector(const struct storm_imc *imc, const double from[3],
                        const double to[3], double vector_out[3])
{
    const struct storm_problem *p = imc->problem;
    for (int d = 0; d < 3; d++) {
        double length = p->hi_cm[d] - p->lo_cm[d];
        const struct storm_wall *wall = &p->walls[2 * d];
        vector_out[d] = to[d] - from[d];
        if (wall->n == 1 && wall->parts[0].kind == STORM_WALL_PERIODIC)
            vector_out[d] -= length * floor(vector_out[d] / length + 0.5);
    }
}

/* Solves a symmetric 3 x 3 system; directions without neighbours get 0. */
static void halo_solve(double a[3][3], const double b[3], double x_out[3])
{
    double l[3][3] = {{0.0}}, diagonal[3], y[3];
    double small = 1e-12 * (a[0][0] + a[1][1] + a[2][2]);
    for (int j = 0; j < 3; j++) {
        diagonal[j] = a[j][j];
        for (int k = 0; k < j; k++)
            diagonal[j] -= l[j][k] * l[j][k] * diagonal[k];
        bool void_direction = !(diagonal[j] > small);
        if (void_direction)
            diagonal[j] = 0.0;
        for (int i = j + 1; i < 3; i++) {
            double sum = a[i][j];
            for (int k = 0; k < j; k++)
                sum -= l[i][k] * l[j][k] * diagonal[k];
            l[i][j] = void_direction ? 0.0 : sum / diagonal[j];
        }
        y[j] = b[j];
        for (int k = 0; k < j; k++)
            y[j] -= l[j][k] * y[k];
    }
    for (int j = 2; j >= 0; j--) {
        x_out[j] = diagonal[j] > 0.0 ? y[j] / diagonal[j] : 0.0;
        for (int k = j + 1; k < 3; k++)
            x_out[j] -= l[k][j] * x_out[k];
    }
}

/* Least squares over the neighbours that emit, with weights 1 / distance^2. */
static void halo_slope(struct storm_imc *imc, storm_cell_idx i)
{
    const struct imc_halo *halo = &imc->halo;
    double mine[HALO_VALUES], a[3][3] = {{0.0}}, b[3] = {0.0};
    double *slope = &imc->slope[3 * (size_t)i];
    halo_value(imc, i, mine);
    slope[0] = slope[1] = slope[2] = 0.0;
    if (!(mine[0] > 0.0))
        return;
    for (size_t k = halo->first[i]; k < halo->first[i + 1]; k++) {
        double other[HALO_VALUES], vector[3];
        int32_t next = halo->next[k];
        if (next >= 0)
            halo_value(imc, next, other);
        else
            memcpy(other, &halo->in[HALO_VALUES * (size_t)~next], sizeof other);
        halo_vector(imc, &mine[1], &other[1], vector);
        double square = vector[0] * vector[0] + vector[1] * vector[1] +
                        vector[2] * vector[2];
        if (!(other[0] >= 0.0) || !(square > 0.0))
            continue;
        for (int d = 0; d < 3; d++) {
            b[d] += vector[d] * (other[0] - mine[0]) / square;
            for (int e = 0; e < 3; e++)
                a[d][e] += vector[d] * vector[e] / square;
        }
    }
    halo_solve(a, b, slope);
    /* Relative, and nowhere negative in the cell. */
    double max = 0.0, square = 0.0;
    for (int d = 0; d < 3; d++) {
        slope[d] /= mine[0];
        double change = fabs(slope[d]) * imc->half[3 * (size_t)i + (size_t)d];
        max += change;
        square += change * change;
    }
    /* A polyhedron has no corner where the box around it has; it is more like
     * the ellipsoid in that box. Where it is not, emission is cut off at 0. */
    if (!imc->is_box[i])
        max = sqrt(square);
    for (int d = 0; d < 3 && max > 1.0; d++)
        slope[d] /= max;
}

storm_status imc_halo_slopes(struct storm_imc *imc)
{
    storm_status status = halo_exchange(imc);
    for (storm_cell_idx i = 0; status == STORM_OK && i < imc->n_cells; i++)
        halo_slope(imc, i);
    return status;
}
