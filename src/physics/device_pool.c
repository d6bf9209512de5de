/* SPDX-License-Identifier: BSD-3-Clause */
#include "physics/device_pool.h"

#include <string.h>

#include <storm_tracks.h>

#include "engine/engine_store.h"

static const char pool_label[] = "packets on the device";

enum {
    POOL_FIRST_SLOTS = 4096,
    POOL_SPARE = 8, /* one slot in so many is for packets that arrive */
    POOL_SLOT_BYTES = sizeof(struct storm_packet) + 4 * sizeof(void *) +
                      2 * sizeof(uint64_t) + sizeof(struct storm_outcome) +
                      sizeof(struct pool_leaving)
};

/* ---- kernels ------------------------------------------------------------- */

/* device_packets.c */
storm_device_fn storm_pool_arrive, storm_pool_settle, storm_pool_pack,
    storm_pool_close, storm_pool_wake, storm_pool_add_keys,
    storm_pool_spread_keys, storm_pool_sort, storm_pool_copy, storm_pool_move,
    storm_pool_list_free;

static const struct storm_device_function pool_functions[] = {
    [POOL_ARRIVE] = {"storm_pool_arrive", storm_pool_arrive},
    [POOL_SETTLE] = {"storm_pool_settle", storm_pool_settle},
    [POOL_PACK] = {"storm_pool_pack", storm_pool_pack},
    [POOL_CLOSE] = {"storm_pool_close", storm_pool_close},
    [POOL_WAKE] = {"storm_pool_wake", storm_pool_wake},
    [POOL_ADD_KEYS] = {"storm_pool_add_keys", storm_pool_add_keys},
    [POOL_SPREAD_KEYS] = {"storm_pool_spread_keys", storm_pool_spread_keys},
    [POOL_SORT] = {"storm_pool_sort", storm_pool_sort},
    [POOL_COPY] = {"storm_pool_copy", storm_pool_copy},
    [POOL_MOVE] = {"storm_pool_move", storm_pool_move},
    [POOL_LIST_FREE] = {"storm_pool_list_free", storm_pool_list_free},
    [POOL_KERNELS] = {NULL, NULL},
};

static const struct storm_device_program pool_program = {
    .ptx = storm_device_ptx_packets,
    .functions = pool_functions,
};

/* Errors are those of pool->status. */
static void pool_launch(struct device_pool *pool, enum pool_kernel which,
                        const struct device_pool_job *job, size_t n_threads)
{
    if (pool->status == STORM_OK)
        pool->status =
            storm_device_launch(pool->env->device, pool->kernels[which], job,
                                sizeof *job, n_threads, &pool->launch);
}

static void pool_order(struct device_pool *pool)
{
    if (pool->status == STORM_OK)
        pool->status = storm_device_order(pool->env->device);
}

/* The kernel of the physics. */
static void pool_track(struct device_pool *pool, void *const *packets, size_t n,
                       struct storm_outcome *outcomes)
{
    if (pool->status < 0)
        return;
    device_run_launch(pool->run, pool->job, pool->job_bytes, pool->max_events,
                      packets, n, outcomes);
    pool->status = pool->run->status;
}

static size_t pool_threads(size_t n)
{
    return n < POOL_THREADS ? n : POOL_THREADS;
}

/* ---- slots --------------------------------------------------------------- */

static size_t pool_used(const struct device_pool *pool)
{
    return pool->n_active + pool->n_census + pool->n_leaving;
}

static size_t pool_free(const struct device_pool *pool)
{
    return pool->n_slots - pool_used(pool);
}

static storm_device_address pool_address(const void *pointer)
{
    return (storm_device_address)(uintptr_t)pointer;
}

/* What kernels count from. */
static void pool_set_counts(struct device_pool *pool)
{
    const struct pool_counts counts = {.census = pool->n_census,
                                       .leaving = pool->n_leaving,
                                       .free = pool_free(pool)};
    if (pool->status == STORM_OK)
        pool->status =
            storm_device_put(pool->env->device, pool_address(pool->view.counts),
                             &counts, sizeof counts);
}

