/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 60 */
/* TEST args: long; timeout: 600; label: long slow-asan */
/*
 * WALK-5, WALK-6: partially grey random walk against brute force: packets of
 * several groups from the centre of a sphere, of the smallest radius at which
 * the groups may walk. They scatter effectively (a new group each time) and
 * physically (the same group) and lose weight until they leave the sphere, get
 * into a group that is thin, or the step ends. The mixtures: twelve groups
 * whose opacity falls with the cube of the energy, of which the last two are
 * thin; the same with constant physical scattering besides; and pairs of groups
 * as unlike as can be.
 *
 * Sample: 10,000 histories of each. Compared are, weighted, the shares of the
 * three ends, what each adds to the mean square distance from the centre, and
 * the share of the first half of the groups at exits and at census; each within
 * 4 standard errors plus the error of the diffusion approximation: 2 % of all
 * packets, 10 % of the mean square of all, 5 % of the groups. With one group it
 * is the grey walk.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <storm/packet.h>

#include "physics/walk.h"
#include "support/check.h"

enum { HISTORIES = 10000 / CHECK_SLOWDOWN, MOST_GROUPS = 12, ENDS = 3 };
static const char *const names[ENDS] = {"out", "census", "leak"};
static const double fleck = 0.0005, k = 4.0;
static const double share_off = 0.02, square_off = 0.1, group_off = 0.05;

static int n_groups, n_thick;
static double effective[MOST_GROUPS], physical[MOST_GROUPS];
static double emission[MOST_GROUPS]; /* up to a group, of 1 */
static struct storm_walk_group order[MOST_GROUPS];
static struct storm_walk walk;

/* Weighted sums of one end. */
struct tally {
    double weight, weight2, square, first; /* first: half of the groups */
};

/* From shares of the Planck function, absorption and scattering. */
static void make_groups(int n, int thick, const double planck[],
                        const double absorption[], const double scattering[])
{
    double sum = 0.0;
    n_groups = n;
    n_thick = thick;
    for (int g = 0; g < n; g++) {
        effective[g] = (1.0 - fleck) * absorption[g];
        physical[g] = scattering[g];
        sum += absorption[g] * planck[g];
        emission[g] = sum;
        order[g] = storm_walk_group(g, planck[g], fleck * absorption[g],
                                    effective[g] + physical[g], effective[g]);
    }
    for (int g = 0; g < n; g++)
        emission[g] /= sum;
    storm_walk_sort(order, (size_t)n);
}

/* Opacity E^-3 from an energy on, 1 in the thinnest of those that walk, and
 * `scattering`. */
static void make_powers(double lowest, double energy_ratio, double scattering)
{
    enum { N = 12, THICK = 10 };
    double planck[N], absorption[N], others[N];
    for (int g = 0; g < N; g++) {
        double x = lowest * pow(energy_ratio, g), up = x * energy_ratio;
        double middle = sqrt(x * up);
        planck[g] = middle * middle * middle / expm1(middle) * (up - x);
        absorption[g] = pow(energy_ratio, 3.0 * (THICK - 1 - g));
        others[g] = scattering;
    }
    make_groups(N, THICK, planck, absorption, others);
}

/* Absorption 1 and no scattering, and another group. */
static void make_pair(double share, double absorption, double scattering)
{
    make_groups(2, 2, (double[]){share, 1.0 - share},
                (double[]){1.0, absorption}, (double[]){0.0, scattering});
}

/* The smallest radius at which all n_thick walk. */
static double smallest_radius(void)
{
    struct storm_walk_medium m =
        storm_walk_ensemble(order, (size_t)n_groups, (size_t)n_thick);
    CHECK(storm_walk_deep(&m, INFINITY));
    double low = 0.0, high = 1e6;
    while (high - low > 1e-6 * high) {
        double r = 0.5 * (low + high);
        bool may =
            storm_walk_thick(order, (size_t)n_groups, r) >= (size_t)n_thick &&
            storm_walk_deep(&m, r);
        *(may ? &high : &low) = r;
    }
    return high;
}

static int draw_group(double u)
{
    int g = 0;
    while (g + 1 < n_groups && emission[g] < u)
        g++;
    return g;
}

