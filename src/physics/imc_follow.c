/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Implicit Monte Carlo on a mesh that changes: the state of the cells follows
 * them.
 *
 *   FOLLOW-1  A cell keeps its material and the energy of its matter; if its
 *             volume has other bits, the energy per cm3 and the temperature
 *             change with it.
 *   FOLLOW-2  The energy of a cell that is gone goes to the cell where its
 *             packets begin to look for theirs. If there is nothing in that
 *             cell, or it is outside, it gets the material, too; if its
 *             temperature is held see FOLLOW-5. A cell that is new begins with
 *             the material of its centre and no energy, but with the
 *             temperature of its material if that is held.
 *   FOLLOW-3  What the packets of the last step deposited is of no cell any
 *             more; events are, for the next cut.
 *   FOLLOW-4  Where cells are cut, the parts begin with the material, the
 *             temperature and the energies per cm3 of the cell: they share its
 *             energy by volume. Where cells are joined, energies are added up;
 *             the material is that of most of them, but one that can have
 *             energy before one that is held, and STORM_OUTSIDE last. Energy is
 *             conserved to rounding.
 *   FOLLOW-5  Energy of a cell that is gone that goes to one whose temperature
 *             is held leaves the matter as radiation that is absorbed there: it
 *             is created and absorbed, in the accounts, and logged. Nothing is
 *             dropped.
 */
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>

#include "mesh/mesh_change.h"
#include "mesh/mesh_message.h"
#include "physics/imc.h"

static const char follow_label[] = "imc state"; /* being moved */

/* What a cell takes along. */
struct follow_row {
    double state[IMC_STATE_VALUES];
    double volume_cm3; /* 0: no cell */
    uint64_t events;
    int32_t material;
    int32_t is_kept; /* or cut; 0: it is new */
};

static void follow_pack(const struct storm_imc *imc, struct follow_row *rows)
{
    for (storm_cell_idx i = 0; i < imc->n_cells; i++) {
        struct follow_row *row = &rows[i];
        row->state[0] = imc->temperature[i];
        row->state[1] = imc->energy[i];
        row->state[2] = imc->radiation[i];
        row->volume_cm3 = imc->volume[i];
        row->events = imc->track.cells[i].events;
        row->material = imc->material[i];
        row->is_kept = 1;
    }
}

/* FOLLOW-1 */
static void follow_unpack(struct storm_imc *imc, storm_cell_idx i,
                          const struct follow_row *row)
{
    imc->material[i] = row->material;
    imc->track.cells[i].outside = row->material == STORM_OUTSIDE;
    imc->track.cells[i].events = row->events;
    imc->temperature[i] = row->state[0];
    imc->energy[i] = row->state[1];
    imc->radiation[i] = row->state[2];
    if (row->volume_cm3 == imc->volume[i])
        return;
    double ratio = row->volume_cm3 / imc->volume[i];
    imc->radiation[i] *= ratio;
    if (row->material < 0 || imc->heat[row->material].held)
        return;
    imc->energy[i] *= ratio;
    imc->temperature[i] =
        storm_heat_temperature(&imc->heat[row->material], imc->energy[i]);
}

/* FOLLOW-4: the row of a cell that was cut, to that of a part of it. */
static void follow_share(const struct storm_imc *imc, storm_cell_idx i,
                         struct follow_row *row)
{
    double share = imc->volume[i] / row->volume_cm3;
    row->events = (uint64_t)((double)row->events * share);
    row->volume_cm3 = imc->volume[i];
}

/* FOLLOW-2: a cell that is new. */
static void follow_begin(struct storm_imc *imc, storm_cell_idx i)
{
    int m = imc->material[i], n = (int)imc->problem->n_materials;
    if (m >= 0 && m < n && imc->heat[m].held)
        imc->temperature[i] = imc->problem->materials[m].temperature_kev;
}

/* ---- cells that are gone ------------------------------------------------ */

