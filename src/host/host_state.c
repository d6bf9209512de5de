/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stage 5: the state as pieces of bytes, one for each rank that saves.
 *
 * A piece is a row of 64-bit words: a head, the accounts of the run (the same
 * in all pieces), a tag and values for each cell, and packets. All pieces of a
 * state have its hash, which a loaded state must have, too.
 */
#include "host/host.h"

#include <inttypes.h>
#include <string.h>

#include <storm/change.h>

#include "base/hash.h"

enum { STATE_VERSION = 1 };
static const uint64_t state_mark = UINT64_C(0x54534f484d524f54); /* TORMHOST */

/* Words of the head, in order. */
struct state_head {
    uint64_t mark, version;
    uint64_t check;   /* of all words of the piece but this one */
    uint64_t n_words; /* of the piece */
    uint64_t piece, n_pieces, n_steps;
    uint64_t hash, mesh; /* of the state, and of tags, places and volumes */
    double declared_erg;
    uint64_t layout, n_cells, n_packets;     /* layout: of storm/imc_state.h */
    uint64_t n_values, n_accounts, n_record; /* words of each */
};
enum { HEAD_WORDS = sizeof(struct state_head) / sizeof(uint64_t) };

/* ---- sizes and hashes --------------------------------------------------- */

static storm_status state_measure(struct storm_host *host,
                                  struct state_head *head)
{
    struct storm_imc_layout layout = STORM_IMC_LAYOUT_INIT;
    storm_status status = storm_imc_state_layout(host->imc, &layout);
    size_t n_packets = 0;
    if (status < 0)
        return status;
    status = storm_engine_fetch(host->engine);
    if (status < 0)
        return status;
    (void)storm_engine_packets(host->engine, &n_packets);
    *head = (struct state_head){
        .mark = state_mark,
        .version = STATE_VERSION,
        .piece = (uint64_t)storm_host_rank(host),
        .n_pieces = (uint64_t)storm_host_size(host),
        .n_steps = host->n_steps,
        .declared_erg = host->declared_erg,
        .layout = layout.version,
        .n_cells = (uint64_t)storm_mesh_n_cells(host->mesh),
        .n_packets = n_packets,
        .n_values = layout.cell_values,
        .n_accounts = layout.n_accounts * layout.account_words,
        .n_record = storm_imc_record_bytes(host->imc) / sizeof(uint64_t),
    };
    head->n_words = HEAD_WORDS + head->n_accounts +
                    head->n_cells * (1 + head->n_values) +
                    head->n_packets * head->n_record;
    return STORM_OK;
}

storm_status storm_host_state_bytes(struct storm_host *host, size_t *n_out)
{
    static const char what[] = "storm_host_state_bytes";
    struct state_head head;
    storm_status status = host_enter(host, what, HOST_RUN, HOST_RUN);
    if (status == STORM_OK && n_out == NULL)
        status = host_fail(host, STORM_ERR_ARG, "%s: nowhere to put it", what);
    if (status == STORM_OK)
        status = state_measure(host, &head);
    if (status == STORM_OK)
        *n_out = (size_t)head.n_words * sizeof(uint64_t);
    return status;
}

/* Of a piece: all words but that of the check itself. */
static uint64_t state_check(const unsigned char *piece, uint64_t n_words)
{
    const size_t skipped = offsetof(struct state_head, check) / 8;
    uint64_t check = 0, word;
    for (size_t i = 0; i < n_words; i++) {
        memcpy(&word, &piece[i * sizeof word], sizeof word);
        if (i != skipped)
            check = storm_hash_fold(check, word);
    }
    return check;
}

