/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes of the mesh between two steps, what follows them, and the load of the
 * ranks.
 *
 *   LOAD-1  Every balance.every steps the load (events of the last step and one
 *           for each cell, or cells) is looked at. There is a new partition if
 *           max over mean is above balance.threshold, and the new one lowers it
 *           by mesh_min_gain at least: one that wins little costs more than it
 *           saves, and cells would go to and fro.
 *   LOAD-2  With balance.host: cells the mesh has another partition between
 *           steps, in which it moves and is written. Neither that one nor this
 *           one changes a result.
 */
#include "run/run.h"

#include <inttypes.h>
#include <math.h>

#include <storm/change.h>
#include <storm/context.h>
#include <storm/imc.h>
#include <storm/remap.h>

#include "base/env.h"
#include "base/json.h"
#include "base/page.h"
#include "deck/deck.h"

static const char mesh_label[] = "run";

/* Of the load that a new partition must save; docs/deck.md has it, too. */
static const double mesh_min_gain = 0.05;

/* ---- what follows a change ----------------------------------------------- */

static void mesh_count(struct run *run, const struct storm_remap_stats *stats)
{
    struct storm_remap_stats *sum = &run->remap;
    sum->fixed += stats->fixed;
    sum->walked += stats->walked;
    sum->moved += stats->moved;
    sum->outside += stats->outside;
    sum->longest =
        stats->longest > sum->longest ? stats->longest : sum->longest;
    sum->seconds += stats->seconds;
    run->n_changes++;
}

storm_status run_follow(struct run *run, uint64_t generation,
                        struct storm_change *change)
{
    const struct storm_boundary boundary = {
        .size = sizeof boundary, .self = run->imc, .apply = storm_imc_escape};
    const struct storm_remap_params params = {.size = sizeof params,
                                              .boundary = &boundary};
    struct storm_remap_stats stats = STORM_REMAP_STATS_INIT;
    storm_status status = STORM_OK;
    if (storm_mesh_generation(run->mesh) != generation) {
        status = storm_imc_follow(run->imc, change);
        if (status == STORM_OK)
            status =
                storm_remap(run->engine, run->mesh, change, &params, &stats);
        if (status == STORM_OK)
            mesh_count(run, &stats);
    }
    storm_change_destroy(change);
    return status;
}

static storm_status mesh_use(struct run *run, struct storm_cut *cut)
{
    uint64_t generation = storm_mesh_generation(run->mesh);
    struct storm_change *change = NULL;
    storm_status status = storm_mesh_use(run->mesh, cut, &change);
    return status < 0 ? status : run_follow(run, generation, change);
}

/* ---- the partition of the Monte Carlo work ------------------------------- */

/* Weights of the cells as the deck asks for. */
static storm_status mesh_weigh(struct run *run, struct storm_cut *cut)
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
        storm_cut_set(cut, weight);
    storm_free(memory, weight);
    return storm_context_agree(run->context, status);
}

/* LOAD-1: the same answer on all ranks. Collective. */
static storm_status mesh_is_worth(struct run *run, struct storm_cut *cut,
                                  int *worth_out)
{
    struct run_load *load = &run->load;
    double threshold = run->deck->values.balance.threshold;
    double now = 1.0, then = 1.0;
    storm_status status = storm_cut_imbalance(cut, &now, &then);
    if (status < 0)
        return status;
    load->n_looks++;
    *worth_out = now > threshold && then <= (1.0 - mesh_min_gain) * now;
    status = storm_context_reduce(run->context, worth_out, 1, MPI_INT, MPI_MIN);
    if (status < 0 || !*worth_out)
        return status;
    load->n_cuts++;
    load->cut_step = run->step;
    load->before = now;
    load->predicted = then;
    load->after = 0.0;
    return STORM_OK;
}

static storm_status mesh_rebalance(struct run *run)
{
    struct storm_cut *trial = NULL;
    int worth = 0;
    storm_status status = storm_cut_create(run->mesh, &trial);
    if (status < 0)
        return status;
    status = mesh_weigh(run, trial);
    if (status == STORM_OK)
        status = mesh_is_worth(run, trial, &worth);
    if (status == STORM_OK && worth) {
        struct storm_cut *old = run->cut;
        run->cut = trial;
        trial = old;
        status = mesh_use(run, run->cut);
    }
    storm_cut_destroy(trial);
    return status;
}

/* The partition of a mesh from a file stays (run_boundaries.c reports it). */
static bool mesh_is_due(const struct run *run)
{
    const struct deck_balance *b = &run->deck->values.balance;
    return b->every > 0 && run->deck->values.mesh.kind != STORM_MESH_FILE &&
           b->weight != DECK_WEIGHT_NONE &&
           run->step % (uint64_t)b->every == 0 &&
           storm_context_size(run->context) > 1;
}

