/* SPDX-License-Identifier: BSD-3-Clause */
/* Free streaming: one time step. Calls between steps are in
 * streaming_report.c. */
#include "physics/streaming.h"
#include "base/sized.h"

#include <math.h>
#include <string.h>

#include <storm/context.h>

#include "base/port.h"
#include "mesh/mesh_ops.h"
#include "physics/census.h"
#include "physics/split.h"

static const char streaming_label[] = "streaming tallies";
static const double streaming_light_cm_s = 2.99792458e10;

/* Ids have room for so many per cell and step. */
#define STREAMING_MAX_PACKETS (UINT64_C(1) << 40)

/* ---- arrays ------------------------------------------------------------- */

storm_status streaming_allocate(const struct storm_streaming *streaming,
                                struct storm_track *track_out,
                                double **energy_density_out)
{
    struct storm_memory *memory = streaming->env->memory;
    size_t n = (size_t)storm_mesh_n_cells(streaming->mesh) + 1; /* never 0 */
    struct storm_track track = streaming->track;
    double *density = storm_alloc(memory, streaming_label, n * sizeof *density);
    bool ok = density != NULL;
    track.exact = NULL;
    track.plain = NULL;
    if (track.tally == STORM_TALLY_EXACT) {
        track.exact =
            storm_alloc(memory, streaming_label, n * sizeof *track.exact);
        ok = ok && track.exact != NULL;
    } else if (track.tally == STORM_TALLY_DOUBLE) {
        track.plain =
            storm_alloc(memory, streaming_label, n * sizeof *track.plain);
        ok = ok && track.plain != NULL;
    }
    if (!ok) {
        streaming_release(streaming, &track, density);
        return STORM_ERR_NOMEM;
    }
    *track_out = track;
    *energy_density_out = density;
    return STORM_OK;
}

void streaming_release(const struct storm_streaming *streaming,
                       struct storm_track *track, double *energy_density)
{
    struct storm_memory *memory = streaming->env->memory;
    storm_free(memory, energy_density);
    storm_free(memory, track->exact);
    storm_free(memory, track->plain);
}

/* After a change. Nothing is moved: all arrays belong to one step. */
static storm_status streaming_follow_mesh(struct storm_streaming *streaming)
{
    if (!storm_mesh_has_changed(streaming->mesh, streaming->generation))
        return STORM_OK;
    struct storm_track track;
    double *density;
    storm_status status = streaming_allocate(streaming, &track, &density);
    if (status < 0)
        return status;
    streaming_release(streaming, &streaming->track, streaming->energy_density);
    streaming->track = track;
    streaming->energy_density = density;
    streaming->n_cells = storm_mesh_n_cells(streaming->mesh);
    streaming->generation = storm_mesh_generation(streaming->mesh);
    return STORM_OK;
}

/* ---- pre_step ----------------------------------------------------------- */

/* The index-th packet a cell emits in a step. */
static void streaming_birth(const struct storm_streaming *streaming,
                            uint64_t cycle, storm_cell_idx cell, uint64_t index,
                            struct storm_packet *packet_out)
{
    const struct storm_streaming_params *p = &streaming->params;
    struct storm_packet packet = {
        .cell = storm_mesh_cell_id(streaming->mesh, cell),
        .cell_idx = cell,
        .time_left_s = p->dt_s,
    };
    packet.id =
        storm_packet_id_make(STORM_ORIGIN_EMISSION, cycle, packet.cell, index);
    double u[4];
    storm_random(p->seed, STORM_STREAM_BIRTH, packet.id, 0, u);
    storm_mesh_sample(streaming->mesh, cell, u, packet.position_cm);
    storm_random(p->seed, STORM_STREAM_BIRTH, packet.id, 1, u);
    storm_isotropic(u[0], u[1], packet.direction);
    *packet_out = packet;
}

static storm_status streaming_emit(struct storm_streaming *streaming,
                                   struct storm_step *step,
                                   double *largest_inout)
{
    const struct storm_streaming_params *p = &streaming->params;
    uint64_t cycle = storm_step_number(step);
    for (storm_cell_idx cell = 0; cell < streaming->n_cells; cell++) {
        double energy_erg = p->emit_energy_erg_cm3 *
                            storm_mesh_volume_cm3(streaming->mesh, cell);
        struct storm_split split = storm_split(energy_erg, p->emit_per_cell);
        if (split.last > *largest_inout) /* never less than the others */
            *largest_inout = split.last;
        for (uint64_t k = 0; k < p->emit_per_cell; k++) {
            struct storm_packet packet;
            streaming_birth(streaming, cycle, cell, k, &packet);
            packet.weight_erg =
                k + 1 < p->emit_per_cell ? split.each : split.last;
            packet.birth_weight_erg = packet.weight_erg;
            storm_status status = storm_step_spawn(step, &packet);
            if (status < 0)
                return status;
        }
        storm_ledger_add(&streaming->account[STORM_LEDGER_CREATED], energy_erg);
    }
    return STORM_OK;
}

