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
                               storm_status status, size_t per,
                               const double *values, struct storm_messages *in)
{
    const struct host_route *route = &host->route;
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

storm_status host_route_in(const struct storm_host *host, storm_status status,
                           size_t per, const double *values, double *local_out)
{
    struct storm_messages in = {.n = 0};
    status = route_send(host, status, per, values, &in);
    for (size_t m = 0; m < in.n && status >= 0; m++)
        for (size_t k = 0; k < in.array[m].n_words; k += per + 1) {
            const uint64_t *row = in.words + in.array[m].first + k;
            memcpy(&local_out[row[0] * per], &row[1], per * sizeof *local_out);
        }
    storm_messages_release(host->env, &in);
    return status;
}

/* ---- the cells of ranks ------------------------------------------------- */

/* Is each local cell in the route of one rank, once? */
static storm_status route_check_once(const struct storm_host *host)
{
    struct storm_messages in = {.n = 0};
    size_t n = (size_t)storm_mesh_n_cells(host->mesh);
    unsigned char *count = NULL;
    storm_status status =
        route_send(host, host_array(host, n, 1, &count), 0, NULL, &in);
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

storm_status host_route_find(struct storm_host *host)
{
    struct host_route *route = &host->route;
    storm_status status =
        storm_mesh_find(host->mesh, route->n, route->tags, route->where);
    for (size_t i = 0; i < route->n && status >= 0; i++)
        if (route->where[i].rank < 0)
            status = host_fail(host, STORM_ERR_ARG,
                               "cell with tag %" PRIu64 ": the mesh has none",
                               route->tags[i]);
    return host_agree(host, status);
}

storm_status host_route_open(struct storm_host *host, storm_cell_id *tags,
                             size_t n)
{
    struct storm_cell_ref *where = NULL;
    storm_status status =
        host_agree(host, host_array(host, n, sizeof *where, &where));
    if (status < 0) {
        host_free(host, where);
        host_free(host, tags);
        return status;
    }
    host_route_close(host);
    host->route = (struct host_route){.n = n, .tags = tags, .where = where};
    status = host_route_find(host);
    return status < 0 ? status : route_check_once(host);
}

void host_route_close(struct storm_host *host)
{
    host_free(host, host->route.where);
    host_free(host, host->route.tags);
    host->route = (struct host_route){.n = 0};
}
