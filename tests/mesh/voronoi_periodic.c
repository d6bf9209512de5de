/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 2 5; timeout: 60 */
/*
 * Voronoi meshes in boxes that are periodic in any of the three directions:
 * very few generators, lattices, and random points against a mesh without
 * periods in which all their images are generators. The same bits on any number
 * of ranks.
 */
#include "voronoi_check.h"

static struct storm_context *all, *alone;

static void set_periods(struct point_set *set, int which)
{
    for (int d = 0; d < 3; d++)
        set->periodic[d] = which >> d & 1;
}

/* The mesh over all ranks has the bits of that of one rank, which is checked.
 * Returns the latter. */
static struct storm_mesh *check_set(const struct point_set *set,
                                    const char *name)
{
    struct storm_mesh *mesh, *whole;
    check_where("%s, %d generators, periodic %d %d %d", name, set->n,
                set->periodic[0], set->periodic[1], set->periodic[2]);
    CHECK_OK(set_mesh(all, set, 0, &mesh));
    CHECK_OK(set_mesh(alone, set, 0, &whole));
    set_check(whole, set, 1e-12);
    CHECK_EQ(set_hash(mesh, MPI_COMM_WORLD), set_hash(whole, MPI_COMM_SELF));
    storm_mesh_destroy(mesh);
    return whole;
}

/* ---- few ---------------------------------------------------------------- */

