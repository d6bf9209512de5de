/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that the adapter may touch: locked in place, and counted. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fabric/ibv/ibv_fabric.h"

void verbs_say_denied(const struct verbs_fabric *f, int error,
                      const char *format, ...)
{
    const struct storm_log *log = &f->fabric.env->log;
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    char what[160];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (error == ENOMEM && getrlimit(RLIMIT_MEMLOCK, &limit) == 0 &&
        limit.rlim_cur != RLIM_INFINITY)
        storm_log_write(log, STORM_LOG_ERROR,
                        "ibv: %s does not grant %s: %s; this process has "
                        "locked %llu KiB of memory for it, and the limit is "
                        "%llu KiB: run `ulimit -l unlimited` before the "
                        "launch, or set memlock to unlimited in "
                        "/etc/security/limits.conf on every node",
                        f->port.name, what, strerror(error),
                        (unsigned long long)(f->fabric.pinned_bytes >> 10),
                        (unsigned long long)(limit.rlim_cur >> 10));
    else
        storm_log_write(log, STORM_LOG_ERROR, "ibv: %s does not grant %s: %s",
                        f->port.name, what, strerror(error));
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
        verbs_say_denied(f, errno, "access to %zu bytes of memory", bytes);
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
