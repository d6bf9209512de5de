/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a mesh provides, and all that the rest of storm may assume.
 * tests/conform/mesh_contract.c checks each line but MESH-10 and MESH-12 on
 * every mesh; tests/mesh checks these two.
 *
 *   MESH-1   Cells have ids, their tags, below 2^48, each owned by exactly one
 *            rank. What a tag stands for does not depend on the number of ranks
 *            or the partition, and does not change while the cell exists.
 *   MESH-2   A rank's cells have indices 0 .. n_cells-1. Their places, first +
 *            index, are those of no other rank. Where the partition is ours,
 *            places are positions along the Hilbert curve, and a mesh that has
 *            never changed has tags equal to places.
 *   MESH-3   Geometry of a cell is the same bits on every rank, in every
 *            partition.
 *   MESH-4   Cells are convex with plane faces, do not overlap and fill the
 *            box: volumes add up to its volume, and over the faces of a cell
 *            area times normal adds up to zero, to rounding.
 *   MESH-5   Faces are mutual: if a face of cell a leads to cell b, then b has
 *            a face of the same area (same bits) and exactly opposite normal
 *            that leads to a. A face leads to a cell or is part of a wall,
 *            never both.
 *   MESH-6   sample is uniform in the cell for u uniform in (0, 1)^3, and
 *            locate finds the cell again, rounding included. Samples and
 *            centres are in the box; in periodic directions in [lo, hi).
 *   MESH-7   Every point of the closed box lies in exactly one cell, which
 *            locate finds on the rank that owns it; on another rank it gives
 *            the same answer, or STORM_AGAIN if it does not know. Other points,
 *            and NaN, are STORM_ERR_ARG, and nothing is logged.
 *   MESH-8   Queries are local, do not block, allocate, or change anything, and
 *            so may run on several threads at once.
 *   MESH-9   build_part leaves the mesh as it was; its result is what the mesh
 *            would hold with that partition. It may be collective.
 *   MESH-10  Memory grows with the local cells and faces. Exceptions are named
 *            with the mesh: partition[] here, edges in mesh/cart, what is
 *            needed while a part is being built in mesh/voronoi.
 *   MESH-11  bounds is a box with sides along the axes that contains the cell
 *            and touches it on all sides, but for rounding; it does not leave
 *            the box of the mesh, or, in a periodic direction, only because
 *            the cell goes through a wall: it is then not longer than the box.
 *   MESH-12  A polyhedron is closed: every edge is in two faces, once in each
 *            direction, corners anticlockwise as seen from outside. It has the
 *            volume of the cell to rounding, lies in the bounds of the cell,
 *            and is the same bits on every rank, in every partition.
 *   MESH-13  seek, repeated from any cell of any rank, or from none on the rank
 *            of jump, ends in the one cell that locate finds, with the same
 *            bits of the position.
 *   MESH-14  move and adapt leave the mesh as it was; their result is what the
 *            mesh would be. They are collective, with the same kind of status
 *            on every rank.
 *   MESH-15  sample_face is uniform in the face for u uniform in (0, 1)^2, in
 *            the frame of the cell, where its bounds are; on a wall with the
 *            coordinate of packets that tracking puts there. Of a side of a box
 *            that has several faces, uniform in the side.
 *
 * Tracking does not go through this table: the kernels of physics are compiled
 * once per kind of mesh with the inline geometry of that kind.
 */
#ifndef STORM_MESH_OPS_H
#define STORM_MESH_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include <storm/mesh.h>

#include "base/env.h"

/* One rank's cells in a partition; each kind embeds it first. */
struct storm_mesh_part {
    uint64_t first; /* place of the first cell */
    storm_cell_idx n_cells;
    storm_cell_id *tags; /* NULL, on all ranks: tags are places */
    uint16_t *numbers;   /* of cells; NULL: all 0 */
};

/* The tag of a local cell. */
static inline storm_cell_id
storm_mesh_part_tag(const struct storm_mesh_part *part, storm_cell_idx cell)
{
    return part->tags != NULL ? part->tags[cell]
                              : part->first + (storm_cell_id)cell;
}

/* Input of `move`. */
struct storm_mesh_box;
struct storm_mesh_motion {
    const double *generators_cm;      /* three per local cell */
    const struct storm_mesh_box *box; /* NULL: as it was */
    const uint64_t *weight;           /* one per local cell; NULL: all one */
};

/* Where the place of a cell is after a change. */
struct storm_mesh_heir {
    struct storm_cell_ref cell; /* rank -1: not known */
    bool is_part; /* the cell was cut: this is its first part on the curve */
};

