/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST args: 1 2 3; timeout: 60 */
/*
 * SELFTEST-1, SELFTEST-2: the self-test of fabrics finds a network that does
 * not keep order, finds nothing wrong with one that does, and ends on all ranks
 * with the same status.
 */
#include <stdlib.h>

#include "fabric/fabric_selftest.h"
#include "support/chaos.h"
#include "support/check.h"
#include "support/threads.h"

static void rank_main(void *self, const struct storm_env *env,
                      const struct storm_boot *boot)
{
    const struct storm_fabric_ops *ops = self;
    bool ordered = ops != &chaos_shm;
    struct storm_fabric *fabric;
    struct storm_selftest s;
    check_where("%s, rank %d", ops->name, boot->rank);
    CHECK_OK(ops->open(env, boot, &fabric));
    CHECK_OK(storm_selftest_open(fabric, &s));
    CHECK_EQ(storm_selftest_agree(&s, storm_selftest_order(&s)), ordered);
    CHECK(!storm_selftest_agree(&s, boot->rank != 0));
    CHECK_EQ(storm_selftest_close(&s,
                                  boot->rank == 0 ? STORM_ERR_NOSUP : STORM_OK),
             boot->rank == 0 ? STORM_ERR_NOSUP : STORM_ERR_PEER);
    ops->close(fabric);
}

int main(int argc, char **argv)
{
    const struct storm_fabric_ops *fabrics[] = {&storm_fabric_shm,
                                                &chaos_shm_ordered, &chaos_shm};
    for (int i = 1; i < argc; i++)
        for (int k = 0; k < 3; k++)
            threads_run(atoi(argv[i]), rank_main, (void *)fabrics[k]);
    return argc > 1 ? CHECK_PASS : CHECK_FAIL;
}
