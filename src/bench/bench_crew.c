/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench_crew.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <storm/info.h>

#include "base/env.h"
#include "base/lifeline.h"
#include "bench/bench_measure.h"
#include "engine/engine_internal.h"

/* ---- contexts that differ in some options -------------------------------- */

static storm_status crew_options(const struct storm_options *from,
                                 const struct storm_bench_setting *settings,
                                 size_t n_settings,
                                 struct storm_options **options_out)
{
    struct storm_options *options;
    storm_status status = storm_options_create(&options);
    if (status < 0)
        return status;
    const struct storm_option *row;
    for (size_t i = 0; status >= 0 && (row = storm_option_at(i)) != NULL; i++)
        if (storm_options_is_set(from, row->key))
            status =
                storm_options_set(options, row->key,
                                  storm_options_text(from, row->key), NULL, 0);
    for (size_t i = 0; status >= 0 && i < n_settings; i++)
        status = storm_options_set(options, settings[i].key, settings[i].value,
                                   NULL, 0);
    if (status < 0) {
        storm_options_destroy(options);
        return status;
    }
    *options_out = options;
    return STORM_OK;
}

storm_status storm_bench_own_context(const struct storm_context *from,
                                     MPI_Comm comm,
                                     const struct storm_bench_setting *settings,
                                     size_t n_settings,
                                     struct storm_context **own_out)
{
    struct storm_options *options = NULL;
    const struct storm_log *log = &storm_context_env(from)->log;
    storm_status status = crew_options(storm_context_options(from), settings,
                                       n_settings, &options);
    int mine = status, worst = 0;
    if (MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS)
        worst = STORM_ERR_FABRIC;
    if (worst < 0) {
        storm_options_destroy(options);
        return status < 0 ? status : STORM_ERR_PEER;
    }
    /* Messages of a run would appear once for each of many here. */
    struct storm_context_params params = {
        .size = sizeof params,
        .options = options,
        .log = log->sink,
        .log_self = log->self,
        .log_level = log->level == STORM_LOG_INFO ? STORM_LOG_WARN : log->level,
    };
    status = storm_context_create(comm, &params, own_out);
    storm_options_destroy(options);
    return status;
}

/* ---- crews --------------------------------------------------------------- */

/* CREW-1: storm_context_wait polls some thousand times a second; many ranks
 * that poll on few cores would slow down the crew. */
static storm_status crew_sleep(const struct storm_context *all)
{
    const struct timespec nap = {.tv_nsec = 4000000};
    struct storm_lifeline *lifeline = storm_context_env(all)->lifeline;
    MPI_Request request;
    int done = 0;
    if (MPI_Ibarrier(storm_context_comm(all), &request) != MPI_SUCCESS)
        return STORM_ERR_FABRIC;
    for (;;) {
        if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return STORM_ERR_FABRIC;
        if (done)
            return STORM_OK;
        if (storm_lifeline_check(lifeline) < 0)
            return STORM_ERR_LOST;
        nanosleep(&nap, NULL);
    }
}

static storm_status crew_work(struct storm_context *all, MPI_Comm comm,
                              struct storm_bench_pass *pass,
                              storm_bench_pass_fn body, void *self)
{
    const char *backend = pass->point->backend;
    bool alone = strcmp(backend, "shm") != 0 &&
                 !storm_options_is_set(storm_context_options(all),
                                       "transport.shm"); /* CREW-3 */
    const struct storm_bench_setting settings[] = {
        {"transport.backend", backend},
        {"transport.shm", "false"},
    };
    struct storm_context *own = NULL;
    storm_status status =
        storm_bench_own_context(all, comm, settings, alone ? 2 : 1, &own);
    if (status < 0)
        return status;
    double crowded = storm_context_env(own)->crowded ? 1.0 : 0.0;
    status = body(own, pass, self);
    if (status >= 0)
        status = storm_bench_max(own, &crowded);
    pass->point->oversubscribed = crowded > 0.0;
    storm_context_destroy(own);
    return status;
}

/* Calls `body` on the first ranks; rank 0 is always among them. */
static storm_status crew_run(struct storm_context *all,
                             struct storm_bench_pass *pass,
                             storm_bench_pass_fn body, void *self)
{
    int rank = storm_context_rank(all);
    bool inside = rank < pass->point->ranks;
    MPI_Comm comm = MPI_COMM_NULL;
    if (MPI_Comm_split(storm_context_comm(all), inside ? 0 : MPI_UNDEFINED,
                       rank, &comm) != MPI_SUCCESS)
        return STORM_ERR_FABRIC;
    storm_status status = STORM_OK;
    if (inside)
        status = crew_work(all, comm, pass, body, self);
    if (status == STORM_ERR_LOST)
        return status;
    storm_status woken = crew_sleep(all);
    if (woken < 0)
        return woken;
    if (inside)
        MPI_Comm_free(&comm);
    return storm_context_agree(all, status);
}

/* ---- which backends ------------------------------------------------------ */