/* ---- between two steps --------------------------------------------------- */

/* LOAD-2: to the partition of the host. Cuts are made when they are used
 * first. */
static storm_status mesh_to_host(struct run *run)
{
    storm_status status = STORM_OK;
    if (run->host == NULL)
        status = storm_cut_create(run->mesh, &run->host);
    if (status == STORM_OK && run->cut == NULL)
        status = storm_cut_create(run->mesh, &run->cut);
    return status < 0 ? status : mesh_use(run, run->host);
}

storm_status run_after_step(struct run *run, const struct run_target *target)
{
    bool has_host = run->deck->values.balance.host == DECK_HOST_CELLS &&
                    run->deck->values.mesh.kind != STORM_MESH_FILE;
    storm_status status = STORM_OK;
    if (!target->last && mesh_is_due(run))
        status = mesh_rebalance(run);
    if (status == STORM_OK && !target->last && has_host)
        status = mesh_to_host(run);
    return status < 0 ? status : run_move(run, target->dt_s);
}

storm_status run_before_step(struct run *run)
{
    return run->host != NULL ? mesh_use(run, run->cut) : STORM_OK;
}

/* ---- reports ------------------------------------------------------------- */

void run_load_add(struct run *run, double max, double sum)
{
    struct run_load *load = &run->load;
    double ratio =
        sum > 0.0 ? max * storm_context_size(run->context) / sum : 1.0;
    if (load->n_steps++ == 0)
        load->first = ratio;
    if (load->n_cuts > 0 && load->after == 0.0)
        load->after = ratio;
    load->last = ratio;
    load->max = fmax(load->max, ratio);
    load->sum += ratio;
}

void run_mesh_json(const struct run *run, struct storm_json *json)
{
    const struct run_load *load = &run->load;
    const struct storm_remap_stats *remap = &run->remap;
    if (load->n_steps > 0) {
        storm_json_open(json, "balance", '{');
        storm_json_real(json, "first", load->first);
        storm_json_real(json, "last", load->last);
        storm_json_real(json, "max", load->max);
        storm_json_real(json, "mean", load->sum / (double)load->n_steps);
        storm_json_uint(json, "looks", load->n_looks);
        storm_json_uint(json, "cuts", load->n_cuts);
        if (load->n_cuts > 0) {
            storm_json_open(json, "last_cut", '{');
            storm_json_uint(json, "step", load->cut_step);
            storm_json_real(json, "before", load->before);
            storm_json_real(json, "predicted", load->predicted);
            storm_json_real(json, "measured", load->after);
            storm_json_close(json, '}');
        }
        storm_json_close(json, '}');
    }
    if (run->n_changes == 0)
        return;
    storm_json_open(json, "remap", '{');
    storm_json_uint(json, "fixed", remap->fixed);
    storm_json_uint(json, "walked", remap->walked);
    storm_json_uint(json, "moved", remap->moved);
    storm_json_uint(json, "outside", remap->outside);
    storm_json_uint(json, "longest", remap->longest);
    storm_json_uint(json, "changes", run->n_changes);
    storm_json_real(json, "seconds", remap->seconds);
    storm_json_close(json, '}');
}

void run_mesh_table(const struct run *run, struct storm_page *page)
{
    const struct run_load *load = &run->load;
    const struct storm_remap_stats *remap = &run->remap;
    char number[3][STORM_GROUPED_BYTES];
    if (load->n_steps > 0 && storm_context_size(run->context) > 1)
        storm_page_add(page,
                       "  load        max/mean of events by rank: %.3g in the "
                       "first step, %.3g in the last, mean %.3g\n",
                       load->first, load->last,
                       load->sum / (double)load->n_steps);
    if (load->n_cuts > 0)
        storm_page_add(page,
                       "              %" PRIu64
                       " new partition%s, the last after step %" PRIu64
                       ": from %.3g to %.3g predicted",
                       load->n_cuts, load->n_cuts == 1 ? "" : "s",
                       load->cut_step, load->before, load->predicted);
    if (load->n_cuts > 0 && load->after > 0.0)
        storm_page_add(page, ", %.3g measured", load->after);
    if (load->n_cuts > 0)
        storm_page_add(page, "\n");
    if (run->n_changes == 0)
        return;
    storm_page_add(page,
                   "  remap       %s packets home at once, %s walked, %s "
                   "changed ranks; longest walk %" PRIu64 "\n",
                   storm_page_grouped(remap->fixed, number[0]),
                   storm_page_grouped(remap->walked, number[1]),
                   storm_page_grouped(remap->moved, number[2]), remap->longest);
    if (remap->outside > 0)
        storm_page_add(page,
                       "              %s packets left outside of the mesh: "
                       "they have escaped\n",
                       storm_page_grouped(remap->outside, number[0]));
}
