/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST args: threads 1 2 3; timeout: 120; label: tsan */
/* TEST ranks: 3 5; args: processes; timeout: 60 */
/* TEST ranks: 3; args: processes; backend: networks; timeout: 100;
 *      label: slow-asan */
/* TEST ranks: 3; args: processes; backend: ofi-shm; timeout: 100;
 *      label: slow-asan */
/* TEST ranks: 3; args: processes; backend: ofi-sockets; timeout: 100;
 *      label: long */
/*
 * FABRIC-7, FABRIC-8: whoever reads the word of a put_word can read all puts
 * before it, on an ordered fabric without waiting, on any other after
 * completions of `delivered` puts.
 */
#include "support/pipe.h"

static void order(struct conform *c)
{
    for (int shift = 0; shift < c->size && shift < 3; shift++) {
        uint64_t rounds = conform_rounds(c, shift == 1 ? 1000000 : 100000);
        /* Many small slots: the word follows its slot closely. */
        struct pipe_params small = {
            .shift = shift, .slots = 64, .max_words = 8, .rounds = rounds};
        pipe_run(c, &small);
        /* Large slots: the word may overtake the end of its slot. */
        struct pipe_params large = {.shift = shift,
                                    .slots = 8,
                                    .max_words = 2048,
                                    .rounds = 64 + rounds / 100};
        pipe_run(c, &large);
    }
}

int main(int argc, char **argv)
{
    return conform_main(argc, argv, order);
}
