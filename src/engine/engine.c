/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine's public functions: lifecycle, steps, packets, statistics.
 *
 *   STEP-1  No rank calls pre_step before all ranks have agreed to begin the
 *           step: one that cannot, or is in destroy, ends it for all.
 *   STEP-2  After a step all ranks agree on its success. So all ranks know that
 *           an engine is broken, and destroy need not tell them.
 *   STEP-3  A rank whose callback has failed while others do not come to
 *           agree, or to answer waves, reports itself as lost. Not so after
 *           an ABORT of the waves, which all ranks get: they come, if late.
 *           Without a lifeline it only logs that it waits, every ten seconds.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/lifeline.h"
#include "base/math.h"
#include "base/sized.h"
#include "channel/channel_choice.h"
#include "channel/channel_control.h"
#include "engine/engine_internal.h"
#include "engine/engine_side.h"

enum {
    RECORD_MIN = 32,
    RECORD_MAX = 4096,
    RECORD_MULTIPLE = 16,
    BATCH_MAX = 1000000,
    BATCH_DEFAULT = 512,
    BATCH_PINNED = 1 << 19,
    ADAPTIVE_MAX = 512, /* records per message when batches adapt */
    GATE_LEAVES = -100  /* below all statuses: a rank is in destroy */
};
static const double control_every_s = 5e-4;

static storm_status check_params(const struct storm_env *env,
                                 const struct storm_engine_params *p)
{
    const char *problem = NULL;
    if (p->record_bytes < RECORD_MIN || p->record_bytes > RECORD_MAX ||
        p->record_bytes % RECORD_MULTIPLE != 0)
        problem = "record_bytes must be a multiple of 16 from 32 to 4096";
    else if (p->batch_packets > BATCH_MAX)
        problem = "batch_packets must be at most a million";
    if (!problem)
        return STORM_OK;
    if (env->rank == 0)
        storm_log_write(&env->log, STORM_LOG_ERROR,
                        "storm_engine_create: %s (record_bytes is %zu)",
                        problem, p->record_bytes);
    return STORM_ERR_ARG;
}

/* Logs how packets travel, once per context. */
static void log_backend_once(struct storm_engine *e)
{
    const struct storm_channel_names *names = &e->channel->names;
    bool automatic =
        strcmp(storm_options_text(e->env->options, "transport.backend"),
               "auto") == 0;
    if (e->env->rank == 0 && !e->context->backend_logged)
        storm_log_write(&e->env->log,
                        automatic ? STORM_LOG_INFO : STORM_LOG_DEBUG,
                        "backend %s%s%s%s%s", names->backend,
                        names->provider[0] ? " over " : "", names->provider,
                        names->near[0] ? ", within nodes " : "", names->near);
    e->context->backend_logged = true;
}

static storm_status open_channel(struct storm_engine *e)
{
    const struct storm_options *options = e->env->options;
    struct storm_channel_choice choice;
    storm_status status =
        storm_channel_choose(e->env, &e->context->boot,
                             e->context->env.one_node, &choice);
    if (status < 0)
        return status;
    const struct storm_boot *boot = &e->context->boot;
    status = storm_control_mpi_open(boot, e->env, &e->control);
    if (status == STORM_OK)
        status = storm_boot_mpi_copy(boot, &e->step_boot);
    if (status == STORM_OK)
        status = storm_boot_mpi_copy(boot, &e->gate);
    if (status < 0)
        return status;
    storm_boot_mpi_awake(&e->gate, !e->env->crowded);
    size_t batch = (size_t)storm_options_int(options, "transport.batch");
    if (!storm_options_is_set(options, "transport.batch"))
        batch = ADAPTIVE_MAX;
    struct storm_channel_params params = {
        .env = e->env,
        .boot = boot,
        .step_boot = &e->step_boot,
        .tree = &e->context->tree,
        .control = e->control,
        .fabric = choice.fabric,
        .near = choice.near,
        .near_boot = &e->context->node_boot,
        .near_rank = e->context->node_rank,
        .record_bytes = e->params.record_bytes,
        .paper = strcmp(storm_options_text(options, "transport.protocol"),
                        "paper") == 0,
        .slots = (size_t)storm_options_int(options, "transport.ring_slots"),
        .batch = batch,
        .memory_cap =
            (size_t)storm_options_int(options, "transport.ring_memory_mb")
            << 20,
        .growth = storm_options_real(options, "transport.growth_factor"),
        .sync_growth = strcmp(storm_options_text(options, "transport.growth"),
                              "sync") == 0,
    };
    status = choice.ops->open(&params, &e->channel);
    if (status == STORM_OK)
        log_backend_once(e);
    return status;
}

