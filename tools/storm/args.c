/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line. It is checked before anything is started or written. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

int tool_usage(const char *format, ...)
{
    struct tool_launcher launcher = tool_launcher();
    if (launcher.is_there && launcher.rank != 0)
        return TOOL_USAGE;
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    line[strcspn(line, "\n")] = '\0';
    fprintf(stderr, "storm: error: %s\n", line);
    return TOOL_USAGE;
}

/* ---- "did you mean" ------------------------------------------------------ */

/* Letters to insert, delete or replace to make b of a. */
static size_t args_distance(const char *a, const char *b)
{
    enum { MAX = 63 };
    size_t row[MAX + 1], n = strlen(b);
    if (n > MAX)
        return n;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t above_left = row[0];
        row[0] = i + 1;
        for (size_t j = 1; j <= n; j++) {
            size_t above = row[j];
            size_t best = above_left + (a[i] != b[j - 1]);
            if (above + 1 < best)
                best = above + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
            above_left = above;
        }
    }
    return row[n];
}

struct args_nearest {
    const char *wanted, *found;
    size_t distance; /* of those found; at first, too far */
};

/* Does the name begin with `with`, which has at least one letter? */
static bool args_begins(const char *name, const char *with)
{
    return with[strspn(with, "-")] != '\0' &&
           strncmp(name, with, strlen(with)) == 0;
}

/* A prefix is as near as a name that differs by one letter. */
static void args_consider(struct args_nearest *nearest, const char *name)
{
    if (name == NULL)
        return;
    size_t distance = args_distance(nearest->wanted, name);
    if (distance > 1 && args_begins(name, nearest->wanted))
        distance = 1;
    if (distance < nearest->distance &&
        2 * distance <= strlen(name) - strspn(name, "-")) {
        nearest->distance = distance;
        nearest->found = name;
    }
}

/* Up to two letters may be wrong, but not more than half of those of either
 * word: other guesses would mislead. */
static struct args_nearest args_nearest_to(const char *wanted)
{
    size_t half = (strlen(wanted) - strspn(wanted, "-")) / 2;
    return (struct args_nearest){.wanted = wanted,
                                 .distance = 1 + (half < 2 ? half : 2)};
}

static int args_unknown(const char *what, const struct args_nearest *nearest,
                        const char *help)
{
    if (nearest->found != NULL)
        return tool_usage("unknown %s '%s'; did you mean '%s'?", what,
                          nearest->wanted, nearest->found);
    return tool_usage("unknown %s '%s'; '%s' lists them", what, nearest->wanted,
                      help);
}

/* ---- values -------------------------------------------------------------- */

/* A decimal number and nothing else: no blanks, hexadecimal, inf or nan. */
static bool args_number(const char *text, double *value_out)
{
    if (*text == '\0' || text[strspn(text, "0123456789.eE+-")] != '\0')
        return false;
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (*end != '\0' || end == text || !isfinite(value) || errno != 0)
        return false;
    *value_out = value;
    return true;
}

/* 90, 50m, 3h50m, 1d, 5s: numbers with units, largest first; without one,
 * seconds. */
static bool args_time_units(const char *text, double *sum_out)
{
    static const char units[] = "dhms";
    static const double seconds[] = {86400.0, 3600.0, 60.0, 1.0};
    double sum = 0.0;
    for (size_t i_unit = 0; *text != '\0';) {
        char number[32];
        size_t n = strspn(text, "0123456789.");
        double value;
        snprintf(number, sizeof number, "%.*s", (int)n, text);
        const char *unit = text[n] != '\0' ? strchr(units, text[n]) : units + 3;
        if (n >= sizeof number || !args_number(number, &value) ||
            unit == NULL || (size_t)(unit - units) < i_unit)
            return false;
        sum += value * seconds[unit - units];
        i_unit = (size_t)(unit - units) + 1;
        text += n + (text[n] != '\0');
    }
    *sum_out = sum;
    return true;
}

/* 3:50:00 or 1-3:50:00, as Slurm writes them. Not 3:50, which are minutes to
 * Slurm and hours to others. */
static bool args_time_clock(const char *text, double *sum_out)
{
    unsigned day = 0, hour, minute, second;
    int end = 0;
    if (text[strspn(text, "0123456789:-")] != '\0')
        return false;
    if (strchr(text, '-') != NULL)
        (void)sscanf(text, "%4u-%4u:%2u:%2u%n", &day, &hour, &minute, &second,
                     &end);
    else
        (void)sscanf(text, "%6u:%2u:%2u%n", &hour, &minute, &second, &end);
    if (end == 0 || text[end] != '\0' || minute > 59 || second > 59)
        return false;
    *sum_out = day * 86400.0 + hour * 3600.0 + minute * 60.0 + second;
    return true;
}

