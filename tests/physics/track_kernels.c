/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; timeout: 60 */
/*
 * All kernels of a kind of mesh that this processor can run give the same bits,
 * in Voronoi cells of all shapes and in given cells; and each exit is that of a
 * search in double precision through all faces, without fractions. The same for
 * implicit Monte Carlo: grey, with groups, with random walks; events taken by
 * lanes or one by one, all at once or a few in each call.
 *
 *   track_kernels FILE    also writes a case for another processor
 */
#include <stdio.h>

#include "kernel_case.h"
#include "lone.h"
#include "mesh/voronoi/voronoi_mesh.h"
#include "support/host.h"

enum { N = 4000, MAX_KERNELS = 3 };

static const struct storm_track_ops *const *const lists[MAX_KERNELS] = {
    storm_track_list, storm_track_avx2_list, storm_track_avx512_list};

/* Those of a mesh; the first is for any processor. */
static int find_kernels(const struct storm_mesh *mesh,
                        const struct storm_track_ops *kernels_out[MAX_KERNELS])
{
    const int can_run[MAX_KERNELS] = {1, storm_cpu_has_avx2(),
                                      storm_cpu_has_avx512()};
    int n = 0;
    for (int i = 0; i < MAX_KERNELS; i++)
        for (int k = 0; can_run[i] && lists[i][k] != NULL; k++)
            if (lists[i][k]->mesh == mesh->ops)
                kernels_out[n++] = lists[i][k];
    return n;
}

/* ---- meshes -------------------------------------------------------------- */

/* Random points in a box; `layers` of them with random places in each, or
 * anywhere. A few are on a wall or next to each other. */
static void open_cells(struct lone *lone, const double hi[3], int layers)
{
    enum { POINTS = 1200 };
    static double points[POINTS][3];
    struct dice dice = dice_make(3, (uint64_t)layers);
    for (int i = 0; i < POINTS; i++)
        for (int d = 0; d < 3; d++)
            points[i][d] = hi[d] * lone_uniform(&dice);
    for (int i = 0; i < POINTS && layers > 0; i++)
        points[i][2] = hi[2] * ((i % layers) + 0.5) / layers;
    for (int i = 0; i < 6; i++)
        points[i][i / 2] = i % 2 ? hi[i / 2] : 0.0;
    for (int i = 6; i < 20; i++)
        for (int d = 0; d < 3; d++)
            points[i][d] = points[i + 20][d] * (1.0 + 1e-7 * (d + 1));
    struct storm_voronoi_params params = STORM_VORONOI_PARAMS_INIT;
    memcpy(params.hi_cm, hi, sizeof params.hi_cm);
    params.points_cm = points[0];
    params.n_points = POINTS;
    CHECK_OK(storm_context_create(MPI_COMM_SELF, NULL, &lone->context));
    CHECK_OK(storm_mesh_create_voronoi(lone->context, &params, &lone->mesh));
    lone_begin(lone);
}

/* ---- the same bits ------------------------------------------------------- */

static void move(const struct lone *lone, storm_track_fn *advance,
                 struct storm_packet *packets, struct storm_outcome *outcomes)
{
    static void *pointers[N];
    for (int i = 0; i < N; i++)
        pointers[i] = &packets[i];
    memset(outcomes, 0, N * sizeof *outcomes);
    memset(lone->track.exact, 0,
           (size_t)storm_mesh_n_cells(lone->mesh) * sizeof(storm_exact));
    advance(&lone->track, pointers, N, outcomes);
}

