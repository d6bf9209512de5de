/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets that a step of implicit Monte Carlo begins with: emission of the
 * material, sources in the volume, blackbody walls, initial radiation.
 *
 * The state a packet is born with is a function of its id, and the id does not
 * depend on the ranks. Blocks of random numbers: 0 place and time, 1 direction
 * and depth, 2 group, from 3 on for retries, from birth_energy_block on for the
 * energy of photons.
 */
#include <math.h>
#include <string.h>

#include <storm/context.h>

#include "base/math.h"
#include "base/random.h"
#include "mesh/mesh_ops.h"
#include "physics/imc_birth.h"
#include "physics/planck.h"
#include "physics/problem.h"
#include "physics/shape.h"

static const uint64_t birth_energy_block = UINT64_C(1) << 33;

/* All but place, direction and energy. */
static struct storm_packet birth_begin(const struct storm_imc *imc,
                                       struct storm_packet_id id,
                                       storm_cell_idx cell)
{
    return (struct storm_packet){
        .id = id,
        .cell = storm_mesh_cell_id(imc->mesh, cell),
        .cell_idx = cell,
    };
}

static void birth_isotropic(const struct storm_imc *imc,
                            struct storm_packet *packet)
{
    double u[4];
    storm_random(imc->problem->seed, STORM_STREAM_BIRTH, packet->id, 1, u);
    storm_isotropic(u[0], u[1], packet->direction);
    packet->optical_depth = -storm_log(u[2]);
}

/* Bisection of its spectrum. */
int32_t birth_planck_group(const struct storm_imc *imc, double temperature_kev,
                           struct storm_packet_id id)
{
    const struct storm_problem *p = imc->problem;
    if (p->n_groups == 1)
        return 0;
    double u[4];
    storm_random(p->seed, STORM_STREAM_BIRTH, id, 2, u);
    uint64_t low = 0, high = p->n_groups - 1;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        double edge = imc->group_edge[middle + 1];
        if (storm_planck_below(edge / temperature_kev) < u[0])
            low = middle + 1;
        else
            high = middle;
    }
    return (int32_t)low;
}

static int32_t birth_cell_group(const struct storm_imc *imc,
                                storm_cell_idx cell, struct storm_packet_id id)
{
    size_t n = (size_t)imc->problem->n_groups;
    if (n == 1)
        return 0;
    double u[4];
    storm_random(imc->problem->seed, STORM_STREAM_BIRTH, id, 2, u);
    return imc_find_group(&imc->spectrum[(size_t)cell * n], n, u[0]);
}

double birth_energy(const struct storm_imc *imc,
                    const struct storm_packet *packet,
                    struct birth_spectrum spectrum)
{
    uint64_t block = birth_energy_block;
    const struct storm_draws draws = {imc->problem->seed, STORM_STREAM_BIRTH,
                                      packet->id, &block};
    if (!imc->track.has_photons || spectrum.energy_kev > 0.0)
        return spectrum.energy_kev;
    return imc_planck_energy(&imc->track, packet->group,
                             spectrum.temperature_kev, &draws);
}

/* The record of a packet. */
static struct storm_photon birth_photon(const struct storm_imc *imc,
                                        struct storm_packet *packet,
                                        double energy_kev)
{
    packet->birth_weight_erg = packet->weight_erg;
    if (imc->track.has_photons)
        packet->group =
            imc_group_of(imc->group_edge, imc->track.n_groups, energy_kev);
    return (struct storm_photon){.packet = *packet, .energy_kev = energy_kev};
}

static storm_status birth_spawn(const struct storm_imc *imc,
                                struct storm_step *step,
                                struct storm_packet *packet, double energy_kev,
                                double *largest_inout)
{
    const struct storm_photon photon = birth_photon(imc, packet, energy_kev);
    if (packet->weight_erg > *largest_inout)
        *largest_inout = packet->weight_erg;
    return storm_step_spawn(step, &photon);
}

storm_status birth_give(struct storm_imc *imc, struct storm_step *step,
                        struct storm_packet *packet,
                        struct birth_spectrum spectrum, double *largest_inout)
{
    imc_motion_create(imc, packet, false);
    return birth_spawn(imc, step, packet, birth_energy(imc, packet, spectrum),
                       largest_inout);
}

/* ---- emission ----------------------------------------------------------- */

