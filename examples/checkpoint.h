/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checkpoints of a host for host_moving.c: one file, written and read by MPI on
 * any number of ranks. It has sizes, what the host has once, accounts of the
 * radiation, a row for each cell in order of the tags (the host's, then the
 * radiation's), and packets, in any order. All calls are collective.
 */
#ifndef STORM_EXAMPLES_CHECKPOINT_H
#define STORM_EXAMPLES_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include <storm/change.h>
#include <storm/context.h>
#include <storm/imc.h>

/* Every call below can fail, on all ranks together; the reason is logged. */
static void must(storm_status status)
{
    if (status < 0) {
        fprintf(stderr, "ended: %s\n", storm_status_name(status));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void *array(size_t n, size_t bytes)
{
    void *memory = calloc(n + 1, bytes);
    if (memory == NULL)
        must(STORM_ERR_NOMEM);
    return memory;
}

/* What the host has once (the same on every rank), and by local cell. */
struct checkpoint_host {
    const void *head;
    size_t head_bytes;
    const void *rows;
    size_t row_bytes;
};

struct checkpoint_sizes {
    uint64_t n_cells, n_packets, head_bytes, row_bytes, record_bytes;
    uint64_t version, state_bytes, account_bytes; /* of the radiation */
};

/* A file that is being read: this rank has the rows `first` to `first + n`. */
struct checkpoint {
    struct storm_context *context;
    MPI_File file;
    struct checkpoint_sizes sizes;
    uint64_t first;
    size_t n;
    char *rows;
    int64_t *accounts;
    uint64_t packets_at;
};

/* Where this rank's share of n things begins, or with `more` 1 ends. */
static uint64_t checkpoint_share(const struct storm_context *context,
                                 uint64_t n, int more)
{
    return n * (uint64_t)(storm_context_rank(context) + more) /
           (uint64_t)storm_context_size(context);
}

static MPI_File checkpoint_file(const struct storm_context *context,
                                const char *path, int mode)
{
    MPI_File file;
    bool ok = MPI_File_open(storm_context_comm(context), path, mode,
                            MPI_INFO_NULL, &file) == MPI_SUCCESS;
    must(ok ? STORM_OK : STORM_ERR_IO);
    return file;
}

/* Writes n items of this rank at byte `at`, or reads them. */
static void checkpoint_move(MPI_File file, bool write, uint64_t at, void *items,
                            size_t n, size_t bytes)
{
    MPI_Datatype item;
    MPI_Status status;
    int code, moved = -1, count = (int)n;
    MPI_Type_contiguous((int)bytes, MPI_BYTE, &item);
    MPI_Type_commit(&item);
    code = write ? MPI_File_write_at_all(file, (MPI_Offset)at, items, count,
                                         item, &status)
                 : MPI_File_read_at_all(file, (MPI_Offset)at, items, count,
                                        item, &status);
    if (code == MPI_SUCCESS)
        MPI_Get_count(&status, item, &moved);
    MPI_Type_free(&item);
    must(moved == count ? STORM_OK : STORM_ERR_IO);
}

/* ---- writing ------------------------------------------------------------ */

static struct checkpoint_sizes
checkpoint_measure(const struct storm_mesh *mesh, const struct storm_imc *imc,
                   const struct checkpoint_host *host)
{
    struct storm_imc_layout layout = STORM_IMC_LAYOUT_INIT;
    must(storm_imc_state_layout(imc, &layout));
    return (struct checkpoint_sizes){
        .n_cells = storm_mesh_n_cells_total(mesh),
        .head_bytes = host->head_bytes,
        .row_bytes = host->row_bytes,
        .record_bytes = storm_imc_record_bytes(imc),
        .version = layout.version,
        .state_bytes = layout.cell_values * sizeof(double),
        .account_bytes =
            layout.n_accounts * layout.account_words * sizeof(int64_t)};
}

/* The rows of this rank's share, and accounts. */
static char *checkpoint_sort(const struct storm_mesh *mesh,
                             struct storm_imc *imc,
                             const struct checkpoint_host *host,
                             const struct checkpoint_sizes *sizes,
                             int64_t *accounts)
{
    size_t n = (size_t)storm_mesh_n_cells(mesh);
    size_t bytes = sizes->row_bytes + sizes->state_bytes;
    double *state = array(n, sizes->state_bytes);
    char *rows = array(n, bytes);
    char *sorted = array(storm_mesh_n_rows(mesh), bytes);
    must(storm_imc_save_state(imc, state, accounts));
    for (size_t i = 0; i < n; i++) {
        memcpy(&rows[i * bytes],
               (const char *)host->rows + i * sizes->row_bytes,
               sizes->row_bytes);
        memcpy(&rows[i * bytes + sizes->row_bytes],
               (const char *)state + i * sizes->state_bytes,
               sizes->state_bytes);
    }
    must(storm_mesh_rows(mesh, bytes, rows, sorted));
    free(state);
    free(rows);
    return sorted;
}

static void checkpoint_write(const struct storm_context *context,
                             const char *path, const struct storm_mesh *mesh,
                             struct storm_imc *imc, struct storm_engine *engine,
                             const struct checkpoint_host *host)
{
    struct checkpoint_sizes sizes = checkpoint_measure(mesh, imc, host);
    int64_t *accounts = array(1, sizes.account_bytes);
    char *rows = checkpoint_sort(mesh, imc, host, &sizes, accounts);
    size_t row_bytes = sizes.row_bytes + sizes.state_bytes, n;
    void *const *packets = storm_engine_packets(engine, &n);
    char *records = array(n, sizes.record_bytes);
    for (size_t i = 0; i < n; i++)
        memcpy(&records[i * sizes.record_bytes], packets[i],
               sizes.record_bytes);
    uint64_t before = n, at = sizeof sizes;
    sizes.n_packets = n;
    must(storm_context_exscan(context, &before, 1));
    must(storm_context_reduce(context, &sizes.n_packets, 1, MPI_UINT64_T,
                              MPI_SUM));

    MPI_File file =
        checkpoint_file(context, path, MPI_MODE_CREATE | MPI_MODE_WRONLY);
    size_t once = storm_context_rank(context) == 0;
    checkpoint_move(file, true, 0, &sizes, once, sizeof sizes);
    checkpoint_move(file, true, at, (void *)(uintptr_t)host->head, once,
                    sizes.head_bytes);
    at += sizes.head_bytes;
    checkpoint_move(file, true, at, accounts, once, sizes.account_bytes);
    at += sizes.account_bytes;
    checkpoint_move(file, true,
                    at +
                        checkpoint_share(context, sizes.n_cells, 0) * row_bytes,
                    rows, storm_mesh_n_rows(mesh), row_bytes);
    at += sizes.n_cells * row_bytes;
    checkpoint_move(file, true, at + before * sizes.record_bytes, records, n,
                    sizes.record_bytes);
    MPI_File_close(&file);
    free(accounts);
    free(rows);
    free(records);
}

/* ---- reading ------------------------------------------------------------ */

/* What the host has once, and a share of the rows. */
static void checkpoint_open(struct storm_context *context, const char *path,
                            void *head, size_t head_bytes, struct checkpoint *c)
{
    *c = (struct checkpoint){
        .context = context,
        .file = checkpoint_file(context, path, MPI_MODE_RDONLY)};
    struct checkpoint_sizes *sizes = &c->sizes;
    uint64_t at = sizeof *sizes;
    checkpoint_move(c->file, false, 0, sizes, 1, sizeof *sizes);
    must(sizes->head_bytes == head_bytes ? STORM_OK : STORM_ERR_IO);
    checkpoint_move(c->file, false, at, head, 1, head_bytes);
    at += head_bytes;
    c->accounts = array(1, sizes->account_bytes);
    checkpoint_move(c->file, false, at, c->accounts, 1, sizes->account_bytes);
    at += sizes->account_bytes;
    size_t bytes = sizes->row_bytes + sizes->state_bytes;
    c->first = checkpoint_share(context, sizes->n_cells, 0);
    c->n = checkpoint_share(context, sizes->n_cells, 1) - c->first;
    c->rows = array(c->n, bytes);
    checkpoint_move(c->file, false, at + c->first * bytes, c->rows, c->n,
                    bytes);
    c->packets_at = at + sizes->n_cells * bytes;
}

/* The host's part of row first + i. */
static const void *checkpoint_row(const struct checkpoint *c, size_t i)
{
    return &c->rows[i * (c->sizes.row_bytes + c->sizes.state_bytes)];
}

/* Loads the radiation, in place of storm_imc_start, and closes the file. Rows
 * go to where their cells are: the host's, to rows_out. Packets find their
 * cells by themselves. */
static void checkpoint_load(struct checkpoint *c, const struct storm_mesh *mesh,
                            struct storm_imc *imc, struct storm_engine *engine,
                            void *rows_out)
{
    const struct checkpoint_sizes *sizes = &c->sizes;
    size_t n = (size_t)storm_mesh_n_cells(mesh);
    size_t bytes = sizes->row_bytes + sizes->state_bytes;
    double *state = array(n, sizes->state_bytes);
    char *rows = array(n, bytes);
    must(storm_mesh_unrows(mesh, bytes, c->rows, rows));
    for (size_t i = 0; i < n; i++) {
        memcpy((char *)rows_out + i * sizes->row_bytes, &rows[i * bytes],
               sizes->row_bytes);
        memcpy((char *)state + i * sizes->state_bytes,
               &rows[i * bytes + sizes->row_bytes], sizes->state_bytes);
    }
    must(storm_imc_load_state(imc, sizes->version, state, c->accounts));
    uint64_t first = checkpoint_share(c->context, sizes->n_packets, 0);
    size_t n_packets =
        checkpoint_share(c->context, sizes->n_packets, 1) - first;
    char *records = array(n_packets, sizes->record_bytes);
    checkpoint_move(c->file, false, c->packets_at + first * sizes->record_bytes,
                    records, n_packets, sizes->record_bytes);
    MPI_File_close(&c->file);
    for (size_t i = 0; i < n_packets; i++)
        must(storm_engine_add(engine, &records[i * sizes->record_bytes]));
    free(state);
    free(rows);
    free(records);
    free(c->rows);
    free(c->accounts);
}

#endif /* STORM_EXAMPLES_CHECKPOINT_H */