static bool args_time(const char *text, double *value_out)
{
    return (args_time_units(text, value_out) ||
            args_time_clock(text, value_out)) &&
           *value_out > 0.0 && *value_out <= 1e9;
}

static bool args_in_range(const struct tool_flag *flag, const char *text,
                          double *value_out)
{
    double value;
    if (!args_number(text, &value) || value < flag->min || value > flag->max)
        return false;
    if (flag->kind != TOOL_REAL && value != floor(value))
        return false;
    *value_out = value;
    return true;
}

static int args_expected(const struct tool_flag *flag, const char *name,
                         const char *text)
{
    static const char *const kinds[] = {
        [TOOL_COUNT] = "a whole number",
        [TOOL_COUNT32] = "a whole number",
        [TOOL_REAL] = "a number",
        [TOOL_LIST] = "whole numbers, separated by commas, each"};
    return tool_usage("%s: expected %s from %.15g to %.15g, got '%s'", name,
                      kinds[flag->kind], flag->min, flag->max, text);
}

static int args_set_list(struct storm_bench_numbers *list,
                         const struct tool_flag *flag, const char *name,
                         const char *text)
{
    list->n = 0;
    if (strstr(text, ",,") != NULL)
        return args_expected(flag, name, text);
    size_t length;
    for (const char *item = text + (*text == ','); *item != '\0';
         item += length + (item[length] == ',')) {
        char number[64];
        double value;
        length = strcspn(item, ",");
        snprintf(number, sizeof number, "%.*s", (int)length, item);
        if (list->n == STORM_BENCH_MAX_NUMBERS)
            return tool_usage("%s: at most %d numbers", name,
                              STORM_BENCH_MAX_NUMBERS);
        if (length >= sizeof number || !args_in_range(flag, number, &value))
            return args_expected(flag, name, text);
        list->value[list->n++] = (uint32_t)value;
    }
    return list->n > 0 ? TOOL_OK : args_expected(flag, name, text);
}

/* "a, b or c" */
static int args_expected_word(const struct tool_flag *flag, const char *name,
                              const char *text)
{
    char words[256] = "";
    size_t length = 0;
    for (const char *word = flag->choices; *word != '\0';) {
        size_t n = strcspn(word, "|");
        bool is_last = word[n] == '\0';
        const char *before = length == 0 ? "" : is_last ? " or " : ", ";
        length += (size_t)snprintf(words + length, sizeof words - length,
                                   "%s%.*s", before, (int)n, word);
        word += n + !is_last;
    }
    return tool_usage("%s: expected %s, got '%s'", name, words, text);
}

static int args_set_word(int *field, const struct tool_flag *flag,
                         const char *name, const char *text)
{
    const char *word = flag->choices;
    for (int i = 0; *word != '\0'; i++) {
        size_t n = strcspn(word, "|");
        if (n == strlen(text) && strncmp(word, text, n) == 0) {
            *field = i;
            return TOOL_OK;
        }
        word += n + (word[n] == '|');
    }
    return args_expected_word(flag, name, text);
}

static int args_set_option(struct tool_args *args, const char *name,
                           const char *value)
{
    char problem[512] = "";
    if (storm_options_set(args->options, name, value, problem, sizeof problem) <
        0)
        return tool_usage("%s", problem);
    return TOOL_OK;
}

/* --set KEY=VALUE: keys of the table, by their full name. */
static int args_set_pair(struct tool_args *args, const char *name,
                         const char *pair)
{
    char key[128];
    size_t length = strcspn(pair, "=");
    if (pair[length] == '\0' || length == 0 || length >= sizeof key)
        return tool_usage("%s: expected KEY=VALUE, got '%s'", name, pair);
    if ((args->command != NULL && args->command->takes_deck) ||
        (args->bench != NULL && args->bench->takes_deck)) {
        args->sets[args->n_sets++] = pair; /* the deck knows its keys */
        return TOOL_OK;
    }
    memcpy(key, pair, length);
    key[length] = '\0';
    const struct storm_option *row = storm_option_find(key);
    if (row != NULL && strcmp(row->key, key) == 0)
        return args_set_option(args, key, pair + length + 1);
    struct args_nearest nearest = args_nearest_to(key);
    for (size_t i = 0; (row = storm_option_at(i)) != NULL; i++)
        args_consider(&nearest, row->key);
    return args_unknown("key", &nearest, "storm options");
}

