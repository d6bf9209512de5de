/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_rundir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <storm/context.h>
#include <storm/io.h>

#include "base/json.h"
#include "base/text.h"
#include "io/io_files.h"

static const char status_name[] = "status.json";
static const char job_name[] = "replicas.csv";

static bool rundir_path(const char *dir, const char *name,
                        char path_out[IO_PATH_BYTES])
{
    int n = snprintf(path_out, IO_PATH_BYTES, "%s/%s", dir, name);
    return n > 0 && n < IO_PATH_BYTES;
}

static storm_status rundir_fail(const struct storm_context *context,
                                const char *what, const char *path)
{
    storm_context_log(context, STORM_LOG_ERROR, "cannot %s %s: %s", what, path,
                      strerror(errno));
    return STORM_ERR_IO;
}

/* ---- writing the state --------------------------------------------------- */

static const char *const state_names[] = {
    [IO_RUN_NONE] = "",           [IO_RUN_RUNNING] = "running",
    [IO_RUN_STOPPED] = "stopped", [IO_RUN_FAILED] = "failed",
    [IO_RUN_DONE] = "done",
};
enum { N_STATES = sizeof state_names / sizeof state_names[0] };

const char *io_run_state_name(io_run_state state)
{
    return state_names[state];
}

/* When the process started, in ticks since the machine did: the 22nd word of
 * its stat, the 20th after the name in parentheses. 0: no such process. */
static int64_t status_process_start(int64_t pid)
{
    char path[64], line[1024];
    long long start = 0;
    snprintf(path, sizeof path, "/proc/%" PRId64 "/stat", pid);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    size_t n = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    line[n] = '\0';
    const char *rest = strrchr(line, ')');
    if (rest != NULL && strncmp(rest, ") Z", 3) == 0)
        return 0; /* it has ended; its parent has not asked how */
    for (int i = 0; rest != NULL && i < 20; i++)
        rest = strchr(rest + 1, ' ');
    if (rest == NULL || sscanf(rest, "%lld", &start) != 1)
        return 0;
    return start;
}

static char *status_json(const struct io_run_status *status)
{
    struct storm_json json;
    storm_json_begin(&json, true);
    storm_json_open(&json, NULL, '{');
    storm_json_text(&json, "state", io_run_state_name(status->state));
    storm_json_uint(&json, "step", status->step);
    if (status->replica > 0)
        storm_json_uint(&json, "replica", status->replica);
    storm_json_real(&json, "time", status->time_s);
    storm_json_text(&json, "reason", status->reason);
    storm_json_text(&json, "host", status->host);
    storm_json_int(&json, "pid", status->pid);
    storm_json_int(&json, "pid_start", status->pid_start);
    storm_json_int(&json, "written", status->written_s);
    storm_json_close(&json, '}');
    return storm_json_end(&json);
}

storm_status io_status_write(const struct storm_context *context,
                             const char *dir, struct io_run_status *status,
                             storm_log_level level)
{
    char path[IO_PATH_BYTES], problem[IO_PATH_BYTES + 256];
    if (!rundir_path(dir, status_name, path))
        return STORM_ERR_IO;
    if (gethostname(status->host, sizeof status->host - 1) != 0)
        status->host[0] = '\0';
    status->pid = getpid();
    status->pid_start = status_process_start(status->pid);
    status->written_s = (int64_t)time(NULL);
    char *text = status_json(status);
    if (text == NULL)
        return STORM_ERR_NOMEM;
    storm_status written =
        storm_file_write(path, text, problem, sizeof problem);
    if (written < 0)
        storm_context_log(context, level, "%s", problem);
    free(text);
    return written;
}

storm_status io_status_claim(const struct storm_context *context,
                             const char *dir)
{
    char path[IO_PATH_BYTES];
    if (!rundir_path(dir, status_name, path)) {
        errno = ENAMETOOLONG;
        return rundir_fail(context, "write", dir);
    }
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666); /* RUNDIR-5 */
    if (file < 0)
        return errno == EEXIST ? STORM_ERR_STATE
                               : rundir_fail(context, "write", path);
    close(file);
    return STORM_OK;
}

