/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* Environment variables set options; the last to set wins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <storm/options.h>

static void clear_environment(void)
{
    const struct storm_option *row;
    for (size_t i = 0; (row = storm_option_at(i)) != NULL; i++)
        unsetenv(row->env);
}

static void test_environment(void **state)
{
    (void)state;
    clear_environment();
    struct storm_options *options;
    char problem[200] = "";
    assert_true(storm_options_create(&options) == STORM_OK);
    assert_true(storm_options_set_from_env(options, problem, sizeof problem) ==
                STORM_OK);
    assert_false(storm_options_is_set(options, "transport.batch"));

    setenv("STORM_BATCH", "17", 1);
    setenv("STORM_SEED", "5", 1);
    assert_true(storm_options_set_from_env(options, problem, sizeof problem) ==
                STORM_OK);
    assert_true(storm_options_int(options, "transport.batch") == 17);
    assert_true(storm_options_int(options, "seed") == 5);
    assert_true(storm_options_is_set(options, "transport.batch"));
    assert_false(storm_options_is_set(options, "transport.backend"));
    assert_true(storm_options_set(options, "--batch", "18", problem,
                                  sizeof problem) == STORM_OK);
    assert_true(storm_options_int(options, "transport.batch") == 18);
    assert_string_equal(problem, "");

    setenv("STORM_RING_SLOTS", "many", 1);
    assert_true(storm_options_set_from_env(options, problem, sizeof problem) ==
                STORM_ERR_ARG);
    assert_string_equal(problem,
                        "STORM_RING_SLOTS (transport.ring_slots): expected an "
                        "integer from 1 to 16777216, got 'many'");
    storm_options_destroy(options);
    storm_options_destroy(NULL);
    clear_environment();
}

/* Several objects have nothing to do with each other. */
static void test_no_shared_state(void **state)
{
    (void)state;
    struct storm_options *a, *b;
    assert_true(storm_options_create(&a) == STORM_OK);
    assert_true(storm_options_create(&b) == STORM_OK);
    assert_true(storm_options_set(a, "seed", "9", NULL, 0) == STORM_OK);
    assert_true(storm_options_int(a, "seed") == 9);
    assert_true(storm_options_int(b, "seed") == 1);
    storm_options_destroy(a);
    assert_true(storm_options_int(b, "seed") == 1);
    storm_options_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_no_shared_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}