/* The energy of a cell that is gone, as it is sent. Rows are added in order of
 * the tags, so that sums have the same bits on any number of ranks. */
struct follow_rest {
    uint64_t to;
    storm_cell_id tag;
    double energy_erg, radiation_erg;
    int64_t material;
};
enum { FOLLOW_REST_WORDS = sizeof(struct follow_rest) / sizeof(uint64_t) };

/* Energy that went to held cells of this rank. */
struct follow_booked {
    double energy_erg;
    uint64_t n_cells;
};

/* FOLLOW-2: a cell without matter becomes what the first with energy was. */
static void follow_fill(struct storm_imc *imc, const struct follow_rest *rests,
                        size_t n)
{
    storm_cell_idx i = (storm_cell_idx)rests[0].to;
    int m = imc->material[i], nothing = (int)imc->problem->n_materials;
    for (size_t k = 0; k < n && (m < 0 || m == nothing); k++)
        if (rests[k].energy_erg > 0.0)
            m = (int)rests[k].material;
    imc->material[i] = m;
    imc->track.cells[i].outside = m == STORM_OUTSIDE;
}

/* What a material is preferred by when cells are joined. */
static int follow_class(const struct storm_imc *imc, int64_t material)
{
    return material < 0 ? 0 : imc->heat[material].held ? 1 : 2;
}

/* FOLLOW-5 */
static void follow_book(struct storm_imc *imc, const struct follow_rest *rest,
                        struct follow_booked *booked)
{
    if (!(rest->energy_erg > 0.0))
        return; /* held matter has no energy of its own */
    storm_ledger_add(&imc->account[STORM_LEDGER_CREATED], rest->energy_erg);
    storm_ledger_add(&imc->account[STORM_LEDGER_ABSORBED], rest->energy_erg);
    booked->energy_erg += rest->energy_erg;
    booked->n_cells++;
}

static void follow_add(struct storm_imc *imc, const struct follow_rest *rest,
                       struct follow_booked *booked)
{
    storm_cell_idx i = (storm_cell_idx)rest->to;
    int m = imc->material[i];
    if (follow_class(imc, m) < 2) {
        follow_book(imc, rest, booked);
        return;
    }
    imc->energy[i] += rest->energy_erg / imc->volume[i];
    imc->temperature[i] = storm_heat_temperature(&imc->heat[m], imc->energy[i]);
}

/* FOLLOW-4: material and radiation of a cell that n were joined to. */
static void follow_join(struct storm_imc *imc, const struct follow_rest *rests,
                        size_t n)
{
    storm_cell_idx i = (storm_cell_idx)rests[0].to;
    size_t best = 0;
    for (size_t k = 0; k < n; k++) {
        size_t score = n * (size_t)follow_class(imc, rests[k].material);
        for (size_t other = 0; other < n; other++)
            score += rests[other].material == rests[k].material;
        if (score > best) {
            best = score;
            imc->material[i] = (int)rests[k].material;
        }
        imc->radiation[i] += rests[k].radiation_erg / imc->volume[i];
    }
    imc->track.cells[i].outside = imc->material[i] == STORM_OUTSIDE;
    follow_begin(imc, i);
}

static int follow_by_tag(const void *left, const void *right)
{
    const struct follow_rest *a = left, *b = right;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return (a->tag > b->tag) - (a->tag < b->tag);
}

