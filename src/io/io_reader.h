/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reader of the cells and fields that a run has written. Local, without MPI.
 *
 *   READER-1  Cells are read a piece at a time: memory does not grow with their
 *             number, except for arrays of the caller.
 *   READER-2  Files are not trusted. STORM_ERR_IO if something cannot be read
 *             or is inconsistent; `problem` has the file and the reason.
 *
 * Functions return STORM_OK, STORM_ERR_IO or STORM_ERR_NOMEM.
 */
#ifndef STORM_IO_READER_H
#define STORM_IO_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <storm/status.h>

enum { IO_READER_PATH = 4096, IO_READER_NAME = 64 };

struct storm_memory;

struct io_reader {
    struct storm_memory *memory; /* the caller's book */
    char dir[IO_READER_PATH];
    char problem[IO_READER_PATH + 512]; /* after an error */
    uint64_t n_cells, n_points, n_words;
    bool boxes;
    char mesh_name[IO_READER_NAME];
    int64_t mesh; /* io_h5_file */
};

/* Opens the mesh of a step of a run's directory: mesh.h5 for 0, else
 * mesh-<step>.h5. Call close also after an error. */
storm_status io_reader_open(struct storm_memory *memory, const char *dir,
                            uint64_t mesh_step, struct io_reader *reader_out);
void io_reader_close(struct io_reader *reader);

/* The step of the mesh of a dump; 0 if the dump does not say. */
uint64_t io_reader_mesh_step(const char *dir, uint64_t dump);

/* The box of the mesh; false: its file, of an earlier version, lacks it. */
bool io_reader_box(const struct io_reader *reader, double lo_out[3],
                   double hi_out[3]);

/* A cell while it is visited. */
struct io_cell {
    uint64_t id; /* its row */
    size_t n_faces;
    const int64_t *faces; /* each: number of corners, then their indices,
                           * anticlockwise as seen from outside */
    const double (*corners)[3];
};
typedef storm_status io_visit(void *self, const struct io_cell *cell);

/* Visits all cells in order of their rows, until a visit fails, whose status is
 * returned. */
storm_status io_reader_cells(struct io_reader *reader, io_visit *visit,
                             void *self);

/* Reads one value per cell from a file of the directory. `values_out` has room
 * for n_cells. */
storm_status io_reader_values(struct io_reader *reader, const char *file,
                              const char *name, double *values_out);

/* Names of the arrays with one value per cell. Free *names_out with storm_free
 * and the reader's book; NULL if there are none. */
typedef char io_reader_name[IO_READER_NAME];
storm_status io_reader_names(struct io_reader *reader, const char *file,
                             io_reader_name **names_out, size_t *n_out);

/* Reads an attribute of a file. */
storm_status io_reader_number(struct io_reader *reader, const char *file,
                              const char *name, double *value_out);

#endif /* STORM_IO_READER_H */
