/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/tally.h
 * Tallies of implicit Monte Carlo: energy and packets that escape or that
 * cross a surface, by time, group, direction and wall: light curves, spectra.
 *
 * Sums are exact: each packet's energy is cut to the unit of the step (2^-86 of
 * the largest packet's, or finer), and so is what the account of escaped energy
 * takes. So a tally has the same bits on any number of ranks, and all bins of
 * what escapes together are that account (storm_imc_balance), to the last bit.
 *
 * Lifecycle  storm_imc_tally_add before the first step; then
 *            storm_imc_tally_get between steps.
 * Memory     8 bytes for the packets of a bin and 40 to 72 for its energy, on
 *            each rank; for a surface a byte for each cell.
 * Cost       of surfaces: kernels that look at each face that is crossed, as
 *            for moments; else none.
 * Threads    one thread at a time per object of storm/imc.h.
 */
#ifndef STORM_TALLY_H
#define STORM_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <storm/problem.h>
#include <storm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct storm_imc; /* opaque, storm/imc.h */

/** What is counted. */
typedef enum storm_tally_where {
    STORM_TALLY_ESCAPE = 0, /**< packets that leave the domain */
    STORM_TALLY_SURFACE     /**< packets that cross a surface inside it */
} storm_tally_where;

/** By what. Bins are stored in this order, the last one's side by side. */
typedef enum storm_tally_by {
    STORM_TALLY_TIME = 0, /**< and before and after: two bins more */
    STORM_TALLY_GROUP,    /**< of the problem */
    STORM_TALLY_MU,       /**< cosine of direction and axis */
    STORM_TALLY_AZIMUTH,  /**< of the direction about the axis, in turns */
    STORM_TALLY_WALL,     /**< ESCAPE: wall or boundary by number, and one bin
                               more for packets that entered cells which are
                               outside or ended on a blackbody plane */
    STORM_TALLY_SIDE,     /**< SURFACE: outwards, inwards */
    STORM_TALLY_N_BY
} storm_tally_by;

/** A tally, as it is declared. */
struct storm_tally {
    size_t size;      /**< of this struct: STORM_TALLY_INIT */
    const char *name; /**< required, unique; letters, digits, - and _ */
    storm_tally_where where;
    unsigned by; /**< bit 1 << STORM_TALLY_...; 0: one bin, all there is */

    const double *time_edges_s; /**< TIME: n_times + 1, growing */
    size_t n_times;             /**< TIME: at least 1 */
    /** TIME: when a distant observer sees it, t - n.(r - origin)/c, with the
     *  packet's own direction n: the observer of a packet is in its direction,
     *  so that each bin of MU and AZIMUTH is the mean of the observers in it,
     *  and all of them together the mean over all observers. */
    bool observer;
    double origin_cm[3]; /**< of the observer's time */

    double axis[3];         /**< MU, AZIMUTH: any length; 0: z */
    const double *mu_edges; /**< MU: n_mu + 1, growing; what is below and above
                                 has bins of its own. NULL: equal bins, of -1 to
                                 1 */
    size_t n_mu;            /**< MU: at least 1 */
    size_t n_azimuth;       /**< AZIMUTH: at least 1, equal. Angle 0 is towards
                                 the first of x, y, z that is most square to
                                 the axis */

    /** SURFACE: faces between cells with their centre in this shape and others,
     *  at the start of each step. Outwards is out of it; without SIDE a packet
     *  counts alike either way. Both cells transport: walls, where packets are
     *  reflected or leave, and cells that are outside are no part of it, while
     *  periodic faces are. A random walk does not cross faces; what a mesh that
     *  moves carries across is not counted, nor what a wall of the host sends
     *  elsewhere. */
    struct storm_shape shape;
    bool one_material; /**< SURFACE: of these only cells of `material` */
    int material;      /**< index */
};
#define STORM_TALLY_INIT STORM_INIT(struct storm_tally)

