/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3; timeout: 40 */
/*
 * LAYERS-1 to LAYERS-3: points in layers are the same for the same params and
 * seed, whoever makes them; their density follows the grading; cells of their
 * Voronoi mesh fill the box and end at the surfaces. Bad params are refused.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>
#include <storm/points.h>
#include <storm/voronoi.h>

#include "support/check.h"

enum { MAX_POINTS = 20000 };

static const struct storm_layers_surface pipe_surfaces[] = {
    {0, 0.5, 3e-4, 1.4, STORM_LAYERS_ABOVE},
    {1, 2.5, 3e-4, 1.4, STORM_LAYERS_BELOW},
    {1, 3.0, 1e-3, 1.3, STORM_LAYERS_BOTH},
};

static const struct storm_layers_params pipe_params = {
    .size = sizeof pipe_params,
    .kind = STORM_LAYERS_CYLINDER,
    .axis = 2,
    .centre_cm = {0.25, -1.0},
    .range_cm = {0.0, 4.0},
    .radius_cm = 2.0,
    .parts = 4,
    .n_sides = 3,
    .spacing_cm = {0.25, 0.5},
    .surfaces = pipe_surfaces,
    .n_surfaces = 3,
};

/* All points of a set; their number. */
static uint64_t make(const struct storm_layers_params *params, double *points,
                     double lo[3], double hi[3])
{
    char problem[256] = "";
    uint64_t n;
    storm_status status =
        storm_layers_count(params, &n, lo, hi, problem, sizeof problem);
    if (status < 0)
        fprintf(stderr, "%s\n", problem);
    CHECK_OK(status);
    CHECK(n > 0 && n <= MAX_POINTS);
    CHECK_OK(storm_layers_make(params, 0, n, points));
    for (uint64_t i = 0; i < 3 * n; i++)
        CHECK(points[i] > lo[i % 3] && points[i] < hi[i % 3]);
    CHECK_EQ(storm_layers_make(params, 1, n, points), STORM_ERR_ARG);
    return n;
}

/* A part of the set is the same points; another seed moves them. */
static void check_same(void)
{
    static double all[3 * MAX_POINTS], part[3 * 100], other[3 * MAX_POINTS];
    double lo[3], hi[3];
    struct storm_layers_params params = pipe_params;
    params.jitter = 0.5;
    params.seed = 7;
    uint64_t n = make(&params, all, lo, hi);
    CHECK_OK(storm_layers_make(&params, n / 2, 100, part));
    CHECK(memcmp(part, all + 3 * (n / 2), sizeof part) == 0);
    params.seed = 8;
    CHECK_EQ(make(&params, other, lo, hi), n);
    CHECK(memcmp(all, other, 3 * n * sizeof *all) != 0);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Places along a coordinate, each once. */
static size_t places(const double *points, uint64_t n, bool radius,
                     double *places_out)
{
    size_t n_places = 0;
    for (uint64_t i = 0; i < n; i++) {
        const double *x = points + 3 * i;
        places_out[i] = radius ? hypot(x[0] - 0.25, x[1] + 1.0) : x[2];
    }
    qsort(places_out, n, sizeof *places_out, compare);
    for (uint64_t i = 0; i < n; i++)
        if (n_places == 0 || places_out[i] > places_out[n_places - 1] + 1e-9)
            places_out[n_places++] = places_out[i];
    return n_places;
}

/* Two points at the same distance from the surface, and layers beyond them that
 * grow by the growth at most, up to the spacing. */
static void check_grading(const double *place, size_t n,
                          const struct storm_layers_surface *f, double spacing)
{
    size_t i = 0;
    double first = f->first_cm / (1.0 + f->growth);
    check_where("surface at %g", f->at_cm);
    while (i < n && place[i] < f->at_cm)
        i++;
    CHECK(i > 0 && i + 2 < n);
    CHECK(fabs(place[i] - f->at_cm - first) < 1e-6 * first);
    CHECK(fabs(f->at_cm - place[i - 1] - first) < 1e-6 * first);
    double last = 0.0;
    for (size_t k = i; f->side != STORM_LAYERS_BELOW && k + 1 < n; k++) {
        double gap = place[k + 1] - place[k];
        CHECK(gap <= spacing * (1.0 + 1e-9));
        if (last > 0.9 * spacing || place[k + 1] > f->at_cm + 0.2)
            break;
        CHECK(last == 0.0 || gap <= last * f->growth * (1.0 + 1e-6));
        CHECK(last == 0.0 || gap > last * 1.1);
        last = gap;
    }
    if (f->side == STORM_LAYERS_BELOW)
        CHECK(place[i + 1] - place[i] > 100.0 * f->first_cm);
    else
        CHECK(place[i + 1] - place[i] < 2.0 * f->first_cm);
}

static void check_density(void)
{
    static double points[3 * MAX_POINTS], place[MAX_POINTS];
    double lo[3], hi[3];
    uint64_t n = make(&pipe_params, points, lo, hi);
    CHECK(lo[0] == 0.25 && lo[1] == -1.0 && lo[2] == 0.0 && hi[2] == 4.0);
    size_t n_places = places(points, n, true, place);
    check_grading(place, n_places, &pipe_surfaces[0], 0.25);
    n_places = places(points, n, false, place);
    check_grading(place, n_places, &pipe_surfaces[1], 0.5);
    check_grading(place, n_places, &pipe_surfaces[2], 0.5);
}

/* Volume of the cells whose centres are in the shape; all fill the box. */
static double fill(struct storm_context *context,
                   const struct storm_layers_params *params,
                   bool (*holds)(const double x[3]))
{
    static double points[3 * MAX_POINTS];
    struct storm_voronoi_params voronoi = {.size = sizeof voronoi};
    double sum[2] = {0.0}, box = 1.0;
    uint64_t n = make(params, points, voronoi.lo_cm, voronoi.hi_cm);
    int rank = storm_context_rank(context), size = storm_context_size(context);
    uint64_t first = n * (uint64_t)rank / (uint64_t)size;
    uint64_t last = n * (uint64_t)(rank + 1) / (uint64_t)size;
    struct storm_mesh *mesh;
    voronoi.points_cm = points + 3 * first;
    voronoi.n_points = last - first;
    CHECK_OK(storm_mesh_create_voronoi(context, &voronoi, &mesh));
    CHECK_EQ(storm_mesh_n_cells_total(mesh), n);
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++) {
        double centre[3], volume = storm_mesh_volume_cm3(mesh, i);
        storm_mesh_centre(mesh, i, centre);
        CHECK(volume > 0.0);
        sum[0] += volume;
        sum[1] += holds(centre) ? volume : 0.0;
    }
    storm_mesh_destroy(mesh);
    CHECK_OK(storm_context_reduce(context, sum, 2, MPI_DOUBLE, MPI_SUM));
    for (int d = 0; d < 3; d++)
        box *= voronoi.hi_cm[d] - voronoi.lo_cm[d];
    CHECK(fabs(sum[0] / box - 1.0) < 1e-12);
    return sum[1];
}

