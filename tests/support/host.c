/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>

#include "mesh/voronoi/voronoi_mesh.h"
#include "support/check.h"
#include "support/dice.h"

static void *room(size_t n, size_t bytes)
{
    void *array = calloc(n + 1, bytes);
    CHECK(array != NULL);
    return array;
}

static struct host host_make(size_t n_cells, size_t max_faces)
{
    struct host h = {.n_cells = n_cells, .n_boundaries = 6};
    h.tags = room(n_cells, sizeof *h.tags);
    h.points = room(3 * n_cells, sizeof(double));
    h.volumes = room(n_cells, sizeof(double));
    h.centroids = room(3 * n_cells, sizeof(double));
    h.first_face = room(n_cells + 1, sizeof *h.first_face);
    h.normals = room(3 * max_faces, sizeof(double));
    h.on_planes = room(3 * max_faces, sizeof(double));
    h.areas = room(max_faces, sizeof(double));
    h.behind = room(max_faces, sizeof(int));
    return h;
}

void host_free(struct host *h)
{
    void *arrays[] = {h->tags,       h->points,  h->volumes,   h->centroids,
                      h->radii,      h->normals, h->on_planes, h->areas,
                      h->first_face, h->behind};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        free(arrays[i]);
}

/* ---- Voronoi ------------------------------------------------------------ */

struct host host_of_voronoi(const struct storm_mesh *mesh)
{
    size_t n = (size_t)storm_mesh_n_cells(mesh), n_faces = 0;
    double lo[3], hi[3];
    for (size_t i = 0; i < n; i++)
        n_faces += (size_t)storm_mesh_n_faces(mesh, (storm_cell_idx)i);
    struct host h = host_make(n, n_faces);
    h.radii = room(n, sizeof(double));
    storm_mesh_box(mesh, lo, hi);
    for (size_t i = 0; i < n; i++) {
        storm_cell_idx cell = (storm_cell_idx)i;
        double *p = &h.points[3 * i];
        h.tags[i] = storm_mesh_cell_id(mesh, cell);
        CHECK_OK(storm_mesh_generator(mesh, cell, p));
        h.volumes[i] = storm_mesh_volume_cm3(mesh, cell);
        storm_mesh_centre(mesh, cell, &h.centroids[3 * i]);
        h.radii[i] = voronoi_part_of(mesh)->heads[cell].radius;
        for (int k = 0; k < storm_mesh_n_faces(mesh, cell); k++) {
            struct storm_face face = STORM_FACE_INIT;
            double *to = &h.normals[3 * h.n_faces], q[3];
            CHECK_OK(storm_mesh_face(mesh, cell, k, &face));
            h.behind[h.n_faces] = face.rank < 0 ? ~face.wall : face.neighbour;
            h.areas[h.n_faces] = face.area_cm2;
            if (face.rank >= 0)
                CHECK_OK(storm_mesh_generator(mesh, face.neighbour, q));
            for (int d = 0; d < 3; d++) {
                bool wall = face.wall / 2 == d;
                to[d] = face.rank < 0 ? face.normal[d] : q[d] - p[d];
                h.on_planes[3 * h.n_faces + (size_t)d] =
                    face.rank >= 0 ? 0.5 * to[d]
                    : wall         ? (face.wall % 2 ? hi : lo)[d] - p[d]
                                   : 0.0;
            }
            h.n_faces++;
        }
        h.first_face[i + 1] = h.n_faces;
    }
    return h;
}

/* ---- tetrahedra --------------------------------------------------------- */

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int d = 0; d < 3; d++)
        out[d] =
            a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
}

/* A face of a tetrahedron: its corners in order, for a search. */
struct triangle {
    int corner[3];
    int cell, face;
};

static int by_corner(const void *left, const void *right)
{
    const struct triangle *a = left, *b = right;
    for (int k = 0; k < 3; k++)
        if (a->corner[k] != b->corner[k])
            return a->corner[k] < b->corner[k] ? -1 : 1;
    return (a->cell > b->cell) - (a->cell < b->cell);
}

/* The face of corners x[1..3], away from x[0]. */
static void tetrahedron_face(struct host *h, size_t cell, double (*x[4])[3],
                             size_t f)
{
    double a[3], b[3], in[3], n[3], side = 0.0;
    for (int d = 0; d < 3; d++) {
        a[d] = (*x[2])[d] - (*x[1])[d];
        b[d] = (*x[3])[d] - (*x[1])[d];
        in[d] = (*x[0])[d] - (*x[1])[d];
        h->on_planes[3 * f + (size_t)d] =
            ((*x[1])[d] + (*x[2])[d] + (*x[3])[d]) / 3.0 -
            h->points[3 * cell + (size_t)d];
    }
    cross(a, b, n);
    for (int d = 0; d < 3; d++)
        side += n[d] * in[d];
    h->volumes[cell] = fabs(side) / 6.0;
    h->areas[f] = 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int d = 0; d < 3; d++)
        h->normals[3 * f + (size_t)d] = side > 0.0 ? -n[d] : n[d];
}

