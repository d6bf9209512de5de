/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Internals of meshes that a host gives: for mesh/given and, through
 * given_geom.h, for the tracking kernel.
 *
 *   GIVEN-1  Faces of a cell are in order of the neighbours' tags, boundaries
 *            last, by number and then in the order given.
 *   GIVEN-2  Planes of a cell are in the order of their first faces. Faces lie
 *            in one plane if normals and distances agree to GIVEN_SAME.
 *   GIVEN-3  All that tracking computes is a function of the cell as given and
 *            of the tags: the same bits in every partition.
 *   GIVEN-4  A Voronoi mesh of ours that is given back - point: the generator,
 *            normal: the difference of generators, on_plane: half of it, walls:
 *            unit normals, radius: that of its head - has the same bits of
 *            tracking and samples as before.
 *   GIVEN-5  A point is in the cell of lowest tag among those that hold it: it
 *            is in the box of the cell, and its worst signed distance to the
 *            planes is at most the slack. Box and slack are the owner's bits. A
 *            rank knows all cells of others that can compete with its own:
 *            ghosts.
 *   GIVEN-6  Memory grows with cells, faces and ghosts but for the partition
 *            and a box per rank, with a tree. In create, a rank sends the boxes
 *            of its cells to all ranks whose box they touch.
 *   GIVEN-7  No other cell holds a point that is deep in a cell with is_sole,
 *            if the planes of both sides of the faces are as far from those of
 *            a mesh without overlap as from each other.
 */
#ifndef STORM_MESH_GIVEN_MESH_H
#define STORM_MESH_GIVEN_MESH_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include <storm/given.h>

#include "base/port.h"
#include "mesh/mesh_ops.h"
#include "mesh/mesh_planes.h"

#define GIVEN_SAME 0x1p-30

/* A border that leads to several cells, or to cells and a boundary. */
enum { GIVEN_SPLIT = -2 };

enum { GIVEN_MAX_FACES = 4096 }; /* of a cell */

/* As given: n . (x - point - m) = 0. */
struct given_plane {
    double n[3], m[3];
};

struct given_head {
    double point[3];
    uint32_t first_block; /* up to that of the next head */
    float radius;         /* of the cell about its point, rounded up */
};
_Static_assert(sizeof(struct given_head) == 32, "two heads per cache line");

/* What lies behind a plane that does not lead to a local cell. */
struct given_border {
    storm_cell_id tag;
    int32_t rank; /* -1: a boundary; GIVEN_SPLIT */
    storm_cell_idx idx;
    int32_t wall;    /* number of the boundary; -1: none */
    int32_t axis;    /* a boundary perpendicular to it; -1: to none */
    double at;       /* its coordinate there */
    uint32_t choice; /* SPLIT: the first of n_choices */
    uint32_t n_choices;
};

/* A face, in the order of GIVEN-1. */
struct given_face {
    double n[3]; /* the bits of the neighbour's, negated */
    double area;
    storm_cell_id tag;     /* of the neighbour; UINT64_MAX: boundary */
    int32_t rank;          /* -1: boundary */
    storm_cell_idx behind; /* index there, or number of the boundary */
    uint32_t plane;        /* of its cell */
};

/* One of the faces of a plane that has several. */
struct given_choice {
    int32_t next;    /* a local cell, or ~index of a border */
    uint32_t face;   /* number in its cell */
    int32_t located; /* the cell behind it; -1: a boundary */
};

/* A cell as locate sees it: own ones, then ghosts. */
struct given_located {
    storm_cell_id tag;
    struct storm_cell_ref where;
    double point[3];
    double slack;      /* see given_slack */
    double reach;      /* no point that it holds is farther from it */
    size_t first_side; /* up to that of the next */
};

/* Unit normal and distance from the point. */
struct given_side {
    double normal[3], distance;
};

struct given_box {
    double lo[3], hi[3];
};

/* A tree over boxes: node i has the children 2i+1 and 2i+2; leaves hold
 * GIVEN_LEAF consecutive entries of `order`. */
enum { GIVEN_LEAF = 4 };
struct given_tree {
    const struct given_box *boxes; /* the owner's */
    struct given_box *nodes;
    int32_t *order;
    size_t n, n_nodes;
    size_t first_leaf; /* nodes from here on are leaves */
};

struct given_part {
    struct storm_mesh_part base;
    struct given_head *heads; /* n_cells + 1 */
    struct storm_planes_block *blocks;
    struct given_plane *planes; /* by place in the blocks */
    bool bisects; /* those to local cells have the bits of the difference of
                     the points, and half of it: they need not be read */
    uint64_t *first_face; /* n_cells + 1 */
    struct given_face *faces;
    double *volume;
    double (*centroid)[3];
    double *gap;   /* max distance of the two sides of a face of the cell */
    bool *is_sole; /* GIVEN-7 */
    struct given_border *borders;
    size_t n_borders, borders_capacity;
    struct given_choice *choices;
    size_t n_choices, choices_capacity;

