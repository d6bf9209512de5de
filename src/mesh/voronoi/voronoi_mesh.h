/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Internals of the Voronoi mesh: for mesh/voronoi and, through voronoi_geom.h,
 * for the tracking kernel.
 *
 *   VMESH-1  A cell is the part of the box that is nearer to its generator than
 *            to any other; in a periodic box, of all space, images included.
 *            Its frame is where its generator is in the box: it may reach out
 *            of that by up to half a period. The order of generators is that of
 *            their places along the Hilbert curve over the box; those so close
 *            that they share a position on it are in order of their
 *            coordinates. It decides all ties, and is a function of positions
 *            and box alone: tags and ranks do not matter.
 *   VMESH-2  A rank holds its own generators and, as ghosts, at least all
 *            neighbours of its cells.
 *   VMESH-3  Faces of a cell are in order of the neighbours, then of their
 *            images, walls last.
 *   VMESH-4  Memory grows with the cells but for the partition and a key of 8
 *            bytes for every rank and, while a part is being built,
 *            VORONOI_RANK_BOXES boxes and four counts for every rank, and the
 *            boxes' numbers for each of up to 27 images.
 *   VMESH-5  A position belongs to the cell with the nearest generator, of
 *            several to that of highest order: in exact arithmetic, in locate,
 *            in seek and in the combinatorics of the cells (VEXACT-3). For
 *            this, positions within a rounding of a wall count as on it.
 *   VMESH-6  All neighbours of a cell are known, those with a face too small to
 *            keep included: a walk to the nearest one ends in the right cell.
 */
#ifndef STORM_MESH_VORONOI_MESH_H
#define STORM_MESH_VORONOI_MESH_H

#include <math.h>
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
    uint64_t order;
    double generator[3]; /* a wall: its coordinate at [wall / 2] */
    int32_t rank;        /* -1: wall */
    storm_cell_idx idx;
    int32_t wall;  /* -1: none */
    int32_t image; /* see struct voronoi_ghost */
};

/* Cost of the build. */
struct voronoi_cost {
    uint64_t n_builds; /* cells, those repeated included */
    uint64_t n_ghosts;
    uint64_t n_rounds;
};

/* The box. */
struct voronoi_domain {
    double lo_cm[3], hi_cm[3]; /* as given */
    struct voronoi_space space;
};

/* Moves a point by periods into the box as it was given, but for the upper
 * walls. Where the two boxes differ, by rounding, it goes to the lower wall. */
static inline void voronoi_wrap(const struct voronoi_domain *domain,
                                double x_inout[3])
{
    for (int d = 0; d < 3; d++) {
        double lo = domain->lo_cm[d], hi = domain->hi_cm[d];
        double x = x_inout[d], period = domain->space.period[d];
        if (!(period > 0.0) || !(x < lo || x >= hi))
            continue;
        x -= period * floor((x - domain->space.lo[d]) / period);
        x_inout[d] = x < lo || x >= hi ? lo : x;
    }
}

/* Moves a point of a cell by periods to where the cell is in its own frame: no
 * farther from the generator than half a period. One that is farther by
 * roundings only stays where it is. */
static inline void voronoi_unwrap(const struct voronoi_space *space,
                                  const double generator[3], double x_inout[3])
{
    for (int d = 0; d < 3; d++) {
        double x = x_inout[d], g = generator[d], period = space->period[d];
        double slack = 0x1p-49 * (fabs(x) + fabs(g) + period);
        if (period > 0.0 && fabs(x - g) > 0.5 * period + slack)
            x_inout[d] = x - period * rint((x - g) / period);
    }
}

struct voronoi_part {
    struct storm_mesh_part base;
    struct voronoi_domain domain;
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
    /* Neighbours without a face: those of cell i from first_bare[i] on. */
    uint32_t *first_bare; /* n_cells + 1 */
    int32_t *bare;        /* as in the blocks */
    uint64_t *first_key;  /* by rank: see voronoi_find_keys */
    struct voronoi_cost cost;
};

/* A generator on its way to a part. */
struct voronoi_record {
    uint64_t key; /* position on the curve */
    double x[3];
    double radius;     /* last known; 0: none */
    uint64_t order;    /* place among all generators */
    storm_cell_id tag; /* VORONOI_NO_TAG: not chosen yet */
    uint64_t weight;
    uint64_t number; /* for messages */
    /* Where it was, as a cell or as a point of the input; rank < 0: it is new,
     * from rank ~rank. */
    struct storm_cell_ref from;
};
#define VORONOI_NO_TAG UINT64_MAX

/* Those of one rank. */
struct voronoi_records {
    struct voronoi_record *array;
    size_t n;
};

