/* SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/mesh_interface.h"

#include <math.h>

enum {
    SEED_BISECTIONS = 44,
    SEED_HALVINGS = 6,
    SEED_LAYERS = 3,
    SEED_STEPS = 12
};

/* Of the spacing: steps between points that give a normal. */
static const double seed_normal_step = 1e-3;

/* Cosine of two normals below which their angle counts as a right one. */
static const double seed_right_angle = 0.2;

/* ---- vectors ------------------------------------------------------------- */

static double vec_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* x + s a */
static void vec_add(const double x[3], double s, const double a[3],
                    double out[3])
{
    for (int d = 0; d < 3; d++)
        out[d] = x[d] + s * a[d];
}

static bool vec_scale(double a[3])
{
    double length = sqrt(vec_dot(a, a));
    for (int d = 0; d < 3; d++)
        a[d] /= length;
    return length > 0.0;
}

static void vec_cross(const double a[3], const double b[3], double out[3])
{
    for (int d = 0; d < 3; d++) {
        int e = (d + 1) % 3, f = (d + 2) % 3;
        out[d] = a[e] * b[f] - a[f] * b[e];
    }
}

/* Two unit vectors that are square to a unit vector. */
static void vec_frame(const double n[3], double t_out[2][3])
{
    int axis = 0;
    for (int d = 1; d < 3; d++)
        if (fabs(n[d]) < fabs(n[axis]))
            axis = d;
    double e[3] = {0.0, 0.0, 0.0};
    e[axis] = 1.0;
    vec_cross(n, e, t_out[0]);
    (void)vec_scale(t_out[0]);
    vec_cross(n, t_out[0], t_out[1]);
}

/* ---- materials ----------------------------------------------------------- */

bool storm_interface_has(const struct storm_interface *in, const double x_cm[3])
{
    for (int d = 0; d < 3; d++)
        if (!(x_cm[d] > in->set->lo_cm[d] && x_cm[d] < in->set->hi_cm[d]))
            return false;
    return true;
}

/* Beyond the walls it is as at them. */
static int seed_material(const struct storm_interface *in, const double x[3])
{
    double y[3];
    for (int d = 0; d < 3; d++) {
        y[d] = x[d] > in->set->lo_cm[d] ? x[d] : in->set->lo_cm[d];
        y[d] = y[d] < in->set->hi_cm[d] ? y[d] : in->set->hi_cm[d];
    }
    return in->set->material(in->set->material_self, y);
}

/* The last point before the material changes between x (material a) and
 * x + length * t; false if it does not. */
static bool seed_cross(const struct storm_interface *in, const double x[3],
                       double length, const double t[3], double out[3])
{
    double y[3], low = 0.0, high = length;
    int a = seed_material(in, x);
    vec_add(x, length, t, y);
    if (seed_material(in, y) == a)
        return false;
    for (int i = 0; i < SEED_BISECTIONS; i++) {
        double middle = 0.5 * (low + high);
        vec_add(x, middle, t, y);
        if (seed_material(in, y) == a)
            low = middle;
        else
            high = middle;
    }
    vec_add(x, low, t, out);
    return true;
}

/* ---- normals ------------------------------------------------------------- */

/* The crossing along `axis` (a unit vector) next to a point near an
 * interface. */
static bool seed_beside(const struct storm_interface *in, const double x[3],
                        double step, const double t[3], const double axis[3],
                        double out[3])
{
    double y[3], from[3];
    double reach = 8.0 * seed_normal_step * in->spacing_cm;
    vec_add(x, step, t, y);
    vec_add(y, -reach, axis, from);
    return seed_cross(in, from, 2.0 * reach, axis, out);
}

/* Unit normal at a point of an interface that `axis` crosses, on the same side
 * as the axis: from four points around it. */
static bool seed_normal(const struct storm_interface *in, const double x[3],
                        const double axis[3], double normal_out[3])
{
    double t[2][3], along[2][3], a[3], b[3];
    double step = seed_normal_step * in->spacing_cm;
    vec_frame(axis, t);
    for (int k = 0; k < 2; k++) {
        if (!seed_beside(in, x, step, t[k], axis, a) ||
            !seed_beside(in, x, -step, t[k], axis, b))
            return false;
        vec_add(a, -1.0, b, along[k]);
    }
    vec_cross(along[0], along[1], normal_out);
    if (!vec_scale(normal_out))
        return false;
    if (vec_dot(normal_out, axis) < 0.0)
        for (int d = 0; d < 3; d++)
            normal_out[d] = -normal_out[d];
    return true;
}

/* Along an axis the interface may be steep: the normal, found with the axis,
 * crosses it better. */
static bool seed_surface(const struct storm_interface *in, const double x[3],
                         const double axis[3], double normal_out[3])
{
    double first[3];
    return seed_normal(in, x, axis, first) &&
           seed_normal(in, x, first, normal_out);
}

/* ---- faces --------------------------------------------------------------- */

