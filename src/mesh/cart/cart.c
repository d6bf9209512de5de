/* SPDX-License-Identifier: BSD-3-Clause */
/* Cartesian meshes in one to three dimensions, with edges of any spacing. */
#include <math.h>
#include <string.h>

#include <storm/context.h>

#include "base/port.h"
#include "base/sized.h"
#include "mesh/cart/cart_mesh.h"
#include "mesh/mesh_axis_sample.h"
#include "mesh/mesh_hilbert.h"

static const char cart_label[] = "mesh edges";

/* ---- edges -------------------------------------------------------------- */

/* How many of the n cells between the edges have a width above 0, counted from
 * the first up to one that has not. */
static int64_t cart_n_growing(const double *edge, int64_t n)
{
    int64_t i = 0;
    while (i < n && edge[i] < edge[i + 1])
        i++;
    return i;
}

/* Edges of n cells whose widths grow by `ratio`; multiplications only, so that
 * the bits do not depend on the mathematics library. False: a width underflows
 * or overflows. */
static bool cart_fill_edges(double lo, double hi, int32_t n, double ratio,
                            double *edge_out)
{
    double width = 1.0, sum = 0.0;
    if (ratio == 1.0) {
        for (int32_t i = 0; i <= n; i++)
            edge_out[i] = lo + (hi - lo) * ((double)i / (double)n);
    } else {
        for (int32_t i = 0; i < n; i++, width *= ratio) {
            edge_out[i] = sum;
            sum += width;
        }
        for (int32_t i = 0; i < n; i++)
            edge_out[i] = lo + (hi - lo) * (edge_out[i] / sum);
    }
    edge_out[n] = hi;
    return cart_n_growing(edge_out, n) == n;
}

