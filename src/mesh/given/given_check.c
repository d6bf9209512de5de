/* SPDX-License-Identifier: BSD-3-Clause */
/* Is what a host gives a mesh? */
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <storm/context.h>

#include "mesh/given/given_mesh.h"

/* Max relative error of what a host computes. */
static const double check_error = 1e-6;

storm_status given_refuse(const struct storm_env *env, storm_cell_id tag,
                          const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    storm_log_write(&env->log, STORM_LOG_ERROR, "given mesh: cell %llu: %s",
                    (unsigned long long)tag, text);
    return STORM_ERR_ARG;
}

/* ---- the arrays --------------------------------------------------------- */

static storm_status check_arrays(const struct storm_env *env,
                                 const struct storm_given_params *p)
{
    const struct {
        const char *name;
        const void *array;
    } arrays[] = {
        {"points_cm", p->points_cm},       {"volumes_cm3", p->volumes_cm3},
        {"centroids_cm", p->centroids_cm}, {"first_face", p->first_face},
        {"normals", p->normals},           {"on_planes_cm", p->on_planes_cm},
        {"areas_cm2", p->areas_cm2},       {"ranks", p->ranks},
        {"neighbours", p->neighbours}};
    for (size_t i = 0; p->n_cells > 0 && i < sizeof arrays / sizeof arrays[0];
         i++)
        if (arrays[i].array == NULL) {
            storm_log_write(&env->log, STORM_LOG_ERROR,
                            "given mesh: %s is NULL, but there are %llu cells",
                            arrays[i].name, (unsigned long long)p->n_cells);
            return STORM_ERR_ARG;
        }
    if (p->n_cells <= INT32_MAX && p->n_boundaries >= 1 &&
        p->n_boundaries <= INT32_MAX)
        return STORM_OK;
    storm_log_write(&env->log, STORM_LOG_ERROR,
                    "given mesh: %llu cells and %llu boundaries, expected 1 or "
                    "more boundaries and at most %d of each",
                    (unsigned long long)p->n_cells,
                    (unsigned long long)p->n_boundaries, INT32_MAX);
    return STORM_ERR_ARG;
}

static bool check_vector(const double *x)
{
    /* Squares and cubes of lengths stay in the range of doubles. */
    return fabs(x[0]) < 0x1p200 && fabs(x[1]) < 0x1p200 && fabs(x[2]) < 0x1p200;
}

static storm_status check_face(const struct storm_env *env,
                               const struct storm_given_params *p, uint64_t f,
                               storm_cell_id tag, unsigned number)
{
    const double *n = &p->normals[3 * f];
    double norm2 = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
    if (!check_vector(n) || !check_vector(&p->on_planes_cm[3 * f]) ||
        !(norm2 > 0x1p-400) || !(p->areas_cm2[f] > 0.0) ||
        !(p->areas_cm2[f] < 0x1p400))
        return given_refuse(env, tag,
                            "face %u: expected a normal, a point and an area "
                            "above 0, got (%g, %g, %g), (%g, %g, %g) and %g",
                            number, n[0], n[1], n[2], p->on_planes_cm[3 * f],
                            p->on_planes_cm[3 * f + 1],
                            p->on_planes_cm[3 * f + 2], p->areas_cm2[f]);
    if (p->ranks[f] < -1 || p->ranks[f] >= env->size)
        return given_refuse(env, tag, "face %u leads to rank %d of %d", number,
                            p->ranks[f], env->size);
    uint64_t max = p->ranks[f] < 0            ? p->n_boundaries
                   : p->ranks[f] == env->rank ? p->n_cells
                                              : INT32_MAX;
    if (p->neighbours[f] < 0 || (uint64_t)p->neighbours[f] >= max)
        return given_refuse(env, tag, "face %u leads to %s %d of %llu", number,
                            p->ranks[f] < 0 ? "boundary" : "cell",
                            (int)p->neighbours[f], (unsigned long long)max);
    return STORM_OK;
}

