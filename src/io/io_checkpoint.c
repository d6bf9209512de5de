/* SPDX-License-Identifier: BSD-3-Clause */
/* One checkpoint as a file. */
#include "io/io_checkpoint.h"

#include <stdlib.h>
#include <string.h>

#include <hdf5.h>

#include <storm/context.h>

#include "io/io_h5.h"
#include "mesh/mesh_ops.h"

enum {
    WORD = sizeof(uint64_t),
    HEAD_WORDS = sizeof(struct checkpoint_head) / WORD,
    PACKET_WORDS = sizeof(struct storm_packet) / WORD,
    LEDGER_WORDS = sizeof(struct storm_ledger) / WORD
};
_Static_assert(HEAD_WORDS *WORD == sizeof(struct checkpoint_head) &&
                   PACKET_WORDS * WORD == sizeof(struct storm_packet) &&
                   LEDGER_WORDS * WORD == sizeof(struct storm_ledger),
               "all are whole words");

/* ---- writing -------------------------------------------------------------- */

static void packets_fill(void *self, size_t first, size_t n, void *rows_out)
{
    void *const *packets = *(void *const *const *)self;
    struct storm_packet *rows = rows_out;
    for (size_t i = 0; i < n; i++) {
        memcpy(&rows[i], packets[first + i], sizeof rows[i]);
        rows[i].cell_idx = -1; /* that of another rank, next time */
    }
}

/* What lies in memory as it goes to the file. */
struct plain_rows {
    const void *rows;
    size_t row_bytes;
};

static void plain_fill(void *self, size_t first, size_t n, void *rows_out)
{
    const struct plain_rows *plain = self;
    memcpy(rows_out, (const char *)plain->rows + first * plain->row_bytes,
           n * plain->row_bytes);
}

static storm_status write_plain(struct output_h5 *file, const char *name,
                                output_kind kind, size_t columns,
                                const void *rows, size_t n)
{
    struct plain_rows plain = {rows, columns * WORD};
    struct output_array array = {.name = name,
                                 .kind = kind,
                                 .columns = columns,
                                 .n = n,
                                 .self = &plain,
                                 .fill = plain_fill};
    return output_h5_put(file, &array);
}

static storm_status write_packets(struct run *run, struct output_h5 *file)
{
    struct output_array array = {.name = "packets",
                                 .kind = OUTPUT_WHOLE,
                                 .columns = PACKET_WORDS,
                                 .fill = packets_fill};
    void *const *packets = storm_engine_packets(run->engine, &array.n);
    array.self = &packets;
    return output_h5_put(file, &array);
}

static storm_status write_cells(struct run *run, struct output_h5 *file)
{
    double *state = imc_state_new(run->imc);
    storm_status status =
        storm_context_agree(run->context,
                            state != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK) {
        imc_state_get(run->imc, state);
        status = write_plain(file, "cells", OUTPUT_REAL, IMC_STATE_VALUES,
                             state, (size_t)run->imc->n_cells);
    }
    free(state);
    return status;
}

/* What rank 0 knows for all. The text of the dumps ends with zeros. */
static storm_status write_common(struct run *run, struct output_h5 *file,
                                 const struct checkpoint_head *head,
                                 const struct storm_ledger *account)
{
    const char *dumps = run->grids.text != NULL ? run->grids.text : "";
    bool is_root = storm_context_rank(run->context) == 0;
    size_t length = strlen(dumps), n_words = length / WORD + 1;
    char *words = calloc(n_words, WORD);
    storm_status status =
        storm_context_agree(run->context,
                            words != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK) {
        memcpy(words, dumps, length);
        status = write_plain(file, "head", OUTPUT_WHOLE, HEAD_WORDS, head,
                             is_root ? 1 : 0);
    }
    if (status == STORM_OK)
        status = write_plain(file, "accounts", OUTPUT_WHOLE, LEDGER_WORDS,
                             account, is_root ? STORM_LEDGER_ACCOUNTS : 0);
    if (status == STORM_OK)
        status = write_plain(file, "dumps", OUTPUT_WHOLE, 1, words,
                             is_root ? n_words : 0);
    free(words);
    return status;
}

storm_status checkpoint_write(struct run *run,
                              const struct checkpoint_head *head,
                              const char *dir, const char *name)
{
    struct storm_ledger account[STORM_LEDGER_ACCOUNTS];
    struct output_h5 *file = NULL;
    storm_status status =
        storm_ledger_sum(run->imc->account, run->context, account);
    if (status == STORM_OK)
        status = output_h5_create(run->context, dir, name, &file);
    if (status == STORM_OK) {
        output_h5_add_checksums(file); /* P3 */
        status = write_common(run, file, head, account);
    }
    if (status == STORM_OK)
        status = write_cells(run, file);
    if (status == STORM_OK)
        status = write_packets(run, file);
    storm_status closed = output_h5_close(file);
    return status < 0 ? status : closed;
}

