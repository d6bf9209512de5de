/* SPDX-License-Identifier: BSD-3-Clause */
/* Laws of scattering: cells, what electrons do, what a host says, and steps
 * that are too long for it. */
#include "physics/imc_scatter.h"

#include <math.h>
#include <string.h>

#include <storm/context.h>

#include "base/random.h"
#include "mesh/mesh_ops.h"
#include "physics/compton.h"
#include "physics/imc.h"
#include "physics/problem.h"
#include "physics/turn.h"

static const char scatter_label[] = "imc scattering";

/* Directions are unit vectors to this. */
static const double scatter_unit = 1e-9;

/* Of the energy of a cell's matter: if scattering changes more of it in a step,
 * that is too long. */
static const double scatter_max_part = 0.5;

/* ---- cells -------------------------------------------------------------- */

void imc_scatter_make(struct storm_imc *imc)
{
    struct imc_scatter *scatter = &imc->scatter;
    bool any = false;
    scatter->imc = imc;
    for (size_t i = 0; i < imc->own.n_materials; i++) {
        storm_scattering_law law = imc->own.materials[i].scattering_law;
        any = any || law != STORM_SCATTER_ISOTROPIC;
        scatter->has_user = scatter->has_user || law == STORM_SCATTER_USER;
    }
    scatter->is_inelastic = problem_is_inelastic(&imc->own);
    imc->track.scatter = any ? scatter : NULL;
    if (!scatter->is_inelastic || !(imc->own.random_walk || imc->own.diffusion))
        return;
    imc->own.random_walk = imc->own.diffusion = false;
    if (imc->env->rank == 0)
        storm_log_write(&imc->env->log, STORM_LOG_INFO,
                        "scattering changes the energy of photons: packets "
                        "fly, without random walks and diffusion");
}

storm_status imc_scatter_open(struct storm_imc *imc)
{
    struct imc_scatter *scatter = &imc->scatter;
    struct storm_memory *memory = imc->env->memory;
    size_t n = (size_t)imc->n_cells + 1;
    if (imc->track.scatter == NULL)
        return STORM_OK;
    scatter->law = storm_alloc(memory, scatter_label, n);
    scatter->exchanged =
        storm_alloc(memory, scatter_label, n * sizeof *scatter->exchanged);
    imc->track.laws = scatter->law;
    imc->track.pushes = &imc->pushes;
    return scatter->law != NULL && scatter->exchanged != NULL ? STORM_OK
                                                              : STORM_ERR_NOMEM;
}

void imc_scatter_close(struct storm_imc *imc)
{
    storm_free(imc->env->memory, imc->scatter.law);
    storm_free(imc->env->memory, imc->scatter.exchanged);
    imc->scatter.law = NULL;
    imc->scatter.exchanged = NULL;
    imc->track.laws = NULL;
}

void imc_scatter_begin(struct storm_imc *imc, const struct storm_step *step)
{
    struct imc_scatter *scatter = &imc->scatter;
    scatter->status = STORM_OK;
    scatter->step = storm_step_number(step);
    for (storm_cell_idx i = 0; scatter->law != NULL && i < imc->n_cells; i++) {
        int m = imc->material[i];
        scatter->law[i] =
            imc_has_matter(imc, m)
                ? (unsigned char)imc->problem->materials[m].scattering_law
                : STORM_SCATTER_ISOTROPIC;
        scatter->exchanged[i] = 0;
    }
}

double imc_scatter_thomson(const struct storm_imc *imc, int material,
                           double density_g_cm3)
{
    return imc->problem->materials[material].electrons_per_g *
           storm_thomson_cm2 * density_g_cm3;
}

/* ---- a collision -------------------------------------------------------- */

/* What cannot be in an answer; NULL: nothing. */
static const char *scatter_fault(const struct storm_scattering *s)
{
    const double *n = s->direction;
    double square = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
    if (!(fabs(square - 1.0) <= scatter_unit))
        return "a direction that is no unit vector";
    if (!(s->energy_kev > 0.0 && s->energy_kev <= STORM_UNLIMITED))
        return "an energy that no photon has";
    if (!(s->weight_ratio > 0.0 && s->weight_ratio <= IMC_ROOM))
        return "a ratio of weights that is not above 0 and up to 2^20";
    return NULL;
}

static void scatter_log(struct imc_scatter *scatter,
                        const struct storm_scattering *s, const char *fault)
{
    if (scatter->status < 0) /* once in a step */
        return;
    scatter->status = STORM_ERR_ARG;
    storm_log_write(&scatter->imc->env->log, STORM_LOG_ERROR,
                    "step %llu: the scattering of material %d in cell %llu "
                    "gave %s: direction (%g, %g, %g), %g keV, weight by %g",
                    (unsigned long long)scatter->step, s->material,
                    (unsigned long long)s->tag, fault, s->direction[0],
                    s->direction[1], s->direction[2], s->energy_kev,
                    s->weight_ratio);
}