/* Arrays for n slots. */
static struct device_pool_job pool_make(struct device_image *image, size_t n)
{
    struct device_pool_job view = {.n = 0};
    view.slots = device_image_room(image, n * sizeof *view.slots);
    view.active = device_image_room(image, n * sizeof *view.active);
    view.next = device_image_room(image, n * sizeof *view.next);
    view.census = device_image_room(image, n * sizeof *view.census);
    view.free = device_image_room(image, n * sizeof *view.free);
    view.spent = device_image_room(image, n * sizeof *view.spent);
    view.next_spent = device_image_room(image, n * sizeof *view.next_spent);
    view.outcomes = device_image_room(image, n * sizeof *view.outcomes);
    view.leaving = device_image_room(image, n * sizeof *view.leaving);
    return view;
}

/* Packets that are kept go to other slots: those to be advanced, then those at
 * census. */
static void pool_move(struct device_pool *pool,
                      const struct device_pool_job *old)
{
    struct device_pool_job job = pool->view;
    job.from = old->active;
    job.from_spent = old->spent;
    job.next = pool->view.active;
    job.next_spent = pool->view.spent;
    pool_launch(pool, POOL_MOVE, &job, pool->n_active * POOL_PARTS);
    job.first = pool->n_active;
    job.from = old->census;
    job.next = pool->view.census;
    job.next_spent = pool->view.next_spent; /* means nothing */
    pool_launch(pool, POOL_MOVE, &job, pool->n_census * POOL_PARTS);
}

static void pool_list_free_slots(struct device_pool *pool)
{
    struct device_pool_job job = pool->view;
    job.first = pool_used(pool);
    pool_launch(pool, POOL_LIST_FREE, &job, pool_free(pool));
    pool_set_counts(pool);
    pool->is_listed = true;
}

/* POOL-4. How many slots there may be, of those wanted. */
static size_t pool_limit(struct device_pool *pool, size_t wanted)
{
    size_t room = storm_device_room(pool->env->device);
    size_t most = (room - room / 8) / POOL_SLOT_BYTES;
    if (wanted <= most)
        return wanted;
    if (!pool->is_logged)
        storm_log_write(&pool->env->log, STORM_LOG_WARN,
                        "%zu packets of rank %d do not fit into the memory of "
                        "its device (%.4g MB left): some stay in that of the "
                        "host, which is slower; use more devices, or a larger "
                        "transport.device_memory_mb (logged once)",
                        wanted, pool->env->rank, 1e-6 * (double)room);
    pool->is_logged = true;
    return most;
}

/* Room for n packets more, if memory suffices. Between turns. */
static void pool_grow(struct device_pool *pool, size_t n)
{
    size_t wanted = pool_used(pool) + n;
    if (wanted <= pool->n_slots || pool->n_leaving > 0)
        return;
    if (wanted < pool->n_slots + pool->n_slots / 2)
        wanted = pool->n_slots + pool->n_slots / 2;
    if (wanted < POOL_FIRST_SLOTS)
        wanted = POOL_FIRST_SLOTS;
    size_t n_slots = pool_limit(pool, wanted);
    if (n_slots <= pool->n_slots)
        return;
    struct device_image image = {.device = pool->env->device,
                                 .label = pool_label};
    struct device_pool_job view = pool_make(&image, n_slots);
    if (image.status < 0) {
        if (image.status == STORM_ERR_DEVICE)
            pool->status = image.status;
        device_image_free(&image);
        return;
    }
    const struct device_pool_job old = pool->view;
    view.counts = old.counts;
    view.keys = old.keys;
    view.blocks = old.blocks;
    view.n_keys = old.n_keys;
    view.shift = old.shift;
    view.report = pool->report;
    pool->view = view;
    pool->n_slots = n_slots;
    pool_move(pool, &old);
    pool_list_free_slots(pool);
    device_image_free(&pool->slots);
    pool->slots = image;
}

/* ---- the keeper ---------------------------------------------------------- */

/* Packets of the store into free slots, and `first` others before them in this
 * list or the next. */
static void pool_arrive(struct device_pool *pool, void *const *packets,
                        size_t n, size_t first, bool is_next)
{
    struct device_pool_job job = pool->view;
    job.host = packets;
    job.n = n;
    job.n_threads =
        n < POOL_BUS_THREADS / POOL_PARTS ? n * POOL_PARTS : POOL_BUS_THREADS;
    job.n_free = pool_free(pool);
    job.first = first;
    if (is_next) {
        job.active = pool->view.next;
        job.spent = pool->view.next_spent;
    }
    pool_launch(pool, POOL_ARRIVE, &job, n > 0 ? job.n_threads : 0);
}

