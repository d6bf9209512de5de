/* SPDX-License-Identifier: BSD-3-Clause */
#include <storm/info.h>
#include <storm/version.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <mpi.h>
#include <storm_build.h>

#include "base/sized.h"
#include "channel/channel_choice.h"
#include "fabric/fabric_ops.h"

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
    };
    return storm_sized_write(&build, sizeof build, build_out);
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

/* Every word of transport.backend but "auto"; `built` is where `fabric` has
 * a table in this build, and always for p2p, which needs none. */
struct info_backend {
    struct storm_backend absent, present;
};

#define INFO_BACKEND(_name, _what) \
    {                              \
        {_name, false, _what},     \
        {                          \
            _name, true, _what     \
        }                          \
    }

static const struct info_backend info_backends[] = {
    INFO_BACKEND("shm", "shared memory of one node"),
    INFO_BACKEND("ibv", "InfiniBand verbs"),
    INFO_BACKEND("ofi", "libfabric"),
    INFO_BACKEND("mpirma", "one-sided MPI"),
    INFO_BACKEND("p2p", "MPI messages"),
};
enum { INFO_N_BACKENDS = sizeof info_backends / sizeof info_backends[0] };

static const struct storm_fabric_ops *info_fabric(const char *name)
{
    for (size_t i = 0; storm_fabric_list[i] != NULL; i++)
        if (strcmp(storm_fabric_list[i]->name, name) == 0)
            return storm_fabric_list[i];
    return NULL;
}

const struct storm_backend *storm_backend_at(size_t i)
{
    if (i >= INFO_N_BACKENDS)
        return NULL;
    const struct info_backend *backend = &info_backends[i];
    const char *name = backend->present.name;
    bool built = strcmp(name, "p2p") == 0 || info_fabric(name) != NULL;
    return built ? &backend->present : &backend->absent;
}

const struct storm_backend *storm_backend_find(const char *name)
{
    for (size_t i = 0; i < INFO_N_BACKENDS; i++)
        if (strcmp(info_backends[i].present.name, name) == 0)
            return storm_backend_at(i);
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
    const struct storm_fabric_ops *fabric = info_fabric(name);
    return fabric != NULL ? fabric->probe(reason_out, reason_bytes) : STORM_OK;
}

void storm_backend_survey(const char *name,
                          void (*line)(void *self, const char *text),
                          void *self)
{
    const struct storm_fabric_ops *fabric = info_fabric(name);
    if (fabric != NULL && fabric->survey != NULL)
        fabric->survey(line, self);
}

const char *storm_backend_best(bool one_node)
{
    if (one_node && storm_backend_probe("shm", NULL, 0) == STORM_OK)
        return "shm";
    const struct storm_fabric_ops *network = storm_channel_best_network();
    return network != NULL ? network->name : "p2p";
}
