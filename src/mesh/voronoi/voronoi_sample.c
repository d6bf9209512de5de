/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Uniform points in a cell, and the box around it, from its planes alone: no
 * vertices are stored.
 *
 * The first number chooses a face by the volume of the pyramid over it; the
 * face is cut out of its plane by the planes of the others; the rest of the
 * number chooses a triangle of it by area, and the rest of that gives, with the
 * other two numbers, a point of the tetrahedron over it.
 */
#include <math.h>
#include <string.h>

#include "mesh/voronoi/voronoi_mesh.h"

/* In the plane of the face. */
struct sample_point {
    double s, t;
};

struct sample_polygon {
    struct sample_point *corners, *spare; /* room for one corner more than any
                                             cut makes */
    int n;
};

static int32_t sample_next(const struct voronoi_part *part, size_t place)
{
    return part->blocks[place / VORONOI_WIDTH].next[place % VORONOI_WIDTH];
}

/* Chooses the face; *u_inout becomes the rest of the number. */
static size_t sample_face(const struct voronoi_part *part, storm_cell_idx cell,
                          size_t first, size_t n, double *u_inout)
{
    double target = *u_inout * part->volume[cell];
    for (size_t i = 0;; i++) {
        double normal[3];
        double d = voronoi_plane_of(part, (size_t)cell,
                                    sample_next(part, first + i), normal);
        double pyramid = part->faces[part->refs[first + i]].area * d / 3.0;
        if (target < pyramid || i + 1 == n) {
            double left = pyramid > 0.0 ? target / pyramid : 0.5;
            *u_inout = left < 1.0 ? left : 1.0 - 0x1p-53;
            return first + i;
        }
        target -= pyramid;
    }
}

/* Keeps the part with a s + b t <= c. */
static void sample_cut(struct sample_polygon *p, double a, double b, double c)
{
    int n = 0;
    for (int i = 0; i < p->n; i++) {
        struct sample_point x = p->corners[i];
        struct sample_point y = p->corners[i + 1 < p->n ? i + 1 : 0];
        double over_x = a * x.s + b * x.t - c, over_y = a * y.s + b * y.t - c;
        if (over_x <= 0.0)
            p->spare[n++] = x;
        if ((over_x <= 0.0) != (over_y <= 0.0)) {
            double f = over_x / (over_x - over_y);
            p->spare[n++] = (struct sample_point){x.s + f * (y.s - x.s),
                                                  x.t + f * (y.t - x.t)};
        }
    }
    struct sample_point *swap = p->corners;
    p->corners = p->spare;
    p->spare = swap;
    p->n = n;
}

/* Two unit vectors that make a right-handed system with n. */
static void sample_axes(const double n[3], double e[3], double f[3])
{
    int k = fabs(n[0]) < fabs(n[1]) ? 0 : 1;
    k = fabs(n[2]) < fabs(n[k]) ? 2 : k;
    double norm = sqrt(1.0 - n[k] * n[k]);
    for (int i = 0; i < 3; i++)
        e[i] = ((i == k) - n[k] * n[i]) / norm;
    f[0] = n[1] * e[2] - n[2] * e[1];
    f[1] = n[2] * e[0] - n[0] * e[2];
    f[2] = n[0] * e[1] - n[1] * e[0];
}

/* The triangle of the fan that *u_inout falls into: its second corner. */
static int sample_triangle(const struct sample_polygon *p, double *u_inout)
{
    const struct sample_point *c = p->corners;
    double sum = 0.0;
    for (int pass = 0;; pass++) {
        double target = *u_inout * sum;
        sum = 0.0;
        for (int i = 1; i + 1 < p->n; i++) {
            double area = fabs((c[i].s - c[0].s) * (c[i + 1].t - c[0].t) -
                               (c[i].t - c[0].t) * (c[i + 1].s - c[0].s));
            if (pass == 1 && (target < area || i + 2 == p->n)) {
                double left = area > 0.0 ? target / area : 0.5;
                *u_inout = left < 1.0 ? left : 1.0 - 0x1p-53;
                return i;
            }
            target -= area;
            sum += area;
        }
    }
}

