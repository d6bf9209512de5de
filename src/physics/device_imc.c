/* SPDX-License-Identifier: BSD-3-Clause */
#include "physics/device_imc.h"

#include <string.h>

#include "physics/problem.h"

static const char device_imc_label[] = "imc on the device";

/* Arrays, in the order in which they are made. */
enum {
    CELLS,
    EDGES,
    METHODS,
    OPACITY,
    SPECTRUM,
    WALK,
    THICK,
    EFFECTIVE,
    GROUPS, /* these are sums */
    FLUX,
    PRESSURE,
    MOMENTUM,
    EVENTS,
    ARRAYS
};

/* RUN-4 */
static void device_imc_escape(void *self, struct storm_packet *packet, int wall)
{
    const struct storm_imc *imc = self;
    imc_escape(&imc->track, packet, wall);
}

storm_status device_imc_open(struct storm_imc *imc)
{
    if (imc->env->device == NULL)
        return STORM_OK;
    struct device_imc *there =
        storm_alloc(imc->env->memory, device_imc_label, sizeof *there);
    if (there == NULL)
        return STORM_ERR_NOMEM;
    device_run_open(&there->run, imc->mesh);
    device_pool_open(&there->pool, &there->run, imc->mesh, &there->job,
                     sizeof there->job);
    there->pool.escape = device_imc_escape;
    there->pool.escape_self = imc;
    there->arrays = (struct device_image){.device = imc->env->device,
                                          .label = device_imc_label};
    imc->there = there;
    return STORM_OK;
}

void device_imc_close(struct storm_imc *imc)
{
    struct device_imc *there = imc->there;
    if (there == NULL)
        return;
    device_image_free(&there->arrays);
    device_pool_close(&there->pool);
    device_run_close(&there->run);
    storm_free(imc->env->memory, there->cells);
    storm_free(imc->env->memory, there->edges);
    storm_free(imc->env->memory, there->sums);
    device_more_close(imc);
    storm_free(imc->env->memory, there);
    imc->there = NULL;
}

/* ---- which kernel --------------------------------------------------------*/

enum imc_edge device_imc_edge(const struct storm_imc *imc, size_t wall)
{
    const struct storm_wall *edges;
    if (imc->edges[wall] != IMC_EDGE_PARTS)
        return (enum imc_edge)imc->edges[wall];
    edges = problem_wall(imc->problem, wall);
    for (size_t i = 0; i < edges->n; i++)
        if (edges->parts[i].kind == STORM_WALL_REFLECT)
            return IMC_EDGE_PARTS;
    return IMC_EDGE_OPEN;
}

/* What no kernel knows; NULL: nothing. */
static const char *device_imc_lacks(const struct storm_imc *imc)
{
    const struct imc_track *track = &imc->track;
    if (track->laws != NULL)
        return "scattering by laws";
    if (imc->velocity != NULL)
        return "matter that moves";
    if (imc->trace.n_ids > 0)
        return "tracing of packets";
    return track->has_photons ? "photons with energies" : NULL;
}

static storm_status device_imc_choose(struct storm_imc *imc)
{
    struct device_imc *there = imc->there;
    there->has_more = device_more_is_needed(imc);
    there->run.hands_over = there->has_more;
    return device_run_find(&there->run, imc->mesh,
                           there->has_more              ? DEVICE_IMC_MORE
                           : imc->track.moments != NULL ? DEVICE_IMC_COUNTED
                           : imc->track.walk != NULL    ? DEVICE_IMC_WALK
                                                        : DEVICE_IMC,
                           device_imc_lacks(imc));
}

/* ---- arrays --------------------------------------------------------------*/

/* What a kernel reads or adds to. Sums from GROUPS on are zero before a step,
 * and added to the host's after it. */
struct device_imc_array {
    const void *host;
    size_t bytes;
};

static struct device_imc_array device_imc_sums(const struct storm_imc *imc,
                                               storm_exact *sums, size_t values)
{
    return (struct device_imc_array){sums, (size_t)imc->n_cells * values *
                                               sizeof *sums};
}

