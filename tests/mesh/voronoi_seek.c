/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; timeout: 60 */
/* TEST ranks: 1 3 5; timeout: 60; label: long */
/*
 * VMESH-5, VMESH-6, VEXACT-3, MESH-13: a walk from any cell of any rank, and
 * the tree, end in the cell that exact comparison with all generators gives,
 * also on faces, edges and corners; of several the one of highest place along
 * the curve. In periodic boxes, images included, and from outside of them.
 * Also after another partition has been made.
 */
#include "voronoi_check.h"

#include <storm/change.h>

#include "mesh/mesh_ops.h"
#include "mesh/voronoi/voronoi_exact.h"

enum { MAX_POINTS = 1000, IMAGES = 27 };

/* All positions are multiples of 2^-60 and all generators of 2^-51. */
static const double per_unit = 0x1p60, per_grid = 0x1p51;

/* The generators of all ranks, by id, as the mesh has rounded them. */
struct table {
    int n;
    bool periodic[3]; /* the box is the unit cube */
    double x[MAX_POINTS][3];
};

static void table_make(const struct storm_mesh *mesh, struct table *table)
{
    memset(table, 0, sizeof *table);
    table->n = (int)storm_mesh_n_cells_total(mesh);
    CHECK(table->n <= MAX_POINTS);
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++)
        CHECK_OK(storm_mesh_generator(mesh, i,
                                      table->x[storm_mesh_cell_id(mesh, i)]));
    MPI_Allreduce(MPI_IN_PLACE, table->x, 3 * MAX_POINTS, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
}

/* 1: x is nearer to b, -1: to a. */
static int nearer(const double x[3], const double a[3], const double b[3])
{
    voronoi_int sum = 0;
    for (int d = 0; d < 3; d++) {
        voronoi_int to_a = (voronoi_int)(a[d] * per_unit);
        voronoi_int to_b = (voronoi_int)(b[d] * per_unit);
        voronoi_int n =
            (voronoi_int)(b[d] * per_grid) - (voronoi_int)(a[d] * per_grid);
        sum += n * (2 * (voronoi_int)(x[d] * per_unit) - to_a - to_b);
    }
    return sum > 0 ? 1 : sum < 0 ? -1 : 0;
}

static int brute_force(const struct table *table, const double x[3])
{
    int best = -1;
    double at[3] = {0.0};
    for (int k = 0; k < table->n * IMAGES; k++) {
        const int i = k / IMAGES, image = k % IMAGES;
        const int s[3] = {image / 9 - 1, image / 3 % 3 - 1, image % 3 - 1};
        double moved[3];
        bool is_there = true;
        for (int d = 0; d < 3; d++) {
            is_there = is_there && (s[d] == 0 || table->periodic[d]);
            moved[d] = table->x[i][d] + s[d];
        }
        if (!is_there || (best >= 0 && nearer(x, at, moved) < 0))
            continue;
        best = i;
        memcpy(at, moved, sizeof at);
    }
    return best;
}

/* From a cell on, on whichever rank; returns the id. The position is given
 * some periods away. Collective. */
static storm_cell_id walk(const struct storm_mesh *mesh,
                          struct storm_cell_ref at, const double x_cm[3],
                          const double away[3])
{
    struct {
        int32_t status, rank, idx, unused;
        storm_cell_id id;
    } step = {.rank = at.rank, .idx = at.idx};
    for (int hop = 0; hop < 2 * MAX_POINTS; hop++) {
        int from = step.rank;
        if (from == mesh->env->rank) {
            double x[3] = {x_cm[0] + away[0], x_cm[1] + away[1],
                           x_cm[2] + away[2]};
            struct storm_cell_ref next = {.rank = from, .idx = step.idx};
            step.status = mesh->ops->changes->seek(mesh, step.idx, x, &next);
            CHECK(memcmp(x, x_cm, sizeof x) == 0); /* back in the box */
            if (step.status == STORM_OK)
                step.id = storm_mesh_cell_id(mesh, step.idx >= 0 ? step.idx
                                                                 : next.idx);
            step.rank = next.rank;
            step.idx = next.idx;
        }
        MPI_Bcast(&step, sizeof step, MPI_BYTE, from, MPI_COMM_WORLD);
        if (step.status == STORM_OK)
            return step.id;
        CHECK_EQ(step.status, STORM_AGAIN);
    }
    CHECK(false); /* a walk ends */
    return 0;
}

