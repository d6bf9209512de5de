/* SPDX-License-Identifier: BSD-3-Clause */
/* Control messages (channel_control.h) between threads. */
#ifndef STORM_TESTS_CONTROL_THREADS_H
#define STORM_TESTS_CONTROL_THREADS_H

#include "channel/channel_message.h"

/* Queues of messages that the ranks of a team share. */
struct control_hub;

struct control_hub *control_hub_make(int n_ranks);
void control_hub_free(struct control_hub *hub);

/* One rank's control; close ends it. */
struct storm_control *control_hub_open(struct control_hub *hub, int rank);

#endif /* STORM_TESTS_CONTROL_THREADS_H */
