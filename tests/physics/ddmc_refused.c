/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3; timeout: 60 */
/*
 * What stops diffusion before it starts, on one rank and so on all: every
 * allocation that it makes when cells are known, first and after a change of
 * the mesh, is refused in turn, on one rank after the other: that has
 * STORM_ERR_NOMEM, others STORM_ERR_PEER, and nothing is left allocated. A cell
 * with more faces than imc_ddmc_face can number is an error that says so.
 */
#include <stdio.h>
#include <string.h>

#include <storm/change.h>

#include "base/env.h"
#include "support/check.h"
#include "support/cuts.h"
#include "support/imc_box.h"

/* ---- what is refused ----------------------------------------------------- */

static int n_left; /* the allocation that is refused, counted down; 0: none */
static int n_made; /* of diffusion */
static int more_faces; /* of each cell, for diffusion alone */

void *__real_storm_alloc(struct storm_memory *memory, const char *label,
                         size_t bytes);
void *__wrap_storm_alloc(struct storm_memory *memory, const char *label,
                         size_t bytes);
void *__wrap_storm_alloc(struct storm_memory *memory, const char *label,
                         size_t bytes)
{
    if (strcmp(label, "imc diffusion") == 0) {
        n_made++;
        if (n_left > 0 && --n_left == 0)
            return NULL;
    }
    return __real_storm_alloc(memory, label, bytes);
}

int __real_storm_mesh_n_faces(const struct storm_mesh *mesh,
                              storm_cell_idx cell);
int __wrap_storm_mesh_n_faces(const struct storm_mesh *mesh,
                              storm_cell_idx cell);
int __wrap_storm_mesh_n_faces(const struct storm_mesh *mesh,
                              storm_cell_idx cell)
{
    return __real_storm_mesh_n_faces(mesh, cell) +
           (n_made > 0 ? more_faces : 0);
}

/* ---- one world ----------------------------------------------------------- */

enum { N_CELLS = 12 };

static char said[1000];

static void keep(void *self, storm_log_level level, int rank,
                 const char *message)
{
    (void)self, (void)rank;
    if (level == STORM_LOG_ERROR)
        snprintf(said, sizeof said, "%s", message);
}

static const struct storm_material matter = {
    .absorption = {.coef = 300, .max = STORM_UNLIMITED},
    .heat_capacity = {.coef = 1, .max = STORM_UNLIMITED},
    .temperature_kev = 1,
    .radiation_temperature_kev = 1};
static const struct storm_region all = {.material = 0};

static void open_mesh(struct imc_box *box)
{
    const struct storm_context_params params = {.size = sizeof params,
                                                .log = keep};
    struct storm_cart_params cart = {
        .size = sizeof cart, .hi_cm = {1, 1, 1}, .n = {6, 2, 1}};
    *box = (struct imc_box){
        .problem = {STORM_PROBLEM_SIZES, .light_cm_s = 1,
                    .radiation_erg_cm3_kev4 = 1, .hi_cm = {1, 1, 1},
                    .materials = &matter, .n_materials = 1, .regions = &all,
                    .n_regions = 1, .n_groups = 1, .emit_per_cell = 2,
                    .min_per_cell = 1, .max_per_cell = 4, .diffusion = true,
                    .seed = 1}};
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, &params, &box->context));
    CHECK_OK(storm_mesh_create_cart(box->context, &cart, &box->mesh));
}

static storm_status create(struct imc_box *box)
{
    box->imc = NULL;
    storm_status status =
        storm_imc_create(box->context, box->mesh, &box->problem, &box->imc);
    CHECK(status == STORM_OK || box->imc == NULL);
    return status;
}

/* Some cells change their owners, to and fro. */
static storm_status change(struct imc_box *box)
{
    uint64_t weight[N_CELLS];
    bool is_even = storm_mesh_generation(box->mesh) % 2 == 0;
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(box->mesh); i++)
        weight[i] = is_even ? 1 + storm_mesh_cell_id(box->mesh, i) : 1;
    struct storm_change *next = cut_change(box->mesh, weight);
    storm_status status = storm_imc_follow(box->imc, next);
    storm_change_destroy(next);
    return status;
}

static size_t bytes_now(const struct imc_box *box)
{
    struct storm_memory_entry entry = STORM_MEMORY_ENTRY_INIT;
    CHECK_OK(storm_context_memory(box->context, 0, &entry)); /* "total" */
    return entry.bytes;
}

/* ---- tests --------------------------------------------------------------- */

/* Allocation n of a rank fails, 0: none does, when cells are first known or,
 * with `follows`, after a change. Returns how many there were. */
static int check_memory(struct imc_box *box, int n, int victim, bool follows)
{
    int rank = storm_context_rank(box->context);
    check_where("allocation %d of rank %d, follows %d", n, victim, follows);
    if (follows)
        CHECK_OK(create(box));
    n_made = 0;
    n_left = rank == victim ? n : 0;
    storm_status status = follows ? change(box) : create(box);
    CHECK_EQ(n_left, 0);
    CHECK_EQ(status, n == 0           ? STORM_OK
                     : rank == victim ? STORM_ERR_NOMEM
                                      : STORM_ERR_PEER);
    if (follows || n == 0)
        storm_imc_destroy(box->imc);
    return n_made;
}

static void check_faces(struct imc_box *box)
{
    check_where("faces");
    n_made = 0;
    more_faces = 32768 - 6;
    CHECK_EQ(create(box), STORM_ERR_NOSUP);
    more_faces = 0;
    CHECK(storm_context_rank(box->context) != 0 ||
          strstr(said, "32768 faces") != NULL);
}

int main(int argc, char **argv)
{
    struct imc_box box;
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    open_mesh(&box);
    for (int follows = 0; follows < (size > 1 ? 2 : 1); follows++) {
        int n = check_memory(&box, 0, 0, follows);
        size_t before = bytes_now(&box);
        printf("%d allocations\n", n);
        CHECK(n >= 9);
        for (int k = 1; k <= n; k++)
            (void)check_memory(&box, k, k % size, follows);
        CHECK(follows || bytes_now(&box) == before);
    }
    check_faces(&box);
    storm_mesh_destroy(box.mesh);
    CHECK_EQ(bytes_now(&box), 0);
    storm_context_destroy(box.context);
    MPI_Finalize();
    return CHECK_PASS;
}
