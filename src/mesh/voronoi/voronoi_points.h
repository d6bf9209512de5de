/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The generators a rank knows, its own and ghosts, and the tree over them.
 *
 *   VPOINTS-1  In order of their places along the Hilbert curve, on every rank,
 *              whoever owns them; images of one generator in order of their
 *              shifts, itself among them. Own cells have indices in the same
 *              order.
 *   VPOINTS-2  Coordinates are multiples of `grid`, a power of two, and at most
 *              2^52 of it, those of images included: differences are exact, as
 *              doubles and as integers.
 *   VPOINTS-3  The tree has no pointers: eight consecutive points are a leaf,
 *              eight consecutive leaves or nodes have their boxes side by side.
 */
#ifndef STORM_MESH_VORONOI_POINTS_H
#define STORM_MESH_VORONOI_POINTS_H

#include <stdbool.h>
#include <stdint.h>

#include <storm/packet.h>
#include <storm/status.h>

#include "base/memory.h"

enum {
    VORONOI_FAN = 8,
    VORONOI_LEVELS = 10, /* 64 * 8^9 points are more than an index can count */
    /* Each level leaves at most seven nodes for later. */
    VORONOI_STACK = VORONOI_FAN * (VORONOI_LEVELS + 1)
};

/* The space of the generators. Those of a periodic box are in [lo, hi). */
struct voronoi_space {
    double lo[3], hi[3]; /* multiples of grid */
    double grid, per_grid;
    double period[3]; /* hi - lo in periodic directions, 0 in others */
    int32_t curve[3]; /* cells of the Hilbert curve in each direction */
};

/*
 * Images of a generator in a periodic box are itself, moved by -1, 0 or 1
 * period in each periodic direction: their number is 9 s0 + 3 s1 + s2, which
 * grows with the shift (s0, s1, s2) in lexicographic order; 0 is itself. No
 * others can be neighbours: a cell reaches at most half a period from its
 * generator, because the images of that cut off the rest, and so neighbours are
 * at most one period apart, in each direction.
 */
enum { VORONOI_IMAGES = 27, VORONOI_LAST_IMAGE = VORONOI_IMAGES / 2 };

/* Boxes of up to eight children; missing ones are infinitely far away. */
struct voronoi_group {
    double lo[3][VORONOI_FAN], hi[3][VORONOI_FAN];
};

/* A generator of another rank; also as it is sent. */
struct voronoi_ghost {
    uint64_t order; /* its place along the curve, among all generators */
    storm_cell_id tag;
    double x[3];
    int32_t rank;
    storm_cell_idx idx;
    int32_t image; /* 0: itself; others in periodic boxes */
    int32_t unused;
};

struct voronoi_points {
    struct voronoi_space space;
    int32_t n, n_own;
    uint64_t *order;              /* growing, but for images */
    int32_t *cell;                /* own: its index; a ghost: ~ that below */
    int32_t *at;                  /* by own cell: its point */
    struct voronoi_ghost *ghosts; /* n - n_own, in order */
    double *x[3];                 /* then infinite up to a multiple of eight */
    struct voronoi_group *groups;
    size_t level_start[VORONOI_LEVELS + 1]; /* lowest level first */
    int n_levels;
};

/* Rounds the box to the finest grid it allows, images included. */
struct voronoi_space voronoi_space_make(const double lo[3], const double hi[3],
                                        const bool periodic[3]);

static inline bool voronoi_space_is_periodic(const struct voronoi_space *space)
{
    return space->period[0] > 0.0 || space->period[1] > 0.0 ||
           space->period[2] > 0.0;
}

/* From a generator to its image. */
static inline void voronoi_image_shift(const struct voronoi_space *space,
                                       int32_t image, double shift_out[3])
{
    int32_t code = image + VORONOI_LAST_IMAGE;
    shift_out[0] = (double)(code / 9 - 1) * space->period[0];
    shift_out[1] = (double)(code / 3 % 3 - 1) * space->period[1];
    shift_out[2] = (double)(code % 3 - 1) * space->period[2];
}

/* The multiple of the grid nearest to a coordinate. */
double voronoi_snap(const struct voronoi_space *space, double x);

/* Arrays for own points and ghosts, to be filled in by the caller, who then
 * calls _index. STORM_ERR_NOMEM: nothing is left. */
storm_status voronoi_points_alloc(struct voronoi_points *points,
                                  struct storm_memory *memory, size_t n_own,
                                  size_t n_ghosts);
void voronoi_points_free(struct voronoi_points *points,
                         struct storm_memory *memory);

/* Fills in the tree. */
void voronoi_points_index(struct voronoi_points *points);

/* Replaces the ghosts, if any, by these, which are in order. Own points need
 * no tree. After STORM_ERR_NOMEM all is as it was. */
storm_status voronoi_points_merge(struct voronoi_points *points,
                                  struct storm_memory *memory,
                                  const struct voronoi_ghost *ghosts,
                                  size_t n_ghosts);

/* Which image a point is. */
static inline int32_t voronoi_points_image(const struct voronoi_points *points,
                                           int32_t index)
{
    int32_t cell = points->cell[index];
    return cell >= 0 ? 0 : points->ghosts[~cell].image;
}

/* The first point that is not before this image of `order`; n: none. */
int32_t voronoi_points_find(const struct voronoi_points *points, uint64_t order,
                            int32_t image);

/* The known generator nearest to y after all of them are moved by `shift`, the
 * one of higher order if two are; -1 if there is none. `start` is the first
 * candidate. A generator and its image have the same distance, in all bits,
 * whichever of them is known. */
int32_t voronoi_points_nearest(const struct voronoi_points *points,
                               const double y[3], const double shift[3],
                               int32_t start);

/* Calls visit for all points within sqrt(radius2) of y. */
void voronoi_points_within(const struct voronoi_points *points,
                           const double y[3], double radius2,
                           void (*visit)(void *self, int32_t index),
                           void *self);

/* The box of the generators of own cells [begin, end). */
void voronoi_points_box(const struct voronoi_points *points, int32_t begin,
                        int32_t end, double lo_out[3], double hi_out[3]);

static inline double voronoi_distance2(const struct voronoi_points *points,
                                       int32_t index, const double y[3])
{
    double dx = points->x[0][index] - y[0];
    double dy = points->x[1][index] - y[1];
    double dz = points->x[2][index] - y[2];
    return dx * dx + dy * dy + dz * dz;
}

/* How far y is from an interval. Written as a distance from the nearest point:
 * a comparison with zero would become a branch. */
static inline double voronoi_outside(double y, double lo, double hi)
{
    double nearest = y > lo ? y : lo;
    nearest = nearest < hi ? nearest : hi;
    return y - nearest;
}

/* One loop over all children, without a branch: compilers vectorise it. */
static inline void voronoi_group_distance2(const struct voronoi_group *group,
                                           const double y[3],
                                           double distance2_out[VORONOI_FAN])
{
    const double y0 = y[0], y1 = y[1], y2 = y[2];
    double sum[VORONOI_FAN];
    for (int k = 0; k < VORONOI_FAN; k++) {
        double a = voronoi_outside(y0, group->lo[0][k], group->hi[0][k]);
        double b = voronoi_outside(y1, group->lo[1][k], group->hi[1][k]);
        double c = voronoi_outside(y2, group->lo[2][k], group->hi[2][k]);
        sum[k] = a * a + b * b + c * c;
    }
    for (int k = 0; k < VORONOI_FAN; k++)
        distance2_out[k] = sum[k];
}

#endif /* STORM_MESH_VORONOI_POINTS_H */
