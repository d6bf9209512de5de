/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbours in a mesh from a file: faces with the same corners. */
#include <string.h>

#include "io/io_meshfile.h"

static const char match_label[] = "mesh file";

struct match {
    struct io_meshfile *file;
    uint64_t *order; /* faces and marks, equal ones together */
    uint64_t *spare; /* as many */
    size_t n;
};

/* Below, equal or above, by corners. */
static int match_compare(const struct io_meshfile *file, uint64_t a, uint64_t b)
{
    const uint32_t *p = &file->corners[file->first_corner[a]];
    const uint32_t *q = &file->corners[file->first_corner[b]];
    size_t n = (size_t)(file->first_corner[a + 1] - file->first_corner[a]);
    size_t m = (size_t)(file->first_corner[b + 1] - file->first_corner[b]);
    for (size_t i = 0; i < n && i < m; i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return (n > m) - (n < m);
}

/* Merges [from, middle) and [middle, end), which are sorted. */
static void match_merge(struct match *m, size_t from, size_t middle, size_t end)
{
    size_t a = from, b = middle;
    for (size_t i = from; i < end; i++) {
        bool left =
            a < middle &&
            (b == end || match_compare(m->file, m->order[a], m->order[b]) <= 0);
        m->spare[i] = left ? m->order[a++] : m->order[b++];
    }
    memcpy(&m->order[from], &m->spare[from], (end - from) * sizeof *m->order);
}

/* Stable: faces of lower cells come first, marks last. */
static void match_sort(struct match *m, size_t from, size_t end)
{
    for (size_t width = 1; width < end - from; width *= 2)
        for (size_t at = from; at + width < end; at += 2 * width)
            match_merge(m, at, at + width,
                        at + 2 * width < end ? at + 2 * width : end);
}

/* By the least corner first, which is fast and leaves little to sort. */
static void match_order(struct match *m, uint64_t *first)
{
    const struct io_meshfile *file = m->file;
    for (size_t f = 0; f < m->n; f++)
        first[file->corners[file->first_corner[f]] + 1]++;
    for (size_t i = 0; i < file->n_points; i++)
        first[i + 1] += first[i];
    for (size_t f = 0; f < m->n; f++)
        m->order[first[file->corners[file->first_corner[f]]]++] = f;
    for (size_t i = 0, from = 0; i < file->n_points; i++) {
        match_sort(m, from, (size_t)first[i]);
        from = (size_t)first[i];
    }
}

static unsigned long long match_name(const struct io_meshfile *file,
                                     uint64_t face)
{
    return file->names[file->owner[face]];
}

/* Two cells. */
static storm_status match_pair(struct io_meshfile *file, const uint64_t *face)
{
    if (file->owner[face[0]] == file->owner[face[1]])
        return io_meshfile_fail(file,
                                ": %s %llu: two of its faces have the same "
                                "corners",
                                file->cell_word, match_name(file, face[0]));
    for (size_t i = 0; i < 2; i++)
        file->behind[face[i]] = file->owner[face[1 - i]];
    return STORM_OK;
}

static storm_status match_lost_mark(const struct io_meshfile *file,
                                    uint64_t mark)
{
    const double *x =
        &file->points_cm[3 * file->corners[file->first_corner[mark]]];
    return io_meshfile_fail(file,
                            ": boundary %d has a face with a corner at (%g, "
                            "%g, %g) that is no face of a cell",
                            (int)file->boundary[mark], x[0], x[1], x[2]);
}

/* Faces with the same corners: of one cell, maybe with a mark, or of two. */
static storm_status match_group(struct io_meshfile *file, const uint64_t *face,
                                size_t n)
{
    size_t n_cells = 0;
    while (n_cells < n && face[n_cells] < file->n_faces)
        n_cells++;
    if (n_cells == 0)
        return match_lost_mark(file, face[0]);
    if (n_cells > 2)
        return io_meshfile_fail(file,
                                ": %ss %llu, %llu and %llu share a face: "
                                "expected two at most",
                                file->cell_word, match_name(file, face[0]),
                                match_name(file, face[1]),
                                match_name(file, face[2]));
    if (n_cells == 2)
        return match_pair(file, face);
    if (n > 1)
        file->boundary[face[0]] = file->boundary[face[1]];
    if (file->boundary[face[0]] == IO_MESHFILE_INSIDE)
        return io_meshfile_fail(file,
                                ": %s %llu: a face has no neighbour with the "
                                "same corners: expected the number of a "
                                "boundary, got -1",
                                file->cell_word, match_name(file, face[0]));
    if (file->boundary[face[0]] >= file->n_boundaries)
        file->n_boundaries = file->boundary[face[0]] + 1;
    return STORM_OK;
}

/* Two convex cells that share two faces overlap. */
static storm_status match_check_cell(const struct io_meshfile *file, size_t c)
{
    for (uint64_t f = file->first_face[c]; f < file->first_face[c + 1]; f++)
        for (uint64_t g = file->first_face[c]; g < f; g++)
            if (file->behind[f] >= 0 && file->behind[f] == file->behind[g])
                return io_meshfile_fail(file,
                                        ": %ss %llu and %llu share two faces: "
                                        "expected one",
                                        file->cell_word, match_name(file, f),
                                        (unsigned long long)
                                            file->names[file->behind[f]]);
    return STORM_OK;
}

static storm_status match_groups(struct match *m)
{
    struct io_meshfile *file = m->file;
    storm_status status = STORM_OK;
    for (size_t c = 0; c < file->n_cells; c++)
        for (uint64_t f = file->first_face[c]; f < file->first_face[c + 1]; f++)
            file->owner[f] = (uint32_t)c;
    for (size_t f = 0; f < file->n_faces; f++)
        file->behind[f] = -1;
    file->n_boundaries = 1;
    for (size_t from = 0, end; from < m->n && status == STORM_OK; from = end) {
        end = from + 1;
        while (end < m->n &&
               match_compare(file, m->order[from], m->order[end]) == 0)
            end++;
        status = match_group(file, &m->order[from], end - from);
    }
    for (size_t c = 0; c < file->n_cells && status == STORM_OK; c++)
        status = match_check_cell(file, c);
    return status;
}

storm_status io_meshfile_match(struct io_meshfile *file)
{
    struct storm_memory *memory = file->env->memory;
    struct match m = {.file = file, .n = file->n_faces + file->n_marks};
    uint64_t *first =
        storm_alloc(memory, match_label, (file->n_points + 1) * sizeof *first);
    m.order = storm_alloc(memory, match_label, (m.n + 1) * sizeof *m.order);
    m.spare = storm_alloc(memory, match_label, (m.n + 1) * sizeof *m.spare);
    file->owner = storm_alloc(memory, match_label,
                              (file->n_faces + 1) * sizeof *file->owner);
    file->behind = storm_alloc(memory, match_label,
                               (file->n_faces + 1) * sizeof *file->behind);
    storm_status status = STORM_ERR_NOMEM;
    if (first != NULL && m.order != NULL && m.spare != NULL &&
        file->owner != NULL && file->behind != NULL) {
        match_order(&m, first);
        status = match_groups(&m);
    }
    storm_free(memory, m.spare);
    storm_free(memory, m.order);
    storm_free(memory, first);
    return status;
}
