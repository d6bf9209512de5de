/* SPDX-License-Identifier: BSD-3-Clause */
/* Points from text: three numbers a line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/io_points.h"

static bool text_begins(const unsigned char head[IO_POINTS_HEAD], size_t n)
{
    (void)head;
    (void)n;
    return true; /* if it is not text, parsing its lines fails */
}

/* Three numbers, separated by commas or blanks. False: something else. */
static bool text_parse(const char *line, double x_out[3])
{
    const char *at = line;
    for (int d = 0; d < 3; d++) {
        char *end;
        x_out[d] = strtod(at, &end);
        if (end == at)
            return false;
        at = end + strspn(end, " \t");
        if (d < 2 && *at == ',')
            at++;
    }
    at += strspn(at, " \t\r\n");
    return *at == '\0';
}

static storm_status text_line(struct io_points_share *share, const char *line,
                              long offset)
{
    double x[3];
    const char *text = line + strspn(line, " \t\r\n");
    if (*text == '\0' || *text == '#')
        return STORM_OK;
    if (!text_parse(text, x)) {
        if (offset == 0)
            return STORM_OK; /* names of the columns */
        int n = (int)strcspn(text, "\r\n");
        storm_log_write(&share->env->log, STORM_LOG_ERROR,
                        "%s, byte %ld: expected three numbers, not `%.*s`",
                        share->path, offset, n < 40 ? n : 40, text);
        return STORM_ERR_IO;
    }
    storm_status status = io_points_reserve(share, share->n + 1);
    if (status < 0)
        return status;
    memcpy(share->points + 3 * share->n++, x, sizeof x);
    return STORM_OK;
}

static storm_status text_fail(const struct io_points_share *share)
{
    storm_log_write(&share->env->log, STORM_LOG_ERROR, "%s: %s", share->path,
                    strerror(errno));
    return STORM_ERR_IO;
}

/* The lines that begin in a part of the file. */
static storm_status text_lines(struct io_points_share *share, FILE *file,
                               long begin, long end)
{
    enum { MAX_BYTES = 512 };
    char line[MAX_BYTES];
    if (begin > 0) { /* the rest of a line that the rank before reads */
        if (fseek(file, begin - 1, SEEK_SET) != 0)
            return text_fail(share);
        for (int c = fgetc(file); c != EOF && c != '\n';)
            c = fgetc(file);
    }
    for (long at = ftell(file); at >= 0 && at < end; at = ftell(file)) {
        if (fgets(line, sizeof line, file) == NULL)
            break;
        if (strlen(line) + 1 == sizeof line && line[MAX_BYTES - 2] != '\n') {
            storm_log_write(&share->env->log, STORM_LOG_ERROR,
                            "%s, byte %ld: expected a line of at most %d bytes",
                            share->path, at, MAX_BYTES - 2);
            return STORM_ERR_IO;
        }
        storm_status status = text_line(share, line, at);
        if (status < 0)
            return status;
    }
    return ferror(file) ? text_fail(share) : STORM_OK;
}

/* First byte of a rank's part. */
static long text_begin(long size, int rank, int n_ranks)
{
    return rank < n_ranks ? (long)((double)size * rank / n_ranks) : size;
}

static storm_status text_read(struct io_points_share *share)
{
    const struct storm_env *env = share->env;
    FILE *file = fopen(share->path, "r");
    long size = -1;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    storm_status status = STORM_OK;
    if (size >= 0) {
        rewind(file);
        status = text_lines(share, file, text_begin(size, env->rank, env->size),
                            text_begin(size, env->rank + 1, env->size));
    } else {
        status = text_fail(share);
    }
    if (file != NULL)
        fclose(file);
    return status;
}

static storm_status text_check(const struct io_points_share *share)
{
    (void)share;
    return STORM_OK;
}

const struct io_points_format io_points_text = {
    .name = "text",
    .begins = text_begins,
    .check = text_check,
    .read = text_read,
};
