/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starting the ranks: this program runs itself again under mpiexec or srun,
 * waits, and returns the exit status. If this process dies, the launcher is
 * sent a signal to end.
 *
 *   LAUNCH-1  The launcher has a process group of its own: a ^C of the terminal
 *             reaches this process alone. Launchers answer it by killing all
 *             ranks.
 *   LAUNCH-2  The first SIGINT, SIGTERM or SIGHUP (the terminal is closed)
 *             during a run is passed on as SIGUSR1, which launchers forward to
 *             the ranks, every second until they have ended; not before all
 *             ranks can catch it: the run has recorded that it runs, or should
 *             have long since.
 *   LAUNCH-3  The second SIGINT or SIGTERM, or any during a benchmark, ends
 *             launcher and ranks. A second SIGHUP does nothing: shells pass on
 *             what the kernel sends as well.
 *   LAUNCH-4  No signal is sent to a launcher that has ended: its number may be
 *             that of another process by then.
 *   LAUNCH-5  One failure, one error: what the ranks have reported is not
 *             reported again. The last line is how to go on.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <storm/info.h>
#include <storm/run.h>

#include "tool.h"

#ifndef STORM_MPIEXEC
#define STORM_MPIEXEC ""
#endif

static const char launch_mark[] = "STORM_LAUNCHED_RANKS";
static const char launch_terminal[] = "STORM_LAUNCHED_TERMINAL";
static const char launch_columns[] = "STORM_LAUNCHED_COLUMNS";

enum { LAUNCH_PATH_BYTES = 4096, LAUNCH_MAX_WORDS = 64 };

/* ---- where are we? ------------------------------------------------------- */

static bool launch_env_int(const char *name, int *value_out)
{
    const char *text = getenv(name);
    char *end;
    if (text == NULL || *text == '\0')
        return false;
    long value = strtol(text, &end, 10);
    if (*end != '\0' || value < 0 || value > 100000000)
        return false;
    *value_out = (int)value;
    return true;
}

static bool launch_first_int(const char *const *names, int *value_out)
{
    for (; *names != NULL; names++)
        if (launch_env_int(*names, value_out))
            return true;
    return false;
}

bool tool_was_launched(void)
{
    return getenv(launch_mark) != NULL;
}

bool tool_on_terminal(void)
{
    return getenv(launch_terminal) != NULL;
}

bool tool_is_dumb(void)
{
    const char *term = getenv("TERM");
    return term != NULL && strcmp(term, "dumb") == 0;
}

bool tool_stderr_is_screen(void)
{
    return isatty(STDERR_FILENO) && !tool_is_dumb();
}

int tool_columns(void)
{
    struct winsize size;
    int columns = 0;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0)
        return size.ws_col;
    (void)launch_env_int(launch_columns, &columns);
    return columns;
}

/* A job step of one task is also what an interactive shell is; only more than
 * one, or a rank of MPI's own, means that ranks have been started. */
struct tool_launcher tool_launcher(void)
{
    static const char *const rank_names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK",
                                             "PMIX_RANK", "MV2_COMM_WORLD_RANK",
                                             NULL};
    static const char *const size_names[] = {
        "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",  "MV2_COMM_WORLD_SIZE",
        "SLURM_STEP_NUM_TASKS", launch_mark, NULL};
    struct tool_launcher launcher = {0};
    int tasks = 0, step;
    launcher.is_there = launch_first_int(rank_names, &launcher.rank);
    if (!launcher.is_there && launch_env_int("SLURM_STEP_ID", &step) &&
        launch_env_int("SLURM_STEP_NUM_TASKS", &tasks) && tasks > 1)
        launcher.is_there = launch_env_int("SLURM_PROCID", &launcher.rank);
    if (launcher.is_there)
        (void)launch_first_int(size_names, &launcher.size);
    return launcher;
}

static bool launch_in_slurm(void)
{
    return getenv("SLURM_JOB_ID") != NULL;
}

int tool_cores(void)
{
    int nodes;
    if (!launch_in_slurm() || !launch_env_int("SLURM_JOB_NUM_NODES", &nodes) ||
        nodes < 1)
        nodes = 1;
    return nodes * storm_host_cores();
}

/* One task is also what an interactive job has that asks for cores alone. */
uint64_t tool_default_ranks(void)
{
    int tasks;
    if (launch_in_slurm() && launch_env_int("SLURM_NTASKS", &tasks) &&
        tasks > 1)
        return (uint64_t)tasks;
    return (uint64_t)tool_cores();
}

