/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3; timeout: 30 */
/*
 * Free streaming on given meshes of shapes that no other kind has: a cube next
 * to four small ones, of which one is missing (GIVEN-2: the point of a plane
 * decides what is behind it), and a domain like an L, which is not convex.
 *
 * Every packet that leaves is on the boundary that its straight line meets
 * first, by brute force over the surface, and its face is part of it; every one
 * that stays is where its line ends, in the cell that contains it. Next to
 * many small cubes, the numbers of faces of the large one are not theirs.
 */
#include <math.h>
#include <stdio.h>

#include <storm/context.h>
#include <storm/engine.h>
#include <storm/streaming.h>

#include "support/check.h"
#include "support/dice.h"
#include "support/host.h"

/* Cells 1 to 3 are small ones; the fourth is missing. */
static const struct host_box fours[] = {
    {{0, 0, 0}, {1, 1, 1}},
    {{1, 0, 0}, {1.5, 0.5, 0.5}},
    {{1, 0.5, 0}, {1.5, 1, 0.5}},
    {{1, 0, 0.5}, {1.5, 0.5, 1}},
};
static const struct host_box ells[] = {
    {{0, 0, 0}, {1, 1, 1}},
    {{1, 0, 0}, {2, 1, 1}},
    {{0, 1, 0}, {1, 2, 1}},
};

/* A cube and sixteen small ones on one side of it. */
enum { MANY = 17 };
static void many_make(struct host_box boxes_out[MANY])
{
    boxes_out[0] = (struct host_box){{0, 0, 0}, {1, 1, 1}};
    for (int i = 0; i + 1 < MANY; i++) {
        double y = 0.25 * (i % 4), z = 0.25 * (i / 4);
        boxes_out[1 + i] =
            (struct host_box){{1, y, z}, {1.25, y + 0.25, z + 0.25}};
    }
}

/* A number of its own for each exposed side of each box. */
static int wall_of(int i, int side)
{
    return 6 * i + side;
}

struct shape {
    const struct host_box *boxes;
    int n;
};

/* The box that contains the point, its surface included; -1: none. */
static int box_at(const struct shape *s, const double x[3])
{
    for (int i = 0; i < s->n; i++) {
        bool inside = true;
        for (int d = 0; d < 3; d++)
            inside = inside && x[d] >= s->boxes[i].lo[d] &&
                     x[d] <= s->boxes[i].hi[d];
        if (inside)
            return i;
    }
    return -1;
}

/* Follows the line in small steps to where it leaves: distance, or `far`. */
static double brute(const struct shape *s, const double x[3], const double u[3],
                    double far)
{
    const double step = 1e-3;
    for (double t = 0.0; t < far; t += step) {
        double y[3] = {x[0] + t * u[0], x[1] + t * u[1], x[2] + t * u[2]};
        if (box_at(s, y) < 0)
            return t;
    }
    return far;
}

struct world {
    struct storm_context *context;
    struct storm_mesh *mesh;
    struct storm_streaming *streaming;
    struct storm_engine *engine;
};

/* The boundary of a mesh of boxes. */
struct surface {
    const struct world *world;
    const struct shape *shape;
};

/* The packet is on the side of the box that its face is part of. */
static void surface_apply(void *self, struct storm_step *step, void *packet,
                          struct storm_outcome *outcome_out)
{
    const struct surface *surface = self;
    const struct storm_mesh *mesh = surface->world->mesh;
    const struct storm_packet *p = packet;
    struct storm_face face = STORM_FACE_INIT;
    CHECK((int)p->face < storm_mesh_n_faces(mesh, p->cell_idx));
    CHECK_OK(storm_mesh_face(mesh, p->cell_idx, (int)p->face, &face));
    CHECK_EQ(face.wall / 6, (int)p->cell);
    const struct host_box *box = &surface->shape->boxes[p->cell];
    int side = face.wall % 6;
    double at = side % 2 ? box->hi[side / 2] : box->lo[side / 2];
    CHECK(fabs(p->position_cm[side / 2] - at) < 1e-12);
    storm_streaming_escape(surface->world->streaming, step, packet,
                           outcome_out);
}

static struct world world_open(const struct host *host, uint64_t salt)
{
    struct world w;
    struct storm_streaming_params params = {
        .size = sizeof params, .speed_cm_s = 1.0, .dt_s = 0.4, .seed = 1};
    struct storm_engine_params engine = {
        .size = sizeof engine, .record_bytes = sizeof(struct storm_packet)};
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &w.context));
    CHECK_OK(host_give(host, w.context, salt, &w.mesh));
    CHECK_OK(storm_streaming_create(w.context, w.mesh, &params, &w.streaming));
    CHECK_OK(storm_engine_create(w.context, &engine, &w.engine));
    CHECK_OK(storm_streaming_attach(w.streaming, w.engine));
    return w;
}

