/* SPDX-License-Identifier: BSD-3-Clause */
/* Tallies of implicit Monte Carlo: declared, filled, read, saved. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <storm/context.h>
#include <storm/tally.h>

#include "base/sized.h"
#include "physics/imc.h"

static const char imc_tally_label[] = "tallies";

/* MPI counts in int; and so much is copied at a time. */
enum { IMC_TALLY_CHUNK = 1 << 20 };

/* ---- declared ----------------------------------------------------------- */

static storm_status tally_check(const struct storm_imc *imc,
                                const struct storm_tally *tally)
{
    char text[256], name[64];
    if (imc->is_counting) {
        storm_log_write(&imc->env->log, STORM_LOG_ERROR,
                        "storm_imc_tally_add: declare tallies before the first "
                        "step, so that their sums are complete");
        return STORM_ERR_STATE;
    }
    if (!tally_fault(&imc->tallies, tally, text, sizeof text)) {
        if (tally->where != STORM_TALLY_SURFACE || !tally->one_material ||
            (tally->material >= 0 &&
             (size_t)tally->material < imc->problem->n_materials))
            return STORM_OK;
        snprintf(text, sizeof text, "there is no material %d", tally->material);
    }
    snprintf(name, sizeof name, "%s", tally->name != NULL ? tally->name : "");
    if (imc->env->rank == 0)
        storm_log_write(&imc->env->log, STORM_LOG_ERROR, "tally '%s': %s", name,
                        text);
    return STORM_ERR_ARG;
}

/* Is it declared on all ranks, and the same? Collective. */
static storm_status tally_agree(const struct storm_imc *imc,
                                storm_status status)
{
    uint64_t hash = tally_hash(&imc->tallies), max[2] = {hash, ~hash};
    status = storm_context_agree(imc->context, status);
    if (status == STORM_OK)
        status =
            storm_context_reduce(imc->context, max, 2, MPI_UINT64_T, MPI_MAX);
    if (status < 0 || max[0] == ~max[1])
        return status;
    storm_log_shared(&imc->env->log, 0,
                     "storm_imc_tally_add: ranks have declared different "
                     "tallies: declare the same ones in the same order on all "
                     "of them");
    return STORM_ERR_ARG;
}

storm_status storm_imc_tally_add(struct storm_imc *imc,
                                 const struct storm_tally *tally,
                                 size_t *number_out)
{
    struct storm_tally own;
    const struct tally_world world = {
        .n_groups = imc->track.n_groups,
        .n_walls = imc->n_walls,
        .group_edge_kev = imc->track.n_groups > 1 ? imc->group_edge : NULL,
    };
    storm_status status = storm_sized_read(imc->env, "storm_imc_tally_add",
                                           tally, &own, sizeof own);
    if (status == STORM_OK)
        status = tally_check(imc, &own);
    if (status == STORM_OK)
        status = tally_append(&imc->tallies, &own, &world);
    bool is_new = status == STORM_OK;
    status = tally_agree(imc, status);
    if (status < 0 && is_new)
        tally_pop(&imc->tallies);
    if (status < 0)
        return status;
    imc->track.tallies = &imc->tallies;
    if (own.where == STORM_TALLY_SURFACE)
        imc_surface_add(imc);
    *number_out = imc->tallies.n - 1;
    return STORM_OK;
}

size_t storm_imc_n_tallies(const struct storm_imc *imc)
{
    return imc->tallies.n;
}

const char *storm_imc_tally_name(const struct storm_imc *imc, size_t number)
{
    return number < imc->tallies.n ? imc->tallies.tallies[number].name : NULL;
}

size_t storm_imc_tally_n_bins(const struct storm_imc *imc, size_t number)
{
    return number < imc->tallies.n ? imc->tallies.tallies[number].n_bins : 0;
}

