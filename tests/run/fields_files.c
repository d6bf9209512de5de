/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3; timeout: 60 */
/*
 * What a run writes of its cells, read with HDF5 alone: cells are closed and
 * fill the box, arrays fit together, fields.xdmf names arrays that are there
 * with the shape it says, and slices of the mesh fill the cross section
 * (SLICE-1). Files say what they are; cells without value have NaN. Of boxes
 * the files for VTK have the arrays and the cells of the others. Boxes and
 * Voronoi cells.
 */
#include <stdlib.h>
#include <unistd.h>

#include <hdf5.h>

#include <storm/version.h>

#include "base/memory.h"
#include "case.h"
#include "io/io_fields.h"
#include "io/io_h5.h"
#include "view/slice.h"

/* An array of numbers of a file. */
struct array {
    double *values;
    size_t n, rows, columns;
};

static struct array array_read(const char *dir, const char *file,
                               const char *name)
{
    char path[2 * CASE_PATH];
    struct array a = {.columns = 1};
    hsize_t shape[2] = {0, 1};
    snprintf(path, sizeof path, "%s/%s", dir, file);
    hid_t f = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    CHECK(f >= 0);
    hid_t set = H5Dopen2(f, name, H5P_DEFAULT);
    CHECK(set >= 0);
    hid_t space = H5Dget_space(set);
    CHECK(H5Sget_simple_extent_ndims(space) <= 2);
    CHECK(H5Sget_simple_extent_dims(space, shape, NULL) >= 1);
    a.rows = (size_t)shape[0];
    a.columns = (size_t)shape[1];
    a.n = a.rows * a.columns;
    a.values = malloc((a.n + 1) * sizeof *a.values);
    CHECK(a.values != NULL);
    CHECK(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                  a.values) >= 0);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(f);
    return a;
}

/* ---- polyhedra ----------------------------------------------------------- */

/* Directed edges of a cell. */
struct edges {
    size_t n;
    int from[4096], to[4096];
};

static void check_edges(const struct edges *edges)
{
    for (size_t i = 0; i < edges->n; i++) {
        int same = 0, back = 0;
        for (size_t k = 0; k < edges->n; k++) {
            same += edges->from[k] == edges->from[i] &&
                    edges->to[k] == edges->to[i];
            back += edges->from[k] == edges->to[i] &&
                    edges->to[k] == edges->from[i];
        }
        CHECK_EQ(same, 1);
        CHECK_EQ(back, 1);
    }
}

/* Volume under a face, from the first corner of the cell. */
static double under(const double *points, const double *ids, int n,
                    const double *origin)
{
    double sum = 0.0, x[3][3];
    for (int k = 1; k + 1 < n; k++) {
        const int at[3] = {0, k, k + 1};
        for (int c = 0; c < 3; c++)
            for (int d = 0; d < 3; d++)
                x[c][d] =
                    points[3 * (size_t)ids[at[c]] + (size_t)d] - origin[d];
        sum += x[0][0] * (x[1][1] * x[2][2] - x[1][2] * x[2][1]) +
               x[0][1] * (x[1][2] * x[2][0] - x[1][0] * x[2][2]) +
               x[0][2] * (x[1][0] * x[2][1] - x[1][1] * x[2][0]);
    }
    return sum / 6.0;
}

/* Every cell is closed and has its volume; corners are used in order. */
static void check_polyhedra(const char *dir, const struct array *volume)
{
    struct array points = array_read(dir, "mesh.h5", "points");
    struct array cells = array_read(dir, "mesh.h5", "cells");
    struct array generator = array_read(dir, "mesh.h5", "generator");
    CHECK_EQ(generator.rows, volume->rows);
    CHECK_EQ(generator.columns, 3);
    size_t n_cells = 0, n_faces = 0, next = 0;
    const double *end = cells.values + cells.n;
    for (const double *at = cells.values; at < end; n_cells++) {
        static struct edges edges;
        double sum = 0.0;
        const size_t first = next;
        edges.n = 0;
        CHECK(at[0] == 16.0 && at[1] >= 4.0 && n_cells < volume->rows);
        int faces = (int)at[1];
        at += 2;
        for (; faces > 0; faces--, n_faces++) {
            int n = (int)*at++;
            CHECK(n >= 3 && edges.n + (size_t)n <= 4096 && end - at >= n);
            for (int k = 0; k < n; k++) {
                edges.from[edges.n] = (int)at[k];
                edges.to[edges.n++] = (int)at[k + 1 < n ? k + 1 : 0];
                CHECK(at[k] >= (double)first && at[k] <= (double)next);
                next += at[k] == (double)next;
            }
            sum += under(points.values, at, n, points.values + 3 * first);
            at += n;
        }
        check_edges(&edges);
        CHECK(fabs(sum - volume->values[n_cells]) <
              1e-9 * volume->values[n_cells]);
    }
    CHECK_EQ(n_cells, volume->rows);
    CHECK_EQ(next, points.rows);
    printf("  %zu cells, %.1f faces each, %zu corners\n", n_cells,
           (double)n_faces / (double)n_cells, points.rows);
    free(points.values);
    free(cells.values);
    free(generator.values);
}

