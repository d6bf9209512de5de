/* SPDX-License-Identifier: BSD-3-Clause */
/* Matter from tables: storm/table.h has the rules. */
#include "physics/matter_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <storm/context.h>

#include "base/hash.h"
#include "base/math.h"
#include "base/sized.h"

static const char table_label[] = "table";

/* So far beyond an edge, in the logarithm, is on it: what a temperature loses
 * on its way to an energy and back. */
static const double table_slack = 1e-11;

/* Slopes of the cubic, of the lesser of the two differences beside a point:
 * within these limits its derivative is above 0 everywhere. */
static const double table_least = 0.1, table_most = 2.5;

/* ---- making ------------------------------------------------------------- */

static void *table_array(struct storm_table *table, size_t n, bool *ok)
{
    double *array =
        storm_alloc(table->env->memory, table_label, (n + 1) * sizeof *array);
    *ok = *ok && array != NULL;
    return array;
}

static const double *table_copy(struct storm_table *table, const double *from,
                                size_t n, bool *ok)
{
    double *to = from != NULL ? table_array(table, n, ok) : NULL;
    if (to != NULL)
        memcpy(to, from, n * sizeof *to);
    return to;
}

/* log 0 is -infinity, which marks a 0. */
static double *table_logs(struct storm_table *table, const double *from,
                          size_t n, bool *ok)
{
    double *to = from != NULL ? table_array(table, n, ok) : NULL;
    for (size_t i = 0; to != NULL && i < n; i++)
        to[i] = from[i] > 0.0 ? storm_log(from[i]) : -INFINITY;
    return to;
}

/* Slope at point i of n, of second order, within the limits of TABLE-2. */
static double table_slope(const double *x, const double *y, size_t n, size_t i)
{
    if (n == 2)
        return (y[1] - y[0]) / (x[1] - x[0]);
    size_t k = i == 0 ? 1 : i == n - 1 ? n - 2 : i;
    double h0 = x[k] - x[k - 1], h1 = x[k + 1] - x[k];
    double d0 = (y[k] - y[k - 1]) / h0, d1 = (y[k + 1] - y[k]) / h1;
    double bent = (d1 - d0) / (h0 + h1); /* half the second derivative */
    double slope = i == k  ? d0 + bent * h0
                   : i < k ? d0 - bent * h0
                           : d1 + bent * h1;
    double lesser = i == k ? fmin(d0, d1) : i < k ? d0 : d1;
    return fmin(fmax(slope, table_least * lesser), table_most * lesser);
}

/* Energies by density, so that those of a density are side by side. */
static void table_make_energy(struct storm_table *table, const double *energy)
{
    size_t n_t = table->p.n_temperatures, n_rho = table->p.n_densities;
    for (size_t r = 0; r < n_rho; r++) {
        double *row = &table->energy[r * n_t];
        for (size_t t = 0; t < n_t; t++)
            row[t] = storm_log(energy[t * n_rho + r]);
        for (size_t t = 0; t < n_t; t++)
            table->slope[r * n_t + t] = table_slope(table->log_t, row, n_t, t);
    }
}

/* All copies; the parameters are good. */
static storm_status table_make(struct storm_table *table,
                               const struct storm_table_params *given)
{
    bool ok = true;
    size_t n_t = given->n_temperatures, n_rho = given->n_densities;
    struct storm_table_params *p = &table->p;
    *p = *given;
    table->n_values = p->n_groups > 0 ? p->n_groups : 1;
    size_t n = n_t * n_rho * table->n_values;
    p->name = NULL;
    p->absorption = p->scattering = p->energy = NULL;
    p->temperature_kev = table_copy(table, given->temperature_kev, n_t, &ok);
    p->density_g_cm3 = table_copy(table, given->density_g_cm3, n_rho, &ok);
    p->group_edge_kev =
        given->n_groups > 0
            ? table_copy(table, given->group_edge_kev, p->n_groups + 1, &ok)
            : NULL;
    table->log_t = table_logs(table, given->temperature_kev, n_t, &ok);
    table->log_rho = table_logs(table, given->density_g_cm3, n_rho, &ok);
    table->opacity[0] = table_logs(table, given->absorption, n, &ok);
    table->opacity[1] = table_logs(table, given->scattering, n, &ok);
    const char *name = given->name != NULL ? given->name : "table";
    char *copy = storm_alloc(table->env->memory, table_label, strlen(name) + 1);
    if (copy != NULL)
        strcpy(copy, name);
    p->name = copy;
    if (given->energy == NULL)
        return ok && copy != NULL ? STORM_OK : STORM_ERR_NOMEM;
    table->energy = table_array(table, n_t * n_rho, &ok);
    table->slope = table_array(table, n_t * n_rho, &ok);
    if (!ok || copy == NULL)
        return STORM_ERR_NOMEM;
    table_make_energy(table, given->energy);
    return STORM_OK;
}

