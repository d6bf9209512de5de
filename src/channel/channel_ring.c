/* SPDX-License-Identifier: BSD-3-Clause */
/* Rings as a channel: life, steps and progress. */
#include "channel/channel_ring.h"
#include "base/lifeline.h"

static storm_status ring_begin_step(struct storm_channel *channel,
                                    uint64_t step)
{
    ring_of(channel)->parity = (step & 1) ? RING_PARITY : 0;
    return STORM_OK;
}

struct ring_way *ring_way_to(struct ring_channel *c, int rank)
{
    return &c->way[c->n_ways > 1 && c->params.near_rank[rank] >= 0];
}

int ring_peer_at(const struct ring_channel *c, const struct ring_way *way,
                 int rank)
{
    return way == &c->way[1] ? (int)c->params.near_rank[rank] : rank;
}

static storm_status poll_ways(struct ring_channel *c)
{
    storm_status status = STORM_OK;
    for (size_t i = 0; i < c->n_ways; i++) {
        struct storm_fabric *f = c->way[i].fabric;
        storm_status now = f->data->poll(f);
        if (now < 0)
            status = now;
    }
    return status;
}

static storm_status ring_progress(struct storm_channel *channel)
{
    struct ring_channel *c = ring_of(channel);
    storm_status status = poll_ways(c);
    if (status >= 0 && c->n_waiting > 0)
        status = ring_out_progress(c);
    /* Notes go on after an error: they carry the news of it. */
    storm_status notes = ring_notes_progress(c);
    if (status < 0 || notes < 0)
        return status < 0 ? status : notes;
    return c->n_awaited > 0 ? STORM_AGAIN : STORM_OK; /* C8 */
}

/* Completion does not mean landed, and landing may need the target's polls: on
 * such a fabric all ranks go on polling until all have heard the last note. */
static storm_status ring_end_step(struct storm_channel *channel)
{
    struct ring_channel *c = ring_of(channel);
    if (c->way[0].fabric->caps.instant)
        return STORM_OK;
    const struct storm_boot *boot = c->params.step_boot;
    storm_status status = boot->barrier_try(boot->self);
    if (status != STORM_AGAIN)
        return status;
    status = ring_growth_control(channel);
    return status < 0 ? status : STORM_AGAIN;
}

void ring_give_up(struct storm_channel *channel)
{
    struct ring_channel *c = ring_of(channel);
    if (!c->gave_up)
        storm_control_fail(c->params.control, c->params.boot);
    c->gave_up = true;
}

static storm_status ring_idle(struct storm_channel *channel, uint64_t n_empty)
{
    struct storm_fabric *f = ring_of(channel)->way[0].fabric;
    return f->data->idle(f, n_empty);
}

static void ring_stats(const struct storm_channel *channel,
                       struct storm_channel_stats *stats_out)
{
    const struct ring_channel *c = (const struct ring_channel *)channel;
    *stats_out = c->stats;
    for (size_t i = 0; i < c->n_ways; i++)
        stats_out->pinned_bytes_peak += c->way[i].fabric->pinned_bytes_peak;
}

/* Waits until no operation of this rank is under way any more. */
static void settle(struct ring_channel *c)
{
    for (uint64_t n_empty = 0; n_empty < 1u << 20; n_empty++) {
        uint32_t pending = 0;
        for (size_t i = 0; i < c->n_out; i++) {
            const struct out_ring *rings[] = {c->out[i].ring, c->out[i].old};
            for (int k = 0; k < 2; k++)
                if (rings[k])
                    pending |= rings[k]->half[0].pending |
                               rings[k]->half[1].pending |
                               rings[k]->word.pending | rings[k]->look.pending;
        }
        for (int i = 0; i < STORM_N_LINKS; i++)
            pending |= c->link[i].words.pending | c->link[i].number.pending;
        if (pending == 0 || poll_ways(c) < 0 ||
            storm_lifeline_check(c->params.env->lifeline) < 0)
            return;
        ring_idle(&c->channel, n_empty);
    }
    storm_log_write(&c->params.env->log, STORM_LOG_WARN,
                    "rings closed with operations under way");
}

static void close_way(struct ring_channel *c, struct ring_way *way)
{
    struct storm_fabric *f = way->fabric;
    for (size_t i = 0; i < way->n_tail_blocks; i++)
        f->ops->release(f, way->tail_block[i]);
    storm_free(c->memory, way->tail_block);
    f->ops->close(f);
}