/* Hexahedra: volumes from their first and seventh corner. */
static void check_boxes(const char *dir, const struct array *volume)
{
    struct array points = array_read(dir, "mesh.h5", "points");
    struct array corners = array_read(dir, "mesh.h5", "corners");
    CHECK_EQ(corners.rows, volume->rows);
    CHECK_EQ(corners.columns, 8);
    CHECK_EQ(points.rows, 8 * volume->rows);
    for (size_t i = 0; i < corners.n; i++)
        CHECK(corners.values[i] == (double)i);
    for (size_t i = 0; i < volume->rows; i++) {
        const double *lo = points.values + 24 * i, *hi = lo + 3 * 6;
        double product = (hi[0] - lo[0]) * (hi[1] - lo[1]) * (hi[2] - lo[2]);
        CHECK(fabs(product - volume->values[i]) < 1e-12 * product);
    }
    free(points.values);
    free(corners.values);
}

/* ---- fields.xdmf --------------------------------------------------------- */

/* Every "Dimensions="a b">file:/name<" is there; returns how many. */
static int check_xdmf(const char *dir)
{
    char path[2 * CASE_PATH], line[4096];
    int n_items = 0;
    snprintf(path, sizeof path, "%s/fields.xdmf", dir);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file) != NULL)
        for (const char *at = line; (at = strstr(at, "Dimensions=\"")) != NULL;
             n_items++) {
            char name[64], array[64];
            unsigned long long rows, columns = 1;
            at += strlen("Dimensions=\"");
            CHECK(sscanf(at, "%llu %llu", &rows, &columns) >= 1);
            at = strchr(at, '>') + 1;
            CHECK(sscanf(at, "%63[^:]:/%63[^<]", name, array) == 2);
            struct array a = array_read(dir, name, array);
            CHECK_EQ(a.rows, rows);
            CHECK_EQ(a.columns, columns);
            free(a.values);
        }
    fclose(file);
    return n_items;
}

/* ---- what files say of themselves ---------------------------------------- */

/* The attribute of an array, or of the file if that is ".", is this text. */
static void text_is(const char *dir, const char *file, const char *array,
                    const char *name, const char *wanted)
{
    char path[2 * CASE_PATH], text[256] = "";
    snprintf(path, sizeof path, "%s/%s", dir, file);
    hid_t f = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t mark = H5Aopen_by_name(f, array, name, H5P_DEFAULT, H5P_DEFAULT);
    hid_t type = mark >= 0 ? H5Aget_type(mark) : -1;
    CHECK(type >= 0 && H5Tget_size(type) < sizeof text);
    CHECK(H5Aread(mark, type, text) >= 0);
    if (strcmp(text, wanted) != 0)
        printf("%s: %s of %s is %s\n", file, name, array, text);
    CHECK(strcmp(text, wanted) == 0);
    H5Tclose(type);
    H5Aclose(mark);
    H5Fclose(f);
}

static void number_is(const char *dir, const char *file, const char *name,
                      double wanted)
{
    char path[2 * CASE_PATH];
    double value = -1.0;
    snprintf(path, sizeof path, "%s/%s", dir, file);
    io_h5_file f = io_h5_open(path);
    CHECK(io_h5_get_number(f, name, &value));
    CHECK(fabs(value - wanted) <= 1e-14 * wanted);
    io_h5_close(f);
}

