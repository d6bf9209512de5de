/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 10; env: STORM_TEST_DEVICE=emulated */
/* TEST timeout: 10;
 * env: STORM_TEST_DEVICE=gpu LD_LIBRARY_PATH=@build@/tests/cuda */
/* TEST timeout: 10; label: gpu; env: STORM_TEST_DEVICE=gpu */
/* The contract of devices (device/device.h), line by line; the second time on a
 * driver without a GPU (tests/cuda). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "device/device.h"
#include "device/device_ops.h"
#include "support/check.h"
#include "support/gadget.h"
#include "support/ranks.h"

enum { N_WORDS = 5000 };

/* ---- one device --------------------------------------------------------- */

struct box {
    const struct storm_env *env;
    struct storm_device *device;
    const struct storm_device_kernel *turn, *watch;
    storm_device_address a, b; /* N_WORDS each */
};

static uint64_t *at(storm_device_address address)
{
    return (uint64_t *)(uintptr_t)address;
}

static struct storm_device *open_device(const struct storm_env *env,
                                        size_t memory_max)
{
    struct storm_device *device = NULL;
    struct storm_device_params params = {
        .kind = getenv("STORM_TEST_DEVICE"),
        .memory_max = memory_max,
        .node_ranks = 1,
        .has_ptx = true,
    };
    storm_status status = storm_device_open(env, &params, &device);
    if (status == STORM_ERR_NOSUP && strcmp(params.kind, "gpu") == 0)
        exit(CHECK_SKIP);
    CHECK_OK(status);
    return device;
}

static void put_numbers(const struct box *box, storm_device_address to)
{
    static uint64_t numbers[N_WORDS];
    for (uint64_t i = 0; i < N_WORDS; i++)
        numbers[i] = i;
    CHECK_OK(storm_device_put(box->device, to, numbers, sizeof numbers));
    memset(numbers, 0, sizeof numbers); /* DEVICE-3 */
}

static storm_device_launch_id launch(const struct box *box,
                                     storm_device_address from,
                                     storm_device_address to, uint64_t factor)
{
    storm_device_launch_id id = 0;
    struct gadget_job job = {at(to), at(from), N_WORDS, factor};
    CHECK_OK(storm_device_launch(box->device, box->turn, &job, sizeof job,
                                 N_WORDS, &id));
    memset(&job, 0, sizeof job); /* DEVICE-3 */
    return id;
}

static void check_numbers(const struct box *box, storm_device_address from,
                          uint64_t factor, bool turned)
{
    static uint64_t numbers[N_WORDS];
    CHECK_OK(storm_device_get(box->device, numbers, from, sizeof numbers));
    for (uint64_t i = 0; i < N_WORDS; i++)
        CHECK_EQ(numbers[i], factor * (turned ? N_WORDS - 1 - i : i));
}

/* ---- the lines ---------------------------------------------------------- */

/* DEVICE-1 */
static void test_order(const struct box *box)
{
    put_numbers(box, box->a);
    launch(box, box->a, box->b, 3);
    put_numbers(box, box->a); /* after it */
    check_numbers(box, box->b, 3, true);
    launch(box, box->a, box->b, 5);
    CHECK_OK(storm_device_clear(box->device, box->a, N_WORDS * 8));
    check_numbers(box, box->b, 5, true);
    put_numbers(box, box->a);
    for (int i = 0; i < 20; i++) { /* more than may be under way */
        launch(box, box->a, box->b, 2);
        CHECK_OK(storm_device_order(box->device));
        launch(box, box->b, box->a, 1);
        CHECK_OK(storm_device_order(box->device));
    }
    check_numbers(box, box->a, 1 << 20, false);
    CHECK_OK(storm_device_clear(box->device, box->a, N_WORDS * 8));
    check_numbers(box, box->a, 0, false);
}