storm_status storm_imc_tally_axis(const struct storm_imc *imc, size_t number,
                                  size_t i_axis,
                                  struct storm_tally_axis *axis_out)
{
    static const char *const names[] = {
        [STORM_TALLY_TIME] = "time", [STORM_TALLY_GROUP] = "group",
        [STORM_TALLY_MU] = "mu",     [STORM_TALLY_AZIMUTH] = "azimuth",
        [STORM_TALLY_WALL] = "wall", [STORM_TALLY_SIDE] = "side"};
    static const char *const units[] = {
        [STORM_TALLY_TIME] = "s", [STORM_TALLY_GROUP] = "keV",
        [STORM_TALLY_MU] = "",    [STORM_TALLY_AZIMUTH] = "turns",
        [STORM_TALLY_WALL] = "",  [STORM_TALLY_SIDE] = ""};
    if (number >= imc->tallies.n)
        return STORM_ERR_ARG;
    const struct tally *tally = &imc->tallies.tallies[number];
    if (i_axis >= tally->n_axes)
        return STORM_DONE;
    const struct tally_axis *from = &tally->axes[i_axis];
    const struct storm_tally_axis axis = {
        .size = sizeof axis,
        .by = from->by,
        .name = names[from->by],
        .unit = units[from->by],
        .n_bins = from->n_bins,
        .n_edges = from->n_edges,
        .edges = from->turns != NULL ? from->turns : from->edges,
        .has_ends = from->has_ends,
    };
    return storm_sized_write(&axis, sizeof axis, axis_out);
}

/* ---- filled ------------------------------------------------------------- */

static void tally_escape(const struct imc_track *track,
                         const struct storm_packet *packet, int wall,
                         struct imc_flow *flow)
{
    struct tally_set *set = track->tallies;
    const struct tally_event event = {
        .time_s = track->end_s - packet->time_left_s,
        .position_cm = packet->position_cm,
        .direction = packet->direction,
        .weight_erg = packet->weight_erg,
        .group = packet->group,
        .wall = wall,
    };
    const struct storm_ledger_parts parts =
        storm_ledger_parts(storm_exact_term(event.weight_erg, set->unit),
                           set->unit);
    storm_ledger_book(track->escaped, &parts, set->unit);
    storm_ledger_book(&flow->energy, &parts, set->unit);
    for (size_t i = 0; i < set->n; i++)
        if (set->tallies[i].own.where == STORM_TALLY_ESCAPE)
            tally_add(set, &set->tallies[i], &event, &parts);
}

void imc_escape(const struct imc_track *track,
                const struct storm_packet *packet, int wall)
{
    struct imc_flow *flow = wall >= 0 ? &track->leaving[wall] : track->outside;
    flow->packets++;
    for (int d = 0; d < 3 && track->motion != NULL; d++)
        storm_ledger_add(&track->pushes->escaped[d],
                         packet->weight_erg * packet->direction[d]);
    if (track->tallies != NULL) {
        tally_escape(track, packet, wall, flow);
        return;
    }
    storm_ledger_add(track->escaped, packet->weight_erg);
    storm_ledger_add(&flow->energy, packet->weight_erg);
}

void imc_escape_between(struct storm_imc *imc,
                        const struct storm_packet *packet)
{
    struct tally_set *set = &imc->tallies;
    struct storm_exact_unit unit = set->unit;
    /* Its own unit: nothing is known of weights between steps. */
    if (set->n > 0 &&
        tally_begin(set, storm_exact_unit(packet->weight_erg)) < 0) {
        set->is_lost = true; /* the next step returns the error */
        return;
    }
    imc->is_counting = true;
    imc_escape(&imc->track, packet, -1);
    for (int d = 0; d < 3 && imc->velocity != NULL; d++)
        storm_ledger_add(&imc->rested[d],
                         -(packet->weight_erg * packet->direction[d]));
    set->unit = unit;
}

/* ---- read --------------------------------------------------------------- */

/* TALLY-3: the same window on all ranks, limbs canonical. Collective. */
static storm_status tally_align(struct storm_imc *imc)
{
    struct tally_set *set = &imc->tallies;
    enum { NONE = -STORM_LEDGER_LIMBS };
    int window[2] = {NONE, NONE}; /* -first, end */
    if (set->n_limbs > 0) {
        window[0] = -set->first;
        window[1] = set->first + set->n_limbs;
    }
    storm_status status =
        storm_context_reduce(imc->context, window, 2, MPI_INT, MPI_MAX);
    if (status < 0)
        return status;
    if (window[1] != NONE)
        status = tally_widen(set, -window[0], window[1]);
    if (set->is_lost)
        status = STORM_ERR_NOMEM;
    tally_carry(set);
    return storm_context_agree(imc->context, status);
}

