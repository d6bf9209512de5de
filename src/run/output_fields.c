/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fields of the cells: mesh.h5 once, fields-<step>.h5 at each dump, and
 * fields.xdmf, which tells ParaView how they belong together.
 *
 * Values are in order of the cells' ids, gathered on rank 0; no times of day
 * are kept in the files: they are the same bytes on any number of ranks.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hdf5.h>

#include <storm/context.h>

#include "base/text.h"
#include "mesh/mesh_ops.h"
#include "physics/imc.h"
#include "run/run.h"

enum { FIELDS_PATH = 4096, FIELDS_CORNERS = 8 };

/* ---- gathering ------------------------------------------------------------ */

/* `per_cell` doubles of all cells on rank 0, in order of ids; NULL elsewhere.
 * Collective; *all_out is from malloc. */
static storm_status fields_gather(const struct run *run, const double *mine,
                                  size_t per_cell, double **all_out)
{
    const struct storm_mesh *mesh = run->mesh;
    int size = storm_context_size(run->context);
    bool is_root = storm_context_rank(run->context) == 0;
    size_t n = (size_t)storm_mesh_n_cells_total(mesh) * per_cell;
    double *all = is_root ? malloc((n + 1) * sizeof *all) : NULL;
    int *counts = malloc(2 * (size_t)size * sizeof *counts);
    bool fits = n < (size_t)INT32_MAX;
    bool ok = counts != NULL && fits && (!is_root || all != NULL);
    storm_status status =
        storm_context_agree(run->context, ok ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK) {
        for (int r = 0; r < size; r++) {
            counts[r] = (int)((mesh->cut[r + 1] - mesh->cut[r]) * per_cell);
            counts[size + r] = (int)(mesh->cut[r] * per_cell);
        }
        MPI_Request request;
        if (MPI_Igatherv(mine, (int)((size_t)run->imc->n_cells * per_cell),
                         MPI_DOUBLE, all, counts, counts + size, MPI_DOUBLE, 0,
                         storm_context_comm(run->context),
                         &request) != MPI_SUCCESS)
            status = STORM_ERR_FABRIC;
        else
            status = storm_context_wait(run->context, &request);
    } else if (!fits && is_root) {
        storm_context_log(run->context, STORM_LOG_ERROR,
                          "fields of %zu values are too many for one file", n);
    }
    free(counts);
    if (status < 0)
        free(all);
    else
        *all_out = all;
    return status;
}

/* ---- HDF5, on rank 0 ------------------------------------------------------ */

/* One array of rows * columns numbers. */
static bool fields_put(hid_t file, const char *name, const double *values,
                       size_t rows, size_t columns)
{
    hsize_t shape[2] = {rows, columns};
    hid_t space = H5Screate_simple(columns > 1 ? 2 : 1, shape, NULL);
    hid_t how = H5Pcreate(H5P_DATASET_CREATE);
    bool good = H5Pset_obj_track_times(how, 0) >= 0;
    hid_t set = H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, how,
                           H5P_DEFAULT);
    good = good && set >= 0 &&
           H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                    values) >= 0;
    if (set >= 0)
        good = H5Dclose(set) >= 0 && good;
    H5Pclose(how);
    H5Sclose(space);
    return good;
}

/* 0, 1, 2, ...: the corners of all hexahedra, which are not shared. */
static bool fields_put_corners(hid_t file, size_t rows)
{
    hsize_t shape[2] = {rows, FIELDS_CORNERS};
    int64_t *numbers = malloc((rows + 1) * FIELDS_CORNERS * sizeof *numbers);
    if (numbers == NULL)
        return false;
    for (size_t i = 0; i < rows * FIELDS_CORNERS; i++)
        numbers[i] = (int64_t)i;
    hid_t space = H5Screate_simple(2, shape, NULL);
    hid_t how = H5Pcreate(H5P_DATASET_CREATE);
    bool good = H5Pset_obj_track_times(how, 0) >= 0;
    hid_t set = H5Dcreate2(file, "corners", H5T_STD_I64LE, space, H5P_DEFAULT,
                           how, H5P_DEFAULT);
    good = good && set >= 0 &&
           H5Dwrite(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                    numbers) >= 0;
    if (set >= 0)
        good = H5Dclose(set) >= 0 && good;
    H5Pclose(how);
    H5Sclose(space);
    free(numbers);
    return good;
}

struct fields_array {
    const char *name;
    const double *values;
    size_t rows, columns;
};

