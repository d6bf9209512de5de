/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 2; timeout: 60 */
/*
 * A host with a mesh of its own, and the bundled physics on it.
 *
 *   cc host_given.c $(pkg-config --cflags --libs storm) -lm
 *   mpiexec -n 3 ./a.out
 *
 * The host has a bent pipe: a quarter of a ring, cut into N_R x N_PHI x N_Z
 * cells with straight edges, and divides it among the ranks by angle. One end
 * is a hot blackbody, the other one is open, the sides reflect. Radiation goes
 * round the bend and heats the gas in it.
 *
 * What to see: how cells, faces and neighbours are described
 * (storm/given.h); boundaries by number; that a domain need not be a box, or
 * convex; and that the hash does not depend on the number of ranks, since tags
 * do not.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <storm/context.h>
#include <storm/given.h>
#include <storm/imc.h>
#include <storm/streaming.h>

enum { N_R = 4, N_PHI = 20, N_Z = 3, N_STEPS = 16, N_SIDES = 6 };
enum { HOT_END, OPEN_END, SIDES, N_BOUNDARIES }; /* numbers of boundaries */

static const double r_lo = 1.0, r_hi = 2.0, height = 1.0; /* cm */
static const double dt_s = 1e-11;

/* ---- the mesh of the host ----------------------------------------------- */

/* All ranks know who has which cells: those between two angles. */
static int first_slice(int rank, int size)
{
    return N_PHI * rank / size;
}

static int owner_of_slice(int j, int size)
{
    int rank = 0;
    while (j >= first_slice(rank + 1, size))
        rank++;
    return rank;
}

/* The index of a cell on its rank: slice by slice. */
static int index_of(int i, int j, int k, int size)
{
    int first = first_slice(owner_of_slice(j, size), size);
    return ((j - first) * N_R + i) * N_Z + k;
}

/* Arrays of struct storm_given_params, for the cells of one rank. */
struct share {
    uint64_t n_cells, n_faces;
    storm_cell_id *tags;
    double *points, *volumes, *normals, *on_planes, *areas;
    uint64_t *first_face;
    int *ranks;
    storm_cell_idx *neighbours;
};

static void *array_of(size_t n, size_t bytes)
{
    void *array = calloc(n + 1, bytes);
    if (array == NULL) {
        fprintf(stderr, "host_given: no memory\n");
        exit(1);
    }
    return array;
}

static struct share share_make(int rank, int size)
{
    int slices = first_slice(rank + 1, size) - first_slice(rank, size);
    size_t n = (size_t)(slices * N_R * N_Z);
    return (struct share){
        .tags = array_of(n, sizeof(storm_cell_id)),
        .points = array_of(3 * n, sizeof(double)),
        .volumes = array_of(n, sizeof(double)),
        .first_face = array_of(n + 1, sizeof(uint64_t)),
        .normals = array_of(3 * n * N_SIDES, sizeof(double)),
        .on_planes = array_of(3 * n * N_SIDES, sizeof(double)),
        .areas = array_of(n * N_SIDES, sizeof(double)),
        .ranks = array_of(n * N_SIDES, sizeof(int)),
        .neighbours = array_of(n * N_SIDES, sizeof(storm_cell_idx)),
    };
}

static void share_free(struct share *s)
{
    void *arrays[] = {s->tags,    s->points,     s->volumes,
                      s->normals, s->on_planes,  s->areas,
                      s->ranks,   s->neighbours, s->first_face};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        free(arrays[i]);
}

/* A corner in the plane of the ring. */
static void corner(int i, int j, double x_out[2])
{
    double r = r_lo + (r_hi - r_lo) * i / N_R;
    double phi = 1.57079632679489662 * j / N_PHI;
    x_out[0] = r * cos(phi);
    x_out[1] = r * sin(phi);
}

/* What is behind a side of cell (i, j, k): another cell, with its rank and
 * index, or a boundary. */
static void behind(int i, int j, int k, int size, struct share *s)
{
    uint64_t f = s->n_faces++;
    s->ranks[f] = -1;
    s->neighbours[f] = j < 0 ? HOT_END : j == N_PHI ? OPEN_END : SIDES;
    if (i < 0 || i == N_R || j < 0 || j == N_PHI || k < 0 || k == N_Z)
        return;
    s->ranks[f] = owner_of_slice(j, size);
    s->neighbours[f] = index_of(i, j, k, size);
}

