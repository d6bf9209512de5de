/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets between store and keeper. Copies of a view are behind the packets at
 * rest, in the list `census`, and do not count in it.
 */
#include "engine/engine_keep.h"

#include <string.h>

#include "engine/engine_internal.h"

enum { HAND_OVER = 1 << 17 }; /* packets at a time */

static bool keeps(const struct storm_engine *e)
{
    return e->keep.keeper != NULL;
}

size_t engine_keep_count(const struct storm_engine *e)
{
    return keeps(e) ? e->keep.keeper->count(e->keep.keeper->self) : 0;
}

void engine_keep_unview(struct storm_engine *e)
{
    for (; e->keep.n_view > 0; e->keep.n_view--)
        storm_store_put(&e->store,
                        e->census.item[e->census.n + e->keep.n_view - 1]);
}

/* What is kept goes with the engine, or after an error. */
void engine_keep_drop(struct storm_engine *e)
{
    const struct storm_keeper *keeper = e->keep.keeper;
    engine_keep_unview(e);
    e->keep.keeper = NULL;
    e->keep.n_active = 0;
    if (keeper)
        keeper->drop(keeper->self);
}

void engine_keep_end(struct storm_engine *e)
{
    if (e->broken || engine_keep_count(e) == 0)
        engine_keep_drop(e);
}

/* Copies n packets that are kept to the end of a list; the batch, which is not
 * in use, has their addresses in memory that the keeper can read. */
static storm_status copy_kept(struct storm_engine *e, struct storm_list *list,
                              size_t n)
{
    const struct storm_keeper *keeper = e->keep.keeper;
    storm_status status = storm_store_have(&e->store, n);
    size_t n_before = list->n, done = 0;
    if (status == STORM_OK)
        status = storm_list_reserve(list, e->env->memory, "packet lists",
                                    list->n + n);
    while (status == STORM_OK && done < n) {
        size_t m = n - done < e->batch_max ? n - done : e->batch_max;
        for (size_t i = 0; i < m; i++) {
            e->batch[i] = storm_store_get(&e->store);
            storm_list_push(list, e->batch[i]);
        }
        status = keeper->copy(keeper->self, done, e->batch, m);
        done += m;
    }
    while (status < 0 && list->n > n_before)
        storm_store_put(&e->store, list->item[--list->n]);
    return status;
}

/* Into `census`, to be read. */
static storm_status view(struct storm_engine *e)
{
    size_t n = engine_keep_count(e);
    if (e->keep.n_view == n)
        return STORM_OK;
    engine_keep_unview(e);
    storm_status status = copy_kept(e, &e->census, n);
    if (status == STORM_OK) {
        e->keep.n_view = n;
        e->census.n -= n;
    }
    return status;
}

/* Into `todo`, in pre_step: before what was spawned since. */
static storm_status fetch_todo(struct storm_engine *e, size_t n)
{
    struct storm_list *todo = &e->todo;
    size_t n_before = todo->n;
    storm_status status = copy_kept(e, todo, n);
    for (size_t i = 0; i < n && status == STORM_OK; i++) {
        void *packet = todo->item[n_before + i];
        todo->item[n_before + i] = todo->item[e->n_listed];
        todo->item[e->n_listed++] = packet;
    }
    return status;
}

storm_status engine_keep_fetch(struct storm_engine *e)
{
    size_t n = engine_keep_count(e);
    storm_status status = STORM_OK;
    if (n == 0)
        return STORM_OK;
    if (e->phase == ENGINE_TRANSPORT)
        return STORM_ERR_STATE;
    if (e->phase == ENGINE_PRE) {
        status = fetch_todo(e, n);
    } else {
        status = view(e);
        if (status == STORM_OK)
            e->census.n += n;
        if (status == STORM_OK && e->phase == ENGINE_POST)
            e->n_listed = e->census.n;
    }
    if (status < 0)
        return status;
    const struct storm_keeper *keeper = e->keep.keeper;
    e->keep.n_view = 0; /* these are packets now */
    engine_keep_drop(e);
    if (e->phase == ENGINE_PRE) /* it may keep others in this step */
        e->keep.keeper = keeper;
    return STORM_OK;
}

storm_status storm_engine_fetch(struct storm_engine *engine)
{
    return storm_env_explain(engine->env, engine_keep_fetch(engine));
}

storm_status storm_engine_view(struct storm_engine *engine,
                               const void *const **packets_out, size_t *n_out)
{
    storm_status status = storm_env_explain(engine->env, view(engine));
    if (status < 0)
        return status;
    *packets_out = (const void *const *)engine->census.item;
    *n_out = engine->census.n + engine->keep.n_view;
    return STORM_OK;
}

/* The next packets that wait, as many as there is room for. */
static size_t list_waiting(struct storm_engine *e, void **packets, size_t max)
{
    size_t n = 0;
    while (n < max && e->next_todo < e->todo.n) {
        packets[n] = e->todo.item[e->next_todo++];
        n += packets[n] != NULL;
    }
    return n;
}

/* Those that wait are taken over, a part of the batch at a time: one is listed
 * while the other is copied. */
static storm_status hand_over(struct storm_engine *e)
{
    const struct storm_keeper *keeper = e->keep.keeper;
    size_t part = e->batch_max / 2 < HAND_OVER ? e->batch_max / 2 : HAND_OVER;
    void **here = e->batch, **away = e->batch + part;
    size_t n_away = 0, n = 0, n_taken = 0;
    storm_status status = STORM_OK;
    do {
        n = list_waiting(e, here, part);
        status = keeper->take(keeper->self, here, n, &n_taken);
        for (size_t i = 0; i < n_away; i++)
            storm_store_put(&e->store, away[i]);
        void **swap = here;
        here = away;
        away = swap;
        n_away = n_taken;
    } while (status == STORM_OK && n > 0 && n_taken == n);
    size_t kept = e->next_todo; /* what there is no room for waits on */
    while (n > n_taken)
        e->todo.item[--kept] = away[--n];
    e->next_todo = kept;
    if (status == STORM_OK)
        status = keeper->take(keeper->self, here, 0, &n_taken);
    for (size_t i = 0; i < n_away; i++)
        storm_store_put(&e->store, away[i]);
    return status;
}

/* Those that have been handed over are in no list. */
static void close_up(struct storm_engine *e)
{
    size_t n = e->next_todo;
    e->todo.n -= n;
    memmove(e->todo.item, e->todo.item + n, e->todo.n * sizeof *e->todo.item);
    e->n_listed -= e->n_listed < n ? e->n_listed : n;
    e->next_todo = 0;
}

storm_status storm_step_keep(struct storm_step *step,
                             const struct storm_keeper *keeper)
{
    struct storm_engine *e = step->engine;
    storm_status status = STORM_OK;
    e->keep.keeper = keeper;
    if (keeper && !e->boundary.inject)
        status = hand_over(e);
    close_up(e);
    e->keep.n_active = engine_keep_count(e);
    return status;
}

storm_status storm_step_fetch(struct storm_step *step)
{
    return storm_engine_fetch(step->engine);
}

void storm_step_leave(struct storm_step *step)
{
    struct storm_engine *e = step->engine;
    storm_status status = storm_engine_fetch(e);
    if (status < 0)
        e->keep.failed = status;
    engine_keep_drop(e);
}

void **storm_step_packets_here(struct storm_step *step, size_t *n_out)
{
    struct storm_engine *e = step->engine;
    *n_out = e->n_listed;
    return e->todo.item;
}

size_t storm_step_n_waiting(const struct storm_step *step)
{
    return step->engine->todo.n - step->engine->next_todo;
}
