/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_matter.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <storm/context.h>
#include <storm/io.h>

#include "io/io_h5.h"

static const char matter_label[] = "table file";

enum { MATTER_TEXT_BYTES = 384, MATTER_UNITS_BYTES = 32 };
static const uint64_t matter_max_values = (uint64_t)1 << 28;

/* Arrays of the layout. */
enum matter_array {
    TEMPERATURE,
    DENSITY,
    EDGES,
    ABSORPTION,
    SCATTERING,
    ENERGY
};
static const struct {
    const char *name;
    const char *units[2]; /* which of them is a choice */
    bool is_axis, is_required;
} matter_layout[] = {
    [TEMPERATURE] = {"temperature", {"keV", NULL}, true, true},
    [DENSITY] = {"density", {"g/cm3", NULL}, true, true},
    [EDGES] = {"group_edges", {"keV", NULL}, true, false},
    [ABSORPTION] = {"absorption", {"1/cm", "cm2/g"}, false, false},
    [SCATTERING] = {"scattering", {"1/cm", "cm2/g"}, false, false},
    [ENERGY] = {"energy", {"erg/cm3", "erg/g"}, false, false},
};

/* A file that is being read. */
struct matter_file {
    const struct storm_env *env;
    const char *path;
    io_h5_file h5;
    struct io_matter *table;
    size_t n[3];  /* of the axes; edges: as many as groups, 0 if none */
    int which[6]; /* of the units */
};

static storm_status matter_fail(const struct storm_env *env, const char *path,
                                const char *format, ...) STORM_PRINTF(3, 4);