/*
 * One cell. Sides 0 to 3 stand on the edges of a quadrilateral, from corner to
 * corner, anticlockwise; 4 and 5 are its lower and upper side. Both cells of a
 * face compute its normal from the same two corners, in opposite order: normals
 * are exactly opposite.
 */
static void share_add(struct share *s, int i, int j, int k, int size)
{
    static const int step[4][2] = {{0, -1}, {1, 0}, {0, 1}, {-1, 0}};
    const int at[4][2] = {{i, j}, {i + 1, j}, {i + 1, j + 1}, {i, j + 1}};
    const double dz = height / N_Z;
    double x[4][2], area = 0.0, moment[2] = {0.0, 0.0};
    uint64_t c = s->n_cells++;
    for (int side = 0; side < 4; side++)
        corner(at[side][0], at[side][1], x[side]);
    for (int side = 0; side < 4; side++) { /* area and centroid */
        const double *a = x[side], *b = x[(side + 1) % 4];
        double twice = a[0] * b[1] - b[0] * a[1];
        area += 0.5 * twice;
        for (int d = 0; d < 2; d++)
            moment[d] += twice * (a[d] + b[d]) / 6.0;
    }
    double *point = &s->points[3 * c]; /* the centroid */
    point[0] = moment[0] / area;
    point[1] = moment[1] / area;
    point[2] = (k + 0.5) * dz;
    s->volumes[c] = area * dz;
    s->tags[c] = (storm_cell_id)((j * N_R + i) * N_Z + k);
    for (int side = 0; side < 4; side++) {
        const double *a = x[side], *b = x[(side + 1) % 4];
        double *n = &s->normals[3 * s->n_faces];
        double *on = &s->on_planes[3 * s->n_faces];
        n[0] = b[1] - a[1];
        n[1] = a[0] - b[0];
        for (int d = 0; d < 2; d++)
            on[d] = 0.5 * (a[d] + b[d]) - point[d];
        s->areas[s->n_faces] = sqrt(n[0] * n[0] + n[1] * n[1]) * dz;
        behind(i + step[side][0], j + step[side][1], k, size, s);
    }
    for (int up = -1; up <= 1; up += 2) {
        s->normals[3 * s->n_faces + 2] = up;
        s->on_planes[3 * s->n_faces + 2] = 0.5 * up * dz;
        s->areas[s->n_faces] = area;
        behind(i, j, k + up, size, s);
    }
    s->first_face[s->n_cells] = s->n_faces;
}

static storm_status give(struct storm_context *context,
                         struct storm_mesh **mesh_out)
{
    int rank = storm_context_rank(context), size = storm_context_size(context);
    struct share s = share_make(rank, size);
    for (int j = first_slice(rank, size); j < first_slice(rank + 1, size); j++)
        for (int i = 0; i < N_R; i++)
            for (int k = 0; k < N_Z; k++)
                share_add(&s, i, j, k, size);
    struct storm_given_params params = STORM_GIVEN_PARAMS_INIT;
    params.n_cells = s.n_cells;
    params.n_boundaries = N_BOUNDARIES;
    params.tags = s.tags;
    params.points_cm = s.points;
    params.volumes_cm3 = s.volumes;
    params.centroids_cm = s.points;
    params.first_face = s.first_face;
    params.normals = s.normals;
    params.on_planes_cm = s.on_planes;
    params.areas_cm2 = s.areas;
    params.ranks = s.ranks;
    params.neighbours = s.neighbours;
    storm_status status = storm_mesh_create_given(context, &params, mesh_out);
    share_free(&s); /* the mesh has copied what it needs */
    return status;
}

/* ---- the problem -------------------------------------------------------- */

static const struct storm_material gas = {
    .absorption = {.coef = 2.0, .max = STORM_UNLIMITED},
    .heat_capacity = {.coef = 1e14, .max = STORM_UNLIMITED},
    .temperature_kev = 0.1,
    .radiation_temperature_kev = -1.0, /* the same */
};
static const struct storm_region everywhere = {.material = 0};
static const double one_kev[] = {0.0, 1.0}; /* time, temperature */
static const struct storm_wall_part hot = {
    .kind = STORM_WALL_BLACKBODY,
    .temperature = {one_kev, 1},
    .stop_s = STORM_UNLIMITED,
    .packets = 4000,
};
static const struct storm_wall_part mirror = {.kind = STORM_WALL_REFLECT};
static const struct storm_wall boundaries[N_BOUNDARIES] = {
    [HOT_END] = {&hot, 1},
    [SIDES] = {&mirror, 1}, /* OPEN_END has no part: vacuum */
};