/* Two steps of 1 ps and 1.1 ps. */
static void check_heads(const char *dir)
{
    static const char *const units[][3] = {
        {"mesh.h5", "volume", "cm3"},
        {"mesh.h5", "centroid", "cm"},
        {"mesh.h5", "points", "cm"},
        {"mesh.h5", "box", "cm"},
        {"fields-2.h5", "material_temperature", "keV"},
        {"fields-2.h5", "radiation_temperature", "keV"},
        {"fields-2.h5", "material_energy", "erg/cm3"},
        {"fields-2.h5", "radiation_energy", "erg/cm3"}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        text_is(dir, units[i][0], units[i][1], "unit", units[i][2]);
    text_is(dir, "mesh.h5", "material", "name_-1", "outside");
    text_is(dir, "mesh.h5", "material", "name_0", "wall");
    text_is(dir, "mesh.h5", "material", "name_1", "vacuum");
    static const char *const files[] = {"mesh.h5", "fields-2.h5", "tallies.h5"};
    for (int i = 0; i < 3; i++) {
        text_is(dir, files[i], ".", "title", "Cylindrical hohlraum");
        text_is(dir, files[i], ".", "storm_version", storm_version());
        number_is(dir, files[i], "step", i == 0 ? 0.0 : 2.0);
        if (i == 0)
            continue;
        text_is(dir, files[i], ".", "unit_of_time", "s");
        number_is(dir, files[i], "time", 2.1e-12);
    }
    text_is(dir, "tallies.h5", "light.energy", "unit", "erg");
    number_is(dir, "fields-2.h5", "start", 1e-12);
}

/* NaN outside, and of matter in the vacuum; numbers elsewhere. */
static void check_values(const char *dir, const struct array *material)
{
    static const char *const names[] = {
        "material_temperature", "material_energy", "radiation_temperature",
        "radiation_energy"};
    for (int i = 0; i < 4; i++) {
        struct array a = array_read(dir, "fields-2.h5", names[i]);
        size_t n_nan = 0;
        CHECK_EQ(a.n, material->n);
        for (size_t k = 0; k < a.n; k++) {
            bool has = material->values[k] == 0.0 ||
                       (i >= 2 && material->values[k] == 1.0);
            CHECK(has == (isfinite(a.values[k]) != 0));
            n_nan += isnan(a.values[k]) != 0;
        }
        CHECK(n_nan > 0 && n_nan < a.n);
        free(a.values);
    }
}

/* The centre of a box is between its first and seventh corner. */
static void check_centroids(const char *dir)
{
    struct array points = array_read(dir, "mesh.h5", "points");
    struct array centroid = array_read(dir, "mesh.h5", "centroid");
    CHECK_EQ(centroid.columns, 3);
    CHECK_EQ(8 * centroid.rows, points.rows);
    for (size_t i = 0; i < centroid.n; i++) {
        const double *lo = points.values + 24 * (i / 3) + i % 3;
        CHECK(fabs(0.5 * (lo[0] + lo[18]) - centroid.values[i]) < 1e-12);
    }
    free(points.values);
    free(centroid.values);
}

/* ---- files for VTK ------------------------------------------------------- */

static void same_array(const char *dir, const char *array, const char *file,
                       const char *name)
{
    struct array a = array_read(dir, "fields-2.hdf", array);
    struct array b = array_read(dir, file, name);
    CHECK_EQ(a.rows, b.rows);
    CHECK_EQ(a.columns, b.columns);
    CHECK(memcmp(a.values, b.values, a.n * sizeof *a.values) == 0);
    free(a.values);
    free(b.values);
}

/* One value: first + i step at i. */
static void row_is(const char *dir, const char *name, size_t n, double step,
                   double first)
{
    struct array a = array_read(dir, "fields-2.hdf", name);
    CHECK_EQ(a.rows, n);
    CHECK_EQ(a.columns, 1);
    for (size_t i = 0; i < n; i++)
        CHECK(a.values[i] == first + step * (double)i);
    free(a.values);
}

static void check_vtk(const char *dir, size_t n)
{
    static const char *const of_mesh[] = {"material", "volume", "centroid"};
    char path[2 * CASE_PATH], text[512] = "";
    text_is(dir, "fields-2.hdf", "VTKHDF", "Type", "UnstructuredGrid");
    row_is(dir, "VTKHDF/NumberOfCells", 1, 0.0, (double)n);
    row_is(dir, "VTKHDF/NumberOfPoints", 1, 0.0, 8.0 * (double)n);
    row_is(dir, "VTKHDF/NumberOfConnectivityIds", 1, 0.0, 8.0 * (double)n);
    row_is(dir, "VTKHDF/Connectivity", 8 * n, 1.0, 0.0);
    row_is(dir, "VTKHDF/Offsets", n + 1, 8.0, 0.0);
    row_is(dir, "VTKHDF/Types", n, 0.0, 12.0);
    same_array(dir, "VTKHDF/Points", "mesh.h5", "points");
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "VTKHDF/CellData/%s", of_mesh[i]);
        same_array(dir, path, "mesh.h5", of_mesh[i]);
    }
    for (int i = 0; i < IO_N_FIELDS; i++) {
        snprintf(path, sizeof path, "VTKHDF/CellData/%s", io_field_names[i]);
        same_array(dir, path, "fields-2.h5", io_field_names[i]);
    }
    snprintf(path, sizeof path, "%s/fields.hdf.series", dir);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL && fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    CHECK(strstr(text, "{\"name\": \"fields-2.hdf\", \"time\": 2.1") != NULL);
}

