/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; timeout: 60 */
/* TEST ranks: 3; timeout: 60; label: long */
/*
 * IMC-2 and IMC-3: implicit Monte Carlo in cells that are not boxes: the
 * portable kernel and the one for AVX2 give the same bits, with random walk and
 * without, and the energy balance closes; emission follows the slopes; sources
 * and parts of walls that cut cells emit the right energy from the right
 * places, evenly (all within k = 5 standard errors). The same in periodic
 * boxes, with the same bits on one rank as on all; and on a mesh whose cells
 * move, are removed and added, at the border of matter, too: no energy of
 * matter is lost (FOLLOW-1, FOLLOW-2).
 */
#include <math.h>
#include <stdio.h>

#include <storm/remap.h>

#include "base/port.h"
#include "moving.h"
#include "physics/imc.h"
#include "physics/track.h"
#include "run/run_points.h"
#include "support/check.h"
#include "support/imc_box.h"

enum { N_POINTS = 200 };
static const double even_k = 5.0;

/* The problem of a box on a mesh of n_points cells, from its start. */
static void box_open(struct imc_box *box, uint64_t n_points, MPI_Comm comm)
{
    struct storm_points_params set = {
        .size = sizeof set, .seed = 3, .n_total = n_points, .hi_cm = {1, 1, 1}};
    struct storm_voronoi_params voronoi = {.size = sizeof voronoi,
                                           .hi_cm = {1, 1, 1}};
    for (int d = 0; d < 3; d++) {
        const struct storm_wall *wall = &box->problem.walls[2 * d];
        voronoi.periodic[d] =
            wall->n == 1 && wall->parts[0].kind == STORM_WALL_PERIODIC;
    }
    CHECK_OK(storm_context_create(comm, NULL, &box->context));
    CHECK_OK(run_points_mesh(box->context, &set, &voronoi, &box->mesh));
    imc_box_open(box);
    CHECK_OK(storm_imc_start(box->imc, box->engine));
}

static void box_step(struct imc_box *box, double time_s, double dt_s,
                     double energy_out[4])
{
    CHECK(imc_box_step(box, time_s, dt_s, energy_out) <= 1e-13);
}

/* ---- kernels ------------------------------------------------------------ */

static const struct storm_material materials[] = {
    {.name = "thick",
     .absorption = {.coef = 500, .max = 1e12},
     .heat_capacity = {.coef = 4, .max = 1e12},
     .temperature_kev = 0.5,
     .radiation_temperature_kev = -1},
    {.name = "thin",
     .absorption = {.coef = 2, .t_exp = -1, .max = 50},
     .scattering = {.coef = 3, .max = 1e12},
     .heat_capacity = {.coef = 1, .max = 1e12},
     .temperature_kev = 0.1,
     .radiation_temperature_kev = -1},
};
static const double hot[] = {0.0, 1.0};
static const struct storm_wall_part edges[] = {
    {.kind = STORM_WALL_REFLECT},
    {.kind = STORM_WALL_BLACKBODY,
     .temperature = {.points = hot, .n = 1},
     .stop_s = 100.0,
     .packets = 500,
     .shape = {.kind = STORM_SHAPE_CYLINDER,
               .axis = 0,
               .centre_cm = {0.4, 0.6},
               .radius_cm = {0.1, 0.35},
               .range_cm = {-1, 2}}},
};

static uint64_t kernel_hash(const struct storm_track_ops *ops, bool walk,
                            uint64_t n_groups, uint64_t *events_out)
{
    enum { STEPS = 4 };
    struct imc_box box = {
        .problem = {STORM_PROBLEM_SIZES,
                    .light_cm_s = 1,
                    .radiation_erg_cm3_kev4 = 1,
                    .hi_cm = {1, 1, 1},
                    .materials = materials,
                    .n_materials = 2,
                    .regions = imc_box_regions,
                    .n_regions = IMC_BOX_REGIONS,
                    .sources = &imc_box_source,
                    .n_sources = 1,
                    .walls = {{edges, 2}, {edges, 1}, {edges, 1}},
                    .n_groups = n_groups,
                    .group_min_kev = 0.01,
                    .group_max_kev = 10,
                    .emit_per_cell = 4,
                    .min_per_cell = 2,
                    .max_per_cell = 8,
                    .comb = true,
                    .random_walk = walk,
                    .seed = 1},
    };
    struct storm_stats stats = STORM_STATS_INIT;
    double energy[4];
    box_open(&box, 300, MPI_COMM_WORLD);
    box.imc->advance = ops->imc;
    for (int i = 0; i < STEPS; i++)
        box_step(&box, 0.2 * i, 0.2, energy);
    uint64_t hash = imc_box_hash(&box);
    storm_engine_stats(box.engine, &stats);
    *events_out = stats.events;
    imc_box_close(&box);
    return hash;
}

