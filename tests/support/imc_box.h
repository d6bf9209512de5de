/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Implicit Monte Carlo in the unit cube, with all that it needs around it; by
 * public headers alone.
 *
 *   struct imc_box box = {.problem = ...};
 *   box.context and box.mesh are made by the test
 *   imc_box_open(&box); steps; imc_box_close(&box);
 */
#ifndef STORM_TESTS_IMC_BOX_H
#define STORM_TESTS_IMC_BOX_H

#include <stdbool.h>

#include <storm/context.h>
#include <storm/engine.h>
#include <storm/imc.h>
#include <storm/mesh.h>
#include <storm/problem.h>
#include <storm/streaming.h>

struct imc_box {
    struct storm_problem problem;
    struct storm_context *context;
    struct storm_mesh *mesh;
    struct storm_imc *imc;
    struct storm_comb *comb; /* attached if problem.comb */
    struct storm_engine *engine;
    uint64_t step; /* of imc_box_run */
};

/* Material 1 in a ball inside material 0, and an edge that is outside. */
enum { IMC_BOX_REGIONS = 3 };
extern const struct storm_region imc_box_regions[IMC_BOX_REGIONS];

/* A shell that emits 500 packets in a step. */
extern const struct storm_source imc_box_source;

/* Everything after the mesh. Collective, as all of these. */
void imc_box_open(struct imc_box *box);
/* Context and mesh, too: n boxes in each direction, or as many Voronoi cells of
 * random points, all walls periodic. */
void imc_box_open_periodic(struct imc_box *box, MPI_Comm comm, int n,
                           bool voronoi);

/* Adds a packet where its position is; the same call on every rank. */
void imc_box_add(struct imc_box *box, struct storm_packet packet);
/* The same with the energy of its photons. */
void imc_box_add_photon(struct imc_box *box, struct storm_photon photon);

/* One step; returns the error of the energy balance. */
double imc_box_step(struct imc_box *box, double time_s, double dt_s,
                    double energy_out[4]);

/* Steps of dt_s until there were `end` of them. */
void imc_box_run(struct imc_box *box, double dt_s, uint64_t end);

uint64_t imc_box_hash(struct imc_box *box);

/* The sum over all cells of a field that is per cm3. */
double imc_box_total(struct imc_box *box, storm_imc_field per_cm3);

/* Releases mesh and context too. */
void imc_box_close(struct imc_box *box);

#endif /* STORM_TESTS_IMC_BOX_H */
