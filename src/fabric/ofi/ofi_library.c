/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libfabric is loaded at run time for one more reason than other libraries:
 * those that it loads (PSM) catch signals such as SIGSEGV as soon as
 * they are loaded, and only the environment, read at that moment, prevents it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/library.h"
#include "fabric/ofi/ofi_internal.h"

/* Bounds of FI_UNIVERSE_SIZE. */
enum { UNIVERSE_MIN = 16, UNIVERSE_MAX = 256 };

/*
 * What must be in the environment before libfabric first reads it, because no
 * hint does the same. Nothing that the user has set is changed. setenv disturbs
 * other threads that read the environment at that moment; it happens once in a
 * process, before the first engine has any thread that does.
 *
 *   IPATH_NO_BACKTRACE, HFI_NO_BACKTRACE   see above
 *   FI_OFI_RXM_BUFFER_SIZE   messages are all small here: 1 KiB instead of 16
 *       saves 75 MB a rank at 32 ranks
 *   FI_UNIVERSE_SIZE   expected peers; some providers multiply queues by it,
 *       and devices do not grant what comes out for thousands. A rank has a few
 *       dozen peers, however many ranks there are
 */
static void prepare_environment(void)
{
    static const char *const variable[][2] = {
        {"IPATH_NO_BACKTRACE", "1"},
        {"HFI_NO_BACKTRACE", "1"},
        {"FI_OFI_RXM_BUFFER_SIZE", "1024"},
    };
    for (size_t i = 0; i < sizeof variable / sizeof variable[0]; i++)
        setenv(variable[i][0], variable[i][1], 0);
}

void ofi_prepare(int n_ranks)
{
    char text[16];
    int n = n_ranks < UNIVERSE_MAX ? n_ranks : UNIVERSE_MAX;
    snprintf(text, sizeof text, "%d", n > UNIVERSE_MIN ? n : UNIVERSE_MIN);
    setenv("FI_UNIVERSE_SIZE", text, 0);
    prepare_environment();
}

storm_status ofi_library_open(struct ofi_library *library, char *reason_out,
                              size_t reason_bytes)
{
    static const struct storm_library_symbol symbols[] = {
        {"fi_getinfo", NULL, offsetof(struct ofi_library, getinfo)},
        {"fi_freeinfo", NULL, offsetof(struct ofi_library, freeinfo)},
        {"fi_dupinfo", NULL, offsetof(struct ofi_library, dupinfo)},
        {"fi_fabric", NULL, offsetof(struct ofi_library, fabric)},
        {"fi_strerror", NULL, offsetof(struct ofi_library, strerror)},
        {NULL, NULL, 0},
    };
    static const struct storm_library libfabric = {
        .name = "libfabric", .file = "libfabric.so.1", .symbols = symbols};
    prepare_environment();
    return storm_library_load(&libfabric, library, reason_out, reason_bytes);
}
