/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench_kernel.h"

#include "base/clock.h"
#include "engine/engine_keep.h"
#include "physics/streaming.h"

enum {
    KERNEL_BATCH = 512,   /* as the engine's */
    KERNEL_MAX = 1 << 19, /* copies at most: every k-th batch, if need be */
    KERNEL_DEVICE_MAX = 1 << 21, /* on a device */
    KERNEL_DEVICE_PASSES = 5     /* copies between them take far longer */
};
static const char kernel_label[] = "bare kernel";

struct kernel {
    struct storm_track track;
    double *density;
    struct storm_packet *packets;
    void **pointers;
    size_t n;
};

/* Copies of the packets that are in this rank's cells, or of one batch in so
 * many. */
static void kernel_copy(struct kernel *kernel,
                        const struct storm_streaming *streaming,
                        const void *const *packets, size_t n, size_t one_in)
{
    storm_cell_id first = storm_mesh_cell_id(streaming->mesh, 0);
    double largest = 0.0;
    for (size_t i = 0; i < n; i++) {
        if (i / KERNEL_BATCH % one_in != 0)
            continue;
        const struct storm_packet *packet = packets[i];
        storm_cell_id offset = packet->cell - first;
        if (offset >= (storm_cell_id)streaming->n_cells)
            continue;
        largest = packet->weight_erg > largest ? packet->weight_erg : largest;
        kernel->packets[kernel->n] = *packet;
        kernel->packets[kernel->n].cell_idx = (storm_cell_idx)offset;
        kernel->pointers[kernel->n] = &kernel->packets[kernel->n];
        kernel->n++;
    }
    kernel->track.unit = streaming_unit(streaming, largest);
}

/* One time step of all packets; returns events and adds the seconds. */
static uint64_t kernel_pass(const struct kernel *kernel,
                            const struct storm_streaming *streaming,
                            double *seconds_inout)
{
    struct storm_outcome outcomes[KERNEL_BATCH];
    uint64_t events = 0;
    for (size_t i = 0; i < kernel->n; i++)
        kernel->packets[i].time_left_s = streaming->params.dt_s;
    double start = storm_clock_seconds();
    for (size_t i = 0; i < kernel->n; i += KERNEL_BATCH) {
        size_t n = kernel->n - i < KERNEL_BATCH ? kernel->n - i : KERNEL_BATCH;
        streaming->advance(&kernel->track, kernel->pointers + i, n, outcomes);
        for (size_t k = 0; k < n; k++)
            events += outcomes[k].events;
    }
    *seconds_inout += storm_clock_seconds() - start;
    return events;
}

/* ---- on a device ---------------------------------------------------------*/

/* Packets, their addresses, outcomes, sums. */
struct kernel_there {
    struct device_image image;
    void *packets;
    struct storm_outcome *outcomes; /* of the host */
    struct device_streaming_job job;
};

static storm_status kernel_put(struct kernel_there *there,
                               const struct kernel *kernel,
                               const struct storm_streaming *streaming)
{
    struct device_image *image = &there->image;
    size_t n = kernel->n;
    *image = (struct device_image){.device = streaming->env->device,
                                   .label = kernel_label};
    there->packets = device_image_room(image, n * sizeof(struct storm_packet));
    for (size_t i = 0; i < n && there->packets != NULL; i++)
        kernel->pointers[i] = (struct storm_packet *)there->packets + i;
    there->job.track = kernel->track;
    there->job.track.mesh = NULL;
    there->job.track.exact =
        device_image_room(image, (size_t)streaming->n_cells *
                                     sizeof *kernel->track.exact);
    there->job.batch = streaming->run.batch;
    there->job.batch.max_events = UINT64_MAX;
    there->job.batch.packets =
        device_image_add(image, kernel->pointers, n * sizeof(void *));
    there->job.batch.outcomes =
        device_image_room(image, n * sizeof *there->outcomes);
    if (image->status < 0)
        return image->status;
    return storm_device_clear(
        image->device, (storm_device_address)(uintptr_t)there->job.track.exact,
        (size_t)streaming->n_cells * sizeof *kernel->track.exact);
}