/* The tracking of a turn. */
static void pool_advance(struct device_pool *pool, void *const *packets,
                         size_t n, struct storm_outcome *outcomes_out,
                         size_t n_taken)
{
    const struct device_pool_job *view = &pool->view;
    size_t old = pool->n_active;
    /* Many that come in while others keep the device busy. */
    bool is_behind = old > 0 && n_taken >= pool->n_bulk;
    pool->n_behind = is_behind ? n_taken : 0;
    pool_arrive(pool, packets, n_taken, is_behind ? 0 : old, is_behind);
    pool_track(pool, (void *const *)view->active, old, view->outcomes);
    if (pool->n_behind == 0 && n_taken > 0) {
        pool_order(pool);
        pool_track(pool, (void *const *)(view->active + old), n_taken,
                   view->outcomes + old);
        pool->n_active += n_taken;
    }
    pool_track(pool, packets + n_taken, n - n_taken, outcomes_out + n_taken);
}

static storm_status pool_begin(void *self, struct storm_step *step,
                               void *const *packets, size_t n, size_t n_max,
                               struct storm_outcome *outcomes_out,
                               size_t *n_taken_out)
{
    struct device_pool *pool = self;
    (void)step;
    pool_grow(pool, n);
    if (!pool->is_listed && pool->n_slots > 0) /* fetched after pre_step */
        pool_list_free_slots(pool);
    size_t n_taken = n < pool_free(pool) ? n : pool_free(pool);
    pool->zero = (struct pool_zero){packets + n_taken, outcomes_out + n_taken,
                                    n - n_taken};
    pool_advance(pool, packets, n, outcomes_out, n_taken);
    size_t n_out = n_max - pool->zero.n;
    size_t n_here = pool->n_active + pool->n_leaving;
    n_out = n_out < pool->n_out_max ? n_out : pool->n_out_max;
    n_out = n_out < n_here ? n_out : n_here;
    pool->i_out = !pool->i_out;
    struct device_pool_job job = pool->view;
    job.n = pool->n_active;
    job.n_threads = pool_threads(job.n);
    if (pool->n_behind > 0) { /* else there may be no slots */
        job.next += pool->n_behind;
        job.next_spent += pool->n_behind;
    }
    job.max_events = pool->max_events;
    job.out = pool->out[pool->i_out].packets;
    job.out_outcomes = pool->out[pool->i_out].outcomes;
    pool_order(pool);
    pool_launch(pool, POOL_SETTLE, &job, job.n_threads);
    pool_order(pool);
    pool_launch(pool, POOL_PACK, &job, n_out * POOL_PARTS);
    pool_order(pool);
    pool_launch(pool, POOL_CLOSE, &job, 1);
    *n_taken_out = n_taken;
    return pool->status;
}

static void pool_book(const struct device_pool *pool,
                      struct storm_packet *packet,
                      const struct storm_outcome *outcome)
{
    if (outcome->fate == STORM_FATE_ESCAPED && pool->escape != NULL)
        pool->escape(pool->escape_self, packet, outcome->rank);
}

static storm_status pool_end(void *self, struct storm_turn *turn_out)
{
    struct device_pool *pool = self;
    const struct pool_counts *report = pool->report;
    struct device_pool_job *view = &pool->view;
    if (pool->status == STORM_OK) {
        storm_status status =
            storm_device_poll(pool->env->device, pool->launch);
        if (status == STORM_AGAIN)
            return status;
        pool->status = status;
    }
    if (pool->status < 0)
        return pool->status;
    const struct pool_out *out = &pool->out[pool->i_out];
    *turn_out = (struct storm_turn){
        .n_census = report->census - pool->n_census,
        .n_absorbed = report->absorbed,
        .events = report->events,
        .moves = report->moves,
        .n_active = report->next + pool->n_behind + report->leaving,
        .n = report->packed,
        .packets = out->packets,
        .outcomes = out->outcomes,
    };
    pool->n_active = report->next + pool->n_behind;
    pool->n_behind = 0;
    pool->n_census = report->census;
    pool->n_leaving = report->leaving;
    struct storm_packet **active = view->active;
    uint64_t *spent = view->spent;
    view->active = view->next;
    view->spent = view->next_spent;
    view->next = active;
    view->next_spent = spent;
    for (size_t i = 0; i < turn_out->n; i++)
        pool_book(
            pool,
            (struct storm_packet *)(void *)(out->packets +
                                            i * sizeof(struct storm_packet)),
            &out->outcomes[i]);
    for (size_t i = 0; i < pool->zero.n; i++)
        pool_book(pool, pool->zero.packets[i], &pool->zero.outcomes[i]);
    pool->zero.n = 0;
    return STORM_OK;
}

