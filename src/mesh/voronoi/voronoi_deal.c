/* SPDX-License-Identifier: BSD-3-Clause */
/* Generators, and what is known about them, from rank to rank. */
#include <string.h>

#include <storm/context.h>

#include "base/boot.h"
#include "mesh/mesh_message.h"
#include "mesh/mesh_partition.h"
#include "mesh/voronoi/voronoi_mesh.h"

static const char deal_label[] = "mesh generators";

/* Rows of some words each, and where they go: the caller sets `to`, addresses
 * them, fills in the rows and exchanges them. */
struct deal {
    size_t n, words;
    struct storm_cell_ref *to;
    size_t *first; /* by row: in the words of `out` */
    struct storm_messages out;
};

static storm_status deal_open(const struct storm_env *env, size_t n,
                              size_t words, struct deal *deal_out)
{
    *deal_out = (struct deal){.n = n, .words = words};
    deal_out->to =
        storm_alloc(env->memory, deal_label, (n + 1) * sizeof *deal_out->to);
    deal_out->first =
        storm_alloc(env->memory, deal_label, (n + 1) * sizeof *deal_out->first);
    return deal_out->to != NULL && deal_out->first != NULL ? STORM_OK
                                                           : STORM_ERR_NOMEM;
}

static storm_status deal_address(const struct storm_env *env, struct deal *deal)
{
    return storm_messages_rows(env, deal->n, deal->to, deal->words, &deal->out,
                               deal->first);
}

static uint64_t *deal_row(const struct deal *deal, size_t i)
{
    return deal->out.words + deal->first[i];
}

/* Closes the deal. `status` is that of this rank so far. Collective. */
static storm_status deal_exchange(const struct storm_mesh *mesh,
                                  storm_status status, struct deal *deal,
                                  struct storm_messages *in_out)
{
    status = storm_messages_exchange(mesh->context, status, &deal->out, in_out);
    storm_messages_release(mesh->env, &deal->out);
    storm_free(mesh->env->memory, deal->to);
    storm_free(mesh->env->memory, deal->first);
    return status;
}

/* The number of words received. */
static size_t deal_words(const struct storm_messages *in)
{
    size_t n = 0;
    for (size_t i = 0; i < in->n; i++)
        n += in->array[i].n_words;
    return n;
}

/* ---- records ------------------------------------------------------------ */

enum { DEAL_RECORD = sizeof(struct voronoi_record) / sizeof(uint64_t) };

void voronoi_records_take(const struct storm_env *env,
                          struct storm_messages *in,
                          struct voronoi_records *records_inout)
{
    storm_free(env->memory, records_inout->array);
    records_inout->array = (struct voronoi_record *)(void *)in->words;
    records_inout->n = deal_words(in) / DEAL_RECORD;
    in->words = NULL;
}

storm_status voronoi_deal(const struct storm_mesh *mesh,
                          const uint64_t *partition,
                          struct voronoi_records *records_inout)
{
    const struct storm_env *env = mesh->env;
    const struct voronoi_record *records = records_inout->array;
    struct storm_messages in = {.n = 0};
    struct deal deal;
    if (env->size == 1)
        return STORM_OK;
    storm_status status = deal_open(env, records_inout->n, DEAL_RECORD, &deal);
    for (size_t i = 0; status >= 0 && i < deal.n; i++) {
        int32_t from = records[i].from.rank;
        deal.to[i].rank =
            partition != NULL
                ? storm_partition_owner(partition, env->size, records[i].order)
            : from < 0 ? ~from
                       : from;
    }
    if (status >= 0)
        status = deal_address(env, &deal);
    for (size_t i = 0; status >= 0 && i < deal.n; i++)
        memcpy(deal_row(&deal, i), &records[i], sizeof records[i]);
    /* From rank to rank, orders grow: what arrives is in order. */
    status = deal_exchange(mesh, status, &deal, &in);
    if (status >= 0)
        voronoi_records_take(env, &in, records_inout);
    storm_messages_release(env, &in);
    return status;
}

storm_status voronoi_partition(const struct storm_mesh *mesh, uint64_t n,
                               uint64_t *partition_out)
{
    storm_status status =
        storm_boot_allgather(mesh->env->boot, &n, sizeof n, partition_out + 1);
    partition_out[0] = 0;
    for (int r = 0; status >= 0 && r < mesh->env->size; r++)
        partition_out[r + 1] += partition_out[r];
    return status;
}

/* ---- where points are --------------------------------------------------- */

struct storm_cell_ref *voronoi_from(const struct storm_mesh *mesh,
                                    const struct voronoi_records *records)
{
    struct storm_cell_ref *from = storm_alloc(mesh->env->memory, deal_label,
                                              (records->n + 1) * sizeof *from);
    for (size_t i = 0; from != NULL && i < records->n; i++)
        from[i] = records->array[i].from;
    return from;
}

storm_status voronoi_report(const struct storm_mesh *mesh,
                            const struct storm_cell_ref *from,
                            storm_cell_id *tags_out,
                            struct storm_cell_ref *where_out)
{
    enum { POINT, TAG, CELL, WORDS };
    const struct storm_env *env = mesh->env;
    struct storm_messages in = {.n = 0};
    struct deal deal;
    storm_status status =
        deal_open(env, (size_t)mesh->part->n_cells, WORDS, &deal);
    for (size_t i = 0; status >= 0 && i < deal.n; i++)
        deal.to[i] = from[i];
    if (status >= 0)
        status = deal_address(env, &deal);
    for (size_t i = 0; status >= 0 && i < deal.n; i++) {
        uint64_t *row = deal_row(&deal, i);
        row[POINT] = (uint64_t)from[i].idx;
        row[TAG] = storm_mesh_part_tag(mesh->part, (storm_cell_idx)i);
        row[CELL] = i;
    }
    status = deal_exchange(mesh, status, &deal, &in);
    for (size_t i = 0; status >= 0 && i < in.n; i++) {
        const uint64_t *row = in.words + in.array[i].first;
        const uint64_t *end = row + in.array[i].n_words;
        for (; row < end; row += WORDS) {
            if (tags_out != NULL)
                tags_out[row[POINT]] = row[TAG];
            if (where_out != NULL)
                where_out[row[POINT]] = (struct storm_cell_ref){
                    .rank = in.array[i].rank, .idx = (storm_cell_idx)row[CELL]};
        }
    }
    storm_messages_release(env, &in);
    return status;
}