/* Coordinates in a tetrahedron from a point of the unit cube, folded (C.
 * Rocchini and P. Cignoni, Generating random points in a tetrahedron, 2000).
 * The fourth, of the generator, is 1 minus their sum. */
static void sample_fold(const double u[3], double w_out[3])
{
    double s = u[0], t = u[1], v = u[2];
    if (s + t > 1.0) {
        s = 1.0 - s;
        t = 1.0 - t;
    }
    if (t + v > 1.0) {
        double old = v;
        v = 1.0 - s - t;
        t = 1.0 - old;
    } else if (s + t + v > 1.0) {
        double old = v;
        v = s + t + v - 1.0;
        s = 1.0 - t - old;
    }
    w_out[0] = s;
    w_out[1] = t;
    w_out[2] = v;
}

/* Faces that were dropped do not matter: what lies beyond one is narrower than
 * the face, and that is far narrower than the doubt. */
bool voronoi_is_deep(const struct voronoi_part *part, storm_cell_idx cell,
                     const double y[3])
{
    const struct voronoi_head *head = &part->heads[cell];
    const float doubt = 0x1p-18f * head->radius;
    const float z[3] = {(float)y[0], (float)y[1], (float)y[2]};
    int near = 0;
    for (uint32_t b = head->first_block; b < head[1].first_block; b++) {
        const struct voronoi_block *block = &part->blocks[b];
        for (int k = 0; k < VORONOI_WIDTH; k++)
            near |= !(block->distance[k] - block->n[0][k] * z[0] -
                          block->n[1][k] * z[1] - block->n[2][k] * z[2] >
                      doubt);
    }
    return near == 0;
}

/* Moves the point towards the generator, as little as needed for locate to find
 * this cell. */
static void sample_settle(const struct storm_mesh *mesh, storm_cell_idx cell,
                          const double y[3], double point_out[3])
{
    const struct voronoi_part *part = voronoi_part_of(mesh);
    const double *g = part->heads[cell].generator;
    int32_t self = part->points.at[cell];
    for (double shrink = 0.0;; shrink = shrink > 0.0 ? 8.0 * shrink : 0x1p-50) {
        double factor = shrink < 1.0 ? 1.0 - shrink : 0.0;
        double x[3];
        for (int d = 0; d < 3; d++) {
            x[d] = g[d] + factor * y[d];
            x[d] = x[d] > part->domain.lo_cm[d] ? x[d] : part->domain.lo_cm[d];
            x[d] = x[d] < part->domain.hi_cm[d] ? x[d] : part->domain.hi_cm[d];
        }
        if (factor == 0.0 ||
            (shrink == 0.0 && voronoi_is_deep(part, cell, y)) ||
            voronoi_points_nearest(&part->points, x, self) == self) {
            memcpy(point_out, x, sizeof x);
            return;
        }
    }
}

/* The faces of a cell: places in the blocks. */
struct sample_faces {
    size_t first, n;
};

static struct sample_faces sample_faces(const struct voronoi_part *part,
                                        storm_cell_idx cell)
{
    size_t first = (size_t)part->heads[cell].first_block * VORONOI_WIDTH;
    size_t n =
        (size_t)part->heads[cell + 1].first_block * VORONOI_WIDTH - first;
    while (n > 0 && part->refs[first + n - 1] < 0)
        n--;
    return (struct sample_faces){first, n};
}

/* The plane of a face, with two directions in it. */
struct sample_frame {
    double normal[3], e[3], f[3];
    double distance; /* from the generator */
};

/* A point of the plane relative to the generator. */
static double sample_at(const struct sample_frame *frame, struct sample_point p,
                        int k)
{
    return frame->distance * frame->normal[k] + p.s * frame->e[k] +
           p.t * frame->f[k];
}

