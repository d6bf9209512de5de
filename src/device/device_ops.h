/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a kind of device provides. device.c does what is common: it keeps the
 * book of memory, counts, refuses calls on a lost device, and logs refusals of
 * memory. An operation that returns STORM_ERR_DEVICE has logged why.
 */
#ifndef STORM_DEVICE_DEVICE_OPS_H
#define STORM_DEVICE_DEVICE_OPS_H

#include "device/device.h"

struct storm_device_kernel {
    const struct storm_device_program *program;
    const struct storm_device_function *function;
    void *handle; /* of the kind of device */
    struct storm_device_kernel *next;
};

struct storm_device_block {
    const char *label;
    storm_device_address address;
    size_t bytes;
};

/* The first member of what a kind of device makes. */
struct storm_device {
    const struct storm_device_ops *ops;
    const struct storm_env *env;
    char name[96];
    bool lost;
    size_t memory_max;                 /* 0: none but that of the device */
    struct storm_device_block *blocks; /* what alloc returned */
    size_t n_blocks, max_blocks;
    struct storm_device_block *pins; /* no label */
    size_t n_pins, max_pins;
    struct storm_device_kernel *kernels;
    uint64_t n_launches; /* the number of the last one */
    struct storm_device_counts counts;
};

/* Arguments as in device.h. n_threads and bytes are not 0, addresses and names
 * are good. Nothing else is called after STORM_ERR_DEVICE but free, unpin
 * and close. */
struct storm_device_ops {
    const char *kind; /* the word of transport.device */

    /* Calls line for each such device of this machine; may be none. */
    void (*survey)(void (*line)(void *self, const char *text), void *self);

    /* Fills in what it knows of struct storm_device: ops, env, name.
     * STORM_DONE: there is none here; STORM_ERR_NOSUP: it cannot be used. Both
     * with the reason, and not logged. */
    storm_status (*open)(const struct storm_env *env,
                         const struct storm_device_params *params,
                         char *reason_out, size_t reason_bytes,
                         struct storm_device **device_out);
    void (*close)(struct storm_device *device);

    /* STORM_ERR_NOMEM is not logged. */
    storm_status (*alloc)(struct storm_device *device, size_t bytes,
                          storm_device_address *address_out);
    void (*free)(struct storm_device *device, storm_device_address address,
                 size_t bytes);
    size_t (*memory_left)(struct storm_device *device); /* 0: unknown */
    storm_status (*put)(struct storm_device *device, storm_device_address to,
                        const void *from, size_t bytes);
    storm_status (*get)(struct storm_device *device, void *to,
                        storm_device_address from, size_t bytes);
    storm_status (*clear)(struct storm_device *device,
                          storm_device_address address, size_t bytes);
    storm_status (*pin)(struct storm_device *device, void *host, size_t bytes);
    void (*unpin)(struct storm_device *device, void *host);

    /* Sets kernel->handle. */
    storm_status (*find)(struct storm_device *device,
                         struct storm_device_kernel *kernel);
    /* The launch with the number device->n_launches. */
    storm_status (*launch)(struct storm_device *device,
                           const struct storm_device_kernel *kernel,
                           const void *args, size_t args_bytes,
                           size_t n_threads);
    storm_status (*order)(struct storm_device *device);
    storm_status (*poll)(struct storm_device *device,
                         storm_device_launch_id launch);
    storm_status (*wait)(struct storm_device *device);
};

extern const struct storm_device_ops storm_device_cuda;
extern const struct storm_device_ops storm_device_emulated;

#endif /* STORM_DEVICE_DEVICE_OPS_H */
