/* SPDX-License-Identifier: BSD-3-Clause */
/* Implicit Monte Carlo in matter that moves: velocities, births, heating,
 * accounts of momentum. */
#include "physics/imc_motion.h"

#include <math.h>
#include <string.h>

#include <storm/context.h>

#include "base/random.h"
#include "base/sized.h"
#include "mesh/mesh_ops.h"
#include "physics/imc.h"
#include "physics/imc_birth.h"

static const char motion_label[] = "imc motion";

/* ---- cells -------------------------------------------------------------- */

static void *motion_array(struct storm_imc *imc, size_t per_cell, bool *ok)
{
    size_t n = (size_t)imc->n_cells + 1;
    void *array = storm_alloc(imc->env->memory, motion_label, n * per_cell);
    *ok = *ok && array != NULL;
    return array;
}

storm_status imc_motion_open(struct storm_imc *imc)
{
    bool ok = true;
    if (!imc->problem->motion)
        return STORM_OK;
    imc->velocity = motion_array(imc, 3 * sizeof(double), &ok);
    imc->motion = motion_array(imc, sizeof *imc->motion, &ok);
    imc->pushes.cells = motion_array(imc, 3 * sizeof(storm_exact), &ok);
    imc->recoil = motion_array(imc, 3 * sizeof(double), &ok);
    imc->radiated = motion_array(imc, sizeof(double), &ok);
    imc->push = motion_array(imc, 3 * sizeof(double), &ok);
    imc->heated = motion_array(imc, sizeof(double), &ok);
    imc->track.motion = imc->motion;
    imc->track.pushes = &imc->pushes;
    imc->pushes.escaped = imc->momentum[IMC_PUSH_ESCAPED];
    return ok ? STORM_OK : STORM_ERR_NOMEM;
}

void imc_motion_close(struct storm_imc *imc)
{
    struct storm_memory *memory = imc->env->memory;
    storm_free(memory, imc->velocity);
    storm_free(memory, imc->motion);
    storm_free(memory, imc->pushes.cells);
    storm_free(memory, imc->recoil);
    storm_free(memory, imc->radiated);
    storm_free(memory, imc->push);
    storm_free(memory, imc->heated);
    imc->heated = NULL;
    imc->velocity = imc->recoil = imc->radiated = imc->push = NULL;
    imc->motion = NULL;
    imc->pushes.cells = NULL;
    imc->track.motion = NULL;
}

double *imc_velocity(const struct storm_imc *imc, storm_cell_idx cell, int d)
{
    return &imc->velocity[(size_t)d * (size_t)imc->n_cells + (size_t)cell];
}

static struct imc_motion motion_of(const struct storm_imc *imc,
                                   storm_cell_idx cell)
{
    double beta[3], square = 0.0;
    for (int d = 0; d < 3; d++) {
        beta[d] = *imc_velocity(imc, cell, d) / imc->problem->light_cm_s;
        square += beta[d] * beta[d];
    }
    double gamma = 1.0 / sqrt(1.0 - square);
    return (struct imc_motion){
        .u = {gamma * beta[0], gamma * beta[1], gamma * beta[2]},
        .gamma = gamma,
    };
}

double imc_gamma(const struct storm_imc *imc, storm_cell_idx cell)
{
    return imc->velocity != NULL ? motion_of(imc, cell).gamma : 1.0;
}

void imc_motion_set(struct storm_imc *imc)
{
    for (storm_cell_idx i = 0; imc->velocity != NULL && i < imc->n_cells; i++)
        imc->motion[i] = motion_of(imc, i);
}

/* ---- accounts ----------------------------------------------------------- */

/* What packets have, as it is. */
static void motion_sum(void *const *packets, size_t n,
                       struct storm_ledger sum_out[3])
{
    memset(sum_out, 0, 3 * sizeof *sum_out);
    for (size_t i = 0; i < n; i++) {
        const struct storm_packet *packet = packets[i];
        for (int d = 0; d < 3 && packet != NULL; d++)
            storm_ledger_add(&sum_out[d],
                             packet->weight_erg * packet->direction[d]);
    }
}

void imc_motion_wake(struct storm_imc *imc, struct storm_step *step)
{
    struct storm_ledger now[3];
    size_t n;
    if (imc->velocity == NULL)
        return;
    void *const *packets = storm_step_packets(step, &n);
    motion_sum(packets, n, now);
    for (int d = 0; d < 3; d++) {
        struct storm_ledger *control = &imc->momentum[IMC_PUSH_CONTROL][d];
        storm_ledger_merge(control, &imc->rested[d], 1);
        storm_ledger_merge(control, &now[d], -1);
        imc->rested[d] = now[d];
    }
    memset(imc->recoil, 0, 3 * (size_t)imc->n_cells * sizeof *imc->recoil);
    memset(imc->radiated, 0, (size_t)imc->n_cells * sizeof *imc->radiated);
}

