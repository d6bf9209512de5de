/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/check.h"

#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Thread_local char where[160];

void check_where(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(where, sizeof where, format, args);
    va_end(args);
}

/* The folder to remove; empty: none. */
static char scratch[CHECK_PATH];

void check_scratch_share(const char *path)
{
    snprintf(scratch, sizeof scratch, "%s", path);
}

void check_scratch(char path_out[CHECK_PATH])
{
    const char *under = getenv("TMPDIR");
    snprintf(path_out, CHECK_PATH, "%s/storm-test-XXXXXX",
             under != NULL && *under != '\0' ? under : "/tmp");
    CHECK(mkdtemp(path_out) != NULL);
    check_scratch_share(path_out);
}

static int remove_one(const char *path, const struct stat *info, int kind,
                      struct FTW *place)
{
    (void)info, (void)kind, (void)place;
    return remove(path) != 0; /* whoever fails at the same time helps */
}

_Noreturn void check_fail(const char *file, int line, const char *what)
{
    /* One write, so that lines of several ranks do not mix. */
    dprintf(STDERR_FILENO, "%s:%d: check failed: %s%s%s\n", file, line, what,
            where[0] ? "; " : "", where);
    if (scratch[0] != '\0')
        (void)nftw(scratch, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    _exit(CHECK_FAIL);
}

void check_equal(const char *file, int line, const char *what, uint64_t a,
                 uint64_t b)
{
    if (a == b)
        return;
    char text[512];
    snprintf(text, sizeof text, "%s: %lld and %lld (%#llx, %#llx)", what,
             (long long)a, (long long)b, (unsigned long long)a,
             (unsigned long long)b);
    check_fail(file, line, text);
}

void check_text(const char *file, int line, const char *what, const char *a,
                const char *b)
{
    if (strcmp(a, b) == 0)
        return;
    char text[1024];
    snprintf(text, sizeof text, "%s: \"%.400s\" and \"%.400s\"", what, a, b);
    check_fail(file, line, text);
}

void check_ok(const char *file, int line, const char *what, storm_status status)
{
    if (status == STORM_OK)
        return;
    char text[512];
    snprintf(text, sizeof text, "%s: status %d", what, (int)status);
    check_fail(file, line, text);
}

uint64_t check_slowdown(void)
{
    const char *text = getenv("STORM_TEST_SLOWDOWN");
    uint64_t factor = text ? strtoull(text, NULL, 0) : 1;
    return CHECK_SLOWDOWN * (factor > 0 ? factor : 1);
}