static void free_arrays(struct storm_engine *e, struct storm_device *device,
                        const struct engine_away *batch)
{
    struct storm_memory *memory = e->env->memory;
    storm_pinned_free(memory, device, batch->batch);
    storm_pinned_free(memory, device, batch->outcome);
    storm_free(memory, batch->batch_events);
}

static void free_batch(struct storm_engine *e)
{
    const struct engine_away here = {.batch = e->batch,
                                     .outcome = e->outcome,
                                     .batch_events = e->batch_events};
    free_arrays(e, e->batch_device, &here);
    free_arrays(e, e->batch_device, &e->away);
    e->away = (struct engine_away){.n = 0};
    e->batch = NULL;
    e->outcome = NULL;
    e->batch_events = NULL;
    e->batch_max = 0;
}

/* Arrays for a batch of n packets; NULL: no memory. */
static struct engine_away make_batch(struct storm_engine *e,
                                     struct storm_device *device, size_t n)
{
    static const char label[] = "batch";
    struct storm_memory *memory = e->env->memory;
    struct engine_away made = {.n = 0};
    made.batch =
        storm_pinned_alloc(memory, device, label, n * sizeof *made.batch);
    made.outcome =
        storm_pinned_alloc(memory, device, label, n * sizeof *made.outcome);
    made.batch_events =
        storm_alloc(memory, label, n * sizeof *made.batch_events);
    return made;
}

static bool is_made(const struct engine_away *batch)
{
    return batch->batch && batch->outcome && batch->batch_events;
}

/* Room for so many packets in a batch, between steps; two of them for a physics
 * with `poll`. Kernels get large ones alone: others may share pages. */
static storm_status reserve_batch(struct storm_engine *e, size_t n, bool polls)
{
    if (n <= e->batch_max && (!polls || e->away.batch))
        return STORM_OK;
    if (n < e->batch_max)
        n = e->batch_max;
    struct storm_device *device = n >= BATCH_PINNED ? e->env->device : NULL;
    const struct engine_away here = make_batch(e, device, n);
    struct engine_away away = {.n = 0};
    if (polls)
        away = make_batch(e, device, n);
    if (!is_made(&here) || (polls && !is_made(&away))) {
        free_arrays(e, device, &here);
        free_arrays(e, device, &away);
        return STORM_ERR_NOMEM; /* what there was stays: others can use it */
    }
    free_batch(e);
    e->batch_device = device;
    e->batch = here.batch;
    e->outcome = here.outcome;
    e->batch_events = here.batch_events;
    e->away = away;
    e->batch_max = n;
    return STORM_OK;
}

static storm_status open_lists(struct storm_engine *e)
{
    struct storm_memory *memory = e->env->memory;
    storm_store_open(&e->store, memory, e->env->device, e->params.record_bytes);
    storm_store_follow(&e->store, &e->census);
    storm_store_follow(&e->store, &e->todo);
    storm_store_follow(&e->store, &e->fresh);
    e->new_above = SIZE_MAX;
    return reserve_batch(e,
                         e->params.batch_packets ? e->params.batch_packets
                                                 : BATCH_DEFAULT,
                         e->physics.poll != NULL);
}

