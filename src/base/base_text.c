/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/text.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool storm_text_to_bool(const char *text, bool *value_out)
{
    static const char *const words[][2] = {
        {"false", "true"}, {"no", "yes"}, {"off", "on"}, {"0", "1"}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        for (int value = 0; value < 2; value++) {
            if (strcmp(text, words[i][value]) == 0) {
                *value_out = value != 0;
                return true;
            }
        }
    }
    return false;
}

static bool text_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* value * 10 + digit, or false if that is too large for an int64_t. */
static bool text_append_digit(uint64_t *value, unsigned digit)
{
    if (*value > ((uint64_t)INT64_MAX - digit) / 10)
        return false;
    *value = *value * 10 + digit;
    return true;
}

bool storm_text_to_int(const char *text, int64_t *value_out)
{
    bool negative = *text == '-';
    if (*text == '-' || *text == '+')
        text++;
    if (!text_is_digit(*text))
        return false;
    uint64_t value = 0;
    for (; text_is_digit(*text); text++) {
        if (!text_append_digit(&value, (unsigned)(*text - '0')))
            return false;
    }
    if (*text == 'e' || *text == 'E') {
        text++;
        text += *text == '+';
        if (!text_is_digit(*text))
            return false;
        unsigned zeros = 0;
        for (; text_is_digit(*text); text++)
            zeros = zeros < 100 ? zeros * 10 + (unsigned)(*text - '0') : zeros;
        for (unsigned i = 0; i < zeros && value != 0; i++) {
            if (!text_append_digit(&value, 0))
                return false;
        }
    }
    if (*text != '\0')
        return false;
    *value_out = negative ? -(int64_t)value : (int64_t)value;
    return true;
}

/* strtod and printf follow the application's locale, which may write 0,5. In
 * the C locale newlocale needs no memory; if it fails, theirs stays. */
static locale_t text_enter_c_locale(locale_t *c_out)
{
    *c_out = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return *c_out != (locale_t)0 ? uselocale(*c_out) : (locale_t)0;
}

static void text_leave_c_locale(locale_t before, locale_t c)
{
    if (c == (locale_t)0)
        return;
    uselocale(before);
    freelocale(c);
}

static double text_strtod(const char *text, char **end_out)
{
    locale_t c;
    locale_t before = text_enter_c_locale(&c);
    double value = strtod(text, end_out);
    text_leave_c_locale(before, c);
    return value;
}

bool storm_text_to_real(const char *text, double *value_out)
{
    if (text[strspn(text, "+-.0123456789eE")] != '\0')
        return false;
    char *end;
    double value = text_strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value))
        return false;
    *value_out = value;
    return true;
}

void storm_text_from_real(double value, char text_out[STORM_TEXT_REAL_BYTES])
{
    locale_t c;
    if (value != value) { /* whatever its sign */
        memcpy(text_out, "nan", sizeof "nan");
        return;
    }
    locale_t before = text_enter_c_locale(&c);
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text_out, STORM_TEXT_REAL_BYTES, "%.*g", digits, value);
        if (strtod(text_out, NULL) == value)
            break;
    }
    text_leave_c_locale(before, c);
}

enum { TEXT_MAX_CHARACTERS = 63 };

/* Three rows of the table of Damerau and Levenshtein, "optimal alignment". */
size_t storm_text_distance(const char *a, const char *b, size_t enough)
{
    size_t n = strlen(a), m = strlen(b);
    if (n > TEXT_MAX_CHARACTERS || m > TEXT_MAX_CHARACTERS)
        return enough;
    size_t rows[3][TEXT_MAX_CHARACTERS + 1];
    size_t *last = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *free_row = last;
        last = above;
        above = row;
        row = free_row;
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = above[j - 1] + (a[i - 1] != b[j - 1]);
            best = best < above[j] + 1 ? best : above[j] + 1;
            best = best < row[j - 1] + 1 ? best : row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = best < last[j - 2] + 1 ? best : last[j - 2] + 1;
            row[j] = best;
        }
    }
    return row[m] < enough ? row[m] : enough;
}