/* ---- reading it ---------------------------------------------------------- */

/* The value of a key, without quotes and comma; empty if it is not there. The
 * file has one key in a line. */
static void status_value(const char *text, const char *key,
                         char value_out[IO_STATUS_TEXT])
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *found = strstr(text, quoted);
    value_out[0] = '\0';
    if (found == NULL)
        return;
    found += strlen(quoted);
    found += strspn(found, " \"");
    size_t n = strcspn(found, "\",\n");
    snprintf(value_out, IO_STATUS_TEXT, "%.*s", (int)n, found);
}

static int64_t status_int(const char *text, const char *key)
{
    char value[IO_STATUS_TEXT];
    int64_t number = 0;
    status_value(text, key, value);
    (void)storm_text_to_int(value, &number);
    return number;
}

static struct io_run_status status_parse(const char *text)
{
    struct io_run_status status = {.state = IO_RUN_RUNNING};
    char value[IO_STATUS_TEXT];
    status_value(text, "state", value);
    for (int i = IO_RUN_RUNNING; i < N_STATES; i++)
        if (strcmp(value, state_names[i]) == 0)
            status.state = (io_run_state)i;
    int64_t step = status_int(text, "step");
    status.step = step > 0 ? (uint64_t)step : 0;
    int64_t replica = status_int(text, "replica");
    status.replica = replica > 0 ? (uint64_t)replica : 0;
    status_value(text, "time", value);
    (void)storm_text_to_real(value, &status.time_s);
    status_value(text, "reason", status.reason);
    status_value(text, "host", status.host);
    status.pid = status_int(text, "pid");
    status.pid_start = status_int(text, "pid_start");
    status.written_s = status_int(text, "written");
    return status;
}

struct io_run_status io_status_read(const char *dir)
{
    struct io_run_status none = {.state = IO_RUN_NONE};
    char path[IO_PATH_BYTES], text[2048];
    FILE *file = rundir_path(dir, status_name, path) ? fopen(path, "r") : NULL;
    if (file == NULL)
        return none;
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    return status_parse(text);
}

static bool status_is_here(const struct io_run_status *status)
{
    char host[IO_STATUS_TEXT] = "";
    return gethostname(host, sizeof host - 1) == 0 && host[0] != '\0' &&
           strcmp(host, status->host) == 0;
}

bool io_status_is_alive(const struct io_run_status *status)
{
    if (status->state != IO_RUN_RUNNING || status->pid <= 0 ||
        !status_is_here(status))
        return false;
    int64_t start = status_process_start(status->pid);
    return start != 0 && start == status->pid_start;
}

bool io_status_is_recent(const struct io_run_status *status, int64_t *age_s_out)
{
    int64_t age_s = (int64_t)time(NULL) - status->written_s;
    *age_s_out = age_s;
    /* Clocks of two hosts may differ; one that is far ahead says nothing. */
    return status->state == IO_RUN_RUNNING && status->pid > 0 &&
           !status_is_here(status) && age_s < IO_STATUS_RECENT_S &&
           age_s > -IO_STATUS_RECENT_S;
}

/* "step 20", "step 20 of replica 3" */
static const char *status_step(const struct io_run_status *status,
                               char text_out[64])
{
    int n = snprintf(text_out, 64, "step %" PRIu64, status->step);
    if (status->replica > 0)
        snprintf(text_out + n, (size_t)(64 - n), " of replica %" PRIu64,
                 status->replica);
    return text_out;
}

/* A run that says it is running: is it? */
static void status_text_running(const struct io_run_status *status,
                                char *text_out, size_t bytes)
{
    char step[64];
    status_step(status, step);
    if (io_status_is_alive(status))
        snprintf(text_out, bytes, "still running, after %s or later", step);
    else if (status->pid == 0 || status_is_here(status))
        snprintf(text_out, bytes,
                 "the run did not finish: killed after %s or later", step);
    else
        snprintf(text_out, bytes,
                 "the run did not finish: running or killed after %s or later "
                 "(on %s, %lld s ago)",
                 step, status->host,
                 (long long)((int64_t)time(NULL) - status->written_s));
}

