/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first number of a sample chooses a face by the volume of the pyramid over
 * it; the face is cut out of its plane by the others; the rest of the number
 * chooses a triangle of it by area, and the rest of that gives, with the other
 * two numbers, a point of the tetrahedron over it.
 */
#include "mesh/mesh_planes.h"

#include <math.h>
#include <string.h>

/* In the plane of the face. */
struct planes_point {
    double s, t;
};

struct planes_polygon {
    struct planes_point *corners, *spare; /* room for one corner more than any
                                             cut makes */
    int n;
};

/* Chooses the face; *u_inout becomes the rest of the number. */
static size_t planes_face(const struct storm_planes *planes, double volume,
                          double *u_inout)
{
    double target = *u_inout * volume;
    for (size_t i = 0;; i++) {
        const struct storm_plane *plane = &planes->array[i];
        double pyramid = plane->area * plane->distance / 3.0;
        if (target < pyramid || i + 1 == planes->n) {
            double left = pyramid > 0.0 ? target / pyramid : 0.5;
            *u_inout = left < 1.0 ? left : 1.0 - 0x1p-53;
            return i;
        }
        target -= pyramid;
    }
}

/* Keeps the part with a s + b t <= c. */
static void planes_cut(struct planes_polygon *p, double a, double b, double c)
{
    int n = 0;
    for (int i = 0; i < p->n; i++) {
        struct planes_point x = p->corners[i];
        struct planes_point y = p->corners[i + 1 < p->n ? i + 1 : 0];
        double over_x = a * x.s + b * x.t - c, over_y = a * y.s + b * y.t - c;
        if (over_x <= 0.0)
            p->spare[n++] = x;
        if ((over_x <= 0.0) != (over_y <= 0.0)) {
            double f = over_x / (over_x - over_y);
            p->spare[n++] = (struct planes_point){x.s + f * (y.s - x.s),
                                                  x.t + f * (y.t - x.t)};
        }
    }
    struct planes_point *swap = p->corners;
    p->corners = p->spare;
    p->spare = swap;
    p->n = n;
}

