/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; timeout: 20 */
/*
 * CENSUS-4: packets of the last step are taken in the order of their cells; all
 * of them, whichever were removed or have to be looked up.
 */
#include <stdio.h>

#include <storm/engine.h>

#include "lone.h"
#include "physics/census.h"

enum { N = 5000, SIDE = 40, REMOVED = 7, LOST = 11 };

struct order {
    const struct storm_mesh *mesh;
    storm_cell_idx last; /* cell of the packet before */
    uint64_t n, ids;     /* packets taken, and the sum of their numbers */
};

/* Some packets are removed, others have lost the index of their cell. */
static storm_status wake(void *self, struct storm_step *step)
{
    struct order *order = self;
    double largest;
    size_t n;
    void **packets = storm_step_packets(step, &n);
    for (size_t i = 0; i < n; i++) {
        struct storm_packet *packet = packets[i];
        if (packet->id.lo % REMOVED == 0)
            storm_step_remove(step, i);
        else if (packet->id.lo % LOST == 0)
            packet->cell_idx = -1;
    }
    storm_status status = storm_census_wake(step, order->mesh, 1.0, &largest);
    CHECK_EQ(largest, 1.0);
    return status;
}

static void take(void *self, struct storm_step *step, void *const *packets,
                 size_t n, struct storm_outcome *outcomes_out)
{
    struct order *order = self;
    (void)step;
    for (size_t i = 0; i < n; i++) {
        const struct storm_packet *packet = packets[i];
        outcomes_out[i] = (struct storm_outcome){.fate = STORM_FATE_CENSUS};
        CHECK_EQ(packet->time_left_s, 1.0);
        order->n++;
        order->ids += packet->id.lo;
        if (packet->id.lo % LOST == 0) {
            CHECK_EQ(storm_mesh_cell_id(order->mesh, packet->cell_idx),
                     packet->cell);
            continue;
        }
        /* Several cells may be taken as one, but not in so small a mesh. */
        CHECK(packet->cell_idx >= order->last ||
              storm_mesh_n_cells(order->mesh) > 32768);
        CHECK(packet->cell_idx >= order->last - 1);
        order->last = packet->cell_idx;
    }
}

static void check_order(const struct storm_cart_params *cart)
{
    struct lone lone;
    struct storm_engine *engine;
    struct dice dice = dice_make(5, 0);
    uint64_t n = 0, ids = 0;
    lone_open(&lone, cart);
    struct order order = {.mesh = lone.mesh};
    const struct storm_physics physics = {.size = sizeof physics,
                                          .self = &order,
                                          .pre_step = wake,
                                          .step_batch = take};
    const struct storm_engine_params params = {.size = sizeof params,
                                               .record_bytes =
                                                   sizeof(struct storm_packet),
                                               .physics = &physics};
    CHECK_OK(storm_engine_create(lone.context, &params, &engine));
    for (uint64_t i = 0; i < N; i++) {
        struct storm_packet packet = lone_packet(&lone, &dice);
        packet.id.lo = i;
        packet.weight_erg = 1.0;
        CHECK_OK(storm_engine_add(engine, &packet));
        n += i % REMOVED != 0;
        ids += i % REMOVED != 0 ? i : 0;
    }
    for (int step = 0; step < 2; step++) {
        order.n = order.ids = 0;
        order.last = 0;
        CHECK_OK(storm_engine_step(engine));
        CHECK_EQ(order.n, n);
        CHECK_EQ(order.ids, ids);
    }
    storm_engine_destroy(engine);
    lone_close(&lone);
}

int main(int argc, char **argv)
{
    struct storm_cart_params cart = STORM_CART_PARAMS_INIT;
    MPI_Init(&argc, &argv);
    for (int k = 0; k < 3; k++) {
        cart.hi_cm[k] = 1.0;
        cart.n[k] = 20;
    }
    check_order(&cart);
    for (int k = 0; k < 3; k++)
        cart.n[k] = SIDE; /* two cells for each key */
    check_order(&cart);
    MPI_Finalize();
    return CHECK_PASS;
}
