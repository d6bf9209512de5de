/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libfabric is loaded when it is first needed, not linked: libraries that it
 * brings along (PSM) catch signals such as SIGSEGV as soon as they are loaded,
 * and only the environment, looked at in that moment, keeps them from it. And
 * the program starts on machines that do not have libfabric.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/ofi/ofi_internal.h"

/*
 * What must be in the environment before libfabric first looks at it, because
 * no hint says the same. Nothing that the user has set is changed.
 *
 *   IPATH_NO_BACKTRACE, HFI_NO_BACKTRACE   see above
 *   FI_OFI_RXM_BUFFER_SIZE   messages are all small here: 1 KiB instead of 16
 *       saves 75 MB a rank at 32 ranks
 */
static void prepare_environment(void)
{
    static const char *const preset[][2] = {
        {"IPATH_NO_BACKTRACE", "1"},
        {"HFI_NO_BACKTRACE", "1"},
        {"FI_OFI_RXM_BUFFER_SIZE", "1024"},
    };
    for (size_t i = 0; i < sizeof preset / sizeof preset[0]; i++)
        if (!getenv(preset[i][0]))
            setenv(preset[i][0], preset[i][1], 0);
}

/* A function of the library; false if it has none of that name. */
static bool find(void *handle, const char *name, void *function_out)
{
    void *found = dlsym(handle, name);
    memcpy(function_out, &found, sizeof found);
    return found != NULL;
}

storm_status ofi_library_open(struct ofi_library *library, char *reason_out,
                              size_t reason_bytes)
{
    prepare_environment();
    /* It stays: threads and exit handlers of its may outlive us. */
    void *handle = dlopen("libfabric.so.1", RTLD_NOW | RTLD_NODELETE);
    if (!handle) {
        snprintf(reason_out, reason_bytes,
                 "libfabric cannot be loaded (%s); install it, or set "
                 "LD_LIBRARY_PATH",
                 dlerror());
        return STORM_ERR_NOSUP;
    }
    bool found = find(handle, "fi_getinfo", &library->getinfo) &&
                 find(handle, "fi_freeinfo", &library->freeinfo) &&
                 find(handle, "fi_dupinfo", &library->dupinfo) &&
                 find(handle, "fi_fabric", &library->fabric) &&
                 find(handle, "fi_strerror", &library->strerror);
    dlclose(handle);
    if (!found) {
        snprintf(reason_out, reason_bytes,
                 "libfabric.so.1 lacks a function that storm needs");
        return STORM_ERR_NOSUP;
    }
    return STORM_OK;
}