static void check_position(const struct storm_mesh *mesh,
                           const struct table *table, struct dice *dice,
                           int n_starts, const double x[3])
{
    const double none[3] = {0.0, 0.0, 0.0};
    double away[3] = {0.0, 0.0, 0.0};
    storm_cell_id home = (storm_cell_id)brute_force(table, x);
    struct storm_cell_ref at;
    for (int d = 0; d < 3; d++) /* exactly, or not at all */
        if (table->periodic[d] && (x[d] + 2.0) - 2.0 == x[d])
            away[d] = (double)dice_roll(dice, 5) - 2.0;
    for (int i = 0; i < n_starts; i++) {
        uint64_t start = dice_roll(dice, mesh->n_total);
        at.rank = storm_mesh_owner_at(mesh, mesh->partition, start, &at.idx);
        CHECK_EQ(walk(mesh, at, x, away), home);
    }
    int rank = mesh->ops->changes->jump(mesh, x);
    CHECK(mesh->partition[rank + 1] > mesh->partition[rank]);
    at = (struct storm_cell_ref){.rank = rank, .idx = -1};
    CHECK_EQ(walk(mesh, at, x, none), home);

    storm_status status = storm_mesh_locate(mesh, x, &at);
    int owner;
    storm_cell_idx idx;
    owner = storm_mesh_owner_at(mesh, mesh->partition, home, &idx);
    CHECK_EQ(status, owner == mesh->env->rank ? STORM_OK : STORM_AGAIN);
    if (status == STORM_OK)
        CHECK_EQ(storm_mesh_cell_id(mesh, at.idx), home);
}

static void round_to_units(double x[3])
{
    for (int d = 0; d < 3; d++) {
        x[d] = rint(x[d] * per_unit) / per_unit;
        x[d] = fmin(fmax(x[d], 0.0), 1.0);
    }
}

/* A coordinate of a corner, mostly, in halves of the lattice. */
static uint64_t lattice_at(struct dice *dice, int side)
{
    return dice_roll(dice, 4) == 0 ? dice_roll(dice, (uint64_t)(2 * side + 1))
                                   : 2 * dice_roll(dice, (uint64_t)(side + 1));
}

/* Anywhere; half-way between generators, to a rounding or two; and on the
 * points of a lattice that has faces, edges and corners of the generators' as
 * its points. */
static void make_position(const struct table *table, struct dice *dice,
                          int side, double x_out[3])
{
    uint64_t kind = dice_roll(dice, 4);
    const double *a = table->x[dice_roll(dice, (uint64_t)table->n)];
    const double *b = table->x[dice_roll(dice, (uint64_t)table->n)];
    for (int d = 0; d < 3; d++) {
        x_out[d] = set_uniform(dice);
        if (kind == 1)
            x_out[d] = 0.5 * (a[d] + b[d]) +
                       0x1p-53 * ((double)dice_roll(dice, 5) - 2.0);
        if (kind >= 2)
            x_out[d] = (double)lattice_at(dice, side) / (2.0 * side);
    }
    round_to_units(x_out);
}

/* Another partition, with a share of the cells that grows with the rank. */
static void switch_over(struct storm_mesh *mesh, struct storm_cut **cut_out)
{
    uint64_t weight[MAX_POINTS];
    struct storm_change *change;
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++)
        weight[i] = 3 + storm_mesh_cell_id(mesh, i) % 5;
    if (mesh->env->rank == 0 && mesh->part->n_cells > 0)
        weight[0] = mesh->n_total; /* some may get none */
    CHECK_OK(storm_cut_create(mesh, cut_out));
    storm_cut_set(*cut_out, weight);
    uint64_t hash = set_hash(mesh, MPI_COMM_WORLD);
    CHECK_OK(storm_mesh_use(mesh, *cut_out, &change));
    CHECK_EQ(set_hash(mesh, MPI_COMM_WORLD), hash);
    storm_change_destroy(change);
}

/* The upper walls of a periodic box are the lower ones. */
static void wrap(const struct point_set *set, double x[3])
{
    for (int d = 0; d < 3; d++)
        if (set->periodic[d] && x[d] == 1.0)
            x[d] = 0.0;
}

static void check_set(struct storm_context *context, struct point_set set,
                      int side)
{
    static struct table table;
    struct storm_mesh *mesh;
    struct storm_cut *cut;
    struct dice dice = dice_make(3, (uint64_t)set.n);
    CHECK_OK(set_mesh(context, &set, 0, &mesh));
    table_make(mesh, &table);
    memcpy(table.periodic, set.periodic, sizeof table.periodic);
    for (int i = 0; i < 200; i++) {
        if (i == 100)
            switch_over(mesh, &cut);
        double x[3];
        make_position(&table, &dice, side, x);
        wrap(&set, x);
        check_position(mesh, &table, &dice, 2, x);
    }
    for (int corner = 0; corner < 8; corner++) {
        double x[3] = {corner & 1, corner >> 1 & 1, corner >> 2 & 1};
        wrap(&set, x);
        check_position(mesh, &table, &dice, 20, x);
    }
    double bad[3] = {0.5, 0.5, 1.0 + 0x1p-52}, nan[3] = {0.5, NAN, 0.5};
    struct storm_cell_ref next;
    if (!set.periodic[2])
        CHECK_EQ(mesh->ops->changes->seek(mesh, -1, bad, &next), STORM_ERR_ARG);
    CHECK_EQ(mesh->ops->changes->seek(mesh, -1, nan, &next), STORM_ERR_ARG);
    storm_cut_destroy(cut);
    storm_mesh_destroy(mesh);
    free(set.x);
}

