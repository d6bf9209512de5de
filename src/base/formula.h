/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formulas of time and place, as text: 1.008038 * (t / 1e-9)^(1/3).
 *
 *   FORMULA-1  A value is a function of the text and of the variables alone:
 *              plain IEEE operations and the functions of base/math.h.
 *   FORMULA-2  Text that is no formula is refused when it is compiled, with the
 *              column and what was expected; nothing is found wrong later but
 *              values that are no numbers.
 *   FORMULA-3  Any text may be given: depth and length are bounded.
 *
 * Numbers as in decks; pi; the variables; + - * / ^ and parentheses, with ^
 * before a sign (-2^2 is -4) and from the right; exp, log, sqrt, cbrt, abs,
 * cos2pi and sin2pi (of so many turns), step (0 below 0, else 1), and min and
 * max of two.
 */
#ifndef STORM_BASE_FORMULA_H
#define STORM_BASE_FORMULA_H

#include <storm/status.h>

#include "base/memory.h"
#include "base/port.h"

enum { STORM_FORMULA_VARIABLES = 4, STORM_FORMULA_FAULT_BYTES = 160 };

/* Variables in this order. */
enum storm_formula_variable {
    STORM_FORMULA_T,
    STORM_FORMULA_X,
    STORM_FORMULA_Y,
    STORM_FORMULA_Z
};

struct storm_formula;

/* Is it a formula of these variables, such as "t" or "xyz"? STORM_ERR_ARG, and
 * why: "column 5: expected ...". */
STORM_PRIVATE storm_status
storm_formula_check(const char *text, const char *variables,
                    char fault_out[STORM_FORMULA_FAULT_BYTES]);

/* Compiles what has been checked; NULL: no memory. Free with storm_free. */
STORM_PRIVATE struct storm_formula *
storm_formula_make(struct storm_memory *memory, const char *text);

/* The value; variables that the formula does not name may be anything. */
STORM_PRIVATE double
storm_formula_value(const struct storm_formula *formula,
                    const double variables[STORM_FORMULA_VARIABLES]);

#endif /* STORM_BASE_FORMULA_H */
