/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3; timeout: 60 */
/*
 * MESH-12 and POLYHEDRON-1, POLYHEDRON-2, POLYHEDRON-3, POLYHEDRON-4 through
 * the public calls, for boxes and Voronoi cells: polyhedra are closed, with the
 * volume and faces that the mesh has, exactly on the walls, and the same bits
 * on any number of ranks. Also where many cells meet in one corner. And the
 * generators of Voronoi cells.
 */
#include "support/cuts.h"
#include "support/host.h"
#include "voronoi_check.h"

static struct point_set make_random(struct dice *dice)
{
    struct point_set set = set_make(1500);
    set.lo[0] = -0.3; /* not a multiple of any grid */
    for (int i = 0; i < set.n; i++)
        for (int d = 0; d < 3; d++)
            set.x[i][d] =
                set.lo[d] + (set.hi[d] - set.lo[d]) * set_uniform(dice);
    return set;
}

/* Cells stick out of the box, and one wall is left. */
static struct point_set make_periodic(struct dice *dice)
{
    struct point_set set = make_random(dice);
    set.n = 300;
    set.periodic[0] = set.periodic[1] = true;
    return set;
}

static struct point_set make_few(struct dice *dice)
{
    struct point_set set = make_random(dice);
    set.n = 2;
    for (int d = 0; d < 3; d++)
        set.periodic[d] = true;
    return set;
}

static struct point_set make_lattice(struct dice *dice)
{
    struct point_set set = set_make(10 * 10 * 10);
    (void)dice;
    for (int i = 0; i < set.n; i++) {
        int at[3] = {i % 10, i / 10 % 10, i / 100};
        for (int d = 0; d < 3; d++)
            set.x[i][d] = (at[d] + 0.5) / 10;
    }
    return set;
}

/* Equal but for rounding, and slightly more. */
static struct point_set make_jitter(struct dice *dice)
{
    struct point_set set = make_lattice(dice);
    for (int i = 0; i < set.n; i++)
        for (int d = 0; d < 3; d++)
            set.x[i][d] += pow(10.0, -8.0 - i % 7) * (set_uniform(dice) - 0.5);
    return set;
}

/* All whole numbers with a*a + b*b + c*c = 689 around their centre: 144 faces
 * meet in degenerate corners. */
static struct point_set make_sphere(struct dice *dice)
{
    struct point_set set = set_make(1000);
    (void)dice;
    set.n = 0;
    for (int i = 0; i < 53 * 53 * 53; i++) {
        int at[3] = {i % 53 - 26, i / 53 % 53 - 26, i / 53 / 53 - 26};
        int r2 = at[0] * at[0] + at[1] * at[1] + at[2] * at[2];
        if (r2 != 689 && r2 != 0)
            continue;
        CHECK(set.n < 1000);
        for (int d = 0; d < 3; d++)
            set.x[set.n][d] = 0.5 + at[d] / 64.0;
        set.n++;
    }
    return set;
}

static const struct {
    const char *name;
    struct point_set (*make)(struct dice *dice);
    int faces; /* of every cell; 0: as many as in the mesh; -1: at most that */
} cases[] = {{"random", make_random, 0},     {"lattice", make_lattice, 6},
             {"jitter", make_jitter, -1},    {"sphere", make_sphere, -1},
             {"periodic", make_periodic, 0}, {"few", make_few, 0}};

/* Six times the volume under a triangle of corners. */
static double under(const double a[3], const double b[3], const double c[3])
{
    return a[0] * (b[1] * c[2] - b[2] * c[1]) +
           a[1] * (b[2] * c[0] - b[0] * c[2]) +
           a[2] * (b[0] * c[1] - b[1] * c[0]);
}

static double volume(const struct storm_polyhedron *p)
{
    double sum = 0.0;
    const int32_t *f = p->faces;
    for (size_t i = 0; i < p->n_faces; i++, f += f[0] + 1)
        for (int32_t k = 2; k < f[0]; k++) {
            double x[3][3];
            for (int d = 0; d < 3; d++) { /* near the cell: less rounding */
                const double o = p->corners_cm[0][d];
                x[0][d] = p->corners_cm[f[1]][d] - o;
                x[1][d] = p->corners_cm[f[k]][d] - o;
                x[2][d] = p->corners_cm[f[k + 1]][d] - o;
            }
            sum += under(x[0], x[1], x[2]);
        }
    CHECK_EQ(f - p->faces, p->n_words);
    return sum / 6.0;
}

