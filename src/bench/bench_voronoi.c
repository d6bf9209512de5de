/* SPDX-License-Identifier: BSD-3-Clause */
/* Speed of building Voronoi meshes, on all ranks and on one, and their
 * quality. */
#include "bench/bench_voronoi.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "bench/bench.h"
#include <storm/context.h>
#include <storm/io.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/math.h"
#include "bench/bench_crew.h"
#include "bench/bench_measure.h"
#include "mesh/voronoi/voronoi_mesh.h"
#include "run/run_points.h"
#include "run/run_summary.h"

/* Max errors of a mesh. */
static const double voronoi_max_error = 1e-12;

/* Timeout of one build by voro++. */
static const double voronoi_voropp_limit_s = 60.0;

const char *storm_bench_points_name(storm_points_kind kind)
{
    return kind == STORM_POINTS_CLUSTERED ? "clustered"
           : kind == STORM_POINTS_LATTICE ? "lattice"
                                          : "uniform";
}

/* ---- quality ------------------------------------------------------------- */

struct voronoi_quality {
    double volume_error, closure_error;
    double faces_per_cell, bytes_per_cell, peak_bytes_per_cell;
    double ghost_ratio, build_ratio;
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
static uint64_t voronoi_inspect(const struct storm_mesh *mesh,
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
        struct storm_face face = STORM_FACE_INIT;
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

/* The cube has volume 1. `bytes` are booked for the mesh; the context has
 * made nothing but such meshes, so its peak is that of a build. Collective. */
static storm_status voronoi_judge(struct storm_context *context,
                                  const struct storm_mesh *mesh,
                                  const struct storm_memory_entry *bytes,
                                  struct voronoi_quality *q)
{
    const struct voronoi_cost *cost = &voronoi_part_of(mesh)->cost;
    struct voronoi_sum volume = {0};
    uint64_t counts[6] = {0, cost->n_ghosts, cost->n_builds,
                          0, bytes->bytes,   bytes->peak_bytes};
    double n = (double)storm_mesh_n_cells_total(mesh);
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(mesh); i++) {
        voronoi_sum_add(&volume, storm_mesh_volume_cm3(mesh, i));
        counts[3] += voronoi_inspect(mesh, i, &counts[0], &q->closure_error);
    }
    double sum = volume.sum, rest = volume.rest;
    storm_status status = storm_bench_sum(context, &sum);
    if (status >= 0)
        status = storm_bench_sum(context, &rest);
    if (status >= 0)
        status = storm_bench_max(context, &q->closure_error);
    if (status >= 0)
        status = storm_bench_sum_uint(context, counts, 6);
    q->volume_error = fabs((sum - 1.0) + rest);
    q->faces_per_cell = (double)counts[0] / n;
    q->ghost_ratio = (double)counts[1] / n;
    q->build_ratio = (double)counts[2] / n;
    q->bytes_per_cell = (double)counts[4] / n;
    q->peak_bytes_per_cell = (double)counts[5] / n;
    q->rounds = cost->n_rounds;
    q->hash = storm_hash_word(counts[3]);
    return status;
}

/* ---- time ---------------------------------------------------------------- */

/* Of the builds by some ranks. */
struct voronoi_times {
    double seconds;     /* on the slowest rank; the median */
    double cpu_seconds; /* of all ranks; min over repeats */
};

struct voronoi_bench {
    struct storm_context *context;
    struct storm_bench_voronoi_params params;
    struct storm_points_params set;
    struct storm_run_summary summary;
    struct voronoi_quality quality;
    struct voronoi_times all, alone;
    double voropp_seconds; /* min over repeats; 0: not known */
};

/* Bytes that a context holds in addition to `before`. */
static struct storm_memory_entry
voronoi_bytes(struct storm_context *context,
              const struct storm_memory_entry *before)
{
    struct storm_memory_entry entry = {.size = sizeof entry, .bytes = 0};
    if (storm_context_memory(context, 0, &entry) == STORM_OK) {
        entry.bytes -= before->bytes;
        entry.peak_bytes -= before->bytes;
    }
    return entry;
}

/* A set of points to build meshes of. */
struct voronoi_job {
    struct storm_context *context; /* ranks that build */
    struct storm_voronoi_params params;
    struct voronoi_quality *quality; /* NULL: not wanted */
};

/* Builds the mesh and times it; checks its quality if asked for. */
static storm_status voronoi_build_once(const struct voronoi_job *job,
                                       struct voronoi_quality *quality,
                                       struct voronoi_times *times_out)
{
    const struct storm_memory_entry nothing = {.size = sizeof nothing,
                                               .bytes = 0};
    struct storm_context *context = job->context;
    struct storm_memory_entry bytes = voronoi_bytes(context, &nothing);
    struct storm_mesh *mesh = NULL;
    storm_status status = storm_bench_barrier(context);
    double cpu = storm_clock_cpu_seconds(), start = storm_clock_seconds();
    if (status >= 0)
        status = storm_mesh_create_voronoi(context, &job->params, &mesh);
    times_out->seconds = storm_clock_seconds() - start;
    times_out->cpu_seconds = storm_clock_cpu_seconds() - cpu;
    if (status >= 0)
        status = storm_bench_max(context, &times_out->seconds);
    if (status >= 0)
        status = storm_bench_sum(context, &times_out->cpu_seconds);
    bytes = voronoi_bytes(context, &bytes);
    if (status >= 0 && quality != NULL)
        status = voronoi_judge(context, mesh, &bytes, quality);
    storm_mesh_destroy(mesh);
    return status;
}

/* The same points by voro++, unless that has failed before. */
static void voronoi_voropp(struct voronoi_bench *b,
                           const struct voronoi_job *job)
{
    double seconds;
    if (b->params.voropp == NULL)
        return;
    if (!b->params.voropp(job->params.n_points, job->params.points_cm,
                          voronoi_voropp_limit_s, &seconds)) {
        b->params.voropp = NULL;
        b->voropp_seconds = 0.0;
        return;
    }
    if (b->voropp_seconds == 0.0 || seconds < b->voropp_seconds)
        b->voropp_seconds = seconds;
}

/* Several builds, in turns with voro++ if by one rank. Collective over the
 * context of the job. */
static storm_status voronoi_repeat(struct voronoi_bench *b,
                                   const struct voronoi_job *job,
                                   double *seconds,
                                   struct voronoi_times *times_out)
{
    uint32_t n = b->params.repeat;
    bool is_first = job->quality != NULL;
    for (uint32_t i = 0; i < n; i++) {
        struct voronoi_times times;
        storm_progress_report(b->context, &b->params.progress,
                              (is_first ? 0.0 : 0.5) + 0.5 * i / n,
                              "build %" PRIu32 " of %" PRIu32, i + 1, n);
        storm_status status =
            voronoi_build_once(job, i + 1 == n ? job->quality : NULL, &times);
        if (status < 0)
            return status;
        seconds[i] = times.seconds;
        if (i == 0 || times.cpu_seconds < times_out->cpu_seconds)
            times_out->cpu_seconds = times.cpu_seconds;
        if (storm_context_size(job->context) == 1)
            voronoi_voropp(b, job);
    }
    times_out->seconds = storm_bench_median(seconds, n);
    return STORM_OK;
}

/* The same with points. Collective over the context given. */
static storm_status voronoi_time(struct voronoi_bench *b,
                                 struct storm_context *context,
                                 struct voronoi_quality *quality,
                                 struct voronoi_times *times_out)
{
    struct voronoi_job job = {
        .context = context,
        .params = {.size = sizeof job.params, .hi_cm = {1.0, 1.0, 1.0}},
        .quality = quality};
    double *points = NULL;
    double *seconds =
        storm_bench_alloc(context, b->params.repeat, sizeof *seconds);
    storm_status status =
        storm_context_agree(context,
                            seconds != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status >= 0)
        status =
            run_points_share(context, &b->set, &points, &job.params.n_points);
    job.params.points_cm = points;
    if (status >= 0)
        status = voronoi_repeat(b, &job, seconds, times_out);
    storm_points_free(context, points);
    storm_bench_free(context, seconds);
    return status;
}

/* The same by rank 0 alone, while the others wait. Collective. */
static storm_status voronoi_serial(struct voronoi_bench *b)
{
    struct storm_context *alone = NULL;
    storm_status status = STORM_OK;
    if (storm_context_size(b->context) == 1) {
        b->alone = b->all;
        return STORM_OK;
    }
    if (storm_context_rank(b->context) == 0) {
        status =
            storm_bench_own_context(b->context, MPI_COMM_SELF, NULL, 0, &alone);
        if (status >= 0)
            status = voronoi_time(b, alone, NULL, &b->alone);
        storm_context_destroy(alone);
    }
    storm_status waited = storm_bench_barrier(b->context);
    return storm_context_agree(b->context, status < 0 ? status : waited);
}

/* ---- report -------------------------------------------------------------- */

/* How much faster than voro++, by one rank. */
static double voronoi_against_voropp(const struct voronoi_bench *b)
{
    return b->voropp_seconds / b->alone.cpu_seconds;
}

/* CPU time of all ranks, ghosts and waiting included, over that of one. */
static double voronoi_parallel_cost(const struct voronoi_bench *b)
{
    return b->all.cpu_seconds / b->alone.cpu_seconds;
}

static void voronoi_json_voropp(struct storm_json *json,
                                const struct voronoi_bench *b)
{
    if (b->voropp_seconds == 0.0) {
        storm_json_null(json, "voropp_cells_per_second");
        storm_json_null(json, "voropp_ratio");
        return;
    }
    storm_json_real(json, "voropp_cells_per_second",
                    (double)b->summary.cells / b->voropp_seconds);
    storm_json_real(json, "voropp_ratio", voronoi_against_voropp(b));
}

static char *voronoi_json(const struct voronoi_bench *b)
{
    const struct voronoi_quality *q = &b->quality;
    double n = (double)b->summary.cells;
    struct storm_json json;
    storm_bench_json_begin(&json, "voronoi", &b->summary);
    storm_json_text(&json, "distribution",
                    storm_bench_points_name(b->set.kind));
    storm_json_uint(&json, "repeat", b->params.repeat);
    storm_json_uint(&json, "seed", b->set.seed);
    storm_json_real(&json, "cells_per_second", n / b->all.seconds);
    storm_json_real(&json, "serial_cells_per_second", n / b->alone.seconds);
    storm_json_real(&json, "limit_ratio",
                    b->alone.seconds / (b->summary.ranks * b->all.seconds));
    storm_json_text(&json, "limit_is",
                    "the serial build, as fast as there are ranks");
    storm_json_real(&json, "serial_cells_per_cpu_second",
                    n / b->alone.cpu_seconds);
    storm_json_real(&json, "parallel_cost", voronoi_parallel_cost(b));
    storm_json_real(&json, "bytes_per_cell", q->bytes_per_cell);
    storm_json_real(&json, "peak_bytes_per_cell", q->peak_bytes_per_cell);
    storm_json_real(&json, "faces_per_cell", q->faces_per_cell);
    storm_json_real(&json, "volume_error", q->volume_error);
    storm_json_real(&json, "closure_error", q->closure_error);
    storm_json_hash(&json, "geometry_hash", q->hash);
    storm_json_real(&json, "ghost_ratio", q->ghost_ratio);
    storm_json_real(&json, "builds_per_cell", q->build_ratio);
    storm_json_uint(&json, "rounds", q->rounds);
    voronoi_json_voropp(&json, b);
    return storm_bench_json_end(&json);
}

/* The nearest whole number, such as 12,345. */
static char *voronoi_whole(double value, char buffer[STORM_GROUPED_BYTES])
{
    return storm_page_grouped((uint64_t)fmin(round(value), 0x1p63), buffer);
}

static char *voronoi_table(const struct voronoi_bench *b)
{
    const struct voronoi_quality *q = &b->quality;
    struct storm_page page = {0};
    char number[STORM_GROUPED_BYTES], other[STORM_GROUPED_BYTES];
    double n = (double)b->summary.cells;
    storm_page_add(&page, "Voronoi cells of %s %s points in a cube\n\n",
                   storm_page_grouped(b->summary.cells, number),
                   storm_bench_points_name(b->set.kind));
    storm_page_add(&page,
                   "  speed     %s cells per second by %d ranks, %s by one\n"
                   "  ranks     use %.2f times the CPU time of one\n",
                   voronoi_whole(n / b->all.seconds, number), b->summary.ranks,
                   voronoi_whole(n / b->alone.seconds, other),
                   voronoi_parallel_cost(b));
    if (b->voropp_seconds > 0.0)
        storm_page_add(&page,
                       "  voro++    %s cells per second; one rank is %.2f "
                       "times as fast\n",
                       voronoi_whole(n / b->voropp_seconds, number),
                       voronoi_against_voropp(b));
    storm_page_add(&page,
                   "  ghosts    %.3f per cell, in %" PRIu64
                   " rounds; %.3f builds per cell\n"
                   "  memory    %s bytes per cell, %s while it is built; "
                   "%.2f faces\n",
                   q->ghost_ratio, q->rounds, q->build_ratio,
                   voronoi_whole(q->bytes_per_cell, number),
                   voronoi_whole(q->peak_bytes_per_cell, other),
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
    storm_status status = voronoi_time(b, b->context, &b->quality, &b->all);
    if (status >= 0)
        status = voronoi_serial(b);
    if (status < 0)
        return status;
    b->summary.title = "Voronoi build";
    b->summary.backend = b->summary.protocol = "none";
    b->summary.cycles = b->params.repeat;
    b->summary.cells = b->set.n_total;
    b->summary.seconds = b->all.seconds;
    b->summary.state_hash = b->quality.hash;
    status = storm_run_summary_reduce(b->context, NULL, &b->summary);
    if (status < 0)
        return status;
    if (b->quality.volume_error <= voronoi_max_error &&
        b->quality.closure_error <= voronoi_max_error)
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
                    struct storm_run_report **report_out)
{
    struct voronoi_bench b = {.context = context, .params = *params};
    char *parts[STORM_RUN_N_PARTS] = {NULL};
    if (b.params.cells == 0)
        b.params.cells = 100000;
    if (b.params.repeat == 0)
        b.params.repeat = 3;
    b.set = (struct storm_points_params){
        .size = sizeof(struct storm_points_params),
        .kind = b.params.points,
        .seed =
            (uint64_t)storm_options_int(storm_context_options(context), "seed"),
        .n_total = b.params.cells,
        .hi_cm = {1.0, 1.0, 1.0}};
    if (b.set.kind == STORM_POINTS_LATTICE) {
        uint64_t side =
            (uint64_t)fmax(rint(storm_cbrt((double)b.params.cells)), 1.0);
        b.set.n_total = side * side * side;
    }
    storm_status status = voronoi_measure(&b);
    if (status >= 0 && storm_context_rank(context) == 0) {
        parts[STORM_RUN_JSON] = voronoi_json(&b);
        parts[STORM_RUN_TABLE] = voronoi_table(&b);
    }
    return storm_run_report_make(context, status, parts, report_out);
}
