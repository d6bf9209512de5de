/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; timeout: 60 */
/*
 * Debug builds stop when a packet is not in its cell: because it is outside, by
 * little or by much, or crosses a face that leads to the wrong cell. Both
 * kernels, all meshes. A packet that is just inside passes.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lone.h"
#include "mesh/cart/cart_mesh.h"
#include "mesh/voronoi/voronoi_mesh.h"

static const struct storm_cart_params cart_params = {.size = sizeof cart_params,
                                                     .lo_cm = {-3, 0, 1},
                                                     .hi_cm = {3, 5, 5},
                                                     .n = {7, 6, 5}};
static const struct storm_points_params random_set = {.size = sizeof random_set,
                                                      .seed = 5,
                                                      .n_total = 3000,
                                                      .lo_cm = {-5, -5, -5},
                                                      .hi_cm = {5, 5, 5}};

/* By wall. */
static const unsigned char mirrors[STORM_N_WALLS] = {
    IMC_EDGE_MIRROR, IMC_EDGE_MIRROR, IMC_EDGE_MIRROR,
    IMC_EDGE_MIRROR, IMC_EDGE_MIRROR, IMC_EDGE_MIRROR};

/* Implicit Monte Carlo in a vacuum, with the mesh of `lone`. */
static struct imc_track imc_vacuum(const struct lone *lone,
                                   struct imc_cell *cells)
{
    return (struct imc_track){
        .mesh = lone->mesh,
        .light_cm_s = 1.0,
        .seed = 1,
        .max_events = UINT64_MAX,
        .n_groups = 1,
        .edges = mirrors,
        .deposit_unit = storm_exact_unit(1e3),
        .path_unit = storm_exact_unit(1e3),
        .cells = cells,
    };
}

/* Moves the packet in a child process; true if that was stopped. */
static bool is_stopped(const struct lone *lone, const struct storm_packet *from,
                       bool imc)
{
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct storm_packet packet = *from;
        void *pointer = &packet;
        struct storm_outcome outcome = {.fate = (storm_fate)-1};
        signal(SIGABRT, SIG_DFL); /* MPI's handler would print */
        if (imc) {
            struct imc_cell *cells =
                calloc((size_t)storm_mesh_n_cells(lone->mesh), sizeof *cells);
            CHECK(cells != NULL);
            struct imc_track track = imc_vacuum(lone, cells);
            storm_track_ops_for(lone->mesh)->imc(&track, &pointer, 1, &outcome);
            free(cells);
        } else {
            lone->advance(&lone->track, &pointer, 1, &outcome);
        }
        _exit(outcome.fate == STORM_FATE_CENSUS ? CHECK_PASS : CHECK_FAIL);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) == CHECK_PASS);
    return WIFSIGNALED(status);
}

static void between(const double a[3], const double b[3], double f,
                    double x_out[3])
{
    for (int d = 0; d < 3; d++)
        x_out[d] = a[d] + f * (b[d] - a[d]);
}

/* The fraction of the line from a to b at which the cell of a ends. */
static double exit_fraction(const struct lone *lone, const double a[3],
                            const double b[3])
{
    storm_cell_idx cell = lone_locate(lone, a);
    double inside = 0.0, outside = 1.0, x[3];
    while (outside - inside > 1e-13) {
        double middle = 0.5 * (inside + outside);
        between(a, b, middle, x);
        if (lone_locate(lone, x) == cell)
            inside = middle;
        else
            outside = middle;
    }
    return outside;
}

static void check_places(const struct lone *lone, bool imc)
{
    struct dice dice = dice_make(7, 0);
    for (int i = 0; i < 40; i++) {
        struct storm_packet packet = lone_packet(lone, &dice);
        struct storm_packet other = lone_packet(lone, &dice);
        if (other.cell_idx == packet.cell_idx)
            continue;
        packet.time_left_s = 1e-6;
        packet.birth_weight_erg = packet.weight_erg;
        packet.optical_depth = 1.0;
        double a[3], b[3];
        memcpy(a, packet.position_cm, sizeof a);
        memcpy(b, other.position_cm, sizeof b);
        double out = exit_fraction(lone, a, b);
        between(a, b, out - 1e-9, packet.position_cm);
        CHECK(!is_stopped(lone, &packet, imc));
        between(a, b, out + 1e-9, packet.position_cm);
        CHECK(is_stopped(lone, &packet, imc));
        memcpy(packet.position_cm, b, sizeof b);
        CHECK(is_stopped(lone, &packet, imc));
    }
}

/* All faces of the cell lead to `there`, but for walls. */
static void mislead(const struct lone *lone, storm_cell_idx cell,
                    storm_cell_idx there)
{
    if (lone->mesh->ops == &storm_mesh_cart) {
        struct cart_cell *at = &cart_part_of(lone->mesh)->cells[cell];
        for (int i = 0; i < 6; i++)
            at->next[i] = at->next[i] >= 0 ? there : at->next[i];
        return;
    }
    const struct voronoi_part *part = voronoi_part_of(lone->mesh);
    const struct voronoi_head *head = &part->heads[cell];
    for (uint32_t i = head[0].first_block; i < head[1].first_block; i++)
        for (int k = 0; k < VORONOI_WIDTH; k++)
            if (part->blocks[i].next[k] >= 0)
                part->blocks[i].next[k] = there;
}

static void check_crossing(const struct lone *lone, bool imc)
{
    double middle[3], ahead[3];
    for (int d = 0; d < 3; d++)
        middle[d] = 0.5 * (lone->mesh->ops == &storm_mesh_cart
                               ? cart_params.lo_cm[d] + cart_params.hi_cm[d]
                               : 0.0);
    struct storm_packet packet = {.direction = {0.6, 0.0, 0.8},
                                  .weight_erg = 1.0,
                                  .birth_weight_erg = 1.0,
                                  .optical_depth = 1.0,
                                  .time_left_s = 4.0};
    packet.cell_idx = lone_locate(lone, middle);
    packet.cell = (storm_cell_id)packet.cell_idx;
    memcpy(packet.position_cm, middle, sizeof middle);
    CHECK(!is_stopped(lone, &packet, imc));
    for (int d = 0; d < 3; d++)
        ahead[d] = middle[d] + 2.0 * packet.direction[d];
    mislead(lone, packet.cell_idx, lone_locate(lone, ahead));
    CHECK(is_stopped(lone, &packet, imc));
}

static void check_mesh(bool voronoi, bool imc)
{
    struct lone lone;
    if (voronoi)
        lone_open_voronoi(&lone, &random_set);
    else
        lone_open(&lone, &cart_params);
    check_places(&lone, imc);
    check_crossing(&lone, imc); /* damages the mesh */
    lone_close(&lone);
}

int main(int argc, char **argv)
{
#ifndef STORM_DEBUG
    (void)argc;
    (void)argv;
    (void)check_mesh;
    printf("not a debug build\n");
    return CHECK_SKIP;
#else
    MPI_Init(&argc, &argv);
    for (int what = 0; what < 4; what++) {
        check_where("voronoi %d, imc %d", what & 1, what >> 1);
        check_mesh(what & 1, what >> 1);
    }
    MPI_Finalize();
    return CHECK_PASS;
#endif
}
