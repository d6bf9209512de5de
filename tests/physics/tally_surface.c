/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; backend: shm; timeout: 60 */
/* TEST ranks: 3; backend: p2p; timeout: 60; label: slow-asan */
/*
 * SURFACE-1 to SURFACE-3: what crosses the surface of a set of cells outwards,
 * less what comes back, is what is born in it less what is absorbed and what
 * more is at census there, after each step; of a shape, and of a material. The
 * complement of the latter sees the same the other way round. In vacuum it is
 * what escapes, integer for integer. By everything, the same integers on all
 * ranks and on one, with the mesh cut anew after each step; on Cartesian,
 * octree and Voronoi meshes, with cells that are outside, a mirror and a
 * periodic wall.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <storm/octree.h>
#include <storm/remap.h>
#include <storm/tally.h>
#include <storm/voronoi.h>

#include "physics/imc.h"
#include "run/run_points.h"
#include "support/check.h"
#include "support/cuts.h"
#include "support/dice.h"
#include "support/imc_box.h"
#include "support/sphere.h"

enum { GROUPS = 3, STEPS = 4, MAX_CELLS = 1000 };
enum { SHAPE, MATERIAL, REST, TALLIES };
enum kind { CART, OCTREE, VORONOI, KINDS };

static const struct storm_material dense[] = {
    {.absorption = {.coef = 2.0, .e_exp = -1.0, .max = 1e12},
     .scattering = {.coef = 1.0, .max = 1e12},
     .heat_capacity = {.coef = 10.0, .max = 1e300},
     .temperature_kev = 1.0,
     .radiation_temperature_kev = 0.5},
    {.absorption = {.coef = 0.5, .max = 1e12},
     .heat_capacity = {.coef = 1.0, .max = 1e300},
     .temperature_kev = 1e-3},
};
static const struct storm_material nothing[2]; /* vacuum */
/* The cells that are outside touch neither the ball nor the shape. */
static const struct storm_region regions[] = {
    {.material = 0},
    {.material = 1,
     .shape = {.kind = STORM_SHAPE_SPHERE,
               .centre_cm = {0.5, 0.5, 0.5},
               .radius_cm = {0, 0.3}}},
    {.material = STORM_OUTSIDE,
     .shape = {.kind = STORM_SHAPE_BOX,
               .lo_cm = {0.9, 0.9, 0.0},
               .hi_cm = {1, 1, 1}}},
};
static const struct storm_wall_part mirror = {.kind = STORM_WALL_REFLECT};
static const struct storm_wall_part periodic = {.kind = STORM_WALL_PERIODIC};

static const struct storm_source middle = {
    .shape = {.kind = STORM_SHAPE_SPHERE,
              .centre_cm = {0.5, 0.5, 0.5},
              .radius_cm = {0, 0.05}},
    .power_erg_cm3_s = 2.0,
    .stop_s = 0.4,
    .packets = 500,
    .temperature_kev = 1.0};

static struct sphere ball = {.centre_cm = {0.5, 0.5, 0.5}, .radius_cm = 0.4};
static const double times[] = {0.0, 0.3, 0.6};

static struct storm_problem make_problem(bool is_dense)
{
    struct storm_problem p = {
        STORM_PROBLEM_SIZES,
        .light_cm_s = 1.0,
        .radiation_erg_cm3_kev4 = 1.0,
        .hi_cm = {1, 1, 1},
        .materials = is_dense ? dense : nothing,
        .n_materials = 2,
        .regions = regions,
        .n_regions = 3,
        .sources = &middle,
        .n_sources = 1,
        .n_groups = GROUPS,
        .group_min_kev = 0.1,
        .group_max_kev = 10.0,
        .emit_per_cell = is_dense ? 2 : 0,
        .min_per_cell = 2,
        .max_per_cell = 6,
        .random_walk = is_dense,
        .seed = 7,
    };
    if (is_dense) {
        p.walls[0] = (struct storm_wall){&mirror, 1};
        p.walls[4] = p.walls[5] = (struct storm_wall){&periodic, 1};
    } else {
        p.n_regions = 2; /* no cells outside */
    }
    return p;
}

