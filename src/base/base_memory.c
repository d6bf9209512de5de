/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/port.h"

/* In the cache line before each block. */
struct memory_header {
    void *raw; /* for free() */
    struct storm_memory *memory;
    size_t bytes;
    size_t i_entry;
    size_t mapped; /* bytes from raw on; 0: not mapped */
};

_Static_assert(sizeof(struct memory_header) <= STORM_CACHE_LINE, "one line");

struct memory_entry {
    const char *label;
    size_t bytes, peak_bytes;
};

struct storm_memory {
    struct memory_entry *entries; /* [0] is the total */
    size_t n_entries, max_entries;
    uint64_t calls;
    const char *refused; /* label of what was; NULL: nothing */
    size_t refused_bytes;
};

enum { MEMORY_TOTAL = 0, MEMORY_FIRST_ENTRIES = 16 };

storm_status storm_memory_create(struct storm_memory **memory_out)
{
    struct storm_memory *memory = calloc(1, sizeof *memory);
    if (memory == NULL)
        return STORM_ERR_NOMEM;
    memory->entries = calloc(MEMORY_FIRST_ENTRIES, sizeof *memory->entries);
    if (memory->entries == NULL) {
        free(memory);
        return STORM_ERR_NOMEM;
    }
    memory->max_entries = MEMORY_FIRST_ENTRIES;
    memory->n_entries = 1;
    memory->entries[MEMORY_TOTAL].label = "total";
    *memory_out = memory;
    return STORM_OK;
}

size_t storm_memory_destroy(struct storm_memory *memory)
{
    if (memory == NULL)
        return 0;
    size_t bytes = memory->entries[MEMORY_TOTAL].bytes;
    free(memory->entries);
    free(memory);
    return bytes;
}

void storm_memory_end(struct storm_memory *memory)
{
    size_t left = storm_memory_destroy(memory);
    STORM_ASSERT(left == 0);
    (void)left;
}

/* The entry of a label, made if need be; MEMORY_TOTAL if there is no memory
 * for another one. A dozen labels: a search is cheap, and no hot path. */
static size_t memory_entry_find(struct storm_memory *memory, const char *label)
{
    for (size_t i = 1; i < memory->n_entries; i++) {
        const char *known = memory->entries[i].label;
        if (known == label || strcmp(known, label) == 0)
            return i;
    }
    if (memory->n_entries == memory->max_entries) {
        size_t n = 2 * memory->max_entries;
        memory->calls++;
        struct memory_entry *entries =
            realloc(memory->entries, n * sizeof *entries);
        if (entries == NULL)
            return MEMORY_TOTAL;
        memory->entries = entries;
        memory->max_entries = n;
    }
    size_t i = memory->n_entries++;
    memory->entries[i] = (struct memory_entry){.label = label};
    return i;
}

static void memory_entry_book(struct memory_entry *entry, ptrdiff_t bytes)
{
    if (bytes < 0) {
        size_t less = (size_t)-bytes;
        STORM_ASSERT(less <= entry->bytes);
        entry->bytes -= less <= entry->bytes ? less : entry->bytes;
        return;
    }
    entry->bytes += (size_t)bytes;
    if (entry->peak_bytes < entry->bytes)
        entry->peak_bytes = entry->bytes;
}

static void memory_book_at(struct storm_memory *memory, size_t i_entry,
                           ptrdiff_t bytes)
{
    memory_entry_book(&memory->entries[MEMORY_TOTAL], bytes);
    if (i_entry != MEMORY_TOTAL)
        memory_entry_book(&memory->entries[i_entry], bytes);
}

void storm_memory_book(struct storm_memory *memory, const char *label,
                       ptrdiff_t bytes)
{
    memory_book_at(memory, memory_entry_find(memory, label), bytes);
}

static void *memory_refuse(struct storm_memory *memory, const char *label,
                           size_t bytes)
{
    memory->refused = label;
    memory->refused_bytes = bytes;
    return NULL;
}

bool storm_memory_take_refused(struct storm_memory *memory,
                               const char **label_out, size_t *bytes_out)
{
    if (memory->refused == NULL)
        return false;
    *label_out = memory->refused;
    *bytes_out = memory->refused_bytes;
    memory->refused = NULL;
    return true;
}

