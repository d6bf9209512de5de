/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random changes to the bytes of good files, for a given time; the process must
 * neither hang nor grow. Arguments of the program: the number of seconds, and
 * the seed (0: the time). After a crash the last mutant is where mutants_begin
 * said it would be.
 */
#ifndef TESTS_FUZZ_MUTANTS_H
#define TESTS_FUZZ_MUTANTS_H

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <storm/log.h>

#include "support/check.h"
#include "support/dice.h"

enum {
    MUTANTS_MAX_BYTES = 1 << 20,
    MUTANTS_HANG_S = 30,     /* for one input; sanitizers are slow */
    MUTANTS_GROWTH_MB = 4,   /* allowed after a tenth of the time */
    MUTANTS_MORE_FILES = 8,  /* than after a tenth of the time */
    MUTANTS_MEMORY_MB = 4096 /* a file may ask for more: no memory */
};

struct mutants {
    struct dice dice;
    double start_s, end_s;
    uint64_t n;
    double first_mb; /* in use after a tenth of the time; 0: not yet */
    size_t first_files;
    char dir[64], path[128];
    size_t n_bytes;
    unsigned char bytes[MUTANTS_MAX_BYTES];
};

#if defined(__SANITIZE_ADDRESS__)
enum { MUTANTS_SANITIZED = 1 };
#elif defined(__has_feature)
enum { MUTANTS_SANITIZED = __has_feature(address_sanitizer) };
#else
enum { MUTANTS_SANITIZED = 0 };
#endif

static inline double mutants_now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Memory in use, MiB; 0: unknown. */
static inline double mutants_memory_mb(void)
{
    unsigned long size, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL)
        return 0.0;
    if (fscanf(file, "%lu %lu", &size, &resident) != 2)
        resident = 0;
    fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE) / 1048576.0;
}

/* Files that are open. */
static inline size_t mutants_files(void)
{
    size_t n = 0;
    DIR *list = opendir("/proc/self/fd");
    while (list != NULL && readdir(list) != NULL)
        n++;
    if (list != NULL)
        closedir(list);
    return n;
}

static inline struct mutants *mutants_begin(int argc, char **argv,
                                            const char *name)
{
    struct mutants *m = calloc(1, sizeof *m);
    CHECK(m != NULL);
    double seconds = argc > 1 ? atof(argv[1]) : 1.0;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    if (seed == 0)
        seed = (uint64_t)time(NULL);
    m->dice = dice_make(seed, 0);
    m->start_s = mutants_now_s();
    m->end_s = m->start_s + seconds;
    snprintf(m->dir, sizeof m->dir, "%s", "/tmp/storm-fuzz-XXXXXX");
    CHECK(mkdtemp(m->dir) != NULL);
    snprintf(m->path, sizeof m->path, "%s/%s", m->dir, name);
    printf("%g s, seed %" PRIu64 ", last mutant in %s\n", seconds, seed,
           m->path);
    fflush(stdout);
    if (!MUTANTS_SANITIZED) { /* sanitizers reserve terabytes */
        struct rlimit limit = {(rlim_t)MUTANTS_MEMORY_MB << 20, RLIM_INFINITY};
        CHECK_EQ(setrlimit(RLIMIT_DATA, &limit), 0);
    }
    return m;
}

/* One more? Also the watch over time and memory. The default action of SIGALRM
 * ends a process that hangs. */
static inline bool mutants_next(struct mutants *m)
{
    double now = mutants_now_s();
    alarm(MUTANTS_HANG_S);
    m->n++;
    if (m->first_mb <= 0.0 &&
        now > m->start_s + 0.1 * (m->end_s - m->start_s)) {
        m->first_mb = mutants_memory_mb();
        m->first_files = mutants_files();
    }
    return now < m->end_s;
}

static inline void mutants_end(struct mutants *m)
{
    double memory = mutants_memory_mb();
    alarm(0);
    size_t files = mutants_files();
    printf("%" PRIu64 " inputs, memory %.1f MiB, %.1f MiB after a tenth of the "
           "time; open files %zu, %zu\n",
           m->n, memory, m->first_mb, files, m->first_files);
    CHECK(files <= m->first_files + MUTANTS_MORE_FILES);
    if (!MUTANTS_SANITIZED)
        CHECK(memory < m->first_mb + MUTANTS_GROWTH_MB);
    unlink(m->path);
    CHECK_EQ(rmdir(m->dir), 0);
    free(m);
}

