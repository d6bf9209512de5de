/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench_crew.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <storm/info.h>

#include "base/env.h"
#include "base/lifeline.h"
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
    /* What is worth a line for a run would be one for each of many here. */
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

/* P1: storm_context_wait looks some thousand times a second, which many
 * sleepers on few cores would be felt by those at work. */
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
                              const struct storm_bench_crew *crew,
                              storm_bench_crew_fn body, void *self)
{
    bool alone = strcmp(crew->backend, "shm") != 0 &&
                 !storm_options_is_set(storm_context_options(all),
                                       "transport.shm"); /* P3 */
    const struct storm_bench_setting settings[] = {
        {"transport.backend", crew->backend},
        {"transport.shm", "false"},
    };
    struct storm_context *own = NULL;
    storm_status status =
        storm_bench_own_context(all, comm, settings, alone ? 2 : 1, &own);
    if (status < 0)
        return status;
    status = body(own, self);
    storm_context_destroy(own);
    return status;
}

storm_status storm_bench_crew_run(struct storm_context *all,
                                  const struct storm_bench_crew *crew,
                                  storm_bench_crew_fn body, void *self)
{
    int rank = storm_context_rank(all);
    bool inside = rank < crew->ranks;
    MPI_Comm comm = MPI_COMM_NULL;
    if (MPI_Comm_split(storm_context_comm(all), inside ? 0 : MPI_UNDEFINED,
                       rank, &comm) != MPI_SUCCESS)
        return STORM_ERR_FABRIC;
    storm_status status = STORM_OK;
    if (inside)
        status = crew_work(all, comm, crew, body, self);
    if (status == STORM_ERR_LOST)
        return status;
    storm_status woken = crew_sleep(all);
    if (woken < 0)
        return woken;
    if (inside)
        MPI_Comm_free(&comm);
    return storm_context_agree(all, status);
}

/* ---- which crews -------------------------------------------------------- */

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

/* An error that all ranks know, said by one. */
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

/* Does it work on all ranks? If not, says why: as an error if it must. */
static storm_status crew_probe(struct storm_context *context, const char *name,
                               bool must)
{
    char reason[256] = "the ranks are on several nodes";
    bool near = strcmp(name, "shm") != 0 || context->one_node;
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
                     const char *names_out[STORM_BENCH_MOST_BACKENDS],
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
        if (n == STORM_BENCH_MOST_BACKENDS)
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

storm_status storm_bench_rank_counts(const struct storm_context *context,
                                     const uint32_t *given, size_t n_given,
                                     uint32_t **counts_out, size_t *n_out)
{
    enum { MOST_DOUBLINGS = 33 };
    const uint32_t all = (uint32_t)storm_context_size(context);
    storm_status status = crew_check_counts(context, given, n_given);
    if (status < 0)
        return status;
    size_t most = n_given > 0 ? n_given : MOST_DOUBLINGS, n = n_given;
    uint32_t *counts = calloc(most, sizeof *counts);
    status = storm_context_agree(context,
                                 counts != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status < 0) {
        free(counts);
        return status;
    }
    if (n_given > 0) {
        memcpy(counts, given, n_given * sizeof *counts);
    } else {
        for (uint32_t count = 1; count < all; count *= 2)
            counts[n++] = count;
        counts[n++] = all;
    }
    *counts_out = counts;
    *n_out = n;
    return STORM_OK;
}
