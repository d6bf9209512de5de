/* SPDX-License-Identifier: BSD-3-Clause */
/* A GPU: which one, its memory, and what to do when it fails. */
#include "device/cuda/cuda_device.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

/* Kernels are compiled for these and later ones: cmake/StormDevice.cmake. */
enum { CUDA_MIN_MAJOR = 8 };

/* ---- errors ------------------------------------------------------------- */

static const char *advice(int code)
{
    switch (code) {
    case CUDA_NO_MEMORY:
        return "use fewer cells or packets, or more GPUs";
    case CUDA_UNAVAILABLE:
        return "another process has it for itself: see nvidia-smi, compute "
               "mode";
    case CUDA_BAD_ADDRESS:
        return "this is a bug of storm: report it with the deck, and run with "
               "--device none";
    case CUDA_TIMEOUT:
        return "the GPU also draws a screen, which limits kernels: use another "
               "one";
    default:
        return "see nvidia-smi and the kernel's log (dmesg, Xid); restart from "
               "a checkpoint, on another GPU or with --device none";
    }
}

storm_status cuda_check(const struct cuda_device *cuda, int code,
                        const char *call)
{
    if (code == CUDA_OK)
        return STORM_OK;
    const char *name = NULL;
    if (cuda->driver.get_error_name(code, &name) != CUDA_OK || !name)
        name = "unknown";
    storm_log_write(&cuda->device.env->log, STORM_LOG_ERROR,
                    "the GPU of rank %d (%s) failed: %s: %s (%s, %d); %s",
                    cuda->device.env->rank, cuda->device.name, call,
                    cuda_driver_text(&cuda->driver, code), name, code,
                    advice(code));
    return STORM_ERR_DEVICE;
}

storm_status cuda_enter(const struct cuda_device *cuda)
{
    return cuda_check(cuda, cuda->driver.context_set(cuda->context),
                      "cuCtxSetCurrent");
}

/* ---- which -------------------------------------------------------------- */

struct cuda_identity {
    char name[96];
    size_t memory_bytes;
    int major, minor;
};

static int identify(const struct cuda_driver *driver, int i, int *handle_out,
                    struct cuda_identity *identity_out)
{
    struct cuda_identity *id = identity_out;
    int code = driver->device_get(handle_out, i);
    if (code == CUDA_OK)
        code = driver->device_name(id->name, sizeof id->name, *handle_out);
    if (code == CUDA_OK)
        code = driver->device_memory(&id->memory_bytes, *handle_out);
    if (code == CUDA_OK)
        code = driver->device_attribute(&id->major, CUDA_MAJOR, *handle_out);
    if (code == CUDA_OK)
        code = driver->device_attribute(&id->minor, CUDA_MINOR, *handle_out);
    return code;
}

/* STORM_DONE: there is no driver or no GPU; STORM_ERR_NOSUP: they do not work.
 * Both with the reason. */
static storm_status count(struct cuda_driver *driver, int *n_out,
                          char *reason_out, size_t reason_bytes)
{
    if (cuda_driver_open(driver, reason_out, reason_bytes) < 0)
        return STORM_DONE;
    int n = 0;
    int code = driver->init(0);
    if (code == CUDA_OK)
        code = driver->device_count(&n);
    if (code == CUDA_NO_DEVICE || (code == CUDA_OK && n == 0)) {
        snprintf(reason_out, reason_bytes,
                 "the driver finds no GPU; is it visible here "
                 "(CUDA_VISIBLE_DEVICES, limits of the batch job)?");
        return STORM_DONE;
    }
    if (code == CUDA_STUB) {
        snprintf(reason_out, reason_bytes,
                 "libcuda.so.1 is a stub of the toolkit: take it out of "
                 "LD_LIBRARY_PATH");
        return STORM_DONE;
    }
    if (code != CUDA_OK) {
        snprintf(reason_out, reason_bytes,
                 "the driver does not start: %s (%d); try nvidia-smi",
                 cuda_driver_text(driver, code), code);
        return STORM_ERR_NOSUP;
    }
    *n_out = n;
    return STORM_OK;
}

static void cuda_survey(void (*line)(void *self, const char *text), void *self)
{
    struct cuda_driver driver;
    char text[320], reason[256];
    int n = 0, version = 0;
    if (count(&driver, &n, reason, sizeof reason) != STORM_OK) {
        snprintf(text, sizeof text, "gpu       no: %s", reason);
        line(self, text);
        return;
    }
    (void)driver.get_version(&version);
    for (int i = 0; i < n; i++) {
        struct cuda_identity id = {0};
        int handle = 0;
        int code = identify(&driver, i, &handle, &id);
        if (code != CUDA_OK)
            snprintf(text, sizeof text, "gpu %d     no: %s", i,
                     cuda_driver_text(&driver, code));
        else
            snprintf(text, sizeof text,
                     "gpu %d     %s, %.0f GiB, sm_%d%d, driver for CUDA "
                     "%d.%d%s",
                     i, id.name,
                     (double)id.memory_bytes / (1024.0 * 1024.0 * 1024.0),
                     id.major, id.minor, version / 1000, version % 1000 / 10,
                     id.major < CUDA_MIN_MAJOR ? ": too old for our kernels"
                                               : "");
        line(self, text);
    }
}