static storm_status tally_reduce(const struct storm_imc *imc, int64_t *words,
                                 size_t n)
{
    storm_status status = STORM_OK;
    for (size_t i = 0; i < n && status == STORM_OK; i += IMC_TALLY_CHUNK) {
        size_t rest = n - i;
        status = storm_context_reduce(imc->context, &words[i],
                                      (int)(rest < IMC_TALLY_CHUNK
                                                ? rest
                                                : IMC_TALLY_CHUNK),
                                      MPI_INT64_T, MPI_SUM);
    }
    return status;
}

/* Words of a tally: packets of its bins, then their limbs. */
static size_t tally_words(const struct tally_set *set,
                          const struct tally *tally)
{
    return tally->n_bins * (1 + (size_t)set->n_limbs);
}

static void tally_pack(const struct tally_set *set, const struct tally *tally,
                       int64_t *words_out)
{
    memcpy(words_out, tally->packets, tally->n_bins * sizeof *words_out);
    if (set->n_limbs > 0)
        memcpy(&words_out[tally->n_bins], tally->limbs,
               tally->n_bins * (size_t)set->n_limbs * sizeof *words_out);
}

/* The tally of all ranks, after tally_align. Collective. */
static storm_status tally_sum(const struct storm_imc *imc,
                              const struct tally *tally, int64_t *words_out)
{
    const struct tally_set *set = &imc->tallies;
    tally_pack(set, tally, words_out);
    storm_status status = tally_reduce(imc, words_out, tally_words(set, tally));
    for (size_t bin = 0; bin < tally->n_bins && set->n_limbs > 0; bin++)
        storm_ledger_carry_limbs(
            &words_out[tally->n_bins + bin * (size_t)set->n_limbs],
            set->n_limbs);
    return status;
}

static void tally_values(const struct tally_set *set, const struct tally *tally,
                         const int64_t *limbs, double *energy_erg_out)
{
    for (size_t bin = 0; bin < tally->n_bins; bin++) {
        const struct storm_ledger ledger =
            tally_ledger(set, &limbs[bin * (size_t)set->n_limbs]);
        energy_erg_out[bin] = storm_ledger_value(&ledger);
    }
}

storm_status imc_tally_sum(struct storm_imc *imc, size_t number,
                           int64_t **words_out)
{
    if (number >= imc->tallies.n) /* on all ranks */
        return STORM_ERR_ARG;
    const struct tally *tally = &imc->tallies.tallies[number];
    storm_status status = tally_align(imc);
    if (status < 0)
        return status;
    int64_t *words =
        storm_alloc(imc->env->memory, imc_tally_label,
                    tally_words(&imc->tallies, tally) * sizeof *words);
    status = storm_context_agree(imc->context,
                                 words != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK)
        status = tally_sum(imc, tally, words);
    if (status < 0)
        storm_free(imc->env->memory, words);
    else
        *words_out = words;
    return status;
}

storm_status storm_imc_tally_get(struct storm_imc *imc, size_t number,
                                 double *energy_erg_out, uint64_t *packets_out,
                                 double *total_erg_out)
{
    const struct tally_set *set = &imc->tallies;
    int64_t *words;
    storm_status status = imc_tally_sum(imc, number, &words);
    if (status < 0)
        return status;
    const struct tally *tally = &set->tallies[number];
    const int64_t *limbs = &words[tally->n_bins];
    if (packets_out != NULL)
        memcpy(packets_out, words, tally->n_bins * sizeof *packets_out);
    if (energy_erg_out != NULL)
        tally_values(set, tally, limbs, energy_erg_out);
    if (total_erg_out != NULL) {
        const struct storm_ledger all = tally_integral(set, tally, limbs);
        *total_erg_out = storm_ledger_value(&all);
    }
    storm_free(imc->env->memory, words);
    return STORM_OK;
}

/* ---- saved -------------------------------------------------------------- */

/* First words of the state. */
enum {
    STATE_HASH,
    STATE_FIRST,
    STATE_LIMBS,
    STATE_END, /* bits of the end of the last step, for escapes after it */
    STATE_HEAD
};
_Static_assert(sizeof(double) == sizeof(int64_t), "bits are those of a word");

storm_status storm_imc_tally_words(struct storm_imc *imc, size_t *n_words_out)
{
    const struct tally_set *set = &imc->tallies;
    *n_words_out = 0;
    if (set->n == 0)
        return STORM_OK;
    storm_status status = tally_align(imc);
    if (status < 0)
        return status;
    *n_words_out = STATE_HEAD;
    for (size_t i = 0; i < set->n; i++)
        *n_words_out += tally_words(set, &set->tallies[i]);
    return STORM_OK;
}

