/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/cuda/cuda_driver.h"

#include "base/library.h"

#define AT(_member) offsetof(struct cuda_driver, _member)

storm_status cuda_driver_open(struct cuda_driver *driver_out, char *reason_out,
                              size_t reason_bytes)
{
    static const struct storm_library_symbol symbols[] = {
        {"cuInit", NULL, AT(init)},
        {"cuDriverGetVersion", NULL, AT(get_version)},
        {"cuGetErrorString", NULL, AT(get_error_string)},
        {"cuGetErrorName", NULL, AT(get_error_name)},
        {"cuDeviceGetCount", NULL, AT(device_count)},
        {"cuDeviceGet", NULL, AT(device_get)},
        {"cuDeviceGetName", NULL, AT(device_name)},
        {"cuDeviceTotalMem_v2", NULL, AT(device_memory)},
        {"cuDeviceGetAttribute", NULL, AT(device_attribute)},
        {"cuDevicePrimaryCtxRetain", NULL, AT(context_retain)},
        {"cuDevicePrimaryCtxRelease_v2", NULL, AT(context_release)},
        {"cuCtxSetCurrent", NULL, AT(context_set)},
        {"cuModuleLoadDataEx", NULL, AT(module_load)},
        {"cuModuleUnload", NULL, AT(module_unload)},
        {"cuModuleGetFunction", NULL, AT(module_function)},
        {"cuMemAlloc_v2", NULL, AT(alloc)},
        {"cuMemFree_v2", NULL, AT(free)},
        {"cuMemGetInfo_v2", NULL, AT(memory_info)},
        {"cuMemHostRegister_v2", NULL, AT(pin)},
        {"cuMemHostUnregister", NULL, AT(unpin)},
        {"cuMemHostGetDevicePointer_v2", NULL, AT(pinned_address)},
        {"cuMemcpyHtoDAsync_v2", NULL, AT(put)},
        {"cuMemcpyDtoHAsync_v2", NULL, AT(get)},
        {"cuMemsetD8Async", NULL, AT(set8)},
        {"cuStreamCreate", NULL, AT(stream_create)},
        {"cuStreamDestroy_v2", NULL, AT(stream_destroy)},
        {"cuStreamSynchronize", NULL, AT(stream_synchronize)},
        {"cuStreamWaitEvent", NULL, AT(stream_wait)},
        {"cuEventCreate", NULL, AT(event_create)},
        {"cuEventDestroy_v2", NULL, AT(event_destroy)},
        {"cuEventRecord", NULL, AT(event_record)},
        {"cuEventQuery", NULL, AT(event_query)},
        {"cuEventSynchronize", NULL, AT(event_synchronize)},
        {"cuEventElapsedTime", NULL, AT(event_elapsed)},
        {"cuLaunchKernel", NULL, AT(launch)},
        {NULL, NULL, 0},
    };
    static const struct storm_library libcuda = {
        .name = "NVIDIA's driver", .file = "libcuda.so.1", .symbols = symbols};
    return storm_library_load(&libcuda, driver_out, reason_out, reason_bytes);
}

const char *cuda_driver_text(const struct cuda_driver *driver, int code)
{
    const char *text = NULL;
    if (driver->get_error_string(code, &text) != CUDA_OK || !text)
        return "unknown error";
    return text;
}