static storm_status check_cell(const struct storm_env *env,
                               const struct storm_given_params *p, uint64_t i)
{
    storm_cell_id tag = p->tags != NULL ? p->tags[i] : i;
    if (tag >= UINT64_C(1) << 48)
        return given_refuse(env, tag, "tags are below 2^48");
    if (!check_vector(&p->points_cm[3 * i]) ||
        !check_vector(&p->centroids_cm[3 * i]) || !(p->volumes_cm3[i] > 0.0) ||
        !(p->volumes_cm3[i] < 0x1p600) ||
        (p->radii_cm != NULL &&
         !(p->radii_cm[i] > 0.0 && p->radii_cm[i] < 0x1p120)))
        return given_refuse(env, tag,
                            "expected a point, a centroid, a volume and a "
                            "radius above 0, got volume %g",
                            p->volumes_cm3[i]);
    if (p->numbers != NULL && p->numbers[i] > UINT16_MAX)
        return given_refuse(env, tag, "its number is %llu: expected at most %d",
                            (unsigned long long)p->numbers[i], UINT16_MAX);
    if (p->first_face[i + 1] < p->first_face[i] ||
        p->first_face[i + 1] - p->first_face[i] < 4 ||
        p->first_face[i + 1] - p->first_face[i] > GIVEN_MAX_FACES)
        return given_refuse(env, tag,
                            "faces %llu to %llu (not included): expected 4 to "
                            "%d",
                            (unsigned long long)p->first_face[i],
                            (unsigned long long)p->first_face[i + 1],
                            GIVEN_MAX_FACES);
    storm_status status = STORM_OK;
    for (uint64_t f = p->first_face[i];
         f < p->first_face[i + 1] && status == STORM_OK; f++)
        status = check_face(env, p, f, tag, (unsigned)(f - p->first_face[i]));
    return status;
}

storm_status given_check(const struct storm_env *env,
                         const struct storm_given_params *params)
{
    storm_status status = check_arrays(env, params);
    if (status == STORM_OK && params->n_cells > 0 &&
        params->first_face[0] != 0) {
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "given mesh: first_face[0] is %llu, expected 0",
                        (unsigned long long)params->first_face[0]);
        status = STORM_ERR_ARG;
    }
    for (uint64_t i = 0; status == STORM_OK && i < params->n_cells; i++)
        status = check_cell(env, params, i);
    return status;
}

/* ---- cells -------------------------------------------------------------- */

static storm_status check_shape(const struct storm_mesh *mesh,
                                const struct given_part *part, size_t cell,
                                const struct storm_planes *planes)
{
    double sum[3] = {0.0}, area = 0.0, volume = 0.0, c[3];
    storm_cell_id tag = part->base.tags[cell];
    double room = check_error * part->heads[cell].radius;
    for (int d = 0; d < 3; d++)
        c[d] = part->centroid[cell][d] - part->heads[cell].point[d];
    for (size_t i = 0; i < planes->n; i++) {
        const struct storm_plane *p = &planes->array[i];
        double out = p->normal[0] * c[0] + p->normal[1] * c[1] +
                     p->normal[2] * c[2] - p->distance;
        if (!(p->distance >= 0.0))
            return given_refuse(mesh->env, tag,
                                "its point is outside, by %g cm", -p->distance);
        if (!(out <= room))
            return given_refuse(mesh->env, tag,
                                "its centroid is outside, by %g cm", out);
        for (int d = 0; d < 3; d++)
            sum[d] += p->area * p->normal[d];
        area += p->area;
        volume += p->area * p->distance / 3.0;
    }
    for (int d = 0; d < 3; d++)
        if (!(fabs(sum[d]) <= check_error * area))
            return given_refuse(mesh->env, tag,
                                "it is not closed: area times normal adds up "
                                "to (%g, %g, %g) cm2, expected 0",
                                sum[0], sum[1], sum[2]);
    if (!(fabs(volume - part->volume[cell]) <= check_error * volume))
        return given_refuse(mesh->env, tag,
                            "its volume is %g cm3, that of the pyramids over "
                            "its faces %g cm3",
                            part->volume[cell], volume);
    return STORM_OK;
}

storm_status given_check_cells(const struct storm_mesh *mesh,
                               const struct given_part *part)
{
    storm_status status = STORM_OK;
    for (size_t c = 0; c < (size_t)part->base.n_cells && status == STORM_OK;
         c++) {
        struct storm_plane
            array[part->first_face[c + 1] - part->first_face[c] + 1];
        struct storm_planes planes = given_planes(part, c, array);
        status = check_shape(mesh, part, c, &planes);
    }
    return status;
}
