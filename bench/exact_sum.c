/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an exact sum costs: nanoseconds per term added to a random cell.
 *
 *   cc -std=c11 -D_GNU_SOURCE -O2 -ffp-contract=off -Iinclude -Isrc
 *      bench/exact_sum.c src/base/base_exact.c src/base/base_hash.c -lm
 *
 * "alone" is a loop of nothing but additions. "with work" moves a packet
 * through a cell of ten planes before each, some 20 ns as in tracking, with the
 * tally fetched ahead, and shows the whole; its first line is the work without
 * a tally. Processor time, best and median of the repeats. The forms called
 * exact all give the same bits, which is checked.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/exact.h"
#include "base/hash.h"

enum {
    N_TERMS = 1 << 16,
    N_VISITS = 1 << 20, /* cells visited in turn */
    N_AHEAD = 4,        /* packets in flight: tallies fetched ahead */
    N_REPEATS = 25,
    N_PLANES = 10,
    N_DIRECTIONS = 256,
    N_CHUNKS = 67, /* all doubles */
    N_FEW_CHUNKS = 5,
    FEW_CHUNKS_LSB = -160 /* 160 bits downwards from 1 */
};

struct problem {
    size_t n_cells;
    struct storm_exact_unit unit;
    uint32_t *visits;
    double *terms;
    double planes[N_PLANES][4];
    double directions[N_DIRECTIONS][3];
};

/* ---- what is compared ------------------------------------------------------
 * Each adds one term to cell i of `cells`. */

typedef void (*add_fn)(void *cells, size_t i, double term,
                       struct storm_exact_unit unit);

static inline void add_nothing(void *cells, size_t i, double term,
                               struct storm_exact_unit unit)
{
    (void)i, (void)unit;
    *(double *)cells += term;
}

static inline void add_double(void *cells, size_t i, double term,
                              struct storm_exact_unit unit)
{
    (void)unit;
    ((double *)cells)[i] += term;
}

static inline void add_exact(void *cells, size_t i, double term,
                             struct storm_exact_unit unit)
{
    storm_exact_add((storm_exact *)cells + i, term, unit);
}

/* The obvious form: shift a 128-bit mantissa, then negate. */
static inline void add_exact_shift(void *cells, size_t i, double term,
                                   struct storm_exact_unit unit)
{
    uint64_t bits;
    memcpy(&bits, &term, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff);
    uint64_t mantissa = bits & 0xfffffffffffffu;
    mantissa |= (uint64_t)(exponent != 0) << 52;
    exponent += exponent == 0;
    int shift = exponent - 1075 - unit.lsb;
    storm_exact wide = (storm_exact)mantissa;
    if (STORM_LIKELY(shift >= 0))
        wide = wide * ((storm_exact)1 << shift);
    else
        wide = shift > -64 ? wide >> -shift : 0;
    ((storm_exact *)cells)[i] += bits >> 63 ? -wide : wide;
}

/* No branch at all: the mantissa at the top of 128 bits, shifted down. */
static inline void add_exact_branchless(void *cells, size_t i, double term,
                                        struct storm_exact_unit unit)
{
    uint64_t bits;
    memcpy(&bits, &term, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff);
    uint64_t mantissa = (bits << 11 & INT64_MAX);
    mantissa |= (uint64_t)(exponent != 0) << 63;
    exponent += exponent == 0;
    int down = 75 - (exponent - 1075 - unit.lsb);
    down = down < 127 ? down : 127;
    uint64_t hi = down < 64 ? mantissa >> down : 0;
    uint64_t lo =
        down < 64 ? mantissa << ((64 - down) & 63) : mantissa >> (down & 63);
    storm_exact wide = (storm_exact)hi * ((storm_exact)1 << 64) + lo;
    storm_exact sign = -(storm_exact)(bits >> 63);
    ((storm_exact *)cells)[i] += (wide ^ sign) - sign;
}

/* By the floating-point unit: two conversions. Needs 2^-(lsb + 40) to be a
 * double, so it would not do for bounds below 1e-270. */
static inline void add_exact_convert(void *cells, size_t i, double term,
                                     struct storm_exact_unit unit)
{
    uint64_t bits = (uint64_t)(1023 - 40 - unit.lsb) << 52;
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    double high = term * scale;
    int64_t hi = (int64_t)high;
    int64_t lo = (int64_t)((high - (double)hi) * 0x1p40);
    ((storm_exact *)cells)[i] += (storm_exact)hi * (INT64_C(1) << 40) + lo;
}

/* Neal's small superaccumulator: a 64-bit chunk every 32 bits. A term changes
 * two or three; the carries are done every 2^10 terms or so, not counted
 * here. */
