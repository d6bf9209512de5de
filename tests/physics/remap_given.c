/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 2 5; backend: shm; timeout: 60 */
/*
 * storm_mesh_replace and storm_remap on meshes of a host: every packet ends in
 * the cell of lowest tag among those that hold it, by brute force over all
 * cells of the host, from whichever cell it began, also on faces, edges and
 * corners; on the rank that has it; those in no cell come to the boundary; and
 * the bits are those of one rank alone. Rows of cells follow their tags.
 *
 * Voronoi cells that move by 0.1 and 1 cell sizes, come and go, in a box that
 * grows; tetrahedra, all points on faces and corners, in a box that moves away
 * from some packets; boxes that make an L and then a ring with a hole;
 * tetrahedra of which both sides of a face differ by as much as a host may err.
 */
#include <storm/engine.h>
#include <storm/given.h>
#include <storm/remap.h>

#include "moving.h"
#include "support/host.h"

enum { N_PACKETS = 600, MAX_STEPS = 6 };

/* A series of meshes: one, and those that replace it. */
struct series {
    const char *name;
    int n_steps;
    struct host hosts[MAX_STEPS];
    double lo[3], hi[3]; /* of positions */
    int ticks;           /* of a lattice that has corners as its points */
    bool is_rough;       /* planes do not meet */
};

/* ---- worlds -------------------------------------------------------------- */

struct world {
    MPI_Comm comm;
    struct storm_context *context;
    struct storm_mesh *mesh;
    struct storm_engine *engine;
    const struct host *host;
    uint64_t n_outside; /* that the boundary has seen */
    int rank;
};

static void stay(void *self, struct storm_step *step, void *packet,
                 struct storm_outcome *outcome)
{
    (void)self, (void)step, (void)packet;
    outcome->fate = STORM_FATE_CENSUS;
}

/* To the middle of the host's first cell. */
static void put_inside(void *self, struct storm_step *step, void *record,
                       struct storm_outcome *outcome)
{
    struct world *w = self;
    struct storm_packet *packet = record;
    (void)step;
    memcpy(packet->position_cm, w->host->centroids, 3 * sizeof(double));
    w->n_outside++;
    outcome->fate = STORM_FATE_CONTINUE;
}

/* Packet i begins on the rank that has place i, modulo the number of cells. */
static void world_open(struct world *w, MPI_Comm comm, const struct host *host)
{
    struct storm_physics physics = {.size = sizeof physics, .step = stay};
    struct storm_engine_params engine = {.size = sizeof engine,
                                         .record_bytes =
                                             sizeof(struct storm_packet),
                                         .physics = &physics};
    *w = (struct world){.comm = comm, .host = host};
    CHECK_OK(storm_context_create(comm, NULL, &w->context));
    w->rank = storm_context_rank(w->context);
    CHECK_OK(host_give(host, w->context, 1, &w->mesh));
    CHECK_OK(storm_engine_create(w->context, &engine, &w->engine));
    uint64_t total = storm_mesh_n_cells_total(w->mesh);
    uint64_t first = storm_mesh_first_place(w->mesh, w->rank);
    for (uint64_t i = 0; i < N_PACKETS; i++) {
        struct storm_packet packet = {
            .id = storm_packet_id_make(STORM_ORIGIN_USER, 0, 0, i)};
        packet.cell_idx = (storm_cell_idx)(i % total - first);
        if (i % total >= first && packet.cell_idx < storm_mesh_n_cells(w->mesh))
            CHECK_OK(storm_engine_add(w->engine, &packet));
    }
}

static void world_close(struct world *w)
{
    storm_engine_destroy(w->engine);
    storm_mesh_destroy(w->mesh);
    storm_context_destroy(w->context);
}

/* ---- brute force --------------------------------------------------------- */

/* Distance beyond the planes of a cell of the host, as given. */
static double worst(const struct host *h, size_t cell, const double x[3])
{
    double max = -INFINITY;
    for (uint64_t f = h->first_face[cell]; f < h->first_face[cell + 1]; f++) {
        const double *n = &h->normals[3 * f], *m = &h->on_planes[3 * f];
        double over = 0.0, nn = 0.0;
        for (size_t d = 0; d < 3; d++) {
            over += n[d] * (x[d] - h->points[3 * cell + d] - m[d]);
            nn += n[d] * n[d];
        }
        max = fmax(max, over / sqrt(nn));
    }
    return max;
}

/* The cell of lowest tag that holds a point; -1: none. Positions are on planes
 * but for rounding, or far from them. */
