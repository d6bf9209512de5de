/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of a GPU: load, launch, wait. */
#include <string.h>

#include "base/memory.h"
#include "device/cuda/cuda_device.h"

enum {
    CUDA_BLOCK = 128, /* threads */
    CUDA_LOG_BYTES = 512
};

/* ---- programs ----------------------------------------------------------- */

/* The driver compiles the program for this GPU, or has it from an earlier run.
 * What it cannot compile is no reason to end a run. */
static storm_status load(const struct cuda_device *cuda, const char *ptx,
                         void **module_out)
{
    char text[CUDA_LOG_BYTES] = "";
    const enum cuda_jit options[] = {CUDA_JIT_ERRORS, CUDA_JIT_ERRORS_BYTES};
    void *values[] = {text, (void *)(uintptr_t)sizeof text};
    int code = cuda->driver.module_load(module_out, ptx, 2, options, values);
    switch (code) {
    case CUDA_BAD_IMAGE:
    case CUDA_NO_BINARY:
    case CUDA_BAD_PTX:
    case CUDA_NO_COMPILER:
    case CUDA_NEW_PTX:
    case CUDA_COMPILER_OFF:
        break;
    default:
        return cuda_check(cuda, code, "cuModuleLoadDataEx");
    }
    text[strcspn(text, "\n")] = '\0';
    storm_log_write(&cuda->device.env->log, STORM_LOG_WARN,
                    "the driver cannot compile kernels for %s: %s%s%s; install "
                    "a newer driver with its compiler "
                    "(libnvidia-ptxjitcompiler)",
                    cuda->device.name, cuda_driver_text(&cuda->driver, code),
                    text[0] ? ": " : "", text);
    return STORM_ERR_NOSUP;
}

static storm_status module_of(struct cuda_device *cuda,
                              const struct storm_device_program *program,
                              struct cuda_module **module_out)
{
    struct cuda_module *module = cuda->modules;
    while (module && module->program != program)
        module = module->next;
    if (!module) {
        struct storm_memory *memory = cuda->device.env->memory;
        module = storm_alloc(memory, "device book", sizeof *module);
        if (!module)
            return storm_env_explain(cuda->device.env, STORM_ERR_NOMEM);
        storm_status status = load(cuda, program->ptx, &module->handle);
        if (status < 0) {
            storm_free(memory, module);
            return status;
        }
        module->program = program;
        module->next = cuda->modules;
        cuda->modules = module;
    }
    *module_out = module;
    return STORM_OK;
}

storm_status cuda_find(struct storm_device *device,
                       struct storm_device_kernel *kernel)
{
    struct cuda_device *cuda = cuda_of(device);
    struct cuda_module *module = NULL;
    if (!kernel->program->ptx[0])
        return STORM_ERR_NOSUP;
    storm_status status = cuda_enter(cuda);
    if (status == STORM_OK)
        status = module_of(cuda, kernel->program, &module);
    if (status < 0)
        return status;
    int code = cuda->driver.module_function(&kernel->handle, module->handle,
                                            kernel->function->name);
    return code == CUDA_NOT_FOUND
               ? STORM_ERR_NOSUP
               : cuda_check(cuda, code, "cuModuleGetFunction");
}

/* ---- launches ----------------------------------------------------------- */

static struct cuda_launch *launch_at(struct cuda_device *cuda,
                                     storm_device_launch_id id)
{
    return &cuda->launches[id % STORM_DEVICE_LAUNCHES_MAX];
}

/* The launch after `ended` has ended. */
static storm_status end_next(struct cuda_device *cuda)
{
    struct cuda_launch *launch = launch_at(cuda, ++cuda->ended);
    float milliseconds = 0.0f;
    int code =
        cuda->driver.event_elapsed(&milliseconds, launch->begin, launch->end);
    cuda->device.counts.kernel_seconds += 1e-3 * (double)milliseconds;
    return cuda_check(cuda, code, "cuEventElapsedTime");
}

