/* SPDX-License-Identifier: BSD-3-Clause */
/* Checkpoint files: writing, reading, listing. */
#include "io/io_checkpoint.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <storm/octree.h>
#include <storm/tally.h>

#include "base/env.h"
#include "io/io_cells.h"
#include "io/io_h5.h"

static const char checkpoint_label[] = "checkpoint";

enum {
    WORD = sizeof(uint64_t),
    HEAD_WORDS = sizeof(struct io_checkpoint_head) / WORD,
    MESH_WORDS = sizeof(struct io_checkpoint_mesh) / WORD
};
_Static_assert(HEAD_WORDS *WORD == sizeof(struct io_checkpoint_head) &&
                   MESH_WORDS * WORD == sizeof(struct io_checkpoint_mesh),
               "all are whole words");

static struct storm_imc_layout checkpoint_layout(const struct storm_imc *imc)
{
    struct storm_imc_layout layout = STORM_IMC_LAYOUT_INIT;
    storm_imc_state_layout(imc, &layout);
    return layout;
}

/* Allocates arrays for the state of physics. */
static storm_status checkpoint_reserve(const struct storm_imc_layout *layout,
                                       size_t n_cells, struct io_checkpoint *c)
{
    c->n_cells = n_cells;
    c->cells = storm_alloc(c->memory, checkpoint_label,
                           (n_cells + 1) * layout->cell_values * WORD);
    c->accounts =
        storm_alloc(c->memory, checkpoint_label,
                    layout->n_accounts * layout->account_words * WORD);
    return c->cells != NULL && c->accounts != NULL ? STORM_OK : STORM_ERR_NOMEM;
}

static bool checkpoint_has_mesh(const struct io_checkpoint *c)
{
    return c->head.version == IO_CHECKPOINT_VERSION_MESH;
}

/* Room for tags, and generators or leaves, of n cells. */
static storm_status checkpoint_reserve_mesh(struct io_checkpoint *c, size_t n)
{
    c->tags =
        storm_alloc(c->memory, checkpoint_label, (n + 1) * sizeof *c->tags);
    if (c->mesh.source == IO_CHECKPOINT_LEAVES)
        c->leaves =
            storm_alloc(c->memory, checkpoint_label,
                        (n + 1) * STORM_OCTREE_LEAF * sizeof *c->leaves);
    else
        c->generators = storm_alloc(c->memory, checkpoint_label,
                                    (n + 1) * 3 * sizeof *c->generators);
    bool have = c->leaves != NULL || c->generators != NULL;
    return have && c->tags != NULL ? STORM_OK : STORM_ERR_NOMEM;
}

/* The array of them. */
static struct io_cells checkpoint_cells(const struct io_checkpoint *c)
{
    const struct io_cells leaves = {"leaves", IO_H5_INTEGER, STORM_OCTREE_LEAF,
                                    c->leaves};
    const struct io_cells generators = {"generators", IO_H5_REAL, 3,
                                        c->generators};
    return c->mesh.source == IO_CHECKPOINT_LEAVES ? leaves : generators;
}

/* ---- writing ------------------------------------------------------------- */

/* Records of an engine: struct storm_packet, or longer ones that begin so. */
struct records {
    void *const *packets;
    size_t bytes; /* of each */
};

static void packets_fill(void *self, size_t first, size_t n, void *rows_out)
{
    const struct records *from = self;
    char *row = rows_out;
    for (size_t i = 0; i < n; i++, row += from->bytes) {
        memcpy(row, from->packets[first + i], from->bytes);
        ((struct storm_packet *)(void *)row)->cell_idx = -1; /* may be read by
                                                      another rank */
    }
}

static storm_status write_packets(const struct io_source *source,
                                  struct io_h5_writer *file)
{
    struct records from = {.bytes = storm_imc_record_bytes(source->imc)};
    struct io_h5_share array = {.name = "packets",
                                .kind = IO_H5_INTEGER,
                                .columns = from.bytes / WORD,
                                .self = &from,
                                .fill = packets_fill};
    storm_status status =
        storm_context_agree(source->context,
                            storm_engine_fetch(source->engine));
    if (status < 0)
        return status;
    from.packets = storm_engine_packets(source->engine, &array.n);
    return io_h5_put(file, &array);
}