/* What a mesh would be after a change; all from storm_alloc. */
struct storm_mesh_next {
    struct storm_mesh_part *part;
    uint64_t *partition;
    uint64_t n_total;
    storm_cell_id next_tag;      /* no tag is as large, or ever was */
    struct storm_cell_ref *from; /* by cell of `part`: where it was; rank -1:
                                    it is new */
    /* Both or none, on all ranks, by kinds whose cells are cut and joined: */
    struct storm_cell_ref *part_of; /* by cell of `part`: the cell that was cut
                                       into it and others; rank -1: none */
    struct storm_mesh_heir *heirs;  /* by cell as they are */
};

/* Where a border leads, for the kernels. */
struct storm_mesh_exit {
    storm_cell_id id;
    int32_t rank; /* -1: a wall */
    storm_cell_idx idx;
    int32_t wall;
};

/* Memory for the polyhedron of a cell; each kind embeds it first. */
struct storm_polyhedra {
    const struct storm_mesh *mesh;
    uint64_t generation; /* of the mesh when it was opened */
};

/* What cells look like, for pictures and files: one table may serve several
 * kinds of mesh. */
struct storm_mesh_shape {
    bool boxes; /* with sides along the axes */

    storm_status (*generator)(const struct storm_mesh *mesh,
                              storm_cell_idx cell, double generator_cm_out[3]);

    /* Moves a point of a cell by periods to where its bounds are, MESH-11. */
    void (*unwrap)(const struct storm_mesh *mesh, storm_cell_idx cell,
                   double x_cm_inout[3]);

    /* The caller sets mesh and generation. */
    storm_status (*open)(const struct storm_mesh *mesh,
                         struct storm_polyhedra **polyhedra_out);
    storm_status (*build)(struct storm_polyhedra *polyhedra,
                          storm_cell_idx cell,
                          struct storm_polyhedron *polyhedron_out);
    void (*close)(struct storm_polyhedra *polyhedra);
};

struct storm_adapt_params;
struct storm_mesh_changes;
struct storm_mesh_ops {
    const char *name; /* the word used in options, logs and test names */
    const struct storm_mesh_shape *shape;

    /* Release what the kind itself holds, the struct included; the part and the
     * partition are freed before. */
    void (*destroy)(struct storm_mesh *mesh);

    storm_status (*build_part)(const struct storm_mesh *mesh,
                               const uint64_t *partition,
                               struct storm_mesh_part **part_out);
    void (*free_part)(const struct storm_mesh *mesh,
                      struct storm_mesh_part *part); /* NULL is allowed */

    void (*box)(const struct storm_mesh *mesh, double lo_cm_out[3],
                double hi_cm_out[3]);
    double (*volume_cm3)(const struct storm_mesh *mesh, storm_cell_idx cell);
    void (*centre)(const struct storm_mesh *mesh, storm_cell_idx cell,
                   double centre_cm_out[3]);
    void (*bounds)(const struct storm_mesh *mesh, storm_cell_idx cell,
                   double lo_cm_out[3], double hi_cm_out[3]);
    void (*sample)(const struct storm_mesh *mesh, storm_cell_idx cell,
                   const double u[3], double point_cm_out[3]);
    void (*sample_face)(const struct storm_mesh *mesh, storm_cell_idx cell,
                        int face, const double u[2], double point_cm_out[3]);
    storm_status (*locate)(const struct storm_mesh *mesh,
                           const double point_cm[3],
                           struct storm_cell_ref *where_out);
    int (*n_faces)(const struct storm_mesh *mesh, storm_cell_idx cell);
    void (*face)(const struct storm_mesh *mesh, storm_cell_idx cell, int face,
                 struct storm_face *face_out);
    const struct storm_mesh_changes *changes;
};

/* One of many calls of seek. */
struct storm_mesh_hop {
    double *x_cm;               /* three coordinates */
    storm_cell_idx cell;        /* -1 as there */
    storm_status status;        /* out */
    struct storm_cell_ref next; /* out: as seek writes it */
};

/* What changes a mesh, and how a position finds its cell afterwards. */
struct storm_mesh_changes {
    /* One hop of a position on its way from a local cell (-1: from where it is
     * best to begin; on a rank that jump or seek has named) to its own.
     * STORM_OK: it is in this cell, or in that of next_out if cell was -1.
     * STORM_AGAIN: continue at next_out, on whichever rank; idx -1 there: from
     * where it is best to begin. STORM_ERR_ARG: it is outside of the mesh, or
     * NaN. In periodic directions the position is put into the box first. */
    storm_status (*seek)(const struct storm_mesh *mesh, storm_cell_idx cell,
                         double x_cm[3], struct storm_cell_ref *next_out);
    /* The same of many positions; those of cells that are far apart in memory
     * need not wait for it one after the other. */
    void (*seek_many)(const struct storm_mesh *mesh,
                      struct storm_mesh_hop *hops_inout, size_t n);
    /* The rank that has the place of a position in the box along the curve, to
     * begin there. */
    int (*jump)(const struct storm_mesh *mesh, const double x_cm[3]);
    storm_status (*move)(const struct storm_mesh *mesh,
                         const struct storm_mesh_motion *motion,
                         struct storm_mesh_next *next_out);
    storm_status (*adapt)(const struct storm_mesh *mesh,
                          const struct storm_adapt_params *params,
                          struct storm_mesh_next *next_out);
};

