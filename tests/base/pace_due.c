/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/* PACE-1, PACE-2: due by calls where they are quick, by time where not. A limit
 * on a wait does not run while the process is stopped. */
#include <unistd.h>

#include "base/pace.h"
#include "base/patience.h"
#include "support/check.h"

static void work(double seconds)
{
    double until = storm_clock_seconds() + seconds;
    while (storm_clock_seconds() < until)
        continue;
}

static void wait_patiently(void)
{
    struct storm_patience p;
    int n = 0;
    storm_patience_begin(&p, 0);
    usleep(1000);
    CHECK(!storm_patience_over(&p));
    storm_patience_begin(&p, 0.2);
    usleep(500000); /* as if stopped */
    CHECK(!storm_patience_over(&p));
    for (; !storm_patience_over(&p); n++)
        usleep(1000);
    CHECK(n > 0);
}

int main(void)
{
    struct storm_pace slow, quick;
    storm_pace_begin(&slow, 1000, 1e-3);
    storm_pace_begin(&quick, 10, 1000);
    CHECK(storm_pace_due(&slow) && storm_pace_counts(&quick));
    work(0.15); /* ticks are measured */
    CHECK(storm_pace_due(&slow) && !storm_pace_counts(&quick));
    storm_pace_hurry(&quick);
    CHECK(storm_pace_due(&quick) && quick.measured && slow.measured);

    uint64_t due = 0;
    for (int i = 0; i < 1000; i++)
        due += storm_pace_counts(&quick);
    CHECK_EQ(due, 100);
    for (int i = 0; i < 1000; i++)
        due += storm_pace_due(&quick);
    CHECK_EQ(due, 200);

    for (int i = 0; i < 20; i++) { /* 19 would take 1000 calls each */
        work(2e-3);
        CHECK(storm_pace_due(&slow));
    }
    wait_patiently();
    return CHECK_PASS;
}
