/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/trace.h
 * Follow chosen packets of storm/imc.h event by event.
 *
 * Packets that are followed take their events one at a time; a history has the
 * same bits however it is split, so results do not change.
 *
 * Lifecycle  storm_imc_trace between steps; after each step the events of this
 *            rank are there until the next one begins.
 * Ownership  ids are copied; events are the object's.
 * Threads    one thread at a time per object.
 */
#ifndef STORM_TRACE_H
#define STORM_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include <storm/engine.h>
#include <storm/packet.h>
#include <storm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct storm_imc; /* opaque, storm/imc.h */

/** One event of a packet. */
struct storm_trace_event {
    struct storm_packet packet; /**< after the event; its cell is the next one
                                     if it has crossed a face */
    storm_cell_id from;         /**< the cell it was in */
    uint64_t drawn;             /**< blocks of random numbers in the event */
    uint64_t step;
    uint64_t fate; /**< storm_fate; SEND and CONTINUE: its history goes on */
};

/** Follow the packets with these ids; n = 0: none. Local, between steps, on
 *  every rank. STORM_ERR_NOMEM: as before. STORM_ERR_STATE: in a step. */
STORM_API STORM_MUST_CHECK storm_status
storm_imc_trace(struct storm_imc *imc, const struct storm_packet_id *ids,
                size_t n);

/** The events of the last step on this rank, in no order across packets; those
 *  of one packet in their order. Local. */
STORM_API const struct storm_trace_event *
storm_imc_trace_events(const struct storm_imc *imc, size_t *n_out);

#ifdef __cplusplus
}
#endif
#endif /* STORM_TRACE_H */
