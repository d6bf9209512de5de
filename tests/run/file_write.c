/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/*
 * FILES-1 to FILES-3 for texts: a file is there with all of its text or as it
 * was before, nothing else is left, and the reason is reported; it is synced,
 * renamed and the directory synced, in this order. A limit on the size of files
 * makes a write fail half-way.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <storm/io.h>

#include "support/check.h"

/* The calls of the library, in order: s(ync of a file), r(ename), d(irectory
 * synced). They replace those of the C library. */
static char calls[64];

static void note(char call)
{
    size_t n = strlen(calls);
    if (n + 1 < sizeof calls)
        calls[n] = call;
}

int fsync(int fd)
{
    struct stat info;
    CHECK(fstat(fd, &info) == 0);
    note(S_ISDIR(info.st_mode) ? 'd' : 's');
    return fdatasync(fd);
}

int rename(const char *from, const char *to)
{
    note('r');
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

static void check_content(const char *path, const char *right)
{
    char text[256] = "";
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    CHECK_EQ(n, strlen(right));
    CHECK(strcmp(text, right) == 0);
}

static void limit(rlim_t bytes)
{
    struct rlimit now;
    CHECK(getrlimit(RLIMIT_FSIZE, &now) == 0);
    now.rlim_cur = bytes;
    CHECK(setrlimit(RLIMIT_FSIZE, &now) == 0);
}

static void check_failed(void)
{
    char problem[256];
    static char text[10000];
    memset(text, 'x', sizeof text - 1);
    limit(5000);
    CHECK_EQ(storm_file_write("a", text, problem, sizeof problem),
             STORM_ERR_IO);
    limit(RLIM_INFINITY);
    CHECK(strcmp(problem, "cannot write a: File too large") == 0);
    check_content("a", "second\n");
    CHECK(access("a.part", F_OK) != 0);
    CHECK_EQ(storm_file_write("no/a", text, problem, sizeof problem),
             STORM_ERR_IO);
    CHECK(strncmp(problem, "cannot write no/a: No such file", 31) == 0);
    CHECK_EQ(storm_file_write("/dev/full", text, problem, sizeof problem),
             STORM_ERR_IO);
    CHECK(strstr(problem, "No space left on device; make room") != NULL);
}

static void check_links(void)
{
    struct stat info;
    CHECK(symlink("a", "link") == 0);
    CHECK_OK(storm_file_write("link", "by link", NULL, 0));
    check_content("a", "by link\n");
    CHECK(lstat("link", &info) == 0 && S_ISLNK(info.st_mode));
    CHECK_OK(storm_file_write("/dev/null", "nothing", NULL, 0));
    CHECK(lstat("/dev/null", &info) == 0 && S_ISCHR(info.st_mode));
}

int main(void)
{
    char dir[CHECK_PATH];
    check_scratch(dir);
    CHECK(chdir(dir) == 0);
    signal(SIGXFSZ, SIG_IGN);
    CHECK_OK(storm_file_write("a", "first", NULL, 0));
    check_content("a", "first\n");
    CHECK_TEXT(calls, "srd");
    CHECK_OK(storm_file_write("./a", "second\n", NULL, 0));
    check_content("a", "second\n");
    check_failed();
    check_links();
    CHECK(unlink("a") == 0 && unlink("link") == 0);
    CHECK(chdir("/") == 0 && rmdir(dir) == 0); /* nothing else is left */
    puts("texts are complete or not there");
    return 0;
}
