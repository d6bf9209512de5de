/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cells and volumes of the materials, next to those of their shapes; layers
 * that cells cannot resolve.
 *
 *   MATERIALS-1  All that is printed, and whether there is a warning, is the
 *                same on any number of ranks, to the last bit.
 *   MATERIALS-2  A layer of fewer than two cells across is a warning, once, of
 *                the layer that has the fewest. With sharp interfaces only
 *                one that has no cells is: others have no holes.
 *   MATERIALS-3  Shapes are compared with the cells where they fill the same
 *                box: not on a mesh from a file, of any shape, nor on one that
 *                has moved since, of a checkpoint.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include <storm/context.h>

#include "base/env.h"
#include "base/exact.h"
#include "base/json.h"
#include "base/math.h"
#include "base/page.h"
#include "run/run.h"

static const char materials_label[] = "run";

/* Points in the box that are asked for their material. */
enum { MATERIALS_POINTS = 1 << 18 };

/* Cells across a layer below which it may have holes. */
static const double materials_min_across = 2.0;

/* MATERIALS-3 */
static bool materials_have_shapes(const struct run *run)
{
    return run->deck->values.mesh.kind != STORM_MESH_FILE && !run->is_rebuilt;
}

/* ---- sums ---------------------------------------------------------------- */

/* Of a material: cells, points in its shapes, volume of its cells. Of a region:
 * its cells and the sum of their widths. */
struct materials_sum {
    int64_t cells, points;
    storm_exact total;
};
enum { MATERIALS_NUMBERS = 2 + STORM_EXACT_LIMBS };

/* All that is added up over the ranks: integers, so that neither what is
 * printed nor a warning depends on their number. */
struct materials_sums {
    struct materials_sum *material, *region;
    struct storm_exact_unit volume_unit, width_unit;
    double box_cm3;
};

static void materials_units(const struct run *run, struct materials_sums *sums)
{
    const struct storm_problem *p = &run->problem;
    double length = 0.0;
    sums->box_cm3 = 1.0;
    for (int d = 0; d < 3; d++) {
        sums->box_cm3 *= p->hi_cm[d] - p->lo_cm[d];
        length += p->hi_cm[d] - p->lo_cm[d];
    }
    /* Of the largest cell, with room for roundings. */
    sums->volume_unit = storm_exact_unit(fmin(2.0 * sums->box_cm3, DBL_MAX));
    sums->width_unit = storm_exact_unit(2.0 * length);
}

static void materials_add(struct materials_sum *sum, double term,
                          struct storm_exact_unit unit)
{
    sum->cells++;
    if (storm_exact_unit_fits(unit, term))
        storm_exact_add(&sum->total, term, unit);
}

static void materials_add_cells(const struct run *run,
                                struct materials_sums *sums)
{
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(run->mesh); i++) {
        int m = storm_imc_material(run->imc, i);
        if (m >= 0 && (size_t)m < run->problem.n_materials)
            materials_add(&sums->material[m],
                          storm_mesh_volume_cm3(run->mesh, i),
                          sums->volume_unit);
    }
}

/* Evenly spread points (Roberts' sequence), divided among the ranks: regions
 * may overlap, and the last one counts. */
static void materials_add_points(const struct run *run,
                                 struct materials_sums *sums)
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
            sums->material[m].points++;
    }
}

/* Over all ranks, in one call. */
static storm_status materials_reduce(const struct run *run,
                                     struct materials_sum *sum, size_t n)
{
    struct storm_memory *memory = storm_context_env(run->context)->memory;
    int64_t *numbers =
        storm_alloc(memory, materials_label,
                    (n * MATERIALS_NUMBERS + 1) * sizeof *numbers);
    storm_status status =
        storm_context_agree(run->context,
                            numbers != NULL ? STORM_OK : STORM_ERR_NOMEM);
    for (size_t i = 0; i < n && status == STORM_OK; i++) {
        int64_t *at = &numbers[i * MATERIALS_NUMBERS];
        at[0] = sum[i].cells;
        at[1] = sum[i].points;
        storm_exact_split(sum[i].total, at + 2);
    }
    if (status == STORM_OK)
        status = storm_context_reduce(run->context, numbers,
                                      (int)(n * MATERIALS_NUMBERS), MPI_INT64_T,
                                      MPI_SUM);
    for (size_t i = 0; i < n && status == STORM_OK; i++) {
        const int64_t *at = &numbers[i * MATERIALS_NUMBERS];
        sum[i].cells = at[0];
        sum[i].points = at[1];
        sum[i].total = storm_exact_join(at + 2);
    }
    storm_free(memory, numbers);
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

static bool layer_counts(const struct storm_region *region,
                         const struct layer *layer)
{
    return region->material >= 0 && region->number == 0 &&
           layer->thickness_cm > 0.0 && isfinite(layer->thickness_cm);
}

/* The width of a cell in these directions: of a box the smallest, as one cell
 * may go through the whole box; of others that of a cube of its volume. */
static double layer_cell(const struct run *run, storm_cell_idx i, unsigned axes)
{
    double lo[3], hi[3], width = INFINITY;
    if (!storm_mesh_cells_are_boxes(run->mesh))
        return storm_cbrt(storm_mesh_volume_cm3(run->mesh, i));
    storm_mesh_bounds(run->mesh, i, lo, hi);
    for (int d = 0; d < 3; d++)
        if (axes >> d & 1u)
            width = fmin(width, hi[d] - lo[d]);
    return width;
}

/* The cells of a region, if it is a layer. */
static void layer_add_cells(const struct run *run, struct materials_sums *sums,
                            size_t i_region)
{
    const struct storm_region *region = &run->problem.regions[i_region];
    struct layer layer = layer_of(&run->problem, &region->shape);
    if (!layer_counts(region, &layer))
        return;
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(run->mesh); i++) {
        double centre[3];
        storm_mesh_centre(run->mesh, i, centre);
        if (storm_imc_material(run->imc, i) == region->material &&
            storm_shape_contains(&region->shape, centre))
            materials_add(&sums->region[i_region],
                          layer_cell(run, i, layer.axes), sums->width_unit);
    }
}

