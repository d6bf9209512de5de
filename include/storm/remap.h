/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/remap.h
 * Bring packets to their cells after a mesh has changed (storm/change.h).
 *
 * A step of the engine, between time steps: packets travel in the same rings,
 * and the same waves tell when all are home. The change says where a packet's
 * cell is now; from there the packet walks from neighbour to neighbour, on
 * whichever rank, until no neighbour is nearer. The test that ends the walk is
 * the test that it is in its cell, in every build; the result does not depend
 * on where the walk began. If the change is another cut, and no cell has moved,
 * packets of the bundled physics stay in their cells. Nothing is ever dropped.
 */
#ifndef STORM_REMAP_H
#define STORM_REMAP_H

#include <storm/change.h>
#include <storm/engine.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Where records of an application keep what a remap needs; each returns a
 *  pointer into the record. */
struct storm_remap_access {
    size_t size; /**< of this struct: STORM_REMAP_ACCESS_INIT */
    double *(*position_cm)(void *record); /**< three coordinates */
    storm_cell_idx *(*cell_idx)(void *record);
    storm_cell_id *(*cell)(void *record); /**< its tag; may be NULL */
    uint32_t *(*scratch)(void *record);   /**< four bytes to use meanwhile; zero
                                               afterwards */
};
#define STORM_REMAP_ACCESS_INIT STORM_INIT(struct storm_remap_access)

/** Zero in a field means "choose for me". */
struct storm_remap_params {
    size_t size; /**< of this struct: STORM_REMAP_PARAMS_INIT */
    const struct storm_remap_access *access; /**< NULL: struct storm_packet */
    /** Packets whose position is outside of the mesh: `apply` is called as at
     *  any boundary and answers ABSORBED or ESCAPED; with CONTINUE, SEND or
     *  CENSUS it has put the position inside, and the packet goes on to its
     *  cell. The packet is in no cell then: its index and its face, or the
     *  scratch, mean nothing, and what it writes there is ignored.
     *  storm_imc_escape and storm_streaming_escape fit. NULL: such a position
     *  is an error. */
    const struct storm_boundary *boundary;
    uint32_t jump_after; /**< hops after which a packet goes to the owner of its
                              position's place along the curve, once; 0: 8 */
    bool never_jump;
};
#define STORM_REMAP_PARAMS_INIT STORM_INIT(struct storm_remap_params)

/** What was done, over all ranks. */
struct storm_remap_stats {
    size_t size;      /**< of this struct: STORM_REMAP_STATS_INIT */
    uint64_t fixed;   /**< packets home after the change's own answer */
    uint64_t walked;  /**< packets that walked on one rank */
    uint64_t moved;   /**< packets that changed ranks */
    uint64_t outside; /**< packets that came to the boundary */
    uint64_t longest; /**< max hops of a packet */
    double seconds;   /**< max over ranks */
};
#define STORM_REMAP_STATS_INIT STORM_INIT(struct storm_remap_stats)

/**
 * Bring all packets of @p engine, whose cell indices are those before
 * @p change, to their cells in @p mesh. Collective, blocks; between steps.
 * Before the first step of the engine, indices of packets of the bundled
 * physics do not matter: after a restart they may be added on any rank, and
 * begin at the cells that have their tags.
 * Call it after every change that moves cells, and add packets afterwards: a
 * step cannot tell new ones from those that were left behind.
 *
 * @param params           NULL: all defaults
 * @param[out] stats_out   may be NULL
 * @retval STORM_ERR_ARG   an accessor is missing, a struct was not begun with
 *                         its _INIT, the change is of another mesh, or
 *                         @p params or the boundary are for other records
 *                         (logged); nothing has changed
 * @retval STORM_ERR_STATE the mesh has changed again since, or packets of the
 *                         bundled physics were not remapped after an earlier
 *                         change that moved cells (logged); nothing has changed
 * @return any status of storm_engine_step, after which only destroy of the
 *         engine is allowed; STORM_ERR_ARG also if a cell index is not one of
 *         before the change, no cell has the tag of a packet that was added,
 *         or a position is outside of the mesh and there is no boundary
 *         (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_remap(struct storm_engine *engine, const struct storm_mesh *mesh,
            const struct storm_change *change,
            const struct storm_remap_params *params,
            struct storm_remap_stats *stats_out);

#ifdef __cplusplus
}
#endif
#endif /* STORM_REMAP_H */
