/* SPDX-License-Identifier: BSD-3-Clause */
/* One checkpoint as a file, and which there are. */
#include "io/io_checkpoint.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/env.h"
#include "io/io_h5.h"

static const char checkpoint_label[] = "checkpoint";

/* Of a file that is not complete. */
static const char part_name[] = "checkpoint.part";

enum {
    WORD = sizeof(uint64_t),
    HEAD_WORDS = sizeof(struct checkpoint_head) / WORD,
    PACKET_WORDS = sizeof(struct storm_packet) / WORD
};
_Static_assert(HEAD_WORDS *WORD == sizeof(struct checkpoint_head) &&
                   PACKET_WORDS * WORD == sizeof(struct storm_packet),
               "both are whole words");

/* ---- the state of physics ------------------------------------------------- */

static struct storm_imc_layout checkpoint_layout(const struct storm_imc *imc)
{
    struct storm_imc_layout layout = STORM_IMC_LAYOUT_INIT;
    storm_imc_state_layout(imc, &layout);
    return layout;
}

/* Room for it. */
static storm_status checkpoint_reserve(const struct output_source *source,
                                       const struct storm_imc_layout *layout,
                                       struct checkpoint *c)
{
    size_t n_cells = (size_t)storm_mesh_n_cells(source->mesh) + 1;
    c->cells = storm_alloc(c->memory, checkpoint_label,
                           n_cells * layout->cell_values * WORD);
    c->accounts =
        storm_alloc(c->memory, checkpoint_label,
                    layout->n_accounts * layout->account_words * WORD);
    return c->cells != NULL && c->accounts != NULL ? STORM_OK : STORM_ERR_NOMEM;
}

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

static storm_status write_packets(const struct output_source *source,
                                  struct output_h5 *file)
{
    struct output_array array = {.name = "packets",
                                 .kind = OUTPUT_WHOLE,
                                 .columns = PACKET_WORDS,
                                 .fill = packets_fill};
    void *const *packets = storm_engine_packets(source->engine, &array.n);
    array.self = &packets;
    return output_h5_put(file, &array);
}

/* The text of the dumps ends with zeros. */
static storm_status write_dumps(const struct output_source *source,
                                struct output_h5 *file, const char *text)
{
    struct storm_memory *memory = storm_context_env(source->context)->memory;
    size_t n_words = strlen(text) / WORD + 1;
    char *words = storm_alloc(memory, checkpoint_label, n_words * WORD);
    storm_status status =
        storm_context_agree(source->context,
                            words != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK) {
        memcpy(words, text, strlen(text));
        status = output_h5_put_plain(file, "dumps", OUTPUT_WHOLE, 1, words,
                                     storm_context_rank(source->context) == 0
                                         ? n_words
                                         : 0);
    }
    storm_free(memory, words);
    return status;
}

static storm_status write_arrays(const struct output_source *source,
                                 const struct output_series *series,
                                 const struct checkpoint *c,
                                 struct output_h5 *file)
{
    const char *dumps = series->grids.text;
    const struct storm_imc_layout layout = checkpoint_layout(source->imc);
    bool is_root = storm_context_rank(source->context) == 0;
    output_h5_add_checksums(file); /* P3 */
    storm_status status =
        output_h5_put_plain(file, "head", OUTPUT_WHOLE, HEAD_WORDS, &c->head,
                            is_root ? 1 : 0);
    if (status == STORM_OK)
        status = output_h5_put_plain(file, "accounts", OUTPUT_WHOLE,
                                     layout.account_words, c->accounts,
                                     is_root ? layout.n_accounts : 0);
    if (status == STORM_OK)
        status = write_dumps(source, file, dumps != NULL ? dumps : "");
    if (status == STORM_OK)
        status = output_h5_put_plain(file, "cells", OUTPUT_REAL,
                                     layout.cell_values, c->cells,
                                     (size_t)storm_mesh_n_cells(source->mesh));
    return status < 0 ? status : write_packets(source, file);
}

static storm_status write_file(const struct output_source *source,
                               const struct output_series *series,
                               const struct checkpoint *c)
{
    struct output_h5 *file = NULL;
    storm_status status =
        output_h5_create(source->context, source->dir, part_name, &file);
    if (status == STORM_OK)
        status = write_arrays(source, series, c, file);
    storm_status closed = output_h5_close(file);
    return status < 0 ? status : closed;
}

/* P2, on rank 0; `status` is how writing has gone. */
static storm_status write_settle(const struct output_source *source,
                                 uint64_t step, storm_status status)
{
    char path[OUTPUT_PATH_BYTES], part[OUTPUT_PATH_BYTES];
    snprintf(part, sizeof part, "%s/%s", source->dir, part_name);
    if (status == STORM_OK && !checkpoint_path(source->dir, step, path)) {
        storm_context_log(source->context, STORM_LOG_ERROR,
                          "cannot write %s: name too long", path);
        status = STORM_ERR_IO;
    }
    if (status == STORM_OK)
        status = output_settle(source->context, source->dir, part, path);
    if (status == STORM_ERR_IO)
        unlink(part); /* it is of no use, and the disk may be full */
    return status;
}