/* The keys that give more cells. */
static const char *layer_keys(const struct run *run)
{
    switch (run->deck->values.mesh.kind) {
    case STORM_MESH_VORONOI:
        return "mesh.points, mesh.refine_interfaces";
    case STORM_MESH_OCTREE:
        return "mesh.level, mesh.refine_levels";
    case STORM_MESH_FILE:
        return "mesh.file";
    default:
        return "mesh.cells";
    }
}

static void layer_warn(struct run *run, size_t i, double thickness_cm,
                       double width_cm)
{
    const struct storm_region *region = &run->problem.regions[i];
    char cells[64];
    snprintf(cells, sizeof cells, "its cells are about %.2g cm wide", width_cm);
    if (storm_context_rank(run->context) == 0)
        run_warn(run,
                 "region %zu, of material %s, is a layer of %.3g cm, "
                 "but %s: below two cells across it may have holes; "
                 "take more cells (%s)",
                 i, run->problem.materials[region->material].name, thickness_cm,
                 width_cm > 0.0 ? cells : "it has no cells", layer_keys(run));
}

/* Warns of the layer with the fewest cells across, if they are too few. */
static void layer_check(struct run *run, const struct materials_sums *sums)
{
    const struct storm_problem *p = &run->problem;
    bool sharp = run->deck->values.mesh.kind == STORM_MESH_VORONOI &&
                 run->deck->values.mesh.interfaces == DECK_INTERFACES_SHARP;
    double fewest = sharp ? DBL_MIN : materials_min_across;
    double thickness = 0.0, width = 0.0;
    size_t i_fewest = p->n_regions;
    for (size_t i = 0; i < p->n_regions; i++) {
        const struct materials_sum *sum = &sums->region[i];
        struct layer layer = layer_of(p, &p->regions[i].shape);
        if (!layer_counts(&p->regions[i], &layer))
            continue;
        double cell = 0.0; /* mean width; 0: there is no cell */
        if (sum->cells > 0)
            cell = storm_exact_value(sum->total, sums->width_unit) /
                   (double)sum->cells;
        double across = cell > 0.0 ? layer.thickness_cm / cell : 0.0;
        if (across < fewest) {
            fewest = across;
            i_fewest = i;
            thickness = layer.thickness_cm;
            width = cell;
        }
    }
    if (i_fewest < p->n_regions)
        layer_warn(run, i_fewest, thickness, width);
}

/* ---- all ----------------------------------------------------------------- */

/* Do regions go by the numbers of cells? */
static bool materials_are_numbered(const struct storm_problem *p)
{
    bool are = false;
    for (size_t i = 0; i < p->n_regions; i++)
        are = are || p->regions[i].number != 0;
    return are;
}

static void materials_fill(struct run *run, const struct materials_sums *sums)
{
    for (size_t i = 0; i < run->problem.n_materials; i++) {
        const struct materials_sum *sum = &sums->material[i];
        run->materials[i] = (struct run_material){
            .cells = (uint64_t)sum->cells,
            .volume_cm3 = storm_exact_value(sum->total, sums->volume_unit),
            .shape_cm3 =
                sums->box_cm3 * (double)sum->points / MATERIALS_POINTS};
        if (materials_are_numbered(&run->problem)) /* shapes do not tell */
            run->materials[i].shape_cm3 = run->materials[i].volume_cm3;
    }
}

storm_status run_materials_open(struct run *run)
{
    struct storm_memory *memory = storm_context_env(run->context)->memory;
    size_t n = run->problem.n_materials, n_regions = run->problem.n_regions;
    struct materials_sums sums;
    run->materials =
        storm_alloc(memory, materials_label, (n + 1) * sizeof *run->materials);
    sums.material = storm_alloc(memory, materials_label,
                                (n + n_regions + 1) * sizeof *sums.material);
    bool ok = run->materials != NULL && sums.material != NULL;
    storm_status status =
        storm_context_agree(run->context, ok ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK) {
        sums.region = sums.material + n;
        materials_units(run, &sums);
        materials_add_cells(run, &sums);
        materials_add_points(run, &sums);
        for (size_t i = 0; i < n_regions; i++)
            layer_add_cells(run, &sums, i);
        status = materials_reduce(run, sums.material, n + n_regions);
    }
    if (status == STORM_OK) {
        materials_fill(run, &sums);
        if (!run->is_rebuilt)
            layer_check(run, &sums);
    }
    storm_free(memory, sums.material);
    return status;
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
        if (materials_have_shapes(run))
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
        storm_page_add(page, "  %-10s  %s: %s cells of %.4g cm3 together",
                       i == 0 ? "materials" : "",
                       run->problem.materials[i].name,
                       storm_page_grouped(m->cells, number), m->volume_cm3);
        if (materials_have_shapes(run))
            storm_page_add(page, ", its shapes have about %.4g", m->shape_cm3);
        storm_page_add(page, "\n");
    }
}
