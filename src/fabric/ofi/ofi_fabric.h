/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fabric over libfabric, as seen from outside its folder: the table, and
 * what a program may want to tell its user about providers.
 */
#ifndef STORM_FABRIC_OFI_FABRIC_H
#define STORM_FABRIC_OFI_FABRIC_H

#include "fabric/fabric_ops.h"

extern const struct storm_fabric_ops storm_fabric_ofi;

enum { STORM_OFI_NAME_BYTES = 64, STORM_OFI_REASON_BYTES = 160 };

/* A provider of this machine. */
struct storm_ofi_provider {
    char name[STORM_OFI_NAME_BYTES];     /* as for transport.provider */
    char where[STORM_OFI_NAME_BYTES];    /* its device or interface */
    bool usable;                         /* by storm */
    bool hardware;                       /* remote memory without a processor */
    char reason[STORM_OFI_REASON_BYTES]; /* why not, if not usable */
};

/* All providers of remote memory found here: usable ones first, best first.
 * Returns how many were written. Local; the first call takes 0.1 s. */
size_t storm_ofi_providers(struct storm_ofi_provider *list_out, size_t n_list);

#endif /* STORM_FABRIC_OFI_FABRIC_H */
