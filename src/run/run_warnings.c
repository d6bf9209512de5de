/* SPDX-License-Identifier: BSD-3-Clause */
/* Warnings of a run: logged at once, and kept for summary.json and report. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <storm/context.h>

#include "base/env.h"
#include "base/json.h"
#include "run/run.h"

static const char warnings_label[] = "run";

/* Without memory it is in the log alone. */
static void warnings_keep(struct run *run, const char *text)
{
    struct storm_memory *memory = storm_context_env(run->context)->memory;
    size_t n = strlen(text) + 1;
    void *list = run->warnings;
    char *copy = storm_alloc(memory, warnings_label, n);
    if (copy == NULL)
        return;
    memcpy(copy, text, n);
    if (storm_reserve(memory, warnings_label, sizeof *run->warnings,
                      run->n_warnings + 1, &list,
                      &run->warnings_capacity) < 0) {
        storm_free(memory, copy);
        return;
    }
    run->warnings = list;
    run->warnings[run->n_warnings++] = copy;
}

void run_warn(struct run *run, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    storm_context_log(run->context, STORM_LOG_WARN, "%s", text);
    warnings_keep(run, text);
}

void run_warnings_json(const struct run *run, struct storm_json *json)
{
    if (run->n_warnings == 0)
        return;
    storm_json_open(json, "warnings", '[');
    for (size_t i = 0; i < run->n_warnings; i++)
        storm_json_text(json, NULL, run->warnings[i]);
    storm_json_close(json, ']');
}

void run_warnings_close(struct run *run)
{
    struct storm_memory *memory = storm_context_env(run->context)->memory;
    for (size_t i = 0; i < run->n_warnings; i++)
        storm_free(memory, run->warnings[i]);
    storm_free(memory, run->warnings);
}