/** How the bins of a tally are arranged. */
struct storm_tally_axis {
    size_t size;         /**< of this struct: STORM_TALLY_AXIS_INIT */
    storm_tally_by by;   /**< what it counts by */
    const char *name;    /**< "time", "group", "mu", ... */
    const char *unit;    /**< of the edges: "s", "keV", ... or "" */
    size_t n_bins;       /**< in all */
    size_t n_edges;      /**< 0: bins are things, not intervals */
    const double *edges; /**< lent, as long as the object lives */
    bool has_ends; /**< there is a bin below the edges, the first, and one from
                        the last edge on, the last */
};
#define STORM_TALLY_AXIS_INIT STORM_INIT(struct storm_tally_axis)

/**
 * Declare a tally. Copied. Collective: the same on every rank, which the caller
 * makes sure; an error of one rank is one on all.
 *
 * @param[out] number_out  for the calls below; they count from 0
 * @retval STORM_ERR_ARG    a value out of range (logged by rank 0)
 * @retval STORM_ERR_STATE  a step has been made, or a state was loaded
 * @retval STORM_ERR_NOMEM
 * @retval STORM_ERR_PEER   another rank failed; it has logged why
 * @retval STORM_ERR_FABRIC MPI reports an error
 * @retval STORM_ERR_LOST   a rank is lost (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_imc_tally_add(struct storm_imc *imc, const struct storm_tally *tally,
                    size_t *number_out);

/** Number of tallies. Local. */
STORM_API size_t storm_imc_n_tallies(const struct storm_imc *imc);

/** Name of a tally, lent. Local. NULL: no such tally. */
STORM_API const char *storm_imc_tally_name(const struct storm_imc *imc,
                                           size_t number);

/** Number of its bins; 0: no such tally. Local. */
STORM_API size_t storm_imc_tally_n_bins(const struct storm_imc *imc,
                                        size_t number);

/** The @p i_axis -th axis of a tally, the outermost first. Local. STORM_DONE:
 *  it has no such axis. STORM_ERR_ARG: no such tally, or @p axis_out does not
 *  begin with STORM_TALLY_AXIS_INIT. */
STORM_API storm_status storm_imc_tally_axis(const struct storm_imc *imc,
                                            size_t number, size_t i_axis,
                                            struct storm_tally_axis *axis_out);

/**
 * What was counted since the beginning of the run, on all ranks. Collective,
 * blocks; between steps.
 *
 * @param[out] energy_erg_out  the nearest double for each bin; may be NULL
 * @param[out] packets_out     for each bin; may be NULL
 * @param[out] total_erg_out   the nearest double to all bins together; may be
 *                             NULL
 * @retval STORM_ERR_ARG     no such tally
 * @retval STORM_ERR_NOMEM
 * @retval STORM_ERR_PEER    another rank failed; it has logged why
 * @retval STORM_ERR_FABRIC  MPI reports an error
 * @retval STORM_ERR_LOST    a rank is lost (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_imc_tally_get(struct storm_imc *imc, size_t number,
                    double *energy_erg_out, uint64_t *packets_out,
                    double *total_erg_out);

/** @name Moments of the radiation, and what it gives to matter, by cell and
 *  step: counted from the next step on, in exact sums, once asked for. */
/** @{ */
typedef enum storm_imc_moment {
    STORM_IMC_GROUPS = 1,   /**< n_groups values for each cell: energy density,
                                 averaged over the step by path length,
                                 erg/cm3 */
    STORM_IMC_FLUX = 2,     /**< x, y, z: erg/cm2/s, averaged the same */
    STORM_IMC_PRESSURE = 4, /**< xx, yy, zz, xy, yz, zx: erg/cm3 */
    STORM_IMC_MOMENTUM = 8, /**< x, y, z: given to matter by absorption and
                                 scattering in the step, g cm/s. Matter at rest
                                 emits evenly: that is 0 but for chance, and is
                                 left out */
    STORM_IMC_EVENTS = 16   /**< the number of events of the step, by
                                 storm_imc_event */
} storm_imc_moment;

/** Kinds of events: each event is of one, in the cell where the packet was. The
 *  names are those of storm_imc_event_name. */
