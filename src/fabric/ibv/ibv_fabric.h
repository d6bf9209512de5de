/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fabric over libibverbs: the state that the files ibv_*.c share.
 *
 * One reliable connected (RC) queue pair per active peer, made when a region
 * of that peer is attached or when the peer asks. Before that, ranks reach
 * each other by datagrams (UD) alone; whose address it is comes with the
 * descriptor, or with the peer's first datagram (FABRIC-14).
 *
 * How the lines of the contract (fabric_ops.h) are kept:
 *   FABRIC-3, FABRIC-4  Requests of one queue pair complete in order. Only some
 *                       ask for a completion; it stands for all before it.
 *                       The last one always does (ibv_data.c).
 *   FABRIC-6            The completion of an RDMA write means that the remote
 *                       adapter has answered, not that the data can be read at
 *                       the target. A `delivered` put is therefore followed by
 *                       a read of its last byte: the adapter's read cannot
 *                       overtake its writes.
 *   FABRIC-7, FABRIC-8  RC executes writes in the order of their posting, and
 *                       without IBV_ACCESS_RELAXED_ORDERING they reach memory
 *                       in it; eight aligned bytes are written at once.
 *   FABRIC-9            Atomics are those of the target's adapter, for every
 *                       rank, the target included: a rank reaches itself
 *                       through the adapter too.
 *   FABRIC-12           Connecting a pair needs polls of both ends, and
 *                       allocates; after that the target need not poll.
 *
 * Memory follows the active peers.
 */
#ifndef STORM_FABRIC_IBV_FABRIC_H
#define STORM_FABRIC_IBV_FABRIC_H

#include "base/pace.h"
#include "fabric/fabric_ops.h"
#include "fabric/ibv/ibv_library.h"

enum {
    VERBS_QUEUE = 128,         /* requests in flight to one peer, if possible */
    VERBS_COMPLETIONS = 16384, /* the same to all peers */
    VERBS_INLINE = 64,         /* bytes sent out of the request itself */
    VERBS_CHAIN = 16,          /* requests posted together */
    VERBS_SIGNAL_EVERY = 16,   /* requests per completion */
    VERBS_READS = 16,          /* reads and atomics in flight to one peer */
    VERBS_NAME_BYTES = 64,
    VERBS_ADDRESS_BYTES = 16,
};

/* Which device, port and address, and as whom; what the user did not choose is
 * "", 0, -1, 0. */
struct verbs_request {
    const char *device;
    int64_t port;
    int64_t gid_index;
    int64_t pkey_index;
    int64_t service_level;
};

/* An open device and the port in use. */
struct verbs_port {
    struct verbs_library library;
    struct ibv_context *context;
    char name[VERBS_NAME_BYTES];
    struct ibv_device_attr device;
    struct ibv_port_attr attr;
    uint8_t number;
    uint8_t gid_index;
    uint16_t pkey_index;
    uint8_t service_level;
    bool global; /* packets carry gids */
    union ibv_gid gid;
};

/* What a rank must know of another to connect. */
struct verbs_card {
    unsigned char gid[VERBS_ADDRESS_BYTES];
    uint32_t qpn; /* of its datagram queue pair */
    uint16_t lid;
    uint8_t mtu;   /* enum ibv_mtu */
    uint8_t reads; /* reads and atomics it can answer at a time */
};

/* Page-aligned memory that the adapter may access. */
struct verbs_memory {
    void *base;
    size_t map_bytes;
    struct ibv_mr *mr;
};

/* One accepted request. */
struct verbs_entry {
    struct storm_ticket *ticket; /* NULL: a later request counts for it */
    uint64_t *old_out;           /* atomics */
};

enum verbs_state { VERBS_CONNECTING, VERBS_UP, VERBS_BROKEN };

/* The queue pair to one peer. Counts of requests only grow. */
struct verbs_conn {
    int peer;
    uint32_t index; /* in `conns` */
    enum verbs_state state;
    struct ibv_qp *qp;

    /* data path */
    uint64_t accepted;  /* requests, chained ones included */
    uint64_t signalled; /* of them, up to the last that asks for completion */
    uint64_t done;
    struct verbs_entry *entry; /* by count modulo the depth */
    uint64_t *word;            /* the same: words to write, words read */
    struct verbs_memory words;
    uint32_t n_flushed; /* if broken: requests still to be returned */
    uint32_t n_chain;
    struct ibv_send_wr chain[VERBS_CHAIN];
    struct ibv_sge sge[VERBS_CHAIN];