void io_status_text(const struct io_run_status *status, char *text_out,
                    size_t bytes)
{
    const char *colon = status->reason[0] != '\0' ? ": " : "";
    char step[64];
    text_out[0] = '\0';
    switch (status->state) {
    case IO_RUN_RUNNING:
        status_text_running(status, text_out, bytes);
        break;
    case IO_RUN_STOPPED:
        snprintf(text_out, bytes, "stopped at %s%s%s",
                 status_step(status, step), colon, status->reason);
        break;
    case IO_RUN_FAILED:
        snprintf(text_out, bytes, "the run failed after %s%s%s",
                 status_step(status, step), colon, status->reason);
        break;
    case IO_RUN_NONE:
    case IO_RUN_DONE:
        break;
    }
}

/* ---- the files ----------------------------------------------------------- */

/* Files of a run: a name, or a name with a step in it. */
struct rundir_kind {
    const char *head, *tail; /* tail NULL: head is the name */
    bool is_dump;
    bool is_named; /* a name of letters, digits, - and _ in place of a step; of
                      a dump before it */
};
static const char rundir_letters[] = "abcdefghijklmnopqrstuvwxyz"
                                     "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
static const struct rundir_kind rundir_kinds[] = {
    {.head = "deck.yaml"},
    {.head = status_name},
    {.head = "summary.json"},
    {.head = "mesh.h5"},
    {.head = "fields.xdmf"},
    {.head = "fields.hdf.series"},
    {.head = "partition.csv"},
    {.head = job_name},
    {.head = "history.csv"},
    {.head = "probes.csv"},
    {.head = "trace.csv"},
    {.head = "history-", .tail = ".csv"}, /* of replicas */
    {.head = "probes-", .tail = ".csv"},
    {.head = "trace-", .tail = ".csv"},
    {.head = "tallies.h5"},
    {.head = "tally-", .tail = ".csv", .is_named = true},
    {.head = "checkpoint-", .tail = ".h5"},
    {.head = "mesh-", .tail = ".h5", .is_dump = true},
    {.head = "fields-", .tail = ".h5", .is_dump = true},
    {.head = "fields-", .tail = ".hdf", .is_dump = true},
    {.head = "profile-", .tail = ".csv", .is_dump = true},
    {.head = "lineout-", .tail = ".csv", .is_dump = true, .is_named = true},
};

/* What storm plot makes of a run, in plots/. */
static const char *const rundir_pictures[] = {
    "slice-", "view-",    "profile-", "history-", "probes-",
    "tally-", "lineout-", "line-",    "traffic."};

/* A file of a run, and how it is to be treated. */
struct rundir_file {
    const struct rundir_kind *kind;
    uint64_t step;      /* 0: none in the name */
    bool is_unfinished; /* ends in .part */
};

/* The step behind the last - of a name. */
static bool rundir_step(const char *name, const char *end, uint64_t *step_out)
{
    const char *digits = end;
    while (digits > name && digits[-1] >= '0' && digits[-1] <= '9')
        digits--;
    if (digits == end || digits < name + 2 || digits[-1] != '-')
        return false;
    *step_out = strtoull(digits, NULL, 10);
    return true;
}

static bool rundir_match(const struct rundir_kind *kind, const char *name,
                         struct rundir_file *file_out)
{
    size_t n = strlen(kind->head);
    struct rundir_file file = {.kind = kind};
    if (strncmp(name, kind->head, n) != 0)
        return false;
    const char *rest = name + n;
    if (kind->tail != NULL) {
        const char *end =
            rest + strspn(rest, kind->is_named ? rundir_letters : "0123456789");
        if (end == rest)
            return false;
        if (!kind->is_named)
            file.step = strtoull(rest, NULL, 10);
        else if (kind->is_dump && !rundir_step(rest, end, &file.step))
            return false;
        n = strlen(kind->tail);
        if (strncmp(end, kind->tail, n) != 0)
            return false;
        rest = end + n;
    }
    file.is_unfinished = strcmp(rest, ".part") == 0;
    *file_out = file;
    return *rest == '\0' || file.is_unfinished;
}

