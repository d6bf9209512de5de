/* SPDX-License-Identifier: BSD-3-Clause */
/* The power laws of a material as functions of a host: same bits. */
#ifndef STORM_TESTS_LAW_MATTER_H
#define STORM_TESTS_LAW_MATTER_H

#include <storm/matter.h>
#include <storm/problem.h>

/* What a host may answer wrongly. */
enum law_fault {
    LAW_RIGHT,
    LAW_ABSORPTION,
    LAW_SCATTERING,
    LAW_ENERGY,
    LAW_CAPACITY,
    LAW_TEMPERATURE,
    LAW_STATUS,
    LAW_FAULTS
};

struct law_matter {
    const struct storm_material *laws;
    enum law_fault fault;
    storm_cell_id at; /* only in this cell */
    double wrong;     /* the answer there */
    size_t n_calls, max_cells;
};

/* `*self` must outlive what is returned. */
struct storm_matter law_matter_make(struct law_matter *self,
                                    const struct storm_material *laws);

#endif /* STORM_TESTS_LAW_MATTER_H */
