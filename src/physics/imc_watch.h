/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why a step of implicit Monte Carlo is slow: samples of where packets are.
 *
 *   WATCH-1  The kernel looks at its packets every IMC_WATCH_ROUNDS events of
 *            one batch: nothing of it is in the loop over events, and packets
 *            with few events are not seen at all.
 *   WATCH-2  When a rank has been in a step for watch_patience_s, the place of
 *            most of its samples is logged, if that is one material and group
 *            in which packets collide very often; while the step runs, as it
 *            may never end, with that rank's number, once per run (CONTROL-5).
 *   WATCH-3  Samples are read by nobody else: results do not depend on them.
 */
#ifndef STORM_PHYSICS_IMC_WATCH_H
#define STORM_PHYSICS_IMC_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include <storm/mesh.h>
#include <storm/status.h>

struct storm_imc;
struct storm_step;

enum { IMC_WATCH_ROUNDS = 4096, IMC_WATCH_BYTES = 384 };

struct imc_watch {
    const struct storm_imc *imc;
    struct imc_watch_place {
        uint64_t n; /* samples of this step */
        storm_cell_idx cell;
    } * places;     /* (n_materials + 1) * n_groups */
    uint64_t n;     /* samples of this step */
    double begin_s; /* of the step, by processor time */
    struct storm_step *step;
    bool reported, sending; /* sending: the line may still be on this rank */
    char line[IMC_WATCH_BYTES];
};

storm_status imc_watch_open(struct imc_watch *watch,
                            const struct storm_imc *imc);
void imc_watch_close(struct imc_watch *watch);
void imc_watch_begin(struct imc_watch *watch, struct storm_step *step);

/* A packet in flight. */
void imc_watch_add(struct imc_watch *watch, storm_cell_idx cell, int group);
/* After those of a round: reports, if it is time (WATCH-2). */
void imc_watch_look(struct imc_watch *watch);

#endif /* STORM_PHYSICS_IMC_WATCH_H */
