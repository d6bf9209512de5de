/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Internals of storm/host.h. Everything below this layer is used as any other
 * host would, but for messages between ranks and the tags of a grid.
 *
 *   HOST-1  Arrays of the caller are in its own order: route.tags. Between that
 *           and the local cells of the mesh, values move by messages.
 *   HOST-2  Arguments are checked on every rank before anything changes, and
 *           the ranks agree on the result.
 */
#ifndef STORM_HOST_HOST_H
#define STORM_HOST_HOST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <storm/engine.h>
#include <storm/given.h>
#include <storm/host.h>
#include <storm/imc.h>
#include <storm/imc_user.h>
#include <storm/matter.h>
#include <storm/problem.h>
#include <storm/streaming.h>

#include "base/env.h"
#include "base/port.h"

enum { HOST_TEXT_BYTES = 1024, HOST_NAME_BYTES = 64, HOST_LAW_VALUES = 6 };

enum host_stage { HOST_SETUP, HOST_MESH, HOST_RUN, HOST_FAILED };

enum host_mesh_kind { HOST_CART, HOST_POINTS, HOST_GIVEN };

/* The text of the last error. Threads of the library may log, too. */
struct host_text {
    atomic_flag lock;
    bool is_quiet;
    char text[HOST_TEXT_BYTES];
};

struct host_material {
    char name[HOST_NAME_BYTES];
    struct storm_power_law law[STORM_HOST_N_LAWS];
    bool by_cell[STORM_HOST_N_LAWS];
    double start[STORM_HOST_N_LAWS]; /* by cell */
    double density_g_cm3, temperature_kev;
    storm_scattering_law scattering_law;
    double electrons_per_g;
};

/* What functions of storm/matter.h are given: laws, or where in the composition
 * of a cell the numbers are. */
struct host_matter {
    struct storm_power_law law[STORM_HOST_N_LAWS];
    bool by_cell[STORM_HOST_N_LAWS];
    size_t first[STORM_HOST_N_LAWS];
    struct storm_matter matter;
    double *composition; /* at the start */
};

struct host_wall {
    storm_wall_kind kind;
    double *curve; /* time, keV, ... */
    size_t n_curve;
    int64_t packets;
};

/* Cells in the order of the caller. */
struct host_route {
    size_t n;
    storm_cell_id *tags;
    struct storm_cell_ref *where;
};

/* What storm_host_give_cells and _give_faces lend. */
struct host_given {
    size_t n;
    const uint64_t *tags, *first_face;
    const double *points, *volumes, *centroids, *normals, *on_planes, *areas;
    const int64_t *behind;
};

struct storm_host {
    struct host_text *text;
    struct storm_context *context;
    const struct storm_env *env;
    enum host_stage stage;
    enum host_mesh_kind mesh_kind;

    struct storm_problem problem; /* parameters; the rest when it begins */
    double *group_edges;
    struct host_material *materials;
    size_t n_materials, material_capacity;
    struct host_wall *walls;
    size_t n_walls, wall_capacity;
    double *edges[3];
    size_t n_edges[3];
    storm_host_scatter *scatter;
    void *scatter_self;
    storm_cell_id *point_tags; /* of points that come; NULL: chosen */
    size_t n_point_tags;

    struct host_given given;
    int n_boundaries;
    struct storm_mesh *mesh;
    struct host_route route;
    struct storm_cut *cut; /* NULL: never repartitioned */

    struct host_matter *matters; /* n_materials */
    size_t first_component[STORM_HOST_N_LAWS];
    bool any_by_cell[STORM_HOST_N_LAWS];
    struct storm_imc *imc;
    struct storm_comb *comb;
    struct storm_engine *engine;
    unsigned moments;  /* asked for */
    double *start_kev; /* of radiation, in the caller's order; NULL: matter's */
    bool has_started;
    uint64_t n_steps;
    double declared_erg;
};

/* ---- host.c ---- */

/* Forgets the last error; STORM_ERR_ARG: there is no object. STORM_ERR_STATE,
 * logged: the stage is before `from` or after `to`. */
storm_status host_enter(struct storm_host *host, const char *what,
                        enum host_stage from, enum host_stage to);

/* Logs an error and returns its status. */
storm_status host_fail(const struct storm_host *host, storm_status status,
                       const char *format, ...) STORM_PRINTF(3, 4);

/* Of a collective call: the worst of all ranks. */
storm_status host_agree(const struct storm_host *host, storm_status status);

/* An array of n elements; STORM_ERR_NOMEM. */
storm_status host_array(const struct storm_host *host, size_t n, size_t bytes,
                        void *array_out);
void host_free(const struct storm_host *host, void *array);

/* Is it finite and in [min, max]? */
bool host_is_between(double value, double min, double max);

/* ---- host_problem.c ---- */

/* Gives the i-th parameter its default. */
void host_parameter_reset(struct storm_problem *problem, size_t i);

/* host_enter, and the material of this number. */
storm_status host_enter_material(struct storm_host *host, const char *what,
                                 int material,
                                 struct host_material **material_out);

/* ---- host_scatter.c ---- */

/* Is there a function where a material needs one? Then it is set. */
storm_status host_scatter_check(const struct storm_host *host);
storm_status host_scatter_begin(struct storm_host *host);

/* ---- host_route.c ---- */

/* Finds the cells of `tags`, which are taken over. Each cell of the mesh must
 * be in the route of one rank, once. Collective. */
storm_status host_route_make(struct storm_host *host, storm_cell_id *tags,
                             size_t n, struct host_route *route_out);
/* The same for that of the caller's order. */
storm_status host_route_open(struct storm_host *host, storm_cell_id *tags,
                             size_t n);
/* After a change of the mesh. Collective. */
storm_status host_route_find(struct storm_host *host);
void host_route_release(const struct storm_host *host,
                        struct host_route *route);

/* Values, `per` for each cell, from the caller's order to that of the local
 * cells, and back. Collective; `status` is that of this rank so far. */
storm_status host_route_in(const struct storm_host *host, storm_status status,
                           size_t per, const double *values, double *local_out);
storm_status host_route_in_by(const struct storm_host *host,
                              const struct host_route *route,
                              storm_status status, size_t per,
                              const double *values, double *local_out);
storm_status host_route_out(const struct storm_host *host, storm_status status,
                            size_t per, const double *local,
                            double *values_out);

/* ---- host_given.c ---- */

/* Params of what was given, with arrays of ours in place of tags behind faces;
 * release also after an error. Collective. */
struct host_faces {
    double *on_planes;
    int *ranks;
    storm_cell_idx *neighbours;
};
storm_status host_given_params(struct storm_host *host,
                               struct host_faces *faces,
                               struct storm_given_params *params_out);
void host_given_release(struct storm_host *host, struct host_faces *faces);

/* A copy of their tags, for the route. */
storm_status host_given_tags(struct storm_host *host,
                             const struct storm_given_params *params,
                             storm_cell_id **tags_out);

/* ---- host_begin.c ---- */
void host_begin_release(struct storm_host *host);

/* The numbers of a cell that a material has by cell, as they are at the start.
 * Others stay as they are. */
void host_matter_begin(const struct storm_host *host, size_t material,
                       double *composition);

#endif /* STORM_HOST_HOST_H */
