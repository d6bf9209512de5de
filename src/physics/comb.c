/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Population control by comb (Booth 1996), cell by cell.
 *
 * A cell with too many packets: n_max teeth of equal distance, with one random
 * offset, over the packets laid end to end by weight; a packet survives once
 * for every tooth that hits it, all with equal weight. A cell with too few: a
 * packet is split into one part more than teeth hit it.
 *
 * The result does not depend on the order of arrival: packets are laid out in
 * order of their ids, the total is an exact sum, rounded once, and the offset
 * is a function of seed, step and cell.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>
#include <storm/streaming.h>

#include "base/env.h"
#include "base/port.h"
#include "base/sized.h"
#include "physics/census.h"
#include "physics/ledger.h"
#include "physics/split.h"

static const char comb_label[] = "comb";

/* A packet of a cell that is combed, with what sorting needs. */
struct comb_item {
    struct storm_packet_id id;
    struct storm_packet *packet;
    size_t i_entry; /* in storm_step_packets */
};

/* Packets of one cell. */
struct comb_cell {
    uint64_t n;     /* in all */
    size_t i_first; /* of its items, if it is combed */
};

struct storm_comb {
    const struct storm_context *context;
    const struct storm_env *env;
    struct storm_comb_params params;
    struct comb_cell *cells; /* by local index */
    struct comb_item *items; /* by cell */
    size_t cells_capacity, items_capacity;
    size_t record_bytes; /* of the packets, which begin as struct
                            storm_packet */
};

/* ---- one cell ----------------------------------------------------------- */

static int comb_compare(const void *a, const void *b)
{
    const struct comb_item *x = a, *y = b;
    return storm_packet_id_compare(x->id, y->id);
}

/* Cells hold a few dozen packets: in place, without a call per comparison. */
static void comb_sort(struct comb_item *items, size_t n)
{
    enum { COMB_SMALL = 64 };
    if (n > COMB_SMALL) {
        qsort(items, n, sizeof *items, comb_compare);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        struct comb_item item = items[i];
        size_t j = i;
        for (; j > 0 && storm_packet_id_compare(item.id, items[j - 1].id) < 0;
             j--)
            items[j] = items[j - 1];
        items[j] = item;
    }
}

/* Teeth below `weight`, n of them spread over `total`, offset u in (0, 1). */
static uint64_t comb_teeth(double weight, double total, uint64_t n, double u)
{
    double teeth = ceil(weight / total * (double)n - u);
    if (!(teeth > 0.0))
        return 0;
    return teeth < (double)n ? (uint64_t)teeth : n;
}

/* Lays out the packets of a cell one after the other. */
struct comb_row {
    double total;    /* weight */
    uint64_t n;      /* teeth */
    double u;        /* offset */
    double so_far;   /* weight of the packets before */
    uint64_t n_done; /* teeth that hit them */
    size_t record_bytes;
};

/* Teeth that hit the next packet; together exactly n. */
static uint64_t comb_next(struct comb_row *row, double weight, bool is_last)
{
    row->so_far += weight;
    uint64_t n =
        is_last ? row->n : comb_teeth(row->so_far, row->total, row->n, row->u);
    uint64_t hits = n > row->n_done ? n - row->n_done : 0;
    row->n_done += hits;
    return hits;
}

/* A copy of `parent` with another weight and id. */
static storm_status comb_spawn(struct storm_step *step,
                               const struct comb_row *row,
                               struct storm_packet *parent, double weight)
{
    struct storm_photon record;
    memcpy(&record, parent, row->record_bytes);
    storm_split_child(parent, weight, &record.packet);
    return storm_step_spawn(step, &record);
}

/* Uniform in (0, 1), for this cell in this step. */
static double comb_offset(const struct storm_comb *comb,
                          const struct storm_step *step, storm_cell_id cell)
{
    double u[4];
    struct storm_packet_id key = {.hi = storm_step_number(step), .lo = cell};
    storm_random(comb->params.seed, STORM_STREAM_POPULATION, key, 0, u);
    return u[0];
}