/* The list of dumps, padded with zeros to whole words. */
static storm_status write_dumps(const struct io_source *source,
                                struct io_h5_writer *file, const char *text)
{
    struct storm_memory *memory = storm_context_env(source->context)->memory;
    size_t n_words = strlen(text) / WORD + 1;
    char *words = storm_alloc(memory, checkpoint_label, n_words * WORD);
    storm_status status =
        storm_context_agree(source->context,
                            words != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK) {
        memcpy(words, text, strlen(text));
        status =
            io_h5_put_plain(file, "dumps", IO_H5_INTEGER, 1, words,
                            storm_context_rank(source->context) == 0 ? n_words
                                                                     : 0);
    }
    storm_free(memory, words);
    return status;
}

/* Their sums of all ranks, if there are tallies. Collective. */
static storm_status write_tallies(const struct io_source *source,
                                  struct io_h5_writer *file)
{
    struct storm_memory *memory = storm_context_env(source->context)->memory;
    bool is_root = storm_context_rank(source->context) == 0;
    size_t n;
    storm_status status = storm_imc_tally_words(source->imc, &n);
    if (status < 0 || n == 0)
        return status;
    int64_t *words = storm_alloc(memory, checkpoint_label, n * sizeof *words);
    status = storm_context_agree(source->context,
                                 words != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK)
        status = storm_imc_tally_save(source->imc, words);
    if (status == STORM_OK)
        status = io_h5_put_plain(file, "tallies", IO_H5_INTEGER, 1, words,
                                 is_root ? n : 0);
    storm_free(memory, words);
    return status;
}

/* The mesh, if it cannot be made from the deck. Collective. */
static storm_status write_cells(const struct io_source *source,
                                struct io_h5_writer *file,
                                struct io_checkpoint *c)
{
    const struct storm_mesh *mesh = source->mesh;
    storm_cell_idx n = storm_mesh_n_cells(mesh);
    storm_status status = checkpoint_reserve_mesh(c, (size_t)n);
    for (storm_cell_idx i = 0; i < n && status == STORM_OK; i++) {
        size_t k = (size_t)i;
        c->tags[k] = storm_mesh_cell_id(mesh, i);
        status =
            c->leaves != NULL
                ? storm_octree_leaf(mesh, i, &c->leaves[STORM_OCTREE_LEAF * k])
                : storm_mesh_generator(mesh, i, &c->generators[3 * k]);
    }
    const struct io_cells cells = checkpoint_cells(c);
    const struct io_cells tags = {"tags", IO_H5_INTEGER, 1, c->tags};
    status = storm_context_agree(source->context, status);
    if (status == STORM_OK)
        status = io_cells_put(source, file, &cells);
    return status < 0 ? status : io_cells_put(source, file, &tags);
}

/* What a mesh that has changed is built from. Collective. */
static storm_status write_choose(const struct io_source *source,
                                 uint64_t *mesh_source_out)
{
    const struct storm_mesh *mesh = source->mesh;
    double generator_cm[3];
    int64_t leaf[STORM_OCTREE_LEAF];
    bool is_some = storm_mesh_n_cells(mesh) > 0;
    int have = IO_CHECKPOINT_DECK;
    if (is_some && storm_mesh_generator(mesh, 0, generator_cm) == STORM_OK)
        have = IO_CHECKPOINT_GENERATORS;
    else if (is_some && storm_octree_leaf(mesh, 0, leaf) == STORM_OK)
        have = IO_CHECKPOINT_LEAVES;
    storm_status status =
        storm_context_reduce(source->context, &have, 1, MPI_INT, MPI_MAX);
    *mesh_source_out = (uint64_t)have;
    if (status < 0 || have != IO_CHECKPOINT_DECK)
        return status;
    if (storm_context_rank(source->context) == 0)
        storm_context_log(source->context, STORM_LOG_ERROR,
                          "no checkpoint: a mesh that has changed and has "
                          "neither generators nor leaves cannot be built "
                          "again");
    return STORM_ERR_NOSUP;
}

static storm_status write_mesh(const struct io_source *source,
                               struct io_h5_writer *file,
                               struct io_checkpoint *c)
{
    bool is_root = storm_context_rank(source->context) == 0;
    storm_status status = STORM_OK;
    if (c->mesh.source != IO_CHECKPOINT_DECK)
        status = write_choose(source, &c->mesh.source);
    if (status == STORM_OK)
        status = io_h5_put_plain(file, "mesh", IO_H5_INTEGER, MESH_WORDS,
                                 &c->mesh, is_root);
    return status < 0 || c->mesh.source == IO_CHECKPOINT_DECK
               ? status
               : write_cells(source, file, c);
}

