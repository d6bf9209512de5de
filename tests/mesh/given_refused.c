/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3; timeout: 20 */
/*
 * Meshes of a host that are none are refused, on all ranks, and a message says
 * what is wrong with which cell; nothing is left behind. So are replacements,
 * and the mesh is then as it was.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <storm/context.h>

#include "support/check.h"
#include "support/host.h"

static char message[512];

static void record_message(void *self, storm_log_level level, int rank,
                           const char *text)
{
    (void)self;
    (void)rank;
    if (level == STORM_LOG_ERROR)
        snprintf(message, sizeof message, "%s", text);
}

/* The first face of cell 20 to another cell. */
static size_t inner_face(const struct host *h)
{
    size_t f = (size_t)h->first_face[20];
    while (h->behind[f] < 0)
        f++;
    return f;
}

/* What is wrong, in a mesh of tetrahedra that is good but for this. */
static void no_fault(struct host *h)
{
    (void)h;
}
static void twin_tags(struct host *h)
{
    h->tags[20] = h->tags[21];
}
static void large_tag(struct host *h)
{
    h->tags[20] = UINT64_C(1) << 48;
}
static void no_volume(struct host *h)
{
    h->volumes[20] = 0.0;
}
static void other_volume(struct host *h)
{
    h->volumes[20] *= 1.0001;
}
/* A corner has gone through the face opposite to it: the host computes a volume
 * below 0, or normals that point inwards. */
static void negative_volume(struct host *h)
{
    h->volumes[20] = -h->volumes[20];
}
static void inside_out(struct host *h)
{
    for (size_t f = (size_t)h->first_face[20]; f < h->first_face[21]; f++)
        for (size_t d = 0; d < 3; d++)
            h->normals[3 * f + d] = -h->normals[3 * f + d];
}
static void no_number(struct host *h)
{
    h->points[61] = NAN;
}
static void far_point(struct host *h)
{
    h->points[61] += 10.0;
}
static void far_centroid(struct host *h)
{
    h->centroids[61] += 10.0;
}
static void no_normal(struct host *h)
{
    size_t f = inner_face(h);
    h->normals[3 * f] = h->normals[3 * f + 1] = h->normals[3 * f + 2] = 0.0;
}
static void inward(struct host *h)
{
    size_t f = inner_face(h);
    for (size_t d = 0; d < 3; d++)
        h->normals[3 * f + d] = -h->normals[3 * f + d];
}
static void shifted(struct host *h)
{
    size_t f = inner_face(h);
    for (size_t d = 0; d < 3; d++)
        h->on_planes[3 * f + d] *= 1.001;
}
static void other_area(struct host *h)
{
    h->areas[inner_face(h)] *= 1.001;
}
static void one_sided(struct host *h)
{
    h->behind[inner_face(h)] = 100;
}
static void self_neighbour(struct host *h)
{
    h->behind[inner_face(h)] = 20;
}
static void exposed(struct host *h)
{
    h->behind[inner_face(h)] = ~0;
}
static void beyond_cells(struct host *h)
{
    h->behind[inner_face(h)] = 1000000;
}
static void beyond_boundaries(struct host *h)
{
    for (size_t f = 0; f < h->n_faces; f++)
        h->behind[f] = h->behind[f] == ~4 ? ~6 : h->behind[f];
}
static void no_boundaries(struct host *h)
{
    h->n_boundaries = 0;
}
static void three_faces(struct host *h)
{
    h->first_face[20]++;
}
static void no_cells(struct host *h)
{
    h->n_cells = 0;
}

static const struct {
    void (*change)(struct host *h);
    const char *expected; /* NULL: it is a mesh */
} faults[] = {
    {no_fault, NULL},
    {twin_tags, "two cells have this tag"},
    {large_tag, "tags are below 2^48"},
    {no_volume, "cell 20: expected a point, a centroid, a volume"},
    {other_volume, "cell 20: its volume is"},
    {negative_volume, "cell 20: expected a point, a centroid, a volume"},
    {inside_out, "does not fit that of cell 20"},
    {no_number, "cell 20: expected a point"},
    {far_point, "cell"},
    {far_centroid, "cell 20: its centroid is outside"},
    {no_normal, "cell 20: face"},
    {inward, "does not fit that of cell"},
    {shifted, "does not fit that of cell"},
    {other_area, "does not fit that of cell"},
    {one_sided, "no face back"},
    {self_neighbour, "cell 20: face"},
    {exposed, "no face back"},
    {beyond_cells, "cell 20: face"},
    {beyond_boundaries, "boundary 6 of 6"},
    {no_boundaries, "0 boundaries"},
    {three_faces, "expected 4 to"},
    {no_cells, "0 cells"},
};

