/* SPDX-License-Identifier: BSD-3-Clause */
/* What diffuses in a step, and how fast. */
#include <math.h>

#include <storm/change.h>
#include <storm/context.h>

#include "base/math.h"
#include "mesh/mesh_ops.h"
#include "physics/imc.h"
#include "physics/imc_ddmc.h"

/* Where diffusion is as accurate as transport, eq. (D7): this many mean free
 * paths in the smallest width of a cell, and in the length of the step; and
 * with several groups this many changes of the group before a packet leaks. */
static const double ddmc_min_depth = 10.0;
static const double ddmc_min_time = 10.0;
static const double ddmc_min_changes = 10.0;
/* And absorption is at most this part of all collisions. Above, a packet in
 * flight is absorbed soon. */
static const double ddmc_max_absorbed = 0.03;

/* A packet is on a wall if it is no farther from it than this part of the
 * distance of the cell's point: rounding. */
static const double ddmc_on_face = 1e-9;

/* ---- which, eq. (D7) ----------------------------------------------------- */

/* Does a plane pass through the cell in this step? */
static bool step_has_plane(const struct storm_imc *imc, storm_cell_idx cell)
{
    double lo[3], hi[3];
    bool found = false;
    if (imc->track.n_planes == 0)
        return false;
    storm_mesh_bounds(imc->mesh, cell, lo, hi);
    for (size_t i = 0; i < imc->track.n_planes; i++) {
        const struct imc_plane *p = &imc->track.planes[i];
        double other = p->end_cm - p->velocity * imc->dt_s;
        found = found || (fmin(p->end_cm, other) <= hi[p->axis] &&
                          fmax(p->end_cm, other) >= lo[p->axis]);
    }
    return found;
}

static bool step_is_thick(const struct storm_imc *imc,
                          const struct imc_ddmc_cell *cell, double absorb,
                          double opacity)
{
    return opacity * cell->width_cm >= ddmc_min_depth &&
           opacity * imc->track.light_cm_s * imc->dt_s >= ddmc_min_time &&
           absorb <= ddmc_max_absorbed * opacity;
}

static void step_choose_grey(struct storm_imc *imc, storm_cell_idx i)
{
    struct imc_ddmc_cell *cell = &imc->ddmc.cells[i];
    const struct imc_cell *now = &imc->track.cells[i];
    cell->is_in =
        step_is_thick(imc, cell, now->absorb, now->absorb + now->scatter);
    imc->ddmc.share[i] = cell->is_in ? 1.0 : 0.0;
}

/* Groups that are thick, and change into each other often enough to be one. */
static void step_choose_groups(struct storm_imc *imc, storm_cell_idx i)
{
    struct imc_ddmc_cell *cell = &imc->ddmc.cells[i];
    size_t n = imc->ddmc.n_groups;
    const struct imc_opacity *o = &imc->opacity[(size_t)i * n];
    const double *spectrum = &imc->spectrum[(size_t)i * n];
    double *share = &imc->ddmc.share[(size_t)i * n];
    double sum = 0.0, below = 0.0;
    for (size_t g = 0; g < n; g++) {
        double effective = imc_effective(&imc->track.cells[i], &o[g]);
        double opacity = o[g].absorb + o[g].scatter;
        double leak = 2.0 / (3.0 * opacity * cell->width_cm * cell->width_cm);
        double part = spectrum[g] - below;
        below = spectrum[g];
        if (!step_is_thick(imc, cell, o[g].absorb, opacity) || !(part > 0.0) ||
            !(effective >= ddmc_min_changes * leak))
            continue;
        share[g] = part / (o[g].absorb + effective);
        sum += share[g];
    }
    cell->is_in = sum > 0.0;
    for (size_t g = 0; g < n && cell->is_in; g++)
        share[g] /= sum;
}

static void step_choose(struct storm_imc *imc, storm_cell_idx i)
{
    struct imc_ddmc *ddmc = &imc->ddmc;
    ddmc->cells[i].is_in = false;
    for (size_t g = 0; g < ddmc->n_groups; g++)
        ddmc->share[(size_t)i * ddmc->n_groups + g] = 0.0;
    if (!ddmc->cells[i].may || !imc_has_matter(imc, imc->material[i]) ||
        step_has_plane(imc, i))
        return;
    if (imc->velocity != NULL && !imc_drift_may(&imc->motion[i]))
        return;
    if (ddmc->n_groups == 1)
        step_choose_grey(imc, i);
    else
        step_choose_groups(imc, i);
}

