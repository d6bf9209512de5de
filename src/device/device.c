/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/device.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "device/device_ops.h"

static const struct storm_device_ops *const device_list[] = {
    &storm_device_cuda,
    &storm_device_emulated,
    NULL,
};

/* ---- open and close ----------------------------------------------------- */

static const struct storm_device_ops *find_ops(const char *kind)
{
    for (size_t i = 0; device_list[i]; i++)
        if (strcmp(device_list[i]->kind, kind) == 0)
            return device_list[i];
    return NULL;
}

storm_status storm_device_open(const struct storm_env *env,
                               const struct storm_device_params *params,
                               struct storm_device **device_out)
{
    *device_out = NULL;
    if (strcmp(params->kind, "none") == 0)
        return STORM_OK;
    bool is_auto = strcmp(params->kind, "auto") == 0;
    const struct storm_device_ops *ops =
        find_ops(is_auto ? "gpu" : params->kind);
    char reason[320] = "there is no such kind";
    storm_status status =
        ops ? ops->open(env, params, reason, sizeof reason, device_out)
            : STORM_DONE;
    if (status == STORM_OK)
        (*device_out)->memory_max = params->memory_max;
    if (status == STORM_OK || status == STORM_ERR_NOMEM)
        return status;
    if (!is_auto)
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "no device %s on rank %d: %s; --device none computes "
                        "without one",
                        params->kind, env->rank, reason);
    else if (status != STORM_DONE)
        storm_log_write(&env->log, STORM_LOG_WARN,
                        "a GPU is not used: %s; --device none omits this "
                        "message",
                        reason);
    return is_auto ? STORM_OK : STORM_ERR_NOSUP;
}

void storm_device_close(struct storm_device *device)
{
    if (!device)
        return;
    struct storm_memory *memory = device->env->memory;
    (void)storm_device_wait(device);
    while (device->n_pins > 0)
        storm_device_unpin(device,
                           (void *)(uintptr_t)device->pins[device->n_pins - 1]
                               .address);
    while (device->n_blocks > 0)
        storm_device_free(device, device->blocks[device->n_blocks - 1].address);
    while (device->kernels) {
        struct storm_device_kernel *kernel = device->kernels;
        device->kernels = kernel->next;
        storm_free(memory, kernel);
    }
    storm_free(memory, device->blocks);
    storm_free(memory, device->pins);
    device->ops->close(device);
}

/* Passes a status on; after an error of the device it is lost (DEVICE-5). */
static storm_status note(struct storm_device *device, storm_status status)
{
    if (status == STORM_ERR_DEVICE)
        device->lost = true;
    return status;
}

/* ---- memory ------------------------------------------------------------- */

static size_t find_block(const struct storm_device_block *blocks, size_t n,
                         storm_device_address address)
{
    size_t i = 0;
    while (i < n && blocks[i].address != address)
        i++;
    STORM_ASSERT(i < n); /* alloc or pin returned it */
    return i;
}

/* "fields 120 MB, tallies 30 MB": the blocks of each label together, largest
 * first, as far as they fit. */
static void write_holders(const struct storm_device *device, char *text,
                          size_t bytes)
{
    const struct storm_device_block *b = device->blocks;
    double limit = 0.0; /* those above it are in the text; 0: none yet */
    size_t used = 0;
    text[0] = '\0';
    for (;;) {
        const char *label = NULL;
        double largest = 0.0;
        for (size_t i = 0; i < device->n_blocks; i++) {
            double sum = 0.0;
            for (size_t k = 0; k < device->n_blocks; k++)
                if (strcmp(b[k].label, b[i].label) == 0)
                    sum += (double)b[k].bytes;
            if (sum > largest && (limit == 0.0 || sum < limit)) {
                largest = sum;
                label = b[i].label;
            }
        }
        if (!label)
            return;
        int n = snprintf(text + used, bytes - used, "%s%s %.4g MB",
                         used > 0 ? ", " : "", label, 1e-6 * largest);
        if (n < 0 || (size_t)n >= bytes - used) {
            text[used] = '\0';
            return;
        }
        used += (size_t)n;
        limit = largest;
    }
}

