/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorts points along the Hilbert curve, over all ranks. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include <storm/context.h>

#include "base/boot.h"
#include "mesh/mesh_hilbert.h"
#include "mesh/mesh_message.h"
#include "mesh/voronoi/voronoi_mesh.h"

static const char sort_label[] = "mesh generators";

/* Bits of the keys per round of counting. */
enum { SORT_BITS = 4, SORT_KEY_BITS = 60, SORT_TRIES = (1 << SORT_BITS) - 1 };

/* Bits of the keys per pass of the radix sort. */
enum { SORT_DIGIT_BITS = 10 };

uint64_t voronoi_key(const struct voronoi_space *space, const double x[3])
{
    int32_t ijk[3];
    for (int d = 0; d < 3; d++) {
        double part = (x[d] - space->lo[d]) / (space->hi[d] - space->lo[d]);
        int32_t i = (int32_t)(part * space->curve[d]);
        ijk[d] = i < space->curve[d] ? i : space->curve[d] - 1;
    }
    return storm_hilbert_position(space->curve, ijk);
}

static int sort_compare(const void *left, const void *right)
{
    const struct voronoi_record *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    for (int d = 0; d < 3; d++)
        if (a->generator.x[d] != b->generator.x[d])
            return a->generator.x[d] < b->generator.x[d] ? -1 : 1;
    return 0;
}

/* ---- on one rank -------------------------------------------------------- */

/* Key and index of a record. */
struct sort_place {
    uint64_t key;
    uint64_t at;
};

