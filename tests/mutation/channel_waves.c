/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST args: threads 2 3; timeout: 60; label: tsan */
/* TEST ranks: 2 3; args: processes; timeout: 60 */
/*
 * CHANNEL-6: the words of a wave message belong to its number, if the sender
 * waits for an answer before it sends the next; on every fabric, plain and
 * under chaos, and over messages. Questions run down the tree and answers up,
 * as waves do.
 */
#include <stdlib.h>
#include <string.h>

#include "channel/channel_control.h"
#include "channel/channel_ops.h"
#include "support/chaos.h"
#include "support/check.h"
#include "support/control_threads.h"
#include "support/dice.h"
#include "support/processes.h"
#include "support/threads.h"

/* One case: what carries the wave messages. */
struct waves {
    const struct storm_channel_ops *ops;
    const struct storm_fabric_ops *fabric;
    uint64_t rounds;
    struct control_hub *hub;
};

static uint64_t word_of(int from, uint64_t number, int i)
{
    return dice_mix(dice_mix(number * 64 + (uint64_t)i) + (uint64_t)from);
}

static void turn(struct storm_channel *channel, uint64_t n_empty)
{
    CHECK_OK(channel->ops->progress(channel));
    if (n_empty > 0)
        CHECK(channel->ops->idle(channel, n_empty) >= 0);
}

static void send_wave(struct storm_channel *channel,
                      const struct storm_boot *boot, enum storm_link link,
                      uint64_t number)
{
    if (channel->tree.rank[link] < 0)
        return;
    uint64_t words[STORM_WAVE_WORDS];
    for (int i = 0; i < STORM_WAVE_WORDS; i++)
        words[i] = word_of(boot->rank, number, i);
    storm_status status;
    for (uint64_t n = 0; (status = channel->wave->send(channel, link, words,
                                                       number)) == STORM_AGAIN;
         n++)
        turn(channel, n);
    CHECK_OK(status);
}

static void await_wave(struct storm_channel *channel, enum storm_link link,
                       uint64_t number)
{
    int from = channel->tree.rank[link];
    if (from < 0)
        return;
    uint64_t words[STORM_WAVE_WORDS], found = 0;
    for (uint64_t n = 0; found < number; n++) {
        turn(channel, n);
        CHECK_OK(channel->wave->read(channel, link, NULL, &found));
    }
    /* Not before: words read while the number is old may be half written. */
    CHECK_OK(channel->wave->read(channel, link, words, &found));
    CHECK_EQ(found, number);
    for (int i = 0; i < STORM_WAVE_WORDS; i++)
        CHECK_EQ(words[i], word_of(from, number, i));
}

/* Two ranks on every node, so that all kinds of links are used. */
static struct storm_tree tree_of_pairs(int rank, int size)
{
    enum { MAX_NODES = 8 };
    int leader[MAX_NODES], node = rank / 2;
    CHECK(size <= 2 * MAX_NODES);
    for (int i = 0; i < MAX_NODES; i++)
        leader[i] = 2 * i;
    return storm_tree_at(&(struct storm_tree_place){
        .i_near = rank % 2,
        .n_near = 2 * node + 2 <= size ? 2 : 1,
        .i_far = node,
        .n_far = (size + 1) / 2,
        .near = (int[]){2 * node, 2 * node + 1},
        .far = leader,
    });
}

static void waves_rank(void *self, const struct storm_env *env,
                       const struct storm_boot *boot)
{
    struct waves *t = self;
    struct storm_tree tree = tree_of_pairs(boot->rank, boot->size);
    struct storm_control *control = NULL;
    if (t->hub)
        control = control_hub_open(t->hub, boot->rank);
    else
        CHECK_OK(storm_control_mpi_open(boot, env, &control));
    struct storm_channel_params params = {
        .env = env,
        .boot = boot,
        .tree = &tree,
        .control = control,
        .fabric = t->fabric,
        .record_bytes = 32,
        .slots = 8,
        .batch = 8,
        .growth = 2,
    };
    struct storm_channel *channel;
    CHECK_OK(t->ops->open(&params, &channel));
    check_where("%s %s, rank %d", t->ops->name,
                t->fabric ? t->fabric->name : "", boot->rank);
    for (uint64_t number = 1; number <= t->rounds; number++) {
        await_wave(channel, STORM_LINK_PARENT, number);
        for (int i = STORM_LINK_CHILDREN; i < STORM_N_LINKS; i++)
            send_wave(channel, boot, (enum storm_link)i, number);
        for (int i = STORM_LINK_CHILDREN; i < STORM_N_LINKS; i++)
            await_wave(channel, (enum storm_link)i, number);
        send_wave(channel, boot, STORM_LINK_PARENT, number);
    }
    uint64_t n = 0;
    while (boot->barrier_try(boot->self) == STORM_AGAIN)
        turn(channel, n++);
    channel->ops->close(channel);
    control->ops->close(control);
}

static void run_case(struct waves t, int n_threads)
{
    if (n_threads > 0) {
        t.hub = control_hub_make(n_threads);
        threads_run(n_threads, waves_rank, &t);
        control_hub_free(t.hub);
    } else {
        processes_run(waves_rank, &t);
    }
}

static void run_all(int n_threads)
{
    const struct storm_fabric_ops *fabrics[] = {&storm_fabric_shm, &chaos_shm,
                                                &chaos_shm_ordered};
    for (int i = 0; i < 3; i++)
        run_case((struct waves){.ops = &storm_channel_ring,
                                .fabric = fabrics[i],
                                .rounds = i == 0 ? 3000 : 200},
                 n_threads);
    if (n_threads == 0)
        run_case((struct waves){.ops = &storm_channel_p2p, .rounds = 1000}, 0);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "processes") == 0) {
        processes_begin();
        run_all(0);
        processes_end();
        return CHECK_PASS;
    }
    for (int i = 2; i < argc; i++)
        run_all(atoi(argv[i]));
    return argc > 2 ? CHECK_PASS : CHECK_FAIL;
}