/* A point of the cell with density 1 + slope . (x - centre), eq. (10). */
static void birth_tilted(const struct storm_imc *imc, storm_cell_idx cell,
                         struct storm_packet *packet, const double first[4])
{
    const double *slope = &imc->slope[3 * (size_t)cell];
    const double *centre = &imc->centre[3 * (size_t)cell];
    double u[4] = {first[0], first[1], first[2], first[3]};
    bool flat = slope[0] == 0.0 && slope[1] == 0.0 && slope[2] == 0.0;
    double max = 2.0; /* upper bound of the density */
    if (!flat && !imc->is_box[cell]) {
        max = 1.0;
        for (int d = 0; d < 3; d++)
            max += fabs(slope[d]) * imc->half[3 * (size_t)cell + (size_t)d];
    }
    for (uint64_t i = 0;; i++) {
        storm_mesh_sample(imc->mesh, cell, u, packet->position_cm);
        if (flat || i == BIRTH_MAX_RETRIES)
            return;
        double density = 1.0, x[3];
        memcpy(x, packet->position_cm, sizeof x);
        imc->mesh->ops->shape->unwrap(imc->mesh, cell, x);
        for (int d = 0; d < 3; d++)
            density += slope[d] * (x[d] - centre[d]);
        /* u[3] of the first block is the time: use those of the next. */
        storm_random(imc->problem->seed, STORM_STREAM_BIRTH, packet->id,
                     BIRTH_FIRST_RETRY + i, u);
        if (max * u[3] < density)
            return;
    }
}

static storm_status birth_emission(struct storm_imc *imc,
                                   struct storm_step *step,
                                   double *largest_inout)
{
    const struct storm_problem *p = imc->problem;
    uint64_t cycle = storm_step_number(step);
    for (storm_cell_idx cell = 0; cell < imc->n_cells; cell++) {
        double energy = imc->emitted[cell];
        if (!(energy > 0.0))
            continue;
        uint64_t n = imc_emit_number(imc, cell);
        struct storm_split split = storm_split(energy, n);
        for (uint64_t k = 0; k < n; k++) {
            double u[4];
            struct storm_packet packet =
                birth_begin(imc,
                            storm_packet_id_make(STORM_ORIGIN_EMISSION, cycle,
                                                 storm_mesh_cell_id(imc->mesh,
                                                                    cell),
                                                 k),
                            cell);
            storm_random(p->seed, STORM_STREAM_BIRTH, packet.id, 0, u);
            packet.time_left_s = u[3] * imc->dt_s;
            birth_tilted(imc, cell, &packet, u);
            birth_isotropic(imc, &packet);
            packet.group = birth_cell_group(imc, cell, packet.id);
            packet.weight_erg = birth_share(&split, k, n);
            double kev =
                birth_energy(imc, &packet,
                             (struct birth_spectrum){
                                 .temperature_kev = imc->temperature[cell]});
            kev *= imc_motion_emit(imc, &packet);
            if (imc->velocity != NULL)
                imc_flow_create(imc, STORM_ORIGIN_EMISSION, packet.weight_erg,
                                1);
            storm_status status =
                birth_spawn(imc, step, &packet, kev, largest_inout);
            if (status < 0)
                return status;
        }
        if (imc->velocity == NULL)
            imc_flow_create(imc, STORM_ORIGIN_EMISSION, energy, n);
    }
    return STORM_OK;
}

/* ---- initial radiation -------------------------------------------------- */

