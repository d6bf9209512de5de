/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tallies that a user declares: arrays of exact sums over the whole run.
 *
 *   TALLY-1  A bin is a function of the packet alone, so it is the same on any
 *            rank. No function of libm takes part.
 *   TALLY-2  A term is the weight cut to the unit of the step; the account of
 *            escaped energy takes the same integer (imc_escape). Integers are
 *            added to limbs as those of a ledger: never rounded.
 *   TALLY-3  Limbs cover the units of all steps so far. This window grows
 *            before a step, not in it; ranks bring theirs together when they
 *            add them up. Sums do not depend on it.
 *   TALLY-4  Every event of its kind is in exactly one bin.
 */
#ifndef STORM_PHYSICS_TALLY_H
#define STORM_PHYSICS_TALLY_H

#include <storm/tally.h>

#include "base/env.h"
#include "base/exact.h"
#include "physics/ledger.h"

/* What happened. */
struct tally_event {
    double time_s;
    const double *position_cm, *direction;
    double weight_erg;
    int32_t group;
    int32_t wall; /* ESCAPE; -1: into a cell that is outside */
    int32_t side; /* SURFACE: 0 outwards, 1 inwards */
};

/* One way of counting. */
struct tally_axis {
    storm_tally_by by;
    size_t n_bins, n_edges;
    double *edges;   /* AZIMUTH: see tally_find_azimuth; else as declared */
    double *turns;   /* AZIMUTH: the same, as declared */
    double per_unit; /* bins for each unit between the first and the last edge,
                        on average: where to look first */
    bool has_ends;
};

struct tally {
    struct storm_tally own; /* as declared; its pointers are NULL */
    char *name;
    double frame[3][3]; /* angle 0, a quarter turn, axis: unit vectors */
    struct tally_axis axes[STORM_TALLY_N_BY];
    size_t n_axes, n_bins;
    int64_t *limbs; /* n_bins * n_limbs of the set */
    uint64_t *packets;
};

struct tally_set {
    struct storm_memory *memory;
    struct tally *tallies;
    size_t n, capacity;
    double light_cm_s;
    int first, n_limbs;           /* TALLY-3: those of a ledger */
    struct storm_exact_unit unit; /* of this step */
    bool is_lost;                 /* a window could not grow between steps */
    uint64_t n_since_carry;
};

/* What an axis may need of the problem. */
struct tally_world {
    size_t n_groups, n_walls;
    const double *group_edge_kev; /* NULL: grey */
};

/* Has the caller's tally faults? Then the first one, as a sentence. */
bool tally_fault(const struct tally_set *set, const struct storm_tally *tally,
                 char *text_out, size_t bytes);

/* Appends one without faults. STORM_ERR_NOMEM: nothing has changed. */
storm_status tally_append(struct tally_set *set,
                          const struct storm_tally *tally,
                          const struct tally_world *world);
void tally_clear(struct tally_set *set);
/* Takes back the last one. */
void tally_pop(struct tally_set *set);

/* The step that comes has this unit: TALLY-3. */
storm_status tally_begin(struct tally_set *set, struct storm_exact_unit unit);

/* Makes room for limbs first .. end-1. */
storm_status tally_widen(struct tally_set *set, int first, int end);

/* Adds a term, cut to the unit of the set, to the bin of the event. */
void tally_add(struct tally_set *set, struct tally *tally,
               const struct tally_event *event,
               const struct storm_ledger_parts *parts);
size_t tally_bin(const struct tally_set *set, const struct tally *tally,
                 const struct tally_event *event);

/* All limbs canonical (LEDGER-4), so that ranks can be added up. */
void tally_carry(struct tally_set *set);

/* A sum of limbs of the set as a ledger; all bins together. */
struct storm_ledger tally_ledger(const struct tally_set *set,
                                 const int64_t *limbs);
struct storm_ledger tally_integral(const struct tally_set *set,
                                   const struct tally *tally,
                                   const int64_t *limbs);

/* A hash of all that gives bins their meaning. */
uint64_t tally_hash(const struct tally_set *set);

#endif /* STORM_PHYSICS_TALLY_H */
