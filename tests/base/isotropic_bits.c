/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* Isotropic directions: unit vectors, right angle, right moments (within 5
 * standard errors), and no bits from libm. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include <storm/packet.h>

#include "base/hash.h"
#include "support/check.h"

static const uint64_t seed = 8;
static const double two_pi = 6.283185307179586;

static void check_direction(double u0, double u1)
{
    double d[3];
    storm_isotropic(u0, u1, d);
    double norm2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    CHECK(fabs(norm2 - 1.0) < 1e-15);
    double radius = 2.0 * sqrt(u0 * (1.0 - u0));
    CHECK(fabs(d[0] - radius * cos(two_pi * u1)) < 1e-15);
    CHECK(fabs(d[1] - radius * sin(two_pi * u1)) < 1e-15);
    CHECK(d[2] == 2.0 * u0 - 1.0);
}

static void test_against_libm(void)
{
    const double corners[] = {0x1p-53, 0.125, 0.25,  0.375,        0.5,
                              0.625,   0.75,  0.875, 1.0 - 0x1p-53};
    for (int i = 0; i < 9; i++) {
        for (int j = 0; j < 9; j++) {
            check_direction(corners[i], corners[j]);
            check_direction(corners[i], nextafter(corners[j], 0.0));
        }
    }
    for (uint64_t i = 0; i < 200000; i++) {
        double u[4];
        storm_random(seed, STORM_STREAM_USER, (struct storm_packet_id){0, i}, 0,
                     u);
        check_direction(u[0], u[1]);
    }
}

static void test_moments(void)
{
    enum { N = 400000 };
    double mean[3] = {0}, product[3] = {0}, square[3] = {0};
    for (uint64_t i = 0; i < N; i++) {
        double u[4], d[3];
        storm_random(seed, STORM_STREAM_USER, (struct storm_packet_id){1, i}, 0,
                     u);
        storm_isotropic(u[0], u[1], d);
        for (int k = 0; k < 3; k++) {
            mean[k] += d[k] / N;
            square[k] += d[k] * d[k] / N;
            product[k] += d[k] * d[(k + 1) % 3] / N;
        }
    }
    const double k_sigma = 5.0;
    for (int k = 0; k < 3; k++) {
        /* <x> = 0, <x^2> = 1/3, <x^4> = 1/5, <xy> = 0, <x^2 y^2> = 1/15 */
        CHECK(fabs(mean[k]) < k_sigma * sqrt(1.0 / 3.0 / N));
        CHECK(fabs(square[k] - 1.0 / 3.0) <
              k_sigma * sqrt((1.0 / 5.0 - 1.0 / 9.0) / N));
        CHECK(fabs(product[k]) < k_sigma * sqrt(1.0 / 15.0 / N));
    }
}

/* The same bits on every machine. */
static void test_frozen(void)
{
    double d[3];
    storm_isotropic(0.3, 0.7, d);
    printf("%a %a %a\n", d[0], d[1], d[2]);
    CHECK(d[0] == -0x1.220418d072a0fp-2);
    CHECK(d[1] == -0x1.be49eadc8f322p-1);
    CHECK(d[2] == -0x1.999999999999ap-2);
    uint64_t hash = 0;
    for (uint64_t i = 0; i < 10000; i++) {
        double u[4];
        storm_random(1, STORM_STREAM_USER, (struct storm_packet_id){2, i}, 0,
                     u);
        storm_isotropic(u[0], u[1], d);
        for (int k = 0; k < 3; k++)
            hash = storm_hash_fold_real(hash, d[k]);
    }
    printf("%016llx\n", (unsigned long long)hash);
    CHECK(hash == 0x0076dcf8505d9dd5);
}

int main(void)
{
    printf("seed %llu\n", (unsigned long long)seed);
    test_against_libm();
    test_moments();
    test_frozen();
    return 0;
}
