/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3 5; backend: shm; timeout: 60 */
/*
 * Runs on an octree that is refined and coarsened again between steps, with
 * random cuts, against the same run on one rank without cuts. Free streaming:
 * every packet is in the cell that has its position; number and energy are
 * exact. Implicit Monte Carlo (FOLLOW-4): the energy of matter is conserved;
 * parts have the state of the cell that was cut, joined cells that of their
 * parts; all hashes are those of one rank.
 */
#include <math.h>
#include <stdlib.h>

#include <storm/imc.h>
#include <storm/remap.h>

#include "problem.h"
#include "support/cuts.h"
#include "support/dice.h"
#include "support/imc_box.h"
#include "support/sphere.h"

enum { MAX_CELLS = 4000, STEPS = 2 };

static struct sphere surface = {.centre_cm = {3, 3, 2}, .radius_cm = 2.2};

/* ---- changes, which do not depend on ranks ------------------------------ */

/* A fifth of all cells. */
static struct storm_change *refine(struct storm_mesh *mesh, uint64_t seed)
{
    static storm_cell_idx list[MAX_CELLS];
    struct storm_adapt_params params = STORM_ADAPT_PARAMS_INIT;
    struct storm_change *change;
    CHECK(storm_mesh_n_cells(mesh) <= MAX_CELLS);
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++)
        if (dice_mix(storm_mesh_cell_id(mesh, i) + seed) % 5 == 0)
            list[params.n_refine++] = i;
    params.refine = list;
    CHECK_OK(storm_mesh_adapt(mesh, &params, &change));
    return change;
}

/* All cells with tags from `first` on: those of the last refinement. */
static struct storm_change *coarsen(struct storm_mesh *mesh,
                                    storm_cell_id first)
{
    static storm_cell_idx list[MAX_CELLS];
    struct storm_adapt_params params = STORM_ADAPT_PARAMS_INIT;
    struct storm_change *change;
    CHECK(storm_mesh_n_cells(mesh) <= MAX_CELLS);
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++)
        if (storm_mesh_cell_id(mesh, i) >= first)
            list[params.n_remove++] = i;
    params.remove = list;
    CHECK_OK(storm_mesh_adapt(mesh, &params, &change));
    return change;
}

static struct storm_change *recut(struct storm_mesh *mesh, uint64_t seed)
{
    static uint64_t weight[MAX_CELLS];
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++) {
        uint64_t dice = dice_mix(storm_mesh_cell_id(mesh, i) + 17 * seed);
        weight[i] = seed % 2 ? dice % 100 == 0 : dice % 10;
    }
    return cut_change(mesh, weight);
}

/* ---- free streaming ----------------------------------------------------- */

static uint64_t count_packets(const struct problem *p)
{
    size_t n;
    storm_engine_packets(p->engine, &n);
    uint64_t total = n;
    MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_UINT64_T, MPI_SUM,
                  storm_context_comm(p->context));
    return total;
}

static void check_packets(const struct problem *p)
{
    size_t n;
    void *const *packets = storm_engine_packets(p->engine, &n);
    for (size_t i = 0; i < n; i++) {
        const struct storm_packet *packet = packets[i];
        struct storm_cell_ref where;
        CHECK_OK(storm_mesh_locate(p->mesh, packet->position_cm, &where));
        CHECK_EQ(where.idx, packet->cell_idx);
        CHECK_EQ(storm_mesh_cell_id(p->mesh, where.idx), packet->cell);
    }
}

/* Takes the change over. */
static void remap(struct problem *p, struct storm_change *change, bool is_cut)
{
    uint64_t n = count_packets(p);
    CHECK_OK(storm_remap(p->engine, p->mesh, change, NULL, NULL));
    storm_change_destroy(change);
    CHECK_EQ(count_packets(p), n);
    if (!is_cut)
        check_packets(p);
}

/* All packets of both, and their energy. */
static void check_step(struct problem p[2])
{
    for (int k = 0; k < 2; k++) {
        double energy[4], error;
        CHECK_OK(storm_engine_step(p[k].engine));
        CHECK_OK(storm_streaming_balance(p[k].streaming, p[k].engine, energy,
                                         &error));
        CHECK(error == 0.0);
    }
    CHECK_EQ(problem_hash(&p[0]), problem_hash(&p[1]));
}

