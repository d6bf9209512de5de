/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets between store and keeper. Copies of a view are behind the packets at
 * rest, in the list `census`, and do not count in it.
 */
#include "engine/engine_keep.h"

#include "engine/engine_internal.h"

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
    e->keep.n_view = e->keep.n_active = 0;
    e->keep.keeper->drop(e->keep.keeper->self);
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

void storm_step_keep(struct storm_step *step, const struct storm_keeper *keeper,
                     size_t n_active)
{
    struct storm_engine *e = step->engine;
    e->keep.keeper = keeper;
    e->keep.n_active = n_active;
}

storm_status storm_step_fetch(struct storm_step *step)
{
    return storm_engine_fetch(step->engine);
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
