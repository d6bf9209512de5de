/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Internals of implicit Monte Carlo. Equations are those of docs/physics.md,
 * docs/diffusion.md and docs/moving-matter.md.
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
#include "physics/curve.h"
#include "physics/imc_ddmc.h"
#include "physics/imc_matter.h"
#include "physics/imc_motion.h"
#include "physics/imc_scatter.h"
#include "physics/imc_user.h"
#include "physics/imc_watch.h"
#include "physics/ledger.h"
#include "physics/tally.h"
#include "physics/walk.h"

/* What a packet in flight touches of a cell: one cache line. */
struct imc_cell {
    storm_exact deposit; /* erg */
    storm_exact path;    /* erg cm */
    double absorb;       /* 1/cm, after Fleck; of groups, the Planck mean */
    union {
        double scatter; /* 1/cm, effective and physical; grey */
        double again;   /* several groups: effective scattering over absorb */
    };
    uint64_t events;  /* of this step */
    uint32_t outside; /* nothing is transported here */
    uint32_t walks;   /* wide and thick enough for a random walk */
};
_Static_assert(sizeof(struct imc_cell) == 64, "one cache line");

/* One group in one cell: what each event reads, within a cache line. */
struct imc_opacity {
    double absorb;  /* 1/cm, after Fleck */
    double scatter; /* 1/cm, effective and physical */
};

/* 1/cm, of one of several groups in a cell: (1 - f) / f is the same in all. */
static inline double imc_effective(const struct imc_cell *cell,
                                   const struct imc_opacity *opacity)
{
    return cell->again * opacity->absorb;
}

/* The first of n shares that is not below u; the last if all are. By halves,
 * without branches that are hard to predict. */
static inline int32_t imc_find_group(const double *share, size_t n, double u)
{
    size_t first = 0;
    while (n > 1) {
        size_t half = n / 2;
        first += share[first + half - 1] < u ? half : 0;
        n -= half;
    }
    return (int32_t)first;
}

/* The group of an energy: the first has all below, the last all above. */
static inline int32_t imc_group_of(const double *edge, size_t n, double kev)
{
    size_t first = 0;
    while (n > 1) {
        size_t half = n / 2;
        first += edge[first + half] <= kev ? half : 0;
        n -= half;
    }
    return (int32_t)first;
}

struct imc_track;
struct storm_draws;

/* imc_photon.c: energy, in the frame of matter, of a photon that a blackbody
 * of this temperature emits in a group; keV. */
double imc_planck_energy(const struct imc_track *track, int32_t group,
                         double temperature_kev,
                         const struct storm_draws *draws);
/* The same of effective scattering in a cell, with the packet's own random
 * numbers. */
double imc_draw_energy(const struct imc_track *track, storm_cell_idx cell,
                       struct storm_packet *packet);
/* For tallies: a group in the frame of the mesh of what diffuses or walks, in
 * this group in the frame of matter. Draws for it change no history. */
int32_t imc_tally_group(const struct imc_track *track, storm_cell_idx cell,
                        const struct storm_packet *packet, int32_t group);

/* What a wall does with packets: they leave, are reflected, it depends on
 * where, or the host says it. */
enum imc_edge { IMC_EDGE_OPEN, IMC_EDGE_MIRROR, IMC_EDGE_PARTS, IMC_EDGE_USER };

/* Energy and packets that came or went in a step. */
struct imc_flow {
    struct storm_ledger energy;
    uint64_t packets;
};

/* A blackbody plane in this step (imc_plane.c). */
struct imc_plane {
    struct curve temperature; /* keV; its table is that of this step */
    int axis;
    double end_cm;               /* where it is at the end of the step */
    double velocity;             /* cm/s */
    double lo[2], hi[2];         /* in the directions after the axis */
    double box_lo[2], period[2]; /* of the box there; 0: not periodic */
    double off;                  /* cm: where packets begin, PLANE-2 */
    bool passes;
};