/* DEVICE-2, DEVICE-4 */
static void test_poll(const struct box *box)
{
    uint64_t *host = malloc(2 * N_WORDS * sizeof *host);
    CHECK(host);
    CHECK_OK(storm_device_pin(box->device, host, 2 * N_WORDS * sizeof *host));
    CHECK_EQ(storm_device_counts(box->device).pinned_bytes,
             2 * N_WORDS * sizeof *host);
    put_numbers(box, box->a);
    storm_device_launch_id first =
        launch(box, box->a, (storm_device_address)(uintptr_t)host, 7);
    storm_device_launch_id second =
        launch(box, box->a, (storm_device_address)(uintptr_t)(host + N_WORDS),
               9);
    CHECK_EQ(second, first + 1);
    storm_status status;
    while ((status = storm_device_poll(box->device, second)) == STORM_AGAIN)
        continue;
    CHECK_OK(status);
    CHECK_OK(storm_device_poll(box->device, first));
    for (uint64_t i = 0; i < N_WORDS; i++) {
        CHECK_EQ(host[i], 7 * (N_WORDS - 1 - i));
        CHECK_EQ(host[N_WORDS + i], 9 * (N_WORDS - 1 - i));
    }
    storm_device_unpin(box->device, host);
    CHECK_EQ(storm_device_counts(box->device).pinned_bytes, 0);
    free(host);
    storm_device_launch_id none = 0;
    CHECK_OK(storm_device_launch(box->device, box->turn, &status, sizeof status,
                                 0, &none));
    CHECK_OK(storm_device_poll(box->device, none));
}

/* The emulated device is worth something: the order is a shuffled one, another
 * one each time, threads of launches are mixed, and not all at once. */
static void test_emulated(const struct box *box)
{
    uint64_t seen[3] = {0};
    for (int i = 0; i < 3; i++) {
        struct gadget_job job = {.to = at(box->a)};
        storm_device_launch_id id;
        CHECK_OK(storm_device_clear(box->device, box->a, 16));
        CHECK_OK(storm_device_launch(box->device, box->watch, &job, sizeof job,
                                     N_WORDS, &id));
        int n_polls = 1;
        while (storm_device_poll(box->device, id) == STORM_AGAIN)
            n_polls++;
        CHECK(n_polls > 2);
        uint64_t got[2];
        CHECK_OK(storm_device_get(box->device, got, box->a, sizeof got));
        CHECK(got[1] > N_WORDS / 3 && got[1] < N_WORDS * 2 / 3);
        seen[i] = got[1] << 32 | got[0];
    }
    CHECK(seen[0] != seen[1] && seen[1] != seen[2]);
#ifdef STORM_DEBUG
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        exit((int)(*at(box->a) & 1));
    }
    int how = 0;
    waitpid(child, &how, 0);
    CHECK(WIFSIGNALED(how) && WTERMSIG(how) == SIGSEGV);
#endif
}

/* DEVICE-6 */
static void test_steady(const struct box *box)
{
    uint64_t calls = storm_memory_calls(box->env->memory);
    test_order(box);
    CHECK_EQ(storm_memory_calls(box->env->memory), calls);
    struct storm_device_counts counts = storm_device_counts(box->device);
    CHECK(counts.launches > 40 && counts.kernel_seconds > 0.0);
    CHECK(counts.bytes_put % (N_WORDS * 8) == 0 && counts.bytes_put > 0);
    CHECK(counts.bytes_got > 0);
    CHECK_EQ(counts.memory_bytes, 2 * N_WORDS * 8);
}

/* Exact sums, which threads share. */
static void test_sum(const struct box *box)
{
    static uint64_t terms[N_WORDS];
    const struct storm_device_kernel *sum;
    storm_device_launch_id id;
    gadget_exact got, exact = 0;
    struct gadget_job job = {at(box->b), at(box->a), N_WORDS, 0};
    for (uint64_t i = 0; i < N_WORDS; i++) {
        terms[i] = storm_hash_word(i);
        exact += gadget_term(terms[i]);
    }
    CHECK_OK(storm_device_find(box->device, &gadget_program, "gadget_sum",
                               &sum));
    CHECK_OK(storm_device_put(box->device, box->a, terms, sizeof terms));
    CHECK_OK(storm_device_clear(box->device, box->b, sizeof got));
    for (int i = 0; i < 2; i++) /* may overlap */
        CHECK_OK(storm_device_launch(box->device, sum, &job, sizeof job,
                                     N_WORDS, &id));
    CHECK_OK(storm_device_get(box->device, &got, box->b, sizeof got));
    CHECK(got == 2 * exact);
}