/* Ends launches up to `id`, one after the other. */
static storm_status end_up_to(struct cuda_device *cuda,
                              storm_device_launch_id id)
{
    storm_status status = cuda_enter(cuda);
    while (status == STORM_OK && cuda->ended < id) {
        struct cuda_launch *launch = launch_at(cuda, cuda->ended + 1);
        status = cuda_check(cuda, cuda->driver.event_synchronize(launch->end),
                            "a kernel");
        if (status == STORM_OK)
            status = end_next(cuda);
    }
    return status;
}

storm_status cuda_poll(struct storm_device *device,
                       storm_device_launch_id launch)
{
    struct cuda_device *cuda = cuda_of(device);
    storm_status status = cuda_enter(cuda);
    while (status == STORM_OK && cuda->ended < launch) {
        int code =
            cuda->driver.event_query(launch_at(cuda, cuda->ended + 1)->end);
        if (code == CUDA_NOT_READY)
            return STORM_AGAIN;
        status = cuda_check(cuda, code, "a kernel");
        if (status == STORM_OK)
            status = end_next(cuda);
    }
    return status;
}

storm_status cuda_wait(struct storm_device *device)
{
    struct cuda_device *cuda = cuda_of(device);
    storm_status status = end_up_to(cuda, device->n_launches);
    for (int i = 0; status == STORM_OK && i < CUDA_STREAMS; i++)
        status =
            cuda_check(cuda, cuda->driver.stream_synchronize(cuda->streams[i]),
                       "cuStreamSynchronize");
    return status;
}

/* What is put into a stream from now on begins after what is in the others. */
storm_status cuda_order(struct storm_device *device)
{
    struct cuda_device *cuda = cuda_of(device);
    storm_status status = cuda_enter(cuda);
    for (int from = 0; from < CUDA_STREAMS; from++)
        for (int to = 0; to < CUDA_STREAMS; to++)
            if (status == STORM_OK && to != from &&
                cuda->last[from] > cuda->ended)
                status =
                    cuda_check(cuda,
                               cuda->driver.stream_wait(
                                   cuda->streams[to],
                                   launch_at(cuda, cuda->last[from])->end, 0),
                               "cuStreamWaitEvent");
    return status;
}

storm_status cuda_launch(struct storm_device *device,
                         const struct storm_device_kernel *kernel,
                         const void *args, size_t args_bytes, size_t n_threads)
{
    struct cuda_device *cuda = cuda_of(device);
    const struct cuda_driver *driver = &cuda->driver;
    storm_device_launch_id id = device->n_launches;
    int stream = (int)(id % CUDA_STREAMS);
    struct cuda_launch *launch = launch_at(cuda, id);
    uint64_t n = n_threads;
    /* The driver copies as many bytes as the kernel's arguments have. */
    void *arguments[] = {(void *)(uintptr_t)args, &n};
    (void)args_bytes;
    storm_status status = cuda_enter(cuda);
    if (status == STORM_OK && id > STORM_DEVICE_LAUNCHES_MAX)
        status = end_up_to(cuda, id - STORM_DEVICE_LAUNCHES_MAX);
    if (status == STORM_OK)
        status = cuda_check(cuda,
                            driver->event_record(launch->begin,
                                                 cuda->streams[stream]),
                            "cuEventRecord");
    if (status == STORM_OK)
        status =
            cuda_check(cuda,
                       driver->launch(kernel->handle,
                                      (unsigned)((n + CUDA_BLOCK - 1) /
                                                 CUDA_BLOCK),
                                      1, 1, CUDA_BLOCK, 1, 1, 0,
                                      cuda->streams[stream], arguments, NULL),
                       "cuLaunchKernel");
    if (status == STORM_OK)
        status =
            cuda_check(cuda,
                       driver->event_record(launch->end, cuda->streams[stream]),
                       "cuEventRecord");
    cuda->last[stream] = id;
    return status;
}