static void declare(struct storm_imc *imc, bool is_dense)
{
    const unsigned all = 1u << STORM_TALLY_TIME | 1u << STORM_TALLY_GROUP |
                         1u << STORM_TALLY_MU | 1u << STORM_TALLY_SIDE;
    const struct storm_tally tallies[TALLIES] = {
        {.size = sizeof(struct storm_tally),
         .name = "shape",
         .where = STORM_TALLY_SURFACE,
         .by = all,
         .time_edges_s = times,
         .n_times = 2,
         .n_mu = 2,
         .observer = true,
         .shape = {.kind = STORM_SHAPE_BOX,
                   .lo_cm = {0.25, 0.25, is_dense ? -1.0 : 0.25},
                   .hi_cm = {0.75, 0.75, 0.75}}},
        {.size = sizeof(struct storm_tally),
         .name = "material",
         .where = STORM_TALLY_SURFACE,
         .by = 1u << STORM_TALLY_SIDE,
         .one_material = true,
         .material = 1},
        {.size = sizeof(struct storm_tally),
         .name = "rest",
         .where = STORM_TALLY_SURFACE,
         .by = 1u << STORM_TALLY_SIDE,
         .one_material = true,
         .material = 0}};
    for (size_t i = 0; i < TALLIES; i++) {
        size_t number;
        CHECK_OK(storm_imc_tally_add(imc, &tallies[i], &number));
        CHECK_EQ(number, i);
    }
    struct storm_tally endless = STORM_TALLY_INIT;
    size_t number;
    endless.name = "endless";
    endless.where = STORM_TALLY_SURFACE;
    CHECK(storm_imc_tally_add(imc, &endless, &number) == STORM_ERR_ARG);
}

static struct imc_box open_box(MPI_Comm comm, enum kind kind, bool is_dense)
{
    struct imc_box box = {.problem = make_problem(is_dense)};
    CHECK_OK(storm_context_create(comm, NULL, &box.context));
    if (kind == VORONOI) {
        struct storm_points_params points = {.size = sizeof points,
                                             .seed = 5,
                                             .n_total = 500,
                                             .hi_cm = {1, 1, 1}};
        struct storm_voronoi_params params = {
            .size = sizeof params,
            .hi_cm = {1, 1, 1},
            .periodic = {false, false, is_dense}};
        CHECK_OK(run_points_mesh(box.context, &points, &params, &box.mesh));
    } else if (kind == OCTREE) {
        struct storm_octree_params octree = {
            .size = sizeof octree,
            .hi_cm = {1, 1, 1},
            .n = {4, 4, 4},
            .periodic = {false, false, is_dense},
            .refine_levels = 1,
            .refine = sphere_refine,
            .refine_self = &ball};
        CHECK_OK(storm_mesh_create_octree(box.context, &octree, &box.mesh));
    } else {
        struct storm_cart_params cart = {.size = sizeof cart,
                                         .hi_cm = {1, 1, 1},
                                         .n = {6, 7, 5},
                                         .periodic = {false, false, is_dense}};
        CHECK_OK(storm_mesh_create_cart(box.context, &cart, &box.mesh));
    }
    CHECK(storm_mesh_n_cells_total(box.mesh) <= MAX_CELLS);
    imc_box_open(&box);
    declare(box.imc, is_dense);
    CHECK_OK(storm_imc_start(box.imc, box.engine));
    return box;
}

/* ---- checks ------------------------------------------------------------- */

/* What a tally has counted: outwards less inwards, and packets of each side. */
static struct storm_ledger get_net(struct imc_box *box, size_t number,
                                   uint64_t packets_out[2])
{
    const struct tally_set *set = &box->imc->tallies;
    const struct tally *tally = &set->tallies[number];
    struct storm_ledger net = {.n_since_carry = 0};
    int64_t *words;
    packets_out[0] = packets_out[1] = 0;
    CHECK_OK(imc_tally_sum(box->imc, number, &words));
    for (size_t bin = 0; bin < tally->n_bins; bin++) {
        const struct storm_ledger one =
            tally_ledger(set,
                         &words[tally->n_bins + bin * (size_t)set->n_limbs]);
        storm_ledger_merge(&net, &one, bin % 2 == 0 ? 1 : -1);
        packets_out[bin % 2] += (uint64_t)words[bin];
    }
    storm_ledger_carry(&net);
    storm_free(box->imc->env->memory, words);
    return net;
}

static bool is_in(const struct imc_box *box, size_t number, storm_cell_idx i)
{
    const struct storm_tally *t = &box->imc->tallies.tallies[number].own;
    double centre[3];
    storm_mesh_centre(box->mesh, i, centre);
    int material = storm_imc_material(box->imc, i);
    return material != STORM_OUTSIDE &&
           (!t->one_material || material == t->material) &&
           storm_shape_contains(&t->shape, centre);
}

/* Census of the set; and what its cells emit less what they absorb. */
static double get_sum(struct imc_box *box, size_t number, bool of_matter)
{
    double sum = 0.0;
    size_t n;
    void *const *packets = storm_engine_packets(box->engine, &n);
    for (size_t i = 0; i < n && !of_matter; i++) {
        const struct storm_packet *packet = packets[i];
        if (is_in(box, number, packet->cell_idx))
            sum += packet->weight_erg;
    }
    for (storm_cell_idx i = 0; i < box->imc->n_cells && of_matter; i++)
        if (is_in(box, number, i))
            sum += box->imc->emitted[i] - box->imc->deposited[i];
    CHECK_OK(storm_context_reduce(box->context, &sum, 1, MPI_DOUBLE, MPI_SUM));
    return sum;
}