/* The same for any partition. Collective. */
static storm_status state_hash_mesh(const struct storm_host *host,
                                    uint64_t *hash_out)
{
    uint64_t sum = 0;
    storm_cell_idx n = storm_mesh_n_cells(host->mesh);
    for (storm_cell_idx i = 0; i < n; i++) {
        double x[3];
        uint64_t hash = storm_hash_word(storm_mesh_cell_id(host->mesh, i));
        storm_mesh_centre(host->mesh, i, x);
        for (int d = 0; d < 3; d++)
            hash = storm_hash_fold_real(hash, x[d]);
        sum += storm_hash_fold_real(hash, storm_mesh_volume_cm3(host->mesh, i));
    }
    *hash_out = sum;
    return storm_context_reduce(host->context, hash_out, 1, MPI_UINT64_T,
                                MPI_SUM);
}

/* ---- save --------------------------------------------------------------- */

static void state_write(struct storm_host *host, struct state_head *head,
                        const int64_t *accounts, const double *cells,
                        unsigned char *to)
{
    unsigned char *at = to + sizeof *head;
    size_t n_packets, per = (size_t)head->n_values * sizeof *cells;
    void *const *packets = storm_engine_packets(host->engine, &n_packets);
    memcpy(at, accounts, (size_t)head->n_accounts * sizeof *accounts);
    at += head->n_accounts * sizeof *accounts;
    for (size_t i = 0; i < head->n_cells; i++) {
        storm_cell_id tag = storm_mesh_cell_id(host->mesh, (storm_cell_idx)i);
        memcpy(at, &tag, sizeof tag);
        memcpy(at + sizeof tag, &cells[i * head->n_values], per);
        at += sizeof tag + per;
    }
    for (size_t i = 0; i < n_packets; i++) {
        memcpy(at, packets[i], (size_t)head->n_record * sizeof(uint64_t));
        at += head->n_record * sizeof(uint64_t);
    }
    memcpy(to, head, sizeof *head);
    head->check = state_check(to, head->n_words);
    memcpy(to, head, sizeof *head);
}

static storm_status state_check_save(const struct storm_host *host,
                                     const void *bytes, size_t n,
                                     const struct state_head *head)
{
    if (!host->has_started)
        return host_fail(host, STORM_ERR_STATE,
                         "storm_host_save: expected after the first step");
    if (bytes == NULL || n != head->n_words * sizeof(uint64_t))
        return host_fail(host, STORM_ERR_ARG,
                         "storm_host_save: expected %" PRIu64
                         " bytes (storm_host_state_bytes), got %zu%s",
                         head->n_words * (uint64_t)sizeof(uint64_t), n,
                         bytes == NULL ? ", and no array" : "");
    return STORM_OK;
}

storm_status storm_host_save(struct storm_host *host, void *bytes_out, size_t n)
{
    struct state_head head;
    int64_t *accounts = NULL;
    double *cells = NULL;
    storm_status status =
        host_enter(host, "storm_host_save", HOST_RUN, HOST_RUN);
    if (status < 0)
        return status;
    status = state_measure(host, &head);
    if (status == STORM_OK)
        status = state_check_save(host, bytes_out, n, &head);
    if (status == STORM_OK)
        status = host_array(host, (size_t)head.n_accounts, sizeof *accounts,
                            &accounts);
    if (status == STORM_OK)
        status = host_array(host, (size_t)(head.n_cells * head.n_values),
                            sizeof *cells, &cells);
    status = host_agree(host, status);
    if (status == STORM_OK)
        status = storm_imc_save_state(host->imc, cells, accounts);
    if (status == STORM_OK)
        status = storm_imc_hash(host->imc, host->engine, &head.hash);
    if (status == STORM_OK)
        status = state_hash_mesh(host, &head.mesh);
    if (status == STORM_OK)
        state_write(host, &head, accounts, cells, bytes_out);
    host_free(host, cells);
    host_free(host, accounts);
    return status;
}

/* ---- pieces that are given ---------------------------------------------- */

/* Of this rank; then, but for `bytes`, of all. */
struct state_given {
    const unsigned char *bytes;
    size_t n_bytes;
    struct state_head head; /* of one piece: what all have in common */
    uint64_t n_pieces, piece_sum, n_cells, n_packets;
};

