/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 60 */
/*
 * SHM-ARENA-1, -2, -3: a rank that dies with core dumps on leaves a core of
 * what it has touched, not of all memory that its peers might use, and is
 * missed as soon as one that is killed; several engines fit on a large node;
 * timers do not disturb allocation. What this program believes to be the
 * machine's memory is its own choice. Also: memory for adapters is neither
 * copied to children nor dumped.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lifeline.h"
#include "fabric/fabric_memory.h"
#include "support/check.h"
#include "support/forks.h"
#include "support/ranks.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SHADOW 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SHADOW 1
#endif
#ifndef HAS_SHADOW
#define HAS_SHADOW 0 /* memory of a sanitizer, which no core can hold */
#endif

enum {
    MAX_FABRICS = 16,
    REGION_BYTES = 1 << 20,
    CORE_MB = 48,
    LATE_S = 5,
    TIMER_BYTES = 4 << 20
};

static uint64_t fake_memory = (uint64_t)1 << 30;

/* In place of the C library's. */
long sysconf(int name)
{
    static long (*real)(int);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "sysconf");
    return name == _SC_PHYS_PAGES ? (long)(fake_memory / 4096) : real(name);
}

/* A program with a timer, on a system that lets it interrupt: whatever takes
 * long always, and the rest every other time. */
static bool has_timer;

int fallocate(int fd, int mode, off_t at, off_t bytes)
{
    static int (*real)(int, int, off_t, off_t);
    static unsigned n;
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "fallocate");
    if (has_timer && (bytes > TIMER_BYTES || n++ % 2 == 0)) {
        errno = EINTR;
        return -1;
    }
    return real(fd, mode, at, bytes);
}

/* ---- what the system says of memory -------------------------------------- */

struct maps {
    uint64_t bytes;  /* of all that are called so */
    uint64_t dumped; /* of those that a core would hold */
    uint64_t copied; /* of those that a child would get */
};

/* Mappings whose line contains `text`. */
static struct maps find_maps(const char *text)
{
    struct maps found = {0};
    char line[512];
    bool is_one = false;
    unsigned long from, to, bytes = 0;
    FILE *file = fopen("/proc/self/smaps", "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2) {
            is_one = strstr(line, text) != NULL;
            bytes = to - from;
            found.bytes += is_one ? bytes : 0;
        } else if (is_one && strncmp(line, "VmFlags:", 8) == 0) {
            found.dumped += strstr(line, " dd") ? 0 : bytes;
            found.copied += strstr(line, " dc") ? 0 : bytes;
        }
    fclose(file);
    return found;
}

static void check_adapter_memory(const struct storm_env *env)
{
    struct storm_fabric fabric = {.ops = &storm_fabric_shm, .env = env};
    char place[32];
    size_t mapped;
    void *base = storm_fabric_map(&fabric, 12345, &mapped);
    CHECK(base != NULL);
    snprintf(place, sizeof place, "%lx-", (unsigned long)(uintptr_t)base);
    struct maps found = find_maps(place);
    CHECK_EQ(found.bytes, mapped);
    CHECK_EQ(found.dumped, 0);
    CHECK_EQ(found.copied, 0);
    munmap(base, mapped);
}

/* ---- ranks --------------------------------------------------------------- */

struct scene {
    struct forks *forks;
    int size, n_fabrics, victim; /* victim -1: none */
    struct watched {
        _Atomic int is_ready, has_noticed;
    } * ranks; /* shared */
};

/* A region on every rank, written by all others. */
static void open_one(const struct storm_env *env, const struct storm_boot *boot,
                     struct storm_fabric **fabric_out)
{
    struct storm_region *region;
    struct storm_region_desc mine, all[FORKS_MAX];
    struct storm_fabric *f;
    CHECK_OK(storm_fabric_shm.open(env, boot, &f));
    CHECK_OK(f->ops->alloc(f, REGION_BYTES, &region));
    memset(region->base, 1, REGION_BYTES);
    f->ops->describe(f, region, &mine);
    CHECK_OK(storm_boot_allgather(boot, &mine, sizeof mine, all));
    for (int i = 0; i < boot->size; i++) {
        struct storm_remote *remote;
        CHECK_OK(f->ops->attach(f, i, &all[i], &remote));
        ((_Atomic uint64_t *)remote->direct)[boot->rank] = 1;
    }
    *fabric_out = f;
}

static void work(void *self, const struct storm_env *env,
                 const struct storm_boot *boot)
{
    const struct scene *scene = self;
    struct storm_fabric *fabric[MAX_FABRICS];
    struct storm_lifeline *lifeline;
    struct storm_lifeline_params params = {.silence_s = 600, .interface = ""};
    struct watched *mine = &scene->ranks[boot->rank];
    for (int i = 0; i < scene->n_fabrics; i++)
        open_one(env, boot, &fabric[i]);
    struct maps found = find_maps("storm rings");
    uint64_t regions = (uint64_t)boot->size * REGION_BYTES;
    CHECK(found.bytes >= regions); /* they are called so */
    CHECK(found.bytes <= (uint64_t)scene->n_fabrics * (fake_memory + regions));
    CHECK_EQ(found.dumped, 0);
    check_adapter_memory(env);
    CHECK_OK(storm_lifeline_open(&env->log, boot, &params, &lifeline));
    atomic_store(&mine->is_ready, 1);
    while (scene->victim >= 0 && storm_lifeline_check(lifeline) == STORM_OK)
        usleep(1000);
    atomic_store(&mine->has_noticed, 1);
    _exit(CHECK_PASS); /* the system frees the rest */
}

