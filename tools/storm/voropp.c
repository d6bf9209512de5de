/* SPDX-License-Identifier: BSD-3-Clause */
/* voro++ for the Voronoi benchmark. */
#include "voropp/voropp.h"

#include <limits.h>
#include <time.h>

#include "tool.h"

/* Until the time limit. */
static bool voropp_visit(void *self, int i, const struct voropp_cell *cell)
{
    const struct timespec *end = self;
    struct timespec now;
    (void)i;
    (void)cell;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec < end->tv_sec;
}

bool tool_voropp(uint64_t n, const double *points_cm, double limit_s,
                 double *cpu_s_out)
{
    const double lo[3] = {0.0, 0.0, 0.0}, hi[3] = {1.0, 1.0, 1.0};
    struct timespec end, now;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += (time_t)limit_s;
    if (n > INT_MAX ||
        !voropp_cells((int)n, points_cm, lo, hi, voropp_visit, &end, cpu_s_out))
        return false;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec < end.tv_sec;
}