/* Whole multiples of 1 / side, from 1/2 on if `inside`. */
static struct point_set make_lattice(int side, bool inside)
{
    int n = inside ? side : side + 1;
    struct point_set set = set_make(n * n * n);
    for (int i = 0; i < set.n; i++) {
        int at[3] = {i % n, i / n % n, i / n / n};
        for (int d = 0; d < 3; d++)
            set.x[i][d] = (at[d] + (inside ? 0.5 : 0.0)) / side;
    }
    return set;
}

/* All on a sphere round the middle, exactly, and the middle: its cell has as
 * many neighbours as there are. */
static struct point_set make_sphere(void)
{
    struct point_set set = set_make(MAX_POINTS);
    set.n = 0;
    for (int i = 0; i < 53 * 53 * 53; i++) {
        int a[3] = {i % 53 - 26, i / 53 % 53 - 26, i / 53 / 53 - 26};
        int r2 = a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
        for (int d = 0; (r2 == 689 || r2 == 0) && d < 3; d++)
            set.x[set.n][d] = 0.5 + a[d] / 64.0;
        set.n += r2 == 689 || r2 == 0;
    }
    return set;
}

static struct point_set make_random(int n)
{
    struct dice dice = dice_make(4, 0);
    struct point_set set = set_make(n);
    for (int i = 0; i < set.n; i++)
        for (int d = 0; d < 3; d++)
            set.x[i][d] = set_uniform(&dice);
    return set;
}

static struct point_set periodic(struct point_set set, int which)
{
    for (int d = 0; d < 3; d++)
        set.periodic[d] = which >> d & 1;
    return set;
}

/* Positions within a rounding of the plane between two generators, and those
 * that are tiny. */
static void check_exact(void)
{
    struct dice dice = dice_make(5, 0);
    int n_ties = 0;
    for (int i = 0; i < 20000; i++) {
        double a[3], b[3], x[3];
        for (int d = 0; d < 3; d++) {
            a[d] = rint(set_uniform(&dice) * per_grid) / per_grid;
            b[d] = rint(set_uniform(&dice) * per_grid) / per_grid;
            x[d] = 0.5 * (a[d] + b[d]) +
                   0x1p-53 * ((double)dice_roll(&dice, 3) - 1.0);
        }
        round_to_units(x);
        int expected = nearer(x, a, b);
        n_ties += expected == 0;
        CHECK_EQ(voronoi_nearer(x, a, b, per_grid), expected);
        CHECK_EQ(voronoi_exact_nearer(x, a, b, per_grid), expected);
        CHECK_EQ(voronoi_exact_nearer(x, b, a, per_grid), -expected);
    }
    CHECK(n_ties > 0);
    const double grids[] = {0x1p-199, 0x1p-51, 1.0, 0x1p170};
    const double tiny[] = {0x1p-1074, 0x1p-1022, 0x1.fffffffffffffp-900};
    for (size_t i = 0; i < sizeof grids / sizeof grids[0]; i++)
        for (size_t k = 0; k < sizeof tiny / sizeof tiny[0]; k++)
            for (int sign = -1; sign <= 1; sign++) {
                double far = 0x1p51 * grids[i];
                const double a[3] = {-far, far, 0.0}, b[3] = {far, far, 0.0};
                const double x[3] = {sign * tiny[k], far, -far};
                CHECK_EQ(voronoi_nearer(x, a, b, 1.0 / grids[i]), sign);
            }
}

int main(int argc, char **argv)
{
    struct storm_context *context;
    MPI_Init(&argc, &argv);
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, NULL, &context));
    check_exact();
    check_set(context, make_lattice(8, true), 8);
    check_set(context, make_lattice(6, true), 6);
    check_set(context, make_lattice(4, false), 4);
    check_set(context, make_sphere(), 32);
    check_set(context, make_random(400), 2);
    check_set(context, make_random(2), 2);
    check_set(context, periodic(make_lattice(8, true), 7), 8);
    check_set(context, periodic(make_lattice(4, true), 5), 4);
    check_set(context, periodic(make_random(200), 7), 2);
    check_set(context, periodic(make_random(3), 7), 2);
    check_set(context, periodic(make_random(2), 2), 2);
    check_set(context, periodic(make_lattice(1, true), 7), 2);
    storm_context_destroy(context);
    MPI_Finalize();
    return CHECK_PASS;
}
