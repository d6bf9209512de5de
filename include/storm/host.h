/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/host.h
 * The bundled physics for a host that has cells and matter of its own: numbers,
 * arrays and texts, no structs. The bindings to C++, Fortran and Python are
 * made of this header. docs/hosts.md has an introduction.
 *
 * One object owns context, mesh, physics and engine. Calls come in stages:
 *
 *   1. create
 *   2. parameters, groups, materials, walls              any order
 *   3. a mesh: _mesh_cart, _mesh_points or _mesh_given   after the walls
 *   4. begin
 *   5. fields, step, energy, move, ...                   any number of times
 *   6. destroy
 *
 * A call at the wrong stage returns STORM_ERR_STATE, and says which.
 *
 * Order      arrays have one value (or several: storm_host_n_values) for each
 *            cell that this rank has given, in the order in which it gave them,
 *            whatever the library's own partition is.
 * Ownership  arrays are the caller's and lent for the call, but for those of
 *            storm_host_give_cells and _give_faces; texts are copied.
 * Errors     every status has a text: storm_host_problem.
 * Calls      of stage 2 are local, the same on every rank; those of 3 to 5 are
 *            collective and block, and an error of one rank is one on all,
 *            unless a call says otherwise. Besides the statuses listed, all of
 *            them may return STORM_ERR_ARG (NULL, a wrong size, a number out of
 *            range), STORM_ERR_STATE, STORM_ERR_NOMEM, STORM_ERR_PEER (another
 *            rank has the cause), STORM_ERR_FABRIC and STORM_ERR_LOST.
 * Threads    one thread at a time per object.
 */
#ifndef STORM_HOST_H
#define STORM_HOST_H

#include <stddef.h>
#include <stdint.h>

#include <storm/context.h>
#include <storm/mesh.h>
#include <storm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct storm_host;   /* opaque */
struct storm_imc;    /* opaque, storm/imc.h */
struct storm_engine; /* opaque, storm/engine.h */

/**
 * Begin. Collective.
 *
 * @param options  NULL, or options of a run (storm/options.h) as
 *                 "transport.backend=p2p other.key=value", separated by blanks
 * @param[out] host_out  set only on STORM_OK; free with destroy
 * @retval STORM_ERR_ARG  no such option, or a wrong value (logged)
 */
STORM_API STORM_MUST_CHECK storm_status
storm_host_create(MPI_Comm comm, const char *options,
                  struct storm_host **host_out);
/** The same for a communicator of Fortran. */
STORM_API STORM_MUST_CHECK storm_status
storm_host_create_f(MPI_Fint comm, const char *options,
                    struct storm_host **host_out);
/** Release all. Collective. NULL is allowed. */
STORM_API void storm_host_destroy(struct storm_host *host);

/** Why the last call has failed on this rank; empty: it has not, or only
 *  another rank knows. Valid until the next call. Local; never NULL. */
STORM_API const char *storm_host_problem(const struct storm_host *host);
/** 1: errors and warnings are no longer written to standard error. Local. */
STORM_API void storm_host_set_quiet(struct storm_host *host, int is_quiet);
/** Of the communicator; -1 for NULL. Local. */
STORM_API int storm_host_rank(const struct storm_host *host);
STORM_API int storm_host_size(const struct storm_host *host);

/** @name Stage 2: what the problem is. */
/** @{ */

/**
 * Set a parameter by name: storm_host_parameter lists them. Those that are yes
 * or no are 0 or 1. Local.
 *
 * @retval STORM_ERR_ARG  no such parameter, or a value out of range
 */
STORM_API STORM_MUST_CHECK storm_status
storm_host_set_int(struct storm_host *host, const char *name, int64_t value);
STORM_API STORM_MUST_CHECK storm_status
storm_host_set_double(struct storm_host *host, const char *name, double value);

/** The name of the i-th parameter, NULL past the end; its default, and what it
 *  does in a few words. Pointers may be NULL. Local. */
STORM_API const char *storm_host_parameter(size_t i, double *default_out,
                                           const char **help_out);

/** Groups of photon energies between @p n edges, keV, which grow; 0: grey.
 *  Local. */
STORM_API STORM_MUST_CHECK storm_status
storm_host_set_groups(struct storm_host *host, const double *edges_kev,
                      size_t n);

