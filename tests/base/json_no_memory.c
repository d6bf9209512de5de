/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* JSON-4: when memory runs out the text is NULL, at the end. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <sys/resource.h>

#include "base/json.h"
#include "support/check.h"

/* Sanitizers need address space of their own: nothing to limit there. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMITED 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LIMITED 0
#endif
#endif
#ifndef LIMITED
#define LIMITED 1
#endif

static void test_memory_runs_out(void)
{
    struct rlimit before, tight = {256 << 20, 256 << 20};
    if (!LIMITED || getrlimit(RLIMIT_AS, &before) != 0)
        exit(CHECK_SKIP);
    tight.rlim_max = before.rlim_max;
    CHECK(setrlimit(RLIMIT_AS, &tight) == 0);
    const size_t n = 8 << 20;
    char *chunk = malloc(n + 1);
    CHECK(chunk != NULL);
    memset(chunk, 'x', n);
    chunk[n] = '\0';
    struct storm_json json;
    storm_json_begin(&json, false);
    storm_json_open(&json, NULL, '[');
    for (int i = 0; i < 64; i++)
        storm_json_text(&json, NULL, chunk);
    storm_json_close(&json, ']');
    CHECK(json.failed);
    CHECK(storm_json_end(&json) == NULL);
    free(chunk);
    setrlimit(RLIMIT_AS, &before);
}

int main(void)
{
    test_memory_runs_out();
    return 0;
}
