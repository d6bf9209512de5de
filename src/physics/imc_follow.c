/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Implicit Monte Carlo on a mesh that changes: the state of the cells follows
 * them.
 *
 *   FOLLOW-1  A cell keeps its material, the mass and the energy of its matter;
 *             if its volume has other bits, the density, the energy per cm3 and
 *             the temperature change with it.
 *   FOLLOW-2  Mass and energy of a cell that is gone go to the cell where its
 *             packets begin to look for theirs. If there is nothing in that
 *             cell, or it is outside, it gets the material, too; if its
 *             temperature is held see FOLLOW-5. A cell that is new begins with
 *             the material of its centre, the density of its material and no
 *             energy, but with the temperature of its material if that is
 *             held.
 *   FOLLOW-3  What the packets of the last step deposited is of no cell any
 *             more; events are, for the next cut.
 *   FOLLOW-4  Where cells are cut, the parts begin with the material, the
 *             temperature, the density and the energies per cm3 of the cell:
 *             they share its mass and energy by volume. Where cells are joined,
 *             masses and energies are added up;
 *             the material is that of most of them, but one that can have
 *             energy before one that is held, and STORM_OUTSIDE last. Energy is
 *             conserved to rounding.
 *   FOLLOW-5  Energy of a cell that is gone that goes to one whose temperature
 *             is held leaves the matter as radiation that is absorbed there: it
 *             is created and absorbed, in the accounts, and logged. Nothing is
 *             dropped.
 *   FOLLOW-6  Emission and composition go with the cell; where matter is put
 *             together, they are means by mass.
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
    double proper_cm3; /* in the frame of its matter */
    double density;
    uint64_t events;
    int32_t material;
    int32_t is_kept;  /* or cut; 0: it is new */
    double blended[]; /* emission, each component of the composition and of the
                         velocity: where matter is put together, means by
                         mass */
};

static size_t follow_n_blended(const struct storm_imc *imc)
{
    return 1 + imc->problem->n_components + (imc->velocity != NULL ? 3 : 0);
}

static double *follow_blended(const struct storm_imc *imc, storm_cell_idx i,
                              size_t k)
{
    size_t n_parts = imc->problem->n_components;
    if (k > n_parts)
        return imc_velocity(imc, i, (int)(k - 1 - n_parts));
    return k == 0
               ? &imc->emission[i]
               : &imc->composition[(k - 1) * (size_t)imc->n_cells + (size_t)i];
}

static size_t follow_row_bytes(const struct storm_imc *imc)
{
    return sizeof(struct follow_row) + follow_n_blended(imc) * sizeof(double);
}

static struct follow_row *follow_row_at(const struct storm_imc *imc,
                                        const void *rows, storm_cell_idx i)
{
    unsigned char *at = (unsigned char *)(uintptr_t)rows;
    return (struct follow_row *)(void *)(at +
                                         (size_t)i * follow_row_bytes(imc));
}