/* sample_face for cells that are boxes with sides along the axes. */
void storm_box_sample_face(const struct storm_mesh *mesh, storm_cell_idx cell,
                           int face, const double u[2], double point_cm_out[3]);

/* For kinds without the feature: STORM_ERR_NOSUP, logged. */
storm_status storm_no_move(const struct storm_mesh *mesh,
                           const struct storm_mesh_motion *motion,
                           struct storm_mesh_next *next_out);
storm_status storm_no_adapt(const struct storm_mesh *mesh,
                            const struct storm_adapt_params *params,
                            struct storm_mesh_next *next_out);

/* seek and jump for kinds whose locate knows the cells of all ranks. */
storm_status storm_seek_located(const struct storm_mesh *mesh,
                                storm_cell_idx cell, double x_cm[3],
                                struct storm_cell_ref *next_out);
int storm_jump_located(const struct storm_mesh *mesh, const double x_cm[3]);

/* seek_many for kinds that have nothing to gain: one after the other. */
void storm_seek_each(const struct storm_mesh *mesh,
                     struct storm_mesh_hop *hops_inout, size_t n);

/* A coordinate of a periodic direction, in [lo, hi). */
double storm_mesh_wrap(double x, double lo, double hi);

/* The common part; each kind embeds it first. */
struct storm_mesh {
    const struct storm_mesh_ops *ops;
    const struct storm_context *context;
    const struct storm_env *env;
    uint64_t n_total;
    uint64_t *partition; /* n_ranks + 1 places, see mesh_partition.h */
    bool is_hosts;       /* the partition is the host's and stays */
    int n_boundaries;    /* by number; 0: the six walls of a box */
    struct storm_mesh_part *part;
    uint64_t generation;          /* see storm_mesh_generation */
    uint64_t moved;               /* generation of the last other cells: after
                                     it only owners have changed */
    storm_cell_id next_tag;       /* above all tags so far */
    struct storm_cut *cuts;       /* all of this mesh, a list */
    struct storm_cut *cut;        /* in use; NULL: equal numbers of cells */
    struct storm_mesh_halo *halo; /* NULL: not asked for yet */
};

/* For objects whose arrays or indices belong to one generation of their mesh:
 * has it changed since? */
static inline bool storm_mesh_has_changed(const struct storm_mesh *mesh,
                                          uint64_t generation)
{
    return mesh->generation != generation;
}

/* The same as a status: STORM_ERR_STATE, logged, if it has. `what` is the
 * object, `advice` is what to do. Local. */
storm_status storm_mesh_check_generation(const struct storm_mesh *mesh,
                                         uint64_t generation, const char *what,
                                         const char *advice);

/* STORM_ERR_ARG, logged, if the box is empty or not finite. */
storm_status storm_mesh_check_box(const struct storm_env *env,
                                  const double lo_cm[3], const double hi_cm[3]);

/*
 * Last step of creating any mesh. The kind has set ops, context, env and
 * n_total; `status` is that of this rank so far. Partitions into equal numbers
 * of cells and builds this rank's part. Collective: the same status on every
 * rank; if it is an error the mesh (NULL is allowed) is destroyed.
 */
storm_status storm_mesh_finish(struct storm_mesh *mesh,
                               const struct storm_context *context,
                               storm_status status);

/* For kinds whose cells are within the box: leaves the point where it is. */
void storm_no_unwrap(const struct storm_mesh *mesh, storm_cell_idx cell,
                     double x_cm_inout[3]);

/* mesh_box.c: cells that are boxes, from their bounds. */
extern const struct storm_mesh_shape storm_mesh_boxes;

/* This rank's cells in `partition`, if an index can count them. Local unless
 * the kind's build_part is collective. */
storm_status storm_mesh_build_part(const struct storm_mesh *mesh,
                                   const uint64_t *partition,
                                   struct storm_mesh_part **part_out);

/* Can an index count the cells of each rank? STORM_ERR_ARG, on every rank,
 * logged, if not. Local. */
storm_status storm_mesh_check_partition(const struct storm_mesh *mesh,
                                        const uint64_t *partition);

/* The rank and index of a place in a partition. */
int storm_mesh_owner_at(const struct storm_mesh *mesh,
                        const uint64_t *partition, uint64_t place,
                        storm_cell_idx *idx_there_out);

#endif /* STORM_MESH_OPS_H */