/* Largest i < n with edge[i] <= x, where edge[0] <= x <= edge[n]. */
static int32_t cart_find(const double *edge, int32_t n, double x)
{
    int32_t low = 0, high = n;
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (edge[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* ---- the table ---------------------------------------------------------- */

/* The two edges of a cell in direction d. */
static const double *cart_edges(const struct storm_mesh *mesh,
                                storm_cell_idx cell, int d)
{
    const struct cart_mesh *cart = cart_of(mesh);
    return cart->edge[d] +
           cart_unpack(cart, cart_part_of(mesh)->cells[cell].ijk, d);
}

static double cart_width(const struct storm_mesh *mesh, storm_cell_idx cell,
                         int d)
{
    const double *edge = cart_edges(mesh, cell, d);
    return edge[1] - edge[0];
}

static double cart_volume_cm3(const struct storm_mesh *mesh,
                              storm_cell_idx cell)
{
    return cart_width(mesh, cell, 0) * cart_width(mesh, cell, 1) *
           cart_width(mesh, cell, 2);
}

static void cart_centre(const struct storm_mesh *mesh, storm_cell_idx cell,
                        double centre_cm_out[3])
{
    for (int d = 0; d < 3; d++) {
        const double *edge = cart_edges(mesh, cell, d);
        centre_cm_out[d] = edge[0] + 0.5 * (edge[1] - edge[0]);
    }
}

static void cart_bounds(const struct storm_mesh *mesh, storm_cell_idx cell,
                        double lo_cm_out[3], double hi_cm_out[3])
{
    for (int d = 0; d < 3; d++) {
        const double *edge = cart_edges(mesh, cell, d);
        lo_cm_out[d] = edge[0];
        hi_cm_out[d] = edge[1];
    }
}

static void cart_sample(const struct storm_mesh *mesh, storm_cell_idx cell,
                        const double u[3], double point_cm_out[3])
{
    for (int d = 0; d < 3; d++) {
        const double *edge = cart_edges(mesh, cell, d);
        point_cm_out[d] = axis_sample(edge[0], edge[1], u[d]);
    }
}

static void cart_box(const struct storm_mesh *mesh, double lo_cm_out[3],
                     double hi_cm_out[3])
{
    const struct cart_mesh *cart = cart_of(mesh);
    for (int d = 0; d < 3; d++) {
        lo_cm_out[d] = cart->edge[d][0];
        hi_cm_out[d] = cart->edge[d][cart->n[d]];
    }
}

static storm_status cart_locate(const struct storm_mesh *mesh,
                                const double point_cm[3],
                                struct storm_cell_ref *where_out)
{
    const struct cart_mesh *cart = cart_of(mesh);
    int32_t ijk[3];
    for (int d = 0; d < 3; d++) {
        const double *edge = cart->edge[d];
        double x = point_cm[d];
        if (!(x >= edge[0] && x <= edge[cart->n[d]]))
            return STORM_ERR_ARG;
        ijk[d] = cart_find(edge, cart->n[d], x);
    }
    where_out->rank = storm_mesh_owner_at(mesh, mesh->partition,
                                          storm_hilbert_position(cart->n, ijk),
                                          &where_out->idx);
    return STORM_OK;
}

/* In periodic directions a position may be outside; NaN stays NaN. */
static storm_status cart_seek(const struct storm_mesh *mesh,
                              storm_cell_idx cell, double x_cm[3],
                              struct storm_cell_ref *next_out)
{
    const struct cart_mesh *cart = cart_of(mesh);
    for (int d = 0; d < 3; d++)
        if (cart->periodic[d])
            x_cm[d] = storm_mesh_wrap(x_cm[d], cart->edge[d][0],
                                      cart->edge[d][cart->n[d]]);
    return storm_seek_located(mesh, cell, x_cm, next_out);
}

static int cart_n_faces(const struct storm_mesh *mesh, storm_cell_idx cell)
{
    (void)mesh;
    (void)cell;
    return CART_N_FACES;
}

static void cart_face(const struct storm_mesh *mesh, storm_cell_idx cell,
                      int face, struct storm_face *face_out)
{
    const struct cart_part *part = cart_part_of(mesh);
    int axis = face / 2;
    int32_t next = part->cells[cell].next[face];
    memset(face_out, 0, sizeof *face_out);
    storm_borders_face(mesh, &part->borders, next, face_out);
    face_out->area_cm2 = cart_width(mesh, cell, (axis + 1) % 3) *
                         cart_width(mesh, cell, (axis + 2) % 3);
    face_out->normal[axis] = face % 2 ? 1.0 : -1.0;
}

static void cart_destroy(struct storm_mesh *mesh)
{
    struct cart_mesh *cart = (struct cart_mesh *)mesh;
    struct storm_memory *memory = mesh->env->memory;
    for (int d = 0; d < 3; d++)
        storm_free(memory, cart->edge[d]);
    storm_free(memory, cart);
}

/* ---- create ------------------------------------------------------------- */

/* Bits of the largest index below n. */
static int cart_bits(int32_t n)
{
    int bits = 0;
    while (((int64_t)1 << bits) < n)
        bits++;
    return bits;
}

/* Takes the box of a direction from its edges. */
static storm_status cart_take_edges(const struct storm_env *env,
                                    struct storm_cart_params *params, int d)
{
    const double *edge = params->edges_cm[d];
    int64_t n = params->n[d] > 0 ? params->n[d] : 1;
    int64_t i = cart_n_growing(edge, n);
    double *lo = &params->lo_cm[d], *hi = &params->hi_cm[d];
    bool has_box = *lo != 0.0 || *hi != 0.0; /* NaN is not 0 */
    if (i < n) {
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "edges in direction %d must grow: edge %lld is %.17g "
                        "after %.17g",
                        d, (long long)i + 1, edge[i + 1], edge[i]);
        return STORM_ERR_ARG;
    }
    if (has_box && (*lo != edge[0] || *hi != edge[n])) {
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "edges in direction %d go from %.17g to %.17g, but the "
                        "box from %.17g to %.17g; make them agree",
                        d, edge[0], edge[n], *lo, *hi);
        return STORM_ERR_ARG;
    }
    if (params->stretch[d] != 0.0 && params->stretch[d] != 1.0) {
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "stretch in direction %d is %g; with edges it must be "
                        "0 or 1",
                        d, params->stretch[d]);
        return STORM_ERR_ARG;
    }
    *lo = edge[0];
    *hi = edge[n];
    return STORM_OK;
}

static storm_status cart_check(const struct storm_env *env,
                               struct storm_cart_params *params)
{
    double cells = 1.0; /* as a double it cannot overflow */
    storm_status status = STORM_OK;
    for (int d = 0; d < 3; d++) {
        if (params->n[d] < 0 || params->n[d] > STORM_HILBERT_MAX) {
            storm_log_write(&env->log, STORM_LOG_ERROR,
                            "direction %d cannot have %lld cells, only 1 to %d",
                            d, (long long)params->n[d], STORM_HILBERT_MAX);
            return STORM_ERR_ARG;
        }
        if (!(params->stretch[d] >= 0.0) || !isfinite(params->stretch[d])) {
            storm_log_write(
                &env->log, STORM_LOG_ERROR,
                "stretch in direction %d is %g; it must be positive", d,
                params->stretch[d]);
            return STORM_ERR_ARG;
        }
        if (params->edges_cm[d] != NULL)
            status = cart_take_edges(env, params, d);
        if (status < 0)
            return status;
        cells *= params->n[d] > 0 ? (double)params->n[d] : 1.0;
    }
    status = storm_mesh_check_box(env, params->lo_cm, params->hi_cm);
    if (status < 0)
        return status;
    if (cells >= 0x1p48) {
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "a mesh cannot have %g cells; 2^48 are too many",
                        cells);
        return STORM_ERR_ARG;
    }
    return STORM_OK;
}