/* ---- what starts the ranks ----------------------------------------------- */

/* Finds an executable as the shell would. */
static bool launch_find(const char *name, char path_out[LAUNCH_PATH_BYTES])
{
    if (strchr(name, '/') != NULL) {
        snprintf(path_out, LAUNCH_PATH_BYTES, "%s", name);
        return access(path_out, X_OK) == 0;
    }
    const char *dirs = getenv("PATH");
    for (const char *dir = dirs != NULL ? dirs : "/usr/bin:/bin";
         *dir != '\0';) {
        size_t n = strcspn(dir, ":");
        int wrote = snprintf(path_out, LAUNCH_PATH_BYTES, "%.*s/%s", (int)n,
                             n > 0 ? dir : ".", name);
        if (wrote > 0 && wrote < LAUNCH_PATH_BYTES &&
            access(path_out, X_OK) == 0)
            return true;
        dir += n + (dir[n] == ':');
    }
    return false;
}

/* The launcher's words, in `line`, which is cut up. */
struct launch_command {
    char line[LAUNCH_PATH_BYTES];
    char path[LAUNCH_PATH_BYTES];
    char *words[LAUNCH_MAX_WORDS];
    int n_words;
};

static int launch_choose(const struct tool_args *args,
                         struct launch_command *command_out)
{
    struct launch_command *c = command_out;
    const char *line = args->launcher;
    if (line == NULL && launch_in_slurm() && launch_find("srun", c->path))
        line = "srun";
    if (line == NULL && STORM_MPIEXEC[0] != '\0' &&
        access(STORM_MPIEXEC, X_OK) == 0)
        line = STORM_MPIEXEC;
    if (line == NULL)
        line = "mpiexec";
    if (snprintf(c->line, sizeof c->line, "%s", line) >= (int)sizeof c->line)
        return tool_usage("--launcher: too long");
    char *rest = NULL;
    c->n_words = 0;
    for (char *word = strtok_r(c->line, " \t", &rest); word != NULL;
         word = strtok_r(NULL, " \t", &rest)) {
        if (c->n_words == LAUNCH_MAX_WORDS)
            return tool_usage("--launcher: too many words");
        c->words[c->n_words++] = word;
    }
    if (c->n_words == 0)
        return tool_usage("--launcher: expected a command, got '%s'", line);
    if (launch_find(c->words[0], c->path))
        return TOOL_OK;
    return tool_usage("cannot start ranks: '%s' not found; name another with "
                      "--launcher",
                      c->words[0]);
}

/* ---- the environment of the ranks ---------------------------------------- */

/* Some containers forbid what Open MPI copies large messages with, and it
 * complains about each. */
static bool launch_may_read_processes(void)
{
    char from = 1, to = 0;
    struct iovec local = {&to, 1}, remote = {&from, 1};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1;
}

/* What the user has set stays. Names that another MPI library reads are
 * harmless to this one. */
static void launch_default(const char *name, const char *value)
{
    (void)setenv(name, value, 0);
}

