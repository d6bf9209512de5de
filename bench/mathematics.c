/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the functions of base/math.h cost: nanoseconds per value, against those
 * of the C library.
 *
 *   cc -std=c11 -D_GNU_SOURCE -O2 -ffp-contract=off -Iinclude -Isrc
 *      bench/mathematics.c -lm
 *
 * Loops over arrays that fit into the cache: throughput, not latency. Processor
 * time, best of the repeats; `ratio` above 1: ours is faster. With an argument
 * (the name of a function and "ours" or "theirs") that loop alone runs, for
 * counts of instructions.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/math.h"

enum { N_VALUES = 1 << 11, N_PASSES = 64, N_REPEATS = 40 };

struct arrays {
    double x[N_VALUES], y[N_VALUES], out[N_VALUES], out2[N_VALUES];
};

/* One value to one value, ours and theirs. */
#define LOOPS(_name)                                                       \
    __attribute__((noinline)) static void ours_##_name(struct arrays *a)   \
    {                                                                      \
        for (int i = 0; i < N_VALUES; i++)                                 \
            a->out[i] = storm_##_name(a->x[i]);                            \
    }                                                                      \
    __attribute__((noinline)) static void theirs_##_name(struct arrays *a) \
    {                                                                      \
        for (int i = 0; i < N_VALUES; i++)                                 \
            a->out[i] = _name(a->x[i]);                                    \
    }

LOOPS(exp)
LOOPS(expm1)
LOOPS(log)
LOOPS(cbrt)

__attribute__((noinline)) static void ours_pow(struct arrays *a)
{
    for (int i = 0; i < N_VALUES; i++)
        a->out[i] = storm_pow(a->x[i], a->y[i]);
}

__attribute__((noinline)) static void theirs_pow(struct arrays *a)
{
    for (int i = 0; i < N_VALUES; i++)
        a->out[i] = pow(a->x[i], a->y[i]);
}

__attribute__((noinline)) static void ours_turns(struct arrays *a)
{
    for (int i = 0; i < N_VALUES; i++)
        storm_cos_sin_turns(a->x[i], &a->out[i], &a->out2[i]);
}

__attribute__((noinline)) static void theirs_turns(struct arrays *a)
{
    const double two_pi = 6.28318530717958647693;
    for (int i = 0; i < N_VALUES; i++)
        sincos(two_pi * a->x[i], &a->out2[i], &a->out[i]);
}

struct rival {
    const char *name;
    double lo, hi; /* of the arguments */
    void (*ours)(struct arrays *);
    void (*theirs)(struct arrays *);
};

static const struct rival rivals[] = {
    {"exp", -20.0, 0.0, ours_exp, theirs_exp},
    {"expm1", -3.0, 3.0, ours_expm1, theirs_expm1},
    {"log", 0.0, 1.0, ours_log, theirs_log},
    {"cbrt", 0.0, 1e6, ours_cbrt, theirs_cbrt},
    {"cos, sin", 0.0, 1.0, ours_turns, theirs_turns},
    {"pow", 0.01, 10.0, ours_pow, theirs_pow},
};
enum { N_RIVALS = sizeof rivals / sizeof rivals[0] };

static void fill(struct arrays *a, double lo, double hi)
{
    uint64_t state = 1;
    for (int i = 0; i < N_VALUES; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        a->x[i] = lo + (hi - lo) * ((double)(state >> 12) + 0.5) * 0x1p-52;
        state = state * 6364136223846793005u + 1442695040888963407u;
        a->y[i] = -4.0 + 8.0 * (double)(state >> 12) * 0x1p-52;
    }
}

/* Others may want the core too: count only our time. */
static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double pass_ns(struct arrays *a, void (*run)(struct arrays *))
{
    double start = cpu_seconds();
    for (int i = 0; i < N_PASSES; i++)
        run(a);
    return (cpu_seconds() - start) * 1e9 / N_PASSES / N_VALUES;
}

int main(int argc, char **argv)
{
    static struct arrays a;
    printf("%-10s %8s %8s %8s\n", "ns", "ours", "C", "ratio");
    for (size_t r = 0; r < N_RIVALS; r++) {
        const struct rival *rival = &rivals[r];
        if (argc > 2 && strcmp(argv[1], rival->name) != 0)
            continue;
        fill(&a, rival->lo, rival->hi);
        double ours = INFINITY, theirs = INFINITY;
        for (int i = 0; i < N_REPEATS; i++) {
            if (argc < 3 || strcmp(argv[2], "ours") == 0)
                ours = fmin(ours, pass_ns(&a, rival->ours));
            if (argc < 3 || strcmp(argv[2], "theirs") == 0)
                theirs = fmin(theirs, pass_ns(&a, rival->theirs));
        }
        printf("%-10s %8.2f %8.2f %8.2f\n", rival->name, ours, theirs,
               theirs / ours);
    }
    return 0;
}
