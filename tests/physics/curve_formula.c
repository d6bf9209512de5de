/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/*
 * CURVE-1: tables of formulas follow them, at random times, smooth ones to
 * 1e-5 of the largest value and jumps but for 2^-30 of the window. CURVE-2:
 * integrals against those known. Values that are none, and formulas that change
 * too often, are errors that name the time.
 */
#include "physics/curve.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "support/check.h"

static const uint64_t seed = 7;

static char logged[1024];

static void collect(void *self, storm_log_level level, int rank,
                    const char *message)
{
    (void)self;
    (void)level;
    (void)rank;
    snprintf(logged, sizeof logged, "%s", message);
}

static struct storm_env env = {
    .size = 1, .log = {.sink = collect, .level = STORM_LOG_ERROR}};
static const struct storm_curve none = {NULL, 0};
static const struct curve_limits limits = {"T", 1e30};

static storm_status begin(const char *formula, struct curve_window window,
                          struct curve *curve)
{
    CHECK_OK(curve_open(&env, &none, formula, curve));
    return curve_begin(&env, curve, window, &limits);
}

/* The largest error at random times. */
static double error_of(const struct curve *curve, struct curve_window window)
{
    double worst = 0.0;
    uint64_t state = seed;
    for (int i = 0; i < 20000; i++) {
        state = storm_hash_fold(state, 1);
        double u = (double)(state >> 11) * 0x1p-53;
        const double at[STORM_FORMULA_VARIABLES] = {
            window.from + u * (window.to - window.from)};
        double right = storm_formula_value(curve->formula, at);
        worst = fmax(worst, fabs(curve_at(&curve->table, at[0]) - right));
    }
    return worst;
}

static void check_follows(const char *formula, struct curve_window window,
                          double integral, double integral_4)
{
    struct curve curve;
    double max;
    CHECK_OK(begin(formula, window, &curve));
    double error = error_of(&curve, window);
    double one = curve_integral(&curve.table, window, 1, &max);
    double four = curve_integral(&curve.table, window, 4, &max);
    printf("%s: %zu points, off by %.1e of %.3g; integrals off by %.1e, %.1e\n",
           formula, curve.table.n, error, max, one / integral - 1.0,
           four / integral_4 - 1.0);
    CHECK(error <= 2e-5 * max);
    CHECK(fabs(one / integral - 1.0) < 1e-5);
    CHECK(fabs(four / integral_4 - 1.0) < 4e-5);
    curve_close(&env, &curve);
}

static void check_fails(const char *formula, struct curve_window window,
                        const char *why)
{
    struct curve curve;
    logged[0] = '\0';
    CHECK(begin(formula, window, &curve) == STORM_ERR_ARG);
    if (strstr(logged, why) == NULL)
        printf("%s: %s\n", formula, logged);
    CHECK(strstr(logged, why) != NULL);
    curve_close(&env, &curve);
}

int main(void)
{
    struct curve_window unit = {0.0, 1.0}, late = {1e-9, 1.01e-9};
    printf("seed %llu\n", (unsigned long long)seed);
    CHECK_OK(storm_memory_create(&env.memory));
    check_follows("2", unit, 2.0, 16.0);
    check_follows("t", unit, 0.5, 0.2);
    check_follows("t^(1/3)", unit, 0.75, 3.0 / 7.0);
    check_follows("t^(86/57)", unit, 57.0 / 143.0, 57.0 / 401.0);
    check_follows("1 + step(t - 0.3)", unit, 1.7, 0.3 + 16.0 * 0.7);
    check_follows("1 + sin2pi(3 * t)", unit, 1.0, 35.0 / 8.0);
    check_follows("1e9 * t", late, 1.005e-11,
                  1e-9 * (pow(1.01, 5.0) - 1.0) / 5.0);
    check_fails("0.5 - t", unit, "got -0.03125 at time 0.53125 s");
    check_fails("1 / (t - 0.5)", unit, "expected its formula to give a number");
    check_fails("sqrt(t - 0.5)", unit, "at time 0 s");
    check_fails("1e31", unit, "from 0 to 1e+30, got 1e+31");
    check_fails("1 + sin2pi(12345.6 * t)", unit, "changes too often");
    CHECK_EQ(storm_memory_destroy(env.memory), 0);
    return CHECK_PASS;
}
