/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Discrete diffusion (DDMC): in thick cells packets hop from cell to cell
 * instead of flying, eqs. (D1) to (D11). Thick groups of a cell diffuse
 * together as one ensemble; others fly through it.
 *
 *   DDMC-1  Which groups of which cells diffuse is decided before the step,
 *           from fields alone: the same on any number of ranks.
 *   DDMC-2  A cell may diffuse if each of its faces is square to the line
 *           between its point and that of the cell behind: Voronoi cells, and
 *           boxes whose neighbours have the same sides. Not at walls that ask
 *           the host, nor where there are blackbody planes.
 *   DDMC-3  Opacities at a face are those at its temperature, eq. (D1), and
 *           computed once, by the owner of the cell.
 *   DDMC-4  A packet diffuses whenever it is, between two events, in a cell and
 *           group that diffuse: it needs no mark for that, and KERNEL-1 holds.
 *   DDMC-5  A mark in place of its optical depth says whether its position is
 *           one that it has (IMC_PLACED): where it was born or collided. It
 *           flies from there if its group changes, or if the cell does not
 *           diffuse any more; without, from any point of the cell. Where all
 *           cells of the mesh are boxes a hop keeps the place in the cell: it
 *           is by as much as from middle to middle. Else it loses the place,
 *           as by a remap.
 *   DDMC-6  In boxes whose ensemble changes into groups that fly, leakage
 *           through a face behind which nothing diffuses depends on the place,
 *           eq. (D11), and what is taken in there gets one.
 */
#ifndef STORM_PHYSICS_IMC_DDMC_H
#define STORM_PHYSICS_IMC_DDMC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <storm/mesh.h>
#include <storm/packet.h>
#include <storm/status.h>

#include "base/exact.h"
#include "base/math.h"
#include "physics/imc_drift.h"
#include "physics/walk.h"

struct storm_imc;

/* Values of a packet's optical depth that are marks: it diffuses, without or
 * with a place; it was born on `face` of its cell, a wall, and comes in there
 * (eq. D3); it has hopped in through `face`, without or with a place, which its
 * direction has then, in halves of the cell about its middle. */
#define IMC_DIFFUSES (-1.0)
#define IMC_PLACED (-4.0)
#define IMC_KNOCKS (-2.0)
#define IMC_ENTERS (-3.0)
#define IMC_BRINGS (-5.0)

enum imc_ddmc_side { DDMC_LOCAL, DDMC_GHOST, DDMC_WALL };

struct imc_ddmc_face {
    double leak;        /* 1/cm: through this face and those before it */
    double normal[3];   /* outward */
    double reach;       /* 1/cm: area over the volume of the cell */
    double distance_cm; /* from the point of the cell */
    int32_t next;       /* local cell, number of a ghost, or wall */
    int16_t back;       /* number of the face in the cell behind it */
    int8_t side;        /* enum imc_ddmc_side */
    bool is_mirror;     /* all of it; or the cell itself is behind it */
};
_Static_assert(sizeof(struct imc_ddmc_face) == 56, "no holes");

struct imc_ddmc_cell {
    double absorb;   /* 1/cm, of the ensemble, after Fleck */
    double leak;     /* 1/cm, through all faces */
    double change;   /* 1/cm, into groups that fly */
    double width_cm; /* the smallest in which it can leak */
    bool may;        /* DDMC-2 */
    bool is_in;      /* some group diffuses in this step */
    bool has_skin;   /* a face has */
};

struct imc_ddmc_ghost {
    storm_cell_id tag;
    struct storm_cell_ref where;
};

struct imc_ddmc {
    size_t n_groups;
    size_t *first; /* n_cells + 1: faces of cells, in their order */
    struct imc_ddmc_face *faces;
    struct imc_ddmc_cell *cells;
    struct imc_ddmc_ghost *ghosts;
    const double *centre, *ghost_centre; /* 3 each */
    const double *half; /* 3 each, of boxes; NULL: a cell is none */
    size_t n_ghosts;
    size_t max_faces; /* of a cell, on all ranks */
    double *share;    /* n_groups a cell: of the ensemble; 0: it flies */
    double *depth;    /* n_groups a face, max_faces a cell: mean free paths from
                       the point to the face; negative: it flies */
    double *beyond;   /* the same of ghosts */
    double *behind;   /* n_groups a face: depth in the cell behind; negative:
                       it flies there */
    double *skin;     /* a face, DDMC-6: extrapolation length over the distance
                       of the point; 0: no matter where the packet is */
    bool *heats;      /* n_cells: a wave reaches the cell in this step */
    double hop_cm, hop_depth; /* the longest way to a face in this step, of all
                                 ranks; 0: nothing diffuses */
    double hop_reach;         /* the largest area over the volume, 1/cm */
    bool is_told;             /* that some cells may not */
};

