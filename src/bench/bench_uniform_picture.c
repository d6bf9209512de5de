/* SPDX-License-Identifier: BSD-3-Clause */
/* The energy density on a slice: every rank cuts its own cells, rank 0 gathers
 * the polygons and draws them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "bench/bench_uniform.h"
#include "io/io_gather.h"
#include "view/plot.h"

enum { CUT_AXIS = 2 };
static const double cut_at_cm = 0.0;

/* ---- this rank's polygons ------------------------------------------------ */

/* `faces` has room for the faces of the cell: a slice takes the numbers of
 * corners in 64 bits. */
static storm_status cut_cell(struct slice *slice,
                             const struct storm_polyhedron *p, storm_cell_idx i,
                             int64_t *faces)
{
    for (size_t k = 0; k < p->n_words; k++)
        faces[k] = p->faces[k];
    struct io_cell cell = {.id = (uint64_t)i,
                           .n_faces = p->n_faces,
                           .faces = faces,
                           .corners = p->corners_cm};
    return slice_cut(slice, &cell);
}

static bool cut_reaches(const struct storm_mesh *mesh, storm_cell_idx i)
{
    double lo[3], hi[3];
    storm_mesh_bounds(mesh, i, lo, hi);
    return lo[CUT_AXIS] <= cut_at_cm && hi[CUT_AXIS] >= cut_at_cm;
}

static storm_status cut_cells(const struct storm_mesh *mesh,
                              struct storm_memory *memory, struct slice *slice)
{
    struct storm_polyhedra *polyhedra = NULL;
    struct storm_polyhedron p = STORM_POLYHEDRON_INIT;
    void *faces = NULL;
    size_t capacity = 0;
    storm_status status = storm_polyhedra_open(mesh, &polyhedra);
    for (storm_cell_idx i = 0; status >= 0 && i < storm_mesh_n_cells(mesh);
         i++) {
        if (!cut_reaches(mesh, i))
            continue;
        status = storm_polyhedra_build(polyhedra, i, &p);
        if (status >= 0)
            status = storm_reserve(memory, "picture", sizeof(int64_t),
                                   p.n_words, &faces, &capacity);
        if (status >= 0)
            status = cut_cell(slice, &p, i, faces);
    }
    storm_free(memory, faces);
    storm_polyhedra_close(polyhedra);
    return status;
}

/* ---- all polygons on rank 0 ---------------------------------------------- */

/* One corner, with what belongs to its polygon. */
struct cut_row {
    double corner[2];
    double value;     /* erg/cm3 */
    size_t n_corners; /* of the polygon */
};

/* Where rows come from. They are asked for in order, so that the polygon of
 * the next one is known. */
struct cut_rows {
    const struct slice *slice;
    const double *density;
    size_t polygon;
};

static void cut_fill(void *self, size_t first, size_t n, void *rows_out)
{
    struct cut_rows *from = self;
    const struct slice *slice = from->slice;
    struct cut_row *rows = rows_out;
    for (size_t i = first; i < first + n; i++) {
        const struct slice_polygon *p = &slice->polygons[from->polygon];
        rows[i - first] = (struct cut_row){
            .corner = {slice->corners[i][0], slice->corners[i][1]},
            .value = from->density[p->cell] / STORM_UNIFORM_LIGHT_CM_S,
            .n_corners = (size_t)p->n};
        from->polygon += i + 1 == p->first + (size_t)p->n;
    }
}

/* All rows, on rank 0. */
struct cut_list {
    struct storm_memory *memory;
    struct cut_row *row;
    size_t n, capacity;
};

static storm_status cut_take(void *self, const void *rows, size_t n)
{
    struct cut_list *list = self;
    void *array = list->row;
    storm_status status =
        storm_reserve(list->memory, "picture", sizeof *list->row, list->n + n,
                      &array, &list->capacity);
    list->row = array;
    if (status < 0)
        return status;
    memcpy(list->row + list->n, rows, n * sizeof *list->row);
    list->n += n;
    return STORM_OK;
}

/* ---- the picture --------------------------------------------------------- */

/* The polygons of all ranks, numbered, and their values. */
struct cut_whole {
    struct slice slice;
    double *value;
    double lo, hi, mean, spread; /* the last two by area */
};

