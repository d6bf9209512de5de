/* SPDX-License-Identifier: BSD-3-Clause */
/* One rank's cells of a Cartesian mesh, and what lies behind their faces. */
#include "mesh/cart/cart_mesh.h"

#include "base/port.h"
#include "mesh/mesh_hilbert.h"

static const char cart_label[] = "mesh cells";

/* No neighbour found yet. Not an index of a border: those are negative too,
 * but there are fewer than 2^31. */
enum { CART_UNKNOWN = INT32_MIN };

struct cart_builder {
    const struct cart_mesh *cart;
    const uint64_t *partition;
    struct cart_part *part;
};

static void cart_place_cells(struct cart_builder *b)
{
    const struct cart_mesh *cart = b->cart;
    struct cart_part *part = b->part;
    for (storm_cell_idx i = 0; i < part->base.n_cells; i++) {
        int32_t ijk[3];
        storm_hilbert_ijk(cart->n, part->base.first + (storm_cell_id)i, ijk);
        struct cart_cell *cell = &part->cells[i];
        cell->ijk = 0;
        for (int d = 0; d < 3; d++)
            cell->ijk |= (uint64_t)ijk[d] << cart->shift[d];
        for (int face = 0; face < CART_N_FACES; face++)
            cell->next[face] = CART_UNKNOWN;
    }
}

/* What is behind `face` of local cell `i`. */
static storm_status cart_link(struct cart_builder *b, storm_cell_idx i,
                              int face)
{
    const struct cart_mesh *cart = b->cart;
    struct cart_part *part = b->part;
    struct cart_cell *cell = &part->cells[i];
    int32_t ijk[3];
    for (int d = 0; d < 3; d++)
        ijk[d] = cart_unpack(cart, cell->ijk, d);

    int axis = face / 2;
    bool wraps = ijk[axis] == (face % 2 ? cart->n[axis] - 1 : 0);
    if (wraps && !cart->periodic[axis]) {
        cell->next[face] = ~face; /* the walls come first among borders */
        return STORM_OK;
    }
    if (wraps)
        ijk[axis] = face % 2 ? 0 : cart->n[axis] - 1;
    else
        ijk[axis] += face % 2 ? 1 : -1;

    storm_cell_id id = storm_hilbert_position(cart->n, ijk);
    storm_cell_id offset = id - part->base.first; /* huge if id < first */
    if (!wraps && offset < (storm_cell_id)part->base.n_cells) {
        cell->next[face] = (storm_cell_idx)offset;
        part->cells[offset].next[face ^ 1] = i; /* saves a second search */
        return STORM_OK;
    }
    struct storm_border border = {.id = id, .wall = -1, .wraps = wraps};
    border.rank =
        storm_mesh_owner_at(&cart->base, b->partition, id, &border.idx);
    return storm_borders_add(cart->base.env, &part->borders, &border,
                             &cell->next[face]);
}

storm_status cart_build_part(const struct storm_mesh *mesh,
                             const uint64_t *partition,
                             struct storm_mesh_part **part_out)
{
    const struct storm_env *env = mesh->env;
    struct cart_part *part = storm_alloc(env->memory, cart_label, sizeof *part);
    if (part == NULL)
        return STORM_ERR_NOMEM;
    part->base.first = partition[env->rank];
    part->base.n_cells =
        (storm_cell_idx)(partition[env->rank + 1] - partition[env->rank]);
    size_t bytes = (size_t)part->base.n_cells * sizeof *part->cells;
    part->cells = storm_alloc(env->memory, cart_label, bytes > 0 ? bytes : 1);

    struct cart_builder b = {
        .cart = cart_of(mesh), .partition = partition, .part = part};
    storm_status status = part->cells != NULL
                              ? storm_borders_open(env, &part->borders)
                              : STORM_ERR_NOMEM;
    if (status == STORM_OK)
        cart_place_cells(&b);
    for (storm_cell_idx i = 0; i < part->base.n_cells; i++) {
        for (int face = 0; face < CART_N_FACES && status == STORM_OK; face++) {
            if (part->cells[i].next[face] == CART_UNKNOWN)
                status = cart_link(&b, i, face);
        }
        if (status < 0)
            break;
    }
    if (status < 0) {
        cart_free_part(mesh, &part->base);
        return status;
    }
    *part_out = &part->base;
    return STORM_OK;
}

void cart_free_part(const struct storm_mesh *mesh, struct storm_mesh_part *base)
{
    struct cart_part *part = (struct cart_part *)base;
    if (part == NULL)
        return;
    storm_borders_close(mesh->env, &part->borders);
    storm_free(mesh->env->memory, part->cells);
    storm_free(mesh->env->memory, part);
}
