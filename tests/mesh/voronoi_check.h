/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Voronoi meshes of point sets in tests: checks for every mesh, and a hash of
 * all its geometry.
 */
#ifndef TESTS_MESH_VORONOI_CHECK_H
#define TESTS_MESH_VORONOI_CHECK_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>
#include <storm/voronoi.h>

#include "base/hash.h"
#include "support/check.h"
#include "support/dice.h"

struct point_set {
    double lo[3], hi[3];
    bool periodic[3];
    int n;
    double (*x)[3];
};

static inline double set_uniform(struct dice *dice)
{
    return ((double)(dice_word(dice) >> 11) + 0.5) * 0x1p-53;
}

/* n points of the unit cube, to be filled in. */
static inline struct point_set set_make(int n)
{
    struct point_set set = {.hi = {1, 1, 1}, .n = n};
    set.x = malloc((size_t)n * sizeof *set.x);
    CHECK(set.x != NULL);
    return set;
}

/* Every rank of the context gives every size-th point. */
static inline storm_status set_mesh(struct storm_context *context,
                                    const struct point_set *set, uint32_t lloyd,
                                    struct storm_mesh **mesh_out)
{
    double(*mine)[3] = malloc((size_t)set->n * sizeof *mine);
    struct storm_voronoi_params params = {.size = sizeof params,
                                          .lloyd = lloyd};
    int n = 0;
    for (int i = storm_context_rank(context); i < set->n;
         i += storm_context_size(context))
        memcpy(mine[n++], set->x[i], sizeof *mine);
    memcpy(params.lo_cm, set->lo, sizeof set->lo);
    memcpy(params.hi_cm, set->hi, sizeof set->hi);
    memcpy(params.periodic, set->periodic, sizeof set->periodic);
    params.points_cm = &mine[0][0];
    params.n_points = (uint64_t)n;
    storm_status status = storm_mesh_create_voronoi(context, &params, mesh_out);
    free(mine);
    return status;
}

/* A compensated sum. */
struct long_sum {
    double sum, rest;
};

static inline void long_sum_add(struct long_sum *s, double x)
{
    double sum = s->sum + x;
    double part = sum - s->sum;
    s->rest += (s->sum - (sum - part)) + (x - part);
    s->sum = sum;
}

/* Is there exactly one face from b to a, like f but from the other side; and no
 * other from b to a, unless there are images of a? */
static inline bool set_leads_back(const struct storm_mesh *mesh,
                                  const struct point_set *set, storm_cell_idx a,
                                  const struct storm_face *f)
{
    bool has_images = set->periodic[0] || set->periodic[1] || set->periodic[2];
    int n_like = 0, n_all = 0;
    for (int k = 0; k < storm_mesh_n_faces(mesh, f->neighbour); k++) {
        struct storm_face g = STORM_FACE_INIT;
        storm_mesh_face(mesh, f->neighbour, k, &g);
        if (g.rank < 0 || g.neighbour != a)
            continue;
        n_all++;
        n_like += memcmp(&g.area_cm2, &f->area_cm2, sizeof g.area_cm2) == 0 &&
                  g.normal[0] == -f->normal[0] &&
                  g.normal[1] == -f->normal[1] && g.normal[2] == -f->normal[2];
    }
    return n_like == 1 && (n_all == 1 || has_images);
}

/* A mesh of one rank: volumes add up, cells are closed, faces are mutual, all
 * to `tolerance`. Returns the number of faces. */
static inline size_t set_check(const struct storm_mesh *mesh,
                               const struct point_set *set, double tolerance)
{
    struct long_sum volume = {0};
    size_t n_faces = 0;
    double worst = 0.0;
    CHECK_EQ(storm_mesh_n_cells(mesh), set->n);
    for (storm_cell_idx i = 0; i < set->n; i++) {
        double closure[3] = {0}, surface = 0.0;
        CHECK(storm_mesh_volume_cm3(mesh, i) > 0.0);
        long_sum_add(&volume, storm_mesh_volume_cm3(mesh, i));
        for (int k = 0; k < storm_mesh_n_faces(mesh, i); k++) {
            struct storm_face face = STORM_FACE_INIT;
            storm_mesh_face(mesh, i, k, &face);
            CHECK(face.area_cm2 > 0.0);
            CHECK(face.rank < 0 || set_leads_back(mesh, set, i, &face));
            CHECK(face.rank >= 0 || !set->periodic[face.wall / 2]);
            surface += face.area_cm2;
            for (int d = 0; d < 3; d++)
                closure[d] += face.area_cm2 * face.normal[d];
            n_faces++;
        }
        for (int d = 0; d < 3; d++)
            worst = fmax(worst, fabs(closure[d]) / surface);
    }
    double box = (set->hi[0] - set->lo[0]) * (set->hi[1] - set->lo[1]) *
                 (set->hi[2] - set->lo[2]);
    double error = fabs(volume.sum + volume.rest - box) / box;
    printf("  %d cells, %.2f faces each, volume off by %.1e, closure %.1e\n",
           set->n, (double)n_faces / set->n, error, worst);
    CHECK(error <= tolerance);
    CHECK(worst <= tolerance);
    return n_faces;
}

/* All geometry, in any order of cells. Collective over the mesh's ranks. */
static inline uint64_t set_hash(const struct storm_mesh *mesh, MPI_Comm comm)
{
    uint64_t sum = 0, total;
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++) {
        double centre[3];
        uint64_t hash = storm_hash_fold(0, storm_mesh_cell_id(mesh, i));
        hash = storm_hash_fold_real(hash, storm_mesh_volume_cm3(mesh, i));
        storm_mesh_centre(mesh, i, centre);
        for (int d = 0; d < 3; d++)
            hash = storm_hash_fold_real(hash, centre[d]);
        for (int k = 0; k < storm_mesh_n_faces(mesh, i); k++) {
            struct storm_face face = STORM_FACE_INIT;
            storm_mesh_face(mesh, i, k, &face);
            hash = storm_hash_fold_real(hash, face.area_cm2);
            hash = storm_hash_fold(hash, (uint64_t)face.wall);
            for (int d = 0; d < 3; d++)
                hash = storm_hash_fold_real(hash, face.normal[d]);
        }
        sum += hash;
    }
    MPI_Allreduce(&sum, &total, 1, MPI_UINT64_T, MPI_SUM, comm);
    return total;
}

#endif /* TESTS_MESH_VORONOI_CHECK_H */
