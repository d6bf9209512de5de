/* SPDX-License-Identifier: BSD-3-Clause */
/* Cells and volumes of the materials, next to those of their shapes; layers
 * that cells cannot resolve. */
#include <math.h>
#include <stdio.h>

#include <storm/context.h>

#include "base/env.h"
#include "base/json.h"
#include "base/page.h"
#include "run/run.h"

static const char materials_label[] = "run";

/* Points in the box that are asked for their material. */
enum { MATERIALS_POINTS = 1 << 18 };

/* Cells across a layer below which it may have holes. */
static const double materials_min_across = 2.0;

/* ---- volumes ------------------------------------------------------------- */

static void materials_count_cells(struct run *run, uint64_t *cells,
                                  double *volumes)
{
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(run->mesh); i++) {
        int m = storm_imc_material(run->imc, i);
        if (m < 0 || (size_t)m >= run->problem.n_materials)
            continue;
        cells[m]++;
        volumes[m] += storm_mesh_volume_cm3(run->mesh, i);
    }
}

/* Evenly spread points (Roberts' sequence), divided among the ranks: regions
 * may overlap, and the last one counts. */
static void materials_count_points(struct run *run, uint64_t *points)
{
    static const double golden[3] = {0.8191725133961645, 0.6710436067037893,
                                     0.5497004779019703};
    const struct storm_problem *p = &run->problem;
    int size = storm_context_size(run->context);
    for (int i = storm_context_rank(run->context); i < MATERIALS_POINTS;
         i += size) {
        double x[3];
        for (int d = 0; d < 3; d++) {
            double u = 0.5 + golden[d] * i;
            x[d] = p->lo_cm[d] + (p->hi_cm[d] - p->lo_cm[d]) * (u - floor(u));
        }
        int m = storm_problem_material(p, x);
        if (m >= 0 && (size_t)m < p->n_materials)
            points[m]++;
    }
}

static storm_status materials_measure(struct run *run)
{
    const struct storm_problem *p = &run->problem;
    int n = (int)p->n_materials;
    struct run_material *m = run->materials;
    double box = 1.0;
    storm_status status = STORM_OK;
    for (int d = 0; d < 3; d++)
        box *= p->hi_cm[d] - p->lo_cm[d];
    for (int i = 0; i < n && status == STORM_OK; i++) {
        uint64_t counts[2] = {m[i].cells, m[i].points};
        status = storm_context_reduce(run->context, counts, 2, MPI_UINT64_T,
                                      MPI_SUM);
        m[i].cells = counts[0];
        m[i].shape_cm3 = box * (double)counts[1] / MATERIALS_POINTS;
        if (status == STORM_OK)
            status = storm_context_reduce(run->context, &m[i].volume_cm3, 1,
                                          MPI_DOUBLE, MPI_SUM);
    }
    return status;
}

/* ---- layers -------------------------------------------------------------- */

/* A thin dimension of a shape. */
struct layer {
    double thickness_cm;
    unsigned axes; /* bits: the directions it is measured in */
};

static void layer_try(struct layer *layer, double thickness_cm, unsigned axes)
{
    if (thickness_cm < layer->thickness_cm)
        *layer = (struct layer){thickness_cm, axes};
}

/* Along an axis, unless the shape goes through the whole box there. */
static void layer_try_axis(struct layer *layer, const struct storm_problem *p,
                           int d, double lo, double hi)
{
    if (lo > p->lo_cm[d] || hi < p->hi_cm[d])
        layer_try(layer, fmin(hi, p->hi_cm[d]) - fmax(lo, p->lo_cm[d]),
                  1u << d);
}

static struct layer layer_of(const struct storm_problem *p,
                             const struct storm_shape *shape)
{
    struct layer layer = {INFINITY, 0};
    double shell = shape->radius_cm[1] - (shape->radius_cm[0] > 0.0
                                              ? shape->radius_cm[0]
                                              : -shape->radius_cm[1]);
    if (shape->kind == STORM_SHAPE_BOX)
        for (int d = 0; d < 3; d++)
            layer_try_axis(&layer, p, d, shape->lo_cm[d], shape->hi_cm[d]);
    if (shape->kind == STORM_SHAPE_SPHERE)
        layer_try(&layer, shell, 7u);
    if (shape->kind == STORM_SHAPE_CYLINDER) {
        layer_try(&layer, shell, 7u & ~(1u << shape->axis));
        layer_try_axis(&layer, p, shape->axis, shape->range_cm[0],
                       shape->range_cm[1]);
    }
    return layer;
}

/* The width of a cell in these directions: of a box the smallest, as one cell
 * may go through the whole box; of others that of a cube of its volume. */
static double layer_cell(const struct run *run, storm_cell_idx i, unsigned axes)
{
    double lo[3], hi[3], width = INFINITY;
    if (!storm_mesh_cells_are_boxes(run->mesh))
        return cbrt(storm_mesh_volume_cm3(run->mesh, i));
    storm_mesh_bounds(run->mesh, i, lo, hi);
    for (int d = 0; d < 3; d++)
        if (axes >> d & 1u)
            width = fmin(width, hi[d] - lo[d]);
    return width;
}

