/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Voronoi cells by voro++ (C. H. Rycroft, Chaos 19, 041111, 2009), to compare
 * ours with. Only the code behind this header is C++; without voro++ the
 * function returns false.
 */
#ifndef TOOLS_VOROPP_VOROPP_H
#define TOOLS_VOROPP_VOROPP_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct voropp_cell {
    double volume;
    double centroid[3]; /* relative to the point */
    int n_faces;
    const int *neighbours; /* -1 .. -6: walls */
    const double *areas;
    const double *normals; /* three each */
};

/* Calls visit for the cell of each of the n points (three numbers each) of a
 * box, in any order, until it returns false, and measures the CPU time without
 * the calls. False: built without voro++. */
bool voropp_cells(int n, const double *x, const double lo[3],
                  const double hi[3],
                  bool (*visit)(void *self, int i,
                                const struct voropp_cell *cell),
                  void *self, double *cpu_seconds_out);

#ifdef __cplusplus
}
#endif
#endif /* TOOLS_VOROPP_VOROPP_H */