static struct state_head state_head_at(const unsigned char *piece)
{
    struct state_head head;
    memcpy(&head, piece, sizeof head);
    return head;
}

/* Its sizes are those that this problem has, and fit into n bytes. */
static bool state_fits(const struct storm_host *host,
                       const struct state_head *head, size_t n)
{
    struct storm_imc_layout layout = STORM_IMC_LAYOUT_INIT;
    uint64_t left = n / sizeof(uint64_t);
    if (head->n_words < HEAD_WORDS || head->n_words > left ||
        head->n_pieces > INT32_MAX || head->piece >= head->n_pieces ||
        storm_imc_state_layout(host->imc, &layout) < 0)
        return false;
    return head->n_values > 0 &&
           head->n_values == storm_imc_state_values(head->layout) &&
           head->n_accounts ==
               storm_imc_state_accounts(head->layout) * layout.account_words &&
           head->n_record * sizeof(uint64_t) ==
               storm_imc_record_bytes(host->imc) &&
           head->n_cells <= left / (1 + head->n_values) &&
           head->n_packets <= left / head->n_record &&
           head->n_words == HEAD_WORDS + head->n_accounts +
                                head->n_cells * (1 + head->n_values) +
                                head->n_packets * head->n_record;
}

static storm_status state_check_piece(const struct storm_host *host,
                                      const struct state_given *given,
                                      size_t at, struct state_head *head_out)
{
    static const char what[] = "storm_host_load: byte";
    size_t n = given->n_bytes - at;
    const unsigned char *piece = given->bytes + at;
    struct state_head head = {.mark = 0};
    if (n >= sizeof head)
        head = state_head_at(piece);
    if (head.mark != state_mark)
        return host_fail(host, STORM_ERR_IO,
                         "%s %zu: expected a piece of storm_host_save", what,
                         at);
    if (head.version != STATE_VERSION)
        return host_fail(host, STORM_ERR_NOSUP,
                         "%s %zu: version %" PRIu64 ", expected %d", what, at,
                         head.version, STATE_VERSION);
    if (head.n_words < HEAD_WORDS || head.n_words > n / sizeof(uint64_t) ||
        state_check(piece, head.n_words) != head.check)
        return host_fail(host, STORM_ERR_IO,
                         "%s %zu: the piece is not as it was saved", what, at);
    if (!state_fits(host, &head, n))
        return host_fail(host, STORM_ERR_ARG,
                         "%s %zu: the piece is of another problem: its cells "
                         "or packets have another size",
                         what, at);
    *head_out = head;
    return STORM_OK;
}

/* Are both pieces of one state? */
static bool state_is_one(const struct state_head *a, const struct state_head *b)
{
    return a->hash == b->hash && a->mesh == b->mesh && a->layout == b->layout &&
           a->n_pieces == b->n_pieces && a->n_steps == b->n_steps;
}

static storm_status state_check_pieces(const struct storm_host *host,
                                       struct state_given *given)
{
    storm_status status = STORM_OK;
    struct state_head head = {.mark = 0};
    if (given->bytes == NULL && given->n_bytes > 0)
        return host_fail(host, STORM_ERR_ARG, "storm_host_load: no array");
    for (size_t at = 0; at < given->n_bytes && status == STORM_OK;
         at += (size_t)head.n_words * sizeof(uint64_t)) {
        status = state_check_piece(host, given, at, &head);
        if (status == STORM_OK && given->n_pieces > 0 &&
            !state_is_one(&head, &given->head))
            status = host_fail(host, STORM_ERR_IO,
                               "storm_host_load: byte %zu: the piece is of "
                               "another state than those before it",
                               at);
        if (status < 0)
            break;
        given->head = head;
        given->n_pieces++;
        given->piece_sum += head.piece + 1;
        given->n_cells += head.n_cells;
        given->n_packets += head.n_packets;
    }
    return status;
}