/* ---- slices -------------------------------------------------------------- */

static void check_slices(const char *dir, const double lo[3],
                         const double hi[3])
{
    /* walls, the middle, faces of the boxes, and places between */
    static const double parts[] = {1e-9, 0.25, 0.5, 0.61803, 1.0};
    struct storm_memory *memory;
    struct io_reader reader;
    CHECK_OK(storm_memory_create(&memory));
    CHECK_OK(io_reader_open(memory, dir, 0, &reader));
    for (int axis = 0; axis < 3; axis++)
        for (int i = 0; i < 5; i++) {
            struct slice slice;
            double area = 0.0, at = lo[axis] + parts[i] * (hi[axis] - lo[axis]);
            int a = slice_direction(axis, 0), b = slice_direction(axis, 1);
            double right = (hi[a] - lo[a]) * (hi[b] - lo[b]);
            CHECK_OK(slice_make(&reader, axis, at, &slice));
            for (size_t k = 0; k < slice.n_polygons; k++) {
                CHECK(slice_area(&slice, k) >= 0.0);
                CHECK(k == 0 ||
                      slice.polygons[k].cell > slice.polygons[k - 1].cell);
                area += slice_area(&slice, k);
            }
            CHECK(fabs(area - right) < 1e-9 * right);
            slice_free(&slice);
        }
    io_reader_close(&reader);
    CHECK_EQ(storm_memory_destroy(memory), 0);
}

/* ---- runs ---------------------------------------------------------------- */

static void check_run(const char *const *sets, bool boxes)
{
    static const double lo[3] = {0, -0.65, -0.65}, hi[3] = {1.4, 0.65, 0.65};
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct case_run run = case_open("hohlraum", 1, sets);
    if (rank == 0) {
        struct array volume = array_read(run.dir, "mesh.h5", "volume");
        struct array material = array_read(run.dir, "mesh.h5", "material");
        double sum = 0.0;
        for (size_t i = 0; i < volume.n; i++)
            sum += volume.values[i];
        CHECK(fabs(sum - 1.4 * 1.3 * 1.3) < 1e-12);
        CHECK_EQ(material.n, volume.n);
        if (boxes)
            check_boxes(run.dir, &volume);
        else
            check_polyhedra(run.dir, &volume);
        check_heads(run.dir);
        check_values(run.dir, &material);
        if (boxes) {
            check_centroids(run.dir);
            check_vtk(run.dir, volume.n);
        }
        CHECK_EQ(check_xdmf(run.dir), 3 * 9); /* dumps, arrays each */
        check_slices(run.dir, lo, hi);
        free(volume.values);
        free(material.values);
    }
    case_close(&run);
}

/* H5-4: an attribute that is no single number is not read. */
static void check_attribute(void)
{
    char path[] = "attribute-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    close(fd);
    const hsize_t n = 64;
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, &n, NULL);
    H5Aclose(H5Acreate2(file, "time", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                        H5P_DEFAULT));
    H5Sclose(space);
    CHECK(H5Fclose(file) >= 0);
    double value[2] = {1.0, 2.0};
    io_h5_file again = io_h5_open(path);
    CHECK(!io_h5_get_number(again, "time", &value[0]));
    CHECK(value[0] == 1.0 && value[1] == 2.0);
    io_h5_close(again);
    unlink(path);
}

int main(int argc, char **argv)
{
    const char *light = "output.tallies=[{name: light, by: [wall]}]";
    const char *boxes[] = {"mesh.kind=cartesian",
                           "mesh.cells=[28,13,14]",
                           "time.steps=2",
                           "output.every=1",
                           "boundaries.x_lo.1.packets=100",
                           light,
                           NULL};
    const char *voronoi[] = {"mesh.kind=voronoi",
                             "mesh.points=1500",
                             "mesh.lloyd=1",
                             "mesh.refine_interfaces=8",
                             "time.steps=2",
                             "output.every=1",
                             "boundaries.x_lo.1.packets=100",
                             light,
                             NULL};
    MPI_Init(&argc, &argv);
    check_run(boxes, true);
    check_run(voronoi, false);
    check_attribute();
    MPI_Finalize();
    return CHECK_PASS;
}
