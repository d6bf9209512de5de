/* SPDX-License-Identifier: BSD-3-Clause */
/* Results of a run: fields of the cells, with the mesh, and profiles. */
#ifndef STORM_IO_FIELDS_H
#define STORM_IO_FIELDS_H

#include <storm/context.h>
#include <storm/engine.h>
#include <storm/imc.h>
#include <storm/mesh.h>
#include <storm/problem.h>
#include <storm/tally.h>

#include "base/page.h"

struct io_h5_writer;

/* What to write: the state of a run between two steps. All is borrowed. */
struct io_source {
    struct storm_context *context;
    struct storm_mesh *mesh;
    struct storm_imc *imc;
    struct storm_engine *engine;
    const char *dir;
    uint64_t step;
    double start_s, time_s;    /* of the last step: from, to */
    storm_imc_field radiation; /* field written as radiation energy */
    double radiation_constant; /* erg/cm3/keV^4 */
    const struct storm_material *materials; /* by storm_imc_material */
    size_t n_materials;
    bool natural;      /* the deck has its own constants: units are not known */
    const char *title; /* of the deck; NULL: none */
    unsigned moments;  /* of storm_imc_request that are written as well */
    uint64_t replica;  /* from 1; 0: the run has none (io_means.h) */
    bool is_restarted; /* files may have been damaged meanwhile */
};

/* What the dumps of a run have in common; all zero before the first. */
struct io_series {
    uint64_t mesh_step; /* of the last dump's mesh: names its file */
    uint64_t mesh_hash; /* io_cells_hash of it; 0: there is none yet */
    uint64_t n_points;  /* in its file; 0: it is not in this directory yet */
    uint64_t n_words;   /* integers that encode polyhedra; 0: boxes */
    struct storm_page grids; /* of the dumps so far, as XDMF; on rank 0 */
};

/* Bins of a profile: slices of the box. */
struct io_bins {
    size_t n;
    int axis;
    double lo_cm, hi_cm;    /* of bins of equal width */
    const double *edges_cm; /* n + 1; NULL: they are of equal width */
};

/* A line through the mesh. */
enum { IO_LINE_NAME = 100 };
struct io_line {
    const char *name; /* at most IO_LINE_NAME letters, digits, - and _ */
    double from_cm[3], to_cm[3];
    size_t n; /* points on it, both ends included; 2 at least */
};

/* The fields of a dump, one value per cell. */
enum { IO_N_FIELDS = 4 };
extern const char *const io_field_names[IO_N_FIELDS];

/* The unit of an array or a column of this name; NULL: a pure number, or it is
 * not known. */
const char *io_unit(const struct io_source *source, const char *name);

/* Writes it as the attribute `unit` of an array that was put. Collective. */
storm_status io_put_unit(const struct io_source *source,
                         struct io_h5_writer *file, const char *name);

/* Writes the deck's title and the version as attributes. Collective. */
storm_status io_put_head(const struct io_source *source,
                         struct io_h5_writer *file);

/* Is there a value of this name in a cell of this material: of radiation, of
 * the temperature of matter, of its energy? Matter without heat capacity has no
 * energy, and a temperature only if the deck gives it one, at which it emits.
 */
bool io_field_has(const struct io_source *source, const char *name,
                  int material, double value);

/* The array of a value of a moment: flux_x, radiation_energy_group_7. */
void io_moment_name(storm_imc_moment moment, size_t i, char *name_out,
                    size_t bytes);

/* Its values for each local cell, of the same radiation as
 * `radiation_energy`. Collective, blocks. */
storm_status io_get_moment(const struct io_source *source,
                           storm_imc_moment moment, double *values_out);

/* The i-th array of a dump, without tags; false: there is none. */
bool io_field_name(const struct io_source *source, size_t i, char *name_out,
                   size_t bytes);

/* fields-<step>.h5, fields-<step>.hdf if cells are boxes, fields.xdmf and
 * partition.csv; with the first dump mesh.h5,
 * and with the first after a change of the mesh mesh-<step>.h5. Collective,
 * blocks. Here and below: STORM_ERR_IO (logged), STORM_ERR_NOMEM,
 * or an error of physics or mesh. */
storm_status io_write_fields(const struct io_source *source,
                             struct io_series *series);

/* io_profile.c: profile-<step>.csv. Collective, blocks. */
storm_status io_write_profile(const struct io_source *source,
                              const struct io_bins *bins);

/* io_lineout.c: lineout-<name>-<step>.csv. Collective, blocks. */
storm_status io_write_lineout(const struct io_source *source,
                              const struct io_line *line);

/* io_tally.c: tallies.h5 and tally-<name>.csv; nothing without tallies.
 * Collective, blocks. */
storm_status io_write_tallies(const struct io_source *source);

/* io_mesh.c: the mesh, if no file of the series has it. Collective. */
storm_status io_write_mesh(const struct io_source *source,
                           struct io_series *series);

/* The name of its file: mesh.h5 for step 0. */
enum { IO_MESH_NAME = 40 };
void io_mesh_name(uint64_t step, char name_out[IO_MESH_NAME]);

/* io_partition.c: partition.csv. Collective. */
storm_status io_write_partition(const struct io_source *source);

/* io_xdmf.c: adds the current dump to the series, and writes fields.xdmf, and
 * fields.hdf.series for ParaView if there are such files. Both on rank 0. From
 * the second replica on the file lists all dumps already: it is written at the
 * end of the replica, by the caller of io_write_fields. */
void io_add_xdmf(const struct io_source *source, struct io_series *series);
storm_status io_write_xdmf(const struct io_source *source,
                           const struct io_series *series);

#endif /* STORM_IO_FIELDS_H */
