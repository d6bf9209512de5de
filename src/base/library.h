/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Libraries of networks and devices are loaded when first used, not linked: so
 * the program starts on machines that lack them.
 */
#ifndef STORM_BASE_LIBRARY_H
#define STORM_BASE_LIBRARY_H

#include <stddef.h>

#include <storm/status.h>

/* One function to call. */
struct storm_library_symbol {
    const char *name;
    const char *version; /* of the symbol; NULL: the newest */
    size_t offset;       /* of its pointer in the caller's table */
};

/* What to load. */
struct storm_library {
    const char *name; /* as users know it */
    const char *file; /* as the dynamic linker finds it */
    const struct storm_library_symbol *symbols; /* ended by a NULL name */
};

/*
 * Loads the library for the rest of the process (its threads and exit handlers
 * may outlive us) and writes the address of each symbol into `table_out`.
 * Local; loading again is cheap. STORM_ERR_NOSUP and the reason.
 */
storm_status storm_library_load(const struct storm_library *library,
                                void *table_out, char *reason_out,
                                size_t reason_bytes);

#endif /* STORM_BASE_LIBRARY_H */
