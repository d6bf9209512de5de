/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Internals of the octree mesh: for mesh/octree and, through octree_geom.h, for
 * the tracking kernel.
 *
 * The box is a grid of root cells; each is a tree whose nodes are cut in eight
 * or are leaves, the cells of the mesh. A node is its level and its position
 * along the Hilbert curve of that level (HILBERT-5), which is what the builder
 * has; or both in one word, its code.
 *
 *   OCTREE-1  Leaves that touch in a face, edge or corner, also through
 *             periodic walls, differ by one level at most. The tree is the
 *             smallest such one that has the nodes that were asked for, so it
 *             is a function of these alone.
 *   OCTREE-2  Places of cells are the order of the codes of the leaves, which
 *             is that along the curve.
 *   OCTREE-3  A plane is a function of its index on the grid of the deepest
 *             level (octree_plane), so that it has the same bits for all cells
 *             on both sides of it, and those of a Cartesian mesh.
 *   OCTREE-4  A rank holds its leaves, what lies behind their faces, and for
 *             every rank the place along the curve where its leaves begin: 8
 *             bytes each, besides partition[]. While the tree grows, it holds
 *             its share of all nodes, and 16 words for every other rank.
 */
#ifndef STORM_MESH_OCTREE_MESH_H
#define STORM_MESH_OCTREE_MESH_H

#include <stdbool.h>
#include <stdint.h>

#include <storm/octree.h>

#include "mesh/mesh_borders.h"
#include "mesh/mesh_hilbert.h"
#include "mesh/mesh_ops.h"

/* Sides of a cell are numbered like the walls: x low, x high, y low, ... */
enum { OCTREE_SIDES = 6, OCTREE_CHILDREN = 8, OCTREE_QUARTERS = 4 };

/* next[] of a cell: a local neighbour, ~index of a border, or, below this,
 * OCTREE_FAN + index of a fan. */
enum { OCTREE_FAN = INT32_MIN, OCTREE_FAN_END = INT32_MIN / 2 };

/* All that a packet in flight touches of a cell, but for fans. */
struct octree_cell {
    double plane[OCTREE_SIDES];
    int32_t next[OCTREE_SIDES];
};

/* A side with four smaller neighbours. Bit 0 of the index of a quarter: it is
 * above the middle in direction (axis + 1) % 3, bit 1: in (axis + 2) % 3. */
struct octree_fan {
    double middle[2];
    int32_t next[OCTREE_QUARTERS]; /* local neighbours or ~index of a border */
};

/* An array of words that grows. */
struct octree_words {
    uint64_t *array;
    size_t n, capacity;
};

/* All leaves of a tree, sorted over the ranks. */
struct octree_leaves {
    struct octree_words codes;
    uint64_t *tags;      /* NULL, on all ranks: places */
    uint64_t *partition; /* their places, n_ranks + 1 */
    uint64_t n_total;
};

/* Nodes by which a tree is known, of this rank: of the nodes from the root to
 * each, itself included, those of the first levels are inner. */
struct octree_paths {
    size_t n;
    const uint64_t *codes;
    const uint8_t *n_inner; /* how many levels; NULL: all but its own */
};

struct octree_part {
    struct storm_mesh_part base;
    uint64_t *codes; /* of the cells, in order */
    struct octree_cell *cells;
    struct storm_borders borders;
    struct octree_fan *fans;
    size_t n_fans;
    uint64_t *starts; /* n_ranks + 1: where the leaves of each rank begin along
                         the curve of the deepest level, and its end */
};

struct octree_mesh {
    struct storm_mesh base;
    double lo_cm[3], hi_cm[3];
    int32_t n[3]; /* root cells */
    bool periodic[3];
    int depth;                   /* the deepest level that cells may have */
    struct octree_leaves leaves; /* while it is being created */
};

static inline const struct octree_mesh *octree_of(const struct storm_mesh *mesh)
{
    return (const struct octree_mesh *)mesh;
}

static inline const struct octree_part *
octree_part_of(const struct storm_mesh *mesh)
{
    return (const struct octree_part *)mesh->part;
}

