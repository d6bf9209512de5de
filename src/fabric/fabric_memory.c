/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/fabric_memory.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

void *storm_fabric_map(const struct storm_fabric *fabric, size_t bytes,
                       size_t *mapped_out)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t mapped = (bytes + page - 1) / page * page;
    void *base = mmap(NULL, mapped, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) {
        storm_log_write(&fabric->env->log, fabric->refusal_level,
                        "%s: no memory for %zu bytes: %s", fabric->ops->name,
                        bytes, strerror(errno));
        return NULL;
    }
    /* The adapter knows physical pages: a child of this process must not make
     * copies of them (whoever writes first would get the copy). */
    (void)madvise(base, mapped, MADV_DONTFORK);
    (void)madvise(base, mapped, MADV_DONTDUMP);
    *mapped_out = mapped;
    return base;
}

void storm_fabric_pin(struct storm_fabric *fabric, ptrdiff_t bytes)
{
    fabric->pinned_bytes += (uint64_t)bytes;
    if (fabric->pinned_bytes > fabric->pinned_bytes_peak)
        fabric->pinned_bytes_peak = fabric->pinned_bytes;
}

void storm_fabric_log_denied(const struct storm_fabric *fabric,
                             const char *what, const char *why, bool locking)
{
    const struct storm_log *log = &fabric->env->log;
    storm_log_level level = fabric->refusal_level;
    const char *name = fabric->ops->name;
    const char *provider = fabric->provider ? fabric->provider : "the network";
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    if (locking && getrlimit(RLIMIT_MEMLOCK, &limit) == 0 &&
        limit.rlim_cur != RLIM_INFINITY)
        storm_log_write(
            log, level,
            "%s: %s does not grant %s: %s; this process has locked %llu KiB of "
            "memory for it, and the limit is %llu KiB: run `ulimit -l "
            "unlimited` before the launch, or set memlock to unlimited in "
            "/etc/security/limits.conf on every node (LimitMEMLOCK=infinity "
            "for the service that launches)",
            name, provider, what, why,
            (unsigned long long)(fabric->pinned_bytes >> 10),
            (unsigned long long)(limit.rlim_cur >> 10));
    else
        storm_log_write(log, level, "%s: %s does not grant %s: %s", name,
                        provider, what, why);
}

void storm_fabric_pack(const void *card, size_t bytes,
                       struct storm_region_desc *desc_out)
{
    memset(desc_out, 0, sizeof *desc_out);
    memcpy(desc_out->bytes, card, bytes);
}