static void be_rank(void *director, int rank)
{
    struct scene *scene = director;
    struct forks_rank self = {scene->forks, rank};
    struct storm_boot boot = forks_boot(&self);
    const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGSEGV, SIG_DFL); /* not a sanitizer's */
    CHECK(HAS_SHADOW || setrlimit(RLIMIT_CORE, &all) == 0);
    rank_run(&boot, work, scene);
}

static struct scene start(int size, int n_fabrics, int victim, pid_t *child)
{
    struct scene scene = {forks_make(size), size, n_fabrics, victim,
                          forks_share(FORKS_MAX * sizeof *scene.ranks)};
    forks_start(size, be_rank, &scene, child);
    return scene;
}

static int status_of(pid_t child)
{
    int status = 0;
    CHECK_EQ(waitpid(child, &status, 0), child);
    return status;
}

/* ---- the director -------------------------------------------------------- */

/* Space on disk of the only core file here; 0: none. */
static uint64_t core_bytes(void)
{
    uint64_t bytes = 0;
    DIR *here = opendir(".");
    CHECK(here != NULL);
    for (const struct dirent *at = readdir(here); at; at = readdir(here)) {
        struct stat file;
        if (strncmp(at->d_name, "core", 4) == 0 &&
            stat(at->d_name, &file) == 0) {
            bytes += (uint64_t)file.st_blocks * 512;
            unlink(at->d_name);
        }
    }
    closedir(here);
    return bytes;
}

/* Does the system put cores where a process is? Not if it hands them on. */
static bool cores_come_here(void)
{
    char pattern[128] = "";
    FILE *file = fopen("/proc/sys/kernel/core_pattern", "r");
    if (!file)
        return false;
    bool here = !HAS_SHADOW && fgets(pattern, sizeof pattern, file) &&
                strncmp(pattern, "core", 4) == 0 && !strchr(pattern, '/');
    fclose(file);
    if (!here)
        printf("no core file is measured: pattern '%s'\n", pattern);
    return here;
}

/* Seconds until all others have noticed the end of the last of 3 ranks. */
static double strike(int how)
{
    pid_t child[FORKS_MAX];
    struct scene scene = start(3, 1, 2, child);
    double late = storm_clock_seconds() + 20;
    for (int i = 0; i < 3; i++)
        while (!atomic_load(&scene.ranks[i].is_ready)) {
            CHECK(storm_clock_seconds() < late);
            usleep(1000);
        }
    double begin = storm_clock_seconds();
    kill(child[2], how);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(status_of(child[i]), 0);
    double took = storm_clock_seconds() - begin;
    int status = status_of(child[2]);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == how);
    return took;
}

static void check_cores(void)
{
    bool measured = cores_come_here();
    double killed_s = strike(SIGKILL), crashed_s = strike(SIGSEGV);
    uint64_t bytes = core_bytes();
    printf("noticed after %.2f s (killed) and %.2f s (core of %.1f MiB)\n",
           killed_s, crashed_s, (double)bytes / (1 << 20));
    CHECK(crashed_s < killed_s + LATE_S);
    CHECK(!measured || bytes > 0);
    CHECK(bytes < (uint64_t)CORE_MB << 20);
}

/* Address space as on a node of 112 ranks with 256 GB: 28 TiB for a mapping of
 * all slices, of which 128 TiB hold four. */
static void check_many_engines(void)
{
    pid_t child[FORKS_MAX];
    fake_memory = ((uint64_t)28 << 40) / FORKS_MAX;
    struct scene scene = start(FORKS_MAX, MAX_FABRICS, -1, child);
    for (int i = 0; i < scene.size; i++)
        CHECK_EQ(status_of(child[i]), 0);
}

static void allocate(void *self, const struct storm_env *env,
                     const struct storm_boot *boot)
{
    struct storm_fabric *f;
    struct storm_region *region = NULL;
    (void)self;
    CHECK_OK(storm_fabric_shm.open(env, boot, &f));
    CHECK_OK(f->ops->alloc(f, (size_t)64 << 20, &region));
    f->ops->release(f, region);
    f->ops->close(f);
}

static void check_timers(void)
{
    struct forks_rank self = {forks_make(1), 0};
    struct storm_boot boot = forks_boot(&self);
    fake_memory = (uint64_t)1 << 30;
    has_timer = true;
    rank_run(&boot, allocate, NULL);
    has_timer = false;
}

int main(void)
{
    char folder[] = "/tmp/storm-crash-XXXXXX";
    CHECK(mkdtemp(folder) != NULL);
    CHECK_EQ(chdir(folder), 0);
    check_cores();
    check_many_engines();
    check_timers();
    rmdir(folder);
    return CHECK_PASS;
}
