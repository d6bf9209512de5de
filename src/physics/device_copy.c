/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels on devices: packets from their slots, and back. */
#include "base/port.h"

STORM_GPU_INLINE_BEGIN

#include "physics/device_copy.h"

static inline void copy_part(struct device_part *to,
                             const struct device_part *from)
{
    to->words[0] = from->words[0];
    to->words[1] = from->words[1];
}

static inline struct device_part *part_of(void *packets, uint64_t i)
{
    return (struct device_part *)packets + i;
}

static inline void thread_fetch(const struct device_copy_job *job, uint64_t i)
{
    copy_part(part_of(job->staged, i),
              part_of(job->packets[i / DEVICE_PARTS], i % DEVICE_PARTS));
}

static inline void thread_return(const struct device_copy_job *job, uint64_t i)
{
    copy_part(part_of(job->packets[i / DEVICE_PARTS], i % DEVICE_PARTS),
              part_of(job->staged, i));
}

STORM_KERNEL(storm_copy_fetch, device_copy_job, thread_fetch)
STORM_KERNEL(storm_copy_return, device_copy_job, thread_return)

STORM_GPU_INLINE_END
