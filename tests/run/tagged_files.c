/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 5; timeout: 60 */
/*
 * Files of a mesh whose tags are in no order, with gaps: the same bytes on 1,
 * 2, 3 and 5 ranks, rows in order of the tags (CELLS-1), partition.csv fits
 * them, and a mesh that has changed has a file of its own. A checkpoint that
 * has the mesh in it (CHECKPOINT-6) continues with the same bits on another
 * number of ranks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <mpi.h>

#include <storm/change.h>
#include <storm/context.h>
#include <storm/remap.h>
#include <storm/streaming.h>
#include <storm/voronoi.h>

#include "base/env.h"
#include "io/io_cells.h"
#include "io/io_checkpoint.h"
#include "io/io_reader.h"
#include "io/io_table.h"
#include "support/check.h"
#include "support/imc_box.h"

enum { POINTS = 300, STEPS_BEFORE = 2, STEPS = 4, GROUPS = 4 };
static const int sizes[GROUPS] = {1, 2, 3, 5};
static const double step_s = 0.05;

static const struct storm_material materials[] = {
    {.name = "thick",
     .absorption = {.coef = 30, .max = 1e12},
     .heat_capacity = {.coef = 4, .max = 1e12},
     .temperature_kev = 0.5,
     .radiation_temperature_kev = -1},
    {.name = "thin",
     .absorption = {.coef = 2, .t_exp = -1, .max = 50},
     .heat_capacity = {.coef = 1, .max = 1e12},
     .temperature_kev = 0.1,
     .radiation_temperature_kev = -1},
};
/* Steady, and in all cells but those outside. */
static const struct storm_source sources[] = {
    {.shape = {.kind = STORM_SHAPE_ALL},
     .power_erg_cm3_s = 1.0,
     .stop_s = 1e12,
     .packets = 200},
};

static struct storm_problem make_problem(void)
{
    return (struct storm_problem){
        STORM_PROBLEM_SIZES,
        .light_cm_s = 1,
        .radiation_erg_cm3_kev4 = 1,
        .hi_cm = {1, 1, 1},
        .materials = materials,
        .n_materials = 2,
        .regions = imc_box_regions,
        .n_regions = IMC_BOX_REGIONS,
        .sources = sources,
        .n_sources = 1,
        .n_groups = 1,
        .emit_per_cell = 4,
        .min_per_cell = 2,
        .max_per_cell = 12,
        .comb = true,
        .seed = 5,
    };
}

/* ---- a host -------------------------------------------------------------- */

static void host_open(struct imc_box *host, MPI_Comm comm,
                      const struct storm_voronoi_params *params)
{
    *host = (struct imc_box){.problem = make_problem()};
    CHECK_OK(storm_context_create(comm, NULL, &host->context));
    CHECK_OK(storm_mesh_create_voronoi(host->context, params, &host->mesh));
    CHECK(!storm_mesh_is_in_order(host->mesh));
    imc_box_open(host);
}

static struct io_source host_source(const struct imc_box *host, const char *dir)
{
    return (struct io_source){.context = host->context,
                              .mesh = host->mesh,
                              .imc = host->imc,
                              .engine = host->engine,
                              .dir = dir,
                              .step = host->step,
                              .start_s = 0.0,
                              .time_s = step_s * (double)host->step,
                              .radiation = STORM_IMC_RADIATION_CENSUS,
                              .radiation_constant = 1.0};
}

/* Every rank has some of the points, in an order of its own. */
static struct storm_voronoi_params
make_points(MPI_Comm comm, uint64_t seed, double *points, storm_cell_id *tags)
{
    const struct storm_points_params set = {.size = sizeof set,
                                            .seed = seed,
                                            .n_total = POINTS,
                                            .hi_cm = {1, 1, 1}};
    struct storm_voronoi_params params = {.size = sizeof params,
                                          .hi_cm = {1, 1, 1},
                                          .points_cm = points,
                                          .tags = tags,
                                          .next_tag = 5000};
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = rank; i < POINTS; i += size) {
        uint64_t n = params.n_points++;
        CHECK_OK(storm_points_make(&set, (uint64_t)i, 1, &points[3 * n]));
        tags[n] = (storm_cell_id)(i * 113 % POINTS * 3 + i * 113 % POINTS / 7);
    }
    return params;
}

/* Materials other than those at the centres, as cells bring them along; some
 * cells that were outside are not any more. */
