/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/packet.h
 * The packet of the bundled meshes and physics, its identity and its random
 * numbers.
 *
 * A packet's history is a function of the packet alone: its id does not
 * depend on the partition, and its random numbers are a function of (run seed,
 * id, number of draws so far), on any rank.
 * All functions are local, never block and have no state of their own.
 */
#ifndef STORM_PACKET_H
#define STORM_PACKET_H

#include <stdint.h>

#include <storm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The tag of a cell: below 2^48, unique in the run, never used again; the
 *  same on any number of ranks and wherever the cell moves. */
typedef uint64_t storm_cell_id;
typedef int32_t storm_cell_idx; /**< local to a rank */

/** Where a cell is. */
struct storm_cell_ref {
    int32_t rank;       /**< its owner; -1: nowhere */
    storm_cell_idx idx; /**< index there */
};

/** Unique in the whole run; equal on any number of ranks. */
struct storm_packet_id {
    uint64_t hi, lo;
};

/** Where packets come from: part of the id, so never renumber. */
typedef enum storm_origin {
    STORM_ORIGIN_USER = 0,     /**< the application's own */
    STORM_ORIGIN_INITIAL = 1,  /**< initial radiation */
    STORM_ORIGIN_EMISSION = 2, /**< emitted by a cell */
    STORM_ORIGIN_SOURCE = 3,   /**< volume source */
    STORM_ORIGIN_BOUNDARY = 4  /**< entered through the boundary */
} storm_origin;

/** 128 bytes, two cache lines. Lengths in cm, times in s. */
struct storm_packet {
    struct storm_packet_id id;
    double position_cm[3]; /**< global coordinates */
    double direction[3];   /**< unit vector */
    double time_left_s;
    double weight_erg; /**< energy */
    storm_cell_id cell;
    uint64_t draws; /**< random numbers drawn so far, in blocks of four */
    double birth_weight_erg;
    double optical_depth;    /**< left to the next collision; 0: not drawn yet;
                               below: it diffuses, and has no place in its
                               cell but this one */
    storm_cell_idx cell_idx; /**< index of `cell` on its owner */
    int32_t group;
    uint32_t spawns; /**< children so far */
    uint32_t face;   /**< the face of the cell it stands on, for boundaries */
};

/** A packet with the energy of its photons: the record where groups are
 *  Doppler-shifted or photons change their energy (storm_imc_record_bytes).
 *  `group` of the packet is that of the energy. 144 bytes. */
struct storm_photon {
    struct storm_packet packet;
    double energy_kev; /**< in the frame of the mesh */
    uint64_t reserved; /**< 0 */
};

/**
 * The id of the @p index -th packet of an origin made in a cell in a step. All
 * distinct: nothing is hashed.
 *
 * @param cycle  below 2^32
 * @param cell   below 2^48
 * @param index  below 2^40
 */
STORM_API struct storm_packet_id storm_packet_id_make(storm_origin origin,
                                                      uint64_t cycle,
                                                      storm_cell_id cell,
                                                      uint64_t index);

/** The id of the child of @p parent that had @p n_before siblings before it:
 *  127 hashed bits, never equal to one made by storm_packet_id_make. */
STORM_API struct storm_packet_id
storm_packet_id_child(struct storm_packet_id parent, uint64_t n_before);

/** Total order of ids: negative, zero, positive. */
STORM_API int storm_packet_id_compare(struct storm_packet_id a,
                                      struct storm_packet_id b);

/** The id that a text names: origin:step:cell:index, with the arguments of
 *  storm_packet_id_make, the origin as host, initial, emission, source or
 *  boundary ("emission:3:17:0"), or 32 hexadecimal digits, hi and lo. 0 if it
 *  is none; nothing is written then. Local. */
STORM_API int storm_packet_id_parse(const char *text,
                                    struct storm_packet_id *id_out);

/** What random numbers are used for: part of the key, so never renumber. */
typedef enum storm_stream {
    STORM_STREAM_HISTORY = 1,    /**< a packet's own history */
    STORM_STREAM_BIRTH = 2,      /**< a packet's initial state */
    STORM_STREAM_POPULATION = 3, /**< comb offsets */
    STORM_STREAM_MESH = 4,       /**< generators of a mesh */
    STORM_STREAM_USER = 5,       /**< the application's own */
    STORM_STREAM_TALLY = 6       /**< what tallies need beyond histories */
} storm_stream;

/** Four uniform numbers in (0, 1): a pure function of the arguments. */
STORM_API void storm_random(uint64_t seed, storm_stream stream,
                            struct storm_packet_id id, uint64_t block,
                            double uniform_out[4]);

/** The next four numbers of @p packet's own history; counts them in it. */
STORM_API void storm_packet_random(struct storm_packet *packet, uint64_t seed,
                                   double uniform_out[4]);

/** Isotropic unit vector from two uniform numbers. */
STORM_API void storm_isotropic(double u0, double u1, double direction_out[3]);

/** Hash of all of a packet but its local index, face and owner. */
STORM_API uint64_t storm_packet_hash(const struct storm_packet *packet);

/** The same with the energy of its photons. */
STORM_API uint64_t storm_photon_hash(const struct storm_photon *photon);

#ifdef __cplusplus
}
#endif
#endif /* STORM_PACKET_H */
