/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* Values are read strictly; a bad one changes nothing and is explained. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <storm/options.h>

#include "support/check.h"

static struct storm_options *options;

/* Each test starts with the defaults. */
static void with_defaults(void (*test)(void))
{
    CHECK_OK(storm_options_create(&options));
    test();
    storm_options_destroy(options);
}

static void good(const char *name, const char *value)
{
    char problem[200] = "untouched";
    storm_status status =
        storm_options_set(options, name, value, problem, sizeof problem);
    CHECK_TEXT(problem, "untouched");
    CHECK_OK(status);
}

static void bad(const char *name, const char *value, const char *expected)
{
    char problem[200] = "";
    CHECK(storm_options_set(options, name, value, problem, sizeof problem) ==
          STORM_ERR_ARG);
    CHECK_TEXT(problem, expected);
}

static void test_integers(void)
{
    const struct {
        const char *text;
        int64_t value;
    } takes[] = {{"1", 1},         {"+7", 7},        {"007", 7},
                 {"1e6", 1000000}, {"25E+3", 25000}, {"1000000", 1000000},
                 {"5e0", 5}};
    for (size_t i = 0; i < sizeof takes / sizeof takes[0]; i++) {
        good("transport.batch", takes[i].text);
        CHECK(storm_options_int(options, "transport.batch") == takes[i].value);
    }
    CHECK_TEXT(storm_options_text(options, "transport.batch"), "5");
    good("seed", "1e18");
    CHECK(storm_options_int(options, "seed") == 1000000000000000000);
    CHECK_TEXT(storm_options_text(options, "seed"), "1000000000000000000");
    good("seed", "0e99999999999999999999");
    CHECK(storm_options_int(options, "seed") == 0);

    const char *const refuses[] = {"",
                                   "x",
                                   " 1",
                                   "1 ",
                                   "1x",
                                   "1.0",
                                   "1e",
                                   "1e-1",
                                   "e6",
                                   "0x10",
                                   "-",
                                   "+-1",
                                   "--1",
                                   "1e6 ",
                                   "1,000",
                                   "0",
                                   "-1",
                                   "1000001",
                                   "1e7",
                                   "1e400",
                                   "99999999999999999999",
                                   "9223372036854775808",
                                   "18446744073709551617",
                                   "nan",
                                   "1_000"};
    good("transport.batch", "64");
    for (size_t i = 0; i < sizeof refuses / sizeof refuses[0]; i++) {
        char expected[200];
        snprintf(expected, sizeof expected,
                 "transport.batch: expected an integer from 1 to 1000000, "
                 "got '%s'",
                 refuses[i]);
        bad("transport.batch", refuses[i], expected);
        CHECK(storm_options_int(options, "transport.batch") == 64);
    }
}

static void test_reals(void)
{
    const struct {
        const char *text;
        double value;
    } takes[] = {{"1.5", 1.5},    {"2", 2.0},   {"+3.", 3.0},
                 {"6.4e1", 64.0}, {"1.1", 1.1}, {"0.2E1", 2.0}};
    for (size_t i = 0; i < sizeof takes / sizeof takes[0]; i++) {
        good("--growth-factor", takes[i].text);
        CHECK(storm_options_real(options, "transport.growth_factor") ==
              takes[i].value);
    }
    const char *const refuses[] = {
        "",     "x",  "1.5x", " 2", "2 ", "nan", "inf",   "0x1p1", "1,5",
        "1.09", "65", "-2",   ".",  "e1", "1e",  "1e999", "2..0"};
    for (size_t i = 0; i < sizeof refuses / sizeof refuses[0]; i++) {
        char expected[200];
        snprintf(expected, sizeof expected,
                 "transport.growth_factor: expected a number from 1.1 to 64, "
                 "got '%s'",
                 refuses[i]);
        bad("transport.growth_factor", refuses[i], expected);
        CHECK(storm_options_real(options, "transport.growth_factor") == 2.0);
    }
}

static void test_bools(void)
{
    const char *const takes[] = {"false", "true", "no", "yes",
                                 "off",   "on",   "0",  "1"};
    for (size_t i = 0; i < 8; i++) {
        good("STORM_SHM", takes[i]);
        CHECK(storm_options_bool(options, "transport.shm") == (i % 2 == 1));
        CHECK_TEXT(storm_options_text(options, "transport.shm"),
                   i % 2 == 1 ? "true" : "false");
    }
    bad("transport.shm", "maybe",
        "transport.shm: expected true or false, got 'maybe'");
    bad("transport.shm", NULL,
        "transport.shm: expected true or false, got nothing");
    CHECK(storm_options_bool(options, "transport.shm"));
}

static void test_words(void)
{
    good("transport.backend", "p2p");
    bad("transport.backend", "ib",
        "transport.backend: expected one of auto, shm, ibv, ofi, mpirma, p2p, "
        "got 'ib'");
    bad("--connect", "shm|ofi",
        "--connect (transport.connect): expected one of lazy, neighbours, got "
        "'shm|ofi'");
    bad("--connect", "",
        "--connect (transport.connect): expected one of lazy, neighbours, got "
        "''");
    CHECK_TEXT(storm_options_text(options, "transport.backend"), "p2p");
}

static void test_unknown_names(void)
{
    bad("transport.bacth", "1",
        "there is no option 'transport.bacth'; did you mean "
        "'transport.batch'?");
    bad("--ring-slot", "1",
        "there is no option '--ring-slot'; did you mean '--ring-slots'?");
    bad("batch", "1",
        "there is no option 'batch'; did you mean 'transport.batch'?");
    bad("STORM_SEDE", "1",
        "there is no option 'STORM_SEDE'; did you mean 'STORM_SEED'?");
    bad("colour", "1", "there is no option 'colour'");
    bad("", "1", "there is no option ''");
}

static void test_short_problem(void)
{
    char problem[12];
    memset(problem, '#', sizeof problem);
    CHECK(storm_options_set(options, "seed", "x", problem, 8) == STORM_ERR_ARG);
    CHECK_TEXT(problem, "seed: e");
    CHECK(problem[8] == '#');
    CHECK(storm_options_set(options, "seed", "x", NULL, 0) == STORM_ERR_ARG);
    CHECK(storm_options_set(options, "seed", "x", problem, 0) == STORM_ERR_ARG);
}

int main(void)
{
    with_defaults(test_integers);
    with_defaults(test_reals);
    with_defaults(test_bools);
    with_defaults(test_words);
    with_defaults(test_unknown_names);
    with_defaults(test_short_problem);
    return 0;
}
