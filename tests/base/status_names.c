/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* Every status has a name of its own, and any number has one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <storm/status.h>

static void test_names(void **state)
{
    (void)state;
    for (int a = STORM_ERR_LOST; a <= STORM_DONE; a++) {
        const char *name = storm_status_name((storm_status)a);
        assert_true(strlen(name) > 1);
        assert_string_not_equal(name, "unknown status");
        for (int b = STORM_ERR_LOST; b < a; b++)
            assert_string_not_equal(name, storm_status_name((storm_status)b));
    }
    assert_string_equal(storm_status_name((storm_status)(STORM_DONE + 1)),
                        "unknown status");
    assert_string_equal(storm_status_name((storm_status)(STORM_ERR_LOST - 1)),
                        "unknown status");
    assert_string_equal(storm_status_name(STORM_ERR_NOMEM), "no memory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}