static storm_status matter_fail(const struct storm_env *env, const char *path,
                                const char *format, ...)
{
    char text[MATTER_TEXT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (env->rank == 0)
        storm_log_write(&env->log, STORM_LOG_ERROR, "%s: %s", path, text);
    return STORM_ERR_IO;
}

/* ---- one array ----------------------------------------------------------- */

/* Are its dimensions those of the axes? */
static storm_status matter_shape(const struct matter_file *f,
                                 enum matter_array i,
                                 const struct io_h5_array *a)
{
    const char *name = matter_layout[i].name;
    if (matter_layout[i].is_axis) {
        if (a->n_dims == 1 && a->shape[0] > 0 &&
            a->shape[0] <= matter_max_values)
            return STORM_OK;
        return matter_fail(f->env, f->path,
                           "`%s`: expected a list of numbers, got %d "
                           "dimensions and %" PRIu64 " rows",
                           name, a->n_dims, a->shape[0]);
    }
    bool has_groups = i != ENERGY && f->n[EDGES] > 0;
    if (a->n_dims == (has_groups ? 3 : 2) && a->dims[0] == f->n[TEMPERATURE] &&
        a->dims[1] == f->n[DENSITY] &&
        (!has_groups || a->dims[2] == f->n[EDGES]))
        return STORM_OK;
    char groups[32] = "";
    if (has_groups)
        snprintf(groups, sizeof groups, " x %zu groups", f->n[EDGES]);
    return matter_fail(f->env, f->path,
                       "`%s`: expected %zu temperatures x %zu densities%s, got "
                       "%d dimensions, %" PRIu64 " x %" PRIu64 " x %" PRIu64,
                       name, f->n[TEMPERATURE], f->n[DENSITY], groups,
                       a->n_dims, a->dims[0], a->dims[1], a->dims[2]);
}

/* The attribute `units`, which is one of those of the layout. */
static storm_status matter_units(struct matter_file *f, enum matter_array i,
                                 const struct io_h5_array *a)
{
    const char *const *units = matter_layout[i].units;
    char found[MATTER_UNITS_BYTES] = "";
    bool has = io_h5_array_text(a, "units", found, sizeof found);
    for (int k = 0; k < 2 && units[k] != NULL; k++)
        if (has && strcmp(found, units[k]) == 0) {
            f->which[i] = k;
            return STORM_OK;
        }
    return matter_fail(
        f->env, f->path,
        "`%s`: expected an attribute `units` that is '%s'%s%s%s, "
        "got %s%s%s",
        matter_layout[i].name, units[0], units[1] != NULL ? " or '" : "",
        units[1] != NULL ? units[1] : "", units[1] != NULL ? "'" : "",
        has ? "'" : "none", has ? found : "", has ? "'" : "");
}

static storm_status matter_values(struct matter_file *f, enum matter_array i,
                                  const struct io_h5_array *a)
{
    const char *name = matter_layout[i].name;
    storm_status status = STORM_OK;
    if (!a->numbers)
        return matter_fail(f->env, f->path,
                           "`%s`: expected numbers, got another type", name);
    if (!a->plain)
        return matter_fail(f->env, f->path,
                           "`%s`: is stored in chunks; make it contiguous: "
                           "h5repack -l CONTI OLD NEW",
                           name);
    status = matter_shape(f, i, a);
    if (status == STORM_OK)
        status = matter_units(f, i, a);
    if (status < 0)
        return status;
    if (!a->whole)
        return matter_fail(f->env, f->path,
                           "`%s`: is larger than the file, which is damaged; "
                           "make it again",
                           name);
    size_t n = (size_t)(a->shape[0] * a->shape[1]);
    double *values =
        storm_alloc(f->env->memory, matter_label, (n + 1) * sizeof *values);
    f->table->arrays[i] = values;
    if (values == NULL)
        return STORM_ERR_NOMEM;
    if (io_h5_array_rows(a, IO_H5_REAL, 0, a->shape[0], values) < 0)
        return matter_fail(f->env, f->path,
                           "`%s`: cannot be read or is damaged; make the file "
                           "again",
                           name);
    if (matter_layout[i].is_axis)
        f->n[i] = i == EDGES ? n - 1 : n;
    return STORM_OK;
}

static storm_status matter_array(struct matter_file *f, enum matter_array i)
{
    struct io_h5_array array;
    if (!io_h5_array_open(f->h5, matter_layout[i].name, &array))
        return matter_layout[i].is_required
                   ? matter_fail(f->env, f->path,
                                 "has no array `%s`, in %s; see "
                                 "docs/matter-files.md",
                                 matter_layout[i].name,
                                 matter_layout[i].units[0])
                   : STORM_OK;
    storm_status status = matter_values(f, i, &array);
    io_h5_array_close(&array);
    return status;
}

/* ---- the file ------------------------------------------------------------ */

/* Absorption and scattering must not differ in their units. */
static storm_status matter_finish(const struct matter_file *f)
{
    double *const *a = f->table->arrays;
    if (a[ABSORPTION] == NULL && a[SCATTERING] == NULL && a[ENERGY] == NULL)
        return matter_fail(f->env, f->path,
                           "has none of the arrays `absorption`, `scattering` "
                           "and `energy`");
    if (a[ABSORPTION] != NULL && a[SCATTERING] != NULL &&
        f->which[ABSORPTION] != f->which[SCATTERING])
        return matter_fail(f->env, f->path,
                           "`absorption` and `scattering`: expected the same "
                           "`units`");
    f->table->p = (struct storm_table_params){
        .size = sizeof f->table->p,
        .name = f->path,
        .n_temperatures = f->n[TEMPERATURE],
        .temperature_kev = a[TEMPERATURE],
        .n_densities = f->n[DENSITY],
        .density_g_cm3 = a[DENSITY],
        .n_groups = f->n[EDGES],
        .group_edge_kev = a[EDGES],
        .absorption = a[ABSORPTION],
        .scattering = a[SCATTERING],
        .energy = a[ENERGY],
        .opacity_per_mass =
            f->which[a[ABSORPTION] != NULL ? ABSORPTION : SCATTERING],
        .energy_per_mass = f->which[ENERGY],
    };
    return STORM_OK;
}

storm_status io_matter_probe(const struct storm_env *env, const char *path)
{
    FILE *file = fopen(path, "rb");
    unsigned char head[IO_H5_HEAD];
    if (file == NULL)
        return matter_fail(env, path, "%s", strerror(errno));
    size_t n = fread(head, 1, sizeof head, file);
    fclose(file);
    if (!io_h5_begins(head, n))
        return matter_fail(env, path,
                           "expected a table in HDF5; see "
                           "docs/matter-files.md");
    return io_h5_opens(path)
               ? STORM_OK
               : matter_fail(env, path, "is damaged; make it again");
}

storm_status io_matter_read(const struct storm_env *env, const char *path,
                            struct io_matter *table)
{
    struct matter_file f = {.env = env, .path = path, .table = table};
    f.h5 = io_h5_open(path);
    if (f.h5 < 0)
        return matter_fail(env, path, "is damaged; make it again");
    storm_status status = STORM_OK;
    for (int i = TEMPERATURE; i <= ENERGY && status == STORM_OK; i++)
        status = matter_array(&f, (enum matter_array)i);
    if (status == STORM_OK)
        status = matter_finish(&f);
    io_h5_close(f.h5);
    return status;
}

void io_matter_free(const struct storm_env *env, struct io_matter *table)
{
    for (int i = TEMPERATURE; i <= ENERGY; i++)
        storm_free(env->memory, table->arrays[i]);
    *table = (struct io_matter){.p = {.size = 0}};
}

storm_status storm_table_read(struct storm_context *context, const char *path,
                              storm_table_beyond beyond,
                              struct storm_table **table_out)
{
    const struct storm_env *env = storm_context_env(context);
    struct io_matter file = {.p = {.size = 0}};
    struct storm_table *table = NULL;
    int worst = env->rank == 0 ? (int)io_matter_probe(env, path) : STORM_OK;
    storm_status status =
        storm_context_reduce(context, &worst, 1, MPI_INT, MPI_MIN);
    if (status < 0 || worst < 0)
        return status < 0 ? status : (storm_status)worst;
    status = io_matter_read(env, path, &file);
    file.p.beyond = beyond;
    if (status == STORM_OK)
        status = storm_table_create(context, &file.p, &table);
    io_matter_free(env, &file);
    status = storm_context_agree(context, status);
    if (status < 0)
        storm_table_destroy(table);
    else
        *table_out = table;
    return status;
}
