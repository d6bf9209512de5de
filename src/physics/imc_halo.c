/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Emission that is not uniform in a cell: its slope comes from T^4 of the
 * neighbours (eq. 10), some of which are ghosts of the mesh.
 */
#include <math.h>

#include <storm/change.h>
#include <storm/context.h>

#include "mesh/mesh_ops.h"
#include "physics/imc.h"

static const char halo_label[] = "imc halo";

/* ---- cells behind faces ------------------------------------------------- */

/* Counts faces, fills first[]; next may be NULL. */
static size_t halo_faces(const struct storm_imc *imc, int32_t *next)
{
    size_t n = 0;
    for (storm_cell_idx i = 0; i < imc->n_cells; i++) {
        imc->halo.first[i] = n;
        for (int k = 0; k < storm_mesh_n_faces(imc->mesh, i); k++) {
            struct storm_face face = STORM_FACE_INIT;
            storm_mesh_face(imc->mesh, i, k, &face);
            if (face.rank < 0)
                continue;
            if (next != NULL)
                next[n] =
                    face.rank == imc->env->rank ? face.neighbour : ~face.ghost;
            n++;
        }
    }
    imc->halo.first[imc->n_cells] = n;
    return n;
}

static storm_status halo_build(struct storm_imc *imc, size_t n_ghosts)
{
    struct storm_memory *memory = imc->env->memory;
    struct imc_halo *halo = &imc->halo;
    size_t n = (size_t)imc->n_cells;
    const size_t bytes = IMC_HALO_VALUES * sizeof(double);
    halo->first =
        storm_alloc(memory, halo_label, (n + 1) * sizeof *halo->first);
    halo->own = storm_alloc(memory, halo_label, (n + 1) * bytes);
    halo->ghosts = storm_alloc(memory, halo_label, (n_ghosts + 1) * bytes);
    halo->centre =
        storm_alloc(memory, halo_label, (n_ghosts + 1) * 3 * sizeof(double));
    if (halo->first == NULL || halo->own == NULL || halo->ghosts == NULL ||
        halo->centre == NULL)
        return STORM_ERR_NOMEM;
    halo->next = storm_alloc(memory, halo_label,
                             (halo_faces(imc, NULL) + 1) * sizeof *halo->next);
    if (halo->next == NULL)
        return STORM_ERR_NOMEM;
    halo_faces(imc, halo->next);
    return STORM_OK;
}

storm_status imc_halo_open(struct storm_imc *imc)
{
    storm_cell_idx n_ghosts;
    storm_status status = storm_mesh_n_ghosts(imc->mesh, &n_ghosts);
    if (status < 0)
        return status;
    status =
        storm_context_agree(imc->context, halo_build(imc, (size_t)n_ghosts));
    return status < 0 ? status
                      : storm_mesh_ghosts(imc->mesh, 3 * sizeof(double),
                                          imc->centre, imc->halo.centre);
}

void imc_halo_close(struct storm_imc *imc)
{
    struct storm_memory *memory = imc->env->memory;
    struct imc_halo *halo = &imc->halo;
    storm_free(memory, halo->first);
    storm_free(memory, halo->next);
    storm_free(memory, halo->centre);
    storm_free(memory, halo->own);
    storm_free(memory, halo->ghosts);
    *halo = (struct imc_halo){0};
}

/* ---- values ------------------------------------------------------------- */

static void halo_set(struct storm_imc *imc, storm_cell_idx i)
{
    double t2 = imc->temperature[i] * imc->temperature[i];
    double emits = t2 * t2 * imc->emission[i];
    double *value = &imc->halo.own[IMC_HALO_VALUES * (size_t)i];
    value[IMC_HALO_T4] = imc->emitted[i] > 0.0 ? emits : -1.0;
    value[IMC_HALO_HOT] =
        fmax(emits, imc->radiation[i] / imc->problem->radiation_erg_cm3_kev4);
    /* A cold wall is as hot at its face as the radiation in front of it. */
    value[IMC_HALO_KEV4] =
        imc_has_matter(imc, imc->material[i]) ? t2 * t2 : 0.0;
    if (imc->problem->diffusion && !imc->ddmc.cells[i].is_in)
        value[IMC_HALO_KEV4] =
            fmax(value[IMC_HALO_KEV4],
                 imc->radiation[i] / imc->problem->radiation_erg_cm3_kev4);
}

static const double *halo_values(const struct storm_imc *imc, int32_t next)
{
    const struct imc_halo *halo = &imc->halo;
    return next >= 0 ? &halo->own[IMC_HALO_VALUES * (size_t)next]
                     : &halo->ghosts[IMC_HALO_VALUES * (size_t)~next];
}

static const double *halo_centre(const struct storm_imc *imc, int32_t next)
{
    return next >= 0 ? &imc->centre[3 * (size_t)next]
                     : &imc->halo.centre[3 * (size_t)~next];
}

double imc_halo_hot(const struct storm_imc *imc, int32_t next)
{
    return halo_values(imc, next)[IMC_HALO_HOT];
}

double imc_halo_kev4(const struct storm_imc *imc, int32_t next)
{
    return halo_values(imc, next)[IMC_HALO_KEV4];
}

/* ---- slopes ------------------------------------------------------------- */

void imc_halo_vector(const struct storm_imc *imc, storm_cell_idx cell,
                     int32_t next, double vector_out[3])
{
    const struct storm_problem *p = imc->problem;
    const double *from = halo_centre(imc, cell), *to = halo_centre(imc, next);
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
    double mine = halo_values(imc, i)[IMC_HALO_T4];
    double a[3][3] = {{0.0}}, b[3] = {0.0};
    double *slope = &imc->slope[3 * (size_t)i];
    slope[0] = slope[1] = slope[2] = 0.0;
    if (!(mine > 0.0))
        return;
    for (size_t k = halo->first[i]; k < halo->first[i + 1]; k++) {
        int32_t next = halo->next[k];
        double other = halo_values(imc, next)[IMC_HALO_T4], vector[3];
        imc_halo_vector(imc, i, next, vector);
        double square = vector[0] * vector[0] + vector[1] * vector[1] +
                        vector[2] * vector[2];
        if (!(other >= 0.0) || !(square > 0.0))
            continue;
        for (int d = 0; d < 3; d++) {
            b[d] += vector[d] * (other - mine) / square;
            for (int e = 0; e < 3; e++)
                a[d][e] += vector[d] * vector[e] / square;
        }
    }
    halo_solve(a, b, slope);
    /* Relative, and nowhere negative in the cell. */
    double max = 0.0, square = 0.0;
    for (int d = 0; d < 3; d++) {
        slope[d] /= mine;
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
    for (storm_cell_idx i = 0; i < imc->n_cells; i++)
        halo_set(imc, i);
    storm_status status =
        storm_mesh_ghosts(imc->mesh, IMC_HALO_VALUES * sizeof(double),
                          imc->halo.own, imc->halo.ghosts);
    for (storm_cell_idx i = 0; status == STORM_OK && i < imc->n_cells; i++)
        halo_slope(imc, i);
    return status;
}