/* ---- large blocks -------------------------------------------------------- */

/* Large blocks are mapped, each by itself and from the beginning of a huge page
 * on: where cells and packets are read at random, small pages cost a second
 * miss. What is freed goes back to the system, and what grows is not copied.
 * Pages that are never touched need no memory, as with calloc. */
enum { MEMORY_HUGE_PAGE = 2 << 20, MEMORY_LARGE = 2 * MEMORY_HUGE_PAGE };

static size_t memory_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* At a multiple of a huge page; NULL: no memory. */
static char *memory_map(size_t bytes, int protection)
{
    const size_t huge = MEMORY_HUGE_PAGE, room = bytes + huge;
    char *raw =
        mmap(NULL, room, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED)
        return NULL;
    size_t skip = memory_up((uintptr_t)raw, huge) - (uintptr_t)raw;
    if (skip > 0)
        (void)munmap(raw, skip);
    if (skip < huge)
        (void)munmap(raw + skip + bytes, huge - skip);
    return raw + skip;
}

static size_t memory_mapped_bytes(size_t bytes)
{
    return memory_up(bytes + STORM_CACHE_LINE, (size_t)sysconf(_SC_PAGESIZE));
}

static char *memory_new_large(size_t mapped)
{
    char *raw = memory_map(mapped, PROT_READ | PROT_WRITE);
    if (raw != NULL)
        (void)madvise(raw, mapped, MADV_HUGEPAGE); /* or small pages */
    return raw;
}

/* A block that grows: in place, or its pages move to where there is room. The
 * header is in the first. NULL: it is as it was. That need not be for want of
 * memory: the kernel does not grow a block of which somebody has marked a part,
 * as one does who registers pages for a network. */
static char *memory_grow_large(const struct memory_header *header,
                               size_t mapped)
{
    char *raw = mremap(header->raw, header->mapped, mapped, 0);
    if (raw != MAP_FAILED)
        return raw;
    char *room = errno != EFAULT ? memory_map(mapped, PROT_NONE) : NULL;
    if (room == NULL)
        return NULL;
    raw = mremap(header->raw, header->mapped, mapped,
                 MREMAP_MAYMOVE | MREMAP_FIXED, room);
    /* After a failure the room is left alone: the kernel may have released it
     * first, and another thread may be there. */
    return raw != MAP_FAILED ? raw : NULL;
}

/* ---- blocks -------------------------------------------------------------- */

static struct memory_header memory_header_of(const void *block)
{
    struct memory_header header;
    memcpy(&header, (const char *)block - STORM_CACHE_LINE, sizeof header);
    return header;
}

static void *memory_put_header(char *block, const struct memory_header *header)
{
    memcpy(block - STORM_CACHE_LINE, header, sizeof *header);
    return block;
}

void *storm_alloc(struct storm_memory *memory, const char *label, size_t bytes)
{
    /* calloc rather than aligned_alloc and memset: pages that are never touched
     * need no memory. */
    const size_t extra = 2 * STORM_CACHE_LINE;
    memory->calls++;
    if (bytes > PTRDIFF_MAX - extra - MEMORY_LARGE)
        return memory_refuse(memory, label, bytes);
    size_t i_entry = memory_entry_find(memory, label);
    size_t mapped = bytes >= MEMORY_LARGE ? memory_mapped_bytes(bytes) : 0;
    char *raw = i_entry == MEMORY_TOTAL ? NULL
                : mapped > 0            ? memory_new_large(mapped)
                                        : calloc(1, bytes + extra);
    if (raw == NULL)
        return memory_refuse(memory, label, bytes);
    size_t skip = memory_up((uintptr_t)raw, STORM_CACHE_LINE) - (uintptr_t)raw;
    const struct memory_header header = {raw, memory, bytes, i_entry, mapped};
    memory_book_at(memory, i_entry, (ptrdiff_t)bytes);
    return memory_put_header(raw + skip + STORM_CACHE_LINE, &header);
}

void storm_free(struct storm_memory *memory, void *block)
{
    if (block == NULL)
        return;
    const struct memory_header header = memory_header_of(block);
    STORM_ASSERT(header.memory == memory);
    memory_book_at(memory, header.i_entry, -(ptrdiff_t)header.bytes);
    if (header.mapped > 0)
        (void)munmap(header.raw, header.mapped);
    else
        free(header.raw);
}