/* Is each piece of one state, and there once; is the mesh that of the state? */
static storm_status state_check_all(const struct storm_host *host,
                                    const uint64_t sum[3],
                                    const struct state_head *max,
                                    const struct state_head *min, uint64_t mesh)
{
    uint64_t n = max->n_pieces, n_cells = storm_mesh_n_cells_total(host->mesh);
    if (sum[0] == 0 || !state_is_one(max, min) || sum[0] != n ||
        sum[1] != n * (n + 1) / 2)
        return host_fail(host, STORM_ERR_IO,
                         "storm_host_load: expected each piece of one state on "
                         "one rank; of %" PRIu64 " there are %" PRIu64,
                         n, sum[0]);
    if (sum[2] != n_cells || max->mesh != mesh)
        return host_fail(host, STORM_ERR_ARG,
                         "storm_host_load: the state is of another mesh: its "
                         "%" PRIu64 " cells are not the %" PRIu64
                         " of this one",
                         sum[2], n_cells);
    return STORM_OK;
}

/* Puts what all pieces have in common into the head, on all ranks. */
static storm_status state_agree(struct storm_host *host,
                                struct state_given *given)
{
    uint64_t sum[3] = {given->n_pieces, given->piece_sum, given->n_cells};
    uint64_t mesh = 0;
    struct state_head max = given->head, min;
    if (given->n_pieces > 0)
        min = max;
    else
        memset(&min, 0xff, sizeof min); /* the heads of others are smaller */
    storm_status status =
        storm_context_reduce(host->context, sum, 3, MPI_UINT64_T, MPI_SUM);
    if (status == STORM_OK)
        status = storm_context_reduce(host->context, &max, HEAD_WORDS,
                                      MPI_UINT64_T, MPI_MAX);
    if (status == STORM_OK)
        status = storm_context_reduce(host->context, &min, HEAD_WORDS,
                                      MPI_UINT64_T, MPI_MIN);
    if (status == STORM_OK)
        status = state_hash_mesh(host, &mesh);
    if (status == STORM_OK)
        status = host_agree(host, state_check_all(host, sum, &max, &min, mesh));
    given->head = max;
    return status;
}

/* ---- load --------------------------------------------------------------- */

/* What is in the pieces of this rank, but for packets. */
struct state_parts {
    storm_cell_id *tags;
    double *cells;
    int64_t *accounts;
};

static void state_read(const struct state_given *given,
                       const struct state_parts *parts)
{
    size_t n = 0;
    for (size_t at = 0; at < given->n_bytes;) {
        const unsigned char *from = given->bytes + at;
        const struct state_head head = state_head_at(from);
        size_t per = (size_t)head.n_values;
        at += (size_t)head.n_words * sizeof(uint64_t);
        from += sizeof head;
        memcpy(parts->accounts, from,
               (size_t)head.n_accounts * sizeof(int64_t));
        from += head.n_accounts * sizeof(int64_t);
        for (size_t i = 0; i < head.n_cells; i++, n++) {
            memcpy(&parts->tags[n], from, sizeof(storm_cell_id));
            memcpy(&parts->cells[n * per], from + sizeof(storm_cell_id),
                   per * sizeof(double));
            from += sizeof(storm_cell_id) + per * sizeof(double);
        }
    }
}

static storm_status state_add_packets(struct storm_host *host,
                                      const struct state_given *given)
{
    storm_status status = STORM_OK;
    for (size_t at = 0; at < given->n_bytes && status >= 0;) {
        const unsigned char *from = given->bytes + at;
        const struct state_head head = state_head_at(from);
        size_t bytes = (size_t)head.n_record * sizeof(uint64_t);
        at += (size_t)head.n_words * sizeof(uint64_t);
        from = given->bytes + at - head.n_packets * bytes;
        for (size_t i = 0; i < head.n_packets && status >= 0; i++)
            status = storm_engine_add(host->engine, from + i * bytes);
    }
    return status < 0 ? status : STORM_OK;
}

