/* SPDX-License-Identifier: BSD-3-Clause */
/* storm options: the option table as text, or as a page of documentation. */
#include <stdio.h>
#include <string.h>

#include "tool.h"

/* What values an option takes. */
static void options_values(const struct storm_option *row, char *text_out,
                           size_t text_bytes)
{
    switch (row->type) {
    case STORM_OPTION_BOOL:
        snprintf(text_out, text_bytes, "true, false");
        break;
    case STORM_OPTION_INT:
    case STORM_OPTION_REAL:
        snprintf(text_out, text_bytes, "%.15g to %.15g", row->min, row->max);
        break;
    case STORM_OPTION_WORD:
        text_out[0] = '\0';
        for (const char *c = row->choices; *c != '\0';) {
            size_t n = strcspn(c, "|"), used = strlen(text_out);
            snprintf(text_out + used, text_bytes - used, "%.*s%s", (int)n, c,
                     c[n] == '|' ? ", " : "");
            c += n + (c[n] == '|');
        }
        break;
    case STORM_OPTION_TEXT:
        snprintf(text_out, text_bytes, "text");
        break;
    }
}

static void options_markdown(void)
{
    const struct storm_option *row;
    printf("# Options\n\n"
           "<!-- Written by `storm options --markdown`; do not edit. -->\n\n"
           "Every option has a key, for decks and `--set KEY=VALUE`; a flag; "
           "and an\nenvironment variable. Flags win over the environment. "
           "A flag with true and false\nneeds no value, and has a twin: "
           "`--no-shm` is `--shm=false`.\n\n"
           "| key | flag | environment | default | values | meaning |\n"
           "|---|---|---|---|---|---|\n");
    for (size_t i = 0; (row = storm_option_at(i)) != NULL; i++) {
        char values[256];
        options_values(row, values, sizeof values);
        printf("| `%s` | `%s` | `%s` | %s | %s | %s |\n", row->key, row->flag,
               row->env, row->default_value, values, row->help);
    }
}

int tool_options(const struct tool_args *args)
{
    if (args->completion != TOOL_SHELL_NONE)
        return tool_pages_completion(args->completion);
    if (args->man != NULL)
        return tool_pages_man(args->man);
    if (args->markdown) {
        options_markdown();
        return TOOL_OK;
    }
    const struct storm_option *row;
    for (size_t i = 0; (row = storm_option_at(i)) != NULL; i++) {
        char values[256];
        options_values(row, values, sizeof values);
        printf("%s, %s, %s\n    %s\n    %s; default %s\n", row->key, row->flag,
               row->env, row->help, values, row->default_value);
    }
    return TOOL_OK;
}
