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
 *   5. fields, step, energy, save, move, ...             any number of times
 *   6. destroy
 *
 * Stage 5 is storm/host_run.h, which this header includes.
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
#include <storm/problem.h>
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

/** What scattering does to photons; isotropic unless it is set. With COMPTON or
 *  USER photons have an energy, and fly, whatever "random_walk" and "diffusion"
 *  are. Local. */
STORM_API STORM_MUST_CHECK storm_status
storm_host_set_scattering(struct storm_host *host, int material,
                          storm_scattering_law law);
/** Free electrons, which scatter with the cross section of Thomson each, beside
 *  what the law of scattering gives. Local. */
STORM_API STORM_MUST_CHECK storm_status
storm_host_set_electrons(struct storm_host *host, int material, double per_g);

/**
 * A collision of a photon in the frame of matter, for materials with
 * STORM_SCATTER_USER. It is called within a step, on the rank that has the
 * cell, and its answer depends on nothing but its arguments.
 *
 * @param tag     of the cell
 * @param matter  temperature, keV, and density, g/cm3, as the step began
 * @param photon  direction (3), energy in keV, and 1. The function leaves
 *                direction and energy after the collision, and the energy of
 *                the packet after over before: that of the photons if none is
 *                lost. Matter gets the rest
 * @param draws   for storm_host_random
 * @return above 0: scattered; 0: no collision after all, so that the rate may
 *         be a bound for all energies; below 0: the step ends with an error
 */
typedef int storm_host_scatter(void *self, int material, uint64_t tag,
                               const double matter[2], double photon[5],
                               void *draws);
/** Set this function. Local, on every rank; @p self is the caller's and
 *  outlives the object. */
STORM_API STORM_MUST_CHECK storm_status
storm_host_set_scatter(struct storm_host *host, storm_host_scatter *scatter,
                       void *self);
/** Four random numbers in (0, 1), of the packet's own. Local. */
STORM_API void storm_host_random(void *draws, double uniform_out[4]);

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
 *  coordinates each; may be 0. Their tags are chosen unless they are set. */
STORM_API STORM_MUST_CHECK storm_status
storm_host_mesh_points(struct storm_host *host, const double lo_cm[3],
                       const double hi_cm[3], const double *points_cm,
                       size_t n);

/** Tags of the points that come next: storm_host_get_tags of an earlier run
 *  that goes on (storm_host_load). On every rank or on none. Local; copied. */
STORM_API STORM_MUST_CHECK storm_status
storm_host_set_tags(struct storm_host *host, const uint64_t *tags, size_t n);

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

#include <storm/host_run.h>

#endif /* STORM_HOST_H */