static storm_status cart_fill(struct cart_mesh *cart,
                              const struct storm_cart_params *params)
{
    const struct storm_env *env = cart->base.env;
    cart->base.n_total = 1;
    int shift = 0;
    for (int d = 0; d < 3; d++) {
        int32_t n = params->n[d] > 0 ? (int32_t)params->n[d] : 1;
        double ratio = params->stretch[d] > 0.0 ? params->stretch[d] : 1.0;
        cart->n[d] = n;
        cart->periodic[d] = params->periodic[d];
        cart->base.n_total *= (uint64_t)n;
        cart->shift[d] = shift; /* in all below 48 + 3 bits */
        cart->mask[d] = ((uint64_t)1 << cart_bits(n)) - 1;
        shift += cart_bits(n);
        cart->edge[d] = storm_alloc(env->memory, cart_label,
                                    ((size_t)n + 1) * sizeof(double));
        if (cart->edge[d] == NULL)
            return STORM_ERR_NOMEM;
        if (params->edges_cm[d] != NULL) {
            memcpy(cart->edge[d], params->edges_cm[d],
                   ((size_t)n + 1) * sizeof(double));
        } else if (!cart_fill_edges(params->lo_cm[d], params->hi_cm[d], n,
                                    ratio, cart->edge[d])) {
            storm_log_write(&env->log, STORM_LOG_ERROR,
                            "%d cells with stretch %g do not fit between %g "
                            "and %g",
                            n, ratio, params->lo_cm[d], params->hi_cm[d]);
            return STORM_ERR_ARG;
        }
    }
    return STORM_OK;
}

storm_status storm_mesh_create_cart(struct storm_context *context,
                                    const struct storm_cart_params *params,
                                    struct storm_mesh **mesh_out)
{
    const struct storm_env *env = storm_context_env(context);
    struct cart_mesh *cart = NULL;
    struct storm_cart_params own;
    storm_status status = storm_sized_read(env, "storm_mesh_create_cart",
                                           params, &own, sizeof own);
    params = &own;
    if (status == STORM_OK)
        status = cart_check(env, &own);
    if (status == STORM_OK) {
        cart = storm_alloc(env->memory, cart_label, sizeof *cart);
        status = cart != NULL ? STORM_OK : STORM_ERR_NOMEM;
    }
    if (status == STORM_OK) {
        cart->base.ops = &storm_mesh_cart;
        cart->base.context = context;
        cart->base.env = env;
        status = cart_fill(cart, params);
    }
    status =
        storm_mesh_finish(cart != NULL ? &cart->base : NULL, context, status);
    if (status < 0)
        return status;
    *mesh_out = &cart->base;
    return STORM_OK;
}

size_t storm_mesh_edges(const struct storm_mesh *mesh, int axis,
                        const double **edges_cm_out)
{
    bool has = mesh->ops == &storm_mesh_cart && axis >= 0 && axis < 3;
    *edges_cm_out = has ? cart_of(mesh)->edge[axis] : NULL;
    return has ? (size_t)cart_of(mesh)->n[axis] + 1 : 0;
}

static const struct storm_mesh_changes cart_changes = {
    .seek = cart_seek,
    .seek_many = storm_seek_each,
    .jump = storm_jump_located,
    .move = storm_no_move,
    .adapt = storm_no_adapt,
};

const struct storm_mesh_ops storm_mesh_cart = {
    .name = "cartesian",
    .shape = &storm_mesh_boxes,
    .destroy = cart_destroy,
    .build_part = cart_build_part,
    .free_part = cart_free_part,
    .box = cart_box,
    .volume_cm3 = cart_volume_cm3,
    .centre = cart_centre,
    .bounds = cart_bounds,
    .sample = cart_sample,
    .sample_face = storm_box_sample_face,
    .locate = cart_locate,
    .n_faces = cart_n_faces,
    .face = cart_face,
    .changes = &cart_changes,
};