/* One to three generators, also on walls, in corners and in rows. */
static void check_few(int which)
{
    static const double list[][3][3] = {
        {{0.3, 0.6, 0.8}, {0.7, 0.1, 0.9}, {0.5, 0.4, 0.2}},
        {{0.0, 0.0, 0.0}, {0.5, 0.5, 0.5}, {0.5, 0.5, 0.0}},
        {{0.5, 0.5, 0.5}, {1.0, 0.5, 0.5}, {0.25, 0.5, 0.5}},
        {{0.9, 0.1, 0.1}, {0.9, 0.1, 0.1 + 1e-9}, {0.1, 0.9, 0.1}},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        for (int n = 1; n <= 3; n++) {
            struct point_set set = {.hi = {1, 2, 0.5}, .n = n};
            double x[3][3];
            for (int k = 0; k < n; k++)
                for (int d = 0; d < 3; d++)
                    x[k][d] = set.hi[d] * list[i][k][d];
            set.x = x;
            set_periods(&set, which);
            storm_mesh_destroy(check_set(&set, "few"));
        }
}

/* One generator in a periodic box: the box itself, six times its own
 * neighbour. */
static void check_one(void)
{
    struct storm_face face = STORM_FACE_INIT;
    struct point_set set = {.lo = {-1, 2, 0}, .hi = {3, 4, 1}, .n = 1};
    double x[1][3] = {{2.9, 2.1, 0.7}}, sum = 0.0;
    set.x = x;
    set_periods(&set, 7);
    struct storm_mesh *mesh = check_set(&set, "one");
    CHECK_EQ(storm_mesh_n_faces(mesh, 0), 6);
    for (int k = 0; k < 6; k++) {
        storm_mesh_face(mesh, 0, k, &face);
        CHECK_EQ(face.neighbour, 0);
        CHECK_EQ(face.wall, -1);
        sum += face.area_cm2;
    }
    CHECK(fabs(sum - 2.0 * (4 * 2 + 4 * 1 + 2 * 1)) < 1e-13);
    storm_mesh_destroy(mesh);
}

/* Two generators that only touch across the walls, far from the origin. */
static void check_far(void)
{
    struct point_set set = {
        .lo = {1e6, -1e6, 1e6 - 1}, .hi = {1e6 + 1, -1e6 + 1, 1e6}, .n = 2};
    double x[2][3] = {{1e6 + 0.01, -1e6 + 0.5, 1e6 - 0.01},
                      {1e6 + 0.99, -1e6 + 0.5, 1e6 - 0.99}};
    set.x = x;
    set_periods(&set, 7);
    struct storm_mesh *mesh, *whole;
    CHECK_OK(set_mesh(all, &set, 0, &mesh));
    CHECK_OK(set_mesh(alone, &set, 0, &whole));
    CHECK_EQ(set_hash(mesh, MPI_COMM_WORLD), set_hash(whole, MPI_COMM_SELF));
    set_check(whole, &set, 1e-8);
    storm_mesh_destroy(mesh);
    storm_mesh_destroy(whole);
}

/* ---- lattice ------------------------------------------------------------ */

/* All ties: every cell is the same cube. */
static void check_lattice(int n, double offset, int which)
{
    struct point_set set = set_make(n * n * n);
    double first = 0.0;
    for (int i = 0; i < set.n; i++) {
        const int at[3] = {i % n, i / n % n, i / n / n};
        for (int d = 0; d < 3; d++)
            set.x[i][d] = (at[d] + offset) / n;
    }
    set_periods(&set, which);
    struct storm_mesh *mesh = check_set(&set, "lattice");
    for (storm_cell_idx i = 0; i < set.n; i++) {
        double volume = storm_mesh_volume_cm3(mesh, i);
        CHECK_EQ(storm_mesh_n_faces(mesh, i), 6);
        first = i == 0 ? volume : first;
        CHECK(which != 7 || fabs(volume - first) <= 1e-13 * first);
    }
    storm_mesh_destroy(mesh);
    free(set.x);
}

/* ---- images as generators ----------------------------------------------- */

/* All images that are in a box three times as long in periodic directions. */
static struct point_set unfold(const struct point_set *set)
{
    struct point_set big = set_make(27 * set->n);
    big.n = 0;
    for (int d = 0; d < 3; d++) {
        double margin = set->periodic[d] ? set->hi[d] - set->lo[d] : 0.0;
        big.lo[d] = set->lo[d] - margin;
        big.hi[d] = set->hi[d] + margin;
    }
    for (int k = 0; k < 27; k++) {
        const int s[3] = {k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1};
        bool is_there = true;
        for (int d = 0; d < 3; d++)
            is_there = is_there && (s[d] == 0 || set->periodic[d]);
        for (int i = 0; is_there && i < set->n; i++, big.n++)
            for (int d = 0; d < 3; d++)
                big.x[big.n][d] =
                    set->x[i][d] + s[d] * (set->hi[d] - set->lo[d]);
    }
    return big;
}

static storm_cell_idx cell_at(const struct storm_mesh *mesh, const double x[3])
{
    struct storm_cell_ref where;
    CHECK_OK(storm_mesh_locate(mesh, x, &where));
    return where.idx;
}

/* The area with this normal; 0: there is none. */
static double area_at(const struct storm_mesh *mesh, storm_cell_idx cell,
                      const double normal[3])
{
    for (int k = 0; k < storm_mesh_n_faces(mesh, cell); k++) {
        struct storm_face face = STORM_FACE_INIT;
        double off = 0.0;
        storm_mesh_face(mesh, cell, k, &face);
        for (int d = 0; d < 3; d++)
            off = fmax(off, fabs(face.normal[d] - normal[d]));
        if (off < 1e-9)
            return face.area_cm2;
    }
    return 0.0;
}

/* Every cell has the volume and the faces of the one in the unfolded mesh. */
static void check_unfolded(int n, int which, const double hi[3])
{
    struct point_set set = set_make(n);
    struct dice dice = dice_make(5, (uint64_t)(100 * n + which));
    for (int d = 0; d < 3; d++)
        set.hi[d] = hi[d];
    for (int i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) /* the images are exact */
            set.x[i][d] = hi[d] * (double)dice_roll(&dice, 1u << 20) * 0x1p-20;
    set_periods(&set, which);
    struct storm_mesh *mesh = check_set(&set, "unfolded"), *big;
    struct point_set images = unfold(&set);
    CHECK_OK(set_mesh(alone, &images, 0, &big));
    for (int i = 0; i < n; i++) {
        storm_cell_idx a = cell_at(mesh, set.x[i]), b = cell_at(big, set.x[i]);
        double volume = storm_mesh_volume_cm3(mesh, a);
        CHECK(fabs(storm_mesh_volume_cm3(big, b) - volume) <= 1e-11 * volume);
        CHECK_EQ(storm_mesh_n_faces(mesh, a), storm_mesh_n_faces(big, b));
        for (int k = 0; k < storm_mesh_n_faces(mesh, a); k++) {
            struct storm_face face = STORM_FACE_INIT;
            storm_mesh_face(mesh, a, k, &face);
            CHECK(fabs(area_at(big, b, face.normal) - face.area_cm2) <=
                  1e-11 * pow(volume, 2.0 / 3.0));
        }
    }
    storm_mesh_destroy(big);
    storm_mesh_destroy(mesh);
    free(images.x);
    free(set.x);
}

/* Points outside are moved into the box; the same one twice is refused. */
static void check_outside(void)
{
    struct point_set set = set_make(2), moved = set_make(2);
    const double x[2][3] = {{0.25, 0.5, 0.75}, {0.5, 0.125, 0.25}};
    struct storm_mesh *mesh, *same;
    memcpy(set.x, x, sizeof x);
    memcpy(moved.x, x, sizeof x);
    moved.x[0][0] += 3.0;
    moved.x[1][1] -= 1.0;
    set_periods(&set, 7);
    set_periods(&moved, 7);
    CHECK_OK(set_mesh(alone, &set, 0, &mesh));
    CHECK_OK(set_mesh(alone, &moved, 0, &same));
    CHECK_EQ(set_hash(mesh, MPI_COMM_SELF), set_hash(same, MPI_COMM_SELF));
    storm_mesh_destroy(mesh);
    storm_mesh_destroy(same);
    memcpy(moved.x[1], x[0], sizeof x[0]);
    CHECK_EQ(set_mesh(alone, &moved, 0, &mesh), STORM_ERR_ARG);
    moved.x[1][0] = NAN;
    CHECK_EQ(set_mesh(alone, &moved, 0, &mesh), STORM_ERR_ARG);
    free(set.x);
    free(moved.x);
}

int main(int argc, char **argv)
{
    const double cube[3] = {1, 1, 1}, flat[3] = {1, 8, 0.25};
    MPI_Init(&argc, &argv);
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &all));
    CHECK_OK(storm_context_create(MPI_COMM_SELF, NULL, &alone));
    check_one();
    for (int which = 0; which < 8; which++)
        check_few(which);
    check_far();
    for (int which = 1; which < 8; which += which < 4 ? 1 : 3) {
        check_lattice(4, 0.5, which);
        check_lattice(5, 0.3, which == 7 ? 7 : 0);
    }
    check_lattice(1, 0.0, 7);
    check_lattice(2, 0.25, 7);
    check_lattice(4, 0.0, 7);
    for (int n = 1; n <= 6; n++)
        check_unfolded(n, 7, cube);
    check_unfolded(40, 7, cube);
    check_unfolded(40, 1, cube);
    check_unfolded(30, 6, flat);
    check_unfolded(7, 7, flat);
    check_outside();
    storm_context_destroy(alone);
    storm_context_destroy(all);
    MPI_Finalize();
    return CHECK_PASS;
}
