/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers as text, the same in every locale, and read strictly.
 *
 *   TEXT-1  Readers take the whole text or nothing: no blanks, no trailing
 *           junk, no hexadecimal, no "inf", no "nan". On false nothing is
 *           written.
 *   TEXT-2  storm_text_from_real writes the shortest of 15 to 17 digits that
 *           reads back to the same bits, or `nan`.
 */
#ifndef STORM_BASE_TEXT_H
#define STORM_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/port.h"

enum { STORM_TEXT_REAL_BYTES = 32 };

/* true, false, yes, no, on, off, 1, 0 */
STORM_PRIVATE bool storm_text_to_bool(const char *text, bool *value_out);

/* -12, 1000000 or 1e6: digits, and zeros after an `e`. */
STORM_PRIVATE bool storm_text_to_int(const char *text, int64_t *value_out);

/* 1, -1.5, .5, 1e-3; beyond the range of double: false. */
STORM_PRIVATE bool storm_text_to_real(const char *text, double *value_out);

STORM_PRIVATE void storm_text_from_real(double value,
                                        char text_out[STORM_TEXT_REAL_BYTES]);

/* Min number of characters to insert, delete, replace or swap to make b of a;
 * at most `enough`. For "did you mean". */
STORM_PRIVATE size_t storm_text_distance(const char *a, const char *b,
                                         size_t enough);

#endif /* STORM_BASE_TEXT_H */
