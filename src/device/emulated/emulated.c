/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device `emulated`: the text of kernels on this processor, one thread
 * after the other. It is for tests, so it does what a GPU may do and a program
 * must not rely on:
 *
 *   - threads run in a shuffled order, another one in each launch, and those of
 *     launches that may overlap are mixed;
 *   - they run in poll, some at a time, and where something waits for them;
 *   - memory is filled with a pattern that is no number;
 *   - in debug builds the host dies if it touches memory of the device.
 *
 * A thread runs to its end: kernels whose threads wait for each other hang
 * here, as they may on a GPU.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "device/device_ops.h"

struct emulated_launch {
    storm_device_launch_id id;
    storm_device_fn *call;
    uint64_t n_threads, n_run;
    int bits;     /* 4^bits >= n_threads */
    uint64_t key; /* of the order of threads */
    bool alone;   /* those before it must have ended: DEVICE-1 */
    _Alignas(16) unsigned char args[STORM_DEVICE_ARGS_MAX];
};

struct emulated_device {
    struct storm_device device;
    uint64_t dice;
    bool ordered; /* the next launch is `alone` */
    size_t n_under_way;
    struct emulated_launch *under_way[STORM_DEVICE_LAUNCHES_MAX]; /* by id */
    struct emulated_launch launches[STORM_DEVICE_LAUNCHES_MAX];
};

static struct emulated_device *mine(struct storm_device *device)
{
    return (struct emulated_device *)(void *)device;
}

static void emulated_survey(void (*line)(void *self, const char *text),
                            void *self)
{
    line(self, "emulated  runs kernels on this processor, for tests");
}

static storm_status emulated_open(const struct storm_env *env,
                                  const struct storm_device_params *params,
                                  char *reason_out, size_t reason_bytes,
                                  struct storm_device **device_out)
{
    (void)params;
    (void)reason_out;
    (void)reason_bytes;
    struct emulated_device *e =
        storm_alloc(env->memory, "emulated device", sizeof *e);
    if (!e)
        return storm_env_explain(env, STORM_ERR_NOMEM);
    e->device.ops = &storm_device_emulated;
    e->device.env = env;
    snprintf(e->device.name, sizeof e->device.name, "emulated");
    e->dice = (uint64_t)env->rank;
    *device_out = &e->device;
    return STORM_OK;
}

static void emulated_close(struct storm_device *device)
{
    storm_free(device->env->memory, device);
}

/* ---- memory ------------------------------------------------------------- */

static void *host_of(storm_device_address address)
{
    return (void *)(uintptr_t)address;
}

/* Opens or closes memory of the device for this processor. */
static void protect(void *block, size_t bytes, bool open)
{
#ifdef STORM_DEBUG
    int access = open ? PROT_READ | PROT_WRITE : PROT_NONE;
    int failed = mprotect(block, bytes, access);
    STORM_ASSERT(!failed);
    (void)failed;
#else
    (void)block;
    (void)bytes;
    (void)open;
#endif
}

static void reach(const struct storm_device *device, bool open)
{
    for (size_t i = 0; i < device->n_blocks; i++)
        protect(host_of(device->blocks[i].address), device->blocks[i].bytes,
                open);
}

static storm_status emulated_alloc(struct storm_device *device, size_t bytes,
                                   storm_device_address *address_out)
{
    (void)device;
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        return STORM_ERR_NOMEM;
    memset(block, 0xff, bytes); /* NaN, and -1 */
    protect(block, bytes, false);
    *address_out = (uintptr_t)block;
    return STORM_OK;
}

static void emulated_free(struct storm_device *device,
                          storm_device_address address, size_t bytes)
{
    (void)device;
    munmap(host_of(address), bytes);
}

static size_t emulated_memory_left(struct storm_device *device)
{
    (void)device;
    return 0;
}

static storm_status emulated_pin(struct storm_device *device, void *host,
                                 size_t bytes)
{
    (void)device;
    (void)host;
    (void)bytes;
    return STORM_OK;
}

static void emulated_unpin(struct storm_device *device, void *host)
{
    (void)device;
    (void)host;
}

/* ---- threads ------------------------------------------------------------ */

static uint64_t roll(struct emulated_device *e, uint64_t n)
{
    e->dice = storm_hash_fold(e->dice, 1);
    return e->dice % n;
}

/* Where thread number i of an order runs: a Feistel network permutes
 * 0 .. 4^bits - 1, and what is no thread is permuted again. */
static uint64_t shuffled(const struct emulated_launch *launch, uint64_t i)
{
    uint64_t mask = (UINT64_C(1) << launch->bits) - 1;
    do {
        uint64_t left = i >> launch->bits, right = i & mask;
        for (uint64_t round = 0; round < 3; round++) {
            uint64_t mixed =
                storm_hash_word(launch->key + round + (right << 8));
            uint64_t next = left ^ (mixed & mask);
            left = right;
            right = next;
        }
        i = left << launch->bits | right;
    } while (i >= launch->n_threads);
    return i;
}

