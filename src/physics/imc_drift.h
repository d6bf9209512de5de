/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Diffusion and random walk where matter moves, eqs. (M6) to (M10).
 *
 *   DRIFT-1  What diffuses has the weight that its energy in the frame of
 *            matter has in that of the mesh, on the mean over directions. At
 *            the end of the step it gets a direction and the weight of that,
 *            so that its energy in the frame of matter keeps its bits but for
 *            rounding.
 *   DRIFT-2  In boxes it has a place, which goes with matter: it crosses a face
 *            when it gets there. In other cells it crosses faces at the rate at
 *            which matter does (upwind).
 *   DRIFT-3  Through faces behind which packets diffuse matter moves relative
 *            to the cells, which may move with it from step to step; through
 *            others, relative to the mesh as it is in the step, which is what
 *            packets in flight see.
 *   DRIFT-4  A packet in flight that comes to a face behind which packets
 *            diffuse crosses it, and is then taken in or goes back: FRAME-2
 *            holds on both sides.
 *   DRIFT-5  A hop carries momentum, weight times the depth behind the face,
 *            which is pressure on the mean: out of one cell and into the other,
 *            the same number.
 */
#ifndef STORM_PHYSICS_IMC_DRIFT_H
#define STORM_PHYSICS_IMC_DRIFT_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include <storm/mesh.h>
#include <storm/status.h>

#include "physics/imc_motion.h"

/* Matter that is faster, over c, is flown through. */
#define IMC_DRIFT_BETA 0.1

/* More values of a packet's optical depth that are marks, within a step: it
 * diffuses, without or with a place, and its weight is that of DRIFT-1; it has
 * come through `face` with matter, and in boxes has a place as with
 * IMC_BRINGS. */
#define IMC_STAYS (-6.0)
#define IMC_STAYS_PLACED (-7.0)
#define IMC_DRIFTS (-8.0)

/* Does a packet with this mark go on with a stay? Its cell has its momentum. */
static inline bool imc_stays(double mark)
{
    return mark == IMC_STAYS || mark == IMC_STAYS_PLACED;
}

enum { IMC_DRIFT_SIDES = 6 };

/* A face, outwards. Of an ensemble of groups some may diffuse behind it and
 * others fly. */
struct imc_drift_face {
    double own;    /* velocity of the cell's matter over c */
    double across; /* that, less the one at the face, over c; for what diffuses
                      behind it */
    double share;  /* of the ensemble that does; of mirrors 1 */
    double ride;   /* cm/s: velocity of matter through it, for that */
    double leave;  /* 1/s: through this face and those before it with matter;
                      not of boxes */
};

struct imc_drift_cell {
    double slow;    /* time of matter over that of the mesh */
    double instant; /* DRIFT-1: weight over energy in the frame of matter */
    double expand;  /* 1/s: a third of the divergence of the velocity */
    double leave;   /* 1/s: through all faces */
    double flux[3]; /* F = flux E c where nothing diffuses */
    double rate[3]; /* 1/s, of boxes: ds/dt = rate + bend s; s = -1 .. 1 */
    double bend[3];
    unsigned char face[IMC_DRIFT_SIDES]; /* of boxes: low and high of axes */
    bool has_place;                      /* DRIFT-2 */
    bool has_mirror;                     /* that takes pressure */
};

/* What others need of a cell. */
struct imc_drift_row {
    double beta[3];           /* of matter */
    double relative_cm[3];    /* to the cell, cm/s */
    struct imc_motion motion; /* which group it is there has the same bits */
};

struct imc_drift {
    struct imc_drift_face *faces; /* as those of struct imc_ddmc */
    struct imc_drift_cell *cells;
    struct imc_drift_row *rows, *ghosts;
    double *frame; /* velocity of the cells in the step that comes, 3 each */
};

/* Energy that radiation which is isotropic in the frame of matter has in that
 * of the mesh at an instant, over its own: gamma (1 + beta^2 / 3). */
static inline double imc_instant(const struct imc_motion *m)
{
    double u2 = m->u[0] * m->u[0] + m->u[1] * m->u[1] + m->u[2] * m->u[2];
    return m->gamma + u2 / (3.0 * m->gamma);
}

/* Is matter slow enough to diffuse and walk in? */
static inline bool imc_drift_may(const struct imc_motion *m)
{
    double u2 = m->u[0] * m->u[0] + m->u[1] * m->u[1] + m->u[2] * m->u[2];
    return u2 <= IMC_DRIFT_BETA * IMC_DRIFT_BETA * m->gamma * m->gamma;
}

struct storm_imc;

/* imc_drift.c: arrays for cells and faces; local. */
storm_status imc_drift_open(struct storm_imc *imc, size_t n_faces,
                            size_t n_ghosts);
void imc_drift_close(struct storm_imc *imc);
/* What diffuses is known, and leakage. Says once that packets fly where matter
 * is too fast. Collective. */
storm_status imc_drift_begin(struct storm_imc *imc);
/* The unit of sums of hops, for weights up to `largest`. */
void imc_drift_units(struct storm_imc *imc, double largest);
/* After the step: heat of a cell by hops, erg. */
double imc_drift_heat(const struct storm_imc *imc, storm_cell_idx cell);
/* Then: what hops have given to a cell along d, erg, to its account, and to
 * zero; the same of walls, and the velocity of the mesh. */
double imc_drift_push(struct storm_imc *imc, storm_cell_idx cell, int d);
void imc_drift_end(struct storm_imc *imc);

#endif /* STORM_PHYSICS_IMC_DRIFT_H */