/* Is y on the interface of materials m[0] (against the normal) and m[1]? */
static bool seed_continues(const struct storm_interface *in, const double y[3],
                           const double n[3], double depth, const int m[2])
{
    double z[3];
    vec_add(y, -depth, n, z);
    if (seed_material(in, z) != m[0])
        return false;
    vec_add(y, depth, n, z);
    return seed_material(in, z) == m[1];
}

/* Both materials must go on for three times the reach: a layer has room for a
 * pair on either side. */
static bool seed_set_reach(const struct storm_interface *in,
                           struct storm_seed *seed, int m_out[2])
{
    double reach = STORM_SEED_REACH * in->spacing_cm;
    for (int i = 0; i < SEED_HALVINGS; i++, reach *= 0.5) {
        double y[3];
        bool good = true;
        for (int side = 0; side < 2; side++)
            for (int k = 1; k <= SEED_LAYERS; k++) {
                vec_add(seed->at_cm, side ? k * reach : -k * reach,
                        seed->normal[0], y);
                int m = seed_material(in, y);
                if (k == 1)
                    m_out[side] = m;
                good = good && m == m_out[side];
            }
        if (good && m_out[0] != m_out[1]) {
            seed->reach_cm = reach;
            return true;
        }
    }
    return false;
}

/* Thickness of the layer that begins at a seed and goes along its normal, or
 * against it; STORM_SEED_THIN spacings if it is not thinner than that. */
static double seed_thickness(const struct storm_interface *in,
                             const struct storm_seed *seed, bool along)
{
    double max = STORM_SEED_THIN * in->spacing_cm, t[3], from[3], end[3];
    for (int d = 0; d < 3; d++)
        t[d] = along ? seed->normal[0][d] : -seed->normal[0][d];
    vec_add(seed->at_cm, seed->reach_cm, t, from);
    for (int i = 1; i <= SEED_STEPS; i++) {
        double length = (max - seed->reach_cm) * i / SEED_STEPS;
        if (seed_cross(in, from, length, t, end)) {
            vec_add(end, -1.0, seed->at_cm, end);
            return vec_dot(end, t);
        }
    }
    return max;
}

/* If there is a thin layer on one side alone, the seed moves to its middle. */
static void seed_to_layer(const struct storm_interface *in,
                          struct storm_seed *seed)
{
    double max = STORM_SEED_THIN * in->spacing_cm;
    double thick[2] = {seed_thickness(in, seed, false),
                       seed_thickness(in, seed, true)};
    if ((thick[0] < max) == (thick[1] < max))
        return;
    bool along = thick[1] < max;
    double t = thick[along];
    struct storm_seed layer = *seed;
    vec_add(seed->at_cm, along ? 0.5 * t : -0.5 * t, seed->normal[0],
            layer.at_cm);
    for (int side = 0; side < 2; side++) { /* what is beyond has room */
        double y[3], z[3];
        vec_add(layer.at_cm, side ? 0.6 * t : -0.6 * t, seed->normal[0], y);
        vec_add(layer.at_cm, side ? 1.4 * t : -1.4 * t, seed->normal[0], z);
        if (seed_material(in, y) != seed_material(in, z))
            return;
    }
    layer.kind = STORM_SEED_LAYER;
    layer.reach_cm = t;
    *seed = layer;
}

/* ---- edges --------------------------------------------------------------- */

/* How far the interface of a seed goes on in a direction of its plane, up to
 * `max`. */
