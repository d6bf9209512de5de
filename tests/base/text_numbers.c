/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* TEXT-1, TEXT-2: numbers become text and come back, in any locale. */
#include <locale.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "support/check.h"

static const uint64_t seed = 3;

static void round_trip(double value)
{
    char text[STORM_TEXT_REAL_BYTES];
    storm_text_from_real(value, text);
    double back = 42.0;
    CHECK(storm_text_to_real(text, &back));
    CHECK(memcmp(&back, &value, sizeof value) == 0);
}

static void test_round_trip(void)
{
    const double corners[] = {0.0,
                              -0.0,
                              1.0,
                              -1.0,
                              0.1,
                              1.0 / 3.0,
                              0x1p-1074,
                              0x1p-1022,
                              1e22,
                              1e23,
                              0x1.fffffffffffffp1023,
                              123456.0,
                              1e15,
                              9007199254740993.0};
    for (size_t i = 0; i < sizeof corners / sizeof corners[0]; i++)
        round_trip(corners[i]);
    for (uint64_t i = 0; i < 50000; i++) {
        uint64_t bits = storm_hash_word(seed + i);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value))
            round_trip(value);
    }
}

static void test_short(void)
{
    const struct {
        double value;
        const char *text;
    } forms[] = {{0.1, "0.1"},
                 {2.0, "2"},
                 {1e-9, "1e-09"},
                 {-0.0, "-0"},
                 {0.3, "0.3"},
                 {1e300, "1e+300"},
                 {2.0 / 3.0, "0.6666666666666666"}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        char text[STORM_TEXT_REAL_BYTES];
        storm_text_from_real(forms[i].value, text);
        CHECK_TEXT(text, forms[i].text);
    }
}

static void test_refused(void)
{
    const char *const texts[] = {"",    "-",   ".",  "1.2.3", "1e",  "0x1",
                                 "inf", "nan", "1 ", " 1",    "1,5", "1e309"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        double value = 42.0;
        CHECK(!storm_text_to_real(texts[i], &value));
        CHECK(value == 42.0);
    }
    int64_t integer = 42;
    CHECK(!storm_text_to_int("9223372036854775808", &integer));
    CHECK(integer == 42);
    CHECK(storm_text_to_int("-9223372036854775807", &integer));
    CHECK(integer == -INT64_MAX);
    bool value = true;
    CHECK(!storm_text_to_bool("TRUE", &value));
    CHECK(value);
}

static void test_comma_locale(void)
{
    const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8",
                                 "de_DE", "pt_BR.UTF-8"};
    const char *found = NULL;
    for (size_t i = 0; i < 5 && found == NULL; i++)
        found = setlocale(LC_ALL, names[i]);
    if (found == NULL) {
        printf("no locale with a decimal comma here\n");
        return;
    }
    char text[32];
    snprintf(text, sizeof text, "%g", 0.5);
    CHECK_TEXT(text, "0,5");
    storm_text_from_real(0.5, text);
    CHECK_TEXT(text, "0.5");
    round_trip(0.1);
    snprintf(text, sizeof text, "%g", 0.5);
    CHECK_TEXT(text, "0,5"); /* left as it was */
    setlocale(LC_ALL, "C");
}

static void test_distance(void)
{
    CHECK_EQ(storm_text_distance("batch", "batch", 9), 0);
    CHECK_EQ(storm_text_distance("bacth", "batch", 9), 1);
    CHECK_EQ(storm_text_distance("bach", "batch", 9), 1);
    CHECK_EQ(storm_text_distance("baatch", "batch", 9), 1);
    CHECK_EQ(storm_text_distance("", "batch", 9), 5);
    CHECK_EQ(storm_text_distance("batch", "", 9), 5);
    CHECK_EQ(storm_text_distance("kitten", "sitting", 9), 3);
    CHECK_EQ(storm_text_distance("kitten", "sitting", 2), 2);
    char lengthy[1000];
    memset(lengthy, 'a', sizeof lengthy);
    lengthy[999] = '\0';
    CHECK_EQ(storm_text_distance(lengthy, "a", 7), 7);
}

int main(void)
{
    printf("seed %llu\n", (unsigned long long)seed);
    test_round_trip();
    test_short();
    test_refused();
    test_comma_locale();
    test_distance();
    return 0;
}
