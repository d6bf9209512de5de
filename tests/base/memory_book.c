/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20; label: slow-asan */
/* MEMORY-1, MEMORY-2, MEMORY-3: blocks are zeroed and aligned, and the book
 * adds up. (A sanitizer ends where memory is refused.) */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/hash.h"
#include "base/memory.h"
#include "support/check.h"

static const uint64_t seed = 12;

static void entry(const struct storm_memory *memory, const char *label,
                  size_t *bytes, size_t *peak)
{
    const char *name;
    for (size_t i = 0;; i++) {
        CHECK_OK(storm_memory_entry_at(memory, i, &name, bytes, peak));
        if (strcmp(name, label) == 0)
            return;
    }
}

static void check_entry(const struct storm_memory *memory, const char *label,
                        size_t bytes, size_t peak)
{
    size_t b, p;
    entry(memory, label, &b, &p);
    CHECK_EQ(b, bytes);
    CHECK_EQ(p, peak);
}

/* MEMORY-5 */
static void test_refused(void)
{
    struct storm_memory *memory;
    const char *label = NULL;
    size_t bytes = 0;
    CHECK_OK(storm_memory_create(&memory));
    CHECK(!storm_memory_take_refused(memory, &label, &bytes));
    CHECK(storm_alloc(memory, "rings", SIZE_MAX / 4) == NULL);
    CHECK(storm_memory_take_refused(memory, &label, &bytes));
    CHECK_TEXT(label, "rings");
    CHECK_EQ(bytes, SIZE_MAX / 4);
    CHECK(!storm_memory_take_refused(memory, &label, &bytes));
    CHECK_EQ(storm_memory_destroy(memory), 0);
}

static void test_book(void)
{
    struct storm_memory *memory;
    CHECK_OK(storm_memory_create(&memory));
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
    CHECK_OK(storm_memory_entry_at(memory, 0, &label, &bytes, &peak));
    CHECK_TEXT(label, "total");
    CHECK(storm_memory_entry_at(memory, 4, &label, &bytes, &peak) ==
          STORM_DONE);
    storm_free(memory, b);
    storm_free(memory, c);
    check_entry(memory, "total", 0, 4720);
    CHECK_EQ(storm_memory_calls(memory), 3);
    CHECK_EQ(storm_memory_destroy(memory), 0);
}

static void test_leak_is_reported(void)
{
    struct storm_memory *memory;
    CHECK_OK(storm_memory_create(&memory));
    storm_memory_book(memory, "window", 77);
    CHECK_EQ(storm_memory_destroy(memory), 77);
    CHECK_EQ(storm_memory_destroy(NULL), 0);
}

static void test_zeroed_and_aligned(void)
{
    enum { N = 200 };
    struct storm_memory *memory;
    CHECK_OK(storm_memory_create(&memory));
    unsigned char *blocks[N];
    for (int round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < N; i++) {
            size_t bytes = storm_hash_word(seed + i) % 5000;
            blocks[i] = storm_alloc(memory, "blocks", bytes);
            CHECK(blocks[i] != NULL);
            CHECK_EQ((uintptr_t)blocks[i] % 64, 0);
            for (size_t k = 0; k < bytes; k++)
                CHECK(blocks[i][k] == 0);
            memset(blocks[i], 0xff, bytes);
        }
        for (int i = 0; i < N; i++)
            storm_free(memory, blocks[i]);
    }
    CHECK_EQ(storm_memory_calls(memory), 3 * N);
    CHECK_EQ(storm_memory_destroy(memory), 0);
}

/* Those that are mapped: also zeroed and aligned when memory is used again. */
static void test_large(void)
{
    enum { MIB = 1 << 20, EVERY = 997 };
    const size_t sizes[] = {4 * MIB - 1, 4 * MIB, 4 * MIB + 1, 9 * MIB - 64};
    struct storm_memory *memory;
    CHECK_OK(storm_memory_create(&memory));
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 4; i++) {
            unsigned char *block = storm_alloc(memory, "large", sizes[i]);
            CHECK(block != NULL);
            CHECK_EQ((uintptr_t)block % 64, 0);
            for (size_t k = 0; k < sizes[i]; k += EVERY)
                CHECK(block[k] == 0);
            memset(block, 0xff, sizes[i]);
            check_entry(memory, "total", sizes[i], sizes[round > 0 ? 3 : i]);
            storm_free(memory, block);
        }
    CHECK_EQ(storm_memory_destroy(memory), 0);
}

static void test_many_labels(void)
{
    enum { N = 300 };
    static char labels[N][8];
    struct storm_memory *memory;
    CHECK_OK(storm_memory_create(&memory));
    void *blocks[N];
    for (int i = 0; i < N; i++) {
        snprintf(labels[i], sizeof labels[i], "l%d", i);
        blocks[i] = storm_alloc(memory, labels[i], (size_t)i);
    }
    for (int i = 0; i < N; i++)
        check_entry(memory, labels[i], (size_t)i, (size_t)i);
    for (int i = 0; i < N; i++)
        storm_free(memory, blocks[i]);
    CHECK_EQ(storm_memory_destroy(memory), 0);
}

static void test_no_memory(void)
{
    struct storm_memory *memory;
    CHECK_OK(storm_memory_create(&memory));
    volatile size_t too_much = SIZE_MAX;
    CHECK(storm_alloc(memory, "huge", too_much) == NULL);
    CHECK(storm_alloc(memory, "huge", too_much - 100) == NULL);
    check_entry(memory, "total", 0, 0);
    CHECK_EQ(storm_memory_destroy(memory), 0);
}

/* A mapped block that cannot grow is as it was. */
static void test_no_growth(void)
{
    enum { MIB = 1 << 20, EVERY = 997 };
    struct storm_memory *memory;
    CHECK_OK(storm_memory_create(&memory));
    void *block = NULL;
    size_t capacity = 0;
    CHECK_OK(storm_reserve(memory, "large", 1, 8 * MIB, &block, &capacity));
    const void *before = block;
    memset(block, 0xff, 8 * MIB);
    struct rlimit old, low;
    CHECK_EQ(getrlimit(RLIMIT_DATA, &old), 0);
    low = (struct rlimit){4 * MIB, old.rlim_max};
    CHECK_EQ(setrlimit(RLIMIT_DATA, &low), 0);
    storm_status status =
        storm_reserve(memory, "large", 1, 9 * MIB, &block, &capacity);
    CHECK_EQ(setrlimit(RLIMIT_DATA, &old), 0);
    CHECK(status == STORM_ERR_NOMEM);
    CHECK(block == before);
    CHECK_EQ(capacity, 8 * MIB);
    for (size_t k = 0; k < 8 * MIB; k += EVERY)
        CHECK(((const unsigned char *)block)[k] == 0xff);
    check_entry(memory, "large", 8 * MIB, 8 * MIB);
    CHECK_OK(storm_reserve(memory, "large", 1, 9 * MIB, &block, &capacity));
    CHECK(((const unsigned char *)block)[8 * MIB - 1] == 0xff);
    CHECK(((const unsigned char *)block)[8 * MIB] == 0);
    storm_free(memory, block);
    CHECK_EQ(storm_memory_destroy(memory), 0);
}

int main(void)
{
    printf("seed %llu\n", (unsigned long long)seed);
    test_refused();
    test_book();
    test_leak_is_reported();
    test_zeroed_and_aligned();
    test_large();
    test_many_labels();
    test_no_memory();
    test_no_growth();
    return 0;
}
