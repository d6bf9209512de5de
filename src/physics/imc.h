/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Internals of implicit Monte Carlo. Equations are those of docs/physics.md.
 *
 *   IMC-1  What a packet does is a function of the packet and of the fields of
 *          the cells at the start of the step, on any rank.
 *   IMC-2  Deposits and path lengths are exact sums: any order, any ranks.
 *   IMC-3  Energy emitted is split over packets without remainder; weight lost
 *          by a packet is weight deposited, to the last bit.
 *   IMC-4  The total weight of a step's packets is known before it (the sums
 *          need it for their units): sources, walls and emission are all
 *          sampled in pre_step.
 */
#ifndef STORM_PHYSICS_IMC_H
#define STORM_PHYSICS_IMC_H

#include <stdbool.h>

#include <storm/imc.h>

#include "base/env.h"
#include "base/exact.h"
#include "physics/connect.h"
#include "physics/imc_watch.h"
#include "physics/ledger.h"
#include "physics/material.h"
#include "physics/walk.h"

/* What a packet in flight touches of a cell: one cache line. */
struct imc_cell {
    storm_exact deposit; /* erg */
    storm_exact path;    /* erg cm */
    double absorb;       /* 1/cm, after Fleck; of groups, the Planck mean */
    double scatter;      /* 1/cm, effective and physical; grey */
    uint64_t events;     /* of this step */
    uint64_t outside;    /* nothing is transported here */
};
_Static_assert(sizeof(struct imc_cell) == 64, "one cache line");

/* One group in one cell. */
struct imc_opacity {
    double absorb;    /* 1/cm, after Fleck */
    double scatter;   /* 1/cm, effective and physical */
    double effective; /* share of the effective in it */
    double emission;  /* share of this group and those below in what the cell
                         emits, 0 .. 1 */
};

/* What a wall does with packets: they leave, are reflected, or it depends on
 * where. */
enum imc_edge { IMC_EDGE_OPEN, IMC_EDGE_MIRROR, IMC_EDGE_PARTS };

/* Input of a pass of the kernel. */
struct imc_track {
    const struct storm_mesh *mesh;
    const struct storm_problem *problem;
    double light_cm_s;
    uint64_t seed;
    uint64_t max_events;
    size_t n_groups;
    const struct storm_walk *walk;     /* NULL: no random walk */
    const struct imc_opacity *opacity; /* several groups: n_cells * n_groups */
    const struct storm_walk_group *thick; /* the same, if they walk */
    const unsigned char *edges;           /* by wall: enum imc_edge */
    struct storm_exact_unit deposit_unit, path_unit;
    struct imc_cell *cells;
    struct storm_ledger *escaped;
    struct imc_watch *watch; /* NULL: none */
};

/* Moves n packets and fills outcomes_out[0..n): CENSUS, SEND, ABSORBED,
 * ESCAPED (booked) or CONTINUE. */
typedef void imc_advance_fn(const struct imc_track *track, void *const *packets,
                            size_t n, struct storm_outcome *outcomes_out);

/* What neighbours need of a cell, beside its centre: T^4, negative if it does
 * not emit; max T^4 of matter and radiation, keV^4. */
enum { IMC_HALO_T4, IMC_HALO_HOT, IMC_HALO_VALUES };

/* Cells behind the faces of this rank's cells, and values of cells. */
struct imc_halo {
    size_t *first;        /* n_cells + 1, into next */
    int32_t *next;        /* local cell, or ~ghost of the mesh */
    double *centre;       /* of ghosts, 3 each */
    double *own, *ghosts; /* IMC_HALO_VALUES each, of this step */
};

/* What the deck's sources need of this rank's cells. */
struct imc_source {
    size_t n; /* cells that take part */
    storm_cell_idx *cells;
    uint64_t *begin;   /* share of those before it, on all ranks, in whole
                          numbers; in the order of tags */
    uint64_t *end;     /* and with its own */
    uint64_t total;    /* of the shares of all ranks */
    double volume_cm3; /* of all cells' parts in the shape */
};

enum { IMC_TILES = 64 }; /* per direction */

/* A part of a wall that is a blackbody. */
struct imc_wall {
    double area_cm2;     /* 0: it emits nothing */
    double lo[2], hi[2]; /* of the rectangle around it, in the directions after
                            the wall's own; cut into tiles, the first
                            direction's in a row */
    uint64_t *share;     /* of each tile, in whole numbers: prefix sums */
    bool *mine;          /* does a cell of this rank touch the tile? */

    /* Numbered boundaries: faces of this rank in it, in place of tiles. */
    struct imc_wall_face {
        storm_cell_idx cell;
        int face;
        uint64_t begin, end; /* as in struct imc_source */
    } * faces;
    size_t n_faces;
    uint64_t total; /* of the shares of all ranks */
};

/* What the maximum principle needs of the faces. */
struct imc_principle {
    double *flux; /* in the order of halo.next: area / (4 volume of the cell),
                     1/cm */
    struct imc_hot_face {
        storm_cell_idx cell;
        const struct storm_wall_part *edge; /* a blackbody */
        double flux;
    } * hot;
    size_t n_hot;
    double *coming; /* n_cells: incoming through hot faces, keV^4 / cm */
    double *around; /* n_cells: max of these, keV^4 */
};

/* Number of packets that a cell emits, and max number after the comb, in this
 * step. */
struct imc_steer {
    uint64_t emit, max_packets;
};