struct storm_exact_unit streaming_unit(const struct storm_streaming *streaming,
                                       double largest)
{
    const struct storm_streaming_params *p = &streaming->params;
    /* A path may exceed speed times dt by its roundings, not by a factor. */
    return storm_exact_unit(2.0 * largest * p->speed_cm_s * p->dt_s);
}

/* ---- on a device -------------------------------------------------------- */

storm_status streaming_device_begin(struct storm_streaming *streaming)
{
    struct storm_track *track = &streaming->track;
    bool has_sums = track->tally == STORM_TALLY_EXACT;
    storm_status status =
        device_run_find(&streaming->run, streaming->mesh, DEVICE_STREAMING,
                        track->tally == STORM_TALLY_DOUBLE
                            ? "a tally of doubles"
                            : NULL);
    if (streaming->run.kernel == NULL || status < 0)
        return status;
    bool is_new =
        !streaming->run.has_mesh ||
        storm_mesh_has_changed(streaming->mesh, streaming->run.generation);
    status =
        device_run_mesh(&streaming->run, streaming->mesh, track->speed_cm_s);
    if (is_new && has_sums) {
        device_image_free(&streaming->sums);
        (void)device_image_room(&streaming->sums, (size_t)streaming->n_cells *
                                                      sizeof *track->exact);
    }
    if (status == STORM_OK)
        status = streaming->sums.status;
    if (status == STORM_OK && has_sums)
        status = storm_device_clear(streaming->env->device,
                                    streaming->sums.address[0],
                                    (size_t)streaming->n_cells *
                                        sizeof *track->exact);
    const bool *mirrors = streaming->job.track.mirrors;
    streaming->job.track = *track;
    streaming->job.track.mesh = NULL;
    streaming->job.track.mirrors = mirrors;
    if (has_sums)
        streaming->job.track.exact =
            (storm_exact *)(uintptr_t)streaming->sums.address[0];
    return status;
}

/* After transport: the sums of the host are zero so far. Local. */
static storm_status streaming_device_end(struct storm_streaming *streaming)
{
    if (streaming->run.kernel == NULL ||
        streaming->track.tally != STORM_TALLY_EXACT)
        return STORM_OK;
    return storm_device_get(streaming->env->device, streaming->track.exact,
                            streaming->sums.address[0],
                            (size_t)streaming->n_cells *
                                sizeof *streaming->track.exact);
}

/* ---- a step -------------------------------------------------------------- */

static storm_status streaming_pre_step(void *self, struct storm_step *step)
{
    struct storm_streaming *streaming = self;
    double largest = 0.0;
    storm_status status = storm_context_agree(streaming->context,
                                              streaming_follow_mesh(streaming));
    if (status < 0) /* on all ranks */
        return status;
    storm_status woken =
        device_pool_wake(&streaming->pool, step, streaming->mesh,
                         streaming->params.dt_s, &largest);
    status = storm_census_wake(step, streaming->mesh, streaming->params.dt_s,
                               &largest);
    if (status < 0) /* on all ranks */
        return status;
    status = woken;
    if (status == STORM_OK && streaming->params.emit_per_cell > 0)
        status = streaming_emit(streaming, step, &largest);
    if (status == STORM_OK)
        status = storm_connect_neighbours(&streaming->connect, streaming->mesh,
                                          step);

    /* Also after an error: this call is collective. */
    storm_status agreed = storm_context_reduce(streaming->context, &largest, 1,
                                               MPI_DOUBLE, MPI_MAX);
    if (status < 0 || agreed < 0)
        return status < 0 ? status : agreed;
    streaming->track.unit = streaming_unit(streaming, largest);
    streaming->track.max_events = storm_step_max_events(step);
    status = streaming_device_begin(streaming);
    return status < 0
               ? status
               : device_pool_begin(&streaming->pool, step, streaming->mesh);
}

/* ---- transport ---------------------------------------------------------- */

static void streaming_step_batch(void *self, struct storm_step *step,
                                 void *const *packets, size_t n,
                                 struct storm_outcome *outcomes_out)
{
    struct storm_streaming *streaming = self;
    (void)step;
    if (storm_mesh_has_changed(streaming->mesh, streaming->generation))
        storm_census_stop(n, outcomes_out);
    else if (streaming->run.kernel != NULL)
        device_run_launch(&streaming->run, &streaming->job,
                          sizeof streaming->job, streaming->track.max_events,
                          packets, n, outcomes_out);
    else
        streaming->advance(&streaming->track, packets, n, outcomes_out);
}

