/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An engine whose packets do not move, so that a step is only population
 * control.
 */
#ifndef TESTS_PHYSICS_COMB_BOX_H
#define TESTS_PHYSICS_COMB_BOX_H

#include <string.h>

#include <storm/context.h>
#include <storm/engine.h>
#include <storm/streaming.h>

#include "physics/ledger.h"
#include "support/check.h"
#include "support/dice.h"

struct comb_box {
    struct storm_context *context;
    struct storm_comb *comb;
    struct storm_engine *engine;
    struct storm_ledger remainder;
};

static inline void comb_box_stay(void *self, struct storm_step *step,
                                 void *const *packets, size_t n,
                                 struct storm_outcome *outcomes_out)
{
    (void)self;
    (void)step;
    (void)packets;
    for (size_t i = 0; i < n; i++)
        outcomes_out[i] = (struct storm_outcome){.fate = STORM_FATE_CENSUS};
}

static inline void comb_box_take(void *self, storm_cell_idx cell,
                                 double weight_erg)
{
    struct comb_box *box = self;
    (void)cell;
    storm_ledger_add(&box->remainder, weight_erg);
}

static inline void comb_box_open(struct comb_box *box, uint64_t n_min,
                                 uint64_t n_max)
{
    memset(box, 0, sizeof *box);
    struct storm_comb_params params = {.size = sizeof params,
                                       .seed = 5,
                                       .n_min = n_min,
                                       .n_max = n_max,
                                       .remainder = comb_box_take,
                                       .remainder_self = box};
    CHECK_OK(storm_context_create(MPI_COMM_SELF, NULL, &box->context));
    CHECK_OK(storm_comb_create(box->context, &params, &box->comb));
    struct storm_engine_params engine = {
        .size = sizeof engine,
        .record_bytes = sizeof(struct storm_packet),
        .physics = &(struct storm_physics){.size = sizeof(struct storm_physics),
                                           .step_batch = comb_box_stay},
    };
    CHECK_OK(storm_engine_create(box->context, &engine, &box->engine));
    CHECK_OK(storm_comb_attach(box->comb, box->engine));
}

static inline void comb_box_close(struct comb_box *box)
{
    storm_engine_destroy(box->engine);
    storm_comb_destroy(box->comb);
    storm_context_destroy(box->context);
}

/* The index-th packet of a cell; group identifies the original of copies. */
static inline struct storm_packet comb_box_packet(storm_cell_idx cell,
                                                  uint64_t index, double weight)
{
    struct storm_packet packet = {.cell = (storm_cell_id)cell + 1000,
                                  .cell_idx = cell,
                                  .group = (int32_t)index,
                                  .weight_erg = weight};
    packet.id = storm_packet_id_make(STORM_ORIGIN_USER, 0, packet.cell, index);
    return packet;
}

#endif /* TESTS_PHYSICS_COMB_BOX_H */
