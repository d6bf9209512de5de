/* SPDX-License-Identifier: BSD-3-Clause */
#include "physics/device_more.h"

#include <string.h>

#include "physics/device_imc.h"

static const char more_label[] = "imc on the device, more";

/* Arrays, in the order in which they are listed. */
enum {
    TURNS,
    PLANES,
    HOPS,
    FIRST, /* of struct imc_ddmc from here on */
    FACES,
    CELLS,
    GHOSTS,
    CENTRE,
    GHOST_CENTRE,
    HALF,
    SHARE,
    DEPTH,
    BEHIND,
    SKIN,
    DDMC /* with the addresses of those */
};

bool device_more_is_needed(const struct storm_imc *imc)
{
    bool needed = imc->problem->diffusion || imc->track.n_planes > 0 ||
                  imc->track.surfaces != NULL || imc->track.user != NULL;
    for (size_t wall = 0; wall < imc->n_walls; wall++)
        needed = needed || device_imc_edge(imc, wall) >= IMC_EDGE_PARTS;
    return needed;
}

/* ---- what is where (RUN-5) ----------------------------------------------- */

/* Cells at walls that are the host's, in part. */
static void more_turns_walls(const struct storm_imc *imc, unsigned char *turns)
{
    for (storm_cell_idx i = 0; i < imc->n_cells; i++)
        for (int f = 0; f < storm_mesh_n_faces(imc->mesh, i); f++) {
            struct storm_face face = STORM_FACE_INIT;
            storm_mesh_face(imc->mesh, i, f, &face);
            if (face.wall >= 0 &&
                device_imc_edge(imc, (size_t)face.wall) >= IMC_EDGE_PARTS)
                turns[i] = 1;
        }
}

/* Cells with a neighbour in another place of a tally's surface. */
static void more_turns_surfaces(const struct storm_imc *imc,
                                unsigned char *turns)
{
    const struct imc_surfaces *s = imc->track.surfaces;
    const struct imc_halo *halo = &imc->halo;
    for (storm_cell_idx i = 0; i < imc->n_cells; i++)
        for (size_t k = halo->first[i]; k < halo->first[i + 1]; k++) {
            int32_t next = halo->next[k];
            const unsigned char *to = next >= 0
                                          ? &s->own[(size_t)next * s->n]
                                          : &s->ghosts[(size_t)~next * s->n];
            if (memcmp(&s->own[(size_t)i * s->n], to, s->n) != 0)
                turns[i] = 1;
        }
}

/* Cells from which a packet may get a place in the cell behind a face, where
 * kernels find none (DDMC-6). */
static void more_turns_skins(const struct imc_ddmc *ddmc, size_t n_cells,
                             unsigned char *turns)
{
    for (size_t i = 0; i < n_cells; i++)
        for (size_t f = ddmc->first[i]; f < ddmc->first[i + 1]; f++) {
            const struct imc_ddmc_face *face = &ddmc->faces[f];
            if (face->side == DDMC_LOCAL &&
                ddmc->skin[ddmc->first[face->next] + (size_t)face->back] > 0.0)
                turns[i] = 1;
        }
}

static void more_turns_fill(const struct storm_imc *imc, unsigned char *turns)
{
    bool asks = false;
    memset(turns, 0, (size_t)imc->n_cells);
    for (size_t wall = 0; wall < imc->n_walls; wall++)
        asks = asks || device_imc_edge(imc, wall) >= IMC_EDGE_PARTS;
    if (asks)
        more_turns_walls(imc, turns);
    if (imc->track.surfaces != NULL)
        more_turns_surfaces(imc, turns);
    if (imc->track.ddmc != NULL && imc->ddmc.half != NULL &&
        !imc->there->run.ops->samples)
        more_turns_skins(&imc->ddmc, (size_t)imc->n_cells, turns);
}

/* ---- arrays -------------------------------------------------------------- */