/* What may be refused, and that nothing is lost by it. */
static void test_refusals(const struct box *box)
{
    const struct storm_device_kernel *kernel;
    CHECK(storm_device_find(box->device, &gadget_program, "no such", &kernel) ==
          STORM_ERR_NOSUP);
    CHECK_OK(storm_device_find(box->device, &gadget_program, "gadget_turn",
                               &kernel));
    CHECK(kernel == box->turn);
    storm_device_address c, d = 1;
    CHECK_OK(storm_device_alloc(box->device, "none", 0, &d));
    CHECK_EQ(d, 0);
    storm_device_free(box->device, d);
    struct storm_device *small = open_device(box->env, 1 << 20);
    CHECK_OK(storm_device_alloc(small, "first", 600000, &c));
    CHECK(storm_device_alloc(small, "second", 600000, &d) == STORM_ERR_NOMEM);
    CHECK_EQ(c % 256, 0);
    storm_device_free(small, c);
    CHECK_OK(storm_device_alloc(small, "second", 600000, &d));
    CHECK_EQ(storm_device_counts(small).memory_peak, 600000);
    storm_device_close(small); /* frees d */

    struct storm_device_params params = {.kind = "none"};
    CHECK_OK(storm_device_open(box->env, &params, &small));
    CHECK(!small);
    CHECK_TEXT(storm_device_name(small), "none");
    CHECK_EQ(storm_device_counts(small).launches, 0);
    CHECK_OK(storm_device_pin(small, &params, sizeof params));
    storm_device_unpin(small, &params);
    storm_device_close(small);
}

/* DEVICE-5, for all kinds: one operation fails. */
static storm_status no_put(struct storm_device *device, storm_device_address to,
                           const void *from, size_t bytes)
{
    (void)device;
    (void)to;
    (void)from;
    (void)bytes;
    return STORM_ERR_DEVICE;
}

static void test_lost(const struct box *box)
{
    struct storm_device *device = open_device(box->env, 0);
    struct storm_device_ops broken = *device->ops;
    const struct storm_device_kernel *kernel;
    storm_device_address a;
    uint64_t word = 0;
    storm_device_launch_id id;
    CHECK_OK(storm_device_alloc(device, "word", 8, &a));
    broken.put = no_put;
    device->ops = &broken;
    CHECK(storm_device_put(device, a, &word, 8) == STORM_ERR_DEVICE);
    CHECK(storm_device_get(device, &word, a, 8) == STORM_ERR_DEVICE);
    CHECK(storm_device_clear(device, a, 8) == STORM_ERR_DEVICE);
    CHECK(storm_device_alloc(device, "word", 8, &a) == STORM_ERR_DEVICE);
    CHECK(storm_device_pin(device, &word, 8) == STORM_ERR_DEVICE);
    CHECK(storm_device_find(device, &gadget_program, "gadget_turn", &kernel) ==
          STORM_ERR_DEVICE);
    CHECK(storm_device_launch(device, box->turn, &word, 8, 1, &id) ==
          STORM_ERR_DEVICE);
    CHECK(storm_device_order(device) == STORM_ERR_DEVICE);
    CHECK(storm_device_poll(device, 0) == STORM_ERR_DEVICE);
    CHECK(storm_device_wait(device) == STORM_ERR_DEVICE);
    storm_device_close(device);
}

static void test_all(void *self, const struct storm_env *env,
                     const struct storm_boot *boot)
{
    (void)self;
    (void)boot;
    struct box box = {.env = env, .device = open_device(env, 0)};
    printf("%s\n", storm_device_name(box.device));
    if (!gadget_program.ptx[0] &&
        strcmp(storm_device_name(box.device), "emulated") != 0)
        exit(CHECK_SKIP);
    CHECK_OK(storm_device_find(box.device, &gadget_program, "gadget_turn",
                               &box.turn));
    CHECK_OK(storm_device_find(box.device, &gadget_program, "gadget_watch",
                               &box.watch));
    CHECK_OK(storm_device_alloc(box.device, "a", N_WORDS * 8, &box.a));
    CHECK_OK(storm_device_alloc(box.device, "b", N_WORDS * 8, &box.b));
    test_order(&box);
    test_poll(&box);
    test_sum(&box);
    if (strcmp(storm_device_name(box.device), "emulated") == 0)
        test_emulated(&box);
    test_steady(&box);
    test_refusals(&box);
    test_lost(&box);
    storm_device_free(box.device, box.b);
    storm_device_close(box.device);
}

int main(void)
{
    struct storm_boot boot = {.size = 1};
    rank_run(&boot, test_all, NULL);
    return CHECK_PASS;
}
