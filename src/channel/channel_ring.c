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

struct ring_route *ring_route_to(struct ring_channel *c, int rank)
{
    return &c->route[c->n_routes > 1 && c->params.near_rank[rank] >= 0];
}

int ring_peer_at(const struct ring_channel *c, const struct ring_route *route,
                 int rank)
{
    return route == &c->route[1] ? (int)c->params.near_rank[rank] : rank;
}

static storm_status poll_routes(struct ring_channel *c)
{
    storm_status status = STORM_OK;
    for (size_t i = 0; i < c->n_routes; i++) {
        struct storm_fabric *f = c->route[i].fabric;
        storm_status now = f->data->poll(f);
        if (now < 0)
            status = now;
    }
    return status;
}

static storm_status ring_progress(struct storm_channel *channel)
{
    struct ring_channel *c = ring_of(channel);
    storm_status status = poll_routes(c);
    if (status >= 0 && c->n_waiting > 0)
        status = ring_out_progress(c);
    /* Also after an error: wave messages report it. */
    storm_status waves = ring_waves_progress(c);
    if (status < 0 || waves < 0)
        return status < 0 ? status : waves;
    return c->n_awaited > 0 ? STORM_AGAIN : STORM_OK; /* CHANNEL-8 */
}

/* Completion does not mean landed, and landing may need the target's polls: on
 * such a fabric all ranks poll until all have read the last wave message. */
static storm_status ring_end_step(struct storm_channel *channel)
{
    struct ring_channel *c = ring_of(channel);
    if (c->route[0].fabric->caps.instant)
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
        storm_control_fail(c->params.control, &c->channel.tree);
    c->gave_up = true;
}

static storm_status ring_idle(struct storm_channel *channel, uint64_t n_empty)
{
    struct storm_fabric *f = ring_of(channel)->route[0].fabric;
    return f->data->idle(f, n_empty);
}

static void ring_stats(const struct storm_channel *channel,
                       struct storm_channel_stats *stats_out)
{
    const struct ring_channel *c = (const struct ring_channel *)channel;
    *stats_out = c->stats;
    for (size_t i = 0; i < c->n_routes; i++)
        stats_out->pinned_bytes_peak += c->route[i].fabric->pinned_bytes_peak;
}

/* Waits until no operation of this rank is in flight. */
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
        if (pending == 0 || poll_routes(c) < 0 ||
            storm_lifeline_check(c->params.env->lifeline) < 0)
            return;
        ring_idle(&c->channel, n_empty);
    }
    storm_log_write(&c->params.env->log, STORM_LOG_WARN,
                    "rings closed with operations in flight");
}

static void close_way(struct ring_channel *c, struct ring_route *route)
{
    struct storm_fabric *f = route->fabric;
    for (size_t i = 0; i < route->n_tail_blocks; i++)
        f->ops->release(f, route->tail_block[i]);
    storm_free(c->memory, route->tail_block);
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
    ring_waves_close(c);
    for (size_t i = c->n_routes; i-- > 0;)
        close_way(c, &c->route[i]);
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
    /* Until all ranks are here a put may still land in our rings, or need our
     * polls. */
    const struct storm_boot *boot = c->params.boot;
    for (uint64_t n_empty = 0; boot->barrier_try(boot->self) == STORM_AGAIN;
         n_empty++) {
        (void)poll_routes(c);
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

static const struct storm_channel_wave_ops ring_waves = {
    .send = ring_waves_send,
    .read = ring_waves_read,
};

/* Collective over all ranks, whatever `boot` is over. */
static storm_status open_route(struct ring_channel *c,
                               const struct storm_fabric_ops *fabric,
                               const struct storm_boot *boot)
{
    struct ring_route *route = &c->route[c->n_routes];
    storm_status status = fabric->open(c->params.env, boot, &route->fabric);
    c->n_routes += status == STORM_OK;
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
                                            .wave = &ring_waves,
                                            .tree = storm_tree_given(params)};
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
        status = open_route(c, params->fabric, params->boot);
    if (status == STORM_OK && params->near)
        status = open_route(c, params->near, params->near_boot);
    if (status == STORM_OK)
        status = ring_waves_open(c);
    if (status < 0) {
        if (c)
            ring_free(c);
        return status;
    }
    const char *provider = c->route[0].fabric->provider;
    c->channel.names = (struct storm_channel_names){
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
