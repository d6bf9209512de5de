/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of the cells of a box of n[0] x n[1] x n[2] cells along a Hilbert
 * curve: position <-> (i, j, k), one pass down the levels.
 *
 * The box is halved in every direction that still has as many levels as the
 * longest one, the larger half first; the two, four or eight parts are visited
 * as a Hilbert curve in one, two or three dimensions does, each with the entry
 * corner and direction the curve gives it; and so on down to single cells.
 *
 *   HILBERT-1  Positions are 0 .. n[0]*n[1]*n[2]-1 without gaps: a bijection.
 *   HILBERT-2  If every n[d] is a power of two, equal or not, consecutive
 *              positions are face neighbours. Otherwise this is the same curve
 *              with some planes of cells taken out, spread evenly over the box,
 *              so that jumps are short.
 *   HILBERT-3  A direction with one cell does not count: n = {1000, 1, 1} is a
 *              line.
 *   HILBERT-4  O(log max n) time, no memory.
 *   HILBERT-5  Trees: each of the n[0] x n[1] x n[2] cells, a root, is a cube
 *              that is halved in all directions `level` times. Position p of a
 *              level is cut into the positions 8 p .. 8 p + 7 of the next, so
 *              any cube of the tree is one piece of the curve. If every n[d] is
 *              a power of two, this is the curve of the box with n[d] << level
 *              cells.
 */
#ifndef STORM_MESH_HILBERT_H
#define STORM_MESH_HILBERT_H

#include <stdint.h>

/* Max cells in one direction. */
enum { STORM_HILBERT_MAX = 1 << 30 };

/* n[d] in 1 .. STORM_HILBERT_MAX, product below 2^63; 0 <= ijk[d] < n[d]. */
uint64_t storm_hilbert_position(const int32_t n[3], const int32_t ijk[3]);
void storm_hilbert_ijk(const int32_t n[3], uint64_t position,
                       int32_t ijk_out[3]);

/* Cells of the curve of a box: 2^20 along the longest side, about as wide along
 * the others; a power of two in each direction. */
void storm_hilbert_fit(const double lo[3], const double hi[3],
                       int32_t n_out[3]);

/* The same at a level of trees; n[d] << level is at most STORM_HILBERT_MAX, the
 * product of all below 2^63. */
uint64_t storm_hilbert_tree_position(const int32_t n[3], int level,
                                     const int32_t ijk[3]);
void storm_hilbert_tree_ijk(const int32_t n[3], int level, uint64_t position,
                            int32_t ijk_out[3]);

#endif /* STORM_MESH_HILBERT_H */