/* What a host asks for beyond fields, by cell (imc_moments.c).
 *
 *   MOMENTS-1  Only kernels of a second kind, compiled apart and chosen by
 *              batch, know of moments: others are as fast as without.
 *   MOMENTS-2  Sums are exact, in the units of path and deposit. Paths by group
 *              are the integers that the path of the cell is made of.
 *   MOMENTS-3  Histories do not depend on moments: they draw random numbers of
 *              a stream of their own. */
struct imc_moments {
    storm_exact *groups;   /* n_groups each: erg cm; NULL: not asked for */
    storm_exact *flux;     /* 3 each: path times direction */
    storm_exact *pressure; /* 6 each: times two of its components */
    storm_exact *momentum; /* 3 each: erg, c times the momentum */
    storm_exact *hops;     /* 3 each: the same of hops (D2); NULL: none */
    storm_exact *events;   /* STORM_IMC_N_EVENTS each: numbers */
    double *effective;     /* grey: share of the effective in scattering; with
                              events */
    bool is_directed;      /* flux, pressure or momentum */
    double path_scale;     /* of path_unit: 2^lsb */
    /* Hops may be longer than light goes in a step, and have so many mean free
     * paths that in their unit nothing is left of a collision (EXACT-4).
     * Without hops: path_unit and deposit_unit. */
    struct storm_exact_unit flux_unit, momentum_unit, hop_unit;
};

/* Sets of cells that tallies of surfaces are about, in this step
 * (imc_surface.c). Like moments, only kernels of the second kind know them. */
struct imc_surfaces {
    size_t n;              /* tallies of surfaces */
    unsigned char *own;    /* n for each cell: enum surface_place */
    unsigned char *ghosts; /* the same, of ghosts */
    size_t own_capacity, ghost_capacity;
};

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
    const double *spectrum;    /* the same: share of a group and those below in
                               what the cell emits, 0 .. 1 */
    const double *edge;        /* n_groups + 1, keV; with photons */
    const double *temperature; /* of cells, keV */
    bool has_photons;          /* records are struct storm_photon */
    const struct storm_walk_group *thick; /* the same, if they walk */
    const struct imc_ddmc *ddmc;          /* NULL: nothing diffuses near */
    struct imc_methods *methods;
    const unsigned char *edges; /* by wall: enum imc_edge */
    struct storm_exact_unit deposit_unit, path_unit;
    struct imc_cell *cells;
    struct storm_ledger *escaped;
    struct imc_flow *leaving;  /* by wall */
    struct imc_flow *outside;  /* into regions outside, or out of the mesh */
    struct tally_set *tallies; /* NULL: none */
    const struct imc_moments *moments;   /* NULL: none */
    const struct imc_surfaces *surfaces; /* NULL: none */
    double end_s;                        /* of the step */
    struct imc_watch *watch;             /* NULL: none */
    struct imc_user *user;               /* NULL: no wall asks the host */
    const struct imc_motion *motion;     /* of cells; NULL: all at rest */
    struct imc_pushes *pushes;           /* with motion, or laws */
    const struct imc_drift *drift;       /* of ddmc, with motion; else NULL */
    struct imc_scatter *scatter;         /* with laws */
    const unsigned char *laws; /* of cells; NULL: scattering is isotropic and
                                  elastic */
    const double *fleck;       /* of cells: factor of the step */
    const struct imc_plane *planes;
    size_t n_planes;
    const unsigned char *turns; /* by cell: a packet that is to leave it by a
                                   face or a leak is the host's (RUN-5); NULL:
                                   no kernel of a device that hands over */
};

/* Of kernels on devices: the host does the next event (RUN-5). No engine sees
 * it. */
#define IMC_FATE_TURN ((storm_fate)64)

/* Moves n packets and fills outcomes_out[0..n): CENSUS, SEND, ABSORBED,
 * ESCAPED (booked) or CONTINUE. */
