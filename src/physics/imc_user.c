/* SPDX-License-Identifier: BSD-3-Clause */
/* Walls of the host: what becomes of packets, and where they continue. */
#include "physics/imc_user.h"

#include <math.h>
#include <string.h>

#include <storm/context.h>

#include "base/sized.h"
#include "mesh/mesh_ops.h"
#include "physics/imc.h"
#include "physics/problem.h"

/* Directions are unit vectors to this. */
static const double user_unit = 1e-9;

/* Largest bound of walls over the largest weight that begins a step: of the 33
 * spare bits of EXACT-2, 13 are left; with those of FRAME-4, 3. */
static double user_max_ratio(const struct storm_imc *imc)
{
    return imc->velocity != NULL || imc->track.laws != NULL ? 0x1p10 : 0x1p20;
}

bool imc_user_has_walls(const struct storm_imc *imc)
{
    for (size_t w = 0; w < problem_n_walls(imc->problem); w++) {
        const struct storm_wall *wall = problem_wall(imc->problem, w);
        for (size_t i = 0; i < wall->n; i++)
            if (wall->parts[i].kind == STORM_WALL_USER)
                return true;
    }
    return false;
}

/* ---- a packet at a wall ------------------------------------------------- */

static void user_hit(const struct imc_user *user, int wall,
                     const struct storm_packet *packet,
                     struct storm_wall_hit *hit_out)
{
    const struct storm_imc *imc = user->imc;
    const struct storm_wall_part *part =
        imc_edge_at(imc->problem, wall, packet->position_cm);
    *hit_out = (struct storm_wall_hit){
        .size = sizeof *hit_out,
        .wall = wall,
        .part =
            (size_t)(part - problem_wall(imc->problem, (size_t)wall)->parts),
        .time_s = imc->time_s + imc->dt_s - packet->time_left_s,
        .step = user->step,
        .seed = imc->problem->seed,
    };
    if (imc->mesh->n_boundaries == 0) {
        hit_out->normal[wall / 2] = wall % 2 ? 1.0 : -1.0;
    } else {
        struct storm_face face = STORM_FACE_INIT;
        (void)storm_mesh_face(imc->mesh, packet->cell_idx, (int)packet->face,
                              &face);
        memcpy(hit_out->normal, face.normal, sizeof hit_out->normal);
    }
}

static double user_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static bool user_is_unit(const double v[3])
{
    return fabs(user_dot(v, v) - 1.0) <= user_unit;
}

/* What cannot be in an answer; NULL: nothing. */
static const char *user_fault(const struct imc_user *user,
                              const struct storm_wall_hit *hit,
                              storm_wall_answer answer, double old_erg,
                              const struct storm_packet *p)
{
    if ((int)answer < STORM_WALL_TAKE || (int)answer > STORM_WALL_MOVE)
        return "an answer that does not exist";
    if (answer == STORM_WALL_TAKE)
        return NULL;
    if (!(p->weight_erg >= 0.0) ||
        !(p->weight_erg <= fmax(old_erg, user->walls.max_weight_erg)))
        return "a weight that is negative or above both its own and the "
               "declared bound";
    if (!(p->birth_weight_erg >= 0.0 && p->birth_weight_erg <= STORM_UNLIMITED))
        return "a birth weight that is no energy";
    if (p->group < 0 || (uint64_t)p->group >= user->imc->problem->n_groups)
        return "a group that does not exist";
    if (answer == STORM_WALL_MIRROR)
        return NULL;
    if (!user_is_unit(p->direction))
        return "a direction that is no unit vector";
    if (answer == STORM_WALL_TURN &&
        !(user_dot(p->direction, hit->normal) < 0.0))
        return "a direction that leads out";
    return NULL;
}

static void user_log(struct imc_user *user, const struct storm_wall_hit *hit,
                     const struct storm_packet *p, double old_erg,
                     const char *fault)
{
    if (user->status < 0) /* once in a step */
        return;
    user->status = STORM_ERR_ARG;
    storm_log_write(&user->imc->env->log, STORM_LOG_ERROR,
                    "step %llu: the function of wall %d, part %zu, gave %s: "
                    "weight %g erg after %g (declared up to %g), group %d, "
                    "direction (%g, %g, %g) with the normal (%g, %g, %g), "
                    "position (%g, %g, %g) cm",
                    (unsigned long long)user->step, hit->wall, hit->part, fault,
                    p->weight_erg, old_erg, user->walls.max_weight_erg,
                    (int)p->group, p->direction[0], p->direction[1],
                    p->direction[2], hit->normal[0], hit->normal[1],
                    hit->normal[2], p->position_cm[0], p->position_cm[1],
                    p->position_cm[2]);
}

