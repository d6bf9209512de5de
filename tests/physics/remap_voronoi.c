/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; backend: shm; timeout: 60 */
/* TEST ranks: 3; backend: p2p; args: 1; timeout: 60; label: slow-asan */
/* TEST ranks: 5; backend: shm; args: 2; timeout: 60; label: slow-asan */
/* TEST ranks: 1 8; backend: shm; args: 2; timeout: 60; label: long */
/* TEST ranks: 3 5; backend: shm ofi-tcp; args: 1; timeout: 60; label: long */
/* TEST ranks: 2 5 8; backend: p2p ofi-tcp; args: 2; timeout: 99; label: long */
/*
 * storm_remap on Voronoi meshes that move: every packet ends in the cell that
 * exact comparison with all generators gives, of several the one of highest
 * place, also on faces, edges and corners; on the rank that has it; none is
 * lost; and the bits are those of one rank alone. After motions of 0.01, 0.1, 1
 * and 10 cell sizes, with two cuts that are switched in between, of which one
 * leaves ranks without cells. Packets jump along the curve soon, late or never;
 * the argument, 0 to 2, says which motion has which. Random
 * points, a lattice that stays one (all ties), 1, 2 and 3 generators, a cell
 * that jumps across the domain, a box that grows; with walls, and periodic.
 */
#include <storm/engine.h>
#include <storm/remap.h>

#include "moving.h"

#ifndef REMAP_LESS
#define REMAP_LESS 1
#endif

enum { N_PACKETS = 600 / REMAP_LESS, MAX_CELLS = 343 };

/* ---- worlds -------------------------------------------------------------- */

struct world {
    MPI_Comm comm;
    struct storm_context *context;
    struct storm_mesh *mesh;
    struct storm_engine *engine;
    struct storm_cut *cuts[2];
    int rank, size;
    int side;      /* of the lattice; 0: points are random */
    uint64_t jump; /* 0 to 2: the first remap's */
    bool is_periodic;
    struct storm_remap_stats stats; /* of the last remap */
};

/* How a world begins. */
struct start {
    int n, side;
    uint64_t jump;
    bool is_periodic;
};

static void stay(void *self, struct storm_step *step, void *packet,
                 struct storm_outcome *outcome)
{
    (void)self, (void)step, (void)packet;
    outcome->fate = STORM_FATE_CENSUS;
}

/* Point i of n; of a lattice if `side` is not 0. */
static void make_point(int i, int side, double x[3])
{
    struct dice dice = dice_make(11, (uint64_t)i);
    int at[3] = {0, 0, 0};
    if (side > 0) {
        at[0] = i % side;
        at[1] = i / side % side;
        at[2] = i / side / side;
    }
    for (int d = 0; d < 3; d++) {
        x[d] = moving_uniform(&dice);
        if (side > 0)
            x[d] = (at[d] + 0.5) / side;
    }
}

static uint64_t weigh_random(void *self, storm_cell_idx cell)
{
    return dice_mix(storm_mesh_cell_id(self, cell)) % 100;
}

static uint64_t weigh_one(void *self, storm_cell_idx cell)
{
    return storm_mesh_cell_id(self, cell) == 0;
}

static void world_open(struct world *w, MPI_Comm comm,
                       const struct start *start)
{
    static double points[MAX_CELLS][3];
    struct storm_physics physics = {.size = sizeof physics, .step = stay};
    struct storm_engine_params engine = {.size = sizeof engine,
                                         .record_bytes =
                                             sizeof(struct storm_packet),
                                         .physics = &physics};
    struct storm_voronoi_params params = {
        .size = sizeof params, .hi_cm = {1, 1, 1}, .points_cm = &points[0][0]};
    *w = (struct world){.comm = comm,
                        .side = start->side,
                        .jump = start->jump,
                        .is_periodic = start->is_periodic};
    for (int d = 0; d < 3; d++)
        params.periodic[d] = start->is_periodic;
    CHECK_OK(storm_context_create(comm, NULL, &w->context));
    w->rank = storm_context_rank(w->context);
    w->size = storm_context_size(w->context);
    for (int i = w->rank; i < start->n; i += w->size)
        make_point(i, w->side, points[params.n_points++]);
    CHECK_OK(storm_mesh_create_voronoi(w->context, &params, &w->mesh));
    CHECK_OK(storm_engine_create(w->context, &engine, &w->engine));
    for (int i = 0; i < 2; i++)
        CHECK_OK(storm_cut_create(w->mesh, &w->cuts[i]));
    storm_cut_fill(w->cuts[0], weigh_random, w->mesh);
    storm_cut_fill(w->cuts[1], weigh_one, w->mesh);
}

