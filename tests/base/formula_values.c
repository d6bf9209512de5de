/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/*
 * FORMULA-1: values, by hand. FORMULA-2: faults with their columns.
 * FORMULA-3: random text and deep nesting neither crash nor compile to nothing.
 */
#include "base/formula.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "support/check.h"

static const uint64_t seed = 5;

static struct storm_memory *memory;

static double value_of(const char *text)
{
    const double at[STORM_FORMULA_VARIABLES] = {3e-9, 2.0, -0.5, 7.0};
    char fault[STORM_FORMULA_FAULT_BYTES];
    CHECK_OK(storm_formula_check(text, "txyz", fault));
    struct storm_formula *formula = storm_formula_make(memory, text);
    CHECK(formula != NULL);
    double value = storm_formula_value(formula, at);
    storm_free(memory, formula);
    return value;
}

static const struct {
    const char *text;
    double value;
} values[] = {
    {"1", 1.0},
    {" 1.5e3 ", 1500.0},
    {"1 + 2 * 3", 7.0},
    {"(1 + 2) * 3", 9.0},
    {"8 / 4 / 2", 1.0},
    {"8 - 4 - 2", 2.0},
    {"2^3^2", 512.0},
    {"-2^2", -4.0},
    {"2^-1", 0.5},
    {"--3", 3.0},
    {"+x * -y", 1.0},
    {"x^2 + z", 11.0},
    {"t / 1e-9", 3.0},
    {"min(x, z) + max(y, 0)", 2.0},
    {"abs(y) * sqrt(4)", 1.0},
    {"exp(0) + log(1) + cbrt(27)", 4.0},
    {"sin2pi(0.25) + cos2pi(1)", 2.0},
    {"sin2pi(-0.75)", 1.0},
    {"step(y) + 10 * step(x) + 100 * step(0)", 110.0},
    {"0*pi + 1e0", 1.0},
};

static const struct {
    const char *text, *variables, *fault;
} faults[] = {
    {"", "t", "column 1: expected a value, got the end"},
    {"1 +", "t", "column 4: expected a value, got the end"},
    {"1 + )", "t", "column 5: expected a value, got ')'"},
    {"(1", "t", "column 3: expected ')', got the end"},
    {"1 2", "t", "column 3: expected an operator or the end, got '2'"},
    {"2e", "t", "column 2: expected an operator or the end, got 'e'"},
    {"x", "t", "column 1: expected a number, a function or a variable of 't'"},
    {"exp", "t", "column 4: expected '(', got the end"},
    {"min(t)", "t", "column 6: expected ',', got ')'"},
    {"exp(t, t)", "t", "column 6: expected ')', got ','"},
    {"1.2.3", "t", "column 1: expected a number, got '1.2.3'"},
    {"1e999", "t", "column 1: expected a number, got '1e999'"},
    {"tt", "t", "column 1: expected a number, a function"},
    {"nan", "t", "column 1: expected a number, a function"},
    {"t # 1", "t", "column 3: expected an operator or the end, got '#'"},
};

static void check_depth(void)
{
    char text[1024], fault[STORM_FORMULA_FAULT_BYTES];
    const char *const opening[] = {"(", "-", "1^", "exp(", "1+(", "x*(2-("};
    for (size_t i = 0; i < sizeof opening / sizeof opening[0]; i++) {
        text[0] = '\0';
        while (strlen(text) + 8 < sizeof text)
            strcat(text, opening[i]);
        CHECK(storm_formula_check(text, "x", fault) == STORM_ERR_ARG);
        CHECK(strstr(fault, "expected at most 64") != NULL);
    }
    memset(text, ' ', sizeof text);
    memset(text, '(', 60);
    text[60] = 'x';
    memset(text + 61, ')', 60);
    text[121] = '\0';
    CHECK(value_of(text) == 2.0);
}

static void check_random(void)
{
    static const char letters[] = "txyz0123.e+-*/^()(),expminlog ";
    uint64_t state = seed;
    size_t n_good = 0;
    for (int i = 0; i < 200000; i++) {
        char text[12], fault[STORM_FORMULA_FAULT_BYTES] = "";
        size_t n = (size_t)(i % 11);
        for (size_t k = 0; k < n; k++) {
            state = storm_hash_fold(state, k);
            text[k] = letters[state % (sizeof letters - 1)];
        }
        text[n] = '\0';
        if (storm_formula_check(text, "txyz", fault) == STORM_OK) {
            n_good++;
            (void)value_of(text);
        } else {
            CHECK(strncmp(fault, "column ", 7) == 0);
        }
    }
    CHECK(n_good > 1000);
}

int main(void)
{
    printf("seed %llu\n", (unsigned long long)seed);
    CHECK_OK(storm_memory_create(&memory));
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        double value = value_of(values[i].text);
        if (!(value == values[i].value))
            printf("%s: %g\n", values[i].text, value);
        CHECK(value == values[i].value);
    }
    CHECK(isnan(value_of("sqrt(y)")));
    CHECK(isnan(value_of("min(1, sqrt(y))")));
    CHECK(isnan(value_of("max(sqrt(y), 1)")));
    CHECK(isnan(value_of("step(sqrt(y))")));
    CHECK(isinf(value_of("1/0")));
    CHECK(fabs(value_of("1.008038 * (t / 1e-9)^(1/3)") -
               1.008038 * 1.4422495703074083) < 1e-15);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        char fault[STORM_FORMULA_FAULT_BYTES];
        CHECK(storm_formula_check(faults[i].text, faults[i].variables, fault) ==
              STORM_ERR_ARG);
        if (strncmp(fault, faults[i].fault, strlen(faults[i].fault)) != 0)
            printf("%s: %s\n", faults[i].text, fault);
        CHECK(strncmp(fault, faults[i].fault, strlen(faults[i].fault)) == 0);
    }
    check_depth();
    check_random();
    CHECK_EQ(storm_memory_destroy(memory), 0);
    return CHECK_PASS;
}
