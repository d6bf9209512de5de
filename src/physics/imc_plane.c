/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blackbody planes across the box, which may move.
 *
 *   PLANE-1  Where a plane is follows from the end of the step and the time
 *            that a packet has left: the same bits on every rank, for births
 *            and for hits.
 *   PLANE-2  Packets begin a little off the plane, on their side; those that
 *            are less than half of that away from it have reached it. Roundings
 *            are much smaller: no packet slips through, and none is taken by
 *            the plane it has just left.
 *   PLANE-3  A plane emits what keeps isotropic radiation of its temperature
 *            as it is, in the frame of the box, at any velocity, eq. (30).
 */
#include <math.h>
#include <stdio.h>

#include <storm/context.h>

#include "base/math.h"
#include "base/random.h"
#include "mesh/mesh_ops.h"
#include "physics/imc_birth.h"
#include "physics/imc_plane_text.h"

static const char plane_label[] = "imc planes";

/* Off the plane, of its greatest coordinate, and of the width of the box. */
static const double plane_off = 1e-12;

/* Part of the ids; above those of walls. */
static const uint64_t plane_where = UINT64_C(1) << 47;

storm_status imc_plane_open(struct storm_imc *imc)
{
    size_t n = imc->problem->n_planes;
    if (n == 0)
        return STORM_OK;
    imc->planes =
        storm_alloc(imc->env->memory, plane_label, n * sizeof *imc->planes);
    if (imc->planes == NULL)
        return STORM_ERR_NOMEM;
    storm_status status = STORM_OK;
    for (size_t i = 0; i < n && status == STORM_OK; i++)
        status = curve_open(imc->env, &imc->problem->planes[i].temperature,
                            imc->problem->planes[i].temperature_formula,
                            &imc->planes[i].temperature);
    imc->track.planes = imc->planes;
    imc->track.n_planes = n;
    return status;
}

void imc_plane_close(struct storm_imc *imc)
{
    for (size_t i = 0; imc->planes != NULL && i < imc->own.n_planes; i++)
        curve_close(imc->env, &imc->planes[i].temperature);
    storm_free(imc->env->memory, imc->planes);
}

/* PLANE-2: so far from the plane, wherever it is in this step. */
static double plane_distance(const struct storm_imc *imc,
                             const struct imc_plane *plane)
{
    double lo = imc->problem->lo_cm[plane->axis];
    double hi = imc->problem->hi_cm[plane->axis];
    double path = fabs(plane->velocity) * imc->dt_s;
    return plane_off * fmax(fmax(hi - lo, fabs(plane->end_cm) + path),
                            fmax(fabs(lo), fabs(hi)));
}

storm_status imc_plane_begin(struct storm_imc *imc)
{
    const struct storm_problem *p = imc->problem;
    storm_status status = STORM_OK;
    for (size_t i = 0; i < p->n_planes && status == STORM_OK; i++) {
        const struct storm_black_plane *from = &p->planes[i];
        struct imc_plane *plane = &imc->planes[i];
        struct curve_window window =
            imc_window(imc, from->start_s, from->stop_s);
        char name[48];
        struct curve_limits limits = {name, 1e30};
        plane->axis = from->axis;
        plane->velocity = from->velocity_cm_s;
        plane->end_cm =
            from->at_cm + from->velocity_cm_s * (imc->time_s + imc->dt_s);
        plane->off = plane_distance(imc, plane);
        plane->passes = from->passes;
        for (int k = 0; k < 2; k++) {
            int d = (from->axis + 1 + k) % 3;
            plane->lo[k] = fmax(from->lo_cm[k], p->lo_cm[d]);
            plane->hi[k] = fmin(from->hi_cm[k], p->hi_cm[d]);
            const struct storm_wall *wall = &p->walls[2 * d];
            bool periodic =
                wall->n == 1 && wall->parts[0].kind == STORM_WALL_PERIODIC;
            plane->box_lo[k] = p->lo_cm[d];
            plane->period[k] = periodic ? p->hi_cm[d] - p->lo_cm[d] : 0.0;
        }
        snprintf(name, sizeof name, "temperature of plane %zu", i);
        if (window.to > window.from)
            status =
                curve_begin(imc->env, &plane->temperature, window, &limits);
    }
    return status;
}

/* ---- packets in flight -------------------------------------------------- */

bool imc_plane_hit(const struct imc_track *track, const double x[3],
                   const double direction[3], double time_left_s,
                   double *seconds_inout)
{
    return plane_hit(track, x, direction, time_left_s, seconds_inout);
}

double imc_plane_clearance(const struct imc_track *track, const double x[3],
                           double time_left_s)
{
    return plane_clearance(track, x, time_left_s);
}

/* ---- births ------------------------------------------------------------- */

/* One side of a plane in this step. */
struct plane_side {
    size_t i;
    int side; /* 1: towards higher coordinates; -1 */
    struct curve_window window;
    double max_kev;
};