static void world_close(struct world *w)
{
    storm_engine_destroy(w->engine);
    storm_cut_destroy(w->cuts[0]); /* the other is the mesh's to release */
    storm_mesh_destroy(w->mesh);
    storm_context_destroy(w->context);
}

/* In any cell: the walk from it is the first that is checked. Packet i begins
 * on the rank that has place i, modulo the number of cells. */
static void world_add_packets(struct world *w)
{
    uint64_t total = storm_mesh_n_cells_total(w->mesh);
    uint64_t first = storm_mesh_first_place(w->mesh, w->rank);
    for (uint64_t i = 0; i < N_PACKETS; i++) {
        struct storm_packet packet = {
            .id = storm_packet_id_make(STORM_ORIGIN_USER, 0, 0, i)};
        packet.cell_idx = (storm_cell_idx)(i % total - first);
        if (i % total < first || packet.cell_idx >= storm_mesh_n_cells(w->mesh))
            continue;
        CHECK_OK(storm_engine_add(w->engine, &packet));
    }
}

/* ---- positions ----------------------------------------------------------- */

/* Anywhere; half-way between two generators; and points of a lattice that has
 * faces, edges and corners of the cells as its points. A function of the
 * packet's id, the round and the generators. */
static void set_position(const struct moving_table *table, double length,
                         int side, uint64_t round, struct storm_packet *packet)
{
    struct dice dice = dice_make(round, packet->id.lo);
    uint64_t kind = dice_roll(&dice, 4), ticks = 2 * (uint64_t)side;
    const double *a = table->cells[dice_roll(&dice, table->n)].x;
    const double *b = table->cells[dice_roll(&dice, table->n)].x;
    for (int d = 0; d < 3; d++) {
        double x = length * moving_uniform(&dice);
        if (kind == 1)
            x = 0.5 * (a[d] + b[d]);
        if (kind == 2 && side > 0)
            x = length * (double)dice_roll(&dice, ticks + 1) / (double)ticks;
        if (kind == 3 && dice_roll(&dice, 4) == 0)
            x = dice_roll(&dice, 2) ? length : 0.0;
        packet->position_cm[d] = moving_round(x);
    }
}

static void set_positions(struct world *w, uint64_t round)
{
    struct moving_table table = moving_table_make(w->mesh, w->comm, 0.0);
    double lo[3], hi[3];
    size_t n;
    void *const *packets = storm_engine_packets(w->engine, &n);
    storm_mesh_box(w->mesh, lo, hi);
    for (size_t i = 0; i < n; i++)
        set_position(&table, hi[0], w->side, round, packets[i]);
    free(table.cells);
}

/* ---- checks -------------------------------------------------------------- */

static void check_packets(struct world *w)
{
    double lo[3], hi[3];
    storm_mesh_box(w->mesh, lo, hi);
    struct moving_table table =
        moving_table_make(w->mesh, w->comm, w->is_periodic ? hi[0] : 0.0);
    uint64_t first = storm_mesh_first_place(w->mesh, w->rank);
    size_t n;
    void *const *packets = storm_engine_packets(w->engine, &n);
    for (size_t i = 0; i < n; i++) {
        const struct storm_packet *packet = packets[i];
        size_t place = moving_nearest(&table, packet->position_cm);
        CHECK_EQ(packet->cell, table.cells[place].tag);
        CHECK_EQ(packet->cell_idx, place - first);
        CHECK_EQ(storm_mesh_cell_id(w->mesh, packet->cell_idx), packet->cell);
        CHECK_EQ(packet->face, 0);
    }
    free(table.cells);
}

/* ---- changes ------------------------------------------------------------- */

/* Jumps late, soon, never. */
static void remap(struct world *w, struct storm_change *change, uint64_t round)
{
    struct storm_remap_params params = STORM_REMAP_PARAMS_INIT;
    uint64_t jump = (w->jump + round) % 3;
    params.jump_after = jump == 1 ? 1 : 0;
    params.never_jump = jump == 2;
    w->stats = (struct storm_remap_stats)STORM_REMAP_STATS_INIT;
    CHECK_OK(storm_remap(w->engine, w->mesh, change, &params, &w->stats));
    storm_change_destroy(change);
    CHECK_EQ(w->stats.outside, 0);
    CHECK_EQ(w->stats.fixed + w->stats.walked + w->stats.moved, N_PACKETS);
}

/* How generators move. */
struct motion {
    const char *name;
    double cells;   /* cell sizes, at random */
    int shift;      /* cells of a lattice, cyclic in x */
    bool one_jumps; /* that of tag 0, through the domain */
    double grow;    /* the box, and all with it */
};

/* The middle of another cell of the lattice, as make_point has it. */
static double shift_lattice(double x, double length, int shift, int side)
{
    int at = (int)floor(x / length * side);
    return length * (((at + shift) % side + 0.5) / side);
}