static storm_status birth_start_cell(struct storm_imc *imc,
                                     struct storm_engine *engine,
                                     storm_cell_idx cell)
{
    const struct storm_problem *p = imc->problem;
    int m = imc->material[cell];
    if (m < 0 || m >= (int)p->n_materials)
        return STORM_OK;
    double t = imc_start_radiation_kev(imc, cell);
    double energy = p->radiation_erg_cm3_kev4 * (t * t) * (t * t) *
                    imc->volume[cell] * imc_motion_energy(imc, cell);
    if (!(energy > birth_min_erg))
        return STORM_OK;
    /* What faces and guesses of the first step know of it. */
    imc->radiation[cell] = energy / imc->volume[cell];
    struct storm_split split = storm_split(energy, p->max_per_cell);
    for (uint64_t k = 0; k < p->max_per_cell; k++) {
        double u[4];
        struct storm_packet packet =
            birth_begin(imc,
                        storm_packet_id_make(STORM_ORIGIN_INITIAL, 0,
                                             storm_mesh_cell_id(imc->mesh,
                                                                cell),
                                             k),
                        cell);
        storm_random(p->seed, STORM_STREAM_BIRTH, packet.id, 0, u);
        storm_mesh_sample(imc->mesh, cell, u, packet.position_cm);
        birth_isotropic(imc, &packet);
        packet.group = birth_planck_group(imc, t, packet.id);
        packet.weight_erg = birth_share(&split, k, p->max_per_cell);
        double kev =
            birth_energy(imc, &packet,
                         (struct birth_spectrum){.temperature_kev = t});
        kev *= imc_motion_place(imc, &packet);
        imc_motion_create(imc, &packet, false);
        const struct storm_photon photon = birth_photon(imc, &packet, kev);
        storm_status status = storm_engine_add(engine, &photon);
        if (status < 0)
            return status;
    }
    imc_flow_create(imc, STORM_ORIGIN_INITIAL, energy, p->max_per_cell);
    return STORM_OK;
}

storm_status storm_imc_start(struct storm_imc *imc, struct storm_engine *engine)
{
    storm_status status = imc_check(imc);
    for (storm_cell_idx i = 0; i < imc->n_cells && status == STORM_OK; i++)
        status = birth_start_cell(imc, engine, i);
    return status;
}

/* ---- sources in the volume ---------------------------------------------- */

struct curve_window imc_window(const struct storm_imc *imc, double start_s,
                               double stop_s)
{
    return (struct curve_window){fmax(start_s, imc->time_s),
                                 fmin(stop_s, imc->time_s + imc->dt_s)};
}

double birth_time_left(const struct storm_imc *imc, double time_s)
{
    double left = imc->time_s + imc->dt_s - time_s;
    return left > 0.0 ? left : 0.0;
}

/* Packets are distributed over cells by a comb: packet k belongs to the cell
 * whose shares cover this number. */
static double birth_tooth(uint64_t k, uint64_t n, double u, uint64_t total)
{
    return ((double)k + u) * ((double)total / (double)n);
}

/* The first packet at or after `share`. */
static uint64_t birth_first_tooth(uint64_t share, uint64_t n, double u,
                                  uint64_t total)
{
    double guess = (double)share * ((double)n / (double)total) - u;
    uint64_t k = guess > 2.0 ? (uint64_t)(guess - 2.0) : 0;
    while (k < n && birth_tooth(k, n, u, total) < (double)share)
        k++;
    return k;
}

/* A point of the cell that is in the shape. */
static void birth_in_shape(const struct storm_imc *imc,
                           const struct storm_shape *shape, storm_cell_idx cell,
                           struct storm_packet *packet, double u[4])
{
    storm_mesh_sample(imc->mesh, cell, u, packet->position_cm);
    for (uint64_t i = 0; i < BIRTH_MAX_RETRIES &&
                         !storm_shape_contains(shape, packet->position_cm);
         i++) {
        double v[4];
        storm_random(imc->problem->seed, STORM_STREAM_BIRTH, packet->id,
                     BIRTH_FIRST_RETRY + i, v);
        storm_mesh_sample(imc->mesh, cell, v, packet->position_cm);
    }
}