static void log_full(struct storm_device *device, const char *label,
                     size_t bytes)
{
    char holders[256];
    size_t left = device->ops->memory_left(device);
    size_t used = device->counts.memory_bytes;
    if (device->memory_max && (!left || device->memory_max - used < left))
        left = device->memory_max - used;
    write_holders(device, holders, sizeof holders);
    storm_log_write(&device->env->log, STORM_LOG_ERROR,
                    "no memory on the device %s of rank %d for %.4g MB (%s): "
                    "%.4g MB are left besides %.4g MB held%s%s%s; use fewer "
                    "cells or packets, more devices, or a larger "
                    "transport.device_memory_mb",
                    device->name, device->env->rank, 1e-6 * (double)bytes,
                    label, 1e-6 * (double)left, 1e-6 * (double)used,
                    holders[0] ? " (" : "", holders, holders[0] ? ")" : "");
}

static storm_status reserve_block(struct storm_device *device,
                                  struct storm_device_block **blocks, size_t n,
                                  size_t *max)
{
    void *array = *blocks;
    storm_status status = storm_reserve(device->env->memory, "device book",
                                        sizeof **blocks, n + 1, &array, max);
    *blocks = array;
    return storm_env_explain(device->env, status);
}

storm_status storm_device_alloc(struct storm_device *device, const char *label,
                                size_t bytes, storm_device_address *address_out)
{
    if (device->lost)
        return STORM_ERR_DEVICE;
    if (bytes == 0) {
        *address_out = 0;
        return STORM_OK;
    }
    storm_status status = reserve_block(device, &device->blocks,
                                        device->n_blocks, &device->max_blocks);
    if (status < 0)
        return status;
    storm_device_address address = 0;
    struct storm_device_counts *counts = &device->counts;
    if (device->memory_max && bytes > device->memory_max - counts->memory_bytes)
        status = STORM_ERR_NOMEM;
    else
        status = note(device, device->ops->alloc(device, bytes, &address));
    if (status == STORM_ERR_NOMEM)
        log_full(device, label, bytes);
    if (status < 0)
        return status;
    device->blocks[device->n_blocks++] =
        (struct storm_device_block){label, address, bytes};
    counts->memory_bytes += bytes;
    if (counts->memory_peak < counts->memory_bytes)
        counts->memory_peak = counts->memory_bytes;
    *address_out = address;
    return STORM_OK;
}

size_t storm_device_room(struct storm_device *device)
{
    size_t left = device->lost ? 0 : device->ops->memory_left(device);
    size_t limit = device->memory_max;
    size_t used = device->counts.memory_bytes;
    if (left == 0 && !device->lost)
        left = SIZE_MAX;
    return limit > 0 && limit - used < left ? limit - used : left;
}

void storm_device_free(struct storm_device *device,
                       storm_device_address address)
{
    if (address == 0)
        return;
    (void)storm_device_wait(device);
    size_t i = find_block(device->blocks, device->n_blocks, address);
    struct storm_device_block block = device->blocks[i];
    device->blocks[i] = device->blocks[--device->n_blocks];
    device->counts.memory_bytes -= block.bytes;
    device->ops->free(device, block.address, block.bytes);
}

/* These bytes are in one block. */
static void check_ours(const struct storm_device *device,
                       storm_device_address address, size_t bytes)
{
    bool ours = false;
    for (size_t i = 0; i < device->n_blocks; i++) {
        const struct storm_device_block *b = &device->blocks[i];
        ours |= address >= b->address && address - b->address <= b->bytes &&
                bytes <= b->bytes - (address - b->address);
    }
    STORM_ASSERT(ours);
    (void)ours;
}

storm_status storm_device_put(struct storm_device *device,
                              storm_device_address to, const void *from,
                              size_t bytes)
{
    if (device->lost)
        return STORM_ERR_DEVICE;
    if (bytes == 0)
        return STORM_OK;
    check_ours(device, to, bytes);
    device->counts.bytes_put += bytes;
    const double began = storm_clock_seconds();
    storm_status status = device->ops->put(device, to, from, bytes);
    device->counts.copy_seconds += storm_clock_seconds() - began;
    return note(device, status);
}

storm_status storm_device_get(struct storm_device *device, void *to,
                              storm_device_address from, size_t bytes)
{
    if (device->lost)
        return STORM_ERR_DEVICE;
    if (bytes == 0)
        return STORM_OK;
    check_ours(device, from, bytes);
    device->counts.bytes_got += bytes;
    const double began = storm_clock_seconds();
    storm_status status = device->ops->get(device, to, from, bytes);
    device->counts.copy_seconds += storm_clock_seconds() - began;
    return note(device, status);
}