/* ---- open and close ----------------------------------------------------- */

static void cuda_close(struct storm_device *device)
{
    struct cuda_device *cuda = cuda_of(device);
    const struct cuda_driver *driver = &cuda->driver;
    struct storm_memory *memory = device->env->memory;
    if (cuda->context)
        (void)driver->context_set(cuda->context);
    while (cuda->modules) {
        struct cuda_module *module = cuda->modules;
        cuda->modules = module->next;
        (void)driver->module_unload(module->handle);
        storm_free(memory, module);
    }
    for (size_t i = 0; i < STORM_DEVICE_LAUNCHES_MAX; i++) {
        if (cuda->launches[i].begin)
            (void)driver->event_destroy(cuda->launches[i].begin);
        if (cuda->launches[i].end)
            (void)driver->event_destroy(cuda->launches[i].end);
    }
    if (cuda->fence)
        (void)driver->event_destroy(cuda->fence);
    for (int i = 0; i < CUDA_STREAMS; i++)
        if (cuda->streams[i])
            (void)driver->stream_destroy(cuda->streams[i]);
    if (cuda->context) {
        (void)driver->context_set(NULL);
        (void)driver->context_release(cuda->handle);
    }
    storm_free(memory, cuda);
}

/* Context, streams and events. The code of the driver. */
static int prepare(struct cuda_device *cuda)
{
    const struct cuda_driver *driver = &cuda->driver;
    int code = driver->context_retain(&cuda->context, cuda->handle);
    if (code != CUDA_OK) {
        cuda->context = NULL;
        return code;
    }
    code = driver->context_set(cuda->context);
    for (int i = 0; code == CUDA_OK && i < CUDA_STREAMS; i++)
        code =
            driver->stream_create(&cuda->streams[i], CUDA_STREAM_NON_BLOCKING);
    if (code == CUDA_OK)
        code = driver->event_create(&cuda->fence, 0);
    for (size_t i = 0; code == CUDA_OK && i < STORM_DEVICE_LAUNCHES_MAX; i++) {
        code = driver->event_create(&cuda->launches[i].begin, 0);
        if (code == CUDA_OK)
            code = driver->event_create(&cuda->launches[i].end, 0);
    }
    return code;
}

/* The GPU number i of the n of this node, which its ranks share. */
static storm_status open_at(struct cuda_device *cuda, int i, char *reason_out,
                            size_t reason_bytes)
{
    struct cuda_identity id = {0};
    int code = identify(&cuda->driver, i, &cuda->handle, &id);
    if (code == CUDA_OK && id.major < CUDA_MIN_MAJOR) {
        snprintf(reason_out, reason_bytes,
                 "%s (sm_%d%d) is too old for our kernels (sm_%d0)", id.name,
                 id.major, id.minor, CUDA_MIN_MAJOR);
        return STORM_ERR_NOSUP;
    }
    memcpy(cuda->device.name, id.name, sizeof cuda->device.name);
    if (code == CUDA_OK)
        code = prepare(cuda);
    if (code == CUDA_OK)
        return STORM_OK;
    snprintf(reason_out, reason_bytes, "GPU %d: %s (%d); %s", i,
             cuda_driver_text(&cuda->driver, code), code, advice(code));
    return STORM_ERR_NOSUP;
}

static storm_status cuda_open(const struct storm_env *env,
                              const struct storm_device_params *params,
                              char *reason_out, size_t reason_bytes,
                              struct storm_device **device_out)
{
    struct cuda_driver driver;
    int n = 0;
    storm_status status = count(&driver, &n, reason_out, reason_bytes);
    if (status != STORM_OK)
        return status;
    if (!params->has_ptx) {
        snprintf(reason_out, reason_bytes,
                 "this build has no kernels for GPUs: build storm where clang "
                 "14 or later is found");
        return STORM_ERR_NOSUP;
    }
    struct cuda_device *cuda =
        storm_alloc(env->memory, "device book", sizeof *cuda);
    if (!cuda)
        return storm_env_explain(env, STORM_ERR_NOMEM);
    cuda->device.ops = &storm_device_cuda;
    cuda->device.env = env;
    cuda->driver = driver;
    int i = (int)((int64_t)params->node_rank * n /
                  (params->node_ranks > 0 ? params->node_ranks : 1));
    status = open_at(cuda, i, reason_out, reason_bytes);
    if (status < 0) {
        cuda_close(&cuda->device);
        return status;
    }
    storm_log_write(&env->log, STORM_LOG_INFO,
                    "rank %d computes on %s (%d of %d of its node)", env->rank,
                    cuda->device.name, i + 1, n);
    *device_out = &cuda->device;
    return STORM_OK;
}

/* ---- memory ------------------------------------------------------------- */

