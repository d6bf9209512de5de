/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sources: power over time, spectrum, and packets of points, beams and shells.
 *
 *   SOURCE-1  Place, direction, time and group of a packet are functions of its
 *             id: every rank computes the places, and the one that has the cell
 *             makes the packet.
 *   SOURCE-2  Packets whose place is in no cell, or in one that is outside, are
 *             not made: what is there emits nothing.
 */
#include <math.h>
#include <string.h>

#include "base/math.h"
#include "base/random.h"
#include "mesh/mesh_ops.h"
#include "physics/imc_birth.h"

/* Blocks of random numbers for times, beyond all those for places. */
static const uint64_t source_time_block = UINT64_C(1) << 32;

static struct curve_window source_window(const struct storm_imc *imc, size_t i)
{
    return imc_window(imc, imc->problem->sources[i].start_s,
                      imc->problem->sources[i].stop_s);
}

static bool source_is_constant(const struct curve *power)
{
    return power->formula == NULL && power->table.n == 1;
}

double birth_source_energy(const struct storm_imc *imc, size_t i,
                           double *max_power_out)
{
    const struct curve *power = &imc->sources[i].power;
    struct curve_window window = source_window(imc, i);
    bool is_volume = imc->problem->sources[i].kind == STORM_SOURCE_VOLUME;
    double volume = is_volume ? imc->sources[i].volume_cm3 : 1.0;
    if (!(window.to > window.from))
        return 0.0;
    if (source_is_constant(power)) {
        *max_power_out = power->table.points[1];
        return *max_power_out * volume * (window.to - window.from);
    }
    return curve_integral(&power->table, window, 1, max_power_out) * volume;
}

double birth_source_time(const struct storm_imc *imc, size_t i,
                         double max_power, struct storm_packet_id id, double u)
{
    const struct curve *power = &imc->sources[i].power;
    struct curve_window window = source_window(imc, i);
    double time_s = window.from + u * (window.to - window.from);
    for (uint64_t k = 0; k < BIRTH_MAX_RETRIES && !source_is_constant(power);
         k++) {
        double v[4];
        storm_random(imc->problem->seed, STORM_STREAM_BIRTH, id,
                     source_time_block + k, v);
        if (v[0] * max_power < curve_at(&power->table, time_s))
            break;
        time_s = window.from + v[1] * (window.to - window.from);
    }
    return time_s;
}

int32_t birth_source_group(const struct storm_imc *imc, size_t i,
                           struct storm_packet_id id)
{
    const struct storm_source *source = &imc->problem->sources[i];
    size_t n = (size_t)imc->problem->n_groups;
    if (n == 1 || !(source->energy_kev > 0.0))
        return birth_planck_group(imc, source->temperature_kev, id);
    return imc_group_of(imc->group_edge, n, source->energy_kev);
}

struct birth_spectrum birth_source_spectrum(const struct storm_source *source)
{
    return (struct birth_spectrum){.temperature_kev = source->temperature_kev,
                                   .energy_kev = source->energy_kev};
}

/* ---- places and directions ---------------------------------------------- */

/* Two unit vectors across a unit vector: the first as near to `along` as can
 * be. */
static void source_frame(const double axis[3], const double along[3],
                         double a_out[3], double b_out[3])
{
    double dot = 0.0, square = 0.0;
    for (int d = 0; d < 3; d++)
        dot += axis[d] * along[d];
    for (int d = 0; d < 3; d++) {
        a_out[d] = along[d] - dot * axis[d];
        square += a_out[d] * a_out[d];
    }
    for (int d = 0; d < 3; d++)
        a_out[d] /= sqrt(square);
    for (int d = 0; d < 3; d++)
        b_out[d] = axis[(d + 1) % 3] * a_out[(d + 2) % 3] -
                   axis[(d + 2) % 3] * a_out[(d + 1) % 3];
}

static void source_unit(const double v[3], double unit_out[3])
{
    double largest = fmax(fmax(fabs(v[0]), fabs(v[1])), fabs(v[2]));
    double square = 0.0;
    for (int d = 0; d < 3; d++) {
        unit_out[d] = v[d] / largest;
        square += unit_out[d] * unit_out[d];
    }
    for (int d = 0; d < 3; d++)
        unit_out[d] /= sqrt(square);
}

/* A unit vector with this cosine to the axis. */
static void source_about(const double axis[3], double mu, double turn,
                         double direction_out[3])
{
    double a[3], b[3], circle[3], across = sqrt(fmax(0.0, 1.0 - mu * mu));
    int k = fabs(axis[0]) < fabs(axis[1]) ? 0 : 1; /* its smallest component */
    k = fabs(axis[2]) < fabs(axis[k]) ? 2 : k;
    const double along[3] = {k == 0, k == 1, k == 2};
    source_frame(axis, along, a, b);
    storm_isotropic(0.5, turn, circle);
    for (int d = 0; d < 3; d++)
        direction_out[d] =
            mu * axis[d] + across * (circle[0] * a[d] + circle[1] * b[d]);
}

