/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments of the kernels that copy packets between the slots of the engine
 * and the memory of a device. */
#ifndef STORM_PHYSICS_DEVICE_COPY_H
#define STORM_PHYSICS_DEVICE_COPY_H

#include <stdalign.h>
#include <stdint.h>

#include <storm/packet.h>

/* What a thread copies: neighbours copy neighbouring parts, so that a packet is
 * one transfer over the bus. */
struct device_part {
    alignas(16) uint64_t words[2];
};
enum {
    DEVICE_PARTS = sizeof(struct storm_packet) / sizeof(struct device_part)
};

struct device_copy_job {
    void *const *packets;
    struct storm_packet *staged; /* in the same order */
};

#endif /* STORM_PHYSICS_DEVICE_COPY_H */
