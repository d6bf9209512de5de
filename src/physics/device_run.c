/* SPDX-License-Identifier: BSD-3-Clause */
#include "physics/device_run.h"

#include <string.h>

#include <storm_tracks.h>

#include "physics/device_copy.h"

/* ---- arrays --------------------------------------------------------------*/

void *device_image_room(struct device_image *image, size_t bytes)
{
    storm_device_address *address = &image->address[image->n];
    STORM_ASSERT(image->n < DEVICE_IMAGE_MAX);
    if (image->status < 0)
        return NULL;
    image->status = storm_device_alloc(image->device, image->label,
                                       bytes > 0 ? bytes : 1, address);
    if (image->status < 0)
        return NULL;
    image->n++;
    return (void *)(uintptr_t)*address;
}

void *device_image_add(struct device_image *image, const void *host,
                       size_t bytes)
{
    void *room = host != NULL ? device_image_room(image, bytes) : NULL;
    if (room != NULL && bytes > 0)
        image->status = storm_device_put(image->device,
                                         (storm_device_address)(uintptr_t)room,
                                         host, bytes);
    return image->status < 0 ? NULL : room;
}

void device_image_free(struct device_image *image)
{
    for (size_t i = 0; i < image->n; i++)
        storm_device_free(image->device, image->address[i]);
    image->n = 0;
    image->status = STORM_OK;
}

/* ---- copies of packets ---------------------------------------------------*/

/* device_copy.c */
storm_device_fn storm_copy_fetch, storm_copy_return;

static const struct storm_device_function copy_functions[] = {
    {"storm_copy_fetch", storm_copy_fetch},
    {"storm_copy_return", storm_copy_return},
    {NULL, NULL},
};

static const struct storm_device_program copy_program = {
    .ptx = storm_device_ptx_copy,
    .functions = copy_functions,
};

static storm_status copy_find(struct device_run *run)
{
    struct storm_device *device = run->env->device;
    storm_status status = STORM_OK;
    if (run->fetch == NULL)
        status = storm_device_find(device, &copy_program, "storm_copy_fetch",
                                   &run->fetch);
    if (status == STORM_OK && run->put_back == NULL)
        status = storm_device_find(device, &copy_program, "storm_copy_return",
                                   &run->put_back);
    return status;
}

/* ---- a physics -----------------------------------------------------------*/

const struct device_track_ops *
device_track_ops_for(const struct storm_mesh *mesh)
{
    const struct device_track_ops *const *ops = storm_device_list;
    while (*ops != NULL && (*ops)->mesh != mesh->ops)
        ops++;
    return *ops;
}

void device_run_open(struct device_run *run, const struct storm_mesh *mesh)
{
    *run = (struct device_run){
        .env = mesh->env,
        .ops = device_track_ops_for(mesh),
        .mesh = {.device = mesh->env->device, .label = "mesh on the device"},
        .staged = {.device = mesh->env->device,
                   .label = "packets on the device"},
        .part_min = DEVICE_PART_MIN,
        .events = DEVICE_BATCH_EVENTS,
    };
}

storm_status device_run_find(struct device_run *run,
                             const struct storm_mesh *mesh,
                             enum device_kernel which, const char *lacks)
{
    const struct storm_env *env = run->env;
    const struct device_track_ops *ops = run->ops;
    if (env->device == NULL)
        return STORM_OK;
    if (lacks == NULL && ops == NULL)
        lacks = "a mesh of this kind";
    const char *name =
        lacks == NULL ? ops->names[which][ops->is_periodic(mesh)] : NULL;
    if (run->kernel != NULL && run->name == name)
        return STORM_OK;
    storm_status status = STORM_ERR_NOSUP;
    run->kernel = NULL;
    run->name = name;
    if (name != NULL)
        status =
            storm_device_find(env->device, ops->program, name, &run->kernel);
    if (status == STORM_OK)
        status = copy_find(run);
    if (status == STORM_OK && run->staged.n == 0) {
        (void)device_image_room(&run->staged, DEVICE_BATCH_PACKETS *
                                                  sizeof(struct storm_packet));
        status = run->staged.status;
    }
    if (status != STORM_ERR_NOSUP)
        return status;
    if (env->rank == 0 && !run->is_logged)
        storm_log_write(&env->log, STORM_LOG_WARN,
                        "%s has no kernel on devices: the processor computes "
                        "the step",
                        lacks != NULL ? lacks : name);
    run->is_logged = true;
    return STORM_OK;
}