/* eq. (D6): what the groups that diffuse in a cell do together. */
static void step_ensemble(struct storm_imc *imc, storm_cell_idx i)
{
    struct imc_ddmc_cell *cell = &imc->ddmc.cells[i];
    size_t n = imc->ddmc.n_groups;
    const double *share = &imc->ddmc.share[(size_t)i * n];
    double flown = 0.0, below = 0.0, changes = 0.0;
    cell->absorb = n == 1 ? imc->track.cells[i].absorb : 0.0;
    for (size_t g = 0; g < n && n > 1; g++) {
        const struct imc_opacity *o = &imc->opacity[(size_t)i * n + g];
        double up = imc->spectrum[(size_t)i * n + g];
        flown += share[g] > 0.0 ? 0.0 : up - below;
        below = up;
        cell->absorb += share[g] * o->absorb;
        changes += share[g] * imc_effective(&imc->track.cells[i], o);
    }
    /* Exactly zero if no group flies: ddmc_change would find none. */
    cell->change = changes * flown;
}

/* ---- opacities at faces, eq. (D1) ---------------------------------------- */

/* Of a part of a wall; 0: nothing radiates there; negative: a mirror. */
static double step_part_kev4(const struct storm_imc *imc, int wall,
                             const struct storm_wall_part *part)
{
    if (part != NULL && part->kind == STORM_WALL_REFLECT)
        return -1.0;
    if (part == NULL || part->kind != STORM_WALL_BLACKBODY)
        return 0.0;
    double kev = imc_edge_hottest(imc, wall, part);
    return kev * kev * (kev * kev);
}

/* Of a face at a wall with several parts: the mean over points of it that are
 * no mirror, through which packets pass. */
static double step_parts_kev4(const struct storm_imc *imc, storm_cell_idx cell,
                              int k, int wall)
{
    enum { POINTS = 32 };
    const struct storm_wall_part *last = NULL;
    double u[2] = {0.5, 0.5}, point[3], kev4 = 0.0, sum = 0.0;
    int n = 0;
    for (int i = 0; i < POINTS; i++) {
        imc->mesh->ops->sample_face(imc->mesh, cell, k, u, point);
        const struct storm_wall_part *part =
            imc_edge_at(imc->problem, wall, point);
        if (part != last)
            kev4 = step_part_kev4(imc, wall, part);
        last = part;
        if (kev4 >= 0.0) {
            sum += kev4;
            n++;
        }
        imc_next_point(u);
    }
    return n > 0 ? sum / n : -1.0;
}

double imc_ddmc_behind_kev4(const struct storm_imc *imc, storm_cell_idx cell,
                            int k)
{
    const struct imc_ddmc_face *face =
        &imc->ddmc.faces[imc->ddmc.first[cell] + (size_t)k];
    if (face->side == DDMC_LOCAL)
        return imc_halo_kev4(imc, face->next);
    if (face->side == DDMC_GHOST)
        return imc_halo_kev4(imc, ~face->next);
    if (imc->edges[face->next] == IMC_EDGE_PARTS)
        return step_parts_kev4(imc, cell, k, face->next);
    return step_part_kev4(imc, face->next,
                          imc_edge_middle(imc, cell, k, face->next));
}

static double step_face_kev(const struct storm_imc *imc, storm_cell_idx cell,
                            int k)
{
    double own = imc_halo_kev4(imc, cell);
    double other = imc_ddmc_behind_kev4(imc, cell, k);
    return other < 0.0 ? imc->temperature[cell]
                       : sqrt(sqrt(0.5 * (own + other)));
}

/* Faces of one material that are asked about together. */
struct step_asked {
    size_t n;
    int material;
    size_t *row; /* in `depth`, without groups */
    double *distance;
    double *kev;
};

/* Asks for those, and fills their depths. */
static storm_status step_ask(struct storm_imc *imc, struct step_asked *asked)
{
    struct imc_ddmc *ddmc = &imc->ddmc;
    struct imc_block *block = &imc->matter.block;
    size_t n_groups = ddmc->n_groups;
    if (asked->n == 0)
        return STORM_OK;
    imc_block_fill(imc, asked->material, block->cell, asked->n);
    block->b.is_estimate = 1; /* a face has what neither cell has */
    for (size_t k = 0; k < asked->n; k++)
        block->temperature[k] = asked->kev[k];
    storm_status status = imc_ask_opacity(imc);
    for (size_t k = 0; k < asked->n && status >= 0; k++) {
        const double *share = &ddmc->share[(size_t)block->cell[k] * n_groups];
        for (size_t g = 0; g < n_groups; g++) {
            size_t at = k * n_groups + g;
            ddmc->depth[asked->row[k] * n_groups + g] =
                share[g] > 0.0
                    ? (block->absorption[at] + block->scattering[at]) *
                          asked->distance[k]
                    : -1.0;
        }
    }
    asked->n = 0;
    return status;
}