static void device_imc_list(const struct storm_imc *imc,
                            struct device_imc_array list_out[ARRAYS])
{
    const struct device_imc *there = imc->there;
    const struct imc_moments *m = &imc->moments;
    size_t n = (size_t)imc->n_cells, n_rows = n * imc->track.n_groups;
    bool has_groups = imc->track.n_groups > 1, walks = imc->track.walk != NULL;
    const struct device_imc_array list[ARRAYS] = {
        [CELLS] = {there->cells, n * sizeof *there->cells},
        [EDGES] = {there->edges, imc->n_walls},
        [METHODS] = {&there->methods, sizeof there->methods},
        [OPACITY] = {has_groups ? imc->opacity : NULL,
                     n_rows * sizeof *imc->opacity},
        [SPECTRUM] = {has_groups ? imc->spectrum : NULL,
                      n_rows * sizeof *imc->spectrum},
        [WALK] = {imc->track.walk, sizeof *imc->track.walk},
        [THICK] = {walks && has_groups ? imc->track.thick : NULL,
                   n_rows * sizeof *imc->track.thick},
        [EFFECTIVE] = {m->effective, n * sizeof *m->effective},
        [GROUPS] = device_imc_sums(imc, m->groups, imc->track.n_groups),
        [FLUX] = device_imc_sums(imc, m->flux, 3),
        [PRESSURE] = device_imc_sums(imc, m->pressure, 6),
        [MOMENTUM] = device_imc_sums(imc, m->momentum, 3),
        [EVENTS] = device_imc_sums(imc, m->events, STORM_IMC_N_EVENTS),
    };
    memcpy(list_out, list, sizeof list);
}

/* Bytes of the longest sum. */
static size_t device_imc_most(const struct storm_imc *imc)
{
    struct device_imc_array list[ARRAYS];
    size_t most = 0;
    device_imc_list(imc, list);
    for (size_t i = GROUPS; i < ARRAYS; i++)
        if (list[i].host != NULL && list[i].bytes > most)
            most = list[i].bytes;
    return most;
}

/* Room for the cells of this rank. */
static storm_status device_imc_reserve(struct storm_imc *imc)
{
    struct device_imc *there = imc->there;
    struct device_imc_array list[ARRAYS];
    size_t n = (size_t)imc->n_cells;
    if (there->cells != NULL && there->n_cells == n &&
        there->wants == imc->wants)
        return STORM_OK;
    device_image_free(&there->arrays);
    storm_free(imc->env->memory, there->cells);
    storm_free(imc->env->memory, there->edges);
    storm_free(imc->env->memory, there->sums);
    there->n_cells = n;
    there->wants = imc->wants;
    there->cells = storm_alloc(imc->env->memory, device_imc_label,
                               (n + 1) * sizeof *there->cells);
    there->edges =
        storm_alloc(imc->env->memory, device_imc_label, imc->n_walls);
    there->sums = storm_alloc(imc->env->memory, device_imc_label,
                              device_imc_most(imc) + sizeof *there->sums);
    if (there->cells == NULL || there->edges == NULL || there->sums == NULL)
        return STORM_ERR_NOMEM;
    for (size_t wall = 0; wall < imc->n_walls; wall++)
        there->edges[wall] = (unsigned char)device_imc_edge(imc, wall);
    device_imc_list(imc, list);
    for (size_t i = 0; i < ARRAYS; i++)
        there->at[i] = list[i].host != NULL
                           ? device_image_room(&there->arrays, list[i].bytes)
                           : NULL;
    return there->arrays.status;
}

static storm_device_address device_imc_address(const void *pointer)
{
    return (storm_device_address)(uintptr_t)pointer;
}

/* The fields of this step. RUN-3: the sums are zero. */
static storm_status device_imc_fields(struct storm_imc *imc)
{
    struct device_imc *there = imc->there;
    struct imc_track *track = &there->job.track;
    struct device_imc_array list[ARRAYS];
    storm_status status = STORM_OK;
    for (size_t i = 0; i < there->n_cells; i++) {
        there->cells[i] = imc->track.cells[i];
        there->cells[i].deposit = there->cells[i].path = 0;
        there->cells[i].events = 0;
    }
    there->methods = (struct imc_methods){.events = {0}};
    device_imc_list(imc, list);
    for (size_t i = 0; i < ARRAYS && status == STORM_OK; i++) {
        storm_device_address at = device_imc_address(there->at[i]);
        if (list[i].host == NULL || list[i].bytes == 0)
            continue;
        status = i < GROUPS
                     ? storm_device_put(imc->env->device, at, list[i].host,
                                        list[i].bytes)
                     : storm_device_clear(imc->env->device, at, list[i].bytes);
    }
    *track = imc->track;
    track->cells = there->at[CELLS];
    track->edges = there->at[EDGES];
    track->methods = there->at[METHODS];
    track->opacity = there->at[OPACITY];
    track->spectrum = there->at[SPECTRUM];
    track->walk = there->at[WALK];
    track->thick = there->at[THICK];
    struct imc_moments *moments = &there->job.moments;
    *moments = imc->moments;
    moments->effective = there->at[EFFECTIVE];
    moments->groups = there->at[GROUPS];
    moments->flux = there->at[FLUX];
    moments->pressure = there->at[PRESSURE];
    moments->momentum = there->at[MOMENTUM];
    moments->events = there->at[EVENTS];
    moments->hops = NULL;
    track->turns = NULL;
    return status;
}