static void run_threads(struct emulated_launch *launch, uint64_t n)
{
    uint64_t left = launch->n_threads - launch->n_run;
    for (uint64_t end = launch->n_run + (n < left ? n : left);
         launch->n_run < end; launch->n_run++)
        launch->call(launch->args, shuffled(launch, launch->n_run));
}

/* How many of those under way may run now: up to the first that must wait for
 * those before it. */
static size_t n_free(const struct emulated_device *e)
{
    size_t n = 1;
    while (n < e->n_under_way && !e->under_way[n]->alone)
        n++;
    return n;
}

/* Runs some threads of a launch chosen at random. */
static void run_some(struct emulated_device *e)
{
    size_t i = roll(e, n_free(e));
    struct emulated_launch *launch = e->under_way[i];
    double start = storm_clock_seconds();
    reach(&e->device, true);
    run_threads(launch, 1 + roll(e, 1 + launch->n_threads / 4));
    reach(&e->device, false);
    e->device.counts.kernel_seconds += storm_clock_seconds() - start;
    if (launch->n_run < launch->n_threads)
        return;
    e->n_under_way--;
    for (; i < e->n_under_way; i++)
        e->under_way[i] = e->under_way[i + 1];
}

static storm_status emulated_wait(struct storm_device *device)
{
    struct emulated_device *e = mine(device);
    while (e->n_under_way > 0)
        run_some(e);
    return STORM_OK;
}

static storm_status emulated_poll(struct storm_device *device,
                                  storm_device_launch_id launch)
{
    struct emulated_device *e = mine(device);
    if (e->n_under_way > 0)
        run_some(e);
    bool ended = e->n_under_way == 0 || e->under_way[0]->id > launch;
    return ended ? STORM_OK : STORM_AGAIN;
}

static storm_status emulated_find(struct storm_device *device,
                                  struct storm_device_kernel *kernel)
{
    (void)device;
    (void)kernel;
    return STORM_OK;
}

static struct emulated_launch *idle_launch(struct emulated_device *e)
{
    for (size_t i = 0; i < STORM_DEVICE_LAUNCHES_MAX; i++)
        if (e->launches[i].n_run == e->launches[i].n_threads)
            return &e->launches[i];
    STORM_ASSERT(false); /* fewer than all are under way */
    return NULL;
}

static storm_status emulated_launch(struct storm_device *device,
                                    const struct storm_device_kernel *kernel,
                                    const void *args, size_t args_bytes,
                                    size_t n_threads)
{
    struct emulated_device *e = mine(device);
    while (e->n_under_way == STORM_DEVICE_LAUNCHES_MAX)
        run_some(e);
    struct emulated_launch *launch = idle_launch(e);
    launch->id = device->n_launches;
    launch->call = kernel->function->call;
    launch->n_threads = n_threads;
    launch->n_run = 0;
    launch->bits = 1;
    while (launch->bits < 31 && n_threads > UINT64_C(1) << 2 * launch->bits)
        launch->bits++;
    launch->key = e->dice = storm_hash_fold(e->dice, launch->id);
    launch->alone = e->ordered;
    memset(launch->args + args_bytes, 0xff, sizeof launch->args - args_bytes);
    memcpy(launch->args, args, args_bytes);
    e->ordered = false;
    e->under_way[e->n_under_way++] = launch;
    return STORM_OK;
}

static storm_status emulated_order(struct storm_device *device)
{
    mine(device)->ordered = true;
    return STORM_OK;
}

/* ---- copies ------------------------------------------------------------- */

static storm_status emulated_put(struct storm_device *device,
                                 storm_device_address to, const void *from,
                                 size_t bytes)
{
    emulated_wait(device);
    reach(device, true);
    memcpy(host_of(to), from, bytes);
    reach(device, false);
    return STORM_OK;
}

static storm_status emulated_get(struct storm_device *device, void *to,
                                 storm_device_address from, size_t bytes)
{
    emulated_wait(device);
    reach(device, true);
    memcpy(to, host_of(from), bytes);
    reach(device, false);
    return STORM_OK;
}

static storm_status emulated_clear(struct storm_device *device,
                                   storm_device_address address, size_t bytes)
{
    emulated_wait(device);
    reach(device, true);
    memset(host_of(address), 0, bytes);
    reach(device, false);
    return STORM_OK;
}

const struct storm_device_ops storm_device_emulated = {
    .kind = "emulated",
    .survey = emulated_survey,
    .open = emulated_open,
    .close = emulated_close,
    .alloc = emulated_alloc,
    .free = emulated_free,
    .memory_left = emulated_memory_left,
    .put = emulated_put,
    .get = emulated_get,
    .clear = emulated_clear,
    .pin = emulated_pin,
    .unpin = emulated_unpin,
    .find = emulated_find,
    .launch = emulated_launch,
    .order = emulated_order,
    .poll = emulated_poll,
    .wait = emulated_wait,
};
