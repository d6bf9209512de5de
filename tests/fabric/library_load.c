/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/*
 * A library that is there is loaded and its functions can be called; one that
 * is not, or that lacks a function or the version of one, is refused in words
 * that name it.
 */
#include <string.h>

#include "base/library.h"
#include "support/check.h"

struct table {
    double (*cosine)(double);
};

static storm_status load(const char *file, const char *name,
                         const char *version, struct table *table,
                         char reason[256])
{
    const struct storm_library_symbol symbols[] = {
        {name, version, offsetof(struct table, cosine)}, {NULL, NULL, 0}};
    const struct storm_library library = {"a test library", file, symbols};
    reason[0] = '\0';
    return storm_library_load(&library, table, reason, 256);
}

int main(void)
{
    struct table table = {0};
    char reason[256];
    CHECK_OK(load("libm.so.6", "cos", NULL, &table, reason));
    CHECK(table.cosine(0) == 1);

    CHECK_EQ(load("libstorm-none.so.1", "cos", NULL, &table, reason),
             STORM_ERR_NOSUP);
    CHECK(strstr(reason, "a test library cannot be loaded") != NULL);
    CHECK(strstr(reason, "libstorm-none.so.1") != NULL);

    CHECK_EQ(load("libm.so.6", "storm_none", NULL, &table, reason),
             STORM_ERR_NOSUP);
    CHECK(strstr(reason, "storm_none") != NULL);
    CHECK_EQ(load("libm.so.6", "cos", "NONE_1.0", &table, reason),
             STORM_ERR_NOSUP);
    CHECK(strstr(reason, "libm.so.6 lacks the function cos") != NULL);
    return CHECK_PASS;
}
