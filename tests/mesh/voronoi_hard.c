/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 2; timeout: 120 */
/* TEST ranks: 5; timeout: 120; label: slow-asan slow-mpich */
/* TEST ranks: 3 8; timeout: 120; label: long */
/*
 * VCELL-1, VCELL-2, VEXACT-1, VEXACT-2, GHOST-1: point sets that are hard for
 * Voronoi builders: volumes must add up to the box, cells be closed and faces
 * mutual, and the mesh must have the same bits on all ranks and on one. All
 * clippers that this processor can run make the same cells, bit for bit.
 */
#include "base/port.h"
#include "mesh/voronoi/voronoi_mesh.h"
#include "voronoi_check.h"

typedef struct point_set (*make_fn)(struct dice *dice);

static struct point_set lattice(int side, double jitter, struct dice *dice)
{
    struct point_set set = set_make(side * side * side);
    for (int i = 0; i < set.n; i++) {
        int at[3] = {i % side, i / side % side, i / side / side};
        for (int d = 0; d < 3; d++)
            set.x[i][d] =
                (at[d] + 0.5 + jitter * (set_uniform(dice) - 0.5)) / side;
    }
    return set;
}

static struct point_set make_lattice(struct dice *dice)
{
    return lattice(12, 0.0, dice);
}

static struct point_set make_jitter_10(struct dice *dice)
{
    return lattice(12, 1e-10, dice);
}

static struct point_set make_jitter_13(struct dice *dice)
{
    return lattice(12, 1e-13, dice);
}

/* A lattice whose outer points are in walls, edges and corners of the box. */
static struct point_set make_on_walls(struct dice *dice)
{
    struct point_set set = lattice(9, 0.0, dice);
    for (int i = 0; i < set.n; i++)
        for (int d = 0; d < 3; d++)
            set.x[i][d] = floor(set.x[i][d] * 9) / 8;
    return set;
}

/* Random points, many of them in a wall. */
static struct point_set make_some_on_walls(struct dice *dice)
{
    struct point_set set = set_make(1500);
    for (int i = 0; i < set.n; i++)
        for (int d = 0; d < 3; d++) {
            uint64_t where = dice_roll(dice, 6);
            double u = set_uniform(dice);
            set.x[i][d] = where == 0 && d != i % 3   ? 0.0
                          : where == 1 && d != i % 3 ? 1.0
                                                     : u;
        }
    return set;
}

static struct point_set make_coplanar(struct dice *dice)
{
    struct point_set set = set_make(1500);
    for (int i = 0; i < set.n; i++)
        for (int d = 0; d < 3; d++)
            set.x[i][d] = d < 2 ? set_uniform(dice)
                                : 0.5 + 1e-12 * (set_uniform(dice) - 0.5);
    return set;
}

/* All in one plane, exactly: every cell is a prism. */
static struct point_set make_in_plane(struct dice *dice)
{
    struct point_set set = make_coplanar(dice);
    for (int i = 0; i < set.n; i++)
        set.x[i][2] = 0.375;
    return set;
}

static struct point_set cospherical(int n, struct dice *dice)
{
    struct point_set set = set_make(n + 1);
    for (int i = 0; i < set.n; i++) {
        double direction[3];
        storm_isotropic(set_uniform(dice), set_uniform(dice), direction);
        for (int d = 0; d < 3; d++)
            set.x[i][d] = 0.5 + (i == 0 ? 0.0 : 0.25 * direction[d]);
    }
    return set;
}

static struct point_set make_sphere_300(struct dice *dice)
{
    return cospherical(300, dice);
}

static struct point_set make_sphere_2000(struct dice *dice)
{
    return cospherical(2000, dice);
}

