/* SPDX-License-Identifier: BSD-3-Clause */
/* Identity and random numbers of packets. */
#include "base/random.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <storm/packet.h>

#include "base/draw.h"

#include "base/hash.h"
#include "base/math.h"
#include "base/port.h"

_Static_assert(sizeof(struct storm_packet) == 128, "two cache lines");
_Static_assert(sizeof(struct storm_photon) == 144, "a multiple of 16");

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
    storm_draw(seed, stream, id, block, uniform_out);
}

void storm_packet_random(struct storm_packet *packet, uint64_t seed,
                         double uniform_out[4])
{
    storm_draw_packet(packet, seed, uniform_out);
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

/* A number below `limit`, and the character after it. */
static bool random_parse(const char **text, int base, char after,
                         uint64_t limit, uint64_t *value_out)
{
    char *end;
    bool is_digit = base == 16 ? isxdigit((unsigned char)**text)
                               : isdigit((unsigned char)**text);
    if (!is_digit)
        return false;
    errno = 0;
    uint64_t value = strtoull(*text, &end, base);
    if (errno != 0 || *end != after || value > limit)
        return false;
    *text = end + (after != '\0');
    *value_out = value;
    return true;
}

/* hi and lo as 16 digits each. */
static bool random_parse_digits(const char *text, struct storm_packet_id *id)
{
    char half[17];
    const char *hi = half, *lo = text + 16;
    if (strlen(text) != 32)
        return false;
    memcpy(half, text, 16);
    half[16] = '\0';
    return random_parse(&hi, 16, '\0', UINT64_MAX, &id->hi) &&
           random_parse(&lo, 16, '\0', UINT64_MAX, &id->lo);
}

int storm_packet_id_parse(const char *text, struct storm_packet_id *id_out)
{
    static const char *const names[] = {[STORM_ORIGIN_USER] = "host:",
                                        [STORM_ORIGIN_INITIAL] = "initial:",
                                        [STORM_ORIGIN_EMISSION] = "emission:",
                                        [STORM_ORIGIN_SOURCE] = "source:",
                                        [STORM_ORIGIN_BOUNDARY] = "boundary:"};
    struct storm_packet_id id;
    if (random_parse_digits(text, &id)) {
        *id_out = id;
        return 1;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        uint64_t step, cell, index;
        const char *rest = text + strlen(names[i]);
        if (strncmp(text, names[i], strlen(names[i])) != 0 ||
            !random_parse(&rest, 10, ':', UINT32_MAX, &step) ||
            !random_parse(&rest, 10, ':', (UINT64_C(1) << 48) - 1, &cell) ||
            !random_parse(&rest, 10, '\0', (UINT64_C(1) << 40) - 1, &index))
            continue;
        *id_out = storm_packet_id_make((storm_origin)i, step, cell, index);
        return 1;
    }
    return 0;
}

int storm_packet_id_compare(struct storm_packet_id a, struct storm_packet_id b)
{
    if (a.hi != b.hi)
        return a.hi < b.hi ? -1 : 1;
    if (a.lo != b.lo)
        return a.lo < b.lo ? -1 : 1;
    return 0;
}

void storm_isotropic(double u0, double u1, double direction_out[3])
{
    storm_draw_isotropic(u0, u1, direction_out);
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

uint64_t storm_photon_hash(const struct storm_photon *photon)
{
    return storm_hash_fold_real(storm_packet_hash(&photon->packet),
                                photon->energy_kev);
}