static storm_status birth_volume(struct storm_imc *imc, struct storm_step *step,
                                 size_t i, double *largest_inout)
{
    const struct storm_problem *p = imc->problem;
    const struct storm_source *from = &p->sources[i];
    const struct imc_source *source = &imc->sources[i];
    uint64_t cycle = storm_step_number(step), n = from->packets;
    double max_power = 0.0;
    double energy = birth_source_energy(imc, i, &max_power);
    if (!(energy > birth_min_erg))
        return STORM_OK;
    struct storm_split split = storm_split(energy, n);
    double u[4];
    struct storm_packet_id key = {.hi = cycle, .lo = UINT64_MAX - i};
    storm_random(p->seed, STORM_STREAM_POPULATION, key, 0, u);
    double offset = u[0];
    for (size_t c = 0; c < source->n; c++) {
        uint64_t k =
            birth_first_tooth(source->begin[c], n, offset, source->total);
        for (; k < n && birth_tooth(k, n, offset, source->total) <
                            (double)source->end[c];
             k++) {
            struct storm_packet packet =
                birth_begin(imc,
                            storm_packet_id_make(STORM_ORIGIN_SOURCE, cycle, i,
                                                 k),
                            source->cells[c]);
            storm_random(p->seed, STORM_STREAM_BIRTH, packet.id, 0, u);
            packet.time_left_s =
                birth_time_left(imc, birth_source_time(imc, i, max_power,
                                                       packet.id, u[3]));
            birth_in_shape(imc, &from->shape, source->cells[c], &packet, u);
            birth_isotropic(imc, &packet);
            packet.group = birth_source_group(imc, i, packet.id);
            packet.weight_erg = birth_share(&split, k, n);
            storm_status status =
                birth_give(imc, step, &packet, birth_source_spectrum(from),
                           largest_inout);
            if (status < 0)
                return status;
            imc_flow_create(imc, STORM_ORIGIN_SOURCE, packet.weight_erg, 1);
        }
    }
    return STORM_OK;
}

static storm_status birth_sources(struct storm_imc *imc,
                                  struct storm_step *step,
                                  double *largest_inout)
{
    storm_status status = STORM_OK;
    for (size_t i = 0; i < imc->problem->n_sources && status == STORM_OK; i++)
        status = imc->problem->sources[i].kind == STORM_SOURCE_VOLUME
                     ? birth_volume(imc, step, i, largest_inout)
                     : birth_surface(imc, step, i, largest_inout);
    return status;
}

/* ---- walls -------------------------------------------------------------- */

double imc_edge_hottest(const struct storm_imc *imc, int wall,
                        const struct storm_wall_part *edge)
{
    struct curve_window window = imc_window(imc, edge->start_s, edge->stop_s);
    size_t i = (size_t)(edge - problem_wall(imc->problem, (size_t)wall)->parts);
    double max = 0.0;
    if (window.to > window.from)
        (void)curve_integral(&imc->walls[wall][i].temperature.table, window, 4,
                             &max);
    return max;
}

struct birth_wall {
    const struct storm_wall_part *edge;
    const struct imc_wall *part;
    int wall;
    struct curve_window window;
    double max_kev;
};

/* A point of the part in the given tile, and a time, distributed as T^4. */
static void birth_on_wall(const struct storm_imc *imc,
                          const struct birth_wall *w, size_t tile,
                          struct storm_packet *packet, double *kev_out)
{
    const struct storm_problem *p = imc->problem;
    const size_t at[2] = {tile % IMC_TILES, tile / IMC_TILES};
    int axis = w->wall / 2;
    double u[4], time_s;
    packet->position_cm[axis] = w->wall % 2 ? p->hi_cm[axis] : p->lo_cm[axis];
    for (uint64_t i = 0;; i++) {
        storm_random(p->seed, STORM_STREAM_BIRTH, packet->id,
                     i == 0 ? 0 : BIRTH_FIRST_RETRY + i, u);
        for (int k = 0; k < 2; k++) {
            double lo = w->part->lo[k], hi = w->part->hi[k];
            double x = lo + (hi - lo) * (((double)at[k] + u[k]) / IMC_TILES);
            packet->position_cm[(axis + 1 + k) % 3] = fmin(x, hi);
        }
        time_s = w->window.from + u[3] * (w->window.to - w->window.from);
        if (i == BIRTH_MAX_RETRIES)
            break;
        if (imc_edge_at(p, w->wall, packet->position_cm) != w->edge)
            continue;
        double t = curve_at(&w->part->temperature.table, time_s) / w->max_kev;
        if (u[2] < t * t * (t * t))
            break;
    }
    *kev_out = curve_at(&w->part->temperature.table, time_s);
    packet->time_left_s = birth_time_left(imc, time_s);
}

/* Into the domain, by the cosine law of a blackbody. */
static void birth_inwards(const struct storm_imc *imc, int wall,
                          struct storm_packet *packet)
{
    double u[4], circle[3];
    int axis = wall / 2;
    storm_random(imc->problem->seed, STORM_STREAM_BIRTH, packet->id, 1, u);
    storm_isotropic(0.5, u[1], circle);
    double across = sqrt(1.0 - u[0]);
    packet->direction[axis] = wall % 2 ? -sqrt(u[0]) : sqrt(u[0]);
    packet->direction[(axis + 1) % 3] = across * circle[0];
    packet->direction[(axis + 2) % 3] = across * circle[1];
    packet->optical_depth = -storm_log(u[2]);
}

