/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Physics on a device (device/device.h): what all physics and all kinds of
 * meshes share.
 *
 *   RUN-1  A batch is one launch, one thread for each packet, which works on
 *          the packets where they are, in pinned memory, and ends after so many
 *          events: then others take the places of those that are done.
 *   RUN-2  What a thread does with a packet is the text that the processor
 *          runs: the same bits, whoever runs which batch.
 *   RUN-3  Sums are on the device during a step, and zero at its start;
 *          whatever the host adds meanwhile is added to them at its end.
 *   RUN-4  What a thread cannot do the host does when the batch has ended, by
 *          the outcomes: it books packets that escape.
 */
#ifndef STORM_PHYSICS_DEVICE_RUN_H
#define STORM_PHYSICS_DEVICE_RUN_H

#include <stdalign.h>

#include <storm/engine.h>

#include "device/device.h"
#include "mesh/mesh_ops.h"

enum {
    DEVICE_BATCH_PACKETS = 1 << 20, /* that come to a device at once */
    DEVICE_BATCH_EVENTS = 128,      /* of a packet in a launch */
    DEVICE_GEOM_BYTES = 128,        /* the largest struct geom */
    DEVICE_IMAGE_MAX = 24           /* arrays */
};

/* First part of the arguments of each kernel. */
struct device_batch {
    void *const *packets;
    struct storm_outcome *outcomes;
    uint64_t max_events;
    struct storm_mesh_part part; /* with addresses on the device */
    alignas(16) unsigned char geom[DEVICE_GEOM_BYTES]; /* a struct geom */
};

/* Copies of arrays on a device. */
struct device_image {
    struct storm_device *device;
    const char *label;   /* of memory; constant */
    storm_status status; /* the first error */
    size_t n;
    storm_device_address address[DEVICE_IMAGE_MAX];
};

/* The address of a copy; NULL for NULL, and after an error. */
void *device_image_add(struct device_image *image, const void *host,
                       size_t bytes);
/* The same, not initialised. */
void *device_image_room(struct device_image *image, size_t bytes);
void device_image_free(struct device_image *image);

/* Implicit Monte Carlo is grey or with groups. */
enum device_kernel {
    DEVICE_STREAMING,
    DEVICE_IMC,
    DEVICE_IMC_WALK,
    DEVICE_IMC_COUNTED, /* moments; random walks, too */
    DEVICE_IMC_MORE,    /* all of these, and what device_more.h names */
    DEVICE_KERNELS
};

/* Kernels for one kind of mesh. */
struct device_track_ops {
    const struct storm_mesh_ops *mesh;
    const struct storm_device_program *program;
    const struct storm_device_program *more; /* kernels from _MORE on */
    bool samples; /* they find points of cells: GEOM_SAMPLES */
    const char *names[DEVICE_KERNELS][2]; /* in it; and for periodic meshes */
    bool (*is_periodic)(const struct storm_mesh *mesh); /* in this sense */
    /* Copies what the geometry reads, and makes the struct geom. */
    void (*image)(const struct storm_mesh *mesh, double speed_cm_s,
                  struct device_image *image, void *geom_out);
};

/* Those for a mesh; NULL: none. */
const struct device_track_ops *
device_track_ops_for(const struct storm_mesh *mesh);

/* is_periodic of kinds that have kernels of one sort. */
bool device_is_plain(const struct storm_mesh *mesh);

/* What a physics needs to run on a device. */
struct device_run {
    const struct storm_env *env;
    const struct device_track_ops *ops;
    const struct storm_device_kernel *kernel; /* NULL: on the processor */
    const char *name;                         /* of the kernel */
    bool hands_over; /* it leaves events to the host (RUN-5) */
    bool is_logged;  /* that there is none */
    struct device_image mesh;
    uint64_t generation; /* of the mesh that was copied; with has_mesh */
    bool has_mesh;
    struct device_batch batch;
    storm_status status; /* the first error of a launch */
    storm_device_launch_id launch;
    uint64_t events; /* of a packet in a launch, at most */
};

/* Local. */
void device_run_open(struct device_run *run, const struct storm_mesh *mesh);

/*
 * Chooses a kernel; `lacks` names what no kernel knows, if that is asked for.
 * Without one, or without a device, run->kernel is NULL; the former is logged,
 * once. Local. STORM_ERR_DEVICE, STORM_ERR_NOMEM (logged).
 */
storm_status device_run_find(struct device_run *run,
                             const struct storm_mesh *mesh,
                             enum device_kernel which, const char *lacks);

/* Copies the mesh, if it has changed. Before each step; local. */
storm_status device_run_mesh(struct device_run *run,
                             const struct storm_mesh *mesh, double speed_cm_s);

/* Begins a batch; `job` begins with a struct device_batch, which is filled in.
 * An error is that of device_run_poll. */
void device_run_launch(struct device_run *run, void *job, size_t job_bytes,
                       uint64_t max_events, void *const *packets, size_t n,
                       struct storm_outcome *outcomes_out);

/* STORM_OK: all that was begun has ended; STORM_AGAIN; STORM_ERR_DEVICE. */
storm_status device_run_poll(struct device_run *run);

void device_run_close(struct device_run *run);

#endif /* STORM_PHYSICS_DEVICE_RUN_H */
