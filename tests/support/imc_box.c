/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/imc_box.h"

#include <stdlib.h>
#include <string.h>

#include <storm/voronoi.h>

#include "support/check.h"

const struct storm_region imc_box_regions[IMC_BOX_REGIONS] = {
    {.material = 0},
    {.material = 1,
     .shape = {.kind = STORM_SHAPE_SPHERE,
               .centre_cm = {0.5, 0.5, 0.5},
               .radius_cm = {0, 0.45}}},
    {.material = STORM_OUTSIDE,
     .shape = {.kind = STORM_SHAPE_BOX,
               .lo_cm = {0.8, 0.8, 0.0},
               .hi_cm = {1, 1, 1}}},
};

const struct storm_source imc_box_source = {
    .shape = {.kind = STORM_SHAPE_SPHERE,
              .centre_cm = {0.4, 0.5, 0.6},
              .radius_cm = {0.1, 0.3}},
    .power_erg_cm3_s = 2.0,
    .stop_s = 100.0,
    .packets = 500,
    .temperature_kev = 1.0};

void imc_box_open(struct imc_box *box)
{
    CHECK_OK(storm_imc_create(box->context, box->mesh, &box->problem,
                              &box->imc));
    struct storm_comb_params comb = {.size = sizeof comb,
                                     .seed = 1,
                                     .n_min = box->problem.min_per_cell,
                                     .n_max = box->problem.max_per_cell,
                                     .remainder = storm_imc_deposit,
                                     .remainder_self = box->imc};
    CHECK_OK(storm_comb_create(box->context, &comb, &box->comb));
    struct storm_engine_params engine = {.size = sizeof engine,
                                         .record_bytes =
                                             storm_imc_record_bytes(box->imc)};
    CHECK_OK(storm_engine_create(box->context, &engine, &box->engine));
    CHECK_OK(storm_imc_attach(box->imc, box->engine));
    if (box->problem.comb)
        CHECK_OK(storm_comb_attach(box->comb, box->engine));
}

void imc_box_open_periodic(struct imc_box *box, MPI_Comm comm, int n,
                           bool voronoi)
{
    const size_t n_points = (size_t)n * (size_t)n * (size_t)n;
    const struct storm_cart_params cart = {.size = sizeof cart,
                                           .hi_cm = {1, 1, 1},
                                           .n = {n, n, n},
                                           .periodic = {true, true, true}};
    struct storm_voronoi_params cells = {.size = sizeof cells,
                                         .hi_cm = {1, 1, 1},
                                         .periodic = {true, true, true}};
    double *points = calloc(3 * n_points, sizeof *points);
    CHECK(points != NULL);
    CHECK_OK(storm_context_create(comm, NULL, &box->context));
    for (size_t i = 0; i < n_points; i++) {
        double u[4];
        const struct storm_packet_id id = {.lo = i};
        storm_random(7, STORM_STREAM_USER, id, 0, u);
        memcpy(&points[3 * i], u, 3 * sizeof *points);
    }
    cells.points_cm = points;
    cells.n_points = storm_context_rank(box->context) == 0 ? n_points : 0;
    if (voronoi)
        CHECK_OK(storm_mesh_create_voronoi(box->context, &cells, &box->mesh));
    else
        CHECK_OK(storm_mesh_create_cart(box->context, &cart, &box->mesh));
    free(points);
    imc_box_open(box);
}

void imc_box_add(struct imc_box *box, struct storm_packet packet)
{
    imc_box_add_photon(box, (struct storm_photon){.packet = packet});
}

void imc_box_add_photon(struct imc_box *box, struct storm_photon photon)
{
    struct storm_cell_ref at;
    struct storm_packet *packet = &photon.packet;
    storm_status status =
        storm_mesh_locate(box->mesh, packet->position_cm, &at);
    if (status != STORM_OK || at.rank != storm_context_rank(box->context))
        return;
    packet->cell_idx = at.idx;
    packet->cell = storm_mesh_cell_id(box->mesh, at.idx);
    CHECK_OK(storm_engine_add(box->engine, &photon));
}

double imc_box_step(struct imc_box *box, double time_s, double dt_s,
                    double energy_out[4])
{
    double error;
    CHECK_OK(storm_imc_set_step(box->imc, time_s, dt_s));
    CHECK_OK(storm_engine_step(box->engine));
    CHECK_OK(storm_imc_balance(box->imc, box->engine, energy_out, &error));
    return error;
}

void imc_box_run(struct imc_box *box, double dt_s, uint64_t end)
{
    for (; box->step < end; box->step++) {
        CHECK_OK(storm_imc_set_step(box->imc, dt_s * (double)box->step, dt_s));
        CHECK_OK(storm_engine_step(box->engine));
    }
}

uint64_t imc_box_hash(struct imc_box *box)
{
    uint64_t hash;
    CHECK_OK(storm_imc_hash(box->imc, box->engine, &hash));
    return hash;
}

double imc_box_total(struct imc_box *box, storm_imc_field per_cm3)
{
    size_t n = (size_t)storm_mesh_n_cells(box->mesh);
    double *volume = calloc(2 * n + 1, sizeof *volume), *value = volume + n;
    double sum = 0.0;
    CHECK(volume != NULL);
    CHECK_OK(storm_imc_get(box->imc, box->engine, STORM_IMC_VOLUME, volume));
    CHECK_OK(storm_imc_get(box->imc, box->engine, per_cm3, value));
    for (size_t i = 0; i < n; i++)
        sum += volume[i] * value[i];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM,
                  storm_context_comm(box->context));
    free(volume);
    return sum;
}

void imc_box_close(struct imc_box *box)
{
    storm_engine_destroy(box->engine);
    storm_comb_destroy(box->comb);
    storm_imc_destroy(box->imc);
    storm_mesh_destroy(box->mesh);
    storm_context_destroy(box->context);
}