struct voronoi_mesh {
    struct storm_mesh base;
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

/* voronoi_sort.c: brings generators in order, over all ranks: rank 0 has the
 * first ones. Moves them by periods into the box and rounds them to the grid;
 * sets key and order. Collective.
 * `what` is what messages call them.
 * STORM_ERR_ARG: two are the same, or one is not in the box (logged). */
storm_status voronoi_sort(const struct storm_mesh *mesh,
                          const struct voronoi_domain *domain, const char *what,
                          struct voronoi_records *records_inout);

/* The position of a point along the curve. */
uint64_t voronoi_key(const struct voronoi_space *space, const double x[3]);

/* voronoi_deal.c: takes the records that were received, in place of the old
 * ones. */
struct storm_messages;
void voronoi_records_take(const struct storm_env *env,
                          struct storm_messages *in,
                          struct voronoi_records *records_inout);

/* Sorted generators to the ranks of a partition of their
 * places; NULL: back to the ranks they are from. Collective. */
storm_status voronoi_deal(const struct storm_mesh *mesh,
                          const uint64_t *partition,
                          struct voronoi_records *records_inout);

/* The partition that a number of cells on each rank makes. Collective. */
storm_status voronoi_partition(const struct storm_mesh *mesh, uint64_t n,
                               uint64_t *partition_out);

/* Where the generators of the records are from, by cell. NULL: no memory. */
struct storm_cell_ref *voronoi_from(const struct storm_mesh *mesh,
                                    const struct voronoi_records *records);

/* Tells those who gave the points of the input where they are now: `from` is
 * by cell. Collective. Arrays by point of this rank's input; NULL: not
 * wanted. */
storm_status voronoi_report(const struct storm_mesh *mesh,
                            const struct storm_cell_ref *from,
                            storm_cell_id *tags_out,
                            struct storm_cell_ref *where_out);

/* voronoi_build.c: the cells of these generators, which are this rank's and in
 * order. Collective. Frees the records as soon as it can, unless they are still
 * needed; after an error they may be left. */
struct voronoi_plan {
    const struct voronoi_domain *domain;
    struct voronoi_records *records;
    uint64_t first;    /* place of the first */
    bool has_tags;     /* those of the records; else tags are the places */
    bool keep_records; /* do not free them */
};
storm_status voronoi_build(const struct storm_mesh *mesh,
                           const struct voronoi_plan *plan,
                           struct voronoi_part **part_out);
void voronoi_free_part(const struct storm_mesh *mesh,
                       struct storm_mesh_part *base);

/* voronoi_create.c: STORM_ERR_ARG, logged, if there can be no mesh in this
 * box. */
storm_status voronoi_domain_make(const struct storm_env *env,
                                 const double lo_cm[3], const double hi_cm[3],
                                 const bool periodic[3],
                                 struct voronoi_domain *domain_out);

/* voronoi_switch.c: slot of the table. */
storm_status voronoi_build_part(const struct storm_mesh *mesh,
                                const uint64_t *partition,
                                struct storm_mesh_part **part_out);

/* voronoi_change.c: slots of the table. */
storm_status voronoi_move(const struct storm_mesh *mesh,
                          const struct storm_mesh_motion *motion,
                          struct storm_mesh_next *next_out);
storm_status voronoi_adapt(const struct storm_mesh *mesh,
                           const struct storm_adapt_params *params,
                           struct storm_mesh_next *next_out);

/* voronoi_seek.c: slots of the tables. */
storm_status voronoi_locate(const struct storm_mesh *mesh,
                            const double point_cm[3],
                            struct storm_cell_ref *where_out);
storm_status voronoi_seek(const struct storm_mesh *mesh, storm_cell_idx cell,
                          double x_cm[3], struct storm_cell_ref *next_out);
void voronoi_seek_many(const struct storm_mesh *mesh,
                       struct storm_mesh_hop *hops_inout, size_t n);
int voronoi_jump(const struct storm_mesh *mesh, const double x_cm[3]);

/* Where each rank's share of the curve begins; that of a rank without cells
 * where the next one's does. Collective. */
storm_status voronoi_find_keys(const struct storm_mesh *mesh,
                               struct voronoi_part *part);

/* voronoi_sample.c: slots of the table. */
void voronoi_bounds(const struct storm_mesh *mesh, storm_cell_idx cell,
                    double lo_cm_out[3], double hi_cm_out[3]);
void voronoi_sample(const struct storm_mesh *mesh, storm_cell_idx cell,
                    const double u[3], double point_cm_out[3]);
void voronoi_sample_face(const struct storm_mesh *mesh, storm_cell_idx cell,
                         int face, const double u[2], double point_cm_out[3]);
/* Is a point, relative to the generator, so far from all faces that rounding
 * cannot matter? */
bool voronoi_is_deep(const struct voronoi_part *part, storm_cell_idx cell,
                     const double y[3]);

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