storm_status storm_table_create(struct storm_context *context,
                                const struct storm_table_params *params,
                                struct storm_table **table_out)
{
    const struct storm_env *env = storm_context_env(context);
    struct storm_table_params given;
    char problem[TABLE_PROBLEM_BYTES];
    storm_status status =
        storm_table_check(params, 0, NULL, problem, sizeof problem);
    if (status < 0) {
        if (env->rank == 0)
            storm_log_write(&env->log, STORM_LOG_ERROR, "%s", problem);
        return status;
    }
    (void)storm_sized_read(NULL, "", params, &given, sizeof given);
    struct storm_table *table =
        storm_alloc(env->memory, table_label, sizeof *table);
    if (table == NULL)
        return STORM_ERR_NOMEM;
    table->env = env;
    status = table_make(table, &given);
    if (status < 0) {
        storm_table_destroy(table);
        return status;
    }
    *table_out = table;
    return STORM_OK;
}

void storm_table_destroy(struct storm_table *table)
{
    if (table == NULL)
        return;
    struct storm_memory *memory = table->env->memory;
    const void *const copies[] = {
        table->p.name,          table->p.temperature_kev,
        table->p.density_g_cm3, table->p.group_edge_kev,
        table->log_t,           table->log_rho,
        table->opacity[0],      table->opacity[1],
        table->energy,          table->slope};
    for (size_t i = 0; i < sizeof copies / sizeof copies[0]; i++)
        storm_free(memory, (void *)(uintptr_t)copies[i]);
    storm_free(memory, table);
}

static uint64_t table_fold(uint64_t hash, const double *values, size_t n)
{
    hash = storm_hash_fold(hash, values != NULL);
    for (size_t i = 0; values != NULL && i < n; i++)
        hash = storm_hash_fold_real(hash, values[i]);
    return hash;
}

uint64_t storm_table_hash(const struct storm_table *table)
{
    const struct storm_table_params *p = &table->p;
    const uint64_t words[] = {
        p->n_temperatures,   p->n_densities,           p->n_groups,
        (uint64_t)p->beyond, p->opacity_per_mass != 0, p->energy_per_mass != 0};
    size_t n = p->n_temperatures * p->n_densities;
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        hash = storm_hash_fold(hash, words[i]);
    hash = table_fold(hash, p->temperature_kev, p->n_temperatures);
    hash = table_fold(hash, p->density_g_cm3, p->n_densities);
    hash = table_fold(hash, p->group_edge_kev, p->n_groups + 1);
    hash = table_fold(hash, table->opacity[0], n * table->n_values);
    hash = table_fold(hash, table->opacity[1], n * table->n_values);
    return table_fold(hash, table->energy, n);
}

/* ---- points around a cell ----------------------------------------------- */

/* A place on an axis: between points low and low + 1. */
struct table_place {
    size_t low;
    double share; /* of the upper, 0 .. 1 */
};

/* A cell of a block. */
struct table_at {
    struct table_place t, rho;
    double log_t;   /* within the table */
    double outside; /* log T less that; 0 within */
};

