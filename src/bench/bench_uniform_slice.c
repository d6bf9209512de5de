/* SPDX-License-Identifier: BSD-3-Clause */
/* The energy density on a slice through Voronoi cells: every rank cuts its own,
 * rank 0 gathers the polygons and draws them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "bench/bench_uniform.h"
#include "io/io_gather.h"
#include "view/plot.h"

enum { CUT_AXIS = 2 };
static const double cut_at_cm = 0.0;

/* Rows of numbers that grow. */
struct cut_list {
    struct storm_memory *memory;
    double *number;
    size_t n, capacity;
};

static storm_status cut_append(struct cut_list *list, const double *from,
                               size_t n)
{
    void *array = list->number;
    storm_status status =
        storm_reserve(list->memory, "picture", sizeof *list->number,
                      list->n + n, &array, &list->capacity);
    list->number = array;
    if (status < 0)
        return status;
    memcpy(list->number + list->n, from, n * sizeof *from);
    list->n += n;
    return STORM_OK;
}

/* ---- this rank's polygons ------------------------------------------------ */

/* The cell for the one who cuts: numbers of corners in 64 bits. */
static storm_status cut_cell(struct slice *slice,
                             const struct storm_polyhedron *p, storm_cell_idx i,
                             int64_t *faces)
{
    for (size_t k = 0; k < p->n_words; k++)
        faces[k] = p->faces[k];
    struct output_cell cell = {.id = (uint64_t)i,
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

static storm_status cut_mine(const struct storm_uniform_pass *pass,
                             struct slice *slice)
{
    struct storm_memory *memory = storm_context_env(pass->context)->memory;
    struct storm_polyhedra *polyhedra = NULL;
    struct storm_polyhedron p = STORM_POLYHEDRON_INIT;
    void *faces = NULL;
    size_t capacity = 0;
    storm_status status = storm_polyhedra_open(pass->mesh, &polyhedra);
    for (storm_cell_idx i = 0;
         status >= 0 && i < storm_mesh_n_cells(pass->mesh); i++) {
        if (!cut_reaches(pass->mesh, i))
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

/* What each has to give: of a polygon its value and number of corners. */
struct cut_share {
    const struct slice *slice;
    const double *density;
};

static void cut_fill_polygons(void *self, size_t first, size_t n, void *out)
{
    const struct cut_share *share = self;
    double *rows = out;
    for (size_t i = 0; i < n; i++) {
        const struct slice_polygon *polygon =
            &share->slice->polygons[first + i];
        rows[2 * i] = share->density[polygon->cell];
        rows[2 * i + 1] = (double)polygon->n;
    }
}

static void cut_fill_corners(void *self, size_t first, size_t n, void *out)
{
    const struct cut_share *share = self;
    memcpy(out, share->slice->corners + first, n * sizeof(double[2]));
}

static storm_status cut_take(void *self, const void *rows, size_t n)
{
    return cut_append(self, rows, 2 * n);
}

static storm_status cut_gather(const struct storm_context *context,
                               struct cut_share *share,
                               struct cut_list *polygons,
                               struct cut_list *corners)
{
    struct gather_rows rows = {.n = share->slice->n_polygons,
                               .row_bytes = 2 * sizeof(double),
                               .self = share,
                               .fill = cut_fill_polygons};
    storm_status status = storm_gather(context, &rows, cut_take, polygons);
    if (status < 0)
        return status;
    rows.n = share->slice->n_corners;
    rows.fill = cut_fill_corners;
    return storm_gather(context, &rows, cut_take, corners);
}

/* ---- the picture --------------------------------------------------------- */

/* Polygons with their values beside them, which are scaled and averaged by
 * area. */
struct cut_whole {
    struct slice slice;
    double *value;
    struct storm_svg_scale scale;
    double mean, spread;
};

static storm_status cut_assemble(const struct cut_list *polygons,
                                 const struct cut_list *corners,
                                 struct cut_whole *whole)
{
    const double(*corner)[2] = (const double(*)[2])corners->number;
    for (size_t i = 0; i < polygons->n / 2; i++) {
        int n = (int)polygons->number[2 * i + 1];
        storm_status status = slice_add(&whole->slice, i, corner, n);
        if (status < 0)
            return status;
        whole->value[i] = polygons->number[2 * i];
        corner += n;
    }
    return STORM_OK;
}

static void cut_average(struct cut_whole *whole, double unit)
{
    double area = 0.0, sum = 0.0, squares = 0.0;
    double lo = (double)INFINITY, hi = (double)-INFINITY;
    for (size_t i = 0; i < whole->slice.n_polygons; i++) {
        double part = slice_area(&whole->slice, i);
        double value = whole->value[i] *= unit;
        area += part;
        sum += part * value;
        squares += part * value * value;
        lo = fmin(lo, value);
        hi = fmax(hi, value);
    }
    whole->mean = area > 0.0 ? sum / area : 0.0;
    double variance =
        area > 0.0 ? squares / area - whole->mean * whole->mean : 0.0;
    whole->spread =
        whole->mean > 0.0 ? sqrt(fmax(variance, 0.0)) / whole->mean : 0.0;
    whole->scale = storm_svg_scale(lo, hi, false);
}

static char *cut_draw(const struct storm_uniform_pass *pass,
                      const struct cut_list *polygons,
                      const struct cut_list *corners)
{
    struct cut_whole whole = {.slice = {.memory = polygons->memory,
                                        .axis = CUT_AXIS,
                                        .at = cut_at_cm}};
    struct storm_uniform_texts texts;
    char *svg = NULL;
    whole.value = calloc(polygons->n / 2 + 1, sizeof *whole.value);
    if (whole.value != NULL &&
        cut_assemble(polygons, corners, &whole) == STORM_OK) {
        cut_average(&whole, 1.0 / STORM_UNIFORM_LIGHT_CM_S);
        storm_uniform_texts(pass, cut_at_cm, whole.mean, whole.spread, &texts);
        const double half = STORM_UNIFORM_HALF_CM;
        struct plot_picture picture = {
            .slice = &whole.slice,
            .lo = {-half, -half},
            .hi = {half, half},
            .title = texts.title,
            .subtitle = texts.subtitle,
            .axis = {"x (cm)", "y (cm)"},
            .value = whole.value,
            .scale = whole.scale,
            .label = texts.label,
        };
        svg = plot_slice_svg(&picture);
    }
    slice_free(&whole.slice);
    free(whole.value);
    return svg;
}

storm_status storm_uniform_slice(const struct storm_uniform_pass *pass,
                                 char **svg_out)
{
    struct storm_memory *memory = storm_context_env(pass->context)->memory;
    struct slice mine = {.memory = memory, .axis = CUT_AXIS, .at = cut_at_cm};
    struct cut_list polygons = {.memory = memory}, corners = polygons;
    struct cut_share share = {&mine,
                              storm_streaming_energy_density(pass->streaming)};
    char *svg = NULL;
    storm_status status =
        storm_context_agree(pass->context, cut_mine(pass, &mine));
    if (status >= 0)
        status = cut_gather(pass->context, &share, &polygons, &corners);
    if (status >= 0 && storm_context_rank(pass->context) == 0) {
        svg = cut_draw(pass, &polygons, &corners);
        status = svg != NULL ? STORM_OK : STORM_ERR_NOMEM;
    }
    if (status != STORM_ERR_LOST)
        status = storm_context_agree(pass->context, status);
    storm_free(memory, corners.number);
    storm_free(memory, polygons.number);
    slice_free(&mine);
    if (status >= 0)
        *svg_out = svg;
    else
        free(svg);
    return status;
}
