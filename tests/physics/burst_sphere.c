/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3 5; timeout: 60 */
/*
 * A burst at a point in vacuum: after any number of steps every packet is on
 * the sphere of radius speed times time, and every packet outside the box by
 * then has escaped.
 */
#include <math.h>
#include <stdio.h>

#include "problem.h"
#include "tolerances.h"

enum { N = 20000, STEPS = 8 };

static const double centre[3] = {3.3, 4.1, 2.7};

static struct storm_packet shot(uint64_t i)
{
    struct storm_packet packet = {.weight_erg = 1.0 + 1e-3 * (double)i};
    double u[4];
    packet.id = storm_packet_id_make(STORM_ORIGIN_USER, 0, 0, i);
    for (int d = 0; d < 3; d++)
        packet.position_cm[d] = centre[d];
    storm_random(7, STORM_STREAM_USER, packet.id, 0, u);
    storm_isotropic(u[0], u[1], packet.direction);
    return packet;
}

/* Number of packets in the box at this radius; none may be too close to a wall
 * to tell. */
static uint64_t count_inside(const struct problem *p, double radius)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < N; i++) {
        struct storm_packet packet = shot(i);
        bool inside = true;
        for (int d = 0; d < 3; d++) {
            double x = centre[d] + radius * packet.direction[d];
            CHECK(fabs(x) > 1e-9 && fabs(x - p->cart.hi_cm[d]) > 1e-9);
            inside = inside && x > 0.0 && x < p->cart.hi_cm[d];
        }
        n += inside;
    }
    return n;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    struct problem p = problem_default();
    p.streaming_params.emit_per_cell = 0;
    p.streaming_params.dt_s = 0.9;
    problem_open(&p, MPI_COMM_WORLD);

    /* Added on rank 0, wherever the cell is. */
    for (uint64_t i = 0; storm_context_rank(p.context) == 0 && i < N; i++) {
        struct storm_packet packet = shot(i);
        struct storm_cell_ref where;
        CHECK_OK(storm_mesh_locate(p.mesh, packet.position_cm, &where));
        packet.cell = storm_mesh_first_place(p.mesh, where.rank) +
                      (storm_cell_id)where.idx;
        CHECK_OK(storm_streaming_add(p.streaming, p.engine, &packet));
    }
    for (int step = 1; step <= STEPS; step++) {
        CHECK_OK(storm_engine_step(p.engine));
        double radius = p.streaming_params.dt_s * step;
        size_t n;
        void *const *packets = storm_engine_packets(p.engine, &n);
        for (size_t i = 0; i < n; i++) {
            const struct storm_packet *packet = packets[i];
            double square = 0.0;
            for (int d = 0; d < 3; d++)
                square += (packet->position_cm[d] - centre[d]) *
                          (packet->position_cm[d] - centre[d]);
            CHECK(fabs(sqrt(square) - radius) <=
                  burst_sphere_relative * (10.0 + 10.0 * step));
        }
        uint64_t mine = n, all;
        MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQ(all, count_inside(&p, radius));
        double energy[4], error;
        CHECK_OK(storm_streaming_balance(p.streaming, p.engine, energy,
                                         &error));
        CHECK(error == 0.0);
        if (storm_context_rank(p.context) == 0)
            printf("radius %.1f: %llu of %d inside, %.6g erg escaped\n", radius,
                   (unsigned long long)all, N, energy[2]);
    }
    problem_close(&p);
    MPI_Finalize();
    return CHECK_PASS;
}
