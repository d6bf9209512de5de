/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that the adapter may touch: locked in place, and counted. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fabric/ibv/ibv_fabric.h"

/* The usual reason is a limit that a user can have raised. */
static void say_not_locked(const struct verbs_fabric *f, size_t bytes,
                           int error)
{
    const struct storm_log *log = &f->fabric.env->log;
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    if (error == ENOMEM && getrlimit(RLIMIT_MEMLOCK, &limit) == 0 &&
        limit.rlim_cur != RLIM_INFINITY)
        storm_log_write(log, STORM_LOG_ERROR,
                        "ibv: cannot lock %zu bytes of memory for the network "
                        "beside %llu locked already: the limit is %llu KiB; "
                        "run `ulimit -l unlimited` before the launch, or set "
                        "memlock to unlimited in /etc/security/limits.conf on "
                        "every node",
                        bytes, (unsigned long long)f->fabric.pinned_bytes,
                        (unsigned long long)(limit.rlim_cur >> 10));
    else
        storm_log_write(log, STORM_LOG_ERROR,
                        "ibv: cannot register %zu bytes of memory with %s: %s",
                        bytes, f->port.name, strerror(error));
}

storm_status verbs_memory_make(struct verbs_fabric *f, size_t bytes,
                               struct verbs_memory *memory_out)
{
    const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                       IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct verbs_memory m = {.map_bytes = (bytes + page - 1) / page * page};
    m.base = mmap(NULL, m.map_bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (m.base == MAP_FAILED) {
        storm_log_write(&f->fabric.env->log, STORM_LOG_ERROR,
                        "ibv: no memory for %zu bytes: %s", bytes,
                        strerror(errno));
        return STORM_ERR_NOMEM;
    }
    errno = 0;
    m.mr = ibv_reg_mr(f->pd, m.base, m.map_bytes, access);
    if (!m.mr) {
        say_not_locked(f, bytes, errno);
        munmap(m.base, m.map_bytes);
        return STORM_ERR_NOMEM;
    }
    f->fabric.pinned_bytes += m.map_bytes;
    if (f->fabric.pinned_bytes > f->fabric.pinned_bytes_peak)
        f->fabric.pinned_bytes_peak = f->fabric.pinned_bytes;
    *memory_out = m;
    return STORM_OK;
}

void verbs_memory_free(struct verbs_fabric *f, struct verbs_memory *memory)
{
    if (!memory->mr)
        return;
    int error = ibv_dereg_mr(memory->mr);
    if (error != 0)
        storm_log_write(&f->fabric.env->log, STORM_LOG_WARN,
                        "ibv: memory cannot be deregistered: %s",
                        strerror(error));
    /* Also gives the pages back. */
    munmap(memory->base, memory->map_bytes);
    f->fabric.pinned_bytes -= memory->map_bytes;
    *memory = (struct verbs_memory){0};
}