/* Lists what this step has. */
static void more_list(struct storm_imc *imc)
{
    struct device_more *more = &imc->there->more;
    const struct imc_ddmc *ddmc = imc->track.ddmc;
    size_t n = (size_t)imc->n_cells;
    for (size_t k = 0; k < DEVICE_MORE_ARRAYS; k++)
        more->array[k].n_bytes = 0;
    struct device_array *a = more->array;
#define MORE_PUT(_k, _host, _n) \
    do {                        \
        a[_k].put = (_host);    \
        a[_k].sum = NULL;       \
        a[_k].n_bytes = (_n);   \
    } while (0)
#define MORE_SUM(_k, _sum, _n)                      \
    do {                                            \
        a[_k].put = NULL;                           \
        a[_k].sum = (_sum);                         \
        a[_k].n_bytes = (_n) * sizeof(storm_exact); \
    } while (0)
    MORE_PUT(TURNS, more->turns, n);
    MORE_PUT(PLANES, imc->planes, imc->track.n_planes * sizeof *imc->planes);
    if (imc->moments.hops != NULL)
        MORE_SUM(HOPS, imc->moments.hops, 3 * n);
    if (ddmc == NULL)
        return;
    size_t n_faces = ddmc->first[n], n_groups = ddmc->n_groups;
    MORE_PUT(FIRST, ddmc->first, (n + 1) * sizeof *ddmc->first);
    MORE_PUT(FACES, ddmc->faces, n_faces * sizeof *ddmc->faces);
    MORE_PUT(CELLS, ddmc->cells, n * sizeof *ddmc->cells);
    MORE_PUT(GHOSTS, ddmc->ghosts, ddmc->n_ghosts * sizeof *ddmc->ghosts);
    MORE_PUT(CENTRE, ddmc->centre, 3 * n * sizeof(double));
    MORE_PUT(GHOST_CENTRE, ddmc->ghost_centre,
             3 * ddmc->n_ghosts * sizeof(double));
    if (ddmc->half != NULL)
        MORE_PUT(HALF, ddmc->half, 3 * n * sizeof(double));
    MORE_PUT(SHARE, ddmc->share, n * n_groups * sizeof(double));
    MORE_PUT(DEPTH, ddmc->depth,
             n * ddmc->max_faces * n_groups * sizeof(double));
    MORE_PUT(BEHIND, ddmc->behind, n_faces * n_groups * sizeof(double));
    MORE_PUT(SKIN, ddmc->skin, n_faces * sizeof(double));
    MORE_PUT(DDMC, &more->ddmc, sizeof more->ddmc);
#undef MORE_PUT
#undef MORE_SUM
}

static storm_status more_room(struct storm_device *device,
                              struct device_array *array)
{
    if (array->n_bytes <= array->bytes)
        return STORM_OK;
    storm_device_free(device, array->at);
    array->at = 0;
    array->bytes = 0;
    storm_status status =
        storm_device_alloc(device, more_label, array->n_bytes, &array->at);
    if (status == STORM_OK)
        array->bytes = array->n_bytes;
    return status;
}

/* Memory of the host: flags of cells, a part of a batch, the longest sum. */
static storm_status more_reserve(struct storm_imc *imc)
{
    struct device_more *more = &imc->there->more;
    struct storm_memory *memory = imc->env->memory;
    size_t n = (size_t)imc->n_cells;
    if (more->packet == NULL)
        more->packet = storm_alloc(memory, more_label,
                                   DEVICE_TURNS_MAX * sizeof *more->packet);
    if (more->outcome == NULL)
        more->outcome = storm_alloc(memory, more_label,
                                    DEVICE_TURNS_MAX * sizeof *more->outcome);
    if (more->turns == NULL || n > more->n_turns) {
        storm_free(memory, more->turns);
        more->turns = storm_alloc(memory, more_label, n + 1);
        more->n_turns = n;
    }
    return more->packet != NULL && more->outcome != NULL && more->turns != NULL
               ? STORM_OK
               : STORM_ERR_NOMEM;
}

/* Room for the sums that come back. */
static storm_status more_reserve_sums(struct storm_imc *imc)
{
    struct device_more *more = &imc->there->more;
    size_t bytes = 0;
    for (size_t k = 0; k < DEVICE_MORE_ARRAYS; k++)
        if (more->array[k].sum != NULL && more->array[k].n_bytes > bytes)
            bytes = more->array[k].n_bytes;
    if (bytes <= more->sums_bytes)
        return STORM_OK;
    storm_free(imc->env->memory, more->sums);
    more->sums = storm_alloc(imc->env->memory, more_label, bytes);
    more->sums_bytes = more->sums != NULL ? bytes : 0;
    return more->sums != NULL ? STORM_OK : STORM_ERR_NOMEM;
}

static void *more_at(const struct device_more *more, int k)
{
    const struct device_array *array = &more->array[k];
    return array->n_bytes > 0 ? (void *)(uintptr_t)array->at : NULL;
}