static void motion_make(const struct world *w, const struct motion *m,
                        uint64_t round, double *x)
{
    double lo[3], hi[3];
    storm_mesh_box(w->mesh, lo, hi);
    double size = hi[0] / cbrt((double)storm_mesh_n_cells_total(w->mesh));
    moving_random(w->mesh, m->cells * size, round, x);
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(w->mesh); i++) {
        double *at = x + 3 * (size_t)i;
        if (m->shift != 0) /* exact: to another point of the lattice */
            at[0] = shift_lattice(at[0], hi[0], m->shift, w->side);
        if (m->one_jumps && storm_mesh_cell_id(w->mesh, i) == 0)
            for (int d = 0; d < 3; d++)
                at[d] = moving_round(hi[d] - at[d] * 0.75);
        for (int d = 0; m->grow > 0.0 && d < 3; d++)
            at[d] *= m->grow;
    }
}

static void move(struct world *w, const struct motion *m, uint64_t round)
{
    struct storm_change *change;
    struct storm_mesh_box box;
    double *x =
        malloc((3 * (size_t)storm_mesh_n_cells(w->mesh) + 1) * sizeof *x);
    CHECK(x != NULL);
    motion_make(w, m, round, x);
    storm_mesh_box(w->mesh, box.lo_cm, box.hi_cm);
    for (int d = 0; m->grow > 0.0 && d < 3; d++)
        box.hi_cm[d] *= m->grow;
    CHECK_OK(storm_mesh_move(w->mesh, x, m->grow > 0.0 ? &box : NULL, &change));
    free(x);
    set_positions(w, round);
    remap(w, change, round);
    check_packets(w);
}

/* One cut and the other. Packets on faces stay where they are. */
static void recut(struct world *w, uint64_t round)
{
    struct storm_change *change;
    uint64_t hash = moving_hash(w->engine, w->comm, N_PACKETS);
    CHECK_OK(storm_mesh_use(w->mesh, w->cuts[round % 2], &change));
    remap(w, change, round);
    CHECK_EQ(w->stats.walked, 0);
    CHECK_EQ(moving_hash(w->engine, w->comm, N_PACKETS), hash);
    check_packets(w);
}

/* ---- the test ------------------------------------------------------------ */

static const struct motion motions[] = {
    {.name = "0.01 cells", .cells = 0.01},
    {.name = "0.1 cells", .cells = 0.1},
    {.name = "1 cell", .cells = 1.0},
    {.name = "a cell jumps", .one_jumps = true},
    {.name = "10 cells", .cells = 10.0},
    {.name = "the box grows", .cells = 0.3, .grow = 2.0},
};

static const struct motion lattice_motions[] = {
    {.name = "lattice at rest"},
    {.name = "lattice shifted by 1", .shift = 1},
    {.name = "lattice shifted by 3", .shift = 3},
    {.name = "a lattice that grows", .grow = 2.0},
};

/* The hash of rank 0, which is alone there. */
static void check_same(struct world *all, struct world *alone)
{
    uint64_t hash =
        all->rank == 0 ? moving_hash(alone->engine, alone->comm, N_PACKETS) : 0;
    MPI_Bcast(&hash, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    CHECK_EQ(moving_hash(all->engine, all->comm, N_PACKETS), hash);
}

static void check_motions(struct start start, const struct motion *list,
                          size_t n_list)
{
    struct world all, alone;
    world_open(&all, MPI_COMM_WORLD, &start);
    world_add_packets(&all);
    bool is_first = all.rank == 0;
    if (is_first) {
        world_open(&alone, MPI_COMM_SELF, &start);
        world_add_packets(&alone);
    }
    for (uint64_t round = 0; round < n_list; round++) {
        check_where("%d points, %s, %s, rank %d", start.n,
                    start.is_periodic ? "periodic" : "walls", list[round].name,
                    all.rank);
        move(&all, &list[round], round);
        if (is_first)
            move(&alone, &list[round], round);
        check_same(&all, &alone);
        recut(&all, round);
        if (is_first)
            recut(&alone, round);
        check_same(&all, &alone);
    }
    if (is_first)
        world_close(&alone);
    world_close(&all);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    uint64_t jump = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    for (int i = 0; i < 2; i++) {
        struct start start = {
            .n = 200 / REMAP_LESS, .jump = jump, .is_periodic = i};
        check_motions(start, motions, sizeof motions / sizeof motions[0]);
        start.side = 5;
        start.n = 5 * 5 * 5;
        check_motions(start, lattice_motions,
                      sizeof lattice_motions / sizeof lattice_motions[0]);
        start.side = 0;
        for (start.n = 1; start.n <= 3; start.n++)
            check_motions(start, motions, sizeof motions / sizeof motions[0]);
    }
    MPI_Finalize();
    return CHECK_PASS;
}
