/* SPDX-License-Identifier: BSD-3-Clause */
#include "voropp/voropp.h"

#include <ctime>
#include <vector>

#include <voro++/voro++.hh>

static double cpu_seconds()
{
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* voro++ treats as one what differs by less than 1e-11, whatever the size of
 * the box: so it gets a larger one. */
static const double scale = 0x1p20;

bool voropp_cells(int n, const double *x, const double lo[3],
                  const double hi[3],
                  bool (*visit)(void *self, int i,
                                const struct voropp_cell *cell),
                  void *self, double *cpu_seconds_out)
{
    double seconds = -cpu_seconds();
    double a[3], b[3];
    for (int d = 0; d < 3; d++) {
        a[d] = scale * lo[d];
        b[d] = scale * hi[d];
    }
    voro::pre_container pre(a[0], b[0], a[1], b[1], a[2], b[2], false, false,
                            false);
    for (int i = 0; i < n; i++)
        pre.put(i, scale * x[3 * i], scale * x[3 * i + 1],
                scale * x[3 * i + 2]);
    int blocks[3];
    pre.guess_optimal(blocks[0], blocks[1], blocks[2]);
    voro::container container(a[0], b[0], a[1], b[1], a[2], b[2], blocks[0],
                              blocks[1], blocks[2], false, false,
                              false, 8);
    pre.setup(container);
    voro::voronoicell_neighbor cell;
    std::vector<int> neighbours;
    std::vector<double> areas, normals;
    voro::c_loop_all loop(container);
    bool goes_on = true;
    if (loop.start())
        do {
            if (!container.compute_cell(cell, loop))
                continue;
            struct voropp_cell result;
            result.volume = cell.volume() / (scale * scale * scale);
            cell.centroid(result.centroid[0], result.centroid[1],
                          result.centroid[2]);
            cell.neighbors(neighbours);
            cell.face_areas(areas);
            for (double &area : areas)
                area /= scale * scale;
            for (double &y : result.centroid)
                y /= scale;
            cell.normals(normals);
            result.n_faces = (int)neighbours.size();
            result.neighbours = neighbours.data();
            result.areas = areas.data();
            result.normals = normals.data();
            seconds += cpu_seconds();
            goes_on = visit(self, loop.pid(), &result);
            seconds -= cpu_seconds();
        } while (goes_on && loop.inc());
    *cpu_seconds_out = seconds + cpu_seconds();
    return true;
}