static void launch_environment(const struct tool_args *args)
{
    char number[32];
    snprintf(number, sizeof number, "%llu", (unsigned long long)args->ranks);
    (void)setenv(launch_mark, number, 1);
    if (isatty(STDOUT_FILENO) && isatty(STDERR_FILENO))
        (void)setenv(launch_terminal, "1", 1);
    else
        (void)unsetenv(launch_terminal);
    snprintf(number, sizeof number, "%d", tool_columns());
    (void)setenv(launch_columns, number, 1);

    if (geteuid() == 0) {
        launch_default("OMPI_ALLOW_RUN_AS_ROOT", "1");
        launch_default("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        launch_default("PRTE_ALLOW_RUN_AS_ROOT", "1");
        launch_default("PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    }
    launch_default("OMPI_MCA_rmaps_base_oversubscribe", "1");
    launch_default("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe");
    bool room = args->ranks <= (uint64_t)tool_cores();
    /* As many ranks on every core: each stays on its own. The system would
     * leave three on one of two cores for a while. */
    bool even = room || args->ranks % (uint64_t)tool_cores() == 0;
    const char *binding = even ? "core:overload-allowed" : "none";
    launch_default("OMPI_MCA_hwloc_base_binding_policy", binding);
    launch_default("PRTE_MCA_hwloc_default_binding_policy", binding);
    if (!room)
        launch_default("OMPI_MCA_mpi_yield_when_idle", "1");
    if (!launch_may_read_processes()) {
        launch_default("OMPI_MCA_btl_vader_single_copy_mechanism", "none");
        launch_default("OMPI_MCA_smsc", "^cma");
    }
    if (!args->verbose)
        launch_default("OMPI_MCA_orte_execute_quiet", "1");
}

/* ---- starting and waiting ------------------------------------------------ */

/* For the handler, and read after the launcher has ended. */
static volatile sig_atomic_t launch_child, launch_can_stop, launch_is_quiet;
static volatile sig_atomic_t launch_is_screen; /* standard error */
static volatile sig_atomic_t launch_asked;     /* the ranks, to stop */
static volatile sig_atomic_t launch_signal;    /* that ends all */
static volatile sig_atomic_t launch_due;       /* ask them now */
static volatile sig_atomic_t launch_n_ends;    /* how often it was passed on */

/* On a terminal there may be a bar in this line. */
static void launch_write(const char *text)
{
    static const char clear[] = "\r\033[K";
    ssize_t n = 0;
    if (launch_is_screen)
        n += write(STDERR_FILENO, clear, sizeof clear - 1);
    if (!launch_is_quiet)
        n += write(STDERR_FILENO, text, strlen(text));
    (void)n;
}

/* A launcher that does not end within some seconds is killed. */
static void launch_end(void)
{
    enum { PATIENCE = 10 };
    if (launch_n_ends < PATIENCE)
        kill((pid_t)launch_child, launch_n_ends == 0 ? launch_signal : SIGTERM);
    else
        kill(-(pid_t)launch_child, SIGKILL);
    launch_n_ends++;
}

static void launch_on_alarm(int number)
{
    (void)number;
    if (launch_child <= 0) /* LAUNCH-4 */
        return;
    if (launch_signal != 0)
        launch_end();
    else
        launch_due = launch_asked;
    alarm(1);
}

static void launch_on_signal(int number)
{
    int before = errno;
    bool asks = number == SIGINT || number == SIGTERM || number == SIGHUP;
    if (launch_child <= 0) {
        launch_signal = number;
    } else if (launch_can_stop && asks && !launch_asked) {
        launch_asked = 1;
        launch_write(tool_stop_answer);
        launch_on_alarm(0);
    } else if (!launch_can_stop || number != SIGHUP) { /* LAUNCH-3 */
        if (launch_can_stop && launch_signal == 0)
            launch_write("storm: killing the run\n");
        launch_signal = number;
        launch_on_alarm(0);
    }
    errno = before;
}

/* ^Z stops the launcher, too, and this process; fg continues both. */
static void launch_on_pause(int number)
{
    if (launch_child > 0)
        kill((pid_t)launch_child, number);
    if (number == SIGTSTP)
        raise(SIGSTOP);
}

static void launch_catch(const struct tool_args *args)
{
    static const struct {
        int number;
        void (*handler)(int);
    } rows[] = {{SIGINT, launch_on_signal}, {SIGTERM, launch_on_signal},
                {SIGHUP, launch_on_signal}, {SIGQUIT, launch_on_signal},
                {SIGALRM, launch_on_alarm}, {SIGTSTP, launch_on_pause},
                {SIGCONT, launch_on_pause}};
    struct sigaction action = {.sa_flags = 0};
    signal(SIGCHLD, SIG_DFL); /* ignored, there would be no exit status */
    launch_can_stop = args->bench == NULL;
    launch_is_quiet = args->quiet;
    launch_is_screen = tool_stderr_is_screen();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        sigaddset(&action.sa_mask, rows[i].number);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        action.sa_handler = rows[i].handler;
        if (rows[i].number != SIGHUP || !tool_ignores(SIGHUP))
            sigaction(rows[i].number, &action, NULL);
    }
    signal(SIGPIPE, SIG_IGN); /* RELAY-2 */
}

static void launch_exec(const struct launch_command *command, char **argv,
                        const struct tool_relay *relay)
{
    /* If the process that waits is killed, nothing else ends the ranks. */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    setpgid(0, 0);            /* LAUNCH-1 */
    signal(SIGUSR1, SIG_IGN); /* also inherited by ranks of this node */
    signal(SIGPIPE, SIG_DFL);
    tool_relay_child(relay);
    FILE *null = freopen("/dev/null", "r", stdin);
    (void)null;
    execv(command->path, argv);
    fprintf(stderr, "storm: error: cannot start %s: %s\n", command->path,
            strerror(errno));
    _exit(TOOL_REPORTED);
}

/* Can the ranks catch SIGUSR1? They can before MPI starts, and the run records
 * that it runs after; what an earlier run has recorded does not count. */
static bool launch_ready(const char *out, const struct tool_mark *before,
                         time_t began_s)
{
    enum { PATIENCE_S = 60 }; /* its directory may be out of sight here */
    return time(NULL) - began_s > PATIENCE_S ||
           (tool_mark_changed(out, before) &&
            storm_run_read_state(out, NULL, 0) == STORM_RUN_RUNNING);
}

/* LAUNCH-2, once after each alarm. */
static void launch_pass_on(const char *out, const struct tool_mark *before,
                           time_t began_s)
{
    if (!launch_due)
        return;
    launch_due = 0;
    if (launch_ready(out, before, began_s))
        kill((pid_t)launch_child, SIGUSR1);
}

/* Until the launcher has ended, which is not reaped before nothing can send it
 * a signal any more (LAUNCH-4). The pause is short for one that has closed its
 * outputs before. */
static int launch_wait(struct tool_relay *relay, const char *out,
                       const struct tool_mark *before)
{
    enum { PAUSE_MS = 100 };
    time_t began_s = time(NULL);
    int status = 0;
    siginfo_t ended = {.si_pid = 0};
    tool_relay_parent(relay);
    do {
        (void)tool_relay_pass(relay, PAUSE_MS);
        launch_pass_on(out, before, began_s);
    } while (waitid(P_PID, (id_t)launch_child, &ended,
                    WEXITED | WNOWAIT | WNOHANG) == 0 &&
             ended.si_pid == 0);
    pid_t child = (pid_t)launch_child;
    launch_child = 0;
    alarm(0);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    tool_relay_close(relay);
    return status;
}

/* After a run was killed or has lost a rank. */
static void launch_go_on(const struct tool_args *args)
{
    char text[TOOL_PATH_BYTES + 128];
    if (args->bench != NULL)
        return;
    tool_go_on_text(args->out, text, sizeof text);
    fprintf(stderr, "storm: %s\n", text);
}

/* How the run ended, by what it has recorded. */
static int launch_code(const struct tool_args *args)
{
    switch (storm_run_read_state(args->out, NULL, 0)) {
    case STORM_RUN_STOPPED:
        return TOOL_STOPPED;
    case STORM_RUN_DONE:
        return TOOL_OK;
    case STORM_RUN_FAILED:
        return TOOL_REPORTED;
    case STORM_RUN_NO_STATE:
    case STORM_RUN_RUNNING:
        break;
    }
    return TOOL_LOST;
}

static const char *launch_signal_name(int number)
{
    static const struct {
        int number;
        const char *name;
    } rows[] = {
        {SIGKILL, " (SIGKILL), as the kernel does when memory runs out"},
        {SIGSEGV, " (SIGSEGV): it has crashed"},
        {SIGBUS, " (SIGBUS): it has crashed"},
        {SIGABRT, " (SIGABRT)"},
        {SIGFPE, " (SIGFPE): it has crashed"},
        {SIGILL, " (SIGILL): built for another processor?"},
        {SIGTERM, " (SIGTERM)"},
        {SIGINT, " (SIGINT)"},
        {SIGHUP, " (SIGHUP)"},
        {SIGQUIT, " (SIGQUIT)"},
        {SIGPIPE, " (SIGPIPE)"},
        {SIGXCPU, " (SIGXCPU): no processor time is left"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].number == number)
            return rows[i].name;
    return "";
}

/* The signal that killed a rank, by the launcher's exit status; 0 if none did.
 * Most launchers count as shells do; MPICH's returns the bare number, which is
 * no status of a rank's if it is above all of ours. */
static int launch_killer(int code)
{
    enum { BY_SIGNAL = 128, LAST_SIGNAL = 64 };
    if (code > BY_SIGNAL)
        return code - BY_SIGNAL;
    return code > TOOL_LOST && code <= LAST_SIGNAL ? code : 0;
}

/* What the launcher's end tells. LAUNCH-5 */
static void launch_explain(const struct launch_command *command, int status,
                           const struct tool_args *args, bool reported)
{
    const char *error = reported ? "" : "error: ";
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code < 0)
        fprintf(stderr, "storm: %s%s was killed by signal %d%s\n", error,
                command->words[0], WTERMSIG(status),
                launch_signal_name(WTERMSIG(status)));
    else if (code == TOOL_FAILED && !reported)
        fprintf(stderr,
                "storm: error: %s could not start or keep %llu ranks; "
                "--verbose shows its messages\n",
                command->words[0], (unsigned long long)args->ranks);
    else if (launch_killer(code) != 0)
        fprintf(stderr, "storm: %sa rank was killed by signal %d%s\n", error,
                launch_killer(code), launch_signal_name(launch_killer(code)));
    else if (!reported)
        fprintf(stderr, "storm: error: a rank ended with status %d\n", code);
}

/* How the launcher ended, as our own exit status. */
static int launch_verdict(const struct launch_command *command, int status,
                          const struct tool_args *args,
                          const struct tool_relay *relay)
{
    if (launch_signal != 0) { /* from the user: end by the same signal */
        launch_write("");
        launch_go_on(args);
        signal(launch_signal, SIG_DFL);
        raise(launch_signal);
        return TOOL_FAILED;
    }
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code == TOOL_OK && launch_asked) /* MPICH's forgets the status then */
        code = launch_code(args);
    if (code == TOOL_STOPPED)
        tool_print_stopped(args->out);
    if (code == TOOL_OK && relay->error != 0) { /* RELAY-2 */
        fprintf(stderr, "storm: error: cannot write to standard output: %s\n",
                strerror(relay->error));
        return TOOL_FAILED;
    }
    if (code == TOOL_OK || code == TOOL_USAGE || code == TOOL_STOPPED)
        return code;
    if (code != TOOL_LOST && code != TOOL_REPORTED)
        launch_explain(command, status, args, relay->reported);
    if (code != TOOL_FAILED && code != TOOL_REPORTED)
        launch_go_on(args);
    return code == TOOL_REPORTED ? TOOL_REPORTED : TOOL_FAILED;
}