struct host host_of_tetrahedra(int n, const double lo[3], const double hi[3])
{
    static const int paths[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    size_t n_cells = 6 * (size_t)(n * n * n);
    struct host h = host_make(n_cells, 4 * n_cells);
    struct triangle *triangles = room(4 * n_cells, sizeof *triangles);
    for (size_t c = 0; c < n_cells; c++) {
        int cube = (int)(c / 6), at[3] = {cube % n, cube / n % n, cube / n / n};
        int corner[4];
        double x[4][3];
        for (int k = 0; k < 4; k++) { /* along the path to the far corner */
            if (k > 0)
                at[paths[c % 6][k - 1]]++;
            corner[k] = (at[2] * (n + 1) + at[1]) * (n + 1) + at[0];
            for (int d = 0; d < 3; d++)
                x[k][d] = lo[d] + (hi[d] - lo[d]) * at[d] / n;
        }
        h.tags[c] = c;
        for (int d = 0; d < 3; d++)
            h.points[3 * c + (size_t)d] = h.centroids[3 * c + (size_t)d] =
                0.25 * (x[0][d] + x[1][d] + x[2][d] + x[3][d]);
        for (int k = 0; k < 4; k++) {
            double(*p[4])[3];
            struct triangle *t = &triangles[4 * c + (size_t)k];
            for (int i = 0; i < 4; i++)
                p[i] = &x[(k + i) % 4];
            tetrahedron_face(&h, c, p, 4 * c + (size_t)k);
            for (int i = 0, j = 0; i < 4; i++) /* corners grow along the path */
                if (i != k)
                    t->corner[j++] = corner[i];
            t->cell = (int)c;
            t->face = k;
        }
        h.first_face[c + 1] = 4 * (c + 1);
    }
    h.n_faces = 4 * n_cells;
    qsort(triangles, h.n_faces, sizeof *triangles, by_corner);
    for (size_t i = 0; i < h.n_faces; i++) {
        const struct triangle *t = &triangles[i], *twin = t + 1;
        size_t f = 4 * (size_t)t->cell + (size_t)t->face;
        if (i + 1 < h.n_faces &&
            memcmp(t->corner, twin->corner, sizeof t->corner) == 0) {
            h.behind[f] = twin->cell;
            h.behind[4 * (size_t)twin->cell + (size_t)twin->face] = t->cell;
            i++;
            continue;
        }
        for (int d = 0; d < 3; d++)
            if (fabs(h.normals[3 * f + (size_t)d]) > 1.9 * h.areas[f])
                h.behind[f] =
                    ~(2 * d + (h.normals[3 * f + (size_t)d] > 0.0 ? 1 : 0));
    }
    free(triangles);
    return h;
}

/* ---- boxes -------------------------------------------------------------- */

static void box_face(struct host *h, const struct host_box *box, size_t cell,
                     int side, double area, int behind)
{
    int axis = side / 2;
    double *n = &h->normals[3 * h->n_faces];
    n[axis] = side % 2 ? 2.0 : -2.0;
    h->on_planes[3 * h->n_faces + (size_t)axis] =
        (side % 2 ? box->hi[axis] : box->lo[axis]) -
        h->points[3 * cell + (size_t)axis];
    h->areas[h->n_faces] = area;
    h->behind[h->n_faces++] = behind;
}

/* The area that side `side` of box a shares with box b. */
static double box_shared(const struct host_box *a, const struct host_box *b,
                         int side)
{
    int axis = side / 2;
    double area =
        side % 2 ? a->hi[axis] == b->lo[axis] : a->lo[axis] == b->hi[axis];
    for (int k = 1; k < 3; k++) {
        int d = (axis + k) % 3;
        area *= fmax(0.0, fmin(a->hi[d], b->hi[d]) - fmax(a->lo[d], b->lo[d]));
    }
    return area;
}

struct host host_of_boxes(const struct host_box *boxes, int n,
                          int (*wall)(int i, int side), int n_boundaries)
{
    size_t n_cells = (size_t)n;
    struct host h = host_make(n_cells, n_cells * (n_cells + 6));
    h.n_boundaries = (size_t)n_boundaries;
    for (int i = 0; i < n; i++) {
        size_t c = (size_t)i;
        double width[3];
        h.tags[c] = c;
        for (int d = 0; d < 3; d++) {
            width[d] = boxes[i].hi[d] - boxes[i].lo[d];
            h.centroids[3 * c + (size_t)d] = boxes[i].lo[d] + 0.5 * width[d];
            h.points[3 * c + (size_t)d] = boxes[i].lo[d] + 0.4 * width[d];
        }
        h.volumes[c] = width[0] * width[1] * width[2];
        for (int side = 0; side < 6; side++) {
            int axis = side / 2;
            double left = width[(axis + 1) % 3] * width[(axis + 2) % 3];
            double small = 1e-9 * left;
            for (int k = 0; k < n; k++) {
                double area = box_shared(&boxes[i], &boxes[k], side);
                if (area > small)
                    box_face(&h, &boxes[i], c, side, area, k);
                left -= area;
            }
            if (left > small)
                box_face(&h, &boxes[i], c, side, left, ~wall(i, side));
        }
        h.first_face[c + 1] = h.n_faces;
    }
    return h;
}

static int brick_wall(int i, int side)
{
    (void)i;
    return side;
}

struct host host_of_bricks(const double lo[3], const double hi[3])
{
    enum { N = 3, MAX = N * N * N * 8 };
    static struct host_box boxes[MAX];
    int n = 0;
    for (int i = 0; i < N * N * N; i++) {
        const int at[3] = {i % N, i / N % N, i / N / N};
        int cut = i % 2 == 0 ? 1 : 2;
        for (int k = 0; k < cut * cut * cut; k++, n++) {
            const int part[3] = {k % cut, k / cut % cut, k / cut / cut};
            for (int d = 0; d < 3; d++) {
                double width = hi[d] - lo[d];
                int from = 2 * at[d] + part[d] * (2 / cut);
                boxes[n].lo[d] = lo[d] + width * from / (2 * N);
                boxes[n].hi[d] = lo[d] + width * (from + 2 / cut) / (2 * N);
            }
        }
    }
    return host_of_boxes(boxes, n, brick_wall, 6);
}

/* ---- give --------------------------------------------------------------- */

static int host_owner(const struct host *h, size_t cell, uint64_t salt,
                      int size)
{
    return (int)(dice_mix(h->tags[cell] * 2654435761u + salt) % (uint64_t)size);
}

/* The cells of this rank, in the order of the host. */
static void host_share(const struct host *h, uint64_t salt, int rank, int size,
                       const int *index, struct host *mine, int *ranks)
{
    for (size_t c = 0; c < h->n_cells; c++) {
        if (host_owner(h, c, salt, size) != rank)
            continue;
        size_t at = mine->n_cells++;
        mine->tags[at] = h->tags[c];
        mine->volumes[at] = h->volumes[c];
        if (h->radii != NULL)
            mine->radii[at] = h->radii[c];
        memcpy(&mine->points[3 * at], &h->points[3 * c], 3 * sizeof(double));
        memcpy(&mine->centroids[3 * at], &h->centroids[3 * c],
               3 * sizeof(double));
        for (uint64_t f = h->first_face[c]; f < h->first_face[c + 1]; f++) {
            size_t g = mine->n_faces++;
            memcpy(&mine->normals[3 * g], &h->normals[3 * f],
                   3 * sizeof(double));
            memcpy(&mine->on_planes[3 * g], &h->on_planes[3 * f],
                   3 * sizeof(double));
            mine->areas[g] = h->areas[f];
            int behind = h->behind[f];
            bool is_cell = behind >= 0 && (size_t)behind < h->n_cells;
            ranks[g] = behind < 0 ? -1
                       : is_cell  ? host_owner(h, (size_t)behind, salt, size)
                                  : rank;
            mine->behind[g] = behind < 0 ? ~behind
                              : is_cell  ? index[behind]
                                         : behind;
        }
        mine->first_face[at + 1] = mine->n_faces;
    }
}

/* Gives a share: creates the mesh, or replaces it if there is a change to
 * make. */
static storm_status host_call(const struct host *h,
                              struct storm_context *context, uint64_t salt,
                              struct storm_mesh **mesh,
                              struct storm_change **change_out)
{
    int rank = storm_context_rank(context), size = storm_context_size(context);
    int *index = room(h->n_cells, sizeof *index), *ranks;
    int *next = room((size_t)size, sizeof *next);
    struct host mine = host_make(h->n_cells, h->n_faces);
    mine.n_cells = 0;
    mine.radii = room(h->n_cells, sizeof(double));
    ranks = room(h->n_faces, sizeof *ranks);
    for (size_t c = 0; c < h->n_cells; c++)
        index[c] = next[host_owner(h, c, salt, size)]++;
    host_share(h, salt, rank, size, index, &mine, ranks);
    struct storm_given_params params = {
        .size = sizeof params,
        .n_cells = mine.n_cells,
        .n_boundaries = h->n_boundaries,
        .tags = mine.tags,
        .points_cm = mine.points,
        .volumes_cm3 = mine.volumes,
        .centroids_cm = mine.centroids,
        .radii_cm = h->radii != NULL ? mine.radii : NULL,
        .first_face = mine.first_face,
        .normals = mine.normals,
        .on_planes_cm = mine.on_planes,
        .areas_cm2 = mine.areas,
        .ranks = ranks,
        .neighbours = mine.behind,
    };
    storm_status status = change_out != NULL
                              ? storm_mesh_replace(*mesh, &params, change_out)
                              : storm_mesh_create_given(context, &params, mesh);
    host_free(&mine);
    free(ranks);
    free(index);
    free(next);
    return status;
}

storm_status host_give(const struct host *h, struct storm_context *context,
                       uint64_t salt, struct storm_mesh **mesh_out)
{
    return host_call(h, context, salt, mesh_out, NULL);
}

storm_status host_replace(const struct host *h, struct storm_context *context,
                          uint64_t salt, struct storm_mesh *mesh,
                          struct storm_change **change_out)
{
    return host_call(h, context, salt, &mesh, change_out);
}