static void check_bits(struct lone *lone, double flight_s)
{
    static struct storm_packet start[N], first[N], again[N];
    static struct storm_outcome outcomes[2][N];
    const struct storm_track_ops *kernels[MAX_KERNELS];
    int n_kernels = find_kernels(lone->mesh, kernels);
    size_t bytes = (size_t)storm_mesh_n_cells(lone->mesh) * sizeof(storm_exact);
    storm_exact *tally = malloc(bytes);
    CHECK(tally != NULL && n_kernels >= 1);
    struct dice dice = dice_make(1, 0);
    for (int i = 0; i < N; i++) {
        start[i] = lone_packet(lone, &dice);
        start[i].time_left_s = flight_s;
    }
    memcpy(first, start, sizeof first);
    move(lone, kernels[0]->advance, first, outcomes[0]);
    memcpy(tally, lone->track.exact, bytes);
    for (int k = 1; k < n_kernels; k++) {
        memcpy(again, start, sizeof again);
        move(lone, kernels[k]->advance, again, outcomes[1]);
        CHECK(memcmp(again, first, sizeof again) == 0);
        CHECK(memcmp(outcomes[0], outcomes[1], sizeof outcomes[0]) == 0);
        CHECK(memcmp(tally, lone->track.exact, bytes) == 0);
    }
    free(tally);
}

/* ---- implicit Monte Carlo ------------------------------------------------ */

/* What a kernel makes of the packets and the cells. */
struct imc_result {
    struct storm_packet packets[N];
    struct storm_outcome outcomes[N];
    struct imc_case c;
};

static void run_imc(struct lone *lone, imc_advance_fn *advance,
                    struct imc_result *r)
{
    struct dice dice = dice_make(9, 0);
    memset(r->outcomes, 0, sizeof r->outcomes);
    for (int i = 0; i < N; i++)
        r->packets[i] = lone_packet(lone, &dice);
    imc_case_run(&r->c, advance, r->packets, N, r->outcomes);
}

static void compare_imc(const struct imc_result *a, const struct imc_result *b)
{
    size_t n = a->c.n_cells;
    for (int i = 0; i < N; i++)
        if (memcmp(&a->packets[i], &b->packets[i], sizeof a->packets[i]) != 0) {
            check_where("packet %d: fates %d and %d, draws %d and %d", i,
                        (int)a->outcomes[i].fate, (int)b->outcomes[i].fate,
                        (int)a->packets[i].draws, (int)b->packets[i].draws);
            CHECK(false);
        }
    CHECK(memcmp(a->outcomes, b->outcomes, sizeof a->outcomes) == 0);
    CHECK(memcmp(a->c.cells, b->c.cells, n * sizeof *a->c.cells) == 0);
    CHECK(memcmp(a->c.paths, b->c.paths,
                 n * a->c.n_groups * sizeof *a->c.paths) == 0);
}

/* All ends of a history were seen. */
static void check_ends(const struct imc_result *r, bool is_whole)
{
    bool seen[STORM_FATE_ESCAPED + 1] = {false};
    for (int i = 0; i < N; i++)
        seen[r->outcomes[i].fate] = true;
    CHECK(seen[STORM_FATE_CENSUS] && seen[STORM_FATE_ABSORBED]);
    CHECK(seen[STORM_FATE_ESCAPED] && seen[STORM_FATE_CONTINUE] == !is_whole);
}

/* By lanes, on all processors, and one by one: a kernel that counts events. */
static void check_imc_as(struct lone *lone, size_t n_groups, bool walks,
                         bool has_room, uint64_t max_events)
{
    static struct imc_result first, again;
    const struct storm_track_ops *kernels[MAX_KERNELS];
    int n_kernels = find_kernels(lone->mesh, kernels);
    size_t n_cells = (size_t)storm_mesh_n_cells(lone->mesh);
    imc_case_open(&first.c, lone->mesh, n_cells, n_groups, walks);
    imc_case_open(&again.c, lone->mesh, n_cells, n_groups, walks);
    first.c.track.max_events = again.c.track.max_events = max_events;
    run_imc(lone, kernels[0]->imc, &first);
    if (has_room)
        check_ends(&first, max_events == UINT64_MAX);
    CHECK(!has_room || (first.c.methods.events[IMC_WALKED] > 0) == walks);
    for (int k = 1; k < n_kernels; k++) {
        run_imc(lone, kernels[k]->imc, &again);
        compare_imc(&first, &again);
    }
    imc_case_count(&first.c, true);
    run_imc(lone, kernels[0]->imc_counted, &first);
    for (int k = 0; k < n_kernels; k++) {
        imc_case_count(&again.c, false);
        run_imc(lone, kernels[k]->imc_counted, &again);
        compare_imc(&first, &again);
    }
    again.c.track.moments = NULL;
    run_imc(lone, kernels[0]->imc, &again);
    memset(first.c.paths, 0, n_cells * n_groups * sizeof *first.c.paths);
    compare_imc(&first, &again);
    imc_case_close(&first.c);
    imc_case_close(&again.c);
}

