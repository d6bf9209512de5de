/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program: what its files share.
 *
 *   main.c      from argv to a command and its exit status
 *   args.c      the command line, from the tables of the next two
 *   commands.c  what commands and flags there are: one row each
 *   benches.c   what benchmarks there are, and their flags: rows, too, which
 *               fill in the parameters of the benchmark
 *   help.c      the same tables as text
 *   pages.c     and as completions of shells and manual pages
 *   launch.c    starting the ranks
 *   relay.c     what they print, on its way to the user
 *   session.c   MPI, the context, messages: from first to last rank call
 *   progress.c  the bar
 *   deck.c      reading a deck
 *   start.c     starting ranks, or being one
 *   stop.c      requests to stop: signals, the time limit, how to go on
 *   output.c    files and directories
 *   voropp.c    what the Voronoi benchmark compares with
 *   info.c, options.c, run.c (with bench), plot.c, report.c, compare.c,
 *   points.c    the commands
 */
#ifndef STORM_TOOL_H
#define STORM_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "bench/bench.h"
#include <storm/options.h>
#include <storm/plot.h>

#include "eta.h"

/* Exit statuses. The last two are for ranks that this program has started:
 * failed, and the reason was printed; a rank was lost, which was printed as
 * well. The process that started them returns FAILED. */
enum tool_exit {
    TOOL_OK = 0,
    TOOL_FAILED = 1,
    TOOL_USAGE = 2,
    TOOL_STOPPED = 3, /* early, on request; can go on */
    TOOL_REPORTED = 4,
    TOOL_LOST = 5
};

enum tool_progress {
    TOOL_PROGRESS_AUTO,
    TOOL_PROGRESS_ALWAYS,
    TOOL_PROGRESS_NEVER
};

enum tool_shell { TOOL_SHELL_NONE, TOOL_SHELL_BASH, TOOL_SHELL_ZSH };

struct storm_deck;

/* What `storm lab scaling` takes. Zero: not given. */
struct tool_lab {
    storm_bench_mode mode;
    struct storm_bench_numbers ranks;
    const char *backends, *published, *costs;
    double event_ns, transfer_ns, crossings, uneven, slow_factor;
    uint64_t cells_per_rank, emit, slow_every;
    uint32_t cycles, timed;
};

/* What a benchmark takes: its flags fill this in. Zero: not given. */
union tool_bench_params {
    struct storm_bench_uniform_params uniform;
    struct storm_bench_imc_params imc;
    struct storm_bench_scaling_params scaling;
    struct storm_bench_breakdown_params breakdown;
    struct storm_bench_voronoi_params voronoi;
    struct storm_bench_motion_params motion;
    struct storm_bench_exchange_params exchange;
    struct storm_bench_ring_params ring;
    struct storm_bench_termination_params termination;
    struct tool_lab lab;
};

struct tool_args {
    const struct tool_command *command;
    const struct tool_bench *bench;
    struct storm_options *options;
    bool help, version;

    /* The flags on the command line, each as often as it is there. */
    const struct tool_flag **given;
    size_t n_given;

    /* several commands */
    uint64_t ranks;
    const char *launcher, *out, *json;
    enum tool_progress progress;
    bool quiet, verbose;

    /* bench */
    union tool_bench_params params;
    bool costs, demo;

    /* options */
    bool markdown;
    int completion; /* enum tool_shell */
    const char *man;

    /* run, check, breakdown */
    const char *deck;
    struct storm_deck *loaded;
    bool resolved, keys;
    const char **sets; /* KEY=VALUE for the deck */
    size_t n_sets;
    const char *restart;
    bool overwrite;
    double time_limit_s; /* 0: none */
    uint64_t replicas;   /* 0: none */

    /* plot, report */
    const char *run_dir;
    const char *fields, *reference;
    int axis;
    storm_plot_choice lines, scale;
    double at;
    const char *line;
    struct storm_bench_numbers steps;

    /* compare; A is in run_dir */
    const char *other;
    double tolerance, standard_errors; /* 0: not given */

