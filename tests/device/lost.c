/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 10; env: LD_LIBRARY_PATH=@build@/tests/cuda */
/*
 * Whatever call of the driver fails: one error is logged, with the driver's
 * text; the device is lost (DEVICE-5), and nothing is left when it is closed.
 * And what is no loss: no memory, no GPU, one that is too old.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "support/check.h"
#include "support/gadget.h"
#include "support/ranks.h"

enum { N_WORDS = 100 };

struct box {
    struct storm_env env;
    int n_errors, n_warnings;
    char text[1024]; /* of the last of both */
    void (*repair)(void);
    size_t (*left)(void);
};

static void listen(void *self, storm_log_level level, int rank,
                   const char *message)
{
    struct box *box = self;
    (void)rank;
    box->n_errors += level == STORM_LOG_ERROR;
    box->n_warnings += level == STORM_LOG_WARN;
    snprintf(box->text, sizeof box->text, "%s", message);
}

static void plant(struct box *box, const char *plan)
{
    check_where("with %s", plan);
    box->repair();
    box->n_errors = box->n_warnings = 0;
    box->text[0] = '\0';
    setenv("STORM_FAKE_CUDA_FAIL", plan, 1);
}

static storm_status open_device(struct box *box, const char *kind,
                                struct storm_device **device_out)
{
    struct storm_device_params params = {
        .kind = kind, .node_ranks = 1, .has_ptx = true};
    return storm_device_open(&box->env, &params, device_out);
}

/* All that a device does, until something fails. */
static storm_status use(struct storm_device *device, uint64_t *host)
{
    const struct storm_device_kernel *turn;
    storm_device_address a = 0;
    storm_device_launch_id id = 0;
    storm_status status =
        storm_device_pin(device, host, N_WORDS * sizeof *host);
    if (status == STORM_OK)
        status = storm_device_alloc(device, "a", N_WORDS * 8, &a);
    struct gadget_job job = {host, (uint64_t *)(uintptr_t)a, N_WORDS, 2};
    if (status == STORM_OK)
        status =
            storm_device_find(device, &gadget_program, "gadget_turn", &turn);
    for (int i = 0; i < 20 && status == STORM_OK; i++) {
        status = storm_device_clear(device, a, N_WORDS * 8);
        if (status == STORM_OK)
            status = storm_device_launch(device, turn, &job, sizeof job,
                                         N_WORDS, &id);
        if (status == STORM_OK)
            status = storm_device_order(device);
    }
    while (status == STORM_OK) {
        status = storm_device_poll(device, id);
        if (status != STORM_AGAIN)
            break;
        status = STORM_OK;
    }
    if (status == STORM_OK)
        status = storm_device_put(device, a, host, 8);
    if (status == STORM_OK)
        status = storm_device_get(device, host, a, 8);
    return status == STORM_OK ? storm_device_wait(device) : status;
}

static void test_losses(struct box *box)
{
    static const char *const plans[] = {
        "cuMemAlloc_v2_1_700",
        "cuModuleLoadDataEx_1_719",
        "cuModuleGetFunction_1_700",
        "cuMemHostRegister_v2_1_700",
        "cuMemHostGetDevicePointer_v2_1_700",
        "cuMemsetD8Async_3_700",
        "cuLaunchKernel_2_719",
        "cuEventRecord_5_700",
        "cuStreamWaitEvent_4_700",
        "cuEventQuery_2_700",
        "cuEventSynchronize_2_700",
        "cuEventElapsedTime_3_700",
        "cuMemcpyHtoDAsync_v2_1_700",
        "cuMemcpyDtoHAsync_v2_1_700",
        "cuStreamSynchronize_1_700",
    };
    uint64_t host[N_WORDS] = {0};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        struct storm_device *device = NULL;
        storm_device_address a;
        plant(box, plans[i]);
        CHECK_OK(open_device(box, "gpu", &device));
        CHECK(use(device, host) == STORM_ERR_DEVICE);
        CHECK(storm_device_alloc(device, "b", 8, &a) == STORM_ERR_DEVICE);
        CHECK(storm_device_wait(device) == STORM_ERR_DEVICE);
        CHECK_EQ(box->n_errors, 1);
        CHECK(strstr(box->text, "the GPU of rank 0 (Fake GPU 0) failed: "));
        CHECK(strstr(box->text,
                     strstr(plans[i], "700") ? "illegal memory" : "planted"));
        CHECK(strstr(box->text, "--device none"));
        storm_device_close(device);
        CHECK_EQ(box->left(), 0);
    }
}

