/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* Every status has a name of its own, and any number has one. */
#include <string.h>

#include <storm/status.h>

#include "support/check.h"

static void test_names(void)
{
    for (int a = STORM_ERR_DEVICE; a <= STORM_DONE; a++) {
        const char *name = storm_status_name((storm_status)a);
        CHECK(strlen(name) > 1);
        CHECK(strcmp(name, "unknown status") != 0);
        for (int b = STORM_ERR_DEVICE; b < a; b++)
            CHECK(strcmp(name, storm_status_name((storm_status)b)) != 0);
    }
    CHECK_TEXT(storm_status_name((storm_status)(STORM_DONE + 1)),
               "unknown status");
    CHECK_TEXT(storm_status_name((storm_status)(STORM_ERR_DEVICE - 1)),
               "unknown status");
    CHECK_TEXT(storm_status_name(STORM_ERR_NOMEM), "no memory");
}

int main(void)
{
    test_names();
    return 0;
}