typedef void imc_advance_fn(const struct imc_track *track, void *const *packets,
                            size_t n, struct storm_outcome *outcomes_out);

/* What neighbours need of a cell, beside its centre: T^4 times its emission,
 * negative if it does not emit; max of that and of the radiation; T^4 of its
 * matter, or of its radiation where that is hotter and packets do not diffuse;
 * keV^4. */
enum { IMC_HALO_T4, IMC_HALO_HOT, IMC_HALO_KEV4, IMC_HALO_VALUES };

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

    double number[2];    /* the point of a curve that is a number */
    struct curve power;  /* its table is that of this step */
    double lo[3], hi[3]; /* around the cells of this rank */
    bool is_near;        /* points, beams, shells: may be in these cells */
};

enum { IMC_TILES = 64 }; /* per direction */

/* A part of a wall that is a blackbody. */
struct imc_wall {
    struct curve temperature; /* keV; its table is that of this step */
    double area_cm2;          /* 0: it emits nothing */
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
        int wall;
        const struct storm_wall_part *edge; /* of it: a blackbody */
        double flux;
    } * hot;
    size_t n_hot;
    double *coming; /* n_cells: incoming through hot faces, keV^4 / cm */
    double *around; /* n_cells: max of these, keV^4 */
    bool *is_open;  /* n_cells: something around it is hotter */
    double worst;   /* of this rank's cells: temperature after the step over
                       that around */
    storm_cell_idx worst_cell; /* -1: none */
};

/* What came and went in a step (imc_flows.c). */
struct imc_flows {
    size_t n[STORM_IMC_FLOW_KINDS];
    struct imc_flow *flow; /* of one kind after the other */
    bool is_complete;      /* the step has ended: the next one begins at zero */
};

/* Number of packets that a cell emits, and max number after the comb, in this
 * step. */
struct imc_steer {
    uint64_t emit, max_packets;
};

/* Packets that are followed, and their events in this step (imc_trace.c). */
struct imc_trace {
    struct storm_packet_id *ids; /* in order */
    size_t n_ids;
    struct storm_trace_event *events;
    size_t n, capacity;
    uint64_t step;
    bool is_lost; /* an event, for want of memory */
};

/* Accounts beside those of the balance of radiation. START to USER are parts
 * of what was created; MATTER + GAINED + HOST is the energy of matter now, but
 * for its roundings. */
enum imc_account {
    IMC_START,   /* initial radiation */
    IMC_WALLS,   /* created by walls */
    IMC_SOURCES, /* created by sources */
    IMC_USER,    /* created by walls and sources of the host */
    IMC_MATTER,  /* energy of matter before the first step */
    IMC_GAINED,  /* absorbed less emitted, by matter that is not held */
    IMC_HOST,    /* added to matter by the host */
    IMC_WORK,    /* by radiation, on matter that moves and is not held */
    IMC_ACCOUNTS,
    IMC_OLD_ACCOUNTS = IMC_WORK /* of states without motion */
};

enum { IMC_N_MOMENTS = 5 };

struct storm_imc {
    const struct storm_context *context;
    const struct storm_env *env;
    struct storm_mesh *mesh;
    struct storm_problem own; /* the caller's, copied */
    const struct storm_problem *problem;
    imc_advance_fn *advance, *advance_counted, *advance_moving, *advance_laws;
    double *group_edge, *group_middle; /* keV; unused if grey */
    struct storm_formula **start;      /* imc_start.c */
    struct imc_matter matter;