/* Addresses on the device in place of those of the host. */
static void more_addresses(struct device_more *more, const struct imc_ddmc *own)
{
    struct imc_ddmc *ddmc = &more->ddmc;
    if (own == NULL)
        return;
    *ddmc = *own;
    ddmc->first = more_at(more, FIRST);
    ddmc->faces = more_at(more, FACES);
    ddmc->cells = more_at(more, CELLS);
    ddmc->ghosts = more_at(more, GHOSTS);
    ddmc->centre = more_at(more, CENTRE);
    ddmc->ghost_centre = more_at(more, GHOST_CENTRE);
    ddmc->half = more_at(more, HALF);
    ddmc->share = more_at(more, SHARE);
    ddmc->depth = more_at(more, DEPTH);
    ddmc->behind = more_at(more, BEHIND);
    ddmc->skin = more_at(more, SKIN);
}

static storm_status more_put(struct storm_device *device,
                             const struct device_array *array)
{
    if (array->n_bytes == 0)
        return STORM_OK;
    return array->put != NULL
               ? storm_device_put(device, array->at, array->put, array->n_bytes)
               : storm_device_clear(device, array->at, array->n_bytes);
}

storm_status device_more_begin(struct storm_imc *imc,
                               struct device_imc_job *job)
{
    struct device_more *more = &imc->there->more;
    struct storm_device *device = imc->env->device;
    more->i = 0;
    storm_status status = more_reserve(imc);
    if (status < 0)
        return status;
    more_turns_fill(imc, more->turns);
    more_list(imc);
    status = more_reserve_sums(imc);
    for (int k = 0; k < DEVICE_MORE_ARRAYS && status == STORM_OK; k++)
        status = more_room(device, &more->array[k]);
    if (status < 0)
        return status;
    more_addresses(more, imc->track.ddmc);
    for (int k = 0; k < DEVICE_MORE_ARRAYS && status == STORM_OK; k++)
        status = more_put(device, &more->array[k]);
    job->track.turns = more_at(more, TURNS);
    job->track.planes = more_at(more, PLANES);
    job->track.ddmc = more_at(more, DDMC);
    job->moments.hops = more_at(more, HOPS);
    return status;
}

storm_status device_more_add(struct storm_device *device, void *room,
                             storm_device_address from, size_t bytes,
                             storm_exact *sum)
{
    const storm_exact *got = room;
    storm_status status = storm_device_get(device, room, from, bytes);
    for (size_t i = 0; i < bytes / sizeof *got && status == STORM_OK; i++)
        sum[i] += got[i];
    return status;
}

storm_status device_more_end(struct storm_imc *imc)
{
    struct device_more *more = &imc->there->more;
    storm_status status = STORM_OK;
    for (int k = 0; k < DEVICE_MORE_ARRAYS && status == STORM_OK; k++) {
        const struct device_array *array = &more->array[k];
        if (array->n_bytes > 0 && array->sum != NULL)
            status = device_more_add(imc->env->device, more->sums, array->at,
                                     array->n_bytes, array->sum);
    }
    return status;
}

void device_more_close(struct storm_imc *imc)
{
    struct device_more *more = &imc->there->more;
    struct storm_memory *memory = imc->env->memory;
    for (int k = 0; k < DEVICE_MORE_ARRAYS; k++)
        storm_device_free(imc->env->device, more->array[k].at);
    storm_free(memory, more->turns);
    storm_free(memory, more->packet);
    storm_free(memory, more->outcome);
    storm_free(memory, more->sums);
}

/* ---- the host's turns (RUN-5, RUN-6) ------------------------------------ */

/* One event of each of the packets. */
static void more_advance(struct storm_imc *imc, size_t n)
{
    struct device_more *more = &imc->there->more;
    struct imc_track *track = &imc->track;
    const uint64_t max_events = track->max_events;
    struct imc_watch *watch = track->watch;
    track->max_events = 1;
    track->watch = NULL;
    imc_batch(imc, more->packet, n, more->outcome);
    track->max_events = max_events;
    track->watch = watch;
}

storm_status device_more_turns(struct storm_imc *imc, void *const *packets,
                               size_t n, struct storm_outcome *outcomes)
{
    struct device_more *more = &imc->there->more;
    size_t n_turns = 0, first = more->i, i = first;
    for (; i < n && n_turns < DEVICE_TURNS_MAX; i++)
        if (outcomes[i].fate == IMC_FATE_TURN)
            more->packet[n_turns++] = packets[i];
    more->i = i < n ? i : 0;
    if (n_turns == 0)
        return i < n ? STORM_AGAIN : STORM_OK;
    more_advance(imc, n_turns);
    for (size_t k = 0; first < i; first++) {
        if (outcomes[first].fate != IMC_FATE_TURN)
            continue;
        uint64_t events = outcomes[first].events;
        outcomes[first] = more->outcome[k++];
        outcomes[first].events += events;
    }
    return i < n ? STORM_AGAIN : STORM_OK;
}
