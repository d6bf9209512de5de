/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records between two ranks: what the engine may assume of a channel, and all
 * that it may assume. Two kinds: `ring` over any fabric, `p2p` over MPI
 * messages.
 *
 *   CHANNEL-1  Every record committed is delivered to its rank exactly once, if
 *              all ranks keep calling progress and take. No order among
 *              records.
 *   CHANNEL-2  Nothing blocks. Once peers are known and rings have their size,
 *              nothing allocates.
 *   CHANNEL-3  reserve lends room for a span of records to one peer; commit
 *              ends the span, with the number written; publish makes all
 *              committed records travel. At most one span per peer is open, and
 *              neither reserve nor publish is called while it is. STORM_AGAIN
 *              from reserve: no room now, or the route to that peer is not
 *              ready yet.
 *   CHANNEL-4  take lends records that have arrived, all of one peer, to read
 *              and to write; release frees the slots, of the first n if n has
 *              been made smaller; the others come again. One arrival at a time;
 *              in between peer, reserve, commit and publish may be called,
 *              nothing else.
 *   CHANNEL-5  take hands out only records published by their sender in the
 *              step that begin_step named last; those of the next step wait.
 *              The caller promises that when it begins a step all records of
 *              the one before are taken, everywhere.
 *   CHANNEL-6  A wave message is a few words to a neighbour in the tree of
 *              ranks, with a rising number. read finds the newest; an older one
 *              may be overwritten unread. The words belong to that number if
 *              the sender waits for an answer before it sends the next.
 *   CHANNEL-7  A negative status is final: only close is allowed then.
 *   CHANNEL-8  With sync_growth, progress returns STORM_AGAIN while this rank
 *              has asked for room and has no answer. The caller then continues
 *              with control, take and progress alone, until it returns
 *              STORM_OK. An answer always comes, room or not, if all ranks call
 *              control and take.
 */
#ifndef STORM_CHANNEL_OPS_H
#define STORM_CHANNEL_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <storm/status.h>

#include "base/boot.h"
#include "base/env.h"

struct storm_channel;
struct storm_control;
struct storm_fabric_ops;

/* Slots for records to one peer. */
struct storm_span {
    unsigned char *records; /* aligned to 16 bytes */
    size_t n;
    bool far; /* another core reads it next: storm_stream_copy is faster */
};

/* Records of one peer that have arrived. */
struct storm_arrival {
    unsigned char *records; /* aligned to 16 bytes */
    size_t n;
    int rank;      /* the sender */
    uint32_t slot; /* for the channel's own use */
};

/*
 * The tree of ranks along which wave messages travel.
 *
 *   TREE-1  The lowest rank of a node is its leader. Leaders are in a binary
 *           tree, in the order of their ranks, and the other ranks of a node in
 *           another below their leader: only links between leaders cross the
 *           network. Rank 0 is the root.
 *   TREE-2  The parent of a rank has it as a child, under the link `back`.
 */
enum storm_link {
    STORM_LINK_PARENT = 0,
    STORM_LINK_CHILDREN = 1, /* the first of them */
    STORM_LINK_FAR_0 = 1,    /* leaders of other nodes */
    STORM_LINK_FAR_1 = 2,
    STORM_LINK_NEAR_0 = 3, /* ranks of this node */
    STORM_LINK_NEAR_1 = 4,
    STORM_N_LINKS = 5
};

enum { STORM_WAVE_WORDS = 6 };

/* The neighbours of one rank in the tree. */
struct storm_tree {
    int rank[STORM_N_LINKS]; /* -1: none */
    enum storm_link back;    /* the link under which the parent sees it */
};

/* Where a rank is: number i_near of the n_near ranks of a node, which is number
 * i_far of n_far; ranks by these numbers (NULL: the numbers themselves). `far`
 * is used for leaders alone. */
struct storm_tree_place {
    int i_near, n_near, i_far, n_far;
    const int *near, *far;
};

struct storm_tree storm_tree_at(const struct storm_tree_place *place);

/* The tree of ranks that are all on one node. */
struct storm_tree storm_tree_one_node(int rank, int size);

