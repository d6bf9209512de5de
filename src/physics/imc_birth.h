/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of births share (imc_birth.c). */
#ifndef STORM_PHYSICS_IMC_BIRTH_H
#define STORM_PHYSICS_IMC_BIRTH_H

#include "physics/imc.h"
#include "physics/split.h"

enum { BIRTH_FIRST_RETRY = 3, BIRTH_MAX_RETRIES = 100000 };

/* Less energy than this counts as zero: the smallest parts must stay normal
 * numbers. */
static const double birth_min_erg = 1e-250;

/* The k-th of n shares. */
static inline double birth_share(const struct storm_split *split, uint64_t k,
                                 uint64_t n)
{
    return k + 1 < n ? split->each : split->last;
}

/* What is left of the step after a time in it. */
double birth_time_left(const struct storm_imc *imc, double time_s);

/* The group of a blackbody's photon, eq. (13). */
int32_t birth_planck_group(const struct storm_imc *imc, double temperature_kev,
                           struct storm_packet_id id);

/* Is the packet in a cell of this rank? A mesh need not know the cells of
 * other ranks. */
storm_status birth_place(const struct storm_imc *imc,
                         struct storm_packet *packet, bool *mine_out);

/* The photons of a packet: of a blackbody of this temperature within their
 * group, or of one energy. */
struct birth_spectrum {
    double temperature_kev;
    double energy_kev; /* 0: of the blackbody */
};

/* Their energy, keV; 0 if the records have none. */
double birth_energy(const struct storm_imc *imc,
                    const struct storm_packet *packet,
                    struct birth_spectrum spectrum);

/* Adds the packet, which matter has not emitted, to the step. */
storm_status birth_give(struct storm_imc *imc, struct storm_step *step,
                        struct storm_packet *packet,
                        struct birth_spectrum spectrum, double *largest_inout);

/* imc_birth_source.c: energy of a source in this step and its power at most,
 * 0: none; the time of a packet, from a first uniform number; its group. */
double birth_source_energy(const struct storm_imc *imc, size_t i,
                           double *max_power_out);
double birth_source_time(const struct storm_imc *imc, size_t i,
                         double max_power, struct storm_packet_id id, double u);
int32_t birth_source_group(const struct storm_imc *imc, size_t i,
                           struct storm_packet_id id);

struct birth_spectrum birth_source_spectrum(const struct storm_source *source);

/* The packets of a source that is a point, beam or shell. */
storm_status birth_surface(struct storm_imc *imc, struct storm_step *step,
                           size_t i, double *largest_inout);

#endif /* STORM_PHYSICS_IMC_BIRTH_H */
