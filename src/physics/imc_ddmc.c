/* SPDX-License-Identifier: BSD-3-Clause */
/* Cells and faces that packets diffuse through, for one generation of the
 * mesh. */
#include "physics/imc_ddmc.h"

#include <math.h>
#include <string.h>

#include <storm/change.h>
#include <storm/context.h>

#include "mesh/mesh_ops.h"
#include "physics/imc.h"
#include "physics/problem.h"

static const char ddmc_label[] = "imc diffusion";

/* DDMC-2: sine of the angle between a normal and the line of two points. */
static const double ddmc_square = 1e-7;

/* What the owner of a cell tells others of a face. */
struct ddmc_twin {
    storm_cell_id tag; /* of the cell behind it; UINT64_MAX: a wall */
    double normal[3];
};

static void *ddmc_array(const struct storm_imc *imc, size_t n, size_t bytes,
                        bool *ok)
{
    void *array = storm_alloc(imc->env->memory, ddmc_label, (n + 1) * bytes);
    *ok = *ok && array != NULL;
    return array;
}

/* ---- faces -------------------------------------------------------------- */

/* The generator of a Voronoi cell, the centre of another; in its frame. */
static bool ddmc_point(const struct storm_imc *imc, storm_cell_idx cell,
                       double point_out[3])
{
    memcpy(point_out, &imc->centre[3 * (size_t)cell], 3 * sizeof *point_out);
    return storm_mesh_generator(imc->mesh, cell, point_out) == STORM_OK;
}

/* Is the whole wall a mirror? */
static bool ddmc_is_mirror(const struct storm_imc *imc, int wall)
{
    return imc->edges[wall] == IMC_EDGE_MIRROR;
}

static bool ddmc_asks_host(const struct storm_imc *imc, int wall)
{
    if ((size_t)wall >= problem_n_walls(imc->problem))
        return false;
    const struct storm_wall *all = problem_wall(imc->problem, (size_t)wall);
    bool asks = false;
    for (size_t i = 0; i < all->n; i++)
        asks = asks || all->parts[i].kind == STORM_WALL_USER;
    return asks;
}

static struct imc_ddmc_face ddmc_face(struct storm_imc *imc,
                                      storm_cell_idx cell, int k)
{
    static const double middle[2] = {0.25, 0.5}; /* of a triangle, about */
    struct storm_face face = STORM_FACE_INIT;
    double at[3], point[3];
    (void)storm_mesh_face(imc->mesh, cell, k, &face);
    imc->mesh->ops->sample_face(imc->mesh, cell, k, middle, at);
    (void)ddmc_point(imc, cell, point);
    struct imc_ddmc_face f = {.reach = face.area_cm2 / imc->volume[cell],
                              .back = -1};
    for (int d = 0; d < 3; d++) {
        f.normal[d] = face.normal[d];
        f.distance_cm += (at[d] - point[d]) * face.normal[d];
    }
    f.distance_cm = fmax(f.distance_cm, 0.0);
    f.side = face.rank < 0                 ? DDMC_WALL
             : face.rank == imc->env->rank ? DDMC_LOCAL
                                           : DDMC_GHOST;
    f.next = f.side == DDMC_WALL    ? face.wall
             : f.side == DDMC_GHOST ? face.ghost
                                    : face.neighbour;
    f.is_mirror = f.side == DDMC_WALL
                      ? ddmc_is_mirror(imc, face.wall)
                      : f.side == DDMC_LOCAL && face.neighbour == cell;
    if (f.side == DDMC_GHOST)
        imc->ddmc.ghosts[face.ghost].where =
            (struct storm_cell_ref){face.rank, face.neighbour};
    return f;
}

/* DDMC-2, of a box: is the line to what is behind a face along its normal? With
 * two cells in a period, a cell is behind both faces of the other: the line is
 * that to one of them. */
