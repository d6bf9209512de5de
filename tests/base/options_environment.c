/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* Environment variables set options; the last to set wins. */
#include <stddef.h>
#include <stdlib.h>

#include <storm/options.h>

#include "support/check.h"

static void clear_environment(void)
{
    const struct storm_option *row;
    for (size_t i = 0; (row = storm_option_at(i)) != NULL; i++)
        unsetenv(row->env);
}

static void test_environment(void)
{
    clear_environment();
    struct storm_options *options;
    char problem[200] = "";
    CHECK_OK(storm_options_create(&options));
    CHECK_OK(storm_options_set_from_env(options, problem, sizeof problem));
    CHECK(!storm_options_is_set(options, "transport.batch"));

    setenv("STORM_BATCH", "17", 1);
    setenv("STORM_SEED", "5", 1);
    CHECK_OK(storm_options_set_from_env(options, problem, sizeof problem));
    CHECK(storm_options_int(options, "transport.batch") == 17);
    CHECK(storm_options_int(options, "seed") == 5);
    CHECK(storm_options_is_set(options, "transport.batch"));
    CHECK(!storm_options_is_set(options, "transport.backend"));
    CHECK_OK(storm_options_set(options, "--batch", "18", problem,
                               sizeof problem));
    CHECK(storm_options_int(options, "transport.batch") == 18);
    CHECK_TEXT(problem, "");

    setenv("STORM_RING_SLOTS", "many", 1);
    CHECK(storm_options_set_from_env(options, problem, sizeof problem) ==
          STORM_ERR_ARG);
    CHECK_TEXT(problem, "STORM_RING_SLOTS (transport.ring_slots): expected an "
                        "integer from 1 to 16777216, got 'many'");
    storm_options_destroy(options);
    storm_options_destroy(NULL);
    clear_environment();
}

/* Several objects have nothing to do with each other. */
static void test_no_shared_state(void)
{
    struct storm_options *a, *b;
    CHECK_OK(storm_options_create(&a));
    CHECK_OK(storm_options_create(&b));
    CHECK_OK(storm_options_set(a, "seed", "9", NULL, 0));
    CHECK(storm_options_int(a, "seed") == 9);
    CHECK(storm_options_int(b, "seed") == 1);
    storm_options_destroy(a);
    CHECK(storm_options_int(b, "seed") == 1);
    storm_options_destroy(b);
}

int main(void)
{
    test_environment();
    test_no_shared_state();
    return 0;
}
