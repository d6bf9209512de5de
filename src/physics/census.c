/* SPDX-License-Identifier: BSD-3-Clause */
#include "physics/census.h"

#include <string.h>

#include <storm/context.h>

#include "base/hash.h"

void storm_census_stop(size_t n, struct storm_outcome *outcomes_out)
{
    for (size_t i = 0; i < n; i++)
        outcomes_out[i] = (struct storm_outcome){.fate = STORM_FATE_CENSUS};
}

double storm_census_wake(struct storm_step *step, const struct storm_mesh *mesh,
                         double dt_s)
{
    size_t n;
    void *const *packets = storm_step_packets(step, &n);
    storm_cell_id first = storm_mesh_cell_id(mesh, 0);
    storm_cell_id n_cells = (storm_cell_id)storm_mesh_n_cells(mesh);
    double largest = 0.0;
    for (size_t i = 0; i < n; i++) {
        struct storm_packet *packet = packets[i];
        if (packet == NULL)
            continue;
        storm_cell_id offset = packet->cell - first; /* huge if below */
        packet->cell_idx = offset < n_cells ? (storm_cell_idx)offset : -1;
        packet->time_left_s = dt_s;
        largest = packet->weight_erg > largest ? packet->weight_erg : largest;
    }
    return largest;
}

storm_status storm_census_balance(struct storm_engine *engine,
                                  const struct storm_context *context,
                                  struct storm_ledger *account,
                                  double *value_out, double *error_out)
{
    size_t n;
    void *const *packets = storm_engine_packets(engine, &n);
    struct storm_ledger *census = &account[STORM_LEDGER_CENSUS];
    memset(census, 0, sizeof *census);
    for (size_t i = 0; i < n; i++)
        storm_ledger_add(census,
                         ((const struct storm_packet *)packets[i])->weight_erg);
    return storm_ledger_balance(account, context, value_out, error_out);
}

storm_status storm_census_hash(struct storm_engine *engine,
                               const struct storm_context *context,
                               const struct storm_mesh *mesh,
                               const double *const *fields, size_t n_fields,
                               uint64_t *hash_out)
{
    uint64_t sum = 0; /* of hashes, modulo 2^64: any order */
    size_t n;
    void *const *packets = storm_engine_packets(engine, &n);
    for (size_t i = 0; i < n; i++)
        sum += storm_packet_hash(packets[i]);
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++) {
        uint64_t hash =
            storm_hash_fold(UINT64_C(0x63656c6c), storm_mesh_cell_id(mesh, i));
        for (size_t k = 0; k < n_fields; k++)
            hash = storm_hash_fold_real(hash, fields[k][i]);
        sum += hash;
    }
    storm_status status =
        storm_context_reduce(context, &sum, 1, MPI_UINT64_T, MPI_SUM);
    if (status < 0)
        return status;
    *hash_out = storm_hash_word(sum);
    return STORM_OK;
}
