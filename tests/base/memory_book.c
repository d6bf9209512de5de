/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* M1, M2, M3: blocks are zeroed and aligned, and the book adds up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/memory.h"

static const uint64_t seed = 12;

static void entry(const struct storm_memory *memory, const char *label,
                  size_t *bytes, size_t *peak)
{
    const char *name;
    for (size_t i = 0;; i++) {
        assert_true(storm_memory_entry_at(memory, i, &name, bytes, peak) ==
                    STORM_OK);
        if (strcmp(name, label) == 0)
            return;
    }
}

static void check_entry(const struct storm_memory *memory, const char *label,
                        size_t bytes, size_t peak)
{
    size_t b, p;
    entry(memory, label, &b, &p);
    assert_int_equal(b, bytes);
    assert_int_equal(p, peak);
}

static void test_book(void **state)
{
    (void)state;
    struct storm_memory *memory;
    assert_true(storm_memory_create(&memory) == STORM_OK);
    check_entry(memory, "total", 0, 0);
    void *a = storm_alloc(memory, "rings", 1000);
    void *b = storm_alloc(memory, "packets", 500);
    char rings[] = "rings"; /* the same label at another address */
    void *c = storm_alloc(memory, rings, 24);
    check_entry(memory, "total", 1524, 1524);
    check_entry(memory, "rings", 1024, 1024);
    storm_free(memory, a);
    storm_free(memory, NULL);
    storm_memory_book(memory, "packets", 4096);
    storm_memory_book(memory, "window", 100);
    check_entry(memory, "rings", 24, 1024);
    check_entry(memory, "packets", 4596, 4596);
    check_entry(memory, "total", 4720, 4720);
    storm_memory_book(memory, "packets", -4096);
    storm_memory_book(memory, "window", -100);
    check_entry(memory, "packets", 500, 4596);
    check_entry(memory, "total", 524, 4720);

    const char *label = NULL;
    size_t bytes, peak;
    assert_true(storm_memory_entry_at(memory, 0, &label, &bytes, &peak) ==
                STORM_OK);
    assert_string_equal(label, "total");
    assert_true(storm_memory_entry_at(memory, 4, &label, &bytes, &peak) ==
                STORM_DONE);
    storm_free(memory, b);
    storm_free(memory, c);
    check_entry(memory, "total", 0, 4720);
    assert_int_equal(storm_memory_calls(memory), 3);
    assert_int_equal(storm_memory_destroy(memory), 0);
}

static void test_leak_is_told(void **state)
{
    (void)state;
    struct storm_memory *memory;
    assert_true(storm_memory_create(&memory) == STORM_OK);
    storm_memory_book(memory, "window", 77);
    assert_int_equal(storm_memory_destroy(memory), 77);
    assert_int_equal(storm_memory_destroy(NULL), 0);
}

static void test_zeroed_and_aligned(void **state)
{
    (void)state;
    enum { N = 200 };
    struct storm_memory *memory;
    assert_true(storm_memory_create(&memory) == STORM_OK);
    unsigned char *blocks[N];
    for (int round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < N; i++) {
            size_t bytes = storm_hash_word(seed + i) % 5000;
            blocks[i] = storm_alloc(memory, "blocks", bytes);
            assert_non_null(blocks[i]);
            assert_int_equal((uintptr_t)blocks[i] % 64, 0);
            for (size_t k = 0; k < bytes; k++)
                assert_true(blocks[i][k] == 0);
            memset(blocks[i], 0xff, bytes);
        }
        for (int i = 0; i < N; i++)
            storm_free(memory, blocks[i]);
    }
    assert_int_equal(storm_memory_calls(memory), 3 * N);
    assert_int_equal(storm_memory_destroy(memory), 0);
}

static void test_many_labels(void **state)
{
    (void)state;
    enum { N = 300 };
    static char labels[N][8];
    struct storm_memory *memory;
    assert_true(storm_memory_create(&memory) == STORM_OK);
    void *blocks[N];
    for (int i = 0; i < N; i++) {
        snprintf(labels[i], sizeof labels[i], "l%d", i);
        blocks[i] = storm_alloc(memory, labels[i], (size_t)i);
    }
    for (int i = 0; i < N; i++)
        check_entry(memory, labels[i], (size_t)i, (size_t)i);
    for (int i = 0; i < N; i++)
        storm_free(memory, blocks[i]);
    assert_int_equal(storm_memory_destroy(memory), 0);
}

static void test_no_memory(void **state)
{
    (void)state;
    struct storm_memory *memory;
    assert_true(storm_memory_create(&memory) == STORM_OK);
    volatile size_t too_much = SIZE_MAX;
    assert_null(storm_alloc(memory, "huge", too_much));
    assert_null(storm_alloc(memory, "huge", too_much - 100));
    check_entry(memory, "total", 0, 0);
    assert_int_equal(storm_memory_destroy(memory), 0);
}

int main(void)
{
    printf("seed %llu\n", (unsigned long long)seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_book),
        cmocka_unit_test(test_leak_is_told),
        cmocka_unit_test(test_zeroed_and_aligned),
        cmocka_unit_test(test_many_labels),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}