/* A point of the disc or rectangle of a beam. */
static void source_beam_place(const struct storm_source *s, const double u[4],
                              double point_out[3])
{
    double axis[3], a[3], b[3], at[2], circle[3];
    int k;
    source_unit(s->direction, axis);
    k = fabs(axis[0]) < fabs(axis[1]) ? 0 : 1;
    k = fabs(axis[2]) < fabs(axis[k]) ? 2 : k;
    const double own[3] = {k == 0, k == 1, k == 2};
    bool given =
        s->across[0] != 0.0 || s->across[1] != 0.0 || s->across[2] != 0.0;
    source_frame(axis, given ? s->across : own, a, b);
    if (s->disc_radius_cm > 0.0) {
        double r = s->disc_radius_cm * sqrt(u[0]);
        storm_isotropic(0.5, u[1], circle);
        at[0] = r * circle[0];
        at[1] = r * circle[1];
    } else {
        for (int i = 0; i < 2; i++)
            at[i] = s->width_cm[i] * (u[i] - 0.5);
    }
    for (int d = 0; d < 3; d++)
        point_out[d] = s->at_cm[d] + at[0] * a[d] + at[1] * b[d];
}

void imc_source_place(const struct storm_source *s, const double u[4],
                      double point_out[3])
{
    double outwards[3];
    memcpy(point_out, s->at_cm, sizeof s->at_cm);
    if (s->kind == STORM_SOURCE_BEAM)
        source_beam_place(s, u, point_out);
    if (s->kind != STORM_SOURCE_SHELL)
        return;
    storm_isotropic(u[0], u[1], outwards);
    for (int d = 0; d < 3; d++)
        point_out[d] += s->shell_radius_cm * outwards[d];
}

/* Evenly within the cone, eq. (29), or by the cosine law of a surface. */
static void source_direction(const struct storm_source *s, const double u[4],
                             struct storm_packet *packet)
{
    double axis[3], c, sine;
    if (s->kind == STORM_SOURCE_SHELL) {
        for (int d = 0; d < 3; d++)
            axis[d] = packet->position_cm[d] - s->at_cm[d];
        source_unit(axis, axis);
        bool inwards = s->side == STORM_SOURCE_INWARDS ||
                       (s->side == STORM_SOURCE_BOTH && u[3] < 0.5);
        for (int d = 0; d < 3; d++)
            axis[d] = inwards ? -axis[d] : axis[d];
        source_about(axis, sqrt(u[0]), u[1], packet->direction);
        return;
    }
    if (s->cone_deg >= 180.0) {
        storm_isotropic(u[0], u[1], packet->direction);
        return;
    }
    source_unit(s->direction, axis);
    storm_cos_sin_turns(s->cone_deg / 360.0, &c, &sine);
    if (s->cone_deg > 0.0)
        source_about(axis, 1.0 - u[0] * (1.0 - c), u[1], packet->direction);
    else
        memcpy(packet->direction, axis, sizeof axis);
}

/* ---- packets ------------------------------------------------------------ */

/* Not in the box around the cells of this rank: not here. */
static bool source_is_far(const struct imc_source *source, const double x[3])
{
    bool far = false;
    for (int d = 0; d < 3; d++)
        far = far || x[d] < source->lo[d] || x[d] > source->hi[d];
    return far;
}

/* Places it; false: it is not of a cell of this rank that transports. */
static storm_status source_put(const struct storm_imc *imc, size_t i,
                               const double u[4], struct storm_packet *packet,
                               bool *mine_out)
{
    imc_source_place(&imc->problem->sources[i], u, packet->position_cm);
    *mine_out = false;
    if (source_is_far(&imc->sources[i], packet->position_cm) ||
        !imc_is_in_box(imc, packet->position_cm))
        return STORM_OK;
    storm_status status = birth_place(imc, packet, mine_out);
    if (status == STORM_ERR_ARG) /* a given mesh need not fill its box */
        status = STORM_OK;
    if (*mine_out && imc->track.cells[packet->cell_idx].outside)
        *mine_out = false;
    return status;
}

storm_status birth_surface(struct storm_imc *imc, struct storm_step *step,
                           size_t i, double *largest_inout)
{
    const struct storm_source *from = &imc->problem->sources[i];
    uint64_t seed = imc->problem->seed, n = from->packets;
    double max_power = 0.0;
    double energy = birth_source_energy(imc, i, &max_power);
    if (!(energy > birth_min_erg) || !imc->sources[i].is_near)
        return STORM_OK;
    struct storm_split split = storm_split(energy, n);
    for (uint64_t k = 0; k < n; k++) {
        struct storm_packet packet = {
            .id = storm_packet_id_make(STORM_ORIGIN_SOURCE,
                                       storm_step_number(step), i, k)};
        double u[4], v[4];
        bool mine;
        storm_random(seed, STORM_STREAM_BIRTH, packet.id, 0, u);
        storm_status status = source_put(imc, i, u, &packet, &mine);
        if (status == STORM_OK && !mine)
            continue;
        storm_random(seed, STORM_STREAM_BIRTH, packet.id, 1, v);
        source_direction(from, v, &packet);
        packet.optical_depth = -storm_log(v[2]);
        packet.time_left_s =
            birth_time_left(imc, birth_source_time(imc, i, max_power, packet.id,
                                                   u[3]));
        packet.group = birth_source_group(imc, i, packet.id);
        packet.weight_erg = birth_share(&split, k, n);
        imc_ddmc_knock_if_on_wall(imc, &packet);
        if (status == STORM_OK)
            status = birth_give(imc, step, &packet, birth_source_spectrum(from),
                                largest_inout);
        if (status < 0)
            return status;
        imc_flow_create(imc, STORM_ORIGIN_SOURCE, packet.weight_erg, 1);
    }
    return STORM_OK;
}
