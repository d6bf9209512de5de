/* SPDX-License-Identifier: BSD-3-Clause */
/* How fast Voronoi meshes are built, by all ranks together and by one alone,
 * and how good they are. */
#include "run/bench_voronoi.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <storm/bench.h>
#include <storm/context.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/hash.h"
#include "mesh/voronoi/voronoi_mesh.h"
#include "run/bench_report.h"

/* What may be wrong with a mesh before the benchmark calls it wrong. */
static const double voronoi_most_error = 1e-12;

storm_status
storm_bench_voronoi_mesh(struct storm_context *context,
                         const struct storm_points_params *set,
                         const struct storm_voronoi_params *voronoi,
                         struct storm_mesh **mesh_out)
{
    uint64_t rank = (uint64_t)storm_context_rank(context);
    uint64_t size = (uint64_t)storm_context_size(context);
    uint64_t first = set->n_total / size * rank;
    uint64_t end =
        rank + 1 < size ? set->n_total / size * (rank + 1) : set->n_total;
    struct storm_voronoi_params params = *voronoi;
    double *points = malloc(((size_t)(end - first) + 1) * 3 * sizeof *points);
    storm_status status =
        points != NULL ? storm_points_make(set, first, end - first, points)
                       : STORM_ERR_NOMEM;
    status = storm_context_agree(context, status);
    params.points_cm = points;
    params.n_points = end - first;
    if (status >= 0)
        status = storm_mesh_create_voronoi(context, &params, mesh_out);
    free(points);
    return status;
}

const char *storm_bench_points_name(storm_points_kind kind)
{
    return kind == STORM_POINTS_CLUSTERED ? "clustered"
           : kind == STORM_POINTS_LATTICE ? "lattice"
                                          : "uniform";
}

/* ---- quality ------------------------------------------------------------- */

struct voronoi_quality {
    double volume_error, closure_error;
    double faces_per_cell, bytes_per_cell, ghost_ratio, build_ratio;
    uint64_t rounds, hash;
};

/* A sum with the rounding errors added up as well. */
struct voronoi_sum {
    double sum, rest;
};

static void voronoi_sum_add(struct voronoi_sum *s, double x)
{
    double sum = s->sum + x, part = sum - s->sum;
    s->rest += (s->sum - (sum - part)) + (x - part);
    s->sum = sum;
}

/* One cell: its hash; adds to the number of faces and the worst closure. */
static uint64_t voronoi_look_at(const struct storm_mesh *mesh,
                                storm_cell_idx cell, uint64_t *n_faces,
                                double *worst)
{
    double closure[3] = {0.0}, surface = 0.0, centre[3];
    uint64_t hash = storm_hash_fold(0, storm_mesh_cell_id(mesh, cell));
    hash = storm_hash_fold_real(hash, storm_mesh_volume_cm3(mesh, cell));
    storm_mesh_centre(mesh, cell, centre);
    for (int d = 0; d < 3; d++)
        hash = storm_hash_fold_real(hash, centre[d]);
    int n = storm_mesh_n_faces(mesh, cell);
    for (int k = 0; k < n; k++) {
        struct storm_face face;
        storm_mesh_face(mesh, cell, k, &face);
        hash = storm_hash_fold_real(hash, face.area_cm2);
        hash = storm_hash_fold(hash, (uint64_t)face.wall);
        surface += face.area_cm2;
        for (int d = 0; d < 3; d++) {
            hash = storm_hash_fold_real(hash, face.normal[d]);
            closure[d] += face.area_cm2 * face.normal[d];
        }
    }
    *n_faces += (uint64_t)n;
    for (int d = 0; d < 3; d++)
        *worst = fmax(*worst, fabs(closure[d]) / surface);
    return hash;
}

/* The cube has volume 1. Collective. */
static storm_status voronoi_judge(struct storm_context *context,
                                  const struct storm_mesh *mesh, size_t bytes,
                                  struct voronoi_quality *q)
{
    const struct voronoi_cost *cost = &voronoi_part_of(mesh)->cost;
    struct voronoi_sum volume = {0};
    uint64_t counts[5] = {0, cost->n_ghosts, cost->n_builds, 0, bytes};
    double n = (double)storm_mesh_n_cells_total(mesh);
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++) {
        voronoi_sum_add(&volume, storm_mesh_volume_cm3(mesh, i));
        counts[3] += voronoi_look_at(mesh, i, &counts[0], &q->closure_error);
    }
    double sum = volume.sum, rest = volume.rest;
    storm_status status = storm_bench_sum(context, &sum);
    if (status >= 0)
        status = storm_bench_sum(context, &rest);
    if (status >= 0)
        status = storm_bench_max(context, &q->closure_error);
    if (status >= 0)
        status = storm_bench_sum_uint(context, counts, 5);
    q->volume_error = fabs((sum - 1.0) + rest);
    q->faces_per_cell = (double)counts[0] / n;
    q->ghost_ratio = (double)counts[1] / n;
    q->build_ratio = (double)counts[2] / n;
    q->bytes_per_cell = (double)counts[4] / n;
    q->rounds = cost->n_rounds;
    q->hash = storm_hash_word(counts[3]);
    return status;
}

