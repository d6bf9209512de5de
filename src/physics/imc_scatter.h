/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Laws of physical scattering (docs/moving-matter.md, "Scattering").
 *
 *   SCATTER-1  Events of laws are in kernels of a kind of their own, chosen by
 *              batch: others do not know of them.
 *   SCATTER-2  A law works in the frame of matter and there alone; the packet
 *              is taken there and back (FRAME-1).
 *   SCATTER-3  Where a law changes the energy of photons (Compton, a host's)
 *              records have it, weights are proportional to it in a collision,
 *              and matter gets what the packet loses, to the last bit.
 *   SCATTER-4  Where records have energies, at rest, all packets fly.
 */
#ifndef STORM_PHYSICS_IMC_SCATTER_H
#define STORM_PHYSICS_IMC_SCATTER_H

#include <stdbool.h>
#include <stdint.h>

#include <storm/imc_user.h>

#include "base/exact.h"

struct storm_imc;
struct storm_step;
struct imc_track;

/* What laws need beyond the cells; NULL in a track: all is isotropic and
 * elastic. */
struct imc_scatter {
    struct storm_imc *imc;
    struct storm_imc_scatter user; /* apply is NULL: not set */
    bool has_user;                 /* a material asks for it */
    bool is_inelastic;             /* photons may change their energy */
    bool is_warned;
    unsigned char *law;     /* by cell: storm_scattering_law */
    storm_exact *exchanged; /* by cell, in this step, in the unit of deposits */
    uint64_t step;
    storm_status status; /* of this step's answers; post_step returns it */
};

/* Which laws the problem has; switches walks and diffusion off (SCATTER-4),
 * and logs that. Local, before cells are opened. */
void imc_scatter_make(struct storm_imc *imc);
/* Arrays for the cells; local. */
storm_status imc_scatter_open(struct storm_imc *imc);
void imc_scatter_close(struct storm_imc *imc);
/* The step begins: laws by cell. Local. */
void imc_scatter_begin(struct storm_imc *imc, const struct storm_step *step);
/* After deposits are known, before matter has them: was a step too long, or an
 * answer of the host wrong? Collective where there are laws. */
storm_status imc_scatter_end(struct storm_imc *imc);
/* What electrons of the material add to its scattering, (C1), 1/cm. */
double imc_scatter_thomson(const struct storm_imc *imc, int material,
                           double density_g_cm3);

/* For the kernel: a physical collision in a cell, in the frame of matter.
 * Changes direction and, unless it is 0, energy; returns the weight after over
 * that before. 0: virtual. */
double imc_scatter_draw(const struct imc_track *track, int32_t cell,
                        struct storm_packet *packet, double *own_kev,
                        double direction[3]);
#endif /* STORM_PHYSICS_IMC_SCATTER_H */