    /* Cells, for this generation of the mesh. */
    uint64_t generation;
    storm_cell_idx n_cells;
    struct imc_track track;
    storm_cell_id *tag;
    int *material;
    double *volume;
    bool *is_box;   /* with sides along the axes */
    double *half;   /* 3 each: half extents about the centre */
    double *inside; /* no sphere in the cell is larger, cm; NULL: no random
                       walk */
    double *centre; /* 3 each, in the frame of the bounds */
    struct imc_opacity *opacity;    /* n_groups each, if there are several */
    double *spectrum;               /* the same */
    struct storm_walk_group *thick; /* the same, if there is a random walk */
    double *start_kev;   /* of radiation at the start; NULL: the problem's */
    double *density;     /* g/cm3 */
    double *emission;    /* what it emits is multiplied by this */
    double *composition; /* n_cells of each component */
    double *energy;      /* of the material, erg/cm3 */
    double *temperature; /* keV */
    bool *is_stale;      /* the temperature is not that of the energy, yet */
    double *emitted;     /* in this step, erg, in the frame of matter */
    double *fleck;       /* factor, in this step */
    double *deposited;   /* in the last step, erg */
    double *radiation;   /* path average, erg/cm3 */
    double *slope;       /* 3 each: of the emission, relative, per cm */
    struct imc_halo halo;
    struct imc_ddmc ddmc;
    struct imc_drift drift; /* with motion */
    bool drift_is_logged;

    /* With motion, NULL and 0 without. */
    double *velocity; /* cm/s; n_cells of each component */
    struct imc_motion *motion;
    struct imc_pushes pushes;
    double *recoil;   /* 3 each: of what was emitted in this step, erg */
    double *radiated; /* its energy in the frame of the mesh, erg */
    double *push;     /* 3 each: in the last step, g cm/s */
    double *heated; /* absorbed in the last step, in the frame of matter, erg */
    struct storm_ledger momentum[IMC_PUSH_ACCOUNTS][3];
    struct storm_ledger rested[3]; /* of packets, when last seen */

    struct imc_methods methods; /* of this step, or the last */
    struct storm_ledger crossed[STORM_IMC_METHODS]; /* path, erg cm, so far */
    uint64_t crossings[STORM_IMC_METHODS];          /* events */
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
    struct tally_set tallies;
    struct imc_surfaces surfaces;
    unsigned wants;                /* bits of storm_imc_moment */
    struct imc_moments moments;    /* sums of the step */
    double *moment[IMC_N_MOMENTS]; /* of the last step; NULL: not asked for */
    uint64_t events[STORM_IMC_N_EVENTS]; /* the same, of this rank's cells */
    bool is_counting;                    /* something may have been counted */
    double overdrawn_erg; /* the most a cell of this rank has lost beyond what
                             it had, in this step */
    bool is_overdrawn;    /* that was logged */
    struct imc_user user;
    struct imc_scatter scatter;
    struct imc_plane *planes; /* of the problem */
    double time_s, dt_s;
    bool is_set;    /* the next step's times are known */
    bool in_step;   /* between pre_step and post_step */
    bool has_begun; /* there was a step, or a state was loaded */
    bool has_step;  /* fields are those after a step, nothing has changed the
                       cells since */
    bool has_more;  /* density, emission, composition or material of a cell may
                       be other than those of the problem, or they matter: they
                       are hashed and saved */
    struct device_imc *there; /* device_imc.h; NULL: no device */
    struct storm_ledger account[STORM_LEDGER_ACCOUNTS];
    struct imc_flows flows;
    struct imc_trace trace;
    struct storm_ledger more[IMC_ACCOUNTS];
};

/* Energy of the matter of a cell, erg. */
static inline double imc_cell_erg(const struct storm_imc *imc,
                                  storm_cell_idx cell)
{
    double erg = imc->energy[cell] * imc->volume[cell];
    return imc->velocity != NULL ? erg * imc_gamma(imc, cell) : erg;
}

/* Volume of the matter of a cell in its own frame. */
static inline double imc_proper_cm3(const struct storm_imc *imc,
                                    storm_cell_idx cell)
{
    double volume = imc->volume[cell];
    return imc->velocity != NULL ? volume * imc_gamma(imc, cell) : volume;
}

