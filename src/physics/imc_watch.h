/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why a step of implicit Monte Carlo is slow: samples of where packets are.
 *
 *   WATCH-1  The kernel looks at its packets every IMC_WATCH_ROUNDS events of
 *            one batch: nothing of it is in the loop over events, and packets
 *            with few events are not seen at all.
 *   WATCH-2  A rank that has been in a step for watch_patience_s logs once
 *            per run where most of the samples are, if that is one material and
 *            group in which packets collide very often; while the step runs, as
 *            it may never end.
 *   WATCH-3  Samples are read by nobody else: results do not depend on them.
 */
#ifndef STORM_PHYSICS_IMC_WATCH_H
#define STORM_PHYSICS_IMC_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include <storm/mesh.h>
#include <storm/status.h>

struct storm_imc;

enum { IMC_WATCH_ROUNDS = 4096 };

struct imc_watch {
    const struct storm_imc *imc;
    struct imc_watch_place {
        uint64_t n; /* samples of this step */
        storm_cell_idx cell;
    } * places;     /* (n_materials + 1) * n_groups */
    uint64_t n;     /* samples of this step */
    uint64_t step;  /* its number */
    double begin_s; /* of the step, by the clock */
    bool reported;
};

storm_status imc_watch_open(struct imc_watch *watch,
                            const struct storm_imc *imc);
void imc_watch_close(struct imc_watch *watch);
void imc_watch_begin(struct imc_watch *watch, uint64_t step);

/* A packet in flight. */
void imc_watch_add(struct imc_watch *watch, storm_cell_idx cell, int group);
/* After those of a round: logs, if it is time (WATCH-2). */
void imc_watch_look(struct imc_watch *watch);

#endif /* STORM_PHYSICS_IMC_WATCH_H */