/* In wide cells some packets walk, and histories end in all possible ways. */
static void check_imc(struct lone *lone, bool has_room)
{
    static const uint64_t max_events[] = {UINT64_MAX, 9};
    for (int i = 0; i < 2; i++) {
        check_imc_as(lone, 1, false, has_room, max_events[i]);
        check_imc_as(lone, 1, true, has_room, max_events[i]);
        check_imc_as(lone, 30, false, has_room, max_events[i]);
    }
}

/* ---- for another processor ----------------------------------------------- */

static void write_array(void *file, void **array, size_t bytes)
{
    CHECK(fwrite(*array, 1, bytes, file) == bytes);
}

/* Implicit Monte Carlo of the packets of a case. */
static void run_imc_case(struct lone *lone, imc_advance_fn *advance,
                         struct kernel_case *c, struct imc_result results[])
{
    for (int i = 0; i < CASE_IMC; i++) {
        struct imc_result *r = &results[i];
        imc_case_open(&r->c, lone->mesh, (size_t)c->n_cells,
                      kernel_case_imc[i].n_groups, kernel_case_imc[i].walks);
        memcpy(r->packets, c->start, sizeof r->packets);
        imc_case_run(&r->c, advance, r->packets, N, r->outcomes);
        c->imc_end[i] = r->packets;
        c->imc_cells[i] = r->c.cells;
    }
}

/* What the kernels for any processor make of random packets. */
static void write_case(struct lone *lone, const char *path)
{
    static struct storm_packet start[N], end[N];
    static struct storm_outcome outcomes[N];
    static struct imc_result results[CASE_IMC];
    static double values[CASE_MATH];
    struct voronoi_part *part = (struct voronoi_part *)lone->mesh->part;
    struct dice dice = dice_make(5, 0);
    const struct storm_track_ops *kernels[MAX_KERNELS];
    CHECK(find_kernels(lone->mesh, kernels) >= 1);
    for (int i = 0; i < N; i++) {
        start[i] = end[i] = lone_packet(lone, &dice);
        start[i].time_left_s = end[i].time_left_s = 2.0;
    }
    move(lone, kernels[0]->advance, end, outcomes);
    size_t n_cells = (size_t)storm_mesh_n_cells(lone->mesh);
    struct kernel_case c = {
        .n_cells = n_cells,
        .n_blocks = part->heads[n_cells].first_block,
        .n_borders = part->n_borders,
        .n_packets = N,
        .heads = part->heads,
        .blocks = part->blocks,
        .borders = part->borders,
        .start = start,
        .end = end,
        .outcomes = outcomes,
        .tally = lone->track.exact,
    };
    run_imc_case(lone, kernels[0]->imc, &c, results);
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL);
    kernel_case_math(values);
    CHECK(fwrite(&c, sizeof c, 1, file) == 1);
    CHECK(fwrite(values, sizeof values, 1, file) == 1);
    kernel_case_arrays(&c, file, write_array);
    CHECK(fclose(file) == 0);
    for (int i = 0; i < CASE_IMC; i++)
        imc_case_close(&results[i].c);
}

/* ---- the right exits ----------------------------------------------------- */

