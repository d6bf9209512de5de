/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* JSON-1 to JSON-3: what is written is JSON, in order, and nothing is lost. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/json.h"
#include "support/check.h"

static void fill(struct storm_json *json)
{
    storm_json_open(json, NULL, '{');
    storm_json_text(json, "name", "a \"b\" \\ \n\t\x01 \xc3\xa9");
    storm_json_int(json, "least", INT64_MIN);
    storm_json_uint(json, "most", UINT64_MAX);
    storm_json_open(json, "list", '[');
    storm_json_real(json, NULL, 0.1);
    storm_json_real(json, NULL, 2.0);
    storm_json_real(json, NULL, -0.0);
    storm_json_real(json, NULL, 1e300);
    storm_json_real(json, NULL, INFINITY);
    storm_json_real(json, NULL, NAN);
    storm_json_close(json, ']');
    storm_json_open(json, "empty", '{');
    storm_json_close(json, '}');
    storm_json_open(json, "none", '[');
    storm_json_close(json, ']');
    storm_json_bool(json, "yes", true);
    storm_json_text(json, "no", NULL);
    storm_json_null(json, "nothing");
    storm_json_close(json, '}');
}

static void test_compact(void)
{
    struct storm_json json;
    storm_json_begin(&json, false);
    fill(&json);
    char *text = storm_json_end(&json);
    CHECK_TEXT(text, "{\"name\":\"a \\\"b\\\" \\\\ \\n\\t\\u0001 \xc3\xa9\","
                     "\"least\":-9223372036854775808,"
                     "\"most\":18446744073709551615,"
                     "\"list\":[0.1,2.0,-0.0,1e+300,null,null],"
                     "\"empty\":{},\"none\":[],\"yes\":true,\"no\":null,"
                     "\"nothing\":null}");
    free(text);
}

static void test_pretty(void)
{
    struct storm_json json;
    storm_json_begin(&json, true);
    storm_json_open(&json, NULL, '{');
    storm_json_int(&json, "a", 1);
    storm_json_open(&json, "b", '[');
    storm_json_int(&json, NULL, 2);
    storm_json_int(&json, NULL, 3);
    storm_json_close(&json, ']');
    storm_json_open(&json, "c", '{');
    storm_json_close(&json, '}');
    storm_json_close(&json, '}');
    char *text = storm_json_end(&json);
    CHECK_TEXT(text, "{\n  \"a\": 1,\n  \"b\": [\n    2,\n    3\n"
                     "  ],\n  \"c\": {}\n}");
    free(text);
}

static void test_one_value(void)
{
    struct storm_json json;
    storm_json_begin(&json, true);
    storm_json_int(&json, NULL, -5);
    char *text = storm_json_end(&json);
    CHECK_TEXT(text, "-5");
    free(text);
}

static void test_long(void)
{
    enum { N = 20000 };
    struct storm_json json;
    storm_json_begin(&json, false);
    storm_json_open(&json, NULL, '[');
    for (uint64_t i = 0; i < N; i++)
        storm_json_uint(&json, NULL, storm_hash_word(i));
    storm_json_close(&json, ']');
    char *text = storm_json_end(&json);
    CHECK(text != NULL);
    char *at = text;
    for (uint64_t i = 0; i < N; i++) {
        CHECK(*at == (i == 0 ? '[' : ','));
        CHECK(strtoull(at + 1, &at, 10) == storm_hash_word(i));
    }
    CHECK_TEXT(at, "]");
    free(text);
}

int main(void)
{
    test_compact();
    test_pretty();
    test_one_value();
    test_long();
    return 0;
}
