/* SPDX-License-Identifier: BSD-3-Clause */
/* Student's t distribution, in operations that round the same everywhere. */
#ifndef STORM_BASE_STUDENT_H
#define STORM_BASE_STUDENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/port.h"

/* A variable with n degrees of freedom lies within -t .. t with this
 * probability: Abramowitz and Stegun 26.7.3 and 26.7.4. n at least 1. Takes n
 * operations. */
double storm_student_within(double t, uint64_t n);

/* The t of a probability, 0 < within < 1: the interval mean +- t error from
 * n + 1 values holds the true mean with it. Off by less than 1e-9 of t. */
STORM_PRIVATE double storm_student_t(double within, uint64_t n);

#endif /* STORM_BASE_STUDENT_H */
