/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* A growing array keeps its elements, doubles, and survives failure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"

static void test_grow(void **state)
{
    (void)state;
    struct storm_memory *memory;
    assert_true(storm_memory_create(&memory) == STORM_OK);
    uint64_t *array = NULL;
    size_t capacity = 0;
    const size_t n = 100000;
    for (size_t i = 0; i < n; i++) {
        void *grown = array;
        assert_true(storm_reserve(memory, "array", sizeof *array, i + 1, &grown,
                                  &capacity) == STORM_OK);
        array = grown;
        assert_true(capacity > i);
        assert_true(array[i] == 0);
        array[i] = i + 1;
    }
    for (size_t i = 0; i < n; i++)
        assert_true(array[i] == i + 1);
    assert_true(storm_memory_calls(memory) <= 20);
    assert_true(capacity < 2 * n + 8);
    storm_free(memory, array);
    assert_int_equal(storm_memory_destroy(memory), 0);
}

static void test_jump(void **state)
{
    (void)state;
    struct storm_memory *memory;
    assert_true(storm_memory_create(&memory) == STORM_OK);
    void *array = NULL;
    size_t capacity = 0;
    assert_true(storm_reserve(memory, "array", 4096, 1000, &array, &capacity) ==
                STORM_OK);
    assert_int_equal(capacity, 1000);
    void *before = array;
    assert_true(storm_reserve(memory, "array", 4096, 1000, &array, &capacity) ==
                STORM_OK);
    assert_ptr_equal(array, before);

    const size_t too_many[] = {SIZE_MAX, SIZE_MAX / 4096, SIZE_MAX / 2};
    for (int i = 0; i < 3; i++) {
        assert_true(storm_reserve(memory, "array", 4096, too_many[i], &array,
                                  &capacity) == STORM_ERR_NOMEM);
        assert_ptr_equal(array, before);
        assert_int_equal(capacity, 1000);
    }
    storm_free(memory, array);
    assert_int_equal(storm_memory_destroy(memory), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grow),
        cmocka_unit_test(test_jump),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}
