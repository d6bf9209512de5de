/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file storm/storm.h
 * All of libstorm: engine, meshes, bundled physics. libstorm_run has its own
 * headers: storm/deck.h, io.h, run.h, plot.h, report.h, compare.h.
 */
#ifndef STORM_STORM_H
#define STORM_STORM_H

#include <storm/change.h>
#include <storm/context.h>
#include <storm/engine.h>
#include <storm/exact.h>
#include <storm/given.h>
#include <storm/host.h>
#include <storm/host_run.h>
#include <storm/imc.h>
#include <storm/imc_accounts.h>
#include <storm/imc_state.h>
#include <storm/imc_steps.h>
#include <storm/imc_user.h>
#include <storm/info.h>
#include <storm/log.h>
#include <storm/matter.h>
#include <storm/mesh.h>
#include <storm/octree.h>
#include <storm/options.h>
#include <storm/packet.h>
#include <storm/points.h>
#include <storm/problem.h>
#include <storm/remap.h>
#include <storm/status.h>
#include <storm/streaming.h>
#include <storm/table.h>
#include <storm/tally.h>
#include <storm/trace.h>
#include <storm/version.h>
#include <storm/voronoi.h>

#endif /* STORM_STORM_H */
