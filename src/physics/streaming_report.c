/* SPDX-License-Identifier: BSD-3-Clause */
/* Free streaming: calls between steps. */
#include <math.h>

#include "mesh/mesh_ops.h"
#include "physics/census.h"
#include "physics/streaming.h"

/* Of the square of a direction's length: tracking rounds, no more. */
static const double streaming_unit_error = 2e-6;

storm_status streaming_check(const struct storm_streaming *streaming)
{
    return storm_mesh_check_generation(
        streaming->mesh, streaming->generation, "free streaming",
        "ask before the mesh changes, or after the "
        "next step");
}

const double *
storm_streaming_energy_density(const struct storm_streaming *streaming)
{
    return streaming_check(streaming) < 0 ? NULL : streaming->energy_density;
}

void storm_streaming_deposit(void *streaming, storm_cell_idx cell,
                             double weight_erg)
{
    struct storm_streaming *self = streaming;
    (void)cell;
    storm_ledger_add(&self->account[STORM_LEDGER_ABSORBED], weight_erg);
}

/* A packet that can be tracked; comparisons are such that NaN fails. */
static bool streaming_is_packet(const struct storm_streaming *streaming,
                                const struct storm_packet *packet)
{
    double square = 0.0;
    for (int d = 0; d < 3; d++) {
        square += packet->direction[d] * packet->direction[d];
        if (!isfinite(packet->position_cm[d]))
            return false;
    }
    return packet->cell < streaming->mesh->next_tag &&
           packet->weight_erg >= 0.0 && isfinite(packet->weight_erg) &&
           fabs(square - 1.0) < streaming_unit_error;
}

storm_status storm_streaming_add(struct storm_streaming *streaming,
                                 struct storm_engine *engine,
                                 const struct storm_packet *packet)
{
    if (!streaming_is_packet(streaming, packet))
        return STORM_ERR_ARG;
    storm_status status = storm_engine_add(engine, packet);
    if (status == STORM_OK)
        storm_ledger_add(&streaming->account[STORM_LEDGER_CREATED],
                         packet->weight_erg);
    return status;
}

/* ---- balance and hash --------------------------------------------------- */

storm_status storm_streaming_balance(struct storm_streaming *streaming,
                                     struct storm_engine *engine,
                                     double energy_erg_out[4],
                                     double *error_out)
{
    storm_status status = streaming_check(streaming);
    return status < 0 ? status
                      : storm_census_balance(engine, streaming->context,
                                             streaming->account, energy_erg_out,
                                             error_out);
}

storm_status storm_streaming_hash(const struct storm_streaming *streaming,
                                  struct storm_engine *engine,
                                  uint64_t *hash_out)
{
    const double *const fields[] = {streaming->energy_density};
    storm_status status = streaming_check(streaming);
    return status < 0 ? status
                      : storm_census_hash(engine, streaming->context,
                                          streaming->mesh, fields, 1, hash_out);
}
