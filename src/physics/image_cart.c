/* SPDX-License-Identifier: BSD-3-Clause */
/* What kernels on devices read of a Cartesian mesh, and their names. */
#include "mesh/cart/cart_geom.h"

#include "physics/device_run.h"
#include "physics/track.h"

static void cart_image(const struct storm_mesh *mesh, double speed_cm_s,
                       struct device_image *image, void *geom_out)
{
    const struct cart_part *part = cart_part_of(mesh);
    struct cart_mesh cart = *cart_of(mesh);
    struct geom geom = geom_open(mesh, speed_cm_s);
    for (int d = 0; d < 3; d++)
        cart.edge[d] =
            device_image_add(image, cart.edge[d],
                             (size_t)(cart.n[d] + 1) * sizeof(double));
    geom.cart = device_image_add(image, &cart, sizeof cart);
    geom.cells =
        device_image_add(image, part->cells,
                         (size_t)part->base.n_cells * sizeof *part->cells);
    geom.borders =
        device_image_add(image, part->borders.array,
                         part->borders.n * sizeof *part->borders.array);
    memcpy(geom_out, &geom, sizeof geom);
}

/* device_cart.c */
storm_device_fn storm_cart_streaming, storm_cart_imc, storm_cart_imc_walk,
    storm_cart_imc_counted;

static const struct storm_device_function cart_functions[] = {
    {"storm_cart_streaming", storm_cart_streaming},
    {"storm_cart_imc", storm_cart_imc},
    {"storm_cart_imc_walk", storm_cart_imc_walk},
    {"storm_cart_imc_counted", storm_cart_imc_counted},
    {NULL, NULL},
};

static const struct storm_device_program cart_program = {
    .ptx = storm_device_ptx_cart,
    .functions = cart_functions,
};

/* device_more_cart.c */
storm_device_fn storm_cart_imc_more;

static const struct storm_device_function cart_more_functions[] = {
    {"storm_cart_imc_more", storm_cart_imc_more},
    {NULL, NULL},
};

static const struct storm_device_program cart_more_program = {
    .ptx = storm_device_ptx_more_cart,
    .functions = cart_more_functions,
};

const struct device_track_ops storm_device_cart = {
    .mesh = &storm_mesh_cart,
    .program = &cart_program,
    .more = &cart_more_program,
    .samples = true,
    .names =
        {
            [DEVICE_STREAMING] = {"storm_cart_streaming",
                                  "storm_cart_streaming"},
            [DEVICE_IMC] = {"storm_cart_imc", "storm_cart_imc"},
            [DEVICE_IMC_WALK] = {"storm_cart_imc_walk", "storm_cart_imc_walk"},
            [DEVICE_IMC_COUNTED] = {"storm_cart_imc_counted",
                                    "storm_cart_imc_counted"},
            [DEVICE_IMC_MORE] = {"storm_cart_imc_more", "storm_cart_imc_more"},
        },
    .is_periodic = device_is_plain,
    .image = cart_image,
};