static inline void add_chunks(int64_t *chunk, double term, int lsb)
{
    uint64_t bits;
    memcpy(&bits, &term, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff);
    int64_t mantissa = (int64_t)(bits & 0xfffffffffffffu);
    mantissa |= (int64_t)(exponent != 0) << 52;
    exponent += exponent == 0;
    unsigned at = (unsigned)(exponent - 1075 - lsb);
    int64_t sign = -(int64_t)(bits >> 63);
    uint64_t low = (uint64_t)mantissa << (at % 32);
    int64_t high = mantissa >> 32 >> (32 - at % 32);
    chunk += at / 32;
    chunk[0] += ((int64_t)(low & UINT32_MAX) ^ sign) - sign;
    chunk[1] += ((int64_t)(low >> 32) ^ sign) - sign;
    chunk[2] += (high ^ sign) - sign;
}

static inline void add_neal(void *cells, size_t i, double term,
                            struct storm_exact_unit unit)
{
    (void)unit;
    add_chunks((int64_t *)cells + N_CHUNKS * i, term, -1074);
}

static inline void add_neal_few(void *cells, size_t i, double term,
                                struct storm_exact_unit unit)
{
    (void)unit;
    add_chunks((int64_t *)cells + N_FEW_CHUNKS * i, term, FEW_CHUNKS_LSB + 32);
}

/* ---- loops, inlined into each case ---------------------------------------*/

#define INLINE static inline __attribute__((always_inline))

INLINE void loop_alone(const struct problem *p, void *cells, add_fn add)
{
    for (size_t i = 0; i < N_VISITS; i++)
        add(cells, p->visits[i], p->terms[i % N_TERMS], p->unit);
}

INLINE void loop_with_work(const struct problem *p, void *cells, add_fn add,
                           size_t cell_bytes)
{
    double x[3] = {0, 0, 0};
    const double *v = p->directions[0];
    for (size_t i = 0; i < N_VISITS; i++) {
        STORM_PREFETCH_WRITE((char *)cells +
                             cell_bytes * p->visits[i + N_AHEAD]);
        double path = 10.0;
        size_t face = 0;
        for (size_t k = 0; k < N_PLANES; k++) {
            const double *n = p->planes[k];
            double speed = n[0] * v[0] + n[1] * v[1] + n[2] * v[2];
            double gap = n[3] - (n[0] * x[0] + n[1] * x[1] + n[2] * x[2]);
            double d = gap / speed;
            if (speed > 0.0 && d < path) {
                path = d;
                face = k;
            }
        }
        for (int k = 0; k < 3; k++)
            x[k] = 0.5 * (x[k] + path * v[k]);
        v = p->directions[(i * N_PLANES + face) % N_DIRECTIONS];
        add(cells, p->visits[i], path * 0.1 * p->terms[i % N_TERMS], p->unit);
    }
}