/* ---- a step --------------------------------------------------------------*/

static storm_status device_imc_prepare(struct storm_imc *imc)
{
    struct device_imc *there = imc->there;
    storm_status status = device_imc_choose(imc);
    if (status < 0 || there->run.kernel == NULL)
        return status;
    status = device_run_mesh(&there->run, imc->mesh, imc->track.light_cm_s);
    if (status == STORM_OK)
        status = device_imc_reserve(imc);
    if (status == STORM_OK)
        status = device_imc_fields(imc);
    if (status == STORM_OK && there->has_more)
        status = device_more_begin(imc, &there->job);
    return status;
}

storm_status device_imc_wake(struct storm_imc *imc, struct storm_step *step,
                             double *largest_inout)
{
    return imc->there != NULL
               ? device_pool_wake(&imc->there->pool, step, imc->mesh, imc->dt_s,
                                  largest_inout)
               : STORM_OK;
}

storm_status device_imc_begin(struct storm_imc *imc, struct storm_step *step)
{
    if (imc->there == NULL)
        return STORM_OK;
    storm_status status = device_imc_prepare(imc);
    return status < 0 ? status
                      : device_pool_begin(&imc->there->pool, step, imc->mesh);
}

bool device_imc_batch(struct storm_imc *imc, void *const *packets, size_t n,
                      struct storm_outcome *outcomes_out)
{
    struct device_imc *there = imc->there;
    if (there == NULL || there->run.kernel == NULL)
        return false;
    there->packets = packets;
    there->n_packets = n;
    there->outcomes = outcomes_out;
    there->is_booked = false;
    device_run_launch(&there->run, &there->job, sizeof there->job,
                      imc->track.max_events, packets, n, outcomes_out);
    return true;
}

storm_status device_imc_poll(void *self, struct storm_step *step)
{
    struct storm_imc *imc = self;
    struct device_imc *there = imc->there;
    (void)step;
    if (there->run.kernel == NULL)
        return STORM_OK;
    storm_status status = device_run_poll(&there->run);
    if (status != STORM_OK)
        return status;
    for (size_t i = 0; i < there->n_packets && !there->is_booked; i++)
        if (there->outcomes[i].fate == STORM_FATE_ESCAPED) /* RUN-4 */
            imc_escape(&imc->track, there->packets[i], there->outcomes[i].rank);
    there->is_booked = true;
    if (there->has_more)
        status = device_more_turns(imc, there->packets, there->n_packets,
                                   there->outcomes);
    if (status == STORM_OK)
        there->n_packets = 0;
    return status;
}

storm_status device_imc_end(struct storm_imc *imc)
{
    struct device_imc *there = imc->there;
    if (there == NULL || there->run.kernel == NULL)
        return STORM_OK;
    storm_status status =
        storm_device_get(imc->env->device, there->cells,
                         device_imc_address(there->at[CELLS]),
                         there->n_cells * sizeof *there->cells);
    if (status == STORM_OK)
        status = storm_device_get(imc->env->device, &there->methods,
                                  device_imc_address(there->at[METHODS]),
                                  sizeof there->methods);
    storm_exact *const sums[] = {imc->moments.groups, imc->moments.flux,
                                 imc->moments.pressure, imc->moments.momentum,
                                 imc->moments.events};
    struct device_imc_array list[ARRAYS];
    device_imc_list(imc, list);
    for (size_t i = GROUPS; i < ARRAYS && status == STORM_OK; i++)
        if (list[i].host != NULL && list[i].bytes > 0)
            status = device_more_add(imc->env->device, there->sums,
                                     device_imc_address(there->at[i]),
                                     list[i].bytes, sums[i - GROUPS]);
    if (status == STORM_OK && there->has_more)
        status = device_more_end(imc);
    for (int k = 0; k < IMC_METHODS && status == STORM_OK; k++) {
        imc->methods.path[k] += there->methods.path[k];
        imc->methods.events[k] += there->methods.events[k];
    }
    for (size_t i = 0; i < there->n_cells && status == STORM_OK; i++) {
        struct imc_cell *cell = &imc->track.cells[i];
        cell->deposit += there->cells[i].deposit;
        cell->path += there->cells[i].path;
        cell->events += there->cells[i].events;
    }
    return status;
}