static int brute(const struct host *h, const double x[3])
{
    int best = -1;
    for (size_t c = 0; c < h->n_cells; c++)
        if (worst(h, c, x) <= 1e-12 && (best < 0 || h->tags[c] < h->tags[best]))
            best = (int)c;
    return best;
}

/* ---- positions ----------------------------------------------------------- */

/* Anywhere; on the lattice; on the plane of a face; in the middle of a cell. A
 * function of the packet's id, the step and the host. */
static void set_position(const struct series *s, const struct host *h,
                         uint64_t step, struct storm_packet *packet)
{
    struct dice dice = dice_make(step, packet->id.lo);
    uint64_t kind = dice_roll(&dice, s->is_rough ? 1 : 4);
    size_t cell = dice_roll(&dice, h->n_cells);
    size_t face = (size_t)h->first_face[cell];
    for (size_t d = 0; d < 3; d++) {
        double width = s->hi[d] - s->lo[d];
        double *x = &packet->position_cm[d], u = moving_uniform(&dice);
        *x = s->lo[d] + width * u;
        if (kind == 1)
            *x = s->lo[d] + width * floor(u * (s->ticks + 1)) / s->ticks;
        if (kind == 2)
            *x = h->points[3 * cell + d] + h->on_planes[3 * face + d];
        if (kind == 3)
            *x = h->centroids[3 * cell + d];
    }
}

static void set_positions(const struct series *s, struct world *w,
                          uint64_t step)
{
    size_t n;
    void *const *packets = storm_engine_packets(w->engine, &n);
    for (size_t i = 0; i < n; i++)
        set_position(s, w->host, step, packets[i]);
}

/* ---- checks -------------------------------------------------------------- */

static void check_packets(const struct series *s, struct world *w,
                          uint64_t step)
{
    size_t n;
    void *const *packets = storm_engine_packets(w->engine, &n);
    for (size_t i = 0; i < n; i++) {
        struct storm_packet *packet = packets[i];
        struct storm_packet before = *packet;
        CHECK_EQ(storm_mesh_cell_id(w->mesh, packet->cell_idx), packet->cell);
        CHECK_EQ(packet->face, 0);
        set_position(s, w->host, step, &before);
        if (s->is_rough) {
            CHECK(packet->position_cm[0] == before.position_cm[0]);
            CHECK(worst(w->host, packet->cell, packet->position_cm) <= 1e-5);
            continue;
        }
        int home = brute(w->host, before.position_cm);
        if (home < 0)
            home = brute(w->host, w->host->centroids);
        CHECK_EQ(packet->cell, w->host->tags[home]);
    }
}

/* Packets of all ranks whose position is in no cell. */
static uint64_t count_outside(const struct series *s, struct world *w)
{
    uint64_t sum = 0;
    size_t n;
    void *const *packets = storm_engine_packets(w->engine, &n);
    for (size_t i = 0; i < n && !s->is_rough; i++) {
        const struct storm_packet *packet = packets[i];
        sum += brute(w->host, packet->position_cm) < 0;
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, w->comm);
    return sum;
}

static bool has_tag(const struct host *h, storm_cell_id tag)
{
    for (size_t c = 0; c < h->n_cells; c++)
        if (h->tags[c] == tag)
            return true;
    return false;
}

/* Rows follow, and cells that are gone lead to one that is there. */
static void check_rows(const struct world *w, const struct host *old,
                       const struct storm_change *change, const uint64_t *rows)
{
    size_t n = (size_t)storm_mesh_n_cells(w->mesh);
    uint64_t *now = calloc(n + 1, sizeof *now);
    CHECK(now != NULL);
    CHECK_OK(storm_mesh_carry(w->mesh, change, sizeof *now, rows, now));
    for (size_t i = 0; i < n; i++) {
        storm_cell_id tag = storm_mesh_cell_id(w->mesh, (storm_cell_idx)i);
        struct storm_cell_ref from;
        bool is_old = has_tag(old, tag);
        CHECK_EQ(storm_change_from(change, (storm_cell_idx)i, &from), is_old);
        CHECK_EQ(now[i], is_old ? 3 * tag + 1 : 0);
    }
    free(now);
    for (storm_cell_idx i = 0; i < storm_change_n_old(change); i++) {
        struct storm_cell_ref to;
        bool is_kept = has_tag(w->host, rows[i] / 3);
        CHECK_EQ(storm_change_to(change, i, &to) == STORM_CELL_KEPT, is_kept);
        CHECK(to.rank >= 0 && to.rank < storm_context_size(w->context));
        CHECK((uint64_t)to.idx < storm_mesh_first_place(w->mesh, to.rank + 1) -
                                     storm_mesh_first_place(w->mesh, to.rank));
    }
}