static int args_set_flag(struct tool_args *args, const struct tool_flag *flag,
                         const char *name, const char *text)
{
    void *field = (char *)args + flag->offset;
    double value;
    switch (flag->kind) {
    case TOOL_SWITCH:
        *(bool *)field = true;
        return TOOL_OK;
    case TOOL_TEXT:
        if (*text == '\0')
            return tool_usage("%s: expected a %s, got nothing", name,
                              flag->value);
        *(const char **)field = text;
        return TOOL_OK;
    case TOOL_TIME:
        if (!args_time(text, field))
            return tool_usage("%s: expected a time above 0 such as 90 "
                              "(seconds), 50m, 3h50m10s or 3:50:10, got '%s'",
                              name, text);
        return TOOL_OK;
    case TOOL_WORD:
        return args_set_word(field, flag, name, text);
    case TOOL_LIST:
        return args_set_list(field, flag, name, text);
    case TOOL_SET:
        return args_set_pair(args, name, text);
    case TOOL_TEXTS:
        args->sets[args->n_sets++] = text;
        return TOOL_OK;
    case TOOL_COUNT:
    case TOOL_COUNT32:
    case TOOL_REAL:
        if (!args_in_range(flag, text, &value))
            return args_expected(flag, name, text);
        if (flag->kind == TOOL_REAL)
            *(double *)field = value;
        else if (flag->kind == TOOL_COUNT)
            *(uint64_t *)field = (uint64_t)value;
        else
            *(uint32_t *)field = (uint32_t)value;
        return TOOL_OK;
    }
    return TOOL_OK;
}

/* ---- flags --------------------------------------------------------------- */

static const struct tool_flag *args_find_in(const struct tool_flag *flags,
                                            const char *name)
{
    for (; flags != NULL && flags->name != NULL; flags++)
        if (strcmp(flags->name, name) == 0 ||
            (flags->alias != NULL && strcmp(flags->alias, name) == 0))
            return flags;
    return NULL;
}

/* A benchmark's own flag wins over one of the option table. */
static const struct tool_flag *args_find(const struct tool_args *args,
                                         const char *name)
{
    const struct tool_flag *flag = NULL;
    if (args->bench != NULL)
        flag = args_find_in(args->bench->flags, name);
    if (flag == NULL && args->command != NULL)
        flag = args_find_in(args->command->flags, name);
    return flag != NULL ? flag : args_find_in(tool_global_flags, name);
}

/* The row of the table for a flag; --no-X is X of a row of kind BOOL. */
static const struct storm_option *args_find_row(const char *name,
                                                bool *negated_out)
{
    const struct storm_option *row = storm_option_find(name);
    *negated_out = false;
    if (row == NULL && strncmp(name, "--no-", 5) == 0) {
        char positive[160];
        snprintf(positive, sizeof positive, "--%s", name + 5);
        row = storm_option_find(positive);
        *negated_out = true;
        if (row != NULL && row->type != STORM_OPTION_BOOL)
            row = NULL;
    }
    return row != NULL && strncmp(name, "--", 2) == 0 ? row : NULL;
}

static int args_unknown_flag(const struct tool_args *args, const char *name)
{
    struct args_nearest nearest = args_nearest_to(name);
    const struct tool_flag *lists[] = {
        args->bench != NULL ? args->bench->flags : NULL,
        args->command != NULL ? args->command->flags : NULL, tool_global_flags};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        for (const struct tool_flag *flag = lists[i];
             flag != NULL && flag->name != NULL; flag++)
            args_consider(&nearest, flag->name);
    const struct storm_option *row;
    if (args->command != NULL && args->command->takes_options)
        for (size_t i = 0; (row = storm_option_at(i)) != NULL; i++)
            args_consider(&nearest, row->flag);
    return args_unknown("option", &nearest, "storm --help");
}

/* One argument of the command line, taken apart. */
struct args_word {
    char name[128];
    const char *value; /* after '=', or the next argument; NULL: none */
    int n_used;        /* arguments, if the value is used */
    bool attached;     /* --name=value, or -n4 */
};

/* A flag, not a value? Numbers may be negative, and - is standard output. */
static bool args_is_flag(const char *text)
{
    return text[0] == '-' && text[1] != '\0' &&
           strchr("0123456789.", text[1]) == NULL;
}

