/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided memory: what a fabric provides, and all that the rest of storm may
 * assume. Written for remote memory over a network; shared memory is one
 * implementation. tests/conform checks every line on every fabric.
 *
 *   FABRIC-1   Memory from alloc is zeroed, aligned to 64 bytes, and reachable
 *              by any peer that attaches its descriptor, until release.
 *   FABRIC-2   A descriptor is plain bytes; it may travel by any means. attach
 *              is local and does not need the owner's help.
 *   FABRIC-3   Every accepted operation completes exactly once: its ticket's
 *              pending count goes up when it is accepted and down, inside poll
 *              or at once, when it completes. A failed one sets the ticket's
 *              status.
 *   FABRIC-4   An operation answers STORM_AGAIN if there is no room for it now;
 *              it has then no effect at all. poll makes room.
 *   FABRIC-5   The local memory of a put belongs to the fabric until its
 *              completion, that of a get or an atomic's result too. A word of
 *              put_word is copied.
 *   FABRIC-6   Completion of a put means that its local memory may be reused.
 *              With `delivered` set it means that the data can be read at the
 *              target; so does the completion of a put_word if not
 *              caps.ordered, and of every get and atomic.
 *   FABRIC-7   If caps.ordered, a put_word becomes visible only after all
 *              earlier puts and direct stores of this rank to that peer, to any
 *              address. If not, nothing is ordered but what `delivered`
 *              completions order.
 *   FABRIC-8   put_word, the 8-byte aligned words of a get, and atomics are
 *              never torn. A word read by the owner with load-acquire and found
 *              to be the one of a put_word makes all that FABRIC-7 puts before
 *              it readable.
 *   FABRIC-9   fetch_add and compare_swap are atomic with respect to each other
 *              from all ranks on the same word.
 *   FABRIC-10  A get that completes returns words that were in the target's
 *              memory after the get was issued; and whatever the owner read
 *              before it stored (release) such a word may be overwritten by
 *              puts issued afterwards.
 *   FABRIC-11  If caps.direct, `direct` of a remote is its memory, for plain
 *              loads and stores of this rank and for storm_stream_copy;
 *              otherwise it is NULL.
 *   FABRIC-12  Nothing here blocks, allocates or prints on the data path (put
 *              .. poll) and nothing needs the target's help but its own calls
 *              of poll.
 *   FABRIC-13  Operations to this rank itself work like those to any other.
 *   FABRIC-14  A descriptor also holds where its owner is in the network: two
 *              ranks know nothing of each other before the first attach of one
 *              to memory of the other. What open sends, and memory, do not
 *              grow with the number of ranks but as its logarithm or with the
 *              peers attached; where the network itself wants more, the fabric
 *              says so.
 *   FABRIC-15  The reason why alloc or attach answers STORM_ERR_NOMEM is logged
 *              at refusal_level: an error, unless the caller has set it lower,
 *              because it can go on without.
 */
#ifndef STORM_FABRIC_OPS_H
#define STORM_FABRIC_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <storm/status.h>

#include <storm_fabrics.h>

#include "base/boot.h"
#include "base/env.h"

struct storm_fabric_caps {
    bool ordered; /* FABRIC-7 */
    bool direct;  /* FABRIC-11 */
    bool async;   /* data land while the target does not call poll */
    bool instant; /* every operation is done when its call returns */
};

/* Counts operations in flight. Zero it before use. */
struct storm_ticket {
    uint32_t pending;
    storm_status status; /* the last error, or STORM_OK */
};

/* Memory of this rank that peers may reach. Backends embed it first. */
struct storm_region {
    void *base;
    size_t bytes;
};

/* A peer's region, reachable from here. Backends embed it first. */
struct storm_remote {
    struct storm_fabric *fabric;
    int peer;
    void *direct; /* FABRIC-11 */
    size_t bytes;
};

enum { STORM_DESC_BYTES = 280 };

/* What a peer must know to reach a region: FABRIC-14. */
struct storm_region_desc {
    unsigned char bytes[STORM_DESC_BYTES];
};