static double seed_extent(const struct storm_interface *in,
                          const struct storm_seed *seed, const double t[3],
                          double max, const int m[2])
{
    double depth = 0.5 * seed->reach_cm;
    double low = 0.0, high = 0.0, y[3];
    bool ends = false;
    for (int k = 1; k <= 2 && !ends; k++) {
        low = high;
        high = 0.5 * k * max;
        vec_add(seed->at_cm, high, t, y);
        ends = storm_interface_has(in, y) &&
               !seed_continues(in, y, seed->normal[0], depth, m);
    }
    if (!ends)
        return max;
    for (int i = 0; i < SEED_BISECTIONS; i++) {
        double middle = 0.5 * (low + high);
        vec_add(seed->at_cm, middle, t, y);
        if (seed_continues(in, y, seed->normal[0], depth, m))
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The direction in which the interface ends soonest, and where. */
static double seed_nearest_end(const struct storm_interface *in,
                               const struct storm_seed *seed, const int m[2],
                               double t_out[3])
{
    static const double turn[8][2] = {{1.0, 0.0},  {0.7, 0.7},  {0.0, 1.0},
                                      {-0.7, 0.7}, {-1.0, 0.0}, {-0.7, -0.7},
                                      {0.0, -1.0}, {0.7, -0.7}};
    double max = STORM_SEED_BAND * in->spacing_cm, nearest = max;
    double frame[2][3];
    vec_frame(seed->normal[0], frame);
    for (int k = 0; k < 8; k++) {
        double t[3];
        for (int d = 0; d < 3; d++)
            t[d] = turn[k][0] * frame[0][d] + turn[k][1] * frame[1][d];
        (void)vec_scale(t);
        double extent = seed_extent(in, seed, t, max, m);
        if (extent < nearest) {
            nearest = extent;
            for (int d = 0; d < 3; d++)
                t_out[d] = t[d];
        }
    }
    return nearest;
}

/* The normal of the interface that ends this one at `extent` along t: found on
 * a side where the material is another one beyond it. */
static bool seed_other(const struct storm_interface *in,
                       struct storm_seed *seed, const double t[3],
                       double extent, const int m[2])
{
    double reach = seed->reach_cm, y[3], crossing[3];
    int beyond[2];
    for (int side = 0; side < 2; side++) {
        vec_add(seed->at_cm, extent + reach, t, y);
        vec_add(y, side ? reach : -reach, seed->normal[0], y);
        beyond[side] = seed_material(in, y);
    }
    int ended = beyond[0] != m[0] ? 0 : 1;
    if (beyond[ended] == m[ended])
        return false;
    vec_add(seed->at_cm, extent - reach, t, y);
    vec_add(y, ended ? reach : -reach, seed->normal[0], y);
    return seed_material(in, y) == m[ended] &&
           seed_cross(in, y, 2.0 * reach, t, crossing) &&
           seed_surface(in, crossing, t, seed->normal[1]);
}

/* All four quarters round an edge have one material each, as far as their
 * generators need. */
static bool seed_set_quarters(const struct storm_interface *in,
                              struct storm_seed *seed)
{
    double reach = STORM_SEED_REACH * in->spacing_cm;
    for (int i = 0; i < SEED_HALVINGS; i++, reach *= 0.5) {
        bool good = true;
        for (int q = 0; q < 4; q++) {
            int first = 0;
            for (int k = 1; k <= SEED_LAYERS; k++) {
                double y[3];
                vec_add(seed->at_cm, q & 1 ? k * reach : -k * reach,
                        seed->normal[0], y);
                vec_add(y, q & 2 ? k * reach : -k * reach, seed->normal[1], y);
                int m = seed_material(in, y);
                first = k == 1 ? m : first;
                good = good && m == first;
            }
        }
        if (good) {
            seed->reach_cm = reach;
            return true;
        }
    }
    return false;
}

/* A seed whose interface ends nearby moves to the edge, or is none. */
static void seed_to_edge(const struct storm_interface *in,
                         struct storm_seed *seed, const int m[2], double t[3],
                         double extent)
{
    double max = STORM_SEED_BAND * in->spacing_cm;
    seed->kind = STORM_SEED_NONE;
    for (int pass = 0; pass < 2; pass++) {
        if (!seed_other(in, seed, t, extent, m))
            return;
        double cosine = vec_dot(seed->normal[0], seed->normal[1]);
        if (!(fabs(cosine) < seed_right_angle))
            return;
        vec_add(seed->normal[1], -cosine, seed->normal[0], t);
        (void)vec_scale(t);
        extent = seed_extent(in, seed, t, max, m);
        if (!(extent < 0.5 * max)) /* another cube has a seed that is nearer */
            return;
    }
    vec_add(seed->at_cm, extent, t, seed->at_cm);
    if (seed_set_quarters(in, seed))
        seed->kind = STORM_SEED_EDGE;
}

/* ---- for others ---------------------------------------------------------- */

bool storm_interface_crosses(const struct storm_interface *in,
                             const double from_cm[3], const double to_cm[3])
{
    return seed_material(in, from_cm) != seed_material(in, to_cm);
}

struct storm_seed storm_interface_seed(const struct storm_interface *in,
                                       const double from_cm[3],
                                       const double to_cm[3])
{
    struct storm_seed seed = {.kind = STORM_SEED_NONE};
    double axis[3], t[3], length;
    int m[2];
    vec_add(to_cm, -1.0, from_cm, axis);
    length = sqrt(vec_dot(axis, axis));
    if (!vec_scale(axis) ||
        !seed_cross(in, from_cm, length, axis, seed.at_cm) ||
        !storm_interface_has(in, seed.at_cm) ||
        !seed_surface(in, seed.at_cm, axis, seed.normal[0]) ||
        !seed_set_reach(in, &seed, m))
        return seed;
    double extent = seed_nearest_end(in, &seed, m, t);
    seed.kind = STORM_SEED_FACE;
    if (extent < STORM_SEED_BAND * in->spacing_cm)
        seed_to_edge(in, &seed, m, t, extent);
    if (seed.kind == STORM_SEED_FACE)
        seed_to_layer(in, &seed);
    return seed;
}

bool storm_interface_is_far(const struct storm_interface *in,
                            const double x_cm[3], double distance_cm)
{
    int here = seed_material(in, x_cm);
    for (int k = 0; k < 27; k++) {
        double t[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1}, y[3];
        if (k == 13)
            continue;
        (void)vec_scale(t);
        for (int i = 1; i <= 4; i++) {
            vec_add(x_cm, 0.25 * i * distance_cm, t, y);
            if (seed_material(in, y) != here)
                return false;
        }
    }
    return true;
}
