/* SPDX-License-Identifier: BSD-3-Clause */
/* Help, from the same tables the parser reads. */
#include <stdio.h>
#include <string.h>

#include <storm/version.h>

#include "tool.h"

enum { HELP_COLUMN = 24, HELP_WIDTH = 79 };

/* "  name   text", the text wrapped in its column. */
static void help_row(const char *name, const char *text)
{
    int at = printf("  %-*s", HELP_COLUMN - 2, name);
    if (at > HELP_COLUMN) {
        printf("\n%*s", HELP_COLUMN, "");
        at = HELP_COLUMN;
    }
    for (const char *word = text; *word != '\0';) {
        size_t n = strcspn(word, " ");
        if (at + 1 + (int)n > HELP_WIDTH) {
            printf("\n%*s", HELP_COLUMN, "");
            at = HELP_COLUMN;
        }
        at += printf("%s%.*s", at > HELP_COLUMN ? " " : "", (int)n, word);
        word += n + strspn(word + n, " ");
    }
    printf("\n");
}

static void help_flags(const struct tool_flag *flags)
{
    for (; flags != NULL && flags->name != NULL; flags++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s%s%s%s", flags->name,
                 flags->alias != NULL ? ", " : "",
                 flags->alias != NULL ? flags->alias : "",
                 flags->value != NULL ? " " : "",
                 flags->value != NULL ? flags->value : "");
        help_row(name, flags->help);
    }
}

static void help_options(void)
{
    const struct storm_option *row;
    for (size_t i = 0; (row = storm_option_at(i)) != NULL; i++) {
        char name[64], text[512];
        switch (row->type) {
        case STORM_OPTION_BOOL: /* the opposite of the default */
            snprintf(name, sizeof name, "--%s%s",
                     strcmp(row->default_value, "true") == 0 ? "no-" : "",
                     row->flag + 2);
            break;
        case STORM_OPTION_INT:
            snprintf(name, sizeof name, "%s N", row->flag);
            break;
        case STORM_OPTION_REAL:
            snprintf(name, sizeof name, "%s X", row->flag);
            break;
        case STORM_OPTION_WORD:
            snprintf(name, sizeof name, "%s WORD", row->flag);
            break;
        case STORM_OPTION_TEXT:
            snprintf(name, sizeof name, "%s NAME", row->flag);
            break;
        }
        if (row->type == STORM_OPTION_BOOL)
            snprintf(text, sizeof text, "%s%s",
                     strcmp(row->default_value, "true") == 0 ? "do not " : "",
                     row->help);
        else if (row->type == STORM_OPTION_WORD)
            snprintf(text, sizeof text, "%s (%s)", row->help, row->choices);
        else if (row->default_value[0] == '\0')
            snprintf(text, sizeof text, "%s", row->help);
        else
            snprintf(text, sizeof text, "%s (default %s)", row->help,
                     row->default_value);
        help_row(name, text);
    }
}

void tool_status_text(const struct tool_command *command,
                      char text_out[TOOL_STATUS_BYTES])
{
    bool compares = command != NULL && command->run == tool_compare;
    bool stops = command == NULL || command->run == tool_run;
    snprintf(text_out, TOOL_STATUS_BYTES,
             "0 %s, 1 %s, 2 wrong command line%s%s",
             compares ? "within" : "success",
             compares ? "beyond or failed" : "failed",
             command == NULL || command->takes_deck ? " or deck"
             : compares                             ? " or results"
                                                    : "",
             stops ? ", 3 stopped" : "");
}

static void help_status(const struct tool_command *command)
{
    char text[TOOL_STATUS_BYTES];
    tool_status_text(command, text);
    printf("\nExit status: %s.\n", text);
}

static void help_main(void)
{
    printf("storm %s - Monte Carlo transport of particles over many ranks\n\n"
           "usage: storm COMMAND [options]\n\n",
           storm_version());
    for (const struct tool_command *c = tool_commands; c->name != NULL; c++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s", c->name, c->usage);
        help_row(name, c->summary);
    }
    printf("\n");
    help_flags(tool_global_flags);
    printf("\n'storm help COMMAND' describes a command. Examples:\n\n"
           "  storm run examples/decks/marshak.yaml\n"
           "  storm bench uniform --demo\n");
    help_status(NULL);
}

static void help_bench(const struct tool_command *command)
{
    printf("usage: storm bench%s\n\n%s. Benchmarks:\n\n", command->usage,
           "Run a benchmark and print a summary as JSON");
    for (const struct tool_bench *b = tool_benches; b->name != NULL; b++)
        help_row(b->name, b->summary);
    printf("\nOptions of all; 'storm bench NAME --help' lists its own:\n\n");
    help_flags(command->flags);
    printf("\nHow packets travel:\n\n");
    help_options();
    help_status(command);
}

int tool_help(const struct tool_args *args)
{
    const struct tool_command *command = args->command;
    if (command == NULL) {
        help_main();
    } else if (args->bench != NULL) {
        printf("usage: storm bench %s [options]\n\n%c%s.\n\n",
               args->bench->name, args->bench->summary[0] - 'a' + 'A',
               args->bench->summary + 1);
        help_flags(args->bench->flags);
        printf("\n'storm bench --help' lists the options of all "
               "benchmarks.\n");
    } else if (command->run == tool_bench) {
        help_bench(command);
    } else {
        printf("usage: storm %s%s\n\n%c%s.\n", command->name, command->usage,
               command->summary[0] - 'a' + 'A', command->summary + 1);
        if (command->flags != NULL) {
            printf("\n");
            help_flags(command->flags);
        }
        if (command->takes_options) {
            printf("\nHow packets travel:\n\n");
            help_options();
        }
        help_status(command);
    }
    return TOOL_OK;
}