/* What the wall has taken or given, exactly: of less, the last bit of the new
 * weight yields. */
static void user_book(struct imc_user *user, int wall,
                      const struct storm_packet *old,
                      struct storm_packet *packet)
{
    struct storm_imc *imc = user->imc;
    if (packet->weight_erg > old->weight_erg) {
        imc_flow_create(imc, STORM_ORIGIN_USER, packet->weight_erg, 0);
        imc_flow_create(imc, STORM_ORIGIN_USER, -old->weight_erg, 0);
    } else if (packet->weight_erg < old->weight_erg) {
        struct storm_packet taken = *old;
        packet->weight_erg =
            old->weight_erg - (old->weight_erg - packet->weight_erg);
        taken.weight_erg -= packet->weight_erg;
        imc_escape(&imc->track, &taken, wall);
        for (int d = 0; d < 3 && imc->velocity != NULL; d++)
            imc->pushes.walls[d] -=
                storm_exact_term(taken.weight_erg * taken.direction[d],
                                 imc->track.deposit_unit);
    }
}

/* Where the cell of a new position is; false: nowhere. */
static bool user_place(const struct imc_user *user, struct storm_packet *packet,
                       struct storm_cell_ref *to_out)
{
    const struct storm_mesh *mesh = user->imc->mesh;
    storm_status status = storm_mesh_locate(mesh, packet->position_cm, to_out);
    if (status == STORM_AGAIN)
        *to_out = (struct storm_cell_ref){
            .rank = mesh->ops->changes->jump(mesh, packet->position_cm),
            .idx = -1};
    return status >= 0;
}

storm_wall_answer imc_user_ask(struct imc_user *user, int wall,
                               struct storm_packet *packet,
                               struct storm_cell_ref *to_out)
{
    struct storm_wall_hit hit;
    const struct storm_packet old = *packet;
    user_hit(user, wall, packet, &hit);
    storm_wall_answer answer =
        user->walls.apply(user->walls.self, &hit, packet);
    const char *fault = user_fault(user, &hit, answer, old.weight_erg, packet);
    if (fault == NULL && answer == STORM_WALL_MOVE &&
        !user_place(user, packet, to_out))
        fault = "a position that is in no cell";
    if (fault != NULL)
        user_log(user, &hit, packet, old.weight_erg, fault);
    if (fault != NULL || answer == STORM_WALL_TAKE ||
        !(packet->weight_erg > 0.0))
        return STORM_WALL_TAKE;
    user_book(user, wall, &old, packet);
    return answer;
}

/* What walls may give is part of the unit of the step's sums (EXACT-2): far
 * above the weights that there are, these would lose their bits. Collective. */
static storm_status user_check_bound(const struct imc_user *user)
{
    const struct storm_imc *imc = user->imc;
    enum { LARGEST, BOUND, MAXIMA };
    double max[MAXIMA] = {user->largest_erg, user->walls.max_weight_erg};
    storm_status status =
        storm_context_reduce(imc->context, max, MAXIMA, MPI_DOUBLE, MPI_MAX);
    if (status < 0 || max[LARGEST] == 0.0 ||
        max[BOUND] <= user_max_ratio(imc) * max[LARGEST])
        return status;
    storm_log_shared(&imc->env->log, 0,
                     "step %llu: max_weight_erg of the walls of the host is "
                     "%g, more than %g times the largest weight, %g erg: sums "
                     "would lose energy; declare what the walls need",
                     (unsigned long long)user->step, max[BOUND],
                     user_max_ratio(imc), max[LARGEST]);
    return STORM_ERR_ARG;
}

storm_status imc_user_end(struct imc_user *user)
{
    storm_status status = user->status;
    user->status = STORM_OK;
    if (user->imc->track.user == NULL)
        return status;
    storm_status bound = user_check_bound(user);
    return status < 0 ? status : bound;
}

/* ---- packets that look for their cells ---------------------------------- */

/* Takes the packet as far as this rank can; false: it has been sent on, or is
 * nowhere. */
