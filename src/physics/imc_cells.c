/* SPDX-License-Identifier: BSD-3-Clause */
/* The arrays of implicit Monte Carlo, by cell. */
#include <math.h>
#include <string.h>

#include <storm/context.h>

#include "mesh/mesh_ops.h"
#include "physics/imc.h"

static const char cells_label[] = "imc cells";

/* ---- geometry ----------------------------------------------------------- */

/* Extents of a box from its faces; false if it is none. */
static bool cells_box(const struct storm_mesh *mesh, storm_cell_idx cell,
                      double volume, double half_out[3])
{
    double area[3] = {0.0, 0.0, 0.0};
    for (int k = 0; k < storm_mesh_n_faces(mesh, cell); k++) {
        struct storm_face face = STORM_FACE_INIT;
        storm_mesh_face(mesh, cell, k, &face);
        int axis = -1;
        for (int d = 0; d < 3; d++)
            if (face.normal[d] == 1.0 || face.normal[d] == -1.0)
                axis = d;
        if (axis < 0)
            return false;
        area[axis] += 0.5 * face.area_cm2;
    }
    for (int d = 0; d < 3; d++)
        half_out[d] = 0.5 * volume / area[d];
    return true;
}

/* Otherwise how far it reaches from its centre. */
static void cells_extent(const struct storm_mesh *mesh, storm_cell_idx cell,
                         const double centre[3], double half_out[3])
{
    double lo[3], hi[3];
    storm_mesh_bounds(mesh, cell, lo, hi);
    for (int d = 0; d < 3; d++)
        half_out[d] = fmax(hi[d] - centre[d], centre[d] - lo[d]);
}

/* No sphere in a convex cell has a larger radius: the volume is that of
 * pyramids over its faces, each as high as the radius at least. */
static double cells_inside(const struct storm_mesh *mesh, storm_cell_idx cell,
                           double volume)
{
    double area = 0.0;
    for (int k = 0; k < storm_mesh_n_faces(mesh, cell); k++) {
        struct storm_face face = STORM_FACE_INIT;
        storm_mesh_face(mesh, cell, k, &face);
        area += face.area_cm2;
    }
    return 3.0 * volume / area;
}

static void cells_measure(struct storm_imc *imc, storm_cell_idx i)
{
    double *centre = &imc->centre[3 * (size_t)i];
    double *half = &imc->half[3 * (size_t)i];
    imc->tag[i] = storm_mesh_cell_id(imc->mesh, i);
    imc->volume[i] = storm_mesh_volume_cm3(imc->mesh, i);
    storm_mesh_centre(imc->mesh, i, centre);
    imc->material[i] =
        storm_problem_cell_material(imc->problem, centre,
                                    storm_mesh_cell_number(imc->mesh, i));
    imc->mesh->ops->shape->unwrap(imc->mesh, i, centre);
    imc->is_box[i] = cells_box(imc->mesh, i, imc->volume[i], half);
    if (!imc->is_box[i])
        cells_extent(imc->mesh, i, centre, half);
    if (imc->inside != NULL)
        imc->inside[i] = cells_inside(imc->mesh, i, imc->volume[i]);
    imc->track.cells[i].outside = imc->material[i] == STORM_OUTSIDE;
}

/* ---- arrays ------------------------------------------------------------- */

static void *cells_array(struct storm_imc *imc, size_t per_cell, bool *ok)
{
    size_t n = (size_t)imc->n_cells + 1; /* never 0 */
    void *array = storm_alloc(imc->env->memory, cells_label, n * per_cell);
    *ok = *ok && array != NULL;
    return array;
}

storm_status imc_cells_open(struct storm_imc *imc)
{
    bool ok = true;
    size_t n_groups = (size_t)imc->problem->n_groups;
    imc->n_cells = storm_mesh_n_cells(imc->mesh);
    imc->track.cells = cells_array(imc, sizeof *imc->track.cells, &ok);
    imc->tag = cells_array(imc, sizeof *imc->tag, &ok);
    imc->material = cells_array(imc, sizeof *imc->material, &ok);
    imc->volume = cells_array(imc, sizeof(double), &ok);
    imc->is_box = cells_array(imc, sizeof(bool), &ok);
    imc->half = cells_array(imc, 3 * sizeof(double), &ok);
    imc->centre = cells_array(imc, 3 * sizeof(double), &ok);
    imc->matter.order = cells_array(imc, sizeof(storm_cell_idx), &ok);
    imc->density = cells_array(imc, sizeof(double), &ok);
    imc->emission = cells_array(imc, sizeof(double), &ok);
    imc->composition =
        cells_array(imc, imc->problem->n_components * sizeof(double), &ok);
    imc->energy = cells_array(imc, sizeof(double), &ok);
    imc->temperature = cells_array(imc, sizeof(double), &ok);
    imc->track.temperature = imc->temperature;
    imc->is_stale = cells_array(imc, sizeof(bool), &ok);
    imc->emitted = cells_array(imc, sizeof(double), &ok);
    imc->fleck = cells_array(imc, sizeof(double), &ok);
    imc->deposited = cells_array(imc, sizeof(double), &ok);
    imc->radiation = cells_array(imc, sizeof(double), &ok);
    imc->slope = cells_array(imc, 3 * sizeof(double), &ok);
    if (n_groups > 1)
        imc->opacity = cells_array(imc, n_groups * sizeof *imc->opacity, &ok);
    if (n_groups > 1)
        imc->spectrum = cells_array(imc, n_groups * sizeof(double), &ok);
    if (n_groups > 1 && imc->walk != NULL)
        imc->thick = cells_array(imc, n_groups * sizeof *imc->thick, &ok);
    if (imc->walk != NULL)
        imc->inside = cells_array(imc, sizeof(double), &ok);
    if (imc->problem->steer_by_error)
        imc->steer = cells_array(imc, sizeof *imc->steer, &ok);
    ok = imc_moments_open(imc) == STORM_OK && ok;
    ok = imc_motion_open(imc) == STORM_OK && ok;
    ok = imc_scatter_open(imc) == STORM_OK && ok;
    imc->track.fleck = imc->fleck;
    imc->track.opacity = imc->opacity;
    imc->track.spectrum = imc->spectrum;
    imc->track.thick = imc->thick;
    if (ok)
        for (storm_cell_idx i = 0; i < imc->n_cells; i++)
            cells_measure(imc, i);
    storm_status status =
        storm_context_agree(imc->context, ok ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK)
        status = imc_halo_open(imc);
    if (status == STORM_OK)
        status = imc_principle_open(imc);
    if (status == STORM_OK)
        status = imc_ddmc_open(imc);
    if (status == STORM_OK)
        status = imc_wall_open(imc);
    if (status == STORM_OK)
        imc->generation = storm_mesh_generation(imc->mesh);
    return status;
}

