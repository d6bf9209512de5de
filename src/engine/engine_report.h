/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of the physics for the log, from inside a step that may never end. */
#ifndef STORM_ENGINE_REPORT_H
#define STORM_ENGINE_REPORT_H

#include <storm/engine.h>

/* Rank 0 logs one such line of all ranks and steps of an engine (CONTROL-5).
 * Local, never blocks, for batches of transport. STORM_AGAIN: the line may
 * still be here; call again, as long as the batch does not end. */
storm_status storm_step_report(struct storm_step *step, const char *text);

#endif /* STORM_ENGINE_REPORT_H */
