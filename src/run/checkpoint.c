/* SPDX-License-Identifier: BSD-3-Clause */
/* One checkpoint as a file. */
#include "run/checkpoint.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <hdf5.h>

#include <storm/context.h>

#include "mesh/mesh_ops.h"
#include "run/gather.h"

enum {
    PACKET_WORDS = sizeof(struct storm_packet) / sizeof(uint64_t),
    LEDGER_WORDS = sizeof(struct storm_ledger) / sizeof(int64_t),
    CHUNK_ROWS = 4096
};
_Static_assert(PACKET_WORDS * sizeof(uint64_t) == sizeof(struct storm_packet),
               "packets are whole words");

/* The head, number by number, for writing and reading. */
struct checkpoint_number {
    const char *name;
    size_t offset;
    bool is_real;
};
#define COUNT(_field)                                            \
    {                                                            \
#_field, offsetof(struct checkpoint_head, _field), false \
    }
#define REAL(_field)                                            \
    {                                                           \
#_field, offsetof(struct checkpoint_head, _field), true \
    }
static const struct checkpoint_number numbers[] = {
    COUNT(version), COUNT(step),      COUNT(n_cells),     COUNT(n_groups),
    COUNT(seed),    COUNT(mesh_hash), COUNT(n_packets),   COUNT(state_hash),
    COUNT(created), COUNT(absorbed),  COUNT(escaped),     REAL(start_s),
    REAL(time_s),   REAL(nominal_s),  REAL(worst_balance)};
enum { N_NUMBERS = sizeof numbers / sizeof numbers[0] };

/* ---- arrays --------------------------------------------------------------- */

/* An array of rows in the file, open. */
struct checkpoint_array {
    hid_t set, type;
    hsize_t columns, at; /* next row */
};

static struct checkpoint_array array_create(hid_t file, const char *name,
                                            hid_t on_disk, hid_t type,
                                            hsize_t rows, hsize_t columns)
{
    hsize_t shape[2] = {rows, columns}, most[2] = {H5S_UNLIMITED, columns};
    hsize_t chunk[2] = {CHUNK_ROWS, columns};
    hid_t space = H5Screate_simple(2, shape, most);
    hid_t how = H5Pcreate(H5P_DATASET_CREATE);
    hid_t set = -1;
    if (H5Pset_chunk(how, 2, chunk) >= 0 && H5Pset_fletcher32(how) >= 0) /*P3*/
        set = H5Dcreate2(file, name, on_disk, space, H5P_DEFAULT, how,
                         H5P_DEFAULT);
    H5Pclose(how);
    H5Sclose(space);
    return (struct checkpoint_array){
        .set = set, .type = type, .columns = columns};
}

/* The next rows, written or read. */
static bool array_move(struct checkpoint_array *array, hsize_t n,
                       const void *from, void *to)
{
    hsize_t start[2] = {array->at, 0}, count[2] = {n, array->columns};
    if (n == 0)
        return true;
    hid_t file_space = H5Dget_space(array->set);
    hid_t memory_space = H5Screate_simple(2, count, NULL);
    bool good = H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start, NULL,
                                    count, NULL) >= 0;
    if (good && from != NULL)
        good = H5Dwrite(array->set, array->type, memory_space, file_space,
                        H5P_DEFAULT, from) >= 0;
    else if (good)
        good = H5Dread(array->set, array->type, memory_space, file_space,
                       H5P_DEFAULT, to) >= 0;
    H5Sclose(memory_space);
    H5Sclose(file_space);
    array->at += n;
    return good;
}

static storm_status array_take(void *self, const void *rows, size_t n)
{
    return array_move(self, n, rows, NULL) ? STORM_OK : STORM_ERR_IO;
}

/* An array at once, on rank 0. */
static bool array_put(hid_t file, const char *name, hid_t on_disk, hid_t type,
                      hsize_t rows, hsize_t columns, const void *values)
{
    struct checkpoint_array array =
        array_create(file, name, on_disk, type, rows, columns);
    bool good = array.set >= 0 && array_move(&array, rows, values, NULL);
    return array.set >= 0 && H5Dclose(array.set) >= 0 && good;
}

