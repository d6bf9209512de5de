/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device that runs kernels: a GPU, or `emulated`, which runs the same text on
 * this processor. One per rank and context, in env->device; NULL: none.
 *
 *   DEVICE-1  put, get, clear and order happen in the order of the calls: after
 *             all launches before them, and before those after them. Launches
 *             between two of these may overlap, and be in any order.
 *   DEVICE-2  Threads of a launch run in any order and at any time until poll
 *             or wait reports its end. Until then the host does not touch what
 *             they write, in pinned memory, nor changes what they read.
 *   DEVICE-3  Arguments are copied by launch. What put reads may be changed
 *             when it returns.
 *   DEVICE-4  Pinned memory has one address for host and kernels.
 *   DEVICE-5  After an error the device is lost: every call that could fail
 *             returns STORM_ERR_DEVICE, and the cause is logged once, with the
 *             driver's text. Refusals are no such errors: no memory
 *             (STORM_ERR_NOMEM) and no kernel (STORM_ERR_NOSUP).
 *   DEVICE-6  Nothing here allocates memory of the host after open, alloc, pin
 *             and find.
 *
 * Nothing is thread-safe. A device is not used after a fork.
 */
#ifndef STORM_DEVICE_DEVICE_H
#define STORM_DEVICE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <storm/status.h>

#include "base/env.h"

struct storm_device;        /* opaque */
struct storm_device_kernel; /* opaque; lives as long as the device */

/* An address as kernels see it. On the emulated device, and of pinned memory,
 * that of the host. */
typedef uint64_t storm_device_address;

/* Launches have numbers, from 1. */
typedef uint64_t storm_device_launch_id;

enum {
    STORM_DEVICE_ARGS_MAX = 4000, /* bytes of arguments of a kernel */
    STORM_DEVICE_LAUNCHES_MAX = 16
};

/* A kernel on the emulated device: thread `i` of a launch. */
typedef void storm_device_fn(const void *args, uint64_t i);

struct storm_device_function {
    const char *name;
    storm_device_fn *call;
};

/* Kernels for all kinds of devices. Constant. */
struct storm_device_program {
    const char *ptx; /* text for GPUs; "": not in this build */
    const struct storm_device_function *functions; /* ended by a NULL name */
};

struct storm_device_params {
    const char *kind;  /* transport.device: auto, none, gpu, emulated */
    size_t memory_max; /* bytes for alloc; 0: what the device has */
    int node_rank;     /* of node_ranks on this node, which share its GPUs */
    int node_ranks;
    bool has_ptx; /* this build has kernels for GPUs */
};

/*
 * Opens the device for this rank. Local. With `none`, and with `auto` where
 * there is no GPU or none that works (logged), *device_out is NULL.
 * STORM_ERR_NOSUP: there is no such device here, or it does not work (logged).
 * STORM_ERR_NOMEM.
 */
storm_status storm_device_open(const struct storm_env *env,
                               const struct storm_device_params *params,
                               struct storm_device **device_out);

/* Also frees what alloc and pin were not asked to. NULL is allowed. */
void storm_device_close(struct storm_device *device);

/* ---- memory ------------------------------------------------------------- */

/* Memory of the device, aligned to 256 bytes, not initialised; 0 for no bytes.
 * The host reaches it by put, get and clear alone. `label` lives as long as the
 * device. STORM_ERR_NOMEM (logged, with what has how much). */
storm_status storm_device_alloc(struct storm_device *device, const char *label,
                                size_t bytes,
                                storm_device_address *address_out);

/* What alloc returned; 0 is allowed, and NULL for the device then. Waits for
 * launches. */
void storm_device_free(struct storm_device *device,
                       storm_device_address address);

/* Bytes that alloc could return now, as far as is known. */
size_t storm_device_room(struct storm_device *device);

/* To the device. Blocks until that is done, and launches before it. */
storm_status storm_device_put(struct storm_device *device,
                              storm_device_address to, const void *from,
                              size_t bytes);

/* From the device. Blocks likewise. */
storm_status storm_device_get(struct storm_device *device, void *to,
                              storm_device_address from, size_t bytes);

/* Sets bytes to zero. Need not block. */
storm_status storm_device_clear(struct storm_device *device,
                                storm_device_address address, size_t bytes);

/* Lets kernels use memory of the host where it is (DEVICE-4). It must be
 * unpinned before it is freed. NULL for the device is allowed: nothing is done.
 * STORM_ERR_NOMEM (logged): it cannot be locked. */
storm_status storm_device_pin(struct storm_device *device, void *host,
                              size_t bytes);
void storm_device_unpin(struct storm_device *device, void *host);

/* ---- kernels ------------------------------------------------------------ */

/*
 * A kernel of a program by its name; the first call for a program loads it.
 * No `program->ptx` on a GPU, and an unknown name: STORM_ERR_NOSUP, not logged.
 */
storm_status storm_device_find(struct storm_device *device,
                               const struct storm_device_program *program,
                               const char *name,
                               const struct storm_device_kernel **kernel_out);

/*
 * Runs n_threads threads of a kernel, which gets the bytes of `args` by value.
 * Does not wait: poll or wait for the launch. But if
 * STORM_DEVICE_LAUNCHES_MAX are under way it waits for the first of them.
 * n_threads may be 0.
 */
storm_status storm_device_launch(struct storm_device *device,
                                 const struct storm_device_kernel *kernel,
                                 const void *args, size_t args_bytes,
                                 size_t n_threads,
                                 storm_device_launch_id *launch_out);

/* Launches after this call begin when those before it have ended. Does not
 * block. */
storm_status storm_device_order(struct storm_device *device);

/* STORM_OK: this launch and those before it have ended; STORM_AGAIN: not yet.
 * The emulated device runs some threads in each call. */
storm_status storm_device_poll(struct storm_device *device,
                               storm_device_launch_id launch);

/* Blocks until all launches have ended. */
storm_status storm_device_wait(struct storm_device *device);

/* ---- what it is and did ------------------------------------------------- */

/* "emulated", or the name of the GPU; "none" for NULL. */
const char *storm_device_name(const struct storm_device *device);

struct storm_device_counts {
    uint64_t launches;
    double kernel_seconds;
    uint64_t bytes_put, bytes_got;    /* by put and get */
    double copy_seconds;              /* that the host has been in these */
    size_t memory_bytes, memory_peak; /* by alloc */
    size_t pinned_bytes;
};

/* Zeroes for NULL. */
struct storm_device_counts
storm_device_counts(const struct storm_device *device);

/* Calls line for each device of this machine, and why there is none. */
void storm_device_survey(void (*line)(void *self, const char *text),
                         void *self);

#endif /* STORM_DEVICE_DEVICE_H */
