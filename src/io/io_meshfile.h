/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unstructured meshes from files (docs/mesh-files.md): one reader per format,
 * one form that all of them fill, and from it a given mesh (storm/given.h).
 *
 *   MESHFILE-1  The form is points, cells as lists of faces, faces as lists of
 *               corners. Cells that share a face each have it; two faces with
 *               the same corners are neighbours.
 *   MESHFILE-2  Tags are places of cells in the file; the partition follows the
 *               curve through their centroids. The mesh is the same bits on any
 *               number of ranks, whichever corner of a face is its first.
 *   MESHFILE-3  Files are not trusted. Errors are logged, with the file, the
 *               place in it, and what was expected. Memory grows with what was
 *               read, not with what the file announces.
 *   MESHFILE-4  Rank 0 reads, and has the form of all cells until the mesh is
 *               made; other ranks have their own cells alone.
 */
#ifndef STORM_IO_MESHFILE_H
#define STORM_IO_MESHFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <storm/status.h>

#include "base/env.h"

enum {
    IO_MESHFILE_HEAD = 8,             /* bytes at the start of a file */
    IO_MESHFILE_MAX_CORNERS = 256,    /* of a face */
    IO_MESHFILE_MAX_BOUNDARY = 65535, /* number, also of cells */
    IO_MESHFILE_INSIDE = -1 /* not a boundary: must have a neighbour */
};

/* A growing array. */
struct io_meshfile_array {
    void *at;
    size_t n, capacity;
};

/* A mesh as it is in a file. Arrays are filled by the calls below. */
struct io_meshfile {
    const struct storm_env *env;
    const char *path;
    const char *cell_word; /* that the format has for a cell */

    double *points_cm; /* vectors */
    size_t n_points;
    uint64_t *names;   /* of cells, for messages */
    uint16_t *numbers; /* of cells, for regions; 0: none */
    size_t n_cells;
    uint64_t *first_face; /* n_cells + 1 */
    /* Faces of the cells, one cell after the other, then marks. */
    size_t n_faces, n_marks;
    uint64_t *first_corner; /* n_faces + n_marks + 1 */
    uint32_t *corners;
    int32_t *boundary; /* number of a face without neighbour */

    uint32_t *owner; /* io_meshfile_match: cells of faces */
    int64_t *behind; /* the cell behind each face; -1: a boundary */
    int32_t n_boundaries;

    double *centroids_cm, *volumes_cm3; /* io_meshfile_measure */

    size_t capacity[8]; /* of the growing arrays */
};

struct io_meshfile_format {
    const char *name;
    bool (*begins)(const unsigned char head[IO_MESHFILE_HEAD], size_t n);
    /* Fills the form. Local. STORM_ERR_IO (logged), STORM_ERR_NOMEM. */
    storm_status (*read)(struct io_meshfile *file);
};

extern const struct io_meshfile_format io_meshfile_gmsh;
extern const struct io_meshfile_format io_meshfile_hdf5;

/* ---- io_meshfile_form.c -------------------------------------------------- */

/* Logs an error, with the path before it; STORM_ERR_IO. */
storm_status io_meshfile_fail(const struct io_meshfile *file,
                              const char *format, ...) STORM_PRINTF(2, 3);

/* Here and below: STORM_ERR_IO (logged), STORM_ERR_NOMEM. */
storm_status io_meshfile_add_point(struct io_meshfile *file, const double x[3]);

/* Adds a face to the cell that comes next, or a mark if all cells are there:
 * it gives its number to the face of a cell that has the same corners, and to
 * no other. */
storm_status io_meshfile_add_face(struct io_meshfile *file, size_t n,
                                  const uint32_t *corners, int64_t boundary);
storm_status io_meshfile_end_cell(struct io_meshfile *file, uint64_t name,
                                  int64_t number);
void io_meshfile_clear(struct io_meshfile *file);

/* Reads a file of any format, matches and measures. Local. */
storm_status io_meshfile_read(struct io_meshfile *file);

/* ---- io_meshfile_match.c ------------------------------------------------- */

/* Finds the neighbours. */
storm_status io_meshfile_match(struct io_meshfile *file);

/* ---- io_meshfile_measure.c ----------------------------------------------- */

struct io_meshfile_face {
    double normal[3];      /* outward; its length is the area */
    double centroid_cm[3]; /* relative to the centroid of the cell */
    double area_cm2;
};

/* Centroids and volumes; cells have plane faces and are convex to
 * io_meshfile_error, and neighbours are on both sides of their face. */
extern const double io_meshfile_error;
storm_status io_meshfile_measure(struct io_meshfile *file);

/* A face of a cell that was measured. */
void io_meshfile_face(const struct io_meshfile *file, size_t cell, size_t face,
                      struct io_meshfile_face *face_out);

#endif /* STORM_IO_MESHFILE_H */