static storm_status pool_take_early(void *self, void *const *packets, size_t n,
                                    size_t *n_taken_out)
{
    struct device_pool *pool = self;
    size_t n_free = pool_free(pool);
    n = n < n_free ? n : n_free;
    if (pool->status == STORM_OK)
        pool->status = storm_device_wait(pool->env->device);
    pool_arrive(pool, packets, n, pool->n_active, false);
    pool->n_active += n;
    *n_taken_out = n;
    return pool->status;
}

static size_t pool_count(const void *self)
{
    return pool_used(self);
}

static storm_status pool_copy(void *self, size_t first, void *const *slots,
                              size_t n)
{
    struct device_pool *pool = self;
    struct device_pool_job job = pool->view;
    job.from = pool->n_census > 0 ? job.census : job.active;
    job.first = first;
    job.host = slots;
    pool_launch(pool, POOL_COPY, &job, n * POOL_PARTS);
    if (pool->status == STORM_OK)
        pool->status = storm_device_wait(pool->env->device);
    return pool->status;
}

static void pool_drop(void *self)
{
    struct device_pool *pool = self;
    pool->n_active = pool->n_census = pool->n_leaving = pool->n_behind = 0;
    pool->is_listed = false;
}

/* ---- a step -------------------------------------------------------------- */

/* Counts of packets by key for this many cells. Before slots, which may take
 * all the memory there is. */
static storm_status pool_reserve_keys(struct device_pool *pool, size_t n_cells)
{
    struct device_pool_job *view = &pool->view;
    unsigned shift = 0;
    while (n_cells >> shift >= POOL_KEYS)
        shift++;
    size_t n = (n_cells >> shift) + 1;
    if (n == view->n_keys && shift == view->shift)
        return STORM_OK;
    device_image_free(&pool->keys);
    view->keys = device_image_room(&pool->keys, n * sizeof *view->keys);
    view->blocks = device_image_room(&pool->keys, (n / POOL_BLOCK + 1) *
                                                      sizeof *view->blocks);
    view->n_keys = pool->keys.status == STORM_OK ? n : 0;
    view->shift = shift;
    return pool->keys.status;
}

/* POOL-3 */
static void pool_wake(struct device_pool *pool, double dt_s)
{
    struct device_pool_job job = pool->view;
    size_t n_blocks = job.n_keys / POOL_BLOCK + 1;
    pool_set_counts(pool);
    if (pool->status == STORM_OK)
        pool->status =
            storm_device_clear(pool->env->device, pool_address(job.keys),
                               job.n_keys * sizeof *job.keys);
    job.n = pool->n_census;
    job.n_threads = pool_threads(job.n);
    job.time_left_s = dt_s;
    pool_launch(pool, POOL_WAKE, &job, job.n_threads);
    pool_order(pool);
    pool_launch(pool, POOL_ADD_KEYS, &job, n_blocks);
    pool_order(pool);
    pool_launch(pool, POOL_SPREAD_KEYS, &job, n_blocks);
    pool_order(pool);
    pool_launch(pool, POOL_SORT, &job, job.n);
    pool->n_active = pool->n_census;
    pool->n_census = 0;
}

storm_status device_pool_wake(struct device_pool *pool, struct storm_step *step,
                              const struct storm_mesh *mesh, double dt_s,
                              double *largest_inout)
{
    struct pool_counts counts;
    double largest;
    if (pool_used(pool) > 0 && pool->step != step) /* of another engine */
        storm_step_leave(pool->step);
    if (pool->n_census == 0)
        return STORM_OK;
    if (storm_mesh_has_changed(mesh, pool->generation))
        return storm_step_fetch(step);
    pool_wake(pool, dt_s);
    if (pool->status == STORM_OK)
        pool->status =
            storm_device_get(pool->env->device, &counts,
                             pool_address(pool->view.counts), sizeof counts);
    if (pool->status < 0)
        return pool->status;
    memcpy(&largest, &counts.largest, sizeof largest);
    *largest_inout = largest > *largest_inout ? largest : *largest_inout;
    return STORM_OK;
}