static bool ddmc_is_square(const struct storm_imc *imc, storm_cell_idx cell,
                           const struct imc_ddmc_face *face)
{
    double vector[3], along = 0.0, square = 0.0;
    if (face->side == DDMC_WALL || face->is_mirror)
        return true;
    imc_halo_vector(imc, cell,
                    face->side == DDMC_LOCAL ? face->next : ~face->next,
                    vector);
    for (int d = 0; d < 3; d++) {
        along += vector[d] * face->normal[d];
        square += vector[d] * vector[d];
    }
    double across = square - along * along;
    return along != 0.0 && across <= ddmc_square * ddmc_square * square;
}

/* Of a box the smallest of its widths, of another cell about that of a sphere
 * with its ratio of volume to surface. */
static double ddmc_width(const struct storm_imc *imc, storm_cell_idx cell,
                         bool is_box)
{
    const struct imc_ddmc *ddmc = &imc->ddmc;
    double width = INFINITY, reach = 0.0;
    for (size_t f = ddmc->first[cell]; f < ddmc->first[cell + 1]; f++) {
        reach += ddmc->faces[f].reach;
        if (!ddmc->faces[f].is_mirror)
            width = fmin(width, 2.0 * ddmc->faces[f].distance_cm);
    }
    return is_box ? width : 6.0 / reach;
}

static void ddmc_cell(struct storm_imc *imc, storm_cell_idx cell)
{
    struct imc_ddmc *ddmc = &imc->ddmc;
    struct imc_ddmc_cell *c = &ddmc->cells[cell];
    size_t first = ddmc->first[cell], end = ddmc->first[cell + 1];
    double point[3];
    bool is_box = !ddmc_point(imc, cell, point);
    c->may = !is_box || (imc->is_box[cell] && end - first == 6);
    for (size_t f = first; f < end; f++) {
        const struct imc_ddmc_face *face = &ddmc->faces[f];
        c->may = c->may && (!is_box || ddmc_is_square(imc, cell, face)) &&
                 !(face->side == DDMC_WALL && ddmc_asks_host(imc, face->next));
    }
    c->width_cm = ddmc_width(imc, cell, is_box);
}

/* ---- both sides of a face ----------------------------------------------- */

/* The face of another cell that is this one seen from there: of those that
 * lead to its cell, the one that looks into the opposite direction. */
static int16_t ddmc_find_twin(const struct ddmc_twin *twins, size_t n,
                              storm_cell_id tag, const double normal[3])
{
    int16_t best = -1;
    double opposite = 0.0;
    for (size_t k = 0; k < n; k++) {
        double dot = 0.0;
        if (twins[k].tag != tag)
            continue;
        for (int d = 0; d < 3; d++)
            dot -= twins[k].normal[d] * normal[d];
        if (dot > opposite) {
            opposite = dot;
            best = (int16_t)k;
        }
    }
    return best;
}

static void ddmc_list_twins(const struct storm_imc *imc,
                            struct ddmc_twin *twins)
{
    const struct imc_ddmc *ddmc = &imc->ddmc;
    for (storm_cell_idx i = 0; i < imc->n_cells; i++)
        for (size_t k = 0; k < ddmc->max_faces; k++) {
            struct ddmc_twin *twin = &twins[(size_t)i * ddmc->max_faces + k];
            size_t f = ddmc->first[i] + k;
            *twin = (struct ddmc_twin){.tag = UINT64_MAX};
            if (f >= ddmc->first[i + 1] || ddmc->faces[f].side == DDMC_WALL)
                continue;
            const struct imc_ddmc_face *face = &ddmc->faces[f];
            twin->tag = face->side == DDMC_LOCAL ? imc->tag[face->next]
                                                 : ddmc->ghosts[face->next].tag;
            memcpy(twin->normal, face->normal, sizeof twin->normal);
        }
}