bool storm_bench_list_has(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *item = list; item != NULL && *item != '\0';) {
        size_t length = strcspn(item, ",");
        if (length == n && strncmp(item, name, n) == 0)
            return true;
        item += length + (item[length] == ',');
    }
    return list == NULL;
}

/* Logs an error that all ranks have, on rank 0. */
static storm_status crew_wrong(const struct storm_context *context,
                               storm_status status, const char *text)
{
    if (storm_context_rank(context) == 0)
        storm_context_log(context, STORM_LOG_ERROR, "benchmark: %s", text);
    return status;
}

storm_status storm_bench_check_backends(const struct storm_context *context,
                                        const char *list)
{
    for (const char *item = list; item != NULL && *item != '\0';) {
        char name[32], text[64];
        size_t length = strcspn(item, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, item);
        const struct storm_backend *backend = storm_backend_find(name);
        if (length >= sizeof name || backend == NULL || !backend->built) {
            snprintf(text, sizeof text, "no backend '%s' here", name);
            return crew_wrong(context, STORM_ERR_ARG, text);
        }
        item += length + (item[length] == ',');
    }
    return STORM_OK;
}

/* Does it work on all ranks? If not, logs why: as an error if required. */
static storm_status crew_probe(struct storm_context *context, const char *name,
                               bool must)
{
    char reason[256] = "the ranks are on several nodes";
    bool near = strcmp(name, "shm") != 0 || context->env.one_node;
    storm_status mine = near ? storm_backend_probe(name, reason, sizeof reason)
                             : STORM_ERR_NOSUP;
    storm_status status = storm_context_agree(context, mine);
    if (status == STORM_ERR_LOST || status >= 0)
        return status;
    if (storm_context_rank(context) == 0)
        storm_context_log(context, must ? STORM_LOG_ERROR : STORM_LOG_INFO,
                          "backend %s cannot be used: %s", name,
                          mine < 0 ? reason : "not on all ranks");
    return STORM_ERR_NOSUP;
}

storm_status
storm_bench_backends(struct storm_context *context, const char *list,
                     const char *names_out[STORM_BENCH_MAX_BACKENDS],
                     size_t *n_out)
{
    const char *word =
        storm_options_text(storm_context_options(context), "transport.backend");
    if (list == NULL && strcmp(word, "auto") != 0)
        list = word;
    storm_status status = storm_bench_check_backends(context, list);
    size_t n = 0;
    const struct storm_backend *backend;
    for (size_t i = 0; status >= 0 && (backend = storm_backend_at(i)) != NULL;
         i++) {
        if (!backend->built || !storm_bench_list_has(list, backend->name))
            continue;
        if (n == STORM_BENCH_MAX_BACKENDS)
            return crew_wrong(context, STORM_ERR_ARG, "too many backends");
        status = crew_probe(context, backend->name, list != NULL);
        if (status >= 0)
            names_out[n++] = backend->name;
        else if (status == STORM_ERR_NOSUP && list == NULL)
            status = STORM_OK; /* all that work */
    }
    if (status >= 0 && n == 0)
        return crew_wrong(context, STORM_ERR_ARG, "no backend is named");
    *n_out = n;
    return status;
}

static storm_status crew_check_counts(const struct storm_context *context,
                                      const uint32_t *given, size_t n)
{
    char text[128];
    for (size_t i = 0; i < n; i++) {
        if (given[i] == 0 || (i > 0 && given[i] <= given[i - 1]))
            return crew_wrong(context, STORM_ERR_ARG,
                              "numbers of ranks must rise");
        if (given[i] > (uint32_t)storm_context_size(context)) {
            snprintf(text, sizeof text, "%" PRIu32 " ranks: there are only %d",
                     given[i], storm_context_size(context));
            return crew_wrong(context, STORM_ERR_ARG, text);
        }
    }
    return STORM_OK;
}

/* The numbers given, or 1, 2, 4 and so on up to all. */
static storm_status crew_counts(const struct storm_context *context,
                                const struct storm_bench_numbers *given,
                                uint32_t **counts_out, size_t *n_out)
{
    enum { MAX_DOUBLINGS = 33 };
    const uint32_t all = (uint32_t)storm_context_size(context);
    storm_status status = crew_check_counts(context, given->value, given->n);
    if (status < 0)
        return status;
    size_t n = given->n;
    uint32_t *counts =
        storm_bench_alloc(context, n > 0 ? n : MAX_DOUBLINGS, sizeof *counts);
    status = storm_context_agree(context,
                                 counts != NULL ? STORM_OK : STORM_ERR_NOMEM);
    *counts_out = counts;
    if (status < 0)
        return status;
    memcpy(counts, given->value, n * sizeof *counts);
    if (n == 0) {
        for (uint32_t count = 1; count < all; count *= 2)
            counts[n++] = count;
        counts[n++] = all;
    }
    *n_out = n;
    return STORM_OK;
}

/* ---- points -------------------------------------------------------------- */