static storm_status fields_file(const struct run *run, const char *name,
                                const struct fields_array *arrays,
                                size_t n_arrays, size_t n_boxes)
{
    char path[FIELDS_PATH];
    snprintf(path, sizeof path, "%s/%s", run->out_dir, name);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    bool good = file >= 0;
    for (size_t i = 0; good && i < n_arrays; i++)
        good = fields_put(file, arrays[i].name, arrays[i].values,
                          arrays[i].rows, arrays[i].columns);
    if (good && n_boxes > 0)
        good = fields_put_corners(file, n_boxes);
    if (file >= 0)
        good = H5Fclose(file) >= 0 && good;
    if (good)
        return STORM_OK;
    storm_context_log(run->context, STORM_LOG_ERROR, "cannot write %s", path);
    return STORM_ERR_IO;
}

/* ---- the mesh ------------------------------------------------------------- */

/* Centre, half extents, volume, material, id of the rank's cells. */
enum { FIELDS_GEOMETRY = 9 };

static double *fields_geometry(const struct storm_imc *imc, bool *boxes_inout)
{
    double *values =
        malloc(((size_t)imc->n_cells + 1) * FIELDS_GEOMETRY * sizeof *values);
    for (storm_cell_idx i = 0; values != NULL && i < imc->n_cells; i++) {
        double *v = &values[FIELDS_GEOMETRY * i];
        memcpy(v, &imc->centre[3 * (size_t)i], 3 * sizeof *v);
        memcpy(v + 3, &imc->half[3 * (size_t)i], 3 * sizeof *v);
        v[6] = imc->volume[i];
        v[7] = (double)imc->material[i];
        v[8] = (double)storm_mesh_cell_id(imc->mesh, i);
        *boxes_inout = *boxes_inout && imc->is_box[i];
    }
    return values;
}