/* FOLLOW-2: rows of this rank's cells that are gone. */
static storm_status follow_address(const struct storm_imc *imc,
                                   const struct storm_change *change,
                                   const struct follow_row *rows,
                                   const storm_cell_id *tags,
                                   struct storm_messages *out)
{
    struct storm_memory *memory = imc->env->memory;
    size_t n = (size_t)change->n_old;
    struct storm_cell_ref *to =
        storm_alloc(memory, follow_label, (n + 1) * sizeof *to);
    size_t *first = storm_alloc(memory, follow_label, (n + 1) * sizeof *first);
    storm_status status =
        to != NULL && first != NULL ? STORM_OK : STORM_ERR_NOMEM;
    for (size_t i = 0; i < n && status >= 0; i++) {
        to[i] = change->to[i];
        if (change->is_gone == NULL || !change->is_gone[i] ||
            storm_change_is_cut_up(change, (storm_cell_idx)i))
            to[i].rank = -1;
    }
    if (status >= 0)
        status =
            storm_messages_rows(imc->env, n, to, FOLLOW_REST_WORDS, out, first);
    for (size_t i = 0; i < n && status >= 0; i++) {
        const struct follow_rest rest = {
            .to = (uint64_t)to[i].idx,
            .tag = tags[i],
            .energy_erg = rows[i].state[1] * rows[i].volume_cm3,
            .radiation_erg = rows[i].state[2] * rows[i].volume_cm3,
            .material = rows[i].material};
        if (to[i].rank >= 0)
            memcpy(&out->words[first[i]], &rest, sizeof rest);
    }
    storm_free(memory, first);
    storm_free(memory, to);
    return status;
}

/* FOLLOW-5: of all ranks. Collective. */
static storm_status follow_log(const struct storm_imc *imc,
                               struct follow_booked booked)
{
    storm_status status = storm_context_reduce(imc->context, &booked.n_cells, 1,
                                               MPI_UINT64_T, MPI_SUM);
    if (status >= 0)
        status = storm_context_reduce(imc->context, &booked.energy_erg, 1,
                                      MPI_DOUBLE, MPI_SUM);
    if (status >= 0 && booked.n_cells > 0 && imc->env->rank == 0)
        storm_log_write(
            &imc->env->log, STORM_LOG_WARN,
            "storm_imc_follow: %llu cells that are gone had %g erg; "
            "the cells in their place have held temperatures: "
            "counted as created and absorbed",
            (unsigned long long)booked.n_cells, booked.energy_erg);
    return status;
}

static storm_status follow_gone(struct storm_imc *imc,
                                const struct storm_change *change,
                                const struct follow_row *rows,
                                const storm_cell_id *tags)
{
    struct storm_messages out = {.n = 0}, in;
    struct follow_booked booked = {.n_cells = 0};
    storm_status status = follow_address(imc, change, rows, tags, &out);
    status = storm_messages_exchange(imc->context, status, &out, &in);
    size_t n = 0;
    for (size_t i = 0; i < in.n && status >= 0; i++)
        n += in.array[i].n_words / FOLLOW_REST_WORDS;
    if (n > 0) {
        struct follow_rest *rests = (struct follow_rest *)(void *)in.words;
        qsort(rests, n, sizeof *rests, follow_by_tag);
        for (size_t i = 0, end; i < n; i = end) {
            for (end = i; end < n && rests[end].to == rests[i].to; end++)
                ;
            if (change->heirs != NULL && change->from[rests[i].to].rank < 0)
                follow_join(imc, &rests[i], end - i);
            else
                follow_fill(imc, &rests[i], end - i);
            for (size_t k = i; k < end; k++)
                follow_add(imc, &rests[k], &booked);
        }
    }
    storm_messages_release(imc->env, &in);
    storm_messages_release(imc->env, &out);
    return status < 0 ? status : follow_log(imc, booked);
}

/* ---- public ------------------------------------------------------------- */

/* The arrays for the mesh as it is now. After an error the state is lost. */
static storm_status follow_rebuild(struct storm_imc *imc,
                                   const struct storm_change *change,
                                   const struct follow_row *out,
                                   struct follow_row **in_out)
{
    imc_cells_close(imc);
    storm_mesh_box(imc->mesh, imc->own.lo_cm, imc->own.hi_cm);
    storm_status status = imc_cells_open(imc);
    if (status < 0)
        return status;
    *in_out = storm_alloc(imc->env->memory, follow_label,
                          ((size_t)imc->n_cells + 1) * sizeof **in_out);
    status = storm_context_agree(imc->context,
                                 *in_out != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status >= 0)
        status = storm_mesh_carry(imc->mesh, change, sizeof *out, out, *in_out);
    if (status >= 0)
        status =
            storm_change_inherit(imc->mesh, change, sizeof *out, out, *in_out);
    for (storm_cell_idx i = 0; status >= 0 && i < imc->n_cells; i++) {
        struct follow_row *row = &(*in_out)[i];
        if (row->is_kept && change->from[i].rank < 0)
            follow_share(imc, i, row);
        if (row->is_kept)
            follow_unpack(imc, i, row);
        else
            follow_begin(imc, i);
    }
    return status;
}

