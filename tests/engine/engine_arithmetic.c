/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3; timeout: 30 */
/* A step does not begin if a processor flushes subnormal numbers to zero or
 * does not round to nearest (MATH-6): an error on all ranks, one message, and
 * the next step runs once the mode is right again. */
#include <fenv.h>

#include "base/port.h"
#include "harness.h"

static void ends(void *self, struct storm_step *step, void *packet,
                 struct storm_outcome *outcome)
{
    (void)self, (void)step, (void)packet;
    outcome->fate = STORM_FATE_ABSORBED;
}

/* A step with the last rank's mode changed. */
static void refused(struct harness *h, void (*set)(int), int value, int normal,
                    const char *message)
{
    char record[32] = {0};
    bool mine = h->rank == h->size - 1;
    int n_before = h->n_errors;
    if (mine)
        set(value);
    storm_status status = storm_engine_step(h->engine);
    if (mine)
        set(normal);
    CHECK(status == (mine ? STORM_ERR_STATE : STORM_ERR_PEER));
    CHECK_EQ(h->n_errors - n_before, mine);
    if (mine)
        CHECK(strstr(h->error, message));
    CHECK_OK(storm_engine_add(h->engine, record));
    CHECK_OK(storm_engine_step(h->engine));
}

static void set_rounding(int mode)
{
    CHECK(fesetround(mode) == 0);
}

#ifdef __SSE2__
#include <emmintrin.h>
static void set_csr(int bits)
{
    _mm_setcsr((unsigned)bits);
}

static bool test_subnormals(struct harness *h)
{
    const int normal = (int)_mm_getcsr(), to_zero = 1 << 15, are_zero = 1 << 6;
    refused(h, set_csr, normal | to_zero, normal, "-ffast-math");
    refused(h, set_csr, normal | are_zero, normal, "-ffast-math");
    return true;
}
#else
static bool test_subnormals(struct harness *h)
{
    (void)h;
    return false;
}
#endif

int main(void)
{
    MPI_Init(NULL, NULL);
    struct storm_physics physics = STORM_PHYSICS_INIT;
    physics.step = ends;
    struct storm_engine_params params = STORM_ENGINE_PARAMS_INIT;
    params.physics = &physics;
    params.record_bytes = 32;
    struct harness h;
    CHECK_OK(harness_open(&h, &params, NULL));
    static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (int i = 0; i < 3; i++)
        refused(&h, set_rounding, modes[i], FE_TONEAREST, "round to nearest");
    bool done = test_subnormals(&h);
    harness_close(&h);
    MPI_Finalize();
    return done ? CHECK_PASS : CHECK_SKIP;
}