/* What matter has absorbed in the last step, in its own frame, erg. */
static inline double imc_heated_erg(const struct storm_imc *imc,
                                    storm_cell_idx cell)
{
    return imc->velocity != NULL ? imc->heated[cell] : imc->deposited[cell];
}

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
/* Density and temperature of the start; collective. */
storm_status imc_cells_begin(struct storm_imc *imc);
/* Density, composition and emission that the material of a cell has at the
 * start. */
void imc_cells_fill(struct storm_imc *imc, storm_cell_idx cell);

/* imc_start.c: density and temperatures of a cell at the start. */
storm_status imc_start_make(struct storm_imc *imc);
void imc_start_free(struct storm_imc *imc);
double imc_start_density(const struct storm_imc *imc, storm_cell_idx cell);
double imc_start_matter_kev(const struct storm_imc *imc, storm_cell_idx cell);
double imc_start_radiation_kev(const struct storm_imc *imc,
                               storm_cell_idx cell);
/* STORM_ERR_ARG, logged: a formula gives none there. */
storm_status imc_start_check(const struct storm_imc *imc, storm_cell_idx cell);

/* imc_fields.c: opacities and emission at the start of a step. Local, faults
 * are those of matter. */
storm_status imc_fields_set(struct storm_imc *imc);
/* Cells with room for a random walk; opacities are those of the step. Local. */
void imc_fields_walks(struct storm_imc *imc);
/* Another beta of eq. (3) for a cell, after that. */
void imc_fields_set_beta(struct storm_imc *imc, storm_cell_idx cell,
                         double beta);
/* Temperature that the heat capacity is asked for at. */
double imc_capacity_kev(double temperature_kev);

/* imc_flows.c: books energy and packets between the beginning and the end of a
 * step, as created in its account as well; what a cell has absorbed. */
storm_status imc_flows_open(struct storm_imc *imc);
void imc_flows_close(struct storm_imc *imc);
void imc_flows_begin(struct storm_imc *imc);
void imc_flow_create(struct storm_imc *imc, storm_origin origin,
                     double energy_erg, uint64_t packets);
void imc_flow_absorb(struct storm_imc *imc, storm_cell_idx cell,
                     storm_exact deposit);
/* Between steps, with its account. */
void imc_flow_absorb_erg(struct storm_imc *imc, storm_cell_idx cell,
                         double energy_erg);
void imc_flows_end(struct storm_imc *imc);
/* All to zero. */
void imc_flows_clear(struct storm_imc *imc);

/* imc.c: a batch on the processor. */
void imc_batch(const struct storm_imc *imc, void *const *packets, size_t n,
               struct storm_outcome *outcomes_out);

/* imc_trace.c: a batch in which packets may be followed; `batch` advances
 * some. */
typedef void imc_batch_fn(const struct storm_imc *imc, void *const *packets,
                          size_t n, struct storm_outcome *outcomes_out);
void imc_trace_batch(struct storm_imc *imc, imc_batch_fn *batch,
                     void *const *packets, size_t n,
                     struct storm_outcome *outcomes_out);
void imc_trace_begin(struct storm_imc *imc, uint64_t step);
void imc_trace_close(struct storm_imc *imc);

/* imc_set.c: gives energy to matter between steps; a fault is that of the next
 * step. Local. */
void imc_set_deposit(struct storm_imc *imc, storm_cell_idx cell,
                     double weight_erg);

/* imc_halo.c */
storm_status imc_halo_open(struct storm_imc *imc);
void imc_halo_close(struct storm_imc *imc);
/* Slopes of the emission from T^4 of the neighbours. Collective. */
storm_status imc_halo_slopes(struct storm_imc *imc);
/* Max T^4 of a neighbour, after that: next is of halo.next. */
double imc_halo_hot(const struct storm_imc *imc, int32_t next);
/* T^4 for faces at which packets diffuse, eq. (D1). */
double imc_halo_kev4(const struct storm_imc *imc, int32_t next);
/* From the centre of a cell to that of a neighbour, across periodic walls if
 * that is shorter. */
