/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flight through cells that are boxes, for examples with a physics of their own
 * on a bundled Cartesian mesh: where a packet leaves its cell, and what is
 * there.
 */
#ifndef STORM_EXAMPLES_BOXES_H
#define STORM_EXAMPLES_BOXES_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>
#include <storm/engine.h>
#include <storm/mesh.h>
#include <storm/packet.h>

/* A cell. Sides are numbered like walls: x low, x high, y low, ... */
struct box {
    double lo[3], hi[3];
    struct storm_face side[STORM_N_WALLS];
};

/* A mesh of boxes, this rank's cells, and an engine. */
struct boxes {
    struct storm_context *context;
    struct storm_mesh *mesh;
    struct storm_engine *engine;
    struct box *cells;
    int rank;
    unsigned mirrors; /* bit i: wall i reflects */
};

static storm_status boxes_list(struct boxes *boxes)
{
    storm_cell_idx n = storm_mesh_n_cells(boxes->mesh);
    struct box *cells = calloc((size_t)n + 1, sizeof *cells);
    storm_status status = cells ? STORM_OK : STORM_ERR_NOMEM;
    boxes->cells = cells;
    for (storm_cell_idx i = 0; i < n && status >= 0; i++) {
        storm_mesh_bounds(boxes->mesh, i, cells[i].lo, cells[i].hi);
        for (int f = 0; f < STORM_N_WALLS && status >= 0; f++) {
            struct storm_face face = STORM_FACE_INIT;
            status = storm_mesh_face(boxes->mesh, i, f, &face);
            for (int d = 0; d < 3; d++)
                if (fabs(face.normal[d]) > 0.5)
                    cells[i].side[2 * d + (face.normal[d] > 0.0)] = face;
        }
    }
    return storm_context_agree(boxes->context, status);
}

/* Collective; the caller has set context and mirrors. Close it also after an
 * error. */
static storm_status boxes_open(struct boxes *boxes,
                               const struct storm_cart_params *cart,
                               const struct storm_physics *physics)
{
    struct storm_engine_params params = STORM_ENGINE_PARAMS_INIT;
    params.record_bytes = physics->record_bytes;
    params.physics = physics;
    boxes->rank = storm_context_rank(boxes->context);
    storm_status status =
        storm_mesh_create_cart(boxes->context, cart, &boxes->mesh);
    if (status >= 0)
        status = boxes_list(boxes);
    if (status >= 0)
        status = storm_engine_create(boxes->context, &params, &boxes->engine);
    return status;
}

static void boxes_close(struct boxes *boxes)
{
    storm_engine_destroy(boxes->engine);
    free(boxes->cells);
    storm_mesh_destroy(boxes->mesh);
}

/* Length of the path to the side through which the packet leaves its cell. */
static double box_exit(const struct box *box, const struct storm_packet *packet,
                       int *side_out)
{
    double min = INFINITY;
    *side_out = 0;
    for (int d = 0; d < 3; d++) {
        double u = packet->direction[d];
        if (u == 0.0)
            continue;
        double wall = u > 0.0 ? box->hi[d] : box->lo[d];
        double path = fmax((wall - packet->position_cm[d]) / u, 0.0);
        if (path < min) {
            min = path;
            *side_out = 2 * d + (u > 0.0);
        }
    }
    return min;
}

/* Length of the path to where a packet leaves a sphere around the origin. */
static double sphere_exit(double radius, const struct storm_packet *packet)
{
    double along = 0.0, square = 0.0;
    if (isinf(radius))
        return INFINITY;
    for (int d = 0; d < 3; d++) {
        along += packet->position_cm[d] * packet->direction[d];
        square += packet->position_cm[d] * packet->position_cm[d];
    }
    double root = along * along + radius * radius - square;
    return fmax(sqrt(fmax(root, 0.0)) - along, 0.0);
}

static void box_move(struct storm_packet *packet, double path)
{
    for (int d = 0; d < 3; d++)
        packet->position_cm[d] += path * packet->direction[d];
}

/* The packet is on a side: into the neighbour, back, or to the boundary. */
static void box_cross(const struct boxes *boxes, struct storm_packet *packet,
                      int side, struct storm_outcome *outcome_out)
{
    const struct box *box = &boxes->cells[packet->cell_idx];
    const struct storm_face *face = &box->side[side];
    int d = side / 2;
    packet->position_cm[d] = side % 2 ? box->hi[d] : box->lo[d];
    if (face->rank >= 0) {
        packet->cell_idx = face->neighbour;
        outcome_out->rank = face->rank;
        if (face->rank != boxes->rank)
            outcome_out->fate = STORM_FATE_SEND;
    } else if (boxes->mirrors >> face->wall & 1u) {
        packet->direction[d] = -packet->direction[d];
    } else {
        outcome_out->fate = STORM_FATE_BOUNDARY; /* it escapes */
    }
}

/* Mean of batches and its standard error. */
static double mean_of(const double *batch, int n, double *error_out)
{
    double mean = 0.0, square = 0.0;
    for (int i = 0; i < n; i++)
        mean += batch[i] / n;
    for (int i = 0; i < n; i++)
        square += (batch[i] - mean) * (batch[i] - mean);
    *error_out = sqrt(square / ((double)n * (n - 1)));
    return mean;
}

/* Folds the bits of a result into a hash. */
static uint64_t hash_of(uint64_t hash, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

#endif /* STORM_EXAMPLES_BOXES_H */
