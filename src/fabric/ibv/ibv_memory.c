/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that the adapter may access: locked and counted. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "fabric/fabric_memory.h"
#include "fabric/ibv/ibv_fabric.h"

void verbs_log_denied(const struct verbs_fabric *f, int error,
                      const char *format, ...)
{
    char what[160];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    storm_fabric_log_denied(&f->fabric, what, strerror(error), error == ENOMEM);
}

storm_status verbs_memory_make(struct verbs_fabric *f, size_t bytes,
                               struct verbs_memory *memory_out)
{
    const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                       IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    struct verbs_memory m = {0};
    m.base = storm_fabric_map(&f->fabric, bytes, &m.map_bytes);
    if (!m.base)
        return STORM_ERR_NOMEM;
    errno = 0;
    m.mr = f->port.library.reg_mr(f->pd, m.base, m.map_bytes, access);
    if (!m.mr) {
        verbs_log_denied(f, errno, "access to %zu bytes of memory", bytes);
        munmap(m.base, m.map_bytes);
        return STORM_ERR_NOMEM;
    }
    storm_fabric_pin(&f->fabric, (ptrdiff_t)m.map_bytes);
    *memory_out = m;
    return STORM_OK;
}

void verbs_memory_free(struct verbs_fabric *f, struct verbs_memory *memory)
{
    if (!memory->mr)
        return;
    int error = f->port.library.dereg_mr(memory->mr);
    if (error != 0)
        storm_log_write(&f->fabric.env->log, STORM_LOG_WARN,
                        "ibv: memory cannot be deregistered: %s",
                        strerror(error));
    /* Also frees the pages. */
    munmap(memory->base, memory->map_bytes);
    storm_fabric_pin(&f->fabric, -(ptrdiff_t)memory->map_bytes);
    *memory = (struct verbs_memory){0};
}
