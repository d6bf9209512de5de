/* SPDX-License-Identifier: BSD-3-Clause */
/* What kernels on devices read of a Voronoi mesh, and their names. */
#include "mesh/voronoi/voronoi_geom.h"

#include "physics/device_run.h"
#include "physics/pick.h"
#include "physics/track.h"

static void voronoi_image(const struct storm_mesh *mesh, double speed_cm_s,
                          struct device_image *image, void *geom_out)
{
    const struct voronoi_part *part = voronoi_part_of(mesh);
    size_t n = (size_t)part->base.n_cells;
    struct geom geom = geom_open(mesh, speed_cm_s);
    geom.heads =
        device_image_add(image, part->heads, (n + 1) * sizeof *part->heads);
    geom.blocks =
        device_image_add(image, part->blocks,
                         part->heads[n].first_block * sizeof *part->blocks);
    geom.borders = device_image_add(image, part->borders,
                                    part->n_borders * sizeof *part->borders);
    geom.domain = device_image_add(image, geom.domain, sizeof *geom.domain);
    memcpy(geom_out, &geom, sizeof geom);
}

static bool voronoi_image_is_periodic(const struct storm_mesh *mesh)
{
    return voronoi_space_is_periodic(&voronoi_part_of(mesh)->domain.space);
}

/* device_voronoi.c */
storm_device_fn storm_voronoi_streaming, storm_voronoi_streaming_periodic,
    storm_voronoi_imc, storm_voronoi_imc_periodic, storm_voronoi_imc_walk,
    storm_voronoi_imc_walk_periodic, storm_voronoi_imc_counted,
    storm_voronoi_imc_counted_periodic;

static const struct storm_device_function voronoi_functions[] = {
    {"storm_voronoi_streaming", storm_voronoi_streaming},
    {"storm_voronoi_streaming_periodic", storm_voronoi_streaming_periodic},
    {"storm_voronoi_imc", storm_voronoi_imc},
    {"storm_voronoi_imc_periodic", storm_voronoi_imc_periodic},
    {"storm_voronoi_imc_walk", storm_voronoi_imc_walk},
    {"storm_voronoi_imc_walk_periodic", storm_voronoi_imc_walk_periodic},
    {"storm_voronoi_imc_counted", storm_voronoi_imc_counted},
    {"storm_voronoi_imc_counted_periodic", storm_voronoi_imc_counted_periodic},
    {NULL, NULL},
};

static const struct storm_device_program voronoi_program = {
    .ptx = storm_device_ptx_voronoi,
    .functions = voronoi_functions,
};

/* device_more_voronoi.c */
storm_device_fn storm_voronoi_imc_more, storm_voronoi_imc_more_periodic;

static const struct storm_device_function voronoi_more_functions[] = {
    {"storm_voronoi_imc_more", storm_voronoi_imc_more},
    {"storm_voronoi_imc_more_periodic", storm_voronoi_imc_more_periodic},
    {NULL, NULL},
};

static const struct storm_device_program voronoi_more_program = {
    .ptx = storm_device_ptx_more_voronoi,
    .functions = voronoi_more_functions,
};

const struct device_track_ops storm_device_voronoi = {
    .mesh = &storm_mesh_voronoi,
    .program = &voronoi_program,
    .more = &voronoi_more_program,
    .names =
        {
            [DEVICE_STREAMING] = {"storm_voronoi_streaming",
                                  "storm_voronoi_streaming_periodic"},
            [DEVICE_IMC] = {"storm_voronoi_imc", "storm_voronoi_imc_periodic"},
            [DEVICE_IMC_WALK] = {"storm_voronoi_imc_walk",
                                 "storm_voronoi_imc_walk_periodic"},
            [DEVICE_IMC_COUNTED] = {"storm_voronoi_imc_counted",
                                    "storm_voronoi_imc_counted_periodic"},
            [DEVICE_IMC_MORE] = {"storm_voronoi_imc_more",
                                 "storm_voronoi_imc_more_periodic"},
        },
    .is_periodic = voronoi_image_is_periodic,
    .image = voronoi_image,
};