static void engine_free(struct storm_engine *e)
{
    struct storm_memory *memory = e->env->memory;
    engine_keep_drop(e);
    storm_outbox_close(&e->outbox);
    if (e->channel)
        e->channel->ops->close(e->channel);
    if (e->step_boot.self)
        storm_boot_mpi_close(&e->step_boot);
    if (e->gate.self)
        storm_boot_mpi_close(&e->gate);
    if (e->control)
        e->control->ops->close(e->control);
    storm_store_close(&e->store);
    storm_list_free(&e->census, memory);
    storm_list_free(&e->todo, memory);
    storm_list_free(&e->fresh, memory);
    free_batch(e);
    storm_free(memory, e);
}

storm_status storm_engine_create(struct storm_context *context,
                                 const struct storm_engine_params *params,
                                 struct storm_engine **engine_out)
{
    const struct storm_env *env = storm_context_env(context);
    struct storm_engine *e = storm_alloc(env->memory, "engine", sizeof *e);
    struct storm_engine_params own;
    storm_status status = e ? storm_sized_read(env, "storm_engine_create",
                                               params, &own, sizeof own)
                            : STORM_ERR_NOMEM;
    if (status == STORM_OK)
        status = check_params(env, &own);
    if (status == STORM_OK) {
        e->context = context;
        e->env = env;
        e->params = own;
        e->step.engine = e;
        status = storm_engine_use(e, own.physics, own.boundary, own.population);
    }
    if (status == STORM_OK) {
        e->max_events =
            (uint64_t)storm_options_int(env->options, "transport.max_events");
        storm_pace_begin(&e->control_pace,
                         (uint64_t)storm_options_int(env->options,
                                                     "transport.control_every"),
                         control_every_s);
        e->timed = storm_options_bool(env->options, "transport.statistics");
        status = open_lists(e);
    }
    status = storm_boot_agree(&context->boot, status);
    if (status < 0) {
        if (e && e->env)
            engine_free(e);
        else
            storm_free(env->memory, e);
        return status;
    }
    status = open_channel(e);
    if (status == STORM_OK)
        status = storm_boot_agree(&context->boot,
                                  storm_outbox_open(&e->outbox, env, e->channel,
                                                    &e->store));
    if (status < 0) {
        engine_free(e);
        return status;
    }
    storm_term_open(&e->term, e->channel, env, e->max_events);
    *engine_out = e;
    return STORM_OK;
}

/* Do the callbacks work on this engine's records? */
static bool records_fit(const struct storm_engine *e, size_t wanted,
                        const char *whose)
{
    bool fit = wanted == 0 || wanted == e->params.record_bytes;
    if (!fit && e->env->rank == 0)
        storm_log_write(&e->env->log, STORM_LOG_ERROR,
                        "storm_engine_use: the %s works on records of %zu "
                        "bytes, those of the engine have %zu: create the "
                        "engine with that record_bytes",
                        whose, wanted, e->params.record_bytes);
    return fit;
}

static storm_status check_physics(const struct storm_engine *e,
                                  const struct storm_physics *physics)
{
    if (!records_fit(e, physics->record_bytes, "physics"))
        return STORM_ERR_ARG;
    if (physics->step || physics->step_batch)
        return STORM_OK;
    if (e->env->rank == 0)
        storm_log_write(&e->env->log, STORM_LOG_ERROR,
                        "storm_engine_use: the physics has neither step nor "
                        "step_batch");
    return STORM_ERR_ARG;
}

storm_status storm_engine_use(struct storm_engine *engine,
                              const struct storm_physics *physics,
                              const struct storm_boundary *boundary,
                              const struct storm_population *population)
{
    static const char what[] = "storm_engine_use";
    const struct storm_env *env = engine->env;
    struct storm_physics own_physics = engine->physics;
    struct storm_boundary own_boundary = engine->boundary;
    struct storm_population own_population = engine->population;
    storm_status status =
        engine->phase == ENGINE_BETWEEN ? STORM_OK : STORM_ERR_STATE;
    if (status == STORM_OK && physics)
        status = storm_sized_read(env, what, physics, &own_physics,
                                  sizeof own_physics);
    if (status == STORM_OK && physics)
        status = check_physics(engine, &own_physics);
    if (status == STORM_OK && boundary)
        status = storm_sized_read(env, what, boundary, &own_boundary,
                                  sizeof own_boundary);
    if (status == STORM_OK && population)
        status = storm_sized_read(env, what, population, &own_population,
                                  sizeof own_population);
    if (status == STORM_OK &&
        (!records_fit(engine, own_boundary.record_bytes, "boundary") ||
         !records_fit(engine, own_population.record_bytes, "population")))
        status = STORM_ERR_ARG;
    if (status == STORM_OK && physics)
        status = engine_keep_fetch(engine); /* KEEP-5 */
    if (status == STORM_OK)
        status = reserve_batch(engine, own_physics.batch_packets,
                               own_physics.poll != NULL);
    if (status < 0)
        return status;
    engine->physics = own_physics;
    engine->boundary = own_boundary;
    engine->population = own_population;
    return STORM_OK;
}

