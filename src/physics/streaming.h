/* SPDX-License-Identifier: BSD-3-Clause */
/* Internals of free streaming. */
#ifndef STORM_PHYSICS_STREAMING_H
#define STORM_PHYSICS_STREAMING_H

#include <storm/streaming.h>

#include "base/env.h"
#include "physics/connect.h"
#include "physics/device_pool.h"
#include "physics/device_streaming.h"
#include "physics/ledger.h"
#include "physics/track.h"

struct storm_streaming {
    const struct storm_context *context;
    const struct storm_env *env;
    const struct storm_mesh *mesh;
    struct storm_streaming_params params;

    storm_track_fn *advance;
    struct storm_track track; /* tally arrays: n_cells each */
    double *energy_density;   /* n_cells */
    bool *mirrors; /* by number of a boundary; NULL: the mesh has walls */
    storm_cell_idx n_cells;
    uint64_t generation; /* of the mesh, for which the arrays were made */
    struct storm_connect connect;

    struct device_run run;
    struct device_pool pool;
    struct device_image sums, walls; /* track.exact, .mirrors on the device */
    struct device_streaming_job job;

    struct storm_ledger account[STORM_LEDGER_ACCOUNTS];
};

/* STORM_ERR_STATE, logged, if the mesh has another generation than the arrays.
 * Every function that uses them calls it first. */
storm_status streaming_check(const struct storm_streaming *streaming);

/* Arrays for the present partition of the mesh, all zero. */
storm_status streaming_allocate(const struct storm_streaming *streaming,
                                struct storm_track *track_out,
                                double **energy_density_out);
void streaming_release(const struct storm_streaming *streaming,
                       struct storm_track *track, double *energy_density);

/* On a device: finds the kernel, copies the mesh, clears the sums. What
 * pre_step does; without a device, or a kernel, nothing. Local. */
storm_status streaming_device_begin(struct storm_streaming *streaming);

/* The tally's unit in a step whose packets weigh at most `largest`. */
struct storm_exact_unit streaming_unit(const struct storm_streaming *streaming,
                                       double largest);

#endif /* STORM_PHYSICS_STREAMING_H */
