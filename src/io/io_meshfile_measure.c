/* SPDX-License-Identifier: BSD-3-Clause */
/* Planes, areas, volumes and centroids of a mesh from a file. */
#include <math.h>

#include "io/io_meshfile.h"

static const char measure_label[] = "mesh file";

/* Of the size of a face, that corners may be off its plane; of the size of a
 * cell, that they may be outside another face. As in storm/given.h. */
const double io_meshfile_error = 1e-6;

static double measure_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static const double *measure_point(const struct io_meshfile *file, uint64_t i)
{
    return &file->points_cm[3 * (size_t)file->corners[i]];
}

/* Twice the area of the triangle of the first corner and two others. */
static void measure_triangle(const double *o, const double *a, const double *b,
                             double twice_out[3])
{
    double u[3], v[3];
    for (int d = 0; d < 3; d++) {
        u[d] = a[d] - o[d];
        v[d] = b[d] - o[d];
    }
    for (int d = 0; d < 3; d++)
        twice_out[d] =
            u[(d + 1) % 3] * v[(d + 2) % 3] - u[(d + 2) % 3] * v[(d + 1) % 3];
}

/* By Newell's formula; `centroid` in coordinates of the file. The sign of the
 * normal is that of the order of the corners. */
static struct io_meshfile_face measure_face(const struct io_meshfile *file,
                                            size_t face)
{
    struct io_meshfile_face g = {.area_cm2 = 0.0};
    uint64_t first = file->first_corner[face];
    uint64_t end = file->first_corner[face + 1];
    const double *o = measure_point(file, first);
    double sum[3] = {0.0}, weight = 0.0, t[3];
    for (uint64_t i = first + 1; i + 1 < end; i++) {
        measure_triangle(o, measure_point(file, i), measure_point(file, i + 1),
                         t);
        for (int d = 0; d < 3; d++)
            g.normal[d] += 0.5 * t[d];
    }
    for (uint64_t i = first + 1; i + 1 < end; i++) {
        const double *a = measure_point(file, i),
                     *b = measure_point(file, i + 1);
        measure_triangle(o, a, b, t);
        double part = measure_dot(t, g.normal);
        weight += part;
        for (int d = 0; d < 3; d++)
            sum[d] += part * ((a[d] - o[d]) + (b[d] - o[d])) / 3.0;
    }
    for (int d = 0; d < 3; d++)
        g.centroid_cm[d] = o[d] + (weight > 0.0 ? sum[d] / weight : 0.0);
    g.area_cm2 = sqrt(measure_dot(g.normal, g.normal));
    return g;
}

/* Relative to `origin`, and outward: away from it. */
static struct io_meshfile_face measure_seen(const struct io_meshfile *file,
                                            size_t face, const double origin[3])
{
    struct io_meshfile_face g = measure_face(file, face);
    for (int d = 0; d < 3; d++)
        g.centroid_cm[d] -= origin[d];
    if (measure_dot(g.normal, g.centroid_cm) < 0.0)
        for (int d = 0; d < 3; d++)
            g.normal[d] = -g.normal[d];
    return g;
}

void io_meshfile_face(const struct io_meshfile *file, size_t cell, size_t face,
                      struct io_meshfile_face *face_out)
{
    *face_out = measure_seen(file, face, &file->centroids_cm[3 * cell]);
}

/* ---- checks -------------------------------------------------------------- */

/* How far corners [from, end) are above a plane, or on either side of it; and
 * how far from its point. */
struct measure_reach {
    double above, off, size;
};

static struct measure_reach measure_corners(const struct io_meshfile *file,
                                            uint64_t from, uint64_t end,
                                            const struct io_meshfile_face *g,
                                            const double origin[3])
{
    struct measure_reach reach = {0.0, 0.0, 0.0};
    for (uint64_t i = from; i < end; i++) {
        const double *x = measure_point(file, i);
        double r[3];
        for (int d = 0; d < 3; d++)
            r[d] = x[d] - origin[d] - g->centroid_cm[d];
        double above = measure_dot(r, g->normal) / g->area_cm2;
        reach.above = fmax(reach.above, above);
        reach.off = fmax(reach.off, fabs(above));
        reach.size = fmax(reach.size, sqrt(measure_dot(r, r)));
    }
    return reach;
}

