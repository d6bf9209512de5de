/* SPDX-License-Identifier: BSD-3-Clause */
/* Tallies of the deck, declared; and their state in checkpoints. */
#include <string.h>

#include <storm/context.h>
#include <storm/tally.h>

#include "base/env.h"
#include "io/io_checkpoint.h"
#include "run/run.h"

static const char tally_label[] = "tallies";

static unsigned tally_by(const struct deck_tally *from)
{
    static const struct {
        unsigned deck;
        storm_tally_by by;
    } words[] = {{DECK_TALLY_TIME, STORM_TALLY_TIME},
                 {DECK_TALLY_GROUP, STORM_TALLY_GROUP},
                 {DECK_TALLY_DIRECTION, STORM_TALLY_MU},
                 {DECK_TALLY_WALL, STORM_TALLY_WALL},
                 {DECK_TALLY_SIDE, STORM_TALLY_SIDE}};
    unsigned by = 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if ((from->by & words[i].deck) != 0)
            by |= 1u << words[i].by;
    if ((from->by & DECK_TALLY_DIRECTION) != 0 && from->azimuth_bins > 0)
        by |= 1u << STORM_TALLY_AZIMUTH;
    return by;
}

static int tally_material(const struct run *run, const char *name)
{
    size_t i = 0;
    while (i < run->problem.n_materials &&
           strcmp(run->problem.materials[i].name, name) != 0)
        i++;
    return (int)i;
}

/* Edges of equal bins, if the deck has none. */
static storm_status tally_edges(const struct run *run,
                                const struct deck_tally *from,
                                double **edges_out)
{
    struct storm_memory *memory = storm_context_env(run->context)->memory;
    size_t n = (size_t)from->time_bins;
    double *edges = NULL;
    *edges_out = NULL;
    if ((from->by & DECK_TALLY_TIME) == 0 || from->time_edges.n > 0)
        return STORM_OK;
    edges = storm_alloc(memory, tally_label, (n + 1) * sizeof *edges);
    for (size_t i = 0; i <= n && edges != NULL; i++)
        edges[i] = i == n ? from->to
                          : from->from +
                                (from->to - from->from) * (double)i / (double)n;
    *edges_out = edges;
    return edges != NULL ? STORM_OK : STORM_ERR_NOMEM;
}

static storm_status tally_declare(struct run *run,
                                  const struct deck_tally *from)
{
    struct storm_memory *memory = storm_context_env(run->context)->memory;
    double *edges;
    storm_status status =
        storm_context_agree(run->context, tally_edges(run, from, &edges));
    struct storm_tally tally = STORM_TALLY_INIT;
    tally.name = from->name;
    tally.where = (storm_tally_where)from->where;
    tally.by = tally_by(from);
    tally.time_edges_s = edges != NULL ? edges : from->time_edges.item;
    tally.n_times = edges != NULL            ? (size_t)from->time_bins
                    : from->time_edges.n > 0 ? from->time_edges.n - 1
                                             : 0;
    tally.observer = from->clock != 0;
    tally.mu_edges = from->mu_edges.n > 0 ? from->mu_edges.item : NULL;
    tally.n_mu =
        from->mu_edges.n > 0 ? from->mu_edges.n - 1 : (size_t)from->mu_bins;
    tally.n_azimuth = (size_t)from->azimuth_bins;
    tally.shape = from->shape;
    tally.one_material = strcmp(from->material, "all") != 0;
    tally.material =
        tally.one_material ? tally_material(run, from->material) : 0;
    for (int d = 0; d < 3; d++) {
        tally.origin_cm[d] = from->origin[d];
        tally.axis[d] = from->towards[d];
    }
    size_t number;
    if (status == STORM_OK)
        status = storm_imc_tally_add(run->imc, &tally, &number);
    storm_free(memory, edges);
    return status;
}

unsigned run_moments(const struct run *run)
{
    const struct deck_output *output = &run->deck->values.output;
    return (output->groups ? STORM_IMC_GROUPS : 0u) | output->moments << 1;
}

storm_status run_tallies_declare(struct run *run)
{
    const struct deck_output *output = &run->deck->values.output;
    storm_status status = STORM_OK;
    if (run_moments(run) != 0)
        status = storm_imc_request(run->imc, run_moments(run));
    for (size_t i = 0; i < output->tallies.n && status == STORM_OK; i++)
        status = tally_declare(run, &output->tallies.item[i]);
    return status;
}

storm_status run_tallies_load(struct run *run, const struct io_checkpoint *c)
{
    if (storm_imc_n_tallies(run->imc) == 0)
        return STORM_OK;
    return storm_imc_tally_load(run->imc, c->tallies, c->n_tallies);
}
