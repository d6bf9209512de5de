/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* A growing array keeps its elements, doubles, and survives failure; also one
 * that is mapped, and which somebody else has marked in parts. */
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "support/check.h"

static void test_grow(void)
{
    struct storm_memory *memory;
    CHECK_OK(storm_memory_create(&memory));
    uint64_t *array = NULL;
    size_t capacity = 0;
    const size_t n = 3000000; /* the last blocks are mapped and moved */
    for (size_t i = 0; i < n; i++) {
        void *grown = array;
        CHECK_OK(storm_reserve(memory, "array", sizeof *array, i + 1, &grown,
                               &capacity));
        array = grown;
        CHECK(capacity > i);
        CHECK(array[i] == 0);
        array[i] = i + 1;
    }
    for (size_t i = 0; i < n; i++)
        CHECK(array[i] == i + 1);
    CHECK(storm_memory_calls(memory) <= 25);
    const char *label;
    size_t bytes, peak;
    CHECK_OK(storm_memory_entry_at(memory, 1, &label, &bytes, &peak));
    CHECK_EQ(bytes, capacity * sizeof *array);
    CHECK_EQ(peak, bytes); /* never two at a time */
    CHECK(capacity < 2 * n + 8);
    storm_free(memory, array);
    CHECK_EQ(storm_memory_destroy(memory), 0);
}

static void test_jump(void)
{
    struct storm_memory *memory;
    CHECK_OK(storm_memory_create(&memory));
    void *array = NULL;
    size_t capacity = 0;
    CHECK_OK(storm_reserve(memory, "array", 4096, 1000, &array, &capacity));
    CHECK_EQ(capacity, 1000);
    void *before = array;
    CHECK_OK(storm_reserve(memory, "array", 4096, 1000, &array, &capacity));
    CHECK(array == before);

    const size_t too_many[] = {SIZE_MAX, SIZE_MAX / 4096, SIZE_MAX / 2};
    for (int i = 0; i < 3; i++) {
        CHECK(storm_reserve(memory, "array", 4096, too_many[i], &array,
                            &capacity) == STORM_ERR_NOMEM);
        CHECK(array == before);
        CHECK_EQ(capacity, 1000);
    }
    storm_free(memory, array);
    CHECK_EQ(storm_memory_destroy(memory), 0);
}

/* Whoever registers pages for a network marks them so that children do not get
 * them: the kernel then does not move the block as a whole. */
static void test_marked(void)
{
    struct storm_memory *memory;
    CHECK_OK(storm_memory_create(&memory));
    void *array = NULL;
    size_t capacity = 0;
    const size_t n = 1 << 20, page = (size_t)sysconf(_SC_PAGESIZE);
    CHECK_OK(storm_reserve(memory, "array", sizeof(uint64_t), n, &array,
                           &capacity));
    for (size_t i = 0; i < n; i++)
        ((uint64_t *)array)[i] = i + 1;
    unsigned char *inside = (unsigned char *)array - (uintptr_t)array % page;
    CHECK_EQ(madvise(inside + 5 * page, 3 * page, MADV_DONTFORK), 0);
    CHECK_OK(storm_reserve(memory, "array", sizeof(uint64_t), n + 1, &array,
                           &capacity));
    for (size_t i = 0; i < n; i++)
        CHECK(((uint64_t *)array)[i] == i + 1);
    for (size_t i = n; i < capacity; i++)
        CHECK(((uint64_t *)array)[i] == 0);
    storm_free(memory, array);
    CHECK_EQ(storm_memory_destroy(memory), 0);
}

int main(void)
{
    test_grow();
    test_jump();
    test_marked();
    return 0;
}