/* Rows [first, first + n) of an array that has so many columns. */
static bool array_get(hid_t file, const char *name, hid_t type, hsize_t first,
                      hsize_t n, hsize_t columns, void *values_out)
{
    hsize_t shape[2] = {0, 0};
    struct checkpoint_array array = {.set = H5Dopen2(file, name, H5P_DEFAULT),
                                     .type = type,
                                     .columns = columns,
                                     .at = first};
    if (array.set < 0)
        return false;
    hid_t space = H5Dget_space(array.set);
    bool good = H5Sget_simple_extent_ndims(space) == 2 &&
                H5Sget_simple_extent_dims(space, shape, NULL) == 2 &&
                shape[1] == columns && first + n <= shape[0];
    H5Sclose(space);
    good = good && array_move(&array, n, NULL, values_out);
    H5Dclose(array.set);
    return good;
}

/* ---- writing -------------------------------------------------------------- */

static bool head_put(hid_t file, const struct checkpoint_head *head)
{
    bool good = true;
    for (int i = 0; i < N_NUMBERS; i++) {
        const struct checkpoint_number *number = &numbers[i];
        good =
            array_put(file, number->name,
                      number->is_real ? H5T_IEEE_F64LE : H5T_STD_U64LE,
                      number->is_real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_UINT64,
                      1, 1, (const char *)head + number->offset) &&
            good;
    }
    return good;
}

static void packets_fill(void *self, size_t first, size_t n, void *rows_out)
{
    void *const *packets = self;
    struct storm_packet *rows = rows_out;
    for (size_t i = 0; i < n; i++) {
        memcpy(&rows[i], packets[first + i], sizeof rows[i]);
        rows[i].cell_idx = -1; /* that of another rank, next time */
    }
}

static void cells_fill(void *self, size_t first, size_t n, void *rows_out)
{
    const double *rows = self;
    memcpy(rows_out, &rows[first * IMC_STATE_VALUES],
           n * IMC_STATE_VALUES * sizeof *rows);
}

static storm_status write_packets(struct run *run, hid_t file, uint64_t total)
{
    struct gather_rows rows = {.row_bytes = sizeof(struct storm_packet),
                               .fill = packets_fill};
    struct checkpoint_array array = {.set = -1};
    void *const *packets = storm_engine_packets(run->engine, &rows.n);
    memcpy(&rows.self, &packets, sizeof rows.self);
    if (storm_context_rank(run->context) == 0)
        array = array_create(file, "packets", H5T_STD_U64LE, H5T_NATIVE_UINT64,
                             total, PACKET_WORDS);
    storm_status status = storm_gather(run->context, &rows, array_take, &array);
    if (array.set >= 0 && H5Dclose(array.set) < 0 && status == STORM_OK)
        status = STORM_ERR_IO;
    return status;
}

static storm_status write_cells(struct run *run, hid_t file)
{
    struct gather_rows rows = {.n = (size_t)run->imc->n_cells,
                               .row_bytes = IMC_STATE_VALUES * sizeof(double),
                               .fill = cells_fill};
    struct checkpoint_array array = {.set = -1};
    double *state = imc_state_new(run->imc);
    rows.self = state;
    storm_status status =
        storm_context_agree(run->context,
                            state != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK) {
        imc_state_get(run->imc, state);
        if (storm_context_rank(run->context) == 0)
            array = array_create(file, "cell_state", H5T_IEEE_F64LE,
                                 H5T_NATIVE_DOUBLE,
                                 storm_mesh_n_cells_total(run->mesh),
                                 IMC_STATE_VALUES);
        status = storm_gather(run->context, &rows, array_take, &array);
    }
    if (array.set >= 0 && H5Dclose(array.set) < 0 && status == STORM_OK)
        status = STORM_ERR_IO;
    free(state);
    return status;
}

