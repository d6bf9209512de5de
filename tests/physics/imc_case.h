/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets and cells for a kernel of implicit Monte Carlo by itself, on any
 * processor: no engine, no MPI. Everything is made of random numbers, in cells
 * that are thin and thick, scatter and absorb, or are outside.
 */
#ifndef TESTS_PHYSICS_IMC_CASE_H
#define TESTS_PHYSICS_IMC_CASE_H

#include <stdlib.h>
#include <string.h>

#include "physics/imc.h"
#include "support/dice.h"

struct imc_case {
    size_t n_cells, n_groups;
    struct imc_cell *cells;
    struct imc_opacity *opacity;
    double *spectrum;
    storm_exact *paths;  /* by cell and group */
    storm_exact *events; /* by cell and kind */
    struct storm_walk *walk;
    unsigned char edges[STORM_N_WALLS];
    struct storm_ledger escaped;
    struct imc_flow leaving[STORM_N_WALLS], outside;
    struct imc_methods methods;
    struct imc_moments moments;
    struct imc_track track;
};

static inline double imc_case_uniform(struct dice *dice)
{
    return ((double)(dice_word(dice) >> 11) + 0.5) * 0x1p-53;
}

/* The cells as at the start of a step. */
static inline void imc_case_clear(struct imc_case *c)
{
    struct dice dice = dice_make(11, c->n_groups);
    size_t n = c->n_groups;
    for (size_t i = 0; i < c->n_cells; i++) {
        double u = imc_case_uniform(&dice), v = imc_case_uniform(&dice);
        bool is_thick = i % 8 == 3;
        c->cells[i] = (struct imc_cell){.absorb = 60.0 * u * u * u,
                                        .scatter = is_thick ? 4e3 : 80.0 * v,
                                        .outside = i % 97 == 5,
                                        .walks = is_thick && c->track.walk};
        if (n > 1)
            c->cells[i].again = v;
        for (size_t g = 0; g < n; g++) {
            double absorb = 60.0 * imc_case_uniform(&dice);
            c->opacity[i * n + g] = (struct imc_opacity){
                .absorb = absorb, .scatter = absorb * v + 20.0 * u};
            c->spectrum[i * n + g] = (double)(g + 1) / (double)n;
        }
    }
    memset(c->paths, 0, c->n_cells * n * sizeof *c->paths);
    memset(c->events, 0, c->n_cells * STORM_IMC_N_EVENTS * sizeof *c->events);
    memset(&c->methods, 0, sizeof c->methods);
}

/* In a mesh of walls that reflect; speed 1 cm/s. */
static inline void imc_case_open(struct imc_case *c,
                                 const struct storm_mesh *mesh, size_t n_cells,
                                 size_t n_groups, bool walks)
{
    size_t n = n_cells * n_groups;
    memset(c, 0, sizeof *c);
    c->n_cells = n_cells;
    c->n_groups = n_groups;
    c->cells = aligned_alloc(64, n_cells * sizeof *c->cells);
    c->opacity = calloc(n, sizeof *c->opacity);
    c->spectrum = calloc(n, sizeof *c->spectrum);
    c->paths = calloc(n, sizeof *c->paths);
    c->events = calloc(n_cells * STORM_IMC_N_EVENTS, sizeof *c->events);
    c->walk = calloc(1, sizeof *c->walk);
    if (!c->cells || !c->opacity || !c->spectrum || !c->paths || !c->events ||
        !c->walk)
        abort();
    memset(c->edges, IMC_EDGE_MIRROR, sizeof c->edges);
    if (walks)
        storm_walk_make(c->walk);
    c->track = (struct imc_track){
        .mesh = mesh,
        .light_cm_s = 1.0,
        .seed = 3,
        .max_events = UINT64_MAX,
        .n_groups = n_groups,
        .walk = walks ? c->walk : NULL,
        .opacity = c->opacity,
        .spectrum = c->spectrum,
        .methods = &c->methods,
        .edges = c->edges,
        .deposit_unit = storm_exact_unit(1e6),
        .path_unit = storm_exact_unit(1e6),
        .cells = c->cells,
        .escaped = &c->escaped,
        .leaving = c->leaving,
        .outside = &c->outside,
    };
}

/* Energy by group is counted as well, and maybe events by their kind. */
static inline void imc_case_count(struct imc_case *c, bool with_events)
{
    c->moments.groups = c->paths;
    c->moments.events = with_events ? c->events : NULL;
    c->track.moments = &c->moments;
}

static inline void imc_case_close(struct imc_case *c)
{
    free(c->cells);
    free(c->opacity);
    free(c->spectrum);
    free(c->paths);
    free(c->events);
    free(c->walk);
}

/* What makes a packet of a position, a direction and a weight; some are so
 * light that they are absorbed as a whole. */
static inline void imc_case_packet(const struct imc_case *c,
                                   struct storm_packet *packet, size_t i)
{
    packet->id = (struct storm_packet_id){.hi = 7, .lo = i};
    packet->birth_weight_erg = packet->weight_erg * (i % 9 == 0 ? 200.0 : 1.0);
    packet->group = (int32_t)(i % c->n_groups);
    packet->optical_depth = 0.0;
    packet->time_left_s = 0.4;
}

static inline void imc_case_run(struct imc_case *c, imc_advance_fn *advance,
                                struct storm_packet *packets, size_t n,
                                struct storm_outcome *outcomes)
{
    void **pointers = calloc(n, sizeof *pointers);
    if (pointers == NULL)
        abort();
    for (size_t i = 0; i < n; i++) {
        imc_case_packet(c, &packets[i], i);
        pointers[i] = &packets[i];
    }
    imc_case_clear(c);
    advance(&c->track, pointers, n, outcomes);
    free(pointers);
}

#endif /* TESTS_PHYSICS_IMC_CASE_H */