static void check_streaming(void)
{
    struct problem p[2];
    for (int k = 0; k < 2; k++) {
        p[k] = problem_default();
        p[k].streaming_params.walls[0] = STORM_WALL_REFLECT;
        p[k].cart.periodic[1] = true;
        p[k].octree = (struct storm_octree_params){.size = sizeof p[k].octree,
                                                   .n = {5, 4, 3},
                                                   .refine_levels = 1,
                                                   .refine = sphere_refine,
                                                   .refine_self = &surface};
        problem_open(&p[k], k == 0 ? MPI_COMM_WORLD : MPI_COMM_SELF);
    }
    for (uint64_t step = 0; step < STEPS; step++) {
        check_where("streaming, step %d", (int)step);
        storm_cell_id first = storm_mesh_next_tag(p[0].mesh);
        uint64_t n_cells = storm_mesh_n_cells_total(p[0].mesh);
        check_step(p);
        for (int k = 0; k < 2; k++)
            remap(&p[k], refine(p[k].mesh, step), false);
        check_step(p);
        remap(&p[0], recut(p[0].mesh, step), true);
        for (int k = 0; k < 2; k++)
            remap(&p[k], coarsen(p[k].mesh, first), false);
        CHECK_EQ(storm_mesh_n_cells_total(p[0].mesh), n_cells);
    }
    check_step(p);
    for (int k = 0; k < 2; k++)
        problem_close(&p[k]);
}

/* ---- implicit Monte Carlo ----------------------------------------------- */

enum { SUMS = 4 };

/* The second has no heat capacity; part of the box is empty, part outside. */
static const struct storm_material materials[] = {
    {.name = "matter",
     .absorption = {.coef = 2, .max = 1e12},
     .heat_capacity = {.coef = 1, .t_exp = 1, .rho_exp = 1, .max = 1e12},
     .temperature_kev = 0.5,
     .density_g_cm3 = 2,
     .radiation_temperature_kev = -1},
    {.name = "held",
     .absorption = {.coef = 1, .max = 1e12},
     .temperature_kev = 0.7,
     .radiation_temperature_kev = -1}};
static const struct storm_region regions[] = {
    {.material = 0,
     .shape = {.kind = STORM_SHAPE_BOX,
               .lo_cm = {-1, -1, -1},
               .hi_cm = {0.55, 2, 2}}},
    {.material = 1,
     .shape = {.kind = STORM_SHAPE_BOX,
               .lo_cm = {-1, -1, -1},
               .hi_cm = {0.3, 0.3, 2}}},
    {.material = STORM_OUTSIDE,
     .shape = {.kind = STORM_SHAPE_BOX,
               .lo_cm = {0.8, 0.6, -1},
               .hi_cm = {2, 2, 2}}}};
static const struct storm_problem problem = {STORM_PROBLEM_SIZES,
                                             .light_cm_s = 1,
                                             .radiation_erg_cm3_kev4 = 1,
                                             .hi_cm = {1, 1, 1},
                                             .materials = materials,
                                             .n_materials = 2,
                                             .regions = regions,
                                             .n_regions = 3,
                                             .n_groups = 1,
                                             .emit_per_cell = 3,
                                             .min_per_cell = 1,
                                             .max_per_cell = 4,
                                             .steer_by_error = true,
                                             .seed = 1,
                                             .n_components = 1};

/* Other values in each cell. */
static void matter_set(struct imc_box *m, storm_imc_field field)
{
    static double values[MAX_CELLS];
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(m->mesh); i++)
        values[i] =
            0.5 + (double)(storm_mesh_cell_id(m->mesh, i) * 31 % 17) / 17.0;
    CHECK_OK(storm_imc_set(m->imc, field, values));
}

static void matter_open(struct imc_box *m, MPI_Comm comm)
{
    static struct sphere corner = {.radius_cm = 0.6};
    const struct storm_octree_params octree = {.size = sizeof octree,
                                               .hi_cm = {1, 1, 1},
                                               .n = {4, 3, 2},
                                               .refine_levels = 1,
                                               .refine = sphere_refine,
                                               .refine_self = &corner};
    *m = (struct imc_box){.problem = problem};
    CHECK_OK(storm_context_create(comm, NULL, &m->context));
    CHECK_OK(storm_mesh_create_octree(m->context, &octree, &m->mesh));
    imc_box_open(m);
    matter_set(m, STORM_IMC_DENSITY);
    matter_set(m, STORM_IMC_COMPOSITION);
    CHECK_OK(storm_imc_start(m->imc, m->engine));
}

/* Energy of matter and of radiation, mass, and that of a component. */
static void matter_sums(struct imc_box *m, double sums_out[SUMS])
{
    static double density[MAX_CELLS], part[MAX_CELLS];
    sums_out[0] = imc_box_total(m, STORM_IMC_MATERIAL_ENERGY);
    sums_out[1] = imc_box_total(m, STORM_IMC_RADIATION_PATH);
    sums_out[2] = sums_out[3] = 0.0;
    CHECK_OK(storm_imc_get(m->imc, m->engine, STORM_IMC_DENSITY, density));
    CHECK_OK(storm_imc_get(m->imc, m->engine, STORM_IMC_COMPOSITION, part));
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(m->mesh); i++) {
        int material = storm_imc_material(m->imc, i);
        if (material != 0 && material != 1)
            continue;
        double mass = density[i] * storm_mesh_volume_cm3(m->mesh, i);
        sums_out[2] += mass;
        sums_out[3] += mass * part[i];
    }
    MPI_Allreduce(MPI_IN_PLACE, &sums_out[2], 2, MPI_DOUBLE, MPI_SUM,
                  storm_context_comm(m->context));
}