storm_status storm_imc_tally_save(struct storm_imc *imc, int64_t *words_out)
{
    const struct tally_set *set = &imc->tallies;
    storm_status status = set->n > 0 ? tally_align(imc) : STORM_OK;
    if (status < 0 || set->n == 0)
        return status;
    words_out[STATE_HASH] = (int64_t)tally_hash(set);
    words_out[STATE_FIRST] = set->first;
    words_out[STATE_LIMBS] = set->n_limbs;
    memcpy(&words_out[STATE_END], &imc->track.end_s, sizeof(double));
    size_t at = STATE_HEAD;
    for (size_t i = 0; i < set->n && status == STORM_OK; i++) {
        status = tally_sum(imc, &set->tallies[i], &words_out[at]);
        at += tally_words(set, &set->tallies[i]);
    }
    return status;
}

static bool state_fits(const struct tally_set *set, const int64_t *words,
                       size_t n_words)
{
    if (n_words < STATE_HEAD || words[STATE_HASH] != (int64_t)tally_hash(set) ||
        words[STATE_FIRST] < 0 || words[STATE_LIMBS] < 0 ||
        words[STATE_FIRST] > STORM_LEDGER_LIMBS ||
        words[STATE_LIMBS] > STORM_LEDGER_LIMBS - words[STATE_FIRST])
        return false;
    size_t n = STATE_HEAD;
    for (size_t i = 0; i < set->n; i++)
        n += set->tallies[i].n_bins * (1 + (size_t)words[STATE_LIMBS]);
    return n == n_words;
}

/* Sums of all ranks are those of rank 0 then. */
static void state_zero(struct tally_set *set)
{
    for (size_t i = 0; i < set->n; i++) {
        struct tally *tally = &set->tallies[i];
        memset(tally->packets, 0, tally->n_bins * sizeof *tally->packets);
        if (set->n_limbs > 0)
            memset(tally->limbs, 0,
                   tally->n_bins * (size_t)set->n_limbs * sizeof *tally->limbs);
    }
    set->n_since_carry = 0;
    set->is_lost = false;
}

static void state_unpack(struct tally_set *set, const int64_t *words)
{
    size_t n = (size_t)words[STATE_LIMBS];
    size_t ahead = (size_t)(words[STATE_FIRST] - set->first);
    const int64_t *from = &words[STATE_HEAD];
    for (size_t i = 0; i < set->n; i++) {
        struct tally *tally = &set->tallies[i];
        memcpy(tally->packets, from, tally->n_bins * sizeof *from);
        from += tally->n_bins;
        for (size_t bin = 0; bin < tally->n_bins && n > 0; bin++, from += n)
            memcpy(&tally->limbs[bin * (size_t)set->n_limbs + ahead], from,
                   n * sizeof *from);
    }
}

storm_status storm_imc_tally_load(struct storm_imc *imc, const int64_t *words,
                                  size_t n_words)
{
    struct tally_set *set = &imc->tallies;
    storm_status status = STORM_OK;
    if (imc->env->rank == 0 && set->n > 0 && !state_fits(set, words, n_words)) {
        storm_log_write(&imc->env->log, STORM_LOG_ERROR,
                        "the state is of other tallies: declare those it was "
                        "saved with");
        status = STORM_ERR_ARG;
    } else if (imc->env->rank == 0 && set->n > 0 && words[STATE_LIMBS] > 0) {
        status = tally_widen(set, (int)words[STATE_FIRST],
                             (int)(words[STATE_FIRST] + words[STATE_LIMBS]));
    }
    status = storm_context_agree(imc->context, status);
    if (status < 0 || set->n == 0)
        return status;
    double end_s = -INFINITY;
    if (imc->env->rank == 0)
        memcpy(&end_s, &words[STATE_END], sizeof end_s);
    status = storm_context_reduce(imc->context, &end_s, 1, MPI_DOUBLE, MPI_MAX);
    if (status < 0)
        return status;
    imc->track.end_s = end_s;
    state_zero(set);
    if (imc->env->rank == 0)
        state_unpack(set, words);
    return STORM_OK;
}