/* As the host says. */
static double scatter_ask(const struct imc_track *track, storm_cell_idx cell,
                          double *own_kev, double direction[3],
                          const struct storm_draws *draws)
{
    struct imc_scatter *scatter = track->scatter;
    const struct storm_imc *imc = scatter->imc;
    struct storm_draws own = *draws;
    struct storm_scattering s = {
        .size = sizeof s,
        .cell = cell,
        .tag = imc->tag[cell],
        .material = imc->material[cell],
        .temperature_kev = imc->temperature[cell],
        .density_g_cm3 = imc->density[cell],
        .group = imc_group_of(track->edge, track->n_groups, *own_kev),
        .direction = {direction[0], direction[1], direction[2]},
        .energy_kev = *own_kev,
        .weight_ratio = 1.0,
        .draws = &own,
    };
    if (!scatter->user.apply(scatter->user.self, &s))
        return 0.0;
    const char *fault = scatter_fault(&s);
    if (fault != NULL) {
        scatter_log(scatter, &s, fault);
        return 0.0;
    }
    *own_kev = s.energy_kev;
    memcpy(direction, s.direction, sizeof s.direction);
    return s.weight_ratio;
}

void storm_scattering_random(struct storm_scattering *scattering,
                             double uniform_out[4])
{
    const struct storm_draws *draws = scattering->draws;
    storm_random(draws->seed, draws->stream, draws->id, (*draws->block)++,
                 uniform_out);
}

double imc_scatter_draw(const struct imc_track *track, storm_cell_idx cell,
                        struct storm_packet *packet, double *own_kev,
                        double direction[3])
{
    const struct storm_draws draws = {track->seed, STORM_STREAM_HISTORY,
                                      packet->id, &packet->draws};
    double u[4], after[3], ratio;
    if (track->laws[cell] == STORM_SCATTER_USER)
        return scatter_ask(track, cell, own_kev, direction, &draws);
    if (track->laws[cell] == STORM_SCATTER_COMPTON) {
        ratio = storm_compton_draw(track->temperature[cell], *own_kev,
                                   direction, &draws);
        *own_kev *= ratio > 0.0 ? ratio : 1.0;
        return ratio;
    }
    storm_packet_random(packet, track->seed, u);
    imc_about(direction, storm_thomson_cosine(u[0]), u[1], after);
    memcpy(direction, after, sizeof after);
    return 1.0;
}

/* ---- after a step ------------------------------------------------------- */

/* The largest part of a cell's energy that scattering has changed, and the
 * cell; -1: none. */
static double scatter_worst(const struct storm_imc *imc,
                            storm_cell_idx *cell_out)
{
    double worst = 0.0;
    *cell_out = -1;
    for (storm_cell_idx i = 0; i < imc->n_cells; i++) {
        if (imc->scatter.exchanged[i] == 0 ||
            !imc_is_warm(imc, imc->material[i]))
            continue;
        double given = fabs(storm_exact_value(imc->scatter.exchanged[i],
                                              imc->track.deposit_unit));
        double part = given / fmax(imc_cell_erg(imc, i), 1e-250);
        if (part > worst) {
            worst = part;
            *cell_out = i;
        }
    }
    return worst;
}

/* Rank 0 logs it, once in a run. Collective. */
static storm_status scatter_warn(struct storm_imc *imc)
{
    storm_cell_idx cell;
    double mine = scatter_worst(imc, &cell), worst = mine;
    storm_status status =
        storm_context_reduce(imc->context, &worst, 1, MPI_DOUBLE, MPI_MAX);
    if (status < 0 || !(worst > scatter_max_part))
        return status;
    int64_t id = mine == worst && cell >= 0 ? (int64_t)imc->tag[cell] : -1;
    status = storm_context_reduce(imc->context, &id, 1, MPI_INT64_T, MPI_MAX);
    imc->scatter.is_warned = true;
    if (status >= 0 && imc->env->rank == 0)
        storm_log_write(&imc->env->log, STORM_LOG_WARN,
                        "step %llu: scattering changed the energy of the "
                        "matter of cell %lld by %.3g of what it had, in %.3g "
                        "s: steps of %.2g s are short enough there for the "
                        "temperature of electrons to follow (logged once)",
                        (unsigned long long)imc->scatter.step, (long long)id,
                        worst, imc->dt_s, imc->dt_s * scatter_max_part / worst);
    return status;
}

storm_status imc_scatter_end(struct storm_imc *imc)
{
    storm_status status = imc->scatter.status;
    if (!imc->scatter.is_inelastic || imc->scatter.is_warned)
        return status;
    storm_status warned = scatter_warn(imc);
    return status < 0 ? status : warned;
}