storm_status imc_cells_finish(struct storm_imc *imc)
{
    imc_matter_sort(imc);
    imc_source_close(imc);
    return imc_source_open(imc);
}

void imc_cells_close(struct storm_imc *imc)
{
    struct storm_memory *memory = imc->env->memory;
    imc_wall_close(imc);
    imc_source_close(imc);
    imc_ddmc_close(imc);
    imc_principle_close(imc);
    imc_halo_close(imc);
    imc_moments_close(imc);
    storm_free(memory, imc->track.cells);
    storm_free(memory, imc->tag);
    storm_free(memory, imc->material);
    storm_free(memory, imc->volume);
    storm_free(memory, imc->is_box);
    storm_free(memory, imc->half);
    storm_free(memory, imc->centre);
    storm_free(memory, imc->matter.order);
    storm_free(memory, imc->start_kev);
    imc->start_kev = NULL;
    storm_free(memory, imc->density);
    storm_free(memory, imc->emission);
    storm_free(memory, imc->composition);
    storm_free(memory, imc->energy);
    storm_free(memory, imc->temperature);
    storm_free(memory, imc->is_stale);
    storm_free(memory, imc->emitted);
    storm_free(memory, imc->fleck);
    storm_free(memory, imc->deposited);
    storm_free(memory, imc->radiation);
    storm_free(memory, imc->slope);
    storm_free(memory, imc->opacity);
    storm_free(memory, imc->spectrum);
    storm_free(memory, imc->thick);
    storm_free(memory, imc->inside);
    storm_free(memory, imc->steer);
    imc_motion_close(imc);
    imc_scatter_close(imc);
    imc->track.cells = NULL;
    imc->tag = NULL;
    imc->material = NULL;
    imc->is_box = imc->is_stale = NULL;
    imc->matter.order = NULL;
    imc->volume = imc->half = imc->centre = NULL;
    imc->density = imc->emission = imc->composition = imc->energy = NULL;
    imc->temperature = imc->emitted = imc->fleck = NULL;
    imc->deposited = NULL;
    imc->has_step = false;
    imc->radiation = imc->slope = NULL;
    imc->opacity = NULL;
    imc->spectrum = NULL;
    imc->thick = NULL;
    imc->inside = NULL;
    imc->steer = NULL;
    imc->generation = UINT64_MAX; /* of no mesh */
}

void imc_cells_fill(struct storm_imc *imc, storm_cell_idx cell)
{
    int m = imc->material[cell];
    const struct storm_material *material =
        imc_has_matter(imc, m) ? &imc->problem->materials[m] : NULL;
    imc->density[cell] = imc_start_density(imc, cell);
    imc->emission[cell] = 1.0;
    for (size_t k = 0; k < imc->problem->n_components; k++)
        imc->composition[k * (size_t)imc->n_cells + (size_t)cell] =
            material != NULL && material->composition != NULL
                ? material->composition[k]
                : 0.0;
    for (int d = 0; d < 3 && imc->velocity != NULL; d++)
        *imc_velocity(imc, cell, d) =
            material != NULL ? material->velocity_cm_s[d] : 0.0;
}

storm_status imc_cells_begin(struct storm_imc *imc)
{
    storm_status status = STORM_OK;
    for (storm_cell_idx i = 0; i < imc->n_cells && status == STORM_OK; i++) {
        imc_cells_fill(imc, i);
        if (!imc_has_matter(imc, imc->material[i]))
            continue;
        status = imc_start_check(imc, i);
        imc->temperature[i] = imc_start_matter_kev(imc, i);
    }
    status = storm_context_agree(imc->context, status);
    if (status < 0)
        return status;
    status = imc_matter_each(imc, NULL, imc_block_energy);
    for (storm_cell_idx i = 0; i < imc->n_cells && status >= 0; i++)
        storm_ledger_add(&imc->more[IMC_MATTER], imc_cell_erg(imc, i));
    return imc_fault_agree(imc, status);
}
