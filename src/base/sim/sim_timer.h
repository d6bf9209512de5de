/* SPDX-License-Identifier: BSD-3-Clause */
/* SimGrid's timers, for which it has no interface in C. */
#ifndef STORM_BASE_SIM_TIMER_H
#define STORM_BASE_SIM_TIMER_H

#ifdef __cplusplus
extern "C" {
#endif

/* The action runs in the simulator, not in an actor: it must not block. */
void storm_sim_timer(double date_s, void (*action)(void *data), void *data);

#ifdef __cplusplus
}
#endif

#endif /* STORM_BASE_SIM_TIMER_H */
