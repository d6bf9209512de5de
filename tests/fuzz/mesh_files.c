/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1; args: 1 1 text; timeout: 60 */
/* TEST ranks: 1; args: 2 1 all; timeout: 60; label: slow-asan slow-mpich */
/* TEST ranks: 1; args: 600 0 all; timeout: 700; label: long */
/*
 * MESHFILE-3: files of meshes, Gmsh and HDF5, with bytes changed are read or
 * refused; no crash, no hang, no growth of memory. (Sanitizers see the text
 * only: what HDF5 does with damaged files is not for us to mend.)
 */
#include <mpi.h>

#include <storm/context.h>
#include <storm/io.h>
#include <storm/mesh.h>

#include "fuzz/mutants.h"
#include "support/mesh_file.h"

enum { SEEDS = 2 };

struct seed {
    unsigned char *bytes;
    size_t n;
};

/* A cube, and one of tetrahedra: where they touch, both have boundaries. */
static void write_text(const char *path)
{
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    fprintf(file, "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 1 1\n"
                  "5 0 0 0 1 1 1 1 7 0\n1 0 0 0 1 1 1 0 1 5\n$EndEntities\n"
                  "$Nodes\n1 12 1 12\n3 1 0 12\n");
    for (int i = 1; i <= 12; i++)
        fprintf(file, "%d\n", i);
    for (int i = 0; i < 12; i++)
        fprintf(file, "%d %d %d\n", i / 4, (i % 4 == 1) + (i % 4 == 2),
                i % 4 / 2);
    fprintf(file, "$EndNodes\n$Elements\n3 8 1 8\n2 5 3 1\n1 1 2 3 4\n"
                  "3 1 5 1\n2 1 2 3 4 5 6 7 8\n3 1 4 6\n");
    static const int tetrahedra[6][4] = {{5, 6, 7, 11},  {5, 6, 10, 11},
                                         {5, 9, 10, 11}, {5, 7, 8, 11},
                                         {5, 8, 12, 11}, {5, 9, 12, 11}};
    for (int i = 0; i < 6; i++)
        fprintf(file, "%d %d %d %d %d\n", i + 3, tetrahedra[i][0],
                tetrahedra[i][1], tetrahedra[i][2], tetrahedra[i][3]);
    fprintf(file, "$EndElements\n");
    CHECK_EQ(fclose(file), 0);
}

static storm_status try_file(struct storm_context *context, const char *path)
{
    struct storm_mesh *mesh = NULL;
    storm_status status = storm_mesh_read(context, path, &mesh);
    if (status == STORM_OK)
        storm_mesh_destroy(mesh);
    return status;
}

int main(int argc, char **argv)
{
    static struct mesh_file cubes;
    struct storm_context *context;
    struct storm_context_params params = STORM_CONTEXT_PARAMS_INIT;
    struct seed seeds[SEEDS];
    uint64_t n_read = 0;
    uint64_t n_seeds = argc > 3 && strcmp(argv[3], "text") == 0 ? 1 : SEEDS;
    MPI_Init(&argc, &argv);
    params.log = mutants_on_log;
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, &params, &context));
    struct mutants *m = mutants_begin(argc, argv, "mesh");
    mesh_file_cubes(&cubes, 2);
    for (int i = 0; i < SEEDS; i++) {
        if (i == 0)
            write_text(m->path);
        else
            mesh_file_write(&cubes, m->path);
        CHECK_OK(try_file(context, m->path));
        seeds[i].bytes = mutants_load(m->path, &seeds[i].n);
    }
    while (mutants_next(m)) {
        const struct seed *seed = &seeds[dice_roll(&m->dice, n_seeds)];
        mutants_make(m, seed->bytes, seed->n);
        storm_status status = try_file(context, m->path);
        CHECK(status == STORM_OK || status == STORM_ERR_IO ||
              status == STORM_ERR_ARG || status == STORM_ERR_NOMEM);
        n_read += status == STORM_OK;
    }
    printf("%llu were read\n", (unsigned long long)n_read);
    mutants_end(m);
    for (int i = 0; i < SEEDS; i++)
        free(seeds[i].bytes);
    storm_context_destroy(context);
    MPI_Finalize();
    return CHECK_PASS;
}
