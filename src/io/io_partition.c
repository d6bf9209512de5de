/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * partition.csv: which rank owns which rows of the files, as runs of rows in
 * order. Where tags are places that is one line for each rank; else as many as
 * it takes, written as they come.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/change.h>

#include "base/env.h"
#include "io/io_fields.h"
#include "io/io_files.h"
#include "io/io_gather.h"

static const char partition_name[] = "partition.csv";
static const char partition_head[] = "rank,first_cell,cells\n";
static const char partition_label[] = "output";

/* Where tags are places. On rank 0. */
static storm_status partition_by_place(const struct io_source *source)
{
    struct storm_page page = {0};
    storm_page_add(&page, "%s", partition_head);
    for (int r = 0; r < storm_context_size(source->context); r++) {
        uint64_t first = storm_mesh_first_place(source->mesh, r);
        uint64_t end = storm_mesh_first_place(source->mesh, r + 1);
        storm_page_add(&page, "%d,%" PRIu64 ",%" PRIu64 "\n", r, first,
                       end - first);
    }
    char *text = storm_page_end(&page);
    storm_status status =
        text != NULL
            ? io_write_text(source->context, source->dir, partition_name, text)
            : STORM_ERR_NOMEM;
    free(text);
    return status;
}

/* ---- runs of rows -------------------------------------------------------- */

/* The file, and the run that is not in it yet. On rank 0. */
struct partition_runs {
    struct io_part file;
    uint64_t bytes;
    int64_t owner;
    uint64_t first, n;
};

static void partition_write(struct partition_runs *runs,
                            struct storm_page *page)
{
    char *text = storm_page_end(page);
    size_t n = text != NULL ? strlen(text) : 0;
    if (text == NULL && runs->file.error == 0)
        runs->file.error = ENOMEM;
    io_part_write(&runs->file, text, n, runs->bytes);
    runs->bytes += n;
    free(text);
}

static void partition_end_run(struct partition_runs *runs,
                              struct storm_page *page)
{
    if (runs->n > 0)
        storm_page_add(page, "%" PRId64 ",%" PRIu64 ",%" PRIu64 "\n",
                       runs->owner, runs->first, runs->n);
    runs->first += runs->n;
    runs->n = 0;
}

/* The next owners. Errors are the file's: they come at the end. */
static storm_status partition_take(void *self, const void *rows, size_t n)
{
    struct partition_runs *runs = self;
    const int64_t *owners = rows;
    struct storm_page page = {0};
    storm_page_add(&page, "%s", runs->bytes == 0 ? partition_head : "");
    for (size_t i = 0; i < n; i++) {
        if (owners[i] != runs->owner)
            partition_end_run(runs, &page);
        runs->owner = owners[i];
        runs->n++;
    }
    partition_write(runs, &page);
    return STORM_OK;
}

static void partition_fill(void *self, size_t first, size_t n, void *rows_out)
{
    memcpy(rows_out, (const int64_t *)self + first, n * sizeof(int64_t));
}

/* The last run, and the name, unless there was an error before, which is logged
 * then. On rank 0. */
static storm_status partition_finish(const struct io_source *source,
                                     storm_status status,
                                     struct partition_runs *runs)
{
    struct storm_page page = {0};
    char problem[IO_PATH_BYTES + 256];
    storm_page_add(&page, "%s", "");
    partition_end_run(runs, &page);
    partition_write(runs, &page);
    if (status < 0 && runs->file.error == 0)
        runs->file.error = ECANCELED; /* it is removed */
    io_part_close(&runs->file);
    io_part_commit(&runs->file);
    if (status < 0 || runs->file.error == 0)
        return status;
    io_files_problem(runs->file.path, runs->file.error, problem,
                     sizeof problem);
    storm_context_log(source->context, STORM_LOG_ERROR, "%s", problem);
    return STORM_ERR_IO;
}

/* Owners of this rank's share of the rows. Collective. */
static storm_status partition_owners(const struct io_source *source,
                                     int64_t **owners_out)
{
    struct storm_memory *memory = storm_context_env(source->context)->memory;
    size_t n = (size_t)storm_mesh_n_cells(source->mesh);
    size_t n_rows = storm_mesh_n_rows(source->mesh);
    int64_t *own = storm_alloc(memory, partition_label, (n + 1) * sizeof *own);
    *owners_out =
        storm_alloc(memory, partition_label, (n_rows + 1) * sizeof *own);
    bool good = own != NULL && *owners_out != NULL;
    storm_status status =
        storm_context_agree(source->context, good ? STORM_OK : STORM_ERR_NOMEM);
    for (size_t i = 0; i < n && status == STORM_OK; i++)
        own[i] = storm_context_rank(source->context);
    if (status == STORM_OK)
        status = storm_mesh_rows(source->mesh, sizeof *own, own, *owners_out);
    storm_free(memory, own);
    return status;
}

/* Collective. */
static storm_status partition_by_row(const struct io_source *source)
{
    struct storm_memory *memory = storm_context_env(source->context)->memory;
    struct partition_runs runs = {.file = {.fd = -1}};
    struct io_gather_rows rows = {.n = storm_mesh_n_rows(source->mesh),
                                  .row_bytes = sizeof(int64_t),
                                  .fill = partition_fill};
    int64_t *owners = NULL;
    bool is_root = storm_context_rank(source->context) == 0;
    storm_status status = partition_owners(source, &owners);
    rows.self = owners;
    if (status == STORM_OK) {
        if (is_root)
            io_part_open(&runs.file, source->dir, partition_name, true);
        status = io_gather(source->context, &rows, partition_take, &runs);
        if (is_root)
            status = partition_finish(source, status, &runs);
    }
    storm_free(memory, owners);
    return storm_context_agree(source->context, status);
}

storm_status io_write_partition(const struct io_source *source)
{
    if (!storm_mesh_is_in_order(source->mesh))
        return partition_by_row(source);
    bool is_root = storm_context_rank(source->context) == 0;
    return storm_context_agree(source->context,
                               is_root ? partition_by_place(source) : STORM_OK);
}
