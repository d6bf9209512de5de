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
    imc->energy = cells_array(imc, sizeof(double), &ok);
    imc->temperature = cells_array(imc, sizeof(double), &ok);
    imc->emitted = cells_array(imc, sizeof(double), &ok);
    imc->deposited = cells_array(imc, sizeof(double), &ok);
    imc->radiation = cells_array(imc, sizeof(double), &ok);
    imc->slope = cells_array(imc, 3 * sizeof(double), &ok);
    if (n_groups > 1)
        imc->opacity = cells_array(imc, n_groups * sizeof *imc->opacity, &ok);
    if (n_groups > 1 && imc->walk != NULL)
        imc->thick = cells_array(imc, n_groups * sizeof *imc->thick, &ok);
    if (imc->problem->steer_by_error)
        imc->steer = cells_array(imc, sizeof *imc->steer, &ok);
    imc->track.opacity = imc->opacity;
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
        status = imc_wall_open(imc);
    if (status == STORM_OK)
        imc->generation = storm_mesh_generation(imc->mesh);
    return status;
}

storm_status imc_cells_finish(struct storm_imc *imc)
{
    imc_source_close(imc);
    return imc_source_open(imc);
}

void imc_cells_close(struct storm_imc *imc)
{
    struct storm_memory *memory = imc->env->memory;
    imc_wall_close(imc);
    imc_source_close(imc);
    imc_principle_close(imc);
    imc_halo_close(imc);
    storm_free(memory, imc->track.cells);
    storm_free(memory, imc->tag);
    storm_free(memory, imc->material);
    storm_free(memory, imc->volume);
    storm_free(memory, imc->is_box);
    storm_free(memory, imc->half);
    storm_free(memory, imc->centre);
    storm_free(memory, imc->energy);
    storm_free(memory, imc->temperature);
    storm_free(memory, imc->emitted);
    storm_free(memory, imc->deposited);
    storm_free(memory, imc->radiation);
    storm_free(memory, imc->slope);
    storm_free(memory, imc->opacity);
    storm_free(memory, imc->thick);
    storm_free(memory, imc->steer);
    imc->track.cells = NULL;
    imc->tag = NULL;
    imc->material = NULL;
    imc->is_box = NULL;
    imc->volume = imc->half = imc->centre = imc->energy = NULL;
    imc->temperature = imc->emitted = imc->deposited = NULL;
    imc->radiation = imc->slope = NULL;
    imc->opacity = NULL;
    imc->thick = NULL;
    imc->steer = NULL;
    imc->generation = UINT64_MAX; /* of no mesh */
}

void imc_cells_begin(struct storm_imc *imc)
{
    for (storm_cell_idx i = 0; i < imc->n_cells; i++) {
        int m = imc->material[i];
        if (m < 0 || m >= (int)imc->problem->n_materials)
            continue;
        imc->temperature[i] = imc->problem->materials[m].temperature_kev;
        imc->energy[i] = storm_heat_energy(&imc->heat[m], imc->temperature[i]);
    }
}
