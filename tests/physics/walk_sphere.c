/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 60 */
/*
 * WALK-1, WALK-2, WALK-3, WALK-4: random walk against brute force: packets that
 * scatter isotropically, from the centre of a sphere of 10 mean free paths
 * until they leave it.
 *
 * Sample: 40,000 histories, about 60 collisions each. Compared are the share
 * still inside at five times, the mean distance from the centre of those, and
 * the mean cosine at the exit, each within 4 standard errors plus the error of
 * the diffusion approximation: 1 % of the packets (corrections fall as R^-2), 2
 * % of the radius, 0.03 of the cosine (the surface is bent; it falls as 1/R).
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include <storm/packet.h>

#include "physics/walk.h"
#include "support/check.h"

enum { HISTORIES = 40000, TIMES = 5 };
static const double radius = 10.0; /* mean free paths; c = 1 */
static const double thetas[TIMES] = {0.02, 0.05, 0.1, 0.2, 0.4};
static const double k = 4.0;
static const double share_off = 0.01, distance_off = 0.02, cosine_off = 0.03;

static double inside[TIMES], distance[TIMES], distance2[TIMES], cosine, cosine2;

static double length(const double x[3])
{
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

/* Path along `direction` to the surface of the sphere. */
static double to_surface(const double x[3], const double direction[3])
{
    double b = x[0] * direction[0] + x[1] * direction[1] + x[2] * direction[2];
    double c = radius * radius - length(x) * length(x);
    return -b + sqrt(b * b + c);
}

static void history(uint64_t number, double whole)
{
    struct storm_packet packet = {.id = {.lo = number}};
    double time = 0.0, x[3] = {0.0, 0.0, 0.0};
    int i_time = 0;
    for (;;) {
        double u[4], direction[3];
        storm_packet_random(&packet, 7, u);
        storm_isotropic(u[0], u[1], direction);
        double flight = -log(u[2]), end = to_surface(x, direction);
        bool leaves = end < flight;
        double path = leaves ? end : flight;
        for (; i_time < TIMES; i_time++) {
            double at = thetas[i_time] * 3.0 * whole * whole;
            if (at > time + path)
                break;
            double y[3];
            for (int d = 0; d < 3; d++)
                y[d] = x[d] + (at - time) * direction[d];
            inside[i_time] += 1.0;
            distance[i_time] += length(y);
            distance2[i_time] += length(y) * length(y);
        }
        for (int d = 0; d < 3; d++)
            x[d] += path * direction[d];
        time += path;
        if (leaves) {
            double mu = (x[0] * direction[0] + x[1] * direction[1] +
                         x[2] * direction[2]) /
                        radius;
            cosine += mu;
            cosine2 += mu * mu;
            return;
        }
    }
}

/* Mean distance of those inside, from the sampler. */
static double mean_distance(const struct storm_walk *walk, double theta,
                            double whole)
{
    /* The first flight is straight: one mean free time is lost. */
    double sum = 0.0, start = 1.0 / (3.0 * whole * whole);
    for (uint64_t i = 0; i < HISTORIES; i++) {
        double u[4];
        storm_random(11, STORM_STREAM_USER, (struct storm_packet_id){.lo = i},
                     0, u);
        sum += fmin(whole * storm_walk_radius(walk, theta - start, u), radius);
    }
    return sum / HISTORIES;
}

static void check_table(const struct storm_walk *walk)
{
    double last = INFINITY;
    for (double u = 1e-9; u < 1.0; u += 1.7e-5) {
        double theta = storm_walk_exit(walk, u);
        CHECK(theta <= last);
        CHECK(fabs(storm_walk_stay(theta) - u) < 1e-5);
        last = theta;
    }
    for (double theta = 0.09; theta < 0.11; theta += 1e-4) /* both series */
        CHECK(storm_walk_stay(theta) > storm_walk_stay(theta + 1e-4));
}

int main(void)
{
    static struct storm_walk walk;
    double whole = radius + storm_walk_extrapolation, n = HISTORIES;
    storm_walk_make(&walk);
    check_table(&walk);
    for (uint64_t i = 0; i < HISTORIES; i++)
        history(i, whole);
    for (int i = 0; i < TIMES; i++) {
        double share = inside[i] / n, right = storm_walk_stay(thetas[i]);
        double error = sqrt(right * (1.0 - right) / n);
        double mean = distance[i] / inside[i];
        double spread = distance2[i] / inside[i] - mean * mean;
        double away = mean_distance(&walk, thetas[i], whole);
        printf("theta %.2f: inside %.4f, %.4f by diffusion; mean distance "
               "%.3f, %.3f\n",
               thetas[i], share, right, mean, away);
        CHECK(fabs(share - right) < k * error + share_off);
        CHECK(fabs(mean - away) <
              k * sqrt(2.0 * spread / inside[i]) + distance_off * radius);
    }
    /* Of p = 3/2 mu (2/3 + mu): the mean is 17/24. */
    double mu = cosine / n;
    double error = sqrt((cosine2 / n - mu * mu) / n);
    printf("mean cosine %.4f +- %.4f, %.4f\n", mu, error, 17.0 / 24.0);
    CHECK(fabs(mu - 17.0 / 24.0) < k * error + cosine_off);
    return CHECK_PASS;
}