storm_status storm_bench_points_open(struct storm_context *context,
                                     const struct storm_bench_numbers *ranks,
                                     const char *backends, uint32_t repeat,
                                     struct storm_bench_points *points)
{
    *points = (struct storm_bench_points){.context = context, .repeat = repeat};
    storm_status status =
        crew_counts(context, ranks, &points->ranks, &points->n_ranks);
    if (status >= 0)
        status = storm_bench_backends(context, backends, points->backends,
                                      &points->n_backends);
    if (status < 0)
        return status;
    size_t n = points->n_ranks * points->n_backends;
    points->point = storm_bench_alloc(context, n, sizeof *points->point);
    if (points->point == NULL)
        status = STORM_ERR_NOMEM;
    for (size_t i = 0; status >= 0 && i < n; i++) {
        struct storm_bench_point *point = &points->point[points->n++];
        point->ranks = (int)points->ranks[i / points->n_backends];
        point->backend = points->backends[i % points->n_backends];
        point->seconds =
            storm_bench_alloc(context, repeat, sizeof *point->seconds);
        if (point->seconds == NULL)
            status = STORM_ERR_NOMEM;
    }
    return storm_context_agree(context, status);
}

void storm_bench_points_close(struct storm_bench_points *points)
{
    for (size_t i = 0; i < points->n; i++)
        storm_bench_free(points->context, points->point[i].seconds);
    storm_bench_free(points->context, points->point);
    storm_bench_free(points->context, points->ranks);
}

static storm_status crew_compare(const struct storm_bench_points *points,
                                 const struct storm_bench_pass *pass,
                                 const struct storm_bench_point *other,
                                 bool over_ranks)
{
    const struct storm_run_summary *a = &pass->summary, *b = &other->best;
    bool as_many = pass->point->ranks == other->ranks;
    bool same = a->state_hash == b->state_hash &&
                (over_ranks || a->timed.events == b->timed.events);
    if (same || b->ranks == 0 || !(over_ranks || as_many))
        return STORM_OK;
    storm_context_log(points->context, STORM_LOG_ERROR,
                      "wrong result: %d ranks with backend %s made %" PRIu64
                      " steps to state %016" PRIx64
                      ", but %d with %s made %" PRIu64 " to %016" PRIx64,
                      pass->point->ranks, pass->point->backend, a->timed.events,
                      a->state_hash, other->ranks, other->backend,
                      b->timed.events, b->state_hash);
    return STORM_ERR_STATE;
}

/* On rank 0: compares with all points so far, and stores the best. */
static storm_status crew_store(struct storm_bench_points *points,
                               const struct storm_bench_pass *pass,
                               uint32_t repeat, bool over_ranks)
{
    struct storm_bench_point *point = pass->point;
    storm_status status = STORM_OK;
    for (size_t i = 0; status >= 0 && i < points->n; i++)
        status = crew_compare(points, pass, &points->point[i], over_ranks);
    point->seconds[repeat] = pass->summary.seconds;
    point->kernel_rate = fmax(point->kernel_rate, pass->kernel_rate);
    if (repeat == 0 || pass->summary.seconds < point->best.seconds)
        point->best = pass->summary;
    return status;
}

/* Repeat by repeat of each number of ranks; other backends come first then. */
static struct storm_bench_pass
crew_pass(const struct storm_bench_points *points, size_t i_pass,
          uint32_t *repeat_out)
{
    const size_t n = points->n_backends, n_passes = points->n * points->repeat;
    const size_t i_round = i_pass / n;
    uint32_t repeat = (uint32_t)(i_round % points->repeat);
    size_t i_backend = (i_pass + repeat) % n;
    struct storm_bench_point *point =
        &points->point[i_round / points->repeat * n + i_backend];
    struct storm_bench_pass pass = {
        .point = point,
        .done = (double)i_pass / (double)n_passes,
        .share = 1.0 / (double)n_passes,
    };
    snprintf(pass.what, sizeof pass.what, "%d rank%s, %s, ", point->ranks,
             point->ranks == 1 ? "" : "s", point->backend);
    *repeat_out = repeat;
    return pass;
}

storm_status storm_bench_points_run(struct storm_bench_points *points,
                                    bool over_ranks, storm_bench_pass_fn body,
                                    void *self)
{
    storm_status status = STORM_OK;
    for (size_t i = 0; status >= 0 && i < points->n * points->repeat; i++) {
        uint32_t repeat;
        struct storm_bench_pass pass = crew_pass(points, i, &repeat);
        status = crew_run(points->context, &pass, body, self);
        if (status >= 0 && storm_context_rank(points->context) == 0)
            status = crew_store(points, &pass, repeat, over_ranks);
        if (status != STORM_ERR_LOST)
            status = storm_context_agree(points->context, status);
    }
    return status;
}

struct storm_run_summary
storm_bench_points_sum(const struct storm_bench_points *points)
{
    struct storm_run_summary sum = {.protocol = "all"};
    for (size_t i = 0; i < points->n; i++)
        storm_run_summary_add(&sum, &points->point[i].best);
    return sum;
}

bool storm_bench_points_crowded(const struct storm_bench_points *points)
{
    for (size_t i = 0; i < points->n; i++)
        if (points->point[i].oversubscribed)
            return true;
    return false;
}
