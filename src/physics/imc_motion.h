/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matter that moves: frames of matter and of the mesh, and momentum
 * (docs/moving-matter.md).
 *
 *   FRAME-1  Packets live in the frame of the mesh. What they are in that of
 *            matter is computed where it is needed, in full special
 *            relativity, and not kept.
 *   FRAME-2  A cell gets fl(w n) of each packet that enters it and loses
 *            fl(w n) of each that leaves it, whatever has happened in between:
 *            sums are exact, in the unit of deposits, and momentum closes.
 *   FRAME-3  Events of motion are in kernels of a kind of their own, chosen
 *            by batch; others look once when a packet comes and goes.
 *   FRAME-4  Units leave IMC_ROOM above the largest weight at the start of
 *            the step. A packet that scattering takes beyond it is split into
 *            at most IMC_MAX_PARTS; more end the run with an error, and so do
 *            IMC_MAX_CHILDREN of all packets on a rank in a step: between
 *            matter and walls that approach each other weights grow without
 *            end, and parts are split again. Where packets diffuse they are
 *            split above a part of that, IMC_DRIFT_ROOM, which leaves room for
 *            one stay or reflection; a stay ends when it has doubled a weight.
 *   FRAME-5  gamma is at most IMC_MAX_GAMMA: (M1) and (M2) lose its square in
 *            digits.
 */
#ifndef STORM_PHYSICS_IMC_MOTION_H
#define STORM_PHYSICS_IMC_MOTION_H

#include <stdbool.h>
#include <stdint.h>

#include <storm/status.h>

#include "base/exact.h"
#include "physics/ledger.h"

/* Weights may grow by this factor in a step. */
#define IMC_ROOM 0x1p20
#define IMC_DRIFT_ROOM 0.25
#define IMC_MAX_GAMMA 1e4
/* Of a packet that one collision takes beyond it. */
#define IMC_MAX_PARTS 65536.0
#define IMC_MAX_CHILDREN (UINT64_C(1) << 20)

/* FRAME-5; false for what is no number, too. */
static inline bool imc_motion_is_slow(const double v[3], double light)
{
    double square = 0.0;
    for (int d = 0; d < 3; d++)
        square += v[d] / light * (v[d] / light);
    return square <= 1.0 - 1.0 / (IMC_MAX_GAMMA * IMC_MAX_GAMMA);
}

/* How the matter of a cell moves: velocity over c times gamma, and gamma. */
struct imc_motion {
    double u[3];
    double gamma;
};

/* Where momentum goes; erg, c times momentum. CREATED = the sum of the others
 * and what packets have. */
enum imc_push {
    IMC_PUSH_CREATED, /* with packets, but for those that matter emits */
    IMC_PUSH_MATTER,  /* given to matter, less what it has emitted */
    IMC_PUSH_ESCAPED,
    IMC_PUSH_WALLS,   /* given to walls that send packets back */
    IMC_PUSH_CONTROL, /* between steps: comb, a host */
    IMC_PUSH_ACCOUNTS
};

struct storm_step;

/* Sums of a step that a kernel fills, in the unit of deposits. */
struct imc_pushes {
    storm_exact *cells; /* 3 each */
    storm_exact walls[3];
    storm_exact rested[3]; /* of packets that come to the end of the step */
    struct storm_ledger *escaped; /* three accounts */
    struct storm_step *step;      /* children are born in it */
    double max_erg;               /* FRAME-4 */
    double split_erg;             /* above this packets are split */
    uint64_t n_children;          /* of splitting in this step */
    bool is_beyond;               /* a packet could not be split */

    /* DRIFT-5, in their own unit; NULL: nothing diffuses. */
    struct storm_exact_unit hop_unit;
    storm_exact *hops; /* 3 each */
    storm_exact *warm; /* of each cell: heat */
    storm_exact hop_walls[3];
};

/* Of a packet in this direction: its energy in the frame of matter over that
 * in the frame of the mesh; also the ratio of opacities, mesh over matter. */
static inline double imc_doppler(const struct imc_motion *m, const double n[3])
{
    return m->gamma - (m->u[0] * n[0] + m->u[1] * n[1] + m->u[2] * n[2]);
}

/* The direction in the frame of the mesh of one in that of matter. Returns the
 * energy in the frame of the mesh over that in the frame of matter. */
static inline double imc_boost(const struct imc_motion *m, const double n0[3],
                               double n_out[3])
{
    double along = m->u[0] * n0[0] + m->u[1] * n0[1] + m->u[2] * n0[2];
    double energy = m->gamma + along;
    double more = 1.0 + along / (m->gamma + 1.0);
    for (int d = 0; d < 3; d++)
        n_out[d] = (n0[d] + more * m->u[d]) / energy;
    return energy;
}

/* The inverse: returns imc_doppler. */
static inline double imc_boost_back(const struct imc_motion *m,
                                    const double n[3], double n0_out[3])
{
    const struct imc_motion back = {{-m->u[0], -m->u[1], -m->u[2]}, m->gamma};
    return imc_boost(&back, n, n0_out);
}

struct storm_imc;
struct storm_packet;

/* imc_motion.c: arrays for the cells; local. */
storm_status imc_motion_open(struct storm_imc *imc);
void imc_motion_close(struct storm_imc *imc);
/* Of a cell: 1 at rest. Its volume in the frame of matter is larger by it. */
double imc_gamma(const struct storm_imc *imc, int32_t cell);
/* Velocity of a cell, cm/s. */
double *imc_velocity(const struct storm_imc *imc, int32_t cell, int d);
/* At the start of a step, before packets are born: from velocities; and what
 * became of packets since the last step. Local. */
void imc_motion_set(struct storm_imc *imc);
void imc_motion_wake(struct storm_imc *imc, struct storm_step *step);
/* The units are known, for weights up to `largest` at the start. At rest, too,
 * where scattering has laws. */
void imc_motion_begin(struct storm_imc *imc, double largest);
/* A packet is created, by matter or not. */
void imc_motion_create(struct storm_imc *imc, const struct storm_packet *packet,
                       bool by_matter);
/* A packet that matter emits, isotropic in its frame; its weight is that in the
 * frame of matter before, and in that of the mesh after. Returns the energy of
 * its photons in the frame of the mesh over that in the frame of matter. */
double imc_motion_emit(struct storm_imc *imc, struct storm_packet *packet);
/* A direction of radiation in equilibrium with matter at an instant, which
 * returns the same; and its energy relative to that at rest. */
double imc_motion_place(const struct storm_imc *imc,
                        struct storm_packet *packet);
double imc_motion_energy(const struct storm_imc *imc, int32_t cell);
/* In post_step: what the matter of a cell has absorbed in its own frame, of
 * these erg in the frame of the mesh. */
double imc_motion_heat(const struct storm_imc *imc, int32_t cell,
                       double deposit_erg);
/* After the cells. STORM_ERR_STATE (logged): FRAME-4. Local. */
storm_status imc_motion_end(struct storm_imc *imc);

#endif /* STORM_PHYSICS_IMC_MOTION_H */
