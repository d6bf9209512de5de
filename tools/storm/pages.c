/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of commands and options as completions of shells and as manual
 * pages; installed with the program. */
#include <stdio.h>
#include <string.h>

#include <storm/version.h>

#include "tool.h"

/* Prints the words of "a|b", each with this before it. */
static void pages_words(const char *choices, const char *before)
{
    while (*choices != '\0') {
        size_t n = strcspn(choices, "|");
        printf("%s%.*s", before, (int)n, choices);
        choices += n + (choices[n] == '|');
    }
}

/* What a value of a flag is called and made of. */
static bool pages_is_directory(const struct tool_flag *flag)
{
    return flag->value != NULL && strcmp(flag->value, "DIR") == 0;
}

/* ---- bash ---------------------------------------------------------------- */

static void bash_flags(const struct tool_flag *flags)
{
    for (; flags != NULL && flags->name != NULL; flags++)
        printf(" %s", flags->name);
}

static void bash_options(void)
{
    const struct storm_option *row;
    for (size_t i = 0; (row = storm_option_at(i)) != NULL; i++) {
        printf(" %s", row->flag);
        if (row->type == STORM_OPTION_BOOL)
            printf(" --no-%s", row->flag + 2);
    }
}

/* A branch for the values of each flag that has a list of them. */
static void bash_values(const struct tool_flag *flags)
{
    for (; flags != NULL && flags->name != NULL; flags++) {
        if (flags->choices == NULL && !pages_is_directory(flags))
            continue;
        printf("    %s)\n        COMPREPLY=($(compgen ", flags->name);
        if (flags->choices != NULL) {
            printf("-W \"");
            pages_words(flags->choices, " ");
            printf("\"");
        } else {
            printf("-d");
        }
        printf(" -- \"$word\"))\n        return\n        ;;\n");
    }
}

static void bash_command(const struct tool_command *command)
{
    printf("    %s)\n        words=\"", command->name);
    bash_flags(command->flags);
    bash_flags(tool_global_flags);
    if (command->takes_options)
        bash_options();
    if (command->run == tool_bench)
        for (const struct tool_bench *b = tool_benches; b->name != NULL; b++) {
            printf(" %s", b->name);
            bash_flags(b->flags);
        }
    printf("\"\n");
    if (command->takes_deck)
        printf("        files=\"-o plusdirs -f -X !*.y*ml\"\n");
    if (command->takes_run)
        printf("        files=\"-d\"\n");
    if (command->takes_two)
        printf("        files=\"-f\"\n");
    printf("        ;;\n");
}

static void pages_bash(void)
{
    const struct storm_option *row;
    printf("# bash completion for storm; written by storm options "
           "--completion bash\n\n"
           "_storm()\n{\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} words= files=\n"
           "    COMPREPLY=()\n"
           "    case ${COMP_WORDS[COMP_CWORD - 1]} in\n");
    for (const struct tool_command *c = tool_commands; c->name != NULL; c++)
        bash_values(c->flags);
    for (size_t i = 0; (row = storm_option_at(i)) != NULL; i++)
        if (row->type == STORM_OPTION_WORD) {
            const struct tool_flag flags[2] = {
                {.name = row->flag, .choices = row->choices}, {.name = NULL}};
            bash_values(flags);
        }
    printf("    esac\n    case ${COMP_WORDS[1]} in\n");
    for (const struct tool_command *c = tool_commands; c->name != NULL; c++)
        bash_command(c);
    printf("    esac\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        words=\"help");
    for (const struct tool_command *c = tool_commands; c->name != NULL; c++)
        printf(" %s", c->name);
    bash_flags(tool_global_flags);
    printf("\"\n        files=\n    fi\n"
           "    case $word in\n"
           "    -*) files= ;;\n"
           "    esac\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
           "    if [ -n \"$files\" ]; then\n"
           "        COMPREPLY+=($(compgen $files -- \"$word\"))\n"
           "    fi\n"
           "}\n"
           "complete -o filenames -F _storm storm\n");
}

/* ---- zsh ----------------------------------------------------------------- */

/* Text between brackets and quotes. */
static void zsh_text(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            printf("'\\'");
        else if (strchr("[]:\\", *text) != NULL)
            printf("\\");
        printf("%c", *text);
    }
}

static void zsh_flag(const struct tool_flag *flag)
{
    bool repeats = flag->kind == TOOL_SET || flag->kind == TOOL_TEXTS;
    printf("            '%s%s[", repeats ? "*" : "", flag->name);
    zsh_text(flag->help);
    printf("]");
    if (flag->kind != TOOL_SWITCH) {
        printf(":");
        zsh_text(flag->value);
        printf(":");
    }
    if (flag->choices != NULL) {
        printf("(");
        pages_words(flag->choices, " ");
        printf(")");
    } else if (pages_is_directory(flag)) {
        printf("_files -/");
    } else if (flag->value != NULL && strcmp(flag->value, "FILE") == 0) {
        printf("_files");
    }
    printf("' \\\n");
}

static void zsh_flags(const struct tool_flag *flags)
{
    for (; flags != NULL && flags->name != NULL; flags++)
        zsh_flag(flags);
}