/* More than this many packets of a cell are merged; 0: never. */
static uint64_t comb_n_max(const struct storm_comb *comb, storm_cell_idx cell)
{
    const struct storm_comb_params *p = &comb->params;
    return p->limit != NULL ? p->limit(p->limit_self, cell) : p->n_max;
}

/* Passes what is left in an account to the caller, exactly. */
static void comb_pass_remainder(const struct storm_comb *comb,
                                storm_cell_idx cell, struct storm_ledger *left)
{
    while (!storm_ledger_is_zero(left)) {
        double weight = storm_ledger_value(left);
        storm_ledger_add(left, -weight);
        if (comb->params.remainder != NULL)
            comb->params.remainder(comb->params.remainder_self, cell, weight);
    }
}

/* n packets, sorted, down to row->n. */
static storm_status comb_merge(struct storm_step *step, struct comb_item *items,
                               size_t n, struct comb_row *row)
{
    struct storm_split split = storm_split(row->total, row->n);
    uint64_t n_left = row->n;
    for (size_t i = 0; i < n; i++) {
        struct storm_packet *packet = items[i].packet;
        uint64_t hits = comb_next(row, packet->weight_erg, i == n - 1);
        if (hits == 0) {
            storm_step_remove(step, items[i].i_entry);
            continue;
        }
        for (uint64_t k = 1; k < hits; k++, n_left--) {
            storm_status status = comb_spawn(step, row, packet, split.each);
            if (status < 0)
                return status;
        }
        packet->weight_erg = n_left == 1 ? split.last : split.each;
        n_left--;
    }
    return STORM_OK;
}

/* n packets, sorted, up to n + row->n. */
static storm_status comb_split(struct storm_step *step, struct comb_item *items,
                               size_t n, struct comb_row *row)
{
    for (size_t i = 0; i < n; i++) {
        struct storm_packet *packet = items[i].packet;
        uint64_t parts = 1 + comb_next(row, packet->weight_erg, i == n - 1);
        struct storm_split split = storm_split(packet->weight_erg, parts);
        for (uint64_t k = 1; k < parts; k++) {
            storm_status status = comb_spawn(step, row, packet, split.each);
            if (status < 0)
                return status;
        }
        packet->weight_erg = split.last;
    }
    return STORM_OK;
}

static storm_status comb_cell(struct storm_comb *comb, struct storm_step *step,
                              storm_cell_idx cell, struct comb_item *items,
                              size_t n)
{
    comb_sort(items, n);
    struct storm_ledger ledger = {.n_since_carry = 0};
    for (size_t i = 0; i < n; i++)
        storm_ledger_add(&ledger, items[i].packet->weight_erg);
    struct comb_row row = {
        .total = storm_ledger_value(&ledger),
        .u = comb_offset(comb, step, items[0].packet->cell),
        .record_bytes = comb->record_bytes,
    };
    if (!(row.total > 0.0))
        return STORM_OK; /* no weight to divide */
    if (n < comb->params.n_min) {
        row.n = comb->params.n_min - n;
        return comb_split(step, items, n, &row);
    }
    row.n = comb_n_max(comb, cell);
    storm_ledger_add(&ledger, -row.total);
    comb_pass_remainder(comb, cell, &ledger);
    return comb_merge(step, items, n, &row);
}

/* ---- all cells ---------------------------------------------------------- */

static bool comb_wants(const struct storm_comb *comb, size_t cell, uint64_t n)
{
    uint64_t max = comb_n_max(comb, (storm_cell_idx)cell);
    return (n > 0 && n < comb->params.n_min) || (max > 0 && n > max);
}

/* Packets per cell; grows the list of cells to the highest index. */
static storm_status comb_count(struct storm_comb *comb, void *const *packets,
                               size_t n, size_t *n_cells_out)
{
    if (comb->cells != NULL)
        memset(comb->cells, 0, comb->cells_capacity * sizeof *comb->cells);
    size_t n_cells = 0;
    for (size_t i = 0; i < n; i++) {
        const struct storm_packet *packet = packets[i];
        if (packet == NULL)
            continue;
        if (packet->cell_idx < 0)
            return STORM_ERR_STATE; /* at census a packet is in its cell */
        size_t cell = (size_t)packet->cell_idx;
        if (cell >= n_cells) {
            void *array = comb->cells;
            storm_status status = storm_reserve(comb->env->memory, comb_label,
                                                sizeof *comb->cells, cell + 1,
                                                &array, &comb->cells_capacity);
            if (status < 0)
                return status;
            comb->cells = array;
            n_cells = cell + 1;
        }
        comb->cells[cell].n++;
    }
    *n_cells_out = n_cells;
    return STORM_OK;
}

