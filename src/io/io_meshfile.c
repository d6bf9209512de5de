/* SPDX-License-Identifier: BSD-3-Clause */
/* A mesh from a file: partition, and a share for each rank. */
#include "io/io_meshfile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include <storm/context.h>
#include <storm/given.h>
#include <storm/io.h>

#include "io/io_gather.h"

static const char file_label[] = "mesh file";

/* A cell and its place along the curve. */
struct file_cell {
    uint64_t key;
    uint32_t cell;
};

/* Rank 0: the mesh of the file, and who gets which cell. */
struct file_plan {
    struct io_meshfile file;
    struct file_cell *order; /* along the curve */
    uint32_t *place;         /* of each cell, there */
    int n_ranks;
};

/* What a rank needs to know of its cells before they come. */
struct file_head {
    uint64_t n_cells, n_faces, n_boundaries;
};

/* The arrays of storm_given_params in one block, of 8-byte words. */
struct file_share {
    struct file_head head;
    size_t n_words;
    uint64_t *words, *tags, *numbers, *first_face;
    double *centroids, *volumes, *normals, *on_planes, *areas;
    uint64_t *behind; /* rank and index, or boundary */
    int *ranks;
    storm_cell_idx *neighbours;
};

/* In place of a rank. */
static const uint64_t file_no_rank = UINT32_MAX;

/* ---- shares -------------------------------------------------------------- */

/* Length of the block, and places of the arrays in it. */
static void file_lay_out(struct file_share *s)
{
    size_t n = (size_t)s->head.n_cells, f = (size_t)s->head.n_faces;
    s->n_words = 7 * n + 1 + 8 * f;
    if (s->words == NULL)
        return;
    s->tags = s->words;
    s->numbers = s->tags + n;
    s->first_face = s->numbers + n;
    s->behind = s->first_face + n + 1;
    s->centroids = (double *)(void *)(s->behind + f);
    s->volumes = s->centroids + 3 * n;
    s->normals = s->volumes + n;
    s->on_planes = s->normals + 3 * f;
    s->areas = s->on_planes + 3 * f;
}

static storm_status file_share_make(const struct storm_env *env,
                                    const struct file_head *head,
                                    struct file_share *share_out)
{
    size_t f = (size_t)head->n_faces;
    struct file_share s = {.head = *head};
    file_lay_out(&s);
    s.words = storm_alloc(env->memory, file_label, s.n_words * sizeof *s.words);
    s.ranks = storm_alloc(env->memory, file_label, (f + 1) * sizeof *s.ranks);
    s.neighbours =
        storm_alloc(env->memory, file_label, (f + 1) * sizeof *s.neighbours);
    file_lay_out(&s);
    *share_out = s;
    return s.words != NULL && s.ranks != NULL && s.neighbours != NULL
               ? STORM_OK
               : STORM_ERR_NOMEM;
}

static void file_share_free(const struct storm_env *env, struct file_share *s)
{
    storm_free(env->memory, s->words);
    storm_free(env->memory, s->ranks);
    storm_free(env->memory, s->neighbours);
}

/* The first place of a rank. */
static uint64_t file_first(const struct file_plan *plan, int rank)
{
    uint64_t n = plan->file.n_cells, size = (uint64_t)plan->n_ranks;
    return n / size * (uint64_t)rank + n % size * (uint64_t)rank / size;
}

