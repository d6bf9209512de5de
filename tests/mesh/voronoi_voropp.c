/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; timeout: 240; label: slow-asan */
/*
 * VMESH-1, MESH-10: our cells against those of voro++: the same neighbours, but
 * for faces smaller than 1e-10 of the cell's surface; the same volumes and
 * areas; never more than 1100 bytes a cell. Prints how long both took for
 * volumes, centroids, neighbours, areas and normals of all cells. Skipped
 * without voro++.
 */
#include <time.h>

#include "voronoi_check.h"
#include "voropp/voropp.h"

static const double min_face = 1e-10; /* of the cell's surface */
/* Cells of voro++ that are cut from far larger ones have errors: volumes up to
 * 1e-7 in the clusters here. */
static const double tolerance = 1e-6;

/* Per cell, during the build: all face data, and scratch. */
enum { max_bytes = 1100 };

struct compare {
    const struct storm_mesh *mesh;
    const struct point_set *set;
    storm_cell_idx *cell_of; /* by point */
    int *mark;               /* by cell: place among the faces + 1 */
    uint64_t n_faces, n_tiny;
};

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double surface(const struct storm_mesh *mesh, storm_cell_idx cell)
{
    double sum = 0.0;
    for (int k = 0; k < storm_mesh_n_faces(mesh, cell); k++) {
        struct storm_face face = STORM_FACE_INIT;
        storm_mesh_face(mesh, cell, k, &face);
        sum += face.area_cm2;
    }
    return sum;
}

/* Their faces must be ours, with the same area, unless they are tiny. */
static bool compare_cell(void *self, int i, const struct voropp_cell *theirs)
{
    struct compare *c = self;
    storm_cell_idx cell = c->cell_of[i];
    double all = surface(c->mesh, cell), walls[STORM_N_WALLS] = {0};
    double volume = storm_mesh_volume_cm3(c->mesh, cell);
    check_where("point %d, cell %d", i, (int)cell);
    CHECK(fabs(volume - theirs->volume) <= tolerance * volume);
    int n_ours = storm_mesh_n_faces(c->mesh, cell), n_matched = 0;
    for (int k = 0; k < n_ours; k++) {
        struct storm_face face = STORM_FACE_INIT;
        storm_mesh_face(c->mesh, cell, k, &face);
        if (face.rank < 0)
            walls[face.wall] = face.area_cm2;
        else
            c->mark[face.neighbour] = k + 1;
    }
    for (int k = 0; k < theirs->n_faces; k++) {
        int who = theirs->neighbours[k];
        double ours = 0.0;
        if (who < 0) { /* their walls are -1 .. -6, ours 0 .. 5 */
            ours = walls[-1 - who];
            n_matched += ours > 0.0;
        } else if (c->mark[c->cell_of[who]] > 0) {
            struct storm_face face = STORM_FACE_INIT;
            storm_mesh_face(c->mesh, cell, c->mark[c->cell_of[who]] - 1, &face);
            ours = face.area_cm2;
            c->mark[c->cell_of[who]] = -1;
            n_matched++;
        }
        CHECK(fabs(ours - theirs->areas[k]) <= tolerance * all);
        CHECK(ours > 0.0 || theirs->areas[k] < min_face * all);
        c->n_tiny += !(ours > 0.0);
        c->n_faces++;
    }
    for (int k = 0; k < n_ours; k++) {
        struct storm_face face = STORM_FACE_INIT;
        storm_mesh_face(c->mesh, cell, k, &face);
        if (face.rank < 0)
            continue;
        if (c->mark[face.neighbour] > 0) { /* ours alone */
            CHECK(face.area_cm2 < min_face * all);
            c->n_tiny++;
            n_matched++;
        }
        c->mark[face.neighbour] = 0;
    }
    CHECK_EQ(n_matched, n_ours);
    return true;
}

static bool ignore(void *self, int i, const struct voropp_cell *cell)
{
    (void)self;
    (void)i;
    (void)cell;
    return true;
}

static struct point_set make_set(const char *kind, int n)
{
    struct point_set set = set_make(n);
    struct storm_points_params params = {.size = sizeof params,
                                         .seed = 1,
                                         .n_total = (uint64_t)n,
                                         .hi_cm = {1, 1, 1}};
    if (strcmp(kind, "clustered") == 0)
        params.kind = STORM_POINTS_CLUSTERED;
    CHECK_OK(storm_points_make(&params, 0, (uint64_t)n, &set.x[0][0]));
    return set;
}

static void check_kind(struct storm_context *context, const char *kind, int n)
{
    struct storm_mesh *mesh;
    struct point_set set = make_set(kind, n);
    double theirs, ours = -cpu_seconds();
    CHECK_OK(set_mesh(context, &set, 0, &mesh));
    ours += cpu_seconds();
    struct compare compare = {.mesh = mesh, .set = &set};
    compare.cell_of = malloc((size_t)n * sizeof *compare.cell_of);
    compare.mark = calloc((size_t)n, sizeof *compare.mark);
    for (int i = 0; i < n; i++) {
        struct storm_cell_ref where;
        CHECK_OK(storm_mesh_locate(mesh, set.x[i], &where));
        compare.cell_of[i] = where.idx;
    }
    voropp_cells(n, &set.x[0][0], set.lo, set.hi, compare_cell, &compare,
                 &theirs);
    struct storm_memory_entry entry = STORM_MEMORY_ENTRY_INIT;
    CHECK_OK(storm_context_memory(context, 0, &entry));
    CHECK(entry.peak_bytes < (size_t)n * max_bytes);
    printf("%d %s points: %llu faces, %llu tiny ones differ; %.0f cells/s, "
           "voro++ %.0f: ratio %.2f; %.0f bytes a cell, at most %.0f\n",
           n, kind, (unsigned long long)compare.n_faces,
           (unsigned long long)compare.n_tiny, n / ours, n / theirs,
           theirs / ours, (double)entry.bytes / n,
           (double)entry.peak_bytes / n);
    storm_mesh_destroy(mesh);
    free(compare.cell_of);
    free(compare.mark);
    free(set.x);
}

/* Arguments: kind and number of points, or none. */
int main(int argc, char **argv)
{
    const double box[6] = {0, 0, 0, 1, 1, 1}, point[3] = {0.5, 0.5, 0.5};
    struct storm_context *context;
    double seconds;
    if (!voropp_cells(1, point, box, box + 3, ignore, NULL, &seconds))
        return CHECK_SKIP;
    MPI_Init(&argc, &argv);
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &context));
    if (argc > 2) {
        check_kind(context, argv[1], atoi(argv[2]));
    } else {
        /* the larger one last: the peak is that of the context */
        check_kind(context, "clustered", 10000);
        check_kind(context, "uniform", 20000);
    }
    storm_context_destroy(context);
    MPI_Finalize();
    return CHECK_PASS;
}