    /* lab; texts of --cost are in sets */
    bool scaling; /* its name is there */

    /* points; texts of --graded are in sets */
    int shape, part;
    double radius, length, from, jitter;
    const char *lo, *hi, *centre, *spacing;
    uint64_t sides, seed;

    /* The same command line without what is for the launcher; ends in NULL. */
    char **child_argv;
    int n_child;
};

enum tool_flag_kind {
    TOOL_SWITCH,  /* bool */
    TOOL_COUNT,   /* uint64_t */
    TOOL_COUNT32, /* uint32_t */
    TOOL_REAL,    /* double */
    TOOL_TEXT,    /* const char * */
    TOOL_TIME,    /* double, seconds: 90, 50m, 3h50m, 3:50:00 */
    TOOL_WORD,    /* int or enum: which of `choices` */
    TOOL_LIST,    /* struct storm_bench_numbers */
    TOOL_SET,     /* KEY=VALUE for an option of the table */
    TOOL_TEXTS    /* a text in args->sets, each time it is given */
};

/* One flag of the program; those of the option table are not listed here. */
struct tool_flag {
    const char *name, *alias;
    const char *value; /* what help calls it; NULL for a switch */
    enum tool_flag_kind kind;
    size_t offset; /* in struct tool_args */
    double min, max;
    const char *choices; /* "a|b" */
    const char *help;
};

struct tool_bench {
    const char *name;
    const char *summary;
    const struct tool_flag *flags; /* ended by a NULL name */
    const char *picture;           /* name of its file in --out, if any */
    bool takes_deck;               /* --deck, and --set for its entries */
    /* Fills in defaults and checks: TOOL_OK or TOOL_USAGE (printed). */
    int (*check)(struct tool_args *args);
    storm_status (*run)(struct storm_context *context,
                        const struct tool_args *args,
                        const struct storm_progress *progress,
                        struct storm_run_report **report_out);
};

struct tool_command {
    const char *name;
    const char *usage; /* what may follow the name */
    const char *summary;
    const struct tool_flag *flags;
    bool takes_options; /* the flags of the option table, too */
    bool takes_deck;    /* a file, and --set for its entries */
    bool takes_run;     /* the directory of a run */
    bool takes_two;     /* two results */
    int (*run)(const struct tool_args *args);
};

/* Where a flag's value goes. */
#define TOOL_FIELD(_member) offsetof(struct tool_args, _member)

/* Rows of the tables. */
#define TOOL_NUMBER_FLAG(_name, _kind, _value, _member, _min, _max, _help)     \
    {                                                                          \
        .name = _name, .value = _value, .kind = _kind,                         \
        .offset = TOOL_FIELD(_member), .min = _min, .max = _max, .help = _help \
    }
#define TOOL_COUNT_FLAG(_name, _member, _max, _help) \
    TOOL_NUMBER_FLAG(_name, TOOL_COUNT, "N", _member, 1, _max, _help)
#define TOOL_COUNT32_FLAG(_name, _member, _max, _help) \
    TOOL_NUMBER_FLAG(_name, TOOL_COUNT32, "N", _member, 1, _max, _help)
#define TOOL_REAL_FLAG(_name, _value, _member, _min, _max, _help) \
    TOOL_NUMBER_FLAG(_name, TOOL_REAL, _value, _member, _min, _max, _help)
#define TOOL_LIST_FLAG(_name, _member, _min, _max, _help) \
    TOOL_NUMBER_FLAG(_name, TOOL_LIST, "LIST", _member, _min, _max, _help)
#define TOOL_TEXT_FLAG(_name, _value, _member, _help)      \
    {                                                      \
        .name = _name, .value = _value, .kind = TOOL_TEXT, \
        .offset = TOOL_FIELD(_member), .help = _help       \
    }
#define TOOL_WORD_FLAG(_name, _value, _member, _choices, _help)           \
    {                                                                     \
        .name = _name, .value = _value, .kind = TOOL_WORD,                \
        .offset = TOOL_FIELD(_member), .choices = _choices, .help = _help \
    }