/* By one digit of the keys, stably. */
static void sort_digit(const struct sort_place *from, size_t n, int shift,
                       struct sort_place *to)
{
    enum { DIGITS = 1 << SORT_DIGIT_BITS };
    size_t start[DIGITS + 1] = {0};
    for (size_t i = 0; i < n; i++)
        start[(from[i].key >> shift & (DIGITS - 1)) + 1]++;
    for (int k = 0; k < DIGITS; k++)
        start[k + 1] += start[k];
    for (size_t i = 0; i < n; i++)
        to[start[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

/* Records with the same key, by their coordinates. */
static void sort_ties(struct voronoi_record *records, size_t n)
{
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && records[end].key == records[first].key;
             end++)
            ;
        if (end - first > 1)
            qsort(records + first, end - first, sizeof *records, sort_compare);
    }
}

/* Sorts records; frees the old array. */
static storm_status sort_records(struct storm_memory *memory,
                                 struct voronoi_record **records_inout,
                                 size_t n)
{
    const struct voronoi_record *records = *records_inout;
    struct sort_place *places =
        storm_alloc(memory, sort_label, (2 * n + 1) * sizeof *places);
    struct voronoi_record *sorted =
        storm_alloc(memory, sort_label, (n + 1) * sizeof *sorted);
    if (places == NULL || sorted == NULL) {
        storm_free(memory, sorted);
        storm_free(memory, places);
        return STORM_ERR_NOMEM;
    }
    struct sort_place *from = places, *to = places + n;
    for (size_t i = 0; i < n; i++)
        from[i] = (struct sort_place){.key = records[i].key, .at = i};
    for (int shift = 0; shift < SORT_KEY_BITS; shift += SORT_DIGIT_BITS) {
        sort_digit(from, n, shift, to);
        struct sort_place *swap = from;
        from = to;
        to = swap;
    }
    for (size_t i = 0; i < n; i++)
        sorted[i] = records[from[i].at];
    storm_free(memory, places);
    storm_free(memory, *records_inout);
    sort_ties(sorted, n);
    *records_inout = sorted;
    return STORM_OK;
}

/* Sets the keys of this rank's points and sorts them. */
static storm_status sort_locally(const struct voronoi_mesh *mesh,
                                 struct voronoi_record **records_inout,
                                 size_t n)
{
    struct voronoi_record *records = *records_inout;
    for (size_t i = 0; i < n; i++) {
        struct voronoi_generator *generator = &records[i].generator;
        for (int d = 0; d < 3; d++) {
            if (!(generator->x[d] >= mesh->lo_cm[d] &&
                  generator->x[d] <= mesh->hi_cm[d])) {
                storm_log_write(&mesh->base.env->log, STORM_LOG_ERROR,
                                "point %" PRIu64
                                " (%.17g, %.17g, %.17g) is not in the box",
                                records[i].number, generator->x[0],
                                generator->x[1], generator->x[2]);
                return STORM_ERR_ARG;
            }
        }
        for (int d = 0; d < 3; d++)
            generator->x[d] = voronoi_snap(&mesh->space, generator->x[d]);
        records[i].key = voronoi_key(&mesh->space, generator->x);
    }
    return sort_records(mesh->base.env->memory, records_inout, n);
}

/* ---- splitters ---------------------------------------------------------- */

/* The number of records with a smaller key. */
static size_t sort_below(const struct voronoi_record *records, size_t n,
                         uint64_t key)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (records[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* One round: appends SORT_BITS bits to each of the n splitters so that it
 * stays the largest with no more than its share of the records below. */
static storm_status sort_refine(const struct voronoi_mesh *mesh,
                                const struct voronoi_record *records, size_t n,
                                int shift, uint64_t *splitter, uint64_t *count)
{
    int n_ranks = mesh->base.env->size;
    size_t n_counts = (size_t)(n_ranks - 1) * SORT_TRIES;
    for (size_t k = 0; k < n_counts; k++)
        count[k] = sort_below(records, n,
                              splitter[k / SORT_TRIES] +
                                  ((uint64_t)(k % SORT_TRIES + 1) << shift));
    storm_status status =
        storm_context_reduce(mesh->base.context, count, (int)n_counts,
                             MPI_UINT64_T, MPI_SUM);
    if (status < 0)
        return status;
    for (int r = 0; r < n_ranks - 1; r++) {
        uint64_t share =
            mesh->base.n_total / (uint64_t)n_ranks * (uint64_t)(r + 1);
        uint64_t best = 0;
        for (uint64_t k = 0; k < SORT_TRIES; k++)
            if (count[(size_t)r * SORT_TRIES + k] <= share)
                best = k + 1;
        splitter[r] += best << shift;
    }
    return STORM_OK;
}

/* Messages with each rank's records. */
static storm_status sort_address(const struct voronoi_mesh *mesh,
                                 const struct voronoi_record *records, size_t n,
                                 const uint64_t *splitter,
                                 struct storm_messages *out)
{
    const struct storm_env *env = mesh->base.env;
    const size_t words = sizeof *records / sizeof(uint64_t);
    out->words =
        storm_alloc(env->memory, sort_label, (n + 1) * sizeof *records);
    if (out->words == NULL)
        return STORM_ERR_NOMEM;
    if (n > 0)
        memcpy(out->words, records, n * sizeof *records);
    size_t first = 0;
    for (int r = 0; r < env->size; r++) {
        size_t end =
            r + 1 < env->size ? sort_below(records, n, splitter[r]) : n;
        storm_status status = storm_messages_add(env, out, r, first * words,
                                                 (end - first) * words);
        if (status < 0)
            return status;
        first = end;
    }
    return STORM_OK;
}

/* Sends every record to its rank. Frees the old ones. */
static storm_status sort_globally(const struct voronoi_mesh *mesh,
                                  struct voronoi_record **records_inout,
                                  size_t *n_inout)
{
    const struct storm_env *env = mesh->base.env;
    const struct storm_context *context = mesh->base.context;
    size_t n_split = (size_t)env->size;
    uint64_t *splitter =
        storm_alloc(env->memory, sort_label, n_split * sizeof *splitter);
    uint64_t *count = storm_alloc(env->memory, sort_label,
                                  n_split * SORT_TRIES * sizeof *count);
    struct storm_messages out = {.n = 0}, in = {.n = 0};
    storm_status status =
        splitter != NULL && count != NULL ? STORM_OK : STORM_ERR_NOMEM;
    status = storm_context_agree(context, status);
    for (int shift = SORT_KEY_BITS - SORT_BITS; status >= 0 && shift >= 0;
         shift -= SORT_BITS)
        status =
            sort_refine(mesh, *records_inout, *n_inout, shift, splitter, count);
    if (status >= 0) {
        status = sort_address(mesh, *records_inout, *n_inout, splitter, &out);
        status = storm_messages_exchange(context, status, &out, &in);
    }
    if (status >= 0) {
        size_t n_words = 0;
        for (size_t i = 0; i < in.n; i++)
            n_words += in.array[i].n_words;
        storm_free(env->memory, *records_inout);
        *records_inout = (struct voronoi_record *)(void *)in.words;
        *n_inout = n_words * sizeof(uint64_t) / sizeof **records_inout;
        in.words = NULL;
        status =
            storm_context_agree(context, sort_records(env->memory,
                                                      records_inout, *n_inout));
    }
    storm_messages_release(env, &in);
    storm_messages_release(env, &out);
    storm_free(env->memory, count);
    storm_free(env->memory, splitter);
    return status;
}

/* ---- result ------------------------------------------------------------- */

static storm_status sort_check(const struct voronoi_mesh *mesh,
                               const struct voronoi_record *records, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const struct voronoi_record *a = &records[i - 1], *b = &records[i];
        if (sort_compare(a, b) != 0)
            continue;
        uint64_t low = a->number < b->number ? a->number : b->number;
        uint64_t high = a->number < b->number ? b->number : a->number;
        storm_log_write(&mesh->base.env->log, STORM_LOG_ERROR,
                        "points %" PRIu64 " and %" PRIu64
                        " are the same: (%.17g, %.17g, %.17g)",
                        low, high, a->generator.x[0], a->generator.x[1],
                        a->generator.x[2]);
        return STORM_ERR_ARG;
    }
    return STORM_OK;
}

static storm_status sort_store(struct voronoi_mesh *mesh,
                               const struct voronoi_record *records, size_t n)
{
    struct storm_memory *memory = mesh->base.env->memory;
    struct voronoi_generator *generators =
        storm_alloc(memory, sort_label, (n + 1) * sizeof *generators);
    if (generators == NULL)
        return STORM_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        generators[i] = records[i].generator;
    storm_free(memory, mesh->generators.array);
    mesh->generators.array = generators;
    mesh->generators.n = n;
    return STORM_OK;
}

/* First ids of all ranks from their numbers of points. */
static storm_status sort_number(struct voronoi_mesh *mesh)
{
    const struct storm_env *env = mesh->base.env;
    uint64_t n = mesh->generators.n;
    storm_status status = storm_boot_allgather(env->boot, &n, sizeof n,
                                               mesh->generators_partition + 1);
    if (status < 0)
        return status;
    mesh->generators_partition[0] = 0;
    for (int r = 0; r < env->size; r++)
        mesh->generators_partition[r + 1] += mesh->generators_partition[r];
    mesh->generators.first = mesh->generators_partition[env->rank];
    return STORM_OK;
}

storm_status voronoi_sort(struct voronoi_mesh *mesh,
                          struct voronoi_record *records, size_t n)
{
    const struct storm_env *env = mesh->base.env;
    const struct storm_context *context = mesh->base.context;
    storm_status status =
        storm_context_agree(context, sort_locally(mesh, &records, n));
    if (status >= 0 && env->size > 1)
        status = sort_globally(mesh, &records, &n);
    if (status >= 0) {
        status = sort_check(mesh, records, n);
        if (status >= 0)
            status = sort_store(mesh, records, n);
        status = storm_context_agree(context, status);
    }
    storm_free(env->memory, records);
    return status >= 0 ? sort_number(mesh) : status;
}