/** Another material, number 0, 1, ...; all cells are of the first unless
 *  STORM_HOST_MATERIAL is set. It has no opacity and no heat capacity, which
 *  means a constant temperature, until it is given some. Local. */
STORM_API STORM_MUST_CHECK storm_status
storm_host_add_material(struct storm_host *host, const char *name,
                        int *material_out);

/** What a material is made of. */
typedef enum storm_host_law {
    STORM_HOST_LAW_ABSORPTION = 0, /**< 1/cm */
    STORM_HOST_LAW_SCATTERING,     /**< 1/cm */
    STORM_HOST_LAW_HEAT,           /**< heat capacity, erg/keV/cm3 */
    STORM_HOST_N_LAWS
} storm_host_law;

/**
 * A power law of temperature (keV), density (g/cm3) and photon energy (keV):
 * @p values are coef, exponents of temperature, density and energy, minimum,
 * maximum; those beyond @p n (1 .. 6) are 0, and no maximum. Local.
 */
STORM_API STORM_MUST_CHECK storm_status
storm_host_set_law(struct storm_host *host, int material, storm_host_law law,
                   const double *values, size_t n);
/** In place of a law a number for each cell (opacities: for each group), the
 *  field of the same name, which is @p start until it is set. Local. */
STORM_API STORM_MUST_CHECK storm_status
storm_host_set_by_cell(struct storm_host *host, int material,
                       storm_host_law law, double start);
/** Density and temperature of a material until the fields are set. Local. */
STORM_API STORM_MUST_CHECK storm_status
storm_host_set_start(struct storm_host *host, int material,
                     double density_g_cm3, double temperature_kev);

/** What a wall (x low, x high, ... of the box) or a numbered boundary of given
 *  cells does: VACUUM unless it is set, REFLECT or PERIODIC (both walls of a
 *  pair). Local. */
STORM_API STORM_MUST_CHECK storm_status
storm_host_set_wall(struct storm_host *host, int wall, storm_wall_kind kind);
/** A wall that emits as a blackbody: temperatures @p kev at @p n times, linear
 *  in between, in @p packets per step. One time: constant. Local. */
STORM_API STORM_MUST_CHECK storm_status
storm_host_set_blackbody(struct storm_host *host, int wall,
                         const double *times_s, const double *kev, size_t n,
                         int64_t packets);
/** @} */

/** @name Stage 3: the mesh. */
/** @{ */

/** The edges of the cells of a grid in direction 0, 1 or 2, which grow; without
 *  it, there is one cell from 0 to 1 cm. The same on every rank. Local. */
STORM_API STORM_MUST_CHECK storm_status
storm_host_set_edges(struct storm_host *host, int axis, const double *edges_cm,
                     size_t n);
/** A grid, of which this rank has the block that begins with cell @p first and
 *  has @p n cells in each direction; x is fastest. 0 cells are allowed; each
 *  cell is in the block of one rank. */
STORM_API STORM_MUST_CHECK storm_status
storm_host_mesh_cart(struct storm_host *host, const int64_t first[3],
                     const int64_t n[3]);
/** The Voronoi cells of points in a box: the @p n points of this rank, three
 *  coordinates each; may be 0. */
STORM_API STORM_MUST_CHECK storm_status
storm_host_mesh_points(struct storm_host *host, const double lo_cm[3],
                       const double hi_cm[3], const double *points_cm,
                       size_t n);

/** The convex cells of this rank: tags, which are the same on any number of
 *  ranks, a point inside (3), volume, centroid (3; NULL: the point). Faces
 *  follow with the next call. Arrays are lent until the next call of
 *  storm_host_mesh_given or storm_host_replace. Local. */
STORM_API STORM_MUST_CHECK storm_status
storm_host_give_cells(struct storm_host *host, size_t n, const uint64_t *tags,
                      const double *points_cm, const double *volumes_cm3,
                      const double *centroids_cm);
/** The faces of cell i are first_face[i] to first_face[i + 1] - 1: outward
 *  normal (3, any length), a point of the plane (3, absolute), area, and what
 *  is behind: the tag of a cell of any rank, or -1 less the number of a
 *  boundary. storm/given.h says what is checked. Local. */
