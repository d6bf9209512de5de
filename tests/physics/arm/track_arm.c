/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels of free streaming and of implicit Monte Carlo in Voronoi cells
 * and the mathematics, on the cells and packets of a file of kernel_case.h:
 * they make the bits that are in the file. Without MPI, for a processor that is
 * emulated (track_arm.sh).
 *
 *   track_arm FILE    exit status 0: the same bits
 */
#include "../kernel_case.h"

#include "physics/on_host.h"

#include "mesh/voronoi/voronoi_geom.h"
#include "physics/imc_kernel.h"
#include "physics/pick.h"
#include "physics/track_kernel.h"

/* Accounts of what leaves: the other processor has them. The rest of what the
 * kernel may call it does not call here (track_arm.sh). */
void imc_escape(const struct imc_track *track,
                const struct storm_packet *packet, int wall)
{
    (void)track;
    (void)packet;
    (void)wall;
}

static void read_array(void *file, void **array, size_t bytes)
{
    *array = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!*array || fread(*array, 1, bytes, file) != bytes) {
        fprintf(stderr, "the file is too short\n");
        exit(1);
    }
}

static int compare(const char *what, const void *a, const void *b, size_t bytes)
{
    int differ = memcmp(a, b, bytes) != 0;
    printf("%-11s %10zu bytes: %s\n", what, bytes,
           differ ? "other bits" : "the same bits");
    return differ;
}

static int check_kernel(const struct kernel_case *c,
                        const struct storm_mesh *mesh)
{
    storm_exact *tally = calloc(c->n_cells, sizeof *tally);
    struct storm_outcome *outcomes = calloc(c->n_packets, sizeof *outcomes);
    void **pointers = calloc(c->n_packets, sizeof *pointers);
    if (!tally || !outcomes || !pointers)
        return 1;
    const struct storm_track track = {
        .mesh = mesh,
        .speed_cm_s = 1.0,
        .max_events = UINT64_MAX,
        .mirror_walls = (1u << STORM_N_WALLS) - 1u,
        .unit = storm_exact_unit(1e3),
        .exact = tally,
    };
    for (uint64_t i = 0; i < c->n_packets; i++)
        pointers[i] = &c->start[i];
    track_advance(&track, pointers, c->n_packets, outcomes);
    return compare("packets", c->start, c->end,
                   c->n_packets * sizeof *c->start) |
           compare("outcomes", outcomes, c->outcomes,
                   c->n_packets * sizeof *outcomes) |
           compare("tally", tally, c->tally, c->n_cells * sizeof *tally);
}

/* Before check_kernel, which moves the packets. */
static int check_imc(const struct kernel_case *c, const struct storm_mesh *mesh,
                     int which)
{
    struct imc_case imc;
    struct storm_packet *packets = calloc(c->n_packets, sizeof *packets);
    struct storm_outcome *outcomes = calloc(c->n_packets, sizeof *outcomes);
    if (!packets || !outcomes)
        return 1;
    memcpy(packets, c->start, c->n_packets * sizeof *packets);
    imc_case_open(&imc, mesh, (size_t)c->n_cells,
                  kernel_case_imc[which].n_groups,
                  kernel_case_imc[which].walks);
    imc_case_run(&imc, imc_advance, packets, c->n_packets, outcomes);
    int differ = compare("imc packets", packets, c->imc_end[which],
                         c->n_packets * sizeof *packets) |
                 compare("imc cells", imc.cells, c->imc_cells[which],
                         c->n_cells * sizeof *imc.cells);
    imc_case_close(&imc);
    free(outcomes);
    free(packets);
    return differ;
}

static int check_all(const struct kernel_case *c)
{
    const struct storm_env env = {.rank = 0, .size = 1};
    struct voronoi_part part = {
        .base = {.n_cells = (storm_cell_idx)c->n_cells},
        .heads = c->heads,
        .blocks = c->blocks,
        .borders = c->borders,
    };
    const struct storm_mesh mesh = {.env = &env, .part = &part.base};
    int differ = 0;
    for (int i = 0; i < CASE_IMC; i++)
        differ |= check_imc(c, &mesh, i);
    return differ | check_kernel(c, &mesh);
}

int main(int argc, char **argv)
{
    static double values[CASE_MATH], expected[CASE_MATH];
    struct kernel_case c;
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!file || fread(&c, sizeof c, 1, file) != 1 ||
        fread(expected, sizeof expected, 1, file) != 1) {
        fprintf(stderr, "usage: track_arm FILE\n");
        return 2;
    }
    kernel_case_arrays(&c, file, read_array);
    fclose(file);
    kernel_case_math(values);
    return compare("functions", values, expected, sizeof values) |
           check_all(&c);
}
