/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A GPU of NVIDIA's, through its driver. Launches go to two streams in turn, so
 * that one begins while the last threads of the other run; each has an event at
 * its begin and its end, for polls and times.
 */
#ifndef STORM_DEVICE_CUDA_DEVICE_H
#define STORM_DEVICE_CUDA_DEVICE_H

#include "device/cuda/cuda_driver.h"
#include "device/device_ops.h"

enum { CUDA_STREAMS = 2 };

struct cuda_launch {
    void *begin, *end; /* events */
};

/* A program in the memory of the device. */
struct cuda_module {
    const struct storm_device_program *program;
    void *handle;
    struct cuda_module *next;
};

struct cuda_device {
    struct storm_device device;
    struct cuda_driver driver;
    int handle; /* of the device; its context is retained */
    void *context;
    struct cuda_module *modules;
    void *streams[CUDA_STREAMS];
    storm_device_launch_id last[CUDA_STREAMS]; /* in each stream; 0: none */
    void *fence;                               /* an event, for clear */
    storm_device_launch_id ended;              /* this one and all before it */
    struct cuda_launch launches[STORM_DEVICE_LAUNCHES_MAX]; /* by number */
};

static inline struct cuda_device *cuda_of(struct storm_device *device)
{
    return (struct cuda_device *)(void *)device;
}

/* STORM_OK, or STORM_ERR_DEVICE after logging that `call` failed. */
storm_status cuda_check(const struct cuda_device *cuda, int code,
                        const char *call);

/* Makes the context current: other code of this thread may use others. */
storm_status cuda_enter(const struct cuda_device *cuda);

/* cuda_launch.c */
storm_status cuda_find(struct storm_device *device,
                       struct storm_device_kernel *kernel);
storm_status cuda_launch(struct storm_device *device,
                         const struct storm_device_kernel *kernel,
                         const void *args, size_t args_bytes, size_t n_threads);
storm_status cuda_order(struct storm_device *device);
storm_status cuda_poll(struct storm_device *device,
                       storm_device_launch_id launch);
storm_status cuda_wait(struct storm_device *device);

#endif /* STORM_DEVICE_CUDA_DEVICE_H */
