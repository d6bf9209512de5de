/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Internals of the Voronoi mesh: for mesh/voronoi and, through voronoi_geom.h,
 * for the tracking kernel.
 *
 *   VMESH-1  Cell i is the part of the box that is nearer to generator i than
 *            to any other. Ids follow the Hilbert curve over the box;
 *            generators so close that they share a position on it are in order
 *            of their coordinates.
 *   VMESH-2  A rank holds its own generators and, as ghosts, at least all
 *            neighbours of its cells.
 *   VMESH-3  Faces of a cell are in order of the neighbours' ids, walls last.
 *   VMESH-4  Memory grows with the cells but for the partition and, while a
 *            part is being built, VORONOI_RANK_BOXES boxes and four counts for
 *            every rank.
 */
#ifndef STORM_MESH_VORONOI_MESH_H
#define STORM_MESH_VORONOI_MESH_H

#include <stdbool.h>
#include <stdint.h>

#include "mesh/mesh_ops.h"
#include "mesh/mesh_planes.h"
#include "mesh/voronoi/voronoi_cell.h"

enum { VORONOI_WIDTH = STORM_PLANES_WIDTH, VORONOI_RANK_BOXES = 4 };

struct voronoi_head {
    double generator[3];
    uint32_t first_block; /* up to that of the next head */
    float radius;         /* of the cell about its generator, rounded up */
};
_Static_assert(sizeof(struct voronoi_head) == 32, "two heads per cache line");

/* What lies behind a face that does not lead to a local cell. The first six
 * are the walls. */
struct voronoi_border {
    storm_cell_id id;
    double generator[3]; /* a wall: its coordinate at [wall / 2] */
    int32_t rank;        /* -1: wall */
    storm_cell_idx idx;
    int32_t wall; /* -1: none */
};

/* Cost of the build. */
struct voronoi_cost {
    uint64_t n_builds; /* cells, those repeated included */
    uint64_t n_ghosts;
    uint64_t n_rounds;
};

struct voronoi_part {
    struct storm_mesh_part base;
    struct voronoi_points points;
    struct voronoi_head *heads; /* n_cells + 1 */
    struct storm_planes_block *blocks;
    int32_t *refs;              /* into faces, by place in the blocks; -1 */
    struct voronoi_face *faces; /* each once, though it may have two cells */
    size_t n_faces;
    double *volume;
    double (*centroid)[3];
    double *radius; /* within which generators mattered */
    struct voronoi_border *borders;
    size_t n_borders;
    struct voronoi_cost cost;
};

/* A generator outside of a part. */
struct voronoi_generator {
    double x[3];
    double radius; /* last known; 0: none */
};

/* Consecutive ids. */
struct voronoi_generators {
    storm_cell_id first;
    size_t n;
    struct voronoi_generator *array;
};

struct voronoi_mesh {
    struct storm_mesh base;
    struct voronoi_space space;
    double lo_cm[3], hi_cm[3];            /* as given */
    struct voronoi_generators generators; /* before there is a part */
    uint64_t *generators_partition;       /* their partition */
    voronoi_build_fn *build_cell;
};

static inline const struct voronoi_mesh *
voronoi_of(const struct storm_mesh *mesh)
{
    return (const struct voronoi_mesh *)mesh;
}

static inline const struct voronoi_part *
voronoi_part_of(const struct storm_mesh *mesh)
{
    return (const struct voronoi_part *)mesh->part;
}

extern const struct storm_mesh_ops storm_mesh_voronoi;

/* voronoi_sort.c: brings points in order, each to the rank whose share of the
 * curve it is on; sets ids and partition. Collective. Consumes `records`.
 * STORM_ERR_ARG: two points are the same, or one is not in the box (logged). */
struct voronoi_record {
    uint64_t key;
    struct voronoi_generator generator;
    uint64_t number; /* in the input */
};
storm_status voronoi_sort(struct voronoi_mesh *mesh,
                          struct voronoi_record *records, size_t n);

/* The position of a point along the curve. */
uint64_t voronoi_key(const struct voronoi_space *space, const double x[3]);

/* voronoi_move.c: to the ranks of another partition. Collective. */
storm_status voronoi_move(const struct storm_mesh *mesh,
                          const uint64_t *to_partition,
                          struct voronoi_generators *generators_inout);

/* voronoi_build.c: the cells of these generators in this partition. Collective.
 * Frees the array of generators as soon as it can; after an error it may be
 * left. */
storm_status voronoi_build(const struct storm_mesh *mesh,
                           const uint64_t *partition,
                           struct voronoi_generators *generators,
                           struct voronoi_part **part_out);
storm_status voronoi_build_part(const struct storm_mesh *mesh,
                                const uint64_t *partition,
                                struct storm_mesh_part **part_out);
void voronoi_free_part(const struct storm_mesh *mesh,
                       struct storm_mesh_part *base);

/* voronoi.c: moves the generators to the centroids of their cells and sorts
 * them again. Collective. */
storm_status voronoi_relax(struct voronoi_mesh *mesh);

/* voronoi_sample.c: slots of the table. */
void voronoi_bounds(const struct storm_mesh *mesh, storm_cell_idx cell,
                    double lo_cm_out[3], double hi_cm_out[3]);
void voronoi_sample(const struct storm_mesh *mesh, storm_cell_idx cell,
                    const double u[3], double point_cm_out[3]);

/* voronoi_polyhedron.c: cells built again from their generators. */
extern const struct storm_mesh_shape voronoi_shape;

/* The generator behind a face. */
static inline const double *voronoi_behind(const struct voronoi_part *part,
                                           int32_t next)
{
    return next >= 0 ? part->heads[next].generator
                     : part->borders[~next].generator;
}

/* voronoi_layout.c: unit normal of a face and its distance from the generator;
 * `next` as in the blocks. */
double voronoi_plane_of(const struct voronoi_part *part, size_t cell,
                        int32_t next, double normal_out[3]);

#endif /* STORM_MESH_VORONOI_MESH_H */