typedef enum storm_imc_event {
    STORM_IMC_CROSSING = 0, /**< of a face, also into a cell that is outside */
    STORM_IMC_REFLECTION,   /**< at a wall; also where the host lets a packet go
                                 on, and at a cell in which packets diffuse */
    STORM_IMC_EFFECTIVE,    /**< scattering: absorbed and emitted in the step */
    STORM_IMC_PHYSICAL,     /**< scattering. Without groups, random numbers that
                                 the transport does not use decide which of the
                                 two it was */
    STORM_IMC_ABSORPTION,   /**< of what is left of a packet */
    STORM_IMC_WALK,         /**< random walk, however it ended */
    STORM_IMC_DIFFUSION,    /**< a stay in a cell in which packets diffuse,
                                 however it ended */
    STORM_IMC_CENSUS,       /**< flight to the end of the step */
    STORM_IMC_ESCAPE,       /**< at a wall or a blackbody plane */
    STORM_IMC_N_EVENTS
} storm_imc_event;

/** Ask for moments: @p moments is the sum of those wanted, in place of any
 *  asked for before. They are 0 until the next step has ended, and after
 *  storm_imc_follow. Results of the transport do not depend on it. Collective,
 *  between steps. Memory: 24 bytes for each value of each cell.
 *  @retval STORM_ERR_ARG    no such moment
 *  @retval STORM_ERR_STATE  called from a callback
 *  @retval STORM_ERR_NOMEM  nothing is counted any more
 *  @retval STORM_ERR_PEER   another rank failed */
STORM_API STORM_MUST_CHECK storm_status storm_imc_request(struct storm_imc *imc,
                                                          unsigned moments);

/** Values of all local cells, cell after cell. Local, between steps.
 *  STORM_ERR_ARG: it was not asked for. STORM_ERR_STATE: the mesh has changed
 *  (logged). */
STORM_API STORM_MUST_CHECK storm_status
storm_imc_get_moment(const struct storm_imc *imc, storm_imc_moment moment,
                     double *values_out);

/** Number of values of a moment for each cell; 0: no such moment. Local. */
STORM_API size_t storm_imc_moment_values(const struct storm_imc *imc,
                                         storm_imc_moment moment);

/** "crossing", "reflection", ...; NULL: no such kind. Local. */
STORM_API const char *storm_imc_event_name(storm_imc_event kind);

/** STORM_IMC_EVENTS of the last step of all cells and ranks: STORM_IMC_N_EVENTS
 *  numbers, together the events that the statistics of the engine have of that
 *  step. Collective, blocks; between steps.
 *  @retval STORM_ERR_ARG     they were not asked for
 *  @retval STORM_ERR_FABRIC  MPI reports an error
 *  @retval STORM_ERR_LOST    a rank is lost (logged) */
STORM_API STORM_MUST_CHECK storm_status
storm_imc_get_events(const struct storm_imc *imc, uint64_t *numbers_out);
/** @} */

/** @name State, beside that of storm_imc_save_state. */
/** @{ */

/** Words of the state of all tallies, until the next step; 0 without tallies.
 *  Collective, blocks; between steps. The errors of storm_imc_tally_get. */
STORM_API STORM_MUST_CHECK storm_status
storm_imc_tally_words(struct storm_imc *imc, size_t *n_words_out);

/** Save it. Collective, blocks; the same words on every rank. The errors of
 *  storm_imc_tally_get. */
STORM_API STORM_MUST_CHECK storm_status
storm_imc_tally_save(struct storm_imc *imc, int64_t *words_out);

/**
 * Load it into the same tallies, declared before, without any step since.
 * Collective.
 *
 * @param words   on rank 0; elsewhere ignored, and may be NULL
 * @retval STORM_ERR_ARG   rank 0: these are words of other tallies, or none
 *                         (logged); nothing has changed
 * @retval STORM_ERR_NOMEM
 * @retval STORM_ERR_PEER  another rank failed; it has logged why
 */
STORM_API STORM_MUST_CHECK storm_status
storm_imc_tally_load(struct storm_imc *imc, const int64_t *words,
                     size_t n_words);
/** @} */

#ifdef __cplusplus
}
#endif
#endif /* STORM_TALLY_H */