void storm_engine_destroy(struct storm_engine *engine)
{
    if (!engine)
        return;
    /* Ranks that would begin a step get an error instead (STEP-1). */
    int worst;
    if (!engine->broken)
        (void)engine->gate.minimum(engine->gate.self, GATE_LEAVES, &worst);
    engine_free(engine);
}

/* The census of the last step is the work of this one. */
static void begin_step(struct storm_engine *e)
{
    struct storm_list rest = e->todo;
    size_t n_kept = engine_keep_count(e);
    engine_keep_unview(e);
    e->todo = e->census;
    e->census = rest;
    e->census.n = 0;
    e->next_todo = 0;
    e->fresh.n = 0;
    e->n_batch = e->lent.n = 0;
    e->away.n = 0;
    e->n_listed = e->todo.n;
    e->keep.n_taken = 0;
    e->keep.is_on = false;
    e->counts = (struct storm_counts){.created = e->todo.n + n_kept};
    e->failed = STORM_OK;
    storm_patience_begin(&e->alone, 0);
    e->n_steps++;
    e->stats.steps++;
    storm_term_begin(&e->term);
}

static uint64_t errors_known(const struct storm_engine *e)
{
    return atomic_load_explicit(&e->context->n_errors, memory_order_relaxed);
}

/* Passes the status of a callback on. Logs it, unless the cause is logged: by
 * the callback, or by another rank whose error it follows from. */
static storm_status called(const struct storm_engine *e, const char *callback,
                           uint64_t errors_before, storm_status status)
{
    if (status < 0 && status != STORM_ERR_PEER && status != STORM_ERR_LOST &&
        errors_known(e) == errors_before)
        storm_log_write(&e->env->log, STORM_LOG_ERROR,
                        "%s failed in step %llu on rank %d: %s", callback,
                        (unsigned long long)storm_step_number(&e->step),
                        e->env->rank, storm_status_name(status));
    return status;
}

static storm_status before_transport(struct storm_engine *e)
{
    const struct storm_physics *physics = &e->physics;
    const struct storm_boundary *boundary = &e->boundary;
    const uint64_t errors = errors_known(e);
    e->phase = ENGINE_PRE;
    storm_status status = e->channel->ops->begin_step(e->channel, e->n_steps);
    if (status >= 0 && physics->pre_step)
        status = called(e, "pre_step", errors,
                        physics->pre_step(physics->self, &e->step));
    if (status >= 0 && boundary->inject)
        status = called(e, "inject", errors,
                        boundary->inject(boundary->self, &e->step));
    return status < 0 ? status : e->failed;
}

static storm_status after_transport(struct storm_engine *e)
{
    const struct storm_physics *physics = &e->physics;
    const struct storm_population *population = &e->population;
    const uint64_t errors = errors_known(e);
    storm_status status = STORM_OK;
    e->phase = ENGINE_POST;
    e->n_listed = e->census.n;
    if (population->control)
        status = called(e, "population control", errors,
                        population->control(population->self, &e->step));
    e->n_listed = e->census.n;
    if (status >= 0 && physics->post_step)
        status = called(e, "post_step", errors,
                        physics->post_step(physics->self, &e->step));
    size_t kept = 0;
    for (size_t i = 0; i < e->census.n; i++)
        if (e->census.item[i])
            e->census.item[kept++] = e->census.item[i];
    e->census.n = kept;
    return status < 0 ? status : e->failed;
}

