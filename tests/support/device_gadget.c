/* SPDX-License-Identifier: BSD-3-Clause */
#include "gadget.h"

#include "base/port.h"

static void turn(const struct gadget_job *job, uint64_t i)
{
    job->to[i] = job->from[job->n - 1 - i] * job->factor;
}
STORM_KERNEL(gadget_turn, gadget_job, turn)

static void watch(const struct gadget_job *job, uint64_t i)
{
    job->to[1] += i < job->to[0];
    job->to[0] = i;
}
STORM_KERNEL(gadget_watch, gadget_job, watch)

static void sum(const struct gadget_job *job, uint64_t i)
{
    gadget_exact term = gadget_term(job->from[i]);
    uint64_t low = (uint64_t)term, high = (uint64_t)(term >> 64);
    uint64_t before = storm_thread_add(&job->to[0], low);
    (void)storm_thread_add(&job->to[1], high + (before + low < before));
}
STORM_KERNEL(gadget_sum, gadget_job, sum)

#if !defined(__NVPTX__)
extern const char storm_device_ptx_gadget[];

const struct storm_device_program gadget_program = {
    .ptx = storm_device_ptx_gadget,
    .functions =
        (const struct storm_device_function[]){{"gadget_turn", gadget_turn},
                                               {"gadget_watch", gadget_watch},
                                               {"gadget_sum", gadget_sum},
                                               {NULL, NULL}},
};
#endif
