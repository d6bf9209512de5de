/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Implicit Monte Carlo asks matter for opacities and equation of state.
 *
 *   ASK-1  All questions go through struct storm_matter, for blocks of cells of
 *          one material.
 *   ASK-2  Answers are checked (MATTER-3). The first that is wrong on a rank is
 *          kept as text, and the lowest rank that has one logs it.
 */
#ifndef STORM_PHYSICS_IMC_MATTER_H
#define STORM_PHYSICS_IMC_MATTER_H

#include <stdbool.h>

#include <storm/matter.h>
#include <storm/mesh.h>
#include <storm/status.h>

#include "base/port.h"

struct storm_imc;

enum { IMC_FAULT_BYTES = 512 };

/* Cells of one material that are asked about, and the answers. */
struct imc_block {
    size_t room; /* cells at most */
    int material;
    struct storm_matter_block b; /* its arrays are those below */
    storm_cell_idx *cell;
    storm_cell_id *tag;
    double *density, *temperature, *composition;
    double *energy;                  /* erg/cm3 */
    double *absorption, *scattering; /* n_groups each */
    double *value; /* energy, heat capacity or temperature; may also be read
                      where all are answered */
    double *extra; /* of the one who asks */
};

/* All materials of an object. */
struct imc_matter {
    struct storm_matter *of;    /* n_materials; as given or of `power` */
    struct matter_power *power; /* n_materials */
    bool is_foreign;            /* one of them is not power laws: it may fail */
    struct imc_block block;
    storm_cell_idx *order;       /* cells that have matter, by material */
    size_t *first;               /* n_materials + 1, into it */
    char fault[IMC_FAULT_BYTES]; /* ASK-2; empty: none */
    double *values_out;          /* by cell, of the one who asks */
    storm_status deferred; /* of a call without a status: the next step's */
};

/* Materials of the problem, and groups. Local. */
storm_status imc_matter_open(struct storm_imc *imc);
void imc_matter_close(struct storm_imc *imc);

/* After materials of cells have changed: `order`. Local. */
void imc_matter_sort(struct storm_imc *imc);

/* Is there matter, whose temperature may change? */
bool imc_is_warm(const struct storm_imc *imc, int material);
bool imc_has_matter(const struct storm_imc *imc, int material);

/* Fills the block with cells of a material as they are now; n is up to
 * block.room. */
void imc_block_fill(struct storm_imc *imc, int material,
                    const storm_cell_idx *cells, size_t n);

/* Questions about the cells of the block, which answer in absorption and
 * scattering, or in value. Temperature takes `energy`. Local; a fault is kept
 * and returned. */
storm_status imc_ask_opacity(struct storm_imc *imc);
storm_status imc_ask_energy(struct storm_imc *imc);
storm_status imc_ask_capacity(struct storm_imc *imc);
storm_status imc_ask_temperature(struct storm_imc *imc);

/* Calls `use` for blocks that hold each cell with matter once; of these, if
 * `only` is not NULL, where it is true. Local. */
typedef storm_status imc_block_fn(struct storm_imc *imc,
                                  struct imc_block *block);
storm_status imc_matter_each(struct storm_imc *imc, const bool *only,
                             imc_block_fn *use);

/* ASK-2: the status of this rank, or STORM_ERR_PEER if another has failed.
 * Collective: power laws can fail, too, where they overflow. */
storm_status imc_fault_agree(struct storm_imc *imc, storm_status status);
/* This rank logs its fault, if there is one. Local. */
void imc_fault_log(struct storm_imc *imc);
/* What was asked for was a guess: forgets why it failed. Local. */
void imc_fault_drop(struct storm_imc *imc);
/* Keeps the text of a fault, if it is the first. */
void imc_fault_keep(struct storm_imc *imc, const char *format, ...)
    STORM_PRINTF(2, 3);

/* Temperature of the cells from their energies, and the other way. */
imc_block_fn imc_block_temperature, imc_block_energy;

/* Temperatures of the cells that are stale. Local. */
storm_status imc_matter_refresh(struct storm_imc *imc);

#endif /* STORM_PHYSICS_IMC_MATTER_H */
