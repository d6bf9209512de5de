/* SPDX-License-Identifier: BSD-3-Clause */
/* What a table may hold. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/sized.h"
#include "physics/matter_table.h"

static const double table_max = 1e300;

/* Edges that differ by less, relative, are the same. */
static const double table_same = 1e-9;

/* The table that is checked; the first fault ends it. */
struct table_check {
    const struct storm_table_params *p;
    bool failed;
    char *problem;
    size_t bytes;
};

static void table_fault(struct table_check *c, const char *format, ...)
    STORM_PRINTF(2, 3);
static void table_fault(struct table_check *c, const char *format, ...)
{
    char message[TABLE_PROBLEM_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    c->failed = true;
    snprintf(c->problem, c->bytes, "%s: %s",
             c->p->name != NULL ? c->p->name : "table", message);
}

/* An axis: above 0 and rising. */
static void table_axis(struct table_check *c, const char *name,
                       const double *axis, size_t n, size_t min)
{
    if (c->failed)
        return;
    if (n < min || axis == NULL) {
        table_fault(c, "%s: expected %zu or more numbers, got %zu", name, min,
                    axis == NULL ? 0 : n);
        return;
    }
    for (size_t i = 0; i < n && !c->failed; i++) {
        if (!(axis[i] > 0.0 && axis[i] <= table_max))
            table_fault(c,
                        "%s[%zu]: expected a number above 0 up to %g, got %g",
                        name, i, table_max, axis[i]);
        else if (i > 0 && !(axis[i] > axis[i - 1]))
            table_fault(c,
                        "%s[%zu]: expected rising numbers, got %.12g after "
                        "%.12g",
                        name, i, axis[i], axis[i - 1]);
    }
}

static void table_opacity(struct table_check *c, const char *name,
                          const double *values)
{
    const struct storm_table_params *p = c->p;
    size_t per_point = p->n_groups > 0 ? p->n_groups : 1;
    size_t n = p->n_temperatures * p->n_densities * per_point;
    for (size_t i = 0; values != NULL && i < n && !c->failed; i++) {
        size_t point = i / per_point;
        if (!(values[i] >= 0.0 && values[i] <= table_max))
            table_fault(c,
                        "%s[%zu][%zu][%zu] (%g keV, %g g/cm3): expected a "
                        "number from 0 to %g, got %g",
                        name, point / p->n_densities, point % p->n_densities,
                        i % per_point,
                        p->temperature_kev[point / p->n_densities],
                        p->density_g_cm3[point % p->n_densities], table_max,
                        values[i]);
    }
}

static void table_energy(struct table_check *c)
{
    const struct storm_table_params *p = c->p;
    size_t n = p->n_temperatures * p->n_densities;
    for (size_t i = 0; p->energy != NULL && i < n && !c->failed; i++) {
        size_t t = i / p->n_densities, r = i % p->n_densities;
        double before = t > 0 ? p->energy[i - p->n_densities] : 0.0;
        if (!(p->energy[i] > 0.0 && p->energy[i] <= table_max))
            table_fault(c,
                        "energy[%zu][%zu] (%g keV, %g g/cm3): expected a "
                        "number above 0 up to %g, got %g",
                        t, r, p->temperature_kev[t], p->density_g_cm3[r],
                        table_max, p->energy[i]);
        /* What cannot be told apart in a logarithm does not rise. */
        else if (!(p->energy[i] > before * (1.0 + 1e-12)))
            table_fault(c,
                        "energy[%zu][%zu]: expected energies that rise with "
                        "temperature, got %.12g at %g keV after %.12g at %g "
                        "keV (%g g/cm3)",
                        t, r, p->energy[i], p->temperature_kev[t], before,
                        p->temperature_kev[t - 1], p->density_g_cm3[r]);
    }
}

/* The groups of a problem. */
static void table_groups(struct table_check *c, uint64_t n_groups,
                         const double *edge_kev)
{
    const struct storm_table_params *p = c->p;
    if (c->failed || n_groups == 0 || p->n_groups == 0)
        return;
    if (p->n_groups != n_groups) {
        table_fault(c,
                    "has %zu groups, the problem has %llu: give the problem "
                    "the groups of the table",
                    p->n_groups, (unsigned long long)n_groups);
        return;
    }
    for (size_t g = 0; n_groups > 1 && g <= p->n_groups && !c->failed; g++)
        if (!(fabs(p->group_edge_kev[g] - edge_kev[g]) <=
              table_same * edge_kev[g]))
            table_fault(c,
                        "group edge %zu is at %.12g keV, the problem has it "
                        "at %.12g: give the problem the groups of the table",
                        g, p->group_edge_kev[g], edge_kev[g]);
}

storm_status storm_table_check(const struct storm_table_params *params,
                               uint64_t n_groups, const double *edge_kev,
                               char *problem, size_t problem_size)
{
    struct storm_table_params own;
    struct table_check c = {&own, false, problem, problem_size};
    storm_status status =
        storm_sized_read(NULL, "storm_table", params, &own, sizeof own);
    if (problem_size > 0)
        problem[0] = '\0';
    if (status < 0) {
        snprintf(problem, problem_size,
                 "table: expected a size as STORM_TABLE_PARAMS_INIT sets it, "
                 "and no members that this library lacks");
        return status;
    }
    table_axis(&c, "temperature", own.temperature_kev, own.n_temperatures, 2);
    table_axis(&c, "density", own.density_g_cm3, own.n_densities, 1);
    if (own.n_groups > 0)
        table_axis(&c, "group_edges", own.group_edge_kev, own.n_groups + 1, 2);
    if ((int)own.beyond < STORM_TABLE_ERROR ||
        (int)own.beyond > STORM_TABLE_EDGE)
        table_fault(&c, "beyond: expected a choice, got %d", (int)own.beyond);
    table_opacity(&c, "absorption", own.absorption);
    table_opacity(&c, "scattering", own.scattering);
    table_energy(&c);
    table_groups(&c, n_groups, edge_kev);
    return c.failed ? STORM_ERR_ARG : STORM_OK;
}
