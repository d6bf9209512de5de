/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers of packets that a cell emits and keeps, so that the statistical
 * errors of cells are even (packets.steer: error), eqs. (25) and (26).
 *
 * The energy emitted is that of this step, the radiation that of the last one:
 * both are the same bits on any number of ranks, and shares are integers, so
 * their sums are, too. Measured noise is not used: over a few steps it is too
 * noisy itself, and steering by it feeds back.
 */
#include <math.h>

#include <storm/context.h>

#include "mesh/mesh_ops.h"
#include "physics/imc.h"

/* Shares are in units of 2^-32; at least one. */
static const double steer_unit = 0x1p32;

/* No cell has more than this many times the mean; and none keeps less than this
 * part of it, because packets that come in from others must fit, too. */
static const double steer_max = 8.0, steer_min_kept = 0.75;

enum { STEER_EMIT, STEER_MAX_PACKETS, STEER_KINDS };

/* Squares of the parts of a cell's radiation that are emitted in this step,
 * and that were there before: eq. (26). */
static void steer_shares(const struct storm_imc *imc, storm_cell_idx i,
                         uint64_t share_out[STEER_KINDS])
{
    double there = imc->radiation[i] * imc->volume[i];
    double all = imc->emitted[i] + there;
    share_out[STEER_EMIT] = share_out[STEER_MAX_PACKETS] = 0;
    if (!(all > 0.0))
        return;
    double emitted = imc->emitted[i] / all, kept = there / all;
    if (emitted > 0.0)
        share_out[STEER_EMIT] =
            1 + (uint64_t)(steer_unit * (emitted * emitted));
    share_out[STEER_MAX_PACKETS] = 1 + (uint64_t)(steer_unit * (kept * kept));
}

/* Shares of all cells, and of how many. */
struct steer_sum {
    uint64_t share, cells;
};

/* `mean` times share over the mean share, rounded at random by u. */
static uint64_t steer_number(uint64_t mean, uint64_t share,
                             const struct steer_sum *sum, double u,
                             uint64_t min)
{
    if (sum->share == 0)
        return mean;
    double relative = (double)share * ((double)sum->cells / (double)sum->share);
    uint64_t n = (uint64_t)((double)mean * fmin(relative, steer_max) + u);
    return n > min ? n : min;
}

static storm_status steer_add_up(const struct storm_imc *imc,
                                 struct steer_sum sum_out[STEER_KINDS])
{
    for (int k = 0; k < STEER_KINDS; k++)
        sum_out[k] = (struct steer_sum){0, 0};
    for (storm_cell_idx i = 0; i < imc->n_cells; i++) {
        uint64_t share[STEER_KINDS];
        steer_shares(imc, i, share);
        for (int k = 0; k < STEER_KINDS; k++) {
            sum_out[k].share += share[k];
            sum_out[k].cells += share[k] > 0;
        }
    }
    return storm_context_reduce(imc->context, sum_out, 2 * STEER_KINDS,
                                MPI_UINT64_T, MPI_SUM);
}

storm_status imc_steer(struct storm_imc *imc, struct storm_step *step)
{
    const struct storm_problem *p = imc->problem;
    struct steer_sum sum[STEER_KINDS];
    if (imc->steer == NULL)
        return STORM_OK;
    storm_status status = steer_add_up(imc, sum);
    uint64_t min = (uint64_t)ceil(steer_min_kept * (double)p->max_per_cell);
    min = min > p->min_per_cell ? min : p->min_per_cell;
    for (storm_cell_idx i = 0; status == STORM_OK && i < imc->n_cells; i++) {
        uint64_t share[STEER_KINDS];
        double u[4];
        struct storm_packet_id key = {.hi = storm_step_number(step),
                                      .lo = storm_mesh_cell_id(imc->mesh, i)};
        storm_random(p->seed, STORM_STREAM_POPULATION, key, 1, u);
        steer_shares(imc, i, share);
        imc->steer[i].emit = steer_number(p->emit_per_cell, share[STEER_EMIT],
                                          &sum[STEER_EMIT], u[0], 1);
        imc->steer[i].max_packets =
            steer_number(p->max_per_cell, share[STEER_MAX_PACKETS],
                         &sum[STEER_MAX_PACKETS], u[1], min);
    }
    return status;
}

uint64_t imc_emit_number(const struct storm_imc *imc, storm_cell_idx cell)
{
    return imc->steer != NULL ? imc->steer[cell].emit
                              : imc->problem->emit_per_cell;
}

uint64_t storm_imc_max_packets(void *self, storm_cell_idx cell)
{
    const struct storm_imc *imc = self;
    bool steered = imc->steer != NULL &&
                   !storm_mesh_has_changed(imc->mesh, imc->generation);
    return steered ? imc->steer[cell].max_packets : imc->problem->max_per_cell;
}