struct storm_imc {
    const struct storm_context *context;
    const struct storm_env *env;
    struct storm_mesh *mesh;
    struct storm_problem own; /* the caller's, copied */
    const struct storm_problem *problem;
    imc_advance_fn *advance;
    struct storm_heat *heat; /* n_materials + 1; the last is empty space */
    double *group_edge, *group_middle; /* keV; unused if grey */

    /* Cells, for this generation of the mesh. */
    uint64_t generation;
    storm_cell_idx n_cells;
    struct imc_track track;
    storm_cell_id *tag;
    int *material;
    double *volume;
    bool *is_box;                   /* with sides along the axes */
    double *half;                   /* 3 each: half extents about the centre */
    double *centre;                 /* 3 each, in the frame of the bounds */
    struct imc_opacity *opacity;    /* n_groups each, if there are several */
    struct storm_walk_group *thick; /* the same, if there is a random walk */
    double *energy;                 /* of the material, erg/cm3 */
    double *temperature;            /* keV */
    double *emitted;                /* in this step, erg */
    double *deposited;              /* in the last step, erg */
    double *radiation;              /* path average, erg/cm3 */
    double *slope; /* 3 each: of the emission, relative, per cm */
    struct imc_halo halo;
    struct imc_source *sources;
    size_t n_walls;          /* of the problem and of the mesh */
    struct imc_wall **walls; /* one for each edge of each wall */
    unsigned char *edges;    /* by wall */

    struct storm_connect connect;
    struct imc_principle principle;
    bool warned_principle;
    struct imc_steer *steer; /* NULL: the numbers of the problem */
    struct storm_walk *walk;
    struct imc_watch watch;
    double time_s, dt_s;
    bool is_set;  /* the next step's times are known */
    bool in_step; /* between pre_step and post_step */
    struct storm_ledger account[STORM_LEDGER_ACCOUNTS];
};

/* imc_report.c: STORM_ERR_STATE, logged, if the mesh has another generation
 * than the cells. Every function that uses them calls it first. */
storm_status imc_check(const struct storm_imc *imc);

/* imc_check.c: does the caller's problem have faults? STORM_ERR_ARG (logged).
 * Collective. */
storm_status imc_values_check(const struct storm_context *context,
                              const struct storm_problem *problem);

/* Then: is it the same on all ranks, and that of this mesh? The same. */
storm_status imc_problem_check(const struct storm_imc *imc);

/* imc_cells.c: arrays for the present partition of the mesh; collective.
 * `energy` of the cells is zero. */
storm_status imc_cells_open(struct storm_imc *imc);
/* What depends on the materials of the cells, which may be others by then.
 * Collective. */
storm_status imc_cells_finish(struct storm_imc *imc);
void imc_cells_close(struct storm_imc *imc);
void imc_cells_begin(struct storm_imc *imc); /* temperature of the start */

/* imc_fields.c: opacities and emission at the start of a step. */
void imc_fields_set(struct storm_imc *imc);

/* imc_halo.c */
storm_status imc_halo_open(struct storm_imc *imc);
void imc_halo_close(struct storm_imc *imc);
/* Slopes of the emission from T^4 of the neighbours. Collective. */
storm_status imc_halo_slopes(struct storm_imc *imc);
/* Max T^4 of a neighbour, after that: next is of halo.next. */
double imc_halo_hot(const struct storm_imc *imc, int32_t next);

/* The state of a cell beyond what the problem specifies: a change of the mesh
 * moves it, and storm_imc_save_state saves it (imc_state.c). */
enum { IMC_STATE_VALUES = 3 };

/* imc_principle.c: does the step obey the maximum principle? Logs once where
 * not. Collective. */
storm_status imc_principle_open(struct storm_imc *imc);
void imc_principle_close(struct storm_imc *imc);
storm_status imc_principle_check(struct storm_imc *imc,
                                 const struct storm_step *step);
/* imc.c: the highest temperature of a blackbody in this step; 0 if it does not
 * emit. */
double imc_edge_hottest(const struct storm_imc *imc,
                        const struct storm_wall_part *edge);

/* imc_steer.c: fills imc->steer, unless it is NULL. Collective. */
storm_status imc_steer(struct storm_imc *imc, struct storm_step *step);
/* The number of packets that the cell emits in this step. */
uint64_t imc_emit_number(const struct storm_imc *imc, storm_cell_idx cell);

/* imc_source.c: which cells a source fills. Collective. */
storm_status imc_source_open(struct storm_imc *imc);
void imc_source_close(struct storm_imc *imc);

/* imc_wall.c: parts of walls. Collective. */
storm_status imc_wall_open(struct storm_imc *imc);
void imc_wall_close(struct storm_imc *imc);
/* The edge that counts at a point of a wall; NULL: vacuum. */
const struct storm_wall_part *imc_edge_at(const struct storm_problem *problem,
                                          int wall, const double point_cm[3]);

/* imc_boundary.c: a blackbody on a numbered boundary of a given mesh: its area
 * and faces. Collective. */
storm_status imc_boundary_open(struct storm_imc *imc, int wall, size_t i_edge);
/* A direction into the domain, by the cosine law of a blackbody. */
void imc_boundary_inwards(const double normal[3], const double u[2],
                          double direction_out[3]);

/* Does the wall reflect there? For the kernel, on walls that are split. */
bool imc_wall_reflects(const struct storm_problem *problem, int wall,
                       const double point_cm[3]);

#endif /* STORM_PHYSICS_IMC_H */