/* Mean width of the cells in the region; 0: it has none. */
static storm_status layer_width(const struct run *run,
                                const struct storm_region *region,
                                unsigned axes, double *width_out)
{
    double sum[2] = {0.0, 0.0};
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(run->mesh); i++) {
        double centre[3];
        storm_mesh_centre(run->mesh, i, centre);
        if (storm_imc_material(run->imc, i) != region->material ||
            !storm_shape_contains(&region->shape, centre))
            continue;
        sum[0] += 1.0;
        sum[1] += layer_cell(run, i, axes);
    }
    storm_status status =
        storm_context_reduce(run->context, sum, 2, MPI_DOUBLE, MPI_SUM);
    *width_out = sum[0] > 0.0 ? sum[1] / sum[0] : 0.0;
    return status;
}

static void layer_warn(const struct run *run, size_t i, double thickness_cm,
                       double width_cm)
{
    const struct storm_region *region = &run->problem.regions[i];
    char cells[64];
    snprintf(cells, sizeof cells, "its cells are about %.2g cm wide", width_cm);
    if (storm_context_rank(run->context) == 0)
        storm_context_log(run->context, STORM_LOG_WARN,
                          "region %zu, of material %s, is a layer of %.3g cm, "
                          "but %s: below two cells across it may have holes; "
                          "take more cells (%s)",
                          i, run->problem.materials[region->material].name,
                          thickness_cm,
                          width_cm > 0.0 ? cells : "it has no cells",
                          storm_mesh_cells_are_boxes(run->mesh)
                              ? "mesh.cells"
                              : "mesh.points, mesh.refine_interfaces");
}

/* Warns of the layer with the fewest cells across, if they are too few. */
static storm_status materials_check_layers(const struct run *run)
{
    const struct storm_problem *p = &run->problem;
    double fewest = materials_min_across, thickness = 0.0, width = 0.0;
    size_t i_fewest = p->n_regions;
    storm_status status = STORM_OK;
    for (size_t i = 0; i < p->n_regions && status == STORM_OK; i++) {
        struct layer layer = layer_of(p, &p->regions[i].shape);
        double cell;
        if (p->regions[i].material < 0 || !(layer.thickness_cm > 0.0) ||
            !isfinite(layer.thickness_cm))
            continue;
        status = layer_width(run, &p->regions[i], layer.axes, &cell);
        double across = cell > 0.0 ? layer.thickness_cm / cell : 0.0;
        if (across < fewest) {
            fewest = across;
            i_fewest = i;
            thickness = layer.thickness_cm;
            width = cell;
        }
    }
    if (status == STORM_OK && i_fewest < p->n_regions)
        layer_warn(run, i_fewest, thickness, width);
    return status;
}

/* ---- all ----------------------------------------------------------------- */

storm_status run_materials_open(struct run *run)
{
    struct storm_memory *memory = storm_context_env(run->context)->memory;
    size_t n = run->problem.n_materials;
    run->materials =
        storm_alloc(memory, materials_label, (n + 1) * sizeof *run->materials);
    uint64_t *counts =
        storm_alloc(memory, materials_label, (2 * n + 1) * sizeof *counts);
    double *volumes =
        storm_alloc(memory, materials_label, (n + 1) * sizeof *volumes);
    bool ok = run->materials != NULL && counts != NULL && volumes != NULL;
    storm_status status =
        storm_context_agree(run->context, ok ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK) {
        materials_count_cells(run, counts, volumes);
        materials_count_points(run, counts + n);
        for (size_t i = 0; i < n; i++)
            run->materials[i] = (struct run_material){.cells = counts[i],
                                                      .points = counts[n + i],
                                                      .volume_cm3 = volumes[i]};
        status = materials_measure(run);
    }
    storm_free(memory, counts);
    storm_free(memory, volumes);
    return status < 0 ? status : materials_check_layers(run);
}

void run_materials_close(struct run *run)
{
    storm_free(storm_context_env(run->context)->memory, run->materials);
}

void run_materials_json(const struct run *run, struct storm_json *json)
{
    storm_json_open(json, "materials", '[');
    for (size_t i = 0; i < run->problem.n_materials; i++) {
        const struct run_material *m = &run->materials[i];
        storm_json_open(json, NULL, '{');
        storm_json_text(json, "name", run->problem.materials[i].name);
        storm_json_uint(json, "cells", m->cells);
        storm_json_real(json, "volume", m->volume_cm3);
        storm_json_real(json, "shape_volume", m->shape_cm3);
        storm_json_close(json, '}');
    }
    storm_json_close(json, ']');
}

void run_materials_table(const struct run *run, struct storm_page *page)
{
    char number[STORM_GROUPED_BYTES];
    for (size_t i = 0; i < run->problem.n_materials; i++) {
        const struct run_material *m = &run->materials[i];
        storm_page_add(page,
                       "  %-10s  %s: %s cells of %.4g cm3 together, its shapes "
                       "have about %.4g\n",
                       i == 0 ? "materials" : "",
                       run->problem.materials[i].name,
                       storm_page_grouped(m->cells, number), m->volume_cm3,
                       m->shape_cm3);
    }
}