static void host_disturb(struct imc_box *host)
{
    struct storm_imc_layout layout = STORM_IMC_LAYOUT_INIT;
    size_t n = (size_t)storm_mesh_n_cells(host->mesh);
    CHECK_OK(storm_imc_state_layout(host->imc, &layout));
    CHECK_EQ(layout.version, 3);
    CHECK_EQ(layout.cell_values, 4);
    double *cells = malloc((n + 1) * 4 * sizeof *cells);
    int64_t *accounts =
        malloc(layout.n_accounts * layout.account_words * sizeof *accounts);
    CHECK(cells != NULL && accounts != NULL);
    CHECK_OK(storm_imc_save_state(host->imc, cells, accounts));
    for (size_t i = 0; i < n; i++) {
        double *row = &cells[4 * i];
        CHECK(row[3] == storm_imc_material(host->imc, (storm_cell_idx)i));
        if (storm_mesh_cell_id(host->mesh, (storm_cell_idx)i) % 3 == 0) {
            row[0] = 0.2;
            row[1] = row[3] == 1 ? 0.8 : 0.2;
            row[3] = row[3] == 1 ? 0 : 1;
        }
    }
    CHECK_OK(storm_imc_load_state(host->imc, 3, cells, accounts));
    for (size_t i = 0; i < n; i++)
        CHECK(cells[4 * i + 3] ==
              storm_imc_material(host->imc, (storm_cell_idx)i));
    free(cells);
    free(accounts);
}

/* Generators go a third of a cell, by an amount that the tag decides. */
static void host_move(struct imc_box *host)
{
    size_t n = (size_t)storm_mesh_n_cells(host->mesh);
    struct storm_change *change;
    double *to = malloc((3 * n + 1) * sizeof *to);
    CHECK(to != NULL);
    for (size_t i = 0; i < n; i++) {
        storm_cell_id tag = storm_mesh_cell_id(host->mesh, (storm_cell_idx)i);
        CHECK_OK(storm_mesh_generator(host->mesh, (storm_cell_idx)i,
                                      &to[3 * i]));
        for (size_t d = 0; d < 3; d++) {
            double by = 0.05 * (double)((tag * 31 + d * 17) % 29) / 29.0;
            to[3 * i + d] += to[3 * i + d] < 0.5 ? by : -by;
        }
    }
    CHECK_OK(storm_mesh_move(host->mesh, to, NULL, &change));
    CHECK_OK(storm_imc_follow(host->imc, change));
    CHECK_OK(storm_remap(host->engine, host->mesh, change, NULL, NULL));
    storm_change_destroy(change);
    free(to);
}

/* ---- files --------------------------------------------------------------- */

static void path_of(const char *scratch, int n_ranks, char *path_out)
{
    snprintf(path_out, CHECK_PATH + 16, "%s/%d", scratch, n_ranks);
}

static char *bytes_of(const char *dir, const char *name, size_t *n_out)
{
    char path[2 * CHECK_PATH], *bytes = malloc(1 << 24);
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL && bytes != NULL);
    *n_out = fread(bytes, 1, 1 << 24, file);
    fclose(file);
    return bytes;
}

static void check_same_bytes(const char *a, const char *b, const char *name)
{
    size_t n[2];
    char *bytes[2] = {bytes_of(a, name, &n[0]), bytes_of(b, name, &n[1])};
    check_where("%s of %s and %s", name, a, b);
    CHECK(n[0] > 0);
    CHECK_EQ(n[0], n[1]);
    CHECK(memcmp(bytes[0], bytes[1], n[0]) == 0);
    free(bytes[0]);
    free(bytes[1]);
}

/* Rows are those of the cells with these tags, in the file of the last dump. On
 * one rank. */
static void check_rows(const struct imc_box *host, const char *dir)
{
    struct io_reader reader;
    struct storm_memory *memory = storm_context_env(host->context)->memory;
    static double volume[POINTS];
    static int64_t tag[POINTS];
    char path[2 * CHECK_PATH];
    CHECK_EQ(io_reader_mesh_step(dir, 0), 0);
    CHECK_EQ(io_reader_mesh_step(dir, STEPS_BEFORE), STEPS_BEFORE);
    CHECK_OK(io_reader_open(memory, dir, STEPS_BEFORE, &reader));
    CHECK_EQ(reader.n_cells, POINTS);
    CHECK_OK(io_reader_values(&reader, reader.mesh_name, "volume", volume));
    io_reader_close(&reader);
    snprintf(path, sizeof path, "%s/mesh-2.h5", dir);
    io_h5_file file = io_h5_open(path);
    CHECK_OK(io_h5_get_rows(file, "tag", IO_H5_INTEGER, 1, 0, POINTS, tag));
    io_h5_close(file);
    for (int i = 0; i < POINTS; i++) {
        struct storm_cell_ref where;
        storm_cell_id id = (storm_cell_id)tag[i];
        CHECK(i == 0 || tag[i] > tag[i - 1]);
        CHECK_OK(storm_mesh_find(host->mesh, 1, &id, &where));
        CHECK_EQ(where.rank, 0);
        CHECK(storm_mesh_volume_cm3(host->mesh, where.idx) == volume[i]);
    }
}