/* The last interval that begins at or below x. */
static size_t table_find(const double *axis, size_t n, double x)
{
    size_t low = 0, high = n > 1 ? n - 2 : 0;
    while (low < high) {
        size_t middle = (low + high + 1) / 2;
        if (axis[middle] <= x)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static struct table_place table_place(const double *axis, size_t n, double x)
{
    struct table_place place = {table_find(axis, n, x), 0.0};
    if (n > 1)
        place.share =
            (x - axis[place.low]) / (axis[place.low + 1] - axis[place.low]);
    return place;
}

/* Is what is beyond the table answered for its edge? */
static bool table_has_edge(const struct storm_table *table,
                           const struct storm_matter_block *block)
{
    return table->p.beyond == STORM_TABLE_EDGE || block->is_estimate;
}

/* Brings x into the axis; false: it is outside. */
static bool table_clamp(const double *axis, size_t n, double *x)
{
    double lo = axis[0], hi = axis[n - 1];
    bool is_in = *x >= lo - table_slack && *x <= hi + table_slack;
    *x = *x < lo ? lo : *x > hi ? hi : *x;
    return is_in;
}

static storm_status table_beyond(struct storm_table *table,
                                 const struct storm_matter_block *block,
                                 size_t i, const char *what, double value,
                                 const double range[2])
{
    snprintf(table->problem, sizeof table->problem,
             "cell %llu: the %s is %.9g, beyond the table %s, which has %.9g "
             "to %.9g; use a larger table, or `table_beyond: edge`",
             (unsigned long long)block->tag[i], what, value, table->p.name,
             range[0], range[1]);
    return STORM_ERR_ARG;
}

/* One density stands for all. */
static storm_status table_density(struct storm_table *table,
                                  const struct storm_matter_block *block,
                                  size_t i, struct table_place *place_out)
{
    size_t n = table->p.n_densities;
    double x = storm_log(block->density_g_cm3[i]);
    if (n > 1 && !table_clamp(table->log_rho, n, &x) &&
        !table_has_edge(table, block))
        return table_beyond(table, block, i, "density (g/cm3)",
                            block->density_g_cm3[i],
                            (double[]){table->p.density_g_cm3[0],
                                       table->p.density_g_cm3[n - 1]});
    *place_out = table_place(table->log_rho, n, x);
    return STORM_OK;
}

static storm_status table_locate(struct storm_table *table,
                                 const struct storm_matter_block *block,
                                 size_t i, struct table_at *at_out)
{
    size_t n = table->p.n_temperatures;
    double t = block->temperature_kev[i];
    double given = t > 0.0 ? storm_log(t) : -INFINITY, x = given;
    if (!table_clamp(table->log_t, n, &x) && !table_has_edge(table, block))
        return table_beyond(table, block, i, "temperature (keV)", t,
                            (double[]){table->p.temperature_kev[0],
                                       table->p.temperature_kev[n - 1]});
    at_out->log_t = x;
    at_out->outside = given - x;
    at_out->t = table_place(table->log_t, n, x);
    return table_density(table, block, i, &at_out->rho);
}

/* ---- opacities ---------------------------------------------------------- */

/* TABLE-1, of one group: four logs. */
static double table_mix(const double corner[4], double t, double rho)
{
    double low = corner[0], high = corner[2];
    bool zero = false;
    for (int k = 0; k < 4; k++)
        zero = zero || corner[k] == -INFINITY;
    if (zero) {
        double v[4];
        for (int k = 0; k < 4; k++)
            v[k] = corner[k] == -INFINITY ? 0.0 : storm_exp(corner[k]);
        low = v[0] + rho * (v[1] - v[0]);
        high = v[2] + rho * (v[3] - v[2]);
        return low + t * (high - low);
    }
    low += rho * (corner[1] - low);
    high += rho * (corner[3] - high);
    return storm_exp(low + t * (high - low));
}

static void table_opacity_at(const struct storm_table *table,
                             const double *logs, const struct table_at *at,
                             double factor, double *values_out)
{
    size_t n_rho = table->p.n_densities, n = table->n_values;
    size_t next = n_rho > 1 ? n : 0;
    const double *low = &logs[(at->t.low * n_rho + at->rho.low) * n];
    const double *high = low + n_rho * n;
    for (size_t g = 0; g < n; g++) {
        const double corner[4] = {low[g], low[next + g], high[g],
                                  high[next + g]};
        values_out[g] = factor * table_mix(corner, at->t.share, at->rho.share);
    }
}

static storm_status table_opacity(void *self,
                                  const struct storm_matter_block *block,
                                  double *absorption_out,
                                  double *scattering_out)
{
    struct storm_table *table = self;
    size_t n_groups = block->n_groups;
    double *out[2] = {absorption_out, scattering_out};
    if (table->p.n_groups > 0 && table->p.n_groups != n_groups) {
        snprintf(table->problem, sizeof table->problem,
                 "the table %s has %zu groups, the problem has %zu",
                 table->p.name, table->p.n_groups, n_groups);
        return STORM_ERR_ARG;
    }
    for (size_t i = 0; i < block->n; i++) {
        struct table_at at;
        storm_status status = table_locate(table, block, i, &at);
        if (status < 0)
            return status;
        double factor =
            table->p.opacity_per_mass ? block->density_g_cm3[i] : 1.0;
        for (int k = 0; k < 2; k++) {
            double *values = &out[k][i * n_groups];
            size_t known = table->opacity[k] != NULL ? table->n_values : 0;
            if (known > 0)
                table_opacity_at(table, table->opacity[k], &at, factor, values);
            for (size_t g = known; g < n_groups; g++)
                values[g] = known > 0 ? values[0] : 0.0;
        }
    }
    return STORM_OK;
}

/* ---- energies ----------------------------------------------------------- */

/* The cubic of an interval at a density: logs and slopes at both ends, times
 * the width. */
struct table_cubic {
    double y[2], d[2];
};

/* Of point k at a density. */
static double table_blend(const double *rows, size_t n_t,
                          const struct table_place *rho, size_t k)
{
    double low = rows[rho->low * n_t + k];
    if (rho->share == 0.0)
        return low;
    return low + rho->share * (rows[(rho->low + 1) * n_t + k] - low);
}

static struct table_cubic table_cubic(const struct storm_table *table,
                                      const struct table_place *rho, size_t k)
{
    size_t n_t = table->p.n_temperatures;
    double width = table->log_t[k + 1] - table->log_t[k];
    struct table_cubic c;
    for (size_t e = 0; e < 2; e++) {
        c.y[e] = table_blend(table->energy, n_t, rho, k + e);
        c.d[e] = table_blend(table->slope, n_t, rho, k + e) * width;
    }
    return c;
}

static double cubic_value(const struct table_cubic *c, double s)
{
    double rise = c->y[1] - c->y[0];
    double bend = c->d[0] + c->d[1] - 2.0 * rise;
    return c->y[0] + s * (c->d[0] + s * ((rise - c->d[0] - bend) + s * bend));
}

static double cubic_slope(const struct table_cubic *c, double s)
{
    double rise = c->y[1] - c->y[0];
    double bend = c->d[0] + c->d[1] - 2.0 * rise;
    return c->d[0] + s * (2.0 * (rise - c->d[0] - bend) + s * 3.0 * bend);
}

/* Where it has a value between those at its ends: Newton within a bracket. */
static double cubic_solve(const struct table_cubic *c, double y)
{
    double low = 0.0, high = 1.0;
    double s = (y - c->y[0]) / (c->y[1] - c->y[0]);
    for (int i = 0; i < 100; i++) {
        s = s < 0.0 ? 0.0 : s > 1.0 ? 1.0 : s;
        double off = cubic_value(c, s) - y;
        if (off > 0.0)
            high = s;
        else
            low = s;
        double next = s - off / cubic_slope(c, s);
        if (!(next > low && next < high))
            next = 0.5 * (low + high);
        if (fabs(next - s) <= 1e-16 || off == 0.0)
            return off == 0.0 ? s : next;
        s = next;
    }
    return s;
}

/* Energies are for the density of the cell if they are per mass. */
static double table_mass(const struct storm_table *table,
                         const struct storm_matter_block *block, size_t i)
{
    return table->p.energy_per_mass ? block->density_g_cm3[i] : 1.0;
}

/* Energy of a cell, erg/cm3, and d log energy / d log T; beyond an edge of the
 * table it goes on as a power. */
static storm_status table_energy_at(struct storm_table *table,
                                    const struct storm_matter_block *block,
                                    size_t i, double *energy_out,
                                    double *slope_out)
{
    struct table_at at;
    storm_status status = table_locate(table, block, i, &at);
    if (status < 0)
        return status;
    struct table_cubic c = table_cubic(table, &at.rho, at.t.low);
    double width = table->log_t[at.t.low + 1] - table->log_t[at.t.low];
    double slope = cubic_slope(&c, at.t.share) / width;
    double log_energy = cubic_value(&c, at.t.share);
    if (fabs(at.outside) > table_slack)
        log_energy += slope * at.outside;
    *energy_out = log_energy > -INFINITY
                      ? storm_exp(log_energy) * table_mass(table, block, i)
                      : 0.0;
    *slope_out = slope;
    return STORM_OK;
}

static storm_status table_energy(void *self,
                                 const struct storm_matter_block *block,
                                 double *energy_out)
{
    storm_status status = STORM_OK;
    double slope;
    for (size_t i = 0; i < block->n && status == STORM_OK; i++)
        status = table_energy_at(self, block, i, &energy_out[i], &slope);
    return status;
}

static storm_status table_capacity(void *self,
                                   const struct storm_matter_block *block,
                                   double *capacity_out)
{
    storm_status status = STORM_OK;
    for (size_t i = 0; i < block->n && status == STORM_OK; i++) {
        double energy = 0.0, slope = 0.0;
        status = table_energy_at(self, block, i, &energy, &slope);
        capacity_out[i] = slope * energy / block->temperature_kev[i];
    }
    return status;
}

/* The interval whose energies at a density hold this one, or that at the
 * edge. */
static size_t table_find_energy(const struct storm_table *table,
                                const struct table_place *rho, double y)
{
    size_t n_t = table->p.n_temperatures, low = 0, high = n_t - 2;
    while (low < high) {
        size_t middle = (low + high + 1) / 2;
        if (table_blend(table->energy, n_t, rho, middle) <= y)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* log T at which a cell has this energy. */
static storm_status table_invert(struct storm_table *table,
                                 const struct storm_matter_block *block,
                                 size_t i, double energy, double *log_t_out)
{
    struct table_place rho;
    storm_status status = table_density(table, block, i, &rho);
    if (status < 0)
        return status;
    double mass = table_mass(table, block, i);
    double y = energy > 0.0 ? storm_log(energy / mass) : -INFINITY;
    size_t n_t = table->p.n_temperatures;
    const double ends[2] = {table_blend(table->energy, n_t, &rho, 0),
                            table_blend(table->energy, n_t, &rho, n_t - 1)};
    double inside = y;
    if (!table_clamp(ends, 2, &inside) && !table_has_edge(table, block))
        return table_beyond(table, block, i, "energy (erg/cm3)", energy,
                            (double[]){mass * storm_exp(ends[0]),
                                       mass * storm_exp(ends[1])});
    size_t k = table_find_energy(table, &rho, inside);
    struct table_cubic c = table_cubic(table, &rho, k);
    double width = table->log_t[k + 1] - table->log_t[k];
    double s = cubic_solve(&c, inside);
    *log_t_out = table->log_t[k] + s * width;
    if (fabs(y - inside) > table_slack)
        *log_t_out += (y - inside) / (cubic_slope(&c, s) / width);
    return STORM_OK;
}

static storm_status table_temperature(void *self,
                                      const struct storm_matter_block *block,
                                      const double *energy,
                                      double *temperature_out)
{
    storm_status status = STORM_OK;
    for (size_t i = 0; i < block->n && status == STORM_OK; i++) {
        double log_t = 0.0;
        status = table_invert(self, block, i, energy[i], &log_t);
        temperature_out[i] = log_t > -INFINITY ? storm_exp(log_t) : 0.0;
    }
    return status;
}

/* ---- as matter ---------------------------------------------------------- */

static const char *table_problem(void *self)
{
    return ((struct storm_table *)self)->problem;
}

void storm_table_matter(struct storm_table *table,
                        struct storm_matter *matter_out)
{
    const struct storm_matter matter = {
        .size = sizeof matter,
        .self = table,
        .is_held = table->energy == NULL,
        .opacity = table_opacity,
        .energy = table_energy,
        .heat_capacity = table_capacity,
        .temperature = table_temperature,
        .problem = table_problem,
    };
    (void)storm_sized_write(&matter, sizeof matter, matter_out);
}
