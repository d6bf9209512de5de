/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/*
 * MATERIAL-1: energy is the integral of the heat capacity, floor and cap
 * included, against the trapezoidal rule; temperature is its inverse, to
 * rounding. Laws keep their floors and caps at zero and at infinity.
 */
#include <math.h>
#include <stdio.h>

#include "physics/material.h"
#include "support/check.h"

static void integral(const struct storm_power_law *law)
{
    struct storm_heat heat = storm_heat_make(law, 1.0);
    CHECK(!heat.held);
    double sum = 0.0;
    const double h = 1e-4;
    for (long i = 1; i <= 30000; i++) {
        double t = h * (double)i;
        /* In the middle, where a law of negative power is finite. */
        sum += h * storm_power_law_value(law, t - 0.5 * h, 1.0, 1.0);
        double u = storm_heat_energy(&heat, t);
        /* The rule itself has errors in the first step, and at kinks of the
         * law. */
        CHECK(fabs(u - sum) <=
              1e-5 * u + storm_heat_energy(&heat, h) + 0.1 * h);
        double back = storm_heat_temperature(&heat, u);
        CHECK(fabs(back - t) <= 1e-12 * t);
        CHECK(fabs(storm_heat_capacity(&heat, t) -
                   storm_power_law_value(law, t, 1.0, 1.0)) <=
              1e-12 * storm_power_law_value(law, t, 1.0, 1.0));
    }
    CHECK(storm_heat_energy(&heat, 0.0) == 0.0);
    CHECK(storm_heat_temperature(&heat, 0.0) == 0.0);
}

static void limits(void)
{
    struct storm_power_law law = {
        .coef = 300.0, .t_exp = -3.0, .min = 2.0, .max = 1e12};
    CHECK(storm_power_law_value(&law, 0.0, 1.0, 1.0) == 1e12);
    CHECK(storm_power_law_value(&law, 1.0, 1.0, 1.0) == 300.0);
    CHECK(storm_power_law_value(&law, 2.0, 1.0, 1.0) == 37.5);
    CHECK(storm_power_law_value(&law, 1e9, 1.0, 1.0) == 2.0);
    law.e_exp = 1.0;
    CHECK(storm_power_law_value(&law, 0.0, 1.0, 0.0) == 1e12);
    CHECK(storm_power_law_value(&law, 1.0, 1.0, 0.5) == 150.0);
    struct storm_power_law none = {.max = 1e12, .t_exp = -3.0};
    CHECK(storm_power_law_value(&none, 0.0, 1.0, 1.0) == 0.0);
    CHECK(storm_heat_make(&none, 1.0).held);
    CHECK(storm_material_power(2.0, -3.0) == 0.125);
    CHECK(fabs(storm_material_power(2.0, 0.5) - sqrt(2.0)) < 1e-15);
}

int main(void)
{
    static const double powers[] = {0.0, 1.0, 3.0, 0.5, 2.7, -0.5};
    for (size_t i = 0; i < sizeof powers / sizeof powers[0]; i++) {
        struct storm_power_law law = {
            .coef = 2.0, .t_exp = powers[i], .max = 1e300};
        integral(&law);
        law.min = 0.7;
        integral(&law);
        law.max = 3.0;
        integral(&law);
        law.min = 0.0;
        integral(&law);
    }
    limits();
    return CHECK_PASS;
}
