/* SPDX-License-Identifier: BSD-3-Clause */
/* What kernels on devices read of an octree, and their names. */
#include "mesh/octree/octree_geom.h"

#include "physics/device_run.h"
#include "physics/track.h"

static void octree_image(const struct storm_mesh *mesh, double speed_cm_s,
                         struct device_image *image, void *geom_out)
{
    const struct octree_part *part = octree_part_of(mesh);
    struct geom geom = geom_open(mesh, speed_cm_s);
    geom.mesh = device_image_add(image, geom.mesh, sizeof *geom.mesh);
    geom.cells =
        device_image_add(image, part->cells,
                         (size_t)part->base.n_cells * sizeof *part->cells);
    geom.borders =
        device_image_add(image, part->borders.array,
                         part->borders.n * sizeof *part->borders.array);
    geom.fans =
        device_image_add(image, part->fans, part->n_fans * sizeof *part->fans);
    memcpy(geom_out, &geom, sizeof geom);
}

/* device_octree.c */
storm_device_fn storm_octree_streaming, storm_octree_imc, storm_octree_imc_walk,
    storm_octree_imc_counted;

static const struct storm_device_function octree_functions[] = {
    {"storm_octree_streaming", storm_octree_streaming},
    {"storm_octree_imc", storm_octree_imc},
    {"storm_octree_imc_walk", storm_octree_imc_walk},
    {"storm_octree_imc_counted", storm_octree_imc_counted},
    {NULL, NULL},
};

static const struct storm_device_program octree_program = {
    .ptx = storm_device_ptx_octree,
    .functions = octree_functions,
};

/* device_more_octree.c */
storm_device_fn storm_octree_imc_more;

static const struct storm_device_function octree_more_functions[] = {
    {"storm_octree_imc_more", storm_octree_imc_more},
    {NULL, NULL},
};

static const struct storm_device_program octree_more_program = {
    .ptx = storm_device_ptx_more_octree,
    .functions = octree_more_functions,
};

const struct device_track_ops storm_device_octree = {
    .mesh = &storm_mesh_octree,
    .program = &octree_program,
    .more = &octree_more_program,
    .samples = true,
    .names =
        {
            [DEVICE_STREAMING] = {"storm_octree_streaming",
                                  "storm_octree_streaming"},
            [DEVICE_IMC] = {"storm_octree_imc", "storm_octree_imc"},
            [DEVICE_IMC_WALK] = {"storm_octree_imc_walk",
                                 "storm_octree_imc_walk"},
            [DEVICE_IMC_COUNTED] = {"storm_octree_imc_counted",
                                    "storm_octree_imc_counted"},
            [DEVICE_IMC_MORE] = {"storm_octree_imc_more",
                                 "storm_octree_imc_more"},
        },
    .is_periodic = device_is_plain,
    .image = octree_image,
};