static struct storm_problem pipe_problem(const struct storm_mesh *mesh)
{
    struct storm_problem problem = STORM_PROBLEM_INIT;
    problem.light_cm_s = 2.99792458e10;
    problem.radiation_erg_cm3_kev4 = 1.3720172e14;
    storm_mesh_box(mesh, problem.lo_cm, problem.hi_cm);
    problem.materials = &gas;
    problem.n_materials = 1;
    problem.regions = &everywhere;
    problem.n_regions = 1;
    problem.boundaries = boundaries;
    problem.n_boundaries = N_BOUNDARIES;
    problem.n_groups = 1; /* grey */
    problem.emit_per_cell = 10;
    problem.min_per_cell = 5;
    problem.max_per_cell = 50;
    problem.comb = true;
    problem.seed = 1;
    return problem;
}

/* ---- the run ------------------------------------------------------------ */

struct run {
    struct storm_context *context;
    struct storm_mesh *mesh;
    struct storm_imc *imc;
    struct storm_comb *comb;
    struct storm_engine *engine;
};

static storm_status run_open(struct run *run)
{
    struct storm_comb_params comb = STORM_COMB_PARAMS_INIT;
    struct storm_engine_params engine = STORM_ENGINE_PARAMS_INIT;
    storm_status status =
        storm_context_create(MPI_COMM_WORLD, NULL, &run->context);
    if (status >= 0)
        status = give(run->context, &run->mesh);
    if (status < 0)
        return status;
    struct storm_problem problem = pipe_problem(run->mesh);
    status = storm_imc_create(run->context, run->mesh, &problem, &run->imc);
    if (status < 0)
        return status;
    comb.seed = problem.seed;
    comb.n_min = problem.min_per_cell;
    comb.n_max = problem.max_per_cell;
    comb.remainder = storm_imc_deposit;
    comb.remainder_self = run->imc;
    engine.record_bytes = sizeof(struct storm_packet);
    status = storm_comb_create(run->context, &comb, &run->comb);
    if (status >= 0)
        status = storm_engine_create(run->context, &engine, &run->engine);
    if (status >= 0)
        status = storm_imc_attach(run->imc, run->engine);
    return status < 0 ? status : storm_comb_attach(run->comb, run->engine);
}

static void run_close(struct run *run)
{
    storm_engine_destroy(run->engine);
    storm_comb_destroy(run->comb);
    storm_imc_destroy(run->imc);
    storm_mesh_destroy(run->mesh);
    storm_context_destroy(run->context);
}

/* Mean temperature of each slice, from the host's own arrays. */
static storm_status run_print(struct run *run)
{
    double sum[N_PHI] = {0.0}, energy[4], error;
    uint64_t hash;
    size_t n = (size_t)storm_mesh_n_cells(run->mesh);
    double *kev = array_of(n, sizeof *kev);
    storm_status status =
        storm_imc_get(run->imc, run->engine, STORM_IMC_TEMPERATURE, kev);
    for (size_t c = 0; c < n && status >= 0; c++)
        sum[storm_mesh_cell_id(run->mesh, (storm_cell_idx)c) / (N_R * N_Z)] +=
            kev[c] / (N_R * N_Z);
    free(kev);
    if (status >= 0)
        status =
            storm_context_reduce(run->context, sum, N_PHI, MPI_DOUBLE, MPI_SUM);
    if (status >= 0)
        status = storm_imc_balance(run->imc, run->engine, energy, &error);
    if (status >= 0)
        status = storm_imc_hash(run->imc, run->engine, &hash);
    if (status < 0 || storm_context_rank(run->context) != 0)
        return status;
    for (int j = 0; j < N_PHI; j += 3)
        printf("%3d degrees: %.3f keV\n", 90 * j / N_PHI, sum[j]);
    printf("energy balance closes to %.1e\n", error);
    printf("state hash %016" PRIx64 " (the same on any number of ranks)\n",
           hash);
    return STORM_OK;
}

int main(int argc, char **argv)
{
    struct run run = {NULL, NULL, NULL, NULL, NULL};
    MPI_Init(&argc, &argv);
    storm_status status = run_open(&run);
    for (int i = 0; i < N_STEPS && status >= 0; i++) {
        status = storm_imc_set_step(run.imc, i * dt_s, dt_s);
        if (status >= 0)
            status = storm_engine_step(run.engine);
    }
    if (status >= 0)
        status = run_print(&run);
    if (status < 0)
        fprintf(stderr, "host_given: %s\n", storm_status_name(status));
    run_close(&run);
    MPI_Finalize();
    return status < 0;
}