static bool user_seek(struct imc_user *user, struct storm_packet *packet,
                      struct storm_outcome *outcome_out)
{
    const struct storm_mesh *mesh = user->imc->mesh;
    struct storm_cell_ref next = {
        .rank = mesh->env->rank,
        .idx = packet->cell_idx == IMC_SEEK_ANYWHERE ? -1 : packet->cell_idx};
    storm_status status = STORM_AGAIN;
    while (status == STORM_AGAIN && next.rank == mesh->env->rank) {
        storm_cell_idx cell = next.idx;
        status =
            mesh->ops->changes->seek(mesh, cell, packet->position_cm, &next);
        if (status == STORM_OK && cell >= 0)
            next.idx = cell;
    }
    if (status == STORM_OK) {
        packet->cell_idx = next.idx;
        packet->cell = storm_mesh_cell_id(mesh, next.idx);
        return true;
    }
    *outcome_out =
        (struct storm_outcome){.fate = STORM_FATE_SEND, .rank = next.rank};
    packet->cell_idx = next.idx >= 0 ? next.idx : IMC_SEEK_ANYWHERE;
    if (status < 0) { /* user_place had found it on some rank */
        storm_log_write(&mesh->env->log, STORM_LOG_ERROR,
                        "a packet that a wall of the host has moved to (%g, "
                        "%g, %g) cm is in no cell",
                        packet->position_cm[0], packet->position_cm[1],
                        packet->position_cm[2]);
        user->status = STORM_ERR_ARG;
        imc_escape(&user->imc->track, packet, -1);
        outcome_out->fate = STORM_FATE_ESCAPED;
    }
    return false;
}

void imc_user_batch(struct imc_user *user, void *const *packets, size_t n,
                    struct storm_outcome *outcomes_out)
{
    const struct storm_imc *imc = user->imc;
    size_t begin = 0;
    for (size_t i = 0; i < n; i++) {
        struct storm_packet *packet = packets[i];
        if (packet->cell != IMC_SEEKING ||
            user_seek(user, packet, &outcomes_out[i]))
            continue;
        if (i > begin)
            imc_kernel_of(imc)(&imc->track, packets + begin, i - begin,
                               outcomes_out + begin);
        begin = i + 1;
    }
    if (n > begin)
        imc_kernel_of(imc)(&imc->track, packets + begin, n - begin,
                           outcomes_out + begin);
}

/* ---- public ------------------------------------------------------------- */

/* STORM_OK, or what is wrong with a struct of the host (logged). */
static storm_status user_check(const struct storm_imc *imc, const char *call,
                               bool has_function, double bound_erg,
                               bool may_be_zero)
{
    if (imc->in_step)
        return STORM_ERR_STATE;
    if (!has_function) {
        storm_log_write(&imc->env->log, STORM_LOG_ERROR,
                        "%s: expected a function, got NULL", call);
        return STORM_ERR_ARG;
    }
    if (!(bound_erg <= STORM_UNLIMITED) ||
        !(may_be_zero ? bound_erg >= 0.0 : bound_erg > 0.0)) {
        storm_log_write(&imc->env->log, STORM_LOG_ERROR,
                        "%s: max_weight_erg: expected a number %s 0 up to %g, "
                        "got %g",
                        call, may_be_zero ? "from" : "above", STORM_UNLIMITED,
                        bound_erg);
        return STORM_ERR_ARG;
    }
    return STORM_OK;
}

storm_status storm_imc_set_walls(struct storm_imc *imc,
                                 const struct storm_imc_walls *walls)
{
    struct storm_imc_walls own;
    storm_status status =
        storm_sized_read(imc->env, "storm_imc_walls", walls, &own, sizeof own);
    if (status == STORM_OK)
        status = user_check(imc, "storm_imc_set_walls", own.apply != NULL,
                            own.max_weight_erg, true);
    if (status == STORM_OK)
        imc->user.walls = own;
    return status;
}

storm_status storm_imc_set_scatter(struct storm_imc *imc,
                                   const struct storm_imc_scatter *scatter)
{
    struct storm_imc_scatter own;
    storm_status status = storm_sized_read(imc->env, "storm_imc_scatter",
                                           scatter, &own, sizeof own);
    if (status == STORM_OK)
        status = user_check(imc, "storm_imc_set_scatter", own.apply != NULL,
                            0.0, true);
    if (status == STORM_OK)
        imc->scatter.user = own;
    return status;
}

storm_status storm_imc_set_source(struct storm_imc *imc,
                                  const struct storm_imc_source *source)
{
    struct storm_imc_source own = {.emit = NULL};
    if (source == NULL && imc->in_step)
        return STORM_ERR_STATE;
    storm_status status = source == NULL
                              ? STORM_OK
                              : storm_sized_read(imc->env, "storm_imc_source",
                                                 source, &own, sizeof own);
    if (status == STORM_OK && source != NULL)
        status = user_check(imc, "storm_imc_set_source", own.emit != NULL,
                            own.max_weight_erg, false);
    if (status == STORM_OK)
        imc->user.source = own;
    return status;
}
