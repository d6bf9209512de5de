/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A dump as VTK reads it: an unstructured grid of hexahedra (VTKHDF 1.0). The
 * file has no arrays of its own but refers to those of the mesh and the fields:
 * external links, and virtual arrays where VTK wants another shape.
 */
#include <errno.h>
#include <stdio.h>

#include <hdf5.h>

#include "io/io_h5_layout.h"

enum { VTK_CORNERS = 8, VTK_HEXAHEDRON = 12 };

/* What is being made. */
struct vtk_file {
    hid_t file;
    const struct io_h5_vtk *what;
    bool good;
};

static void vtk_check(struct vtk_file *f, herr_t status)
{
    f->good = f->good && status >= 0;
}

/* Closes what was opened, if it was. */
static void vtk_close(struct vtk_file *f, hid_t id, herr_t (*close)(hid_t))
{
    if (id >= 0)
        vtk_check(f, close(id));
    else
        f->good = false;
}

static void vtk_group(struct vtk_file *f, const char *name)
{
    vtk_close(f,
              H5Gcreate2(f->file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
              H5Gclose);
}

static void vtk_attributes(struct vtk_file *f)
{
    static const int version[2] = {1, 0};
    static const char type_name[] = "UnstructuredGrid";
    const hsize_t two = 2;
    hid_t space = H5Screate_simple(1, &two, NULL);
    hid_t mark =
        H5Acreate_by_name(f->file, "VTKHDF", "Version", H5T_STD_I32LE, space,
                          H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (mark >= 0)
        vtk_check(f, H5Awrite(mark, H5T_NATIVE_INT, version));
    vtk_close(f, mark, H5Aclose);
    vtk_close(f, space, H5Sclose);
    space = H5Screate(H5S_SCALAR);
    hid_t type = H5Tcopy(H5T_C_S1);
    vtk_check(f, H5Tset_size(type, sizeof type_name - 1));
    vtk_check(f, H5Tset_strpad(type, H5T_STR_NULLPAD));
    mark = H5Acreate_by_name(f->file, "VTKHDF", "Type", type, space,
                             H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (mark >= 0)
        vtk_check(f, H5Awrite(mark, type, type_name));
    vtk_close(f, mark, H5Aclose);
    vtk_close(f, type, H5Tclose);
    vtk_close(f, space, H5Sclose);
}

/* An array with these properties, which are closed. */
static hid_t vtk_array(struct vtk_file *f, const char *name, hid_t type,
                       hsize_t n, hid_t properties)
{
    hid_t space = H5Screate_simple(1, &n, NULL), set = -1;
    vtk_check(f, H5Pset_obj_track_times(properties, 0)); /* H5-2 */
    set = H5Dcreate2(f->file, name, type, space, H5P_DEFAULT, properties,
                     H5P_DEFAULT);
    vtk_close(f, space, H5Sclose);
    vtk_close(f, properties, H5Pclose);
    f->good = f->good && set >= 0;
    return set;
}

/* An array of one number: kept in the head, it has no rows. */
static void vtk_number(struct vtk_file *f, const char *name, hid_t type,
                       hid_t memory, const void *value)
{
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    vtk_check(f, H5Pset_layout(properties, H5D_COMPACT));
    hid_t set = vtk_array(f, name, type, 1, properties);
    if (set >= 0)
        vtk_check(f,
                  H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, value));
    vtk_close(f, set, H5Dclose);
}

static void vtk_count(struct vtk_file *f, const char *name, uint64_t n)
{
    const int64_t value = (int64_t)n;
    vtk_number(f, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}

/* The first n numbers of an array are columns [0, columns) of `corners`, rows
 * after rows; those after them are `fill`. */
static void vtk_of_corners(struct vtk_file *f, const char *name, hsize_t n,
                           hsize_t columns, int64_t fill)
{
    const hsize_t shape[2] = {f->what->n_cells, VTK_CORNERS};
    const hsize_t zero[2] = {0, 0}, count[2] = {f->what->n_cells, columns};
    const hsize_t mapped = count[0] * columns;
    hid_t from = H5Screate_simple(2, shape, NULL);
    hid_t to = H5Screate_simple(1, &n, NULL);
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    vtk_check(f, H5Sselect_hyperslab(from, H5S_SELECT_SET, zero, NULL, count,
                                     NULL));
    vtk_check(f, H5Sselect_hyperslab(to, H5S_SELECT_SET, zero, NULL, &mapped,
                                     NULL));
    vtk_check(f, H5Pset_fill_value(properties, H5T_NATIVE_INT64, &fill));
    vtk_check(f,
              H5Pset_virtual(properties, to, f->what->mesh, "corners", from));
    hid_t set = vtk_array(f, name, H5T_NATIVE_INT64, n, properties);
    vtk_close(f, set, H5Dclose);
    vtk_close(f, from, H5Sclose);
    vtk_close(f, to, H5Sclose);
}

/* Corners are numbered one after the other (io_mesh.c), so that the first of a
 * cell is the offset of the cell. All types are equal: an array that was never
 * written has its fill value everywhere. */
static void vtk_topology(struct vtk_file *f)
{
    const uint64_t n = f->what->n_cells;
    const unsigned char hexahedron = VTK_HEXAHEDRON;
    vtk_count(f, "VTKHDF/NumberOfCells", n);
    vtk_count(f, "VTKHDF/NumberOfPoints", VTK_CORNERS * n);
    vtk_count(f, "VTKHDF/NumberOfConnectivityIds", VTK_CORNERS * n);
    vtk_of_corners(f, "VTKHDF/Connectivity", VTK_CORNERS * n, VTK_CORNERS, 0);
    vtk_of_corners(f, "VTKHDF/Offsets", n + 1, 1, (int64_t)(VTK_CORNERS * n));
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    vtk_check(f, H5Pset_fill_value(properties, H5T_NATIVE_UCHAR, &hexahedron));
    vtk_check(f, H5Pset_alloc_time(properties, H5D_ALLOC_TIME_LATE));
    vtk_close(f, vtk_array(f, "VTKHDF/Types", H5T_STD_U8LE, n, properties),
              H5Dclose);
}

static void vtk_link(struct vtk_file *f, const char *name, const char *file,
                     const char *array)
{
    vtk_check(f, H5Lcreate_external(file, array, f->file, name, H5P_DEFAULT,
                                    H5P_DEFAULT));
}

static void vtk_cells(struct vtk_file *f)
{
    static const char *const of_mesh[] = {"material", "volume", "centroid"};
    char name[128], path[160];
    vtk_link(f, "VTKHDF/Points", f->what->mesh, "points");
    for (size_t i = 0; i < sizeof of_mesh / sizeof of_mesh[0]; i++) {
        snprintf(path, sizeof path, "VTKHDF/CellData/%s", of_mesh[i]);
        vtk_link(f, path, f->what->mesh, of_mesh[i]);
    }
    for (size_t i = 0; f->what->name(f->what->self, i, name, sizeof name);
         i++) {
        snprintf(path, sizeof path, "VTKHDF/CellData/%s", name);
        vtk_link(f, path, f->what->fields, name);
    }
}

int io_h5_layout_vtk(struct io_h5_layout *layout, const struct io_h5_vtk *what)
{
    struct vtk_file f = {(hid_t)layout->file, what, true};
    H5E_BEGIN_TRY
    {
        vtk_group(&f, "VTKHDF");
        vtk_attributes(&f);
        vtk_group(&f, "VTKHDF/CellData");
        vtk_group(&f, "VTKHDF/FieldData");
        vtk_topology(&f);
        vtk_cells(&f);
        vtk_number(&f, "VTKHDF/FieldData/TimeValue", H5T_IEEE_F64LE,
                   H5T_NATIVE_DOUBLE, &what->time_s);
    }
    H5E_END_TRY;
    return f.good ? 0 : ENOMEM;
}