static double length(const double x[3])
{
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

static void add(struct tally *t, double weight, double distance, int group)
{
    t->weight += weight;
    t->weight2 += weight * weight;
    t->square += weight * distance * distance;
    t->first += group < n_groups / 2 ? weight : 0.0;
}

/* Path along `direction` to the surface of the sphere. */
static double to_surface(const double x[3], const double direction[3],
                         double radius)
{
    double b = x[0] * direction[0] + x[1] * direction[1] + x[2] * direction[2];
    return -b + sqrt(b * b + radius * radius - length(x) * length(x));
}

static void brute(uint64_t number, double radius, double end, struct tally *t)
{
    struct storm_packet packet = {.id = {.lo = number}};
    double u[4], x[3] = {0.0, 0.0, 0.0}, weight = 1.0, left = end;
    int group;
    do {
        storm_packet_random(&packet, 5, u);
        group = draw_group(u[0]);
    } while (group >= n_thick);
    for (;;) {
        double direction[3];
        storm_packet_random(&packet, 5, u);
        storm_isotropic(u[0], u[1], direction);
        double scatter = effective[group] + physical[group];
        double flight = -log(u[2]) / scatter;
        double edge = to_surface(x, direction, radius);
        double path = fmin(fmin(flight, edge), left);
        weight *= exp(-fleck / (1.0 - fleck) * effective[group] * path);
        left -= path;
        for (int d = 0; d < 3; d++)
            x[d] += path * direction[d];
        if (path != flight) {
            enum storm_walk_end why =
                path == edge ? STORM_WALK_OUT : STORM_WALK_CENSUS;
            add(&t[why], weight, length(x), group);
            return;
        }
        double event = u[3] * scatter - physical[group];
        if (event < 0.0)
            continue;
        group = draw_group(event / effective[group]);
        if (group >= n_thick) {
            add(&t[STORM_WALK_LEAK], weight, length(x), group);
            return;
        }
    }
}

static void stroll(uint64_t number, double radius, double end, struct tally *t)
{
    struct storm_walk_medium m =
        storm_walk_ensemble(order, (size_t)n_groups, (size_t)n_thick);
    struct storm_packet packet = {.id = {.lo = number}};
    double u[4], v[4], whole = radius + m.beyond_cm;
    double scale = m.diffusion_cm / (whole * whole);
    storm_packet_random(&packet, 6, u);
    storm_packet_random(&packet, 6, v);
    double path = storm_walk_exit(&walk, u[0]) / scale;
    enum storm_walk_end why = STORM_WALK_OUT;
    if (path > end) {
        path = end;
        why = STORM_WALK_CENSUS;
    }
    double leak = m.leak > 0.0 ? -log(u[1]) / m.leak : INFINITY;
    if (leak < path) {
        path = leak;
        why = STORM_WALK_LEAK;
    }
    double lost = why == STORM_WALK_CENSUS ? m.lost_cm : m.leak_lost_cm;
    double distance = radius;
    if (why != STORM_WALK_OUT)
        distance =
            fmin(radius,
                 whole * storm_walk_radius(&walk, scale * (path - lost), v));
    int group =
        storm_walk_draw(order, (size_t)n_groups, (size_t)n_thick, why, &u[2]);
    add(&t[why], exp(-m.absorb * path), distance, group);
}

/* `whole`: sum of squares over all ends. Squares of distances spread by 0.7 of
 * their mean or less. */
static void compare_end(const struct tally *a, const struct tally *b,
                        double whole)
{
    double error = sqrt(a->weight2 + b->weight2) / HISTORIES;
    CHECK(fabs(a->weight - b->weight) / HISTORIES < k * error + share_off);
    if (a->weight < 100.0 || b->weight < 100.0)
        return; /* too few for a mean */
    double part = sqrt(1.0 / a->weight + 1.0 / b->weight);
    CHECK(fabs(a->square - b->square) <
          k * 1.2 * part * a->square + square_off * whole);
    CHECK(fabs(a->first / a->weight - b->first / b->weight) <
          k * 0.5 * part + group_off);
}

/* With this part of the time that diffusion through the sphere takes. */
static void compare(const char *what, double part)
{
    struct tally right[ENDS], ours[ENDS];
    memset(right, 0, sizeof right);
    memset(ours, 0, sizeof ours);
    struct storm_walk_medium m =
        storm_walk_ensemble(order, (size_t)n_groups, (size_t)n_thick);
    double radius = 1.0001 * smallest_radius();
    double end = part * radius * radius / m.diffusion_cm;
    CHECK(end >= radius); /* else they would not walk */
    for (uint64_t i = 0; i < HISTORIES; i++) {
        brute(i, radius, end, right);
        stroll(i, radius, end, ours);
    }
    double whole = 0.0;
    for (int e = 0; e < ENDS; e++)
        whole += right[e].square;
    for (int e = 0; e < ENDS; e++) {
        const struct tally *a = &right[e], *b = &ours[e];
        printf("%s, R %.3g, path %.3g, leak %.3g, %-6s: share %.4f, brute "
               "force %.4f; "
               "mean square %.4f, %.4f; first groups %.3f, %.3f\n",
               what, radius, end, m.leak, names[e], b->weight / HISTORIES,
               a->weight / HISTORIES, b->square / b->weight,
               a->square / a->weight, b->first / b->weight,
               a->first / a->weight);
        check_where("%s, %s", what, names[e]);
        compare_end(a, b, whole);
    }
}

static void check_grey(void)
{
    struct storm_walk_group same[3];
    for (int g = 0; g < 3; g++)
        same[g] = storm_walk_group(g, 0.1 + g, 0.5, 9.5, 9.5);
    storm_walk_sort(same, 3);
    struct storm_walk_medium a = storm_walk_ensemble(same, 3, 3);
    struct storm_walk_medium b = storm_walk_grey(0.5, 9.5);
    CHECK(fabs(a.diffusion_cm - b.diffusion_cm) < 1e-15);
    CHECK(fabs(a.beyond_cm - b.beyond_cm) < 1e-15);
    CHECK(fabs(a.lost_cm - b.lost_cm) < 1e-15);
    CHECK(fabs(a.absorb - b.absorb) < 1e-15);
    CHECK(a.leak == 0.0 && b.leak == 0.0);
    /* A group that absorbs, or that keeps its photons, is not thick. */
    CHECK(storm_walk_thickness(2.0, 8.0, 8.0) == 0.0);
    CHECK(storm_walk_thickness(0.0, 9.0, 0.0) == 0.0);
}

int main(int argc, char **argv)
{
    (void)argv;
    storm_walk_make(&walk);
    check_grey();
    setvbuf(stdout, NULL, _IOLBF, 0);
    make_powers(0.85, 1.2, 0.0);
    compare("E^-3", 0.03);
    compare("E^-3", 0.08);
    make_powers(0.3, 1.2, 0.0);
    compare("E^-3, many leaks", 0.03);
    make_powers(0.02, 1.4, 0.0);
    compare("E^-3, from low energies", 0.04);
    make_powers(0.85, 1.2, 2.0);
    compare("E^-3 and scattering", 0.03);
    make_pair(0.5, 10.0, 0.0);
    compare("1 and 10", 0.07);
    make_pair(0.1, 10.0, 0.0);
    compare("a tenth 1, the rest 10", 0.07);
    make_pair(0.5, 1.0, 9.0);
    compare("one scatters", 0.05);
    compare("one scatters", 0.15);
    make_pair(0.1, 1.0, 9.0);
    compare("the most scatters", 0.07);
    if (argc == 1)
        return CHECK_PASS;
    make_powers(0.8, 1.25, 0.0);
    compare("E^-3, wide", 0.15);
    make_powers(0.8, 1.25, 4.0);
    compare("E^-3 and scattering, wide", 0.15);
    make_pair(0.1, 30.0, 0.0);
    compare("a tenth 1, the rest 30", 0.07);
    make_pair(0.1, 1.0, 19.0);
    compare("the most scatters, wide", 0.07);
    make_pair(0.5, 0.2, 20.0);
    compare("one hardly absorbs", 0.07);
    return CHECK_PASS;
}
