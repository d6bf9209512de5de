/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of the mesh between steps, and what follows them. */
#include "run/run.h"

#include <storm/change.h>
#include <storm/context.h>
#include <storm/imc.h>
#include <storm/remap.h>

#include "base/env.h"
#include "deck/deck.h"

static const char mesh_label[] = "run";

/* The state of the cells and the packets follow a change; takes it over. */
static storm_status mesh_follow(struct run *run, struct storm_change *change)
{
    storm_status status = storm_imc_follow(run->imc, change);
    if (status == STORM_OK)
        status = storm_remap(run->engine, run->mesh, change, NULL, NULL);
    storm_change_destroy(change);
    return status;
}

/* Weights of the cells as the deck asks for. */
static storm_status mesh_weigh(struct run *run)
{
    const struct deck_values *v = &run->deck->values;
    struct storm_memory *memory = storm_context_env(run->context)->memory;
    size_t n = (size_t)storm_mesh_n_cells(run->mesh) + 1;
    uint64_t *weight = storm_alloc(memory, mesh_label, n * sizeof *weight);
    storm_status status = STORM_ERR_NOMEM;
    if (weight != NULL)
        status = storm_imc_weights(run->imc, run->engine,
                                   v->balance.weight == DECK_WEIGHT_CELLS
                                       ? STORM_IMC_BY_CELLS
                                       : STORM_IMC_BY_EVENTS,
                                   weight);
    if (status == STORM_OK)
        storm_cut_set(run->cut, weight);
    storm_free(memory, weight);
    return storm_context_agree(run->context, status);
}

storm_status run_rebalance(struct run *run)
{
    const struct deck_values *v = &run->deck->values;
    struct storm_change *change = NULL;
    storm_status status = STORM_OK;
    if (v->balance.every == 0 || v->balance.weight == DECK_WEIGHT_NONE ||
        run->step % (uint64_t)v->balance.every != 0 ||
        storm_context_size(run->context) == 1)
        return STORM_OK;
    if (run->cut == NULL)
        status = storm_cut_create(run->mesh, &run->cut);
    if (status == STORM_OK)
        status = mesh_weigh(run);
    if (status == STORM_OK)
        status = storm_mesh_use(run->mesh, run->cut, &change);
    return status < 0 ? status : mesh_follow(run, change);
}