/* Fills `back` of all faces. Collective. */
static storm_status ddmc_match(struct storm_imc *imc, size_t n_ghosts)
{
    struct imc_ddmc *ddmc = &imc->ddmc;
    size_t row = ddmc->max_faces;
    bool ok = true;
    struct ddmc_twin *own =
        ddmc_array(imc, (size_t)imc->n_cells * row, sizeof *own, &ok);
    struct ddmc_twin *ghosts =
        ddmc_array(imc, n_ghosts * row, sizeof *ghosts, &ok);
    storm_cell_id *tags = ddmc_array(imc, n_ghosts, sizeof *tags, &ok);
    storm_status status =
        storm_context_agree(imc->context, ok ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK)
        status = storm_mesh_ghosts(imc->mesh, sizeof *tags, imc->tag, tags);
    for (size_t g = 0; status == STORM_OK && g < n_ghosts; g++)
        ddmc->ghosts[g].tag = tags[g];
    if (status == STORM_OK) {
        ddmc_list_twins(imc, own);
        status = storm_mesh_ghosts(imc->mesh, row * sizeof *own, own, ghosts);
    }
    for (storm_cell_idx i = 0; status == STORM_OK && i < imc->n_cells; i++)
        for (size_t f = ddmc->first[i]; f < ddmc->first[i + 1]; f++) {
            struct imc_ddmc_face *face = &ddmc->faces[f];
            if (face->side == DDMC_WALL)
                continue;
            const struct ddmc_twin *twins =
                &(face->side == DDMC_LOCAL ? own
                                           : ghosts)[(size_t)face->next * row];
            face->back = ddmc_find_twin(twins, row, imc->tag[i], face->normal);
            STORM_ASSERT(face->back >= 0);
        }
    storm_free(imc->env->memory, tags);
    storm_free(imc->env->memory, ghosts);
    storm_free(imc->env->memory, own);
    return status;
}

/* ---- open --------------------------------------------------------------- */

/* `back` of imc_ddmc_face must be able to hold the number of any face. */
static storm_status ddmc_check_faces(const struct storm_imc *imc,
                                     uint64_t max_faces)
{
    if (max_faces <= INT16_MAX)
        return STORM_OK;
    if (imc->env->rank == 0)
        storm_log_write(&imc->env->log, STORM_LOG_ERROR,
                        "a cell has %llu faces, and packets diffuse through "
                        "%d at most; use acceleration.method: random_walk "
                        "(random_walk instead of diffusion), or another mesh",
                        (unsigned long long)max_faces, INT16_MAX);
    return STORM_ERR_NOSUP;
}

/* Memory, and the faces but for `back`. Collective. */
static storm_status ddmc_build(struct storm_imc *imc, size_t n_ghosts)
{
    struct imc_ddmc *ddmc = &imc->ddmc;
    size_t n = (size_t)imc->n_cells, n_groups = ddmc->n_groups, n_faces = 0;
    uint64_t max_faces = 0;
    bool ok = true;
    ddmc->first = ddmc_array(imc, n, sizeof *ddmc->first, &ok);
    for (size_t i = 0; ok && i < n; i++) {
        uint64_t here =
            (uint64_t)storm_mesh_n_faces(imc->mesh, (storm_cell_idx)i);
        ddmc->first[i] = n_faces;
        n_faces += (size_t)here;
        max_faces = here > max_faces ? here : max_faces;
    }
    if (ok)
        ddmc->first[n] = n_faces;
    storm_status status = storm_context_reduce(imc->context, &max_faces, 1,
                                               MPI_UINT64_T, MPI_MAX);
    if (status == STORM_OK)
        status = ddmc_check_faces(imc, max_faces);
    if (status < 0)
        return status;
    size_t row = (size_t)max_faces * n_groups;
    ddmc->max_faces = (size_t)max_faces;
    ddmc->n_ghosts = n_ghosts;
    ddmc->faces = ddmc_array(imc, n_faces, sizeof *ddmc->faces, &ok);
    ddmc->cells = ddmc_array(imc, n, sizeof *ddmc->cells, &ok);
    ddmc->ghosts = ddmc_array(imc, n_ghosts, sizeof *ddmc->ghosts, &ok);
    ddmc->heats = ddmc_array(imc, n, sizeof *ddmc->heats, &ok);
    ddmc->share = ddmc_array(imc, n * n_groups, sizeof(double), &ok);
    ddmc->depth = ddmc_array(imc, n * row, sizeof(double), &ok);
    ddmc->beyond = ddmc_array(imc, n_ghosts * row, sizeof(double), &ok);
    ddmc->behind = ddmc_array(imc, n_faces * n_groups, sizeof(double), &ok);
    ddmc->skin = ddmc_array(imc, n_faces, sizeof(double), &ok);
    for (size_t i = 0; ok && i < n; i++)
        for (size_t f = ddmc->first[i]; f < ddmc->first[i + 1]; f++)
            ddmc->faces[f] =
                ddmc_face(imc, (storm_cell_idx)i, (int)(f - ddmc->first[i]));
    return storm_context_agree(imc->context, ok ? STORM_OK : STORM_ERR_NOMEM);
}