/* On a sphere exactly: all whole numbers with a*a + b*b + c*c = 689. */
static struct point_set make_cospherical_exact(struct dice *dice)
{
    struct point_set set = set_make(1000);
    (void)dice;
    set.n = 0;
    for (int a = -26; a <= 26; a++)
        for (int b = -26; b <= 26; b++)
            for (int c = -26; c <= 26; c++)
                if (a * a + b * b + c * c == 689 ||
                    (a == 0 && b == 0 && c == 0)) {
                    const int at[3] = {a, b, c};
                    CHECK(set.n < 1000);
                    for (int d = 0; d < 3; d++)
                        set.x[set.n][d] = 0.5 + at[d] / 64.0;
                    set.n++;
                }
    return set;
}

static struct point_set make_one(struct dice *dice)
{
    struct point_set set = set_make(1);
    for (int d = 0; d < 3; d++)
        set.x[0][d] = set_uniform(dice);
    return set;
}

/* The plane between them goes through edges and corners of the box. */
static struct point_set make_two(struct dice *dice)
{
    struct point_set set = set_make(2);
    (void)dice;
    for (int d = 0; d < 3; d++) {
        set.x[0][d] = d == 2 ? 0.5 : 0.25;
        set.x[1][d] = d == 2 ? 0.5 : 0.75;
    }
    return set;
}

static struct point_set make_long_box(struct dice *dice)
{
    struct point_set set = set_make(1500);
    set.hi[0] = 1000.0;
    for (int i = 0; i < set.n; i++)
        for (int d = 0; d < 3; d++)
            set.x[i][d] = set.hi[d] * set_uniform(dice);
    return set;
}

/* Clusters of clusters: distances from 1 down to 1e-9. */
static struct point_set make_clusters(struct dice *dice)
{
    struct point_set set = set_make(1500);
    for (int i = 0; i < set.n; i++)
        for (int d = 0; d < 3; d++) {
            double width = i < 4 ? 1.0 : i < 40 ? 1e-3 : i < 400 ? 1e-6 : 1e-9;
            int from = i < 4 ? -1 : i < 40 ? i % 4 : i < 400 ? i % 40 : i % 400;
            double x = from < 0 ? 0.5 : set.x[from][d];
            x += width * (set_uniform(dice) - 0.5);
            set.x[i][d] = fmin(fmax(x, 0.0), 1.0);
        }
    return set;
}

/* Far from the origin, so that coordinates have few bits left. */
static struct point_set make_far_away(struct dice *dice)
{
    struct point_set set = set_make(1500);
    for (int d = 0; d < 3; d++) {
        set.lo[d] = 1e6;
        set.hi[d] = 1e6 + 1.0;
    }
    for (int i = 0; i < set.n; i++)
        for (int d = 0; d < 3; d++)
            set.x[i][d] = 1e6 + set_uniform(dice);
    return set;
}

static const struct {
    const char *name;
    make_fn make;
    int faces;    /* of all cells together; 0: not known */
    bool is_slow; /* for one rank alone */
} cases[] = {
    {"lattice", make_lattice, 6 * 12 * 12 * 12, false},
    {"lattice, jitter 1e-10", make_jitter_10, 0, false},
    {"lattice, jitter 1e-13", make_jitter_13, 0, false},
    {"lattice with points in the walls", make_on_walls, 6 * 9 * 9 * 9, false},
    {"points in the walls", make_some_on_walls, 0, false},
    {"nearly in a plane", make_coplanar, 0, false},
    {"in a plane", make_in_plane, 0, false},
    {"300 nearly on a sphere round one", make_sphere_300, 0, false},
    {"2000 nearly on a sphere round one", make_sphere_2000, 0, true},
    {"exactly on a sphere round one", make_cospherical_exact, 0, false},
    {"one", make_one, 6, false},
    {"two", make_two, 10, false},
    {"box 1000 times longer than wide", make_long_box, 0, false},
    {"clusters", make_clusters, 0, false},
    {"far from the origin", make_far_away, 0, false},
};

