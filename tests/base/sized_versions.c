/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 10 */
/* Structs of older and newer callers: SIZED-1 to SIZED-3. */
#include <string.h>

#include "base/sized.h"
#include "support/check.h"

struct older {
    size_t size;
    double a;
};

struct ours {
    size_t size;
    double a;
    int b, c;
};

struct newer {
    size_t size;
    double a;
    int b, c;
    void *d;
};

static void read_versions(void)
{
    struct older old = {sizeof old, 2.5};
    struct newer new = {sizeof new, 3.5, 4, 5, NULL};
    struct ours mine;
    memset(&mine, 255, sizeof mine);
    CHECK_OK(storm_sized_read(NULL, "test", &old, &mine, sizeof mine));
    CHECK(mine.size == sizeof mine && mine.a == 2.5);
    CHECK(mine.b == 0 && mine.c == 0); /* SIZED-1 */

    CHECK_OK(storm_sized_read(NULL, "test", &new, &mine, sizeof mine));
    CHECK(mine.size == sizeof mine && mine.a == 3.5 && mine.c == 5);
    new.d = &mine;
    memset(&mine, 0, sizeof mine);
    CHECK(storm_sized_read(NULL, "test", &new, &mine, sizeof mine) ==
          STORM_ERR_NOSUP); /* SIZED-2 */
    CHECK(mine.size == 0);

    old.size = 0;
    CHECK(storm_sized_read(NULL, "test", &old, &mine, sizeof mine) ==
          STORM_ERR_ARG); /* SIZED-3 */
}

static void write_versions(void)
{
    const struct ours mine = {sizeof mine, 1.5, 6, 7};
    struct {
        struct older old;
        double behind;
    } small = {{sizeof small.old, 0.0}, -1.0};
    struct newer new = {.size = sizeof new, .d = &small};
    CHECK_OK(storm_sized_write(&mine, sizeof mine, &small.old));
    CHECK(small.old.size == sizeof small.old && small.old.a == 1.5);
    CHECK(small.behind == -1.0); /* SIZED-1 */

    CHECK_OK(storm_sized_write(&mine, sizeof mine, &new));
    CHECK(new.size == sizeof new &&new.c == 7 && new.d == NULL);
    new.size = 4;
    CHECK(storm_sized_write(&mine, sizeof mine, &new) == STORM_ERR_ARG);
}

int main(void)
{
    read_versions();
    write_versions();
    return CHECK_PASS;
}
