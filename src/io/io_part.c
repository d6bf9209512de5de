/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that are complete under their name, or are not there (FILES-1). */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <storm/io.h>

#include "io/io_files.h"

/* FILES-3 */
static void part_check(struct io_part *p, bool good)
{
    if (!good && p->error == 0)
        p->error = errno != 0 ? errno : EIO;
}

void io_part_open(struct io_part *p, const char *dir, const char *name,
                  bool is_first)
{
    *p = (struct io_part){.fd = -1};
    int n = snprintf(p->path, sizeof p->path, "%s/%s", dir, name);
    int m = snprintf(p->part, sizeof p->part, "%s/%s.part", dir, name);
    errno = ENAMETOOLONG;
    part_check(p, n < (int)sizeof p->path && m < (int)sizeof p->part);
    if (p->error != 0) {
        p->part[0] = '\0';
        return;
    }
    /* Without O_CREAT another node might not know the name yet. */
    p->fd =
        open(p->part, O_WRONLY | O_CREAT | O_CLOEXEC | (is_first ? O_TRUNC : 0),
             0666);
    part_check(p, p->fd >= 0);
}

void io_part_write(struct io_part *p, const void *bytes, size_t n,
                   uint64_t offset)
{
    const char *at = bytes;
    while (n > 0 && p->error == 0) {
        ssize_t done = pwrite(p->fd, at, n, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done == 0)
            errno = EIO;
        part_check(p, done > 0);
        if (done <= 0)
            return;
        at += done;
        n -= (size_t)done;
        offset += (uint64_t)done;
    }
}

void io_part_close(struct io_part *p)
{
    if (p->fd < 0)
        return;
    if (p->error == 0)
        part_check(p, fsync(p->fd) == 0);
    part_check(p, close(p->fd) == 0);
    p->fd = -1;
}

/* The name of a new file is on the disk once its directory is. Some file
 * systems cannot sync directories and say EINVAL. */
bool io_sync_directory(const char *path)
{
    char dir[IO_PATH_BYTES];
    const char *slash = strrchr(path, '/');
    snprintf(dir, sizeof dir, "%.*s",
             slash == NULL || slash == path ? 1 : (int)(slash - path),
             slash == NULL ? "." : path);
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool good = fsync(fd) == 0 || errno == EINVAL;
    int error = errno;
    close(fd);
    errno = error;
    return good;
}

void io_part_commit(struct io_part *p)
{
    if (p->error == 0)
        part_check(p, rename(p->part, p->path) == 0);
    if (p->error == 0)
        part_check(p, io_sync_directory(p->path));
    if (p->error != 0 && p->part[0] != '\0')
        unlink(p->part); /* FILES-2 */
}

void io_files_problem(const char *path, int error, char *text_out, size_t bytes)
{
    const char *advice = "";
    if (error == ENOSPC || error == EDQUOT)
        advice = "; make room there, or write to another place";
    else if (error == EIO || error == EBADMSG)
        advice = "; the disk or the file system failed: write to another place";
    snprintf(text_out, bytes, "cannot write %s: %s%s", path,
             error == EBADMSG ? "it does not read back as it was written"
                              : strerror(error),
             advice);
}

/* ---- whole texts --------------------------------------------------------- */

/* Devices and pipes cannot be renamed. */
static int part_in_place(const char *path, const char *text, bool ends)
{
    errno = 0;
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return errno;
    bool good = fputs(text, file) >= 0 && (ends || fputc('\n', file) != EOF);
    int error = errno;
    if (fclose(file) != 0 && good)
        return errno;
    return good ? 0 : error != 0 ? error : EIO;
}

static int part_renamed(const char *path, const char *text, bool ends)
{
    struct io_part p;
    char dir[IO_PATH_BYTES];
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    snprintf(dir, sizeof dir, "%.*s", slash != NULL ? (int)(name - path) : 1,
             slash != NULL ? path : ".");
    io_part_open(&p, dir, name, true);
    io_part_write(&p, text, strlen(text), 0);
    if (!ends)
        io_part_write(&p, "\n", 1, strlen(text));
    io_part_close(&p);
    io_part_commit(&p);
    return p.error;
}

storm_status storm_file_write(const char *path, const char *text, char *problem,
                              size_t problem_size)
{
    char target[PATH_MAX]; /* of a link */
    struct stat info;
    size_t n = strlen(text);
    bool ends = n > 0 && text[n - 1] == '\n';
    const char *place = realpath(path, target) != NULL ? target : path;
    bool is_device = stat(place, &info) == 0 && !S_ISREG(info.st_mode);
    int error = strlen(place) >= IO_PATH_BYTES ? ENAMETOOLONG
                : is_device ? part_in_place(place, text, ends)
                            : part_renamed(place, text, ends);
    if (problem != NULL && problem_size > 0)
        problem[0] = '\0';
    if (error == 0)
        return STORM_OK;
    if (problem != NULL)
        io_files_problem(path, error, problem, problem_size);
    return STORM_ERR_IO;
}