/* All ranks refuse it, and at least one logs why. */
/* On one rank at least. */
static void check_message(const char *expected)
{
    int found = strstr(message, expected) != NULL, any;
    MPI_Allreduce(&found, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (!any)
        fprintf(stderr, "%s: expected %s\n", message, expected);
    CHECK(any);
}

static void check_fault(struct storm_context *context, size_t i)
{
    const double lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1};
    struct host host = host_of_tetrahedra(3, lo, hi);
    struct storm_mesh *mesh = NULL;
    check_where("fault %d", (int)i);
    faults[i].change(&host);
    message[0] = '\0';
    storm_status status = host_give(&host, context, 1, &mesh);
    if (faults[i].expected == NULL) {
        CHECK_OK(status);
        storm_mesh_destroy(mesh);
    } else {
        CHECK(status == STORM_ERR_ARG || status == STORM_ERR_PEER);
        CHECK(mesh == NULL);
        check_message(faults[i].expected);
    }
    host_free(&host);
}

/* A mesh to replace a good one of 6 * 27 cells. */
static void used_tag(struct host *h)
{
    h->tags[20] = 19; /* was cell 19's, which has gone before */
}
static void more_boundaries(struct host *h)
{
    h->n_boundaries = 7;
}

static const struct {
    void (*change)(struct host *host);
    const char *expected;
} replaced[] = {
    {used_tag, "cell 19: there is no such cell now, but there has been"},
    {more_boundaries, "7 boundaries, expected 6 as before"},
    {other_volume, "cell 20: its volume is"},
    {negative_volume, "cell 20: expected a point, a centroid, a volume"},
    {inside_out, "does not fit that of cell 20"},
};

/* The mesh stays what it was. */
static void check_replaced(struct storm_context *context)
{
    const double lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1};
    struct host host = host_of_tetrahedra(3, lo, hi);
    struct storm_mesh *mesh, *cart;
    struct storm_change *change = NULL;
    CHECK_OK(host_give(&host, context, 1, &mesh));
    host.tags[19] = 1000; /* 19 goes */
    CHECK_OK(host_replace(&host, context, 2, mesh, &change));
    storm_change_destroy(change);
    CHECK_EQ(storm_mesh_next_tag(mesh), 1001);
    for (size_t i = 0; i < sizeof replaced / sizeof replaced[0]; i++) {
        struct host bad = host_of_tetrahedra(3, lo, hi);
        bad.tags[19] = 1000;
        replaced[i].change(&bad);
        check_where("replacement %d", (int)i);
        message[0] = '\0';
        change = NULL;
        storm_status status = host_replace(&bad, context, 3, mesh, &change);
        CHECK(status == STORM_ERR_ARG || status == STORM_ERR_PEER);
        CHECK(change == NULL);
        check_message(replaced[i].expected);
        CHECK_EQ(storm_mesh_generation(mesh), 1);
        CHECK_EQ(storm_mesh_next_tag(mesh), 1001);
        host_free(&bad);
    }
    struct storm_cart_params params = {.size = sizeof params,
                                       .hi_cm = {1, 1, 1}};
    CHECK_OK(storm_mesh_create_cart(context, &params, &cart));
    CHECK_EQ(host_replace(&host, context, 1, cart, &change), STORM_ERR_NOSUP);
    storm_mesh_destroy(cart);
    storm_mesh_destroy(mesh);
    host_free(&host);
}

int main(int argc, char **argv)
{
    struct storm_context *context;
    MPI_Init(&argc, &argv);
    struct storm_context_params params = {.size = sizeof params,
                                          .log = record_message};
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, &params, &context));
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        check_fault(context, i);
    check_replaced(context);
    struct storm_memory_entry entry = STORM_MEMORY_ENTRY_INIT;
    CHECK_OK(storm_context_memory(context, 0, &entry));
    CHECK_EQ(entry.bytes, 0);
    storm_context_destroy(context);
    MPI_Finalize();
    return CHECK_PASS;
}