static char **launch_argv(const struct tool_args *args,
                          const struct launch_command *command, char *self,
                          char *number)
{
    static char ranks_flag[] = "-n"; /* understood by all launchers */
    int n_max = command->n_words + args->n_child + 8;
    char **argv = calloc((size_t)n_max, sizeof *argv);
    if (argv == NULL)
        return NULL;
    int n = 0;
    for (int i = 0; i < command->n_words; i++)
        argv[n++] = command->words[i];
    argv[n++] = ranks_flag;
    argv[n++] = number;
    argv[n++] = self;
    for (int i = 1; i < args->n_child; i++)
        argv[n++] = args->child_argv[i];
    return argv;
}

int tool_launch(const struct tool_args *args)
{
    struct launch_command command;
    int status = launch_choose(args, &command);
    if (status != TOOL_OK)
        return status;
    char self[LAUNCH_PATH_BYTES], number[32];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        length = snprintf(self, sizeof self, "%s", args->child_argv[0]);
    self[length] = '\0';
    snprintf(number, sizeof number, "%llu", (unsigned long long)args->ranks);
    char **argv = launch_argv(args, &command, self, number);
    if (argv == NULL) {
        fprintf(stderr, "storm: error: no memory\n");
        return TOOL_FAILED;
    }
    launch_environment(args);

    struct tool_relay relay;
    struct tool_mark before = tool_mark(args->out);
    launch_catch(args);
    fflush(NULL);
    pid_t child = tool_relay_open(&relay) ? fork() : -1;
    if (child == 0)
        launch_exec(&command, argv, &relay);
    free(argv);
    if (child < 0) {
        perror("storm: error: cannot start ranks");
        return TOOL_FAILED;
    }
    (void)setpgid(child, child); /* whoever is first */
    launch_child = child;
    if (launch_signal != 0) /* one that came before */
        launch_end();
    status = launch_wait(&relay, args->out, &before);
    status = launch_verdict(&command, status, args, &relay);
    if (status != TOOL_REPORTED)
        return status;
    if (args->bench == NULL)
        tool_print_go_on(args->out, &before);
    return TOOL_FAILED;
}
