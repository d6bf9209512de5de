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

#include "base/sized.h"
#include "run/run.h"

static const double estimate_process_bytes = 25e6, estimate_rings_bytes = 3e6;
static const double estimate_box_bytes = 500.0, estimate_cell_bytes = 1500.0;
static const double estimate_group_bytes = 32.0; /* of a cell */
static const double estimate_store = 1.25; /* room in the arrays of packets */
static const double estimate_event_s = 3e-7;

static uint64_t estimate_cells(const struct deck_mesh *mesh)
{
    if (mesh->kind == STORM_MESH_VORONOI)
        return (uint64_t)mesh->points;
    uint64_t n = 1;
    for (int d = 0; d < 3; d++)
        n *= (uint64_t)mesh->cells[d];
    return n;
}

static uint64_t estimate_packets(const struct deck_values *v, uint64_t n_cells)
{
    uint64_t n = n_cells *
                 (uint64_t)(v->packets.max_per_cell + v->packets.emit_per_cell);
    for (int wall = 0; wall < STORM_N_WALLS; wall++)
        for (size_t i = 0; i < v->boundaries.wall[wall].n; i++) {
            const struct storm_wall_part *part =
                &v->boundaries.wall[wall].parts[i];
            n += part->kind == STORM_WALL_BLACKBODY ? part->packets : 0;
        }
    for (size_t i = 0; i < v->sources.n; i++)
        n += v->sources.item[i].packets;
    return n;
}

/* Crossings of a packet in a step of the max length, in free flight, and one
 * interaction. Matter that absorbs makes it fewer, one that scatters more. */
static double estimate_events(const struct deck_values *v, uint64_t n_cells)
{
    double volume = 1.0;
    for (int d = 0; d < 3; d++)
        volume *= v->mesh.box.hi[d] - v->mesh.box.lo[d];
    double size_cm = cbrt(volume / (double)n_cells);
    double free_cm = INFINITY, dt = fmax(v->time.dt, 0.0);
    for (size_t i = 0; i < v->materials.n; i++) {
        const struct storm_material *m = &v->materials.item[i];
        const struct storm_power_law *law = &m->absorption;
        double opacity = law->coef * pow(m->temperature_kev, law->t_exp);
        opacity = fmin(fmax(opacity, law->min), law->max);
        if (law->coef > 0.0 && isfinite(opacity) && opacity > 0.0)
            free_cm = fmin(free_cm, 1.0 / opacity);
    }
    return 1.0 + fmin(v->constants.c * dt, free_cm) / size_cm;
}

storm_status storm_run_estimate(const struct storm_deck *deck, uint64_t ranks,
                                uint64_t cores,
                                struct storm_run_needs *needs_out)
{
    const struct deck_values *v = &deck->values;
    struct storm_run_needs needs = STORM_RUN_NEEDS_INIT;
    if (ranks == 0 || cores == 0)
        return STORM_ERR_ARG;
    if (!storm_mesh_kind_built((size_t)v->mesh.kind) ||
        strcmp(v->mesh.points_file, "none") != 0)
        return STORM_ERR_NOSUP;
    needs.cells = estimate_cells(&v->mesh);
    needs.packets = estimate_packets(v, needs.cells);
    double cell = (v->mesh.kind == STORM_MESH_VORONOI ? estimate_cell_bytes
                                                      : estimate_box_bytes) +
                  estimate_group_bytes * (double)v->groups.count;
    double packet = estimate_store * sizeof(struct storm_packet);
    needs.rank_bytes =
        estimate_process_bytes + (ranks > 1 ? estimate_rings_bytes : 0.0) +
        (cell * (double)needs.cells + packet * (double)needs.packets) /
            (double)ranks;
    needs.total_bytes = needs.rank_bytes * (double)ranks;
    needs.step_s = (double)needs.packets * estimate_events(v, needs.cells) *
                   estimate_event_s / (double)(ranks < cores ? ranks : cores);
    return storm_sized_write(&needs, sizeof needs, needs_out);
}
