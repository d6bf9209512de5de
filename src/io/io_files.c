/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <storm/context.h>
#include <storm/io.h>

/* A directory that is new is on the disk once the one that holds it is. */
static bool files_make(const char *path)
{
    return mkdir(path, 0777) == 0 ? io_sync_directory(path) : errno == EEXIST;
}

/* 0, or the errno of the first that cannot be made: then `part` ends there. */
static int files_make_all(char part[IO_PATH_BYTES])
{
    struct stat info;
    for (char *slash = part + 1; (slash = strchr(slash, '/')) != NULL;
         slash++) {
        *slash = '\0';
        if (!files_make(part))
            return errno;
        *slash = '/';
    }
    if (!files_make(part))
        return errno;
    return stat(part, &info) == 0 && S_ISDIR(info.st_mode) ? 0 : ENOTDIR;
}

storm_status storm_directory_make(const char *path, char *problem,
                                  size_t problem_size)
{
    char part[IO_PATH_BYTES];
    bool fits = snprintf(part, sizeof part, "%s", path) < (int)sizeof part &&
                path[0] != '\0';
    int error = fits ? files_make_all(part) : ENAMETOOLONG;
    if (problem != NULL && problem_size > 0)
        problem[0] = '\0';
    if (error == 0)
        return STORM_OK;
    if (problem != NULL)
        io_files_problem(fits ? part : path, error, problem, problem_size);
    return STORM_ERR_IO;
}

storm_status io_make_directory(const struct storm_context *context,
                               const char *path)
{
    char problem[IO_PATH_BYTES + 256];
    storm_status status = storm_directory_make(path, problem, sizeof problem);
    if (status < 0)
        storm_context_log(context, STORM_LOG_ERROR, "%s", problem);
    return status;
}

bool io_remove_file(const struct storm_context *context, const char *path)
{
    if (unlink(path) == 0)
        return true;
    storm_context_log(context, STORM_LOG_WARN, "cannot remove %s: %s", path,
                      strerror(errno));
    return false;
}

storm_status io_write_text_at(const struct storm_context *context,
                              const char *dir, const char *name,
                              const char *text, storm_log_level level)
{
    char path[IO_PATH_BYTES], problem[IO_PATH_BYTES + 256];
    storm_status status = STORM_ERR_IO;
    if (snprintf(path, sizeof path, "%s/%s", dir, name) < (int)sizeof path)
        status = storm_file_write(path, text, problem, sizeof problem);
    else
        io_files_problem(dir, ENAMETOOLONG, problem, sizeof problem);
    if (status < 0)
        storm_context_log(context, level, "%s", problem);
    return status;
}

storm_status io_write_text(const struct storm_context *context, const char *dir,
                           const char *name, const char *text)
{
    return io_write_text_at(context, dir, name, text, STORM_LOG_ERROR);
}

bool io_same_directory(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}
