/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench_roofline.h"

#include <string.h>

#include "base/clock.h"
#include "base/exact.h"
#include "base/port.h"
#include "bench/bench_measure.h"
#include "mesh/voronoi/voronoi_mesh.h"

enum { ROOFLINE_MAX = 256 << 20, ROOFLINE_BATCH = 4096 };

struct roofline {
    unsigned char *cells; /* of `lines` lines each */
    storm_exact *tally;
    size_t n, lines;
    uint64_t state, sum;
};

/* Bytes that a step reads of a Voronoi cell: planes and what is behind them,
 * the head of the cell, and the generator behind the face it leaves by. */
static double roofline_cell_bytes(const struct storm_mesh *mesh)
{
    if (strcmp(mesh->ops->name, "voronoi") != 0 || mesh->part->n_cells < 1)
        return 0.0;
    const struct voronoi_part *part = voronoi_part_of(mesh);
    size_t n = (size_t)mesh->part->n_cells;
    return (double)part->heads[n].first_block / (double)n *
               (double)sizeof *part->blocks +
           2.0 * (double)sizeof *part->heads;
}

/* ROOFLINE_BATCH cells at random: a linear congruential generator, of which
 * the upper half is used. */
static void roofline_visit(struct roofline *r)
{
    uint64_t state = r->state, sum = 0;
    for (int i = 0; i < ROOFLINE_BATCH; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        size_t cell = (size_t)((state >> 32) * r->n >> 32);
        const unsigned char *line =
            r->cells + cell * r->lines * STORM_CACHE_LINE;
        for (size_t k = 0; k < r->lines; k++)
            sum += line[k * STORM_CACHE_LINE];
        r->tally[cell] += 1;
    }
    r->state = state;
    r->sum += sum;
}

static storm_status roofline_measure(struct storm_context *context,
                                     size_t n_cells, double seconds,
                                     struct storm_bench_roofline *roof)
{
    struct roofline r = {.n = n_cells, .state = 1};
    r.lines =
        ((size_t)roof->cell_bytes + STORM_CACHE_LINE - 1) / STORM_CACHE_LINE;
    const size_t each = r.lines * STORM_CACHE_LINE + sizeof *r.tally;
    if (r.n > ROOFLINE_MAX / each)
        r.n = ROOFLINE_MAX / each;
    r.cells = storm_bench_alloc(context, r.n * r.lines, STORM_CACHE_LINE);
    r.tally = storm_bench_alloc(context, r.n, sizeof *r.tally);
    storm_status status =
        storm_context_agree(context, r.cells != NULL && r.tally != NULL
                                         ? STORM_OK
                                         : STORM_ERR_NOMEM);
    if (status >= 0) {
        memset(r.cells, 1, r.n * r.lines * STORM_CACHE_LINE); /* own pages */
        status = storm_bench_barrier(context);
    }
    double visits = 0.0, start = storm_clock_seconds(), spent = 0.0;
    while (status >= 0 && spent < seconds) {
        roofline_visit(&r);
        visits += ROOFLINE_BATCH;
        spent = storm_clock_seconds() - start;
    }
    /* Something depends on what was read. */
    roof->rate = spent > 0.0 && r.sum > 0 ? visits / spent : 0.0;
    storm_bench_free(context, r.tally);
    storm_bench_free(context, r.cells);
    return status;
}

storm_status storm_bench_roofline(struct storm_context *context,
                                  const struct storm_mesh *mesh, double seconds,
                                  struct storm_bench_roofline *roof_out)
{
    struct storm_bench_roofline roof = {.cell_bytes =
                                            roofline_cell_bytes(mesh)};
    double without = roof.cell_bytes > 0.0 ? 0.0 : 1.0;
    storm_status status = storm_bench_max(context, &without);
    if (status >= 0 && without == 0.0)
        status = roofline_measure(context, (size_t)mesh->part->n_cells, seconds,
                                  &roof);
    else
        roof.cell_bytes = 0.0;
    if (status >= 0)
        status = storm_bench_sum(context, &roof.rate);
    roof.rate /= storm_context_size(context);
    *roof_out = roof;
    return status;
}

void storm_bench_json_roofline(struct storm_json *json,
                               const struct storm_bench_roofline *roof,
                               double rate)
{
    static const char *const keys[] = {"geometry_bytes_per_cell",
                                       "roof_steps_per_second", "roof_ratio"};
    const double values[] = {roof->cell_bytes, roof->rate, rate / roof->rate};
    for (int i = 0; i < 3; i++)
        if (roof->cell_bytes > 0.0)
            storm_json_real(json, keys[i], values[i]);
        else
            storm_json_null(json, keys[i]);
}

void storm_bench_table_roofline(struct storm_page *page,
                                const struct storm_bench_roofline *roof,
                                double rate)
{
    if (roof->cell_bytes > 0.0)
        storm_page_add(page,
                       "  roof        %.1f million visits to random cells per "
                       "second and rank, %.0f bytes\n"
                       "              each; steps are %.0f %% of that\n",
                       1e-6 * roof->rate, roof->cell_bytes,
                       100.0 * rate / roof->rate);
}