void imc_motion_begin(struct storm_imc *imc, double largest)
{
    imc->pushes.max_erg = largest * IMC_ROOM;
    imc->pushes.split_erg =
        imc->pushes.max_erg * (imc->problem->diffusion ? IMC_DRIFT_ROOM : 1.0);
    imc->pushes.n_children = 0;
    imc->pushes.is_beyond = false;
}

void imc_motion_create(struct storm_imc *imc, const struct storm_packet *packet,
                       bool by_matter)
{
    enum imc_push from = by_matter ? IMC_PUSH_MATTER : IMC_PUSH_CREATED;
    if (imc->velocity == NULL)
        return;
    for (int d = 0; d < 3; d++) {
        double push = packet->weight_erg * packet->direction[d];
        storm_ledger_add(&imc->momentum[from][d], by_matter ? -push : push);
        storm_ledger_add(&imc->rested[d], push);
    }
}

/* ---- births ------------------------------------------------------------- */

double imc_motion_emit(struct storm_imc *imc, struct storm_packet *packet)
{
    double n0[3];
    storm_cell_idx cell = packet->cell_idx;
    if (imc->velocity == NULL)
        return 1.0;
    memcpy(n0, packet->direction, sizeof n0);
    double boost = imc_boost(&imc->motion[cell], n0, packet->direction);
    packet->weight_erg *= boost;
    imc_motion_create(imc, packet, true);
    imc->radiated[cell] += packet->weight_erg;
    for (int d = 0; d < 3; d++)
        imc->recoil[3 * (size_t)cell + (size_t)d] +=
            packet->weight_erg * packet->direction[d];
    return boost;
}

double imc_motion_energy(const struct storm_imc *imc, storm_cell_idx cell)
{
    if (imc->velocity == NULL)
        return 1.0;
    struct imc_motion m = motion_of(imc, cell);
    double u2 = m.u[0] * m.u[0] + m.u[1] * m.u[1] + m.u[2] * m.u[2];
    return m.gamma * m.gamma + u2 / 3.0;
}

double imc_motion_place(const struct storm_imc *imc,
                        struct storm_packet *packet)
{
    if (imc->velocity == NULL)
        return 1.0;
    struct imc_motion m = motion_of(imc, packet->cell_idx);
    double speed = sqrt(m.gamma * m.gamma - 1.0), n0[3], u[4], boost = 1.0;
    memcpy(n0, packet->direction, sizeof n0);
    /* Isotropic in the frame of matter, but energy at an instant of the mesh
     * goes as the square of that of a photon. */
    for (uint64_t i = 0; i < BIRTH_MAX_RETRIES; i++) {
        boost = imc_boost(&m, n0, packet->direction);
        double part = boost / (m.gamma + speed);
        storm_random(imc->problem->seed, STORM_STREAM_BIRTH, packet->id,
                     BIRTH_FIRST_RETRY + i, u);
        if (u[0] < part * part)
            break;
        storm_isotropic(u[1], u[2], n0);
    }
    return boost;
}

/* ---- after transport ---------------------------------------------------- */

double imc_motion_heat(const struct storm_imc *imc, storm_cell_idx cell,
                       double deposit_erg)
{
    const struct imc_motion *m = &imc->motion[cell];
    double heat = m->gamma * deposit_erg + imc_drift_heat(imc, cell);
    for (int d = 0; d < 3; d++)
        heat -=
            m->u[d] *
            storm_exact_value(imc->pushes.cells[3 * (size_t)cell + (size_t)d],
                              imc->track.deposit_unit);
    return heat;
}

/* A sum of the step to an account, and to zero. */
static void motion_book(struct storm_imc *imc, struct storm_ledger *account,
                        storm_exact *sum)
{
    storm_ledger_add_exact(account, *sum, imc->track.deposit_unit);
    *sum = 0;
}

static storm_status motion_check_room(const struct storm_imc *imc)
{
    if (!imc->pushes.is_beyond)
        return STORM_OK;
    storm_log_write(
        &imc->env->log, STORM_LOG_ERROR,
        "a packet has gained more than a factor of %g in a step, by "
        "scattering or where matter is compressed, and could not "
        "be split: take shorter steps, or slower matter",
        IMC_ROOM);
    return STORM_ERR_STATE;
}