/* Path and events that were not flown, in this step. */
enum imc_method { IMC_WALKED, IMC_DIFFUSED, IMC_METHODS };
struct imc_methods {
    storm_exact path[IMC_METHODS];
    uint64_t events[IMC_METHODS];
};

/* imc_ddmc.c: faces of the present cells. Collective. */
storm_status imc_ddmc_open(struct storm_imc *imc);
void imc_ddmc_close(struct storm_imc *imc);

/* imc_ddmc_step.c: what diffuses in this step; opacities and planes are known.
 * Local. */
void imc_ddmc_choose(struct storm_imc *imc);
/* And how fast; T^4 of neighbours and temperatures of walls are known, too.
 * Collective. */
storm_status imc_ddmc_begin(struct storm_imc *imc);
/* T^4 behind a face of a local cell, a blackbody included: 0 if nothing
 * radiates there; negative: a mirror. */
double imc_ddmc_behind_kev4(const struct storm_imc *imc, storm_cell_idx cell,
                            int face);
/* imc_ddmc_heat.c: Fleck factors of cells that a wave reaches in this step.
 * Local; faults are those of matter. */
storm_status imc_ddmc_heat(struct storm_imc *imc);
/* For packets born on a wall: knocks, if that cell and group diffuse. Of face
 * `face` of its cell; -1: the one at that wall of the box. */
void imc_ddmc_knock(const struct storm_imc *imc, int wall, int face,
                    struct storm_packet *packet);
/* The same for any packet that begins: if it is on a wall that is no mirror, on
 * its way in. */
void imc_ddmc_knock_if_on_wall(const struct storm_imc *imc,
                               struct storm_packet *packet);

/* Does the group diffuse in a local cell? */
static inline bool imc_ddmc_is_in(const struct imc_ddmc *ddmc,
                                  storm_cell_idx cell, int32_t group)
{
    return ddmc->share[(size_t)cell * ddmc->n_groups + (size_t)group] > 0.0;
}

/* Mean free paths between the point of a local cell and a face. */
static inline double imc_ddmc_depth(const struct imc_ddmc *ddmc,
                                    storm_cell_idx cell, size_t face,
                                    int32_t group)
{
    size_t row = (size_t)cell * ddmc->max_faces + face;
    return ddmc->depth[row * ddmc->n_groups + (size_t)group];
}

/* Probability to be taken in at this cosine, eq. (D3). */
static inline double imc_ddmc_taken(double depth, double mu)
{
    double p =
        2.0 * (1.0 + 1.5 * mu) / (3.0 * (depth + storm_walk_extrapolation));
    return p < 1.0 ? p : 1.0;
}

/* From this cosine on all are. */
static inline double imc_ddmc_all_taken(double depth)
{
    double mu = (1.5 * (depth + storm_walk_extrapolation) - 1.0) / 1.5;
    return mu < 0.0 ? 0.0 : mu < 1.0 ? mu : 1.0;
}

/* Its mean over what comes from all directions, eq. (D4). */
static inline double imc_ddmc_mean_taken(double depth)
{
    double a = 2.0 / (3.0 * (depth + storm_walk_extrapolation));
    double full = imc_ddmc_all_taken(depth), square = full * full;
    return a * (square + square * full) + (1.0 - square);
}

/* Leakage at this distance from a face, in distances of the point, over that
 * from any, eq. (D11). */
static inline double imc_ddmc_near(double skin, double distance)
{
    return 2.0 / ((distance + skin) * storm_log((2.0 + skin) / skin));
}

/* Leakage through a face, 1/cm, eqs. (D2) and (D4). */
static inline double imc_ddmc_leak(double reach, double depth, double behind)
{
    if (behind < 0.0)
        return 0.25 * reach * imc_ddmc_mean_taken(depth);
    /* No more than flies. */
    return reach * fmin(0.25, 1.0 / (3.0 * (depth + behind)));
}

#endif /* STORM_PHYSICS_IMC_DDMC_H */