/* Takes the change over. */
static void matter_follow(struct imc_box *m, struct storm_change *change,
                          const double sums[SUMS])
{
    double now[SUMS], energy[4], error;
    struct storm_imc_energies all = STORM_IMC_ENERGIES_INIT;
    CHECK_OK(storm_imc_follow(m->imc, change));
    CHECK_OK(storm_remap(m->engine, m->mesh, change, NULL, NULL));
    storm_change_destroy(change);
    matter_sums(m, now);
    for (int k = 0; k < SUMS; k++)
        CHECK(fabs(now[k] - sums[k]) <= 1e-13 * sums[k]);
    CHECK_OK(storm_imc_energy(m->imc, m->engine, &all));
    CHECK(all.error < 1e-13);
    CHECK_OK(storm_imc_balance(m->imc, m->engine, energy, &error));
    CHECK(error < 1e-14);
}

/* Material and temperature, by place: refined and joined again they are as
 * before, to rounding. */
static void matter_read(struct imc_box *m, double values_out[][2])
{
    static double kev[MAX_CELLS];
    uint64_t first =
        storm_mesh_first_place(m->mesh, storm_context_rank(m->context));
    CHECK_OK(storm_imc_get(m->imc, m->engine, STORM_IMC_TEMPERATURE, kev));
    for (size_t i = 0; i < MAX_CELLS; i++)
        values_out[i][0] = values_out[i][1] = 0.0;
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(m->mesh); i++) {
        values_out[first + (uint64_t)i][0] = storm_imc_material(m->imc, i);
        values_out[first + (uint64_t)i][1] = kev[i];
    }
    MPI_Allreduce(MPI_IN_PLACE, values_out, 2 * MAX_CELLS, MPI_DOUBLE, MPI_SUM,
                  storm_context_comm(m->context));
}

/* There and back without a step in between. */
static void check_undone(struct imc_box *m, uint64_t seed)
{
    static double before[MAX_CELLS][2], after[MAX_CELLS][2];
    storm_cell_id first = storm_mesh_next_tag(m->mesh);
    double sums[SUMS];
    matter_sums(m, sums);
    matter_read(m, before);
    matter_follow(m, refine(m->mesh, seed), sums);
    matter_follow(m, coarsen(m->mesh, first), sums);
    matter_read(m, after);
    for (size_t i = 0; i < MAX_CELLS; i++) {
        CHECK(after[i][0] == before[i][0]);
        CHECK(fabs(after[i][1] - before[i][1]) <= 1e-14 * before[i][1]);
    }
}

static void check_matter(void)
{
    struct imc_box m[2];
    double sums[SUMS];
    matter_open(&m[0], MPI_COMM_WORLD);
    matter_open(&m[1], MPI_COMM_SELF);
    for (int k = 0; k < 2; k++)
        imc_box_run(&m[k], 0.1, 1);
    for (int step = 0; step < STEPS; step++) {
        check_where("matter, step %d", step);
        storm_cell_id first = storm_mesh_next_tag(m[0].mesh);
        for (int k = 0; k < 2; k++) {
            matter_sums(&m[k], sums);
            matter_follow(&m[k], refine(m[k].mesh, (uint64_t)step), sums);
        }
        CHECK_EQ(imc_box_hash(&m[0]), imc_box_hash(&m[1]));
        for (int k = 0; k < 2; k++)
            imc_box_run(&m[k], 0.1, 2 * (uint64_t)step + 2);
        matter_sums(&m[0], sums);
        matter_follow(&m[0], recut(m[0].mesh, (uint64_t)step), sums);
        CHECK_EQ(imc_box_hash(&m[0]), imc_box_hash(&m[1]));
        for (int k = 0; k < 2; k++) {
            matter_sums(&m[k], sums);
            matter_follow(&m[k], coarsen(m[k].mesh, first), sums);
            imc_box_run(&m[k], 0.1, 2 * (uint64_t)step + 3);
            if (step == 0)
                check_undone(&m[k], 50);
        }
        CHECK_EQ(imc_box_hash(&m[0]), imc_box_hash(&m[1]));
    }
    for (int k = 0; k < 2; k++)
        imc_box_close(&m[k]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_streaming();
    check_matter();
    MPI_Finalize();
    return CHECK_PASS;
}