/* ---- time ---------------------------------------------------------------- */

struct voronoi_bench {
    struct storm_context *context;
    struct storm_bench_voronoi_params params;
    struct storm_points_params set;
    struct storm_bench_summary summary;
    struct voronoi_quality quality;
    double seconds, serial_seconds;
};

static size_t voronoi_bytes(struct storm_context *context)
{
    struct storm_memory_entry entry = {.bytes = 0};
    if (storm_context_memory(context, 0, &entry) != STORM_OK)
        return 0;
    return entry.bytes;
}

/* Builds the mesh and says how long it took on the slowest rank. The last one
 * is judged, unless quality is NULL. */
static storm_status voronoi_build_once(struct voronoi_bench *b,
                                       struct storm_context *context,
                                       struct voronoi_quality *quality,
                                       double *seconds_out)
{
    struct storm_voronoi_params voronoi = {.hi_cm = {1.0, 1.0, 1.0}};
    struct storm_mesh *mesh = NULL;
    size_t before = voronoi_bytes(context);
    storm_status status = storm_bench_barrier(context);
    double start = storm_clock_seconds();
    if (status >= 0)
        status = storm_bench_voronoi_mesh(context, &b->set, &voronoi, &mesh);
    *seconds_out = storm_clock_seconds() - start;
    if (status >= 0)
        status = storm_bench_max(context, seconds_out);
    if (status >= 0 && quality != NULL)
        status = voronoi_judge(context, mesh, voronoi_bytes(context) - before,
                               quality);
    storm_mesh_destroy(mesh);
    return status;
}

/* The median of several builds. Collective over the context given. */
static storm_status voronoi_time(struct voronoi_bench *b,
                                 struct storm_context *context,
                                 struct voronoi_quality *quality,
                                 double *median_out)
{
    uint32_t n = b->params.repeat;
    double *seconds = calloc(n, sizeof *seconds);
    storm_status status =
        storm_context_agree(context,
                            seconds != NULL ? STORM_OK : STORM_ERR_NOMEM);
    for (uint32_t i = 0; i < n && status >= 0; i++) {
        storm_bench_tell(b->context, &b->params.progress,
                         (quality != NULL ? 0.0 : 0.5) + 0.5 * i / n,
                         "build %" PRIu32 " of %" PRIu32, i + 1, n);
        status = voronoi_build_once(b, context, i + 1 == n ? quality : NULL,
                                    &seconds[i]);
    }
    if (status >= 0)
        *median_out = storm_bench_median(seconds, n);
    free(seconds);
    return status;
}

/* The same by rank 0 alone, while the others wait. Collective. */
static storm_status voronoi_serial(struct voronoi_bench *b)
{
    struct storm_context *alone = NULL;
    const struct storm_log *log = &storm_context_env(b->context)->log;
    struct storm_context_params params = {.options =
                                              storm_context_options(b->context),
                                          .log = log->sink,
                                          .log_self = log->self,
                                          .log_level = log->level};
    storm_status status = STORM_OK;
    if (storm_context_size(b->context) == 1) {
        b->serial_seconds = b->seconds;
        return STORM_OK;
    }
    if (storm_context_rank(b->context) == 0) {
        status = storm_context_create(MPI_COMM_SELF, &params, &alone);
        if (status >= 0)
            status = voronoi_time(b, alone, NULL, &b->serial_seconds);
        storm_context_destroy(alone);
    }
    storm_status waited = storm_bench_barrier(b->context);
    status = storm_context_agree(b->context, status < 0 ? status : waited);
    if (status >= 0) /* zero elsewhere */
        status = storm_bench_max(b->context, &b->serial_seconds);
    return status;
}

/* ---- report -------------------------------------------------------------- */

/* What the ranks spent together, relative to one alone. */
static double voronoi_overhead(const struct voronoi_bench *b)
{
    return b->summary.ranks * b->seconds / b->serial_seconds;
}

