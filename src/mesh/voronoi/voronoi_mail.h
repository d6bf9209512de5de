/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Letters of any length between ranks, all at once, and what every rank tells
 * every other. Whatever waits here ends with STORM_ERR_LOST when a rank is lost
 * (storm_context_wait); memory that MPI has by then is left to it.
 */
#ifndef STORM_MESH_VORONOI_MAIL_H
#define STORM_MESH_VORONOI_MAIL_H

#include <stddef.h>
#include <stdint.h>

#include <storm/context.h>

#include "base/env.h"

/* Letters in order of rank; the words are of 8 bytes. */
struct voronoi_letter {
    int rank;
    size_t first, n_words;
};

struct voronoi_mail {
    struct voronoi_letter *letters;
    size_t n_letters;
    uint64_t *words;
};

/*
 * Sends each letter of `out`, at most one per rank, and fills `in_out` with
 * those that came; release both also after an error. Collective, blocks; the
 * same kind of status on every rank. `status` is how this rank has fared
 * before; if any rank's is an error nothing is sent. After STORM_ERR_LOST both
 * are empty.
 */
storm_status voronoi_mail_exchange(const struct storm_context *context,
                                   storm_status status,
                                   struct voronoi_mail *out,
                                   struct voronoi_mail *in_out);
void voronoi_mail_release(const struct storm_env *env,
                          struct voronoi_mail *mail);

/* `bytes` from every rank, in order of rank. Collective, blocks; the same kind
 * of status on every rank. */
storm_status voronoi_mail_gather(const struct storm_context *context,
                                 const void *mine, size_t bytes, void *all_out);

#endif /* STORM_MESH_VORONOI_MAIL_H */
