/* SPDX-License-Identifier: BSD-3-Clause */
/* HOST-1: between the caller's order of cells and that of the mesh. */
#include "host/host.h"

#include <inttypes.h>
#include <string.h>

#include "mesh/mesh_message.h"

/* ---- values ------------------------------------------------------------- */

storm_status host_route_out(const struct storm_host *host, storm_status status,
                            size_t per, const double *local, double *values_out)
{
    const struct storm_message_rows rows = {.bytes = per * sizeof *local,
                                            .rows = local};
    return storm_messages_fetch(host->context, status, &rows, host->route.n,
                                host->route.where, values_out);
}

/* Rows of an index and `per` values, to the ranks that have the cells. */
static storm_status route_send(const struct storm_host *host,
                               const struct host_route *route,
                               storm_status status, size_t per,
                               const double *values, struct storm_messages *in)
{
    struct storm_messages out = {.n = 0};
    size_t *first = NULL;
    if (status >= 0)
        status = host_array(host, route->n, sizeof *first, &first);
    if (status >= 0)
        status = storm_messages_rows(host->env, route->n, route->where, per + 1,
                                     &out, first);
    for (size_t i = 0; i < route->n && status >= 0; i++) {
        if (route->where[i].rank < 0)
            continue;
        uint64_t *row = &out.words[first[i]];
        row[0] = (uint64_t)route->where[i].idx;
        if (per > 0)
            memcpy(&row[1], &values[i * per], per * sizeof *values);
    }
    status = storm_messages_exchange(host->context, status, &out, in);
    storm_messages_release(host->env, &out);
    host_free(host, first);
    return status;
}

storm_status host_route_in_by(const struct storm_host *host,
                              const struct host_route *route,
                              storm_status status, size_t per,
                              const double *values, double *local_out)
{
    struct storm_messages in = {.n = 0};
    status = route_send(host, route, status, per, values, &in);
    for (size_t m = 0; m < in.n && status >= 0; m++)
        for (size_t k = 0; k < in.array[m].n_words; k += per + 1) {
            const uint64_t *row = in.words + in.array[m].first + k;
            memcpy(&local_out[row[0] * per], &row[1], per * sizeof *local_out);
        }
    storm_messages_release(host->env, &in);
    return status;
}

storm_status host_route_in(const struct storm_host *host, storm_status status,
                           size_t per, const double *values, double *local_out)
{
    return host_route_in_by(host, &host->route, status, per, values, local_out);
}

/* ---- the cells of ranks ------------------------------------------------- */

/* Is each local cell in the route of one rank, once? */
static storm_status route_check_once(const struct storm_host *host,
                                     const struct host_route *route)
{
    struct storm_messages in = {.n = 0};
    size_t n = (size_t)storm_mesh_n_cells(host->mesh);
    unsigned char *count = NULL;
    storm_status status =
        route_send(host, route, host_array(host, n, 1, &count), 0, NULL, &in);
    for (size_t m = 0; m < in.n && status >= 0; m++)
        for (size_t k = 0; k < in.array[m].n_words; k++) {
            unsigned char *c = &count[in.words[in.array[m].first + k]];
            *c = (unsigned char)(*c < 2 ? *c + 1 : 2);
        }
    for (size_t i = 0; i < n && status >= 0; i++)
        if (count[i] != 1)
            status =
                host_fail(host, STORM_ERR_ARG,
                          "cell %" PRIu64
                          " of the mesh: expected in the block of one "
                          "rank, it is in %s",
                          storm_mesh_cell_id(host->mesh, (storm_cell_idx)i),
                          count[i] == 0 ? "none" : "two or more");
    storm_messages_release(host->env, &in);
    host_free(host, count);
    return host_agree(host, status);
}

static storm_status route_find(const struct storm_host *host,
                               struct host_route *route)
{
    storm_status status =
        storm_mesh_find(host->mesh, route->n, route->tags, route->where);
    for (size_t i = 0; i < route->n && status >= 0; i++)
        if (route->where[i].rank < 0)
            status = host_fail(host, STORM_ERR_ARG,
                               "cell with tag %" PRIu64 ": the mesh has none",
                               route->tags[i]);
    return host_agree(host, status);
}

storm_status host_route_find(struct storm_host *host)
{
    return route_find(host, &host->route);
}

storm_status host_route_make(struct storm_host *host, storm_cell_id *tags,
                             size_t n, struct host_route *route_out)
{
    struct host_route route = {.n = n, .tags = tags};
    storm_status status =
        host_agree(host,
                   host_array(host, n, sizeof *route.where, &route.where));
    if (status == STORM_OK)
        status = route_find(host, &route);
    if (status == STORM_OK)
        status = route_check_once(host, &route);
    if (status == STORM_OK)
        *route_out = route;
    else
        host_route_release(host, &route);
    return status;
}

storm_status host_route_open(struct storm_host *host, storm_cell_id *tags,
                             size_t n)
{
    struct host_route route;
    storm_status status = host_route_make(host, tags, n, &route);
    if (status < 0)
        return status;
    host_route_release(host, &host->route);
    host->route = route;
    return STORM_OK;
}

void host_route_release(const struct storm_host *host, struct host_route *route)
{
    host_free(host, route->where);
    host_free(host, route->tags);
    *route = (struct host_route){.n = 0};
}