/* Accounts and the list of dumps: what one rank knows for all. */
static bool root_put(const struct run *run, hid_t file,
                     const struct checkpoint_head *head,
                     const struct storm_ledger *account)
{
    const char *grids = run->grids.text != NULL ? run->grids.text : "";
    return head_put(file, head) &&
           array_put(file, "accounts", H5T_STD_I64LE, H5T_NATIVE_INT64,
                     IMC_ACCOUNTS, LEDGER_WORDS, account) &&
           array_put(file, "dumps", H5T_STD_U8LE, H5T_NATIVE_UINT8,
                     strlen(grids) + 1, 1, grids);
}

storm_status checkpoint_write(struct run *run,
                              const struct checkpoint_head *head,
                              const char *path)
{
    bool is_root = storm_context_rank(run->context) == 0;
    struct storm_ledger account[IMC_ACCOUNTS];
    hid_t file = -1;
    storm_status status =
        storm_ledger_sum(run->imc->account, run->context, account);
    if (status < 0)
        return status;
    H5E_BEGIN_TRY /* the caller says in one line what HDF5 would in fifty */
    {
        if (is_root)
            file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        if (is_root && (file < 0 || !root_put(run, file, head, account)))
            status = STORM_ERR_IO;
        status = storm_context_agree(run->context, status);
        if (status == STORM_OK)
            status = write_cells(run, file);
        if (status == STORM_OK)
            status = write_packets(run, file, head->n_packets);
        if (file >= 0 && H5Fclose(file) < 0 && status == STORM_OK)
            status = STORM_ERR_IO;
    }
    H5E_END_TRY
    return storm_context_agree(run->context, status);
}

/* ---- reading -------------------------------------------------------------- */

static bool head_get(hid_t file, struct checkpoint_head *head_out)
{
    bool good = true;
    for (int i = 0; i < N_NUMBERS && good; i++) {
        const struct checkpoint_number *number = &numbers[i];
        good =
            array_get(file, number->name,
                      number->is_real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_UINT64,
                      0, 1, 1, (char *)head_out + number->offset);
    }
    return good && head_out->version == CHECKPOINT_VERSION;
}

static bool dumps_get(hid_t file, char **text_out)
{
    hsize_t shape[2] = {0, 0};
    hid_t set = H5Dopen2(file, "dumps", H5P_DEFAULT);
    if (set < 0)
        return false;
    hid_t space = H5Dget_space(set);
    bool good = H5Sget_simple_extent_ndims(space) == 2 &&
                H5Sget_simple_extent_dims(space, shape, NULL) == 2;
    H5Sclose(space);
    H5Dclose(set);
    char *text = good ? malloc((size_t)shape[0] + 1) : NULL;
    if (text == NULL)
        return false;
    *text_out = text;
    text[shape[0]] = '\0';
    return array_get(file, "dumps", H5T_NATIVE_UINT8, 0, shape[0], 1, text);
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
           array_get(file, "packets", H5T_NATIVE_UINT64, first, c->n_packets,
                     PACKET_WORDS, c->packets);
}

static bool cells_get(const struct run *run, hid_t file, struct checkpoint *c)
{
    const struct storm_imc *imc = run->imc;
    c->cells = imc_state_new(imc);
    return c->cells != NULL &&
           array_get(file, "cell_state", H5T_NATIVE_DOUBLE,
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
    H5E_BEGIN_TRY /* see checkpoint_write */
    {
        file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
        good = file >= 0 && head_get(file, &c->head);
        /* Of another mesh (P4): there is no use in reading on. */
        bool same = c->head.n_cells == storm_mesh_n_cells_total(run->mesh);
        if (good && same)
            good = cells_get(run, file, c) && packets_get(run, file, c) &&
                   array_get(file, "accounts", H5T_NATIVE_INT64, 0,
                             IMC_ACCOUNTS, LEDGER_WORDS, c->account) &&
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