static storm_status refuse(const struct storm_engine *e, const char *problem)
{
    storm_log_write(&e->env->log, STORM_LOG_ERROR, "storm_engine_step: %s",
                    problem);
    return STORM_ERR_STATE;
}

/* STEP-1: whether all ranks begin this step; `status` is that of this one. */
static storm_status agree_to_begin(struct storm_engine *e, storm_status status)
{
    if (status >= 0 && !e->physics.step && !e->physics.step_batch)
        status = refuse(e, "the engine has no physics: call storm_engine_use");
    if (status >= 0)
        status = e->keep.failed;
    const char *fault = storm_math_fault();
    if (status >= 0 && fault)
        status = refuse(e, fault);
    int worst = 0;
    storm_status agreed = e->gate.minimum(e->gate.self, (int)status, &worst);
    e->broken = agreed < 0 || worst == GATE_LEAVES;
    if (status < 0 || agreed < 0)
        return status < 0 ? status : agreed;
    return worst < 0 ? STORM_ERR_PEER : STORM_OK;
}

static storm_status step_alone(struct storm_engine *e)
{
    begin_step(e);
    storm_status status = before_transport(e);
    if (status < 0) {
        /* Still answer waves: they report the error. */
        e->failed = status;
        storm_patience_begin(&e->alone, STORM_FAILED_S);
        e->counts.errors = 1;
    }
    e->phase = ENGINE_TRANSPORT;
    status = storm_engine_transport(e);
    return status == STORM_OK ? after_transport(e) : status;
}

/* A step on all ranks; not even begun if one has an error before it. */
static storm_status step_together(struct storm_engine *e, storm_status mine)
{
    if (e->broken)
        return refuse(e, "the engine has failed before; destroy it");
    if (e->phase != ENGINE_BETWEEN)
        return refuse(e, "called from a callback");
    storm_status status = agree_to_begin(e, mine);
    if (status < 0)
        return status;
    status = storm_env_explain(e->env, step_alone(e));
    /* STEP-2. Others may be in a collective call of their post_step, where this
     * rank does not come, or, after transport, look for the cause (STEP-3). */
    double patience_s =
        STORM_FAILED_S + (e->phase == ENGINE_POST ? 0 : STORM_LIFELINE_S);
    if (e->term.aborted)
        patience_s = 0;
    e->phase = ENGINE_BETWEEN;
    status = storm_boot_mpi_agree(&e->gate, status, patience_s, &e->env->log);
    e->broken = status < 0;
    engine_keep_end(e);
    return status < 0 ? status : STORM_OK;
}

storm_status storm_engine_step(struct storm_engine *e)
{
    return step_together(e, STORM_OK);
}

storm_status storm_engine_side_step(struct storm_engine *e,
                                    const struct storm_physics *physics,
                                    const struct storm_boundary *boundary)
{
    static const struct storm_population none = STORM_POPULATION_INIT;
    const struct storm_physics own_physics = e->physics;
    const struct storm_boundary own_boundary = e->boundary;
    const struct storm_population own_population = e->population;
    const struct storm_stats before = e->stats;
    const uint64_t n_before = e->n_steps;
    storm_status status =
        step_together(e, storm_engine_use(e, physics, boundary, &none));
    e->physics = own_physics;
    e->boundary = own_boundary;
    e->population = own_population;
    e->first_step -= e->n_steps - n_before; /* 0 if it did not begin */
    e->stats.steps = before.steps;
    e->stats.events = before.events;
    e->stats.seconds = before.seconds;
    e->stats.times = before.times;
    return status;
}

uint64_t storm_engine_mark(const struct storm_engine *engine)
{
    return engine->mark;
}

uint64_t storm_step_mark(const struct storm_step *step)
{
    return step->engine->mark;
}

void storm_step_set_mark(struct storm_step *step, uint64_t mark)
{
    step->engine->mark = mark;
}

void *const *storm_engine_packets(struct storm_engine *engine, size_t *n_out)
{
    storm_status status = storm_engine_fetch(engine);
    if (status < 0)
        engine->keep.failed = status;
    *n_out = engine->census.n;
    return engine->census.item;
}

