/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over cells of all ranks in the order of their tags. */
#ifndef STORM_MESH_ORDER_H
#define STORM_MESH_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "mesh/mesh_ops.h"

/* Values of cells of this rank, by cell in ascending order. */
struct storm_mesh_values {
    size_t n;
    const storm_cell_idx *cells;
    const uint64_t *values;
};

/*
 * The sum of what comes before each value: those of cells of lower tag, on any
 * rank, and earlier ones of the same cell. So it does not depend on the
 * partition. Collective; `status` is that of this rank so far. before_out may
 * be the array of the values; total_out is of all ranks.
 */
storm_status storm_mesh_sums(const struct storm_mesh *mesh, storm_status status,
                             const struct storm_mesh_values *values,
                             uint64_t *before_out, uint64_t *total_out);

#endif /* STORM_MESH_ORDER_H */