static storm_status streaming_poll(void *self, struct storm_step *step)
{
    struct storm_streaming *streaming = self;
    (void)step;
    return device_run_poll(&streaming->run);
}

void storm_streaming_escape(void *streaming, struct storm_step *step,
                            void *packet, struct storm_outcome *outcome_out)
{
    struct storm_streaming *self = streaming;
    (void)step;
    storm_ledger_add(&self->account[STORM_LEDGER_ESCAPED],
                     ((const struct storm_packet *)packet)->weight_erg);
    *outcome_out = (struct storm_outcome){.fate = STORM_FATE_ESCAPED};
}

/* ---- post_step ---------------------------------------------------------- */

static storm_status streaming_post_step(void *self, struct storm_step *step)
{
    struct storm_streaming *streaming = self;
    struct storm_track *track = &streaming->track;
    (void)step;
    storm_status status = streaming_check(streaming);
    if (status == STORM_OK)
        status = streaming_device_end(streaming);
    if (status < 0)
        return status;
    for (storm_cell_idx cell = 0; cell < streaming->n_cells; cell++) {
        double sum = 0.0;
        if (track->tally == STORM_TALLY_EXACT) {
            sum = storm_exact_value(track->exact[cell], track->unit);
            track->exact[cell] = 0;
        } else if (track->tally == STORM_TALLY_DOUBLE) {
            sum = track->plain[cell];
            track->plain[cell] = 0.0;
        }
        streaming->energy_density[cell] =
            sum / (storm_mesh_volume_cm3(streaming->mesh, cell) *
                   streaming->params.dt_s);
    }
    return STORM_OK;
}

/* ---- public ------------------------------------------------------------- */

static bool streaming_is_positive(double x)
{
    return x > 0.0 && isfinite(x);
}

static storm_wall_kind streaming_wall(const struct storm_streaming_params *p,
                                      size_t wall)
{
    if (p->boundaries != NULL)
        return p->boundaries[wall];
    return wall < STORM_N_WALLS ? p->walls[wall] : STORM_WALL_VACUUM;
}

/* Which walls or boundaries reflect. */
static storm_status streaming_mirrors(struct storm_streaming *streaming)
{
    const struct storm_streaming_params *p = &streaming->params;
    size_t n = (size_t)streaming->mesh->n_boundaries;
    for (size_t wall = 0; wall < STORM_N_WALLS; wall++)
        if (p->walls[wall] == STORM_WALL_REFLECT)
            streaming->track.mirror_walls |= 1u << wall;
    if (n == 0)
        return STORM_OK;
    streaming->mirrors = storm_alloc(streaming->env->memory, streaming_label,
                                     n * sizeof *streaming->mirrors);
    if (streaming->mirrors == NULL)
        return STORM_ERR_NOMEM;
    for (size_t wall = 0; wall < n; wall++)
        streaming->mirrors[wall] =
            streaming_wall(p, wall) == STORM_WALL_REFLECT;
    streaming->track.mirrors = streaming->mirrors;
    if (streaming->env->device != NULL)
        streaming->job.track.mirrors =
            device_image_add(&streaming->walls, streaming->mirrors,
                             n * sizeof *streaming->mirrors);
    streaming->params.boundaries = NULL; /* the caller's */
    return STORM_OK;
}