static storm_status cuda_alloc(struct storm_device *device, size_t bytes,
                               storm_device_address *address_out)
{
    struct cuda_device *cuda = cuda_of(device);
    storm_status status = cuda_enter(cuda);
    if (status < 0)
        return status;
    int code = cuda->driver.alloc(address_out, bytes);
    return code == CUDA_NO_MEMORY ? STORM_ERR_NOMEM
                                  : cuda_check(cuda, code, "cuMemAlloc");
}

/* A device that is lost, or gone with its driver, frees by itself. */
static void cuda_free(struct storm_device *device, storm_device_address address,
                      size_t bytes)
{
    struct cuda_device *cuda = cuda_of(device);
    (void)bytes;
    (void)cuda->driver.context_set(cuda->context);
    (void)cuda->driver.free(address);
}

static size_t cuda_memory_left(struct storm_device *device)
{
    struct cuda_device *cuda = cuda_of(device);
    size_t left = 0, total = 0;
    return cuda->driver.memory_info(&left, &total) == CUDA_OK ? left : 0;
}

/* Copies go into the first stream, after all launches. */
static storm_status copied(struct storm_device *device, int code,
                           const char *call)
{
    struct cuda_device *cuda = cuda_of(device);
    storm_status status = cuda_check(cuda, code, call);
    return status == STORM_OK ? cuda_wait(device) : status;
}

static storm_status cuda_put(struct storm_device *device,
                             storm_device_address to, const void *from,
                             size_t bytes)
{
    struct cuda_device *cuda = cuda_of(device);
    storm_status status = cuda_order(device);
    return status == STORM_OK
               ? copied(device,
                        cuda->driver.put(to, from, bytes, cuda->streams[0]),
                        "cuMemcpyHtoDAsync")
               : status;
}

static storm_status cuda_get(struct storm_device *device, void *to,
                             storm_device_address from, size_t bytes)
{
    struct cuda_device *cuda = cuda_of(device);
    storm_status status = cuda_order(device);
    return status == STORM_OK
               ? copied(device,
                        cuda->driver.get(to, from, bytes, cuda->streams[0]),
                        "cuMemcpyDtoHAsync")
               : status;
}

static storm_status cuda_clear(struct storm_device *device,
                               storm_device_address address, size_t bytes)
{
    struct cuda_device *cuda = cuda_of(device);
    const struct cuda_driver *driver = &cuda->driver;
    storm_status status = cuda_order(device);
    if (status == STORM_OK)
        status =
            cuda_check(cuda, driver->set8(address, 0, bytes, cuda->streams[0]),
                       "cuMemsetD8Async");
    if (status == STORM_OK)
        status = cuda_check(cuda,
                            driver->event_record(cuda->fence, cuda->streams[0]),
                            "cuEventRecord");
    for (int i = 1; status == STORM_OK && i < CUDA_STREAMS; i++)
        status =
            cuda_check(cuda,
                       driver->stream_wait(cuda->streams[i], cuda->fence, 0),
                       "cuStreamWaitEvent");
    return status;
}

static storm_status cuda_pin(struct storm_device *device, void *host,
                             size_t bytes)
{
    struct cuda_device *cuda = cuda_of(device);
    cuda_address address = 0;
    storm_status status = cuda_enter(cuda);
    if (status < 0)
        return status;
    int code = cuda->driver.pin(host, bytes, CUDA_PIN_MAPPED);
    switch (code) {
    case CUDA_BAD_VALUE:
    case CUDA_NO_MEMORY:
    case CUDA_SYSTEM_REFUSES:
    case CUDA_ALREADY_PINNED:
    case CUDA_NOT_SUPPORTED:
        storm_log_write(&device->env->log, STORM_LOG_ERROR,
                        "%.4g MB of rank %d cannot be shared with its GPU: %s "
                        "(%d); is locked memory limited (ulimit -l)?",
                        1e-6 * (double)bytes, device->env->rank,
                        cuda_driver_text(&cuda->driver, code), code);
        return STORM_ERR_NOMEM;
    default:
        status = cuda_check(cuda, code, "cuMemHostRegister");
    }
    if (status < 0)
        return status;
    code = cuda->driver.pinned_address(&address, host, 0);
    status = cuda_check(cuda, code, "cuMemHostGetDevicePointer");
    if (status < 0)
        (void)cuda->driver.unpin(host);
    STORM_ASSERT(status < 0 || address == (uintptr_t)host); /* DEVICE-4 */
    return status;
}

static void cuda_unpin(struct storm_device *device, void *host)
{
    struct cuda_device *cuda = cuda_of(device);
    (void)cuda->driver.context_set(cuda->context);
    (void)cuda->driver.unpin(host);
}

const struct storm_device_ops storm_device_cuda = {
    .kind = "gpu",
    .survey = cuda_survey,
    .open = cuda_open,
    .close = cuda_close,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .memory_left = cuda_memory_left,
    .put = cuda_put,
    .get = cuda_get,
    .clear = cuda_clear,
    .pin = cuda_pin,
    .unpin = cuda_unpin,
    .find = cuda_find,
    .launch = cuda_launch,
    .order = cuda_order,
    .poll = cuda_poll,
    .wait = cuda_wait,
};