static int file_rank_of(const struct file_plan *plan, uint64_t place)
{
    int low = 0, high = plan->n_ranks; /* the rank is in [low, high) */
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (file_first(plan, middle) <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static struct file_head file_head_of(const struct file_plan *plan, int rank)
{
    uint64_t first = file_first(plan, rank), end = file_first(plan, rank + 1);
    struct file_head head = {.n_cells = end - first,
                             .n_boundaries = (uint64_t)plan->file.n_boundaries};
    for (uint64_t i = first; i < end; i++) {
        size_t c = plan->order[i].cell;
        head.n_faces += plan->file.first_face[c + 1] - plan->file.first_face[c];
    }
    return head;
}

static uint64_t file_behind(const struct file_plan *plan, size_t face)
{
    if (plan->file.behind[face] < 0)
        return file_no_rank << 32 | (uint32_t)plan->file.boundary[face];
    uint64_t place = plan->place[plan->file.behind[face]];
    int rank = file_rank_of(plan, place);
    return (uint64_t)rank << 32 | (place - file_first(plan, rank));
}

/* The cells of a rank. */
static void file_fill(const struct file_plan *plan, int rank,
                      struct file_share *s)
{
    const struct io_meshfile *file = &plan->file;
    uint64_t first = file_first(plan, rank), at = 0;
    for (uint64_t i = 0; i < s->head.n_cells; i++) {
        size_t cell = plan->order[first + i].cell;
        s->tags[i] = cell;
        s->numbers[i] = file->numbers[cell];
        s->first_face[i] = at;
        s->volumes[i] = file->volumes_cm3[cell];
        memcpy(&s->centroids[3 * i], &file->centroids_cm[3 * cell],
               3 * sizeof *s->centroids);
        for (uint64_t f = file->first_face[cell];
             f < file->first_face[cell + 1]; f++, at++) {
            struct io_meshfile_face face;
            io_meshfile_face(file, cell, (size_t)f, &face);
            memcpy(&s->normals[3 * at], face.normal, sizeof face.normal);
            memcpy(&s->on_planes[3 * at], face.centroid_cm,
                   sizeof face.centroid_cm);
            s->areas[at] = face.area_cm2;
            s->behind[at] = file_behind(plan, (size_t)f);
        }
    }
    s->first_face[s->head.n_cells] = at;
}

/* ---- the partition ------------------------------------------------------- */

static int file_by_key(const void *left, const void *right)
{
    const struct file_cell *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->cell > b->cell) - (a->cell < b->cell);
}

/* MESHFILE-2 */
static storm_status file_order(struct file_plan *plan)
{
    const struct io_meshfile *file = &plan->file;
    struct storm_memory *memory = file->env->memory;
    size_t n = file->n_cells;
    double lo[3], hi[3];
    plan->order = storm_alloc(memory, file_label, n * sizeof *plan->order);
    plan->place = storm_alloc(memory, file_label, n * sizeof *plan->place);
    if (plan->order == NULL || plan->place == NULL)
        return STORM_ERR_NOMEM;
    for (size_t d = 0; d < 3; d++) {
        lo[d] = hi[d] = file->centroids_cm[d];
        for (size_t c = 1; c < n; c++) {
            lo[d] = fmin(lo[d], file->centroids_cm[3 * c + d]);
            hi[d] = fmax(hi[d], file->centroids_cm[3 * c + d]);
        }
    }
    for (size_t c = 0; c < n; c++) {
        plan->order[c].key =
            storm_curve_position(lo, hi, &file->centroids_cm[3 * c]);
        plan->order[c].cell = (uint32_t)c;
    }
    qsort(plan->order, n, sizeof *plan->order, file_by_key);
    for (size_t i = 0; i < n; i++)
        plan->place[plan->order[i].cell] = (uint32_t)i;
    return STORM_OK;
}

/* ---- messages ------------------------------------------------------------ */

/* All bytes of a block, in pieces. */
static storm_status file_message(const struct storm_context *context,
                                 void *bytes, size_t n, int peer, bool sends)
{
    storm_status status = STORM_OK;
    for (size_t at = 0; at < n && status == STORM_OK;) {
        size_t part = n - at < IO_GATHER_BYTES ? n - at : IO_GATHER_BYTES;
        status = io_message(context, (char *)bytes + at, part, peer, sends);
        at += part;
    }
    return status;
}

/* Each rank learns how much it gets. */
static storm_status file_heads(const struct storm_context *context,
                               const struct file_plan *plan,
                               struct file_head *head)
{
    storm_status status = STORM_OK;
    if (storm_context_rank(context) != 0)
        return file_message(context, head, sizeof *head, 0, false);
    for (int r = 1; r < plan->n_ranks && status == STORM_OK; r++) {
        *head = file_head_of(plan, r);
        status = file_message(context, head, sizeof *head, r, true);
    }
    *head = file_head_of(plan, 0);
    return status;
}

/* Rank 0 fills a share for each rank, its own last; it has room for the
 * largest. */
static storm_status file_shares(const struct storm_context *context,
                                const struct file_plan *plan,
                                struct file_share *share)
{
    storm_status status = STORM_OK;
    if (storm_context_rank(context) != 0)
        return file_message(context, share->words,
                            share->n_words * sizeof *share->words, 0, false);
    for (int r = plan->n_ranks - 1; r >= 0 && status == STORM_OK; r--) {
        share->head = file_head_of(plan, r);
        file_lay_out(share);
        file_fill(plan, r, share);
        if (r > 0)
            status =
                file_message(context, share->words,
                             share->n_words * sizeof *share->words, r, true);
    }
    return status;
}

/* Room on rank 0 for any share. */
static struct file_head file_largest(const struct file_plan *plan)
{
    struct file_head largest = {0};
    for (int r = 0; r < plan->n_ranks; r++) {
        struct file_head head = file_head_of(plan, r);
        if (head.n_cells > largest.n_cells)
            largest.n_cells = head.n_cells;
        if (head.n_faces > largest.n_faces)
            largest.n_faces = head.n_faces;
    }
    return largest;
}

/* ---- the mesh ------------------------------------------------------------ */

static storm_status file_give(struct storm_context *context,
                              struct file_share *s,
                              struct storm_mesh **mesh_out)
{
    for (size_t f = 0; f < (size_t)s->head.n_faces; f++) {
        uint64_t rank = s->behind[f] >> 32;
        s->ranks[f] = rank == file_no_rank ? -1 : (int)rank;
        s->neighbours[f] = (storm_cell_idx)(s->behind[f] & UINT32_MAX);
    }
    struct storm_given_params params = {
        .size = sizeof params,
        .n_cells = s->head.n_cells,
        .n_boundaries = s->head.n_boundaries,
        .tags = s->tags,
        .points_cm = s->centroids,
        .volumes_cm3 = s->volumes,
        .centroids_cm = s->centroids,
        .first_face = s->first_face,
        .normals = s->normals,
        .on_planes_cm = s->on_planes,
        .areas_cm2 = s->areas,
        .ranks = s->ranks,
        .neighbours = s->neighbours,
        .numbers = s->numbers,
    };
    return storm_mesh_create_given(context, &params, mesh_out);
}

/* Cells to ranks. After STORM_ERR_LOST MPI may still use the memory. */
static storm_status file_distribute(struct storm_context *context,
                                    const struct file_plan *plan,
                                    struct file_share *share)
{
    const struct storm_env *env = storm_context_env(context);
    struct file_head *head = storm_alloc(env->memory, file_label, sizeof *head);
    storm_status status =
        storm_context_agree(context, head != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK)
        status = file_heads(context, plan, head);
    if (status == STORM_ERR_LOST)
        return status;
    if (status == STORM_OK && env->rank == 0)
        *head = file_largest(plan);
    if (status == STORM_OK)
        status = file_share_make(env, head, share);
    storm_free(env->memory, head);
    status = storm_context_agree(context, status);
    if (status == STORM_OK)
        status = file_shares(context, plan, share);
    return status == STORM_ERR_LOST ? status
                                    : storm_context_agree(context, status);
}

storm_status storm_mesh_read(struct storm_context *context, const char *path,
                             struct storm_mesh **mesh_out)
{
    const struct storm_env *env = storm_context_env(context);
    struct file_plan plan = {.file = {.env = env, .path = path},
                             .n_ranks = env->size};
    struct file_share share = {.n_words = 0};
    storm_status status = STORM_OK;
    if (env->rank == 0)
        status = io_meshfile_read(&plan.file);
    if (env->rank == 0 && status == STORM_OK)
        status = file_order(&plan);
    status = storm_context_agree(context, status);
    if (status == STORM_OK)
        status = file_distribute(context, &plan, &share);
    if (status == STORM_ERR_LOST)
        return status;
    io_meshfile_clear(&plan.file);
    storm_free(env->memory, plan.order);
    storm_free(env->memory, plan.place);
    if (status == STORM_OK)
        status = file_give(context, &share, mesh_out);
    file_share_free(env, &share);
    return status;
}