static void check_kernels(void)
{
    uint64_t events[2], plain = 0, fast = 0;
    for (int i = 0; i < 3; i++) {
        bool walk = i == 1;
        uint64_t n_groups = i == 2 ? 5 : 1;
        check_where("walk %d, groups %d", walk, (int)n_groups);
        plain =
            kernel_hash(&storm_track_voronoi, walk, n_groups, &events[walk]);
        if (storm_cpu_has_avx2()) {
            fast = kernel_hash(STORM_IF_AVX2(&storm_track_voronoi_avx2,
                                             &storm_track_voronoi),
                               walk, n_groups, &events[walk]);
            CHECK_EQ(fast, plain);
        }
        if (storm_cpu_has_avx512()) {
            fast = kernel_hash(STORM_IF_AVX512(&storm_track_voronoi_avx512,
                                               &storm_track_voronoi),
                               walk, n_groups, &events[walk]);
            CHECK_EQ(fast, plain);
        }
        if (i == 1) /* else it was never used */
            CHECK(2 * events[1] < events[0]);
    }
}

/* ---- places of new packets ---------------------------------------------- */

/* Counts of packets, and of those on either side of a plane through `centre`,
 * by direction. */
struct sides {
    uint64_t n, above[3];
};

static void count_sides(struct imc_box *box, const struct storm_shape *shape,
                        const double centre[3], double reach,
                        struct sides *sides)
{
    size_t n;
    void *const *packets = storm_engine_packets(box->engine, &n);
    for (size_t i = 0; i < n; i++) {
        const struct storm_packet *packet = packets[i];
        double back[3]; /* to where it was created: within `reach` */
        bool near = false;
        for (int k = 0; k <= 4 && !near; k++) {
            for (int d = 0; d < 3; d++)
                back[d] = packet->position_cm[d] -
                          0.25 * k * reach * packet->direction[d];
            near = storm_shape_contains(shape, back);
        }
        CHECK(near);
        for (int d = 0; d < 3; d++)
            sides->above[d] += packet->position_cm[d] > centre[d];
    }
    sides->n += n;
    MPI_Allreduce(MPI_IN_PLACE, sides, 4, MPI_UINT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
}

static void check_even(uint64_t above, uint64_t n)
{
    double off = fabs((double)above - 0.5 * (double)n);
    CHECK(off <= even_k * 0.5 * sqrt((double)n));
}

static struct imc_box empty_box(void)
{
    return (struct imc_box){.problem = {STORM_PROBLEM_SIZES, .light_cm_s = 1,
                                        .radiation_erg_cm3_kev4 = 1,
                                        .hi_cm = {1, 1, 1}, .n_groups = 1,
                                        .max_per_cell = 1, .seed = 1}};
}

/* A ball that cuts cells: half of the packets on each side of its middle. */
static void check_source(void)
{
    static const struct storm_source ball = {
        .shape = {.kind = STORM_SHAPE_SPHERE,
                  .centre_cm = {0.45, 0.5, 0.55},
                  .radius_cm = {0, 0.27}},
        .power_erg_cm3_s = 3.0,
        .stop_s = 100,
        .packets = 20000};
    const double dt = 1e-9, volume = 4.0 / 3.0 * 3.14159265358979 * 0.019683;
    struct imc_box box = empty_box();
    struct sides sides = {0};
    double energy[4];
    box.problem.sources = &ball;
    box.problem.n_sources = 1;
    box_open(&box, N_POINTS, MPI_COMM_WORLD);
    box_step(&box, 0.0, dt, energy);
    /* Shares of cells are from samples: 200 cells, 2,048 points each. */
    printf("source: %.6g created, right %.6g\n", energy[0], 3.0 * volume * dt);
    CHECK(fabs(energy[0] / (3.0 * volume * dt) - 1.0) < 0.01);
    struct storm_shape larger = ball.shape;
    larger.radius_cm[1] += 2.0 * dt;
    count_sides(&box, &larger, ball.shape.centre_cm, dt, &sides);
    CHECK_EQ(sides.n, ball.packets);
    for (int d = 0; d < 3; d++)
        check_even(sides.above[d], sides.n);
    imc_box_close(&box);
}

/* A ring on a wall, less a quarter that a mirror covers. */
static void check_wall(void)
{
    static const struct storm_wall_part ring[] = {
        {.kind = STORM_WALL_BLACKBODY,
         .temperature = {.points = hot, .n = 1},
         .stop_s = 100,
         .packets = 20000,
         .shape = {.kind = STORM_SHAPE_CYLINDER,
                   .axis = 1,
                   .centre_cm = {0.45, 0.5},
                   .radius_cm = {0.2, 0.4},
                   .range_cm = {-1, 2}}},
        {.kind = STORM_WALL_REFLECT,
         .shape = {.kind = STORM_SHAPE_BOX,
                   .lo_cm = {0.5, -1, 0.45},
                   .hi_cm = {2, 2, 2}}},
    };
    const double dt = 1e-9, area = 0.75 * 3.14159265358979 * 0.12;
    const double centre[3] = {0.5, 0.5, 0.45}; /* z first on this axis */
    struct imc_box box = empty_box();
    struct sides sides = {0};
    double energy[4];
    box.problem.walls[3] = (struct storm_wall){ring, 2};
    box_open(&box, N_POINTS, MPI_COMM_WORLD);
    box_step(&box, 0.0, dt, energy);
    printf("wall: %.8g created, right %.8g\n", energy[0], 0.25 * area * dt);
    CHECK(fabs(energy[0] / (0.25 * area * dt) - 1.0) < 1e-4);
    struct storm_shape larger = ring[0].shape;
    larger.radius_cm[0] -= 2.0 * dt;
    larger.radius_cm[1] += 2.0 * dt;
    count_sides(&box, &larger, centre, dt, &sides);
    CHECK_EQ(sides.n, ring[0].packets);
    /* A third on the side where a quarter is missing. */
    for (int d = 0; d < 3; d += 2) {
        double off = fabs((double)sides.above[d] - (double)sides.n / 3.0);
        CHECK(off <= even_k * sqrt((double)sides.n * 2.0 / 9.0));
    }
    CHECK_EQ(sides.above[1], sides.n);
    imc_box_close(&box);
}

/* ---- emission that is not uniform --------------------------------------- */

/* Two temperatures: what cells at the border emit comes more from the side of
 * the hot ones, as 1 + slope . (x - centre) has it: its mean place is off the
 * centre by slope . (spread of the cell). */
static void check_tilt(void)
{
    static const struct storm_material two[] = {
        {.name = "cold",
         .absorption = {.coef = 1, .max = 1e12},
         .heat_capacity = {.coef = 1e6, .max = 1e12},
         .temperature_kev = 1.0},
        {.name = "warm",
         .absorption = {.coef = 1, .max = 1e12},
         .heat_capacity = {.coef = 1e6, .max = 1e12},
         .temperature_kev = 1.1}};
    static const struct storm_region halves[] = {
        {.material = 0},
        {.material = 1,
         .shape = {.kind = STORM_SHAPE_BOX,
                   .lo_cm = {0.5, 0, 0},
                   .hi_cm = {1, 1, 1}}}};
    enum { EMIT = 400 };
    struct imc_box box = empty_box();
    double energy[4], sum[2] = {0.0, 0.0};
    box.problem.materials = two;
    box.problem.n_materials = 2;
    box.problem.regions = halves;
    box.problem.n_regions = 2;
    box.problem.emit_per_cell = EMIT;
    box_open(&box, N_POINTS, MPI_COMM_WORLD);
    box_step(&box, 0.0, 1e-9, energy);
    size_t n;
    void *const *packets = storm_engine_packets(box.engine, &n);
    storm_cell_id first = storm_mesh_cell_id(box.mesh, 0);
    double error = 0.0;
    for (size_t i = 0; i < n; i++) {
        const struct storm_packet *packet = packets[i];
        size_t cell = (size_t)(packet->cell - first);
        CHECK(cell < (size_t)box.imc->n_cells); /* it has barely moved */
        /* Along the slope: squared, it is the expected shift. */
        double along = 0.0;
        for (int d = 0; d < 3; d++)
            along += box.imc->slope[3 * cell + (size_t)d] *
                     (packet->position_cm[d] -
                      box.imc->centre[3 * cell + (size_t)d]);
        sum[0] += along;
        sum[1] += along * along / (1.0 + along);
        error += along * along;
    }
    double all[3] = {sum[0], sum[1], error};
    MPI_Allreduce(MPI_IN_PLACE, all, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    printf("tilt: %.4g along the slopes, expected %.4g +- %.2g\n", all[0],
           all[1], sqrt(all[2]));
    CHECK(all[1] > 10.0 * sqrt(all[2])); /* else it would show nothing */
    CHECK(fabs(all[0] - all[1]) <= even_k * sqrt(all[2]));
    imc_box_close(&box);
}

/* ---- periodic walls ----------------------------------------------------- */

static const struct storm_wall_part through[] = {{.kind = STORM_WALL_PERIODIC}};

/* Both materials, a source and a wall with parts that are not whole cells, and
 * periods in two directions; `n_points` cells. */
static uint64_t periodic_hash(uint64_t n_points, bool is_alone)
{
    struct imc_box box = {
        .problem = {STORM_PROBLEM_SIZES, .light_cm_s = 1,
                    .radiation_erg_cm3_kev4 = 1, .hi_cm = {1, 1, 1},
                    .materials = materials, .n_materials = 2,
                    .regions = imc_box_regions, .n_regions = 2,
                    .sources = &imc_box_source, .n_sources = 1,
                    .walls = {{edges, 2},
                              {edges, 1},
                              {through, 1},
                              {through, 1},
                              {through, 1},
                              {through, 1}},
                    .n_groups = 1, .emit_per_cell = 4, .min_per_cell = 2,
                    .max_per_cell = 8, .comb = true, .random_walk = true,
                    .seed = 1},
    };
    double energy[4];
    uint64_t hash;
    box_open(&box, n_points, is_alone ? MPI_COMM_SELF : MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++)
        box_step(&box, 0.2 * i, 0.2, energy);
    CHECK_OK(storm_imc_hash(box.imc, box.engine, &hash));
    imc_box_close(&box);
    return hash;
}

/* A layer at a periodic wall: cells that go through it have less of it. */
static void check_layer(void)
{
    static const struct storm_source layer = {
        .shape = {.kind = STORM_SHAPE_BOX, .hi_cm = {1, 1, 0.3}},
        .power_erg_cm3_s = 3.0,
        .stop_s = 100,
        .packets = 20000};
    const double dt = 1e-9, right = 3.0 * 0.3 * dt;
    struct imc_box box = empty_box();
    struct sides sides = {0};
    double energy[4];
    box.problem.sources = &layer;
    box.problem.n_sources = 1;
    for (int w = 0; w < STORM_N_WALLS; w++)
        box.problem.walls[w] = (struct storm_wall){through, 1};
    box_open(&box, N_POINTS, MPI_COMM_WORLD);
    box_step(&box, 0.0, dt, energy);
    printf("layer: %.6g created, right %.6g\n", energy[0], right);
    CHECK(fabs(energy[0] / right - 1.0) < 0.01);
    struct storm_shape larger = {.kind = STORM_SHAPE_ALL};
    const double centre[3] = {0.5, 0.5, 0.15};
    count_sides(&box, &larger, centre, dt, &sides);
    CHECK_EQ(sides.n, layer.packets);
    for (int d = 0; d < 3; d++)
        check_even(sides.above[d], sides.n);
    imc_box_close(&box);
}

static void check_periodic(void)
{
    static const uint64_t numbers[] = {200, 3, 1};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        check_where("%d cells, periodic", (int)numbers[i]);
        CHECK_EQ(periodic_hash(numbers[i], false),
                 periodic_hash(numbers[i], true));
    }
    check_layer();
}

/* ---- cells that move, come and go --------------------------------------- */

enum { MAX_CELLS = 400, N_ADD = 20 };

/* Matter in one half, nothing in the other but for a corner outside. */
static const struct storm_region half_full[] = {
    {.material = 0,
     .shape = {.kind = STORM_SHAPE_BOX,
               .lo_cm = {-1, -1, -1},
               .hi_cm = {0.5, 2, 2}}},
    {.material = STORM_OUTSIDE,
     .shape = {.kind = STORM_SHAPE_BOX,
               .lo_cm = {0.45, 0.7, -1},
               .hi_cm = {2, 2, 2}}},
};

/* A third of the cells is removed, others are new. */
static struct storm_change *replace_cells(struct imc_box *box, uint64_t seed)
{
    storm_cell_idx gone[MAX_CELLS];
    double points[N_ADD][3];
    struct storm_adapt_params params = {
        .size = sizeof params, .remove = gone, .add_cm = &points[0][0]};
    struct storm_change *change;
    int rank = storm_context_rank(box->context);
    CHECK(storm_mesh_n_cells(box->mesh) <= MAX_CELLS);
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(box->mesh); i++)
        if (dice_mix(storm_mesh_cell_id(box->mesh, i) + seed) % 3 == 0)
            gone[params.n_remove++] = i;
    for (int i = rank; i < N_ADD; i += storm_context_size(box->context)) {
        struct dice dice = dice_make(seed, (uint64_t)i);
        for (int d = 0; d < 3; d++)
            points[params.n_add][d] = moving_uniform(&dice);
        params.n_add++;
    }
    CHECK_OK(storm_mesh_adapt(box->mesh, &params, &change));
    return change;
}