/* One time step of all packets; adds events and seconds. */
static storm_status kernel_launch(struct kernel_there *there,
                                  const struct kernel *kernel,
                                  const struct storm_streaming *streaming,
                                  uint64_t *events_inout, double *seconds_inout)
{
    struct storm_device *device = there->image.device;
    storm_device_launch_id launch;
    size_t n = kernel->n;
    storm_status status =
        storm_device_put(device,
                         (storm_device_address)(uintptr_t)there->packets,
                         kernel->packets, n * sizeof *kernel->packets);
    double start = storm_clock_seconds();
    if (status == STORM_OK)
        status = storm_device_launch(device, streaming->run.kernel, &there->job,
                                     sizeof there->job, n, &launch);
    if (status == STORM_OK)
        status = storm_device_wait(device);
    *seconds_inout += storm_clock_seconds() - start;
    if (status == STORM_OK)
        status = storm_device_get(device, there->outcomes,
                                  (storm_device_address)(uintptr_t)
                                      there->job.batch.outcomes,
                                  n * sizeof *there->outcomes);
    for (size_t i = 0; i < n && status == STORM_OK; i++)
        *events_inout += there->outcomes[i].events;
    return status;
}

static storm_status kernel_there(const struct kernel *kernel,
                                 const struct storm_streaming *streaming,
                                 double seconds, uint64_t *events_inout,
                                 double *spent_inout)
{
    struct kernel_there there = {.packets = NULL};
    struct storm_memory *memory = streaming->env->memory;
    there.outcomes = storm_alloc(memory, kernel_label,
                                 (kernel->n + 1) * sizeof *there.outcomes);
    storm_status status = there.outcomes != NULL
                              ? kernel_put(&there, kernel, streaming)
                              : STORM_ERR_NOMEM;
    for (size_t i = 0; i < kernel->n; i++)
        kernel->packets[i].time_left_s = streaming->params.dt_s;
    for (int pass = 0;
         pass < KERNEL_DEVICE_PASSES && kernel->n > 0 && status == STORM_OK &&
         (pass == 0 || *spent_inout < seconds);
         pass++)
        status =
            kernel_launch(&there, kernel, streaming, events_inout, spent_inout);
    device_image_free(&there.image);
    storm_free(memory, there.outcomes);
    return status;
}

storm_status storm_bench_kernel(struct storm_streaming *streaming,
                                struct storm_engine *engine, double seconds,
                                double *events_per_second_out)
{
    struct storm_memory *memory = streaming->env->memory;
    struct kernel kernel = {.n = 0};
    size_t n;
    const void *const *packets;
    storm_status status = streaming_check(streaming);
    if (status == STORM_OK)
        status = storm_engine_view(engine, &packets, &n);
    if (status == STORM_OK)
        status = streaming_device_begin(streaming);
    if (status == STORM_OK)
        status = streaming_allocate(streaming, &kernel.track, &kernel.density);
    if (status < 0)
        return status;
    kernel.track.mirror_walls = (1u << STORM_N_WALLS) - 1u;
    kernel.track.mirror_borders = true;
    kernel.track.max_events = UINT64_MAX;
    bool is_there = streaming->run.kernel != NULL;
    size_t one_in = n / (is_there ? KERNEL_DEVICE_MAX : KERNEL_MAX) + 1;
    size_t room = n / one_in + KERNEL_BATCH;
    kernel.packets =
        storm_alloc(memory, kernel_label, room * sizeof *kernel.packets);
    kernel.pointers =
        storm_alloc(memory, kernel_label, room * sizeof *kernel.pointers);
    status = STORM_ERR_NOMEM;
    if (kernel.packets == NULL || kernel.pointers == NULL)
        goto out;
    kernel_copy(&kernel, streaming, packets, n, one_in);

    uint64_t events = 0;
    double spent = 0.0;
    status = STORM_OK;
    if (is_there)
        status = kernel_there(&kernel, streaming, seconds, &events, &spent);
    else
        do {
            events += kernel_pass(&kernel, streaming, &spent);
        } while (kernel.n > 0 && spent < seconds);
    *events_per_second_out = spent > 0.0 ? (double)events / spent : 0.0;
out:
    storm_free(memory, kernel.pointers);
    storm_free(memory, kernel.packets);
    streaming_release(streaming, &kernel.track, kernel.density);
    return status;
}