static void ring_free(struct ring_channel *c)
{
    for (size_t i = 0; i < c->n_out; i++) {
        ring_out_free(c, c->out[i].ring);
        ring_out_free(c, c->out[i].old);
        ring_out_free(c, c->out[i].next);
    }
    for (size_t i = 0; i < c->n_in; i++) {
        ring_in_free(c, c->in[i].ring);
        ring_in_free(c, c->in[i].old);
    }
    ring_notes_close(c);
    for (size_t i = c->n_ways; i-- > 0;)
        close_way(c, &c->way[i]);
    storm_free(c->memory, c->slot);
    storm_free(c->memory, c->in);
    storm_free(c->memory, c->waiting);
    storm_free(c->memory, c->out);
    storm_free(c->memory, c->in_of_rank);
    storm_free(c->memory, c->out_of_rank);
    storm_free(c->memory, c);
}

static void ring_close(struct storm_channel *channel)
{
    struct ring_channel *c = ring_of(channel);
    settle(c);
    /* Until all have settled a put may still land in our rings, or need us to
     * poll. */
    const struct storm_boot *boot = c->params.boot;
    for (uint64_t n_empty = 0; boot->barrier_try(boot->self) == STORM_AGAIN;
         n_empty++) {
        (void)poll_ways(c);
        (void)ring_idle(&c->channel, n_empty);
    }
    ring_free(c);
}

static const struct storm_channel_data_ops ring_data = {
    .peer = ring_out_peer,
    .reserve = ring_out_reserve,
    .commit = ring_out_commit,
    .publish = ring_out_publish,
    .take = ring_in_take,
    .release = ring_in_release,
};

static const struct storm_channel_note_ops ring_notes = {
    .send = ring_notes_send,
    .read = ring_notes_read,
};

/* Collective over all ranks, whatever `boot` is over. */
static storm_status open_way(struct ring_channel *c,
                             const struct storm_fabric_ops *fabric,
                             const struct storm_boot *boot)
{
    struct ring_way *way = &c->way[c->n_ways];
    storm_status status = fabric->open(c->params.env, boot, &way->fabric);
    c->n_ways += status == STORM_OK;
    return storm_boot_agree(c->params.boot, status);
}

static storm_status ring_open(const struct storm_channel_params *params,
                              struct storm_channel **channel_out)
{
    const struct storm_env *env = params->env;
    size_t size = (size_t)params->boot->size;
    struct ring_channel *c =
        storm_alloc(env->memory, "ring channel", sizeof *c);
    storm_status status = c ? STORM_OK : STORM_ERR_NOMEM;
    if (c) {
        c->channel = (struct storm_channel){.ops = &storm_channel_ring,
                                            .data = &ring_data,
                                            .note = &ring_notes};
        c->params = *params;
        c->memory = env->memory;
        c->out_of_rank = storm_alloc(c->memory, "ring peers by rank",
                                     size * sizeof(int32_t));
        c->in_of_rank = storm_alloc(c->memory, "ring peers by rank",
                                    size * sizeof(int32_t));
        if (!c->out_of_rank || !c->in_of_rank)
            status = STORM_ERR_NOMEM;
        for (size_t i = 0; i < size && status == STORM_OK; i++)
            c->out_of_rank[i] = c->in_of_rank[i] = -1;
    }
    status = storm_boot_agree(params->boot, status);
    if (status == STORM_OK)
        status = open_way(c, params->fabric, params->boot);
    if (status == STORM_OK && params->near)
        status = open_way(c, params->near, params->near_boot);
    if (status == STORM_OK)
        status = ring_notes_open(c);
    if (status < 0) {
        if (c)
            ring_free(c);
        return status;
    }
    const char *provider = c->way[0].fabric->provider;
    c->channel.way = (struct storm_way){
        .backend = params->fabric->name,
        .provider = provider ? provider : "",
        .near = params->near ? params->near->name : "",
        .protocol = params->paper ? "paper" : "fast",
    };
    *channel_out = &c->channel;
    return STORM_OK;
}

const struct storm_channel_ops storm_channel_ring = {
    .name = "ring",
    .open = ring_open,
    .close = ring_close,
    .begin_step = ring_begin_step,
    .end_step = ring_end_step,
    .give_up = ring_give_up,
    .progress = ring_progress,
    .control = ring_growth_control,
    .idle = ring_idle,
    .trim = ring_growth_trim,
    .stats = ring_stats,
};
