/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faces of cells in their order, and both sides of each: a face that leads to
 * another rank is sent there, where it must find its twin.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>

#include "mesh/given/given_mesh.h"
#include "mesh/mesh_message.h"

static const char face_label[] = "mesh faces";

/* Max relative error of what a host computes. */
static const double face_error = 1e-6;

/* A face of another cell that leads to one of this rank. */
struct face_view {
    storm_cell_idx cell; /* here */
    storm_cell_idx from; /* there */
    int32_t rank;
    storm_cell_id tag;
    double n[3], at[3]; /* normal, and a point of the plane */
    double area;
};
enum { FACE_WORDS = 9 };

struct faces {
    const struct storm_mesh *mesh;
    const struct storm_given_params *params;
    struct given_part *part;
    struct face_view *views; /* from other ranks, in order */
    size_t n_views;
};

static int face_order(const void *left, const void *right)
{
    const struct face_view *a = left, *b = right;
    if (a->cell != b->cell)
        return a->cell < b->cell ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->from > b->from) - (a->from < b->from);
}

/* Face f of local cell i, as the cell behind it sees it. */
static struct face_view face_view(const struct faces *s, size_t i, uint64_t f)
{
    const struct storm_given_params *p = s->params;
    struct face_view view = {.cell = p->neighbours[f],
                             .from = (storm_cell_idx)i,
                             .rank = s->mesh->env->rank,
                             .tag = s->part->base.tags[i],
                             .area = p->areas_cm2[f]};
    for (int d = 0; d < 3; d++) {
        size_t k = 3 * (size_t)f + (size_t)d;
        view.n[d] = p->normals[k];
        view.at[d] = p->points_cm[3 * i + (size_t)d] + p->on_planes_cm[k];
    }
    return view;
}

/* ---- exchange ----------------------------------------------------------- */

static void face_pack(const struct face_view *view, uint64_t *words)
{
    words[0] = (uint64_t)(uint32_t)view->cell << 32 | (uint32_t)view->from;
    words[1] = view->tag;
    memcpy(&words[2], view->n, sizeof view->n);
    memcpy(&words[5], view->at, sizeof view->at);
    memcpy(&words[8], &view->area, sizeof view->area);
}

static struct face_view face_unpack(const uint64_t *words, int rank)
{
    struct face_view view = {.cell = (storm_cell_idx)(words[0] >> 32),
                             .from = (storm_cell_idx)(words[0] & UINT32_MAX),
                             .rank = rank,
                             .tag = words[1]};
    memcpy(view.n, &words[2], sizeof view.n);
    memcpy(view.at, &words[5], sizeof view.at);
    memcpy(&view.area, &words[8], sizeof view.area);
    return view;
}

static storm_status face_receive(struct faces *s,
                                 const struct storm_messages *in)
{
    size_t n = 0;
    for (size_t i = 0; i < in->n; i++)
        n += in->array[i].n_words / FACE_WORDS;
    s->views = storm_alloc(s->mesh->env->memory, face_label,
                           (n + 1) * sizeof *s->views);
    if (s->views == NULL)
        return STORM_ERR_NOMEM;
    for (size_t i = 0; i < in->n; i++)
        for (size_t k = 0; k < in->array[i].n_words; k += FACE_WORDS)
            s->views[s->n_views++] =
                face_unpack(&in->words[in->array[i].first + k],
                            in->array[i].rank);
    qsort(s->views, n, sizeof *s->views, face_order);
    return STORM_OK;
}

/* Faces to other ranks. Collective. */
static storm_status face_exchange(struct faces *s, storm_status status)
{
    const struct storm_env *env = s->mesh->env;
    const struct storm_given_params *p = s->params;
    size_t n = (size_t)p->n_cells;
    size_t n_faces = n > 0 && status >= 0 ? (size_t)p->first_face[n] : 0;
    struct storm_messages out = {.n = 0}, in = {.n = 0};
    struct storm_cell_ref *to =
        storm_alloc(env->memory, face_label, (n_faces + 1) * sizeof *to);
    size_t *first =
        storm_alloc(env->memory, face_label, (n_faces + 1) * sizeof *first);
    if (status >= 0 && (to == NULL || first == NULL))
        status = STORM_ERR_NOMEM;
    for (size_t f = 0; f < n_faces && status >= 0; f++)
        to[f].rank = p->ranks[f] != env->rank ? p->ranks[f] : -1;
    if (status >= 0)
        status = storm_messages_rows(env, n_faces, to, FACE_WORDS, &out, first);
    for (size_t i = 0; i < n && status >= 0; i++)
        for (uint64_t f = p->first_face[i]; f < p->first_face[i + 1]; f++) {
            struct face_view view = face_view(s, i, f);
            if (to[f].rank >= 0)
                face_pack(&view, &out.words[first[f]]);
        }
    status = storm_messages_exchange(s->mesh->context, status, &out, &in);
    if (status >= 0)
        status = face_receive(s, &in);
    storm_messages_release(env, &in);
    storm_messages_release(env, &out);
    storm_free(env->memory, first);
    storm_free(env->memory, to);
    return status;
}

/* ---- twins -------------------------------------------------------------- */