/* A value that looks like a flag must be attached. */
static struct args_word args_split(char **argv, int argc, int i)
{
    struct args_word word = {.n_used = 1};
    const char *text = argv[i];
    bool is_long = strncmp(text, "--", 2) == 0;
    size_t length = is_long ? strcspn(text, "=") : 2;
    snprintf(word.name, sizeof word.name, "%.*s", (int)length, text);
    if (text[length] != '\0') {
        word.value = text + length + (is_long ? 1 : 0);
        word.attached = true;
    } else if (i + 1 < argc && !args_is_flag(argv[i + 1])) {
        word.value = argv[i + 1];
        word.n_used = 2;
    }
    return word;
}

/* A flag of the option table. Returns TOOL_OK and how many arguments. */
static int args_take_row(struct tool_args *args, const struct args_word *word,
                         const struct storm_option *row, bool negated,
                         int *n_used_out)
{
    *n_used_out = 1;
    if (row->type == STORM_OPTION_BOOL && !word->attached)
        return args_set_option(args, row->flag, negated ? "false" : "true");
    if (negated)
        return tool_usage("%s takes no value", word->name);
    if (word->value == NULL)
        return tool_usage("%s needs a value", word->name);
    *n_used_out = word->n_used;
    return args_set_option(args, row->flag, word->value);
}

/* Is the flag for the process that starts the ranks alone? */
static bool args_is_for_launcher(const struct tool_flag *flag)
{
    return flag->offset == offsetof(struct tool_args, ranks) ||
           flag->offset == offsetof(struct tool_args, launcher);
}

static int args_take_flag(struct tool_args *args, char **argv, int argc,
                          int *i_inout)
{
    struct args_word word = args_split(argv, argc, *i_inout);
    const struct tool_flag *flag = args_find(args, word.name);
    int n_used = 1, status;
    if (flag != NULL) {
        if (flag->kind == TOOL_SWITCH && word.attached)
            return tool_usage("%s takes no value", word.name);
        if (flag->kind != TOOL_SWITCH && word.value == NULL)
            return tool_usage("%s needs a value", word.name);
        status = args_set_flag(args, flag, word.name, word.value);
        args->given[args->n_given++] = flag;
        n_used = flag->kind == TOOL_SWITCH ? 1 : word.n_used;
    } else {
        bool negated;
        const struct storm_option *row = args_find_row(word.name, &negated);
        if (row == NULL || args->command == NULL ||
            !args->command->takes_options)
            return args_unknown_flag(args, word.name);
        status = args_take_row(args, &word, row, negated, &n_used);
    }
    if (flag == NULL || !args_is_for_launcher(flag))
        for (int k = 0; k < n_used; k++)
            args->child_argv[args->n_child++] = argv[*i_inout + k];
    *i_inout += n_used;
    return status;
}

/* ---- the environment ----------------------------------------------------- */

/* A variable that is almost an option's is one with a mistake in it. Others may
 * have variables that begin with STORM_, too. */
static void args_warn_variable(const char *entry)
{
    char name[64];
    size_t n = strcspn(entry, "=");
    if (strncmp(entry, "STORM_", 6) != 0 || n >= sizeof name)
        return;
    memcpy(name, entry, n);
    name[n] = '\0';
    struct args_nearest nearest = {.wanted = name, .distance = 3};
    const struct storm_option *row;
    for (size_t i = 0; (row = storm_option_at(i)) != NULL; i++) {
        size_t distance = args_distance(name, row->env);
        if (distance < nearest.distance) {
            nearest.distance = distance;
            nearest.found = row->env;
        }
    }
    if (nearest.found != NULL && nearest.distance > 0)
        fprintf(stderr,
                "storm: warning: the environment variable %s is not used; did "
                "you mean %s?\n",
                name, nearest.found);
}

/* Once, not by the ranks of this program. */
static void args_warn_environment(const struct tool_args *args)
{
    extern char **environ;
    if (args->quiet || tool_was_launched() || tool_launcher().rank != 0)
        return;
    for (char **entry = environ; *entry != NULL; entry++)
        args_warn_variable(*entry);
}

/* ---- the whole line ------------------------------------------------------ */

/* "help COMMAND" is COMMAND --help. */
static int args_take_command(struct tool_args *args, const char *word)
{
    struct args_nearest nearest = args_nearest_to(word);
    if (strcmp(word, "help") == 0) {
        args->help = true;
        return TOOL_OK;
    }
    args_consider(&nearest, "help");
    for (const struct tool_command *c = tool_commands; c->name != NULL; c++) {
        if (strcmp(c->name, word) == 0) {
            args->command = c;
            return TOOL_OK;
        }
        args_consider(&nearest, c->name);
    }
    return args_unknown("command", &nearest, "storm --help");
}

