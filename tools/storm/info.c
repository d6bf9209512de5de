/* SPDX-License-Identifier: BSD-3-Clause */
/* storm info: the build, and the backends and devices that work here. */
#include <stdio.h>
#include <string.h>

#include <storm/info.h>

#include "tool.h"

static void info_line(void *self, const char *text)
{
    (void)self;
    printf("    %s\n", text);
}

static void info_device(void *self, const char *text)
{
    (void)self;
    printf("  %s\n", text);
}

static void info_backends(void)
{
    const struct storm_backend *backend;
    for (size_t i = 0; (backend = storm_backend_at(i)) != NULL; i++) {
        char reason[256];
        bool works =
            storm_backend_probe(backend->name, reason, sizeof reason) >= 0;
        printf("  %-8s %-27s %s%s\n", backend->name, backend->what,
               works ? "works" : "no: ", works ? "" : reason);
        storm_backend_survey(backend->name, info_line, NULL);
    }
}

int tool_info(const struct tool_args *args)
{
    (void)args;
    struct storm_build build = STORM_BUILD_INIT;
    if (storm_build_info(&build) < 0)
        return TOOL_FAILED;
    char mpi[128];
    storm_mpi_name(mpi, sizeof mpi);
    printf("storm %s, commit %s\n\n", build.version, build.commit);
    printf("  build    %s, %s\n", build.build_type, build.compiler);
    printf("  flags    %s\n", build.flags);
    printf("  MPI      %s\n", mpi);
    printf("  cores    %d usable by this process\n", storm_host_cores());
    printf("  PTX      %s\n",
           build.ptx[0] ? build.ptx
                        : "none: no kernels for GPUs (clang was not found)");
    printf("\nbackends\n");
    info_backends();
    printf("\n  auto takes %s on one node, %s between nodes\n",
           storm_backend_best(true), storm_backend_best(false));
    printf("\ndevices\n");
    storm_host_devices(info_device, NULL);
    return TOOL_OK;
}
