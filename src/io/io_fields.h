/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the parts of a dump. */
#ifndef STORM_IO_FIELDS_H
#define STORM_IO_FIELDS_H

#include <storm/status.h>

struct run;

/* The fields of a dump, one value for each cell. */
enum { OUTPUT_N_FIELDS = 4 };
extern const char *const output_field_names[OUTPUT_N_FIELDS];

/* output_mesh.c: mesh.h5; sets run->n_points and n_words. Collective. */
storm_status output_mesh(struct run *run);

/* partition.csv, on rank 0. */
storm_status output_partition(const struct run *run);

/* output_xdmf.c: fields.xdmf with the present dump as its last, on rank 0. */
storm_status output_xdmf(struct run *run);

#endif /* STORM_IO_FIELDS_H */