/* Once: that packets fly where they cannot diffuse. Collective. */
static storm_status ddmc_tell(struct storm_imc *imc)
{
    uint64_t n = 0;
    for (storm_cell_idx i = 0; i < imc->n_cells; i++)
        n += !imc->ddmc.cells[i].may;
    storm_status status =
        storm_context_reduce(imc->context, &n, 1, MPI_UINT64_T, MPI_SUM);
    if (status < 0 || n == 0 || imc->ddmc.is_told)
        return status;
    imc->ddmc.is_told = true;
    if (imc->env->rank == 0)
        storm_log_write(&imc->env->log, STORM_LOG_WARN,
                        "packets do not diffuse in %llu of %llu cells: their "
                        "faces are not square to the lines between centres, "
                        "or they are at a wall of the host; packets fly%s "
                        "there",
                        (unsigned long long)n,
                        (unsigned long long)imc->mesh->n_total,
                        imc->walk != NULL ? " or walk" : "");
    return STORM_OK;
}

storm_status imc_ddmc_open(struct storm_imc *imc)
{
    struct imc_ddmc *ddmc = &imc->ddmc;
    storm_cell_idx n_ghosts;
    if (!imc->problem->diffusion)
        return STORM_OK;
    ddmc->n_groups = (size_t)imc->problem->n_groups;
    ddmc->centre = imc->centre;
    ddmc->ghost_centre = imc->halo.centre;
    storm_status status = storm_mesh_n_ghosts(imc->mesh, &n_ghosts);
    if (status == STORM_OK)
        status = ddmc_build(imc, (size_t)n_ghosts);
    if (status == STORM_OK && imc->problem->motion)
        status =
            storm_context_agree(imc->context,
                                imc_drift_open(imc, ddmc->first[imc->n_cells],
                                               (size_t)n_ghosts));
    if (status == STORM_OK)
        status = ddmc_match(imc, (size_t)n_ghosts);
    int is_other = 0;
    for (storm_cell_idx i = 0; i < imc->n_cells; i++)
        is_other = is_other || !imc->is_box[i];
    if (status == STORM_OK)
        status =
            storm_context_reduce(imc->context, &is_other, 1, MPI_INT, MPI_MAX);
    if (status < 0)
        return status;
    ddmc->half = is_other ? NULL : imc->half;
    for (storm_cell_idx i = 0; i < imc->n_cells; i++)
        ddmc_cell(imc, i);
    return ddmc_tell(imc);
}

void imc_ddmc_close(struct storm_imc *imc)
{
    struct storm_memory *memory = imc->env->memory;
    struct imc_ddmc *ddmc = &imc->ddmc;
    imc_drift_close(imc);
    storm_free(memory, ddmc->first);
    storm_free(memory, ddmc->faces);
    storm_free(memory, ddmc->cells);
    storm_free(memory, ddmc->ghosts);
    storm_free(memory, ddmc->heats);
    storm_free(memory, ddmc->share);
    storm_free(memory, ddmc->depth);
    storm_free(memory, ddmc->beyond);
    storm_free(memory, ddmc->behind);
    storm_free(memory, ddmc->skin);
    imc->ddmc = (struct imc_ddmc){.is_told = ddmc->is_told};
    imc->track.ddmc = NULL;
}
