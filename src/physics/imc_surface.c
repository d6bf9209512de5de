/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tallies of surfaces: which cells are in the set that each of them is about,
 * and packets that cross between these cells and others.
 *
 *   SURFACE-1  A crossing is counted where the packet leaves its cell, before
 *              it is sent: once, with the same bits on any number of ranks.
 *   SURFACE-2  Only faces between two cells that transport count, periodic ones
 *              too; walls and cells that are outside belong to ESCAPE.
 *   SURFACE-3  Sets are made anew for each step: a host may change materials,
 *              and the mesh its cells, between steps.
 */
#include <storm/change.h>
#include <storm/context.h>

#include "mesh/mesh_change.h"
#include "mesh/mesh_ops.h"
#include "physics/imc.h"

static const char surface_label[] = "imc surfaces";

/* Where a cell is. */
enum surface_place {
    PLACE_OTHER,
    PLACE_IN,     /* the set */
    PLACE_OUTSIDE /* nothing is transported there */
};

static bool is_surface(const struct tally *tally)
{
    return tally->own.where == STORM_TALLY_SURFACE;
}

/* ---- sets --------------------------------------------------------------- */

static enum surface_place surface_place(const struct storm_imc *imc,
                                        const struct storm_tally *tally,
                                        storm_cell_idx cell,
                                        const double centre_cm[3])
{
    if (imc->track.cells[cell].outside)
        return PLACE_OUTSIDE;
    if (tally->one_material && imc->material[cell] != tally->material)
        return PLACE_OTHER;
    return storm_shape_contains(&tally->shape, centre_cm) ? PLACE_IN
                                                          : PLACE_OTHER;
}

static void surface_fill(struct storm_imc *imc)
{
    const struct tally_set *set = &imc->tallies;
    unsigned char *place = imc->surfaces.own;
    for (storm_cell_idx cell = 0; cell < imc->n_cells; cell++) {
        double centre[3];
        storm_mesh_centre(imc->mesh, cell, centre);
        for (size_t i = 0; i < set->n; i++)
            if (is_surface(&set->tallies[i]))
                *place++ =
                    (unsigned char)surface_place(imc, &set->tallies[i].own,
                                                 cell, centre);
    }
}

static storm_status surface_room(struct storm_imc *imc, size_t n_ghosts)
{
    struct storm_memory *memory = imc->env->memory;
    struct imc_surfaces *s = &imc->surfaces;
    size_t n_cells = (size_t)imc->n_cells;
    storm_status status =
        storm_reserve(memory, surface_label, s->n, n_cells + 1,
                      (void **)&s->own, &s->own_capacity);
    if (status == STORM_OK)
        status = storm_reserve(memory, surface_label, s->n, n_ghosts + 1,
                               (void **)&s->ghosts, &s->ghost_capacity);
    return status;
}

storm_status imc_surface_begin(struct storm_imc *imc)
{
    storm_cell_idx n_ghosts;
    imc->track.surfaces = NULL;
    if (imc->surfaces.n == 0) /* on all ranks */
        return STORM_OK;
    storm_status status = storm_mesh_n_ghosts(imc->mesh, &n_ghosts);
    if (status == STORM_OK)
        status = surface_room(imc, (size_t)n_ghosts);
    status = storm_context_agree(imc->context, status);
    if (status < 0)
        return status;
    surface_fill(imc);
    status = storm_mesh_ghosts(imc->mesh, imc->surfaces.n, imc->surfaces.own,
                               imc->surfaces.ghosts);
    imc->track.surfaces = &imc->surfaces;
    return storm_context_agree(imc->context, status);
}

void imc_surface_close(struct storm_imc *imc)
{
    storm_free(imc->env->memory, imc->surfaces.own);
    storm_free(imc->env->memory, imc->surfaces.ghosts);
    imc->surfaces = (struct imc_surfaces){.n = 0};
    imc->track.surfaces = NULL;
}

/* Rows get longer: those of a step that did not begin are gone. */
void imc_surface_add(struct storm_imc *imc)
{
    size_t n = imc->surfaces.n + 1;
    imc_surface_close(imc);
    imc->surfaces.n = n;
}

/* ---- crossings ---------------------------------------------------------- */

const unsigned char *imc_surface_behind(const struct imc_track *track, int rank,
                                        storm_cell_idx cell)
{
    const struct imc_surfaces *s = track->surfaces;
    storm_cell_idx ghost = storm_halo_find(track->mesh, rank, cell);
    STORM_ASSERT(ghost >= 0);
    return &s->ghosts[(size_t)ghost * s->n];
}

void imc_surface_cross(const struct imc_track *track,
                       const struct storm_packet *packet,
                       const unsigned char *from, const unsigned char *to)
{
    struct tally_set *set = track->tallies;
    struct tally_event event = {
        .time_s = track->end_s - packet->time_left_s,
        .position_cm = packet->position_cm,
        .direction = packet->direction,
        .weight_erg = packet->weight_erg,
        .group = packet->group,
        .wall = -1,
    };
    const struct storm_ledger_parts parts =
        storm_ledger_parts(storm_exact_term(event.weight_erg, set->unit),
                           set->unit);
    for (size_t i = 0, k = 0; i < set->n; i++) {
        struct tally *tally = &set->tallies[i];
        if (!is_surface(tally))
            continue;
        if (from[k] != to[k] && to[k] != PLACE_OUTSIDE) {
            event.side = from[k] == PLACE_IN ? 0 : 1;
            tally_add(set, tally, &event, &parts);
        }
        k++;
    }
}
