/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results that rest on a handful of packets.
 *
 *   SCARCE-1  At each dump, of the step before it: the cells with radiation in
 *             which fewer than SCARCE_MIN events took place (packets, where the
 *             radiation is that of the census), and their share of the
 *             radiation energy; the share of the heaviest packet in the energy
 *             at census. The same on any number of ranks.
 *   SCARCE-2  The dump with the largest share of such cells is reported, once
 *             in a run or job, in the summary, and as a warning if the share is
 *             above scarce_share, or if the heaviest packet has more than
 *             scarce_packet of a radiation that is that of the census.
 *
 *   SCARCE-3  Of every step: the heating of matter that rests on a handful of
 *             packets, and the cells at fronts that heat as fast as steps
 *             follow each other (storm/imc_steps.h). Their sums over the run or
 *             job are in the summary, and a warning if they are more than
 *             scarce_heating of all heating, or scarce_stiff of all such cells.
 *
 * An event is a crossing, a collision or an end of a step; a packet makes at
 * least one in each cell that it reaches, so there are fewer packets than
 * events: cells that are not named may be noisy, too. Errors are from replicas
 * alone.
 */
#include <inttypes.h>
#include <math.h>

#include <storm/context.h>
#include <storm/packet.h>

#include "base/env.h"
#include "base/exact.h"
#include "base/json.h"
#include "run/run.h"

enum { SCARCE_MIN = 10 };
static const double scarce_share = 0.01, scarce_packet = 0.1;
static const double scarce_heating = 0.3, scarce_stiff = 0.5;
enum { SCARCE_STIFF_MIN = 10 }; /* cells times steps */

static const char scarce_label[] = "run";

/* Energies of cells: of all, and of those with few events. */
enum { SCARCE_ALL, SCARCE_FEW, SCARCE_SUMS };

/* energy: of the cells, erg; weights: their events or packets, plus 1. */
static storm_status scarce_sum(const struct run *run, const double *energy,
                               const uint64_t *weights,
                               struct run_scarce *scarce_out)
{
    const storm_cell_idx n = storm_mesh_n_cells(run->mesh);
    int64_t limbs[SCARCE_SUMS * STORM_EXACT_LIMBS];
    storm_exact sum[SCARCE_SUMS] = {0, 0};
    double max = 0.0;
    uint64_t cells = 0;
    for (storm_cell_idx i = 0; i < n; i++)
        max = fmax(max, energy[i]);
    storm_status status =
        storm_context_reduce(run->context, &max, 1, MPI_DOUBLE, MPI_MAX);
    struct storm_exact_unit unit = storm_exact_unit(max);
    for (storm_cell_idx i = 0; i < n && status == STORM_OK; i++) {
        bool is_few = energy[i] > 0.0 && weights[i] <= SCARCE_MIN;
        cells += is_few;
        storm_exact_add(&sum[SCARCE_ALL], energy[i], unit);
        if (is_few)
            storm_exact_add(&sum[SCARCE_FEW], energy[i], unit);
    }
    for (int k = 0; k < SCARCE_SUMS; k++)
        storm_exact_split(sum[k], &limbs[k * STORM_EXACT_LIMBS]);
    if (status == STORM_OK)
        status = storm_context_reduce(run->context, limbs,
                                      SCARCE_SUMS * STORM_EXACT_LIMBS,
                                      MPI_INT64_T, MPI_SUM);
    if (status == STORM_OK)
        status = storm_context_reduce(run->context, &cells, 1, MPI_UINT64_T,
                                      MPI_SUM);
    for (int k = 0; k < SCARCE_SUMS; k++)
        sum[k] = storm_exact_join(&limbs[k * STORM_EXACT_LIMBS]);
    double all = storm_exact_value(sum[SCARCE_ALL], unit);
    scarce_out->cells = cells;
    scarce_out->share =
        all > 0.0 ? storm_exact_value(sum[SCARCE_FEW], unit) / all : 0.0;
    return status;
}

/* The heaviest packet, over the energy at census. */
static storm_status scarce_heaviest(const struct run *run, double energy_erg,
                                    double *share_out)
{
    size_t n;
    void *const *packets = storm_engine_packets(run->engine, &n);
    double max = 0.0;
    for (size_t i = 0; i < n; i++)
        max = fmax(max, ((const struct storm_packet *)packets[i])->weight_erg);
    storm_status status =
        storm_context_reduce(run->context, &max, 1, MPI_DOUBLE, MPI_MAX);
    *share_out = energy_erg > 0.0 ? max / energy_erg : 0.0;
    return status;
}

static storm_status scarce_fill(struct run *run, double *energy,
                                uint64_t *weights, struct run_scarce *now)
{
    const struct io_source source = run_source(run);
    bool is_census = source.radiation == STORM_IMC_RADIATION_CENSUS;
    double accounts[RUN_N_ENERGIES], error;
    storm_status status =
        storm_imc_get(run->imc, run->engine, source.radiation, energy);
    if (status == STORM_OK)
        status = storm_imc_weights(run->imc, run->engine,
                                   is_census ? STORM_IMC_BY_PACKETS
                                             : STORM_IMC_BY_EVENTS,
                                   weights);
    status = storm_context_agree(run->context, status);
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(run->mesh); i++)
        energy[i] *= storm_mesh_volume_cm3(run->mesh, i);
    if (status == STORM_OK)
        status = scarce_sum(run, energy, weights, now);
    if (status == STORM_OK)
        status = storm_imc_balance(run->imc, run->engine, accounts, &error);
    return status < 0 ? status
                      : scarce_heaviest(run, accounts[3], &now->packet);
}