/* Number of times that an edge occurs in this direction. */
static int n_edges(const struct storm_polyhedron *p, int32_t from, int32_t to)
{
    int n = 0;
    const int32_t *f = p->faces;
    for (size_t i = 0; i < p->n_faces; i++, f += f[0] + 1)
        for (int32_t k = 1; k <= f[0]; k++)
            n += f[k] == from && f[k < f[0] ? k + 1 : 1] == to;
    return n;
}

static void check_closed(const struct storm_polyhedron *p)
{
    size_t n = 0;
    const int32_t *f = p->faces;
    for (size_t i = 0; i < p->n_faces; i++, f += f[0] + 1) {
        CHECK(f[0] >= 3);
        for (int32_t k = 1; k <= f[0]; k++, n++) {
            int32_t to = f[k < f[0] ? k + 1 : 1];
            CHECK(f[k] >= 0 && (size_t)f[k] < p->n_corners);
            CHECK_EQ(n_edges(p, f[k], to), 1);
            CHECK_EQ(n_edges(p, to, f[k]), 1);
        }
    }
    /* Euler: corners and faces are two more than edges */
    CHECK_EQ(p->n_corners + p->n_faces, n / 2 + 2);
}

static uint64_t fold(uint64_t hash, const struct storm_polyhedron *p)
{
    for (size_t i = 0; i < p->n_words; i++)
        hash = storm_hash_fold(hash, (uint64_t)p->faces[i]);
    for (size_t i = 0; i < p->n_corners; i++)
        for (int d = 0; d < 3; d++)
            hash = storm_hash_fold_real(hash, p->corners_cm[i][d]);
    return hash;
}

/* Corners of the box that are corners of the cell. */
static int n_box_corners(const struct storm_polyhedron *p,
                         const struct point_set *set)
{
    int n = 0;
    for (size_t i = 0; i < p->n_corners; i++) {
        int at = 0;
        for (int d = 0; d < 3; d++) {
            double x = p->corners_cm[i][d];
            double half = 0.5 * (set->hi[d] - set->lo[d]);
            double out = set->periodic[d] ? half * (1.0 + 1e-12) : 0.0;
            CHECK(x >= set->lo[d] - out && x <= set->hi[d] + out);
            at += x == set->lo[d] || x == set->hi[d];
        }
        n += at == 3;
    }
    return n;
}

/* All cells of this rank; the hash of all ranks'. */
static uint64_t check_mesh(const struct storm_mesh *mesh,
                           const struct point_set *set, int faces,
                           MPI_Comm comm)
{
    struct storm_polyhedra *polyhedra;
    struct storm_polyhedron p = STORM_POLYHEDRON_INIT;
    uint64_t sum = 0, total;
    int at_corners = 0, all_corners;
    double worst = 0.0;
    CHECK_OK(storm_polyhedra_open(mesh, &polyhedra));
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++) {
        int n_faces = storm_mesh_n_faces(mesh, i);
        double right = storm_mesh_volume_cm3(mesh, i);
        CHECK_OK(storm_polyhedra_build(polyhedra, i, &p));
        check_closed(&p);
        worst = fmax(worst, fabs(volume(&p) - right) / right);
        if (faces >= 0)
            CHECK_EQ(p.n_faces, faces > 0 ? faces : n_faces);
        at_corners += n_box_corners(&p, set);
        sum += fold(storm_mesh_cell_id(mesh, i), &p);
    }
    CHECK_EQ(storm_polyhedra_build(polyhedra, -1, &p), STORM_ERR_ARG);
    CHECK_EQ(storm_polyhedra_build(polyhedra, storm_mesh_n_cells(mesh), &p),
             STORM_ERR_ARG);
    storm_polyhedra_close(polyhedra);
    CHECK(worst < 1e-9);
    MPI_Allreduce(&sum, &total, 1, MPI_UINT64_T, MPI_SUM, comm);
    MPI_Allreduce(&at_corners, &all_corners, 1, MPI_INT, MPI_SUM, comm);
    /* more cells may meet in one, but not for random points */
    bool has_walls = !set->periodic[0] && !set->periodic[1];
    CHECK(!has_walls || (faces == 0 ? all_corners == 8 : all_corners >= 8));
    return total;
}

