/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; timeout: 60 */
/* TEST ranks: 1; args: mesh.lloyd=5; timeout: 120; label: long */
/* TEST ranks: 1; args: mesh.points=20000 mesh.lloyd=1 mesh.interfaces=sharp;
 * timeout: 60; label: long */
/* TEST ranks: 1; args: mesh.points=3000 mesh.lloyd=0 mesh.interfaces=sharp;
 * timeout: 60; label: slow-asan */
/*
 * Layers and cells: cells take the material of their centre, so a layer that is
 * thinner than about two of them has holes. Of the walls of a coarse hohlraum
 * the run warns, and rays from the cavity outwards do meet no wall; of a slab
 * in thin boxes, and of thick walls, it does not warn. Volumes of cells and of
 * shapes are those of the geometry. With arguments, entries of the deck to
 * override: the walls of the deck, as it is or on other meshes, must not leak.
 */
#include "case.h"

#include "run/run.h"

enum { RAYS = 20000, WALL = 0 };

/* Within the wall's range, but for its ends. */
static const double ray_x_cm[2] = {0.15, 1.35};
static const double ray_r_cm[2] = {0.5, 0.649};
static const double ray_step_cm = 2e-3;
static const double golden_turn = 0.6180339887498949;

static bool ray_leaks(const struct run *run, double x, double angle)
{
    for (double r = ray_r_cm[0]; r < ray_r_cm[1]; r += ray_step_cm) {
        const double at[3] = {x, r * cos(angle), r * sin(angle)};
        struct storm_cell_ref where;
        CHECK_OK(storm_mesh_locate(run->mesh, at, &where));
        if (storm_imc_material(run->imc, where.idx) == WALL)
            return false;
    }
    return true;
}

/* ---- runs --------------------------------------------------------------- */

static void count_warnings(void *self, storm_log_level level, int rank,
                           const char *message)
{
    (void)rank;
    if (level == STORM_LOG_WARN && strstr(message, " is a layer of ") != NULL)
        ++*(int *)self;
}

/* Sets up the deck; returns how often it warns of layers. */
static int layers_open(const char *name, const char *const *sets, size_t n,
                       struct run *run)
{
    static int n_warnings;
    char path[CASE_PATH], *problems = NULL;
    struct storm_deck *deck;
    const struct storm_context_params params = {
        .size = sizeof params, .log = count_warnings, .log_self = &n_warnings};
    n_warnings = 0;
    case_deck(name, path);
    CHECK_OK(storm_deck_read(path, sets, n, &deck, &problems));
    *run = (struct run){.deck = deck, .lock = -1};
    CHECK_OK(storm_context_create(MPI_COMM_SELF, &params, &run->context));
    CHECK_OK(run_open(run));
    return n_warnings;
}

static void layers_close(struct run *run)
{
    struct storm_deck *deck = (struct storm_deck *)(uintptr_t)run->deck;
    run_close(run);
    storm_context_destroy(run->context);
    storm_deck_destroy(deck);
}

static int count_leaks(const struct run *run)
{
    int n_leaks = 0;
    for (int i = 0; i < RAYS; i++) { /* evenly over the wall */
        double x = ray_x_cm[0] + (ray_x_cm[1] - ray_x_cm[0]) * (i + 0.5) / RAYS;
        n_leaks += ray_leaks(run, x, 6.283185307179586 * (i * golden_turn));
    }
    printf("%d of %d rays leak\n", n_leaks, RAYS);
    return n_leaks;
}

/* Two discs, an end and a shell, which overlap in a ring. */
static void check_volumes(const struct run *run)
{
    const double pi = 3.14159265358979;
    double wall = pi * (0.45 * 0.45 * 0.45 + 0.65 * 0.65 * 0.05 +
                        (0.65 * 0.65 - 0.6 * 0.6) * 1.25);
    const struct run_material *m = run->materials;
    printf("wall: %g cm3, by points %g, by cells %g\n", wall, m[0].shape_cm3,
           m[0].volume_cm3);
    CHECK(fabs(m[0].shape_cm3 / wall - 1.0) < 0.005);
    CHECK(fabs(m[0].volume_cm3 / wall - 1.0) < 0.2);
    CHECK(m[0].cells > 0 && m[1].cells > 0);
    CHECK(m[0].cells + m[1].cells <= storm_mesh_n_cells_total(run->mesh));
}

int main(int argc, char **argv)
{
    static const char *const coarse[] = {"mesh.points=3000", "mesh.lloyd=1"};
    static const char *const thick[] = {
        "mesh.points=3000", "mesh.lloyd=1",
        "regions=[{material: wall, shape: cylinder, radius: [0.2, 0.6]}]"};
    struct run run;
    MPI_Init(&argc, &argv);
    if (argc > 1) {
        CHECK_EQ(layers_open("hohlraum", (const char *const *)(argv + 1),
                             (size_t)(argc - 1), &run),
                 0);
        CHECK_EQ(count_leaks(&run), 0);
        layers_close(&run);
        MPI_Finalize();
        return CHECK_PASS;
    }
    CHECK_EQ(layers_open("hohlraum", coarse, 2, &run), 1);
    check_volumes(&run);
    CHECK(count_leaks(&run) > 0);
    layers_close(&run);
    CHECK_EQ(layers_open("hohlraum", thick, 3, &run), 0);
    layers_close(&run);
    CHECK_EQ(layers_open("marshak", NULL, 0, &run), 0);
    layers_close(&run);
    MPI_Finalize();
    return CHECK_PASS;
}
