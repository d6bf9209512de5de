/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/info.h
 * What this build of the library is, and what it can do on this machine.
 *
 * All functions are local, never block for long, keep no state and may be
 * called before MPI_Init. Texts are constant and live for ever.
 */
#ifndef STORM_INFO_H
#define STORM_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <storm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct storm_context; /* opaque, storm/context.h */
struct storm_engine;  /* opaque, storm/engine.h */

/** How the library was built. */
struct storm_build {
    size_t size;            /**< of this struct: STORM_BUILD_INIT */
    const char *version;    /**< such as "0.1.0" */
    const char *commit;     /**< of the source, or "unknown" */
    const char *build_type; /**< such as "Release" */
    const char *compiler;   /**< name and version */
    const char *flags;      /**< of the compiler */
    const char *ptx;        /**< how its kernels for GPUs were made; "": none */
};
#define STORM_BUILD_INIT STORM_INIT(struct storm_build)

/** The build. STORM_ERR_ARG: @p build_out does not begin with
 *  STORM_BUILD_INIT. */
STORM_API STORM_MUST_CHECK storm_status
storm_build_info(struct storm_build *build_out);

/** Name and version of the MPI library in use, such as "Open MPI 4.1.4".
 *  @param text_out  cut to @p text_bytes, always ended by '\0' */
STORM_API void storm_mpi_name(char *text_out, size_t text_bytes);

/** Cores that this process may use, by its affinity and the quotas of its
 *  control groups; at least 1. */
STORM_API int storm_host_cores(void);

/** Memory that processes here may use together: that of the machine, or less
 *  by the limits of control groups, in bytes; 0: unknown. */
STORM_API double storm_host_memory(void);

/**
 * Devices that can compute physics here (option transport.device): calls
 * @p line for each, and with the reason if there is no GPU. Starts the driver
 * of GPUs, if there is one: it may take a second.
 */
STORM_API void storm_host_devices(void (*line)(void *self, const char *text),
                                  void *self);

/** What a rank's device is and did. */
struct storm_device_used {
    size_t size;           /**< of this struct: STORM_DEVICE_USED_INIT */
    const char *name;      /**< "none", "emulated", or that of the GPU; lives
                                 as long as the context */
    uint64_t launches;     /**< of kernels */
    double kernel_seconds; /**< of all of them, even if some overlap */
    uint64_t bytes_to;     /**< copied to the device, and */
    uint64_t bytes_from;   /**< from it */
    uint64_t memory_bytes; /**< of the device in use, and */
    uint64_t peak_bytes;   /**< the most so far */
    uint64_t pinned_bytes; /**< memory of the host that kernels may use */
    double copy_seconds;   /**< that the rank has waited for these copies */
};
#define STORM_DEVICE_USED_INIT STORM_INIT(struct storm_device_used)

/** The device of this rank. STORM_ERR_ARG: @p used_out does not begin with
 *  STORM_DEVICE_USED_INIT. */
STORM_API STORM_MUST_CHECK storm_status
storm_context_device(const struct storm_context *context,
                     struct storm_device_used *used_out);

/** A backend: a value of the option transport.backend. */
struct storm_backend {
    size_t size; /**< of this struct in the library */
    const char *name;
    bool built;       /**< part of this build */
    const char *what; /**< one line: what it is */
};

/** The i-th backend, best first, or NULL past the end. */
STORM_API const struct storm_backend *storm_backend_at(size_t i);

/** The backend of that name, or NULL. */
STORM_API const struct storm_backend *storm_backend_find(const char *name);

/**
 * Can a backend carry packets on this machine?
 *
 * @param name              a backend's name
 * @param[out] reason_out   if not, the reason in one line; may be NULL
 * @param reason_bytes      bytes available there
 * @retval STORM_ERR_ARG    there is no backend of that name
 * @retval STORM_ERR_NOSUP  it is not built, or cannot work here
 */
STORM_API STORM_MUST_CHECK storm_status
storm_backend_probe(const char *name, char *reason_out, size_t reason_bytes);

/**
 * What a backend finds on this machine: calls @p line once for each device or
 * provider, best first. Some report nothing.
 */
STORM_API void storm_backend_survey(const char *name,
                                    void (*line)(void *self, const char *text),
                                    void *self);

/** What the option transport.backend = auto takes, as seen from this
 *  machine: between the ranks of one node, or of several. */
STORM_API const char *storm_backend_best(bool one_node);

/** How the packets of an engine travel: what was chosen, not what was asked
 *  for. Texts live as long as the engine; "": none. */
struct storm_backend_used {
    size_t size;              /**< of this struct: STORM_BACKEND_USED_INIT */
    const char *backend;      /**< a backend's name */
    const char *node_backend; /**< within nodes, if it is another one */
    const char *protocol;     /**< "fast" or "paper"; messages: "none" */
    const char *provider;     /**< device or provider of the network */
};
#define STORM_BACKEND_USED_INIT STORM_INIT(struct storm_backend_used)

/** Which backend an engine uses. STORM_ERR_ARG: @p used_out does not begin
 *  with STORM_BACKEND_USED_INIT. */
STORM_API STORM_MUST_CHECK storm_status
storm_engine_backend(const struct storm_engine *engine,
                     struct storm_backend_used *used_out);

#ifdef __cplusplus
}
#endif
#endif /* STORM_INFO_H */