/* A time, distributed as T^4. */
static double plane_time(const struct storm_imc *imc,
                         const struct plane_side *s, struct storm_packet_id id,
                         double first, double *kev_out)
{
    const struct storm_curve *table = &imc->planes[s->i].temperature.table;
    double time_s = s->window.from + first * (s->window.to - s->window.from);
    for (uint64_t k = 0; k < BIRTH_MAX_RETRIES; k++) {
        double u[4], t = curve_at(table, time_s) / s->max_kev;
        storm_random(imc->problem->seed, STORM_STREAM_BIRTH, id,
                     BIRTH_FIRST_RETRY + k, u);
        if (u[0] < t * t * (t * t))
            break;
        time_s = s->window.from + u[1] * (s->window.to - s->window.from);
    }
    *kev_out = curve_at(table, time_s);
    return time_s;
}

/* Place, time, direction and group. Returns the temperature, keV. */
static double plane_packet(const struct storm_imc *imc,
                           const struct plane_side *s,
                           struct storm_packet *packet)
{
    const struct imc_plane *plane = &imc->planes[s->i];
    uint64_t seed = imc->problem->seed;
    double u[4], v[4], kev, circle[3];
    double beta = s->side * plane->velocity / imc->problem->light_cm_s;
    storm_random(seed, STORM_STREAM_BIRTH, packet->id, 0, u);
    storm_random(seed, STORM_STREAM_BIRTH, packet->id, 1, v);
    packet->time_left_s =
        birth_time_left(imc, plane_time(imc, s, packet->id, u[3], &kev));
    packet->position_cm[plane->axis] = plane->end_cm -
                                       plane->velocity * packet->time_left_s +
                                       s->side * plane->off;
    /* eq. (30) */
    double mu = beta + (1.0 - beta) * sqrt(v[0]);
    double across = sqrt(fmax(0.0, 1.0 - mu * mu));
    storm_isotropic(0.5, v[1], circle);
    packet->direction[plane->axis] = s->side * mu;
    for (int k = 0; k < 2; k++) {
        int d = (plane->axis + 1 + k) % 3;
        packet->position_cm[d] =
            plane->lo[k] + u[k] * (plane->hi[k] - plane->lo[k]);
        packet->direction[d] = across * circle[k];
    }
    packet->optical_depth = -storm_log(v[2]);
    packet->group = birth_planck_group(imc, kev, packet->id);
    return kev;
}

/* Energy of a side in this step, eq. (30). */
static double plane_energy(const struct storm_imc *imc, struct plane_side *s)
{
    const struct storm_problem *p = imc->problem;
    const struct imc_plane *plane = &imc->planes[s->i];
    double rest = 1.0 - s->side * plane->velocity / p->light_cm_s;
    double area = 1.0;
    for (int k = 0; k < 2; k++)
        area *= fmax(0.0, plane->hi[k] - plane->lo[k]);
    if (!(s->window.to > s->window.from))
        return 0.0;
    double t4 =
        curve_integral(&plane->temperature.table, s->window, 4, &s->max_kev);
    return 0.25 * p->radiation_erg_cm3_kev4 * p->light_cm_s * t4 * area *
           (rest * rest);
}

static storm_status plane_birth(struct storm_imc *imc, struct storm_step *step,
                                struct plane_side *s, double *largest_inout)
{
    uint64_t n = imc->problem->planes[s->i].packets;
    uint64_t where = plane_where | (uint64_t)s->i << 1 | (s->side > 0);
    double energy = plane_energy(imc, s);
    if (!(energy > birth_min_erg))
        return STORM_OK;
    struct storm_split split = storm_split(energy, n);
    for (uint64_t k = 0; k < n; k++) {
        struct storm_packet packet = {
            .id = storm_packet_id_make(STORM_ORIGIN_BOUNDARY,
                                       storm_step_number(step), where, k)};
        bool mine = false;
        packet.weight_erg = birth_share(&split, k, n);
        const struct birth_spectrum spectrum = {
            .temperature_kev = plane_packet(imc, s, &packet)};
        storm_status status = STORM_OK;
        if (imc_is_in_box(imc, packet.position_cm))
            status = birth_place(imc, &packet, &mine);
        if (status == STORM_ERR_ARG) /* a given mesh need not fill its box */
            status = STORM_OK;
        if (status == STORM_OK && mine) {
            if (imc->track.cells[packet.cell_idx].outside)
                continue;
            status = birth_give(imc, step, &packet, spectrum, largest_inout);
            imc_flow_create(imc, STORM_ORIGIN_BOUNDARY, packet.weight_erg, 1);
        }
        if (status < 0)
            return status;
    }
    return STORM_OK;
}

storm_status imc_plane_birth(struct storm_imc *imc, struct storm_step *step,
                             double *largest_inout)
{
    storm_status status = STORM_OK;
    for (size_t i = 0; i < imc->problem->n_planes; i++) {
        const struct storm_black_plane *from = &imc->problem->planes[i];
        for (int side = -1; side <= 1 && status == STORM_OK; side += 2) {
            struct plane_side s = {
                .i = i,
                .side = side,
                .window = imc_window(imc, from->start_s, from->stop_s)};
            if ((side > 0 && from->side == STORM_PLANE_LOW) ||
                (side < 0 && from->side == STORM_PLANE_HIGH))
                continue;
            status = plane_birth(imc, step, &s, largest_inout);
        }
    }
    return status;
}