void **storm_step_packets(struct storm_step *step, size_t *n_out)
{
    struct storm_engine *e = step->engine;
    storm_status status =
        e->phase == ENGINE_TRANSPORT ? STORM_OK : storm_engine_fetch(e);
    if (status < 0 && e->failed >= 0)
        e->failed = status;
    *n_out = e->phase == ENGINE_TRANSPORT ? 0 : e->n_listed;
    return e->phase == ENGINE_PRE ? e->todo.item : e->census.item;
}

void storm_step_remove(struct storm_step *step, size_t i)
{
    struct storm_engine *e = step->engine;
    void **list = storm_step_packets(step, &(size_t){0});
    if (e->phase == ENGINE_TRANSPORT || i >= e->n_listed || !list[i])
        return;
    storm_store_put(&e->store, list[i]);
    list[i] = NULL;
    e->stats.absorbed++;
    if (e->phase == ENGINE_PRE)
        e->counts.created--; /* no wave has seen it yet */
}

uint64_t storm_step_number(const struct storm_step *step)
{
    const struct storm_engine *e = step->engine;
    return e->first_step + (e->n_steps - 1);
}

void storm_engine_set_step(struct storm_engine *engine, uint64_t number)
{
    engine->first_step = number - engine->n_steps;
}

bool storm_step_is_controlled(const struct storm_step *step)
{
    return step->engine->population.control != NULL;
}

uint64_t storm_step_max_events(const struct storm_step *step)
{
    return step->engine->max_events;
}

storm_status storm_engine_expect(struct storm_engine *engine, int rank)
{
    uint32_t box;
    if (rank < 0 || rank >= engine->env->size)
        return STORM_ERR_ARG;
    if (rank == engine->env->rank)
        return STORM_OK;
    return storm_outbox_expect(&engine->outbox, rank, &box);
}

storm_status storm_step_expect(struct storm_step *step, int rank)
{
    return storm_engine_expect(step->engine, rank);
}

storm_status storm_step_trim(struct storm_step *step)
{
    return storm_engine_trim(step->engine);
}

storm_status storm_engine_trim(struct storm_engine *engine)
{
    return engine->channel->ops->trim(engine->channel);
}

size_t storm_engine_record_bytes(const struct storm_engine *engine)
{
    return engine->store.record_bytes;
}

storm_status storm_engine_stats(const struct storm_engine *engine,
                                struct storm_stats *stats_out)
{
    struct storm_stats stats = engine->stats;
    struct storm_channel_stats channel;
    engine->channel->ops->stats(engine->channel, &channel);
    stats.census = engine->census.n + engine_keep_count(engine);
    stats.bytes_sent = stats.transfers * engine->store.record_bytes;
    stats.batches = channel.batches - engine->stats.batches;
    stats.growths = channel.growths - engine->stats.growths;
    stats.control_polls = channel.control_polls - engine->stats.control_polls;
    stats.waves = engine->term.waves - engine->stats.waves;
    stats.ring_bytes_peak = channel.ring_bytes_peak;
    stats.pinned_bytes_peak = channel.pinned_bytes_peak;
    return storm_sized_write(&stats, sizeof stats, stats_out);
}

void storm_engine_reset_stats(struct storm_engine *engine)
{
    struct storm_channel_stats channel;
    engine->channel->ops->stats(engine->channel, &channel);
    /* The channel's own counters are never reset: store their values. */
    engine->stats = (struct storm_stats){
        .size = sizeof(struct storm_stats),
        .batches = channel.batches,
        .growths = channel.growths,
        .control_polls = channel.control_polls,
        .waves = engine->term.waves,
    };
}

storm_status storm_engine_traffic(const struct storm_engine *engine, size_t i,
                                  int *rank_out, uint64_t *packets_out)
{
    if (i >= engine->outbox.n_boxes)
        return STORM_DONE;
    *rank_out = engine->outbox.box[i].rank;
    *packets_out = engine->outbox.box[i].sent;
    return STORM_OK;
}