static void follow_pack(const struct storm_imc *imc, void *rows)
{
    for (storm_cell_idx i = 0; i < imc->n_cells; i++) {
        struct follow_row *row = follow_row_at(imc, rows, i);
        row->state[0] = imc->temperature[i];
        row->state[1] = imc->energy[i];
        row->state[2] = imc->radiation[i];
        row->volume_cm3 = imc->volume[i];
        row->proper_cm3 = imc_proper_cm3(imc, i);
        row->density = imc->density[i];
        row->events = imc->track.cells[i].events;
        row->material = imc->material[i];
        row->is_kept = 1;
        for (size_t k = 0; k < follow_n_blended(imc); k++)
            row->blended[k] = *follow_blended(imc, i, k);
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
    imc->density[i] = row->density;
    for (size_t k = 0; k < follow_n_blended(imc); k++)
        *follow_blended(imc, i, k) = row->blended[k];
    if (row->volume_cm3 == imc->volume[i])
        return;
    double ratio = row->volume_cm3 / imc->volume[i];
    imc->radiation[i] *= ratio;
    if (imc_has_matter(imc, row->material))
        imc->density[i] *= ratio;
    if (!imc_is_warm(imc, row->material))
        return;
    imc->energy[i] *= ratio;
    imc->is_stale[i] = true;
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
static storm_status follow_begin(struct storm_imc *imc, storm_cell_idx i)
{
    int m = imc->material[i];
    imc_cells_fill(imc, i);
    if (!imc_has_matter(imc, m))
        return STORM_OK;
    if (!imc_is_warm(imc, m))
        imc->temperature[i] = imc_start_matter_kev(imc, i);
    return imc_start_check(imc, i);
}

/* ---- cells that are gone ------------------------------------------------ */

/* The energy of a cell that is gone, as it is sent. Rows are added in order of
 * the tags, so that sums have the same bits on any number of ranks. */
struct follow_rest {
    uint64_t to;
    storm_cell_id tag;
    double mass_g, energy_erg, radiation_erg;
    int64_t material;
    double blended[];
};

static size_t follow_rest_words(const struct storm_imc *imc)
{
    return sizeof(struct follow_rest) / sizeof(uint64_t) +
           follow_n_blended(imc);
}

/* The k-th after one. */
static const struct follow_rest *follow_rest_at(const struct storm_imc *imc,
                                                const struct follow_rest *rests,
                                                size_t k)
{
    const uint64_t *words = (const uint64_t *)(const void *)rests;
    return (const void *)(words + k * follow_rest_words(imc));
}

/* Energy that went to held cells of this rank. */
struct follow_booked {
    double energy_erg;
    uint64_t n_cells;
};

/* FOLLOW-2, FOLLOW-4: density and means by mass of the cell that n go to, which
 * has had some mass. Means of equal values have their bits. */
static void follow_weigh(struct storm_imc *imc, const struct follow_rest *rests,
                         size_t n, double mass_g)
{
    storm_cell_idx i = (storm_cell_idx)rests[0].to;
    double erg = imc_cell_erg(imc, i); /* gamma may change */
    if (!imc_has_matter(imc, imc->material[i]))
        return;
    for (size_t k = 0; k < n; k++) {
        const struct follow_rest *rest = follow_rest_at(imc, rests, k);
        if (!(rest->mass_g > 0.0))
            continue;
        bool is_first = mass_g == 0.0;
        mass_g += rest->mass_g;
        for (size_t b = 0; b < follow_n_blended(imc); b++) {
            double *mean = follow_blended(imc, i, b), value = rest->blended[b];
            *mean = is_first
                        ? value
                        : *mean + (value - *mean) * (rest->mass_g / mass_g);
        }
    }
    if (mass_g > 0.0)
        imc->density[i] = mass_g / imc_proper_cm3(imc, i);
    if (imc->velocity != NULL)
        imc->energy[i] = erg / imc_proper_cm3(imc, i);
}

/* FOLLOW-2: what a cell without matter becomes: that of the first with energy,
 * or else of the first with mass. */
static int follow_matter(const struct storm_imc *imc,
                         const struct follow_rest *rests, size_t n)
{
    const struct follow_rest *heavy = NULL;
    for (size_t k = 0; k < n; k++) {
        const struct follow_rest *rest = follow_rest_at(imc, rests, k);
        if (rest->energy_erg > 0.0)
            return (int)rest->material;
        if (rest->mass_g > 0.0 && heavy == NULL)
            heavy = rest;
    }
    return heavy != NULL ? (int)heavy->material
                         : imc->material[(storm_cell_idx)rests[0].to];
}

static void follow_fill(struct storm_imc *imc, const struct follow_rest *rests,
                        size_t n)
{
    storm_cell_idx i = (storm_cell_idx)rests[0].to;
    bool is_empty = !imc_has_matter(imc, imc->material[i]);
    int m = is_empty ? follow_matter(imc, rests, n) : imc->material[i];
    imc->material[i] = m;
    imc->track.cells[i].outside = m == STORM_OUTSIDE;
    if (is_empty && imc_has_matter(imc, m) && !imc_is_warm(imc, m))
        imc->temperature[i] = imc_start_matter_kev(imc, i);
    follow_weigh(imc, rests, n,
                 is_empty ? 0.0 : imc->density[i] * imc_proper_cm3(imc, i));
}

/* What a material is preferred by when cells are joined. */
static int follow_class(const struct storm_imc *imc, int64_t material)
{
    return material < 0 ? 0 : imc_is_warm(imc, (int)material) ? 2 : 1;
}

/* FOLLOW-5 */
static void follow_book(struct storm_imc *imc, const struct follow_rest *rest,
                        struct follow_booked *booked)
{
    if (!(rest->energy_erg > 0.0))
        return; /* held matter has no energy of its own */
    imc_flow_create(imc, STORM_ORIGIN_EMISSION, rest->energy_erg, 0);
    imc_flow_absorb_erg(imc, (storm_cell_idx)rest->to, rest->energy_erg);
    storm_ledger_add(&imc->more[IMC_GAINED], -rest->energy_erg);
    booked->energy_erg += rest->energy_erg;
    booked->n_cells++;
}

static void follow_add(struct storm_imc *imc, const struct follow_rest *rest,
                       struct follow_booked *booked)
{
    storm_cell_idx i = (storm_cell_idx)rest->to;
    if (!imc_is_warm(imc, imc->material[i])) {
        follow_book(imc, rest, booked);
        return;
    }
    imc->energy[i] += rest->energy_erg / imc_proper_cm3(imc, i);
    imc->is_stale[i] = true;
}

/* FOLLOW-4: material and radiation of a cell that n were joined to. */
static void follow_join(struct storm_imc *imc, const struct follow_rest *rests,
                        size_t n)
{
    storm_cell_idx i = (storm_cell_idx)rests[0].to;
    size_t best = 0;
    for (size_t k = 0; k < n; k++) {
        const struct follow_rest *rest = follow_rest_at(imc, rests, k);
        size_t score = n * (size_t)follow_class(imc, rest->material);
        for (size_t other = 0; other < n; other++)
            score +=
                follow_rest_at(imc, rests, other)->material == rest->material;
        if (score > best) {
            best = score;
            imc->material[i] = (int)rest->material;
        }
        imc->radiation[i] += rest->radiation_erg / imc->volume[i];
    }
    imc->track.cells[i].outside = imc->material[i] == STORM_OUTSIDE;
    follow_begin(imc, i);
    follow_weigh(imc, rests, n, 0.0);
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
                                   const void *rows, const storm_cell_id *tags,
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
        status = storm_messages_rows(imc->env, n, to, follow_rest_words(imc),
                                     out, first);
    for (size_t i = 0; i < n && status >= 0; i++) {
        if (to[i].rank < 0)
            continue;
        const struct follow_row *row =
            follow_row_at(imc, rows, (storm_cell_idx)i);
        struct follow_rest *rest = (void *)&out->words[first[i]];
        bool has_matter = imc_has_matter(imc, row->material);
        rest->to = (uint64_t)to[i].idx;
        rest->tag = tags[i];
        rest->mass_g = has_matter ? row->density * row->proper_cm3 : 0.0;
        rest->energy_erg = row->state[1] * row->proper_cm3;
        rest->radiation_erg = row->state[2] * row->volume_cm3;
        rest->material = row->material;
        memcpy(rest->blended, row->blended,
               follow_n_blended(imc) * sizeof(double));
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
                                const void *rows, const storm_cell_id *tags)
{
    struct storm_messages out = {.n = 0}, in;
    struct follow_booked booked = {.n_cells = 0};
    storm_status status = follow_address(imc, change, rows, tags, &out);
    status = storm_messages_exchange(imc->context, status, &out, &in);
    size_t n = 0;
    for (size_t i = 0; i < in.n && status >= 0; i++)
        n += in.array[i].n_words / follow_rest_words(imc);
    const struct follow_rest *rests = (const void *)in.words;
    if (n > 0)
        qsort(in.words, n, follow_rest_words(imc) * sizeof(uint64_t),
              follow_by_tag);
    for (size_t i = 0, end; i < n; i = end) {
        const struct follow_rest *begin = follow_rest_at(imc, rests, i);
        for (end = i + 1;
             end < n && follow_rest_at(imc, rests, end)->to == begin->to; end++)
            ;
        if (change->heirs != NULL && change->from[begin->to].rank < 0)
            follow_join(imc, begin, end - i);
        else
            follow_fill(imc, begin, end - i);
        for (size_t k = i; k < end; k++)
            follow_add(imc, follow_rest_at(imc, rests, k), &booked);
    }
    storm_messages_release(imc->env, &in);
    storm_messages_release(imc->env, &out);
    return status < 0 ? status : follow_log(imc, booked);
}

/* ---- public ------------------------------------------------------------- */

/* The arrays for the mesh as it is now. After an error the state is lost. */
static storm_status follow_rebuild(struct storm_imc *imc,
                                   const struct storm_change *change,
                                   const void *out, void **in_out)
{
    size_t bytes = follow_row_bytes(imc);
    imc_cells_close(imc);
    storm_mesh_box(imc->mesh, imc->own.lo_cm, imc->own.hi_cm);
    storm_status status = imc_cells_open(imc);
    if (status < 0)
        return status;
    *in_out = storm_alloc(imc->env->memory, follow_label,
                          ((size_t)imc->n_cells + 1) * bytes);
    status = storm_context_agree(imc->context,
                                 *in_out != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status >= 0)
        status = storm_mesh_carry(imc->mesh, change, bytes, out, *in_out);
    if (status >= 0)
        status = storm_change_inherit(imc->mesh, change, bytes, out, *in_out);
    for (storm_cell_idx i = 0; status >= 0 && i < imc->n_cells; i++) {
        struct follow_row *row = follow_row_at(imc, *in_out, i);
        if (row->is_kept && change->from[i].rank < 0)
            follow_share(imc, i, row);
        if (row->is_kept)
            follow_unpack(imc, i, row);
        else
            status = follow_begin(imc, i);
    }
    return storm_context_agree(imc->context, status);
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
    void *out = NULL, *in = NULL;
    storm_cell_id *tags = NULL;
    storm_status status = follow_check(imc, change);
    if (status >= 0) {
        out =
            storm_alloc(memory, follow_label, (n + 1) * follow_row_bytes(imc));
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
        if (status >= 0)
            status = imc_fault_agree(imc, imc_matter_refresh(imc));
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
    imc_escape_between(imc, packet);
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
