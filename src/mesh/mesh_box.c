/* SPDX-License-Identifier: BSD-3-Clause */
/* The polyhedra of cells that are boxes. */
#include "mesh/mesh_axis_sample.h"
#include "mesh/mesh_ops.h"

static const char box_label[] = "mesh polyhedra";

enum { BOX_CORNERS = 8, BOX_FACES = 6 };

struct box_polyhedra {
    struct storm_polyhedra base;
    double corners[BOX_CORNERS][3];
};

/* Which end of each direction a corner is at, in the order of a hexahedron. */
static const int box_ends[BOX_CORNERS][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0},
                                             {0, 1, 0}, {0, 0, 1}, {1, 0, 1},
                                             {1, 1, 1}, {0, 1, 1}};

/* Number of corners, then the corners, anticlockwise as seen from outside. */
static const int32_t box_faces[BOX_FACES][5] = {
    {4, 0, 3, 2, 1}, {4, 4, 5, 6, 7}, {4, 0, 1, 5, 4},
    {4, 3, 7, 6, 2}, {4, 0, 4, 7, 3}, {4, 1, 2, 6, 5}};

static storm_status box_generator(const struct storm_mesh *mesh,
                                  storm_cell_idx cell,
                                  double generator_cm_out[3])
{
    (void)mesh;
    (void)cell;
    (void)generator_cm_out;
    return STORM_ERR_NOSUP;
}

static storm_status box_open(const struct storm_mesh *mesh,
                             struct storm_polyhedra **polyhedra_out)
{
    struct box_polyhedra *boxes =
        storm_alloc(mesh->env->memory, box_label, sizeof *boxes);
    if (boxes == NULL)
        return STORM_ERR_NOMEM;
    *polyhedra_out = &boxes->base;
    return STORM_OK;
}

static storm_status box_build(struct storm_polyhedra *polyhedra,
                              storm_cell_idx cell,
                              struct storm_polyhedron *polyhedron_out)
{
    struct box_polyhedra *boxes = (struct box_polyhedra *)polyhedra;
    double bounds[2][3];
    polyhedra->mesh->ops->bounds(polyhedra->mesh, cell, bounds[0], bounds[1]);
    for (int i = 0; i < BOX_CORNERS; i++)
        for (int d = 0; d < 3; d++)
            boxes->corners[i][d] = bounds[box_ends[i][d]][d];
    polyhedron_out->n_corners = BOX_CORNERS;
    polyhedron_out->corners_cm = (const double(*)[3])boxes->corners;
    polyhedron_out->n_faces = BOX_FACES;
    polyhedron_out->faces = &box_faces[0][0];
    polyhedron_out->n_words = sizeof box_faces / sizeof box_faces[0][0];
    return STORM_OK;
}

static void box_close(struct storm_polyhedra *polyhedra)
{
    storm_free(polyhedra->mesh->env->memory, polyhedra);
}

void storm_box_sample_face(const struct storm_mesh *mesh, storm_cell_idx cell,
                           int face, const double u[2], double point_cm_out[3])
{
    struct storm_face side = STORM_FACE_INIT;
    double bounds[2][3];
    mesh->ops->bounds(mesh, cell, bounds[0], bounds[1]);
    mesh->ops->face(mesh, cell, face, &side);
    axis_sample_face(bounds[0], bounds[1], side.normal, u, point_cm_out);
}

const struct storm_mesh_shape storm_mesh_boxes = {
    .boxes = true,
    .generator = box_generator,
    .unwrap = storm_no_unwrap,
    .open = box_open,
    .build = box_build,
    .close = box_close,
};