static void world_close(struct world *w)
{
    storm_engine_destroy(w->engine);
    storm_streaming_destroy(w->streaming);
    storm_mesh_destroy(w->mesh);
    storm_context_destroy(w->context);
}

static void check_shape(const struct shape *s, uint64_t salt)
{
    enum { N = 1000 };
    struct host host = host_of_boxes(s->boxes, s->n, wall_of, 6 * s->n);
    struct world w = world_open(&host, salt);
    struct surface surface = {&w, s};
    const struct storm_boundary boundary = {
        .size = sizeof boundary, .self = &surface, .apply = surface_apply};
    CHECK_OK(storm_engine_use(w.engine, NULL, &boundary, NULL));
    struct dice dice = dice_make(11, 0);
    double left = 0.0, energy[4], error;
    int rank = storm_context_rank(w.context);
    for (int i = 0; i < N; i++) {
        int box = i % 2 ? 0 : (int)dice_roll(&dice, (uint64_t)s->n);
        struct storm_packet p = {.id = {.lo = (uint64_t)i},
                                 .cell = (storm_cell_id)box,
                                 .cell_idx = -1,
                                 .weight_erg = 1.0,
                                 .birth_weight_erg = 1.0};
        double v[2];
        for (int d = 0; d < 3; d++)
            p.position_cm[d] = s->boxes[box].lo[d] +
                               (s->boxes[box].hi[d] - s->boxes[box].lo[d]) *
                                   ((double)(dice_word(&dice) >> 11) * 0x1p-53);
        for (int d = 0; d < 2; d++)
            v[d] = (double)(dice_word(&dice) >> 11) * 0x1p-53;
        storm_isotropic(v[0], v[1], p.direction);
        if (i % 2) { /* through the side that has several faces */
            p.position_cm[0] = 0.8 + 0.2 * p.position_cm[0];
            p.direction[0] = fabs(p.direction[0]);
        }
        double t = brute(s, p.position_cm, p.direction, 0.41);
        if (fabs(t - 0.4) < 2e-3) /* too close to say */
            continue;
        left += t < 0.4;
        if (rank == 0)
            CHECK_OK(storm_streaming_add(w.streaming, w.engine, &p));
    }
    CHECK_OK(storm_engine_step(w.engine));
    CHECK_OK(storm_streaming_balance(w.streaming, w.engine, energy, &error));
    CHECK(error == 0.0);
    CHECK(energy[2] == left);
    CHECK(left > 20 && energy[3] > 20);
    size_t n;
    void *const *packets = storm_engine_packets(w.engine, &n);
    for (size_t i = 0; i < n; i++) {
        const struct storm_packet *p = packets[i];
        CHECK_EQ((int)p->cell, box_at(s, p->position_cm));
    }
    world_close(&w);
    host_free(&host);
}

/* Points outside of the L but in the box around it are in no cell. */
static void check_outside(void)
{
    const struct shape ell = {ells, 3};
    struct host host = host_of_boxes(ells, 3, wall_of, 18);
    struct world w = world_open(&host, 0);
    struct storm_cell_ref where;
    const double points[4][3] = {
        {1.5, 1.5, 0.5}, {2.5, 0.5, 0.5}, {0.5, 0.5, 0.5}, {1, 1, 0.5}};
    for (int i = 0; i < 4; i++) {
        storm_status status = storm_mesh_locate(w.mesh, points[i], &where);
        int found =
            status == STORM_OK && where.rank == storm_context_rank(w.context);
        MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT, MPI_SUM,
                      MPI_COMM_WORLD);
        CHECK_EQ(found, i < 2 ? 0 : 1);
        if (i == 1 || (i == 0 && storm_context_size(w.context) == 1))
            CHECK_EQ(status, STORM_ERR_ARG);
        if (status == STORM_OK && where.rank == storm_context_rank(w.context))
            CHECK_EQ((int)storm_mesh_cell_id(w.mesh, where.idx),
                     box_at(&ell, points[i]));
    }
    world_close(&w);
    host_free(&host);
}

int main(int argc, char **argv)
{
    struct host_box boxes[MANY];
    const struct shape four = {fours, 4}, ell = {ells, 3}, many = {boxes, MANY};
    many_make(boxes);
    MPI_Init(&argc, &argv);
    for (uint64_t salt = 0; salt < 3; salt++) {
        check_where("four, salt %d", (int)salt);
        check_shape(&four, salt);
        check_where("ell, salt %d", (int)salt);
        check_shape(&ell, salt);
        check_where("many, salt %d", (int)salt);
        check_shape(&many, salt);
    }
    check_where("outside");
    check_outside();
    MPI_Finalize();
    return CHECK_PASS;
}
