/* SPDX-License-Identifier: BSD-3-Clause */
/* What this build is, what works here, and what an engine uses. */
#include <storm/info.h>
#include <storm/version.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <storm_backends.h>
#include <storm_build.h>

#include "base/idle.h"
#include "base/sized.h"
#include "channel/channel_choice.h"
#include "device/device.h"
#include "engine/engine_internal.h"

const char *storm_version(void)
{
    return STORM_VERSION;
}

int storm_version_number(void)
{
    return STORM_VERSION_NUMBER;
}

storm_status storm_build_info(struct storm_build *build_out)
{
    const struct storm_build build = {
        .version = STORM_VERSION,
        .commit = STORM_COMMIT,
        .build_type = STORM_BUILD_TYPE,
        .compiler = STORM_COMPILER,
        .flags = STORM_CFLAGS,
        .ptx = STORM_PTX,
    };
    return storm_sized_write(&build, sizeof build, build_out);
}

int storm_host_cores(void)
{
    uint64_t set[STORM_IDLE_WORDS];
    storm_idle_affinity(set);
    return storm_idle_cores(set);
}

double storm_host_memory(void)
{
    return storm_memory_of_host();
}

void storm_host_devices(void (*line)(void *self, const char *text), void *self)
{
    storm_device_survey(line, self);
}

storm_status storm_context_device(const struct storm_context *context,
                                  struct storm_device_used *used_out)
{
    const struct storm_device *device = context->env.device;
    const struct storm_device_counts counts = storm_device_counts(device);
    const struct storm_device_used used = {
        .name = storm_device_name(device),
        .launches = counts.launches,
        .kernel_seconds = counts.kernel_seconds,
        .bytes_to = counts.bytes_put,
        .bytes_from = counts.bytes_got,
        .memory_bytes = counts.memory_bytes,
        .peak_bytes = counts.memory_peak,
        .pinned_bytes = counts.pinned_bytes,
        .copy_seconds = counts.copy_seconds,
    };
    return storm_sized_write(&used, sizeof used, used_out);
}

/* "Open MPI v4.1.4, package: ..." and "MPICH Version:\t4.0.2\n..." become
 * "Open MPI 4.1.4" and "MPICH 4.0.2"; others lose what follows the first
 * comma or line. */
void storm_mpi_name(char *text_out, size_t text_bytes)
{
    char whole[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    if (text_bytes == 0)
        return;
    if (MPI_Get_library_version(whole, &length) != MPI_SUCCESS || length <= 0)
        snprintf(whole, sizeof whole, "unknown");
    whole[strcspn(whole, ",\n")] = '\0';

    size_t n = 0;
    char *rest = NULL;
    for (char *word = strtok_r(whole, " \t", &rest);
         word != NULL && n + 1 < text_bytes;
         word = strtok_r(NULL, " \t", &rest)) {
        if (strcmp(word, "Version:") == 0)
            continue;
        if (word[0] == 'v' && isdigit((unsigned char)word[1]))
            word++;
        int wrote = snprintf(text_out + n, text_bytes - n, "%s%s",
                             n > 0 ? " " : "", word);
        n += wrote > 0 ? (size_t)wrote : 0;
    }
    text_out[n < text_bytes ? n : text_bytes - 1] = '\0';
}

/* Every word of transport.backend but "auto". */
static const struct storm_backend info_backends[] = {STORM_BACKEND_ROWS};
enum { INFO_N_BACKENDS = sizeof info_backends / sizeof info_backends[0] };

const struct storm_backend *storm_backend_at(size_t i)
{
    return i < INFO_N_BACKENDS ? &info_backends[i] : NULL;
}

const struct storm_backend *storm_backend_find(const char *name)
{
    for (size_t i = 0; i < INFO_N_BACKENDS; i++)
        if (strcmp(info_backends[i].name, name) == 0)
            return &info_backends[i];
    return NULL;
}

storm_status storm_backend_probe(const char *name, char *reason_out,
                                 size_t reason_bytes)
{
    char unused[256];
    if (reason_out == NULL || reason_bytes == 0) {
        reason_out = unused;
        reason_bytes = sizeof unused;
    }
    reason_out[0] = '\0';
    const struct storm_backend *backend = storm_backend_find(name);
    if (backend == NULL) {
        snprintf(reason_out, reason_bytes, "no such backend");
        return STORM_ERR_ARG;
    }
    if (!backend->built) {
        snprintf(reason_out, reason_bytes, "not part of this build");
        return STORM_ERR_NOSUP;
    }
    return storm_channel_backend_probe(name, reason_out, reason_bytes);
}

void storm_backend_survey(const char *name,
                          void (*line)(void *self, const char *text),
                          void *self)
{
    storm_channel_backend_survey(name, line, self);
}

const char *storm_backend_best(bool one_node)
{
    if (one_node && storm_backend_probe("shm", NULL, 0) == STORM_OK)
        return "shm";
    return storm_channel_best_backend();
}

storm_status storm_engine_backend(const struct storm_engine *engine,
                                  struct storm_backend_used *used_out)
{
    const struct storm_channel_names *names = &engine->channel->names;
    const struct storm_backend_used used = {
        .backend = names->backend,
        .node_backend = names->near,
        .protocol = names->protocol,
        .provider = names->provider,
    };
    return storm_sized_write(&used, sizeof used, used_out);
}