/* ---- the test ------------------------------------------------------------ */

static struct storm_change *replace(struct world *w, const struct host *host,
                                    uint64_t step)
{
    size_t n = (size_t)storm_mesh_n_cells(w->mesh);
    uint64_t generation = storm_mesh_generation(w->mesh);
    uint64_t *rows = calloc(n + 1, sizeof *rows);
    const struct host *old = w->host;
    struct storm_change *change;
    CHECK(rows != NULL);
    for (size_t i = 0; i < n; i++)
        rows[i] = 3 * storm_mesh_cell_id(w->mesh, (storm_cell_idx)i) + 1;
    CHECK_OK(host_replace(host, w->context, step + 7, w->mesh, &change));
    CHECK_EQ(storm_mesh_generation(w->mesh), generation + 1);
    w->host = host;
    check_rows(w, old, change, rows);
    free(rows);
    return change;
}

static void step_world(const struct series *s, struct world *w, uint64_t step)
{
    struct storm_boundary boundary = {
        .size = sizeof boundary, .self = w, .apply = put_inside};
    struct storm_remap_params params = {.size = sizeof params,
                                        .boundary = &boundary,
                                        .jump_after = step % 3 == 1,
                                        .never_jump = step % 3 == 2};
    struct storm_remap_stats stats = STORM_REMAP_STATS_INIT;
    struct storm_change *change = replace(w, &s->hosts[step], step);
    set_positions(s, w, step);
    uint64_t n_outside = count_outside(s, w);
    w->n_outside = 0;
    CHECK_OK(storm_remap(w->engine, w->mesh, change, &params, &stats));
    storm_change_destroy(change);
    check_packets(s, w, step);
    MPI_Allreduce(MPI_IN_PLACE, &w->n_outside, 1, MPI_UINT64_T, MPI_SUM,
                  w->comm);
    CHECK_EQ(w->n_outside, n_outside);
    CHECK_EQ(stats.outside, n_outside);
    CHECK_EQ(stats.fixed + stats.walked + stats.moved, N_PACKETS);
}

static void check_series(struct series *s)
{
    struct world all, alone;
    world_open(&all, MPI_COMM_WORLD, &s->hosts[0]);
    bool is_first = all.rank == 0;
    if (is_first)
        world_open(&alone, MPI_COMM_SELF, &s->hosts[0]);
    for (uint64_t step = 1; step < (uint64_t)s->n_steps; step++) {
        check_where("%s, step %d, rank %d", s->name, (int)step, all.rank);
        step_world(s, &all, step);
        if (is_first)
            step_world(s, &alone, step);
        uint64_t hash =
            is_first ? moving_hash(alone.engine, alone.comm, N_PACKETS) : 0;
        MPI_Bcast(&hash, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        CHECK_EQ(moving_hash(all.engine, all.comm, N_PACKETS), hash);
    }
    if (is_first)
        world_close(&alone);
    world_close(&all);
    for (int i = 0; i < s->n_steps; i++)
        host_free(&s->hosts[i]);
}

/* ---- series -------------------------------------------------------------- */

static void grow(struct storm_mesh *mesh, double by)
{
    struct storm_mesh_box box;
    struct storm_change *change;
    double x[600];
    storm_mesh_box(mesh, box.lo_cm, box.hi_cm);
    moving_random(mesh, 0.0, 1, x);
    for (int i = 0; i < 3 * storm_mesh_n_cells(mesh); i++)
        x[i] *= by;
    for (int d = 0; d < 3; d++)
        box.hi_cm[d] *= by;
    CHECK_OK(storm_mesh_move(mesh, x, &box, &change));
    storm_change_destroy(change);
}

/* Every seventh cell goes, 20 come. */
static void adapt(struct storm_mesh *mesh)
{
    enum { N_ADD = 20 };
    storm_cell_idx gone[100];
    double points[N_ADD][3];
    struct storm_adapt_params params = {.size = sizeof params,
                                        .remove = gone,
                                        .add_cm = &points[0][0],
                                        .n_add = N_ADD};
    struct dice dice = dice_make(3, 1);
    struct storm_change *change;
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i += 7)
        gone[params.n_remove++] = i;
    for (int i = 0; i < 3 * N_ADD; i++)
        points[i / 3][i % 3] = moving_uniform(&dice);
    CHECK_OK(storm_mesh_adapt(mesh, &params, &change));
    storm_change_destroy(change);
}

