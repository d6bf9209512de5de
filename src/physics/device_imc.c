/* SPDX-License-Identifier: BSD-3-Clause */
#include "physics/device_imc.h"

#include "physics/problem.h"

static const char device_imc_label[] = "imc on the device";

/* Arrays, in the order in which they are made. */
enum { CELLS, EDGES, OPACITY, SPECTRUM };

storm_status device_imc_open(struct storm_imc *imc)
{
    if (imc->env->device == NULL)
        return STORM_OK;
    struct device_imc *there =
        storm_alloc(imc->env->memory, device_imc_label, sizeof *there);
    if (there == NULL)
        return STORM_ERR_NOMEM;
    device_run_open(&there->run, imc->mesh);
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
    device_run_close(&there->run);
    storm_free(imc->env->memory, there->cells);
    storm_free(imc->env->memory, there);
    imc->there = NULL;
}

/* ---- which kernel --------------------------------------------------------*/

/* What a wall does; parts that all let packets out are not told apart. */
static enum imc_edge device_imc_edge(const struct storm_imc *imc, size_t wall)
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
    for (size_t wall = 0; wall < imc->n_walls; wall++)
        if (device_imc_edge(imc, wall) == IMC_EDGE_PARTS)
            return "a wall that reflects in parts";
    if (track->laws != NULL)
        return "scattering by laws";
    if (imc->velocity != NULL)
        return "matter that moves";
    if (track->ddmc != NULL)
        return "diffusion";
    if (track->walk != NULL)
        return "a random walk";
    if (track->n_planes > 0)
        return "a blackbody plane";
    if (track->user != NULL)
        return "a wall of the host";
    if (track->moments != NULL)
        return "counting of moments";
    if (track->surfaces != NULL)
        return "a tally of a surface";
    if (imc->trace.n_ids > 0)
        return "tracing of packets";
    return track->has_photons ? "photons with energies" : NULL;
}

static storm_status device_imc_choose(struct storm_imc *imc)
{
    struct device_imc *there = imc->there;
    const struct device_track_ops *ops = there->run.ops;
    const char *lacks = device_imc_lacks(imc);
    if (lacks == NULL && ops == NULL)
        lacks = "a mesh of this kind";
    return device_run_find(&there->run, lacks == NULL ? ops->imc : NULL, lacks);
}

/* ---- arrays --------------------------------------------------------------*/

static size_t device_imc_n_groups(const struct storm_imc *imc)
{
    return (size_t)imc->n_cells * imc->track.n_groups;
}

/* Room for the cells of this rank. */
static storm_status device_imc_reserve(struct storm_imc *imc)
{
    struct device_imc *there = imc->there;
    struct device_image *arrays = &there->arrays;
    size_t n = (size_t)imc->n_cells, n_rows = device_imc_n_groups(imc);
    if (there->cells != NULL && there->n_cells == n)
        return STORM_OK;
    device_image_free(arrays);
    storm_free(imc->env->memory, there->cells);
    there->n_cells = n;
    there->cells = storm_alloc(imc->env->memory, device_imc_label,
                               (n + 1) * sizeof *there->cells);
    if (there->cells == NULL)
        return STORM_ERR_NOMEM;
    (void)device_image_room(arrays, n * sizeof *imc->track.cells);
    (void)device_image_room(arrays, imc->n_walls);
    for (size_t wall = 0; wall < imc->n_walls && arrays->status >= 0; wall++) {
        unsigned char edge = (unsigned char)device_imc_edge(imc, wall);
        arrays->status =
            storm_device_put(imc->env->device, arrays->address[EDGES] + wall,
                             &edge, 1);
    }
    if (imc->track.n_groups > 1) {
        (void)device_image_room(arrays, n_rows * sizeof *imc->opacity);
        (void)device_image_room(arrays, n_rows * sizeof *imc->spectrum);
    }
    return arrays->status;
}

static void *device_imc_at(const struct device_imc *there, size_t i)
{
    return (void *)(uintptr_t)there->arrays.address[i];
}

static storm_status device_imc_put(const struct device_imc *there, size_t i,
                                   const void *from, size_t bytes)
{
    return storm_device_put(there->run.env->device, there->arrays.address[i],
                            from, bytes);
}

/* The fields of this step. RUN-3: the sums are zero. */
static storm_status device_imc_fields(struct storm_imc *imc)
{
    struct device_imc *there = imc->there;
    struct imc_track *track = &there->job.track;
    size_t n = (size_t)imc->n_cells, n_rows = device_imc_n_groups(imc);
    *track = imc->track;
    for (size_t i = 0; i < n; i++) {
        there->cells[i] = imc->track.cells[i];
        there->cells[i].deposit = there->cells[i].path = 0;
        there->cells[i].events = 0;
    }
    storm_status status =
        device_imc_put(there, CELLS, there->cells, n * sizeof *there->cells);
    track->cells = device_imc_at(there, CELLS);
    track->edges = device_imc_at(there, EDGES);
    if (track->n_groups == 1 || status < 0)
        return status;
    track->opacity = device_imc_at(there, OPACITY);
    track->spectrum = device_imc_at(there, SPECTRUM);
    status = device_imc_put(there, OPACITY, imc->opacity,
                            n_rows * sizeof *imc->opacity);
    if (status == STORM_OK)
        status = device_imc_put(there, SPECTRUM, imc->spectrum,
                                n_rows * sizeof *imc->spectrum);
    return status;
}

/* ---- a step --------------------------------------------------------------*/

storm_status device_imc_begin(struct storm_imc *imc)
{
    struct device_imc *there = imc->there;
    if (there == NULL)
        return STORM_OK;
    storm_status status = device_imc_choose(imc);
    if (status < 0 || there->run.kernel == NULL)
        return status;
    status = device_run_mesh(&there->run, imc->mesh, imc->track.light_cm_s);
    if (status == STORM_OK)
        status = device_imc_reserve(imc);
    if (status == STORM_OK)
        status = device_imc_fields(imc);
    return status;
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
    for (size_t i = 0; i < there->n_packets; i++) /* RUN-4 */
        if (there->outcomes[i].fate == STORM_FATE_ESCAPED)
            imc_escape(&imc->track, there->packets[i], there->outcomes[i].rank);
    there->n_packets = 0;
    return STORM_OK;
}

storm_status device_imc_end(struct storm_imc *imc)
{
    struct device_imc *there = imc->there;
    if (there == NULL || there->run.kernel == NULL)
        return STORM_OK;
    storm_status status =
        storm_device_get(imc->env->device, there->cells,
                         there->arrays.address[CELLS],
                         there->n_cells * sizeof *there->cells);
    for (size_t i = 0; i < there->n_cells && status == STORM_OK; i++) {
        struct imc_cell *cell = &imc->track.cells[i];
        cell->deposit += there->cells[i].deposit;
        cell->path += there->cells[i].path;
        cell->events += there->cells[i].events;
    }
    return status;
}