/* Runs of rows, in order, with as many cells as each rank has. */
static void check_partition(const struct imc_box *host, const char *dir,
                            int n_ranks)
{
    struct io_table table;
    struct storm_memory *memory = storm_context_env(host->context)->memory;
    char path[2 * CHECK_PATH], problem[256];
    double next = 0.0, cells[8] = {0.0};
    snprintf(path, sizeof path, "%s/partition.csv", dir);
    CHECK_OK(io_table_read(memory, path, &table, problem, sizeof problem));
    CHECK_EQ(table.n_columns, 3);
    for (size_t i = 0; i < table.n_rows; i++) {
        const double *row = table.values + 3 * i;
        CHECK(row[0] >= 0.0 && row[0] < n_ranks && row[2] > 0.0);
        CHECK(row[1] == next);
        CHECK(i == 0 || row[0] != row[-3]);
        cells[(int)row[0]] += row[2];
        next += row[2];
    }
    CHECK(next == POINTS);
    for (int r = 0; r < n_ranks; r++)
        CHECK(cells[r] == (double)(storm_mesh_first_place(host->mesh, r + 1) -
                                   storm_mesh_first_place(host->mesh, r)));
    CHECK(n_ranks == 1 ? table.n_rows == 1 : table.n_rows > POINTS / 4);
    io_table_free(&table);
}

/* Dumps of a mesh before and after it has moved, and of another mesh; and a
 * checkpoint of the first. */
static uint64_t write_files(MPI_Comm comm, const char *dir)
{
    static double points[3 * POINTS];
    static storm_cell_id tags[POINTS];
    struct storm_voronoi_params params = make_points(comm, 3, points, tags);
    struct io_series series = {.n_points = 0};
    const struct io_bins bins = {.n = 5, .axis = 1, .hi_cm = 1.0};
    struct imc_box host, other;
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    host_open(&host, comm, &params);
    CHECK_EQ(storm_mesh_next_tag(host.mesh), 5000);
    CHECK_OK(storm_context_agree(host.context,
                                 storm_imc_start(host.imc, host.engine)));
    struct io_source source = host_source(&host, dir);
    CHECK_OK(io_write_fields(&source, &series));
    host_disturb(&host);
    imc_box_run(&host, step_s, STEPS_BEFORE - 1);
    host_move(&host);
    imc_box_run(&host, step_s, STEPS_BEFORE);
    source = host_source(&host, dir);
    CHECK_OK(io_write_profile(&source, &bins));
    CHECK_OK(io_write_fields(&source, &series));
    CHECK_EQ(series.mesh_step, STEPS_BEFORE);
    if (rank == 0)
        check_partition(&host, dir, size);
    if (size == 1)
        check_rows(&host, dir);

    struct io_checkpoint_head head = {.step = STEPS_BEFORE,
                                      .n_cells = POINTS,
                                      .n_groups = 1,
                                      .state_hash = imc_box_hash(&host)};
    struct io_checkpoint_mesh mesh = {.source = IO_CHECKPOINT_GENERATORS,
                                      .next_tag = 5000,
                                      .hi_cm = {1, 1, 1}};
    struct storm_stats stats = STORM_STATS_INIT;
    storm_engine_stats(host.engine, &stats);
    head.n_packets = stats.census;
    CHECK_OK(storm_context_reduce(host.context, &head.n_packets, 1,
                                  MPI_UINT64_T, MPI_SUM));
    CHECK_OK(io_checkpoint_write(&source, &series, &head, &mesh));

    params = make_points(comm, 4, points, tags);
    host_open(&other, comm, &params);
    CHECK_OK(storm_context_agree(other.context,
                                 storm_imc_start(other.imc, other.engine)));
    other.step = 3;
    source = host_source(&other, dir);
    CHECK_OK(io_write_fields(&source, &series));
    CHECK_EQ(series.mesh_step, 3);
    other.step = 4;
    source = host_source(&other, dir);
    CHECK_OK(io_write_fields(&source, &series));
    CHECK_EQ(series.mesh_step, 3);
    free(storm_page_end(&series.grids));
    imc_box_close(&other);
    imc_box_run(&host, step_s, STEPS);
    uint64_t hash = imc_box_hash(&host);
    imc_box_close(&host);
    return hash;
}

