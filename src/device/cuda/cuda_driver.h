/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of NVIDIA's driver that we call, declared here: the driver is
 * opened at run time, and no toolkit is needed to build. The names with _v2 are
 * what its own header makes of those without.
 */
#ifndef STORM_DEVICE_CUDA_DRIVER_H
#define STORM_DEVICE_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include <storm/status.h>

typedef uint64_t cuda_address;

/* Codes that we tell apart. */
enum cuda_code {
    CUDA_OK = 0,
    CUDA_BAD_VALUE = 1,
    CUDA_NO_MEMORY = 2,
    CUDA_STUB = 34, /* the library without a driver */
    CUDA_UNAVAILABLE = 46,
    CUDA_NO_DEVICE = 100,
    CUDA_BAD_DEVICE = 101,
    CUDA_BAD_IMAGE = 200,
    CUDA_NO_BINARY = 209,
    CUDA_BAD_PTX = 218,
    CUDA_NO_COMPILER = 221,
    CUDA_NEW_PTX = 222,
    CUDA_COMPILER_OFF = 223,
    CUDA_SYSTEM_REFUSES = 304,
    CUDA_NOT_FOUND = 500,
    CUDA_NOT_READY = 600,
    CUDA_BAD_ADDRESS = 700,
    CUDA_TIMEOUT = 702,
    CUDA_ALREADY_PINNED = 712,
    CUDA_NOT_SUPPORTED = 801,
    CUDA_OLD_DRIVER = 803
};

enum cuda_attribute { CUDA_MAJOR = 75, CUDA_MINOR = 76 };
enum { CUDA_STREAM_NON_BLOCKING = 1, CUDA_PIN_MAPPED = 3 };
enum cuda_jit { CUDA_JIT_ERRORS = 5, CUDA_JIT_ERRORS_BYTES = 6 };

struct cuda_driver {
    int (*init)(unsigned flags);
    int (*get_version)(int *version);
    int (*get_error_string)(int code, const char **text);
    int (*get_error_name)(int code, const char **text);
    int (*device_count)(int *n);
    int (*device_get)(int *device, int i);
    int (*device_name)(char *name, int bytes, int device);
    int (*device_memory)(size_t *bytes, int device);
    int (*device_attribute)(int *value, enum cuda_attribute which, int device);
    int (*context_retain)(void **context, int device);
    int (*context_release)(int device);
    int (*context_set)(void *context);
    int (*module_load)(void **module, const void *image, unsigned n_options,
                       const enum cuda_jit *options, void **values);
    int (*module_unload)(void *module);
    int (*module_function)(void **function, void *module, const char *name);
    int (*alloc)(cuda_address *address, size_t bytes);
    int (*free)(cuda_address address);
    int (*memory_info)(size_t *left, size_t *total);
    int (*pin)(void *host, size_t bytes, unsigned flags);
    int (*unpin)(void *host);
    int (*pinned_address)(cuda_address *address, void *host, unsigned flags);
    int (*put)(cuda_address to, const void *from, size_t bytes, void *stream);
    int (*get)(void *to, cuda_address from, size_t bytes, void *stream);
    int (*set8)(cuda_address to, unsigned char byte, size_t n, void *stream);
    int (*stream_create)(void **stream, unsigned flags);
    int (*stream_destroy)(void *stream);
    int (*stream_synchronize)(void *stream);
    int (*stream_wait)(void *stream, void *event, unsigned flags);
    int (*event_create)(void **event, unsigned flags);
    int (*event_destroy)(void *event);
    int (*event_record)(void *event, void *stream);
    int (*event_query)(void *event);
    int (*event_synchronize)(void *event);
    int (*event_elapsed)(float *milliseconds, void *from, void *to);
    int (*launch)(void *function, unsigned grid_x, unsigned grid_y,
                  unsigned grid_z, unsigned block_x, unsigned block_y,
                  unsigned block_z, unsigned shared_bytes, void *stream,
                  void **arguments, void **extra);
};

/* STORM_ERR_NOSUP and the reason. */
storm_status cuda_driver_open(struct cuda_driver *driver_out, char *reason_out,
                              size_t reason_bytes);

/* The driver's text for a code. */
const char *cuda_driver_text(const struct cuda_driver *driver, int code);

#endif /* STORM_DEVICE_CUDA_DRIVER_H */
