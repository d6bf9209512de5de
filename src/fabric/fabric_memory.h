/* SPDX-License-Identifier: BSD-3-Clause */
/* What fabrics that register memory with a network have in common. */
#ifndef STORM_FABRIC_MEMORY_H
#define STORM_FABRIC_MEMORY_H

#include "fabric/fabric_ops.h"

/* Zeroed pages for at least `bytes` bytes, or NULL, logged (FABRIC-15); to be
 * freed, after deregistration, with munmap. Not in children of this process,
 * nor in its core dump. */
void *storm_fabric_map(const struct storm_fabric *fabric, size_t bytes,
                       size_t *mapped_out);

/* Books memory that the network has locked (or, negative, unlocked). */
void storm_fabric_pin(struct storm_fabric *fabric, ptrdiff_t bytes);

/* Logs that the network does not grant `what`, for the reason `why`; with
 * the remedy if the limit on locked memory may be the cause (`locking`). */
void storm_fabric_log_denied(const struct storm_fabric *fabric,
                             const char *what, const char *why, bool locking);

/* A descriptor that holds `card`. */
void storm_fabric_pack(const void *card, size_t bytes,
                       struct storm_region_desc *desc_out);

#endif /* STORM_FABRIC_MEMORY_H */
