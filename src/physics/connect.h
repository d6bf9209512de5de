/* SPDX-License-Identifier: BSD-3-Clause */
/* Rings follow the partition, for every physics that has a mesh. */
#ifndef STORM_PHYSICS_CONNECT_H
#define STORM_PHYSICS_CONNECT_H

#include <stdbool.h>
#include <stdint.h>

#include <storm/engine.h>
#include <storm/mesh.h>

/* Zero it before use. */
struct storm_connect {
    bool done;
    uint64_t generation; /* of the mesh, when it was done */
};

/*
 * In pre_step: if the mesh has changed since the last call, trims
 * rings and prepares the routes to all ranks that own a neighbour of one of
 * this rank's cells. The first time it does the latter alone, and only with
 * transport.connect: neighbours. Local. STORM_ERR_NOMEM, or a status of the
 * channel.
 */
storm_status storm_connect_neighbours(struct storm_connect *connect,
                                      const struct storm_mesh *mesh,
                                      struct storm_step *step);

#endif /* STORM_PHYSICS_CONNECT_H */