STORM_API STORM_MUST_CHECK storm_status
storm_host_give_faces(struct storm_host *host, const uint64_t *first_face,
                      const double *normals, const double *on_planes_cm,
                      const double *areas_cm2, const int64_t *behind);
/** The mesh of the cells and faces given, with this number of boundaries. */
STORM_API STORM_MUST_CHECK storm_status
storm_host_mesh_given(struct storm_host *host, int n_boundaries);

/** Stage 4. */
STORM_API STORM_MUST_CHECK storm_status
storm_host_begin(struct storm_host *host);
/** @} */

/** @name Stage 5: fields. */
/** @{ */

/** Number of cells of this rank; 0 before there is a mesh. Local. */
STORM_API size_t storm_host_n_cells(const struct storm_host *host);

/** Fields of cells, by number. Set: may be set; the others can only be got.
 *  storm/imc.h says what happens to matter when one is set. */
typedef enum storm_host_field {
    STORM_HOST_TEMPERATURE = 0, /**< set; of matter, keV */
    STORM_HOST_HEAT,            /**< set; energy of matter, erg/cm3 */
    STORM_HOST_DENSITY,         /**< set; g/cm3; the energy stays */
    STORM_HOST_MATERIAL,        /**< set; number of a material; the number of
                                     materials: nothing */
    STORM_HOST_EMISSION,        /**< set; factor on what the cell emits */
    STORM_HOST_VELOCITY,        /**< set; x, y, z, cm/s; with "motion" */
    STORM_HOST_RADIATION_START, /**< set, before the first step only; radiation
                                     temperature, keV; that of matter unless it
                                     is set */
    STORM_HOST_ABSORPTION,      /**< set, where materials have it by cell; by
                                     group, 1/cm */
    STORM_HOST_SCATTERING,      /**< the same */
    STORM_HOST_HEAT_CAPACITY,   /**< the same; erg/keV/cm3; the energy stays */
    STORM_HOST_FRAME,           /**< set, not got; x, y, z, cm/s: how cells will
                                     move after the next step; with "motion" and
                                     "diffusion" (storm_imc_set_frame) */

    STORM_HOST_RADIATION = 16, /**< energy density, mean of the step, erg/cm3 */
    STORM_HOST_CENSUS,         /**< the same of the packets now */
    STORM_HOST_ABSORBED,       /**< by matter in the step, erg */
    STORM_HOST_EMITTED,        /**< the same */
    STORM_HOST_PUSH,           /**< x, y, z: momentum that matter has got in the
                                    step, g cm/s. With "motion" at once, else on
                                    request, without that of emission, which is
                                    0 but for chance */
    STORM_HOST_FLUX,           /**< on request; x, y, z, erg/cm2/s */
    STORM_HOST_PRESSURE, /**< on request; xx, yy, zz, xy, yz, zx, erg/cm3 */
    STORM_HOST_GROUPS,   /**< on request; RADIATION by group */
    STORM_HOST_VOLUME,   /**< cm3 */
    STORM_HOST_CENTRE    /**< x, y, z, cm */
} storm_host_field;

/** Name of a field in lower case, such as "temperature"; NULL: there is none of
 *  this number. Numbers are below 64. Local. */
STORM_API const char *storm_host_field_name(int field);
/** Values for each cell; 0: no such field, or no mesh. Local. */
STORM_API size_t storm_host_n_values(const struct storm_host *host, int field);

/** Count PUSH, FLUX, PRESSURE or GROUPS from the next step on. */
STORM_API STORM_MUST_CHECK storm_status
storm_host_request(struct storm_host *host, int field);
/** @p n is the number of values: that of cells times that for each. Nothing
 *  changes after an error. */
STORM_API STORM_MUST_CHECK storm_status storm_host_set(struct storm_host *host,
                                                       int field,
                                                       const double *values,
                                                       size_t n);
STORM_API STORM_MUST_CHECK storm_status storm_host_get(struct storm_host *host,
                                                       int field,
                                                       double *values_out,
                                                       size_t n);

/** Add energy to the matter of each of @p n cells, erg; negative takes. It is
 *  declared work of the host, too. */