storm_status birth_place(const struct storm_imc *imc,
                         struct storm_packet *packet, bool *mine_out)
{
    struct storm_cell_ref where;
    storm_status status =
        storm_mesh_locate(imc->mesh, packet->position_cm, &where);
    *mine_out = status == STORM_OK && where.rank == imc->env->rank;
    if (*mine_out) {
        packet->cell_idx = where.idx;
        packet->cell = storm_mesh_cell_id(imc->mesh, where.idx);
    }
    return status < 0 ? status : STORM_OK;
}

/* An edge with its energy for this step and the random offset of its comb. */
struct birth_edge {
    struct birth_wall w;
    struct storm_split split;
    uint64_t cycle, where;
    double offset;
};

/* The packets of a tile that are in cells of this rank. */
static storm_status birth_tile(struct storm_imc *imc, struct storm_step *step,
                               const struct birth_edge *e, size_t tile,
                               double *largest_inout)
{
    const uint64_t *share = e->w.part->share;
    uint64_t total = share[IMC_TILES * IMC_TILES], n = e->w.edge->packets;
    for (uint64_t k = birth_first_tooth(share[tile], n, e->offset, total);
         k < n && birth_tooth(k, n, e->offset, total) < (double)share[tile + 1];
         k++) {
        struct storm_packet packet = {
            .id = storm_packet_id_make(STORM_ORIGIN_BOUNDARY, e->cycle,
                                       e->where, k)};
        struct birth_spectrum spectrum = {0};
        bool mine;
        packet.weight_erg = birth_share(&e->split, k, n);
        birth_on_wall(imc, &e->w, tile, &packet, &spectrum.temperature_kev);
        storm_status status = birth_place(imc, &packet, &mine);
        if (status < 0)
            return status;
        if (!mine)
            continue;
        birth_inwards(imc, e->w.wall, &packet);
        packet.group =
            birth_planck_group(imc, spectrum.temperature_kev, packet.id);
        imc_ddmc_knock(imc, e->w.wall, -1, &packet);
        status = birth_give(imc, step, &packet, spectrum, largest_inout);
        if (status < 0)
            return status;
        imc_flow_create(imc, STORM_ORIGIN_BOUNDARY, packet.weight_erg, 1);
    }
    return STORM_OK;
}

/* A point of a face of a numbered boundary, and a time, distributed as T^4. */
static void birth_on_face(const struct storm_imc *imc,
                          const struct birth_wall *w,
                          const struct imc_wall_face *face,
                          struct storm_packet *packet, double *kev_out)
{
    const struct storm_problem *p = imc->problem;
    double u[4], time_s;
    for (uint64_t i = 0;; i++) {
        storm_random(p->seed, STORM_STREAM_BIRTH, packet->id,
                     i == 0 ? 0 : BIRTH_FIRST_RETRY + i, u);
        imc->mesh->ops->sample_face(imc->mesh, face->cell, face->face, u,
                                    packet->position_cm);
        time_s = w->window.from + u[3] * (w->window.to - w->window.from);
        if (i == BIRTH_MAX_RETRIES)
            break;
        if (imc_edge_at(p, w->wall, packet->position_cm) != w->edge)
            continue;
        double t = curve_at(&w->part->temperature.table, time_s) / w->max_kev;
        if (u[2] < t * t * (t * t))
            break;
    }
    *kev_out = curve_at(&w->part->temperature.table, time_s);
    packet->time_left_s = birth_time_left(imc, time_s);
}