storm_status imc_motion_end(struct storm_imc *imc)
{
    const struct storm_exact_unit unit = imc->track.deposit_unit;
    struct imc_pushes *pushes = &imc->pushes;
    if (imc->velocity == NULL)
        return motion_check_room(imc);
    for (size_t k = 0; k < 3 * (size_t)imc->n_cells; k++) {
        double hops =
            imc_drift_push(imc, (storm_cell_idx)(k / 3), (int)(k % 3));
        imc->push[k] = (storm_exact_value(pushes->cells[k], unit) + hops -
                        imc->recoil[k]) /
                       imc->problem->light_cm_s;
        motion_book(imc, &imc->momentum[IMC_PUSH_MATTER][k % 3],
                    &pushes->cells[k]);
    }
    imc_drift_end(imc);
    for (int d = 0; d < 3; d++) {
        memset(&imc->rested[d], 0, sizeof imc->rested[d]);
        motion_book(imc, &imc->rested[d], &pushes->rested[d]);
        motion_book(imc, &imc->momentum[IMC_PUSH_WALLS][d], &pushes->walls[d]);
    }
    return motion_check_room(imc);
}

/* ---- public ------------------------------------------------------------- */

/* Values of sums over all ranks, and what is missing. */
static struct storm_imc_momenta
motion_momenta(struct storm_ledger sum[IMC_PUSH_ACCOUNTS][3],
               struct storm_ledger rested[3], struct storm_ledger now[3],
               double light)
{
    struct storm_imc_momenta m = {.size = sizeof m};
    for (int d = 0; d < 3; d++) {
        m.created[d] = storm_ledger_value(&sum[IMC_PUSH_CREATED][d]) / light;
        m.matter[d] = storm_ledger_value(&sum[IMC_PUSH_MATTER][d]) / light;
        m.escaped[d] = storm_ledger_value(&sum[IMC_PUSH_ESCAPED][d]) / light;
        m.walls[d] = storm_ledger_value(&sum[IMC_PUSH_WALLS][d]) / light;
        m.radiation[d] = storm_ledger_value(&now[d]) / light;
        struct storm_ledger wrong = sum[IMC_PUSH_CREATED][d];
        for (int k = IMC_PUSH_MATTER; k < IMC_PUSH_ACCOUNTS; k++)
            storm_ledger_merge(&wrong, &sum[k][d], -1);
        storm_ledger_merge(&wrong, &rested[d], -1);
        m.error = fmax(m.error, fabs(storm_ledger_value(&wrong)));
        storm_ledger_merge(&sum[IMC_PUSH_CONTROL][d], &rested[d], 1);
        storm_ledger_merge(&sum[IMC_PUSH_CONTROL][d], &now[d], -1);
        m.control[d] = storm_ledger_value(&sum[IMC_PUSH_CONTROL][d]) / light;
    }
    return m;
}

storm_status storm_imc_momentum(struct storm_imc *imc,
                                struct storm_engine *engine,
                                struct storm_imc_momenta *momenta_out)
{
    struct storm_ledger sum[IMC_PUSH_ACCOUNTS][3], rested[3], mine[3], now[3];
    double energy[STORM_LEDGER_ACCOUNTS], error;
    size_t n;
    storm_status status = imc_check(imc);
    if (status == STORM_OK && imc->velocity == NULL)
        status = STORM_ERR_ARG;
    if (status < 0)
        return status;
    void *const *packets = storm_engine_packets(engine, &n);
    motion_sum(packets, n, mine);
    status = storm_ledger_sum(&imc->momentum[0][0], 3 * IMC_PUSH_ACCOUNTS,
                              imc->context, &sum[0][0]);
    if (status == STORM_OK)
        status = storm_ledger_sum(imc->rested, 3, imc->context, rested);
    if (status == STORM_OK)
        status = storm_ledger_sum(mine, 3, imc->context, now);
    if (status == STORM_OK)
        status = storm_imc_balance(imc, engine, energy, &error);
    if (status < 0)
        return status;
    struct storm_imc_momenta m =
        motion_momenta(sum, rested, now, imc->problem->light_cm_s);
    double largest = 0.0;
    for (int k = 0; k < STORM_LEDGER_ACCOUNTS; k++)
        largest = fmax(largest, energy[k]);
    m.error = m.error > 0.0 ? m.error / largest : 0.0;
    return storm_sized_write(&m, sizeof m, momenta_out);
}