/* Cuts the face out of its plane. */
static void sample_cut_face(const struct voronoi_part *part,
                            storm_cell_idx cell, struct sample_faces faces,
                            size_t place, struct sample_frame *frame_out,
                            struct sample_polygon *polygon)
{
    double *normal = frame_out->normal, *e = frame_out->e, *f = frame_out->f;
    double d =
        voronoi_plane_of(part, (size_t)cell, sample_next(part, place), normal);
    double far = part->heads[cell].radius;
    const struct sample_point square[4] = {
        {-far, -far}, {far, -far}, {far, far}, {-far, far}};
    frame_out->distance = d;
    sample_axes(normal, e, f);
    memcpy(polygon->corners, square, sizeof square);
    polygon->n = 4;
    for (size_t i = faces.first; i < faces.first + faces.n; i++) {
        double m[3];
        if (i == place)
            continue;
        double c =
            voronoi_plane_of(part, (size_t)cell, sample_next(part, i), m);
        double a = m[0] * e[0] + m[1] * e[1] + m[2] * e[2];
        double b = m[0] * f[0] + m[1] * f[1] + m[2] * f[2];
        double along = m[0] * normal[0] + m[1] * normal[1] + m[2] * normal[2];
        sample_cut(polygon, a, b, c - d * along);
    }
}

/* A point over a face, relative to the generator. */
static void sample_over(const struct sample_frame *frame,
                        const struct sample_polygon *polygon, const double u[3],
                        double y_out[3])
{
    double w[3] = {0.0}, v[3] = {u[0], u[1], u[2]};
    struct sample_point p[3] = {{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}};
    if (polygon->n >= 3) { /* else the face is lost in rounding */
        int i = sample_triangle(polygon, &v[0]);
        p[0] = polygon->corners[0];
        p[1] = polygon->corners[i];
        p[2] = polygon->corners[i + 1];
    }
    sample_fold(v, w);
    for (int k = 0; k < 3; k++) {
        y_out[k] = 0.0;
        for (int i = 0; i < 3; i++)
            y_out[k] += w[i] * sample_at(frame, p[i], k);
    }
}

void voronoi_sample(const struct storm_mesh *mesh, storm_cell_idx cell,
                    const double u[3], double point_cm_out[3])
{
    const struct voronoi_part *part = voronoi_part_of(mesh);
    struct sample_faces faces = sample_faces(part, cell);
    /* Each cut adds at most one corner to the square. */
    struct sample_point corners[2][faces.n + 8];
    struct sample_polygon polygon = {.corners = corners[0],
                                     .spare = corners[1]};
    struct sample_frame frame = {.distance = 0.0};
    double v[3] = {u[0], u[1], u[2]}, y[3];
    size_t place = sample_face(part, cell, faces.first, faces.n, &v[0]);
    sample_cut_face(part, cell, faces, place, &frame, &polygon);
    sample_over(&frame, &polygon, v, y);
    sample_settle(mesh, cell, y, point_cm_out);
}

void voronoi_bounds(const struct storm_mesh *mesh, storm_cell_idx cell,
                    double lo_cm_out[3], double hi_cm_out[3])
{
    const struct voronoi_part *part = voronoi_part_of(mesh);
    const struct voronoi_head *head = &part->heads[cell];
    struct sample_faces faces = sample_faces(part, cell);
    struct sample_point corners[2][faces.n + 8];
    struct sample_polygon polygon = {.corners = corners[0],
                                     .spare = corners[1]};
    double lo[3] = {0.0}, hi[3] = {0.0}; /* relative to the generator */
    for (size_t i = faces.first; i < faces.first + faces.n; i++) {
        struct sample_frame frame = {.distance = 0.0};
        sample_cut_face(part, cell, faces, i, &frame, &polygon);
        for (int c = 0; c < polygon.n; c++)
            for (int k = 0; k < 3; k++) {
                double y = sample_at(&frame, polygon.corners[c], k);
                lo[k] = y < lo[k] ? y : lo[k];
                hi[k] = y > hi[k] ? y : hi[k];
            }
    }
    for (int k = 0; k < 3; k++) {
        double margin = 0x1p-40 * (head->radius + fabs(head->generator[k]));
        lo_cm_out[k] =
            fmax(head->generator[k] + lo[k] - margin, part->domain.lo_cm[k]);
        hi_cm_out[k] =
            fmin(head->generator[k] + hi[k] + margin, part->domain.hi_cm[k]);
    }
}
