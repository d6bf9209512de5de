/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of the host at the beginning of a step. */
#include <math.h>

#include <storm/context.h>

#include "mesh/mesh_ops.h"
#include "physics/imc.h"

/* Directions are unit vectors to this. */
static const double births_unit = 1e-9;

struct storm_imc_births {
    struct imc_user *user;
    struct storm_step *step;
    double largest_erg;
    uint64_t n_offered; /* on every rank */
    uint64_t n_taken;   /* of these, here */
    storm_status status;
};

void storm_imc_births_step(const struct storm_imc_births *births,
                           uint64_t *step_out, double *time_s_out,
                           double *dt_s_out)
{
    if (step_out != NULL)
        *step_out = births->user->step;
    if (time_s_out != NULL)
        *time_s_out = births->user->imc->time_s;
    if (dt_s_out != NULL)
        *dt_s_out = births->user->imc->dt_s;
}

/* The first value that cannot be; NULL: none. */
static const char *births_fault(const struct storm_imc_births *births,
                                const struct storm_packet *p, double *value_out,
                                double *limit_out)
{
    const struct storm_imc *imc = births->user->imc;
    double square = 0.0, bound = births->user->source.max_weight_erg;
    for (int d = 0; d < 3; d++)
        square += p->direction[d] * p->direction[d];
    const struct {
        const char *name;
        double value, limit;
        bool good;
    } rows[] = {
        {"a weight above 0 up to the declared bound", p->weight_erg, bound,
         p->weight_erg > 0.0 && p->weight_erg <= bound},
        {"a birth weight from 0", p->birth_weight_erg, STORM_UNLIMITED,
         p->birth_weight_erg >= 0.0 && p->birth_weight_erg <= STORM_UNLIMITED},
        {"a unit vector for its direction", square, 1.0,
         fabs(square - 1.0) <= births_unit},
        {"a time from 0 to the length of the step", p->time_left_s, imc->dt_s,
         p->time_left_s >= 0.0 && p->time_left_s <= imc->dt_s},
        {"an optical depth from 0", p->optical_depth, STORM_UNLIMITED,
         p->optical_depth >= 0.0 && p->optical_depth <= STORM_UNLIMITED},
        {"a group below their number", (double)p->group,
         (double)imc->problem->n_groups,
         p->group >= 0 && (uint64_t)p->group < imc->problem->n_groups},
        {"a cell of this rank", (double)p->cell_idx, (double)imc->n_cells,
         p->cell_idx < imc->n_cells},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!rows[i].good) {
            *value_out = rows[i].value;
            *limit_out = rows[i].limit;
            return rows[i].name;
        }
    return NULL;
}

static storm_status births_check(struct storm_imc_births *births,
                                 const struct storm_packet *packet)
{
    double value = 0.0, limit = 0.0;
    const char *fault = births_fault(births, packet, &value, &limit);
    if (fault == NULL)
        return STORM_OK;
    if (births->status == STORM_OK)
        storm_log_write(&births->user->imc->env->log, STORM_LOG_ERROR,
                        "step %llu: a packet of the host at (%g, %g, %g) cm: "
                        "expected %s, %g, got %g",
                        (unsigned long long)births->user->step,
                        packet->position_cm[0], packet->position_cm[1],
                        packet->position_cm[2], fault, limit, value);
    births->status = STORM_ERR_ARG;
    return STORM_ERR_ARG;
}

/* Is it in a cell of this rank? Its position may be in none at all. */
static storm_status births_place(struct storm_imc_births *births,
                                 struct storm_packet *packet, bool *mine_out)
{
    const struct storm_imc *imc = births->user->imc;
    struct storm_cell_ref where = {.rank = imc->env->rank,
                                   .idx = packet->cell_idx};
    storm_status status = STORM_OK;
    if (packet->cell_idx < 0) {
        status = storm_mesh_locate(imc->mesh, packet->position_cm, &where);
        births->n_offered++;
    }
    *mine_out = status == STORM_OK && where.rank == imc->env->rank;
    if (*mine_out && packet->cell_idx < 0)
        births->n_taken++;
    if (*mine_out) {
        packet->cell_idx = where.idx;
        packet->cell = storm_mesh_cell_id(imc->mesh, where.idx);
    }
    if (status >= 0)
        return STORM_OK;
    if (births->status == STORM_OK)
        storm_log_shared(
            &imc->env->log, 0,
            "step %llu: a packet of the host at (%g, %g, %g) cm is "
            "in no cell of the mesh",
            (unsigned long long)births->user->step, packet->position_cm[0],
            packet->position_cm[1], packet->position_cm[2]);
    births->status = status;
    return status;
}

