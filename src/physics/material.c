/* SPDX-License-Identifier: BSD-3-Clause */
#include "physics/material.h"

#include <math.h>

#include "base/math.h"

double storm_material_power(double base, double exponent)
{
    enum { MOST_PRODUCTS = 16 };
    double magnitude = fabs(exponent);
    if (magnitude > MOST_PRODUCTS || magnitude != floor(magnitude))
        return storm_pow(base, exponent);
    double product = 1.0;
    for (int i = 0; i < (int)magnitude; i++)
        product *= base;
    return exponent < 0.0 ? 1.0 / product : product;
}

/* MATERIAL-3 */
static double law_coef(const struct storm_power_law *law, double density)
{
    return law->coef > 0.0 && law->rho_exp != 0.0
               ? law->coef * storm_material_power(density, law->rho_exp)
               : law->coef;
}

double storm_power_law_value(const struct storm_power_law *law,
                             double temperature_kev, double density_g_cm3,
                             double energy_kev)
{
    double value = law_coef(law, density_g_cm3);
    if (law->coef > 0.0 && law->t_exp != 0.0)
        value *= storm_material_power(temperature_kev, law->t_exp);
    if (law->coef > 0.0 && law->e_exp != 0.0)
        value *= storm_material_power(energy_kev, law->e_exp);
    /* 0 times infinity: both limits at once; the cap is taken. */
    if (!(value <= law->max))
        value = law->max;
    return value < law->min ? law->min : value;
}

/* Where coef * T^exponent is `value`. */
static double heat_where(const struct storm_heat *heat, double value)
{
    return storm_pow(value / heat->coef, 1.0 / heat->exponent);
}

/* Integral of the power from 0 to T. */
static double heat_integral(const struct storm_heat *heat, double t)
{
    double n = heat->exponent + 1.0;
    return heat->coef / n * storm_material_power(t, n);
}

struct storm_heat storm_heat_make(const struct storm_power_law *law,
                                  double density_g_cm3)
{
    struct storm_heat heat = {.coef = law_coef(law, density_g_cm3),
                              .exponent = law->t_exp};
    if (law->coef == 0.0 || law->t_exp == 0.0) {
        double value = storm_power_law_value(law, 1.0, density_g_cm3, 1.0);
        heat.low = heat.high = value;
        heat.t[0] = heat.t[1] = INFINITY;
        heat.u[0] = heat.u[1] = INFINITY;
        heat.held = value == 0.0;
        return heat;
    }
    bool rises = law->t_exp > 0.0;
    heat.low = rises ? law->min : law->max;
    heat.high = rises ? law->max : law->min;
    heat.t[0] = heat_where(&heat, heat.low);
    heat.t[1] = heat_where(&heat, heat.high);
    heat.u[0] = heat.t[0] > 0.0 ? heat.low * heat.t[0] : 0.0;
    heat.u[1] = heat.u[0] + (heat_integral(&heat, heat.t[1]) -
                             heat_integral(&heat, heat.t[0]));
    heat.held = law->max == 0.0;
    return heat;
}

double storm_heat_capacity(const struct storm_heat *heat,
                           double temperature_kev)
{
    if (temperature_kev < heat->t[0])
        return heat->low;
    if (temperature_kev > heat->t[1])
        return heat->high;
    return heat->coef * storm_material_power(temperature_kev, heat->exponent);
}

double storm_heat_energy(const struct storm_heat *heat, double temperature_kev)
{
    double t = temperature_kev;
    if (heat->held)
        return 0.0;
    if (t < heat->t[0])
        return heat->low * t;
    if (t > heat->t[1])
        return heat->u[1] + heat->high * (t - heat->t[1]);
    return heat->u[0] +
           (heat_integral(heat, t) - heat_integral(heat, heat->t[0]));
}

double storm_heat_temperature(const struct storm_heat *heat, double energy)
{
    if (!(energy > 0.0))
        return 0.0;
    if (energy < heat->u[0])
        return energy / heat->low;
    if (energy > heat->u[1])
        return heat->t[1] + (energy - heat->u[1]) / heat->high;
    double n = heat->exponent + 1.0;
    double power = (energy - heat->u[0]) * (n / heat->coef) +
                   storm_material_power(heat->t[0], n);
    if (n == 1.0)
        return power;
    if (n == 2.0)
        return sqrt(power);
    if (n == 4.0)
        return sqrt(sqrt(power));
    return storm_pow(power, 1.0 / n);
}

/* ---- for hosts ---------------------------------------------------------- */

double storm_power_law_capacity(const struct storm_power_law *law,
                                double temperature_kev, double density_g_cm3)
{
    struct storm_heat heat = storm_heat_make(law, density_g_cm3);
    return storm_heat_capacity(&heat, temperature_kev);
}

double storm_power_law_energy(const struct storm_power_law *law,
                              double temperature_kev, double density_g_cm3)
{
    struct storm_heat heat = storm_heat_make(law, density_g_cm3);
    return storm_heat_energy(&heat, temperature_kev);
}

double storm_power_law_temperature(const struct storm_power_law *law,
                                   double energy_erg_cm3, double density_g_cm3)
{
    struct storm_heat heat = storm_heat_make(law, density_g_cm3);
    return storm_heat_temperature(&heat, energy_erg_cm3);
}