/* The other side of face f of cell i; false: there is none, or several. */
static bool face_find(const struct faces *s, size_t i, uint64_t f,
                      struct face_view *view_out)
{
    const struct storm_given_params *p = s->params;
    int n = 0;
    if (p->ranks[f] == s->mesh->env->rank) {
        size_t j = (size_t)p->neighbours[f];
        for (uint64_t g = p->first_face[j]; g < p->first_face[j + 1]; g++)
            if (p->ranks[g] == p->ranks[f] && (size_t)p->neighbours[g] == i) {
                *view_out = face_view(s, j, g);
                n++;
            }
        return n == 1;
    }
    struct face_view key = {.cell = (storm_cell_idx)i,
                            .rank = p->ranks[f],
                            .from = p->neighbours[f]};
    const struct face_view *found =
        bsearch(&key, s->views, s->n_views, sizeof key, face_order);
    if (found == NULL)
        return false;
    *view_out = *found;
    return (found == s->views || face_order(found - 1, &key) != 0) &&
           (found + 1 == s->views + s->n_views ||
            face_order(found + 1, &key) != 0);
}

/* Are they two sides of one face? */
static bool face_fits(const struct face_view *a, const struct face_view *b)
{
    double aa = 0.0, bb = 0.0, ab = 0.0, apart = 0.0;
    for (int d = 0; d < 3; d++) {
        aa += a->n[d] * a->n[d];
        bb += b->n[d] * b->n[d];
        ab += a->n[d] * b->n[d];
        apart += a->n[d] * (b->at[d] - a->at[d]);
    }
    return fabs(a->area - b->area) <= face_error * a->area && ab < 0.0 &&
           ab * ab >=
               (1.0 - face_error * face_error) * (1.0 - 0x1p-50) * aa * bb &&
           fabs(apart) <=
               face_error * sqrt(aa * a->area) +
                   0x1p-40 * sqrt(aa) *
                       (fabs(a->at[0]) + fabs(a->at[1]) + fabs(a->at[2]));
}

/* Distance of the planes of two sides, with the normal of one of them. */
static double face_gap(const double n[3], const struct face_view *a,
                       const struct face_view *b)
{
    double nn = 0.0, apart = 0.0;
    for (int d = 0; d < 3; d++) {
        nn += n[d] * n[d];
        apart += n[d] * (b->at[d] - a->at[d]);
    }
    return fabs(apart) / sqrt(nn);
}

static storm_status face_fill(const struct faces *s, size_t i, uint64_t f,
                              struct given_face *face_out)
{
    const struct storm_given_params *p = s->params;
    const struct storm_env *env = s->mesh->env;
    storm_cell_id tag = s->part->base.tags[i];
    unsigned number = (unsigned)(f - p->first_face[i]);
    struct face_view mine = face_view(s, i, f), other;
    struct given_face face = {.rank = p->ranks[f],
                              .behind = p->neighbours[f],
                              .area = p->areas_cm2[f],
                              .tag = UINT64_MAX,
                              .plane = number};
    memcpy(face.n, mine.n, sizeof face.n);
    if (face.rank < 0) {
        *face_out = face;
        return STORM_OK;
    }
    if (!face_find(s, i, f, &other))
        return given_refuse(env, tag,
                            "face %u leads to cell %d of rank %d, which has no "
                            "face back, or several",
                            number, (int)face.behind, face.rank);
    if (other.tag == tag || !face_fits(&mine, &other))
        return given_refuse(env, tag,
                            "face %u, area %.9g cm2, does not fit that of cell "
                            "%llu, %.9g cm2: expected the same area and plane, "
                            "and opposite normals (periodic faces are not "
                            "supported)",
                            number, mine.area, (unsigned long long)other.tag,
                            other.area);
    if (other.tag < tag) {
        face.area = other.area;
        for (int d = 0; d < 3; d++)
            face.n[d] = -other.n[d];
    }
    face.tag = other.tag;
    s->part->gap[i] = fmax(s->part->gap[i], face_gap(face.n, &mine, &other));
    *face_out = face;
    return STORM_OK;
}

/* GIVEN-1 */
static bool face_before(const struct given_face *a, const struct given_face *b)
{
    if (a->tag != b->tag)
        return a->tag < b->tag;
    return a->rank < 0 && b->rank < 0 && a->behind < b->behind;
}

/* The faces of a cell, with their numbers as given in `plane`. */
static storm_status face_cell(const struct faces *s, size_t i)
{
    uint64_t begin = s->params->first_face[i];
    size_t n = (size_t)(s->params->first_face[i + 1] - begin);
    struct given_face *faces = &s->part->faces[begin];
    for (size_t k = 0; k < n; k++) {
        struct given_face face;
        storm_status status = face_fill(s, i, begin + k, &face);
        if (status < 0)
            return status;
        size_t at = k;
        for (; at > 0 && face_before(&face, &faces[at - 1]); at--)
            faces[at] = faces[at - 1];
        faces[at] = face;
    }
    return STORM_OK;
}

storm_status given_faces(const struct storm_mesh *mesh, storm_status status,
                         const struct storm_given_params *params,
                         struct given_part *part)
{
    struct faces s = {.mesh = mesh, .params = params, .part = part};
    status = face_exchange(&s, status);
    for (size_t i = 0; i < (size_t)params->n_cells && status >= 0; i++)
        status = face_cell(&s, i);
    /* Each view has a twin, or there are fewer faces here than there. */
    for (size_t i = 0; i < s.n_views && status >= 0; i++) {
        const struct face_view *view = &s.views[i];
        bool found = (uint64_t)view->cell < params->n_cells;
        for (uint64_t f = found ? params->first_face[view->cell] : 0, n = 0;
             found && n == 0; f++) {
            found = f < params->first_face[view->cell + 1];
            n = found && params->ranks[f] == view->rank &&
                params->neighbours[f] == view->from;
        }
        if (!found)
            status = given_refuse(mesh->env, view->tag,
                                  "a face leads to cell %d of rank %d, which "
                                  "has no face back",
                                  (int)view->cell, mesh->env->rank);
    }
    storm_free(mesh->env->memory, s.views);
    return status;
}
