/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The smallest ring one can build on a fabric, for the tests of FABRIC-7,
 * FABRIC-8 and FABRIC-10: a sequence of numbered slots from every rank to
 * another one.
 *
 * The sender puts slot k, then the word k + 1; if the fabric is not ordered it
 * waits until each has landed. The receiver load-acquires the word, checks
 * every byte of the slots before it, then store-releases how many it has read.
 * The sender gets that number and uses those slots again.
 */
#ifndef STORM_TESTS_PIPE_H
#define STORM_TESTS_PIPE_H

#include "support/conform.h"

struct pipe_params {
    int shift;          /* rank r sends to rank r + shift, modulo size */
    uint32_t slots;     /* in the ring */
    uint32_t max_words; /* in one slot, even; the sender varies it from 1 on */
    uint64_t rounds;    /* slots to send */
    bool linger;        /* the receiver pauses in the middle of a slot */
    bool direct;        /* slots are stored, not put (FABRIC-11) */
};

/* Collective: sends and receives all rounds. */
void pipe_run(struct conform *c, const struct pipe_params *params);

#endif /* STORM_TESTS_PIPE_H */