storm_status run_scarce_look(struct run *run)
{
    struct storm_memory *memory = storm_context_env(run->context)->memory;
    size_t n = (size_t)storm_mesh_n_cells(run->mesh) + 1;
    struct run_scarce now = {.step = run->step}, *worst = &run->scarce;
    double *energy = storm_alloc(memory, scarce_label, n * sizeof *energy);
    uint64_t *weights = storm_alloc(memory, scarce_label, n * sizeof *weights);
    bool has_room = energy != NULL && weights != NULL;
    storm_status status =
        storm_context_agree(run->context,
                            has_room ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK)
        status = scarce_fill(run, energy, weights, &now);
    storm_free(memory, energy);
    storm_free(memory, weights);
    now.packet = fmax(now.packet, worst->packet);
    if (worst->step == 0 || !(now.share < worst->share)) {
        worst->step = now.step;
        worst->cells = now.cells;
        worst->share = now.share;
    }
    worst->packet = now.packet;
    return status;
}

storm_status run_scarce_add(struct run *run)
{
    struct storm_imc_heating heating = STORM_IMC_HEATING_INIT;
    struct run_scarce *s = &run->scarce;
    storm_status status = storm_imc_get_heating(run->imc, &heating);
    if (status < 0)
        return status;
    s->heating_erg += heating.heating_erg;
    s->scarce_erg += heating.scarce_erg;
    s->front_cells += heating.front_cells;
    s->stiff_cells += heating.stiff_cells;
    return STORM_OK;
}

/* ---- the report ---------------------------------------------------------- */

/* Of heating that rests on few packets. */
static double scarce_heating_share(const struct run_scarce *s)
{
    return s->heating_erg > 0.0 ? s->scarce_erg / s->heating_erg : 0.0;
}

void run_scarce_json(const struct run *run, struct storm_json *json)
{
    const struct run_scarce *s = &run->scarce;
    if (s->step == 0)
        return;
    storm_json_open(json, "heating", '{');
    storm_json_real(json, "scarce_share", scarce_heating_share(s));
    storm_json_uint(json, "front_cells", s->front_cells);
    storm_json_uint(json, "stiff_cells", s->stiff_cells);
    storm_json_close(json, '}');
    storm_json_open(json, "scarce", '{');
    storm_json_uint(json, "below", SCARCE_MIN);
    storm_json_uint(json, "step", s->step);
    storm_json_uint(json, "cells", s->cells);
    storm_json_real(json, "energy_share", s->share);
    storm_json_real(json, "heaviest_packet", s->packet);
    storm_json_close(json, '}');
}

/* SCARCE-3 */
static void scarce_warn_heating(struct run *run)
{
    const struct run_scarce *s = &run->scarce;
    if (scarce_heating_share(s) > scarce_heating)
        run_warn(run,
                 "%.2g %% of the heating of matter was in cells that "
                 "doubled their energy in one step by fewer than %d "
                 "packets: where matter is hot is a matter of chance; "
                 "take more packets, or acceleration.method: auto",
                 100.0 * scarce_heating_share(s), STORM_IMC_SCARCE);
    if (s->stiff_cells >= SCARCE_STIFF_MIN &&
        (double)s->stiff_cells > scarce_stiff * (double)s->front_cells)
        run_warn(
            run,
            "matter at the front of a wave is cold, thick and stiff: in %.0f "
            "%% of its steps a cell there more than doubled its energy with a "
            "Fleck factor below 0.01, so that the front moves by cells and "
            "steps, and its place depends on time.dt; use "
            "acceleration.method: auto, or shorter steps (time.dt, "
            "time.control: accuracy) until it does not",
            100.0 * (double)s->stiff_cells / (double)s->front_cells);
}

void run_scarce_warn(struct run *run)
{
    const struct run_scarce *s = &run->scarce;
    bool is_census = run->deck->values.output.radiation != 0;
    if (s->share > scarce_share)
        run_warn(
            run,
            "in step %" PRIu64 ", %" PRIu64 " of %" PRIu64
            " cells, with %.2g %% "
            "of the radiation energy, rest on fewer than %d %s each; take more "
            "packets (packets.emit_per_cell, max_per_cell, packets of walls "
            "and sources), fewer cells, or means over them",
            s->step, s->cells, storm_mesh_n_cells_total(run->mesh),
            100.0 * s->share, SCARCE_MIN, is_census ? "packets" : "events");
    if (s->packet > scarce_packet && is_census)
        run_warn(run,
                 "one packet has had %.2g %% of the energy at census; "
                 "take more packets",
                 100.0 * s->packet);
    scarce_warn_heating(run);
}
