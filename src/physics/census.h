/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all bundled physics share: packets at census.
 *
 *   CENSUS-1  An object is built for one generation of its mesh: its arrays
 *             have one entry for each cell the rank had then. Every user checks
 *             that first (storm_mesh_check_generation); nothing is read or
 *             written out of bounds.
 *   CENSUS-2  Balance and hash do not depend on the order of packets and cells,
 *             nor on their owners.
 *   CENSUS-3  Packets that were not remapped after cells have moved are an
 *             error. The mark of their engine is the generation of the mesh
 *             that they were in last, plus 1.
 *   CENSUS-4  Packets of the last step are taken in the order of their cells,
 *             so that those in flight at one time share the memory of a few
 *             cells. No result depends on it (CENSUS-2).
 */
#ifndef STORM_PHYSICS_CENSUS_H
#define STORM_PHYSICS_CENSUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <storm/engine.h>
#include <storm/mesh.h>

#include "physics/ledger.h"

/* For a batch on a mesh that has changed: all packets stay as they are, and
 * post_step reports it. */
void storm_census_stop(size_t n, struct storm_outcome *outcomes_out);

/*
 * In pre_step: packets of the last step get dt_s, but for those that are kept
 * on a device; *largest_inout is raised to the largest weight of this rank.
 * Those whose index is not that of their cell (they were added here by their
 * tag, or the mesh was cut anew) are looked up and marked for the kernel to
 * send. Collective; STORM_ERR_STATE (logged): a packet is in no cell, or cells
 * have moved (CENSUS-3).
 */
storm_status storm_census_wake(struct storm_step *step,
                               const struct storm_mesh *mesh, double dt_s,
                               double *largest_inout);

/* Bytes of the bundled records that this engine has: photons or packets. */
size_t storm_census_record_bytes(const struct storm_engine *engine);

/* CENSUS-3: have cells moved, last in generation `moved`, since the mark? */
static inline bool storm_census_is_left(uint64_t mark, uint64_t moved)
{
    return mark != 0 && mark - 1 < moved;
}

/* Of a packet marked so, with a negative index: the rank it goes to, and its
 * index there. */
static inline int storm_census_route(struct storm_packet *packet)
{
    packet->cell_idx = ~packet->cell_idx;
    return (int)packet->face;
}

/* storm_ledger_balance, after the packets of the engine have been added up in
 * the last account. Collective, blocks. */
storm_status storm_census_balance(struct storm_engine *engine,
                                  const struct storm_context *context,
                                  struct storm_ledger *account,
                                  double *value_out, double *error_out);

/* Hash of the packets of the engine and of the cells, each with its value in
 * every field. Collective, blocks. */
storm_status storm_census_hash(struct storm_engine *engine,
                               const struct storm_context *context,
                               const struct storm_mesh *mesh,
                               const double *const *fields, size_t n_fields,
                               uint64_t *hash_out);

#endif /* STORM_PHYSICS_CENSUS_H */