static bool in_pipe(const double x[3])
{
    return hypot(x[0] - 0.25, x[1] + 1.0) < 0.5 && x[2] < 2.5;
}

static bool in_ball(const double x[3])
{
    return x[0] * x[0] + x[1] * x[1] + x[2] * x[2] < 0.25;
}

static bool in_half(const double x[3])
{
    return x[0] < 0.3;
}

/* A quarter of a prism of twelve sides that touch the circle; a ball, within
 * the error of its sides; a part of a box. */
static void check_meshes(struct storm_context *context)
{
    static const struct storm_layers_surface at_half = {0, 0.5, 0.01, 1.5, 0};
    static const struct storm_layers_surface at_third = {0, 0.3, 1e-3, 2.0, 0};
    const double pi = 3.14159265358979323846;
    const struct storm_layers_params ball = {.size = sizeof ball,
                                             .kind = STORM_LAYERS_SPHERE,
                                             .radius_cm = 1.0,
                                             .n_sides = 300,
                                             .spacing_cm = {0.2},
                                             .surfaces = &at_half,
                                             .n_surfaces = 1};
    const struct storm_layers_params box = {.size = sizeof box,
                                            .hi_cm = {1.0, 0.5, 0.25},
                                            .spacing_cm = {0.1, 0.2, 1.0},
                                            .surfaces = &at_third,
                                            .n_surfaces = 1,
                                            .jitter = 0.3};
    double prism = 12.0 * tan(pi / 12.0) * 0.25 / 4.0 * 2.5;
    double pipe = fill(context, &pipe_params, in_pipe);
    CHECK(fabs(pipe / prism - 1.0) < 1e-9);
    double sphere = fill(context, &ball, in_ball) / (pi / 6.0);
    CHECK(sphere > 1.0 && sphere < 1.05);
    CHECK(fabs(fill(context, &box, in_half) / (0.3 * 0.125) - 1.0) < 1e-12);
}

static void refuse(struct storm_layers_params params, const char *why)
{
    char problem[256] = "";
    double lo[3], hi[3], x[3];
    uint64_t n;
    check_where("%s", why);
    CHECK_EQ(storm_layers_count(&params, &n, lo, hi, problem, sizeof problem),
             STORM_ERR_ARG);
    CHECK(strstr(problem, why) != NULL);
    CHECK_EQ(storm_layers_make(&params, 0, 1, x), STORM_ERR_ARG);
}

static void refuse_surface(struct storm_layers_surface f, const char *why)
{
    struct storm_layers_params params = pipe_params;
    struct storm_layers_surface both[2] = {{0, 0.5, 3e-4, 1.4, 0}, f};
    params.surfaces = both;
    params.n_surfaces = 2;
    refuse(params, why);
}

static void check_refused(void)
{
    struct storm_layers_params bad = pipe_params;
    bad.spacing_cm[1] = 0.0;
    refuse(bad, "spacing of z is 0");
    bad = pipe_params;
    bad.range_cm[1] = NAN;
    refuse(bad, "must grow");
    bad = pipe_params;
    bad.parts = 3;
    refuse(bad, "3 parts");
    bad = pipe_params;
    bad.n_sides = 0;
    refuse(bad, "0 sides");
    bad = pipe_params;
    bad.jitter = 1.0;
    refuse(bad, "jitter is 1");
    refuse_surface((struct storm_layers_surface){2, 1.0, 0.1, 1.4, 0},
                   "no coordinate 2");
    refuse_surface((struct storm_layers_surface){0, 2.5, 0.1, 1.4, 0},
                   "r = 2.5 is not within 0 .. 2");
    refuse_surface((struct storm_layers_surface){1, 1.0, 0.6, 1.4, 0},
                   "0.6 thick");
    refuse_surface((struct storm_layers_surface){1, 1.0, 0.1, 1.0, 0},
                   "grow by 1");
    refuse_surface((struct storm_layers_surface){0, 0.5, 0.1, 1.4, 0},
                   "there twice");
    refuse_surface((struct storm_layers_surface){0, 0.501, 0.2, 1.4, 0},
                   "nearer to each other");
}

int main(int argc, char **argv)
{
    struct storm_context *context;
    MPI_Init(&argc, &argv);
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &context));
    check_same();
    check_density();
    check_refused();
    check_meshes(context);
    storm_context_destroy(context);
    MPI_Finalize();
    return CHECK_PASS;
}
