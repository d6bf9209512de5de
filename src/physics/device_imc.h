/* SPDX-License-Identifier: BSD-3-Clause */
/* Implicit Monte Carlo on devices (device_run.h). */
#ifndef STORM_PHYSICS_DEVICE_IMC_H
#define STORM_PHYSICS_DEVICE_IMC_H

#include "physics/device_more.h"
#include "physics/device_pool.h"
#include "physics/device_run.h"
#include "physics/imc.h"

/* Arguments of the kernels. */
struct device_imc_job {
    struct device_batch batch;
    struct imc_track track;     /* with addresses on the device */
    struct imc_moments moments; /* the same */
};
_Static_assert(sizeof(struct device_imc_job) <= STORM_DEVICE_ARGS_MAX,
               "they are arguments");

struct device_imc {
    struct device_run run;
    struct device_pool pool;
    struct device_image arrays; /* of the track */
    void *at[16];               /* addresses of these, see device_imc.c */
    unsigned wants;             /* moments that there is room for */
    size_t n_cells;
    struct imc_cell *cells; /* as they were put, and are got */
    unsigned char *edges;
    struct imc_methods methods;
    struct device_imc_job job;
    void *const *packets; /* of the batch under way */
    size_t n_packets;
    struct storm_outcome *outcomes;
    bool is_booked;          /* what has escaped of that batch */
    bool has_more;           /* a kernel of device_more.h */
    struct device_more more; /* zero without */
    storm_exact *sums;       /* of moments, as they are got */
};

/* With a device imc->there is set. Local; STORM_ERR_NOMEM. */
storm_status device_imc_open(struct storm_imc *imc);
void device_imc_close(struct storm_imc *imc);

/* In pre_step, before storm_census_wake: device_pool_wake. */
storm_status device_imc_wake(struct storm_imc *imc, struct storm_step *step,
                             double *largest_inout);

/* Before transport, when all that kernels read is known, and after it: sums are
 * those of imc->track then. Local; STORM_ERR_DEVICE, STORM_ERR_NOMEM. */
storm_status device_imc_begin(struct storm_imc *imc, struct storm_step *step);
storm_status device_imc_end(struct storm_imc *imc);

/* Begins a batch; false: there is no kernel for this step. */
bool device_imc_batch(struct storm_imc *imc, void *const *packets, size_t n,
                      struct storm_outcome *outcomes_out);

/* What a wall does; parts that all let packets out count as one. */
enum imc_edge device_imc_edge(const struct storm_imc *imc, size_t wall);

/* For the engine. */
storm_status device_imc_poll(void *self, struct storm_step *step);

#endif /* STORM_PHYSICS_DEVICE_IMC_H */