    /* the list that poll works on */
    bool in_chained;
    struct verbs_conn *next_chained;

    /* connecting */
    struct verbs_card card; /* of the peer */
    struct ibv_ah *ah;
    uint32_t psn;
    bool knows_peer; /* its queue pair is known, ours is ready */
    double hello_s, pause_s, since_s;
    bool warned;
};

/* Datagrams for connecting. */
struct verbs_handshake {
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    struct verbs_memory memory; /* receive slots, then send slots */
    uint32_t n_sending, next_send;
    struct storm_pace pace; /* of looking for datagrams */
};

struct verbs_fabric {
    struct storm_fabric fabric;
    struct verbs_port port;
    struct ibv_pd *pd;
    struct ibv_cq *cq; /* of all connections */
    uint32_t depth;    /* of one connection, a power of two */
    uint32_t limit;    /* of all together */
    uint32_t inline_bytes;
    struct verbs_memory scrap; /* where bytes read for FABRIC-6 go */
    struct verbs_handshake handshake;
    struct verbs_card card; /* of this rank */
    uint64_t nonce;         /* rank 0's: marks the datagrams of this fabric */

    struct verbs_conn **conns; /* active */
    size_t n_conns, conns_capacity;
    size_t n_connecting;
    uint32_t n_flying;   /* accepted and not done, all together */
    double ask_s;        /* when to ask silent peers again */
    storm_status failed; /* what poll returns from now on, or STORM_OK */
    struct verbs_conn *chained;
};

struct verbs_region {
    struct storm_region region;
    struct verbs_memory memory;
};

struct verbs_remote {
    struct storm_remote remote;
    struct verbs_conn *conn;
    uint64_t address;
    uint32_t rkey;
};

extern const struct storm_fabric_data_ops verbs_data_ops;

static inline struct verbs_fabric *verbs_of(struct storm_fabric *fabric)
{
    return (struct verbs_fabric *)fabric;
}

/* ibv_device.c */

/* Opens the device and port asked for, or the first that can be used.
 * STORM_ERR_NOSUP and the reason. */
storm_status verbs_port_open(const struct verbs_request *request,
                             struct verbs_port *port_out, char *reason_out,
                             size_t reason_bytes);
void verbs_port_close(struct verbs_port *port);
void verbs_survey(void (*line)(void *self, const char *text), void *self);

/* ibv_fabric.c: the fabric has failed for good. Logs the reason, once. */
storm_status verbs_fail(struct verbs_fabric *f, const char *what, int error);

/* Tries the device on the next rank. Collective. STORM_ERR_NOSUP, logged: it
 * does not do what the rings need. */
storm_status verbs_selftest(struct verbs_fabric *f);

/* ibv_memory.c: both log what fails. */
storm_status verbs_memory_make(struct verbs_fabric *f, size_t bytes,
                               struct verbs_memory *memory_out);
void verbs_memory_free(struct verbs_fabric *f, struct verbs_memory *memory);

/* Logs that the device does not grant something, and what a user can do about
 * it: everything that it grants costs locked memory. */
void verbs_log_denied(const struct verbs_fabric *f, int error,
                      const char *format, ...) STORM_PRINTF(3, 4);

/* ibv_connect.c */

/* Finds queue sizes that the device grants; makes the datagram queue pair. */
storm_status verbs_handshake_open(struct verbs_fabric *f);
void verbs_handshake_close(struct verbs_fabric *f);

/* The connection to a rank, or NULL. */
struct verbs_conn *verbs_conn_find(const struct verbs_fabric *f, int peer);

/* The connection to a rank, begun if there is none. Does not wait. */
storm_status verbs_conn_make(struct verbs_fabric *f, int peer,
                             const struct verbs_card *card,
                             struct verbs_conn **conn_out);
void verbs_conn_free(struct verbs_fabric *f, struct verbs_conn *conn);

/* Reads datagrams, sends those that are due; sets `failed`. */
void verbs_connect_poll(struct verbs_fabric *f);

#endif /* STORM_FABRIC_IBV_FABRIC_H */
