/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fabric over libfabric: what its files share.
 *
 * One endpoint for reliable datagrams, one table of addresses, one completion
 * queue. The table gets an address with the first descriptor of its rank
 * (FABRIC-14). An operation in flight has a struct ofi_op, taken from a
 * pool made at the start; completions lead back to it by its context.
 *
 * Words (FABRIC-8). libfabric promises whole words for atomics alone. Hardware
 * and shared memory write 8 aligned bytes at once; a provider on top of a byte
 * stream may place the first half of a word now and the second one with the
 * next packet. There, words travel differently:
 *
 *   put_word   a message, stored by the target's poll. It stays in the stream
 *              behind the puts before it, and unlike an atomic needs no answer
 *   get        FI_ATOMIC_READ for the aligned words, a read for what is left
 *
 * A completed operation needs no further call of its origin: a rank may put a
 * word, see it complete and never poll again. Injected words have no completion
 * and may wait in a stream that is full; so they are not injected there.
 */
#ifndef STORM_FABRIC_OFI_INTERNAL_H
#define STORM_FABRIC_OFI_INTERNAL_H

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include "base/pace.h"
#include "fabric/fabric_ops.h"

enum {
    OFI_MAX_OPS = 512, /* in flight, unless the provider allows less */
    OFI_MIN_OPS = 16,
    OFI_CQ_BATCH = 32,
    OFI_READ_EVERY = 4, /* polls of a rank that sends over a byte stream */
    OFI_INBOX = 64,     /* messages that one poll can receive */
    OFI_MAX_CANDIDATES = 24,
    OFI_NAME_BYTES = 64,     /* of a provider */
    OFI_ADDRESS_BYTES = 248, /* of an endpoint, max */
};

#define OFI_READ_EVERY_S 5e-5 /* or so long after the last time */

/* The functions of libfabric that are not reached through its objects. */
struct ofi_library {
    int (*getinfo)(uint32_t version, const char *node, const char *service,
                   uint64_t flags, const struct fi_info *hints,
                   struct fi_info **info_out);
    void (*freeinfo)(struct fi_info *info);
    struct fi_info *(*dupinfo)(const struct fi_info *info); /* NULL: empty */
    int (*fabric)(struct fi_fabric_attr *attr, struct fid_fabric **fabric_out,
                  void *context);
    const char *(*strerror)(int error);
};

enum ofi_kind { OFI_PUT, OFI_GET, OFI_WORD, OFI_ATOMIC, OFI_ARRIVAL };

/* How put_word is done. */
enum ofi_word_method {
    OFI_WORD_WRITE,   /* completes when delivered */
    OFI_WORD_ATOMIC,  /* the same on a byte stream */
    OFI_WORD_INJECT,  /* if ordered; complete at once */
    OFI_WORD_MESSAGE, /* the same on a byte stream; complete when sent */
};

/* An operation in flight. */
struct ofi_op {
    struct fi_context2 context; /* first: the provider's while in flight */
    enum ofi_kind kind;
    int peer;
    struct storm_ticket *ticket;
    uint64_t *old_out;   /* of an atomic */
    struct ofi_op *next; /* in the list of free or of stalled ones */
    /* A get that takes several pieces, one after the other. */
    struct storm_transfer get;
    uint64_t done, piece; /* bytes */
};

/* A word that travels as a message. */
struct ofi_word_message {
    uint64_t region; /* its id at the target */
    uint64_t offset;
    uint64_t word;
};

/* Registered memory of an operation. */
struct ofi_words {
    uint64_t operand, expected, old;
    struct ofi_word_message message;
};

struct ofi_region {
    struct storm_region region;
    size_t mapped_bytes;
    struct fid_mr *mr;
    void *desc;
    uint64_t key;
    uint64_t id; /* never used twice; its low half is a place in the list */
};

struct ofi_remote {
    struct storm_remote remote;
    fi_addr_t addr;
    uint64_t base, key, id;
};

/* Of an endpoint, as libfabric writes it. */
struct ofi_address {
    unsigned char name[OFI_ADDRESS_BYTES];
};

/* A rank whose address is in the table. */
struct ofi_peer {
    int rank;
    fi_addr_t addr;
};

/* What a descriptor holds. */
struct ofi_card {
    uint64_t base, key, bytes, id;
    struct ofi_address owner;
};

struct ofi_fabric {
    struct storm_fabric fabric;
    struct ofi_library library;
    struct fi_info *info;
    char name[OFI_NAME_BYTES]; /* of the provider */
    struct fid_fabric *fid;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    struct ofi_address address; /* of ep */
    struct ofi_peer *peers;     /* whose memory was ever attached */
    size_t n_peers, peer_capacity;
    uint64_t next_key;

    bool stream; /* see above */
    enum ofi_word_method word_method;
    size_t read_words; /* of one FI_ATOMIC_READ */

    struct ofi_op *ops;
    size_t n_ops;
    struct ofi_op *free_ops, *stalled;
    struct storm_region *words; /* struct ofi_words for each op */

    struct ofi_region **region; /* by the low half of their id; may be NULL */
    size_t n_regions, region_capacity;
    uint64_t n_ids;

    struct ofi_op *arrivals; /* receives in flight, on a byte stream */
    size_t n_arrivals;
    struct ofi_op *unposted;    /* to be posted again */
    struct storm_region *inbox; /* struct ofi_word_message for each */

    bool has_posted; /* on a byte stream, since the queue was last read */
    struct storm_pace pace; /* of reading it then */

    int n_errors;
    storm_status broken; /* for good */
};

static inline struct ofi_fabric *ofi_of(struct storm_fabric *fabric)
{
    return (struct ofi_fabric *)fabric;
}

/* ---- ofi_library.c --------------------------------------------------------*/

/* Sets what libfabric reads from the environment. */
void ofi_prepare(int n_ranks);

/* Loads libfabric, for ever. STORM_ERR_NOSUP and the reason. */
storm_status ofi_library_open(struct ofi_library *library, char *reason_out,
                              size_t reason_bytes);

/* ---- ofi_choice.c: which provider -----------------------------------------*/

/* Collective: the provider of all ranks, to be freed by freeinfo. What is
 * wrong is logged. */
storm_status ofi_choose(const struct storm_env *env,
                        const struct storm_boot *boot,
                        struct ofi_library *library_out,
                        struct fi_info **info_out);

/* Can this provider be what storm_fabric_caps.ordered means? Only if
 * it passes the conformance suite; the self-test checks again. */
bool ofi_known_ordered(const struct fi_info *info);

/* Does it move words through a byte stream? */
bool ofi_is_stream(const struct fi_info *info);

/* Does hardware serve remote memory? */
bool ofi_is_hardware(const struct fi_info *info);

storm_status ofi_probe(char *reason_out, size_t reason_bytes);
bool ofi_offloads(void);
void ofi_survey(void (*line)(void *self, const char *text), void *self);

/* ---- ofi_data.c: operations -----------------------------------------------*/

extern const struct storm_fabric_data_ops ofi_data;

/* Posts receives for all `unposted` arrivals, as far as there is room. A
 * negative number of libfabric: it failed. */
int ofi_post_arrivals(struct ofi_fabric *f);

/* ---- ofi_selftest.c -------------------------------------------------------*/

/*
 * Collective, on an open fabric: tries all kinds of operations against the next
 * rank and sets the capabilities. STORM_ERR_NOSUP, logged: the provider does
 * not do what it reports.
 */
storm_status ofi_selftest(struct ofi_fabric *f);

#endif /* STORM_FABRIC_OFI_INTERNAL_H */
