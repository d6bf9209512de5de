/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What came and went in a step: energy created by origin, absorbed by material,
 * escaped by wall.
 *
 *   FLOWS-1  Terms are those of the accounts of the run, and sums are exact:
 *            the flows of a kind add up to what its account grew by. What a
 *            change of the mesh books is added to those of the step before it.
 */
#include <string.h>

#include <storm/context.h>

#include "physics/imc.h"

static const char flows_label[] = "imc flows";

static size_t flows_first(const struct imc_flows *flows, int kind)
{
    size_t first = 0;
    for (int k = 0; k < kind; k++)
        first += flows->n[k];
    return first;
}

storm_status imc_flows_open(struct storm_imc *imc)
{
    struct imc_flows *flows = &imc->flows;
    flows->n[STORM_IMC_FLOW_CREATED] = STORM_ORIGIN_BOUNDARY + 1;
    flows->n[STORM_IMC_FLOW_ABSORBED] = imc->problem->n_materials + 1;
    flows->n[STORM_IMC_FLOW_ESCAPED] = imc->n_walls + 1;
    size_t n = flows_first(flows, STORM_IMC_FLOW_KINDS);
    flows->flow =
        storm_alloc(imc->env->memory, flows_label, n * sizeof *flows->flow);
    if (flows->flow == NULL)
        return STORM_ERR_NOMEM;
    imc->track.leaving =
        &flows->flow[flows_first(flows, STORM_IMC_FLOW_ESCAPED)];
    imc->track.outside = &imc->track.leaving[imc->n_walls];
    return STORM_OK;
}

void imc_flows_close(struct storm_imc *imc)
{
    storm_free(imc->env->memory, imc->flows.flow);
}

void imc_flows_begin(struct storm_imc *imc)
{
    struct imc_flows *flows = &imc->flows;
    if (flows->is_complete)
        memset(flows->flow, 0,
               flows_first(flows, STORM_IMC_FLOW_KINDS) * sizeof *flows->flow);
    flows->is_complete = false;
}

void imc_flows_clear(struct storm_imc *imc)
{
    imc->flows.is_complete = true;
    imc_flows_begin(imc);
}

void imc_flow_create(struct storm_imc *imc, storm_origin origin,
                     double energy_erg, uint64_t packets)
{
    static const int accounts[] = {
        [STORM_ORIGIN_USER] = IMC_USER,
        [STORM_ORIGIN_INITIAL] = IMC_START,
        [STORM_ORIGIN_EMISSION] = IMC_ACCOUNTS, /* is what matter loses */
        [STORM_ORIGIN_SOURCE] = IMC_SOURCES,
        [STORM_ORIGIN_BOUNDARY] = IMC_WALLS,
    };
    struct imc_flow *flow = &imc->flows.flow[origin];
    storm_ledger_add(&imc->account[STORM_LEDGER_CREATED], energy_erg);
    if (accounts[origin] < IMC_ACCOUNTS)
        storm_ledger_add(&imc->more[accounts[origin]], energy_erg);
    storm_ledger_add(&flow->energy, energy_erg);
    flow->packets += packets;
}

static struct imc_flow *flows_absorbed(struct storm_imc *imc,
                                       storm_cell_idx cell)
{
    int m = imc->material[cell];
    size_t i = m >= 0 ? (size_t)m : imc->problem->n_materials;
    return &imc->flows
                .flow[flows_first(&imc->flows, STORM_IMC_FLOW_ABSORBED) + i];
}

void imc_flow_absorb(struct storm_imc *imc, storm_cell_idx cell,
                     storm_exact deposit)
{
    storm_ledger_add_exact(&flows_absorbed(imc, cell)->energy, deposit,
                           imc->track.deposit_unit);
}

void imc_flow_absorb_erg(struct storm_imc *imc, storm_cell_idx cell,
                         double energy_erg)
{
    struct imc_flow *flow = flows_absorbed(imc, cell);
    storm_ledger_add(&imc->account[STORM_LEDGER_ABSORBED], energy_erg);
    storm_ledger_add(&flow->energy, energy_erg);
}

void imc_flows_end(struct storm_imc *imc)
{
    imc->flows.is_complete = true;
}

size_t storm_imc_n_flows(const struct storm_imc *imc, storm_imc_flow_kind kind)
{
    return (int)kind >= 0 && (int)kind < STORM_IMC_FLOW_KINDS
               ? imc->flows.n[kind]
               : 0;
}

storm_status storm_imc_flows(struct storm_imc *imc, storm_imc_flow_kind kind,
                             struct storm_imc_flow *flows_out)
{
    enum { WORDS = sizeof(struct imc_flow) / sizeof(int64_t) };
    _Static_assert(WORDS * sizeof(int64_t) == sizeof(struct imc_flow),
                   "all of it is 64-bit integers");
    struct storm_memory *memory = imc->env->memory;
    size_t n = storm_imc_n_flows(imc, kind);
    if (n == 0)
        return STORM_ERR_ARG;
    struct imc_flow *sum = storm_alloc(memory, flows_label, n * sizeof *sum);
    storm_status status =
        storm_context_agree(imc->context,
                            sum != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK) {
        memcpy(sum, &imc->flows.flow[flows_first(&imc->flows, (int)kind)],
               n * sizeof *sum);
        for (size_t i = 0; i < n; i++)
            storm_ledger_carry(&sum[i].energy);
        status = storm_context_reduce(imc->context, sum, (int)(n * WORDS),
                                      MPI_INT64_T, MPI_SUM);
    }
    for (size_t i = 0; i < n && status == STORM_OK; i++)
        flows_out[i] = (struct storm_imc_flow){
            .energy_erg = storm_ledger_value(&sum[i].energy),
            .packets = sum[i].packets,
        };
    storm_free(memory, sum);
    return status;
}
