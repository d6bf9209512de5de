/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Polyhedra of given cells: each face is cut out of its plane by the others;
 * corners closer than rounding can tell apart are one (POLYHEDRON-1 to 3 of
 * Voronoi meshes). Faces that lie in one plane are one.
 */
#include <math.h>
#include <string.h>

#include "mesh/given/given_mesh.h"

static const char polyhedron_label[] = "mesh polyhedra";

/* Corners are accurate to the square root of rounding errors where planes meet
 * at small angles. */
static const double polyhedron_same = 0x1p-26;

struct given_polyhedra {
    struct storm_polyhedra base;
    double (*corners)[3];
    size_t n_corners, corners_capacity;
    int32_t *faces;
    size_t n_words, words_capacity;
};

static storm_status polyhedra_open(const struct storm_mesh *mesh,
                                   struct storm_polyhedra **polyhedra_out)
{
    struct given_polyhedra *p =
        storm_alloc(mesh->env->memory, polyhedron_label, sizeof *p);
    if (p == NULL)
        return STORM_ERR_NOMEM;
    *polyhedra_out = &p->base;
    return STORM_OK;
}

static void polyhedra_close(struct storm_polyhedra *polyhedra)
{
    struct given_polyhedra *p = (struct given_polyhedra *)polyhedra;
    struct storm_memory *memory = polyhedra->mesh->env->memory;
    storm_free(memory, p->corners);
    storm_free(memory, p->faces);
    storm_free(memory, p);
}

/* The number of a corner; that of an earlier one at the same place. Room has
 * been made. */
static int32_t polyhedron_corner(struct given_polyhedra *p, const double x[3],
                                 double same2)
{
    size_t i = 0;
    for (; i < p->n_corners; i++) {
        double a = p->corners[i][0] - x[0], b = p->corners[i][1] - x[1],
               c = p->corners[i][2] - x[2];
        if (a * a + b * b + c * c <= same2)
            break;
    }
    if (i == p->n_corners)
        memcpy(p->corners[p->n_corners++], x, 3 * sizeof *x);
    return (int32_t)i;
}

static storm_status polyhedron_room(struct given_polyhedra *p, size_t n)
{
    struct storm_memory *memory = p->base.mesh->env->memory;
    void *corners = p->corners, *faces = p->faces;
    storm_status status =
        storm_reserve(memory, polyhedron_label, sizeof *p->corners,
                      p->n_corners + n, &corners, &p->corners_capacity);
    p->corners = corners;
    if (status >= 0)
        status = storm_reserve(memory, polyhedron_label, sizeof *p->faces,
                               p->n_words + n + 1, &faces, &p->words_capacity);
    p->faces = faces;
    return status;
}

/* Adds the face in a plane; false in *is_face_out: it has no three corners. */
static storm_status polyhedron_face(struct given_polyhedra *p,
                                    const struct given_head *head,
                                    const struct storm_planes *planes, size_t i,
                                    bool *is_face_out)
{
    double corners[planes->n + 8][3];
    int n = storm_planes_corners(planes, i, corners);
    double same = polyhedron_same * (double)head->radius;
    storm_status status = polyhedron_room(p, (size_t)n);
    *is_face_out = false;
    if (status < 0)
        return status;
    int32_t *face = &p->faces[p->n_words + 1], n_face = 0;
    for (int c = 0; c < n; c++) {
        double x[3];
        for (int d = 0; d < 3; d++)
            x[d] = head->point[d] + corners[c][d];
        int32_t corner = polyhedron_corner(p, x, same * same);
        if (n_face == 0 || face[n_face - 1] != corner)
            face[n_face++] = corner;
    }
    while (n_face > 1 && face[0] == face[n_face - 1])
        n_face--;
    if (n_face < 3)
        return STORM_OK;
    face[-1] = n_face;
    p->n_words += (size_t)n_face + 1;
    *is_face_out = true;
    return STORM_OK;
}

static storm_status polyhedra_build(struct storm_polyhedra *polyhedra,
                                    storm_cell_idx cell,
                                    struct storm_polyhedron *polyhedron_out)
{
    struct given_polyhedra *p = (struct given_polyhedra *)polyhedra;
    const struct given_part *part = given_part_of(polyhedra->mesh);
    size_t n_faces =
        (size_t)(part->first_face[cell + 1] - part->first_face[cell]);
    struct storm_plane array[n_faces + 1];
    struct storm_planes planes = given_planes(part, (size_t)cell, array);
    size_t n = 0;
    p->n_corners = p->n_words = 0;
    for (size_t i = 0; i < planes.n; i++) {
        bool is_face;
        storm_status status =
            polyhedron_face(p, &part->heads[cell], &planes, i, &is_face);
        if (status < 0)
            return status;
        n += is_face;
    }
    polyhedron_out->n_corners = p->n_corners;
    polyhedron_out->corners_cm = (const double(*)[3])p->corners;
    polyhedron_out->n_faces = n;
    polyhedron_out->faces = p->faces;
    polyhedron_out->n_words = p->n_words;
    return STORM_OK;
}

static storm_status polyhedra_generator(const struct storm_mesh *mesh,
                                        storm_cell_idx cell,
                                        double generator_cm_out[3])
{
    (void)mesh;
    (void)cell;
    (void)generator_cm_out;
    return STORM_ERR_NOSUP;
}

const struct storm_mesh_shape given_shape = {
    .boxes = false,
    .generator = polyhedra_generator,
    .unwrap = storm_no_unwrap,
    .open = polyhedra_open,
    .build = polyhedra_build,
    .close = polyhedra_close,
};
