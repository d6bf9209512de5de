/* SPDX-License-Identifier: BSD-3-Clause */
/* Control messages (channel_control.h) between threads. */
#ifndef STORM_TESTS_MAILBOX_H
#define STORM_TESTS_MAILBOX_H

#include "channel/channel_mail.h"

/* Queues of messages that the ranks of a team share. */
struct mailbox_hub;

struct mailbox_hub *mailbox_hub_make(int n_ranks);
void mailbox_hub_free(struct mailbox_hub *hub);

/* One rank's control; close ends it. */
struct storm_control *mailbox_open(struct mailbox_hub *hub, int rank);

#endif /* STORM_TESTS_MAILBOX_H */
