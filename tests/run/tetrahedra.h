/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file of Gmsh: a bar along x of n boxes, each cut into six tetrahedra.
 * Boundary 1 is its lower end, 2 the upper one, 3 the sides.
 */
#ifndef TESTS_RUN_TETRAHEDRA_H
#define TESTS_RUN_TETRAHEDRA_H

#include <stdio.h>

#include "support/check.h"

/* Corner k of tetrahedron t: along a path from one corner of its box to the
 * opposite one. Coordinates in boxes. */
static inline void tetrahedra_corner(int t, int k, int at[3])
{
    static const int paths[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    at[0] = t / 6;
    at[1] = at[2] = 0;
    for (int i = 0; i < k; i++)
        at[paths[t % 6][i]]++;
}

/* The boundary of the face opposite to a corner; 0: none. */
static inline int tetrahedra_boundary(int n, int t, int opposite)
{
    int low[3], high[3], at[3], boundary = 0;
    tetrahedra_corner(t, opposite == 0 ? 1 : 0, low);
    tetrahedra_corner(t, opposite == 3 ? 2 : 3, high);
    for (int d = 0; d < 3; d++) {
        at[d] = low[d];
        if (low[d] == high[d] && (at[d] == 0 || at[d] == (d == 0 ? n : 1)))
            boundary = d > 0 ? 3 : at[d] == 0 ? 1 : 2;
    }
    return boundary;
}

static inline void tetrahedra_corners(FILE *file, int t, int but)
{
    for (int k = 0, at[3]; k < 4; k++) {
        tetrahedra_corner(t, k, at);
        if (k != but)
            fprintf(file, " %d", 4 * at[0] + 2 * at[1] + at[2] + 1);
    }
    fputs("\n", file);
}

/* Triangles of a boundary; file NULL: only counts them. */
static inline int tetrahedra_triangles(FILE *file, int n, int boundary,
                                       int number)
{
    int count = 0;
    for (int i = 0; i < 6 * n * 4; i++) {
        if (tetrahedra_boundary(n, i / 4, i % 4) != boundary)
            continue;
        if (file != NULL) {
            fprintf(file, "%d", number + count);
            tetrahedra_corners(file, i / 4, i % 4);
        }
        count++;
    }
    return count;
}

static inline void tetrahedra_nodes(FILE *file, int n, const double hi[3])
{
    int n_nodes = 4 * (n + 1);
    fprintf(file, "$Nodes\n1 %d 1 %d\n3 1 0 %d\n", n_nodes, n_nodes, n_nodes);
    for (int i = 1; i <= n_nodes; i++)
        fprintf(file, "%d\n", i);
    for (int i = 0; i < n_nodes; i++)
        fprintf(file, "%.17g %.17g %.17g\n", hi[0] * (i / 4) / n,
                hi[1] * (i / 2 % 2), hi[2] * (i % 2));
    fputs("$EndNodes\n", file);
}

/* From the origin to `hi`. */
static inline void tetrahedra_write(const char *path, int n, const double hi[3])
{
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    int number = 1, n_elements = 6 * n;
    fputs("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 3 1\n", file);
    for (int b = 1; b <= 3; b++) {
        fprintf(file, "%d 0 0 0 1 1 1 1 %d 0\n", 10 + b, b);
        n_elements += tetrahedra_triangles(NULL, n, b, 0);
    }
    fputs("1 0 0 0 1 1 1 1 1 3 11 12 13\n$EndEntities\n", file);
    tetrahedra_nodes(file, n, hi);
    fprintf(file, "$Elements\n4 %d 1 %d\n", n_elements, n_elements);
    for (int b = 1; b <= 3; b++) {
        fprintf(file, "2 %d 2 %d\n", 10 + b,
                tetrahedra_triangles(NULL, n, b, 0));
        number += tetrahedra_triangles(file, n, b, number);
    }
    fprintf(file, "3 1 4 %d\n", 6 * n);
    for (int t = 0; t < 6 * n; t++) {
        fprintf(file, "%d", number + t);
        tetrahedra_corners(file, t, -1);
    }
    fputs("$EndElements\n", file);
    CHECK(fclose(file) == 0);
}

#endif /* TESTS_RUN_TETRAHEDRA_H */
