/* SPDX-License-Identifier: BSD-3-Clause */
/* fields.xdmf: describes the HDF5 files for ParaView. On rank 0. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "io/io_fields.h"
#include "io/io_files.h"
#include "io/io_means.h"

static void xdmf_item(struct storm_page *page, const char *type,
                      const char *shape, const char *file, const char *name)
{
    storm_page_add(page,
                   "<DataItem Format=\"HDF\" NumberType=\"%s\" "
                   "Precision=\"8\" Dimensions=\"%s\">%s:/%s</DataItem>",
                   type, shape, file, name);
}

static void xdmf_attribute(struct storm_page *page, const char *name,
                           const char *file, uint64_t n)
{
    char shape[32];
    snprintf(shape, sizeof shape, "%" PRIu64, n);
    storm_page_add(page, "        <Attribute Name=\"%s\" Center=\"Cell\">",
                   name);
    xdmf_item(page, "Float", shape, file, name);
    storm_page_add(page, "</Attribute>\n");
}

static void xdmf_mesh(uint64_t n, const struct io_series *series,
                      struct storm_page *page)
{
    bool boxes = series->n_words == 0;
    char shape[64], file[IO_MESH_NAME];
    io_mesh_name(series->mesh_step, file);
    storm_page_add(page,
                   "        <Topology TopologyType=\"%s\" "
                   "NumberOfElements=\"%" PRIu64 "\">",
                   boxes ? "Hexahedron" : "Mixed", n);
    if (boxes)
        snprintf(shape, sizeof shape, "%" PRIu64 " 8", n);
    else
        snprintf(shape, sizeof shape, "%" PRIu64, series->n_words);
    xdmf_item(page, "Int", shape, file, boxes ? "corners" : "cells");
    storm_page_add(page, "</Topology>\n        "
                         "<Geometry GeometryType=\"XYZ\">");
    snprintf(shape, sizeof shape, "%" PRIu64 " 3", series->n_points);
    xdmf_item(page, "Float", shape, file, "points");
    storm_page_add(page, "</Geometry>\n");
    xdmf_attribute(page, "material", file, n);
    xdmf_attribute(page, "volume", file, n);
}

/* What io_write_fields has written, with this at the end of the names. */
static void xdmf_fields(const struct io_source *source, const char *suffix,
                        const char *file, struct storm_page *page)
{
    uint64_t n = storm_mesh_n_cells_total(source->mesh);
    char name[64], with[96];
    for (int k = 0; k < IO_N_FIELDS; k++) {
        snprintf(with, sizeof with, "%s%s", io_field_names[k], suffix);
        xdmf_attribute(page, with, file, n);
    }
    for (unsigned m = 1; m <= source->moments; m *= 2) {
        size_t n_values =
            (source->moments & m) != 0
                ? storm_imc_moment_values(source->imc, (storm_imc_moment)m)
                : 0;
        for (size_t i = 0; i < n_values; i++) {
            io_moment_name((storm_imc_moment)m, i, name, sizeof name);
            snprintf(with, sizeof with, "%s%s", name, suffix);
            xdmf_attribute(page, with, file, n);
        }
    }
}

void io_add_xdmf(const struct io_source *source, struct io_series *series)
{
    struct storm_page *page = &series->grids;
    uint64_t n = storm_mesh_n_cells_total(source->mesh);
    char file[64], time[STORM_TEXT_REAL_BYTES];
    snprintf(file, sizeof file, "fields-%" PRIu64 ".h5", source->step);
    storm_text_from_real(source->time_s, time);
    storm_page_add(page,
                   "      <Grid Name=\"step %" PRIu64
                   "\">\n        <Time Value=\"%s\"/>\n",
                   source->step, time);
    xdmf_mesh(n, series, page);
    xdmf_fields(source, "", file, page);
    if (source->replica > 1)
        xdmf_fields(source, IO_ERROR_SUFFIX, file, page);
    storm_page_add(page, "      </Grid>\n");
}

storm_status io_write_xdmf(const struct io_source *source,
                           const struct io_series *series)
{
    struct storm_page page = {0};
    storm_page_add(
        &page,
        "<?xml version=\"1.0\"?>\n<Xdmf Version=\"3.0\">\n"
        "  <Domain>\n    <Grid Name=\"storm\" GridType=\"Collection\""
        " CollectionType=\"Temporal\">\n%s    </Grid>\n"
        "  </Domain>\n</Xdmf>\n",
        series->grids.failed ? "" : series->grids.text);
    char *text = storm_page_end(&page);
    storm_status status =
        text != NULL && !series->grids.failed
            ? io_write_text(source->context, source->dir, "fields.xdmf", text)
            : STORM_ERR_NOMEM;
    free(text);
    return status;
}
