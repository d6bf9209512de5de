/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* One row, three names by rule, all distinct; defaults are legal values. */
#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/options.h>

#include "support/check.h"

static void test_names_follow_rule(void)
{
    const struct storm_option *row;
    for (size_t i = 0; (row = storm_option_at(i)) != NULL; i++) {
        const char *dot = strrchr(row->key, '.');
        const char *last = dot != NULL ? dot + 1 : row->key;
        char flag[64] = "--", env[64] = "STORM_";
        for (size_t k = 0; k <= strlen(last); k++) {
            flag[2 + k] = last[k];
            if (last[k] == '_')
                flag[2 + k] = '-';
            env[6 + k] = (char)toupper((unsigned char)last[k]);
        }
        CHECK_TEXT(row->flag, flag);
        CHECK_TEXT(row->env, env);
        for (const char *c = row->key; *c != '\0'; c++)
            CHECK(islower((unsigned char)*c) || *c == '_' || *c == '.');
    }
}

static void test_names_distinct(void)
{
    const struct storm_option *a, *b;
    for (size_t i = 0; (a = storm_option_at(i)) != NULL; i++) {
        CHECK(storm_option_find(a->key) == a);
        CHECK(storm_option_find(a->flag) == a);
        CHECK(storm_option_find(a->env) == a);
        for (size_t j = 0; j < i; j++) {
            b = storm_option_at(j);
            CHECK(strcmp(a->key, b->key) != 0);
            CHECK(strcmp(a->flag, b->flag) != 0);
            CHECK(strcmp(a->env, b->env) != 0);
        }
    }
    CHECK(storm_option_find("transport") == NULL);
    CHECK(storm_option_find("") == NULL);
    CHECK(storm_option_find("batch") == NULL);
}

/* The longest word or number survives; a default_value can be set. */
static void test_defaults(void)
{
    struct storm_options *options;
    CHECK_OK(storm_options_create(&options));
    const struct storm_option *row;
    size_t n = 0;
    for (size_t i = 0; (row = storm_option_at(i)) != NULL; i++, n++) {
        CHECK_TEXT(storm_options_text(options, row->key), row->default_value);
        CHECK(!storm_options_is_set(options, row->key));
        char problem[200] = "";
        CHECK_OK(storm_options_set(options, row->key, row->default_value,
                                   problem, sizeof problem));
        CHECK_TEXT(problem, "");
        CHECK_TEXT(storm_options_text(options, row->key), row->default_value);
        CHECK(storm_options_is_set(options, row->key));
        CHECK(strlen(row->help) > 10);
        CHECK((row->type == STORM_OPTION_WORD) == (row->choices != NULL));
        if (row->type == STORM_OPTION_INT || row->type == STORM_OPTION_REAL)
            CHECK(row->min < row->max);
        /* Bounds of integers are exact as doubles and fit. */
        if (row->type == STORM_OPTION_INT)
            CHECK(row->min >= -1e18 && row->max <= 1e18);
    }
    CHECK(n >= 12);
    CHECK(storm_option_at(n + 1) == NULL);
    storm_options_destroy(options);
}

static void test_every_choice(void)
{
    struct storm_options *options;
    CHECK_OK(storm_options_create(&options));
    const struct storm_option *row;
    for (size_t i = 0; (row = storm_option_at(i)) != NULL; i++) {
        if (row->type != STORM_OPTION_WORD)
            continue;
        char words[200];
        snprintf(words, sizeof words, "%s", row->choices);
        char *rest = NULL;
        for (char *word = strtok_r(words, "|", &rest); word != NULL;
             word = strtok_r(NULL, "|", &rest)) {
            CHECK_OK(storm_options_set(options, row->flag, word, NULL, 0));
            CHECK_TEXT(storm_options_text(options, row->key), word);
        }
    }
    storm_options_destroy(options);
}

int main(void)
{
    test_names_follow_rule();
    test_names_distinct();
    test_defaults();
    test_every_choice();
    return 0;
}