/* The state as it is now. Collective. */
static storm_status write_take(const struct output_source *source,
                               struct checkpoint *c)
{
    const struct storm_imc_layout layout = checkpoint_layout(source->imc);
    storm_status status = layout.version == CHECKPOINT_STATE_VERSION
                              ? checkpoint_reserve(source, &layout, c)
                              : STORM_ERR_NOSUP;
    status = storm_context_agree(source->context, status);
    return status < 0
               ? status
               : storm_imc_save_state(source->imc, c->cells, c->accounts);
}

storm_status checkpoint_write(const struct output_source *source,
                              const struct output_series *series,
                              const struct checkpoint_head *head)
{
    const struct storm_env *env = storm_context_env(source->context);
    struct checkpoint c = {.head = *head, .memory = env->memory};
    storm_status status = write_take(source, &c);
    if (status == STORM_OK)
        status = write_file(source, series, &c);
    if (env->rank == 0)
        status = write_settle(source, head->step, status);
    checkpoint_clear(&c);
    return storm_context_agree(source->context, status);
}

/* ---- reading -------------------------------------------------------------- */

static bool dumps_get(input_h5 file, struct checkpoint *c)
{
    uint64_t n;
    if (!input_h5_count(file, "dumps", 1, &n))
        return false;
    c->grids = storm_alloc(c->memory, checkpoint_label, ((size_t)n + 1) * WORD);
    return c->grids != NULL &&
           input_h5_rows(file, "dumps", OUTPUT_WHOLE, 1, 0, n, c->grids);
}

/* This rank's share of the packets, wherever they are. */
static bool packets_get(const struct storm_env *env, input_h5 file,
                        struct checkpoint *c)
{
    uint64_t size = (uint64_t)env->size, rank = (uint64_t)env->rank;
    uint64_t each = c->head.n_packets / size, rest = c->head.n_packets % size;
    uint64_t first = each * rank + (rank < rest ? rank : rest);
    c->n_packets = (size_t)(each + (rank < rest));
    c->packets = storm_alloc(c->memory, checkpoint_label,
                             (c->n_packets + 1) * sizeof *c->packets);
    return c->packets != NULL &&
           input_h5_rows(file, "packets", OUTPUT_WHOLE, PACKET_WORDS, first,
                         c->n_packets, c->packets);
}

static bool state_get(const struct output_source *source, input_h5 file,
                      struct checkpoint *c)
{
    const struct storm_imc_layout layout = checkpoint_layout(source->imc);
    return checkpoint_reserve(source, &layout, c) == STORM_OK &&
           input_h5_rows(file, "cells", OUTPUT_REAL, layout.cell_values,
                         storm_mesh_cell_id(source->mesh, 0),
                         (uint64_t)storm_mesh_n_cells(source->mesh),
                         c->cells) &&
           input_h5_rows(file, "accounts", OUTPUT_WHOLE, layout.account_words,
                         0, layout.n_accounts, c->accounts);
}

storm_status checkpoint_read(const struct output_source *source,
                             const char *path,
                             struct checkpoint *checkpoint_out)
{
    const struct storm_env *env = storm_context_env(source->context);
    struct checkpoint *c = checkpoint_out;
    *c = (struct checkpoint){.memory = env->memory};
    input_h5 file = input_h5_open(path);
    bool good =
        file >= 0 &&
        input_h5_rows(file, "head", OUTPUT_WHOLE, HEAD_WORDS, 0, 1, &c->head) &&
        c->head.version == CHECKPOINT_VERSION;
    /* Of another mesh (P4): there is no use in reading on. */
    if (good && c->head.n_cells == storm_mesh_n_cells_total(source->mesh))
        good = state_get(source, file, c) && packets_get(env, file, c) &&
               dumps_get(file, c);
    input_h5_close(file);
    return good ? STORM_OK : STORM_ERR_IO;
}

void checkpoint_clear(struct checkpoint *checkpoint)
{
    struct checkpoint *c = checkpoint;
    storm_free(c->memory, c->cells);
    storm_free(c->memory, c->accounts);
    storm_free(c->memory, c->packets);
    storm_free(c->memory, c->grids);
    *c = (struct checkpoint){.memory = c->memory};
}

/* ---- which there are ------------------------------------------------------ */

bool checkpoint_path(const char *dir, uint64_t step,
                     char path_out[OUTPUT_PATH_BYTES])
{
    int n = snprintf(path_out, OUTPUT_PATH_BYTES,
                     "%s/checkpoint-%" PRIu64 ".h5", dir, step);
    return n > 0 && n < OUTPUT_PATH_BYTES;
}

uint64_t checkpoint_newest(const char *dir, uint64_t below, size_t *n_out)
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