static void zsh_command(const struct tool_command *command)
{
    const struct storm_option *row;
    printf("    %s)\n        _arguments \\\n", command->name);
    zsh_flags(command->flags);
    zsh_flags(tool_global_flags);
    for (size_t i = 0;
         command->takes_options && (row = storm_option_at(i)) != NULL; i++) {
        const struct tool_flag flag = {
            .name = row->flag,
            .value = "value",
            .kind = row->type == STORM_OPTION_BOOL ? TOOL_SWITCH : TOOL_TEXT,
            .choices = row->type == STORM_OPTION_WORD ? row->choices : NULL,
            .help = row->help};
        zsh_flag(&flag);
        if (row->type == STORM_OPTION_BOOL)
            printf("            '--no-%s[the opposite of %s]' \\\n",
                   row->flag + 2, row->flag);
    }
    if (command->takes_deck)
        printf("            '1:deck:_files -g \"*.(yaml|yml)\"' \\\n");
    if (command->takes_run)
        printf("            '1:directory of a run:_files -/' \\\n");
    if (command->takes_two)
        printf("            '1:result:_files' '2:result:_files' \\\n");
    if (command->run == tool_bench) {
        printf("            '1:benchmark:(");
        for (const struct tool_bench *b = tool_benches; b->name != NULL; b++)
            printf(" %s", b->name);
        printf(")' \\\n");
    }
    printf("            && return\n        ;;\n");
}

static void pages_zsh(void)
{
    printf("#compdef storm\n"
           "# zsh completion for storm; written by storm options --completion "
           "zsh\n\n"
           "local -a commands=(\n");
    for (const struct tool_command *c = tool_commands; c->name != NULL; c++) {
        printf("    '%s:", c->name);
        zsh_text(c->summary);
        printf("'\n");
    }
    printf("    'help:describe a command'\n)\n"
           "if (( CURRENT == 2 )); then\n"
           "    _describe command commands && return\n"
           "fi\n"
           "shift words\n"
           "(( CURRENT-- ))\n"
           "case $words[1] in\n");
    for (const struct tool_command *c = tool_commands; c->name != NULL; c++)
        zsh_command(c);
    printf("    help)\n        _describe command commands\n        ;;\nesac\n");
}

/* ---- manual pages -------------------------------------------------------- */

static void man_text(const char *text)
{
    if (*text == '.' || *text == '\'')
        printf("\\&");
    for (; *text != '\0'; text++)
        printf(*text == '-' ? "\\-" : *text == '\\' ? "\\e" : "%c", *text);
}

static void man_flags(const struct tool_flag *flags)
{
    for (; flags != NULL && flags->name != NULL; flags++) {
        printf(".TP\n.B ");
        man_text(flags->name);
        if (flags->value != NULL) {
            printf(" \\fI");
            man_text(flags->value);
            printf("\\fR");
        }
        printf("\n");
        man_text(flags->help);
        printf("\n");
    }
}

static void man_options(void)
{
    const struct storm_option *row;
    printf(".SH TRANSPORT\n");
    for (size_t i = 0; (row = storm_option_at(i)) != NULL; i++) {
        printf(".TP\n.B ");
        man_text(row->flag);
        if (row->type == STORM_OPTION_BOOL) {
            printf(" \\fRor\\fB \\-\\-no\\-");
            man_text(row->flag + 2);
        } else if (row->type == STORM_OPTION_WORD) {
            printf(" \\fI");
            man_text(row->choices);
            printf("\\fR");
        } else {
            printf(" \\fIvalue\\fR");
        }
        printf("\n");
        man_text(row->help);
        if (row->default_value[0] != '\0') {
            printf(" (default ");
            man_text(row->default_value);
            printf(")");
        }
        printf("\n");
    }
}

static void man_benches(void)
{
    printf(".SH BENCHMARKS\n");
    for (const struct tool_bench *b = tool_benches; b->name != NULL; b++) {
        printf(".SS %s\n", b->name);
        man_text(b->summary);
        printf(".\n");
        man_flags(b->flags);
    }
}

static void pages_man(const struct tool_command *command)
{
    char status[TOOL_STATUS_BYTES];
    printf(".\\\" written by storm options --man %s\n"
           ".TH STORM-%s 1 \"\" \"storm %s\" \"User commands\"\n"
           ".SH NAME\nstorm\\-%s \\- ",
           command->name, command->name, storm_version(), command->name);
    man_text(command->summary);
    printf("\n.SH SYNOPSIS\n.B storm %s\n", command->name);
    man_text(command->usage + strspn(command->usage, " "));
    if (command->flags != NULL)
        printf("\n.SH OPTIONS\n");
    man_flags(command->flags);
    if (command->run == tool_bench)
        man_benches();
    if (command->takes_options)
        man_options();
    tool_status_text(command, status);
    printf(".SH EXIT STATUS\n%s.\n"
           ".SH SEE ALSO\n.BR storm (1)\n",
           status);
}

/* ---- storm options ------------------------------------------------------- */

int tool_pages_completion(int shell)
{
    if (shell == TOOL_SHELL_BASH)
        pages_bash();
    else
        pages_zsh();
    return TOOL_OK;
}

int tool_pages_man(const char *name)
{
    for (const struct tool_command *c = tool_commands; c->name != NULL; c++)
        if (strcmp(c->name, name) == 0) {
            pages_man(c);
            return TOOL_OK;
        }
    return tool_usage("--man: there is no command '%s'; 'storm --help' lists "
                      "them",
                      name);
}