/* ---- boxes -------------------------------------------------------------- */

static struct storm_mesh *make_boxes(struct storm_context *context,
                                     const struct point_set *set)
{
    struct storm_cart_params params = {
        .size = sizeof params, .n = {7, 5, 3}, .stretch = {1.1, 1, 1}};
    struct storm_mesh *mesh;
    memcpy(params.lo_cm, set->lo, sizeof set->lo);
    memcpy(params.hi_cm, set->hi, sizeof set->hi);
    CHECK_OK(storm_mesh_create_cart(context, &params, &mesh));
    return mesh;
}

/* Of a hexahedron of VTK the seventh corner is opposite to the first. */
static void check_order(const struct storm_mesh *mesh)
{
    struct storm_polyhedra *polyhedra;
    struct storm_polyhedron p = STORM_POLYHEDRON_INIT;
    double lo[3], hi[3];
    CHECK(storm_mesh_cells_are_boxes(mesh));
    CHECK_OK(storm_polyhedra_open(mesh, &polyhedra));
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++) {
        CHECK_OK(storm_polyhedra_build(polyhedra, i, &p));
        CHECK_EQ(p.n_corners, 8);
        storm_mesh_bounds(mesh, i, lo, hi);
        CHECK(memcmp(p.corners_cm[0], lo, sizeof lo) == 0);
        CHECK(memcmp(p.corners_cm[6], hi, sizeof hi) == 0);
        CHECK_EQ(storm_mesh_generator(mesh, i, lo), STORM_ERR_NOSUP);
    }
    storm_polyhedra_close(polyhedra);
}

/* Bytes after the caller's struct stay; another partition is noticed. */
static void check_refused(const struct storm_context *context,
                          struct storm_mesh *mesh)
{
    struct storm_polyhedra *polyhedra;
    struct storm_polyhedron p = {.size = sizeof p.size + sizeof p.n_corners};
    uint64_t weight[7 * 5 * 3] = {0}; /* all cells to the middle rank */
    bool is_cut = storm_context_size(context) > 1;
    CHECK_OK(storm_polyhedra_open(mesh, &polyhedra));
    if (storm_mesh_n_cells(mesh) > 0) {
        CHECK_OK(storm_polyhedra_build(polyhedra, 0, &p));
        CHECK(p.n_corners == 8 && p.corners_cm == NULL && p.n_faces == 0);
    }
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++)
        weight[i] = storm_mesh_cell_id(mesh, i) == 7 * 5 * 3 / 2;
    cut_mesh(mesh, weight);
    CHECK_EQ(storm_mesh_generation(mesh), is_cut);
    CHECK_EQ(storm_polyhedra_build(polyhedra, 0, &p),
             is_cut ? STORM_ERR_STATE : STORM_OK);
    storm_polyhedra_close(polyhedra);
}

static void check_boxes(struct storm_context *all, struct storm_context *alone)
{
    const struct point_set box = {.lo = {-0.3, 0, 1}, .hi = {1, 2, 1.5}};
    struct storm_mesh *mesh = make_boxes(all, &box);
    struct storm_mesh *whole = make_boxes(alone, &box);
    check_where("boxes, rank %d", storm_context_rank(all));
    CHECK_EQ(check_mesh(mesh, &box, 6, MPI_COMM_WORLD),
             check_mesh(whole, &box, 6, MPI_COMM_SELF));
    check_order(mesh);
    check_refused(all, mesh);
    storm_mesh_destroy(whole);
    storm_mesh_destroy(mesh);
}

/* ---- generators and all meshes ------------------------------------------ */

/* The cell around a generator is its own. */
static void check_generators(const struct storm_mesh *mesh, int rank)
{
    CHECK(!storm_mesh_cells_are_boxes(mesh));
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++) {
        double x[3];
        struct storm_cell_ref where;
        CHECK_OK(storm_mesh_generator(mesh, i, x));
        CHECK_OK(storm_mesh_locate(mesh, x, &where));
        CHECK(where.rank == rank && where.idx == i);
    }
}