static storm_status step_ask_cell(struct storm_imc *imc, storm_cell_idx i,
                                  struct step_asked *asked)
{
    struct imc_ddmc *ddmc = &imc->ddmc;
    struct imc_block *block = &imc->matter.block;
    storm_status status = STORM_OK;
    asked->material = imc->material[i];
    for (size_t f = ddmc->first[i]; f < ddmc->first[i + 1]; f++) {
        const struct imc_ddmc_face *face = &ddmc->faces[f];
        size_t k = f - ddmc->first[i];
        if (asked->n == block->room)
            status = step_ask(imc, asked);
        if (status < 0)
            return status;
        asked->row[asked->n] = (size_t)i * ddmc->max_faces + k;
        asked->distance[asked->n] = face->distance_cm;
        asked->kev[asked->n] = step_face_kev(imc, i, (int)k);
        block->cell[asked->n++] = i;
    }
    return status;
}

/* Depths of this rank's cells. Local. */
static storm_status step_depths(struct storm_imc *imc)
{
    struct imc_ddmc *ddmc = &imc->ddmc;
    const struct imc_matter *matter = &imc->matter;
    size_t n = (size_t)imc->n_cells * ddmc->max_faces * ddmc->n_groups;
    size_t room = matter->block.room;
    size_t row[room];
    double distance[room], kev[room];
    struct step_asked asked = {.row = row, .distance = distance, .kev = kev};
    storm_status status = STORM_OK;
    for (size_t k = 0; k < n; k++)
        ddmc->depth[k] = -1.0;
    for (size_t m = 0; m < imc->problem->n_materials; m++) {
        for (size_t k = matter->first[m]; k < matter->first[m + 1]; k++)
            if (status >= 0 && ddmc->cells[matter->order[k]].is_in)
                status = step_ask_cell(imc, matter->order[k], &asked);
        if (status >= 0)
            status = step_ask(imc, &asked);
    }
    return status;
}

/* ---- depths at faces behind which packets fly, eq. (D10) ----------------- */

/* (1 - (1 - exp(-2 x)) / 2 x) / x */
static double step_ratio(double x)
{
    if (!(x > 1e-3))
        return 1.0 - x * (2.0 - x) / 3.0;
    return (2.0 * x + storm_expm1(-2.0 * x)) / (2.0 * x * x);
}

/* The harmonic mean of the depths of the groups that diffuse, by shares. */
static double step_mean_depth(const double *share, const double *depths,
                              size_t n)
{
    double sum = 0.0;
    for (size_t g = 0; g < n; g++)
        sum += share[g] > 0.0 ? share[g] / depths[g] : 0.0;
    return 1.0 / sum;
}

/* The part of the ensemble's collisions that end its diffusion in the cell. */
static double step_lost(const struct storm_imc *imc, storm_cell_idx i)
{
    const struct imc_ddmc_cell *cell = &imc->ddmc.cells[i];
    const struct imc_cell *now = &imc->track.cells[i];
    size_t n = imc->ddmc.n_groups;
    const double *share = &imc->ddmc.share[(size_t)i * n];
    double path_cm = n == 1 ? 1.0 / (now->absorb + now->scatter) : 0.0;
    for (size_t g = 0; g < n && n > 1; g++) {
        const struct imc_opacity *o = &imc->opacity[(size_t)i * n + g];
        if (share[g] > 0.0)
            path_cm += share[g] / (o->absorb + o->scatter);
    }
    return cell->absorb * path_cm;
}

/* DDMC-6: does no group of the cell's ensemble diffuse behind a face? */
static bool step_all_fly(const struct imc_ddmc *ddmc, storm_cell_idx i,
                         size_t f)
{
    size_t n = ddmc->n_groups;
    bool all = !ddmc->faces[f].is_mirror;
    for (size_t g = 0; g < n; g++)
        all = all && !(ddmc->share[(size_t)i * n + g] > 0.0 &&
                       ddmc->behind[f * n + g] >= 0.0);
    return all;
}

/* Radiation that is absorbed on its way does not come from the middle of the
 * cell, but from the depth in which it is in equilibrium, eq. (D10); what
 * changes into groups that fly comes from where it is, eq. (D11). All groups of
 * the ensemble have one profile. */