static storm_status
streaming_check_params(const struct storm_env *env,
                       const struct storm_mesh *mesh,
                       const struct storm_streaming_params *p)
{
    if (p->emit_per_cell >= STREAMING_MAX_PACKETS) {
        storm_log_write(
            &env->log, STORM_LOG_ERROR,
            "a cell cannot emit %llu packets per step, max 2^40 - 1",
            (unsigned long long)p->emit_per_cell);
        return STORM_ERR_ARG;
    }
    size_t n = p->boundaries != NULL ? p->n_boundaries : STORM_N_WALLS;
    for (size_t wall = 0; wall < n; wall++) {
        storm_wall_kind kind = streaming_wall(p, wall);
        if (kind == STORM_WALL_VACUUM || kind == STORM_WALL_REFLECT)
            continue;
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "wall %zu of streaming is of kind %d: use "
                        "STORM_WALL_VACUUM or STORM_WALL_REFLECT; periodic "
                        "walls belong to the mesh",
                        wall, (int)kind);
        return STORM_ERR_ARG;
    }
    if (p->boundaries != NULL &&
        p->n_boundaries != (size_t)mesh->n_boundaries) {
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "streaming has %zu boundaries, the mesh has %d by "
                        "number",
                        p->n_boundaries, mesh->n_boundaries);
        return STORM_ERR_ARG;
    }
    if ((int)p->tally < STORM_TALLY_EXACT || (int)p->tally > STORM_TALLY_OFF) {
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "streaming has no tally of kind %d: use "
                        "STORM_TALLY_EXACT, DOUBLE or OFF",
                        (int)p->tally);
        return STORM_ERR_ARG;
    }
    if (streaming_is_positive(p->dt_s) &&
        streaming_is_positive(p->speed_cm_s) &&
        streaming_is_positive(p->speed_cm_s * p->dt_s) &&
        streaming_is_positive(p->emit_energy_erg_cm3))
        return STORM_OK;
    storm_log_write(&env->log, STORM_LOG_ERROR,
                    "streaming needs positive dt, speed and energy, not %g s, "
                    "%g cm/s and %g erg/cm3",
                    p->dt_s, p->speed_cm_s, p->emit_energy_erg_cm3);
    return STORM_ERR_ARG;
}

storm_status storm_streaming_create(struct storm_context *context,
                                    const struct storm_mesh *mesh,
                                    const struct storm_streaming_params *params,
                                    struct storm_streaming **streaming_out)
{
    const struct storm_env *env = storm_context_env(context);
    struct storm_streaming_params p;
    storm_status status =
        storm_sized_read(env, "storm_streaming_create", params, &p, sizeof p);
    if (status < 0)
        return status;
    if (p.speed_cm_s == 0.0)
        p.speed_cm_s = streaming_light_cm_s;
    if (p.emit_energy_erg_cm3 == 0.0)
        p.emit_energy_erg_cm3 = 1.0;
    status = streaming_check_params(env, mesh, &p);
    if (status < 0)
        return status;

    struct storm_streaming *streaming =
        storm_alloc(env->memory, streaming_label, sizeof *streaming);
    if (streaming == NULL)
        return STORM_ERR_NOMEM;
    streaming->context = context;
    streaming->env = env;
    streaming->mesh = mesh;
    streaming->params = p;
    streaming->n_cells = storm_mesh_n_cells(mesh);
    streaming->generation = storm_mesh_generation(mesh);
    streaming->advance = storm_track_for(mesh);
    streaming->track = (struct storm_track){
        .mesh = mesh,
        .speed_cm_s = p.speed_cm_s,
        .max_events = UINT64_MAX,
        .tally = p.tally,
    };
    status = streaming->advance != NULL
                 ? streaming_allocate(streaming, &streaming->track,
                                      &streaming->energy_density)
                 : STORM_ERR_NOSUP;
    device_run_open(&streaming->run, mesh);
    device_pool_open(&streaming->pool, &streaming->run, mesh, &streaming->job,
                     sizeof streaming->job);
    streaming->sums.device = streaming->walls.device = env->device;
    streaming->sums.label = streaming->walls.label = streaming_label;
    if (status >= 0)
        status = streaming_mirrors(streaming);
    if (status < 0) {
        storm_streaming_destroy(streaming);
        return status;
    }
    *streaming_out = streaming;
    return STORM_OK;
}

void storm_streaming_destroy(struct storm_streaming *streaming)
{
    if (streaming == NULL)
        return;
    streaming_release(streaming, &streaming->track, streaming->energy_density);
    device_image_free(&streaming->sums);
    device_image_free(&streaming->walls);
    device_pool_close(&streaming->pool);
    device_run_close(&streaming->run);
    storm_free(streaming->env->memory, streaming->mirrors);
    storm_free(streaming->env->memory, streaming);
}

storm_status storm_streaming_attach(struct storm_streaming *streaming,
                                    struct storm_engine *engine)
{
    const struct storm_physics physics = {
        .size = sizeof physics,
        .record_bytes = sizeof(struct storm_packet),
        .self = streaming,
        .pre_step = streaming_pre_step,
        .step_batch = streaming_step_batch,
        .post_step = streaming_post_step,
        .poll = streaming->env->device != NULL ? streaming_poll : NULL,
        .batch_packets =
            streaming->env->device != NULL ? DEVICE_BATCH_PACKETS : 0,
    };
    const struct storm_boundary boundary = {
        .size = sizeof boundary,
        .record_bytes = sizeof(struct storm_packet),
        .self = streaming,
        .apply = storm_streaming_escape,
    };
    return storm_engine_use(engine, &physics, &boundary, NULL);
}