static void check_places(const struct storm_mesh *mesh, int rank, int n_ranks)
{
    uint64_t total = storm_mesh_n_cells_total(mesh);
    uint64_t first = storm_mesh_first_place(mesh, rank);
    uint64_t n = (uint64_t)storm_mesh_n_cells(mesh);
    CHECK_EQ(storm_mesh_first_place(mesh, 0), 0);
    CHECK_EQ(storm_mesh_first_place(mesh, n_ranks), total);
    CHECK_EQ(storm_mesh_first_place(mesh, rank + 1), first + n);
    for (uint64_t i = 0; i < n; i++)
        CHECK_EQ(storm_mesh_cell_id(mesh, (storm_cell_idx)i), first + i);
}

/* ---- given meshes ------------------------------------------------------- */

static uint64_t check_host(const struct storm_mesh *mesh, MPI_Comm comm)
{
    struct storm_polyhedra *polyhedra;
    struct storm_polyhedron p = STORM_POLYHEDRON_INIT;
    uint64_t sum = 0, total;
    CHECK_OK(storm_polyhedra_open(mesh, &polyhedra));
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++) {
        double right = storm_mesh_volume_cm3(mesh, i);
        CHECK_OK(storm_polyhedra_build(polyhedra, i, &p));
        check_closed(&p);
        CHECK(fabs(volume(&p) - right) <= 1e-7 * right);
        sum += fold(storm_mesh_cell_id(mesh, i), &p);
    }
    storm_polyhedra_close(polyhedra);
    MPI_Allreduce(&sum, &total, 1, MPI_UINT64_T, MPI_SUM, comm);
    return total;
}

static void check_given(struct storm_context *all, struct storm_context *alone)
{
    const double lo[3] = {-0.3, 0, 0}, hi[3] = {1, 1, 1};
    struct dice dice = dice_make(1, 0);
    struct point_set set = make_random(&dice);
    struct storm_mesh *mesh, *whole;
    struct host hosts[3] = {host_of_tetrahedra(3, lo, hi),
                            host_of_bricks(lo, hi)};
    CHECK_OK(set_mesh(alone, &set, 0, &whole));
    hosts[2] = host_of_voronoi(whole);
    storm_mesh_destroy(whole);
    for (int i = 0; i < 3; i++) {
        check_where("given %d", i);
        CHECK_OK(host_give(&hosts[i], alone, 1, &whole));
        CHECK_OK(host_give(&hosts[i], all, 2, &mesh));
        CHECK_EQ(check_host(mesh, MPI_COMM_WORLD),
                 check_host(whole, MPI_COMM_SELF));
        storm_mesh_destroy(mesh);
        storm_mesh_destroy(whole);
        host_free(&hosts[i]);
    }
    free(set.x);
}

int main(int argc, char **argv)
{
    struct storm_context *all, *alone;
    MPI_Init(&argc, &argv);
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &all));
    CHECK_OK(storm_context_create(MPI_COMM_SELF, NULL, &alone));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct dice dice = dice_make(1, i);
        struct point_set set = cases[i].make(&dice);
        struct storm_mesh *mesh, *whole;
        check_where("%s, rank %d", cases[i].name, storm_context_rank(all));
        CHECK_OK(set_mesh(alone, &set, 0, &whole));
        CHECK_OK(set_mesh(all, &set, 0, &mesh));
        uint64_t hash = check_mesh(whole, &set, cases[i].faces, MPI_COMM_SELF);
        CHECK_EQ(check_mesh(mesh, &set, cases[i].faces, MPI_COMM_WORLD), hash);
        check_generators(mesh, storm_context_rank(all));
        check_places(mesh, storm_context_rank(all), storm_context_size(all));
        storm_mesh_destroy(whole);
        storm_mesh_destroy(mesh);
        free(set.x);
    }
    check_boxes(all, alone);
    check_given(all, alone);
    storm_context_destroy(alone);
    storm_context_destroy(all);
    MPI_Finalize();
    return CHECK_PASS;
}
