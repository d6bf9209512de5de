/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The roof that memory puts over tracking: how many cells a second can be
 * visited at random, if a visit reads all that a step needs of its cell and
 * adds to its tally, and nothing is computed. Visits do not depend on each
 * other, so that as many are in flight as the processor can have.
 *
 *   ROOF-1  All ranks at once, each in memory of the size of its own cells, at
 *           most ROOFLINE_MAX bytes: more than caches hold.
 *   ROOF-2  Of Voronoi meshes alone. Cells of the others are computed, not
 *           read, or differ too much in what a step reads of them.
 */
#ifndef STORM_BENCH_ROOFLINE_H
#define STORM_BENCH_ROOFLINE_H

#include <storm/context.h>
#include <storm/mesh.h>

#include "base/json.h"
#include "base/page.h"

struct storm_bench_roofline {
    double cell_bytes; /* that a step in a cell reads, mean; 0: ROOF-2 */
    double rate;       /* visits per second and rank */
};

/* Measures for about so many seconds. Collective; STORM_ERR_NOMEM. */
storm_status storm_bench_roofline(struct storm_context *context,
                                  const struct storm_mesh *mesh, double seconds,
                                  struct storm_bench_roofline *roof_out);

/* Keys geometry_bytes_per_cell, roof_steps_per_second and roof_ratio, null if
 * there is none; a row of a table. `rate` is of steps per second and rank. */
void storm_bench_json_roofline(struct storm_json *json,
                               const struct storm_bench_roofline *roof,
                               double rate);
void storm_bench_table_roofline(struct storm_page *page,
                                const struct storm_bench_roofline *roof,
                                double rate);

#endif /* STORM_BENCH_ROOFLINE_H */