static int args_take_bench(struct tool_args *args, const char *word)
{
    struct args_nearest nearest = args_nearest_to(word);
    for (const struct tool_bench *b = tool_benches; b->name != NULL; b++) {
        if (strcmp(b->name, word) == 0) {
            args->bench = b;
            return TOOL_OK;
        }
        args_consider(&nearest, b->name);
    }
    return args_unknown("benchmark", &nearest, "storm bench --help");
}

static int args_take_word(struct tool_args *args, char *word)
{
    args->child_argv[args->n_child++] = word;
    if (args->command == NULL)
        return args_take_command(args, word);
    if (args->command->run == tool_bench && args->bench == NULL)
        return args_take_bench(args, word);
    if (args->command->run == tool_lab && strcmp(word, "scaling") == 0) {
        args->scaling = true;
        return TOOL_OK;
    }
    if (args->command->takes_deck && args->deck == NULL) {
        args->deck = word;
        return TOOL_OK;
    }
    if (args->command->takes_run && args->run_dir == NULL) {
        args->run_dir = word;
        return TOOL_OK;
    }
    if (args->command->takes_two && args->other == NULL) {
        *(args->run_dir == NULL ? &args->run_dir : &args->other) = word;
        return TOOL_OK;
    }
    return tool_usage("unexpected argument '%s'", word);
}

/* What depends on several flags. */
static int args_check(struct tool_args *args)
{
    if (args->help || args->version)
        return TOOL_OK;
    if (args->command == NULL)
        return tool_usage("no command; 'storm --help' lists them");
    if (args->command->takes_deck && args->deck == NULL && !args->keys &&
        args->restart == NULL)
        return tool_usage("%s: no deck; see 'storm %s --help'",
                          args->command->name, args->command->name);
    if (args->command->takes_run && args->run_dir == NULL)
        return tool_usage("%s: no directory of a run; see 'storm %s --help'",
                          args->command->name, args->command->name);
    if (args->command->takes_two && args->other == NULL)
        return tool_usage("%s: no two results; see 'storm %s --help'",
                          args->command->name, args->command->name);
    if (args->command->takes_options || args->command->takes_deck)
        args_warn_environment(args);
    if (!args->command->takes_options)
        return TOOL_OK;
    if (args->command->run == tool_bench && args->bench == NULL)
        return tool_usage(
            "bench: no benchmark; 'storm bench --help' lists them");
    if (args->command->run == tool_lab && !args->scaling)
        return tool_usage("lab: no name; there is: scaling");
    if (args->quiet && args->verbose)
        return tool_usage("--quiet and --verbose do not go together");
    int status = tool_check_backend(storm_options_text(args->options,
                                                       "transport.backend"));
    if (status == TOOL_OK && args->bench != NULL)
        status = args->bench->check(args);
    return status;
}

int tool_args_parse(struct tool_args *args, int argc, char **argv)
{
    char problem[512] = "";
    memset(args, 0, sizeof *args);
    args->child_argv = calloc((size_t)argc + 3, sizeof *args->child_argv);
    args->sets = calloc((size_t)argc + 2, sizeof *args->sets); /* and a seed */
    args->given = calloc((size_t)argc + 1, sizeof *args->given);
    if (args->child_argv == NULL || args->sets == NULL || args->given == NULL ||
        storm_options_create(&args->options) < 0) {
        fprintf(stderr, "storm: error: no memory\n");
        return TOOL_FAILED;
    }
    args->child_argv[args->n_child++] = argv[0];
    if (storm_options_set_from_env(args->options, problem, sizeof problem) < 0)
        return tool_usage("%s (environment)", problem);

    int status = TOOL_OK;
    for (int i = 1; i < argc && status == TOOL_OK;) {
        if (argv[i][0] == '-' && argv[i][1] != '\0')
            status = args_take_flag(args, argv, argc, &i);
        else
            status = args_take_word(args, argv[i++]);
    }
    return status == TOOL_OK ? args_check(args) : status;
}

bool tool_given(const struct tool_args *args, const char *name)
{
    for (size_t i = 0; i < args->n_given; i++)
        if (strcmp(args->given[i]->name, name) == 0)
            return true;
    return false;
}

void tool_args_clear(struct tool_args *args)
{
    storm_options_destroy(args->options);
    free(args->given);
    free(args->sets);
    free(args->child_argv);
}
