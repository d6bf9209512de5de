/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 60 */
/*
 * Locked memory is counted, really given back to the kernel, and when there is
 * too little of it the message has the remedy.
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/conform.h"
#include "support/threads.h"

enum { NOBODY = 65534, SMALL = 4096, LARGE = 4 << 20, HUGE = 64 << 20 };

static const struct storm_fabric_ops *find_ibv(void)
{
    for (size_t i = 0; storm_fabric_list[i]; i++)
        if (strcmp(storm_fabric_list[i]->name, "ibv") == 0)
            return storm_fabric_list[i];
    return NULL;
}

static void keep_line(void *self, storm_log_level level, int rank,
                      const char *message)
{
    (void)level, (void)rank;
    snprintf(self, 1024, "%s", message);
}

/* A line of /proc/self/status, in bytes. */
static uint64_t kernel_value(const char *key)
{
    char line[256];
    unsigned long long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0)
            CHECK_EQ(sscanf(line + strlen(key), ": %llu", &kib), 1);
    fclose(file);
    return (uint64_t)kib << 10;
}

static void given_back(struct conform *c)
{
    uint64_t pinned = kernel_value("VmPin"), resident = kernel_value("VmRSS");
    for (int i = 0; i < 3; i++) {
        struct storm_region *region = conform_alloc(c, HUGE);
        memset(region->base, 1, region->bytes);
        CHECK(kernel_value("VmPin") >= pinned + HUGE);
        CHECK(kernel_value("VmRSS") >= resident + HUGE / 2);
        conform_release(c, region);
        CHECK_EQ(kernel_value("VmPin"), pinned);
        CHECK(kernel_value("VmRSS") < resident + HUGE / 8);
    }
}

static void counted(struct conform *c)
{
    struct storm_fabric *f = c->fabric;
    uint64_t before = f->pinned_bytes;
    struct storm_region *small = conform_alloc(c, SMALL);
    struct storm_region *large = conform_alloc(c, LARGE);
    CHECK(f->pinned_bytes >= before + SMALL + LARGE);
    conform_release(c, large);
    CHECK(f->pinned_bytes < before + LARGE);
    CHECK(f->pinned_bytes_peak >= before + SMALL + LARGE);
    conform_release(c, small);
    CHECK_EQ(f->pinned_bytes, before);
}

/* Only who is not root has a limit. */
static void limited(struct conform *c)
{
    char line[1024] = "";
    struct storm_log *log = (struct storm_log *)&c->fabric->env->log;
    struct storm_log kept = *log;
    struct rlimit before, tight;
    struct storm_region *region = NULL;
    uint64_t pinned = c->fabric->pinned_bytes;
    if (geteuid() != 0)
        return;
    log->sink = keep_line;
    log->self = line;
    CHECK_EQ(getrlimit(RLIMIT_MEMLOCK, &before), 0);
    tight = before;
    tight.rlim_cur = LARGE / 2;
    CHECK_EQ(setrlimit(RLIMIT_MEMLOCK, &tight), 0);
    CHECK_EQ(seteuid(NOBODY), 0);
    storm_status status = c->fabric->ops->alloc(c->fabric, LARGE, &region);
    CHECK_EQ(seteuid(0), 0);
    CHECK_EQ(setrlimit(RLIMIT_MEMLOCK, &before), 0);
    *log = kept;
    printf("%s\n", line);
    CHECK_EQ(status, STORM_ERR_NOMEM);
    CHECK(region == NULL);
    CHECK_EQ(c->fabric->pinned_bytes, pinned);
    CHECK(strstr(line, "ulimit -l unlimited") != NULL);
    CHECK(strstr(line, "the limit is 2048 KiB") != NULL);
    conform_release(c, conform_alloc(c, LARGE));
}

static void rank_main(void *self, const struct storm_env *env,
                      const struct storm_boot *boot)
{
    struct conform c = {.boot = boot, .rank = boot->rank, .size = boot->size};
    (void)self;
    CHECK_OK(find_ibv()->open(env, boot, &c.fabric));
    c.data = c.fabric->data;
    counted(&c);
    given_back(&c);
    limited(&c);
    c.fabric->ops->close(c.fabric);
}

int main(void)
{
    char reason[256] = "not part of this build";
    if (!find_ibv() || find_ibv()->probe(reason, sizeof reason) < 0) {
        printf("skipped: %s\n", reason);
        return CHECK_SKIP;
    }
    threads_run(1, rank_main, NULL);
    return CHECK_PASS;
}