/* Two unit vectors that make a right-handed system with n. */
static void planes_axes(const double n[3], double e[3], double f[3])
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
static int planes_triangle(const struct planes_polygon *p, double *u_inout)
{
    const struct planes_point *c = p->corners;
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
static void planes_fold(const double u[3], double w_out[3])
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

/* The plane of a face, with two directions in it. */
struct planes_frame {
    double normal[3], e[3], f[3];
    double distance;
};

/* A point of the plane. */
static double planes_at(const struct planes_frame *frame, struct planes_point p,
                        int k)
{
    return frame->distance * frame->normal[k] + p.s * frame->e[k] +
           p.t * frame->f[k];
}

/* Cuts face i out of its plane. */
static void planes_cut_face(const struct storm_planes *planes, size_t i,
                            struct planes_frame *frame_out,
                            struct planes_polygon *polygon)
{
    const struct storm_plane *mine = &planes->array[i];
    const double *normal = mine->normal, d = mine->distance;
    double *e = frame_out->e, *f = frame_out->f, far = planes->far;
    const struct planes_point square[4] = {
        {-far, -far}, {far, -far}, {far, far}, {-far, far}};
    memcpy(frame_out->normal, normal, sizeof frame_out->normal);
    frame_out->distance = d;
    planes_axes(normal, e, f);
    memcpy(polygon->corners, square, sizeof square);
    polygon->n = 4;
    for (size_t k = 0; k < planes->n; k++) {
        const double *m = planes->array[k].normal;
        if (k == i)
            continue;
        double a = m[0] * e[0] + m[1] * e[1] + m[2] * e[2];
        double b = m[0] * f[0] + m[1] * f[1] + m[2] * f[2];
        double along = m[0] * normal[0] + m[1] * normal[1] + m[2] * normal[2];
        planes_cut(polygon, a, b, planes->array[k].distance - d * along);
    }
}

/* A point over a face. */
static void planes_over(const struct planes_frame *frame,
                        const struct planes_polygon *polygon, const double u[3],
                        double y_out[3])
{
    double w[3] = {0.0}, v[3] = {u[0], u[1], u[2]};
    struct planes_point p[3] = {{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}};
    if (polygon->n >= 3) { /* else the face is lost in rounding */
        int i = planes_triangle(polygon, &v[0]);
        p[0] = polygon->corners[0];
        p[1] = polygon->corners[i];
        p[2] = polygon->corners[i + 1];
    }
    planes_fold(v, w);
    for (int k = 0; k < 3; k++) {
        y_out[k] = 0.0;
        for (int i = 0; i < 3; i++)
            y_out[k] += w[i] * planes_at(frame, p[i], k);
    }
}

void storm_planes_sample(const struct storm_planes *planes, double volume,
                         const double u[3], double y_out[3])
{
    /* Each cut adds at most one corner to the square. */
    struct planes_point corners[2][planes->n + 8];
    struct planes_polygon polygon = {.corners = corners[0],
                                     .spare = corners[1]};
    struct planes_frame frame;
    double v[3] = {u[0], u[1], u[2]};
    size_t i = planes_face(planes, volume, &v[0]);
    planes_cut_face(planes, i, &frame, &polygon);
    planes_over(&frame, &polygon, v, y_out);
}

void storm_planes_sample_face(const struct storm_planes *planes, size_t i,
                              const double u[2], double y_out[3])
{
    struct planes_point corners[2][planes->n + 8];
    struct planes_polygon polygon = {.corners = corners[0],
                                     .spare = corners[1]};
    struct planes_frame frame;
    struct planes_point at = {0.0, 0.0};
    planes_cut_face(planes, i, &frame, &polygon);
    if (polygon.n >= 3) {
        double v = u[0];
        int k = planes_triangle(&polygon, &v);
        const struct planes_point *p = polygon.corners;
        double a = sqrt(v), b = u[1] * a; /* weights 1 - a, a - b, b */
        at.s = (1.0 - a) * p[0].s + (a - b) * p[k].s + b * p[k + 1].s;
        at.t = (1.0 - a) * p[0].t + (a - b) * p[k].t + b * p[k + 1].t;
    }
    for (int d = 0; d < 3; d++)
        y_out[d] = planes_at(&frame, at, d);
}

int storm_planes_corners(const struct storm_planes *planes, size_t i,
                         double (*corners_out)[3])
{
    struct planes_point corners[2][planes->n + 8];
    struct planes_polygon polygon = {.corners = corners[0],
                                     .spare = corners[1]};
    struct planes_frame frame;
    planes_cut_face(planes, i, &frame, &polygon);
    for (int c = 0; c < polygon.n; c++)
        for (int d = 0; d < 3; d++)
            corners_out[c][d] = planes_at(&frame, polygon.corners[c], d);
    return polygon.n;
}

void storm_planes_bounds(const struct storm_planes *planes, double lo_out[3],
                         double hi_out[3])
{
    double corners[planes->n + 8][3];
    for (int d = 0; d < 3; d++)
        lo_out[d] = hi_out[d] = 0.0;
    for (size_t i = 0; i < planes->n; i++) {
        int n = storm_planes_corners(planes, i, corners);
        for (int c = 0; c < n; c++)
            for (int d = 0; d < 3; d++) {
                double y = corners[c][d];
                lo_out[d] = y < lo_out[d] ? y : lo_out[d];
                hi_out[d] = y > hi_out[d] ? y : hi_out[d];
            }
    }
}

static int16_t planes_fraction(double x)
{
    const double one = STORM_PLANES_ONE, round = 0x1.8p52;
    x = x > -1.0 ? x : -1.0; /* fmin and lrint are calls */
    x = x < 1.0 ? x : 1.0;
    return (int16_t)(int)((one * x + round) - round);
}

void storm_planes_place(struct storm_planes_block *block, size_t k, float far,
                        const struct storm_plane *plane, int32_t next)
{
    block->next[k] = next;
    for (int d = 0; d < 3; d++)
        block->n[d][k] =
            plane != NULL ? planes_fraction(plane->normal[d]) : (int16_t)0;
    block->distance[k] = plane != NULL
                             ? planes_fraction(plane->distance / (double)far)
                             : (int16_t)STORM_PLANES_ONE;
}

/* A point in units of `far`. Returns the max error of its distance from a plane
 * in fractions: half a unit for each of four numbers that were rounded, and as
 * much again for single precision. */
static float planes_scaled(float far, const double y[3], float z_out[3])
{
    float sum = 1.0f;
    for (int d = 0; d < 3; d++) {
        z_out[d] = (float)(y[d] / (double)far);
        sum += fabsf(z_out[d]);
    }
    return 0.75f * sum;
}

/* Distances from the planes of a block, negative beyond them. False: one of
 * them is not above the doubt. */
static inline bool planes_heights(const struct storm_planes_block *block,
                                  const float z[3], float doubt,
                                  float height_out[STORM_PLANES_WIDTH])
{
    int near = 0;
    for (int k = 0; k < STORM_PLANES_WIDTH; k++) {
        height_out[k] =
            (float)block->distance[k] - (float)block->n[0][k] * z[0] -
            (float)block->n[1][k] * z[1] - (float)block->n[2][k] * z[2];
        near |= !(height_out[k] > doubt);
    }
    return near == 0;
}

bool storm_planes_is_deep(const struct storm_planes_block *blocks, size_t n,
                          float far, const double y[3])
{
    float z[3], height[STORM_PLANES_WIDTH];
    const float doubt = planes_scaled(far, y, z);
    bool is_deep = true;
    for (size_t b = 0; b < n; b++)
        is_deep = planes_heights(&blocks[b], z, doubt, height) && is_deep;
    return is_deep;
}

/* With n the normal and d the distance of a plane, the mirror image of the
 * origin is 2 d n, and |y - 2 d n|^2 = |y|^2 - 4 d (n . y - d). */
int storm_planes_beyond(const struct storm_planes_block *blocks, size_t n,
                        float far, const double y[3])
{
    float z[3], height[STORM_PLANES_WIDTH], max = -1.0f;
    const float doubt = planes_scaled(far, y, z);
    int best = STORM_PLANES_DEEP;
    for (size_t b = 0; b < n; b++) {
        if (planes_heights(&blocks[b], z, doubt, height))
            continue;
        best = best == STORM_PLANES_DEEP ? STORM_PLANES_DOUBT : best;
        for (int k = 0; k < STORM_PLANES_WIDTH; k++) {
            float gain = -height[k] * (float)blocks[b].distance[k];
            if (height[k] < -doubt && gain > max) {
                max = gain;
                best = (int)b * STORM_PLANES_WIDTH + k;
            }
        }
    }
    return best;
}
