/* SPDX-License-Identifier: BSD-3-Clause */
/* What kernels ask of blackbody planes, inlined: imc_plane.c is made of it, and
 * so are kernels for devices. */
#ifndef STORM_PHYSICS_IMC_PLANE_TEXT_H
#define STORM_PHYSICS_IMC_PLANE_TEXT_H

#include <math.h>

#include "base/port.h"
#include "physics/imc.h"

/* A cell may reach out of a periodic box, and a flight in it. */
static inline double plane_wrap(const struct imc_plane *plane, int k, double y)
{
    double lo = plane->box_lo[k], period = plane->period[k];
    if (!(period > 0.0))
        return y;
    y -= period * floor((y - lo) / period);
    return fmin(fmax(y, lo), lo + period);
}

static inline bool plane_covers(const struct imc_plane *plane,
                                const double x[3], const double direction[3],
                                double length)
{
    bool inside = true;
    for (int k = 0; k < 2; k++) {
        int d = (plane->axis + 1 + k) % 3;
        double y = plane_wrap(plane, k,
                              storm_port_get(x, d) +
                                  length * storm_port_get(direction, d));
        inside = inside && y >= plane->lo[k] && y <= plane->hi[k];
    }
    return inside;
}

static inline bool plane_hit(const struct imc_track *track, const double x[3],
                             const double direction[3], double time_left_s,
                             double *seconds_inout)
{
    bool hit = false;
    for (size_t i = 0; i < track->n_planes; i++) {
        const struct imc_plane *plane = &track->planes[i];
        double ahead = plane->end_cm - plane->velocity * time_left_s -
                       storm_port_get(x, plane->axis);
        double speed =
            track->light_cm_s * storm_port_get(direction, plane->axis) -
            plane->velocity;
        double seconds = fabs(ahead) <= 0.5 * plane->off ? 0.0 : ahead / speed;
        if (plane->passes || !(seconds >= 0.0) || !(seconds <= *seconds_inout))
            continue;
        if (plane_covers(plane, x, direction, track->light_cm_s * seconds)) {
            *seconds_inout = seconds;
            hit = true;
        }
    }
    return hit;
}

static inline double plane_clearance(const struct imc_track *track,
                                     const double x[3], double time_left_s)
{
    double min = INFINITY;
    for (size_t i = 0; i < track->n_planes; i++) {
        const struct imc_plane *plane = &track->planes[i];
        double away = fabs(plane->end_cm - plane->velocity * time_left_s -
                           storm_port_get(x, plane->axis)) -
                      fabs(plane->velocity) * time_left_s - 2.0 * plane->off;
        if (!plane->passes)
            min = fmin(min, away);
    }
    return min;
}

#endif /* STORM_PHYSICS_IMC_PLANE_TEXT_H */
