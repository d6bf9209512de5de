/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 60 */
/*
 * WALK-5: partially grey random walk against brute force: packets of twelve
 * groups whose opacity falls with the cube of the energy, from the centre of a
 * sphere that is 5 or more mean free paths for all groups but the last two.
 * They scatter effectively (a new group each time) and lose weight until they
 * leave the sphere, get into a group that is thin, or the step ends.
 *
 * Sample: 20,000 histories of each. Compared are, weighted, the shares of the
 * three ends, the rms distance from the centre at census and at leaks, and the
 * mean group at exits and at census; each within 4 standard errors plus the
 * error of the diffusion approximation: 2 % of all packets, 5 % of the radius,
 * a tenth of a group. With one group it is the grey walk.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <storm/packet.h>

#include "physics/walk.h"
#include "support/check.h"

enum { HISTORIES = 20000 / CHECK_SLOWDOWN, GROUPS = 12, THICK = 10, ENDS = 3 };
static const char *const names[ENDS] = {"out", "census", "leak"};
static const double fleck = 0.0005, k = 4.0;
static const double share_off = 0.02, distance_off = 0.05, group_off = 0.1;

static double sigma[GROUPS], planck[GROUPS], emission[GROUPS];
static struct storm_walk_group order[GROUPS];
static struct storm_walk walk;

/* Weighted sums of one end. */
struct tally {
    double weight, weight2, square, group;
};

static void make_groups(double energy_ratio)
{
    double sum = 0.0;
    for (int g = 0; g < GROUPS; g++) {
        double x = 0.8 * pow(energy_ratio, g), up = x * energy_ratio;
        double middle = sqrt(x * up);
        planck[g] = middle * middle * middle / expm1(middle) * (up - x);
        sigma[g] = pow(middle, -3.0);
    }
    double unit = sigma[THICK - 1]; /* the thinnest of those that walk */
    for (int g = 0; g < GROUPS; g++) {
        sigma[g] /= unit;
        sum += sigma[g] * planck[g];
        emission[g] = sum;
        order[g] = storm_walk_group(g, planck[g], fleck * sigma[g],
                                    (1.0 - fleck) * sigma[g],
                                    (1.0 - fleck) * sigma[g]);
    }
    for (int g = 0; g < GROUPS; g++)
        emission[g] /= sum;
    storm_walk_sort(order, GROUPS);
}

static int draw_group(double u)
{
    int g = 0;
    while (g + 1 < GROUPS && emission[g] < u)
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
    t->group += weight * group;
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
    } while (group >= THICK);
    for (;;) {
        double direction[3];
        storm_packet_random(&packet, 5, u);
        storm_isotropic(u[0], u[1], direction);
        double scatter = (1.0 - fleck) * sigma[group];
        double flight = -log(u[2]) / scatter;
        double edge = to_surface(x, direction, radius);
        double path = fmin(fmin(flight, edge), left);
        weight *= exp(-fleck * sigma[group] * path);
        left -= path;
        for (int d = 0; d < 3; d++)
            x[d] += path * direction[d];
        if (path == edge || path == left + path) {
            enum storm_walk_end why =
                path == edge ? STORM_WALK_OUT : STORM_WALK_CENSUS;
            add(&t[why], weight, length(x), group);
            return;
        }
        group = draw_group(u[3]);
        if (group >= THICK) {
            add(&t[STORM_WALK_LEAK], weight, length(x), group);
            return;
        }
    }
}

static void stroll(uint64_t number, double radius, double end, struct tally *t)
{
    struct storm_walk_medium m = storm_walk_ensemble(order, GROUPS, THICK);
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
    double leak = -log(u[1]) / m.leak;
    if (leak < path) {
        path = leak;
        why = STORM_WALK_LEAK;
    }
    double lost = why == STORM_WALK_CENSUS ? m.lost_cm : 0.0, distance = radius;
    if (why != STORM_WALK_OUT)
        distance =
            fmin(radius,
                 whole * storm_walk_radius(&walk, scale * (path - lost), v));
    int group = storm_walk_draw(order, GROUPS, THICK, why, &u[2]);
    add(&t[why], exp(-m.absorb * path), distance, group);
}

static double rms(const struct tally *t)
{
    return sqrt(t->square / t->weight);
}

/* Distance and mean group are the same but for their errors, taken as
 * those of a spread of a quarter of the radius and of two groups. */
static void compare(double radius, double end)
{
    struct tally right[ENDS], ours[ENDS];
    memset(right, 0, sizeof right);
    memset(ours, 0, sizeof ours);
    for (uint64_t i = 0; i < HISTORIES; i++) {
        brute(i, radius, end, right);
        stroll(i, radius, end, ours);
    }
    CHECK(storm_walk_thick(order, GROUPS, radius) >= THICK);
    for (int e = 0; e < ENDS; e++) {
        const struct tally *a = &right[e], *b = &ours[e];
        double error = sqrt(a->weight2 + b->weight2) / HISTORIES;
        double part =
            sqrt(1.0 / fmax(a->weight, 1.0) + 1.0 / fmax(b->weight, 1.0));
        printf("R %g, path %g, %-6s: share %.4f, brute force %.4f; distance "
               "%.3f, %.3f; group %.3f, %.3f\n",
               radius, end, names[e], b->weight / HISTORIES,
               a->weight / HISTORIES, rms(b), rms(a), b->group / b->weight,
               a->group / a->weight);
        CHECK(fabs(a->weight - b->weight) / HISTORIES < k * error + share_off);
        if (a->weight < 100.0 || b->weight < 100.0)
            continue; /* too few for a mean */
        CHECK(fabs(rms(a) - rms(b)) <
              radius * (k * 0.25 * part + distance_off));
        CHECK(fabs(a->group / a->weight - b->group / b->weight) <
              k * 2.0 * part + group_off);
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

int main(void)
{
    storm_walk_make(&walk);
    check_grey();
    setvbuf(stdout, NULL, _IOLBF, 0);
    make_groups(1.25);
    double min = order[THICK - 1].thick;
    compare(5.001 / min, 20.0);
    compare(5.001 / min, 100.0);
    compare(10.0 / min, 20.0);
    return CHECK_PASS;
}