static double get_source(struct imc_box *box)
{
    struct storm_ledger sum;
    CHECK_OK(storm_ledger_sum(&box->imc->more[IMC_SOURCES], 1, box->context,
                              &sum));
    return storm_ledger_value(&sum);
}

/* What was inside at the beginning or born since is inside or went. `matter` is
 * what was emitted less absorbed in the steps so far. */
static void check_balance(struct imc_box *box, const double begin[TALLIES],
                          double matter[TALLIES])
{
    for (size_t i = 0; i < REST; i++) {
        uint64_t packets[2];
        const struct storm_ledger net = get_net(box, i, packets);
        matter[i] += get_sum(box, i, true);
        double out = storm_ledger_value(&net);
        double born = begin[i] + get_source(box) + matter[i];
        CHECK(packets[0] > 0 && packets[1] > 0);
        CHECK(fabs(out + get_sum(box, i, false) - born) <= 1e-13);
    }
}

/* What leaves the ball enters the rest, which walls and cells outside bound as
 * well. */
static void check_rest(struct imc_box *box)
{
    double energy[2][2];
    uint64_t packets[2][2];
    for (int i = 0; i < 2; i++)
        CHECK_OK(storm_imc_tally_get(box->imc, (size_t)(MATERIAL + i),
                                     energy[i], packets[i], NULL));
    for (int i = 0; i < 2; i++) {
        CHECK(energy[0][i] == energy[1][1 - i]);
        CHECK_EQ(packets[0][i], packets[1][1 - i]);
    }
}

static void check_same(struct imc_box *many, struct imc_box *one)
{
    size_t n[2];
    int64_t *words[2];
    struct imc_box *boxes[2] = {many, one};
    for (int i = 0; i < 2; i++) {
        CHECK_OK(storm_imc_tally_words(boxes[i]->imc, &n[i]));
        words[i] = calloc(n[i], sizeof **words);
        CHECK(words[i] != NULL);
        CHECK_OK(storm_imc_tally_save(boxes[i]->imc, words[i]));
    }
    CHECK_EQ(n[0], n[1]);
    CHECK(memcmp(words[0], words[1], n[0] * sizeof **words) == 0);
    for (int i = 0; i < 2; i++)
        free(words[i]);
}

static void recut(struct imc_box *box, int seed)
{
    static uint64_t weight[MAX_CELLS];
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(box->mesh); i++)
        weight[i] =
            dice_mix(storm_mesh_cell_id(box->mesh, i) + 17 * (uint64_t)seed) %
            10;
    struct storm_change *change = cut_change(box->mesh, weight);
    CHECK_OK(storm_imc_follow(box->imc, change));
    CHECK_OK(storm_remap(box->engine, box->mesh, change, NULL, NULL));
    storm_change_destroy(change);
}

/* All has gone: in vacuum the surface of the shape saw it. */
static void check_escaped(struct imc_box *box)
{
    struct storm_ledger sum[STORM_LEDGER_ACCOUNTS];
    uint64_t packets[2];
    struct storm_ledger net = get_net(box, SHAPE, packets);
    CHECK_OK(storm_ledger_sum(box->imc->account, STORM_LEDGER_ACCOUNTS,
                              box->context, sum));
    storm_ledger_carry(&sum[STORM_LEDGER_ESCAPED]);
    CHECK(storm_ledger_value(&net) > 0.0);
    CHECK(memcmp(net.limb, sum[STORM_LEDGER_ESCAPED].limb, sizeof net.limb) ==
          0);
    CHECK(get_sum(box, SHAPE, false) == 0.0);
}

static void check(enum kind kind, bool is_dense)
{
    static const double dt[STEPS] = {0.2, 0.1, 0.3, 2.0};
    struct imc_box many = open_box(MPI_COMM_WORLD, kind, is_dense);
    struct imc_box one = open_box(MPI_COMM_SELF, kind, is_dense);
    double time = 0.0, energy[4], begin[TALLIES], matter[TALLIES] = {0.0};
    for (size_t i = 0; i < TALLIES; i++)
        begin[i] = get_sum(&many, i, false);
    for (int step = 0; step < STEPS; time += dt[step++]) {
        check_where("mesh %d, dense %d, step %d", kind, is_dense, step);
        CHECK(imc_box_step(&many, time, dt[step], energy) <= 1e-13);
        CHECK(imc_box_step(&one, time, dt[step], energy) <= 1e-13);
        check_same(&many, &one);
        if (is_dense)
            check_balance(&many, begin, matter);
        check_rest(&many);
        recut(&many, step);
    }
    if (!is_dense)
        check_escaped(&many);
    imc_box_close(&one);
    imc_box_close(&many);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int kind = 0; kind < KINDS; kind++) {
        check((enum kind)kind, true);
        check((enum kind)kind, false);
    }
    MPI_Finalize();
    return CHECK_PASS;
}