/* ---- reading -------------------------------------------------------------- */

/* How many rows an array has, if it has so many columns; negative: it has not. */
static hssize_t array_rows(hid_t set, hsize_t columns)
{
    hsize_t shape[2] = {0, 1};
    hid_t space = H5Dget_space(set);
    bool good = H5Sget_simple_extent_ndims(space) == (columns > 1 ? 2 : 1) &&
                H5Sget_simple_extent_dims(space, shape, NULL) > 0 &&
                shape[1] == columns;
    H5Sclose(space);
    return good ? (hssize_t)shape[0] : -1;
}

/* Rows [first, first + n). */
static bool array_get(hid_t file, const char *name, hid_t type, hsize_t first,
                      hsize_t n, hsize_t columns, void *rows_out)
{
    hsize_t start[2] = {first, 0}, count[2] = {n, columns};
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    if (set < 0)
        return false;
    bool good = (hssize_t)(first + n) <= array_rows(set, columns);
    if (good && n > 0) {
        hid_t from = H5Dget_space(set);
        hid_t to = H5Screate_simple(2, count, NULL);
        good = H5Sselect_hyperslab(from, H5S_SELECT_SET, start, NULL, count,
                                   NULL) >= 0 &&
               H5Dread(set, type, to, from, H5P_DEFAULT, rows_out) >= 0;
        H5Sclose(to);
        H5Sclose(from);
    }
    H5Dclose(set);
    return good;
}

static bool dumps_get(hid_t file, char **text_out)
{
    hid_t set = H5Dopen2(file, "dumps", H5P_DEFAULT);
    if (set < 0)
        return false;
    hssize_t n = array_rows(set, 1);
    H5Dclose(set);
    if (n < 0)
        return false;
    *text_out = calloc((size_t)n + 1, WORD);
    return *text_out != NULL && array_get(file, "dumps", H5T_NATIVE_INT64, 0,
                                          (hsize_t)n, 1, *text_out);
}

/* This rank's share of the packets, wherever they are. */
static bool packets_get(const struct run *run, hid_t file, struct checkpoint *c)
{
    uint64_t size = (uint64_t)storm_context_size(run->context);
    uint64_t rank = (uint64_t)storm_context_rank(run->context);
    uint64_t each = c->head.n_packets / size, rest = c->head.n_packets % size;
    uint64_t first = each * rank + (rank < rest ? rank : rest);
    c->n_packets = (size_t)(each + (rank < rest));
    c->packets = malloc((c->n_packets + 1) * sizeof *c->packets);
    return c->packets != NULL &&
           array_get(file, "packets", H5T_NATIVE_INT64, first, c->n_packets,
                     PACKET_WORDS, c->packets);
}

static bool cells_get(const struct run *run, hid_t file, struct checkpoint *c)
{
    const struct storm_imc *imc = run->imc;
    c->cells = imc_state_new(imc);
    return c->cells != NULL &&
           array_get(file, "cells", H5T_NATIVE_DOUBLE,
                     storm_mesh_cell_id(imc->mesh, 0), (hsize_t)imc->n_cells,
                     IMC_STATE_VALUES, c->cells);
}

storm_status checkpoint_read(const struct run *run, const char *path,
                             struct checkpoint *checkpoint_out)
{
    struct checkpoint *c = checkpoint_out;
    *c = (struct checkpoint){.cells = NULL};
    hid_t file = -1;
    bool good = false;
    H5E_BEGIN_TRY /* P3: the caller says it in one line */
    {
        file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
        good = file >= 0 &&
               array_get(file, "head", H5T_NATIVE_INT64, 0, 1, HEAD_WORDS,
                         &c->head) &&
               c->head.version == CHECKPOINT_VERSION;
        /* Of another mesh (P4): there is no use in reading on. */
        bool same = c->head.n_cells == storm_mesh_n_cells_total(run->mesh);
        if (good && same)
            good = cells_get(run, file, c) && packets_get(run, file, c) &&
                   array_get(file, "accounts", H5T_NATIVE_INT64, 0,
                             STORM_LEDGER_ACCOUNTS, LEDGER_WORDS, c->account) &&
                   dumps_get(file, &c->grids);
        if (file >= 0)
            H5Fclose(file);
    }
    H5E_END_TRY
    return good ? STORM_OK : STORM_ERR_IO;
}

void checkpoint_clear(struct checkpoint *checkpoint)
{
    free(checkpoint->cells);
    free(checkpoint->packets);
    free(checkpoint->grids);
    *checkpoint = (struct checkpoint){.cells = NULL};
}
