/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/*
 * TERM-8: waves beyond 2^32 in one step are not taken for its end, and steps
 * beyond 2^24 not for earlier ones. Two ranks in one process, on a channel that
 * has wave messages alone.
 */
#include "engine/engine_term.h"
#include "support/check.h"

enum { N_WAVES = 100 };

/* One slot a direction. */
struct slot {
    uint64_t words[STORM_WAVE_WORDS], number;
};

struct pair_channel {
    struct storm_channel channel;
    struct slot *out, *in;
};

static storm_status pair_send(struct storm_channel *channel,
                              enum storm_link link,
                              const uint64_t words[STORM_WAVE_WORDS],
                              uint64_t number)
{
    struct slot *out = ((struct pair_channel *)channel)->out;
    (void)link;
    for (int i = 0; i < STORM_WAVE_WORDS; i++)
        out->words[i] = words[i];
    out->number = number;
    return STORM_OK;
}

static storm_status pair_read(struct storm_channel *channel,
                              enum storm_link link,
                              uint64_t words_out[STORM_WAVE_WORDS],
                              uint64_t *number_out)
{
    const struct slot *in = ((struct pair_channel *)channel)->in;
    (void)link;
    for (int i = 0; words_out && i < STORM_WAVE_WORDS; i++)
        words_out[i] = in->words[i];
    *number_out = in->number;
    return STORM_OK;
}

static storm_status pair_nothing(struct storm_channel *channel)
{
    (void)channel;
    return STORM_OK;
}

static const struct storm_channel_ops pair_ops = {.end_step = pair_nothing,
                                                  .progress = pair_nothing};
static const struct storm_channel_wave_ops pair_wave = {.send = pair_send,
                                                        .read = pair_read};

/* Waves number `wave` + 1 and so on of one step, then its end. */
static void run_step(struct storm_term term[2], uint64_t wave, bool fails)
{
    struct storm_counts counts[2] = {{.created = 1}, {.created = 1}};
    storm_status status[2] = {STORM_OK, STORM_OK};
    for (int i = 0; i < 2; i++) {
        storm_term_begin(&term[i]);
        term[i].wave = wave;
    }
    uint64_t first = term[0].waves;
    while (term[0].waves < first + N_WAVES)
        for (int i = 0; i < 2; i++)
            CHECK_EQ(storm_term_poll(&term[i], &counts[i], true), STORM_OK);
    CHECK(term[0].wave >= wave + N_WAVES);
    counts[0].finished = counts[1].finished = 1;
    counts[1].errors = fails;
    while (status[0] == STORM_OK || status[1] == STORM_OK)
        for (int i = 0; i < 2; i++)
            if (status[i] == STORM_OK)
                status[i] = storm_term_poll(&term[i], &counts[i], true);
    CHECK_EQ(status[0], fails ? STORM_ERR_PEER : STORM_DONE);
    CHECK_EQ(status[1], status[0]);
}

int main(void)
{
    struct slot up = {0}, down = {0};
    struct pair_channel channel[2] = {{.out = &down, .in = &up},
                                      {.out = &up, .in = &down}};
    struct storm_env env[2] = {{.rank = 0, .size = 2}, {.rank = 1, .size = 2}};
    struct storm_term term[2];
    for (int i = 0; i < 2; i++) {
        channel[i].channel = (struct storm_channel){
            .ops = &pair_ops,
            .wave = &pair_wave,
            .tree = storm_tree_one_node(i, 2),
        };
        storm_term_open(&term[i], &channel[i].channel, &env[i], 1000);
    }
    run_step(term, 0, false);
    run_step(term, UINT32_MAX - N_WAVES / 2, false);
    /* The numbers of steps wrap around: 2^24 - 2, ..., 2^24 + 2. */
    for (int i = 0; i < 2; i++)
        term[i].step = (1u << 24) - 3;
    down.number = (uint64_t)term[0].step << 40;
    for (int i = 0; i < 5; i++)
        run_step(term, 0, false);
    run_step(term, UINT32_MAX - N_WAVES / 2, true);
    return CHECK_PASS;
}
