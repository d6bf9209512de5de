/* SPDX-License-Identifier: BSD-3-Clause */
/* Points from files of all formats. */
#include "io/io_points.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <storm/context.h>
#include <storm/io.h>

static const char points_label[] = "points";

/* The last accepts every file. */
static const struct io_points_format *const points_formats[] = {
    &io_points_hdf5, &io_points_text};

storm_status io_points_reserve(struct io_points_share *share, size_t n)
{
    void *array = share->points;
    storm_status status =
        storm_reserve(share->env->memory, points_label,
                      3 * sizeof *share->points, n, &array, &share->capacity);
    if (status >= 0)
        share->points = array;
    return status;
}

/* The format of the file. STORM_ERR_IO (logged). */
static storm_status points_choose(const struct io_points_share *share,
                                  const struct io_points_format **format_out)
{
    unsigned char head[IO_POINTS_HEAD];
    FILE *file = fopen(share->path, "rb");
    if (file == NULL) {
        if (share->env->rank == 0)
            storm_log_write(&share->env->log, STORM_LOG_ERROR, "%s: %s",
                            share->path, strerror(errno));
        return STORM_ERR_IO;
    }
    size_t n = fread(head, 1, sizeof head, file);
    fclose(file);
    size_t i = 0;
    while (!points_formats[i]->begins(head, n))
        i++;
    *format_out = points_formats[i];
    return STORM_OK;
}

storm_status io_points_check(const struct storm_env *env, const char *path)
{
    const struct io_points_format *format = NULL;
    struct io_points_share share = {.env = env, .path = path};
    storm_status status = points_choose(&share, &format);
    if (status == STORM_OK)
        status = format->check(&share);
    if (status == STORM_OK)
        status = format->read(&share);
    if (status == STORM_OK && share.n == 0) {
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "%s: has no points; expected one a line", path);
        status = STORM_ERR_IO;
    }
    storm_free(env->memory, share.points);
    return status;
}

storm_status storm_points_read(struct storm_context *context, const char *path,
                               double **points_out, uint64_t *n_out)
{
    const struct storm_env *env = storm_context_env(context);
    const struct io_points_format *format = NULL;
    struct io_points_share share = {.env = env, .path = path};
    int worst = points_choose(&share, &format);
    if (worst == STORM_OK && env->rank == 0)
        worst = format->check(&share);
    storm_status status =
        storm_context_reduce(context, &worst, 1, MPI_INT, MPI_MIN);
    if (status < 0 || worst < 0)
        return status < 0 ? status : (storm_status)worst;
    status = storm_context_agree(context, format->read(&share));
    if (status < 0) {
        storm_free(env->memory, share.points);
        return status;
    }
    *points_out = share.points;
    *n_out = share.n;
    return STORM_OK;
}

void storm_points_free(struct storm_context *context, double *points)
{
    storm_free(storm_context_env(context)->memory, points);
}
