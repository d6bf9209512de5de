/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a run will need, from its deck alone.
 *
 * Constants are measured (docs/output.md, "Before a run"): memory of a process
 * with MPI, bytes of cells and packets, time of an event. Packets are counted
 * at their max: every cell full, and the emission of one step.
 */
#include <math.h>
#include <string.h>

#include "base/math.h"
#include "base/sized.h"
#include "run/run.h"

static const double estimate_process_bytes = 25e6, estimate_rings_bytes = 3e6;
static const double estimate_box_bytes = 500.0, estimate_cell_bytes = 1500.0;
static const double estimate_group_bytes = 32.0; /* of a cell */
/* More where packets diffuse: faces, and the depth of each group at each. */
static const double estimate_hop_box_bytes = 550.0,
                    estimate_hop_cell_bytes = 1200.0;
static const double estimate_hop_box_group_bytes = 104.0,
                    estimate_hop_cell_group_bytes = 293.0;
static const double estimate_store = 1.25; /* room in the arrays of packets */
static const double estimate_event_s = 3e-7;

static uint64_t estimate_cells(const struct deck_mesh *mesh)
{
    if (mesh->kind == STORM_MESH_VORONOI)
        return (uint64_t)mesh->points;
    bool is_octree = mesh->kind == STORM_MESH_OCTREE;
    uint64_t n = is_octree ? (uint64_t)1 << 3 * mesh->level : 1;
    for (int d = 0; d < 3; d++)
        n *= (uint64_t)(is_octree ? mesh->roots[d] : mesh->cells[d]);
    return n;
}

/* Are cells counted without making them? */
static bool estimate_is_known(const struct deck_mesh *mesh)
{
    return storm_mesh_kind_built((size_t)mesh->kind) &&
           mesh->kind != STORM_MESH_FILE &&
           strcmp(mesh->points_file, "none") == 0;
}

/* As a real number: decks may ask for more than 2^64. */
static double estimate_packets(const struct deck_values *v, uint64_t n_cells)
{
    double n = (double)n_cells * ((double)v->packets.max_per_cell +
                                  (double)v->packets.emit_per_cell);
    for (int wall = 0; wall < STORM_N_WALLS; wall++)
        for (size_t i = 0; i < v->boundaries.wall[wall].n; i++) {
            const struct storm_wall_part *part =
                &v->boundaries.wall[wall].parts[i];
            n += part->kind == STORM_WALL_BLACKBODY ? (double)part->packets : 0;
        }
    for (size_t i = 0; i < v->sources.n; i++)
        n += (double)v->sources.item[i].packets;
    return n;
}

/* Of the longest step. Steps that grow by g add up to (dt_k g - dt) / (g - 1),
 * which is not above the end of the run before the last one. */
static double estimate_max_dt(const struct deck_values *v)
{
    double first = fmin(v->time.dt, v->time.dt_max), max = first;
    if (v->time.growth > 1.0) {
        max = first + v->time.stop * (v->time.growth - 1.0);
        if (v->time.steps > 0)
            max = fmin(max, first * storm_pow(v->time.growth,
                                              (double)v->time.steps - 1.0));
    }
    return fmin(fmin(max, v->time.dt_max), v->time.stop);
}

/* Path of a packet in this material, at its first temperature. */
static double estimate_path(const struct storm_material *m, double max_cm)
{
    const struct storm_power_law *law = &m->absorption;
    double opacity = law->coef * storm_pow(m->temperature_kev, law->t_exp) *
                     storm_pow(m->density_g_cm3, law->rho_exp);
    opacity = fmin(fmax(opacity, law->min), law->max);
    if (!(law->coef > 0.0) || !isfinite(opacity) || !(opacity > 0.0))
        return max_cm;
    return fmin(max_cm, 1.0 / opacity);
}

/* Crossings of a packet in a step of this length, and one interaction. It flies
 * until it is absorbed or has left the box, as often in one material as in
 * another; matter that scatters makes it more. */
static double estimate_events(const struct deck_values *v, uint64_t n_cells,
                              double dt_s)
{
    double volume = 1.0, length = 0.0, path = 0.0;
    for (int d = 0; d < 3; d++) {
        double side = v->mesh.box.hi[d] - v->mesh.box.lo[d];
        volume *= side;
        length = fmax(length, side);
    }
    double max_cm = fmin(v->constants.c * dt_s, length);
    for (size_t i = 0; i < v->materials.n; i++)
        path += estimate_path(&v->materials.item[i].laws, max_cm);
    path = v->materials.n > 0 ? path / (double)v->materials.n : max_cm;
    return 1.0 + path / storm_cbrt(volume / (double)n_cells);
}

/* Bytes of a cell. */
static double estimate_cell(const struct deck_values *v, bool diffuses)
{
    bool is_voronoi = v->mesh.kind == STORM_MESH_VORONOI;
    double cell = is_voronoi ? estimate_cell_bytes : estimate_box_bytes;
    double group = estimate_group_bytes;
    if (diffuses) {
        cell += is_voronoi ? estimate_hop_cell_bytes : estimate_hop_box_bytes;
        group += is_voronoi ? estimate_hop_cell_group_bytes
                            : estimate_hop_box_group_bytes;
    }
    return cell + group * (double)v->groups.count;
}

storm_status storm_run_estimate(const struct storm_deck *deck, uint64_t ranks,
                                uint64_t cores,
                                struct storm_run_needs *needs_out)
{
    const struct deck_values *v = &deck->values;
    struct storm_run_needs needs = STORM_RUN_NEEDS_INIT;
    if (ranks == 0 || cores == 0)
        return STORM_ERR_ARG;
    if (!estimate_is_known(&v->mesh))
        return STORM_ERR_NOSUP;
    needs.cells = estimate_cells(&v->mesh);
    needs.is_min =
        v->mesh.kind == STORM_MESH_OCTREE && v->mesh.refine_levels > 0;
    double packets = estimate_packets(v, needs.cells);
    needs.packets = packets < 0x1p64 ? (uint64_t)packets : UINT64_MAX;
    struct storm_problem problem;
    deck_get_problem(deck, &problem);
    double cell = estimate_cell(v, problem.diffusion);
    double packet = estimate_store * sizeof(struct storm_packet);
    needs.rank_bytes =
        estimate_process_bytes + (ranks > 1 ? estimate_rings_bytes : 0.0) +
        (cell * (double)needs.cells + packet * packets) / (double)ranks;
    needs.total_bytes = needs.rank_bytes * (double)ranks;
    double event_s =
        packets * estimate_event_s / (double)(ranks < cores ? ranks : cores);
    needs.step_s = event_s * estimate_events(v, needs.cells,
                                             fmin(v->time.dt, v->time.dt_max));
    needs.max_step_s =
        event_s * estimate_events(v, needs.cells, estimate_max_dt(v));
    return storm_sized_write(&needs, sizeof needs, needs_out);
}