static storm_status write_arrays(const struct io_source *source,
                                 const struct io_series *series,
                                 struct io_checkpoint *c,
                                 struct io_h5_writer *file)
{
    const char *dumps = series->grids.text;
    const struct storm_imc_layout layout = checkpoint_layout(source->imc);
    bool is_root = storm_context_rank(source->context) == 0;
    storm_status status =
        io_h5_put_plain(file, "head", IO_H5_INTEGER, HEAD_WORDS, &c->head,
                        is_root ? 1 : 0);
    if (status == STORM_OK)
        status = io_h5_put_plain(file, "accounts", IO_H5_INTEGER,
                                 layout.account_words, c->accounts,
                                 is_root ? layout.n_accounts : 0);
    if (status == STORM_OK)
        status = write_dumps(source, file, dumps != NULL ? dumps : "");
    const struct io_cells cells = {"cells", IO_H5_REAL, layout.cell_values,
                                   c->cells};
    if (status == STORM_OK)
        status = io_cells_put(source, file, &cells);
    if (status == STORM_OK)
        status = write_mesh(source, file, c);
    if (status == STORM_OK)
        status = write_tallies(source, file);
    return status < 0 ? status : write_packets(source, file);
}

static storm_status write_file(const struct io_source *source,
                               const struct io_series *series,
                               struct io_checkpoint *c)
{
    char name[64];
    struct io_h5_writer *file = NULL;
    snprintf(name, sizeof name, "checkpoint-%" PRIu64 ".h5", c->head.step);
    storm_status status =
        io_h5_create(source->context, source->dir, name, &file);
    if (status == STORM_OK)
        status = write_arrays(source, series, c, file);
    return io_h5_finish(file, status);
}

/* Copies the current state. Collective. */
static storm_status write_save_state(const struct io_source *source,
                                     struct io_checkpoint *c)
{
    const struct storm_imc_layout layout = checkpoint_layout(source->imc);
    storm_status status =
        checkpoint_reserve(&layout, (size_t)storm_mesh_n_cells(source->mesh),
                           c);
    status = storm_context_agree(source->context, status);
    return status < 0
               ? status
               : storm_imc_save_state(source->imc, c->cells, c->accounts);
}

storm_status io_checkpoint_write(const struct io_source *source,
                                 const struct io_series *series,
                                 const struct io_checkpoint_head *head,
                                 const struct io_checkpoint_mesh *mesh)
{
    const struct storm_env *env = storm_context_env(source->context);
    struct io_checkpoint c = {
        .head = *head, .mesh = *mesh, .memory = env->memory};
    c.head.version = IO_CHECKPOINT_VERSION_MESH;
    c.mesh.state_version = checkpoint_layout(source->imc).version;
    storm_status status = write_save_state(source, &c);
    if (status == STORM_OK)
        status = write_file(source, series, &c);
    io_checkpoint_clear(&c);
    return storm_context_agree(source->context, status);
}

/* ---- reading ------------------------------------------------------------- */

static storm_status dumps_get(io_h5_file file, struct io_checkpoint *c)
{
    uint64_t n;
    if (!io_h5_count_rows(file, "dumps", 1, &n))
        return STORM_ERR_IO;
    c->grids = storm_alloc(c->memory, checkpoint_label, ((size_t)n + 1) * WORD);
    return c->grids != NULL
               ? io_h5_get_rows(file, "dumps", IO_H5_INTEGER, 1, 0, n, c->grids)
               : STORM_ERR_NOMEM;
}

/* On rank 0, which has the sums. */
static storm_status tallies_get(const struct storm_env *env, io_h5_file file,
                                struct io_checkpoint *c)
{
    uint64_t n;
    if (env->rank != 0)
        return STORM_OK;
    if (!io_h5_count_rows(file, "tallies", 1, &n))
        return n == 0 ? STORM_OK : STORM_ERR_IO;
    c->n_tallies = (size_t)n;
    c->tallies = storm_alloc(c->memory, checkpoint_label,
                             ((size_t)n + 1) * sizeof *c->tallies);
    return c->tallies != NULL ? io_h5_get_rows(file, "tallies", IO_H5_INTEGER,
                                               1, 0, n, c->tallies)
                              : STORM_ERR_NOMEM;
}