/* RUNDIR-1 */
static bool rundir_find(const char *name, struct rundir_file *file_out)
{
    for (size_t i = 0; i < sizeof rundir_kinds / sizeof rundir_kinds[0]; i++)
        if (rundir_match(&rundir_kinds[i], name, file_out))
            return true;
    return false;
}

bool io_rundir_holds_run(const char *dir)
{
    DIR *list = opendir(dir);
    bool found = false;
    if (list == NULL)
        return false;
    struct rundir_file file;
    for (const struct dirent *entry; !found && (entry = readdir(list)) != NULL;)
        found = rundir_find(entry->d_name, &file) && !file.is_unfinished;
    closedir(list);
    return found;
}

bool io_rundir_has_job(const char *dir)
{
    char path[IO_PATH_BYTES];
    return rundir_path(dir, job_name, path) && access(path, R_OK) == 0;
}

static storm_status rundir_remove(const struct storm_context *context,
                                  const char *dir, const char *name)
{
    char path[IO_PATH_BYTES];
    if (!rundir_path(dir, name, path))
        return STORM_OK; /* longer than any path that a run writes */
    if (unlink(path) == 0 || errno == ENOENT)
        return STORM_OK;
    return rundir_fail(context, "remove", path);
}

/* Removes the files for which `goes` says so. */
static storm_status
rundir_remove_if(const struct storm_context *context, const char *dir,
                 bool (*goes)(const struct rundir_file *file, uint64_t step),
                 uint64_t step)
{
    DIR *list = opendir(dir);
    storm_status status = STORM_OK;
    if (list == NULL)
        return rundir_fail(context, "read", dir);
    struct rundir_file file;
    for (const struct dirent *entry;
         status == STORM_OK && (entry = readdir(list)) != NULL;)
        if (rundir_find(entry->d_name, &file) && goes(&file, step))
            status = rundir_remove(context, dir, entry->d_name);
    closedir(list);
    return status;
}

static bool rundir_is_picture(const char *name)
{
    size_t n = strlen(name);
    bool found = false;
    for (size_t i = 0; i < sizeof rundir_pictures / sizeof rundir_pictures[0];
         i++)
        found = found || strncmp(name, rundir_pictures[i],
                                 strlen(rundir_pictures[i])) == 0;
    return found && n > 4 && strcmp(name + n - 4, ".svg") == 0;
}

/* Page and pictures of what is no longer there. */
static storm_status rundir_remove_views(const struct storm_context *context,
                                        const char *dir)
{
    char path[IO_PATH_BYTES];
    storm_status status = rundir_remove(context, dir, "report.html");
    DIR *list = rundir_path(dir, "plots", path) ? opendir(path) : NULL;
    if (list == NULL)
        return status;
    for (const struct dirent *entry;
         status == STORM_OK && (entry = readdir(list)) != NULL;)
        if (rundir_is_picture(entry->d_name))
            status = rundir_remove(context, path, entry->d_name);
    closedir(list);
    return status;
}

static bool rundir_is_not_status(const struct rundir_file *file, uint64_t step)
{
    (void)step;
    return file->kind->head != status_name;
}

storm_status io_rundir_clear(const struct storm_context *context,
                             const char *dir)
{
    storm_status status = rundir_remove(context, dir, "deck.yaml");
    if (status == STORM_OK) /* RUNDIR-4 */
        status = rundir_remove_if(context, dir, rundir_is_not_status, 0);
    return status < 0 ? status : rundir_remove_views(context, dir);
}

static bool rundir_is_later(const struct rundir_file *file, uint64_t step)
{
    return file->is_unfinished || (file->kind->is_dump && file->step > step) ||
           strcmp(file->kind->head, "summary.json") == 0;
}

storm_status io_rundir_clear_after(const struct storm_context *context,
                                   const char *dir, uint64_t step)
{
    return rundir_remove_if(context, dir, rundir_is_later, step);
}