static void check_voronoi(struct storm_context *self)
{
    enum { N = 130 };
    struct series s = {.name = "voronoi",
                       .n_steps = 5,
                       .lo = {-0.1, 0, 0},
                       .hi = {1, 1, 1},
                       .ticks = 4};
    double points[3 * N], x[600];
    struct storm_voronoi_params params = {.size = sizeof params,
                                          .hi_cm = {1, 1, 1},
                                          .points_cm = points,
                                          .n_points = N};
    struct storm_mesh *mesh;
    struct storm_change *change;
    struct dice dice = dice_make(11, 1);
    for (int i = 0; i < 3 * N; i++)
        points[i] = moving_uniform(&dice);
    CHECK_OK(storm_mesh_create_voronoi(self, &params, &mesh));
    s.hosts[0] = host_of_voronoi(mesh);
    for (int i = 1; i < 3; i++) {
        moving_random(mesh, i == 1 ? 0.02 : 0.2, (uint64_t)i, x);
        CHECK_OK(storm_mesh_move(mesh, x, NULL, &change));
        storm_change_destroy(change);
        s.hosts[i] = host_of_voronoi(mesh);
    }
    adapt(mesh);
    s.hosts[3] = host_of_voronoi(mesh);
    grow(mesh, 1.5);
    s.hosts[4] = host_of_voronoi(mesh);
    storm_mesh_destroy(mesh);
    check_series(&s);
}

static void check_tetrahedra(void)
{
    struct series s = {.name = "tetrahedra",
                       .n_steps = 4,
                       .lo = {-1, -1, -1},
                       .hi = {2, 2, 2},
                       .ticks = 12};
    for (int i = 0; i < s.n_steps; i++) {
        const double lo[3] = {0.5 * i, 0, -0.25 * i}, hi[3] = {2, 2, 1};
        s.hosts[i] = host_of_tetrahedra(2 + i % 2, lo, hi);
        for (size_t c = 0; c < s.hosts[i].n_cells; c++) /* cells come and go */
            s.hosts[i].tags[c] = (c < 30 ? 0 : 1000u * (unsigned)i) + 7 * c;
    }
    check_series(&s);
}

static int one_wall(int i, int side)
{
    (void)i;
    return side;
}

/* An L of three, then eight round a hole, then two that do not touch. */
static void check_shapes(void)
{
    static const struct host_box ell[] = {
        {{0, 0, 0}, {1, 1, 1}}, {{1, 0, 0}, {2, 1, 1}}, {{0, 1, 0}, {1, 2, 1}}};
    struct host_box ring[8];
    const struct host_box two[] = {{{0, 0, 0}, {1, 3, 1}},
                                   {{2, 0, 0}, {3, 3, 1}}};
    struct series s = {
        .name = "shapes", .n_steps = 3, .hi = {3, 3, 1}, .ticks = 6};
    int n = 0;
    for (int i = 0; i < 9; i++)
        if (i != 4)
            ring[n++] =
                (struct host_box){{i % 3, i / 3, 0}, {i % 3 + 1, i / 3 + 1, 1}};
    s.hosts[0] = host_of_boxes(ell, 3, one_wall, 6);
    s.hosts[1] = host_of_boxes(ring, 8, one_wall, 6);
    s.hosts[2] = host_of_boxes(two, 2, one_wall, 6);
    for (size_t c = 0; c < 8; c++) /* three are the L's, in another order */
        s.hosts[1].tags[c] = c < 3 ? 2 - c : 40 - c;
    s.hosts[2].tags[0] = 50;
    check_series(&s);
}

static void check_rough(void)
{
    const double lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1};
    struct series s = {.name = "rough",
                       .n_steps = 3,
                       .hi = {1, 1, 1},
                       .ticks = 1,
                       .is_rough = true};
    for (int i = 0; i < s.n_steps; i++) {
        struct host *h = &s.hosts[i];
        struct dice dice = dice_make(5, (uint64_t)i);
        *h = host_of_tetrahedra(3, lo, hi);
        for (size_t f = 0; f < h->n_faces; f++)
            if (h->behind[f] >= 0)
                for (size_t d = 0; d < 3; d++)
                    h->on_planes[3 * f + d] +=
                        1e-7 * (moving_uniform(&dice) - 0.5);
    }
    check_series(&s);
}

int main(int argc, char **argv)
{
    struct storm_context *self;
    MPI_Init(&argc, &argv);
    CHECK_OK(storm_context_create(MPI_COMM_SELF, NULL, &self));
    check_voronoi(self);
    check_tetrahedra();
    check_shapes();
    check_rough();
    storm_context_destroy(self);
    MPI_Finalize();
    return CHECK_PASS;
}