/* This rank's share of n rows. */
static uint64_t share_of(const struct storm_env *env, uint64_t n,
                         uint64_t *first_out)
{
    uint64_t size = (uint64_t)env->size, rank = (uint64_t)env->rank;
    uint64_t each = n / size, rest = n % size;
    *first_out = each * rank + rest * rank / size;
    return each * (rank + 1) + rest * (rank + 1) / size - *first_out;
}

/* This rank's share of the packets, in any cells. */
static storm_status packets_get(const struct io_source *source, io_h5_file file,
                                struct io_checkpoint *c)
{
    const struct storm_env *env = storm_context_env(source->context);
    uint64_t first;
    c->n_packets = (size_t)share_of(env, c->head.n_packets, &first);
    c->record_bytes = storm_imc_record_bytes(source->imc);
    c->packets = storm_alloc(c->memory, checkpoint_label,
                             (c->n_packets + 1) * c->record_bytes);
    return c->packets != NULL ? io_h5_get_rows(file, "packets", IO_H5_INTEGER,
                                               c->record_bytes / WORD, first,
                                               c->n_packets, c->packets)
                              : STORM_ERR_NOMEM;
}

static storm_status mesh_get(io_h5_file file, uint64_t first,
                             struct io_checkpoint *c)
{
    if (c->mesh.source == IO_CHECKPOINT_DECK)
        return STORM_OK;
    if (checkpoint_reserve_mesh(c, c->n_cells) < 0)
        return STORM_ERR_NOMEM;
    const struct io_cells cells = checkpoint_cells(c);
    void *rows = c->leaves != NULL ? (void *)c->leaves : c->generators;
    storm_status status =
        io_h5_get_rows(file, cells.name, cells.kind, cells.columns, first,
                       c->n_cells, rows);
    return status < 0 ? status
                      : io_h5_get_rows(file, "tags", IO_H5_INTEGER, 1, first,
                                       c->n_cells, c->tags);
}

static int damage_if(storm_status status, int damage)
{
    return status == STORM_OK          ? IO_CHECKPOINT_SOUND
           : status == STORM_ERR_NOMEM ? IO_CHECKPOINT_NO_MEMORY
                                       : damage;
}

/* All but the heads. */
static int state_get(const struct io_source *source, io_h5_file file,
                     struct io_checkpoint *c)
{
    const struct storm_env *env = storm_context_env(source->context);
    struct storm_imc_layout layout = checkpoint_layout(source->imc);
    const size_t values = storm_imc_state_values(c->mesh.state_version);
    uint64_t first, n = share_of(env, c->head.n_cells, &first);
    layout.cell_values = values;
    layout.n_accounts = storm_imc_state_accounts(c->mesh.state_version);
    if (checkpoint_reserve(&layout, (size_t)n, c) < 0)
        return IO_CHECKPOINT_NO_MEMORY;
    int damage = damage_if(io_h5_get_rows(file, "cells", IO_H5_REAL, values,
                                          first, n, c->cells),
                           IO_CHECKPOINT_CELLS);
    if (damage == 0)
        damage = damage_if(mesh_get(file, first, c), IO_CHECKPOINT_MESH);
    if (damage == 0)
        damage = damage_if(io_h5_get_rows(file, "accounts", IO_H5_INTEGER,
                                          layout.account_words, 0,
                                          layout.n_accounts, c->accounts),
                           IO_CHECKPOINT_ACCOUNTS);
    if (damage == 0)
        damage = damage_if(packets_get(source, file, c), IO_CHECKPOINT_PACKETS);
    if (damage == 0)
        damage = damage_if(tallies_get(env, file, c), IO_CHECKPOINT_TALLIES);
    return damage != 0 ? damage
                       : damage_if(dumps_get(file, c), IO_CHECKPOINT_DUMPS);
}

/* A file says itself that it has checksums, and has them: neither can be lost
 * alone. */
static bool head_get(io_h5_file file, struct io_checkpoint *c)
{
    bool checked = io_h5_has_checksums(file);
    return io_h5_get_rows(file, "head", IO_H5_INTEGER, HEAD_WORDS, 0, 1,
                          &c->head) == STORM_OK &&
           (checked ? c->head.version == IO_CHECKPOINT_VERSION ||
                          checkpoint_has_mesh(c)
                    : c->head.version == 1);
}

