/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* Moments and cells of the uniform numbers, within 5 standard errors each. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <storm/packet.h>

#include "support/check.h"

enum { N_PACKETS = 2000, N_BLOCKS = 100, N_BINS = 64 };

static const uint64_t seed = 5;
static const double k_sigma = 5.0;

static void close_to(double value, double expected, double sigma)
{
    check_where("%.9g, expected %.9g +- %.3g", value, expected, sigma);
    CHECK(fabs(value - expected) <= k_sigma * sigma);
}

/* Neighbouring ids and blocks: the worst a run does. */
static void draw(size_t i_packet, size_t i_block, double u[4])
{
    struct storm_packet_id id =
        storm_packet_id_make(STORM_ORIGIN_EMISSION, 0, i_packet / 8,
                             i_packet % 8);
    storm_random(seed, STORM_STREAM_HISTORY, id, i_block, u);
}

static void test_moments(void)
{
    const double n = 4.0 * N_PACKETS * N_BLOCKS;
    double sum = 0, sum2 = 0, along = 0, across = 0, inside = 0;
    double before[4] = {0.5, 0.5, 0.5, 0.5};
    static double above[N_BLOCKS][4];
    for (size_t p = 0; p < N_PACKETS; p++) {
        for (size_t b = 0; b < N_BLOCKS; b++) {
            double u[4];
            draw(p, b, u);
            for (int i = 0; i < 4; i++) {
                double x = u[i] - 0.5;
                CHECK(u[i] > 0.0 && u[i] < 1.0);
                sum += x;
                sum2 += x * x;
                inside += x * (u[(i + 1) % 4] - 0.5);
                along += b > 0 ? x * (before[i] - 0.5) : 0.0;
                across += p > 0 ? x * (above[b][i] - 0.5) : 0.0;
                before[i] = above[b][i] = u[i];
            }
        }
    }
    close_to(sum / n, 0.0, sqrt(1.0 / 12.0 / n));
    close_to(sum2 / n, 1.0 / 12.0, sqrt(1.0 / 180.0 / n));
    double product_sigma = 1.0 / 12.0 / sqrt(n);
    close_to(inside / n, 0.0, product_sigma);
    close_to(along / n, 0.0, product_sigma);
    close_to(across / n, 0.0, product_sigma);
}

static void test_cells(void)
{
    static double count[N_BINS][N_BINS];
    for (size_t p = 0; p < N_PACKETS; p++) {
        for (size_t b = 0; b < N_BLOCKS; b++) {
            double u[4];
            draw(p, b, u);
            count[(int)(u[0] * N_BINS)][(int)(u[1] * N_BINS)] += 1.0;
            count[(int)(u[2] * N_BINS)][(int)(u[3] * N_BINS)] += 1.0;
        }
    }
    double cells = N_BINS * N_BINS;
    double expected = 2.0 * N_PACKETS * N_BLOCKS / cells;
    double chi2 = 0;
    for (int i = 0; i < N_BINS; i++) {
        for (int j = 0; j < N_BINS; j++) {
            double d = count[i][j] - expected;
            chi2 += d * d / expected;
        }
    }
    close_to(chi2, cells - 1.0, sqrt(2.0 * (cells - 1.0)));
}

/* Different streams of one packet have nothing to do with each other. */
static void test_streams(void)
{
    const double n = 4.0 * N_PACKETS * 10;
    for (int s = STORM_STREAM_HISTORY; s < STORM_STREAM_USER; s++) {
        double product = 0;
        for (size_t p = 0; p < N_PACKETS * 10; p++) {
            struct storm_packet_id id =
                storm_packet_id_make(STORM_ORIGIN_USER, 0, p, 0);
            double u[4], v[4];
            storm_random(seed, (storm_stream)s, id, 0, u);
            storm_random(seed, (storm_stream)(s + 1), id, 0, v);
            for (int i = 0; i < 4; i++)
                product += (u[i] - 0.5) * (v[i] - 0.5);
        }
        close_to(product / n, 0.0, 1.0 / 12.0 / sqrt(n));
    }
}

int main(void)
{
    printf("seed %llu\n", (unsigned long long)seed);
    test_moments();
    test_cells();
    test_streams();
    return 0;
}
