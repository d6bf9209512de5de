/* SPDX-License-Identifier: BSD-3-Clause */
/* fields.xdmf: describes the HDF5 files for ParaView. On rank 0. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    snprintf(shape, sizeof shape, "%" PRIu64 " 3", n);
    storm_page_add(page, "        <Attribute Name=\"centroid\" "
                         "AttributeType=\"Vector\" Center=\"Cell\">");
    xdmf_item(page, "Float", shape, file, "centroid");
    storm_page_add(page, "</Attribute>\n");
}

void io_add_xdmf(const struct io_source *source, struct io_series *series)
{
    struct storm_page *page = &series->grids;
    uint64_t n = storm_mesh_n_cells_total(source->mesh);
    char file[64], name[96], time[STORM_TEXT_REAL_BYTES];
    snprintf(file, sizeof file, "fields-%" PRIu64 ".h5", source->step);
    storm_text_from_real(source->time_s, time);
    storm_page_add(page,
                   "      <Grid Name=\"step %" PRIu64
                   "\">\n        <Time Value=\"%s\"/>\n",
                   source->step, time);
    xdmf_mesh(n, series, page);
    for (size_t i = 0; io_field_name(source, i, name, sizeof name); i++)
        xdmf_attribute(page, name, file, n);
    storm_page_add(page, "      </Grid>\n");
}

/* Files with their times, as ParaView reads them: the steps of the series that
 * have such a file. From an earlier version there may be others. */
static char *xdmf_series(const struct io_source *source,
                         const struct io_series *series, size_t *n_out)
{
    static const char head[] = "<Grid Name=\"step ", time[] = "<Time Value=\"";
    const char *at = series->grids.text;
    struct storm_page page = {0};
    *n_out = 0;
    storm_page_add(&page, "{\"file-series-version\": \"1.0\", \"files\": [");
    while (at != NULL && (at = strstr(at, head)) != NULL) {
        char path[IO_PATH_BYTES];
        unsigned long long step = strtoull(at + strlen(head), NULL, 10);
        at = strstr(at, time);
        if (at == NULL)
            break;
        at += strlen(time);
        snprintf(path, sizeof path, "%s/fields-%llu.hdf", source->dir, step);
        if (access(path, F_OK) == 0)
            storm_page_add(&page,
                           "%s\n  {\"name\": \"fields-%llu.hdf\", \"time\": "
                           "%.*s}",
                           (*n_out)++ > 0 ? "," : "", step,
                           (int)strcspn(at, "\""), at);
    }
    storm_page_add(&page, "\n]}\n");
    return storm_page_end(&page);
}

static storm_status xdmf_write_series(const struct io_source *source,
                                      const struct io_series *series)
{
    size_t n;
    char *text = xdmf_series(source, series, &n);
    storm_status status = text == NULL ? STORM_ERR_NOMEM
                          : n == 0     ? STORM_OK
                                   : io_write_text(source->context, source->dir,
                                                   "fields.hdf.series", text);
    free(text);
    return status;
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
    return status < 0 ? status : xdmf_write_series(source, series);
}
