/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/version.h
 * Which version of the headers a program was compiled with, and which library
 * it runs with. While the major version is 0, the minor one counts.
 */
#ifndef STORM_VERSION_H
#define STORM_VERSION_H

#include <storm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STORM_VERSION_MAJOR 0
#define STORM_VERSION_MINOR 1
#define STORM_VERSION_PATCH 0

/** A number that can be compared: 0.1.0 is 100. */
#define STORM_VERSION_NUMBER                                   \
    (STORM_VERSION_MAJOR * 10000 + STORM_VERSION_MINOR * 100 + \
     STORM_VERSION_PATCH)

/** The library's own version, such as "0.1.0". Local; lives for ever. */
STORM_API const char *storm_version(void);

/** The library's own STORM_VERSION_NUMBER. Local. */
STORM_API int storm_version_number(void);

#ifdef __cplusplus
}
#endif
#endif /* STORM_VERSION_H */