/* To where the cells are. Until it is all there, nothing has changed. */
static storm_status state_move(struct storm_host *host,
                               const struct state_given *given,
                               struct state_parts *parts, double *local)
{
    struct host_route route = {.n = 0};
    int64_t *accounts = parts->accounts;
    const struct state_head *head = &given->head;
    for (size_t i = 0; given->n_pieces == 0 && i < head->n_accounts; i++)
        accounts[i] = INT64_MIN; /* the least: those of others stay */
    storm_status status =
        host_route_make(host, parts->tags, (size_t)given->n_cells, &route);
    parts->tags = NULL; /* the route's */
    if (status == STORM_OK)
        status = host_route_in_by(host, &route, STORM_OK,
                                  (size_t)head->n_values, parts->cells, local);
    if (status == STORM_OK)
        status =
            storm_context_reduce(host->context, accounts, (int)head->n_accounts,
                                 MPI_INT64_T, MPI_MAX);
    host_route_release(host, &route);
    return status;
}

static storm_status state_put(struct storm_host *host,
                              const struct state_given *given,
                              const double *local, const int64_t *accounts)
{
    const struct state_head *head = &given->head;
    uint64_t hash = 0;
    storm_status status =
        storm_imc_load_state(host->imc, head->layout, local, accounts);
    if (status == STORM_ERR_NOSUP) /* not logged */
        status = host_fail(host, STORM_ERR_ARG,
                           "storm_host_load: the state is of another problem: "
                           "what its cells have is not what they have here");
    status = host_agree(host, status);
    if (status < 0)
        return status;
    host->has_started = true;
    status = host_agree(host, state_add_packets(host, given));
    storm_engine_set_step(host->engine, head->n_steps);
    host->n_steps = head->n_steps;
    host->declared_erg = head->declared_erg;
    if (status == STORM_OK)
        status = storm_imc_hash(host->imc, host->engine, &hash);
    if (status == STORM_OK && hash != head->hash)
        status = host_fail(host, STORM_ERR_ARG,
                           "storm_host_load: the state is of another "
                           "problem: its hash is %016" PRIx64
                           ", and %016" PRIx64 " here",
                           head->hash, hash);
    if (status < 0)
        host->stage = HOST_FAILED;
    return status;
}

static storm_status state_load(struct storm_host *host,
                               const struct state_given *given)
{
    const struct state_head *head = &given->head;
    struct state_parts parts = {NULL, NULL, NULL};
    double *local = NULL;
    size_t n = (size_t)given->n_cells, per = (size_t)head->n_values;
    storm_status status = host_array(host, n, sizeof *parts.tags, &parts.tags);
    if (status == STORM_OK)
        status = host_array(host, n * per, sizeof *parts.cells, &parts.cells);
    if (status == STORM_OK)
        status = host_array(host, (size_t)head->n_accounts,
                            sizeof *parts.accounts, &parts.accounts);
    if (status == STORM_OK)
        status = host_array(host, per * (size_t)storm_mesh_n_cells(host->mesh),
                            sizeof *local, &local);
    status = host_agree(host, status);
    if (status == STORM_OK) {
        state_read(given, &parts);
        status = state_move(host, given, &parts, local);
    }
    if (status == STORM_OK)
        status = state_put(host, given, local, parts.accounts);
    host_free(host, local);
    host_free(host, parts.accounts);
    host_free(host, parts.cells);
    host_free(host, parts.tags);
    return status;
}

storm_status storm_host_load(struct storm_host *host, const void *bytes,
                             size_t n)
{
    struct state_given given = {.bytes = bytes, .n_bytes = n};
    storm_status status =
        host_enter(host, "storm_host_load", HOST_RUN, HOST_RUN);
    if (status < 0)
        return status;
    if (host->has_started)
        return host_fail(host, STORM_ERR_STATE,
                         "storm_host_load: expected before the first step");
    status = host_agree(host, state_check_pieces(host, &given));
    if (status == STORM_OK)
        status = state_agree(host, &given);
    return status < 0 ? status : state_load(host, &given);
}