static struct storm_change *move_cells(struct imc_box *box, uint64_t seed)
{
    double x[MAX_CELLS][3];
    struct storm_change *change;
    CHECK(storm_mesh_n_cells(box->mesh) <= MAX_CELLS);
    moving_random(box->mesh, 0.1, seed, &x[0][0]);
    CHECK_OK(storm_mesh_move(box->mesh, &x[0][0], NULL, &change));
    return change;
}

/* FOLLOW-1, FOLLOW-2: no energy of matter is lost. */
static uint64_t follow_hash(bool is_alone)
{
    struct imc_box box = {
        .problem = {STORM_PROBLEM_SIZES, .light_cm_s = 1,
                    .radiation_erg_cm3_kev4 = 1, .hi_cm = {1, 1, 1},
                    .materials = materials, .n_materials = 1,
                    .regions = half_full, .n_regions = 2, .n_groups = 1,
                    .emit_per_cell = 4, .min_per_cell = 2, .max_per_cell = 8,
                    .comb = true, .seed = 1}};
    double energy[4];
    box_open(&box, 300, is_alone ? MPI_COMM_SELF : MPI_COMM_WORLD);
    for (int i = 0; i < 4; i++) {
        box_step(&box, 0.1 * i, 0.1, energy);
        double before = imc_box_total(&box, STORM_IMC_MATERIAL_ENERGY);
        struct storm_change *change = i % 2 ? move_cells(&box, (uint64_t)i)
                                            : replace_cells(&box, (uint64_t)i);
        CHECK_OK(storm_imc_follow(box.imc, change));
        CHECK_OK(storm_remap(box.engine, box.mesh, change, NULL, NULL));
        storm_change_destroy(change);
        CHECK(fabs(imc_box_total(&box, STORM_IMC_MATERIAL_ENERGY) - before) <=
              1e-13 * before);
    }
    uint64_t hash = imc_box_hash(&box);
    imc_box_close(&box);
    return hash;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    CHECK_EQ(follow_hash(false), follow_hash(true));
    check_kernels();
    check_periodic();
    check_tilt();
    check_source();
    check_wall();
    MPI_Finalize();
    return CHECK_PASS;
}