static char *voronoi_json(const struct voronoi_bench *b)
{
    const struct voronoi_quality *q = &b->quality;
    double n = (double)b->summary.cells;
    char hash[17];
    struct storm_json json;
    snprintf(hash, sizeof hash, "%016" PRIx64, q->hash);
    storm_json_begin(&json, true);
    storm_json_open(&json, NULL, '{');
    storm_json_text(&json, "benchmark", "voronoi");
    storm_bench_summary_json(&json, &b->summary);
    storm_json_text(&json, "distribution",
                    storm_bench_points_name(b->set.kind));
    storm_json_uint(&json, "repeat", b->params.repeat);
    storm_json_uint(&json, "seed", b->set.seed);
    storm_json_real(&json, "cells_per_second", n / b->seconds);
    storm_json_real(&json, "serial_cells_per_second", n / b->serial_seconds);
    storm_json_real(&json, "limit_ratio", 1.0 / voronoi_overhead(b));
    storm_json_text(&json, "limit_is",
                    "the serial build, as fast as there are ranks");
    storm_json_real(&json, "bytes_per_cell", q->bytes_per_cell);
    storm_json_real(&json, "faces_per_cell", q->faces_per_cell);
    storm_json_real(&json, "volume_error", q->volume_error);
    storm_json_real(&json, "closure_error", q->closure_error);
    storm_json_text(&json, "geometry_hash", hash);
    storm_json_real(&json, "ghost_ratio", q->ghost_ratio);
    storm_json_real(&json, "builds_per_cell", q->build_ratio);
    storm_json_uint(&json, "rounds", q->rounds);
    /* measured by tests/mesh/voronoi_voropp: voro++ is C++ */
    storm_json_null(&json, "voropp_cells_per_second");
    storm_json_null(&json, "voropp_ratio");
    storm_json_close(&json, '}');
    return storm_json_end(&json);
}

static char *voronoi_table(const struct voronoi_bench *b)
{
    const struct voronoi_quality *q = &b->quality;
    struct storm_page page = {0};
    char number[STORM_GROUPED_BYTES];
    double n = (double)b->summary.cells;
    storm_page_add(&page, "Voronoi cells of %s %s points in a cube\n\n",
                   storm_page_grouped(b->summary.cells, number),
                   storm_bench_points_name(b->set.kind));
    storm_page_add(
        &page,
        "  speed     %.0f cells per second by %d ranks, %.0f by one\n"
        "  ranks     spend %.2f times what one alone does\n",
        n / b->seconds, b->summary.ranks, n / b->serial_seconds,
        voronoi_overhead(b));
    storm_page_add(&page,
                   "  ghosts    %.3f per cell, in %" PRIu64
                   " rounds; %.3f builds per cell\n"
                   "  memory    %.0f bytes per cell, %.2f faces\n",
                   q->ghost_ratio, q->rounds, q->build_ratio, q->bytes_per_cell,
                   q->faces_per_cell);
    storm_page_add(&page,
                   "  volumes   add up to %.1e, cells are closed to %.1e\n"
                   "  hash      %016" PRIx64
                   " (the same on any number of ranks)\n",
                   q->volume_error, q->closure_error, q->hash);
    return storm_page_end(&page);
}

static storm_status voronoi_measure(struct voronoi_bench *b)
{
    storm_status status = voronoi_time(b, b->context, &b->quality, &b->seconds);
    if (status >= 0)
        status = voronoi_serial(b);
    if (status < 0)
        return status;
    b->summary.title = "Voronoi build";
    b->summary.backend = b->summary.protocol = "none";
    b->summary.cycles = b->params.repeat;
    b->summary.cells = b->set.n_total;
    b->summary.seconds = b->seconds;
    b->summary.state_hash = b->quality.hash;
    status = storm_bench_summary_reduce(b->context, NULL, &b->summary);
    if (status < 0)
        return status;
    if (b->quality.volume_error <= voronoi_most_error &&
        b->quality.closure_error <= voronoi_most_error)
        return STORM_OK;
    if (storm_context_rank(b->context) == 0)
        storm_context_log(b->context, STORM_LOG_ERROR,
                          "wrong result: volumes off by %.3g, closure by %.3g",
                          b->quality.volume_error, b->quality.closure_error);
    return STORM_ERR_STATE;
}

storm_status
storm_bench_voronoi(struct storm_context *context,
                    const struct storm_bench_voronoi_params *params,
                    struct storm_bench_report **report_out)
{
    struct voronoi_bench b = {.context = context, .params = *params};
    char *parts[STORM_BENCH_N_PARTS] = {NULL};
    if (b.params.cells == 0)
        b.params.cells = 100000;
    if (b.params.repeat == 0)
        b.params.repeat = 3;
    b.set = (struct storm_points_params){
        .kind = b.params.points,
        .seed =
            (uint64_t)storm_options_int(storm_context_options(context), "seed"),
        .n_total = b.params.cells,
        .hi_cm = {1.0, 1.0, 1.0}};
    if (b.set.kind == STORM_POINTS_LATTICE) {
        uint64_t side = (uint64_t)fmax(rint(cbrt((double)b.params.cells)), 1.0);
        b.set.n_total = side * side * side;
    }
    storm_status status = voronoi_measure(&b);
    if (status >= 0 && storm_context_rank(context) == 0) {
        parts[STORM_BENCH_JSON] = voronoi_json(&b);
        parts[STORM_BENCH_TABLE] = voronoi_table(&b);
    }
    return storm_bench_finish(context, status, parts, report_out);
}