/* Puts the packets of the cells that are combed side by side, cell by cell.
 * Afterwards i_first is where a cell's items end. */
static storm_status comb_gather(struct storm_comb *comb, void *const *packets,
                                size_t n, size_t n_cells)
{
    size_t n_items = 0;
    for (size_t cell = 0; cell < n_cells; cell++) {
        comb->cells[cell].i_first = n_items;
        if (comb_wants(comb, cell, comb->cells[cell].n))
            n_items += comb->cells[cell].n;
    }
    void *array = comb->items;
    storm_status status =
        storm_reserve(comb->env->memory, comb_label, sizeof *comb->items,
                      n_items, &array, &comb->items_capacity);
    if (status < 0)
        return status;
    comb->items = array;
    for (size_t i = 0; n_items > 0 && i < n; i++) {
        struct storm_packet *packet = packets[i];
        if (packet == NULL)
            continue;
        struct comb_cell *cell = &comb->cells[packet->cell_idx];
        if (comb_wants(comb, (size_t)packet->cell_idx, cell->n))
            comb->items[cell->i_first++] = (struct comb_item){
                .id = packet->id, .packet = packet, .i_entry = i};
    }
    return STORM_OK;
}

static storm_status comb_control(void *self, struct storm_step *step)
{
    struct storm_comb *comb = self;
    size_t n, n_cells = 0;
    void *const *packets = storm_step_packets(step, &n);
    storm_status status = comb_count(comb, packets, n, &n_cells);
    if (status == STORM_OK)
        status = comb_gather(comb, packets, n, n_cells);
    for (size_t i = 0; i < n_cells && status == STORM_OK; i++) {
        const struct comb_cell *cell = &comb->cells[i];
        if (comb_wants(comb, i, cell->n))
            status = comb_cell(comb, step, (storm_cell_idx)i,
                               &comb->items[cell->i_first - cell->n], cell->n);
    }
    /* The next pre_step communicates: all ranks must return the same status. */
    return storm_context_agree(comb->context, status);
}

/* ---- public ------------------------------------------------------------- */

storm_status storm_comb_create(struct storm_context *context,
                               const struct storm_comb_params *params,
                               struct storm_comb **comb_out)
{
    const struct storm_env *env = storm_context_env(context);
    struct storm_comb_params own;
    storm_status status =
        storm_sized_read(env, "storm_comb_create", params, &own, sizeof own);
    if (status < 0)
        return status;
    if (own.n_max > 0 && own.n_min > own.n_max) {
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "comb: n_min, %llu packets, is larger than n_max, "
                        "%llu",
                        (unsigned long long)own.n_min,
                        (unsigned long long)own.n_max);
        return STORM_ERR_ARG;
    }
    struct storm_comb *comb =
        storm_alloc(env->memory, comb_label, sizeof *comb);
    if (comb == NULL)
        return STORM_ERR_NOMEM;
    comb->env = env;
    comb->context = context;
    comb->params = own;
    *comb_out = comb;
    return STORM_OK;
}

void storm_comb_destroy(struct storm_comb *comb)
{
    if (comb == NULL)
        return;
    storm_free(comb->env->memory, comb->items);
    storm_free(comb->env->memory, comb->cells);
    storm_free(comb->env->memory, comb);
}

storm_status storm_comb_attach(struct storm_comb *comb,
                               struct storm_engine *engine)
{
    comb->record_bytes = storm_census_record_bytes(engine);
    const struct storm_population population = {
        .size = sizeof population,
        .record_bytes = comb->record_bytes,
        .self = comb,
        .control = comb_control,
    };
    return storm_engine_use(engine, NULL, NULL, &population);
}
