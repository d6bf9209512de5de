/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorts points along the Hilbert curve, over all ranks. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include <storm/context.h>

#include "mesh/mesh_hilbert.h"
#include "mesh/mesh_message.h"
#include "mesh/mesh_split.h"
#include "mesh/voronoi/voronoi_mesh.h"

static const char sort_label[] = "mesh generators";

/* Bits of the keys, and per pass of the radix sort. */
enum { SORT_KEY_BITS = 60, SORT_DIGIT_BITS = 10 };

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

/* The sort in progress. */
struct sort {
    const struct storm_mesh *mesh;
    const struct voronoi_domain *domain;
    const char *what;
    uint64_t n_total;
    struct voronoi_records records;
};

static int sort_compare(const void *left, const void *right)
{
    const struct voronoi_record *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    for (int d = 0; d < 3; d++)
        if (a->x[d] != b->x[d])
            return a->x[d] < b->x[d] ? -1 : 1;
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
                                 struct voronoi_records *list)
{
    const struct voronoi_record *records = list->array;
    size_t n = list->n;
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
    storm_free(memory, list->array);
    sort_ties(sorted, n);
    list->array = sorted;
    return STORM_OK;
}

/* To the grid; in a periodic direction below the upper wall. */
static double sort_snap(const struct voronoi_space *space, double x, int d)
{
    double snapped = voronoi_snap(space, x);
    if (space->period[d] > 0.0 && snapped >= space->hi[d])
        snapped -= space->period[d];
    if (space->period[d] > 0.0 && snapped < space->lo[d])
        snapped += space->period[d];
    return snapped;
}

/* Sets the keys of this rank's points and sorts them. */
static storm_status sort_locally(struct sort *s)
{
    const struct voronoi_domain *domain = s->domain;
    for (size_t i = 0; i < s->records.n; i++) {
        struct voronoi_record *record = &s->records.array[i];
        voronoi_wrap(domain, record->x);
        for (int d = 0; d < 3; d++) {
            if (record->x[d] >= domain->lo_cm[d] &&
                record->x[d] <= domain->hi_cm[d])
                continue;
            storm_log_write(&s->mesh->env->log, STORM_LOG_ERROR,
                            "%s %" PRIu64
                            " (%.17g, %.17g, %.17g) is not in the box",
                            s->what, record->number, record->x[0], record->x[1],
                            record->x[2]);
            return STORM_ERR_ARG;
        }
        for (int d = 0; d < 3; d++)
            record->x[d] = sort_snap(&domain->space, record->x[d], d);
        record->key = voronoi_key(&domain->space, record->x);
    }
    return sort_records(s->mesh->env->memory, &s->records);
}

/* ---- over ranks --------------------------------------------------------- */

static struct storm_keys sort_keys(const struct sort *s)
{
    return (struct storm_keys){.first = &s->records.array->key,
                               .n = s->records.n,
                               .stride = sizeof *s->records.array,
                               .bits = SORT_KEY_BITS};
}

/* Messages with each rank's records. */
static storm_status sort_address(const struct sort *s, const uint64_t *splitter,
                                 struct storm_messages *out)
{
    const struct storm_env *env = s->mesh->env;
    const struct voronoi_records *records = &s->records;
    const size_t words = sizeof *records->array / sizeof(uint64_t);
    out->words = storm_alloc(env->memory, sort_label,
                             (records->n + 1) * sizeof *records->array);
    if (out->words == NULL)
        return STORM_ERR_NOMEM;
    if (records->n > 0)
        memcpy(out->words, records->array, records->n * sizeof *records->array);
    const struct storm_keys keys = sort_keys(s);
    size_t first = 0;
    for (int r = 0; r < env->size; r++) {
        size_t end = r + 1 < env->size ? storm_split_below(&keys, splitter[r])
                                       : records->n;
        storm_status status = storm_messages_add(env, out, r, first * words,
                                                 (end - first) * words);
        if (status < 0)
            return status;
        first = end;
    }
    return STORM_OK;
}

/* Sends every record to its rank. Frees the old ones. */
static storm_status sort_globally(struct sort *s)
{
    const struct storm_env *env = s->mesh->env;
    const struct storm_context *context = s->mesh->context;
    const struct storm_keys keys = sort_keys(s);
    uint64_t *splitter = storm_alloc(env->memory, sort_label,
                                     (size_t)env->size * sizeof *splitter);
    struct storm_messages out = {.n = 0}, in = {.n = 0};
    storm_status status = splitter != NULL ? STORM_OK : STORM_ERR_NOMEM;
    status = storm_split_keys(context, status, &keys, s->n_total, splitter);
    if (status >= 0) {
        status = sort_address(s, splitter, &out);
        status = storm_messages_exchange(context, status, &out, &in);
    }
    if (status >= 0) {
        voronoi_records_take(env, &in, &s->records);
        status = storm_context_agree(context,
                                     sort_records(env->memory, &s->records));
    }
    storm_messages_release(env, &in);
    storm_messages_release(env, &out);
    storm_free(env->memory, splitter);
    return status;
}

/* ---- result ------------------------------------------------------------- */

static storm_status sort_check(const struct sort *s)
{
    for (size_t i = 1; i < s->records.n; i++) {
        const struct voronoi_record *a = &s->records.array[i - 1], *b = a + 1;
        if (sort_compare(a, b) != 0)
            continue;
        uint64_t low = a->number < b->number ? a->number : b->number;
        uint64_t high = a->number < b->number ? b->number : a->number;
        storm_log_write(&s->mesh->env->log, STORM_LOG_ERROR,
                        "%ss %" PRIu64 " and %" PRIu64
                        " are the same: (%.17g, %.17g, %.17g)",
                        s->what, low, high, a->x[0], a->x[1], a->x[2]);
        return STORM_ERR_ARG;
    }
    return STORM_OK;
}

/* Places from the numbers of points of the ranks before. */
static storm_status sort_number(struct sort *s)
{
    uint64_t first = s->records.n;
    storm_status status = storm_context_exscan(s->mesh->context, &first, 1);
    for (size_t i = 0; status >= 0 && i < s->records.n; i++)
        s->records.array[i].order = first + i;
    return status;
}

storm_status voronoi_sort(const struct storm_mesh *mesh,
                          const struct voronoi_domain *domain, const char *what,
                          struct voronoi_records *records_inout)
{
    const struct storm_context *context = mesh->context;
    struct sort s = {.mesh = mesh,
                     .domain = domain,
                     .what = what,
                     .n_total = records_inout->n,
                     .records = *records_inout};
    storm_status status = storm_context_agree(context, sort_locally(&s));
    if (status >= 0)
        status =
            storm_context_reduce(context, &s.n_total, 1, MPI_UINT64_T, MPI_SUM);
    if (status >= 0 && mesh->env->size > 1)
        status = sort_globally(&s);
    if (status >= 0)
        status = storm_context_agree(context, sort_check(&s));
    if (status >= 0)
        status = sort_number(&s);
    *records_inout = s.records;
    return status;
}