/* The corners of a box in the order of a hexahedron. */
static void fields_corners(const double *geometry, double *corners_out)
{
    static const int sign[FIELDS_CORNERS][3] = {
        {-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
        {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
    for (int k = 0; k < FIELDS_CORNERS; k++)
        for (int d = 0; d < 3; d++)
            corners_out[3 * k + d] = geometry[d] + sign[k][d] * geometry[3 + d];
}

static storm_status fields_write_mesh(const struct run *run,
                                      const double *geometry, bool boxes)
{
    size_t n = (size_t)storm_mesh_n_cells_total(run->mesh);
    size_t corners = boxes ? FIELDS_CORNERS : 1;
    double *points = malloc((n + 1) * corners * 3 * sizeof *points);
    double *volume = malloc((n + 1) * sizeof *volume);
    double *material = malloc((n + 1) * sizeof *material);
    storm_status status = STORM_ERR_NOMEM;
    if (points != NULL && volume != NULL && material != NULL) {
        for (size_t i = 0; i < n; i++) {
            const double *g = &geometry[FIELDS_GEOMETRY * i];
            if (boxes)
                fields_corners(g, &points[3 * corners * i]);
            else
                memcpy(&points[3 * i], g, 3 * sizeof *points);
            volume[i] = g[6];
            material[i] = g[7];
        }
        const struct fields_array arrays[] = {
            {"points", points, n * corners, 3},
            {"volume", volume, n, 1},
            {"material", material, n, 1}};
        status = fields_file(run, "mesh.h5", arrays, 3, boxes ? n : 0);
    }
    free(points);
    free(volume);
    free(material);
    return status;
}

static storm_status fields_mesh(struct run *run)
{
    double *mine, *all = NULL;
    int boxes;
    bool are_boxes = true;
    mine = fields_geometry(run->imc, &are_boxes);
    storm_status status =
        storm_context_agree(run->context,
                            mine != NULL ? STORM_OK : STORM_ERR_NOMEM);
    boxes = are_boxes;
    if (status == STORM_OK)
        status =
            storm_context_reduce(run->context, &boxes, 1, MPI_INT, MPI_MIN);
    run->boxes = boxes != 0;
    if (status == STORM_OK)
        status = fields_gather(run, mine, FIELDS_GEOMETRY, &all);
    if (status == STORM_OK && storm_context_rank(run->context) == 0)
        status = fields_write_mesh(run, all, run->boxes);
    free(all);
    free(mine);
    return storm_context_agree(run->context, status);
}

/* ---- XDMF ----------------------------------------------------------------- */

static void fields_attribute(struct storm_page *page, const char *name,
                             const char *file, uint64_t n)
{
    storm_page_add(page,
                   "        <Attribute Name=\"%s\" Center=\"Cell\">"
                   "<DataItem Format=\"HDF\" NumberType=\"Float\" "
                   "Precision=\"8\" Dimensions=\"%" PRIu64
                   "\">%s:/%s</DataItem></Attribute>\n",
                   name, n, file, name);
}

static const char *const fields_names[] = {
    "material_temperature", "material_energy", "radiation_energy",
    "radiation_temperature"};
enum { FIELDS_N = 4 };

/* The grid of one dump, appended to those before. */
static void fields_grid(const struct run *run, struct storm_page *page)
{
    uint64_t n = storm_mesh_n_cells_total(run->mesh);
    uint64_t corners = run->boxes ? FIELDS_CORNERS : 1;
    char file[64], time[STORM_TEXT_REAL_BYTES];
    snprintf(file, sizeof file, "fields-%" PRIu64 ".h5", run->step);
    storm_text_from_real(run->time_s, time);
    storm_page_add(page,
                   "      <Grid Name=\"step %" PRIu64
                   "\">\n        <Time Value=\"%s\"/>\n",
                   run->step, time);
    if (run->boxes) /* corners are not shared: cell i has 8 i to 8 i + 7 */
        storm_page_add(page,
                       "        <Topology TopologyType=\"Hexahedron\" "
                       "NumberOfElements=\"%" PRIu64
                       "\"><DataItem Format=\"HDF\" NumberType=\"Int\" "
                       "Precision=\"8\" Dimensions=\"%" PRIu64
                       " 8\">mesh.h5:/corners</DataItem></Topology>\n",
                       n, n);
    else
        storm_page_add(page,
                       "        <Topology TopologyType=\"Polyvertex\" "
                       "NumberOfElements=\"%" PRIu64 "\"/>\n",
                       n);
    storm_page_add(page,
                   "        <Geometry GeometryType=\"XYZ\"><DataItem "
                   "Format=\"HDF\" NumberType=\"Float\" Precision=\"8\" "
                   "Dimensions=\"%" PRIu64
                   " 3\">mesh.h5:/points</DataItem></Geometry>\n",
                   n * corners);
    fields_attribute(page, "material", "mesh.h5", n);
    fields_attribute(page, "volume", "mesh.h5", n);
    for (int k = 0; k < FIELDS_N; k++)
        fields_attribute(page, fields_names[k], file, n);
    storm_page_add(page, "      </Grid>\n");
}

static storm_status fields_index(struct run *run)
{
    struct storm_page page = {0};
    fields_grid(run, &run->grids);
    storm_page_add(
        &page,
        "<?xml version=\"1.0\"?>\n<Xdmf Version=\"3.0\">\n"
        "  <Domain>\n    <Grid Name=\"storm\" GridType=\"Collection\""
        " CollectionType=\"Temporal\">\n%s    </Grid>\n"
        "  </Domain>\n</Xdmf>\n",
        run->grids.failed ? "" : run->grids.text);
    char *text = storm_page_end(&page);
    storm_status status =
        text != NULL && !run->grids.failed
            ? output_text(run->context, run->out_dir, "fields.xdmf", text)
            : STORM_ERR_NOMEM;
    free(text);
    return status;
}

/* ---- a dump --------------------------------------------------------------- */

static storm_status fields_write(struct run *run, double *const all[FIELDS_N])
{
    size_t n = (size_t)storm_mesh_n_cells_total(run->mesh);
    char name[64];
    struct fields_array arrays[FIELDS_N];
    for (size_t i = 0; i < n; i++)
        all[3][i] = sqrt(sqrt(all[2][i] / run->problem.radiation));
    for (int k = 0; k < FIELDS_N; k++)
        arrays[k] = (struct fields_array){fields_names[k], all[k], n, 1};
    snprintf(name, sizeof name, "fields-%" PRIu64 ".h5", run->step);
    storm_status status = fields_file(run, name, arrays, FIELDS_N, 0);
    return status < 0 ? status : fields_index(run);
}

storm_status output_fields(struct run *run)
{
    const storm_imc_field from[FIELDS_N] = {
        STORM_IMC_TEMPERATURE, STORM_IMC_MATERIAL_ENERGY, run_radiation(run),
        run_radiation(run)};
    double *all[FIELDS_N] = {NULL};
    storm_status status = run->mesh_written ? STORM_OK : fields_mesh(run);
    run->mesh_written = true;
    double *mine = malloc(((size_t)run->imc->n_cells + 1) * sizeof *mine);
    status = storm_context_agree(run->context,
                                 status < 0 ? status
                                            : (mine != NULL ? STORM_OK
                                                            : STORM_ERR_NOMEM));
    for (int k = 0; k < FIELDS_N && status == STORM_OK; k++) {
        status = storm_imc_get(run->imc, run->engine, from[k], mine);
        if (status == STORM_OK)
            status = fields_gather(run, mine, 1, &all[k]);
    }
    if (status == STORM_OK && storm_context_rank(run->context) == 0)
        status = fields_write(run, all);
    for (int k = 0; k < FIELDS_N; k++)
        free(all[k]);
    free(mine);
    return storm_context_agree(run->context, status);
}