    struct given_located *located; /* n_located + 1 */
    size_t n_located;
    struct given_box *boxes; /* around each of them, with slack */
    struct given_side *sides;
    struct given_tree tree;
    struct given_box *ranks; /* around the cells of each rank, with slack */
    struct given_tree rank_tree;
    struct given_box box; /* around all cells */
};

static inline struct given_part *given_part_of(const struct storm_mesh *mesh)
{
    return (struct given_part *)mesh->part;
}

extern const struct storm_mesh_ops storm_mesh_given;

/* Max signed distance of a point beyond the planes of a located cell. */
static inline double given_worst(const struct given_part *part, size_t located,
                                 const double x[3])
{
    const struct given_located *cell = &part->located[located];
    double y[3], worst = -INFINITY;
    for (int d = 0; d < 3; d++)
        y[d] = x[d] - cell->point[d];
    for (size_t i = cell->first_side; i < cell[1].first_side; i++) {
        const struct given_side *s = &part->sides[i];
        double over = s->normal[0] * y[0] + s->normal[1] * y[1] +
                      s->normal[2] * y[2] - s->distance;
        worst = over > worst ? over : worst;
    }
    return worst;
}

/* GIVEN-5: rounded planes leave gaps and overlaps of this size, at edges larger
 * ones than at faces. */
static inline double given_slack(const double point[3], double radius,
                                 double gap)
{
    double size = radius;
    for (int d = 0; d < 3; d++)
        size = fmax(size, fabs(point[d]));
    return 0x1p-36 * radius + 0x1p-44 * size + 16.0 * gap;
}

/* Unit normal and distance; area is left alone. */
void given_unit_plane(const struct given_plane *plane,
                      struct storm_plane *plane_out);

/* given_cell.c: the planes of a cell, with room for its number of faces. */
struct storm_planes given_planes(const struct given_part *part, size_t cell,
                                 struct storm_plane *array);
/* Distance of the farthest corner, for which `far` need not be set; 0: the
 * planes do not close. */
double given_radius(struct storm_planes *planes);
/* The box around a cell, larger by this part of its coordinates but not beyond
 * its boundaries that are perpendicular to an axis. */
void given_extent(const struct given_part *part, size_t cell, double margin,
                  struct given_box *box_out);
void given_bounds(const struct storm_mesh *mesh, storm_cell_idx cell,
                  double lo_cm_out[3], double hi_cm_out[3]);
void given_sample(const struct storm_mesh *mesh, storm_cell_idx cell,
                  const double u[3], double point_cm_out[3]);

void given_sample_face(const struct storm_mesh *mesh, storm_cell_idx cell,
                       int face, const double u[2], double point_cm_out[3]);

/* given_check.c: what one rank can see of its own. STORM_ERR_ARG (logged). */
storm_status given_check(const struct storm_env *env,
                         const struct storm_given_params *params);
/* Points, areas and volumes of the cells of a part. STORM_ERR_ARG (logged). */
storm_status given_check_cells(const struct storm_mesh *mesh,
                               const struct given_part *part);
/* STORM_ERR_ARG, logged: what is wrong with a cell. */
storm_status given_refuse(const struct storm_env *env, storm_cell_id tag,
                          const char *format, ...) STORM_PRINTF(3, 4);

/* given_face.c: faces of all cells in order, checked against those of the
 * neighbours. Collective; `status` is that of this rank so far. */
storm_status given_faces(const struct storm_mesh *mesh, storm_status status,
                         const struct storm_given_params *params,
                         struct given_part *part);

/* given_layout.c: what tracking reads. STORM_ERR_ARG (logged). */
storm_status given_lay_out(const struct storm_mesh *mesh,
                           const struct storm_given_params *params,
                           struct given_part *part);

/* given_ghost.c: located cells, own ones and ghosts, and their tree.
 * Collective; `status` is that of this rank so far. */
storm_status given_find_ghosts(const struct storm_mesh *mesh,
                               storm_status status, struct given_part *part);

/* given_tree.c */
storm_status given_tree_build(const struct storm_env *env,
                              const struct given_box *boxes, size_t n,
                              struct given_tree *tree_out);
void given_tree_free(const struct storm_env *env, struct given_tree *tree);
/* Calls `visit` for each entry whose box touches. */
void given_tree_search(const struct given_tree *tree,
                       const struct given_box *box,
                       void (*visit)(void *self, int32_t entry), void *self);

/* given_seek.c */
/* GIVEN-7, once the cells are located. Local. */
void given_find_sole(struct given_part *part);
storm_status given_locate(const struct storm_mesh *mesh,
                          const double point_cm[3],
                          struct storm_cell_ref *where_out);

extern const struct storm_mesh_changes given_changes;

/* given_polyhedron.c */
extern const struct storm_mesh_shape given_shape;

void given_free_part(const struct storm_mesh *mesh,
                     struct storm_mesh_part *base);

#endif /* STORM_MESH_GIVEN_MESH_H */
