/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/shm_arena.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { HOST_BYTES = 128, PIECE_BYTES = 1 << 20 };

/* What rank 0 tells the others at open. */
struct arena_card {
    char host[HOST_BYTES]; /* machine and boot, not just a name */
    int64_t pid;
    int64_t fd;
    uint64_t slice_bytes;
};

static uint64_t page_round(uint64_t bytes)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

/* As much as the machine has: a rank can never need more. Less where address
 * space is limited, to leave room for all else. */
static uint64_t wanted_slice_bytes(void)
{
    uint64_t memory =
        (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur / 16 < memory)
        memory = limit.rlim_cur / 16;
    return page_round(memory);
}

/* Two containers on one machine may share a host name but not a boot id plus
 * process name space. */
static void fill_host(char host[HOST_BYTES])
{
    char boot_id[48] = "", space[32] = "";
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t n = read(fd, boot_id, sizeof boot_id - 1);
        boot_id[n > 0 ? n - 1 : 0] = '\0';
        close(fd);
    }
    ssize_t n = readlink("/proc/self/ns/pid", space, sizeof space - 1);
    space[n > 0 ? n : 0] = '\0';
    snprintf(host, HOST_BYTES, "%s %s", boot_id, space);
}

/* Rank 0 creates the file. */
static storm_status make_file(struct shm_arena *arena, int n_ranks)
{
    arena->fd = memfd_create("storm rings", MFD_CLOEXEC);
    if (arena->fd < 0 ||
        ftruncate(arena->fd, (off_t)(arena->slice_bytes * (uint64_t)n_ranks)) !=
            0) {
        storm_log_write(&arena->env->log, STORM_LOG_ERROR,
                        "cannot create shared memory of %d times %llu MiB: %s; "
                        "use --backend p2p",
                        n_ranks, (unsigned long long)(arena->slice_bytes >> 20),
                        strerror(errno));
        return STORM_ERR_NOSUP;
    }
    return STORM_OK;
}

static storm_status open_file(struct shm_arena *arena,
                              const struct arena_card *root)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)root->pid,
             (long long)root->fd);
    arena->fd = open(path, O_RDWR | O_CLOEXEC);
    if (arena->fd < 0) {
        storm_log_write(&arena->env->log, STORM_LOG_ERROR,
                        "cannot open the shared memory of rank 0 (%s: %s); "
                        "use --backend p2p",
                        path, strerror(errno));
        return STORM_ERR_NOSUP;
    }
    return STORM_OK;
}

void *shm_arena_map(const struct shm_arena *arena, int rank, uint64_t offset,
                    uint64_t bytes, storm_log_level refusal)
{
    void *map = mmap(NULL, page_round(bytes), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_NORESERVE, arena->fd,
                     (off_t)((uint64_t)rank * arena->slice_bytes + offset));
    if (map == MAP_FAILED) {
        storm_log_write(&arena->env->log, refusal,
                        "cannot map %llu KiB of the shared memory of rank %d: "
                        "%s; raise the limit on address space (ulimit -v) or "
                        "on mappings (vm.max_map_count), or use --backend p2p",
                        (unsigned long long)(bytes >> 10), rank,
                        strerror(errno));
        return NULL;
    }
    (void)madvise(map, page_round(bytes), MADV_DONTDUMP); /* SHM-ARENA-2 */
    return map;
}

void shm_arena_unmap(void *map, uint64_t bytes)
{
    munmap(map, page_round(bytes));
}

/* Logged by the first rank of the node. Collective. */
static storm_status check_one_host(const struct shm_arena *arena,
                                   const struct storm_boot *boot,
                                   const struct arena_card *root)
{
    char host[HOST_BYTES];
    int all_here = 0;
    fill_host(host);
    storm_status status =
        boot->minimum(boot->self, strcmp(host, root->host) == 0, &all_here);
    if (status < 0 || all_here)
        return status;
    if (boot->rank == 0)
        storm_log_write(&arena->env->log, STORM_LOG_ERROR,
                        "shared memory cannot reach all ranks of %s (are "
                        "they in containers of their own?): use --no-shm",
                        root->host);
    return STORM_ERR_NOSUP;
}

storm_status shm_arena_open(struct shm_arena *arena,
                            const struct storm_env *env,
                            const struct storm_boot *boot)
{
    int n = boot->size;
    *arena = (struct shm_arena){.env = env, .fd = -1, .rank = boot->rank};
    arena->slice_bytes = wanted_slice_bytes();
    storm_status status = STORM_OK;
    if (boot->rank == 0)
        status = make_file(arena, n);
    status = storm_boot_agree(boot, status);
    struct arena_card root = {
        .pid = getpid(), .fd = arena->fd, .slice_bytes = arena->slice_bytes};
    fill_host(root.host);
    if (status == STORM_OK)
        status = boot->broadcast(boot->self, &root, sizeof root);
    if (status == STORM_OK)
        status = check_one_host(arena, boot, &root);
    if (status < 0)
        goto out;
    arena->slice_bytes = root.slice_bytes;
    if (boot->rank != 0)
        status = open_file(arena, &root);
    if (status == STORM_OK) {
        arena->mine = shm_arena_map(arena, boot->rank, 0, arena->slice_bytes,
                                    STORM_LOG_ERROR);
        status = arena->mine ? STORM_OK : STORM_ERR_NOMEM;
    }
    if (status == STORM_OK)
        status = storm_extents_open(&arena->extents, env->memory,
                                    "shm free list", arena->slice_bytes);
    status = storm_boot_agree(boot, status);
out:
    if (status < 0)
        shm_arena_close(arena);
    return status;
}

void shm_arena_close(struct shm_arena *arena)
{
    if (arena->mine)
        shm_arena_unmap(arena->mine, arena->slice_bytes);
    if (arena->fd >= 0)
        close(arena->fd);
    storm_extents_close(&arena->extents);
    *arena = (struct shm_arena){.env = arena->env, .fd = -1};
}

/* An interrupted call undoes what it has done: in small pieces a program with
 * a timer gets on. SHM-ARENA-3. */
static bool allocate(int fd, uint64_t at, uint64_t bytes)
{
    while (bytes > 0) {
        uint64_t piece = bytes < PIECE_BYTES ? bytes : PIECE_BYTES;
        if (fallocate(fd, 0, (off_t)at, (off_t)piece) == 0) {
            at += piece;
            bytes -= piece;
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

storm_status shm_arena_carve(struct shm_arena *arena, uint64_t bytes,
                             storm_log_level refusal,
                             struct storm_extent *extent_out)
{
    uint64_t slice = (uint64_t)arena->rank * arena->slice_bytes;
    if (storm_extents_take(&arena->extents, page_round(bytes), extent_out)) {
        if (allocate(arena->fd, slice + extent_out->offset, extent_out->bytes))
            return STORM_OK;
        shm_arena_return(arena, *extent_out);
    }
    storm_log_write(&arena->env->log, refusal,
                    "no shared memory for a ring of %llu bytes; lower "
                    "transport.ring_slots or set transport.ring_memory_mb",
                    (unsigned long long)bytes);
    return STORM_ERR_NOMEM;
}

void shm_arena_return(struct shm_arena *arena, struct storm_extent extent)
{
    /* Freed pages are zeroed when they are next touched; locked ones stay. */
    unsigned char *pages = arena->mine + extent.offset;
    if (madvise(pages, extent.bytes, MADV_REMOVE) != 0)
        memset(pages, 0, extent.bytes);
    storm_extents_give(&arena->extents, extent);
}
