/* SPDX-License-Identifier: BSD-3-Clause */
#include "physics/device_run.h"

#include <string.h>

#include <storm_tracks.h>

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
        status = storm_device_find(env->device,
                                   which < DEVICE_IMC_MORE ? ops->program
                                                           : ops->more,
                                   name, &run->kernel);
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

void device_run_launch(struct device_run *run, void *job, size_t job_bytes,
                       uint64_t max_events, void *const *packets, size_t n,
                       struct storm_outcome *outcomes_out)
{
    run->batch.packets = packets;
    run->batch.outcomes = outcomes_out;
    run->batch.max_events = max_events < run->events ? max_events : run->events;
    memcpy(job, &run->batch, sizeof run->batch);
    run->status = storm_device_launch(run->env->device, run->kernel, job,
                                      job_bytes, n, &run->launch);
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
    run->has_mesh = false;
    run->kernel = NULL;
}