/* How many faces a side has. */
static inline int octree_side_faces(const struct octree_cell *cell, int side)
{
    return cell->next[side] < OCTREE_FAN_END ? OCTREE_QUARTERS : 1;
}

/* ---- nodes -------------------------------------------------------------- */

struct octree_node {
    uint64_t position; /* at its level */
    int level;
};

/* Codes are in the order of the curve, and a node is between its fourth and its
 * fifth child: twice the place of its middle at the deepest level. */
static inline uint64_t octree_code(const struct octree_mesh *mesh,
                                   struct octree_node node)
{
    return (2 * node.position + 1) << 3 * (mesh->depth - node.level);
}

static inline struct octree_node octree_node(const struct octree_mesh *mesh,
                                             uint64_t code)
{
    int below = __builtin_ctzll(code) / 3;
    return (struct octree_node){.position = code >> (3 * below + 1),
                                .level = mesh->depth - below};
}

/* Twice the place at the deepest level where a node begins. */
static inline uint64_t octree_begin(uint64_t code)
{
    return code & (code - 1);
}

/* Number of nodes of a level in one direction. */
static inline int32_t octree_count(const struct octree_mesh *mesh, int level,
                                   int d)
{
    return mesh->n[d] << level;
}

/* A plane of the grid of a level (OCTREE-3). The quotient is the same at all
 * levels. */
static inline double octree_plane(const struct octree_mesh *mesh, int level,
                                  int d, int32_t i)
{
    int32_t n = octree_count(mesh, level, d);
    double lo = mesh->lo_cm[d], hi = mesh->hi_cm[d];
    return i < n ? lo + (hi - lo) * ((double)i / (double)n) : hi;
}

/* ---- files of this folder ----------------------------------------------- */

/* The one symbol of this folder besides the public create. */
extern const struct storm_mesh_ops storm_mesh_octree;

/* octree_grow.c: all leaves of a new mesh. Collective; release them also after
 * an error. */
storm_status octree_grow(const struct octree_mesh *mesh,
                         const struct storm_octree_params *params,
                         struct octree_leaves *leaves);
/* The same of the smallest balanced tree (OCTREE-1) with the inner nodes of
 * paths. */
storm_status octree_regrow(const struct octree_mesh *mesh,
                           const struct octree_paths *paths,
                           struct octree_leaves *leaves);
void octree_leaves_free(const struct storm_env *env,
                        struct octree_leaves *leaves);

/* octree_restore.c: all leaves of a mesh that is made from them; sets its
 * next_tag. Collective; release them also after an error. */
storm_status octree_restore(struct octree_mesh *mesh,
                            const struct storm_octree_params *params,
                            struct octree_leaves *leaves);

/* octree_build.c: build_part and free_part of the table. */
storm_status octree_build_part(const struct storm_mesh *mesh,
                               const uint64_t *partition,
                               struct storm_mesh_part **part_out);
void octree_free_part(const struct storm_mesh *mesh,
                      struct storm_mesh_part *part);
/* This rank's part of leaves, in a partition. Collective. */
storm_status octree_build(const struct storm_mesh *mesh,
                          const struct octree_leaves *leaves,
                          const uint64_t *partition,
                          struct storm_mesh_part **part_out);

/* octree_adapt.c: of the table. */
storm_status octree_adapt(const struct storm_mesh *mesh,
                          const struct storm_adapt_params *params,
                          struct storm_mesh_next *next_out);

/* The leaf, of n in order, that holds twice a place at the deepest level; there
 * must be one. */
size_t octree_find_code(const uint64_t *codes, size_t n, uint64_t place2);
/* The same of a part. */
storm_cell_idx octree_find(const struct octree_part *part, uint64_t place2);

/* Where the leaves of all ranks begin along the curve of the deepest level, and
 * its end: n_ranks + 1; a rank without any is empty there. Collective. */
storm_status octree_starts(const struct octree_mesh *mesh,
                           const uint64_t *codes, const uint64_t *partition,
                           uint64_t *starts_out);

#endif /* STORM_MESH_OCTREE_MESH_H */