STORM_API STORM_MUST_CHECK storm_status
storm_host_add_heat(struct storm_host *host, const double *erg, size_t n);
/** Declare how much of the change of matter that the host has made or will make
 *  before the next step is its own work on each of @p n cells, erg. Changes
 *  nothing but the account. */
STORM_API STORM_MUST_CHECK storm_status
storm_host_declare_work(struct storm_host *host, const double *erg, size_t n);
/** @} */

/** @name Stage 5: steps and accounts. */
/** @{ */

/** Transport from @p time_s to @p time_s + @p dt_s. After an error other than
 *  STORM_ERR_ARG only destroy is allowed. */
STORM_API STORM_MUST_CHECK storm_status storm_host_step(struct storm_host *host,
                                                        double time_s,
                                                        double dt_s);

/** Energies of the whole run, erg: exact sums over all ranks. */
typedef enum storm_host_energies {
    STORM_HOST_E_MATTER = 0, /**< now */
    STORM_HOST_E_RADIATION,  /**< now */
    STORM_HOST_E_START,      /**< of both, at the start */
    STORM_HOST_E_WALLS,      /**< emitted by walls */
    STORM_HOST_E_OTHERS, /**< with packets that were made by other means: calls
                              on storm_host_imc */
    STORM_HOST_E_ESCAPED,
    STORM_HOST_E_HELD,     /**< from matter of constant temperature */
    STORM_HOST_E_WORK,     /**< by radiation on matter that moves */
    STORM_HOST_E_HOST,     /**< that the host has added to matter, all calls */
    STORM_HOST_E_DECLARED, /**< work that it has declared */
    STORM_HOST_E_ERROR,    /**< relative, of matter + radiation = start + walls
                                + others + held + host - escaped - work */
    STORM_HOST_N_ENERGIES
} storm_host_energies;
/** @p n is STORM_HOST_N_ENERGIES. */
STORM_API STORM_MUST_CHECK storm_status
storm_host_energy(struct storm_host *host, double *erg_out, size_t n);

/** Momenta of the whole run, g cm/s, x, y, z each: created, given to matter,
 *  escaped, given to walls, taken between steps (comb), of all packets now;
 *  then the relative error. @p n is STORM_HOST_N_MOMENTA. With "motion". */
enum { STORM_HOST_N_MOMENTA = 19 };
STORM_API STORM_MUST_CHECK storm_status
storm_host_momentum(struct storm_host *host, double *momenta_out, size_t n);

/** Hash of all cells and packets, the same on any number of ranks. */
STORM_API STORM_MUST_CHECK storm_status storm_host_hash(struct storm_host *host,
                                                        uint64_t *hash_out);
/** @} */

/** @name Stage 5: the mesh changes. Matter and packets follow; the order of the
 *  host's arrays stays. With "motion" and "diffusion", packets that diffuse
 *  ride with their cell, and a step needs to know how cells will move after it:
 *  STORM_HOST_FRAME. Without it they move with matter and with their cell. */
/** @{ */

/** Move the points of a mesh of points: @p n values are three for each cell.
 *  STORM_ERR_NOSUP: another mesh. */
STORM_API STORM_MUST_CHECK storm_status storm_host_move(struct storm_host *host,
                                                        const double *points_cm,
                                                        size_t n);
/** Given cells anew: storm_host_give_cells and _give_faces come before. Cells
 *  of old tags have moved, new tags are new; the order is the new one. */
STORM_API STORM_MUST_CHECK storm_status
storm_host_replace(struct storm_host *host);
/** Even the work of the last step out over the ranks. STORM_ERR_NOSUP: the
 *  partition is the host's (given cells). */
STORM_API STORM_MUST_CHECK storm_status
storm_host_repartition(struct storm_host *host);
/** @} */

/** @name What is beneath, for calls that this header lacks (tallies, output);
 *  lent, NULL before there is one. Local. */
/** @{ */
STORM_API struct storm_context *storm_host_context(struct storm_host *host);
STORM_API struct storm_mesh *storm_host_mesh(struct storm_host *host);
STORM_API struct storm_imc *storm_host_imc(struct storm_host *host);
STORM_API struct storm_engine *storm_host_engine(struct storm_host *host);
/** @} */

#ifdef __cplusplus
}
#endif
#endif /* STORM_HOST_H */
