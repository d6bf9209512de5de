/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Internals of the Cartesian mesh: for mesh/cart and, through cart_geom.h, for
 * the tracking kernel.
 *
 * Every rank holds all n[0] + n[1] + n[2] + 3 edges: so geometry is the same
 * bits on every rank (MESH-3), and locate is fast.
 */
#ifndef STORM_MESH_CART_MESH_H
#define STORM_MESH_CART_MESH_H

#include <stdbool.h>
#include <stdint.h>

#include "mesh/mesh_borders.h"
#include "mesh/mesh_ops.h"

/* Faces of a cell are numbered like the walls: x low, x high, y low, ... */
enum { CART_N_FACES = 6 };

/* All that a packet in flight touches of a cell: half a cache line. */
struct cart_cell {
    int32_t next[CART_N_FACES]; /* local neighbour, or ~index of a border */
    uint64_t ijk;               /* packed, see cart_unpack */
};
_Static_assert(sizeof(struct cart_cell) == 32, "two cells per cache line");

struct cart_part {
    struct storm_mesh_part base;
    struct cart_cell *cells;
    struct storm_borders borders;
};

struct cart_mesh {
    struct storm_mesh base;
    int32_t n[3];
    bool periodic[3];
    double *edge[3]; /* n[d] + 1 each, strictly increasing */
    int shift[3];    /* of ijk */
    uint64_t mask[3];
};

static inline const struct cart_mesh *cart_of(const struct storm_mesh *mesh)
{
    return (const struct cart_mesh *)mesh;
}

static inline const struct cart_part *
cart_part_of(const struct storm_mesh *mesh)
{
    return (const struct cart_part *)mesh->part;
}

/* The d-th of the three indices of a cell. */
static inline int32_t cart_unpack(const struct cart_mesh *cart, uint64_t ijk,
                                  int d)
{
    return (int32_t)(ijk >> cart->shift[d] & cart->mask[d]);
}

/* The one symbol of this folder besides the public create. */
extern const struct storm_mesh_ops storm_mesh_cart;

/* cart_build.c: build_part and free_part of the table. */
storm_status cart_build_part(const struct storm_mesh *mesh,
                             const uint64_t *partition,
                             struct storm_mesh_part **part_out);
void cart_free_part(const struct storm_mesh *mesh,
                    struct storm_mesh_part *part);

#endif /* STORM_MESH_CART_MESH_H */
