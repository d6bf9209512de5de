/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A gas that flows along x, and profiles to begin with, for host_shock.c.
 */
#ifndef STORM_EXAMPLES_SLAB_H
#define STORM_EXAMPLES_SLAB_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the gas ------------------------------------------------------------ */

static const double gamma_gas = 5.0 / 3.0;

enum { RHO, V, P, N_Q };         /* density, velocity, pressure */
enum { MASS, MOMENTUM, ENERGY }; /* conserved, per volume */
typedef double gas[N_Q];

static void to_primitive(const gas u, gas w)
{
    w[RHO] = u[MASS];
    w[V] = u[MOMENTUM] / u[MASS];
    w[P] = (gamma_gas - 1.0) * (u[ENERGY] - 0.5 * u[MOMENTUM] * w[V]);
}

static void to_conserved(const gas w, gas u)
{
    u[MASS] = w[RHO];
    u[MOMENTUM] = w[RHO] * w[V];
    u[ENERGY] = w[P] / (gamma_gas - 1.0) + 0.5 * w[RHO] * w[V] * w[V];
}

static double sound(const gas w)
{
    return sqrt(gamma_gas * w[P] / w[RHO]);
}

static void flow(const gas w, gas out)
{
    gas u;
    to_conserved(w, u);
    out[MASS] = u[MOMENTUM];
    out[MOMENTUM] = u[MOMENTUM] * w[V] + w[P];
    out[ENERGY] = (u[ENERGY] + w[P]) * w[V];
}

/* Toro, Spruce and Speares 1994. */
static void hllc(const gas a, const gas b, gas out)
{
    double lo = fmin(a[V] - sound(a), b[V] - sound(b));
    double hi = fmax(a[V] + sound(a), b[V] + sound(b));
    double m_a = a[RHO] * (lo - a[V]), m_b = b[RHO] * (hi - b[V]);
    double middle = (b[P] - a[P] + a[V] * m_a - b[V] * m_b) / (m_a - m_b);
    const double *w = middle >= 0.0 ? a : b;
    double wave = middle >= 0.0 ? lo : hi, m = middle >= 0.0 ? m_a : m_b;
    gas u;
    flow(w, out);
    if (lo >= 0.0 || hi <= 0.0)
        return;
    to_conserved(w, u);
    double rho = m / (wave - middle), star[N_Q] = {rho, rho * middle};
    star[ENERGY] =
        rho * (u[ENERGY] / u[MASS] + (middle - w[V]) * (middle + w[P] / m));
    for (int q = 0; q < N_Q; q++)
        out[q] += wave * (star[q] - u[q]);
}

/* Of van Leer: the harmonic mean of both differences. */
static double limited(double a, double b)
{
    return a * b > 0.0 ? 2.0 * a * b / (a + b) : 0.0;
}

/* ---- profiles ----------------------------------------------------------- */

/* A line of a profile. */
struct point {
    double x, rho, v, t, theta;
};

/* What the run is about; laws are pressure = gas rho T, heat = pressure /
 * (gamma - 1), opacities times rho^opacity_by_density. */
struct setup {
    double light, radiation, gas, absorption, scattering;
    double opacity_by_density;
    struct point *points;
    size_t n_points;
    bool closed; /* mirrors at both ends; else beds */
    int cells, packets;
    double stop, settle;
    const char *out;
};

/* A hot and a cold gas. */
static const struct point box[] = {{0.0, 1.0, 0.0, 2.0, 2.0},
                                   {0.4, 1.0, 0.0, 2.0, 2.0},
                                   {0.4, 0.3, 0.0, 1.0, 1.0},
                                   {1.0, 0.3, 0.0, 1.0, 1.0}};

static void set_law(struct setup *s, const char *line)
{
    const struct {
        const char *name;
        double *value;
    } laws[] = {{"light", &s->light},
                {"radiation", &s->radiation},
                {"gas", &s->gas},
                {"absorption", &s->absorption},
                {"scattering", &s->scattering},
                {"opacity_by_density", &s->opacity_by_density}};
    char name[32];
    double value;
    if (sscanf(line, "# %31s %lf", name, &value) != 2)
        return;
    for (size_t i = 0; i < sizeof laws / sizeof laws[0]; i++)
        if (strcmp(name, laws[i].name) == 0)
            *laws[i].value = value;
}

/* false: it is no profile. */
static bool read_profile(struct setup *s, const char *path)
{
    enum { MAX = 20000 };
    char line[256];
    FILE *file = fopen(path, "r");
    s->points = calloc(MAX, sizeof *s->points);
    while (file != NULL && s->points != NULL && s->n_points < MAX &&
           fgets(line, sizeof line, file) != NULL) {
        struct point *p = &s->points[s->n_points];
        set_law(s, line);
        s->n_points += sscanf(line, "%lf,%lf,%lf,%lf,%lf", &p->x, &p->rho,
                              &p->v, &p->t, &p->theta) == 5;
    }
    if (file != NULL)
        fclose(file);
    return s->n_points >= 2;
}

/* Linear between its points; of two at one place, the first is before it. */
static struct point profile_at(const struct setup *s, double x)
{
    size_t i = 1;
    while (i + 1 < s->n_points && s->points[i].x < x)
        i++;
    const struct point *a = &s->points[i - 1], *b = &s->points[i];
    double part = b->x > a->x ? (x - a->x) / (b->x - a->x) : 0.0;
    return (struct point){
        .x = x,
        .rho = a->rho + part * (b->rho - a->rho),
        .v = a->v + part * (b->v - a->v),
        .t = a->t + part * (b->t - a->t),
        .theta = a->theta + part * (b->theta - a->theta),
    };
}

/* Without arguments: the box. false: they are wrong. */
static bool make_setup(int argc, char **argv, struct setup *s)
{
    *s = (struct setup){.light = 300.0,
                        .radiation = 0.05,
                        .gas = 0.6,
                        .absorption = 20.0,
                        .scattering = 10.0,
                        .opacity_by_density = 1.0,
                        .closed = argc == 1,
                        .cells = 40,
                        .packets = 20,
                        .stop = 0.2};
    if (argc == 7) {
        s->cells = atoi(argv[2]);
        s->packets = atoi(argv[3]);
        s->stop = atof(argv[4]);
        s->settle = atof(argv[5]);
        s->out = argv[6];
        return read_profile(s, argv[1]) && s->cells >= 20 && s->packets > 0 &&
               s->settle < s->stop;
    }
    s->n_points = sizeof box / sizeof box[0];
    s->points = calloc(s->n_points, sizeof *s->points);
    if (s->points != NULL)
        memcpy(s->points, box, sizeof box);
    return argc == 1 && s->points != NULL;
}

#endif /* STORM_EXAMPLES_SLAB_H */