void imc_halo_vector(const struct storm_imc *imc, storm_cell_idx cell,
                     int32_t next, double vector_out[3]);

/* The state of a cell beyond what the problem specifies: a change of the mesh
 * moves it, and storm_imc_save_state saves it (imc_state.c). */
enum { IMC_STATE_VALUES = 3 };

/* imc_principle.c: does the step obey the maximum principle? Logs once where
 * not. Collective. */
storm_status imc_principle_open(struct storm_imc *imc);
void imc_principle_close(struct storm_imc *imc);
storm_status imc_principle_check(struct storm_imc *imc,
                                 const struct storm_step *step);
/* imc_birth.c: the part of this step within these times; may be empty. */
struct curve_window imc_window(const struct storm_imc *imc, double start_s,
                               double stop_s);
/* The packets of this step; *largest_inout is the largest weight
 * so far. */
storm_status imc_birth(struct storm_imc *imc, struct storm_step *step,
                       double *largest_inout);
/* The highest temperature of a blackbody in this step, after imc_wall_begin; 0
 * if it does not emit. */
double imc_edge_hottest(const struct storm_imc *imc, int wall,
                        const struct storm_wall_part *edge);

/* imc_tally.c: a packet that escapes, through a wall or (-1) into a cell that
 * is outside: in the step; and between steps. */
void imc_escape(const struct imc_track *track,
                const struct storm_packet *packet, int wall);
void imc_escape_between(struct storm_imc *imc,
                        const struct storm_packet *packet);
/* The sum of all ranks: packets by bin, then limbs. Free it. Collective. */
storm_status imc_tally_sum(struct storm_imc *imc, size_t number,
                           int64_t **words_out);

/* imc_surface.c: one tally more; sets of cells for the step that comes, which
 * is collective. */
void imc_surface_add(struct storm_imc *imc);
storm_status imc_surface_begin(struct storm_imc *imc);
void imc_surface_close(struct storm_imc *imc);
/* For the kernel: where a cell of another rank at a face of ours is; a packet
 * at the face between two cells that are in different places. */
const unsigned char *imc_surface_behind(const struct imc_track *track, int rank,
                                        storm_cell_idx cell);
void imc_surface_cross(const struct imc_track *track,
                       const struct storm_packet *packet,
                       const unsigned char *from, const unsigned char *to);

/* imc_plane.c: blackbody planes. Begin and birth have the same status on every
 * rank but for memory. */
storm_status imc_plane_open(struct storm_imc *imc);
void imc_plane_close(struct storm_imc *imc);
storm_status imc_plane_begin(struct storm_imc *imc);
storm_status imc_plane_birth(struct storm_imc *imc, struct storm_step *step,
                             double *largest_inout);
/* For the kernel: does a packet reach a plane within these seconds, and when?
 * How far may it go in any direction without? */
bool imc_plane_hit(const struct imc_track *track, const double x[3],
                   const double direction[3], double time_left_s,
                   double *seconds_inout);
double imc_plane_clearance(const struct imc_track *track, const double x[3],
                           double time_left_s);
/* MOMENTS-1, and for tallies of surfaces, planes, cells that diffuse. */
static inline imc_advance_fn *imc_kernel_of(const struct storm_imc *imc)
{
    if (imc->track.laws != NULL)
        return imc->advance_laws;
    if (imc->velocity != NULL)
        return imc->advance_moving;
    return imc->track.moments != NULL || imc->track.surfaces != NULL ||
                   imc->track.n_planes > 0 || imc->track.ddmc != NULL
               ? imc->advance_counted
               : imc->advance;
}

