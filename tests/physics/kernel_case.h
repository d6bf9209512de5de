/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cells, packets and what a kernel makes of them, in a file: for the same
 * kernel on another processor, which has no MPI (arm/track_arm.c). Both have
 * the same sizes of types and order of bytes.
 */
#ifndef TESTS_PHYSICS_KERNEL_CASE_H
#define TESTS_PHYSICS_KERNEL_CASE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/engine.h>
#include <storm/packet.h>

#include "base/exact.h"
#include "base/math.h"
#include "imc_case.h"
#include "mesh/voronoi/voronoi_mesh.h"
#include "support/dice.h"

enum { CASE_MATH = 20000, CASE_FUNCTIONS = 6 };

/* Implicit Monte Carlo of the same packets: grey, with random walks, with
 * groups. */
enum { CASE_IMC = 3 };
static const struct {
    size_t n_groups;
    bool walks;
} kernel_case_imc[CASE_IMC] = {{1, false}, {1, true}, {30, false}};

struct kernel_case {
    uint64_t n_cells, n_blocks, n_borders, n_packets;
    struct voronoi_head *heads; /* n_cells + 1 */
    struct storm_planes_block *blocks;
    struct voronoi_border *borders;
    struct storm_packet *start, *end; /* before and after the kernel */
    struct storm_outcome *outcomes;
    storm_exact *tally; /* n_cells */
    struct storm_packet *imc_end[CASE_IMC];
    struct imc_cell *imc_cells[CASE_IMC]; /* after the kernel */
};

/* Calls `array` for each array of the case with its size. */
typedef void kernel_case_fn(void *file, void **array, size_t bytes);

static inline void kernel_case_arrays(struct kernel_case *c, void *file,
                                      kernel_case_fn *array)
{
    const size_t packets = c->n_packets * sizeof *c->start;
    const struct {
        void *address; /* of the pointer */
        size_t bytes;
    } all[] = {
        {&c->heads, (c->n_cells + 1) * sizeof *c->heads},
        {&c->blocks, c->n_blocks * sizeof *c->blocks},
        {&c->borders, c->n_borders * sizeof *c->borders},
        {&c->start, packets},
        {&c->end, packets},
        {&c->outcomes, c->n_packets * sizeof *c->outcomes},
        {&c->tally, c->n_cells * sizeof *c->tally},
        {&c->imc_end[0], packets},
        {&c->imc_end[1], packets},
        {&c->imc_end[2], packets},
        {&c->imc_cells[0], c->n_cells * sizeof *c->imc_cells[0]},
        {&c->imc_cells[1], c->n_cells * sizeof *c->imc_cells[1]},
        {&c->imc_cells[2], c->n_cells * sizeof *c->imc_cells[2]},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        void *pointer;
        memcpy(&pointer, all[i].address, sizeof pointer);
        array(file, &pointer, all[i].bytes);
        memcpy(all[i].address, &pointer, sizeof pointer);
    }
}

/* Bits of the project's own mathematics for random arguments. */
static inline void kernel_case_math(double values_out[CASE_MATH])
{
    struct dice dice = dice_make(7, 0);
    for (int i = 0; i < CASE_MATH; i++) {
        double u = ((double)(dice_word(&dice) >> 11) + 0.5) * 0x1p-53;
        double cos_sin[2];
        switch (i % CASE_FUNCTIONS) {
        case 0:
            values_out[i] = storm_exp(1400.0 * (u - 0.5));
            break;
        case 1:
            values_out[i] = storm_expm1(2.0 * (u - 0.5));
            break;
        case 2:
            values_out[i] = storm_log(u);
            break;
        case 3:
            values_out[i] = storm_pow(1e3 * u, 3.7 * (1.0 - u));
            break;
        case 4:
            values_out[i] = storm_cbrt(1e6 * u);
            break;
        default:
            storm_cos_sin_turns(u, &cos_sin[0], &cos_sin[1]);
            values_out[i] = cos_sin[0] + 3.0 * cos_sin[1];
        }
    }
}

#endif /* TESTS_PHYSICS_KERNEL_CASE_H */