static storm_status follow_check(const struct storm_imc *imc,
                                 const struct storm_change *change)
{
    static const char call[] = "storm_imc_follow";
    const char *reason = imc->track.cells == NULL
                             ? "it has failed before and the state of the "
                               "cells is lost: destroy the object"
                         : change->before != imc->generation
                             ? "the change is not the first since the object "
                               "was built or followed"
                             : NULL;
    storm_status status = storm_change_check(imc->mesh, change, call);
    if (status < 0 || reason == NULL)
        return status;
    storm_log_write(&imc->env->log, STORM_LOG_ERROR, "%s: %s", call, reason);
    return STORM_ERR_STATE;
}

storm_status storm_imc_follow(struct storm_imc *imc,
                              const struct storm_change *change)
{
    struct storm_memory *memory = imc->env->memory;
    size_t n = (size_t)imc->n_cells;
    struct follow_row *out = NULL, *in = NULL;
    storm_cell_id *tags = NULL;
    storm_status status = follow_check(imc, change);
    if (status >= 0) {
        out = storm_alloc(memory, follow_label, (n + 1) * sizeof *out);
        tags = storm_alloc(memory, follow_label, (n + 1) * sizeof *tags);
        if (out == NULL || tags == NULL)
            status = STORM_ERR_NOMEM;
    }
    status = storm_context_agree(imc->context, status);
    if (status >= 0 && change->generation == imc->generation)
        goto out; /* it has changed nothing */
    if (status >= 0) {
        follow_pack(imc, out);
        if (n > 0)
            memcpy(tags, imc->tag, n * sizeof *tags);
        status = follow_rebuild(imc, change, out, &in);
        if (status >= 0)
            status = follow_gone(imc, change, out, tags);
        if (status >= 0)
            status = imc_cells_finish(imc);
        if (status < 0)
            imc_cells_close(imc);
    }
out:
    storm_free(memory, in);
    storm_free(memory, tags);
    storm_free(memory, out);
    return status;
}

void storm_imc_escape(void *self, struct storm_step *step, void *packet,
                      struct storm_outcome *outcome_out)
{
    struct storm_imc *imc = self;
    (void)step;
    storm_ledger_add(&imc->account[STORM_LEDGER_ESCAPED],
                     ((const struct storm_packet *)packet)->weight_erg);
    outcome_out->fate = STORM_FATE_ESCAPED;
}

storm_status storm_imc_weights(const struct storm_imc *imc,
                               struct storm_engine *engine,
                               storm_imc_weight weight, uint64_t *weights_out)
{
    storm_status status = imc_check(imc);
    if (status < 0)
        return status;
    /* A cell has a cost even without events. */
    for (storm_cell_idx i = 0; i < imc->n_cells; i++)
        weights_out[i] =
            weight == STORM_IMC_BY_EVENTS ? 1 + imc->track.cells[i].events : 1;
    if (weight != STORM_IMC_BY_PACKETS)
        return STORM_OK;
    size_t n;
    void *const *packets = storm_engine_packets(engine, &n);
    for (size_t i = 0; i < n; i++) {
        const struct storm_packet *packet = packets[i];
        if (packet->cell_idx >= 0 && packet->cell_idx < imc->n_cells)
            weights_out[packet->cell_idx]++;
    }
    return STORM_OK;
}