/* A mapped block that grows without a copy; its label stays. NULL: it does not,
 * and is as it was. */
static void *memory_grow(struct storm_memory *memory, void *block, size_t bytes)
{
    struct memory_header header = memory_header_of(block);
    if (header.mapped == 0 || bytes > PTRDIFF_MAX - MEMORY_LARGE)
        return NULL;
    STORM_ASSERT(header.memory == memory);
    size_t mapped = memory_mapped_bytes(bytes);
    char *raw = memory_grow_large(&header, mapped);
    if (raw == NULL)
        return NULL;
    memory->calls++;
    memory_book_at(memory, header.i_entry, (ptrdiff_t)(bytes - header.bytes));
    header.raw = raw;
    header.bytes = bytes;
    header.mapped = mapped;
    return memory_put_header(raw + STORM_CACHE_LINE, &header);
}

/* Grows a block of `old_bytes`. NULL: no memory, and it is as it was. */
static void *memory_resize(struct storm_memory *memory, const char *label,
                           void *block, size_t old_bytes, size_t bytes)
{
    void *grown = block != NULL ? memory_grow(memory, block, bytes) : NULL;
    if (grown != NULL)
        return grown;
    grown = storm_alloc(memory, label, bytes);
    if (grown != NULL && block != NULL) {
        memcpy(grown, block, old_bytes);
        storm_free(memory, block);
    }
    return grown;
}

storm_status storm_reserve(struct storm_memory *memory, const char *label,
                           size_t element_bytes, size_t n_wanted,
                           void **array_inout, size_t *capacity_inout)
{
    size_t n_old = *capacity_inout;
    if (n_wanted <= n_old)
        return STORM_OK;
    size_t n_max = PTRDIFF_MAX / element_bytes;
    if (n_wanted > n_max) {
        memory_refuse(memory, label, SIZE_MAX);
        return STORM_ERR_NOMEM;
    }
    size_t n_new = n_old <= n_max / 2 ? 2 * n_old : n_max;
    if (n_new < STORM_CACHE_LINE / element_bytes)
        n_new = STORM_CACHE_LINE / element_bytes;
    if (n_new < n_wanted)
        n_new = n_wanted;

    void *array = memory_resize(memory, label, *array_inout,
                                n_old * element_bytes, n_new * element_bytes);
    if (array == NULL)
        return STORM_ERR_NOMEM;
    *array_inout = array;
    *capacity_inout = n_new;
    return STORM_OK;
}

uint64_t storm_memory_calls(const struct storm_memory *memory)
{
    return memory->calls;
}

storm_status storm_memory_entry_at(const struct storm_memory *memory, size_t i,
                                   const char **label_out, size_t *bytes_out,
                                   size_t *peak_bytes_out)
{
    if (i >= memory->n_entries)
        return STORM_DONE;
    *label_out = memory->entries[i].label;
    *bytes_out = memory->entries[i].bytes;
    *peak_bytes_out = memory->entries[i].peak_bytes;
    return STORM_OK;
}

uint64_t storm_process_peak_bytes(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    unsigned long long kib = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "VmHWM: %llu", &kib) == 1)
            break;
    if (file != NULL)
        fclose(file);
    struct rusage usage;
    if (kib == 0 && getrusage(RUSAGE_SELF, &usage) == 0)
        kib = (unsigned long long)usage.ru_maxrss;
    return (uint64_t)kib * 1024;
}

/* The number in a file; `other` if there is none. */
static double memory_read(const char *path, double other)
{
    FILE *file = fopen(path, "r");
    double value = 0.0;
    bool found = file != NULL && fscanf(file, "%lf", &value) == 1;
    if (file != NULL)
        fclose(file);
    return found ? value : other;
}

double storm_memory_of_host(void)
{
    double all =
        (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    double limit = memory_read("/sys/fs/cgroup/memory.max", all);
    limit = memory_read("/sys/fs/cgroup/memory/memory.limit_in_bytes", limit);
    return limit < all ? limit : all > 0.0 ? all : 0.0;
}
