/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a network really does, tested against the next rank while a fabric is
 * opened: one text for all fabrics whose promises are somebody else's.
 *
 *   SELFTEST-1  Every rank goes through the same stages whatever it finds, so
 *               that no rank waits for another. A stage that gets no answer
 *               ends by a timeout.
 *   SELFTEST-2  Order (FABRIC-7) is tested with small and large puts as fast as
 *               they are accepted: no word may be seen before the put that it
 *               follows.
 */
#ifndef STORM_FABRIC_SELFTEST_H
#define STORM_FABRIC_SELFTEST_H

#include "fabric/fabric_ops.h"

struct storm_selftest {
    struct storm_fabric *fabric;
    struct storm_region *mine, *from;
    struct storm_remote *next;
    uint64_t before; /* the rank that writes here */
    struct storm_ticket ticket;
    double limit_s;
    storm_status status; /* the first error of an operation */
};

/* Makes what the stages need and tries one operation of each kind. Collective,
 * on an open fabric. STORM_ERR_NOSUP, logged: the network does not do what it
 * reports. Close it in any case. */
storm_status storm_selftest_open(struct storm_fabric *fabric,
                                 struct storm_selftest *s);

/* Did every word stay behind the puts before it, here? Collective. */
bool storm_selftest_order(struct storm_selftest *s);

/* Does all complete while the target does not poll, here? Collective. */
bool storm_selftest_asleep(struct storm_selftest *s);

/* Is it true on all ranks? Collective. */
bool storm_selftest_agree(struct storm_selftest *s, bool mine);

/* Logs why the network cannot be used. STORM_ERR_NOSUP. */
storm_status storm_selftest_refuse(const struct storm_selftest *s,
                                   const char *what);

/* Ends it with what was found so far: the same status on all ranks, an error if
 * an operation has failed. Collective. */
storm_status storm_selftest_close(struct storm_selftest *s,
                                  storm_status status);

#endif /* STORM_FABRIC_SELFTEST_H */