static storm_status measure_check_face(const struct io_meshfile *file,
                                       size_t cell, size_t face,
                                       const struct io_meshfile_face *g,
                                       const double origin[3])
{
    unsigned long long name = file->names[cell];
    const uint64_t *corner = file->first_corner;
    if (!(g->area_cm2 > 0.0))
        return io_meshfile_fail(file, ": %s %llu: a face has no area",
                                file->cell_word, name);
    struct measure_reach mine =
        measure_corners(file, corner[face], corner[face + 1], g, origin);
    if (!(mine.off <= io_meshfile_error * mine.size))
        return io_meshfile_fail(file,
                                ": %s %llu: a face is not plane: a corner is "
                                "%.3g cm off, expected at most %.3g cm; cut "
                                "the cell into tetrahedra",
                                file->cell_word, name, mine.off,
                                io_meshfile_error * mine.size);
    struct measure_reach all =
        measure_corners(file, corner[file->first_face[cell]],
                        corner[file->first_face[cell + 1]], g, origin);
    if (!(all.above <= io_meshfile_error * all.size))
        return io_meshfile_fail(file,
                                ": %s %llu: is not convex: a corner is %.3g cm "
                                "outside the plane of a face, expected at most "
                                "%.3g cm; cut the cell into convex ones",
                                file->cell_word, name, all.above,
                                io_meshfile_error * all.size);
    return STORM_OK;
}

/* ---- cells --------------------------------------------------------------- */

/* Mean of the corners, as often as faces have them: inside. */
static void measure_inside(const struct io_meshfile *file, size_t cell,
                           double x_out[3])
{
    uint64_t from = file->first_corner[file->first_face[cell]];
    uint64_t end = file->first_corner[file->first_face[cell + 1]];
    double sum[3] = {0.0};
    for (uint64_t i = from; i < end; i++)
        for (int d = 0; d < 3; d++)
            sum[d] += measure_point(file, i)[d];
    for (int d = 0; d < 3; d++)
        x_out[d] = sum[d] / (double)(end - from);
}

static storm_status measure_cell(struct io_meshfile *file, size_t cell)
{
    double origin[3], volume = 0.0, moment[3] = {0.0}, reach = 0.0;
    storm_status status = STORM_OK;
    measure_inside(file, cell, origin);
    for (uint64_t f = file->first_face[cell];
         f < file->first_face[cell + 1] && status == STORM_OK; f++) {
        struct io_meshfile_face g = measure_seen(file, (size_t)f, origin);
        double pyramid = measure_dot(g.normal, g.centroid_cm) / 3.0;
        status = measure_check_face(file, cell, (size_t)f, &g, origin);
        volume += pyramid;
        reach =
            fmax(reach,
                 g.area_cm2 * sqrt(measure_dot(g.centroid_cm, g.centroid_cm)));
        for (int d = 0; d < 3; d++)
            moment[d] += 0.75 * pyramid * g.centroid_cm[d];
    }
    if (status == STORM_OK && !(volume > io_meshfile_error * reach))
        status =
            io_meshfile_fail(file, ": %s %llu: has no volume (%g cm3)",
                             file->cell_word,
                             (unsigned long long)file->names[cell], volume);
    for (int d = 0; d < 3 && status == STORM_OK; d++)
        file->centroids_cm[3 * cell + (size_t)d] =
            origin[d] + moment[d] / volume;
    file->volumes_cm3[cell] = volume;
    return status;
}

/* Cells are on both sides of the face that they share. */
static storm_status measure_check_pair(const struct io_meshfile *file,
                                       size_t face)
{
    size_t cell = file->owner[face];
    struct io_meshfile_face g;
    double to[3];
    if (file->behind[face] < (int64_t)cell) /* a boundary, or it was seen */
        return STORM_OK;
    size_t other = (size_t)file->behind[face];
    io_meshfile_face(file, cell, face, &g);
    for (size_t d = 0; d < 3; d++)
        to[d] = file->centroids_cm[3 * other + d] -
                file->centroids_cm[3 * cell + d] - g.centroid_cm[d];
    if (measure_dot(g.normal, to) > 0.0)
        return STORM_OK;
    return io_meshfile_fail(file,
                            ": %ss %llu and %llu overlap: expected them on "
                            "both sides of the face that they share",
                            file->cell_word,
                            (unsigned long long)file->names[cell],
                            (unsigned long long)file->names[other]);
}

storm_status io_meshfile_measure(struct io_meshfile *file)
{
    struct storm_memory *memory = file->env->memory;
    storm_status status = STORM_OK;
    file->centroids_cm =
        storm_alloc(memory, measure_label,
                    (3 * file->n_cells + 1) * sizeof *file->centroids_cm);
    file->volumes_cm3 =
        storm_alloc(memory, measure_label,
                    (file->n_cells + 1) * sizeof *file->volumes_cm3);
    if (file->centroids_cm == NULL || file->volumes_cm3 == NULL)
        return STORM_ERR_NOMEM;
    for (size_t c = 0; c < file->n_cells && status == STORM_OK; c++)
        status = measure_cell(file, c);
    for (size_t f = 0; f < file->n_faces && status == STORM_OK; f++)
        status = measure_check_pair(file, f);
    return status;
}