/* ---- restart ------------------------------------------------------------- */

/* Continues on these ranks what others have written. */
static void check_restart(MPI_Comm comm, const char *dir, uint64_t right)
{
    struct imc_box host, reader;
    struct io_checkpoint c;
    char path[IO_PATH_BYTES];
    static double points[3 * POINTS];
    static storm_cell_id tags[POINTS];
    struct storm_voronoi_params params = make_points(comm, 4, points, tags);
    host_open(&reader, comm, &params); /* another mesh: it does not matter */
    const struct io_source source = host_source(&reader, dir);
    CHECK(io_checkpoint_path(dir, STEPS_BEFORE, path));
    CHECK_OK(io_checkpoint_read(&source, path, &c));
    CHECK_EQ(c.mesh.source, IO_CHECKPOINT_GENERATORS);
    params.points_cm = c.generators;
    params.tags = c.tags;
    params.n_points = c.n_cells;
    params.next_tag = c.mesh.next_tag;
    memcpy(params.hi_cm, c.mesh.hi_cm, sizeof params.hi_cm);
    host_open(&host, comm, &params);
    CHECK_EQ(storm_mesh_next_tag(host.mesh), 5000);
    size_t bytes =
        storm_imc_state_values(c.mesh.state_version) * sizeof(double);
    double *cells = malloc(((size_t)storm_mesh_n_cells(host.mesh) + 1) * bytes);
    CHECK(cells != NULL);
    CHECK_OK(storm_mesh_unrows(host.mesh, bytes, c.cells, cells));
    CHECK_OK(storm_imc_load_state(host.imc, c.mesh.state_version, cells,
                                  c.accounts));
    for (size_t i = 0; i < c.n_packets; i++)
        CHECK_OK(storm_engine_add(host.engine, (const char *)c.packets +
                                                   i * c.record_bytes));
    storm_engine_set_step(host.engine, c.head.step);
    host.step = c.head.step;
    CHECK_EQ(imc_box_hash(&host), c.head.state_hash);
    imc_box_run(&host, step_s, STEPS);
    CHECK_EQ(imc_box_hash(&host), right);
    free(cells);
    io_checkpoint_clear(&c);
    imc_box_close(&host);
    imc_box_close(&reader);
}

/* ---- all ----------------------------------------------------------------- */

static void check_all_files(const char *scratch)
{
    static const char *const names[] = {
        "mesh.h5",     "mesh-2.h5",   "mesh-3.h5",
        "fields-0.h5", "fields-2.h5", "fields-3.h5",
        "fields-4.h5", "fields.xdmf", "profile-2.csv"};
    char first[CHECK_PATH + 16], dir[CHECK_PATH + 16];
    path_of(scratch, sizes[0], first);
    for (int k = 1; k < GROUPS; k++)
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            path_of(scratch, sizes[k], dir);
            check_same_bytes(first, dir, names[i]);
        }
}

/* Writes on each number of ranks, or continues there what another has
 * written. */
static void for_all_sizes(const char *scratch, bool restart, uint64_t *hash)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = 0; k < GROUPS; k++) {
        char dir[CHECK_PATH + 16];
        MPI_Comm comm;
        MPI_Comm_split(MPI_COMM_WORLD, rank < sizes[k] ? 0 : MPI_UNDEFINED,
                       rank, &comm);
        path_of(scratch, sizes[restart ? (k + 1) % GROUPS : k], dir);
        if (rank == 0 && !restart)
            CHECK_EQ(mkdir(dir, 0777), 0);
        MPI_Barrier(MPI_COMM_WORLD);
        if (comm == MPI_COMM_NULL)
            continue;
        if (restart)
            check_restart(comm, dir, hash[0]);
        else
            hash[k] = write_files(comm, dir);
        MPI_Comm_free(&comm);
    }
}

int main(int argc, char **argv)
{
    char scratch[CHECK_PATH], command[2 * CHECK_PATH];
    uint64_t hash[GROUPS] = {0};
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        check_scratch(scratch);
    MPI_Bcast(scratch, sizeof scratch, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank != 0)
        check_scratch_share(scratch);
    for_all_sizes(scratch, false, hash);
    MPI_Bcast(hash, GROUPS, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (int k = 1; k < GROUPS; k++)
        CHECK_EQ(hash[k], hash[0]);
    for_all_sizes(scratch, true, hash);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        check_all_files(scratch);
        snprintf(command, sizeof command, "rm -r %s", scratch);
        CHECK_EQ(system(command), 0);
    }
    MPI_Finalize();
    return CHECK_PASS;
}
