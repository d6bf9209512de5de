/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of any length between all ranks at once. Every wait ends with
 * STORM_ERR_LOST when a rank is lost (storm_context_wait); memory that MPI may
 * still use after an error is not freed.
 */
#ifndef STORM_MESH_MESSAGE_H
#define STORM_MESH_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include <storm/context.h>
#include <storm/packet.h>

#include "base/env.h"

/* Messages are in order of rank; a word has 8 bytes. */
struct storm_message {
    int rank;
    size_t first, n_words;
};

struct storm_messages {
    struct storm_message *array;
    size_t n, capacity;
    uint64_t *words;
};

/* Adds a message of words [first, first + n_words), if there are any. The
 * caller sets `words`. STORM_ERR_NOMEM. */
storm_status storm_messages_add(const struct storm_env *env,
                                struct storm_messages *messages, int rank,
                                size_t first, size_t n_words);

/*
 * Messages of a row of `words` words for each of n items, to the rank of its
 * `to`; -1: none. Rows to a rank are in the order of the items. Allocates the
 * words; first_out[i] is where row i begins. STORM_ERR_NOMEM.
 */
storm_status storm_messages_rows(const struct storm_env *env, size_t n,
                                 const struct storm_cell_ref *to, size_t words,
                                 struct storm_messages *out, size_t *first_out);

/*
 * Sends each message of `out`, at most one per rank, and fills `in_out` with
 * those received; release both also after an error. Collective, blocks; the
 * same kind of status on every rank. `status` is that of this rank so far; if
 * any rank's is an error nothing is sent. If an exchange was begun and did not
 * end both are empty.
 */
storm_status storm_messages_exchange(const struct storm_context *context,
                                     storm_status status,
                                     struct storm_messages *out,
                                     struct storm_messages *in_out);
void storm_messages_release(const struct storm_env *env,
                            struct storm_messages *messages);

/* Rows of items that ranks have: their size, and this rank's in order. */
struct storm_message_rows {
    size_t bytes;
    const void *rows;
};

/*
 * Fetches the row of each of n items from its rank; -1: none, the row is left
 * as it is. Collective, blocks; `status` is that of this rank so far.
 */
storm_status storm_messages_fetch(const struct storm_context *context,
                                  storm_status status,
                                  const struct storm_message_rows *rows,
                                  size_t n, const struct storm_cell_ref *from,
                                  void *out);

#endif /* STORM_MESH_MESSAGE_H */
