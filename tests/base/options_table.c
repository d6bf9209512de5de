/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* One row, three names by rule, all distinct; presets are legal values. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <storm/options.h>

static void test_names_follow_rule(void **state)
{
    (void)state;
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
        assert_string_equal(row->flag, flag);
        assert_string_equal(row->env, env);
        for (const char *c = row->key; *c != '\0'; c++)
            assert_true(islower((unsigned char)*c) || *c == '_' || *c == '.');
    }
}

static void test_names_distinct(void **state)
{
    (void)state;
    const struct storm_option *a, *b;
    for (size_t i = 0; (a = storm_option_at(i)) != NULL; i++) {
        assert_ptr_equal(storm_option_find(a->key), a);
        assert_ptr_equal(storm_option_find(a->flag), a);
        assert_ptr_equal(storm_option_find(a->env), a);
        for (size_t j = 0; j < i; j++) {
            b = storm_option_at(j);
            assert_string_not_equal(a->key, b->key);
            assert_string_not_equal(a->flag, b->flag);
            assert_string_not_equal(a->env, b->env);
        }
    }
    assert_null(storm_option_find("transport"));
    assert_null(storm_option_find(""));
    assert_null(storm_option_find("batch"));
}

/* A word or number as long as text allows survives; a preset can be set. */
static void test_presets(void **state)
{
    (void)state;
    struct storm_options *options;
    assert_true(storm_options_create(&options) == STORM_OK);
    const struct storm_option *row;
    size_t n = 0;
    for (size_t i = 0; (row = storm_option_at(i)) != NULL; i++, n++) {
        assert_string_equal(storm_options_text(options, row->key), row->preset);
        assert_false(storm_options_is_set(options, row->key));
        char problem[200] = "";
        assert_true(storm_options_set(options, row->key, row->preset, problem,
                                      sizeof problem) == STORM_OK);
        assert_string_equal(problem, "");
        assert_string_equal(storm_options_text(options, row->key), row->preset);
        assert_true(storm_options_is_set(options, row->key));
        assert_true(strlen(row->help) > 10);
        assert_true((row->type == STORM_OPTION_WORD) == (row->choices != NULL));
        if (row->type == STORM_OPTION_INT || row->type == STORM_OPTION_REAL)
            assert_true(row->min < row->max);
        /* Bounds of integers are exact as doubles and fit. */
        if (row->type == STORM_OPTION_INT)
            assert_true(row->min >= -1e18 && row->max <= 1e18);
    }
    assert_true(n >= 12);
    assert_null(storm_option_at(n + 1));
    storm_options_destroy(options);
}

static void test_every_choice(void **state)
{
    (void)state;
    struct storm_options *options;
    assert_true(storm_options_create(&options) == STORM_OK);
    const struct storm_option *row;
    for (size_t i = 0; (row = storm_option_at(i)) != NULL; i++) {
        if (row->type != STORM_OPTION_WORD)
            continue;
        char words[200];
        snprintf(words, sizeof words, "%s", row->choices);
        char *rest = NULL;
        for (char *word = strtok_r(words, "|", &rest); word != NULL;
             word = strtok_r(NULL, "|", &rest)) {
            assert_true(storm_options_set(options, row->flag, word, NULL, 0) ==
                        STORM_OK);
            assert_string_equal(storm_options_text(options, row->key), word);
        }
    }
    storm_options_destroy(options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_follow_rule),
        cmocka_unit_test(test_names_distinct),
        cmocka_unit_test(test_presets),
        cmocka_unit_test(test_every_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}