/* Two functions per rival: the compiler must see which add it is. */
#define LOOPS(_add, _cell_bytes)                               \
    __attribute__((noinline)) static void                      \
        alone_##_add(const struct problem *p, void *cells)     \
    {                                                          \
        loop_alone(p, cells, add_##_add);                      \
    }                                                          \
    __attribute__((noinline)) static void                      \
        with_work_##_add(const struct problem *p, void *cells) \
    {                                                          \
        loop_with_work(p, cells, add_##_add, _cell_bytes);     \
    }

enum {
    DOUBLE_BYTES = sizeof(double),
    EXACT_BYTES = sizeof(storm_exact),
    FEW_BYTES = N_FEW_CHUNKS * sizeof(int64_t),
    NEAL_BYTES = N_CHUNKS * sizeof(int64_t)
};

LOOPS(nothing, 0)
LOOPS(double, DOUBLE_BYTES)
LOOPS(exact, EXACT_BYTES)
LOOPS(exact_shift, EXACT_BYTES)
LOOPS(exact_branchless, EXACT_BYTES)
LOOPS(exact_convert, EXACT_BYTES)
LOOPS(neal_few, FEW_BYTES)
LOOPS(neal, NEAL_BYTES)

struct rival {
    const char *name;
    size_t cell_bytes;
    bool exact_form; /* must agree with storm_exact_add */
    void (*alone)(const struct problem *, void *);
    void (*with_work)(const struct problem *, void *);
};

static const struct rival rivals[] = {
    {"no tally", DOUBLE_BYTES, false, alone_nothing, with_work_nothing},
    {"double", DOUBLE_BYTES, false, alone_double, with_work_double},
    {"storm_exact_add", EXACT_BYTES, true, alone_exact, with_work_exact},
    {"exact, shift and negate", EXACT_BYTES, true, alone_exact_shift,
     with_work_exact_shift},
    {"exact, no branch", EXACT_BYTES, true, alone_exact_branchless,
     with_work_exact_branchless},
    {"exact, conversions", EXACT_BYTES, true, alone_exact_convert,
     with_work_exact_convert},
    {"superaccumulator, 5 chunks", FEW_BYTES, false, alone_neal_few,
     with_work_neal_few},
    {"superaccumulator, 67 chunks", NEAL_BYTES, false, alone_neal,
     with_work_neal},
};
enum { N_RIVALS = sizeof rivals / sizeof rivals[0] };

/* ---- measurement ---------------------------------------------------------*/

static double uniform(uint64_t i)
{
    return ((double)(storm_hash_word(i) >> 12) + 0.5) * 0x1p-52;
}

static void random_direction(uint64_t i, double d[3])
{
    double z = 2.0 * uniform(2 * i) - 1.0,
           phi = 6.28318530718 * uniform(2 * i + 1);
    double r = sqrt(1.0 - z * z);
    d[0] = r * cos(phi), d[1] = r * sin(phi), d[2] = z;
}

/* Terms up to 1, most of them within a factor of a thousand of it. */
static void problem_fill(struct problem *p, size_t n_cells)
{
    p->n_cells = n_cells;
    p->unit = storm_exact_unit(1.0);
    for (uint64_t i = 0; i < N_VISITS + N_AHEAD; i++)
        p->visits[i] = (uint32_t)(uniform(i + 77) * (double)n_cells);
    for (uint64_t i = 0; i < N_TERMS; i++)
        p->terms[i] = uniform(i) * pow(1e-3, uniform(i + N_TERMS));
    for (uint64_t i = 0; i < N_PLANES; i++) {
        random_direction(i, p->planes[i]);
        p->planes[i][3] = 1.0;
    }
    for (uint64_t i = 0; i < N_DIRECTIONS; i++)
        random_direction(1000 + i, p->directions[i]);
}

/* Others may want the core too: count only our time. */
static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static uint64_t measure(const struct problem *p, const struct rival *rival,
                        void (*run)(const struct problem *, void *),
                        double ns_out[2])
{
    size_t bytes = p->n_cells * rival->cell_bytes;
    void *cells = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (cells == NULL) {
        fprintf(stderr, "exact_sum: no memory\n");
        exit(1);
    }
    memset(cells, 0, bytes);
    double ns[N_REPEATS];
    run(p, cells); /* warms up */
    for (int i = 0; i < N_REPEATS; i++) {
        double start = cpu_seconds();
        run(p, cells);
        ns[i] = (cpu_seconds() - start) * 1e9 / N_VISITS;
    }
    qsort(ns, N_REPEATS, sizeof ns[0], compare);
    ns_out[0] = ns[0];
    ns_out[1] = ns[N_REPEATS / 2];
    uint64_t hash = 0;
    for (size_t i = 0; i < bytes / 8; i++)
        hash = storm_hash_fold(hash, ((const uint64_t *)cells)[i]);
    free(cells);
    return hash;
}

int main(void)
{
    static const size_t cell_counts[] = {20000, 1000000};
    struct problem p = {0};
    p.visits = malloc((N_VISITS + N_AHEAD) * sizeof *p.visits);
    p.terms = malloc(N_TERMS * sizeof *p.terms);
    if (p.visits == NULL || p.terms == NULL)
        return 1;
    int bad = 0;
    printf("%-28s %8s %8s   %-13s   %-13s\n", "ns per term", "cells", "B/cell",
           "alone", "with work");
    for (int c = 0; c < 2; c++) {
        problem_fill(&p, cell_counts[c]);
        uint64_t expected[2] = {0, 0};
        for (size_t r = 0; r < N_RIVALS; r++) {
            const struct rival *rival = &rivals[r];
            double alone[2], work[2];
            uint64_t hash[2] = {measure(&p, rival, rival->alone, alone),
                                measure(&p, rival, rival->with_work, work)};
            printf("%-28s %8zu %8zu   %6.2f %6.2f   %6.2f %6.2f\n", rival->name,
                   p.n_cells, rival->cell_bytes, alone[0], alone[1], work[0],
                   work[1]);
            if (!rival->exact_form)
                continue;
            for (int i = 0; i < 2; i++) {
                expected[i] = expected[i] == 0 ? hash[i] : expected[i];
                bad |= hash[i] != expected[i];
            }
        }
    }
    if (bad)
        printf("the exact forms do not agree\n");
    free(p.visits);
    free(p.terms);
    return bad;
}