/* Seconds to the plane behind which `next` is; infinite: away from it. */
static double to_plane(const struct voronoi_part *part,
                       const struct storm_packet *packet, int32_t next)
{
    double normal[3], towards = 0.0, height;
    height = voronoi_plane_of(part, (size_t)packet->cell_idx, next, normal);
    for (int d = 0; d < 3; d++) {
        double y =
            packet->position_cm[d] - part->heads[packet->cell_idx].generator[d];
        towards += normal[d] * packet->direction[d];
        height -= normal[d] * y;
    }
    return towards > 0.0 ? height / towards : (double)INFINITY;
}

/* What is behind the nearest plane, and how long to it and to the second. */
static int32_t search(const struct voronoi_part *part,
                      const struct storm_packet *packet, double times_out[2])
{
    int32_t found = 0;
    const struct voronoi_head *head = &part->heads[packet->cell_idx];
    times_out[0] = times_out[1] = (double)INFINITY;
    for (uint32_t b = head[0].first_block; b < head[1].first_block; b++)
        for (size_t k = 0; k < VORONOI_WIDTH; k++) {
            if (!storm_planes_is_used(&part->blocks[b], k))
                continue;
            double t = to_plane(part, packet, part->blocks[b].next[k]);
            times_out[1] = fmin(times_out[1], fmax(t, times_out[0]));
            if (t < times_out[0]) {
                times_out[0] = t;
                found = part->blocks[b].next[k];
            }
        }
    return found;
}

/* One event at a time. */
static void check_exits(struct lone *lone)
{
    enum { PACKETS = 300, EVENTS = 40 };
    const struct voronoi_part *part = voronoi_part_of(lone->mesh);
    const struct storm_track_ops *kernels[MAX_KERNELS];
    int n_kernels = find_kernels(lone->mesh, kernels), compared = 0;
    struct dice dice = dice_make(2, 0);
    lone->track.max_events = 1;
    for (int i = 0; i < PACKETS * n_kernels; i++) {
        struct storm_packet packet = lone_packet(lone, &dice);
        packet.time_left_s = 1e3;
        lone->advance = kernels[i % n_kernels]->advance;
        for (int event = 0; event < EVENTS; event++) {
            double times[2];
            int32_t next = search(part, &packet, times);
            next = next >= 0 ? next : packet.cell_idx; /* a mirror */
            CHECK(lone_advance(lone, &packet).events == 1);
            if (times[0] < 1e-12 || times[1] < times[0] * (1.0 + 1e-9))
                continue; /* rounding decides */
            CHECK_EQ(packet.cell_idx, next);
            compared++;
        }
    }
    lone->track.max_events = UINT64_MAX;
    CHECK(compared > n_kernels * PACKETS * EVENTS / 2);
}

int main(int argc, char **argv)
{
    static const double shapes[][3] = {
        {1, 1, 1}, {1, 1, 1e-3}, {1, 1, 1}, {1e-3, 1, 1}};
    static const int layers[] = {0, 0, 200, 4};
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 4; i++) {
        struct lone lone, given;
        check_where("shape %d, layers %d", i, layers[i]);
        open_cells(&lone, shapes[i], layers[i]);
        check_bits(&lone, 2.0);
        check_exits(&lone);
        check_imc(&lone, i == 0);
        if (argc > 1 && i == 0)
            write_case(&lone, argv[1]);
        struct host host = host_of_voronoi(lone.mesh);
        CHECK_OK(storm_context_create(MPI_COMM_SELF, NULL, &given.context));
        CHECK_OK(host_give(&host, given.context, 0, &given.mesh));
        host_free(&host);
        lone_begin(&given);
        given.track.mirror_walls = 0;
        check_bits(&given, 2.0);
        check_imc(&given, i == 0);
        lone_close(&given);
        lone_close(&lone);
    }
    MPI_Finalize();
    return CHECK_PASS;
}