/* The packets of a face of this rank. */
static storm_status birth_face(struct storm_imc *imc, struct storm_step *step,
                               const struct birth_edge *e,
                               const struct imc_wall_face *face,
                               double *largest_inout)
{
    uint64_t total = e->w.part->total, n = e->w.edge->packets;
    struct storm_face shape = STORM_FACE_INIT;
    (void)storm_mesh_face(imc->mesh, face->cell, face->face, &shape);
    for (uint64_t k = birth_first_tooth(face->begin, n, e->offset, total);
         k < n && birth_tooth(k, n, e->offset, total) < (double)face->end;
         k++) {
        struct storm_packet packet =
            birth_begin(imc,
                        storm_packet_id_make(STORM_ORIGIN_BOUNDARY, e->cycle,
                                             e->where, k),
                        face->cell);
        struct birth_spectrum spectrum = {0};
        double u[4];
        packet.weight_erg = birth_share(&e->split, k, n);
        birth_on_face(imc, &e->w, face, &packet, &spectrum.temperature_kev);
        storm_random(imc->problem->seed, STORM_STREAM_BIRTH, packet.id, 1, u);
        imc_boundary_inwards(shape.normal, u, packet.direction);
        packet.optical_depth = -storm_log(u[2]);
        packet.group =
            birth_planck_group(imc, spectrum.temperature_kev, packet.id);
        imc_ddmc_knock(imc, e->w.wall, face->face, &packet);
        storm_status status =
            birth_give(imc, step, &packet, spectrum, largest_inout);
        if (status < 0)
            return status;
        imc_flow_create(imc, STORM_ORIGIN_BOUNDARY, packet.weight_erg, 1);
    }
    return STORM_OK;
}

/* Numbers of boundaries may be large; of walls, old ids are kept. */
static uint64_t birth_where(const struct storm_imc *imc, int wall,
                            size_t i_edge)
{
    return imc->mesh->n_boundaries > 0 ? (uint64_t)wall << 16 | i_edge
                                       : (uint64_t)wall << 40 | i_edge;
}

static storm_status birth_edge(struct storm_imc *imc, struct storm_step *step,
                               int wall, size_t i_edge, double *largest_inout)
{
    const struct storm_problem *p = imc->problem;
    const struct storm_wall_part *edge =
        &problem_wall(p, (size_t)wall)->parts[i_edge];
    struct birth_edge e = {
        .w = {.edge = edge,
              .part = &imc->walls[wall][i_edge],
              .wall = wall,
              .window = imc_window(imc, edge->start_s, edge->stop_s)},
        .cycle = storm_step_number(step),
        .where = birth_where(imc, wall, i_edge),
    };
    if (!(e.w.window.to > e.w.window.from))
        return STORM_OK;
    double t4 = curve_integral(&e.w.part->temperature.table, e.w.window, 4,
                               &e.w.max_kev);
    double energy = 0.25 * p->radiation_erg_cm3_kev4 * p->light_cm_s * t4 *
                    e.w.part->area_cm2; /* eq. (11) */
    if (!(energy > birth_min_erg))
        return STORM_OK;
    e.split = storm_split(energy, edge->packets);
    double u[4];
    struct storm_packet_id key = {.hi = e.cycle,
                                  .lo = UINT64_MAX / 2 - e.where};
    storm_random(p->seed, STORM_STREAM_POPULATION, key, 0, u);
    e.offset = u[0];
    storm_status status = STORM_OK;
    for (size_t i = 0; i < e.w.part->n_faces && status == STORM_OK; i++)
        status = birth_face(imc, step, &e, &e.w.part->faces[i], largest_inout);
    for (size_t i = 0; e.w.part->mine != NULL && i < IMC_TILES * IMC_TILES &&
                       status == STORM_OK;
         i++)
        if (e.w.part->mine[i])
            status = birth_tile(imc, step, &e, i, largest_inout);
    return status;
}

static storm_status birth_walls(struct storm_imc *imc, struct storm_step *step,
                                double *largest_inout)
{
    storm_status status = STORM_OK;
    for (size_t w = 0; w < problem_n_walls(imc->problem); w++) {
        const struct storm_wall *wall = problem_wall(imc->problem, w);
        for (size_t i = 0; i < wall->n; i++)
            if (status == STORM_OK &&
                wall->parts[i].kind == STORM_WALL_BLACKBODY)
                status = birth_edge(imc, step, (int)w, i, largest_inout);
    }
    return status;
}

/* ---- all of them -------------------------------------------------------- */

storm_status imc_birth(struct storm_imc *imc, struct storm_step *step,
                       double *largest_inout)
{
    storm_status status = birth_emission(imc, step, largest_inout);
    if (status == STORM_OK)
        status = birth_sources(imc, step, largest_inout);
    if (status == STORM_OK)
        status = birth_walls(imc, step, largest_inout);
    if (status == STORM_OK)
        status = imc_plane_birth(imc, step, largest_inout);
    return status;
}