/* Kernels and pinned memory, once. Without these nothing is kept. */
static storm_status pool_prepare(struct device_pool *pool)
{
    static const char label[] = "packets of a device";
    struct storm_memory *memory = pool->env->memory;
    struct storm_device *device = pool->env->device;
    storm_status status = STORM_OK;
    if (pool->report != NULL)
        return STORM_OK;
    for (int k = 0; k < POOL_KERNELS && status == STORM_OK; k++)
        status = storm_device_find(device, &pool_program,
                                   pool_functions[k].name, &pool->kernels[k]);
    if (status < 0)
        return status;
    bool ok = true;
    for (int k = 0; k < 2; k++) {
        struct pool_out *out = &pool->out[k];
        out->packets =
            storm_pinned_alloc(memory, device, label,
                               POOL_OUT_MAX * sizeof(struct storm_packet));
        out->outcomes =
            storm_pinned_alloc(memory, device, label,
                               POOL_OUT_MAX * sizeof *out->outcomes);
        ok = ok && out->packets != NULL && out->outcomes != NULL;
    }
    pool->report = storm_pinned_alloc(memory, device, label, POOL_REPORT_BYTES);
    pool->view.report = pool->report;
    if (!ok || pool->report == NULL)
        return STORM_ERR_NOMEM;
    pool->view.counts =
        device_image_room(&pool->counts, sizeof *pool->view.counts);
    if (pool->counts.status == STORM_OK)
        pool_set_counts(pool);
    return pool->counts.status < 0 ? pool->counts.status : pool->status;
}

storm_status device_pool_begin(struct device_pool *pool,
                               struct storm_step *step,
                               const struct storm_mesh *mesh)
{
    storm_status status = STORM_ERR_NOSUP;
    if (pool->env->device == NULL)
        return STORM_OK;
    const bool may = pool->run->kernel != NULL && !pool->run->hands_over;
    if (may && !pool->is_off)
        status = pool_prepare(pool);
    if (status == STORM_OK)
        status = pool_reserve_keys(pool, (size_t)mesh->part->n_cells);
    pool->is_off = pool->is_off || (may && status < 0);
    if (status == STORM_ERR_DEVICE)
        return status;
    if (status < 0) {
        status = storm_step_fetch(step); /* KEEP-6: else it is known still */
        return status < 0 ? status : storm_step_keep(step, NULL);
    }
    pool->step = step;
    pool->max_events = storm_step_max_events(step);
    pool->generation = mesh->generation;
    size_t n = storm_step_n_waiting(step);
    if (n > pool_free(pool))
        pool_grow(pool, n + (pool_used(pool) + n) / POOL_SPARE);
    if (!pool->is_listed && pool->n_slots > 0)
        pool_list_free_slots(pool);
    return pool->status < 0 ? pool->status
                            : storm_step_keep(step, &pool->keeper);
}

/* ---- open and close ------------------------------------------------------ */

void device_pool_open(struct device_pool *pool, struct device_run *run,
                      const struct storm_mesh *mesh, void *job,
                      size_t job_bytes)
{
    *pool = (struct device_pool){
        .env = mesh->env,
        .run = run,
        .job = job,
        .job_bytes = job_bytes,
        .keeper = {.self = pool,
                   .begin = pool_begin,
                   .end = pool_end,
                   .take = pool_take_early,
                   .count = pool_count,
                   .copy = pool_copy,
                   .drop = pool_drop},
        .slots = {.device = mesh->env->device, .label = pool_label},
        .keys = {.device = mesh->env->device, .label = pool_label},
        .counts = {.device = mesh->env->device, .label = pool_label},
        .n_out_max = POOL_OUT_MAX,
        .n_bulk = POOL_BULK,
    };
}

void device_pool_close(struct device_pool *pool)
{
    if (pool->env == NULL || pool->env->device == NULL)
        return;
    struct storm_memory *memory = pool->env->memory;
    struct storm_device *device = pool->env->device;
    if (pool_used(pool) > 0)
        storm_step_leave(pool->step);
    device_image_free(&pool->slots);
    device_image_free(&pool->counts);
    device_image_free(&pool->keys);
    for (int k = 0; k < 2; k++) {
        storm_pinned_free(memory, device, pool->out[k].packets);
        storm_pinned_free(memory, device, pool->out[k].outcomes);
    }
    storm_pinned_free(memory, device, pool->report);
}
