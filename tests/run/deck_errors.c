/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 30 */
/*
 * DECK-2, YAML-3: every deck of bad_decks.txt is refused, with the message that
 * is expected: file, line, key. CHECK-3: values at the ends of the ranges of
 * keys are no errors. What the program makes of it: tests/cli/bad_decks.sh.
 */
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/deck.h>

#include "support/check.h"

enum { LINE = 4096 };

static char good[LINE]; /* the path of good.yaml */

/* A file of tests/, from the path of this one. */
static void path_of(const char *name, char path_out[LINE])
{
    const char *here = __FILE__, *end = strstr(here, "/run/deck_errors.c");
    CHECK(end != NULL);
    snprintf(path_out, LINE, "%.*s/%s", (int)(end - here), here, name);
}

/* Does one line of the text match, from its beginning? */
static bool matches(const char *text, const char *pattern)
{
    regex_t regex;
    CHECK_EQ(regcomp(&regex, pattern, REG_NEWLINE | REG_NOSUB), 0);
    bool found = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return found;
}

static void check_refused(storm_status status, char *problems,
                          const char *pattern)
{
    CHECK_EQ(status, STORM_ERR_IO);
    CHECK(problems != NULL);
    bool is_expected = matches(problems, pattern);
    if (!is_expected)
        fprintf(stderr, "'%s' does not match '%s'\n", problems, pattern);
    CHECK(is_expected);
    free(problems);
}

/* An entry that overrides one of good.yaml. */
static void check_set(const char *set, const char *pattern)
{
    struct storm_deck *deck;
    char *problems, whole[2 * LINE];
    snprintf(whole, sizeof whole, "^%s: --set: .*%s", good, pattern);
    storm_status status = storm_deck_read(good, &set, 1, &deck, &problems);
    check_refused(status, problems, strcmp(set, "=") == 0 ? pattern : whole);
}

/* A deck of its own, in one line with \n. */
static void check_deck(char *text, const char *line, const char *pattern)
{
    struct storm_deck *deck;
    char *problems, whole[2 * LINE];
    for (char *at = text; (at = strstr(at, "\\n")) != NULL;) {
        *at++ = '\n';
        memmove(at, at + 1, strlen(at));
    }
    snprintf(whole, sizeof whole, "^deck:%s: %s", line, pattern);
    strcat(text, "\n");
    storm_status status =
        storm_deck_parse("deck", text, strlen(text), NULL, 0, &deck, &problems);
    check_refused(status, problems, whole);
}

/* Ends the text at the last bar; what is after it, or NULL. */
static char *cut_last(char *text)
{
    char *last = NULL;
    for (char *at = text; (at = strstr(at, "| ")) != NULL; at += 2)
        if (at == text || at[-1] == ' ')
            last = at;
    if (last == NULL)
        return NULL;
    last[last > text ? -1 : 0] = '\0';
    return last + 2;
}

/* `== KEY=VALUE | LINE | PATTERN`, or `-- DECK | LINE | PATTERN` */
static void check_line(char *line)
{
    char *text = line + 3;
    line[strcspn(line, "\n")] = '\0';
    check_where("%s", line);
    char *pattern = cut_last(text), *number = cut_last(text);
    CHECK(pattern != NULL && number != NULL);
    if (line[0] == '=')
        check_set(text, pattern);
    else
        check_deck(text, number, pattern);
}

static void check_file(void)
{
    char path[LINE], line[LINE];
    int n = 0;
    path_of("run/bad_decks.txt", path);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof line - 2, file) != NULL) {
        CHECK(strchr(line, '\n') != NULL);
        if (strncmp(line, "== ", 3) != 0 && strncmp(line, "-- ", 3) != 0)
            continue;
        check_line(line);
        n++;
    }
    fclose(file);
    printf("%d bad decks\n", n);
    CHECK(n >= 200);
}

/* ---- ends of ranges ------------------------------------------------------ */

static const struct {
    const char *key, *path; /* in the table of keys, and in good.yaml */
} keys[] = {
    {"constants.c", "constants.c"},
    {"constants.a", "constants.a"},
    {"materials[].absorption.T_exp", "materials.gas.absorption.T_exp"},
    {"materials[].absorption.coef", "materials.gas.absorption.coef"},
    {"materials[].scattering.coef", "materials.gas.scattering.coef"},
    {"materials[].absorption.max", "materials.gas.absorption.max"},
    {"materials[].heat_capacity.coef", "materials.gas.heat_capacity.coef"},
    {"materials[].heat_capacity.T_exp", "materials.gas.heat_capacity.T_exp"},
    {"materials[].temperature", "materials.gas.temperature"},
    {"materials[].radiation_temperature",
     "materials.gas.radiation_temperature"},
    {"boundaries.<wall>.temperature", "boundaries.x_lo.temperature"},
    {"boundaries.<wall>.packets", "boundaries.x_lo.packets"},
    {"sources[].power", "sources.0.power"},
    {"sources[].packets", "sources.0.packets"},
    {"sources[].temperature", "sources.0.temperature"},
    {"groups.count", "groups.count"},
    {"packets.emit_per_cell", "packets.emit_per_cell"},
    {"packets.max_per_cell", "packets.max_per_cell"},
};

static void check_end(const char *path, const char *value)
{
    struct storm_deck *deck = NULL;
    char *problems, set[LINE];
    snprintf(set, sizeof set, "%s=%s", path, value);
    check_where("%s", set);
    const char *sets[] = {set};
    storm_status status = storm_deck_read(good, sets, 1, &deck, &problems);
    if (problems != NULL)
        fprintf(stderr, "%s", problems);
    CHECK_OK(status);
    storm_deck_destroy(deck);
}

/* The column `values` of a key: "a number from 0 to 1e+30, or a formula". */
static void values_of(const char *table, const char *key, char text_out[LINE])
{
    char row[LINE];
    snprintf(row, sizeof row, "\n| `%s` | ", key);
    const char *found = strstr(table, row);
    check_where("%s", key);
    CHECK(found != NULL);
    found = strstr(found + strlen(row), " | ");
    CHECK(found != NULL);
    snprintf(text_out, LINE, "%.*s", (int)strcspn(found + 3, "|\n") - 1,
             found + 3);
    char *other = strstr(text_out, " or a ");
    if (other != NULL)
        *other = '\0';
    size_t n = strlen(text_out);
    if (n > 0 && text_out[n - 1] == ',')
        text_out[n - 1] = '\0';
}

/* The lowest value, if it may be taken, and the highest; how many. */
static int check_ends(const char *table, const char *key, const char *path)
{
    char text[LINE];
    int n = 1;
    values_of(table, key, text);
    char *last = strrchr(text, ' '), *from = strstr(text, " from ");
    CHECK(last != NULL);
    check_end(path, last + 1);
    if (from != NULL) {
        char *low = from + 6;
        low[strcspn(low, " ,")] = '\0';
        /* Opacities of this deck are not 0: not a matter of ranges. */
        if (strcmp(key, "materials[].absorption.max") != 0) {
            check_end(path, low);
            n++;
        }
    }
    return n;
}

int main(void)
{
    int n_ends = 0;
    path_of("cli/good.yaml", good);
    check_file();
    char *table = storm_deck_reference();
    CHECK(table != NULL);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        n_ends += check_ends(table, keys[i].key, keys[i].path);
    free(table);
    printf("%d ends of ranges\n", n_ends);
    CHECK(n_ends >= 30);
    return CHECK_PASS;
}