static void step_squeeze(struct storm_imc *imc, storm_cell_idx i)
{
    struct imc_ddmc *ddmc = &imc->ddmc;
    size_t n = ddmc->n_groups, first = ddmc->first[i];
    const double *share = &ddmc->share[(size_t)i * n];
    double root = sqrt(3.0 * step_lost(imc, i));
    bool has_places = ddmc->half != NULL && ddmc->cells[i].change > 0.0;
    ddmc->cells[i].has_skin = false;
    for (size_t f = first; f < ddmc->first[i + 1]; f++) {
        size_t row = (size_t)i * ddmc->max_faces + (f - first);
        double *depth = &ddmc->depth[row * n];
        double mean = step_mean_depth(share, depth, n), less = 0.0;
        double ratio = step_ratio(root * mean);
        ddmc->skin[f] = 0.0;
        if (has_places && step_all_fly(ddmc, i, f)) {
            double skin = storm_walk_extrapolation / mean;
            ddmc->skin[f] = skin;
            ddmc->cells[i].has_skin = true;
            ratio = 2.0 * sqrt(ratio) / storm_log((2.0 + skin) / skin);
            less = storm_walk_extrapolation;
        }
        for (size_t g = 0; g < n; g++)
            if (share[g] > 0.0 && !(ddmc->behind[f * n + g] >= 0.0))
                depth[g] = fmax(depth[g] * ratio - less, 0.0);
    }
}

/* Depths of ghosts. Collective. */
static storm_status step_exchange(struct storm_imc *imc)
{
    struct imc_ddmc *ddmc = &imc->ddmc;
    size_t bytes = ddmc->max_faces * ddmc->n_groups * sizeof *ddmc->depth;
    return storm_context_agree(imc->context,
                               storm_mesh_ghosts(imc->mesh, bytes, ddmc->depth,
                                                 ddmc->beyond));
}

/* ---- leakage ------------------------------------------------------------ */

/* What is behind a face, of all groups; NULL: a wall. */
static const double *step_behind(const struct imc_ddmc *ddmc,
                                 const struct imc_ddmc_face *face)
{
    if (face->side == DDMC_WALL)
        return NULL;
    size_t row = (size_t)face->next * ddmc->max_faces + (size_t)face->back;
    return &(face->side == DDMC_LOCAL ? ddmc->depth
                                      : ddmc->beyond)[row * ddmc->n_groups];
}

/* Returns whether something diffuses in the cell or behind one of its faces. */
static bool step_leaks(struct storm_imc *imc, storm_cell_idx i)
{
    struct imc_ddmc *ddmc = &imc->ddmc;
    struct imc_ddmc_cell *cell = &ddmc->cells[i];
    size_t n = ddmc->n_groups;
    const double *share = &ddmc->share[(size_t)i * n];
    bool any = cell->is_in;
    cell->leak = 0.0;
    for (size_t f = ddmc->first[i]; f < ddmc->first[i + 1]; f++) {
        struct imc_ddmc_face *face = &ddmc->faces[f];
        const double *there = step_behind(ddmc, face);
        for (size_t g = 0; g < n; g++) {
            double behind = there != NULL ? there[g] : -1.0;
            ddmc->behind[f * n + g] = behind;
            any = any || behind >= 0.0;
            if (share[g] > 0.0 && !face->is_mirror)
                cell->leak +=
                    share[g] *
                    imc_ddmc_leak(face->reach,
                                  imc_ddmc_depth(ddmc, i, f - ddmc->first[i],
                                                 (int32_t)g),
                                  behind);
        }
        face->leak = cell->leak;
    }
    return any;
}

/* The same, of any cell. */
static bool step_all_leaks(struct storm_imc *imc)
{
    bool any = false;
    for (storm_cell_idx i = 0; i < imc->n_cells; i++)
        any = step_leaks(imc, i) || any;
    return any;
}

/* The longest ways between points and faces. Collective. */
static storm_status step_longest(struct storm_imc *imc)
{
    struct imc_ddmc *ddmc = &imc->ddmc;
    double longest[3] = {0.0, 0.0, 0.0};
    for (storm_cell_idx i = 0; i < imc->n_cells; i++) {
        size_t first = ddmc->first[i], n = ddmc->n_groups;
        if (!ddmc->cells[i].is_in)
            continue;
        for (size_t f = first; f < ddmc->first[i + 1]; f++) {
            longest[0] = fmax(longest[0], ddmc->faces[f].distance_cm);
            longest[2] = fmax(longest[2], ddmc->faces[f].reach);
            for (size_t g = 0; g < n; g++)
                longest[1] = fmax(longest[1], imc_ddmc_depth(ddmc, i, f - first,
                                                             (int32_t)g));
        }
    }
    storm_status status =
        storm_context_reduce(imc->context, longest, 3, MPI_DOUBLE, MPI_MAX);
    ddmc->hop_cm = longest[0];
    ddmc->hop_depth = longest[1];
    ddmc->hop_reach = longest[2];
    return status;
}

