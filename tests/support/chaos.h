/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fabric around another that does whatever the contract (fabric_ops.h) lets
 * a network do, and never more:
 *
 *   - operations wait, are cut into pieces, and reach the inner fabric in any
 *     order that FABRIC-7 leaves open: with `ordered`, a put_word after all
 *     earlier puts and put_words to its peer; everything else, atomics
 *     included, overtakes;
 *   - completions come late and in any order, now and then at once; a put that
 *     is not `delivered`, and with `ordered` a put_word, may complete long
 *     before it lands; without `ordered` a put_word completes when it has;
 *   - the source of a put is read late, at the latest when it completes, so
 *     that a buffer reused too early shows;
 *   - the destinations of gets and atomics hold junk until they complete;
 *   - STORM_AGAIN comes at random, and then until the next poll;
 *   - some operations land only after their target has called poll;
 *   - memory is never direct;
 *   - on request a peer is lost after a while: what is then sent to it fails.
 *
 * The same seed gives the same behaviour on each rank, as far as the inner
 * fabric and the other ranks do the same.
 */
#ifndef STORM_TESTS_CHAOS_H
#define STORM_TESTS_CHAOS_H

#include "fabric/fabric_ops.h"

struct chaos_params {
    uint64_t seed;
    bool ordered;        /* STORM_ERR_NOSUP if the inner fabric is not */
    uint64_t lost_after; /* operations of a rank; 0: no rank is lost */
    int lost_peer;
};

/* Opens `inner` and wraps it; close as any fabric. Collective. */
storm_status chaos_open(const struct storm_fabric_ops *inner,
                        const struct chaos_params *params,
                        const struct storm_env *env,
                        const struct storm_boot *boot,
                        struct storm_fabric **fabric_out);

/* The seed a user asked for with STORM_CHAOS_SEED, or 1. */
uint64_t chaos_seed(void);

/* Tables, for code that opens its fabric itself; the seed is chaos_seed(). */
extern const struct storm_fabric_ops chaos_shm;
extern const struct storm_fabric_ops chaos_shm_ordered;
extern const struct storm_fabric_ops chaos_shm_losing; /* rank 1, soon */

/* The fabric of this build that STORM_BACKEND names, shm if it names none; and
 * tables around that one. The last is called ofi itself: STORM_BACKEND chooses
 * it if it is the one in the list. */
const struct storm_fabric_ops *chaos_inner(void);
extern const struct storm_fabric_ops chaos_any;
extern const struct storm_fabric_ops chaos_any_ordered;
extern const struct storm_fabric_ops chaos_as_ofi;

#endif /* STORM_TESTS_CHAOS_H */