static storm_status cut_assemble(const struct cut_list *list,
                                 struct cut_whole *whole)
{
    double(*corners)[2] =
        storm_alloc(list->memory, "picture", (list->n + 1) * sizeof *corners);
    storm_status status = STORM_OK;
    whole->value = storm_alloc(list->memory, "picture",
                               (list->n + 1) * sizeof *whole->value);
    if (corners == NULL || whole->value == NULL)
        status = STORM_ERR_NOMEM;
    for (size_t i = 0; status >= 0 && i < list->n; i++)
        memcpy(corners[i], list->row[i].corner, sizeof *corners);
    for (size_t i = 0; status >= 0 && i < list->n;
         i += list->row[i].n_corners) {
        size_t polygon = whole->slice.n_polygons;
        whole->value[polygon] = list->row[i].value;
        status =
            slice_add(&whole->slice, polygon, (const double(*)[2])corners + i,
                      (int)list->row[i].n_corners);
    }
    storm_free(list->memory, corners);
    return status;
}

static void cut_average(struct cut_whole *whole)
{
    double area = 0.0, sum = 0.0, squares = 0.0;
    whole->lo = (double)INFINITY;
    whole->hi = (double)-INFINITY;
    for (size_t i = 0; i < whole->slice.n_polygons; i++) {
        double part = slice_area(&whole->slice, i), value = whole->value[i];
        area += part;
        sum += part * value;
        squares += part * value * value;
        whole->lo = fmin(whole->lo, value);
        whole->hi = fmax(whole->hi, value);
    }
    if (!(sum > 0.0))
        return;
    whole->mean = sum / area;
    double variance = squares / area - whole->mean * whole->mean;
    whole->spread = sqrt(fmax(variance, 0.0)) / whole->mean;
}

static char *cut_draw(const struct storm_uniform_pass *pass,
                      const struct cut_whole *whole)
{
    const double half = STORM_UNIFORM_HALF_CM;
    char title[64], subtitle[128];
    snprintf(title, sizeof title, "Energy density on the slice z = %g cm",
             cut_at_cm);
    snprintf(subtitle, sizeof subtitle,
             "uniform emission, cycle %u: mean %.4g erg/cm³, spread %.1f %%",
             pass->loop.cycle, whole->mean, 100.0 * whole->spread);
    return plot_slice_svg(&(struct plot_picture){
        .slice = &whole->slice,
        .lo = {-half, -half},
        .hi = {half, half},
        .title = title,
        .subtitle = subtitle,
        .axis = {"x (cm)", "y (cm)"},
        .value = whole->value,
        .scale = storm_svg_scale(whole->lo, whole->hi, false),
        .label = "energy density (erg/cm³)",
    });
}

static storm_status cut_picture(const struct storm_uniform_pass *pass,
                                const struct cut_list *list, char **svg_out)
{
    struct cut_whole whole = {
        .slice = {.memory = list->memory, .axis = CUT_AXIS, .at = cut_at_cm}};
    storm_status status = cut_assemble(list, &whole);
    if (status >= 0) {
        cut_average(&whole);
        *svg_out = cut_draw(pass, &whole);
        status = *svg_out != NULL ? STORM_OK : STORM_ERR_NOMEM;
    }
    slice_free(&whole.slice);
    storm_free(list->memory, whole.value);
    return status;
}

storm_status storm_uniform_picture(const struct storm_uniform_pass *pass,
                                   char **svg_out)
{
    struct storm_memory *memory = storm_context_env(pass->context)->memory;
    struct slice slice = {.memory = memory, .axis = CUT_AXIS, .at = cut_at_cm};
    struct cut_rows from = {
        .slice = &slice,
        .density = storm_streaming_energy_density(pass->loop.streaming)};
    struct cut_list list = {.memory = memory};
    char *svg = NULL;
    storm_status status = cut_cells(pass->mesh, list.memory, &slice);
    status = storm_context_agree(pass->context, status);
    struct io_gather_rows rows = {.n = slice.n_corners,
                                  .row_bytes = sizeof(struct cut_row),
                                  .self = &from,
                                  .fill = cut_fill};
    if (status >= 0)
        status = io_gather(pass->context, &rows, cut_take, &list);
    if (status >= 0 && storm_context_rank(pass->context) == 0)
        status = cut_picture(pass, &list, &svg);
    if (status != STORM_ERR_LOST)
        status = storm_context_agree(pass->context, status);
    storm_free(list.memory, list.row);
    slice_free(&slice);
    if (status >= 0)
        *svg_out = svg;
    else
        free(svg);
    return status;
}
