/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of meshes in HDF5, as docs/mesh-files.md has them, good or not. */
#ifndef STORM_TESTS_MESH_FILE_H
#define STORM_TESTS_MESH_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MESH_FILE_ROOM = 4096 };

/* The arrays; an array without rows is left out. */
struct mesh_file {
    size_t n_points, n_cells, n_faces, n_corners, n_boundary, n_numbers;
    double points[MESH_FILE_ROOM][3];
    int64_t cell_offsets[MESH_FILE_ROOM], face_offsets[MESH_FILE_ROOM],
        face_points[MESH_FILE_ROOM], boundary[MESH_FILE_ROOM],
        number[MESH_FILE_ROOM];
    bool chunked;     /* points are, too */
    bool small_types; /* numbers of 4 bytes */
};

/* Cubes in a row, along x; boundary 1 at the lower end, 2 elsewhere. */
void mesh_file_cubes(struct mesh_file *file, int64_t n);

/* Adds a face to the last cell. */
void mesh_file_face(struct mesh_file *file, size_t n, const int64_t *corners,
                    int64_t boundary);
void mesh_file_end_cell(struct mesh_file *file);

void mesh_file_write(const struct mesh_file *file, const char *path);

#endif /* STORM_TESTS_MESH_FILE_H */
