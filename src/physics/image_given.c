/* SPDX-License-Identifier: BSD-3-Clause */
/* What kernels on devices read of a given mesh, and their names. */
#include "mesh/given/given_geom.h"

#include "physics/device_run.h"
#include "physics/pick.h"
#include "physics/track.h"

static void given_image(const struct storm_mesh *mesh, double speed_cm_s,
                        struct device_image *image, void *geom_out)
{
    const struct given_part *own = given_part_of(mesh);
    size_t n = (size_t)own->base.n_cells;
    size_t n_blocks = own->heads[n].first_block;
    struct given_part part = *own;
    struct geom geom = geom_open(mesh, speed_cm_s);
    part.heads =
        device_image_add(image, own->heads, (n + 1) * sizeof *own->heads);
    geom.heads = part.heads;
    geom.blocks =
        device_image_add(image, own->blocks, n_blocks * sizeof *own->blocks);
    geom.planes =
        device_image_add(image, own->planes,
                         n_blocks * STORM_PLANES_WIDTH * sizeof *own->planes);
    geom.borders = device_image_add(image, own->borders,
                                    own->n_borders * sizeof *own->borders);
    part.first_face = device_image_add(image, own->first_face,
                                       (n + 1) * sizeof *own->first_face);
    part.faces = device_image_add(image, own->faces,
                                  own->first_face[n] * sizeof *own->faces);
    part.choices = device_image_add(image, own->choices,
                                    own->n_choices * sizeof *own->choices);
    part.located =
        device_image_add(image, own->located,
                         (own->n_located + 1) * sizeof *own->located);
    part.sides = device_image_add(image, own->sides,
                                  own->located[own->n_located].first_side *
                                      sizeof *own->sides);
    geom.part = device_image_add(image, &part, sizeof part);
    memcpy(geom_out, &geom, sizeof geom);
}

/* device_given.c */
storm_device_fn storm_given_streaming, storm_given_imc, storm_given_imc_walk,
    storm_given_imc_counted;

static const struct storm_device_function given_functions[] = {
    {"storm_given_streaming", storm_given_streaming},
    {"storm_given_imc", storm_given_imc},
    {"storm_given_imc_walk", storm_given_imc_walk},
    {"storm_given_imc_counted", storm_given_imc_counted},
    {NULL, NULL},
};

static const struct storm_device_program given_program = {
    .ptx = storm_device_ptx_given,
    .functions = given_functions,
};

/* device_more_given.c */
storm_device_fn storm_given_imc_more;

static const struct storm_device_function given_more_functions[] = {
    {"storm_given_imc_more", storm_given_imc_more},
    {NULL, NULL},
};

static const struct storm_device_program given_more_program = {
    .ptx = storm_device_ptx_more_given,
    .functions = given_more_functions,
};

const struct device_track_ops storm_device_given = {
    .mesh = &storm_mesh_given,
    .program = &given_program,
    .more = &given_more_program,
    .names =
        {
            [DEVICE_STREAMING] = {"storm_given_streaming",
                                  "storm_given_streaming"},
            [DEVICE_IMC] = {"storm_given_imc", "storm_given_imc"},
            [DEVICE_IMC_WALK] = {"storm_given_imc_walk",
                                 "storm_given_imc_walk"},
            [DEVICE_IMC_COUNTED] = {"storm_given_imc_counted",
                                    "storm_given_imc_counted"},
            [DEVICE_IMC_MORE] = {"storm_given_imc_more",
                                 "storm_given_imc_more"},
        },
    .is_periodic = device_is_plain,
    .image = given_image,
};