struct storm_channel_params {
    const struct storm_env *env;
    const struct storm_boot *boot;      /* p2p: of storm_boot_mpi_open */
    const struct storm_boot *step_boot; /* the same ranks, for end_step alone */
    const struct storm_tree *tree;      /* NULL: all ranks are on one node */
    struct storm_control *control;      /* ring: create, grow; all: failures */
    const struct storm_fabric_ops *fabric; /* ring only */
    /* Ring only, NULL: none. Another fabric for ranks of the same node: its
     * boot, and the number of every rank in that boot, -1 for ranks of other
     * nodes. */
    const struct storm_fabric_ops *near;
    const struct storm_boot *near_boot;
    const int32_t *near_rank;
    size_t record_bytes;
    bool paper;        /* ring: protocol of the paper */
    size_t slots;      /* room to start with, per peer */
    size_t batch;      /* max records per publish */
    size_t memory_cap; /* bytes in rings into this rank; 0: none */
    double growth;     /* factor */
    bool sync_growth;  /* ring: CHANNEL-8 */
};

static inline struct storm_tree
storm_tree_given(const struct storm_channel_params *params)
{
    return params->tree
               ? *params->tree
               : storm_tree_one_node(params->boot->rank, params->boot->size);
}

struct storm_channel_stats {
    uint64_t batches;
    uint64_t growths;
    uint64_t control_polls;
    uint64_t ring_bytes, ring_bytes_peak; /* into this rank */
    uint64_t pinned_bytes_peak;           /* locked for a network */
};

struct storm_channel_data_ops {
    /* Number of the peer that is `rank`, for the calls below; prepares the
     * route to it on first use (and may then allocate). */
    storm_status (*peer)(struct storm_channel *channel, int rank,
                         uint32_t *peer_out);
    storm_status (*reserve)(struct storm_channel *channel, uint32_t peer,
                            struct storm_span *span_out);
    void (*commit)(struct storm_channel *channel, uint32_t peer, size_t n);
    storm_status (*publish)(struct storm_channel *channel, uint32_t peer);
    storm_status (*take)(struct storm_channel *channel,
                         struct storm_arrival *arrival_out);
    storm_status (*release)(struct storm_channel *channel,
                            const struct storm_arrival *arrival);
};

struct storm_channel_wave_ops {
    /* STORM_AGAIN: the last one to this link has not been sent yet. */
    storm_status (*send)(struct storm_channel *channel, enum storm_link link,
                         const uint64_t words[STORM_WAVE_WORDS],
                         uint64_t number);
    /* number_out 0: none yet. words_out may be NULL. */
    storm_status (*read)(struct storm_channel *channel, enum storm_link link,
                         uint64_t words_out[STORM_WAVE_WORDS],
                         uint64_t *number_out);
};

struct storm_channel_ops {
    const char *name;
    /* Collective, same status on every rank. Everything params points to must
     * outlive the channel. */
    storm_status (*open)(const struct storm_channel_params *params,
                         struct storm_channel **channel_out);
    /* Collective. No rank may be inside a step that can still succeed. */
    void (*close)(struct storm_channel *channel);
    storm_status (*begin_step)(struct storm_channel *channel, uint64_t step);
    /* After the last wave message of a step: STORM_AGAIN until nothing that
     * this rank has sent needs its calls any more. Only then may it stop
     * calling progress. */
    storm_status (*end_step)(struct storm_channel *channel);
    /* Reports to the other ranks, by whatever still works, that this one has
     * failed; their control then returns STORM_ERR_PEER. */
    void (*give_up)(struct storm_channel *channel);
    /* Drives the fabric or the messages. STORM_AGAIN: CHANNEL-8. */
    storm_status (*progress)(struct storm_channel *channel);
    /* Polls for control messages: create, grow, shrink. Costs more than
     * progress and may call MPI; needed from time to time. */
    storm_status (*control)(struct storm_channel *channel);
    /* To call when n_empty polls in a row have found nothing. */
    storm_status (*idle)(struct storm_channel *channel, uint64_t n_empty);
    /* Shrinks what is larger than its use since the last call needs. */
    storm_status (*trim)(struct storm_channel *channel);
    void (*stats)(const struct storm_channel *channel,
                  struct storm_channel_stats *stats_out);
};

/* How records travel, for logs and reports; "": none. */
struct storm_channel_names {
    const char *backend;
    const char *provider; /* of the network, or its device */
    const char *near;     /* the backend within a node, if it is another */
    const char *protocol;
};

/* Embedded first in every implementation's own struct. */
struct storm_channel {
    const struct storm_channel_ops *ops;
    const struct storm_channel_data_ops *data;
    const struct storm_channel_wave_ops *wave;
    struct storm_channel_names names; /* from open on */
    struct storm_tree tree;           /* likewise */
};

extern const struct storm_channel_ops storm_channel_ring;
extern const struct storm_channel_ops storm_channel_p2p;

#endif /* STORM_CHANNEL_OPS_H */