bool device_is_plain(const struct storm_mesh *mesh)
{
    (void)mesh;
    return false;
}

storm_status device_run_mesh(struct device_run *run,
                             const struct storm_mesh *mesh, double speed_cm_s)
{
    if (run->has_mesh && !storm_mesh_has_changed(mesh, run->generation))
        return STORM_OK;
    device_image_free(&run->mesh);
    run->batch.part = *mesh->part;
    run->batch.part.tags = device_image_add(&run->mesh, mesh->part->tags,
                                            (size_t)mesh->part->n_cells *
                                                sizeof *mesh->part->tags);
    run->batch.part.numbers = NULL;
    run->ops->image(mesh, speed_cm_s, &run->mesh, run->batch.geom);
    run->has_mesh = run->mesh.status == STORM_OK;
    run->generation = mesh->generation;
    return run->mesh.status;
}

/* A part of a batch. */
struct run_part {
    void *const *packets;
    struct storm_packet *staged;
    struct storm_outcome *outcomes;
    size_t n;
};

static void run_copy(struct device_run *run,
                     const struct storm_device_kernel *kernel,
                     const struct run_part *part)
{
    const struct device_copy_job job = {part->packets, part->staged};
    if (run->status == STORM_OK)
        run->status =
            storm_device_launch(run->env->device, kernel, &job, sizeof job,
                                part->n * DEVICE_PARTS, &run->launch);
}

static void run_follow(struct device_run *run, void *job, size_t job_bytes,
                       const struct run_part *part)
{
    run->batch.packets = part->staged;
    run->batch.outcomes = part->outcomes;
    memcpy(job, &run->batch, sizeof run->batch);
    if (run->status == STORM_OK)
        run->status = storm_device_launch(run->env->device, run->kernel, job,
                                          job_bytes, part->n, &run->launch);
}

void device_run_launch(struct device_run *run, void *job, size_t job_bytes,
                       uint64_t max_events, void *const *packets, size_t n,
                       struct storm_outcome *outcomes_out)
{
    struct storm_packet *staged = (void *)(uintptr_t)run->staged.address[0];
    struct run_part part[DEVICE_PARTS_MAX];
    size_t each = (n + DEVICE_PARTS_MAX - 1) / DEVICE_PARTS_MAX, n_parts = 0;
    if (each < run->part_min)
        each = run->part_min;
    for (size_t i = 0; i < n; i += each)
        part[n_parts++] =
            (struct run_part){packets + i, staged + i, outcomes_out + i,
                              n - i < each ? n - i : each};
    run->batch.max_events = max_events < run->events ? max_events : run->events;
    run->status = STORM_OK;
    /* RUN-1: what is between two orders may overlap. */
    for (size_t k = 0; k < n_parts + 2 && run->status == STORM_OK; k++) {
        if (k >= 2)
            run_copy(run, run->put_back, &part[k - 2]);
        if (k >= 1 && k <= n_parts)
            run_follow(run, job, job_bytes, &part[k - 1]);
        if (k < n_parts)
            run_copy(run, run->fetch, &part[k]);
        if (run->status == STORM_OK)
            run->status = storm_device_order(run->env->device);
    }
}

storm_status device_run_poll(struct device_run *run)
{
    if (run->kernel == NULL)
        return STORM_OK;
    return run->status < 0 ? run->status
                           : storm_device_poll(run->env->device, run->launch);
}

void device_run_close(struct device_run *run)
{
    device_image_free(&run->mesh);
    device_image_free(&run->staged);
    run->has_mesh = false;
    run->kernel = NULL;
}