#define TOOL_TIME_FLAG(_name, _member, _help)           \
    {                                                   \
        .name = _name, .value = "T", .kind = TOOL_TIME, \
        .offset = TOOL_FIELD(_member), .help = _help    \
    }
#define TOOL_SWITCH_FLAG(_name, _member, _help)                            \
    {                                                                      \
        .name = _name, .kind = TOOL_SWITCH, .offset = TOOL_FIELD(_member), \
        .help = _help                                                      \
    }
#define TOOL_SET_FLAG(_help)                                                   \
    {                                                                          \
        .name = "--set", .value = "KEY=VALUE", .kind = TOOL_SET, .help = _help \
    }

/* commands.c and benches.c: lists ended by a NULL name. */
extern const struct tool_command tool_commands[];
extern const struct tool_bench tool_benches[];
extern const struct tool_flag tool_global_flags[];

/* args.c: fills args; TOOL_OK or TOOL_USAGE (printed). Call tool_args_clear
 * also after an error. */
int tool_args_parse(struct tool_args *args, int argc, char **argv);
void tool_args_clear(struct tool_args *args);

/* Is the flag on the command line? */
bool tool_given(const struct tool_args *args, const char *name);

/* One line on standard error, from the first rank alone. Returns TOOL_USAGE. */
int tool_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Is the backend part of this build? TOOL_OK or TOOL_USAGE (printed). */
int tool_check_backend(const char *name);

/* help.c */
int tool_help(const struct tool_args *args);

/* help.c: what the exit status of a command can be; NULL: of any. */
enum { TOOL_STATUS_BYTES = 96 };
void tool_status_text(const struct tool_command *command,
                      char text_out[TOOL_STATUS_BYTES]);

/* pages.c: TOOL_OK or TOOL_USAGE (printed). */
int tool_pages_completion(int shell); /* enum tool_shell */
int tool_pages_man(const char *command);

/* launch.c: what started us? */
struct tool_launcher {
    bool is_there;
    int rank, size; /* from its environment; size 0: not known */
};
struct tool_launcher tool_launcher(void);

/* Cores that ranks may use: those of this process, on each node of a job of
 * Slurm, whose nodes are taken to be alike. */
int tool_cores(void);

/* Ranks to start without -n: the tasks of a job of Slurm, else one per core. */
uint64_t tool_default_ranks(void);

/* Starts args->ranks ranks with args->child_argv and waits for them. Returns
 * the exit status. */
int tool_launch(const struct tool_args *args);

/* start.c: starts the ranks of a benchmark or a run, or is one. */
int tool_start(const struct tool_args *args);

/* Did this program start us? */
bool tool_was_launched(void);

/* ... with both its outputs on a terminal? Ours are pipes. */
bool tool_on_terminal(void);

/* Is standard error a terminal that knows escape sequences? */
bool tool_stderr_is_screen(void);
bool tool_is_dumb(void); /* TERM=dumb: it does not */

/* Columns of the terminal that standard error ends at; 0: not known. */
int tool_columns(void);

/* relay.c: two pipes between the launcher's outputs and ours. */
struct tool_relay {
    int from[2], to[2]; /* of standard output and error */
    int error;          /* errno of standard output */
    bool reported;      /* an error has been printed */
    bool has_bar;       /* in the last line of standard error */
    size_t column, n_escape, n_error;
};
bool tool_relay_open(struct tool_relay *relay); /* false: see errno */
/* In the child, before it becomes the launcher. */
void tool_relay_child(const struct tool_relay *relay);
/* In the parent, after fork. */
void tool_relay_parent(const struct tool_relay *relay);
/* Passes on what is there or comes within the time; false if there was nothing.
 * Signals end the wait. */
bool tool_relay_pass(struct tool_relay *relay, int limit_ms);
/* After the launcher's end: passes on what is left, and removes a bar. */
void tool_relay_close(struct tool_relay *relay);

/* stop.c: in a rank of a run, catch SIGINT, SIGTERM, SIGHUP and SIGUSR1. The
 * first asks to stop, and rank 0 says so unless `quiet` or the process that has
 * started the ranks does; a later SIGINT or SIGTERM ends the process. */