/* A GPU that does not start: an error for gpu, a warning for auto. */
static void test_no_start(struct box *box)
{
    static const struct {
        const char *plan, *text;
        bool is_silent; /* for auto */
    } cases[] = {
        {"cuInit_1_100", "finds no GPU", true},
        {"cuInit_1_34", "stub", true},
        {"cuInit_1_803", "does not start: a planted failure (803)", false},
        {"cuDeviceGetName_1_101", "GPU 0: a planted failure", false},
        {"cuDevicePrimaryCtxRetain_1_46", "compute mode", false},
        {"cuStreamCreate_2_2", "fewer cells", false},
        {"cuEventCreate_9_999", "nvidia-smi", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct storm_device *device = NULL;
        plant(box, cases[i].plan);
        CHECK(open_device(box, "gpu", &device) == STORM_ERR_NOSUP);
        CHECK(!device && box->n_errors == 1);
        CHECK(strstr(box->text, cases[i].text));
        plant(box, cases[i].plan);
        CHECK_OK(open_device(box, "auto", &device));
        CHECK(!device && box->n_errors == 0);
        CHECK_EQ(box->n_warnings, cases[i].is_silent ? 0 : 1);
        CHECK(cases[i].is_silent || strstr(box->text, cases[i].text));
        CHECK_EQ(box->left(), 0);
    }
    struct storm_device *device = NULL;
    plant(box, "none_1_1");
    setenv("STORM_FAKE_CUDA_SM", "75", 1);
    CHECK(open_device(box, "gpu", &device) == STORM_ERR_NOSUP);
    CHECK(strstr(box->text, "Fake GPU 0 (sm_75) is too old"));
    unsetenv("STORM_FAKE_CUDA_SM");
    struct storm_device_params params = {.kind = "auto", .node_ranks = 1};
    CHECK_OK(storm_device_open(&box->env, &params, &device));
    CHECK(!device && strstr(box->text, "no kernels for GPUs"));
}

/* Refusals: the device is as good as before. */
static void test_refusals(struct box *box)
{
    static const struct {
        const char *plan, *text;
        storm_status status;
    } cases[] = {
        {"cuMemAlloc_v2_1_2", "no memory on the device Fake GPU 0",
         STORM_ERR_NOMEM},
        {"cuMemHostRegister_v2_1_2", "ulimit", STORM_ERR_NOMEM},
        {"cuModuleLoadDataEx_1_222",
         "planted failure: fake, line 1; error: planted; install a newer",
         STORM_ERR_NOSUP},
        {"cuModuleGetFunction_1_500", "", STORM_ERR_NOSUP},
    };
    uint64_t host[N_WORDS] = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct storm_device *device = NULL;
        plant(box, cases[i].plan);
        CHECK_OK(open_device(box, "gpu", &device));
        CHECK(use(device, host) == cases[i].status);
        CHECK(strstr(box->text, cases[i].text));
        CHECK_EQ(box->n_errors + box->n_warnings, cases[i].text[0] != 0);
        storm_device_unpin(device, host);
        CHECK_OK(use(device, host));
        storm_device_close(device);
        CHECK_EQ(box->left(), 0);
    }
}

/* Ranks of a node share its GPUs, neighbours the same one. */
static void test_shares(struct box *box)
{
    plant(box, "none_1_1");
    setenv("STORM_FAKE_CUDA_DEVICES", "4", 1);
    for (int i = 0; i < 8; i++) {
        struct storm_device *device = NULL;
        struct storm_device_params params = {
            .kind = "auto", .node_rank = i, .node_ranks = 8, .has_ptx = true};
        char name[] = "Fake GPU 0";
        name[9] = (char)('0' + i / 2);
        CHECK_OK(storm_device_open(&box->env, &params, &device));
        CHECK_TEXT(storm_device_name(device), name);
        storm_device_close(device);
    }
    unsetenv("STORM_FAKE_CUDA_DEVICES");
}

static void collect(void *self, const char *text)
{
    snprintf(self, 1024, "%s", text);
}

static void test_all(void *self, const struct storm_env *env,
                     const struct storm_boot *boot)
{
    (void)self;
    (void)boot;
    static struct box box;
    char text[1024] = "";
    box.env = *env;
    box.env.log.sink = listen;
    box.env.log.self = &box;
    void *fake = dlopen("libcuda.so.1", RTLD_NOW);
    CHECK(fake);
    void *symbols[] = {dlsym(fake, "fake_cuda_repair"),
                       dlsym(fake, "fake_cuda_left")};
    CHECK(symbols[0] && symbols[1]);
    memcpy(&box.repair, &symbols[0], sizeof box.repair);
    memcpy(&box.left, &symbols[1], sizeof box.left);
    test_no_start(&box);
    test_shares(&box);
    plant(&box, "none_1_1");
    storm_device_survey(collect, text); /* emulated is the last */
    CHECK(strstr(text, "emulated"));
    if (!gadget_program.ptx[0])
        exit(CHECK_SKIP); /* no clang */
    test_losses(&box);
    test_refusals(&box);
}

int main(void)
{
    struct storm_boot boot = {.size = 1};
    rank_run(&boot, test_all, NULL);
    return CHECK_PASS;
}