/* What is logged about a mutant: not shown, but written out in full. */
static inline void mutants_on_log(void *self, storm_log_level level, int rank,
                                  const char *message)
{
    (void)self;
    (void)level;
    (void)rank;
    CHECK(strlen(message) > 0);
}

/* ---- bytes --------------------------------------------------------------- */

static inline void mutants_insert(struct mutants *m, size_t at,
                                  const void *bytes, size_t n)
{
    if (m->n_bytes + n > MUTANTS_MAX_BYTES)
        return;
    memmove(m->bytes + at + n, m->bytes + at, m->n_bytes - at);
    memmove(m->bytes + at, bytes, n);
    m->n_bytes += n;
}

/* A number that tends to be a limit of something, little end first. */
static inline void mutants_number(struct mutants *m, size_t at)
{
    static const uint64_t numbers[] = {
        0,          1,          2,           7,         0x7f,
        0xff,       0x7fff,     0xffff,      1u << 20,  0x7fffffff,
        0x80000000, 0xffffffff, 0x100000000, INT64_MAX, UINT64_MAX};
    uint64_t value =
        numbers[dice_roll(&m->dice, sizeof numbers / sizeof numbers[0])];
    size_t n = (size_t)1 << dice_roll(&m->dice, 4);
    if (dice_roll(&m->dice, 3) == 0)
        value = dice_roll(&m->dice, m->n_bytes + 1); /* an address */
    if (at + n <= m->n_bytes)
        memcpy(m->bytes + at, &value, n);
}

/* One change at a random place. */
static inline void mutants_change(struct mutants *m)
{
    unsigned char piece[256];
    size_t at = dice_roll(&m->dice, m->n_bytes + 1);
    size_t from = dice_roll(&m->dice, m->n_bytes + 1);
    size_t n = 1 + dice_roll(&m->dice, sizeof piece - 1);
    if (n > m->n_bytes - from)
        n = m->n_bytes - from;
    memcpy(piece, m->bytes + from, n);
    switch (dice_roll(&m->dice, 16)) {
    case 0: /* cut out */
        memmove(m->bytes + from, m->bytes + from + n, m->n_bytes - from - n);
        m->n_bytes -= n;
        return;
    case 1: /* insert a copy */
        mutants_insert(m, at, piece, n);
        return;
    case 2: /* copy over */
        if (n <= m->n_bytes - at)
            memcpy(m->bytes + at, piece, n);
        return;
    case 3: /* cut off the end */
        m->n_bytes = at;
        return;
    case 4:
    case 5:
    case 6:
    case 7:
        mutants_number(m, at);
        return;
    case 8:
    case 9:
    case 10:
        if (at < m->n_bytes)
            m->bytes[at] = (unsigned char)dice_roll(&m->dice, 256);
        return;
    default:
        if (at < m->n_bytes)
            m->bytes[at] ^= (unsigned char)(1u << dice_roll(&m->dice, 8));
    }
}

/* The mutant of a good file, as bytes and under `path`. */
static inline void mutants_make(struct mutants *m, const void *good, size_t n)
{
    CHECK(n <= MUTANTS_MAX_BYTES);
    memcpy(m->bytes, good, n);
    m->n_bytes = n;
    for (uint64_t k = 1 + dice_roll(&m->dice, 8); k > 0; k--)
        mutants_change(m);
    FILE *file = fopen(m->path, "wb");
    CHECK(file != NULL);
    CHECK_EQ(fwrite(m->bytes, 1, m->n_bytes, file), m->n_bytes);
    CHECK_EQ(fclose(file), 0);
}

/* A whole file; the caller frees it. */
static inline unsigned char *mutants_load(const char *path, size_t *n_out)
{
    unsigned char *bytes = malloc(MUTANTS_MAX_BYTES);
    FILE *file = fopen(path, "rb");
    CHECK(bytes != NULL && file != NULL);
    *n_out = fread(bytes, 1, MUTANTS_MAX_BYTES, file);
    CHECK(feof(file) && !ferror(file));
    fclose(file);
    return bytes;
}

#endif /* TESTS_FUZZ_MUTANTS_H */
