/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/run_octree.h"

static const double octree_margin = 1.0 / 64;

/* The coordinates of the points in direction d. */
static void octree_points(const struct storm_problem *problem,
                          const double lo_cm[3], const double hi_cm[3], int d,
                          double x_out[RUN_OCTREE_POINTS])
{
    double width = hi_cm[d] - lo_cm[d];
    double first = lo_cm[d] - octree_margin * width;
    double step = (1.0 + 2.0 * octree_margin) * width / (RUN_OCTREE_POINTS - 1);
    for (int i = 0; i < RUN_OCTREE_POINTS; i++) {
        double x = first + i * step;
        x = x > problem->lo_cm[d] ? x : problem->lo_cm[d];
        x_out[i] = x < problem->hi_cm[d] ? x : problem->hi_cm[d];
    }
}

bool run_octree_refine(void *self, const double lo_cm[3], const double hi_cm[3],
                       int level)
{
    enum { N = RUN_OCTREE_POINTS };
    const struct storm_problem *problem = self;
    double x[3][N];
    int found = -1;
    (void)level;
    for (int d = 0; d < 3; d++)
        octree_points(problem, lo_cm, hi_cm, d, x[d]);
    for (int k = 0; k < N * N * N; k++) {
        const double point[3] = {x[0][k % N], x[1][k / N % N], x[2][k / N / N]};
        int here = storm_problem_material(problem, point);
        if (here < 0)
            continue;
        if (found >= 0 && here != found)
            return true;
        found = here;
    }
    return false;
}