/* One put or get. */
struct storm_transfer {
    struct storm_remote *remote;
    uint64_t remote_offset;
    struct storm_region *local;
    uint64_t local_offset;
    size_t bytes;
    bool delivered; /* FABRIC-6; puts alone */
    struct storm_ticket *ticket;
};

/* One atomic: old_out gets the word that was there. */
struct storm_atomic {
    struct storm_remote *remote;
    uint64_t remote_offset; /* a multiple of 8 */
    uint64_t operand;       /* added, or stored if the word equals `expected` */
    uint64_t expected;
    uint64_t *old_out;
    struct storm_ticket *ticket;
};

struct storm_fabric;

/* The data path. */
struct storm_fabric_data_ops {
    storm_status (*put)(const struct storm_transfer *transfer);
    storm_status (*get)(const struct storm_transfer *transfer);
    storm_status (*put_word)(struct storm_remote *remote, uint64_t offset,
                             uint64_t word, struct storm_ticket *ticket);
    storm_status (*fetch_add)(const struct storm_atomic *atomic);
    storm_status (*compare_swap)(const struct storm_atomic *atomic);
    /* Drives the network and completes operations. A negative status is final:
     * the fabric has failed. */
    storm_status (*poll)(struct storm_fabric *fabric);
    /* Called instead of poll when a rank has found nothing to do n_empty
     * times in a row; may yield the core for a while. */
    storm_status (*idle)(struct storm_fabric *fabric, uint64_t n_empty);
};

/* Embedded first in every implementation's own struct. */
struct storm_fabric {
    const struct storm_fabric_ops *ops;
    const struct storm_fabric_data_ops *data;
    struct storm_fabric_caps caps;
    const struct storm_env *env;
    struct storm_boot boot;
    /* Device or provider, such as one of libfabric; NULL: none */
    const char *provider;
    storm_log_level refusal_level; /* FABRIC-15 */
    uint64_t pinned_bytes;         /* memory locked for the network */
    uint64_t pinned_bytes_peak;
};

/* Lifecycle and memory. */
struct storm_fabric_ops {
    const char *name; /* the word used in options, logs and test names */

    /* Announces how many ranks there will be, before any other call: some
     * libraries size their tables when they are first used. Local. */
    void (*prepare)(int n_ranks);

    /* Can it work on this machine? Local. If not, STORM_ERR_NOSUP and a reason
     * that a user can act on. */
    storm_status (*probe)(char *reason_out, size_t reason_bytes);

    /* Does the network here access remote memory without a processor?
     * Local. */
    bool (*offloads)(void);

    /* Calls line for each device or provider found here, best first, and
     * whether storm can use it. Local. */
    void (*survey)(void (*line)(void *self, const char *text), void *self);

    /* Collective; env and what boot points to must outlive the fabric. All
     * ranks get the same status. */
    storm_status (*open)(const struct storm_env *env,
                         const struct storm_boot *boot,
                         struct storm_fabric **fabric_out);

    /* Collective. All tickets must be at zero. */
    void (*close)(struct storm_fabric *fabric);

    storm_status (*alloc)(struct storm_fabric *fabric, size_t bytes,
                          struct storm_region **region_out);
    void (*release)(struct storm_fabric *fabric, struct storm_region *region);
    void (*describe)(const struct storm_fabric *fabric,
                     const struct storm_region *region,
                     struct storm_region_desc *desc_out);
    storm_status (*attach)(struct storm_fabric *fabric, int peer,
                           const struct storm_region_desc *desc,
                           struct storm_remote **remote_out);
    void (*detach)(struct storm_fabric *fabric, struct storm_remote *remote);
};

/* All fabrics of this build, best first, ended by NULL;
 * cmake/StormFabrics.cmake is the list, <storm_fabrics.h> declares them one by
 * one. */
extern const struct storm_fabric_ops *const storm_fabric_list[];

/* For slots that a fabric has no function for: nothing to prepare, no devices,
 * no offload. */
void storm_no_prepare(int n_ranks);
bool storm_no_offloads(void);
void storm_no_survey(void (*line)(void *self, const char *text), void *self);

#endif /* STORM_FABRIC_OPS_H */