storm_status storm_device_clear(struct storm_device *device,
                                storm_device_address address, size_t bytes)
{
    if (device->lost)
        return STORM_ERR_DEVICE;
    if (bytes == 0)
        return STORM_OK;
    check_ours(device, address, bytes);
    return note(device, device->ops->clear(device, address, bytes));
}

storm_status storm_device_pin(struct storm_device *device, void *host,
                              size_t bytes)
{
    if (!device || bytes == 0)
        return STORM_OK;
    if (device->lost)
        return STORM_ERR_DEVICE;
    storm_status status =
        reserve_block(device, &device->pins, device->n_pins, &device->max_pins);
    if (status == STORM_OK)
        status = note(device, device->ops->pin(device, host, bytes));
    if (status < 0)
        return status;
    device->pins[device->n_pins++] =
        (struct storm_device_block){NULL, (uintptr_t)host, bytes};
    device->counts.pinned_bytes += bytes;
    return STORM_OK;
}

void storm_device_unpin(struct storm_device *device, void *host)
{
    if (!device || !host)
        return;
    size_t i = 0;
    while (i < device->n_pins && device->pins[i].address != (uintptr_t)host)
        i++;
    if (i == device->n_pins)
        return; /* no bytes, or refused */
    (void)storm_device_wait(device);
    device->counts.pinned_bytes -= device->pins[i].bytes;
    device->pins[i] = device->pins[--device->n_pins];
    device->ops->unpin(device, host);
}

/* ---- kernels ------------------------------------------------------------ */

storm_status storm_device_find(struct storm_device *device,
                               const struct storm_device_program *program,
                               const char *name,
                               const struct storm_device_kernel **kernel_out)
{
    if (device->lost)
        return STORM_ERR_DEVICE;
    const struct storm_device_function *function = program->functions;
    while (function->name && strcmp(function->name, name) != 0)
        function++;
    if (!function->name)
        return STORM_ERR_NOSUP;
    struct storm_device_kernel *kernel = device->kernels;
    while (kernel && kernel->function != function)
        kernel = kernel->next;
    if (!kernel) {
        kernel =
            storm_alloc(device->env->memory, "device book", sizeof *kernel);
        if (!kernel)
            return storm_env_explain(device->env, STORM_ERR_NOMEM);
        kernel->program = program;
        kernel->function = function;
        storm_status status = note(device, device->ops->find(device, kernel));
        if (status < 0) {
            storm_free(device->env->memory, kernel);
            return status;
        }
        kernel->next = device->kernels;
        device->kernels = kernel;
    }
    *kernel_out = kernel;
    return STORM_OK;
}

storm_status storm_device_launch(struct storm_device *device,
                                 const struct storm_device_kernel *kernel,
                                 const void *args, size_t args_bytes,
                                 size_t n_threads,
                                 storm_device_launch_id *launch_out)
{
    STORM_ASSERT(args_bytes > 0 && args_bytes <= STORM_DEVICE_ARGS_MAX);
    if (device->lost)
        return STORM_ERR_DEVICE;
    if (n_threads == 0) { /* ends with the one before it */
        *launch_out = device->n_launches;
        return STORM_OK;
    }
    device->n_launches++;
    device->counts.launches++;
    storm_status status =
        note(device,
             device->ops->launch(device, kernel, args, args_bytes, n_threads));
    if (status == STORM_OK)
        *launch_out = device->n_launches;
    return status;
}

storm_status storm_device_order(struct storm_device *device)
{
    if (device->lost)
        return STORM_ERR_DEVICE;
    return note(device, device->ops->order(device));
}

storm_status storm_device_poll(struct storm_device *device,
                               storm_device_launch_id launch)
{
    STORM_ASSERT(launch <= device->n_launches);
    if (device->lost)
        return STORM_ERR_DEVICE;
    return note(device, device->ops->poll(device, launch));
}

storm_status storm_device_wait(struct storm_device *device)
{
    if (device->lost)
        return STORM_ERR_DEVICE;
    return note(device, device->ops->wait(device));
}

/* ---- what it is and did ------------------------------------------------- */

const char *storm_device_name(const struct storm_device *device)
{
    return device ? device->name : "none";
}

struct storm_device_counts
storm_device_counts(const struct storm_device *device)
{
    return device ? device->counts : (struct storm_device_counts){0};
}

void storm_device_survey(void (*line)(void *self, const char *text), void *self)
{
    for (size_t i = 0; device_list[i]; i++)
        device_list[i]->survey(line, self);
}