static void check_same_cell(const struct voronoi_cell *a,
                            const struct voronoi_cell *b)
{
    size_t n = (size_t)a->n_vertices;
    CHECK_EQ(a->n_planes, b->n_planes);
    CHECK_EQ(a->n_vertices, b->n_vertices);
    CHECK(memcmp(&a->reach2, &b->reach2, sizeof a->reach2) == 0);
    CHECK(memcmp(a->x, b->x, n * sizeof *a->x) == 0);
    CHECK(memcmp(a->y, b->y, n * sizeof *a->y) == 0);
    CHECK(memcmp(a->z, b->z, n * sizeof *a->z) == 0);
    CHECK(memcmp(a->vertices, b->vertices, n * sizeof *a->vertices) == 0);
    for (int32_t i = 0; i < a->n_planes; i++)
        CHECK_EQ(a->planes[i].behind, b->planes[i].behind);
}

/* Every cell by all clippers, from nothing. */
static void check_clippers(const struct storm_mesh *mesh)
{
    voronoi_build_fn *clippers[3] = {voronoi_build_plain};
    struct voronoi_cell cells[3];
    const struct voronoi_part *part = voronoi_part_of(mesh);
    const struct voronoi_hints nothing = {.n_neighbours = 0};
    int n = 1;
    if (storm_cpu_has_avx2())
        clippers[n++] = STORM_IF_AVX2(voronoi_build_avx2, voronoi_build_plain);
    if (storm_cpu_has_avx512())
        clippers[n++] =
            STORM_IF_AVX512(voronoi_build_avx512, voronoi_build_plain);
    for (int k = 0; k < n; k++)
        CHECK_OK(voronoi_cell_create(mesh->env->memory, &cells[k]));
    for (storm_cell_idx i = 0; i < part->base.n_cells; i++)
        for (int k = 0; k < n; k++) {
            CHECK_OK(clippers[k](&cells[k], &part->points, part->points.at[i],
                                 &nothing));
            if (k > 0)
                check_same_cell(&cells[0], &cells[k]);
        }
    for (int k = 0; k < n; k++)
        voronoi_cell_destroy(&cells[k]);
}

/* On this rank alone; returns the hash. */
static uint64_t check_alone(size_t i, struct storm_context *alone,
                            const struct point_set *set)
{
    struct storm_mesh *whole;
    printf("%s\n", cases[i].name);
    CHECK_OK(set_mesh(alone, set, 0, &whole));
    size_t n_faces = set_check(whole, set, 1e-12);
    if (cases[i].faces > 0)
        CHECK_EQ(n_faces, cases[i].faces);
    if (!cases[i].is_slow)
        check_clippers(whole);
    uint64_t hash = set_hash(whole, MPI_COMM_SELF);
    storm_mesh_destroy(whole);
    return hash;
}

static void check_case(size_t i, struct storm_context *all,
                       struct storm_context *alone)
{
    struct dice dice = dice_make(1, i);
    struct point_set set = cases[i].make(&dice);
    struct storm_mesh *mesh;
    uint64_t hash = 0;
    check_where("%s, rank %d", cases[i].name, storm_context_rank(all));
    if (storm_context_rank(all) == 0)
        hash = check_alone(i, alone, &set);
    MPI_Bcast(&hash, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    CHECK_OK(set_mesh(all, &set, 0, &mesh));
    CHECK_EQ(set_hash(mesh, MPI_COMM_WORLD), hash);
    storm_mesh_destroy(mesh);
    free(set.x);
}

int main(int argc, char **argv)
{
    struct storm_context *all, *alone;
    MPI_Init(&argc, &argv);
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &all));
    CHECK_OK(storm_context_create(MPI_COMM_SELF, NULL, &alone));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (storm_context_size(all) == 1 || !cases[i].is_slow)
            check_case(i, all, alone);
    storm_context_destroy(alone);
    storm_context_destroy(all);
    MPI_Finalize();
    return CHECK_PASS;
}
