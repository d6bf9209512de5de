/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers of storm/packet.h, inlined: the functions there are made of
 * these, and so are kernels for devices. */
#ifndef STORM_BASE_DRAW_H
#define STORM_BASE_DRAW_H

#include <math.h>

#include <Random123/philox.h>

#include <storm/packet.h>

#include "base/math.h"
#include "base/random.h"

/* One function for all of it, and no array on the way: each collision comes
 * here, and a vector that is read from where single words were just written
 * waits for them to reach the cache. */
static inline __attribute__((always_inline)) void
storm_draw(uint64_t seed, storm_stream stream, struct storm_packet_id id,
           uint64_t block, double uniform_out[4])
{
    philox4x64_key_t k = {{seed, (uint64_t)stream}};
    philox4x64_ctr_t c = {{id.hi, id.lo, block, 0}};
    philox4x64_ctr_t r = philox4x64_R(10, c, k);
    uniform_out[0] = storm_random_uniform(r.v[0]);
    uniform_out[1] = storm_random_uniform(r.v[1]);
    uniform_out[2] = storm_random_uniform(r.v[2]);
    uniform_out[3] = storm_random_uniform(r.v[3]);
}

static inline __attribute__((always_inline)) void
storm_draw_packet(struct storm_packet *packet, uint64_t seed,
                  double uniform_out[4])
{
    storm_draw(seed, STORM_STREAM_HISTORY, packet->id, packet->draws,
               uniform_out);
    packet->draws++;
}

static inline __attribute__((always_inline)) void
storm_draw_isotropic(double u0, double u1, double direction_out[3])
{
    double c, s;
    storm_math_turns(u1, &c, &s);
    double radius = 2.0 * sqrt(u0 * (1.0 - u0));
    direction_out[0] = radius * c;
    direction_out[1] = radius * s;
    direction_out[2] = 2.0 * u0 - 1.0;
}

#endif /* STORM_BASE_DRAW_H */
