/* SPDX-License-Identifier: BSD-3-Clause */
/* The tracking kernel of free streaming alone, without engine. */
#ifndef STORM_BENCH_KERNEL_H
#define STORM_BENCH_KERNEL_H

#include <storm/engine.h>
#include <storm/streaming.h>

/*
 * Runs it on copies of the packets of the engine, between steps; walls and
 * borders of this rank's cells are mirrors. Stops after the first whole pass
 * that ends later than `seconds`. If the rank has a device with this kernel, it
 * runs there, on packets in its memory, which are copied between passes. Local.
 *
 * STORM_ERR_STATE  the mesh has changed since the last step (logged)
 * STORM_ERR_NOMEM
 * STORM_ERR_DEVICE
 */
storm_status storm_bench_kernel(struct storm_streaming *streaming,
                                struct storm_engine *engine, double seconds,
                                double *events_per_second_out);

#endif /* STORM_BENCH_KERNEL_H */
