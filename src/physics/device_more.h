/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Implicit Monte Carlo on devices where more than flights, collisions and walks
 * between plain walls happens: what kernels of that kind read beyond
 * device_imc.h, and the turns of the host.
 *
 *   RUN-5  A kernel does not know every event. Before one that it does not know
 *          it leaves the packet as it is, with IMC_FATE_TURN; the host does
 *          that one event by its own kernel, and the packet goes on in the next
 *          batch. By KERNEL-1 the bits are the same. These are
 *            - points of cells and faces where cells are no boxes along the
 *              axes: a packet that diffuses comes to the end of the step
 *              without a place, or flies from there;
 *            - faces of cells at a wall that reflects in parts or asks the
 *              host, or where the place of a tally's surface changes.
 *          Sums of the host's events are the host's, see RUN-3.
 *   RUN-6  A call of poll does so many of these events that waves are answered
 *          in time, and says STORM_AGAIN while there are more.
 */
#ifndef STORM_PHYSICS_DEVICE_MORE_H
#define STORM_PHYSICS_DEVICE_MORE_H

#include "physics/device_run.h"
#include "physics/imc.h"

enum {
    DEVICE_TURNS_MAX = 4096, /* events of the host in a call of poll */
    DEVICE_MORE_ARRAYS = 32
};

/* Copies for a step, or sums of one. */
struct device_array {
    storm_device_address at;
    size_t bytes;     /* that there is room for */
    const void *put;  /* copied before the step; NULL: */
    storm_exact *sum; /* or zero before it, and added to this after it */
    size_t n_bytes;   /* in this step; 0: not there */
};

struct device_imc_job;

struct device_more {
    struct device_array array[DEVICE_MORE_ARRAYS];
    unsigned char *turns; /* of cells: imc_track */
    size_t n_turns;
    struct imc_ddmc ddmc; /* with addresses on the device */
    void *sums;           /* as they are got */
    size_t sums_bytes;
    void **packet; /* of a call of the host's kernel */
    struct storm_outcome *outcome;
    size_t i; /* the next of the batch that is looked at */
};

/* Is a kernel of that kind needed? Local. */
bool device_more_is_needed(const struct storm_imc *imc);

/* Copies what these kernels read, and fills in its addresses. Local.
 * STORM_ERR_DEVICE, STORM_ERR_NOMEM. */
storm_status device_more_begin(struct storm_imc *imc,
                               struct device_imc_job *job);

/* The host's turns of a batch that has ended, in parts: STORM_AGAIN. */
storm_status device_more_turns(struct storm_imc *imc, void *const *packets,
                               size_t n, struct storm_outcome *outcomes);

/* Gets sums into `room` and adds them to others. */
storm_status device_more_add(struct storm_device *device, void *room,
                             storm_device_address from, size_t bytes,
                             storm_exact *sum);

/* Adds the sums of the step to those of the host. */
storm_status device_more_end(struct storm_imc *imc);
void device_more_close(struct storm_imc *imc);

#endif /* STORM_PHYSICS_DEVICE_MORE_H */
