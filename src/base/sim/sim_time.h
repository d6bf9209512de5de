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
 */
#ifndef STORM_BASE_SIM_TIME_H
#define STORM_BASE_SIM_TIME_H

#include <stddef.h>
#include <stdint.h>

#define STORM_SIM_AHEAD_S 2e-6

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
};

/* What a rank has sent by MPI, where the program counts it. */
struct storm_sim_counts {
    uint64_t messages, collectives;
};

struct storm_sim_rank; /* opaque */

/* The rank that calls; made when it first does. */
struct storm_sim_rank *storm_sim_self(void);
const struct storm_sim_costs *storm_sim_costs(void);
struct storm_sim_counts *storm_sim_counts(void);
/* The present of this rank, in seconds. */
double storm_sim_now(void);

/* This rank computes for so long. */
void storm_sim_spend(double seconds);
/* Lets the others run up to the present of this rank. */
void storm_sim_meet(void);
/* Until it is woken, or for so long. */
void storm_sim_wait(double seconds);
void storm_sim_wake(struct storm_sim_rank *rank);

/* SIMTIME-2. A date that has passed is the present. */
void storm_sim_at(double date_s, void (*action)(void *data), void *data);

/* Of the machine that this rank is on: the same pointer for all its ranks,
 * `bytes` of zeros at first. NULL: no memory. */
void *storm_sim_node(size_t bytes);

#endif /* STORM_BASE_SIM_TIME_H */
