/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of matter: what is inside. Rules are in storm/table.h. */
#ifndef STORM_PHYSICS_MATTER_TABLE_H
#define STORM_PHYSICS_MATTER_TABLE_H

#include <stdbool.h>

#include <storm/table.h>

#include "base/env.h"

enum { TABLE_PROBLEM_BYTES = 384 };

struct storm_table {
    const struct storm_env *env;
    struct storm_table_params p; /* its arrays are copies, for the ranges */
    size_t n_values;             /* of opacity at a point: groups, or 1 */
    double *log_t, *log_rho;
    double *opacity[2]; /* logs of absorption and scattering; NULL: 0 */
    double *energy;     /* logs, (density, temperature); NULL: held */
    double *slope;      /* d log energy / d log T, the same */
    char problem[TABLE_PROBLEM_BYTES]; /* of the last call */
};

#endif /* STORM_PHYSICS_MATTER_TABLE_H */