void imc_ddmc_choose(struct storm_imc *imc)
{
    for (storm_cell_idx i = 0; imc->problem->diffusion && i < imc->n_cells; i++)
        step_choose(imc, i);
}

storm_status imc_ddmc_begin(struct storm_imc *imc)
{
    struct imc_ddmc *ddmc = &imc->ddmc;
    imc->track.ddmc = NULL;
    ddmc->hop_cm = ddmc->hop_depth = ddmc->hop_reach = 0.0;
    if (!imc->problem->diffusion)
        return STORM_OK;
    uint64_t n = 0;
    for (storm_cell_idx i = 0; i < imc->n_cells; i++)
        n += ddmc->cells[i].is_in;
    storm_status status =
        storm_context_reduce(imc->context, &n, 1, MPI_UINT64_T, MPI_SUM);
    if (status < 0 || n == 0)
        return status;
    status = imc_fault_agree(imc, step_depths(imc));
    if (status >= 0)
        status = step_exchange(imc);
    if (status < 0)
        return status;
    step_all_leaks(imc);
    status = imc_fault_agree(imc, imc_ddmc_heat(imc));
    for (storm_cell_idx i = 0; i < imc->n_cells && status >= 0; i++) {
        step_ensemble(imc, i);
        if (ddmc->cells[i].is_in)
            step_squeeze(imc, i);
    }
    /* Heat has changed what is absorbed: the second time. */
    if (status >= 0)
        status = step_exchange(imc);
    if (status >= 0)
        status = step_longest(imc);
    if (status >= 0 && step_all_leaks(imc))
        imc->track.ddmc = ddmc;
    return status;
}

void imc_ddmc_knock(const struct storm_imc *imc, int wall, int face,
                    struct storm_packet *packet)
{
    const struct imc_ddmc *ddmc = imc->track.ddmc;
    if (ddmc == NULL || !ddmc->cells[packet->cell_idx].is_in)
        return;
    /* In moving matter its group is known when it begins. */
    if (!(imc->track.has_photons && imc->velocity != NULL) &&
        !imc_ddmc_is_in(ddmc, packet->cell_idx, packet->group))
        return;
    size_t first = ddmc->first[packet->cell_idx];
    size_t end = ddmc->first[packet->cell_idx + 1];
    for (size_t f = first; f < end && face < 0; f++)
        if (ddmc->faces[f].side == DDMC_WALL && ddmc->faces[f].next == wall)
            face = (int)(f - first);
    if (face < 0)
        return;
    packet->optical_depth = IMC_KNOCKS;
    packet->face = (uint32_t)face;
}

/* Is a packet on a face of its cell, on its way in? */
static bool step_comes_in(const struct storm_imc *imc, int k,
                          const struct storm_packet *packet)
{
    static const double middle[2] = {0.25, 0.5}; /* of a triangle, about */
    const struct imc_ddmc_face *face =
        &imc->ddmc.faces[imc->ddmc.first[packet->cell_idx] + (size_t)k];
    double at[3], inside = 0.0, mu = 0.0;
    imc->mesh->ops->sample_face(imc->mesh, packet->cell_idx, k, middle, at);
    for (int d = 0; d < 3; d++) {
        inside += (at[d] - packet->position_cm[d]) * face->normal[d];
        mu -= packet->direction[d] * face->normal[d];
    }
    return mu > 0.0 && inside <= ddmc_on_face * face->distance_cm;
}

void imc_ddmc_knock_if_on_wall(const struct storm_imc *imc,
                               struct storm_packet *packet)
{
    const struct imc_ddmc *ddmc = imc->track.ddmc;
    if (ddmc == NULL || !ddmc->cells[packet->cell_idx].is_in)
        return;
    size_t first = ddmc->first[packet->cell_idx];
    int n = (int)(ddmc->first[packet->cell_idx + 1] - first);
    for (int k = 0; k < n; k++) {
        const struct imc_ddmc_face *face = &ddmc->faces[first + (size_t)k];
        if (face->side != DDMC_WALL || !step_comes_in(imc, k, packet) ||
            imc_wall_is(imc->problem, face->next, packet->position_cm,
                        STORM_WALL_REFLECT))
            continue;
        imc_ddmc_knock(imc, face->next, k, packet);
        break;
    }
}
