/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simulated time. All ranks are actors of SimGrid in one process, and one runs
 * at a time: time stands still while it runs, and passes only in the calls
 * below and in those of MPI.
 *
 *   SIMTIME-1  A rank may be ahead of the simulation by what it has spent since
 *              it last let the others run, at most STORM_SIM_AHEAD_S: it then
 *              sees an arrival that much later, and saves a switch of actors.
 *   SIMTIME-2  An action runs at its date, between the actors' turns. Actions
 *              of one date run in the order in which they were set.
 *   SIMTIME-3  A rank that waits runs again at once when it is woken; a call of
 *              wake while it does not wait is remembered by its next wait.
 *   SIMTIME-4  A rank is freed when its actor has ended and none of its alarms
 *              is still to ring.
 */
#ifndef STORM_BASE_SIM_TIME_H
#define STORM_BASE_SIM_TIME_H

#include <stddef.h>
#include <stdint.h>

#define STORM_SIM_AHEAD_S 2e-6 /* SIMTIME-1 */
/* The shortest wait: in none at all, nothing else would ever happen. */
#define STORM_SIM_MIN_S 1e-9

/* What simulated machines cost: properties of the platform's root zone. */
struct storm_sim_costs {
    double latency_s;      /* of a message between nodes */
    double bandwidth;      /* of a node's adapter, in each direction, bytes/s */
    double message_s;      /* the adapter's time for a message, at least */
    double near_latency_s; /* within a node */
    double near_bandwidth; /* of one rank's copy there, bytes/s */
    double post_s;         /* a rank's time for an operation */
    double poll_s;         /* a rank's time for a poll that finds nothing */
    double atomic_s;       /* the adapter's time for an atomic */
    double send_s;         /* a rank's time for a message of MPI */
    double receive_s;      /* for one that it receives */
    double test_s;         /* for a test of a request of MPI */
    double copy_bandwidth; /* of MPI's copies by a rank, bytes/s */
    double eager_bytes;    /* larger messages wait until they are matched */
    double slow_node;      /* the adapter of this node takes longer; -1: none */
    double slow_factor;    /* so many times */
};

/* An adapter, shared by the ranks of a node (SIMNET-1). */
struct storm_sim_node {
    double sends, receives, atomics; /* busy until then */
    double slowness;                 /* 1: as all others */
};

/* What a rank has sent: messages of MPI, one-sided operations, the bytes of
 * both; and the collective operations that it has called. */
struct storm_sim_counts {
    uint64_t messages, operations, bytes, collectives;
};

struct storm_sim_rank; /* opaque */

/* The rank that calls; made when it first does. */
struct storm_sim_rank *storm_sim_self(void);
const struct storm_sim_costs *storm_sim_costs(void);
const struct storm_sim_costs *
storm_sim_costs_of(const struct storm_sim_rank *rank);
struct storm_sim_counts *storm_sim_counts(void);
/* The machine that a rank is on: the same pointer for all its ranks. */
struct storm_sim_node *storm_sim_node_of(const struct storm_sim_rank *rank);
/* The number of this rank in MPI_COMM_WORLD. */
int storm_sim_world_rank(void);
/* The rank of a number; NULL if it has not called storm_sim_self yet. */
struct storm_sim_rank *storm_sim_rank_at(int world_rank);
/* What the messages of a rank are kept in: NULL at first, freed with it. */
void **storm_sim_queue(struct storm_sim_rank *rank);
/* The present of this rank, in seconds; that of the simulation, in actions. */
double storm_sim_now(void);
double storm_sim_date(void);

/* This rank computes for so long. */
void storm_sim_spend(double seconds);
/* Lets the others run up to the present of this rank. */
void storm_sim_meet(void);
/* Until it is woken, or for so long. */
void storm_sim_wait(double seconds);
void storm_sim_wake(struct storm_sim_rank *rank);
/* SIMTIME-4 */
void storm_sim_hold(struct storm_sim_rank *rank);
void storm_sim_release(struct storm_sim_rank *rank);

/* SIMTIME-2. A date that has passed is the present. */
void storm_sim_at(double date_s, void (*action)(void *data), void *data);

#endif /* STORM_BASE_SIM_TIME_H */
