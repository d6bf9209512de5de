/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks for test programs. A failed check prints its place and ends the
 * program at once with status 1, so that no other rank waits for this one:
 * mpiexec ends the rest, threads end with the process.
 */
#ifndef STORM_TESTS_CHECK_H
#define STORM_TESTS_CHECK_H

#include <stdint.h>

#include <storm/status.h>

#include "base/port.h"

/* What a test program exits with. */
enum { CHECK_PASS = 0, CHECK_FAIL = 1, CHECK_SKIP = 77 };

/* Loops of a test are this much shorter under sanitizers, which see in the
 * first rounds what they see in all. */
#if defined(__SANITIZE_THREAD__)
#define CHECK_SLOWDOWN 16
#elif defined(__SANITIZE_ADDRESS__)
#define CHECK_SLOWDOWN 8
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CHECK_SLOWDOWN 16
#elif __has_feature(address_sanitizer)
#define CHECK_SLOWDOWN 8
#endif
#endif
#ifndef CHECK_SLOWDOWN
#define CHECK_SLOWDOWN 1
#endif

/* The same as a number, times STORM_TEST_SLOWDOWN of the environment: for
 * machines where every operation takes long. */
uint64_t check_slowdown(void);

#define CHECK(_x) ((_x) ? (void)0 : check_fail(__FILE__, __LINE__, #_x))

/* Two integers, printed if they differ. */
#define CHECK_EQ(_a, _b)                                            \
    check_equal(__FILE__, __LINE__, #_a " == " #_b, (uint64_t)(_a), \
                (uint64_t)(_b))

/* Two texts, printed if they differ. */
#define CHECK_TEXT(_a, _b) \
    check_text(__FILE__, __LINE__, #_a " is " #_b, (_a), (_b))

/* A status that must be STORM_OK. */
#define CHECK_OK(_status) check_ok(__FILE__, __LINE__, #_status, (_status))

/* A new folder under TMPDIR or /tmp. If a check fails it is removed, with all
 * that is in it; else the test does so. */
enum { CHECK_PATH = 128 };
void check_scratch(char path_out[CHECK_PATH]);

/* The same of a folder that another rank has made. */
void check_scratch_share(const char *path);

/* What this thread is doing, for the message of a check that fails. */
void check_where(const char *format, ...) STORM_PRINTF(1, 2);

_Noreturn void check_fail(const char *file, int line, const char *what);
void check_equal(const char *file, int line, const char *what, uint64_t a,
                 uint64_t b);
void check_text(const char *file, int line, const char *what, const char *a,
                const char *b);
void check_ok(const char *file, int line, const char *what,
              storm_status status);

#endif /* STORM_TESTS_CHECK_H */