void tool_stop_catch(bool quiet);
bool tool_stop_asked(void *self);
extern const char tool_stop_answer[];

/* Is the signal ignored, as by nohup? */
bool tool_ignores(int number);

/* Seconds until this run must have stopped, from --time-limit and the end of
 * Slurm's job; 0: no limit. */
double tool_time_limit_s(const struct tool_args *args);

/* How to go on after a run in `dir` that is not done: "go on: storm run
 * --restart DIR", or that there is no checkpoint. */
void tool_go_on_text(const char *dir, char *text_out, size_t bytes);

/* Prints where a run was stopped and how to go on, whatever --quiet says. */
void tool_print_stopped(const char *dir);

/* status.json as it was before a run, to tell whether it has begun. */
struct tool_mark {
    ino_t file;
    struct timespec when;
};
struct tool_mark tool_mark(const char *dir);
bool tool_mark_changed(const char *dir, const struct tool_mark *before);

/* After a failure with a reason: prints how to go on if the run had begun and
 * has a checkpoint. */
void tool_print_go_on(const char *dir, const struct tool_mark *before);

/* session.c: runs a benchmark between MPI_Init and MPI_Finalize and writes its
 * results; returns the exit status. */
int tool_session(const struct tool_args *args);

/* progress.c */
struct tool_bar {
    enum tool_progress mode;
    bool drawn;
    int columns;  /* of the terminal; 0: not known */
    double shown; /* when */
    struct eta eta;
};
void tool_bar_begin(struct tool_bar *bar, const struct tool_args *args);
void tool_bar_report(void *self, const char *what, double fraction);
/* Removes the bar from the screen, so that a line can be written. */
void tool_bar_hide(struct tool_bar *bar);

/* The commands. */
int tool_info(const struct tool_args *args);
int tool_bench(const struct tool_args *args);

/* See struct storm_bench_voronoi_params. */
bool tool_voropp(uint64_t n, const double *points_cm, double limit_s,
                 double *cpu_s_out);
int tool_options(const struct tool_args *args);
int tool_check(const struct tool_args *args);
int tool_run(const struct tool_args *args);
int tool_plot(const struct tool_args *args);
int tool_report(const struct tool_args *args);
int tool_compare(const struct tool_args *args);
int tool_points(const struct tool_args *args);
int tool_lab(const struct tool_args *args);

/* Prints the state of a run that is drawn, if it is not done. */
void tool_print_state(const struct tool_args *args);

/* May the run write to args->out? TOOL_OK or TOOL_USAGE (printed). */
int tool_check_out(const struct tool_args *args);

/* The same without a word, after a run has failed. */
bool tool_is_refused(const struct tool_args *args);
storm_status tool_run_deck(struct storm_context *context,
                           const struct tool_args *args,
                           const struct storm_progress *progress,
                           struct storm_run_report **report_out);

/* deck.c: reads args->deck; prints what is wrong. Sets the options of the deck
 * that are not set yet. Free *deck_out with storm_deck_destroy. */
int tool_read_deck(const struct tool_args *args, struct storm_deck **deck_out);

/* Checks the files that a deck names. An error is printed. */
int tool_check_files(const struct storm_deck *deck);

/* output.c: makes a directory with its parents; writes a file into one and puts
 * its path into `path_out`. Both print what is wrong. */
enum { TOOL_PATH_BYTES = 4096 };
int tool_directory(const char *path);
int tool_write(const char *dir, const char *name, const char *text,
               char path_out[TOOL_PATH_BYTES]);

/* Will --json be written? Asked before the work. TOOL_OK or TOOL_USAGE
 * (printed). */
int tool_check_json(const struct tool_args *args);

/* Writes the file of --json. TOOL_OK or TOOL_FAILED (printed). */
int tool_write_json(const char *path, const char *json);

/* Writes the results, on rank 0; what is for people to standard error if
 * `one_stream`. */
int tool_output(const struct tool_args *args,
                const struct storm_run_report *report, bool one_stream);

#endif /* STORM_TOOL_H */