/* Without groups there is no middle of one. */
static storm_status births_no_energy(struct storm_imc_births *births)
{
    if (births->status == STORM_OK)
        storm_log_write(&births->user->imc->env->log, STORM_LOG_ERROR,
                        "step %llu: a packet of the host has no energy of its "
                        "photons, which scattering needs: call "
                        "storm_imc_emit_photon",
                        (unsigned long long)births->user->step);
    births->status = STORM_ERR_ARG;
    return STORM_ERR_ARG;
}

/* The packet is good; its photons have this energy, if records have one. */
static storm_status births_add(struct storm_imc_births *births,
                               const struct storm_packet *packet,
                               double energy_kev)
{
    struct storm_imc *imc = births->user->imc;
    struct storm_photon photon = {.packet = *packet, .energy_kev = energy_kev};
    struct storm_packet *own = &photon.packet;
    bool mine = false;
    if (imc->track.has_photons && !(energy_kev > 0.0))
        return births_no_energy(births);
    storm_status status = births_place(births, own, &mine);
    if (status < 0 || !mine)
        return status;
    own->draws = 0;
    own->spawns = 0;
    own->face = 0;
    if (!(own->birth_weight_erg > 0.0))
        own->birth_weight_erg = own->weight_erg;
    imc_ddmc_knock_if_on_wall(imc, own);
    births->largest_erg = fmax(births->largest_erg, own->weight_erg);
    imc_flow_create(imc, STORM_ORIGIN_USER, own->weight_erg, 1);
    imc_motion_create(imc, own, false);
    status = storm_step_spawn(births->step, &photon);
    if (status < 0)
        births->status = status;
    return status;
}

storm_status storm_imc_emit(struct storm_imc_births *births,
                            const struct storm_packet *packet)
{
    const struct storm_imc *imc = births->user->imc;
    storm_status status = births_check(births, packet);
    return status < 0
               ? status
               : births_add(births, packet, imc->group_middle[packet->group]);
}

storm_status storm_imc_emit_photon(struct storm_imc_births *births,
                                   const struct storm_photon *photon)
{
    const struct storm_imc *imc = births->user->imc;
    struct storm_packet own = photon->packet;
    double kev = photon->energy_kev;
    own.group = kev > 0.0 && kev <= STORM_UNLIMITED
                    ? imc_group_of(imc->group_edge, imc->track.n_groups, kev)
                    : -1;
    storm_status status = births_check(births, &own);
    return status < 0 ? status : births_add(births, &own, kev);
}

/* Every packet that was offered has one taker. */
static storm_status births_agree(const struct storm_imc_births *births)
{
    const struct storm_imc *imc = births->user->imc;
    enum { HIGHEST, LOWEST, MAXIMA };
    uint64_t max[MAXIMA] = {births->n_offered, ~births->n_offered};
    uint64_t n_taken = births->n_taken;
    storm_status status = storm_context_agree(imc->context, births->status);
    if (status < 0)
        return status;
    status =
        storm_context_reduce(imc->context, max, MAXIMA, MPI_UINT64_T, MPI_MAX);
    if (status >= 0)
        status = storm_context_reduce(imc->context, &n_taken, 1, MPI_UINT64_T,
                                      MPI_SUM);
    if (status < 0 || (max[HIGHEST] == ~max[LOWEST] && n_taken == max[HIGHEST]))
        return status;
    storm_log_shared(&imc->env->log, 0,
                     "step %llu: the host has offered %llu packets on one rank "
                     "and %llu on another, and %llu were taken: offer all of "
                     "them on every rank, or give the cell of each",
                     (unsigned long long)births->user->step,
                     (unsigned long long)max[HIGHEST],
                     (unsigned long long)~max[LOWEST],
                     (unsigned long long)n_taken);
    return STORM_ERR_ARG;
}

storm_status imc_user_birth(struct imc_user *user, struct storm_step *step,
                            double *largest_inout)
{
    struct storm_imc_births births = {.user = user, .step = step};
    user->step = storm_step_number(step);
    user->status = STORM_OK;
    storm_status status = STORM_OK;
    if (user->source.emit != NULL)
        status = user->source.emit(user->source.self, &births);
    user->largest_erg = fmax(*largest_inout, births.largest_erg);
    *largest_inout = user->largest_erg;
    if (user->imc->track.user != NULL)
        *largest_inout = fmax(*largest_inout, user->walls.max_weight_erg);
    if (user->source.emit == NULL)
        return STORM_OK;
    if (status < 0 && births.status == STORM_OK) {
        storm_log_write(&user->imc->env->log, STORM_LOG_ERROR,
                        "step %llu: the source of the host failed: %s",
                        (unsigned long long)user->step,
                        storm_status_name(status));
        births.status = status;
    }
    return births_agree(&births);
}
