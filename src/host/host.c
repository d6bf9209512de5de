/* SPDX-License-Identifier: BSD-3-Clause */
/* The object, its errors, and options of a run. */
#include "host/host.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char host_label[] = "host";

/* ---- errors ------------------------------------------------------------- */

static void text_set(struct host_text *text, const char *message)
{
    while (atomic_flag_test_and_set_explicit(&text->lock, memory_order_acquire))
        ; /* another thread copies a line */
    snprintf(text->text, sizeof text->text, "%s", message);
    atomic_flag_clear_explicit(&text->lock, memory_order_release);
}

/* The sink of the context: storm_log_fn. */
static void host_log(void *self, storm_log_level level, int rank,
                     const char *message)
{
    struct host_text *text = self;
    if (level == STORM_LOG_ERROR)
        text_set(text, message);
    if (!text->is_quiet)
        storm_log_to_stderr(NULL, level, rank, message);
}

storm_status host_fail(const struct storm_host *host, storm_status status,
                       const char *format, ...)
{
    char line[HOST_TEXT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    storm_log_write(&host->env->log, STORM_LOG_ERROR, "%s", line);
    return status;
}

storm_status host_enter(struct storm_host *host, const char *what,
                        enum host_stage from, enum host_stage to)
{
    static const char *const stages[] = {
        [HOST_SETUP] = "before there is a mesh",
        [HOST_MESH] = "between the mesh and storm_host_begin",
        [HOST_RUN] = "after storm_host_begin",
        [HOST_FAILED] = "after a failure that only allows destroy"};
    if (host == NULL)
        return STORM_ERR_ARG;
    text_set(host->text, "");
    if (host->stage >= from && host->stage <= to)
        return STORM_OK;
    return host_fail(host, STORM_ERR_STATE, "%s: called %s; expected %s%s",
                     what, stages[host->stage], stages[from],
                     from == to ? "" : " or later");
}

storm_status host_agree(const struct storm_host *host, storm_status status)
{
    return storm_context_agree(host->context, status);
}

const char *storm_host_problem(const struct storm_host *host)
{
    return host != NULL ? host->text->text : "";
}

void storm_host_set_quiet(struct storm_host *host, int is_quiet)
{
    if (host != NULL)
        host->text->is_quiet = is_quiet != 0;
}

/* ---- small things ------------------------------------------------------- */

storm_status host_array(const struct storm_host *host, size_t n, size_t bytes,
                        void *array_out)
{
    void *array =
        n < SIZE_MAX / bytes - 1
            ? storm_alloc(host->env->memory, host_label, (n + 1) * bytes)
            : NULL;
    memcpy(array_out, &array, sizeof array);
    return array != NULL ? STORM_OK
                         : storm_env_explain(host->env, STORM_ERR_NOMEM);
}

void host_free(const struct storm_host *host, void *array)
{
    storm_free(host->env->memory, array);
}

/* NaN is not. */
bool host_is_between(double value, double min, double max)
{
    return value >= min && value <= max;
}

int storm_host_rank(const struct storm_host *host)
{
    return host != NULL ? host->env->rank : -1;
}

int storm_host_size(const struct storm_host *host)
{
    return host != NULL ? host->env->size : -1;
}

struct storm_context *storm_host_context(struct storm_host *host)
{
    return host != NULL ? host->context : NULL;
}

struct storm_mesh *storm_host_mesh(struct storm_host *host)
{
    return host != NULL ? host->mesh : NULL;
}

struct storm_imc *storm_host_imc(struct storm_host *host)
{
    return host != NULL ? host->imc : NULL;
}

struct storm_engine *storm_host_engine(struct storm_host *host)
{
    return host != NULL ? host->engine : NULL;
}

size_t storm_host_n_cells(const struct storm_host *host)
{
    return host != NULL ? host->route.n : 0;
}

/* ---- life --------------------------------------------------------------- */

/* Sets options of "key=value key=value"; `text` is cut up. */
static storm_status host_set_options(struct storm_options *options, char *text,
                                     char *problem, size_t problem_size)
{
    static const char blanks[] = " \t\n";
    storm_status status = STORM_OK;
    for (char *at = text + strspn(text, blanks); *at != '\0' && status >= 0;) {
        char *key = at, *value;
        at += strcspn(at, blanks);
        if (*at != '\0')
            *at++ = '\0';
        at += strspn(at, blanks);
        value = strchr(key, '=');
        if (value == NULL) {
            snprintf(problem, problem_size, "option %s: expected key=value",
                     key);
            return STORM_ERR_ARG;
        }
        *value++ = '\0';
        status = storm_options_set(options, key, value, problem, problem_size);
    }
    return status;
}

static storm_status host_make_options(const char *text,
                                      struct storm_options *options,
                                      char *problem, size_t problem_size)
{
    char copy[HOST_TEXT_BYTES];
    storm_status status =
        storm_options_set_from_env(options, problem, problem_size);
    if (status < 0 || text == NULL)
        return status;
    if (strlen(text) >= sizeof copy) {
        snprintf(problem, problem_size, "options: more than %d characters",
                 HOST_TEXT_BYTES - 1);
        return STORM_ERR_ARG;
    }
    memcpy(copy, text, strlen(text) + 1);
    return host_set_options(options, copy, problem, problem_size);
}

/* The context, whatever a rank's options are: the ranks agree afterwards. */
static storm_status host_open_context(MPI_Comm comm, const char *text,
                                      struct host_text *log,
                                      struct storm_context **context_out)
{
    struct storm_options *options = NULL;
    char problem[HOST_TEXT_BYTES] = "";
    storm_status status = storm_options_create(&options);
    if (status >= 0)
        status = host_make_options(text, options, problem, sizeof problem);
    const struct storm_context_params params = {
        .size = sizeof params,
        .options = status >= 0 ? options : NULL,
        .log = host_log,
        .log_self = log,
    };
    storm_status made = storm_context_create(comm, &params, context_out);
    storm_options_destroy(options);
    if (made < 0)
        return made;
    if (status < 0)
        storm_log_write(&storm_context_env(*context_out)->log, STORM_LOG_ERROR,
                        "storm_host_create: %s", problem);
    return storm_context_agree(*context_out, status);
}

static void host_begin_problem(struct storm_problem *problem)
{
    *problem = (struct storm_problem){STORM_PROBLEM_SIZES};
    for (size_t i = 0; storm_host_parameter(i, NULL, NULL) != NULL; i++)
        host_parameter_reset(problem, i);
}

static storm_status host_create(struct storm_context *context,
                                struct host_text *text,
                                struct storm_host **host_out)
{
    const struct storm_env *env = storm_context_env(context);
    struct storm_host *host =
        storm_alloc(env->memory, host_label, sizeof *host);
    storm_status status =
        storm_context_agree(context, host != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status < 0) {
        storm_free(env->memory, host);
        return status;
    }
    *host = (struct storm_host){
        .text = text, .context = context, .env = env, .stage = HOST_SETUP};
    host_begin_problem(&host->problem);
    *host_out = host;
    return STORM_OK;
}

storm_status storm_host_create(MPI_Comm comm, const char *options,
                               struct storm_host **host_out)
{
    struct storm_context *context = NULL;
    if (comm == MPI_COMM_NULL || host_out == NULL)
        return STORM_ERR_ARG;
    struct host_text *text = calloc(1, sizeof *text);
    if (text == NULL)
        return STORM_ERR_NOMEM;
    atomic_flag_clear(&text->lock);
    storm_status status = host_open_context(comm, options, text, &context);
    if (status >= 0)
        status = host_create(context, text, host_out);
    if (status < 0) {
        storm_context_destroy(context);
        free(text);
    }
    return status;
}

storm_status storm_host_create_f(MPI_Fint comm, const char *options,
                                 struct storm_host **host_out)
{
    return storm_host_create(MPI_Comm_f2c(comm), options, host_out);
}

void storm_host_destroy(struct storm_host *host)
{
    if (host == NULL)
        return;
    struct storm_context *context = host->context;
    struct host_text *text = host->text;
    host_begin_release(host);
    host_route_release(host, &host->route);
    host_free(host, host->point_tags);
    storm_cut_destroy(host->cut);
    storm_mesh_destroy(host->mesh);
    for (size_t i = 0; i < host->n_walls; i++)
        host_free(host, host->walls[i].curve);
    for (int d = 0; d < 3; d++)
        host_free(host, host->edges[d]);
    host_free(host, host->walls);
    host_free(host, host->materials);
    host_free(host, host->group_edges);
    host_free(host, host);
    storm_context_destroy(context);
    free(text);
}