/* imc_moments.c: arrays for the cells, if they are asked for; local. */
storm_status imc_moments_open(struct storm_imc *imc);
void imc_moments_close(struct storm_imc *imc);
/* The units are known, for weights up to `largest`; the step has ended. */
void imc_moments_begin(struct storm_imc *imc, double largest);
void imc_moments_end(struct storm_imc *imc);
/* Values of the last step to zero. */
void imc_moments_clear(struct storm_imc *imc);
/* What the kernels count: in a flight, a walk, a collision. */
void imc_moments_flight(const struct imc_track *track, storm_cell_idx cell,
                        const double direction[3], storm_exact path,
                        double given_erg);
void imc_moments_walk(const struct imc_track *track, storm_cell_idx cell,
                      storm_exact path, const double moved_cm[3],
                      double seconds);
void imc_moments_collision(const struct imc_track *track, storm_cell_idx cell,
                           const double direction[3], double weight_erg);
/* A packet that diffuses goes between the point of a cell and a face: by this
 * distance, and as many mean free paths. */
void imc_moments_hop(const struct imc_track *track, storm_cell_idx cell,
                     const double normal[3], double distance_erg_cm,
                     double depth_erg);

/* imc_steer.c: fills imc->steer, unless it is NULL. Collective. */
storm_status imc_steer(struct storm_imc *imc, struct storm_step *step);
/* The number of packets that the cell emits in this step. */
uint64_t imc_emit_number(const struct storm_imc *imc, storm_cell_idx cell);

/* imc_source.c: which cells a source fills. Collective. */
storm_status imc_source_open(struct storm_imc *imc);
void imc_source_close(struct storm_imc *imc);
/* Their power in this step. STORM_ERR_ARG, logged: a formula gives none. The
 * same on every rank. */
storm_status imc_source_begin(struct storm_imc *imc);
/* imc_birth_source.c: a point of a source that is no volume. */
void imc_source_place(const struct storm_source *source, const double u[4],
                      double point_out[3]);
/* Is the point in the box of the problem? */
static inline bool imc_is_in_box(const struct storm_imc *imc,
                                 const double point_cm[3])
{
    bool inside = true;
    for (int d = 0; d < 3; d++)
        inside = inside && point_cm[d] >= imc->problem->lo_cm[d] &&
                 point_cm[d] <= imc->problem->hi_cm[d];
    return inside;
}

/* imc_wall.c: parts of walls. Collective. */
storm_status imc_wall_open(struct storm_imc *imc);
void imc_wall_close(struct storm_imc *imc);
/* The temperatures of walls in this step. STORM_ERR_ARG, logged: a formula
 * gives none. The same on every rank. */
storm_status imc_wall_begin(struct storm_imc *imc);
/* The edge that counts at a point of a wall; NULL: vacuum. */
const struct storm_wall_part *imc_edge_at(const struct storm_problem *problem,
                                          int wall, const double point_cm[3]);

/* The same in the middle of a face of a cell in it. */
const struct storm_wall_part *imc_edge_middle(const struct storm_imc *imc,
                                              storm_cell_idx cell, int face,
                                              int wall);

/* The next of points in a square that are spread more evenly than by chance
 * (powers of the real root of x^3 = x + 1; M. Roberts, 2018). */
static inline void imc_next_point(double u_inout[2])
{
    static const double stride[2] = {0.7548776662466927, 0.5698402909980532};
    for (int d = 0; d < 2; d++)
        u_inout[d] += stride[d] - (u_inout[d] + stride[d] < 1.0 ? 0.0 : 1.0);
}

/* imc_boundary.c: a blackbody on a numbered boundary of a given mesh: its area
 * and faces. Collective. */
storm_status imc_boundary_open(struct storm_imc *imc, int wall, size_t i_edge);
/* A direction into the domain, by the cosine law of a blackbody. */
void imc_boundary_inwards(const double normal[3], const double u[2],
                          double direction_out[3]);

/* Is the wall of this kind there? For the kernel, on walls that are split. */
bool imc_wall_is(const struct storm_problem *problem, int wall,
                 const double point_cm[3], storm_wall_kind kind);

#endif /* STORM_PHYSICS_IMC_H */
