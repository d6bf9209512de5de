/* SPDX-License-Identifier: BSD-3-Clause */
/* Identity and random numbers of packets. */
#include "base/random.h"

#include <math.h>

#include <Random123/philox.h>

#include <storm/packet.h>

#include "base/hash.h"
#include "base/port.h"

_Static_assert(sizeof(struct storm_packet) == 128, "two cache lines");

void storm_random_bits(const uint64_t key[2], const uint64_t counter[4],
                       uint64_t bits_out[4])
{
    philox4x64_key_t k = {{key[0], key[1]}};
    philox4x64_ctr_t c = {{counter[0], counter[1], counter[2], counter[3]}};
    philox4x64_ctr_t r = philox4x64_R(10, c, k);
    for (int i = 0; i < 4; i++)
        bits_out[i] = r.v[i];
}

void storm_random(uint64_t seed, storm_stream stream, struct storm_packet_id id,
                  uint64_t block, double uniform_out[4])
{
    const uint64_t key[2] = {seed, (uint64_t)stream};
    const uint64_t counter[4] = {id.hi, id.lo, block, 0};
    uint64_t bits[4];
    storm_random_bits(key, counter, bits);
    for (int i = 0; i < 4; i++)
        uniform_out[i] = storm_random_uniform(bits[i]);
}

void storm_packet_random(struct storm_packet *packet, uint64_t seed,
                         double uniform_out[4])
{
    storm_random(seed, STORM_STREAM_HISTORY, packet->id, packet->draws,
                 uniform_out);
    packet->draws++;
}

/* From the top: 0, origin (7 bits), cycle (32), cell (48), index (40). */
struct storm_packet_id storm_packet_id_make(storm_origin origin, uint64_t cycle,
                                            storm_cell_id cell, uint64_t index)
{
    STORM_ASSERT((uint64_t)origin < UINT64_C(1) << 7);
    STORM_ASSERT(cycle < UINT64_C(1) << 32);
    STORM_ASSERT(cell < UINT64_C(1) << 48);
    STORM_ASSERT(index < UINT64_C(1) << 40);
    return (struct storm_packet_id){
        .hi = (uint64_t)origin << 56 | cycle << 24 | cell >> 24,
        .lo = cell << 40 | index,
    };
}

/* The top bit is 1, the rest hashed. */
struct storm_packet_id storm_packet_id_child(struct storm_packet_id parent,
                                             uint64_t n_before)
{
    /* Any constant will do, but for the keys of storm_random: a stream is a
     * small number. Never change it: checkpoints hold the ids. */
    static const uint64_t key[2] = {0x53544f524d206964, 0x6f66206368696c64};
    const uint64_t counter[4] = {parent.hi, parent.lo, n_before, 0};
    uint64_t bits[4];
    storm_random_bits(key, counter, bits);
    return (struct storm_packet_id){
        .hi = bits[0] | UINT64_C(1) << 63,
        .lo = bits[1],
    };
}

int storm_packet_id_compare(struct storm_packet_id a, struct storm_packet_id b)
{
    if (a.hi != b.hi)
        return a.hi < b.hi ? -1 : 1;
    if (a.lo != b.lo)
        return a.lo < b.lo ? -1 : 1;
    return 0;
}

/* cos and sin of a quarter turn times x, |x| <= 1/2, by Taylor series whose
 * first term left out is below 5e-17. Not libm's, whose last bits differ
 * between machines: a packet's direction must not. */
static void random_cos_sin(double x, double *cos_out, double *sin_out)
{
    double a = x * 1.5707963267948966;
    double q = a * a;
    double s = -1.0 / 1307674368000.0;
    s = s * q + 1.0 / 6227020800.0;
    s = s * q - 1.0 / 39916800.0;
    s = s * q + 1.0 / 362880.0;
    s = s * q - 1.0 / 5040.0;
    s = s * q + 1.0 / 120.0;
    s = s * q - 1.0 / 6.0;
    *sin_out = a + a * q * s;
    double c = 1.0 / 20922789888000.0;
    c = c * q - 1.0 / 87178291200.0;
    c = c * q + 1.0 / 479001600.0;
    c = c * q - 1.0 / 3628800.0;
    c = c * q + 1.0 / 40320.0;
    c = c * q - 1.0 / 720.0;
    c = c * q + 1.0 / 24.0;
    *cos_out = 1.0 - (0.5 * q - q * q * c);
}

void storm_isotropic(double u0, double u1, double direction_out[3])
{
    double quarters = 4.0 * u1; /* exact, and so is the difference below */
    int quadrant = (int)(quarters + 0.5);
    double c, s;
    random_cos_sin(quarters - (double)quadrant, &c, &s);

    double radius = 2.0 * sqrt(u0 * (1.0 - u0));
    double x = radius * c, y = radius * s;
    switch (quadrant & 3) {
    case 0:
        direction_out[0] = x, direction_out[1] = y;
        break;
    case 1:
        direction_out[0] = -y, direction_out[1] = x;
        break;
    case 2:
        direction_out[0] = -x, direction_out[1] = -y;
        break;
    default:
        direction_out[0] = y, direction_out[1] = -x;
        break;
    }
    direction_out[2] = 2.0 * u0 - 1.0;
}

uint64_t storm_packet_hash(const struct storm_packet *packet)
{
    uint64_t hash = storm_hash_fold(packet->id.hi, packet->id.lo);
    for (int i = 0; i < 3; i++)
        hash = storm_hash_fold_real(hash, packet->position_cm[i]);
    for (int i = 0; i < 3; i++)
        hash = storm_hash_fold_real(hash, packet->direction[i]);
    hash = storm_hash_fold_real(hash, packet->time_left_s);
    hash = storm_hash_fold_real(hash, packet->weight_erg);
    hash = storm_hash_fold(hash, packet->cell);
    hash = storm_hash_fold(hash, packet->draws);
    hash = storm_hash_fold_real(hash, packet->birth_weight_erg);
    hash = storm_hash_fold_real(hash, packet->optical_depth);
    hash = storm_hash_fold(hash, (uint64_t)packet->group);
    return storm_hash_fold(hash, packet->spawns);
}