/* What files without it would say: the mesh of the deck, at rest. */
static bool mesh_head_get(io_h5_file file, struct io_checkpoint *c)
{
    c->mesh = (struct io_checkpoint_mesh){.state_version =
                                              IO_CHECKPOINT_STATE_VERSION,
                                          .dump_hash = c->head.mesh_hash};
    if (!checkpoint_has_mesh(c))
        return true;
    return io_h5_get_rows(file, "mesh", IO_H5_INTEGER, MESH_WORDS, 0, 1,
                          &c->mesh) == STORM_OK &&
           c->mesh.source <= IO_CHECKPOINT_LEAVES &&
           storm_imc_state_values(c->mesh.state_version) > 0;
}

storm_status io_checkpoint_read(const struct io_source *source,
                                const char *path,
                                struct io_checkpoint *checkpoint_out)
{
    struct io_checkpoint *c = checkpoint_out;
    *c = (struct io_checkpoint){.memory =
                                    storm_context_env(source->context)->memory};
    io_h5_file file = io_h5_open(path);
    if (file < 0 || !head_get(file, c))
        c->damage = IO_CHECKPOINT_HEAD;
    else if (!mesh_head_get(file, c))
        c->damage = IO_CHECKPOINT_MESH;
    else
        c->damage = state_get(source, file, c);
    io_h5_close(file);
    return c->damage == IO_CHECKPOINT_SOUND ? STORM_OK : STORM_ERR_IO;
}

const char *io_checkpoint_damage_text(int damage)
{
    static const char *const texts[] = {
        [IO_CHECKPOINT_SOUND] = "is sound",
        [IO_CHECKPOINT_NO_MEMORY] = "does not fit into memory",
        [IO_CHECKPOINT_HEAD] = "is damaged or of another version",
        [IO_CHECKPOINT_MESH] =
            "is damaged: wrong checksums or size of what describes the mesh",
        [IO_CHECKPOINT_ACCOUNTS] =
            "is damaged: wrong checksums or size of 'accounts'",
        [IO_CHECKPOINT_DUMPS] =
            "is damaged: wrong checksums or size of 'dumps'",
        [IO_CHECKPOINT_CELLS] =
            "is damaged: wrong checksums or size of 'cells'",
        [IO_CHECKPOINT_PACKETS] =
            "is damaged: wrong checksums or size of 'packets'",
        [IO_CHECKPOINT_TALLIES] =
            "is damaged: wrong checksums or size of 'tallies'"};
    return texts[damage];
}

void io_checkpoint_clear(struct io_checkpoint *checkpoint)
{
    struct io_checkpoint *c = checkpoint;
    storm_free(c->memory, c->cells);
    storm_free(c->memory, c->generators);
    storm_free(c->memory, c->leaves);
    storm_free(c->memory, c->tags);
    storm_free(c->memory, c->accounts);
    storm_free(c->memory, c->packets);
    storm_free(c->memory, c->tallies);
    storm_free(c->memory, c->grids);
    *c = (struct io_checkpoint){.memory = c->memory};
}

/* ---- listing ------------------------------------------------------------- */

bool io_checkpoint_path(const char *dir, uint64_t step,
                        char path_out[IO_PATH_BYTES])
{
    int n = snprintf(path_out, IO_PATH_BYTES, "%s/checkpoint-%" PRIu64 ".h5",
                     dir, step);
    return n > 0 && n < IO_PATH_BYTES;
}

uint64_t io_checkpoint_newest(const char *dir, uint64_t below, size_t *n_out)
{
    uint64_t newest = 0;
    size_t n = 0;
    DIR *list = opendir(dir);
    if (list == NULL)
        return 0;
    for (const struct dirent *entry; (entry = readdir(list)) != NULL;) {
        uint64_t step;
        int end = 0;
        if (sscanf(entry->d_name, "checkpoint-%" SCNu64 ".h5%n", &step, &end) !=
                1 ||
            end == 0 || entry->d_name[end] != '\0' || step >= below)
            continue;
        n++;
        newest = step > newest ? step : newest;
    }
    closedir(list);
    *n_out = n;
    return newest;
}
